// The top against two independent references: SUNDIALS CVODE and Jacobi's elliptic functions.
#include <cvode/cvode.h>
#include <nvector/nvector_serial.h>
#include <sunnonlinsol/sunnonlinsol_fixedpoint.h>

#include "fixtures.h"

static const double MOMENT[3] = {1, 2, 2.6};

// State (w1, w2, w3, q0, q1, q2, q3): Euler's equations and q' = q (0, w)/2, in body axes.
static int euler_equations(sunrealtype t, N_Vector y, N_Vector rate, void *data) {
  (void)t, (void)data;
  const double *s = N_VGetArrayPointer(y);
  double *r = N_VGetArrayPointer(rate);
  r[0] = (MOMENT[1] - MOMENT[2]) / MOMENT[0] * s[1] * s[2];
  r[1] = (MOMENT[2] - MOMENT[0]) / MOMENT[1] * s[2] * s[0];
  r[2] = (MOMENT[0] - MOMENT[1]) / MOMENT[2] * s[0] * s[1];
  carom_quat q = cm_qmul(cm_quat(s[3], s[4], s[5], s[6]), cm_quat(0, s[0] / 2, s[1] / 2, s[2] / 2));
  r[3] = q.w, r[4] = q.x, r[5] = q.y, r[6] = q.z;
  return 0;
}

static bool integrate(double y[7], double time) {
  SUNContext context = NULL;
  if (SUNContext_Create(NULL, &context)) return false;
  N_Vector vector = N_VMake_Serial(7, y, context);
  void *cvode = CVodeCreate(CV_ADAMS, context);
  SUNNonlinearSolver solver = SUNNonlinSol_FixedPoint(vector, 0, context);
  double reached = 0;
  bool ok = !CVodeInit(cvode, euler_equations, 0, vector) && !CVodeSStolerances(cvode, 1e-14, 1e-15) &&
            !CVodeSetNonlinearSolver(cvode, solver) && !CVodeSetMaxNumSteps(cvode, 1000000) &&
            CVode(cvode, time, vector, &reached, CV_NORMAL) >= 0;
  CVodeFree(&cvode);
  SUNNonlinSolFree(solver);
  N_VDestroy(vector);
  SUNContext_Free(&context);
  return ok;
}

// sn, cn, dn by the arithmetic-geometric mean (Abramowitz and Stegun 1964, 16.4).
static void jacobi(double u, double m, double *sn, double *cn, double *dn) {
  double a[20] = {1}, c[20] = {sqrt(m)}, b = sqrt(1 - m);
  int n = 0;
  while (fabs(c[n]) > 1e-17 && n < 19) {
    a[n + 1] = 0.5 * (a[n] + b);
    c[n + 1] = 0.5 * (a[n] - b);
    b = sqrt(a[n] * b);
    n++;
  }
  double phi = ldexp(a[n] * u, n), previous = phi;
  for (; n > 0; n--) {
    previous = phi;
    phi = 0.5 * (phi + asin(c[n] / a[n] * sin(phi)));
  }
  *sn = sin(phi);
  *cn = cos(phi);
  *dn = *cn / cos(previous - phi);
  if (m == 0) *dn = 1;
}

// Body angular velocity at time t when it is (w1, 0, w3) at 0 and the third axis dominates (Landau and Lifshitz, 37).
static carom_vec3 elliptic(double w1, double w3, double t) {
  double J1 = MOMENT[0], J2 = MOMENT[1], J3 = MOMENT[2];
  double E2 = J1 * w1 * w1 + J3 * w3 * w3, L2 = J1 * J1 * w1 * w1 + J3 * J3 * w3 * w3;
  double rate = sqrt((J3 - J2) * (L2 - E2 * J1) / (J1 * J2 * J3));
  double m = (J2 - J1) * (E2 * J3 - L2) / ((J3 - J2) * (L2 - E2 * J1));
  double amplitude2 = sqrt((E2 * J3 - L2) / (J2 * (J3 - J2))), sn, cn, dn;
  jacobi(rate * t, m, &sn, &cn, &dn);
  return cm_vec3(w1 * cn, amplitude2 * sn, w3 * dn);
}

static const double W1 = 0.5, W3 = 1.1, TIME = 20;

static world start(void) {
  carom_builder *builder = new_builder();
  carom_body_def def = inert_body(1, cm_vec3(MOMENT[0], MOMENT[1], MOMENT[2]));
  def.angular_velocity = cm_vec3(W1, 0, W3);
  carom_builder_add_body(builder, &def);
  return finish_world(builder);
}

TEST(cvode_agrees_with_the_elliptic_functions) {
  for (int k = 1; k <= 8; k++) {
    double y[7] = {W1, 0, W3, 1, 0, 0, 0}, t = TIME * k / 8;
    REQUIRE(integrate(y, t));
    CHECK_AT_MOST(cm_norm(cm_sub(cm_vec3(y[0], y[1], y[2]), elliptic(W1, W3, t))), 1e-11);
  }
}

TEST(converges_with_second_order_to_both_references) {
  double y[7] = {W1, 0, W3, 1, 0, 0, 0}, attitude[4], velocity[4];
  REQUIRE(integrate(y, TIME));
  carom_quat reference = cm_qunit(cm_quat(y[3], y[4], y[5], y[6]));
  for (int k = 0; k < 4; k++) {
    int steps = 1000 << k;
    world w = start();
    carom_stepper *stepper = new_stepper(&w, TIME / steps, CAROM_QUADRATURE_ENDPOINT);
    run_steps(stepper, w.state, steps);
    attitude[k] = cm_norm(cm_log(cm_qmul(cm_qconj(reference), w.state->q[0])));
    carom_vec3 spin = carom_state_angular_velocity(w.model, w.state, 0);
    velocity[k] = cm_norm(cm_sub(cm_unrotate(w.state->q[0], spin), elliptic(W1, W3, TIME)));
    printf("h = %-8g attitude error %.3e, velocity error %.3e\n", TIME / steps, attitude[k], velocity[k]);
    carom_stepper_destroy(stepper);
    free_world(&w);
  }
  for (int k = 0; k < 3; k++) {
    CHECK_NEAR(log2(attitude[k] / attitude[k + 1]), 2, 0.02);
    CHECK_NEAR(log2(velocity[k] / velocity[k + 1]), 2, 0.02);
  }
  // Richardson's extrapolation removes the h^2 term: what is left is far smaller, so the limit is the reference itself.
  CHECK_AT_MOST(attitude[3], 1e-4);
}

// Jointed motion against SUNDIALS CVODE in other coordinates: a double pendulum by two angles, a four-bar loop by three
// angles and two closing conditions solved for accelerations. The error must fall as h^2.
#include <cvode/cvode.h>
#include <nvector/nvector_serial.h>
#include <sunnonlinsol/sunnonlinsol_fixedpoint.h>

#include "fixtures.h"
#include "math/dense.h"
#include "mechanics/joints.h"

static const double G = 9.81;

static bool integrate(CVRhsFn equations, int n, double *y, double time) {
  SUNContext context = NULL;
  if (SUNContext_Create(NULL, &context)) return false;
  N_Vector vector = N_VMake_Serial(n, y, context);
  void *cvode = CVodeCreate(CV_ADAMS, context);
  SUNNonlinearSolver solver = SUNNonlinSol_FixedPoint(vector, 0, context);
  double reached = 0;
  bool ok = !CVodeInit(cvode, equations, 0, vector) && !CVodeSStolerances(cvode, 1e-13, 1e-14) &&
            !CVodeSetNonlinearSolver(cvode, solver) && !CVodeSetMaxNumSteps(cvode, 1000000) &&
            CVode(cvode, time, vector, &reached, CV_NORMAL) >= 0;
  CVodeFree(&cvode);
  SUNNonlinSolFree(solver);
  N_VDestroy(vector);
  SUNContext_Free(&context);
  return ok;
}

// A bar along its own x from the joint at `from`, at an angle in the x-z plane, turning in that plane.
static int add_bar(carom_builder *builder, double mass, double length, double moment, carom_vec3 from, double angle,
                   double rate, carom_vec3 velocity) {
  carom_body_def def = inert_body(mass, cm_vec3(0.4 * moment, moment, 1.1 * moment));
  carom_quat q = cm_axis_angle(cm_vec3(0, 1, 0), -angle);
  def.pose = cm_pose(cm_add(from, cm_rotate(q, cm_vec3(0.5 * length, 0, 0))), q);
  def.angular_velocity = cm_vec3(0, -rate, 0);
  def.velocity = velocity;
  return carom_builder_add_body(builder, &def);
}

static void add_pin(carom_builder *builder, int a, int b, carom_vec3 at) {
  carom_joint_def def = carom_joint_default();
  def.kind = CAROM_JOINT_REVOLUTE;
  def.body[0] = a, def.body[1] = b;
  def.at_start = true;
  def.point[0] = at;
  def.axis[0] = cm_vec3(0, 1, 0);
  carom_builder_add_joint(builder, &def);
}

static carom_vec3 along(double length, double angle) { return cm_vec3(length * cos(angle), 0, length * sin(angle)); }

// Angle of a bar in the x-z plane.
static double angle_of(const carom_state *state, const carom_model *model, int body) {
  carom_vec3 e = cm_rotate(carom_state_pose(model, state, body).q, cm_vec3(1, 0, 0));
  return atan2(e.z, e.x);
}

// ---- double pendulum
// -------------------------------------------------------------------------------------------------

static const double M1 = 1.2, M2 = 0.7, L1 = 0.8, L2 = 0.6, I1 = 0.09, I2 = 0.03;

// y = (a1, a2, a1', a2'), angles against x.
static int pendulum_equations(sunrealtype t, N_Vector y, N_Vector rate, void *data) {
  (void)t, (void)data;
  const double *s = N_VGetArrayPointer(y);
  double *r = N_VGetArrayPointer(rate), c12 = 0.5 * M2 * L1 * L2;
  double A = I1 + 0.25 * M1 * L1 * L1 + M2 * L1 * L1, B = c12 * cos(s[0] - s[1]), C = I2 + 0.25 * M2 * L2 * L2;
  double f = -c12 * sin(s[0] - s[1]) * s[3] * s[3] - (0.5 * M1 + M2) * L1 * G * cos(s[0]);
  double g = c12 * sin(s[0] - s[1]) * s[2] * s[2] - 0.5 * M2 * L2 * G * cos(s[1]), over = 1 / (A * C - B * B);
  r[0] = s[2], r[1] = s[3];
  r[2] = over * (C * f - B * g), r[3] = over * (A * g - B * f);
  return 0;
}

static world double_pendulum(const double *y) {
  carom_builder *b = new_builder();
  carom_builder_set_gravity(b, cm_vec3(0, 0, -G));
  carom_vec3 o = cm_vec3(0.3, -0.2, 0.1), knee = cm_add(o, along(L1, y[0]));
  carom_vec3 v1 = cm_scale(y[2], along(0.5 * L1, y[0] + M_PI_2));
  carom_vec3 v2 = cm_add(cm_scale(2, v1), cm_scale(y[3], along(0.5 * L2, y[1] + M_PI_2)));
  add_bar(b, M1, L1, I1, o, y[0], y[2], v1);
  add_bar(b, M2, L2, I2, knee, y[1], y[3], v2);
  add_pin(b, CAROM_WORLD, 0, o);
  add_pin(b, 0, 1, knee);
  return finish_world(b);
}

static double angle_difference(double a, double b) { return remainder(a - b, 2 * M_PI); }

static double pendulum_error(const double *start, const double *end, double time, int steps, carom_quadrature quad) {
  world w = double_pendulum(start);
  carom_stepper *stepper = new_stepper(&w, time / steps, quad);
  run_steps(stepper, w.state, steps);
  double e1 = angle_difference(angle_of(w.state, w.model, 0), end[0]);
  double e2 = angle_difference(angle_of(w.state, w.model, 1), end[1]);
  CHECK_AT_MOST(carom_joints_drift(w.model, w.state), 1e-13);
  carom_stepper_destroy(stepper);
  free_world(&w);
  return hypot(e1, e2);
}

TEST(double_pendulum_against_cvode) {
  const double start[4] = {0.4, -1.1, 1.3, -2}, time = 1.5;
  double end[4];
  memcpy(end, start, sizeof end);
  REQUIRE(integrate(pendulum_equations, 4, end, time));
  for (int quad = 0; quad < 2; quad++) {
    double e[3];
    for (int k = 0; k < 3; k++) e[k] = pendulum_error(start, end, time, 600 << k, (carom_quadrature)quad);
    printf("double pendulum: errors %.3g %.3g %.3g, orders %.3f %.3f\n", e[0], e[1], e[2], log2(e[0] / e[1]),
           log2(e[1] / e[2]));
    CHECK_AT_MOST(e[2], 1e-4);
    CHECK_NEAR(log2(e[0] / e[1]), 2, 0.1);
    CHECK_NEAR(log2(e[1] / e[2]), 2, 0.05);
  }
}

// ---- four-bar loop
// ---------------------------------------------------------------------------------------------------

static const double BAR[3] = {0.5, 1.1, 0.9}, BASE = 1, MASS[3] = {0.8, 1.5, 1.1}, MOMENT[3] = {0.03, 0.2, 0.1};

// M a + G' lambda = f, G a = -G' rates: five equations.
static int four_bar_equations(sunrealtype t, N_Vector y, N_Vector rate, void *data) {
  (void)t, (void)data;
  const double *a = N_VGetArrayPointer(y), *w = a + 3;
  double *r = N_VGetArrayPointer(rate), K[25] = {0}, x[5];
  double c12 = 0.5 * MASS[1] * BAR[0] * BAR[1], sign[3] = {1, 1, -1};
  int pivot[5];
  for (int i = 0; i < 3; i++) K[6 * i] = MOMENT[i] + 0.25 * MASS[i] * BAR[i] * BAR[i];
  K[0] += MASS[1] * BAR[0] * BAR[0];
  K[1] = K[5] = c12 * cos(a[0] - a[1]);
  x[0] = -c12 * sin(a[0] - a[1]) * w[1] * w[1] - (0.5 * MASS[0] + MASS[1]) * BAR[0] * G * cos(a[0]);
  x[1] = c12 * sin(a[0] - a[1]) * w[0] * w[0] - 0.5 * MASS[1] * BAR[1] * G * cos(a[1]);
  x[2] = -0.5 * MASS[2] * BAR[2] * G * cos(a[2]);
  x[3] = x[4] = 0;
  for (int i = 0; i < 3; i++) {
    double gx = -sign[i] * BAR[i] * sin(a[i]), gz = sign[i] * BAR[i] * cos(a[i]);
    K[3 + 5 * i] = K[i + 15] = gx;
    K[4 + 5 * i] = K[i + 20] = gz;
    x[3] += sign[i] * BAR[i] * cos(a[i]) * w[i] * w[i];
    x[4] += sign[i] * BAR[i] * sin(a[i]) * w[i] * w[i];
  }
  if (carom_small_lu(5, K, 5, pivot) != CAROM_OK) return -1;
  carom_small_lu_solve(5, K, 5, pivot, x);
  for (int i = 0; i < 3; i++) r[i] = w[i], r[3 + i] = x[i];
  return 0;
}

// From the crank's angle and rate: the others', by the closing conditions.
static void close_four_bar(double *y) {
  carom_vec3 p = along(BAR[0], y[0]), d = cm_sub(cm_vec3(BASE, 0, 0), p);
  double D = cm_norm(d), base = atan2(d.z, d.x);
  double inner = acos((BAR[1] * BAR[1] + D * D - BAR[2] * BAR[2]) / (2 * BAR[1] * D));
  y[1] = base + inner;
  carom_vec3 top = cm_add(p, along(BAR[1], y[1]));
  y[2] = atan2(top.z, top.x - BASE);
  double a = -BAR[1] * sin(y[1]), b = BAR[2] * sin(y[2]), c = BAR[1] * cos(y[1]), e = -BAR[2] * cos(y[2]);
  double fx = BAR[0] * sin(y[0]) * y[3], fz = -BAR[0] * cos(y[0]) * y[3], det = a * e - b * c;
  y[4] = (e * fx - b * fz) / det, y[5] = (a * fz - c * fx) / det;
}

static world four_bar(const double *y) {
  carom_builder *b = new_builder();
  carom_builder_set_gravity(b, cm_vec3(0, 0, -G));
  carom_vec3 o = cm_zero3(), p = along(BAR[0], y[0]), base = cm_vec3(BASE, 0, 0), top = cm_add(p, along(BAR[1], y[1]));
  carom_vec3 v0 = cm_scale(y[3], along(0.5 * BAR[0], y[0] + M_PI_2));
  carom_vec3 v1 = cm_add(cm_scale(2, v0), cm_scale(y[4], along(0.5 * BAR[1], y[1] + M_PI_2)));
  add_bar(b, MASS[0], BAR[0], MOMENT[0], o, y[0], y[3], v0);
  add_bar(b, MASS[1], BAR[1], MOMENT[1], p, y[1], y[4], v1);
  add_bar(b, MASS[2], BAR[2], MOMENT[2], base, y[2], y[5], cm_scale(y[5], along(0.5 * BAR[2], y[2] + M_PI_2)));
  add_pin(b, CAROM_WORLD, 0, o);
  add_pin(b, 0, 1, p);
  add_pin(b, 1, 2, top);
  add_pin(b, CAROM_WORLD, 2, base);
  return finish_world(b);
}

// Four revolute joints in space are three equations too many: the loop's five have rank two.
TEST(four_bar_against_cvode) {
  double start[6] = {1.2, 0, 0, 4}, end[6], e[3];
  const double time = 1;
  close_four_bar(start);
  memcpy(end, start, sizeof end);
  REQUIRE(integrate(four_bar_equations, 6, end, time));
  for (int k = 0; k < 3; k++) {
    int steps = 200 << k;
    world w = four_bar(start);
    for (int i = 0; i < 3; i++)  // the start fits the joints: the builder had nothing to project
      CHECK_NEAR(carom_state_angular_velocity(w.model, w.state, i).y, -start[3 + i], 1e-12);
    carom_stepper *stepper = new_stepper(&w, time / steps, CAROM_QUADRATURE_ENDPOINT);
    run_steps(stepper, w.state, steps);
    e[k] = 0;
    for (int i = 0; i < 3; i++) e[k] = hypot(e[k], angle_difference(angle_of(w.state, w.model, i), end[i]));
    CHECK_AT_MOST(carom_joints_drift(w.model, w.state), 1e-12);
    carom_stepper_destroy(stepper);
    free_world(&w);
  }
  printf("four-bar: errors %.3g %.3g %.3g, orders %.3f %.3f\n", e[0], e[1], e[2], log2(e[0] / e[1]), log2(e[1] / e[2]));
  CHECK_AT_MOST(e[2], 1e-4);
  CHECK_NEAR(log2(e[0] / e[1]), 2, 0.1);
  CHECK_NEAR(log2(e[1] / e[2]), 2, 0.05);
}

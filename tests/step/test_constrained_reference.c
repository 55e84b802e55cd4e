// Jointed motion against SUNDIALS. CVODE in other coordinates: a double pendulum by two angles, a four-bar loop by
// three angles and two closing conditions solved for accelerations. IDA in the same redundant coordinates: places and
// angles of all bars, with a multiplier for each closing condition. The error must fall as h to the order of the
// method.
#include <cvode/cvode.h>
#include <ida/ida.h>
#include <nvector/nvector_serial.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>
#include <sunnonlinsol/sunnonlinsol_fixedpoint.h>

#include "fixtures.h"
#include "math/dense.h"
#include "model/joints.h"

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

// ---- double pendulum -----------------------------------------------------------------------------------------------

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

static carom_stepper *stepper_of_order(const world *w, double h, carom_quadrature quad, int order) {
  carom_step_options options = carom_step_default_options();
  options.integrator = "variational";
  options.step = h;
  options.quadrature = quad;
  options.order = order;
  carom_stepper *stepper = NULL;
  if (carom_stepper_create(w->model, &options, NULL, &stepper, NULL) != CAROM_OK) abort();
  return stepper;
}

static double pendulum_error_of_order(const double *start, const double *end, double time, int steps,
                                      carom_quadrature quad, int order) {
  world w = double_pendulum(start);
  carom_stepper *stepper = stepper_of_order(&w, time / steps, quad, order);
  run_steps(stepper, w.state, steps);
  double e1 = angle_difference(angle_of(w.state, w.model, 0), end[0]);
  double e2 = angle_difference(angle_of(w.state, w.model, 1), end[1]);
  CHECK_AT_MOST(carom_joints_drift(w.model, w.state), 1e-13);
  carom_stepper_destroy(stepper);
  free_world(&w);
  return hypot(e1, e2);
}

static double pendulum_error(const double *start, const double *end, double time, int steps, carom_quadrature quad) {
  return pendulum_error_of_order(start, end, time, steps, quad, 2);
}

// Compositions of symmetric steps: five of them give order 4, nine order 6.
TEST(double_pendulum_of_higher_order_against_cvode) {
  const double start[4] = {0.4, -1.1, 1.3, -2}, time = 1.5;
  double end[4];
  memcpy(end, start, sizeof end);
  REQUIRE(integrate(pendulum_equations, 4, end, time));
  for (int order = 4; order <= 6; order += 2) {
    double e[3];
    for (int k = 0; k < 3; k++)
      e[k] = pendulum_error_of_order(start, end, time, 120 << k, CAROM_QUADRATURE_ENDPOINT, order);
    printf("double pendulum, order %d: errors %.3g %.3g %.3g, orders %.3f %.3f\n", order, e[0], e[1], e[2],
           log2(e[0] / e[1]), log2(e[1] / e[2]));
    CHECK_AT_MOST(e[2], order == 4 ? 1e-6 : 1e-9);
    CHECK_NEAR(log2(e[0] / e[1]), order, 0.3);
    CHECK_NEAR(log2(e[1] / e[2]), order, 0.15);
  }
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

// ---- four-bar loop -------------------------------------------------------------------------------------------------

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

// ---- IDA -----------------------------------------------------------------------------------------------------------

enum { MOST_BARS = 3, MOST_PINS = 4, MOST_UNKNOWNS = 6 * MOST_BARS + 2 * MOST_PINS };

// A pin between points at distances s from the middles of two bars; bar -1 is the ground, with the point (x, z).
typedef struct pin {
  int bar[2];
  double s[2], x, z;
} pin;

typedef struct linkage {
  int bars, pins;
  double mass[MOST_BARS], moment[MOST_BARS];
  pin pin[MOST_PINS];
} linkage;

// Gap g of a pin, its rate and the acceleration that rates alone make of it; rows of G (2 x 3 for each end).
static void open_pin(const pin *p, const double *q, const double *v, double g[2], double rate[2], double bend[2],
                     double rows[2][2][3]) {
  g[0] = -p->x, g[1] = -p->z;
  rate[0] = rate[1] = bend[0] = bend[1] = 0;
  for (int end = 0; end < 2; end++) {
    if (p->bar[end] < 0) continue;
    const double *Q = q + 3 * p->bar[end], *V = v + 3 * p->bar[end], sign = end == 0 ? 1 : -1;
    double c = sign * p->s[end] * cos(Q[2]), s = sign * p->s[end] * sin(Q[2]);
    double J[2][3] = {{sign, 0, -s}, {0, sign, c}};
    memcpy(rows[end], J, sizeof J);
    g[0] += sign * Q[0] + c, g[1] += sign * Q[1] + s;
    for (int r = 0; r < 2; r++) rate[r] += J[r][0] * V[0] + J[r][1] * V[1] + J[r][2] * V[2];
    bend[0] -= c * V[2] * V[2], bend[1] -= s * V[2] * V[2];
  }
}

// y = (q, v, lambda):  q' = v,  M v' = f + G' lambda,  G v' + bend + 2 k G v + k^2 g = 0: the conditions differentiated
// twice (index 1), and held by Baumgarte's terms.
static int linkage_equations(sunrealtype t, N_Vector state, N_Vector slope, N_Vector residual, void *data) {
  (void)t;
  const linkage *L = data;
  const double *q = N_VGetArrayPointer(state), *dq = N_VGetArrayPointer(slope), k = 20;
  int n = 3 * L->bars;
  const double *v = q + n, *lambda = v + n, *dv = dq + n;
  double *r = N_VGetArrayPointer(residual);
  for (int i = 0; i < n; i++) {
    double mass = i % 3 == 2 ? L->moment[i / 3] : L->mass[i / 3];
    r[i] = dq[i] - v[i];
    r[n + i] = mass * dv[i] + (i % 3 == 1 ? mass * G : 0);
  }
  for (int j = 0; j < L->pins; j++) {
    double g[2], rate[2], bend[2], rows[2][2][3];
    open_pin(&L->pin[j], q, v, g, rate, bend, rows);
    for (int a = 0; a < 2; a++) {
      r[2 * n + 2 * j + a] = bend[a] + 2 * k * rate[a] + k * k * g[a];
      for (int end = 0; end < 2; end++)
        for (int c = 0; c < 3 && L->pin[j].bar[end] >= 0; c++) {
          int at = 3 * L->pin[j].bar[end] + c;
          r[2 * n + 2 * j + a] += rows[end][a][c] * dv[at];
          r[n + at] -= rows[end][a][c] * lambda[2 * j + a];
        }
    }
  }
  return 0;
}

// From bars' places and rates at rest in y to those at `time`; IDA finds v' and lambda at the start itself.
static bool integrate_linkage(linkage *L, double *y, double time) {
  int n = 3 * L->bars, unknowns = 2 * n + 2 * L->pins;
  double slope[MOST_UNKNOWNS] = {0}, kind[MOST_UNKNOWNS] = {0}, reached = 0;
  for (int i = 0; i < n; i++) slope[i] = y[n + i];
  for (int i = 0; i < 2 * n; i++) kind[i] = 1;  // the others are algebraic
  SUNContext context = NULL;
  if (SUNContext_Create(NULL, &context)) return false;
  N_Vector Y = N_VMake_Serial(unknowns, y, context), D = N_VMake_Serial(unknowns, slope, context);
  N_Vector id = N_VMake_Serial(unknowns, kind, context);
  SUNMatrix matrix = SUNDenseMatrix(unknowns, unknowns, context);
  SUNLinearSolver solver = SUNLinSol_Dense(Y, matrix, context);
  void *ida = IDACreate(context);
  bool ok = !IDAInit(ida, linkage_equations, 0, Y, D) && !IDASStolerances(ida, 1e-12, 1e-12) &&
            !IDASetUserData(ida, L) && !IDASetLinearSolver(ida, solver, matrix) && !IDASetId(ida, id) &&
            !IDASetMaxNumSteps(ida, 1000000) && !IDACalcIC(ida, IDA_YA_YDP_INIT, 1e-3) &&
            IDASolve(ida, time, &reached, Y, D, IDA_NORMAL) >= 0;
  IDAFree(&ida);
  SUNLinSolFree(solver);
  SUNMatDestroy(matrix);
  N_VDestroy(Y);
  N_VDestroy(D);
  N_VDestroy(id);
  SUNContext_Free(&context);
  return ok;
}

static void load_bars(const world *w, linkage *L, double *y) {
  for (int i = 0; i < L->bars; i++) {
    carom_vec3 x = w->state->x[i], v = carom_state_velocity(w->model, w->state, i);
    double q[3] = {x.x, x.z, angle_of(w->state, w->model, i)};
    double rate[3] = {v.x, v.z, -carom_state_angular_velocity(w->model, w->state, i).y};
    memcpy(y + 3 * i, q, sizeof q);
    memcpy(y + 3 * (L->bars + i), rate, sizeof rate);
  }
}

// Errors of places and angles against IDA with so many steps of an order.
static double linkage_error(world w, linkage *L, const double *end, double time, int steps, int order) {
  carom_stepper *stepper = stepper_of_order(&w, time / steps, CAROM_QUADRATURE_ENDPOINT, order);
  run_steps(stepper, w.state, steps);
  double sum = 0;
  for (int i = 0; i < L->bars; i++) {
    const double *q = end + 3 * i;
    sum += pow(w.state->x[i].x - q[0], 2) + pow(w.state->x[i].z - q[1], 2) +
           pow(angle_difference(angle_of(w.state, w.model, i), q[2]), 2);
  }
  carom_stepper_destroy(stepper);
  free_world(&w);
  return sqrt(sum);
}

static void check_linkage(const char *name, world (*make)(const double *), const double *start, linkage *L,
                          double time) {
  double end[MOST_UNKNOWNS] = {0};
  world w = make(start);
  load_bars(&w, L, end);
  free_world(&w);
  REQUIRE(integrate_linkage(L, end, time));
  for (int j = 0; j < L->pins; j++) {  // IDA itself has stayed on the conditions
    double g[2], rate[2], bend[2], rows[2][2][3];
    open_pin(&L->pin[j], end, end + 3 * L->bars, g, rate, bend, rows);
    CHECK_AT_MOST(hypot(g[0], g[1]), 1e-10);
  }
  for (int order = 2; order <= 4; order += 2) {
    double e[3];
    for (int k = 0; k < 3; k++) e[k] = linkage_error(make(start), L, end, time, (order == 2 ? 400 : 100) << k, order);
    printf("%s, order %d: off IDA by %.3g %.3g %.3g, orders %.3f %.3f\n", name, order, e[0], e[1], e[2],
           log2(e[0] / e[1]), log2(e[1] / e[2]));
    CHECK_AT_MOST(e[2], order == 2 ? 1e-3 : 1e-6);
    CHECK_NEAR(log2(e[0] / e[1]), order, 0.3);
    CHECK_NEAR(log2(e[1] / e[2]), order, 0.15);
  }
}

TEST(double_pendulum_against_ida) {
  const double start[4] = {0.4, -1.1, 1.3, -2};
  linkage L = {.bars = 2, .pins = 2, .mass = {M1, M2}, .moment = {I1, I2}};
  L.pin[0] = (pin){.bar = {0, -1}, .s = {-0.5 * L1}, .x = 0.3, .z = 0.1};
  L.pin[1] = (pin){.bar = {0, 1}, .s = {0.5 * L1, -0.5 * L2}};
  check_linkage("double pendulum", double_pendulum, start, &L, 1.5);
}

TEST(four_bar_against_ida) {
  double start[6] = {1.2, 0, 0, 4};
  close_four_bar(start);
  linkage L = {.bars = 3, .pins = 4};
  memcpy(L.mass, MASS, sizeof MASS);
  memcpy(L.moment, MOMENT, sizeof MOMENT);
  L.pin[0] = (pin){.bar = {0, -1}, .s = {-0.5 * BAR[0]}};
  L.pin[1] = (pin){.bar = {0, 1}, .s = {0.5 * BAR[0], -0.5 * BAR[1]}};
  L.pin[2] = (pin){.bar = {1, 2}, .s = {0.5 * BAR[1], 0.5 * BAR[2]}};
  L.pin[3] = (pin){.bar = {2, -1}, .s = {-0.5 * BAR[2]}, .x = BASE};
  check_linkage("four-bar", four_bar, start, &L, 1);
}

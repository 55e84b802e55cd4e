// A joint that is let go: an arm in a horizontal plane throws a ball. When, where and how fast it must let go, and the
// least effort that takes, are known in closed form (examples/plan-throw/README.md).
#include "blows.h"

typedef struct throw {
  double length, width, density, ball, ball_density, height, T;
  double x, y;  // where the ball is to lie
}
throw;

static const double gravity = 9.81, pi = 3.14159265358979323846;

static double flight_time(const throw *t) { return sqrt(2 * (t->height - t->ball) / gravity); }

// About the pivot: a square bar from there to the ball, and the ball as a point, since nothing makes it spin.
static double inertia(const throw *t) {
  double bar = t->length - t->ball, m = t->density * bar * t->width * t->width;
  double ball = t->ball_density * 4 / 3 * pi * t->ball * t->ball * t->ball;
  return m * (bar * bar + t->width * t->width) / 12 + m * bar * bar / 4 + ball * t->length * t->length;
}

static void release_state(const throw *t, double *theta, double *omega) {
  double D = hypot(t->x, t->y), L = t->length;
  *theta = atan2(t->y, t->x) - acos(L / D);
  *omega = sqrt(D * D - L * L) / (L * flight_time(t));
}

static double least_effort(const throw *t) {
  double J = inertia(t), T = t->T - flight_time(t), theta, omega;
  release_state(t, &theta, &omega);
  return J * J * (12 * theta * theta / (T * T * T) - 12 * theta * omega / (T * T) + 4 * omega * omega / T);
}

static carom_plan_file *read_throw(const throw *t, int intervals) {
  char scene[1000], problem[1000];
  double bar = t->length - t->ball, theta, omega, T = t->T - flight_time(t);
  release_state(t, &theta, &omega);
  snprintf(scene, sizeof scene,
           "carom: 1\nbodies:\n  - {name: post, fixed: true, shape: {box: {size: [0.04, 0.04, 0.1]}}, position: [0, 0, "
           "%.17g]}\n"
           "  - {name: arm, density: %.17g, shape: {box: {size: [%.17g, %.17g, %.17g]}}, position: [%.17g, 0, %.17g]}\n"
           "  - {name: ball, density: %.17g, shape: {sphere: {radius: %.17g}}, position: [%.17g, 0, %.17g]}\n"
           "forces: {gravity: 9.81}\nintegrator: {step: 0.02 s}\nduration: 1 s\n",
           t->height - 0.2, t->density, bar, t->width, t->width, bar / 2, t->height, t->ball_density, t->ball,
           t->length, t->height);
  snprintf(
      problem, sizeof problem,
      "carom-plan: 1\nscene: test_throw_scene.yaml\nhorizon: {intervals: %d, duration: %.17g}\njoints:\n"
      "  - {name: pivot, kind: revolute, bodies: [post, arm], points: [[0, 0, 0.2], [%.17g, 0, 0]], axis: [0, 0, 1]}\n"
      "  - {name: grip, kind: spherical, bodies: [arm, ball], points: [[%.17g, 0, 0], [0, 0, 0]]}\n"
      "events: [{node: %d, release: grip}]\nactuators: [{name: motor, joint: pivot}]\ncosts: [{effort: 1}]\n"
      "conditions: [{body: ball, position: [%.17g, %.17g, %.17g]}]\n"
      "guess: {kind: forward, forces: [{actuator: motor, through: [{time: 0, torque: %.17g}]}]}\n",
      intervals, t->T, -bar / 2, t->length - bar / 2, intervals / 2, t->x, t->y, t->ball,
      inertia(t) * 2 * theta / (T * T));
  return read_texts("test_throw", scene, problem);
}

// After the release the ball is on its own: a parabola at the nodes, to the last bits.
static void check_flight(const carom_plan *plan, const throw *t) {
  enum { ARM = 1, BALL };
  int k = carom_plan_event_node(plan, 0), K = carom_plan_node_count(plan) - 1;
  double let_go = carom_plan_time(plan, k), theta, omega;
  release_state(t, &theta, &omega);
  CHECK_NEAR(let_go, t->T - flight_time(t), 1e-8);
  carom_vec3 v = cm_scale(omega * t->length, cm_vec3(-sin(theta), cos(theta), 0)), x0 = position(plan, k, BALL);
  CHECK_AT_MOST(cm_norm(cm_sub(x0, cm_vec3(t->length * cos(theta), t->length * sin(theta), t->height))), 1e-8);
  side b = side_of(plan, k, BALL, false), a = side_of(plan, k, BALL, true);
  CHECK_AT_MOST(cm_norm(cm_sub(b.v, v)) + cm_norm(cm_sub(a.v, v)), 1e-7);  // nothing is lost in letting go
  for (int n = k; n <= K; n++) {
    double s = carom_plan_time(plan, n) - let_go;
    carom_vec3 x = cm_add(cm_axpy(x0, s, v), cm_vec3(0, 0, -0.5 * gravity * s * s));
    CHECK_AT_MOST(cm_norm(cm_sub(position(plan, n, BALL), x)), 1e-7);
  }
  for (int n = k; n < K; n++) {
    double tau;
    carom_plan_forces(plan, n, 0, &tau);
    CHECK_NEAR(tau, 0, 1e-6);  // and what is left of the arm's motion costs nothing
  }
}

static double solve_throw(const throw *t, int intervals) {
  carom_plan_file *file = read_throw(t, intervals);
  carom_plan_report report;
  if (!file || !solve(file->plan, &file->options, &report)) return NAN;
  check_plan(file->plan, &report);
  check_flight(file->plan, t);
  carom_plan_file_destroy(file);
  return report.cost;
}

// Effort at two steps, and extrapolated: errors go with the square of the step.
TEST(a_ball_is_thrown_at_the_least_effort) {
  static const throw throws[] = {
      {0.6, 0.025, 600, 0.03, 800, 1.2, 1.0, -0.8, 1.6},
      {1.5, 0.05, 300, 0.06, 2000, 2.5, 1.6, -2, 3},
      {0.08, 0.004, 2000, 0.005, 7000, 0.3, 0.5, 0.02, 0.25},
  };
  for (size_t i = 0; i < sizeof throws / sizeof *throws; i++) {
    double exact = least_effort(&throws[i]), coarse = solve_throw(&throws[i], 30), fine = solve_throw(&throws[i], 60);
    CHECK_NEAR(fine / exact, 1, 5e-3);
    CHECK_NEAR((4 * fine - coarse) / 3 / exact, 1, 5e-5);
  }
}

// Plans of one body without contacts, against solutions found on other ways.
#include "control/plan.h"
#include "fixtures.h"

// A box of 0.027 kg at the origin.
static world make_box(carom_vec3 size, carom_vec3 gravity) {
  carom_builder *b = new_builder();
  carom_body_def def = carom_body_default();
  def.name = "box", def.mass = 0.027;
  put_shape(b, def, box_shape(size.x, size.y, size.z));
  carom_builder_set_gravity(b, gravity);
  return finish_world(b);
}

static carom_plan *rest_to_rest(const world *w, int K, double T, carom_pose target) {
  carom_plan *plan = NULL;
  carom_error error = {0};
  carom_plan_def def = carom_plan_default();
  def.intervals = K, def.step = T / K;
  if (carom_plan_create(w->model, w->state, &def, NULL, &plan, &error) != CAROM_OK) {
    test_fail(__FILE__, __LINE__, "%s", error.message);
    return NULL;
  }
  carom_actuator_def wrench = carom_actuator_default();
  carom_plan_add_actuator(plan, &wrench);
  carom_condition_def pose = carom_condition_default(), rest = carom_condition_default();
  pose.kind = CAROM_CONDITION_POSE, pose.pose = target;
  rest.kind = CAROM_CONDITION_VELOCITY;
  carom_plan_add_condition(plan, &pose);
  carom_plan_add_condition(plan, &rest);
  carom_cost_def effort = carom_cost_default();
  carom_plan_add_cost(plan, &effort);
  return plan;
}

static bool solve(carom_plan *plan, carom_plan_report *report) {
  carom_error error = {0};
  if (!carom_plan_available()) test_skip("built without Ipopt");
  if (carom_plan_solve(plan, NULL, report, &error) == CAROM_OK) return true;
  test_fail(__FILE__, __LINE__, "%s", error.message);
  return false;
}

// A shift by D at rest on both ends is a linear problem: sum f = 0, sum h^2/m (K - i - 1/2) f_i = D, least sum f^2.
TEST(shift_at_rest_meets_the_linear_solution) {
  enum { K = 20 };
  world w = make_box(cm_vec3(0.1, 0.1, 0.1), cm_zero3());
  double T = 0.5, D = 0.3, h = T / K, m = 0.027, weight[K], mean = 0, square = 0;
  carom_plan *plan = rest_to_rest(&w, K, T, cm_pose(cm_vec3(D, 0, 0), cm_qidentity()));
  carom_plan_report report;
  REQUIRE(plan && solve(plan, &report));
  CHECK(report.outcome == CAROM_PLAN_SOLVED);
  for (int i = 0; i < K; i++) weight[i] = h * h / m * (K - i - 0.5), mean += weight[i] / K;
  for (int i = 0; i < K; i++) square += (weight[i] - mean) * (weight[i] - mean);
  for (int i = 0; i < K; i++) {
    double tau[6];
    carom_plan_forces(plan, i, 0, tau);
    CHECK_NEAR(tau[0], D * (weight[i] - mean) / square, 1e-8);
    CHECK_NEAR(tau[1], 0, 1e-9);
    CHECK_NEAR(tau[5], 0, 1e-9);
  }
  CHECK_AT_MOST(report.violation, 1e-10);
  CHECK_AT_MOST(report.momentum_defect, 1e-10);
  carom_plan_destroy(plan);
  free_world(&w);
}

// A turn about a principal axis: the continuous optimum is T(t) = 6 J angle/T^2 (1 - 2 t/T), effort 12 (J angle)^2/T^3;
// the discrete one tends to it with h^2.
TEST(turn_at_rest_tends_to_the_continuous_solution) {
  world w = make_box(cm_vec3(0.1, 0.12, 0.2), cm_zero3());
  double J = 0.027 / 12 * (0.01 + 0.0144), angle = 0.8, T = 0.5, exact = 12 * J * J * angle * angle / (T * T * T);
  double error[2];
  for (int i = 0; i < 2; i++) {
    carom_plan *plan = rest_to_rest(&w, 20 << i, T, cm_pose(cm_zero3(), cm_axis_angle(cm_vec3(0, 0, 1), angle)));
    carom_plan_report report;
    REQUIRE(plan && solve(plan, &report));
    CHECK(report.outcome == CAROM_PLAN_SOLVED);
    error[i] = report.cost / exact - 1;
    carom_replay_report replay;
    carom_error e = {0};
    CHECK(carom_plan_replay(plan, &replay, &e) == CAROM_OK);
    CHECK_AT_MOST(replay.rotation, 1e-9);
    carom_plan_destroy(plan);
  }
  CHECK_AT_MOST(fabs(error[0]), 0.02);
  CHECK_NEAR(error[0] / error[1], 4, 0.3);
  free_world(&w);
}

// A tumble in three axes with weight: replayed by the forward integrator, and momentum is accounted for.
TEST(tumble_with_weight_replays) {
  world w = make_box(cm_vec3(0.1, 0.15, 0.25), cm_vec3(0, 0, -9.81));
  carom_pose target = cm_pose(cm_vec3(0.2, -0.1, 0.3), cm_axis_angle(cm_vec3(1, 2, -1), 2.0));
  carom_plan *plan = rest_to_rest(&w, 30, 0.6, target);
  carom_plan_report report;
  REQUIRE(plan && solve(plan, &report));
  CHECK(report.outcome == CAROM_PLAN_SOLVED);
  CHECK_AT_MOST(report.violation, 1e-9);
  CHECK_AT_MOST(report.momentum_defect, 1e-9);
  CHECK(report.cost < report.guess_cost);
  carom_replay_report replay;
  carom_error e = {0};
  CHECK(carom_plan_replay(plan, &replay, &e) == CAROM_OK);
  CHECK_AT_MOST(replay.position, 1e-9);
  CHECK_AT_MOST(replay.rotation, 1e-9);
  carom_plan_destroy(plan);
  free_world(&w);
}

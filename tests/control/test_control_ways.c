// Plans past obstacles, with joints, actuators of all kinds and all kinds of conditions; and what happens when memory
// runs out.
#include "control/plan.h"
#include "failing_allocator.h"
#include "test.h"

typedef struct world {
  carom_builder *builder;
  carom_model *model;
  carom_state *state;
} world;

static world begin_world(void) {
  world w = {0};
  if (!carom_plan_available()) test_skip("built without Ipopt");
  carom_builder_create(NULL, &w.builder, NULL);
  return w;
}

static void add_shape(world *w, const carom_shape *shape, const char *name, carom_vec3 at, bool fixed) {
  carom_part part = {shape, cm_pose_identity(), 0};
  carom_body_def def = carom_body_default();
  def.name = name, def.parts = &part, def.part_count = 1, def.fixed = fixed, def.density = 100;
  def.pose = cm_pose(at, cm_qidentity());
  carom_builder_add_body(w->builder, &def);
  carom_shape_release(shape);
}

static void add_box(world *w, const char *name, carom_vec3 size, carom_vec3 at, bool fixed) {
  const carom_shape *box = NULL;
  carom_shape_create_box(size, NULL, &box, NULL);
  add_shape(w, box, name, at, fixed);
}

static void add_ball(world *w, const char *name, double radius, carom_vec3 at, bool fixed) {
  const carom_shape *ball = NULL;
  carom_shape_create_sphere(radius, NULL, &ball, NULL);
  add_shape(w, ball, name, at, fixed);
}

static void finish_world(world *w) {
  carom_error error = {0};
  if (carom_builder_finish(w->builder, &w->model, &w->state, &error) != CAROM_OK)
    test_fail(__FILE__, __LINE__, "%s", error.message);
  carom_builder_destroy(w->builder);
}

static void free_world(world *w) {
  carom_model_destroy(w->model);
  carom_state_destroy(w->state);
}

static carom_plan *make_plan(const world *w, int K, double T, carom_avoidance avoidance) {
  carom_plan *plan = NULL;
  carom_plan_def def = carom_plan_default();
  def.intervals = K, def.step = T / K, def.avoidance = avoidance;
  if (carom_plan_create(w->model, w->state, &def, NULL, &plan, NULL) != CAROM_OK)
    test_fail(__FILE__, __LINE__, "create");
  carom_cost_def effort = carom_cost_default();
  carom_plan_add_cost(plan, &effort);
  return plan;
}

static void add_wrench(carom_plan *plan, int body) {
  carom_actuator_def def = carom_actuator_default();
  def.body = body;
  carom_plan_add_actuator(plan, &def);
}

static void go_to(carom_plan *plan, int body, carom_pose pose) {
  carom_condition_def def = carom_condition_default();
  def.body = body, def.kind = CAROM_CONDITION_POSE, def.pose = pose;
  carom_plan_add_condition(plan, &def);
  def.kind = CAROM_CONDITION_VELOCITY;
  carom_plan_add_condition(plan, &def);
}

static void check_plan(carom_plan *plan, const carom_plan_options *options, carom_plan_report *report) {
  carom_error error = {0};
  carom_replay_report replay;
  if (carom_plan_solve(plan, options, report, &error) != CAROM_OK) test_fail(__FILE__, __LINE__, "%s", error.message);
  if (report->outcome != CAROM_PLAN_SOLVED) test_fail(__FILE__, __LINE__, "not solved: %s", report->message);
  CHECK_AT_MOST(report->violation, 1e-9);
  CHECK_AT_MOST(report->momentum_defect, 1e-8);
  CHECK((options && !options->sweep ? report->smallest_gap : report->swept_gap) > -1e-9);
  if (carom_plan_replay(plan, &replay, &error) != CAROM_OK) test_fail(__FILE__, __LINE__, "%s", error.message);
  CHECK_AT_MOST(replay.position, 1e-6);
  CHECK_AT_MOST(replay.rotation, 1e-6);
}

// A wall stands in the straight way; nobody says how to go round it.
TEST(a_way_round_an_obstacle_is_searched) {
  world w = begin_world();
  add_box(&w, "cube", cm_vec3(0.1, 0.1, 0.1), cm_vec3(-0.2, 0, 0), false);
  add_box(&w, "wall", cm_vec3(0.05, 0.3, 0.3), cm_zero3(), true);
  finish_world(&w);
  carom_plan *plan = make_plan(&w, 20, 1, CAROM_AVOID_LIFTED);
  add_wrench(plan, 0);
  go_to(plan, 0, cm_pose(cm_vec3(0.2, 0, 0), cm_qidentity()));
  carom_plan_add_avoidance(plan, 0, 1);
  carom_plan_report report;
  check_plan(plan, NULL, &report);
  CHECK(report.guess == CAROM_GUESS_SEARCH);
  CHECK(report.smallest_gap > -1e-9);
  carom_plan_destroy(plan);
  free_world(&w);
}

// Smooth bodies with the gap of the oracle: a ball round a ball. Lifted planes give the same optimum.
TEST(nested_and_lifted_avoidance_agree_on_balls) {
  double cost[2];
  for (int i = 0; i < 2; i++) {
    world w = begin_world();
    add_ball(&w, "ball", 0.05, cm_vec3(-0.2, 0.01, 0.02), false);
    add_ball(&w, "post", 0.08, cm_zero3(), true);
    finish_world(&w);
    carom_plan *plan = make_plan(&w, 16, 1, i == 0 ? CAROM_AVOID_NESTED : CAROM_AVOID_LIFTED);
    add_wrench(plan, 0);
    go_to(plan, 0, cm_pose(cm_vec3(0.2, 0.01, 0.02), cm_qidentity()));
    carom_plan_add_avoidance(plan, 0, 1);
    carom_pose way[3] = {cm_pose(cm_vec3(-0.2, 0.01, 0.02), cm_qidentity()),
                         cm_pose(cm_vec3(0, 0.09, 0.18), cm_qidentity()),
                         cm_pose(cm_vec3(0.2, 0.01, 0.02), cm_qidentity())};
    carom_plan_set_waypoints(plan, 0, 3, (double[]){0, 0.5, 1}, way);
    carom_plan_options options = carom_plan_default_options();
    options.sweep = false;
    carom_plan_report report;
    check_plan(plan, &options, &report);
    cost[i] = report.cost;
    carom_plan_destroy(plan);
    free_world(&w);
  }
  // A plane per interval asks for more than a gap at each node: the difference goes with the step.
  CHECK(cost[1] >= cost[0] * (1 - 1e-6));
  CHECK_NEAR(cost[1] / cost[0], 1, 0.15);
}

// Two bars on a hinge and a ball joint with the world's bar, weight, torques in the joints.
TEST(joints_hold_and_replay) {
  world w = begin_world();
  carom_builder_set_gravity(w.builder, cm_vec3(0, 0, -9.81));
  add_box(&w, "base", cm_vec3(0.02, 0.02, 0.02), cm_zero3(), true);
  add_box(&w, "upper", cm_vec3(0.1, 0.02, 0.02), cm_vec3(0.05, 0, 0), false);
  add_box(&w, "lower", cm_vec3(0.1, 0.02, 0.02), cm_vec3(0.15, 0, 0), false);
  finish_world(&w);
  carom_plan *plan = make_plan(&w, 20, 0.4, CAROM_AVOID_LIFTED);
  carom_plan_joint_def shoulder = carom_plan_joint_default(), elbow = carom_plan_joint_default();
  shoulder.body[0] = 0, shoulder.body[1] = 1, shoulder.point[1] = cm_vec3(-0.05, 0, 0);
  elbow.kind = CAROM_PLAN_REVOLUTE, elbow.axis = cm_vec3(0, 1, 0), elbow.body[0] = 1, elbow.body[1] = 2;
  elbow.point[0] = cm_vec3(0.05, 0, 0), elbow.point[1] = cm_vec3(-0.05, 0, 0);
  carom_plan_add_joint(plan, &shoulder);
  carom_plan_add_joint(plan, &elbow);
  for (int i = 0; i < 2; i++) {
    carom_actuator_def motor = carom_actuator_default();
    motor.kind = CAROM_ACTUATOR_JOINT, motor.joint = i;
    carom_plan_add_actuator(plan, &motor);
  }
  carom_condition_def c = carom_condition_default();
  c.kind = CAROM_CONDITION_ROTATION, c.body = 1, c.pose.q = cm_axis_angle(cm_vec3(0, 0, 1), 0.6);
  carom_plan_add_condition(plan, &c);
  c.kind = CAROM_CONDITION_RELATIVE_ROTATION, c.body = 2, c.other = 1, c.pose.q = cm_axis_angle(cm_vec3(0, 1, 0), 0.8);
  carom_plan_add_condition(plan, &c);
  for (int i = 1; i < 3; i++) {
    c = carom_condition_default(), c.kind = CAROM_CONDITION_VELOCITY, c.body = i;
    carom_plan_add_condition(plan, &c);
  }
  carom_plan_report report;
  carom_plan_options options = carom_plan_default_options();
  carom_error error = {0};
  REQUIRE(carom_plan_solve(plan, &options, &report, &error) == CAROM_OK);
  if (report.outcome != CAROM_PLAN_SOLVED) test_fail(__FILE__, __LINE__, "%s", report.message);
  CHECK_AT_MOST(report.violation, 1e-9);
  carom_replay_report replay;
  if (carom_plan_replay(plan, &replay, &error) != CAROM_OK) test_fail(__FILE__, __LINE__, "%s", error.message);
  CHECK_AT_MOST(replay.position, 1e-6);
  carom_state *last;
  REQUIRE(carom_state_clone(w.state, NULL, &last, NULL) == CAROM_OK);
  carom_plan_state(plan, 20, false, last);
  carom_vec3 tip = cm_transform(carom_state_pose(w.model, last, 1), cm_vec3(0.05, 0, 0));
  carom_vec3 root = cm_transform(carom_state_pose(w.model, last, 2), cm_vec3(-0.05, 0, 0));
  CHECK_AT_MOST(cm_norm(cm_sub(tip, root)), 1e-9);
  carom_state_destroy(last);
  carom_plan_destroy(plan);
  free_world(&w);
}

// Four thrusters in a plane, which push only: the body shifts and turns.
TEST(thrusters_push_only) {
  world w = begin_world();
  add_box(&w, "craft", cm_vec3(0.2, 0.2, 0.1), cm_zero3(), false);
  finish_world(&w);
  carom_plan *plan = make_plan(&w, 20, 2, CAROM_AVOID_LIFTED);
  static const double places[8][4] = {{0.1, 0.1, 0, -1}, {0.1, -0.1, 0, 1},  {-0.1, 0.1, 0, -1}, {-0.1, -0.1, 0, 1},
                                      {0.1, 0.1, -1, 0}, {0.1, -0.1, -1, 0}, {-0.1, 0.1, 1, 0},  {-0.1, -0.1, 1, 0}};
  for (int i = 0; i < 8; i++) {
    carom_actuator_def t = carom_actuator_default();
    t.kind = CAROM_ACTUATOR_THRUSTER, t.has_point = true, t.high = 1;
    t.point = cm_vec3(places[i][0], places[i][1], 0), t.direction = cm_vec3(places[i][2], places[i][3], 0);
    carom_plan_add_actuator(plan, &t);
  }
  go_to(plan, 0, cm_pose(cm_vec3(0.3, 0.2, 0), cm_axis_angle(cm_vec3(0, 0, 1), 0.7)));
  carom_plan_report report;
  check_plan(plan, NULL, &report);
  for (int k = 0; k < 20; k++)
    for (int i = 0; i < 8; i++) {
      double tau;
      carom_plan_forces(plan, k, i, &tau);
      CHECK(tau >= 0 && tau <= 1);
    }
  carom_plan_destroy(plan);
  free_world(&w);
}

// Halving the steps leaves a quarter of the error: the discrete mechanics are of second order. What the ratio of the
// differences has beyond 4 is of the next, fourth order, and falls to a quarter as well.
TEST(refinement_converges) {
  double cost[4];
  for (int i = 0; i < 4; i++) {
    world w = begin_world();
    add_box(&w, "box", cm_vec3(0.1, 0.15, 0.25), cm_zero3(), false);
    finish_world(&w);
    carom_plan *plan = make_plan(&w, 10, 0.5, CAROM_AVOID_LIFTED);
    add_wrench(plan, 0);
    go_to(plan, 0, cm_pose(cm_vec3(0.1, 0, 0), cm_axis_angle(cm_vec3(1, 2, 0.5), 1.2)));
    carom_plan_options options = carom_plan_default_options();
    options.refinements = i;
    carom_plan_report report;
    check_plan(plan, &options, &report);
    CHECK(carom_plan_node_count(plan) == (10 << i) + 1);
    cost[i] = report.cost;
    carom_plan_destroy(plan);
    free_world(&w);
  }
  double coarse = (cost[1] - cost[0]) / (cost[2] - cost[1]), fine = (cost[2] - cost[1]) / (cost[3] - cost[2]);
  CHECK_NEAR(coarse, 4, 0.05);  // 4.038
  CHECK_NEAR(fine, 4, 0.0125);  // 4.0094
}

// A periodic motion of free duration: the end is the start, shifted and turned; least time with bounded force.
TEST(periodic_and_free_time) {
  world w = begin_world();
  add_box(&w, "box", cm_vec3(0.1, 0.1, 0.1), cm_zero3(), false);
  finish_world(&w);
  carom_plan *plan = NULL;
  carom_plan_def def = carom_plan_default();
  def.intervals = 20, def.step = 0.05, def.free_time = true;
  REQUIRE(carom_plan_create(w.model, w.state, &def, NULL, &plan, NULL) == CAROM_OK);
  carom_actuator_def wrench = carom_actuator_default();
  wrench.force_bound = 0.1, wrench.torque_bound = 0.01;
  carom_plan_add_actuator(plan, &wrench);
  carom_cost_def time = carom_cost_default();
  time.kind = CAROM_COST_TIME;
  carom_plan_add_cost(plan, &time);
  carom_condition_def c = carom_condition_default();
  c.kind = CAROM_CONDITION_PERIODIC, c.pose = cm_pose(cm_vec3(0.1, 0, 0), cm_qidentity());
  carom_plan_add_condition(plan, &c);
  carom_plan_report report;
  carom_plan_options options = carom_plan_default_options();
  carom_error error = {0};
  REQUIRE(carom_plan_solve(plan, &options, &report, &error) == CAROM_OK);
  CHECK(report.outcome == CAROM_PLAN_SOLVED);
  // Full force forth and back: T = 2 sqrt(m D / F), the discrete one a little longer.
  double mass = 100 * 0.001, exact = 2 * sqrt(mass * 0.1 / 0.1);
  CHECK(report.cost > exact * (1 - 1e-6));
  CHECK_NEAR(report.cost / exact, 1, 0.01);
  carom_plan_destroy(plan);
  free_world(&w);
}

// Memory that runs out at any point gives a status, and nothing is left behind.
TEST(plans_survive_lack_of_memory) {
  world w = begin_world();
  add_box(&w, "cube", cm_vec3(0.1, 0.1, 0.1), cm_vec3(-0.2, 0, 0), false);
  add_box(&w, "wall", cm_vec3(0.05, 0.1, 0.1), cm_vec3(0, 0.3, 0), true);
  finish_world(&w);
  bool done = false;
  for (int allowed = 0; !done && allowed < 400; allowed++) {
    failing_allocator f = {.allowed = allowed};
    carom_allocator a = failing_allocator_of(&f);
    carom_plan *plan = NULL;
    carom_plan_def def = carom_plan_default();
    def.intervals = 3, def.step = 0.1;
    carom_error error = {0};
    carom_status status = carom_plan_create(w.model, w.state, &def, &a, &plan, &error);
    if (status == CAROM_OK) {
      add_wrench(plan, 0);
      carom_cost_def effort = carom_cost_default();
      carom_plan_add_cost(plan, &effort);
      go_to(plan, 0, cm_pose(cm_vec3(0.2, 0, 0), cm_qidentity()));
      carom_plan_add_avoidance(plan, 0, 1);
      carom_plan_report report;
      status = carom_plan_solve(plan, NULL, &report, &error);
      carom_replay_report replay;
      if (status == CAROM_OK) status = carom_plan_replay(plan, &replay, &error);
    }
    carom_plan_destroy(plan);
    CHECK(status == CAROM_OK || status == CAROM_ERR_MEMORY);
    CHECK(f.live == 0);
    done = status == CAROM_OK;
  }
  CHECK(done);
  free_world(&w);
}

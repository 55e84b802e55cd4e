// Trajectories through waypoints and along plans: smooth twice over, with exact derivatives.
#include "control/tracking.h"
#include "failing_allocator.h"

static const double PI = 3.14159265358979323846;
static const double nodes[4] = {-2, -1, 1, 2}, weights[4] = {1.0 / 12, -8.0 / 12, 8.0 / 12, -1.0 / 12};

// Largest differences between the derivatives and those by differences of order 4 at a time.
static double worst_derivative(const carom_trajectory *trajectory, double time, double t) {
  carom_reference now = carom_trajectory_at(trajectory, time);
  carom_vec3 v = cm_zero3(), a = v, w = v, w_rate = v;
  for (int i = 0; i < 4; i++) {
    carom_reference then = carom_trajectory_at(trajectory, time + nodes[i] * t);
    double s = weights[i] / t;
    v = cm_axpy(v, s, then.position);
    a = cm_axpy(a, s, then.velocity);
    w = cm_axpy(w, s, cm_log(cm_qmul(cm_qconj(now.rotation), then.rotation)));
    w_rate = cm_axpy(w_rate, s, then.angular_velocity_body);
  }
  double linear = fmax(cm_norm(cm_sub(v, now.velocity)), cm_norm(cm_sub(a, now.acceleration)));
  double angular =
      fmax(cm_norm(cm_sub(w, now.angular_velocity_body)), cm_norm(cm_sub(w_rate, now.angular_acceleration_body)));
  return fmax(linear, angular);
}

static carom_trajectory *random_trajectory(uint64_t seed, int count, double *times, carom_pose *poses) {
  carom_random r = carom_random_make(seed, 0);
  carom_trajectory *trajectory = NULL;
  for (int i = 0; i < count; i++) {
    times[i] = i == 0 ? -1 : times[i - 1] + carom_random_between(&r, 1, 3);
    poses[i] = cm_pose(random_vector(&r, 1), random_rotation(&r));
    if (seed % 3 == 0 && i > 0) poses[i].q = cm_qmul(poses[i - 1].q, cm_exp(random_vector(&r, 0.1)));
  }
  if (carom_trajectory_create_waypoints(count, times, poses, NULL, &trajectory, NULL) != CAROM_OK) abort();
  return trajectory;
}

TEST(waypoints_are_met_with_exact_derivatives) {
  double worst = 0;
  for (uint64_t seed = 1; seed <= 30; seed++) {
    double times[6];
    carom_pose poses[6];
    carom_trajectory *trajectory = random_trajectory(seed, 6, times, poses);
    for (int i = 0; i < 6; i++) {
      carom_reference at = carom_trajectory_at(trajectory, times[i]);
      CHECK_AT_MOST(cm_norm(cm_sub(at.position, poses[i].p)), 1e-13);
      CHECK_NEAR(fabs(cm_qdot(at.rotation, poses[i].q)), 1, 1e-14);
    }
    for (int i = 0; i < 5; i++)
      for (double s = 0.1; s < 1; s += 0.2)
        worst = fmax(worst, worst_derivative(trajectory, times[i] + s * (times[i + 1] - times[i]), 1e-3));
    carom_trajectory_destroy(trajectory);
  }
  CHECK_AT_MOST(worst, 1e-8);
}

static double gap_between(const carom_reference *a, const carom_reference *b) {
  double worst = cm_norm(cm_sub(a->position, b->position));
  worst = fmax(worst, cm_norm(cm_log(cm_qmul(cm_qconj(a->rotation), b->rotation))));
  worst = fmax(worst, cm_norm(cm_sub(a->velocity, b->velocity)));
  worst = fmax(worst, cm_norm(cm_sub(a->acceleration, b->acceleration)));
  worst = fmax(worst, cm_norm(cm_sub(a->angular_velocity_body, b->angular_velocity_body)));
  return fmax(worst, cm_norm(cm_sub(a->angular_acceleration_body, b->angular_acceleration_body)));
}

// Value, velocity and acceleration are the same on both sides of every waypoint, the rest at both ends included.
TEST(waypoints_are_passed_smoothly) {
  double worst = 0;
  for (uint64_t seed = 1; seed <= 30; seed++) {
    double times[6], e = 1e-10;
    carom_pose poses[6];
    carom_trajectory *trajectory = random_trajectory(seed, 6, times, poses);
    for (int i = 0; i < 6; i++) {
      carom_reference before = carom_trajectory_at(trajectory, times[i] - e),
                      after = carom_trajectory_at(trajectory, times[i] + e);
      worst = fmax(worst, gap_between(&before, &after));
    }
    CHECK(cm_norm(carom_trajectory_at(trajectory, times[5] + 1).velocity) == 0);
    CHECK(carom_trajectory_start(trajectory) == times[0] && carom_trajectory_end(trajectory) == times[5]);
    carom_trajectory_destroy(trajectory);
  }
  CHECK_AT_MOST(worst, 1e-7);  // 2e-10 s of third derivatives
}

// The rotation goes the short way, whichever quaternion is given, and a half-turn is gone round somehow.
TEST(rotations_go_the_short_way) {
  double times[2] = {0, 1}, turned = 0;
  carom_pose poses[2] = {cm_pose_identity(), {{0, 0, 0}, cm_axis_angle(cm_vec3(0, 1, 0), 1.5 * PI)}};
  for (int k = 0; k < 2; k++) {
    if (k == 1) poses[1].q = cm_quat(0, 0, 1, 0);
    carom_trajectory *trajectory = NULL;
    CHECK(carom_trajectory_create_waypoints(2, times, poses, NULL, &trajectory, NULL) == CAROM_OK);
    turned = 0;
    for (int i = 0; i < 1000; i++)
      turned += 1e-3 * cm_norm(carom_trajectory_at(trajectory, (i + 0.5) * 1e-3).angular_velocity_body);
    CHECK_NEAR(turned, k == 0 ? PI / 2 : PI, 1e-5);
    carom_trajectory_destroy(trajectory);
  }
}

TEST(bad_waypoints_are_refused_by_number) {
  double times[3] = {0, 1, 1};
  carom_pose poses[3] = {cm_pose_identity(), cm_pose_identity(), cm_pose_identity()};
  carom_trajectory *trajectory = NULL;
  carom_error error = {0};
  CHECK(carom_trajectory_create_waypoints(3, times, poses, NULL, &trajectory, &error) == CAROM_ERR_ARGUMENT &&
        !trajectory);
  CHECK_CONTAINS(error.message, "waypoint 2");
  CHECK_CONTAINS(error.message, "ascend");
  CHECK(carom_trajectory_create_waypoints(1, times, poses, NULL, &trajectory, &error) == CAROM_ERR_ARGUMENT);
  CHECK_CONTAINS(error.message, "two waypoints");
  poses[1].q.w = 0.5;
  CHECK(carom_trajectory_create_waypoints(2, times, poses, NULL, &trajectory, &error) == CAROM_ERR_NUMBER);
  CHECK_CONTAINS(error.message, "waypoint 1");
  poses[1] = cm_pose(cm_vec3(NAN, 0, 0), cm_qidentity());
  CHECK(carom_trajectory_create_waypoints(2, times, poses, NULL, &trajectory, &error) == CAROM_ERR_NUMBER);
}

TEST(memory_may_run_out) {
  double times[2] = {0, 1};
  carom_pose poses[2] = {cm_pose_identity(), cm_pose_identity()};
  for (int allowed = 0; allowed < 5; allowed++) {
    failing_allocator failing = {.allowed = allowed};
    carom_allocator allocator = failing_allocator_of(&failing);
    carom_trajectory *trajectory = NULL;
    carom_status status = carom_trajectory_create_waypoints(2, times, poses, &allocator, &trajectory, NULL);
    CHECK(status == (allowed < 4 ? CAROM_ERR_MEMORY : CAROM_OK));
    carom_trajectory_destroy(trajectory);
    CHECK(failing.live == 0);
  }
}

// ---- plans
// -------------------------------------------------------------------------------------------------------------

// A box is turned and moved from rest to rest.
static carom_plan *solved_plan(const world *w, int intervals) {
  carom_plan *plan = NULL;
  carom_plan_def def = carom_plan_default();
  def.intervals = intervals, def.step = 1.0 / intervals;
  if (carom_plan_create(w->model, w->state, &def, NULL, &plan, NULL) != CAROM_OK) abort();
  carom_cost_def effort = carom_cost_default();
  carom_plan_add_cost(plan, &effort);
  carom_actuator_def wrench = carom_actuator_default();
  carom_plan_add_actuator(plan, &wrench);
  carom_condition_def end = carom_condition_default();
  end.pose = cm_pose(cm_vec3(0.3, 0.1, -0.2), cm_axis_angle(cm_vec3(1, 1, 0), 1));
  carom_plan_add_condition(plan, &end);
  end.kind = CAROM_CONDITION_VELOCITY;
  carom_plan_add_condition(plan, &end);
  carom_plan_report report;
  if (carom_plan_solve(plan, NULL, &report, NULL) != CAROM_OK || report.outcome != CAROM_PLAN_SOLVED) abort();
  return plan;
}

static world box_world(void) {
  carom_builder *builder = new_builder();
  put_box(builder, cm_vec3(0.3, 0.2, 0.1), cm_pose_identity(), false);
  return finish_world(builder);
}

// Nodes are met; accelerations are those of the planned forces, to the order of the grid.
TEST(a_plan_is_a_trajectory) {
  if (!carom_plan_available()) test_skip("built without Ipopt");
  world w = box_world();
  double off[2];
  for (int k = 0; k < 2; k++) {
    carom_plan *plan = solved_plan(&w, k == 0 ? 20 : 40);
    carom_trajectory *trajectory = NULL;
    carom_error error = {0};
    CHECK(carom_trajectory_create_plan(plan, 0, NULL, &trajectory, &error) == CAROM_OK);
    carom_state *state = NULL;
    carom_state_clone(w.state, NULL, &state, NULL);
    off[k] = 0;
    for (int i = 1; i + 1 < carom_plan_node_count(plan); i++) {
      double t = carom_plan_time(plan, i), forces[6];
      carom_plan_state(plan, i, true, state);
      carom_reference at = carom_trajectory_at(trajectory, t);
      CHECK_AT_MOST(cm_norm(cm_sub(at.position, state->x[0])), 1e-12);
      CHECK_AT_MOST(cm_norm(cm_sub(at.velocity, carom_state_velocity(w.model, state, 0))), 1e-8);
      carom_vec3 w_world = cm_rotate(at.rotation, at.angular_velocity_body);
      CHECK_AT_MOST(cm_norm(cm_sub(w_world, carom_state_angular_velocity(w.model, state, 0))), 1e-7);
      CHECK_AT_MOST(worst_derivative(trajectory, t + 0.3 / 40, 1e-4), 1e-6);
      double middle = 0.5 * (t + carom_plan_time(plan, i + 1));
      carom_plan_forces(plan, i, 0, forces);
      carom_vec3 a = carom_trajectory_at(trajectory, middle).acceleration;
      off[k] =
          fmax(off[k], cm_norm(cm_sub(cm_scale(w.model->bodies[0].mass, a), cm_vec3(forces[0], forces[1], forces[2]))));
    }
    carom_state_destroy(state);
    carom_trajectory_destroy(trajectory);
    carom_plan_destroy(plan);
  }
  CHECK(off[1] < 0.6 * off[0] || off[1] < 1e-6);
  free_world(&w);
}

TEST(a_plan_that_was_not_solved_is_no_trajectory) {
  world w = box_world();
  carom_plan *plan = NULL;
  carom_trajectory *trajectory = NULL;
  carom_error error = {0};
  CHECK(carom_plan_create(w.model, w.state, NULL, NULL, &plan, &error) == CAROM_OK);
  CHECK(carom_trajectory_create_plan(plan, 0, NULL, &trajectory, &error) == CAROM_ERR_ARGUMENT);
  CHECK_CONTAINS(error.message, "solve it first");
  carom_plan_destroy(plan);
  free_world(&w);
}

// One door to all references.
TEST(a_guide_asks_whatever_it_has) {
  carom_trajectory *trajectory = winding_trajectory();
  carom_field_line line = carom_field_line_default();
  carom_guide_memory memory = {0};
  carom_reference at;
  carom_error error = {0};
  carom_guide guide = {.pose = cm_pose(cm_vec3(1, 2, 3), cm_quat(0, 1, 0, 0)), .offset = {0, 0.5, 0}};
  CHECK(carom_guide_at(&guide, 1, cm_vec3(-0.5, 0, 0), &memory, &at, &error) == CAROM_OK);
  CHECK_AT_MOST(cm_norm(cm_sub(at.position, cm_vec3(1, 1.5, 3))), 1e-15);
  guide = (carom_guide){.line = &line};
  CHECK(carom_guide_at(&guide, 1, cm_vec3(-0.5, 0, 0), &memory, &at, &error) == CAROM_OK);
  CHECK_NEAR(at.velocity.x, 0.1, 1e-15);
  guide.trajectory = trajectory;
  CHECK(carom_guide_at(&guide, 1, cm_vec3(-0.5, 0, 0), &memory, &at, &error) == CAROM_OK);
  carom_reference direct = carom_trajectory_at(trajectory, 1);
  CHECK(gap_between(&at, &direct) == 0);
  carom_trajectory_destroy(trajectory);
}

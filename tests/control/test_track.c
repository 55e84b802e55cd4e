// The tracking law: its Lyapunov function, both maps, half-turns, and what it does with the library's own integrator.
#include "control/tracking.h"

static const double PI = 3.14159265358979323846;

static closed_loop random_start(uint64_t seed, carom_track_map map, const carom_trajectory *trajectory) {
  carom_random r = carom_random_make(seed, 2);
  closed_loop loop = {.plant = cubesat(), .gains = carom_track_default_gains(), .trajectory = trajectory};
  loop.gains.map = map;
  loop.time = carom_random_between(&r, 0, 9);
  loop.motion.position = random_vector(&r, 1);
  loop.motion.rotation = random_rotation(&r);
  loop.motion.velocity = random_vector(&r, 0.2);
  loop.motion.angular_velocity_body = random_vector(&r, 3);
  return loop;
}

// ---- the Lyapunov function
// -------------------------------------------------------------------------------------------

static double energy_after(closed_loop loop, double t) {
  step_loop(&loop, t);
  return answer_of(&loop).lyapunov;
}

// dV/dt by differences along the motion, against the formula.
TEST(the_energy_of_errors_falls_as_the_formula_says) {
  carom_trajectory *trajectory = winding_trajectory();
  double worst = 0;
  for (uint64_t seed = 1; seed <= 500; seed++)
    for (int map = 0; map < 2; map++) {
      closed_loop loop = random_start(seed, (carom_track_map)map, trajectory);
      carom_track_answer a = answer_of(&loop);
      double t = 2e-5, once = (energy_after(loop, t) - energy_after(loop, -t)) / (2 * t);
      double twice = (energy_after(loop, 2 * t) - energy_after(loop, -2 * t)) / (4 * t);
      double rate = (4 * once - twice) / 3;
      if (fabs(a.angle - loop.gains.cayley_limit) < 1e-2 || a.angle > PI - 1e-2)
        continue;  // kinks within the difference
      worst = fmax(worst, fabs(rate - a.lyapunov_rate) / fmax(1, fabs(a.lyapunov_rate)));
    }
  CHECK_AT_MOST(worst, 1e-6);
  carom_trajectory_destroy(trajectory);
}

TEST(the_energy_of_errors_never_rises_in_1000_starts) {
  carom_trajectory *trajectory = winding_trajectory();
  const double h = 2e-3;
  double worst = -INFINITY;
  for (uint64_t seed = 1; seed <= 1000; seed++)
    for (int map = 0; map < 2; map++) {
      closed_loop loop = random_start(seed, (carom_track_map)map, trajectory);
      double before = answer_of(&loop).lyapunov;
      for (int i = 0; i < 300; i++) {
        step_loop(&loop, h);
        double now = answer_of(&loop).lyapunov;
        worst = fmax(worst, now - before);
        before = now;
      }
    }
  CHECK_AT_MOST(worst, h * h);
  carom_trajectory_destroy(trajectory);
}

// ---- in the loop with the integrator `variational`: a kick a step, held in between
// --------------------------------------

static world one_box(carom_pose frame) {
  carom_builder *builder = new_builder();
  carom_part part = {.shape = box_shape(0.3, 0.1, 0.1), .pose = frame};
  carom_body_def def = carom_body_default();
  def.parts = &part, def.part_count = 1, def.mass = 1.2;
  carom_builder_add_body(builder, &def);
  carom_shape_release(part.shape);
  return finish_world(builder);
}

static carom_track_answer control(const world *w, closed_loop *loop) {
  loop->motion = carom_state_motion(w->model, w->state, 0);
  loop->time = w->state->time;
  return answer_of(loop);
}

static void push(const world *w, const carom_track_answer *u, carom_quat rotation, double h) {
  w->state->p[0] = cm_axpy(w->state->p[0], h, u->force);
  w->state->l[0] = cm_axpy(w->state->l[0], h, cm_rotate(rotation, u->torque_body));
}

// The part of the body lies askew and off the origin of the body frame: principal axes are not the user's.
TEST(a_body_of_a_model_is_brought_to_its_reference) {
  carom_pose askew = cm_pose(cm_vec3(0.1, -0.2, 0.05), cm_axis_angle(cm_vec3(1, 2, 3), 0.7));
  world w = one_box(askew);
  carom_trajectory *trajectory =
      resting_trajectory(cm_pose(cm_vec3(0.1, 0.2, 0.3), cm_axis_angle(cm_vec3(3, 1, 0), 2.5)));
  closed_loop loop = {
      .plant = carom_plant_of(w.model, 0), .gains = carom_track_default_gains(), .trajectory = trajectory};
  carom_error error = {0};
  CHECK(carom_track_check(&loop.plant, &loop.gains, &error) == CAROM_OK);
  const double h = 1e-3;
  carom_stepper *stepper = new_stepper(&w, h, CAROM_QUADRATURE_ENDPOINT);
  carom_state_set_velocity(w.model, w.state, 0, cm_vec3(0.1, 0, 0), cm_vec3(3, -2, 1));
  double before = control(&w, &loop).lyapunov, worst = 0;
  for (int i = 0; i < 40000; i++) {
    carom_track_answer u = control(&w, &loop);
    worst = fmax(worst, u.lyapunov - before);
    before = u.lyapunov;
    push(&w, &u, loop.motion.rotation, h);
    run_steps(stepper, w.state, 1);
  }
  carom_track_answer end = control(&w, &loop);
  CHECK_AT_MOST(worst, h * h);
  CHECK_AT_MOST(end.angle, 1e-6);
  CHECK_AT_MOST(cm_norm(end.position_error), 1e-2);
  carom_stepper_destroy(stepper);
  carom_trajectory_destroy(trajectory);
  free_world(&w);
}

TEST(no_energy_of_errors_is_made_by_holding_the_force_for_a_step) {
  world w = one_box(cm_pose_identity());
  carom_trajectory *trajectory = winding_trajectory();
  const double h = 1e-3;
  carom_stepper *stepper = new_stepper(&w, h, CAROM_QUADRATURE_ENDPOINT);
  double worst = -INFINITY;
  for (uint64_t seed = 1; seed <= 200; seed++) {
    closed_loop loop = random_start(seed, (carom_track_map)(seed % 2), trajectory);
    w.state->time = loop.time;
    carom_state_set_pose(w.model, w.state, 0, cm_pose(loop.motion.position, loop.motion.rotation));
    carom_vec3 spin = cm_rotate(loop.motion.rotation, loop.motion.angular_velocity_body);
    carom_state_set_velocity(w.model, w.state, 0, loop.motion.velocity, spin);
    carom_track_answer u = control(&w, &loop);
    for (int i = 0; i < 1000; i++) {
      double before = u.lyapunov;
      push(&w, &u, loop.motion.rotation, h);
      run_steps(stepper, w.state, 1);
      u = control(&w, &loop);
      worst = fmax(worst, u.lyapunov - before);
    }
  }
  CHECK_AT_MOST(worst, h * h);
  carom_stepper_destroy(stepper);
  carom_trajectory_destroy(trajectory);
  free_world(&w);
}

// ---- both maps, and half-turns
// -----------------------------------------------------------------------------------------

TEST(both_maps_agree_for_small_errors) {
  for (uint64_t seed = 1; seed <= 100; seed++) {
    carom_random r = carom_random_make(seed, 5);
    carom_rigid_motion motion = {.rotation = random_rotation(&r), .angular_velocity_body = random_vector(&r, 0.1)};
    carom_vec3 small = random_vector(&r, 0.02);
    carom_reference reference = {.rotation = cm_qmul(motion.rotation, cm_exp(small))};
    carom_plant plant = cubesat();
    carom_track_gains gains = carom_track_default_gains();
    carom_track_memory memory[2] = {0};
    carom_track_answer by_exp = carom_track(&plant, &motion, &reference, &gains, &memory[0]);
    gains.map = CAROM_TRACK_CAYLEY;
    carom_track_answer by_cayley = carom_track(&plant, &motion, &reference, &gains, &memory[1]);
    double size = cm_norm(by_exp.torque_body);
    CHECK_AT_MOST(cm_norm(cm_sub(by_exp.torque_body, by_cayley.torque_body)), 1e-3 * size);
    CHECK_AT_MOST(cm_norm(cm_sub(by_exp.rotation_error, small)), 1e-15);
    CHECK_AT_MOST(cm_norm(cm_sub(by_cayley.rotation_error, cm_scale(2 * tan(cm_norm(small) / 2), cm_unit(small)))),
                  1e-15);
  }
}

// The law of the paper, written out for the Cayley map: k_R e_R + k_R/4 |e_R|^2 e_R.
TEST(the_cayley_pull_is_that_of_the_paper) {
  carom_plant plant = cubesat();
  carom_track_gains gains = carom_track_default_gains();
  gains.map = CAROM_TRACK_CAYLEY;
  for (double angle = 0.1; angle < gains.cayley_limit; angle += 0.1) {
    carom_track_memory memory = {0};
    carom_rigid_motion motion = {.rotation = cm_qidentity()};
    carom_reference reference = {.rotation = cm_axis_angle(cm_vec3(1, -2, 0.5), angle)};
    carom_track_answer a = carom_track(&plant, &motion, &reference, &gains, &memory);
    carom_vec3 e;
    CHECK(cm_cayley_log(reference.rotation, &e));
    CHECK_AT_MOST(cm_norm(cm_sub(a.torque_body, cm_scale(1 + cm_norm2(e) / 4, e))), 1e-13 * cm_norm(a.torque_body));
  }
}

// From rest at any rotation, the half-turn and its neighbours included: never more than a half-turn in all.
TEST(nothing_unwinds) {
  carom_trajectory *trajectory = resting_trajectory(cm_pose_identity());
  double longest = 0, left = 0;
  for (uint64_t seed = 1; seed <= 1000; seed++)
    for (int map = 0; map < 2; map++) {
      carom_random r = carom_random_make(seed, 6);
      closed_loop loop = {.plant = cubesat(), .gains = carom_track_default_gains(), .trajectory = trajectory};
      loop.gains.map = (carom_track_map)map;
      carom_quat q = random_rotation(&r);
      if (seed % 4 == 0) q = cm_axis_angle(random_vector(&r, 1), PI + carom_random_between(&r, -0.01, 0.01));
      if (seed % 8 == 1) q = cm_quat(0, q.x, q.y, q.z);
      loop.motion.rotation = seed % 2 ? cm_qunit(q) : cm_quat(-q.w, -q.x, -q.y, -q.z);
      double turned = 0, h = 4e-3;
      for (int i = 0; i < 300; i++) {
        step_loop(&loop, h);
        turned += h * cm_norm(loop.motion.angular_velocity_body);
      }
      longest = fmax(longest, turned);
      left = fmax(left, answer_of(&loop).angle);
    }
  CHECK_AT_MOST(longest, PI + 0.1);
  CHECK_AT_MOST(left, 0.2);
  carom_trajectory_destroy(trajectory);
}

static carom_track_answer at_angle(double angle, double sign, carom_track_memory *memory) {
  carom_plant plant = cubesat();
  carom_track_gains gains = carom_track_default_gains();
  carom_rigid_motion motion = {.rotation = cm_qidentity()};
  carom_quat q = cm_axis_angle(cm_vec3(0, 0, 1), angle);
  carom_reference reference = {.rotation = cm_quat(sign * q.w, sign * q.x, sign * q.y, sign * q.z)};
  return carom_track(&plant, &motion, &reference, &gains, memory);
}

TEST(noise_at_a_half_turn_does_not_make_it_dither) {
  carom_track_memory memory = {0};
  carom_random r = carom_random_make(1, 0);
  CHECK(at_angle(3.0, 1, &memory).torque_body.z > 0);
  for (int i = 0; i < 100; i++) {
    double angle = PI + carom_random_between(&r, -0.09, 0.09);
    carom_track_answer a = at_angle(angle, i % 2 ? 1 : -1, &memory);  // either quaternion of the rotation
    CHECK_NEAR(a.torque_body.z, angle, 1e-13);
    CHECK_NEAR(a.angle, angle, 1e-13);
  }
  CHECK_NEAR(at_angle(PI + 0.11, 1, &memory).torque_body.z, 0.11 - PI, 1e-13);  // far enough: the other way
  CHECK_NEAR(at_angle(PI - 0.05, 1, &memory).torque_body.z, -PI - 0.05, 1e-13);
  CHECK_NEAR(at_angle(PI - 0.11, 1, &memory).torque_body.z, PI - 0.11, 1e-13);
}

TEST(at_a_half_turn_both_maps_are_finite) {
  carom_plant plant = cubesat();
  carom_track_gains gains = carom_track_default_gains();
  carom_rigid_motion motion = {.rotation = cm_qidentity()};
  carom_reference reference = {.rotation = cm_quat(0, 0, 1, 0)};
  for (int map = 0; map < 2; map++) {
    carom_track_memory memory = {0};
    gains.map = (carom_track_map)map;
    carom_track_answer a = carom_track(&plant, &motion, &reference, &gains, &memory);
    double tangent = tan(gains.cayley_limit / 2);
    CHECK_NEAR(cm_norm(a.torque_body), map ? 2 * tangent * (1 + tangent * tangent) : PI, 1e-12);
  }
}

// ---- rates and disturbances
// --------------------------------------------------------------------------------------------

// m s^2 + k_v s + k_x = 0: errors of position fade as exp(-t/8 s) with the published gains, after the fast root's end.
TEST(errors_of_position_fade_in_8_s) {
  carom_trajectory *trajectory = resting_trajectory(cm_pose_identity());
  closed_loop loop = {.plant = cubesat(), .gains = carom_track_default_gains(), .trajectory = trajectory};
  loop.motion = (carom_rigid_motion){.position = {1, -2, 0.5}, .rotation = cm_qidentity()};
  double at[2];
  for (int k = 0; k < 2; k++) {
    for (int i = 0; i < 800; i++) step_loop(&loop, 1e-2);
    at[k] = cm_norm(loop.motion.position);
  }
  double rate = log(at[0] / at[1]) / 8, exact = (9.6 - sqrt(9.6 * 9.6 - 4 * 1.2 * 1.2)) / 2.4;
  CHECK_NEAR(rate, exact, 1e-7);
  CHECK_NEAR(rate, 1.0 / 8, 0.02 / 8);
  carom_trajectory_destroy(trajectory);
}

// With no error at the start, a moving reference is followed by feed-forward alone.
TEST(a_moving_reference_is_followed_without_error) {
  carom_trajectory *trajectory = winding_trajectory();
  closed_loop loop = {.plant = cubesat(), .gains = carom_track_default_gains(), .trajectory = trajectory};
  loop.plant.external_force = loop.disturbance = cm_vec3(0.3, -0.2, 1);
  loop.plant.external_torque_body = loop.disturbance_torque = cm_vec3(0.01, 0.02, -0.03);
  carom_reference start = carom_trajectory_at(trajectory, 0);
  loop.motion = (carom_rigid_motion){.position = start.position, .rotation = start.rotation};
  double worst = 0;
  for (int i = 0; i < 6000; i++) {
    step_loop(&loop, 2e-3);
    carom_track_answer a = answer_of(&loop);
    worst = fmax(worst, fmax(cm_norm(a.position_error), a.angle));
  }
  CHECK_AT_MOST(worst, 1e-8);
  carom_trajectory_destroy(trajectory);
}

TEST(a_reference_for_another_point_is_its_motion) {
  carom_trajectory *trajectory = winding_trajectory();
  carom_vec3 offset = cm_vec3(0.3, -0.2, 0.5);
  for (double t = 0.5; t < 12; t += 0.7) {
    carom_reference r[3];
    double e = 1e-4;
    for (int i = 0; i < 3; i++) {
      carom_reference origin = carom_trajectory_at(trajectory, t + (i - 1) * e);
      r[i] = carom_reference_at(&origin, offset);
    }
    carom_vec3 v = cm_scale(1 / (2 * e), cm_sub(r[2].position, r[0].position));
    carom_vec3 a = cm_scale(1 / (2 * e), cm_sub(r[2].velocity, r[0].velocity));
    CHECK_AT_MOST(cm_norm(cm_sub(r[1].velocity, v)), 1e-6);
    CHECK_AT_MOST(cm_norm(cm_sub(r[1].acceleration, a)), 1e-6);
  }
  carom_trajectory_destroy(trajectory);
}

// ---- mistakes
// ----------------------------------------------------------------------------------------------------------

TEST(each_bad_gain_is_named) {
  static const char *const names[] = {"'rotation'", "'spin'",         "'position'",
                                      "'velocity'", "'cayley_limit'", "'hysteresis'"};
  carom_plant plant = cubesat();
  const double bad[] = {0, -1, NAN, INFINITY};
  for (int i = 0; i < 6; i++)
    for (int k = 0; k < 4; k++) {
      carom_track_gains gains = carom_track_default_gains();
      double *fields[] = {&gains.rotation, &gains.spin,         &gains.position,
                          &gains.velocity, &gains.cayley_limit, &gains.hysteresis};
      carom_error error = {0};
      *fields[i] = bad[k];
      CHECK(carom_track_check(&plant, &gains, &error) == CAROM_ERR_NUMBER);
      CHECK_CONTAINS(error.message, names[i]);
    }
}

TEST(bad_plants_and_references_are_refused) {
  carom_track_gains gains = carom_track_default_gains();
  carom_plant plant = cubesat();
  carom_error error = {0};
  plant.mass = INFINITY;
  CHECK(carom_track_check(&plant, &gains, &error) == CAROM_ERR_NUMBER);
  CHECK_CONTAINS(error.message, "fixed bodies");
  plant = cubesat(), plant.inertia.m[1][1] = 0;
  CHECK(carom_track_check(&plant, &gains, &error) == CAROM_ERR_NUMBER);
  CHECK_CONTAINS(error.message, "inertia");
  carom_reference reference = {.rotation = {0.5, 0, 0, 0}};
  CHECK(carom_reference_check(&reference, &error) == CAROM_ERR_NUMBER);
  CHECK_CONTAINS(error.message, "unit quaternion");
  reference.rotation = cm_qidentity(), reference.velocity.x = NAN;
  CHECK(carom_reference_check(&reference, &error) == CAROM_ERR_NUMBER);
}

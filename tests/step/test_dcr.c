// The integrator `dcr`: closest-point projection, momentum lift, impacts, and contacts that last.
#include "test_dcr.h"
#include "failing_allocator.h"

static const double G = 9.81;

// Five cubes in a row; the first comes along x (Johnson 2012, 3.5.6, case 1), or the outer two (case 2).
static world cradle(bool both_ends) {
  double l = 0.2 * sqrt(2), gap = both_ends ? l / 100 : l / 10, x = 0;
  carom_builder *b = new_builder();
  add_material(b, "cube", 270, 1, 0);
  for (int i = 0; i < 5; i++) {
    carom_body_def def = body_at(x, 0, 0);
    if (i == 0) def.velocity.x = 0.105;
    if (i == 4 && both_ends) def.velocity.x = -0.105;
    add_shape(b, def, box_shape(l, l, l));
    bool wide = i == 0 || (both_ends && i == 3);
    x += l + (wide ? l / 2 : gap);
  }
  return finish_world(b);
}

static void check_no_rotation(const world *w) {
  for (int i = 0; i < w->model->body_count; i++)
    CHECK_AT_MOST(cm_norm(carom_state_angular_velocity(w->model, w->state, i)), 1e-10);
}

TEST(cradle_1) {
  run r = start_run(cradle(false), "dcr", 0.015);
  REQUIRE(run_for(&r, 300));
  show_run("cradle 1", &r);
  for (int i = 0; i < 5; i++) {
    carom_vec3 v = carom_state_velocity(r.w.model, r.w.state, i);
    CHECK_NEAR(v.x, i == 4 ? 0.105 : 0, 1e-10);
    CHECK_NEAR(hypot(v.y, v.z), 0, 1e-10);
  }
  check_no_rotation(&r.w);
  CHECK_NEAR(carom_audit_latest(r.audit).claimed_energy_error, 0, 1e-12);
  end_run(&r);
}

TEST(cradle_2) {
  run r = start_run(cradle(true), "dcr", 0.015);
  REQUIRE(run_for(&r, 300));
  show_run("cradle 2", &r);
  for (int i = 0; i < 5; i++) {
    carom_vec3 v = carom_state_velocity(r.w.model, r.w.state, i);
    CHECK_NEAR(v.x, i == 0 ? -0.105 : i == 4 ? 0.105 : 0, 1e-10);
    CHECK_NEAR(hypot(v.y, v.z), 0, 1e-10);
  }
  check_no_rotation(&r.w);
  CHECK_NEAR(carom_audit_latest(r.audit).claimed_energy_error, 0, 1e-12);
  end_run(&r);
}

// A cube of side 0.2 with its lowest point 0.8 - 0.1 above the floor, tilted.
static world falling_cube(double e, double mu, carom_quat q) {
  carom_builder *b = new_builder();
  add_material(b, "cube", 270, e, mu);
  carom_builder_set_gravity(b, cm_vec3(0, 0, -G));
  add_floor(b, cm_qidentity());
  carom_body_def def = body_at(0, 0, 0.8);
  def.pose.q = q;
  add_shape(b, def, box_shape(0.2, 0.2, 0.2));
  return finish_world(b);
}

TEST(cube_comes_to_rest_and_stays) {
  run r = start_run(falling_cube(0.6, 0.8, cm_axis_angle(cm_vec3(1, 0.3, 0.2), 0.7)), "dcr", 1e-3);
  REQUIRE(run_for(&r, 3000));
  show_run("cube at 3 s", &r);
  CHECK_AT_MOST(carom_audit_latest(r.audit).kinetic, 1e-20);
  carom_vec3 x = r.w.state->x[1];
  CHECK_NEAR(x.z, 0.1, 1e-9);
  double fastest = 0;
  for (int i = 0; i < 60000 && run_step(&r); i++)
    fastest = fmax(fastest, cm_norm(carom_state_velocity(r.w.model, r.w.state, 1)));
  show_run("cube at 63 s", &r);
  CHECK_AT_MOST(fastest, 1e-12);
  CHECK_AT_MOST(cm_norm(cm_sub(r.w.state->x[1], x)), 1e-10);
  CHECK_AT_MOST(fabs(carom_audit_latest(r.audit).claimed_energy_error), 1e-10);
  end_run(&r);
}

// A cube on a plane whose slope is `factor` mu; returns how far it moved down in `time`.
static double slide(double mu, double factor, double time, double *speed) {
  double angle = atan(factor * mu);
  carom_quat tilt = cm_axis_angle(cm_vec3(0, 1, 0), angle);
  carom_builder *b = new_builder();
  add_material(b, "cube", 1000, 0.5, mu);
  carom_builder_set_gravity(b, cm_vec3(0, 0, -G));
  add_floor(b, tilt);
  carom_body_def def = carom_body_default();
  def.pose = cm_pose(cm_rotate(tilt, cm_vec3(0, 0, 0.05)), tilt);
  add_shape(b, def, box_shape(0.4, 0.4, 0.1));
  run r = start_run(finish_world(b), "dcr", 1e-3);
  carom_vec3 x = r.w.state->x[1];
  run_for(&r, (int)lround(time / 1e-3));
  show_run("incline", &r);
  double moved = cm_dot(cm_sub(r.w.state->x[1], x), cm_rotate(tilt, cm_vec3(1, 0, 0)));
  *speed = cm_norm(carom_state_velocity(r.w.model, r.w.state, 1));
  CHECK_AT_MOST(fabs(carom_audit_latest(r.audit).claimed_energy_error), 1e-9);
  end_run(&r);
  return moved;
}

TEST(block_sticks_on_an_incline) {
  double speed, moved = slide(0.5, 0.99, 5, &speed);
  CHECK_AT_MOST(fabs(moved), 1e-9);
  CHECK_AT_MOST(speed, 1e-9);
}

TEST(block_slides_with_the_acceleration_of_coulomb) {
  double mu = 0.5, angle = atan(1.01 * mu), time = 2, speed, moved = slide(mu, 1.01, time, &speed);
  double a = G * (sin(angle) - mu * cos(angle));
  CHECK_NEAR(speed, a * time, 1e-9);
  CHECK_NEAR(moved, 0.5 * a * time * time, 1e-9);
}

// Cubes, pyramids and octagonal prisms in a ring above the floor, as published but for their places (Johnson 2012,
// 3.5.6).
static world seven_polyhedra(double e, double mu) {
  carom_random random = carom_random_make(5, 0);
  carom_builder *b = new_builder();
  add_material(b, "stone", 270, e, mu);
  carom_builder_set_gravity(b, cm_vec3(0, 0, -G));
  add_floor(b, cm_qidentity());
  for (int i = 0; i < 7; i++) {
    double angle = i * 1.0471975511965976;
    carom_body_def def = i == 6 ? body_at(0, 0, 0.8) : body_at(0.75 * cos(angle), 0.75 * sin(angle), 0.8);
    def.velocity = random_vector(&random, 0.01);
    def.pose.q = cm_exp(random_vector(&random, 0.5));
    add_shape(b, def,
              i % 3 == 0   ? box_shape(0.2, 0.2, 0.2)
              : i % 3 == 1 ? pyramid_shape(4, 0.1 * sqrt(2), 0.4)
                           : prism_shape(8, 0.2, 0.2));
  }
  return finish_world(b);
}

TEST(seven_polyhedra_settle) {
  run r = start_run(seven_polyhedra(0.6, 0.8), "dcr", 1e-3);
  double peak = 0;
  for (int i = 0; i < 6000 && run_step(&r); i++) peak = fmax(peak, carom_audit_latest(r.audit).kinetic);
  show_run("seven polyhedra", &r);
  CHECK_AT_MOST(carom_audit_latest(r.audit).kinetic, 1e-6 * peak);
  CHECK_AT_MOST(fabs(carom_audit_latest(r.audit).claimed_energy_error), 1e-9);
  CHECK_AT_MOST(r.penetration, 1e-9);
  end_run(&r);
}

TEST(elastic_polyhedra_keep_l3_less_the_projection) {
  run r = start_run(seven_polyhedra(1, 0), "dcr", 1e-3);
  REQUIRE(run_for(&r, 3000));
  show_run("elastic polyhedra", &r);
  carom_audit_sample s = carom_audit_latest(r.audit);
  CHECK_AT_MOST(fabs(s.claimed_energy_error), 1e-9);
  CHECK_AT_MOST(s.claimed_angular_momentum_error, 1e-11);
  CHECK_AT_MOST(fabs(r.restitution_loss), 1e-9 * s.energy);
  end_run(&r);
}

// The same bits whatever the number of threads.
TEST(threads_do_not_change_the_result) {
  uint64_t hash[2];
  for (int k = 0; k < 2; k++) {
    carom_step_options options = carom_step_default_options();
    options.integrator = "dcr";
    options.threads = 1 + 3 * k;
    run r = start_run_with(seven_polyhedra(0.6, 0.8), options);
    REQUIRE(run_for(&r, 800));
    hash[k] = carom_state_hash(r.w.state);
    end_run(&r);
  }
  CHECK(hash[0] == hash[1]);
}

// Out of memory at any point of the set-up gives everything back.
TEST(set_up_survives_a_lack_of_memory) {
  static const char *const names[] = {"dcr", "potential", "newmark"};
  world w = falling_cube(0.6, 0.8, cm_qidentity());
  for (int k = 0; k < 3; k++) {
    carom_step_options options = carom_step_default_options();
    options.integrator = names[k];
    for (int allowed = 0; allowed < 1000; allowed++) {
      failing_allocator f = {.allowed = allowed};
      carom_allocator a = failing_allocator_of(&f);
      carom_stepper *stepper = NULL;
      carom_error error = {0};
      carom_status status = carom_stepper_create(w.model, &options, &a, &stepper, &error);
      carom_stepper_destroy(status == CAROM_OK ? stepper : NULL);
      CHECK(f.live == 0);
      if (status == CAROM_OK) break;
      CHECK(status == CAROM_ERR_MEMORY);
    }
  }
  free_world(&w);
}

// The published laws run, too, and agree where only one answer is possible: flat cubes in a row.
TEST(every_law_runs_the_cradle) {
  for (int law = 0; law <= CAROM_IMPACT_NEWTON; law++) {
    carom_step_options options = carom_step_default_options();
    options.integrator = "dcr";
    options.step = 0.015;
    options.law = (carom_impact_law)law;
    run r = start_run_with(cradle(false), options);
    REQUIRE(run_for(&r, 300));
    CHECK_NEAR(carom_state_velocity(r.w.model, r.w.state, 4).x, 0.105, 1e-10);
    end_run(&r);
  }
}

// Published: 0.5 m/s onto a cube at rest gives 0.25 m/s together; head-on both stop.
TEST(plastic_pair) {
  for (int head_on = 0; head_on < 2; head_on++) {
    double l = 0.2 * sqrt(2);
    carom_builder *b = new_builder();
    add_material(b, "cube", 270, 0, 0);
    for (int i = 0; i < 2; i++) {
      carom_body_def def = body_at(i * (l + 0.1), 0, 0);
      def.velocity.x = i == 0 ? 0.5 : head_on ? -0.5 : 0;
      add_shape(b, def, box_shape(l, l, l));
    }
    run r = start_run(finish_world(b), "dcr", 0.01);
    REQUIRE(run_for(&r, 60));
    for (int i = 0; i < 2; i++) CHECK_NEAR(carom_state_velocity(r.w.model, r.w.state, i).x, head_on ? 0 : 0.25, 1e-12);
    end_run(&r);
  }
}

// A flat box that slides and spins rests on one corner more than it needs; how they share the load decides how it
// turns. Its mirror image, whose corners come in another order, turns the other way.
TEST(flat_boxes_that_slide_and_spin_mirror_each_other) {
  carom_builder *b = new_builder();
  add_material(b, "box", 1000, 0.4, 0.4);
  carom_builder_set_gravity(b, cm_vec3(0, 0, -G));
  add_floor(b, cm_qidentity());
  for (int side = -1; side <= 1; side += 2) {
    carom_body_def def = body_at(side, 0, 0.05);
    def.velocity = cm_vec3(-0.5 * side, 0.7, 0);
    def.angular_velocity = cm_vec3(0, 0, 2 * side);
    add_shape(b, def, box_shape(0.2, 0.15, 0.1));
  }
  run r = start_run(finish_world(b), "dcr", 4e-3);
  REQUIRE(run_for(&r, 30));
  carom_vec3 v[2], w[2];
  for (int i = 0; i < 2; i++) {
    v[i] = carom_state_velocity(r.w.model, r.w.state, 1 + i);
    w[i] = carom_state_angular_velocity(r.w.model, r.w.state, 1 + i);
  }
  CHECK_NEAR(w[0].z, -w[1].z, 1e-9);
  CHECK_NEAR(v[0].x, -v[1].x, 1e-9);
  CHECK_NEAR(v[0].y, v[1].y, 1e-9);
  CHECK_AT_MOST(w[0].z, -0.1);  // it still spins
  end_run(&r);
}

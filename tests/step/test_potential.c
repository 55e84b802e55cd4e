// The integrators `potential` and `newmark`: contact potential, drag, friction, stiffness.
#include "contact/potential.h"
#include "test_dcr.h"

// Two cubes on a line, flat faces towards each other, one at rest.
static world two_cubes(double e, double speed) {
  double l = 0.2 * sqrt(2);
  carom_builder *b = new_builder();
  add_material(b, "cube", 270, e, 0);
  carom_body_def def = body_at(0, 0, 0);
  def.velocity.x = speed;
  add_shape(b, def, box_shape(l, l, l));
  add_shape(b, body_at(l + 0.01, 0, 0), box_shape(l, l, l));
  return finish_world(b);
}

static run start_soft(world w, const char *integrator, double h, double penetration) {
  carom_step_options options = carom_step_default_options();
  options.integrator = integrator;
  options.step = h;
  options.penetration = penetration;
  return start_run_with(w, options);
}

static void check_collision(const char *integrator) {
  run r = start_soft(two_cubes(1, 0.5), integrator, 2e-4, 0.005);
  REQUIRE(run_for(&r, 1000));
  show_run(integrator, &r);
  CHECK_NEAR(carom_state_velocity(r.w.model, r.w.state, 0).x, 0, 1e-3);
  CHECK_NEAR(carom_state_velocity(r.w.model, r.w.state, 1).x, 0.5, 1e-3);
  for (int i = 0; i < 2; i++) CHECK_AT_MOST(cm_norm(carom_state_angular_velocity(r.w.model, r.w.state, i)), 1e-12);
  CHECK(r.collisions == 1);
  // d = v sqrt(m / 2C), with C d_target^2 = m v^2
  CHECK_NEAR(r.penetration, 0.005 / sqrt(2), 0.02 * 0.005);
  carom_audit_sample s = carom_audit_latest(r.audit);
  CHECK_AT_MOST(fabs(s.energy_error), 1e-4);
  CHECK_AT_MOST(s.momentum_error, 1e-13);
  end_run(&r);
}

TEST(flat_cubes_exchange_their_velocities) { check_collision("potential"); }
TEST(newmark_likewise) { check_collision("newmark"); }

// The drag is chosen for the coefficient of restitution.
TEST(drag_gives_the_restitution_asked_for) {
  for (int k = 1; k <= 10; k++) {
    double e = 0.1 * k;
    run r = start_soft(two_cubes(e, 0.5), "potential", 5e-5, 0.005);
    REQUIRE(run_for(&r, 3000));
    double v0 = carom_state_velocity(r.w.model, r.w.state, 0).x, v1 = carom_state_velocity(r.w.model, r.w.state, 1).x;
    CHECK_NEAR((v1 - v0) / 0.5, e, 0.01);
    double lost = r.w.model->bodies[0].mass / 4 * (1 - e * e) * 0.25;
    CHECK_NEAR(r.restitution_loss, lost, 0.01 * fmax(lost, 0.1));
    CHECK_AT_MOST(fabs(carom_audit_latest(r.audit).energy_error), 2e-3);
    end_run(&r);
  }
}

TEST(drag_ratio_inverts_the_closed_form) {
  CHECK(carom_drag_ratio(1) == 0);
  for (int k = 1; k < 10; k++) {
    double zeta = 0.1 * k, e = exp(-zeta * acos(zeta) / sqrt(1 - zeta * zeta));
    CHECK_NEAR(carom_drag_ratio(e), zeta, 1e-9);
  }
  CHECK_NEAR(carom_drag_ratio(exp(-1)), 1, 1e-6);
}

// Tumbling polyhedra that meet in general positions: momentum and angular momentum stay, energy to second order.
static world cloud(void) {
  carom_random random = carom_random_make(3, 0);
  carom_builder *b = new_builder();
  add_material(b, "stone", 270, 1, 0);
  for (int i = 0; i < 4; i++) {
    carom_body_def def = body_at(0.5 * (i % 2), 0.5 * (i / 2), 0.1 * i);
    def.pose.q = random_rotation(&random);
    def.velocity = cm_scale(-1, cm_sub(def.pose.p, cm_vec3(0.25, 0.25, 0.15)));
    def.angular_velocity = random_vector(&random, 2);
    add_shape(b, def, i % 2 ? prism_shape(8, 0.15, 0.3) : box_shape(0.2, 0.25, 0.3));
  }
  return finish_world(b);
}

static double energy_error_of_cloud(const char *integrator, double h, carom_audit_sample *s) {
  carom_step_options options = carom_step_default_options();
  options.integrator = integrator;
  options.step = h;
  options.stiffness = 2e4;
  run r = start_run_with(cloud(), options);
  double worst = 0;
  for (int i = 0; i * h < 1.2 && run_step(&r); i++) worst = fmax(worst, fabs(carom_audit_latest(r.audit).energy_error));
  show_run(integrator, &r);
  CHECK(r.collisions > 2);
  *s = carom_audit_latest(r.audit);
  end_run(&r);
  return worst;
}

TEST(momenta_stay_and_energy_improves_with_the_step) {
  carom_audit_sample s;
  double coarse = energy_error_of_cloud("potential", 8e-4, &s);
  CHECK_AT_MOST(s.momentum_error, 1e-12);
  CHECK_AT_MOST(s.angular_momentum_error, 1e-10);
  double fine = energy_error_of_cloud("potential", 1e-4, &s);
  CHECK_AT_MOST(fine, 0.3 * coarse);
  CHECK_AT_MOST(s.angular_momentum_error, 1e-10);
}

TEST(newmark_keeps_momenta_through_contacts) {
  carom_audit_sample s;
  energy_error_of_cloud("newmark", 4e-4, &s);
  CHECK_AT_MOST(s.momentum_error, 1e-12);
  CHECK_AT_MOST(s.angular_momentum_error, 1e-12);
}

// A brick that tumbles for a second, by newmark, and angular momentum to round-off all the way.
static carom_quat tumble(const char *integrator, double h, double *energy_swing) {
  carom_builder *b = new_builder();
  add_material(b, "stone", 1000, 1, 0);
  carom_body_def def = body_at(0, 0, 0);
  def.angular_velocity = cm_vec3(3, 0.2, -2);
  add_shape(b, def, box_shape(0.1, 0.2, 0.4));
  run r = start_run(finish_world(b), integrator, h);
  carom_vec3 l = r.w.state->l[0];
  double start = carom_kinetic_energy(r.w.model, r.w.state);
  *energy_swing = 0;
  for (int i = 0; i * h < 1 - 0.5 * h && run_step(&r); i++) {
    CHECK_AT_MOST(cm_norm(cm_sub(r.w.state->l[0], l)), 1e-13 * cm_norm(l));
    *energy_swing = fmax(*energy_swing, fabs(carom_kinetic_energy(r.w.model, r.w.state) / start - 1));
  }
  carom_quat q = r.w.state->q[0];
  end_run(&r);
  return q;
}

// Against the variational integrator with a hundredth of the step.
TEST(newmark_turns_free_bodies_to_second_order) {
  double swing[3], unused, off[3];
  carom_quat truth = tumble("variational", 1e-4, &unused);
  for (int k = 0; k < 3; k++)
    off[k] = cm_norm(cm_log(cm_qmul(tumble("newmark", ldexp(0.02, -k), &swing[k]), cm_qconj(truth))));
  for (int k = 0; k < 2; k++) {
    CHECK_NEAR(off[k] / off[k + 1], 4, 0.6);
    CHECK_AT_MOST(swing[k + 1], 0.3 * swing[k]);
  }
  CHECK_AT_MOST(off[0], 0.02);
}

// A turn that a step cannot follow is made in smaller steps, or refused with one that works.
TEST(newmark_turns_no_farther_than_a_step_can_tell) {
  carom_builder *b = new_builder();
  add_material(b, "stone", 1000, 1, 0);
  carom_body_def def = body_at(0, 0, 0);
  def.angular_velocity = cm_vec3(300, 200, -200);
  add_shape(b, def, box_shape(0.1, 0.2, 0.4));
  carom_step_options options = carom_step_default_options();
  options.integrator = "newmark";
  options.step = 0.01;
  run r = start_run_with(finish_world(b), options);
  CHECK(run_step(&r));
  end_run(&r);
}

TEST(a_step_too_long_is_refused_with_a_remedy) {
  carom_error error = {0};
  carom_step_options options = carom_step_default_options();
  options.integrator = "potential";
  options.step = 1e-2;
  run r = start_run_with(two_cubes(1, 5), options);
  CHECK(carom_stepper_step(r.stepper, r.w.state, NULL, &error) == CAROM_ERR_ARGUMENT);
  CHECK_CONTAINS(error.message, "use a step below");
  CHECK_CONTAINS(error.message, "penetration");
  end_run(&r);
}

// A cube that lies on the floor presses in by m g / C and stays there; pushed, it slides to a halt after v^2 / (2 mu
// g).
TEST(cube_slides_to_a_halt) {
  carom_builder *b = new_builder();
  add_material(b, "cube", 500, 0.2, 0.4);
  carom_builder_set_gravity(b, cm_vec3(0, 0, -9.81));
  add_floor(b, cm_qidentity());
  carom_body_def def = body_at(0, 0, 0.05);
  def.velocity.x = 1;
  add_shape(b, def, box_shape(0.4, 0.4, 0.1));
  carom_step_options options = carom_step_default_options();
  options.integrator = "potential";
  options.step = 2e-4;
  options.stiffness = 2e5;
  run r = start_run_with(finish_world(b), options);
  REQUIRE(run_for(&r, 5000));
  show_run("slider", &r);
  CHECK_NEAR(r.w.state->x[1].x, 1 / (2 * 0.4 * 9.81), 2e-3);
  CHECK_NEAR(r.w.state->x[1].z, 0.05 - 500 * 0.016 * 9.81 / 2e5, 1e-4);
  CHECK_AT_MOST(cm_norm(carom_state_velocity(r.w.model, r.w.state, 1)), 5e-3);
  end_run(&r);
}

// ---- driven bodies -------------------------------------------------------------------------------------------------

// A table that rises at 0.2 m/s under a box, and one that drags it along: the box follows, and the table's work is
// accounted for.
TEST(driven_tables) {
  const char *names[] = {"potential", "newmark"};
  for (int k = 0; k < 4; k++) {
    carom_builder *b = new_builder();
    add_material(b, "box", 500, 0.3, 0.5);
    carom_builder_set_gravity(b, cm_vec3(0, 0, -9.81));
    carom_body_def table = body_at(0, 0, -0.1);
    table.fixed = true;
    carom_drive_def drive = carom_drive_default();
    drive.body = add_shape(b, table, box_shape(4, 4, 0.2));
    drive.velocity = k < 2 ? cm_vec3(0, 0, 0.2) : cm_vec3(0.5, 0, 0);
    carom_builder_add_drive(b, &drive);
    add_shape(b, body_at(0, 0, 0.1), box_shape(0.2, 0.2, 0.2));
    carom_step_options options = carom_step_default_options();
    options.integrator = names[k % 2];
    options.step = 1e-4;
    options.stiffness = 1e5;
    run r = start_run_with(finish_world(b), options);
    double m = r.w.model->bodies[1].mass;
    REQUIRE(run_for(&r, 10000));
    show_run(names[k % 2], &r);
    carom_vec3 v = carom_state_velocity(r.w.model, r.w.state, 1);
    CHECK_AT_MOST(cm_norm(cm_sub(v, drive.velocity)), 2e-2);
    CHECK_NEAR(r.w.state->x[1].z - r.w.state->x[0].z, 0.2 - m * 9.81 / 1e5, 1e-3);
    // while it slides, the one point at which friction acts jumps from corner to corner
    CHECK_AT_MOST(fabs(carom_audit_latest(r.audit).energy_error), k < 2 ? 1e-3 : 2e-2);
    CHECK_AT_MOST(carom_audit_latest(r.audit).momentum_error, 1e-9);
    end_run(&r);
  }
}

// ---- limits of joints ----------------------------------------------------------------------------------------------

// A weight on a rail between two stops, and a bar on a pin between two: elastic ones return all, others e of the rate.
static run start_limited(bool turn, double e, double h, double stiffness) {
  carom_builder *b = new_builder();
  carom_body_def def = inert_body(2, cm_vec3(0.1, 0.3, 0.2));
  carom_joint_def joint = carom_joint_default();
  carom_coordinate_def *c = turn ? &joint.turn : &joint.slide;
  def.pose.p = turn ? cm_vec3(0.5, 0, 0) : cm_zero3();
  def.angular_velocity = cm_vec3(0, turn ? 1 : 0, 0);
  def.velocity = turn ? cm_cross(def.angular_velocity, def.pose.p) : cm_vec3(1, 0, 0);
  joint.kind = turn ? CAROM_JOINT_REVOLUTE : CAROM_JOINT_PRISMATIC;
  joint.body[0] = CAROM_WORLD, joint.body[1] = carom_builder_add_body(b, &def);
  joint.at_start = true;
  joint.axis[0] = turn ? cm_vec3(0, 1, 0) : cm_vec3(1, 0, 0);
  c->lower = -0.3, c->upper = 0.3, c->restitution = e;
  carom_builder_add_joint(b, &joint);
  carom_step_options options = carom_step_default_options();
  options.integrator = "potential";
  options.step = h;
  options.stiffness = stiffness;
  return start_run_with(finish_world(b), options);
}

static double rate_now(const run *r, bool turn) {
  return turn ? carom_state_angular_velocity(r->w.model, r->w.state, 0).y
              : carom_state_velocity(r->w.model, r->w.state, 0).x;
}

static double worst_energy(run *r, int steps) {
  double worst = 0;
  for (int i = 0; i < steps && run_step(r); i++) worst = fmax(worst, fabs(carom_audit_latest(r->audit).energy_error));
  return worst;
}

TEST(elastic_limits_return_the_rate) {
  for (int turn = 0; turn < 2; turn++) {
    run coarse = start_limited(turn, 1, 1e-3, 2e4), fine = start_limited(turn, 1, 2.5e-4, 2e4);
    double e1 = worst_energy(&coarse, 3000), e2 = worst_energy(&fine, 12000);
    show_run("limits", &fine);
    CHECK(fine.collisions == 5 && coarse.collisions == 5);
    CHECK_NEAR(rate_now(&fine, turn), -1, 1e-3);
    // a spring of m w^2 takes a rate of 1 for a reach of 1/w: the turn has the frequency of the weight
    CHECK_NEAR(fine.penetration, sqrt(2 / 2e4), 1e-4);
    CHECK_AT_MOST(e2, e1 / 12);  // second order
    CHECK_AT_MOST(carom_audit_latest(fine.audit).momentum_error, 1e-10);
    end_run(&coarse);
    end_run(&fine);
  }
}

TEST(limits_give_the_restitution_asked_for) {
  for (int turn = 0; turn < 2; turn++) {
    run r = start_limited(turn, 0.5, 1e-4, 2e4);
    CHECK_AT_MOST(worst_energy(&r, 6000), 2e-3);  // 0.6 s: one stop
    CHECK(r.collisions == 1);
    CHECK_NEAR(rate_now(&r, turn), -0.5, 5e-3);
    double kinetic = turn ? 0.5 * (0.3 + 2 * 0.25) : 1;
    CHECK_NEAR(r.restitution_loss, 0.75 * kinetic, 5e-3 * kinetic);
    end_run(&r);
  }
}

TEST(a_limit_too_stiff_is_refused_with_a_remedy) {
  carom_error error = {0};
  run r = start_limited(true, 1, 0.1, 2e4);
  CHECK(carom_stepper_step(r.stepper, r.w.state, NULL, &error) == CAROM_ERR_ARGUMENT);
  CHECK_CONTAINS(error.message, "too stiff");
  CHECK_CONTAINS(error.message, "use a step below");
  end_run(&r);
}

// ---- planar scenes -------------------------------------------------------------------------------------------------

// Plates that meet corner on side in the plane. Energy swings by h^2: no kick leaves the plane.
static double planar_error(const char *integrator, double h, double start, int *collisions) {
  carom_builder *b = new_builder();
  carom_builder_set_planar(b, true);
  add_material(b, "plate", 270, 1, 0);
  for (int i = 0; i < 2; i++) {
    carom_body_def def = body_at((0.5 + start) * i, 0.04 * i, 0);
    def.pose.q = cm_axis_angle(cm_vec3(0, 0, 1), i == 0 ? 0.2 : 0.7);
    def.velocity = cm_vec3(i == 0 ? 0.3 : -0.2, 0, 0);
    def.angular_velocity = cm_vec3(0, 0, i == 0 ? 0.4 : -0.3);
    add_shape(b, def, box_shape(0.3, 0.25, 0.1));
  }
  carom_step_options options = carom_step_default_options();
  options.integrator = integrator;
  options.step = h;
  options.stiffness = 2e3;
  run r = start_run_with(finish_world(b), options);
  double worst = 0;
  for (int i = 0; i * h < 1 && run_step(&r); i++) worst = fmax(worst, fabs(carom_audit_latest(r.audit).energy_error));
  *collisions += r.collisions;
  CHECK_AT_MOST(carom_audit_latest(r.audit).momentum_error, 1e-12);
  end_run(&r);
  return worst;
}

TEST(planar_energy_is_of_second_order) {
  const char *names[] = {"potential", "newmark"};
  for (int k = 0; k < 2; k++) {
    int hits[3] = {0};
    double e[3] = {0};
    for (int j = 0; j < 3; j++)  // the mean over where in a step they meet
      for (int i = 0; i < 16; i++) e[j] += planar_error(names[k], ldexp(2e-3, -j), 1e-3 * sin(7 * i), &hits[j]) / 16;
    printf("%s in the plane: %.3g %.3g %.3g\n", names[k], e[0], e[1], e[2]);
    CHECK(hits[0] >= 16 && hits[1] == hits[0] && hits[2] == hits[0]);
    CHECK_NEAR(log2(e[0] / e[1]), 2, 0.5);
    CHECK_NEAR(log2(e[1] / e[2]), 2, 0.5);
  }
}

// A step that is too long for the stiffness is refused before anything moves, by the same words as the first step
// would.
TEST(too_long_steps_are_refused_before_the_start) {
  const char *names[] = {"potential", "newmark"};
  for (int k = 0; k < 2; k++) {
    world w = two_cubes(1, 0.5);
    carom_step_options options = carom_step_default_options();
    options.integrator = names[k];
    options.penetration = 1e-4;
    options.step = 1e-3;
    carom_error check = {0}, step = {0};
    CHECK(carom_step_check_start(w.model, w.state, &options, &check) == CAROM_ERR_ARGUMENT);
    CHECK_CONTAINS(check.message, "use a step below");
    carom_stepper *stepper = NULL;
    REQUIRE(carom_stepper_create(w.model, &options, NULL, &stepper, &step) == CAROM_OK);
    CHECK(carom_stepper_step(stepper, w.state, NULL, &step) == CAROM_ERR_ARGUMENT);
    CHECK(strcmp(check.message, step.message) == 0);
    carom_stepper_destroy(stepper);
    options.step = 1e-5;
    CHECK(carom_step_check_start(w.model, w.state, &options, &check) == CAROM_OK);
    free_world(&w);
  }
}

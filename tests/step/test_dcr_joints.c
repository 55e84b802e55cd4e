// The integrator `dcr` with limits of joints, latches and driven bodies.
#include "test_dcr.h"

static const double G = 9.81;

// A rod 1 m long on a hinge along y at the origin, level, 2 kg; it falls until the hinge has turned by `limit`.
static world trapdoor(double limit, double e) {
  carom_builder *b = new_builder();
  carom_builder_set_gravity(b, cm_vec3(0, 0, -G));
  carom_body_def def = inert_body(2, cm_vec3(0.01, 2.0 / 12, 2.0 / 12));
  def.pose.p = cm_vec3(0.5, 0, 0);
  int rod = carom_builder_add_body(b, &def);
  carom_joint_def joint = carom_joint_default();
  joint.kind = CAROM_JOINT_REVOLUTE;
  joint.body[0] = CAROM_WORLD;
  joint.body[1] = rod;
  joint.at_start = true;
  joint.axis[0] = cm_vec3(0, 1, 0);
  joint.turn.upper = limit;
  joint.turn.restitution = e;
  carom_builder_add_joint(b, &joint);
  return finish_world(b);
}

static double spin_of(const run *r, int body) { return carom_state_angular_velocity(r->w.model, r->w.state, body).y; }

// It reaches the limit with w^2 = 3 g sin(limit) / L, and goes back with e times that.
TEST(limit_returns_a_rod) {
  for (int k = 0; k < 3; k++) {
    double limit = 0.5, e = 0.5 * k, h = 1e-4, expected = sqrt(3 * G * sin(limit)), before = 0, after = NAN;
    run r = start_run(trapdoor(limit, e), "dcr", h);
    double start = carom_audit_latest(r.audit).energy;
    for (int i = 0; i < 10000 && r.collisions == 0; i++) {
      before = spin_of(&r, 0);
      REQUIRE(run_step(&r));
      after = spin_of(&r, 0);
    }
    CHECK(r.collisions == 1);
    CHECK_NEAR(before, expected, 2 * h * G * 1.5);
    CHECK_NEAR(after, -e * before, 2 * h * G * 1.5);
    CHECK_NEAR(r.restitution_loss, (1 - e * e) * 2 * G * 0.5 * sin(limit), 1e-2);
    CHECK_AT_MOST(r.w.state->joints[0].turn, limit + 1e-9);
    CHECK_NEAR(carom_audit_latest(r.audit).energy, start - r.restitution_loss + r.projection_energy, 1e-5);
    end_run(&r);
  }
}

// With e = 0.3 it bounces a few times and lies on its limit.
TEST(rod_rests_on_its_limit) {
  run r = start_run(trapdoor(0.5, 0.3), "dcr", 1e-3);
  REQUIRE(run_for(&r, 3000));
  show_run("trapdoor", &r);
  double place = r.w.state->joints[0].turn, worst = 0;
  CHECK_NEAR(place, 0.5, 1e-9);
  for (int i = 0; i < 2000; i++) {
    REQUIRE(run_step(&r));
    worst = fmax(worst, fabs(spin_of(&r, 0)));
  }
  CHECK_AT_MOST(worst, 1e-9);
  CHECK_NEAR(r.w.state->joints[0].turn, place, 1e-10);
  carom_audit_sample s = carom_audit_latest(r.audit);
  CHECK_AT_MOST(fabs(s.claimed_energy_error), 1e-4);
  CHECK_AT_MOST(s.momentum_error, 1e-9);
  CHECK_AT_MOST(s.claimed_angular_momentum_error, 1e-9);
  end_run(&r);
}

// A slider on a rail along x meets the end of the rail: elastic, no gravity, both ends.
TEST(slider_goes_to_and_fro) {
  carom_builder *b = new_builder();
  carom_body_def def = inert_body(1, cm_vec3(1, 1, 1));
  def.velocity = cm_vec3(1, 0, 0);
  int body = carom_builder_add_body(b, &def);
  carom_joint_def joint = carom_joint_default();
  joint.kind = CAROM_JOINT_PRISMATIC;
  joint.body[0] = CAROM_WORLD;
  joint.body[1] = body;
  joint.at_start = true;
  joint.axis[0] = cm_vec3(1, 0, 0);
  joint.slide.lower = -0.25;
  joint.slide.upper = 0.25;
  joint.slide.restitution = 1;
  carom_builder_add_joint(b, &joint);
  run r = start_run(finish_world(b), "dcr", 3e-3);
  REQUIRE(run_for(&r, 2000));
  CHECK(r.collisions == 12);  // 6 m in spans of 0.5 m, the first 0.25 m
  CHECK_NEAR(fabs(carom_state_velocity(r.w.model, r.w.state, 0).x), 1, 1e-12);
  CHECK_AT_MOST(fabs(r.w.state->x[0].x), 0.25 + 1e-9);
  CHECK_AT_MOST(cm_norm(carom_state_angular_velocity(r.w.model, r.w.state, 0)), 1e-12);
  end_run(&r);
}

// ---- latches -------------------------------------------------------------------------------------------------------

// Two boxes meet head on and stick (a plastic pair): half the velocity, half the energy.
TEST(latch_makes_one_of_two) {
  carom_builder *b = new_builder();
  add_material(b, "box", 500, 1, 0);
  for (int i = 0; i < 2; i++) {
    carom_body_def def = body_at(0.5 * i, 0, 0);
    def.velocity.x = i == 0 ? 1 : 0;
    add_shape(b, def, box_shape(0.2, 0.2, 0.2));
  }
  carom_joint_def joint = carom_joint_default();
  joint.kind = CAROM_JOINT_FIXED;
  joint.body[0] = 0, joint.body[1] = 1;
  joint.latch = true;
  carom_builder_add_joint(b, &joint);
  run r = start_run(finish_world(b), "dcr", 7e-3);
  double start = carom_audit_latest(r.audit).energy;
  REQUIRE(run_for(&r, 100));
  CHECK(r.w.state->joints[0].active == 1);
  CHECK(r.collisions == 1);
  for (int i = 0; i < 2; i++) {
    CHECK_NEAR(carom_state_velocity(r.w.model, r.w.state, i).x, 0.5, 1e-12);
    CHECK_AT_MOST(cm_norm(carom_state_angular_velocity(r.w.model, r.w.state, i)), 1e-9);
  }
  CHECK_NEAR(r.restitution_loss, 0.5 * start, 1e-9 * start);
  CHECK_NEAR(r.w.state->x[1].x - r.w.state->x[0].x, 0.2, 1e-9);
  end_run(&r);
}

// ---- driven bodies -------------------------------------------------------------------------------------------------

// A box on a table that is driven.
static world on_table(carom_drive_def drive, double e, double mu) {
  carom_builder *b = new_builder();
  add_material(b, "box", 500, e, mu);
  carom_builder_set_gravity(b, cm_vec3(0, 0, -G));
  carom_body_def table = body_at(0, 0, -0.1);
  table.fixed = true;
  drive.body = add_shape(b, table, box_shape(20, 2, 0.2));
  carom_builder_add_drive(b, &drive);
  add_shape(b, body_at(0, 0, 0.1), box_shape(0.2, 0.2, 0.2));
  return finish_world(b);
}

// A belt at 1 m/s drags a box along: mu g until both are equally fast; half the work of the belt is lost.
TEST(belt_drags_a_box) {
  carom_drive_def drive = carom_drive_default();
  drive.velocity = cm_vec3(1, 0, 0);
  run r = start_run(on_table(drive, 0, 0.3), "dcr", 1e-3);
  double m = r.w.model->bodies[1].mass, a = 0.3 * G;
  REQUIRE(run_for(&r, 200));
  CHECK_NEAR(carom_state_velocity(r.w.model, r.w.state, 1).x, 0.2 * a, 1e-6);
  REQUIRE(run_for(&r, 800));
  show_run("belt", &r);
  CHECK_NEAR(carom_state_velocity(r.w.model, r.w.state, 1).x, 1, 1e-9);
  CHECK_NEAR(r.w.state->x[1].x, 1 - 0.5 / a, 2e-3);
  CHECK_NEAR(r.work, m, 1e-2 * m);
  CHECK_NEAR(r.friction_loss, 0.5 * m, 1e-2 * m);
  CHECK_AT_MOST(fabs(carom_audit_latest(r.audit).claimed_energy_error), 1e-9);
  end_run(&r);
}

// A lift: the box goes up with the table, whose work is the rise of its energy.
TEST(table_lifts_a_box) {
  carom_drive_def drive = carom_drive_default();
  drive.velocity = cm_vec3(0, 0, 0.5);
  run r = start_run(on_table(drive, 0, 0.5), "dcr", 1e-3);
  double m = r.w.model->bodies[1].mass;
  REQUIRE(run_for(&r, 1000));
  show_run("lift", &r);
  CHECK_NEAR(r.w.state->x[1].z, 0.1 + 0.5, 1e-6);
  CHECK_NEAR(carom_state_velocity(r.w.model, r.w.state, 1).z, 0.5, 1e-6);
  CHECK_NEAR(r.work, m * G * 0.5 + m * 0.25, 1e-2 * m);  // the start from rest costs as much again as it gives
  CHECK_AT_MOST(fabs(carom_audit_latest(r.audit).claimed_energy_error), 1e-9);
  CHECK_AT_MOST(carom_audit_latest(r.audit).momentum_error, 1e-9);
  end_run(&r);
}

// A gentle vibration (acceleration below g) carries the box along.
TEST(vibrating_table_carries_a_box) {
  carom_drive_def drive = carom_drive_default();
  drive.amplitude = cm_vec3(0, 0, 0.01);
  drive.frequency = 3;
  run r = start_run(on_table(drive, 0.2, 0.5), "dcr", 1e-3);
  double worst = 0;
  for (int i = 0; i < 2000; i++) {
    REQUIRE(run_step(&r));
    if (i > 300) worst = fmax(worst, fabs(r.w.state->x[1].z - r.w.state->x[0].z - 0.2));
  }
  show_run("vibration", &r);
  CHECK_AT_MOST(worst, 1e-6);
  CHECK_AT_MOST(r.penetration, 1e-9);
  CHECK_AT_MOST(fabs(carom_audit_latest(r.audit).claimed_energy_error), 1e-6);
  end_run(&r);
}

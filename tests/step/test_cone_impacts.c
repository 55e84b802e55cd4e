// Impacts, joints, motors and rims under `cone`: what the closed forms and the conserved quantities say.
#include "strangers.h"

static const double G = 9.81;

static void check_verdict(const run *r) {
  carom_audit_bounds bounds = carom_audit_bounds_of("cone", r->w.model);
  carom_verdict verdict = carom_audit_judge(r->audit, &bounds);
  if (!verdict.pass) test_fail(__FILE__, __LINE__, "%s", verdict.reason);
}

// Columns of bodies that touch, light on heavy and heavy on light, lost all their energy.
static void bounce_column(int count, double ratio, bool boxes, double h) {
  carom_builder *b = with_floor(1, 0, cm_vec3(0, 0, -G));
  for (int i = 0; i < count; i++) {
    carom_body_def def = body_at(0, 0, 0.25 + 0.1 * i);
    def.mass = pow(ratio, i);
    add_shape(b, def, boxes ? box_shape(0.1, 0.1, 0.1) : sphere_shape(0.05));
  }
  run r = start_run(finish_world(b), "cone", h);
  double before = carom_kinetic_energy(r.w.model, r.w.state) + carom_potential_energy(r.w.model, r.w.state);
  REQUIRE(run_for(&r, (int)lround(0.4 / h)));
  double after = carom_kinetic_energy(r.w.model, r.w.state) + carom_potential_energy(r.w.model, r.w.state);
  CHECK_NEAR(after, before, 2e-3 * fabs(before));
  check_verdict(&r);
  end_run(&r);
}

TEST(elastic_columns_keep_their_energy) {
  bounce_column(2, 1, false, 2e-3);
  bounce_column(4, 0.3, false, 1e-3);
  bounce_column(7, 1, false, 2e-3);
  bounce_column(3, 2, true, 1e-3);
}

// Bodies that touch and fall together lost m g^2 h^2 / 2 a step, and said that contacts had taken it.
TEST(what_touches_falls_as_one) {
  carom_builder *b = with_floor(0.5, 0.5, cm_vec3(0, 0, -G));
  for (int i = 0; i < 3; i++) {
    carom_body_def def = body_at(0, 0, 5 + 0.1 * i);
    def.angular_velocity = cm_vec3(i - 1, 0, 0);  // they rub
    add_shape(b, def, sphere_shape(0.05));
  }
  run r = start_run(finish_world(b), "cone", 5e-3);
  REQUIRE(run_for(&r, 100));
  CHECK_NEAR(r.w.state->x[2].z, 5.1 - 0.5 * G * 0.25, 1e-9);
  check_verdict(&r);
  end_run(&r);
}

// A point of the rim ahead of where it touches was taken for a corner that stops it.
TEST(cylinders_roll_at_two_thirds) {
  for (int i = 0; i < 3; i++) {
    double angle = 0.2 + 0.1 * i, radius = 0.02 + 0.1 * i, h = 4e-3, time = 0.8;
    carom_builder *b = with_floor(0, 0.6, cm_vec3(G * sin(angle), 0, -G * cos(angle)));
    carom_body_def def = body_at(0, 0, radius);
    const carom_shape *shape = NULL;
    def.pose.q = cm_exp(cm_vec3(0.5 * 3.14159265358979, 0, 0));
    REQUIRE(carom_shape_create_cylinder(radius, 3 * radius, NULL, &shape, NULL) == CAROM_OK);
    add_shape(b, def, shape);
    run r = start_run(finish_world(b), "cone", h);
    REQUIRE(run_for(&r, (int)lround(time / h)));
    double speed = 2.0 / 3 * G * sin(angle) * time;
    CHECK_NEAR(carom_state_velocity(r.w.model, r.w.state, 1).x, speed, 0.01 * speed);
    check_verdict(&r);
    end_run(&r);
  }
}

static int hang(carom_builder *b, int ball, carom_vec3 point, carom_coordinate_def turn) {
  carom_joint_def def = carom_joint_default();
  def.kind = CAROM_JOINT_REVOLUTE, def.at_start = true;
  def.body[0] = CAROM_WORLD, def.body[1] = ball;
  def.point[0] = point, def.axis[0] = cm_vec3(0, 1, 0), def.turn = turn;
  return carom_builder_add_joint(b, &def);
}

// Errors of the joint were claimed as losses of contacts that there were not.
TEST(pendulums_strike_walls_lawfully) {
  for (int i = 0; i < 3; i++) {
    carom_builder *b = new_builder();
    add_material(b, "any", 1000, 0.5 * i, 0.2 * i);
    carom_builder_set_gravity(b, cm_vec3(0, 0, -G));
    carom_body_def wall = body_at(-0.16, 0, -0.7), ball = body_at(0.7, 0, 0);
    wall.fixed = true;
    add_shape(b, wall, box_shape(0.2, 1, 1));
    hang(b, add_shape(b, ball, sphere_shape(0.06)), cm_zero3(), carom_joint_default().turn);
    run r = start_run(finish_world(b), "cone", 3e-3);
    REQUIRE(run_for(&r, 500));
    check_verdict(&r);
    end_run(&r);
  }
}

// The work of a motor was booked with its rate at the end of the step, be it before a kink or after it.
TEST(motors_work_across_kinks) {
  const carom_knot knots[] = {{0, 0}, {0.13, 0.4}, {0.31, -0.3}, {0.5, 1}};
  for (int i = 0; i < 2; i++) {
    carom_builder *b = new_builder();
    add_material(b, "any", 1000, 0, 0);
    carom_builder_set_gravity(b, cm_vec3(0, 0, -G));
    carom_coordinate_def turn = carom_coordinate_default();
    turn.motor = i == 0 ? CAROM_MOTOR_POSITION : CAROM_MOTOR_RATE;
    turn.motor_value = i == 0 ? 1 : 4, turn.knots = knots, turn.knot_count = 4;
    hang(b, add_shape(b, body_at(0.4, 0, 0), box_shape(0.8, 0.1, 0.1)), cm_zero3(), turn);
    run r = start_run(finish_world(b), "cone", 2e-3);
    REQUIRE(run_for(&r, 300));
    check_verdict(&r);
    end_run(&r);
  }
}

// Grains that land within a step were a little higher than the books said, and the energy rose.
TEST(grains_that_land_make_no_energy) {
  carom_builder *b = with_floor(0, 0.3, cm_vec3(0, 0, -G));
  for (int i = 0; i < 60; i++)
    add_shape(b, body_at(0.2 * (i % 10), 0.2 * (i / 10), 0.2 + 0.003 * i), sphere_shape(0.05));
  run r = start_run(finish_world(b), "cone", 5e-3);
  REQUIRE(run_for(&r, 80));
  check_verdict(&r);
  end_run(&r);
}

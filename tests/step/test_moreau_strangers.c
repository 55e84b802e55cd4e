// `moreau` on scenes that it was not made for: bodies that tumble, thin ones, fast ones, heavy ones on light ones,
// starts that overlap, motors with kinks. What must hold is known without an integrator.
#include "fixtures.h"

static const double g0 = 9.81;

static carom_stepper *moreau(const world *w, double h) {
  carom_step_options o = carom_step_default_options();
  o.integrator = "moreau";
  o.step = h;
  return stepper_by(w, &o);
}

static carom_step_report step_once(carom_stepper *stepper, carom_state *state) {
  carom_step_report report = {0};
  carom_error error = {0};
  if (carom_stepper_step(stepper, state, &report, &error) != CAROM_OK)
    test_fail(__FILE__, __LINE__, "%s", error.message);
  return report;
}

static int put_moving(carom_builder *b, const carom_shape *shape, double mass, carom_pose pose) {
  carom_body_def def = carom_body_default();
  def.mass = mass;
  def.pose = pose;
  return put_shape(b, def, shape);
}

static carom_builder *weighty(double restitution, double friction) {
  carom_builder *b = new_builder();
  put_material(b, restitution, friction);
  carom_builder_set_gravity(b, cm_vec3(0, 0, -g0));
  return b;
}

static double energy_of(const world *w) {
  return carom_kinetic_energy(w->model, w->state) + carom_potential_energy(w->model, w->state);
}

static carom_pose upright(double x, double z) { return cm_pose(cm_vec3(x, 0, z), cm_qidentity()); }

// ---- free flight ----------------------------------------------------------------------------------------------------

// A parabola, and a spin that keeps its angular momentum; its energy to the second order in the turn of a step.
TEST(a_body_that_tumbles_keeps_its_angular_momentum) {
  carom_builder *b = weighty(0, 0);
  put_moving(b, box_shape(0.3, 0.2, 0.05), 1, upright(0, 2));
  world w = finish_world(b);
  carom_state_set_velocity(w.model, w.state, 0, cm_vec3(1, 0, 2), cm_vec3(7, 15, -3));
  carom_vec3 l = w.state->l[0];
  double spin = carom_kinetic_energy(w.model, w.state) - 2.5, h = 2e-3;
  carom_stepper *stepper = moreau(&w, h);
  for (int i = 0; i < 500; i++) step_once(stepper, w.state);
  CHECK_AT_MOST(cm_norm(cm_sub(w.state->l[0], l)), 1e-14);
  CHECK_NEAR(w.state->x[0].z, 2 + 2 - 0.5 * g0, 1e-11);
  double speed = 2 - g0, flight = 0.5 * (1 + speed * speed);
  CHECK_NEAR(carom_kinetic_energy(w.model, w.state) - flight, spin, 2e-3 * spin);
  carom_stepper_destroy(stepper);
  free_world(&w);
}

// ---- what touches ---------------------------------------------------------------------------------------------------

static double lowest_corner(const carom_state *state, int body, carom_vec3 half) {
  double lowest = INFINITY;
  for (int k = 0; k < 8; k++) {
    carom_vec3 corner = cm_vec3(k & 1 ? half.x : -half.x, k & 2 ? half.y : -half.y, k & 4 ? half.z : -half.z);
    lowest = fmin(lowest, cm_add(state->x[body], cm_rotate(state->q[body], corner)).z);
  }
  return lowest;
}

// Dropped tumbling, it never enters the floor and never gains energy.
static void check_dropped_plate(double h, double restitution, double friction) {
  carom_vec3 size = cm_vec3(0.3, 0.2, 6e-3);
  carom_builder *b = weighty(restitution, friction);
  put_shape(b, fixed_body(cm_zero3(), cm_qidentity()), floor_shape());
  carom_quat tilt = cm_axis_angle(cm_unit(cm_vec3(1, 2, 0.5)), 0.9);
  int plate = put_moving(b, box_shape(size.x, size.y, size.z), 1, cm_pose(cm_vec3(0, 0, 0.5), tilt));
  world w = finish_world(b);
  carom_state_set_velocity(w.model, w.state, plate, cm_vec3(0.3, 0, -1), cm_vec3(3, -8, 5));
  double least = energy_of(&w), scale = least;
  carom_stepper *stepper = moreau(&w, h);
  for (int i = 0; i < (int)lround(1 / h); i++) {
    step_once(stepper, w.state);
    double energy = energy_of(&w);
    CHECK_AT_MOST(-lowest_corner(w.state, plate, cm_scale(0.5, size)), 1e-6 * size.z);
    CHECK_AT_MOST(energy - least, 1e-3 * scale);
    least = fmin(least, energy);
  }
  carom_stepper_destroy(stepper);
  free_world(&w);
}

TEST(a_thin_plate_stays_above_the_floor) {
  check_dropped_plate(5e-3, 0, 0.5);
  check_dropped_plate(5e-4, 0, 0);
  check_dropped_plate(2e-3, 0.5, 0.3);
}

// v^2/(2 mu g), and mu m g times that is lost to friction.
TEST(a_block_slides_as_far_as_it_must) {
  double mu = 0.3, speed = 2, h = 5e-3;
  carom_builder *b = weighty(0, mu);
  put_shape(b, fixed_body(cm_zero3(), cm_qidentity()), floor_shape());
  int block = put_moving(b, box_shape(0.4, 0.4, 0.1), 3, upright(0, 0.05));
  world w = finish_world(b);
  carom_state_set_velocity(w.model, w.state, block, cm_vec3(speed, 0, 0), cm_zero3());
  carom_stepper *stepper = moreau(&w, h);
  double friction = 0, restitution = 0;
  for (int i = 0; i < 200; i++) {
    carom_step_report report = step_once(stepper, w.state);
    friction += report.friction_loss, restitution += report.restitution_loss;
  }
  CHECK_NEAR(w.state->x[block].x, speed * speed / (2 * mu * g0), mu * g0 * h * h);
  CHECK_NEAR(friction, 0.5 * 3 * speed * speed, 1e-5);
  CHECK_NEAR(restitution, 0, 1e-9);
  carom_stepper_destroy(stepper);
  free_world(&w);
}

// A thousand times its mass on a small box: both stay.
TEST(a_heavy_box_rests_on_a_light_one_long) {
  carom_builder *b = weighty(0, 0.5);
  put_shape(b, fixed_body(cm_zero3(), cm_qidentity()), floor_shape());
  int light = put_moving(b, box_shape(0.2, 0.2, 0.1), 1, upright(0, 0.05));
  int heavy = put_moving(b, box_shape(0.3, 0.3, 0.3), 1e3, upright(0, 0.25));
  world w = finish_world(b);
  carom_stepper *stepper = moreau(&w, 2e-3);
  for (int i = 0; i < 500; i++) step_once(stepper, w.state);
  CHECK_NEAR(w.state->x[light].z, 0.05, 1e-9);
  CHECK_NEAR(w.state->x[heavy].z, 0.25, 1e-9);
  carom_stepper_destroy(stepper);
  free_world(&w);
}

// One centimetre too low: moved up, not shot up.
TEST(a_start_that_overlaps_makes_no_velocity) {
  carom_builder *b = weighty(0, 0);
  put_shape(b, fixed_body(cm_zero3(), cm_qidentity()), floor_shape());
  int ball = put_moving(b, sphere_shape(0.1), 1, upright(0, 0.09));
  world w = finish_world(b);
  carom_stepper *stepper = moreau(&w, 1e-3);
  carom_step_report report = step_once(stepper, w.state);
  CHECK_NEAR(w.state->x[ball].z, 0.1, 1e-7);
  CHECK_NEAR(carom_kinetic_energy(w.model, w.state), 0, 1e-9);
  CHECK_NEAR(report.projection_energy, g0 * 0.01, 1e-6);
  carom_stepper_destroy(stepper);
  free_world(&w);
}

// ---- fast bodies ----------------------------------------------------------------------------------------------------

// Momentum and Newton's law tell both velocities.
static void check_bullet(double h, double restitution) {
  double m = 0.01, M = 15, v = 1000;
  carom_builder *b = new_builder();
  put_material(b, restitution, 0);
  int plate = put_moving(b, box_shape(1, 1, 2e-3), M, upright(0, 0));
  int bullet = put_moving(b, sphere_shape(4e-3), m, upright(0, 0.5003));
  world w = finish_world(b);
  carom_state_set_velocity(w.model, w.state, bullet, cm_vec3(0, 0, -v), cm_zero3());
  carom_stepper *stepper = moreau(&w, h);
  for (int i = 0; i < (int)lround(0.02 / h); i++) step_once(stepper, w.state);
  double after = -v + (1 + restitution) * v * M / (m + M), common = -(1 + restitution) * v * m / (m + M);
  CHECK(w.state->x[bullet].z - w.state->x[plate].z >= 4.9999e-3);
  CHECK_NEAR(carom_state_velocity(w.model, w.state, bullet).z, after, 1e-6 * v);
  CHECK_NEAR(carom_state_velocity(w.model, w.state, plate).z, common, 1e-6 * v);
  carom_stepper_destroy(stepper);
  free_world(&w);
}

TEST(a_bullet_does_not_pass_a_plate) {
  for (int k = 0; k < 3; k++) {
    check_bullet(1e-3, 0.5 * k);
    check_bullet(1e-2, 0.5 * k);
    check_bullet(1e-5, 0.5 * k);
  }
}

// ---- motors ---------------------------------------------------------------------------------------------------------

// What a motor of position does is what the arm has: kinks in its schedule are impulses that it gives.
TEST(a_motor_of_position_pays_for_what_it_moves) {
  carom_builder *b = weighty(0, 0);
  int arm = put_moving(b, box_shape(0.4, 0.05, 0.05), 2, upright(0.2, 0.8));
  carom_joint_def joint = carom_joint_default();
  joint.kind = CAROM_JOINT_REVOLUTE, joint.at_start = true;
  joint.body[0] = CAROM_WORLD, joint.body[1] = arm;
  joint.point[0] = cm_vec3(0, 0, 0.8), joint.axis[0] = cm_vec3(0, -1, 0);
  const carom_knot knots[] = {{0, 0}, {0.05, 0}, {0.2, 1.2}, {0.25, 1.2}};
  joint.turn.motor = CAROM_MOTOR_POSITION, joint.turn.motor_value = 1;
  joint.turn.knots = knots, joint.turn.knot_count = 4;
  REQUIRE(carom_builder_add_joint(b, &joint) >= 0);
  world w = finish_world(b);
  double start = energy_of(&w), work = 0, most = 0;
  carom_stepper *stepper = moreau(&w, 1e-3);
  for (int i = 0; i < 300; i++) {
    carom_step_report report = step_once(stepper, w.state);
    work += report.work;
    most = fmax(most, fabs(energy_of(&w) - start - work));
    CHECK_AT_MOST(report.constraint, 1e-9);
  }
  CHECK_NEAR(w.state->x[arm].z, 0.8 + 0.2 * sin(1.2), 1e-9);
  CHECK_AT_MOST(most, 1e-2);
  CHECK_NEAR(work, 2 * g0 * 0.2 * sin(1.2), 1e-2);
  carom_stepper_destroy(stepper);
  free_world(&w);
}

// ---- collisions with friction ---------------------------------------------------------------------------------------

// A box that tumbles on a rough floor at e = 1: Newton's law with friction makes energy by itself (Kane and Levinson
// 1985), and corners that land while another one touches lose it. It may only fall, and not by a plastic landing.
TEST(an_elastic_box_that_tumbles_on_a_rough_floor_makes_no_energy) {
  for (int k = 0; k < 6; k++) {
    carom_builder *b = weighty(1, 0.3);
    put_shape(b, fixed_body(cm_zero3(), cm_qidentity()), floor_shape());
    int box = put_moving(b, box_shape(0.2, 0.12, 0.08), 1, upright(0, 0.4 + 0.03 * k));
    world w = finish_world(b);
    carom_state_set_velocity(w.model, w.state, box, cm_vec3(0.3 * k, -0.5, 0), cm_vec3(5 + k, 7 - 2 * k, 3));
    carom_stepper *stepper = moreau(&w, 2e-3);
    double least = energy_of(&w), start = least;
    for (int i = 0; i < 400; i++) {
      step_once(stepper, w.state);
      CHECK_AT_MOST(energy_of(&w) - least, 5e-3 * start);
      least = fmin(least, energy_of(&w));
    }
    carom_stepper_destroy(stepper);
    free_world(&w);
  }
}

// Without friction nothing may be lost either, however many corners land within a step.
TEST(an_elastic_rod_that_clatters_on_ice_keeps_its_energy) {
  carom_builder *b = weighty(1, 0);
  put_shape(b, fixed_body(cm_zero3(), cm_qidentity()), floor_shape());
  int rod = put_moving(b, box_shape(0.4, 0.02, 0.02), 1, upright(0, 0.1));
  world w = finish_world(b);
  carom_state_set_velocity(w.model, w.state, rod, cm_vec3(0, 0, -1), cm_vec3(0, 12, 1));
  double start = energy_of(&w);
  carom_stepper *stepper = moreau(&w, 2e-3);
  for (int i = 0; i < 500; i++) step_once(stepper, w.state);
  CHECK_NEAR(energy_of(&w), start, 5e-3 * start);
  carom_stepper_destroy(stepper);
  free_world(&w);
}

// ---- springs --------------------------------------------------------------------------------------------------------

static void add_spring(carom_builder *b, int body, double stiffness, double damping, double rest_length) {
  carom_spring_def spring = {
      .body = {body, CAROM_WORLD}, .stiffness = stiffness, .damping = damping, .rest_length = rest_length};
  carom_builder_add_spring(b, &spring);
}

// k h^2/m from 1e-2 to 100: the implicit midpoint rule keeps the energy to round-off, and its period is that of
// tan(w h/2) = w0 h/2.
TEST(springs_keep_their_energy_however_stiff) {
  const double stiffness[] = {1e4, 1e6, 1e8}, h = 1e-3;
  for (int k = 0; k < 3; k++) {
    carom_builder *b = new_builder();
    int block = put_moving(b, box_shape(0.1, 0.1, 0.1), 1, upright(1.01, 0));
    add_spring(b, block, stiffness[k], 0, 1);
    world w = finish_world(b);
    double start = energy_of(&w), rate = 2 / h * atan(0.5 * h * sqrt(stiffness[k]));
    carom_stepper *stepper = moreau(&w, h);
    for (int i = 1; i <= 200; i++) {
      step_once(stepper, w.state);
      CHECK_NEAR(energy_of(&w), start, 1e-9 * start);
      CHECK_NEAR(w.state->x[block].x - 1, 0.01 * cos(rate * h * i), 1e-8);
    }
    carom_stepper_destroy(stepper);
    free_world(&w);
  }
}

// c h/m = 100: what is overdamped creeps back, x = s exp(-k t/c), and the dampers' work is the energy that is gone.
TEST(strong_dampers_are_followed_and_booked) {
  carom_builder *b = new_builder();
  int block = put_moving(b, box_shape(0.1, 0.1, 0.1), 1, upright(1.1, 0));
  add_spring(b, block, 1e5, 1e5, 1);
  world w = finish_world(b);
  double start = energy_of(&w), work = 0;
  carom_stepper *stepper = moreau(&w, 1e-3);
  for (int i = 0; i < 500; i++) work += step_once(stepper, w.state).work;
  CHECK_NEAR(w.state->x[block].x - 1, 0.1 * exp(-0.5), 1e-3 * 0.1);
  CHECK_NEAR(energy_of(&w) - work, start, 1e-9 * start);
  carom_stepper_destroy(stepper);
  free_world(&w);
}

// Two bodies that spin about each other on a stiff spring between points off their centres: momenta to round-off.
TEST(a_stiff_spring_between_bodies_keeps_momenta_and_energy) {
  carom_builder *b = new_builder();
  int one = put_moving(b, box_shape(0.1, 0.1, 0.1), 1, upright(0.5, 0));
  int two = put_moving(b, box_shape(0.1, 0.1, 0.1), 2, upright(-0.5, 0));
  carom_spring_def spring = {
      .body = {one, two}, .point = {cm_vec3(0, 0.03, 0), cm_vec3(0.04, 0, 0)}, .stiffness = 6.25e6, .rest_length = -1};
  carom_builder_add_spring(b, &spring);
  world w = finish_world(b);
  carom_state_set_velocity(w.model, w.state, one, cm_vec3(0, 1, 0), cm_zero3());
  carom_state_set_velocity(w.model, w.state, two, cm_vec3(0, -0.5, 0), cm_vec3(0, 0, 3));
  double start = energy_of(&w);
  carom_vec3 l = carom_angular_momentum(w.model, w.state);
  carom_stepper *stepper = moreau(&w, 4e-3);
  for (int i = 0; i < 500; i++) step_once(stepper, w.state);
  CHECK_AT_MOST(cm_norm(cm_sub(carom_angular_momentum(w.model, w.state), l)), 1e-9 * cm_norm(l));
  CHECK_AT_MOST(cm_norm(cm_add(w.state->p[one], w.state->p[two])), 1e-11);
  CHECK_NEAR(energy_of(&w), start, 1e-2 * start);
  carom_stepper_destroy(stepper);
  free_world(&w);
}

// ---- mass ratios ----------------------------------------------------------------------------------------------------

TEST(friction_under_a_heavy_box_is_in_its_cone_long) {
  const double ratio[] = {1e4, 1e5, 1e6};
  for (int k = 0; k < 3; k++) {
    carom_builder *b = weighty(0, 0.5);
    put_shape(b, fixed_body(cm_zero3(), cm_qidentity()), floor_shape());
    put_moving(b, box_shape(0.2, 0.2, 0.1), 1, upright(0, 0.05));
    int heavy = put_moving(b, box_shape(0.3, 0.3, 0.2), ratio[k], upright(0, 0.2));
    world w = finish_world(b);
    carom_stepper *stepper = moreau(&w, 1e-3);
    for (int i = 0; i < (k == 0 ? 80 : 12); i++) {
      carom_step_report report = step_once(stepper, w.state);
      for (int e = 0; e < report.event_count; e++) {  // friction in its cone, however little presses
        carom_vec3 n = report.events[e].normal, J = report.events[e].impulse;
        double press = cm_dot(J, n);
        CHECK_AT_MOST(cm_norm(cm_axpy(J, -press, n)), (0.5 + 1e-9) * press);
      }
    }
    CHECK_NEAR(w.state->x[heavy].z, 0.2, 1e-7);
    carom_stepper_destroy(stepper);
    free_world(&w);
  }
}

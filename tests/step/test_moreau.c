// The integrator `moreau` against hand-worked steps, analytic motions and things that must stand still.
#include "fixtures.h"

static const double g0 = 9.81;

// ---- worlds ---------------------------------------------------------------------------------------------------------

static int add_box(carom_builder *b, carom_vec3 size, double mass, carom_pose pose, bool fixed) {
  carom_body_def def = carom_body_default();
  def.mass = fixed ? 0 : mass;
  def.pose = pose;
  def.fixed = fixed;
  return put_shape(b, def, box_shape(size.x, size.y, size.z));
}

static int add_ball(carom_builder *b, double radius, double mass, carom_vec3 at) {
  carom_body_def def = carom_body_default();
  def.mass = mass;
  def.pose.p = at;
  return put_shape(b, def, sphere_shape(radius));
}

static int add_floor(carom_builder *b, carom_quat tilt) {
  return put_shape(b, fixed_body(cm_zero3(), tilt), floor_shape());
}

static carom_step_options moreau_options(double h) {
  carom_step_options o = carom_step_default_options();
  o.integrator = "moreau";
  o.step = h;
  return o;
}

static carom_step_report step_once(carom_stepper *stepper, carom_state *state) {
  carom_step_report report;
  carom_error error = {0};
  if (carom_stepper_step(stepper, state, &report, &error) != CAROM_OK) {
    fprintf(stderr, "step: %s\n", error.message);
    exit(1);
  }
  return report;
}

static double contact_impulse(const carom_step_report *report) {
  double sum = 0;
  for (int i = 0; i < report->event_count; i++) sum += cm_dot(report->events[i].impulse, report->events[i].normal);
  return sum;
}

// ---- the particle at a wall (Trinkle 2004, eqs. 7-11) --------------------------------------------------------------

TEST(a_particle_at_a_wall_gets_impulses_4_2_1) {
  carom_builder *b = new_builder();
  put_material(b, 0, 0);
  carom_builder_set_gravity(b, cm_vec3(0, 0, -1));
  add_floor(b, cm_qidentity());
  add_ball(b, 0.25, 1, cm_vec3(0, 0, 1.25));
  world w = finish_world(b);
  carom_state_set_velocity(w.model, w.state, 1, cm_vec3(0, 0, -4), cm_zero3());
  carom_step_options options = moreau_options(1);
  options.alpha = 1;
  carom_stepper *stepper = stepper_by(&w, &options);
  const double impulses[] = {4, 2, 1, 1}, velocities[] = {-1, 0, 0, 0};
  for (int i = 0; i < 4; i++) {
    carom_step_report report = step_once(stepper, w.state);
    CHECK_NEAR(contact_impulse(&report), impulses[i], 1e-14);
    CHECK_NEAR(carom_state_velocity(w.model, w.state, 1).z, velocities[i], 1e-14);
    CHECK_NEAR(w.state->x[1].z - 0.25, 0, 1e-14);
  }
  carom_stepper_destroy(stepper);
  free_world(&w);
}

TEST(a_wall_that_comes_up_gives_4_5) {
  carom_builder *b = new_builder();
  put_material(b, 0, 0);
  carom_builder_set_gravity(b, cm_vec3(0, 0, -1));
  carom_drive_def drive = carom_drive_default();
  drive.body = add_floor(b, cm_qidentity());
  drive.velocity = cm_vec3(0, 0, 0.5);
  carom_builder_add_drive(b, &drive);
  add_ball(b, 0.25, 1, cm_vec3(0, 0, 1.25));
  world w = finish_world(b);
  carom_state_set_velocity(w.model, w.state, 1, cm_vec3(0, 0, -4), cm_zero3());
  carom_step_options options = moreau_options(1);
  options.alpha = 1;
  carom_stepper *stepper = stepper_by(&w, &options);
  carom_step_report report = step_once(stepper, w.state);
  CHECK_NEAR(contact_impulse(&report), 4.5, 1e-14);
  CHECK_NEAR(carom_state_velocity(w.model, w.state, 1).z, -0.5, 1e-14);
  CHECK_NEAR(w.state->x[1].z, 0.75, 1e-14);
  CHECK_NEAR(w.state->x[0].z, 0.5, 1e-14);
  carom_stepper_destroy(stepper);
  free_world(&w);
}

// ---- friction -------------------------------------------------------------------------------------------------------

// A block on an incline sticks below the friction angle and slides above it with g (sin - mu cos).
static double slide_down(double tangent, double mu, int directions, double heading, carom_vec3 *end) {
  carom_builder *b = new_builder();
  double angle = atan(tangent);
  carom_quat tilt = cm_axis_angle(cm_vec3(0, 1, 0), angle);
  put_material(b, 0, mu);
  carom_builder_set_gravity(b, cm_vec3(0, 0, -g0));
  add_floor(b, tilt);
  carom_quat q = cm_qmul(tilt, cm_axis_angle(cm_vec3(0, 0, 1), heading));
  add_box(b, cm_vec3(0.4, 0.4, 0.2), 2, cm_pose(cm_rotate(tilt, cm_vec3(0, 0, 0.1)), q), false);
  world w = finish_world(b);
  carom_step_options options = moreau_options(0.01);
  options.friction_directions = directions;
  carom_stepper *stepper = stepper_by(&w, &options);
  carom_vec3 start = w.state->x[1];
  for (int i = 0; i < 100; i++) step_once(stepper, w.state);
  carom_vec3 moved = cm_sub(w.state->x[1], start);
  *end = cm_unrotate(tilt, moved);
  double speed = cm_norm(carom_state_velocity(w.model, w.state, 1));
  carom_stepper_destroy(stepper);
  free_world(&w);
  return speed;
}

TEST(incline_sticks_and_slides_as_it_must) {
  const double mu = 0.5;
  carom_vec3 moved;
  CHECK_AT_MOST(slide_down(0.99 * mu, mu, 4, 0.3, &moved), 1e-10);
  CHECK_AT_MOST(cm_norm(moved), 1e-9);
  double angle = atan(1.01 * mu), a = g0 * (sin(angle) - mu * cos(angle));
  CHECK_NEAR(slide_down(1.01 * mu, mu, 4, 0, &moved), a, 1e-9);
}

// With four directions friction across them is too weak; the exact cone does not care which way things slide.
TEST(exact_cone_sticks_in_every_direction) {
  const double mu = 0.5;
  carom_vec3 moved;
  for (int i = 0; i < 4; i++) {
    double heading = 0.1 + 0.4 * i;
    CHECK_AT_MOST(slide_down(0.99 * mu, mu, 0, heading, &moved), 1e-9);
    double angle = atan(1.2 * mu), a = g0 * (sin(angle) - mu * cos(angle));
    CHECK_NEAR(slide_down(1.2 * mu, mu, 0, heading, &moved), a, 1e-6);
    CHECK_AT_MOST(fabs(moved.y), 1e-6);
  }
}

// ---- stick and slip (Gavrea 2006, 2.2.3) ---------------------------------------------------------------------------

enum { KNOTS = 1001 };

static world stick_slip_world(void) {
  static carom_knot knots[KNOTS];
  carom_builder *b = new_builder();
  put_material(b, 0, 0.8);
  carom_builder_set_gravity(b, cm_vec3(0, 0, -g0));
  add_floor(b, cm_qidentity());
  add_box(b, cm_vec3(0.5, 0.5, 0.2), 1, cm_pose(cm_vec3(3, 0, 0.1), cm_qidentity()), false);
  carom_force_def force = carom_force_default();
  for (int i = 0; i < KNOTS; i++) knots[i] = (carom_knot){0.01 * i, cos(0.01 * i)};
  force.body = 1;
  force.point = cm_vec3(0, 0, -0.1);  // where the friction acts: no moment
  force.force = cm_vec3(8, 0, 0);
  force.knots = knots;
  force.knot_count = KNOTS;
  carom_builder_add_force(b, &force);
  return finish_world(b);
}

// The block slips from t = 0 on, since 8 > mu g = 7.848: v = 8 sin t - mu g t as long as that is positive, then sticks
// while |8 cos t| <= mu g, then slips the other way, and so on. Integrated here in steps of 1e-5.
static double stick_slip_position(double until) {
  const double mu_g = 0.8 * g0, dt = 1e-5;
  double x = 3, v = 0;
  for (double t = 0; t < until - dt / 2; t += dt) {
    double f = 8 * cos(t + dt / 2), next;
    if (v == 0 && fabs(f) <= mu_g)
      next = 0;
    else {
      double direction = v != 0 ? (v > 0 ? 1 : -1) : (f > 0 ? 1 : -1);
      next = v + dt * (f - mu_g * direction);
      if (next * direction < 0) next = 0;
    }
    x += dt * 0.5 * (v + next);
    v = next;
  }
  return x;
}

TEST(stick_slip_block) {
  const double h = 0.01;
  world w = stick_slip_world();
  carom_step_options options = moreau_options(h);
  options.alpha = 0.5;
  carom_stepper *stepper = stepper_by(&w, &options);
  int stuck = 0;
  double ringing = 0, before = w.state->x[1].x, worst = 0;
  for (int i = 0; i < 1000; i++) {
    step_once(stepper, w.state);
    double mean = (w.state->x[1].x - before) / h, v = carom_state_velocity(w.model, w.state, 1).x;
    before = w.state->x[1].x;
    if (fabs(8 * cos(w.state->time - h / 2)) < 0.8 * g0 - 0.2 && fabs(mean) < 1e-9) {
      CHECK_AT_MOST(fabs(mean), 1e-12);
      ringing = fmax(ringing, fabs(v));
      stuck++;
    }
    if (i % 100 == 99) worst = fmax(worst, fabs(w.state->x[1].x - stick_slip_position(w.state->time)));
  }
  CHECK(stuck > 600);
  CHECK(ringing > 1e-6);       // v^l rings where v^{l,alpha} is 0
  CHECK_AT_MOST(worst, 1e-3);  // O(h) with h = 0.01
  carom_stepper_destroy(stepper);
  free_world(&w);
}

// ---- restitution ----------------------------------------------------------------------------------------------------

// The largest error of the times of the first six bounces.
static double bounce(bool poisson, double alpha, double h) {
  const double e = 0.8, r = 0.1, drop = 1;
  carom_builder *b = new_builder();
  put_material(b, e, 0);
  carom_builder_set_gravity(b, cm_vec3(0, 0, -g0));
  add_floor(b, cm_qidentity());
  add_ball(b, r, 1, cm_vec3(0, 0, r + drop));
  world w = finish_world(b);
  carom_step_options options = moreau_options(h);
  options.alpha = alpha;
  options.poisson = poisson;
  carom_stepper *stepper = stepper_by(&w, &options);
  double fall = sqrt(2 * drop / g0), expected = fall, flight = 2 * e * fall, worst = 0;
  for (int hits = 0; hits < 6 && w.state->time < 5;) {
    carom_step_report report = step_once(stepper, w.state);
    for (int i = 0; i < report.event_count; i++) {
      if (report.events[i].kind != CAROM_EVENT_IMPACT) continue;
      worst = fmax(worst, fabs(report.events[i].time - expected));
      expected += flight;
      flight *= e;
      hits++;
    }
  }
  CHECK(w.state->time < 5);
  carom_stepper_destroy(stepper);
  free_world(&w);
  return worst;
}

// Free flight is a parabola, which alpha = 1/2 follows exactly; alpha = 1 is of first order.
TEST(a_ball_bounces_on_time) {
  CHECK_AT_MOST(bounce(false, 0.5, 1e-3), 1e-9);
  CHECK_AT_MOST(bounce(true, 0.5, 1e-3), 1e-9);
  double coarse = bounce(false, 1, 1e-3), fine = bounce(false, 1, 2.5e-4);
  CHECK_AT_MOST(coarse, 0.03);
  CHECK(coarse / fine > 2.5 && coarse / fine < 6);
}

// A box that overlaps the floor by 10 um parts from it in the course of a step, and on its way meets another, 5 um
// above it, that bounces. Parted within whatever piece of the step was tried, it met that one in pieces of any length,
// so that no moment of their collision was found.
TEST(what_parts_may_meet_what_bounces) {
  carom_builder *b = new_builder();
  int plastic = put_material(b, 0, 0.5), bouncing = put_material(b, 0.5, 0.5);
  carom_builder_set_surface(b, bouncing, plastic, 0.5, 0.5);
  carom_builder_set_gravity(b, cm_vec3(0, 0, -g0));
  add_floor(b, cm_qidentity());
  add_box(b, cm_vec3(0.1, 0.1, 0.1), 1, cm_pose(cm_vec3(0, 0, 0.05 - 10e-6), cm_qidentity()), false);
  carom_body_def def = carom_body_default();
  def.mass = 1;
  def.material = bouncing;
  def.pose.p = cm_vec3(0, 0, 0.15 - 5e-6);
  put_shape(b, def, box_shape(0.1, 0.1, 0.1));
  world w = finish_world(b);
  carom_step_options options = moreau_options(1e-3);
  carom_stepper *stepper = stepper_by(&w, &options);
  CHECK(step_once(stepper, w.state).halvings == 0);
  run_steps(stepper, w.state, 99);
  CHECK_NEAR(w.state->x[1].z, 0.05, 1e-6);
  CHECK_NEAR(w.state->x[2].z, 0.15, 1e-6);
  carom_stepper_destroy(stepper);
  free_world(&w);
}

// ---- things that stand still ----------------------------------------------------------------------------------------

TEST(a_stack_of_ten_boxes_stands) {
  carom_builder *b = new_builder();
  put_material(b, 0, 0.5);
  carom_builder_set_gravity(b, cm_vec3(0, 0, -g0));
  add_floor(b, cm_qidentity());
  for (int i = 0; i < 10; i++)
    add_box(b, cm_vec3(0.2, 0.2, 0.2), 1, cm_pose(cm_vec3(0, 0, 0.1 + 0.2 * i), cm_qidentity()), false);
  world w = finish_world(b);
  carom_step_options options = moreau_options(0.02);
  carom_stepper *stepper = stepper_by(&w, &options);
  for (int i = 0; i < 300; i++) step_once(stepper, w.state);
  for (int i = 1; i <= 10; i++) {
    CHECK_AT_MOST(cm_norm(cm_sub(w.state->x[i], cm_vec3(0, 0, 0.2 * i - 0.1))), 1e-8);
    CHECK_AT_MOST(cm_norm(carom_state_velocity(w.model, w.state, i)), 1e-9);
  }
  carom_stepper_destroy(stepper);
  free_world(&w);
}

// The integrator `exact` at the limits of joints: times of impact against quadratures and closed forms.
#include "exact_fixture.h"
#include "model/joints.h"

static const double G = 9.81, REACH = 0.5, MASS = 1.3, ARM = 0.4, MOMENT = 0.05;

// A bar that hangs on a pin and may swing by REACH to either side; it starts below the pin at a rate.
static world pendulum(double rate, double e) {
  carom_builder *b = new_builder();
  carom_builder_set_gravity(b, cm_vec3(0, 0, -G));
  carom_body_def def = inert_body(MASS, cm_vec3(1.1 * MOMENT, MOMENT, 0.4 * MOMENT));
  def.pose.p = cm_vec3(0.2, -0.1, -ARM);
  def.angular_velocity = cm_vec3(0, rate, 0);
  def.velocity = cm_cross(def.angular_velocity, cm_vec3(0, 0, -ARM));
  carom_joint_def joint = carom_joint_default();
  joint.kind = CAROM_JOINT_REVOLUTE;
  joint.body[0] = CAROM_WORLD, joint.body[1] = carom_builder_add_body(b, &def);
  joint.at_start = true;
  joint.point[0] = cm_vec3(0.2, -0.1, 0);
  joint.axis[0] = cm_vec3(0, 1, 0);
  joint.turn.lower = -REACH, joint.turn.upper = REACH;
  joint.turn.restitution = e;
  carom_builder_add_joint(b, &joint);
  return finish_world(b);
}

static double stiffness_of_pendulum(void) { return MASS * G * ARM / (MOMENT + MASS * ARM * ARM); }

// Time from one limit to the other when they are met at rate w: the integral of 1/sqrt(w^2 + 2 k (cos a - cos REACH))
// over the angle a = REACH sin u, by Simpson's rule.
static double crossing_time(double w) {
  enum { PARTS = 20000 };
  double k = stiffness_of_pendulum(), sum = 0, du = M_PI / PARTS;
  for (int i = 0; i <= PARTS; i++) {
    double u = -M_PI_2 + i * du, a = REACH * sin(u);
    double rate = sqrt(w * w + 4 * k * sin(0.5 * (REACH + a)) * sin(0.5 * (REACH - a)));
    double f = i == 0 || i == PARTS ? 0 : REACH * cos(u) / rate;
    sum += f * (i % 2 ? 4 : 2) / 3;
  }
  return sum * du;
}

// Bounces at both ends, against the quadrature; every one leaves e of the rate.
static void check_pendulum(double e, double h, int steps, int order, double within) {
  const double rate = 4;
  world w = pendulum(rate, e);
  carom_stepper *stepper = exact_stepper_of_order(&w, h, order);
  tally t = run_exact(&w, stepper, steps);
  double met = sqrt(rate * rate - 2 * stiffness_of_pendulum() * (1 - cos(REACH)));
  double next = 0.5 * crossing_time(met), worst = 0;
  for (int i = 0; i < t.impacts; i++) {
    worst = fmax(worst, fabs(t.times[i] - next));
    met *= e;
    next += crossing_time(met);
  }
  if (getenv("CAROM_TEST_VERBOSE"))
    printf("pendulum, e = %g, order %d: %d impacts, off by %.2g s, energy %.2g, overlap %.2g\n", e, order, t.impacts,
           worst, t.energy_error, t.penetration);
  CHECK(t.impacts >= (e == 1 ? 10 : 5));  // the slower, the longer it takes
  CHECK(next > steps * h);                // none was missed
  CHECK_AT_MOST(worst, within);
  CHECK_AT_MOST(t.energy_error, within);
  carom_stepper_destroy(stepper);
  free_world(&w);
}

TEST(pendulum_between_its_limits) {
  check_pendulum(1, 5e-3, 600, 2, 2e-3);
  check_pendulum(1, 5e-3, 600, 6, 1e-10);
}
TEST(pendulum_loses_half_its_rate_at_each_limit) { check_pendulum(0.5, 5e-3, 600, 6, 1e-9); }

// The kinetic energy that is missing is the loss: (1 - e^2) of what there is at the limit.
TEST(loss_at_a_limit_is_that_of_the_rate) {
  world w = pendulum(4, 0.5);
  carom_stepper *stepper = exact_stepper_of_order(&w, 5e-3, 6);
  double J = MOMENT + MASS * ARM * ARM, k = stiffness_of_pendulum();
  double at_limit = 0.5 * J * (16 - 2 * k * (1 - cos(REACH)));
  tally t = run_exact(&w, stepper, 40);  // 0.2 s: one bounce
  CHECK(t.impacts == 1);
  CHECK_NEAR(t.restitution_loss, 0.75 * at_limit, 1e-10);
  CHECK_AT_MOST(t.momentum_error, 1e-12);
  carom_stepper_destroy(stepper);
  free_world(&w);
}

// A ball on a vertical rail with a stop is the bouncing ball: impacts at t0 + 2 v0/g (e + e^2 + ...), rest at the Zeno
// point.
static world railed_ball(double height, double e) {
  carom_builder *b = new_builder();
  carom_builder_set_gravity(b, cm_vec3(0, 0, -G));
  carom_body_def def = inert_body(2, cm_vec3(0.1, 0.1, 0.1));
  def.pose.p = cm_vec3(0.3, 0, height);
  carom_joint_def joint = carom_joint_default();
  joint.kind = CAROM_JOINT_PRISMATIC;
  joint.body[0] = CAROM_WORLD, joint.body[1] = carom_builder_add_body(b, &def);
  joint.point[0] = cm_vec3(0.3, 0, 0);
  joint.axis[0] = joint.axis[1] = cm_vec3(0, 0, 1);
  joint.slide.lower = 0;
  joint.slide.restitution = e;
  carom_builder_add_joint(b, &joint);
  return finish_world(b);
}

TEST(ball_on_a_rail_bounces_until_it_rests) {
  const double height = 0.5, e = 0.8;
  world w = railed_ball(height, e);
  carom_stepper *stepper = exact_stepper_of_order(&w, 1e-2, 2);
  tally t = run_exact(&w, stepper, 400);
  double v = sqrt(2 * G * height), time = v / G, worst = 0;
  for (int i = 0; i < t.impacts; i++) {
    worst = fmax(worst, fabs(t.times[i] - time));
    v *= e;
    time += 2 * v / G;
  }
  if (getenv("CAROM_TEST_VERBOSE"))
    printf("rail: %d impacts, off by %.2g s, rest at %.3g m, %.3g m/s, loss %.12g\n", t.impacts, worst, w.state->x[0].z,
           carom_state_velocity(w.model, w.state, 0).z, t.restitution_loss);
  CHECK(t.impacts > 30);
  CHECK_AT_MOST(worst, 1e-7);  // the last ones are a micrometre per second slow
  CHECK_NEAR(w.state->x[0].z, 0, 2e-11);
  CHECK_AT_MOST(cm_norm(carom_state_velocity(w.model, w.state, 0)), 1e-12);
  CHECK_NEAR(t.restitution_loss, 2 * G * height, 1e-9);
  CHECK_AT_MOST(t.energy_error, 1e-9);
  CHECK_AT_MOST(t.momentum_error, 1e-10);
  carom_stepper_destroy(stepper);
  free_world(&w);
}

// A ball that has come to rest on its stop is lifted when gravity is no longer alone: a spring pulls it up again.
TEST(a_limit_lets_go) {
  carom_builder *b = new_builder();
  carom_body_def def = inert_body(1, cm_vec3(0.1, 0.1, 0.1));
  def.velocity = cm_vec3(-1, 0, 0);
  carom_joint_def joint = carom_joint_default();
  joint.kind = CAROM_JOINT_PRISMATIC;
  joint.body[0] = CAROM_WORLD, joint.body[1] = carom_builder_add_body(b, &def);
  joint.axis[0] = joint.axis[1] = cm_vec3(1, 0, 0);
  joint.slide.lower = -0.1, joint.slide.restitution = 0;
  joint.slide.stiffness = 4, joint.slide.rest = 0.2;
  carom_builder_add_joint(b, &joint);
  world w = finish_world(b);
  carom_stepper *stepper = exact_stepper_of_order(&w, 1e-3, 4);
  tally t = run_exact(&w, stepper, 1600);
  // from -0.1 at rest: x = 0.2 - 0.3 cos(2 (t - t1))
  CHECK(t.impacts == 1);
  CHECK_NEAR(w.state->x[0].x, 0.2 - 0.3 * cos(2 * (1.6 - t.times[0])), 1e-6);
  CHECK_AT_MOST(t.energy_error, 1e-6);
  carom_stepper_destroy(stepper);
  free_world(&w);
}

// A ball drops on a rod that rests on its stop: contact and limit in one impact, and in others later. Energy is kept,
// and the rod never passes the stop.
TEST(ball_meets_a_rod_on_its_stop) {
  carom_builder *b = new_builder();
  int steel = add_material(b, "steel", 1000, 1, 0);
  carom_builder_set_gravity(b, cm_vec3(0, 0, -G));
  const carom_shape *box = box_shape(1, 0.1, 0.1), *ball = NULL;
  carom_shape_create_sphere(0.05, NULL, &ball, NULL);
  carom_part rod_part = part_of(box), ball_part = part_of(ball);
  carom_body_def rod = solid(&rod_part, steel, cm_vec3(0.5, 0, 0));
  carom_body_def drop = solid(&ball_part, steel, cm_vec3(0.9, 0, 0.5));
  carom_joint_def joint = carom_joint_default();
  joint.kind = CAROM_JOINT_REVOLUTE;
  joint.body[0] = CAROM_WORLD, joint.body[1] = carom_builder_add_body(b, &rod);
  carom_builder_add_body(b, &drop);
  joint.at_start = true;
  joint.axis[0] = cm_vec3(0, 1, 0);
  joint.turn.upper = 0, joint.turn.restitution = 1;
  carom_builder_add_joint(b, &joint);
  world w = finish_world(b);
  carom_stepper *stepper = exact_stepper_of_order(&w, 5e-3, 6);
  double start = carom_kinetic_energy(w.model, w.state) + carom_potential_energy(w.model, w.state);
  double fall = sqrt(2 * (0.5 - 0.1) / G), first = NAN, off = 0, overlap = 0;
  int impacts = 0;
  for (int i = 0; i < 200; i++) {
    carom_step_report report = {0};
    carom_joint_limit limit;
    REQUIRE(carom_stepper_step(stepper, w.state, &report, NULL) == CAROM_OK);
    for (int k = 0; k < report.event_count; k++) {
      if (report.events[k].kind != CAROM_EVENT_IMPACT) continue;
      if (impacts++ == 0) first = report.events[k].time;
    }
    double energy = carom_kinetic_energy(w.model, w.state) + carom_potential_energy(w.model, w.state);
    off = fmax(off, fabs(energy - start));
    REQUIRE(carom_joints_limits(w.model, w.state, INFINITY, &limit) == 1);
    overlap = fmax(overlap, fmax(report.penetration, -limit.gap));
  }
  if (getenv("CAROM_TEST_VERBOSE"))
    printf("rod: %d impacts, first off by %.2g s, energy %.2g J, overlap %.2g\n", impacts, first - fall, off, overlap);
  CHECK(impacts >= 4);
  CHECK_NEAR(first, fall, 1e-9);
  CHECK_AT_MOST(off, 1e-9);
  CHECK_AT_MOST(overlap, 1e-10);
  carom_stepper_destroy(stepper);
  free_world(&w);
  carom_shape_release(box);
  carom_shape_release(ball);
}

// A run continued from a checkpoint, with a ball that rests on its stop, is the same bit for bit.
TEST(resting_limits_are_remembered) {
  world w = railed_ball(0.01, 0.3);
  carom_stepper *stepper = exact_stepper_of_order(&w, 1e-2, 2), *other = exact_stepper_of_order(&w, 1e-2, 2);
  run_exact(&w, stepper, 100);
  unsigned char memory[4096];
  size_t size = carom_stepper_memory(stepper, memory, sizeof memory);
  REQUIRE(size <= sizeof memory);
  carom_state *copy = NULL;
  REQUIRE(carom_state_clone(w.state, NULL, &copy, NULL) == CAROM_OK);
  REQUIRE(carom_stepper_recall(other, memory, size, NULL) == CAROM_OK);
  for (int i = 0; i < 20; i++) {
    REQUIRE(carom_stepper_step(stepper, w.state, NULL, NULL) == CAROM_OK);
    REQUIRE(carom_stepper_step(other, copy, NULL, NULL) == CAROM_OK);
  }
  CHECK(memcmp(w.state->x, copy->x, sizeof *copy->x) == 0);
  CHECK(memcmp(w.state->p, copy->p, sizeof *copy->p) == 0);
  carom_state_destroy(copy);
  carom_stepper_destroy(stepper);
  carom_stepper_destroy(other);
  free_world(&w);
}

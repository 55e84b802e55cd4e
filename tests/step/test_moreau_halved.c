// Steps of `moreau` that are taken in halves leave one record. A ball rattles between floor and ceiling, too often for
// one step, so that every step is halved; elsewhere another ball bounces once, and a box rests. A lever meets the stop
// of its joint and another lies on it. What was once seen: the
// impact in the first half was counted and its loss booked, but its event was lost with all others of that half.
#include "fixtures.h"

enum { FLOOR, CEILING, RATTLER, BOUNCER, BOX, SWINGING, LYING };

static const double STEP = 0.1, ROOM = 0.01, SPEED = 30, FALL_SPEED = 1, FALL = 0.03, HALF = 0.5, GRAVITY = 0.1;
static const double LEVER = 0.05, SPIN = 1, TURN = 0.02;  // half the length, speed and way to the stop;

static int put_made_of(carom_builder *b, carom_body_def def, int material, const carom_shape *shape) {
  def.material = material;
  return put_shape(b, def, shape);
}

static carom_body_def ball_at(carom_vec3 at, carom_vec3 velocity) {
  carom_body_def def = carom_body_default();
  def.mass = 1;
  def.pose.p = at;
  def.velocity = velocity;
  return def;
}

// Turns down towards a stop that is `room` (rad) away.
static void put_lever(carom_builder *b, int material, double y, double spin, double room) {
  carom_joint_def joint = carom_joint_default();
  carom_body_def def = ball_at(cm_vec3(3 + LEVER, y, 0.1), cm_vec3(0, 0, -LEVER * spin));
  def.angular_velocity = cm_vec3(0, spin, 0);
  joint.kind = CAROM_JOINT_REVOLUTE;
  joint.body[0] = CAROM_WORLD;
  joint.body[1] = put_made_of(b, def, material, box_shape(2 * LEVER, 0.02, 0.02));
  joint.at_start = true;
  joint.point[0] = cm_vec3(3, y, 0.1);
  joint.axis[0] = cm_vec3(0, 1, 0);
  joint.turn.lower = -1;
  joint.turn.upper = room;
  joint.turn.restitution = room > 0 ? HALF : 0;
  carom_builder_add_joint(b, &joint);
}

// The rattler's way back and forth is 2 ROOM long: 300 impacts a step, of about two pieces each, where 400 are the
// most.
static world rattling_world(void) {
  carom_builder *b = new_builder();
  carom_builder_set_gravity(b, cm_vec3(0, 0, -GRAVITY));
  int wall = put_material(b, 0, 0), rattler = put_material(b, 0, 0), bouncer = put_material(b, 0, 0);
  int box = put_material(b, 0, 0.5);
  carom_builder_set_surface(b, wall, rattler, 1, 0);
  carom_builder_set_surface(b, wall, bouncer, HALF, 0);
  carom_builder_set_surface(b, wall, box, 0, 0.5);
  put_made_of(b, fixed_body(cm_zero3(), cm_qidentity()), wall, floor_shape());
  carom_quat over = cm_axis_angle(cm_vec3(1, 0, 0), acos(-1));
  put_made_of(b, fixed_body(cm_vec3(0, 0, 0.2 + ROOM), over), wall, floor_shape());
  put_made_of(b, ball_at(cm_vec3(0, 0, 0.1 + 0.4 * ROOM), cm_vec3(0, 0, SPEED)), rattler, sphere_shape(0.1));
  put_made_of(b, ball_at(cm_vec3(1, 0, 0.02 + FALL), cm_vec3(0, 0, -FALL_SPEED)), bouncer, sphere_shape(0.02));
  put_made_of(b, ball_at(cm_vec3(2, 0, 0.05), cm_zero3()), box, box_shape(0.1, 0.1, 0.1));
  put_lever(b, box, 0, SPIN, TURN);
  put_lever(b, box, 1, 0, 0);
  return finish_world(b);
}

static carom_step_options options_for(double h) {
  carom_step_options o = carom_step_default_options();
  o.integrator = "moreau";
  o.step = h;
  return o;
}

static carom_step_report step_once(carom_stepper *stepper, carom_state *state) {
  carom_step_report report = {0};
  carom_error error = {0};
  if (carom_stepper_step(stepper, state, &report, &error) != CAROM_OK)
    test_fail(__FILE__, __LINE__, "%s", error.message);
  return report;
}

static int impacts_of(const carom_step_report *report, int body, const carom_contact_event **last) {
  int count = 0;
  for (int i = 0; i < report->event_count; i++)
    if (report->events[i].kind == CAROM_EVENT_IMPACT && report->events[i].body_a == body)
      count++, *last = &report->events[i];
  return count;
}

TEST(every_impact_of_a_halved_step_has_its_event) {
  world w = rattling_world();
  carom_step_options options = options_for(STEP);
  carom_stepper *stepper = stepper_by(&w, &options);
  const carom_contact_event *hit = NULL;
  carom_step_report report = step_once(stepper, w.state);
  CHECK(report.halvings == 1);
  int others = 2;  // the bouncer and the stop, which has no event
  CHECK(impacts_of(&report, RATTLER, &hit) == report.collisions - others);
  CHECK_NEAR(report.collisions - others, SPEED * STEP / ROOM, 2);
  CHECK(impacts_of(&report, BOUNCER, &hit) == 1);
  REQUIRE(hit != NULL);
  // FALL = v t + g t^2/2, with g small
  double t = (sqrt(FALL_SPEED * FALL_SPEED + 2 * GRAVITY * FALL) - FALL_SPEED) / GRAVITY, v = FALL_SPEED + GRAVITY * t;
  CHECK_NEAR(hit->time, t, 1e-4);
  CHECK_NEAR(hit->impulse.z, (1 + HALF) * v, 1e-4);
  // about its hinge, a little faster for the fall
  double inertia = LEVER * LEVER + (4 * LEVER * LEVER + 0.02 * 0.02) / 12;
  double swing = 0.5 * inertia * SPIN * SPIN + GRAVITY * LEVER * TURN;
  CHECK_NEAR(report.restitution_loss, (1 - HALF * HALF) * (0.5 * v * v + swing), 1e-4);
  for (int i = 1; i < report.event_count; i++) CHECK(report.events[i - 1].time <= report.events[i].time);
  carom_stepper_destroy(stepper);
  free_world(&w);
}

// The same half steps, asked for.
TEST(a_halved_step_is_two_half_steps) {
  world halved = rattling_world(), asked = rattling_world();
  carom_step_options options = options_for(STEP), half = options_for(0.5 * STEP);
  carom_stepper *first = stepper_by(&halved, &options), *second = stepper_by(&asked, &half);
  for (int i = 0; i < 3; i++) {
    carom_step_report whole = step_once(first, halved.state), parts[2];
    int events = 0, collisions = 0;
    double losses = 0, impulse = 0;
    for (int k = 0; k < 2; k++) {
      parts[k] = step_once(second, asked.state);
      for (int e = 0; e < parts[k].event_count; e++, events++) {
        REQUIRE(events < whole.event_count);
        REQUIRE(fabs(whole.events[events].time - parts[k].events[e].time) <= 1e-12);
        CHECK(whole.events[events].body_a == parts[k].events[e].body_a);
        CHECK(whole.events[events].kind == parts[k].events[e].kind);
      }
      collisions += parts[k].collisions;
      losses += parts[k].restitution_loss + parts[k].friction_loss;
      impulse += parts[k].impulse.z;
    }
    CHECK(whole.halvings == 1 && whole.event_count == events && whole.collisions == collisions);
    CHECK_NEAR(whole.restitution_loss + whole.friction_loss, losses, 1e-12);
    CHECK_NEAR(whole.impulse.z, impulse, 1e-9);
    for (int body = RATTLER; body <= LYING; body++)
      CHECK_AT_MOST(cm_norm(cm_sub(halved.state->x[body], asked.state->x[body])), 1e-12);
  }
  carom_stepper_destroy(first);
  carom_stepper_destroy(second);
  free_world(&halved);
  free_world(&asked);
}

// What box and lever weigh is remembered as forces: half steps leave the right impulses for the whole one that follows.
// One halved step only: the round-off of thousands of tiny ones adds up to 1e-12 of a force, and is then solved for.
TEST(a_whole_step_after_halved_ones_begins_right) {
  world w = rattling_world();
  carom_step_options options = options_for(STEP);
  carom_stepper *stepper = stepper_by(&w, &options);
  CHECK(step_once(stepper, w.state).halvings == 1);
  w.state->x[RATTLER].z = 0.1 + 0.5 * ROOM;
  carom_state_set_velocity(w.model, w.state, RATTLER, cm_zero3(), cm_zero3());
  carom_step_report report = step_once(stepper, w.state);
  CHECK(report.halvings == 0 && report.collisions == 0);
  CHECK(report.iterations == 0);
  CHECK_NEAR(report.restitution_loss + report.friction_loss, 0, 1e-14);
  CHECK_NEAR(w.state->x[BOX].z, 0.05, 1e-14);
  CHECK_NEAR(w.state->x[LYING].z, 0.1, 1e-14);
  carom_stepper_destroy(stepper);
  free_world(&w);
}

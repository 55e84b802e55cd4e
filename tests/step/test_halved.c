// Steps of `exact`, `potential` and `newmark` that are taken in halves leave one record. A ball falls on a rough floor
// and bounces, a box rests on it; far away something is too fast for the step, so that every step is tried whole, given
// up when much has been booked already, and taken in halves. The same half steps, asked for, must tell the same.
#include "fixtures.h"

enum { BALL, BOX, FAR, FLOOR };  // what is too fast comes after what touches

static const double STEP = 1e-3, STRETCH = 1e-3;

typedef struct halved_case {
  const char *integrator;
  carom_vec3 spin;       // of the body far away, rad/s; or
  double far_stiffness;  // of the spring on it, N/m
  carom_quadrature quadrature;
  int max_iterations;
  double stiffness;  // of contacts, N/m
} halved_case;

// With so few iterations the spring does not settle by the midpoint rule in a whole step, but in half a one; and
// newmark follows half of the turn only.
static const halved_case cases[] = {
    {.integrator = "exact", .far_stiffness = 1.6e6, .quadrature = CAROM_QUADRATURE_MIDPOINT, .max_iterations = 18},
    {.integrator = "newmark", .spin = {800, 560, 800}, .stiffness = 5e4},
    {.integrator = "potential",
     .far_stiffness = 1.6e6,
     .quadrature = CAROM_QUADRATURE_MIDPOINT,
     .max_iterations = 18,
     .stiffness = 5e4},
};
enum { CASES = sizeof cases / sizeof *cases };

static carom_body_def body_of(double mass, carom_vec3 at, carom_vec3 velocity, int material) {
  carom_body_def def = carom_body_default();
  def.mass = mass;
  def.pose.p = at;
  def.velocity = velocity;
  def.material = material;
  return def;
}

static world halved_world(const halved_case *c) {
  carom_builder *b = new_builder();
  int wood = put_material(b, 0.3, 0.4);
  carom_builder_set_gravity(b, cm_vec3(0, 0, -9.81));
  put_shape(b, body_of(1, cm_vec3(0, 0, 0.1 + 0.0123), cm_vec3(0.3, 0, -1), wood), sphere_shape(0.1));
  put_shape(b, body_of(1, cm_vec3(1, 0, 0.05), cm_vec3(0.1, 0, 0), wood), box_shape(0.1, 0.1, 0.1));
  carom_body_def fast = inert_body(1, cm_vec3(1, 1, 1.8));
  fast.pose.p = cm_vec3(100, 0, 50);
  fast.velocity.y = sqrt(c->far_stiffness * STRETCH);  // round its spring
  fast.angular_velocity = c->spin;
  carom_builder_add_body(b, &fast);
  carom_body_def floor = fixed_body(cm_zero3(), cm_qidentity());
  floor.material = wood;
  put_shape(b, floor, floor_shape());
  if (c->far_stiffness > 0) {
    carom_spring_def s = carom_spring_default();
    s.body[0] = FAR, s.point[1] = cm_vec3(99, 0, 50), s.stiffness = c->far_stiffness, s.rest_length = 1 - STRETCH;
    carom_builder_add_spring(b, &s);
  }
  return finish_world(b);
}

static carom_stepper *stepper_of(const halved_case *c, const world *w, double h) {
  carom_step_options o = carom_step_default_options();
  o.integrator = c->integrator;
  o.step = h;
  o.quadrature = c->quadrature;
  if (c->max_iterations > 0) o.max_iterations = c->max_iterations;
  o.stiffness = c->stiffness;
  return stepper_by(w, &o);
}

static carom_step_report step_once(carom_stepper *stepper, carom_state *state) {
  carom_step_report report = {0};
  carom_error error = {0};
  if (carom_stepper_step(stepper, state, &report, &error) != CAROM_OK)
    test_fail(__FILE__, __LINE__, "%s", error.message);
  return report;
}

// What two half steps told together.
typedef struct record {
  int collisions, events;
  double restitution_loss, friction_loss, work;
  carom_vec3 impulse;
} record;

static void add_half(record *sum, const carom_step_report *half, const carom_step_report *whole) {
  for (int i = 0; i < half->event_count; i++, sum->events++) {
    REQUIRE(sum->events < whole->event_count);
    const carom_contact_event *a = &half->events[i], *b = &whole->events[sum->events];
    CHECK(a->kind == b->kind && a->body_a == b->body_a && a->body_b == b->body_b);
    CHECK_NEAR(a->time, b->time, 1e-12);
    CHECK_AT_MOST(cm_norm(cm_sub(a->impulse, b->impulse)), 1e-9);
  }
  sum->collisions += half->collisions;
  sum->restitution_loss += half->restitution_loss;
  sum->friction_loss += half->friction_loss;
  sum->work += half->work;
  sum->impulse = cm_add(sum->impulse, half->impulse);
}

static int impacts_before(const carom_step_report *report, double time) {
  int count = 0;
  for (int i = 0; i < report->event_count; i++)
    count += report->events[i].kind == CAROM_EVENT_IMPACT && report->events[i].time <= time;
  return count;
}

static void check_halved(const halved_case *c, int steps) {
  world halved = halved_world(c), asked = halved_world(c);
  carom_stepper *first = stepper_of(c, &halved, STEP), *second = stepper_of(c, &asked, 0.5 * STEP);
  int collisions = 0, early = 0;
  double losses = 0;
  for (int i = 0; i < steps; i++) {
    double start = halved.state->time;
    carom_step_report whole = step_once(first, halved.state);
    record sum = {0};
    for (int k = 0; k < 2; k++) {
      carom_step_report half = step_once(second, asked.state);
      CHECK(half.halvings == 0);
      add_half(&sum, &half, &whole);
    }
    CHECK(whole.halvings == 1 && whole.event_count == sum.events && whole.collisions == sum.collisions);
    CHECK_NEAR(whole.restitution_loss, sum.restitution_loss, 1e-11);
    CHECK_NEAR(whole.friction_loss, sum.friction_loss, 1e-11);
    CHECK_NEAR(whole.work, sum.work, 1e-9);
    CHECK_AT_MOST(cm_norm(cm_sub(whole.impulse, sum.impulse)), 1e-9);
    collisions += whole.collisions;
    losses += whole.restitution_loss + whole.friction_loss;
    early += impacts_before(&whole, start + 0.51 * STEP);
  }
  for (int body = 0; body < FLOOR; body++)
    CHECK_AT_MOST(cm_norm(cm_sub(halved.state->x[body], asked.state->x[body])), 1e-10);
  CHECK(collisions >= 3 && early >= 1 && losses > 0.1);
  carom_stepper_destroy(first);
  carom_stepper_destroy(second);
  free_world(&halved);
  free_world(&asked);
}

TEST(a_halved_step_is_two_half_steps) {
  for (int i = 0; i < CASES; i++) check_halved(&cases[i], 120);
}

// When nothing is too fast any more, what touched in the last half still touches: nothing collides anew.
TEST(a_whole_step_after_halved_ones_remembers) {
  for (int i = 0; i < CASES; i++) {
    world w = halved_world(&cases[i]);
    carom_stepper *stepper = stepper_of(&cases[i], &w, STEP);
    for (int k = 0; k < 600; k++) CHECK(step_once(stepper, w.state).halvings == 1);
    w.state->x[FAR] = cm_vec3(100 - STRETCH, 0, 50);
    carom_state_set_velocity(w.model, w.state, FAR, cm_zero3(), cm_zero3());
    double height = w.state->x[BOX].z;
    step_once(stepper, w.state);  // the midpoint rule begins from forces that are no longer there
    carom_step_report report = step_once(stepper, w.state);
    CHECK(report.halvings == 0 && report.collisions == 0);
    CHECK(report.event_count >= 2);
    for (int e = 0; e < report.event_count; e++) CHECK(report.events[e].kind == CAROM_EVENT_CONTACT);
    CHECK_NEAR(w.state->x[BOX].z, height, cases[i].stiffness > 0 ? 1e-6 : 1e-14);
    carom_stepper_destroy(stepper);
    free_world(&w);
  }
}

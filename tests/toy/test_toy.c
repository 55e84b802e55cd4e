// The proof of docs/add-an-integrator.md: `penalty`, in the file beside this one, is an integrator like any other. It
// is not in the library's list; carom_stepper_create_with takes it as it is.
#include "failing_allocator.h"
#include "fixtures.h"
#include "step/step.h"

CAROM_DECLARE_INTEGRATOR(penalty)

enum { BALL, LIGHT, FLOOR };

// A power of two, so that two half steps end at the same moment as a whole one, to the last bit.
static const double STEP = 1.0 / 2048, STIFFNESS = 2e4, RADIUS = 0.1, GRAVITY = 9.81, DROP = 0.3;
static const double LIGHT_MASS = 0.01;  // a whole step is too long for its contacts, half a one is not

static carom_step_options toy_options(double h) {
  carom_step_options o = carom_step_default_options();
  o.step = h;
  o.stiffness = STIFFNESS;
  return o;
}

static carom_stepper *toy_stepper(const world *w, double h, const carom_allocator *allocator) {
  carom_step_options o = toy_options(h);
  carom_stepper *stepper = NULL;
  carom_error error = {0};
  if (carom_stepper_create_with(&carom_integrator_penalty, w->model, &o, allocator, &stepper, &error) != CAROM_OK &&
      !allocator)
    test_fail(__FILE__, __LINE__, "%s", error.message);
  return stepper;
}

static carom_step_report step_once(carom_stepper *stepper, carom_state *state) {
  carom_step_report report = {0};
  carom_error error = {0};
  if (carom_stepper_step(stepper, state, &report, &error) != CAROM_OK)
    test_fail(__FILE__, __LINE__, "%s", error.message);
  return report;
}

static void put_ball(carom_builder *b, double mass, carom_vec3 at, carom_vec3 velocity) {
  carom_body_def def = carom_body_default();
  def.mass = mass;
  def.pose.p = at;
  def.velocity = velocity;
  put_shape(b, def, sphere_shape(RADIUS));
}

// A ball above a floor, and another beside it.
static world two_balls(double light) {
  carom_builder *b = new_builder();
  put_material(b, 0, 0);  // neither restitution nor friction, of which the toy knows nothing
  carom_builder_set_gravity(b, cm_vec3(0, 0, -GRAVITY));
  put_ball(b, 1, cm_vec3(0, 0, RADIUS + DROP), cm_zero3());
  put_ball(b, light, cm_vec3(1, 0, RADIUS + 0.5 * DROP), cm_vec3(0.5, 0, 0));
  put_shape(b, fixed_body(cm_zero3(), cm_qidentity()), floor_shape());
  return finish_world(b);
}

static double height(const world *w) { return w->state->x[BALL].z - RADIUS; }

// Of one ball, its spring included.
static double energy_of(const world *w, int ball) {
  double speed2 = cm_norm2(carom_state_velocity(w->model, w->state, ball)), mass = w->model->bodies[ball].mass;
  double gap = w->state->x[ball].z - RADIUS, depth = fmax(0, -gap);
  return 0.5 * mass * speed2 + mass * GRAVITY * gap + 0.5 * STIFFNESS * depth * depth;
}

// ---- motion

TEST(a_ball_bounces_and_comes_to_rest_as_deep_as_its_spring_gives) {
  world w = two_balls(1);
  carom_stepper *stepper = toy_stepper(&w, STEP, NULL);
  double apex = 0, speed = 0;
  int bounces = 0;
  for (int i = 0; i < 6 * 2048; i++) {
    double last = carom_state_velocity(w.model, w.state, BALL).z;
    step_once(stepper, w.state);
    speed = carom_state_velocity(w.model, w.state, BALL).z;
    if (!(last > 0 && speed <= 0 && height(&w) > 0)) continue;  // at the top
    CHECK(bounces == 0 || height(&w) < apex);
    apex = height(&w);
    if (bounces++ == 0) CHECK(apex > 0.1 * DROP && apex < 0.6 * DROP);
  }
  CHECK(bounces >= 3);
  double depth = w.model->bodies[BALL].mass * GRAVITY / STIFFNESS;
  CHECK_NEAR(-height(&w), depth, 1e-12);
  CHECK_NEAR(speed, 0, 1e-12);
  CHECK_NEAR(step_once(stepper, w.state).penetration, depth, 1e-12);
  carom_stepper_destroy(stepper);
  free_world(&w);
}

// Symplectic Euler keeps not the energy but one that differs from it by up to h/2 F v; so much may it sway.
TEST(energy_falls) {
  world w = two_balls(1);
  carom_stepper *stepper = toy_stepper(&w, STEP, NULL);
  double least = energy_of(&w, BALL), start = least, sway = 0;
  for (int i = 0; i < 6 * 2048; i++) {
    step_once(stepper, w.state);
    double depth = fmax(0, -height(&w)), force = fmax(GRAVITY, STIFFNESS * depth);
    sway = fmax(sway, 0.5 * STEP * force * fabs(carom_state_velocity(w.model, w.state, BALL).z));
    CHECK_AT_MOST(energy_of(&w, BALL), least + 2 * sway);
    least = fmin(least, energy_of(&w, BALL));
  }
  CHECK(sway < 0.05 * start && least < 0.01 * start);
  carom_stepper_destroy(stepper);
  free_world(&w);
}

// ---- books

static world tumbling_world(void) {
  carom_builder *b = new_builder();
  put_material(b, 0, 0);
  carom_builder_set_gravity(b, cm_vec3(0, 0, -GRAVITY));
  carom_body_def box = carom_body_default();
  box.pose = cm_pose(cm_vec3(0.05, 0.02, 0.5), cm_axis_angle(cm_vec3(1, 2, 3), 0.7));
  box.velocity = cm_vec3(0.2, 0, 0);
  box.angular_velocity = cm_vec3(1, 2, -1);
  box.mass = 1;
  put_shape(b, box, box_shape(0.3, 0.2, 0.2));
  put_ball(b, 1, cm_vec3(0, 0, 0.15), cm_zero3());
  put_shape(b, fixed_body(cm_zero3(), cm_qidentity()), floor_shape());
  return finish_world(b);
}

static carom_verdict_row row_of(const carom_verdict *verdict, const char *key) {
  for (int i = 0; i < verdict->count; i++)
    if (strcmp(verdict->rows[i].key, key) == 0) return verdict->rows[i];
  test_fail(__FILE__, __LINE__, "no row '%s'", key);
  return (carom_verdict_row){0};
}

// A box falls on a ball that falls on a floor: rows with an arm, with two ends that move and with one.
TEST(the_audit_finds_momentum_booked_and_nothing_gained) {
  world w = tumbling_world();
  carom_stepper *stepper = toy_stepper(&w, 0.25 * STEP, NULL);
  carom_audit *audit = NULL;
  int of_box = 0;
  REQUIRE(carom_audit_create(w.model, w.state, NULL, &audit, NULL) == CAROM_OK);
  for (int i = 0; i < 2 * 8192; i++) {
    carom_step_report report = step_once(stepper, w.state);
    for (int e = 0; e < report.event_count; e++) of_box += report.events[e].body_b != FLOOR;
    carom_audit_step(audit, w.state, &report);
  }
  CHECK(of_box > 0);
  carom_verdict verdict = carom_audit_judge(audit, NULL);
  const char *keys[] = {"momentum", "angular_momentum", "body_momentum"};
  for (int i = 0; i < 3; i++) {
    carom_verdict_row row = row_of(&verdict, keys[i]);
    CHECK(row.pass && row.value <= 1e-9);
  }
  CHECK(row_of(&verdict, "energy_made").pass && row_of(&verdict, "energy").pass &&
        carom_audit_latest(audit).restitution_loss > 0.1);
  carom_audit_destroy(audit);
  carom_stepper_destroy(stepper);
  free_world(&w);
}

// All that the floor gave the ball is in its events: the weight over the run, and what momentum is left.
TEST(events_hold_what_contacts_gave) {
  world w = two_balls(1);
  carom_stepper *stepper = toy_stepper(&w, STEP, NULL);
  double given = 0, mass = w.model->bodies[BALL].mass;
  int impacts = 0, contacts = 0, collisions = 0, begun = 0;
  bool overlapped = false;
  for (int i = 0; i < 6 * 2048; i++) {
    bool overlaps = height(&w) < 0;
    begun += overlaps && !overlapped;
    overlapped = overlaps;
    carom_step_report report = step_once(stepper, w.state);
    for (int e = 0; e < report.event_count; e++) {
      const carom_contact_event *event = &report.events[e];
      collisions += event->kind == CAROM_EVENT_IMPACT;
      if (event->body_a != BALL) continue;
      CHECK(event->body_b == FLOOR && event->normal.z == 1 && event->time == w.state->time);
      *(event->kind == CAROM_EVENT_IMPACT ? &impacts : &contacts) += 1;
      given += event->impulse.z;
    }
    collisions -= report.collisions;
  }
  CHECK(collisions == 0 && impacts == begun && impacts >= 3 && contacts > 2048);
  CHECK_NEAR(given, mass * GRAVITY * w.state->time + w.state->p[BALL].z, 1e-10);
  carom_stepper_destroy(stepper);
  free_world(&w);
}

// ---- halved steps, checkpoints

static bool same_bits(const carom_state *a, const carom_state *b) {
  size_t n = (size_t)a->body_count;
  return a->time == b->time && memcmp(a->x, b->x, n * sizeof *a->x) == 0 && memcmp(a->q, b->q, n * sizeof *a->q) == 0 &&
         memcmp(a->p, b->p, n * sizeof *a->p) == 0 && memcmp(a->l, b->l, n * sizeof *a->l) == 0;
}

// Adds what a half step told, and compares its events with those that the whole step has there.
static void add_half(carom_step_report *sum, const carom_step_report *half, const carom_step_report *whole) {
  for (int e = 0; e < half->event_count; e++, sum->event_count++) {
    REQUIRE(sum->event_count < whole->event_count);
    const carom_contact_event *a = &half->events[e], *b = &whole->events[sum->event_count];
    CHECK(a->kind == b->kind && a->time == b->time && a->body_a == b->body_a && a->body_b == b->body_b);
    CHECK(memcmp(&a->impulse, &b->impulse, sizeof a->impulse) == 0);
  }
  sum->collisions += half->collisions;
  sum->restitution_loss += half->restitution_loss;
  sum->impulse = cm_add(sum->impulse, half->impulse);
}

// The light ball lies on the floor and asks for half steps, when the heavy one has been pushed and booked already.
TEST(a_halved_step_is_two_half_steps_bit_for_bit) {
  world whole = two_balls(LIGHT_MASS), halves = two_balls(LIGHT_MASS);
  whole.state->x[LIGHT].z = halves.state->x[LIGHT].z = RADIUS - LIGHT_MASS * GRAVITY / STIFFNESS;
  carom_stepper *first = toy_stepper(&whole, STEP, NULL), *second = toy_stepper(&halves, 0.5 * STEP, NULL);
  int collisions = 0, both = 0;
  for (int i = 0; i < 2048; i++) {
    carom_step_report report = step_once(first, whole.state), sum = {0};
    for (int k = 0; k < 2; k++) {
      carom_step_report half = step_once(second, halves.state);
      CHECK(half.halvings == 0);
      add_half(&sum, &half, &report);
      both += half.event_count == 2;
    }
    CHECK(report.halvings == 1 && report.event_count == sum.event_count && report.collisions == sum.collisions);
    CHECK_NEAR(report.restitution_loss, sum.restitution_loss, 1e-15);
    CHECK_AT_MOST(cm_norm(cm_sub(report.impulse, sum.impulse)), 1e-14);
    CHECK(same_bits(whole.state, halves.state));
    collisions += report.collisions;
  }
  CHECK(collisions >= 3 && both > 100);
  carom_stepper_destroy(first);
  carom_stepper_destroy(second);
  free_world(&whole);
  free_world(&halves);
}

static void check_continued(world w, int stop, int steps) {
  carom_stepper *first = toy_stepper(&w, STEP, NULL), *second = toy_stepper(&w, STEP, NULL);
  run_steps(first, w.state, stop);
  carom_state *state = NULL;
  REQUIRE(carom_state_clone(w.state, NULL, &state, NULL) == CAROM_OK);
  size_t size = carom_stepper_memory(first, NULL, 0);
  void *memory = malloc(size);
  CHECK(carom_stepper_memory(first, memory, size) == size);
  CHECK(carom_stepper_recall(second, memory, size - 1, NULL) == CAROM_ERR_FORMAT);
  REQUIRE(carom_stepper_recall(second, memory, size, NULL) == CAROM_OK);
  for (int i = stop; i < steps; i++) {
    carom_step_report a = step_once(first, w.state), b = step_once(second, state);
    CHECK(a.collisions == b.collisions && a.event_count == b.event_count && a.halvings == b.halvings);
    CHECK(same_bits(w.state, state));
  }
  free(memory);
  carom_state_destroy(state);
  carom_stepper_destroy(first);
  carom_stepper_destroy(second);
  free_world(&w);
}

// Stopped in the air and on the floor, in whole steps and in halved ones.
TEST(a_run_goes_on_from_a_checkpoint_bit_for_bit) {
  const int stops[] = {0, 300, 515, 530, 700};
  for (int k = 0; k < 5; k++) {
    check_continued(two_balls(LIGHT_MASS), stops[k], 1024);
    check_continued(tumbling_world(), stops[k], 1024);
  }
}

// ---- what it does not honour, and memory

TEST(what_it_does_not_honour_is_refused_with_the_names_of_those_that_do) {
  world w = two_balls(1);
  carom_stepper *stepper = NULL;
  carom_error error = {0};
  carom_step_options o = toy_options(STEP);
  o.order = 4;
  CHECK(carom_stepper_create_with(&carom_integrator_penalty, w.model, &o, NULL, &stepper, &error) ==
        CAROM_ERR_UNSUPPORTED);
  CHECK(!stepper);
  CHECK_CONTAINS(error.message, "the integrator 'penalty' does not honour 'order'; variational, exact, dcr and");
  free_world(&w);
  carom_builder *b = new_builder();
  put_ball(b, 1, cm_zero3(), cm_zero3());
  carom_joint_def joint = carom_joint_default();
  joint.body[1] = BALL;
  carom_builder_add_joint(b, &joint);
  w = finish_world(b);
  o = toy_options(STEP);
  CHECK(carom_stepper_create_with(&carom_integrator_penalty, w.model, &o, NULL, &stepper, &error) ==
        CAROM_ERR_UNSUPPORTED);
  CHECK_CONTAINS(error.message, "the integrator 'penalty' does not honour spherical joints");
  free_world(&w);
}

TEST(no_memory_is_lost_and_steps_take_none) {
  world w = two_balls(LIGHT_MASS);
  int refused = 0;
  for (bool made = false; !made; refused++) {
    failing_allocator f = {.allowed = refused};
    carom_allocator a = failing_allocator_of(&f);
    carom_stepper *stepper = toy_stepper(&w, STEP, &a);
    made = stepper != NULL;
    carom_stepper_destroy(stepper);
    CHECK(f.live == 0);
  }
  CHECK(refused > 5);
  failing_allocator f = {.allowed = -1};
  carom_allocator a = failing_allocator_of(&f);
  carom_stepper *stepper = toy_stepper(&w, STEP, &a);
  run_steps(stepper, w.state, 2048);  // until both have touched at once
  int calls = f.calls;
  run_steps(stepper, w.state, 4096);
  CHECK(f.calls == calls);
  carom_stepper_destroy(stepper);
  CHECK(f.live == 0);
  free_world(&w);
}

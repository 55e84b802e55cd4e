// The integrator `cone` in steps that are halved because a top far away spins too fast for them: all else must go as if
// the half steps had been asked for, and what happens in them is told and booked exactly once.
#include <math.h>

#include "fixtures.h"

static const double G = 9.81, H = 0.01;

// Too fast for a step of H even if its turn is made in two parts, not for half of it: no body turns by more than
// 0.61 rad in one part (step/variational/dmv.c).
static const double TOO_FAST = 1.7 / 0.01;

static carom_builder *builder_of(double friction, double restitution) {
  carom_builder *b = new_builder();
  put_material(b, restitution, friction);
  carom_builder_set_gravity(b, cm_vec3(0, 0, -G));
  return b;
}

static int add_ball(carom_builder *b, double r, carom_vec3 x, carom_vec3 v) {
  carom_body_def def = carom_body_default();
  def.pose.p = x, def.velocity = v;
  return put_shape(b, def, sphere_shape(r));
}

static void add_top(carom_builder *b) {
  carom_body_def def = carom_body_default();
  def.pose.p = cm_vec3(50, 0, 50), def.angular_velocity = cm_vec3(0, 0, TOO_FAST);
  put_shape(b, def, sphere_shape(0.6));
}

static void add_floor(carom_builder *b) {
  carom_boundary_def floor = carom_boundary_default();
  carom_builder_add_boundary(b, &floor);
}

typedef struct account {
  int halved, collisions, impacts, contacts, recirculated, late;
  carom_vec3 carried;  // by all contacts that were told
  double restitution_loss, friction_loss, work;
  carom_audit_sample audit;
} account;

static void note_events(account *a, const carom_step_report *report, double end, double h) {
  for (int i = 0; i < report->event_count; i++) {
    const carom_contact_event *e = &report->events[i];
    a->impacts += e->kind == CAROM_EVENT_IMPACT;
    a->contacts += e->kind == CAROM_EVENT_CONTACT;
    a->recirculated += e->kind == CAROM_EVENT_RECIRCULATED;
    a->late += !(e->time > end - h - 1e-9 && e->time < end + 1e-9) || (i > 0 && e->time < report->events[i - 1].time);
    a->carried = cm_add(a->carried, e->impulse);
  }
}

static account run(const world *w, double h, int steps) {
  carom_step_options o = carom_step_default_options();
  account a = {0};
  carom_audit *audit = NULL;
  carom_error error = {0};
  o.integrator = "cone", o.step = h, o.max_halvings = 1;
  carom_stepper *stepper = stepper_by(w, &o);
  if (carom_audit_create(w->model, w->state, NULL, &audit, &error) != CAROM_OK) abort();
  for (int i = 0; i < steps; i++) {
    carom_step_report report;
    if (carom_stepper_step(stepper, w->state, &report, &error) != CAROM_OK)
      test_fail(__FILE__, __LINE__, "step %d: %s", i, error.message);
    carom_audit_step(audit, w->state, &report);
    note_events(&a, &report, w->state->time, h);
    a.halved += report.halvings == 1, a.collisions += report.collisions;
    a.restitution_loss += report.restitution_loss, a.friction_loss += report.friction_loss, a.work += report.work;
  }
  a.audit = carom_audit_latest(audit);
  carom_audit_destroy(audit);
  carom_stepper_destroy(stepper);
  return a;
}

static void check_counts(const account *halved, const account *asked) {
  CHECK(halved->collisions == asked->collisions);
  CHECK(halved->impacts == asked->impacts);
  CHECK(halved->contacts == asked->contacts);
  CHECK(halved->recirculated == asked->recirculated);
  CHECK(halved->impacts == halved->collisions);
  CHECK(halved->late == 0);
}

static void check_books(const account *halved, const account *asked) {
  CHECK_NEAR(cm_norm(cm_sub(halved->carried, asked->carried)), 0, 1e-9 * (1 + cm_norm(asked->carried)));
  CHECK_NEAR(halved->restitution_loss, asked->restitution_loss, 1e-9 * (1 + fabs(asked->restitution_loss)));
  CHECK_NEAR(halved->friction_loss, asked->friction_loss, 1e-9 * (1 + fabs(asked->friction_loss)));
  CHECK_NEAR(halved->work, asked->work, 1e-9 * (1 + fabs(asked->work)));
  CHECK_AT_MOST(halved->audit.momentum_error, 1e-9);
  CHECK_AT_MOST(halved->audit.angular_momentum_error, 1e-9);
}

// The same world in steps that must be halved, and in half steps that are asked for. They differ by the round-off of
// the clock alone.
static account compare(world (*make)(void), int steps, int least_contacts) {
  world a = make(), b = make();
  account halved = run(&a, H, steps), asked = run(&b, 0.5 * H, 2 * steps);
  CHECK(halved.halved == steps);
  CHECK(asked.halved == 0);
  CHECK(asked.contacts + asked.impacts >= least_contacts);
  for (int i = 0; i < a.state->body_count; i++)
    CHECK_NEAR(cm_norm(cm_sub(a.state->x[i], b.state->x[i])), 0, 1e-12 * (1 + cm_norm(b.state->x[i])));
  check_counts(&halved, &asked);
  check_books(&halved, &asked);
  free_world(&a);
  free_world(&b);
  return halved;
}

// ---- what rests goes on resting -------------------------------------------------------------------------------------

static world cube_and_top(void) {
  carom_builder *b = builder_of(0.5, 0);
  put_box(b, cm_vec3(8, 8, 1), cm_pose(cm_vec3(0, 0, -0.5), cm_qidentity()), true);
  put_box(b, cm_vec3(1, 1, 1), cm_pose(cm_vec3(0, 0, 0.5), cm_qidentity()), false);
  add_top(b);
  return finish_world(b);
}

// The memory of contacts once was kept in N s: a half step then began with twice what a contact carries, and the cube
// crept by 84 um in 0.2 s, where it moves by 3.4 um in half steps that are asked for.
TEST(a_cube_at_rest_does_not_creep) {
  compare(cube_and_top, 20, 100);
  world w = cube_and_top();
  run(&w, H, 20);
  CHECK_AT_MOST(cm_norm(cm_sub(w.state->x[1], cm_vec3(0, 0, 0.5))), 5e-6);
  free_world(&w);
}

static world stack_and_top(void) {
  carom_builder *b = builder_of(0.5, 0);
  for (int i = 0; i < 3; i++)
    put_box(b, cm_vec3(0.2, 0.2, 0.2), cm_pose(cm_vec3(0.02 * i, 0, 0.1 + 0.2 * i), cm_qidentity()), false);
  add_floor(b);
  add_top(b);
  return finish_world(b);
}

TEST(a_stack_on_a_boundary_stands) { compare(stack_and_top, 20, 100); }

static world pile_and_top(void) {
  carom_builder *b = builder_of(0.5, 0);
  carom_random random = carom_random_make(2, 0);
  for (int i = 0; i < 27; i++) {
    carom_vec3 x = cm_vec3(i % 3 * 0.102, i / 3 % 3 * 0.102, 0.05 + i / 9 * 0.1);
    add_ball(b, 0.05, cm_add(x, random_vector(&random, 1e-3)), cm_zero3());
  }
  add_floor(b);
  add_top(b);
  return finish_world(b);
}

TEST(a_pile_of_balls_settles) { compare(pile_and_top, 20, 300); }

// A chain that hangs from a stop: no joint is solved without the others.
static world chain_and_top(void) {
  carom_builder *b = builder_of(0.5, 0);
  for (int i = 0; i < 5; i++) {
    int ball = add_ball(b, 0.1, cm_vec3(0.5 * (i + 1), 0, 1), cm_zero3());
    carom_joint_def def = carom_joint_default();
    def.kind = i == 0 ? CAROM_JOINT_REVOLUTE : CAROM_JOINT_SPHERICAL, def.at_start = true;
    def.body[0] = i == 0 ? CAROM_WORLD : ball - 1, def.body[1] = ball;
    def.point[0] = cm_vec3(0.5 * i, 0, 1), def.axis[0] = cm_vec3(0, 1, 0);
    if (i == 0) def.turn.upper = 0.4;
    carom_builder_add_joint(b, &def);
  }
  add_top(b);
  return finish_world(b);
}

TEST(joints_and_their_stops_carry_as_much) { compare(chain_and_top, 60, 0); }

// ---- what happens is told once --------------------------------------------------------------------------------------

static world bouncing_and_top(void) {
  carom_builder *b = builder_of(0.3, 0.8);
  add_ball(b, 0.1, cm_vec3(0, 0, 0.2), cm_vec3(0.5, 0, -1));
  add_ball(b, 0.1, cm_vec3(0, 0, 0.5), cm_vec3(0.2, 0, -2));
  add_floor(b);
  add_top(b);
  return finish_world(b);
}

// An impact within a halved step once was counted, but its event was lost with the first half.
TEST(impacts_in_halved_steps_are_told) {
  account a = compare(bouncing_and_top, 60, 4);
  CHECK(a.collisions >= 4);
  CHECK(a.restitution_loss > 0 && a.friction_loss > 0);
}

static world leaving_and_top(void) {
  carom_builder *b = builder_of(0.3, 0);
  for (int i = 0; i < 8; i++) add_ball(b, 0.05, cm_vec3(0.2 * i, 0, -0.1 - 0.03 * i), cm_zero3());
  carom_recirculation_def def = carom_recirculation_default();
  def.outlet_low = cm_vec3(-9, -9, -9), def.outlet_high = cm_vec3(9, 9, -0.5);
  def.inlet_low = cm_vec3(-0.2, -0.2, 1), def.inlet_high = cm_vec3(1.6, 0.2, 3);
  carom_builder_add_recirculation(b, &def);
  add_top(b);
  return finish_world(b);
}

TEST(grains_that_leave_in_halved_steps_are_told) {
  world w = leaving_and_top();
  account a = run(&w, H, 40);
  CHECK(a.halved == 40);
  CHECK(a.recirculated == 8);
  CHECK(a.late == 0);
  CHECK_AT_MOST(a.audit.momentum_error, 1e-9);
  free_world(&w);
}

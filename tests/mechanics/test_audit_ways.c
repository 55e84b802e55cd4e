// What the audit says of passages between two states, against the way that was really gone: free motion followed in
// small steps, of which the audit sees every 64th.
#include "fixtures.h"
#include "model/model.h"

enum { FINE = 64, TRIES = 400 };

static const double STEP = 2.7e-3, THIN = 0.0073;

// A rod over a thin plate, tumbling by most of a radian in a step.
static world rod_over_plate(carom_random *random, bool fast) {
  carom_builder *b = new_builder();
  carom_body_def plate = carom_body_default(), rod = carom_body_default();
  const carom_shape *shapes[2] = {NULL, NULL};
  if (carom_shape_create_box(cm_vec3(2, 2, 0.005), NULL, &shapes[0], NULL) != CAROM_OK ||
      carom_shape_create_box(cm_vec3(0.127, 0.5 * THIN, 0.0064), NULL, &shapes[1], NULL) != CAROM_OK)
    abort();
  plate.fixed = true;
  rod.pose.p = cm_vec3(0, 0, 0.15);
  rod.pose.q = cm_qmul(cm_exp(cm_scale(0.03, cm_vec3(carom_random_normal(random), carom_random_normal(random), 0))),
                       cm_exp(cm_vec3(carom_random_between(random, -3, 3), 0, 0)));
  rod.velocity = cm_vec3(2, -3, fast ? carom_random_between(random, -150, -60) : carom_random_between(random, -1, 1));
  rod.angular_velocity = cm_add(cm_vec3(0, 0, carom_random_between(random, -150, 150)),
                                cm_rotate(rod.pose.q, cm_vec3(carom_random_between(random, -250, 250), 0, 0)));
  put_shape(b, plate, shapes[0]);
  put_shape(b, rod, shapes[1]);
  return finish_world(b);
}

static double gap_of(const world *w) {
  carom_placed at[2];
  for (int i = 0; i < 2; i++) at[i] = (carom_placed){w->model->parts[i].shape, cm_pose(w->state->x[i], w->state->q[i])};
  carom_distance_result d;
  if (carom_distance(&at[0], &at[1], NULL, &d) != CAROM_OK) abort();
  return d.distance;
}

// Goes one step; returns the least gap on the way.
static double go(const world *w) {
  carom_step_options o = carom_step_default_options();
  carom_stepper *stepper = NULL;
  o.integrator = "variational", o.step = STEP / FINE, o.nothing_meets = true;
  if (carom_stepper_create(w->model, &o, NULL, &stepper, NULL) != CAROM_OK) abort();
  double least = gap_of(w);
  for (int i = 0; i < FINE; i++) {
    if (carom_stepper_step(stepper, w->state, NULL, NULL) != CAROM_OK) abort();
    least = fmin(least, gap_of(w));
  }
  carom_stepper_destroy(stepper);
  return least;
}

static double value_of(const carom_verdict *v, const char *key) {
  for (int i = 0; i < v->count; i++)
    if (strcmp(v->rows[i].key, key) == 0) return v->rows[i].value;
  abort();
}

static double passage(const carom_verdict *v) { return value_of(v, "passage"); }

// The straight way of a body that tumbles is not its own: nothing is said of what it did not do, and nothing is kept
// quiet of what it did.
TEST(passages_are_those_of_the_free_motion) {
  carom_random random = carom_random_make(7, 1);
  int clear = 0, through = 0, accused = 0, told = 0;
  for (int i = 0; i < TRIES; i++) {
    world w = rod_over_plate(&random, i % 4 == 0);
    w.state->x[1].z -= gap_of(&w) - carom_random_between(&random, 1e-4, 1e-2);
    carom_audit *audit = NULL;
    if (carom_audit_create(w.model, w.state, NULL, &audit, NULL) != CAROM_OK) abort();
    double first = gap_of(&w), least = go(&w);
    carom_step_report report = {.step = STEP};
    carom_audit_step(audit, w.state, &report);
    carom_verdict v = carom_audit_judge(audit, NULL);
    if (first > 0 && least > 0) clear++, accused += passage(&v) > 1e-2;
    if (first > 0 && least < -0.3 * THIN && gap_of(&w) > 0) through++, told += passage(&v) > 1e-2;
    carom_audit_destroy(audit);
    free_world(&w);
  }
  if (getenv("CAROM_TEST_VERBOSE")) printf("clear %d accused %d through %d told %d\n", clear, accused, through, told);
  CHECK(clear > 20 && accused == 0);
  CHECK(through > 5 && told == through);
}

// ---- friction of blows in space ------------------------------------------------------------------------------------

enum { PUSHES = 2000 };

// A brick with a corner on top of a ball, which slides and comes down on it.
static world brick_on_ball(carom_random *random, carom_vec3 *corner) {
  carom_builder *b = new_builder();
  carom_body_def ball = carom_body_default(), brick = carom_body_default();
  const carom_shape *shapes[2] = {NULL, NULL};
  carom_vec3 half = cm_vec3(0.05, 0.02, 0.03), turn;
  if (carom_shape_create_sphere(1, NULL, &shapes[0], NULL) != CAROM_OK ||
      carom_shape_create_box(cm_scale(2, half), NULL, &shapes[1], NULL) != CAROM_OK)
    abort();
  turn = cm_vec3(carom_random_normal(random), carom_random_normal(random), carom_random_normal(random));
  brick.pose.q = cm_exp(turn);
  carom_vec3 down = cm_rotate(cm_qconj(brick.pose.q), cm_vec3(0, 0, -1));
  carom_vec3 lowest = cm_vec3(copysign(half.x, down.x), copysign(half.y, down.y), copysign(half.z, down.z));
  *corner = cm_rotate(brick.pose.q, lowest);
  brick.pose.p = cm_vec3(0, 0, -corner->z);
  brick.velocity = cm_vec3(carom_random_between(random, 1, 4), 0, carom_random_between(random, -2, -0.2));
  ball.fixed = true;
  ball.pose.p = cm_vec3(corner->x, corner->y, -1);
  put_shape(b, ball, shapes[0]);
  put_shape(b, brick, shapes[1]);
  return finish_world(b);
}

static carom_vec3 velocity_of(const world *w, carom_vec3 arm) {
  return cm_add(carom_state_velocity(w->model, w->state, 1),
                cm_cross(carom_state_angular_velocity(w->model, w->state, 1), arm));
}

static void push_brick(const world *w, carom_vec3 arm, carom_vec3 P) {
  const carom_body *body = &w->model->bodies[1];
  carom_vec3 v = carom_state_velocity(w->model, w->state, 1),
             omega = carom_state_angular_velocity(w->model, w->state, 1);
  carom_quat q = w->state->q[1];
  carom_vec3 more = cm_mul_diag(body->inverse_inertia, cm_rotate(cm_qconj(q), cm_cross(arm, P)));
  carom_state_set_velocity(w->model, w->state, 1, cm_axpy(v, body->inverse_mass, P), cm_add(omega, cm_rotate(q, more)));
}

// Coulomb's law followed through the blow (Keller 1986) in small pushes, until the corner parts with half of the speed;
// false where it sticks on the way. The friction is `part` of what it should be.
static bool strike(const world *w, carom_vec3 arm, double part, carom_vec3 *impulse) {
  double mu = w->model->materials[0].friction, met = -velocity_of(w, arm).z;
  double push = w->model->bodies[1].mass * met / PUSHES;
  *impulse = cm_zero3();
  for (int i = 0; i < 10 * PUSHES && velocity_of(w, arm).z < 0.5 * met; i++) {
    carom_vec3 u = velocity_of(w, arm), slip = cm_vec3(u.x, u.y, 0);
    if (cm_norm(slip) < 0.05) return false;
    carom_vec3 P = cm_axpy(cm_vec3(0, 0, push), -part * mu * push, cm_unit(slip));
    push_brick(w, arm, P);
    *impulse = cm_add(*impulse, P);
  }
  return true;
}

static carom_verdict judge_blow(carom_audit *audit, const world *w, double dt, carom_contact_event *event) {
  carom_step_report report = {.step = dt, .events = event, .event_count = 1, .collisions = 1};
  carom_audit_step(audit, w->state, &report);
  return carom_audit_judge(audit, NULL);
}

static carom_contact_event blow_at(carom_vec3 corner, carom_vec3 impulse, double time) {
  return (carom_contact_event){.kind = CAROM_EVENT_IMPACT,
                               .time = time,
                               .body_a = 1,
                               .point = cm_vec3(corner.x, corner.y, 0),
                               .normal = cm_vec3(0, 0, 1),
                               .impulse = impulse};
}

// What the audit says of a brick that was struck as Coulomb's law has it, but with `part` of the friction.
static double judged(carom_random *random, double part, double *turned) {
  carom_vec3 corner, impulse;
  world w = brick_on_ball(random, &corner);
  carom_audit *audit = NULL;
  if (carom_audit_create(w.model, w.state, NULL, &audit, NULL) != CAROM_OK) abort();
  bool slides = strike(&w, corner, part, &impulse);
  carom_vec3 u = velocity_of(&w, corner);
  w.state->time += 1e-9;
  carom_contact_event event = blow_at(corner, impulse, w.state->time);
  carom_verdict v = judge_blow(audit, &w, 1e-9, &event);
  *turned = slides ? fabs(atan2(u.y, u.x)) : 0;
  carom_audit_destroy(audit);
  free_world(&w);
  return slides ? value_of(&v, "contact_law") : 0;
}

// A blow turns the slip while it goes on: friction that was against it all the time is not at fault, less is.
TEST(slips_that_turn_are_not_taken_for_weak_friction) {
  carom_random random = carom_random_make(11, 1);
  int bent = 0, accused = 0, told = 0;
  for (int i = 0; i < 100; i++) {
    double turned;
    accused += judged(&random, 1, &turned) > 1e-6;
    bent += turned > 0.3;
    told += judged(&random, 0.5, &turned) > 1e-6;
  }
  if (getenv("CAROM_TEST_VERBOSE")) printf("bent %d accused %d told %d\n", bent, accused, told);
  CHECK(bent > 5 && accused == 0);
  CHECK(told > 5);
}

static void turn_back(const world *w) {
  carom_state_set_velocity(w->model, w->state, 1, cm_neg(carom_state_velocity(w->model, w->state, 1)),
                           cm_neg(carom_state_angular_velocity(w->model, w->state, 1)));
}

// A brick that spins fast and is struck in the middle of a step, where its corner is slow. Returns what friction is
// said to have put in.
static double put_in_by_friction(carom_random *random) {
  carom_vec3 corner, impulse;
  world w = brick_on_ball(random, &corner);
  carom_vec3 spin = cm_vec3(carom_random_normal(random), carom_random_normal(random), carom_random_normal(random));
  carom_vec3 fast = cm_scale(900, spin), slow = carom_state_velocity(w.model, w.state, 1);
  carom_state_set_velocity(w.model, w.state, 1, cm_sub(slow, cm_cross(fast, corner)), fast);
  carom_state *met = NULL;
  if (carom_state_clone(w.state, NULL, &met, NULL) != CAROM_OK) abort();
  turn_back(&w);
  go(&w);
  turn_back(&w);
  w.state->time = 0;
  carom_audit *audit = NULL;
  if (carom_audit_create(w.model, w.state, NULL, &audit, NULL) != CAROM_OK) abort();
  carom_state_copy(w.state, met);
  bool comes = velocity_of(&w, corner).z < -0.1 && strike(&w, corner, 1, &impulse);
  go(&w);
  w.state->time = 2 * STEP;
  carom_contact_event event = blow_at(corner, comes ? impulse : cm_zero3(), STEP);
  carom_verdict v = judge_blow(audit, &w, 2 * STEP, &event);
  carom_audit_destroy(audit);
  carom_state_destroy(met);
  free_world(&w);
  return comes ? value_of(&v, "friction_law") : 0;
}

TEST(slips_of_bodies_that_spin_fast_are_not_taken_from_the_ends_of_the_step) {
  carom_random random = carom_random_make(13, 1);
  double worst = 0;
  for (int i = 0; i < 400; i++) worst = fmax(worst, put_in_by_friction(&random));
  CHECK_AT_MOST(worst, 1e-6);
}

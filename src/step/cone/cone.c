// One step of the integrator `cone`, as published (Gavrea 2.3.8) but for the parabola (motion.c) and for restitution
// (restitution.c):
//
//   find       all places where bodies may meet within the step
//   predict    v_free = v + h (g + f / m)
//   solve      v' = v_free + M^-1 D gamma, the program; anew where bodies outran the search, where restitution made
//              energy, and until the joints hold at the end of the step
//   book       impulses, losses, work and events
//   correct    momenta, and x' = x + h v', R' = R F(h, l')
#include "step/cone/cone.h"

#include <math.h>
#include <string.h>

#include "base/threads.h"
#include "contact/reach.h"

enum { MOST_SEARCHES = 16, MOST_SOFTENINGS = 6, MOST_CORRECTIONS = 8, MOST_CUTS = 40, MOST_PARTS = 200 };
static const double SPARE = 0.1;   // of its size: how far a body may be pushed by those that it meets
static const double GROWTH = 1.5;  // of parts of the step, from one to the next
static const double HELD = 1e-6;   // of the smallest radius: how far joints may be off

// ---- find and solve -----------------------------------------------------------------------------------------------

// How far any point of a body goes in the step.
static double path_of(const carom_cone *c, int body, carom_vec3 v, carom_vec3 w) {
  return c->h * (cm_norm(v) + (c->bodies.balls ? 0 : cm_norm(w) * c->bodies.radius[body]));
}

static void look_ahead(carom_cone *c, const carom_state *state) {
  const carom_velocities *start = &c->bodies.start, *free = &c->bodies.free;
  CAROM_PARALLEL_FOR(
      c->threads, schedule(static), for (int i = 0; i < c->model->moving_count; i++) {
        int body = c->bodies.mover[i];
        carom_vec3 v = cm_sub(free->v[body], start->v[body]), w = cm_sub(free->w[body], start->w[body]);
        c->search.acceleration[body] = path_of(c, body, v, w) / (c->h * c->h);
      });
  carom_moving moving = {start->v, start->w, c->search.acceleration, state->time, c->h};
  carom_reach(c->model, &moving, SPARE, c->search.reach);
}

static void begin(carom_cone *c) {
  carom_cone_bodies *b = &c->bodies;
  size_t bytes = (size_t)c->model->body_count * sizeof *b->free.v;
  memcpy(b->after.v, b->free.v, bytes);
  memcpy(b->after.w, b->free.w, bytes);
  memset(b->touches, 0, (size_t)c->model->body_count * sizeof *b->touches);
  for (int i = 0; i < c->model->body_count; i++) b->falls[i] = b->lasts[i] = b->bounces[i] = false, b->share[i] = 0;
  c->outcome = (carom_cone_outcome){.held = true};
}

static double deepest(const carom_cone *c) {
  double worst = 0;
  if (c->program.projection) return c->search.deepest;
  CAROM_PARALLEL_FOR(
      c->threads,
      schedule(static) reduction(max
                                 : worst),
      for (int i = 0; i < c->search.near_count; i++) {
        double overlap = -c->search.near[i].gap;
        worst = overlap > worst ? overlap : worst;
      });
  return worst;
}

// Bodies that go farther than the search looked, because they were struck; their reach grows.
static bool outrun(carom_cone *c) {
  const carom_cone_bodies *b = &c->bodies;
  int any = 0;
  CAROM_PARALLEL_FOR(
      c->threads,
      schedule(static) reduction(max
                                 : any),
      for (int i = 0; i < c->model->moving_count; i++) {
        int body = b->mover[i];
        double path = path_of(c, body, b->after.v[body], b->after.w[body]);
        if (path <= c->search.reach[body]) continue;
        c->search.reach[body] = 1.25 * path;
        any = 1;
      });
  return any;
}

// So nothing passes through anything, however fast it comes.
static carom_status find_and_solve(carom_cone *c, const carom_state *state, carom_error *error) {
  begin(c);
  look_ahead(c, state);
  for (int k = 0; k < MOST_SEARCHES; k++) {
    carom_status status = carom_cone_search_near(c, state, error);
    if (status == CAROM_OK) status = carom_cone_begin_program(c, state, k > 0, error);
    if (k == 0 && status == CAROM_OK) c->outcome.overlap = deepest(c);
    if (status == CAROM_OK && carom_cone_collides_now(c)) return CAROM_OK;
    if (status == CAROM_OK)
      status = carom_cone_solve(c, state, k == 0 || c->program.exacting || c->program.lawful, error);
    if (status != CAROM_OK || !outrun(c)) return status;
    if ((status = carom_cone_note_forces(c, state, error)) != CAROM_OK) return status;
  }
  return CAROM_OK;
}

static carom_status soften(carom_cone *c, const carom_state *state, carom_error *error) {
  carom_status status = CAROM_OK;
  for (int k = 1; k <= MOST_SOFTENINGS && status == CAROM_OK; k++) {
    if (c->program.lawful) carom_cone_note_touches(c, state);
    if (!carom_cone_soften(c, k == MOST_SOFTENINGS)) break;
    status = carom_cone_solve(c, state, true, error);
  }
  return status;
}

// Gaps and joints are linear in the step; what bodies that turn make of them is seen at a trial end and asked for anew.
static carom_status foresee(carom_stepper *stepper, const carom_state *state, double end, carom_error *error) {
  carom_cone *c = stepper->work;
  carom_status status = CAROM_OK;
  for (int i = 0; i < MOST_CORRECTIONS && status == CAROM_OK; i++) {
    bool overlaps = false;
    if (c->program.lawful) carom_cone_note_touches(c, state);
    carom_state_copy(c->trial, state);
    carom_cone_take_momenta(c, c->trial);
    status = carom_cone_drift(stepper, c->trial, end, error);
    if (status == CAROM_NOT_CONVERGED && i > 0 && !c->outcome.held) return CAROM_OK;  // corrections lead nowhere
    if (status == CAROM_OK && c->program.projection) status = carom_cone_foresee(c, state, &overlaps, error);
    if (status != CAROM_OK) break;
    c->outcome.held = c->joints.equation_count == 0 || carom_cone_joints_correct(c, end) <= HELD * c->bodies.smallest;
    if (!overlaps && c->outcome.held) break;
    status = carom_cone_solve(c, state, true, error);
  }
  return status;
}

static carom_status solve(carom_stepper *stepper, const carom_state *state, double end, carom_error *error) {
  carom_cone *c = stepper->work;
  carom_cone_joints_begin(c, state, end);
  carom_status status = find_and_solve(c, state, error);
  if (status != CAROM_OK || carom_cone_collides_now(c)) return status;
  if (c->program.bounces && !c->program.impacts) status = soften(c, state, error);
  if (status == CAROM_OK && (c->program.projection || c->joints.equation_count > 0))
    status = foresee(stepper, state, end, error);
  if (status == CAROM_OK) status = carom_cone_note_forces(c, state, error);
  if (status == CAROM_OK && c->program.lawful) carom_cone_note_touches(c, state);
  if (status == CAROM_OK) carom_cone_note_pushed(c);
  return status;
}

// ---- the step -----------------------------------------------------------------------------------------------------

static carom_status correct(carom_stepper *stepper, carom_state *state, double end, carom_error *error) {
  carom_cone *c = stepper->work;
  carom_cone_take_momenta(c, state);
  carom_status status = carom_cone_drift(stepper, state, end, error);
  if (status == CAROM_OK) carom_joints_note_turns(c->model, state);
  if (status == CAROM_OK && c->program.projection) status = carom_cone_project(c, state, error);
  return status;
}

static void note_outcome(const carom_cone *c, const carom_state *state, double end, carom_ledger *ledger) {
  const carom_cone_outcome *o = &c->outcome;
  carom_ledger_note_solve(ledger, o->iterations, 0);
  carom_ledger_note_complementarity(ledger, o->residual, o->gap);
  carom_ledger_note_overlap(ledger, fmax(o->violation, o->overlap));
  if (c->model->joint_count > 0) carom_ledger_note_constraint(ledger, carom_joints_drift_at(c->model, state, end));
}

static carom_status predict(carom_stepper *stepper, carom_state *state, double h, carom_ledger *ledger,
                            carom_error *error) {
  carom_cone *c = stepper->work;
  c->h = h;
  carom_cone_kick(c, state, ledger);
  return solve(stepper, state, state->time + h, error);
}

static carom_status finish(carom_stepper *stepper, carom_state *state, carom_ledger *ledger, carom_error *error) {
  carom_cone *c = stepper->work;
  double end = state->time + c->h;
  carom_status status = carom_cone_book(c, state, end, ledger, error);
  if (status == CAROM_OK) status = correct(stepper, state, end, error);
  if (status != CAROM_OK) return status;
  carom_cone_book_losses(c, ledger);
  note_outcome(c, state, end, ledger);
  return carom_cone_recirculate(c, state, end, ledger, error);
}

// How much of a part that was solved is gone: to where bodies meet that bounce, and as far as the program is good.
static double share_of(carom_cone *c) {
  double good = carom_cone_good_share(c);
  c->stride = good < 1 ? good * c->h : fmax(c->stride, c->h);
  return fmin(good, carom_cone_first_meeting(c));
}

// Up to h; *taken says how far. Nothing is taken where bodies have met that bounce: they collide.
static carom_status take_part(carom_stepper *stepper, carom_state *state, double h, double *taken, carom_ledger *ledger,
                              carom_error *error) {
  carom_cone *c = stepper->work;
  carom_ledger_mark mark = carom_ledger_get_mark(ledger);
  if (c->program.before) carom_state_copy(c->program.before, state);
  *taken = fmin(h, GROWTH * c->stride);
  for (int cuts = 0;; cuts++) {
    carom_status status = predict(stepper, state, *taken, ledger, error);
    if (status != CAROM_OK) return status;
    bool now = carom_cone_collides_now(c);
    double share = c->program.before && !now ? share_of(c) : 1;
    if (!now && (share >= 1 || cuts == MOST_CUTS)) break;
    carom_state_copy(state, c->program.before);
    carom_ledger_roll_back(ledger, &mark);
    *taken = now ? 0 : share * *taken;
    if (now) return carom_cone_collide(c, state, ledger, error);
  }
  return finish(stepper, state, ledger, error);
}

static carom_status advance(carom_stepper *stepper, carom_state *state, double h, double end, carom_ledger *ledger,
                            carom_error *error) {
  carom_cone *c = stepper->work;
  double start = state->time, done = 0;
  carom_status status = CAROM_OK;
  c->whole = c->stride = h;
  for (int i = 0; done < h && status == CAROM_OK; i++) {
    double taken = h - done;
    state->time = start + done;
    c->hasty = i >= MOST_PARTS;
    status = take_part(stepper, state, h - done, &taken, ledger, error);
    done = taken >= h - done ? h : done + taken;
  }
  (void)end;
  state->time = start;
  return status;
}

const carom_integrator carom_integrator_cone = {
    .name = "cone",
    .summary = "many bodies in contact: one convex quadratic program over friction cones per step",
    .honours = &carom_honours_cone,
    CAROM_LIFE(cone),
    .advance = advance,
    .contact_moments = carom_cone_contact_moments,
};

// The exact variational collision integrator (Fetecau, Marsden, Ortiz and West 2003; Leyendecker, Marsden and Ortiz
// 2008; Johnson 2012, 3.4): collision times are unknowns. One step of a group of bodies that may meet:
//
//     bound     how fast can points move and bend their way                  (path.c)
//     search    the first time at which two bodies of the group touch        (search.c, limits.c)
//     move      the group goes there by the discrete flow                    (path.c)
//     collide   all contacts that touch then: momenta jump by the law        (impact.c)
//
// and again with the rest of the step. Groups do not see each other's impacts, so that one impact does not cut up the
// step of all (Johnson 2012, 3.4.2, "Multiple Collisions"); bodies that act on each other at a distance are one group.
// Contacts whose bounces would all be over in no time are kept as resting contacts (held.c).
#include "step/exact/exact.h"

#include <math.h>

#include "contact/reach.h"
#include "step/variational/constrained.h"

enum { MAX_WIDENINGS = 60, MAX_LANDINGS = 100 };

static const double LARGEST_TURN = 0.5;  // rad, between two impacts
// An impact within this share of the step is met with the forces at hand: positions are known to round-off, and forces
// that put them right in no time would make velocities of it.
static const double NO_TIME = 1e-7;
static const double SHORTEST = 1e-3;  // leap that resting contacts may ask for, likewise
static const double SETTLED = 1e-6;   // of a leap: forces found for a time that differs by less will do

// ---- room: bodies must stay where the candidate pairs expect them -------------------------------------------------

// How far bodies may get in h, as they move now.
static void allow_room(carom_exact *e, const carom_state *state, double h) {
  for (int i = 0; i < state->body_count; i++) {
    e->v[i] = carom_state_velocity(e->model, state, i);
    e->w[i] = cm_vec3(0, 0, carom_exact_spin(e, state, i));
  }
  carom_reach(e->model, &(carom_moving){.v = e->v, .w = e->w, .time = state->time, .h = h}, 0, e->reach);
  for (int i = 0; i < state->body_count; i++) e->bodies[i].allowed = e->reach[i];
  carom_exact_bound_driven(e, state->time, h);
  for (int i = 0; i < e->model->drive_count; i++) {
    carom_exact_body *b = &e->bodies[e->model->drives[i].body];
    b->allowed = carom_exact_travel(b, b->radius, h);  // as far as it is driven, and not farther
  }
}

// An impact may make bodies faster. True when more room is needed.
static bool needs_room(carom_exact *e, const carom_exact_group *g, double duration) {
  bool more = false;
  for (int i = 0; i < g->count; i++) {
    carom_exact_body *b = &e->bodies[g->bodies[i]];
    double need = b->used + carom_exact_travel(b, b->radius, duration);
    if (need <= b->allowed) continue;
    b->allowed = 2 * need;
    more = true;
  }
  return more;
}

static void use_room(carom_exact *e, const carom_exact_group *g, double time) {
  for (int i = 0; i < g->count; i++) {
    carom_exact_body *b = &e->bodies[g->bodies[i]];
    b->used += carom_exact_travel(b, b->radius, time);
  }
}

// ---- from impact to impact ---------------------------------------------------------------------------------------

// The longest leap in which no body of the group turns too far for the bounds to hold.
static double longest_leap(const carom_exact *e, const carom_exact_group *g) {
  double spin = 0;
  for (int i = 0; i < g->count; i++) spin = fmax(spin, e->bodies[g->bodies[i]].spin);
  return LARGEST_TURN / spin;
}

// Where to: the end of the step, or the first impact before it. Forces of resting contacts are found for a given time,
// so that an impact on the way asks for others: the search is made again for the shorter time, on the path as it will
// be. Leaps in which a body would turn too far are made shorter.
static carom_status find_landing(carom_stepper *stepper, const carom_state *state, const carom_exact_group *g,
                                 carom_exact_landing *landing, carom_error *error) {
  carom_exact *e = stepper->work;
  double duration = g->duration - g->time;
  for (int attempt = 0; attempt < MAX_LANDINGS; attempt++) {
    carom_status status = carom_exact_press(stepper, state, g, duration, error);
    if (status == CAROM_NOT_CONVERGED && e->trial.status == CAROM_OK && duration > SHORTEST * g->duration) {
      duration *= 0.5;
      continue;
    }
    if (status == CAROM_OK) status = carom_exact_bound(stepper, state, g, duration);
    if (status != CAROM_OK) return status;
    if (!(duration <= longest_leap(e, g))) {
      duration = 0.9 * longest_leap(e, g);
      continue;
    }
    *landing = (carom_exact_landing){.time = duration, .widen = needs_room(e, g, duration)};
    if (landing->widen) return CAROM_OK;
    status = carom_exact_search(stepper, state, g, landing, error);
    bool settled = landing->time > (1 - SETTLED) * duration || landing->time <= NO_TIME * g->duration;
    if (status != CAROM_OK || !landing->impact || carom_exact_held_count(e) == 0 || settled) return status;
    duration = landing->time;
  }
  return CAROM_OK;
}

// Groups have their own time within a step; driven bodies are where they are then.
static void set_clock(carom_exact *e, carom_state *state, const carom_exact_group *g) {
  e->now = g->start + g->time;
  carom_drives_place(e->model, state, e->now);
  carom_impact_system_set_time(e->impacts, e->now, 0.01 * g->duration);
}

// Mechanical energy, without what the outside put in so far.
static double own_energy(const carom_exact *e, const carom_state *state, const carom_ledger *ledger) {
  return carom_kinetic_energy(e->model, state) + carom_potential_energy(e->model, state) - ledger->report.work;
}

// Contacts push in kicks before the first and after the last force of a leap, which therefore see velocities that no
// body ever has: a damper on a body at rest would take energy. The flow books by these; so what it booked is put right
// by the difference. 0 where nothing is held, or the flow does not take forces at the ends of the leap alone.
static double power_at(const carom_stepper *stepper, const carom_state *state, bool held) {
  const carom_exact *e = stepper->work;
  const carom_step_options *o = &stepper->options;
  bool at_ends = o->quadrature == CAROM_QUADRATURE_ENDPOINT && o->order == 2;
  return held && e->whole && at_ends ? carom_variational_power(stepper, state, e->now) : 0;
}

// The way there: resting contacts push, the group moves, and velocities are made to leave the contacts.
static carom_status leap(carom_stepper *stepper, carom_state *state, carom_exact_group *g,
                         const carom_exact_landing *landing, carom_ledger *ledger, carom_error *error) {
  carom_exact *e = stepper->work;
  double left = g->duration - g->time - landing->time, short_of = 1e-12 * g->duration;
  bool held = carom_exact_held_count(e) > 0, cut = landing->impact || left > short_of;  // by an impact, most often
  double energy = held ? own_energy(e, state, ledger) : 0;
  use_room(e, g, landing->time);
  if (stepper->options.energy_condition == CAROM_ENERGY_DISCRETE) carom_state_copy(e->leap.before, state);
  e->leap.time = landing->time;
  double power = power_at(stepper, state, held);
  carom_status status = carom_exact_push_held(e, state, landing->time, ledger, error);
  power -= power_at(stepper, state, held);
  if (status == CAROM_OK) status = carom_exact_move(stepper, state, g, landing->time, ledger, error);
  g->time = cut ? g->time + landing->time : g->duration;
  set_clock(e, state, g);
  power -= power_at(stepper, state, held);
  if (status == CAROM_OK) status = carom_exact_settle(e, state, g, landing->time, ledger, error);
  power += power_at(stepper, state, held);
  carom_ledger_work(ledger, 0.5 * landing->time * power);
  if (held) carom_exact_book_loss(e, energy - own_energy(e, state, ledger), cut, ledger);
  return status;
}

static carom_status run_group(carom_stepper *stepper, carom_state *state, carom_exact_group *g, bool *widen,
                              carom_ledger *ledger, carom_error *error) {
  carom_exact *e = stepper->work;
  while (g->time < g->duration) {
    carom_exact_landing landing;
    set_clock(e, state, g);
    carom_status status = carom_exact_measure(e, state, g, ledger, error);
    if (status == CAROM_OK) status = find_landing(stepper, state, g, &landing, error);
    if (status != CAROM_OK && e->trial.status != CAROM_OK)
      return carom_fail(error, e->trial.status, "%s", e->trial.error.message);
    if (status == CAROM_OK && landing.widen) *widen = true;
    if (status != CAROM_OK || landing.widen) return status;
    status = leap(stepper, state, g, &landing, ledger, error);
    if (status == CAROM_OK && landing.impact) status = carom_exact_collide(stepper, state, g, ledger, error);
    if (status != CAROM_OK) return status;
  }
  return CAROM_OK;
}

// ---- the step ----------------------------------------------------------------------------------------------------

// *widen: the step must be begun again with more candidates. All groups tell what they need at once.
static carom_status run_groups(carom_stepper *stepper, carom_state *state, double h, bool *widen, carom_ledger *ledger,
                               carom_error *error) {
  carom_exact *e = stepper->work;
  carom_status status = carom_exact_find_groups(e, state, error);
  double start = state->time;
  *widen = false;
  for (int r = 0; r < state->body_count && status == CAROM_OK; r++) {
    carom_exact_group g = {.bodies = e->groups.order + e->groups.start[r],
                           .count = e->groups.count[r],
                           .root = r,
                           .start = start,
                           .duration = h};
    if (g.count > 0) status = run_group(stepper, state, &g, widen, ledger, error);
  }
  return status;
}

static void forget_paths(carom_exact *e) {
  for (int i = 0; i < e->model->body_count; i++) {
    e->bodies[i].used = 0;
    e->held.force[i] = e->held.torque[i] = cm_zero3();
  }
  carom_state_copy(e->trial.state, e->begin);
  e->trial.from = NULL;
  e->trial.status = CAROM_OK;
}

static carom_status advance(carom_stepper *stepper, carom_state *state, double h, double end, carom_ledger *ledger,
                            carom_error *error) {
  carom_exact *e = stepper->work;
  const carom_ledger_mark mark = carom_ledger_get_mark(ledger);
  carom_status status = CAROM_OK;
  bool widen = true;
  carom_exact_release_opened(e, state);
  carom_state_copy(e->begin, state);
  if (!carom_exact_copy_resting(e, &e->resting_begin, &e->resting))
    return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for contacts");
  allow_room(e, state, h);
  for (int attempt = 0; attempt < MAX_WIDENINGS && widen && status == CAROM_OK; attempt++) {
    carom_state_copy(state, e->begin);
    carom_ledger_roll_back(ledger, &mark);
    carom_exact_copy_resting(e, &e->resting, &e->resting_begin);  // there is room
    forget_paths(e);
    status = run_groups(stepper, state, h, &widen, ledger, error);
  }
  if (status == CAROM_OK && widen)
    return carom_fail(error, CAROM_NOT_CONVERGED, "bodies run away at t = %.9g s: use a smaller step", state->time);
  carom_drives_place(e->model, state, end);
  carom_ledger_sort(ledger, mark.report.event_count);
  return status;
}

const carom_integrator carom_integrator_exact = {
    .name = "exact",
    .summary = "collision times as unknowns: between impacts as 'variational', at impacts momenta jump by a law",
    .honours = &carom_honours_exact,
    .push = carom_exact_lay_out,
    .prepare = carom_exact_prepare,
    .advance = advance,
    .release = carom_exact_release,
    .remember = carom_exact_remember,
};

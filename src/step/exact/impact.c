// Impacts: all that touches at a moment, the jump of momenta (impact/system.h), and what comes to rest by it.
#include <math.h>

#include "base/memory.h"
#include "step/exact/exact.h"

// Bounces that would all be over within this share of the step give way to resting contact.
static const double ZENO = 1e-4;
// So do bounces no higher than this many times what is told apart from touching.
static const double LOWEST = 16;

// Points of the pair that touch.
static carom_status take_points(carom_exact *e, const carom_state *state, int pair, double touch, carom_error *error) {
  if (!carom_reserve(&e->allocator, (void **)&e->touching, &e->touching_capacity,
                     e->touching_count + CAROM_MANIFOLD_MAX, sizeof *e->touching))
    return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for the contacts");
  carom_contact *points = e->touching + e->touching_count;
  carom_contact_query query = {CAROM_CONTACT_POLYGON, touch, touch};
  int count = carom_contacts_of_pair(e->contacts, pair, state, &e->near[pair], &query, points);
  for (int i = 0; i < count; i++)
    if (points[i].gap <= e->near[pair].distance + touch) e->touching[e->touching_count++] = points[i];
  return CAROM_OK;
}

static carom_status take_contacts(carom_exact *e, const carom_state *state, const carom_exact_group *g,
                                  carom_error *error) {
  e->touching_count = 0;
  for (int i = 0; i < e->contacts->pair_count; i++) {
    if (!carom_exact_in_group(e, state, g, i)) continue;
    const carom_part_pair *pair = &e->contacts->pairs[i];
    bool rests = carom_exact_is_resting(e, pair);
    double touch = rests ? carom_exact_closed(e, state, pair) : 4 * carom_exact_within(e, state, pair);
    if (e->near[i].distance > touch) continue;
    carom_status status = take_points(e, state, i, touch, error);
    if (status != CAROM_OK) return status;
  }
  return CAROM_OK;
}

// All bounces to come of a contact that parts at speed u take 2u/(a (1 - e)) together, a being at most the bend; the
// next is u^2/2a high. Neither may be too small to be told from nothing. Elastic contacts never come to rest.
bool carom_exact_bounces_spent(const carom_exact_bounce *b, double before, double duration) {
  if (2 * b->speed <= (1 - b->restitution) * (b->bend * ZENO * duration + 1e-12 * before)) return true;
  return b->restitution < 1 && b->speed * b->speed <= 2 * LOWEST * b->bend * b->within;
}

static bool is_spent(const carom_exact *e, const carom_state *state, const carom_contact *c, double before,
                     double duration) {
  const carom_part_pair *pair = &e->contacts->pairs[c->pair];
  carom_exact_bounce bounce = {carom_contact_normal_velocity(e->impacts, state, c), c->restitution,
                               carom_exact_bend(e, pair), carom_exact_within(e, state, pair)};
  return carom_exact_bounces_spent(&bounce, before, duration);
}

static carom_status rest_pair(carom_exact *e, const carom_state *state, const carom_contact *c, carom_ledger *ledger,
                              carom_error *error) {
  const carom_part_pair *pair = &e->contacts->pairs[c->pair];
  if (carom_exact_is_resting(e, pair) || carom_joints_hold(e->model, state, pair->body_a, pair->body_b))
    return CAROM_OK;
  if (!carom_exact_add_resting(e, pair)) return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for contacts");
  carom_contact_event event = {.kind = CAROM_EVENT_ZENO,
                               .time = e->now,
                               .body_a = c->body_a,
                               .body_b = c->body_b,
                               .point = c->point_a,
                               .normal = c->normal};
  return carom_ledger_event(ledger, &event, error);
}

// Hands pairs that have come to rest over to held.c (all of them when there were too many impacts), and takes back
// those of which no point rests any more.
static carom_status rest_spent(carom_stepper *stepper, const carom_state *state, const carom_exact_group *g,
                               double before, carom_ledger *ledger, carom_error *error) {
  carom_exact *e = stepper->work;
  bool all = g->impacts >= stepper->options.max_impacts;
  for (int first = 0, last; first < e->touching_count; first = last) {
    int spent = 0;
    for (last = first; last < e->touching_count && e->touching[last].pair == e->touching[first].pair; last++)
      spent += is_spent(e, state, &e->touching[last], before, g->duration);
    if (spent == 0 && !all) carom_exact_drop_resting(e, &e->contacts->pairs[e->touching[first].pair]);
    if (spent < last - first && !all) continue;
    carom_status status = rest_pair(e, state, &e->touching[first], ledger, error);
    if (status != CAROM_OK) return status;
  }
  carom_exact_rest_limits(e, state, all, before, g->duration);
  return CAROM_OK;
}

static double fastest_touching(const carom_exact *e, const carom_state *state) {
  double most = carom_exact_fastest_limit(e, state);
  for (int i = 0; i < e->touching_count; i++)
    most = fmax(most, fabs(carom_contact_normal_velocity(e->impacts, state, &e->touching[i])));
  return most;
}

carom_status carom_exact_collide(carom_stepper *stepper, carom_state *state, carom_exact_group *g, carom_ledger *ledger,
                                 carom_error *error) {
  carom_exact *e = stepper->work;
  carom_status status = carom_exact_measure(e, state, g, ledger, error);
  if (status == CAROM_OK) status = take_contacts(e, state, g, error);
  if (status != CAROM_OK) return status;
  double before = fastest_touching(e, state);
  bool discrete = stepper->options.energy_condition == CAROM_ENERGY_DISCRETE;
  const carom_ledger_mark mark = carom_ledger_get_mark(ledger);
  if (discrete) carom_exact_note_leap(e, state, g);
  status = carom_impact_system_resolve(e->impacts, state, e->touching, e->touching_count, ledger, error);
  if (status == CAROM_OK && discrete) carom_exact_keep_discrete_energy(stepper, state, g, &mark, ledger);
  g->impacts++;
  if (status == CAROM_OK) status = rest_spent(stepper, state, g, before, ledger, error);
  if (status == CAROM_OK && g->impacts > 10 * (int64_t)stepper->options.max_impacts + 100)
    return carom_fail(error, CAROM_NOT_CONVERGED, "more than %d impacts within one step at t = %.9g s: use 'dcr'",
                      g->impacts, e->now);
  return status;
}

// A first guess by letting go: the bodies fly freely, or as given forces drive them, and meet where they meet; each
// planned contact is then given the time at which it happened, and the steps between contacts are scaled to fit.
#include <string.h>

#include "control/march.h"

// ---- given forces --------------------------------------------------------------------------------------------------

static void blend(const carom_given_force *a, const carom_given_force *b, double time, int count, double *tau) {
  double t = a == b ? 0 : fmin(fmax((time - a->time) / (b->time - a->time), 0), 1);
  for (int i = 0; i < count; i++) tau[i] = (1 - t) * a->value[i] + t * b->value[i];
}

void carom_guess_given(const carom_plan *plan, double time, double *tau) {
  memset(tau, 0, (size_t)carom_plan_components(plan) * sizeof *tau);
  const carom_given_force *before = NULL;
  for (int i = 0; i < plan->given_count; i++) {
    const carom_given_force *g = &plan->givens[i];
    const carom_plan_actuator *u = &plan->actuators[g->actuator];
    bool first = !before || before->actuator != g->actuator;
    if (first || time > before->time) blend(first ? g : before, g, time, u->components, tau + u->offset);
    before = g;
  }
}

// Forces do not change within a step: those of its middle are taken.
static carom_status step(carom_march *m, double h, carom_error *error) {
  carom_guess_given(m->plan, m->state->time - m->plan->start->time + 0.5 * h, m->tau);
  return carom_march_step(m, NULL, h, error);
}

// ---- flying --------------------------------------------------------------------------------------------------------

enum { MOST_BREAKS = 64 };

// A planned contact, whose time is to be found, or an event, which comes at the time of its node.
typedef struct stop {
  int node, contact, event;  // -1: not one of those
  double time;               // s from the start
} stop;

typedef struct flight {
  carom_plan *plan;
  carom_march m;
  stop stops[MOST_BREAKS];
  int count, found;  // of them
  double T;
} flight;

static void add_stop(flight *f, stop s) {
  int at = f->count++;
  for (; at > 0 && f->stops[at - 1].node > s.node; at--) f->stops[at] = f->stops[at - 1];
  f->stops[at] = s;
}

static carom_status list_stops(flight *f, carom_error *error) {
  const carom_plan *plan = f->plan;
  if (plan->contact_count + plan->event_count > MOST_BREAKS)
    return carom_fail(error, CAROM_ERR_LIMIT, "at most %d planned contacts and events", MOST_BREAKS);
  for (int i = 0; i < plan->contact_count; i++) add_stop(f, (stop){plan->contacts[i].def.node, i, -1, 0});
  for (int i = 0; i < plan->event_count; i++)
    if (!plan->events[i].last) add_stop(f, (stop){plan->events[i].node, -1, i, 0});
  return CAROM_OK;
}

// How far the lowest corner of a face is from the other one. The gap itself tells nothing of bodies on a joint of their
// own, which may touch there all the time.
static double height_now(const carom_march *m, int contact) {
  carom_plan_contact c = m->plan->contacts[contact];
  const carom_contact_features *f = &c.features;
  carom_pose pose[2];
  double least = INFINITY;
  for (int i = 0; i < 2; i++) pose[i] = cm_pose(m->state->x[c.def.body[i]], m->state->q[c.def.body[i]]);
  if (carom_contact_features_at(m->plan, &c, pose, NULL) != CAROM_OK) return least;
  int side = f->form == CAROM_FORM_VERTEX_A ? 0 : 1;
  for (int i = 0; i < f->corner_count; i++) {
    carom_vec3 at = cm_transform(pose[side], f->corners[i]);
    carom_vec3 seen = cm_unrotate(pose[1 - side].q, cm_sub(at, pose[1 - side].p));
    least = fmin(least, cm_dot(f->normal, seen) - f->offset);
  }
  return least;
}

static double gap_now(const carom_march *m, int contact) {
  const int *body = m->plan->contacts[contact].def.body;
  const carom_state *s = m->state;
  if (m->plan->contacts[contact].def.flat && carom_plan_are_joined(m->plan, body, m->interval))
    return height_now(m, contact);
  return carom_plan_gap(m->plan, body[0], cm_pose(s->x[body[0]], s->q[body[0]]), body[1],
                        cm_pose(s->x[body[1]], s->q[body[1]]));
}

// A step shorter than an interval: what holds stays the same.
static carom_status creep(carom_march *m, double h, carom_error *error) {
  int interval = m->interval;
  carom_status status = step(m, h, error);
  m->interval = interval;
  return status;
}

// Flies on in small steps until the bodies of a contact touch; the last step is cut by the secant rule.
static carom_status fly_to_contact(flight *f, int contact, double dt, bool *found, carom_error *error) {
  carom_march *m = &f->m;
  carom_status status = CAROM_OK;
  double gap = gap_now(m, contact), end = f->plan->start->time + 0.98 * f->T;
  *found = false;
  for (double t = m->state->time; t < end && status == CAROM_OK; t += dt) {
    double before = gap;
    status = creep(m, dt, error);
    gap = gap_now(m, contact);
    if (status != CAROM_OK || gap > 0 || before <= 0) continue;
    *found = true;
    return creep(m, -dt * gap / (gap - before), error);
  }
  return status;
}

static carom_status fly_to_time(flight *f, double time, double dt, carom_error *error) {
  carom_status status = CAROM_OK;
  double left = time - (f->m.state->time - f->plan->start->time);
  int steps = left > 0 ? (int)ceil(left / dt) : 0;
  for (int i = 0; i < steps && status == CAROM_OK; i++) status = creep(&f->m, left / steps, error);
  return status;
}

static carom_status fly_to_stop(flight *f, const stop *s, double dt, bool *found, carom_error *error) {
  *found = true;
  carom_status status = s->event >= 0 ? fly_to_time(f, s->node * f->plan->def.step, dt, error)
                                      : fly_to_contact(f, s->contact, dt, found, error);
  if (status != CAROM_OK || !*found) return status;
  status = s->event >= 0 ? carom_march_event(&f->m, s->event, error) : carom_march_impact(&f->m, s->contact, error);
  f->m.interval = s->node;
  return status;
}

static carom_status find_times(flight *f, carom_error *error) {
  carom_status status = CAROM_OK;
  bool found = true;
  while (status == CAROM_OK && found && f->found < f->count) {
    stop *s = &f->stops[f->found];
    status = fly_to_stop(f, s, f->T / 2000, &found, error);
    s->time = f->m.state->time - f->plan->start->time;
    if (status == CAROM_OK && found) f->found++;
  }
  return status;
}

// Stops that were not reached share what is left of the time.
static void scale_steps(flight *f) {
  carom_plan *plan = f->plan;
  double last = f->found ? f->stops[f->found - 1].time : 0;
  int missing = f->count - f->found;
  for (int i = f->found; i < f->count; i++)
    f->stops[i].time = last + (f->T - last) * (i - f->found + 1) / (missing + 1);
  for (int s = 0; s <= f->count; s++) {
    int from = s == 0 ? 0 : f->stops[s - 1].node, to = s == f->count ? plan->path.K : f->stops[s].node;
    double span = (s == f->count ? f->T : f->stops[s].time) - (s == 0 ? 0 : f->stops[s - 1].time);
    double sigma = span / ((to - from) * plan->def.step);
    plan->path.sigma[s] = fmin(fmax(sigma, 1.01 * plan->def.scale_low), 0.99 * plan->def.scale_high);
  }
}

static void store(carom_plan *plan, const carom_march *m, int node) {
  for (int i = 0; i < plan->model->body_count; i++) {
    size_t at = (size_t)node * (size_t)plan->model->body_count + (size_t)i;
    plan->path.x[at] = m->state->x[i], plan->path.q[at] = m->state->q[i];
  }
}

static carom_status stop_at(flight *f, int node, carom_error *error) {
  carom_status status = CAROM_OK;
  for (int i = 0; i < f->count && status == CAROM_OK; i++) {
    const stop *s = &f->stops[i];
    if (s->node != node) continue;
    if (s->event >= 0) status = carom_march_event(&f->m, s->event, error);
    if (s->contact < 0 || i >= f->found) continue;
    status = carom_contact_find_features(f->plan, &f->plan->contacts[s->contact], error);
    if (status == CAROM_OK) status = carom_march_impact(&f->m, s->contact, error);
  }
  return status;
}

static carom_status fly_nodes(flight *f, carom_error *error) {
  carom_plan *plan = f->plan;
  carom_status status = CAROM_OK;
  size_t components = (size_t)carom_plan_components(plan);
  for (int k = 0; k <= plan->path.K && status == CAROM_OK; k++) {
    store(plan, &f->m, k);
    status = stop_at(f, k, error);
    if (k == plan->path.K || status != CAROM_OK) break;
    status = step(&f->m, carom_plan_step(plan, k), error);
    memcpy(plan->path.tau + (size_t)k * components, f->m.tau, components * sizeof *f->m.tau);
  }
  return status;
}

// The node after which no contact happens any more.
static int last_contact(const carom_plan *plan) {
  int last = plan->contact_count ? plan->contacts[plan->contact_count - 1].def.node : 0;
  for (int k = plan->path.K - 1; k > last && plan->penalty_count; k--)
    if (carom_plan_overlap(plan, k) > 0) return k + 1 < plan->path.K ? k + 1 : k;
  return last;
}

// After the last contact, bodies with a target go straight there instead of flying on; not those on joints, which would
// be torn apart, and not where forces say how it goes on.
static void bend_to_targets(carom_plan *plan) {
  int last = last_contact(plan), K = plan->path.K;
  if (plan->joint_count || plan->given_count) return;
  for (int i = 0; i < plan->model->body_count; i++) {
    size_t n = (size_t)plan->model->body_count, at = (size_t)last * n + (size_t)i;
    carom_pose from = cm_pose(plan->path.x[at], plan->path.q[at]), to = from;
    if (plan->model->bodies[i].fixed || !carom_guess_target(plan, i, &to)) continue;
    for (int k = last + 1; k <= K; k++) {
      carom_pose pose = carom_guess_between(from, to, (double)(k - last) / (K - last));
      plan->path.x[(size_t)k * n + (size_t)i] = pose.p, plan->path.q[(size_t)k * n + (size_t)i] = pose.q;
    }
  }
}

carom_status carom_guess_forward(carom_plan *plan, uint64_t seed, carom_error *error) {
  flight f = {.plan = plan, .T = plan->def.step * plan->def.intervals};
  carom_status status = list_stops(&f, error);
  if (status == CAROM_OK) status = carom_march_create(plan, &f.m, error);
  if (status != CAROM_OK) return status;
  if (plan->variation) carom_guess_shake(plan, seed, f.m.state);
  status = find_times(&f, error);
  if (status == CAROM_OK) {
    scale_steps(&f);
    carom_march_reset(&f.m);
    if (plan->variation) carom_guess_shake(plan, seed, f.m.state);
    status = fly_nodes(&f, error);
    bend_to_targets(plan);
  }
  carom_march_destroy(&f.m);
  return status;
}

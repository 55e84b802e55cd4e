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

static double gap_now(const carom_march *m, int contact) {
  const int *body = m->plan->contacts[contact].def.body;
  const carom_state *s = m->state;
  return carom_plan_gap(m->plan, body[0], cm_pose(s->x[body[0]], s->q[body[0]]), body[1],
                        cm_pose(s->x[body[1]], s->q[body[1]]));
}

// Flies on in small steps until the bodies of a contact touch; the last step is cut by the secant rule.
static carom_status fly_to_contact(carom_march *m, int contact, double dt, double end, bool *found,
                                   carom_error *error) {
  *found = false;
  carom_status status = CAROM_OK;
  double gap = gap_now(m, contact);
  for (double t = m->state->time; t < end && status == CAROM_OK; t += dt) {
    double before = gap;
    status = step(m, dt, error);
    gap = gap_now(m, contact);
    if (status != CAROM_OK || gap > 0 || before <= 0) continue;
    status = step(m, -dt * gap / (gap - before), error);
    *found = true;
    return status;
  }
  return status;
}

static carom_status find_times(carom_plan *plan, carom_march *m, double *times, int *count, carom_error *error) {
  double T = plan->def.step * plan->def.intervals, dt = T / 2000;
  carom_status status = CAROM_OK;
  bool found = true;
  *count = 0;
  double start = m->state->time;
  while (status == CAROM_OK && found && *count < plan->contact_count) {
    status = fly_to_contact(m, *count, dt, start + 0.98 * T, &found, error);
    if (status != CAROM_OK || !found) break;
    times[*count] = m->state->time - start;
    status = carom_march_impact(m, *count, error);
    ++*count;
  }
  return status;
}

// Contacts that were not met share what is left of the time.
static void scale_steps(carom_plan *plan, double *times, int found) {
  double T = plan->def.step * plan->def.intervals, last = found ? times[found - 1] : 0;
  int missing = plan->contact_count - found;
  for (int i = found; i < plan->contact_count; i++) times[i] = last + (T - last) * (i - found + 1) / (missing + 1);
  for (int s = 0; s <= plan->contact_count; s++) {
    int from = s == 0 ? 0 : plan->contacts[s - 1].def.node;
    int to = s == plan->contact_count ? plan->path.K : plan->contacts[s].def.node;
    double span = (s == plan->contact_count ? T : times[s]) - (s == 0 ? 0 : times[s - 1]);
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

static carom_status fly_nodes(carom_plan *plan, carom_march *m, int found, carom_error *error) {
  carom_status status = CAROM_OK;
  size_t components = (size_t)carom_plan_components(plan);
  for (int k = 0; k <= plan->path.K && status == CAROM_OK; k++) {
    store(plan, m, k);
    for (int i = 0; i < found && status == CAROM_OK; i++) {
      if (plan->contacts[i].def.node != k) continue;
      status = carom_contact_find_features(plan, &plan->contacts[i], error);
      if (status == CAROM_OK) status = carom_march_impact(m, i, error);
    }
    if (k == plan->path.K || status != CAROM_OK) break;
    status = step(m, carom_plan_step(plan, k), error);
    memcpy(plan->path.tau + (size_t)k * components, m->tau, components * sizeof *m->tau);
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
  carom_march m;
  enum { MOST = 64 };
  double times[MOST];
  int found = 0;
  if (plan->contact_count > MOST) return carom_fail(error, CAROM_ERR_LIMIT, "at most %d planned contacts", MOST);
  carom_status status = carom_march_create(plan, &m, error);
  if (status != CAROM_OK) return status;
  if (plan->variation) carom_guess_shake(plan, seed, m.state);
  status = find_times(plan, &m, times, &found, error);
  if (status == CAROM_OK) {
    scale_steps(plan, times, found);
    carom_march_reset(&m);
    if (plan->variation) carom_guess_shake(plan, seed, m.state);
    status = fly_nodes(plan, &m, found, error);
    bend_to_targets(plan);
  }
  carom_march_destroy(&m);
  return status;
}

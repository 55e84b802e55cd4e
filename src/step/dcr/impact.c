// The momentum update at the end of a cycle (Johnson 2012, 3.5.4): all contacts that touch act at once.
#include <math.h>
#include <string.h>

#include "step/dcr/dcr.h"

// Energy that a group may gain by round-off, relative to what its impulses turn over.
static const double ROUND_OFF = 1e-12;

carom_sweep_options carom_dcr_sweep_options(const carom_stepper *stepper) {
  const carom_step_options *o = &stepper->options;
  return (carom_sweep_options){.tolerance = o->solver_tolerance > 0 ? o->solver_tolerance : 1e-10,
                               .max_sweeps = o->solver_iterations > 0 ? o->solver_iterations : 200,
                               .acceptable = 1e-6,
                               .max_updates = 1e5,
                               .thorough = true,
                               .threads = stepper->threads};
}

// The published laws know one contact for each pair, the others the whole polygon of contact.
static carom_contact_detail detail_for(carom_impact_law law) {
  return law == CAROM_IMPACT_SUM || law == CAROM_IMPACT_DECOMPOSITION ? CAROM_CONTACT_NEAREST : CAROM_CONTACT_POLYGON;
}

static carom_status take_in(carom_stepper *stepper, const carom_state *state, const carom_contact *contacts, int i,
                            carom_error *error) {
  carom_dcr *w = stepper->work;
  if (carom_joints_hold(stepper->model, state, contacts[i].body_a, contacts[i].body_b)) return CAROM_OK;
  carom_sweep_contact *c = carom_dcr_add(w, state, contacts, i);
  if (!c) return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for the contacts");
  double *u = w->before[i];
  carom_sweep_velocity(w->sweeps, c, u);
  w->slow[i] = carom_dcr_rest_speed(w, &contacts[i], stepper->options.step);
  bool hit = u[0] < -w->slow[i];
  c->target = hit ? -contacts[i].restitution * u[0] : 0;
  if (hit) w->pairs[contacts[i].pair].impact = true;
  return CAROM_OK;
}

static bool is_hit(const carom_dcr *w, const carom_sweep_group *g) {
  for (int i = g->first; i < g->first + g->count; i++) {
    int source = w->sweeps->contacts[i].source;
    if (w->before[source][0] < -w->slow[source]) return true;
  }
  return false;
}

static carom_status part_groups(carom_stepper *stepper, const carom_contact *contacts, carom_step_report *report,
                                carom_error *error) {
  carom_dcr *w = stepper->work;
  carom_status status = CAROM_OK;
  for (int i = 0; i < w->sweeps->group_count && status == CAROM_OK; i++) {
    carom_sweep_group *g = &w->sweeps->groups[i];
    bool free_bodies = g->joint_count == 0;  // the laws' W has no joints in it
    if (!free_bodies || g->count > CAROM_DCR_LAW_MAX || !is_hit(w, g)) continue;
    status = carom_dcr_apply_law(stepper, g, contacts, report, error);
  }
  return status;
}

// Whether a group's impulses give the bodies more energy than round-off can explain.
static bool gains_energy(const carom_dcr *w, const carom_sweep_group *g) {
  double work = 0, exchanged = 0;
  for (int i = g->first; i < g->first + g->count; i++) {
    const carom_sweep_contact *c = &w->sweeps->contacts[i];
    double after[3];
    carom_sweep_velocity(w->sweeps, c, after);
    for (int k = 0; k < 3; k++) {
      work += 0.5 * c->gamma[k] * (w->before[c->source][k] + after[k]);
      exchanged += 0.5 * fabs(c->gamma[k]) * (fabs(w->before[c->source][k]) + fabs(after[k]));
    }
  }
  return work > ROUND_OFF * exchanged;
}

// Keeps the impulses of a group, takes them back and asks for those without restitution.
static void withdraw(carom_dcr *w, carom_sweep_group *g) {
  for (int i = g->first; i < g->first + g->count; i++) {
    carom_sweep_contact *c = &w->sweeps->contacts[i];
    memcpy(c->kept, c->gamma, sizeof c->kept);
    carom_sweep_velocity(w->sweeps, c, c->kept_velocity);
    c->target = 0;
  }
  for (int i = g->joint_first; i < g->joint_first + g->joint_count; i++)
    w->sweeps->joints[i].kept = w->sweeps->joints[i].lambda;
  carom_sweep_withdraw(w->sweeps, g);
}

// With impulses P + s (K - P), P without restitution and K the kept ones, the work is a quadratic A + B s + C s^2; it
// is negative at 0 and positive at 1. Returns the root in between.
static double share_without_work(const carom_dcr *w, const carom_sweep_group *g) {
  double A = 0, B = 0, C = 0;
  for (int i = g->first; i < g->first + g->count; i++) {
    const carom_sweep_contact *c = &w->sweeps->contacts[i];
    double after[3];
    carom_sweep_velocity(w->sweeps, c, after);
    for (int k = 0; k < 3; k++) {
      double sum = w->before[c->source][k] + after[k], dg = c->kept[k] - c->gamma[k],
             du = c->kept_velocity[k] - after[k];
      A += 0.5 * c->gamma[k] * sum;
      B += 0.5 * (dg * sum + c->gamma[k] * du);
      C += 0.5 * dg * du;
    }
  }
  if (!(A < 0)) return 0;
  double root = sqrt(fmax(0, B * B - 4 * A * C)), s = B >= 0 ? -2 * A / (B + root) : (root - B) / (2 * C);
  return s >= 0 && s <= 1 ? s : 0;
}

static void mix_in_kept(carom_dcr *w, carom_sweep_group *g, double s) {
  int sweeps = g->sweeps;
  for (int i = g->first; i < g->first + g->count; i++) {
    carom_sweep_contact *c = &w->sweeps->contacts[i];
    for (int k = 0; k < 3; k++) c->kept[k] = c->gamma[k] + s * (c->kept[k] - c->gamma[k]);
  }
  for (int i = g->joint_first; i < g->joint_first + g->joint_count; i++) {
    carom_sweep_joint *j = &w->sweeps->joints[i];
    j->kept = j->lambda + s * (j->kept - j->lambda);
  }
  carom_sweep_withdraw(w->sweeps, g);
  for (int i = g->first; i < g->first + g->count; i++)
    memcpy(w->sweeps->contacts[i].gamma, w->sweeps->contacts[i].kept, sizeof w->sweeps->contacts[i].gamma);
  for (int i = g->joint_first; i < g->joint_first + g->joint_count; i++)
    w->sweeps->joints[i].lambda = w->sweeps->joints[i].kept;
  carom_sweep_apply(w->sweeps, g);
  g->sweeps = sweeps;
}

// Newton's restitution with friction can give more energy than there was (Kane 1984). A group that gains parts by as
// much of its restitution as keeps the energy: by a mean of its impulses and of those without restitution, which never
// gain. Either keeps impulses in their cones and lets no contact approach, and so does the mean.
static void forbid_gains(carom_stepper *stepper, const carom_sweep_options *options) {
  carom_dcr *w = stepper->work;
  bool again = false;
  for (int i = 0; i < w->sweeps->group_count; i++) {
    carom_sweep_group *g = &w->sweeps->groups[i];
    bool gains = !g->skip && is_hit(w, g) && gains_energy(w, g);
    g->skip = !gains;
    again = again || gains;
    if (gains) withdraw(w, g);
  }
  if (!again) return;
  carom_sweeps_solve(w->sweeps, options);
  for (int i = 0; i < w->sweeps->group_count; i++) {
    carom_sweep_group *g = &w->sweeps->groups[i];
    if (!g->skip) mix_in_kept(w, g, share_without_work(w, g));
  }
}

carom_status carom_dcr_impact(carom_stepper *stepper, carom_state *state, double dt, carom_step_report *report,
                              carom_error *error) {
  carom_dcr *w = stepper->work;
  const carom_contact *contacts;
  int count;
  double touch = CAROM_DCR_TOUCH * w->size;
  carom_contact_query query = {detail_for(stepper->options.law), touch, touch};
  carom_status status = carom_contacts_find(w->contacts, state, &query, &contacts, &count, error);
  if (status != CAROM_OK || count + w->limit_capacity == 0) return status;
  if (!carom_dcr_make_room(w, count))
    return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for %d contacts", count);
  status = carom_dcr_latch(stepper, state, state->time + dt, contacts, count, report, error);
  carom_dcr_load(stepper, state, 0);
  for (int i = 0; i < count && status == CAROM_OK; i++) status = take_in(stepper, state, contacts, i, error);
  if (status == CAROM_OK) status = carom_dcr_add_limits(stepper, state, 0, report, error);
  if (status == CAROM_OK) status = carom_dcr_group(stepper, state, error);
  if (status == CAROM_OK) status = part_groups(stepper, contacts, report, error);
  if (status != CAROM_OK) return status;
  carom_dcr_recall(w, state, contacts, 0.5 * dt);
  carom_sweep_options options = carom_dcr_sweep_options(stepper);
  carom_sweeps_solve(w->sweeps, &options);
  carom_dcr_note_residuals(w->sweeps, report);
  forbid_gains(stepper, &options);
  carom_dcr_note_residuals(w->sweeps, report);
  carom_dcr_book(stepper, state, contacts, 0.5 * dt, false, report);
  return CAROM_OK;
}

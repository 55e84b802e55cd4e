// The two solves of a cycle: contacts that last, before the smooth motion, and all that touch after it, at once
// (Johnson 2012, 3.5.4).
#include <math.h>
#include <string.h>

#include "contact/solve/problem.h"
#include "step/dcr/dcr.h"

// Energy that a group may gain by round-off, relative to what its impulses turn over.
static const double ROUND_OFF = 1e-12;

// ---- solving ------------------------------------------------------------------------------------------------------

static carom_groups_options options_of(const carom_stepper *stepper) {
  return carom_groups_default_options(stepper->options.solver_tolerance, stepper->options.solver_iterations);
}

static void note_residuals(const carom_groups *groups, carom_ledger *ledger) {
  carom_ledger_note_complementarity(ledger, carom_groups_residual(groups), 0);
  for (int i = 0; i < groups->count; i++)
    if (groups->groups[i].state == CAROM_GROUP_SETTLED) carom_ledger_note_solve(ledger, groups->groups[i].sweeps, 0);
}

// Groups of joints alone stay as they are.
static carom_status solve_groups(carom_stepper *stepper, carom_ledger *ledger, carom_error *error) {
  carom_dcr *w = stepper->work;
  carom_groups_options options = options_of(stepper);
  carom_status status = carom_groups_solve(w->groups, &options, error);
  if (status == CAROM_OK) note_residuals(w->groups, ledger);
  return status;
}

static bool is_limit(const carom_dcr *w, const carom_group *g, int row) {
  return w->gathering->sources[g->row[row]].kind == CAROM_ROW_LIMIT;
}

static void leave_joints_alone(carom_dcr *w) {
  for (int i = 0; i < w->groups->count; i++) {
    carom_group *g = &w->groups->groups[i];
    bool touched = g->problem.contact_count > 0;
    for (int k = 0; k < g->problem.row_count && !touched; k++) touched = is_limit(w, g, k);
    if (!touched) g->state = CAROM_GROUP_IDLE;
  }
}

// ---- rest ---------------------------------------------------------------------------------------------------------

carom_status carom_dcr_rest(carom_stepper *stepper, carom_state *state, double dt, carom_ledger *ledger,
                            carom_error *error) {
  carom_dcr *w = stepper->work;
  carom_dcr_solve solve = {.half = CAROM_DCR_REST, .dt = dt};
  double reach = dt * carom_dcr_fastest_rest(stepper);
  if (reach == 0) return CAROM_OK;
  carom_contact_query query = {.detail = CAROM_CONTACT_POLYGON, .reach = reach, .slop = reach};
  carom_status status = carom_contacts_find(w->contacts, state, &query, &solve.contacts, &solve.count, error);
  if (status != CAROM_OK || solve.count + w->limit_capacity == 0) return status;
  status = carom_dcr_gather(stepper, state, &solve, ledger, error);
  if (status != CAROM_OK) return status;
  leave_joints_alone(w);
  status = solve_groups(stepper, ledger, error);
  if (status != CAROM_OK) return status;
  carom_groups_join(w->groups, &w->gathering->solution);
  status = carom_dcr_book(stepper, state, &solve, ledger, error);
  return status == CAROM_OK ? carom_dcr_keep(stepper, state, &solve, error) : status;
}

// ---- energy -------------------------------------------------------------------------------------------------------

static bool is_hit(const carom_dcr *w, const carom_group *g) {
  for (int i = 0; i < g->problem.contact_count; i++) {
    const carom_dcr_touch *touch = &w->touches[g->contact[i]];
    if (cm_dot(touch->before, g->contacts[i].normal) < -touch->slow) return true;
  }
  for (int i = 0; i < g->problem.row_count; i++) {
    const carom_dcr_bar *bar = &w->bars[g->row[i]];
    if (is_limit(w, g, i) && bar->before < -bar->slow) return true;
  }
  return false;
}

// Impulse and velocity of a contact or a limit in a solution, and the velocity that books count from. False for rows of
// joints, which do no work.
typedef struct exchange {
  carom_vec3 impulse, after, from;
} exchange;

static bool exchange_of(const carom_dcr *w, const carom_group *g, const carom_contact_solution *s, int i, exchange *e) {
  int row = i - g->problem.contact_count;
  if (row < 0) {
    *e = (exchange){s->impulses[i], carom_contact_slip(&g->contacts[i], s->velocities, s->spins),
                    w->touches[g->contact[i]].from};
    return true;
  }
  double after = carom_contact_rate(&g->rows[row], s->velocities, s->spins), from = w->bars[g->row[row]].from;
  *e = (exchange){cm_vec3(s->multipliers[row], 0, 0), cm_vec3(after, 0, 0), cm_vec3(from, 0, 0)};
  return is_limit(w, g, row);
}

static int item_count(const carom_group *g) { return g->problem.contact_count + g->problem.row_count; }

// What a solution does to the group's energy; and what its impulses turn over, by which round-off is judged.
static double work_of(const carom_dcr *w, const carom_group *g, const carom_contact_solution *s, double *turned_over) {
  double work = 0;
  *turned_over = 0;
  for (int i = 0; i < item_count(g); i++) {
    exchange e;
    if (!exchange_of(w, g, s, i, &e)) continue;
    work += 0.5 * cm_dot(e.impulse, cm_add(e.from, e.after));
    *turned_over += 0.5 * cm_norm(e.impulse) * (cm_norm(e.from) + cm_norm(e.after));
  }
  return work;
}

static void keep_solution(carom_group *g) {
  size_t contacts = (size_t)g->problem.contact_count, rows = (size_t)g->problem.row_count;
  size_t bodies = (size_t)g->problem.body_count;
  if (contacts) memcpy(g->kept.impulses, g->solution.impulses, contacts * sizeof(carom_vec3));
  if (rows) memcpy(g->kept.multipliers, g->solution.multipliers, rows * sizeof(double));
  memcpy(g->kept.velocities, g->solution.velocities, bodies * sizeof(carom_vec3));
  memcpy(g->kept.spins, g->solution.spins, bodies * sizeof(carom_vec3));
}

static void forget_restitution(const carom_dcr *w, carom_group *g) {
  for (int i = 0; i < g->problem.contact_count; i++) g->contacts[i].bias = 0;
  for (int i = 0; i < g->problem.row_count; i++)
    if (is_limit(w, g, i)) g->rows[i].bias = 0;
}

// With impulses P + s (K - P), P without restitution and K the kept ones, the work is a quadratic A + B s + C s^2.
// Returns the s >= 0 at which it is `wanted`, or 0.
static double share_that_does(const carom_dcr *w, const carom_group *g, double wanted) {
  double A = -wanted, B = 0, C = 0;
  for (int i = 0; i < item_count(g); i++) {
    exchange p, k;
    if (!exchange_of(w, g, &g->solution, i, &p) || !exchange_of(w, g, &g->kept, i, &k)) continue;
    carom_vec3 sum = cm_add(p.from, p.after), dP = cm_sub(k.impulse, p.impulse), du = cm_sub(k.after, p.after);
    A += 0.5 * cm_dot(p.impulse, sum);
    B += 0.5 * (cm_dot(dP, sum) + cm_dot(p.impulse, du));
    C += 0.5 * cm_dot(dP, du);
  }
  if (!(A < 0)) return 0;
  double root = sqrt(fmax(0, B * B - 4 * A * C)), s = B >= 0 ? -2 * A / (B + root) : (root - B) / (2 * C);
  return s >= 0 && isfinite(s) ? s : 0;
}

static void mix_in_kept(carom_group *g, double s) {
  for (int i = 0; i < g->problem.contact_count; i++)
    g->solution.impulses[i] = cm_lerp(g->solution.impulses[i], g->kept.impulses[i], s);
  for (int i = 0; i < g->problem.row_count; i++)
    g->solution.multipliers[i] += s * (g->kept.multipliers[i] - g->solution.multipliers[i]);
  for (int i = 0; i < g->problem.body_count; i++) {
    g->solution.velocities[i] = cm_lerp(g->solution.velocities[i], g->kept.velocities[i], s);
    g->solution.spins[i] = cm_lerp(g->solution.spins[i], g->kept.spins[i], s);
  }
}

static bool is_smooth(const carom_group *g) {
  for (int i = 0; i < g->problem.contact_count; i++)
    if (g->contacts[i].friction > 0) return false;
  return true;
}

// The projection changes the bodies' potential by `debt`. What they hit with they had not when they met, but less by
// that; so they part with less, too, by the share of the energy of approach that restitution gives back. Besides,
// Newton's restitution with friction can give more energy than there was (Kane 1984), and may not. A group parts by a
// mean of its impulses and of those without restitution, which never gain: either keeps impulses in their cones and
// lets no contact approach, and so does the mean. (Without friction, a little beyond either.)
static carom_status balance_group(carom_stepper *stepper, carom_group *g, carom_error *error) {
  carom_dcr *w = stepper->work;
  carom_groups_options options = options_of(stepper);
  double turned_over, unused, debt = carom_dcr_debt_of(w, g), law = work_of(w, g, &g->solution, &turned_over);
  bool gains = law + debt > ROUND_OFF * turned_over, few = g->problem.contact_count <= CAROM_DCR_LAW_MAX;
  if (!gains && !(few && fabs(debt) > ROUND_OFF * turned_over)) return CAROM_OK;
  keep_solution(g);
  forget_restitution(w, g);
  carom_status status = carom_groups_solve_one(w->groups, g, &options, error);
  if (status != CAROM_OK) return status;
  double without = work_of(w, g, &g->solution, &unused), returned = without < 0 ? 1 - fmin(law, 0) / without : 0;
  double wanted = fmin(law - fmax(0, returned) * debt, -debt);
  // With friction or joints restitution may take more than parting without it: there is nothing to be had from a mean.
  double share = without >= wanted && law <= without ? 1 : share_that_does(w, g, wanted);
  mix_in_kept(g, is_smooth(g) ? fmin(share, 1.1) : fmin(share, 1));
  return CAROM_OK;
}

static carom_status balance_energy(carom_stepper *stepper, carom_ledger *ledger, carom_error *error) {
  carom_dcr *w = stepper->work;
  carom_status status = CAROM_OK;
  for (int i = 0; i < w->groups->count && status == CAROM_OK; i++) {
    carom_group *g = &w->groups->groups[i];
    if (g->state != CAROM_GROUP_IDLE && is_hit(w, g)) status = balance_group(stepper, g, error);
  }
  if (status == CAROM_OK) note_residuals(w->groups, ledger);
  return status;
}

// ---- impact -------------------------------------------------------------------------------------------------------

// The published laws know one contact for each pair, the others the whole polygon of contact.
static carom_contact_detail detail_for(carom_impact_law law) {
  return law == CAROM_IMPACT_SUM || law == CAROM_IMPACT_DECOMPOSITION ? CAROM_CONTACT_NEAREST : CAROM_CONTACT_POLYGON;
}

// Contacts for which a latch waits stick.
static carom_status latch(carom_stepper *stepper, carom_state *state, const carom_dcr_solve *solve,
                          carom_ledger *ledger, carom_error *error) {
  carom_dcr *w = stepper->work;
  if (!w->latches) return CAROM_OK;
  carom_impact_system_set_time(w->latches, state->time, 0);
  return carom_impact_system_latch(w->latches, state, solve->contacts, solve->count, ledger, error);
}

static carom_status part_by_law(carom_stepper *stepper, const carom_contact *contacts, carom_ledger *ledger,
                                carom_error *error) {
  carom_dcr *w = stepper->work;
  carom_status status = CAROM_OK;
  for (int i = 0; i < w->groups->count && status == CAROM_OK; i++) {
    carom_group *g = &w->groups->groups[i];
    bool free_bodies = g->problem.row_count == 0;  // the laws' W has no joints in it
    if (free_bodies && g->problem.contact_count <= CAROM_DCR_LAW_MAX && is_hit(w, g))
      status = carom_dcr_apply_law(stepper, g, contacts, ledger, error);
  }
  return status;
}

carom_status carom_dcr_impact(carom_stepper *stepper, carom_state *state, double dt, carom_ledger *ledger,
                              carom_error *error) {
  carom_dcr *w = stepper->work;
  carom_dcr_solve solve = {.half = CAROM_DCR_IMPACT, .dt = dt};
  double touch = CAROM_DCR_TOUCH * w->size;
  carom_contact_query query = {
      .detail = detail_for(stepper->options.law), .reach = touch + CAROM_DCR_HANG * w->moved, .slop = touch};
  carom_status status = carom_contacts_find(w->contacts, state, &query, &solve.contacts, &solve.count, error);
  if (status != CAROM_OK || solve.count + w->limit_capacity == 0) return status;
  status = latch(stepper, state, &solve, ledger, error);
  if (status == CAROM_OK) status = carom_dcr_gather(stepper, state, &solve, ledger, error);
  if (status != CAROM_OK) return status;
  leave_joints_alone(w);
  status = part_by_law(stepper, solve.contacts, ledger, error);
  if (status == CAROM_OK) status = solve_groups(stepper, ledger, error);
  if (status == CAROM_OK) status = balance_energy(stepper, ledger, error);
  if (status != CAROM_OK) return status;
  carom_groups_join(w->groups, &w->gathering->solution);
  return carom_dcr_book(stepper, state, &solve, ledger, error);
}

// Collisions: what touches at one moment, by Newton's or by Poisson's law. With friction either may make energy, also
// where e <= 1 (Kane and Levinson 1985): the impulses then lie between those of a plastic collision, which never does,
// and those of the law, as near to the latter as energy allows. All of them push, lie in their cones and part bodies,
// and so does what lies between.
#include <math.h>
#include <string.h>

#include "step/moreau/moreau.h"

static const double ROUND_OFF = 1e-12;  // of the work of all impulses: energy that was not made

// ---- energy ---------------------------------------------------------------------------------------------------------

static double rate_of(const carom_moreau *m, const carom_moreau_item *item, int k, const carom_twists *v) {
  return carom_row_rate(m->model, &item->row[k], v->v, v->w) - item->surface[k];
}

// Impulses at hand and the velocities that they lead to.
static void keep(const carom_moreau *m, carom_moreau_item *item, carom_moreau_outcome *outcome) {
  memcpy(outcome->impulse, item->impulse, sizeof outcome->impulse);
  for (int k = 0; k <= item->tangents; k++) outcome->rate[k] = rate_of(m, item, k, &m->motion.v_new);
}

static void keep_all(carom_moreau *m, bool plastic) {
  for (int i = 0; i < m->items.count; i++) {
    carom_moreau_item *item = &m->items.list[i];
    keep(m, item, plastic ? &item->plastic : &item->full);
  }
}

// What contacts that W couples put into the motion: impulses times the mean of the velocities before and after.
typedef struct carom_balance_of_part {
  double plastic, slope, curve;  // of the work, from the plastic collision (0) to the law (1)
  double size;                   // of all that adds up to it
} part_work;

static part_work work_of_part(const carom_moreau *m, int part) {
  part_work w = {0};
  for (int i = 0; i < m->items.count; i++) {
    const carom_moreau_item *item = &m->items.list[i];
    if (m->solver->group[i] != part) continue;
    for (int k = 0; k <= item->tangents; k++) {
      double more = item->full.impulse[k] - item->plastic.impulse[k];
      double faster = item->full.rate[k] - item->plastic.rate[k];
      w.plastic += 0.5 * item->plastic.impulse[k] * (item->free[k] + item->plastic.rate[k]);
      w.slope += 0.5 * (item->plastic.impulse[k] * faster + more * (item->free[k] + item->plastic.rate[k]));
      w.curve += 0.5 * more * faster;
      w.size += fabs(item->full.impulse[k]) * (fabs(item->free[k]) + fabs(item->full.rate[k]));
    }
  }
  return w;
}

// The largest share in [0, 1] at which plastic + slope s + curve s^2 is not above 0.
static double share_without_gain(const part_work *w) {
  if (w->plastic + w->slope + w->curve <= ROUND_OFF * w->size || w->plastic >= 0)
    return w->plastic + w->slope + w->curve <= ROUND_OFF * w->size ? 1 : 0;
  double root = sqrt(w->slope * w->slope - 4 * w->curve * w->plastic);
  return fmin(1, -2 * w->plastic / (w->slope + root));
}

static bool makes_energy(const carom_moreau *m) {
  double made = 0, size = 0;
  bool any = false;
  for (int part = 0; part < m->items.count && !any; part++, made = size = 0) {
    for (int i = part; i < m->items.count && m->solver->group[part] == part; i++) {
      const carom_moreau_item *item = &m->items.list[i];
      for (int k = 0; k <= item->tangents && m->solver->group[i] == part; k++) {
        made += 0.5 * item->full.impulse[k] * (item->free[k] + item->full.rate[k]);
        size += fabs(item->full.impulse[k]) * (fabs(item->free[k]) + fabs(item->full.rate[k]));
      }
    }
    any = made > ROUND_OFF * size;
  }
  return any;
}

static void limit_energy(carom_moreau *m) {
  carom_moreau_motion *motion = &m->motion;
  for (int part = 0; part < m->items.count; part++) {
    if (m->solver->group[part] != part) continue;
    part_work work = work_of_part(m, part);
    double share = share_without_gain(&work);
    for (int i = part; i < m->items.count; i++) {
      carom_moreau_item *item = &m->items.list[i];
      for (int k = 0; k <= item->tangents && m->solver->group[i] == part; k++) {
        double low = item->plastic.impulse[k], impulse = low + share * (item->full.impulse[k] - low);
        carom_row_push(m->model, &item->row[k], impulse - item->impulse[k], motion->b.p, motion->b.l);
        item->impulse[k] = impulse;
      }
    }
  }
  carom_moreau_new_velocity(motion);
}

// ---- laws -----------------------------------------------------------------------------------------------------------

// Poisson: after the impulses of a plastic collision (compression) e times the normal ones are given back, and
// further impulses keep bodies from entering each other again (2.1.12-2.1.22).
static carom_status decompress(carom_moreau *m, double still, carom_ledger *ledger, carom_error *error) {
  carom_moreau_motion *motion = &m->motion;
  for (int i = 0; i < m->items.count; i++) {
    carom_moreau_item *item = &m->items.list[i];
    memcpy(item->returned, item->impulse, sizeof item->returned);
    item->solved = false;
    if (item->impact) item->returned[0] += item->e * item->impulse[0];
    for (int k = 0; k <= item->tangents; k++)
      carom_row_push(m->model, &item->row[k], item->returned[k], motion->b_free.p, motion->b_free.l);
  }
  carom_moreau_free_velocity(motion);
  carom_status status = carom_moreau_solve(m, still, ledger, error);
  for (int i = 0; i < m->items.count && status == CAROM_OK; i++)
    for (int k = 0; k < 3; k++) m->items.list[i].impulse[k] += m->items.list[i].returned[k];
  return status;
}

static carom_status by_poisson(carom_moreau *m, double still, carom_ledger *ledger, carom_error *error) {
  carom_status status = carom_moreau_solve(m, still, ledger, error);
  if (status != CAROM_OK) return status;
  keep_all(m, true);
  status = decompress(m, still, ledger, error);
  if (status != CAROM_OK) return status;
  keep_all(m, false);
  if (makes_energy(m)) limit_energy(m);
  return CAROM_OK;
}

static carom_status by_newton(carom_moreau *m, double still, carom_ledger *ledger, carom_error *error) {
  carom_status status = carom_moreau_solve(m, still, ledger, error);
  if (status != CAROM_OK) return status;
  keep_all(m, false);
  if (!makes_energy(m)) return CAROM_OK;
  for (int i = 0; i < m->items.count; i++) m->items.list[i].bias = 0;
  carom_moreau_free_velocity(&m->motion);
  status = carom_moreau_solve(m, still, ledger, error);
  if (status != CAROM_OK) return status;
  keep_all(m, true);
  limit_energy(m);
  return CAROM_OK;
}

// Newton: u+ >= -e u-. Impacts begin when forces have acted.
static bool allow_bounces(carom_moreau *m, double slow) {
  bool any = false;
  for (int i = 0; i < m->items.count; i++) {
    carom_moreau_item *item = &m->items.list[i];
    double approach = carom_moreau_approach(m, item, slow);
    item->impact = approach > 0;
    any = any || item->impact;
    for (int end = 0; end < 2 && item->impact; end++)
      if (carom_body_moves(m->model, item->row[0].body[end])) m->impacts[item->row[0].body[end]]++;
    item->bias = m->options->poisson ? 0 : -item->e * approach;
    for (int k = 0; k <= item->tangents; k++) {
      item->free[k] = rate_of(m, item, k, &m->motion.v_free);
      if (item->impact) item->before[k] = item->free[k] + item->surface[k];
    }
  }
  return any;
}

carom_status carom_moreau_collide(carom_moreau *m, carom_state *state, double kick, carom_ledger *ledger,
                                  carom_error *error) {
  carom_moreau_span moment = {0, kick, 1};
  carom_status status = carom_moreau_begin(&m->motion, state, &moment, error);
  if (status == CAROM_OK) status = carom_moreau_candidates(m, m->whole, error);
  if (status == CAROM_OK) status = carom_moreau_gather(m, CAROM_MOREAU_TOUCHING, error);
  if (status != CAROM_OK) return status;
  double slow = carom_moreau_slow(m), still = kick > 0 ? 0 : slow;
  bool any = allow_bounces(m, slow);
  if (!any && kick == 0) return CAROM_OK;
  if (!any)
    status = carom_moreau_solve(m, still, ledger, error);
  else
    status = (m->options->poisson ? by_poisson : by_newton)(m, still, ledger, error);
  if (status == CAROM_OK) status = carom_moreau_move(&m->motion, state, error);
  return status == CAROM_OK ? carom_moreau_book(m, ledger, error) : status;
}

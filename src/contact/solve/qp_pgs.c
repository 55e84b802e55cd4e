// Projected Gauss-Seidel over the coloured plan, warm-started, for any number of threads with the same bits. Between
// sweeps impulses and velocities, which are affine in each other, are carried on along their last change with
// Nesterov's weights: for stiff piles this takes the place of squaring the number of sweeps. A sweep that leads uphill
// or grows drops the momentum; where that keeps happening without gain it is given up, and plain Gauss-Seidel
// converges.
#include "contact/solve/qp_pgs.h"

#include <math.h>
#include <string.h>

enum { CHECK_EVERY = 4 };         // sweeps between looks at the true residual, once their own estimate is small
enum { MOST_SETBACKS = 20 };      // in a row, before momentum is given up
static const double SETBACK = 4;  // growth of the sweeps' energy that counts as one

typedef struct momentum {
  double beta, theta;
  double lowest, lowest_ever;  // energy of a sweep: since the last restart, and before it
  int setbacks;                // restarts in a row without a new lowest
} momentum;

size_t carom_qp_pgs_bytes(const carom_qp_system *s) {
  carom_qp_plan plan;
  carom_qp_taker taker = {0};
  carom_qp_plan_take(&plan, s, &taker);
  return taker.bytes;
}

static void take_share(const carom_qp_system *s, const carom_qp_plan *plan, double beta, const int range[3][2],
                       int share, carom_qp_tally *tally) {
  *tally = (carom_qp_tally){0};
  int kind = 0, shares;
  for (;; kind++, share -= shares) {
    shares = (range[kind][1] - range[kind][0] + CAROM_QP_SHARE - 1) / CAROM_QP_SHARE;
    if (share < shares || kind == 2) break;
  }
  int first = range[kind][0] + share * CAROM_QP_SHARE;
  int last = first + CAROM_QP_SHARE < range[kind][1] ? first + CAROM_QP_SHARE : range[kind][1];
  if (kind == 0) carom_qp_visit_packs(plan->packs, first, last, beta, plan->V, tally);
  for (int i = first; kind == 1 && i < last; i++) carom_qp_visit_single(s, plan, &plan->singles[i], beta, tally);
  for (int i = first; kind == 2 && i < last; i++) carom_qp_visit_joint(s, plan, &plan->joints[i], beta, tally);
}

static int shares_of(const int range[3][2]) {
  int shares = 0;
  for (int kind = 0; kind < 3; kind++)
    shares += (range[kind][1] - range[kind][0] + CAROM_QP_SHARE - 1) / CAROM_QP_SHARE;
  return shares;
}

// All members of group g, in shares; called by every thread of a team. Returns the number of shares.
static int visit_group(const carom_qp_system *s, const carom_qp_plan *plan, int g, double beta,
                       carom_qp_tally *tallies) {
  const int range[3][2] = {{plan->pack_start[g], plan->pack_start[g + 1]},
                           {plan->single_start[g], plan->single_start[g + 1]},
                           {plan->joint_start[g], plan->joint_start[g + 1]}};
  int shares = shares_of(range);
  if (g == CAROM_QP_COLORS) {  // what found no colour, in order
#pragma omp single
    for (int i = 0; i < shares; i++) take_share(s, plan, beta, range, i, &tallies[i]);
    return shares;
  }
#pragma omp for schedule(static)
  for (int i = 0; i < shares; i++) take_share(s, plan, beta, range, i, &tallies[i]);
  return shares;
}

// Carries the velocities on along their last change.
static void carry_velocities(const carom_qp_system *s, const carom_qp_plan *plan, double beta) {
  int bodies = s->problem.body_count;
#pragma omp for schedule(static)
  for (int i = 0; i < bodies; i++) {
    double *V = plan->V + CAROM_QP_STATE * (size_t)i, *before = plan->V_before + CAROM_QP_STATE * (size_t)i;
    for (int k = 0; k < 6; k++) {
      double now = V[k];
      V[k] += beta * (V[k] - before[k]);
      before[k] = now;
    }
  }
}

// Called by every thread of a team, or by one that has none: libgomp would ask the heap for one.
static int visit_groups(const carom_qp_system *s, const carom_qp_plan *plan, double beta) {
  int shares = 0;
  carry_velocities(s, plan, beta);
  for (int g = 0; g < plan->groups; g++) shares += visit_group(s, plan, g, beta, plan->tallies + shares);
  return shares;
}

static carom_qp_tally sweep(carom_qp_system *s, const carom_qp_plan *plan, double beta) {
  int used = 0;
  s->fresh = false;
  if (s->threads == 1) {
    used = visit_groups(s, plan, beta);
  } else {
#pragma omp parallel num_threads(s->threads)
    {
      int shares = visit_groups(s, plan, beta);
#pragma omp single
      used = shares;
    }
  }
  carom_qp_tally tally = {0};
  for (int i = 0; i < used; i++) {
    tally.most = fmax(tally.most, plan->tallies[i].most);
    tally.energy += plan->tallies[i].energy;
    tally.turn += plan->tallies[i].turn;
  }
  return tally;
}

// The weights of Nesterov (1983); restarts after O'Donoghue and Candes (2015), and when sweeps have grown.
static void update_momentum(momentum *m, const carom_qp_tally *tally) {
  bool setback = tally->energy > SETBACK * m->lowest;
  double next = (sqrt(m->theta * m->theta + 4) - m->theta) * m->theta / 2;
  m->beta = m->theta * (1 - m->theta) / (m->theta * m->theta + next);
  m->theta = next;
  m->lowest = fmin(m->lowest, tally->energy);
  if (setback) m->setbacks = m->lowest < m->lowest_ever ? 0 : m->setbacks + 1;
  if (!setback && !(tally->turn > 0) && m->setbacks < MOST_SETBACKS) return;
  m->lowest_ever = fmin(m->lowest, m->lowest_ever);
  m->beta = 0, m->theta = 1, m->lowest = tally->energy;
}

// V = v_free + M^-1 D x
static void start_velocities(carom_qp_system *s, carom_qp_plan *plan, carom_qp_info *info) {
  size_t count = CAROM_QP_STATE * ((size_t)s->problem.body_count + 1);
  memcpy(plan->V, s->state, count * sizeof(double));
  if (s->options.warm_start) {
    carom_qp_apply(s, s->x, s->w);
    info->products++;
    for (size_t i = 0; i < count; i += CAROM_QP_STATE)
      for (size_t k = i; k < i + 6; k++) plan->V[k] += s->change[k];
  }
  memcpy(plan->V_before, plan->V, count * sizeof(double));
  memcpy(plan->x_before, s->x, (size_t)s->n * sizeof(double));
}

static void unpack(carom_qp_system *s, const carom_qp_plan *plan) {
  for (int i = 0; i < CAROM_QP_LANES * plan->pack_start[CAROM_QP_GROUPS]; i++)
    if (plan->lane[i] >= 0)
      for (int k = 0; k < 3; k++)
        s->x[3 * (size_t)plan->lane[i] + (size_t)k] = plan->packs[i / CAROM_QP_LANES].impulse[k][i % CAROM_QP_LANES];
}

static bool truly_done(carom_qp_system *s, const carom_qp_plan *plan, carom_qp_info *info) {
  unpack(s, plan);
  carom_qp_refresh(s, info);
  return carom_qp_good_enough(s, info);
}

carom_status carom_qp_pgs(carom_qp_system *s, carom_arena *arena, carom_qp_info *info, carom_error *error) {
  (void)error;
  carom_qp_plan plan = {0};
  carom_qp_taker taker = {.arena = arena};
  double begin = carom_clock();
  carom_qp_plan_take(&plan, s, &taker);
  carom_qp_plan_make(&plan, s);
  start_velocities(s, &plan, info);
  info->setup_seconds += carom_clock() - begin;
  info->colors = plan.groups;
  info->outcome = CAROM_QP_LIMIT;
  int next_look = 0;
  momentum m = {.theta = 1, .lowest = INFINITY, .lowest_ever = INFINITY};
  while (info->iterations < s->options.max_iterations) {
    carom_qp_tally tally = sweep(s, &plan, m.beta);
    info->iterations++, info->products++;
    update_momentum(&m, &tally);
    bool close = tally.most <= s->options.tolerance * s->scale && s->options.tolerance > 0;
    if (!(close && info->iterations >= next_look) && tally.most > 0) continue;
    if (truly_done(s, &plan, info)) return info->outcome = CAROM_QP_SOLVED, CAROM_OK;
    if (tally.most == 0) return info->outcome = CAROM_QP_STALLED, CAROM_OK;
    next_look = info->iterations + CHECK_EVERY;
  }
  unpack(s, &plan);
  return CAROM_OK;
}

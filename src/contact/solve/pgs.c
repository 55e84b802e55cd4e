// Projected Gauss-Seidel over the coloured plan, warm-started, for any number of threads with the same bits and for any
// contact law. Between sweeps impulses and velocities, which are affine in each other, are carried on along their last
// change: for stiff piles this takes the place of squaring the number of sweeps. With Nesterov's weights a sweep that
// leads uphill or grows drops the momentum; where that keeps happening without gain it is given up, and plain
// Gauss-Seidel converges.
#include "contact/solve/pgs.h"

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

size_t carom_contact_pgs_bytes(const carom_contact_system *s) {
  carom_contact_plan plan;
  carom_contact_taker taker = {0};
  carom_contact_plan_take(&plan, s, &taker);
  return taker.bytes;
}

// Members of a colour: packs, singles, joints from .. to.
typedef struct members {
  int from[3], to[3];
} members;

static members members_of(const carom_contact_plan *plan, int color) {
  return (members){{plan->pack_start[color], plan->single_start[color], plan->joint_start[color]},
                   {plan->pack_start[color + 1], plan->single_start[color + 1], plan->joint_start[color + 1]}};
}

static int shares_of(const members *m) {
  int shares = 0;
  for (int kind = 0; kind < 3; kind++)
    shares += (m->to[kind] - m->from[kind] + CAROM_CONTACT_SHARE - 1) / CAROM_CONTACT_SHARE;
  return shares;
}

static void take_share(const carom_contact_system *s, const carom_contact_plan *plan, const members *m, int share,
                       double beta, carom_contact_tally *tally) {
  *tally = (carom_contact_tally){0};
  int kind = 0, shares;
  for (;; kind++, share -= shares) {
    shares = (m->to[kind] - m->from[kind] + CAROM_CONTACT_SHARE - 1) / CAROM_CONTACT_SHARE;
    if (share < shares || kind == 2) break;
  }
  int first = m->from[kind] + share * CAROM_CONTACT_SHARE;
  int last = first + CAROM_CONTACT_SHARE < m->to[kind] ? first + CAROM_CONTACT_SHARE : m->to[kind];
  bool coulomb = s->options.law == CAROM_CONTACT_COULOMB;
  if (kind == 0 && coulomb) carom_contact_visit_coulomb_packs(plan->packs, first, last, beta, plan->V, tally);
  if (kind == 0 && !coulomb) carom_contact_visit_packs(plan->packs, first, last, beta, plan->V, tally);
  for (int i = first; kind == 1 && i < last; i++) carom_contact_visit_single(s, plan, &plan->singles[i], beta, tally);
  for (int i = first; kind == 2 && i < last; i++) carom_contact_visit_joint(s, plan, &plan->joints[i], beta, tally);
}

// Carries a body's velocity on along its last change.
static void carry(const carom_contact_plan *plan, int body, double beta) {
  double *V = plan->V + CAROM_CONTACT_STATE * (size_t)body,
         *before = plan->V_before + CAROM_CONTACT_STATE * (size_t)body;
  for (int k = 0; k < 6; k++) {
    double now = V[k];
    V[k] += beta * (V[k] - before[k]);
    before[k] = now;
  }
}

static int sweep_alone(const carom_contact_system *s, const carom_contact_plan *plan, double beta) {
  int taken = 0;
  for (int i = 0; i < s->problem.body_count; i++) carry(plan, i, beta);
  for (int color = 0; color < plan->colors; color++) {
    members m = members_of(plan, color);
    int shares = shares_of(&m);
    for (int i = 0; i < shares; i++) take_share(s, plan, &m, i, beta, &plan->tallies[taken + i]);
    taken += shares;
  }
  return taken;
}

static int sweep_in_team(const carom_contact_system *s, const carom_contact_plan *plan, double beta) {
  int all = 0;
#pragma omp parallel num_threads(s->threads)
  {
    int taken = 0;
#pragma omp for schedule(static)
    for (int i = 0; i < s->problem.body_count; i++) carry(plan, i, beta);
    for (int color = 0; color < plan->colors; color++) {
      members m = members_of(plan, color);
      int shares = shares_of(&m);
      if (color == CAROM_CONTACT_UNCOLORED) {
#pragma omp single
        for (int i = 0; i < shares; i++) take_share(s, plan, &m, i, beta, &plan->tallies[taken + i]);
      } else {
#pragma omp for schedule(static)
        for (int i = 0; i < shares; i++) take_share(s, plan, &m, i, beta, &plan->tallies[taken + i]);
      }
      taken += shares;
    }
#pragma omp single
    all = taken;
  }
  return all;
}

// Both ways take the same shares, so that sums have the same bits.
static carom_contact_tally sweep(carom_contact_system *s, const carom_contact_plan *plan, double beta) {
  s->fresh = false;
  int taken = s->threads > 1 ? sweep_in_team(s, plan, beta) : sweep_alone(s, plan, beta);
  carom_contact_tally tally = {0};
  for (int i = 0; i < taken; i++) {
    tally.most = fmax(tally.most, plan->tallies[i].most);
    tally.energy += plan->tallies[i].energy;
    tally.turn += plan->tallies[i].turn;
  }
  tally.most = sqrt(tally.most);
  return tally;
}

// ---- momentum ---------------------------------------------------------------------------------

// The weights of Nesterov (1983); restarts after O'Donoghue and Candes (2015), and when sweeps have grown.
static void update_momentum(momentum *m, const carom_contact_tally *tally) {
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

// ---- the method -------------------------------------------------------------------------------

// V = v_free + M^-1 D x
static void start_velocities(carom_contact_system *s, carom_contact_plan *plan, carom_contact_info *info) {
  size_t count = CAROM_CONTACT_STATE * ((size_t)s->problem.body_count + 1);
  memcpy(plan->V, s->state, count * sizeof(double));
  if (s->options.warm_start) {
    carom_contact_apply(s, s->x, s->w);
    info->products++;
    for (size_t i = 0; i < count; i += CAROM_CONTACT_STATE)
      for (size_t k = i; k < i + 6; k++) plan->V[k] += s->change[k];
  }
  memcpy(plan->V_before, plan->V, count * sizeof(double));
  memcpy(plan->x_before, s->x, (size_t)s->n * sizeof(double));
}

static void unpack(carom_contact_system *s, const carom_contact_plan *plan) {
  for (int i = 0; i < CAROM_CONTACT_LANES * plan->pack_start[CAROM_CONTACT_COLORS]; i++)
    if (plan->lane[i] >= 0)
      for (int k = 0; k < 3; k++)
        s->x[3 * (size_t)plan->lane[i] + (size_t)k] =
            plan->packs[i / CAROM_CONTACT_LANES].impulse[k][i % CAROM_CONTACT_LANES];
  for (int i = 0; s->options.cone == CAROM_CONTACT_CIRCULAR && i < plan->single_start[CAROM_CONTACT_COLORS]; i++) {
    const carom_contact_single *c = &plan->singles[i];
    carom_vec3 f = cm_axpy(cm_scale(c->impulse.x, c->along[0].axis), c->impulse.y, c->along[1].axis);
    ((carom_vec3 *)s->x)[c->contact] = cm_axpy(f, c->impulse.z, c->along[2].axis);
  }
}

static bool truly_done(carom_contact_system *s, const carom_contact_plan *plan, carom_contact_info *info) {
  unpack(s, plan);
  carom_contact_refresh(s, info);
  return carom_contact_good_enough(s, info);
}

carom_status carom_contact_pgs(carom_contact_system *s, carom_arena *arena, carom_contact_info *info,
                               carom_error *error) {
  (void)error;
  carom_contact_plan plan = {0};
  carom_contact_taker taker = {.arena = arena};
  double begin = carom_clock();
  carom_contact_plan_take(&plan, s, &taker);
  carom_contact_plan_make(&plan, s);
  start_velocities(s, &plan, info);
  info->setup_seconds += carom_clock() - begin;
  info->colors = plan.colors;
  info->outcome = CAROM_CONTACT_LIMIT;
  int next_look = 0;
  momentum m = {.theta = 1, .lowest = INFINITY, .lowest_ever = INFINITY};
  while (info->iterations < s->options.max_iterations) {
    carom_contact_tally tally = sweep(s, &plan, m.beta);
    info->iterations++, info->products++;
    update_momentum(&m, &tally);
    bool close = tally.most <= s->options.tolerance * s->scale && s->options.tolerance > 0;
    if (!(close && info->iterations >= next_look) && tally.most > 0) continue;
    if (truly_done(s, &plan, info)) return info->outcome = CAROM_CONTACT_SOLVED, CAROM_OK;
    if (tally.most == 0) return info->outcome = CAROM_CONTACT_STALLED, CAROM_OK;
    next_look = info->iterations + CHECK_EVERY;
  }
  unpack(s, &plan);
  return CAROM_OK;
}

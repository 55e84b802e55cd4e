// Projected Gauss-Seidel over the coloured plan, warm-started, for any number of threads with the same bits and for any
// contact law.
#include "contact/solve/pgs.h"

#include <string.h>

#include "base/threads.h"

static const double SETBACK = 4;  // growth of the energy of sweeps that drops the momentum

typedef struct run {
  carom_contact_system *s;
  carom_contact_plan plan;
  carom_contact_info *info;
} run;

static int shares_of(const carom_contact_plan *plan, int kind, int color) {
  return (plan->start[kind][color + 1] - plan->start[kind][color] + CAROM_CONTACT_SHARE - 1) / CAROM_CONTACT_SHARE;
}

static void take_share(const run *r, int color, int share, double beta, carom_sweep_tally *tally) {
  const carom_contact_plan *plan = &r->plan;
  *tally = (carom_sweep_tally){0};
  int kind = 0;
  while (kind < CAROM_CONTACT_KINDS - 1 && share >= shares_of(plan, kind, color))
    share -= shares_of(plan, kind++, color);
  int first = plan->start[kind][color] + share * CAROM_CONTACT_SHARE, last = first + CAROM_CONTACT_SHARE;
  if (last > plan->start[kind][color + 1]) last = plan->start[kind][color + 1];
  if (kind == CAROM_CONTACT_PACKS) *tally = carom_contact_visit_packs(plan, r->s->options.law, first, last, beta);
  for (int i = first; kind == CAROM_CONTACT_SINGLES && i < last; i++)
    carom_contact_visit_single(r->s, plan, &plan->singles[i], beta, tally);
  for (int i = first; kind == CAROM_CONTACT_JOINTS && i < last; i++)
    carom_contact_visit_joint(r->s, plan, &plan->joints[i], beta, tally);
}

// Carries a body's velocity on along its last change.
static void carry(const carom_contact_plan *plan, int body, double beta) {
  size_t at = CAROM_CONTACT_STATE * (size_t)body;
  carom_sweep_extrapolate(6, beta, plan->V + at, plan->V_before + at);
}

// Called by all threads of a team at once, or by one that has no team. Returns how many shares were taken, the same in
// any team, so that sums have the same bits.
static int sweep_once(const run *r, carom_team team, double beta) {
  const carom_contact_plan *plan = &r->plan;
  int taken = 0, bodies = r->s->problem.body_count;
  for (int i = carom_team_share(team, bodies); i < carom_team_share_end(team, bodies); i++) carry(plan, i, beta);
  carom_team_wait(team);
  for (int color = 0; color < plan->colors; color++) {
    bool alone = color == CAROM_CONTACT_UNCOLORED;  // by the first thread
    carom_team own = alone ? (carom_team){1, team.me > 0} : team;
    int shares = 0;
    for (int kind = 0; kind < CAROM_CONTACT_KINDS; kind++) shares += shares_of(plan, kind, color);
    for (int i = carom_team_share(own, shares); i < carom_team_share_end(own, shares) && i < shares; i++)
      take_share(r, color, i, beta, &plan->tallies[taken + i]);
    taken += shares;
    carom_team_wait(team);
  }
  return taken;
}

static int sweep_in_team(const run *r, double beta) {
  int taken = 0;
#pragma omp parallel num_threads(r->s->threads)
  {
    carom_team team = carom_team_here();
    int own = sweep_once(r, team, beta);
    if (team.me == 0) taken = own;
  }
  return taken;
}

static carom_sweep_tally sweep(void *context, double beta) {
  run *r = context;
  r->s->fresh = false;
  int taken = r->s->threads > 1 ? sweep_in_team(r, beta) : sweep_once(r, (carom_team){1, 0}, beta);
  carom_sweep_tally tally = {0};
  for (int i = 0; i < taken; i++) carom_sweep_add(&tally, &r->plan.tallies[i]);
  return tally;
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
  for (int i = 0; i < CAROM_CONTACT_LANES * plan->start[CAROM_CONTACT_PACKS][CAROM_CONTACT_COLORS]; i++)
    if (plan->lane[i] >= 0)
      for (int k = 0; k < 3; k++)
        s->x[3 * (size_t)plan->lane[i] + (size_t)k] =
            plan->packs[i / CAROM_CONTACT_LANES].impulse[k][i % CAROM_CONTACT_LANES];
  for (int i = 0;
       s->options.cone == CAROM_CONTACT_CIRCULAR && i < plan->start[CAROM_CONTACT_SINGLES][CAROM_CONTACT_COLORS]; i++) {
    const carom_contact_single *c = &plan->singles[i];
    carom_vec3 f = cm_axpy(cm_scale(c->impulse.x, c->along[0].axis), c->impulse.y, c->along[1].axis);
    ((carom_vec3 *)s->x)[c->contact] = cm_axpy(f, c->impulse.z, c->along[2].axis);
  }
}

static bool judge(void *context) {
  run *r = context;
  unpack(r->s, &r->plan);
  carom_contact_refresh(r->s, r->info);
  return carom_contact_good_enough(r->s, r->info);
}

carom_status carom_contact_pgs(carom_contact_system *s, carom_arena *arena, carom_contact_info *info,
                               carom_error *error) {
  (void)error;
  run r = {.s = s, .info = info};
  double begin = carom_clock();
  bool solved;
  carom_contact_plan_push(&r.plan, s, arena);
  if (!arena->memory) return CAROM_OK;
  carom_contact_plan_make(&r.plan, s);
  start_velocities(s, &r.plan, info);
  info->setup_seconds += carom_clock() - begin;
  info->colors = r.plan.colors;
  double enough = s->options.tolerance > 0 ? s->options.tolerance * s->scale : -1;
  carom_sweeps sweeps = {&r, sweep, judge, enough, SETBACK, s->options.max_iterations};
  info->iterations = carom_sweeps_run(&sweeps, &solved);
  info->products += info->iterations;
  bool still = info->iterations < s->options.max_iterations;
  info->outcome = solved ? CAROM_CONTACT_SOLVED : still ? CAROM_CONTACT_STALLED : CAROM_CONTACT_LIMIT;
  if (!s->fresh) unpack(s, &r.plan);
  return CAROM_OK;
}

#include <float.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "contact/solve/newton_step.h"
#include "solve/lcp_inverse.h"

// eps over the block's response: close to a solution, far from it, and in the end. Far from a solution a small eps is
// of no use, since laws that contradict each other then have huge impulses: the problem is solved with a large one
// first, and again with smaller ones.
static const double NEAR_FALL = 1e-2, LAST_NEAR_EPS = 1e-9;  // of the first one, where it leads nowhere
static const double NEAR_EPS = 1e-4, FIRST_EPS = 1e-2, LAST_EPS = 1e-7, FALL = 1e-1, FINISH_EPS = 1e-2;
static const double RISE = 5, SLOWEST_FALL = 0.5;  // of eps after a round that failed
static const double ROUND_OFF = 1e-13;             // velocities over the largest one
// Of a round, over its first miss: met well enough for the inverse at hand to do the rest, not in vain though given up,
// lost; over the one before: no progress.
static const double CLOSE = 1e-8, HALF_WAY = 1e-2, RUNAWAY = 1e3, SLOW = 0.9;
enum {
  NEAR_STEPS = 6,
  FAR_STEPS = 15,
  FAR_STEPS_MAX = 300,
  HALVINGS = 5,
  CHORDS = 30,
  QUICK = 3,
  POLISHINGS = 6,
  STARTS = 3
};

// ---- memory ---------------------------------------------------------------------------------------------------------

carom_newton *carom_newton_push_vectors(int rows, carom_arena *arena) {
  size_t r = (size_t)(rows > 0 ? rows : 1);
  carom_newton n = {0}, *pushed = CAROM_PUSH(arena, carom_newton, 1);
  double **const vectors[] = {&n.P0, &n.P, &n.u, &n.F, &n.trial, &n.v, &n.rhs, &n.x, &n.best, &n.eps, &n.own};
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) *vectors[i] = CAROM_PUSH(arena, double, r);
  n.D = CAROM_PUSH(arena, carom_mat3, r);
  if (pushed) *pushed = n;
  return pushed;
}

carom_newton *carom_newton_push(int rows, int bodies, carom_arena *arena) {
  size_t r = (size_t)(rows > 0 ? rows : 1), order = bodies > 0 ? 6 * (size_t)bodies : r;
  carom_newton *pushed = carom_newton_push_vectors(rows, arena), none, *n = pushed ? pushed : &none;
  n->K = CAROM_PUSH(arena, double, order *order);
  n->panel = CAROM_PUSH(arena, double, bodies > 0 ? 0 : CAROM_LCP_INVERSE_PANEL * r);
  n->C = CAROM_PUSH(arena, carom_mat3, bodies > 0 ? r : 0);
  n->Y = CAROM_PUSH(arena, carom_mat3, bodies > 0 ? r : 0);
  n->active = CAROM_PUSH(arena, int, r);
  n->swaps = CAROM_PUSH(arena, int, order);
  return pushed;
}

// ---- the equations of a round ---------------------------------------------------------------------------------------

static void set_eps(carom_newton *n, const carom_assembled *a, double eps, bool natural) {
  for (int i = 0; i < a->count; i++) {
    double response = carom_block_response(a, &a->blocks[i]);
    n->eps[i] = eps * response;
    n->own[i] = natural ? response : n->eps[i];
  }
}

// F = P - law(P - (u + eps (P - P0)) / r), and the derivatives of the laws where asked for.
static void equations(carom_newton *n, const carom_assembled *a, const double *P, const double *u, bool derivatives) {
  for (int i = 0; i < a->count; i++) {
    const carom_block *b = &a->blocks[i];
    double z[3], law[3] = {0};
    double stays = 1 - n->eps[i] / n->own[i];
    for (int r = b->first; r < b->first + b->width; r++)
      z[r - b->first] = n->P0[r] + stays * (P[r] - n->P0[r]) - u[r] / n->own[i];
    if (n->eps[i] > 0)
      carom_block_law(b, z, law, derivatives ? n->D[i].m : NULL);
    else if (derivatives)
      n->D[i] = (carom_mat3){0};
    for (int r = 0; r < b->width; r++) n->F[b->first + r] = P[b->first + r] - law[r];
  }
}

// What the impulses miss the laws by, as the root of an energy, so that light and heavy bodies count alike; and what
// round-off of the velocities, which are of the size `scale`, makes of it.
static double miss(const carom_newton *n, const carom_assembled *a, double scale, double *noise) {
  double sum = 0, floor = 0, tiny = 4 * DBL_EPSILON * scale;
  for (int i = 0; i < a->count; i++) {
    const carom_block *b = &a->blocks[i];
    for (int r = b->first; r < b->first + b->width && n->eps[i] > 0; r++) {
      double W = carom_assembled_own(a, r), off = tiny / n->own[i];
      sum += W * n->F[r] * n->F[r];
      floor += W * off * off;
    }
  }
  *noise = sqrt(floor);
  return sqrt(sum);
}

// ---- rounds ---------------------------------------------------------------------------------------------------------

// What has been reached.
typedef struct search {
  const carom_assembled *a;
  carom_newton_goal goal;
  double scale;   // the largest velocity without impulses
  double least;   // residual of `best`
  bool stubborn;  // goes on without progress
  int steps;
  double fallen;  // what the last round left of its first miss
} search;

static void hold(carom_newton *n, const carom_assembled *a) { memcpy(n->P0, n->P, (size_t)a->rows * sizeof *n->P); }

static void go_to(carom_newton *n, const carom_assembled *a, const double *P) {
  if (P != n->P) memcpy(n->P, P, (size_t)a->rows * sizeof *P);
  carom_assembled_velocity(a, n->P, n->u);
}

// Puts the impulses into their cones, and says how good they are; keeps the best.
static double judge(carom_newton *n, search *s) {
  const carom_assembled *a = s->a;
  for (int i = 0; i < a->count; i++) {
    double *P = n->P + a->blocks[i].first, law[3];
    carom_block_law(&a->blocks[i], P, law, NULL);
    memcpy(P, law, (size_t)a->blocks[i].width * sizeof *P);
  }
  go_to(n, a, n->P);
  double residual = carom_assembled_residual(a, n->P, n->u);
  if (residual < s->least) {
    s->least = residual;
    memcpy(n->best, n->P, (size_t)a->rows * sizeof *n->P);
  }
  return residual;
}

// How far off the equations are after `length` of the step, which is in `trial` and `v` then.
static double try_length(carom_newton *n, const carom_assembled *a, double length) {
  double noise;
  for (int r = 0; r < a->rows; r++) n->trial[r] = n->P[r] + length * n->x[r];
  carom_assembled_velocity(a, n->trial, n->v);
  equations(n, a, n->trial, n->v, false);
  return miss(n, a, 0, &noise);
}

// Goes along the step as far as it helps. Where no length does, laws hinder each other: a whole step leads elsewhere.
static double move(carom_newton *n, const carom_assembled *a, double off) {
  double length = 1, now = try_length(n, a, 1);
  for (int k = 0; k < HALVINGS && !(now < (1 - 1e-4 * length) * off); k++) now = try_length(n, a, length *= 0.5);
  if (!(now < off)) now = try_length(n, a, 1);
  memcpy(n->P, n->trial, (size_t)a->rows * sizeof *n->P);
  memcpy(n->u, n->v, (size_t)a->rows * sizeof *n->u);
  return now;
}

// The round with the present eps and P0. True when its equations were met.
static bool run_round(carom_newton *n, int max_steps, search *s) {
  const carom_assembled *a = s->a;
  equations(n, a, n->P, n->u, true);
  s->fallen = 1;
  double noise, first = miss(n, a, s->scale, &noise), off = first, close = fmax(CLOSE * first, 10 * noise);
  for (int step = 0; step < max_steps && off > close; step++) {
    if (step > 0) equations(n, a, n->P, n->u, true);
    if (!carom_newton_factor(n, a)) return false;
    carom_newton_find_step(n, a);
    s->steps++;
    double before = off;
    off = move(n, a, off);
    s->fallen = off / first;
    if (!s->stubborn && !(off < SLOW * before)) break;
    if (!(off <= RUNAWAY * first)) return false;
  }
  return off <= close;
}

// Further rounds with the laws linearised as they are and the inverse at hand, as long as each halves the residual.
static void finish(carom_newton *n, search *s) {
  const carom_assembled *a = s->a;
  if (s->steps == 0) return;
  double before = INFINITY, residual = judge(n, s);
  for (int round = 0; round < CHORDS && residual < 0.5 * before; round++) {
    hold(n, a);
    equations(n, a, n->P, n->u, false);
    carom_newton_find_step(n, a);
    for (int r = 0; r < a->rows; r++) n->P[r] += n->x[r];
    carom_assembled_velocity(a, n->P, n->u);
    before = residual;
    residual = judge(n, s);
  }
}

// From impulses that are nearly right.
static void solve_near(carom_newton *n, search *s, double eps) {
  set_eps(n, s->a, eps, true);
  hold(n, s->a);
  if (run_round(n, NEAR_STEPS, s))
    finish(n, s);
  else if (s->goal.half_way && s->fallen < HALF_WAY)
    judge(n, s);  // the better place to begin the next one
}

// From any. eps falls as long as rounds end within a few steps, and rises when they do not.
static void solve_far(carom_newton *n, search *s) {
  double eps = FIRST_EPS, fall = FALL;
  int last = s->steps + FAR_STEPS_MAX < s->goal.most ? s->steps + FAR_STEPS_MAX : s->goal.most;
  for (int round = 0; round < FAR_STEPS_MAX && s->least > s->goal.wanted && s->steps < last; round++) {
    int before = s->steps;
    double least = s->least;
    set_eps(n, s->a, eps, false);
    hold(n, s->a);
    if (run_round(n, FAR_STEPS, s)) {
      if (eps <= FINISH_EPS)
        finish(n, s);
      else
        judge(n, s);
      fall = s->steps - before <= QUICK ? fmax(0.1 * fall, 1e-3) : fall;
      if (eps <= LAST_EPS && s->least > 0.5 * least) return;  // polishing and another start may do better
      eps = fmax(eps * fall, LAST_EPS);
    } else {
      go_to(n, s->a, n->P0);
      eps = fmin(RISE * eps, 1);
      fall = fmin(sqrt(fall), SLOWEST_FALL);
    }
    if (s->least <= s->goal.accepted && s->least > 0.5 * least) return;
  }
}

// The last digits: a tiny eps loses them to round-off. Heavy bodies on light ones yield so little, over what their
// contacts do alone, that only a tiny one gets any further.
static void polish(carom_newton *n, search *s) {
  double before = INFINITY, eps = NEAR_EPS;
  for (int round = 0, turns = 0; turns < POLISHINGS; round++, turns++) {
    if (s->least <= (round == 0 ? s->goal.good : s->goal.wanted)) return;
    if (s->least >= 0.5 * before) {
      if (s->least <= s->goal.accepted || !s->goal.last_digit || eps <= LAST_NEAR_EPS) return;
      eps *= NEAR_FALL;
      turns = 0;
    }
    before = s->least;
    go_to(n, s->a, n->best);
    solve_near(n, s, eps);
  }
}

// Contacts that carry no more than round-off carry nothing: they would count as touching for ever.
static void drop_round_off(const search *s, double *P) {
  for (int i = 0; i < s->a->count; i++) {
    const carom_block *b = &s->a->blocks[i];
    bool nothing = fabs(P[b->first]) * carom_block_response(s->a, b) <= ROUND_OFF * s->scale;
    if (nothing && b->kind == CAROM_BLOCK_CONTACT) memset(P + b->first, 0, (size_t)b->width * sizeof *P);
  }
}

double carom_newton_solve(carom_newton *n, const carom_assembled *problem, const carom_newton_goal *goal, double *P,
                          double *u, int *steps) {
  search s = {.a = problem, .goal = *goal, .scale = carom_assembled_scale(problem)};
  if (s.goal.most == 0) s.goal.most = INT_MAX;
  go_to(n, problem, P);
  memcpy(n->best, P, (size_t)problem->rows * sizeof *P);
  s.least = carom_assembled_residual(problem, n->P, n->u);
  polish(n, &s);
  for (int start = 0; start < STARTS && s.least > fmax(goal->wanted, goal->accepted); start++) {
    go_to(n, problem, n->best);
    s.stubborn = start > 0;
    solve_far(n, &s);
    polish(n, &s);
  }
  memcpy(P, n->best, (size_t)problem->rows * sizeof *P);
  if (s.steps > 0) drop_round_off(&s, P);
  carom_assembled_velocity(problem, P, u);
  *steps += s.steps;
  return s.steps > 0 ? carom_assembled_residual(problem, P, u) : s.least;
}

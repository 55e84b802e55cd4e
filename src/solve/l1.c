// min |A x + b|_1 by a primal-dual interior point method, with a dual that proves the answer.
//
// Unknowns are x, w+ and w- with w+ - w- = A x + b, the dual y, and its slacks s+ = 1 - y, s- = 1 + y (Gavrea,
// habilitation thesis, 2.5.5: y is his lambda, (s+, s-) his s). Both equations hold from the start, and y = 0 or a
// multiple of the least squares' residual solves A'y = 0, so that no step has to mend what is infeasible. Newton's
// method on w+ s+ = w- s- = mu and A'y = 0 is, for right-hand sides c+ and c-,
//
//     A' D^-1 A dx = A' D^-1 t - A'y,   D = w+/s+ + w-/s-,   t = c+/s+ - c-/s-      (his 2.5.9)
//     dy = D^-1 (A dx - t),   dw+ = (c+ + w+ dy)/s+,   dw- = (c- - w- dy)/s-.
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"
#include "math/sum.h"
#include "solve/l1.h"

// One side of the split: w, its slack, and how both change.
typedef struct side {
  double *w, *s, *dw, *c;
  double *kept_dw;
  double sign;  // s = 1 - sign y
} side;

struct carom_l1_work {
  carom_allocator allocator;
  carom_l1_matrix *K;
  int m, n, entry_count;
  side sides[2];
  double *b, *r, *y, *dy, *weight, *t;  // (m) b scaled; r = A x + b
  double *x, *dx, *g, *best_x;          // (n)
  double *best_y;                       // (m)
  double *kept_dx, *kept_dy;            // (n), (m)
  double scale;                         // of b: the largest |b_i|
  carom_l1_problem problem;             // with b scaled
  carom_l1_info best;
  double mu, first_mu;  // mean of w s, at the start too
};

carom_l1_options carom_l1_default_options(void) {
  return (carom_l1_options){.max_iterations = 100, .tolerance = 1e-11};
}

const char *carom_l1_outcome_name(carom_l1_outcome outcome) {
  static const char *const names[] = {"solved", "limit", "stalled"};
  return (unsigned)outcome < sizeof names / sizeof *names ? names[outcome] : "unknown outcome";
}

// ---- set-up ---------------------------------------------------------------------------------------------------------

static bool make_side(carom_l1_work *w, side *s, double sign) {
  s->sign = sign;
  return CAROM_NEW_ALL(&w->allocator, CAROM_ROOM(s->w, w->m), CAROM_ROOM(s->s, w->m), CAROM_ROOM(s->dw, w->m),
                       CAROM_ROOM(s->c, w->m), CAROM_ROOM(s->kept_dw, w->m));
}

static bool make_room(carom_l1_work *w) {
  const carom_allocator *a = &w->allocator;
  return make_side(w, &w->sides[0], 1) && make_side(w, &w->sides[1], -1) &&
         CAROM_NEW_ALL(a, CAROM_ROOM(w->b, w->m), CAROM_ROOM(w->r, w->m), CAROM_ROOM(w->y, w->m),
                       CAROM_ROOM(w->dy, w->m), CAROM_ROOM(w->weight, w->m), CAROM_ROOM(w->t, w->m)) &&
         CAROM_NEW_ALL(a, CAROM_ROOM(w->x, w->n), CAROM_ROOM(w->dx, w->n), CAROM_ROOM(w->g, w->n),
                       CAROM_ROOM(w->best_x, w->n), CAROM_ROOM(w->best_y, w->m), CAROM_ROOM(w->kept_dx, w->n),
                       CAROM_ROOM(w->kept_dy, w->m));
}

carom_status carom_l1_work_create(const carom_l1_problem *problem, const carom_allocator *allocator,
                                  carom_l1_work **work, carom_error *error) {
  carom_allocator a = carom_allocator_or_default(allocator);
  *work = NULL;
  carom_l1_matrix *K;
  carom_status status = carom_l1_matrix_create(problem, &a, &K, error);
  if (status != CAROM_OK) return status;
  carom_l1_work *w = CAROM_NEW(&a, carom_l1_work, 1);
  if (w) *w = (carom_l1_work){.allocator = a, .m = problem->m, .n = problem->n, .entry_count = K->entry_count, .K = K};
  if (w && make_room(w)) return *work = w, CAROM_OK;
  if (w)
    carom_l1_work_destroy(w);
  else
    carom_l1_matrix_destroy(K);
  return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for an l1 program with %d rows and %d unknowns", problem->m,
                    problem->n);
}

void carom_l1_work_destroy(carom_l1_work *w) {
  if (!w) return;
  carom_l1_matrix_destroy(w->K);
  for (int k = 0; k < 2; k++) {
    side *s = &w->sides[k];
    CAROM_RELEASE_ALL(&w->allocator, s->w, s->s, s->dw, s->c, s->kept_dw);
  }
  CAROM_RELEASE_ALL(&w->allocator, w->b, w->r, w->y, w->dy, w->weight, w->t, w->x, w->dx, w->g, w->best_x, w->best_y,
                    w->kept_dx, w->kept_dy);
  carom_allocator allocator = w->allocator;
  carom_release(&allocator, w);
}

static carom_status check_numbers(const carom_l1_problem *p, carom_error *error) {
  for (int i = 0; i < p->m; i++) {
    if (!isfinite(p->b[i])) return carom_fail(error, CAROM_ERR_NUMBER, "b[%d] is not finite", i);
    for (int e = p->row_start[i]; e < p->row_start[i + 1]; e++)
      if (!isfinite(p->value[e]))
        return carom_fail(error, CAROM_ERR_NUMBER, "row %d of A has an entry that is not finite, in column %d", i,
                          p->column[e]);
  }
  return CAROM_OK;
}

static carom_status check(const carom_l1_work *w, const carom_l1_problem *p, const carom_l1_options *o,
                          carom_error *error) {
  if (p->m != w->m || p->n != w->n || p->row_start[p->m] != w->entry_count)
    return carom_fail(error, CAROM_ERR_ARGUMENT,
                      "A is %d x %d with %d entries, but the work was made for %d x %d with %d", p->m, p->n,
                      p->row_start[p->m], w->m, w->n, w->entry_count);
  if (!(o->tolerance > 0) || o->max_iterations < 0 || o->threads < 0)
    return carom_fail(error, CAROM_ERR_ARGUMENT,
                      "options of an l1 program: tolerance %g must be > 0, max_iterations %d and threads %d >= 0",
                      o->tolerance, o->max_iterations, o->threads);
  return check_numbers(p, error);
}

// The program is scaled so that the largest |b_i| is 1. False when b = 0.
static bool scale(carom_l1_work *w, const carom_l1_problem *p) {
  w->scale = 0;
  for (int i = 0; i < w->m; i++) w->scale = fmax(w->scale, fabs(p->b[i]));
  for (int i = 0; i < w->m; i++) w->b[i] = w->scale > 0 ? p->b[i] / w->scale : 0;
  w->problem = *p;
  w->problem.b = w->b;
  return w->scale > 0;
}

// ---- figures --------------------------------------------------------------------------------------------------------

static double sum_of(const double *a, int n) {
  carom_sum sum = {0, 0};
  for (int i = 0; i < n; i++) carom_sum_add(&sum, fabs(a[i]));
  return carom_sum_value(&sum);
}

static double largest_of(const double *a, int n) {
  double most = 0;
  for (int i = 0; i < n; i++) most = fmax(most, fabs(a[i]));
  return most;
}

static double product_of(const double *a, const double *b, int n) {
  carom_sum sum = {0, 0};
  for (int i = 0; i < n; i++) carom_sum_add(&sum, a[i] * b[i]);
  return carom_sum_value(&sum);
}

static void refresh_residual(carom_l1_work *w) {
  carom_l1_multiply(&w->problem, w->x, w->r);
  for (int i = 0; i < w->m; i++) w->r[i] += w->b[i];
}

// Leaves A'y in g.
static void measure(carom_l1_work *w, carom_l1_info *info) {
  carom_l1_multiply_transposed(&w->problem, w->y, w->g);
  info->primal = sum_of(w->r, w->m);
  info->stationarity = largest_of(w->g, w->n);
  info->dual = product_of(w->b, w->y, w->m) - 2 * largest_of(w->x, w->n) * sum_of(w->g, w->n);
  info->gap = info->primal - info->dual;
}

static double complementarity(const carom_l1_work *w) {
  return (product_of(w->sides[0].w, w->sides[0].s, w->m) + product_of(w->sides[1].w, w->sides[1].s, w->m)) /
         (2.0 * w->m);
}

// ---- the start ------------------------------------------------------------------------------------------------------

static carom_status least_squares(carom_l1_work *w) {
  carom_status status = carom_l1_matrix_factor(w->K, &w->problem, NULL);
  if (status != CAROM_OK) return status;
  carom_l1_multiply_transposed(&w->problem, w->b, w->g);
  for (int j = 0; j < w->n; j++) w->g[j] = -w->g[j];
  carom_l1_matrix_solve(w->K, &w->problem, NULL, w->g, w->x);
  refresh_residual(w);
  return CAROM_OK;
}

// The residual r of the least squares has A'r = 0, and so has y = 0.9 r / |r|_inf. Both w keep away from 0 by what is
// the size of a residual.
static void start(carom_l1_work *w) {
  double mean = sum_of(w->r, w->m) / w->m, most = largest_of(w->r, w->m);
  for (int i = 0; i < w->m; i++) {
    w->y[i] = most > 0 ? 0.9 * w->r[i] / most : 0;
    for (int k = 0; k < 2; k++) {
      side *s = &w->sides[k];
      s->w[i] = fmax(s->sign * w->r[i], 0) + mean;
      s->s[i] = 1 - s->sign * w->y[i];
    }
  }
}

// ---- Newton's step --------------------------------------------------------------------------------------------------

static void weigh(carom_l1_work *w) {
  const side *p = &w->sides[0], *q = &w->sides[1];
  for (int i = 0; i < w->m; i++) w->weight[i] = 1 / (p->w[i] / p->s[i] + q->w[i] / q->s[i]);
}

// For the c+ and c- that are set. `exact`: as well as rounding lets it; else, as long as the matrix is tame, by the
// factors alone.
static void find_step(carom_l1_work *w, bool exact) {
  side *p = &w->sides[0], *q = &w->sides[1];
  static const double tame = 1e-5;
  double *Adx = w->dy;
  for (int i = 0; i < w->m; i++) {
    w->t[i] = p->c[i] / p->s[i] - q->c[i] / q->s[i];
    w->dy[i] = w->weight[i] * w->t[i] - w->y[i];
  }
  carom_l1_multiply_transposed(&w->problem, w->dy, w->g);
  if (exact || w->K->shift > CAROM_L1_SHIFT || w->mu < tame * w->first_mu)
    carom_l1_matrix_solve(w->K, &w->problem, w->weight, w->g, w->dx);
  else
    carom_l1_matrix_presolve(w->K, w->g, w->dx);
  carom_l1_multiply(&w->problem, w->dx, Adx);
  for (int i = 0; i < w->m; i++) {
    w->dy[i] = w->weight[i] * (Adx[i] - w->t[i]);
    for (int k = 0; k < 2; k++) {
      side *s = &w->sides[k];
      s->dw[i] = (s->c[i] + s->sign * s->w[i] * w->dy[i]) / s->s[i];
    }
  }
}

// How far w and s stay positive; no more than 2 matters.
static void longest_steps(const carom_l1_work *w, double *primal, double *dual) {
  *primal = *dual = 2;
  for (int k = 0; k < 2; k++)
    for (int i = 0; i < w->m; i++) {
      const side *s = &w->sides[k];
      double ds = -s->sign * w->dy[i];
      if (s->dw[i] < 0) *primal = fmin(*primal, -s->w[i] / s->dw[i]);
      if (ds < 0) *dual = fmin(*dual, -s->s[i] / ds);
    }
}

static void aim_at_zero(carom_l1_work *w) {
  for (int k = 0; k < 2; k++)
    for (int i = 0; i < w->m; i++) w->sides[k].c[i] = -w->sides[k].w[i] * w->sides[k].s[i];
}

// Mean of w s after these steps.
static double predicted(const carom_l1_work *w, double primal, double dual) {
  carom_sum sum = {0, 0};
  for (int k = 0; k < 2; k++)
    for (int i = 0; i < w->m; i++) {
      const side *s = &w->sides[k];
      carom_sum_add(&sum, (s->w[i] + primal * s->dw[i]) * (s->s[i] - dual * s->sign * w->dy[i]));
    }
  return carom_sum_value(&sum) / (2.0 * w->m);
}

// Mehrotra (1992): centred as far as the affine step suggests, with its second-order term.
static void aim_at_centre(carom_l1_work *w, double target) {
  for (int k = 0; k < 2; k++)
    for (int i = 0; i < w->m; i++) {
      side *s = &w->sides[k];
      s->c[i] = target - s->w[i] * s->s[i] + s->sign * s->dw[i] * w->dy[i];
    }
}

// Gondzio (1996): products w s that a somewhat longer step would leave far from the target are drawn towards it.
static void aim_at_outliers(carom_l1_work *w, double target, double primal, double dual) {
  static const double low = 0.1, high = 10;
  for (int k = 0; k < 2; k++)
    for (int i = 0; i < w->m; i++) {
      side *s = &w->sides[k];
      double product = (s->w[i] + primal * s->dw[i]) * (s->s[i] - dual * s->sign * w->dy[i]);
      double wanted = fmin(fmax(product, low * target), high * target) - product;
      s->c[i] += fmax(wanted, -high * target);
    }
}

static void swap(double **a, double **b) {
  double *t = *a;
  *a = *b, *b = t;
}

static void keep_step(carom_l1_work *w) {
  memcpy(w->kept_dx, w->dx, (size_t)w->n * sizeof *w->dx);
  memcpy(w->kept_dy, w->dy, (size_t)w->m * sizeof *w->dy);
  for (int k = 0; k < 2; k++) memcpy(w->sides[k].kept_dw, w->sides[k].dw, (size_t)w->m * sizeof *w->dy);
}

static void take_kept_step(carom_l1_work *w) {
  swap(&w->dx, &w->kept_dx);
  swap(&w->dy, &w->kept_dy);
  for (int k = 0; k < 2; k++) swap(&w->sides[k].dw, &w->sides[k].kept_dw);
}

// Corrects the step until a few corrections in turn made it no longer, and takes the longest. Few rows of many hold the
// first one up, and a solve is cheap beside a factorisation; that one bad correction ends it would cost a third more
// iterations.
static void lengthen_step(carom_l1_work *w, double target, double *primal, double *dual) {
  enum { MOST = 30, PATIENCE = 5 };
  static const double reach = 0.2, more = 0.001, long_enough = 0.95;
  double p = *primal, d = *dual;
  keep_step(w);
  for (int k = 0, worse = 0; k < MOST && worse < PATIENCE && fmin(*primal, *dual) < long_enough; k++) {
    aim_at_outliers(w, target, fmin(1, p + reach), fmin(1, d + reach));
    find_step(w, false);
    longest_steps(w, &p, &d);
    worse++;
    if (fmin(1, p) + fmin(1, d) < fmin(1, *primal) + fmin(1, *dual) + more) continue;
    *primal = p, *dual = d, worse = 0;
    keep_step(w);
  }
  take_kept_step(w);
}

// ---- moving ---------------------------------------------------------------------------------------------------------

// The smaller of two numbers whose difference or sum is known is kept, and the larger made from it: near the solution
// that saves what rounding would take from the small one.
static void move_row(carom_l1_work *w, int i, double primal, double dual) {
  side *p = &w->sides[0], *q = &w->sides[1];
  for (int k = 0; k < 2; k++) {
    side *s = &w->sides[k];
    s->w[i] += primal * s->dw[i];
    s->s[i] -= dual * s->sign * w->dy[i];
  }
  if (w->r[i] > 0)
    p->w[i] = q->w[i] + w->r[i];
  else
    q->w[i] = p->w[i] - w->r[i];
  if (p->s[i] < q->s[i])
    q->s[i] = 2 - p->s[i], w->y[i] = 1 - p->s[i];
  else
    p->s[i] = 2 - q->s[i], w->y[i] = q->s[i] - 1;
}

static void move(carom_l1_work *w, double primal, double dual) {
  for (int j = 0; j < w->n; j++) w->x[j] += primal * w->dx[j];
  refresh_residual(w);
  for (int i = 0; i < w->m; i++) move_row(w, i, primal, dual);
}

// Rounding, and solves that are not exact, leave some A'y. With the factors at hand y goes to where it is 0 again, as
// far as |y| < 1 lets it.
static void restore(carom_l1_work *w) {
  double primal, dual;
  carom_l1_multiply_transposed(&w->problem, w->y, w->g);
  carom_l1_matrix_presolve(w->K, w->g, w->dx);
  carom_l1_multiply(&w->problem, w->dx, w->dy);
  for (int i = 0; i < w->m; i++) w->dy[i] *= -w->weight[i];
  for (int k = 0; k < 2; k++) memset(w->sides[k].dw, 0, (size_t)w->m * sizeof *w->dy);
  longest_steps(w, &primal, &dual);
  for (int i = 0; i < w->m; i++) move_row(w, i, 0, fmin(1, 0.5 * dual));
}

// One iteration; returns the longer of its steps, 0 where there was none.
static double iterate(carom_l1_work *w) {
  static const double back = 0.995;  // of the way to where the first number becomes 0
  double primal, dual, mu = w->mu = complementarity(w);
  weigh(w);
  if (carom_l1_matrix_factor(w->K, &w->problem, w->weight) != CAROM_OK) return 0;
  aim_at_zero(w);
  find_step(w, false);
  longest_steps(w, &primal, &dual);
  double ratio = predicted(w, fmin(1, primal), fmin(1, dual)) / mu, sigma = ratio * ratio * ratio;
  aim_at_centre(w, sigma * mu);
  find_step(w, true);
  longest_steps(w, &primal, &dual);
  lengthen_step(w, sigma * mu, &primal, &dual);
  primal = fmin(1, back * primal), dual = fmin(1, back * dual);
  if (!isfinite(primal) || !isfinite(dual)) return 0;
  move(w, primal, dual);
  restore(w);
  return fmax(primal, dual);
}

// ---- the solve ------------------------------------------------------------------------------------------------------

static void keep_best(carom_l1_work *w, const carom_l1_info *now) {
  if (now->iterations > 0 && !(now->gap < w->best.gap)) return;
  w->best = *now;
  memcpy(w->best_x, w->x, (size_t)w->n * sizeof *w->x);
  memcpy(w->best_y, w->y, (size_t)w->m * sizeof *w->y);
}

static bool asked_to_stop(const carom_progress *progress, int done, int total) {
  return progress->report && !progress->report(progress->context, done, total);
}

// Until the gap is small, or has not fallen for a while.
static carom_status run(carom_l1_work *w, const carom_l1_options *o, carom_l1_info *info) {
  enum { PATIENCE = 8 };
  double unit = sum_of(w->b, w->m) / w->m;
  memset(w->y, 0, (size_t)w->m * sizeof *w->y);
  measure(w, info);
  keep_best(w, info);
  info->outcome = CAROM_L1_SOLVED;
  if (info->gap <= o->tolerance * (info->primal + unit)) return CAROM_OK;  // all is explained
  start(w);
  w->first_mu = complementarity(w);
  for (info->iterations = 0;; info->iterations++) {
    measure(w, info);
    keep_best(w, info);
    info->outcome = CAROM_L1_SOLVED;
    if (w->best.gap <= o->tolerance * (w->best.primal + unit)) return CAROM_OK;
    info->outcome = CAROM_L1_STALLED;
    if (info->iterations - w->best.iterations >= PATIENCE) return CAROM_OK;
    info->outcome = CAROM_L1_LIMIT;
    if (info->iterations >= o->max_iterations) return CAROM_OK;
    if (asked_to_stop(&o->progress, info->iterations, o->max_iterations)) return CAROM_INTERRUPTED;
    info->outcome = CAROM_L1_STALLED;
    if (!(iterate(w) > 1e-10)) return CAROM_OK;
  }
}

static void report(const carom_l1_work *w, const carom_l1_info *run, carom_l1_info *info) {
  if (!info) return;
  *info = w->best;
  info->outcome = run->outcome;
  info->iterations = run->iterations;
  info->primal *= w->scale, info->dual *= w->scale;
  info->gap = info->primal - info->dual;
  info->factorizations = w->K->factorizations;
  info->conjugate_steps = w->K->conjugate_steps;
  info->factor_flops = carom_factor_flops(w->K->factor);
  info->factor_entries = carom_factor_entries(w->K->factor);
}

// b = 0: x = 0 and y = 0 are optimal.
static carom_status nothing_to_do(const carom_l1_work *w, const carom_l1_solution *to, carom_l1_info *info) {
  memset(to->x, 0, (size_t)w->n * sizeof *to->x);
  if (to->y) memset(to->y, 0, (size_t)w->m * sizeof *to->y);
  if (info) *info = (carom_l1_info){.outcome = CAROM_L1_SOLVED};
  return CAROM_OK;
}

static carom_status prepare(carom_l1_work *w, const carom_l1_problem *problem, const carom_l1_options *options,
                            carom_error *error) {
  carom_status status = check(w, problem, options, error);
  if (status != CAROM_OK) return status;
  carom_factor_share(w->K->factor, carom_thread_count(options->threads));
  w->K->shift = 0, w->K->factorizations = 0, w->K->conjugate_steps = 0;
  w->best = (carom_l1_info){0};
  return CAROM_OK;
}

static carom_status fail_squares(carom_error *error) {
  return carom_fail(error, CAROM_ERR_SINGULAR, "A'A cannot be factored: its entries differ too much in size; scale A");
}

carom_status carom_l1_solve(carom_l1_work *w, const carom_l1_problem *problem, const carom_l1_options *options,
                            const carom_l1_solution *solution, carom_l1_info *info, carom_error *error) {
  carom_l1_options o = options ? *options : carom_l1_default_options();
  carom_l1_info now = {0};
  carom_status status = prepare(w, problem, &o, error);
  if (status != CAROM_OK) return status;
  if (!scale(w, problem)) return nothing_to_do(w, solution, info);
  if (least_squares(w) != CAROM_OK) return fail_squares(error);
  status = run(w, &o, &now);
  for (int j = 0; j < w->n; j++) solution->x[j] = w->scale * w->best_x[j];
  if (solution->y) memcpy(solution->y, w->best_y, (size_t)w->m * sizeof *w->y);
  report(w, &now, info);
  return status == CAROM_OK ? CAROM_OK : carom_fail(error, status, "the l1 program was interrupted");
}

carom_status carom_l1_least_squares(carom_l1_work *w, const carom_l1_problem *problem, const carom_l1_options *options,
                                    double *x, carom_error *error) {
  carom_l1_options o = options ? *options : carom_l1_default_options();
  carom_status status = prepare(w, problem, &o, error);
  if (status != CAROM_OK) return status;
  if (!scale(w, problem)) return nothing_to_do(w, &(carom_l1_solution){x, NULL}, NULL);
  if (least_squares(w) != CAROM_OK) return fail_squares(error);
  for (int j = 0; j < w->n; j++) x[j] = w->scale * w->x[j];
  return CAROM_OK;
}

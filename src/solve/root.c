// One run of Newton's method, of McDougall and Wotherspoon's (2014), or of Newton - Monte Carlo (Gavrea, habilitation
// thesis, 3.2.3 to 3.2.6), and the test that tells a root from a place where f is merely small. carom/root.h states
// both.
#include "carom/root.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "math/dense.h"

static const double ROUNDING = 4 * DBL_EPSILON;  // steps of this size over |x| lead nowhere any more

// J = 2^rows LU 2^columns with its rows in the order of the pivots: scaled, so that whether it counts as singular does
// not depend on the units of equations and unknowns.
typedef struct factors {
  double *LU;                    // (n x n)
  int *pivots, *rows, *columns;  // (n)
} factors;

struct carom_root_work {
  carom_allocator allocator;
  int n_max;
  double *f, *d, *mixed, *last, *star, *probe;  // (n)
  factors steps, test;                          // J of steps, and of the test for a root
};

// A run: x and what it remembers of the step before.
typedef struct run {
  const carom_root_problem *problem;
  const carom_root_options *options;
  carom_root_work *w;
  carom_root_info *info;
  carom_random random;
  double *x;
  carom_status status;  // of `evaluate`
} run;

// ---- names and defaults ---------------------------------------------------------------------------------------------

const char *carom_root_method_name(carom_root_method method) {
  static const char *const names[] = {"newton", "half", "monte-carlo"};
  return method <= CAROM_ROOT_MONTE_CARLO ? names[method] : "unknown";
}

const char *carom_root_outcome_name(carom_root_outcome outcome) {
  static const char *const names[] = {"found", "limit", "flat", "singular", "far", "no number"};
  return outcome < CAROM_ROOT_OUTCOMES ? names[outcome] : "unknown";
}

carom_root_options carom_root_default_options(void) {
  return (carom_root_options){.method = CAROM_ROOT_MONTE_CARLO,
                              .max_iterations = 100,
                              .tolerance = 1e-12,
                              .step_tolerance = 1e-8,
                              .bound = 1e100,
                              .seed = 1};
}

// ---- room -----------------------------------------------------------------------------------------------------------

static bool make_factors(const carom_allocator *a, int n, factors *F) {
  return CAROM_NEW_ALL(a, CAROM_ROOM(F->LU, n * n), CAROM_ROOM(F->pivots, n), CAROM_ROOM(F->rows, n),
                       CAROM_ROOM(F->columns, n));
}

static void release_factors(const carom_allocator *a, factors *F) {
  CAROM_RELEASE_ALL(a, F->LU, F->pivots, F->rows, F->columns);
}

carom_status carom_root_work_create(int n_max, const carom_allocator *allocator, carom_root_work **work,
                                    carom_error *error) {
  carom_allocator a = carom_allocator_or_default(allocator);
  *work = NULL;
  if (n_max < 1 || n_max > CAROM_ROOT_MOST)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "root: %d unknowns: 1 to %d are allowed", n_max, CAROM_ROOT_MOST);
  carom_root_work *w = CAROM_NEW(&a, carom_root_work, 1);
  if (!w) return carom_fail(error, CAROM_ERR_MEMORY, "root: out of memory");
  *w = (carom_root_work){.allocator = a, .n_max = n_max};
  int n = n_max;
  if (!CAROM_NEW_ALL(&a, CAROM_ROOM(w->f, n), CAROM_ROOM(w->d, n), CAROM_ROOM(w->mixed, n), CAROM_ROOM(w->last, n),
                     CAROM_ROOM(w->star, n), CAROM_ROOM(w->probe, n)) ||
      !make_factors(&a, n, &w->steps) || !make_factors(&a, n, &w->test)) {
    carom_root_work_destroy(w);
    return carom_fail(error, CAROM_ERR_MEMORY, "root: out of memory");
  }
  *work = w;
  return CAROM_OK;
}

void carom_root_work_destroy(carom_root_work *work) {
  if (!work) return;
  carom_allocator a = work->allocator;
  release_factors(&a, &work->steps);
  release_factors(&a, &work->test);
  CAROM_RELEASE_ALL(&a, work->f, work->d, work->mixed, work->last, work->star, work->probe, work);
}

// ---- vectors --------------------------------------------------------------------------------------------------------

// |v|: the largest component; infinite when one is not a number.
static double norm(int n, const double *v) {
  double most = 0;
  for (int i = 0; i < n; i++) {
    if (isnan(v[i])) return INFINITY;
    most = fmax(most, fabs(v[i]));
  }
  return most;
}

static void copy(int n, double *to, const double *from) { memcpy(to, from, (size_t)n * sizeof *to); }

static double distance(int n, const double *a, const double *b) {
  double most = 0;
  for (int i = 0; i < n; i++) most = fmax(most, fabs(a[i] - b[i]));
  return most;
}

// ---- values ---------------------------------------------------------------------------------------------------------

static bool is_over(const run *r) { return r->status != CAROM_OK; }

// |f| at x, which goes to f.
static double residual_at(run *r, const double *x, double *f) {
  r->info->f_evaluations++;
  r->status = r->problem->evaluate(r->problem->context, x, f, NULL);
  return is_over(r) ? INFINITY : norm(r->problem->n, f);
}

// Powers of two that bring the largest entry of each row, then of each column, to 1/2 .. 1.
static void scale(int n, factors *F) {
  for (int pass = 0; pass < 2; pass++) {
    int along = pass ? 1 : n, across = pass ? n : 1, *powers = pass ? F->columns : F->rows;
    for (int i = 0; i < n; i++) {
      double most = 0;
      for (int j = 0; j < n; j++) most = fmax(most, fabs(F->LU[i * across + j * along]));
      frexp(most, &powers[i]);
      for (int j = 0; j < n; j++) F->LU[i * across + j * along] = ldexp(F->LU[i * across + j * along], -powers[i]);
    }
  }
}

// J at x, factored. False: singular, no number, or `evaluate` failed.
static bool factor_at(run *r, const double *x, factors *F) {
  int n = r->problem->n;
  r->info->slope_evaluations++;
  r->status = r->problem->evaluate(r->problem->context, x, NULL, F->LU);
  if (is_over(r)) return false;
  if (!isfinite(norm(n * n, F->LU))) return r->info->outcome = CAROM_ROOT_NO_NUMBER, false;
  scale(n, F);
  if (carom_small_lu(n, F->LU, n, F->pivots) == CAROM_OK) return true;
  return r->info->outcome = CAROM_ROOT_SINGULAR, false;
}

// d = J^-1 f.
static void solve_for_step(int n, const factors *F, const double *f, double *d) {
  for (int i = 0; i < n; i++) d[i] = ldexp(f[i], -F->rows[i]);
  carom_small_lu_solve(n, F->LU, n, F->pivots, d);
  for (int i = 0; i < n; i++) d[i] = ldexp(d[i], -F->columns[i]);
}

// ---- what counts as a root ------------------------------------------------------------------------------------------

// Whether |f| is larger than `residual` at all x +- h e_i: f neither vanishes all about nor falls to one side.
static bool is_dip(run *r, double residual, double h) {
  carom_root_work *w = r->w;
  int n = r->problem->n;
  copy(n, w->probe, r->x);
  for (int i = 0; i < 2 * n; i++) {
    w->probe[i / 2] = r->x[i / 2] + (i % 2 ? -h : h);
    if (!(residual_at(r, w->probe, w->mixed) > residual)) return false;
    w->probe[i / 2] = r->x[i / 2];
  }
  return true;
}

// |d| = |J^-1 f| at x; infinite where J is singular or no number.
static double step_of_newton(run *r) {
  carom_root_work *w = r->w;
  int n = r->problem->n;
  if (!factor_at(r, r->x, &w->test)) return INFINITY;
  solve_for_step(n, &w->test, w->f, w->d);
  return norm(n, w->d);
}

static bool is_root(run *r) {
  const carom_root_options *o = r->options;
  carom_root_info *info = r->info;
  double size = norm(r->problem->n, r->x), h = o->step_tolerance * fmax(1, size);
  bool small = info->residual <= o->tolerance;
  if (!small && info->step > ROUNDING * size) return false;
  if (info->residual == 0) return info->step = 0, is_dip(r, 0, h);
  info->step = step_of_newton(r);
  if (is_over(r)) return false;
  if (small && info->step <= h) return true;
  return info->step <= ROUNDING * size && is_dip(r, info->residual, h);
}

// The step d of the test, taken if it gains: the digits that it brings have been paid for.
static void polish(run *r) {
  carom_root_work *w = r->w;
  int n = r->problem->n;
  if (r->info->residual == 0) return;
  for (int i = 0; i < n; i++) w->probe[i] = r->x[i] - w->d[i];
  double residual = residual_at(r, w->probe, w->f);
  if (!(residual < r->info->residual)) return;
  r->info->residual = residual;
  copy(n, r->x, w->probe);
}

// ---- steps ----------------------------------------------------------------------------------------------------------

// to = x - J^-1 f with J as factored last. A step that is no number leads nowhere, but it is told by what comes next.
static void step_to(run *r, double *to) {
  carom_root_work *w = r->w;
  int n = r->problem->n;
  solve_for_step(n, &w->steps, w->f, w->d);
  for (int i = 0; i < n; i++) to[i] = r->x[i] - w->d[i];
}

// J at (1 - g) a + g b.
static bool factor_mixed(run *r, double g, const double *a, const double *b) {
  carom_root_work *w = r->w;
  for (int i = 0; i < r->problem->n; i++) w->mixed[i] = (1 - g) * a[i] + g * b[i];
  return factor_at(r, w->mixed, &w->steps);
}

// From x_k to x_k+1, with x_k-1 and x_k-1* in `last` and `star`, which receive x_k and x_k*. The predictor of g = 1/2
// looks where the corrector before it did: J is factored already. Newton's method is g = 0 without a predictor.
static bool take_step(run *r, int k, double g) {
  carom_root_work *w = r->w;
  int n = r->problem->n;
  bool plain = k == 0 || r->options->method == CAROM_ROOT_NEWTON;
  if (plain) {
    copy(n, w->star, r->x);
  } else {
    if (r->options->method == CAROM_ROOT_MONTE_CARLO && !factor_mixed(r, g, w->last, w->star)) return false;
    step_to(r, w->star);
  }
  copy(n, w->last, r->x);
  if (!factor_mixed(r, g, w->last, w->star)) return false;
  step_to(r, r->x);
  r->info->step = distance(n, r->x, w->last);
  return true;
}

// ---- the run --------------------------------------------------------------------------------------------------------

static double draw(run *r, int k) {
  if (k == 0 || r->options->method == CAROM_ROOT_NEWTON) return 0;
  return r->options->method == CAROM_ROOT_HALF ? 0.5 : carom_random_uniform(&r->random);
}

static void tell(const run *r, int k, double g) {
  const carom_root_options *o = r->options;
  const carom_root_work *w = r->w;
  if (o->watch) o->watch(o->context, &(carom_root_moment){k, g, r->x, k > 0 ? w->star : r->x, w->f});
}

// Whether the run ends at x_k, and how.
static bool ends(run *r, int k, double g) {
  carom_root_info *info = r->info;
  double size = norm(r->problem->n, r->x);
  info->iterations = k;
  info->residual = isfinite(size) ? residual_at(r, r->x, r->w->f) : INFINITY;
  if (is_over(r)) return true;
  tell(r, k, g);
  if (!isfinite(info->residual)) return info->outcome = CAROM_ROOT_NO_NUMBER, true;
  if (size > r->options->bound) return info->outcome = CAROM_ROOT_FAR, true;
  if (is_root(r)) return polish(r), info->outcome = CAROM_ROOT_FOUND, true;
  if (k < r->options->max_iterations && info->residual > 0) return is_over(r);
  return info->outcome = info->residual <= r->options->tolerance ? CAROM_ROOT_FLAT : CAROM_ROOT_LIMIT, true;
}

static void go(run *r) {
  double g = 0;
  r->info->step = INFINITY;
  for (int k = 0; !ends(r, k, g); k++) {
    g = draw(r, k);
    if (!take_step(r, k, g)) return;  // the outcome says why
  }
}

// ---- the door -------------------------------------------------------------------------------------------------------

static carom_status check_options(const carom_root_options *o, carom_error *error) {
  if (o->method < CAROM_ROOT_NEWTON || o->method > CAROM_ROOT_MONTE_CARLO)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "root: no method %d", (int)o->method);
  if (o->max_iterations < 1)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "root: max_iterations is %d: at least 1", o->max_iterations);
  if (!(o->tolerance > 0 && o->tolerance < INFINITY))
    return carom_fail(error, CAROM_ERR_ARGUMENT, "root: tolerance is %g: must be positive and finite", o->tolerance);
  if (!(o->step_tolerance > 0 && o->step_tolerance < 1))
    return carom_fail(error, CAROM_ERR_ARGUMENT, "root: step_tolerance is %g: must be within 0 and 1",
                      o->step_tolerance);
  if (o->bound > 0) return CAROM_OK;
  return carom_fail(error, CAROM_ERR_ARGUMENT, "root: bound is %g: must be positive", o->bound);
}

static carom_status check(const carom_root_work *work, const carom_root_problem *p, const carom_root_options *o,
                          const double *x, carom_error *error) {
  int most = work ? work->n_max : 1;
  if (p->n < 1 || p->n > most)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "root: %d unknowns, and room for 1 to %d", p->n, most);
  for (int i = 0; i < p->n; i++)
    if (!isfinite(x[i]))
      return carom_fail(error, CAROM_ERR_NUMBER, "root: start: component %d is %g; give a finite number", i + 1, x[i]);
  return check_options(o, error);
}

static carom_status solve(carom_root_work *work, const carom_root_problem *problem, const carom_root_options *options,
                          double *x, carom_root_info *info) {
  run r = {.problem = problem, .options = options, .w = work, .info = info, .x = x};
  r.random = carom_random_make(options->seed, options->stream);
  *info = (carom_root_info){.outcome = CAROM_ROOT_LIMIT};
  go(&r);
  return r.status;
}

carom_status carom_root_solve(carom_root_work *work, const carom_root_problem *problem,
                              const carom_root_options *options, double *x, carom_root_info *info, carom_error *error) {
  carom_root_options o = options ? *options : carom_root_default_options();
  carom_status status = check(work, problem, &o, x, error);
  if (status != CAROM_OK) return status;
  double room[8];
  int whole[6];
  carom_root_work one = {.n_max = 1, .f = room, .d = room + 1, .mixed = room + 2, .last = room + 3, .star = room + 4};
  one.probe = room + 5;
  one.steps = (factors){room + 6, whole, whole + 1, whole + 2};
  one.test = (factors){room + 7, whole + 3, whole + 4, whole + 5};
  status = solve(work ? work : &one, problem, &o, x, info);
  return status == CAROM_OK ? status : carom_fail(error, status, "root: the equations could not be evaluated");
}

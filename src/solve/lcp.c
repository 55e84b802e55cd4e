// The front door: options, the scratch, and the driver that picks a method and falls back on others.
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "math/dense.h"
#include "solve/lcp_kernels.h"
#include "solve/lcp_problem.h"
#include "solve/lcp_work.h"

enum { MOST_PAIRS = 20000, COVERING_VECTORS = 4, ENUMERATE_UNASKED = 12 };
static const double LOST = 1e-6;  // round-off of w that is too much, over max(1, |q|)

carom_lcp_options carom_lcp_default_options(void) {
  carom_lcp_options options = {.tolerance = 1e-10, .relaxation = 1, .block_size = 1};
  return options;
}

const char *carom_lcp_outcome_name(carom_lcp_outcome outcome) {
  static const char *const names[] = {"solved", "ray", "none", "limit", "time", "stalled"};
  return (unsigned)outcome < sizeof names / sizeof *names ? names[outcome] : "unknown";
}

const char *carom_lcp_method_name(carom_lcp_method method) {
  static const char *const names[] = {"auto", "lemke", "pgs", "newton", "newton-min", "enumerate"};
  return (unsigned)method < sizeof names / sizeof *names ? names[method] : "unknown";
}

// ---- the scratch ---------------------------------------------------------------------------------------------------

static bool fill_work(void *scratch, carom_error *error) {
  carom_lcp_work *work = scratch;
  (void)error;
  const carom_allocator *a = &work->head.allocator;
  int block = work->head.n_max < CAROM_LCP_BLOCK_MAX ? work->head.n_max : CAROM_LCP_BLOCK_MAX;
  size_t n = (size_t)work->head.n_max;
  return CAROM_NEW_ALL(a, CAROM_ROOM(work->z, n), CAROM_ROOM(work->w, n), CAROM_ROOM(work->phi, n),
                       CAROM_ROOM(work->gradient, n), CAROM_ROOM(work->step, n), CAROM_ROOM(work->basis, n),
                       CAROM_ROOM(work->block_matrix, block * block)) &&
         carom_lcp_lemke_create(&work->lemke, work->head.n_max, a) == CAROM_OK &&
         carom_lcp_lemke_create(&work->block, block, a) == CAROM_OK;
}

carom_status carom_work_create(const carom_work_kind *kind, int n_max, const carom_allocator *allocator, void **work,
                               carom_error *error) {
  carom_allocator a = carom_allocator_or_default(allocator);
  *work = NULL;
  if (n_max < 0 || n_max > kind->most)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "%s: n_max = %d, expected 0 to %d", kind->call, n_max, kind->most);
  carom_work_head *head = carom_allocate(&a, 1, kind->size);
  if (head) *head = (carom_work_head){a, n_max};
  if (head && kind->fill(head, error)) return *work = head, CAROM_OK;
  if (head) kind->destroy(head);
  return carom_fail(error, CAROM_ERR_MEMORY, "%s: no memory for %d %s", kind->call, n_max, kind->unit);
}

static void destroy_work(void *work) { carom_lcp_work_destroy(work); }
static const carom_work_kind kind = {"carom_lcp_work_create", "pairs",   MOST_PAIRS,
                                     sizeof(carom_lcp_work),  fill_work, destroy_work};

carom_status carom_lcp_work_create(int n_max, const carom_allocator *allocator, carom_lcp_work **work,
                                   carom_error *error) {
  return carom_work_create(&kind, n_max, allocator, (void **)work, error);
}

void carom_lcp_work_destroy(carom_lcp_work *work) {
  if (!work) return;
  carom_allocator a = work->head.allocator;
  carom_lcp_lemke_destroy(&work->lemke, &a);
  carom_lcp_lemke_destroy(&work->block, &a);
  CAROM_RELEASE_ALL(&a, work->z, work->w, work->phi, work->gradient, work->step, work->basis, work->block_matrix, work);
}

// ---- one call ------------------------------------------------------------------------------------------------------

static carom_status check_options(const carom_lcp_options *o, int n, carom_error *error) {
  if ((unsigned)o->method > CAROM_LCP_ENUMERATE || (unsigned)o->start > CAROM_LCP_START_BASIS)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "complementarity options: no such method or start; begin with %s()",
                      "carom_lcp_default_options");
  if (!(o->tolerance > 0) || !(o->relaxation > 0 && o->relaxation < 2) || o->block_size < 1 || o->max_iterations < 0 ||
      !(o->time_limit >= 0))
    return carom_fail(error, CAROM_ERR_ARGUMENT,
                      "complementarity options: expected tolerance > 0, 0 < relaxation < 2, block_size >= 1 and limits "
                      ">= 0; begin with carom_lcp_default_options()");
  if (o->method == CAROM_LCP_ENUMERATE && n > CAROM_LCP_ENUMERATE_MAX)
    return carom_fail(error, CAROM_ERR_LIMIT, "complementarity options: enumeration is for up to %d pairs, not %d",
                      CAROM_LCP_ENUMERATE_MAX, n);
  for (int i = 0; o->covering && i < n; i++)
    if (!(o->covering[i] > 0 && isfinite(o->covering[i])))
      return carom_fail(error, CAROM_ERR_ARGUMENT, "complementarity options: covering[%d] = %g must be positive", i,
                        o->covering[i]);
  return CAROM_OK;
}

static carom_status check_call(const carom_lcp_call *call, const carom_lcp_solution *s, const carom_lcp_info *info,
                               carom_error *error) {
  const carom_lcp_options *o = &call->options;
  if (!call->work || !call->problem || !s || !s->z || !s->w || !info)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "carom_lcp_solve: work, problem, z, w and info must not be null");
  carom_status status = carom_lcp_check(call->problem, error);
  if (status != CAROM_OK) return status;
  if (call->problem->n > call->work->head.n_max)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "carom_lcp_solve: n = %d, but the work was made for up to %d",
                      call->problem->n, call->work->head.n_max);
  if (o->start == CAROM_LCP_START_BASIS && !s->basis)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "carom_lcp_solve: a start from a basis needs one");
  for (int i = 0; o->start == CAROM_LCP_START_Z && i < call->problem->n; i++)
    if (!isfinite(s->z[i]))
      return carom_fail(error, CAROM_ERR_NUMBER, "carom_lcp_solve: the first guess z[%d] is %g", i, s->z[i]);
  return check_options(o, call->problem->n, error);
}

// ---- the best of a method ------------------------------------------------------------------------------------------

carom_lcp_best carom_lcp_best_begin(const carom_lcp_call *call, double *z) {
  memset(z, 0, sizeof(double) * (size_t)call->problem->n);
  return (carom_lcp_best){call, z, carom_lcp_residual(call->problem, z)};
}

void carom_lcp_best_note(carom_lcp_best *best, double residual) {
  if (!(residual < best->residual)) return;
  best->residual = residual;
  memcpy(best->z, best->call->work->z, sizeof(double) * (size_t)best->call->problem->n);
}

double carom_lcp_best_recall(const carom_lcp_best *best) {
  carom_lcp_work *work = best->call->work;
  int n = best->call->problem->n;
  memcpy(work->z, best->z, sizeof(double) * (size_t)n);
  carom_lcp_evaluate(best->call->problem, work->z, work->w);
  for (int i = 0; i < n; i++) work->basis[i] = work->z[i] > work->w[i];
  return best->residual;
}

// ---- the driver ----------------------------------------------------------------------------------------------------

// What is being made of one call.
typedef struct drive {
  const carom_lcp_call *call;
  double *z;
  unsigned char *basis;  // may be null
  carom_lcp_info *info;
} drive;

// From best to worst: an answer, a proof that there is none, a ray, the rest.
static int rank_of(carom_lcp_outcome outcome) {
  return outcome == CAROM_LCP_SOLVED ? 0 : outcome == CAROM_LCP_NONE ? 1 : outcome == CAROM_LCP_RAY ? 2 : 3;
}

static bool tells_more(const carom_lcp_attempt *attempt, const carom_lcp_info *info) {
  int mine = rank_of(attempt->outcome), theirs = rank_of(info->outcome);
  return info->attempts == 0 || mine < theirs || (mine == theirs && attempt->residual < info->residual);
}

// z = 0: any answer is at least as good.
static void begin_at_zero(const drive *d) {
  size_t n = (size_t)d->call->problem->n;
  memset(d->z, 0, sizeof(double) * n);
  if (d->basis) memset(d->basis, 0, n);
  d->info->residual = carom_lcp_residual(d->call->problem, d->z);
}

// z is so large that w, a sum of large terms, is round-off, and q is lost in it: on a ray of M any z would do.
static bool loses_q(const drive *d) {
  const carom_lcp_call *call = d->call;
  double terms = carom_lcp_largest_terms(call->problem, call->work->z, call->work->w);
  return DBL_EPSILON * terms > LOST * call->tolerance / call->options.tolerance;
}

// Keeps the best z so far, whatever the outcome of the attempt that found it, and the outcome that tells most.
static void keep(const drive *d, carom_lcp_method method, carom_lcp_attempt attempt) {
  carom_lcp_info *info = d->info;
  size_t n = (size_t)d->call->problem->n;
  if (attempt.residual <= d->call->tolerance) {
    attempt.outcome = loses_q(d) ? CAROM_LCP_STALLED : CAROM_LCP_SOLVED;
    if (attempt.outcome == CAROM_LCP_STALLED) attempt.residual = INFINITY;
  }
  bool taken = tells_more(&attempt, info);
  if (info->attempts > 0 && info->method == method) attempt.iterations += info->iterations;
  if (info->method == method || taken) info->iterations = attempt.iterations;
  if (taken) info->method = method, info->outcome = attempt.outcome;
  if (info->attempts++ == 0) begin_at_zero(d);
  if (!(attempt.residual < info->residual)) return;
  info->residual = attempt.residual;
  memcpy(d->z, d->call->work->z, sizeof(double) * n);
  if (d->basis) memcpy(d->basis, d->call->work->basis, n);
}

static bool over(const drive *d) {
  if (d->info->attempts == 0) return false;
  return d->info->outcome == CAROM_LCP_SOLVED || d->info->outcome == CAROM_LCP_NONE ||
         d->info->outcome == CAROM_LCP_TIME || carom_clock() > d->call->deadline;
}

// The basis that a z suggests, in work->basis: z_i counts as basic where it outweighs w_i.
static void near_basis(const drive *d, const double *z) {
  carom_lcp_work *work = d->call->work;
  carom_lcp_evaluate(d->call->problem, z, work->w);
  for (int i = 0; i < d->call->problem->n; i++) work->basis[i] = z[i] > work->w[i];
}

static void start_basis(const drive *d) {
  if (d->call->options.start == CAROM_LCP_START_Z)
    near_basis(d, d->z);
  else
    for (int i = 0; i < d->call->problem->n; i++) d->call->work->basis[i] = d->basis[i] != 0;
}

static void try_lemke(const drive *d, const unsigned char *start, unsigned seed, int max_pivots) {
  carom_lcp_work *work = d->call->work;
  carom_lcp_lemke_run run = {.start = start,
                             .covering = seed ? NULL : d->call->options.covering,
                             .seed = seed,
                             .max_pivots = max_pivots,
                             .deadline = d->call->deadline,
                             .tolerance = d->call->tolerance};
  carom_lcp_lemke_solve(&work->lemke, d->call->problem, &run, work->z, work->basis);
  keep(d, CAROM_LCP_LEMKE, (carom_lcp_attempt){run.outcome, run.pivots, run.residual});
}

// From a start, then from the beginning, then with other covering vectors. A path much longer than n is given up early:
// another covering vector usually has a short one.
static void drive_lemke(const drive *d) {
  carom_lcp_work *work = d->call->work;
  int n = d->call->problem->n, asked = d->call->options.max_iterations;
  int all = asked ? asked : 50 * (n + 1), first = asked ? asked : 10 * (n + 10);
  if (d->call->options.start != CAROM_LCP_START_COLD) {
    start_basis(d);
    try_lemke(d, work->basis, 0, first);
  }
  for (unsigned seed = 0; seed < COVERING_VECTORS && !over(d); seed++) {
    try_lemke(d, NULL, seed, seed + 1 < COVERING_VECTORS ? first : all);
    if (over(d)) break;
    near_basis(d, work->z);
    try_lemke(d, work->basis, seed, first);
  }
}

// z of the start, in work->z.
static void start_z(const drive *d) {
  carom_lcp_work *work = d->call->work;
  const carom_lcp_options *o = &d->call->options;
  memset(work->z, 0, sizeof(double) * (size_t)d->call->problem->n);
  if (o->start == CAROM_LCP_START_Z)
    for (int i = 0; i < d->call->problem->n; i++) work->z[i] = fmax(d->z[i], 0);
  if (o->start != CAROM_LCP_START_BASIS) return;
  start_basis(d);
  carom_lcp_lemke_run run = {.start = work->basis, .deadline = d->call->deadline, .tolerance = d->call->tolerance};
  carom_lcp_lemke_solve(&work->lemke, d->call->problem, &run, work->z, work->basis);
}

static void drive_all(const drive *d) {
  drive_lemke(d);
  if (over(d)) return;
  memcpy(d->call->work->z, d->z, sizeof(double) * (size_t)d->call->problem->n);
  keep(d, CAROM_LCP_NEWTON_FB, carom_lcp_newton(d->call, CAROM_LCP_NEWTON_FB));
  if (over(d) || d->call->problem->n > ENUMERATE_UNASKED) return;
  keep(d, CAROM_LCP_ENUMERATE, carom_lcp_enumerate(d->call));
}

static void drive_method(const drive *d) {
  carom_lcp_method method = d->call->options.method;
  if (method != CAROM_LCP_PGS || d->call->options.start == CAROM_LCP_START_BASIS)
    carom_lcp_lemke_load(&d->call->work->lemke, d->call->problem);
  if (method == CAROM_LCP_LEMKE) {
    drive_lemke(d);
  } else if (method == CAROM_LCP_AUTO) {
    drive_all(d);
  } else {
    start_z(d);
    keep(d, method,
         method == CAROM_LCP_PGS         ? carom_lcp_pgs(d->call)
         : method == CAROM_LCP_ENUMERATE ? carom_lcp_enumerate(d->call)
                                         : carom_lcp_newton(d->call, method));
  }
}

carom_status carom_lcp_solve(carom_lcp_work *work, const carom_lcp_problem *problem, const carom_lcp_options *options,
                             carom_lcp_solution *solution, carom_lcp_info *info, carom_error *error) {
  double begin = carom_clock();
  carom_lcp_call call = {.work = work, .problem = problem};
  call.options = options ? *options : carom_lcp_default_options();
  carom_status status = check_call(&call, solution, info, error);
  if (status != CAROM_OK) return status;
  call.tolerance = call.options.tolerance * fmax(1, carom_lcp_largest(problem->n, problem->q));
  call.deadline = call.options.time_limit > 0 ? begin + call.options.time_limit : INFINITY;
  *info = (carom_lcp_info){.outcome = problem->n > 0 ? CAROM_LCP_STALLED : CAROM_LCP_SOLVED, .residual = INFINITY};
  work->lemke.basis.refactorizations = 0;
  work->starved = false;
  if (problem->n > 0)
    drive_method(&(drive){&call, solution->z, solution->basis, info});
  else
    info->residual = 0;
  info->refactorizations = work->lemke.basis.refactorizations;
  carom_lcp_evaluate(problem, solution->z, solution->w);
  info->seconds = carom_clock() - begin;
  return work->starved ? carom_dense_fail_room(error, "Newton's method") : CAROM_OK;
}

// Nonlinear complementarity by successive linearisation (Josephy 1979): at z, solve the linear problem
// w = F(z) + J(z) (x - z) for x and go towards it.
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "solve/lcp_kernels.h"
#include "solve/lcp_problem.h"
#include "solve/lcp_work.h"

enum { STEPS = 50, HALVINGS = 30, MEMORY = 4, REGULARIZATIONS = 9 };

struct carom_ncp_work {
  carom_work_head head;
  carom_lcp_work *linear;
  double *J, *q, *x, *trial, *F;
  double *best;  // (n_max) the z of least residual
  unsigned char *basis;
};

static bool fill_work(void *scratch, carom_error *error) {
  carom_ncp_work *work = scratch;
  const carom_allocator *a = &work->head.allocator;
  size_t n = (size_t)work->head.n_max;
  return CAROM_NEW_ALL(a, CAROM_ROOM(work->J, n * n), CAROM_ROOM(work->q, n), CAROM_ROOM(work->x, n),
                       CAROM_ROOM(work->best, n), CAROM_ROOM(work->trial, n), CAROM_ROOM(work->F, n),
                       CAROM_ROOM(work->basis, n)) &&
         carom_lcp_work_create(work->head.n_max, a, &work->linear, error) == CAROM_OK;
}

void carom_ncp_work_destroy(carom_ncp_work *work) {
  if (!work) return;
  carom_allocator a = work->head.allocator;
  carom_lcp_work_destroy(work->linear);
  CAROM_RELEASE_ALL(&a, work->J, work->q, work->x, work->best, work->trial, work->F, work->basis, work);
}

static void destroy_work(void *work) { carom_ncp_work_destroy(work); }
static const carom_work_kind kind = {"carom_ncp_work_create", "pairs",   20000,
                                     sizeof(carom_ncp_work),  fill_work, destroy_work};

carom_status carom_ncp_work_create(int n_max, const carom_allocator *allocator, carom_ncp_work **work,
                                   carom_error *error) {
  return carom_work_create(&kind, n_max, allocator, (void **)work, error);
}

// One solve under way.
typedef struct run {
  carom_ncp_work *work;
  const carom_ncp_problem *problem;
  carom_lcp_options linear;  // of each step
  double tolerance, deadline;
  int limit;
  double *z, *w;
  carom_lcp_info *info;
  double recent[MEMORY];  // merits of the last steps
  double least;           // residual of work->best
} run;

static double square(int n, const double *z, const double *F) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += fmin(z[i], F[i]) * fmin(z[i], F[i]);
  return sum;
}

// The linear problem at z, its solution in work->x.
static carom_status solve_linear(run *r, carom_lcp_outcome *outcome, carom_error *error) {
  carom_ncp_work *work = r->work;
  int n = r->problem->n;
  carom_lcp_problem linear = {.n = n, .M = work->J, .q = work->q};
  carom_lcp_info info;
  for (int i = 0; i < n; i++) work->trial[i] = -r->z[i];
  memcpy(work->q, r->w, sizeof(double) * (size_t)n);
  carom_lcp_combine(n, n, work->J, n, NULL, work->trial, work->q);
  carom_status status = carom_lcp_solve(work->linear, &linear, &r->linear,
                                        &(carom_lcp_solution){work->x, work->F, work->basis}, &info, error);
  *outcome = info.outcome;
  return status;
}

// Towards work->x, by halves, until the residual is below the largest of the last few: asking for less than the last
// alone would keep Newton's method from crossing a ridge (Grippo, Lampariello and Lucidi 1986). *moved tells whether.
static carom_status search_line(run *r, bool *moved) {
  carom_ncp_work *work = r->work;
  int n = r->problem->n;
  double now = square(n, r->z, r->w), before = now, t = 1;
  r->recent[r->info->iterations % MEMORY] = now;
  for (int i = 0; i < MEMORY && i <= r->info->iterations; i++) before = fmax(before, r->recent[i]);
  *moved = false;
  for (int halving = 0; halving < HALVINGS && !*moved; halving++, t /= 2) {
    for (int i = 0; i < n; i++) work->trial[i] = r->z[i] + t * (work->x[i] - r->z[i]);
    carom_status status = r->problem->evaluate(r->problem->context, work->trial, work->F, NULL);
    if (status != CAROM_OK) return status;
    *moved = square(n, work->trial, work->F) <= (1 - 1e-4 * t) * before;
  }
  if (*moved) memcpy(r->z, work->trial, sizeof(double) * (size_t)n);
  return CAROM_OK;
}

// One step. A Jacobian whose linear problem has no solution, or none that leads down, is pushed towards a multiple of
// the identity: shorter steps, of projected descent in the end.
static carom_status step(run *r, bool *moved, carom_error *error) {
  int n = r->problem->n;
  double size = carom_lcp_largest(n * n, r->work->J), push = 1e-6 * (1 + size);
  *moved = false;
  for (int attempt = 0; attempt < REGULARIZATIONS && !*moved; attempt++, push *= 10) {
    carom_lcp_outcome outcome = CAROM_LCP_STALLED;
    carom_status status = solve_linear(r, &outcome, error);
    if (status == CAROM_OK && outcome == CAROM_LCP_SOLVED) status = search_line(r, moved);
    if (status != CAROM_OK) return status;
    for (int i = 0; i < n; i++) r->work->J[(size_t)i * (size_t)(n + 1)] += push;
  }
  return CAROM_OK;
}

static carom_status evaluation_failed(const run *r, carom_status status, carom_error *error) {
  return carom_fail(error, status, "carom_ncp_solve: the function could not be evaluated in step %d",
                    r->info->iterations);
}

static bool finite(int n, const double *x) {
  for (int i = 0; i < n; i++)
    if (!isfinite(x[i])) return false;
  return true;
}

// The line search lets the residual rise now and then.
static void note_best(run *r) {
  if (!(r->info->residual < r->least)) return;
  r->least = r->info->residual;
  memcpy(r->work->best, r->z, sizeof(double) * (size_t)r->problem->n);
}

static carom_status recall_best(run *r, carom_error *error) {
  if (r->info->outcome == CAROM_LCP_SOLVED || !(r->least < r->info->residual)) return CAROM_OK;
  memcpy(r->z, r->work->best, sizeof(double) * (size_t)r->problem->n);
  r->info->residual = r->least;
  carom_status status = r->problem->evaluate(r->problem->context, r->z, r->w, NULL);
  return status == CAROM_OK ? CAROM_OK : evaluation_failed(r, status, error);
}

static carom_status iterate(run *r, carom_error *error) {
  carom_ncp_work *work = r->work;
  int n = r->problem->n;
  for (bool moved = true;; r->info->iterations++) {
    carom_status status = r->problem->evaluate(r->problem->context, r->z, r->w, work->J);
    if (status != CAROM_OK) return evaluation_failed(r, status, error);
    if (!finite(n, r->w) || !finite(n * n, work->J)) return evaluation_failed(r, CAROM_ERR_NUMBER, error);
    r->info->residual = carom_lcp_min_norm(n, r->z, r->w);
    r->info->outcome = CAROM_LCP_SOLVED;
    if (r->info->residual <= r->tolerance) return CAROM_OK;
    note_best(r);
    r->info->outcome = !moved ? CAROM_LCP_STALLED : r->info->iterations >= r->limit ? CAROM_LCP_LIMIT : CAROM_LCP_TIME;
    if (!moved || r->info->iterations >= r->limit || carom_clock() > r->deadline) return CAROM_OK;
    status = step(r, &moved, error);
    if (status != CAROM_OK) return evaluation_failed(r, status, error);
    r->linear.start = CAROM_LCP_START_BASIS;
  }
}

carom_status carom_ncp_solve(carom_ncp_work *work, const carom_ncp_problem *problem, const carom_lcp_options *options,
                             carom_ncp_solution *solution, carom_lcp_info *info, carom_error *error) {
  double begin = carom_clock();
  carom_lcp_options o = options ? *options : carom_lcp_default_options();
  if (!work || !problem || !problem->evaluate || !solution || !solution->z || !solution->w || !info || problem->n < 0 ||
      problem->n > work->head.n_max)
    return carom_fail(error, CAROM_ERR_ARGUMENT,
                      "carom_ncp_solve: work, problem, its function, z, w and info must not be null, and n no larger "
                      "than the work was made for");
  double *z = solution->z, *w = solution->w;
  if (!finite(problem->n, z))
    return carom_fail(error, CAROM_ERR_NUMBER, "carom_ncp_solve: the first guess z is not finite");
  run r = {.work = work, .problem = problem, .linear = o, .tolerance = o.tolerance, .z = z, .w = w, .info = info};
  r.least = INFINITY;
  r.limit = o.max_iterations ? o.max_iterations : STEPS;
  r.deadline = o.time_limit > 0 ? begin + o.time_limit : INFINITY;
  r.linear.max_iterations = 0, r.linear.start = CAROM_LCP_START_COLD;
  *info = (carom_lcp_info){.method = o.method, .attempts = 1, .residual = INFINITY};
  carom_status status = iterate(&r, error);
  if (status == CAROM_OK) status = recall_best(&r, error);
  info->seconds = carom_clock() - begin;
  return status;
}

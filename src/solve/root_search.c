// Many runs from given starts, and the distinct roots that they found.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"
#include "carom/root.h"

typedef struct search {
  const carom_root_problem *problem;
  const carom_root_runs *runs;
  const carom_root_options *options;
  carom_root_set *set;
  carom_root_work **works;  // (threads)
  int threads;
  carom_status *statuses;  // (runs in all)
} search;

carom_root_runs carom_root_default_runs(void) { return (carom_root_runs){.runs = 1000, .near = 1e-6}; }

// ---- room -----------------------------------------------------------------------------------------------------------

static const int64_t MOST_RUNS = 20000000;

static carom_status check(const carom_root_problem *p, const carom_root_runs *r, carom_error *error) {
  if (p->n < 1 || p->n > CAROM_ROOT_MOST)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "root: %d unknowns: 1 to %d are allowed", p->n, CAROM_ROOT_MOST);
  if (!r || !r->starts || r->start_count < 1)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "root: a search needs at least one start");
  if (r->runs < 1 || (int64_t)r->runs * r->start_count > MOST_RUNS)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "root: %d runs from each of %d starts: 1 to %lld in all are allowed",
                      r->runs, r->start_count, (long long)MOST_RUNS);
  if (!(r->near >= 0 && r->near < 1))
    return carom_fail(error, CAROM_ERR_ARGUMENT, "root: near is %g: must be within 0 and 1", r->near);
  return CAROM_OK;
}

static carom_root_set *new_set(const search *s, const carom_allocator *a) {
  carom_root_set *set = CAROM_NEW(a, carom_root_set, 1);
  if (!set) return NULL;
  bool chance = s->options->method == CAROM_ROOT_MONTE_CARLO;
  *set = (carom_root_set){.n = s->problem->n, .start_count = s->runs->start_count, .allocator = *a};
  set->runs = chance ? s->runs->runs : 1;
  set->run_count = (int64_t)set->runs * set->start_count;
  if (CAROM_NEW_ALL(a, CAROM_ROOM(set->root_of, set->run_count), CAROM_ROOM(set->infos, set->run_count),
                    CAROM_ROOM(set->ends, set->run_count * set->n)))
    return set;
  carom_root_set_destroy(set);
  return NULL;
}

void carom_root_set_destroy(carom_root_set *set) {
  if (!set) return;
  carom_allocator a = set->allocator;
  CAROM_RELEASE_ALL(&a, set->roots, set->root_of, set->infos, set->ends, set);
}

static bool make_works(search *s, const carom_allocator *a) {
  if (!CAROM_NEW_ALL(a, CAROM_ROOM(s->works, s->threads), CAROM_ROOM(s->statuses, s->set->run_count))) return false;
  for (int i = 0; i < s->threads; i++)
    if (carom_root_work_create(s->problem->n, a, &s->works[i], NULL) != CAROM_OK) return false;
  return true;
}

static void release_works(search *s, const carom_allocator *a) {
  for (int i = 0; s->works && i < s->threads; i++) carom_root_work_destroy(s->works[i]);
  CAROM_RELEASE_ALL(a, (void *)s->works, s->statuses);
}

// ---- runs -----------------------------------------------------------------------------------------------------------

static carom_status make_run(search *s, int64_t i, carom_root_work *work, carom_error *error) {
  carom_root_set *set = s->set;
  carom_root_options o = *s->options;
  double *x = set->ends + i * set->n;
  memcpy(x, s->runs->starts + i / set->runs * set->n, (size_t)set->n * sizeof *x);
  o.stream = (uint64_t)(i % set->runs);
  o.watch = NULL;
  return carom_root_solve(work, s->problem, &o, x, &set->infos[i], error);
}

// The first run that fails speaks for all, whichever thread comes to it first: it is made again for its message.
static carom_status make_runs(search *s, carom_error *error) {
  int64_t count = s->set->run_count;
  CAROM_PARALLEL_FOR(
      s->threads, schedule(dynamic, 16),
      for (int64_t i = 0; i < count; i++) { s->statuses[i] = make_run(s, i, s->works[carom_team_here().me], NULL); });
  for (int64_t i = 0; i < count; i++)
    if (s->statuses[i] != CAROM_OK) return make_run(s, i, s->works[0], error);
  return CAROM_OK;
}

// ---- distinct roots -------------------------------------------------------------------------------------------------

// Where a run ended at a root.
typedef struct end {
  const double *x;
  int n;
  int64_t run;
} end;

// By the first component, then the second, ...; then by the run, so that the order does not depend on how one sorts.
static int compare_ends(const void *a, const void *b) {
  const end *p = a, *q = b;
  for (int i = 0; i < p->n; i++)
    if (p->x[i] != q->x[i]) return p->x[i] < q->x[i] ? -1 : 1;
  return (p->run > q->run) - (p->run < q->run);
}

static int64_t list_ends(carom_root_set *set, end *ends) {
  int64_t count = 0;
  for (int64_t i = 0; i < set->run_count; i++) {
    const carom_root_info *info = &set->infos[i];
    set->outcomes[info->outcome]++;
    set->f_evaluations += info->f_evaluations, set->slope_evaluations += info->slope_evaluations;
    set->root_of[i] = -1;
    if (info->outcome == CAROM_ROOT_FOUND) ends[count++] = (end){set->ends + i * set->n, set->n, i};
  }
  qsort(ends, (size_t)count, sizeof *ends, compare_ends);
  return count;
}

static bool is_near(int n, const double *a, const double *b, double near) {
  double apart = 0, size = 1;
  for (int i = 0; i < n; i++) apart = fmax(apart, fabs(a[i] - b[i])), size = fmax(size, fabs(a[i]));
  return apart <= near * size;
}

// The root that an end counts to. Those before are in the order of their first components: none of them is near once
// one is too far behind in these.
static int find_root(const search *s, const end *e, const double *const *firsts) {
  double size = 1, near = s->runs->near;
  for (int i = 0; i < e->n; i++) size = fmax(size, fabs(e->x[i]));
  for (int k = s->set->count - 1; k >= 0 && e->x[0] - firsts[k][0] <= 2 * near * size; k--)
    if (is_near(e->n, firsts[k], e->x, near)) return k;
  return -1;
}

static void count_hit(carom_root_set *set, int64_t run, int index) {
  carom_root *root = &set->roots[index];
  const carom_root_info *info = &set->infos[run];
  root->hits++;
  root->iterations += info->iterations;
  if (run < root->first) root->first = run;
  set->root_of[run] = index;
  if (info->residual > root->residual || (info->residual == root->residual && run > root->best)) return;
  root->x = set->ends + run * set->n, root->residual = info->residual, root->step = info->step, root->best = run;
}

static bool gather(search *s, end *ends, const double **firsts) {
  carom_root_set *set = s->set;
  int64_t count = list_ends(set, ends);
  int capacity = 0;
  for (int64_t i = 0; i < count; i++) {
    int index = find_root(s, &ends[i], firsts);
    if (index < 0) {
      if (!carom_grow(&set->allocator, (void **)&set->roots, set->count, &capacity, sizeof *set->roots)) return false;
      firsts[set->count] = ends[i].x, index = set->count++;
      set->roots[index] = (carom_root){.residual = INFINITY, .first = ends[i].run, .best = ends[i].run};
    }
    count_hit(set, ends[i].run, index);
  }
  return true;
}

static void summarise(carom_root_set *set) {
  for (int i = 0; i < set->count; i++) {
    carom_root *root = &set->roots[i];
    root->iterations /= (double)root->hits;
    root->rate = carom_wilson(root->hits, set->run_count, CAROM_Z95);
  }
  set->rate = carom_wilson(set->outcomes[CAROM_ROOT_FOUND], set->run_count, CAROM_Z95);
}

// ---- the search -----------------------------------------------------------------------------------------------------

static carom_status run_search(search *s, carom_error *error) {
  carom_status status = make_runs(s, error);
  if (status != CAROM_OK) return status;
  const carom_allocator *a = &s->set->allocator;
  end *ends = CAROM_NEW(a, end, s->set->run_count);
  const double **firsts = CAROM_NEW(a, const double *, s->set->run_count);
  bool room = ends && firsts && gather(s, ends, firsts);
  CAROM_RELEASE_ALL(a, ends, (void *)firsts);
  if (!room) return carom_fail(error, CAROM_ERR_MEMORY, "root: out of memory");
  summarise(s->set);
  return status;
}

carom_status carom_root_search(const carom_root_problem *problem, const carom_root_runs *runs,
                               const carom_root_options *options, const carom_allocator *allocator,
                               carom_root_set **set, carom_error *error) {
  carom_allocator a = carom_allocator_or_default(allocator);
  carom_root_options o = options ? *options : carom_root_default_options();
  search s = {.problem = problem, .runs = runs, .options = &o};
  *set = NULL;
  carom_status status = check(problem, runs, error);
  if (status != CAROM_OK) return status;
  s.set = new_set(&s, &a);
  s.threads = s.set ? carom_thread_count(runs->threads) : 0;
  if (s.set && s.threads > s.set->run_count) s.threads = (int)s.set->run_count;
  bool room = s.set && make_works(&s, &a);
  status = room ? run_search(&s, error) : carom_fail(error, CAROM_ERR_MEMORY, "root: out of memory");
  release_works(&s, &a);
  if (status == CAROM_OK) return *set = s.set, status;
  carom_root_set_destroy(s.set);
  return status;
}

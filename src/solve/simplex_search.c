// Nelder and Mead's simplex with restarts. All of NLopt that the library sees is in this file.
#include <math.h>
#include <string.h>

#include "solve/simplex_search.h"

carom_simplex carom_simplex_default(void) {
  return (carom_simplex){.size = 0.1, .tolerance = 1e-8, .restarts = 20, .budget = 2000, .seed = 1};
}

#ifndef CAROM_HAVE_NLOPT

bool carom_simplex_available(void) { return false; }

carom_status carom_simplex_minimise(const carom_simplex *search, double *x, carom_simplex_info *info,
                                    carom_error *error) {
  (void)search, (void)x, (void)info;
  return carom_fail(error, CAROM_ERR_UNSUPPORTED,
                    "this build has no simplex search: install NLopt (Debian: libnlopt-dev) and build again");
}

#else

#include <nlopt.h>

bool carom_simplex_available(void) { return true; }

// ---- values --------------------------------------------------------------------------------------------------------

// The search is in u of the unit cube, so that badly scaled variables cost nothing.
typedef struct walk {
  const carom_simplex *search;
  nlopt_opt solver;
  double best[CAROM_SIMPLEX_MOST], value;  // of this start
  int evaluations, failures;
  bool cut;
} walk;

static void scaled(const carom_simplex *s, const double *u, double *x) {
  for (int i = 0; i < s->n; i++) {
    double t = fmin(1, fmax(0, u[i]));
    x[i] = (1 - t) * s->low[i] + t * s->high[i];
  }
}

static double value_at(unsigned n, const double *u, double *slopes, void *context) {
  (void)slopes;
  walk *w = context;
  if (w->evaluations >= w->search->budget) {
    w->cut = true;
    nlopt_force_stop(w->solver);
    return HUGE_VAL;
  }
  double x[CAROM_SIMPLEX_MOST];
  scaled(w->search, u, x);
  double value = w->search->value(w->search->context, x);
  w->evaluations++;
  if (!isfinite(value)) {
    w->failures++;
    return HUGE_VAL;  // NLopt compares values, and takes this for the worst
  }
  if (value < w->value) {
    w->value = value;
    memcpy(w->best, u, n * sizeof *u);
  }
  return value;
}

// ---- searches ------------------------------------------------------------------------------------------------------

static bool set_up(walk *w) {
  const carom_simplex *s = w->search;
  w->solver = nlopt_create(NLOPT_LN_NELDERMEAD, (unsigned)s->n);
  return w->solver && nlopt_set_min_objective(w->solver, value_at, w) > 0 &&
         nlopt_set_lower_bounds1(w->solver, 0) > 0 && nlopt_set_upper_bounds1(w->solver, 1) > 0 &&
         nlopt_set_xtol_abs1(w->solver, s->tolerance) > 0;
}

// One simplex after another from the best point so far: of the first size, then smaller ones, as long as they gain.
// One that gains nothing is followed by a large one before the search believes it.
static bool descend(walk *w, const double *u) {
  const carom_simplex *s = w->search;
  memcpy(w->best, u, (size_t)s->n * sizeof *u);
  w->value = INFINITY;
  int idle = 0;
  for (int k = 0; k <= s->restarts && idle < 2 && !w->cut; k++) {
    double at[CAROM_SIMPLEX_MOST], before = w->value, least;
    memcpy(at, w->best, (size_t)s->n * sizeof *at);
    double size = k == 0 || idle ? s->size : s->size * pow(0.25, k % 4);
    if (nlopt_set_initial_step1(w->solver, size) < 0) return false;
    if (nlopt_optimize(w->solver, at, &least) == NLOPT_OUT_OF_MEMORY) return false;
    bool gained = w->value < before - 1e-3 * s->tolerance * fabs(before);
    idle = k > 0 && !gained ? idle + 1 : 0;
  }
  return true;
}

static void random_point(const carom_simplex *s, int start, double *u) {
  carom_random random = carom_random_make(s->seed, (uint64_t)start);
  for (int i = 0; i < s->n; i++) u[i] = carom_random_uniform(&random);
}

static bool run(walk *w, const double *first, double *best, carom_simplex_info *info) {
  const carom_simplex *s = w->search;
  for (int start = 0; start <= s->starts && !w->cut; start++) {
    double u[CAROM_SIMPLEX_MOST];
    if (start)
      random_point(s, start, u);
    else
      memcpy(u, first, (size_t)s->n * sizeof *u);
    if (!descend(w, u)) return false;
    if (!(w->value < info->value)) continue;
    info->value = w->value, info->best_start = start;
    memcpy(best, w->best, (size_t)s->n * sizeof *best);
  }
  return true;
}

// ---- the door ------------------------------------------------------------------------------------------------------

static carom_status check(const carom_simplex *s, const double *x, carom_error *error) {
  if (s->n < 1 || s->n > CAROM_SIMPLEX_MOST)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "a simplex search has 1 to %d variables, got %d", CAROM_SIMPLEX_MOST,
                      s->n);
  if (s->budget < 1 || s->starts < 0 || s->restarts < 0)
    return carom_fail(error, CAROM_ERR_ARGUMENT,
                      "a simplex search needs a budget of at least 1 and no negative number of starts or restarts; got "
                      "%d, %d and %d",
                      s->budget, s->starts, s->restarts);
  if (!(s->size > 0 && s->size <= 1) || !(s->tolerance > 0 && s->tolerance < 1))
    return carom_fail(error, CAROM_ERR_ARGUMENT,
                      "size and tolerance of a simplex search are shares of the ranges; got %g and %g", s->size,
                      s->tolerance);
  for (int i = 0; i < s->n; i++)
    if (!(isfinite(s->low[i]) && isfinite(s->high[i]) && s->low[i] < s->high[i] && isfinite(x[i])))
      return carom_fail(error, CAROM_ERR_ARGUMENT, "variable %d of a simplex search: %g between %g and %g", i, x[i],
                        s->low[i], s->high[i]);
  return CAROM_OK;
}

carom_status carom_simplex_minimise(const carom_simplex *search, double *x, carom_simplex_info *info,
                                    carom_error *error) {
  carom_status status = check(search, x, error);
  if (status != CAROM_OK) return status;
  double u[CAROM_SIMPLEX_MOST], best[CAROM_SIMPLEX_MOST];
  for (int i = 0; i < search->n; i++)
    best[i] = u[i] = fmin(1, fmax(0, (x[i] - search->low[i]) / (search->high[i] - search->low[i])));
  walk w = {.search = search};
  *info = (carom_simplex_info){.value = INFINITY};
  bool good = set_up(&w) && run(&w, u, best, info);
  nlopt_destroy(w.solver);
  if (!good) return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for a simplex search");
  scaled(search, best, x);
  info->evaluations = w.evaluations, info->failures = w.failures, info->within = !w.cut;
  return CAROM_OK;
}

#endif

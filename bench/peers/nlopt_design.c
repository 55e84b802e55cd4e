// NLopt's DIRECT, biased towards local search (Gablonsky and Kelley 2001), as NLopt recommends.
#include <nlopt.h>

#include "design.h"

typedef struct task {
  design_counter *counter;
  nlopt_opt solver;
} task;

static double value(unsigned n, const double *x, double *slopes, void *context) {
  task *t = context;
  (void)n, (void)slopes;
  if (design_is_done(t->counter)) nlopt_force_stop(t->solver);
  return design_evaluate(t->counter, x);
}

void design_by_nlopt(design_counter *c) {
  double x[16] = {0}, least;
  task t = {c, nlopt_create(NLOPT_GN_DIRECT_L, (unsigned)c->dimension)};
  if (!t.solver) return;
  for (int i = 0; i < c->dimension; i++) x[i] = 0.5 * (c->low[i] + c->high[i]);
  nlopt_set_lower_bounds(t.solver, c->low);
  nlopt_set_upper_bounds(t.solver, c->high);
  nlopt_set_min_objective(t.solver, value, &t);
  nlopt_set_maxeval(t.solver, DESIGN_BUDGET);
  nlopt_optimize(t.solver, x, &least);
  nlopt_destroy(t.solver);
}

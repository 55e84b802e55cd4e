// Complementary cones: where q lies, and whether it stays there along a parameter.
#include <math.h>
#include <string.h>

#include "solve/lcp_problem.h"
#include "solve/lcp_work.h"

// x = C(alpha)^-1 q for a problem that was loaded, with sizes taken out.
static carom_status coordinates(carom_lcp_work *work, const unsigned char *basis, double *x) {
  carom_lcp_lemke *lemke = &work->lemke;
  const carom_lcp_basis *b = &lemke->basis;
  if (carom_lcp_basis_choose(&lemke->basis, &lemke->matrix, basis) != CAROM_OK) return CAROM_ERR_SINGULAR;
  carom_lcp_basis_solve(b, lemke->q, lemke->xw, lemke->xc);
  for (int i = 0; i < b->n; i++) {
    double s = lemke->matrix.scale[i];
    x[i] = lemke->size * (basis[i] ? lemke->xc[b->column_at[i]] * s : lemke->xw[i] / s);
  }
  return CAROM_OK;
}

static int least_of(int n, const double *x) {
  int least = 0;
  for (int i = 1; i < n; i++)
    if (x[i] < x[least]) least = i;
  return least;
}

static carom_status check(const carom_lcp_work *work, const carom_lcp_problem *problem, carom_error *error) {
  carom_status status = carom_lcp_check(problem, error);
  if (status == CAROM_OK && (problem->n < 1 || problem->n > work->head.n_max))
    return carom_fail(error, CAROM_ERR_ARGUMENT, "complementary cone: n = %d, expected 1 to the work's %d", problem->n,
                      work->head.n_max);
  return status;
}

carom_status carom_lcp_cone_coordinates(carom_lcp_work *work, const carom_lcp_problem *problem,
                                        const unsigned char *basis, double *x, double *least, carom_error *error) {
  if (!work || !problem || !basis || !x || !least)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "carom_lcp_cone_coordinates: nothing may be null");
  carom_status status = check(work, problem, error);
  if (status != CAROM_OK) return status;
  carom_lcp_lemke_load(&work->lemke, problem);
  if (coordinates(work, basis, x) != CAROM_OK)
    return carom_fail(error, CAROM_ERR_SINGULAR, "complementary cone: the columns chosen are not a basis");
  *least = x[least_of(problem->n, x)];
  return CAROM_OK;
}

static carom_status solve_start(carom_lcp_work *work, const carom_lcp_problem *problem, unsigned char *basis,
                                carom_error *error) {
  carom_lcp_options options = carom_lcp_default_options();
  carom_lcp_info info;
  options.method = CAROM_LCP_LEMKE;
  carom_status status =
      carom_lcp_solve(work, problem, &options, &(carom_lcp_solution){work->phi, work->gradient, basis}, &info, error);
  if (status != CAROM_OK || info.outcome == CAROM_LCP_SOLVED) return status;
  return carom_fail(error, CAROM_NOT_CONVERGED, "carom_lcp_find_switch: the problem at the start was not solved (%s)",
                    carom_lcp_outcome_name(info.outcome));
}

carom_status carom_lcp_find_switch(carom_lcp_work *work, const carom_lcp_family *family, const carom_lcp_steps *steps,
                                   unsigned char *basis, carom_lcp_switch *found, carom_error *error) {
  if (!work || !family || !family->evaluate || !steps || !basis || !found)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "carom_lcp_find_switch: nothing may be null");
  *found = (carom_lcp_switch){.index = -1};
  for (int step = 0; step <= steps->count; step++) {
    double t = steps->start + steps->h * step;
    carom_lcp_problem problem = {0};
    carom_status status = family->evaluate(family->context, t, &problem);
    if (status != CAROM_OK)
      return carom_fail(error, status, "carom_lcp_find_switch: the problem at t = %g could not be evaluated", t);
    status = check(work, &problem, error);
    if (status == CAROM_OK && step == 0) status = solve_start(work, &problem, basis, error);
    if (status != CAROM_OK) return status;
    if (step == 0) continue;
    carom_lcp_lemke_load(&work->lemke, &problem);
    bool regular = coordinates(work, basis, work->phi) == CAROM_OK;
    int least = regular ? least_of(problem.n, work->phi) : -1;
    if (regular && work->phi[least] >= -steps->tolerance) continue;
    *found = (carom_lcp_switch){true, step, t, least, regular ? work->phi[least] : 0};
    break;
  }
  return CAROM_OK;
}

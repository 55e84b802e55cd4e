// Every complementary basis in turn: the oracle for tiny problems. A solvable problem has a solution on one of them,
// which is an extreme point of the feasible set (Cottle, Pang and Stone 1992, theorem 2.8.3).
#include <math.h>
#include <string.h>

#include "solve/lcp_problem.h"
#include "solve/lcp_work.h"

enum { CLOCK_EVERY = 256 };
static const double NEGATIVE = 1e-9;  // basic variables above minus this, of the scaled problem, are looked at

static bool no_negative(int count, const double *x) {
  for (int i = 0; i < count; i++)
    if (!(x[i] >= -NEGATIVE)) return false;
  return true;
}

// The natural residual of the solution on work->basis, infinity when there is none.
static double try_basis(const carom_lcp_call *call) {
  carom_lcp_work *work = call->work;
  carom_lcp_lemke *lemke = &work->lemke;
  if (carom_lcp_basis_choose(&lemke->basis, &lemke->matrix, work->basis) != CAROM_OK) return INFINITY;
  carom_lcp_basis_solve(&lemke->basis, lemke->q, lemke->xw, lemke->xc);
  if (!no_negative(lemke->basis.n, lemke->xw) || !no_negative(lemke->basis.k, lemke->xc)) return INFINITY;
  memset(work->z, 0, sizeof(double) * (size_t)lemke->basis.n);
  for (int l = 0; l < lemke->basis.k; l++) {
    int j = lemke->basis.columns[l];
    work->z[j] = fmax(lemke->xc[l], 0) * lemke->size * lemke->matrix.scale[j];
  }
  carom_lcp_evaluate(call->problem, work->z, work->w);
  return carom_lcp_min_norm(call->problem->n, work->z, work->w);
}

carom_lcp_attempt carom_lcp_enumerate(const carom_lcp_call *call) {
  int n = call->problem->n;
  carom_lcp_attempt a = {CAROM_LCP_NONE, 0, INFINITY};
  for (unsigned set = 0; set < 1u << n; set++, a.iterations++) {
    if (set % CLOCK_EVERY == 0 && carom_clock() > call->deadline) return a.outcome = CAROM_LCP_TIME, a;
    for (int i = 0; i < n; i++) call->work->basis[i] = set >> i & 1;
    a.residual = try_basis(call);
    if (a.residual <= call->tolerance) return a.outcome = CAROM_LCP_SOLVED, a;
  }
  memset(call->work->z, 0, sizeof(double) * (size_t)n);
  memset(call->work->basis, 0, (size_t)n);
  a.residual = carom_lcp_residual(call->problem, call->work->z);
  return a;
}

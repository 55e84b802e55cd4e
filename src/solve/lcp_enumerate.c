// Every complementary cone in turn: the oracle for tiny problems. A solvable problem has q in one of them. Most cones
// have a basis, and q lies in the cone or not as the coordinates say; the others, and those where that cannot be told
// within round-off, are asked by a linear program (lcp_pattern.h). Only when all of them are proven not to hold q is
// there no solution. That extreme solutions lie on bases (Cottle, Pang and Stone 1992, theorem 2.8.3) does not help: a
// set of independent complementary columns need not be part of a complementary basis.
#include <math.h>
#include <string.h>

#include "solve/lcp_pattern.h"
#include "solve/lcp_problem.h"
#include "solve/lcp_work.h"

enum { CLOCK_EVERY = 256 };
static const double NEGATIVE = 1e-9;  // basic variables above minus this, of the scaled problem, are looked at
static const double NOISE = 10;       // and those above minus this times the error of the coordinates

static double least_of(int count, const double *x) {
  double least = 0;
  for (int i = 0; i < count; i++) least = x[i] < least || isnan(x[i]) ? x[i] : least;
  return least;
}

// q lies clearly outside the cone of the basis.
static bool is_outside(carom_lcp_lemke *lemke) {
  double error = carom_lcp_basis_solve(&lemke->basis, lemke->q, lemke->xw, lemke->xc);
  double least = fmin(least_of(lemke->basis.n, lemke->xw), least_of(lemke->basis.k, lemke->xc));
  return least < -fmax(NEGATIVE, NOISE * error);
}

// The answer from scaled z in the order of the unknowns.
static double measure(const carom_lcp_call *call, const double *z) {
  carom_lcp_work *work = call->work;
  const carom_lcp_lemke *lemke = &work->lemke;
  for (int i = 0; i < call->problem->n; i++)
    work->z[i] = work->basis[i] ? fmax(z[i], 0) * lemke->size * lemke->matrix.scale[i] : 0;
  carom_lcp_evaluate(call->problem, work->z, work->w);
  return carom_lcp_min_norm(call->problem->n, work->z, work->w);
}

static double measure_basis(const carom_lcp_call *call) {
  const carom_lcp_lemke *lemke = &call->work->lemke;
  double z[CAROM_LCP_ENUMERATE_MAX] = {0};
  for (int l = 0; l < lemke->basis.k; l++) z[lemke->basis.columns[l]] = lemke->xc[l];
  return measure(call, z);
}

// Looks at the cone of work->basis: the residual of the best z in it, infinity where q is proven to lie outside.
static double try_cone(const carom_lcp_call *call) {
  carom_lcp_lemke *lemke = &call->work->lemke;
  double x[CAROM_LCP_ENUMERATE_MAX], residual = INFINITY;
  if (carom_lcp_basis_choose(&lemke->basis, &lemke->matrix, call->work->basis) == CAROM_OK) {
    if (is_outside(lemke)) return INFINITY;
    residual = measure_basis(call);
    if (residual <= call->tolerance) return residual;
  }
  carom_lcp_pattern cone = {call->problem->n, lemke->matrix.dense, lemke->q, call->work->basis, false};
  return carom_lcp_pattern_solve(&cone, x) == CAROM_LCP_PATTERN_EMPTY ? INFINITY : measure(call, x);
}

carom_lcp_attempt carom_lcp_enumerate(const carom_lcp_call *call) {
  int n = call->problem->n;
  carom_lcp_attempt a = {CAROM_LCP_NONE, 0, INFINITY};
  carom_lcp_best best = carom_lcp_best_begin(call, call->work->step);
  for (unsigned set = 0; set < 1u << n; set++, a.iterations++) {
    if (set % CLOCK_EVERY == 0 && carom_clock() > call->deadline) {
      a.outcome = CAROM_LCP_TIME;
      break;
    }
    for (int i = 0; i < n; i++) call->work->basis[i] = set >> i & 1;
    double residual = try_cone(call);
    if (residual <= call->tolerance) return a.outcome = CAROM_LCP_SOLVED, a.residual = residual, a;
    if (isinf(residual)) continue;
    a.outcome = CAROM_LCP_STALLED;
    carom_lcp_best_note(&best, residual);
  }
  a.residual = carom_lcp_best_recall(&best);
  return a;
}

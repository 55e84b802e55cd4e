// Small dense linear programs, as an independent second way to values that structured solvers find. Knows no physics.
#ifndef CAROM_SRC_SOLVE_DENSE_LP_H
#define CAROM_SRC_SOLVE_DENSE_LP_H

#include "carom/base.h"

// min c'u with E u = e and u_j >= 0 where `bounded` says so; E (rows x n) is column-major, of full row rank.
typedef struct carom_dense_lp {
  int rows, n;
  const double *E, *e, *c;
  const bool *bounded;
} carom_dense_lp;

typedef struct carom_dense_lp_answer {
  double *u;  // (n)
  double value;
  int iterations;
} carom_dense_lp_answer;

// CAROM_NOT_CONVERGED where gap and residuals do not come below 1e-10 of the size of the program.
carom_status carom_dense_lp_solve(const carom_dense_lp *program, const carom_allocator *allocator,
                                  carom_dense_lp_answer *answer, carom_error *error);

#endif

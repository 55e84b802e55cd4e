// Lemke's method on a full tableau, for problems so small that everything fits in the first cache and calls cost more
// than arithmetic. Same tests as lcp_lemke.c, without its care for digits: the caller checks the residual and turns to
// that one when it is not content.
#ifndef CAROM_SRC_SOLVE_LCP_TABLEAU_H
#define CAROM_SRC_SOLVE_LCP_TABLEAU_H

#include "solve/lcp_matrix.h"

enum { CAROM_LCP_TABLEAU_MAX = CAROM_LCP_DENSE_UP_TO, CAROM_LCP_TABLEAU_COLUMNS = CAROM_LCP_TABLEAU_MAX + 3 };

typedef struct carom_lcp_tableau {
  int n, stride;                                 // stride: n rounded up to whole vectors; rows beyond n are zero
  int basic[CAROM_LCP_TABLEAU_MAX];              // (n) variable of each row; numbered w_i = i, z_i = n + i, z0 = 2n
  int column_of[2 * CAROM_LCP_TABLEAU_MAX + 1];  // where a variable that is not basic has its column
  // x_basic + T x_nonbasic = [q, p]: n + 1 columns of nonbasic variables, then q and the tie-breaking p.
  double T[CAROM_LCP_TABLEAU_COLUMNS * CAROM_LCP_TABLEAU_MAX];
} carom_lcp_tableau;

typedef struct carom_lcp_tableau_run {
  const double *q, *p;
  int max_pivots, pivots;  // limit, and how many it took
} carom_lcp_tableau_run;

// For the scaled and dense matrix with its covering vector. Fills z (n, scaled) and basis (n).
carom_lcp_outcome carom_lcp_tableau_solve(carom_lcp_tableau *tableau, const carom_lcp_matrix *matrix,
                                          carom_lcp_tableau_run *run, double *z, unsigned char *basis);

#endif

#ifndef CAROM_SRC_SOLVE_LCP_INVERSE_H
#define CAROM_SRC_SOLVE_LCP_INVERSE_H

#include "carom/base.h"

enum { CAROM_LCP_INVERSE_PANEL = 4 };

// A := A^-1 in place, k x k, column-major, by Gauss-Jordan elimination with row pivoting. `panel` has room for
// CAROM_LCP_INVERSE_PANEL * k numbers, `swaps` for k. CAROM_ERR_SINGULAR when a pivot vanishes or is not a number.
// In this thread and in a fixed order, unlike a threaded LAPACK: the same bits every time.
carom_status carom_lcp_inverse(int k, double *A, int lda, double *panel, int *swaps);

#endif

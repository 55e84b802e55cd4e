// The door to LAPACKE: status codes instead of info numbers, nothing more.
#include <lapacke.h>

#include "math/dense.h"

// LAPACKE: 0 success, negative a bad argument (or no memory for its scratch), positive a numerical failure.
static carom_status status_of(lapack_int info, carom_status numerical) {
  if (info == 0) return CAROM_OK;
  if (info == LAPACK_WORK_MEMORY_ERROR || info == LAPACK_TRANSPOSE_MEMORY_ERROR) return CAROM_ERR_MEMORY;
  return info < 0 ? CAROM_ERR_NUMBER : numerical;  // LAPACKE reports NaN input as a bad argument
}

carom_status carom_dense_lu(int n, double *A, int lda, int *pivot) {
  return status_of(LAPACKE_dgetrf(LAPACK_COL_MAJOR, n, n, A, lda, pivot), CAROM_ERR_SINGULAR);
}

carom_status carom_dense_lu_solve(int n, const double *LU, int lda, const int *pivot, double *b) {
  return status_of(LAPACKE_dgetrs(LAPACK_COL_MAJOR, 'N', n, 1, LU, lda, pivot, b, n), CAROM_ERR_SINGULAR);
}

carom_status carom_dense_least_squares(int m, int n, double *A, double *b, double rcond, int *rank) {
  double singular_values[512];
  if ((m < n ? m : n) > 512) return CAROM_ERR_LIMIT;
  lapack_int found = 0;
  lapack_int info = LAPACKE_dgelsd(LAPACK_COL_MAJOR, m, n, 1, A, m, b, m > n ? m : n, singular_values, rcond, &found);
  *rank = (int)found;
  return status_of(info, CAROM_NOT_CONVERGED);
}

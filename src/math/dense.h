// Dense linear algebra. Matrices are column-major: A[i + j * lda], with lda the leading dimension.
// The carom_small_* kernels are our own, for n up to a few dozen, where a call into BLAS costs more than the work;
// carom_dense_* is the door to LAPACKE. None allocates except LAPACKE itself.
#ifndef CAROM_SRC_MATH_DENSE_H
#define CAROM_SRC_MATH_DENSE_H

#include "carom/base.h"

// P A = L U in place, row pivoting; pivot (n). CAROM_ERR_SINGULAR when a pivot is below eps times the largest entry.
carom_status carom_small_lu(int n, double *A, int lda, int *pivot);
void carom_small_lu_solve(int n, const double *LU, int lda, const int *pivot, double *b);

// A = L L' in place (lower triangle). CAROM_ERR_SINGULAR when A is not positive definite.
carom_status carom_small_cholesky(int n, double *A, int lda);
void carom_small_cholesky_solve(int n, const double *L, int lda, double *b);

// The same LU through LAPACKE, for larger n: dgetrf/dgetrs.
carom_status carom_dense_lu(int n, double *A, int lda, int *pivot);
carom_status carom_dense_lu_solve(int n, const double *LU, int lda, const int *pivot, double *b);

// Minimum-norm least squares min |A x - b| by singular values (dgelsd): A (m x n) is overwritten, b (max(m, n)) holds
// x.
carom_status carom_dense_least_squares(int m, int n, double *A, double *b, double rcond, int *rank);

// An orthonormal basis of the null space of A (m x n; overwritten), by singular values (dgesvd): its vectors are the
// columns of B (n x n room), *count of them. Singular values below rcond times the largest count as zero.
carom_status carom_dense_null_space(int m, int n, double *A, double rcond, double *B, int *count);
// Eigenvalues of A (n x n; overwritten), in no order (dgeev).
carom_status carom_dense_eigenvalues(int n, double *A, double *real, double *imaginary);

// All of these are CAROM_ERR_MEMORY where BLAS would find no room to work in and wait for ever. This is the message to
// that.
carom_status carom_dense_fail_room(carom_error *error, const char *what);

// Lets BLAS take that room now, before a library is called that calls BLAS itself.
carom_status carom_dense_wake(void);

#endif

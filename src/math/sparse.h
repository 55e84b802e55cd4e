// Sparse direct solvers behind one small object: CHOLMOD's simplicial LDL' for symmetric positive definite matrices
// and KLU for general ones. The pattern is analysed once; values may then change as often as needed.
#ifndef CAROM_SRC_MATH_SPARSE_H
#define CAROM_SRC_MATH_SPARSE_H

#include "carom/base.h"

// Compressed columns, a borrowed view. Row indices ascend within a column. For a symmetric matrix only the lower
// triangle is stored.
typedef struct carom_sparse {
  int n;
  const int *column_start;  // (n + 1)
  const int *row;           // (column_start[n])
  const double *value;      // (column_start[n])
} carom_sparse;

typedef enum carom_sparse_kind { CAROM_SPARSE_POSITIVE_DEFINITE, CAROM_SPARSE_GENERAL } carom_sparse_kind;

typedef struct carom_sparse_solver carom_sparse_solver;

// Orders and analyses the pattern (values are not looked at).
carom_status carom_sparse_solver_create(carom_sparse_kind kind, const carom_sparse *A, const carom_allocator *allocator,
                                        carom_sparse_solver **solver, carom_error *error);
void carom_sparse_solver_destroy(carom_sparse_solver *solver);
// Factors the values of a matrix with the same pattern. CAROM_ERR_SINGULAR when that cannot be done.
carom_status carom_sparse_factor(carom_sparse_solver *solver, const carom_sparse *A);
// Overwrites b (n) by A^-1 b.
carom_status carom_sparse_solve(carom_sparse_solver *solver, double *b);
// y (n) = A x for either kind.
void carom_sparse_multiply(carom_sparse_kind kind, const carom_sparse *A, const double *x, double *y);

#endif

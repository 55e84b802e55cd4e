// Sparse linear systems without symmetry, and the one door to KLU (Davis and Natarajan 2010). Knows no physics.
#ifndef CAROM_SRC_SOLVE_SPARSE_LU_H
#define CAROM_SRC_SOLVE_SPARSE_LU_H

#include "carom/base.h"

// A by triplets; entries of one place add up.
typedef struct carom_triplets {
  int n, count;
  const int *row, *column;
  const double *values;
} carom_triplets;

// Solves A X = B for the `right_sides` columns of B (n rows each, column after column), in place. CAROM_ERR_SINGULAR
// when A has no inverse. Allocates.
carom_status carom_sparse_solve(const carom_triplets *A, const carom_allocator *allocator, int right_sides, double *B,
                                carom_error *error);

#endif

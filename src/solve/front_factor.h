// Cholesky factors of the bodies' matrix, multifrontal (Duff and Reid 1983; Liu 1992): blocks of six rows are
// eliminated in groups of columns with like structure, each in a dense front that BLAS works on.
#ifndef CAROM_SRC_SOLVE_FRONT_FACTOR_H
#define CAROM_SRC_SOLVE_FRONT_FACTOR_H

#include "math/sparse.h"

enum { CAROM_FRONT_BLOCK = 6 };

typedef struct carom_factor carom_factor;

// Orders and analyses a symmetric pattern: the blocks below the diagonal of block column b are neighbor[start[b]] to
// neighbor[start[b + 1] - 1], ascending.
carom_status carom_factor_create(int blocks, const int *start, const int *neighbor, const carom_allocator *allocator,
                                 carom_factor **factor, carom_error *error);
void carom_factor_destroy(carom_factor *factor);  // null is fine
// Factors a matrix with that pattern, all entries of a block stored. CAROM_ERR_SINGULAR unless positive definite.
carom_status carom_factor_compute(carom_factor *factor, const carom_sparse *A);
void carom_factor_solve(carom_factor *factor, double *b);  // overwrites b (6 blocks) by A^-1 b
double carom_factor_flops(const carom_factor *factor);     // of one factorisation

#endif

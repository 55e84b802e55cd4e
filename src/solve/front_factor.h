// Cholesky factors of a sparse symmetric matrix of small square blocks, multifrontal (Duff and Reid 1983; Liu 1992):
// blocks are eliminated in groups of columns with like structure, each in a dense front.
#ifndef CAROM_SRC_SOLVE_FRONT_FACTOR_H
#define CAROM_SRC_SOLVE_FRONT_FACTOR_H

#include "math/sparse.h"

enum { CAROM_FRONT_BLOCK = 6 };  // of the twists of bodies

// Where there may be blocks: those below the diagonal of block column b are neighbor[start[b]] to
// neighbor[start[b + 1] - 1], ascending.
typedef struct carom_block_pattern {
  int block;   // rows of a block
  int blocks;  // of the diagonal
  const int *start, *neighbor;
} carom_block_pattern;

typedef struct carom_factor carom_factor;

// Orders and analyses. CAROM_ERR_MEMORY where there is no room for the factors; the caller knows what they are of.
carom_status carom_factor_create(const carom_block_pattern *pattern, const carom_allocator *allocator,
                                 carom_factor **factor);
void carom_factor_destroy(carom_factor *factor);  // null is fine
// How many threads share the work on large fronts; 1 at first. The bits do not depend on it.
void carom_factor_share(carom_factor *factor, int threads);
// Factors a matrix with that pattern: the lower half of blocks on the diagonal is stored, all entries of those below.
// CAROM_ERR_SINGULAR unless positive definite.
carom_status carom_factor_compute(carom_factor *factor, const carom_sparse *A);

// For matrices without symmetry whose pattern is symmetric; a quick analysis orders by minimum degree alone.
carom_status carom_factor_create_lu(const carom_block_pattern *pattern, bool quick, const carom_allocator *allocator,
                                    carom_factor **factor);
// A = L U with rows swapped within fronts: the blocks of the diagonal, those below it, and
// those above, all by the pattern (number k above stands at row b, column neighbor[k]), each column after column.
typedef struct carom_block_values {
  const double *diagonal, *below, *above;
} carom_block_values;
// CAROM_ERR_SINGULAR where no pivot is left in a front.
carom_status carom_factor_compute_lu(carom_factor *factor, const carom_block_values *A);
void carom_factor_solve_lu(carom_factor *factor, double *b);  // overwrites b by A^-1 b

void carom_factor_solve(carom_factor *factor, double *b);  // overwrites b by A^-1 b
double carom_factor_flops(const carom_factor *factor);     // of one factorisation
double carom_factor_entries(const carom_factor *factor);   // numbers in L

#endif

// What the files of carom/l1.h share: A' W A with a pattern analysed once, and solves with it.
#ifndef CAROM_SRC_SOLVE_L1_H
#define CAROM_SRC_SOLVE_L1_H

#include "carom/l1.h"
#include "solve/front_factor.h"

#define CAROM_L1_SHIFT 1e-14  // the least relative addition to the diagonal: below rounding but for long columns

// A' W A + its slight regularisation, factored.
typedef struct carom_l1_matrix {
  carom_allocator allocator;
  int m, n, block;
  int entry_count;               // of A
  int *neighbor_start;           // (n / block + 1) blocks below the diagonal
  int *neighbor;                 // ascending
  int *column_start;             // (n + 1)
  double *value;                 // (column_start[n]) lower half
  int *place;                    // (pairs) where the product of two entries of a row goes, row by row
  double *residual, *z, *p, *q;  // (n) of conjugate gradients
  double *row_work;              // (m)
  double shift;                  // relative addition to the diagonal
  int factorizations, conjugate_steps;
  carom_factor *factor;
} carom_l1_matrix;

carom_status carom_l1_matrix_create(const carom_l1_problem *p, const carom_allocator *allocator, carom_l1_matrix **K,
                                    carom_error *error);
void carom_l1_matrix_destroy(carom_l1_matrix *K);

void carom_l1_multiply(const carom_l1_problem *p, const double *x, double *y);             // y = A x
void carom_l1_multiply_transposed(const carom_l1_problem *p, const double *y, double *x);  // x = A' y
// Factors A' W A; null weights (m) are all 1.
carom_status carom_l1_matrix_factor(carom_l1_matrix *K, const carom_l1_problem *p, const double *weight);
// x with A' W A x = r, as well as rounding lets it, by conjugate gradients with the factors as preconditioner.
void carom_l1_matrix_solve(carom_l1_matrix *K, const carom_l1_problem *p, const double *weight, const double *r,
                           double *x);
// The same by the factors alone.
void carom_l1_matrix_presolve(carom_l1_matrix *K, const double *r, double *x);

#endif

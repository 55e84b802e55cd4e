// The matrix as the pivoting methods read it: a scaled copy, dense or compressed, in memory set aside beforehand.
//
// Scaling is by congruence, S M S with S diagonal and of powers of two: it makes the entries comparable, rounds
// nothing, and keeps what convergence proofs rest on (definiteness, copositivity, the signs of principal minors).
#ifndef CAROM_SRC_SOLVE_LCP_MATRIX_H
#define CAROM_SRC_SOLVE_LCP_MATRIX_H

#include "carom/lcp.h"

// Measured: up to here everything fits in the first cache, and neither indices nor an inverse of the kernel pay.
enum { CAROM_LCP_DENSE_UP_TO = 64 };

// Nonzeros by rows or by columns.
typedef struct carom_lcp_compressed {
  int *start;     // (n + 1)
  int *index;     // (start[n])
  double *value;  // (start[n])
} carom_lcp_compressed;

typedef struct carom_lcp_matrix {
  int n;
  bool sparse;
  double *dense;                       // (n * n) when not sparse
  carom_lcp_compressed rows, columns;  // when sparse
  double *scale;                       // (n) the diagonal of S
  double *cover;                       // (n) one column more, number n: the covering vector
  // Memory for the above.
  int n_max;
  double *store;      // (n_max * n_max) doubles, shared by both forms
  int *starts;        // (2 * (n_max + 1))
  double *magnitude;  // (n_max)
} carom_lcp_matrix;

carom_status carom_lcp_matrix_create(carom_lcp_matrix *matrix, int n_max, const carom_allocator *allocator);
void carom_lcp_matrix_destroy(carom_lcp_matrix *matrix, const carom_allocator *allocator);

// Copies and scales. The covering vector is left alone.
void carom_lcp_matrix_load(carom_lcp_matrix *matrix, const carom_lcp_problem *problem);

// y (n) += sum of x[l] times column list[l], of `count` columns.
void carom_lcp_matrix_combine(const carom_lcp_matrix *matrix, int count, const int *list, const double *x, double *y);

// One column at the rows listed, or one row at the columns listed; `at` is the inverse of the list, -1 outside it.
void carom_lcp_matrix_column(const carom_lcp_matrix *matrix, int j, int count, const int *rows, const int *at,
                             double *values);
void carom_lcp_matrix_row(const carom_lcp_matrix *matrix, int i, int count, const int *columns, const int *at,
                          double *values);
// Column j times x (n).
void carom_lcp_matrix_dot(const carom_lcp_matrix *matrix, int j, const double *x, double *y);
double carom_lcp_matrix_entry(const carom_lcp_matrix *matrix, int i, int j);

#endif

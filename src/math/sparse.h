// Sparse matrices by columns.
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

#endif

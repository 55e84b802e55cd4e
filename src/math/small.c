#include <float.h>
#include <math.h>

#include "base/simd.h"
#include "math/dense.h"

static double largest_entry(int n, const double *A, int lda) {
  double largest = 0;
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++) largest = fabs(A[i + j * lda]) > largest ? fabs(A[i + j * lda]) : largest;
  return largest;
}

static void swap_rows(int n, double *A, int lda, int i, int k) {
  if (i == k) return;
  for (int j = 0; j < n; j++) {
    double t = A[i + j * lda];
    A[i + j * lda] = A[k + j * lda], A[k + j * lda] = t;
  }
}

static int last_nonzero(const double *column, int from, int n) {
  int last = n - 1;
  while (last > from && column[last] == 0) last--;
  return last;
}

static int largest_below(const double *column, int from, int n) {
  int p = from;
  for (int i = from + 1; i < n; i++)
    if (fabs(column[i]) > fabs(column[p])) p = i;
  return p;
}

// Zeros below the pivots and to the right of them are passed over: matrices of chains and stacks are banded.
CAROM_SIMD_CLONES carom_status carom_small_lu(int n, double *A, int lda, int *pivot) {
  double tiny = DBL_EPSILON * largest_entry(n, A, lda);
  for (int k = 0; k < n; k++) {
    double *column = A + k * lda;
    int p = largest_below(column, k, n);
    if (!(fabs(column[p]) > tiny)) return CAROM_ERR_SINGULAR;
    pivot[k] = p;
    swap_rows(n, A, lda, k, p);
    int last = last_nonzero(column, k, n);
    for (int i = k + 1; i <= last; i++) column[i] /= column[k];
    for (int j = k + 1; j < n; j++) {
      double *other = A + j * lda, factor = other[k];
      if (factor == 0) continue;
      for (int i = k + 1; i <= last; i++) other[i] -= column[i] * factor;
    }
  }
  return CAROM_OK;
}

void carom_small_lu_solve(int n, const double *LU, int lda, const int *pivot, double *b) {
  for (int k = 0; k < n; k++) {  // b := P b
    double t = b[k];
    b[k] = b[pivot[k]], b[pivot[k]] = t;
  }
  for (int j = 0; j < n; j++)  // L y = b
    for (int i = j + 1; i < n; i++) b[i] -= LU[i + j * lda] * b[j];
  for (int j = n - 1; j >= 0; j--) {  // U x = y
    b[j] /= LU[j + j * lda];
    for (int i = 0; i < j; i++) b[i] -= LU[i + j * lda] * b[j];
  }
}

carom_status carom_small_cholesky(int n, double *A, int lda) {
  for (int j = 0; j < n; j++) {
    double d = A[j + j * lda];
    for (int k = 0; k < j; k++) d -= A[j + k * lda] * A[j + k * lda];
    if (!(d > DBL_EPSILON * fabs(A[j + j * lda]))) return CAROM_ERR_SINGULAR;
    A[j + j * lda] = sqrt(d);
    for (int i = j + 1; i < n; i++) {
      double s = A[i + j * lda];
      for (int k = 0; k < j; k++) s -= A[i + k * lda] * A[j + k * lda];
      A[i + j * lda] = s / A[j + j * lda];
    }
  }
  return CAROM_OK;
}

void carom_small_cholesky_solve(int n, const double *L, int lda, double *b) {
  for (int i = 0; i < n; i++) {  // L y = b
    for (int k = 0; k < i; k++) b[i] -= L[i + k * lda] * b[k];
    b[i] /= L[i + i * lda];
  }
  for (int i = n - 1; i >= 0; i--) {  // L' x = y
    for (int k = i + 1; k < n; k++) b[i] -= L[k + i * lda] * b[k];
    b[i] /= L[i + i * lda];
  }
}

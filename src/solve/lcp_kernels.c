#include "solve/lcp_kernels.h"

#include <math.h>
#include <stddef.h>

#include "base/simd.h"

CAROM_SIMD_CLONES void carom_lcp_combine(int m, int count, const double *A, int lda, const int *column, const double *x,
                                         double *restrict y) {
  const double *a[4];
  double c[4];
  int waiting = 0;
  for (int j = 0; j < count; j++) {
    if (x[j] == 0) continue;
    a[waiting] = A + (size_t)(column ? column[j] : j) * (size_t)lda;
    c[waiting++] = x[j];
    if (waiting < 4) continue;
    for (int i = 0; i < m; i++) y[i] += (c[0] * a[0][i] + c[1] * a[1][i]) + (c[2] * a[2][i] + c[3] * a[3][i]);
    waiting = 0;
  }
  for (int l = 0; l < waiting; l++)
    for (int i = 0; i < m; i++) y[i] += c[l] * a[l][i];
}

CAROM_SIMD_CLONES void carom_lcp_dots(int m, int count, const double *A, int lda, const double *restrict x,
                                      double *restrict y) {
  int whole = m & ~7;
  for (int j = 0; j < count; j++) {
    const double *restrict a = A + (size_t)j * (size_t)lda;
    double s[8] = {0};  // eight sums side by side, since the order of one may not be changed by the compiler
    for (int i = 0; i < whole; i += 8)
      for (int l = 0; l < 8; l++) s[l] += a[i + l] * x[i + l];
    for (int i = whole; i < m; i++) s[i - whole] += a[i] * x[i];
    y[j] = ((s[0] + s[4]) + (s[1] + s[5])) + ((s[2] + s[6]) + (s[3] + s[7]));
  }
}

CAROM_SIMD_CLONES void carom_lcp_rank_one(int m, int count, const double *restrict x, const double *restrict y,
                                          double *restrict A, int lda) {
  for (int j = 0; j < count; j++) {
    double c = y[j];
    if (c == 0) continue;
    double *restrict a = A + (size_t)j * (size_t)lda;
    for (int i = 0; i < m; i++) a[i] += c * x[i];
  }
}

CAROM_SIMD_CLONES double carom_lcp_largest(int count, const double *x) {
  double most[8] = {0};
  int whole = count & ~7;
  for (int i = 0; i < whole; i += 8)
    for (int l = 0; l < 8; l++) most[l] = fabs(x[i + l]) > most[l] ? fabs(x[i + l]) : most[l];
  for (int i = whole; i < count; i++) most[0] = fabs(x[i]) > most[0] ? fabs(x[i]) : most[0];
  for (int l = 1; l < 8; l++) most[0] = most[l] > most[0] ? most[l] : most[0];
  return most[0];
}

// Quotients are formed for all and those that do not count set aside, so that four go at a time.
static inline double ratio(double x, double d, double least, double slack) {
  double r = ((x > 0 ? x : 0) + slack) / d;
  return d > least ? r : INFINITY;
}

CAROM_SIMD_CLONES double carom_lcp_smallest_ratio(int count, const double *x, const double *d, double least,
                                                  double slack) {
  double best[4] = {INFINITY, INFINITY, INFINITY, INFINITY};
  int whole = count & ~3;
  for (int i = 0; i < whole; i += 4)
    for (int l = 0; l < 4; l++) {
      double r = ratio(x[i + l], d[i + l], least, slack);
      best[l] = r < best[l] ? r : best[l];
    }
  for (int i = whole; i < count; i++) {
    double r = ratio(x[i], d[i], least, slack);
    best[0] = r < best[0] ? r : best[0];
  }
  for (int l = 1; l < 4; l++) best[0] = best[l] < best[0] ? best[l] : best[0];
  return best[0];
}

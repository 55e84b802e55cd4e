#include "solve/lcp_inverse.h"

#include <math.h>
#include <string.h>

#include "solve/lcp_kernels.h"

// Step p of the elimination, for the column x = A(:, p) and the pivot x_p, changes every other column a by
//
//     t = a_p / x_p,    a_i -= x_i t  (i != p),    a_p = t,
//
// and column p itself into -x_i / x_p and 1 / x_p. Steps are taken four at a time, so that the other columns, which do
// not fit in the first cache, are read once for all four.
enum { PANEL = CAROM_LCP_INVERSE_PANEL };

static void swap(double *a, int i, int j) {
  double t = a[i];
  a[i] = a[j], a[j] = t;
}

static int largest_below(const double *x, int p, int k) {
  int best = p;
  for (int i = p + 1; i < k; i++)
    if (fabs(x[i]) > fabs(x[best])) best = i;
  return best;
}

// One step on one column.
static void eliminate(int k, const double *x, int p, double *a) {
  double t = a[p] / x[p], minus = -t;
  carom_lcp_combine(k, 1, x, k, NULL, &minus, a);
  a[p] = t;
}

static void turn_pivot_column(int k, const double *x, int p, double *a) {
  for (int i = 0; i < k; i++) a[i] = -x[i] / x[p];
  a[p] = 1 / x[p];
}

typedef struct square {
  int k, lda;
  double *A;
} square;

// The steps first .. first + width - 1 within their own columns; the columns as they were at their step go to panel.
static carom_status factor_panel(square s, int first, int width, double *panel, int *swaps) {
  int k = s.k, lda = s.lda;
  double *A = s.A;
  for (int l = 0; l < width; l++) {
    int p = first + l;
    double *x = panel + (size_t)l * (size_t)k;
    memcpy(x, A + (size_t)p * (size_t)lda, sizeof(double) * (size_t)k);
    swaps[p] = largest_below(x, p, k);
    for (int m = 0; m < width; m++) swap(A + (size_t)(first + m) * (size_t)lda, p, swaps[p]);
    for (int m = 0; m <= l; m++) swap(panel + (size_t)m * (size_t)k, p, swaps[p]);
    if (!(fabs(x[p]) > 0) || !isfinite(x[p])) return CAROM_ERR_SINGULAR;
    for (int m = 0; m < width; m++)
      if (m != l) eliminate(k, x, p, A + (size_t)(first + m) * (size_t)lda);
    turn_pivot_column(k, x, p, A + (size_t)p * (size_t)lda);
  }
  return CAROM_OK;
}

// The same steps on a column outside the panel: the pivot rows by hand, the others together.
static void apply_panel(int k, const double *panel, int first, int width, const int *swaps, double *a) {
  double s[PANEL], minus[PANEL];
  for (int l = 0; l < width; l++) swap(a, first + l, swaps[first + l]);
  memcpy(s, a + first, sizeof(double) * (size_t)width);
  for (int l = 0; l < width; l++) {
    const double *x = panel + (size_t)l * (size_t)k + first;
    double t = s[l] / x[l];
    for (int m = 0; m < width; m++) s[m] -= x[m] * t;
    s[l] = t, minus[l] = -t;
  }
  carom_lcp_combine(k, width, panel, k, NULL, minus, a);
  memcpy(a + first, s, sizeof(double) * (size_t)width);
}

carom_status carom_lcp_inverse(int k, double *A, int lda, double *panel, int *swaps) {
  for (int first = 0; first < k; first += PANEL) {
    int width = k - first < PANEL ? k - first : PANEL;
    if (factor_panel((square){k, lda, A}, first, width, panel, swaps) != CAROM_OK) return CAROM_ERR_SINGULAR;
    for (int j = 0; j < k; j++)
      if (j < first || j >= first + width) apply_panel(k, panel, first, width, swaps, A + (size_t)j * (size_t)lda);
  }
  for (int p = k - 1; p >= 0; p--) {  // swaps of rows of A are swaps of columns of its inverse
    double *a = A + (size_t)p * (size_t)lda, *b = A + (size_t)swaps[p] * (size_t)lda;
    for (int i = 0; a != b && i < k; i++) {
      double t = a[i];
      a[i] = b[i], b[i] = t;
    }
  }
  return CAROM_OK;
}

#include "solve/lcp_tableau.h"

#include <math.h>
#include <string.h>

#include "base/simd.h"
#include "solve/lcp_kernels.h"

static const double PIVOT = 1e-9, FEASIBLE = 1e-12;  // as in lcp_lemke.c; q is scaled to one

static void fill_column(carom_lcp_tableau *t, int column, const double *x, double sign) {
  double *a = t->T + column * t->stride;
  for (int i = 0; i < t->n; i++) a[i] = sign * x[i];
  for (int i = t->n; i < t->stride; i++) a[i] = 0;
}

static void fill(carom_lcp_tableau *t, const carom_lcp_matrix *matrix, const double *q, const double *p) {
  int n = matrix->n;
  t->n = n, t->stride = (n + 3) & ~3;
  for (int j = 0; j < n; j++) fill_column(t, j, matrix->dense + j * n, -1);
  fill_column(t, n, matrix->cover, -1);
  fill_column(t, n + 1, q, 1);
  fill_column(t, n + 2, p, 1);
  for (int i = 0; i < n; i++) t->basic[i] = i;
  for (int j = 0; j <= n; j++) t->column_of[n + j] = j;
}

// Row r leaves for column c: every other column a becomes a - x a_r / x_r with a_r / x_r in row r, for x = T(:, c).
CAROM_SIMD_CLONES static void eliminate(int stride, int columns, int r, int c, double *restrict T) {
  double x[CAROM_LCP_TABLEAU_MAX];
  memcpy(x, T + c * stride, sizeof(double) * (size_t)stride);
  double inverse = 1 / x[r];
  for (int j = 0; j < columns; j++) {
    double *restrict a = T + j * stride;
    double t = a[r] * inverse;
    if (t == 0) continue;
    for (int i = 0; i < stride; i += 4)
      for (int l = 0; l < 4; l++) a[i + l] -= t * x[i + l];
    a[r] = t;
  }
  for (int i = 0; i < stride; i++) T[c * stride + i] = -x[i] * inverse;
  T[c * stride + r] = inverse;
}

// Returns the variable that left.
static int pivot(carom_lcp_tableau *t, int r, int entering) {
  int leaving = t->basic[r], c = t->column_of[entering];
  eliminate(t->stride, t->n + 3, r, c, t->T);
  t->basic[r] = entering;
  t->column_of[leaving] = c;
  return leaving;
}

// The row that leaves, or -1 on a ray.
static int choose_row(const carom_lcp_tableau *t, int c) {
  int n = t->n, row = -1;
  const double *d = t->T + c * t->stride, *x = t->T + (n + 1) * t->stride, *p = x + t->stride;
  double least = PIVOT * carom_lcp_largest(n, d), tie = INFINITY;
  double bound = carom_lcp_smallest_ratio(n, x, d, least, FEASIBLE);
  for (int i = 0; i < n; i++) {
    if (d[i] <= least || x[i] > bound * d[i]) continue;
    if (t->basic[i] == 2 * n) return i;
    if (p[i] / d[i] < tie) tie = p[i] / d[i], row = i;
  }
  return row;
}

static int first_row(const carom_lcp_tableau *t, const double *cover) {
  const double *x = t->T + (t->n + 1) * t->stride, *p = x + t->stride;
  int row = 0;
  for (int i = 1; i < t->n; i++) {
    double a = x[i] * cover[row], b = x[row] * cover[i];
    if (a < b || (a == b && p[i] * cover[row] < p[row] * cover[i])) row = i;
  }
  return row;
}

static void read_solution(const carom_lcp_tableau *t, double *z, unsigned char *basis) {
  const double *x = t->T + (t->n + 1) * t->stride;
  memset(z, 0, sizeof(double) * (size_t)t->n);
  memset(basis, 0, (size_t)t->n);
  for (int i = 0; i < t->n; i++) {
    int j = t->basic[i] - t->n;
    if (j >= 0 && j < t->n) z[j] = x[i] > 0 ? x[i] : 0, basis[j] = 1;
  }
}

static carom_lcp_outcome search(carom_lcp_tableau *t, int row, int max_pivots, int *pivots) {
  int n = t->n, z0 = 2 * n, leaving = pivot(t, row, z0);
  for (*pivots = 1; leaving != z0; ++*pivots) {
    int entering = leaving < n ? leaving + n : leaving - n;
    if (*pivots >= max_pivots) return CAROM_LCP_LIMIT;
    row = choose_row(t, t->column_of[entering]);
    if (row < 0) return CAROM_LCP_RAY;
    leaving = pivot(t, row, entering);
  }
  return CAROM_LCP_SOLVED;
}

carom_lcp_outcome carom_lcp_tableau_solve(carom_lcp_tableau *tableau, const carom_lcp_matrix *matrix,
                                          carom_lcp_tableau_run *run, double *z, unsigned char *basis) {
  carom_lcp_outcome outcome = CAROM_LCP_SOLVED;
  fill(tableau, matrix, run->q, run->p);
  run->pivots = 0;
  int row = first_row(tableau, matrix->cover);
  if (run->q[row] < 0) outcome = search(tableau, row, run->max_pivots, &run->pivots);
  read_solution(tableau, z, basis);
  return outcome;
}

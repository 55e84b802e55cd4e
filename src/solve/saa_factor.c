// L D L' of one scenario's system with its border, and of the root's. Both are quasi-definite (Vanderbei 1995): they
// have such a factor in every order, with signs of D known beforehand, and need no pivots. A small diagonal term keeps
// D off zero; the steps are then corrected by the residual of the system without it (saa_newton.c).
#include <math.h>
#include <string.h>

#include "solve/saa_work.h"

static const double REGULAR = 1e-8;  // of scaled entries

// A pivot that came out of cancellation with the wrong sign, or with no digit that is right, becomes one as large as
// what was cancelled: along it the step is short. `before` is the diagonal that it began from.
static double mend(double d, double before, double sign, bool *good) {
  if (!(d * sign > 0)) *good = false;
  double least = fmax(REGULAR, 1e-12 * fabs(before));
  return d * sign > least * 1e-2 ? d : least * sign;
}

void carom_saa_product(const carom_saa_layout *l, carom_saa_scratch *s, bool system) {
  memset(s->g, 0, (size_t)(l->size + l->border) * sizeof *s->g);
  for (int k = 0; k < l->element_count; k++) {
    const carom_saa_element *e = &l->elements[k];
    if (system && (s->masked[e->i] || s->masked[e->j])) continue;
    double value = s->data[e->source];
    s->g[e->i] += value * s->u[e->j];
    if (e->i != e->j) s->g[e->j] += value * s->u[e->i];
  }
}

// Entries of row i, of the elements that count, into t; returns that on the diagonal.
static double scatter(const carom_saa_layout *l, const carom_saa_scratch *s, int i, bool costs_only, double *t) {
  double diagonal = 0;
  for (int k = l->row_start[i]; k < l->row_start[i + 1]; k++) {
    const carom_saa_element *e = &l->elements[l->row_from[k]];
    if (s->masked[e->i] || s->masked[e->j] || (costs_only && !e->cost)) continue;
    double value = s->data[e->source];
    if (l->row_column[k] == i)
      diagonal += value;
    else
      t[l->row_column[k]] += value;
  }
  return diagonal;
}

// Row i of L, by columns from left to right; what is left in t at rows of the border is their Schur complement.
static double eliminate(const carom_saa_layout *l, int i, double *t, double *L, const double *D, double diagonal) {
  for (int r = l->reach_start[i]; r < l->reach_start[i + 1]; r++) {
    int k = l->reach[r], at = l->reach_at[r];
    double y = t[k], factor = y / D[k];
    t[k] = 0;
    for (int p = l->column_start[k]; p < at; p++) t[l->column_row[p]] -= L[p] * y;
    diagonal -= factor * y;
    L[at] = factor;
  }
  return diagonal;
}

bool carom_saa_factor(carom_saa_work *w, int i, carom_saa_scratch *s, const double *diagonal, double *sums) {
  const carom_saa_layout *l = &w->layout;
  double *L = w->factors + (size_t)i * (size_t)(l->factor_size + l->size), *D = L + l->factor_size, *t = s->t;
  double p = w->probability[w->first + i];
  bool good = true;
  memset(t, 0, (size_t)(l->size + l->border) * sizeof *t);
  for (int k = 0; k < l->size; k++) D[l->place[k]] = diagonal[k];
  for (int k = 0; k < l->size; k++) {
    double d = scatter(l, s, k, w->rows_off, t) + D[k] + REGULAR * l->sign[k];
    D[k] = mend(eliminate(l, k, t, L, D, d), d, l->sign[k], &good);
  }
  for (int b = 0; b < l->border; b++) {
    scatter(l, s, l->size + b, w->rows_off, t);
    t[l->size + b] = 0;
    double d = eliminate(l, l->size + b, t, L, D, 0);
    for (int c = 0; c < b; c++) *sums++ += p * t[l->size + c], t[l->size + c] = 0;
    *sums++ += p * d;
  }
  return good;
}

void carom_saa_forward(carom_saa_work *w, int i, carom_saa_scratch *s, const double *right, double *x, double *sums) {
  const carom_saa_layout *l = &w->layout;
  const double *L = w->factors + (size_t)i * (size_t)(l->factor_size + l->size);
  double p = w->probability[w->first + i], *t = s->t;
  for (int k = 0; k < l->size; k++) t[l->place[k]] = right[k];
  memset(t + l->size, 0, (size_t)l->border * sizeof *t);
  for (int k = 0; k < l->size; k++)
    for (int e = l->column_start[k]; e < l->column_start[k + 1]; e++) t[l->column_row[e]] -= L[e] * t[k];
  memcpy(x, t, (size_t)l->size * sizeof *x);
  for (int b = 0; b < l->border; b++) sums[b] += p * t[l->size + b];
  memset(t, 0, (size_t)(l->size + l->border) * sizeof *t);
}

void carom_saa_backward(carom_saa_work *w, int i, carom_saa_scratch *s, double *half, double *x, bool add) {
  const carom_saa_layout *l = &w->layout;
  const double *L = w->factors + (size_t)i * (size_t)(l->factor_size + l->size), *D = L + l->factor_size;
  double *t = s->t;
  for (int b = 0; b < l->border; b++) t[l->size + b] = w->z[l->border_at[b]];
  for (int k = l->size - 1; k >= 0; k--) {
    double y = half[k] / D[k];
    for (int e = l->column_start[k]; e < l->column_start[k + 1]; e++) y -= L[e] * t[l->column_row[e]];
    t[k] = y;
  }
  for (int k = 0; k < l->size; k++) x[k] = add ? x[k] + t[l->place[k]] : t[l->place[k]];
  memset(t, 0, (size_t)(l->size + l->border) * sizeof *t);
}

// ---- the root -------------------------------------------------------------------------------------------------------

static double root_sign(const carom_saa_layout *l, int i) { return i < l->n ? 1 : -1; }

// Column by column from the left, each taken off those to the right of it in blocks that stay in the cache.
bool carom_saa_root_factor(carom_saa_work *w, const double *diagonal) {
  const carom_saa_layout *l = &w->layout;
  size_t n = (size_t)l->root_boxes;
  double *C = w->matrix;
  bool good = true;
  for (size_t j = 0; j < n; j++) {
    for (size_t i = j; i < n; i++)
      if (w->masked[i] || w->masked[j]) C[i + j * n] = 0;
    C[j + j * n] += diagonal[j] + REGULAR * root_sign(l, (int)j);
  }
  for (size_t j = 0; j < n; j++) w->z[j] = C[j + j * n];
  for (size_t j = 0; j < n; j++) {
    double d = C[j + j * n] = mend(C[j + j * n], w->z[j], root_sign(l, (int)j), &good);
    for (size_t k = j + 1; k < n; k++) {
      double factor = C[k + j * n] / d;
      if (factor == 0) continue;
      for (size_t i = k; i < n; i++) C[i + k * n] -= factor * C[i + j * n];
    }
    for (size_t i = j + 1; i < n; i++) C[i + j * n] /= d;
  }
  return good;
}

void carom_saa_root_solve(const carom_saa_work *w, double *b) {
  size_t n = (size_t)w->layout.root_boxes;
  const double *C = w->matrix;
  for (size_t j = 0; j < n; j++)
    for (size_t i = j + 1; i < n; i++) b[i] -= C[i + j * n] * b[j];
  for (size_t j = n; j-- > 0;) {
    double y = b[j] / C[j + j * n];
    for (size_t i = j + 1; i < n; i++) y -= C[i + j * n] * b[i];
    b[j] = y;
  }
}

void carom_saa_root_product(const carom_saa_work *w, const double *u, double *g, bool system) {
  const carom_saa_layout *l = &w->layout;
  size_t n = (size_t)l->root_boxes;
  const double *K = w->root + l->n + 2 * n + 1;
  memset(g, 0, n * sizeof *g);
  for (size_t j = 0; j < n; j++)
    for (size_t i = j; i < n; i++) {
      if (K[i + j * n] == 0 || (system && (w->masked[i] || w->masked[j]))) continue;
      g[i] += K[i + j * n] * u[j];
      if (i != j) g[j] += K[i + j * n] * u[i];
    }
}

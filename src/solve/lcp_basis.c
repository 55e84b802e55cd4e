#include "solve/lcp_basis.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "solve/lcp_inverse.h"
#include "solve/lcp_kernels.h"

// A basis whose inverse is larger than this (for entries of order one) has no digits to offer.
static const double LARGEST_INVERSE = 1e12;
// A system solved to this, over the size of the solution, is not refined.
static const double GOOD_ENOUGH = 1e-14;
enum { REFINEMENTS = 3 };

carom_status carom_lcp_basis_create(carom_lcp_basis *basis, int n_max, const carom_allocator *allocator) {
  size_t n = (size_t)n_max + 1;
  *basis = (carom_lcp_basis){.lda = n_max + 1};
  bool complete =
      CAROM_NEW_ALL(allocator, CAROM_ROOM(basis->N, n * n), CAROM_ROOM(basis->rows, n), CAROM_ROOM(basis->columns, n),
                    CAROM_ROOM(basis->row_at, n), CAROM_ROOM(basis->column_at, n), CAROM_ROOM(basis->border, n),
                    CAROM_ROOM(basis->product, n), CAROM_ROOM(basis->right, n),
                    CAROM_ROOM(basis->panel, CAROM_LCP_INVERSE_PANEL * n), CAROM_ROOM(basis->swaps, n));
  return complete ? CAROM_OK : CAROM_ERR_MEMORY;
}

void carom_lcp_basis_destroy(carom_lcp_basis *basis, const carom_allocator *allocator) {
  CAROM_RELEASE_ALL(allocator, basis->N, basis->rows, basis->columns, basis->row_at, basis->column_at, basis->border,
                    basis->product, basis->right, basis->panel, basis->swaps);
}

void carom_lcp_basis_reset(carom_lcp_basis *basis, const carom_lcp_matrix *matrix) {
  basis->matrix = matrix;
  basis->n = matrix->n;
  basis->k = 0;
  for (int i = 0; i < basis->n; i++) basis->row_at[i] = -1;
  for (int j = 0; j <= basis->n; j++) basis->column_at[j] = -1;
}

// ---- the inverse anew ----------------------------------------------------------------------------------------------

static double *entry(const carom_lcp_basis *basis, int i, int j) {
  return basis->N + (size_t)i + (size_t)j * (size_t)basis->lda;
}

static bool too_large(const carom_lcp_basis *basis) {
  for (int j = 0; j < basis->k; j++)
    for (int i = 0; i < basis->k; i++)
      if (!(fabs(*entry(basis, i, j)) <= LARGEST_INVERSE)) return true;
  return false;
}

// K goes where its inverse is to stand: K(position of row, position of column).
static void fill_kernel(carom_lcp_basis *basis) {
  for (int c = 0; c < basis->k; c++)
    carom_lcp_matrix_column(basis->matrix, basis->columns[c], basis->k, basis->rows, basis->row_at, entry(basis, 0, c));
}

carom_status carom_lcp_basis_refactor(carom_lcp_basis *basis) {
  if (basis->k == 0) return CAROM_OK;
  basis->refactorizations++;
  fill_kernel(basis);
  if (carom_lcp_inverse(basis->k, basis->N, basis->lda, basis->panel, basis->swaps) != CAROM_OK)
    return CAROM_ERR_SINGULAR;
  return too_large(basis) ? CAROM_ERR_SINGULAR : CAROM_OK;
}

carom_status carom_lcp_basis_choose(carom_lcp_basis *basis, const carom_lcp_matrix *matrix,
                                    const unsigned char *chosen) {
  carom_lcp_basis_reset(basis, matrix);
  for (int i = 0; i < basis->n; i++) {
    if (!chosen[i]) continue;
    basis->row_at[i] = basis->column_at[i] = basis->k;
    basis->rows[basis->k] = basis->columns[basis->k] = i;
    basis->k++;
  }
  return carom_lcp_basis_refactor(basis);
}

// ---- systems -------------------------------------------------------------------------------------------------------

// xw := b + M(:, columns) xc. What that leaves in the kernel's rows, which ought to be nothing, goes to `border`.
// Returns the largest of it.
static double finish_solve(const carom_lcp_basis *basis, const double *b, double *xw, const double *xc) {
  memcpy(xw, b, sizeof(double) * (size_t)basis->n);
  carom_lcp_matrix_combine(basis->matrix, basis->k, basis->columns, xc, xw);
  for (int l = 0; l < basis->k; l++) {
    basis->border[l] = xw[basis->rows[l]];
    xw[basis->rows[l]] = 0;
  }
  return carom_lcp_largest(basis->k, basis->border);
}

// xc -= N border. Returns the largest change.
static double correct(const carom_lcp_basis *basis, double *xc) {
  memset(basis->product, 0, sizeof(double) * (size_t)basis->k);
  carom_lcp_combine(basis->k, basis->k, basis->N, basis->lda, NULL, basis->border, basis->product);
  for (int l = 0; l < basis->k; l++) xc[l] -= basis->product[l];
  return carom_lcp_largest(basis->k, basis->product);
}

// Iterative refinement of xc: an inverse that was updated many times, or of an ill-conditioned kernel, still gives a
// small error, as long as N K is nearer to the identity than zero is.
static double refine(const carom_lcp_basis *basis, const double *b, double *xw, double *xc, double *defect) {
  double missed = finish_solve(basis, b, xw, xc), size = 1 + carom_lcp_largest(basis->k, xc), change = 0;
  if (defect) *defect = missed / size;
  for (int round = 0; round < REFINEMENTS && missed > GOOD_ENOUGH * size; round++) {
    double before = missed, correction = correct(basis, xc);
    missed = finish_solve(basis, b, xw, xc);
    change = correction * fmin(1, missed / before);  // what one more would be
    if (!(missed < 0.5 * before)) break;
  }
  return change + DBL_EPSILON * size;
}

double carom_lcp_basis_solve(const carom_lcp_basis *basis, const double *b, double *xw, double *xc) {
  memset(xc, 0, sizeof(double) * (size_t)basis->k);
  for (int l = 0; l < basis->k; l++) basis->border[l] = -b[basis->rows[l]];
  carom_lcp_combine(basis->k, basis->k, basis->N, basis->lda, NULL, basis->border, xc);
  return refine(basis, b, xw, xc, NULL);
}

double carom_lcp_basis_direction(const carom_lcp_basis *basis, int variable, double *xw, double *xc, double *defect) {
  int n = basis->n, k = basis->k;
  memset(basis->right, 0, sizeof(double) * (size_t)n);
  if (variable < n) {  // w_i: the column is the i-th unit vector
    const double *column = entry(basis, 0, basis->row_at[variable]);
    for (int l = 0; l < k; l++) xc[l] = -column[l];
    basis->right[variable] = 1;
    return refine(basis, basis->right, xw, xc, defect);
  }
  int j = variable - n;  // z_j or z0: the column is -M(:, j)
  const double minus = -1;
  memset(xc, 0, sizeof(double) * (size_t)k);
  carom_lcp_matrix_column(basis->matrix, j, k, basis->rows, basis->row_at, basis->border);
  carom_lcp_combine(k, k, basis->N, basis->lda, NULL, basis->border, xc);
  carom_lcp_matrix_combine(basis->matrix, 1, &j, &minus, basis->right);
  return refine(basis, basis->right, xw, xc, defect);
}

// ---- exchanges -----------------------------------------------------------------------------------------------------

static void remove_column(carom_lcp_basis *basis, int c) {
  int last = basis->columns[basis->k - 1];
  basis->column_at[basis->columns[c]] = -1;
  if (c == basis->k - 1) return;
  basis->columns[c] = last, basis->column_at[last] = c;
  for (int r = 0; r < basis->k; r++) *entry(basis, c, r) = *entry(basis, basis->k - 1, r);
}

static void remove_row(carom_lcp_basis *basis, int r) {
  int last = basis->rows[basis->k - 1];
  basis->row_at[basis->rows[r]] = -1;
  if (r == basis->k - 1) return;
  basis->rows[r] = last, basis->row_at[last] = r;
  memcpy(entry(basis, 0, r), entry(basis, 0, basis->k - 1), sizeof(double) * (size_t)basis->k);
}

// product (k) = M(i, columns) N
static void row_times_inverse(carom_lcp_basis *basis, int i) {
  carom_lcp_matrix_row(basis->matrix, i, basis->k, basis->columns, basis->column_at, basis->border);
  carom_lcp_dots(basis->k, basis->k, basis->N, basis->lda, basis->border, basis->product);
}

// z_j for w_i: the kernel gains row i and column j. With u = N M(rows, j), v' = M(i, columns) N and the Schur
// complement s = M(i, j) - M(i, columns) u, which is minus the pivot:  N := [N + u v'/s, -u/s; -v'/s, 1/s].
static void grow(carom_lcp_basis *basis, int j, int i, const double *u, double s) {
  int k = basis->k;
  row_times_inverse(basis, i);
  for (int r = 0; r < k; r++) basis->product[r] /= s;
  carom_lcp_rank_one(k, k, u, basis->product, basis->N, basis->lda);
  for (int r = 0; r < k; r++) *entry(basis, k, r) = -basis->product[r];
  for (int c = 0; c < k; c++) *entry(basis, c, k) = -u[c] / s;
  *entry(basis, k, k) = 1 / s;
  basis->rows[k] = i, basis->row_at[i] = k;
  basis->columns[k] = j, basis->column_at[j] = k;
  basis->k++;
}

// w_i for the column at c: the kernel loses row and column.  N := N - N(:, r) N(c, :) / N(c, r), then without them.
static void shrink(carom_lcp_basis *basis, int i, int c) {
  int k = basis->k, r = basis->row_at[i];
  double pivot = *entry(basis, c, r);
  for (int l = 0; l < k; l++) basis->product[l] = -*entry(basis, c, l) / pivot;
  memcpy(basis->border, entry(basis, 0, r), sizeof(double) * (size_t)k);
  basis->product[r] = 0;
  carom_lcp_rank_one(k, k, basis->border, basis->product, basis->N, basis->lda);
  remove_column(basis, c);
  remove_row(basis, r);
  basis->k--;
}

// z_j for the column at c: with u = N M(rows, j),  N(c, :) := N(c, :) / u_c  and  N(l, :) -= u_l N(c, :) elsewhere.
static void replace_column(carom_lcp_basis *basis, int j, int c, const double *u) {
  int k = basis->k;
  memcpy(basis->border, u, sizeof(double) * (size_t)k);
  for (int l = 0; l < k; l++) basis->product[l] = -*entry(basis, c, l) / u[c];
  basis->border[c] = 0;
  carom_lcp_rank_one(k, k, basis->border, basis->product, basis->N, basis->lda);
  for (int l = 0; l < k; l++) *entry(basis, c, l) = -basis->product[l];
  basis->column_at[basis->columns[c]] = -1;
  basis->columns[c] = j, basis->column_at[j] = c;
}

// w_i for w_l: row l takes the place of row i. With v' = M(l, columns) N,  N(:, r) := N(:, r) / v_r  and
// N(:, m) -= v_m N(:, r) elsewhere.
static void replace_row(carom_lcp_basis *basis, int i, int l) {
  int k = basis->k, r = basis->row_at[i];
  row_times_inverse(basis, l);
  double pivot = basis->product[r];
  for (int c = 0; c < k; c++) basis->border[c] = *entry(basis, c, r) /= pivot;
  basis->product[r] = 0;
  for (int m = 0; m < k; m++) basis->product[m] = -basis->product[m];
  carom_lcp_rank_one(k, k, basis->border, basis->product, basis->N, basis->lda);
  basis->row_at[i] = -1;
  basis->rows[r] = l, basis->row_at[l] = r;
}

void carom_lcp_basis_exchange(carom_lcp_basis *basis, int entering, int leaving, const double *xw, const double *xc) {
  int n = basis->n;
  if (entering >= n && leaving < n)
    grow(basis, entering - n, leaving, xc, -xw[leaving]);
  else if (entering >= n)
    replace_column(basis, entering - n, basis->column_at[leaving - n], xc);
  else if (leaving >= n)
    shrink(basis, entering, basis->column_at[leaving - n]);
  else
    replace_row(basis, entering, leaving);
}

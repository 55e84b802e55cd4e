#include "solve/lcp_matrix.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/simd.h"
#include "solve/lcp_kernels.h"
#include "solve/lcp_problem.h"

// With more than a quarter of the entries in use, indices cost more than zeros do.
enum { SPARSE_SHARE = 4 };
enum { SCALING_ROUNDS = 5, GOOD_RANGE = 16 };

carom_status carom_lcp_matrix_create(carom_lcp_matrix *matrix, int n_max, const carom_allocator *allocator) {
  size_t n = (size_t)n_max;
  *matrix = (carom_lcp_matrix){.n_max = n_max};
  if (CAROM_NEW_ALL(allocator, CAROM_ROOM(matrix->store, n * n), CAROM_ROOM(matrix->starts, 2 * (n + 1)),
                    CAROM_ROOM(matrix->scale, n), CAROM_ROOM(matrix->cover, n), CAROM_ROOM(matrix->magnitude, n)))
    return CAROM_OK;
  return CAROM_ERR_MEMORY;
}

void carom_lcp_matrix_destroy(carom_lcp_matrix *matrix, const carom_allocator *allocator) {
  CAROM_RELEASE_ALL(allocator, matrix->store, matrix->starts, matrix->scale, matrix->cover, matrix->magnitude);
}

// ---- reading the problem -------------------------------------------------------------------------------------------

static size_t count_nonzeros(const carom_lcp_problem *problem) {
  size_t n = (size_t)problem->n, all = problem->M ? n * n : carom_lcp_blocks_entries(problem->blocks), count = 0;
  const double *value = problem->M ? problem->M : problem->blocks->value;
  for (size_t i = 0; i < all; i++) count += value[i] != 0;
  return count;
}

static bool worth_compressing(const carom_lcp_problem *problem) {
  size_t n = (size_t)problem->n;
  return problem->n > CAROM_LCP_DENSE_UP_TO && count_nonzeros(problem) <= n * n / SPARSE_SHARE;
}

// Both compressed forms take a quarter of the entries at most: 2 (8 + 4) / 4 bytes an entry, within the 8 of the store.
static void divide_store(carom_lcp_matrix *matrix, size_t entries) {
  matrix->rows.value = matrix->store;
  matrix->columns.value = matrix->store + entries;
  matrix->rows.index = (int *)(matrix->store + 2 * entries);
  matrix->columns.index = matrix->rows.index + entries;
  matrix->rows.start = matrix->starts;
  matrix->columns.start = matrix->starts + matrix->n_max + 1;
}

static void compress_dense(int n, const double *M, carom_lcp_compressed *columns) {
  int used = 0;
  for (int j = 0; j < n; j++) {
    columns->start[j] = used;
    for (int i = 0; i < n; i++) {
      double value = M[(size_t)i + (size_t)j * (size_t)n];
      if (value != 0) columns->index[used] = i, columns->value[used++] = value;
    }
  }
  columns->start[n] = used;
}

// Scalar row i = start[I] + r of a block row whose values begin at `value`, appended to `rows` as far as not zero.
static int compress_block_line(const carom_lcp_blocks *b, int I, int r, const double *value, carom_lcp_compressed *rows,
                               int used) {
  int height = b->start[I + 1] - b->start[I];
  for (int p = b->row_start[I]; p < b->row_start[I + 1]; p++) {
    int first = b->start[b->column[p]], width = b->start[b->column[p] + 1] - first;
    for (int c = 0; c < width; c++, value += height)
      if (value[r] != 0) rows->index[used] = first + c, rows->value[used++] = value[r];
  }
  return used;
}

static int block_row_width(const carom_lcp_blocks *b, int I) {
  int width = 0;
  for (int p = b->row_start[I]; p < b->row_start[I + 1]; p++)
    width += b->start[b->column[p] + 1] - b->start[b->column[p]];
  return width;
}

static void compress_blocks(const carom_lcp_blocks *b, carom_lcp_compressed *rows) {
  const double *value = b->value;
  int used = 0;
  for (int I = 0; I < b->block_count; I++) {
    int height = b->start[I + 1] - b->start[I];
    for (int r = 0; r < height; r++) {
      rows->start[b->start[I] + r] = used;
      used = compress_block_line(b, I, r, value, rows, used);
    }
    value += (size_t)height * (size_t)block_row_width(b, I);
  }
  rows->start[b->start[b->block_count]] = used;
}

// The other compressed form: indices come out ascending.
static void transpose(int n, const carom_lcp_compressed *from, carom_lcp_compressed *to) {
  memset(to->start, 0, sizeof(int) * (size_t)(n + 1));
  for (int l = 0; l < from->start[n]; l++) to->start[from->index[l] + 1]++;
  for (int j = 0; j < n; j++) to->start[j + 1] += to->start[j];
  for (int i = 0; i < n; i++) {
    for (int l = from->start[i]; l < from->start[i + 1]; l++) {
      int place = to->start[from->index[l]]++;
      to->index[place] = i, to->value[place] = from->value[l];
    }
  }
  for (int j = n; j > 0; j--) to->start[j] = to->start[j - 1];
  to->start[0] = 0;
}

static void expand_blocks(const carom_lcp_blocks *b, int n, double *dense) {
  const double *value = b->value;
  memset(dense, 0, sizeof(double) * (size_t)n * (size_t)n);
  for (int I = 0; I < b->block_count; I++) {
    int top = b->start[I], height = b->start[I + 1] - top;
    for (int p = b->row_start[I]; p < b->row_start[I + 1]; p++)
      for (int j = b->start[b->column[p]]; j < b->start[b->column[p] + 1]; j++, value += height)
        memcpy(dense + top + (size_t)j * (size_t)n, value, sizeof(double) * (size_t)height);
  }
}

static void copy_compressed(carom_lcp_matrix *matrix, const carom_lcp_problem *problem) {
  divide_store(matrix, count_nonzeros(problem));
  if (problem->M) {
    compress_dense(problem->n, problem->M, &matrix->columns);
    transpose(problem->n, &matrix->columns, &matrix->rows);
  } else {
    compress_blocks(problem->blocks, &matrix->rows);
    transpose(problem->n, &matrix->rows, &matrix->columns);
  }
}

static void copy_dense(carom_lcp_matrix *matrix, const carom_lcp_problem *problem) {
  matrix->dense = matrix->store;
  if (problem->M)
    memcpy(matrix->dense, problem->M, sizeof(double) * (size_t)problem->n * (size_t)problem->n);
  else
    expand_blocks(problem->blocks, problem->n, matrix->dense);
}

// ---- scaling -------------------------------------------------------------------------------------------------------

// magnitude[i] = the largest |entry| in row i and column i of S M S.
CAROM_SIMD_CLONES static void measure_dense(int n, const double *restrict M, const double *restrict scale,
                                            double *restrict magnitude) {
  memset(magnitude, 0, sizeof(double) * (size_t)n);
  for (int j = 0; j < n; j++) {
    const double *restrict column = M + (size_t)j * (size_t)n;
    double most[4] = {0};
    int whole = n & ~3;
    for (int i = 0; i < whole; i += 4)
      for (int l = 0; l < 4; l++) {
        double a = fabs(column[i + l]) * (scale[j] * scale[i + l]);
        magnitude[i + l] = a > magnitude[i + l] ? a : magnitude[i + l];
        most[l] = a > most[l] ? a : most[l];
      }
    for (int i = whole; i < n; i++) {
      double a = fabs(column[i]) * scale[j] * scale[i];
      magnitude[i] = a > magnitude[i] ? a : magnitude[i];
      most[0] = a > most[0] ? a : most[0];
    }
    for (int l = 0; l < 4; l++) magnitude[j] = most[l] > magnitude[j] ? most[l] : magnitude[j];
  }
}

static void measure_compressed(int n, const carom_lcp_compressed *columns, const double *scale, double *magnitude) {
  memset(magnitude, 0, sizeof(double) * (size_t)n);
  for (int j = 0; j < n; j++)
    for (int l = columns->start[j]; l < columns->start[j + 1]; l++) {
      int i = columns->index[l];
      double a = fabs(columns->value[l]) * scale[j] * scale[i];
      magnitude[i] = fmax(magnitude[i], a), magnitude[j] = fmax(magnitude[j], a);
    }
}

// Ruiz (2001), the symmetric form: divide row and column i by the square root of their largest entry, and again, until
// all largest entries are within a factor of GOOD_RANGE of one. Rounded to powers of two.
static bool improve_scale(int n, const double *magnitude, double *scale) {
  bool done = true;
  for (int i = 0; i < n; i++) {
    if (magnitude[i] == 0 || (magnitude[i] >= 1.0 / GOOD_RANGE && magnitude[i] <= GOOD_RANGE)) continue;
    int exponent;
    frexp(sqrt(magnitude[i]), &exponent);
    scale[i] = ldexp(scale[i], exponent > 0 ? 1 - exponent : -exponent);
    done = false;
  }
  return done;
}

static void apply_scale(carom_lcp_matrix *matrix) {
  const double *s = matrix->scale;
  if (!matrix->sparse) {
    for (int j = 0; j < matrix->n; j++)
      for (int i = 0; i < matrix->n; i++) matrix->dense[(size_t)i + (size_t)j * (size_t)matrix->n] *= s[i] * s[j];
    return;
  }
  for (int j = 0; j < matrix->n; j++) {
    for (int l = matrix->columns.start[j]; l < matrix->columns.start[j + 1]; l++)
      matrix->columns.value[l] *= s[matrix->columns.index[l]] * s[j];
    for (int l = matrix->rows.start[j]; l < matrix->rows.start[j + 1]; l++)
      matrix->rows.value[l] *= s[matrix->rows.index[l]] * s[j];
  }
}

static void equilibrate(carom_lcp_matrix *matrix) {
  bool touched = false;
  for (int i = 0; i < matrix->n; i++) matrix->scale[i] = 1;
  for (int round = 0; round < SCALING_ROUNDS; round++) {
    if (matrix->sparse)
      measure_compressed(matrix->n, &matrix->columns, matrix->scale, matrix->magnitude);
    else
      measure_dense(matrix->n, matrix->dense, matrix->scale, matrix->magnitude);
    if (improve_scale(matrix->n, matrix->magnitude, matrix->scale)) break;
    touched = true;
  }
  if (touched) apply_scale(matrix);
}

void carom_lcp_matrix_load(carom_lcp_matrix *matrix, const carom_lcp_problem *problem) {
  matrix->n = problem->n;
  matrix->sparse = worth_compressing(problem);
  if (matrix->sparse)
    copy_compressed(matrix, problem);
  else
    copy_dense(matrix, problem);
  equilibrate(matrix);
}

// ---- access --------------------------------------------------------------------------------------------------------

static void combine_compressed(const carom_lcp_matrix *matrix, int j, double x, double *y) {
  const carom_lcp_compressed *columns = &matrix->columns;
  for (int l = columns->start[j]; l < columns->start[j + 1]; l++) y[columns->index[l]] += x * columns->value[l];
}

static void combine_cover(const carom_lcp_matrix *matrix, double x, double *y) {
  for (int i = 0; i < matrix->n; i++) y[i] += x * matrix->cover[i];
}

void carom_lcp_matrix_combine(const carom_lcp_matrix *matrix, int count, const int *list, const double *x, double *y) {
  int n = matrix->n, from = 0;
  for (int l = 0; l < count; l++) {
    if (list[l] != n && !matrix->sparse) continue;
    if (!matrix->sparse) carom_lcp_combine(n, l - from, matrix->dense, n, list + from, x + from, y), from = l + 1;
    if (x[l] == 0) continue;
    if (list[l] == n)
      combine_cover(matrix, x[l], y);
    else
      combine_compressed(matrix, list[l], x[l], y);
  }
  if (!matrix->sparse) carom_lcp_combine(n, count - from, matrix->dense, n, list + from, x + from, y);
}

void carom_lcp_matrix_column(const carom_lcp_matrix *matrix, int j, int count, const int *rows, const int *at,
                             double *values) {
  const carom_lcp_compressed *columns = &matrix->columns;
  if (j == matrix->n || !matrix->sparse) {
    const double *column = j == matrix->n ? matrix->cover : matrix->dense + (size_t)j * (size_t)matrix->n;
    for (int l = 0; l < count; l++) values[l] = column[rows[l]];
    return;
  }
  memset(values, 0, sizeof(double) * (size_t)count);
  for (int l = columns->start[j]; l < columns->start[j + 1]; l++)
    if (at[columns->index[l]] >= 0) values[at[columns->index[l]]] = columns->value[l];
}

void carom_lcp_matrix_row(const carom_lcp_matrix *matrix, int i, int count, const int *columns, const int *at,
                          double *values) {
  const carom_lcp_compressed *rows = &matrix->rows;
  if (!matrix->sparse) {
    for (int l = 0; l < count; l++) values[l] = carom_lcp_matrix_entry(matrix, i, columns[l]);
    return;
  }
  memset(values, 0, sizeof(double) * (size_t)count);
  for (int l = rows->start[i]; l < rows->start[i + 1]; l++)
    if (at[rows->index[l]] >= 0) values[at[rows->index[l]]] = rows->value[l];
  if (at[matrix->n] >= 0) values[at[matrix->n]] = matrix->cover[i];
}

double carom_lcp_matrix_entry(const carom_lcp_matrix *matrix, int i, int j) {
  if (j == matrix->n) return matrix->cover[i];
  if (!matrix->sparse) return matrix->dense[(size_t)i + (size_t)j * (size_t)matrix->n];
  const carom_lcp_compressed *rows = &matrix->rows;
  for (int l = rows->start[i]; l < rows->start[i + 1]; l++)
    if (rows->index[l] == j) return rows->value[l];
  return 0;
}

void carom_lcp_matrix_dot(const carom_lcp_matrix *matrix, int j, const double *x, double *y) {
  if (!matrix->sparse) {
    carom_lcp_dots(matrix->n, 1, matrix->dense + (size_t)j * (size_t)matrix->n, matrix->n, x, y);
    return;
  }
  const carom_lcp_compressed *c = &matrix->columns;
  *y = 0;
  for (int k = c->start[j]; k < c->start[j + 1]; k++) *y += c->value[k] * x[c->index[k]];
}

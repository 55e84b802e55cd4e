// A' W A: its blocks, where products of entries of A go in it, and solves that a rank-deficient A does not disturb.
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "solve/l1.h"

// ---- pattern --------------------------------------------------------------------------------------------------------

static carom_status check_row(const carom_l1_problem *p, int i, carom_error *error) {
  int first = p->row_start[i], end = p->row_start[i + 1];
  if (first > end) return carom_fail(error, CAROM_ERR_ARGUMENT, "row %d of A ends before it begins", i);
  for (int e = first; e < end; e++) {
    if (p->column[e] < 0 || p->column[e] >= p->n)
      return carom_fail(error, CAROM_ERR_ARGUMENT, "row %d of A has column %d, but there are columns 0 to %d", i,
                        p->column[e], p->n - 1);
    if (e > first && p->column[e] <= p->column[e - 1])
      return carom_fail(error, CAROM_ERR_ARGUMENT, "columns of row %d of A do not ascend: %d, %d", i, p->column[e - 1],
                        p->column[e]);
  }
  return CAROM_OK;
}

static carom_status check_pattern(const carom_l1_problem *p, carom_error *error) {
  if (p->m < 1 || p->n < 1)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "A is %d x %d; it needs a row and a column", p->m, p->n);
  if (p->block < 0 || p->block > 64 || (p->block > 1 && p->n % p->block != 0))
    return carom_fail(error, CAROM_ERR_ARGUMENT, "blocks of %d for %d unknowns: give 1 to 64 that divide it", p->block,
                      p->n);
  if (p->row_start[0] != 0) return carom_fail(error, CAROM_ERR_ARGUMENT, "row_start[0] is %d, not 0", p->row_start[0]);
  carom_status status = CAROM_OK;
  for (int i = 0; i < p->m && status == CAROM_OK; i++) status = check_row(p, i, error);
  return status;
}

// The rows of A that have an entry in a block: A transposed, in blocks. A row stands there once.
typedef struct block_rows {
  int *start, *row;  // (blocks + 1), (entries)
} block_rows;

static void list_rows(const carom_l1_matrix *K, const carom_l1_problem *p, const block_rows *list) {
  int blocks = K->n / K->block;
  for (int pass = 0; pass < 2; pass++) {
    for (int i = 0; i < p->m; i++)
      for (int e = p->row_start[i]; e < p->row_start[i + 1]; e++) {
        int block = p->column[e] / K->block;
        if (e > p->row_start[i] && p->column[e - 1] / K->block == block) continue;
        if (pass == 0)
          list->start[block + 1]++;
        else
          list->row[list->start[block]++] = i;
      }
    for (int k = 0; pass == 0 && k < blocks; k++) list->start[k + 1] += list->start[k];
  }
  memmove(list->start + 1, list->start, (size_t)blocks * sizeof *list->start);
  list->start[0] = 0;
}

static int ascending(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

// Blocks below `block` that share a row with it; only counts them where `out` is null.
static int find_neighbors(const carom_l1_matrix *K, const carom_l1_problem *p, const block_rows *list, int block,
                          int *mark, int *out) {
  int count = 0;
  for (int k = list->start[block]; k < list->start[block + 1]; k++)
    for (int e = p->row_start[list->row[k] + 1]; e-- > p->row_start[list->row[k]];) {
      int other = p->column[e] / K->block;
      if (other <= block) break;
      if (mark[other] == block) continue;
      mark[other] = block;
      if (out) out[count] = other;
      count++;
    }
  if (out) qsort(out, (size_t)count, sizeof *out, ascending);
  return count;
}

static carom_status fail_room(carom_error *error, const carom_l1_problem *p) {
  return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for an l1 program with %d rows and %d unknowns", p->m,
                    p->n);
}

static carom_status fail_size(carom_error *error, const carom_l1_problem *p) {
  return carom_fail(error, CAROM_ERR_LIMIT, "A'A has too many entries to count, with %d unknowns: are rows of A long?",
                    p->n);
}

static void clear_marks(int *mark, int count) {
  for (int k = 0; k < count; k++) mark[k] = -1;
}

static carom_status find_blocks(carom_l1_matrix *K, const carom_l1_problem *p, const block_rows *list, int *mark,
                                carom_error *error) {
  int blocks = K->n / K->block;
  int64_t total = 0;
  clear_marks(mark, blocks);
  for (int k = 0; k < blocks; k++) {
    total += find_neighbors(K, p, list, k, mark, NULL);
    if (total > INT_MAX / (K->block * K->block)) return fail_size(error, p);
    K->neighbor_start[k + 1] = (int)total;
  }
  if (!(K->neighbor = CAROM_NEW(&K->allocator, int, total + 1))) return fail_room(error, p);
  clear_marks(mark, blocks);
  for (int k = 0; k < blocks; k++) find_neighbors(K, p, list, k, mark, K->neighbor + K->neighbor_start[k]);
  return CAROM_OK;
}

static carom_status make_blocks(carom_l1_matrix *K, const carom_l1_problem *p, carom_error *error) {
  size_t blocks = (size_t)(K->n / K->block);
  block_rows list = {0};
  int *mark = NULL;
  carom_status status = fail_room(error, p);
  if (CAROM_NEW_ALL(&K->allocator, CAROM_ROOM(list.start, blocks + 1), CAROM_ROOM(list.row, K->entry_count + 1),
                    CAROM_ROOM(mark, blocks))) {
    list_rows(K, p, &list);
    status = find_blocks(K, p, &list, mark, error);
  }
  CAROM_RELEASE_ALL(&K->allocator, list.start, list.row, mark);
  return status;
}

// ---- where products go ----------------------------------------------------------------------------------------------

// Lower halves of blocks on the diagonal, then all of those below, column by column.
static void lay_out(carom_l1_matrix *K) {
  int B = K->block, at = 0;
  for (int j = 0; j < K->n; j++) {
    K->column_start[j] = at;
    at += B - j % B + B * (K->neighbor_start[j / B + 1] - K->neighbor_start[j / B]);
  }
  K->column_start[K->n] = at;
}

// Of the entry in row r and column c, r >= c.
static int place_of(const carom_l1_matrix *K, int r, int c) {
  int B = K->block, block = c / B, other = r / B;
  if (other == block) return K->column_start[c] + r - c;
  const int *first = K->neighbor + K->neighbor_start[block];
  size_t count = (size_t)(K->neighbor_start[block + 1] - K->neighbor_start[block]);
  const int *found = bsearch(&other, first, count, sizeof *first, ascending);
  return K->column_start[c] + (B - c % B) + B * (int)(found - first) + r % B;
}

static void find_places(carom_l1_matrix *K, const carom_l1_problem *p) {
  int *place = K->place;
  for (int i = 0; i < p->m; i++)
    for (int e = p->row_start[i]; e < p->row_start[i + 1]; e++)
      for (int f = e; f < p->row_start[i + 1]; f++) *place++ = place_of(K, p->column[f], p->column[e]);
}

static int64_t count_pairs(const carom_l1_problem *p) {
  int64_t pairs = 0;
  for (int i = 0; i < p->m; i++) {
    int64_t k = p->row_start[i + 1] - p->row_start[i];
    pairs += k * (k + 1) / 2;
  }
  return pairs;
}

static carom_status make_places(carom_l1_matrix *K, const carom_l1_problem *p, carom_error *error) {
  int64_t pairs = count_pairs(p);
  if (pairs > INT_MAX) return fail_size(error, p);
  lay_out(K);
  if (!CAROM_NEW_ALL(&K->allocator, CAROM_ROOM(K->value, K->column_start[K->n]), CAROM_ROOM(K->place, pairs)))
    return fail_room(error, p);
  find_places(K, p);
  const carom_block_pattern pattern = {K->block, K->n / K->block, K->neighbor_start, K->neighbor};
  carom_status status = carom_factor_create(&pattern, &K->allocator, &K->factor);
  return status == CAROM_OK ? status : fail_room(error, p);
}

void carom_l1_matrix_destroy(carom_l1_matrix *K) {
  if (!K) return;
  carom_factor_destroy(K->factor);
  CAROM_RELEASE_ALL(&K->allocator, K->neighbor_start, K->neighbor, K->column_start, K->value, K->place, K->residual,
                    K->z, K->p, K->q, K->row_work);
  carom_allocator allocator = K->allocator;
  carom_release(&allocator, K);
}

carom_status carom_l1_matrix_create(const carom_l1_problem *p, const carom_allocator *allocator,
                                    carom_l1_matrix **matrix, carom_error *error) {
  carom_allocator a = carom_allocator_or_default(allocator);
  *matrix = NULL;
  carom_status status = check_pattern(p, error);
  if (status != CAROM_OK) return status;
  carom_l1_matrix *K = CAROM_NEW(&a, carom_l1_matrix, 1);
  if (!K) return fail_room(error, p);
  size_t n = (size_t)p->n;
  *K = (carom_l1_matrix){
      .allocator = a, .m = p->m, .n = p->n, .block = p->block > 1 ? p->block : 1, .entry_count = p->row_start[p->m]};
  bool there = CAROM_NEW_ALL(&a, CAROM_ROOM(K->neighbor_start, n / (size_t)K->block + 1),
                             CAROM_ROOM(K->column_start, n + 1), CAROM_ROOM(K->residual, n), CAROM_ROOM(K->z, n),
                             CAROM_ROOM(K->p, n), CAROM_ROOM(K->q, n), CAROM_ROOM(K->row_work, p->m));
  status = there ? make_blocks(K, p, error) : fail_room(error, p);
  if (status == CAROM_OK) status = make_places(K, p, error);
  if (status == CAROM_OK)
    *matrix = K;
  else
    carom_l1_matrix_destroy(K);
  return status;
}

// ---- numbers --------------------------------------------------------------------------------------------------------

void carom_l1_multiply(const carom_l1_problem *p, const double *x, double *y) {
  for (int i = 0; i < p->m; i++) {
    double sum = 0;
    for (int e = p->row_start[i]; e < p->row_start[i + 1]; e++) sum += p->value[e] * x[p->column[e]];
    y[i] = sum;
  }
}

void carom_l1_multiply_transposed(const carom_l1_problem *p, const double *y, double *x) {
  memset(x, 0, (size_t)p->n * sizeof *x);
  for (int i = 0; i < p->m; i++)
    for (int e = p->row_start[i]; e < p->row_start[i + 1]; e++) x[p->column[e]] += p->value[e] * y[i];
}

static void add_up(carom_l1_matrix *K, const carom_l1_problem *p, const double *weight) {
  const int *place = K->place;
  memset(K->value, 0, (size_t)K->column_start[K->n] * sizeof *K->value);
  for (int i = 0; i < p->m; i++) {
    double w = weight ? weight[i] : 1;
    for (int e = p->row_start[i]; e < p->row_start[i + 1]; e++) {
      double a = w * p->value[e];
      for (int f = e; f < p->row_start[i + 1]; f++) K->value[*place++] += a * p->value[f];
    }
  }
}

// Unknowns in no row keep a pivot of 1, and so stay where they are.
static void shift_diagonal(carom_l1_matrix *K) {
  for (int j = 0; j < K->n; j++) {
    double *d = K->value + K->column_start[j];
    *d = *d > 0 ? *d * (1 + K->shift) : 1;
  }
}

// Where A has not full rank, or nearly so, pivots drown in rounding: then more is added to the diagonal. Conjugate
// gradients take back what that changes.
carom_status carom_l1_matrix_factor(carom_l1_matrix *K, const carom_l1_problem *p, const double *weight) {
  static const double least = CAROM_L1_SHIFT, most = 1e-2, more = 100, less = 0.1;
  carom_sparse view = {K->n, K->column_start, NULL, K->value};
  for (K->shift = fmax(less * K->shift, least); K->shift < most; K->shift *= more) {
    add_up(K, p, weight);
    shift_diagonal(K);
    K->factorizations++;
    if (carom_factor_compute(K->factor, &view) == CAROM_OK) return CAROM_OK;
  }
  return CAROM_ERR_SINGULAR;
}

static double dot(const double *a, const double *b, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

// q = A' W A p
static void apply(carom_l1_matrix *K, const carom_l1_problem *problem, const double *weight) {
  carom_l1_multiply(problem, K->p, K->row_work);
  for (int i = 0; weight && i < K->m; i++) K->row_work[i] *= weight[i];
  carom_l1_multiply_transposed(problem, K->row_work, K->q);
}

static double precondition(carom_l1_matrix *K) {
  memcpy(K->z, K->residual, (size_t)K->n * sizeof *K->z);
  carom_factor_solve(K->factor, K->z);
  return dot(K->residual, K->z, K->n);
}

void carom_l1_matrix_presolve(carom_l1_matrix *K, const double *r, double *x) {
  memcpy(x, r, (size_t)K->n * sizeof *x);
  carom_factor_solve(K->factor, x);
}

void carom_l1_matrix_solve(carom_l1_matrix *K, const carom_l1_problem *problem, const double *weight, const double *r,
                           double *x) {
  enum { MOST_STEPS = 12 };
  static const double enough = 1e-14;  // of the square of the error in the norm of the matrix
  int n = K->n;
  memset(x, 0, (size_t)n * sizeof *x);
  memcpy(K->residual, r, (size_t)n * sizeof *r);
  double rho = precondition(K), begin = rho;
  memcpy(K->p, K->z, (size_t)n * sizeof *K->p);
  for (int k = 0; k < MOST_STEPS && rho > enough * begin; k++) {
    apply(K, problem, weight);
    double curvature = dot(K->p, K->q, n);
    if (!(curvature > 0)) return;
    double a = rho / curvature;
    for (int i = 0; i < n; i++) x[i] += a * K->p[i], K->residual[i] -= a * K->q[i];
    K->conjugate_steps++;
    double next = precondition(K), b = next / rho;
    if (next > rho) return;
    for (int i = 0; i < n; i++) K->p[i] = K->z[i] + b * K->p[i];
    rho = next;
  }
}

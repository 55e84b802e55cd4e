// The multifrontal factors of the interior point against CHOLMOD and against A x = b itself, on random graphs of
// blocks.
#include <cholmod.h>
#include <math.h>
#include <stdlib.h>

#include "failing_allocator.h"
#include "solve/front_factor.h"
#include "test.h"

enum { MOST = 200, SIX = CAROM_FRONT_BLOCK };

// A symmetric block matrix, lower half by columns, as the interior point stores it.
typedef struct blocks {
  int size, count, start[MOST + 1], *neighbor;
  int *column, *row;
  double *value;
} blocks;

static bool touches(carom_random *r, int kind, int i, int j) {
  if (kind == 0) return carom_random_between(r, 0, 1) < 3.0 / MOST;       // sparse, in many pieces
  if (kind == 1) return j == i + 1 || j == i + 14 || j == i + 15;         // a grid
  if (kind == 2) return i == 0 || carom_random_between(r, 0, 1) < 0.005;  // one body touches all
  return kind == 3;                                                       // all touch all
}

static blocks make_pattern(int size, int count, int kind, carom_random *r) {
  blocks b = {.size = size, .count = count, .neighbor = malloc(sizeof(int) * MOST * MOST)};
  int filled = 0;
  for (int i = 0; i < count; i++) {
    b.start[i] = filled;
    for (int j = i + 1; j < count; j++)
      if (touches(r, kind, i, j)) b.neighbor[filled++] = j;
  }
  b.start[count] = filled;
  size_t entries = (size_t)(size * (size + 1) / 2 * count + size * size * filled) + 1;
  b.column = malloc(sizeof(int) * (size_t)(size * count + 1));
  b.row = malloc(sizeof(int) * entries);
  b.value = malloc(sizeof(double) * entries);
  return b;
}

static carom_factor *analyse(const blocks *b) {
  const carom_block_pattern pattern = {b->size, b->count, b->start, b->neighbor};
  carom_factor *f = NULL;
  CHECK(carom_factor_create(&pattern, NULL, &f) == CAROM_OK);
  return f;
}

// Random entries, and a diagonal that outweighs them: positive definite by Gershgorin.
static carom_sparse fill(blocks *b, carom_random *r) {
  int n = 0, size = b->size;
  double degree[MOST] = {0};
  for (int i = 0; i < b->count; i++)
    for (int k = b->start[i]; k < b->start[i + 1]; k++) degree[i]++, degree[b->neighbor[k]]++;
  for (int i = 0; i < b->count; i++)
    for (int j = 0; j < size; j++) {
      b->column[size * i + j] = n;
      for (int k = j; k < size; k++) b->row[n] = size * i + k, b->value[n++] = carom_random_between(r, -1, 1);
      b->value[b->column[size * i + j]] += size * (degree[i] + 2);
      for (int k = b->start[i]; k < b->start[i + 1]; k++)
        for (int l = 0; l < size; l++)
          b->row[n] = size * b->neighbor[k] + l, b->value[n++] = carom_random_between(r, -1, 1);
    }
  b->column[size * b->count] = n;
  return (carom_sparse){size * b->count, b->column, b->row, b->value};
}

static void free_blocks(blocks *b) { free(b->neighbor), free(b->column), free(b->row), free(b->value); }

// x = A^-1 x by CHOLMOD's simplicial factors.
static bool solve_by_cholmod(const carom_sparse *A, double *x) {
  size_t n = (size_t)A->n;
  cholmod_common common;
  cholmod_start(&common);
  common.supernodal = CHOLMOD_SIMPLICIAL;
  cholmod_sparse view = {.nrow = n,
                         .ncol = n,
                         .nzmax = (size_t)A->column_start[n],
                         .p = (void *)A->column_start,
                         .i = (void *)A->row,
                         .x = (void *)A->value,
                         .stype = -1,
                         .itype = CHOLMOD_INT,
                         .xtype = CHOLMOD_REAL,
                         .dtype = CHOLMOD_DOUBLE,
                         .sorted = 1,
                         .packed = 1};
  cholmod_dense right = {
      .nrow = n, .ncol = 1, .nzmax = n, .d = n, .x = x, .xtype = CHOLMOD_REAL, .dtype = CHOLMOD_DOUBLE};
  cholmod_factor *factor = cholmod_analyze(&view, &common);
  bool solved = factor && cholmod_factorize(&view, factor, &common) && factor->minor == n;
  cholmod_dense *solution = solved ? cholmod_solve(CHOLMOD_A, factor, &right, &common) : NULL;
  if (solution) memcpy(x, solution->x, n * sizeof *x);
  solved = solution != NULL;
  cholmod_free_dense(&solution, &common);
  cholmod_free_factor(&factor, &common);
  cholmod_finish(&common);
  return solved;
}

static void multiply(const carom_sparse *A, const double *x, double *y) {
  for (int i = 0; i < A->n; i++) y[i] = 0;
  for (int j = 0; j < A->n; j++)
    for (int k = A->column_start[j]; k < A->column_start[j + 1]; k++) {
      int i = A->row[k];
      y[i] += A->value[k] * x[j];
      if (i != j) y[j] += A->value[k] * x[i];
    }
}

static void check_against_cholmod(carom_factor *f, const carom_sparse *A, carom_random *r) {
  static double x[SIX * MOST], y[SIX * MOST], z[SIX * MOST];
  REQUIRE(carom_factor_compute(f, A) == CAROM_OK);
  for (int i = 0; i < A->n; i++) x[i] = y[i] = carom_random_between(r, -1, 1);
  REQUIRE(solve_by_cholmod(A, x));
  carom_factor_solve(f, y);
  multiply(A, y, z);
  for (int i = 0; i < A->n; i++) CHECK_NEAR(y[i], x[i], 1e-13);
  multiply(A, x, y);
  for (int i = 0; i < A->n; i++) CHECK_NEAR(z[i], y[i], 1e-12);
}

TEST(factors_agree_with_cholmod) {
  carom_random r = carom_random_make(4, 0);
  const int counts[] = {1, 2, 3, 17, 60, MOST}, sizes[] = {SIX, 1, 2, 5};
  for (int kind = 0; kind < 16; kind++)
    for (int k = 0; k < 6; k++) {
      if (kind % 4 == 3 && counts[k] > 60) continue;
      blocks b = make_pattern(sizes[kind / 4], counts[k], kind % 4, &r);
      carom_factor *f = analyse(&b);
      for (int again = 0; again < 2; again++) {
        carom_sparse A = fill(&b, &r);
        check_against_cholmod(f, &A, &r);
      }
      carom_factor_destroy(f);
      free_blocks(&b);
    }
}

// One front that is large enough to be shared.
TEST(bits_do_not_depend_on_threads) {
  static double x[2][SIX * 60];
  carom_random r = carom_random_make(9, 0);
  blocks b = make_pattern(SIX, 60, 3, &r);
  carom_sparse A = fill(&b, &r);
  for (int k = 0; k < 2; k++) {
    carom_factor *f = analyse(&b);
    carom_factor_share(f, 1 + 2 * k);
    REQUIRE(carom_factor_compute(f, &A) == CAROM_OK);
    for (int i = 0; i < A.n; i++) x[k][i] = 1 + i % 7;
    carom_factor_solve(f, x[k]);
    carom_factor_destroy(f);
  }
  CHECK(memcmp(x[0], x[1], sizeof x[0]) == 0);
  free_blocks(&b);
}

// All touch all: one front, w^3 / 3 operations with w = 6 n.
TEST(work_is_counted) {
  carom_random r = carom_random_make(4, 0);
  blocks b = make_pattern(SIX, 20, 3, &r);
  carom_factor *f = analyse(&b);
  CHECK_NEAR(carom_factor_flops(f), 120.0 * 120 * 120 / 3, 1e-6);
  carom_factor_destroy(f);
  free_blocks(&b);
}

TEST(what_is_not_positive_definite_is_refused) {
  carom_random r = carom_random_make(6, 0);
  blocks b = make_pattern(SIX, 60, 1, &r);
  carom_factor *f = analyse(&b);
  const double bad[] = {-1, 0, NAN, INFINITY};
  for (int k = 0; k < 4; k++) {
    carom_sparse A = fill(&b, &r);
    b.value[b.column[SIX * 31 + 2]] = bad[k];
    CHECK(carom_factor_compute(f, &A) == CAROM_ERR_SINGULAR);
    A = fill(&b, &r);
    check_against_cholmod(f, &A, &r);  // and does no harm
  }
  carom_factor_destroy(f);
  free_blocks(&b);
}

TEST(no_blocks_are_fine) {
  const int start[1] = {0};
  carom_factor *f = NULL;
  const carom_sparse A = {0, start, start, NULL};
  REQUIRE(carom_factor_create(&(carom_block_pattern){SIX, 0, start, start}, NULL, &f) == CAROM_OK);
  CHECK(carom_factor_compute(f, &A) == CAROM_OK);
  carom_factor_solve(f, NULL);
  carom_factor_destroy(f);
}

TEST(every_failed_allocation_is_told) {
  carom_random r = carom_random_make(8, 0);
  blocks b = make_pattern(SIX, 40, 1, &r);
  const carom_block_pattern pattern = {b.size, b.count, b.start, b.neighbor};
  for (int allowed = 0;; allowed++) {
    failing_allocator failing = {.allowed = allowed};
    carom_allocator allocator = failing_allocator_of(&failing);
    carom_factor *f = NULL;
    carom_status status = carom_factor_create(&pattern, &allocator, &f);
    carom_factor_destroy(f);
    CHECK(failing.live == 0);
    if (status == CAROM_OK) break;
    CHECK(status == CAROM_ERR_MEMORY && !f);
    REQUIRE(allowed < 100);
  }
  free_blocks(&b);
}

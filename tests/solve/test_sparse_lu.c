// Sparse systems against dense ones and against their residuals; what has no inverse must be refused.
#include "base/memory.h"
#include "failing_allocator.h"
#include "fixtures.h"
#include "math/dense.h"
#include "solve/sparse_lu.h"

enum { MOST = 60, ENTRIES = 2 * MOST * MOST };

typedef struct system_of {
  int n, count, row[ENTRIES], column[ENTRIES];
  double value[ENTRIES], dense[MOST * MOST];  // columns
} system_of;

static void put(system_of *s, int row, int column, double value) {
  s->row[s->count] = row, s->column[s->count] = column, s->value[s->count++] = value;
  s->dense[row + column * s->n] += value;
}

// A permutation with a few entries besides, some given in two parts, in any order. Rows and columns may be scaled.
static void fill(system_of *s, carom_random *r, int n, double decades) {
  int order[MOST];
  double row[MOST], column[MOST];
  memset(s, 0, sizeof *s);
  s->n = n;
  for (int i = 0; i < n; i++) {
    order[i] = i;
    row[i] = pow(10, carom_random_between(r, -decades, decades)),
    column[i] = pow(10, carom_random_between(r, -decades, decades));
  }
  for (int i = n - 1; i > 0; i--) {
    int k = (int)carom_random_below(r, (uint32_t)i + 1), kept = order[i];
    order[i] = order[k], order[k] = kept;
  }
  for (int extra = 0; extra < 3 * n; extra++) {
    int i = (int)carom_random_below(r, (uint32_t)n), j = (int)carom_random_below(r, (uint32_t)n);
    put(s, i, j, row[i] * column[j] * carom_random_between(r, -1, 1));
  }
  for (int j = 0; j < n; j++) put(s, order[j], j, row[order[j]] * column[j] * 4);
}

static carom_triplets triplets_of(const system_of *s) {
  return (carom_triplets){s->n, s->count, s->row, s->column, s->value};
}

static carom_status solve(const system_of *s, int right_sides, double *x, carom_error *error) {
  carom_triplets A = triplets_of(s);
  carom_allocator allocator = carom_allocator_or_default(NULL);
  return carom_sparse_solve(&A, &allocator, right_sides, x, error);
}

static void multiply(const system_of *s, const double *x, double *y) {
  for (int i = 0; i < s->n; i++) y[i] = 0;
  for (int k = 0; k < s->count; k++) y[s->row[k]] += s->value[k] * x[s->column[k]];
}

TEST(random_systems_agree_with_dense_ones) {
  static system_of s;
  carom_random r = carom_random_make(51, 0);
  for (int trial = 0; trial < 60; trial++) {
    int n = 1 + (int)carom_random_below(&r, MOST), pivot[MOST];
    fill(&s, &r, n, 0);
    double B[3 * MOST], x[3 * MOST];
    for (int i = 0; i < 3 * n; i++) B[i] = x[i] = carom_random_between(&r, -1, 1);
    REQUIRE(solve(&s, 3, x, NULL) == CAROM_OK);
    REQUIRE(carom_dense_lu(n, s.dense, n, pivot) == CAROM_OK);
    for (int k = 0; k < 3; k++) {
      double residual[MOST], largest = 1;
      for (int i = 0; i < n; i++) largest = fmax(largest, fabs(x[k * n + i]));
      multiply(&s, x + k * n, residual);
      for (int i = 0; i < n; i++) CHECK_NEAR(residual[i], B[k * n + i], 1e-12 * largest);
      carom_dense_lu_solve(n, s.dense, n, pivot, B + k * n);
      for (int i = 0; i < n; i++) CHECK_NEAR(x[k * n + i], B[k * n + i], 1e-9 * largest);
    }
  }
}

// Twelve decades in rows and twelve in columns; each row's residual against what that row adds up.
TEST(badly_scaled_systems_are_solved) {
  static system_of s;
  carom_random r = carom_random_make(52, 0);
  for (int trial = 0; trial < 60; trial++) {
    int n = 2 + (int)carom_random_below(&r, MOST - 1);
    fill(&s, &r, n, 6);
    double wanted[MOST], b[MOST], size[MOST] = {0}, residual[MOST];
    for (int i = 0; i < n; i++) wanted[i] = carom_random_between(&r, -1, 1);
    multiply(&s, wanted, b);
    double x[MOST];
    memcpy(x, b, sizeof x);
    REQUIRE(solve(&s, 1, x, NULL) == CAROM_OK);
    multiply(&s, x, residual);
    for (int k = 0; k < s.count; k++)
      size[s.row[k]] = fmax(size[s.row[k]], fabs(s.value[k]) * (fabs(x[s.column[k]]) + fabs(wanted[s.column[k]])));
    for (int i = 0; i < n; i++) CHECK_AT_MOST(fabs(residual[i] - b[i]), 1e-9 * size[i]);
  }
}

// An empty row or column, a row twice, entries that cancel: no inverse, by the pattern or by the numbers.
TEST(singular_systems_are_refused) {
  static system_of s, t;
  carom_random r = carom_random_make(53, 0);
  for (int trial = 0; trial < 60; trial++) {
    int n = 2 + (int)carom_random_below(&r, MOST - 1), way = trial % 4;
    int a = (int)carom_random_below(&r, (uint32_t)n), b = (a + 1) % n;
    fill(&s, &r, n, 0);
    memset(&t, 0, sizeof t);
    t.n = n;
    for (int k = 0; k < s.count; k++) {
      bool drop = way == 0 ? s.row[k] == a : way == 1 ? s.column[k] == a : way == 2 ? s.row[k] == a : false;
      if (!drop) put(&t, s.row[k], s.column[k], s.value[k]);
      if (way == 2 && s.row[k] == b) put(&t, a, s.column[k], s.value[k]);
      if (way == 3 && s.row[k] == a) put(&t, a, s.column[k], -s.value[k]);
    }
    double x[MOST] = {1};
    carom_error error = {0};
    CHECK(solve(&t, 1, x, &error) == CAROM_ERR_SINGULAR);
    CHECK_CONTAINS(error.message, "no unique solution");
  }
}

TEST(sparse_systems_without_memory) {
  static system_of s;
  carom_random r = carom_random_make(54, 0);
  fill(&s, &r, 20, 0);
  carom_triplets A = triplets_of(&s);
  carom_status status = CAROM_ERR_MEMORY;
  for (int allowed = 0; status == CAROM_ERR_MEMORY; allowed++) {
    failing_allocator f = {.allowed = allowed};
    carom_allocator allocator = failing_allocator_of(&f);
    double x[MOST] = {1};
    REQUIRE(allowed < 20);
    status = carom_sparse_solve(&A, &allocator, 1, x, NULL);
    CHECK(f.live == 0);
    CHECK((status == CAROM_OK) == (allowed >= 4));
  }
}

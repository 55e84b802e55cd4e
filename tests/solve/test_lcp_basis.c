// The parts of pivoting: the inverse, the matrix in its two forms, the basis under exchanges.
#include "lcp_samples.h"
#include "test.h"

#include "solve/lcp_basis.h"
#include "solve/lcp_inverse.h"

static double worst_off_identity(int k, const double *A, const double *B, int ldb) {
  double worst = 0;
  for (int i = 0; i < k; i++)
    for (int j = 0; j < k; j++) {
      double s = i == j ? -1 : 0;
      for (int l = 0; l < k; l++) s += A[i + l * k] * B[l + j * ldb];
      worst = fmax(worst, fabs(s));
    }
  return worst;
}

TEST(inverse_times_matrix_is_the_identity) {
  for (int k = 1; k <= 40; k++) {
    carom_random random = carom_random_make((uint64_t)k, 0);
    int lda = k + 3, swaps[40];
    double *A = calloc((size_t)(k * k), sizeof(double)), *B = calloc((size_t)(lda * k), sizeof(double)), panel[160];
    for (int i = 0; i < k * k; i++) A[i] = B[i % k + i / k * lda] = carom_random_normal(&random);
    CHECK(carom_lcp_inverse(k, B, lda, panel, swaps) == CAROM_OK);
    CHECK_AT_MOST(worst_off_identity(k, A, B, lda), 1e-11);
    free(A), free(B);
  }
}

TEST(inverse_needs_rows_exchanged) {
  double A[9] = {0, 0, 2, 1, 0, 0, 0, 4, 0}, panel[12];
  const double expected[9] = {0, 1, 0, 0, 0, 0.25, 0.5, 0, 0};
  int swaps[3];
  CHECK(carom_lcp_inverse(3, A, 3, panel, swaps) == CAROM_OK);
  for (int i = 0; i < 9; i++) CHECK(A[i] == expected[i]);
  double zero[4] = {1, 1, 1, 1}, not_a_number[1] = {NAN};
  CHECK(carom_lcp_inverse(2, zero, 2, panel, swaps) == CAROM_ERR_SINGULAR);
  CHECK(carom_lcp_inverse(1, not_a_number, 1, panel, swaps) == CAROM_ERR_SINGULAR);
}

// A stack has few nonzeros and is compressed; the accessors must give S M S as they do for the dense form.
TEST(compressed_matrix_reads_as_dense) {
  lcp_sample s = lcp_sample_stack((lcp_stack){8, 4, 0.5, 0.01, 1, 0});
  carom_lcp_problem problem = {.n = s.n, .M = s.M, .q = s.q};
  carom_allocator a = carom_allocator_default();
  carom_lcp_matrix m;
  REQUIRE(carom_lcp_matrix_create(&m, s.n + 5, &a) == CAROM_OK);
  carom_lcp_matrix_load(&m, &problem);
  CHECK(m.sparse);
  int every[400], at[401];
  double column[400], row[400], sum[400], x[400];
  for (int i = 0; i < s.n; i++) every[i] = at[i] = i, sum[i] = 0, x[i] = sin(i), m.cover[i] = 1;
  at[s.n] = -1;
  carom_lcp_matrix_combine(&m, s.n, every, x, sum);
  for (int j = 0; j < s.n; j++) {
    carom_lcp_matrix_column(&m, j, s.n, every, at, column);
    carom_lcp_matrix_row(&m, j, s.n, every, at, row);
    double product = 0;
    for (int i = 0; i < s.n; i++) {
      CHECK(column[i] == *lcp_sample_at(&s, i, j) * m.scale[i] * m.scale[j]);
      CHECK(row[i] == *lcp_sample_at(&s, j, i) * m.scale[i] * m.scale[j]);
      CHECK(carom_lcp_matrix_entry(&m, i, j) == column[i]);
      product += row[i] * x[i];
    }
    CHECK_NEAR(sum[j], product, 1e-12);
  }
  carom_lcp_matrix_destroy(&m, &a);
  lcp_sample_free(&s);
}

// All four exchanges at random, against systems solved with the basis written out.
TEST(exchanges_keep_the_inverse) {
  enum { n = 24 };
  lcp_sample s = lcp_sample_definite(n, n, 0.1, 1, 3);
  carom_lcp_problem problem = {.n = n, .M = s.M, .q = s.q};
  carom_allocator a = carom_allocator_default();
  carom_random random = carom_random_make(1, 0);
  carom_lcp_matrix m;
  carom_lcp_basis basis;
  REQUIRE(carom_lcp_matrix_create(&m, n, &a) == CAROM_OK && carom_lcp_basis_create(&basis, n, &a) == CAROM_OK);
  carom_lcp_matrix_load(&m, &problem);
  for (int i = 0; i < n; i++) m.cover[i] = 1 + 0.1 * i;
  carom_lcp_basis_reset(&basis, &m);
  int kinds[4] = {0};
  for (int step = 0; step < 3000; step++) {
    double xw[n], xc[n + 1], defect;
    int entering = (int)carom_random_below(&random, 2 * n + 1);
    bool basic = entering < n ? basis.row_at[entering] < 0 : basis.column_at[entering - n] >= 0;
    if (basic) continue;
    carom_lcp_basis_direction(&basis, entering, xw, xc, &defect);
    CHECK_AT_MOST(defect, 1e-9);
    int leaving = -1;
    double largest = 0.1;  // a random variable with a decent pivot
    for (int v = 0; v < 2 * n + 1; v++) {
      double d =
          v < n ? (basis.row_at[v] < 0 ? xw[v] : 0) : (basis.column_at[v - n] >= 0 ? xc[basis.column_at[v - n]] : 0);
      d = fabs(d) * carom_random_uniform(&random);
      if (d > largest) largest = d, leaving = v;
    }
    if (leaving < 0) continue;
    kinds[(entering >= n) + 2 * (leaving >= n)]++;
    carom_lcp_basis_exchange(&basis, entering, leaving, xw, xc);
    // B x = q, with the residual of every row written out: w - M z - d z0 - q.
    double r[n];
    carom_lcp_basis_solve(&basis, s.q, xw, xc);
    for (int i = 0; i < n; i++) {
      r[i] = s.q[i] - (basis.row_at[i] < 0 ? xw[i] : 0);
      for (int l = 0; l < basis.k; l++) r[i] += carom_lcp_matrix_entry(&m, i, basis.columns[l]) * xc[l];
      CHECK_AT_MOST(fabs(r[i]), 1e-9);
    }
    for (int l = 0; l < basis.k; l++) CHECK(basis.column_at[basis.columns[l]] == l && basis.row_at[basis.rows[l]] == l);
  }
  for (int kind = 0; kind < 4; kind++) CHECK(kinds[kind] > 20);
  carom_lcp_basis_destroy(&basis, &a), carom_lcp_matrix_destroy(&m, &a), lcp_sample_free(&s);
}

// Dense solvers: ours against LAPACK's, both against residuals; what cannot be solved must be refused.
#include <float.h>

#include "fixtures.h"
#include "math/dense.h"

enum { MOST = 40 };

static void fill_random(carom_random *r, int n, int lda, double *A) {
  for (int j = 0; j < n; j++)
    for (int i = 0; i < lda; i++) A[i + j * lda] = carom_random_normal(r);
}

// B B' + n I: condition number about 5.
static void fill_positive(carom_random *r, int n, int lda, double *A) {
  static double B[MOST * MOST];
  fill_random(r, n, n, B);
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++) {
      A[i + j * lda] = i == j ? n : 0;
      for (int k = 0; k < n; k++) A[i + j * lda] += B[i + k * n] * B[j + k * n];
    }
}

static void multiply(int n, int lda, const double *A, const double *x, double *y) {
  for (int i = 0; i < n; i++) y[i] = 0;
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++) y[i] += A[i + j * lda] * x[j];
}

static double largest(int n, const double *x) {
  double most = 0;
  for (int i = 0; i < n; i++) most = fabs(x[i]) <= most ? most : fabs(x[i]);
  return most;
}

// |A x - b| / (|A| |x|), entry by entry the largest: the backward error, which elimination keeps near n eps.
static double backward_error(int n, int lda, const double *A, const double *x, const double *b) {
  double y[MOST], size = 0;
  multiply(n, lda, A, x, y);
  for (int i = 0; i < n; i++) y[i] -= b[i];
  for (int j = 0; j < n; j++) size = fmax(size, largest(n, A + j * lda));
  return largest(n, y) / (n * size * largest(n, x));
}

typedef struct dense_case {
  int n, lda;
  double A[(MOST + 3) * MOST], factors[(MOST + 3) * MOST], b[MOST];
} dense_case;

static dense_case new_case(carom_random *r, bool positive) {
  dense_case c = {.n = 1 + (int)carom_random_below(r, MOST)};
  c.lda = c.n + (int)carom_random_below(r, 4);  // padding rows must be left alone
  (positive ? fill_positive : fill_random)(r, c.n, c.lda, c.A);
  memcpy(c.factors, c.A, sizeof c.A);
  fill_random(r, 1, c.n, c.b);
  return c;
}

TEST(lu_solves_random_systems) {
  carom_random r = carom_random_make(1, 0);
  for (int trial = 0; trial < 300; trial++) {
    dense_case c = new_case(&r, false);
    int pivot[MOST];
    double x[MOST], y[MOST];
    memcpy(x, c.b, sizeof x), memcpy(y, c.b, sizeof y);
    REQUIRE(carom_small_lu(c.n, c.factors, c.lda, pivot) == CAROM_OK);
    carom_small_lu_solve(c.n, c.factors, c.lda, pivot, x);
    CHECK_AT_MOST(backward_error(c.n, c.lda, c.A, x, c.b), 4 * DBL_EPSILON);
    for (int j = 0; j < c.n; j++)
      for (int i = c.n; i < c.lda; i++) CHECK(c.factors[i + j * c.lda] == c.A[i + j * c.lda]);
    memcpy(c.factors, c.A, sizeof c.A);
    REQUIRE(carom_dense_lu(c.n, c.factors, c.lda, pivot) == CAROM_OK);
    REQUIRE(carom_dense_lu_solve(c.n, c.factors, c.lda, pivot, y) == CAROM_OK);
    CHECK_AT_MOST(backward_error(c.n, c.lda, c.A, y, c.b), 4 * DBL_EPSILON);
  }
}

TEST(cholesky_solves_random_systems) {
  carom_random r = carom_random_make(2, 0);
  for (int trial = 0; trial < 300; trial++) {
    dense_case c = new_case(&r, true);
    double x[MOST];
    memcpy(x, c.b, sizeof x);
    REQUIRE(carom_small_cholesky(c.n, c.factors, c.lda) == CAROM_OK);
    for (int j = 0; j < c.n; j++)
      for (int i = j; i < c.n; i++) {  // L L' is the matrix again
        double product = 0;
        for (int k = 0; k <= j; k++) product += c.factors[i + k * c.lda] * c.factors[j + k * c.lda];
        CHECK_NEAR(product, c.A[i + j * c.lda], 1e-13 * sqrt(c.A[i + i * c.lda] * c.A[j + j * c.lda]));
      }
    carom_small_cholesky_solve(c.n, c.factors, c.lda, x);
    CHECK_AT_MOST(backward_error(c.n, c.lda, c.A, x, c.b), 4 * DBL_EPSILON);
  }
}

TEST(dense_solvers_refuse_what_they_cannot_solve) {
  carom_random r = carom_random_make(3, 0);
  for (int trial = 0; trial < 100; trial++) {
    dense_case c = new_case(&r, true);
    int n = c.n, lda = c.lda, pivot[MOST], k = (int)carom_random_below(&r, (uint32_t)n);
    for (int i = 0; i < n; i++) c.A[i + k * lda] = 0;  // an empty column: singular without rounding
    memcpy(c.factors, c.A, sizeof c.A);
    CHECK(carom_small_lu(n, c.factors, lda, pivot) == CAROM_ERR_SINGULAR);
    memcpy(c.factors, c.A, sizeof c.A);
    CHECK(carom_dense_lu(n, c.factors, lda, pivot) == CAROM_ERR_SINGULAR);
    c = new_case(&r, true);
    n = c.n, lda = c.lda, k = (int)carom_random_below(&r, (uint32_t)n);
    c.A[k + k * lda] = -1e-3;  // a negative diagonal entry: not positive definite
    memcpy(c.factors, c.A, sizeof c.A);
    CHECK(carom_small_cholesky(n, c.factors, lda) == CAROM_ERR_SINGULAR);
  }
}

TEST(cholesky_refuses_indefinite_with_a_positive_diagonal) {
  double A[4] = {1, 2, 2, 1};  // eigenvalues 3 and -1
  CHECK(carom_small_cholesky(2, A, 2) == CAROM_ERR_SINGULAR);
  double C[4] = {1, 1, 1, 1};
  CHECK(carom_small_cholesky(2, C, 2) == CAROM_ERR_SINGULAR);  // semidefinite
}

TEST(a_nan_anywhere_is_never_a_success) {
  carom_random r = carom_random_make(4, 0);
  for (int trial = 0; trial < 200; trial++) {
    dense_case c = new_case(&r, true);
    int n = c.n, pivot[MOST], i = (int)carom_random_below(&r, (uint32_t)n),
        j = (int)carom_random_below(&r, (uint32_t)i + 1);
    c.A[i + j * c.lda] = NAN;  // in the lower triangle
    memcpy(c.factors, c.A, sizeof c.A);
    CHECK(carom_small_lu(n, c.factors, c.lda, pivot) != CAROM_OK);
    memcpy(c.factors, c.A, sizeof c.A);
    CHECK(carom_small_cholesky(n, c.factors, c.lda) != CAROM_OK);
    memcpy(c.factors, c.A, sizeof c.A);
    CHECK(carom_dense_lu(n, c.factors, c.lda, pivot) < 0);
  }
}

// A tall system of full rank: the residual is orthogonal to the columns. A wide one of rank 2: the solution of least
// norm.
TEST(least_squares_finds_the_least) {
  carom_random r = carom_random_make(6, 0);
  double A[12 * 4], kept[12 * 4], b[12], right[12];
  fill_random(&r, 4, 12, A);
  fill_random(&r, 1, 12, b);
  memcpy(kept, A, sizeof A), memcpy(right, b, sizeof b);
  int rank = 0;
  REQUIRE(carom_dense_least_squares(12, 4, A, b, 1e-12, &rank) == CAROM_OK);
  CHECK(rank == 4);
  for (int j = 0; j < 4; j++) {
    double dot = 0;
    for (int i = 0; i < 12; i++) {
      double residual = right[i];
      for (int k = 0; k < 4; k++) residual -= kept[i + 12 * k] * b[k];
      dot += residual * kept[i + 12 * j];
    }
    CHECK_NEAR(dot, 0, 1e-13);
  }
  double wide[6] = {1, 0, 0, 1, 1, 0}, y[3] = {2, 3, 0};  // x1 + x3 = 2, x2 = 3: least norm (1, 3, 1)
  REQUIRE(carom_dense_least_squares(2, 3, wide, y, 1e-12, &rank) == CAROM_OK);
  CHECK(rank == 2);
  CHECK_NEAR(y[0], 1, 1e-14);
  CHECK_NEAR(y[1], 3, 1e-14);
  CHECK_NEAR(y[2], 1, 1e-14);
  double same[4] = {1, 1, 1, 1}, z[2] = {2, 2};  // rank one
  REQUIRE(carom_dense_least_squares(2, 2, same, z, 1e-12, &rank) == CAROM_OK);
  CHECK(rank == 1);
  CHECK_NEAR(z[0], 1, 1e-14);
  CHECK_NEAR(z[1], 1, 1e-14);
  double none[1] = {0};
  CHECK(carom_dense_least_squares(600, 600, none, none, 1e-12, &rank) == CAROM_ERR_LIMIT);
}

// ---- null spaces and eigenvalues -----------------------------------------------------------------------------------

// A of a given rank, wide or tall: A N = 0, N'N = 1, as many columns as there are to be.
TEST(null_spaces_of_random_matrices) {
  carom_random r = carom_random_make(61, 0);
  for (int trial = 0; trial < 200; trial++) {
    int m = (int)carom_random_below(&r, 13), n = 1 + (int)carom_random_below(&r, 12), least = m < n ? m : n;
    int rank = (int)carom_random_below(&r, (uint32_t)least + 1), count = -1;
    double A[12 * 12] = {0}, kept[12 * 12], N[12 * 12], size = pow(10, carom_random_between(&r, -8, 8));
    for (int k = 0; k < rank; k++) {
      double u[12], v[12];
      for (int i = 0; i < 12; i++) u[i] = size * carom_random_normal(&r), v[i] = carom_random_normal(&r);
      for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++) A[i + j * m] += u[i] * v[j];
    }
    memcpy(kept, A, sizeof kept);
    REQUIRE(carom_dense_null_space(m, n, A, 1e-10, N, &count) == CAROM_OK);
    CHECK(count == n - rank);
    for (int a = 0; a < count; a++) {
      for (int i = 0; i < m; i++) {
        double sum = 0;
        for (int j = 0; j < n; j++) sum += kept[i + j * m] * N[j + a * n];
        CHECK_AT_MOST(fabs(sum), 1e-12 * size * 12);
      }
      for (int b = 0; b < count; b++) {
        double dot = 0;
        for (int j = 0; j < n; j++) dot += N[j + a * n] * N[j + b * n];
        CHECK_NEAR(dot, a == b, 1e-13);
      }
    }
  }
}

TEST(null_spaces_beyond_the_limit) {
  int count = 3;
  double A = 1, B = 1;
  CHECK(carom_dense_null_space(1, 513, &A, 1e-9, &B, &count) == CAROM_ERR_LIMIT && count == 0);
  A = NAN;
  CHECK(carom_dense_null_space(1, 1, &A, 1e-9, &B, &count) == CAROM_ERR_NUMBER && count == 0);
}

static double determinant(int n, double *A) {
  int pivot[MOST];
  double product = 1;
  if (carom_dense_lu(n, A, n, pivot) != CAROM_OK) return 0;
  for (int i = 0; i < n; i++) product *= A[i + i * n] * (pivot[i] == i + 1 ? 1 : -1);
  return product;
}

// Their sum is the trace, their product the determinant; complex ones come in pairs.
TEST(eigenvalues_of_random_matrices) {
  carom_random r = carom_random_make(62, 0);
  for (int trial = 0; trial < 100; trial++) {
    int n = 1 + (int)carom_random_below(&r, 12);
    double A[12 * 12], B[12 * 12], re[12], im[12], trace = 0, sum = 0, x = 1, y = 0, left = 0;
    fill_random(&r, n, n, A);
    memcpy(B, A, sizeof B);
    for (int i = 0; i < n; i++) trace += A[i + i * n];
    REQUIRE(carom_dense_eigenvalues(n, A, re, im) == CAROM_OK);
    for (int i = 0; i < n; i++) {
      double kept = x;
      sum += re[i], left += im[i];
      x = x * re[i] - y * im[i], y = kept * im[i] + y * re[i];
    }
    double det = determinant(n, B);
    CHECK_NEAR(sum, trace, 1e-12 * n);
    CHECK_NEAR(left, 0, 1e-12);
    CHECK_NEAR(x, det, 1e-10 * (1 + fabs(det)));
    CHECK_NEAR(y, 0, 1e-10 * (1 + fabs(det)));
  }
}

// Of a companion matrix they are the roots of the polynomial.
TEST(eigenvalues_are_roots) {
  static const double root[5][2] = {{1.5, 0}, {-0.7, 0}, {0.3, 0.9}, {0.3, -0.9}, {-2, 0}};
  double c[6][2] = {{1, 0}}, A[25] = {0}, re[5], im[5];
  for (int k = 0; k < 5; k++)  // times (z - root); c[i] belongs to z^(k - i)
    for (int i = k + 1; i > 0; i--) {
      c[i][0] -= root[k][0] * c[i - 1][0] - root[k][1] * c[i - 1][1];
      c[i][1] -= root[k][0] * c[i - 1][1] + root[k][1] * c[i - 1][0];
    }
  for (int i = 0; i < 5; i++) {
    A[0 + i * 5] = -c[i + 1][0];
    if (i < 4) A[i + 1 + i * 5] = 1;
  }
  REQUIRE(carom_dense_eigenvalues(5, A, re, im) == CAROM_OK);
  for (int k = 0; k < 5; k++) {
    double nearest = INFINITY;
    for (int i = 0; i < 5; i++) nearest = fmin(nearest, hypot(re[i] - root[k][0], im[i] - root[k][1]));
    CHECK_AT_MOST(nearest, 1e-12);
  }
  double bad[1] = {NAN};
  CHECK(carom_dense_eigenvalues(1, bad, re, im) == CAROM_ERR_NUMBER);
}

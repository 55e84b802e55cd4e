// Dense and sparse solvers: ours against LAPACK's, both against residuals; what cannot be solved must be refused.
#include <float.h>

#include "fixtures.h"
#include "math/dense.h"
#include "math/sparse.h"

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

// ---- dense -----------------------------------------------------------------------------------------------------

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
    double x[MOST], y[MOST], theirs[(MOST + 3) * MOST];
    memcpy(x, c.b, sizeof x), memcpy(y, c.b, sizeof y), memcpy(theirs, c.A, sizeof theirs);
    REQUIRE(carom_small_cholesky(c.n, c.factors, c.lda) == CAROM_OK);
    REQUIRE(carom_dense_cholesky(c.n, theirs, c.lda) == CAROM_OK);
    for (int j = 0; j < c.n; j++)
      for (int i = j; i < c.n; i++)  // the factor is unique, so that the two must agree
        CHECK_NEAR(c.factors[i + j * c.lda], theirs[i + j * c.lda], 1e-13 * sqrt(c.A[i + i * c.lda]));
    carom_small_cholesky_solve(c.n, c.factors, c.lda, x);
    REQUIRE(carom_dense_cholesky_solve(c.n, theirs, c.lda, y) == CAROM_OK);
    CHECK_AT_MOST(backward_error(c.n, c.lda, c.A, x, c.b), 4 * DBL_EPSILON);
    CHECK_AT_MOST(backward_error(c.n, c.lda, c.A, y, c.b), 4 * DBL_EPSILON);
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
    CHECK(carom_dense_cholesky(n, c.A, lda) == CAROM_ERR_SINGULAR);
  }
}

TEST(cholesky_refuses_indefinite_with_a_positive_diagonal) {
  double A[4] = {1, 2, 2, 1}, B[4] = {1, 2, 2, 1};  // eigenvalues 3 and -1
  CHECK(carom_small_cholesky(2, A, 2) == CAROM_ERR_SINGULAR);
  CHECK(carom_dense_cholesky(2, B, 2) == CAROM_ERR_SINGULAR);
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
    memcpy(c.factors, c.A, sizeof c.A);
    CHECK(carom_dense_cholesky(n, c.factors, c.lda) < 0);
  }
}

TEST(symmetric_eigenvalues_rebuild_the_matrix) {
  carom_random r = carom_random_make(5, 0);
  for (int trial = 0; trial < 30; trial++) {
    dense_case c = new_case(&r, true);
    int n = c.n;
    double d[MOST];
    REQUIRE(carom_dense_symmetric_eigen(n, c.factors, c.lda, d) == CAROM_OK);
    for (int i = 1; i < n; i++) CHECK(d[i] >= d[i - 1]);
    for (int k = 0; k < n; k++) {
      double y[MOST];
      multiply(n, c.lda, c.A, c.factors + k * c.lda, y);
      for (int i = 0; i < n; i++) CHECK_NEAR(y[i], d[k] * c.factors[i + k * c.lda], 1e-13 * d[n - 1]);
    }
  }
  double bad[1] = {NAN}, value;
  CHECK(carom_dense_symmetric_eigen(1, bad, 1, &value) < 0);
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
  REQUIRE(carom_dense_least_squares(12, 4, A, 12, b, 1e-12, &rank) == CAROM_OK);
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
  REQUIRE(carom_dense_least_squares(2, 3, wide, 2, y, 1e-12, &rank) == CAROM_OK);
  CHECK(rank == 2);
  CHECK_NEAR(y[0], 1, 1e-14);
  CHECK_NEAR(y[1], 3, 1e-14);
  CHECK_NEAR(y[2], 1, 1e-14);
  double same[4] = {1, 1, 1, 1}, z[2] = {2, 2};  // rank one
  REQUIRE(carom_dense_least_squares(2, 2, same, 2, z, 1e-12, &rank) == CAROM_OK);
  CHECK(rank == 1);
  CHECK_NEAR(z[0], 1, 1e-14);
  CHECK_NEAR(z[1], 1, 1e-14);
  double none[1] = {0};
  CHECK(carom_dense_least_squares(600, 600, none, 600, none, 1e-12, &rank) == CAROM_ERR_LIMIT);
}

// ---- sparse ----------------------------------------------------------------------------------------------------

enum { SIDE = 17, N = SIDE * SIDE, ENTRIES = 9 * N };

typedef struct sparse_case {
  int start[N + 1], row[ENTRIES];
  double value[ENTRIES];
  carom_sparse view;
} sparse_case;

static void append(sparse_case *c, int *next, int row, double value) {
  c->row[*next] = row;
  c->value[(*next)++] = value;
}

// The five-point Laplacian of a square with a random positive diagonal added; lower triangle.
static void make_laplacian(sparse_case *c, uint64_t seed) {
  carom_random r = carom_random_make(seed, 0);
  int next = 0;
  for (int j = 0; j < N; j++) {
    c->start[j] = next;
    append(c, &next, j, 4 + carom_random_uniform(&r));
    if (j % SIDE + 1 < SIDE) append(c, &next, j + 1, -1);
    if (j + SIDE < N) append(c, &next, j + SIDE, -1);
  }
  c->start[N] = next;
  c->view = (carom_sparse){N, c->start, c->row, c->value};
}

// Random entries at fixed places, not symmetric, with a zero diagonal here and there so that pivots are needed.
static void make_general(sparse_case *c, uint64_t seed) {
  carom_random r = carom_random_make(seed, 0);
  int next = 0;
  for (int j = 0; j < N; j++) {
    c->start[j] = next;
    for (int i = 0; i < N; i++)
      if (i == j || i == (j + 1) % N || i == (7 * j + 3) % N || i == (j + 20) % N)
        append(c, &next, i, i == j && j % 3 == 0 ? 0 : carom_random_normal(&r));
  }
  c->start[N] = next;
  c->view = (carom_sparse){N, c->start, c->row, c->value};
}

static double sparse_residual(carom_sparse_kind kind, const carom_sparse *A, const double *x, const double *b) {
  double y[N];
  carom_sparse_multiply(kind, A, x, y);
  for (int i = 0; i < N; i++) y[i] -= b[i];
  return largest(N, y) / fmax(largest(N, x), largest(N, b));
}

// KLU prefers sparse pivots to large ones (down to a thousandth of the largest), which costs some digits.
static const double RESIDUAL[] = {[CAROM_SPARSE_POSITIVE_DEFINITE] = 1e-14, [CAROM_SPARSE_GENERAL] = 1e-9};

static void check_solver(carom_sparse_kind kind, void (*make)(sparse_case *, uint64_t)) {
  static sparse_case c;
  make(&c, 100);
  carom_sparse_solver *solver = NULL;
  carom_error error = {0};
  REQUIRE(carom_sparse_solver_create(kind, &c.view, NULL, &solver, &error) == CAROM_OK);
  for (uint64_t seed = 1; seed < 20; seed++) {  // new values on the old pattern
    make(&c, seed);
    REQUIRE(carom_sparse_factor(solver, &c.view) == CAROM_OK);
    carom_random r = carom_random_make(seed, 1);
    for (int k = 0; k < 3; k++) {
      double b[N], x[N];
      for (int i = 0; i < N; i++) x[i] = b[i] = carom_random_normal(&r);
      REQUIRE(carom_sparse_solve(solver, x) == CAROM_OK);
      CHECK_AT_MOST(sparse_residual(kind, &c.view, x, b), RESIDUAL[kind]);
    }
  }
  carom_sparse smaller = c.view;
  smaller.n = N - 1;
  CHECK(carom_sparse_factor(solver, &smaller) == CAROM_ERR_ARGUMENT);
  carom_sparse_solver_destroy(solver);
}

TEST(sparse_positive_definite_systems) { check_solver(CAROM_SPARSE_POSITIVE_DEFINITE, make_laplacian); }
TEST(sparse_general_systems) { check_solver(CAROM_SPARSE_GENERAL, make_general); }

TEST(sparse_multiply_is_dense_multiply) {
  static sparse_case c;
  static double D[N * N];
  for (int kind = 0; kind < 2; kind++) {
    (kind ? make_general : make_laplacian)(&c, 3);
    memset(D, 0, sizeof D);
    for (int j = 0; j < N; j++)
      for (int k = c.start[j]; k < c.start[j + 1]; k++) {
        D[c.row[k] + N * j] = c.value[k];
        if (!kind) D[j + N * c.row[k]] = c.value[k];
      }
    double x[N], y[N], z[N];
    carom_random r = carom_random_make(4, 0);
    for (int i = 0; i < N; i++) x[i] = carom_random_normal(&r);
    multiply(N, N, D, x, y);
    carom_sparse_multiply(kind ? CAROM_SPARSE_GENERAL : CAROM_SPARSE_POSITIVE_DEFINITE, &c.view, x, z);
    for (int i = 0; i < N; i++) CHECK_NEAR(z[i], y[i], 1e-13);
  }
}

// What must be refused; and after that a good matrix must work again with the same solver.
static void check_refused(carom_sparse_kind kind, void (*make)(sparse_case *, uint64_t), void (*spoil)(sparse_case *)) {
  static sparse_case c;
  make(&c, 1);
  carom_sparse_solver *solver = NULL;
  REQUIRE(carom_sparse_solver_create(kind, &c.view, NULL, &solver, NULL) == CAROM_OK);
  spoil(&c);
  CHECK(carom_sparse_factor(solver, &c.view) == CAROM_ERR_SINGULAR);
  make(&c, 2);
  CHECK(carom_sparse_factor(solver, &c.view) == CAROM_OK);
  double b[N], x[N];
  for (int i = 0; i < N; i++) x[i] = b[i] = i % 7 - 3;
  REQUIRE(carom_sparse_solve(solver, x) == CAROM_OK);
  CHECK_AT_MOST(sparse_residual(kind, &c.view, x, b), RESIDUAL[kind]);
  carom_sparse_solver_destroy(solver);
}

static void negate_one(sparse_case *c) { c->value[c->start[40]] = -3; }
static void clear_one_column(sparse_case *c) {
  for (int k = c->start[40]; k < c->start[41]; k++) c->value[k] = 0;
}
static void clear_all(sparse_case *c) { memset(c->value, 0, sizeof c->value); }
static void put_nan(sparse_case *c) { c->value[c->start[40]] = NAN; }

TEST(sparse_positive_definite_refuses_indefinite) {
  check_refused(CAROM_SPARSE_POSITIVE_DEFINITE, make_laplacian, negate_one);
}
TEST(sparse_positive_definite_refuses_zero) {
  check_refused(CAROM_SPARSE_POSITIVE_DEFINITE, make_laplacian, clear_all);
}
TEST(sparse_positive_definite_refuses_nan) { check_refused(CAROM_SPARSE_POSITIVE_DEFINITE, make_laplacian, put_nan); }
TEST(sparse_general_refuses_an_empty_column) { check_refused(CAROM_SPARSE_GENERAL, make_general, clear_one_column); }
TEST(sparse_general_refuses_zero) { check_refused(CAROM_SPARSE_GENERAL, make_general, clear_all); }
TEST(sparse_general_refuses_nan) { check_refused(CAROM_SPARSE_GENERAL, make_general, put_nan); }

// Row 5 twice: numerically singular, though no pivot need come out as an exact zero.
static void make_small_dense(sparse_case *c, uint64_t seed) {
  carom_random r = carom_random_make(seed, 0);
  int next = 0;
  for (int j = 0; j < 12; j++) {
    c->start[j] = next;
    for (int i = 0; i < 12; i++) append(c, &next, i, i == 6 ? c->value[next - 1] : carom_random_normal(&r));
  }
  c->start[12] = next;
  c->view = (carom_sparse){12, c->start, c->row, c->value};
}

TEST(sparse_general_refuses_two_equal_rows) {
  static sparse_case c;
  for (uint64_t seed = 0; seed < 50; seed++) {
    make_small_dense(&c, seed);
    carom_sparse_solver *solver = NULL;
    REQUIRE(carom_sparse_solver_create(CAROM_SPARSE_GENERAL, &c.view, NULL, &solver, NULL) == CAROM_OK);
    CHECK(carom_sparse_factor(solver, &c.view) == CAROM_ERR_SINGULAR);
    carom_sparse_solver_destroy(solver);
  }
}

TEST(solving_without_factors_is_refused) {
  static sparse_case c;
  for (int kind = 0; kind < 2; kind++) {
    (kind ? make_general : make_laplacian)(&c, 1);
    carom_sparse_kind which = kind ? CAROM_SPARSE_GENERAL : CAROM_SPARSE_POSITIVE_DEFINITE;
    carom_sparse_solver *solver = NULL;
    REQUIRE(carom_sparse_solver_create(which, &c.view, NULL, &solver, NULL) == CAROM_OK);
    double b[N] = {1};
    CHECK(carom_sparse_solve(solver, b) == CAROM_ERR_SINGULAR);  // nothing factored yet
    clear_all(&c);
    CHECK(carom_sparse_factor(solver, &c.view) == CAROM_ERR_SINGULAR);
    CHECK(carom_sparse_solve(solver, b) == CAROM_ERR_SINGULAR);  // the factorisation failed
    carom_sparse_solver_destroy(solver);
  }
}

static void *refuse(void *context, size_t size) {
  (void)context, (void)size;
  return NULL;
}

TEST(a_solver_needs_memory_and_a_sound_pattern) {
  static sparse_case c;
  make_laplacian(&c, 1);
  carom_sparse_solver *solver = NULL;
  carom_error error = {0};
  carom_allocator poor = {.allocate = refuse};
  CHECK(carom_sparse_solver_create(CAROM_SPARSE_GENERAL, &c.view, &poor, &solver, &error) == CAROM_ERR_MEMORY);
  CHECK_CONTAINS(error.message, "out of memory");
  static const int column_start[] = {0, 1}, row[] = {5};  // row 5 of 1
  static const double value[] = {1};
  carom_sparse malformed = {1, column_start, row, value};
  CHECK(carom_sparse_solver_create(CAROM_SPARSE_GENERAL, &malformed, NULL, &solver, &error) < 0);
  CHECK_CONTAINS(error.message, "malformed");
  CHECK(solver == NULL);
}

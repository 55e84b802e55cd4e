// Splines and kriging against what they must be: interpolation, cubics, dense formulas, finite differences, quadrature.
#include "carom/surrogate.h"
#include "test.h"

// ---- splines --------------------------------------------------------------------------------------------------------

enum { MOST = 24 };

static int random_knots(carom_random *random, double *x) {
  int n = 2 + (int)carom_random_below(random, 12);
  x[0] = carom_random_between(random, -2, 2);
  for (int i = 1; i < n; i++) x[i] = x[i - 1] + carom_random_between(random, 0.02, 1);
  return n;
}

TEST(spline_goes_through_its_samples) {
  carom_random random = carom_random_make(3, 1);
  double x[MOST], y[MOST], second[MOST], work[2 * MOST];
  for (int trial = 0; trial < 400; trial++) {
    carom_spline s = {random_knots(&random, x), x, y, second};
    for (int i = 0; i < s.count; i++) y[i] = carom_random_between(&random, -5, 5);
    REQUIRE(carom_spline_fit(&s, (carom_spline_end)(trial % 2), work) == CAROM_OK);
    for (int i = 0; i < s.count; i++) CHECK_NEAR(carom_spline_value(&s, x[i], NULL), y[i], 1e-10);
  }
}

// Value, slope and curvature go on at the knots; at the ends the third derivative (not a knot) or no curvature.
TEST(spline_is_smooth_and_ends_as_it_should) {
  carom_random random = carom_random_make(4, 1);
  double x[MOST], y[MOST], second[MOST], work[2 * MOST];
  for (int trial = 0; trial < 200; trial++) {
    carom_spline s = {random_knots(&random, x), x, y, second};
    carom_spline_end end = (carom_spline_end)(trial % 2);
    for (int i = 0; i < s.count; i++) y[i] = carom_random_between(&random, -5, 5);
    REQUIRE(carom_spline_fit(&s, end, work) == CAROM_OK);
    for (int i = 1; i + 1 < s.count; i++) {
      double left, right, e = 1e-9;
      carom_spline_value(&s, x[i] - e, &left);
      carom_spline_value(&s, x[i] + e, &right);
      CHECK_NEAR(right, left, 1e-5 * (1 + fabs(left)) + 4 * e * fabs(second[i]));
    }
    if (end == CAROM_SPLINE_NATURAL) CHECK_NEAR(second[0], 0, 0);
    if (end == CAROM_SPLINE_NATURAL) CHECK_NEAR(second[s.count - 1], 0, 0);
    if (end == CAROM_SPLINE_NOT_A_KNOT && s.count > 3)
      CHECK_NEAR((second[1] - second[0]) / (x[1] - x[0]), (second[2] - second[1]) / (x[2] - x[1]),
                 1e-7 * (1 + fabs(second[0]) + fabs(second[2])) / (x[1] - x[0]));
  }
}

TEST(spline_reproduces_cubics) {
  carom_random random = carom_random_make(5, 1);
  double x[MOST], y[MOST], second[MOST], work[2 * MOST], c[4];
  for (int trial = 0; trial < 300; trial++) {
    int n = random_knots(&random, x), degree = n > 4 ? 3 : n - 1;  // with n points only so much is determined
    carom_spline s = {n, x, y, second};
    for (int k = 0; k < 4; k++) c[k] = k <= degree ? carom_random_between(&random, -1, 1) : 0;
    for (int i = 0; i < n; i++) y[i] = c[0] + x[i] * (c[1] + x[i] * (c[2] + x[i] * c[3]));
    REQUIRE(carom_spline_fit(&s, CAROM_SPLINE_NOT_A_KNOT, work) == CAROM_OK);
    for (int k = 0; k < 20; k++) {
      double t = x[0] - 0.3 + (x[n - 1] - x[0] + 0.6) * k / 19, slope;
      double scale = 1 + fabs(t * t * t);
      CHECK_NEAR(carom_spline_value(&s, t, &slope), c[0] + t * (c[1] + t * (c[2] + t * c[3])),
                 1e-9 * scale / (x[1] - x[0]));
      CHECK_NEAR(slope, c[1] + t * (2 * c[2] + 3 * t * c[3]), 1e-8 * scale / (x[1] - x[0]));
    }
  }
}

TEST(spline_least_is_that_of_a_fine_grid) {
  carom_random random = carom_random_make(6, 1);
  double x[MOST], y[MOST], second[MOST], work[2 * MOST];
  for (int trial = 0; trial < 200; trial++) {
    carom_spline s = {random_knots(&random, x), x, y, second};
    for (int i = 0; i < s.count; i++) y[i] = carom_random_between(&random, -1, 1);
    REQUIRE(carom_spline_fit(&s, (carom_spline_end)(trial % 2), work) == CAROM_OK);
    double low = x[0] - 0.2, high = x[s.count - 1] + 0.1, at, grid = INFINITY;
    if (trial % 3 == 0) low = x[0] + 0.3 * (x[1] - x[0]);
    double least = carom_spline_least(&s, low, high, &at);
    for (int k = 0; k <= 20000; k++) grid = fmin(grid, carom_spline_value(&s, low + (high - low) * k / 20000, NULL));
    CHECK(at >= low && at <= high);
    CHECK_NEAR(carom_spline_value(&s, at, NULL), least, 1e-12);
    CHECK(least <= grid + 1e-12);
    CHECK_NEAR(least, grid, 1e-3 * (1 + fabs(grid)));
  }
}

TEST(spline_refuses_what_does_not_ascend) {
  double x[] = {0, 1, 1}, y[] = {0, 1, 2}, second[3], work[6];
  CHECK(carom_spline_fit(&(carom_spline){3, x, y, second}, CAROM_SPLINE_NATURAL, work) == CAROM_ERR_ARGUMENT);
  CHECK(carom_spline_fit(&(carom_spline){1, x, y, second}, CAROM_SPLINE_NATURAL, work) == CAROM_ERR_ARGUMENT);
}

// ---- kriging --------------------------------------------------------------------------------------------------------

enum { DIM = 3, COUNT = 9 };

typedef struct samples {
  int d, n;
  double x[COUNT * DIM], y[COUNT], lengths[DIM], nugget;
  carom_kernel kernel;
  carom_trend trend;
  carom_kriging *k;
} samples;

static samples make_samples(carom_random *random, int trial) {
  samples s = {
      .d = 1 + trial % DIM, .n = 5 + (int)carom_random_below(random, 5), .kernel = (carom_kernel)(trial / 2 % 2)};
  s.trend = trial % 5 == 0 ? CAROM_TREND_LINEAR : CAROM_TREND_CONSTANT;
  s.nugget = trial % 3 ? 1e-8 : 0.05;
  for (int i = 0; i < s.n * s.d; i++) s.x[i] = carom_random_uniform(random);
  for (int i = 0; i < s.n; i++) s.y[i] = carom_random_normal(random);
  for (int i = 0; i < s.d; i++) s.lengths[i] = carom_random_between(random, 0.2, 0.8);
  if (carom_kriging_create(s.d, COUNT, s.trend, NULL, &s.k, NULL) != CAROM_OK) return s;
  carom_kriging_samples(s.k, s.n, s.x, s.y, NULL);
  if (carom_kriging_set(s.k, s.kernel, s.lengths, s.nugget) != CAROM_OK) carom_kriging_destroy(s.k), s.k = NULL;
  return s;
}

TEST(kriging_goes_through_samples_without_noise) {
  carom_random random = carom_random_make(7, 1);
  for (int trial = 0; trial < 100; trial++) {
    samples s = make_samples(&random, trial);
    if (!s.k || s.nugget > 1e-6) {
      carom_kriging_destroy(s.k);
      continue;
    }
    double far[DIM] = {1e6, 1e6, 1e6}, mean, deviation, most;
    carom_kriging_info info = carom_kriging_describe(s.k);
    carom_kriging_predict(s.k, far, &mean, &most);
    if (s.trend == CAROM_TREND_CONSTANT) CHECK_NEAR(mean, info.trend[0], 1e-9 * (1 + fabs(mean)));
    for (int i = 0; i < s.n; i++) {
      carom_kriging_predict(s.k, s.x + i * s.d, &mean, &deviation);
      CHECK_NEAR(mean, s.y[i], 1e-3 * sqrt(info.variance));
      CHECK(deviation <= 1e-3 * most);
    }
    carom_kriging_destroy(s.k);
  }
}

// Solves A x = b by Gauss with pivots; A is destroyed. Returns ln |det A|.
static double solve_dense(int n, double *A, double *b) {
  double log_det = 0;
  for (int j = 0; j < n; j++) {
    int pivot = j;
    for (int i = j; i < n; i++)
      if (fabs(A[i * n + j]) > fabs(A[pivot * n + j])) pivot = i;
    for (int k = 0; k < n; k++) {
      double t = A[j * n + k];
      A[j * n + k] = A[pivot * n + k], A[pivot * n + k] = t;
    }
    double t = b[j];
    b[j] = b[pivot], b[pivot] = t;
    log_det += log(fabs(A[j * n + j]));
    for (int i = 0; i < n; i++) {
      double f = i == j ? 0 : A[i * n + j] / A[j * n + j];
      for (int k = j; k < n; k++) A[i * n + k] -= f * A[j * n + k];
      b[i] -= f * b[j];
    }
  }
  for (int j = 0; j < n; j++) b[j] /= A[j * n + j];
  return log_det;
}

static double dense_correlation(const samples *s, const double *a, const double *b) {
  double r2 = 0;
  for (int i = 0; i < s->d; i++) r2 += pow((a[i] - b[i]) / s->lengths[i], 2);
  double r = sqrt(r2);
  return s->kernel == CAROM_KERNEL_GAUSS ? exp(-r2 / 2) : (1 + sqrt(5) * r + 5 * r2 / 3) * exp(-sqrt(5) * r);
}

// C^-1 b, and half of ln det C.
static double dense_solve_C(const samples *s, double *b) {
  double C[COUNT * COUNT];
  for (int i = 0; i < s->n; i++)
    for (int j = 0; j < s->n; j++)
      C[i * s->n + j] = dense_correlation(s, s->x + i * s->d, s->x + j * s->d) + (i == j ? s->nugget : 0);
  return solve_dense(s->n, C, b) / 2;
}

// With a constant trend: mu = 1'C^-1 y/1'C^-1 1, s^2 = (y - mu)'C^-1(y - mu)/n, all by another elimination.
TEST(kriging_agrees_with_dense_formulas) {
  carom_random random = carom_random_make(8, 1);
  int done = 0;
  for (int trial = 1; trial < 120; trial++) {
    if (trial % 5 == 0) continue;
    samples s = make_samples(&random, trial);
    if (!s.k) continue;
    double one[COUNT], Cy[COUNT], rest[COUNT], top = 0, bottom = 0, sum = 0;
    for (int i = 0; i < s.n; i++) one[i] = 1, Cy[i] = s.y[i];
    double half_log_det = dense_solve_C(&s, one);
    dense_solve_C(&s, Cy);
    for (int i = 0; i < s.n; i++) top += Cy[i], bottom += one[i];
    double mu = top / bottom;
    for (int i = 0; i < s.n; i++) rest[i] = s.y[i] - mu;
    dense_solve_C(&s, rest);
    for (int i = 0; i < s.n; i++) sum += (s.y[i] - mu) * rest[i];
    double s2 = sum / s.n, expected = -0.5 * s.n * (log(2 * 3.141592653589793 * s2) + 1) - half_log_det;
    CHECK_NEAR(carom_kriging_likelihood(s.k, NULL), expected, 1e-5 * (1 + fabs(expected)));
    double at[DIM], r[COUNT], Cr[COUNT], mean, deviation, m = mu, rCr = 0, oneCr = 0;
    for (int i = 0; i < s.d; i++) at[i] = carom_random_uniform(&random);
    for (int i = 0; i < s.n; i++) Cr[i] = r[i] = dense_correlation(&s, at, s.x + i * s.d);
    dense_solve_C(&s, Cr);
    for (int i = 0; i < s.n; i++) m += r[i] * rest[i], rCr += r[i] * Cr[i], oneCr += Cr[i];
    double variance = s2 * s.n / (s.n - 1) * (1 - rCr + (1 - oneCr) * (1 - oneCr) / bottom);
    carom_kriging_predict(s.k, at, &mean, &deviation);
    CHECK_NEAR(mean, m, 1e-5 * (1 + fabs(m)));
    CHECK_NEAR(deviation * deviation, variance, 1e-5 * s2);
    carom_kriging_destroy(s.k);
    done++;
  }
  CHECK(done > 60);
}

TEST(kriging_likelihood_has_its_slopes) {
  carom_random random = carom_random_make(9, 1);
  for (int trial = 0; trial < 60; trial++) {
    samples s = make_samples(&random, trial);
    if (!s.k) continue;
    double slopes[DIM + 1], value[2], e = 1e-5;
    carom_kriging_likelihood(s.k, slopes);
    for (int i = 0; i <= s.d; i++) {
      for (int side = 0; side < 2; side++) {
        double lengths[DIM], nugget = s.nugget, f = exp(side ? e : -e);
        for (int j = 0; j < s.d; j++) lengths[j] = s.lengths[j] * (i == j ? f : 1);
        if (i == s.d) nugget *= f;
        REQUIRE(carom_kriging_set(s.k, s.kernel, lengths, nugget) == CAROM_OK);
        value[side] = carom_kriging_likelihood(s.k, NULL);
      }
      CHECK_NEAR(slopes[i], (value[1] - value[0]) / (2 * e), 2e-4 * (1 + fabs(slopes[i])));
    }
    carom_kriging_destroy(s.k);
  }
}

TEST(kriging_with_a_linear_trend_reproduces_planes) {
  carom_random random = carom_random_make(10, 1);
  carom_kriging *k;
  double x[8 * 2], y[8], lengths[2] = {0.4, 0.3}, mean, deviation, at[2] = {1.7, -0.4};
  REQUIRE(carom_kriging_create(2, 8, CAROM_TREND_LINEAR, NULL, &k, NULL) == CAROM_OK);
  for (int i = 0; i < 16; i++) x[i] = carom_random_uniform(&random);
  for (int i = 0; i < 8; i++) y[i] = 3 - 2 * x[2 * i] + 5 * x[2 * i + 1];
  REQUIRE(carom_kriging_samples(k, 8, x, y, NULL) == CAROM_OK);
  REQUIRE(carom_kriging_set(k, CAROM_KERNEL_MATERN, lengths, 1e-10) == CAROM_OK);
  carom_kriging_predict(k, at, &mean, &deviation);
  CHECK_NEAR(mean, 3 - 2 * at[0] + 5 * at[1], 1e-8);
  carom_kriging_destroy(k);
}

// The fit has a likelihood (with its prior) that no other lengths beat; it sees noise where there is, and none where
// not.
TEST(kriging_fit_finds_lengths_and_noise) {
  carom_random random = carom_random_make(11, 1);
  carom_kriging *k;
  double x[40 * 2], y[40], z[40];
  REQUIRE(carom_kriging_create(2, 40, CAROM_TREND_CONSTANT, NULL, &k, NULL) == CAROM_OK);
  for (int i = 0; i < 80; i++) x[i] = carom_random_uniform(&random);
  for (int i = 0; i < 40; i++) {
    y[i] = sin(6 * x[2 * i]) + 0.2 * x[2 * i + 1];
    z[i] = y[i] + 0.2 * carom_random_normal(&random);
  }
  REQUIRE(carom_kriging_samples(k, 40, x, y, NULL) == CAROM_OK && carom_kriging_fit(k, true) == CAROM_OK);
  carom_kriging_info smooth = carom_kriging_describe(k);
  CHECK(smooth.nugget < 1e-8);
  CHECK(smooth.lengths[1] > 2 * smooth.lengths[0]);  // it hardly depends on the second
  REQUIRE(carom_kriging_samples(k, 40, x, z, NULL) == CAROM_OK && carom_kriging_fit(k, true) == CAROM_OK);
  carom_kriging_info noisy = carom_kriging_describe(k);
  double deviation = sqrt(noisy.nugget * noisy.variance);
  CHECK(deviation > 0.1 && deviation < 0.4);
  carom_kriging_destroy(k);
}

TEST(kriging_does_not_mind_the_order_of_samples) {
  carom_random random = carom_random_make(12, 1);
  carom_kriging *k;
  double x[12], y[12], u[12], v[12], mean[2], deviation[2], at = 0.37;
  REQUIRE(carom_kriging_create(1, 12, CAROM_TREND_CONSTANT, NULL, &k, NULL) == CAROM_OK);
  for (int i = 0; i < 12; i++) x[i] = (i + carom_random_uniform(&random)) / 12, y[i] = cos(5 * x[i]);
  for (int i = 0; i < 12; i++) u[i] = x[(5 * i + 3) % 12], v[i] = y[(5 * i + 3) % 12];
  for (int side = 0; side < 2; side++) {
    carom_kriging_samples(k, 12, side ? u : x, side ? v : y, NULL);
    REQUIRE(carom_kriging_fit(k, true) == CAROM_OK);
    carom_kriging_predict(k, &at, &mean[side], &deviation[side]);
  }
  CHECK_NEAR(mean[1], mean[0], 1e-5);
  carom_kriging_destroy(k);
}

TEST(kriging_refuses_what_it_cannot_take) {
  carom_kriging *k = NULL;
  carom_error error = {0};
  double x[2] = {0, NAN}, y[2] = {1, 2}, good[2] = {0, 1}, bad[2] = {1, INFINITY};
  CHECK(carom_kriging_create(0, 4, CAROM_TREND_CONSTANT, NULL, &k, &error) == CAROM_ERR_ARGUMENT && !k);
  CHECK(carom_kriging_create(17, 4, CAROM_TREND_CONSTANT, NULL, &k, &error) == CAROM_ERR_ARGUMENT && !k);
  REQUIRE(carom_kriging_create(1, 2, CAROM_TREND_CONSTANT, NULL, &k, &error) == CAROM_OK);
  CHECK(carom_kriging_samples(k, 2, x, y, &error) == CAROM_ERR_NUMBER);
  CHECK(carom_kriging_samples(k, 2, good, bad, &error) == CAROM_ERR_NUMBER);
  CHECK(carom_kriging_samples(k, 3, good, y, &error) == CAROM_ERR_ARGUMENT);
  carom_kriging_destroy(k);
}

// ---- expected improvement -------------------------------------------------------------------------------------------

// By Simpson's rule over the density.
static double improvement_by_quadrature(double mean, double deviation, double best) {
  int n = 20000;
  double low = mean - 12 * deviation, sum = 0;
  if (best < low) low = best - deviation;
  double h = (best - low) / n;
  for (int i = 0; i <= n; i++) {
    double y = low + h * i, z = (y - mean) / deviation;
    sum += (i == 0 || i == n ? 1 : i % 2 ? 4 : 2) * (best - y) * exp(-z * z / 2);
  }
  return sum * h / 3 / (deviation * sqrt(2 * 3.141592653589793));
}

TEST(improvement_agrees_with_quadrature) {
  carom_random random = carom_random_make(13, 1);
  for (int trial = 0; trial < 300; trial++) {
    double deviation = exp(carom_random_between(&random, -3, 3)), mean = carom_random_between(&random, -2, 2);
    double best = mean + deviation * carom_random_between(&random, -6, 4);
    double expected = log(improvement_by_quadrature(mean, deviation, best));
    CHECK_NEAR(carom_log_improvement(mean, deviation, best), expected, 1e-6 * (1 + fabs(expected)));
  }
}

// Where it underflows: h(z) ~ phi(z)/z^2 (1 - 3/z^2 + 15/z^4), and it must fall steadily.
TEST(improvement_is_right_far_below) {
  double before = carom_log_improvement(0, 1, 0);
  for (double z = 0.05; z < 400; z *= 1.03) {
    double value = carom_log_improvement(0, 1, -z);
    CHECK(isfinite(value) && value < before);
    before = value;
    if (z < 30) continue;
    double series = -z * z / 2 - 0.5 * log(2 * 3.141592653589793) - 2 * log(z) + log(1 - 3 / (z * z) + 15 / pow(z, 4));
    CHECK_NEAR(value, series, 1e-6 * fabs(series));
  }
  CHECK(carom_log_improvement(1, 0, 0) == -INFINITY);
  CHECK_NEAR(carom_log_improvement(-2, 0, 0), log(2), 1e-15);
}

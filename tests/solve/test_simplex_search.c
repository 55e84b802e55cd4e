#include "solve/simplex_search.h"
#include "test.h"

static void needs_nlopt(void) {
  if (!carom_simplex_available()) test_skip("built without NLopt");
}

static carom_simplex search_of(int n, const double *low, const double *high, carom_simplex_function *value) {
  carom_simplex s = carom_simplex_default();
  s.n = n, s.low = low, s.high = high, s.value = value;
  return s;
}

static double rosenbrock(void *context, const double *x) {
  (void)context;
  return 100 * pow(x[1] - x[0] * x[0], 2) + pow(1 - x[0], 2);
}

static const double square_low[2] = {-2, -2}, square_high[2] = {2, 2};

TEST(rosenbrock_valley) {
  needs_nlopt();
  carom_simplex s = search_of(2, square_low, square_high, rosenbrock);
  double x[2] = {-1.2, 1};
  carom_simplex_info info;
  REQUIRE(carom_simplex_minimise(&s, x, &info, NULL) == CAROM_OK);
  CHECK_NEAR(x[0], 1, 1e-6);
  CHECK_NEAR(x[1], 1, 1e-6);
  CHECK(info.within && info.failures == 0 && info.best_start == 0);
  CHECK(info.value == rosenbrock(NULL, x));
}

// The least value on the border x0 = 0.5 is where x1 = x0^2.
TEST(bounds_hold) {
  needs_nlopt();
  const double low[2] = {-2, -2}, high[2] = {0.5, 2};
  carom_simplex s = search_of(2, low, high, rosenbrock);
  double x[2] = {7, -9};  // brought within
  carom_simplex_info info;
  REQUIRE(carom_simplex_minimise(&s, x, &info, NULL) == CAROM_OK);
  CHECK_NEAR(x[0], 0.5, 1e-12);
  CHECK_NEAR(x[1], 0.25, 1e-6);
  CHECK_NEAR(info.value, 0.25, 1e-9);
}

// ---- largest residuals ---------------------------------------------------------------------------------------------

enum { POINTS = 15 };

typedef struct cloud {
  double t[POINTS], y[POINTS];
} cloud;

static double line_residual(void *context, const double *x) {
  const cloud *c = context;
  double most = 0;
  for (int i = 0; i < POINTS; i++) most = fmax(most, fabs(c->y[i] - x[0] - x[1] * c->t[i]));
  return most;
}

// Of a line through three points that misses each by as much, in turns: the least largest residual of all three. That
// of the cloud is the largest one over its triples (de la Vallee Poussin).
static double levelled(const cloud *c, int i, int j, int k) {
  double w = (c->t[j] - c->t[i]) / (c->t[k] - c->t[i]);
  return fabs(c->y[j] - (1 - w) * c->y[i] - w * c->y[k]) / 2;
}

static double least_residual(const cloud *c) {
  double most = 0;
  for (int i = 0; i < POINTS; i++)
    for (int j = i + 1; j < POINTS; j++)
      for (int k = j + 1; k < POINTS; k++) most = fmax(most, levelled(c, i, j, k));
  return most;
}

TEST(lines_of_least_largest_residual) {
  needs_nlopt();
  carom_random random = carom_random_make(11, 0);
  const double low[2] = {-10, -10}, high[2] = {10, 10};
  for (int round = 0; round < 50; round++) {
    cloud c;
    for (int i = 0; i < POINTS; i++) c.t[i] = i * 0.2, c.y[i] = 0.5 * c.t[i] - 1 + carom_random_normal(&random);
    carom_simplex s = search_of(2, low, high, line_residual);
    s.context = &c, s.starts = 3;
    double x[2] = {0, 0};
    carom_simplex_info info;
    REQUIRE(carom_simplex_minimise(&s, x, &info, NULL) == CAROM_OK);
    CHECK_NEAR(info.value, least_residual(&c), 1e-6);
  }
}

// Points that are alternately inside and outside of a circle by d: no circle is nearer to four of them than d.
static double circle_residual(void *context, const double *x) {
  const double scale = *(const double *)context, d = 0.01;
  double most = 0;
  for (int i = 0; i < 8; i++) {
    double angle = 0.3 + i * acos(-1) / 4, r = scale * (1 + (i % 2 ? d : -d));
    most = fmax(most, fabs(hypot(3 * scale + r * cos(angle) - x[0], r * sin(angle) - x[1]) - x[2]));
  }
  return most / scale;
}

TEST(circles_at_all_scales) {
  needs_nlopt();
  const double scales[4] = {1e-6, 1e-3, 1, 1e3};
  for (int k = 0; k < 4; k++) {
    double scale = scales[k];
    const double low[3] = {-5 * scale, -5 * scale, 0.1 * scale}, high[3] = {5 * scale, 5 * scale, 4 * scale};
    carom_simplex s = search_of(3, low, high, circle_residual);
    s.context = &scale, s.starts = 4, s.budget = 20000;
    double x[3] = {0, 0, scale};
    carom_simplex_info info;
    REQUIRE(carom_simplex_minimise(&s, x, &info, NULL) == CAROM_OK);
    CHECK_NEAR(info.value, 0.01, 1e-6);
    CHECK_NEAR(x[0] / scale, 3, 1e-5);
    CHECK_NEAR(x[1] / scale, 0, 1e-5);
    CHECK_NEAR(x[2] / scale, 1, 1e-5);
  }
}

// Ranges of 1e-6 and of 1e6 at once.
static double uneven(void *context, const double *x) {
  (void)context;
  return fabs(x[0] / 1e-6 - 0.3) + fabs(x[1] / 1e6 + 0.2) + fabs(x[2] - 0.1 - x[1] / 1e6);
}

TEST(uneven_ranges) {
  needs_nlopt();
  const double low[3] = {-1e-6, -1e6, -1}, high[3] = {1e-6, 1e6, 1};
  carom_simplex s = search_of(3, low, high, uneven);
  s.starts = 3, s.budget = 20000;
  double x[3] = {0, 0, 0};
  carom_simplex_info info;
  REQUIRE(carom_simplex_minimise(&s, x, &info, NULL) == CAROM_OK);
  CHECK_NEAR(x[0] / 1e-6, 0.3, 1e-6);
  CHECK_NEAR(x[1] / 1e6, -0.2, 1e-6);
  CHECK_NEAR(x[2], -0.1, 1e-6);
}

// ---- what may go wrong ---------------------------------------------------------------------------------------------

// Two pits; the deeper one is narrow and far from the start.
static double pits(void *context, const double *x) {
  (void)context;
  double a = hypot(x[0] + 1, x[1] + 1), b = hypot(x[0] - 1.5, x[1] - 1.5);
  return fmin(0.5 + a, 3 * b);
}

TEST(random_starts_find_the_deeper_pit) {
  needs_nlopt();
  carom_simplex s = search_of(2, square_low, square_high, pits);
  s.budget = 10000;
  double alone[2] = {-1.1, -0.9}, many[2] = {-1.1, -0.9};
  carom_simplex_info info;
  REQUIRE(carom_simplex_minimise(&s, alone, &info, NULL) == CAROM_OK);
  CHECK_NEAR(info.value, 0.5, 1e-6);
  s.starts = 12;
  REQUIRE(carom_simplex_minimise(&s, many, &info, NULL) == CAROM_OK);
  CHECK_NEAR(info.value, 0, 1e-6);
  CHECK(info.best_start > 0);
}

TEST(the_same_answer_again) {
  needs_nlopt();
  carom_simplex s = search_of(2, square_low, square_high, pits);
  s.starts = 5, s.budget = 20000;
  double x[2] = {0, 0}, y[2] = {0, 0};
  carom_simplex_info a, b;
  REQUIRE(carom_simplex_minimise(&s, x, &a, NULL) == CAROM_OK && carom_simplex_minimise(&s, y, &b, NULL) == CAROM_OK);
  CHECK(memcmp(x, y, sizeof x) == 0 && a.evaluations == b.evaluations);
  s.seed = 2;
  double z[2] = {0, 0};
  REQUIRE(carom_simplex_minimise(&s, z, &b, NULL) == CAROM_OK);
  CHECK(a.evaluations != b.evaluations);  // other points
}

typedef struct counter {
  int calls, fail_from;
} counter;

static double counted(void *context, const double *x) {
  counter *c = context;
  return c->calls++ >= c->fail_from ? (double)NAN : rosenbrock(NULL, x);
}

TEST(the_budget_holds) {
  needs_nlopt();
  for (int budget = 1; budget < 60; budget += 7) {
    counter c = {.fail_from = 1000000};
    carom_simplex s = search_of(2, square_low, square_high, counted);
    s.context = &c, s.budget = budget, s.starts = 3;
    double x[2] = {-1.2, 1};
    carom_simplex_info info;
    REQUIRE(carom_simplex_minimise(&s, x, &info, NULL) == CAROM_OK);
    CHECK(c.calls == budget && info.evaluations == budget && !info.within);
    CHECK(info.value == rosenbrock(NULL, x) && info.value <= rosenbrock(NULL, (double[2]){-1.2, 1}) * (1 + 1e-12));
  }
}

// Nothing is known beyond a circle through the minimum's neighbourhood.
static double cut_off(void *context, const double *x) {
  double value = rosenbrock(context, x);
  return hypot(x[0], x[1]) > 1.5 ? (double)NAN : value;
}

TEST(failed_values_are_avoided) {
  needs_nlopt();
  carom_simplex s = search_of(2, square_low, square_high, cut_off);
  s.starts = 4, s.budget = 5000;
  double x[2] = {-1.9, 1.9};  // fails there
  carom_simplex_info info;
  REQUIRE(carom_simplex_minimise(&s, x, &info, NULL) == CAROM_OK);
  CHECK(info.failures > 0);
  CHECK_NEAR(x[0], 1, 1e-5);
  CHECK_NEAR(x[1], 1, 1e-5);
}

TEST(no_value_anywhere) {
  needs_nlopt();
  counter c = {0};
  carom_simplex s = search_of(2, square_low, square_high, counted);
  s.context = &c, s.starts = 2;
  double x[2] = {0.5, -0.5};
  carom_simplex_info info;
  REQUIRE(carom_simplex_minimise(&s, x, &info, NULL) == CAROM_OK);
  CHECK(isinf(info.value) && info.failures == info.evaluations && info.evaluations > 0);
  CHECK(x[0] == 0.5 && x[1] == -0.5);
}

TEST(what_is_refused) {
  needs_nlopt();
  carom_error error;
  carom_simplex_info info;
  double x[2] = {0, 0};
  carom_simplex s = search_of(0, square_low, square_high, rosenbrock);
  CHECK(carom_simplex_minimise(&s, x, &info, &error) == CAROM_ERR_ARGUMENT);
  CHECK_CONTAINS(error.message, "1 to 32 variables");
  s = search_of(2, square_high, square_low, rosenbrock);
  CHECK(carom_simplex_minimise(&s, x, &info, &error) == CAROM_ERR_ARGUMENT);
  CHECK_CONTAINS(error.message, "variable 0");
  s = search_of(2, square_low, square_high, rosenbrock);
  s.budget = 0;
  CHECK(carom_simplex_minimise(&s, x, &info, &error) == CAROM_ERR_ARGUMENT);
  CHECK_CONTAINS(error.message, "budget");
  s.budget = 10, s.tolerance = 0;
  CHECK(carom_simplex_minimise(&s, x, &info, &error) == CAROM_ERR_ARGUMENT);
  CHECK_CONTAINS(error.message, "tolerance");
}

// The search: what it finds in how few evaluations (on functions that its constants were not chosen on), and what it
// must keep to: bounds, constraints, no point twice, the same points for the same seed.
#include "carom/surrogate.h"
#include "design_functions.h"
#include "test.h"

typedef double function(const double *x, void *context);

typedef struct outcome {
  int evaluations;
  double best, at[DESIGN_DIM];
  double path[400 * DESIGN_DIM];
} outcome;

static outcome run(const carom_search_def *def, int batch, function *f, void *context) {
  outcome o = {.best = INFINITY};
  carom_search *s = NULL;
  carom_error error = {0};
  double points[16 * DESIGN_DIM];
  int d = def->variable_count, n;
  if (carom_search_create(def, NULL, &s, &error) != CAROM_OK) {
    test_fail(__FILE__, __LINE__, "%s", error.message);
    return o;
  }
  while ((n = carom_search_ask(s, batch, points)) > 0)
    for (int k = 0; k < n; k++) {
      double value = f(points + k * d, context);
      memcpy(o.path + o.evaluations++ * d, points + k * d, (size_t)d * sizeof *points);
      CHECK(carom_search_tell(s, points + k * d, value, &error) == CAROM_OK);
    }
  int best = carom_search_best(s);
  if (best >= 0) o.best = carom_search_at(s, best).value;
  if (best >= 0) memcpy(o.at, carom_search_at(s, best).point, (size_t)d * sizeof *o.at);
  CHECK(carom_search_count(s) == o.evaluations);
  CHECK(carom_search_ending(s) != CAROM_SEARCH_GOES_ON);
  carom_search_destroy(s);
  return o;
}

static double of_sample(const double *x, void *context) { return ((const design_function *)context)->value(x); }

static carom_search_def def_of(const design_function *f, int budget) {
  carom_search_def def = carom_search_default();
  def.variable_count = f->dimension, def.low = f->low, def.high = f->high, def.budget = budget;
  return def;
}

// The bar: within 1e-3 of a sweep of 41 points in at most nine evaluations, with both methods for smooth functions.
TEST(nine_evaluations_match_a_sweep_of_41_points) {
  for (int i = 0; i < DESIGN_REPORTED; i++) {
    const design_function *f = &design_reported[i];
    if (f->dimension > 1) continue;
    double least = INFINITY, most = -INFINITY;
    for (int k = 0; k <= 40; k++) {
      double x = f->low[0] + (f->high[0] - f->low[0]) * k / 40, value = f->value(&x);
      least = fmin(least, value), most = fmax(most, value);
    }
    for (int method = 0; method < 3; method += 2) {
      carom_search_def def = def_of(f, 9);
      def.method = (carom_search_method)method;
      outcome o = run(&def, 1, of_sample, (void *)f);
      if (o.best > least + 1e-3 * (most - least) || o.evaluations > 9)
        test_fail(__FILE__, __LINE__, "%s by %s: %g after %d, the sweep has %g", f->name,
                  carom_search_method_name(def.method), o.best, o.evaluations, least);
    }
  }
}

TEST(several_variables_are_found_long) {
  for (int i = 0; i < DESIGN_REPORTED; i++) {
    const design_function *f = &design_reported[i];
    if (f->dimension == 1) continue;
    design_truth truth = design_find_truth(f);
    carom_search_def def = def_of(f, 60);
    outcome o = run(&def, 1, of_sample, (void *)f);
    CHECK_AT_MOST((o.best - truth.least) / (truth.most - truth.least), 1e-5);
  }
}

// A spline goes through its samples, so that the strawman finds parabolas at once and ends.
TEST(strawman_finds_a_parabola_in_four) {
  double low = 0, high = 1;
  carom_search_def def = carom_search_default();
  def.variable_count = 1, def.low = &low, def.high = &high, def.method = CAROM_SEARCH_SPLINE;
  outcome o = run(&def, 1, of_sample, (void *)&design_training[0]);
  CHECK(o.evaluations <= 5);
  CHECK_NEAR(o.at[0], 0.37, 1e-9);
  CHECK_NEAR(o.path[2] * (1 - o.path[2]), 0, 0);  // after two samples a line: the third is a bound
}

// Falls towards a bound, as the cost of the biped does: found in at most five.
static double falls(const double *x, void *context) {
  (void)context;
  return 0.0775 * exp(-1.3 * (x[0] - 0.34));
}
TEST(an_optimum_at_a_bound_takes_five) {
  double low = 0.35, high = 0.75;
  for (int method = 0; method < 3; method++) {
    carom_search_def def = carom_search_default();
    def.variable_count = 1, def.low = &low, def.high = &high, def.budget = 5, def.method = (carom_search_method)method;
    CHECK_NEAR(run(&def, 1, falls, NULL).at[0], high, 0);
  }
}

// ---- what it must keep to -------------------------------------------------------------------------------------------

TEST(points_stay_within_bounds_and_apart) {
  for (int i = 0; i < DESIGN_REPORTED; i++)
    for (int batch = 1; batch <= 4; batch += 3) {
      const design_function *f = &design_reported[i];
      carom_search_def def = def_of(f, 24);
      outcome o = run(&def, batch, of_sample, (void *)f);
      int d = f->dimension;
      for (int k = 0; k < o.evaluations; k++) {
        for (int j = 0; j < d; j++) CHECK(o.path[k * d + j] >= f->low[j] && o.path[k * d + j] <= f->high[j]);
        for (int m = 0; m < k; m++) {
          double apart = 0;
          for (int j = 0; j < d; j++)
            apart = fmax(apart, fabs(o.path[k * d + j] - o.path[m * d + j]) / (f->high[j] - f->low[j]));
          CHECK(apart >= 0.99 * def.resolution);
        }
      }
    }
}

TEST(same_seed_same_points) {
  for (int i = 8; i < DESIGN_REPORTED; i += 3) {
    carom_search_def def = def_of(&design_reported[i], 15);
    outcome a = run(&def, 2, of_sample, (void *)&design_reported[i]);
    outcome b = run(&def, 2, of_sample, (void *)&design_reported[i]);
    CHECK(a.evaluations == b.evaluations);
    CHECK(memcmp(a.path, b.path, sizeof a.path) == 0);
  }
}

typedef struct scaled {
  const design_function *f;
  double a, b, stretch[DESIGN_DIM], shift[DESIGN_DIM];
} scaled;

static double of_scaled(const double *x, void *context) {
  const scaled *s = context;
  double y[DESIGN_DIM];
  for (int i = 0; i < s->f->dimension; i++) y[i] = (x[i] - s->shift[i]) / s->stretch[i];
  return s->a * s->f->value(y) + s->b;
}

// a J + b over stretched and shifted variables is the same problem.
TEST(scaling_changes_nothing) {
  for (int i = 0; i < DESIGN_REPORTED; i++) {
    const design_function *f = &design_reported[i];
    scaled s = {f, 1e4, 300, {0}, {0}};
    double low[DESIGN_DIM], high[DESIGN_DIM];
    for (int j = 0; j < f->dimension; j++) {
      s.stretch[j] = pow(10, j - 2), s.shift[j] = 0.5 * j;
      low[j] = s.stretch[j] * f->low[j] + s.shift[j], high[j] = s.stretch[j] * f->high[j] + s.shift[j];
    }
    carom_search_def def = def_of(f, 7), other = def;
    other.low = low, other.high = high;
    outcome a = run(&def, 1, of_sample, (void *)f), b = run(&other, 1, of_scaled, &s);
    CHECK(a.evaluations == b.evaluations);
    for (int k = 0; k < a.evaluations * f->dimension; k++) {
      int j = k % f->dimension;
      CHECK_NEAR((b.path[k] - s.shift[j]) / s.stretch[j], a.path[k], 2e-4 * (f->high[j] - f->low[j]));
    }
  }
}

// Told in another order, or by one who asked for nothing, the best is the same and the next point too.
TEST(the_order_of_telling_changes_little) {
  const design_function *f = &design_reported[0];
  carom_search_def def = def_of(f, 20);
  double x[6] = {0.5, 1.1, 1.8, 2.4, 3.1, 3.9}, next[2];
  for (int side = 0; side < 2; side++) {
    carom_search *s;
    REQUIRE(carom_search_create(&def, NULL, &s, NULL) == CAROM_OK);
    for (int k = 0; k < 6; k++) {
      double at = x[side ? 5 - k : k];
      CHECK(carom_search_tell(s, &at, f->value(&at), NULL) == CAROM_OK);
    }
    double points[3];
    while (carom_search_ask(s, 1, points) == 1 && carom_search_count(s) < 9)
      carom_search_tell(s, points, f->value(points), NULL);
    next[side] = carom_search_at(s, carom_search_best(s)).point[0];
    carom_search_destroy(s);
  }
  CHECK_NEAR(next[1], next[0], 0.02);
}

// ---- failures, noise, constraints -----------------------------------------------------------------------------------

// Nothing works above x + y = 1; the optimum lies at (0.3, 0.45), well below.
static double half_fails(const double *x, void *context) {
  int *failed = context;
  if (x[0] + x[1] > 1) return ++*failed, (*failed % 2 ? INFINITY : NAN);
  return pow(x[0] - 0.3, 2) + 2 * pow(x[1] - 0.45, 2);
}
TEST(failed_samples_repel) {
  double low[2] = {0, 0}, high[2] = {1, 1};
  int failed = 0;
  carom_search_def def = carom_search_default();
  def.variable_count = 2, def.low = low, def.high = high, def.budget = 25;
  outcome o = run(&def, 1, half_fails, &failed);
  CHECK_AT_MOST(o.best, 1e-4);
  CHECK(failed < 10);
}

// The optimum is next to what fails: J falls up to the cliff at 0.6.
static double cliff(const double *x, void *context) {
  (void)context;
  return x[0] > 0.6 ? INFINITY : 1 - x[0];
}
TEST(an_optimum_at_a_cliff_is_approached) {
  double low = 0, high = 1;
  for (int method = 0; method < 3; method++) {
    carom_search_def def = carom_search_default();
    def.variable_count = 1, def.low = &low, def.high = &high, def.budget = 14, def.method = (carom_search_method)method;
    outcome o = run(&def, 1, cliff, NULL);
    CHECK_AT_MOST(o.best, 0.44);
    CHECK(o.at[0] <= 0.6);
  }
}

static double fails(const double *x, void *context) {
  (void)x, (void)context;
  return NAN;
}
TEST(nothing_but_failures_is_survived) {
  double low[3] = {0}, high[3] = {1, 2, 3};
  for (int d = 1; d <= 3; d++) {
    carom_search_def def = carom_search_default();
    def.variable_count = d, def.low = low, def.high = high, def.budget = 12;
    outcome o = run(&def, 3, fails, NULL);
    CHECK(o.evaluations == 12 && o.best == INFINITY);
  }
}

// Only a twentieth of the range works: failures must not keep the search away from all the rest.
static double window(const double *x, void *context) {
  (void)context;
  return x[0] > 0.11 && x[0] < 0.16 ? pow(x[0] - 0.14, 2) : NAN;
}
TEST(a_window_between_failures_is_found) {
  double low = 0, high = 1;
  carom_search_def def = carom_search_default();
  def.variable_count = 1, def.low = &low, def.high = &high, def.budget = 40;
  CHECK_AT_MOST(run(&def, 1, window, NULL).best, 1e-4);
}

static double same(const double *x, void *context) {
  (void)x, (void)context;
  return 4;
}
TEST(a_constant_function_is_survived) {
  double low[2] = {0}, high[2] = {1, 1};
  for (int d = 1; d <= 2; d++) {
    carom_search_def def = carom_search_default();
    def.variable_count = d, def.low = low, def.high = high, def.budget = 10;
    CHECK_NEAR(run(&def, 1, same, NULL).best, 4, 0);
  }
}

static double noisy_bowl(const double *x, void *context) {
  return pow(x[0] - 0.35, 2) + pow(x[1] - 0.6, 2) + 0.02 * carom_random_normal(context);
}
TEST(noise_does_not_lead_astray) {
  double low[2] = {0, 0}, high[2] = {1, 1};
  for (uint64_t seed = 1; seed <= 5; seed++) {
    carom_random random = carom_random_make(seed, 77);
    carom_search_def def = carom_search_default();
    def.variable_count = 2, def.low = low, def.high = high, def.budget = 40, def.seed = seed;
    outcome o = run(&def, 2, noisy_bowl, &random);
    CHECK_AT_MOST(pow(o.at[0] - 0.35, 2) + pow(o.at[1] - 0.6, 2), 0.05);
  }
}

// (x - 2)^2 + (y - 2)^2 with x + y <= 1 in the unit square: (1/2, 1/2).
static double far_corner(const double *x, void *context) {
  (void)context;
  CHECK(x[0] + x[1] <= 1 + 1e-7);
  return pow(x[0] - 2, 2) + pow(x[1] - 2, 2);
}
TEST(linear_constraints_hold) {
  double low[2] = {0, 0}, high[2] = {1, 1}, rows[2] = {1, 1}, most = 1;
  carom_search_def def = carom_search_default();
  def.variable_count = 2, def.low = low, def.high = high, def.budget = 25;
  def.constraint_count = 1, def.rows = rows, def.most = &most;
  outcome o = run(&def, 1, far_corner, NULL);
  CHECK_NEAR(o.at[0], 0.5, 2e-3);
  CHECK_NEAR(o.at[1], 0.5, 2e-3);
}

// x + y = 1 by two constraints leaves a line; random half-spaces through the middle leave something always.
TEST(thin_and_random_constraints_are_met) {
  carom_random random = carom_random_make(21, 1);
  double low[3] = {0, -1, 2}, high[3] = {1, 1, 5}, rows[12], most[4], points[3 * 6];
  for (int trial = 0; trial < 60; trial++) {
    double inside[3];
    for (int i = 0; i < 3; i++) inside[i] = carom_random_between(&random, low[i], high[i]);
    for (int c = 0; c < 4; c++) {
      most[c] = c == 1 && trial % 2 ? 0 : 0.02;
      for (int i = 0; i < 3; i++) {
        rows[3 * c + i] = c == 1 && trial % 2 ? -rows[i] : carom_random_normal(&random);
        most[c] += rows[3 * c + i] * inside[i];
      }
    }
    carom_search_def def = carom_search_default();
    def.variable_count = 3, def.low = low, def.high = high, def.constraint_count = 4, def.rows = rows, def.most = most;
    carom_search *s;
    carom_error error;
    if (carom_search_create(&def, NULL, &s, &error) != CAROM_OK) {
      test_fail(__FILE__, __LINE__, "trial %d: %s", trial, error.message);
      continue;
    }
    int n = carom_search_ask(s, 6, points);
    for (int k = 0; k < n; k++)
      for (int c = 0; c < 4; c++) {
        double sum = -most[c], size = fabs(most[c]);
        for (int i = 0; i < 3; i++)
          sum += rows[3 * c + i] * points[3 * k + i], size += fabs(rows[3 * c + i]) * (high[i] - low[i]);
        CHECK(sum <= 1e-8 * size);
      }
    carom_search_destroy(s);
  }
}

static double log_parabola(const double *x, void *context) {
  (void)context;
  return pow(log10(x[0]) + 2, 2);
}
TEST(logarithmic_variables_are_searched_by_ratio) {
  double low = 1e-6, high = 10;
  bool logarithmic = true;
  carom_search_def def = carom_search_default();
  def.variable_count = 1, def.low = &low, def.high = &high, def.logarithmic = &logarithmic, def.budget = 8;
  CHECK_NEAR(log10(run(&def, 1, log_parabola, NULL).at[0]), -2, 1e-3);
}

// ---- batches, samples from outside, predictions ---------------------------------------------------------------------

TEST(batches_find_it_too) {
  const design_function *f = &design_reported[10];
  design_truth truth = design_find_truth(f);
  for (int batch = 2; batch <= 8; batch *= 2) {
    carom_search_def def = def_of(f, 56);
    outcome o = run(&def, batch, of_sample, (void *)f);
    CHECK_AT_MOST((o.best - truth.least) / (truth.most - truth.least), 1e-3);
  }
}

TEST(a_better_value_of_a_point_counts) {
  double low = 0, high = 1, x = 0.25, mean, deviation;
  carom_search_def def = carom_search_default();
  carom_search *s;
  def.variable_count = 1, def.low = &low, def.high = &high;
  REQUIRE(carom_search_create(&def, NULL, &s, NULL) == CAROM_OK);
  carom_search_predict(s, &x, &mean, &deviation);
  CHECK(isnan(mean) && isnan(deviation));
  const double told[][2] = {{0.25, INFINITY}, {0.25, 3}, {0.25, 5}, {0.25, 2}, {0.25, NAN}, {0.75, 1}};
  for (int i = 0; i < 6; i++) CHECK(carom_search_tell(s, &told[i][0], told[i][1], NULL) == CAROM_OK);
  CHECK(carom_search_count(s) == 2);
  CHECK_NEAR(carom_search_at(s, 0).value, 2, 0);
  CHECK(carom_search_best(s) == 1);
  carom_search_predict(s, &x, &mean, &deviation);
  CHECK_NEAR(mean, 2, 1e-5);
  carom_search_destroy(s);
}

// ---- mistakes -------------------------------------------------------------------------------------------------------

static void check_refused(const carom_search_def *def, const char *part) {
  carom_search *s = NULL;
  carom_error error = {0};
  CHECK(carom_search_create(def, NULL, &s, &error) == CAROM_ERR_ARGUMENT && !s);
  CHECK_CONTAINS(error.message, part);
}

TEST(mistakes_are_named) {
  double low[2] = {0, 1}, high[2] = {1, 2}, crossed[2] = {1, 0.5}, rows[2] = {1, 1}, most = 0.5, start[2] = {0.5, 3};
  bool logarithmic[2] = {true, false};
  carom_search_def def = carom_search_default(), bad;
  carom_error error = {0};
  carom_search *s;
  def.variable_count = 2, def.low = low, def.high = high;
  bad = def, bad.high = crossed, check_refused(&bad, "bounds of variable 1 cross");
  bad = def, bad.variable_count = 17, check_refused(&bad, "1 to 16 variables");
  bad = def, bad.budget = 0, check_refused(&bad, "at least 1 evaluation");
  bad = def, bad.method = CAROM_SEARCH_SPLINE, check_refused(&bad, "one variable");
  bad = def, bad.method = (carom_search_method)9, check_refused(&bad, "no search method 9");
  bad = def, bad.resolution = 0, check_refused(&bad, "resolution");
  bad = def, bad.logarithmic = logarithmic, check_refused(&bad, "must be above 0");
  bad = def, bad.constraint_count = 1, bad.rows = rows, bad.most = &most, check_refused(&bad, "leave nothing");
  bad = def, bad.start_count = 1, bad.starts = start,
  check_refused(&bad, "a start: variable 1 is 3, outside its bounds 1 to 2");
  REQUIRE(carom_search_create(&def, NULL, &s, &error) == CAROM_OK);
  CHECK(carom_search_tell(s, start, 1, &error) == CAROM_ERR_ARGUMENT);
  CHECK_CONTAINS(error.message, "outside its bounds");
  carom_search_destroy(s);
}

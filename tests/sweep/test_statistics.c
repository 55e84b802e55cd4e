// Statistics against textbooks and closed forms.
#include "carom/sweep.h"
#include "test.h"

// Agresti and Coull (1998), Newcombe (1998, table I): 81 of 263, 15 of 148, 0 of 20, 1 of 29.
TEST(wilsons_interval_is_that_of_textbooks) {
  const struct {
    int hits, trials;
    double low, high;
  } table[] = {{81, 263, 0.2553, 0.3662},
               {15, 148, 0.0624, 0.1605},
               {0, 20, 0, 0.1611},
               {1, 29, 0.0061, 0.1718},
               {29, 29, 0.8830, 1}};
  for (int i = 0; i < 5; i++) {
    carom_interval w = carom_wilson(table[i].hits, table[i].trials, CAROM_Z95);
    CHECK_NEAR(w.low, table[i].low, 6e-5);
    CHECK_NEAR(w.high, table[i].high, 6e-5);
  }
  carom_interval nothing = carom_wilson(0, 0, CAROM_Z95);
  CHECK(nothing.low == 0 && nothing.high == 1);
}

// It has the rate in it about 95 times in a hundred, at rates of every size.
TEST(wilsons_interval_holds_the_rate_as_often_as_it_says) {
  carom_random random = carom_random_make(11, 0);
  const double rates[] = {0.02, 0.1, 0.5, 0.9};
  for (int k = 0; k < 4; k++) {
    int held = 0;
    for (int run = 0; run < 4000; run++) {
      int hits = 0;
      for (int i = 0; i < 100; i++) hits += carom_random_uniform(&random) < rates[k];
      carom_interval w = carom_wilson(hits, 100, CAROM_Z95);
      held += w.low <= rates[k] && rates[k] <= w.high;
    }
    CHECK(held > 0.92 * 4000 && held < 0.99 * 4000);
  }
}

TEST(quantiles) {
  const double values[] = {1, 2, 4, 8};
  CHECK(carom_quantile(values, 4, 0) == 1 && carom_quantile(values, 4, 1) == 8);
  CHECK_NEAR(carom_quantile(values, 4, 0.5), 3, 1e-15);
  CHECK_NEAR(carom_quantile(values, 4, 0.9), 4 + 0.7 * 4, 1e-14);
  CHECK(isnan(carom_quantile(values, 0, 0.5)));
  CHECK(carom_quantile(values, 1, 0.5) == 1);
}

// ---- Sobol indices --------------------------------------------------------------------------------------------------

static const double pi = 3.14159265358979323846;

// Ishigami and Homma (1990), a = 7, b = 0.1, on [-pi, pi]^3: V = a^2/8 + b pi^4/5 + b^2 pi^8/18 + 1/2.
static double ishigami(const double *u) {
  double x = pi * (2 * u[0] - 1), y = pi * (2 * u[1] - 1), z = pi * (2 * u[2] - 1);
  return sin(x) + 7 * sin(y) * sin(y) + 0.1 * pow(z, 4) * sin(x);
}

static void estimate(double (*f)(const double *), int axes, int64_t points, uint64_t seed, carom_sobol_index *indices) {
  carom_axis axis[6];
  for (int i = 0; i < axes; i++) axis[i] = (carom_axis){.from = 0, .to = 1};
  carom_sampling s = {.design = CAROM_DESIGN_SOBOL, .axes = axis, .axis_count = axes, .seed = seed};
  s.count = carom_sampling_size(s.design, axis, axes, points);
  double *y = malloc((size_t)s.count * sizeof *y), u[6];
  int64_t used;
  for (int64_t i = 0; i < s.count; i++) {
    carom_sampling_inputs(&s, i, u);
    y[i] = f(u);
  }
  CHECK(carom_sobol(y, points, axes, seed, indices, &used) == CAROM_OK && used == points);
  free(y);
}

TEST(indices_of_ishigamis_function) {
  double b = 0.1, v = 49.0 / 8 + b * pow(pi, 4) / 5 + b * b * pow(pi, 8) / 18 + 0.5;
  double v1 = 0.5 * pow(1 + b * pow(pi, 4) / 5, 2), v2 = 49.0 / 8, v13 = b * b * pow(pi, 8) * (1.0 / 18 - 1.0 / 50);
  const double first[3] = {v1 / v, v2 / v, 0}, total[3] = {(v1 + v13) / v, v2 / v, v13 / v};
  carom_sobol_index x[3];
  estimate(ishigami, 3, 20000, 1, x);
  for (int i = 0; i < 3; i++) {
    CHECK_NEAR(x[i].first, first[i], 0.025);
    CHECK_NEAR(x[i].total, total[i], 0.025);
  }
}

// Of 40 searches with other seeds, the bootstrap's intervals have the truth in them nearly always.
TEST(intervals_of_indices_hold_the_truth) {
  int held = 0, of = 0;
  double b = 0.1, v = 49.0 / 8 + b * pow(pi, 4) / 5 + b * b * pow(pi, 8) / 18 + 0.5;
  const double first[3] = {0.5 * pow(1 + b * pow(pi, 4) / 5, 2) / v, 49.0 / 8 / v, 0};
  for (uint64_t seed = 1; seed <= 40; seed++) {
    carom_sobol_index x[3];
    estimate(ishigami, 3, 500, seed, x);
    for (int i = 0; i < 3; i++, of++)
      held += x[i].first_interval.low <= first[i] && first[i] <= x[i].first_interval.high;
  }
  CHECK(held >= 0.88 * of && held < of);
}

static double sum_of(const double *u) { return 4 * u[0] + 2 * u[1] + u[2]; }

TEST(first_order_indices_of_a_sum_add_up_to_one) {
  carom_sobol_index x[3];
  estimate(sum_of, 3, 20000, 4, x);
  for (int i = 0; i < 3; i++) {
    CHECK_NEAR(x[i].first, pow(4, 2 - i) / 21, 0.02);
    CHECK_NEAR(x[i].total, x[i].first, 0.03);
  }
}

TEST(indices_of_what_does_not_vary_are_no_numbers) {
  double y[50];
  int64_t used;
  carom_sobol_index x[3];
  for (int i = 0; i < 50; i++) y[i] = 3;
  y[7] = NAN;  // its point is left out
  CHECK(carom_sobol(y, 10, 3, 1, x, &used) == CAROM_OK && used == 9);
  CHECK(isnan(x[0].first) && isnan(x[0].total));
}

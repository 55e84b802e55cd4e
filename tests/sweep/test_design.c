// Designs: strata are met, inputs depend on seed and number alone, mirrored axes have mirrored points.
#include "carom/sweep.h"
#include "test.h"

static carom_axis unit_axis(char *name) {
  return (carom_axis){.name = name, .unit = "", .from = 0, .to = 1, .count = 5};
}

TEST(a_grid_has_every_combination_once) {
  double values[] = {3, 1, 2};
  carom_axis axes[3] = {unit_axis("a"),
                        {.from = 1, .to = 1000, .logarithmic = true, .count = 4},
                        {.values = values, .count = 3, .from = 1, .to = 3}};
  carom_sampling s = {.design = CAROM_DESIGN_GRID, .axes = axes, .axis_count = 3};
  s.count = carom_sampling_size(s.design, axes, 3, 0);
  REQUIRE(s.count == 60);
  for (int n = 0; n < 60; n++) {
    double x[3];
    carom_sampling_inputs(&s, n, x);
    CHECK_NEAR(x[0], 0.25 * (n / 12), 1e-15);
    CHECK_NEAR(x[1], pow(10, n / 3 % 4), 1e-9);
    CHECK(x[2] == values[n % 3]);
  }
  axes[0].count = 1000000, axes[1].count = 1000000;
  CHECK(carom_sampling_size(s.design, axes, 3, 0) == -1);
}

TEST(points_of_a_symmetric_axis_are_mirror_images_to_the_last_bit) {
  carom_axis axis = {.from = -0.1, .to = 0.1, .count = 41};
  carom_sampling s = {.design = CAROM_DESIGN_GRID, .axes = &axis, .axis_count = 1, .count = 41};
  for (int i = 0; i < 41; i++) {
    double x, y;
    carom_sampling_inputs(&s, i, &x);
    carom_sampling_inputs(&s, 40 - i, &y);
    CHECK(x == -y);
  }
}

static carom_sampling over(carom_axis *axes, int count, carom_design design, int64_t n, uint64_t seed) {
  static char name[] = "a";
  for (int i = 0; i < count; i++) axes[i] = unit_axis(name);
  carom_sampling s = {.design = design, .axes = axes, .axis_count = count, .seed = seed};
  s.count = carom_sampling_size(design, axes, count, n);
  return s;
}

TEST(a_latin_hypercube_meets_every_stratum_of_every_axis_once) {
  carom_axis axes[6];
  const int64_t sizes[] = {1, 2, 3, 7, 64, 100, 1000};
  for (int k = 0; k < 7; k++) {
    carom_sampling s = over(axes, 6, CAROM_DESIGN_LATIN, sizes[k], 5);
    for (int a = 0; a < 6; a++) {
      bool met[1000] = {false};
      for (int64_t i = 0; i < s.count; i++) {
        double x[6];
        carom_sampling_inputs(&s, i, x);
        REQUIRE(x[a] >= 0 && x[a] < 1);
        int stratum = (int)(x[a] * (double)s.count);
        CHECK(!met[stratum]);
        met[stratum] = true;
      }
    }
  }
}

TEST(axes_of_a_latin_hypercube_are_not_alike) {
  carom_axis axes[2];
  carom_sampling s = over(axes, 2, CAROM_DESIGN_LATIN, 1000, 9);
  double sum = 0;
  for (int64_t i = 0; i < 1000; i++) {
    double x[2];
    carom_sampling_inputs(&s, i, x);
    sum += (x[0] - 0.5) * (x[1] - 0.5) * 12 / 1000;
  }
  CHECK_AT_MOST(fabs(sum), 0.1);  // correlation: three standard deviations
}

// In base b, any b^k points in a row meet every interval of length b^-k once, wherever the shift has moved these.
TEST(halton_points_in_a_row_meet_every_interval) {
  carom_axis axes[3];
  carom_sampling s = over(axes, 3, CAROM_DESIGN_HALTON, 1000, 3);
  const int base[] = {2, 3, 5}, many[] = {64, 81, 125};
  double shift[3], x[3];
  carom_sampling_inputs(&s, 0, x);
  for (int a = 0; a < 3; a++) shift[a] = x[a] - 1.0 / base[a];  // the first point is 1/b
  for (int a = 0; a < 3; a++)
    for (int64_t from = 0; from < 300; from += 37) {
      bool met[125] = {false};
      for (int64_t i = from; i < from + many[a]; i++) {
        carom_sampling_inputs(&s, i, x);
        double u = x[a] - shift[a] + 1e-12;
        met[(int)((u - floor(u)) * many[a])] = true;
      }
      for (int i = 0; i < many[a]; i++) CHECK(met[i]);
    }
}

TEST(random_points_are_uniform) {
  carom_axis axes[1];
  carom_sampling s = over(axes, 1, CAROM_DESIGN_RANDOM, 20000, 1);
  double mean = 0, square = 0;
  for (int64_t i = 0; i < s.count; i++) {
    double x;
    carom_sampling_inputs(&s, i, &x);
    mean += x / 20000, square += x * x / 20000;
  }
  CHECK_NEAR(mean, 0.5, 0.01);
  CHECK_NEAR(square, 1.0 / 3, 0.01);
}

TEST(inputs_depend_on_seed_and_number_alone) {
  carom_axis axes[4];
  for (int d = CAROM_DESIGN_RANDOM; d <= CAROM_DESIGN_SOBOL; d++) {
    carom_sampling s = over(axes, 4, (carom_design)d, 100, 7), other = s;
    double a[4], b[4], c[4];
    other.seed = 8;
    carom_sampling_inputs(&s, 5, a);
    carom_sampling_inputs(&s, 3, b);  // what was asked before does not matter
    carom_sampling_inputs(&s, 5, b);
    carom_sampling_inputs(&other, 5, c);
    CHECK(memcmp(a, b, sizeof a) == 0);
    if (d != CAROM_DESIGN_STAR) CHECK(memcmp(a, c, sizeof a) != 0);
  }
}

TEST(saltelli_points_share_columns) {
  carom_axis axes[3];
  carom_sampling s = over(axes, 3, CAROM_DESIGN_SOBOL, 50, 7);
  REQUIRE(s.count == 250);
  for (int row = 0; row < 50; row++) {
    double a[3], b[3], m[3];
    carom_sampling_inputs(&s, 5 * row, a);
    carom_sampling_inputs(&s, 5 * row + 1, b);
    for (int k = 0; k < 3; k++) {
      CHECK(a[k] != b[k]);
      carom_sampling_inputs(&s, 5 * row + 2 + k, m);
      for (int i = 0; i < 3; i++) CHECK(m[i] == (i == k ? b[i] : a[i]));
    }
  }
}

TEST(a_star_steps_along_each_axis) {
  carom_axis axes[2];
  carom_sampling s = over(axes, 2, CAROM_DESIGN_STAR, 0, 1);
  const double expected[5][2] = {{0.5, 0.5}, {0.4, 0.5}, {0.6, 0.5}, {0.5, 0.4}, {0.5, 0.6}};
  s.delta = 0.1;
  REQUIRE(s.count == 5);
  for (int n = 0; n < 5; n++) {
    double x[2];
    carom_sampling_inputs(&s, n, x);
    CHECK_NEAR(x[0], expected[n][0], 1e-15);
    CHECK_NEAR(x[1], expected[n][1], 1e-15);
  }
}

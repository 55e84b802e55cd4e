// Sample averages: how they converge, and what their bounds promise.
#include "failing_allocator.h"
#include "saa_problems.h"
#include "test.h"

static void draw_demand(void *context, carom_random *random, double *values) {
  (void)context;
  values[0] = carom_random_between(random, 50, 150);
}

// The newsvendor with demand uniform from 50 to 150: order 100, cost -300.
static carom_saa_model newsvendor(saa_table *t) {
  saa_newsvendor(t, 1, 1);
  return (carom_saa_model){t->problem, NULL, draw_demand};
}

static carom_saa_report *approximate(const carom_saa_model *model, const carom_saa_sampling *sampling) {
  carom_saa_report *r = NULL;
  carom_error error = {0};
  if (carom_saa_approximate(model, sampling, NULL, &r, &error) != CAROM_OK)
    test_fail(__FILE__, __LINE__, "%s", error.message);
  return r;
}

// 97.5 percent points out of tables.
TEST(points_of_student) {
  CHECK_NEAR(carom_student_point(0.975, 1), 12.7062047362, 1e-9);
  CHECK_NEAR(carom_student_point(0.975, 9), 2.2621571628, 1e-9);
  CHECK_NEAR(carom_student_point(0.95, 4), 2.1318467863, 1e-9);
  CHECK_NEAR(carom_student_point(0.025, 29), -2.0452296421, 1e-9);
  CHECK_NEAR(carom_student_point(0.975, 100000), CAROM_Z95, 1e-4);
  CHECK_NEAR(carom_student_point(0.5, 3), 0, 1e-12);
  CHECK(isnan(carom_student_point(1, 3)) && isnan(carom_student_point(0.5, 0)));
}

// The error of the order falls as the root of the sample: a line through logarithms has slope -1/2.
TEST(the_error_falls_as_one_over_the_root_of_n) {
  static saa_table t;
  enum { SIZES = 5, RUNS = 200 };
  double sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (int s = 0; s < SIZES; s++) {
    int count = 25 << (2 * s / 2 + s / 2);
    double squares = 0;
    for (int run = 0; run < RUNS; run++) {
      saa_newsvendor(&t, count | 1, 1000 + (uint64_t)(RUNS * s + run));
      carom_saa_set set = saa_set_of(&t);
      carom_saa_answer *a = NULL;
      REQUIRE(carom_saa_solve(&t.problem, &set, NULL, NULL, &a, NULL) == CAROM_OK);
      squares += (a->x[0] - 100) * (a->x[0] - 100) / RUNS;
      carom_saa_answer_destroy(a);
      saa_table_free(&t);
    }
    double x = log(count | 1), y = 0.5 * log(squares);
    sx += x, sy += y, sxx += x * x, sxy += x * y;
  }
  double slope = (SIZES * sxy - sx * sy) / (SIZES * sxx - sx * sx);
  CHECK_NEAR(slope, -0.5, 0.1);
}

TEST(bounds_hold_the_truth_and_the_gap_shrinks) {
  static saa_table t;
  carom_saa_model model = newsvendor(&t);
  carom_saa_sampling sampling = carom_saa_default_sampling();
  sampling.scenarios = 800, sampling.first = 50, sampling.confidence = 0.999;
  carom_saa_report *r = approximate(&model, &sampling);
  REQUIRE(r && r->outcome == CAROM_SAA_SOLVED && r->size_count == 5 && r->valued);
  for (int k = 0; k < r->size_count; k++) {
    const carom_saa_size *s = &r->sizes[k];
    CHECK(s->scenarios == 50 << k && s->gap >= 0 && s->gap <= s->gap_high);
    CHECK(s->lower.low <= -300 && s->upper_in.high >= -300);
    CHECK_NEAR(s->upper - s->mean, s->gap, 1e-9);
  }
  CHECK(r->sizes[4].gap_high < 0.25 * r->sizes[0].gap_high);
  double true_cost = -300 + 0.04 * (r->answer->x[0] - 100) * (r->answer->x[0] - 100);  // in closed form
  CHECK(r->value_in.low <= true_cost && true_cost <= r->value_in.high);
  CHECK(r->cost_count == 8000 && r->solves == 5 * 21 + 1);
  carom_saa_report_destroy(r);
  saa_table_free(&t);
}

// How often the interval of the gap holds the candidate's true gap: at least as often as it says, but for chance.
TEST(the_gap_is_covered_as_often_as_promised) {
  static saa_table t;
  carom_saa_model model = newsvendor(&t);
  carom_saa_sampling sampling = carom_saa_default_sampling();
  sampling.scenarios = sampling.first = 30, sampling.replications = 8, sampling.evaluation = 2;
  sampling.confidence = 0.9;
  int covered = 0, runs = 100;
  for (int k = 0; k < runs; k++) {
    sampling.seed = 50 + (uint64_t)k;
    carom_saa_report *r = approximate(&model, &sampling);
    REQUIRE(r);
    covered += 0.04 * (r->answer->x[0] - 100) * (r->answer->x[0] - 100) <= r->sizes[0].gap_high;
    carom_saa_report_destroy(r);
  }
  CHECK(covered >= 80);
  saa_table_free(&t);
}

TEST(a_gap_that_is_asked_for_ends_the_growth) {
  static saa_table t;
  carom_saa_model model = newsvendor(&t);
  carom_saa_sampling sampling = carom_saa_default_sampling();
  sampling.scenarios = 100000, sampling.first = 50, sampling.gap = 1;
  carom_saa_report *r = approximate(&model, &sampling);
  REQUIRE(r);
  CHECK(r->reached && r->sizes[r->size_count - 1].gap_high <= 1 && r->sizes[r->size_count - 1].scenarios < 10000);
  carom_saa_report_destroy(r);
  sampling.gap = 0.003, sampling.relative = true;  // of 300
  r = approximate(&model, &sampling);
  REQUIRE(r);
  CHECK(r->reached && r->sizes[r->size_count - 1].gap_high <= 0.9 * 1.1);
  carom_saa_report_destroy(r);
  saa_table_free(&t);
}

// Larger samples begin with the smaller ones, and seeds tell runs apart.
TEST(samples_are_common_and_repeat) {
  static saa_table t;
  carom_saa_model model = newsvendor(&t);
  carom_saa_sampling sampling = carom_saa_default_sampling();
  sampling.scenarios = 200, sampling.first = 50;
  carom_saa_report *a = approximate(&model, &sampling), *b;
  sampling.scenarios = sampling.first = 100;
  sampling.solve.threads = 3;
  b = approximate(&model, &sampling);
  REQUIRE(a && b);
  CHECK(memcmp(&a->sizes[1], &b->sizes[0], sizeof a->sizes[1]) == 0);
  carom_saa_report_destroy(b);
  sampling.seed = 2;
  b = approximate(&model, &sampling);
  REQUIRE(b);
  CHECK(fabs(a->sizes[1].mean - b->sizes[0].mean) > 1e-6);
  carom_saa_report_destroy(a);
  carom_saa_report_destroy(b);
  saa_table_free(&t);
}

// ---- expectations ---------------------------------------------------------------------------------------------------

// y = x + w, E y = 1, min E y^2/2 + x^2/2: x = 1 and price 2 whatever the sample; w is drawn.
static void draw_noise(void *context, carom_random *random, double *values) {
  (void)context;
  values[0] = 0.5 * carom_random_normal(random);
}

TEST(expectations_are_priced) {
  static saa_table t;
  t = (saa_table){.count = 1, .problem = {.n = 1, .m = 1, .mean_rows = 1, .rows = 1, .random_count = 1}};
  saa_put(&t, CAROM_SAA_XX, 0, 0, 1, -1), saa_put(&t, CAROM_SAA_YY, 0, 0, 1, -1);
  saa_put(&t, CAROM_SAA_ROW_X, 0, 0, -1, -1), saa_put(&t, CAROM_SAA_ROW_Y, 0, 0, 1, -1);
  saa_put(&t, CAROM_SAA_ROW_LOW, 0, 0, 0.5, 0), saa_put(&t, CAROM_SAA_ROW_HIGH, 0, 0, 0.5, 0);
  saa_put(&t, CAROM_SAA_MEAN_Y, 0, 0, 1, -1);
  saa_put(&t, CAROM_SAA_MEAN_LOW, 0, 0, 1, -1), saa_put(&t, CAROM_SAA_MEAN_HIGH, 0, 0, 1, -1);
  const carom_saa_model model = {t.problem, NULL, draw_noise};
  carom_saa_sampling sampling = carom_saa_default_sampling();
  sampling.scenarios = 400, sampling.confidence = 0.999;
  carom_saa_report *r = approximate(&model, &sampling);
  REQUIRE(r && r->outcome == CAROM_SAA_SOLVED && r->valued && r->mean_count == 1);
  double truth = 0.5 + 0.5 * (1 + 0.25);  // x = 1: x^2/2 + E (1 + w)^2/2
  for (int k = 0; k < r->size_count; k++) CHECK(r->sizes[k].lower.low <= truth && r->sizes[k].upper_in.high >= truth);
  CHECK_NEAR(r->answer->x[0], 1, 0.1);
  CHECK_NEAR(r->answer->mean_price[0], 2, 0.1);
  CHECK(r->sizes[r->size_count - 1].gap_high < 0.01);
  CHECK(r->expectations[0].in.low <= r->answer->x[0] - 1 && r->answer->x[0] - 1 <= r->expectations[0].in.high);
  carom_saa_report_destroy(r);
}

// ---- decisions that fail, mistakes, memory --------------------------------------------------------------------------

// A row that x must meet in every scenario: the largest draw of a sample is no largest draw of another.
TEST(a_decision_that_fails_elsewhere_is_told) {
  static saa_table t;
  t = (saa_table){.count = 1, .problem = {.n = 1, .m = 0, .rows = 1, .random_count = 1}};
  saa_put(&t, CAROM_SAA_X_COST, 0, 0, 1, -1);
  saa_put(&t, CAROM_SAA_ROW_X, 0, 0, 1, -1), saa_put(&t, CAROM_SAA_ROW_LOW, 0, 0, 100, 0);
  const carom_saa_model model = {t.problem, NULL, draw_demand};
  carom_saa_sampling sampling = carom_saa_default_sampling();
  sampling.scenarios = 40;
  carom_saa_report *r = approximate(&model, &sampling);
  REQUIRE(r && r->outcome == CAROM_SAA_SOLVED);
  CHECK(!r->valued && isinf(r->sizes[r->size_count - 1].gap_high));
  CHECK_CONTAINS(r->doubt.message, "cannot meet its rows");
  CHECK_CONTAINS(r->doubt.name, "of replication 11");
  carom_saa_report_destroy(r);
}

TEST(mistakes_of_sampling_get_one_message_each) {
  static saa_table t;
  carom_saa_model model = newsvendor(&t);
  carom_saa_report *r = NULL;
  carom_error error;
  carom_saa_sampling s = carom_saa_default_sampling();
  s.replications = 1;
  CHECK(carom_saa_approximate(&model, &s, NULL, &r, &error) == CAROM_ERR_ARGUMENT);
  CHECK_TEXT(error.message, "saa: 1 replications: 2 to 100000 are allowed");
  s = carom_saa_default_sampling(), s.first = 2000;
  CHECK(carom_saa_approximate(&model, &s, NULL, &r, &error) == CAROM_ERR_ARGUMENT);
  CHECK_TEXT(error.message, "saa: 1000 scenarios from 2000 on: 1 to 10000000 are allowed, growing");
  s = carom_saa_default_sampling(), s.confidence = 1;
  CHECK(carom_saa_approximate(&model, &s, NULL, &r, &error) == CAROM_ERR_ARGUMENT);
  CHECK_TEXT(error.message, "saa: confidence 1 must be within 0 and 1, gap 0 not negative");
  saa_table_free(&t);
}

TEST(sampling_survives_refused_memory) {
  static saa_table t;
  carom_saa_model model = newsvendor(&t);
  carom_saa_sampling s = carom_saa_default_sampling();
  s.scenarios = s.first = 3, s.replications = 2, s.evaluation = 2;
  for (int allowed = 0, refused = 0;; allowed++) {
    failing_allocator failing = {.allowed = allowed};
    carom_allocator a = failing_allocator_of(&failing);
    carom_saa_report *r = NULL;
    carom_status status = carom_saa_approximate(&model, &s, &a, &r, NULL);
    carom_saa_report_destroy(r);
    CHECK(failing.live == 0);
    if (status == CAROM_OK) break;
    CHECK(status == CAROM_ERR_MEMORY);
    REQUIRE(++refused < 5000);
  }
  saa_table_free(&t);
}

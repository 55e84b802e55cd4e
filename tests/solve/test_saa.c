// Two-stage stochastic programs: against Ipopt on the program without structure, against what is known in closed form,
// and against themselves over threads and ranks.
#include <pthread.h>

#include "failing_allocator.h"
#include "saa_problems.h"
#include "test.h"

static carom_saa_answer *solve_with(saa_table *t, const carom_saa_options *options) {
  carom_saa_answer *a = NULL;
  carom_error error = {0};
  carom_saa_set set = saa_set_of(t);
  if (carom_saa_solve(&t->problem, &set, options, NULL, &a, &error) != CAROM_OK)
    test_fail(__FILE__, __LINE__, "%s", error.message);
  return a;
}

static carom_saa_answer *solve(saa_table *t) { return solve_with(t, NULL); }

// ---- peers ----------------------------------------------------------------------------------------------------------

static void check_against_ipopt(uint64_t seed) {
  static saa_table t;
  saa_draw(&t, seed, seed % 2 == 1);
  carom_saa_answer *a = solve(&t);
  REQUIRE(a);
  carom_nlp_info info = saa_by_ipopt(&t, 1e-11, NULL);
  CHECK(a->outcome == CAROM_SAA_SOLVED);
  CHECK_AT_MOST(a->residual, 1e-9);
  CHECK(info.outcome == CAROM_NLP_SOLVED || info.outcome == CAROM_NLP_ACCEPTABLE);
  CHECK_NEAR(a->objective, info.objective, 1e-7 * (1 + fabs(info.objective)));
  CHECK_NEAR(a->dual_objective, a->objective, 1e-9 * (1 + fabs(a->objective)));
  carom_saa_answer_destroy(a);
  saa_table_free(&t);
}

TEST(two_hundred_random_problems_are_solved_as_by_ipopt) {
  if (!carom_nlp_available()) test_skip("no Ipopt in this build");
  for (uint64_t seed = 1; seed <= 200; seed++) check_against_ipopt(seed);
}

TEST(the_farmer_earns_108390) {
  static saa_table t;
  saa_farmer(&t, 3, 0);
  carom_saa_answer *a = solve(&t);
  REQUIRE(a);
  CHECK_NEAR(a->objective, -108390, 1e-6);
  CHECK_NEAR(a->x[0], 170, 1e-7);
  CHECK_NEAR(a->x[1], 80, 1e-7);
  CHECK_NEAR(a->x[2], 250, 1e-7);
  CHECK_NEAR(a->first_price[0], -275, 1e-7);
  CHECK_NEAR(a->cost[0] - a->cost[2], 118180, 1e-5);
  carom_saa_answer_destroy(a);
  saa_table_free(&t);
}

static int by_size(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

// An odd number of scenarios has one median.
TEST(the_newsvendor_orders_the_quantile) {
  static saa_table t;
  static const int counts[] = {1, 3, 7, 51, 499, 2001};
  for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
    saa_newsvendor(&t, counts[k], 11 + k);
    carom_saa_answer *a = solve(&t);
    REQUIRE(a);
    qsort(t.values, (size_t)t.count, sizeof *t.values, by_size);
    CHECK_NEAR(a->x[0], t.values[t.count / 2], 1e-9);
    carom_saa_answer_destroy(a);
    saa_table_free(&t);
  }
}

// Other prices, other quantiles; weights, too: the first demand by size at which they reach the share.
TEST(other_prices_and_weights_order_other_quantiles) {
  static saa_table t;
  for (int k = 0; k < 20; k++) {
    double share = 0.03 + 0.047 * k, sum = 0, reached = 0;
    saa_newsvendor(&t, 101, 70 + (uint64_t)k);
    t.entries[0].value = 9 - 8 * share;  // the cost, at which the quantile is that share
    t.probability = calloc(101, sizeof *t.probability);
    qsort(t.values, 101, sizeof *t.values, by_size);
    carom_random r = carom_random_make(5, (uint64_t)k);
    for (int i = 0; i < 101; i++) sum += t.probability[i] = carom_random_between(&r, 0.5, 1.5);
    int at = 0;
    while ((reached += t.probability[at] / sum) < share) at++;
    carom_saa_answer *a = solve(&t);
    REQUIRE(a);
    CHECK_NEAR(a->x[0], t.values[at], 1e-9);
    carom_saa_answer_destroy(a);
    saa_table_free(&t);
  }
}

// min 1/2 E d^2, d = r'x - target, E r'x = target, 1'x = 1, in closed form by the moments of the sample.
TEST(the_portfolio_is_that_of_the_closed_form) {
  enum { ASSETS = 4, COUNT = 60 };
  static saa_table t;
  double mean[ASSETS] = {0}, K[(ASSETS + 2) * (ASSETS + 2)] = {0}, b[ASSETS + 2] = {0}, target = 0.5;
  t = (saa_table){.count = COUNT,
                  .problem = {.n = ASSETS, .m = 1, .first_rows = 1, .mean_rows = 1, .rows = 1, .random_count = ASSETS}};
  t.values = calloc(ASSETS * COUNT, sizeof *t.values);
  carom_random r = carom_random_make(3, 1);
  for (int i = 0; i < COUNT; i++)
    for (int k = 0; k < ASSETS; k++) mean[k] += (t.values[i * ASSETS + k] = 0.2 * k + carom_random_normal(&r)) / COUNT;
  for (int k = 0; k < ASSETS; k++) {
    saa_put(&t, CAROM_SAA_FIRST_X, 0, k, 1, -1);
    saa_put(&t, CAROM_SAA_MEAN_X, 0, k, 1, k);
    saa_put(&t, CAROM_SAA_ROW_X, 0, k, 1, k);
  }
  saa_put(&t, CAROM_SAA_ROW_Y, 0, 0, -1, -1), saa_put(&t, CAROM_SAA_YY, 0, 0, 1, -1);
  saa_put(&t, CAROM_SAA_FIRST_LOW, 0, 0, 1, -1), saa_put(&t, CAROM_SAA_FIRST_HIGH, 0, 0, 1, -1);
  saa_put(&t, CAROM_SAA_MEAN_LOW, 0, 0, target, -1), saa_put(&t, CAROM_SAA_MEAN_HIGH, 0, 0, target, -1);
  saa_put(&t, CAROM_SAA_ROW_LOW, 0, 0, target, -1), saa_put(&t, CAROM_SAA_ROW_HIGH, 0, 0, target, -1);
  enum { SIZE = ASSETS + 2 };
  for (int j = 0; j < ASSETS; j++) {
    for (int k = 0; k < ASSETS; k++)
      for (int i = 0; i < COUNT; i++) K[j + k * SIZE] += t.values[i * ASSETS + j] * t.values[i * ASSETS + k] / COUNT;
    b[j] = target * mean[j];
    K[j + ASSETS * SIZE] = K[ASSETS + j * SIZE] = 1;
    K[j + (ASSETS + 1) * SIZE] = K[ASSETS + 1 + j * SIZE] = mean[j];
  }
  b[ASSETS] = 1, b[ASSETS + 1] = target;
  for (int c = 0; c < SIZE; c++) {  // Gauss and Jordan with row pivots
    int at = c;
    for (int i = c; i < SIZE; i++)
      if (fabs(K[i + c * SIZE]) > fabs(K[at + c * SIZE])) at = i;
    for (int j = 0; j < SIZE; j++) {
      double swap = K[c + j * SIZE];
      K[c + j * SIZE] = K[at + j * SIZE], K[at + j * SIZE] = swap;
    }
    double swap = b[c];
    b[c] = b[at], b[at] = swap;
    for (int i = 0; i < SIZE; i++) {
      if (i == c) continue;
      double f = K[i + c * SIZE] / K[c + c * SIZE];
      for (int j = c; j < SIZE; j++) K[i + j * SIZE] -= f * K[c + j * SIZE];
      b[i] -= f * b[c];
    }
  }
  carom_saa_answer *a = solve(&t);
  REQUIRE(a);
  CHECK_AT_MOST(a->residual, 1e-9);
  for (int k = 0; k < ASSETS; k++) CHECK_NEAR(a->x[k], b[k] / K[k + k * SIZE], 1e-9);
  carom_saa_answer_destroy(a);
  saa_table_free(&t);
}

// ---- the same whoever does the work ---------------------------------------------------------------------------------

static bool same(const carom_saa_answer *a, const carom_saa_answer *b) {
  return memcmp(a->x, b->x, (size_t)a->n * sizeof *a->x) == 0 && a->iterations == b->iterations &&
         memcmp(a->cost, b->cost, (size_t)a->count * sizeof *a->cost) == 0 && a->outcome == b->outcome;
}

TEST(no_bit_depends_on_threads) {
  static saa_table t;
  saa_farmer(&t, 333, 4);
  carom_saa_options options = carom_saa_default_options();
  options.threads = 1;
  carom_saa_answer *one = solve_with(&t, &options);
  REQUIRE(one);
  for (options.threads = 2; options.threads <= 7; options.threads += 5) {
    carom_saa_answer *more = solve_with(&t, &options);
    REQUIRE(more);
    CHECK(same(one, more) && memcmp(one->y, more->y, (size_t)one->held * 6 * sizeof *one->y) == 0);
    carom_saa_answer_destroy(more);
  }
  carom_saa_answer_destroy(one);
  saa_table_free(&t);
}

// Ranks as threads of this process, which meet in a common array.
enum { MOST_RANKS = 5 };
typedef struct meeting {
  pthread_barrier_t barrier;
  double *shared;
  int count, failing;  // failing: a rank that is out of memory; -1: none
  saa_table *table;
  carom_saa_answer *answers[MOST_RANKS];
  carom_status statuses[MOST_RANKS];
  carom_error errors[MOST_RANKS];
} meeting;

typedef struct member {
  meeting *m;
  int rank;
} member;

static carom_status meet(void *context, const size_t *start, double *values, carom_error *error) {
  const member *me = context;
  meeting *m = me->m;
  (void)error;
  size_t from = start[me->rank], count = start[me->rank + 1] - from;
  memcpy(m->shared + from, values + from, count * sizeof *values);
  pthread_barrier_wait(&m->barrier);
  memcpy(values, m->shared, start[m->count] * sizeof *values);
  pthread_barrier_wait(&m->barrier);
  return CAROM_OK;
}

static void *work(void *context) {
  member *me = context;
  meeting *m = me->m;
  carom_saa_set set = saa_set_of(m->table);
  carom_saa_options options = carom_saa_default_options();
  failing_allocator failing = {.allowed = me->rank == m->failing ? 20 : -1};
  carom_allocator a = failing_allocator_of(&failing);
  options.threads = 1;
  options.ranks = (carom_saa_ranks){me->rank, m->count, me, meet};
  m->statuses[me->rank] = carom_saa_solve(&m->table->problem, &set, &options, m->failing >= 0 ? &a : NULL,
                                          &m->answers[me->rank], &m->errors[me->rank]);
  return NULL;
}

static void work_together(meeting *m) {
  pthread_t threads[MOST_RANKS];
  member members[MOST_RANKS];
  m->shared = calloc(1000000, sizeof *m->shared);
  pthread_barrier_init(&m->barrier, NULL, (unsigned)m->count);
  for (int k = 0; k < m->count; k++) {
    members[k] = (member){m, k};
    pthread_create(&threads[k], NULL, work, &members[k]);
  }
  for (int k = 0; k < m->count; k++) pthread_join(threads[k], NULL);
  pthread_barrier_destroy(&m->barrier);
  free(m->shared);
}

TEST(no_bit_depends_on_ranks) {
  static saa_table tables[3];
  saa_farmer(&tables[0], 200, 4);
  saa_draw(&tables[1], 12, false);
  saa_newsvendor(&tables[2], 2, 1);  // fewer scenarios than ranks
  for (int k = 0; k < 3; k++) {
    carom_saa_answer *alone = solve(&tables[k]);
    for (int count = 2; count <= MOST_RANKS; count++) {
      meeting m = {.count = count, .failing = -1, .table = &tables[k]};
      work_together(&m);
      for (int r = 0; r < count; r++) {
        CHECK(m.statuses[r] == CAROM_OK && m.answers[r] && same(alone, m.answers[r]));
        carom_saa_answer_destroy(m.answers[r]);
      }
    }
    carom_saa_answer_destroy(alone);
    saa_table_free(&tables[k]);
  }
}

TEST(ranks_fail_together) {
  static saa_table t;
  saa_farmer(&t, 50, 4);
  meeting m = {.count = 3, .failing = 1, .table = &t};
  work_together(&m);
  for (int r = 0; r < 3; r++) CHECK(m.statuses[r] == CAROM_ERR_MEMORY && !m.answers[r]);
  CHECK_CONTAINS(m.errors[0].message, "rank 0 stops since rank 1 has failed: out of memory");
  saa_table_free(&t);
}

// ---- problems without an answer -------------------------------------------------------------------------------------

static const char *const weather[] = {"dry", "usual", "wet"};

// Each scenario must sell at least so much out of at most 10 + x, with x at most 5.
static void make_promises(saa_table *t, double dry, double usual, double wet) {
  *t = (saa_table){.count = 3, .names = weather, .problem = {.n = 1, .m = 1, .rows = 1, .random_count = 1}};
  saa_put(t, CAROM_SAA_X_COST, 0, 0, 1, -1), saa_put(t, CAROM_SAA_X_LOW, 0, 0, 0, -1);
  saa_put(t, CAROM_SAA_X_HIGH, 0, 0, 5, -1);
  saa_put(t, CAROM_SAA_Y_LOW, 0, 0, 0, 0), saa_put(t, CAROM_SAA_Y_COST, 0, 0, -1, -1);
  saa_put(t, CAROM_SAA_ROW_X, 0, 0, -1, -1), saa_put(t, CAROM_SAA_ROW_Y, 0, 0, 1, -1);
  saa_put(t, CAROM_SAA_ROW_HIGH, 0, 0, 10, -1);
  t->values = calloc(3, sizeof *t->values);
  t->values[0] = dry, t->values[1] = usual, t->values[2] = wet;
}

TEST(an_infeasible_scenario_is_named) {
  static saa_table t;
  static const char *const rows[] = {"stock"};
  make_promises(&t, 3, 18, 4);
  t.problem.row_names = rows;
  carom_saa_answer *a = solve(&t);
  REQUIRE(a);
  CHECK(a->outcome == CAROM_SAA_INFEASIBLE && a->reason.scenario == 1 && a->reason.alone);
  CHECK_TEXT(a->reason.message,
             "scenario 'usual' cannot meet its rows, whatever is decided first: row 'stock' lacks most (proof: at "
             "least 3 in all)");
  CHECK_NEAR(a->reason.proof, 3, 1e-8);  // 18 - 10 - 5
  carom_saa_answer_destroy(a);
  saa_table_free(&t);
}

// One wants x up, another wants it down: neither is to blame alone.
TEST(scenarios_that_contradict_each_other_are_told) {
  static saa_table t;
  make_promises(&t, 3, 14, 4);
  saa_put(&t, CAROM_SAA_ROW_X, 1, 0, 1, -1);  // x <= 2 in the wet one
  saa_put(&t, CAROM_SAA_ROW_HIGH, 1, 0, 9, 1);
  t.problem.rows = 2, t.problem.random_count = 2;
  double *values = calloc(6, sizeof *values);
  for (int i = 0; i < 3; i++) values[2 * i] = t.values[i], values[2 * i + 1] = i == 2 ? 2 : 9;
  free(t.values);
  t.values = values;
  carom_saa_answer *a = solve(&t);
  REQUIRE(a);
  CHECK(a->outcome == CAROM_SAA_INFEASIBLE && !a->reason.alone && a->reason.scenario >= 0);
  CHECK_NEAR(a->reason.proof, 2.0 / 3, 1e-8);
  CHECK_CONTAINS(a->reason.message, "no first decision serves all scenarios");
  carom_saa_answer_destroy(a);
  saa_table_free(&t);
}

TEST(sides_that_cross_are_named) {
  static saa_table t;
  make_promises(&t, 3, 4, 5);
  saa_put(&t, CAROM_SAA_Y_HIGH, 0, 0, 4.5, -1);
  carom_saa_answer *a = solve(&t);
  REQUIRE(a);
  CHECK(a->outcome == CAROM_SAA_INFEASIBLE && a->reason.scenario == 2);
  CHECK_TEXT(a->reason.message, "in scenario 'wet', the lower side of unknown 1 is above the upper one");
  CHECK_NEAR(a->reason.proof, 0.5, 1e-12);
  carom_saa_answer_destroy(a);
  saa_table_free(&t);
}

TEST(rows_of_the_first_stage_are_named_too) {
  static saa_table t;
  static const char *const first[] = {"least", "most"};
  make_promises(&t, 3, 4, 5);
  for (int k = 0; k < 2; k++) saa_put(&t, CAROM_SAA_FIRST_X, k, 0, 1, -1);
  saa_put(&t, CAROM_SAA_FIRST_LOW, 0, 0, 4, -1), saa_put(&t, CAROM_SAA_FIRST_HIGH, 1, 0, 3, -1);
  t.problem.first_rows = 2, t.problem.first_names = first;
  carom_saa_answer *a = solve(&t);
  REQUIRE(a);
  CHECK(a->outcome == CAROM_SAA_INFEASIBLE && a->reason.scenario == -1);
  CHECK_CONTAINS(a->reason.message, "first-stage row '");
  CHECK_NEAR(a->reason.proof, 1, 1e-8);
  carom_saa_answer_destroy(a);
  saa_table_free(&t);
}

// The price of the second unknown is negative in one scenario, where nothing bounds it.
TEST(an_unbounded_scenario_is_named) {
  static saa_table t;
  static const char *const names[] = {"sold", "lent"};
  make_promises(&t, 3, 4, 5);
  t.problem.m = 2, t.problem.random_count = 2, t.problem.y_names = names;
  saa_put(&t, CAROM_SAA_Y_LOW, 1, 0, 0, -1), saa_put(&t, CAROM_SAA_Y_COST, 1, 0, 1, 1);
  double *values = calloc(6, sizeof *values);
  for (int i = 0; i < 3; i++) values[2 * i] = t.values[i], values[2 * i + 1] = i == 1 ? -0.1 : 0.1;
  free(t.values);
  t.values = values;
  carom_saa_answer *a = solve(&t);
  REQUIRE(a);
  CHECK(a->outcome == CAROM_SAA_UNBOUNDED && a->reason.scenario == 1 && a->reason.alone);
  CHECK_TEXT(a->reason.message, "the cost of scenario 'usual' falls for ever along unknown 'lent'; give it a bound");
  carom_saa_answer_destroy(a);
  saa_table_free(&t);
}

TEST(an_unbounded_first_stage_is_told) {
  static saa_table t;
  saa_newsvendor(&t, 9, 2);
  t.entries[0].value = 0.5;  // returned papers bring more than new ones cost
  carom_saa_answer *a = solve(&t);
  REQUIRE(a);
  CHECK(a->outcome == CAROM_SAA_UNBOUNDED && !a->reason.alone);
  CHECK_CONTAINS(a->reason.message, "falls for ever along unknown 1 of the first stage");
  CHECK_NEAR(a->reason.proof, 0.5, 1e-8);
  carom_saa_answer_destroy(a);
  saa_table_free(&t);
}

static void expect_error(saa_table *t, carom_status expected, const char *message) {
  carom_saa_answer *a = NULL;
  carom_error error = {0};
  carom_saa_set set = saa_set_of(t);
  CHECK(carom_saa_solve(&t->problem, &set, NULL, NULL, &a, &error) == expected && !a);
  CHECK_TEXT(error.message, message);
}

TEST(mistakes_get_one_message_each) {
  static saa_table t;
  make_promises(&t, 3, 4, 5);
  int count = t.problem.entry_count;
#define EXPECT(status, message) expect_error(&t, status, message), t.problem.entry_count = count
  saa_put(&t, CAROM_SAA_ROW_Y, 1, 0, 1, -1);
  EXPECT(CAROM_ERR_ARGUMENT, "saa: entry 8 (row of a scenario) is at (1, 0), outside of the problem");
  saa_put(&t, CAROM_SAA_X_COST, 0, 0, 1, 7);
  EXPECT(CAROM_ERR_ARGUMENT, "saa: entry 8 (cost of x) has no random number 7");
  saa_put(&t, CAROM_SAA_X_LOW, 0, 0, 1, 0);
  EXPECT(CAROM_ERR_ARGUMENT, "saa: entry 8 (lower bound of x) cannot be random (number 0)");
  saa_put(&t, CAROM_SAA_ROW_LOW, 0, 0, NAN, -1);
  EXPECT(CAROM_ERR_NUMBER, "saa: entry 8 (lower side of a row) is nan");
  saa_put(&t, CAROM_SAA_YY, 0, 0, -1, -1);
  EXPECT(CAROM_ERR_ARGUMENT, "saa: the quadratic cost of dry is not convex");
  saa_put(&t, CAROM_SAA_XX, 0, 0, -1, -1);
  EXPECT(CAROM_ERR_ARGUMENT, "saa: the quadratic cost of the first stage is not convex");
  t.values[1] = INFINITY;
  EXPECT(CAROM_ERR_NUMBER, "saa: random number 0 of usual is inf");
  t.values[1] = 4;
  t.probability = calloc(3, sizeof *t.probability);
  EXPECT(CAROM_ERR_NUMBER, "saa: the probability of dry is 0; it must be greater than 0");
  t.count = 0;
  EXPECT(CAROM_ERR_ARGUMENT, "saa: 0 scenarios: at least 1 is needed");
  saa_table_free(&t);
}

// ---- the judge ------------------------------------------------------------------------------------------------------

TEST(the_judge_sees_what_is_wrong) {
  static saa_table t;
  saa_draw(&t, 8, false);
  carom_saa_answer *a = solve(&t);
  carom_saa_set set = saa_set_of(&t);
  double residual;
  REQUIRE(a && carom_saa_residual(&t.problem, &set, a, NULL, &residual, NULL) == CAROM_OK);
  CHECK_AT_MOST(residual, 1e-9);
  double *const places[] = {&a->x[0], &a->y[0], &a->y[a->held * a->m - 1]};
  for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
    double kept = *places[k];
    *places[k] += 1e-4;
    carom_saa_residual(&t.problem, &set, a, NULL, &residual, NULL);
    CHECK(residual > 1e-6);
    *places[k] = kept;
  }
  for (int r = 0; r < a->rows; r++) {
    a->price[r] += 0.01;
    carom_saa_residual(&t.problem, &set, a, NULL, &residual, NULL);
    CHECK(residual > 1e-5);
    a->price[r] -= 0.01;
  }
  carom_saa_answer_destroy(a);
  saa_table_free(&t);
}

// Prices are derivatives of the least cost by the sides.
TEST(prices_are_derivatives) {
  static saa_table t;
  saa_farmer(&t, 3, 0);
  carom_saa_answer *a = solve(&t);
  int land = -1;
  for (int k = 0; k < t.problem.entry_count; k++)
    if (t.entries[k].part == CAROM_SAA_FIRST_HIGH) land = k;
  REQUIRE(a && land >= 0);
  t.entries[land].value += 1;
  carom_saa_answer *more = solve(&t);
  REQUIRE(more);
  CHECK_NEAR(more->objective - a->objective, a->first_price[0], 1e-6);
  carom_saa_answer_destroy(a);
  carom_saa_answer_destroy(more);
  saa_table_free(&t);
}

// ---- memory, scales, growth -----------------------------------------------------------------------------------------

TEST(refused_memory_is_told_and_nothing_leaks) {
  static saa_table t;
  make_promises(&t, 3, 18, 4);  // infeasible: certificates ask for memory too
  carom_saa_set set = saa_set_of(&t);
  int calls = 0;
  for (int allowed = 0;; allowed++) {
    failing_allocator failing = {.allowed = allowed};
    carom_allocator a = failing_allocator_of(&failing);
    carom_saa_answer *answer = NULL;
    carom_status status = carom_saa_solve(&t.problem, &set, NULL, &a, &answer, NULL);
    carom_saa_answer_destroy(answer);
    CHECK(failing.live == 0);
    if (status == CAROM_OK) break;
    CHECK(status == CAROM_ERR_MEMORY);
    REQUIRE(++calls < 3000);
  }
  CHECK(calls > 100);
  saa_table_free(&t);
}

// Units do not matter: dollars or millions, kilograms or grams.
TEST(units_change_nothing) {
  static saa_table t;
  for (int k = 0; k < 30; k++) {
    saa_draw(&t, 300 + (uint64_t)k, false);
    carom_saa_answer *a = solve(&t);
    double unit = pow(10, k % 9 - 4);
    for (int e = 0; e < t.problem.entry_count; e++) {
      carom_saa_part part = t.entries[e].part;
      bool cost = part == CAROM_SAA_X_COST || part == CAROM_SAA_XX || part == CAROM_SAA_YY || part == CAROM_SAA_YX;
      if (cost || (part == CAROM_SAA_Y_COST && t.entries[e].random < 0)) t.entries[e].value *= unit;
      if (part == CAROM_SAA_Y_COST && t.entries[e].random >= 0)
        for (int i = 0; i < t.count; i++) t.values[i * t.problem.random_count + t.entries[e].random] *= unit;
    }
    carom_saa_answer *b = solve(&t);
    REQUIRE(a && b);
    CHECK(b->outcome == CAROM_SAA_SOLVED);
    for (int j = 0; j < a->n; j++) CHECK_NEAR(b->x[j], a->x[j], 1e-6 * (1 + fabs(a->x[j])));
    CHECK_NEAR(b->objective, unit * a->objective, 1e-7 * unit * (1 + fabs(a->objective)));
    carom_saa_answer_destroy(a);
    carom_saa_answer_destroy(b);
    saa_table_free(&t);
  }
}

// Work is iterations times scenarios: the former hardly grow, and memory is in proportion.
TEST(work_grows_with_scenarios_and_no_faster_long) {
  static saa_table t;
  double each[2];
  static const int counts[] = {1000, 100000};
  for (int k = 0; k < 2; k++) {
    saa_farmer(&t, counts[k], 5);
    failing_allocator counting = {.allowed = -1};
    carom_allocator a = failing_allocator_of(&counting);
    carom_saa_set set = saa_set_of(&t);
    carom_saa_answer *answer = NULL;
    REQUIRE(carom_saa_solve(&t.problem, &set, NULL, &a, &answer, NULL) == CAROM_OK);
    CHECK(answer->outcome == CAROM_SAA_SOLVED && answer->iterations <= 30);
    CHECK_AT_MOST(answer->residual, 1e-9);
    each[k] = (double)counting.bytes / counts[k];
    carom_saa_answer_destroy(answer);
    saa_table_free(&t);
  }
  CHECK_AT_MOST(each[1], 1.1 * each[0]);
}

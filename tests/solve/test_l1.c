// min |A x + b|_1 against closed forms, against every vertex, and against its own dual; and what can go wrong.
#include <limits.h>

#include "carom/l1.h"
#include "failing_allocator.h"
#include "heap_counter.h"
#include "test.h"

enum { ROWS = 400, ENTRIES = 4000, UNKNOWNS = 120 };

// A program of the test's own.
typedef struct program {
  carom_l1_problem p;
  int start[ROWS + 1], column[ENTRIES];
  double value[ENTRIES], b[ROWS], x[UNKNOWNS], y[ROWS];
  carom_l1_info info;
} program;

static void begin(program *q, int n, int block) {
  q->start[0] = 0;
  q->p = (carom_l1_problem){0, n, block, q->start, q->column, q->value, q->b};
}

static void add(program *q, int column, double value) {
  int at = q->start[q->p.m + 1];
  q->column[at] = column, q->value[at] = value, q->start[q->p.m + 1]++;
}

static void open_row(program *q, double b) { q->b[q->p.m] = b, q->start[q->p.m + 1] = q->start[q->p.m]; }
static void close_row(program *q) { q->p.m++; }

// Each row has up to `most` entries at random.
static void fill_random(program *q, int m, int n, int most, carom_random *r) {
  begin(q, n, 1);
  for (int i = 0; i < m; i++) {
    open_row(q, carom_random_between(r, -1, 1));
    int column = (int)carom_random_below(r, (uint32_t)n);
    for (int k = 0; k < most && column < n; k++, column += 1 + (int)carom_random_below(r, (uint32_t)(n / most + 1)))
      add(q, column, carom_random_normal(r));
    close_row(q);
  }
}

static carom_status solve(program *q) {
  carom_l1_work *work = NULL;
  carom_error error = {0};
  carom_status status = carom_l1_work_create(&q->p, NULL, &work, &error);
  if (status == CAROM_OK)
    status = carom_l1_solve(work, &q->p, NULL, &(carom_l1_solution){q->x, q->y}, &q->info, &error);
  carom_l1_work_destroy(work);
  return status;
}

static double objective(const program *q, const double *x) {
  double sum = 0;
  for (int i = 0; i < q->p.m; i++) {
    double r = q->b[i];
    for (int e = q->start[i]; e < q->start[i + 1]; e++) r += q->value[e] * x[q->column[e]];
    sum += fabs(r);
  }
  return sum;
}

// What the solve says of itself, computed here again: |y| <= 1, A'y = 0, and no gap.
static void check_certificate(const program *q) {
  double Aty[UNKNOWNS] = {0}, dual = 0, size = 0;
  for (int i = 0; i < q->p.m; i++) {
    CHECK_AT_MOST(fabs(q->y[i]), 1);
    dual += q->b[i] * q->y[i], size += fabs(q->b[i]);
    for (int e = q->start[i]; e < q->start[i + 1]; e++) Aty[q->column[e]] += q->value[e] * q->y[i];
  }
  for (int j = 0; j < q->p.n; j++) CHECK_NEAR(Aty[j], 0, 1e-10);
  CHECK(q->info.outcome == CAROM_L1_SOLVED);
  CHECK_NEAR(q->info.primal, objective(q, q->x), 1e-12 * (1 + size));
  CHECK_NEAR(q->info.dual, dual, 1e-9 * (1 + size));
  CHECK_AT_MOST(q->info.gap, 1e-9 * (1 + size));
  CHECK_NEAR(q->info.gap, q->info.primal - q->info.dual, 0);
}

// ---- closed forms ---------------------------------------------------------------------------------------------------

TEST(the_median_is_found) {
  const double data[] = {3, -7, 1e6, 0.25, 2};
  program *q = calloc(1, sizeof *q);
  begin(q, 1, 1);
  for (int i = 0; i < 5; i++) open_row(q, -data[i]), add(q, 0, 1), close_row(q);
  REQUIRE(solve(q) == CAROM_OK);
  CHECK_NEAR(q->x[0], 2, 1e-5);  // of data up to 1e6
  CHECK_NEAR(q->info.primal, 1 + 1.75 + 9 + (1e6 - 2), 1e-5);
  check_certificate(q);
  free(q);
}

// With an even number every point between the two in the middle is as good, and the value is the same.
TEST(many_answers_have_one_value) {
  program *q = calloc(1, sizeof *q);
  begin(q, 1, 1);
  for (int i = 0; i < 4; i++) open_row(q, -i), add(q, 0, 1), close_row(q);
  REQUIRE(solve(q) == CAROM_OK);
  CHECK(q->x[0] > 1 - 1e-9 && q->x[0] < 2 + 1e-9);
  CHECK_NEAR(q->info.primal, 4, 1e-10);
  free(q);
}

// A line through points of which a third are far off is found exactly.
TEST(outliers_do_not_move_a_line) {
  program *q = calloc(1, sizeof *q);
  carom_random r = carom_random_make(3, 0);
  begin(q, 2, 2);
  for (int i = 0; i < 60; i++) {
    double t = carom_random_between(&r, -1, 1), wild = i % 3 == 0 ? carom_random_between(&r, 5, 50) : 0;
    open_row(q, -(0.75 - 2 * t + wild)), add(q, 0, 1), add(q, 1, t), close_row(q);
  }
  REQUIRE(solve(q) == CAROM_OK);
  CHECK_NEAR(q->x[0], 0.75, 1e-9);
  CHECK_NEAR(q->x[1], -2, 1e-9);
  check_certificate(q);
  free(q);
}

TEST(scales_of_data_do_not_matter) {
  const double scales[] = {1e-150, 1e-9, 1, 1e9, 1e150};
  program *q = calloc(1, sizeof *q);
  double first = 0;
  for (int k = 0; k < 5; k++) {
    carom_random r = carom_random_make(5, 0);
    fill_random(q, 90, 20, 3, &r);
    for (int i = 0; i < q->p.m; i++) q->b[i] *= scales[k];
    REQUIRE(solve(q) == CAROM_OK);
    CHECK(q->info.outcome == CAROM_L1_SOLVED);
    if (k == 0) first = q->info.primal / scales[k];
    CHECK_NEAR(q->info.primal / scales[k], first, 1e-9);
    CHECK_AT_MOST(q->info.gap / scales[k], 1e-9);
  }
  free(q);
}

// ---- every vertex ---------------------------------------------------------------------------------------------------

// The x at which rows i and k vanish; false where they do not tell one.
static bool vertex_of(const program *q, int i, int k, double x[2]) {
  const double *a = q->value + q->start[i], *c = q->value + q->start[k];
  double d = a[0] * c[1] - a[1] * c[0];
  if (fabs(d) < 1e-9) return false;
  x[0] = (-q->b[i] * c[1] + q->b[k] * a[1]) / d;
  x[1] = (-q->b[k] * a[0] + q->b[i] * c[0]) / d;
  return true;
}

// The least sum is reached where as many rows vanish as there are unknowns: of two unknowns all such points are tried.
TEST(no_vertex_is_better) {
  program *q = calloc(1, sizeof *q);
  for (int seed = 0; seed < 300; seed++) {
    carom_random r = carom_random_make(11, (uint64_t)seed);
    int m = 2 + (int)carom_random_below(&r, 20);
    begin(q, 2, 1 + seed % 2);
    for (int i = 0; i < m; i++) {
      double a = seed % 3 ? carom_random_normal(&r) : (double)carom_random_below(&r, 5) - 2;  // degenerate ones, too
      double c = seed % 3 ? carom_random_normal(&r) : (double)carom_random_below(&r, 5) - 2;
      open_row(q, (double)carom_random_below(&r, 9) - 4), add(q, 0, a), add(q, 1, c), close_row(q);
    }
    REQUIRE(solve(q) == CAROM_OK);
    double best = INFINITY, x[2];
    for (int i = 0; i < m; i++)
      for (int k = 0; k < i; k++)
        if (vertex_of(q, i, k, x)) best = fmin(best, objective(q, x));
    check_certificate(q);
    if (isfinite(best)) CHECK_NEAR(q->info.primal, best, 1e-9);
  }
  free(q);
}

TEST(random_programs_are_solved_and_proved) {
  program *q = calloc(1, sizeof *q);
  for (int seed = 0; seed < 120; seed++) {
    carom_random r = carom_random_make(17, (uint64_t)seed);
    int n = 1 + (int)carom_random_below(&r, UNKNOWNS), m = 1 + (int)carom_random_below(&r, ROWS);
    if (4 * m > 3 * n && 4 * m < 5 * n) m += n;  // random A that are nearly square are nearly singular
    fill_random(q, m, n, 1 + seed % 8, &r);
    REQUIRE(solve(q) == CAROM_OK);
    check_certificate(q);
    CHECK_AT_MOST(q->info.iterations, 40);
  }
  free(q);
}

// ---- rank -----------------------------------------------------------------------------------------------------------

// Differences alone leave the mean free; columns of zeros and repeated columns leave more.
TEST(null_spaces_do_no_harm) {
  program *q = calloc(1, sizeof *q);
  begin(q, 40, 1);
  carom_random r = carom_random_make(23, 0);
  for (int i = 0; i < 29; i++)
    for (int k = 0; k < 3; k++) open_row(q, carom_random_normal(&r)), add(q, i, -1), add(q, i + 1, 1), close_row(q);
  for (int i = 0; i < 30; i++) open_row(q, carom_random_normal(&r)), add(q, 30, 1), add(q, 31, 1), close_row(q);
  open_row(q, 2), close_row(q);  // a row of no entries adds |b|
  REQUIRE(solve(q) == CAROM_OK);
  check_certificate(q);
  for (int j = 32; j < 40; j++) CHECK_NEAR(q->x[j], 0, 0);
  for (int j = 0; j < 32; j++) CHECK_AT_MOST(fabs(q->x[j]), 100);
  double medians = 2;  // each difference is a median of three, and the sum one of thirty
  for (int i = 0; i < 29; i++) {
    double a = q->b[3 * i], b = q->b[3 * i + 1], c = q->b[3 * i + 2];
    medians += fmax(fmax(a, b), c) - fmin(fmin(a, b), c);
  }
  double sum[30];
  memcpy(sum, q->b + 87, sizeof sum);
  for (int i = 0; i < 30; i++)
    for (int k = i + 1; k < 30; k++)
      if (sum[k] < sum[i]) {
        double t = sum[i];
        sum[i] = sum[k], sum[k] = t;
      }
  for (int i = 0; i < 15; i++) medians += sum[29 - i] - sum[i];
  CHECK_NEAR(q->info.primal, medians, 1e-9);
  free(q);
}

TEST(nothing_to_explain_takes_no_iteration) {
  program *q = calloc(1, sizeof *q);
  carom_random r = carom_random_make(5, 0);
  fill_random(q, 30, 10, 3, &r);
  for (int i = 0; i < q->p.m; i++) q->b[i] = 0;
  REQUIRE(solve(q) == CAROM_OK);
  CHECK(q->info.iterations == 0 && q->info.primal == 0 && q->info.gap == 0 && q->x[3] == 0 && q->y[4] == 0);
  free(q);
}

// b = -A z is explained completely.
TEST(what_can_be_explained_is) {
  program *q = calloc(1, sizeof *q);
  carom_random r = carom_random_make(29, 0);
  fill_random(q, 200, 40, 4, &r);
  double z[40];
  for (int j = 0; j < 40; j++) z[j] = carom_random_normal(&r);
  for (int i = 0; i < q->p.m; i++) {
    q->b[i] = 0;
    for (int e = q->start[i]; e < q->start[i + 1]; e++) q->b[i] -= q->value[e] * z[q->column[e]];
  }
  REQUIRE(solve(q) == CAROM_OK);
  CHECK_AT_MOST(q->info.primal, 1e-10);
  for (int j = 0; j < 40; j++) CHECK_NEAR(q->x[j], z[j], 1e-10);
  free(q);
}

// ---- the companion --------------------------------------------------------------------------------------------------

TEST(least_squares_leave_nothing_along_columns) {
  program *q = calloc(1, sizeof *q);
  carom_random r = carom_random_make(31, 0);
  fill_random(q, 300, 60, 5, &r);
  carom_l1_work *work = NULL;
  REQUIRE(carom_l1_work_create(&q->p, NULL, &work, NULL) == CAROM_OK);
  REQUIRE(carom_l1_least_squares(work, &q->p, NULL, q->x, NULL) == CAROM_OK);
  carom_l1_work_destroy(work);
  double At_r[UNKNOWNS] = {0};
  for (int i = 0; i < q->p.m; i++) {
    double rest = q->b[i];
    for (int e = q->start[i]; e < q->start[i + 1]; e++) rest += q->value[e] * q->x[q->column[e]];
    for (int e = q->start[i]; e < q->start[i + 1]; e++) At_r[q->column[e]] += q->value[e] * rest;
  }
  for (int j = 0; j < 60; j++) CHECK_NEAR(At_r[j], 0, 1e-12);
  free(q);
}

// ---- the work object ------------------------------------------------------------------------------------------------

TEST(blocks_and_threads_change_no_value) {
  program *q = calloc(1, sizeof *q);
  carom_random r = carom_random_make(37, 0);
  double value = 0, x[2][UNKNOWNS];
  fill_random(q, 350, 120, 4, &r);
  for (int block = 1; block <= 8; block *= 2) {
    q->p.block = block;
    REQUIRE(solve(q) == CAROM_OK);
    check_certificate(q);
    if (block == 1) value = q->info.primal;
    CHECK_NEAR(q->info.primal, value, 1e-9);
  }
  for (int k = 0; k < 2; k++) {
    carom_l1_options o = carom_l1_default_options();
    carom_l1_work *work = NULL;
    o.threads = 1 + 3 * k;
    REQUIRE(carom_l1_work_create(&q->p, NULL, &work, NULL) == CAROM_OK);
    REQUIRE(carom_l1_solve(work, &q->p, &o, &(carom_l1_solution){x[k], NULL}, NULL, NULL) == CAROM_OK);
    carom_l1_work_destroy(work);
  }
  CHECK(memcmp(x[0], x[1], sizeof x[0]) == 0);
  free(q);
}

TEST(solves_repeat_and_allocate_nothing) {
  program *q = calloc(1, sizeof *q);
  carom_random r = carom_random_make(41, 0);
  double x[UNKNOWNS];
  carom_l1_work *work = NULL;
  carom_l1_options o = carom_l1_default_options();
  o.threads = 1;
  fill_random(q, 250, 80, 4, &r);
  REQUIRE(carom_l1_work_create(&q->p, NULL, &work, NULL) == CAROM_OK);
  REQUIRE(carom_l1_solve(work, &q->p, &o, &(carom_l1_solution){x, NULL}, NULL, NULL) == CAROM_OK);
  q->b[3] += 1;
  REQUIRE(carom_l1_solve(work, &q->p, &o, &(carom_l1_solution){q->x, NULL}, NULL, NULL) == CAROM_OK);
  q->b[3] -= 1;
  long before = heap_calls;
  REQUIRE(carom_l1_solve(work, &q->p, &o, &(carom_l1_solution){q->x, q->y}, &q->info, NULL) == CAROM_OK);
  CHECK(heap_calls == before);
  CHECK(memcmp(x, q->x, 80 * sizeof *x) == 0);
  carom_l1_work_destroy(work);
  free(q);
}

static bool stop_at_three(void *context, double done, double total) {
  (void)total;
  ++*(int *)context;
  return done < 3;
}

TEST(limits_and_interruptions_keep_the_best_so_far) {
  program *q = calloc(1, sizeof *q);
  carom_random r = carom_random_make(43, 0);
  carom_l1_work *work = NULL;
  carom_error error = {0};
  fill_random(q, 250, 80, 4, &r);
  REQUIRE(carom_l1_work_create(&q->p, NULL, &work, NULL) == CAROM_OK);
  carom_l1_options o = carom_l1_default_options();
  o.max_iterations = 3;
  REQUIRE(carom_l1_solve(work, &q->p, &o, &(carom_l1_solution){q->x, q->y}, &q->info, &error) == CAROM_OK);
  CHECK(q->info.outcome == CAROM_L1_LIMIT && q->info.iterations == 3 && q->info.gap > 0);
  CHECK_NEAR(q->info.primal, objective(q, q->x), 1e-12);
  double limited = q->info.primal;
  int asked = 0;
  o = carom_l1_default_options(), o.progress = (carom_progress){&asked, stop_at_three};
  CHECK(carom_l1_solve(work, &q->p, &o, &(carom_l1_solution){q->x, q->y}, &q->info, &error) == CAROM_INTERRUPTED &&
        asked == 4);
  CHECK_CONTAINS(error.message, "interrupted");
  CHECK_NEAR(q->info.primal, limited, 0);
  o = carom_l1_default_options(), o.tolerance = 1e-300;
  REQUIRE(carom_l1_solve(work, &q->p, &o, &(carom_l1_solution){q->x, q->y}, &q->info, &error) == CAROM_OK);
  CHECK(q->info.outcome == CAROM_L1_STALLED);
  CHECK_AT_MOST(q->info.gap, 1e-11);
  CHECK_TEXT(carom_l1_outcome_name(CAROM_L1_STALLED), "stalled");
  carom_l1_work_destroy(work);
  free(q);
}

// ---- mistakes -------------------------------------------------------------------------------------------------------

static void check_refused(const carom_l1_problem *p, const char *message) {
  carom_l1_work *work = NULL;
  carom_error error = {0};
  CHECK(carom_l1_work_create(p, NULL, &work, &error) == CAROM_ERR_ARGUMENT && !work);
  CHECK_CONTAINS(error.message, message);
}

TEST(patterns_that_are_none_are_refused) {
  const int start[] = {0, 2, 3}, column[] = {0, 1, 1}, turned[] = {1, 0, 1}, far[] = {0, 7, 1}, late[] = {1, 2, 3},
            back[] = {0, 2, 1};
  const double value[] = {1, 2, 3}, b[] = {1, 2};
  check_refused(&(carom_l1_problem){0, 2, 1, start, column, value, b}, "A is 0 x 2; it needs a row and a column");
  check_refused(&(carom_l1_problem){2, 2, 1, start, turned, value, b}, "columns of row 0 of A do not ascend: 1, 0");
  check_refused(&(carom_l1_problem){2, 2, 1, start, far, value, b},
                "row 0 of A has column 7, but there are columns 0 to 1");
  check_refused(&(carom_l1_problem){2, 2, 1, late, column, value, b}, "row_start[0] is 1, not 0");
  check_refused(&(carom_l1_problem){2, 2, 1, back, column, value, b}, "row 1 of A ends before it begins");
  check_refused(&(carom_l1_problem){2, 2, 3, start, column, value, b}, "blocks of 3 for 2 unknowns");
}

TEST(numbers_and_options_that_are_none_are_refused) {
  program *q = calloc(1, sizeof *q);
  carom_random r = carom_random_make(47, 0);
  carom_l1_work *work = NULL;
  carom_error error = {0};
  fill_random(q, 50, 10, 2, &r);
  REQUIRE(carom_l1_work_create(&q->p, NULL, &work, NULL) == CAROM_OK);
  double kept = q->b[7];
  q->b[7] = NAN;
  CHECK(carom_l1_solve(work, &q->p, NULL, &(carom_l1_solution){q->x, NULL}, NULL, &error) == CAROM_ERR_NUMBER);
  CHECK_TEXT(error.message, "b[7] is not finite");
  q->b[7] = kept, q->value[q->start[5]] = INFINITY;
  CHECK(carom_l1_least_squares(work, &q->p, NULL, q->x, &error) == CAROM_ERR_NUMBER);
  CHECK_CONTAINS(error.message, "row 5 of A has an entry that is not finite, in column");
  q->value[q->start[5]] = 1;
  carom_l1_options o = carom_l1_default_options();
  o.tolerance = 0;
  CHECK(carom_l1_solve(work, &q->p, &o, &(carom_l1_solution){q->x, NULL}, NULL, &error) == CAROM_ERR_ARGUMENT);
  CHECK_CONTAINS(error.message, "tolerance 0 must be > 0");
  q->p.m--;
  CHECK(carom_l1_solve(work, &q->p, NULL, &(carom_l1_solution){q->x, NULL}, NULL, &error) == CAROM_ERR_ARGUMENT);
  CHECK_CONTAINS(error.message, "but the work was made for 50 x 10");
  carom_l1_work_destroy(work);
  free(q);
}

TEST(every_refused_request_is_told) {
  program *q = calloc(1, sizeof *q);
  carom_random r = carom_random_make(53, 0);
  fill_random(q, 50, 20, 3, &r);
  for (int allowed = 0;; allowed++) {
    failing_allocator failing = {.allowed = allowed};
    carom_allocator allocator = failing_allocator_of(&failing);
    carom_l1_work *work = NULL;
    carom_error error = {0};
    carom_status status = carom_l1_work_create(&q->p, &allocator, &work, &error);
    carom_l1_work_destroy(work);
    CHECK(failing.live == 0);
    if (status == CAROM_OK) break;
    CHECK(status == CAROM_ERR_MEMORY);
    CHECK_CONTAINS(error.message, "50 rows and 20 unknowns");
    REQUIRE(allowed < 200);
  }
  free(q);
}

TEST(programs_are_written_for_others) {
  program *q = calloc(1, sizeof *q);
  begin(q, 2, 1);
  open_row(q, 0.5), add(q, 0, 2), add(q, 1, -1), close_row(q);
  open_row(q, 0), add(q, 1, 4), close_row(q);
  REQUIRE(carom_l1_write_mps(&q->p, "two.mps", NULL) == CAROM_OK);
  char text[2000] = {0};
  FILE *file = fopen("two.mps", "r");
  REQUIRE(file != NULL);
  CHECK(fread(text, 1, sizeof text - 1, file) > 0);
  fclose(file);
  CHECK_TEXT(
      text,
      "NAME carom FREE\nROWS\n N obj\n E r0\n E r1\nCOLUMNS\n x0 obj 0\n x0 r0 2\n x1 obj 0\n x1 r0 -1\n x1 r1 4\n"
      " p0 obj 1\n p0 r0 -1\n q0 obj 1\n q0 r0 1\n p1 obj 1\n p1 r1 -1\n q1 obj 1\n q1 r1 1\n"
      "RHS\n b r0 -0.5\nBOUNDS\n FR bound x0\n FR bound x1\nENDATA\n");
  carom_error error = {0};
  CHECK(carom_l1_write_mps(&q->p, "no/such/folder/two.mps", &error) == CAROM_ERR_IO);
  free(q);
}

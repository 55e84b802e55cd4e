// What is taken out of a program before the solver sees it: fixed variables, idle variables, and rows that nothing can
// change. The answer must be that of the program without them.
#include "control/kinds.h"
#include "test.h"

enum { FREE = 12, EQUATIONS = 5, FIXED = 4, IDLE_ROWS = 6, IDLE = 3 };

// min sum w (y - t)^2 with A y = b, of which every row may know fixed variables as well.
typedef struct problem {
  double weight[FREE], target[FREE], A[EQUATIONS][FREE], B[EQUATIONS][FIXED], fixed[FIXED], b[EQUATIONS];
  double low[FREE];
} problem;

static problem random_problem(carom_random *r) {
  problem p;
  for (int i = 0; i < FREE; i++) {
    p.weight[i] = carom_random_between(r, 0.5, 2), p.target[i] = carom_random_between(r, -1, 1);
    p.low[i] = carom_random_below(r, 4) ? -INFINITY : carom_random_between(r, -0.3, 0.3);
  }
  for (int i = 0; i < FIXED; i++) p.fixed[i] = carom_random_between(r, -1, 1);
  for (int k = 0; k < EQUATIONS; k++) {
    for (int i = 0; i < FREE; i++) p.A[k][i] = carom_random_below(r, 2) ? carom_random_between(r, -1, 1) : 0;
    for (int i = 0; i < FIXED; i++) p.B[k][i] = carom_random_below(r, 2) ? carom_random_between(r, -1, 1) : 0;
    p.A[k][k] += 2;
    p.b[k] = carom_random_between(r, -1, 1);
  }
  return p;
}

static void add_term(carom_program *P, int variable, int row, double factor) {
  if (factor != 0)
    carom_program_add(P, &carom_kind_linear, CAROM_OF({variable, 1}), CAROM_INTO({row, 1}), CAROM_WITH(factor));
}

static int add_row(carom_program *P, double low, double high, int mark) {
  return carom_program_rows(P, 1, low, high, 1, (carom_row_label){.kind = CAROM_ROW_MOTION, .node = mark});
}

static void add_free(carom_program *P, const problem *p, int at) {
  for (int i = 0; i < FREE; i++) {
    P->x_low[at + i] = p->low[i], P->x[at + i] = fmax(0, p->low[i]);
    carom_program_add(P, &carom_kind_square, CAROM_OF({at + i, 1}), CAROM_INTO({CAROM_ROW_COST, 1}),
                      CAROM_WITH(p->weight[i], p->target[i]));
  }
}

// Without anything that could be taken out: fixed variables are numbers.
static int plain(carom_program *P, const problem *p) {
  carom_program_create(P, NULL);
  int at = carom_program_variables(P, FREE, -INFINITY, INFINITY, 1);
  add_free(P, p, at);
  for (int k = 0; k < EQUATIONS; k++) {
    double b = p->b[k];
    for (int i = 0; i < FIXED; i++) b -= p->B[k][i] * p->fixed[i];
    int row = add_row(P, b, b, k);
    for (int i = 0; i < FREE; i++) add_term(P, at + i, row, p->A[k][i]);
  }
  return at;
}

// A row of fixed variables alone; off by this much.
static void add_idle_row(carom_program *P, carom_random *r, int fixed, double off, int mark) {
  double sum = 0, factor[FIXED];
  for (int i = 0; i < FIXED; i++) factor[i] = carom_random_between(r, -1, 1), sum += factor[i] * P->x[fixed + i];
  bool equation = carom_random_below(r, 2);
  int row = add_row(P, sum + off, equation ? sum + off : INFINITY, mark);
  for (int i = 0; i < FIXED; i++) add_term(P, fixed + i, row, factor[i]);
}

// The same with fixed and idle variables before and between, and idle rows among the others.
static int full(carom_program *P, const problem *p, carom_random *r, double off) {
  carom_program_create(P, NULL);
  int fixed = carom_program_variables(P, FIXED, 0, 0, 1);
  for (int i = 0; i < FIXED; i++) carom_program_fix(P, fixed + i, p->fixed[i]);
  int idle = carom_program_variables(P, IDLE, -INFINITY, INFINITY, 1);
  for (int i = 0; i < IDLE; i++) P->x[idle + i] = 10 + i;
  int at = carom_program_variables(P, FREE, -INFINITY, INFINITY, 1);
  add_free(P, p, at);
  int left = IDLE_ROWS;
  for (int k = 0; k < EQUATIONS; k++) {
    for (; left > 0 && carom_random_below(r, 2); left--) add_idle_row(P, r, fixed, 0, -1);
    int row = add_row(P, p->b[k], p->b[k], k);
    for (int i = 0; i < FREE; i++) add_term(P, at + i, row, p->A[k][i]);
    for (int i = 0; i < FIXED; i++) add_term(P, fixed + i, row, p->B[k][i]);
  }
  for (; left > 0; left--) add_idle_row(P, r, fixed, 0, -1);
  if (off > 0) add_idle_row(P, r, fixed, off, 99);
  return at;
}

static carom_nlp_outcome solve(carom_program *P) {
  carom_nlp nlp = carom_program_nlp(P);
  carom_nlp_options options = carom_nlp_default_options();
  carom_nlp_info info = {0};
  if (!carom_nlp_available()) test_skip("built without Ipopt");
  if (carom_nlp_solve(&nlp, &options, NULL, P->x, &info, NULL) != CAROM_OK) test_fail(__FILE__, __LINE__, "no solve");
  return info.outcome;
}

TEST(idle_parts_do_not_change_the_answer) {
  carom_random r = carom_random_make(31, 0);
  for (int trial = 0; trial < 20; trial++) {
    problem p = random_problem(&r);
    carom_program A, B;
    int a = plain(&A, &p), b = full(&B, &p, &r, 0), rows = B.m;
    REQUIRE(carom_program_seal(&A, NULL) == CAROM_OK && carom_program_seal(&B, NULL) == CAROM_OK);
    CHECK(A.m == EQUATIONS && rows == EQUATIONS + IDLE_ROWS && B.m == EQUATIONS);
    for (int i = 0; i < B.m; i++) CHECK(B.labels[i].node == i && B.g_low[i] == p.b[i]);
    for (int i = 0; i < B.jacobian_count; i++) CHECK(B.jacobian_column[i] >= b);
    carom_nlp_outcome one = solve(&A), other = solve(&B);
    CHECK(one == other);
    if (one != CAROM_NLP_SOLVED) continue;
    for (int i = 0; i < FREE; i++) CHECK_NEAR(B.x[b + i], A.x[a + i], 1e-7);
    for (int i = 0; i < FIXED; i++) CHECK(B.x[i] == p.fixed[i]);
    for (int i = 0; i < IDLE; i++) CHECK(B.x[FIXED + i] == 10 + i);
    carom_program_destroy(&A);
    carom_program_destroy(&B);
  }
}

// A row that nothing can change and that does not hold stays, so that somebody says so.
TEST(idle_rows_that_do_not_hold_stay) {
  carom_random r = carom_random_make(32, 0);
  for (int trial = 0; trial < 20; trial++) {
    problem p = random_problem(&r);
    carom_program P;
    full(&P, &p, &r, 0.01);
    REQUIRE(carom_program_seal(&P, NULL) == CAROM_OK);
    REQUIRE(P.m == EQUATIONS + 1);
    CHECK(P.labels[EQUATIONS].node == 99);
    double g[EQUATIONS + 1], absolute;
    int row;
    CHECK(carom_program_constraints(&P, P.x, g));
    for (int i = 0; i < EQUATIONS; i++) g[i] = P.g_low[i];
    CHECK_NEAR(carom_program_violation(&P, P.x, g, &row, &absolute), 0.01, 1e-12);
    CHECK(row == EQUATIONS);
    carom_program_destroy(&P);
  }
}

// Values of rows that are left do not depend on what was taken out, whatever the kind.
TEST(rows_that_are_left_keep_their_values) {
  carom_random r = carom_random_make(33, 0);
  for (int trial = 0; trial < 50; trial++) {
    carom_program P;
    carom_program_create(&P, NULL);
    double q[8], g[8], before[5], after[5];
    int at = carom_program_variables(&P, 8, -INFINITY, INFINITY, 1), fixed = (int)carom_random_below(&r, 256);
    for (int i = 0; i < 8; i++) P.x[at + i] = q[i] = carom_random_between(&r, -1, 1);
    for (int i = 0; i < 8; i++)
      if (fixed >> i & 1) carom_program_fix(&P, at + i, q[i]);
    double unit = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3] - 1;
    int row = add_row(&P, unit, unit, 0);  // holds as it is
    carom_program_add(&P, &carom_kind_unit, CAROM_OF({at, 4}), CAROM_INTO({row, 1}), CAROM_PLAIN);
    row = add_row(&P, -INFINITY, INFINITY, 1);
    carom_program_add(&P, &carom_kind_turn, CAROM_OF({at, 8}), CAROM_INTO({row, 1}), CAROM_PLAIN);
    row = add_row(&P, 7, 7, 2);  // does not
    carom_program_add(&P, &carom_kind_unit, CAROM_OF({at + 4, 4}), CAROM_INTO({row, 1}), CAROM_PLAIN);
    CHECK(carom_program_constraints(&P, P.x, g));
    memcpy(before, g, sizeof before);
    REQUIRE(carom_program_seal(&P, NULL) == CAROM_OK);
    CHECK(carom_program_constraints(&P, P.x, g));
    memcpy(after, g, sizeof after);
    bool idle[3] = {(fixed & 15) == 15, fixed == 255, false};
    CHECK(P.m == 3 - idle[0] - idle[1]);
    for (int i = 0; i < P.m; i++) CHECK(!idle[P.labels[i].node] && after[i] == before[P.labels[i].node]);
    carom_program_destroy(&P);
  }
}

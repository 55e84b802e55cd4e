// Is there a solution, and was it found? Small integer problems against the simplex method of GLPK in rational numbers,
// asked for every complementary cone.
#include <glpk.h>

#include "lcp_samples.h"
#include "test.h"

#include "carom/lcp.h"

enum { MOST = 6 };

// ---- the oracle ----------------------------------------------------------------------------------------------------

static int lp_answer(glp_prob *lp) {
  glp_smcp parameters;
  glp_init_smcp(&parameters);
  parameters.msg_lev = GLP_MSG_OFF;
  glp_simplex(lp, &parameters);  // for a basis to begin with
  return glp_exact(lp, &parameters) == 0 ? glp_get_status(lp) : GLP_UNDEF;
}

// Is q in the cone of alpha: x >= 0, C(alpha) x = q, column i of C being -M(:, i) or the i-th unit vector?
static bool cone_holds(const lcp_sample *s, unsigned alpha) {
  int n = s->n, rows[MOST + 1];
  double column[MOST + 1];
  glp_prob *lp = glp_create_prob();
  glp_add_rows(lp, n), glp_add_cols(lp, n);
  for (int i = 0; i < n; i++) glp_set_row_bnds(lp, i + 1, GLP_FX, s->q[i], s->q[i]), rows[i + 1] = i + 1;
  for (int j = 0; j < n; j++) {
    glp_set_col_bnds(lp, j + 1, GLP_LO, 0, 0);
    for (int i = 0; i < n; i++) column[i + 1] = alpha >> j & 1 ? -*lcp_sample_at(s, i, j) : i == j;
    glp_set_mat_col(lp, j + 1, n, rows, column);
  }
  int status = lp_answer(lp);
  glp_delete_prob(lp);
  if (status != GLP_OPT && status != GLP_FEAS && status != GLP_NOFEAS && status != GLP_INFEAS)
    test_fail(__FILE__, __LINE__, "GLPK ended with status %d", status);
  return status == GLP_OPT || status == GLP_FEAS;
}

static bool is_solvable(const lcp_sample *s) {
  for (unsigned alpha = 0; alpha < 1u << s->n; alpha++)
    if (cone_holds(s, alpha)) return true;
  return false;
}

// ---- the library ---------------------------------------------------------------------------------------------------

static double natural_residual(const lcp_sample *s, const double *z) {
  double worst = 0;
  for (int i = 0; i < s->n; i++) {
    double w = s->q[i];
    for (int j = 0; j < s->n; j++) w += *lcp_sample_at(s, i, j) * z[j];
    worst = fmax(worst, fabs(fmin(w, z[i])));
  }
  return worst;
}

static double zero_residual(const lcp_sample *s) { return natural_residual(s, (double[MOST]){0}); }

static void print_sample(const lcp_sample *s) {
  for (int i = 0; i < s->n; i++) {
    for (int j = 0; j < s->n; j++) fprintf(stderr, " %3g", *lcp_sample_at(s, i, j));
    fprintf(stderr, "   %3g\n", s->q[i]);
  }
}

// Neither a false success nor a false "none"; with `complete`, one of the two.
static carom_lcp_outcome check_method(const lcp_sample *s, carom_lcp_method method, bool solvable, bool complete) {
  double z[MOST], w[MOST];
  carom_lcp_options options = carom_lcp_default_options();
  carom_lcp_problem problem = {.n = s->n, .M = s->M, .q = s->q};
  carom_lcp_info info = {0};
  carom_lcp_work *work;
  options.method = method;
  CHECK(carom_lcp_work_create(s->n, NULL, &work, NULL) == CAROM_OK);
  CHECK(carom_lcp_solve(work, &problem, &options, &(carom_lcp_solution){z, w, NULL}, &info, NULL) == CAROM_OK);
  carom_lcp_work_destroy(work);
  double residual = natural_residual(s, z), size = 1;
  for (int i = 0; i < s->n; i++) size = fmax(size, z[i]);
  bool solved = info.outcome == CAROM_LCP_SOLVED, none = info.outcome == CAROM_LCP_NONE;
  bool wrong = (solved && (!solvable || residual > 1e-9)) || (none && solvable) || (complete && solved != solvable) ||
               (complete && none == solvable);
  if (wrong || residual > zero_residual(s) * (1 + 1e-12) || fabs(residual - info.residual) > 1e-14 * size) {
    print_sample(s);
    test_fail(__FILE__, __LINE__, "%s: %s, residual %g (told %g, %g at z = 0); %s", carom_lcp_method_name(method),
              carom_lcp_outcome_name(info.outcome), residual, info.residual, zero_residual(s),
              solvable ? "there is a solution" : "there is none");
  }
  return info.outcome;
}

// ---- random problems -----------------------------------------------------------------------------------------------

// Every third matrix is sparse, so that singular bases are many; every fourth symmetric.
static lcp_sample random_problem(uint64_t seed) {
  carom_random random = carom_random_make(seed, 11);
  lcp_sample s = lcp_sample_new(1 + (int)(seed % MOST));
  for (int j = 0; j < s.n; j++)
    for (int i = 0; i < s.n; i++) {
      *lcp_sample_at(&s, i, j) = (int)carom_random_below(&random, 5) - 2;
      if (seed % 3 == 0 && carom_random_uniform(&random) < 0.5) *lcp_sample_at(&s, i, j) = 0;
      if (seed % 4 == 0 && i < j) *lcp_sample_at(&s, j, i) = *lcp_sample_at(&s, i, j);
    }
  for (int i = 0; i < s.n; i++) s.q[i] = (int)carom_random_below(&random, 5) - 2;
  return s;
}

static void check_many(uint64_t from, uint64_t to) {
  int solvable = 0, unsolvable = 0;
  for (uint64_t seed = from; seed < to; seed++) {
    lcp_sample s = random_problem(seed);
    bool exists = is_solvable(&s);
    exists ? solvable++ : unsolvable++;
    check_method(&s, CAROM_LCP_ENUMERATE, exists, true);
    check_method(&s, CAROM_LCP_AUTO, exists, true);
    for (int m = CAROM_LCP_LEMKE; m < CAROM_LCP_ENUMERATE; m++) check_method(&s, (carom_lcp_method)m, exists, false);
    lcp_sample_free(&s);
  }
  CHECK(4 * solvable > (int)(to - from) && 8 * unsolvable > (int)(to - from));
}

TEST(small_integer_problems_are_answered_as_by_linear_programs) { check_many(0, 300); }
TEST(three_thousand_integer_problems_are_answered_as_by_linear_programs_long) { check_many(300, 3300); }

// ---- solutions on singular bases -----------------------------------------------------------------------------------

typedef struct known {
  int n;
  double M[9], q[3];  // row by row
} known;

static lcp_sample sample_of(int n, const double *rows, const double *q) {
  lcp_sample s = lcp_sample_new(n);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) *lcp_sample_at(&s, i, j) = rows[i * n + j];
  memcpy(s.q, q, sizeof(double) * (size_t)n);
  return s;
}

TEST(solutions_on_singular_bases_are_found) {
  const known problems[] = {{3, {-2, 2, 2, -2, 0, 2, 0, 0, 0}, {2, -1, 0}}, {2, {0, 1, 0, 0}, {-1, 0}}};
  for (size_t k = 0; k < sizeof problems / sizeof *problems; k++) {
    lcp_sample s = sample_of(problems[k].n, problems[k].M, problems[k].q);
    CHECK(check_method(&s, CAROM_LCP_ENUMERATE, true, true) == CAROM_LCP_SOLVED);
    CHECK(check_method(&s, CAROM_LCP_AUTO, true, true) == CAROM_LCP_SOLVED);
    lcp_sample_free(&s);
  }
}

// Found among 100000: pivots along a ray of M led to a z near 1e16, in which q was lost to round-off, so that w was
// zero.
TEST(answers_in_which_q_is_lost_are_none) {
  const double M[2][36] = {{2, 1,  -1, 1, 1, 1,  0,  1, 1,  2,  -1, 1,  -1, -2, -2, 2, 2, -2,
                            1, -2, 2,  0, 2, -1, -1, 1, -1, -2, -1, -1, 2,  -2, 0,  0, 2, 0},
                           {-1, 2,  2, 0, 2,  -1, 0,  0, 2, 0,  2, -2, 0, 1, 1, 1, 2,  -2,
                            1,  -2, 1, 1, -1, 2,  -2, 1, 2, -2, 1, 2,  1, 0, 1, 0, -1, -2}};
  const double q[2][6] = {{-1, 0, 0, 0, -2, 0}, {0, -1, 1, -2, 2, 0}};
  for (int k = 0; k < 2; k++) {
    lcp_sample s = sample_of(6, M[k], q[k]);
    CHECK(!is_solvable(&s));
    check_method(&s, CAROM_LCP_AUTO, false, true);
    check_method(&s, CAROM_LCP_LEMKE, false, false);
    lcp_sample_free(&s);
  }
}

// ---- the condition of theorem 3.8.6 --------------------------------------------------------------------------------

static bool meets_condition(const lcp_sample *s) {
  double v[MOST], Mv[MOST], curve = 0, fall = 0, sum = 0;
  carom_lcp_condition answer = {.witness = v};
  carom_lcp_problem problem = {.n = s->n, .M = s->M, .q = s->q};
  carom_error error;
  if (carom_lcp_meets_condition(&problem, 1e-12, &answer, &error) != CAROM_OK)
    test_fail(__FILE__, __LINE__, "%s", error.message);
  CHECK(answer.copositive || !answer.holds);
  if (answer.holds) return true;
  for (int i = 0; i < s->n; i++) {
    Mv[i] = 0;
    for (int j = 0; j < s->n; j++) Mv[i] += *lcp_sample_at(s, i, j) * v[j];
    CHECK(v[i] >= 0);
    curve += v[i] * Mv[i], fall += v[i] * s->q[i], sum += v[i];
  }
  CHECK_NEAR(sum, 1, 1e-12);
  CHECK(answer.copositive || curve < 0);
  if (!answer.copositive) return false;
  for (int i = 0; i < s->n; i++) CHECK(Mv[i] >= -1e-11);
  CHECK_NEAR(curve, 0, 1e-11);
  CHECK(fall < 0);
  return false;
}

// Of symmetric semidefinite matrices it is necessary, too: by Farkas' lemma a problem without solutions has a v >= 0
// with M v <= 0 and q'v < 0, and then v'M v = 0.
TEST(of_semidefinite_problems_the_condition_says_all) {
  int with = 0, without = 0;
  for (uint64_t seed = 0; seed < 300; seed++) {
    carom_random random = carom_random_make(seed, 12);
    lcp_sample s = lcp_sample_new(1 + (int)(seed % MOST));
    int rank = (int)carom_random_below(&random, (uint32_t)s.n + 1), A[MOST][MOST];
    for (int l = 0; l < rank; l++)
      for (int i = 0; i < s.n; i++) A[l][i] = (int)carom_random_below(&random, 5) - 2;
    for (int l = 0; l < rank; l++)
      for (int i = 0; i < s.n; i++)
        for (int j = 0; j < s.n; j++) *lcp_sample_at(&s, i, j) += A[l][i] * A[l][j];
    for (int i = 0; i < s.n; i++) s.q[i] = (int)carom_random_below(&random, 5) - 2;
    bool holds = meets_condition(&s);
    CHECK(holds == is_solvable(&s));
    holds ? with++ : without++;
    lcp_sample_free(&s);
  }
  CHECK(with > 50 && without > 50);
}

TEST(the_condition_is_sufficient) {
  int held = 0;
  for (uint64_t seed = 0; seed < 1200; seed++) {
    lcp_sample s = random_problem(seed);
    for (int i = 0; i < s.n; i++) *lcp_sample_at(&s, i, i) = fabs(*lcp_sample_at(&s, i, i));
    if (meets_condition(&s)) {
      held++;
      CHECK(is_solvable(&s));
      check_method(&s, CAROM_LCP_LEMKE, true, true);  // which finds it
    }
    lcp_sample_free(&s);
  }
  CHECK(held > 100);
}

TEST(the_condition_is_asked_of_sound_problems) {
  double M[4] = {1, 0, 0, 1}, q[2] = {NAN, 0};
  carom_lcp_problem problem = {.n = 2, .M = M, .q = q};
  carom_lcp_condition answer = {0};
  CHECK(carom_lcp_meets_condition(&problem, 0, &answer, NULL) == CAROM_ERR_NUMBER);
  problem.q = NULL;
  CHECK(carom_lcp_meets_condition(&problem, 0, &answer, NULL) == CAROM_ERR_ARGUMENT);
  problem.q = q, problem.n = CAROM_LCP_CHECK_MAX + 1;
  CHECK(carom_lcp_meets_condition(&problem, 0, &answer, NULL) == CAROM_ERR_ARGUMENT);
}

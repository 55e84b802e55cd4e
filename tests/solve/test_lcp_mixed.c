// Mixed and nonlinear complementarity.
#include "failing_allocator.h"
#include "lcp_samples.h"
#include "test.h"

#include "carom/lcp.h"

static double random_bound(carom_random *r, bool lower) {
  static const double choices[] = {-1, 0, 0.5};
  int i = (int)carom_random_below(r, 5);
  if (i >= 3) return lower ? -INFINITY : INFINITY;
  return choices[i] + (lower ? 0 : 1.5 * carom_random_below(r, 2));
}

// The definition, written out: w = M z + q; sign of w by where z is.
static double violation(const carom_mlcp_problem *p, const double *z) {
  double worst = 0;
  for (int i = 0; i < p->n; i++) {
    double low = p->lower ? p->lower[i] : 0, high = p->upper ? p->upper[i] : INFINITY, w = p->q[i];
    for (int j = 0; j < p->n; j++) w += p->M[i + j * p->n] * z[j];
    worst = fmax(worst, fmax(low - z[i], z[i] - high));
    if (w > 0) worst = fmax(worst, fmin(w, z[i] - low));
    if (w < 0) worst = fmax(worst, fmin(-w, high - z[i]));
  }
  return worst;
}

static carom_lcp_info solve(const carom_mlcp_problem *problem, double *z, double *w, unsigned char *state) {
  carom_mlcp_work *work;
  carom_lcp_info info = {.outcome = CAROM_LCP_STALLED};
  carom_error error;
  if (carom_mlcp_work_create(problem->n, NULL, &work, &error) != CAROM_OK ||
      carom_mlcp_solve(work, problem, NULL, &(carom_mlcp_solution){z, w, state}, &info, &error) != CAROM_OK)
    test_fail(__FILE__, __LINE__, "%s", error.message);
  carom_mlcp_work_destroy(work);
  return info;
}

// Found by fuzzing: a file that says n = 0 comes with null arrays, which memcpy must not see.
TEST(a_problem_without_unknowns_is_solved) {
  carom_mlcp_problem problem = {.n = 0};
  double z[1] = {7}, w[1] = {7};
  unsigned char state[1] = {7};
  carom_lcp_info info = solve(&problem, z, w, state);
  CHECK(info.outcome == CAROM_LCP_SOLVED);
  CHECK(info.residual == 0);
  CHECK(z[0] == 7 && w[0] == 7 && state[0] == 7);
}

// A definite matrix has one solution whatever the bounds.
TEST(boxes_and_free_unknowns_of_every_kind) {
  for (uint64_t seed = 0; seed < 300; seed++) {
    int n = 1 + (int)(seed % 12);
    lcp_sample s = lcp_sample_definite(n, n, 0.2, 1, seed);
    carom_random random = carom_random_make(seed, 5);
    double lower[12], upper[12], z[12], w[12];
    unsigned char state[12];
    for (int i = 0; i < n; i++) {
      lower[i] = random_bound(&random, true), upper[i] = random_bound(&random, false);
      if (lower[i] > upper[i]) upper[i] = lower[i];
    }
    carom_mlcp_problem problem = {.n = n, .M = s.M, .q = s.q, .lower = lower, .upper = upper};
    carom_lcp_info info = solve(&problem, z, w, state);
    CHECK(info.outcome == CAROM_LCP_SOLVED);
    CHECK_AT_MOST(violation(&problem, z), 1e-10);
    CHECK_AT_MOST(carom_mlcp_residual(&problem, z), 1e-10);
    for (int i = 0; i < n; i++) {
      if (state[i] == CAROM_MLCP_LOWER && lower[i] < upper[i]) CHECK(fabs(z[i] - lower[i]) < 1e-9 && w[i] > -1e-9);
      if (state[i] == CAROM_MLCP_UPPER) CHECK(fabs(z[i] - upper[i]) < 1e-9 && w[i] < 1e-9);
      if (state[i] == CAROM_MLCP_BETWEEN) CHECK(fabs(w[i]) < 1e-9);
    }
    lcp_sample_free(&s);
  }
}

// Joints and contacts as the time stepper writes them (Gavrea 2008, (1.2.12)): Q positive definite, equations F'x = 0
// with multipliers y, some of them redundant, and contacts H'x + b >= 0. The solution x is that of a convex program.
TEST(redundant_equations_are_no_obstacle) {
  enum { nx = 6, ny = 4, nc = 5, n = nx + ny + nc };
  for (uint64_t seed = 0; seed < 50; seed++) {
    carom_random random = carom_random_make(seed, 6);
    double F[nx * ny], H[nx * nc], M[n * n] = {0}, q[n], lower[n], z[n], w[n];
    for (int i = 0; i < nx * ny; i++) F[i] = carom_random_normal(&random);
    for (int i = 0; i < nx; i++) F[i + 3 * nx] = F[i] - 2 * F[i + nx];  // a joint that says nothing new
    for (int i = 0; i < nx * nc; i++) H[i] = carom_random_normal(&random);
    for (int i = 0; i < n; i++) q[i] = 0, lower[i] = i < nx + ny ? -INFINITY : 0;
    for (int i = 0; i < nx; i++) {
      M[i + i * n] = 1 + i, q[i] = -carom_random_normal(&random);
      for (int j = 0; j < ny; j++) M[i + (nx + j) * n] = -F[i + j * nx], M[nx + j + i * n] = F[i + j * nx];
      for (int j = 0; j < nc; j++) M[i + (nx + ny + j) * n] = -H[i + j * nx], M[nx + ny + j + i * n] = H[i + j * nx];
    }
    carom_mlcp_problem problem = {.n = n, .M = M, .q = q, .lower = lower};
    carom_lcp_info info = solve(&problem, z, w, NULL);
    CHECK(info.outcome == CAROM_LCP_SOLVED);
    CHECK_AT_MOST(violation(&problem, z), 1e-10);
  }
}

TEST(mixed_starts_from_states) {
  enum { n = 10 };
  lcp_sample s = lcp_sample_definite(n, n, 0.2, 1, 77);
  double lower[n], upper[n], z[n], w[n];
  unsigned char state[n];
  for (int i = 0; i < n; i++) lower[i] = i < 3 ? -INFINITY : -0.3, upper[i] = i < 3 ? INFINITY : i < 7 ? 0.3 : INFINITY;
  carom_mlcp_problem problem = {.n = n, .M = s.M, .q = s.q, .lower = lower, .upper = upper};
  CHECK(solve(&problem, z, w, state).outcome == CAROM_LCP_SOLVED);
  carom_mlcp_work *work;
  carom_lcp_info info;
  carom_lcp_options options = carom_lcp_default_options();
  options.start = CAROM_LCP_START_BASIS;
  REQUIRE(carom_mlcp_work_create(n, NULL, &work, NULL) == CAROM_OK);
  CHECK(carom_mlcp_solve(work, &problem, &options, &(carom_mlcp_solution){z, w, state}, &info, NULL) == CAROM_OK);
  CHECK(info.outcome == CAROM_LCP_SOLVED && info.iterations == 0);
  carom_mlcp_work_destroy(work);
  lcp_sample_free(&s);
}

TEST(mixed_mistakes_are_named) {
  const double M[1] = {1}, q[1] = {1}, low[1] = {1}, high[1] = {0}, nan_bound[1] = {NAN};
  double z[1], w[1];
  carom_mlcp_work *work;
  carom_lcp_info info;
  carom_error e;
  REQUIRE(carom_mlcp_work_create(1, NULL, &work, NULL) == CAROM_OK);
  carom_mlcp_problem problem = {.n = 1, .M = M, .q = q, .lower = low, .upper = high};
  CHECK(carom_mlcp_solve(work, &problem, NULL, &(carom_mlcp_solution){z, w, NULL}, &info, &e) == CAROM_ERR_ARGUMENT);
  CHECK_CONTAINS(e.message, "bounds of unknown 0: [1, 0]");
  problem.lower = nan_bound;
  CHECK(carom_mlcp_solve(work, &problem, NULL, &(carom_mlcp_solution){z, w, NULL}, &info, &e) == CAROM_ERR_ARGUMENT);
  problem = (carom_mlcp_problem){.n = 2, .M = M, .q = q};
  CHECK(carom_mlcp_solve(work, NULL, NULL, &(carom_mlcp_solution){z, w, NULL}, &info, &e) == CAROM_ERR_ARGUMENT);
  carom_mlcp_work_destroy(work);
}

// All free: a linear system; singular and inconsistent: no solution, and no crash.
TEST(equations_alone) {
  const double M[4] = {2, 1, 1, 3}, singular[4] = {1, 1, 1, 1}, q[2] = {-3, -4}, lower[2] = {-INFINITY, -INFINITY};
  double z[2], w[2];
  carom_mlcp_problem problem = {.n = 2, .M = M, .q = q, .lower = lower};
  CHECK(solve(&problem, z, w, NULL).outcome == CAROM_LCP_SOLVED);
  CHECK_NEAR(z[0], 1, 1e-14);
  CHECK_NEAR(z[1], 1, 1e-14);
  problem.M = singular;
  CHECK(solve(&problem, z, w, NULL).outcome != CAROM_LCP_SOLVED);
}

TEST(mixed_set_up_survives_any_failed_allocation) {
  for (int allowed = 0;; allowed++) {
    failing_allocator f = {.allowed = allowed};
    carom_allocator a = failing_allocator_of(&f);
    carom_mlcp_work *work;
    carom_ncp_work *other;
    carom_status status = carom_mlcp_work_create(5, &a, &work, NULL);
    carom_mlcp_work_destroy(work);
    CHECK(f.live == 0);
    f.calls = 0;
    carom_status second = carom_ncp_work_create(5, &a, &other, NULL);
    carom_ncp_work_destroy(other);
    CHECK(f.live == 0);
    if (status == CAROM_OK && second == CAROM_OK) break;
  }
}

// ---- nonlinear -----------------------------------------------------------------------------------------------------

// Kojima and Shindo (1986): two solutions, (sqrt 6 / 2, 0, 0, 1/2), degenerate, and (1, 0, 3, 0).
static carom_status kojima_shindo(void *context, const double *x, double *F, double *J) {
  (void)context;
  F[0] = 3 * x[0] * x[0] + 2 * x[0] * x[1] + 2 * x[1] * x[1] + x[2] + 3 * x[3] - 6;
  F[1] = 2 * x[0] * x[0] + x[0] + x[1] * x[1] + 10 * x[2] + 2 * x[3] - 2;
  F[2] = 3 * x[0] * x[0] + x[0] * x[1] + 2 * x[1] * x[1] + 2 * x[2] + 9 * x[3] - 9;
  F[3] = x[0] * x[0] + 3 * x[1] * x[1] + 2 * x[2] + 3 * x[3] - 3;
  if (!J) return CAROM_OK;
  const double rows[4][4] = {{6 * x[0] + 2 * x[1], 2 * x[0] + 4 * x[1], 1, 3},
                             {4 * x[0] + 1, 2 * x[1], 10, 2},
                             {6 * x[0] + x[1], x[0] + 4 * x[1], 2, 9},
                             {2 * x[0], 6 * x[1], 2, 3}};
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++) J[i + 4 * j] = rows[i][j];
  return CAROM_OK;
}

TEST(kojima_shindo_from_many_starts) {
  carom_ncp_problem problem = {.n = 4, .evaluate = kojima_shindo};
  carom_ncp_work *work;
  REQUIRE(carom_ncp_work_create(4, NULL, &work, NULL) == CAROM_OK);
  int solved = 0;
  for (uint64_t seed = 0; seed < 50; seed++) {
    carom_random random = carom_random_make(seed, 8);
    double z[4], w[4];
    carom_lcp_info info;
    for (int i = 0; i < 4; i++) z[i] = carom_random_between(&random, 0, 2);
    CHECK(carom_ncp_solve(work, &problem, NULL, &(carom_ncp_solution){z, w}, &info, NULL) == CAROM_OK);
    if (info.outcome != CAROM_LCP_SOLVED) continue;
    solved++;
    bool first = fabs(z[0] - sqrt(6) / 2) < 1e-6 && fabs(z[3] - 0.5) < 1e-6 && fabs(z[2]) < 1e-6;
    bool second = fabs(z[0] - 1) < 1e-6 && fabs(z[2] - 3) < 1e-6 && fabs(z[3]) < 1e-6;
    CHECK(first || second);
    CHECK_AT_MOST(info.iterations, 20);
  }
  CHECK(solved >= 45);
  carom_ncp_work_destroy(work);
}

static carom_status refuses(void *context, const double *x, double *F, double *J) {
  (void)x, (void)J;
  F[0] = NAN;
  return *(carom_status *)context;
}

// F of Kojima and Shindo, and the least residual of all points at which it was linearised.
typedef struct witness_of_steps {
  double least;
} witness_of_steps;

static carom_status watched(void *context, const double *z, double *F, double *J) {
  witness_of_steps *seen = context;
  double residual = 0;
  carom_status status = kojima_shindo(NULL, z, F, J);
  for (int i = 0; J && i < 4; i++) residual = fmax(residual, fabs(fmin(z[i], F[i])));
  if (J) seen->least = fmin(seen->least, residual);
  return status;
}

// The line search lets the residual rise; a solve that is cut short gives the best that it had.
TEST(nonlinear_solves_cut_short_give_their_best) {
  carom_random random = carom_random_make(31, 0);
  carom_ncp_work *work;
  int cut = 0;
  REQUIRE(carom_ncp_work_create(4, NULL, &work, NULL) == CAROM_OK);
  for (int trial = 0; trial < 300; trial++) {
    witness_of_steps seen = {INFINITY};
    carom_ncp_problem problem = {.n = 4, .context = &seen, .evaluate = watched};
    carom_lcp_options options = carom_lcp_default_options();
    carom_lcp_info info;
    double z[4], w[4], residual = 0;
    options.max_iterations = 1 + trial % 6;
    for (int i = 0; i < 4; i++) z[i] = carom_random_between(&random, 0, 10);
    CHECK(carom_ncp_solve(work, &problem, &options, &(carom_ncp_solution){z, w}, &info, NULL) == CAROM_OK);
    for (int i = 0; i < 4; i++) residual = fmax(residual, fabs(fmin(z[i], w[i])));
    CHECK_NEAR(residual, info.residual, 1e-12 * (1 + residual));
    CHECK_AT_MOST(info.residual, seen.least * (1 + 1e-12));
    cut += info.outcome == CAROM_LCP_LIMIT;
  }
  CHECK(cut > 100);
  carom_ncp_work_destroy(work);
}

TEST(nonlinear_failures_are_reported) {
  carom_status status = CAROM_ERR_GEOMETRY;
  carom_ncp_problem problem = {.n = 1, .context = &status, .evaluate = refuses};
  carom_ncp_work *work;
  carom_lcp_info info;
  carom_error e;
  double z[1] = {0}, w[1];
  REQUIRE(carom_ncp_work_create(1, NULL, &work, NULL) == CAROM_OK);
  CHECK(carom_ncp_solve(work, &problem, NULL, &(carom_ncp_solution){z, w}, &info, &e) == CAROM_ERR_GEOMETRY);
  status = CAROM_OK;
  CHECK(carom_ncp_solve(work, &problem, NULL, &(carom_ncp_solution){z, w}, &info, &e) == CAROM_ERR_NUMBER);
  z[0] = NAN;
  CHECK(carom_ncp_solve(work, &problem, NULL, &(carom_ncp_solution){z, w}, &info, &e) == CAROM_ERR_NUMBER);
  problem.n = 2;
  CHECK(carom_ncp_solve(work, &problem, NULL, &(carom_ncp_solution){z, w}, &info, &e) == CAROM_ERR_ARGUMENT);
  carom_ncp_work_destroy(work);
}

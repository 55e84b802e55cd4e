// The problem of Coulomb friction by sparse blocks, judged by the laws themselves: piles, planted solutions, redundant
// contacts, no friction and much of it, none where there is none; and the LU factors beneath.
#include <float.h>
#include <string.h>

#include "carom/friction.h"
#include "friction_samples.h"
#include "solve/front_factor.h"
#include "test.h"

// By definition, not by the solver's natural map: what each law is missed by, over the largest |q|.
static double broken_laws(const carom_friction_problem *p, const double *r) {
  int d = p->dimension;
  double worst = 0, scale = 0;
  for (int k = 0; k < d * p->contact_count; k++) scale = fmax(scale, fabs(p->q[k]));
  for (int i = 0; i < p->contact_count; i++) {
    double u[3] = {0}, own = 0;
    const double *P = r + d * i;
    for (int a = 0; a < d; a++) u[a] = p->q[d * i + a];
    for (int k = p->start[i]; k < p->start[i + 1]; k++)
      for (int a = 0; a < d; a++)
        for (int b = 0; b < d; b++) {
          double W = p->W[d * d * k + a + d * b];
          u[a] += W * r[d * p->column[k] + b];
          if (p->column[k] == i && a == b) own += W / d;
        }
    double rt = d == 3 ? hypot(P[1], P[2]) : fabs(P[1]), ut = d == 3 ? hypot(u[1], u[2]) : fabs(u[1]);
    worst = fmax(worst, fmax(-u[0], -own * P[0]));
    worst = fmax(worst, fmin(fabs(u[0]), own * fabs(P[0])));  // one of them is zero
    worst = fmax(worst, own * (rt - p->mu[i] * P[0]));        // within the disc
    double along = 0;                                         // slip opposes with all it has, or does not slip
    for (int a = 1; a < d; a++) along += P[a] * u[a];
    worst = fmax(worst, fmin(ut, own * fabs(along + p->mu[i] * P[0] * ut) / fmax(ut, DBL_MIN)));
  }
  return scale > 0 ? worst / scale : worst;
}

typedef struct answer {
  double *r, *u, *c;
  carom_friction_info info;
} answer;

static answer room_for(const carom_friction_problem *p) {
  size_t n = (size_t)p->contact_count + 1, rows = n * (size_t)p->dimension;
  return (answer){calloc(rows, sizeof(double)), calloc(rows, sizeof(double)), calloc(n, sizeof(double)), {0}};
}

static void release(answer *a) { free(a->r), free(a->u), free(a->c); }

static carom_status solve(const carom_friction_problem *p, const carom_friction_options *o, answer *a) {
  return carom_friction_solve(p, o, &(carom_friction_solution){a->r, a->u, a->c}, NULL, &a->info, NULL);
}

static void check_solved(const carom_friction_problem *p, const carom_friction_options *o) {
  answer a = room_for(p);
  REQUIRE(solve(p, o, &a) == CAROM_OK);
  CHECK(a.info.outcome == CAROM_FRICTION_SOLVED);
  CHECK(broken_laws(p, a.r) <= 2e-8);
  release(&a);
}

// ---- piles ----------------------------------------------------------------------------------------------------------

static void check_piles(int first, int last, int largest) {
  carom_friction_options o = carom_friction_default_options();
  o.tolerance = 1e-8;
  for (int i = first; i < last; i++) {
    friction_pile pile = friction_pile_of_series(i, largest);
    friction_sample s = friction_sample_pile(&pile);
    check_solved(&s.problem, &o);
    friction_sample_free(&s);
  }
}

TEST(piles_of_up_to_100_contacts_are_solved) { check_piles(0, 30, 100); }
TEST(piles_of_up_to_600_contacts_are_solved_long) { check_piles(30, 60, 600); }

TEST(each_method_solves_a_small_pile) {
  friction_sample s = friction_sample_pile(&(friction_pile){20, 0, 1, 0.3, 0.1, 0.2, 5});
  for (int m = 0; m < CAROM_FRICTION_METHOD_COUNT; m++) {
    carom_friction_options o = carom_friction_default_options();
    o.method = (carom_friction_method)m, o.tolerance = 1e-7;
    answer a = room_for(&s.problem);
    REQUIRE(solve(&s.problem, &o, &a) == CAROM_OK);
    CHECK(a.info.relative <= 1e-5);
    CHECK_NEAR(carom_friction_residual(&s.problem, a.r, a.u, NULL), a.info.residual, 1e-15);
    release(&a);
  }
  friction_sample_free(&s);
}

TEST(a_warm_start_at_the_solution_does_no_work) {
  friction_sample s = friction_sample_pile(&(friction_pile){60, 0.5, 10, 0.5, 0.05, 0, 3});
  carom_friction_options o = carom_friction_default_options();
  answer a = room_for(&s.problem);
  REQUIRE(solve(&s.problem, &o, &a) == CAROM_OK && a.info.outcome == CAROM_FRICTION_SOLVED);
  CHECK(a.info.sweeps > 0);
  o.warm_start = true;
  REQUIRE(solve(&s.problem, &o, &a) == CAROM_OK && a.info.outcome == CAROM_FRICTION_SOLVED);
  CHECK(a.info.sweeps == 0 && a.info.steps == 0);
  release(&a);
  friction_sample_free(&s);
}

TEST(budgets_of_work_are_kept) {
  friction_sample s = friction_sample_pile(&(friction_pile){200, 1, 100, 0.6, 0.1, 0, 4});
  carom_friction_options o = carom_friction_default_options();
  o.tolerance = 1e-15, o.max_sweeps = 7, o.max_steps = 3;
  answer a = room_for(&s.problem);
  REQUIRE(solve(&s.problem, &o, &a) == CAROM_OK);
  CHECK(a.info.outcome == CAROM_FRICTION_LIMIT && a.info.sweeps <= 7);
  CHECK(a.info.steps <= 3 + 60);  // a round that has begun is ended
  release(&a);
  friction_sample_free(&s);
}

// ---- planted solutions ----------------------------------------------------------------------------------------------

// q that makes r a solution: velocities along what slips and away from what is open.
static void plant(friction_sample *s, double *r, uint64_t seed) {
  const carom_friction_problem *p = &s->problem;
  carom_random random = carom_random_make(seed, 1);
  for (int i = 0; i < p->contact_count; i++) {
    double angle = carom_random_between(&random, 0, 6.28), push = carom_random_uniform(&random) + 0.1;
    double share = carom_random_uniform(&random), kind = carom_random_uniform(&random), *q = s->q + 3 * i;
    double d[2] = {cos(angle), sin(angle)};
    bool open = kind<0.3, slips = kind> 0.7;
    r[3 * i] = open ? 0 : push;
    q[0] = open ? push : 0;
    for (int k = 0; k < 2; k++) {
      r[3 * i + 1 + k] = open ? 0 : d[k] * p->mu[i] * push * (slips ? 1 : 0.9 * share);
      q[1 + k] = slips ? -d[k] * share : open ? d[k] : 0;
    }
  }
  for (int i = 0; i < p->contact_count; i++)
    for (int k = p->start[i]; k < p->start[i + 1]; k++)
      for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++) s->q[3 * i + a] -= p->W[9 * k + a + 3 * b] * r[3 * p->column[k] + b];
}

TEST(planted_solutions_satisfy_the_judge_and_problems_are_solved) {
  for (unsigned seed = 0; seed < 20; seed++) {
    friction_sample s = friction_sample_pile(&(friction_pile){12 + (int)seed, 0.3, 3, 0.4, 0, 0, seed});
    answer a = room_for(&s.problem);
    plant(&s, a.r, seed);
    CHECK(broken_laws(&s.problem, a.r) <= 1e-12);
    carom_friction_options o = carom_friction_default_options();
    o.warm_start = true;
    REQUIRE(solve(&s.problem, &o, &a) == CAROM_OK);
    CHECK(a.info.outcome == CAROM_FRICTION_SOLVED && a.info.sweeps == 0);
    release(&a);
    check_solved(&s.problem, NULL);
    friction_sample_free(&s);
  }
}

// ---- extremes -------------------------------------------------------------------------------------------------------

static void with_friction(double mu, double wanted) {
  friction_sample s = friction_sample_pile(&(friction_pile){40, 0.5, 4, mu, 0.05, 0, 9});
  carom_friction_options o = carom_friction_default_options();
  answer a = room_for(&s.problem);
  REQUIRE(solve(&s.problem, &o, &a) == CAROM_OK);
  CHECK(a.info.outcome == CAROM_FRICTION_SOLVED);
  CHECK(broken_laws(&s.problem, a.r) <= wanted);
  release(&a);
  friction_sample_free(&s);
}

TEST(without_friction_nothing_acts_across) { with_friction(0, 1e-8); }
TEST(much_friction_sticks) { with_friction(1e3, 1e-6); }

TEST(a_block_of_contacts_said_twice_is_solved) {
  // Ten contacts on one body that falls without turning: every split of the impulse is a solution.
  enum { N = 10 };
  int start[N + 1], column[N * N];
  static double W[9 * N * N], q[3 * N], mu[N];
  for (int i = 0; i <= N; i++) start[i] = N * i;
  for (int k = 0; k < N * N; k++) {
    column[k] = k % N;
    W[9 * k] = W[9 * k + 4] = W[9 * k + 8] = 1;
  }
  for (int i = 0; i < N; i++) q[3 * i] = -1, q[3 * i + 1] = 3, mu[i] = 0.25;
  carom_friction_problem p = {3, N, start, column, W, q, mu};
  answer a = room_for(&p);
  double sum[2] = {0};
  REQUIRE(solve(&p, NULL, &a) == CAROM_OK && a.info.outcome == CAROM_FRICTION_SOLVED);
  for (int i = 0; i < N; i++) sum[0] += a.r[3 * i], sum[1] += a.r[3 * i + 1];
  CHECK_NEAR(sum[0], 1, 1e-8);
  CHECK_NEAR(sum[1], -0.25, 1e-8);
  CHECK_NEAR(a.u[1], 2.75, 1e-8);
  release(&a);
}

TEST(contacts_in_the_plane_are_solved) {
  int start[] = {0, 2, 4}, column[] = {0, 1, 0, 1};
  double W[] = {2, 0.3, 0.3, 1, 0.5, 0, 0.1, 0.2, 0.5, 0.1, 0, 0.2, 2, -0.1, -0.1, 1}, q[] = {-1, 2, -1, -0.1};
  double mu[] = {0.2, 0.9};
  check_solved(&(carom_friction_problem){2, 2, start, column, W, q, mu}, NULL);
}

TEST(nothing_is_solved_at_once) {
  int start[] = {0};
  check_solved(&(carom_friction_problem){3, 0, start, NULL, NULL, NULL, NULL}, NULL);
}

// ---- no solution ----------------------------------------------------------------------------------------------------

// A body squeezed between two walls that both approach: whatever the impulses, one contact approaches.
TEST(a_squeezed_body_has_no_solution_and_a_proof) {
  int start[] = {0, 2, 4}, column[] = {0, 1, 0, 1};
  double W[36] = {0}, q[] = {-1, 0.3, 0, -0.5, -0.3, 0}, mu[] = {0.5, 0.5};
  for (int k = 0; k < 4; k++)
    for (int a = 0; a < 3; a++) W[9 * k + 4 * a] = k == 0 || k == 3 ? 1 : -1;
  carom_friction_problem p = {3, 2, start, column, W, q, mu};
  answer a = room_for(&p);
  REQUIRE(solve(&p, NULL, &a) == CAROM_OK);
  CHECK(a.info.outcome == CAROM_FRICTION_INFEASIBLE);
  CHECK(a.c[0] >= 0 && a.c[1] >= 0 && q[0] * a.c[0] + q[3] * a.c[1] < -0.1);
  CHECK_NEAR(a.c[0] - a.c[1], 0, 1e-9);  // they move nothing
  q[3] = 2;
  release(&a);
  check_solved(&p, NULL);
}

// ---- mistakes -------------------------------------------------------------------------------------------------------

static carom_status status_of(const carom_friction_problem *p) {
  answer a = room_for(p);
  carom_status status = solve(p, NULL, &a);
  release(&a);
  return status;
}

TEST(mistakes_are_told) {
  int start[] = {0, 1}, column[] = {0}, outside[] = {1};
  double W[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, q[3] = {-1, 0, 0}, mu[] = {0.5}, bad_mu[] = {-1}, bad_q[3] = {NAN, 0, 0};
  double bad_W[9] = {-1};
  CHECK(status_of(&(carom_friction_problem){3, 1, start, column, W, q, mu}) == CAROM_OK);
  carom_friction_solution none = {0};
  CHECK(carom_friction_solve(&(carom_friction_problem){3, -1, start, column, W, q, mu}, NULL, &none, NULL, NULL,
                             NULL) == CAROM_ERR_ARGUMENT);
  CHECK(status_of(&(carom_friction_problem){1, 1, start, column, W, q, mu}) == CAROM_ERR_ARGUMENT);
  CHECK(status_of(&(carom_friction_problem){3, 1, start, outside, W, q, mu}) == CAROM_ERR_ARGUMENT);
  CHECK(status_of(&(carom_friction_problem){3, 1, start, column, bad_W, q, mu}) == CAROM_ERR_ARGUMENT);
  CHECK(status_of(&(carom_friction_problem){3, 1, start, column, W, bad_q, mu}) == CAROM_ERR_NUMBER);
  CHECK(status_of(&(carom_friction_problem){3, 1, start, column, W, q, bad_mu}) == CAROM_ERR_NUMBER);
}

// ---- the factors ----------------------------------------------------------------------------------------------------

// A random pattern of blocks, values far from symmetric: A x = b is checked by multiplication.
static void check_factors(int block, int blocks, double density, uint64_t seed) {
  carom_random random = carom_random_make(seed, 2);
  int *start = calloc((size_t)blocks + 1, sizeof *start),
      *neighbor = calloc((size_t)(blocks * blocks), sizeof *neighbor);
  int pairs = 0, area = block * block, n = block * blocks;
  for (int b = 0; b < blocks; b++) {
    start[b] = pairs;
    for (int c = b + 1; c < blocks; c++)
      if (carom_random_uniform(&random) < density) neighbor[pairs++] = c;
  }
  start[blocks] = pairs;
  double *diagonal = calloc((size_t)(area * blocks) + 1, sizeof *diagonal);
  double *below = calloc((size_t)(area * pairs) + 1, sizeof *below),
         *above = calloc((size_t)(area * pairs) + 1, sizeof *above);
  double *x = calloc((size_t)n + 1, sizeof *x), *b = calloc((size_t)n + 1, sizeof *b);
  for (int k = 0; k < area * blocks; k++)
    diagonal[k] = carom_random_normal(&random) + (k % area % (block + 1) == 0 ? 9 : 0);
  for (int k = 0; k < area * pairs; k++)
    below[k] = carom_random_normal(&random), above[k] = carom_random_normal(&random);
  for (int k = 0; k < n; k++) x[k] = carom_random_normal(&random);
  for (int j = 0; j < blocks; j++)
    for (int c = 0; c < block; c++)
      for (int r = 0; r < block; r++) {
        b[block * j + r] += diagonal[area * j + r + block * c] * x[block * j + c];
        for (int k = start[j]; k < start[j + 1]; k++) {
          b[block * neighbor[k] + r] += below[area * k + r + block * c] * x[block * j + c];
          b[block * j + r] += above[area * k + r + block * c] * x[block * neighbor[k] + c];
        }
      }
  carom_factor *factor;
  carom_block_pattern pattern = {block, blocks, start, neighbor};
  REQUIRE(carom_factor_create_lu(&pattern, seed % 2 == 0, NULL, &factor) == CAROM_OK);
  REQUIRE(carom_factor_compute_lu(factor, &(carom_block_values){diagonal, below, above}) == CAROM_OK);
  carom_factor_solve_lu(factor, b);
  double worst = 0;
  for (int k = 0; k < n; k++) worst = fmax(worst, fabs(b[k] - x[k]));
  CHECK(worst <= 1e-8);
  carom_factor_destroy(factor);
  free(start), free(neighbor), free(diagonal), free(below), free(above), free(x), free(b);
}

TEST(factors_without_symmetry_solve_what_they_were_made_of) {
  for (uint64_t seed = 0; seed < 12; seed++)
    check_factors(1 + (int)(seed % 4), 3 + 9 * (int)seed, seed % 3 == 0 ? 0.5 : 0.05, seed);
}

TEST(a_singular_front_is_told) {
  int start[] = {0, 0};
  double zero[9] = {0};
  carom_factor *factor;
  carom_block_pattern pattern = {3, 1, start, NULL};
  REQUIRE(carom_factor_create_lu(&pattern, true, NULL, &factor) == CAROM_OK);
  CHECK(carom_factor_compute_lu(factor, &(carom_block_values){zero, NULL, NULL}) == CAROM_ERR_SINGULAR);
  carom_factor_destroy(factor);
}

// Friction cones of planar contacts, and the steps without inertia that rest on them (Gavrea 2008, 2.4): where the cone
// is pointed, Lemke's method solves the problem (2.4.20) (theorem 2.4.1); where it ends on a ray, forces cancel out.
#include "heap_counter.h"
#include "test.h"

#include "carom/base.h"
#include "carom/lcp.h"

enum { MOST = 5, PAIRS = 4 * MOST, ROOM = 5 + 2 * (MOST + 1) };

// Contacts on a convex polygon about the origin, of the size `scale`: W = (n, r x n) and (t, r x t), lengths in m.
typedef struct grip {
  int contacts;
  double scale, damping;                    // m, N s/m
  double Wn[3 * MOST], Wf[6 * MOST];        // Wf = [Wt, -Wt] contact by contact
  double mu[MOST], bias[MOST], slip[MOST];  // Psi_n + h dPsi_n/dt, and h dPsi_t/dt; m
  double inverse_E[9];
} grip;

static void set_contact(grip *g, int k, const double r[2], const double n[2]) {
  const double t[2] = {-n[1], n[0]};
  double *N = g->Wn + 3 * k, *F = g->Wf + 6 * k;
  N[0] = n[0], N[1] = n[1], N[2] = r[0] * n[1] - r[1] * n[0];
  F[0] = t[0], F[1] = t[1], F[2] = r[0] * t[1] - r[1] * t[0];
  for (int i = 0; i < 3; i++) F[3 + i] = -F[i];
}

// A point on a side of a polygon whose corners lie on an ellipse, normal inwards.
static void on_polygon(carom_random *random, double scale, double r[2], double n[2]) {
  double a = carom_random_between(random, 0, 6.283), b = a + carom_random_between(random, 0.1, 2.5);
  double share = carom_random_uniform(random), flat = carom_random_between(random, 0.3, 1);
  double p[2] = {cos(a), flat * sin(a)}, q[2] = {cos(b), flat * sin(b)}, d[2] = {q[0] - p[0], q[1] - p[1]};
  double length = hypot(d[0], d[1]);
  for (int i = 0; i < 2; i++) r[i] = scale * (p[i] + share * d[i]);
  n[0] = -d[1] / length, n[1] = d[0] / length;  // the corners go round to the left
}

// E^-1 = A A' + 0.05 of a random A, over a damping; turns over the size.
static void random_damping(carom_random *random, grip *g) {
  double A[9];
  for (int i = 0; i < 9; i++) A[i] = carom_random_normal(random);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      double s = i == j ? 0.05 : 0;
      for (int k = 0; k < 3; k++) s += A[i + 3 * k] * A[j + 3 * k];
      double size = (i == 2 ? g->scale : 1) * (j == 2 ? g->scale : 1);
      g->inverse_E[i + 3 * j] = s / (size * g->damping);
    }
}

static grip random_grip(carom_random *random, int contacts) {
  grip g = {.contacts = contacts};
  g.scale = pow(10, carom_random_between(random, -6, 0));
  g.damping = pow(10, carom_random_between(random, -4, 2));
  random_damping(random, &g);
  for (int k = 0; k < contacts; k++) {
    double r[2], n[2];
    on_polygon(random, g.scale, r, n);
    set_contact(&g, k, r, n);
    g.mu[k] = carom_random_uniform(random);
    g.bias[k] = g.scale * carom_random_between(random, -1, 0.5);
    g.slip[k] = g.scale * carom_random_between(random, -1, 1);
  }
  return g;
}

static carom_friction_cone cone_of(const grip *g) {
  return (carom_friction_cone){
      .rows = 3, .contacts = g->contacts, .directions = 2, .N = g->Wn, .D = g->Wf, .mu = g->mu};
}

// |W lambda| of a certificate, moments over the size; infinite unless it lies in the cones and its normal parts sum
// to 1.
static double cancels(const grip *g, const double *impulse) {
  double s[3] = {0}, sum = 0;
  const double *beta = impulse + g->contacts;
  for (int k = 0; k < g->contacts; k++) {
    for (int i = 0; i < 3; i++)
      s[i] += g->Wn[3 * k + i] * impulse[k] + g->Wf[6 * k + i] * beta[2 * k] + g->Wf[6 * k + 3 + i] * beta[2 * k + 1];
    sum += impulse[k];
    bool inside = impulse[k] >= 0 && beta[2 * k] >= 0 && beta[2 * k + 1] >= 0 &&
                  beta[2 * k] + beta[2 * k + 1] <= g->mu[k] * impulse[k] + 1e-15;
    if (!inside) return INFINITY;
  }
  return fabs(sum - 1) < 1e-12 ? fmax(hypot(s[0], s[1]), fabs(s[2]) / g->scale) : INFINITY;
}

typedef struct bench {
  carom_cone_work *cone;
  carom_lcp_work *lcp;
  double impulse[3 * MOST], velocity[3];
} bench;

static bool make_bench(bench *b) {
  return carom_cone_work_create(ROOM, NULL, &b->cone, NULL) == CAROM_OK &&
         carom_lcp_work_create(PAIRS, NULL, &b->lcp, NULL) == CAROM_OK;
}

static void end_bench(bench *b) {
  carom_cone_work_destroy(b->cone);
  carom_lcp_work_destroy(b->lcp);
}

static carom_friction_cone_answer pointed(bench *b, const grip *g) {
  carom_friction_cone cone = cone_of(g);
  carom_friction_cone_answer answer = {.impulse = b->impulse, .velocity = b->velocity};
  carom_error error;
  if (carom_cone_work_pointed(b->cone, &cone, &answer, &error) != CAROM_OK)
    test_fail(__FILE__, __LINE__, "%s", error.message);
  return answer;
}

static double through(const grip *g, const double *a, const double *b) {
  double s = 0;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) s += a[i] * g->inverse_E[i + 3 * j] * b[j];
  return s;
}

// (2.4.20): unknowns are normal parts, frictional ones contact by contact, slips.
static void fill_step(const grip *g, double *M, double *q) {
  int c = g->contacts, n = 4 * c;
  const double *W[3 * MOST];
  for (int k = 0; k < c; k++) W[k] = g->Wn + 3 * k, W[c + 2 * k] = g->Wf + 6 * k, W[c + 2 * k + 1] = g->Wf + 6 * k + 3;
  memset(M, 0, sizeof(double) * PAIRS * PAIRS);
  for (int i = 0; i < 3 * c; i++)
    for (int j = 0; j < 3 * c; j++) M[i + j * n] = through(g, W[i], W[j]);
  for (int k = 0; k < c; k++) {
    int s = 3 * c + k;
    M[s + k * n] = g->mu[k];
    for (int i = c + 2 * k; i < c + 2 * k + 2; i++) M[i + s * n] = 1, M[s + i * n] = -1;
    q[k] = g->bias[k], q[c + 2 * k] = g->slip[k], q[c + 2 * k + 1] = -g->slip[k], q[s] = 0;
  }
}

// |min(z, w)|_inf with forces as the ways that they make, over the largest number there is: the size, or where the cone
// is all but flat the forces, which are large then.
static double residual(const grip *g, const double *z, const double *M, const double *q) {
  int c = g->contacts, n = 4 * c;
  double worst = 0, size = g->scale;
  for (int i = 0; i < n; i++) {
    double w = q[i];
    if (i < 3 * c) size = fmax(size, z[i] / g->damping);
    for (int j = 0; j < n; j++) w += M[i + j * n] * z[j];
    double r = i < 3 * c ? fmin(z[i] / g->damping, w) : fmin(z[i], w / g->damping);
    worst = fmax(worst, fabs(r));
  }
  return worst / size;
}

// Lemke's method and nothing else; whether it solved the step.
static bool step(bench *b, const grip *g, double *off) {
  double M[PAIRS * PAIRS], q[PAIRS], z[PAIRS], w[PAIRS];
  carom_lcp_options options = carom_lcp_default_options();
  carom_lcp_info info;
  carom_error error;
  fill_step(g, M, q);
  options.method = CAROM_LCP_LEMKE;
  carom_lcp_problem problem = {.n = 4 * g->contacts, .M = M, .q = q};
  if (carom_lcp_solve(b->lcp, &problem, &options, &(carom_lcp_solution){z, w, NULL}, &info, &error) != CAROM_OK)
    test_fail(__FILE__, __LINE__, "%s", error.message);
  *off = residual(g, z, M, q);
  return info.outcome == CAROM_LCP_SOLVED;
}

// Are there forces that cancel out while what moves works against them? Each edge gets its way as a fourth row, and
// that row is an edge of its own: one linear program (theorem 1.2.8 with (2.4.20)).
// A few in ten thousand are so close to it that the program stalls: those are counted.
static bool worked_against(bench *b, const grip *g, int *stalled) {
  double N[4 * (MOST + 1)] = {0}, D[8 * (MOST + 1)] = {0}, mu[MOST + 1] = {0};
  int c = g->contacts;
  for (int k = 0; k < c; k++) {
    memcpy(N + 4 * k, g->Wn + 3 * k, 3 * sizeof(double));
    for (int d = 0; d < 2; d++) memcpy(D + 8 * k + 4 * d, g->Wf + 6 * k + 3 * d, 3 * sizeof(double));
    N[4 * k + 3] = g->bias[k], D[8 * k + 3] = g->slip[k], D[8 * k + 7] = -g->slip[k], mu[k] = g->mu[k];
  }
  N[4 * c + 3] = 1;
  carom_friction_cone cone = {.rows = 4, .contacts = c + 1, .directions = 2, .N = N, .D = D, .mu = mu};
  carom_friction_cone_answer answer = {0};
  carom_status status = carom_cone_work_pointed(b->cone, &cone, &answer, NULL);
  CHECK(status == CAROM_OK || status == CAROM_NOT_CONVERGED);
  *stalled += status != CAROM_OK;
  return status != CAROM_OK || !answer.pointed;
}

typedef struct tally {
  int pointed, other, unsolved, rays, idle, unexplained, stalled;
  double residual, cancel;  // worst
} tally;

static void count(bench *b, const grip *g, tally *t) {
  carom_friction_cone_answer answer = pointed(b, g);
  double off;
  bool solved = step(b, g, &off);
  if (solved) t->residual = fmax(t->residual, off);
  if (answer.pointed) {
    t->pointed++;
    t->unsolved += !solved;
  } else {
    t->other++;
    bool against = worked_against(b, g, &t->stalled);
    t->rays += !solved;
    t->unexplained += !solved && !against;
    t->idle += !against;
    t->cancel = fmax(t->cancel, cancels(g, b->impulse));
  }
}

// Random grips until so many are pointed: all are solved; all that are not pointed have forces that cancel out.
static void grips(uint64_t stream, int wanted) {
  carom_random random = carom_random_make(24, stream);
  bench b = {0};
  tally t = {0};
  REQUIRE(make_bench(&b));
  for (int i = 0; t.pointed < wanted && i < 100 * wanted; i++) {
    grip g = random_grip(&random, 1 + (int)carom_random_below(&random, MOST));
    count(&b, &g, &t);
  }
  end_bench(&b);
  CHECK(t.pointed == wanted && t.unsolved == 0);
  CHECK_AT_MOST(t.residual, 1e-10);
  CHECK(t.rays > wanted / 100 && t.idle > wanted / 100);
  CHECK(t.stalled < wanted / 1000);
  CHECK(t.unexplained == 0);  // not pointed, but nothing works against what cancels out: solved
  CHECK_AT_MOST(t.cancel, 1e-12);
}

TEST(pointed_steps_are_solved_and_rays_are_proven_1) { grips(1, 25000); }
TEST(pointed_steps_are_solved_and_rays_are_proven_2_long) { grips(2, 25000); }
TEST(pointed_steps_are_solved_and_rays_are_proven_3_long) { grips(3, 25000); }
TEST(pointed_steps_are_solved_and_rays_are_proven_4_long) { grips(4, 25000); }

// Two probes press on the short sides, d off the middle each: figure 2.8 (b). W as there: forces along -+y.
static grip squeeze(double d, double L, double mu) {
  grip g = {.contacts = 2, .scale = L, .mu = {mu, mu}};
  const double above[2] = {d, L}, below[2] = {-d, -L}, down[2] = {0, -1}, up[2] = {0, 1};
  set_contact(&g, 0, above, down);
  set_contact(&g, 1, below, up);
  return g;
}

// The published condition d < L and d/L <= mu; the first follows from the second for mu < 1.
static void cone_map(double L) {
  enum { CELLS = 200 };
  bench b = {0};
  int wrong = 0;
  double cancel = 0;
  REQUIRE(make_bench(&b));
  for (int i = 0; i < CELLS; i++)
    for (int j = 0; j < CELLS; j++) {
      double ratio = 1.2 * (i + 0.5) / CELLS, mu = (j + 0.5) / CELLS;
      if (fabs(ratio - mu) <= 1e-9) continue;
      grip g = squeeze(ratio * L, L, mu);
      bool is_pointed = pointed(&b, &g).pointed;
      wrong += is_pointed == (ratio < 1 && ratio <= mu);
      if (!is_pointed) cancel = fmax(cancel, cancels(&g, b.impulse));
    }
  end_bench(&b);
  CHECK(wrong == 0);
  CHECK_AT_MOST(cancel, 1e-12);
}

TEST(a_map_of_the_squeezed_peg) { cone_map(0.42e-3); }
TEST(a_map_of_the_squeezed_peg_in_other_lengths_long) { cone_map(1), cone_map(1e-6); }

// Beside the line by 1e-9, in any length.
TEST(the_line_of_the_squeezed_peg_is_sharp) {
  bench b = {0};
  REQUIRE(make_bench(&b));
  for (int i = 1; i < 100; i++)
    for (double L = 1e-6; L < 2; L *= 10) {
      double mu = 0.01 * i;
      grip in = squeeze((mu - 1e-9) * L, L, mu), out = squeeze((mu + 1e-9) * L, L, mu);
      CHECK(!pointed(&b, &in).pointed && pointed(&b, &out).pointed);
    }
  end_bench(&b);
}

// Figure 2.8 (a): a probe against a wall, W = (0, -1, 0) and (0, 1, 0), whatever friction does.
TEST(a_part_between_probe_and_wall_is_stuck) {
  bench b = {0};
  double off;
  REQUIRE(make_bench(&b));
  for (double mu = 0; mu <= 1; mu += 0.25) {
    grip g = squeeze(0, 0.8e-3, mu);
    g.damping = 1e-3, g.bias[0] = -1e-6;  // the probe comes by a micrometre
    for (int i = 0; i < 3; i++) g.inverse_E[4 * i] = i < 2 ? 1e3 : 1e9;
    CHECK(!pointed(&b, &g).pointed);
    CHECK_AT_MOST(cancels(&g, b.impulse), 1e-15);
    CHECK_NEAR(b.impulse[0], 0.5, 1e-12);
    CHECK(!step(&b, &g, &off));
    g.bias[0] = 0;  // it rests: not pointed, yet solved
    CHECK(step(&b, &g, &off));
  }
  end_bench(&b);
}

// Whether a cone is pointed does not depend on the units of its rows, and the velocity told is one in the caller's.
TEST(units_of_a_cone_do_not_matter) {
  carom_random random = carom_random_make(5, 0);
  bench b = {0};
  REQUIRE(make_bench(&b));
  for (int i = 0; i < 500; i++) {
    grip g = random_grip(&random, 1 + (int)carom_random_below(&random, MOST)), far = g;
    for (int j = 0; j < 3 * MOST; j++) far.Wn[j] *= j % 3 == 2 ? 1e7 : 1e-3;
    for (int j = 0; j < 6 * MOST; j++) far.Wf[j] *= j % 3 == 2 ? 1e7 : 1e-3;
    bool here = pointed(&b, &g).pointed;
    carom_friction_cone_answer there = pointed(&b, &far);
    CHECK(here == there.pointed);
    double most = fmax(fabs(b.velocity[0]), fmax(fabs(b.velocity[1]), fabs(b.velocity[2])));
    if (here) CHECK_NEAR(most, 1, 1e-12);
    for (int e = 0; here && e < 2 * g.contacts; e++) {
      double rate = 0, length = 0;
      for (int j = 0; j < 3; j++) {
        double edge = far.Wn[3 * (e / 2) + j] + g.mu[e / 2] * far.Wf[3 * e + j];
        rate += edge * b.velocity[j], length += edge * edge;
      }
      CHECK(there.margin > 0 && rate / sqrt(length) >= there.margin * (1 - 1e-12));
    }
  }
  end_bench(&b);
}

TEST(a_cone_that_is_too_large_for_its_work_is_refused) {
  carom_cone_work *work;
  carom_error error;
  grip g = squeeze(0.1, 1, 0.5);
  carom_friction_cone cone = cone_of(&g);
  carom_friction_cone_answer answer = {0};
  REQUIRE(carom_cone_work_create(7, NULL, &work, NULL) == CAROM_OK);
  CHECK(carom_cone_work_pointed(work, &cone, &answer, &error) == CAROM_ERR_ARGUMENT);
  CHECK_CONTAINS(error.message, "8 unknowns");
  cone.contacts = 1;
  CHECK(carom_cone_work_pointed(work, &cone, &answer, &error) == CAROM_OK && answer.pointed);
  carom_cone_work_destroy(work);
  CHECK(carom_cone_work_create(-1, NULL, &work, &error) == CAROM_ERR_ARGUMENT && !work);
  carom_cone_work_destroy(NULL);
}

TEST(a_cone_with_its_work_asks_for_no_memory) {
  if (!MALLOC_COUNTED) test_skip("the heap is not counted here");
  bench b = {0};
  grip g = squeeze(0.1, 1, 0.5);
  REQUIRE(make_bench(&b));
  long before = heap_calls;
  carom_friction_cone_answer answer = pointed(&b, &g);
  CHECK(heap_calls == before && !answer.pointed);
  end_bench(&b);
}

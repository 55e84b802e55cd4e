// The contact solvers against analytic answers, brute force, a dense reference and one another.
#include "contact_problems.h"
#include "test.h"

static const carom_contact_method all_methods[] = {CAROM_CONTACT_PGS, CAROM_CONTACT_APGD, CAROM_CONTACT_SPG,
                                                   CAROM_CONTACT_INTERIOR};
enum { METHODS = sizeof all_methods / sizeof *all_methods };

static carom_contact_options options_of(carom_contact_method method, carom_contact_cone cone, double tolerance) {
  carom_contact_options o = carom_contact_default_options();
  o.method = method, o.cone = cone, o.tolerance = tolerance;
  o.max_iterations = method == CAROM_CONTACT_INTERIOR ? 0 : 200000;
  return o;
}

// ---- analytic answers -------------------------------------------------------------------------

static contact_case *ball_on_ground(carom_vec3 velocity, double mu, double bias) {
  contact_case *q = contact_case_create();
  carom_random random = carom_random_make(1, 1);
  contact_add_body(q, 0.05, false, velocity, &random);
  contact_add_contact(q, 0, CAROM_CONTACT_WORLD, cm_vec3(0, 0, 1), cm_vec3(0, 0, -0.05), cm_zero3(), mu, bias);
  return q;
}

TEST(a_falling_ball_stops_at_the_ground) {
  for (int i = 0; i < METHODS; i++) {
    contact_case *q = ball_on_ground(cm_vec3(0, 0, -2), 0.5, 0.25);
    carom_contact_options o = options_of(all_methods[i], CAROM_CONTACT_CIRCULAR, 1e-10);
    carom_contact_info info = contact_solve(q, &o);
    CHECK(info.outcome == CAROM_CONTACT_SOLVED);
    CHECK_NEAR(q->velocities[0].z, -0.25, 1e-8);  // the gap closes exactly within the step
    CHECK_NEAR(q->impulses[0].z * q->bodies[0].inverse_mass, 1.75, 1e-8);
    free(q);
  }
}

// Sliding at speed s with friction mu: the convex law keeps w on the dual cone's surface, v_n = mu |slip| (Anitescu
// 2006). With a = 1/m, b = 3.5/m the impulse is (mu |q_t| - q_n) / (a + mu^2 b).
TEST(a_sliding_ball_obeys_the_convex_law) {
  for (int i = 0; i < METHODS; i++) {
    double mu = 0.3, s = 4, m;
    contact_case *q = ball_on_ground(cm_vec3(s, 0, -0.1), mu, 0);
    m = 1 / q->bodies[0].inverse_mass;
    carom_contact_options o = options_of(all_methods[i], CAROM_CONTACT_CIRCULAR, 1e-11);
    contact_solve(q, &o);
    double gamma = m * (mu * s + 0.1) / (1 + mu * mu * 3.5), slip = s - 3.5 * mu * gamma / m;
    CHECK_NEAR(q->impulses[0].z / gamma, 1, 1e-8);
    CHECK_NEAR(q->impulses[0].x / gamma, -mu, 1e-8);
    CHECK_NEAR(q->velocities[0].z, mu * slip, 1e-8);
    CHECK_NEAR(q->velocities[0].x, s - mu * gamma / m, 1e-8);
    CHECK_NEAR(q->spins[0].y, 0.05 * mu * gamma / m / (0.4 * 0.05 * 0.05), 1e-6);
    free(q);
  }
}

TEST(a_slow_ball_rolls_without_slip) {
  for (int i = 0; i < METHODS; i++) {
    contact_case *q = ball_on_ground(cm_vec3(0.1, 0, -1), 0.5, 0);
    carom_contact_options o = options_of(all_methods[i], CAROM_CONTACT_CIRCULAR, 1e-11);
    contact_solve(q, &o);
    CHECK_NEAR(q->velocities[0].x, 0.1 * 5 / 7, 1e-9);  // 5/7: a solid sphere set rolling
    CHECK_NEAR(q->velocities[0].x - 0.05 * q->spins[0].y, 0, 1e-9);
    CHECK_NEAR(q->velocities[0].z, 0, 1e-9);
    free(q);
  }
}

// A chain of bodies held by bilateral rows is one linear system; here two points held at fixed points of the world.
static void add_point_joint(contact_case *q, int a, int b, carom_vec3 arm_a, carom_vec3 arm_b) {
  for (int i = 0; i < 3; i++) {
    carom_vec3 e = cm_vec3(i == 0, i == 1, i == 2), la = cm_cross(arm_a, e), lb = cm_cross(arm_b, e);
    q->rows[q->problem.row_count++] = (carom_contact_row){.a = a,
                                                          .b = b,
                                                          .jacobian_a = {e.x, e.y, e.z, la.x, la.y, la.z},
                                                          .jacobian_b = {-e.x, -e.y, -e.z, -lb.x, -lb.y, -lb.z},
                                                          .lower = -INFINITY,
                                                          .upper = INFINITY};
  }
}

static contact_case *chain_case(int links) {
  contact_case *q = contact_case_create();
  carom_random random = carom_random_make(5, 5);
  for (int i = 0; i < links; i++) {
    contact_add_body(q, 0.05, true, cm_vec3(0, 0, -0.0981), &random);
    q->bodies[i].spin = cm_scale(0.1, contact_random_vector(&random));
    add_point_joint(q, i, i - 1, cm_vec3(-0.1, 0, 0), cm_vec3(0.1, 0, 0));
  }
  return q;
}

TEST(a_chain_keeps_its_joints) {
  for (int i = 0; i < METHODS; i++) {
    contact_case *q = chain_case(6);
    carom_contact_options o = options_of(all_methods[i], CAROM_CONTACT_CIRCULAR, 1e-9);
    carom_contact_info info = contact_solve(q, &o);
    CHECK(info.outcome == CAROM_CONTACT_SOLVED);
    contact_dense d = contact_dense_create(&q->problem);
    double w[100];
    contact_dense_w(&d, q->multipliers, w);
    for (int k = 0; k < d.n; k++) CHECK_NEAR(w[k], 0, 1e-8);
    contact_dense_destroy(&d);
    free(q);
  }
}

// A motor of limited impulse drives a wheel: at the limit the multiplier stays there.
TEST(a_motor_saturates) {
  for (int i = 0; i < METHODS; i++) {
    for (int strong = 0; strong < 2; strong++) {
      contact_case *q = contact_case_create();
      carom_random random = carom_random_make(1, 1);
      contact_add_body(q, 0.05, false, cm_zero3(), &random);
      double I = 1 / q->bodies[0].inverse_inertia[0], limit = strong ? 10 * I : I;
      q->rows[q->problem.row_count++] = (carom_contact_row){.a = 0,
                                                            .b = CAROM_CONTACT_WORLD,
                                                            .jacobian_a = {0, 0, 0, 0, 0, 1},
                                                            .bias = -3,
                                                            .lower = -limit,
                                                            .upper = limit};
      carom_contact_options o = options_of(all_methods[i], CAROM_CONTACT_CIRCULAR, 1e-10);
      carom_contact_info info = contact_solve(q, &o);
      CHECK(info.outcome == CAROM_CONTACT_SOLVED);
      CHECK_NEAR(q->spins[0].z, strong ? 3 : 1, 1e-8);
      CHECK_NEAR(q->multipliers[0], strong ? 3 * I : I, 1e-8 * I);
      CHECK_AT_MOST(info.relative_gap, 1e-8);
      free(q);
    }
  }
}

// ---- optimality, judged by dense matrices -----------------------------------------------------

static double excess_circular(const double *g, double mu) { return hypot(g[1], g[2]) - mu * g[0]; }

// gamma in K, w in K*, gamma . w = 0: all three relative to the free velocities and the impulses that stop them.
static void check_kkt(const char *name, const contact_case *q, carom_contact_cone cone, int p, double tolerance) {
  contact_dense d = contact_dense_create(&q->problem);
  double *gamma = calloc((size_t)d.n + 1, sizeof(double)), *w = calloc((size_t)d.n + 1, sizeof(double));
  if (!gamma || !w) abort();
  contact_dense_gamma(&d, q, gamma);
  contact_dense_w(&d, gamma, w);
  double largest = 0, speed = 0;
  for (int i = 0; i < d.n; i++) largest = fmax(largest, fabs(gamma[i])), speed = fmax(speed, fabs(d.r[i]));
  for (int c = 0; c < q->problem.contact_count; c++) {
    const double *g = gamma + 3 * c, *u = w + 3 * c, mu = q->contacts[c].friction;
    double outside = excess_circular(g, mu), infeasible = mu * hypot(u[1], u[2]) - u[0];
    if (cone == CAROM_CONTACT_GENERATORS) {
      infeasible = -INFINITY;
      for (int s = 0; s < p; s++) {
        double a = 2 * acos(-1.0) * s / p;
        infeasible = fmax(infeasible, -(u[0] + mu * (cos(a) * u[1] + sin(a) * u[2])));
        // faces of the cone: across the middle between two generators the impulse is at most mu cos(pi / p)
        double b = a + acos(-1.0) / p;
        outside = fmax(outside, cos(b) * g[1] + sin(b) * g[2] - mu * cos(acos(-1.0) / p) * g[0]);
      }
    }
    double work = g[0] * u[0] + g[1] * u[1] + g[2] * u[2];
    if (!(outside <= 1e-9 * largest) || !(infeasible <= tolerance * speed) ||
        !(fabs(work) <= tolerance * speed * largest))
      test_fail(__FILE__, __LINE__, "%s, contact %d: outside %g, infeasible %g, work %g (impulse %g, speed %g)", name,
                c, outside, infeasible, work, largest, speed);
  }
  for (int i = 3 * q->problem.contact_count; i < d.n; i++) CHECK_NEAR(w[i], 0, tolerance * speed);
  free(gamma), free(w);
  contact_dense_destroy(&d);
}

static void check_random_cases(carom_contact_cone cone, int p, bool general) {
  for (int i = 0; i < METHODS; i++)
    for (uint64_t seed = 1; seed <= 8; seed++) {
      contact_case *q = contact_random_case(seed, 12, 20, general, 0.15 * (double)seed);
      carom_contact_options o = options_of(all_methods[i], cone, 1e-8);
      o.generators = p;
      carom_contact_info info = contact_solve(q, &o);
      if (info.outcome != CAROM_CONTACT_SOLVED)
        test_fail(__FILE__, __LINE__, "%s seed %d: outcome %d, residual %g after %d",
                  carom_contact_method_name(o.method), (int)seed, (int)info.outcome, info.residual, info.iterations);
      check_kkt(carom_contact_method_name(o.method), q, cone, p, 1e-7);
      free(q);
    }
}

TEST(random_spheres_are_optimal_with_circular_cones) { check_random_cases(CAROM_CONTACT_CIRCULAR, 3, false); }
TEST(random_bodies_are_optimal_with_circular_cones) { check_random_cases(CAROM_CONTACT_CIRCULAR, 3, true); }
TEST(random_spheres_are_optimal_with_three_generators) { check_random_cases(CAROM_CONTACT_GENERATORS, 3, false); }
TEST(random_bodies_are_optimal_with_five_generators) { check_random_cases(CAROM_CONTACT_GENERATORS, 5, true); }

// ---- brute force ------------------------------------------------------------------------------

static bool solve_dense(int n, double *A, double *b) {  // elimination with row pivoting, row-major n x n
  for (int k = 0; k < n; k++) {
    int pivot = k;
    for (int i = k + 1; i < n; i++)
      if (fabs(A[i * n + k]) > fabs(A[pivot * n + k])) pivot = i;
    if (fabs(A[pivot * n + k]) < 1e-9) return false;
    for (int j = 0; j < n; j++) {
      double t = A[k * n + j];
      A[k * n + j] = A[pivot * n + j], A[pivot * n + j] = t;
    }
    double t = b[k];
    b[k] = b[pivot], b[pivot] = t;
    for (int i = k + 1; i < n; i++) {
      double f = A[i * n + k] / A[k * n + k];
      for (int j = k; j < n; j++) A[i * n + j] -= f * A[k * n + j];
      b[i] -= f * b[k];
    }
  }
  for (int k = n - 1; k >= 0; k--) {
    for (int j = k + 1; j < n; j++) b[k] -= A[k * n + j] * b[j];
    b[k] /= A[k * n + k];
  }
  return true;
}

// All 2^n choices of active weights beta of the program (2.3.10), each a linear system; the optimal one has beta >= 0
// and w >= 0. Returns the objective, or NaN when none is found.
static double brute_force(int n, const double *P, const double *kappa) {
  double scale = 0;
  for (int i = 0; i < n; i++) scale = fmax(scale, P[i * n + i]);
  for (unsigned set = 0; set < 1u << n; set++) {
    int index[16], m = 0;
    double A[256], beta[16];
    for (int i = 0; i < n; i++)
      if (set >> i & 1) index[m++] = i;
    for (int i = 0; i < m; i++) {
      beta[i] = -kappa[index[i]] / scale;
      for (int j = 0; j < m; j++) A[i * m + j] = P[index[i] * n + index[j]] / scale;
    }
    if (!solve_dense(m, A, beta)) continue;
    bool good = true;
    double objective = 0;
    for (int i = 0; i < m; i++) good = good && beta[i] >= -1e-10, objective += 0.5 * kappa[index[i]] * beta[i];
    for (int i = 0; i < n && good; i++) {
      double w = kappa[i];
      for (int j = 0; j < m; j++) w += P[i * n + index[j]] * beta[j];
      good = w >= -1e-9;
    }
    if (good) return objective;
  }
  return NAN;
}

TEST(three_generators_agree_with_brute_force) {
  for (uint64_t seed = 1; seed <= 12; seed++) {
    contact_case *q = contact_random_case(100 + seed, 3, 4, seed % 2, 0.6);
    for (int c = 0; c < 4; c++) {  // some closing fast
      carom_vec3 u, v;
      q->contacts[c].bias -= 0.2;
      cm_frame(q->contacts[c].normal, &u, &v);
      q->contacts[c].tangent = v;
    }
    contact_dense d = contact_dense_create(&q->problem);
    double P[144], kappa[12], G[12][12] = {{0}};
    for (int c = 0; c < 4; c++)
      for (int s = 0; s < 3; s++) {
        double a = 2 * acos(-1.0) * (s + 1) / 3;
        G[3 * c + s][3 * c] = 1, G[3 * c + s][3 * c + 1] = 0.6 * cos(a), G[3 * c + s][3 * c + 2] = 0.6 * sin(a);
      }
    for (int i = 0; i < 12; i++) {
      kappa[i] = 0;
      for (int k = 0; k < 12; k++) kappa[i] += G[i][k] * d.r[k];
      for (int j = 0; j < 12; j++) {
        P[i * 12 + j] = 0;
        for (int k = 0; k < 12; k++)
          for (int l = 0; l < 12; l++) P[i * 12 + j] += G[i][k] * d.N[k + l * 12] * G[j][l];
      }
    }
    double expected = brute_force(12, P, kappa);
    for (int i = 0; i < METHODS && isfinite(expected); i++) {
      carom_contact_options o = options_of(all_methods[i], CAROM_CONTACT_GENERATORS, 1e-9);
      carom_contact_info info = contact_solve(q, &o);
      CHECK_NEAR(-info.dual / fabs(expected), expected / fabs(expected), 1e-6);
      CHECK_NEAR(info.primal / fabs(expected), 1, 1e-6);
    }
    CHECK(isfinite(expected) || seed == 0);
    contact_dense_destroy(&d);
    free(q);
  }
}

// ---- agreement --------------------------------------------------------------------------------

static double speed_difference(const contact_case *a, const contact_case *b) {
  double worst = 0;
  for (int i = 0; i < a->problem.body_count; i++) {
    worst = fmax(worst, cm_norm(cm_sub(a->velocities[i], b->velocities[i])));
    worst = fmax(worst, 0.05 * cm_norm(cm_sub(a->spins[i], b->spins[i])));
  }
  return worst;
}

static void check_agreement(carom_contact_cone cone, int p) {
  contact_case *reference = NULL;
  for (int i = 0; i < METHODS; i++) {
    contact_case *q = contact_pile_case(5, 5, 5, 0.5, 11);
    carom_contact_options o = options_of(all_methods[i], cone, 1e-7);
    o.generators = p, o.gap_tolerance = 1e-6;
    carom_contact_info info = contact_solve(q, &o);
    if (info.outcome != CAROM_CONTACT_SOLVED)
      test_fail(__FILE__, __LINE__, "%s: outcome %d, residual %g, gap %g", carom_contact_method_name(o.method),
                (int)info.outcome, info.residual, info.relative_gap);
    CHECK_AT_MOST(info.relative_gap, 1e-6);
    CHECK_AT_MOST(info.residual, 1e-7 * info.velocity_scale);
    if (reference) CHECK_AT_MOST(speed_difference(q, reference), 1e-4 * info.velocity_scale);
    if (!reference)
      reference = q;
    else
      free(q);
  }
  free(reference);
}

TEST(all_methods_give_one_motion_of_a_pile) { check_agreement(CAROM_CONTACT_CIRCULAR, 3); }
TEST(all_methods_give_one_motion_with_three_generators) { check_agreement(CAROM_CONTACT_GENERATORS, 3); }
TEST(all_methods_give_one_motion_with_eight_generators) { check_agreement(CAROM_CONTACT_GENERATORS, 8); }

// Fewer impulses, more velocities: v_circle is among those that generators allow, and v_p is the nearest of these to
// the free ones, so that half |v_circle - v_p|^2 is at most the difference of the objectives; and that shrinks with p.
TEST(many_generators_approach_the_circle) {
  contact_case *circle = contact_pile_case(3, 3, 3, 0.5, 2);
  carom_contact_options o = options_of(CAROM_CONTACT_PGS, CAROM_CONTACT_CIRCULAR, 1e-9);
  carom_contact_info exact = contact_solve(circle, &o);
  double before = INFINITY;
  for (int p = 4; p <= 64; p *= 4) {
    contact_case *q = contact_pile_case(3, 3, 3, 0.5, 2);
    o.cone = CAROM_CONTACT_GENERATORS, o.generators = p;
    carom_contact_info info = contact_solve(q, &o);
    double apart = 0, difference = exact.primal - info.primal;
    for (int i = 0; i < q->problem.body_count; i++)
      apart += cm_norm2(cm_sub(q->velocities[i], circle->velocities[i])) / (2 * q->bodies[i].inverse_mass) +
               cm_norm2(cm_sub(q->spins[i], circle->spins[i])) / (2 * q->bodies[i].inverse_inertia[0]);
    CHECK(difference > 0);
    CHECK_AT_MOST(apart, difference + 1e-8 * exact.primal);
    CHECK_AT_MOST(difference, before / 4);
    before = difference;
    free(q);
  }
  free(circle);
}

TEST(the_judge_agrees_with_dense_matrices) {
  contact_case *q = contact_random_case(3, 10, 18, true, 0.4);
  carom_contact_work *w;
  carom_contact_info info;
  carom_contact_options o = options_of(CAROM_CONTACT_PGS, CAROM_CONTACT_CIRCULAR, 0);
  o.max_iterations = 3;  // far from solved
  contact_solve(q, &o);
  REQUIRE(carom_contact_work_create(NULL, &w, NULL) == CAROM_OK);
  REQUIRE(carom_contact_evaluate(w, &q->problem, &o, &q->solution, &info, NULL) == CAROM_OK);
  contact_dense d = contact_dense_create(&q->problem);
  double gamma[54], u[54], quadratic = 0, linear = 0, shift = 0, gap = 0, residual = 0;
  contact_dense_gamma(&d, q, gamma);
  contact_dense_w(&d, gamma, u);
  for (int i = 0; i < d.n; i++) quadratic += gamma[i] * (u[i] - d.r[i]), linear += gamma[i] * d.r[i];
  for (int c = 0; c < 18; c++) {
    const double *g = gamma + 3 * c, *v = u + 3 * c, mu = 0.4;
    double s = fmax(0, mu * hypot(v[1], v[2]) - v[0]), rho = 0;
    for (int k = 0; k < 3; k++) rho += d.N[(3 * c + k) * (d.n + 1)] / 3;
    double y[3] = {g[0] - v[0] / rho, g[1] - v[1] / rho, g[2] - v[2] / rho}, t = hypot(y[1], y[2]), z = 0, zt = 0;
    if (t <= mu * y[0]) z = y[0], zt = t;
    if (t > mu * y[0] && mu * t > -y[0]) z = (y[0] + mu * t) / (1 + mu * mu), zt = mu * z;
    double e0 = g[0] - z, e1 = g[1] - (t > 0 ? zt / t * y[1] : 0), e2 = g[2] - (t > 0 ? zt / t * y[2] : 0);
    residual = fmax(residual, rho * sqrt(e0 * e0 + e1 * e1 + e2 * e2));
    shift = fmax(shift, s);
    gap += g[0] * (v[0] + s) + g[1] * v[1] + g[2] * v[2];
  }
  CHECK(info.residual > 1e-3);
  CHECK_NEAR(info.residual / residual, 1, 1e-10);
  CHECK_NEAR(info.infeasibility / shift, 1, 1e-10);
  CHECK_NEAR(info.gap / gap, 1, 1e-9);
  CHECK_NEAR(info.primal / (quadratic / 2), 1, 1e-10);
  CHECK_NEAR(info.dual / (-quadratic / 2 - linear), 1, 1e-10);
  carom_contact_work_destroy(w);
  contact_dense_destroy(&d);
  free(q);
}

// ---- properties -------------------------------------------------------------------------------

// Masses a million times larger change the impulses by that factor and nothing else.
TEST(masses_do_not_matter) {
  for (int i = 0; i < METHODS; i++) {
    contact_case *light = contact_pile_case(3, 3, 4, 0.5, 4), *heavy = contact_pile_case(3, 3, 4, 0.5, 4);
    for (int b = 0; b < heavy->problem.body_count; b++) {
      heavy->bodies[b].inverse_mass *= 0x1p-20;
      for (int k = 0; k < 6; k++) heavy->bodies[b].inverse_inertia[k] *= 0x1p-20;
    }
    carom_contact_options o = options_of(all_methods[i], CAROM_CONTACT_CIRCULAR, 1e-7);
    carom_contact_info a = contact_solve(light, &o), b = contact_solve(heavy, &o);
    CHECK(a.outcome == CAROM_CONTACT_SOLVED && b.outcome == CAROM_CONTACT_SOLVED);
    if (all_methods[i] != CAROM_CONTACT_INTERIOR) CHECK(a.iterations == b.iterations);
    CHECK_AT_MOST(speed_difference(light, heavy), 1e-5);
    free(light), free(heavy);
  }
}

TEST(a_warm_start_at_the_solution_stays_there) {
  for (int i = 0; i < METHODS; i++) {
    if (all_methods[i] == CAROM_CONTACT_INTERIOR) continue;  // it begins from within, whatever the guess
    for (int cone = 0; cone < 2; cone++) {
      contact_case *q = contact_pile_case(4, 4, 4, 0.5, 4);
      carom_contact_options o = options_of(all_methods[i], (carom_contact_cone)cone, 1e-7);
      o.generators = 6;
      carom_contact_info cold = contact_solve(q, &o);
      o.warm_start = true;
      o.tolerance = 2e-7;
      carom_contact_info warm = contact_solve(q, &o);
      CHECK(warm.outcome == CAROM_CONTACT_SOLVED);
      CHECK_AT_MOST(warm.iterations, 2);
      CHECK(cold.iterations > 10);
      free(q);
    }
  }
}

// When contacts are open enough for no impulse to be needed, none is left of the guess: bodies that had come to part
// were once pushed on with what their contacts carried before.
TEST(a_warm_start_leaves_nothing_where_nothing_is_needed) {
  for (int i = 0; i < METHODS; i++) {
    contact_case *q = contact_pile_case(3, 3, 3, 0.5, 4);
    carom_contact_options o = options_of(all_methods[i], CAROM_CONTACT_CIRCULAR, 1e-7);
    contact_solve(q, &o);
    for (int k = 0; k < q->problem.contact_count; k++) q->contacts[k].bias += 1e3;
    o.warm_start = true;
    carom_contact_info info = contact_solve(q, &o);
    CHECK(info.outcome == CAROM_CONTACT_SOLVED);
    for (int k = 0; k < q->problem.contact_count; k++) CHECK(cm_norm(q->impulses[k]) == 0);
    for (int k = 0; k < q->problem.body_count; k++)
      CHECK(cm_norm(cm_sub(q->velocities[k], q->bodies[k].velocity)) == 0);
    free(q);
  }
}

// Bodies move by impulses alone: total momentum changes by what the world gave.
TEST(velocities_belong_to_the_impulses) {
  contact_case *q = contact_pile_case(6, 6, 6, 0.3, 9);
  carom_contact_options o = options_of(CAROM_CONTACT_PGS, CAROM_CONTACT_CIRCULAR, 0);
  o.max_iterations = 25;
  contact_solve(q, &o);
  carom_vec3 before = cm_zero3(), after = cm_zero3(), world = cm_zero3();
  for (int i = 0; i < q->problem.body_count; i++) {
    before = cm_axpy(before, 1 / q->bodies[i].inverse_mass, q->bodies[i].velocity);
    after = cm_axpy(after, 1 / q->bodies[i].inverse_mass, q->velocities[i]);
  }
  for (int c = 0; c < q->problem.contact_count; c++)
    if (q->contacts[c].b < 0) world = cm_add(world, q->impulses[c]);
  CHECK_NEAR(cm_norm(cm_sub(cm_sub(after, before), world)) / cm_norm(world), 0, 1e-12);
  free(q);
}

// A plate on 100 balls has more contacts than there are colours.
TEST(more_contacts_than_colors) {
  contact_case *q = contact_case_create();
  carom_random random = carom_random_make(8, 8);
  int plate = contact_add_body(q, 0.15, true, cm_vec3(0, 0, -0.1), &random);
  for (int i = 0; i < 100; i++) {
    carom_vec3 at = cm_vec3(0.1 * (i % 10) - 0.45, 0.1 * (i / 10) - 0.45, -0.1), up = cm_vec3(0, 0, 1);
    int ball = contact_add_body(q, 0.05, false, cm_vec3(0, 0, -0.1), &random);
    contact_add_contact(q, plate, ball, up, at, cm_vec3(0, 0, 0.05), 0.4, carom_random_between(&random, 0, 0.01));
    contact_add_contact(q, ball, CAROM_CONTACT_WORLD, up, cm_vec3(0, 0, -0.05), cm_zero3(), 0.4, 0);
  }
  for (int i = 0; i < METHODS; i++) {
    carom_contact_options o = options_of(all_methods[i], CAROM_CONTACT_CIRCULAR, 1e-6);
    carom_contact_info info = contact_solve(q, &o);
    if (info.outcome != CAROM_CONTACT_SOLVED)
      test_fail(__FILE__, __LINE__, "%s: residual %g after %d", carom_contact_method_name(o.method), info.residual,
                info.iterations);
    if (o.method == CAROM_CONTACT_PGS) CHECK(info.colors == 65);
    CHECK(q->velocities[plate].z >= -0.011 && q->velocities[plate].z <= 0);
  }
  free(q);
}

// ---- any number of threads --------------------------------------------------------------------

static void check_threads(contact_case *q, carom_contact_cone cone) {
  size_t contacts = (size_t)q->problem.contact_count, bodies = (size_t)q->problem.body_count;
  carom_vec3 *impulses = malloc(contacts * sizeof *impulses), *velocities = malloc(bodies * sizeof *velocities);
  if (!impulses || !velocities) abort();
  for (int i = 0; i < METHODS; i++) {
    bool interior = all_methods[i] == CAROM_CONTACT_INTERIOR;
    if (interior && contacts > 1000) continue;  // it factors matrices on one thread
    carom_contact_options o = options_of(all_methods[i], cone, 0);
    o.max_iterations = interior ? 3 : 12;
    carom_contact_info one = contact_solve(q, &o);
    memcpy(impulses, q->impulses, contacts * sizeof *impulses);
    memcpy(velocities, q->velocities, bodies * sizeof *velocities);
    for (o.threads = 2; o.threads <= 5; o.threads += o.threads - 1) {
      carom_contact_info more = contact_solve(q, &o);
      CHECK(memcmp(impulses, q->impulses, contacts * sizeof *impulses) == 0);
      CHECK(memcmp(velocities, q->velocities, bodies * sizeof *velocities) == 0);
      CHECK(more.residual == one.residual && more.gap == one.gap && more.dual == one.dual);
    }
  }
  free(impulses), free(velocities);
}

TEST(threads_do_not_change_a_bit_with_circular_cones) {
  contact_case *q = contact_pile_case(9, 9, 9, 0.5, 6);
  check_threads(q, CAROM_CONTACT_CIRCULAR);
  free(q);
}

TEST(threads_do_not_change_a_bit_with_generators) {
  contact_case *q = contact_pile_case(6, 6, 8, 0.5, 6);
  check_threads(q, CAROM_CONTACT_GENERATORS);
  free(q);
}

TEST(threads_do_not_change_a_bit_with_joints) {
  contact_case *q = contact_random_case(4, 300, 500, true, 0.5);
  for (int i = 0; i < 30; i += 2) add_point_joint(q, i, i + 1, cm_vec3(0.1, 0, 0), cm_vec3(-0.1, 0, 0));
  check_threads(q, CAROM_CONTACT_CIRCULAR);
  free(q);
}

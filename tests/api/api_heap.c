// Where a public header says "never allocates" or "allocates nothing", no call of the heap is made, by any library in
// the process. Steps are counted in tests/step/test_allocations.c.
#include "carom/carom.h"
#include "heap_counter.h"
#include "shapes.h"
#include "test.h"

// Counts the calls of a statement that was run once before, so that what is made at first use is made.
#define CHECK_NO_HEAP(...)                                                                                    \
  do {                                                                                                        \
    __VA_ARGS__;                                                                                              \
    long before_ = heap_calls;                                                                                \
    __VA_ARGS__;                                                                                              \
    if (heap_calls != before_)                                                                                \
      test_fail(__FILE__, __LINE__, "%ld calls of the heap in %s", (long)heap_calls - before_, #__VA_ARGS__); \
  } while (0)

#define NEEDS_COUNTER \
  if (!MALLOC_COUNTED) test_skip("malloc cannot be counted in this build")

TEST(separation_queries) {
  NEEDS_COUNTER;
  const carom_shape *shapes[] = {box_shape(1, 2, 3), prism_shape(40, 1, 1), sphere_shape(1), capsule_shape(0.5, 1),
                                 floor_shape()};
  carom_vec3 twists[4] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 0}, {0, 0, 1}};
  for (int i = 0; i < 5; i++)
    for (int k = 0; k < 4; k++)
      for (double away = 1; away < 5; away += 2.5) {
        carom_placed a = {shapes[k], cm_pose(cm_vec3(0.1, 0.2, away), cm_axis_angle(cm_vec3(1, 2, 3), 0.7))};
        carom_placed b = {shapes[i], cm_pose_identity()};
        carom_ssh_result r;
        carom_ssh_cache cache = {0};
        carom_distance_result d;
        carom_ssh_optimum o;
        carom_manifold m;
        carom_gap_gradient g;
        carom_impact_time t;
        double h[144], rate;
        carom_motion moves = {a.shape, a.pose, cm_pose(cm_vec3(0, 0, -away), a.pose.q)},
                     rests = {b.shape, b.pose, b.pose};
        CHECK_NO_HEAP(carom_ssh(&a, &b, NULL, &cache, &r));
        CHECK_NO_HEAP(carom_distance(&a, &b, &cache, &d));
        CHECK_NO_HEAP(carom_ssh_resolve(&a, &b, &r, 0, &o));
        CHECK_NO_HEAP(carom_contact_manifold(&a, &b, r.normal, 1e-3, &m));
        CHECK_NO_HEAP(carom_ssh_gradient(&a, &b, &r, true, &g));
        CHECK_NO_HEAP(carom_ssh_directional(&a, &b, &r, true, twists, &rate));
        CHECK_NO_HEAP(carom_ssh_hessian(&a, &b, &r, true, h));
        CHECK_NO_HEAP(carom_time_of_impact(&moves, &rests, 0, NULL, &t));
        CHECK_NO_HEAP((void)carom_aabb_of(&a));
      }
  for (int i = 0; i < 5; i++) carom_shape_release(shapes[i]);
}

TEST(broad_phases) {
  NEEDS_COUNTER;
  for (int grid = 0; grid < 2; grid++) {
    carom_broadphase_options options = carom_broadphase_default_options();
    options.uniform_grid = grid;
    carom_broadphase *b = NULL;
    REQUIRE(carom_broadphase_create(&options, NULL, &b, NULL) == CAROM_OK);
    carom_aabb boxes[40];
    for (int i = 0; i < 40; i++) {
      carom_proxy_def def = carom_proxy_default();
      carom_vec3 x = cm_vec3(i % 7, i % 3, i % 5);
      int proxy;
      def.box = boxes[i] = (carom_aabb){x, cm_add(x, cm_vec3(1.2, 1.2, 1.2))};
      REQUIRE(carom_broadphase_add(b, &def, &proxy, NULL) == CAROM_OK && proxy == i);
    }
    const carom_pair *pairs;
    int count;
    for (int round = 0; round < 3; round++) {
      double shift = round == 1 ? 1 : 0;  // there and back: as many pairs as ever
      for (int i = 0; i < 40; i += 2)
        carom_broadphase_move(
            b, i,
            (carom_aabb){cm_add(boxes[i].low, cm_vec3(0, 0, shift)), cm_add(boxes[i].high, cm_vec3(0, 0, shift))});
      if (round == 2)
        CHECK_NO_HEAP(carom_broadphase_update(b, &pairs, &count, NULL));
      else
        REQUIRE(carom_broadphase_update(b, &pairs, &count, NULL) == CAROM_OK);
    }
    CHECK(count > 0);
    CHECK_NO_HEAP(carom_broadphase_move(b, 3, boxes[3]));
    carom_broadphase_destroy(b);
  }
}

enum { N = 30 };

// A random problem with a positive definite matrix.
static carom_lcp_problem random_problem(double M[N * N], double q[N]) {
  static double B[N * N];
  carom_random r = carom_random_make(9, 0);
  for (int i = 0; i < N * N; i++) B[i] = carom_random_between(&r, -1, 1);
  for (int i = 0; i < N * N; i++) {
    M[i] = i % (N + 1) == 0 ? 0.1 : 0;
    for (int k = 0; k < N; k++) M[i] += B[i % N * N + k] * B[i / N * N + k];
  }
  for (int i = 0; i < N; i++) q[i] = carom_random_between(&r, -1, 1);
  return (carom_lcp_problem){.n = N, .M = M, .q = q};
}

TEST(complementarity) {
  NEEDS_COUNTER;
  static double M[N * N], q[N], lower[N], z[N], w[N], x[N];
  unsigned char basis[N];
  double least;
  carom_lcp_problem p = random_problem(M, q);
  for (int i = 0; i < N; i++) lower[i] = i % 3 ? 0 : -INFINITY;
  carom_mlcp_problem mixed = {.n = N, .M = M, .q = q, .lower = lower};
  carom_lcp_solution s = {z, w, basis};
  carom_mlcp_solution ms = {z, w, NULL};
  carom_lcp_info info;
  carom_lcp_work *work = NULL;
  carom_mlcp_work *mixed_work = NULL;
  REQUIRE(carom_lcp_work_create(N, NULL, &work, NULL) == CAROM_OK);
  REQUIRE(carom_mlcp_work_create(N, NULL, &mixed_work, NULL) == CAROM_OK);
  carom_lcp_options o = carom_lcp_default_options();
  for (o.method = CAROM_LCP_AUTO; o.method < CAROM_LCP_ENUMERATE; o.method++) {
    CHECK_NO_HEAP(carom_lcp_solve(work, &p, &o, &s, &info, NULL));
    CHECK(info.outcome == CAROM_LCP_SOLVED);
  }
  CHECK_NO_HEAP(carom_mlcp_solve(mixed_work, &mixed, NULL, &ms, &info, NULL));
  CHECK(info.outcome == CAROM_LCP_SOLVED);
  CHECK_NO_HEAP(carom_lcp_cone_coordinates(work, &p, basis, x, &least, NULL));
  bool yes;
  CHECK_NO_HEAP(carom_lcp_is_p_matrix(10, M, 0, &yes, NULL, NULL));
  CHECK_NO_HEAP(carom_lcp_is_copositive(10, M, 0, &yes, NULL, NULL));
  carom_lcp_work_destroy(work);
  carom_mlcp_work_destroy(mixed_work);
}

static carom_status squares(void *context, const double *z, double *F, double *J) {
  (void)context;
  for (int i = 0; i < 2; i++) F[i] = z[i] * z[i] - 1;
  if (J) J[0] = 2 * z[0], J[1] = J[2] = 0, J[3] = 2 * z[1];
  return CAROM_OK;
}

TEST(nonlinear_complementarity) {
  NEEDS_COUNTER;
  carom_ncp_work *work = NULL;
  REQUIRE(carom_ncp_work_create(2, NULL, &work, NULL) == CAROM_OK);
  double z[2] = {3, 2}, w[2];
  carom_ncp_problem p = {.n = 2, .evaluate = squares};
  carom_lcp_info info;
  CHECK_NO_HEAP(z[0] = 3, carom_ncp_solve(work, &p, NULL, &(carom_ncp_solution){z, w}, &info, NULL));
  CHECK(info.outcome == CAROM_LCP_SOLVED);
  carom_ncp_work_destroy(work);
}

TEST(impacts) {
  NEEDS_COUNTER;
  enum { CONTACTS = N / 3 };
  static double W[N * N], q[N], P[N], v[N];
  double e[CONTACTS], mu[CONTACTS];
  random_problem(W, q);
  for (int i = 0; i < CONTACTS; i++) e[i] = 0.5, mu[i] = 0.3;
  carom_impact_problem p = {.count = CONTACTS, .W = W, .velocity = q, .restitution = e, .friction = mu};
  carom_impact_solution s = {P, v};
  carom_impact_work *work = NULL;
  REQUIRE(carom_impact_work_create(CONTACTS, NULL, &work, NULL) == CAROM_OK);
  for (int law = 0; law < CAROM_IMPACT_LAW_COUNT; law++)
    CHECK_NO_HEAP(carom_impact_solve(work, &p, (carom_impact_law)law, &s, NULL, NULL));
  CHECK_NO_HEAP(carom_impact_rest(work, &p, NULL, &s, NULL, NULL));
  carom_impact_work_destroy(work);
}

TEST(cone_programs) {
  NEEDS_COUNTER;
  enum { BALLS = 20 };
  carom_contact_body bodies[BALLS];
  carom_contact_point contacts[BALLS];
  carom_vec3 impulses[BALLS];
  for (int i = 0; i < BALLS; i++) {
    bodies[i] = (carom_contact_body){.inverse_mass = 1, .inverse_inertia = {2, 2, 2}, .velocity = {0.1, 0, -1}};
    contacts[i] = (carom_contact_point){
        .a = i, .b = i - 1, .friction = 0.3, .normal = {0, 0, 1}, .arm_a = {0, 0, -0.5}, .arm_b = {0, 0, 0.5}};
  }
  carom_contact_problem p = {.body_count = BALLS, .contact_count = BALLS, .bodies = bodies, .contacts = contacts};
  carom_contact_solution s = {.impulses = impulses};
  carom_contact_info info;
  carom_contact_work *work = NULL;
  REQUIRE(carom_contact_work_create(NULL, &work, NULL) == CAROM_OK);
  carom_contact_options o = carom_contact_default_options();
  for (o.method = CAROM_CONTACT_PGS; o.method <= CAROM_CONTACT_SPG; o.method++)
    CHECK_NO_HEAP(carom_contact_solve(work, &p, &o, &s, &info, NULL));
  CHECK_NO_HEAP(carom_contact_evaluate(work, &p, &o, &s, &info, NULL));
  carom_contact_work_destroy(work);
}

// What every answer of carom_ssh must satisfy, whoever computes it.
#if defined(__GLIBC__) || defined(__linux__)
#include <malloc.h>
#endif

#include "carom/collide.h"
#include "pair_file.h"
#include "ssh_samples.h"
#include "test.h"
#include "test_collide.h"

enum { POOL = 48, PAIRS = 2000 };

typedef void (*property)(carom_random *r, const carom_placed *a, const carom_placed *b);

static carom_ssh_result ask_with(const carom_placed *a, const carom_placed *b, const carom_ssh_options *o) {
  carom_ssh_result x = {0};
  carom_status status = carom_ssh(a, b, o, NULL, &x);
  if (status != CAROM_OK) test_fail(__FILE__, __LINE__, "carom_ssh: %s", carom_status_text(status));
  return x;
}

static carom_ssh_result ask(const carom_placed *a, const carom_placed *b) { return ask_with(a, b, NULL); }

static void with_pool(double scale, bool square, property check) {
  carom_random r = carom_random_make(31, square ? 1 : 0);
  const carom_shape *pool[POOL];
  for (int i = 0; i < POOL; i++) pool[i] = sample_shape(&r, (sample_kind)(i % SAMPLE_KINDS), scale);
  for (int i = 0; i < PAIRS; i++) {
    int ia = (int)carom_random_below(&r, POOL), ib = (int)carom_random_below(&r, POOL);
    carom_placed a = {.shape = pool[ia]}, b = {.shape = pool[ib]};
    if (square)
      sample_square_poses(&r, scale, &a, &b);
    else
      sample_poses(&r, scale, &a, &b);
    int before = test_failures;
    check(&r, &a, &b);
    if (test_failures == before) continue;
    fprintf(stderr, "  pair %d, %s and %s, scale %g\n", i, sample_names[ia % SAMPLE_KINDS],
            sample_names[ib % SAMPLE_KINDS], scale);
    sample_print(&a, &b);
  }
  for (int i = 0; i < POOL; i++) carom_shape_release(pool[i]);
}

// Differences of gaps that round-off of the input explains: moving a vertex by e moves the gap by up to |alpha| e.
static double tolerance_of(const carom_placed *a, const carom_placed *b, const carom_ssh_result *x) {
  double reach = sample_size(a, b) + cm_norm(a->pose.p) + cm_norm(b->pose.p);
  return 1e-13 * reach * fmax(1, cm_norm(x->alpha));
}

// ---- the plane -----------------------------------------------------------------------------------------------------

static void plane_supports(carom_random *r, const carom_placed *a, const carom_placed *b) {
  (void)r;
  carom_ssh_result x = ask(a, b);
  double e = 1e-12 * (sample_size(a, b) + cm_norm(a->pose.p) + cm_norm(b->pose.p)) * cm_norm(x.alpha);
  const carom_polytope *p = carom_shape_polytope(a->shape), *q = carom_shape_polytope(b->shape);
  double low = INFINITY, high = -INFINITY;
  for (int i = 0; i < p->vertex_count; i++) low = fmin(low, cm_dot(x.alpha, cm_transform(a->pose, p->vertices[i])));
  for (int i = 0; i < q->vertex_count; i++) high = fmax(high, cm_dot(x.alpha, cm_transform(b->pose, q->vertices[i])));
  CHECK_NEAR(low, x.a1, e);
  CHECK_NEAR(high, x.a2, e);
  CHECK_NEAR(x.a1 - x.a2, x.gap, e);
  CHECK_NEAR(cm_dot(x.alpha, x.beta), 1, 1e-12 * cm_norm(x.alpha));
  CHECK_NEAR(cm_norm(x.beta), 1, 1e-14);
  CHECK_NEAR(cm_norm(cm_sub(x.normal, cm_unit(x.alpha))), 0, 1e-14);
  CHECK(x.duality_gap >= 0);
  CHECK_AT_MOST(x.duality_gap, 1e-12);
  CHECK(x.outcome == CAROM_SSH_SOLVED);
}

TEST(planes_support_both_bodies) { with_pool(1, false, plane_supports); }
TEST(planes_support_square_bodies) { with_pool(1, true, plane_supports); }
TEST(planes_support_small_bodies) { with_pool(1e-6, false, plane_supports); }
TEST(planes_support_large_bodies) { with_pool(1e6, false, plane_supports); }

// ---- the witnesses -------------------------------------------------------------------------------------------------

static void check_columns(const carom_placed *a, const carom_placed *b, const carom_ssh_result *x, double e) {
  carom_vec3 pa = cm_zero3(), pb = cm_zero3();
  double sum = 0;
  for (int i = 0; i < x->column_count; i++) {
    CHECK(x->weight[i] >= 0);
    sum += x->weight[i];
    carom_vec3 va = cm_transform(a->pose, carom_shape_polytope(a->shape)->vertices[x->vertex_a[i]]);
    carom_vec3 vb = cm_transform(b->pose, carom_shape_polytope(b->shape)->vertices[x->vertex_b[i]]);
    CHECK_AT_MOST(cm_norm(cm_sub(va, x->column_a[i])), e);
    CHECK_AT_MOST(cm_norm(cm_sub(vb, x->column_b[i])), e);
    pa = cm_axpy(pa, x->weight[i], va), pb = cm_axpy(pb, x->weight[i], vb);
  }
  CHECK_NEAR(sum, 1, 1e-13);
  CHECK_AT_MOST(cm_norm(cm_sub(pa, x->point_a)), e);
  CHECK_AT_MOST(cm_norm(cm_sub(pb, x->point_b)), e);
}

static void witnesses_hold(carom_random *r, const carom_placed *a, const carom_placed *b) {
  (void)r;
  carom_ssh_result x = ask(a, b);
  double e = 1e-12 * (sample_size(a, b) + cm_norm(a->pose.p) + cm_norm(b->pose.p));
  REQUIRE(x.column_count >= 1 && x.column_count <= 3);
  check_columns(a, b, &x, e);
  carom_vec3 difference = cm_sub(x.point_a, x.point_b);
  CHECK_AT_MOST(cm_norm(cm_axpy(difference, -x.gap, x.beta)), e * fmax(1, cm_norm(x.alpha)));
}

TEST(weights_give_the_witness_points) { with_pool(1, false, witnesses_hold); }
TEST(weights_give_the_witness_points_square) { with_pool(1, true, witnesses_hold); }
TEST(weights_give_the_witness_points_small) { with_pool(1e-6, false, witnesses_hold); }
TEST(weights_give_the_witness_points_large) { with_pool(1e6, false, witnesses_hold); }

// ---- symmetries ----------------------------------------------------------------------------------------------------

// Ties leave planes and weights open, and then nothing but the gap is compared. How many pairs had none.
static int without_ties;

static void with_pool_and_few_ties(bool square, property check, int least) {
  without_ties = 0;
  with_pool(1, square, check);
  CHECK(without_ties >= least);
}

static bool has_ties(const carom_placed *a, const carom_placed *b, const carom_ssh_result *x) {
  carom_ssh_optimum o;
  return carom_ssh_resolve(a, b, x, 0, &o) != CAROM_OK || o.primal_degenerate || o.dual_degenerate;
}

// With beta negated, the program of (B, A) is that of (A, B) seen in a mirror. Where planes or weights are not unique
// only the gap must agree.
static void exchange_mirrors(carom_random *r, const carom_placed *a, const carom_placed *b) {
  (void)r;
  carom_ssh_result x = ask(a, b), y = ask(b, a);
  double e = tolerance_of(a, b, &x);
  CHECK_NEAR(x.gap, y.gap, e);
  CHECK_AT_MOST(cm_norm(cm_add(x.beta, y.beta)), 1e-14);
  if (has_ties(a, b, &x) || has_ties(b, a, &y)) return;
  without_ties++;
  CHECK_AT_MOST(cm_norm(cm_add(x.normal, y.normal)), 1e-9);
  CHECK_AT_MOST(cm_norm(cm_sub(x.point_a, y.point_b)), 1e-8 * sample_size(a, b) * cm_norm(x.alpha));
}

// Coincident centres have no line, and either sign of the default beta will do.
static void exchange_mirrors_square(carom_random *r, const carom_placed *a, const carom_placed *b) {
  carom_ssh_result x = ask(a, b), y = ask(b, a);
  if (cm_norm(cm_add(x.beta, y.beta)) < 1e-12) exchange_mirrors(r, a, b);
}

TEST(exchange_of_the_bodies) { with_pool_and_few_ties(false, exchange_mirrors, 1650); }           // 1676 of 2000
TEST(exchange_of_square_bodies) { with_pool_and_few_ties(true, exchange_mirrors_square, 1250); }  // 1287

static void motion_keeps(carom_random *r, const carom_placed *a, const carom_placed *b) {
  carom_pose X = cm_pose(cm_scale(3, sample_direction(r)), sample_turn(r));
  carom_placed a2 = {a->shape, cm_compose(X, a->pose)}, b2 = {b->shape, cm_compose(X, b->pose)};
  carom_ssh_result x = ask(a, b), y = ask(&a2, &b2);
  CHECK_NEAR(x.gap, y.gap, 4 * tolerance_of(&a2, &b2, &x));
  if (has_ties(a, b, &x) || y.dual_degenerate) return;
  without_ties++;
  CHECK_AT_MOST(cm_norm(cm_sub(cm_rotate(X.q, x.normal), y.normal)), 1e-8);
}

TEST(rigid_motion_of_both) { with_pool_and_few_ties(false, motion_keeps, 1650); }  // 1681

static const carom_shape *shuffled(carom_random *r, const carom_shape *shape) {
  const carom_polytope *p = carom_shape_polytope(shape);
  carom_vec3 *v = malloc((size_t)p->vertex_count * sizeof *v);
  if (!v) abort();
  for (int i = 0; i < p->vertex_count; i++) {
    int j = (int)carom_random_below(r, (uint32_t)i + 1);
    v[i] = v[j];
    v[j] = p->vertices[i];
  }
  const carom_shape *copy = NULL;
  if (carom_shape_create_hull(v, p->vertex_count, NULL, &copy, NULL) != CAROM_OK) abort();
  free(v);
  return copy;
}

// The centre is a sum over vertices, so beta itself may change by round-off.
static void order_is_irrelevant(carom_random *r, const carom_placed *a, const carom_placed *b) {
  carom_placed a2 = {shuffled(r, a->shape), a->pose}, b2 = {shuffled(r, b->shape), b->pose};
  carom_ssh_result x = ask(a, b);
  carom_ssh_options o = carom_ssh_default_options();
  o.given_beta = true;
  o.beta = x.beta;
  carom_ssh_result y = ask_with(&a2, &b2, &o);
  CHECK_NEAR(x.gap, y.gap, tolerance_of(a, b, &x));
  carom_shape_release(a2.shape);
  carom_shape_release(b2.shape);
}

TEST(order_of_vertices) { with_pool(1, false, order_is_irrelevant); }
TEST(order_of_vertices_square) { with_pool(1, true, order_is_irrelevant); }

// ---- ties and hard work --------------------------------------------------------------------------------------------

static void few_pivots(carom_random *r, const carom_placed *a, const carom_placed *b) {
  (void)r;
  carom_ssh_result x = ask(a, b);
  CHECK_AT_MOST(x.pivots, 99);
  CHECK(x.outcome == CAROM_SSH_SOLVED);
}

TEST(pivots_stay_few) { with_pool(1, false, few_pivots); }
TEST(pivots_stay_few_square) { with_pool(1, true, few_pivots); }

// All 343 offsets of an integer grid between two cubes whose faces carry no further vertices, and along axes as beta.
TEST(ties_on_integer_grids) {
  carom_random r = carom_random_make(77, 0);
  for (int k = 0; k < 20; k++) {
    carom_placed a = {sample_grid(&r, 2), cm_pose_identity()}, b = {sample_grid(&r, 2), cm_pose_identity()};
    carom_ssh_options o = carom_ssh_default_options();
    o.given_beta = true;
    for (int i = 0; i < 343; i++) {
      a.pose.p = cm_vec3(i % 7 - 3, i / 7 % 7 - 3, i / 49 - 3);
      o.beta = i % 3 == 0 ? cm_vec3(1, 0, 0) : i % 3 == 1 ? cm_vec3(0, -1, 0) : cm_vec3(0, 1, 1);
      carom_ssh_result x = ask_with(&a, &b, &o);
      int before = test_failures;
      CHECK_AT_MOST(x.pivots, 99);
      CHECK_AT_MOST(x.duality_gap, 1e-12);
      CHECK(x.outcome != CAROM_SSH_LIMIT);
      if (test_failures == before) continue;
      fprintf(stderr, "  grids %d, beta %g %g %g, outcome %d, gap %g, |alpha| %g\n", k, o.beta.x, o.beta.y, o.beta.z,
              (int)x.outcome, x.gap, cm_norm(x.alpha));
      sample_print(&a, &b);
    }
    carom_shape_release(a.shape);
    carom_shape_release(b.shape);
  }
}

// Closed form: cubes of side 1 along beta = their offset's direction; t is where the line leaves the difference box.
TEST(cubes_in_closed_form) {
  carom_placed a = {.shape = NULL}, b = {.pose = cm_pose_identity()};
  REQUIRE(carom_shape_create_box(cm_vec3(1, 1, 1), NULL, &a.shape, NULL) == CAROM_OK);
  b.shape = a.shape;
  carom_random r = carom_random_make(5, 0);
  for (int i = 0; i < 1000; i++) {
    double d = carom_random_between(&r, 0.01, 4);
    carom_vec3 u = sample_direction(&r);
    a.pose = cm_pose(cm_scale(d, u), cm_qidentity());
    double reach = fmax(fabs(u.x), fmax(fabs(u.y), fabs(u.z)));  // the box [-1, 1]^3 along u
    CHECK_NEAR(ask(&a, &b).gap, d - 1 / reach, 4e-15);
  }
  carom_shape_release(a.shape);
}

TEST(coincident_centres) {
  carom_random r = carom_random_make(6, 0);
  for (int i = 0; i < 200; i++) {
    carom_placed a = {.shape = sample_shape(&r, (sample_kind)(i % SAMPLE_KINDS), 1), .pose = cm_pose_identity()};
    carom_placed b = {.shape = i % 2 ? a.shape : sample_shape(&r, SAMPLE_BOX, 1), .pose = a.pose};
    carom_ssh_result x = ask(&a, &b);
    CHECK(x.gap < 0);
    CHECK_AT_MOST(x.duality_gap, 1e-12);
    carom_shape_release(a.shape);
    if (b.shape != a.shape) carom_shape_release(b.shape);
  }
}

// ---- bad input -----------------------------------------------------------------------------------------------------

TEST(numbers_that_are_none) {
  carom_random r = carom_random_make(8, 0);
  carom_placed a = {sample_shape(&r, SAMPLE_BOX, 1), cm_pose_identity()}, b = a;
  carom_ssh_result x;
  double bad[] = {NAN, INFINITY, -INFINITY};
  for (int k = 0; k < 3; k++)
    for (int i = 0; i < 7; i++) {
      carom_placed broken = a;
      double *field[] = {&broken.pose.p.x, &broken.pose.p.y, &broken.pose.p.z, &broken.pose.q.w,
                         &broken.pose.q.x, &broken.pose.q.y, &broken.pose.q.z};
      *field[i] = bad[k];
      CHECK(carom_ssh(&broken, &b, NULL, NULL, &x) == CAROM_ERR_NUMBER);
      CHECK(carom_ssh(&b, &broken, NULL, NULL, &x) == CAROM_ERR_NUMBER);
    }
  carom_ssh_options o = carom_ssh_default_options();
  o.given_beta = true;
  CHECK(carom_ssh(&a, &b, &o, NULL, &x) == CAROM_ERR_NUMBER);  // beta of length zero
  o.beta.y = NAN;
  CHECK(carom_ssh(&a, &b, &o, NULL, &x) == CAROM_ERR_NUMBER);
  carom_shape_release(a.shape);
}

TEST(length_of_beta_is_irrelevant) {
  carom_random r = carom_random_make(9, 0);
  carom_placed a = {sample_shape(&r, SAMPLE_HULL, 1), cm_pose(cm_vec3(2, 1, 0), sample_turn(&r))};
  carom_placed b = {sample_shape(&r, SAMPLE_HULL, 1), cm_pose_identity()};
  carom_ssh_options o = carom_ssh_default_options();
  o.given_beta = true;
  o.beta = cm_vec3(2, 1, 0.1);
  double gap = ask_with(&a, &b, &o).gap;
  for (int k = -300; k <= 300; k += 20) {
    o.beta = cm_scale(pow(10, k), cm_vec3(2, 1, 0.1));
    CHECK_NEAR(ask_with(&a, &b, &o).gap, gap, 1e-14);
    CHECK_NEAR(cm_norm(cm_sub(cm_unit(o.beta), cm_unit(cm_vec3(2, 1, 0.1)))), 0, 1e-15);
  }
  CHECK(cm_norm(cm_unit(cm_vec3(0, 5e-324, 0))) == 1 && cm_norm(cm_unit(cm_zero3())) == 0);
  CHECK(cm_norm(cm_unit(cm_vec3(INFINITY, 1, NAN))) == 0);
  carom_shape_release(a.shape);
  carom_shape_release(b.shape);
}

// ---- warm starts ---------------------------------------------------------------------------------------------------

static void compare_warm_with_cold(const pair_set *set) {
  for (int regime = 0; regime < PAIR_REGIMES; regime++) {
    carom_ssh_cache cache = {0};
    long cold = 0, warm = 0;
    for (int i = 0; i < set->pair_count; i++) {
      const pair_case *c = pair_at(set, regime, i);
      if (i % set->sequence_length == 0) cache = (carom_ssh_cache){0};
      carom_placed a = {set->bodies[c->a], c->pose_a}, b = {set->bodies[c->b], c->pose_b};
      carom_ssh_result x = ask(&a, &b), y;
      REQUIRE(carom_ssh(&a, &b, NULL, &cache, &y) == CAROM_OK);
      CHECK_NEAR(x.gap, y.gap, 1e-12);
      CHECK_AT_MOST(y.duality_gap, 1e-12);
      CHECK_AT_MOST(cm_norm(cm_sub(x.point_a, y.point_a)), 1e-11);
      CHECK((regime == PAIR_OVERLAP) == (x.gap < 0));
      cold += x.pivots, warm += y.pivots;
    }
    printf("V = %d, %s: %.2f pivots cold, %.2f warm\n", set->vertex_count, pair_regime_names[regime],
           (double)cold / set->pair_count, (double)warm / set->pair_count);
    CHECK(2 * warm < cold);
  }
}

TEST(warm_equals_cold_along_paths) {
  static const int vertices[] = {8, 32, 128};
  for (int k = 0; k < 3; k++) {
    pair_set set;
    REQUIRE(pair_set_generate(&set, vertices[k], 6, k < 2 ? 400 : 100, k < 2 ? 100 : 50, 11));
    compare_warm_with_cold(&set);
    pair_set_release(&set);
  }
}

TEST(warm_equals_cold_along_stored_paths) {
  char message[200];
  pair_set set;
  if (!pair_set_read(&set, CAROM_TEST_SHARED "/pairs/path_32.bin", message)) test_skip(message);
  compare_warm_with_cold(&set);
  pair_set_release(&set);
}

// A cache of other bodies, or of nonsense, may cost pivots and nothing else.
static void any_cache_will_do(carom_random *r, const carom_placed *a, const carom_placed *b) {
  carom_ssh_cache cache = {.count = (int)carom_random_below(r, 5)};
  for (int i = 0; i < 3; i++) {
    cache.a[i] = (int)carom_random_below(r, 60) - 10;
    cache.b[i] = (int)carom_random_below(r, 60) - 10;
  }
  carom_ssh_result x = ask(a, b), y;
  REQUIRE(carom_ssh(a, b, NULL, &cache, &y) == CAROM_OK);
  CHECK_NEAR(x.gap, y.gap, tolerance_of(a, b, &x));
  CHECK_AT_MOST(y.duality_gap, 1e-12);
}

TEST(wrong_caches_do_no_harm) { with_pool(1, false, any_cache_will_do); }
TEST(wrong_caches_do_no_harm_square) { with_pool(1, true, any_cache_will_do); }

// ---- the gap is no smaller than the distance -----------------------------------------------------------------------

// t beta is a point of A - B, so t is at least the distance when apart; and -t at least the depth when they overlap.
static void bound_the_distance(const pair_set *set) {
  for (int regime = 0; regime < PAIR_REGIMES; regime++)
    for (int i = 0; i < set->pair_count; i++) {
      const pair_case *c = pair_at(set, regime, i);
      carom_placed a = {set->bodies[c->a], c->pose_a}, b = {set->bodies[c->b], c->pose_b};
      carom_ssh_result x = ask(&a, &b);
      double along = cm_dot(x.beta, c->normal);
      CHECK((x.gap > 0) == (c->distance > 0));
      CHECK(fabs(x.gap) >= fabs(c->distance) - 1e-13);
      if (c->distance > 0 && along > 0) CHECK(x.gap >= c->distance / 1.0000000001);
      CHECK(x.gap * cm_dot(x.normal, x.beta) <= fmax(c->distance, 0) + 1e-13);  // the plane's own width
    }
}

TEST(gap_bounds_the_distance) {
  static const int vertices[] = {8, 32};
  for (int k = 0; k < 2; k++) {
    pair_set set;
    REQUIRE(pair_set_generate(&set, vertices[k], 10, 200, 0, 13));
    bound_the_distance(&set);
    pair_set_release(&set);
  }
}

// ---- memory --------------------------------------------------------------------------------------------------------

#ifdef __GLIBC__
TEST(queries_do_not_allocate) {
  pair_set set;
  REQUIRE(pair_set_generate(&set, 64, 4, 100, 0, 17));
  carom_ssh_cache cache = {0};
  carom_ssh_result x;
  struct mallinfo2 before = mallinfo2();
  for (int i = 0; i < PAIR_REGIMES * set.pair_count; i++) {
    const pair_case *c = &set.cases[i];
    carom_placed a = {set.bodies[c->a], c->pose_a}, b = {set.bodies[c->b], c->pose_b};
    if (carom_ssh(&a, &b, NULL, i % 2 ? &cache : NULL, &x) != CAROM_OK) abort();
  }
  struct mallinfo2 after = mallinfo2();
  CHECK(before.uordblks == after.uordblks && before.arena == after.arena && before.fordblks == after.fordblks);
  pair_set_release(&set);
}
#endif

// Bodies square to each other but for a small turn: triangles of the basis are needles, whose planes must not lose the
// certificate.
TEST(near_ties_keep_the_certificate) {
  carom_random r = carom_random_make(90, 0);
  for (int trial = 0; trial < 6000; trial++) {
    carom_placed a = {sample_grid(&r, 1), cm_pose_identity()}, b = {sample_grid(&r, 1), cm_pose_identity()};
    sample_square_poses(&r, 1, &a, &b);
    double angle = pow(10, carom_random_between(&r, -9, -3));
    a.pose.q = cm_qmul(cm_axis_angle(sample_direction(&r), angle), a.pose.q);
    a.pose.p = cm_axpy(a.pose.p, angle, sample_direction(&r));
    carom_ssh_options o = carom_ssh_default_options();
    o.given_beta = true;
    o.beta = cm_vec3(carom_random_below(&r, 2), 0, 1);
    carom_ssh_result x;
    REQUIRE(carom_ssh(&a, &b, &o, NULL, &x) == CAROM_OK);
    if (x.outcome != CAROM_SSH_LIMIT) CHECK_AT_MOST(x.duality_gap, 1e-12);
    carom_shape_release(a.shape), carom_shape_release(b.shape);
  }
}

// ---- needles -------------------------------------------------------------------------------------------------------

static const carom_shape *needle(carom_random *r, double aspect) {
  carom_vec3 x[6];
  const carom_shape *shape = NULL;
  for (int i = 0; i < 6; i++)
    x[i] = cm_vec3(carom_random_normal(r), carom_random_normal(r) / aspect, carom_random_normal(r) / aspect);
  if (carom_random_below(r, 2) == 0 || carom_shape_create_hull(x, 6, NULL, &shape, NULL) != CAROM_OK)
    CHECK(carom_shape_create_box(cm_vec3(1, carom_random_below(r, 2) ? 1 : 1 / aspect, 1 / aspect), NULL, &shape,
                                 NULL) == CAROM_OK);
  return shape;
}

// point_a - point_b = gap beta, and distance normal, however thin the bodies: triangles of a basis are needles then,
// whose areas have half their digits.
TEST(witness_points_of_needles_give_the_gap) {
  carom_random r = carom_random_make(91, 0);
  double worst = 0, farthest = 0;
  int given_up = 0;
  for (int i = 0; i < 4000; i++) {
    double aspect = pow(10, carom_random_between(&r, 4, 8));
    carom_placed a = placed_at(needle(&r, aspect), cm_zero3(), cm_qidentity()), b = a;
    b.shape = needle(&r, aspect);
    b.pose = random_pose(&r, i % 3 == 0 ? 1 : i % 3 == 1 ? 0.1 : 2 / aspect);
    if (i % 4 == 0) b.pose.q = cm_qidentity();
    carom_ssh_cache cache = {0};
    for (int again = 0; again < 2; again++) {
      carom_ssh_result s;
      carom_distance_result d;
      CHECK(carom_ssh(&a, &b, NULL, &cache, &s) == CAROM_OK);
      CHECK(carom_distance(&a, &b, NULL, &d) == CAROM_OK);
      double missed = cm_norm(cm_sub(cm_sub(s.point_a, s.point_b), cm_scale(s.gap, s.beta)));
      if (s.outcome == CAROM_SSH_LIMIT)
        given_up++;
      else
        worst = fmax(worst, missed);
      farthest = fmax(farthest, cm_norm(cm_sub(cm_sub(d.point_a, d.point_b), cm_scale(d.distance, d.normal))));
    }
    carom_shape_release(a.shape), carom_shape_release(b.shape);
  }
  CHECK_AT_MOST(worst, 1e-9);
  CHECK_AT_MOST(farthest, 1e-13);
  CHECK_AT_MOST(given_up, 4);  // and said so
}

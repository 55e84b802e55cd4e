// The plane case of the separation oracle against brute force over all pairs of vertex differences.
#include "carom/collide.h"
#include "fixtures.h"

static const carom_shape *random_slab(carom_random *r) {
  carom_vec3 points[24];
  int corners = 3 + (int)carom_random_below(r, 9);
  for (int i = 0; i < corners; i++) {
    double angle = carom_random_between(r, 0, 6.283185307179586), radius = carom_random_between(r, 0.5, 1.5);
    points[2 * i] = cm_vec3(radius * cos(angle), radius * sin(angle), -0.1);
    points[2 * i + 1] = cm_vec3(radius * cos(angle), radius * sin(angle), 0.3);
  }
  const carom_shape *shape = NULL;
  carom_error error;
  return carom_shape_create_hull(points, 2 * corners, NULL, &shape, &error) == CAROM_OK ? shape : NULL;
}

static carom_placed place(carom_random *r, const carom_shape *shape, double reach) {
  carom_vec3 p = random_vector(r, reach);
  return (carom_placed){shape, {p, cm_axis_angle(cm_vec3(0, 0, 1), carom_random_between(r, -3, 3))}};
}

static carom_vec3 corner(const carom_placed *x, int i) {
  return cm_transform(x->pose, carom_shape_polytope(x->shape)->vertices[i]);
}

// Smallest t with t beta in the shadow of A - B: the lowest crossing of a segment between two differences.
static double brute_force(const carom_placed *a, const carom_placed *b, carom_vec3 beta) {
  static double u[4000], h[4000];
  int n = 0;
  for (int i = 0; i < carom_shape_polytope(a->shape)->vertex_count; i++)
    for (int j = 0; j < carom_shape_polytope(b->shape)->vertex_count; j++) {
      carom_vec3 d = cm_sub(corner(a, i), corner(b, j));
      u[n] = beta.x * d.y - beta.y * d.x, h[n++] = beta.x * d.x + beta.y * d.y;
    }
  double lowest = INFINITY;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      if (u[i] <= 0 && u[j] > 0) lowest = fmin(lowest, (h[i] * u[j] - h[j] * u[i]) / (u[j] - u[i]));
  return lowest;
}

static void check_plane(const carom_placed *a, const carom_placed *b, const carom_ssh_result *r) {
  CHECK(r->alpha.z == 0 && r->beta.z == 0);
  CHECK_NEAR(cm_dot(r->alpha, r->beta), 1, 1e-14);
  double tolerance = 1e-12 * (1 + cm_norm(r->alpha)) * (1 + cm_norm(a->pose.p) + cm_norm(b->pose.p));
  for (int i = 0; i < carom_shape_polytope(a->shape)->vertex_count; i++)
    CHECK(cm_dot(r->alpha, corner(a, i)) >= r->a1 - tolerance);
  for (int i = 0; i < carom_shape_polytope(b->shape)->vertex_count; i++)
    CHECK(cm_dot(r->alpha, corner(b, i)) <= r->a2 + tolerance);
  carom_vec3 difference = cm_sub(cm_sub(r->point_a, r->point_b), cm_scale(r->gap, r->beta));
  CHECK_AT_MOST(cm_norm(difference), tolerance);
}

TEST(equals_brute_force) {
  carom_random r = carom_random_make(5, 0);
  carom_ssh_options options = carom_ssh_default_options();
  options.planar = true;
  int solved = 0;
  for (int trial = 0; trial < 1000; trial++) {
    const carom_shape *sa = random_slab(&r), *sb = random_slab(&r);
    if (sa && sb) {
      carom_placed a = place(&r, sa, 2), b = place(&r, sb, 2);
      carom_ssh_result result, swapped;
      REQUIRE(carom_ssh(&a, &b, &options, NULL, &result) == CAROM_OK);
      REQUIRE(carom_ssh(&b, &a, &options, NULL, &swapped) == CAROM_OK);
      CHECK_NEAR(result.gap, brute_force(&a, &b, result.beta), 1e-12);
      CHECK_NEAR(result.gap, swapped.gap, 1e-12);
      CHECK_AT_MOST(result.duality_gap, 1e-12);
      CHECK(result.pivots < 40);
      check_plane(&a, &b, &result);
      solved++;
    }
    carom_shape_release(sa);
    carom_shape_release(sb);
  }
  CHECK(solved > 900);
}

TEST(warm_answers_equal_cold_ones) {
  carom_random r = carom_random_make(6, 0);
  carom_ssh_options options = carom_ssh_default_options();
  options.planar = true;
  const carom_shape *sa = random_slab(&r), *sb = random_slab(&r);
  REQUIRE(sa && sb);
  carom_ssh_cache cache = {0};
  int warm_pivots = 0;
  for (int i = 0; i < 500; i++) {
    double angle = 0.01 * i;
    carom_placed a = {sa, {cm_zero3(), cm_axis_angle(cm_vec3(0, 0, 1), 0.3 * angle)}};
    carom_placed b = {sb, {cm_vec3(2 * cos(angle), 2 * sin(angle), 0), cm_axis_angle(cm_vec3(0, 0, 1), angle)}};
    carom_ssh_result cold, warm;
    REQUIRE(carom_ssh(&a, &b, &options, NULL, &cold) == CAROM_OK);
    REQUIRE(carom_ssh(&a, &b, &options, &cache, &warm) == CAROM_OK);
    CHECK_NEAR(warm.gap, cold.gap, 1e-13);
    warm_pivots += warm.pivots;
  }
  CHECK(warm_pivots < 2 * 500);
  carom_shape_release(sa);
  carom_shape_release(sb);
}

TEST(aligned_squares_and_corners) {
  const carom_shape *box = NULL;
  REQUIRE(carom_shape_create_box(cm_vec3(2, 2, 1), NULL, &box, NULL) == CAROM_OK);
  carom_ssh_options options = carom_ssh_default_options();
  options.planar = true;
  carom_placed a = {box, {cm_vec3(3, 0, 0), cm_qidentity()}}, b = {box, cm_pose_identity()};
  carom_ssh_result r;
  REQUIRE(carom_ssh(&a, &b, &options, NULL, &r) == CAROM_OK);
  CHECK_NEAR(r.gap, 1, 1e-15);
  CHECK_NEAR(r.normal.x, 1, 1e-15);
  a.pose.p = cm_vec3(2.5, 2.5, 0);  // corner against corner
  REQUIRE(carom_ssh(&a, &b, &options, NULL, &r) == CAROM_OK);
  CHECK_NEAR(r.gap, 0.5 * sqrt(2), 1e-14);
  CHECK(r.dual_degenerate && r.feature_a == CAROM_FEATURE_VERTEX && r.feature_b == CAROM_FEATURE_VERTEX);
  options.given_beta = true;
  options.beta = cm_vec3(0, 1, 0);  // y passes above the shadow of A - B: unbounded, so it is reset
  a.pose.p = cm_vec3(5, 0, 0);
  REQUIRE(carom_ssh(&a, &b, &options, NULL, &r) == CAROM_OK);
  CHECK(r.outcome == CAROM_SSH_RESET);
  CHECK_NEAR(r.gap, 3, 1e-14);
  carom_shape_release(box);
}

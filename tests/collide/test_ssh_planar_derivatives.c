// The plane case once solved: derivatives against differences of the gap, ties against brute force.
#include "geometry/shape.h"
#include "test_gap_pair.h"

static const carom_vec3 Z = {0, 0, 1};

static pair planar_pair(const carom_shape *a, const carom_shape *b, bool moves) {
  pair p = {.moves = moves, .a = placed_plain(a, 0, 0, 0), .b = placed_plain(b, 0, 0, 0)};
  p.o = along(1, 0, 0);
  p.o.planar = true;
  return p;
}

// Leaning any way, so that the shadows turn and shear with every twist.
static pair random_pair(carom_random *r, bool moves) {
  pair p = planar_pair(random_polytope(r, 10), random_polytope(r, 10), moves);
  p.a.pose = random_pose(r, 2), p.b.pose = random_pose(r, 1);
  carom_vec3 line = cm_sub(p.a.pose.p, p.b.pose.p);
  p.o.beta = cm_axpy(cm_unit(line), 0.2, random_direction(r));
  p.o.beta.z = 0;
  return p;
}

// ---- smooth places -------------------------------------------------------------------------------------------------

static void check_gradients(bool moves) {
  carom_random random = carom_random_make(80, moves);
  int checked = 0;
  for (int i = 0; i < 150; i++) {
    pair p = random_pair(&random, moves);
    carom_gap_gradient g = gradient_of(&p);
    double list[12];
    as_list(&g, list);
    for (int k = 0; k < 12; k++) {
      carom_vec3 ta[2], tb[2];
      unit_twists(k, ta, tb);
      if (!is_smooth(&p, ta, tb, 2e-3)) continue;
      checked++;
      CHECK_NEAR(list[k], central(&p, ta, tb, 5e-4), 1e-8);
      CHECK_NEAR(derivative_of(&p, ta, tb), list[k], 1e-10);
    }
    CHECK(g.a.linear.z == 0 && g.b.linear.z == 0);  // heights do not matter
    release_pair(&p);
  }
  CHECK(checked > 1000);
}

TEST(gradient_when_beta_moves) { check_gradients(true); }
TEST(gradient_when_beta_stays) { check_gradients(false); }

TEST(hessian_when_beta_moves) { check_hessians(random_pair, 81, true); }
TEST(hessian_when_beta_stays) { check_hessians(random_pair, 81, false); }

// The wrench of the gap is a planar one when all turns about z: force and torque balance in the plane.
TEST(gradient_knows_motions_of_the_plane) {
  carom_random random = carom_random_make(82, 0);
  for (int i = 0; i < 200; i++) {
    pair p = random_pair(&random, true);
    carom_gap_gradient g = gradient_of(&p);
    carom_vec3 force = cm_add(g.a.linear, g.b.linear);
    carom_vec3 torque = cm_add(cm_add(g.a.angular, g.b.angular),
                               cm_add(cm_cross(p.a.pose.p, g.a.linear), cm_cross(p.b.pose.p, g.b.linear)));
    double size = 1 + cm_norm(g.a.linear);
    CHECK_NEAR(cm_norm(force), 0, 1e-13 * size);
    CHECK_NEAR(torque.z, 0, 1e-12 * size);
    release_pair(&p);
  }
}

enum { CURVED = 7 };

static void curved_shapes(const carom_shape *s[CURVED]) {
  s[0] = box_of(1, 1.2, 1.4);
  CHECK(carom_shape_create_sphere(0.5, NULL, &s[1], NULL) == CAROM_OK);
  CHECK(carom_shape_create_capsule(0.4, 1, NULL, &s[2], NULL) == CAROM_OK);
  CHECK(carom_shape_create_rounded(s[0], 0.1, NULL, &s[3], NULL) == CAROM_OK);
  CHECK(carom_shape_create_ellipsoid(cm_vec3(0.5, 0.7, 0.9), NULL, &s[4], NULL) == CAROM_OK);
  CHECK(carom_shape_create_cylinder(0.5, 1, NULL, &s[5], NULL) == CAROM_OK);
  CHECK(carom_shape_create_cone(0.5, 1, NULL, &s[6], NULL) == CAROM_OK);
}

// Every kind against every other, leaning; a half-space turns about z alone, since it has no shadow otherwise.
TEST(derivatives_of_curved_shapes) {
  const carom_shape *s[CURVED] = {NULL};
  curved_shapes(s);
  carom_random random = carom_random_make(83, 0);
  int squares[CURVED][CURVED] = {{0}}, slopes = 0;
  double worst = 0;
  for (int i = 0; i < 4 * CURVED * CURVED; i++) {
    int ka = i % CURVED, kb = i / CURVED % CURVED;
    pair p = planar_pair(s[ka], s[kb], i / (CURVED * CURVED) % 2);
    p.a.pose = random_pose(&random, 0.3), p.b.pose = random_pose(&random, 0.3);
    p.a.pose.p.x += 2.2;
    p.o.beta = cm_vec3(1, 0.1, 0);
    carom_ssh_result r = query(&p);
    CHECK(r.planar);
    if (r.outcome != CAROM_SSH_SOLVED || cm_norm(r.alpha) > 2) continue;
    slopes++;
    check_one_sided(&p, &random, 2, 3e-6);
    double H[144];
    if (carom_ssh_hessian(&p.a, &p.b, &r, p.moves, H) == CAROM_OK)
      squares[ka][kb] += check_squares(&p, H, &random, &worst);
  }
  CHECK(slopes > 100);
  for (int ka = 0; ka < CURVED; ka++)
    for (int kb = 0; kb < CURVED; kb++)
      if (ka == 4 || kb == 4 || (ka > 0 && kb > 0)) CHECK(squares[ka][kb] > 0);
  printf("worst error %.1e\n", worst);
  for (int i = 0; i < CURVED; i++) carom_shape_release(s[i]);
}

static void planar_twists(carom_random *r, carom_vec3 ta[2], carom_vec3 tb[2]) {
  random_twists(r, ta, tb);
  ta[0].z = tb[0].z = 0;
  ta[1] = cm_scale(ta[1].z, Z), tb[1] = cm_scale(tb[1].z, Z);
}

// Upright half-spaces: in the plane they are half-planes. The Hessian knows the curve of beta alone.
TEST(derivatives_of_half_planes) {
  const carom_shape *cube = box_of(1, 2, 1), *round = NULL, *plane = NULL;
  CHECK(carom_shape_create_halfspace(NULL, &plane, NULL) == CAROM_OK);
  CHECK(carom_shape_create_capsule(0.4, 1, NULL, &round, NULL) == CAROM_OK);
  carom_random random = carom_random_make(84, 0);
  for (int i = 0; i < 80; i++) {
    pair p = planar_pair(i % 3 ? cube : round, plane, i % 2);
    p.a.pose = cm_pose(cm_vec3(1.5, 0.3, 0.4), cm_axis_angle(Z, carom_random_between(&random, -3, 3)));
    carom_quat upright = cm_axis_angle(cm_vec3(0, 1, 0), 1.5707963267948966);
    p.b.pose = cm_pose(cm_vec3(0, 0.1, -0.2), cm_qmul(cm_axis_angle(Z, 0.2), upright));
    p.o.beta = cm_vec3(1, 0.3, 0);
    if (i % 4 > 1) {
      carom_placed swap = p.a;
      p.a = p.b, p.b = swap;
      p.o.beta = cm_neg(p.o.beta);
    }
    carom_ssh_result r = query(&p);
    CHECK(r.planar && r.point_a.z == 0 && r.point_b.z == 0 && r.alpha.z == 0);
    double H[144];
    CHECK(carom_ssh_hessian(&p.a, &p.b, &r, p.moves, H) == CAROM_OK);
    carom_vec3 ta[2], tb[2];
    for (int k = 0; k < 4; k++) {
      planar_twists(&random, ta, tb);
      double d = derivative_of(&p, ta, tb), step = 1e-3;
      CHECK_NEAR(d, one_sided(&p, ta, tb, 1e-4), 1e-8 * (1 + fabs(d)));
      CHECK_NEAR(quadratic(H, ta, tb), second_difference(&p, ta, tb, step), 1e-5 * (1 + fabs(d)));
    }
  }
  carom_shape_release(cube), carom_shape_release(round), carom_shape_release(plane);
}

TEST(half_space_across_the_plane_is_asked_about_in_space) {
  const carom_shape *cube = box_of(1, 1, 1), *plane = NULL;
  CHECK(carom_shape_create_halfspace(NULL, &plane, NULL) == CAROM_OK);
  pair p = planar_pair(cube, plane, true);
  p.a.pose.p = cm_vec3(1, 0, 2);
  carom_ssh_result r = query(&p);
  CHECK(!r.planar);
  CHECK_NEAR(r.gap, 1.5, 1e-14);
  carom_shape_release(cube), carom_shape_release(plane);
}

// ---- ties ----------------------------------------------------------------------------------------------------------

// An upright prism over corners of a small grid: edges along edges and corners on corners are common, and every corner
// is two vertices over each other.
static const carom_shape *grid_prism(carom_random *r) {
  for (;;) {
    carom_vec3 points[12];
    int corners = 3 + (int)carom_random_below(r, 4);
    for (int i = 0; i < corners; i++) {
      double x = carom_random_below(r, 3), y = carom_random_below(r, 3);
      points[2 * i] = cm_vec3(x, y, -0.25), points[2 * i + 1] = cm_vec3(x, y, 0.5);
    }
    const carom_shape *shape = NULL;
    if (carom_shape_create_hull(points, 2 * corners, NULL, &shape, NULL) == CAROM_OK) return shape;
  }
}

static pair grid_pair(carom_random *r, bool moves, bool turned) {
  const carom_shape *a = grid_prism(r), *b = grid_prism(r);
  pair p = planar_pair(a, b, moves);
  double y = (int)carom_random_below(r, 3) - 1;
  p.a.pose.p = cm_vec3(1 + (int)carom_random_below(r, 3), y, carom_random_between(r, -1, 1));
  p.o.beta = cm_vec3(1, (int)carom_random_below(r, 2), 0);
  if (turned) {
    carom_pose by = cm_pose(random_vec(r), cm_axis_angle(Z, carom_random_between(r, -3, 3)));
    carry(&p.a, &p.b, by);
    p.o.beta = cm_rotate(by.q, p.o.beta);
  }
  return p;
}

// Whether the line of beta passes well inside the shadow of A - B.
static bool well_inside(const pair *p, carom_vec3 beta) {
  double low = INFINITY, high = -INFINITY;
  for (int i = 0; i < carom_shape_polytope(p->a.shape)->vertex_count; i++)
    for (int j = 0; j < carom_shape_polytope(p->b.shape)->vertex_count; j++) {
      carom_vec3 d = cm_sub(world_vertex(&p->a, i), world_vertex(&p->b, j));
      double u = beta.x * d.y - beta.y * d.x;
      low = fmin(low, u), high = fmax(high, u);
    }
  return low < -0.25 && high > 0.25;
}

// Beta follows the line between the centres; where they lie over each other it could be any.
static bool beta_is_steady(const pair *p) {
  carom_vec3 a = cm_transform(p->a.pose, p->a.shape->center), b = cm_transform(p->b.pose, p->b.shape->center);
  return !p->moves || hypot(a.x - b.x, a.y - b.y) > 0.1;
}

typedef struct range {
  double low, high;
} range;

// All slopes k for which alpha = beta + k e1 parts the shadows with this gap: a constraint for each vertex difference.
static range slopes_of(const pair *p, const carom_ssh_result *r) {
  range s = {-INFINITY, INFINITY};
  for (int i = 0; i < carom_shape_polytope(p->a.shape)->vertex_count; i++)
    for (int j = 0; j < carom_shape_polytope(p->b.shape)->vertex_count; j++) {
      carom_vec3 d = cm_sub(world_vertex(&p->a, i), world_vertex(&p->b, j));
      double u = r->beta.x * d.y - r->beta.y * d.x, h = r->beta.x * d.x + r->beta.y * d.y - r->gap;
      if (u > 1e-9) s.low = fmax(s.low, -h / u);
      if (u < -1e-9) s.high = fmin(s.high, -h / u);
    }
  return s;
}

static void check_weights(const carom_placed *x, int count, const int *vertex, const double *weight, carom_vec3 point,
                          carom_vec3 alpha, double level) {
  carom_vec3 sum = cm_zero3();
  double total = 0;
  for (int i = 0; i < count; i++) {
    CHECK(weight[i] >= 0);
    CHECK_NEAR(cm_dot(alpha, world_vertex(x, vertex[i])), level, 1e-9);
    total += weight[i];
    sum = cm_axpy(sum, weight[i], world_vertex(x, vertex[i]));
  }
  CHECK_NEAR(total, 1, 1e-12);
  CHECK_NEAR(hypot(sum.x - point.x, sum.y - point.y), 0, 1e-12 * (1 + cm_norm(x->pose.p)));
  CHECK(point.z == 0);
}

static void check_optimum(const pair *p, const carom_ssh_result *r, const carom_ssh_optimum *o) {
  range s = slopes_of(p, r);
  double k = r->beta.x * o->alpha.y - r->beta.y * o->alpha.x, least = fmin(fmax(0, s.low), s.high);
  CHECK(o->alpha.z == 0);
  CHECK_NEAR(cm_dot(o->alpha, r->beta), 1, 1e-12);
  CHECK_NEAR(k, least, 1e-7);
  CHECK(o->dual_degenerate == (s.high - s.low > 1e-6));
  CHECK_NEAR(o->a1 - o->a2, r->gap, 1e-10);
  check_weights(&p->a, o->count_a, o->vertex_a, o->weight_a, o->point_a, o->alpha, o->a1);
  check_weights(&p->b, o->count_b, o->vertex_b, o->weight_b, o->point_b, o->alpha, o->a2);
  carom_vec3 apart = cm_sub(o->point_a, o->point_b);
  CHECK_NEAR(cm_norm(cm_sub(apart, cm_scale(r->gap, r->beta))), 0, 1e-10);
}

// Along twists of the plane, and along any: leaning prisms show their upper or their lower rim.
static void check_grid(bool moves) {
  carom_random random = carom_random_make(85, moves);
  int dual = 0, kinds[4][4] = {{0}};
  for (int i = 0; i < 1000 && !test_failures; i++) {
    pair p = grid_pair(&random, moves, i % 2);
    carom_ssh_result r = query(&p);
    bool plain = r.outcome == CAROM_SSH_SOLVED && cm_norm(r.alpha) < 10;
    if (plain && beta_is_steady(&p) && well_inside(&p, r.beta)) {
      carom_ssh_optimum o;
      CHECK(carom_ssh_resolve(&p.a, &p.b, &r, 0, &o) == CAROM_OK);
      check_optimum(&p, &r, &o);
      CHECK(o.primal_degenerate);  // by the two vertices over each other at least
      dual += o.dual_degenerate;
      kinds[o.feature_a][o.feature_b]++;
      check_one_sided(&p, &random, 3, 1e-7);
      if (test_failures) printf("case %d\n", i);
    }
    release_pair(&p);
  }
  CHECK(dual > 20);
  for (int k = 0; k < 2; k++)
    for (int l = 0; l < 2; l++) CHECK(kinds[k][l] > 20);
}

TEST(ties_when_beta_moves) { check_grid(true); }
TEST(ties_when_beta_stays) { check_grid(false); }

// Squares side by side: a centred contact and no torque; at corners the plane across beta.
TEST(aligned_squares_push_without_torque) {
  const carom_shape *box = box_of(2, 2, 1);
  pair p = planar_pair(box, box, true);
  p.a.pose.p = cm_vec3(1.9, 0, 0.3);
  carom_ssh_result r = query(&p);
  carom_ssh_optimum o;
  REQUIRE(carom_ssh_resolve(&p.a, &p.b, &r, 0, &o) == CAROM_OK);
  CHECK(o.count_a == 4 && o.count_b == 4 && o.feature_a == CAROM_FEATURE_EDGE && o.feature_b == CAROM_FEATURE_EDGE);
  for (int i = 0; i < 4; i++) CHECK_NEAR(o.weight_a[i], 0.25, 1e-14);
  CHECK_NEAR(cm_norm(cm_sub(o.point_a, cm_vec3(0.9, 0, 0))), 0, 1e-14);
  CHECK_NEAR(cm_norm(cm_sub(o.point_b, cm_vec3(1, 0, 0))), 0, 1e-14);
  carom_vec3 turn[2] = {{0, 0, 0}, {0, 0, 1}}, rest[2] = {{0, 0, 0}, {0, 0, 0}};
  CHECK_NEAR(derivative_of(&p, turn, rest), -1, 1e-12);  // a corner at arm 1 comes first, either way
  p.a.pose.p = cm_vec3(2.5, 2.5, 0);
  r = query(&p);
  REQUIRE(carom_ssh_resolve(&p.a, &p.b, &r, 0, &o) == CAROM_OK);
  CHECK(o.dual_degenerate && o.feature_a == CAROM_FEATURE_VERTEX && o.feature_b == CAROM_FEATURE_VERTEX);
  CHECK_NEAR(cm_norm(cm_sub(o.alpha, r.beta)), 0, 1e-14);
  double H[144];
  CHECK(carom_ssh_hessian(&p.a, &p.b, &r, true, H) == CAROM_ERR_SINGULAR);
  carom_shape_release(box);
}

// Heights over the plane are nothing to the answer.
TEST(heights_do_not_matter) {
  carom_random random = carom_random_make(86, 0);
  for (int i = 0; i < 100; i++) {
    pair p = random_pair(&random, i % 2), q = p;
    q.a.pose.p.z += 3, q.b.pose.p.z -= 2;
    carom_gap_gradient g = gradient_of(&p), h = gradient_of(&q);
    double x[12], y[12];
    as_list(&g, x), as_list(&h, y);
    for (int k = 0; k < 12; k++) CHECK_NEAR(x[k], y[k], 1e-11 * (1 + fabs(x[k])));
    release_pair(&p);
  }
}

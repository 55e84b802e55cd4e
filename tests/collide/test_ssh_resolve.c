// Ties of the separation program: the whole optimal set against brute force over its corners, the eight collisions of
// two tetrahedra of Johnson (2012), Figure 2.12, and contacts whose symmetry fixes the answer.
#include "test_collide.h"

// ---- brute force ---------------------------------------------------------------------------------------------------

// Two points are one constraint of the plane alpha = beta + u e1 + v e2: (c1, c2) . (u, v) + h >= 0.
typedef struct half_plane {
  double c1, c2, h;
} half_plane;

static int half_planes(const carom_placed *a, const carom_placed *b, const carom_ssh_result *r, half_plane *list) {
  carom_vec3 e1, e2;
  cm_frame(r->beta, &e1, &e2);
  int na = carom_shape_polytope(a->shape)->vertex_count, nb = carom_shape_polytope(b->shape)->vertex_count;
  for (int i = 0; i < na + nb; i++) {
    carom_vec3 d = i < na ? cm_sub(world_vertex(a, i), r->point_a) : cm_sub(r->point_b, world_vertex(b, i - na));
    list[i] = (half_plane){cm_dot(e1, d), cm_dot(e2, d), cm_dot(r->beta, d)};
  }
  return na + nb;
}

static bool inside_all(const half_plane *list, int n, double u, double v) {
  for (int i = 0; i < n; i++)
    if (list[i].c1 * u + list[i].c2 * v + list[i].h < -1e-9) return false;
  return true;
}

// Least |(u, v)| over the polygon: the origin, the foot on a side, or a corner.
static double least_plane(const half_plane *list, int n) {
  double least = inside_all(list, n, 0, 0) ? 0 : 1e300;
  for (int i = 0; i < n; i++) {
    double cc = list[i].c1 * list[i].c1 + list[i].c2 * list[i].c2;
    if (cc < 1e-16) continue;
    double u = -list[i].h * list[i].c1 / cc, v = -list[i].h * list[i].c2 / cc;
    if (inside_all(list, n, u, v)) least = fmin(least, hypot(u, v));
    for (int j = 0; j < i; j++) {
      double det = list[i].c1 * list[j].c2 - list[i].c2 * list[j].c1;
      if (fabs(det) < 1e-9) continue;
      u = (-list[i].h * list[j].c2 + list[j].h * list[i].c2) / det;
      v = (-list[j].h * list[i].c1 + list[i].h * list[j].c1) / det;
      if (inside_all(list, n, u, v)) least = fmin(least, hypot(u, v));
    }
  }
  return least;
}

// Least value of c . y over the weights on the listed vertices, by all triples, pairs and single differences that hold
// the origin of the projection along beta: these include the corners of the set of weights.
typedef struct weight_set {
  const carom_placed *a, *b;
  const carom_ssh_optimum *o;
  carom_vec3 e1, e2;
} weight_set;

static void offset(const weight_set *w, int k, double at[2]) {
  int i = k / w->o->count_b, j = k % w->o->count_b;
  carom_vec3 d = cm_sub(world_vertex(w->a, w->o->vertex_a[i]), world_vertex(w->b, w->o->vertex_b[j]));
  at[0] = cm_dot(w->e1, d), at[1] = cm_dot(w->e2, d);
}

static double value_of(const weight_set *w, int k) {
  return w->o->weight_a[k / w->o->count_b] + w->o->weight_b[k % w->o->count_b];
}

// Convex weights of up to three points that give the origin; false when there are none or infinitely many.
static bool barycentric(double p[3][2], int n, double w[3]) {
  if (n == 1) {
    w[0] = 1;
    return hypot(p[0][0], p[0][1]) < 1e-9;
  }
  if (n == 2) {
    double m[2] = {p[1][0] - p[0][0], p[1][1] - p[0][1]}, mm = m[0] * m[0] + m[1] * m[1];
    if (mm < 1e-16) return false;
    w[1] = -(p[0][0] * m[0] + p[0][1] * m[1]) / mm, w[0] = 1 - w[1];
    return w[0] > -1e-9 && w[1] > -1e-9 && hypot(p[0][0] + w[1] * m[0], p[0][1] + w[1] * m[1]) < 1e-9;
  }
  double area = (p[1][0] - p[0][0]) * (p[2][1] - p[0][1]) - (p[1][1] - p[0][1]) * (p[2][0] - p[0][0]);
  if (fabs(area) < 1e-9) return false;
  for (int i = 0; i < 3; i++) {
    const double *q = p[(i + 1) % 3], *s = p[(i + 2) % 3];
    w[i] = (q[0] * s[1] - q[1] * s[0]) / area;
  }
  return w[0] > -1e-9 && w[1] > -1e-9 && w[2] > -1e-9;
}

static double least_over_weights(const weight_set *s) {
  int n = s->o->count_a * s->o->count_b;
  double least = 1e300, w[3] = {0};
  for (int i = 0; i < n; i++)
    for (int j = -1; j < i; j++)
      for (int k = -1; k < (j < 0 ? 0 : j); k++) {
        double p[3][2];
        int size = 1 + (j >= 0) + (k >= 0);
        offset(s, i, p[0]);
        if (j >= 0) offset(s, j, p[1]);
        if (k >= 0) offset(s, k, p[2]);
        if (!barycentric(p, size, w)) continue;
        double value =
            w[0] * value_of(s, i) + (j >= 0 ? w[1] * value_of(s, j) : 0) + (k >= 0 ? w[2] * value_of(s, k) : 0);
        least = fmin(least, value);
      }
  return least;
}

static double norm2_of(const carom_ssh_optimum *o) {
  double s = 0;
  for (int i = 0; i < o->count_a; i++) s += o->weight_a[i] * o->weight_a[i];
  for (int i = 0; i < o->count_b; i++) s += o->weight_b[i] * o->weight_b[i];
  return s;
}

// ---- what every optimum must satisfy -------------------------------------------------------------------------------

static void check_side(const carom_placed *s, int count, const int *vertex, const double *weight, carom_vec3 point,
                       carom_vec3 alpha, double offset_of_plane, double sign) {
  carom_vec3 sum = cm_zero3();
  double total = 0;
  for (int i = 0; i < count; i++) {
    CHECK(weight[i] >= 0);
    total += weight[i];
    sum = cm_axpy(sum, weight[i], world_vertex(s, vertex[i]));
    CHECK_NEAR(cm_dot(alpha, world_vertex(s, vertex[i])), offset_of_plane, 1e-8 * cm_norm(alpha));
  }
  CHECK_NEAR(total, 1, 1e-14);
  CHECK_NEAR(cm_norm(cm_sub(sum, point)), 0, 1e-12);
  for (int i = 0; i < carom_shape_polytope(s->shape)->vertex_count; i++)
    CHECK_AT_MOST(sign * (offset_of_plane - cm_dot(alpha, world_vertex(s, i))), 1e-9 * cm_norm(alpha));
}

static void check_optimum(const carom_placed *a, const carom_placed *b, const carom_ssh_result *r,
                          const carom_ssh_optimum *o) {
  CHECK_NEAR(cm_dot(o->alpha, r->beta), 1, 1e-12);
  CHECK_NEAR(o->a1 - o->a2, r->gap, 1e-9);
  check_side(a, o->count_a, o->vertex_a, o->weight_a, o->point_a, o->alpha, o->a1, 1);
  check_side(b, o->count_b, o->vertex_b, o->weight_b, o->point_b, o->alpha, o->a2, -1);
  carom_vec3 apart = cm_sub(o->point_a, o->point_b);
  CHECK_NEAR(cm_norm(cm_sub(apart, cm_scale(r->gap, r->beta))), 0, 1e-9);
  half_plane list[64] = {{0}};
  int n = half_planes(a, b, r, list);
  double u2 = cm_norm2(o->alpha) - 1;
  CHECK_NEAR(sqrt(fmax(0, u2)), least_plane(list, n), 1e-6);
  weight_set w = {.a = a, .b = b, .o = o};  // least norm: y . y <= y . z for all z of the set
  cm_frame(r->beta, &w.e1, &w.e2);
  if (o->count_a * o->count_b <= 30) CHECK_NEAR(least_over_weights(&w), norm2_of(o), 1e-8);
}

static carom_ssh_optimum resolved(const carom_placed *a, const carom_placed *b, const carom_ssh_result *r) {
  carom_ssh_optimum o = {0};
  carom_status status = carom_ssh_resolve(a, b, r, 0, &o);
  if (status != CAROM_OK) test_fail(__FILE__, __LINE__, "%s", carom_status_text(status));
  return o;
}

// ---- the eight collisions of Figure 2.12 ---------------------------------------------------------------------------

static const carom_vec3 FACE_UP[4] = {{1, 0, 0}, {-0.5, 0.8, 0}, {-0.5, -0.8, 0}, {0, 0, -1.2}};
static const carom_vec3 TIP_UP[4] = {{0, 0, 0}, {1, 0, -1}, {-0.5, 0.8, -1}, {-0.5, -0.8, -1}};
static const carom_vec3 EDGE_UP[4] = {{-1, 0, 0}, {1, 0, 0}, {0, 0.7, -1}, {0, -0.7, -1}};

// The upper tetrahedron: the lower one's mirror image, turned about z and moved.
static const carom_shape *upper(const carom_vec3 *lower, double angle, double x, double y, double z) {
  carom_vec3 points[4];
  carom_quat q = cm_axis_angle(cm_vec3(0, 0, 1), angle);
  for (int i = 0; i < 4; i++)
    points[i] = cm_add(cm_rotate(q, cm_vec3(lower[i].x, lower[i].y, -lower[i].z)), cm_vec3(x, y, z));
  return hull_of(points, 4);
}

typedef struct expectation {
  carom_feature a, b;
  bool primal, dual;
} expectation;

// Checks the classification here, at several overlaps and after random rigid motions; returns the plain answer.
static carom_ssh_optimum check_figure(const carom_vec3 *top, double angle, double x, double y, double z,
                                      const carom_vec3 *bottom, carom_vec3 beta, expectation e) {
  const carom_shape *a = upper(top, angle, x, y, z), *b = hull_of(bottom, 4);
  carom_random random = carom_random_make(212, 0);
  carom_ssh_optimum first = {0};
  for (int i = 0; i < 20; i++) {
    carom_placed A = {a, cm_pose_identity()}, B = {b, cm_pose_identity()};
    carom_pose by = i == 0 ? cm_pose_identity() : random_pose(&random, 3);
    carry(&A, &B, by);
    carom_vec3 turned = cm_rotate(by.q, beta);
    carom_ssh_options options = along(turned.x, turned.y, turned.z);
    carom_ssh_result r = solved(&A, &B, &options);
    carom_ssh_optimum o = resolved(&A, &B, &r);
    check_optimum(&A, &B, &r, &o);
    CHECK(o.feature_a == e.a && o.feature_b == e.b);
    CHECK(o.primal_degenerate == e.primal && o.dual_degenerate == e.dual);
    CHECK_NEAR(r.gap, z, 1e-13);
    if (i == 0) first = o;
    CHECK_NEAR(cm_norm(cm_sub(o.alpha, cm_rotate(by.q, first.alpha))), 0, 1e-9);
    CHECK_NEAR(cm_norm(cm_sub(o.point_a, cm_transform(by, first.point_a))), 0, 1e-9);
  }
  carom_shape_release(a), carom_shape_release(b);
  return first;
}

static const carom_vec3 UP = {0, 0, 1};

TEST(figure_a_vertex_on_face) {
  expectation e = {CAROM_FEATURE_VERTEX, CAROM_FEATURE_FACE, false, false};
  carom_ssh_optimum o = check_figure(TIP_UP, 0.3, 0.1, 0.05, -0.02, FACE_UP, UP, e);
  CHECK_NEAR(cm_norm(cm_sub(o.alpha, UP)), 0, 1e-12);
  CHECK_NEAR(cm_norm(cm_sub(o.point_b, cm_vec3(0.1, 0.05, 0))), 0, 1e-12);
}

TEST(figure_b_face_on_vertex) {
  expectation e = {CAROM_FEATURE_FACE, CAROM_FEATURE_VERTEX, false, false};
  carom_ssh_optimum o = check_figure(FACE_UP, 0.3, 0.1, 0.05, 0.02, TIP_UP, UP, e);
  CHECK_NEAR(cm_norm(cm_sub(o.alpha, UP)), 0, 1e-12);
  CHECK_NEAR(cm_norm(cm_sub(o.point_b, cm_zero3())), 0, 1e-12);
}

// Mirror images: weights of a third each, witness points in the middle.
TEST(figure_c_face_on_face) {
  expectation e = {CAROM_FEATURE_FACE, CAROM_FEATURE_FACE, true, false};
  carom_ssh_optimum o = check_figure(FACE_UP, 0, 0, 0, -0.05, FACE_UP, UP, e);
  for (int i = 0; i < 3; i++) {
    CHECK_NEAR(o.weight_a[i], 1.0 / 3, 1e-14);
    CHECK_NEAR(o.weight_b[i], 1.0 / 3, 1e-14);
  }
  check_figure(FACE_UP, 0.7, 0.3, 0.1, -0.05, FACE_UP, UP, e);
}

TEST(figure_d_edge_on_face) {
  expectation e = {CAROM_FEATURE_EDGE, CAROM_FEATURE_FACE, true, false};
  check_figure(EDGE_UP, 0.4, 0.1, 0, -0.05, FACE_UP, UP, e);
  check_figure(EDGE_UP, 0, 0, 0, 0.3, FACE_UP, UP, e);
}

// The tips meet on the line of beta: all planes between the two cones are optimal, and beta itself has the least norm.
TEST(figure_e_vertex_on_vertex) {
  expectation e = {CAROM_FEATURE_VERTEX, CAROM_FEATURE_VERTEX, false, true};
  carom_ssh_optimum o = check_figure(TIP_UP, 0.5, 0, 0, -0.03, TIP_UP, UP, e);
  CHECK_NEAR(cm_norm(cm_sub(o.alpha, UP)), 0, 1e-13);
  CHECK_NEAR(o.weight_a[0], 1, 0);
}

// Blunt tips and a beta that leans: it enters the solids, but as a plane it would cut them, so that the least plane is
// one that leans against a side.
TEST(figure_e_vertex_on_vertex_leaning) {
  expectation e = {CAROM_FEATURE_VERTEX, CAROM_FEATURE_VERTEX, false, true};
  carom_vec3 leaning = cm_unit(cm_vec3(0.4, 0.05, 0.3));
  const carom_vec3 blunt[4] = {{0, 0, 0}, {1, 0, -0.3}, {-0.5, 0.8, -0.3}, {-0.5, -0.8, -0.3}};
  const carom_shape *b = hull_of(blunt, 4);
  carom_vec3 at = cm_scale(0.1, leaning);
  const carom_shape *a = upper(blunt, 0.5, at.x, at.y, at.z);
  carom_placed A = {a, cm_pose_identity()}, B = {b, cm_pose_identity()};
  carom_ssh_options options = along(leaning.x, leaning.y, leaning.z);
  carom_ssh_result r = solved(&A, &B, &options);
  carom_ssh_optimum o = resolved(&A, &B, &r);
  check_optimum(&A, &B, &r, &o);
  CHECK(o.feature_a == e.a && o.feature_b == e.b && o.dual_degenerate && !o.primal_degenerate);
  CHECK(cm_norm(cm_sub(o.alpha, leaning)) > 0.01);
  carom_shape_release(a), carom_shape_release(b);
}

TEST(figure_f_vertex_on_edge) {
  expectation e = {CAROM_FEATURE_VERTEX, CAROM_FEATURE_EDGE, false, true};
  carom_ssh_optimum o = check_figure(TIP_UP, 0.3, 0.25, 0, -0.03, EDGE_UP, UP, e);
  CHECK_NEAR(cm_norm(cm_sub(o.alpha, UP)), 0, 1e-12);
  CHECK_NEAR(cm_norm(cm_sub(o.point_b, cm_vec3(0.25, 0, 0))), 0, 1e-12);
}

TEST(figure_g_edge_across_edge) {
  expectation e = {CAROM_FEATURE_EDGE, CAROM_FEATURE_EDGE, false, false};
  carom_ssh_optimum o = check_figure(EDGE_UP, 1.1, 0.1, 0.05, -0.03, EDGE_UP, UP, e);
  CHECK_NEAR(cm_norm(cm_sub(o.alpha, UP)), 0, 1e-12);
}

TEST(figure_h_edge_along_edge) {
  expectation e = {CAROM_FEATURE_EDGE, CAROM_FEATURE_EDGE, true, true};
  carom_ssh_optimum o = check_figure(EDGE_UP, 0, 0, 0, -0.03, EDGE_UP, UP, e);
  for (int i = 0; i < 2; i++) CHECK_NEAR(o.weight_a[i], 0.5, 1e-14);
  for (int i = 0; i < 2; i++) CHECK_NEAR(o.weight_b[i], 0.5, 1e-14);
  CHECK_NEAR(cm_norm(cm_sub(o.alpha, UP)), 0, 1e-12);
  check_figure(EDGE_UP, 0, 0.6, 0, 0.1, EDGE_UP, UP, e);
}

// ---- symmetry ------------------------------------------------------------------------------------------------------

// Cubes face to face: four equal weights each, witness points on the axis, and so no torque.
TEST(aligned_cubes_push_without_torque) {
  const carom_shape *cube = box_of(1, 1, 1);
  carom_random random = carom_random_make(3, 0);
  for (int i = 0; i < 40; i++) {
    carom_placed A = placed_plain(cube, 0, 0, 0.98 + 0.01 * (i % 5)), B = placed_plain(cube, 0, 0, 0);
    if (i >= 20) A.pose.q = cm_axis_angle(UP, 0.1 * i);
    carom_pose by = random_pose(&random, 10);
    if (i > 0) carry(&A, &B, by);
    carom_ssh_result r = solved(&A, &B, NULL);
    carom_ssh_optimum o = resolved(&A, &B, &r);
    check_optimum(&A, &B, &r, &o);
    REQUIRE(o.count_a == 4 && o.count_b == 4);
    for (int k = 0; k < 4; k++) {
      CHECK_NEAR(o.weight_a[k], 0.25, 1e-12);
      CHECK_NEAR(o.weight_b[k], 0.25, 1e-12);
    }
    CHECK(o.primal_degenerate && !o.dual_degenerate);
    CHECK_NEAR(cm_norm(cm_cross(cm_sub(o.point_a, A.pose.p), o.alpha)), 0, 1e-12);
    CHECK_NEAR(cm_norm(cm_cross(cm_sub(o.point_b, B.pose.p), o.alpha)), 0, 1e-12);
  }
  carom_shape_release(cube);
}

// Cubes shifted far enough that the pseudo-inverse would pull: the weights stay pushes.
TEST(pseudo_inverse_would_pull) {
  const carom_shape *cube = box_of(1, 1, 1), *bar = box_of(4, 0.4, 1);
  for (int i = 0; i < 30; i++) {
    carom_placed A = placed_plain(bar, 0.08 * i, 0.01 * i, 1), B = placed_plain(cube, 0, 0, 0);
    carom_ssh_options up = along(0, 0, 1);
    carom_ssh_result r = solved(&A, &B, &up);
    carom_ssh_optimum o = resolved(&A, &B, &r);
    check_optimum(&A, &B, &r, &o);
    CHECK(o.feature_a == CAROM_FEATURE_FACE && o.feature_b == CAROM_FEATURE_FACE);
  }
  carom_shape_release(cube), carom_shape_release(bar);
}

// ---- properties ----------------------------------------------------------------------------------------------------

// Solids on a grid, some along an axis of it: every kind of tie comes up, and all are resolved.
TEST(ties_of_grid_solids) {
  carom_random random = carom_random_make(17, 1);
  int seen[4] = {0}, kinds[4][4] = {{0}};
  for (int i = 0; i < 3000; i++) {
    const carom_shape *a = grid_polytope(&random), *b = grid_polytope(&random);
    double x = (int)carom_random_below(&random, 3) - 1, y = (int)carom_random_below(&random, 3) - 1;
    carom_placed A = placed_plain(a, x, y, 1 + (int)carom_random_below(&random, 4)), B = placed_plain(b, 0, 0, 0);
    carom_vec3 beta = cm_vec3((int)carom_random_below(&random, 2), 0, 1);
    if (i % 2) {
      carom_pose by = random_pose(&random, 2);
      carry(&A, &B, by);
      beta = cm_rotate(by.q, beta);
    }
    carom_ssh_options options = along(beta.x, beta.y, beta.z);
    carom_ssh_result r = solved(&A, &B, i % 3 ? &options : NULL);
    bool inside = cm_norm(r.alpha) < 1e4 && r.outcome == CAROM_SSH_SOLVED;  // beta grazes the solids otherwise
    if (inside) {
      carom_ssh_optimum o = resolved(&A, &B, &r);
      check_optimum(&A, &B, &r, &o);
      seen[(o.primal_degenerate ? 1 : 0) + (o.dual_degenerate ? 2 : 0)]++;
      kinds[o.feature_a][o.feature_b]++;
      if (test_failures) printf("case %d\n", i);
    }
    carom_shape_release(a), carom_shape_release(b);
    if (test_failures) return;
  }
  for (int k = 0; k < 4; k++) CHECK(seen[k] > 20);
  for (int k = 0; k < 3; k++)
    for (int l = 0; l < 3; l++) CHECK(kinds[k][l] > 5);
}

// No ties: the resolved answer is the one that was given.
TEST(general_position_is_left_alone) {
  carom_random random = carom_random_make(5, 0);
  for (int i = 0; i < 300; i++) {
    const carom_shape *a = random_polytope(&random, 12), *b = random_polytope(&random, 12);
    carom_placed A = {a, random_pose(&random, 2)}, B = {b, random_pose(&random, 1)};
    carom_ssh_result r = solved(&A, &B, NULL);
    carom_ssh_optimum o = resolved(&A, &B, &r);
    CHECK(!o.primal_degenerate && !o.dual_degenerate);
    CHECK_NEAR(cm_norm(cm_sub(o.alpha, r.alpha)), 0, 0);
    CHECK_NEAR(cm_norm(cm_sub(o.point_a, r.point_a)), 0, 1e-10);
    CHECK(o.feature_a == r.feature_a && o.feature_b == r.feature_b);
    check_optimum(&A, &B, &r, &o);
    carom_shape_release(a), carom_shape_release(b);
  }
}

// ---- other shapes and limits ---------------------------------------------------------------------------------------

TEST(curved_shapes) {
  const carom_shape *sphere = NULL, *capsule = NULL, *plane = NULL, *cube = box_of(2, 2, 2);
  CHECK(carom_shape_create_sphere(0.5, NULL, &sphere, NULL) == CAROM_OK);
  CHECK(carom_shape_create_capsule(0.5, 1, NULL, &capsule, NULL) == CAROM_OK);
  CHECK(carom_shape_create_halfspace(NULL, &plane, NULL) == CAROM_OK);
  carom_placed ball = placed_plain(sphere, 0, 0, 1.6), box = placed_plain(cube, 0, 0, 0);
  carom_placed lying = placed_at(capsule, cm_vec3(0, 0, 1.6), cm_axis_angle(cm_vec3(0, 1, 0), 1.5707963267948966));
  carom_placed floor = placed_plain(plane, 0, 0, -1.1);
  carom_ssh_options up = along(0, 0, 1);

  carom_ssh_result r = solved(&ball, &box, &up);
  carom_ssh_optimum o = resolved(&ball, &box, &r);
  CHECK(o.feature_a == CAROM_FEATURE_SMOOTH && o.feature_b == CAROM_FEATURE_FACE && o.count_a == 1 && o.count_b == 4);
  CHECK(o.vertex_a[0] == -1 && o.primal_degenerate && !o.dual_degenerate);
  for (int i = 0; i < o.count_b; i++) CHECK_NEAR(o.weight_b[i], 0.25, 1e-7);
  CHECK_NEAR(cm_norm(cm_sub(o.point_a, cm_vec3(0, 0, 1.1))), 0, 1e-7);

  r = solved(&lying, &box, &up);
  o = resolved(&lying, &box, &r);
  CHECK(o.count_a == 2 && o.count_b == 4 && o.primal_degenerate);
  CHECK_NEAR(o.weight_a[0], 0.5, 1e-7);
  CHECK_NEAR(cm_norm(cm_sub(o.point_a, cm_vec3(0, 0, 1.1))), 0, 1e-7);

  r = solved(&box, &floor, NULL);
  o = resolved(&box, &floor, &r);
  CHECK(o.feature_a == CAROM_FEATURE_FACE && o.feature_b == CAROM_FEATURE_SMOOTH && o.count_a == 4 && o.count_b == 1);
  CHECK_NEAR(cm_norm(cm_sub(o.point_a, cm_vec3(0, 0, -1))), 0, 1e-14);
  CHECK_NEAR(cm_norm(cm_sub(o.point_b, cm_vec3(0, 0, -1.1))), 0, 1e-14);
  r = solved(&floor, &ball, NULL);
  o = resolved(&floor, &ball, &r);
  CHECK(o.feature_b == CAROM_FEATURE_SMOOTH && o.count_b == 1);
  CHECK_NEAR(cm_norm(cm_sub(cm_sub(o.point_a, o.point_b), cm_scale(r.gap, r.beta))), 0, 1e-14);
  carom_shape_release(sphere), carom_shape_release(capsule), carom_shape_release(plane), carom_shape_release(cube);
}

// More active vertices than the answer holds: a fair choice of them, still balanced.
TEST(many_sided_faces) {
  const carom_shape *drum = NULL;
  CHECK(carom_shape_create_prism(200, 1, 1, NULL, &drum, NULL) == CAROM_OK);
  carom_placed A = placed_plain(drum, 0, 0, 0.99), B = placed_plain(drum, 0, 0, 0);
  carom_ssh_result r = solved(&A, &B, NULL);
  carom_ssh_optimum o = resolved(&A, &B, &r);
  CHECK(o.count_a > 32 && o.count_a <= CAROM_OPTIMAL_MAX && o.count_b > 32 && o.count_b <= CAROM_OPTIMAL_MAX);
  CHECK_NEAR(hypot(o.point_a.x, o.point_a.y), 0, 0.1);
  carom_vec3 apart = cm_sub(o.point_a, o.point_b);
  CHECK_NEAR(cm_norm(cm_sub(apart, cm_scale(r.gap, r.beta))), 0, 1e-12);
  carom_shape_release(drum);
}

TEST(refuses_what_was_not_solved) {
  const carom_shape *cube = box_of(1, 1, 1);
  carom_placed A = placed_plain(cube, 0, 0, 1), B = placed_plain(cube, 0, 0, 0);
  carom_ssh_result nothing = {0}, r = solved(&A, &B, NULL);
  carom_ssh_optimum o;
  CHECK(carom_ssh_resolve(&A, &B, &nothing, 0, &o) == CAROM_ERR_NUMBER);
  CHECK(carom_ssh_resolve(&A, &B, &r, -1, &o) == CAROM_ERR_NUMBER);
  r.gap = NAN;
  CHECK(carom_ssh_resolve(&A, &B, &r, 0, &o) == CAROM_ERR_NUMBER);
  carom_shape_release(cube);
}

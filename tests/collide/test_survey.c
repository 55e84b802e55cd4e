// Depths of round bodies about one centre, all of whose facets are nearly as near. The judge looks at all faces of both
// bodies and at all pairs of edges, and measures the width of the difference along each normal.
#include "collide/survey.h"
#include "test_collide.h"

static const double TIES = 1e-12;  // arcs that meet end to end cross, as far as the judge cares

// ---- the judge -----------------------------------------------------------------------------------------------------

// A body's vertices, face normals and edges in the world, as the difference sees them.
typedef struct figure {
  int vertices, faces, edges;
  carom_vec3 *x, *n;
  const carom_polytope_edge *edge;
} figure;

static figure figure_of(const carom_placed *placed, double sign) {
  const carom_polytope *p = carom_shape_polytope(placed->shape);
  figure f = {p->vertex_count, p->face_count, p->edge_count, NULL, NULL, p->edges};
  f.x = calloc((size_t)f.vertices, sizeof *f.x), f.n = calloc((size_t)f.faces, sizeof *f.n);
  for (int i = 0; i < f.vertices; i++) f.x[i] = cm_scale(sign, cm_transform(placed->pose, p->vertices[i]));
  for (int i = 0; i < f.faces; i++) f.n[i] = cm_scale(sign, cm_rotate(placed->pose.q, p->face_normals[i]));
  return f;
}

static void release_figure(figure *f) { free(f->x), free(f->n); }

static double furthest(const figure *f, carom_vec3 n) {
  double most = -1e300;
  for (int i = 0; i < f->vertices; i++) most = fmax(most, cm_dot(n, f->x[i]));
  return most;
}

// How far the sum of the figures reaches along n: an upper bound of the depth, and the depth for one of all n.
static double reach(const figure *a, const figure *b, carom_vec3 n) { return furthest(a, n) + furthest(b, n); }

static double least_over_faces(const figure *a, const figure *b) {
  double least = 1e300;
  for (int i = 0; i < a->faces; i++) least = fmin(least, reach(a, b, a->n[i]));
  for (int i = 0; i < b->faces; i++) least = fmin(least, reach(a, b, b->n[i]));
  return least;
}

// Two arcs on the sphere of directions cross when the ends of each lie on both sides of the other.
static bool cross(const carom_vec3 n[2], carom_vec3 across, const figure *b, const carom_polytope_edge *f) {
  carom_vec3 m0 = b->n[f->f[0]], m1 = b->n[f->f[1]];
  double x = cm_dot(across, m0), y = cm_dot(across, m1);
  if (x * y > TIES) return false;
  carom_vec3 other = cm_cross(m0, m1);
  return cm_dot(other, n[0]) * cm_dot(other, n[1]) <= TIES;
}

static double least_over_edges(const figure *a, const figure *b, double least) {
  for (int i = 0; i < a->edges; i++) {
    const carom_polytope_edge *e = a->edge + i;
    const carom_vec3 n[2] = {a->n[e->f[0]], a->n[e->f[1]]}, across = cm_cross(n[0], n[1]);
    const carom_vec3 x = a->x[e->v[0]], along = cm_sub(a->x[e->v[1]], x);
    for (int j = 0; j < b->edges; j++) {
      const carom_polytope_edge *f = b->edge + j;
      if (!cross(n, across, b, f)) continue;
      carom_vec3 normal = cm_cross(along, cm_sub(b->x[f->v[1]], b->x[f->v[0]]));
      if (cm_norm(normal) < 1e-14) continue;  // parallel: the faces beside them have that direction
      normal = cm_unit(cm_dot(normal, cm_add(n[0], n[1])) < 0 ? cm_neg(normal) : normal);
      if (cm_dot(normal, cm_add(x, b->x[f->v[0]])) < least) least = fmin(least, reach(a, b, normal));
    }
  }
  return least;
}

static double true_depth(const carom_placed *a, const carom_placed *b) {
  figure x = figure_of(a, 1), y = figure_of(b, -1);
  double least = least_over_edges(&x, &y, least_over_faces(&x, &y));
  release_figure(&x), release_figure(&y);
  return least;
}

// ---- answers -------------------------------------------------------------------------------------------------------

// Depth, normal, points and weights must tell one story.
static void check_story(const carom_placed *a, const carom_placed *b, const carom_distance_result *r) {
  carom_vec3 apart = cm_sub(r->point_a, r->point_b), xa = cm_zero3(), xb = cm_zero3();
  figure x = figure_of(a, 1), y = figure_of(b, -1);
  CHECK_NEAR(cm_norm(r->normal), 1, 1e-14);
  CHECK_NEAR(reach(&x, &y, cm_neg(r->normal)), -r->distance, 1e-12);
  CHECK_AT_MOST(cm_norm(cm_sub(apart, cm_scale(r->distance, r->normal))), 1e-12);
  for (int i = 0; i < r->column_count; i++) {
    CHECK(r->weight[i] >= 0);
    xa = cm_axpy(xa, r->weight[i], world_vertex(a, r->vertex_a[i]));
    xb = cm_axpy(xb, r->weight[i], world_vertex(b, r->vertex_b[i]));
  }
  CHECK_AT_MOST(cm_norm(cm_sub(xa, r->point_a)) + cm_norm(cm_sub(xb, r->point_b)), 1e-12);
  release_figure(&x), release_figure(&y);
}

static void check_depth(const carom_placed *a, const carom_placed *b) {
  carom_distance_result r;
  CHECK(carom_distance(a, b, NULL, &r) == CAROM_OK);
  CHECK_NEAR(r.distance, -true_depth(a, b), 1e-12);
  CHECK_AT_MOST(r.duality_gap, 1e-12);
  check_story(a, b, &r);
}

// Fibonacci's spiral: no two faces are parallel.
static const carom_shape *round_hull(int count) {
  carom_vec3 *x = calloc((size_t)count, sizeof *x);
  for (int i = 0; i < count; i++) {
    double z = 1 - 2 * (i + 0.5) / count, turn = i * 2.399963229728653, s = sqrt(1 - z * z);
    x[i] = cm_vec3(s * cos(turn), s * sin(turn), z);
  }
  const carom_shape *shape = hull_of(x, count);
  free(x);
  return shape;
}

static void check_round_hulls(int count, bool turned) {
  const carom_shape *shape = round_hull(count);
  carom_random random = carom_random_make((uint64_t)count, 0);
  for (double off = 1e-12; off < 1; off *= turned ? 1e4 : 1e3) {
    carom_placed a = {shape, cm_pose_identity()}, b = a;
    a.pose.p = cm_scale(off < 1e-11 ? 0 : off, random_vec(&random));
    if (turned) b.pose.q = random_rotation(&random);
    check_depth(&a, &b);
  }
  carom_shape_release(shape);
}

TEST(round_hulls_of_100_vertices_in_one_place) { check_round_hulls(100, false), check_round_hulls(100, true); }
TEST(round_hulls_of_400_vertices_in_one_place) { check_round_hulls(400, false); }
TEST(round_hulls_of_1000_vertices_in_one_place_long) { check_round_hulls(1000, false), check_round_hulls(1000, true); }
TEST(round_hulls_of_2000_vertices_in_one_place_long) { check_round_hulls(2000, true); }
TEST(round_hulls_of_5000_vertices_in_one_place_long) { check_round_hulls(5000, false); }

// ---- the survey itself ---------------------------------------------------------------------------------------------

static double check_survey(const carom_placed *a, const carom_placed *b) {
  carom_difference D;
  carom_facet f;
  carom_difference_place(&D, a, b);
  CHECK(carom_survey_can(&D));
  carom_survey(&D, &f);
  if (f.depth < 0) return f.depth;  // the origin lies outside: no facet need be nearest
  CHECK_NEAR(f.depth, true_depth(a, b), 1e-12);
  carom_vec3 foot = cm_zero3();
  for (int c = 0; c < f.count; c++) foot = cm_axpy(foot, f.w[c], f.c[c].d);
  CHECK_AT_MOST(cm_norm(cm_sub(foot, cm_scale(f.depth, f.normal))), 1e-12);
  return f.depth;
}

// Faces on faces, edges along edges: where arcs run along arcs and begin where others end.
TEST(surveys_of_lattice_bodies) {
  carom_random random = carom_random_make(21, 0);
  int deep = 0;
  for (int i = 0; i < 60; i++) {
    const carom_shape *a = grid_polytope(&random), *b = grid_polytope(&random);
    for (int k = 0; k < 4; k++) {
      carom_placed A = placed_at(a, cm_scale(0.1 * k, random_vec(&random)), cm_qidentity()),
                   B = placed_plain(b, 0, 0, 0);
      if (k % 2) A.pose.p = cm_zero3();
      if (k == 3) A.pose.q = random_rotation(&random);
      deep += check_survey(&A, &B) > 0;
    }
    carom_shape_release(a), carom_shape_release(b);
  }
  CHECK(deep > 100);
}

TEST(surveys_of_equal_prisms) {
  for (int sides = 3; sides < 40; sides += 6) {
    const carom_shape *prism = NULL;
    CHECK(carom_shape_create_prism(sides, 1, 2.5, NULL, &prism, NULL) == CAROM_OK);
    carom_placed a = {prism, cm_pose_identity()}, b = a;
    check_survey(&a, &b);
    a.pose.q = cm_axis_angle(cm_vec3(0, 0, 1), 0.1);
    check_survey(&a, &b);
    carom_shape_release(prism);
  }
}

// A sphere is a point, whose difference from a hull is that hull, and a capsule a segment. Where it lies in the middle,
// the depth is the distance of the nearest face.
TEST(round_bodies_in_the_middle_of_round_hulls) {
  const carom_shape *hull = round_hull(2000), *ball = NULL, *capsule = NULL;
  CHECK(carom_shape_create_sphere(0.1, NULL, &ball, NULL) == CAROM_OK);
  CHECK(carom_shape_create_capsule(0.1, 1e-3, NULL, &capsule, NULL) == CAROM_OK);
  const carom_polytope *p = carom_shape_polytope(hull);
  double face = 1e300, across = 1e300;
  for (int f = 0; f < p->face_count; f++) {
    face = fmin(face, p->face_offsets[f]);
    across = fmin(across, p->face_offsets[f] + 0.5e-3 * fabs(p->face_normals[f].z));
  }
  carom_placed a = placed_plain(hull, 0, 0, 0), b = placed_plain(ball, 0, 0, 0), c = placed_plain(capsule, 0, 0, 0);
  carom_distance_result r;
  CHECK(carom_distance(&a, &b, NULL, &r) == CAROM_OK);
  CHECK_NEAR(r.distance, -face - 0.1, 1e-12);
  CHECK(carom_distance(&b, &a, NULL, &r) == CAROM_OK);
  CHECK_NEAR(r.distance, -face - 0.1, 1e-12);
  CHECK(carom_distance(&c, &a, NULL, &r) == CAROM_OK);
  CHECK(r.distance <= -face - 0.1 && r.distance >= -across - 0.1 - 1e-12);
  CHECK_AT_MOST(cm_norm(cm_sub(cm_sub(r.point_a, r.point_b), cm_scale(r.distance, r.normal))), 1e-12);
  carom_shape_release(hull), carom_shape_release(ball), carom_shape_release(capsule);
}

// ---- curved bodies -------------------------------------------------------------------------------------------------

typedef struct curved_pair {
  const carom_shape *a, *b;
  double depth;  // about one centre
} curved_pair;

// Their differences have no facets, and no polytope proves a depth: the answer is what surely parts the bodies, and is
// the least by closed form.
static void check_curved(const curved_pair *p, double off) {
  carom_placed a = placed_plain(p->a, off, 0, 2 * off), b = placed_plain(p->b, 0, 0, 0);
  carom_distance_result r, moved;
  CHECK(carom_distance(&a, &b, NULL, &r) == CAROM_OK);
  CHECK_NEAR(r.distance, -p->depth, 1e-9 + 3 * off);
  CHECK_AT_MOST(cm_norm(cm_sub(cm_sub(r.point_a, r.point_b), cm_scale(r.distance, r.normal))), 1e-9 + 3 * off);
  a.pose.p = cm_axpy(a.pose.p, -r.distance, r.normal);
  CHECK(carom_distance(&a, &b, NULL, &moved) == CAROM_OK);
  CHECK_NEAR(moved.distance, 0, 1e-8);
}

TEST(equal_curved_bodies_in_one_place) {
  const carom_shape *ball = NULL, *egg = NULL, *coin = NULL, *log = NULL;
  REQUIRE(carom_shape_create_ellipsoid(cm_vec3(1, 1, 1), NULL, &ball, NULL) == CAROM_OK);
  REQUIRE(carom_shape_create_ellipsoid(cm_vec3(1, 0.9, 1.1), NULL, &egg, NULL) == CAROM_OK);
  REQUIRE(carom_shape_create_cylinder(1, 2, NULL, &coin, NULL) == CAROM_OK);
  REQUIRE(carom_shape_create_cylinder(1, 4, NULL, &log, NULL) == CAROM_OK);
  const curved_pair pairs[] = {{ball, ball, 2}, {ball, egg, 1.9}, {egg, egg, 1.8}, {coin, coin, 2},
                               {coin, log, 2},  {log, log, 2},    {ball, log, 2}};
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
    for (double off = 0; off < 1e-3; off += 1e-4) check_curved(pairs + i, off);
  carom_shape_release(ball), carom_shape_release(egg), carom_shape_release(coin), carom_shape_release(log);
}

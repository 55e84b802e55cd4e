// The signed distance of convex bodies against references that share no code with it: certificates by brute force over
// vertices, all pairs of features, all facets of the difference, and closed forms.
#include "carom/collide.h"
#include "fixtures.h"
#include "pair_file.h"

// ---- helpers -------------------------------------------------------------------------------------------------------

static const carom_shape *random_hull(carom_random *r, int count) {
  carom_vec3 v[64];
  for (int i = 0; i < count; i++)
    v[i] = cm_unit(cm_vec3(carom_random_normal(r), carom_random_normal(r), carom_random_normal(r)));
  return hull_shape(v, count);
}

static carom_placed placed(const carom_shape *shape, carom_vec3 p, carom_quat q) {
  return (carom_placed){shape, cm_pose(p, q)};
}

static carom_placed at(const carom_shape *shape, double x, double y, double z) {
  return placed(shape, cm_vec3(x, y, z), cm_qidentity());
}

static carom_placed moved(carom_placed x, carom_vec3 by) {
  x.pose.p = cm_add(x.pose.p, by);
  return x;
}

// Smallest n.x over a curved shape, in its own axes.
static double curved_lowest(const carom_shape *shape, carom_vec3 n) {
  carom_vec3 h = carom_shape_half_axes(shape);
  double rim = h.x * hypot(n.x, n.y);
  switch (carom_shape_get_kind(shape)) {
    case CAROM_SHAPE_ELLIPSOID:
      return -cm_norm(cm_mul_diag(h, n));
    case CAROM_SHAPE_CYLINDER:
      return -rim - h.z * fabs(n.z);
    case CAROM_SHAPE_CONE:
      return fmin(1.5 * h.z * n.z, -0.5 * h.z * n.z - rim);
    default:
      return -fabs(n.z) * carom_shape_half_length(shape);
  }
}

// Smallest n.x over a body, by looking at everything.
static double lowest_along(const carom_placed *x, carom_vec3 n) {
  const carom_polytope *polytope = carom_shape_polytope(x->shape);
  double base = cm_dot(n, x->pose.p) - carom_shape_radius(x->shape), least = INFINITY;
  if (!polytope) return base + curved_lowest(x->shape, cm_unrotate(x->pose.q, n));
  for (int i = 0; i < polytope->vertex_count; i++)
    least = fmin(least, cm_dot(n, cm_rotate(x->pose.q, polytope->vertices[i])));
  return base + least;
}

static double size_of(const carom_placed *a, const carom_placed *b) {
  return carom_shape_bounding_radius(a->shape) + carom_shape_bounding_radius(b->shape) + cm_norm(a->pose.p) +
         cm_norm(b->pose.p);
}

static carom_vec3 mix(const carom_placed *x, const int *vertex, const double *weight, int count) {
  carom_vec3 sum = cm_zero3();
  for (int i = 0; i < count; i++)
    sum = cm_axpy(sum, weight[i], cm_transform(x->pose, carom_shape_polytope(x->shape)->vertices[vertex[i]]));
  return sum;
}

static void check_weights(const carom_placed *x, const int *vertex, const carom_distance_result *r, carom_vec3 point,
                          double tolerance) {
  if (carom_shape_polytope(x->shape)) {
    int count = carom_shape_polytope(x->shape)->vertex_count;
    for (int i = 0; i < r->column_count; i++) REQUIRE(vertex[i] >= 0 && vertex[i] < count);
    double off = cm_norm(cm_sub(mix(x, vertex, r->weight, r->column_count), point));
    CHECK_NEAR(off, carom_shape_radius(x->shape), tolerance);
  } else {
    for (int i = 0; i < r->column_count; i++) CHECK(vertex[i] == -1);
  }
}

// Ellipsoids, cylinders and cones have no facets at which the search could end exactly.
static bool is_curved(const carom_placed *x) { return carom_shape_half_axes(x->shape).x > 0; }

// Everything that a result says of itself. The planes through the points support both bodies, so that the distance is
// certainly a lower bound of the true one; apart, the points make it an upper bound too.
static void check_within(const carom_placed *a, const carom_placed *b, const carom_distance_result *r,
                         double relative) {
  double tolerance = relative * size_of(a, b);
  double slack = r->duality_gap * size_of(a, b);
  CHECK_NEAR(cm_norm(r->normal), 1, 1e-14);
  CHECK_AT_MOST(cm_norm(cm_sub(cm_sub(r->point_a, r->point_b), cm_scale(r->distance, r->normal))), 4 * tolerance);
  CHECK(r->column_count >= 1 && r->column_count <= 3);
  double sum = 0;
  for (int i = 0; i < r->column_count; i++) {
    CHECK(r->weight[i] >= 0);
    sum += r->weight[i];
  }
  CHECK_NEAR(sum, 1, 1e-13);
  check_weights(a, r->vertex_a, r, r->point_a, 4 * tolerance);
  check_weights(b, r->vertex_b, r, r->point_b, 4 * tolerance);
  CHECK(r->iterations >= 1);
  CHECK(r->duality_gap >= 0);
  if (carom_shape_get_kind(a->shape) == CAROM_SHAPE_HALFSPACE ||
      carom_shape_get_kind(b->shape) == CAROM_SHAPE_HALFSPACE)
    return;
  CHECK_AT_MOST(cm_dot(r->normal, r->point_a) - lowest_along(a, r->normal), 4 * tolerance + slack);
  CHECK_AT_MOST(-cm_dot(r->normal, r->point_b) - lowest_along(b, cm_neg(r->normal)), 4 * tolerance + slack);
}

static void check_result(const carom_placed *a, const carom_placed *b, const carom_distance_result *r) {
  check_within(a, b, r, is_curved(a) || is_curved(b) ? 3e-10 : 1e-14);
}

static carom_distance_result query(carom_placed a, carom_placed b) {
  carom_distance_result r = {0};
  CHECK(carom_distance(&a, &b, NULL, &r) == CAROM_OK);
  check_result(&a, &b, &r);
  CHECK_AT_MOST(r.duality_gap, is_curved(&a) || is_curved(&b) ? 1e-8 : 1e-11);
  return r;
}

// ---- references: all features, all facets --------------------------------------------------------------------------

static double segment_distance(carom_vec3 p, carom_vec3 q, carom_vec3 r, carom_vec3 s);

static double point_segment(carom_vec3 x, carom_vec3 p, carom_vec3 q) {
  carom_vec3 e = cm_sub(q, p);
  double t = fmax(0, fmin(1, cm_dot(cm_sub(x, p), e) / cm_norm2(e)));
  return cm_norm(cm_sub(x, cm_axpy(p, t, e)));
}

// The interior solution where there is one, else the best of the four ends.
static double segment_distance(carom_vec3 p, carom_vec3 q, carom_vec3 r, carom_vec3 s) {
  double best =
      fmin(fmin(point_segment(p, r, s), point_segment(q, r, s)), fmin(point_segment(r, p, q), point_segment(s, p, q)));
  carom_vec3 e = cm_sub(q, p), f = cm_sub(s, r), n = cm_cross(e, f), w = cm_sub(r, p);
  double nn = cm_norm2(n);
  if (nn < 1e-20) return best;
  double t = cm_dot(cm_cross(w, f), n) / nn, u = cm_dot(cm_cross(w, e), n) / nn;
  if (t < 0 || t > 1 || u < 0 || u > 1) return best;
  return fmin(best, fabs(cm_dot(w, n)) / sqrt(nn));
}

static carom_vec3 corner(const carom_placed *x, int i) {
  return cm_transform(x->pose, carom_shape_polytope(x->shape)->vertices[i]);
}

// Distance of a point from a face whose plane it looks at from outside, when its foot is within the face.
static double point_face(const carom_placed *x, int face, carom_vec3 point) {
  const carom_polytope *p = carom_shape_polytope(x->shape);
  carom_vec3 n = cm_rotate(x->pose.q, p->face_normals[face]);
  int from = p->face_start[face], to = p->face_start[face + 1];
  double height = cm_dot(n, cm_sub(point, corner(x, p->face_vertices[from])));
  if (height < 0) return INFINITY;
  for (int k = from; k < to; k++) {
    carom_vec3 u = corner(x, p->face_vertices[k]), v = corner(x, p->face_vertices[k + 1 < to ? k + 1 : from]);
    if (cm_dot(n, cm_cross(cm_sub(v, u), cm_sub(point, u))) < 0) return INFINITY;
  }
  return height;
}

static double points_to_faces(const carom_placed *a, const carom_placed *b) {
  double best = INFINITY;
  for (int i = 0; i < carom_shape_polytope(a->shape)->vertex_count; i++)
    for (int f = 0; f < carom_shape_polytope(b->shape)->face_count; f++)
      best = fmin(best, point_face(b, f, corner(a, i)));
  return best;
}

// Least distance over all pairs of features; right for bodies that are apart.
static double feature_distance(const carom_placed *a, const carom_placed *b) {
  const carom_polytope *p = carom_shape_polytope(a->shape), *q = carom_shape_polytope(b->shape);
  double best = fmin(points_to_faces(a, b), points_to_faces(b, a));
  for (int i = 0; i < p->edge_count; i++)
    for (int j = 0; j < q->edge_count; j++)
      best = fmin(best, segment_distance(corner(a, p->edges[i].v[0]), corner(a, p->edges[i].v[1]),
                                         corner(b, q->edges[j].v[0]), corner(b, q->edges[j].v[1])));
  return best;
}

// The nearest facet of the hull of all vertex differences: the signed distance when it is negative.
static double hull_distance(const carom_placed *a, const carom_placed *b) {
  const carom_polytope *p = carom_shape_polytope(a->shape), *q = carom_shape_polytope(b->shape);
  int count = 0;
  carom_vec3 *d = malloc((size_t)p->vertex_count * (size_t)q->vertex_count * sizeof *d);
  if (!d) abort();
  for (int i = 0; i < p->vertex_count; i++)
    for (int j = 0; j < q->vertex_count; j++) d[count++] = cm_sub(corner(a, i), corner(b, j));
  const carom_shape *hull = NULL;
  if (carom_shape_create_hull(d, count, NULL, &hull, NULL) != CAROM_OK) abort();
  free(d);
  const carom_polytope *h = carom_shape_polytope(hull);
  double least = INFINITY;
  for (int f = 0; f < h->face_count; f++) least = fmin(least, h->face_offsets[f]);
  carom_shape_release(hull);
  return -least;
}

static double reference(const carom_placed *a, const carom_placed *b) {
  double depth = hull_distance(a, b);
  return depth <= 0 ? depth : feature_distance(a, b);
}

TEST(distance_equals_features_and_hull_of_differences) {
  carom_random r = carom_random_make(11, 0);
  int apart = 0, inside = 0;
  for (int i = 0; i < 150; i++) {
    const carom_shape *s = random_hull(&r, 4 + (int)carom_random_below(&r, 7)),
                      *t = random_hull(&r, 4 + (int)carom_random_below(&r, 7));
    carom_placed a = placed(s, random_vector(&r, 1.4), random_rotation(&r)),
                 b = placed(t, random_vector(&r, 0.4), random_rotation(&r));
    double expected = reference(&a, &b);
    CHECK_NEAR(query(a, b).distance, expected, 1e-9);  // hulls drop points within 1e-10
    apart += expected > 0, inside += expected < 0;
    carom_shape_release(s), carom_shape_release(t);
  }
  CHECK(apart > 20 && inside > 20);
}

// ---- pairs with certified distances --------------------------------------------------------------------------------

static carom_placed body_of(const pair_set *set, int body, carom_pose pose) {
  return (carom_placed){set->bodies[body], pose};
}

static void check_pairs(const pair_set *set) {
  for (int regime = 0; regime < PAIR_REGIMES; regime++)
    for (int i = 0; i < set->pair_count; i++) {
      const pair_case *c = pair_at(set, regime, i);
      carom_distance_result r = query(body_of(set, c->a, c->pose_a), body_of(set, c->b, c->pose_b));
      CHECK_NEAR(r.distance, c->distance, regime == PAIR_OVERLAP ? 1e-10 : 1e-12);
      CHECK_AT_MOST(r.duality_gap, 1e-13);
      if (regime != PAIR_OVERLAP) CHECK_AT_MOST(cm_norm(cm_sub(r.normal, c->normal)), 1e-9);
    }
}

static void check_file(const char *name) {
  char path[500], message[200];
  pair_set set;
  snprintf(path, sizeof path, "%s/pairs/%s", CAROM_TEST_SHARED, name);
  if (!pair_set_read(&set, path, message)) test_skip(message);
  check_pairs(&set);
  pair_set_release(&set);
}

TEST(distance_of_8_vertices_equals_the_file) { check_file("cold_8.bin"); }
TEST(distance_of_32_vertices_equals_the_file) { check_file("cold_32.bin"); }
TEST(distance_of_128_vertices_equals_the_file) { check_file("cold_128.bin"); }

TEST(distance_of_generated_pairs) {
  static const int sizes[] = {4, 7, 20, 60, 100};
  for (int i = 0; i < 5; i++) {
    pair_set set;
    REQUIRE(pair_set_generate(&set, sizes[i], 4, 12, 1, 100 + (uint64_t)i));
    check_pairs(&set);
    pair_set_release(&set);
  }
}

// Along a path the last columns are used again and the answer does not depend on them.
TEST(distance_warm_equals_cold) {
  pair_set set;
  REQUIRE(pair_set_generate(&set, 24, 4, 90, 30, 5));
  for (int regime = 0; regime < PAIR_REGIMES; regime++) {
    carom_ssh_cache cache = {0};
    long warm = 0, cold = 0;
    for (int i = 0; i < set.pair_count; i++) {
      const pair_case *c = pair_at(&set, regime, i);
      carom_placed a = body_of(&set, c->a, c->pose_a), b = body_of(&set, c->b, c->pose_b);
      carom_distance_result r = {0}, s = query(a, b);
      REQUIRE(carom_distance(&a, &b, &cache, &r) == CAROM_OK);
      check_result(&a, &b, &r);
      CHECK_NEAR(r.distance, s.distance, 1e-13);
      warm += r.iterations, cold += s.iterations;
    }
    CHECK(2 * warm < cold);
  }
  pair_set_release(&set);
}

// A cache may hold what carom_ssh left, or what another pair of bodies did.
TEST(distance_takes_any_cache) {
  carom_random r = carom_random_make(3, 0);
  const carom_shape *s = random_hull(&r, 20), *t = random_hull(&r, 9);
  for (int i = 0; i < 200; i++) {
    carom_placed a = placed(s, random_vector(&r, 1.2), random_rotation(&r)),
                 b = placed(t, random_vector(&r, 1.2), random_rotation(&r));
    carom_distance_result cold = query(a, b), warm = {0};
    carom_ssh_cache cache = {.count = (int)carom_random_below(&r, 4)};
    for (int k = 0; k < 3; k++) {
      cache.a[k] = (int)carom_random_below(&r, 25) - 2;
      cache.b[k] = (int)carom_random_below(&r, 14) - 2;
    }
    REQUIRE(carom_distance(&a, &b, &cache, &warm) == CAROM_OK);
    CHECK_NEAR(warm.distance, cold.distance, 1e-13);
    carom_ssh_result lp;
    REQUIRE(carom_ssh(&a, &b, NULL, &cache, &lp) == CAROM_OK);
    REQUIRE(carom_distance(&a, &b, &cache, &warm) == CAROM_OK);
    CHECK_NEAR(warm.distance, cold.distance, 1e-13);
    check_result(&a, &b, &warm);
  }
  carom_shape_release(s), carom_shape_release(t);
}

// ---- ties ----------------------------------------------------------------------------------------------------------

// Boxes along the axes: the gap is that of intervals, and all but every query is a tie.
static double aligned_distance(carom_vec3 o, carom_vec3 half) {
  double x = fabs(o.x) - half.x, y = fabs(o.y) - half.y, z = fabs(o.z) - half.z;
  if (x <= 0 && y <= 0 && z <= 0) return fmax(x, fmax(y, z));
  return cm_norm(cm_vec3(fmax(0, x), fmax(0, y), fmax(0, z)));
}

TEST(distance_of_boxes_on_a_grid) {
  const carom_shape *cube = box_shape(1, 1, 1), *slab = box_shape(2, 1, 0.5);
  for (int k = 0; k < 11 * 11 * 11; k++) {
    carom_vec3 o = cm_scale(0.25, cm_vec3(k % 11 - 5, k / 11 % 11 - 5, k / 121 - 5));
    CHECK_NEAR(query(placed(cube, o, cm_qidentity()), at(cube, 0, 0, 0)).distance,
               aligned_distance(o, cm_vec3(1, 1, 1)), 1e-14);
    CHECK_NEAR(query(placed(slab, o, cm_qidentity()), at(cube, 0, 0, 0)).distance,
               aligned_distance(o, cm_vec3(1.5, 1, 0.75)), 1e-14);
    // Turned a quarter about z, through a quaternion with round-off: the ties are not exact any more.
    carom_quat quarter = cm_axis_angle(cm_vec3(0, 0, 1), 2 * atan(1));
    CHECK_NEAR(query(placed(slab, o, quarter), at(cube, 0, 0, 0)).distance, aligned_distance(o, cm_vec3(1, 1.5, 0.75)),
               1e-14);
  }
  carom_shape_release(cube), carom_shape_release(slab);
}

// The same body at the same place, and moved a little: every facet of the difference has many columns.
TEST(distance_of_equal_bodies) {
  carom_random r = carom_random_make(9, 0);
  const carom_shape *shapes[6] = {box_shape(1, 2, 3),      prism_shape(3, 1, 1.5), prism_shape(6, 1, 1.5),
                                  prism_shape(12, 1, 1.5), random_hull(&r, 16),    NULL};
  REQUIRE(carom_shape_create_octahedron(1, NULL, &shapes[5], NULL) == CAROM_OK);
  for (int i = 0; i < 6; i++)
    for (int k = 0; k < 6; k++) {
      carom_pose pose = cm_pose(random_vector(&r, 1), k < 2 ? cm_qidentity() : random_rotation(&r));
      carom_placed a = {shapes[i], pose}, b = {shapes[i], pose};
      if (k % 2) a = moved(a, random_vector(&r, 1e-9));
      pair_reference expected =
          pair_reference_depth(carom_shape_polytope(a.shape), a.pose, carom_shape_polytope(b.shape), b.pose);
      CHECK_NEAR(query(a, b).distance, expected.distance, 1e-12);
    }
  for (int i = 0; i < 6; i++) carom_shape_release(shapes[i]);
}

static const carom_shape *lattice_hull(carom_random *r, double jitter) {
  const carom_shape *shape = NULL;
  carom_vec3 v[20];
  do {
    uint32_t width = 2 + carom_random_below(r, 4);
    for (int i = 0; i < 20; i++) {
      double x = carom_random_below(r, width), y = carom_random_below(r, width), z = carom_random_below(r, width);
      v[i] = cm_add(cm_vec3(x, y, z), random_vector(r, jitter));
    }
  } while (carom_shape_create_hull(v, 20, NULL, &shape, NULL) != CAROM_OK);
  return shape;
}

// Bodies with corners on a lattice, at lattice places: faces and edges parallel, columns in one plane and on one line;
// then all but so, with a jitter that makes needles of what was flat.
TEST(distance_of_lattice_bodies) {
  carom_random r = carom_random_make(77, 0);
  for (int i = 0; i < 300; i++) {
    double jitter = i % 3 == 0 ? 0 : i % 3 == 1 ? 1e-12 : 1e-6;
    const carom_shape *s = lattice_hull(&r, jitter), *t = i % 2 ? lattice_hull(&r, jitter) : carom_shape_retain(s);
    for (int k = 0; k < 8; k++) {
      carom_quat q = k % 4 == 1 ? cm_quat(0.5, 0.5, 0.5, 0.5) : k % 4 == 2 ? random_rotation(&r) : cm_qidentity();
      if (k % 4 == 3) q = cm_axis_angle(cm_vec3(1, 0, 0), 2 * atan(1));
      carom_quat p = k % 4 == 2 ? q : cm_qidentity();
      carom_vec3 o = cm_vec3(carom_random_below(&r, 9), carom_random_below(&r, 9), carom_random_below(&r, 9));
      carom_placed a = placed(s, cm_rotate(p, cm_scale(0.5, cm_sub(o, cm_vec3(4, 4, 4)))), q);
      carom_placed b = placed(t, cm_zero3(), p);
      if (k >= 4) a = moved(a, random_vector(&r, pow(10, -3 - (double)carom_random_below(&r, 13))));
      carom_distance_result d = {0};
      CHECK(carom_distance(&a, &b, NULL, &d) == CAROM_OK);
      check_within(&a, &b, &d, jitter > 0 ? 1e-12 : 1e-14);
      CHECK_AT_MOST(d.duality_gap, jitter > 1e-9 ? 1e-9 : jitter > 0 ? 1e-11 : 1e-15);
      if (d.distance < 0 && k < 3) CHECK_NEAR(d.distance, hull_distance(&a, &b), 1e-8);
    }
    carom_shape_release(s), carom_shape_release(t);
  }
}

TEST(distance_of_flat_contacts) {
  const carom_shape *cube = box_shape(1, 1, 1), *drum = prism_shape(24, 1, 1.5), *small = box_shape(0.2, 0.3, 0.4);
  carom_random r = carom_random_make(21, 0);
  for (int i = 0; i < 300; i++) {
    double x = carom_random_between(&r, -0.9, 0.9), y = carom_random_between(&r, -0.9, 0.9);
    carom_quat turn = cm_axis_angle(cm_vec3(0, 0, 1), i % 3 ? carom_random_between(&r, 0, 6) : 0);
    static const double gaps[] = {0, 1e-15, -1e-15, 1e-12, -1e-12, 1e-8, -1e-8, 1e-3, -1e-3};
    double gap = gaps[i % 9];
    carom_distance_result d = query(placed(cube, cm_vec3(0.4 * x, 0.4 * y, 1.25 + gap), turn), at(drum, 0, 0, 0));
    CHECK_NEAR(d.distance, gap, 1e-14);
    CHECK_NEAR(d.normal.z, 1, 1e-12);
    d = query(placed(small, cm_vec3(0.3 * x, 0.3 * y, 0.7 + gap), turn), at(cube, 0, 0, 0));
    CHECK_NEAR(d.distance, gap, 1e-14);
    CHECK_NEAR(d.normal.z, 1, 1e-12);
  }
  carom_shape_release(cube), carom_shape_release(drum), carom_shape_release(small);
}

// Corners and edges that just touch have many planes; any will do.
TEST(distance_of_touching_corners) {
  const carom_shape *cube = box_shape(1, 1, 1);
  for (int k = 0; k < 27; k++) {
    carom_vec3 o = cm_vec3(k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1);
    if (k == 13) continue;
    CHECK_NEAR(query(placed(cube, o, cm_qidentity()), at(cube, 0, 0, 0)).distance, 0, 1e-15);
    for (int s = -16; s < -4; s++) {
      carom_vec3 apart = cm_scale(1 + pow(10, s), o), into = cm_scale(1 - pow(10, s), o);
      CHECK_NEAR(query(placed(cube, apart, cm_qidentity()), at(cube, 0, 0, 0)).distance,
                 aligned_distance(apart, cm_vec3(1, 1, 1)), 1e-15);
      CHECK_NEAR(query(placed(cube, into, cm_qidentity()), at(cube, 0, 0, 0)).distance,
                 aligned_distance(into, cm_vec3(1, 1, 1)), 1e-15);
    }
  }
  carom_shape_release(cube);
}

// ---- size and place ------------------------------------------------------------------------------------------------

static const carom_shape *scaled_hull(uint64_t seed, int count, double scale, carom_vec3 shift) {
  carom_random r = carom_random_make(seed, 0);
  carom_vec3 v[64];
  for (int i = 0; i < count; i++) v[i] = cm_scale(scale, cm_add(shift, random_vector(&r, 1)));
  const carom_shape *shape = NULL;
  if (carom_shape_create_hull(v, count, NULL, &shape, NULL) != CAROM_OK) abort();
  return shape;
}

TEST(distance_scales) {
  for (int e = -6; e <= 6; e += 3) {
    double scale = pow(10, e);
    const carom_shape *unit_s = scaled_hull(1, 12, 1, cm_zero3()), *unit_t = scaled_hull(2, 15, 1, cm_zero3());
    const carom_shape *s = scaled_hull(1, 12, scale, cm_zero3()), *t = scaled_hull(2, 15, scale, cm_zero3());
    carom_random r = carom_random_make(6, 0);
    for (int i = 0; i < 60; i++) {
      carom_vec3 p = random_vector(&r, 2);
      carom_quat q = random_rotation(&r);
      double unit = query(placed(unit_s, p, q), at(unit_t, 0, 0, 0)).distance;
      CHECK_NEAR(query(placed(s, cm_scale(scale, p), q), at(t, 0, 0, 0)).distance / scale, unit, 1e-13);
    }
    carom_shape_release(unit_s), carom_shape_release(unit_t), carom_shape_release(s), carom_shape_release(t);
  }
}

// Far from the origin only the rounding of the positions themselves remains; it is made exact here by powers of two.
TEST(distance_far_from_the_origin) {
  const carom_shape *s = scaled_hull(1, 12, 1, cm_zero3()), *t = scaled_hull(2, 15, 1, cm_zero3());
  carom_random r = carom_random_make(6, 0);
  carom_vec3 far = cm_vec3(1 << 20, -(1 << 20), 3 << 18);
  for (int i = 0; i < 200; i++) {
    carom_vec3 p = random_vector(&r, 2);
    p = cm_sub(cm_add(p, far), far);  // what is left of p there
    carom_quat q = random_rotation(&r);
    carom_placed a = placed(s, p, q), b = at(t, 0, 0, 0), c = moved(a, far), d = moved(b, far);
    carom_distance_result near = query(a, b), away = {0};
    REQUIRE(carom_distance(&c, &d, NULL, &away) == CAROM_OK);
    CHECK(away.distance == near.distance);
    CHECK_AT_MOST(cm_norm(cm_sub(cm_sub(away.point_a, far), near.point_a)), 1e-9);
  }
  carom_shape_release(s), carom_shape_release(t);
}

// Bodies of very different size, and bodies a long way apart.
TEST(distance_of_unequal_bodies) {
  const carom_shape *big = box_shape(1e5, 1e5, 1e5), *small = box_shape(1e-2, 1e-2, 1e-2);
  CHECK_NEAR(query(at(small, 3, 7, 5e4 + 0.005 + 1e-3), at(big, 0, 0, 0)).distance, 1e-3, 1e-10);
  CHECK_NEAR(query(at(small, 3, 7, 5e4 + 0.005 - 1e-3), at(big, 0, 0, 0)).distance, -1e-3, 1e-10);
  CHECK_NEAR(query(at(small, 1e6, 0, 0), at(small, 0, 0, 0)).distance, 1e6 - 0.01, 1e-9);
  CHECK_NEAR(query(at(small, 1e6, 2e6, 2e6), at(small, 0, 0, 0)).distance, 3e6 - 0.01 * 5 / 3, 1e-8);
  carom_shape_release(big), carom_shape_release(small);
}

// Needles and sheets.
TEST(distance_of_thin_bodies) {
  const carom_shape *needle = box_shape(1, 1e-4, 1e-4), *sheet = box_shape(1, 1, 1e-5);
  carom_random r = carom_random_make(2, 0);
  for (int i = 0; i < 300; i++) {
    carom_placed a = placed(i % 2 ? needle : sheet, random_vector(&r, 0.5), random_rotation(&r));
    carom_placed b = placed(i % 3 ? sheet : needle, random_vector(&r, 0.1), random_rotation(&r));
    pair_reference expected =
        pair_reference_of(carom_shape_polytope(a.shape), a.pose, carom_shape_polytope(b.shape), b.pose);
    CHECK_NEAR(query(a, b).distance, expected.distance, 1e-12);
  }
  carom_shape_release(needle), carom_shape_release(sheet);
}

// Deep inside each other every facet counts and the room for faces may run out: then the error is owned up to.
TEST(distance_owns_up_to_its_error) {
  pair_set set;
  static const int sizes[] = {30, 120, 400};
  for (int i = 0; i < 3; i++) {
    REQUIRE(pair_set_generate(&set, sizes[i], 1, 1, 1, 8));
    for (int k = 0; k < 2; k++) {
      carom_placed a = body_of(&set, 0, cm_pose_identity()), b = a;
      if (k) b.pose.q = cm_axis_angle(cm_vec3(1, 2, 3), 1);
      carom_distance_result r = {0};
      REQUIRE(carom_distance(&a, &b, NULL, &r) == CAROM_OK);
      check_result(&a, &b, &r);
      pair_reference expected =
          pair_reference_depth(carom_shape_polytope(a.shape), a.pose, carom_shape_polytope(b.shape), b.pose);
      CHECK_AT_MOST(fabs(r.distance - expected.distance), 1e-12 + r.duality_gap * size_of(&a, &b));
      CHECK_AT_MOST(r.duality_gap, sizes[i] < 100 ? 1e-13 : 0.02);
    }
    pair_set_release(&set);
  }
}

// ---- properties ----------------------------------------------------------------------------------------------------

typedef struct pair {
  carom_placed a, b;
} pair;

// One of every pairing of bounded kinds, apart or not.
static pair random_pair(carom_random *r, const carom_shape *const shapes[4]) {
  pair p = {placed(shapes[carom_random_below(r, 4)], random_vector(r, 1.2), random_rotation(r)),
            placed(shapes[carom_random_below(r, 4)], random_vector(r, 1.2), random_rotation(r))};
  return p;
}

static void each_pair(uint64_t seed, int count, void (*check)(pair p, carom_distance_result d, carom_random *r)) {
  carom_random r = carom_random_make(seed, 0);
  const carom_shape *shapes[4] = {random_hull(&r, 14), random_hull(&r, 40), sphere_shape(0.4), capsule_shape(0.3, 1.1)};
  for (int i = 0; i < count; i++) {
    pair p = random_pair(&r, shapes);
    check(p, query(p.a, p.b), &r);
  }
  for (int i = 0; i < 4; i++) carom_shape_release(shapes[i]);
}

static void check_exchange(pair p, carom_distance_result d, carom_random *r) {
  (void)r;
  carom_distance_result e = query(p.b, p.a);
  CHECK_NEAR(e.distance, d.distance, 1e-14);
  CHECK_AT_MOST(cm_norm(cm_add(e.normal, d.normal)), 1e-6);
}

TEST(distance_does_not_mind_the_order) { each_pair(41, 400, check_exchange); }

static void check_rigid(pair p, carom_distance_result d, carom_random *r) {
  carom_pose X = cm_pose(random_vector(r, 5), random_rotation(r));
  p.a.pose = cm_compose(X, p.a.pose), p.b.pose = cm_compose(X, p.b.pose);
  carom_distance_result e = query(p.a, p.b);
  CHECK_NEAR(e.distance, d.distance, 3e-14);
  CHECK_AT_MOST(cm_norm(cm_sub(e.normal, cm_rotate(X.q, d.normal))), 1e-6);
}

TEST(distance_moves_along) { each_pair(42, 400, check_rigid); }

static void check_touching(pair p, carom_distance_result d, carom_random *r) {
  (void)r;
  carom_distance_result e = query(moved(p.a, cm_scale(-d.distance, d.normal)), p.b);
  CHECK_NEAR(e.distance, 0, 1e-14);
  // Half the way out, the depth is half as large: nothing else comes nearer.
  e = query(moved(p.a, cm_scale(-d.distance / 2, d.normal)), p.b);
  CHECK_NEAR(e.distance, d.distance / 2, 2e-14);
}

TEST(distance_is_what_parts_the_bodies) { each_pair(43, 400, check_touching); }

// Brought to a hair's breadth, down to less than round-off: bodies must not reach past each other along the normal.
static void check_hair(pair p, carom_distance_result d, carom_random *r) {
  for (int i = 0; i < 8 && d.distance > 0; i++) {
    carom_placed b = moved(p.b, cm_scale(d.distance - pow(10, -16 + 6 * carom_random_uniform(r)), d.normal));
    carom_distance_result near;
    REQUIRE(carom_distance(&p.a, &b, NULL, &near) == CAROM_OK);
    double parted = lowest_along(&p.a, near.normal) + lowest_along(&b, cm_neg(near.normal));
    CHECK_AT_MOST(near.distance - parted, 1e-9 * size_of(&p.a, &b));
  }
}

TEST(distance_has_a_normal_where_bodies_touch) { each_pair(46, 2000, check_hair); }

static void check_gradient(pair p, carom_distance_result d, carom_random *r) {
  (void)r;
  double h = 1e-6;
  carom_vec3 axes[3] = {cm_vec3(h, 0, 0), cm_vec3(0, h, 0), cm_vec3(0, 0, h)}, g;
  double slope[3];
  for (int i = 0; i < 3; i++)
    slope[i] = (query(moved(p.a, axes[i]), p.b).distance - query(moved(p.a, cm_neg(axes[i])), p.b).distance) / (2 * h);
  g = cm_vec3(slope[0], slope[1], slope[2]);
  CHECK_AT_MOST(cm_norm(cm_sub(g, d.normal)), 1e-4);
}

TEST(distance_grows_along_the_normal) { each_pair(44, 100, check_gradient); }

// The linear program's plane is one of those that the distance is the best of, and its points are not the nearest ones.
static void check_linear_program(pair p, carom_distance_result d, carom_random *r) {
  (void)r;
  carom_ssh_result lp;
  bool polytopes = carom_shape_polytope(p.a.shape) && carom_shape_polytope(p.b.shape);
  if (!polytopes) return;
  CHECK(carom_ssh(&p.a, &p.b, NULL, NULL, &lp) == CAROM_OK);
  CHECK((lp.gap > 0) == (d.distance > 0));
  CHECK_AT_MOST(lp.gap * cm_dot(lp.beta, lp.normal), d.distance + 1e-14);
  if (d.distance > 0) CHECK_AT_MOST(d.distance, lp.gap + 1e-14);
}

TEST(distance_against_the_linear_program) { each_pair(45, 1000, check_linear_program); }

// ---- spheres and capsules ------------------------------------------------------------------------------------------

TEST(distance_of_spheres) {
  const carom_shape *s = sphere_shape(1), *t = sphere_shape(0.5);
  carom_distance_result d = query(at(s, 3, 0, 4), at(t, 0, 0, 0));
  CHECK_NEAR(d.distance, 3.5, 1e-15);
  CHECK_AT_MOST(cm_norm(cm_sub(d.point_a, cm_vec3(2.4, 0, 3.2))), 1e-15);
  CHECK_AT_MOST(cm_norm(cm_sub(d.point_b, cm_vec3(0.3, 0, 0.4))), 1e-15);
  CHECK(d.feature_a == CAROM_FEATURE_SMOOTH && d.feature_b == CAROM_FEATURE_SMOOTH);
  CHECK(d.column_count == 1 && d.vertex_a[0] == -1 && d.vertex_b[0] == -1);
  CHECK_NEAR(query(at(s, 0, 0.3, 0), at(t, 0, 0, 0)).distance, -1.2, 1e-15);
  CHECK_NEAR(query(at(s, 0, 0, 0), at(t, 0, 0, 0)).distance, -1.5, 1e-15);
  CHECK_NEAR(query(at(s, 1, 2, 3), at(s, 1, 2, 3)).distance, -2, 1e-15);
  carom_shape_release(s), carom_shape_release(t);
}

static carom_vec3 end_of(const carom_placed *x, double sign) {
  return cm_transform(x->pose, cm_vec3(0, 0, sign * carom_shape_half_length(x->shape)));
}

TEST(distance_of_capsules) {
  const carom_shape *shapes[3] = {capsule_shape(0.2, 2), capsule_shape(0.3, 1), sphere_shape(0.4)};
  carom_random r = carom_random_make(12, 0);
  for (int i = 0; i < 2000; i++) {
    carom_placed a = placed(shapes[i % 3], random_vector(&r, 1.5), random_rotation(&r));
    carom_placed b = placed(shapes[i % 2], random_vector(&r, 0.5), i % 7 ? random_rotation(&r) : a.pose.q);
    double core = segment_distance(end_of(&b, 1), end_of(&b, -1), end_of(&a, 1), end_of(&a, -1));
    if (i % 3 == 2) core = point_segment(a.pose.p, end_of(&b, 1), end_of(&b, -1));
    double expected = core - carom_shape_radius(a.shape) - carom_shape_radius(b.shape);
    CHECK_NEAR(query(a, b).distance, expected, 1e-13);
  }
  for (int i = 0; i < 3; i++) carom_shape_release(shapes[i]);
}

// Cores that cross, that lie in one line, and that coincide.
TEST(distance_of_crossing_capsules) {
  const carom_shape *s = capsule_shape(0.2, 2), *t = capsule_shape(0.3, 1), *ball = sphere_shape(0.1);
  carom_quat across = cm_axis_angle(cm_vec3(1, 0, 0), 1);
  carom_distance_result d = query(placed(s, cm_vec3(0, 0, 0.1), across), at(t, 0, 0, 0.1));
  CHECK_NEAR(d.distance, -0.5, 1e-15);
  CHECK_NEAR(fabs(d.normal.x), 1, 1e-14);
  CHECK_NEAR(query(at(s, 0, 0, 0.4), at(t, 0, 0, 0)).distance, -0.5, 1e-15);
  CHECK_NEAR(query(at(s, 0, 0, 0), at(s, 0, 0, 0)).distance, -0.4, 1e-15);
  CHECK_NEAR(query(at(s, 0, 0, 1.7), at(t, 0, 0, 0)).distance, -0.3, 1e-15);
  d = query(at(ball, 0, 0, 0.4), at(t, 0, 0, 0));
  CHECK_NEAR(d.distance, -0.4, 1e-15);
  CHECK_NEAR(d.normal.z, 0, 1e-15);
  carom_shape_release(s), carom_shape_release(t), carom_shape_release(ball);
}

// A ball against a polytope: features outside, the nearest face inside.
TEST(distance_of_spheres_and_polytopes) {
  carom_random r = carom_random_make(13, 0);
  const carom_shape *ball = sphere_shape(0.25);
  for (int i = 0; i < 300; i++) {
    const carom_shape *s = random_hull(&r, 12);
    const carom_polytope *p = carom_shape_polytope(s);
    carom_placed b = placed(s, random_vector(&r, 0.2), random_rotation(&r)), a = at(ball, 0, 0, 0);
    a.pose.p = random_vector(&r, 1.2);
    carom_vec3 x = cm_untransform(b.pose, a.pose.p);
    double expected = -INFINITY;
    for (int f = 0; f < p->face_count; f++)
      expected = fmax(expected, cm_dot(p->face_normals[f], x) - p->face_offsets[f]);
    if (expected > 0) {
      expected = INFINITY;
      for (int f = 0; f < p->face_count; f++) expected = fmin(expected, point_face(&b, f, a.pose.p));
      for (int e = 0; e < p->edge_count; e++)
        expected = fmin(expected, point_segment(a.pose.p, corner(&b, p->edges[e].v[0]), corner(&b, p->edges[e].v[1])));
    }
    CHECK_NEAR(query(a, b).distance, expected - 0.25, 1e-12);
    CHECK_NEAR(query(b, a).distance, expected - 0.25, 1e-12);
    carom_shape_release(s);
  }
  carom_shape_release(ball);
}

// A centre that lies exactly in a face, on an edge, in a corner; a core that pierces the body.
TEST(distance_of_cores_on_the_boundary) {
  const carom_shape *cube = box_shape(2, 2, 2), *ball = sphere_shape(0.5), *rod = capsule_shape(0.1, 6);
  CHECK_NEAR(query(at(ball, 1, 0.2, 0.3), at(cube, 0, 0, 0)).distance, -0.5, 1e-15);
  CHECK_NEAR(query(at(ball, 1, 0.2, 0.3), at(cube, 0, 0, 0)).normal.x, 1, 1e-14);
  CHECK_NEAR(query(at(ball, 1, 1, 0.3), at(cube, 0, 0, 0)).distance, -0.5, 1e-15);
  CHECK_NEAR(query(at(ball, 1, 1, 1), at(cube, 0, 0, 0)).distance, -0.5, 1e-15);
  CHECK_NEAR(query(at(ball, 0, 0, 0), at(cube, 0, 0, 0)).distance, -1.5, 1e-15);
  carom_distance_result d = query(at(rod, 0.7, 0, 0), at(cube, 0, 0, 0));
  CHECK_NEAR(d.distance, -0.4, 1e-15);
  CHECK_NEAR(d.normal.x, 1, 1e-14);
  CHECK_NEAR(query(at(rod, 0, 0, 0), at(cube, 0, 0, 0)).distance, -1.1, 1e-15);
  CHECK_NEAR(query(at(rod, 1, 0, 0), at(cube, 0, 0, 0)).distance, -0.1, 1e-15);
  CHECK_NEAR(query(at(rod, 0, 0, 4.5), at(cube, 0, 0, 0)).distance, 0.4, 1e-15);
  carom_shape_release(cube), carom_shape_release(ball), carom_shape_release(rod);
}

// ---- rounded and curved shapes -------------------------------------------------------------------------------------

static const carom_shape *rounded(const carom_shape *polytope, double radius) {
  const carom_shape *shape = NULL;
  if (carom_shape_create_rounded(polytope, radius, NULL, &shape, NULL) != CAROM_OK) abort();
  return shape;
}

TEST(distance_of_rounded_boxes) {
  const carom_shape *cube = box_shape(1, 1, 1), *soft = rounded(cube, 0.1), *softer = rounded(cube, 0.2);
  for (int k = 0; k < 11 * 11 * 11; k++) {
    carom_vec3 o = cm_scale(0.25, cm_vec3(k % 11 - 5, k / 11 % 11 - 5, k / 121 - 5));
    double core = aligned_distance(o, cm_vec3(1, 1, 1));
    CHECK_NEAR(query(placed(soft, o, cm_qidentity()), at(cube, 0, 0, 0)).distance, core - 0.1, 1e-14);
    CHECK_NEAR(query(placed(soft, o, cm_qidentity()), at(softer, 0, 0, 0)).distance, core - 0.3, 1e-14);
  }
  const carom_shape *ball = sphere_shape(0.5);
  CHECK_NEAR(query(at(ball, 0, 0, 2), at(soft, 0, 0, 0)).distance, 0.9, 1e-15);
  carom_shape_release(cube), carom_shape_release(soft), carom_shape_release(softer), carom_shape_release(ball);
}

// An ellipsoid with three equal axes is a sphere.
TEST(distance_of_round_ellipsoids) {
  const carom_shape *e = NULL, *f = NULL, *ball = sphere_shape(0.7);
  REQUIRE(carom_shape_create_ellipsoid(cm_vec3(1, 1, 1), NULL, &e, NULL) == CAROM_OK);
  REQUIRE(carom_shape_create_ellipsoid(cm_vec3(0.5, 0.5, 0.5), NULL, &f, NULL) == CAROM_OK);
  carom_random r = carom_random_make(31, 0);
  for (int i = 0; i < 200; i++) {
    carom_vec3 p = random_vector(&r, 1.5);
    carom_placed a = placed(e, p, random_rotation(&r));
    CHECK_NEAR(query(a, at(f, 0, 0, 0)).distance, cm_norm(p) - 1.5, 1e-11);
    CHECK_NEAR(query(a, at(ball, 0, 0, 0)).distance, cm_norm(p) - 1.7, 1e-11);
  }
  carom_shape_release(e), carom_shape_release(f), carom_shape_release(ball);
}

// Certificates decide (check_result), apart and not, for every kind against every other.
TEST(distance_of_curved_shapes) {
  carom_random r = carom_random_make(32, 0);
  const carom_shape *s[6] = {NULL, NULL, NULL, random_hull(&r, 12), sphere_shape(0.3), capsule_shape(0.2, 1)};
  REQUIRE(carom_shape_create_ellipsoid(cm_vec3(0.5, 0.8, 1.1), NULL, &s[0], NULL) == CAROM_OK);
  REQUIRE(carom_shape_create_cylinder(0.6, 1.2, NULL, &s[1], NULL) == CAROM_OK);
  REQUIRE(carom_shape_create_cone(0.7, 1.5, NULL, &s[2], NULL) == CAROM_OK);
  int apart = 0;
  for (int i = 0; i < 1000; i++) {
    carom_placed a = placed(s[i % 3], random_vector(&r, 1.2), random_rotation(&r));
    carom_placed b = placed(s[carom_random_below(&r, 6)], random_vector(&r, 0.3), random_rotation(&r));
    carom_distance_result d = query(a, b), e = query(b, a);
    CHECK_NEAR(d.distance, e.distance, 1e-10);
    CHECK(d.feature_a == CAROM_FEATURE_SMOOTH && d.vertex_a[0] == -1);
    apart += d.distance > 0;
  }
  CHECK(apart > 100 && apart < 900);
  for (int i = 0; i < 6; i++) carom_shape_release(s[i]);
}

// Cylinders side by side that touch: along the normal that is told they reach no farther past each other than
// round-off.
TEST(touching_cylinders_have_a_sharp_normal) {
  const carom_shape *drum = NULL;
  REQUIRE(carom_shape_create_cylinder(0.1, 0.1, NULL, &drum, NULL) == CAROM_OK);
  for (int k = 0; k < 24; k++) {
    double angle = 0.1 + k * acos(-1) / 12;
    carom_placed a = {drum, cm_pose(cm_zero3(), cm_qidentity())},
                 b = {drum, cm_pose(cm_vec3(0.2 * cos(angle), 0.2 * sin(angle), 0), cm_qidentity())};
    carom_distance_result r;
    REQUIRE(carom_distance(&a, &b, NULL, &r) == CAROM_OK);
    CHECK_NEAR(r.distance, 0, 1e-12);
    CHECK_NEAR(cm_dot(r.normal, b.pose.p), -0.2, 1e-14);
    CHECK_AT_MOST(r.duality_gap, 1e-11);
  }
  carom_shape_release(drum);
}

// Round bodies that stand on one another, with closed forms.
TEST(distance_of_standing_cylinders) {
  const carom_shape *drum = NULL, *cone = NULL, *cube = box_shape(2, 2, 2);
  REQUIRE(carom_shape_create_cylinder(0.5, 1, NULL, &drum, NULL) == CAROM_OK);
  REQUIRE(carom_shape_create_cone(0.5, 1, NULL, &cone, NULL) == CAROM_OK);
  static const double gaps[] = {0, 1e-12, -1e-12, 1e-6, -1e-6, 0.1, -0.1};
  for (int i = 0; i < 7; i++) {
    CHECK_NEAR(query(at(drum, 0.2, -0.1, 1.5 + gaps[i]), at(cube, 0, 0, 0)).distance, gaps[i], 1e-12);
    CHECK_NEAR(query(at(drum, 0.2, -0.1, 1 + gaps[i]), at(drum, 0, 0, 0)).distance, gaps[i], 1e-12);
    CHECK_NEAR(query(at(cone, 0.2, -0.1, 1.25 + gaps[i]), at(cube, 0, 0, 0)).distance, gaps[i], 1e-12);
    CHECK_NEAR(query(at(cube, 0, 0, 1.75 + gaps[i]), at(cone, 0.2, -0.1, 0)).distance, gaps[i], 1e-12);
    CHECK_NEAR(query(at(drum, 1.5 + gaps[i], 0.3, 0), at(cube, 0, 0, 0)).distance, gaps[i], 1e-11);
  }
  carom_shape_release(drum), carom_shape_release(cone), carom_shape_release(cube);
}

// ---- half-spaces and refusals --------------------------------------------------------------------------------------

TEST(distance_to_a_halfspace) {
  carom_random r = carom_random_make(14, 0);
  const carom_shape *ground = floor_shape(),
                    *shapes[3] = {random_hull(&r, 20), sphere_shape(0.3), capsule_shape(0.2, 1)};
  for (int i = 0; i < 300; i++) {
    carom_placed a = placed(shapes[i % 3], random_vector(&r, 1), random_rotation(&r));
    carom_placed g = placed(ground, random_vector(&r, 1), random_rotation(&r));
    carom_vec3 up = cm_rotate(g.pose.q, cm_vec3(0, 0, 1));
    double expected = lowest_along(&a, up) - cm_dot(up, g.pose.p);
    carom_distance_result d = query(a, g), e = query(g, a);
    CHECK_NEAR(d.distance, expected, 1e-14);
    CHECK_NEAR(e.distance, expected, 1e-14);
    CHECK_AT_MOST(cm_norm(cm_sub(d.normal, up)) + cm_norm(cm_add(e.normal, up)), 1e-14);
    CHECK_NEAR(cm_dot(up, cm_sub(d.point_b, g.pose.p)), 0, 1e-14);
    CHECK_AT_MOST(cm_norm(cm_sub(d.point_a, e.point_b)), 1e-14);
  }
  carom_shape_release(ground);
  for (int i = 0; i < 3; i++) carom_shape_release(shapes[i]);
}

TEST(distance_refuses) {
  const carom_shape *ground = floor_shape(), *cube = box_shape(1, 1, 1);
  carom_placed g = at(ground, 0, 0, 0), a = at(cube, 0, 0, 0), bad = a;
  carom_distance_result r;
  CHECK(carom_distance(&g, &g, NULL, &r) == CAROM_ERR_GEOMETRY);
  bad.pose.p.y = NAN;
  CHECK(carom_distance(&a, &bad, NULL, &r) == CAROM_ERR_NUMBER);
  CHECK(carom_distance(&bad, &g, NULL, &r) == CAROM_ERR_NUMBER);
  bad = a, bad.pose.q.w = INFINITY;
  CHECK(carom_distance(&bad, &a, NULL, &r) == CAROM_ERR_NUMBER);
  carom_shape_release(ground), carom_shape_release(cube);
}

TEST(distance_names_the_features) {
  const carom_shape *cube = box_shape(1, 1, 1);
  carom_quat on_edge = cm_axis_angle(cm_vec3(1, 0, 0), atan(1)),
             on_corner = cm_qmul(cm_axis_angle(cm_vec3(0, 1, 0), atan(sqrt(0.5))), on_edge);
  carom_distance_result d = query(placed(cube, cm_vec3(0.1, 0.05, 2), on_corner), at(cube, 0, 0, 0));
  CHECK(d.feature_a == CAROM_FEATURE_VERTEX && d.feature_b == CAROM_FEATURE_FACE);
  CHECK_NEAR(d.distance, 1.5 - sqrt(0.75), 1e-14);
  carom_quat other_edge = cm_axis_angle(cm_vec3(0, 1, 0), atan(1));
  d = query(placed(cube, cm_vec3(0.1, 0.05, 2), on_edge), placed(cube, cm_zero3(), other_edge));
  CHECK(d.feature_a == CAROM_FEATURE_EDGE && d.feature_b == CAROM_FEATURE_EDGE);
  CHECK_NEAR(d.distance, 2 - sqrt(2), 1e-14);
  d = query(at(cube, 2, 2, 2), at(cube, 0, 0, 0));
  CHECK(d.feature_a == CAROM_FEATURE_VERTEX && d.feature_b == CAROM_FEATURE_VERTEX);
  CHECK(d.column_count == 1);
  carom_shape_release(cube);
}

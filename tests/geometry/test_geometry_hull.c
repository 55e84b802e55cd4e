// Convex hulls: against brute force, against exact integers, and on inputs made to break them.
#include <pthread.h>

#include "model/size.h"
#include "test_geometry.h"

static const carom_shape *hull_of(const carom_vec3 *points, int count) {
  const carom_shape *shape = NULL;
  carom_error error = {0};
  if (carom_shape_create_hull(points, count, NULL, &shape, &error) != CAROM_OK)
    test_fail(__FILE__, __LINE__, "hull of %d points: %s", count, error.message);
  return shape;
}

static void check_counts(const carom_shape *shape, int vertices, int faces, const char *what) {
  const carom_polytope *p = carom_shape_polytope(shape);
  if (p->vertex_count != vertices || p->face_count != faces)
    test_fail(__FILE__, __LINE__, "%s: %d vertices and %d faces, expected %d and %d", what, p->vertex_count,
              p->face_count, vertices, faces);
}

// Vertices are input points, bit for bit, in input order.
static void check_order(const carom_polytope *p, const carom_vec3 *points, int count) {
  int at = 0;
  for (int i = 0; i < count && at < p->vertex_count; i++)
    at += memcmp(&points[i], &p->vertices[at], sizeof *points) == 0;
  CHECK(at == p->vertex_count);
}

// ---- against brute force ----------------------------------------------------------------------

static double orient(carom_vec3 a, carom_vec3 b, carom_vec3 c, carom_vec3 d) {
  return cm_dot(cm_cross(cm_sub(b, a), cm_sub(c, a)), cm_sub(d, a));
}

// All triples with every other point strictly on one side: O(n^4).
static int brute_facets(const carom_vec3 *points, int n, bool *extreme) {
  int facets = 0;
  for (int i = 0; i < n; i++)
    for (int j = i + 1; j < n; j++)
      for (int k = j + 1; k < n; k++) {
        int above = 0, below = 0;
        for (int l = 0; l < n; l++) {
          if (l == i || l == j || l == k) continue;
          if (orient(points[i], points[j], points[k], points[l]) > 0)
            above++;
          else
            below++;
        }
        if (above && below) continue;
        facets++;
        extreme[i] = extreme[j] = extreme[k] = true;
      }
  return facets;
}

TEST(brute_force) {
  carom_random r = carom_random_make(1, 0);
  for (int trial = 0; trial < 400; trial++) {
    carom_vec3 points[12];
    bool extreme[12] = {false};
    int n = 4 + trial % 9, expected = 0;
    for (int i = 0; i < n; i++) points[i] = random_vec(&r);
    int facets = brute_facets(points, n, extreme);
    for (int i = 0; i < n; i++) expected += extreme[i];
    const carom_shape *shape = hull_of(points, n);
    REQUIRE(shape);
    const carom_polytope *p = carom_shape_polytope(shape);
    check_counts(shape, expected, facets, "random points");
    CHECK_POLYTOPE(p, 1e-15);
    check_order(p, points, n);
    CHECK_AT_MOST(outside_of(p, points, n), 1e-14);
    carom_shape_release(shape);
  }
}

// Points of a small integer grid: most sets have coplanar faces, collinear edges and repeated points. Vertices and
// facet planes are known exactly from integer arithmetic.
typedef struct ivec {
  long c[3];
} ivec;

static ivec isub(ivec a, ivec b) { return (ivec){{a.c[0] - b.c[0], a.c[1] - b.c[1], a.c[2] - b.c[2]}}; }
static ivec icross(ivec a, ivec b) {
  return (ivec){
      {a.c[1] * b.c[2] - a.c[2] * b.c[1], a.c[2] * b.c[0] - a.c[0] * b.c[2], a.c[0] * b.c[1] - a.c[1] * b.c[0]}};
}
static long idot(ivec a, ivec b) { return a.c[0] * b.c[0] + a.c[1] * b.c[1] + a.c[2] * b.c[2]; }
static long gcd(long a, long b) { return b == 0 ? labs(a) : gcd(b, a % b); }

typedef struct iplane {
  ivec normal;
  long offset;
} iplane;

// The distinct supporting planes that hold three points not in line.
static int exact_planes(const ivec *q, int n, iplane *planes) {
  int count = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++) {
        ivec m = icross(isub(q[j], q[i]), isub(q[k], q[i]));
        long g = gcd(m.c[0], gcd(m.c[1], m.c[2]));
        if (g == 0) continue;
        for (int c = 0; c < 3; c++) m.c[c] /= g;
        bool support = true;
        for (int l = 0; l < n && support; l++) support = idot(m, isub(q[l], q[i])) <= 0;
        for (int l = 0; l < count && support; l++)
          support = memcmp(&planes[l].normal, &m, sizeof m) != 0 || planes[l].offset != idot(m, q[i]);
        if (support) planes[count++] = (iplane){m, idot(m, q[i])};
      }
  return count;
}

// A point is a vertex when the planes through it have normals of rank three.
static bool exact_vertex(ivec q, const iplane *planes, int count) {
  for (int i = 0; i < count; i++)
    for (int j = i + 1; j < count; j++)
      for (int k = j + 1; k < count; k++) {
        if (idot(planes[i].normal, q) != planes[i].offset || idot(planes[j].normal, q) != planes[j].offset ||
            idot(planes[k].normal, q) != planes[k].offset)
          continue;
        if (idot(icross(planes[i].normal, planes[j].normal), planes[k].normal) != 0) return true;
      }
  return false;
}

static void check_exact(carom_random *r, int n, int side, carom_pose pose, double scale) {
  enum { MOST = 24 };
  ivec q[MOST];
  carom_vec3 points[MOST];
  iplane planes[400];
  for (int i = 0; i < n; i++) {
    for (int c = 0; c < 3; c++) q[i].c[c] = carom_random_below(r, (uint32_t)side);
    points[i] = cm_transform(pose, cm_scale(scale, cm_vec3((double)q[i].c[0], (double)q[i].c[1], (double)q[i].c[2])));
  }
  int faces = exact_planes(q, n, planes), vertices = 0;
  for (int i = 0; i < n; i++) {
    bool again = false;
    for (int j = 0; j < i; j++) again |= memcmp(&q[i], &q[j], sizeof q[i]) == 0;
    vertices += !again && exact_vertex(q[i], planes, faces);
  }
  const carom_shape *shape = NULL;
  if (vertices < 4) {  // flat: both planes are the two sides of one
    CHECK(carom_shape_create_hull(points, n, NULL, &shape, NULL) == CAROM_ERR_GEOMETRY);
    return;
  }
  shape = hull_of(points, n);
  REQUIRE(shape);
  check_counts(shape, vertices, faces, "grid points");
  double tolerance = 1e-14 * (cm_norm(pose.p) + scale * side);
  CHECK_POLYTOPE(carom_shape_polytope(shape), tolerance);
  CHECK_AT_MOST(outside_of(carom_shape_polytope(shape), points, n), tolerance);
  carom_shape_release(shape);
}

TEST(exact_integers) {
  carom_random r = carom_random_make(2, 0);
  for (int trial = 0; trial < 400; trial++) check_exact(&r, 5 + trial % 14, 2 + trial % 4, cm_pose_identity(), 1);
}

// The same turned, shifted and scaled, so that coplanar points are coplanar only up to rounding.
TEST(rounded_integers) {
  carom_random r = carom_random_make(3, 0);
  for (int trial = 0; trial < 400; trial++) {
    double scale = pow(10, (double)(trial % 13) - 6);
    carom_vec3 p = cm_scale((trial % 3) * scale * 100, random_vec(&r));
    check_exact(&r, 5 + trial % 14, 2 + trial % 4, cm_pose(p, random_rotation(&r)), scale);
  }
}

// ---- regular solids with much that is coplanar ------------------------------------------------

TEST(grid_cube) {
  enum { N = 6 };
  carom_vec3 points[N * N * N];
  carom_random r = carom_random_make(4, 0);
  for (int trial = 0; trial < 20; trial++) {
    carom_pose pose = trial ? cm_pose(cm_scale(10, random_vec(&r)), random_rotation(&r)) : cm_pose_identity();
    for (int i = 0; i < N * N * N; i++) points[i] = cm_transform(pose, cm_vec3(i % N, i / N % N, (double)(i / N / N)));
    const carom_shape *shape = hull_of(points, N * N * N);
    REQUIRE(shape);
    check_counts(shape, 8, 6, "grid");
    CHECK_POLYTOPE(carom_shape_polytope(shape), 1e-14);
    carom_shape_release(shape);
  }
}

static int cylinder(carom_vec3 *points, int sides, carom_pose pose, double scale) {
  for (int i = 0; i < 2 * sides; i++) {
    double angle = 6.283185307179586 * (i / 2) / sides;
    points[i] = cm_transform(pose, cm_scale(scale, cm_vec3(cos(angle), sin(angle), i % 2 ? 1 : -1)));
  }
  return 2 * sides;
}

TEST(cocircular) {
  static carom_vec3 points[4096];
  carom_random r = carom_random_make(5, 0);
  const int sides[] = {3, 4, 5, 7, 12, 64, 360, 2048};
  for (int k = 0; k < 8; k++)
    for (int trial = 0; trial < 4; trial++) {
      carom_pose pose = cm_pose(cm_scale(trial * 5, random_vec(&r)), random_rotation(&r));
      double scale = pow(10, 2 * trial - 4);
      const carom_shape *shape = hull_of(points, cylinder(points, sides[k], pose, scale));
      REQUIRE(shape);
      check_counts(shape, 2 * sides[k], sides[k] + 2, "cylinder");
      if (sides[k] <= 64) CHECK_POLYTOPE(carom_shape_polytope(shape), 1e-14 * (scale + 10));
      CHECK(lattice_holds(carom_shape_polytope(shape)));
      carom_shape_release(shape);
    }
}

// An arc so finely divided that each point is nearer than the tolerance to the chord of its neighbours: the points are
// thinned out but do not vanish, and the solid loses next to nothing.
TEST(too_fine_an_arc) {
  enum { N = 4000 };
  static carom_vec3 points[2 * N + 4];
  double spread = 0.01;
  for (int i = 0; i < N; i++) {
    double angle = spread * i / (N - 1);
    points[2 * i] = cm_vec3(cos(angle), sin(angle), 0);
    points[2 * i + 1] = cm_vec3(cos(angle), sin(angle), 1);
  }
  for (int i = 0; i < 4; i++) points[2 * N + i] = cm_vec3(0, i & 1 ? spread : 0, i & 2 ? 1 : 0);
  const carom_shape *shape = hull_of(points, 2 * N + 4);
  REQUIRE(shape);
  const carom_polytope *p = carom_shape_polytope(shape);
  CHECK(lattice_holds(p));
  CHECK(polygons_convex(p));
  CHECK(p->vertex_count < N && p->vertex_count > 200);
  CHECK_AT_MOST(outside_of(p, points, 2 * N + 4), 1e-9);
  carom_shape_release(shape);
}

// Many corners in one plane.
TEST(wide_prism) {
  enum { N = 20000 };
  carom_vec3 *points = malloc(2 * N * sizeof *points);
  const carom_shape *shape = hull_of(points, cylinder(points, N, cm_pose_identity(), 1));
  REQUIRE(shape);
  check_counts(shape, 2 * N, N + 2, "wide prism");
  CHECK(lattice_holds(carom_shape_polytope(shape)));
  carom_shape_release(shape);
  free(points);
}

// A cube whose faces and edges carry more points, off their plane by noise well below the tolerance, and duplicates.
TEST(noisy_cube) {
  carom_random r = carom_random_make(6, 0);
  for (int trial = 0; trial < 200; trial++) {
    carom_vec3 points[208];
    carom_quat q = random_rotation(&r);
    double noise = pow(10, -11 - trial % 6);
    for (int i = 0; i < 8; i++) points[i] = cm_vec3(i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1);
    for (int i = 8; i < 208; i++) {
      double c[3], fixed = carom_random_below(&r, 2) ? 1 : -1;
      uint32_t axis = carom_random_below(&r, 3), edge = carom_random_below(&r, 4);
      for (int k = 0; k < 3; k++) c[k] = carom_random_between(&r, -1, 1);
      c[axis] = fixed + carom_random_between(&r, -noise, noise);
      if (edge == 0) c[(axis + 1) % 3] = 1;
      points[i] = cm_vec3(c[0], c[1], c[2]);
      if (edge == 3) points[i] = points[carom_random_below(&r, (uint32_t)i)];
    }
    for (int i = 0; i < 208; i++) points[i] = cm_rotate(q, points[i]);
    const carom_shape *shape = hull_of(points, 208);
    REQUIRE(shape);
    check_counts(shape, 8, 6, "noisy cube");
    CHECK_POLYTOPE(carom_shape_polytope(shape), 1e-14);
    carom_shape_release(shape);
  }
}

// Noise of every size up to and across the tolerance: the faces are not known, but the lattice must hold, the polygons
// must be convex, and all points must be inside within a few tolerances.
TEST(noise_near_tolerance) {
  carom_random r = carom_random_make(7, 0);
  for (int trial = 0; trial < 600; trial++) {
    carom_vec3 points[150];
    double noise = pow(10, -8 - 0.02 * (trial % 400));
    int n = 20 + trial % 130, kind = trial % 3;
    carom_quat q = random_rotation(&r);
    for (int i = 0; i < n; i++) {
      carom_vec3 v;
      if (kind == 0) {
        v = cm_vec3(carom_random_below(&r, 5) - 2.0, carom_random_below(&r, 5) - 2.0, carom_random_below(&r, 5) - 2.0);
      } else if (kind == 1) {
        double angle = 6.283185307179586 * carom_random_below(&r, 40) / 40;
        v = cm_vec3(2 * cos(angle), 2 * sin(angle), carom_random_below(&r, 3) - 1.0);
      } else {
        v = cm_scale(2, random_vec(&r));
        v.z = carom_random_below(&r, 2) ? 2 : -2;
      }
      points[i] = cm_rotate(q, cm_axpy(v, noise, random_vec(&r)));
    }
    const carom_shape *shape = hull_of(points, n);
    REQUIRE(shape);
    const carom_polytope *p = carom_shape_polytope(shape);
    double outside = outside_of(p, points, n);
    CHECK_POLYTOPE(p, 1.5e-9);
    CHECK_AT_MOST(outside, 1.5e-9);
    check_order(p, points, n);
    carom_shape_release(shape);
  }
}

// ---- thin, small, large, far ------------------------------------------------------------------

TEST(thin_solids) {
  carom_random r = carom_random_make(8, 0);
  for (int trial = 0; trial < 300; trial++) {
    carom_vec3 points[60];
    double thin = pow(10, -0.5 * (trial % 13));  // down to 1e-6
    carom_vec3 stretch = trial % 2 ? cm_vec3(1, 1, thin) : cm_vec3(1, thin, thin);
    carom_quat q = random_rotation(&r);
    int n = 4 + trial % 56;
    for (int i = 0; i < n; i++) points[i] = cm_rotate(q, cm_mul_diag(stretch, random_direction(&r)));
    const carom_shape *shape = hull_of(points, n);
    REQUIRE(shape);
    CHECK_POLYTOPE(carom_shape_polytope(shape), 1e-9);
    CHECK_AT_MOST(outside_of(carom_shape_polytope(shape), points, n), 1e-9);
    carom_shape_release(shape);
  }
}

// Plates with a cluster of nearly collinear points, on which qhull left to itself gives up ("wide facet").
TEST(plates_with_clusters) {
  carom_random r = carom_random_make(15, 0);
  for (int trial = 0; trial < 2000; trial++) {
    carom_vec3 points[200];
    int n = 20 + trial % 180;
    double wide = pow(10, carom_random_between(&r, -4, 0)), thin = pow(10, carom_random_between(&r, -8, -5));
    carom_quat q = random_rotation(&r);
    for (int i = 0; i < n; i++) {
      double angle = 1e-4 * carom_random_uniform(&r);
      points[i] = i < 6 ? random_vec(&r) : cm_vec3(cos(angle), sin(angle), carom_random_below(&r, 2));
      points[i] = cm_rotate(q, cm_mul_diag(cm_vec3(1, wide, thin), points[i]));
    }
    const carom_shape *shape = hull_of(points, n);
    REQUIRE(shape);
    const carom_polytope *p = carom_shape_polytope(shape);
    CHECK(lattice_holds(p));
    CHECK(polygons_convex(p));
    CHECK_AT_MOST(warp_of(p), 1e-9);
    carom_shape_release(shape);
  }
}

TEST(scales_alike) {
  carom_random r = carom_random_make(9, 0);
  for (int trial = 0; trial < 50; trial++) {
    carom_vec3 points[80], scaled[80];
    int n = 10 + trial;
    for (int i = 0; i < n; i++) points[i] = random_vec(&r);
    const carom_shape *reference = hull_of(points, n);
    REQUIRE(reference);
    const carom_polytope *a = carom_shape_polytope(reference);
    for (int k = -20; k <= 20; k += 4) {
      for (int i = 0; i < n; i++) scaled[i] = cm_scale(ldexp(1, k), points[i]);
      const carom_shape *shape = hull_of(scaled, n);
      REQUIRE(shape);
      const carom_polytope *b = carom_shape_polytope(shape);
      check_counts(shape, a->vertex_count, a->face_count, "scaled");
      CHECK(memcmp(a->face_vertices, b->face_vertices, sizeof(int) * 2 * (size_t)a->edge_count) == 0);
      CHECK(memcmp(a->edges, b->edges, sizeof *a->edges * (size_t)a->edge_count) == 0);
      CHECK(memcmp(a->face_normals, b->face_normals, sizeof *a->face_normals * (size_t)a->face_count) == 0);
      carom_shape_release(shape);
    }
    carom_shape_release(reference);
  }
}

TEST(far_away) {
  carom_random r = carom_random_make(10, 0);
  for (int trial = 0; trial < 100; trial++) {
    carom_vec3 points[64], offset = cm_scale(1e6, random_direction(&r));
    carom_quat q = random_rotation(&r);
    for (int i = 0; i < 64; i++) points[i] = cm_add(offset, cm_rotate(q, cm_vec3(i & 3, i >> 2 & 3, (double)(i >> 4))));
    const carom_shape *shape = hull_of(points, 64);
    REQUIRE(shape);
    check_counts(shape, 8, 6, "a far cube of 4 x 4 x 4 points");
    CHECK(lattice_holds(carom_shape_polytope(shape)));
    CHECK(polygons_convex(carom_shape_polytope(shape)));
    CHECK_AT_MOST(warp_of(carom_shape_polytope(shape)), 2e-9);
    carom_shape_release(shape);
  }
}

// Nearly coincident vertices in clusters, at distances around the tolerance.
TEST(clusters) {
  carom_random r = carom_random_make(11, 0);
  for (int trial = 0; trial < 300; trial++) {
    carom_vec3 points[96];
    double spread = pow(10, -6 - 0.05 * (trial % 200));
    for (int i = 0; i < 96; i++) {
      carom_vec3 corner = cm_vec3(i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1);
      points[i] = cm_axpy(corner, spread, random_vec(&r));
    }
    const carom_shape *shape = hull_of(points, 96);
    REQUIRE(shape);
    CHECK_POLYTOPE(carom_shape_polytope(shape), 1e-9);
    CHECK_AT_MOST(outside_of(carom_shape_polytope(shape), points, 96), 1e-9);
    carom_shape_release(shape);
  }
}

TEST(many_points) {
  enum { N = 100000 };
  carom_vec3 *points = malloc(N * sizeof *points);
  carom_random r = carom_random_make(12, 0);
  for (int i = 0; i < N; i++) points[i] = random_direction(&r);
  const carom_shape *shape = hull_of(points, N);
  REQUIRE(shape);
  const carom_polytope *p = carom_shape_polytope(shape);
  CHECK(lattice_holds(p));
  CHECK(polygons_convex(p));
  CHECK(p->vertex_count > N - 20);
  carom_shape_release(shape);
  free(points);
}

// ---- refusals ---------------------------------------------------------------------------------

static void check_refused(const carom_vec3 *points, int count, carom_status status, const char *message) {
  const carom_shape *shape = NULL;
  carom_error error = {0};
  CHECK(carom_shape_create_hull(points, count, NULL, &shape, &error) == status);
  CHECK(error.status == status);
  CHECK_TEXT(error.message, message);
  CHECK(shape == NULL);
}

TEST(refusals) {
  carom_vec3 tet[5] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {NAN, 0, 0}};
  check_refused(tet, 3, CAROM_ERR_GEOMETRY, "a hull of 3 points; a solid needs at least four");
  check_refused(NULL, 4, CAROM_ERR_GEOMETRY, "a hull of 4 points; a solid needs at least four");
  check_refused(tet, 5, CAROM_ERR_NUMBER, "point 4 is (nan, 0, 0); expected finite coordinates below 1e+100 m");
  tet[4] = cm_vec3(0, -INFINITY, 0);
  check_refused(tet, 5, CAROM_ERR_NUMBER, "point 4 is (0, -inf, 0); expected finite coordinates below 1e+100 m");
  carom_vec3 square[5] = {{0, 0, 2}, {1, 0, 2}, {1, 1, 2}, {0, 1, 2}, {0.5, 0.5, 2}};
  check_refused(
      square, 5, CAROM_ERR_GEOMETRY,
      "the 5 points lie in one plane (thickness 0 m of extent 1 m); add points outside that plane or give the "
      "plate a thickness above 1e-09 m");
  carom_vec3 line[4] = {{0, 0, 0}, {1, 1, 1}, {2, 2, 2}, {5, 5, 5}};
  check_refused(
      line, 4, CAROM_ERR_GEOMETRY,
      "the 4 points lie on one line (width 0 m of extent 5 m); a solid needs at least four points that are not in "
      "one plane");
  carom_vec3 same[4] = {{1, 2, 3}, {1, 2, 3}, {1, 2, 3}, {1, 2, 3}};
  check_refused(same, 4, CAROM_ERR_GEOMETRY, "the 4 points coincide (extent 0 m); a solid needs an extent");
}

// A turned plate gets refused below the threshold and accepted above it.
TEST(threshold_of_flatness) {
  carom_random r = carom_random_make(13, 0);
  for (int trial = 0; trial < 200; trial++) {
    carom_vec3 points[20];
    carom_quat q = random_rotation(&r);
    double thickness = trial % 2 ? 1e-10 : 1e-8;
    for (int i = 0; i < 20; i++) {
      points[i] = random_vec(&r);
      points[i].z = thickness * (i % 2);
      points[i] = cm_rotate(q, points[i]);
    }
    const carom_shape *shape = NULL;
    carom_error error = {0};
    carom_status status = carom_shape_create_hull(points, 20, NULL, &shape, &error);
    CHECK(status == (trial % 2 ? CAROM_ERR_GEOMETRY : CAROM_OK));
    if (status) CHECK_CONTAINS(error.message, "in one plane");
    if (shape) CHECK(lattice_holds(carom_shape_polytope(shape)));
    carom_shape_release(shape);
  }
}

TEST(allocation_fails) {
  carom_vec3 points[216];
  for (int i = 0; i < 216; i++) points[i] = cm_vec3(i % 6, i / 6 % 6, (double)(i / 36));
  for (int at = 0;; at++) {
    failing f = {0, at, 0};
    carom_allocator a = failing_allocator(&f);
    const carom_shape *shape = NULL;
    carom_error error = {0};
    carom_status status = carom_shape_create_hull(points, 216, &a, &shape, &error);
    if (status == CAROM_OK) {
      CHECK(at > 20);
      CHECK(f.live == 1);
      carom_shape_release(shape);
      CHECK(f.live == 0);
      break;
    }
    CHECK(status == CAROM_ERR_MEMORY);
    CHECK_CONTAINS(error.message, "out of memory");
    CHECK(f.live == 0 && shape == NULL);
    REQUIRE(at < 1000);
  }
}

// ---- threads ----------------------------------------------------------------------------------

static void *hulls_in_a_thread(void *stream) {
  carom_random r = carom_random_make(14, 0);
  uint64_t sum = 0;
  for (int trial = 0; trial < 100; trial++) {
    const carom_shape *shape = random_polytope(&r, 50);
    const carom_polytope *p = carom_shape_polytope(shape);
    for (int i = 0; i < 2 * p->edge_count; i++) sum = sum * 31 + (uint64_t)p->face_vertices[i];
    carom_shape_release(shape);
  }
  *(uint64_t *)stream = sum;
  return NULL;
}

TEST(threads_agree) {
  pthread_t threads[4];
  uint64_t sums[4];
  for (int i = 0; i < 4; i++) REQUIRE(pthread_create(&threads[i], NULL, hulls_in_a_thread, &sums[i]) == 0);
  for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
  for (int i = 1; i < 4; i++) CHECK(sums[i] == sums[0]);
}

// ---- how thin ---------------------------------------------------------------------------------

static double brute_half_depth(const carom_polytope *p) {
  double least = INFINITY;
  for (int f = 0; f < p->face_count; f++) {
    double lowest = INFINITY;
    for (int v = 0; v < p->vertex_count; v++) lowest = fmin(lowest, cm_dot(p->face_normals[f], p->vertices[v]));
    least = fmin(least, (p->face_offsets[f] - lowest) / 2);
  }
  return least;
}

// Found by climbing where there are many vertices, by looking at all of them where there are few: flat, long, round and
// tilted hulls, with and without large faces.
TEST(half_depth_is_that_of_the_thinnest_way_through) {
  carom_random r = carom_random_make(41, 0);
  for (int trial = 0; trial < 60; trial++) {
    carom_vec3 points[800], axes = cm_vec3(1, 0.02 + 0.98 * carom_random_uniform(&r), 0.01 + 2 * (trial % 3));
    carom_quat q = random_rotation(&r);
    int count = trial % 2 ? 800 : 40;
    for (int i = 0; i < count; i++) {
      carom_vec3 d = random_direction(&r);
      if (trial % 5 == 0) d.z = d.z > 0 ? 1 : -1;  // a drum
      points[i] = cm_rotate(q, cm_mul_diag(axes, d));
    }
    const carom_shape *shape = hull_of(points, count);
    REQUIRE(shape != NULL);
    double expected = brute_half_depth(carom_shape_polytope(shape));
    CHECK_NEAR(carom_shape_half_depth(shape), expected, 4e-16 * extent_of(carom_shape_polytope(shape)));
    carom_shape_release(shape);
  }
}

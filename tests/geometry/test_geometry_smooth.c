// Ellipsoids, round cylinders and cones, rounded polytopes: their mass against facets in the limit, slices, random
// sampling and the laws of volumes; refusals; memory.
#include "test_geometry.h"

#define PI 3.14159265358979323846

static carom_mass mass_of(const carom_shape *shape) {
  carom_mass mass = {0};
  carom_error error = {0};
  if (carom_shape_mass(shape, 1, &mass, &error)) test_fail(__FILE__, __LINE__, "%s", error.message);
  return mass;
}

static void check_same(carom_mass a, carom_mass b, double length, double tolerance) {
  CHECK_NEAR(a.mass, b.mass, tolerance * b.mass);
  CHECK_AT_MOST(cm_norm(cm_sub(a.center, b.center)), tolerance * length);
  CHECK_AT_MOST(norm_of(cm_msub(a.inertia, b.inertia)), tolerance * norm_of(b.inertia));
}

static const carom_shape *rounded(const carom_shape *core, double radius) {
  const carom_shape *shape = NULL;
  carom_error error = {0};
  if (carom_shape_create_rounded(core, radius, NULL, &shape, &error))
    test_fail(__FILE__, __LINE__, "%s", error.message);
  return shape;
}

// ---- smooth shapes -----------------------------------------------------------------------------

TEST(what_they_say_of_themselves) {
  const carom_shape *shape = NULL;
  REQUIRE(carom_shape_create_ellipsoid(cm_vec3(1, 3, 2), NULL, &shape, NULL) == CAROM_OK);
  CHECK(carom_shape_get_kind(shape) == CAROM_SHAPE_ELLIPSOID && carom_shape_bounding_radius(shape) == 3);
  CHECK(carom_shape_half_axes(shape).y == 3 && carom_shape_radius(shape) == 0 && !carom_shape_polytope(shape));
  carom_shape_release(shape);
  REQUIRE(carom_shape_create_cylinder(3, 8, NULL, &shape, NULL) == CAROM_OK);
  CHECK(carom_shape_get_kind(shape) == CAROM_SHAPE_CYLINDER && carom_shape_bounding_radius(shape) == 5);
  CHECK(carom_shape_half_axes(shape).x == 3 && carom_shape_half_axes(shape).z == 4 && carom_shape_radius(shape) == 0);
  carom_shape_release(shape);
  REQUIRE(carom_shape_create_cone(3, 16, NULL, &shape, NULL) == CAROM_OK);
  CHECK(carom_shape_get_kind(shape) == CAROM_SHAPE_CONE && carom_shape_bounding_radius(shape) == 12);
  CHECK(carom_shape_half_axes(shape).y == 3 && carom_shape_half_axes(shape).z == 8 &&
        carom_shape_half_length(shape) == 0);
  carom_shape_release(shape);
  REQUIRE(carom_shape_create_cone(12, 20, NULL, &shape, NULL) == CAROM_OK);
  CHECK_NEAR(carom_shape_bounding_radius(shape), 15, 1e-14);
  carom_shape_release(shape);
}

TEST(ellipsoid_by_hand) {
  const carom_shape *shape = NULL;
  REQUIRE(carom_shape_create_ellipsoid(cm_vec3(1, 2, 3), NULL, &shape, NULL) == CAROM_OK);
  check_same(mass_of(shape), (carom_mass){8 * PI, {0, 0, 0}, cm_diag3(20.8 * PI, 16 * PI, 8 * PI)}, 1, 1e-15);
  carom_shape_release(shape);
  const carom_shape *ball = NULL;
  REQUIRE(carom_shape_create_ellipsoid(cm_vec3(0.3, 0.3, 0.3), NULL, &shape, NULL) == CAROM_OK);
  REQUIRE(carom_shape_create_sphere(0.3, NULL, &ball, NULL) == CAROM_OK);
  check_same(mass_of(shape), mass_of(ball), 1, 3e-16);
  carom_shape_release(shape);
  carom_shape_release(ball);
}

static carom_mass faceted(bool cone, int sides, double radius, double height) {
  const carom_shape *shape = NULL;
  carom_status status = cone ? carom_shape_create_pyramid(sides, radius, height, NULL, &shape, NULL)
                             : carom_shape_create_prism(sides, radius, height, NULL, &shape, NULL);
  CHECK(status == CAROM_OK);
  carom_mass m = mass_of(shape);
  carom_shape_release(shape);
  return m;
}

// An n-gon differs from its circle by even powers of 1/n: two steps of Richardson's extrapolation leave n^-6.
static double limit(double n, double n2, double n4) {
  double a = (4 * n2 - n) / 3, b = (4 * n4 - n2) / 3;
  return (16 * b - a) / 15;
}

TEST(cylinder_and_cone_are_limits_of_facets) {
  for (int cone = 0; cone < 2; cone++) {
    double radius = 0.7, height = cone ? 2.1 : 0.4;
    const carom_shape *shape = NULL;
    if (cone)
      REQUIRE(carom_shape_create_cone(radius, height, NULL, &shape, NULL) == CAROM_OK);
    else
      REQUIRE(carom_shape_create_cylinder(radius, height, NULL, &shape, NULL) == CAROM_OK);
    carom_mass m = mass_of(shape), f[3];
    for (int i = 0; i < 3; i++) f[i] = faceted(cone != 0, 256 << i, radius, height);
    CHECK_NEAR(m.mass, limit(f[0].mass, f[1].mass, f[2].mass), 1e-13 * m.mass);
    for (int k = 0; k < 3; k++) {
      double expected = limit(f[0].inertia.m[k][k], f[1].inertia.m[k][k], f[2].inertia.m[k][k]);
      CHECK_NEAR(m.inertia.m[k][k], expected, 1e-13 * expected);
    }
    CHECK(cm_norm(m.center) == 0);
    carom_shape_release(shape);
  }
}

// ---- rounded polytopes -------------------------------------------------------------------------

// A slice of the rounded box |x| <= A, |y| <= B at a height where the rounding is s.
static double slice_area(double A, double B, double s) { return 4 * A * B + 4 * (A + B) * s + PI * s * s; }

// int |z|^k over the rounded box, slice by slice; above C the rounding shrinks as r cos(t) at z = C + r sin(t). Eight
// panels of Gauss and Legendre with five points (Abramowitz and Stegun 1964, table 25.4).
static double slices(double A, double B, double C, double r, int k) {
  static const double at[3] = {0, 0.538469310105683091036, 0.906179845938663992798};
  static const double weight[3] = {0.568888888888888888889, 0.478628670499366468042, 0.236926885056189087514};
  double sum = slice_area(A, B, r) * pow(C, k + 1) / (k + 1), width = PI / 2 / 32;
  for (int panel = 0; panel < 32; panel++) {
    for (int i = -2; i <= 2; i++) {
      double t = (panel + 0.5) * width + (i < 0 ? -1 : 1) * at[abs(i)] * width / 2;
      sum += width / 2 * weight[abs(i)] * pow(C + r * sin(t), k) * slice_area(A, B, r * cos(t)) * r * cos(t);
    }
  }
  return 2 * sum;
}

TEST(rounded_boxes_by_slices) {
  carom_random random = carom_random_make(3, 0);
  double worst = 0;
  for (int trial = 0; trial < 100; trial++) {
    double A = pow(10, carom_random_between(&random, -2, 1)), B = pow(10, carom_random_between(&random, -2, 1));
    double C = pow(10, carom_random_between(&random, -2, 1)), r = pow(10, carom_random_between(&random, -3, 1));
    const carom_shape *box = NULL;
    REQUIRE(carom_shape_create_box(cm_vec3(2 * A, 2 * B, 2 * C), NULL, &box, NULL) == CAROM_OK);
    const carom_shape *shape = rounded(box, r);
    carom_mass m = mass_of(shape);
    double volume = slices(A, B, C, r, 0), x = slices(B, C, A, r, 2), y = slices(C, A, B, r, 2),
           z = slices(A, B, C, r, 2);
    carom_mass expected = {volume, {0, 0, 0}, cm_diag3(y + z, z + x, x + y)};
    check_same(m, expected, A + B + C + r, 1e-13);
    worst = max2(worst, norm_of(cm_msub(m.inertia, expected.inertia)) / norm_of(expected.inertia));
    double steiner =
        8 * A * B * C + 8 * (A * B + B * C + C * A) * r + 2 * PI * (A + B + C) * r * r + 4 * PI / 3 * r * r * r;
    CHECK_NEAR(m.mass, steiner, 4e-16 * steiner);
    CHECK_NEAR(carom_shape_bounding_radius(shape), sqrt(A * A + B * B + C * C) + r, 1e-15 * (A + B + C + r));
    carom_shape_release(shape);
    carom_shape_release(box);
  }
  printf("worst relative error of the inertia %.2g\n", worst);
}

// Between what a tiny and what a huge rounding leave: the core, and a ball.
TEST(rounding_between_core_and_ball) {
  carom_random random = carom_random_make(4, 0);
  const carom_shape *core = random_polytope(&random, 20), *thin = rounded(core, 1e-13), *fat = rounded(core, 1e6);
  const carom_shape *ball = NULL;
  check_same(mass_of(thin), mass_of(core), 1, 3e-12);
  REQUIRE(carom_shape_create_sphere(1e6, NULL, &ball, NULL) == CAROM_OK);
  check_same(mass_of(fat), mass_of(ball), 1e6, 1e-5);
  const carom_shape *half = rounded(core, 0.1), *again = rounded(half, 0.2), *once = rounded(core, 0.1 + 0.2);
  CHECK(carom_shape_get_kind(again) == CAROM_SHAPE_POLYTOPE && carom_shape_radius(again) == 0.1 + 0.2);
  check_same(mass_of(again), mass_of(once), 1, 0);
  const carom_polytope *p = carom_shape_polytope(core), *q = carom_shape_polytope(once);
  CHECK(p->vertex_count == q->vertex_count && p->face_count == q->face_count);
  CHECK(memcmp(p->vertices, q->vertices, sizeof *p->vertices * (size_t)p->vertex_count) == 0);
  const carom_shape *all[] = {core, thin, fat, ball, half, again, once};
  for (int i = 0; i < 7; i++) carom_shape_release(all[i]);
}

// What lies between two planes across z.
static const carom_shape *cut(const carom_polytope *p, double low, double high) {
  carom_vec3 points[2000];
  int n = 0;
  for (int i = 0; i < p->vertex_count; i++)
    if (p->vertices[i].z > low && p->vertices[i].z < high) points[n++] = p->vertices[i];
  for (int e = 0; e < p->edge_count; e++) {
    carom_vec3 a = p->vertices[p->edges[e].v[0]], b = p->vertices[p->edges[e].v[1]];
    for (int k = 0; k < 2; k++) {
      double t = ((k == 0 ? low : high) - a.z) / (b.z - a.z);
      if (t > 0 && t < 1) points[n] = cm_lerp(a, b, t), points[n++].z = k == 0 ? low : high;
    }
  }
  const carom_shape *shape = NULL;
  CHECK(carom_shape_create_hull(points, n, NULL, &shape, NULL) == CAROM_OK);
  return shape;
}

// int 1, int r, int r r' about the origin, as a vector.
static void moments(const carom_shape *shape, double m[10]) {
  carom_mass mass = mass_of(shape);
  double trace = cm_trace(mass.inertia) / 2, c[3] = {mass.center.x, mass.center.y, mass.center.z};
  int n = 0;
  m[n++] = mass.mass;
  for (int i = 0; i < 3; i++) {
    m[n++] = mass.mass * c[i];
    for (int j = i; j < 3; j++) m[n++] = (i == j ? trace : 0) - mass.inertia.m[i][j] + mass.mass * c[i] * c[j];
  }
}

// Cut a solid by two parallel planes: lower part + upper part = whole + what both share. Rounding keeps unions and
// intersections of such parts, so the same holds of the rounded ones, moment by moment.
TEST(rounded_parts_add_up) {
  carom_random random = carom_random_make(5, 0);
  double worst = 0;
  for (int trial = 0; trial < 200; trial++) {
    const carom_shape *core = random_polytope(&random, 5 + trial % 40);
    const carom_polytope *p = carom_shape_polytope(core);
    double low = 1, high = -1, r = pow(10, carom_random_between(&random, -2, 0.3));
    for (int i = 0; i < p->vertex_count; i++) low = fmin(low, p->vertices[i].z), high = fmax(high, p->vertices[i].z);
    double first = low + 0.35 * (high - low), second = low + 0.6 * (high - low);
    const carom_shape *cores[4] = {cut(p, -9, second), cut(p, first, 9), carom_shape_retain(core),
                                   cut(p, first, second)};
    double m[4][10];
    for (int i = 0; i < 4; i++) {
      const carom_shape *round = rounded(cores[i], r);
      moments(round, m[i]);
      carom_shape_release(round);
      carom_shape_release(cores[i]);
    }
    for (int k = 0; k < 10; k++) {
      double error = fabs(m[0][k] + m[1][k] - m[2][k] - m[3][k]) / (m[2][0] * (1 + r * r));
      worst = max2(worst, error);
      CHECK_AT_MOST(error, 1e-12);
    }
    carom_shape_release(core);
  }
  printf("worst relative defect %.2g\n", worst);
}

// Squared distance from a point to a triangle, by trying its plane, its sides and its corners.
static double to_segment2(carom_vec3 x, carom_vec3 a, carom_vec3 b) {
  carom_vec3 d = cm_sub(b, a);
  double t = fmax(0, fmin(1, cm_dot(cm_sub(x, a), d) / cm_norm2(d)));
  return cm_norm2(cm_sub(x, cm_axpy(a, t, d)));
}

static double to_triangle2(carom_vec3 x, carom_vec3 a, carom_vec3 b, carom_vec3 c) {
  carom_vec3 n = cm_unit(cm_cross(cm_sub(b, a), cm_sub(c, a)));
  double h = cm_dot(n, cm_sub(x, a)),
         best = fmin(to_segment2(x, a, b), fmin(to_segment2(x, b, c), to_segment2(x, c, a)));
  bool inside = cm_dot(n, cm_cross(cm_sub(b, a), cm_sub(x, a))) >= 0 &&
                cm_dot(n, cm_cross(cm_sub(c, b), cm_sub(x, b))) >= 0 &&
                cm_dot(n, cm_cross(cm_sub(a, c), cm_sub(x, c))) >= 0;
  return inside ? fmin(best, h * h) : best;
}

static bool is_within(const carom_polytope *p, carom_vec3 x, double r) {
  bool inside = true;
  for (int f = 0; f < p->face_count; f++) inside = inside && cm_dot(p->face_normals[f], x) <= p->face_offsets[f];
  for (int f = 0; f < p->face_count && !inside; f++) {
    const int *c = p->face_vertices + p->face_start[f];
    for (int i = 1; i + 1 < p->face_start[f + 1] - p->face_start[f] && !inside; i++)
      inside = to_triangle2(x, p->vertices[c[0]], p->vertices[c[i]], p->vertices[c[i + 1]]) <= r * r;
  }
  return inside;
}

static bool contains(const carom_shape *s, carom_vec3 x) {
  carom_vec3 a = carom_shape_half_axes(s);
  double rho = hypot(x.x, x.y), h = 2 * a.z;
  switch (carom_shape_get_kind(s)) {
    case CAROM_SHAPE_ELLIPSOID:
      return x.x * x.x / (a.x * a.x) + x.y * x.y / (a.y * a.y) + x.z * x.z / (a.z * a.z) <= 1;
    case CAROM_SHAPE_CYLINDER:
      return rho <= a.x && fabs(x.z) <= a.z;
    case CAROM_SHAPE_CONE:
      return x.z >= -h / 4 && rho <= a.x * (0.75 * h - x.z) / h;
    default:
      return is_within(carom_shape_polytope(s), x, carom_shape_radius(s));
  }
}

// Each moment is the mean of g over a cube with side 2L; its standard deviation is known from the samples.
static void sample(const carom_shape *shape, int count, unsigned stream, double *worst) {
  carom_random random = carom_random_make(6, stream);
  double L = carom_shape_bounding_radius(shape), sum[10] = {0}, square[10] = {0}, exact[10];
  for (int k = 0; k < count; k++) {
    carom_vec3 u = cm_scale(L, random_vec(&random));
    if (!contains(shape, u)) continue;
    double x[3] = {u.x, u.y, u.z}, g[10];
    int n = 0;
    g[n++] = 1;
    for (int i = 0; i < 3; i++) {
      g[n++] = x[i];
      for (int j = i; j < 3; j++) g[n++] = x[i] * x[j];
    }
    for (int i = 0; i < 10; i++) sum[i] += g[i], square[i] += g[i] * g[i];
  }
  moments(shape, exact);
  double cube = 8 * L * L * L;
  for (int i = 0; i < 10; i++) {
    double mean = sum[i] / count, sigma = sqrt((square[i] / count - mean * mean) / count);
    double off = fabs(mean * cube - exact[i]) / (sigma * cube);
    *worst = max2(*worst, off);
    CHECK_AT_MOST(off, 4.5);
  }
}

TEST(monte_carlo) {
  carom_random random = carom_random_make(7, 0);
  const carom_shape *s[7] = {NULL}, *tetrahedron = NULL, *pyramid = NULL, *hull = random_polytope(&random, 12);
  REQUIRE(carom_shape_create_ellipsoid(cm_vec3(0.5, 1, 0.7), NULL, &s[0], NULL) == CAROM_OK);
  REQUIRE(carom_shape_create_cylinder(0.6, 1.5, NULL, &s[1], NULL) == CAROM_OK);
  REQUIRE(carom_shape_create_cone(0.9, 1.4, NULL, &s[2], NULL) == CAROM_OK);
  REQUIRE(carom_shape_create_tetrahedron(1, NULL, &tetrahedron, NULL) == CAROM_OK);
  REQUIRE(carom_shape_create_pyramid(5, 1, 0.8, NULL, &pyramid, NULL) == CAROM_OK);
  s[3] = rounded(tetrahedron, 0.5), s[4] = rounded(pyramid, 0.2), s[5] = rounded(hull, 0.1), s[6] = rounded(hull, 0.8);
  double worst = 0;
  for (int i = 0; i < 7; i++) {
    sample(s[i], i < 3 ? 1000000 : 200000, (unsigned)i, &worst);
    carom_shape_release(s[i]);
  }
  printf("furthest off by %.2g standard deviations\n", worst);
  carom_shape_release(tetrahedron);
  carom_shape_release(pyramid);
  carom_shape_release(hull);
}

// A solid and the same solid turned and shifted, vertex by vertex.
TEST(rounded_moves_with_the_solid) {
  carom_random random = carom_random_make(8, 0);
  for (int trial = 0; trial < 100; trial++) {
    carom_vec3 points[30], moved[30];
    carom_pose pose = cm_pose(cm_scale(5, random_vec(&random)), random_rotation(&random));
    for (int i = 0; i < 30; i++) points[i] = random_vec(&random), moved[i] = cm_transform(pose, points[i]);
    const carom_shape *a = NULL, *b = NULL;
    REQUIRE(carom_shape_create_hull(points, 30, NULL, &a, NULL) == CAROM_OK);
    REQUIRE(carom_shape_create_hull(moved, 30, NULL, &b, NULL) == CAROM_OK);
    const carom_shape *ra = rounded(a, 0.4), *rb = rounded(b, 0.4);
    check_same(mass_of(rb), carom_mass_transform(mass_of(ra), pose), 1, 1e-13);
    carom_shape_release(a);
    carom_shape_release(b);
    carom_shape_release(ra);
    carom_shape_release(rb);
  }
}

// ---- refusals and memory -----------------------------------------------------------------------

TEST(refusals) {
  carom_error error = {0};
  const carom_shape *shape = NULL, *ball = NULL, *box = NULL;
  CHECK(carom_shape_create_ellipsoid(cm_vec3(1, -2, 3), NULL, &shape, &error) == CAROM_ERR_ARGUMENT);
  CHECK_CONTAINS(error.message, "half axis y of the ellipsoid is -2");
  CHECK(carom_shape_create_ellipsoid(cm_vec3(1, 2, NAN), NULL, &shape, &error) == CAROM_ERR_ARGUMENT);
  CHECK(carom_shape_create_cylinder(0, 1, NULL, &shape, &error) == CAROM_ERR_ARGUMENT);
  CHECK_CONTAINS(error.message, "the radius of the cylinder");
  CHECK(carom_shape_create_cone(1, 1e200, NULL, &shape, &error) == CAROM_ERR_NUMBER);
  CHECK_CONTAINS(error.message, "the height of the cone");
  REQUIRE(carom_shape_create_sphere(1, NULL, &ball, NULL) == CAROM_OK);
  REQUIRE(carom_shape_create_box(cm_vec3(1, 1, 1), NULL, &box, NULL) == CAROM_OK);
  CHECK(carom_shape_create_rounded(ball, 1, NULL, &shape, &error) == CAROM_ERR_ARGUMENT);
  CHECK_CONTAINS(error.message, "only a shape with flat faces can be rounded");
  CHECK(carom_shape_create_rounded(NULL, 1, NULL, &shape, &error) == CAROM_ERR_ARGUMENT);
  CHECK(carom_shape_create_rounded(box, 0, NULL, &shape, &error) == CAROM_ERR_ARGUMENT);
  CHECK_CONTAINS(error.message, "the radius of the rounding is 0");
  CHECK(shape == NULL);
  carom_shape_release(ball);
  carom_shape_release(box);
}

TEST(every_allocation_may_fail) {
  const carom_shape *box = NULL;
  REQUIRE(carom_shape_create_box(cm_vec3(1, 1, 1), NULL, &box, NULL) == CAROM_OK);
  for (int kind = 0; kind < 4; kind++) {
    for (int n = 0;; n++) {
      failing f = {0, n, 0};
      carom_allocator a = failing_allocator(&f);
      const carom_shape *shape = NULL;
      carom_error error = {0};
      carom_status status = kind == 0   ? carom_shape_create_ellipsoid(cm_vec3(1, 2, 3), &a, &shape, &error)
                            : kind == 1 ? carom_shape_create_cylinder(1, 2, &a, &shape, &error)
                            : kind == 2 ? carom_shape_create_cone(1, 2, &a, &shape, &error)
                                        : carom_shape_create_rounded(box, 0.1, &a, &shape, &error);
      CHECK(status == (f.calls > n ? CAROM_ERR_MEMORY : CAROM_OK) && (shape != NULL) == (status == CAROM_OK));
      carom_shape_release(shape);
      CHECK(f.live == 0);
      if (status == CAROM_OK) break;
    }
  }
  carom_shape_release(box);
}

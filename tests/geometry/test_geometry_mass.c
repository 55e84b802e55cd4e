// Mass properties: against closed forms, a second way of integrating, random sampling, and the laws that any mass
// obeys.
#include "test_geometry.h"

#define PI 3.14159265358979323846

static carom_mass mass_of(const carom_shape *shape, double density) {
  carom_mass mass = {0};
  carom_error error = {0};
  if (carom_shape_mass(shape, density, &mass, &error)) test_fail(__FILE__, __LINE__, "%s", error.message);
  return mass;
}

static void check_same(carom_mass a, carom_mass b, double length, double tolerance) {
  CHECK_NEAR(a.mass, b.mass, tolerance * b.mass);
  CHECK_AT_MOST(cm_norm(cm_sub(a.center, b.center)), tolerance * length);
  CHECK_AT_MOST(norm_of(cm_msub(a.inertia, b.inertia)), tolerance * norm_of(b.inertia));
}

// ---- closed forms -----------------------------------------------------------------------------

// Through the general polyhedron path, to the last bits.
TEST(cube_to_the_last_bits) {
  carom_random r = carom_random_make(1, 0);
  for (int trial = 0; trial < 2000; trial++) {
    double s = trial == 0 ? 1 : pow(10, carom_random_between(&r, -3, 3)), density = carom_random_between(&r, 1, 9000);
    const carom_shape *shape = NULL;
    REQUIRE(carom_shape_create_box(cm_vec3(s, s, s), NULL, &shape, NULL) == CAROM_OK);
    carom_mass m = mass_of(shape, density);
    long double volume = (long double)s * s * s;
    double expected = (double)(density * volume * s * s / 6);
    CHECK_NEAR(m.mass, (double)(density * volume), 2.3e-16 * m.mass);
    CHECK(m.center.x == 0 && m.center.y == 0 && m.center.z == 0);
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++) CHECK_NEAR(m.inertia.m[i][j], i == j ? expected : 0, i == j ? 2.3e-16 * expected : 0);
    carom_shape_release(shape);
  }
}

TEST(closed_forms) {
  const carom_shape *shape = NULL;
  REQUIRE(carom_shape_create_box(cm_vec3(1, 2, 3), NULL, &shape, NULL) == CAROM_OK);
  carom_mass m = mass_of(shape, 2);
  check_same(m, (carom_mass){12, {0, 0, 0}, cm_diag3(13, 10, 5)}, 1, 3e-16);
  carom_shape_release(shape);

  double a = 1.7;  // tetrahedron: m a^2/20; octahedron: m a^2/10
  REQUIRE(carom_shape_create_tetrahedron(a, NULL, &shape, NULL) == CAROM_OK);
  m = mass_of(shape, 1);
  double i = m.mass * a * a / 20;
  check_same(m, (carom_mass){a * a * a / sqrt(72), {0, 0, 0}, cm_diag3(i, i, i)}, 1, 1e-15);
  carom_shape_release(shape);
  REQUIRE(carom_shape_create_octahedron(a, NULL, &shape, NULL) == CAROM_OK);
  m = mass_of(shape, 1);
  i = m.mass * a * a / 10;
  check_same(m, (carom_mass){a * a * a * sqrt(2) / 3, {0, 0, 0}, cm_diag3(i, i, i)}, 1, 1e-15);
  carom_shape_release(shape);

  double r = 0.3;
  REQUIRE(carom_shape_create_sphere(r, NULL, &shape, NULL) == CAROM_OK);
  m = mass_of(shape, 1000);
  double ball = 1000 * 4 * PI * r * r * r / 3;
  i = 0.4 * ball * r * r;
  check_same(m, (carom_mass){ball, {0, 0, 0}, cm_diag3(i, i, i)}, 1, 5e-16);
  carom_shape_release(shape);
}

// Regular n-gon of circumradius R about its axis: m R^2 (1/2 - sin^2(pi/n)/3), half of it across; the prism adds
// m h^2/12 across. The pyramid's moments are 3/5 of the prism's, with h^2 3/80 across.
TEST(prisms_and_pyramids) {
  for (int n = 3; n < 40; n++) {
    double R = 0.8, h = 2.1, s = sin(PI / n), polygon = R * R * (0.5 - s * s / 3);
    const carom_shape *shape = NULL;
    REQUIRE(carom_shape_create_prism(n, R, h, NULL, &shape, NULL) == CAROM_OK);
    carom_mass m = mass_of(shape, 1);
    double volume = n * R * R * sin(2 * PI / n) / 2 * h, across = volume * (polygon / 2 + h * h / 12);
    check_same(m, (carom_mass){volume, {0, 0, 0}, cm_diag3(across, across, volume * polygon)}, 1, 2e-15);
    carom_shape_release(shape);
    REQUIRE(carom_shape_create_pyramid(n, R, h, NULL, &shape, NULL) == CAROM_OK);
    m = mass_of(shape, 1);
    volume /= 3;
    across = volume * (0.3 * polygon + 3 * h * h / 80);
    check_same(m, (carom_mass){volume, {0, 0, 0}, cm_diag3(across, across, 0.6 * volume * polygon)}, 1, 2e-15);
    carom_shape_release(shape);
  }
}

// A capsule by Simpson's rule along its axis, whose error for a stack of discs falls as the fourth power.
TEST(capsule) {
  const double radii[] = {0.1, 1, 2.5}, lengths[] = {0, 0.3, 4};
  for (int i = 0; i < 9; i++) {
    double r = radii[i % 3], l = lengths[i / 3];
    long double mass = (long double)PI * r * r * l, along = mass * r * r / 2;
    long double across = mass * ((long double)r * r / 4 + (long double)l * l / 12);
    int steps = 4000;
    for (int k = 0; k <= steps; k++) {  // both caps at once; z from the cap's own base
      long double z = (long double)r * k / steps, d2 = (long double)r * r - z * z,
                  w = k == 0 || k == steps ? 1
                      : k % 2              ? 4
                                           : 2;
      long double dm = 2 * w * (long double)PI * d2 * r / steps / 3, at = z + l / 2;
      mass += dm;
      along += dm * d2 / 2;
      across += dm * (d2 / 4 + at * at);
    }
    const carom_shape *shape = NULL;
    REQUIRE(carom_shape_create_capsule(r, l, NULL, &shape, NULL) == CAROM_OK);
    carom_mass m = mass_of(shape, 1);
    check_same(m, (carom_mass){(double)mass, {0, 0, 0}, cm_diag3((double)across, (double)across, (double)along)}, 1,
               1e-12);
    carom_shape_release(shape);
  }
}

// ---- a second way of integrating --------------------------------------------------------------

// Tetrahedra from one of the vertices (not from the middle), each by the four-point rule that is exact for quadratics
// (Keast 1986): weights V/4 at the points with coordinates (5 + 3 sqrt 5)/20 once and (5 - sqrt 5)/20 thrice.
typedef struct sums {
  long double m, c[3], s[3][3];
} sums;

static void add_quadrature(sums *t, const long double v[4][3]) {
  long double e[3][3];
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++) e[i][k] = v[i + 1][k] - v[0][k];
  long double volume =
      (e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) - e[0][1] * (e[1][0] * e[2][2] - e[1][2] * e[2][0]) +
       e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0])) /
      6;
  const long double root = sqrtl(5), once = (5 + 3 * root) / 20, thrice = (5 - root) / 20;
  for (int q = 0; q < 4; q++) {
    long double x[3] = {0};
    for (int i = 0; i < 4; i++)
      for (int k = 0; k < 3; k++) x[k] += (i == q ? once : thrice) * v[i][k];
    t->m += volume / 4;
    for (int k = 0; k < 3; k++) t->c[k] += volume / 4 * x[k];
    for (int k = 0; k < 3; k++)
      for (int l = 0; l < 3; l++) t->s[k][l] += volume / 4 * x[k] * x[l];
  }
}

static void relative(long double *to, carom_vec3 v, carom_vec3 o) {
  to[0] = (long double)v.x - (long double)o.x;
  to[1] = (long double)v.y - (long double)o.y;
  to[2] = (long double)v.z - (long double)o.z;
}

static carom_mass by_quadrature(const carom_polytope *p, double density) {
  sums t = {0};
  carom_vec3 o = p->vertices[0];
  for (int f = 0; f < p->face_count; f++) {
    const int *c = p->face_vertices + p->face_start[f];
    int n = p->face_start[f + 1] - p->face_start[f];
    for (int i = 1; i + 1 < n; i++) {  // fanned from the last corner, so that the triangles differ too
      long double v[4][3] = {{0}};
      relative(v[1], p->vertices[c[n - 1]], o);
      relative(v[2], p->vertices[c[i - 1]], o);
      relative(v[3], p->vertices[c[i]], o);
      add_quadrature(&t, (const long double(*)[3])v);
    }
  }
  carom_mass m = {(double)(density * t.m), cm_zero3(), {{{0}}}};
  long double c[3], s[3][3];
  for (int k = 0; k < 3; k++) c[k] = t.c[k] / t.m;
  for (int k = 0; k < 3; k++)
    for (int l = 0; l < 3; l++) s[k][l] = density * (t.s[k][l] - t.m * c[k] * c[l]);
  for (int k = 0; k < 3; k++)
    for (int l = 0; l < 3; l++) m.inertia.m[k][l] = (double)((k == l ? s[0][0] + s[1][1] + s[2][2] : 0) - s[k][l]);
  m.center = cm_vec3((double)(o.x + c[0]), (double)(o.y + c[1]), (double)(o.z + c[2]));
  return m;
}

TEST(thousand_random_polytopes) {
  carom_random r = carom_random_make(2, 0);
  for (int trial = 0; trial < 1000; trial++) {
    const carom_shape *shape = random_polytope(&r, 4 + trial % 60);
    REQUIRE(shape);
    double density = carom_random_between(&r, 0.1, 8000);
    check_same(mass_of(shape, density), by_quadrature(carom_shape_polytope(shape), density), 1, 1e-12);
    carom_shape_release(shape);
  }
}

// Needles, plates, and solids a long way from the origin.
TEST(random_thin_and_far) {
  carom_random r = carom_random_make(3, 0);
  for (int trial = 0; trial < 300; trial++) {
    carom_vec3 points[40], offset = cm_scale(trial % 2 ? 1e4 : 0, random_direction(&r));
    double thin = pow(10, -0.5 * (trial % 8));
    carom_vec3 stretch = trial % 3 ? cm_vec3(1, 1, thin) : cm_vec3(1, thin, thin);
    carom_quat q = random_rotation(&r);
    for (int i = 0; i < 40; i++) points[i] = cm_add(offset, cm_rotate(q, cm_mul_diag(stretch, random_direction(&r))));
    const carom_shape *shape = NULL;
    REQUIRE(carom_shape_create_hull(points, 40, NULL, &shape, NULL) == CAROM_OK);
    check_same(mass_of(shape, 3), by_quadrature(carom_shape_polytope(shape), 3), 1 + 1e-3 * cm_norm(offset), 1e-12);
    carom_shape_release(shape);
  }
}

// Crude, but knows nothing of tetrahedra: count random points behind all planes.
TEST(monte_carlo) {
  carom_random r = carom_random_make(4, 0);
  for (int trial = 0; trial < 3; trial++) {
    const carom_shape *shape = random_polytope(&r, 12);
    REQUIRE(shape);
    const carom_polytope *p = carom_shape_polytope(shape);
    int n = 100000, inside = 0;
    carom_vec3 first = cm_zero3();
    carom_mat3 second = cm_diag3(0, 0, 0);
    for (int i = 0; i < n; i++) {
      carom_vec3 x = random_vec(&r);
      if (outside_of(p, &x, 1) > 0) continue;
      inside++;
      first = cm_add(first, x);
      second = cm_madd(second, cm_outer(x, x));
    }
    carom_mass m = mass_of(shape, 1);
    carom_vec3 center = cm_scale(1.0 / inside, first);
    CHECK_NEAR(m.mass, 8.0 * inside / n, 0.04 * m.mass);
    CHECK_AT_MOST(cm_norm(cm_sub(m.center, center)), 0.02);
    carom_mat3 S = cm_mscale(8.0 / n, cm_msub(second, cm_mscale(inside, cm_outer(center, center))));
    carom_mat3 inertia = cm_msub(cm_diag3(cm_trace(S), cm_trace(S), cm_trace(S)), S);
    CHECK_AT_MOST(norm_of(cm_msub(inertia, m.inertia)), 0.05 * norm_of(inertia));
    carom_shape_release(shape);
  }
}

// ---- laws -------------------------------------------------------------------------------------

TEST(moves_with_the_solid) {
  carom_random r = carom_random_make(5, 0);
  for (int trial = 0; trial < 200; trial++) {
    const carom_shape *shape = random_polytope(&r, 20), *moved = NULL;
    REQUIRE(shape);
    const carom_polytope *p = carom_shape_polytope(shape);
    carom_pose pose = cm_pose(cm_scale(5, random_vec(&r)), random_rotation(&r));
    carom_vec3 points[20];
    for (int i = 0; i < p->vertex_count; i++) points[i] = cm_transform(pose, p->vertices[i]);
    REQUIRE(carom_shape_create_hull(points, p->vertex_count, NULL, &moved, NULL) == CAROM_OK);
    check_same(carom_mass_transform(mass_of(shape, 7), pose), mass_of(moved, 7), 1, 1e-13);
    carom_shape_release(shape);
    carom_shape_release(moved);
  }
}

TEST(transform_by_identity_keeps_bits) {
  carom_random r = carom_random_make(6, 0);
  const carom_shape *shape = random_polytope(&r, 20);
  REQUIRE(shape);
  carom_mass a = mass_of(shape, 7), b = carom_mass_transform(a, cm_pose_identity());
  CHECK(memcmp(&a, &b, sizeof a) == 0);
  carom_shape_release(shape);
}

// Cuts a polytope by a plane; the two halves together are the whole.
static int half(const carom_polytope *p, carom_vec3 n, double d, carom_vec3 *points) {
  int count = 0;
  for (int i = 0; i < p->vertex_count; i++)
    if (cm_dot(n, p->vertices[i]) >= d) points[count++] = p->vertices[i];
  for (int e = 0; e < p->edge_count; e++) {
    carom_vec3 a = p->vertices[p->edges[e].v[0]], b = p->vertices[p->edges[e].v[1]];
    double fa = cm_dot(n, a) - d, fb = cm_dot(n, b) - d;
    if (fa * fb < 0) points[count++] = cm_lerp(a, b, fa / (fa - fb));
  }
  return count;
}

TEST(parts_add_up) {
  carom_random r = carom_random_make(7, 0);
  for (int trial = 0; trial < 200; trial++) {
    const carom_shape *whole = random_polytope(&r, 30), *a = NULL, *b = NULL;
    REQUIRE(whole);
    const carom_polytope *p = carom_shape_polytope(whole);
    carom_vec3 n = random_direction(&r), points[200];
    double d = carom_random_between(&r, -0.2, 0.2);
    REQUIRE(carom_shape_create_hull(points, half(p, n, d, points), NULL, &a, NULL) == CAROM_OK);
    REQUIRE(carom_shape_create_hull(points, half(p, cm_neg(n), -d, points), NULL, &b, NULL) == CAROM_OK);
    carom_mass sum = carom_mass_add(mass_of(a, 2), mass_of(b, 2));
    check_same(sum, mass_of(whole, 2), 1, 1e-9);  // vertices within 1e-10 of a face may have gone
    carom_shape_release(whole);
    carom_shape_release(a);
    carom_shape_release(b);
  }
}

TEST(parallel_axes) {
  carom_mass point = {3, {1, 2, 3}, {{{0}}}}, other = {5, {-1, 0, 4}, {{{0}}}};
  carom_mass sum = carom_mass_add(point, other);
  CHECK(sum.mass == 8);
  CHECK_NEAR(sum.center.x, -0.25, 1e-16);
  CHECK_NEAR(sum.center.y, 0.75, 1e-16);
  CHECK_NEAR(sum.center.z, 3.625, 1e-15);
  // reduced mass 15/8, d = (-2, -2, 1): |d|^2 = 9
  const double expected[3][3] = {{5, -4, 2}, {-4, 5, 2}, {2, 2, 8}};
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) CHECK_NEAR(sum.inertia.m[i][j], 15.0 / 8 * expected[i][j], 1e-14);
  carom_mass nothing = {0}, same = carom_mass_add(nothing, point);
  CHECK(same.mass == 3 && same.center.x == 1 && same.center.y == 2 && same.center.z == 3);
  same = carom_mass_add(nothing, nothing);
  CHECK(same.mass == 0 && same.center.x == 0);
}

// ---- principal axes ---------------------------------------------------------------------------

TEST(principal_frame) {
  carom_random r = carom_random_make(8, 0);
  for (int trial = 0; trial < 300; trial++) {
    const carom_shape *shape = random_polytope(&r, 4 + trial % 30);
    REQUIRE(shape);
    carom_mass m = mass_of(shape, 1);
    carom_vec3 moments;
    carom_pose frame;
    carom_mass_principal(m, &moments, &frame);
    CHECK(moments.x <= moments.y && moments.y <= moments.z && moments.x > 0);
    CHECK_NEAR(cm_qdot(frame.q, frame.q), 1, 1e-15);
    CHECK(memcmp(&frame.p, &m.center, sizeof m.center) == 0);
    carom_mat3 R = cm_rotation(frame.q);
    carom_mat3 again = cm_mmul(R, cm_mmul(cm_diag3(moments.x, moments.y, moments.z), cm_transpose(R)));
    CHECK_AT_MOST(norm_of(cm_msub(again, m.inertia)), 5e-15 * norm_of(m.inertia));
    carom_shape_release(shape);
  }
}

TEST(diagonal_inertia_keeps_its_axes) {
  carom_mass m = {2, {1, 2, 3}, cm_diag3(9, 4, 7)};
  carom_vec3 moments;
  carom_pose frame;
  carom_mass_principal(m, &moments, &frame);
  CHECK(moments.x == 9 && moments.y == 4 && moments.z == 7);
  CHECK(frame.q.w == 1 && frame.q.x == 0 && frame.q.y == 0 && frame.q.z == 0);
  CHECK(frame.p.x == 1 && frame.p.y == 2 && frame.p.z == 3);
  const carom_shape *shape = NULL;  // equal moments and off-diagonal rounding must not turn the frame
  REQUIRE(carom_shape_create_prism(7, 1, 2, NULL, &shape, NULL) == CAROM_OK);
  carom_mass_principal(mass_of(shape, 1), &moments, &frame);
  CHECK(frame.q.w == 1);
  carom_shape_release(shape);
}

// ---- refusals ---------------------------------------------------------------------------------

static void check_refused(const carom_shape *shape, double density, carom_status status, const char *text) {
  carom_mass mass = {.mass = 42};
  carom_error error = {0};
  CHECK(carom_shape_mass(shape, density, &mass, &error) == status);
  CHECK_TEXT(error.message, text);
  CHECK(mass.mass == 42);
}

TEST(refusals) {
  const carom_shape *shape = NULL;
  REQUIRE(carom_shape_create_halfspace(NULL, &shape, NULL) == CAROM_OK);
  check_refused(shape, 1, CAROM_ERR_GEOMETRY, "a half-space has no finite mass; use it for a fixed body");
  carom_shape_release(shape);
  REQUIRE(carom_shape_create_sphere(1, NULL, &shape, NULL) == CAROM_OK);
  check_refused(shape, 0, CAROM_ERR_ARGUMENT, "the density is 0; expected a positive number of kg/m3");
  check_refused(shape, NAN, CAROM_ERR_ARGUMENT, "the density is nan; expected a positive number of kg/m3");
  carom_shape_release(shape);
  REQUIRE(carom_shape_create_sphere(1e90, NULL, &shape, NULL) == CAROM_OK);
  check_refused(
      shape, 1, CAROM_ERR_NUMBER,
      "the mass (4.18879e+270 kg) or a moment of inertia (inf, inf, inf kg m2) is out of range; check the size, "
      "the scale and the density");
  carom_shape_release(shape);
}

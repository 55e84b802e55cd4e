// Contact segments of bodies in the plane: places known by hand, and random prisms against the contact polygon in
// space, which is the segment times their common height.
#include "test_collide.h"

static carom_manifold segment_of(const carom_placed *a, const carom_placed *b, carom_vec3 normal, double slop) {
  carom_manifold m = {0};
  carom_status status = carom_contact_manifold_planar(a, b, normal, slop, &m);
  if (status != CAROM_OK) test_fail(__FILE__, __LINE__, "%s", carom_status_text(status));
  return m;
}

static carom_placed turned(const carom_shape *shape, double x, double y, double z, double angle) {
  return (carom_placed){shape, cm_pose(cm_vec3(x, y, z), cm_axis_angle(cm_vec3(0, 0, 1), angle))};
}

static void check_point(const carom_manifold_point *p, double xa, double ya, double xb, double yb, double gap) {
  CHECK_AT_MOST(cm_norm(cm_sub(p->point_a, cm_vec3(xa, ya, 0))), 1e-12);
  CHECK_AT_MOST(cm_norm(cm_sub(p->point_b, cm_vec3(xb, yb, 0))), 1e-12);
  CHECK_NEAR(p->gap, gap, 1e-12);
}

// e = (-n.y, n.x) runs along -x when the normal is +y: the segment begins at its right end.
TEST(square_on_square) {
  const carom_shape *square = box_of(1, 1, 3);
  carom_placed A = turned(square, 0.3, 1.01, 5, 0), B = turned(square, 0, 0, -2, 0);  // heights do not matter
  carom_manifold m = segment_of(&A, &B, cm_vec3(0, 1, 0.7), 1e-3);
  REQUIRE(m.count == 2);
  CHECK_NEAR(m.normal.y, 1, 1e-15);
  check_point(&m.points[0], 0.5, 0.51, 0.5, 0.5, 0.01);
  check_point(&m.points[1], -0.2, 0.51, -0.2, 0.5, 0.01);
  A = turned(square, 1, 1, 0, 0);  // corner on corner
  m = segment_of(&A, &B, cm_vec3(0, 1, 0), 1e-3);
  REQUIRE(m.count == 1);
  check_point(&m.points[0], 0.5, 0.5, 0.5, 0.5, 0);
  A = turned(square, 1.25, 1, 0, 0);  // past each other: the nearest points
  m = segment_of(&A, &B, cm_vec3(0, 1, 0), 1e-3);
  REQUIRE(m.count == 1);
  check_point(&m.points[0], 0.75, 0.5, 0.5, 0.5, 0);
  carom_shape_release(square);
}

TEST(corner_on_edge_and_small_tilt) {
  const carom_shape *square = box_of(1, 1, 1);
  double pi = 3.14159265358979323846;
  carom_placed A = turned(square, 0.1, 0.5 + sqrt(0.5), 0, pi / 4), B = turned(square, 0, 0, 0, 0);
  carom_manifold m = segment_of(&A, &B, cm_vec3(0, 1, 0), 1e-3);
  REQUIRE(m.count == 1);
  check_point(&m.points[0], 0.1, 0.5, 0.1, 0.5, 0);
  double tilt = 1e-4;  // both lower corners within slop, the left one higher by sin(tilt)
  A = turned(square, 0, 1 + 0.5 * (cos(tilt) - 1 + sin(tilt)), 0, -tilt);
  m = segment_of(&A, &B, cm_vec3(0, 1, 0), 1e-3);
  REQUIRE(m.count == 2);
  CHECK_NEAR(m.points[0].gap, 0, 1e-8);
  CHECK_NEAR(m.points[1].gap, sin(tilt), 1e-7);
  CHECK(segment_of(&A, &B, cm_vec3(0, 1, 0), 1e-5).count == 1);
  carom_shape_release(square);
}

TEST(round_shapes_and_lines) {
  const carom_shape *square = box_of(1, 1, 1), *ball = NULL, *line = NULL, *pill = NULL;
  CHECK(carom_shape_create_sphere(0.5, NULL, &ball, NULL) == CAROM_OK);
  CHECK(carom_shape_create_halfspace(NULL, &line, NULL) == CAROM_OK);
  CHECK(carom_shape_create_capsule(0.25, 1, NULL, &pill, NULL) == CAROM_OK);
  carom_placed S = turned(square, 0, 0, 0, 0), K = {ball, cm_pose(cm_vec3(0.2, 1.02, 9), cm_qidentity())};
  carom_manifold m = segment_of(&K, &S, cm_vec3(0, 1, 0), 1e-3);
  REQUIRE(m.count == 1);
  check_point(&m.points[0], 0.2, 0.52, 0.2, 0.5, 0.02);
  carom_quat up = cm_axis_angle(cm_vec3(1, 0, 0), -3.14159265358979323846 / 2);  // z to y
  carom_placed L = {line, cm_pose(cm_vec3(7, -0.6, 3), up)};
  m = segment_of(&S, &L, cm_vec3(0, 1, 0), 1e-3);
  REQUIRE(m.count == 2);
  check_point(&m.points[0], 0.5, -0.5, 0.5, -0.6, 0.1);
  check_point(&m.points[1], -0.5, -0.5, -0.5, -0.6, 0.1);
  m = segment_of(&L, &S, cm_vec3(0, -1, 0), 1e-3);
  REQUIRE(m.count == 2);
  check_point(&m.points[0], -0.5, -0.6, -0.5, -0.5, 0.1);
  carom_quat side = cm_axis_angle(cm_vec3(0, 1, 0), 3.14159265358979323846 / 2);  // the pill lies along x
  carom_placed C = {pill, cm_pose(cm_vec3(0.4, 0.75, 0), side)};
  m = segment_of(&C, &S, cm_vec3(0, 1, 0), 1e-3);
  REQUIRE(m.count == 2);
  check_point(&m.points[0], 0.5, 0.5, 0.5, 0.5, 0);
  check_point(&m.points[1], -0.1, 0.5, -0.1, 0.5, 0);
  carom_shape_release(square), carom_shape_release(ball), carom_shape_release(line), carom_shape_release(pill);
}

// Shadows of upright prisms: in space they touch along the segment times their common height.
TEST(prisms_as_in_space) {
  carom_random random = carom_random_make(21, 0);
  int segments = 0;
  for (int i = 0; i < 300; i++) {
    const carom_shape *a = NULL, *b = NULL;
    CHECK(carom_shape_create_prism(3 + i % 6, 1, 2, NULL, &a, NULL) == CAROM_OK);
    CHECK(carom_shape_create_prism(3 + i / 6 % 5, 0.7, 1, NULL, &b, NULL) == CAROM_OK);
    double pi = 3.14159265358979323846, slop = i % 3 ? 1e-6 : 0.3, shift = carom_random_between(&random, -0.6, 0.6);
    int na = 3 + i % 6, nb = 3 + i / 6 % 5;
    double lift = cos(pi / na) + cos(pi / nb) * 0.7;  // face on face, along the normal (0, 1)
    carom_placed A = turned(a, shift, lift, 0, -pi / 2 - pi / na), B = turned(b, 0, 0, 0, pi / 2 - pi / nb);
    double by = carom_random_between(&random, -3, 3);
    carry(&A, &B, cm_pose(cm_vec3(0.3, -0.2, 0), cm_axis_angle(cm_vec3(0, 0, 1), by)));
    carom_vec3 n = cm_vec3(-sin(by), cos(by), 0), e = cm_vec3(-n.y, n.x, 0);
    carom_manifold flat = segment_of(&A, &B, n, slop), full = {0};
    CHECK(carom_contact_manifold(&A, &B, n, slop, &full) == CAROM_OK);
    double from = 1e300, to = -1e300;
    for (int k = 0; k < full.count; k++) {
      double u = cm_dot(e, full.points[k].point_a);
      from = fmin(from, u), to = fmax(to, u);
    }
    if (flat.count < 2) continue;
    segments++;
    CHECK_NEAR(cm_dot(e, flat.points[0].point_a), from, 1e-9);
    CHECK_NEAR(cm_dot(e, flat.points[1].point_a), to, 1e-9);
    for (int k = 0; k < 2; k++) {
      CHECK_NEAR(flat.points[k].gap, cm_dot(n, cm_sub(flat.points[k].point_a, flat.points[k].point_b)), 1e-12);
      CHECK(flat.points[k].gap >= -1e-9 && flat.points[k].gap <= 2 * slop + 1e-9);
      CHECK(flat.points[k].point_a.z == 0 && flat.points[k].point_b.z == 0);
    }
    carom_shape_release(a), carom_shape_release(b);
  }
  CHECK(segments > 200);
}

TEST(refuses_nonsense) {
  const carom_shape *square = box_of(1, 1, 1), *line = NULL;
  CHECK(carom_shape_create_halfspace(NULL, &line, NULL) == CAROM_OK);
  carom_placed A = turned(square, 0, 1, 0, 0), B = turned(square, 0, 0, 0, 0), L = turned(line, 0, 0, 0, 0);
  carom_manifold m;
  carom_vec3 up = cm_vec3(0, 1, 0);
  CHECK(carom_contact_manifold_planar(&A, &B, cm_vec3(0, 0, 1), 0, &m) == CAROM_ERR_NUMBER);
  CHECK(carom_contact_manifold_planar(&A, &B, cm_vec3(NAN, 1, 0), 0, &m) == CAROM_ERR_NUMBER);
  CHECK(carom_contact_manifold_planar(&A, &B, up, -1, &m) == CAROM_ERR_NUMBER);
  CHECK(carom_contact_manifold_planar(&A, &L, up, 0, &m) == CAROM_ERR_GEOMETRY);  // a floor at z = 0 has no shadow
  CHECK(carom_contact_manifold_planar(&L, &L, up, 0, &m) == CAROM_ERR_GEOMETRY);
  CHECK(carom_contact_manifold_planar(&A, &B, up, 0, &m) == CAROM_OK && m.count == 2);
  carom_shape_release(square), carom_shape_release(line);
}

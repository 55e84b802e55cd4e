// Contact polygons: counts and places known by hand, and the area against clipping written another way.
#include "test_collide.h"

static const carom_vec3 UP = {0, 0, 1};

static carom_manifold manifold_of(const carom_placed *a, const carom_placed *b, carom_vec3 normal, double slop) {
  carom_manifold m = {0};
  carom_status status = carom_contact_manifold(a, b, normal, slop, &m);
  if (status != CAROM_OK) test_fail(__FILE__, __LINE__, "%s", carom_status_text(status));
  return m;
}

// Area of the polygon, seen along the normal; positive when it goes round the normal.
static double area_of(const carom_manifold *m) {
  carom_vec3 sum = cm_zero3();
  for (int i = 2; i < m->count; i++)
    sum = cm_add(sum, cm_cross(cm_sub(m->points[i - 1].point_a, m->points[0].point_a),
                               cm_sub(m->points[i].point_a, m->points[0].point_a)));
  return cm_dot(sum, m->normal) / 2;
}

// How far outside a polytope a point lies; negative inside.
static double outside(const carom_placed *s, carom_vec3 x) {
  carom_vec3 local = cm_untransform(s->pose, x);
  return outside_of(carom_shape_polytope(s->shape), &local, 1);
}

static double reach_of(const carom_placed *s, carom_vec3 direction) {
  double reach = -1e300;
  for (int i = 0; i < carom_shape_polytope(s->shape)->vertex_count; i++)
    reach = fmax(reach, cm_dot(direction, world_vertex(s, i)));
  return reach;
}

// Each point lies on the surface of both, within slop of the supporting planes, and the gap is what lies between.
static void check_points(const carom_placed *a, const carom_placed *b, const carom_manifold *m, double slop) {
  double bottom = -reach_of(a, cm_neg(m->normal)), top = reach_of(b, m->normal);
  for (int i = 0; i < m->count; i++) {
    const carom_manifold_point *p = &m->points[i];
    CHECK_NEAR(outside(a, p->point_a), 0, 1e-9);
    CHECK_NEAR(outside(b, p->point_b), 0, 1e-9);
    double ha = cm_dot(m->normal, p->point_a), hb = cm_dot(m->normal, p->point_b);
    CHECK(ha >= bottom - 1e-9 && ha <= bottom + slop + 1e-9);
    CHECK(hb <= top + 1e-9 && hb >= top - slop - 1e-9);
    CHECK_NEAR(p->gap, ha - hb, 1e-12);
    carom_vec3 across = cm_cross(m->normal, cm_sub(p->point_a, p->point_b));
    CHECK_AT_MOST(cm_norm(across), slop + 1e-9);
  }
}

TEST(cube_on_cube) {
  const carom_shape *cube = box_of(1, 1, 1);
  carom_random random = carom_random_make(1, 0);
  for (int i = 0; i < 20; i++) {
    carom_placed A = placed_plain(cube, 0.01 * i, 0.02 * i, 0.999), B = placed_plain(cube, 0, 0, 0);
    carom_pose by = i ? random_pose(&random, 5) : cm_pose_identity();
    carry(&A, &B, by);
    carom_manifold m = manifold_of(&A, &B, cm_rotate(by.q, UP), 1e-3);
    REQUIRE(m.count == 4);
    check_points(&A, &B, &m, 1e-3);
    CHECK_NEAR(area_of(&m), (1 - 0.01 * i) * (1 - 0.02 * i), 1e-9);
    for (int k = 0; k < 4; k++) CHECK_NEAR(m.points[k].gap, -0.001, 1e-12);
  }
  carom_shape_release(cube);
}

// A square turned by 45 degrees cuts the corners off: a regular octagon of area 2 (sqrt 2 - 1).
TEST(cube_turned_on_cube) {
  const carom_shape *cube = box_of(1, 1, 1);
  carom_placed A = placed_at(cube, cm_vec3(0, 0, 1), cm_axis_angle(UP, 0.78539816339744831));
  carom_placed B = placed_plain(cube, 0, 0, 0);
  carom_manifold m = manifold_of(&A, &B, UP, 1e-6);
  CHECK(m.count == 8);
  CHECK_NEAR(area_of(&m), 2 * (sqrt(2) - 1), 1e-12);
  check_points(&A, &B, &m, 1e-6);
  carom_shape_release(cube);
}

// The far side of a thin plate is within the slop, and its corners stand out beyond the near ones on two sides; the
// nearest corner must be a point all the same.
TEST(slop_deeper_than_a_plate) {
  const carom_shape *plate = box_of(1, 1, 0.01), *table = box_of(4, 4, 1);
  carom_placed B = placed_plain(table, 0, 0, 0);
  for (int i = 0; i < 8; i++) {
    carom_quat q = cm_qmul(cm_axis_angle(UP, 0.7 * i), cm_axis_angle(cm_vec3(cos(i), sin(i), 0), 1e-4 * (1 << i)));
    carom_placed A = placed_at(plate, cm_vec3(0, 0, 0.5), q);
    carom_manifold m = manifold_of(&A, &B, UP, 0.1);
    double lowest = INFINITY, least = INFINITY;
    for (int k = 0; k < 8; k++) {
      carom_vec3 corner = cm_vec3(k & 1 ? 0.5 : -0.5, k & 2 ? 0.5 : -0.5, k & 4 ? 0.005 : -0.005);
      lowest = fmin(lowest, cm_transform(A.pose, corner).z - 0.5);
    }
    for (int k = 0; k < m.count; k++) least = fmin(least, m.points[k].gap);
    CHECK_NEAR(least, lowest, 1e-12);
  }
  carom_shape_release(plate), carom_shape_release(table);
}

TEST(cube_on_its_edge_and_corner) {
  const carom_shape *cube = box_of(1, 1, 1), *table = box_of(4, 4, 1);
  carom_quat edge = cm_axis_angle(cm_vec3(1, 0, 0), 0.78539816339744831);
  carom_placed A = placed_at(cube, cm_vec3(0.3, 0.2, 0.5 + sqrt(0.5)), edge), B = placed_plain(table, 0, 0, 0);
  carom_manifold m = manifold_of(&A, &B, UP, 1e-4);
  REQUIRE(m.count == 2);
  check_points(&A, &B, &m, 1e-4);
  CHECK_NEAR(fabs(m.points[0].point_b.x - m.points[1].point_b.x), 1, 1e-12);
  carom_quat corner = cm_qmul(cm_axis_angle(cm_vec3(0, 1, 0), atan(sqrt(0.5))), edge);
  A = placed_at(cube, cm_vec3(0.3, 0.2, 0.5 + sqrt(0.75)), corner);
  m = manifold_of(&A, &B, UP, 1e-4);
  REQUIRE(m.count == 1);
  check_points(&A, &B, &m, 1e-4);
  CHECK_NEAR(cm_norm(cm_sub(m.points[0].point_b, cm_vec3(0.3, 0.2, 0.5))), 0, 1e-9);
  carom_shape_release(cube), carom_shape_release(table);
}

TEST(edges_across_and_along) {
  const carom_vec3 ridge[4] = {{-1, 0, 0}, {1, 0, 0}, {0, 0.7, -1}, {0, -0.7, -1}};
  const carom_shape *b = hull_of(ridge, 4);
  carom_quat over = cm_axis_angle(cm_vec3(1, 0, 0), 3.1415926535897931);
  carom_placed B = placed_plain(b, 0, 0, 0);
  carom_placed A = placed_at(b, cm_vec3(0.2, 0.1, 0), cm_qmul(cm_axis_angle(UP, 1.0), over));
  carom_manifold m = manifold_of(&A, &B, UP, 1e-6);
  REQUIRE(m.count == 1);  // A's edge crosses y = 0 at 0.2 - 0.1 cot(1)
  CHECK_NEAR(cm_norm(cm_sub(m.points[0].point_a, cm_vec3(0.2 - 0.1 / tan(1.0), 0, 0))), 0, 1e-9);
  A = placed_at(b, cm_vec3(0.5, 0, 0), over);
  m = manifold_of(&A, &B, UP, 1e-6);
  REQUIRE(m.count == 2);  // the common stretch runs from -0.5 to 1
  CHECK_NEAR(fmin(m.points[0].point_a.x, m.points[1].point_a.x), -0.5, 1e-9);
  CHECK_NEAR(fmax(m.points[0].point_a.x, m.points[1].point_a.x), 1, 1e-9);
  A = placed_at(b, cm_vec3(0.5, 5e-4, 0), cm_qmul(cm_axis_angle(UP, 1e-4), over));  // nearly: within slop
  CHECK(manifold_of(&A, &B, UP, 1e-3).count == 2);
  carom_shape_release(b);
}

// Many corners: eight are kept, spread around the rim.
TEST(drums_are_reduced_to_eight) {
  const carom_shape *drum = NULL, *big = NULL, *plane = NULL;
  CHECK(carom_shape_create_prism(48, 1, 1, NULL, &drum, NULL) == CAROM_OK);
  CHECK(carom_shape_create_prism(300, 2, 1, NULL, &big, NULL) == CAROM_OK);
  CHECK(carom_shape_create_halfspace(NULL, &plane, NULL) == CAROM_OK);
  carom_placed A = placed_plain(drum, 0.1, 0, 1), B = placed_plain(big, 0, 0, 0), P = placed_plain(plane, 0, 0, 0.5);
  carom_placed C = placed_plain(big, 0, 0, 1);
  carom_placed grounds[2] = {B, P};
  for (int k = 0; k < 2; k++) {
    carom_manifold m = manifold_of(&A, &grounds[k], UP, 1e-6);
    CHECK(m.count == CAROM_MANIFOLD_MAX);
    CHECK(area_of(&m) > 0.85 * 3.1);  // a regular octagon has 0.9 of the disc
    for (int i = 0; i < m.count; i++) CHECK_NEAR(m.points[i].gap, 0, 1e-12);
  }
  carom_manifold m = manifold_of(&C, &B, UP, 1e-6);  // more corners than the outline holds
  CHECK(m.count == CAROM_MANIFOLD_MAX);
  CHECK(area_of(&m) > 0.85 * 4 * 3.1);
  m = manifold_of(&P, &(carom_placed){drum, cm_pose(cm_vec3(0, 0, 1), cm_qidentity())}, cm_neg(UP), 1e-6);
  CHECK(m.count == CAROM_MANIFOLD_MAX);
  carom_shape_release(drum), carom_shape_release(big), carom_shape_release(plane);
}

TEST(curved_shapes) {
  const carom_shape *sphere = NULL, *capsule = NULL, *plane = NULL, *table = box_of(4, 4, 1);
  CHECK(carom_shape_create_sphere(0.5, NULL, &sphere, NULL) == CAROM_OK);
  CHECK(carom_shape_create_capsule(0.5, 1, NULL, &capsule, NULL) == CAROM_OK);
  CHECK(carom_shape_create_halfspace(NULL, &plane, NULL) == CAROM_OK);
  carom_quat down = cm_axis_angle(cm_vec3(0, 1, 0), 1.5707963267948966);
  carom_placed box = placed_plain(table, 0, 0, 0), floor = placed_plain(plane, 0, 0, 0.5);
  carom_placed grounds[2] = {box, floor};
  for (int k = 0; k < 2; k++) {
    carom_placed ball = placed_plain(sphere, 0.3, 0.2, 1.01), lying = placed_at(capsule, cm_vec3(0, 0, 1), down);
    carom_placed standing = placed_plain(capsule, 0, 0, 1.5);
    carom_manifold m = manifold_of(&ball, &grounds[k], UP, 1e-6);
    REQUIRE(m.count == 1);
    CHECK_NEAR(m.points[0].gap, 0.01, 1e-12);
    CHECK_NEAR(cm_norm(cm_sub(m.points[0].point_b, cm_vec3(0.3, 0.2, 0.5))), 0, 1e-12);
    m = manifold_of(&lying, &grounds[k], UP, 1e-6);
    REQUIRE(m.count == 2);
    for (int i = 0; i < 2; i++) {
      CHECK_NEAR(fabs(m.points[i].point_a.x), 0.5, 1e-12);
      CHECK_NEAR(m.points[i].point_a.z, 0.5, 1e-12);
      CHECK_NEAR(m.points[i].gap, 0, 1e-12);
    }
    CHECK(manifold_of(&standing, &grounds[k], UP, 1e-6).count == 1);
  }
  carom_placed beside = placed_plain(sphere, 2.1, 0, 0.9);  // beyond the rim of the table: nearest points
  carom_manifold m = manifold_of(&beside, &box, UP, 1e-6);
  REQUIRE(m.count == 1);
  CHECK_NEAR(m.points[0].point_b.x, 2, 1e-12);
  carom_shape_release(sphere), carom_shape_release(capsule), carom_shape_release(plane), carom_shape_release(table);
}

TEST(round_drums_and_rounded_boxes) {
  const carom_shape *drum = NULL, *cone = NULL, *egg = NULL, *soft = NULL, *cube = box_of(1, 1, 1);
  CHECK(carom_shape_create_cylinder(1, 2, NULL, &drum, NULL) == CAROM_OK);
  CHECK(carom_shape_create_cone(1, 2, NULL, &cone, NULL) == CAROM_OK);
  CHECK(carom_shape_create_ellipsoid(cm_vec3(1, 2, 3), NULL, &egg, NULL) == CAROM_OK);
  CHECK(carom_shape_create_rounded(cube, 0.25, NULL, &soft, NULL) == CAROM_OK);
  const carom_shape *table = box_of(8, 8, 1);
  carom_placed B = placed_plain(table, 0, 0, -0.5), A = placed_plain(drum, 0, 0, 1);
  carom_manifold m = manifold_of(&A, &B, UP, 1e-6);
  CHECK(m.count == 8 && area_of(&m) > 2.7);
  for (int i = 0; i < m.count; i++) CHECK_NEAR(m.points[i].gap, 0, 1e-12);
  A = placed_at(drum, cm_vec3(0, 0, 1), cm_axis_angle(cm_vec3(0, 1, 0), 1.5707963267948966));
  m = manifold_of(&A, &B, UP, 1e-6);
  REQUIRE(m.count == 2);
  CHECK_NEAR(fabs(m.points[0].point_a.x - m.points[1].point_a.x), 2, 1e-9);
  A = placed_at(cone, cm_vec3(0, 0, 1.5), cm_axis_angle(cm_vec3(0, 1, 0), 3.1415926535897931));
  m = manifold_of(&A, &B, UP, 1e-6);
  REQUIRE(m.count == 1);
  CHECK_NEAR(m.points[0].gap, 0, 1e-12);
  A = placed_plain(egg, 0, 0, 3.01);
  m = manifold_of(&A, &B, UP, 1e-6);
  REQUIRE(m.count == 1);
  CHECK_NEAR(m.points[0].gap, 0.01, 1e-12);
  A = placed_plain(soft, 0, 0, 0.75);
  m = manifold_of(&A, &B, UP, 1e-6);
  CHECK(m.count == 4);
  CHECK_NEAR(area_of(&m), 1, 1e-12);
  for (int i = 0; i < m.count; i++) CHECK_NEAR(m.points[i].gap, 0, 1e-12);
  carom_shape_release(drum), carom_shape_release(cone), carom_shape_release(egg), carom_shape_release(soft);
  carom_shape_release(cube), carom_shape_release(table);
}

// ---- property ------------------------------------------------------------------------------------------------------

// A frustum over a random convex polygon of `n` corners: its bottom face lies at z = 0.
static const carom_shape *plinth(carom_random *r, int n, double side) {
  carom_vec3 points[32];
  double turn = carom_random_between(r, 0, 6), stretch = carom_random_between(r, 0.5, 1);
  for (int i = 0; i < n; i++) {
    double angle = turn + 6.283185307179586 * (i + carom_random_between(r, -0.3, 0.3)) / n;
    points[i] = cm_vec3(cos(angle), stretch * sin(angle), 0);
    points[n + i] = cm_vec3(0.5 * cos(angle), 0.5 * stretch * sin(angle), side);
  }
  return hull_of(points, 2 * n);
}

// Area common to both bottoms by integrating over y the overlap of the two sections: exact trapezia between the levels
// at which any section bends.
static bool section(const carom_placed *s, double y, double *from, double *to) {
  double v[32][2];
  int n = 0;
  for (int i = 0; i < carom_shape_polytope(s->shape)->vertex_count; i++) {
    carom_vec3 x = world_vertex(s, i);
    if (fabs(x.z) < 1e-9) v[n][0] = x.x, v[n++][1] = x.y;
  }
  *from = 1e300, *to = -1e300;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      if (!(v[i][1] <= y && v[j][1] > y)) continue;
      double x = v[i][0] + (y - v[i][1]) / (v[j][1] - v[i][1]) * (v[j][0] - v[i][0]);
      *from = fmin(*from, x), *to = fmax(*to, x);
    }
  return *to >= *from;
}

static double common_area(const carom_placed *a, const carom_placed *b) {
  enum { STEPS = 20000 };
  double sum = 0;
  for (int i = 0; i < STEPS; i++) {
    double y = -3 + 6 * (i + 0.5) / STEPS, a0, a1, b0, b1;
    if (section(a, y, &a0, &a1) && section(b, y, &b0, &b1)) sum += fmax(0, fmin(a1, b1) - fmax(a0, b0));
  }
  return sum * 6 / STEPS;
}

TEST(area_of_random_plinths) {
  carom_random random = carom_random_make(8, 0);
  int full = 0;
  for (int i = 0; i < 60; i++) {
    const carom_shape *a = plinth(&random, 3 + i % 4, 1), *b = plinth(&random, 3 + i / 4 % 3, -1);
    double x = carom_random_between(&random, -0.8, 0.8);
    carom_placed A = placed_plain(a, x, carom_random_between(&random, -0.8, 0.8), 0), B = placed_plain(b, 0, 0, 0);
    double expected = common_area(&A, &B);
    carom_pose by = random_pose(&random, 3);
    carry(&A, &B, by);
    carom_manifold m = manifold_of(&A, &B, cm_rotate(by.q, UP), 1e-6);
    if (expected > 1e-3) check_points(&A, &B, &m, 1e-6);
    if (expected < 1e-3) {
      CHECK(m.count == 1 || area_of(&m) < 2e-3);  // side by side: the nearest points
    } else if (m.count < 8) {
      CHECK_NEAR(area_of(&m), expected, 2e-4);
      full++;
    } else {
      CHECK(area_of(&m) > 0.9 * expected && area_of(&m) < expected + 2e-4);
    }
    carom_shape_release(a), carom_shape_release(b);
  }
  CHECK(full > 40);
}

// Any pair that the oracle finds apart or touching: points on both surfaces, at least as far apart as the planes.
TEST(points_of_random_pairs) {
  carom_random random = carom_random_make(9, 0);
  for (int i = 0; i < 400; i++) {
    const carom_shape *a = random_polytope(&random, 16), *b = random_polytope(&random, 16);
    carom_placed A = {a, random_pose(&random, 2)}, B = {b, random_pose(&random, 1)};
    carom_ssh_result r = solved(&A, &B, NULL);
    A.pose.p = cm_axpy(A.pose.p, -r.gap, r.beta);  // now they touch
    double slop = 1e-6;
    carom_manifold m = manifold_of(&A, &B, r.normal, slop);
    CHECK(m.count == 1);
    check_points(&A, &B, &m, slop);
    for (int k = 0; k < m.count; k++) CHECK_NEAR(m.points[k].gap, 0, 2 * slop);
    m = manifold_of(&A, &B, r.normal, 0.2);  // a generous slop takes in neighbouring faces
    double bottom = -reach_of(&A, cm_neg(m.normal)), top = reach_of(&B, m.normal);
    for (int k = 0; k < m.count; k++) CHECK(m.points[k].gap >= bottom - top - 1e-9);
    carom_shape_release(a), carom_shape_release(b);
  }
}

// A cylinder that rolls shows the floor now and then a point of its rim beside the lowest line. Read as a cap, it put
// contacts 1e15 m deep; now the line is all, at any turn, and lies where the cylinder touches.
// However far outlines look back, edges that cross touch in the one place where they are nearest.
TEST(crossing_edges_touch_in_one_place) {
  const carom_shape *bar = box_of(0.3, 2, 0.3);
  for (int i = 0; i < 60; i++) {
    double angle = 0.01 * (1 + i), slop = 1e-4 * pow(10, i % 4);
    carom_quat edge = cm_axis_angle(cm_vec3(0, 1, 0), atan(1));
    carom_placed A = {bar, cm_pose(cm_vec3(0, 0, 0.3 * sqrt(2) + 1e-6), cm_qmul(cm_axis_angle(UP, angle), edge))},
                 B = {bar, cm_pose(cm_zero3(), edge)};
    carom_manifold m = manifold_of(&A, &B, UP, slop);
    REQUIRE(m.count == 1);
    CHECK_AT_MOST(cm_norm(cm_sub(m.points[0].point_a, cm_vec3(0, 0, 0.15 * sqrt(2) + 1e-6))), 1e-9);
    CHECK_NEAR(m.points[0].gap, 1e-6, 1e-9);
  }
  carom_shape_release(bar);
}

TEST(a_rolling_cylinder_touches_along_a_line) {
  const carom_shape *drum = NULL, *plane = NULL;
  CHECK(carom_shape_create_cylinder(0.1, 0.2, NULL, &drum, NULL) == CAROM_OK);
  CHECK(carom_shape_create_halfspace(NULL, &plane, NULL) == CAROM_OK);
  carom_placed P = placed_plain(plane, 0, 0, 0), D = placed_plain(drum, 0, 0, 0.1);
  carom_quat lies = cm_axis_angle(cm_vec3(1, 0, 0), 2 * atan(1));
  for (int i = 0; i < 2000; i++) {
    D.pose.q = cm_qmul(cm_axis_angle(cm_vec3(0, 1, 0), 0.0031 * i), lies);
    for (double slop = 1e-8; slop < 1e-4; slop *= 10) {
      carom_manifold m = manifold_of(&D, &P, UP, slop);
      CHECK(m.count == 2);
      for (int k = 0; k < m.count; k++) {
        CHECK_NEAR(m.points[k].gap, 0, 1e-15);
        CHECK_NEAR(m.points[k].point_a.x, 0, 1e-9);
        CHECK_NEAR(fabs(m.points[k].point_a.y), 0.1, 1e-15);
      }
    }
    carom_manifold wide = manifold_of(&D, &P, UP, 0.01);  // a strip
    for (int k = 0; k < wide.count; k++) {
      double x = wide.points[k].point_a.x;
      CHECK_NEAR(wide.points[k].gap, 0.1 - sqrt(0.01 - x * x), 1e-12);
    }
  }
  carom_shape_release(drum), carom_shape_release(plane);
}

TEST(refuses_nonsense) {
  const carom_shape *cube = box_of(1, 1, 1), *plane = NULL;
  CHECK(carom_shape_create_halfspace(NULL, &plane, NULL) == CAROM_OK);
  carom_placed A = placed_plain(cube, 0, 0, 1), B = placed_plain(cube, 0, 0, 0), P = placed_plain(plane, 0, 0, 0);
  carom_manifold m;
  CHECK(carom_contact_manifold(&A, &B, cm_zero3(), 0, &m) == CAROM_ERR_NUMBER);
  CHECK(carom_contact_manifold(&A, &B, cm_vec3(NAN, 0, 1), 0, &m) == CAROM_ERR_NUMBER);
  CHECK(carom_contact_manifold(&A, &B, UP, -1, &m) == CAROM_ERR_NUMBER);
  CHECK(carom_contact_manifold(&P, &P, UP, 0, &m) == CAROM_ERR_GEOMETRY);
  CHECK(carom_contact_manifold(&A, &P, cm_vec3(1, 0, 0), 0, &m) == CAROM_ERR_GEOMETRY);
  CHECK(carom_contact_manifold(&A, &B, UP, 0, &m) == CAROM_OK && m.count == 4);
  carom_shape_release(cube), carom_shape_release(plane);
}

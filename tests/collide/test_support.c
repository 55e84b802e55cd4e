// Support points of every kind of shape: against the support function in closed form, against points all over the
// surface, and in the awkward directions.
#include "collide/support.h"
#include "test_geometry.h"

enum { KINDS = 9 };

static void make_all(const carom_shape *s[KINDS]) {
  carom_random r = carom_random_make(11, 0);
  const carom_shape *box = NULL, *hull = NULL;
  carom_vec3 points[200];
  for (int i = 0; i < 200; i++) points[i] = random_direction(&r);
  CHECK(carom_shape_create_hull(points, 200, NULL, &hull, NULL) == CAROM_OK);
  CHECK(carom_shape_create_box(cm_vec3(1, 0.4, 0.7), NULL, &box, NULL) == CAROM_OK);
  CHECK(carom_shape_create_sphere(0.6, NULL, &s[0], NULL) == CAROM_OK);
  CHECK(carom_shape_create_capsule(0.3, 1.2, NULL, &s[1], NULL) == CAROM_OK);
  CHECK(carom_shape_create_ellipsoid(cm_vec3(0.3, 1.1, 0.6), NULL, &s[2], NULL) == CAROM_OK);
  CHECK(carom_shape_create_cylinder(0.5, 1.3, NULL, &s[3], NULL) == CAROM_OK);
  CHECK(carom_shape_create_cone(0.8, 1.1, NULL, &s[4], NULL) == CAROM_OK);
  CHECK(carom_shape_create_rounded(box, 0.25, NULL, &s[5], NULL) == CAROM_OK);
  CHECK(carom_shape_create_rounded(hull, 0.15, NULL, &s[6], NULL) == CAROM_OK);  // climbs
  s[7] = box;
  s[8] = hull;
  CHECK(carom_shape_polytope(hull)->vertex_count > CAROM_SCAN_LIMIT);
}

static void release_all(const carom_shape *s[KINDS]) {
  for (int i = 0; i < KINDS; i++) carom_shape_release(s[i]);
}

// min over the shape of d . x, in its frame.
static double closed_form(const carom_shape *s, carom_vec3 d) {
  carom_vec3 a = carom_shape_half_axes(s);
  double across = hypot(d.x, d.y), least = 0;
  switch (carom_shape_get_kind(s)) {
    case CAROM_SHAPE_ELLIPSOID:
      return -sqrt(a.x * a.x * d.x * d.x + a.y * a.y * d.y * d.y + a.z * a.z * d.z * d.z);
    case CAROM_SHAPE_CYLINDER:
      return -a.x * across - a.z * fabs(d.z);
    case CAROM_SHAPE_CONE:
      return fmin(1.5 * a.z * d.z, -a.x * across - 0.5 * a.z * d.z);
    case CAROM_SHAPE_POLYTOPE:
      least = INFINITY;
      for (int i = 0; i < carom_shape_polytope(s)->vertex_count; i++)
        least = fmin(least, cm_dot(d, carom_shape_polytope(s)->vertices[i]));
      break;
    default:
      least = -carom_shape_half_length(s) * fabs(d.z);
  }
  return least - carom_shape_radius(s) * cm_norm(d);
}

// How far outside the shape a point is (0 inside), up to a factor near 1.
static double outside(const carom_shape *s, carom_vec3 x) {
  carom_vec3 a = carom_shape_half_axes(s);
  double rho = hypot(x.x, x.y), far = 0;
  switch (carom_shape_get_kind(s)) {
    case CAROM_SHAPE_ELLIPSOID:
      return fmax(0, cm_norm(cm_vec3(x.x / a.x, x.y / a.y, x.z / a.z)) - 1);
    case CAROM_SHAPE_CYLINDER:
      return fmax(0, fmax(rho - a.x, fabs(x.z) - a.z));
    case CAROM_SHAPE_CONE:
      return fmax(0, fmax(rho - a.x * (1.5 * a.z - x.z) / (2 * a.z), -0.5 * a.z - x.z));
    case CAROM_SHAPE_POLYTOPE:
      return 0;  // see the vertex
    default:
      far = fmax(0, fabs(x.z) - carom_shape_half_length(s));
      return fmax(0, hypot(rho, far) - carom_shape_radius(s));
  }
}

static carom_vec3 ask(const carom_shape *shape, carom_pose pose, carom_vec3 direction, bool spread, int *vertex) {
  carom_placed placed = {.shape = shape, .pose = pose};
  carom_supporter s;
  carom_supporter_place(&s, &placed);
  if (spread) carom_supporter_spread(&s);
  return carom_support_lowest(&s, direction, vertex);
}

static void check_vertex(const carom_shape *s, carom_vec3 local, carom_vec3 d, int vertex) {
  const carom_polytope *p = carom_shape_polytope(s);
  if (!p) {
    CHECK(vertex == -1);
    return;
  }
  REQUIRE(vertex >= 0 && vertex < p->vertex_count);
  carom_vec3 expected = cm_axpy(p->vertices[vertex], -carom_shape_radius(s), cm_unit(d));
  CHECK_AT_MOST(cm_norm(cm_sub(local, expected)), 6e-15);  // there and back by two rotations
}

TEST(as_low_as_the_closed_form) {
  const carom_shape *s[KINDS];
  make_all(s);
  carom_random r = carom_random_make(12, 0);
  double worst = 0;
  for (int trial = 0; trial < 20000; trial++) {
    const carom_shape *shape = s[trial % KINDS];
    carom_pose pose = cm_pose(random_vec(&r), random_rotation(&r));
    carom_vec3 d = cm_scale(pow(10, carom_random_between(&r, -6, 6)), random_direction(&r));
    carom_vec3 local_d = cm_unrotate(pose.q, d);
    int vertex;
    carom_vec3 x = ask(shape, pose, d, trial % 2 == 0, &vertex), local = cm_unrotate(pose.q, x);
    double error = fabs(cm_dot(d, x) - closed_form(shape, local_d)) / cm_norm(d);
    worst = max2(worst, error);
    CHECK_AT_MOST(error, 3e-15);
    CHECK_AT_MOST(outside(shape, local), 3e-15);
    check_vertex(shape, local, local_d, vertex);
  }
  printf("worst error of the height %.2g\n", worst);
  release_all(s);
}

// A point of the surface with parameters u, v from 0 to 1, by a parametrisation that knows nothing of normals.
static carom_vec3 surface_point(const carom_shape *s, double u, double v) {
  carom_vec3 a = carom_shape_half_axes(s);
  double t = 6.283185307179586 * u, z = 2 * v - 1, c = sqrt(fmax(0, 1 - z * z));
  switch (carom_shape_get_kind(s)) {
    case CAROM_SHAPE_ELLIPSOID:
      return cm_vec3(a.x * c * cos(t), a.y * c * sin(t), a.z * z);
    case CAROM_SHAPE_CYLINDER:
      return cm_vec3(a.x * cos(t), a.x * sin(t), a.z * z);
    default:  // cone
      return cm_vec3(a.x * (1 - v) * cos(t), a.x * (1 - v) * sin(t), -0.5 * a.z + 2 * a.z * v);
  }
}

TEST(nothing_on_the_surface_is_lower) {
  const carom_shape *s[KINDS];
  make_all(s);
  carom_random r = carom_random_make(13, 0);
  double widest = 0;
  enum { N = 200 };
  for (int trial = 0; trial < 90; trial++) {
    const carom_shape *shape = s[2 + trial % 3];
    carom_pose pose = cm_pose(cm_zero3(), random_rotation(&r));
    carom_vec3 d = random_direction(&r);
    int vertex;
    double least = INFINITY, found = cm_dot(d, ask(shape, pose, d, false, &vertex));
    for (int i = 0; i < N; i++)
      for (int j = 0; j <= N; j++)
        least = fmin(least, cm_dot(d, cm_rotate(pose.q, surface_point(shape, (double)i / N, (double)j / N))));
    CHECK(found <= least + 2e-15);
    CHECK_AT_MOST(least - found, 6e-3);  // the grid is that coarse
    widest = max2(widest, least - found);
  }
  printf("grid misses the lowest point by at most %.2g\n", widest);
  release_all(s);
}

static bool is_lowest(const carom_shape *s, carom_vec3 x, carom_vec3 d) {
  return fabs(cm_dot(d, x) - closed_form(s, d)) <= 4e-15 * cm_norm(d) && outside(s, x) <= 3e-15;
}

TEST(awkward_directions) {
  const carom_shape *s[KINDS];
  make_all(s);
  for (int i = 0; i < KINDS; i++) {
    int vertex;
    carom_vec3 x = ask(s[i], cm_pose_identity(), cm_zero3(), false, &vertex);
    CHECK(cm_finite(x) && outside(s[i], x) <= 1e-15);
    for (int axis = 0; axis < 6; axis++) {
      double sign = axis < 3 ? 1 : -1;
      carom_vec3 d = cm_vec3(axis % 3 == 0 ? sign : 0, axis % 3 == 1 ? sign : 0, axis % 3 == 2 ? sign : 0);
      CHECK(is_lowest(s[i], ask(s[i], cm_pose_identity(), d, true, &vertex), d));
    }
    if (carom_shape_half_axes(s[i]).x == 0) continue;
    carom_vec3 d = cm_unit(cm_vec3(1, -2, 0.5)), plain = ask(s[i], cm_pose_identity(), d, false, &vertex);
    for (int e = -200; e <= 200; e += 400)
      CHECK_AT_MOST(cm_norm(cm_sub(ask(s[i], cm_pose_identity(), cm_scale(pow(10, e), d), false, &vertex), plain)),
                    1e-15);
  }
  // A flat end lies flat: its centre answers. The cone's mantle: both ends of the line are lowest, one of them answers.
  int vertex;
  carom_vec3 low = ask(s[3], cm_pose_identity(), cm_vec3(0, 0, 1), false, &vertex);
  CHECK(low.x == 0 && low.y == 0 && low.z == -0.65);
  low = ask(s[4], cm_pose_identity(), cm_vec3(0, 0, 3), false, &vertex);
  CHECK(low.x == 0 && low.y == 0 && low.z == -0.25 * 1.1);
  low = ask(s[4], cm_pose_identity(), cm_vec3(0, 0, -1), false, &vertex);
  CHECK(low.x == 0 && low.y == 0 && fabs(low.z - 0.75 * 1.1) < 1e-15);
  carom_vec3 mantle = cm_vec3(-1.1, 0, -0.8);
  CHECK(is_lowest(s[4], ask(s[4], cm_pose_identity(), mantle, false, &vertex), mantle));
  release_all(s);
}

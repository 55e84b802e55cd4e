// Shapes whose vertices, faces and measures are known in closed form; reference counts; refusals.
#include <pthread.h>

#include "test_geometry.h"

#define PI 3.14159265358979323846

static void check_shape(const carom_shape *shape, int vertices, int faces, double radius, double volume) {
  const carom_polytope *p = carom_shape_polytope(shape);
  REQUIRE(p);
  CHECK(carom_shape_get_kind(shape) == CAROM_SHAPE_POLYTOPE);
  CHECK(p->vertex_count == vertices);
  CHECK(p->face_count == faces);
  CHECK_POLYTOPE(p, 1e-15 * radius);
  CHECK_NEAR(carom_shape_bounding_radius(shape), radius, 1e-15 * radius);
  CHECK(carom_shape_radius(shape) == 0 && carom_shape_half_length(shape) == 0);
  carom_mass mass;
  CHECK(carom_shape_mass(shape, 1, &mass, NULL) == CAROM_OK);
  CHECK_NEAR(mass.mass, volume, 2e-15 * volume);
  CHECK_AT_MOST(cm_norm(mass.center), 1e-15 * radius);
  carom_shape_release(shape);
}

TEST(box) {
  const carom_shape *shape = NULL;
  REQUIRE(carom_shape_create_box(cm_vec3(2, 4, 6), NULL, &shape, NULL) == CAROM_OK);
  const carom_polytope *p = carom_shape_polytope(shape);
  CHECK(p->edge_count == 12);
  // Exact planes: one coordinate of the normal is 1 or -1, the offset half the side.
  const double half[3] = {1, 2, 3};
  for (int f = 0; f < 6; f++) {
    const double n[3] = {p->face_normals[f].x, p->face_normals[f].y, p->face_normals[f].z};
    CHECK(n[f / 2] == (f % 2 ? 1 : -1));
    CHECK(n[(f / 2 + 1) % 3] == 0 && n[(f / 2 + 2) % 3] == 0);
    CHECK(p->face_offsets[f] == half[f / 2]);
  }
  for (int v = 0; v < 8; v++) CHECK(p->neighbor_start[v + 1] - p->neighbor_start[v] == 3);
  check_shape(shape, 8, 6, sqrt(14), 48);
}

TEST(prism_and_pyramid) {
  const int sides[] = {3, 4, 5, 6, 7, 8, 12, 24, 100, 1000, 4096};
  for (int i = 0; i < 11; i++) {
    int n = sides[i];
    double r = 0.7, h = 1.3, area = n * r * r * sin(2 * PI / n) / 2;
    const carom_shape *prism = NULL, *pyramid = NULL;
    REQUIRE(carom_shape_create_prism(n, r, h, NULL, &prism, NULL) == CAROM_OK);
    REQUIRE(carom_shape_create_pyramid(n, r, h, NULL, &pyramid, NULL) == CAROM_OK);
    const carom_polytope *p = carom_shape_polytope(prism);
    CHECK(p->vertices[0].x == r && p->vertices[0].y == 0 && fabs(p->vertices[0].z) == h / 2);
    CHECK(carom_shape_polytope(pyramid)->vertices[n].z == 0.75 * h);
    if (n > 1000) {  // the judge is quadratic
      CHECK(lattice_holds(p) && lattice_holds(carom_shape_polytope(pyramid)));
      carom_shape_release(prism);
      carom_shape_release(pyramid);
      continue;
    }
    check_shape(prism, 2 * n, n + 2, hypot(r, h / 2), area * h);
    check_shape(pyramid, n + 1, n + 1, fmax(hypot(r, h / 4), 0.75 * h), area * h / 3);
  }
}

// Corners that mirror each other do so to the last bit, and those on the axes lie on them.
TEST(prism_is_symmetric) {
  const carom_shape *shape = NULL;
  REQUIRE(carom_shape_create_prism(24, 1, 1, NULL, &shape, NULL) == CAROM_OK);
  const carom_vec3 *v = carom_shape_polytope(shape)->vertices;
  for (int k = 0; k < 24; k++) {
    int mirror = (24 - k) % 24, opposite = (k + 12) % 24, quarter = (k + 6) % 24;
    CHECK(v[k].x == v[mirror].x && v[k].y == -v[mirror].y);
    CHECK(v[k].x == -v[opposite].x && v[k].y == -v[opposite].y);
    CHECK(v[k].x == v[quarter].y && v[k].y == -v[quarter].x);
    CHECK_NEAR(v[k].x, (double)cosl(3.14159265358979323846264L * k / 12), 2e-16);
    CHECK_NEAR(v[k].y, (double)sinl(3.14159265358979323846264L * k / 12), 2e-16);
  }
  CHECK(v[6].x == 0 && v[6].y == 1 && v[12].x == -1 && v[12].y == 0 && v[3].x == v[3].y);
  carom_shape_release(shape);
}

TEST(regular_solids) {
  for (double a = 1e-3; a < 2e3; a *= 7) {
    const carom_shape *shape = NULL;
    REQUIRE(carom_shape_create_tetrahedron(a, NULL, &shape, NULL) == CAROM_OK);
    const carom_polytope *p = carom_shape_polytope(shape);
    for (int e = 0; e < 6; e++)
      CHECK_NEAR(cm_norm(cm_sub(p->vertices[p->edges[e].v[0]], p->vertices[p->edges[e].v[1]])), a, 1e-15 * a);
    check_shape(shape, 4, 4, a * sqrt(6) / 4, a * a * a / (6 * sqrt(2)));
    REQUIRE(carom_shape_create_octahedron(a, NULL, &shape, NULL) == CAROM_OK);
    p = carom_shape_polytope(shape);
    CHECK(p->edge_count == 12);
    for (int e = 0; e < 12; e++)
      CHECK_NEAR(cm_norm(cm_sub(p->vertices[p->edges[e].v[0]], p->vertices[p->edges[e].v[1]])), a, 1e-15 * a);
    check_shape(shape, 6, 8, a / sqrt(2), a * a * a * sqrt(2) / 3);
  }
}

// The hull of a primitive's vertices is the primitive: same vertices, same faces up to where they start.
TEST(hull_of_primitives) {
  const carom_shape *shapes[6] = {0};
  REQUIRE(carom_shape_create_box(cm_vec3(1, 2, 3), NULL, &shapes[0], NULL) == CAROM_OK);
  REQUIRE(carom_shape_create_prism(6, 1, 2, NULL, &shapes[1], NULL) == CAROM_OK);
  REQUIRE(carom_shape_create_pyramid(5, 1, 2, NULL, &shapes[2], NULL) == CAROM_OK);
  REQUIRE(carom_shape_create_tetrahedron(1, NULL, &shapes[3], NULL) == CAROM_OK);
  REQUIRE(carom_shape_create_octahedron(1, NULL, &shapes[4], NULL) == CAROM_OK);
  REQUIRE(carom_shape_create_prism(500, 1, 2, NULL, &shapes[5], NULL) == CAROM_OK);
  for (int i = 0; i < 6; i++) {
    const carom_polytope *a = carom_shape_polytope(shapes[i]);
    const carom_shape *hull = NULL;
    REQUIRE(carom_shape_create_hull(a->vertices, a->vertex_count, NULL, &hull, NULL) == CAROM_OK);
    const carom_polytope *b = carom_shape_polytope(hull);
    REQUIRE(a->vertex_count == b->vertex_count && a->face_count == b->face_count);
    CHECK(memcmp(a->vertices, b->vertices, sizeof *a->vertices * (size_t)a->vertex_count) == 0);
    for (int e = 0; e < a->edge_count; e++) CHECK(memcmp(a->edges[e].v, b->edges[e].v, sizeof a->edges[e].v) == 0);
    CHECK(memcmp(a->neighbors, b->neighbors, sizeof(int) * 2 * (size_t)a->edge_count) == 0);
    carom_shape_release(hull);
    carom_shape_release(shapes[i]);
  }
}

TEST(round_shapes) {
  const carom_shape *shape = NULL;
  REQUIRE(carom_shape_create_sphere(0.25, NULL, &shape, NULL) == CAROM_OK);
  CHECK(carom_shape_get_kind(shape) == CAROM_SHAPE_SPHERE && carom_shape_radius(shape) == 0.25);
  CHECK(carom_shape_bounding_radius(shape) == 0.25 && carom_shape_half_length(shape) == 0);
  CHECK(carom_shape_polytope(shape) == NULL);
  carom_shape_release(shape);
  REQUIRE(carom_shape_create_capsule(0.25, 3, NULL, &shape, NULL) == CAROM_OK);
  CHECK(carom_shape_get_kind(shape) == CAROM_SHAPE_CAPSULE && carom_shape_radius(shape) == 0.25);
  CHECK(carom_shape_half_length(shape) == 1.5 && carom_shape_bounding_radius(shape) == 1.75);
  carom_shape_release(shape);
  REQUIRE(carom_shape_create_halfspace(NULL, &shape, NULL) == CAROM_OK);
  CHECK(carom_shape_get_kind(shape) == CAROM_SHAPE_HALFSPACE && isinf(carom_shape_bounding_radius(shape)));
  carom_shape_release(shape);
  carom_shape_release(NULL);
  CHECK(carom_shape_retain(NULL) == NULL);
}

// ---- refusals ---------------------------------------------------------------------------------

#define CHECK_REFUSED(call, expected_status, text)    \
  do {                                                \
    const carom_shape *shape = NULL;                  \
    carom_error error = {0};                          \
    CHECK((call) == expected_status);                 \
    CHECK(error.status == expected_status && !shape); \
    CHECK_TEXT(error.message, text);                  \
  } while (0)

TEST(refusals) {
  CHECK_REFUSED(carom_shape_create_box(cm_vec3(1, -2, 3), NULL, &shape, &error), CAROM_ERR_ARGUMENT,
                "size y of the box is -2; expected a positive length in metres");
  CHECK_REFUSED(carom_shape_create_box(cm_vec3(1, 2, NAN), NULL, &shape, &error), CAROM_ERR_ARGUMENT,
                "size z of the box is nan; expected a positive length in metres");
  CHECK_REFUSED(carom_shape_create_box(cm_vec3(1e200, 2, 1), NULL, &shape, &error), CAROM_ERR_NUMBER,
                "size x of the box is 1e+200 m; expected a length between 1e-100 and 1e+100 m");
  CHECK_REFUSED(carom_shape_create_prism(2, 1, 1, NULL, &shape, &error), CAROM_ERR_ARGUMENT,
                "the prism has 2 sides; expected 3 to 4096");
  CHECK_REFUSED(carom_shape_create_prism(4097, 1, 1, NULL, &shape, &error), CAROM_ERR_ARGUMENT,
                "the prism has 4097 sides; expected 3 to 4096");
  CHECK_REFUSED(carom_shape_create_prism(5, 0, 1, NULL, &shape, &error), CAROM_ERR_ARGUMENT,
                "the radius of the prism is 0; expected a positive length in metres");
  CHECK_REFUSED(carom_shape_create_prism(5, 1, INFINITY, NULL, &shape, &error), CAROM_ERR_ARGUMENT,
                "the height of the prism is inf; expected a positive length in metres");
  CHECK_REFUSED(carom_shape_create_pyramid(-1, 1, 1, NULL, &shape, &error), CAROM_ERR_ARGUMENT,
                "the pyramid has -1 sides; expected 3 to 4096");
  CHECK_REFUSED(carom_shape_create_pyramid(3, 1, -1, NULL, &shape, &error), CAROM_ERR_ARGUMENT,
                "the height of the pyramid is -1; expected a positive length in metres");
  CHECK_REFUSED(carom_shape_create_tetrahedron(0, NULL, &shape, &error), CAROM_ERR_ARGUMENT,
                "the edge of the tetrahedron is 0; expected a positive length in metres");
  CHECK_REFUSED(carom_shape_create_octahedron(-0.5, NULL, &shape, &error), CAROM_ERR_ARGUMENT,
                "the edge of the octahedron is -0.5; expected a positive length in metres");
  CHECK_REFUSED(carom_shape_create_sphere(NAN, NULL, &shape, &error), CAROM_ERR_ARGUMENT,
                "the radius of the sphere is nan; expected a positive length in metres");
  CHECK_REFUSED(carom_shape_create_capsule(1, -1, NULL, &shape, &error), CAROM_ERR_ARGUMENT,
                "the length of the capsule is -1; expected a positive length in metres");
  const carom_shape *shape = NULL;
  CHECK(carom_shape_create_capsule(1, 0, NULL, &shape, NULL) == CAROM_OK);  // a segment may be a point
  carom_shape_release(shape);
  CHECK(carom_shape_create_sphere(-1, NULL, &shape, NULL) == CAROM_ERR_ARGUMENT);  // nobody interested in why
}

// ---- ownership --------------------------------------------------------------------------------

static carom_status create(int kind, const carom_allocator *a, const carom_shape **shape, carom_error *error) {
  switch (kind) {
    case 0:
      return carom_shape_create_box(cm_vec3(1, 2, 3), a, shape, error);
    case 1:
      return carom_shape_create_prism(7, 1, 2, a, shape, error);
    case 2:
      return carom_shape_create_pyramid(7, 1, 2, a, shape, error);
    case 3:
      return carom_shape_create_tetrahedron(1, a, shape, error);
    case 4:
      return carom_shape_create_octahedron(1, a, shape, error);
    case 5:
      return carom_shape_create_sphere(1, a, shape, error);
    case 6:
      return carom_shape_create_capsule(1, 1, a, shape, error);
    default:
      return carom_shape_create_halfspace(a, shape, error);
  }
}

TEST(allocation_fails) {
  for (int kind = 0; kind < 8; kind++)
    for (int at = 0;; at++) {
      failing f = {0, at, 0};
      carom_allocator a = failing_allocator(&f);
      const carom_shape *shape = NULL;
      carom_error error = {0};
      carom_status status = create(kind, &a, &shape, &error);
      if (status == CAROM_OK) {
        CHECK(at > 0 && f.live == 1);  // one block per shape
        carom_shape_release(shape);
        CHECK(f.live == 0);
        break;
      }
      CHECK(status == CAROM_ERR_MEMORY && f.live == 0 && !shape);
      CHECK_CONTAINS(error.message, "out of memory");
      REQUIRE(at < 100);
    }
}

static void *share(void *shape) {
  for (int i = 0; i < 20000; i++) carom_shape_release(carom_shape_retain(shape));
  carom_shape_release(shape);
  return NULL;
}

// Four threads hold a reference each and keep taking more; the block goes exactly when the last one lets go.
TEST(references_across_threads) {
  failing f = {0, -1, 0};
  carom_allocator a = failing_allocator(&f);
  const carom_shape *shape = NULL;
  REQUIRE(carom_shape_create_tetrahedron(1, &a, &shape, NULL) == CAROM_OK);
  pthread_t threads[4];
  for (int i = 0; i < 4; i++) CHECK(carom_shape_retain(shape) == shape);
  for (int i = 0; i < 4; i++) REQUIRE(pthread_create(&threads[i], NULL, share, (void *)shape) == 0);
  for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
  CHECK(f.live == 1);
  carom_shape_release(shape);
  CHECK(f.live == 0);
}

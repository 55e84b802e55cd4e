// Polytopes whose lattice is known beforehand, so that no hull has to be found.
#include <math.h>

#include "base/memory.h"
#include "geometry/polytope.h"
#include "geometry/shape.h"

enum { SIDES_MIN = 3, SIDES_MAX = 4096 };

static carom_status create(const carom_vec3 *vertices, int vertex_count, int face_count, const int *start,
                           const int *corners, const carom_allocator *allocator, const carom_shape **shape,
                           carom_error *error) {
  carom_allocator memory = carom_allocator_or_default(allocator);
  carom_faces faces = {face_count, start, corners};
  return carom_polytope_create(vertices, vertex_count, &faces, &memory, shape, error);
}

carom_status carom_shape_create_box(carom_vec3 size, const carom_allocator *allocator, const carom_shape **shape,
                                    carom_error *error) {
  *shape = NULL;
  carom_status status = carom_check_length("size x of the box", size.x, error);
  if (!status) status = carom_check_length("size y of the box", size.y, error);
  if (!status) status = carom_check_length("size z of the box", size.z, error);
  if (status) return status;
  // Bits 0, 1, 2 of a vertex's number say on which side of x, y, z it lies.
  static const int start[] = {0, 4, 8, 12, 16, 20, 24};
  static const int corners[] = {0, 4, 6, 2, 1, 3, 7, 5, 0, 1, 5, 4, 2, 6, 7, 3, 0, 2, 3, 1, 4, 5, 7, 6};
  carom_vec3 vertices[8];
  for (int i = 0; i < 8; i++)
    vertices[i] =
        cm_vec3(i & 1 ? size.x / 2 : -size.x / 2, i & 2 ? size.y / 2 : -size.y / 2, i & 4 ? size.z / 2 : -size.z / 2);
  return create(vertices, 8, 6, start, corners, allocator, shape, error);
}

carom_status carom_shape_create_tetrahedron(double edge, const carom_allocator *allocator, const carom_shape **shape,
                                            carom_error *error) {
  *shape = NULL;
  carom_status status = carom_check_length("the edge of the tetrahedron", edge, error);
  if (status) return status;
  static const int start[] = {0, 3, 6, 9, 12};
  static const int corners[] = {0, 1, 2, 0, 2, 3, 0, 3, 1, 1, 3, 2};
  double a = edge / sqrt(8);  // alternate corners of a cube of side 2a, whose face diagonals are the edges
  carom_vec3 vertices[4] = {{a, a, a}, {a, -a, -a}, {-a, a, -a}, {-a, -a, a}};
  return create(vertices, 4, 4, start, corners, allocator, shape, error);
}

carom_status carom_shape_create_octahedron(double edge, const carom_allocator *allocator, const carom_shape **shape,
                                           carom_error *error) {
  *shape = NULL;
  carom_status status = carom_check_length("the edge of the octahedron", edge, error);
  if (status) return status;
  static const int start[] = {0, 3, 6, 9, 12, 15, 18, 21, 24};
  static const int corners[] = {0, 2, 4, 2, 1, 4, 1, 3, 4, 3, 0, 4, 2, 0, 5, 1, 2, 5, 3, 1, 5, 0, 3, 5};
  double a = edge / sqrt(2);
  carom_vec3 vertices[6] = {{a, 0, 0}, {-a, 0, 0}, {0, a, 0}, {0, -a, 0}, {0, 0, a}, {0, 0, -a}};
  return create(vertices, 6, 8, start, corners, allocator, shape, error);
}

// ---- prisms and pyramids ----------------------------------------------------------------------

// Corner k of the regular n-gon on the unit circle. The angle is folded into the first octant in whole numbers, so
// that corners which mirror each other do so to the last bit and those on an axis lie on it.
static carom_vec3 corner(int k, int n) {
  int eighth = 8 * k / n, rest = 8 * k % n;  // angle = (eighth + rest/n) pi/4
  if (eighth % 2) rest = n - rest;
  double angle = 0.78539816339744830962 * rest / n, c = cos(angle), s = sin(angle);
  if (rest == n) c = s = 0.70710678118654752440;
  switch (eighth) {
    case 0:
      return cm_vec3(c, s, 0);
    case 1:
      return cm_vec3(s, c, 0);
    case 2:
      return cm_vec3(-s, c, 0);
    case 3:
      return cm_vec3(-c, s, 0);
    case 4:
      return cm_vec3(-c, -s, 0);
    case 5:
      return cm_vec3(-s, -c, 0);
    case 6:
      return cm_vec3(s, -c, 0);
    default:
      return cm_vec3(c, -s, 0);
  }
}

static void ring(carom_vec3 *vertices, int sides, double radius, double z) {
  for (int k = 0; k < sides; k++) {
    carom_vec3 c = corner(k, sides);
    vertices[k] = cm_vec3(radius * c.x, radius * c.y, z);
  }
}

static carom_status check_sides(const char *what, int sides, carom_error *error) {
  if (sides >= SIDES_MIN && sides <= SIDES_MAX) return CAROM_OK;
  return carom_fail(error, CAROM_ERR_ARGUMENT, "the %s has %d sides; expected %d to %d", what, sides, SIDES_MIN,
                    SIDES_MAX);
}

// Bottom, top, then one quadrilateral per side.
static void prism_faces(int n, int *start, int *corners) {
  start[0] = 0;
  start[1] = n;
  for (int k = 0; k < n; k++) {
    corners[k] = n - 1 - k;
    corners[n + k] = n + k;
    int next = (k + 1) % n, side[4] = {k, next, n + next, n + k};
    start[k + 2] = 2 * n + 4 * k;
    for (int i = 0; i < 4; i++) corners[2 * n + 4 * k + i] = side[i];
  }
  start[n + 2] = 6 * n;
}

// Base, then one triangle per side.
static void pyramid_faces(int n, int *start, int *corners) {
  start[0] = 0;
  for (int k = 0; k < n; k++) {
    corners[k] = n - 1 - k;
    int side[3] = {k, (k + 1) % n, n};
    start[k + 1] = n + 3 * k;
    for (int i = 0; i < 3; i++) corners[n + 3 * k + i] = side[i];
  }
  start[n + 1] = 4 * n;
}

carom_status carom_shape_create_prism(int sides, double radius, double height, const carom_allocator *allocator,
                                      const carom_shape **shape, carom_error *error) {
  *shape = NULL;
  carom_status status = check_sides("prism", sides, error);
  if (!status) status = carom_check_length("the radius of the prism", radius, error);
  if (!status) status = carom_check_length("the height of the prism", height, error);
  if (status) return status;
  carom_allocator memory = carom_allocator_or_default(allocator);
  carom_vec3 *vertices = CAROM_NEW(&memory, carom_vec3, 2 * sides);
  int *indices = CAROM_NEW(&memory, int, sides + 3 + 6 * sides);
  if (vertices && indices) {
    ring(vertices, sides, radius, -height / 2);
    ring(vertices + sides, sides, radius, height / 2);
    prism_faces(sides, indices, indices + sides + 3);
    status = create(vertices, 2 * sides, sides + 2, indices, indices + sides + 3, allocator, shape, error);
  } else {
    status = carom_fail(error, CAROM_ERR_MEMORY, "out of memory for a prism of %d sides", sides);
  }
  CAROM_RELEASE_ALL(&memory, vertices, indices);
  return status;
}

carom_status carom_shape_create_pyramid(int sides, double radius, double height, const carom_allocator *allocator,
                                        const carom_shape **shape, carom_error *error) {
  *shape = NULL;
  carom_status status = check_sides("pyramid", sides, error);
  if (!status) status = carom_check_length("the radius of the pyramid", radius, error);
  if (!status) status = carom_check_length("the height of the pyramid", height, error);
  if (status) return status;
  carom_allocator memory = carom_allocator_or_default(allocator);
  carom_vec3 *vertices = CAROM_NEW(&memory, carom_vec3, sides + 1);
  int *indices = CAROM_NEW(&memory, int, sides + 2 + 4 * sides);
  if (vertices && indices) {
    ring(vertices, sides, radius, -height / 4);
    vertices[sides] = cm_vec3(0, 0, 0.75 * height);
    pyramid_faces(sides, indices, indices + sides + 2);
    status = create(vertices, sides + 1, sides + 1, indices, indices + sides + 2, allocator, shape, error);
  } else {
    status = carom_fail(error, CAROM_ERR_MEMORY, "out of memory for a pyramid of %d sides", sides);
  }
  CAROM_RELEASE_ALL(&memory, vertices, indices);
  return status;
}

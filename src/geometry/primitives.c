// Polytopes whose lattice is known beforehand, so that no hull has to be found.
#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "geometry/polygon.h"
#include "geometry/polytope.h"
#include "geometry/shape.h"

enum { SIDES_MIN = 3, SIDES_MAX = 4096 };

static carom_status create(const carom_vec3 *vertices, int count, carom_faces faces, const carom_allocator *allocator,
                           const carom_shape **shape, carom_error *error) {
  carom_allocator heap = carom_allocator_or_default(allocator);
  return carom_polytope_create(vertices, count, &faces, &heap, shape, error);
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
  return create(vertices, 8, (carom_faces){6, start, corners}, allocator, shape, error);
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
  return create(vertices, 4, (carom_faces){4, start, corners}, allocator, shape, error);
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
  return create(vertices, 6, (carom_faces){8, start, corners}, allocator, shape, error);
}

// ---- prisms and pyramids ----------------------------------------------------------------------

static void ring(carom_vec3 *vertices, int sides, double radius, double z) {
  for (int k = 0; k < sides; k++) {
    carom_vec3 c = carom_polygon_corner(k, sides);
    vertices[k] = cm_vec3(radius * c.x, radius * c.y, z);
  }
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

// What is to stand on a regular polygon: "prism" or "pyramid".
typedef struct column {
  const char *name;
  int sides;
  double radius, height;
} column;

static carom_status check_column(const column *c, carom_error *error) {
  char radius[40], height[40];
  snprintf(radius, sizeof radius, "the radius of the %s", c->name);
  snprintf(height, sizeof height, "the height of the %s", c->name);
  if (c->sides < SIDES_MIN || c->sides > SIDES_MAX)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "the %s has %d sides; expected %d to %d", c->name, c->sides, SIDES_MIN,
                      SIDES_MAX);
  carom_status status = carom_check_length(radius, c->radius, error);
  return status ? status : carom_check_length(height, c->height, error);
}

static carom_status create_column(const column *c, bool pointed, const carom_allocator *allocator,
                                  const carom_shape **shape, carom_error *error) {
  *shape = NULL;
  carom_status status = check_column(c, error);
  if (status) return status;
  carom_allocator heap = carom_allocator_or_default(allocator);
  int sides = c->sides, faces = pointed ? sides + 1 : sides + 2;
  carom_vec3 *vertices = CAROM_NEW(&heap, carom_vec3, 2 * sides);
  int *start = CAROM_NEW(&heap, int, faces + 1 + 6 * sides), *corners = start + faces + 1;
  if (!vertices || !start) {
    status = carom_fail(error, CAROM_ERR_MEMORY, "out of memory for a %s of %d sides", c->name, sides);
  } else if (pointed) {
    ring(vertices, sides, c->radius, -c->height / 4);
    vertices[sides] = cm_vec3(0, 0, 0.75 * c->height);
    pyramid_faces(sides, start, corners);
  } else {
    ring(vertices, sides, c->radius, -c->height / 2);
    ring(vertices + sides, sides, c->radius, c->height / 2);
    prism_faces(sides, start, corners);
  }
  if (!status)
    status = carom_polytope_create(vertices, pointed ? sides + 1 : 2 * sides, &(carom_faces){faces, start, corners},
                                   &heap, shape, error);
  CAROM_RELEASE_ALL(&heap, vertices, start);
  return status;
}

carom_status carom_shape_create_prism(int sides, double radius, double height, const carom_allocator *allocator,
                                      const carom_shape **shape, carom_error *error) {
  return create_column(&(column){"prism", sides, radius, height}, false, allocator, shape, error);
}

carom_status carom_shape_create_pyramid(int sides, double radius, double height, const carom_allocator *allocator,
                                        const carom_shape **shape, carom_error *error) {
  return create_column(&(column){"pyramid", sides, radius, height}, true, allocator, shape, error);
}

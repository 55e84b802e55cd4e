#include <string.h>

#include "base/memory.h"
#include "export/surface_parts.h"

static const double pi = 3.14159265358979323846;

bool carom_surface_allocate(carom_surface *surface, int vertices, int faces, int corners, bool normals,
                            const carom_allocator *allocator) {
  *surface = (carom_surface){.vertex_count = vertices, .face_count = faces, .corner_count = corners};
  surface->vertices = CAROM_NEW(allocator, carom_vec3, vertices);
  surface->normals = normals ? CAROM_NEW(allocator, carom_vec3, vertices) : NULL;
  bool enough =
      CAROM_NEW_ALL(allocator, CAROM_ROOM(surface->face_start, faces + 1), CAROM_ROOM(surface->face_vertices, corners));
  if (surface->vertices && (surface->normals || !normals) && enough) return true;
  carom_surface_release(surface, allocator);
  return false;
}

static bool of_polytope(carom_surface *surface, const carom_polytope *polytope, const carom_allocator *allocator) {
  int faces = polytope->face_count, corners = polytope->face_start[faces];
  if (!carom_surface_allocate(surface, polytope->vertex_count, faces, corners, false, allocator)) return false;
  memcpy(surface->vertices, polytope->vertices, (size_t)polytope->vertex_count * sizeof(carom_vec3));
  memcpy(surface->face_start, polytope->face_start, ((size_t)faces + 1) * sizeof(int));
  memcpy(surface->face_vertices, polytope->face_vertices, (size_t)corners * sizeof(int));
  return true;
}

static bool of_halfspace(carom_surface *surface, double reach, const carom_allocator *allocator) {
  if (!carom_surface_allocate(surface, 4, 1, 4, false, allocator)) return false;
  const double x[4] = {-1, 1, 1, -1}, y[4] = {-1, -1, 1, 1};
  for (int i = 0; i < 4; i++) {
    surface->vertices[i] = cm_vec3(x[i] * reach, y[i] * reach, 0);
    surface->face_vertices[i] = i;
  }
  surface->face_start[1] = 4;
  return true;
}

void carom_surface_add_face(carom_surface *surface, int *face, int a, int b, int c, int d) {
  const int corners[4] = {a, b, c, d};
  int at = surface->face_start[*face], count = d < 0 ? 3 : 4;
  memcpy(surface->face_vertices + at, corners, (size_t)count * sizeof(int));
  surface->face_start[++*face] = at + count;
}

// Vertices: the lower pole, `rings` rings from below upwards, the upper pole.
static void add_round_faces(carom_surface *surface, int rings, int around) {
  int face = 0, top = 1 + rings * around;
  for (int i = 0; i < around; i++) {
    int j = (i + 1) % around;
    carom_surface_add_face(surface, &face, 0, 1 + j, 1 + i, -1);
    for (int r = 0; r + 1 < rings; r++) {
      int lower = 1 + r * around, upper = lower + around;
      carom_surface_add_face(surface, &face, lower + i, lower + j, upper + j, upper + i);
    }
    carom_surface_add_face(surface, &face, top - around + i, top - around + j, top, -1);
  }
}

static void put_round_vertex(carom_surface *surface, int v, double radius, double shift, double latitude,
                             double longitude) {
  carom_vec3 n = cm_vec3(cos(latitude) * cos(longitude), cos(latitude) * sin(longitude), sin(latitude));
  surface->normals[v] = n;
  surface->vertices[v] = cm_axpy(cm_vec3(0, 0, shift), radius, n);
}

// A sphere, pulled apart by `half_length` at its equator, which is there twice in a capsule. `detail` rings lie between
// a pole and the equator, which included.
static bool of_round(carom_surface *surface, double radius, double half_length, int detail,
                     const carom_allocator *allocator) {
  int around = 4 * detail, equators = half_length > 0 ? 2 : 1, half = detail - 1, rings = 2 * half + equators;
  int faces = around * (rings + 1), corners = around * (4 * (rings - 1) + 6);
  if (!carom_surface_allocate(surface, 2 + rings * around, faces, corners, true, allocator)) return false;
  put_round_vertex(surface, 0, radius, -half_length, -pi / 2, 0);
  put_round_vertex(surface, surface->vertex_count - 1, radius, half_length, pi / 2, 0);
  for (int r = 0; r < rings; r++) {
    bool upper = r >= half + equators - 1;
    int from_equator = upper ? r - (half + equators - 1) : r - half;  // 0 on an equator, negative below
    double latitude = from_equator * pi / 2 / detail;
    double shift = equators == 1 ? 0 : upper ? half_length : -half_length;
    for (int i = 0; i < around; i++)
      put_round_vertex(surface, 1 + r * around + i, radius, shift, latitude, 2 * pi * i / around);
  }
  add_round_faces(surface, rings, around);
  return true;
}

// The unit sphere, stretched; normals stretch the other way.
static bool of_ellipsoid(carom_surface *surface, carom_vec3 axes, int detail, const carom_allocator *allocator) {
  if (!of_round(surface, 1, 0, detail, allocator)) return false;
  for (int v = 0; v < surface->vertex_count; v++) {
    carom_vec3 n = surface->normals[v];
    surface->vertices[v] = cm_mul_diag(axes, surface->vertices[v]);
    surface->normals[v] = cm_unit(cm_vec3(n.x / axes.x, n.y / axes.y, n.z / axes.z));
  }
  return true;
}

typedef struct circle {
  double radius, z, slope, turn;  // slope of the normals; turn in steps of its corners
} circle;

static void put_ring(carom_surface *surface, int ring, int around, circle c) {
  for (int i = 0; i < around; i++) {
    double angle = 2 * pi * (i + c.turn) / around;
    surface->vertices[ring * around + i] = cm_vec3(c.radius * cos(angle), c.radius * sin(angle), c.z);
    surface->normals[ring * around + i] = cm_vec3(cos(c.slope) * cos(angle), cos(c.slope) * sin(angle), sin(c.slope));
  }
}

static void add_disc(carom_surface *surface, int *face, int ring, int around, bool up) {
  int at = surface->face_start[*face];
  for (int i = 0; i < around; i++) surface->face_vertices[at + i] = ring * around + (up ? i : around - 1 - i);
  surface->face_start[++*face] = at + around;
}

// Rings: the bottom disc, the lower and the upper end of the mantle, the top disc. The rims are there twice, as their
// normals are two.
static bool of_cylinder(carom_surface *surface, carom_vec3 axes, int detail, const carom_allocator *allocator) {
  int around = 4 * detail, face = 0;
  if (!carom_surface_allocate(surface, 4 * around, around + 2, 6 * around, true, allocator)) return false;
  for (int ring = 0; ring < 4; ring++) {
    double slope = ring == 0 ? -pi / 2 : ring == 3 ? pi / 2 : 0;
    put_ring(surface, ring, around, (circle){axes.x, ring < 2 ? -axes.z : axes.z, slope, 0});
  }
  add_disc(surface, &face, 0, around, false);
  for (int i = 0, j = 1; i < around; i++, j = (i + 1) % around)
    carom_surface_add_face(surface, &face, around + i, around + j, 2 * around + j, 2 * around + i);
  add_disc(surface, &face, 3, around, true);
  return true;
}

// Rings: the base, the lower end of the mantle, and the apex once for every facet with the normal amid that facet.
static bool of_cone(carom_surface *surface, carom_vec3 axes, int detail, const carom_allocator *allocator) {
  int around = 4 * detail, face = 0;
  double height = 2 * axes.z, slope = atan2(axes.x, height);
  if (!carom_surface_allocate(surface, 3 * around, around + 1, 4 * around, true, allocator)) return false;
  put_ring(surface, 0, around, (circle){axes.x, -height / 4, -pi / 2, 0});
  put_ring(surface, 1, around, (circle){axes.x, -height / 4, slope, 0});
  put_ring(surface, 2, around, (circle){0, 0.75 * height, slope, 0.5});
  add_disc(surface, &face, 0, around, false);
  for (int i = 0; i < around; i++)
    carom_surface_add_face(surface, &face, around + i, around + (i + 1) % around, 2 * around + i, -1);
  return true;
}

bool carom_surface_create(carom_surface *surface, const carom_shape *shape, const carom_surface_options *options,
                          const carom_allocator *allocator) {
  switch (carom_shape_get_kind(shape)) {
    case CAROM_SHAPE_SPHERE:
      return of_round(surface, carom_shape_radius(shape), 0, options->detail, allocator);
    case CAROM_SHAPE_CAPSULE:
      return of_round(surface, carom_shape_radius(shape), carom_shape_half_length(shape), options->detail, allocator);
    case CAROM_SHAPE_HALFSPACE:
      return of_halfspace(surface, options->reach, allocator);
    case CAROM_SHAPE_ELLIPSOID:
      return of_ellipsoid(surface, carom_shape_half_axes(shape), options->detail, allocator);
    case CAROM_SHAPE_CYLINDER:
      return of_cylinder(surface, carom_shape_half_axes(shape), options->detail, allocator);
    case CAROM_SHAPE_CONE:
      return of_cone(surface, carom_shape_half_axes(shape), options->detail, allocator);
    case CAROM_SHAPE_POLYTOPE:
      break;
  }
  if (carom_shape_radius(shape) > 0) return carom_surface_of_rounded(surface, shape, options->detail, allocator);
  return of_polytope(surface, carom_shape_polytope(shape), allocator);
}

void carom_surface_release(carom_surface *surface, const carom_allocator *allocator) {
  CAROM_RELEASE_ALL(allocator, surface->vertices, surface->normals, surface->face_start, surface->face_vertices);
  *surface = (carom_surface){0};
}

// From a mesh to a shape: is it whole, is it closed, is it convex?
#include "base/memory.h"
#include "geometry/mesh.h"
#include "geometry/polytope.h"
#include "geometry/shape.h"
#include "geometry/weld.h"

#define CONVEX_TOLERANCE 1e-9  // of the extent
#define EPSILON 0x1p-52

carom_status carom_mesh_check(const carom_mesh *mesh, carom_error *error) {
  if (mesh->vertex_count < 1 || mesh->triangle_count < 0 || !mesh->vertices ||
      (mesh->triangle_count > 0 && !mesh->triangles) || mesh->triangle_count > INT32_MAX / 3)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "a mesh of %d vertices and %d triangles; expected some of each",
                      mesh->vertex_count, mesh->triangle_count);
  int bad = carom_find_bad_point(mesh->vertices, mesh->vertex_count);
  if (bad >= 0)
    return carom_fail(error, CAROM_ERR_NUMBER,
                      "vertex %d of the mesh is (%g, %g, %g); expected finite coordinates below %g m", bad,
                      mesh->vertices[bad].x, mesh->vertices[bad].y, mesh->vertices[bad].z, CAROM_LENGTH_MAX);
  for (int i = 0; i < 3 * mesh->triangle_count; i++)
    if (mesh->triangles[i] < 0 || mesh->triangles[i] >= mesh->vertex_count)
      return carom_fail(error, CAROM_ERR_ARGUMENT, "triangle %d of the mesh refers to vertex %d; expected 0 to %d",
                        i / 3, mesh->triangles[i], mesh->vertex_count - 1);
  return CAROM_OK;
}

// ---- closed -----------------------------------------------------------------------------------

static carom_status explain_fault(const carom_edge_fault *f, carom_error *error) {
  int uses = f->forward + f->backward;
  const char *what = uses == 1   ? "the surface has a hole there; close it"
                     : uses == 2 ? "the two are wound in opposite senses; make the orientation consistent"
                                 : "more than two meet there; separate the parts";
  return carom_fail(
      error, CAROM_ERR_GEOMETRY,
      "the mesh is not closed: the edge between vertices %d and %d (triangle %d) belongs to %d triangle%s: "
      "%s, or ask for the hull (hull: true)",
      f->v[0], f->v[1], f->face, uses, uses == 1 ? "" : "s", what);
}

carom_status carom_mesh_check_closed(const carom_mesh *mesh, const carom_allocator *allocator, carom_error *error) {
  if (mesh->triangle_count == 0)
    return carom_fail(error, CAROM_ERR_GEOMETRY,
                      "the mesh has no triangles, only %d vertices; ask for the hull (hull: true)", mesh->vertex_count);
  int *start = CAROM_NEW(allocator, int, (size_t)mesh->triangle_count + 1);
  if (!start) return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for checking a mesh");
  for (int i = 0; i <= mesh->triangle_count; i++) start[i] = 3 * i;
  carom_faces faces = {mesh->triangle_count, start, mesh->triangles};
  carom_halfedges edges;
  carom_edge_fault fault;
  carom_status status = carom_halfedges_create(&faces, mesh->vertex_count, allocator, &edges, &fault);
  if (!status) carom_halfedges_destroy(&edges, allocator);
  if (status == CAROM_ERR_GEOMETRY) explain_fault(&fault, error);
  if (status == CAROM_ERR_MEMORY) carom_fail(error, status, "out of memory for checking a mesh");
  carom_release(allocator, start);
  return status;
}

// ---- convex -----------------------------------------------------------------------------------

typedef struct dent {
  double depth, allowed;
  int triangle, vertex;  // the vertex counted in the hull
} dent;

// How far the hull sticks out of one triangle's plane. The plane of a thin triangle is known only so well: rounding of
// its corners moves it at the far end of the mesh by eps extent^2 / height.
static bool measure(const carom_mesh *mesh, const carom_polytope *hull, const carom_bounds *b, int t, int *near,
                    dent *found) {
  carom_vec3 v[3];
  double longest = 0;
  for (int k = 0; k < 3; k++) v[k] = mesh->vertices[mesh->triangles[3 * t + k]];
  for (int k = 0; k < 3; k++) longest = fmax(longest, cm_norm(cm_sub(v[(k + 1) % 3], v[k])));
  carom_vec3 normal = cm_cross(cm_sub(v[1], v[0]), cm_sub(v[2], v[0]));
  double height = longest > 0 ? cm_norm(normal) / longest : 0;
  if (!(height > EPSILON * b->largest)) return false;
  normal = cm_unit(normal);
  *near = carom_polytope_climb(hull, normal, *near);
  found->depth = cm_dot(normal, cm_sub(hull->vertices[*near], v[0]));
  found->allowed = CONVEX_TOLERANCE * b->extent + 8 * EPSILON * b->largest * (1 + b->extent / height);
  found->triangle = t;
  found->vertex = *near;
  return true;
}

static int mesh_vertex_at(const carom_mesh *mesh, carom_vec3 p) {
  for (int i = 0; i < mesh->vertex_count; i++)
    if (cm_norm2(cm_sub(mesh->vertices[i], p)) == 0) return i;
  return -1;
}

static carom_status check_convex(const carom_mesh *mesh, const carom_polytope *hull, const carom_bounds *b,
                                 carom_error *error) {
  dent worst = {0};
  int near = 0;
  for (int t = 0; t < mesh->triangle_count; t++) {
    dent found;
    if (!measure(mesh, hull, b, t, &near, &found) || found.depth <= found.allowed) continue;
    if (found.depth > worst.depth) worst = found;
  }
  if (worst.depth == 0) return CAROM_OK;
  return carom_fail(
      error, CAROM_ERR_NOT_CONVEX,
      "the mesh is not convex: vertex %d lies %.3g m (%.3g of the extent) outside the plane of triangle %d; "
      "ask for the hull (hull: true) or split it into convex parts",
      mesh_vertex_at(mesh, hull->vertices[worst.vertex]), worst.depth, worst.depth / b->extent, worst.triangle);
}

static double enclosed_volume(const carom_mesh *mesh, carom_vec3 o) {
  double volume = 0;
  for (int t = 0; t < mesh->triangle_count; t++) {
    const int *c = mesh->triangles + 3 * t;
    carom_vec3 p = cm_sub(mesh->vertices[c[0]], o);
    volume += cm_dot(p, cm_cross(cm_sub(mesh->vertices[c[1]], o), cm_sub(mesh->vertices[c[2]], o))) / 6;
  }
  return volume;
}

// ---- the shape --------------------------------------------------------------------------------

// The vertices that triangles use, or all of them when there are no triangles.
static int collect(const carom_mesh *mesh, carom_vec3 *points, bool *used) {
  int count = 0;
  for (int i = 0; i < 3 * mesh->triangle_count; i++) used[mesh->triangles[i]] = true;
  for (int i = 0; i < mesh->vertex_count; i++)
    if (used[i] || mesh->triangle_count == 0) points[count++] = mesh->vertices[i];
  return count;
}

static carom_status create_hull(const carom_mesh *mesh, const carom_allocator *allocator, carom_bounds *bounds,
                                const carom_shape **shape, carom_error *error) {
  carom_vec3 *points = CAROM_NEW(allocator, carom_vec3, mesh->vertex_count);
  bool *used = CAROM_NEW(allocator, bool, mesh->vertex_count);
  carom_status status = CAROM_ERR_MEMORY;
  if (points && used) {
    int count = collect(mesh, points, used);
    *bounds = carom_bounds_of(points, count);
    status = carom_shape_create_hull(points, count, allocator, shape, error);
  } else {
    carom_fail(error, status, "out of memory for the hull of a mesh");
  }
  CAROM_RELEASE_ALL(allocator, points, used);
  return status;
}

carom_status carom_shape_create_mesh(const carom_mesh *mesh, const carom_mesh_options *options,
                                     const carom_allocator *allocator, const carom_shape **shape, carom_error *error) {
  *shape = NULL;
  carom_allocator heap = carom_allocator_or_default(allocator);
  bool hull = options && options->hull;
  carom_bounds bounds;
  const carom_shape *made = NULL;
  carom_status status = carom_mesh_check(mesh, error);
  if (!status && !hull) status = carom_mesh_check_closed(mesh, &heap, error);
  if (!status) status = create_hull(mesh, &heap, &bounds, &made, error);
  if (!status && !hull && enclosed_volume(mesh, bounds.center) < 0)
    status = carom_fail(error, CAROM_ERR_GEOMETRY,
                        "the mesh is inside out: its triangles are clockwise seen from outside; reverse their order or "
                        "ask for the hull (hull: true)");
  if (!status && !hull) status = check_convex(mesh, carom_shape_polytope(made), &bounds, error);
  if (status)
    carom_shape_release(made);
  else
    *shape = made;
  return status;
}

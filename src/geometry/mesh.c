// Meshes from files or memory: what OBJ and STL have in common.
#include "geometry/mesh.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/read_file.h"
#include "geometry/shape.h"
#include "geometry/weld.h"

#define FILE_MAX ((int64_t)1 << 31)
#define WELD_MAX 0.1  // of the extent; more would weld a mesh to nothing

carom_mesh_options carom_mesh_default_options(void) {
  carom_mesh_options options = {.scale = 1, .hull = false, .weld_tolerance = 1e-9};
  return options;
}

void carom_mesh_release(carom_mesh *mesh) {
  if (!mesh) return;
  carom_allocator allocator = carom_mesh_allocator(mesh);
  CAROM_RELEASE_ALL(&allocator, mesh->vertices, mesh->triangles);
  *mesh = (carom_mesh){0};
}

carom_allocator carom_mesh_allocator(const carom_mesh *mesh) {
  return mesh->allocator.allocate ? mesh->allocator : carom_allocator_default();
}

// ---- collecting -------------------------------------------------------------------------------

carom_status carom_soup_add_vertex(carom_soup *soup, carom_vec3 vertex, carom_error *error) {
  void *array = soup->vertices;
  if (!carom_grow(&soup->allocator, &array, soup->vertex_count, &soup->vertex_capacity, sizeof vertex))
    return carom_fail(error, CAROM_ERR_MEMORY, "out of memory after %d vertices", soup->vertex_count);
  soup->vertices = array;
  soup->vertices[soup->vertex_count++] = vertex;
  return CAROM_OK;
}

carom_status carom_soup_add_triangle(carom_soup *soup, int a, int b, int c, carom_error *error) {
  carom_triangle triangle = {{a, b, c}};
  void *array = soup->triangles;
  if (soup->triangle_count >= INT32_MAX / 3)
    return carom_fail(error, CAROM_ERR_LIMIT, "more than %d triangles", INT32_MAX / 3);
  if (!carom_grow(&soup->allocator, &array, soup->triangle_count, &soup->triangle_capacity, sizeof triangle))
    return carom_fail(error, CAROM_ERR_MEMORY, "out of memory after %d triangles", soup->triangle_count);
  soup->triangles = array;
  soup->triangles[soup->triangle_count++] = triangle;
  return CAROM_OK;
}

static void soup_release(carom_soup *soup) { CAROM_RELEASE_ALL(&soup->allocator, soup->vertices, soup->triangles); }

// ---- welding ----------------------------------------------------------------------------------

static carom_status scale_vertices(const char *name, carom_soup *soup, double scale, carom_error *error) {
  for (int i = 0; i < soup->vertex_count; i++) soup->vertices[i] = cm_scale(scale, soup->vertices[i]);
  int bad = carom_find_bad_point(soup->vertices, soup->vertex_count);
  if (bad < 0) return CAROM_OK;
  return carom_fail(error, CAROM_ERR_NUMBER, "%s: vertex %d is beyond %g m after scaling by %g", name, bad,
                    CAROM_LENGTH_MAX, scale);
}

// first (vertex_count) names for each vertex the one it is welded to; it becomes the new number.
static void renumber_vertices(carom_soup *soup, int *first) {
  int kept = 0;
  for (int i = 0; i < soup->vertex_count; i++) {
    bool own = first[i] == i;
    if (own) soup->vertices[kept] = soup->vertices[i];
    first[i] = own ? kept++ : first[first[i]];  // a kept vertex comes before all that are welded to it
  }
  soup->vertex_count = kept;
}

// Triangles with a corner twice vanish. Thin ones with three corners stay: without them the surface would not close.
static void renumber_triangles(carom_soup *soup, const int *number) {
  int kept = 0;
  for (int i = 0; i < soup->triangle_count; i++) {
    carom_triangle t = soup->triangles[i];
    for (int k = 0; k < 3; k++) t.v[k] = number[t.v[k]];
    if (t.v[0] != t.v[1] && t.v[1] != t.v[2] && t.v[2] != t.v[0]) soup->triangles[kept++] = t;
  }
  soup->triangle_count = kept;
}

static carom_status weld(const char *name, carom_soup *soup, double tolerance, carom_error *error) {
  int *first = CAROM_NEW(&soup->allocator, int, soup->vertex_count);
  double extent = carom_bounds_of(soup->vertices, soup->vertex_count).extent;
  bool welded = first && carom_weld(soup->vertices, soup->vertex_count, tolerance * extent, &soup->allocator, first);
  if (welded) {
    renumber_vertices(soup, first);
    renumber_triangles(soup, first);
  }
  carom_release(&soup->allocator, first);
  return welded ? CAROM_OK : carom_fail(error, CAROM_ERR_MEMORY, "%s: out of memory for welding", name);
}

// ---- reading ----------------------------------------------------------------------------------

static carom_status check_options(const carom_mesh_options *o, carom_error *error) {
  if (!isfinite(o->scale) || o->scale <= 0)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "the scale of a mesh is %g; expected a positive number", o->scale);
  if (!(o->weld_tolerance >= 0 && o->weld_tolerance <= WELD_MAX))
    return carom_fail(error, CAROM_ERR_ARGUMENT, "the weld tolerance is %g; expected 0 to %g (of the extent)",
                      o->weld_tolerance, WELD_MAX);
  return CAROM_OK;
}

static carom_status parse_text_or_binary(const char *name, const char *data, size_t size, carom_soup *soup,
                                         carom_error *error) {
  carom_plain_locale locale;
  if (!carom_plain_locale_begin(&locale))
    return carom_fail(error, CAROM_ERR_MEMORY, "%s: out of memory for a locale", name);
  bool stl = carom_has_extension(name, "stl") || (!carom_has_extension(name, "obj") && carom_stl_recognize(data, size));
  carom_status status =
      stl ? carom_stl_parse(name, data, size, soup, error) : carom_obj_parse(name, data, size, soup, error);
  carom_plain_locale_end(&locale);
  return status;
}

carom_status carom_mesh_parse(const carom_bytes *bytes, const carom_mesh_options *options,
                              const carom_allocator *allocator, carom_mesh *mesh, carom_error *error) {
  carom_mesh_options o = options ? *options : carom_mesh_default_options();
  carom_soup soup = {.allocator = carom_allocator_or_default(allocator)};
  carom_status status = check_options(&o, error);
  if (status) return status;
  const char *name = bytes->name ? bytes->name : "mesh";
  if (!bytes->data || bytes->size == 0) return carom_fail(error, CAROM_ERR_FORMAT, "%s: the file is empty", name);
  status = parse_text_or_binary(name, bytes->data, bytes->size, &soup, error);
  if (!status) status = scale_vertices(name, &soup, o.scale, error);
  if (!status) status = weld(name, &soup, o.weld_tolerance, error);
  if (status) {
    soup_release(&soup);
    return status;
  }
  mesh->vertex_count = soup.vertex_count;
  mesh->triangle_count = soup.triangle_count;
  mesh->vertices = soup.vertices;
  mesh->triangles = soup.triangles ? soup.triangles->v : NULL;
  mesh->allocator = soup.allocator;
  return CAROM_OK;
}

carom_status carom_mesh_read(const char *path, const carom_mesh_options *options, const carom_allocator *allocator,
                             carom_mesh *mesh, carom_error *error) {
  carom_allocator heap = carom_allocator_or_default(allocator);
  carom_error why;
  size_t size;
  char *data = carom_read_file(path, FILE_MAX, &heap, &size, &why);
  if (!data) return carom_fail(error, why.status, "%s: cannot be read: %s", path, why.message);
  carom_status status = carom_mesh_parse(&(carom_bytes){path, data, size}, options, allocator, mesh, error);
  carom_release(&heap, data);
  return status;
}

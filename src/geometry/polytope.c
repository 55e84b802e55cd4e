#include "geometry/polytope.h"

#include <string.h>

#include "base/memory.h"
#include "geometry/shape.h"

enum { CLIMB_FROM = 64 };  // vertices: below, looking at all is as quick

// The arrays of a polytope while they are being filled.
typedef struct parts {
  carom_vec3 *vertices, *normals;
  double *offsets, *lanes;
  carom_polytope_edge *edges;
  int *face_start, *face_vertices, *neighbor_start, *neighbors;
} parts;

static size_t padded(size_t v) { return (v + CAROM_SHAPE_LANES - 1) / CAROM_SHAPE_LANES * CAROM_SHAPE_LANES; }

static size_t parts_size(size_t v, size_t f, size_t e) {
  return (v + f) * sizeof(carom_vec3) + (f + 3 * padded(v)) * sizeof(double) + e * sizeof(carom_polytope_edge) +
         (f + 1 + 2 * e + v + 1 + 2 * e) * sizeof(int);
}

// Carves the block behind the shape, widest elements first so that all stay aligned.
static parts carve(carom_shape *shape, size_t v, size_t f, size_t e) {
  parts p;
  p.vertices = (carom_vec3 *)(void *)(shape + 1);
  p.normals = p.vertices + v;
  p.offsets = (double *)(void *)(p.normals + f);
  p.lanes = p.offsets + f;
  p.edges = (carom_polytope_edge *)(void *)(p.lanes + 3 * padded(v));
  p.face_start = (int *)(void *)(p.edges + e);
  p.face_vertices = p.face_start + f + 1;
  p.neighbor_start = p.face_vertices + 2 * e;
  p.neighbors = p.neighbor_start + v + 1;
  carom_polytope polytope = {(int)v,    (int)f,    (int)e,  p.vertices,       p.face_start, p.face_vertices,
                             p.normals, p.offsets, p.edges, p.neighbor_start, p.neighbors};
  shape->polytope = polytope;
  shape->lane_count = (int)padded(v);
  for (int axis = 0; axis < 3; axis++) shape->lanes[axis] = p.lanes + (size_t)axis * padded(v);
  return p;
}

static void fill_lanes(carom_shape *shape, parts *p, const carom_vec3 *vertices, int count) {
  size_t n = (size_t)shape->lane_count;
  carom_vec3 sum = cm_zero3();
  for (size_t i = 0; i < n; i++) {
    carom_vec3 v = vertices[i < (size_t)count ? i : 0];
    p->lanes[i] = v.x, p->lanes[n + i] = v.y, p->lanes[2 * n + i] = v.z;
  }
  for (int i = 0; i < count; i++) sum = cm_add(sum, vertices[i]);
  shape->center = cm_scale(1.0 / count, sum);
}

// The plane midway between the lowest and the highest corner, so that no corner is further off than it must be.
static bool fit_plane(const carom_vec3 *vertices, const int *corners, int count, carom_vec3 *normal, double *offset) {
  carom_vec3 n = cm_unit(carom_newell(vertices, corners, count));
  if (!(cm_norm2(n) > 0)) return false;
  double low = cm_dot(n, vertices[corners[0]]), high = low;
  for (int i = 1; i < count; i++) {
    low = fmin(low, cm_dot(n, vertices[corners[i]]));
    high = fmax(high, cm_dot(n, vertices[corners[i]]));
  }
  *normal = n;
  *offset = low + (high - low) / 2;
  return true;
}

static void fill_edges(parts *p, int edge_count, const carom_faces *faces, const carom_halfedges *h) {
  for (int i = 0; i < edge_count; i++) {
    int a = h->sorted[2 * i], b = h->sorted[2 * i + 1];
    p->edges[i] = (carom_polytope_edge){{faces->corners[a], faces->corners[b]}, {h->face[a], h->face[b]}};
  }
}

// Edges are sorted by (lower, higher) vertex, so taking first all lower neighbours and then all higher ones leaves
// every list ascending.
static void fill_neighbors(parts *p, int vertex_count, int edge_count) {
  int *start = p->neighbor_start;
  for (int i = 0; i < edge_count; i++)
    for (int k = 0; k < 2; k++) start[p->edges[i].v[k] + 1]++;
  for (int v = 0; v < vertex_count; v++) start[v + 1] += start[v];
  for (int i = 0; i < edge_count; i++) p->neighbors[start[p->edges[i].v[1]]++] = p->edges[i].v[0];
  for (int i = 0; i < edge_count; i++) p->neighbors[start[p->edges[i].v[0]]++] = p->edges[i].v[1];
  // Each start has moved on to the next list's: move them back.
  for (int v = vertex_count; v > 0; v--) start[v] = start[v - 1];
  start[0] = 0;
}

double carom_polytope_width(const carom_polytope *polytope, int face, int *near) {
  carom_vec3 normal = polytope->face_normals[face];
  if (polytope->vertex_count > CLIMB_FROM) {
    *near = carom_polytope_climb(polytope, cm_neg(normal), *near);
    return polytope->face_offsets[face] - cm_dot(normal, polytope->vertices[*near]);
  }
  double lowest = INFINITY;
  for (int v = 0; v < polytope->vertex_count; v++) lowest = fmin(lowest, cm_dot(normal, polytope->vertices[v]));
  return polytope->face_offsets[face] - lowest;
}

static double half_depth_of(const carom_polytope *polytope) {
  double least = INFINITY;
  int near = 0;
  for (int f = 0; f < polytope->face_count; f++) least = fmin(least, 0.5 * carom_polytope_width(polytope, f, &near));
  return least;
}

static bool fill(carom_shape *shape, parts *p, const carom_vec3 *vertices, const carom_faces *faces,
                 const carom_halfedges *h) {
  carom_polytope *q = &shape->polytope;
  memcpy(p->vertices, vertices, sizeof *vertices * (size_t)q->vertex_count);
  memcpy(p->face_start, faces->start, sizeof(int) * ((size_t)faces->count + 1));
  memcpy(p->face_vertices, faces->corners, sizeof(int) * (size_t)faces->start[faces->count]);
  fill_lanes(shape, p, vertices, q->vertex_count);
  fill_edges(p, q->edge_count, faces, h);
  fill_neighbors(p, q->vertex_count, q->edge_count);
  for (int i = 0; i < q->vertex_count; i++) shape->bounding_radius = fmax(shape->bounding_radius, cm_norm(vertices[i]));
  for (int f = 0; f < faces->count; f++)
    if (!fit_plane(vertices, faces->corners + faces->start[f], faces->start[f + 1] - faces->start[f], &p->normals[f],
                   &p->offsets[f]))
      return false;
  shape->half_depth = half_depth_of(q);
  return true;
}

carom_status carom_polytope_create(const carom_vec3 *vertices, int vertex_count, const carom_faces *faces,
                                   const carom_allocator *allocator, const carom_shape **shape, carom_error *error) {
  carom_halfedges h;
  carom_edge_fault fault;
  carom_status status = carom_halfedges_create(faces, vertex_count, allocator, &h, &fault);
  if (status == CAROM_ERR_MEMORY) return carom_fail(error, status, "out of memory for a polytope");
  if (status)
    return carom_fail(error, status, "the faces of a polytope do not close at the edge between vertices %d and %d",
                      fault.v[0], fault.v[1]);
  int edge_count = h.count / 2;
  carom_shape *made = NULL;
  if (vertex_count - edge_count + faces->count != 2) {
    status = carom_fail(error, CAROM_ERR_GEOMETRY, "the faces of a polytope do not bound one solid: V - E + F = %d",
                        vertex_count - edge_count + faces->count);
  } else {
    size_t v = (size_t)vertex_count, f = (size_t)faces->count, e = (size_t)edge_count;
    made = carom_shape_allocate(CAROM_SHAPE_POLYTOPE, parts_size(v, f, e), allocator);
    if (!made) {
      status = carom_fail(error, CAROM_ERR_MEMORY, "out of memory for a polytope of %d vertices", vertex_count);
    } else {
      parts p = carve(made, v, f, e);
      if (!fill(made, &p, vertices, faces, &h))
        status = carom_fail(error, CAROM_ERR_GEOMETRY, "a face of a polytope has no area");
    }
  }
  carom_halfedges_destroy(&h, allocator);
  if (status)
    carom_shape_release(made);
  else
    *shape = made;
  return status;
}

int carom_polytope_climb(const carom_polytope *polytope, carom_vec3 direction, int start) {
  int best = start;
  double height = cm_dot(direction, polytope->vertices[best]);
  for (int from = -1; from != best;) {
    from = best;
    for (int k = polytope->neighbor_start[from]; k < polytope->neighbor_start[from + 1]; k++) {
      double h = cm_dot(direction, polytope->vertices[polytope->neighbors[k]]);
      if (h > height) height = h, best = polytope->neighbors[k];
    }
  }
  return best;
}

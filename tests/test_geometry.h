// What the tests of the geometry module share: a judge of face lattices, random solids, a failing allocator.
#ifndef CAROM_TEST_GEOMETRY_H
#define CAROM_TEST_GEOMETRY_H

#include "carom/geometry.h"
#include "test.h"

static inline double max2(double a, double b) { return a > b ? a : b; }

static inline double norm_of(carom_mat3 A) {
  double s = 0;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) s += A.m[i][j] * A.m[i][j];
  return sqrt(s);
}

static inline carom_vec3 random_vec(carom_random *r) {
  double x = carom_random_between(r, -1, 1), y = carom_random_between(r, -1, 1);
  return cm_vec3(x, y, carom_random_between(r, -1, 1));
}

static inline carom_vec3 random_direction(carom_random *r) {
  double x = carom_random_normal(r), y = carom_random_normal(r);
  return cm_unit(cm_vec3(x, y, carom_random_normal(r)));
}

static inline carom_quat random_rotation(carom_random *r) {
  double w = carom_random_normal(r), x = carom_random_normal(r), y = carom_random_normal(r);
  return cm_qunit(cm_quat(w, x, y, carom_random_normal(r)));
}

// ---- the judge of lattices --------------------------------------------------------------------

static inline double extent_of(const carom_polytope *p) {
  double e = 0;
  for (int i = 1; i < p->vertex_count; i++) e = max2(e, cm_norm(cm_sub(p->vertices[i], p->vertices[0])));
  return e;
}

// The edge between two vertices, by bisection (edges are sorted by lower, then higher vertex); null when there is none.
static inline const carom_polytope_edge *find_edge(const carom_polytope *p, int low, int high) {
  int a = 0, b = p->edge_count;
  while (a < b) {
    int m = a + (b - a) / 2;
    const carom_polytope_edge *e = &p->edges[m];
    if (e->v[0] < low || (e->v[0] == low && e->v[1] < high))
      a = m + 1;
    else
      b = m;
  }
  return a < p->edge_count && p->edges[a].v[0] == low && p->edges[a].v[1] == high ? &p->edges[a] : NULL;
}

static inline bool are_neighbors(const carom_polytope *p, int v, int w) {
  int a = p->neighbor_start[v], b = p->neighbor_start[v + 1];
  while (a < b) {
    int m = a + (b - a) / 2;
    if (p->neighbors[m] < w)
      a = m + 1;
    else
      b = m;
  }
  return a < p->neighbor_start[v + 1] && p->neighbors[a] == w;
}

// Every side of every face is a side of an edge that names this face on the proper hand. With 2 E sides in all and no
// edge twice, each edge then has exactly two faces.
static inline bool sides_match(const carom_polytope *p) {
  for (int f = 0; f < p->face_count; f++) {
    int n = p->face_start[f + 1] - p->face_start[f];
    const int *c = p->face_vertices + p->face_start[f];
    if (n < 3) return false;
    for (int i = 0; i < n; i++) {
      int from = c[i], to = c[(i + 1) % n];
      const carom_polytope_edge *e = from < to ? find_edge(p, from, to) : find_edge(p, to, from);
      if (!e || e->f[from < to ? 0 : 1] != f) return false;
    }
  }
  return true;
}

// Everything about V, E, F that needs no coordinates. Returns whether all is well.
static inline bool lattice_holds(const carom_polytope *p) {
  if (p->vertex_count - p->edge_count + p->face_count != 2 || p->vertex_count < 4 || p->face_count < 4) return false;
  if (p->face_start[0] != 0 || p->face_start[p->face_count] != 2 * p->edge_count) return false;
  if (p->neighbor_start[0] != 0 || p->neighbor_start[p->vertex_count] != 2 * p->edge_count) return false;
  for (int v = 0; v < p->vertex_count; v++) {
    if (p->neighbor_start[v + 1] - p->neighbor_start[v] < 3) return false;
    for (int i = p->neighbor_start[v] + 1; i < p->neighbor_start[v + 1]; i++)
      if (p->neighbors[i] <= p->neighbors[i - 1]) return false;
  }
  for (int e = 0; e < p->edge_count; e++) {
    const carom_polytope_edge *x = &p->edges[e], *y = x - 1;
    if (x->v[0] >= x->v[1] || x->f[0] == x->f[1]) return false;
    if (e > 0 && (y->v[0] > x->v[0] || (y->v[0] == x->v[0] && y->v[1] >= x->v[1]))) return false;
    if (!are_neighbors(p, x->v[0], x->v[1]) || !are_neighbors(p, x->v[1], x->v[0])) return false;
  }
  return sides_match(p);
}

// Largest distance of a corner from its face's plane.
static inline double warp_of(const carom_polytope *p) {
  double warp = 0;
  for (int f = 0; f < p->face_count; f++)
    for (int i = p->face_start[f]; i < p->face_start[f + 1]; i++)
      warp = max2(warp, fabs(cm_dot(p->face_normals[f], p->vertices[p->face_vertices[i]]) - p->face_offsets[f]));
  return warp;
}

// Every corner of every face turns left by more than nothing, and goes round once.
static inline bool polygons_convex(const carom_polytope *p) {
  for (int f = 0; f < p->face_count; f++) {
    int n = p->face_start[f + 1] - p->face_start[f];
    const int *c = p->face_vertices + p->face_start[f];
    double turn = 0;
    carom_vec3 normal = p->face_normals[f];
    for (int i = 0; i < n; i++) {
      carom_vec3 a = cm_sub(p->vertices[c[(i + 1) % n]], p->vertices[c[i]]);
      carom_vec3 b = cm_sub(p->vertices[c[(i + 2) % n]], p->vertices[c[(i + 1) % n]]);
      double s = cm_dot(cm_cross(a, b), p->face_normals[f]);
      if (!(s > 0)) return false;
      turn += atan2(s, cm_dot(cm_cross(normal, a), cm_cross(normal, b)));  // as seen along the normal
    }
    if (fabs(turn - 6.283185307179586) > 1e-3) return false;
  }
  return true;
}

// How far the furthest of the points lies outside the polytope's planes (negative when all are inside).
static inline double outside_of(const carom_polytope *p, const carom_vec3 *points, int count) {
  double worst = -1e300;
  for (int f = 0; f < p->face_count; f++)
    for (int i = 0; i < count; i++) worst = max2(worst, cm_dot(p->face_normals[f], points[i]) - p->face_offsets[f]);
  return worst;
}

// tolerance: of planarity and convexity, in metres.
#define CHECK_POLYTOPE(p, tolerance)                                                                       \
  do {                                                                                                     \
    CHECK(lattice_holds(p));                                                                               \
    CHECK_AT_MOST(warp_of(p), tolerance);                                                                  \
    CHECK(polygons_convex(p));                                                                             \
    CHECK_AT_MOST(outside_of(p, (p)->vertices, (p)->vertex_count), tolerance);                             \
    for (int f_ = 0; f_ < (p)->face_count; f_++) CHECK_NEAR(cm_norm((p)->face_normals[f_]), 1, 1e-15 * 4); \
  } while (0)

// ---- random solids ----------------------------------------------------------------------------

static inline const carom_shape *random_polytope(carom_random *r, int count) {
  carom_vec3 points[256];
  for (int i = 0; i < count; i++) points[i] = random_vec(r);
  const carom_shape *shape = NULL;
  carom_error error = {0};
  if (carom_shape_create_hull(points, count, NULL, &shape, &error)) test_fail(__FILE__, __LINE__, "%s", error.message);
  return shape;
}

// ---- an allocator that fails ------------------------------------------------------------------

typedef struct failing {
  int calls, fail_at, live;
} failing;

static inline void *failing_allocate(void *context, size_t size) {
  failing *f = context;
  if (f->calls++ == f->fail_at) return NULL;
  f->live++;
  return malloc(size);
}
static inline void *failing_resize(void *context, void *block, size_t size) {
  failing *f = context;
  return f->calls++ == f->fail_at ? NULL : realloc(block, size);
}
static inline void failing_release(void *context, void *block) {
  ((failing *)context)->live--;
  free(block);
}
static inline carom_allocator failing_allocator(failing *f) {
  carom_allocator a = {f, failing_allocate, failing_resize, failing_release};
  return a;
}

#endif

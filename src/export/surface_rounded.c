// The surface of a rounded polytope: its faces moved outwards, strips of cylinders along the edges, and a patch of a
// sphere at every vertex. A corner is a face and one of its vertices v, numbered as in face_vertices; it also stands
// for the side of that face that begins at v. Every point belongs to one corner, one place on an edge's arc or one
// place in a patch, so that all pieces share their vertices and the surface is closed.
#include <math.h>

#include "base/memory.h"
#include "export/surface_parts.h"

typedef struct rounding {
  const carom_polytope *p;
  double radius, step;  // step: angle between neighbouring normals, at most
  int corners;
  int *twin, *edge, *face;  // (corners) the same side seen from the other face; the edge it is; the face it bounds
  int *pieces;              // (edge_count) into how many pieces the arcs of an edge are cut
  int *arc_start;           // (edge_count) first inner point of the arc at the edge's vertex v[0]; those at v[1] follow
  carom_vec3 *loop;         // normals around one vertex
  int *loop_vertices;       // and the numbers of their points
  int longest;              // points around a vertex, at most
  carom_surface *surface;
  int vertex_count, face_count, corner_count;  // counted first, then as they are made
} rounding;

static int previous_in_face(const rounding *q, int corner) {
  int f = q->face[corner];
  return corner > q->p->face_start[f] ? corner - 1 : q->p->face_start[f + 1] - 1;
}

static int corner_of(const carom_polytope *p, int face, int vertex) {
  int c = p->face_start[face];
  while (p->face_vertices[c] != vertex) c++;
  return c;
}

static double angle_between(carom_vec3 a, carom_vec3 b) { return atan2(cm_norm(cm_cross(a, b)), cm_dot(a, b)); }

static int pieces_of(double angle, double step) {
  int n = (int)ceil(angle / step * (1 - 1e-9));
  return n < 1 ? 1 : n;
}

// Between unit vectors, at equal angles (Shoemake 1985).
static carom_vec3 between(carom_vec3 a, carom_vec3 b, double t) {
  double angle = angle_between(a, b), s = sin(angle);
  if (s < 1e-8) return cm_unit(cm_lerp(a, b, t));
  return cm_unit(cm_axpy(cm_scale(sin((1 - t) * angle) / s, a), sin(t * angle) / s, b));
}

// ---- the plan ------------------------------------------------------------------------------------------------------

static void link_edges(rounding *q) {
  const carom_polytope *p = q->p;
  for (int f = 0; f < p->face_count; f++)
    for (int c = p->face_start[f]; c < p->face_start[f + 1]; c++) q->face[c] = f;
  q->vertex_count = q->corners;
  for (int e = 0; e < p->edge_count; e++) {
    const carom_polytope_edge *edge = &p->edges[e];
    int a = corner_of(p, edge->f[0], edge->v[0]), b = corner_of(p, edge->f[1], edge->v[1]);
    q->twin[a] = b, q->twin[b] = a;
    q->edge[a] = q->edge[b] = e;
    q->pieces[e] = pieces_of(angle_between(p->face_normals[edge->f[0]], p->face_normals[edge->f[1]]), q->step);
    q->arc_start[e] = q->vertex_count;
    q->vertex_count += 2 * (q->pieces[e] - 1);
    q->face_count += q->pieces[e];
    q->corner_count += 4 * q->pieces[e];
  }
}

// Point j (0 to pieces) of the arc at the edge's end (0 or 1); the ends of the arc are corners.
static int arc_vertex(const rounding *q, int e, int end, int j) {
  const carom_polytope_edge *edge = &q->p->edges[e];
  if (j == 0) return corner_of(q->p, edge->f[0], edge->v[end]);
  if (j == q->pieces[e]) return corner_of(q->p, edge->f[1], edge->v[end]);
  return q->arc_start[e] + end * (q->pieces[e] - 1) + j - 1;
}

static carom_vec3 arc_normal(const rounding *q, int e, int j) {
  const carom_polytope_edge *edge = &q->p->edges[e];
  return between(q->p->face_normals[edge->f[0]], q->p->face_normals[edge->f[1]], (double)j / q->pieces[e]);
}

// The points around the vertex at which `first` is, counter-clockwise from outside: each face's own point, then the
// inner points of the arc to the next face, across the side that ends at the vertex. Returns how many; with
// `loop` null it only counts.
static int walk_around(const rounding *q, int first, carom_vec3 *loop, int *vertices) {
  int n = 0, c = first;
  do {
    int side = previous_in_face(q, c), e = q->edge[side], count = q->pieces[e];
    bool forward = q->p->edges[e].f[0] == q->face[c];
    int end = q->p->edges[e].v[1] == q->p->face_vertices[c] ? 1 : 0;
    for (int k = 0; k < count; k++, n++) {
      int j = forward ? k : count - k;
      if (!loop) continue;
      loop[n] = k == 0 ? q->p->face_normals[q->face[c]] : arc_normal(q, e, j);
      vertices[n] = k == 0 ? c : arc_vertex(q, e, end, j);
    }
    c = q->twin[side];
  } while (c != first);
  return n;
}

static bool allocate_plan(rounding *q, const carom_allocator *allocator) {
  int corners = q->corners, edges = q->p->edge_count;
  int *block = CAROM_NEW(allocator, int, 3 * corners + 2 * edges);
  q->twin = block;
  if (!block) return false;
  q->edge = block + corners;
  q->face = block + 2 * corners;
  q->pieces = block + 3 * corners;
  q->arc_start = q->pieces + edges;
  return true;
}

static bool allocate_loop(rounding *q, int *first_corner, const carom_allocator *allocator) {
  for (int c = q->corners - 1; c >= 0; c--) first_corner[q->p->face_vertices[c]] = c;
  for (int v = 0; v < q->p->vertex_count; v++) {
    int n = walk_around(q, first_corner[v], NULL, NULL);
    if (n > q->longest) q->longest = n;
  }
  return CAROM_NEW_ALL(allocator, CAROM_ROOM(q->loop, q->longest), CAROM_ROOM(q->loop_vertices, q->longest));
}

// ---- patches -------------------------------------------------------------------------------------------------------

// Rings between the middle of a patch and its border, which is the last of them.
static int plan_patch(const rounding *q, int count, carom_vec3 *middle) {
  carom_vec3 sum = cm_zero3();
  double widest = 0;
  for (int i = 0; i < count; i++) sum = cm_add(sum, q->loop[i]);
  *middle = cm_unit(sum);
  for (int i = 0; i < count; i++) widest = fmax(widest, angle_between(*middle, q->loop[i]));
  return pieces_of(widest, q->step);
}

static void count_patch(rounding *q, int first) {
  carom_vec3 middle;
  int n = walk_around(q, first, q->loop, q->loop_vertices), rings = plan_patch(q, n, &middle);
  q->vertex_count += 1 + (rings - 1) * n;
  q->face_count += n * (2 * rings - 1);
  q->corner_count += 3 * n * (2 * rings - 1);
}

static void put_vertex(rounding *q, int number, int vertex, carom_vec3 normal) {
  q->surface->normals[number] = normal;
  q->surface->vertices[number] = cm_axpy(q->p->vertices[vertex], q->radius, normal);
}

// Point i of ring `ring` of a patch whose inner points begin at `base`; ring 0 is the middle.
static int patch_vertex(const rounding *q, int base, int rings, int n, int ring, int i) {
  if (ring == 0) return base;
  return ring == rings ? q->loop_vertices[i % n] : base + 1 + (ring - 1) * n + i % n;
}

static void add_patch(rounding *q, int first) {
  carom_vec3 middle;
  int n = walk_around(q, first, q->loop, q->loop_vertices), rings = plan_patch(q, n, &middle);
  int base = q->vertex_count, v = q->p->face_vertices[first];
  put_vertex(q, base, v, middle);
  for (int ring = 1; ring < rings; ring++)
    for (int i = 0; i < n; i++)
      put_vertex(q, patch_vertex(q, base, rings, n, ring, i), v, between(middle, q->loop[i], (double)ring / rings));
  q->vertex_count += 1 + (rings - 1) * n;
  for (int ring = 1; ring <= rings; ring++) {
    for (int i = 0; i < n; i++) {
      int a = patch_vertex(q, base, rings, n, ring - 1, i), b = patch_vertex(q, base, rings, n, ring, i);
      int c = patch_vertex(q, base, rings, n, ring, i + 1), d = patch_vertex(q, base, rings, n, ring - 1, i + 1);
      carom_surface_add_face(q->surface, &q->face_count, a, b, c, -1);
      if (ring > 1) carom_surface_add_face(q->surface, &q->face_count, a, c, d, -1);
    }
  }
}

// ---- faces and edges -----------------------------------------------------------------------------------------------

static void add_faces(rounding *q) {
  const carom_polytope *p = q->p;
  for (int c = 0; c < q->corners; c++) {
    put_vertex(q, c, p->face_vertices[c], p->face_normals[q->face[c]]);
    q->surface->face_vertices[c] = c;
  }
  for (int f = 0; f < p->face_count; f++) q->surface->face_start[f + 1] = p->face_start[f + 1];
  q->face_count = p->face_count;
  q->vertex_count = q->corners;
}

static void add_strip(rounding *q, int e) {
  for (int end = 0; end < 2; end++)
    for (int j = 1; j < q->pieces[e]; j++)
      put_vertex(q, arc_vertex(q, e, end, j), q->p->edges[e].v[end], arc_normal(q, e, j));
  q->vertex_count += 2 * (q->pieces[e] - 1);
  // f[0] lies to the left of v[0] -> v[1], so its side of the strip comes last.
  for (int j = 0; j < q->pieces[e]; j++)
    carom_surface_add_face(q->surface, &q->face_count, arc_vertex(q, e, 0, j + 1), arc_vertex(q, e, 1, j + 1),
                           arc_vertex(q, e, 1, j), arc_vertex(q, e, 0, j));
}

static bool build(rounding *q, const int *first_corner, const carom_allocator *allocator) {
  int vertices = q->p->vertex_count;
  for (int v = 0; v < vertices; v++) count_patch(q, first_corner[v]);
  if (!carom_surface_allocate(q->surface, q->vertex_count, q->face_count + q->p->face_count,
                              q->corner_count + q->corners, true, allocator))
    return false;
  add_faces(q);
  for (int e = 0; e < q->p->edge_count; e++) add_strip(q, e);
  for (int v = 0; v < vertices; v++) add_patch(q, first_corner[v]);
  return true;
}

bool carom_surface_of_rounded(carom_surface *surface, const carom_shape *shape, int detail,
                              const carom_allocator *allocator) {
  rounding q = {.p = carom_shape_polytope(shape), .radius = carom_shape_radius(shape), .surface = surface};
  q.step = 1.57079632679489661923 / detail;
  q.corners = q.p->face_start[q.p->face_count];
  int *first_corner = CAROM_NEW(allocator, int, q.p->vertex_count);
  bool enough = first_corner && allocate_plan(&q, allocator);
  if (enough) {
    link_edges(&q);
    enough = allocate_loop(&q, first_corner, allocator) && build(&q, first_corner, allocator);
  }
  CAROM_RELEASE_ALL(allocator, q.loop_vertices, q.loop, q.twin, first_corner);
  return enough;
}

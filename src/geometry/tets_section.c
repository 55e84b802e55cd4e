// A half-section of quadrilaterals, cut into a grid each. Opposite edges are cut alike, and so are edges that
// quadrilaterals share: edges fall into groups, and the longest of a group says into how many pieces its edges are cut.
#include <math.h>
#include <stdlib.h>

#include "base/groups.h"
#include "base/memory.h"
#include "geometry/shape.h"
#include "geometry/tets_make.h"

typedef struct edge {
  int low, high;  // points
  int side;       // 4 * quadrilateral + place within it
} edge;

typedef struct cutter {
  carom_tets_maker *maker;
  const carom_tets_revolved *def;
  carom_section *section;
  edge *edges;   // (4 quad_count) by points; then the edge_count different ones
  int *edge_of;  // (4 quad_count) of each side
  int *group;    // (edge_count) of edges that are cut alike
  int *pieces;   // (edge_count) at the roots of the groups
  int *begin;    // (edge_count) the first point within each edge
  int edge_count;
} cutter;

// ---- edges --------------------------------------------------------------------------------------

static int by_points(const void *a, const void *b) {
  const edge *s = a, *t = b;
  if (s->low != t->low) return s->low < t->low ? -1 : 1;
  if (s->high != t->high) return s->high < t->high ? -1 : 1;
  return (s->side > t->side) - (s->side < t->side);
}

static void number_edges(cutter *c) {
  int n = 4 * c->def->quad_count;
  for (int i = 0; i < n; i++) {
    const int *q = c->def->quads[i / 4];
    int a = q[i % 4], b = q[(i + 1) % 4];
    c->edges[i] = (edge){a < b ? a : b, a < b ? b : a, i};
  }
  qsort(c->edges, (size_t)n, sizeof *c->edges, by_points);
  for (int i = 0; i < n; i++) {
    edge e = c->edges[i];
    const edge *last = c->edge_count > 0 ? &c->edges[c->edge_count - 1] : NULL;
    if (!last || last->low != e.low || last->high != e.high) c->edges[c->edge_count++] = e;
    c->edge_of[e.side] = c->edge_count - 1;
  }
}

static carom_vec3 corner(const cutter *c, int point) { return cm_vec3(c->def->r[point], 0, c->def->z[point]); }

static int pieces_of(cutter *c, int e) { return c->pieces[carom_group_root(c->group, e)]; }

static void group_edges(cutter *c) {
  for (int e = 0; e < c->edge_count; e++) c->group[e] = e;
  for (int q = 0; q < c->def->quad_count; q++)
    for (int k = 0; k < 2; k++) carom_group_unite(c->group, c->edge_of[4 * q + k], c->edge_of[4 * q + k + 2]);
  for (int e = 0; e < c->edge_count; e++) {
    double length = cm_norm(cm_sub(corner(c, c->edges[e].high), corner(c, c->edges[e].low)));
    double wanted = c->def->edge > 0 ? ceil(length / c->def->edge * (1 - 1e-9)) : 1;
    int root = carom_group_root(c->group, e);
    carom_tets_check_size(c->maker, wanted * c->def->sectors);
    if (!c->maker->status && wanted > c->pieces[root]) c->pieces[root] = (int)wanted;
    if (c->pieces[root] < 1) c->pieces[root] = 1;
  }
}

// ---- points and triangles -----------------------------------------------------------------------

static int add_point(cutter *c, carom_vec3 p) {
  carom_section *s = c->section;
  void *array = s->points;
  if (c->maker->status) return 0;
  if (!carom_grow(&s->allocator, &array, s->point_count, &s->point_capacity, sizeof p)) {
    carom_tets_maker_no_memory(c->maker);
    return 0;
  }
  s->points = array;
  s->points[s->point_count] = p;
  return s->point_count++;
}

static void add_triangle(cutter *c, int p, int q, int r) {
  carom_section *s = c->section;
  void *array = s->triangles;
  if (c->maker->status) return;
  if (!carom_grow(&s->allocator, &array, s->triangle_count, &s->triangle_capacity, sizeof *s->triangles)) {
    carom_tets_maker_no_memory(c->maker);
    return;
  }
  s->triangles = array;
  int *t = s->triangles[s->triangle_count++];
  t[0] = p;
  t[1] = q;
  t[2] = r;
}

static void add_edge_points(cutter *c) {
  for (int e = 0; e < c->edge_count; e++) {
    int n = pieces_of(c, e);
    c->begin[e] = c->section->point_count;
    for (int i = 1; i < n && !c->maker->status; i++)
      add_point(c, cm_lerp(corner(c, c->edges[e].low), corner(c, c->edges[e].high), (double)i / n));
  }
}

// The point after i of the pieces of an edge, counted from one of its ends.
static int edge_point(cutter *c, int e, int from, int i) {
  int n = pieces_of(c, e), at = c->edges[e].low == from ? i : n - i;
  return at == 0 ? c->edges[e].low : at == n ? c->edges[e].high : c->begin[e] + at - 1;
}

// A quadrilateral a, b, c, d: i counts from a to b and from d to c, j from a to d and from b to c.
typedef struct patch {
  const int *q, *e;  // corners; edges ab, bc, cd, da
  int n, m, inner;   // pieces along i and j; the first point inside
  int quad;
} patch;

static int patch_point(cutter *c, const patch *p, int i, int j) {
  if (j == 0) return edge_point(c, p->e[0], p->q[0], i);
  if (j == p->m) return edge_point(c, p->e[2], p->q[3], i);
  if (i == 0) return edge_point(c, p->e[3], p->q[0], j);
  if (i == p->n) return edge_point(c, p->e[1], p->q[1], j);
  return p->inner + (j - 1) * (p->n - 1) + i - 1;
}

static void add_inner_points(cutter *c, const patch *p) {
  for (int j = 1; j < p->m; j++)
    for (int i = 1; i < p->n && !c->maker->status; i++) {
      double s = (double)i / p->n, t = (double)j / p->m;
      carom_vec3 low = cm_lerp(corner(c, p->q[0]), corner(c, p->q[1]), s);
      add_point(c, cm_lerp(low, cm_lerp(corner(c, p->q[3]), corner(c, p->q[2]), s), t));
    }
}

static double signed_area(const cutter *c, int p, int q, int r) {
  const carom_vec3 *x = c->section->points;
  carom_vec3 a = cm_sub(x[q], x[p]), b = cm_sub(x[r], x[p]);
  return (a.x * b.z - a.z * b.x) / 2;
}

// Along the shorter diagonal.
static void add_cell(cutter *c, const patch *p, int i, int j) {
  int v[4] = {patch_point(c, p, i, j), patch_point(c, p, i + 1, j), patch_point(c, p, i + 1, j + 1),
              patch_point(c, p, i, j + 1)};
  const carom_vec3 *x = c->section->points;
  int turn = cm_norm2(cm_sub(x[v[2]], x[v[0]])) <= cm_norm2(cm_sub(x[v[3]], x[v[1]])) ? 0 : 1;
  double first = signed_area(c, v[turn], v[turn + 1], v[turn + 2]);
  double second = signed_area(c, v[turn], v[turn + 2], v[(turn + 3) % 4]);
  if (!((first > 0 && second > 0) || (first < 0 && second < 0)))
    carom_tets_maker_refuse(
        c->maker, "quadrilateral %d of the section is flat, or crosses itself, or has a corner turned in too far",
        p->quad);
  add_triangle(c, v[turn], v[turn + 1], v[turn + 2]);
  add_triangle(c, v[turn], v[turn + 2], v[(turn + 3) % 4]);
}

static void add_patch(cutter *c, int quad) {
  patch p = {c->def->quads[quad], c->edge_of + 4 * quad, 0, 0, c->section->point_count, quad};
  p.n = pieces_of(c, p.e[0]);
  p.m = pieces_of(c, p.e[1]);
  carom_tets_check_size(c->maker, 6.0 * p.n * p.m * c->def->sectors);
  add_inner_points(c, &p);
  for (int j = 0; j < p.m; j++)
    for (int i = 0; i < p.n && !c->maker->status; i++) add_cell(c, &p, i, j);
}

// ---- the section --------------------------------------------------------------------------------

static void check_points(carom_tets_maker *m, const carom_tets_revolved *def) {
  for (int i = 0; i < def->point_count && !m->status; i++)
    if (!(def->r[i] >= 0 && def->r[i] <= CAROM_LENGTH_MAX && fabs(def->z[i]) <= CAROM_LENGTH_MAX))
      carom_tets_maker_refuse(m, "point %d of the section is (%g, %g); expected finite numbers, r not negative", i,
                              def->r[i], def->z[i]);
}

static void check_quads(carom_tets_maker *m, const carom_tets_revolved *def) {
  for (int q = 0; q < def->quad_count && !m->status; q++)
    for (int k = 0; k < 4; k++) {
      int v = def->quads[q][k];
      if (v < 0 || v >= def->point_count)
        carom_tets_maker_refuse(m, "quadrilateral %d of the section refers to point %d; expected 0 to %d", q, v,
                                def->point_count - 1);
      for (int l = 0; l < k; l++)
        if (def->quads[q][l] == v)
          carom_tets_maker_refuse(m, "quadrilateral %d of the section has point %d twice", q, v);
    }
}

static void cut(cutter *c) {
  number_edges(c);
  group_edges(c);
  for (int i = 0; i < c->def->point_count; i++) add_point(c, corner(c, i));
  add_edge_points(c);
  for (int q = 0; q < c->def->quad_count && !c->maker->status; q++) add_patch(c, q);
}

void carom_section_create(carom_tets_maker *m, const carom_tets_revolved *def, carom_section *section) {
  enum { QUADS_MAX = 1 << 24 };
  carom_tets_check_count(m, "the count of points of the section", def->point_count, 4);
  carom_tets_check_count(m, "the count of quadrilaterals of the section", def->quad_count, 1);
  if (def->edge != 0) carom_tets_check_positive(m, "the length of an edge", def->edge);
  check_points(m, def);
  check_quads(m, def);
  if (def->quad_count > QUADS_MAX) carom_tets_maker_refuse(m, "the section has more than %d quadrilaterals", QUADS_MAX);
  if (m->status) return;
  cutter c = {.maker = m, .def = def, .section = section};
  int n = 4 * def->quad_count;
  if (CAROM_NEW_ALL(&section->allocator, CAROM_ROOM(c.edges, n), CAROM_ROOM(c.edge_of, n), CAROM_ROOM(c.group, n),
                    CAROM_ROOM(c.pieces, n), CAROM_ROOM(c.begin, n)))
    cut(&c);
  else
    carom_tets_maker_no_memory(m);
  CAROM_RELEASE_ALL(&section->allocator, c.edges, c.edge_of, c.group, c.pieces, c.begin);
}

void carom_section_destroy(carom_section *section) {
  CAROM_RELEASE_ALL(&section->allocator, section->points, section->triangles);
  *section = (carom_section){0};
}

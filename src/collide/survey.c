// Every facet of D = A - B is a face of one body with the furthest vertex of the other, or an edge of each: where, on
// the sphere of directions, the arc between the normals of the two faces at an edge of A crosses such an arc of B
// (Fogel and Halperin 2007, "Exact and efficient construction of Minkowski sums of convex polyhedra"). Arcs of one body
// are followed through the cells of the other's vertices, from neighbour to neighbour; no arrangement is kept.
//
// Any direction n bounds the depth from above by D's reach along n, which is measured before it is believed, so that
// round-off in a normal can spoil no answer; the least of them over all facets is the depth.
#include "collide/survey.h"

#include <float.h>
#include <string.h>

enum { FOOT_STEPS = 64, DOWNHILL_QUERIES = 200 };
static const double LEAN = 1e-7;  // tilt of a query that prefers one corner of a facet to another

typedef struct survey {
  carom_difference *D;
  double least;    // reach of D along n
  carom_vec3 n;    // unit, out of D
  carom_column c;  // a column that reaches so far
} survey;

// P's normals, seen from D: D's own where P is A, and opposite where P is B.
typedef struct side {
  carom_supporter *P, *Q;
  bool p_is_a;
} side;

bool carom_survey_can(const carom_difference *D) {
  bool polytope = D->a.shape->kind == CAROM_SHAPE_POLYTOPE || D->b.shape->kind == CAROM_SHAPE_POLYTOPE;
  return polytope && !carom_difference_is_curved(D);
}

static void consider(survey *s, carom_vec3 n, int a, int b) {
  carom_column c = carom_difference_column(s->D, a, b);
  if (!(cm_dot(n, c.d) < s->least)) return;
  carom_difference_begin_at(s->D, &c);
  c = carom_difference_lowest(s->D, cm_neg(n));
  double reach = cm_dot(n, c.d);
  if (reach < s->least) s->least = reach, s->n = n, s->c = c;
}

static void consider_side(survey *s, const side *i, carom_vec3 outward, int p, int q) {
  if (i->p_is_a)
    consider(s, outward, p, q);
  else
    consider(s, cm_neg(outward), q, p);
}

static int lowest_vertex(carom_supporter *s, carom_vec3 direction) {
  if (s->shape->kind == CAROM_SHAPE_POLYTOPE) return carom_supporter_lowest_vertex(s, cm_tmulv(s->R, direction));
  return carom_core_count(s->shape) == 2 && cm_dot(direction, carom_core_vertex(s, 1)) < 0 ? 1 : 0;
}

static void look_at_faces(survey *s, const side *i) {
  const carom_polytope *p = &i->P->shape->polytope;
  for (int f = 0; f < p->face_count; f++) {
    carom_vec3 outward = cm_mulv(i->P->R, p->face_normals[f]);
    consider_side(s, i, outward, p->face_vertices[p->face_start[f]], lowest_vertex(i->Q, outward));
  }
}

// ---- arcs ----------------------------------------------------------------------------------------------------------

// Neighbours of a vertex of the core: their count, and the first of them in *list.
static int neighbors_of(const carom_shape *shape, int vertex, const int **list) {
  static const int other_end[2] = {1, 0};
  *list = other_end + (vertex == 1);
  if (shape->kind != CAROM_SHAPE_POLYTOPE) return carom_core_count(shape) - 1;
  *list = shape->polytope.neighbors + shape->polytope.neighbor_start[vertex];
  return shape->polytope.neighbor_start[vertex + 1] - shape->polytope.neighbor_start[vertex];
}

// Directions from g1 to g2; y is Q's lowest vertex along the one that has been reached.
typedef struct arc {
  carom_vec3 g1, g2;
  int y;
} arc;

// The neighbour that is lowest next on the way to g2, and the edge that leads to it; false when y is the last. Along g2
// every step leads down, so that none is taken twice, whatever round-off does.
static bool find_crossing(const side *i, const arc *way, int *next, carom_vec3 *edge) {
  const int *list;
  int count = neighbors_of(i->Q->shape, way->y, &list);
  carom_vec3 y = carom_core_vertex(i->Q, way->y);
  double least = 2;
  for (int k = 0; k < count; k++) {
    carom_vec3 e = cm_sub(carom_core_vertex(i->Q, list[k]), y);
    double at_g1 = fmax(cm_dot(way->g1, e), 0), at_g2 = cm_dot(way->g2, e);
    if (!(at_g2 < 0) || !(at_g1 / (at_g1 - at_g2) < least)) continue;
    least = at_g1 / (at_g1 - at_g2), *next = list[k], *edge = e;
  }
  return least < 2;
}

static void follow_arc(survey *s, const side *i, const carom_polytope_edge *edge) {
  const carom_polytope *p = &i->P->shape->polytope;
  arc way = {cm_mulv(i->P->R, p->face_normals[edge->f[0]]), cm_mulv(i->P->R, p->face_normals[edge->f[1]]), 0};
  carom_vec3 along = cm_sub(carom_supporter_vertex(i->P, edge->v[1]), carom_supporter_vertex(i->P, edge->v[0])), across;
  int next;
  way.y = lowest_vertex(i->Q, way.g1);
  while (find_crossing(i, &way, &next, &across)) {
    carom_vec3 n = cm_cross(along, across);
    double length = cm_norm(n);
    if (cm_dot(n, cm_add(way.g1, way.g2)) < 0) length = -length;
    if (fabs(length) > DBL_MIN) consider_side(s, i, cm_scale(1 / length, n), edge->v[0], way.y);
    way.y = next;
  }
  i->Q->last = way.y;  // where the next climb begins
}

static void follow_arcs(survey *s, const side *i) {
  const carom_polytope *p = &i->P->shape->polytope;
  for (int e = 0; e < p->edge_count; e++) follow_arc(s, i, &p->edges[e]);
}

// ---- the foot ------------------------------------------------------------------------------------------------------

// Of the columns in the facet's plane, those around the foot of the perpendicular: the point of the facet nearest to
// it, from one corner to the next.
static void find_columns(survey *s, carom_facet *facet) {
  carom_vec3 foot = cm_scale(s->least, s->n);
  carom_simplex x = {.count = 1, .c = {s->c}};
  x.c[0].d = cm_sub(x.c[0].d, foot);
  for (int step = 0; step < FOOT_STEPS; step++) {
    carom_simplex_nearest(&x);
    carom_vec3 off = cm_axpy(x.p, -cm_dot(x.p, s->n), s->n);
    double distance = cm_norm(off);
    if (x.count == 3 || distance <= 4 * s->D->round_off) break;
    carom_difference_begin_at(s->D, &x.c[0]);
    carom_column c = carom_difference_lowest(s->D, cm_axpy(cm_neg(s->n), LEAN / distance, off));
    c.d = cm_sub(c.d, foot);
    bool nearer = cm_dot(off, c.d) < cm_dot(off, x.p) - 4 * s->D->round_off * distance;
    if (!nearer || cm_dot(s->n, c.d) < -8 * s->D->round_off - LEAN * LEAN * s->D->size) break;
    x.c[x.count++] = c;
  }
  carom_simplex_polish(&x);
  facet->count = x.count;
  for (int k = 0; k < x.count; k++) {
    facet->c[k] = x.c[k], facet->w[k] = x.w[k];
    facet->c[k].d = cm_add(x.c[k].d, foot);
  }
}

static void fill(survey *s, carom_facet *facet) {
  facet->normal = s->n;
  facet->depth = facet->upper = s->least;
  find_columns(s, facet);
}

void carom_survey(carom_difference *D, carom_facet *facet) {
  survey s = {.D = D, .least = DBL_MAX};
  side a = {&D->a, &D->b, true}, b = {&D->b, &D->a, false};
  bool a_has_faces = D->a.shape->kind == CAROM_SHAPE_POLYTOPE, b_has_faces = D->b.shape->kind == CAROM_SHAPE_POLYTOPE;
  if (a_has_faces) look_at_faces(&s, &a);
  if (b_has_faces) look_at_faces(&s, &b);
  follow_arcs(&s, a_has_faces ? &a : &b);
  fill(&s, facet);
  facet->lower = s.least;
}

// How far the weighted columns are from the foot of the perpendicular.
static double miss_of(const carom_facet *f, carom_vec3 n, double depth) {
  carom_vec3 miss = cm_scale(-depth, n);
  for (int k = 0; k < f->count; k++) miss = cm_axpy(miss, f->w[k], f->c[k].d);
  return cm_norm(miss);
}

// The reach h(n) of D falls fastest, on the sphere of directions, against d - h n, d the furthest column. Steps are
// halved until it does fall, and doubled when it has.
void carom_descend(carom_difference *D, carom_facet *facet) {
  survey s = {.D = D, .n = facet->normal};
  s.c = carom_difference_lowest(D, cm_neg(s.n));
  s.least = cm_dot(s.n, s.c.d);
  double step = 1 / D->size;
  for (int query = 0; query < DOWNHILL_QUERIES; query++) {
    carom_vec3 slope = cm_axpy(s.c.d, -s.least, s.n), n = cm_unit(cm_axpy(s.n, -step, slope));
    if (!(step * cm_norm(slope) > DBL_EPSILON)) break;
    carom_column c = carom_difference_lowest(D, cm_neg(n));
    double reach = cm_dot(n, c.d);
    step *= reach < s.least ? 2 : 0.5;
    if (reach < s.least) s.least = reach, s.n = n, s.c = c;
  }
  carom_facet before = *facet;
  fill(&s, facet);
  if (miss_of(&before, s.n, s.least) < miss_of(facet, s.n, s.least)) {  // a kink that descent has not come down to
    facet->count = before.count;
    memcpy(facet->c, before.c, sizeof before.c), memcpy(facet->w, before.w, sizeof before.w);
  }
}

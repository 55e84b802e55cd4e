// The difference D = A - B of two placed shapes: the bodies meet where D holds the origin, and their signed distance is
// that of the origin from its boundary. Round shapes enter by their cores, a sphere as its centre and a capsule as its
// segment, a rounded polytope without its rounding, so that D is a polytope; the radii are subtracted afterwards. Other
// curved shapes enter as they are.
#ifndef CAROM_SRC_COLLIDE_DIFFERENCE_H
#define CAROM_SRC_COLLIDE_DIFFERENCE_H

#include <float.h>

#include "collide/support.h"

typedef struct carom_difference {
  carom_supporter a, b;
  carom_vec3 delta;  // position of A minus position of B: differences are small even when coordinates are not
  double size;       // of the bodies
  double round_off;  // of a difference: what no result can be told apart by
  int queries;
} carom_difference;

// A difference of two points: core vertices, or points of a curved surface.
typedef struct carom_column {
  int a, b;       // vertices, or -1
  carom_vec3 xa;  // the point of A relative to its position, where there is no vertex
  carom_vec3 d;
} carom_column;

// Neither shape may be a half-space.
static inline void carom_difference_place(carom_difference *D, const carom_placed *a, const carom_placed *b) {
  carom_supporter_place(&D->a, a);
  carom_supporter_place(&D->b, b);
  D->delta = cm_sub(a->pose.p, b->pose.p);
  D->size = a->shape->bounding_radius + b->shape->bounding_radius;
  D->round_off = DBL_EPSILON * (D->size + cm_norm(D->delta));
  D->queries = 0;
}

// Rotates the vertices of small polytopes at once, for more than one or two queries.
void carom_difference_spread(carom_difference *D);

// The column with the smallest direction . d.
carom_column carom_difference_lowest_of_any(carom_difference *D, carom_vec3 direction);

static inline carom_vec3 carom_spread_vertex(const carom_supporter *s, int *i) {
  carom_vec3 x = cm_vec3(s->lanes[0][*i], s->lanes[1][*i], s->lanes[2][*i]);
  if (*i >= s->shape->polytope.vertex_count) *i = 0;  // padding repeats the first vertex
  return x;
}

static inline carom_column carom_difference_lowest(carom_difference *D, carom_vec3 direction) {
  if (!D->a.spread || !D->b.spread) return carom_difference_lowest_of_any(D, direction);
  carom_column c;
  int found[2];
  carom_scan_both(D->a.lanes[0], D->a.shape->lane_count, D->b.lanes[0], D->b.shape->lane_count, direction, found);
  c.a = found[0], c.b = found[1];
  c.xa = carom_spread_vertex(&D->a, &c.a);
  c.d = cm_add(cm_sub(c.xa, carom_spread_vertex(&D->b, &c.b)), D->delta);
  D->queries++;
  return c;
}

// Vertices of the core: all of a polytope's, one of a sphere, two of a capsule; 0 when it is curved itself.
int carom_core_count(const carom_shape *shape);

// An ellipsoid, cylinder or cone takes part, whose distances are found by iteration.
static inline bool carom_difference_is_curved(const carom_difference *D) {
  return carom_core_count(D->a.shape) == 0 || carom_core_count(D->b.shape) == 0;
}

// A core vertex by number, relative to the shape's position, in world axes.
carom_vec3 carom_core_vertex(const carom_supporter *s, int vertex);

carom_column carom_difference_column(const carom_difference *D, int a, int b);

// The points of a column, relative to the positions of the bodies.
carom_vec3 carom_column_a(const carom_difference *D, const carom_column *c);
carom_vec3 carom_column_b(const carom_difference *D, const carom_column *c);

// A point well inside D, or its only one.
carom_vec3 carom_difference_center(const carom_difference *D);

// Climbing begins near the lowest column along the direction, for one that has nothing to do with those before.
static inline void carom_difference_aim(carom_difference *D, carom_vec3 direction) {
  carom_supporter_aim(&D->a, direction);
  carom_supporter_aim(&D->b, cm_neg(direction));
}

// Climbing begins at the vertices of a column, which should be near.
static inline void carom_difference_begin_at(carom_difference *D, const carom_column *c) {
  D->a.last = c->a > 0 ? c->a : 0;
  D->b.last = c->b > 0 ? c->b : 0;
}

static inline bool carom_column_same(const carom_column *p, const carom_column *q) {
  return p->a >= 0 && p->b >= 0 && p->a == q->a && p->b == q->b;
}

#endif

// The difference D = A - B of two placed shapes: the bodies meet where D holds the origin, and their signed distance is
// that of the origin from its boundary. Round shapes enter by their cores, a sphere as its centre and a capsule as its
// segment, a rounded polytope without its rounding, so that D is a polytope; the radii are subtracted afterwards. Other
// curved shapes enter as they are.
#ifndef CAROM_SRC_COLLIDE_DIFFERENCE_H
#define CAROM_SRC_COLLIDE_DIFFERENCE_H

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
void carom_difference_place(carom_difference *D, const carom_placed *a, const carom_placed *b);

// Rotates the vertices of small polytopes at once, for more than one or two queries.
void carom_difference_spread(carom_difference *D);

// The column with the smallest direction . d.
carom_column carom_difference_lowest(carom_difference *D, carom_vec3 direction);

// Vertices of the core: all of a polytope's, one of a sphere, two of a capsule; 0 when it is curved itself.
int carom_core_count(const carom_shape *shape);

// A core vertex by number, relative to the shape's position, in world axes.
carom_vec3 carom_core_vertex(const carom_supporter *s, int vertex);

carom_column carom_difference_column(const carom_difference *D, int a, int b);

// The points of a column, relative to the positions of the bodies.
carom_vec3 carom_column_a(const carom_difference *D, const carom_column *c);
carom_vec3 carom_column_b(const carom_difference *D, const carom_column *c);

// A point well inside D, or its only one.
carom_vec3 carom_difference_center(const carom_difference *D);

static inline bool carom_column_same(const carom_column *p, const carom_column *q) {
  return p->a >= 0 && p->b >= 0 && p->a == q->a && p->b == q->b;
}

#endif

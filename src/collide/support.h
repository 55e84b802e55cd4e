// Support functions: the point of a placed shape that lies lowest along a direction. Everything that the separation
// oracle knows of a shape, it learns from these.
#ifndef CAROM_SRC_COLLIDE_SUPPORT_H
#define CAROM_SRC_COLLIDE_SUPPORT_H

#include "carom/collide.h"
#include "geometry/shape.h"

// A shape that is being asked: its rotation as a matrix, and the vertex that answered last.
typedef struct carom_supporter {
  const carom_shape *shape;
  carom_mat3 R;
  carom_vec3 p;
  int last;  // where climbing begins
} carom_supporter;

carom_supporter carom_supporter_make(const carom_placed *placed);

// The vertex with the smallest direction . v, in the shape's own axes; the lowest number among equals.
int carom_support_scan(const carom_shape *shape, carom_vec3 direction);

// Lowest point along `direction` (world axes), relative to the shape's position p; *vertex is its number, or -1.
carom_vec3 carom_support_lowest(carom_supporter *s, carom_vec3 direction, int *vertex);

// A vertex by number, relative to p, in world axes.
static inline carom_vec3 carom_supporter_vertex(const carom_supporter *s, int vertex) {
  return cm_mulv(s->R, s->shape->polytope.vertices[vertex]);
}

#endif

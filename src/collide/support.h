// Support functions: the point of a placed shape that lies lowest along a direction. Everything that the separation
// oracle knows of a shape, it learns from these.
#ifndef CAROM_SRC_COLLIDE_SUPPORT_H
#define CAROM_SRC_COLLIDE_SUPPORT_H

#include "carom/collide.h"
#include "geometry/shape.h"

// Up to this many vertices all are looked at; above, climbing the vertex graph from the last answer is faster.
enum { CAROM_SCAN_LIMIT = 64 };

// A shape that is being asked: its rotation as a matrix, and the vertex that answered last.
typedef struct carom_supporter {
  const carom_shape *shape;
  carom_mat3 R;
  carom_vec3 p;
  int last;     // where climbing begins
  bool spread;  // `lanes` hold the rotated vertices
  double lanes[3][CAROM_SCAN_LIMIT];
} carom_supporter;

void carom_supporter_place(carom_supporter *s, const carom_placed *placed);

// Rotates all vertices of a small polytope at once: pays off when more than one or two queries follow.
void carom_supporter_spread(carom_supporter *s);

// Lowest point along `direction` (world axes), relative to the shape's position p; *vertex is its number, or -1.
carom_vec3 carom_support_lowest(carom_supporter *s, carom_vec3 direction, int *vertex);

// What the weighted vertices of a body make up, by the number of different ones: 1 vertex, 2 edge, 3 face.
carom_feature carom_feature_of(const carom_shape *shape, const int *vertex, int count);

// A vertex by number, relative to p, in world axes.
static inline carom_vec3 carom_supporter_vertex(const carom_supporter *s, int vertex) {
  return cm_mulv(s->R, s->shape->polytope.vertices[vertex]);
}

#endif

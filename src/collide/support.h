// Support functions: the point of a placed shape that lies lowest along a direction. Everything that the separation
// oracle knows of a shape, it learns from these.
#ifndef CAROM_SRC_COLLIDE_SUPPORT_H
#define CAROM_SRC_COLLIDE_SUPPORT_H

#include "carom/collide.h"
#include "collide/scan.h"
#include "geometry/polytope.h"
#include "geometry/shape.h"

// A shape that is being asked: its rotation as a matrix, and the vertex that answered last.
typedef struct carom_supporter {
  const carom_shape *shape;
  carom_mat3 R;
  carom_vec3 p;
  int last;     // where climbing begins
  bool spread;  // `lanes` hold the rotated vertices
  double lanes[3][CAROM_SCAN_LIMIT];
} carom_supporter;

static inline void carom_supporter_place(carom_supporter *s, const carom_placed *placed) {
  s->shape = placed->shape;
  s->R = cm_rotation(placed->pose.q);
  s->p = placed->pose.p;
  s->last = 0;
  s->spread = false;
}

// Zero times a number is zero, unless it is infinite or none: one comparison for all fourteen.
static inline bool carom_pair_is_finite(const carom_placed *a, const carom_placed *b) {
  carom_vec3 p = a->pose.p, s = b->pose.p;
  carom_quat q = a->pose.q, t = b->pose.q;
  double none_a = 0 * p.x + 0 * p.y + 0 * p.z + (0 * q.w + 0 * q.x) + (0 * q.y + 0 * q.z);
  double none_b = 0 * s.x + 0 * s.y + 0 * s.z + (0 * t.w + 0 * t.x) + (0 * t.y + 0 * t.z);
  return none_a + none_b == 0;
}

// Rotates all vertices of a small polytope at once: pays off when more than one or two queries follow.
void carom_supporter_spread(carom_supporter *s);

// The vertex of a polytope that lies lowest along `local`, a direction in its own frame.
static inline int carom_supporter_lowest_vertex(carom_supporter *s, carom_vec3 local) {
  const carom_shape *shape = s->shape;
  if (shape->lane_count > CAROM_SCAN_LIMIT)
    return s->last = carom_polytope_climb(&shape->polytope, cm_neg(local), s->last);
  int i = carom_scan_lowest(shape->lanes[0], shape->lanes[1], shape->lanes[2], shape->lane_count, local);
  return i < shape->polytope.vertex_count ? i : 0;  // padding repeats the first vertex
}

// Lets climbing begin near the lowest vertex along `direction` (world axes): at the lowest of a few. Of a query from
// nothing the way from just any vertex would be the longest part.
void carom_supporter_aim(carom_supporter *s, carom_vec3 direction);

// Lowest point along `direction` (world axes), relative to the shape's position p; *vertex is its number, or -1.
carom_vec3 carom_support_lowest(carom_supporter *s, carom_vec3 direction, int *vertex);

// What the weighted vertices of a body make up, by the number of different ones: 1 vertex, 2 edge, 3 face.
carom_feature carom_feature_of(const carom_shape *shape, const int *vertex, int count);

// A vertex by number, relative to p, in world axes.
static inline carom_vec3 carom_supporter_vertex(const carom_supporter *s, int vertex) {
  return cm_mulv(s->R, s->shape->polytope.vertices[vertex]);
}

#endif

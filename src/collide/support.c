#include "collide/support.h"

#include <float.h>

#include "base/simd.h"
#include "geometry/polytope.h"

enum { LANES = CAROM_SHAPE_LANES };

// Above this many vertices climbing from the last answer beats looking at all of them.
enum { SCAN_LIMIT = 64 };

carom_supporter carom_supporter_make(const carom_placed *placed) {
  return (carom_supporter){placed->shape, cm_rotation(placed->pose.q), placed->pose.p, 0};
}

// Each lane keeps the best of its own vertices; positions are doubles so that all lanes are of one width.
CAROM_SIMD_CLONES
int carom_support_scan(const carom_shape *shape, carom_vec3 direction) {
  const double *x = shape->lanes[0], *y = shape->lanes[1], *z = shape->lanes[2];
  double lowest[LANES], at[LANES];
  for (int k = 0; k < LANES; k++) lowest[k] = DBL_MAX, at[k] = 0;
  for (int i = 0; i < shape->lane_count; i += LANES) {
    double from = i;
    for (int k = 0; k < LANES; k++) {
      double h = direction.x * x[i + k] + direction.y * y[i + k] + direction.z * z[i + k];
      at[k] = h < lowest[k] ? from : at[k];
      lowest[k] = h < lowest[k] ? h : lowest[k];
    }
  }
  int best = (int)at[0];
  double least = lowest[0];
  for (int k = 1; k < LANES; k++) {
    int vertex = (int)at[k] + k;
    bool better = lowest[k] < least || (lowest[k] == least && vertex < best);
    best = better ? vertex : best;
    least = better ? lowest[k] : least;
  }
  return best < shape->polytope.vertex_count ? best : 0;  // padding repeats the first vertex
}

static carom_vec3 polytope_lowest(carom_supporter *s, carom_vec3 local, int *vertex) {
  const carom_polytope *polytope = &s->shape->polytope;
  *vertex = polytope->vertex_count <= SCAN_LIMIT ? carom_support_scan(s->shape, local)
                                                 : carom_polytope_climb(polytope, cm_neg(local), s->last);
  s->last = *vertex;
  return carom_supporter_vertex(s, *vertex);
}

carom_vec3 carom_support_lowest(carom_supporter *s, carom_vec3 direction, int *vertex) {
  const carom_shape *shape = s->shape;
  carom_vec3 local = cm_tmulv(s->R, direction);
  if (shape->kind == CAROM_SHAPE_POLYTOPE) return polytope_lowest(s, local, vertex);
  *vertex = -1;
  carom_vec3 round = cm_scale(-shape->radius, cm_unit(direction));
  if (shape->kind != CAROM_SHAPE_CAPSULE) return round;
  carom_vec3 axis = cm_vec3(s->R.m[0][2], s->R.m[1][2], s->R.m[2][2]);
  return cm_axpy(round, local.z > 0 ? -shape->half_length : shape->half_length, axis);
}

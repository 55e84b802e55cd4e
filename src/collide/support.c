#include "collide/support.h"

#include <float.h>

void carom_supporter_spread(carom_supporter *s) {
  if (s->spread || s->shape->kind != CAROM_SHAPE_POLYTOPE || s->shape->lane_count > CAROM_SCAN_LIMIT) return;
  carom_scan_rotate(&s->R, s->shape->lanes, s->shape->lane_count, (double *[3]){s->lanes[0], s->lanes[1], s->lanes[2]});
  s->spread = true;
}

// A way of n steps among V vertices, from the best of m, has n of the order of sqrt(V / m): looking at m of the order
// of V^(1/3) costs as much as the way that is left.
void carom_supporter_aim(carom_supporter *s, carom_vec3 direction) {
  if (s->shape->kind != CAROM_SHAPE_POLYTOPE || s->shape->lane_count <= CAROM_SCAN_LIMIT) return;
  const carom_polytope *p = &s->shape->polytope;
  int looks = (int)(1.6 * cbrt(p->vertex_count)), stride = p->vertex_count / looks;
  carom_vec3 local = cm_tmulv(s->R, direction);
  double lowest = DBL_MAX;
  for (int i = 0; i < p->vertex_count; i += stride) {
    double h = cm_dot(local, p->vertices[i]);
    if (h < lowest) lowest = h, s->last = i;
  }
}

static carom_vec3 polytope_lowest(carom_supporter *s, carom_vec3 direction, int *vertex) {
  const carom_shape *shape = s->shape;
  if (s->spread) {
    int i = carom_scan_lowest(s->lanes[0], s->lanes[1], s->lanes[2], shape->lane_count, direction);
    *vertex = i < shape->polytope.vertex_count ? i : 0;  // padding repeats the first vertex
    return cm_vec3(s->lanes[0][i], s->lanes[1][i], s->lanes[2][i]);
  }
  *vertex = carom_supporter_lowest_vertex(s, cm_tmulv(s->R, direction));
  return carom_supporter_vertex(s, *vertex);
}

carom_vec3 carom_support_lowest(carom_supporter *s, carom_vec3 direction, int *vertex) {
  const carom_shape *shape = s->shape;
  if (shape->kind == CAROM_SHAPE_POLYTOPE && shape->radius == 0) return polytope_lowest(s, direction, vertex);
  *vertex = -1;
  carom_vec3 round = cm_scale(-shape->radius, cm_unit(direction));
  switch (shape->kind) {
    case CAROM_SHAPE_POLYTOPE:
      return cm_add(round, polytope_lowest(s, direction, vertex));
    case CAROM_SHAPE_CAPSULE: {
      carom_vec3 axis = cm_vec3(s->R.m[0][2], s->R.m[1][2], s->R.m[2][2]);
      return cm_axpy(round, cm_dot(axis, direction) > 0 ? -shape->half_length : shape->half_length, axis);
    }
    case CAROM_SHAPE_ELLIPSOID:
    case CAROM_SHAPE_CYLINDER:
    case CAROM_SHAPE_CONE:
      return cm_mulv(s->R, carom_smooth_lowest(shape, cm_tmulv(s->R, direction)));
    default:
      return round;
  }
}

carom_feature carom_feature_of(const carom_shape *shape, const int *vertex, int count) {
  if (shape->kind != CAROM_SHAPE_POLYTOPE) return CAROM_FEATURE_SMOOTH;
  int distinct = 1;
  for (int i = 1; i < count; i++) {
    bool seen = false;
    for (int j = 0; j < i; j++) seen = seen || vertex[j] == vertex[i];
    distinct += seen ? 0 : 1;
  }
  return distinct == 1 ? CAROM_FEATURE_VERTEX : distinct == 2 ? CAROM_FEATURE_EDGE : CAROM_FEATURE_FACE;
}

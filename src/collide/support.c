#include "collide/support.h"

#include "collide/scan.h"
#include "geometry/polytope.h"

void carom_supporter_place(carom_supporter *s, const carom_placed *placed) {
  s->shape = placed->shape;
  s->R = cm_rotation(placed->pose.q);
  s->p = placed->pose.p;
  s->last = 0;
  s->spread = false;
}

void carom_supporter_spread(carom_supporter *s) {
  if (s->spread || s->shape->kind != CAROM_SHAPE_POLYTOPE || s->shape->lane_count > CAROM_SCAN_LIMIT) return;
  carom_scan_rotate(&s->R, s->shape->lanes, s->shape->lane_count, (double *[3]){s->lanes[0], s->lanes[1], s->lanes[2]});
  s->spread = true;
}

static carom_vec3 polytope_lowest(carom_supporter *s, carom_vec3 direction, int *vertex) {
  const carom_shape *shape = s->shape;
  if (s->spread) {
    int i = carom_scan_lowest(s->lanes[0], s->lanes[1], s->lanes[2], shape->lane_count, direction);
    *vertex = i < shape->polytope.vertex_count ? i : 0;  // padding repeats the first vertex
    return cm_vec3(s->lanes[0][i], s->lanes[1][i], s->lanes[2][i]);
  }
  carom_vec3 local = cm_tmulv(s->R, direction);
  if (shape->lane_count <= CAROM_SCAN_LIMIT) {
    int i = carom_scan_lowest(shape->lanes[0], shape->lanes[1], shape->lanes[2], shape->lane_count, local);
    *vertex = i < shape->polytope.vertex_count ? i : 0;
  } else {
    s->last = *vertex = carom_polytope_climb(&shape->polytope, cm_neg(local), s->last);
  }
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

#include "collide/difference.h"

void carom_difference_spread(carom_difference *D) {
  carom_supporter_spread(&D->a);
  carom_supporter_spread(&D->b);
}

int carom_core_count(const carom_shape *shape) {
  switch (shape->kind) {
    case CAROM_SHAPE_POLYTOPE:
      return shape->polytope.vertex_count;
    case CAROM_SHAPE_CAPSULE:
      return 2;
    case CAROM_SHAPE_SPHERE:
      return 1;
    default:
      return 0;
  }
}

carom_vec3 carom_core_vertex(const carom_supporter *s, int vertex) {
  if (s->shape->kind == CAROM_SHAPE_POLYTOPE) return carom_supporter_vertex(s, vertex);
  if (s->shape->kind != CAROM_SHAPE_CAPSULE) return cm_zero3();
  double z = vertex == 0 ? s->shape->half_length : -s->shape->half_length;
  return cm_vec3(z * s->R.m[0][2], z * s->R.m[1][2], z * s->R.m[2][2]);
}

static carom_vec3 capsule_lowest(const carom_supporter *s, carom_vec3 direction, int *vertex) {
  double along = direction.x * s->R.m[0][2] + direction.y * s->R.m[1][2] + direction.z * s->R.m[2][2];
  *vertex = along > 0 ? 1 : 0;
  return carom_core_vertex(s, *vertex);
}

static carom_vec3 core_lowest(carom_supporter *s, carom_vec3 direction, int *vertex) {
  if (s->shape->kind == CAROM_SHAPE_CAPSULE) return capsule_lowest(s, direction, vertex);
  if (s->shape->kind == CAROM_SHAPE_SPHERE) return *vertex = 0, cm_zero3();
  if (s->shape->kind != CAROM_SHAPE_POLYTOPE) return carom_support_lowest(s, direction, vertex);
  if (s->spread) {
    *vertex = carom_scan_lowest(s->lanes[0], s->lanes[1], s->lanes[2], s->shape->lane_count, direction);
    return carom_spread_vertex(s, vertex);
  }
  *vertex = carom_supporter_lowest_vertex(s, cm_tmulv(s->R, direction));
  return carom_supporter_vertex(s, *vertex);
}

carom_column carom_difference_lowest_of_any(carom_difference *D, carom_vec3 direction) {
  carom_column c;
  c.xa = core_lowest(&D->a, direction, &c.a);
  carom_vec3 xb = core_lowest(&D->b, cm_neg(direction), &c.b);
  c.d = cm_add(cm_sub(c.xa, xb), D->delta);
  D->queries++;
  return c;
}

carom_column carom_difference_column(const carom_difference *D, int a, int b) {
  carom_vec3 xa = carom_core_vertex(&D->a, a), x = cm_sub(xa, carom_core_vertex(&D->b, b));
  return (carom_column){a, b, xa, cm_add(x, D->delta)};
}

carom_vec3 carom_column_a(const carom_difference *D, const carom_column *c) {
  return c->a >= 0 ? carom_core_vertex(&D->a, c->a) : c->xa;
}

// Where B has no vertex its point is what A's point and the difference leave.
carom_vec3 carom_column_b(const carom_difference *D, const carom_column *c) {
  if (c->b >= 0) return carom_core_vertex(&D->b, c->b);
  return cm_sub(carom_column_a(D, c), cm_sub(c->d, D->delta));
}

carom_vec3 carom_difference_center(const carom_difference *D) {
  carom_vec3 c = cm_sub(cm_mulv(D->a.R, D->a.shape->center), cm_mulv(D->b.R, D->b.shape->center));
  return cm_add(c, D->delta);
}

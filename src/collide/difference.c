#include "collide/difference.h"

#include <float.h>

void carom_difference_place(carom_difference *D, const carom_placed *a, const carom_placed *b) {
  carom_supporter_place(&D->a, a);
  carom_supporter_place(&D->b, b);
  D->delta = cm_sub(a->pose.p, b->pose.p);
  D->size = a->shape->bounding_radius + b->shape->bounding_radius;
  D->round_off = DBL_EPSILON * (D->size + cm_norm(D->delta));
  D->queries = 0;
}

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
    default:
      return 1;
  }
}

carom_vec3 carom_core_vertex(const carom_supporter *s, int vertex) {
  if (s->shape->kind == CAROM_SHAPE_POLYTOPE) return carom_supporter_vertex(s, vertex);
  if (s->shape->kind != CAROM_SHAPE_CAPSULE) return cm_zero3();
  double z = vertex == 0 ? s->shape->half_length : -s->shape->half_length;
  return cm_vec3(z * s->R.m[0][2], z * s->R.m[1][2], z * s->R.m[2][2]);
}

static carom_vec3 core_lowest(carom_supporter *s, carom_vec3 direction, int *vertex) {
  if (s->shape->kind == CAROM_SHAPE_POLYTOPE) return carom_support_lowest(s, direction, vertex);
  double along = direction.x * s->R.m[0][2] + direction.y * s->R.m[1][2] + direction.z * s->R.m[2][2];
  *vertex = s->shape->kind == CAROM_SHAPE_CAPSULE && along > 0 ? 1 : 0;
  return carom_core_vertex(s, *vertex);
}

carom_column carom_difference_lowest(carom_difference *D, carom_vec3 direction) {
  carom_column c;
  carom_vec3 xa = core_lowest(&D->a, direction, &c.a);
  carom_vec3 xb = core_lowest(&D->b, cm_neg(direction), &c.b);
  c.d = cm_add(cm_sub(xa, xb), D->delta);
  D->queries++;
  return c;
}

carom_column carom_difference_column(const carom_difference *D, int a, int b) {
  carom_vec3 x = cm_sub(carom_core_vertex(&D->a, a), carom_core_vertex(&D->b, b));
  return (carom_column){a, b, cm_add(x, D->delta)};
}

carom_vec3 carom_difference_center(const carom_difference *D) {
  carom_vec3 c = cm_sub(cm_mulv(D->a.R, D->a.shape->center), cm_mulv(D->b.R, D->b.shape->center));
  return cm_add(c, D->delta);
}

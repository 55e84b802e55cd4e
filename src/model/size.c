#include "model/size.h"

#include <math.h>

#include "geometry/shape.h"

double carom_model_smallest(const carom_model *model) {
  double size = INFINITY;
  for (int i = 0; i < model->body_count; i++)
    if (!model->bodies[i].fixed && model->bodies[i].bounding_radius > 0)
      size = fmin(size, model->bodies[i].bounding_radius);
  return isfinite(size) ? size : 1;
}

double carom_model_heaviest(const carom_model *model) {
  double mass = 0;
  for (int i = 0; i < model->body_count; i++)
    if (!model->bodies[i].fixed) mass = fmax(mass, model->bodies[i].mass);
  return mass;
}

bool carom_body_is_ball(const carom_model *model, const carom_body *body) {
  if (body->part_count != 1) return false;
  const carom_part *part = &model->parts[body->part_start];
  return carom_shape_get_kind(part->shape) == CAROM_SHAPE_SPHERE && cm_norm2(part->pose.p) == 0;
}

double carom_shape_half_depth(const carom_shape *shape) {
  const carom_polytope *P = carom_shape_polytope(shape);
  carom_vec3 half = carom_shape_half_axes(shape);
  if (half.x > 0) return fmin(half.x, fmin(half.y, half.z));
  if (P) return shape->half_depth + carom_shape_radius(shape);
  return carom_shape_radius(shape) > 0 ? carom_shape_radius(shape) : carom_shape_bounding_radius(shape);
}

#include "geometry/tet_shape.h"

#include <math.h>

carom_status carom_tet_shape_create(const carom_allocator *allocator, carom_shape **shape, carom_error *error) {
  static const carom_vec3 corners[4] = {{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}};
  const carom_shape *made;
  carom_status status = carom_shape_create_hull(corners, 4, allocator, &made, error);
  if (status == CAROM_OK) *shape = (carom_shape *)made;  // nobody else has it
  return status;
}

// Seen from their mean, so that differences keep their digits wherever the solid is.
carom_pose carom_tet_shape_put(carom_shape *shape, carom_vec3 a, carom_vec3 b, carom_vec3 c, carom_vec3 d) {
  carom_vec3 mean = cm_scale(0.25, cm_add(cm_add(a, b), cm_add(c, d)));
  const carom_vec3 x[4] = {cm_sub(a, mean), cm_sub(b, mean), cm_sub(c, mean), cm_sub(d, mean)};
  carom_vec3 *vertices = (carom_vec3 *)shape->polytope.vertices;
  double *lanes[3] = {(double *)shape->lanes[0], (double *)shape->lanes[1], (double *)shape->lanes[2]};
  shape->bounding_radius = 0;
  shape->center = cm_zero3();
  for (int i = 0; i < CAROM_SHAPE_LANES; i++) {
    int k = i < 4 ? i : 0;
    lanes[0][i] = x[k].x, lanes[1][i] = x[k].y, lanes[2][i] = x[k].z;
    vertices[k] = x[k];
    shape->bounding_radius = fmax(shape->bounding_radius, cm_norm(x[k]));
  }
  return cm_pose(mean, cm_quat(1, 0, 0, 0));
}

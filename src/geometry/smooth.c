// Shapes with curved surfaces: ellipsoids, cylinders, cones, and polytopes fattened by a ball.
#include <math.h>

#include "base/memory.h"
#include "geometry/polytope.h"
#include "geometry/shape.h"

carom_status carom_shape_create_ellipsoid(carom_vec3 half_axes, const carom_allocator *allocator,
                                          const carom_shape **shape, carom_error *error) {
  *shape = NULL;
  carom_status status = carom_check_length("half axis x of the ellipsoid", half_axes.x, error);
  if (!status) status = carom_check_length("half axis y of the ellipsoid", half_axes.y, error);
  if (!status) status = carom_check_length("half axis z of the ellipsoid", half_axes.z, error);
  if (status) return status;
  double reach = fmax(half_axes.x, fmax(half_axes.y, half_axes.z));
  carom_shape like = {.kind = CAROM_SHAPE_ELLIPSOID, .half_axes = half_axes, .bounding_radius = reach};
  return carom_shape_create_plain(&like, allocator, shape, error);
}

carom_status carom_shape_create_cylinder(double radius, double height, const carom_allocator *allocator,
                                         const carom_shape **shape, carom_error *error) {
  *shape = NULL;
  carom_status status = carom_check_length("the radius of the cylinder", radius, error);
  if (!status) status = carom_check_length("the height of the cylinder", height, error);
  if (status) return status;
  carom_vec3 half_axes = {radius, radius, height / 2};
  carom_shape like = {
      .kind = CAROM_SHAPE_CYLINDER, .half_axes = half_axes, .bounding_radius = hypot(radius, height / 2)};
  return carom_shape_create_plain(&like, allocator, shape, error);
}

carom_status carom_shape_create_cone(double radius, double height, const carom_allocator *allocator,
                                     const carom_shape **shape, carom_error *error) {
  *shape = NULL;
  carom_status status = carom_check_length("the radius of the cone", radius, error);
  if (!status) status = carom_check_length("the height of the cone", height, error);
  if (status) return status;
  double reach = fmax(hypot(radius, height / 4), height * 3 / 4);
  carom_shape like = {.kind = CAROM_SHAPE_CONE, .half_axes = {radius, radius, height / 2}, .bounding_radius = reach};
  return carom_shape_create_plain(&like, allocator, shape, error);
}

carom_status carom_shape_create_rounded(const carom_shape *polytope, double radius, const carom_allocator *allocator,
                                        const carom_shape **shape, carom_error *error) {
  *shape = NULL;
  if (!polytope || polytope->kind != CAROM_SHAPE_POLYTOPE)
    return carom_fail(error, CAROM_ERR_ARGUMENT,
                      "only a shape with flat faces can be rounded: a box, prism, pyramid, hull or mesh, for example");
  carom_status status = carom_check_length("the radius of the rounding", radius, error);
  if (status) return status;
  const carom_polytope *p = &polytope->polytope;
  carom_faces faces = {p->face_count, p->face_start, p->face_vertices};
  carom_allocator heap = carom_allocator_or_default(allocator);
  const carom_shape *copy = NULL;
  status = carom_polytope_create(p->vertices, p->vertex_count, &faces, &heap, &copy, error);
  if (status) return status;
  carom_shape *made = (carom_shape *)copy;  // nobody else has seen it yet
  made->radius = polytope->radius + radius;
  made->bounding_radius += made->radius;
  *shape = made;
  return CAROM_OK;
}

// ---- support --------------------------------------------------------------------------------------------------------

// Multiplies so that the largest component is 1 and squares neither overflow nor vanish; a zero vector stays.
static carom_vec3 well_scaled(carom_vec3 d) {
  double most = fmax(fabs(d.x), fmax(fabs(d.y), fabs(d.z)));
  return most > 0 ? cm_vec3(d.x / most, d.y / most, d.z / most) : d;
}

// On the unit ball's image under A = diag(a, b, c) the lowest point along d is -A (A d)/|A d|.
static carom_vec3 ellipsoid_lowest(carom_vec3 axes, carom_vec3 d) {
  carom_vec3 on_ball = cm_unit(well_scaled(cm_mul_diag(axes, well_scaled(d))));
  return cm_neg(cm_mul_diag(axes, on_ball));
}

// The lowest point of a circle about the z axis, or its centre when all are.
static carom_vec3 rim_lowest(double radius, double z, carom_vec3 d) {
  carom_vec3 flat = cm_unit(well_scaled(cm_vec3(d.x, d.y, 0)));
  return cm_vec3(-radius * flat.x, -radius * flat.y, z);
}

// The rim is as low as the apex where -r |d_xy| - d_z h/4 = 3/4 d_z h.
static carom_vec3 cone_lowest(carom_vec3 axes, carom_vec3 d) {
  double height = 2 * axes.z;
  carom_vec3 s = well_scaled(d);
  if (-axes.x * hypot(s.x, s.y) > s.z * height) return cm_vec3(0, 0, 0.75 * height);
  return rim_lowest(axes.x, -0.25 * height, d);
}

carom_vec3 carom_smooth_lowest(const carom_shape *shape, carom_vec3 direction) {
  carom_vec3 axes = shape->half_axes;
  switch (shape->kind) {
    case CAROM_SHAPE_CYLINDER:
      return rim_lowest(axes.x, direction.z > 0 ? -axes.z : axes.z, direction);
    case CAROM_SHAPE_CONE:
      return cone_lowest(axes, direction);
    default:
      return ellipsoid_lowest(axes, direction);
  }
}

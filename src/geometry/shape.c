// Shapes as objects: allocation, reference counting, questions, and the kinds without corners.
#include "geometry/shape.h"

#include <math.h>

#include "base/memory.h"

carom_shape *carom_shape_allocate(carom_shape_kind kind, size_t extra, const carom_allocator *allocator) {
  carom_shape *shape = carom_allocate(allocator, 1, sizeof *shape + extra);
  if (!shape) return NULL;
  atomic_init(&shape->references, 1);
  shape->kind = kind;
  shape->allocator = *allocator;
  return shape;
}

// The count is the one part of a shape that changes, so these two cast const away.
const carom_shape *carom_shape_retain(const carom_shape *shape) {
  if (shape) atomic_fetch_add_explicit(&((carom_shape *)shape)->references, 1, memory_order_relaxed);
  return shape;
}

void carom_shape_release(const carom_shape *shape) {
  if (!shape) return;
  carom_shape *owned = (carom_shape *)shape;
  // The last thread must see all that the others did with the shape before it frees it.
  if (atomic_fetch_sub_explicit(&owned->references, 1, memory_order_acq_rel) > 1) return;
  carom_allocator allocator = owned->allocator;
  carom_release(&allocator, owned);
}

carom_status carom_check_length(const char *what, double length, carom_error *error) {
  if (!isfinite(length) || length <= 0)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "%s is %g; expected a positive length in metres", what, length);
  if (length < CAROM_LENGTH_MIN || length > CAROM_LENGTH_MAX)
    return carom_fail(error, CAROM_ERR_NUMBER, "%s is %g m; expected a length between %g and %g m", what, length,
                      CAROM_LENGTH_MIN, CAROM_LENGTH_MAX);
  return CAROM_OK;
}

// ---- round shapes -----------------------------------------------------------------------------

carom_status carom_shape_create_plain(const carom_shape *like, const carom_allocator *allocator,
                                      const carom_shape **shape, carom_error *error) {
  carom_allocator heap = carom_allocator_or_default(allocator);
  carom_shape *made = carom_shape_allocate(like->kind, 0, &heap);
  if (!made) return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for a shape");
  made->radius = like->radius;
  made->half_length = like->half_length;
  made->half_axes = like->half_axes;
  made->bounding_radius = like->bounding_radius;
  *shape = made;
  return CAROM_OK;
}

carom_status carom_shape_create_sphere(double radius, const carom_allocator *allocator, const carom_shape **shape,
                                       carom_error *error) {
  *shape = NULL;
  carom_status status = carom_check_length("the radius of the sphere", radius, error);
  carom_shape like = {.kind = CAROM_SHAPE_SPHERE, .radius = radius, .bounding_radius = radius};
  return status ? status : carom_shape_create_plain(&like, allocator, shape, error);
}

carom_status carom_shape_create_capsule(double radius, double length, const carom_allocator *allocator,
                                        const carom_shape **shape, carom_error *error) {
  *shape = NULL;
  carom_status status = carom_check_length("the radius of the capsule", radius, error);
  if (!status && length != 0) status = carom_check_length("the length of the capsule", length, error);
  carom_shape like = {.kind = CAROM_SHAPE_CAPSULE, .radius = radius, .half_length = length / 2};
  like.bounding_radius = radius + length / 2;
  return status ? status : carom_shape_create_plain(&like, allocator, shape, error);
}

carom_status carom_shape_create_halfspace(const carom_allocator *allocator, const carom_shape **shape,
                                          carom_error *error) {
  *shape = NULL;
  carom_shape like = {.kind = CAROM_SHAPE_HALFSPACE, .bounding_radius = INFINITY};
  return carom_shape_create_plain(&like, allocator, shape, error);
}

// ---- questions --------------------------------------------------------------------------------

carom_shape_kind carom_shape_get_kind(const carom_shape *shape) { return shape->kind; }
double carom_shape_radius(const carom_shape *shape) { return shape->radius; }
double carom_shape_half_length(const carom_shape *shape) { return shape->half_length; }
carom_vec3 carom_shape_half_axes(const carom_shape *shape) { return shape->half_axes; }
double carom_shape_bounding_radius(const carom_shape *shape) { return shape->bounding_radius; }

const carom_polytope *carom_shape_polytope(const carom_shape *shape) {
  return shape->kind == CAROM_SHAPE_POLYTOPE ? &shape->polytope : NULL;
}

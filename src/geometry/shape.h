// The insides of a shape, for the modules that ask it many questions per step.
#ifndef CAROM_SRC_GEOMETRY_SHAPE_H
#define CAROM_SRC_GEOMETRY_SHAPE_H

#include <stdatomic.h>

#include "carom/geometry.h"

// Lengths outside this range are refused: within it squares and cubes neither overflow nor vanish.
#define CAROM_LENGTH_MIN 1e-100
#define CAROM_LENGTH_MAX 1e100

enum { CAROM_SHAPE_LANES = 8 };  // vertices that a support query looks at side by side

struct carom_shape {
  atomic_int references;
  carom_shape_kind kind;
  double radius;       // of the ball that fattens the core: a point, a segment or the polytope
  double half_length;  // of a capsule's segment
  double bounding_radius;
  double half_depth;        // of a polytope: half the least width across a face, without the ball
  carom_vec3 half_axes;     // ellipsoid; (radius, radius, height/2) of cylinder and cone
  carom_vec3 center;        // an inner point: the mean of the vertices, or the origin
  carom_polytope polytope;  // its arrays follow the struct in the same block
  int lane_count;           // vertex_count rounded up to a multiple of CAROM_SHAPE_LANES
  const double *lanes[3];   // (lane_count) vertex coordinates by axis, the first vertex repeated at the end
  carom_allocator allocator;
};

// A zeroed shape with one reference, followed by `extra` bytes for arrays; null when out of memory.
carom_shape *carom_shape_allocate(carom_shape_kind kind, size_t extra, const carom_allocator *allocator);

// A shape without a polytope, of the kind and measures of `like`.
carom_status carom_shape_create_plain(const carom_shape *like, const carom_allocator *allocator,
                                      const carom_shape **shape, carom_error *error);

// Refuses a length that is not finite, not positive or out of range; `what` names it in the message.
carom_status carom_check_length(const char *what, double length, carom_error *error);

// The point of an ellipsoid, cylinder or cone that lies lowest along `direction`, both in the shape's frame. Where a
// whole disc lies equally low, its centre; for a zero direction, some point of the shape.
carom_vec3 carom_smooth_lowest(const carom_shape *shape, carom_vec3 direction);

#endif

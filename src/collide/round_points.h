// What a curved shape shows a plane: points of it that lie within a small reach of its lowest point. A flat cap, which
// touches along a whole disc, is represented by points of its rim.
#ifndef CAROM_SRC_COLLIDE_ROUND_POINTS_H
#define CAROM_SRC_COLLIDE_ROUND_POINTS_H

#include "geometry/shape.h"

enum { CAROM_RIM_MAX = 64, CAROM_ROUND_MAX = 2 * CAROM_RIM_MAX + 4 };

// Lowest along the unit vector `direction` of the shape's frame; `rim` points stand for a circle. Returns how many of
// `points` (room for CAROM_ROUND_MAX) were written: one or more, for all kinds but polytope and half-space.
int carom_round_points(const carom_shape *shape, carom_vec3 direction, double reach, int rim, carom_vec3 *points);

#endif

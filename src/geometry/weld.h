// Points that are one vertex but for rounding.
#ifndef CAROM_SRC_GEOMETRY_WELD_H
#define CAROM_SRC_GEOMETRY_WELD_H

#include "carom/geometry.h"

typedef struct carom_bounds {
  carom_vec3 low, high;
  carom_vec3 center;  // a point inside, exactly representable
  double extent;      // longest side
  double largest;     // largest absolute coordinate: what rounding is relative to
} carom_bounds;

carom_bounds carom_bounds_of(const carom_vec3 *points, int count);

// The first point that is not finite or beyond CAROM_LENGTH_MAX; -1 when all are fine.
int carom_find_bad_point(const carom_vec3 *points, int count);

// Sets first[i] to the lowest-numbered kept point within `tolerance` of point i, which is i itself when point i is
// kept. Points are visited in order, so the result is unique. False when out of memory.
bool carom_weld(const carom_vec3 *points, int count, double tolerance, const carom_allocator *allocator, int *first);

#endif

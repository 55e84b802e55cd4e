// Corners of regular polygons that mirror each other to the last bit.
#ifndef CAROM_SRC_GEOMETRY_POLYGON_H
#define CAROM_SRC_GEOMETRY_POLYGON_H

#include <math.h>

#include "carom/vec.h"

// Corner k (0 to n - 1) of the regular n-gon on the unit circle. The angle is folded into the first octant in whole
// numbers, so that corners which mirror each other do so to the last bit and those on an axis lie on it.
static inline carom_vec3 carom_polygon_corner(int k, int n) {
  int eighth = 8 * k / n, rest = 8 * k % n;  // angle = (eighth + rest/n) pi/4
  if (eighth % 2) rest = n - rest;
  double angle = 0.78539816339744830962 * rest / n, c = cos(angle), s = sin(angle);
  if (rest == n) c = s = 0.70710678118654752440;
  const double x[8] = {c, s, -s, -c, -c, -s, s, c}, y[8] = {s, c, c, s, -s, -c, -c, -s};
  return cm_vec3(x[eighth], y[eighth], 0);
}

#endif

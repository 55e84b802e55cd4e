// The surface of a solid that deforms, as it is at some positions of its nodes (solid by solid, counted from 0).
#ifndef CAROM_SRC_MECHANICS_SOFT_SURFACE_H
#define CAROM_SRC_MECHANICS_SOFT_SURFACE_H

#include "carom/collide.h"
#include "carom/model.h"

carom_aabb carom_soft_box(const carom_solid *solid, const carom_vec3 *x);
static inline bool carom_boxes_meet(const carom_aabb *a, const carom_aabb *b, double reach) {
  return a->low.x <= b->high.x + reach && b->low.x <= a->high.x + reach && a->low.y <= b->high.y + reach &&
         b->low.y <= a->high.y + reach && a->low.z <= b->high.z + reach && b->low.z <= a->high.z + reach;
}

// How far a point is from the surface, m. `tet` (or -1) is looked at first; a search that comes to `enough` or less
// ends there.
double carom_soft_distance(const carom_solid *solid, const carom_vec3 *x, carom_vec3 point, int tet, double enough);

// How thin the solid is at rest, m: the least of its extents across triangles of its surface, of which up to 256 are
// asked, and six times its volume over its surface, which is the width of a cube and of a ball, and three times the
// walls of what is hollow.
double carom_soft_width(const carom_solid *solid, const carom_vec3 *rest);

#endif

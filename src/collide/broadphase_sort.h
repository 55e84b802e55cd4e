// Sorting without allocation (qsort may allocate), and places along a curve.
#ifndef CAROM_SRC_COLLIDE_BROADPHASE_SORT_H
#define CAROM_SRC_COLLIDE_BROADPHASE_SORT_H

#include "carom/collide.h"

// Ascending; the two arrays (count) may be exchanged.
void carom_sort_keys(uint64_t **keys, uint64_t **scratch, int count);

// Place of a point of `world` along Morton's curve, 10 bits an axis: what is near along the curve is near in space.
uint32_t carom_curve_place(const carom_aabb *world, carom_vec3 point);

#endif

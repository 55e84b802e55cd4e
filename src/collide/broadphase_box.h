// Small arithmetic of axis-aligned boxes.
#ifndef CAROM_SRC_COLLIDE_BROADPHASE_BOX_H
#define CAROM_SRC_COLLIDE_BROADPHASE_BOX_H

#include "carom/collide.h"

// Plain comparisons instead of fmin and fmax: no box in the tree or grid holds a NaN, and these become one instruction.
static inline double carom_lower(double a, double b) { return a < b ? a : b; }
static inline double carom_higher(double a, double b) { return a > b ? a : b; }

// Closed boxes: touching counts.
static inline bool carom_box_overlap(const carom_aabb *a, const carom_aabb *b) {
  return a->low.x <= b->high.x && b->low.x <= a->high.x && a->low.y <= b->high.y && b->low.y <= a->high.y &&
         a->low.z <= b->high.z && b->low.z <= a->high.z;
}

static inline bool carom_box_contains(const carom_aabb *outer, const carom_aabb *inner) {
  return outer->low.x <= inner->low.x && inner->high.x <= outer->high.x && outer->low.y <= inner->low.y &&
         inner->high.y <= outer->high.y && outer->low.z <= inner->low.z && inner->high.z <= outer->high.z;
}

static inline bool carom_box_equal(const carom_aabb *a, const carom_aabb *b) {
  return carom_box_contains(a, b) && carom_box_contains(b, a);
}

static inline carom_aabb carom_box_union(const carom_aabb *a, const carom_aabb *b) {
  carom_aabb c;
  c.low = cm_vec3(carom_lower(a->low.x, b->low.x), carom_lower(a->low.y, b->low.y), carom_lower(a->low.z, b->low.z));
  c.high = cm_vec3(carom_higher(a->high.x, b->high.x), carom_higher(a->high.y, b->high.y),
                   carom_higher(a->high.z, b->high.z));
  return c;
}

// Also false for a NaN, and for boxes that hold no point.
static inline bool carom_box_is_sound(const carom_aabb *box) {
  return box->low.x <= box->high.x && box->low.y <= box->high.y && box->low.z <= box->high.z &&
         carom_higher(box->low.x, carom_higher(box->low.y, box->low.z)) < INFINITY &&
         carom_lower(box->high.x, carom_lower(box->high.y, box->high.z)) > -INFINITY;
}

// Half the surface.
static inline double carom_box_area(const carom_aabb *a) {
  carom_vec3 d = cm_sub(a->high, a->low);
  return d.x * d.y + d.y * d.z + d.z * d.x;
}

static inline double carom_box_union_area(const carom_aabb *a, const carom_aabb *b) {
  carom_aabb c = carom_box_union(a, b);
  return carom_box_area(&c);
}

static inline double carom_box_largest_side(const carom_aabb *a) {
  carom_vec3 d = cm_sub(a->high, a->low);
  return carom_higher(d.x, carom_higher(d.y, d.z));
}

#endif

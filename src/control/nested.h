// Two parts of bodies whose gap is asked of the separation oracle.
#ifndef CAROM_SRC_CONTROL_NESTED_H
#define CAROM_SRC_CONTROL_NESTED_H

#include "carom/collide.h"
#include "control/avoid_gap.h"

typedef struct carom_nested_pair {
  const carom_shape *a, *b;
  carom_pose offset_a, offset_b;  // in the principal frames of the bodies
  carom_ssh_cache cache;
} carom_nested_pair;

// What the avoidance elements of a program look at.
typedef struct carom_avoidance_room {
  carom_nested_pair *pairs;
  int pair_count;
  carom_smooth_gap *gaps;
  int gap_count;
  carom_vec3 *corners;  // of all parts, in the principal frames of their bodies; for balls and capsules, of their cores
  int *corner_start;    // (parts + 1)
} carom_avoidance_room;

#endif

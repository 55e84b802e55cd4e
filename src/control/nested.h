// Two parts of bodies whose gap is asked of the separation oracle.
#ifndef CAROM_SRC_CONTROL_NESTED_H
#define CAROM_SRC_CONTROL_NESTED_H

#include "carom/collide.h"

typedef struct carom_nested_pair {
  const carom_shape *a, *b;
  carom_pose offset_a, offset_b;  // in the principal frames of the bodies
  carom_ssh_cache cache;
} carom_nested_pair;

#endif

#include "step/step.h"

// Joints alone. Driven bodies move, and what is tied to them by springs follows.
#define JOINTS_ALONE                                                                                 \
  {                                                                                                  \
    .options = {CAROM_TAKES_STEPS, [CAROM_OPTION_ALPHA] = CAROM_ABOVE(0, 1)},                        \
    .traits = {CAROM_SEES_FORCES,                                                                    \
               CAROM_SEES_JOINTS, [CAROM_TRAIT_DRIVES] = true, [CAROM_TRAIT_TURNING_PLANES] = true}, \
    .spring_order = 1,                                                                               \
  }
const carom_honours carom_honours_index2 = JOINTS_ALONE, carom_honours_index3 = JOINTS_ALONE;

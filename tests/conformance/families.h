// Rows of the matrix, a file a family; each array ends with a row without a name.
#ifndef CAROM_TESTS_CONFORMANCE_FAMILIES_H
#define CAROM_TESTS_CONFORMANCE_FAMILIES_H

#include "conformance.h"

extern const conformance_scene flight_scenes[], bounce_scenes[], slide_scenes[], tip_scenes[], stack_scenes[],
    fast_scenes[], pendulum_scenes[], joint_scenes[], spring_scenes[], drive_scenes[], funnel_scenes[],
    machine_scenes[], pushed_scenes[];

#define CONFORMANCE_FAMILIES                                                                                        \
  flight_scenes, bounce_scenes, slide_scenes, tip_scenes, stack_scenes, fast_scenes, pendulum_scenes, joint_scenes, \
      spring_scenes, drive_scenes, funnel_scenes, machine_scenes, pushed_scenes

#endif

// The inside of carom_joints, for the files joints*.c.
#ifndef CAROM_SRC_MODEL_JOINTS_PARTS_H
#define CAROM_SRC_MODEL_JOINTS_PARTS_H

#include "model/joint_system.h"
#include "model/joints.h"

struct carom_joints {
  const carom_model *model;
  carom_allocator allocator;
  carom_joint_system *system;
  double *rates;  // (joint_count * CAROM_JOINT_ROWS)
};

#endif

// Joints and springs in a result file, for the replay.
#ifndef CAROM_SRC_RESULT_JOINTS_H
#define CAROM_SRC_RESULT_JOINTS_H

#include "carom/result.h"
#include "result/h5.h"
#include "result/recorder_head.h"

enum { CAROM_JOINT_KIND_COUNT = CAROM_RESULT_SPRING + 1 };
extern const char *const carom_joint_kind_names[CAROM_JOINT_KIND_COUNT];

// Those of the model and those in `extra` (may be null); no group when there are none.
void carom_result_write_joints(carom_h5_file *file, const carom_model *model, const carom_head_extra *extra);
void carom_result_read_joints(carom_h5_file *file, carom_result *result);

#endif

// Joints, and what belongs to a plan, in the description of a replay page (viewer/FORMAT.md).
#ifndef CAROM_SRC_EXPORT_REPLAY_PLAN_H
#define CAROM_SRC_EXPORT_REPLAY_PLAN_H

#include "base/text_buffer.h"
#include "carom/export.h"

enum { CAROM_REPLAY_JOINTS_MAX = 20000, CAROM_REPLAY_PLANES_MAX = 20000 };  // more would be a hedge, not a picture

void carom_replay_joints(carom_text_buffer *text, const carom_result *result);  // nothing when there are none
void carom_replay_plan(carom_text_buffer *text, const carom_result *result);    // nothing when it is no plan

#endif

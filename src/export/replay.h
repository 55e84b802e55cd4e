// The parts of the description of a replay page (viewer/FORMAT.md) that not every run has.
#ifndef CAROM_SRC_EXPORT_REPLAY_H
#define CAROM_SRC_EXPORT_REPLAY_H

#include "base/text_buffer.h"
#include "carom/export.h"

// More joints and planes would be a hedge, not a picture; events are an even choice of those that there are.
enum { CAROM_REPLAY_JOINTS_MAX = 20000, CAROM_REPLAY_PLANES_MAX = 20000, CAROM_REPLAY_EVENTS_MAX = 20000 };

// Each adds its member, or nothing when there is none.
void carom_replay_joints(carom_text_buffer *text, const carom_result *result);
void carom_replay_plan(carom_text_buffer *text, const carom_result *result);
void carom_replay_events(carom_text_buffer *text, const carom_result *result);

#endif

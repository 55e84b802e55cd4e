// Contact events in the description of a replay page.
#ifndef CAROM_SRC_EXPORT_REPLAY_EVENTS_H
#define CAROM_SRC_EXPORT_REPLAY_EVENTS_H

#include "base/text_buffer.h"
#include "carom/export.h"

enum { CAROM_REPLAY_EVENTS_MAX = 20000 };  // an even choice of those that there are

// Adds ,"events":{...} (FORMAT.md), or nothing when there are none.
void carom_replay_events(carom_text_buffer *text, const carom_result *result);

#endif

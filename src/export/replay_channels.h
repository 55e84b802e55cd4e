// Channels in a replay page: at most so many, of so many points each, that the page stays small. Where there are more
// frames than points, each two points stand for some frames, and tell the smallest and the largest value in the order
// in which they came: a short blow of a force is still seen.
#ifndef CAROM_SRC_EXPORT_REPLAY_CHANNELS_H
#define CAROM_SRC_EXPORT_REPLAY_CHANNELS_H

#include "base/text_buffer.h"
#include "carom/export.h"

enum { CAROM_REPLAY_CHANNELS_MAX = 5000, CAROM_REPLAY_POINTS_MAX = 4000 };

typedef struct carom_replay_channels {
  const carom_result *result;
  int count;       // channels that the page tells of
  int frames;      // that it shows
  int points;      // of each channel
  double *values;  // (count x points) NaN: nothing is known
} carom_replay_channels;

// How many; allocates nothing.
carom_replay_channels carom_replay_channels_plan(const carom_result *result, int frames);
bool carom_replay_channels_create(carom_replay_channels *channels);  // false when out of memory
void carom_replay_channels_release(carom_replay_channels *channels);

// The member of the description, or nothing when there are none.
void carom_replay_channels_describe(const carom_replay_channels *channels, carom_text_buffer *text);
// Frame after frame.
void carom_replay_channels_add(carom_replay_channels *channels, int frame, const double *values);
// The part of the data, once all frames were added.
size_t carom_replay_channels_size(const carom_replay_channels *channels);
void carom_replay_channels_pack(const carom_replay_channels *channels, unsigned char *bytes);

#endif

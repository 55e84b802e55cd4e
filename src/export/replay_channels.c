#include "export/replay_channels.h"

#include <math.h>

#include "base/memory.h"
#include "export/replay_pack.h"

enum { NUMBERS_MAX = 4000000 };                  // of all channels together
enum { GAP = 65535, TOP = GAP - 1, RANGE = 2 };  // levels; numbers that say what they mean

carom_replay_channels carom_replay_channels_plan(const carom_result *result, int frames) {
  carom_replay_channels c = {.result = result, .count = result->channel_count, .frames = frames, .points = frames};
  if (c.count > CAROM_REPLAY_CHANNELS_MAX) c.count = CAROM_REPLAY_CHANNELS_MAX;
  int most = c.count > 0 ? NUMBERS_MAX / c.count / 2 * 2 : 0;
  if (most > CAROM_REPLAY_POINTS_MAX) most = CAROM_REPLAY_POINTS_MAX;
  if (c.points > most) c.points = most;
  return c;
}

bool carom_replay_channels_create(carom_replay_channels *channels) {
  channels->values = CAROM_NEW(&channels->result->allocator, double, (size_t)channels->count *(size_t)channels->points);
  return channels->values != NULL;
}

void carom_replay_channels_release(carom_replay_channels *channels) {
  carom_release(&channels->result->allocator, channels->values);
  channels->values = NULL;
}

// ---- the description -----------------------------------------------------------------------------------------------

void carom_replay_channels_describe(const carom_replay_channels *channels, carom_text_buffer *text) {
  const carom_result *result = channels->result;
  if (channels->count == 0) return;
  carom_text_buffer_json(text, ",\"channels\":{\"points\":%d,\"total\":%d,\"list\":[", channels->points,
                         result->channel_count);
  for (int i = 0; i < channels->count; i++)
    carom_text_buffer_json(text, "%s{\"name\":%j,\"unit\":%j}", i > 0 ? ",\n" : "", result->channels[i].name,
                           result->channels[i].unit);
  carom_text_buffer_add(text, "]}");
}

// ---- points --------------------------------------------------------------------------------------------------------

// What cannot be drawn is a gap.
static double drawable(double value) { return isfinite(value) ? fmax(-1e300, fmin(1e300, value)) : NAN; }

// One more value to the two that stand for some frames.
static void extend_pair(double *pair, double value, bool first) {
  double lo = fmin(pair[0], pair[1]), hi = fmax(pair[0], pair[1]);
  bool known = !first && !isnan(pair[0]);
  if (known && value >= lo && value <= hi) return;
  if (known && isnan(value)) return;
  pair[0] = !known ? value : value > hi ? lo : hi;
  pair[1] = value;
}

void carom_replay_channels_add(carom_replay_channels *channels, int frame, const double *values) {
  int64_t frames = channels->frames, pairs = channels->points / 2, points = channels->points;
  bool all = points == frames;
  int64_t pair = all ? 0 : ((frame + 1) * pairs - 1) / frames;
  bool first = !all && pair * frames / pairs == frame;
  for (int64_t i = 0; i < channels->count; i++) {
    double *run = channels->values + i * points, value = drawable(values[i]);
    if (all)
      run[frame] = value;
    else
      extend_pair(run + 2 * pair, value, first);
  }
}

// ---- the data ------------------------------------------------------------------------------------------------------

size_t carom_replay_channels_size(const carom_replay_channels *channels) {
  return (size_t)channels->count * (8 * RANGE + 2 * (size_t)channels->points);
}

static void find_range(const double *run, int points, double range[RANGE]) {
  range[0] = range[1] = NAN;
  for (int k = 0; k < points; k++) {
    range[0] = fmin(range[0], run[k]);  // both pass over NaN
    range[1] = fmax(range[1], run[k]);
  }
}

static void pack_run(const double *run, int points, const double range[RANGE], const carom_planes *planes, size_t at) {
  uint16_t previous = 0;
  for (int k = 0; k < points; k++) {
    uint16_t level = isnan(run[k]) ? GAP : carom_pack_level(run[k], range[0], range[1], TOP);
    carom_pack_difference(planes, at + (size_t)k, (uint16_t)(level - previous));
    previous = level;
  }
}

void carom_replay_channels_pack(const carom_replay_channels *channels, unsigned char *bytes) {
  size_t count = (size_t)channels->count, points = (size_t)channels->points;
  carom_planes planes = {bytes + 8 * RANGE * count, count * points};
  for (size_t i = 0; i < count; i++) {
    double range[RANGE];
    const double *run = channels->values + i * points;
    find_range(run, channels->points, range);
    for (size_t k = 0; k < RANGE; k++) carom_pack_f64(bytes + 8 * (RANGE * i + k), range[k]);
    pack_run(run, channels->points, range, &planes, i * points);
  }
}

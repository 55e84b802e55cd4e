// How numbers lie in the data of a replay page (viewer/FORMAT.md): little endian; measured values as 16 bits between
// two bounds, told as differences, low bytes apart from high bytes: both planes are then small numbers in long runs,
// which deflate packs well.
#ifndef CAROM_SRC_EXPORT_REPLAY_PACK_H
#define CAROM_SRC_EXPORT_REPLAY_PACK_H

#include <stddef.h>
#include <stdint.h>

void carom_pack_f64(unsigned char *to, double value);
void carom_pack_f32(unsigned char *to, float value);

// The next float32 not above (or not below) a double, so that a stored box still encloses every frame.
float carom_pack_below(double value);
float carom_pack_above(double value);

// 0 at `lo` to `top` at `hi`, and 0 where there is nothing between the two.
uint16_t carom_pack_level(double value, double lo, double hi, uint16_t top);

// Two planes of `count` bytes each.
typedef struct carom_planes {
  unsigned char *bytes;
  size_t count;
} carom_planes;

void carom_pack_difference(const carom_planes *planes, size_t at, uint16_t difference);  // modulo 65536

#endif

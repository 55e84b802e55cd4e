#include "export/replay_pack.h"

#include <math.h>
#include <string.h>

static void put_u32(unsigned char *to, uint32_t v) {
  for (int i = 0; i < 4; i++) to[i] = (unsigned char)(v >> 8 * i);
}

void carom_pack_f64(unsigned char *to, double value) {
  uint64_t v;
  memcpy(&v, &value, sizeof v);
  put_u32(to, (uint32_t)v);
  put_u32(to + 4, (uint32_t)(v >> 32));
}

void carom_pack_f32(unsigned char *to, float value) {
  uint32_t v;
  memcpy(&v, &value, sizeof v);
  put_u32(to, v);
}

float carom_pack_below(double value) {
  float f = (float)value;
  return (double)f > value ? nextafterf(f, -INFINITY) : f;
}

float carom_pack_above(double value) {
  float f = (float)value;
  return (double)f < value ? nextafterf(f, INFINITY) : f;
}

uint16_t carom_pack_level(double value, double lo, double hi, uint16_t top) {
  if (!(hi > lo)) return 0;
  double scaled = (value - lo) / (hi - lo) * top;
  return (uint16_t)(scaled <= 0 ? 0 : scaled >= top ? top : floor(scaled + 0.5));
}

void carom_pack_difference(const carom_planes *planes, size_t at, uint16_t difference) {
  planes->bytes[at] = (unsigned char)(difference & 0xFF);
  planes->bytes[planes->count + at] = (unsigned char)(difference >> 8);
}

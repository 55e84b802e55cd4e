#include "collide/broadphase_sort.h"

#include "collide/broadphase_box.h"

static void sort_few(uint64_t *keys, int count) {
  for (int i = 1; i < count; i++) {
    uint64_t key = keys[i];
    int k = i;
    for (; k > 0 && keys[k - 1] > key; k--) keys[k] = keys[k - 1];
    keys[k] = key;
  }
}

// One pass of a radix sort by the byte at `shift`; false when all keys agree there and nothing was done.
static bool sort_by_byte(const uint64_t *keys, uint64_t *sorted, int count, int shift) {
  int start[256] = {0};
  for (int i = 0; i < count; i++) start[keys[i] >> shift & 255]++;
  if (start[keys[0] >> shift & 255] == count) return false;
  for (int d = 0, sum = 0; d < 256; d++) {
    int n = start[d];
    start[d] = sum;
    sum += n;
  }
  for (int i = 0; i < count; i++) sorted[start[keys[i] >> shift & 255]++] = keys[i];
  return true;
}

void carom_sort_keys(uint64_t **keys, uint64_t **scratch, int count) {
  if (count <= 64) {
    sort_few(*keys, count);
    return;
  }
  for (int shift = 0; shift < 64; shift += 8) {
    if (!sort_by_byte(*keys, *scratch, count, shift)) continue;
    uint64_t *swap = *keys;
    *keys = *scratch;
    *scratch = swap;
  }
}

// Ten bits, two zeros after each.
static uint32_t spread_bits(uint32_t x) {
  x = (x | x << 16) & 0x030000FFu;
  x = (x | x << 8) & 0x0300F00Fu;
  x = (x | x << 4) & 0x030C30C3u;
  return (x | x << 2) & 0x09249249u;
}

static uint32_t quantize(double x, double low, double high) {
  double t = high > low ? 1023 * ((x - low) / (high - low)) : 0;
  return (uint32_t)carom_lower(carom_higher(t, 0), 1023);
}

uint32_t carom_curve_place(const carom_aabb *world, carom_vec3 point) {
  return spread_bits(quantize(point.x, world->low.x, world->high.x)) |
         spread_bits(quantize(point.y, world->low.y, world->high.y)) << 1 |
         spread_bits(quantize(point.z, world->low.z, world->high.z)) << 2;
}

// Philox 4x32-10: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3" (SC 2011), section 4.
#include <math.h>

#include "carom/base.h"

typedef struct block {
  uint32_t v[4];
} block;

static block philox_round(block c, uint32_t k0, uint32_t k1) {
  uint64_t p0 = (uint64_t)0xD2511F53u * c.v[0], p1 = (uint64_t)0xCD9E8D57u * c.v[2];
  block r = {{(uint32_t)(p1 >> 32) ^ c.v[1] ^ k0, (uint32_t)p1, (uint32_t)(p0 >> 32) ^ c.v[3] ^ k1, (uint32_t)p0}};
  return r;
}

static block philox(block counter, uint64_t key) {
  uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
  for (int round = 0; round < 10; round++) {
    counter = philox_round(counter, k0, k1);
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return counter;
}

carom_random carom_random_make(uint64_t seed, uint64_t stream) { return (carom_random){seed, stream, 0}; }

// Two 64-bit numbers per block: index/2 is the counter, index%2 picks the half.
uint64_t carom_random_bits(carom_random *random) {
  uint64_t n = random->index >> 1;
  block counter = {{(uint32_t)n, (uint32_t)(n >> 32), (uint32_t)random->stream, (uint32_t)(random->stream >> 32)}};
  block r = philox(counter, random->seed);
  unsigned half = 2 * (unsigned)(random->index & 1);
  random->index++;
  return (uint64_t)r.v[half + 1] << 32 | r.v[half];
}

double carom_random_uniform(carom_random *random) { return (double)(carom_random_bits(random) >> 11) * 0x1p-53; }

double carom_random_between(carom_random *random, double a, double b) {
  return a + (b - a) * carom_random_uniform(random);
}

// Box and Muller (1958), the cosine half only, so that one call always draws two numbers.
double carom_random_normal(carom_random *random) {
  double u = 1 - carom_random_uniform(random), v = carom_random_uniform(random);
  return sqrt(-2 * log(u)) * cos(6.283185307179586476925 * v);
}

// Rejection keeps the draw unbiased: 2^32 mod n values at the low end are thrown away.
uint32_t carom_random_below(carom_random *random, uint32_t n) {
  if (n == 0) return 0;
  uint32_t reject = (uint32_t)(-n) % n;
  uint32_t bits;
  do bits = (uint32_t)(carom_random_bits(random) >> 32);
  while (bits < reject);
  return bits % n;
}

// The scan of scan.h for AVX2, to be inlined into functions that are compiled for it.
#ifndef CAROM_SRC_COLLIDE_SCAN_LANES_H
#define CAROM_SRC_COLLIDE_SCAN_LANES_H

#include "collide/avx2.h"

#ifdef CAROM_HAS_AVX2
#include <float.h>
#include <immintrin.h>

#include "carom/vec.h"

#define CAROM_LANES_INLINE __attribute__((target("avx2"))) static inline

CAROM_LANES_INLINE __m256d carom_lanes_heights(const double *x, const double *y, const double *z, carom_vec3 d) {
  __m256d h = _mm256_add_pd(_mm256_mul_pd(_mm256_set1_pd(d.x), _mm256_loadu_pd(x)),
                            _mm256_mul_pd(_mm256_set1_pd(d.y), _mm256_loadu_pd(y)));
  return _mm256_add_pd(h, _mm256_mul_pd(_mm256_set1_pd(d.z), _mm256_loadu_pd(z)));
}

// One bit for each of the eight numbers that equals the least of them.
CAROM_LANES_INLINE unsigned carom_lanes_least(__m256d low0, __m256d low1) {
  __m256d m = _mm256_min_pd(low0, low1);
  m = _mm256_min_pd(m, _mm256_permute2f128_pd(m, m, 1));
  m = _mm256_min_pd(m, _mm256_permute_pd(m, 5));
  return (unsigned)_mm256_movemask_pd(_mm256_cmp_pd(low0, m, _CMP_EQ_OQ)) |
         (unsigned)_mm256_movemask_pd(_mm256_cmp_pd(low1, m, _CMP_EQ_OQ)) << 4;
}

// Eight lanes keep the lowest of their own vertices and the number of its group; then the lanes are compared.
CAROM_LANES_INLINE int carom_scan_lanes(const double *x, const double *y, const double *z, int count, carom_vec3 d) {
  __m256d low0 = carom_lanes_heights(x, y, z, d), low1 = carom_lanes_heights(x + 4, y + 4, z + 4, d);
  if (count == 8) {  // the lane is the vertex
    unsigned ties = carom_lanes_least(low0, low1);
    return ties ? __builtin_ctz(ties) : 0;
  }
  __m256d at0 = _mm256_setzero_pd(), at1 = at0;
  for (int i = 8; i < count; i += 8) {
    __m256d from = _mm256_set1_pd(i), h0 = carom_lanes_heights(x + i, y + i, z + i, d),
            h1 = carom_lanes_heights(x + i + 4, y + i + 4, z + i + 4, d);
    at0 = _mm256_blendv_pd(at0, from, _mm256_cmp_pd(h0, low0, _CMP_LT_OQ));
    at1 = _mm256_blendv_pd(at1, from, _mm256_cmp_pd(h1, low1, _CMP_LT_OQ));
    low0 = _mm256_min_pd(h0, low0);
    low1 = _mm256_min_pd(h1, low1);
  }
  unsigned ties = carom_lanes_least(low0, low1);
  double at[8];
  _mm256_storeu_pd(at, at0);
  _mm256_storeu_pd(at + 4, at1);
  int best = count;
  for (; ties; ties &= ties - 1) {
    int lane = __builtin_ctz(ties), vertex = (int)at[lane] + lane;
    best = vertex < best ? vertex : best;
  }
  return best < count ? best : 0;  // not-a-number directions end here
}
#endif
#endif

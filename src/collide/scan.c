#include "collide/scan.h"

#include <float.h>

#include "base/simd.h"
#include "geometry/shape.h"

static int scan_plain(const double *x, const double *y, const double *z, int count, carom_vec3 d) {
  double lowest = DBL_MAX;
  int best = 0;
  for (int i = 0; i < count; i++) {
    double h = d.x * x[i] + d.y * y[i] + d.z * z[i];
    if (h < lowest) lowest = h, best = i;
  }
  return best;
}

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

// Each of eight lanes keeps the lowest of its own vertices and the number of its group; then the lanes are compared.
__attribute__((target("avx2"))) static int scan_avx2(const double *x, const double *y, const double *z, int count,
                                                     carom_vec3 d) {
  __m256d dx = _mm256_set1_pd(d.x), dy = _mm256_set1_pd(d.y), dz = _mm256_set1_pd(d.z);
  __m256d low0 = _mm256_set1_pd(DBL_MAX), low1 = low0, at0 = _mm256_setzero_pd(), at1 = at0;
  for (int i = 0; i < count; i += 8) {
    __m256d from = _mm256_set1_pd(i);
    __m256d h0 = _mm256_add_pd(_mm256_mul_pd(dx, _mm256_loadu_pd(x + i)), _mm256_mul_pd(dy, _mm256_loadu_pd(y + i)));
    __m256d h1 =
        _mm256_add_pd(_mm256_mul_pd(dx, _mm256_loadu_pd(x + i + 4)), _mm256_mul_pd(dy, _mm256_loadu_pd(y + i + 4)));
    h0 = _mm256_add_pd(h0, _mm256_mul_pd(dz, _mm256_loadu_pd(z + i)));
    h1 = _mm256_add_pd(h1, _mm256_mul_pd(dz, _mm256_loadu_pd(z + i + 4)));
    at0 = _mm256_blendv_pd(at0, from, _mm256_cmp_pd(h0, low0, _CMP_LT_OQ));
    at1 = _mm256_blendv_pd(at1, from, _mm256_cmp_pd(h1, low1, _CMP_LT_OQ));
    low0 = _mm256_min_pd(h0, low0);
    low1 = _mm256_min_pd(h1, low1);
  }
  __m256d m = _mm256_min_pd(low0, low1);
  m = _mm256_min_pd(m, _mm256_permute2f128_pd(m, m, 1));
  m = _mm256_min_pd(m, _mm256_permute_pd(m, 5));
  unsigned ties = (unsigned)_mm256_movemask_pd(_mm256_cmp_pd(low0, m, _CMP_EQ_OQ)) |
                  (unsigned)_mm256_movemask_pd(_mm256_cmp_pd(low1, m, _CMP_EQ_OQ)) << 4;
  if (count == 8) return ties ? __builtin_ctz(ties) : 0;  // the lane is the vertex
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

int carom_scan_lowest(const double *x, const double *y, const double *z, int count, carom_vec3 direction) {
  return __builtin_cpu_supports("avx2") ? scan_avx2(x, y, z, count, direction) : scan_plain(x, y, z, count, direction);
}
#else
int carom_scan_lowest(const double *x, const double *y, const double *z, int count, carom_vec3 direction) {
  return scan_plain(x, y, z, count, direction);
}
#endif

CAROM_SIMD_CLONES
void carom_scan_rotate(const carom_mat3 *R, const double *const from[3], int count, double *const to[3]) {
  const double *restrict x = from[0], *restrict y = from[1], *restrict z = from[2];
  double *restrict u = to[0], *restrict v = to[1], *restrict w = to[2];
  carom_mat3 M = *R;
  for (int i = 0; i < count; i += CAROM_SHAPE_LANES)
    for (int k = i; k < i + CAROM_SHAPE_LANES; k++) {
      u[k] = M.m[0][0] * x[k] + M.m[0][1] * y[k] + M.m[0][2] * z[k];
      v[k] = M.m[1][0] * x[k] + M.m[1][1] * y[k] + M.m[1][2] * z[k];
      w[k] = M.m[2][0] * x[k] + M.m[2][1] * y[k] + M.m[2][2] * z[k];
    }
}

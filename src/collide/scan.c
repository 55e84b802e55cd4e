#include "collide/scan.h"

#include <float.h>

#include "base/simd.h"
#include "collide/scan_lanes.h"
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

static void scan_both_plain(const double *a, int count_a, const double *b, int count_b, carom_vec3 d, int found[2]) {
  const int n = CAROM_SCAN_LIMIT;
  found[0] = scan_plain(a, a + n, a + 2 * n, count_a, d);
  found[1] = scan_plain(b, b + n, b + 2 * n, count_b, cm_neg(d));
}

#ifdef CAROM_HAS_AVX2
__attribute__((target("avx2"))) static int scan_avx2(const double *x, const double *y, const double *z, int count,
                                                     carom_vec3 d) {
  return carom_scan_lanes(x, y, z, count, d);
}

__attribute__((target("avx2"))) static void scan_both_avx2(const double *a, int count_a, const double *b, int count_b,
                                                           carom_vec3 d, int found[2]) {
  const int n = CAROM_SCAN_LIMIT;
  found[0] = carom_scan_lanes(a, a + n, a + 2 * n, count_a, d);
  found[1] = carom_scan_lanes(b, b + n, b + 2 * n, count_b, cm_neg(d));
}

void carom_scan_both(const double *a, int count_a, const double *b, int count_b, carom_vec3 direction, int found[2]) {
  if (carom_has_avx2())
    scan_both_avx2(a, count_a, b, count_b, direction, found);
  else
    scan_both_plain(a, count_a, b, count_b, direction, found);
}

int carom_scan_lowest(const double *x, const double *y, const double *z, int count, carom_vec3 direction) {
  return carom_has_avx2() ? scan_avx2(x, y, z, count, direction) : scan_plain(x, y, z, count, direction);
}
#else
void carom_scan_both(const double *a, int count_a, const double *b, int count_b, carom_vec3 direction, int found[2]) {
  scan_both_plain(a, count_a, b, count_b, direction, found);
}

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

#include "model/support.h"

#include <math.h>
#include <string.h>

#include "math/dense.h"

void carom_support_turn(const double A[6][6], carom_mat3 R, double B[6][6]) {
  for (int a = 0; a < 6; a += 3)
    for (int b = 0; b < 6; b += 3) {
      carom_mat3 block;
      for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) block.m[i][j] = A[a + i][b + j];
      block = cm_mmul(cm_mmul(R, block), cm_transpose(R));
      for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) B[a + i][b + j] = block.m[i][j];
    }
}

carom_status carom_support_spectrum(const double A[6][6], bool planar, double length, double *least, double *most) {
  double M[36], real[6], imaginary[6];
  int entries[6], n = carom_twist_entries(planar, entries);
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++) {
      double unit = (entries[i] < 3 ? 1 : length) * (entries[j] < 3 ? 1 : length);
      M[i + j * n] = A[entries[i]][entries[j]] / unit;
    }
  carom_status status = carom_dense_eigenvalues(n, M, real, imaginary);
  *least = INFINITY, *most = -INFINITY;
  for (int i = 0; i < n && status == CAROM_OK; i++) *least = fmin(*least, real[i]), *most = fmax(*most, real[i]);
  return status;
}

// Scaled to a unit diagonal first, so that no unit of length matters.
carom_status carom_support_invert(const double A[6][6], bool planar, double inverse[6][6]) {
  double L[36], scale[6], column[6];
  int entries[6], n = carom_twist_entries(planar, entries);
  memset(inverse, 0, 36 * sizeof(double));
  for (int i = 0; i < n; i++) {
    if (!(A[entries[i]][entries[i]] > 0)) return CAROM_ERR_SINGULAR;
    scale[i] = 1 / sqrt(A[entries[i]][entries[i]]);
  }
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++) L[i + j * n] = scale[i] * A[entries[i]][entries[j]] * scale[j];
  if (carom_small_cholesky(n, L, n) != CAROM_OK) return CAROM_ERR_SINGULAR;
  for (int j = 0; j < n; j++) {
    memset(column, 0, sizeof column);
    column[j] = 1;
    carom_small_cholesky_solve(n, L, n, column);
    for (int i = 0; i < n; i++) inverse[entries[i]][entries[j]] = scale[i] * column[i] * scale[j];
  }
  return CAROM_OK;
}

// Supports at a configuration: matrices on twists (v of the centre of mass, w).
#ifndef CAROM_SRC_MODEL_SUPPORT_H
#define CAROM_SRC_MODEL_SUPPORT_H

#include "carom/model.h"

// The entries of a twist that a body has in a planar model: vx, vy, wz; in space all six. How many.
static inline int carom_twist_entries(bool planar, int entries[6]) {
  static const int flat[3] = {0, 1, 5};
  int count = planar ? 3 : 6;
  for (int k = 0; k < count; k++) entries[k] = planar ? flat[k] : k;
  return count;
}

// To be read only: C before C23 does not see to that by itself.
static inline const double (*carom_read6(double A[6][6]))[6] { return (const double(*)[6])A; }

// B = blk(R) A blk(R)': the same matrix along other axes.
void carom_support_turn(const double A[6][6], carom_mat3 R, double B[6][6]);
// Least and greatest eigenvalue of what the matrix is on the entries of a twist, lengths over `length`. Allocates.
carom_status carom_support_spectrum(const double A[6][6], bool planar, double length, double *least, double *most);
// The inverse on those entries, zero elsewhere: twists of loads. CAROM_ERR_SINGULAR where it is not positive definite.
carom_status carom_support_invert(const double A[6][6], bool planar, double inverse[6][6]);

static inline void carom_support_answer(const double A[6][6], carom_vec3 p, carom_vec3 l, carom_vec3 *v,
                                        carom_vec3 *w) {
  double x[6] = {p.x, p.y, p.z, l.x, l.y, l.z}, y[6] = {0};
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++) y[i] += A[i][j] * x[j];
  *v = cm_vec3(y[0], y[1], y[2]);
  *w = cm_vec3(y[3], y[4], y[5]);
}

#endif

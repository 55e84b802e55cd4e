// The rotated vector  d(q) = q v q* = (w^2 - u.u) v + 2 (u.v) u + 2 w u x v  and its derivatives in the quaternion.
#ifndef CAROM_SRC_CONTROL_ROTATION_H
#define CAROM_SRC_CONTROL_ROTATION_H

#include "carom/vec.h"

static inline carom_vec3 carom_axis_vector(int i) { return cm_vec3(i == 0, i == 1, i == 2); }

// d, and g[j] = derivative of d in q[j]; q is (w, x, y, z).
static inline carom_vec3 carom_rotated(const double *q, carom_vec3 v, carom_vec3 g[4]) {
  double w = q[0];
  carom_vec3 u = {q[1], q[2], q[3]}, uxv = cm_cross(u, v);
  double uv = cm_dot(u, v), vj[3] = {v.x, v.y, v.z};
  g[0] = cm_scale(2, cm_axpy(uxv, w, v));
  for (int j = 0; j < 3; j++) {
    carom_vec3 e = carom_axis_vector(j);
    carom_vec3 sum = cm_axpy(cm_scale(w, cm_cross(e, v)), -q[1 + j], v);
    g[1 + j] = cm_scale(2, cm_axpy(cm_axpy(sum, vj[j], u), uv, e));
  }
  return cm_axpy(cm_axpy(cm_scale(w * w - cm_norm2(u), v), 2 * uv, u), 2 * w, uxv);
}

// Adds the second derivative of c . d(q) = q' M q, which is 2 M = 2 (v.c, (v x c)'; v x c, v c' + c v' - (v.c) I), to
// the lower triangle of H (n columns) at the place `at` of q.
static inline void carom_rotated_hessian(carom_vec3 v, carom_vec3 c, double *H, int n, int at) {
  carom_vec3 x = cm_cross(v, c);
  double dot = cm_dot(v, c), cj[3] = {c.x, c.y, c.z}, vj[3] = {v.x, v.y, v.z}, xj[3] = {x.x, x.y, x.z};
  H[at * n + at] += 2 * dot;
  for (int a = 0; a < 3; a++) {
    double *row = H + (at + 1 + a) * n + at;
    row[0] += 2 * xj[a];
    for (int b = 0; b <= a; b++) row[1 + b] += 2 * (vj[a] * cj[b] + vj[b] * cj[a] - (a == b ? dot : 0));
  }
}

#endif

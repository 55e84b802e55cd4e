// Quaternions from matrices, and the exponential and Cayley maps with their tangents.
// Below SMALL the closed forms are 0/0; the series there are exact to round-off with the terms shown.
#include "carom/vec.h"

static const double SMALL = 1e-3;  // in theta^2

carom_quat cm_quat_of(carom_mat3 R) {
  double t = cm_trace(R);
  double diagonal[4] = {t, R.m[0][0], R.m[1][1], R.m[2][2]};
  int largest = 0;
  for (int i = 1; i < 4; i++)
    if (diagonal[i] > diagonal[largest]) largest = i;
  carom_quat q;
  if (largest == 0) {
    q = cm_quat(1 + t, R.m[2][1] - R.m[1][2], R.m[0][2] - R.m[2][0], R.m[1][0] - R.m[0][1]);
  } else {
    int i = largest - 1, j = (i + 1) % 3, k = (i + 2) % 3;  // Shepperd (1978): divide by the largest component
    double v[3];
    v[i] = 1 + R.m[i][i] - R.m[j][j] - R.m[k][k];
    v[j] = R.m[j][i] + R.m[i][j];
    v[k] = R.m[k][i] + R.m[i][k];
    q = cm_quat(R.m[k][j] - R.m[j][k], v[0], v[1], v[2]);
  }
  q = cm_qunit(q);
  return q.w < 0 ? cm_quat(-q.w, -q.x, -q.y, -q.z) : q;
}

carom_quat cm_axis_angle(carom_vec3 axis, double angle) {
  carom_vec3 v = cm_scale(sin(angle / 2), cm_unit(axis));
  return cm_quat(cos(angle / 2), v.x, v.y, v.z);
}

// sin(theta/2)/theta
static double half_sinc(double theta2) {
  if (theta2 < SMALL) return 0.5 - theta2 * (1.0 / 48 - theta2 * (1.0 / 3840 - theta2 / 645120));
  double theta = sqrt(theta2);
  return sin(theta / 2) / theta;
}

carom_quat cm_exp(carom_vec3 w) {
  double theta2 = cm_norm2(w), s = half_sinc(theta2);
  return cm_quat(cos(sqrt(theta2) / 2), s * w.x, s * w.y, s * w.z);
}

carom_vec3 cm_log(carom_quat q) {
  double sign = q.w < 0 ? -1 : 1;
  carom_vec3 v = cm_scale(sign, cm_vec3(q.x, q.y, q.z));
  double w = sign * q.w, n = cm_norm(v);
  double r = n / w;  // tan(theta/2)
  double factor = r * r < SMALL ? 2 / w * (1 - r * r * (1.0 / 3 - r * r * (1.0 / 5 - r * r * (1.0 / 7 - r * r / 9))))
                                : 2 * atan2(n, w) / n;
  return cm_scale(factor, v);
}

// I + a hat(w) + b hat(w)^2
static carom_mat3 rodrigues(carom_vec3 w, double a, double b) {
  carom_mat3 H = cm_hat(w);
  return cm_madd(cm_identity3(), cm_madd(cm_mscale(a, H), cm_mscale(b, cm_mmul(H, H))));
}

// T = I + (1-cos)/theta^2 hat + (theta-sin)/theta^3 hat^2 (Iserles et al. 2000, Lie-group methods, app. B).
carom_mat3 cm_exp_tangent(carom_vec3 w) {
  double theta2 = cm_norm2(w), theta = sqrt(theta2), s = half_sinc(theta2);
  double b = theta2 < SMALL ? 1.0 / 6 - theta2 * (1.0 / 120 - theta2 * (1.0 / 5040 - theta2 / 362880))
                            : (theta - sin(theta)) / (theta * theta2);
  return rodrigues(w, 2 * s * s, b);
}

// T^-1 = I - hat/2 + (1 - theta/2 cot(theta/2))/theta^2 hat^2.
carom_mat3 cm_exp_tangent_inverse(carom_vec3 w) {
  double theta2 = cm_norm2(w), half = sqrt(theta2) / 2;
  double b = theta2 < SMALL ? 1.0 / 12 + theta2 * (1.0 / 720 + theta2 * (1.0 / 30240 + theta2 / 1209600))
                            : (1 - half * cos(half) / sin(half)) / theta2;
  return rodrigues(w, -0.5, b);
}

carom_quat cm_cayley(carom_vec3 w) { return cm_qunit(cm_quat(1, w.x / 2, w.y / 2, w.z / 2)); }

bool cm_cayley_log(carom_quat q, carom_vec3 *w) {
  bool defined = fabs(q.w) > 1e-150;  // beyond, 2 v / w would overflow
  double scalar = defined ? q.w : 1e-150;
  *w = cm_scale(2 / scalar, cm_vec3(q.x, q.y, q.z));
  return defined;
}

// With y = w/2: spatial velocity = 2 (y' + y x y')/(1 + y.y), from the quaternion (1, y)/sqrt(1 + y.y).
carom_mat3 cm_cayley_tangent(carom_vec3 w) {
  return cm_mscale(1 / (1 + cm_norm2(w) / 4), cm_madd(cm_identity3(), cm_hat(cm_scale(0.5, w))));
}

// (I + hat(y)) (I + y y' - hat(y)) = (1 + y.y) I.
carom_mat3 cm_cayley_tangent_inverse(carom_vec3 w) {
  carom_vec3 y = cm_scale(0.5, w);
  return cm_msub(cm_madd(cm_identity3(), cm_outer(y, y)), cm_hat(y));
}

/// carom/vec.h: small values passed by value: 3-vectors, 3x3 matrices, quaternions, poses, and the
/// maps between so(3) and SO(3). Functions that neither allocate nor fail carry the prefix cm_.
///
/// Matrices are m[row][column]. Quaternions are (w, x, y, z), Hamilton's product, and rotate as
/// v -> q v q*. The hat map is hat(w) v = w x v. Exponential and Cayley maps take the rotation
/// vector in radians; both are exact to round-off near 0 and near pi.
#ifndef CAROM_VEC_H
#define CAROM_VEC_H

#include <math.h>
#include <stdbool.h>

#include "carom/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A vector or a point.
typedef struct carom_vec3 {
  double x, y, z;
} carom_vec3;

/// A 3x3 matrix, m[row][column].
typedef struct carom_mat3 {
  double m[3][3];
} carom_mat3;

/// A quaternion; of length 1 where it stands for a rotation.
typedef struct carom_quat {
  double w, x, y, z;
} carom_quat;

/// Maps body coordinates to world coordinates: r = p + R(q) rho.
typedef struct carom_pose {
  carom_vec3 p;  ///< position of the frame's origin, m
  carom_quat q;  ///< its orientation, a unit quaternion
} carom_pose;

// ---- vectors ----------------------------------------------------------------------------------

static inline carom_vec3 cm_vec3(double x, double y, double z) {
  carom_vec3 v = {x, y, z};
  return v;
}
static inline carom_vec3 cm_zero3(void) { return cm_vec3(0, 0, 0); }
static inline carom_vec3 cm_add(carom_vec3 a, carom_vec3 b) { return cm_vec3(a.x + b.x, a.y + b.y, a.z + b.z); }
static inline carom_vec3 cm_sub(carom_vec3 a, carom_vec3 b) { return cm_vec3(a.x - b.x, a.y - b.y, a.z - b.z); }
static inline carom_vec3 cm_neg(carom_vec3 a) { return cm_vec3(-a.x, -a.y, -a.z); }
static inline carom_vec3 cm_scale(double s, carom_vec3 a) { return cm_vec3(s * a.x, s * a.y, s * a.z); }
/// a + s b
static inline carom_vec3 cm_axpy(carom_vec3 a, double s, carom_vec3 b) {
  return cm_vec3(a.x + s * b.x, a.y + s * b.y, a.z + s * b.z);
}
/// (1-t) a + t b
static inline carom_vec3 cm_lerp(carom_vec3 a, carom_vec3 b, double t) { return cm_axpy(a, t, cm_sub(b, a)); }
static inline double cm_dot(carom_vec3 a, carom_vec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static inline carom_vec3 cm_cross(carom_vec3 a, carom_vec3 b) {
  return cm_vec3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
static inline double cm_norm2(carom_vec3 a) { return cm_dot(a, a); }
static inline double cm_norm(carom_vec3 a) { return sqrt(cm_norm2(a)); }
/// a / |a| for vectors whose squares overflow or vanish; cm_unit comes here for them.
CAROM_API carom_vec3 cm_unit_extreme(carom_vec3 a);
/// a / |a|, or zero when a is zero or not finite.
static inline carom_vec3 cm_unit(carom_vec3 a) {
  double n2 = cm_norm2(a);
  return n2 > 1e-280 && n2 < 1e300 ? cm_scale(1 / sqrt(n2), a) : cm_unit_extreme(a);
}
/// Component-wise product, as with a diagonal matrix given by its diagonal.
static inline carom_vec3 cm_mul_diag(carom_vec3 d, carom_vec3 a) { return cm_vec3(d.x * a.x, d.y * a.y, d.z * a.z); }
static inline bool cm_finite(carom_vec3 a) { return isfinite(a.x) && isfinite(a.y) && isfinite(a.z); }
/// Two unit vectors that complete the unit vector n to a right-handed frame (u, v, n).
CAROM_API void cm_frame(carom_vec3 n, carom_vec3 *u, carom_vec3 *v);

// ---- matrices ---------------------------------------------------------------------------------

static inline carom_mat3 cm_diag3(double a, double b, double c) {
  carom_mat3 A = {{{a, 0, 0}, {0, b, 0}, {0, 0, c}}};
  return A;
}
static inline carom_mat3 cm_identity3(void) { return cm_diag3(1, 1, 1); }
static inline carom_mat3 cm_madd(carom_mat3 A, carom_mat3 B) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) A.m[i][j] += B.m[i][j];
  return A;
}
static inline carom_mat3 cm_msub(carom_mat3 A, carom_mat3 B) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) A.m[i][j] -= B.m[i][j];
  return A;
}
static inline carom_mat3 cm_mscale(double s, carom_mat3 A) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) A.m[i][j] *= s;
  return A;
}
static inline carom_mat3 cm_mmul(carom_mat3 A, carom_mat3 B) {
  carom_mat3 C;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) C.m[i][j] = A.m[i][0] * B.m[0][j] + A.m[i][1] * B.m[1][j] + A.m[i][2] * B.m[2][j];
  return C;
}
static inline carom_mat3 cm_transpose(carom_mat3 A) {
  carom_mat3 B;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) B.m[i][j] = A.m[j][i];
  return B;
}
/// A x
static inline carom_vec3 cm_mulv(carom_mat3 A, carom_vec3 x) {
  return cm_vec3(A.m[0][0] * x.x + A.m[0][1] * x.y + A.m[0][2] * x.z,
                 A.m[1][0] * x.x + A.m[1][1] * x.y + A.m[1][2] * x.z,
                 A.m[2][0] * x.x + A.m[2][1] * x.y + A.m[2][2] * x.z);
}
/// A' x
static inline carom_vec3 cm_tmulv(carom_mat3 A, carom_vec3 x) {
  return cm_vec3(A.m[0][0] * x.x + A.m[1][0] * x.y + A.m[2][0] * x.z,
                 A.m[0][1] * x.x + A.m[1][1] * x.y + A.m[2][1] * x.z,
                 A.m[0][2] * x.x + A.m[1][2] * x.y + A.m[2][2] * x.z);
}
/// a b'
static inline carom_mat3 cm_outer(carom_vec3 a, carom_vec3 b) {
  carom_mat3 A = {
      {{a.x * b.x, a.x * b.y, a.x * b.z}, {a.y * b.x, a.y * b.y, a.y * b.z}, {a.z * b.x, a.z * b.y, a.z * b.z}}};
  return A;
}
static inline carom_mat3 cm_hat(carom_vec3 w) {
  carom_mat3 A = {{{0, -w.z, w.y}, {w.z, 0, -w.x}, {-w.y, w.x, 0}}};
  return A;
}
/// The axial vector of A - A', that is 2 w when A = hat(w): sum of a x f over A = sum of f a'.
static inline carom_vec3 cm_axial(carom_mat3 A) {
  return cm_vec3(A.m[2][1] - A.m[1][2], A.m[0][2] - A.m[2][0], A.m[1][0] - A.m[0][1]);
}
static inline double cm_trace(carom_mat3 A) { return A.m[0][0] + A.m[1][1] + A.m[2][2]; }
/// The determinant of A.
CAROM_API double cm_det(carom_mat3 A);
/// Solves A x = b by elimination with row pivoting; false when A is singular to working precision.
CAROM_API bool cm_solve3(carom_mat3 A, carom_vec3 b, carom_vec3 *x);
/// A^-1; false (and *inverse untouched) when A is singular to working precision.
CAROM_API bool cm_inverse3(carom_mat3 A, carom_mat3 *inverse);
/// Eigenvalues (ascending) and a right-handed orthonormal set of eigenvectors (the columns of
/// *vectors) of a symmetric matrix, by Jacobi rotations: accurate to round-off relative to |A|.
/// A matrix that is diagonal and ascending already gives the identity; a diagonal one is only permuted.
CAROM_API void cm_eigen3(carom_mat3 A, carom_vec3 *values, carom_mat3 *vectors);

// ---- quaternions and poses --------------------------------------------------------------------

static inline carom_quat cm_quat(double w, double x, double y, double z) {
  carom_quat q = {w, x, y, z};
  return q;
}
static inline carom_quat cm_qidentity(void) { return cm_quat(1, 0, 0, 0); }
static inline carom_quat cm_qconj(carom_quat q) { return cm_quat(q.w, -q.x, -q.y, -q.z); }
static inline carom_quat cm_qmul(carom_quat a, carom_quat b) {
  return cm_quat(a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z, a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
                 a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x, a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w);
}
static inline double cm_qdot(carom_quat a, carom_quat b) { return a.w * b.w + a.x * b.x + a.y * b.y + a.z * b.z; }
/// q / |q|, or the identity when q is zero.
static inline carom_quat cm_qunit(carom_quat q) {
  double n = sqrt(cm_qdot(q, q));
  return n > 0 ? cm_quat(q.w / n, q.x / n, q.y / n, q.z / n) : cm_qidentity();
}
/// R(q) v
static inline carom_vec3 cm_rotate(carom_quat q, carom_vec3 v) {
  carom_vec3 u = cm_vec3(q.x, q.y, q.z);
  carom_vec3 t = cm_scale(2, cm_cross(u, v));
  return cm_add(cm_axpy(v, q.w, t), cm_cross(u, t));
}
/// R(q)' v
static inline carom_vec3 cm_unrotate(carom_quat q, carom_vec3 v) { return cm_rotate(cm_qconj(q), v); }
/// R(q), whose columns are the directors d1, d2, d3.
static inline carom_mat3 cm_rotation(carom_quat q) {
  double xx = q.x * q.x, yy = q.y * q.y, zz = q.z * q.z, xy = q.x * q.y, xz = q.x * q.z, yz = q.y * q.z;
  double wx = q.w * q.x, wy = q.w * q.y, wz = q.w * q.z;
  carom_mat3 R = {{{1 - 2 * (yy + zz), 2 * (xy - wz), 2 * (xz + wy)},
                   {2 * (xy + wz), 1 - 2 * (xx + zz), 2 * (yz - wx)},
                   {2 * (xz - wy), 2 * (yz + wx), 1 - 2 * (xx + yy)}}};
  return R;
}
/// The unit quaternion (w >= 0) of a rotation matrix (Shepperd's method: no cancellation).
CAROM_API carom_quat cm_quat_of(carom_mat3 R);
/// The rotation by `angle` radians about `axis`, which need not be a unit vector.
CAROM_API carom_quat cm_axis_angle(carom_vec3 axis, double angle);

static inline carom_pose cm_pose(carom_vec3 p, carom_quat q) {
  carom_pose X = {p, q};
  return X;
}
static inline carom_pose cm_pose_identity(void) { return cm_pose(cm_zero3(), cm_qidentity()); }
static inline carom_vec3 cm_transform(carom_pose X, carom_vec3 r) { return cm_add(X.p, cm_rotate(X.q, r)); }
static inline carom_vec3 cm_untransform(carom_pose X, carom_vec3 r) { return cm_unrotate(X.q, cm_sub(r, X.p)); }
/// First B, then A: (A B)(r) = A(B(r)).
static inline carom_pose cm_compose(carom_pose A, carom_pose B) {
  return cm_pose(cm_transform(A, B.p), cm_qmul(A.q, B.q));
}
static inline carom_pose cm_pose_inverse(carom_pose X) { return cm_pose(cm_neg(cm_unrotate(X.q, X.p)), cm_qconj(X.q)); }

// ---- so(3) and SO(3) --------------------------------------------------------------------------
// Tangents are the spatial (left) ones: d/dt R(w(t)) = hat(T(w) w') R(w).

/// exp(hat(w)) as a unit quaternion.
CAROM_API carom_quat cm_exp(carom_vec3 w);
/// The rotation vector of a unit quaternion, |w| <= pi; exact near 0 and near pi.
CAROM_API carom_vec3 cm_log(carom_quat q);
/// Tangent T(w) of the exponential map.
CAROM_API carom_mat3 cm_exp_tangent(carom_vec3 w);
/// The inverse of that tangent; singular at |w| = 2 pi.
CAROM_API carom_mat3 cm_exp_tangent_inverse(carom_vec3 w);
/// Cayley map (I - hat(w)/2)^-1 (I + hat(w)/2): the rotation about w by 2 atan(|w|/2).
CAROM_API carom_quat cm_cayley(carom_vec3 w);
/// Its inverse. The half-turn has no Cayley vector: false, and *w is a large finite vector.
CAROM_API bool cm_cayley_log(carom_quat q, carom_vec3 *w);
/// Tangent T(w) of the Cayley map.
CAROM_API carom_mat3 cm_cayley_tangent(carom_vec3 w);
/// The inverse of that tangent; finite for every w.
CAROM_API carom_mat3 cm_cayley_tangent_inverse(carom_vec3 w);

#ifdef __cplusplus
}
#endif
#endif

// Hyperdual numbers (collide/hyperdual.h) for the residuals of the transcription: packing, sums and rotations by
// quaternions. Directors are quadratic in the quaternion whether it is unit or not, so residuals stay polynomials.
#ifndef CAROM_SRC_CONTROL_HYPER_H
#define CAROM_SRC_CONTROL_HYPER_H

#include "collide/hyperdual.h"

typedef struct carom_hyper4 {
  carom_hyper w;
  carom_hyper3 u;
} carom_hyper4;

static inline carom_hyper ch_number(double v) { return (carom_hyper){.v = v}; }
static inline carom_hyper3 ch_vector(carom_vec3 v) { return (carom_hyper3){.v = v}; }
static inline carom_hyper3 ch_constant3(const double *c) { return ch_vector(cm_vec3(c[0], c[1], c[2])); }
static inline carom_hyper ch_add(carom_hyper x, carom_hyper y) {
  return (carom_hyper){x.v + y.v, x.a + y.a, x.b + y.b, x.ab + y.ab};
}
static inline carom_hyper3 ch_add3(carom_hyper3 x, carom_hyper3 y) {
  return (carom_hyper3){cm_add(x.v, y.v), cm_add(x.a, y.a), cm_add(x.b, y.b), cm_add(x.ab, y.ab)};
}
static inline carom_hyper3 ch_times3(double s, carom_hyper3 x) {
  return (carom_hyper3){cm_scale(s, x.v), cm_scale(s, x.a), cm_scale(s, x.b), cm_scale(s, x.ab)};
}
static inline carom_hyper3 ch_diag3(carom_vec3 d, carom_hyper3 x) {
  return (carom_hyper3){cm_mul_diag(d, x.v), cm_mul_diag(d, x.a), cm_mul_diag(d, x.b), cm_mul_diag(d, x.ab)};
}
static inline carom_hyper3 ch_pack3(const carom_hyper *z) {
  return (carom_hyper3){
      {z[0].v, z[1].v, z[2].v}, {z[0].a, z[1].a, z[2].a}, {z[0].b, z[1].b, z[2].b}, {z[0].ab, z[1].ab, z[2].ab}};
}
static inline void ch_unpack3(carom_hyper3 x, carom_hyper *r) {
  r[0] = (carom_hyper){x.v.x, x.a.x, x.b.x, x.ab.x};
  r[1] = (carom_hyper){x.v.y, x.a.y, x.b.y, x.ab.y};
  r[2] = (carom_hyper){x.v.z, x.a.z, x.b.z, x.ab.z};
}
static inline carom_hyper4 ch_pack4(const carom_hyper *z) { return (carom_hyper4){z[0], ch_pack3(z + 1)}; }
static inline carom_hyper4 ch_quat(const double *c) { return (carom_hyper4){ch_number(c[0]), ch_constant3(c + 1)}; }
static inline carom_hyper4 ch_conj(carom_hyper4 q) { return (carom_hyper4){q.w, ch_times3(-1, q.u)}; }
static inline carom_hyper4 ch_qmul(carom_hyper4 p, carom_hyper4 q) {
  return (carom_hyper4){
      ch_sub(ch_mul(p.w, q.w), ch_dot(p.u, q.u)),
      ch_add3(ch_add3(ch_scale3(p.w, q.u), ch_scale3(q.w, p.u)), ch_cross(p.u, q.u)),
  };
}
// q v q* = (w^2 - u.u) v + 2 (u.v) u + 2 w u x v; |q|^2 times the rotation.
static inline carom_hyper3 ch_rotate(carom_hyper4 q, carom_hyper3 v) {
  carom_hyper3 along = ch_scale3(ch_scale(2, ch_dot(q.u, v)), q.u);
  carom_hyper3 across = ch_scale3(ch_scale(2, q.w), ch_cross(q.u, v));
  return ch_add3(ch_add3(ch_scale3(ch_sub(ch_mul(q.w, q.w), ch_dot(q.u, q.u)), v), along), across);
}
static inline carom_hyper3 ch_unrotate(carom_hyper4 q, carom_hyper3 v) { return ch_rotate(ch_conj(q), v); }
// R diag(d) R^T v: inertia times omega, or inverse inertia times l.
static inline carom_hyper3 ch_turned_diag3(carom_hyper4 q, carom_vec3 d, carom_hyper3 v) {
  return ch_rotate(q, ch_diag3(d, ch_unrotate(q, v)));
}
// Velocity of the point at `arm` from the centre of a body with momenta P = (p, l), times c[0]; c[1] is 1/m, then comes
// the inverse inertia.
static inline carom_hyper3 ch_point_speed(const double *c, carom_hyper4 q, const carom_hyper *P, carom_hyper3 arm) {
  carom_hyper3 omega = ch_turned_diag3(q, cm_vec3(c[2], c[3], c[4]), ch_pack3(P + 3));
  return ch_times3(c[0], ch_add3(ch_times3(c[1], ch_pack3(P)), ch_cross(omega, arm)));
}
// What a force between two points does to the two bodies: -f and f, and their torques.
static inline void ch_opposite_wrenches(carom_hyper3 f, carom_hyper3 arm_a, carom_hyper3 arm_b, carom_hyper *r) {
  ch_unpack3(ch_times3(-1, f), r);
  ch_unpack3(ch_times3(-1, ch_cross(arm_a, f)), r + 3);
  ch_unpack3(f, r + 6);
  ch_unpack3(ch_cross(arm_b, f), r + 9);
}

#endif

// Joints: what they ask of the configuration, and the forces -G' lambda that they add to the balance of momentum.
#include "control/kinds.h"

static void pin(const double *c, const carom_hyper *z, carom_hyper *r) {
  carom_hyper3 a = ch_add3(ch_pack3(z), ch_rotate(ch_pack4(z + 3), ch_constant3(c)));
  carom_hyper3 b = ch_add3(ch_pack3(z + 7), ch_rotate(ch_pack4(z + 10), ch_constant3(c + 3)));
  ch_unpack3(ch_sub3(b, a), r);
}
const carom_element_kind carom_kind_pin = {.name = "pin", .residual = pin};

static void hinge(const double *c, const carom_hyper *z, carom_hyper *r) {
  carom_hyper3 n = ch_rotate(ch_pack4(z), ch_constant3(c));
  for (int j = 0; j < 2; j++) r[j] = ch_dot(n, ch_rotate(ch_pack4(z + 4), ch_constant3(c + 3 + 3 * j)));
}
const carom_element_kind carom_kind_hinge = {.name = "hinge", .residual = hinge};

static void pin_force(const double *c, const carom_hyper *z, carom_hyper *r) {
  carom_hyper3 arm_a = ch_rotate(ch_pack4(z + 3), ch_constant3(c));
  carom_hyper3 arm_b = ch_rotate(ch_pack4(z + 7), ch_constant3(c + 3));
  ch_opposite_wrenches(ch_pack3(z), arm_a, arm_b, r);
}
const carom_element_kind carom_kind_pin_force = {.name = "pin force", .residual = pin_force};

// The angle between n (of a) and b_j grows when b turns about b_j x n.
static void hinge_force(const double *c, const carom_hyper *z, carom_hyper *r) {
  carom_hyper3 n = ch_rotate(ch_pack4(z + 2), ch_constant3(c)), t = ch_vector(cm_zero3());
  for (int j = 0; j < 2; j++) {
    carom_hyper3 b = ch_rotate(ch_pack4(z + 6), ch_constant3(c + 3 + 3 * j));
    t = ch_add3(t, ch_scale3(z[j], ch_cross(b, n)));
  }
  ch_unpack3(ch_times3(-1, t), r);
  ch_unpack3(t, r + 3);
}
const carom_element_kind carom_kind_hinge_force = {.name = "hinge force", .residual = hinge_force};

// ---- at impacts: momenta that agree with the joints ----------------------------------------------------------------

static void pin_speed(const double *c, const carom_hyper *z, carom_hyper *r) {
  carom_hyper4 q = ch_pack4(z);
  ch_unpack3(ch_point_speed(c, q, z + 4, ch_rotate(q, ch_constant3(c + 5))), r);
}
const carom_element_kind carom_kind_pin_speed = {.name = "pin speed", .residual = pin_speed};

// d/dt n . b_j = (b_j x n) . (omega_b - omega_a)
static void hinge_speed(const double *c, const carom_hyper *z, carom_hyper *r) {
  carom_hyper4 qa = ch_pack4(z), qb = ch_pack4(z + 4);
  carom_hyper3 n = ch_rotate(qa, ch_constant3(c));
  carom_hyper3 omega = ch_turned_diag3(c[12] > 0 ? qb : qa, cm_vec3(c[9], c[10], c[11]), ch_pack3(z + 8));
  for (int j = 0; j < 2; j++) {
    carom_hyper3 b = ch_rotate(qb, ch_constant3(c + 3 + 3 * j));
    r[j] = ch_scale(c[12], ch_dot(ch_cross(b, n), omega));
  }
}
const carom_element_kind carom_kind_hinge_speed = {.name = "hinge speed", .residual = hinge_speed};

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
  carom_hyper3 f = ch_pack3(z);
  carom_hyper3 ta = ch_cross(ch_rotate(ch_pack4(z + 3), ch_constant3(c)), f);
  carom_hyper3 tb = ch_cross(ch_rotate(ch_pack4(z + 7), ch_constant3(c + 3)), f);
  ch_unpack3(ch_times3(-1, f), r);
  ch_unpack3(ch_times3(-1, ta), r + 3);
  ch_unpack3(f, r + 6);
  ch_unpack3(tb, r + 9);
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

// Work of torques in joints: how far joints turn, and what the torques do on the way.
#include "control/kinds.h"

// 2 asin(s) / s of s^2, to 1e-10 for turns below 0.45 rad.
static carom_hyper stretch(carom_hyper square) {
  static const double series[] = {2, 1 / 3.0, 3 / 20.0, 5 / 56.0, 35 / 576.0, 63 / 1408.0, 231 / 6656.0};
  carom_hyper sum = ch_number(series[6]);
  for (int i = 5; i >= 0; i--) sum = ch_add(ch_number(series[i]), ch_mul(square, sum));
  return sum;
}

// The axis is at rest in a: with r = q_a* q_b, the turn is that of r1 r0*.
static void swing(const double *c, const carom_hyper *z, carom_hyper *r) {
  carom_hyper4 r0 = ch_qmul(ch_conj(ch_pack4(z + 1)), ch_pack4(z + 5));
  carom_hyper4 r1 = ch_qmul(ch_conj(ch_pack4(z + 9)), ch_pack4(z + 13));
  carom_hyper s = ch_dot(ch_qmul(r1, ch_conj(r0)).u, ch_constant3(c));
  *r = ch_sub(z[0], ch_mul(s, stretch(ch_mul(s, s))));
}
const carom_element_kind carom_kind_swing = {.name = "swing", .residual = swing};

static carom_hyper3 turn_of(const carom_hyper *q0, const carom_hyper *q1) {
  carom_hyper3 u = ch_qmul(ch_pack4(q1), ch_conj(ch_pack4(q0))).u;
  return ch_scale3(stretch(ch_dot(u, u)), u);
}

static void swing3(const double *c, const carom_hyper *z, carom_hyper *r) {
  (void)c;
  carom_hyper3 turn = ch_sub3(turn_of(z + 7, z + 15), turn_of(z + 3, z + 11));
  ch_unpack3(ch_sub3(ch_pack3(z), turn), r);
}
const carom_element_kind carom_kind_swing3 = {.name = "swing", .residual = swing3};

static void work_rows(const double *c, const carom_hyper *z, carom_hyper *r) {
  (void)c;
  r[1] = ch_mul(z[0], z[1]);
  r[0] = ch_scale(-1, r[1]);
}
const carom_element_kind carom_kind_work_rows = {.name = "work", .residual = work_rows};

static void work(const double *c, const carom_hyper *z, carom_hyper *r) { *r = ch_scale(c[0], ch_mul(z[0], z[1])); }
const carom_element_kind carom_kind_work = {.name = "work", .residual = work};

static carom_hyper per_length(carom_hyper3 shift) { return ch_inverse(ch_sqrt(ch_dot(shift, shift))); }

static void per_shift(const double *c, const carom_hyper *z, carom_hyper *r) {
  *r = ch_scale(c[0], ch_mul(z[0], per_length(ch_pack3(z + 1))));
}
const carom_element_kind carom_kind_per_shift = {.name = "work per shift", .residual = per_shift};

static void work_per_shift(const double *c, const carom_hyper *z, carom_hyper *r) {
  *r = ch_scale(c[0], ch_mul(ch_mul(z[0], z[1]), per_length(ch_pack3(z + 2))));
}
const carom_element_kind carom_kind_work_per_shift = {.name = "work per shift", .residual = work_per_shift};

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
  carom_hyper4 r0 = ch_qmul(ch_conj(ch_pack4(z + 2)), ch_pack4(z + 6));
  carom_hyper4 r1 = ch_qmul(ch_conj(ch_pack4(z + 10)), ch_pack4(z + 14));
  carom_hyper s = ch_dot(ch_qmul(r1, ch_conj(r0)).u, ch_constant3(c + 1));
  *r = ch_sub(ch_scale(c[0], ch_mul(z[0], z[1])), ch_mul(s, stretch(ch_mul(s, s))));
}
const carom_element_kind carom_kind_swing = {.name = "swing", .residual = swing};

static carom_hyper3 turn_of(const carom_hyper *q0, const carom_hyper *q1) {
  carom_hyper3 u = ch_qmul(ch_pack4(q1), ch_conj(ch_pack4(q0))).u;
  return ch_scale3(stretch(ch_dot(u, u)), u);
}

static void swing3(const double *c, const carom_hyper *z, carom_hyper *r) {
  carom_hyper3 turn = ch_sub3(turn_of(z + 8, z + 16), turn_of(z + 4, z + 12));
  ch_unpack3(ch_sub3(ch_scale3(ch_scale(c[0], z[3]), ch_pack3(z)), turn), r);
}
const carom_element_kind carom_kind_swing3 = {.name = "swing", .residual = swing3};

static carom_hyper3 spin_of(const carom_hyper *q, const carom_hyper *l, const double *inverse_inertia) {
  const double *d = inverse_inertia;
  return ch_turned_diag3(ch_pack4(q), cm_vec3(d[0], d[1], d[2]), ch_pack3(l));
}

static void hinge_rate(const double *c, const carom_hyper *z, carom_hyper *r) {
  carom_hyper3 axis = ch_rotate(ch_pack4(z), ch_constant3(c + 1));
  *r = ch_scale(c[0], ch_dot(axis, spin_of(z + 4, z + 8, c + 4)));
}
const carom_element_kind carom_kind_hinge_rate = {.name = "hinge rate", .residual = hinge_rate};

static void own_rate(const double *c, const carom_hyper *z, carom_hyper *r) {
  carom_hyper3 axis = ch_rotate(ch_pack4(z), ch_constant3(c + 1));
  *r = ch_scale(c[0], ch_dot(axis, spin_of(z, z + 4, c + 4)));
}
const carom_element_kind carom_kind_own_rate = {.name = "own rate", .residual = own_rate};

static void turn_rate(const double *c, const carom_hyper *z, carom_hyper *r) {
  ch_unpack3(ch_times3(c[0], spin_of(z, z + 4, c + 1)), r);
}
const carom_element_kind carom_kind_turn_rate = {.name = "turn rate", .residual = turn_rate};

static void work(const double *c, const carom_hyper *z, carom_hyper *r) {
  *r = ch_sub(z[0], ch_mul(ch_scale(c[0], ch_mul(z[1], z[2])), z[3]));
}
const carom_element_kind carom_kind_work = {.name = "work", .residual = work};

static carom_hyper halved_square(carom_vec3 d, carom_hyper3 v) { return ch_scale(0.5, ch_dot(v, ch_diag3(d, v))); }

static void energy(const double *c, const carom_hyper *z, carom_hyper *r) {
  carom_hyper3 x0 = ch_pack3(z), x1 = ch_pack3(z + 7), u = ch_qmul(ch_conj(ch_pack4(z + 3)), ch_pack4(z + 10)).u;
  carom_hyper3 turn = ch_scale3(stretch(ch_dot(u, u)), u), way = ch_sub3(x1, x0);
  carom_hyper per_time = ch_scale(1 / c[0], ch_inverse(z[14]));
  carom_hyper kinetic = ch_add(ch_scale(0.5 * c[1], ch_dot(way, way)), halved_square(cm_vec3(c[2], c[3], c[4]), turn));
  carom_hyper fallen = ch_scale(0.5 * c[1], ch_dot(ch_constant3(c + 5), ch_add3(x0, x1)));
  *r = ch_sub(fallen, ch_mul(kinetic, ch_mul(per_time, per_time)));
}
const carom_element_kind carom_kind_energy = {.name = "energy", .residual = energy};

static void node_energy(const double *c, const carom_hyper *z, carom_hyper *r) {
  carom_hyper3 p = ch_pack3(z + 7), l = ch_unrotate(ch_pack4(z + 3), ch_pack3(z + 10));
  carom_hyper kinetic =
      ch_add(ch_scale(0.5 / c[0], ch_dot(p, p)), halved_square(cm_vec3(1 / c[1], 1 / c[2], 1 / c[3]), l));
  *r = ch_sub(ch_scale(c[0], ch_dot(ch_constant3(c + 4), ch_pack3(z))), kinetic);
}
const carom_element_kind carom_kind_node_energy = {.name = "node energy", .residual = node_energy};

static void per_shift(const double *c, const carom_hyper *z, carom_hyper *r) {
  carom_hyper3 shift = ch_pack3(z + 1);
  *r = ch_scale(c[0], ch_mul(z[0], ch_inverse(ch_sqrt(ch_dot(shift, shift)))));
}
const carom_element_kind carom_kind_per_shift = {.name = "work per shift", .residual = per_shift};

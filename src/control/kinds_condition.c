// Conditions at nodes.
#include "control/kinds.h"

static void point(const double *c, const carom_hyper *z, carom_hyper *r) {
  ch_unpack3(ch_add3(ch_pack3(z), ch_rotate(ch_pack4(z + 3), ch_constant3(c))), r);
}
const carom_element_kind carom_kind_point = {.name = "point", .residual = point};

static void direction(const double *c, const carom_hyper *z, carom_hyper *r) {
  *r = ch_dot(ch_rotate(ch_pack4(z), ch_constant3(c)), ch_constant3(c + 3));
}
const carom_element_kind carom_kind_direction = {.name = "direction", .residual = direction};

static carom_hyper3 inertia_times(carom_hyper4 q, const double *J, carom_hyper3 omega) {
  return ch_turned_diag3(q, cm_vec3(J[0], J[1], J[2]), omega);
}

static carom_hyper3 spin_of(carom_hyper4 q, const double *J, carom_hyper3 l) {
  return ch_turned_diag3(q, cm_vec3(1 / J[0], 1 / J[1], 1 / J[2]), l);
}

static void spin(const double *c, const carom_hyper *z, carom_hyper *r) {
  ch_unpack3(ch_sub3(ch_pack3(z + 4), inertia_times(ch_pack4(z), c, ch_constant3(c + 3))), r);
}
const carom_element_kind carom_kind_spin = {.name = "spin", .residual = spin};

static void relative_position(const double *c, const carom_hyper *z, carom_hyper *r) {
  carom_hyper3 at = ch_add3(ch_pack3(z), ch_rotate(ch_pack4(z + 3), ch_constant3(c)));
  ch_unpack3(ch_sub3(ch_pack3(z + 7), at), r);
}
const carom_element_kind carom_kind_relative_position = {.name = "relative position", .residual = relative_position};

static void relative_rotation(const double *c, const carom_hyper *z, carom_hyper *r) {
  carom_hyper4 aim = ch_qmul(ch_pack4(z), ch_quat(c));
  ch_unpack3(ch_qmul(ch_conj(aim), ch_pack4(z + 4)).u, r);
}
const carom_element_kind carom_kind_relative_rotation = {.name = "relative rotation", .residual = relative_rotation};

static void relative_angle(const double *c, const carom_hyper *z, carom_hyper *r) {
  carom_hyper4 aim = ch_qmul(ch_pack4(z), ch_quat(c));
  *r = ch_dot(ch_qmul(ch_conj(aim), ch_pack4(z + 4)).u, ch_constant3(c + 4));
}
const carom_element_kind carom_kind_relative_angle = {.name = "relative angle", .residual = relative_angle};

static void relative_rest(const double *c, const carom_hyper *z, carom_hyper *r) {
  carom_hyper3 x_o = ch_pack3(z), x = ch_pack3(z + 13);
  carom_hyper3 w_o = spin_of(ch_pack4(z + 3), c + 1, ch_pack3(z + 10));
  carom_hyper3 w = spin_of(ch_pack4(z + 16), c + 5, ch_pack3(z + 23));
  carom_hyper3 v_o = ch_times3(1 / c[0], ch_pack3(z + 7)), v = ch_times3(1 / c[4], ch_pack3(z + 20));
  ch_unpack3(ch_sub3(w, w_o), r);
  ch_unpack3(ch_sub3(ch_sub3(v, v_o), ch_cross(w_o, ch_sub3(x, x_o))), r + 3);
}
const carom_element_kind carom_kind_relative_rest = {.name = "relative rest", .residual = relative_rest};

static carom_hyper3 mirrored(carom_hyper3 v, const double *signs) {
  return ch_diag3(cm_vec3(signs[0], signs[1], signs[2]), v);
}

// +1 for a rotation, -1 for a reflection, under which angular momenta and rotations change sign besides.
static double handed(const double *signs) { return signs[0] * signs[1] * signs[2]; }

static carom_hyper4 mirrored_turn(carom_hyper4 q, const double *signs) {
  return (carom_hyper4){q.w, ch_times3(handed(signs), mirrored(q.u, signs))};
}

// x_K = shift + T S x_0 and q_K = T (S q_0 S), the latter between the frames of the user.
static void periodic_pose(const double *c, const carom_hyper *z, carom_hyper *r) {
  carom_hyper4 turn = ch_quat(c), user = mirrored_turn(ch_qmul(ch_pack4(z + 3), ch_quat(c + 7)), c + 4);
  carom_hyper3 aim = ch_add3(ch_pack3(z + 14), ch_rotate(turn, mirrored(ch_pack3(z), c + 4)));
  ch_unpack3(ch_sub3(ch_pack3(z + 7), aim), r);
  ch_unpack3(ch_qmul(ch_conj(ch_qmul(turn, user)), ch_qmul(ch_pack4(z + 10), ch_quat(c + 11))).u, r + 3);
}
const carom_element_kind carom_kind_periodic_pose = {.name = "periodic pose", .residual = periodic_pose};

static void periodic_momentum(const double *c, const carom_hyper *z, carom_hyper *r) {
  carom_hyper4 turn = ch_quat(c);
  for (int i = 0; i < 6; i += 3) {
    carom_hyper3 aim = ch_rotate(turn, mirrored(ch_pack3(z + i), c + 4));
    ch_unpack3(ch_sub3(ch_pack3(z + 6 + i), ch_times3(i == 0 ? 1 : handed(c + 4), aim)), r + i);
  }
}
const carom_element_kind carom_kind_periodic_momentum = {.name = "periodic momentum", .residual = periodic_momentum};

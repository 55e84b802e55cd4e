// What holds along the whole way: ranges of angles, cones of forces, heights over planes.
#include "control/kinds.h"

// q_b = q_a exp(axis angle) zero, so that the angle is read off q_a* q_b zero*. The cosine of half its distance from
// the middle of a range is a bound on both sides at once, with a slope that vanishes in the middle alone.
static void angle(const double *c, const carom_hyper *z, carom_hyper *r) {
  carom_hyper4 turn = ch_qmul(ch_qmul(ch_conj(ch_pack4(z)), ch_pack4(z + 4)), ch_conj(ch_quat(c + 3)));
  carom_hyper sine = ch_dot(turn.u, ch_constant3(c)), half = ch_number(0.5 * c[7]);
  carom_hyper sum = ch_add(ch_scale(cos(half.v), turn.w), ch_scale(sin(half.v), sine));
  *r = ch_scale(c[8], sum);
}
const carom_element_kind carom_kind_angle = {.name = "angle", .residual = angle};

static void cone(const double *c, const carom_hyper *z, carom_hyper *r) {
  carom_hyper3 push = ch_pack3(z);
  carom_hyper normal = ch_dot(push, ch_constant3(c)), square = ch_mul(normal, normal);
  r[0] = normal;
  r[1] = ch_sub(ch_scale(1 + c[3] * c[3], square), ch_dot(push, push));  // |t|^2 = |push|^2 - n^2
}
const carom_element_kind carom_kind_cone = {.name = "cone", .residual = cone};

static void above_plane(const double *c, const carom_hyper *z, carom_hyper *r) {
  carom_hyper3 at = ch_add3(ch_pack3(z), ch_rotate(ch_pack4(z + 3), ch_constant3(c + 3)));
  *r = ch_dot(at, ch_constant3(c));
}
const carom_element_kind carom_kind_above_plane = {.name = "above plane", .residual = above_plane};

static carom_hyper4 add4(carom_hyper4 p, carom_hyper4 q) { return (carom_hyper4){ch_add(p.w, q.w), ch_add3(p.u, q.u)}; }

// The sum of two quaternions points half way; its length is taken out of the rotation.
static void above_plane_between(const double *c, const carom_hyper *z, carom_hyper *r) {
  carom_hyper4 q = add4(ch_pack4(z + 3), ch_pack4(z + 10));
  carom_hyper size = ch_add(ch_mul(q.w, q.w), ch_dot(q.u, q.u));
  carom_hyper3 arm = ch_scale3(ch_inverse(size), ch_rotate(q, ch_constant3(c + 3)));
  carom_hyper3 middle = ch_times3(0.5, ch_add3(ch_pack3(z), ch_pack3(z + 7)));
  *r = ch_dot(ch_add3(middle, arm), ch_constant3(c));
}
const carom_element_kind carom_kind_above_plane_between = {.name = "above plane, between",
                                                           .residual = above_plane_between};

static void parting(const double *c, const carom_hyper *z, carom_hyper *r) {
  carom_hyper4 q = ch_pack4(z);
  *r = ch_dot(ch_point_speed(c, q, z + 4, ch_rotate(q, ch_constant3(c + 5))), ch_constant3(c + 8));
}
const carom_element_kind carom_kind_parting = {.name = "parting", .residual = parting};

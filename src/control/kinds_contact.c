// Planned contacts: where the bodies touch, and how their momenta change there (Johnson 2012, 4.4.3). What the
// reflection needs is lifted into variables of its own (normal, arms, velocities of the points), so that every element
// is small.
#include "control/kinds.h"

static void arm(const double *c, const carom_hyper *z, carom_hyper *r) {
  ch_unpack3(ch_sub3(ch_pack3(z), ch_rotate(ch_pack4(z + 3), ch_constant3(c))), r);
}
const carom_element_kind carom_kind_arm = {.name = "arm", .residual = arm};

static void edge_normal(const double *c, const carom_hyper *z, carom_hyper *r) {
  carom_hyper3 ea = ch_rotate(ch_pack4(z), ch_constant3(c)), eb = ch_rotate(ch_pack4(z + 4), ch_constant3(c + 3));
  ch_unpack3(ch_sub3(ch_pack3(z + 8), ch_cross(ea, eb)), r);
}
const carom_element_kind carom_kind_edge_normal = {.name = "edge normal", .residual = edge_normal};

static void edge_arm(const double *c, const carom_hyper *z, carom_hyper *r) {
  carom_hyper3 local = ch_add3(ch_constant3(c), ch_scale3(z[7], ch_constant3(c + 3)));
  ch_unpack3(ch_sub3(ch_pack3(z), ch_rotate(ch_pack4(z + 3), local)), r);
}
const carom_element_kind carom_kind_edge_arm = {.name = "edge arm", .residual = edge_arm};

static void meet(const double *c, const carom_hyper *z, carom_hyper *r) {
  (void)c;
  ch_unpack3(ch_sub3(ch_add3(ch_pack3(z), ch_pack3(z + 3)), ch_add3(ch_pack3(z + 6), ch_pack3(z + 9))), r);
}
const carom_element_kind carom_kind_meet = {.name = "meet", .residual = meet};

static void height(const double *c, const carom_hyper *z, carom_hyper *r) {
  (void)c;
  *r = ch_dot(ch_pack3(z), ch_pack3(z + 3));
}
const carom_element_kind carom_kind_height = {.name = "height", .residual = height};

static void impulse(const double *c, const carom_hyper *z, carom_hyper *r) {
  carom_hyper3 push = ch_times3(c[0], ch_pack3(z + 15));
  ch_unpack3(ch_sub3(ch_sub3(ch_pack3(z + 6), ch_pack3(z)), push), r);
  ch_unpack3(ch_sub3(ch_sub3(ch_pack3(z + 9), ch_pack3(z + 3)), ch_cross(ch_pack3(z + 12), push)), r + 3);
}
const carom_element_kind carom_kind_impulse = {.name = "impulse", .residual = impulse};

static void velocity(const double *c, const carom_hyper *z, carom_hyper *r) {
  ch_unpack3(ch_point_speed(c, ch_pack4(z), z + 4, ch_pack3(z + 10)), r);
}
const carom_element_kind carom_kind_velocity = {.name = "velocity", .residual = velocity};

static void restitution(const double *c, const carom_hyper *z, carom_hyper *r) {
  *r = ch_dot(ch_pack3(z), ch_add3(ch_pack3(z + 6), ch_times3(c[0], ch_pack3(z + 3))));
}
const carom_element_kind carom_kind_restitution = {.name = "restitution", .residual = restitution};

// Coulomb's law while sliding; t is regularised so that a purely normal approach has no friction and no kink.
static void slide(const double *c, const carom_hyper *z, carom_hyper *r) {
  carom_hyper3 n = ch_pack3(z + 4), push = n;
  if (c[0] > 0) {
    carom_hyper3 u = ch_pack3(z + 7);
    carom_hyper along = ch_mul(ch_dot(n, u), ch_inverse(ch_dot(n, n)));
    carom_hyper3 t = ch_sub3(u, ch_scale3(along, n));
    carom_hyper size = ch_sqrt(ch_add(ch_dot(t, t), ch_number(1e-16)));
    carom_hyper length = ch_sqrt(ch_dot(n, n));
    push = ch_sub3(n, ch_scale3(ch_mul(ch_scale(c[0], length), ch_inverse(size)), t));
  }
  ch_unpack3(ch_sub3(ch_pack3(z), ch_scale3(z[3], push)), r);
}
const carom_element_kind carom_kind_slide = {.name = "slide", .residual = slide};

// The tangential velocities before and after point the same way while their product is positive.
static void sliding(const double *c, const carom_hyper *z, carom_hyper *r) {
  (void)c;
  carom_hyper3 n = ch_pack3(z), before = ch_pack3(z + 3), after = ch_pack3(z + 6);
  carom_hyper normal = ch_mul(ch_mul(ch_dot(n, before), ch_dot(n, after)), ch_inverse(ch_dot(n, n)));
  *r = ch_sub(ch_dot(before, after), normal);
}
const carom_element_kind carom_kind_sliding = {.name = "sliding", .residual = sliding};

// Moreau's form of Newton's and Coulomb's laws for one contact: u_t+ = -gamma Lambda_t, u_n+ = -e u_n.
static void coulomb(const double *c, const carom_hyper *z, carom_hyper *r) {
  carom_hyper3 push = ch_pack3(z), n = ch_pack3(z + 4), before = ch_pack3(z + 7), after = ch_pack3(z + 10);
  carom_hyper3 tangential = ch_sub3(push, ch_scale3(z[3], n));
  carom_hyper length = ch_dot(n, n), approach = ch_mul(ch_dot(n, before), ch_inverse(length));
  r[0] = ch_sub(ch_dot(n, push), ch_mul(z[3], length));
  carom_hyper3 slip = ch_add3(after, ch_scale3(z[13], tangential));
  ch_unpack3(ch_add3(slip, ch_scale3(ch_scale(c[0], approach), n)), r + 1);
}
const carom_element_kind carom_kind_coulomb = {.name = "coulomb", .residual = coulomb};

static void cone(const double *c, const carom_hyper *z, carom_hyper *r) {
  carom_hyper3 n = ch_pack3(z + 4), tangential = ch_sub3(ch_pack3(z), ch_scale3(z[3], n));
  carom_hyper reach = ch_scale(c[0] * c[0], ch_mul(ch_mul(z[3], z[3]), ch_dot(n, n)));
  *r = ch_sub(ch_sub(reach, ch_dot(tangential, tangential)), z[7]);
}
const carom_element_kind carom_kind_blow_cone = {.name = "cone", .residual = cone};

static void work(const double *c, const carom_hyper *z, carom_hyper *r) {
  (void)c;
  *r = ch_dot(ch_pack3(z), ch_add3(ch_pack3(z + 3), ch_pack3(z + 6)));
}
const carom_element_kind carom_kind_blow_work = {.name = "work", .residual = work};

static void product(const double *c, const carom_hyper *z, carom_hyper *r) {
  *r = ch_sub(ch_scale(c[0] * c[1], ch_mul(z[0], z[1])), z[2]);
}
const carom_element_kind carom_kind_product = {.name = "product", .residual = product};

static void above(const double *c, const carom_hyper *z, carom_hyper *r) {
  carom_hyper3 at = ch_add3(ch_pack3(z), ch_rotate(ch_pack4(z + 3), ch_constant3(c + 3)));
  *r = ch_dot(ch_rotate(ch_pack4(z + 10), ch_constant3(c)), ch_sub3(at, ch_pack3(z + 7)));
}
const carom_element_kind carom_kind_above = {.name = "above", .residual = above};

// ---- faces ---------------------------------------------------------------------------------------------------------

// The corner of v as seen from v and from f, and the normal of the face of f.
typedef struct corner {
  carom_hyper3 arm[2], n;
} corner;

static corner corner_of(const double *c, const carom_hyper *z) {
  carom_hyper3 arm = ch_rotate(ch_pack4(z + 3), ch_constant3(c + 3));
  carom_hyper3 seen = ch_sub3(ch_add3(ch_pack3(z), arm), ch_pack3(z + 7));
  return (corner){{arm, seen}, ch_rotate(ch_pack4(z + 10), ch_constant3(c))};
}

static void flat_push(const double *c, const carom_hyper *z, carom_hyper *r) {
  corner k = corner_of(c, z);
  ch_opposite_wrenches(ch_scale3(ch_scale(c[6], z[14]), k.n), k.arm[0], k.arm[1], r);
}
const carom_element_kind carom_kind_flat_push = {.name = "flat push", .residual = flat_push};

static void flat_speed(const double *c, const carom_hyper *z, carom_hyper *r) {
  corner k = corner_of(c, z);
  bool of_f = c[13] != 0;
  double body[5] = {c[10], c[6], c[7], c[8], c[9]};
  carom_hyper4 q = ch_pack4(z + (of_f ? 10 : 3));
  carom_hyper3 before = ch_point_speed(body, q, z + 14, k.arm[of_f]);
  carom_hyper3 after = ch_point_speed(body, q, z + 20, k.arm[of_f]);
  *r = ch_dot(k.n, ch_add3(ch_times3(c[11], before), ch_times3(c[12], after)));
}
const carom_element_kind carom_kind_flat_speed = {.name = "flat speed", .residual = flat_speed};

static void inside(const double *c, const carom_hyper *z, carom_hyper *r) {
  *r = ch_dot(ch_rotate(ch_pack4(z), ch_constant3(c)), ch_pack3(z + 4));
}
const carom_element_kind carom_kind_inside = {.name = "inside", .residual = inside};

// ---- what sticks ---------------------------------------------------------------------------------------------------

static void grip(const double *c, const carom_hyper *z, carom_hyper *r) {
  (void)c;
  ch_unpack3(ch_sub3(ch_pack3(z), ch_rotate(ch_pack4(z + 3), ch_pack3(z + 7))), r);
}
const carom_element_kind carom_kind_grip = {.name = "grip", .residual = grip};

static void hold(const double *c, const carom_hyper *z, carom_hyper *r) {
  (void)c;
  carom_hyper3 a = ch_add3(ch_pack3(z), ch_rotate(ch_pack4(z + 3), ch_pack3(z + 7)));
  carom_hyper3 b = ch_add3(ch_pack3(z + 10), ch_rotate(ch_pack4(z + 13), ch_pack3(z + 17)));
  ch_unpack3(ch_sub3(b, a), r);
}
const carom_element_kind carom_kind_hold = {.name = "hold", .residual = hold};

static void hold_force(const double *c, const carom_hyper *z, carom_hyper *r) {
  (void)c;
  carom_hyper3 arm_a = ch_rotate(ch_pack4(z + 3), ch_pack3(z + 7));
  carom_hyper3 arm_b = ch_rotate(ch_pack4(z + 10), ch_pack3(z + 14));
  ch_opposite_wrenches(ch_pack3(z), arm_a, arm_b, r);
}
const carom_element_kind carom_kind_hold_force = {.name = "hold force", .residual = hold_force};

static void hold_speed(const double *c, const carom_hyper *z, carom_hyper *r) {
  carom_hyper4 q = ch_pack4(z);
  ch_unpack3(ch_point_speed(c, q, z + 4, ch_rotate(q, ch_pack3(z + 10))), r);
}
const carom_element_kind carom_kind_hold_speed = {.name = "hold speed", .residual = hold_speed};

// The forced discrete Euler-Lagrange equations, interval by interval.
#include <string.h>

#include "control/kinds.h"
#include "control/rotation.h"

// d = m (x1 - x0) / (sigma h);  weight kicks by sigma h/2 m g at both ends.
static void translation(const double *c, const carom_hyper *z, carom_hyper *r) {
  double h = c[0], m = c[1];
  carom_hyper sigma = z[6];
  carom_hyper3 d = ch_scale3(ch_scale(m / h, ch_inverse(sigma)), ch_sub3(ch_pack3(z + 3), ch_pack3(z)));
  carom_hyper3 kick = ch_scale3(ch_scale(0.5 * h * m, sigma), ch_constant3(c + 2));
  ch_unpack3(ch_sub3(kick, d), r);
  ch_unpack3(ch_add3(kick, d), r + 3);
}
const carom_element_kind carom_kind_translation = {.name = "translation", .residual = translation};

// ---- rotation ------------------------------------------------------------------------------------------------------

// The spatial momentum of a discrete Moser-Veselov step (step/dmv.h): h hat(l) = R1 E R0' - R0 E R1', that is
//     l = 1/(sigma h) sum_I E_I d_I(q0) x d_I(q1).
static void rotation(const double *c, const carom_hyper *z, carom_hyper *r) {
  carom_hyper4 q0 = ch_pack4(z), q1 = ch_pack4(z + 4);
  carom_hyper3 sum = ch_vector(cm_zero3());
  for (int i = 0; i < 3; i++) {
    carom_hyper3 e = ch_vector(carom_axis_vector(i)), d0 = ch_rotate(q0, e), d1 = ch_rotate(q1, e);
    sum = ch_add3(sum, ch_times3(c[1 + i] / c[0], ch_cross(d0, d1)));
  }
  carom_hyper3 l = ch_scale3(ch_inverse(z[8]), sum);
  ch_unpack3(ch_times3(-1, l), r);
  ch_unpack3(l, r + 3);
}

// The directors of a quaternion and their derivatives.
typedef struct directors {
  carom_vec3 d[3];
  carom_vec3 g[3][4];  // of d[i] in q[j]
} directors;

static void directors_of(const double *q, directors *out) {
  for (int i = 0; i < 3; i++) out->d[i] = carom_rotated(q, carom_axis_vector(i), out->g[i]);
}

static void put_column(carom_vec3 v, int j, double *J) {
  double out[3] = {v.x, v.y, v.z};
  for (int i = 0; i < 3; i++) J[i * 9 + j] = -out[i], J[(3 + i) * 9 + j] = out[i];
}

// One step of a turning body: its directors at both ends, s_i = E_i / (sigma h), and its momentum l.
typedef struct turning {
  directors D0, D1;
  double s[3], sigma;
  carom_vec3 l;
} turning;

static void rotation_jacobian(const turning *t, double *J) {
  const directors *D0 = &t->D0, *D1 = &t->D1;
  for (int j = 0; j < 4; j++) {
    carom_vec3 by0 = cm_zero3(), by1 = cm_zero3();
    for (int i = 0; i < 3; i++) {
      by0 = cm_axpy(by0, t->s[i], cm_cross(D0->g[i][j], D1->d[i]));
      by1 = cm_axpy(by1, t->s[i], cm_cross(D0->d[i], D1->g[i][j]));
    }
    put_column(by0, j, J);
    put_column(by1, 4 + j, J);
  }
  put_column(cm_scale(-1 / t->sigma, t->l), 8, J);
}

// Of omega . l, lower triangle.
static void rotation_hessian(const turning *t, carom_vec3 omega, double *H) {
  const directors *D0 = &t->D0, *D1 = &t->D1;
  const double *s = t->s, sigma = t->sigma;
  memset(H, 0, 81 * sizeof *H);
  for (int i = 0; i < 3; i++) {
    carom_rotated_hessian(carom_axis_vector(i), cm_scale(s[i], cm_cross(D1->d[i], omega)), H, 9, 0);
    carom_rotated_hessian(carom_axis_vector(i), cm_scale(s[i], cm_cross(omega, D0->d[i])), H, 9, 4);
    for (int b = 0; b < 4; b++) {
      carom_vec3 turned = cm_cross(D1->g[i][b], omega);
      for (int a = 0; a < 4; a++) H[(4 + b) * 9 + a] += s[i] * cm_dot(D0->g[i][a], turned);
    }
    for (int j = 0; j < 4; j++) {
      H[72 + j] -= s[i] / sigma * cm_dot(omega, cm_cross(D0->g[i][j], D1->d[i]));
      H[76 + j] -= s[i] / sigma * cm_dot(omega, cm_cross(D0->d[i], D1->g[i][j]));
    }
  }
  H[80] = 2 * cm_dot(omega, t->l) / (sigma * sigma);
}

static bool rotation_by_hand(const double *c, void *object, const double *z, const double *w,
                             const carom_derivatives *out) {
  (void)object;
  turning t = {.sigma = z[8], .l = cm_zero3()};
  directors_of(z, &t.D0);
  directors_of(z + 4, &t.D1);
  for (int i = 0; i < 3; i++) {
    t.s[i] = c[1 + i] / (c[0] * t.sigma);
    t.l = cm_axpy(t.l, t.s[i], cm_cross(t.D0.d[i], t.D1.d[i]));
  }
  const double l[3] = {t.l.x, t.l.y, t.l.z};
  for (int i = 0; out->r && i < 3; i++) out->r[i] = -l[i], out->r[3 + i] = l[i];
  if (out->J) rotation_jacobian(&t, out->J);
  if (out->H) rotation_hessian(&t, cm_vec3(w[3] - w[0], w[4] - w[1], w[5] - w[2]), out->H);
  return true;
}
const carom_element_kind carom_kind_rotation = {"rotation", rotation, rotation_by_hand};
const carom_element_kind carom_kind_rotation_plain = {.name = "rotation", .residual = rotation};

static void unit(const double *c, const carom_hyper *z, carom_hyper *r) {
  (void)c;
  carom_hyper4 q = ch_pack4(z);
  *r = ch_sub(ch_add(ch_mul(q.w, q.w), ch_dot(q.u, q.u)), ch_number(1));
}
const carom_element_kind carom_kind_unit = {.name = "unit quaternion", .residual = unit};

static void turn(const double *c, const carom_hyper *z, carom_hyper *r) {
  (void)c;
  *r = ch_add(ch_mul(z[0], z[4]), ch_dot(ch_pack3(z + 1), ch_pack3(z + 5)));
}
const carom_element_kind carom_kind_turn = {.name = "turn", .residual = turn};

// ---- forces --------------------------------------------------------------------------------------------------------

// A force f at the point rho and a couple t, at one end of the interval; f and t turn with the body or not.
typedef struct effect {
  carom_hyper3 force, torque;
  bool body_axes;
} effect;

// At the point rho of a body with the attitude q.
static void put_wrench(const effect *e, carom_hyper scale, carom_hyper4 q, const double *rho, carom_hyper *r) {
  carom_hyper3 f = e->force, t = e->torque;
  if (e->body_axes) f = ch_rotate(q, f), t = ch_rotate(q, t);
  if (rho[0] != 0 || rho[1] != 0 || rho[2] != 0) t = ch_add3(t, ch_cross(ch_rotate(q, ch_constant3(rho)), f));
  ch_unpack3(ch_scale3(scale, f), r);
  ch_unpack3(ch_scale3(scale, t), r + 3);
}

static void wrench(const double *c, const carom_hyper *z, carom_hyper *r) {
  carom_hyper half = ch_scale(0.5 * c[0], z[6]);
  effect e = {ch_pack3(z), ch_pack3(z + 3), c[1] != 0};
  for (int i = 0; i < 2; i++) put_wrench(&e, half, ch_pack4(z + 7 + 4 * i), c + 2, r + 6 * i);
}
const carom_element_kind carom_kind_wrench = {.name = "wrench", .residual = wrench};

static void thruster(const double *c, const carom_hyper *z, carom_hyper *r) {
  carom_hyper half = ch_scale(0.5 * c[0], z[1]);
  effect e = {ch_scale3(z[0], ch_constant3(c + 4)), ch_vector(cm_zero3()), true};
  for (int i = 0; i < 2; i++) put_wrench(&e, half, ch_pack4(z + 2 + 4 * i), c + 1, r + 6 * i);
}
const carom_element_kind carom_kind_thruster = {.name = "thruster", .residual = thruster};

static void put_pair(carom_hyper3 t, carom_hyper *r) {
  ch_unpack3(ch_times3(-1, t), r);
  ch_unpack3(t, r + 6);
}

// C1 = (0, -n), C2 = (0, n) with n the axis (Johnson 2012, eq. A.2). Rows: out a, in a, out b, in b.
static void motor(const double *c, const carom_hyper *z, carom_hyper *r) {
  carom_hyper half = ch_mul(ch_scale(0.5 * c[0], z[1]), z[0]);
  put_pair(ch_scale3(half, ch_rotate(ch_pack4(z + 2), ch_constant3(c + 1))), r);
  put_pair(ch_scale3(half, ch_rotate(ch_pack4(z + 6), ch_constant3(c + 1))), r + 3);
}
const carom_element_kind carom_kind_motor = {.name = "motor", .residual = motor};

static void ball_motor(const double *c, const carom_hyper *z, carom_hyper *r) {
  carom_hyper3 t = ch_scale3(ch_scale(0.5 * c[0], z[3]), ch_pack3(z));
  put_pair(t, r);
  put_pair(t, r + 3);
}
const carom_element_kind carom_kind_ball_motor = {.name = "ball motor", .residual = ball_motor};

static void link3(const double *c, const carom_hyper *z, carom_hyper *r) {
  for (int i = 0; i < 3; i++) r[i] = ch_scale(c[0], z[i]);
}
static void link6(const double *c, const carom_hyper *z, carom_hyper *r) {
  for (int i = 0; i < 6; i++) r[i] = ch_scale(c[0], z[i]);
}
const carom_element_kind carom_kind_link3 = {.name = "link", .residual = link3};
const carom_element_kind carom_kind_link6 = {.name = "link", .residual = link6};

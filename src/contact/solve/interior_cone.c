// Cones of the interior-point method, after Nesterov and Todd (1997) and Vandenberghe (2010, The CVXOPT linear and
// quadratic cone program solvers, sections 4 and 5): W maps x and s to one point, lambda = W x = W^-1 s.
#include <math.h>

#include "contact/solve/interior.h"

static const carom_contact_point *contact_of(const carom_interior *m, int unit) {
  return &m->s->problem.contacts[unit];
}

static const carom_contact_row *row_of(const carom_interior *m, int unit) {
  return &m->s->problem.rows[unit - m->s->problem.contact_count];
}

// ---- the map B --------------------------------------------------------------------------------

static carom_vec3 direction(const carom_interior *m, int unit, int k) {
  const carom_contact_system *s = m->s;
  const carom_contact_point *c = contact_of(m, unit);
  if (m->units[unit].kind == CAROM_CONTACT_SECOND) {
    carom_vec3 u, v;
    cm_frame(c->normal, &u, &v);
    return k == 0 ? cm_scale(1 / c->friction, c->normal) : k == 1 ? u : v;
  }
  if (s->options.cone == CAROM_CONTACT_CIRCULAR) return c->normal;
  return carom_contact_generator(s, unit, k);
}

carom_vec3 carom_cone_unit_impulse(const carom_interior *m, int unit, const double *x) {
  const carom_cone_unit *u = &m->units[unit];
  if (u->kind == CAROM_CONTACT_BOX) return cm_vec3(x[u->at], 0, 0);
  carom_vec3 f = cm_zero3();
  for (int k = 0; k < u->count; k++) f = cm_axpy(f, x[u->at + k], direction(m, unit, k));
  return f;
}

void carom_cone_unit_components(const carom_interior *m, int unit, carom_vec3 velocity, double *out) {
  const carom_cone_unit *u = &m->units[unit];
  if (u->kind == CAROM_CONTACT_BOX) out[u->at] = velocity.x;
  for (int k = 0; u->kind != CAROM_CONTACT_BOX && k < u->count; k++)
    out[u->at + k] = cm_dot(velocity, direction(m, unit, k));
}

// ---- second-order cones -----------------------------------------------------------------------

// x0^2 - |x1|^2 without cancellation of squares
static double determinant(const double *x) {
  double t = hypot(x[1], x[2]);
  return (x[0] - t) * (x[0] + t);
}

// W u with W = beta (2 v v' - J), v = (w + e) / sqrt(2 (w0 + 1)); sign -1 gives W^-1 u = (2 J v v' J - J) u / beta.
static void scaled(const carom_cone_unit *unit, int sign, const double *u, double *out) {
  double q = 1 / sqrt(2 * (unit->w[0] + 1)), g = sign > 0 ? unit->beta : 1 / unit->beta;
  double v[3] = {q * (unit->w[0] + 1), sign * q * unit->w[1], sign * q * unit->w[2]};
  double vu = 2 * (v[0] * u[0] + v[1] * u[1] + v[2] * u[2]);
  double u1 = u[1], u2 = u[2];
  out[0] = g * (vu * v[0] - u[0]);
  out[1] = g * (vu * v[1] + u1);
  out[2] = g * (vu * v[2] + u2);
}

static void scale_second(carom_interior *m, int unit) {
  carom_cone_unit *u = &m->units[unit];
  const double *x = m->x + u->at, *s = m->slack + u->at;
  double dx = determinant(x), ds = determinant(s), a = 1 / sqrt(dx), b = 1 / sqrt(ds);
  double cosine = a * b * (x[0] * s[0] + x[1] * s[1] + x[2] * s[2]), g = sqrt((1 + cosine) / 2);
  u->w[0] = (b * s[0] + a * x[0]) / (2 * g);
  u->w[1] = (b * s[1] - a * x[1]) / (2 * g);
  u->w[2] = (b * s[2] - a * x[2]) / (2 * g);
  u->beta = sqrt(sqrt(ds / dx));
  scaled(u, 1, x, m->lambda + u->at);
  // theta = (B W^-1) (B W^-1)': a square, so that round-off does not make it indefinite
  carom_vec3 B[3] = {direction(m, unit, 0), direction(m, unit, 1), direction(m, unit, 2)};
  for (int k = 0; k < 3; k++) {
    double e[3] = {k == 0, k == 1, k == 2}, column[3];
    scaled(u, -1, e, column);
    carom_vec3 image = cm_axpy(cm_axpy(cm_scale(column[0], B[0]), column[1], B[1]), column[2], B[2]);
    u->theta = cm_madd(u->theta, cm_outer(image, image));
  }
}

// c = W^-1 (lambda \ t), t = target e - lambda o lambda - (W^-1 ds) o (W dx), with o the product of the Jordan algebra.
static void target_second(carom_interior *m, const carom_cone_unit *u, double target, bool corrector) {
  const double *l = m->lambda + u->at;
  double t[3] = {target - (l[0] * l[0] + l[1] * l[1] + l[2] * l[2]), -2 * l[0] * l[1], -2 * l[0] * l[2]};
  if (corrector) {
    double a[3], b[3];
    scaled(u, -1, m->affine_s + u->at, a);
    scaled(u, 1, m->affine_x + u->at, b);
    t[0] -= a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    t[1] -= a[0] * b[1] + b[0] * a[1];
    t[2] -= a[0] * b[2] + b[0] * a[2];
  }
  double q[3];
  q[0] = (l[0] * t[0] - l[1] * t[1] - l[2] * t[2]) / determinant(l);
  q[1] = (t[1] - q[0] * l[1]) / l[0];
  q[2] = (t[2] - q[0] * l[2]) / l[0];
  scaled(u, -1, q, m->c + u->at);
}

static void finish_second(carom_interior *m, const carom_cone_unit *u) {
  double once[3], twice[3];
  scaled(u, -1, m->ds + u->at, once);
  scaled(u, -1, once, twice);
  for (int k = 0; k < 3; k++) m->dx[u->at + k] = m->c[u->at + k] - twice[k];
}

// The largest alpha with x + alpha d in the cone: the smaller positive root of a quadratic, if there is one.
static double step_second(const double *x, const double *d) {
  double a = determinant(d), b = x[0] * d[0] - x[1] * d[1] - x[2] * d[2], c = determinant(x);
  double discriminant = b * b - a * c;
  if (a > 0 && d[0] > 0 && (b >= 0 || discriminant < 0)) return INFINITY;
  if (discriminant < 0) return INFINITY;
  double q = -(b + copysign(sqrt(discriminant), b)), one = q / a, two = c / q, best = INFINITY;
  if (one > 0) best = one;
  if (two > 0) best = fmin(best, two);
  if (d[0] < 0) best = fmin(best, -x[0] / d[0]);
  return best;
}

// ---- boxes ------------------------------------------------------------------------------------
// x - l >= 0 with multiplier side[0], u - x >= 0 with multiplier side[1], w = side[0] - side[1]. A row without bounds
// is an equality; it takes a proximal term of 1e-9 rho instead, which moves the iterates but not the solution. Where
// there is no bound, room is infinite and the multiplier zero.

static double room(const carom_interior *m, int unit, int side) {
  double x = m->x[m->units[unit].at];
  return side ? row_of(m, unit)->upper - x : x - row_of(m, unit)->lower;
}

static double box_stiffness(const carom_interior *m, int unit) {
  double k = 1e-9 * m->s->rho[unit];
  for (int side = 0; side < 2; side++) k += m->units[unit].side[side] / room(m, unit, side);
  return k;
}

// dx = c - theta dw with theta = 1 / stiffness. Boxes are few: the corrector leaves them to the centring.
static void target_box(carom_interior *m, int unit, double target) {
  carom_cone_unit *u = &m->units[unit];
  for (int side = 0; side < 2; side++) u->rate[side] = target / room(m, unit, side) - u->side[side];
  m->c[u->at] = (u->rate[0] - u->rate[1]) / box_stiffness(m, unit);
}

static void finish_box(carom_interior *m, int unit) {
  carom_cone_unit *u = &m->units[unit];
  double dx = m->dx[u->at] = m->c[u->at] - u->theta.m[0][0] * m->ds[u->at];
  for (int side = 0; side < 2; side++) u->rate[side] += (side ? dx : -dx) * u->side[side] / room(m, unit, side);
}

static double step_box(const carom_interior *m, int unit) {
  const carom_cone_unit *u = &m->units[unit];
  double dx = m->dx[u->at], best = dx == 0 ? INFINITY : room(m, unit, dx > 0) / fabs(dx);
  for (int side = 0; side < 2; side++)
    if (u->rate[side] < 0) best = fmin(best, -u->side[side] / u->rate[side]);
  return best;
}

// ---- one unit at a time -----------------------------------------------------------------------

int carom_cone_unit_degree(const carom_interior *m, int unit) {
  const carom_cone_unit *u = &m->units[unit];
  if (u->kind == CAROM_CONTACT_SKIPPED) return 0;
  if (u->kind == CAROM_CONTACT_BOX) return isfinite(room(m, unit, 0)) + isfinite(room(m, unit, 1));
  return u->kind == CAROM_CONTACT_SECOND ? 1 : u->count;
}

double carom_cone_unit_product(const carom_interior *m, int unit) {
  const carom_cone_unit *u = &m->units[unit];
  double sum = 0;
  for (int side = 0; u->kind == CAROM_CONTACT_BOX && side < 2; side++)
    if (isfinite(room(m, unit, side))) sum += u->side[side] * room(m, unit, side);
  if (u->kind == CAROM_CONTACT_BOX) return sum;
  for (int k = 0; k < u->count; k++) sum += m->x[u->at + k] * m->slack[u->at + k];
  return sum;
}

void carom_cone_unit_scale(carom_interior *m, int unit) {
  carom_cone_unit *u = &m->units[unit];
  u->theta = (carom_mat3){0};
  if (u->kind == CAROM_CONTACT_SECOND) scale_second(m, unit);
  if (u->kind == CAROM_CONTACT_BOX) u->theta.m[0][0] = 1 / box_stiffness(m, unit);
  for (int k = 0; u->kind == CAROM_CONTACT_ORTHANT && k < u->count; k++) {
    double x = m->x[u->at + k], s = m->slack[u->at + k];
    carom_vec3 d = direction(m, unit, k);
    m->lambda[u->at + k] = sqrt(x * s);
    u->theta = cm_madd(u->theta, cm_mscale(x / s, cm_outer(d, d)));
  }
}

void carom_cone_unit_target(carom_interior *m, int unit, double target, bool corrector) {
  const carom_cone_unit *u = &m->units[unit];
  if (u->kind == CAROM_CONTACT_SECOND) target_second(m, u, target, corrector);
  if (u->kind == CAROM_CONTACT_BOX) target_box(m, unit, target);
  for (int k = u->at; u->kind == CAROM_CONTACT_ORTHANT && k < u->at + u->count; k++) {
    double second = corrector ? m->affine_x[k] * m->affine_s[k] : 0;
    m->c[k] = (target - m->x[k] * m->slack[k] - second) / m->slack[k];
  }
}

void carom_cone_unit_finish(carom_interior *m, int unit) {
  const carom_cone_unit *u = &m->units[unit];
  if (u->kind == CAROM_CONTACT_SECOND) finish_second(m, u);
  if (u->kind == CAROM_CONTACT_BOX) finish_box(m, unit);
  for (int k = u->at; u->kind == CAROM_CONTACT_ORTHANT && k < u->at + u->count; k++)
    m->dx[k] = m->c[k] - m->x[k] / m->slack[k] * m->ds[k];
}

double carom_cone_unit_step(const carom_interior *m, int unit) {
  const carom_cone_unit *u = &m->units[unit];
  double best = INFINITY;
  if (u->kind == CAROM_CONTACT_BOX) return step_box(m, unit);
  if (u->kind == CAROM_CONTACT_SECOND)
    return fmin(step_second(m->x + u->at, m->dx + u->at), step_second(m->slack + u->at, m->ds + u->at));
  for (int k = u->at; u->kind == CAROM_CONTACT_ORTHANT && k < u->at + u->count; k++) {
    if (m->dx[k] < 0) best = fmin(best, -m->x[k] / m->dx[k]);
    if (m->ds[k] < 0) best = fmin(best, -m->slack[k] / m->ds[k]);
  }
  return best;
}

void carom_cone_unit_move(carom_interior *m, int unit, double alpha) {
  carom_cone_unit *u = &m->units[unit];
  for (int k = u->at; k < u->at + u->count; k++) {
    m->x[k] += alpha * m->dx[k];
    m->slack[k] += alpha * m->ds[k];
  }
  if (u->kind != CAROM_CONTACT_BOX) return;
  for (int side = 0; side < 2; side++) u->side[side] += alpha * u->rate[side];
  m->slack[u->at] = u->side[0] - u->side[1];
}

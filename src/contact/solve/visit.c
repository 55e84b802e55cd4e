// Visits of a Gauss-Seidel sweep to what does not go four at a time: contacts of bodies that are not spheres, contacts
// with generators, and joints. Each solves its small problem to a fraction of the change it makes.
#include <math.h>

#include "contact/solve/disc.h"
#include "contact/solve/pgs.h"
#include "math/dense.h"

enum { INNER = 8 };                 // most inner steps of a visit
static const double ENOUGH = 0.03;  // an inner step that adds less than this share of the change ends the visit

static inline double most(double a, double b) { return a > b ? a : b; }

static inline carom_vec3 head(const double *V) { return cm_vec3(V[0], V[1], V[2]); }

// ---- a contact and its bodies -----------------------------------------------------------------
// Impulses and velocities are in the contact's own axes: x along the normal, y and z along the tangents.

static inline double rate_along(const carom_contact_axis *k, const double *A, const double *B) {
  return cm_dot(k->axis, cm_sub(head(A), head(B))) + cm_dot(k->lever[0], head(A + 3)) -
         cm_dot(k->lever[1], head(B + 3));
}

static inline carom_vec3 velocity(const carom_contact_single *c, const double *V) {
  const double *A = V + CAROM_CONTACT_STATE * (size_t)c->body[0], *B = V + CAROM_CONTACT_STATE * (size_t)c->body[1];
  return cm_vec3(rate_along(&c->along[0], A, B), rate_along(&c->along[1], A, B), rate_along(&c->along[2], A, B));
}

static inline void add(double *V, carom_vec3 v, carom_vec3 w) {
  V[0] += v.x, V[1] += v.y, V[2] += v.z, V[3] += w.x, V[4] += w.y, V[5] += w.z;
}

static inline void push_along(const carom_contact_single *c, double d, double *V) {
  const carom_contact_axis *k = &c->along[0];
  double *A = V + CAROM_CONTACT_STATE * (size_t)c->body[0], *B = V + CAROM_CONTACT_STATE * (size_t)c->body[1];
  if (c->moves[0]) add(A, cm_scale(d * c->inverse_mass[0], k->axis), cm_scale(d, k->turn[0]));
  if (c->moves[1]) add(B, cm_scale(-d * c->inverse_mass[1], k->axis), cm_scale(-d, k->turn[1]));
}

static inline void push_contact(const carom_contact_single *c, carom_vec3 d, double *V) {
  const carom_contact_axis *k = c->along;
  double *A = V + CAROM_CONTACT_STATE * (size_t)c->body[0], *B = V + CAROM_CONTACT_STATE * (size_t)c->body[1];
  carom_vec3 f = cm_axpy(cm_axpy(cm_scale(d.x, k[0].axis), d.y, k[1].axis), d.z, k[2].axis);
  carom_vec3 w[2];
  for (int end = 0; end < 2; end++)
    w[end] = cm_axpy(cm_axpy(cm_scale(d.x, k[0].turn[end]), d.y, k[1].turn[end]), d.z, k[2].turn[end]);
  if (c->moves[0]) add(A, cm_scale(c->inverse_mass[0], f), w[0]);
  if (c->moves[1]) add(B, cm_scale(-c->inverse_mass[1], f), cm_neg(w[1]));
}

// N_cc d
static inline carom_vec3 response(const carom_contact_single *c, carom_vec3 d) {
  return cm_vec3(c->nn * d.x + c->nt[0] * d.y + c->nt[1] * d.z, c->nt[0] * d.x + c->tt[0] * d.y,
                 c->nt[1] * d.x + c->tt[1] * d.z);
}

// Each law takes the impulse g, at which the velocity is u, to that which it asks for with all other contacts held.

// ---- the convex law: circular cones -----------------------------------------------------------

// The closed solution for N_cc = diag(a, b, b); visit_pack.c has the derivation.
static carom_vec3 diagonal_solution(double a, double b, double mu, carom_vec3 g, carom_vec3 w) {
  double qn = w.x - a * g.x, qy = w.y - b * g.y, qz = w.z - b * g.z, t = sqrt(qy * qy + qz * qz), stick = -qn / a;
  if (stick >= 0 && b * mu * stick >= t) return cm_vec3(stick, -qy / b, -qz / b);
  double slide = most(0, (mu * t - qn) / (a + mu * mu * b)), per_q = t > 0 ? -mu * slide / t : 0;
  return cm_vec3(slide, per_q * qy, per_q * qz);
}

// The diagonal bounds N_cc from above (Gershgorin), so that every inner step lowers the local objective; where they are
// equal one step is exact.
static carom_vec3 circular_solution(const carom_contact_single *c, carom_vec3 g, carom_vec3 u) {
  double coupling = sqrt(c->nt[0] * c->nt[0] + c->nt[1] * c->nt[1]), a = c->nn + coupling, b = c->tt[0] + coupling;
  carom_vec3 now = g;
  u.x += c->bias;
  for (int i = 0; i < INNER; i++) {
    carom_vec3 next = diagonal_solution(a, b, c->friction, now, cm_add(u, response(c, cm_sub(now, g))));
    double step = cm_norm(cm_sub(next, now)), total = cm_norm(cm_sub(next, g));
    now = next;
    if (step <= ENOUGH * total) break;
  }
  return now;
}

// ---- the convex law: generators ---------------------------------------------------------------

// Weights one by one, each to its minimum; returns the change of the impulse. With x_k along n + mu d_k, over |n + mu
// d|.
static carom_vec3 generator_change(const carom_contact_system *s, const carom_contact_single *c, carom_vec3 u,
                                   double *x) {
  carom_vec3 t = s->tangent[c->contact], g[64], Wg[64], change = cm_zero3();
  double mu = c->friction, unit = 1 / sqrt(1 + mu * mu), free[64], inverse[64];
  double ty = unit * mu * cm_dot(t, c->along[1].axis), tz = unit * mu * cm_dot(t, c->along[2].axis);
  for (int k = 0; k < s->width; k++) {
    g[k] = cm_vec3(unit, s->cosine[k] * ty - s->sine[k] * tz, s->cosine[k] * tz + s->sine[k] * ty);
    Wg[k] = response(c, g[k]);
    free[k] = cm_dot(g[k], u) + unit * c->bias;
    inverse[k] = 1 / cm_dot(g[k], Wg[k]);
  }
  for (int i = 0; i < INNER; i++) {
    double step = 0, total = cm_norm(change);
    for (int k = 0; k < s->width; k++) {
      double next = most(0, x[k] - (free[k] + cm_dot(Wg[k], change)) * inverse[k]), d = next - x[k];
      change = cm_axpy(change, d, g[k]);
      step = most(step, fabs(d));
      x[k] = next;
    }
    if (step <= ENOUGH * most(total, cm_norm(change))) break;
  }
  return change;
}

// ---- Coulomb's law ----------------------------------------------------------------------------

// The normal impulse that ends the approach.
static inline double normal_solution(const carom_contact_single *c, double g, double u) {
  return c->nn > 0 ? most(0, g - (u + c->bias) / c->nn) : g;
}

// That, and then the tangential one of maximal dissipation under it.
static inline carom_vec3 coulomb_solution(const carom_contact_single *c, carom_vec3 g, carom_vec3 u) {
  double n = normal_solution(c, g.x, u.x), t[2] = {0, 0};
  if (n > 0) {
    double slip[2] = {u.y + c->nt[0] * (n - g.x) - c->tt[0] * g.y, u.z + c->nt[1] * (n - g.x) - c->tt[1] * g.z};
    carom_disc_minimum_in_axes(c->tt, slip, c->friction * n, t);
  }
  return cm_vec3(n, t[0], t[1]);
}

// ---- visits -----------------------------------------------------------------------------------

// With d the change that a visit made to its unknowns.
static void count(carom_sweep_tally *tally, double rho, double d, double x, double before) {
  tally->energy += rho * d * d;
  tally->turn -= rho * d * (x - before);
}

static void visit_generated(const carom_contact_system *s, const carom_contact_plan *plan,
                            const carom_contact_single *c, double beta, carom_sweep_tally *tally) {
  size_t at = carom_contact_offset(s, c->contact);
  double *x = s->x + at, *before = plan->x_before + at, y[64];
  carom_sweep_extrapolate(s->width, beta, x, before);
  for (int k = 0; k < s->width; k++) y[k] = x[k];
  carom_vec3 d = generator_change(s, c, velocity(c, plan->V), x);
  push_contact(c, d, plan->V);
  tally->most = most(tally->most, c->rho * c->rho * cm_norm2(d));
  for (int k = 0; k < s->width; k++) count(tally, c->rho, x[k] - y[k], x[k], before[k]);
}

// Both laws are the same without friction, and only the normal counts.
static void visit_frictionless(carom_contact_single *c, double beta, double *V, carom_sweep_tally *tally) {
  const double *A = V + CAROM_CONTACT_STATE * (size_t)c->body[0], *B = V + CAROM_CONTACT_STATE * (size_t)c->body[1];
  double last = c->impulse.x, y = last + beta * (last - c->before.x);
  double now = normal_solution(c, y, rate_along(&c->along[0], A, B)), d = now - y;
  c->before.x = last, c->impulse.x = now;
  if (d == 0) return;
  push_along(c, d, V);
  tally->most = most(tally->most, c->rho * d * c->rho * d);
  count(tally, c->rho, d, now, last);
}

static void visit_circular(carom_contact_single *c, carom_contact_law law, double beta, double *V,
                           carom_sweep_tally *tally) {
  carom_vec3 last = c->impulse, y = cm_axpy(last, beta, cm_sub(last, c->before)), u = velocity(c, V);
  carom_vec3 now = law == CAROM_CONTACT_COULOMB ? coulomb_solution(c, y, u) : circular_solution(c, y, u),
             d = cm_sub(now, y);
  c->before = last, c->impulse = now;
  double dd = cm_norm2(d);
  if (dd == 0) return;
  push_contact(c, d, V);
  tally->most = most(tally->most, c->rho * c->rho * dd);
  tally->energy += c->rho * dd;
  tally->turn -= c->rho * cm_dot(d, cm_sub(now, last));
}

void carom_contact_visit_single(const carom_contact_system *s, const carom_contact_plan *plan, carom_contact_single *c,
                                double beta, carom_sweep_tally *tally) {
  if (s->options.cone == CAROM_CONTACT_GENERATORS)
    visit_generated(s, plan, c, beta, tally);
  else if (c->friction == 0)
    visit_frictionless(c, beta, plan->V, tally);
  else
    visit_circular(c, s->options.law, beta, plan->V, tally);
}

// ---- joints -----------------------------------------------------------------------------------

// Rows one by one within their bounds, until they agree.
static void bounded_change(const carom_contact_system *s, const carom_contact_joint *joint, const double *w,
                           const double *x, double *d) {
  for (int i = 0; i < joint->count; i++) d[i] = 0;
  for (int inner = 0; inner < INNER; inner++) {
    double step = 0, total = 0;
    for (int i = 0; i < joint->count; i++) {
      const carom_contact_row *row = &s->problem.rows[joint->first + i];
      double residual = w[i], a = joint->A[i + 6 * i];
      for (int j = 0; j < joint->count; j++) residual += joint->A[i + 6 * j] * d[j];
      double next = a > 0 ? fmin(fmax(x[i] + d[i] - residual / a, row->lower), row->upper) - x[i] : -x[i];
      step = fmax(step, fabs(next - d[i]));
      d[i] = next;
      total = fmax(total, fabs(d[i]));
    }
    if (step <= ENOUGH * total) break;
  }
}

// The change of multipliers that stops the joint: exact where no row is bounded.
static void joint_change(const carom_contact_system *s, const carom_contact_joint *joint, const double *V,
                         const double *x, double *d) {
  const carom_contact_row *rows = &s->problem.rows[joint->first];
  int bodies = s->problem.body_count;
  const double *A = carom_contact_body_state(V, bodies, rows->a), *B = carom_contact_body_state(V, bodies, rows->b);
  double w[6];
  for (int i = 0; i < joint->count; i++)
    w[i] = carom_contact_dot6(rows[i].jacobian_a, A) + carom_contact_dot6(rows[i].jacobian_b, B) + rows[i].bias;
  if (!joint->free) {
    bounded_change(s, joint, w, x, d);
    return;
  }
  for (int i = 0; i < joint->count; i++) d[i] = -w[i];
  carom_small_cholesky_solve(joint->count, joint->L, 6, d);
}

// V of a body += M^-1 wrench, where it can move.
static void push(const carom_contact_problem *p, int body, const double wrench[6], double *V) {
  if (!carom_contact_can_move(p, body)) return;
  double twist[6], *B = V + CAROM_CONTACT_STATE * (size_t)body;
  carom_contact_mobility(p, body, wrench, twist);
  for (int k = 0; k < 6; k++) B[k] += twist[k];
}

void carom_contact_visit_joint(const carom_contact_system *s, const carom_contact_plan *plan,
                               const carom_contact_joint *joint, double beta, carom_sweep_tally *tally) {
  int item = s->problem.contact_count + joint->first;
  size_t at = carom_contact_offset(s, item);
  double *x = s->x + at, *before = plan->x_before + at, d[6], wrench_a[6] = {0}, wrench_b[6] = {0};
  const carom_contact_row *rows = &s->problem.rows[joint->first];
  carom_sweep_extrapolate(joint->count, beta, x, before);
  joint_change(s, joint, plan->V, x, d);
  for (int i = 0; i < joint->count; i++) {
    x[i] += d[i];
    tally->most = most(tally->most, s->rho[item + i] * d[i] * s->rho[item + i] * d[i]);
    count(tally, s->rho[item + i], d[i], x[i], before[i]);
    for (int k = 0; k < 6; k++) {
      wrench_a[k] += d[i] * rows[i].jacobian_a[k];
      wrench_b[k] += d[i] * rows[i].jacobian_b[k];
    }
  }
  push(&s->problem, rows->a, wrench_a, plan->V);
  push(&s->problem, rows->b, wrench_b, plan->V);
}

// Visits of a Gauss-Seidel sweep to what does not go four at a time: contacts of bodies that are not spheres, contacts
// with generators, and joints. Each solves its small problem to a fraction of the change it makes.
#include <math.h>

#include "contact/solve/qp_pgs.h"
#include "math/dense.h"

enum { INNER = 8 };                 // most inner steps of a visit
static const double ENOUGH = 0.03;  // an inner step that adds less than this share of the change ends the visit

// V of a body += M^-1 wrench, where it can move.
static void push(const carom_qp_problem *p, int body, const double wrench[6], double *V) {
  if (!carom_qp_can_move(p, body)) return;
  double twist[6], *B = V + CAROM_QP_STATE * (size_t)body;
  carom_qp_mobility(p, body, wrench, twist);
  for (int k = 0; k < 6; k++) B[k] += twist[k];
}

static void push_point(const carom_qp_problem *p, int body, carom_vec3 arm, carom_vec3 f, double *V) {
  carom_vec3 l = cm_cross(arm, f);
  const double wrench[6] = {f.x, f.y, f.z, l.x, l.y, l.z};
  push(p, body, wrench, V);
}

static carom_vec3 relative_velocity(const carom_qp_problem *p, const carom_qp_contact *c, const double *V) {
  return cm_sub(carom_qp_point_velocity(carom_qp_body_state(V, p->body_count, c->a), c->arm_a),
                carom_qp_point_velocity(carom_qp_body_state(V, p->body_count, c->b), c->arm_b));
}

// ---- circular cones ---------------------------------------------------------------------------

// The closed solution for diag(a, b, b); qp_visit_pack.c has the derivation.
static carom_vec3 diagonal_solution(const carom_qp_single *single, const carom_qp_contact *c, carom_vec3 g,
                                    carom_vec3 w) {
  double a = single->along, b = single->across, mu = c->friction;
  double wn = cm_dot(c->normal, w), gn = cm_dot(c->normal, g), qn = wn - a * gn;
  carom_vec3 qt = cm_axpy(cm_axpy(w, -wn, c->normal), -b, cm_axpy(g, -gn, c->normal));
  double t = cm_norm(qt), stick = -qn / a;
  if (stick >= 0 && b * mu * stick >= t) return cm_axpy(cm_scale(stick, c->normal), -1 / b, qt);
  double slide = fmax(0, (mu * t - qn) / (a + mu * mu * b));
  return cm_axpy(cm_scale(slide, c->normal), t > 0 ? -mu * slide / t : 0, qt);
}

// The metric bounds N_cc, so that every inner step lowers the local objective; where they are equal one step is exact.
static carom_vec3 circular_solution(const carom_qp_single *single, const carom_qp_contact *c, carom_vec3 g,
                                    carom_vec3 u) {
  carom_vec3 now = g;
  for (int i = 0; i < INNER; i++) {
    carom_vec3 w = cm_add(u, cm_mulv(single->W, cm_sub(now, g)));
    carom_vec3 next = diagonal_solution(single, c, now, cm_axpy(w, c->bias, c->normal));
    double step = cm_norm(cm_sub(next, now)), total = cm_norm(cm_sub(next, g));
    now = next;
    if (step <= ENOUGH * total) break;
  }
  return now;
}

// ---- generators -------------------------------------------------------------------------------

// Weights one by one, each to its minimum; returns the change of the impulse. With x_k along n + mu d_k, over |n + mu
// d|.
static carom_vec3 generator_change(const carom_qp_system *s, const carom_qp_single *single, carom_vec3 u, double *x) {
  const carom_qp_contact *c = &s->problem.contacts[single->contact];
  double mu = c->friction, unit = 1 / sqrt(1 + mu * mu), free[64], inverse[64];
  carom_vec3 n = cm_scale(unit, c->normal), t1 = cm_scale(unit * mu, s->tangent[single->contact]);
  carom_vec3 t2 = cm_cross(c->normal, t1), g[64], Wg[64], change = cm_zero3();
  for (int k = 0; k < s->width; k++) {
    g[k] = cm_axpy(cm_axpy(n, s->cosine[k], t1), s->sine[k], t2);
    Wg[k] = cm_mulv(single->W, g[k]);
    free[k] = cm_dot(g[k], u) + unit * c->bias;
    inverse[k] = 1 / cm_dot(g[k], Wg[k]);
  }
  for (int i = 0; i < INNER; i++) {
    double step = 0, total = cm_norm(change);
    for (int k = 0; k < s->width; k++) {
      double next = fmax(0, x[k] - (free[k] + cm_dot(Wg[k], change)) * inverse[k]), d = next - x[k];
      change = cm_axpy(change, d, g[k]);
      step = fmax(step, fabs(d));
      x[k] = next;
    }
    if (step <= ENOUGH * fmax(total, cm_norm(change))) break;
  }
  return change;
}

// Sets the m unknowns of a member to where the momentum leads, and keeps where they were.
static void extrapolate(int m, double beta, double *x, double *before) {
  for (int k = 0; k < m; k++) {
    double now = x[k];
    x[k] += beta * (x[k] - before[k]);
    before[k] = now;
  }
}

// With d the change that a visit made to its unknowns.
static void count(carom_qp_tally *tally, double rho, double d, double x, double before) {
  tally->energy += rho * d * d;
  tally->turn -= rho * d * (x - before);
}

void carom_qp_visit_single(const carom_qp_system *s, const carom_qp_plan *plan, const carom_qp_single *single,
                           double beta, carom_qp_tally *tally) {
  const carom_qp_problem *p = &s->problem;
  const carom_qp_contact *c = &p->contacts[single->contact];
  size_t at = carom_qp_offset(s, single->contact);
  double *x = s->x + at, *before = plan->x_before + at, rho = s->rho[single->contact], y[64];
  extrapolate(s->width, beta, x, before);
  for (int k = 0; k < s->width; k++) y[k] = x[k];
  carom_vec3 u = relative_velocity(p, c, plan->V), d;
  if (s->options.cone == CAROM_QP_GENERATORS) {
    d = generator_change(s, single, u, x);
  } else {
    carom_vec3 g = cm_vec3(x[0], x[1], x[2]), now = circular_solution(single, c, g, u);
    d = cm_sub(now, g);
    x[0] = now.x, x[1] = now.y, x[2] = now.z;
  }
  push_point(p, c->a, c->arm_a, d, plan->V);
  push_point(p, c->b, c->arm_b, cm_neg(d), plan->V);
  tally->most = fmax(tally->most, rho * cm_norm(d));
  for (int k = 0; k < s->width; k++) count(tally, rho, x[k] - y[k], x[k], before[k]);
}

// ---- joints -----------------------------------------------------------------------------------

// Rows one by one within their bounds, until they agree.
static void bounded_change(const carom_qp_system *s, const carom_qp_joint *joint, const double *w, const double *x,
                           double *d) {
  for (int i = 0; i < joint->count; i++) d[i] = 0;
  for (int inner = 0; inner < INNER; inner++) {
    double step = 0, total = 0;
    for (int i = 0; i < joint->count; i++) {
      const carom_qp_row *row = &s->problem.rows[joint->first + i];
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
static void joint_change(const carom_qp_system *s, const carom_qp_joint *joint, const double *V, const double *x,
                         double *d) {
  const carom_qp_row *rows = &s->problem.rows[joint->first];
  int bodies = s->problem.body_count;
  const double *A = carom_qp_body_state(V, bodies, rows->a), *B = carom_qp_body_state(V, bodies, rows->b);
  double w[6];
  for (int i = 0; i < joint->count; i++)
    w[i] = carom_qp_dot6(rows[i].jacobian_a, A) + carom_qp_dot6(rows[i].jacobian_b, B) + rows[i].bias;
  if (!joint->free) {
    bounded_change(s, joint, w, x, d);
    return;
  }
  for (int i = 0; i < joint->count; i++) d[i] = -w[i];
  carom_small_cholesky_solve(joint->count, joint->L, 6, d);
}

void carom_qp_visit_joint(const carom_qp_system *s, const carom_qp_plan *plan, const carom_qp_joint *joint, double beta,
                          carom_qp_tally *tally) {
  int item = s->problem.contact_count + joint->first;
  size_t at = carom_qp_offset(s, item);
  double *x = s->x + at, *before = plan->x_before + at, d[6], wrench_a[6] = {0}, wrench_b[6] = {0};
  const carom_qp_row *rows = &s->problem.rows[joint->first];
  extrapolate(joint->count, beta, x, before);
  joint_change(s, joint, plan->V, x, d);
  for (int i = 0; i < joint->count; i++) {
    x[i] += d[i];
    tally->most = fmax(tally->most, s->rho[item + i] * fabs(d[i]));
    count(tally, s->rho[item + i], d[i], x[i], before[i]);
    for (int k = 0; k < 6; k++) {
      wrench_a[k] += d[i] * rows[i].jacobian_a[k];
      wrench_b[k] += d[i] * rows[i].jacobian_b[k];
    }
  }
  push(&s->problem, rows->a, wrench_a, plan->V);
  push(&s->problem, rows->b, wrench_b, plan->V);
}

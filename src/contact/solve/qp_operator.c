// N x = D' M^-1 D x through the bodies: every body gathers its impulses in ascending order of contacts, then every
// contact reads its two bodies. No body is written by two threads, so no sum depends on their number.
#include <string.h>

#include "base/simd.h"
#include "base/threads.h"
#include "contact/solve/qp.h"

carom_qp_totals carom_qp_run_pass(const carom_qp_system *s, carom_qp_pass *pass, void *context) {
  int items = s->problem.contact_count + s->problem.row_count;
  int blocks = (items + CAROM_QP_BLOCK - 1) / CAROM_QP_BLOCK;
  CAROM_PARALLEL_FOR(
      s->threads, schedule(static), for (int b = 0; b < blocks; b++) {
        int first = b * CAROM_QP_BLOCK, last = first + CAROM_QP_BLOCK < items ? first + CAROM_QP_BLOCK : items;
        carom_qp_totals block = {0};
        pass(context, first, last, &block);
        double *partial = s->partial + 8 * (size_t)b;
        memcpy(partial, block.sum, sizeof block.sum);
        partial[6] = block.max;
      });
  carom_qp_totals totals = {0};
  for (int b = 0; b < blocks; b++) {
    const double *partial = s->partial + 8 * (size_t)b;
    for (int k = 0; k < 6; k++) totals.sum[k] += partial[k];
    if (!(partial[6] <= totals.max)) totals.max = partial[6];  // a NaN stays
  }
  return totals;
}

// ---- unknowns to impulses ---------------------------------------------------------------------

// sum of x_s (n + mu d_s) / sqrt(1 + mu^2)
static carom_vec3 generated_impulse(const carom_qp_system *s, int c, const double *x) {
  const carom_qp_contact *contact = &s->problem.contacts[c];
  double mu = contact->friction, sum = 0, along = 0, across = 0, unit = 1 / sqrt(1 + mu * mu);
  for (int k = 0; k < s->width; k++) {
    sum += x[k];
    along += x[k] * s->cosine[k];
    across += x[k] * s->sine[k];
  }
  carom_vec3 f = cm_scale(unit * sum, contact->normal);
  f = cm_axpy(f, unit * mu * along, s->tangent[c]);
  return cm_axpy(f, unit * mu * across, cm_cross(contact->normal, s->tangent[c]));
}

static const carom_vec3 *impulses_of(carom_qp_system *s, const double *x) {
  if (s->options.cone == CAROM_QP_CIRCULAR) return (const carom_vec3 *)x;
  CAROM_PARALLEL_FOR(
      s->threads, schedule(static), for (int i = 0; i < s->problem.contact_count; i++) {
        s->impulse[i] = generated_impulse(s, i, x + (size_t)s->width * (size_t)i);
      });
  return s->impulse;
}

// ---- bodies gather ----------------------------------------------------------------------------

static void gather_body(const carom_qp_system *s, const carom_vec3 *f, const double *multipliers, int body) {
  const carom_qp_problem *p = &s->problem;
  double wrench[6] = {0};
  for (int k = s->incident_start[body]; k < s->incident_start[body + 1]; k++) {
    int item = s->incident[k] >> 1, side = s->incident[k] & 1;
    if (item < p->contact_count) {
      const carom_qp_contact *c = &p->contacts[item];
      carom_vec3 g = side ? cm_neg(f[item]) : f[item], t = cm_cross(side ? c->arm_b : c->arm_a, g);
      wrench[0] += g.x, wrench[1] += g.y, wrench[2] += g.z;
      wrench[3] += t.x, wrench[4] += t.y, wrench[5] += t.z;
    } else {
      const carom_qp_row *row = &p->rows[item - p->contact_count];
      const double *J = side ? row->jacobian_b : row->jacobian_a;
      for (int i = 0; i < 6; i++) wrench[i] += J[i] * multipliers[item - p->contact_count];
    }
  }
  carom_qp_mobility(p, body, wrench, s->change + CAROM_QP_STATE * (size_t)body);
}

// ---- contacts read ----------------------------------------------------------------------------

// D' V into y: world vectors, or along the unit generators.
static void read_contact(const carom_qp_system *s, const double *V, int i, double *y) {
  const carom_qp_contact *c = &s->problem.contacts[i];
  int bodies = s->problem.body_count;
  carom_vec3 u = cm_sub(carom_qp_point_velocity(carom_qp_body_state(V, bodies, c->a), c->arm_a),
                        carom_qp_point_velocity(carom_qp_body_state(V, bodies, c->b), c->arm_b));
  if (s->options.cone == CAROM_QP_CIRCULAR) {
    y[0] = u.x, y[1] = u.y, y[2] = u.z;
    return;
  }
  double mu = c->friction, unit = 1 / sqrt(1 + mu * mu), un = unit * cm_dot(u, c->normal);
  double u1 = unit * mu * cm_dot(u, s->tangent[i]);
  double u2 = unit * mu * cm_dot(u, cm_cross(c->normal, s->tangent[i]));
  for (int k = 0; k < s->width; k++) y[k] = un + s->cosine[k] * u1 + s->sine[k] * u2;
}

static double read_row(const carom_qp_system *s, const double *V, int i) {
  const carom_qp_row *row = &s->problem.rows[i];
  int bodies = s->problem.body_count;
  return carom_qp_dot6(row->jacobian_a, carom_qp_body_state(V, bodies, row->a)) +
         carom_qp_dot6(row->jacobian_b, carom_qp_body_state(V, bodies, row->b));
}

static void read_all(const carom_qp_system *s, const double *V, double *y) {
  int contacts = s->problem.contact_count;
  CAROM_PARALLEL_FOR(s->threads, schedule(static),
                     for (int i = 0; i < contacts; i++) read_contact(s, V, i, y + (size_t)s->width * (size_t)i));
  double *rows = y + (size_t)s->width * (size_t)contacts;
  for (int i = 0; i < s->problem.row_count; i++) rows[i] = read_row(s, V, i);
}

void carom_qp_apply(carom_qp_system *s, const double *x, double *Nx) {
  const carom_vec3 *f = impulses_of(s, x);
  const double *multipliers = x + (size_t)s->width * (size_t)s->problem.contact_count;
  CAROM_PARALLEL_FOR(s->threads, schedule(static),
                     for (int i = 0; i < s->problem.body_count; i++) gather_body(s, f, multipliers, i));
  read_all(s, s->change, Nx);
}

void carom_qp_right_hand_side(carom_qp_system *s) {
  read_all(s, s->state, s->r);
  for (int i = 0; i < s->problem.contact_count; i++) {
    const carom_qp_contact *c = &s->problem.contacts[i];
    double *r = s->r + (size_t)s->width * (size_t)i;
    if (s->options.cone == CAROM_QP_CIRCULAR) {
      r[0] += c->bias * c->normal.x, r[1] += c->bias * c->normal.y, r[2] += c->bias * c->normal.z;
    } else {
      double share = c->bias / sqrt(1 + c->friction * c->friction);
      for (int k = 0; k < s->width; k++) r[k] += share;
    }
  }
  double *rows = s->r + (size_t)s->width * (size_t)s->problem.contact_count;
  for (int i = 0; i < s->problem.row_count; i++) rows[i] += s->problem.rows[i].bias;
}

// N x = D' M^-1 D x through the bodies: every body gathers its impulses in ascending order of contacts, then every
// contact reads its two bodies. No body is written by two threads, so no sum depends on their number.
#include "base/threads.h"
#include "contact/solve/problem.h"

carom_contact_totals carom_contact_run_pass(const carom_contact_system *s, carom_contact_pass *pass, void *context) {
  int items = s->problem.contact_count + s->problem.row_count, size = CAROM_CONTACT_BLOCK;
  int count = (items + size - 1) / size;
  CAROM_PARALLEL_FOR(
      s->threads, schedule(static), for (int b = 0; b < count; b++) {
        s->partial[b] = (carom_contact_totals){0};
        pass(context, b * size, b + 1 < count ? (b + 1) * size : items, &s->partial[b]);
      });
  carom_contact_totals totals = {0};
  for (int b = 0; b < count; b++) {
    for (int k = 0; k < 6; k++) totals.sum[k] += s->partial[b].sum[k];
    if (!(s->partial[b].max <= totals.max)) totals.max = s->partial[b].max;  // a NaN stays
  }
  return totals;
}

// sum of x_s (n + mu d_s) / sqrt(1 + mu^2)
static carom_vec3 generated_impulse(const carom_contact_system *s, int c, const double *x) {
  const carom_contact_point *contact = &s->problem.contacts[c];
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

static void gather_body(const carom_contact_system *s, const carom_vec3 *f, const double *multipliers, int body) {
  const carom_contact_problem *p = &s->problem;
  double wrench[6] = {0};
  for (int k = s->incident_start[body]; k < s->incident_start[body + 1]; k++) {
    int item = s->incident[k] >> 1, row = item - p->contact_count;
    carom_contact_add_wrench(p, item, s->incident[k] & 1, row < 0 ? f[item] : cm_vec3(multipliers[row], 0, 0), wrench);
  }
  carom_contact_mobility(p, body, wrench, s->change + CAROM_CONTACT_STATE * (size_t)body);
}

// ---- contacts read ----------------------------------------------------------------------------

// D' V into y: world vectors, or along the unit generators.
static void read_contact(const carom_contact_system *s, const double *V, int i, double *y) {
  const carom_contact_point *c = &s->problem.contacts[i];
  int bodies = s->problem.body_count;
  carom_vec3 u = cm_sub(carom_contact_point_velocity(carom_contact_body_state(V, bodies, c->a), c->arm_a),
                        carom_contact_point_velocity(carom_contact_body_state(V, bodies, c->b), c->arm_b));
  if (s->options.cone == CAROM_CONTACT_CIRCULAR) {
    y[0] = u.x, y[1] = u.y, y[2] = u.z;
    return;
  }
  double mu = c->friction, unit = 1 / sqrt(1 + mu * mu), un = unit * cm_dot(u, c->normal);
  double u1 = unit * mu * cm_dot(u, s->tangent[i]);
  double u2 = unit * mu * cm_dot(u, cm_cross(c->normal, s->tangent[i]));
  for (int k = 0; k < s->width; k++) y[k] = un + s->cosine[k] * u1 + s->sine[k] * u2;
}

static double read_row(const carom_contact_system *s, const double *V, int i) {
  const carom_contact_row *row = &s->problem.rows[i];
  int bodies = s->problem.body_count;
  return carom_contact_dot6(row->jacobian_a, carom_contact_body_state(V, bodies, row->a)) +
         carom_contact_dot6(row->jacobian_b, carom_contact_body_state(V, bodies, row->b));
}

static void read_all(const carom_contact_system *s, const double *V, double *y) {
  int contacts = s->problem.contact_count;
  CAROM_PARALLEL_FOR(s->threads, schedule(static),
                     for (int i = 0; i < contacts; i++) read_contact(s, V, i, y + (size_t)s->width * (size_t)i));
  for (int i = 0; i < s->problem.row_count; i++) y[carom_contact_offset(s, contacts + i)] = read_row(s, V, i);
}

void carom_contact_apply(carom_contact_system *s, const double *x, double *Nx) {
  bool circular = s->options.cone == CAROM_CONTACT_CIRCULAR;
  const carom_vec3 *f = circular ? (const carom_vec3 *)x : s->impulse;
  const double *multipliers = x + (size_t)s->width * (size_t)s->problem.contact_count;
  if (!circular)
    CAROM_PARALLEL_FOR(s->threads, schedule(static),
                       for (int i = 0; i < s->problem.contact_count; i++) s->impulse[i] =
                           generated_impulse(s, i, x + (size_t)s->width * (size_t)i));
  CAROM_PARALLEL_FOR(s->threads, schedule(static),
                     for (int i = 0; i < s->problem.body_count; i++) gather_body(s, f, multipliers, i));
  read_all(s, s->change, Nx);
}

void carom_contact_right_hand_side(carom_contact_system *s) {
  read_all(s, s->state, s->r);
  for (int i = 0; i < s->problem.contact_count; i++) {
    const carom_contact_point *c = &s->problem.contacts[i];
    double *r = s->r + (size_t)s->width * (size_t)i;
    if (s->options.cone == CAROM_CONTACT_CIRCULAR) {
      r[0] += c->bias * c->normal.x, r[1] += c->bias * c->normal.y, r[2] += c->bias * c->normal.z;
    } else {
      double share = c->bias / sqrt(1 + c->friction * c->friction);
      for (int k = 0; k < s->width; k++) r[k] += share;
    }
  }
  double *rows = s->r + (size_t)s->width * (size_t)s->problem.contact_count;
  for (int i = 0; i < s->problem.row_count; i++) rows[i] += s->problem.rows[i].bias;
}

// N x = D' M^-1 D x through the bodies: every body gathers its impulses in ascending order of contacts, then every
// contact reads its two bodies. No body is written by two threads, so no sum depends on their number.
#include <string.h>

#include "base/simd.h"
#include "contact/solve/problem.h"

void carom_contact_share_out(const carom_contact_system *s, int count, carom_contact_stretch *stretch, void *context) {
  if (s->threads == 1) {
    stretch(context, 0, count);
    return;
  }
#pragma omp parallel for num_threads(s->threads) schedule(static)
  for (int t = 0; t < s->threads; t++)
    stretch(context, (int)((int64_t)count * t / s->threads), (int)((int64_t)count * (t + 1) / s->threads));
}

typedef struct blocks {
  const carom_contact_system *s;
  carom_contact_pass *pass;
  void *context;
  int items;
} blocks;

static void run_blocks(void *context, int first, int last) {
  const blocks *all = context;
  for (int b = first; b < last; b++) {
    int begin = b * CAROM_CONTACT_BLOCK,
        end = begin + CAROM_CONTACT_BLOCK < all->items ? begin + CAROM_CONTACT_BLOCK : all->items;
    carom_contact_totals block = {0};
    all->pass(all->context, begin, end, &block);
    double *partial = all->s->partial + 8 * (size_t)b;
    memcpy(partial, block.sum, sizeof block.sum);
    partial[6] = block.max;
  }
}

carom_contact_totals carom_contact_run_pass(const carom_contact_system *s, carom_contact_pass *pass, void *context) {
  blocks all = {s, pass, context, s->problem.contact_count + s->problem.row_count};
  int count = (all.items + CAROM_CONTACT_BLOCK - 1) / CAROM_CONTACT_BLOCK;
  carom_contact_share_out(s, count, run_blocks, &all);
  carom_contact_totals totals = {0};
  for (int b = 0; b < count; b++) {
    const double *partial = s->partial + 8 * (size_t)b;
    for (int k = 0; k < 6; k++) totals.sum[k] += partial[k];
    if (!(partial[6] <= totals.max)) totals.max = partial[6];  // a NaN stays
  }
  return totals;
}

// ---- unknowns to impulses ---------------------------------------------------------------------

typedef struct product {
  const carom_contact_system *s;
  const double *x;      // unknowns
  const carom_vec3 *f;  // their impulses
  const double *V;      // velocities that are read
  double *y;            // the product
} product;

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

static void generate(void *context, int first, int last) {
  const product *p = context;
  const carom_contact_system *s = p->s;
  for (int i = first; i < last; i++) s->impulse[i] = generated_impulse(s, i, p->x + (size_t)s->width * (size_t)i);
}

static const carom_vec3 *impulses_of(product *p) {
  if (p->s->options.cone == CAROM_CONTACT_CIRCULAR) return (const carom_vec3 *)p->x;
  carom_contact_share_out(p->s, p->s->problem.contact_count, generate, p);
  return p->s->impulse;
}

// ---- bodies gather ----------------------------------------------------------------------------

static void gather_body(const carom_contact_system *s, const carom_vec3 *f, const double *multipliers, int body) {
  const carom_contact_problem *p = &s->problem;
  double wrench[6] = {0};
  for (int k = s->incident_start[body]; k < s->incident_start[body + 1]; k++) {
    int item = s->incident[k] >> 1, row = item - p->contact_count;
    carom_contact_add_wrench(p, item, s->incident[k] & 1, row < 0 ? f[item] : cm_vec3(multipliers[row], 0, 0), wrench);
  }
  carom_contact_mobility(p, body, wrench, s->change + CAROM_CONTACT_STATE * (size_t)body);
}

static void gather(void *context, int first, int last) {
  const product *p = context;
  const double *multipliers = p->x + (size_t)p->s->width * (size_t)p->s->problem.contact_count;
  for (int i = first; i < last; i++) gather_body(p->s, p->f, multipliers, i);
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

static void read_contacts(void *context, int first, int last) {
  const product *p = context;
  for (int i = first; i < last; i++) read_contact(p->s, p->V, i, p->y + (size_t)p->s->width * (size_t)i);
}

static void read_all(product *p) {
  int contacts = p->s->problem.contact_count;
  carom_contact_share_out(p->s, contacts, read_contacts, p);
  double *rows = p->y + (size_t)p->s->width * (size_t)contacts;
  for (int i = 0; i < p->s->problem.row_count; i++) rows[i] = read_row(p->s, p->V, i);
}

void carom_contact_apply(carom_contact_system *s, const double *x, double *Nx) {
  product p = {.s = s, .x = x, .V = s->change, .y = Nx};
  p.f = impulses_of(&p);
  carom_contact_share_out(s, s->problem.body_count, gather, &p);
  read_all(&p);
}

void carom_contact_right_hand_side(carom_contact_system *s) {
  read_all(&(product){.s = s, .V = s->state, .y = s->r});
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

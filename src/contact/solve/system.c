// Makes a problem ready: free velocities, the contacts of every body, the scale of every block of N, and the way
// between impulses and unknowns.
#include "contact/solve/problem.h"

#include <math.h>
#include <string.h>

#include "contact/solve/disc.h"

// 1/m + hat(r)' I^-1 hat(r): what a force at the arm's end does there.
static carom_mat3 point_mobility(const carom_contact_problem *problem, int body, carom_vec3 arm) {
  carom_mat3 W = {0};
  if (body < 0) return W;
  const carom_contact_body *b = &problem->bodies[body];
  const double *I = b->inverse_inertia;
  carom_mat3 inertia = {{{I[0], I[3], I[4]}, {I[3], I[1], I[5]}, {I[4], I[5], I[2]}}};
  carom_mat3 R = cm_hat(arm);
  W = cm_mmul(cm_transpose(R), cm_mmul(inertia, R));
  for (int k = 0; k < 3; k++) W.m[k][k] += b->inverse_mass;
  return W;
}

carom_contact_local carom_contact_local_of(const carom_contact_problem *problem, const carom_contact_point *c) {
  carom_mat3 W = cm_madd(point_mobility(problem, c->a, c->arm_a), point_mobility(problem, c->b, c->arm_b));
  carom_contact_local k = {.axis = {c->normal}};
  carom_vec3 u, v, Wn = cm_mulv(W, c->normal);
  cm_frame(c->normal, &u, &v);
  carom_vec3 Wu = cm_mulv(W, u), Wv = cm_mulv(W, v);
  double axis[2];
  carom_disc_axes((double[3]){cm_dot(u, Wu), cm_dot(u, Wv), cm_dot(v, Wv)}, k.tt, axis);
  k.axis[1] = cm_axpy(cm_scale(axis[0], u), axis[1], v);
  k.axis[2] = cm_axpy(cm_scale(axis[0], v), -axis[1], u);
  k.nn = cm_dot(c->normal, Wn);
  for (int i = 0; i < 2; i++) k.nt[i] = cm_dot(k.axis[1 + i], Wn);
  return k;
}

void carom_contact_system_push(carom_contact_system *s, carom_arena *arena) {
  size_t bodies = (size_t)s->problem.body_count, contacts = (size_t)s->problem.contact_count;
  size_t items = contacts + (size_t)s->problem.row_count, n = (size_t)s->n;
  bool generators = s->options.cone == CAROM_CONTACT_GENERATORS;
  s->state = CAROM_PUSH(arena, double, CAROM_CONTACT_STATE *(bodies + 1));
  s->change = CAROM_PUSH(arena, double, CAROM_CONTACT_STATE *(bodies + 1));
  s->incident_start = CAROM_PUSH(arena, int, bodies + 1);
  s->incident = CAROM_PUSH(arena, int, 2 * items);
  s->rho = CAROM_PUSH(arena, double, items);
  s->r = CAROM_PUSH(arena, double, n);
  s->x = CAROM_PUSH(arena, double, n);
  s->w = CAROM_PUSH(arena, double, n);
  s->partial = CAROM_PUSH(arena, carom_contact_totals, items / CAROM_CONTACT_BLOCK + 1);
  if (!generators) return;
  s->tangent = CAROM_PUSH(arena, carom_vec3, contacts);
  s->impulse = CAROM_PUSH(arena, carom_vec3, contacts);
  s->cosine = CAROM_PUSH(arena, double, s->width);
  s->sine = CAROM_PUSH(arena, double, s->width);
}

// The inverse inertia when it is the same about every axis, else NaN.
static double isotropic_inertia(const carom_contact_body *b) {
  const double *I = b->inverse_inertia;
  bool same = I[0] == I[1] && I[1] == I[2] && I[3] == 0 && I[4] == 0 && I[5] == 0;
  return same ? I[0] : NAN;
}

static void fill_state(carom_contact_system *s) {
  for (int i = 0; i < s->problem.body_count; i++) {
    const carom_contact_body *b = &s->problem.bodies[i];
    double *V = s->state + (size_t)CAROM_CONTACT_STATE * (size_t)i;
    V[0] = b->velocity.x, V[1] = b->velocity.y, V[2] = b->velocity.z;
    V[3] = b->spin.x, V[4] = b->spin.y, V[5] = b->spin.z;
    V[6] = b->inverse_mass, V[7] = isotropic_inertia(b);
  }
  memset(s->state + (size_t)CAROM_CONTACT_STATE * (size_t)s->problem.body_count, 0,
         CAROM_CONTACT_STATE * sizeof(double));
  memset(s->change, 0, CAROM_CONTACT_STATE * ((size_t)s->problem.body_count + 1) * sizeof(double));
}

// Body to contacts and rows, as compressed rows; each body's list ascends, which fixes the order of its sums.
static void fill_incidence(carom_contact_system *s) {
  const carom_contact_problem *p = &s->problem;
  int *start = s->incident_start, items = p->contact_count + p->row_count, body[2];
  memset(start, 0, ((size_t)p->body_count + 1) * sizeof *start);
  for (int i = 0; i < items; i++) {
    carom_contact_bodies_of(p, i, body);
    if (body[0] >= 0) start[body[0]]++;
    if (body[1] >= 0) start[body[1]]++;
  }
  for (int i = 0, sum = 0; i <= p->body_count; i++) sum += start[i], start[i] = sum;  // ends, until filled
  for (int i = items - 1; i >= 0; i--) {
    carom_contact_bodies_of(p, i, body);
    for (int side = 1; side >= 0; side--)
      if (body[side] >= 0) s->incident[--start[body[side]]] = 2 * i + side;
  }
}

static double row_scale(const carom_contact_problem *p, const carom_contact_row *row) {
  double a[6], b[6];
  carom_contact_mobility(p, row->a, row->jacobian_a, a);
  carom_contact_mobility(p, row->b, row->jacobian_b, b);
  return carom_contact_dot6(row->jacobian_a, a) + carom_contact_dot6(row->jacobian_b, b);
}

// |hat(r)|^2 terms of the trace: tr(hat(r)' I^-1 hat(r)) = |r|^2 tr(I^-1) - r' I^-1 r.
static double trace_share(const carom_contact_problem *p, int body, carom_vec3 arm) {
  if (body < 0) return 0;
  const carom_contact_body *b = &p->bodies[body];
  const double *I = b->inverse_inertia;
  double xx = arm.x * arm.x, yy = arm.y * arm.y, zz = arm.z * arm.z;
  double cross = 2 * (I[3] * arm.x * arm.y + I[4] * arm.x * arm.z + I[5] * arm.y * arm.z);
  return 3 * b->inverse_mass + I[0] * (yy + zz) + I[1] * (xx + zz) + I[2] * (xx + yy) - cross;
}

static void fill_scales(carom_contact_system *s) {
  const carom_contact_problem *p = &s->problem;
  for (int i = 0; i < p->contact_count; i++) {
    const carom_contact_point *c = &p->contacts[i];
    s->rho[i] = (trace_share(p, c->a, c->arm_a) + trace_share(p, c->b, c->arm_b)) / 3;
  }
  for (int i = 0; i < p->row_count; i++) s->rho[p->contact_count + i] = row_scale(p, &p->rows[i]);
}

// Tangents made square to the normal, and the angles of the generators: 2 pi s / p, s = 1 .. p (Gavrea 2.3.3).
static void fill_generators(carom_contact_system *s) {
  for (int k = 0; k < s->width; k++) {
    double angle = 2 * acos(-1.0) * (k + 1) / s->width;
    s->cosine[k] = cos(angle), s->sine[k] = sin(angle);
  }
  for (int i = 0; i < s->problem.contact_count; i++) {
    const carom_contact_point *c = &s->problem.contacts[i];
    carom_vec3 t = cm_axpy(c->tangent, -cm_dot(c->tangent, c->normal), c->normal), v;
    if (cm_norm2(t) > 1e-12)
      s->tangent[i] = cm_unit(t);
    else
      cm_frame(c->normal, &s->tangent[i], &v);
  }
}

void carom_contact_system_prepare(carom_contact_system *s) {
  fill_state(s);
  fill_incidence(s);
  fill_scales(s);
  if (s->options.cone == CAROM_CONTACT_GENERATORS) fill_generators(s);
  carom_contact_right_hand_side(s);
  // Zero impulses have x = 0, so w = r. That residual is what doing nothing would leave.
  memset(s->x, 0, (size_t)s->n * sizeof *s->x);
  double nothing = carom_contact_residual_of(s, s->x, s->r);
  s->scale = s->options.velocity_scale > 0 && nothing > 0 ? s->options.velocity_scale : nothing;
}

// ---- impulses and unknowns --------------------------------------------------------------------

// Weights of unit generators for an impulse in the cone: the two generators on either side of the tangential part carry
// it, the rest of the normal part is spread evenly, which has no tangential part since the generators' sum has none.
static void weights_of(const carom_contact_system *s, int c, carom_vec3 f, double *x) {
  const carom_contact_point *contact = &s->problem.contacts[c];
  int p = s->width;
  double mu = contact->friction, fn = cm_dot(f, contact->normal), unit = sqrt(1 + mu * mu), pi = acos(-1.0);
  double t1 = cm_dot(f, s->tangent[c]), t2 = cm_dot(f, cm_cross(contact->normal, s->tangent[c]));
  for (int k = 0; k < p; k++) x[k] = 0;
  if (!(fn > 0)) return;
  double angle = atan2(t2, t1);
  if (angle < 0) angle += 2 * pi;
  int sector = (int)floor(angle * p / (2 * pi));  // between generators `sector` and `sector + 1`; number p is number 0
  if (sector >= p) sector = p - 1;
  double offset = angle - 2 * pi * sector / p, wide = 2 * pi / p, t = hypot(t1, t2), used = 0;
  double low = t * sin(wide - offset) / sin(wide), high = t * sin(offset) / sin(wide);
  if (mu > 0) low = fmax(0, low / mu), high = fmax(0, high / mu), used = low + high;
  if (mu == 0) low = high = 0;
  if (used > fn) low *= fn / used, high *= fn / used, used = fn;
  for (int k = 0; k < p; k++) x[k] = (fn - used) / p * unit;
  x[(sector + p - 1) % p] += low * unit;  // x[k] weighs generator k + 1
  x[sector] += high * unit;
}

static void load_contact(carom_contact_system *s, int i, carom_vec3 f) {
  const carom_contact_point *c = &s->problem.contacts[i];
  double *x = s->x + (size_t)s->width * (size_t)i;
  f = s->rho[i] > 0 ? carom_contact_project_circular(f, c->normal, c->friction) : cm_zero3();
  if (s->options.cone == CAROM_CONTACT_GENERATORS) {
    weights_of(s, i, f, x);
  } else {
    x[0] = f.x, x[1] = f.y, x[2] = f.z;
  }
}

void carom_contact_load(carom_contact_system *s, const carom_contact_solution *solution) {
  const carom_contact_problem *p = &s->problem;
  if (!solution) return;  // x is zero already
  for (int i = 0; i < p->contact_count; i++) load_contact(s, i, solution->impulses[i]);
  double *x = s->x + (size_t)s->width * (size_t)p->contact_count;
  for (int i = 0; i < p->row_count; i++) {
    bool moves = s->rho[p->contact_count + i] > 0;
    x[i] = moves ? fmin(fmax(solution->multipliers[i], p->rows[i].lower), p->rows[i].upper) : 0;
  }
}

// Expects carom_contact_apply to have been called with s->x last.
void carom_contact_store(carom_contact_system *s, const carom_contact_solution *solution) {
  const carom_contact_problem *p = &s->problem;
  const carom_vec3 *f = s->options.cone == CAROM_CONTACT_GENERATORS ? s->impulse : (const carom_vec3 *)s->x;
  if (p->contact_count) memcpy(solution->impulses, f, (size_t)p->contact_count * sizeof *f);
  const double *x = s->x + (size_t)s->width * (size_t)p->contact_count;
  for (int i = 0; i < p->row_count; i++) solution->multipliers[i] = x[i];
  for (int i = 0; i < p->body_count; i++) {
    const double *V = s->state + CAROM_CONTACT_STATE * (size_t)i, *d = s->change + CAROM_CONTACT_STATE * (size_t)i;
    if (solution->velocities) solution->velocities[i] = cm_vec3(V[0] + d[0], V[1] + d[1], V[2] + d[2]);
    if (solution->spins) solution->spins[i] = cm_vec3(V[3] + d[3], V[4] + d[4], V[5] + d[5]);
  }
}

// Newton's method on Coulomb's law, where sweeps converge slowly (rings, arches and stacks). The unknowns are the
// velocities V of the bodies that move,
//
//     M (V - V_free) = D gamma(w),   w = D' V + bias,
//     gamma_n = max(0, g_n - w_n / r),   gamma_t = g_t - w_t / r, cut back to |gamma_t| <= mu gamma_n,
//
// the augmented Lagrangian of Alart and Curnier (1991) with g the impulses of the round before; when g no longer
// changes, gamma satisfies the law exactly. Rows likewise, cut back to their bounds.
#include <math.h>
#include <string.h>

#include "contact/solve/problem.h"
#include "math/dense.h"

enum { MAX_STEPS = 30, MAX_HALVINGS = 8 };
// r over the contact's own mobility rho. Larger where the method fails, so that the laws have no sharp corners where
// they are met; small in the end, so that the rounds converge even where contacts share a load in many ways.
static const double SOFTEST = 0.1, FIRST = 1e-3, HARDEST = 1e-7, HARDENING = 0.1;
static const double SLOW = 0.3;  // a round that leaves more than this of the residual is slow

typedef struct newton {
  carom_contact_system *s;
  int count;           // bodies that move
  int *place;          // (bodies) number of a body among those, or -1
  int *body;           // (count)
  double soft;         // r / rho of this round
  double *K;           // (6 count)^2
  double *V, *V_free;  // (6 count)
  double *trial, *G, *step;
  int *pivot;           // (6 count)
  carom_mat3 *inertia;  // (count)
  double *x;            // (n) impulses at the velocities looked at last
  double *g;            // (n) impulses of the round before
  double *best;         // (n)
  double least;         // residual of the best
} newton;

static int count_moving(const carom_contact_problem *p) {
  int count = 0;
  for (int i = 0; i < p->body_count; i++) count += !p->bodies || carom_contact_can_move(p, i);
  return count;
}

static void take(newton *m, const carom_contact_system *s, carom_contact_taker *taker) {
  m->count = count_moving(&s->problem);
  size_t dofs = 6 * (size_t)m->count;
  m->place = CAROM_CONTACT_TAKE(taker, int, s->problem.body_count);
  m->body = CAROM_CONTACT_TAKE(taker, int, m->count);
  m->inertia = CAROM_CONTACT_TAKE(taker, carom_mat3, m->count);
  m->K = CAROM_CONTACT_TAKE(taker, double, dofs *dofs);
  m->pivot = CAROM_CONTACT_TAKE(taker, int, dofs);
  double **const velocities[] = {&m->V, &m->V_free, &m->trial, &m->G, &m->step};
  for (size_t i = 0; i < sizeof velocities / sizeof *velocities; i++)
    *velocities[i] = CAROM_CONTACT_TAKE(taker, double, dofs);
  double **const unknowns[] = {&m->x, &m->g, &m->best};
  carom_contact_take_vectors(taker, s, unknowns, sizeof unknowns / sizeof *unknowns);
}

size_t carom_contact_newton_bytes(const carom_contact_system *s) {
  newton m;
  carom_contact_taker taker = {0};
  take(&m, s, &taker);
  return taker.bytes;
}

// ---- bodies -----------------------------------------------------------------------------------

// What cannot turn takes no moment, so that any inertia will do.
static carom_mat3 inertia_of(const carom_contact_body *b) {
  const double *I = b->inverse_inertia;
  carom_mat3 inverse = {{{I[0], I[3], I[4]}, {I[3], I[1], I[5]}, {I[4], I[5], I[2]}}}, inertia;
  return cm_inverse3(inverse, &inertia) ? inertia : cm_identity3();
}

static double mass_of(const newton *m, int i) {
  double inverse = m->s->problem.bodies[m->body[i]].inverse_mass;
  return inverse > 0 ? 1 / inverse : 1;
}

static void load_bodies(newton *m) {
  const carom_contact_problem *p = &m->s->problem;
  int count = 0;
  for (int i = 0; i < p->body_count; i++) {
    m->place[i] = carom_contact_can_move(p, i) ? count : -1;
    if (m->place[i] < 0) continue;
    m->body[count] = i;
    m->inertia[count] = inertia_of(&p->bodies[i]);
    memcpy(m->V_free + 6 * count, m->s->state + CAROM_CONTACT_STATE * (size_t)i, 6 * sizeof(double));
    count++;
  }
}

// The velocities that belong to the impulses x; leaves w there, and returns the residual.
static double take_up(newton *m, const double *x, double *V) {
  carom_contact_system *s = m->s;
  carom_contact_apply(s, x, s->w);
  for (int i = 0; i < s->n; i++) s->w[i] += s->r[i];
  for (int i = 0; V && i < m->count; i++)
    for (int k = 0; k < 6; k++)
      V[6 * i + k] = m->V_free[6 * i + k] + s->change[CAROM_CONTACT_STATE * (size_t)m->body[i] + (size_t)k];
  return carom_contact_residual_of(s, x, s->w);
}

// Six numbers of a body: from V where it moves, else as given.
static const double *twist_of(const newton *m, const double *V, int body) {
  if (body >= 0 && m->place[body] >= 0) return V + 6 * m->place[body];
  return carom_contact_body_state(m->s->state, m->s->problem.body_count, body);
}

// ---- the law ----------------------------------------------------------------------------------

// gamma(w) of a contact, and D = -d gamma / dw when asked for. World vectors.
static carom_vec3 contact_law(const carom_contact_point *c, double r, carom_vec3 g, carom_vec3 w, carom_mat3 *D) {
  carom_vec3 n = c->normal, pull = cm_axpy(g, -1 / r, w);
  double size = cm_dot(pull, n);
  if (D) *D = (carom_mat3){0};
  if (!(size > 0)) return cm_zero3();
  carom_vec3 t = c->friction > 0 ? cm_axpy(pull, -size, n) : cm_zero3();
  double length = cm_norm(t), limit = c->friction * size;
  bool sticks = c->friction > 0 && length <= limit;
  double factor = c->friction == 0 ? 0 : sticks ? 1 : limit / length;
  if (D) {
    carom_vec3 slip = sticks || length == 0 ? cm_zero3() : cm_scale(1 / length, t);
    carom_mat3 nn = cm_outer(n, n), across = cm_msub(cm_msub(cm_identity3(), nn), cm_outer(slip, slip));
    *D = cm_madd(cm_mscale(1 / r, nn), cm_mscale(factor / r, across));
    *D = cm_madd(*D, cm_mscale(c->friction / r, cm_outer(slip, n)));
  }
  return cm_axpy(cm_scale(size, n), factor, t);
}

static carom_vec3 contact_speed(const newton *m, const carom_contact_point *c, const double *V) {
  carom_vec3 u = cm_sub(carom_contact_point_velocity(twist_of(m, V, c->a), c->arm_a),
                        carom_contact_point_velocity(twist_of(m, V, c->b), c->arm_b));
  return cm_axpy(u, c->bias, c->normal);
}

static double row_speed(const newton *m, const carom_contact_row *row, const double *V) {
  return carom_contact_dot6(row->jacobian_a, twist_of(m, V, row->a)) +
         carom_contact_dot6(row->jacobian_b, twist_of(m, V, row->b)) + row->bias;
}

// ---- the equations ----------------------------------------------------------------------------

static void add_point(const newton *m, int body, carom_vec3 arm, carom_vec3 f) {
  if (body < 0 || m->place[body] < 0) return;
  double *G = m->G + 6 * m->place[body];
  carom_vec3 l = cm_cross(arm, f);
  G[0] += f.x, G[1] += f.y, G[2] += f.z, G[3] += l.x, G[4] += l.y, G[5] += l.z;
}

static void add_wrench(const newton *m, int body, double impulse, const double J[6]) {
  if (body < 0 || m->place[body] < 0) return;
  for (int k = 0; k < 6; k++) m->G[6 * m->place[body] + k] += impulse * J[k];
}

// G = D gamma - M (V - V_free), gamma being put into x; returns the size of G in the norm of M^-1.
static double equations(newton *m, const double *V) {
  const carom_contact_system *s = m->s;
  const carom_contact_problem *p = &s->problem;
  for (int i = 0; i < m->count; i++) {
    double d[6], *G = m->G + 6 * i, mass = mass_of(m, i);
    for (int k = 0; k < 6; k++) d[k] = m->V_free[6 * i + k] - V[6 * i + k];
    carom_vec3 l = cm_mulv(m->inertia[i], cm_vec3(d[3], d[4], d[5]));
    G[0] = mass * d[0], G[1] = mass * d[1], G[2] = mass * d[2], G[3] = l.x, G[4] = l.y, G[5] = l.z;
  }
  for (int i = 0; i < p->contact_count; i++) {
    const carom_contact_point *c = &p->contacts[i];
    if (!(s->rho[i] > 0)) continue;
    carom_vec3 g = cm_vec3(m->g[3 * i], m->g[3 * i + 1], m->g[3 * i + 2]);
    carom_vec3 f = contact_law(c, m->soft * s->rho[i], g, contact_speed(m, c, V), NULL);
    m->x[3 * i] = f.x, m->x[3 * i + 1] = f.y, m->x[3 * i + 2] = f.z;
    add_point(m, c->a, c->arm_a, f);
    add_point(m, c->b, c->arm_b, cm_neg(f));
  }
  for (int i = 0; i < p->row_count; i++) {
    const carom_contact_row *row = &p->rows[i];
    int k = 3 * p->contact_count + i;
    double rho = s->rho[p->contact_count + i];
    if (!(rho > 0)) continue;
    m->x[k] = fmin(fmax(m->g[k] - row_speed(m, row, V) / (m->soft * rho), row->lower), row->upper);
    add_wrench(m, row->a, m->x[k], row->jacobian_a);
    add_wrench(m, row->b, m->x[k], row->jacobian_b);
  }
  double size = 0;
  for (int i = 0; i < m->count; i++) {
    double twist[6];
    carom_contact_mobility(p, m->body[i], m->G + 6 * i, twist);
    size += carom_contact_dot6(twist, m->G + 6 * i);
  }
  return sqrt(size);
}

// ---- their matrix -----------------------------------------------------------------------------

static double *block_of(const newton *m, int a, int b) {
  return m->K + 6 * m->place[a] + (size_t)(6 * m->place[b]) * (size_t)(6 * m->count);
}

static bool moves(const newton *m, int body) { return body >= 0 && m->place[body] >= 0; }

// K += sign [1 R']' D [1 R'], with R = hat(arm): what an impulse on `a` answers to the velocity of `b`.
static void add_block(const newton *m, int a, carom_vec3 arm_a, int b, carom_vec3 arm_b, const carom_mat3 *D,
                      double sign) {
  if (!moves(m, a) || !moves(m, b)) return;
  double *K = block_of(m, a, b);
  int lda = 6 * m->count;
  carom_mat3 Ra = cm_hat(arm_a), Rb = cm_transpose(cm_hat(arm_b)), DR = cm_mmul(*D, Rb), RD = cm_mmul(Ra, *D);
  carom_mat3 RDR = cm_mmul(Ra, DR);
  for (int j = 0; j < 3; j++)
    for (int i = 0; i < 3; i++) {
      K[i + j * lda] += sign * D->m[i][j];
      K[i + (3 + j) * lda] += sign * DR.m[i][j];
      K[3 + i + j * lda] += sign * RD.m[i][j];
      K[3 + i + (3 + j) * lda] += sign * RDR.m[i][j];
    }
}

static void add_contact(const newton *m, const carom_contact_point *c, const carom_mat3 *D) {
  add_block(m, c->a, c->arm_a, c->a, c->arm_a, D, 1);
  add_block(m, c->b, c->arm_b, c->b, c->arm_b, D, 1);
  add_block(m, c->a, c->arm_a, c->b, c->arm_b, D, -1);
  add_block(m, c->b, c->arm_b, c->a, c->arm_a, D, -1);
}

static void add_row(const newton *m, const carom_contact_row *row, double D) {
  int body[2] = {row->a, row->b}, lda = 6 * m->count;
  const double *J[2] = {row->jacobian_a, row->jacobian_b};
  for (int p = 0; p < 2; p++)
    for (int q = 0; q < 2; q++) {
      if (!moves(m, body[p]) || !moves(m, body[q])) continue;
      double *K = block_of(m, body[p], body[q]);
      for (int j = 0; j < 6; j++)
        for (int i = 0; i < 6; i++) K[i + j * lda] += D * J[p][i] * J[q][j];
    }
}

static void assemble(newton *m) {
  const carom_contact_system *s = m->s;
  const carom_contact_problem *p = &s->problem;
  int lda = 6 * m->count;
  memset(m->K, 0, (size_t)lda * (size_t)lda * sizeof *m->K);
  for (int i = 0; i < m->count; i++) {
    double *K = m->K + 6 * i + (size_t)(6 * i) * (size_t)lda;
    for (int j = 0; j < 3; j++) K[j + j * lda] = mass_of(m, i);
    for (int j = 0; j < 3; j++)
      for (int k = 0; k < 3; k++) K[3 + j + (3 + k) * lda] = m->inertia[i].m[j][k];
  }
  for (int i = 0; i < p->contact_count; i++) {
    const carom_contact_point *c = &p->contacts[i];
    if (!(s->rho[i] > 0)) continue;
    carom_vec3 g = cm_vec3(m->g[3 * i], m->g[3 * i + 1], m->g[3 * i + 2]);
    carom_mat3 D;
    carom_vec3 f = contact_law(c, m->soft * s->rho[i], g, contact_speed(m, c, m->V), &D);
    if (cm_norm2(f) > 0) add_contact(m, c, &D);
  }
  for (int i = 0; i < p->row_count; i++) {
    const carom_contact_row *row = &p->rows[i];
    double r = m->soft * s->rho[p->contact_count + i];
    if (!(r > 0)) continue;
    double f = m->g[3 * p->contact_count + i] - row_speed(m, row, m->V) / r;
    if (f > row->lower && f < row->upper) add_row(m, row, 1 / r);
  }
}

// ---- Newton's method --------------------------------------------------------------------------

// One damped step; returns the size of G after it, or the old one when there was no progress.
static double newton_step(newton *m, double size) {
  int dofs = 6 * m->count;
  assemble(m);
  memcpy(m->step, m->G, (size_t)dofs * sizeof *m->G);
  if (carom_small_lu(dofs, m->K, dofs, m->pivot) != CAROM_OK) return size;
  carom_small_lu_solve(dofs, m->K, dofs, m->pivot, m->step);
  double length = 1;
  for (int k = 0; k <= MAX_HALVINGS; k++, length *= 0.5) {
    for (int i = 0; i < dofs; i++) m->trial[i] = m->V[i] + length * m->step[i];
    double now = equations(m, m->trial);
    if (!(now < (1 - 1e-4 * length) * size)) continue;
    memcpy(m->V, m->trial, (size_t)dofs * sizeof *m->V);
    return now;
  }
  return size;
}

// False when the iteration got stuck away from a solution.
static bool find_velocities(newton *m, double enough, carom_contact_info *info) {
  double size = equations(m, m->V), first = size;
  for (int k = 0; k < MAX_STEPS && size > enough; k++) {
    double now = newton_step(m, size);
    info->products++;
    if (!(now < 0.9 * size)) break;
    size = now;
  }
  equations(m, m->V);  // impulses at the velocities that were taken
  return size <= fmax(enough, 1e-6 * first);
}

static void copy(const newton *m, double *to, const double *from) { memcpy(to, from, (size_t)m->s->n * sizeof *to); }

// One round: new impulses from those of the round before. False when it found none.
static bool improve(newton *m, double enough, carom_contact_info *info) {
  copy(m, m->g, m->x);
  bool found = find_velocities(m, 1e-3 * enough * sqrt(mass_of(m, 0)), info);
  double now = take_up(m, m->x, NULL);
  if (now < m->least) {
    m->least = now;
    copy(m, m->best, m->x);
  }
  return found;
}

carom_status carom_contact_newton(carom_contact_system *s, carom_arena *arena, carom_contact_info *info,
                                  carom_error *error) {
  (void)error;
  newton m = {.s = s, .soft = FIRST};
  carom_contact_taker taker = {.arena = arena};
  take(&m, s, &taker);
  load_bodies(&m);
  copy(&m, m.x, s->x);
  copy(&m, m.best, s->x);
  m.least = take_up(&m, m.x, m.V);
  double enough = s->options.tolerance * s->scale, hardening = HARDENING;
  while (m.least > enough && info->iterations < s->options.max_iterations) {
    double before = m.least;
    bool found = improve(&m, enough, info);
    info->iterations++;
    if (m.least <= s->options.acceptable * s->scale && m.least > SLOW * before) break;
    if (!found) {
      copy(&m, m.x, m.best);
      take_up(&m, m.x, m.V);
      m.soft /= hardening;
      hardening = sqrt(hardening);
    }
    m.soft = fmin(SOFTEST, fmax(hardening * m.soft, HARDEST));
  }
  copy(&m, s->x, m.best);
  info->outcome = m.least <= enough ? CAROM_CONTACT_SOLVED : CAROM_CONTACT_LIMIT;
  return CAROM_OK;
}

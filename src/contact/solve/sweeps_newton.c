#include "contact/solve/sweeps_newton.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "math/dense.h"

enum { MAX_ROUNDS = 12, MAX_STEPS = 30, MAX_HALVINGS = 8, DOFS = 6 * CAROM_NEWTON_BODIES };
// r over the contact's own response W. Large at first, so that the laws have no sharp corners where they are met; small
// in the end, so that the rounds converge even where contacts share a load in many ways.
static const double SOFTEST = 0.1, HARDEST = 1e-7, HARDENING = 0.1;

struct carom_sweep_newton {
  carom_allocator allocator;
  int *place;  // (body_count) 1 + place of a body in the group; 0 outside of it
  int body[CAROM_NEWTON_BODIES];
  int count;    // bodies
  double soft;  // r / W of this round
  double *K;    // (6 count)^2
  double V[DOFS], V_free[DOFS], trial[DOFS], G[DOFS], step[DOFS];
  carom_mat3 inertia[CAROM_NEWTON_BODIES];
  double mass[CAROM_NEWTON_BODIES];
  double (*g)[3];  // (contacts) impulses of the round before
  double (*kept)[3];
  double *g_joint, *kept_joint;
  int g_capacity, kept_capacity, g_joint_capacity, kept_joint_capacity;
};

carom_status carom_sweep_newton_create(int body_count, const carom_allocator *allocator, carom_sweep_newton **newton,
                                       carom_error *error) {
  carom_sweep_newton *n = CAROM_NEW(allocator, carom_sweep_newton, 1);
  if (!n) return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for the contact solver");
  n->allocator = *allocator;
  int bodies = body_count < CAROM_NEWTON_BODIES ? body_count : CAROM_NEWTON_BODIES;
  n->place = CAROM_NEW(allocator, int, body_count);
  n->K = CAROM_NEW(allocator, double, 36 * bodies * bodies);
  if (!n->place || !n->K) {
    carom_sweep_newton_destroy(n);
    return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for the contact solver");
  }
  *newton = n;
  return CAROM_OK;
}

void carom_sweep_newton_destroy(carom_sweep_newton *n) {
  if (!n) return;
  carom_allocator a = n->allocator;
  carom_release(&a, n->place);
  carom_release(&a, n->K);
  carom_release(&a, n->g);
  carom_release(&a, n->kept);
  carom_release(&a, n->g_joint);
  carom_release(&a, n->kept_joint);
  carom_release(&a, n);
}

// ---- the group's bodies -------------------------------------------------------------------------------------------

static void enter(carom_sweep_newton *n, const carom_sweeps *s, int body) {
  if (s->bodies[body].inverse_mass == 0 || n->place[body] > 0) return;
  if (n->count < CAROM_NEWTON_BODIES) {
    n->body[n->count] = body;
    n->place[body] = n->count + 1;
  }
  n->count++;
}

static void leave_all(carom_sweep_newton *n) {
  for (int i = 0; i < n->count && i < CAROM_NEWTON_BODIES; i++) n->place[n->body[i]] = 0;
}

static void enter_all(carom_sweep_newton *n, const carom_sweeps *s, const carom_sweep_group *g) {
  n->count = 0;
  for (int i = g->first; i < g->first + g->count && n->count <= CAROM_NEWTON_BODIES; i++) {
    enter(n, s, s->contacts[i].a);
    enter(n, s, s->contacts[i].b);
  }
  for (int i = g->joint_first; i < g->joint_first + g->joint_count && n->count <= CAROM_NEWTON_BODIES; i++) {
    enter(n, s, s->joints[i].a);
    enter(n, s, s->joints[i].b);
  }
}

int carom_sweep_newton_bodies(carom_sweep_newton *n, const carom_sweeps *s, const carom_sweep_group *g) {
  enter_all(n, s, g);
  leave_all(n);
  return n->count;
}

static void load_masses(carom_sweep_newton *n, const carom_sweeps *s) {
  for (int i = 0; i < n->count; i++) {
    const carom_sweep_body *body = &s->bodies[n->body[i]];
    n->mass[i] = 1 / body->inverse_mass;
    // a point mass does not turn: any inertia will do, since no row has an arm on it
    if (!cm_inverse3(body->inverse_inertia, &n->inertia[i])) n->inertia[i] = cm_identity3();
  }
}

static void load_velocities(carom_sweep_newton *n, const carom_sweeps *s) {
  for (int i = 0; i < n->count; i++) {
    const carom_sweep_body *body = &s->bodies[n->body[i]];
    double V[6] = {body->v.x, body->v.y, body->v.z, body->w.x, body->w.y, body->w.z};
    memcpy(n->V + 6 * i, V, sizeof V);
  }
}

static void row_on(const carom_sweep_row *row, bool on_a, double J[6]) {
  double sign = on_a ? 1 : -1;
  carom_vec3 r = on_a ? row->ra : row->rb;
  J[0] = sign * row->d.x, J[1] = sign * row->d.y, J[2] = sign * row->d.z;
  J[3] = sign * r.x, J[4] = sign * r.y, J[5] = sign * r.z;
}

static double speed(const carom_sweep_newton *n, const carom_sweeps *s, const double *V, int a, int b,
                    const carom_sweep_row *row) {
  int body[2] = {a, b};
  double u = 0, J[6];
  for (int k = 0; k < 2; k++) {
    const carom_sweep_body *other = &s->bodies[body[k]];
    double fixed[6] = {other->v.x, other->v.y, other->v.z, other->w.x, other->w.y, other->w.z};
    const double *v = n->place[body[k]] > 0 ? V + 6 * (n->place[body[k]] - 1) : fixed;
    row_on(row, k == 0, J);
    for (int j = 0; j < 6; j++) u += J[j] * v[j];
  }
  return u;
}

static void add_impulse(const carom_sweep_newton *n, int a, int b, const carom_sweep_row *row, double impulse,
                        double *G) {
  int body[2] = {a, b};
  double J[6];
  for (int k = 0; k < 2; k++) {
    if (n->place[body[k]] == 0) continue;
    double *target = G + 6 * (n->place[body[k]] - 1);
    row_on(row, k == 0, J);
    for (int j = 0; j < 6; j++) target[j] += impulse * J[j];
  }
}

// M x for one body.
static void times_mass(const carom_sweep_newton *n, int i, const double *x, double *y) {
  carom_vec3 l = cm_mulv(n->inertia[i], cm_vec3(x[3], x[4], x[5]));
  y[0] = n->mass[i] * x[0], y[1] = n->mass[i] * x[1], y[2] = n->mass[i] * x[2];
  y[3] = l.x, y[4] = l.y, y[5] = l.z;
}

// ---- the equations ------------------------------------------------------------------------------------------------

static double softness(double soft, const carom_sweep_contact *c) {
  double W = c->row[0].W;
  if (c->friction > 0) W = (W + c->row[1].W + c->row[2].W) / 3;
  return soft * W;
}

// gamma(u), and D = -d gamma / du when asked for.
static void contact_law(double soft, const carom_sweep_contact *c, const double g[3], const double u[3],
                        double gamma[3], double D[3][3]) {
  double r = softness(soft, c), n = g[0] - (u[0] - c->target) / r;
  gamma[0] = gamma[1] = gamma[2] = 0;
  if (D) memset(D, 0, 9 * sizeof(double));
  if (!(n > 0)) return;
  gamma[0] = n;
  if (D) D[0][0] = 1 / r;
  if (c->friction == 0) return;
  double t = g[1] - u[1] / r, w = g[2] - u[2] / r, size = sqrt(t * t + w * w), limit = c->friction * n;
  bool sticks = size <= limit;
  double factor = sticks ? 1 : limit / size;
  gamma[1] = factor * t;
  gamma[2] = factor * w;
  if (!D) return;
  double a = sticks ? 0 : t / size, b = sticks ? 0 : w / size;
  D[1][1] = factor / r * (1 - a * a);
  D[2][2] = factor / r * (1 - b * b);
  D[1][2] = D[2][1] = -factor / r * a * b;
  D[1][0] = sticks ? 0 : c->friction * a / r;
  D[2][0] = sticks ? 0 : c->friction * b / r;
}

static void contact_speeds(const carom_sweep_newton *n, const carom_sweeps *s, const double *V,
                           const carom_sweep_contact *c, double u[3]) {
  for (int k = 0; k < 3; k++) u[k] = speed(n, s, V, c->a, c->b, &c->row[k]);
}

// G = J' gamma - M (V - V_free); returns its size in the norm of M^-1.
static double equations(carom_sweep_newton *n, carom_sweeps *s, const carom_sweep_group *g, const double *V) {
  for (int i = 0; i < n->count; i++) {
    double d[6];
    for (int j = 0; j < 6; j++) d[j] = n->V_free[6 * i + j] - V[6 * i + j];
    times_mass(n, i, d, n->G + 6 * i);
  }
  for (int i = 0; i < g->count; i++) {
    carom_sweep_contact *c = &s->contacts[g->first + i];
    double u[3];
    contact_speeds(n, s, V, c, u);
    contact_law(n->soft, c, n->g[i], u, c->gamma, NULL);
    for (int k = 0; k < 3; k++) add_impulse(n, c->a, c->b, &c->row[k], c->gamma[k], n->G);
  }
  for (int i = 0; i < g->joint_count; i++) {
    carom_sweep_joint *j = &s->joints[g->joint_first + i];
    double u = speed(n, s, V, j->a, j->b, &j->row);
    j->lambda = n->g_joint[i] - (u - j->target) / (n->soft * j->row.W);
    add_impulse(n, j->a, j->b, &j->row, j->lambda, n->G);
  }
  double size = 0;
  for (int i = 0; i < n->count; i++) {
    const carom_sweep_body *body = &s->bodies[n->body[i]];
    const double *G = n->G + 6 * i;
    carom_vec3 p = cm_vec3(G[0], G[1], G[2]), l = cm_vec3(G[3], G[4], G[5]);
    size += body->inverse_mass * cm_norm2(p) + cm_dot(l, cm_mulv(body->inverse_inertia, l));
  }
  return sqrt(size);
}

// K += Ji' D Jj over the bodies of two rows of one contact.
static void add_product(carom_sweep_newton *n, int a, int b, const carom_sweep_row *left, const carom_sweep_row *right,
                        double D) {
  if (D == 0) return;
  int body[2] = {a, b}, lda = 6 * n->count;
  for (int p = 0; p < 2; p++) {
    if (n->place[body[p]] == 0) continue;
    for (int q = 0; q < 2; q++) {
      if (n->place[body[q]] == 0) continue;
      double Jl[6], Jr[6];
      row_on(left, p == 0, Jl);
      row_on(right, q == 0, Jr);
      double *K = n->K + 6 * (n->place[body[p]] - 1) + (size_t)(6 * (n->place[body[q]] - 1)) * (size_t)lda;
      for (int j = 0; j < 6; j++)
        for (int i = 0; i < 6; i++) K[i + j * lda] += D * Jl[i] * Jr[j];
    }
  }
}

static void assemble(carom_sweep_newton *n, const carom_sweeps *s, const carom_sweep_group *g) {
  int lda = 6 * n->count;
  memset(n->K, 0, (size_t)lda * (size_t)lda * sizeof *n->K);
  for (int i = 0; i < n->count; i++) {
    double *K = n->K + 6 * i + (size_t)(6 * i) * (size_t)lda;
    for (int j = 0; j < 3; j++) K[j + j * lda] = n->mass[i];
    for (int j = 0; j < 3; j++)
      for (int k = 0; k < 3; k++) K[3 + j + (3 + k) * lda] = n->inertia[i].m[j][k];
  }
  for (int i = 0; i < g->count; i++) {
    const carom_sweep_contact *c = &s->contacts[g->first + i];
    double u[3], gamma[3], D[3][3];
    contact_speeds(n, s, n->V, c, u);
    contact_law(n->soft, c, n->g[i], u, gamma, D);
    for (int k = 0; k < 3; k++)
      for (int j = 0; j < 3; j++) add_product(n, c->a, c->b, &c->row[k], &c->row[j], D[k][j]);
  }
  for (int i = g->joint_first; i < g->joint_first + g->joint_count; i++) {
    const carom_sweep_joint *j = &s->joints[i];
    add_product(n, j->a, j->b, &j->row, &j->row, 1 / (n->soft * j->row.W));
  }
}

// ---- Newton's method ----------------------------------------------------------------------------------------------

// One damped step; returns the size of G after it, or the old one when there was no progress.
static double newton_step(carom_sweep_newton *n, carom_sweeps *s, const carom_sweep_group *g, double size) {
  int dofs = 6 * n->count, pivot[DOFS];
  assemble(n, s, g);
  memcpy(n->step, n->G, (size_t)dofs * sizeof *n->G);
  if (carom_dense_lu(dofs, n->K, dofs, pivot) != CAROM_OK) return size;
  if (carom_dense_lu_solve(dofs, n->K, dofs, pivot, n->step) != CAROM_OK) return size;
  double length = 1;
  for (int k = 0; k <= MAX_HALVINGS; k++, length *= 0.5) {
    for (int i = 0; i < dofs; i++) n->trial[i] = n->V[i] + length * n->step[i];
    double now = equations(n, s, g, n->trial);
    if (!(now < (1 - 1e-4 * length) * size)) continue;
    memcpy(n->V, n->trial, (size_t)dofs * sizeof *n->V);
    return now;
  }
  return size;
}

// False when the iteration got stuck away from a solution.
static bool find_velocities(carom_sweep_newton *n, carom_sweeps *s, const carom_sweep_group *g, double enough) {
  double size = equations(n, s, g, n->V), first = size;
  for (int k = 0; k < MAX_STEPS && size > enough; k++) {
    double now = newton_step(n, s, g, size);
    if (!(now < 0.9 * size)) break;
    size = now;
  }
  equations(n, s, g, n->V);  // impulses at the velocities that were taken
  return size <= fmax(enough, 1e-6 * first);
}

// Free velocities are those without the impulses so far.
static void take_impulses_out(carom_sweep_newton *n, const carom_sweeps *s, const carom_sweep_group *g) {
  double P[DOFS] = {0};
  for (int i = g->first; i < g->first + g->count; i++)
    for (int k = 0; k < 3; k++)
      add_impulse(n, s->contacts[i].a, s->contacts[i].b, &s->contacts[i].row[k], s->contacts[i].gamma[k], P);
  for (int i = g->joint_first; i < g->joint_first + g->joint_count; i++)
    add_impulse(n, s->joints[i].a, s->joints[i].b, &s->joints[i].row, s->joints[i].lambda, P);
  for (int i = 0; i < n->count; i++) {
    const carom_sweep_body *body = &s->bodies[n->body[i]];
    carom_vec3 w = cm_mulv(body->inverse_inertia, cm_vec3(P[6 * i + 3], P[6 * i + 4], P[6 * i + 5]));
    double change[6] = {body->inverse_mass * P[6 * i],
                        body->inverse_mass * P[6 * i + 1],
                        body->inverse_mass * P[6 * i + 2],
                        w.x,
                        w.y,
                        w.z};
    for (int j = 0; j < 6; j++) n->V_free[6 * i + j] = n->V[6 * i + j] - change[j];
  }
}

// Velocities that belong to the impulses exactly, so that momentum is kept whatever the residual.
static void put_impulses_in(carom_sweep_newton *n, carom_sweeps *s, const carom_sweep_group *g) {
  double P[DOFS] = {0};
  for (int i = g->first; i < g->first + g->count; i++)
    for (int k = 0; k < 3; k++)
      add_impulse(n, s->contacts[i].a, s->contacts[i].b, &s->contacts[i].row[k], s->contacts[i].gamma[k], P);
  for (int i = g->joint_first; i < g->joint_first + g->joint_count; i++)
    add_impulse(n, s->joints[i].a, s->joints[i].b, &s->joints[i].row, s->joints[i].lambda, P);
  for (int i = 0; i < n->count; i++) {
    carom_sweep_body *body = &s->bodies[n->body[i]];
    const double *F = n->V_free + 6 * i, *p = P + 6 * i;
    body->v = cm_axpy(cm_vec3(F[0], F[1], F[2]), body->inverse_mass, cm_vec3(p[0], p[1], p[2]));
    body->w = cm_add(cm_vec3(F[3], F[4], F[5]), cm_mulv(body->inverse_inertia, cm_vec3(p[3], p[4], p[5])));
  }
}

static void store(const carom_sweeps *s, const carom_sweep_group *g, double (*contact)[3], double *joint) {
  for (int i = 0; i < g->count; i++) memcpy(contact[i], s->contacts[g->first + i].gamma, sizeof contact[i]);
  for (int i = 0; i < g->joint_count; i++) joint[i] = s->joints[g->joint_first + i].lambda;
}

static void restore(carom_sweeps *s, const carom_sweep_group *g, double (*contact)[3], const double *joint) {
  for (int i = 0; i < g->count; i++) memcpy(s->contacts[g->first + i].gamma, contact[i], sizeof contact[i]);
  for (int i = 0; i < g->joint_count; i++) s->joints[g->joint_first + i].lambda = joint[i];
}

static bool make_room(carom_sweep_newton *n, const carom_sweep_group *g) {
  const carom_allocator *a = &n->allocator;
  while (n->g_capacity < g->count)
    if (!carom_grow(a, (void **)&n->g, n->g_capacity, &n->g_capacity, sizeof *n->g)) return false;
  while (n->kept_capacity < g->count)
    if (!carom_grow(a, (void **)&n->kept, n->kept_capacity, &n->kept_capacity, sizeof *n->kept)) return false;
  while (n->g_joint_capacity < g->joint_count)
    if (!carom_grow(a, (void **)&n->g_joint, n->g_joint_capacity, &n->g_joint_capacity, sizeof *n->g_joint))
      return false;
  while (n->kept_joint_capacity < g->joint_count)
    if (!carom_grow(a, (void **)&n->kept_joint, n->kept_joint_capacity, &n->kept_joint_capacity, sizeof *n->kept_joint))
      return false;
  return true;
}

// One round: new impulses from those of the round before. True when they are better than any so far.
static bool improve(carom_sweep_newton *n, carom_sweeps *s, carom_sweep_group *g, double enough, double *best) {
  store(s, g, n->g, n->g_joint);
  bool found = find_velocities(n, s, g, 1e-3 * enough * sqrt(n->mass[0]));
  put_impulses_in(n, s, g);
  double now = carom_sweep_group_residual(s, g);
  if (now < *best) {
    *best = now;
    store(s, g, n->kept, n->kept_joint);
  }
  return found;
}

static void go_back(carom_sweep_newton *n, carom_sweeps *s, carom_sweep_group *g) {
  restore(s, g, n->kept, n->kept_joint);
  put_impulses_in(n, s, g);
  load_velocities(n, s);
}

double carom_sweep_newton_solve(carom_sweep_newton *n, carom_sweeps *s, carom_sweep_group *g, double enough,
                                double acceptable) {
  double best = carom_sweep_group_residual(s, g);
  if (best <= enough || !make_room(n, g)) return best;
  enter_all(n, s, g);
  load_masses(n, s);
  load_velocities(n, s);
  take_impulses_out(n, s, g);
  store(s, g, n->kept, n->kept_joint);
  double hardening = HARDENING;
  n->soft = SOFTEST;
  for (int round = 0; round < MAX_ROUNDS && best > enough; round++) {
    double before = best;
    bool found = improve(n, s, g, enough, &best);
    if (best <= acceptable && best > 0.3 * before) break;
    if (!found) {
      go_back(n, s, g);
      n->soft /= hardening;
      hardening = sqrt(hardening);
    }
    n->soft = fmin(SOFTEST, fmax(hardening * n->soft, HARDEST));
  }
  go_back(n, s, g);
  leave_all(n);
  return best;
}

// Problems for the tests of the contact solvers, and a dense reference that shares no code with them.
#ifndef CAROM_TESTS_CONTACT_PROBLEMS_H
#define CAROM_TESTS_CONTACT_PROBLEMS_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/contact.h"
#include "test.h"

enum { CONTACTS_MOST = 4000 };

typedef struct contact_case {
  carom_contact_body bodies[CONTACTS_MOST];
  carom_contact_point contacts[3 * CONTACTS_MOST];
  carom_contact_row rows[100];
  carom_contact_problem problem;
  carom_vec3 impulses[3 * CONTACTS_MOST], velocities[CONTACTS_MOST], spins[CONTACTS_MOST];
  double multipliers[100];
  carom_contact_solution solution;
} contact_case;

static inline contact_case *contact_case_create(void) {
  contact_case *q = calloc(1, sizeof *q);
  if (!q) abort();
  q->problem = (carom_contact_problem){0, 0, 0, q->bodies, q->contacts, q->rows};
  q->solution = (carom_contact_solution){q->impulses, q->multipliers, q->velocities, q->spins};
  return q;
}

static inline carom_vec3 contact_random_vector(carom_random *random) {
  carom_vec3 v;
  v.x = carom_random_normal(random);
  v.y = carom_random_normal(random);
  v.z = carom_random_normal(random);
  return v;
}

// A sphere of radius r and density 1000, or with `general` a body with three different moments, turned at random.
static inline int contact_add_body(contact_case *q, double r, bool general, carom_vec3 velocity, carom_random *random) {
  double m = 1000 * 4 * acos(-1.0) / 3 * r * r * r, I = 0.4 * m * r * r;
  carom_contact_body *b = &q->bodies[q->problem.body_count];
  *b = (carom_contact_body){1 / m, {1 / I, 1 / I, 1 / I, 0, 0, 0}, velocity, {0, 0, 0}};
  if (general) {
    carom_mat3 R = cm_rotation(cm_exp(contact_random_vector(random)));
    carom_mat3 A = cm_mmul(R, cm_mmul(cm_diag3(0.7 / I, 1.0 / I, 1.5 / I), cm_transpose(R)));
    const double packed[6] = {A.m[0][0], A.m[1][1], A.m[2][2], A.m[0][1], A.m[0][2], A.m[1][2]};
    memcpy(b->inverse_inertia, packed, sizeof packed);
  }
  return q->problem.body_count++;
}

static inline carom_contact_point *contact_add_contact(contact_case *q, int a, int b, carom_vec3 n, carom_vec3 arm_a,
                                                       carom_vec3 arm_b, double mu, double bias) {
  carom_contact_point *c = &q->contacts[q->problem.contact_count++];
  *c = (carom_contact_point){.a = a, .b = b, .friction = mu, .bias = bias, .normal = n, .arm_a = arm_a, .arm_b = arm_b};
  return c;
}

// Bodies thrown about, each touching the one before it, the ground or one another at random points; `general` bodies
// have contacts whose arms are not along the normal.
static inline contact_case *contact_random_case(uint64_t seed, int bodies, int contacts, bool general, double mu) {
  contact_case *q = contact_case_create();
  carom_random random = carom_random_make(seed, 7);
  for (int i = 0; i < bodies; i++) {
    double r = carom_random_between(&random, 0.03, 0.08);
    contact_add_body(q, r, general, contact_random_vector(&random), &random);
    q->bodies[i].spin = cm_scale(5, contact_random_vector(&random));
  }
  for (int i = 0; i < contacts; i++) {
    int a = (int)carom_random_below(&random, (uint32_t)bodies), b = (int)carom_random_below(&random, (uint32_t)bodies);
    carom_vec3 n = cm_unit(contact_random_vector(&random));
    if (a == b) b = CAROM_CONTACT_WORLD;
    carom_vec3 arm_a = cm_scale(-0.05, n), arm_b = cm_scale(0.04, n);
    if (general) arm_a = cm_axpy(arm_a, 0.03, contact_random_vector(&random));
    if (general) arm_b = cm_axpy(arm_b, 0.03, contact_random_vector(&random));
    // Open by a fraction of a step or more, so that the primal program has a feasible point: all bodies at rest.
    contact_add_contact(q, a, b, n, arm_a, arm_b, mu, carom_random_between(&random, 0, 0.5));
  }
  return q;
}

// A lattice of spheres under gravity for a step h = 0.01 s, resting in a box open at the top, with small random gaps.
static inline contact_case *contact_pile_case(int nx, int ny, int nz, double mu, uint64_t seed) {
  contact_case *q = contact_case_create();
  carom_random random = carom_random_make(seed, 3);
  double r = 0.05, h = 0.01;
  for (int k = 0; k < nz; k++)
    for (int j = 0; j < ny; j++)
      for (int i = 0; i < nx; i++) {
        int a = contact_add_body(
            q, r, false, cm_add(cm_vec3(0, 0, -9.81 * h), cm_scale(0.05, contact_random_vector(&random))), &random);
        const int near[3] = {i > 0 ? a - 1 : -1, j > 0 ? a - nx : -1, k > 0 ? a - nx * ny : -1};
        const bool last[2] = {i == nx - 1, j == ny - 1};
        for (int axis = 0; axis < 3; axis++) {
          carom_vec3 tilt = cm_scale(0.3, contact_random_vector(&random));
          carom_vec3 n = cm_unit(cm_add(cm_vec3(axis == 0, axis == 1, axis == 2), near[axis] >= 0 ? tilt : cm_zero3()));
          double bias = carom_random_between(&random, 0, 0.02) * r / h;
          contact_add_contact(q, a, near[axis], n, cm_scale(-r, n), cm_scale(r, n), mu, bias);
          if (axis < 2 && last[axis]) {
            carom_vec3 wall = cm_vec3(-(axis == 0), -(axis == 1), 0);
            contact_add_contact(q, a, CAROM_CONTACT_WORLD, wall, cm_scale(-r, wall), cm_zero3(), mu, bias);
          }
        }
      }
  return q;
}

static inline carom_contact_info contact_solve(contact_case *q, const carom_contact_options *o) {
  carom_contact_work *w;
  carom_contact_info info = {.outcome = CAROM_CONTACT_LIMIT};
  carom_error error = {0};
  if (carom_contact_work_create(NULL, &w, &error)) abort();
  carom_status status = carom_contact_solve(w, &q->problem, o, &q->solution, &info, &error);
  if (status) test_fail(__FILE__, __LINE__, "%s: %s", carom_contact_method_name(o->method), error.message);
  carom_contact_work_destroy(w);
  return info;
}

// ---- the dense reference ----------------------------------------------------------------------

typedef struct contact_dense {
  int n;          // 3 per contact: normal, tangent, cross of the two; then rows
  int dofs;       // 6 per body
  double *D;      // dofs x n, column-major
  double *MD;     // M^-1 D
  double *N, *r;  // n x n, n
  carom_vec3 (*axes)[3];
} contact_dense;

static inline void contact_dense_mobility(const carom_contact_body *b, const double *f, double *v) {
  const double *I = b->inverse_inertia;
  const double A[3][3] = {{I[0], I[3], I[4]}, {I[3], I[1], I[5]}, {I[4], I[5], I[2]}};
  for (int i = 0; i < 3; i++) {
    v[i] = b->inverse_mass * f[i];
    v[3 + i] = 0;
    for (int j = 0; j < 3; j++) v[3 + i] += A[i][j] * f[3 + j];
  }
}

static inline void contact_dense_column(contact_dense *d, int column, int body, double sign, carom_vec3 f,
                                        carom_vec3 arm) {
  if (body < 0) return;
  double *D = d->D + (size_t)column * (size_t)d->dofs + 6 * (size_t)body;
  carom_vec3 l = cm_cross(arm, f);
  const double w[6] = {f.x, f.y, f.z, l.x, l.y, l.z};
  for (int k = 0; k < 6; k++) D[k] += sign * w[k];
}

// The tangents are those of the solver's generators: the contact's own, or cm_frame's where that is zero.
static inline contact_dense contact_dense_create(const carom_contact_problem *p) {
  contact_dense d = {.n = 3 * p->contact_count + p->row_count, .dofs = 6 * p->body_count};
  size_t n = (size_t)d.n, dofs = (size_t)d.dofs;
  d.D = calloc(n * dofs + 1, sizeof(double)), d.MD = calloc(n * dofs + 1, sizeof(double));
  d.N = calloc(n * n + 1, sizeof(double)), d.r = calloc(n + 1, sizeof(double));
  d.axes = calloc((size_t)p->contact_count + 1, sizeof *d.axes);
  if (!d.D || !d.MD || !d.N || !d.r || !d.axes) abort();
  for (int c = 0; c < p->contact_count; c++) {
    const carom_contact_point *k = &p->contacts[c];
    carom_vec3 v;
    d.axes[c][0] = k->normal, d.axes[c][1] = k->tangent;
    if (cm_norm(k->tangent) == 0) cm_frame(k->normal, &d.axes[c][1], &v);
    d.axes[c][2] = cm_cross(k->normal, d.axes[c][1]);
    for (int i = 0; i < 3; i++) {
      contact_dense_column(&d, 3 * c + i, k->a, 1, d.axes[c][i], k->arm_a);
      contact_dense_column(&d, 3 * c + i, k->b, -1, d.axes[c][i], k->arm_b);
    }
    d.r[3 * c] = k->bias;
  }
  for (int i = 0; i < p->row_count; i++) {
    const carom_contact_row *row = &p->rows[i];
    double *D = d.D + (size_t)(3 * p->contact_count + i) * dofs;
    for (int k = 0; k < 6 && row->a >= 0; k++) D[6 * row->a + k] += row->jacobian_a[k];
    for (int k = 0; k < 6 && row->b >= 0; k++) D[6 * row->b + k] += row->jacobian_b[k];
    d.r[3 * p->contact_count + i] = row->bias;
  }
  for (size_t j = 0; j < n; j++)
    for (int b = 0; b < p->body_count; b++) {
      const carom_contact_body *body = &p->bodies[b];
      const double *D = d.D + j * dofs + 6 * (size_t)b;
      const double v[6] = {body->velocity.x, body->velocity.y, body->velocity.z,
                           body->spin.x,     body->spin.y,     body->spin.z};
      contact_dense_mobility(body, D, d.MD + j * dofs + 6 * (size_t)b);
      for (int k = 0; k < 6; k++) d.r[j] += D[k] * v[k];
    }
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < n; j++)
      for (size_t k = 0; k < dofs; k++) d.N[i + j * n] += d.D[i * dofs + k] * d.MD[j * dofs + k];
  return d;
}

static inline void contact_dense_destroy(contact_dense *d) {
  free(d->D), free(d->MD), free(d->N), free(d->r), free(d->axes);
}

// Impulses of the solution in contact frames, then the multipliers.
static inline void contact_dense_gamma(const contact_dense *d, const contact_case *q, double *gamma) {
  int contacts = q->problem.contact_count;
  for (int c = 0; c < contacts; c++)
    for (int i = 0; i < 3; i++) gamma[3 * c + i] = cm_dot(q->impulses[c], d->axes[c][i]);
  for (int i = 0; i < q->problem.row_count; i++) gamma[3 * contacts + i] = q->multipliers[i];
}

static inline void contact_dense_w(const contact_dense *d, const double *gamma, double *w) {
  for (int i = 0; i < d->n; i++) {
    w[i] = d->r[i];
    for (int j = 0; j < d->n; j++) w[i] += d->N[(size_t)i + (size_t)j * (size_t)d->n] * gamma[j];
  }
}

#endif

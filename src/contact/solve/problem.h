// Inside the solvers of carom/contact.h. A system is a problem made ready: which bodies move, the contacts of every
// body, the scale rho of every contact's block of N. Vectors of unknowns x hold `width` numbers per contact (circular
// cones: the impulse as a world vector; generators: the weights of the unit generators) and then one per row.
#ifndef CAROM_SRC_CONTACT_SOLVE_PROBLEM_H
#define CAROM_SRC_CONTACT_SOLVE_PROBLEM_H

#include <math.h>

#include "base/arena.h"
#include "carom/contact.h"

// Doubles per body: velocity (3), spin (3), inverse mass, inverse inertia if it is the same about every axis, else NaN.
enum { CAROM_CONTACT_STATE = 8 };
// Sums run over blocks of so many contacts or rows and then over the blocks, whatever the number of threads.
enum { CAROM_CONTACT_BLOCK = 256 };

// What a pass over all contacts and rows adds up, block by block: up to six sums and one maximum.
typedef struct carom_contact_totals {
  double sum[6];
  double max;
} carom_contact_totals;

typedef struct carom_contact_system {
  carom_contact_problem problem;
  carom_contact_options options;  // resolved: no zeros that mean "choose"
  int width;                      // unknowns per contact
  int n;                          // unknowns
  int threads;
  double scale;                   // velocity scale, m/s
  double *state;                  // (bodies + 1) x CAROM_CONTACT_STATE: free velocities; the last is the world
  double *change;                 // (bodies + 1) x CAROM_CONTACT_STATE: M^-1 D x
  int *incident_start;            // (bodies + 1)
  int *incident;                  // (2 (contacts + rows)): 2 c + side, rows counted after contacts; ascending
  double *rho;                    // (contacts + rows): tr(N_cc) / 3; 0 for what cannot move
  carom_vec3 *tangent;            // (contacts) generators only
  carom_vec3 *impulse;            // (contacts) generators only: world impulses of x
  double *cosine, *sine;          // (width) generators only
  double *r;                      // (n) D' v_free + bias
  double *x, *w;                  // (n) the unknowns and N x + r
  carom_contact_totals *partial;  // (blocks)
  bool fresh;                     // w, change and the figures of info belong to x
} carom_contact_system;

// Adds the share of contacts or rows first .. last - 1 (counted as in rho) to *totals.
typedef void carom_contact_pass(void *context, int first, int last, carom_contact_totals *totals);
carom_contact_totals carom_contact_run_pass(const carom_contact_system *s, carom_contact_pass *pass, void *context);

// ---- check.c, system.c
carom_status carom_contact_check(const carom_contact_problem *problem, const carom_contact_options *options,
                                 const carom_contact_solution *solution, carom_error *error);
void carom_contact_system_push(carom_contact_system *s, carom_arena *arena);  // needs sizes, options and width
void carom_contact_system_prepare(carom_contact_system *s);
void carom_contact_load(carom_contact_system *s,
                        const carom_contact_solution *solution);  // x from impulses, put into the cones
void carom_contact_store(carom_contact_system *s, const carom_contact_solution *solution);  // impulses from x
// A contact in axes of its own: the normal, and those in which the tangential part of N_cc is diagonal. Vectors in
// these axes have the normal part first.
typedef struct carom_contact_local {
  carom_vec3 axis[3];
  double nn, nt[2], tt[2];  // N_cc; tt[0] >= tt[1]
} carom_contact_local;
carom_contact_local carom_contact_local_of(const carom_contact_problem *problem, const carom_contact_point *contact);

// ---- operator.c
void carom_contact_apply(carom_contact_system *s, const double *x, double *Nx);  // leaves M^-1 D x in s->change
void carom_contact_right_hand_side(carom_contact_system *s);                     // fills r

// ---- cone.c
double carom_contact_residual_of(const carom_contact_system *s, const double *x, const double *w);
typedef struct carom_contact_step {
  const double *x, *w;
  double *z;
} carom_contact_step;
// z = P_K(x - length w / rho) for everything in first .. last - 1.
void carom_contact_project(const carom_contact_system *s, double length, const carom_contact_step *step, int first,
                           int last);
double carom_contact_residual_range(const carom_contact_system *s, const double *x, const double *w, int first,
                                    int last);
// Fills the figures of info from x and w = N x + r.
void carom_contact_judge(const carom_contact_system *s, const double *x, const double *w, carom_contact_info *info);
bool carom_contact_good_enough(const carom_contact_system *s, const carom_contact_info *info);
// Whether x with that residual will do. The gap is looked at only when the residual is small, since it costs a pass.
bool carom_contact_done(const carom_contact_system *s, const double *x, const double *w, double residual,
                        carom_contact_info *info);
// Recomputes w and the change of velocities from s->x, and judges.
void carom_contact_refresh(carom_contact_system *s, carom_contact_info *info);

// ---- the methods: begin at s->x, leave their answer there. With an arena that only counts they push their scratch
// beyond the system's, and do nothing else.
typedef carom_status carom_contact_solver(carom_contact_system *s, carom_arena *arena, carom_contact_info *info,
                                          carom_error *error);
carom_contact_solver carom_contact_pgs, carom_contact_apgd, carom_contact_spg, carom_contact_newton,
    carom_contact_interior;

typedef struct carom_contact_method_entry {
  const char *name;
  unsigned laws;  // bit 1 << law for each that it takes
  int default_iterations;
  carom_contact_solver *solve;
} carom_contact_method_entry;

const carom_contact_method_entry *carom_front_entry(carom_contact_method method);

// ---- small shared pieces
// A vector of unknowns behind each of the pointers.
static inline void carom_contact_push_vectors(carom_arena *arena, const carom_contact_system *s,
                                              double **const *vectors, size_t count) {
  for (size_t i = 0; i < count; i++) *vectors[i] = CAROM_PUSH(arena, double, s->n);
}

static inline const double *carom_contact_body_state(const double *state, int bodies, int body) {
  return state + (size_t)CAROM_CONTACT_STATE * (size_t)(body < 0 ? bodies : body);
}

// Where the unknowns of a contact or row begin.
static inline size_t carom_contact_offset(const carom_contact_system *s, int item) {
  int contacts = s->problem.contact_count;
  return item < contacts ? (size_t)s->width * (size_t)item
                         : (size_t)s->width * (size_t)contacts + (size_t)(item - contacts);
}

// Contacts and rows alike are items: contacts first. An impulse or velocity of an item is a world vector; of a row x.
static inline void carom_contact_bodies_of(const carom_contact_problem *p, int item, int body[2]) {
  bool contact = item < p->contact_count;
  const carom_contact_row *row = contact ? NULL : &p->rows[item - p->contact_count];
  body[0] = contact ? p->contacts[item].a : row->a, body[1] = contact ? p->contacts[item].b : row->b;
}

// Adds the wrench of the impulse f on body a (side 0) or b of an item.
static inline void carom_contact_add_wrench(const carom_contact_problem *p, int item, int side, carom_vec3 f,
                                            double w[6]) {
  if (item < p->contact_count) {
    const carom_contact_point *c = &p->contacts[item];
    carom_vec3 g = side ? cm_neg(f) : f, l = cm_cross(side ? c->arm_b : c->arm_a, g);
    w[0] += g.x, w[1] += g.y, w[2] += g.z, w[3] += l.x, w[4] += l.y, w[5] += l.z;
  } else {
    const carom_contact_row *row = &p->rows[item - p->contact_count];
    const double *J = side ? row->jacobian_b : row->jacobian_a;
    for (int k = 0; k < 6; k++) w[k] += f.x * J[k];
  }
}

static inline bool carom_contact_can_move(const carom_contact_problem *p, int body) {
  if (body < 0) return false;
  const carom_contact_body *b = &p->bodies[body];
  return b->inverse_mass > 0 || b->inverse_inertia[0] > 0 || b->inverse_inertia[1] > 0 || b->inverse_inertia[2] > 0;
}

// M^-1 times a wrench (force, torque) on a body; zero for the world.
static inline void carom_contact_mobility(const carom_contact_problem *problem, int body, const double wrench[6],
                                          double twist[6]) {
  for (int k = 0; k < 6; k++) twist[k] = 0;
  if (body < 0) return;
  const carom_contact_body *b = &problem->bodies[body];
  const double *J = b->inverse_inertia, *l = wrench + 3;
  for (int k = 0; k < 3; k++) twist[k] = b->inverse_mass * wrench[k];
  twist[3] = J[0] * l[0] + J[3] * l[1] + J[4] * l[2];
  twist[4] = J[3] * l[0] + J[1] * l[1] + J[5] * l[2];
  twist[5] = J[4] * l[0] + J[5] * l[1] + J[2] * l[2];
}

// velocity + spin x arm, of a body's six numbers
static inline carom_vec3 carom_contact_point_velocity(const double *V, carom_vec3 arm) {
  return cm_add(cm_vec3(V[0], V[1], V[2]), cm_cross(cm_vec3(V[3], V[4], V[5]), arm));
}

// By velocities and spins of the bodies: of A against B at a contact, and along a row.
static inline carom_vec3 carom_contact_slip(const carom_contact_point *c, const carom_vec3 *v, const carom_vec3 *w) {
  carom_vec3 a = c->a < 0 ? cm_zero3() : cm_add(v[c->a], cm_cross(w[c->a], c->arm_a));
  return c->b < 0 ? a : cm_sub(a, cm_add(v[c->b], cm_cross(w[c->b], c->arm_b)));
}

static inline double carom_contact_rate(const carom_contact_row *row, const carom_vec3 *v, const carom_vec3 *w) {
  const double *a = row->jacobian_a, *b = row->jacobian_b;
  double rate = 0;
  if (row->a >= 0) rate += cm_dot(cm_vec3(a[0], a[1], a[2]), v[row->a]) + cm_dot(cm_vec3(a[3], a[4], a[5]), w[row->a]);
  if (row->b >= 0) rate += cm_dot(cm_vec3(b[0], b[1], b[2]), v[row->b]) + cm_dot(cm_vec3(b[3], b[4], b[5]), w[row->b]);
  return rate;
}

// Generator k of a contact, of unit length.
static inline carom_vec3 carom_contact_generator(const carom_contact_system *s, int contact, int k) {
  const carom_contact_point *c = &s->problem.contacts[contact];
  carom_vec3 t = s->tangent[contact], d = cm_axpy(cm_scale(s->cosine[k], t), s->sine[k], cm_cross(c->normal, t));
  return cm_scale(1 / sqrt(1 + c->friction * c->friction), cm_axpy(c->normal, c->friction, d));
}

// A world vector in the axes of a contact.
static inline carom_vec3 carom_contact_to_axes(const carom_contact_local *k, carom_vec3 u) {
  return cm_vec3(cm_dot(k->axis[0], u), cm_dot(k->axis[1], u), cm_dot(k->axis[2], u));
}

static inline double carom_contact_dot6(const double *a, const double *b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4] + a[5] * b[5];
}

// The nearest point of the circular cone about n (world vectors).
static inline carom_vec3 carom_contact_project_circular(carom_vec3 f, carom_vec3 n, double mu) {
  double fn = cm_dot(f, n);
  carom_vec3 ft = cm_axpy(f, -fn, n);
  double t = cm_norm(ft);
  if (t <= mu * fn) return f;
  if (mu * t <= -fn) return cm_zero3();
  double s = (fn + mu * t) / (1 + mu * mu);
  return t > 0 ? cm_add(cm_scale(s, n), cm_scale(mu * s / t, ft)) : cm_scale(fn > 0 ? fn : 0, n);
}

#endif

// Newton's method for the problem of carom/contact.h by Coulomb's law, where sweeps converge slowly (rings, arches and
// stacks): its contacts in axes of their own and its rows, coupled through their bodies.
#include <math.h>
#include <string.h>

#include "contact/solve/newton.h"
#include "contact/solve/problem.h"

enum { MOST_TRIES = 4 };  // the two residuals weigh friction differently

typedef struct form {
  carom_contact_system *s;
  carom_newton *newton;
  carom_assembled a;
  carom_block *blocks;  // (contacts + rows)
  carom_lever *levers;
  double *u0, *P, *u;  // (3 contacts + rows)
  int *place;          // (bodies) number of a body among those that move, or -1
} form;

static int count_moving(const carom_contact_problem *p) {
  int count = 0;
  for (int i = 0; i < p->body_count; i++) count += !p->bodies || carom_contact_can_move(p, i);
  return count;
}

static void push(form *f, carom_arena *arena) {
  const carom_contact_problem *p = &f->s->problem;
  int rows = 3 * p->contact_count + p->row_count;
  f->a.bodies = count_moving(p);
  f->newton = carom_newton_push(rows, f->a.bodies, arena);
  f->blocks = CAROM_PUSH(arena, carom_block, p->contact_count + p->row_count);
  f->levers = CAROM_PUSH(arena, carom_lever, rows);
  f->place = CAROM_PUSH(arena, int, p->body_count);
  f->a.V = CAROM_PUSH(arena, double, 6 * f->a.bodies);
  double **const vectors[] = {&f->u0, &f->P, &f->u};
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) *vectors[i] = CAROM_PUSH(arena, double, rows);
}

size_t carom_contact_newton_bytes(const carom_contact_system *s) {
  form f = {.s = (carom_contact_system *)s};
  carom_arena counting = {0};
  push(&f, &counting);
  return counting.used;
}

// ---- rows -----------------------------------------------------------------------------------------------------------

static void add_row(form *f, const int body[2], double J[2][6], double u0, double P) {
  carom_lever *lever = &f->levers[f->a.rows];
  lever->own = 0;
  for (int end = 0; end < 2; end++) {
    memcpy(lever->J[end], J[end], sizeof lever->J[end]);
    carom_contact_mobility(&f->s->problem, body[end], J[end], lever->SJ[end]);
    lever->own += carom_contact_dot6(lever->J[end], lever->SJ[end]);
    lever->body[end] = body[end] < 0 ? -1 : f->place[body[end]];
  }
  f->u0[f->a.rows] = u0, f->P[f->a.rows++] = P;
}

static void fill_wrench(double J[6], carom_vec3 direction, carom_vec3 arm) {
  carom_vec3 l = cm_cross(arm, direction);
  J[0] = direction.x, J[1] = direction.y, J[2] = direction.z, J[3] = l.x, J[4] = l.y, J[5] = l.z;
}

static void axes_of(const carom_contact_point *c, carom_vec3 axis[3]) {
  axis[0] = c->normal;
  cm_frame(c->normal, &axis[1], &axis[2]);
}

static int width_of(const carom_contact_point *c) { return c->friction > 0 ? 3 : 1; }

static void add_contact(form *f, int i) {
  const carom_contact_point *c = &f->s->problem.contacts[i];
  const carom_vec3 *r = (const carom_vec3 *)f->s->r, *x = (const carom_vec3 *)f->s->x;
  carom_vec3 axis[3];
  if (!(f->s->rho[i] > 0)) return;
  axes_of(c, axis);
  f->blocks[f->a.count++] = (carom_block){.first = f->a.rows, .width = width_of(c), .mu = c->friction};
  for (int k = 0; k < width_of(c); k++) {
    double J[2][6];
    fill_wrench(J[0], axis[k], c->arm_a);
    fill_wrench(J[1], cm_neg(axis[k]), c->arm_b);
    add_row(f, (const int[2]){c->a, c->b}, J, cm_dot(axis[k], r[i]), cm_dot(axis[k], x[i]));
  }
}

static void add_bounded(form *f, int i) {
  const carom_contact_row *row = &f->s->problem.rows[i];
  int contacts = f->s->problem.contact_count, at = 3 * contacts + i;
  double J[2][6];
  if (!(f->s->rho[contacts + i] > 0)) return;
  f->blocks[f->a.count++] = (carom_block){
      .kind = CAROM_BLOCK_BOXED, .first = f->a.rows, .width = 1, .lower = row->lower, .upper = row->upper};
  memcpy(J[0], row->jacobian_a, sizeof J[0]);
  memcpy(J[1], row->jacobian_b, sizeof J[1]);
  add_row(f, (const int[2]){row->a, row->b}, J, f->s->r[at], f->s->x[at]);
}

static void fill(form *f) {
  const carom_contact_problem *p = &f->s->problem;
  for (int i = 0, count = 0; i < p->body_count; i++) f->place[i] = carom_contact_can_move(p, i) ? count++ : -1;
  for (int i = 0; i < p->contact_count; i++) add_contact(f, i);
  for (int i = 0; i < p->row_count; i++) add_bounded(f, i);
  f->a.blocks = f->blocks, f->a.levers = f->levers, f->a.u0 = f->u0;
}

// Impulses back into x.
static void unload(const form *f) {
  const carom_contact_problem *p = &f->s->problem;
  const double *P = f->P;
  carom_vec3 *x = (carom_vec3 *)f->s->x, axis[3];
  for (int i = 0; i < p->contact_count; i++) {
    if (!(f->s->rho[i] > 0)) continue;
    axes_of(&p->contacts[i], axis);
    x[i] = cm_scale(*P++, axis[0]);
    for (int k = 1; k < width_of(&p->contacts[i]); k++) x[i] = cm_axpy(x[i], *P++, axis[k]);
  }
  for (int i = 0; i < p->row_count; i++)
    if (f->s->rho[p->contact_count + i] > 0) f->s->x[3 * p->contact_count + i] = *P++;
}

carom_status carom_contact_newton(carom_contact_system *s, carom_arena *arena, carom_contact_info *info,
                                  carom_error *error) {
  (void)error;
  form f = {.s = s};
  push(&f, arena);
  fill(&f);
  double enough = s->options.tolerance * s->scale, asked = 0.5 * enough;
  info->outcome = CAROM_CONTACT_LIMIT;
  for (int i = 0; i < MOST_TRIES && info->outcome == CAROM_CONTACT_LIMIT; i++, asked *= 0.1) {
    carom_newton_goal goal = {asked, asked, fmax(asked, s->options.acceptable * s->scale), s->options.max_iterations};
    double reached = carom_newton_solve(f.newton, &f.a, &goal, f.P, f.u, &info->iterations);
    unload(&f);
    carom_contact_refresh(s, info);
    if (info->residual <= enough) info->outcome = CAROM_CONTACT_SOLVED;
    if (reached > asked) break;
  }
  info->products = info->iterations;
  return CAROM_OK;
}

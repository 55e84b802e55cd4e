// Newton's method for the problem of carom/contact.h by Coulomb's law, where sweeps converge slowly (rings, arches and
// stacks): its contacts in axes of their own and its rows, coupled through their bodies.
#include <math.h>

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

// ---- rows -----------------------------------------------------------------------------------------------------------

static void add_row(form *f, int item, carom_vec3 axis, double u0, double P) {
  const carom_contact_problem *p = &f->s->problem;
  carom_lever *lever = &f->levers[f->a.rows];
  int body[2];
  *lever = (carom_lever){.own = 0};
  carom_contact_bodies_of(p, item, body);
  for (int end = 0; end < 2; end++) {
    carom_contact_add_wrench(p, item, end, axis, lever->J[end]);
    carom_contact_mobility(p, body[end], lever->J[end], lever->SJ[end]);
    lever->own += carom_contact_dot6(lever->J[end], lever->SJ[end]);
    lever->body[end] = body[end] < 0 ? -1 : f->place[body[end]];
  }
  f->u0[f->a.rows] = u0, f->P[f->a.rows++] = P;
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
  axes_of(c, axis);
  f->blocks[f->a.count++] = (carom_block){.first = f->a.rows, .width = width_of(c), .mu = c->friction};
  for (int k = 0; k < width_of(c); k++) add_row(f, i, axis[k], cm_dot(axis[k], r[i]), cm_dot(axis[k], x[i]));
}

static void add_bounded(form *f, int item) {
  const carom_contact_row *row = &f->s->problem.rows[item - f->s->problem.contact_count];
  size_t at = carom_contact_offset(f->s, item);
  f->blocks[f->a.count++] = (carom_block){
      .kind = CAROM_BLOCK_BOXED, .first = f->a.rows, .width = 1, .lower = row->lower, .upper = row->upper};
  add_row(f, item, cm_vec3(1, 0, 0), f->s->r[at], f->s->x[at]);
}

static void fill(form *f) {
  const carom_contact_problem *p = &f->s->problem;
  for (int i = 0, count = 0; i < p->body_count; i++) f->place[i] = carom_contact_can_move(p, i) ? count++ : -1;
  for (int i = 0; i < p->contact_count + p->row_count; i++)
    if (f->s->rho[i] > 0) (i < p->contact_count ? add_contact : add_bounded)(f, i);
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
  if (!arena->memory) return CAROM_OK;
  fill(&f);
  double enough = s->options.tolerance * s->scale, asked = 0.5 * enough;
  info->outcome = CAROM_CONTACT_LIMIT;
  for (int i = 0; i < MOST_TRIES && info->outcome == CAROM_CONTACT_LIMIT; i++, asked *= 0.1) {
    carom_newton_goal goal = {asked, asked, fmax(asked, s->options.acceptable * s->scale), s->options.max_iterations,
                              .last_digit = s->options.acceptable > 0};
    double reached = carom_newton_solve(f.newton, &f.a, &goal, f.P, f.u, &info->iterations);
    unload(&f);
    carom_contact_refresh(s, info);
    if (info->residual <= enough) info->outcome = CAROM_CONTACT_SOLVED;
    if (reached > asked) break;
  }
  info->products = info->iterations;
  return CAROM_OK;
}

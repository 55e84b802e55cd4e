#include "contact/solve/sweeps.h"

#include <math.h>

#include "base/groups.h"
#include "base/memory.h"
#include "contact/solve/sweeps_newton.h"

enum { FEW_SWEEPS = 30, FEW_BODIES = 12, ALTERNATIONS = 3 };

// ---- making -------------------------------------------------------------------------------------------------------

carom_status carom_sweeps_create(int body_count, const carom_allocator *allocator, carom_sweeps **sweeps,
                                 carom_error *error) {
  carom_allocator a = carom_allocator_or_default(allocator);
  carom_sweeps *s = CAROM_NEW(&a, carom_sweeps, 1);
  if (!s) return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for the contact solver");
  s->allocator = a;
  s->body_count = body_count;
  s->bodies = CAROM_NEW(&a, carom_sweep_body, body_count);
  s->group_of_body = CAROM_NEW(&a, int, body_count);
  s->root = CAROM_NEW(&a, int, body_count);
  if (!s->bodies || !s->group_of_body || !s->root) {
    carom_sweeps_destroy(s);
    return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for the contact solver");
  }
  carom_status status = carom_sweep_newton_create(body_count, &a, &s->newton, error);
  if (status != CAROM_OK) {
    carom_sweeps_destroy(s);
    return status;
  }
  *sweeps = s;
  return CAROM_OK;
}

void carom_sweeps_destroy(carom_sweeps *s) {
  if (!s) return;
  carom_allocator a = s->allocator;
  carom_release(&a, s->bodies);
  carom_release(&a, s->contacts);
  carom_release(&a, s->joints);
  carom_release(&a, s->groups);
  carom_release(&a, s->unsorted);
  carom_release(&a, s->unsorted_joints);
  carom_release(&a, s->group_of_body);
  carom_release(&a, s->root);
  carom_sweep_newton_destroy(s->newton);
  carom_release(&a, s);
}

void carom_sweeps_clear(carom_sweeps *s) { s->contact_count = s->joint_count = s->group_count = 0; }

static bool movable(const carom_sweep_body *body) { return body->inverse_mass > 0; }

static carom_sweep_row row_make(const carom_sweep_body *a, const carom_sweep_body *b, carom_vec3 d, carom_vec3 ra,
                                carom_vec3 rb) {
  carom_sweep_row row = {.d = d, .ra = ra, .rb = rb};
  row.wa = cm_mulv(a->inverse_inertia, ra);
  row.wb = cm_mulv(b->inverse_inertia, rb);
  row.W = (a->inverse_mass + b->inverse_mass) * cm_norm2(d) + cm_dot(ra, row.wa) + cm_dot(rb, row.wb);
  return row;
}

carom_sweep_contact *carom_sweeps_add(carom_sweeps *s, int a, int b, carom_vec3 normal, carom_vec3 point, carom_vec3 xa,
                                      carom_vec3 xb) {
  if (!carom_grow(&s->allocator, (void **)&s->contacts, s->contact_count, &s->contact_capacity, sizeof *s->contacts))
    return NULL;
  carom_sweep_contact *c = &s->contacts[s->contact_count++];
  *c = (carom_sweep_contact){.a = a, .b = b};
  const carom_sweep_body *A = &s->bodies[a], *B = &s->bodies[b];
  carom_vec3 arm_a = cm_sub(point, xa), arm_b = cm_sub(point, xb), direction[3] = {normal};
  cm_frame(normal, &direction[1], &direction[2]);
  for (int k = 0; k < 3; k++)
    c->row[k] = row_make(A, B, direction[k], cm_cross(arm_a, direction[k]), cm_cross(arm_b, direction[k]));
  c->W_ts = cm_dot(c->row[1].ra, c->row[2].wa) + cm_dot(c->row[1].rb, c->row[2].wb);
  return c;
}

carom_sweep_contact *carom_sweeps_add_limit(carom_sweeps *s, int a, int b, carom_vec3 d, carom_vec3 ra, carom_vec3 rb) {
  if (!carom_grow(&s->allocator, (void **)&s->contacts, s->contact_count, &s->contact_capacity, sizeof *s->contacts))
    return NULL;
  carom_sweep_contact *c = &s->contacts[s->contact_count++];
  *c = (carom_sweep_contact){.a = a, .b = b};
  c->row[0] = row_make(&s->bodies[a], &s->bodies[b], d, ra, rb);
  return c;
}

carom_sweep_joint *carom_sweeps_add_joint(carom_sweeps *s, int a, int b, carom_vec3 d, carom_vec3 ra, carom_vec3 rb) {
  if (!carom_grow(&s->allocator, (void **)&s->joints, s->joint_count, &s->joint_capacity, sizeof *s->joints))
    return NULL;
  carom_sweep_joint *j = &s->joints[s->joint_count++];
  *j = (carom_sweep_joint){.a = a, .b = b, .row = row_make(&s->bodies[a], &s->bodies[b], d, ra, rb)};
  return j;
}

// ---- groups -------------------------------------------------------------------------------------------------------

static void join(carom_sweeps *s, int a, int b) {
  if (movable(&s->bodies[a]) && movable(&s->bodies[b])) carom_group_unite(s->root, a, b);
}

static int group_of(const carom_sweeps *s, int a, int b) { return s->group_of_body[movable(&s->bodies[a]) ? a : b]; }

static bool number_group(carom_sweeps *s, int a, int b) {
  int root = carom_group_root(s->root, movable(&s->bodies[a]) ? a : b);
  if (s->group_of_body[root] >= 0) return true;
  if (!carom_grow(&s->allocator, (void **)&s->groups, s->group_count, &s->group_capacity, sizeof *s->groups))
    return false;
  s->groups[s->group_count] = (carom_sweep_group){0};
  s->group_of_body[root] = s->group_count++;
  return true;
}

static bool number_groups(carom_sweeps *s) {
  for (int i = 0; i < s->body_count; i++) {
    s->root[i] = i;
    s->group_of_body[i] = -1;
  }
  for (int i = 0; i < s->contact_count; i++) join(s, s->contacts[i].a, s->contacts[i].b);
  for (int i = 0; i < s->joint_count; i++) join(s, s->joints[i].a, s->joints[i].b);
  for (int i = 0; i < s->contact_count; i++)
    if (!number_group(s, s->contacts[i].a, s->contacts[i].b)) return false;
  for (int i = 0; i < s->joint_count; i++)
    if (!number_group(s, s->joints[i].a, s->joints[i].b)) return false;
  for (int i = 0; i < s->body_count; i++) s->group_of_body[i] = s->group_of_body[carom_group_root(s->root, i)];
  return true;
}

// A counting sort: groups in order, contacts of a group in the order in which they came.
static void sort_contacts(carom_sweeps *s) {
  for (int i = 0; i < s->contact_count; i++) s->groups[group_of(s, s->contacts[i].a, s->contacts[i].b)].count++;
  for (int g = 1; g < s->group_count; g++) s->groups[g].first = s->groups[g - 1].first + s->groups[g - 1].count;
  for (int g = 0; g < s->group_count; g++) s->groups[g].count = 0;
  for (int i = 0; i < s->contact_count; i++) {
    carom_sweep_group *g = &s->groups[group_of(s, s->contacts[i].a, s->contacts[i].b)];
    s->unsorted[g->first + g->count++] = s->contacts[i];
  }
  carom_sweep_contact *sorted = s->unsorted;
  int capacity = s->unsorted_capacity;
  s->unsorted = s->contacts;
  s->unsorted_capacity = s->contact_capacity;
  s->contacts = sorted;
  s->contact_capacity = capacity;
}

static void sort_joints(carom_sweeps *s) {
  for (int i = 0; i < s->joint_count; i++) s->groups[group_of(s, s->joints[i].a, s->joints[i].b)].joint_count++;
  for (int g = 1; g < s->group_count; g++)
    s->groups[g].joint_first = s->groups[g - 1].joint_first + s->groups[g - 1].joint_count;
  for (int g = 0; g < s->group_count; g++) s->groups[g].joint_count = 0;
  for (int i = 0; i < s->joint_count; i++) {
    carom_sweep_group *g = &s->groups[group_of(s, s->joints[i].a, s->joints[i].b)];
    s->unsorted_joints[g->joint_first + g->joint_count++] = s->joints[i];
  }
  carom_sweep_joint *sorted = s->unsorted_joints;
  int capacity = s->unsorted_joint_capacity;
  s->unsorted_joints = s->joints;
  s->unsorted_joint_capacity = s->joint_capacity;
  s->joints = sorted;
  s->joint_capacity = capacity;
}

carom_status carom_sweeps_group(carom_sweeps *s, carom_error *error) {
  s->group_count = 0;
  const carom_allocator *a = &s->allocator;
  if (!number_groups(s) ||
      !carom_reserve(a, (void **)&s->unsorted, &s->unsorted_capacity, s->contact_count, sizeof *s->unsorted) ||
      !carom_reserve(a, (void **)&s->unsorted_joints, &s->unsorted_joint_capacity, s->joint_count,
                     sizeof *s->unsorted_joints))
    return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for %d contacts", s->contact_count);
  sort_contacts(s);
  sort_joints(s);
  return CAROM_OK;
}

// ---- one contact --------------------------------------------------------------------------------------------------

double carom_sweep_speed(const carom_sweeps *s, int a, int b, const carom_sweep_row *row) {
  const carom_sweep_body *A = &s->bodies[a], *B = &s->bodies[b];
  return cm_dot(row->d, cm_sub(A->v, B->v)) + cm_dot(row->ra, A->w) - cm_dot(row->rb, B->w);
}

void carom_sweep_velocity(const carom_sweeps *s, const carom_sweep_contact *c, double u[3]) {
  for (int k = 0; k < 3; k++) u[k] = carom_sweep_speed(s, c->a, c->b, &c->row[k]);
}

carom_vec3 carom_sweep_impulse(const carom_sweep_contact *c) {
  carom_vec3 P = cm_scale(c->gamma[0], c->row[0].d);
  return cm_axpy(cm_axpy(P, c->gamma[1], c->row[1].d), c->gamma[2], c->row[2].d);
}

// Immovable bodies may belong to several groups, hence to several threads: they are not written.
static void push_body(carom_sweep_body *body, carom_vec3 d, carom_vec3 w, double impulse) {
  if (!movable(body)) return;
  body->v = cm_axpy(body->v, impulse * body->inverse_mass, d);
  body->w = cm_axpy(body->w, impulse, w);
}

static void push(carom_sweeps *s, int a, int b, const carom_sweep_row *row, double impulse) {
  push_body(&s->bodies[a], row->d, row->wa, impulse);
  push_body(&s->bodies[b], row->d, row->wb, -impulse);
}

// Minimises 1/2 g'Wg + r.g over the disc |g| <= R: the tangential impulse of maximal dissipation. On the rim
// (W + k I) g = -r with k > 0, found by Newton's method on 1/|g(k)|, which is nearly linear in k (More and Sorensen
// 1983).
static void disc_minimum(double Wtt, double Wts, double Wss, double rt, double rs, double R, double g[2]) {
  double k = 0;
  for (int i = 0; i < 30; i++) {
    double a = Wtt + k, c = Wss + k, det = a * c - Wts * Wts;
    double x = -(c * rt - Wts * rs) / det, y = -(a * rs - Wts * rt) / det, length = sqrt(x * x + y * y);
    g[0] = x;
    g[1] = y;
    if (length <= R * (1 + 1e-14)) return;
    double hx = (c * x - Wts * y) / det, hy = (a * y - Wts * x) / det;
    double step = (length / R - 1) * length * length / (x * hx + y * hy);
    k += step;
    if (!(step > 1e-15 * k)) break;
  }
  double length = sqrt(g[0] * g[0] + g[1] * g[1]);
  if (length > R) {
    g[0] *= R / length;
    g[1] *= R / length;
  }
}

static double sweep_normal(carom_sweeps *s, carom_sweep_contact *c) {
  const carom_sweep_row *n = &c->row[0];
  double u = carom_sweep_speed(s, c->a, c->b, n), old = c->gamma[0];
  c->gamma[0] = fmax(0, old - (u - c->target) / n->W);
  double change = c->gamma[0] - old;
  if (change != 0) push(s, c->a, c->b, n, change);
  return fabs(change) * n->W;
}

static double sweep_tangents(carom_sweeps *s, carom_sweep_contact *c) {
  const carom_sweep_row *t = &c->row[1], *w = &c->row[2];
  double R = c->friction * c->gamma[0], g[2] = {0, 0};
  if (R > 0) {
    double ut = carom_sweep_speed(s, c->a, c->b, t), us = carom_sweep_speed(s, c->a, c->b, w);
    double rt = ut - t->W * c->gamma[1] - c->W_ts * c->gamma[2], rs = us - c->W_ts * c->gamma[1] - w->W * c->gamma[2];
    disc_minimum(t->W, c->W_ts, w->W, rt, rs, R, g);
  }
  double dt = g[0] - c->gamma[1], ds = g[1] - c->gamma[2];
  if (dt != 0) push(s, c->a, c->b, t, dt);
  if (ds != 0) push(s, c->a, c->b, w, ds);
  c->gamma[1] = g[0];
  c->gamma[2] = g[1];
  return fmax(fabs(dt) * t->W, fabs(ds) * w->W);
}

static double sweep_joint(carom_sweeps *s, carom_sweep_joint *j) {
  double change = (j->target - carom_sweep_speed(s, j->a, j->b, &j->row)) / j->row.W;
  j->lambda += change;
  push(s, j->a, j->b, &j->row, change);
  return fabs(change) * j->row.W;
}

// ---- a group ------------------------------------------------------------------------------------------------------

static double sweep_group(carom_sweeps *s, const carom_sweep_group *g) {
  double change = 0;
  for (int i = g->joint_first; i < g->joint_first + g->joint_count; i++)
    change = fmax(change, sweep_joint(s, &s->joints[i]));
  for (int i = g->first; i < g->first + g->count; i++) {
    carom_sweep_contact *c = &s->contacts[i];
    change = fmax(change, sweep_normal(s, c));
    if (c->friction > 0) change = fmax(change, sweep_tangents(s, c));
  }
  return change;
}

static double scale_of(const carom_sweeps *s, carom_sweep_group *g) {
  double scale = 0;
  g->speed = 0;
  for (int i = g->first; i < g->first + g->count; i++) {
    double u[3];
    carom_sweep_velocity(s, &s->contacts[i], u);
    scale = fmax(scale, s->contacts[i].target - u[0]);
    for (int k = 0; k < 3; k++) g->speed = fmax(g->speed, fabs(u[k]));
  }
  for (int i = g->joint_first; i < g->joint_first + g->joint_count; i++) {
    const carom_sweep_joint *j = &s->joints[i];
    scale = fmax(scale, fabs(j->target - carom_sweep_speed(s, j->a, j->b, &j->row)));
  }
  return scale;
}

// What one more Gauss-Seidel update of this contact alone would change, without making it.
static double residual_of(const carom_sweeps *s, const carom_sweep_contact *c) {
  double u[3];
  carom_sweep_velocity(s, c, u);
  double W = c->row[0].W, worst = fabs(fmin(u[0] - c->target, c->gamma[0] * W));
  if (c->friction == 0) return worst;
  double g[2], R = c->friction * c->gamma[0], a = c->row[1].W, b = c->row[2].W;
  if (R <= 0) return worst;
  disc_minimum(a, c->W_ts, b, u[1] - a * c->gamma[1] - c->W_ts * c->gamma[2],
               u[2] - c->W_ts * c->gamma[1] - b * c->gamma[2], R, g);
  return fmax(worst, fmax(fabs(g[0] - c->gamma[1]) * a, fabs(g[1] - c->gamma[2]) * b));
}

double carom_sweep_group_residual(const carom_sweeps *s, const carom_sweep_group *g) {
  double worst = 0;
  for (int i = g->first; i < g->first + g->count; i++) worst = fmax(worst, residual_of(s, &s->contacts[i]));
  for (int i = g->joint_first; i < g->joint_first + g->joint_count; i++) {
    const carom_sweep_joint *j = &s->joints[i];
    worst = fmax(worst, fabs(j->target - carom_sweep_speed(s, j->a, j->b, &j->row)));
  }
  return worst;
}

void carom_sweep_apply(carom_sweeps *s, const carom_sweep_group *g) {
  for (int i = g->first; i < g->first + g->count; i++) {
    carom_sweep_contact *c = &s->contacts[i];
    for (int k = 0; k < 3; k++)
      if (c->gamma[k] != 0) push(s, c->a, c->b, &c->row[k], c->gamma[k]);
  }
  for (int i = g->joint_first; i < g->joint_first + g->joint_count; i++)
    push(s, s->joints[i].a, s->joints[i].b, &s->joints[i].row, s->joints[i].lambda);
}

void carom_sweep_withdraw(carom_sweeps *s, carom_sweep_group *g) {
  for (int i = g->first; i < g->first + g->count; i++) {
    carom_sweep_contact *c = &s->contacts[i];
    for (int k = 0; k < 3; k++) {
      if (c->gamma[k] != 0) push(s, c->a, c->b, &c->row[k], -c->gamma[k]);
      c->gamma[k] = 0;
    }
  }
  for (int i = g->joint_first; i < g->joint_first + g->joint_count; i++) {
    carom_sweep_joint *j = &s->joints[i];
    push(s, j->a, j->b, &j->row, -j->lambda);
    j->lambda = 0;
  }
  g->sweeps = 0;
}

static int sweep_limit(const carom_sweep_group *g, const carom_sweep_options *o) {
  int items = g->count + g->joint_count;
  double budget = o->max_updates / (items > 0 ? items : 1);
  return budget < o->max_sweeps ? (int)budget : o->max_sweeps;
}

static double enough_for(const carom_sweep_group *g, const carom_sweep_options *o) {
  return fmax(o->tolerance * g->scale, o->floor);
}

static void sweep_until(carom_sweeps *s, carom_sweep_group *g, const carom_sweep_options *o, int limit) {
  double enough = enough_for(g, o);
  while (g->sweeps < limit) {
    g->sweeps++;
    if (sweep_group(s, g) <= enough) break;
  }
  g->residual = carom_sweep_group_residual(s, g);
}

// ---- accelerated sweeps ---------------------------------------------------------------------------------------------

// Goes on along the last direction by `share` of it, then sweeps; returns the largest change, and in *size the square
// of the step that the sweep made, in the metric of W.
static double sweep_along(carom_sweeps *s, const carom_sweep_group *g, double share, double *size) {
  for (int i = g->first; i < g->first + g->count; i++) {
    carom_sweep_contact *c = &s->contacts[i];
    for (int k = 0; k < 3; k++) {
      c->way[k] *= share;
      c->gamma[k] += c->way[k];
      if (c->way[k] != 0) push(s, c->a, c->b, &c->row[k], c->way[k]);
      c->old[k] = c->gamma[k];
    }
  }
  for (int i = g->joint_first; i < g->joint_first + g->joint_count; i++) {
    carom_sweep_joint *j = &s->joints[i];
    j->way *= share;
    j->lambda += j->way;
    push(s, j->a, j->b, &j->row, j->way);
    j->old = j->lambda;
  }
  double change = sweep_group(s, g);
  *size = 0;
  for (int i = g->first; i < g->first + g->count; i++) {
    carom_sweep_contact *c = &s->contacts[i];
    for (int k = 0; k < 3; k++) {
      double step = c->gamma[k] - c->old[k];
      c->way[k] += step;
      *size += c->row[k].W * step * step;
    }
  }
  for (int i = g->joint_first; i < g->joint_first + g->joint_count; i++) {
    carom_sweep_joint *j = &s->joints[i];
    j->way += j->lambda - j->old;
    *size += j->row.W * (j->lambda - j->old) * (j->lambda - j->old);
  }
  return change;
}

// Sweeps as the steps of conjugate gradients: the step of a sweep stands for the gradient, the share of the last
// direction is that of Fletcher and Reeves, and the direction is forgotten where steps grow (Silcowitz, Niebe and
// Erleben 2010, NNCG). Every round ends in a sweep, so that impulses are in their cones.
static void accelerate_until(carom_sweeps *s, carom_sweep_group *g, const carom_sweep_options *o, int limit) {
  double enough = enough_for(g, o), last = 0, share = 0;
  while (g->sweeps < limit) {
    double size, change = sweep_along(s, g, share, &size);
    g->sweeps++;
    if (change <= enough) break;
    share = last > 0 && size < last ? size / last : 0;
    last = size;
  }
  g->residual = carom_sweep_group_residual(s, g);
}

// Velocities that the contacts bring about count, too: a group that rests on a good guess is not at fault.
static void note_scale(const carom_sweeps *s, carom_sweep_group *g) {
  for (int i = g->first; i < g->first + g->count; i++)
    g->scale = fmax(g->scale, s->contacts[i].gamma[0] * s->contacts[i].row[0].W);
}

// Small changes do not mean a small error when sweeps converge slowly: hence the residual decides.
static bool settled(const carom_sweep_group *g, const carom_sweep_options *o) {
  return g->skip || g->residual <= enough_for(g, o);
}

static bool is_acceptable(const carom_sweep_group *g, const carom_sweep_options *o) {
  return settled(g, o) || g->residual <= o->acceptable * g->scale;
}

static void sweep_on(carom_sweeps *s, carom_sweep_group *g, const carom_sweep_options *o) {
  if (o->thorough)
    accelerate_until(s, g, o, sweep_limit(g, o));
  else
    sweep_until(s, g, o, sweep_limit(g, o));
}

// Where Newton's method gets stuck between two laws, a few sweeps lead it elsewhere.
static void alternate(carom_sweeps *s, carom_sweep_group *g, const carom_sweep_options *o, double enough) {
  double acceptable = o->acceptable * g->scale;
  for (int k = 0; k < ALTERNATIONS && !settled(g, o) && (k == 0 || g->residual > acceptable); k++) {
    if (k > 0) sweep_until(s, g, o, g->sweeps + FEW_SWEEPS);
    g->residual = carom_sweep_newton_solve(s->newton, s, g, enough, acceptable);
  }
}

// Few sweeps first, which is all that most groups need; then Newton's method, to the full accuracy in small groups. In
// larger ones it is dear: there it comes after more sweeps, for those alone that are still not acceptable (rings of
// bodies wedged by friction, on which sweeps wander about). It has one scratch, so groups take turns.
void carom_sweeps_solve(carom_sweeps *s, const carom_sweep_options *o) {
  bool parallel = o->threads > 1 && s->group_count > 1;
#pragma omp parallel for num_threads(o->threads) schedule(dynamic, 1) if (parallel)
  for (int i = 0; i < s->group_count; i++) {
    carom_sweep_group *g = &s->groups[i];
    if (g->skip) continue;
    g->scale = scale_of(s, g);
    carom_sweep_apply(s, g);
    note_scale(s, g);
    sweep_until(s, g, o, FEW_SWEEPS);
    note_scale(s, g);
  }
  for (int i = 0; i < s->group_count; i++) {
    carom_sweep_group *g = &s->groups[i];
    if (!settled(g, o) && carom_sweep_newton_bodies(s->newton, s, g) <= FEW_BODIES)
      alternate(s, g, o, enough_for(g, o));
  }
#pragma omp parallel for num_threads(o->threads) schedule(dynamic, 1) if (parallel)
  for (int i = 0; i < s->group_count; i++)
    if (!is_acceptable(&s->groups[i], o)) sweep_on(s, &s->groups[i], o);
  for (int i = 0; i < s->group_count && o->thorough; i++) {
    carom_sweep_group *g = &s->groups[i];
    int bodies = is_acceptable(g, o) ? 0 : carom_sweep_newton_bodies(s->newton, s, g);
    if (bodies > FEW_BODIES && bodies <= CAROM_NEWTON_BODIES) alternate(s, g, o, o->acceptable * g->scale);
  }
}

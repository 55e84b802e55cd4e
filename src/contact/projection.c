#include "contact/projection.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

enum {
  MAX_PROGRAMS = 12,
  MOST_PROGRAMS = 120,   // for groups that are still visibly in one another
  CLOSEST_PROGRAMS = 5,  // after so many, steps are measured from the last iterate: no longer the closest point, but
                         // inexact solutions of large groups add up
};
static const double SETTLED = 1e3;  // how small the last change must be, in tolerances
static const double VISIBLE = 1e4;  // overlap that is worth many programs, in tolerances
static const double BUFFER = 3;     // d_b over the deepest overlap (Johnson 2012, 3.5.3)

carom_status carom_projection_create(const carom_model *model, carom_contacts *contacts, carom_sweeps *sweeps,
                                     const carom_allocator *allocator, carom_projection **projection,
                                     carom_error *error) {
  carom_allocator a = carom_allocator_or_default(allocator);
  carom_projection *p = CAROM_NEW(&a, carom_projection, 1);
  if (!p) return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for the projection");
  *p = (carom_projection){.contacts = contacts, .sweeps = sweeps, .allocator = a};
  p->x_start = CAROM_NEW(&a, carom_vec3, model->body_count);
  p->q_start = CAROM_NEW(&a, carom_quat, model->body_count);
  p->d = CAROM_NEW(&a, carom_vec3, model->body_count);
  p->r = CAROM_NEW(&a, carom_vec3, model->body_count);
  p->limits = CAROM_NEW(&a, carom_joint_limit, carom_joints_limit_capacity(model));
  if (!p->x_start || !p->q_start || !p->d || !p->r || !p->limits) {
    carom_projection_destroy(p);
    return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for the projection");
  }
  *projection = p;
  return CAROM_OK;
}

void carom_projection_destroy(carom_projection *p) {
  if (!p) return;
  carom_allocator a = p->allocator;
  carom_release(&a, p->x_start);
  carom_release(&a, p->q_start);
  carom_release(&a, p->d);
  carom_release(&a, p->r);
  carom_release(&a, p->limits);
  carom_release(&a, p);
}

static carom_mat3 world_inverse_inertia(const carom_body *body, carom_quat q) {
  carom_mat3 R = cm_rotation(q), S = R;
  carom_vec3 i = body->inverse_inertia;
  for (int k = 0; k < 3; k++) {
    S.m[k][0] *= i.x;
    S.m[k][1] *= i.y;
    S.m[k][2] *= i.z;
  }
  return cm_mmul(S, cm_transpose(R));
}

void carom_sweeps_place(carom_sweeps *sweeps, const carom_model *model, const carom_quat *q) {
  for (int i = 0; i < model->body_count; i++)
    sweeps->bodies[i] = (carom_sweep_body){.inverse_mass = model->bodies[i].inverse_mass,
                                           .inverse_inertia = world_inverse_inertia(&model->bodies[i], q[i])};
}

static double furthest_beyond_limits(const carom_projection *p, const carom_state *state) {
  int count = carom_joints_limits(p->contacts->model, state, 0, p->limits);
  double beyond = 0;
  for (int i = 0; i < count; i++) beyond = fmax(beyond, -p->limits[i].gap);
  return beyond;
}

static double deepest(const carom_projection *p, const carom_state *state, const carom_contact *contacts, int count) {
  double overlap = furthest_beyond_limits(p, state);
  for (int i = 0; i < count; i++)
    if (-contacts[i].gap > overlap &&
        !carom_joints_hold(p->contacts->model, state, contacts[i].body_a, contacts[i].body_b))
      overlap = -contacts[i].gap;
  return overlap;
}

static double deepest_of_pairs(carom_contacts *set, const carom_state *state, carom_status *status) {
  double overlap = 0;
  for (int i = 0; i < set->pair_count && *status == CAROM_OK; i++) {
    carom_distance_result d;
    if (carom_joints_hold(set->model, state, set->pairs[i].body_a, set->pairs[i].body_b)) continue;
    *status = carom_contacts_distance(set, i, state, &d);
    if (*status == CAROM_OK) overlap = fmax(overlap, -d.distance);
  }
  return overlap;
}

static double moved_along(const carom_projection *p, int a, int b, const carom_sweep_row *row) {
  const carom_vec3 zero = cm_zero3();
  int count = p->contacts->model->body_count;  // beyond it is the world
  carom_vec3 da = a < count ? p->d[a] : zero, ra = a < count ? p->r[a] : zero;
  carom_vec3 db = b < count ? p->d[b] : zero, rb = b < count ? p->r[b] : zero;
  return cm_dot(row->d, cm_sub(da, db)) + cm_dot(row->ra, ra) - cm_dot(row->rb, rb);
}

static carom_status add_limits(carom_projection *p, const carom_state *state, double buffer, carom_error *error) {
  int count = carom_joints_limits(p->contacts->model, state, buffer, p->limits);
  for (int i = 0; i < count; i++) {
    carom_sweep_contact *row = carom_sweeps_add_joint_limit(p->sweeps, p->contacts->model, &p->limits[i]);
    if (!row) return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for %d limits of joints", count);
    row->target = moved_along(p, row->a, row->b, &row->row[0]) - p->limits[i].gap;
  }
  return CAROM_OK;
}

// The linearised gap at a total displacement D is gap + J (D - D_now) >= 0.
static carom_status linearise(carom_projection *p, const carom_state *state, const carom_contact *contacts, int count,
                              double buffer, carom_error *error) {
  carom_sweeps *s = p->sweeps;
  const carom_vec3 *x = state->x;
  carom_sweeps_clear(s);
  for (int i = 0; i < count; i++) {
    const carom_contact *c = &contacts[i];
    if (carom_joints_hold(p->contacts->model, state, c->body_a, c->body_b)) continue;
    carom_vec3 point = cm_lerp(c->point_a, c->point_b, 0.5);
    carom_sweep_contact *row = carom_sweeps_add(s, c->body_a, c->body_b, c->normal, point, x[c->body_a], x[c->body_b]);
    if (!row) return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for %d contacts", count);
    row->target = moved_along(p, row->a, row->b, &row->row[0]) - c->gap;
  }
  carom_status status = add_limits(p, state, buffer, error);
  if (status == CAROM_OK) status = carom_sweeps_add_joints(s, p->contacts->model, state, true, error);
  if (status != CAROM_OK) return status;
  for (int i = 0; i < s->joint_count; i++)
    s->joints[i].target += moved_along(p, s->joints[i].a, s->joints[i].b, &s->joints[i].row);
  return carom_sweeps_group(s, error);
}

// Groups in which nothing overlaps and nothing was moved stay where they are.
static void skip_idle_groups(carom_projection *p, double tolerance) {
  carom_sweeps *s = p->sweeps;
  for (int g = 0; g < s->group_count; g++) {
    bool idle = true;
    for (int i = s->groups[g].first; i < s->groups[g].first + s->groups[g].count && idle; i++)
      idle = s->contacts[i].target <= tolerance;
    s->groups[g].skip = idle;
  }
}

// Returns the largest change since the program before.
static double take_displacements(carom_projection *p, carom_vec3 *x, carom_quat *q) {
  const carom_sweeps *s = p->sweeps;
  double change = 0;
  for (int b = 0; b < p->contacts->model->body_count; b++) {
    int g = s->group_of_body[b];
    if (g < 0 || s->groups[g].skip || s->bodies[b].inverse_mass == 0) continue;
    double radius = p->contacts->model->bodies[b].bounding_radius;
    change = fmax(change, cm_norm(cm_sub(p->d[b], s->bodies[b].v)) + radius * cm_norm(cm_sub(p->r[b], s->bodies[b].w)));
    p->d[b] = s->bodies[b].v;
    p->r[b] = s->bodies[b].w;
    x[b] = cm_add(p->x_start[b], p->d[b]);
    q[b] = cm_qunit(cm_qmul(cm_exp(p->r[b]), p->q_start[b]));
  }
  return change;
}

static void start_from(carom_projection *p, const carom_vec3 *x, const carom_quat *q) {
  size_t n = (size_t)p->contacts->model->body_count;
  memcpy(p->x_start, x, n * sizeof *x);
  memcpy(p->q_start, q, n * sizeof *q);
  memset(p->d, 0, n * sizeof *p->d);
  memset(p->r, 0, n * sizeof *p->r);
}

static carom_status solve_program(carom_projection *p, carom_state *state, const carom_contact *contacts, int count,
                                  double buffer, double tolerance, int threads, double *change, carom_error *error) {
  carom_sweeps_place(p->sweeps, p->contacts->model, state->q);
  carom_status status = linearise(p, state, contacts, count, buffer, error);
  if (status != CAROM_OK) return status;
  skip_idle_groups(p, tolerance);
  carom_sweep_options options = {.tolerance = 1e-12,
                                 .floor = 0.1 * tolerance,
                                 .acceptable = 1e-6,
                                 .max_sweeps = 300,
                                 .max_updates = 1e5,
                                 .threads = threads};
  carom_sweeps_solve(p->sweeps, &options);
  *change = take_displacements(p, state->x, state->q);
  return CAROM_OK;
}

carom_status carom_projection_run(carom_projection *p, carom_state *state, double tolerance, int threads,
                                  carom_projection_info *info, carom_error *error) {
  carom_status status = CAROM_OK;
  *info = (carom_projection_info){0};
  double beyond = furthest_beyond_limits(p, state);
  info->overlap = info->overlap_before = fmax(beyond, deepest_of_pairs(p->contacts, state, &status));
  if (status != CAROM_OK)
    return carom_fail(error, status, "no separation of two bodies at t = %.9g s: a pose is not finite", state->time);
  if (info->overlap <= tolerance) return CAROM_OK;
  double buffer = BUFFER * info->overlap_before, change = INFINITY;
  start_from(p, state->x, state->q);
  for (;;) {
    const carom_contact *contacts;
    int count;
    status = carom_contacts_find(p->contacts, state, &(carom_contact_query){CAROM_CONTACT_POLYGON, buffer, buffer},
                                 &contacts, &count, error);
    if (status != CAROM_OK) return status;
    info->overlap = deepest(p, state, contacts, count);
    // A corner swings on an arc: after one program it may hang above the other body instead of touching it.
    bool settled = info->overlap <= tolerance && change <= SETTLED * tolerance;
    int most = info->overlap > VISIBLE * tolerance ? MOST_PROGRAMS : MAX_PROGRAMS;
    if (settled || info->iterations >= most) return CAROM_OK;
    if (info->iterations++ >= CLOSEST_PROGRAMS) start_from(p, state->x, state->q);
    status = solve_program(p, state, contacts, count, buffer, tolerance, threads, &change, error);
    if (status != CAROM_OK) return status;
  }
}

#include "contact/projection.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "contact/solve/problem.h"

enum {
  MAX_PROGRAMS = 20,
  MOST_PROGRAMS = 120,   // for groups that are still visibly in one another
  CLOSEST_PROGRAMS = 5,  // after so many that do not converge, steps are measured from the last iterate: no longer the
                         // closest point, but inexact solutions of large groups add up
};
static const double CONVERGING = 0.7;  // a change over the one before
static const double SETTLED = 1e3;     // how small the last change must be, in tolerances
static const double VISIBLE = 1e2;     // overlap that is worth many programs, in tolerances
static const double BUFFER = 3;        // d_b over the deepest overlap (Johnson 2012, 3.5.3)

static void lay_out(void *owner, carom_arena *arena) {
  carom_projection *p = owner;
  const carom_model *model = p->contacts->model;
  p->x_start = CAROM_PUSH(arena, carom_vec3, model->body_count);
  p->q_start = CAROM_PUSH(arena, carom_quat, model->body_count);
  p->d = CAROM_PUSH(arena, carom_vec3, model->body_count);
  p->r = CAROM_PUSH(arena, carom_vec3, model->body_count);
  p->limits = CAROM_PUSH(arena, carom_joint_limit, carom_joints_limit_capacity(model));
}

carom_status carom_projection_create(carom_contacts *contacts, carom_gathering *gathering, carom_groups *groups,
                                     carom_projection **projection, carom_error *error) {
  const carom_projection initial = {.contacts = contacts, .gathering = gathering, .groups = groups};
  *projection = carom_object_create(&initial, sizeof initial, lay_out, &gathering->arena.allocator, error);
  return *projection ? CAROM_OK : CAROM_ERR_MEMORY;
}

void carom_projection_destroy(carom_projection *p) {
  if (p) carom_object_destroy(p);
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

// ---- one program --------------------------------------------------------------------------------------------------
// The linearised gap at a total displacement D is gap + J (D - D_now) >= 0.

static carom_status add_contacts(carom_projection *p, const carom_state *state, const carom_contact *contacts,
                                 int count, carom_error *error) {
  for (int i = 0; i < count; i++) {
    if (carom_joints_hold(p->contacts->model, state, contacts[i].body_a, contacts[i].body_b)) continue;
    carom_contact_point *c = carom_gathering_add_contact(p->gathering, &contacts[i], state->x);
    if (!c) return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for %d contacts", count);
    c->friction = 0;
    c->bias = contacts[i].gap - cm_dot(c->normal, carom_contact_slip(c, p->d, p->r));
  }
  return CAROM_OK;
}

static carom_status add_limits(carom_projection *p, const carom_state *state, double buffer, carom_error *error) {
  int count = carom_joints_limits(p->contacts->model, state, buffer, p->limits);
  for (int i = 0; i < count; i++) {
    carom_contact_row *row = carom_gathering_add_limit(p->gathering, p->limits, i);
    if (!row) return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for %d limits of joints", count);
    row->bias = p->limits[i].gap - carom_contact_rate(row, p->d, p->r);
  }
  return CAROM_OK;
}

static carom_status add_joints(carom_projection *p, const carom_state *state, carom_error *error) {
  int first = p->gathering->row_count;
  carom_status status = carom_gathering_add_joints(p->gathering, state, true, error);
  for (int i = first; i < p->gathering->row_count; i++)
    p->gathering->rows[i].bias -= carom_contact_rate(&p->gathering->rows[i], p->d, p->r);
  return status;
}

// Groups in which nothing overlaps and nothing was moved stay where they are.
static bool is_idle(const carom_projection *p, const carom_group *g, double tolerance) {
  for (int i = 0; i < g->moving; i++)
    if (cm_norm2(p->d[g->body[i]]) > 0 || cm_norm2(p->r[g->body[i]]) > 0) return false;
  for (int i = 0; i < g->problem.contact_count; i++)
    if (-g->contacts[i].bias > tolerance) return false;
  for (int i = 0; i < g->problem.row_count; i++) {
    const carom_contact_row *row = &g->problem.rows[i];
    if (row->lower == 0 && -row->bias > tolerance) return false;
  }
  return true;
}

// Returns the largest change since the program before.
static double take_displacements(carom_projection *p, carom_state *state) {
  const carom_groups *g = p->groups;
  double change = 0;
  for (int b = 0; b < p->contacts->model->body_count; b++) {
    const carom_body *body = &p->contacts->model->bodies[b];
    if (body->fixed || g->of_body[b] < 0 || g->groups[g->of_body[b]].state == CAROM_GROUP_IDLE) continue;
    carom_vec3 d = p->gathering->solution.velocities[b], r = p->gathering->solution.spins[b];
    change = fmax(change, cm_norm(cm_sub(p->d[b], d)) + body->bounding_radius * cm_norm(cm_sub(p->r[b], r)));
    p->d[b] = d;
    p->r[b] = r;
    state->x[b] = cm_add(p->x_start[b], d);
    state->q[b] = cm_qunit(cm_qmul(cm_exp(r), p->q_start[b]));
  }
  return change;
}

static carom_status solve_program(carom_projection *p, carom_state *state, double tolerance, double *change,
                                  carom_error *error) {
  carom_contact_problem problem = carom_gathering_problem(p->gathering);
  carom_groups_options options = {
      .tolerance = 1e-12, .floor = 0.1 * tolerance, .acceptable = 1e-6, .max_sweeps = 300, .max_updates = 1e5};
  carom_status status = carom_groups_split(p->groups, &problem, &p->gathering->solution, error);
  if (status != CAROM_OK) return status;
  for (int i = 0; i < p->groups->count; i++)
    if (is_idle(p, &p->groups->groups[i], tolerance)) p->groups->groups[i].state = CAROM_GROUP_IDLE;
  status = carom_groups_solve(p->groups, &options, error);
  if (status != CAROM_OK) return status;
  carom_groups_join(p->groups, &p->gathering->solution);
  *change = take_displacements(p, state);
  return CAROM_OK;
}

// ---- the projection -----------------------------------------------------------------------------------------------

static void start_from(carom_projection *p, const carom_vec3 *x, const carom_quat *q) {
  size_t n = (size_t)p->contacts->model->body_count;
  memcpy(p->x_start, x, n * sizeof *x);
  memcpy(p->q_start, q, n * sizeof *q);
  memset(p->d, 0, n * sizeof *p->d);
  memset(p->r, 0, n * sizeof *p->r);
}

// Contacts at the present configuration, those near enough to meet included, and the deepest overlap.
static carom_status look(carom_projection *p, const carom_state *state, double buffer, double *overlap,
                         carom_error *error) {
  const carom_contact *contacts;
  int count;
  carom_contact_query query = {.detail = CAROM_CONTACT_POLYGON, .reach = buffer, .slop = buffer};
  carom_status status = carom_contacts_extend(p->contacts, state, error);
  if (status == CAROM_OK) status = carom_contacts_find(p->contacts, state, &query, &contacts, &count, error);
  if (status != CAROM_OK) return status;
  *overlap = deepest(p, state, contacts, count);
  return CAROM_OK;
}

// Gaps of the contacts that were looked at last, linearised.
static carom_status linearise(carom_projection *p, const carom_state *state, double buffer, carom_error *error) {
  carom_gathering_begin(p->gathering, state->q);
  carom_status status = add_contacts(p, state, p->contacts->contacts, p->contacts->contact_count, error);
  if (status == CAROM_OK) status = add_limits(p, state, buffer, error);
  if (status == CAROM_OK) status = add_joints(p, state, error);
  return status;
}

carom_status carom_projection_run(carom_projection *p, carom_state *state, double tolerance,
                                  carom_projection_info *info, carom_error *error) {
  carom_status status = CAROM_OK;
  *info = (carom_projection_info){0};
  double beyond = furthest_beyond_limits(p, state);
  info->overlap = info->overlap_before = fmax(beyond, deepest_of_pairs(p->contacts, state, &status));
  if (status != CAROM_OK)
    return carom_fail(error, status, "no separation of two bodies at t = %.9g s: a pose is not finite", state->time);
  if (info->overlap <= tolerance) return CAROM_OK;
  double buffer = BUFFER * info->overlap_before, change = INFINITY, before = INFINITY;
  bool closest = true;
  start_from(p, state->x, state->q);
  for (;;) {
    status = look(p, state, buffer, &info->overlap, error);
    if (status != CAROM_OK) return status;
    // A corner swings on an arc: after one program it may hang above the other body instead of touching it.
    bool settled = info->overlap <= tolerance && change <= SETTLED * tolerance;
    int most = info->overlap > VISIBLE * tolerance ? MOST_PROGRAMS : MAX_PROGRAMS;
    if (settled || info->iterations >= most) return CAROM_OK;
    closest = closest && (info->iterations < CLOSEST_PROGRAMS || change <= CONVERGING * before);
    if (!closest) start_from(p, state->x, state->q);
    info->iterations++;
    before = change;
    status = linearise(p, state, buffer, error);
    if (status == CAROM_OK) status = solve_program(p, state, tolerance, &change, error);
    if (status != CAROM_OK) return status;
  }
}

#include "impact/system.h"

#include <math.h>
#include <string.h>

#include "base/groups.h"
#include "base/memory.h"
#include "model/joints.h"

// One contact or joint limit. Rows are those of joints: what the velocity along a direction is made of, and where an
// impulse along it goes. Body 1 of a row is the contact's A, body 0 its B. A limit has one row, and zeros for tangents.
typedef struct member {
  carom_contact contact;  // of a limit: pair = -1 - its number, no bodies
  carom_vec3 point;
  carom_row rows[3];
  carom_vec3 spin[3][2];  // I^-1 angular of each row and body
} member;

struct carom_impact_system {
  const carom_model *model;
  carom_allocator allocator;
  int capacity;     // contacts that fit
  member *members;  // (count) as loaded
  int count;
  int *group;             // (capacity) of each contact given to resolve: the smallest body number of its group
  carom_contact *batch;   // (capacity) the contacts of one group
  double *W, *u, *P, *v;  // of the problem loaded
  double *e, *mu;
  carom_impact_work *work;
  int *parent;                // (body_count) union-find
  carom_joints *joints;       // null for a model without
  carom_vec3 *dp, *dl;        // (body_count) momenta that joints are to project
  carom_joint_limit *limits;  // (carom_joints_limit_capacity)
  double *joint_impulse;      // (joint_count * CAROM_JOINT_ROWS)
  carom_contact_event *events;
  int event_count, event_capacity;
  double time, span;  // of driven bodies' velocities
};

// ---- memory ------------------------------------------------------------------------------------------------------

static void release_arrays(carom_impact_system *s) {
  void *blocks[] = {s->members, s->group, s->batch, s->W, s->u, s->P, s->v, s->e, s->mu};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) carom_release(&s->allocator, blocks[i]);
  carom_impact_work_destroy(s->work);
  s->members = NULL, s->group = NULL, s->batch = NULL, s->work = NULL;
  s->W = s->u = s->P = s->v = s->e = s->mu = NULL;
  s->capacity = s->count = 0;
}

static carom_status make_arrays(carom_impact_system *s, int n, carom_error *error) {
  const carom_allocator *a = &s->allocator;
  size_t m = 3 * (size_t)n;
  s->members = CAROM_NEW(a, member, n);
  s->group = CAROM_NEW(a, int, n);
  s->batch = CAROM_NEW(a, carom_contact, n);
  s->W = CAROM_NEW(a, double, m *m);
  s->u = CAROM_NEW(a, double, m);
  s->P = CAROM_NEW(a, double, m);
  s->v = CAROM_NEW(a, double, m);
  s->e = CAROM_NEW(a, double, n);
  s->mu = CAROM_NEW(a, double, n);
  bool all = s->members && s->group && s->batch && s->W && s->u && s->P && s->v && s->e && s->mu;
  if (!all) return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for an impact of %d contacts", n);
  return carom_impact_work_create(n, a, &s->work, error);
}

static carom_status reserve(carom_impact_system *s, int n, carom_error *error) {
  if (n <= s->capacity) return CAROM_OK;
  int wanted = n + n / 2 + 8;
  release_arrays(s);
  carom_status status = make_arrays(s, wanted, error);
  if (status != CAROM_OK)
    release_arrays(s);
  else
    s->capacity = wanted;
  return status;
}

static carom_status make_joints(carom_impact_system *s, carom_error *error) {
  const carom_model *model = s->model;
  s->dp = CAROM_NEW(&s->allocator, carom_vec3, model->body_count);
  s->dl = CAROM_NEW(&s->allocator, carom_vec3, model->body_count);
  s->joint_impulse = CAROM_NEW(&s->allocator, double, model->joint_count *CAROM_JOINT_ROWS);
  s->limits = CAROM_NEW(&s->allocator, carom_joint_limit, carom_joints_limit_capacity(model));
  if (!s->dp || !s->dl || !s->joint_impulse || !s->limits)
    return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for impacts of %d joints", model->joint_count);
  return carom_joints_create(model, &s->allocator, &s->joints, error);
}

carom_status carom_impact_system_create(const carom_model *model, const carom_allocator *allocator,
                                        carom_impact_system **system, carom_error *error) {
  carom_allocator a = carom_allocator_or_default(allocator);
  carom_impact_system *s = CAROM_NEW(&a, carom_impact_system, 1);
  if (!s) return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for impacts");
  *s = (carom_impact_system){.model = model, .allocator = a};
  s->parent = CAROM_NEW(&a, int, model->body_count);
  carom_status status = s->parent ? CAROM_OK : carom_fail(error, CAROM_ERR_MEMORY, "out of memory for impacts");
  if (status == CAROM_OK) status = reserve(s, 16, error);
  if (status == CAROM_OK && model->joint_count > 0) status = make_joints(s, error);
  if (status != CAROM_OK) {
    carom_impact_system_destroy(s);
    return status;
  }
  *system = s;
  return CAROM_OK;
}

void carom_impact_system_destroy(carom_impact_system *system) {
  if (!system) return;
  carom_allocator a = system->allocator;
  release_arrays(system);
  carom_joints_destroy(system->joints);
  carom_release(&a, system->dp);
  carom_release(&a, system->dl);
  carom_release(&a, system->joint_impulse);
  carom_release(&a, system->limits);
  carom_release(&a, system->parent);
  carom_release(&a, system->events);
  carom_release(&a, system);
}

carom_impact_work *carom_impact_system_work(carom_impact_system *system) { return system->work; }

// ---- events ------------------------------------------------------------------------------------------------------

void carom_impact_system_begin(carom_impact_system *system, carom_step_report *report) {
  system->event_count = 0;
  report->events = system->events;
  report->event_count = 0;
}

void carom_impact_system_rewind(carom_impact_system *system, int count) {
  if (count < system->event_count) system->event_count = count;
}

void carom_impact_system_sort(carom_impact_system *system, int first) {
  carom_contact_event *events = system->events;
  for (int i = first + 1; i < system->event_count; i++) {
    carom_contact_event event = events[i];
    int k = i;
    for (; k > first && events[k - 1].time > event.time; k--) events[k] = events[k - 1];
    events[k] = event;
  }
}

carom_status carom_impact_system_note(carom_impact_system *s, const carom_contact_event *event,
                                      carom_step_report *report, carom_error *error) {
  if (!carom_grow(&s->allocator, (void **)&s->events, s->event_count, &s->event_capacity, sizeof *s->events))
    return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for the events of a step");
  s->events[s->event_count++] = *event;
  report->events = s->events;
  report->event_count = s->event_count;
  return CAROM_OK;
}

// ---- rows --------------------------------------------------------------------------------------------------------

static bool moves(const carom_model *model, int body) { return body != CAROM_WORLD && !model->bodies[body].fixed; }

static carom_vec3 spin_of(const carom_model *model, const carom_state *state, int body, carom_vec3 l) {
  carom_quat q = state->q[body];
  return cm_rotate(q, cm_mul_diag(model->bodies[body].inverse_inertia, cm_unrotate(q, l)));
}

static void set_row(const carom_model *model, const carom_state *state, member *m, int r, carom_row row) {
  m->rows[r] = row;
  for (int end = 0; end < 2; end++)
    m->spin[r][end] = moves(model, row.body[end]) ? spin_of(model, state, row.body[end], row.angular[end]) : cm_zero3();
}

static carom_row contact_row(const carom_state *state, const member *m, carom_vec3 direction) {
  int a = m->contact.body_a, b = m->contact.body_b;
  carom_row row = {.body = {b, a}, .linear = {cm_neg(direction), direction}};
  row.angular[0] = cm_neg(cm_cross(cm_sub(m->point, state->x[b]), direction));
  row.angular[1] = cm_cross(cm_sub(m->point, state->x[a]), direction);
  return row;
}

// Both bodies are given the same point, half-way in the gap, so that angular momentum is kept whatever the gap. In a
// planar scene one tangent lies in the plane.
static member contact_member(const carom_model *model, const carom_state *state, const carom_contact *contact) {
  member m = {.contact = *contact, .point = cm_lerp(contact->point_a, contact->point_b, 0.5)};
  carom_vec3 n = contact->normal, s, t;
  cm_frame(n, &s, &t);
  if (model->planar) s = cm_cross(cm_vec3(0, 0, 1), n), t = cm_vec3(0, 0, 1);
  set_row(model, state, &m, 0, contact_row(state, &m, n));
  set_row(model, state, &m, 1, contact_row(state, &m, s));
  set_row(model, state, &m, 2, contact_row(state, &m, t));
  return m;
}

static member limit_member(const carom_model *model, const carom_state *state, const carom_joint_limit *limit,
                           int number) {
  member m = {.contact = {.pair = -1 - number, .body_a = limit->row.body[1], .body_b = limit->row.body[0]}};
  int body = limit->row.body[1];
  carom_vec3 along = limit->turn ? limit->row.angular[1] : limit->row.linear[1];
  m.contact.normal = cm_unit(along);
  m.point = cm_transform(cm_pose(state->x[body], state->q[body]), state->joints[limit->joint].frame[1].p);
  carom_row none = {.body = {CAROM_WORLD, CAROM_WORLD}};
  m.contact.restitution = limit->restitution;
  m.contact.gap = limit->gap;
  set_row(model, state, &m, 0, limit->row);
  set_row(model, state, &m, 1, none);
  set_row(model, state, &m, 2, none);
  return m;
}

void carom_impact_system_set_time(carom_impact_system *system, double time, double span) {
  system->time = time;
  system->span = span;
}

// What driven bodies contribute to the velocity along a row.
static double driven_velocity(const carom_impact_system *s, const carom_row *row) {
  double u = 0;
  for (int end = 0; end < 2 && s->model->drive_count > 0 && s->span > 0; end++) {
    carom_vec3 v, w;
    if (row->body[end] == CAROM_WORLD || !s->model->bodies[row->body[end]].fixed) continue;
    carom_model_motion(s->model, row->body[end], s->time - 0.5 * s->span, s->span, &v, &w);
    u += cm_dot(row->linear[end], v) + cm_dot(row->angular[end], w);
  }
  return u;
}

static double velocity_along(const carom_impact_system *s, const carom_state *state, const member *m, int r) {
  const carom_model *model = s->model;
  const carom_row *row = &m->rows[r];
  double u = driven_velocity(s, row);
  for (int end = 0; end < 2; end++) {
    int body = row->body[end];
    if (!moves(model, body)) continue;
    u += cm_dot(row->linear[end], cm_scale(model->bodies[body].inverse_mass, state->p[body]));
    u += cm_dot(m->spin[r][end], state->l[body]);  // w . angular = l . I^-1 angular
  }
  return u;
}

double carom_contact_normal_velocity(const carom_impact_system *s, const carom_state *state,
                                     const carom_contact *contact) {
  member m = {.contact = *contact, .point = cm_lerp(contact->point_a, contact->point_b, 0.5)};
  set_row(s->model, state, &m, 0, contact_row(state, &m, contact->normal));
  return velocity_along(s, state, &m, 0);
}

// ---- W -----------------------------------------------------------------------------------------------------------

// Velocity along row r of m when the bodies of row c of k get its unit impulse, free bodies.
static double answer(const carom_model *model, const member *m, int r, const member *k, int c) {
  double w = 0;
  for (int i = 0; i < 2; i++) {
    int body = m->rows[r].body[i];
    if (!moves(model, body)) continue;
    for (int j = 0; j < 2; j++)
      if (k->rows[c].body[j] == body)
        w += cm_dot(m->rows[r].linear[i], k->rows[c].linear[j]) * model->bodies[body].inverse_mass +
             cm_dot(m->rows[r].angular[i], k->spin[c][j]);
  }
  return w;
}

static void fill_free(carom_impact_system *s) {
  int m = 3 * s->count;
  for (int j = 0; j < m; j++)
    for (int i = 0; i <= j; i++)
      s->W[i + j * m] = s->W[j + i * m] = answer(s->model, &s->members[i / 3], i % 3, &s->members[j / 3], j % 3);
}

static void clear_momenta(carom_impact_system *s) {
  memset(s->dp, 0, (size_t)s->model->body_count * sizeof *s->dp);
  memset(s->dl, 0, (size_t)s->model->body_count * sizeof *s->dl);
}

static void put_impulse(carom_impact_system *s, const carom_row *row, double P) {
  for (int end = 0; end < 2; end++) {
    int body = row->body[end];
    if (!moves(s->model, body)) continue;
    s->dp[body] = cm_axpy(s->dp[body], P, row->linear[end]);
    s->dl[body] = cm_axpy(s->dl[body], P, row->angular[end]);
  }
}

// Velocity along a row that the momenta dp, dl amount to.
static double read_velocity(const carom_impact_system *s, const member *m, int r) {
  double u = 0;
  for (int end = 0; end < 2; end++) {
    int body = m->rows[r].body[end];
    if (!moves(s->model, body)) continue;
    u += s->model->bodies[body].inverse_mass * cm_dot(m->rows[r].linear[end], s->dp[body]);
    u += cm_dot(m->spin[r][end], s->dl[body]);
  }
  return u;
}

// With joints: each unit impulse is projected to what the joints allow.
static carom_status fill_jointed(carom_impact_system *s, const carom_state *state, carom_error *error) {
  int m = 3 * s->count;
  for (int j = 0; j < m; j++) {
    clear_momenta(s);
    put_impulse(s, &s->members[j / 3].rows[j % 3], 1);
    carom_status status = carom_joints_project(s->joints, state, s->dp, s->dl, NULL, error);
    if (status != CAROM_OK) return status;
    for (int i = 0; i < m; i++) s->W[i + j * m] = read_velocity(s, &s->members[i / 3], i % 3);
  }
  for (int j = 0; j < m; j++)
    for (int i = 0; i < j; i++) s->W[i + j * m] = s->W[j + i * m] = 0.5 * (s->W[i + j * m] + s->W[j + i * m]);
  return CAROM_OK;
}

static carom_status fill(carom_impact_system *s, const carom_state *state, carom_impact_problem *problem,
                         carom_error *error) {
  carom_status status = CAROM_OK;
  for (int i = 0; i < s->count; i++) {
    s->e[i] = s->members[i].contact.restitution;
    s->mu[i] = s->members[i].contact.friction;
    for (int r = 0; r < 3; r++) s->u[3 * i + r] = velocity_along(s, state, &s->members[i], r);
  }
  if (s->joints)
    status = fill_jointed(s, state, error);
  else
    fill_free(s);
  *problem = (carom_impact_problem){s->count, s->W, s->u, s->e, s->mu};
  return status;
}

carom_status carom_impact_system_load_with_limits(carom_impact_system *s, const carom_state *state,
                                                  const carom_contact *contacts, int count,
                                                  const carom_joint_limit *limits, int limit_count,
                                                  carom_impact_problem *problem, carom_error *error) {
  carom_status status = reserve(s, count + limit_count, error);
  if (status != CAROM_OK) return status;
  s->count = count + limit_count;
  for (int i = 0; i < count; i++) s->members[i] = contact_member(s->model, state, &contacts[i]);
  for (int i = 0; i < limit_count; i++) s->members[count + i] = limit_member(s->model, state, &limits[i], i);
  return fill(s, state, problem, error);
}

carom_status carom_impact_system_load(carom_impact_system *s, const carom_state *state, const carom_contact *contacts,
                                      int count, carom_impact_problem *problem, carom_error *error) {
  return carom_impact_system_load_with_limits(s, state, contacts, count, NULL, 0, problem, error);
}

// ---- impulses ----------------------------------------------------------------------------------------------------

static carom_vec3 impulse_of(const member *m, const double P[3]) {
  carom_vec3 f = cm_scale(P[0], m->rows[0].linear[1]);
  return cm_axpy(cm_axpy(f, P[1], m->rows[1].linear[1]), P[2], m->rows[2].linear[1]);
}

static void apply_free(const carom_model *model, const member *m, carom_vec3 f, carom_state *state) {
  int a = m->contact.body_a, b = m->contact.body_b;
  state->p[a] = cm_add(state->p[a], f);
  state->l[a] = cm_add(state->l[a], cm_cross(cm_sub(m->point, state->x[a]), f));
  if (!moves(model, b)) return;
  state->p[b] = cm_sub(state->p[b], f);
  state->l[b] = cm_sub(state->l[b], cm_cross(cm_sub(m->point, state->x[b]), f));
}

// What a fixed B gave.
static void book_external(const carom_model *model, const member *m, carom_vec3 f, carom_step_report *report) {
  if (m->contact.pair < 0 || moves(model, m->contact.body_b)) return;
  report->impulse = cm_add(report->impulse, f);
  report->angular_impulse = cm_add(report->angular_impulse, cm_cross(m->point, f));
}

static void book_joints(const carom_impact_system *s, const carom_state *state, double time,
                        carom_step_report *report) {
  carom_joint_impulse ground = carom_joints_external(s->model, state, s->joint_impulse);
  report->impulse = cm_add(report->impulse, ground.linear);
  report->angular_impulse = cm_add(report->angular_impulse, ground.angular);
  report->work += carom_joints_motor_work(s->model, state, time, s->joint_impulse);
}

// All impulses at once, with what the joints do about them. A limit between a body and the ground counts as outside.
static carom_status apply_jointed(carom_impact_system *s, carom_state *state, double time, const double *impulse,
                                  carom_step_report *report, carom_error *error) {
  clear_momenta(s);
  for (int i = 0; i < 3 * s->count; i++) {
    const member *m = &s->members[i / 3];
    put_impulse(s, &m->rows[i % 3], impulse[i]);
    if (m->contact.pair >= 0 || i % 3 > 0) continue;
    const carom_row *row = &m->rows[0];
    if (moves(s->model, row->body[0]) && moves(s->model, row->body[1])) continue;
    int end = moves(s->model, row->body[1]);
    carom_vec3 p = cm_scale(impulse[i], row->linear[end]), l = cm_scale(impulse[i], row->angular[end]);
    report->impulse = cm_add(report->impulse, p);
    report->angular_impulse = cm_add(report->angular_impulse, cm_add(l, cm_cross(state->x[row->body[end]], p)));
  }
  carom_status status = carom_joints_project(s->joints, state, s->dp, s->dl, s->joint_impulse, error);
  if (status != CAROM_OK) return status;
  for (int b = 0; b < state->body_count; b++) {
    state->p[b] = cm_add(state->p[b], s->dp[b]);
    state->l[b] = cm_add(state->l[b], s->dl[b]);
  }
  book_joints(s, state, time, report);
  return CAROM_OK;
}

// One event for the contacts first .. last - 1, which are of one pair: the sum of their impulses at their mean point.
static carom_status note_pair(carom_impact_system *s, int first, int last, double time, const double *P,
                              carom_event_kind kind, carom_step_report *report, carom_error *error) {
  const carom_contact *c = &s->members[first].contact;
  carom_contact_event event = {kind, time, c->body_a, c->body_b, cm_zero3(), c->normal, cm_zero3()};
  double weight = 0;
  for (int i = first; i < last; i++) {
    weight += P[3 * i];
    event.point = cm_axpy(event.point, P[3 * i], s->members[i].point);
    event.impulse = cm_add(event.impulse, impulse_of(&s->members[i], P + 3 * i));
  }
  if (!(weight > 0)) return CAROM_OK;
  if (c->pair < 0 && kind != CAROM_EVENT_IMPACT) return CAROM_OK;  // limits show their impacts, at the joint
  event.point = cm_scale(1 / weight, event.point);
  if (kind == CAROM_EVENT_IMPACT || kind == CAROM_EVENT_STICK) report->collisions++;
  return carom_impact_system_note(s, &event, report, error);
}

carom_status carom_impact_system_apply(carom_impact_system *s, carom_state *state, double time, const double *impulse,
                                       carom_event_kind kind, carom_step_report *report, carom_error *error) {
  for (int i = 0; i < s->count; i++) {
    carom_vec3 f = impulse_of(&s->members[i], impulse + 3 * i);
    book_external(s->model, &s->members[i], f, report);
    for (int r = 0; r < 3; r++)  // losses are those of relative velocities; the rest is work of driven bodies
      report->work -= impulse[3 * i + r] * driven_velocity(s, &s->members[i].rows[r]);
    if (!s->joints) apply_free(s->model, &s->members[i], f, state);
  }
  if (s->joints) {
    carom_status status = apply_jointed(s, state, time, impulse, report, error);
    if (status != CAROM_OK) return status;
  }
  for (int first = 0, last; first < s->count; first = last) {
    for (last = first + 1; last < s->count && s->members[last].contact.pair == s->members[first].contact.pair;) last++;
    carom_status status = note_pair(s, first, last, time, impulse, kind, report, error);
    if (status != CAROM_OK) return status;
  }
  return CAROM_OK;
}

// ---- groups ------------------------------------------------------------------------------------------------------

// Moving bodies that touch share a group.
static void find_groups(carom_impact_system *s, const carom_contact *contacts, int count) {
  for (int i = 0; i < count; i++)
    s->parent[contacts[i].body_a] = contacts[i].body_a, s->parent[contacts[i].body_b] = contacts[i].body_b;
  for (int i = 0; i < count; i++)
    if (moves(s->model, contacts[i].body_b)) carom_group_unite(s->parent, contacts[i].body_a, contacts[i].body_b);
  for (int i = 0; i < count; i++) s->group[i] = carom_group_root(s->parent, contacts[i].body_a);
}

static carom_status solve_loaded(carom_impact_system *s, carom_state *state, const carom_impact_problem *problem,
                                 double time, carom_impact_law law, carom_step_report *report, carom_error *error) {
  carom_impact_info info;
  carom_status status = carom_impact_solve(s->work, problem, law, &(carom_impact_solution){s->P, s->v}, &info, error);
  if (status != CAROM_OK) return status;
  report->restitution_loss += info.restitution_loss;
  report->friction_loss += info.friction_loss;
  report->complementarity = fmax(report->complementarity, info.approach);
  return carom_impact_system_apply(s, state, time, s->P, CAROM_EVENT_IMPACT, report, error);
}

// Bodies without joints: group by group.
static carom_status resolve_free(carom_impact_system *s, carom_state *state, double time, const carom_contact *contacts,
                                 int count, carom_impact_law law, carom_step_report *report, carom_error *error) {
  carom_status status = CAROM_OK;
  find_groups(s, contacts, count);
  for (int first = 0; first < count && status == CAROM_OK; first++) {
    carom_impact_problem problem;
    int group = s->group[first], size = 0;
    if (group < 0) continue;  // done
    for (int i = first; i < count; i++)
      if (s->group[i] == group) s->batch[size++] = contacts[i], s->group[i] = -1;
    status = carom_impact_system_load(s, state, s->batch, size, &problem, error);
    if (status == CAROM_OK) status = solve_loaded(s, state, &problem, time, law, report, error);
  }
  return status;
}

// ---- joints: latches and limits ----------------------------------------------------------------------------------

// The bodies of a contact stick: a joint is gained, perhaps another lost, and the momenta are made to agree with the
// joints there are now, a plastic impact (Pekarek 2010, 2.4: the velocity goes to the new constraints by an impulse of
// theirs).
static carom_status latch(carom_impact_system *s, carom_state *state, double time, const carom_contact *c, int joint,
                          carom_step_report *report, carom_error *error) {
  carom_vec3 point = cm_lerp(c->point_a, c->point_b, 0.5);
  double before = carom_kinetic_energy(s->model, state), work = report->work;
  carom_joints_gain(s->model, state, joint, point);
  carom_status status = carom_joints_impose(s->joints, state, time, state->p, state->l, s->joint_impulse, error);
  if (status != CAROM_OK) return status;
  book_joints(s, state, time, report);
  report->restitution_loss += before + (report->work - work) - carom_kinetic_energy(s->model, state);
  report->collisions++;
  carom_vec3 on_one = carom_joints_reaction(s->model, state, joint, s->joint_impulse).linear;
  carom_vec3 impulse = s->model->joints[joint].body[1] == c->body_a ? on_one : cm_neg(on_one);
  carom_contact_event event = {CAROM_EVENT_STICK, time, c->body_a, c->body_b, point, c->normal, impulse};
  return carom_impact_system_note(s, &event, report, error);
}

carom_status carom_impact_system_latch(carom_impact_system *s, carom_state *state, double time,
                                       const carom_contact *contacts, int count, carom_step_report *report,
                                       carom_error *error) {
  for (int i = 0; i < count; i++) {
    const carom_contact *c = &contacts[i];
    if (carom_joints_hold(s->model, state, c->body_a, c->body_b)) continue;
    int joint = carom_joints_find_latch(s->model, state, c->body_a, c->body_b, c->point_a);
    if (joint < 0 || !(carom_contact_normal_velocity(s, state, c) < 0)) continue;
    carom_status status = latch(s, state, time, c, joint, report, error);
    if (status != CAROM_OK) return status;
  }
  return CAROM_OK;
}

static carom_status resolve_jointed(carom_impact_system *s, carom_state *state, double time,
                                    const carom_contact *contacts, int count, carom_impact_law law,
                                    carom_step_report *report, carom_error *error) {
  carom_impact_problem problem;
  carom_status status = carom_impact_system_latch(s, state, time, contacts, count, report, error);
  if (status != CAROM_OK) return status;
  s->count = 0;
  for (int i = 0; i < count; i++)
    if (!carom_joints_hold(s->model, state, contacts[i].body_a, contacts[i].body_b))
      s->members[s->count++] = contact_member(s->model, state, &contacts[i]);
  int limits = carom_joints_limits(s->model, state, CAROM_LIMIT_TOUCH, s->limits);
  for (int i = 0; i < limits; i++) s->members[s->count++] = limit_member(s->model, state, &s->limits[i], i);
  status = fill(s, state, &problem, error);
  return status == CAROM_OK ? solve_loaded(s, state, &problem, time, law, report, error) : status;
}

carom_status carom_impact_system_resolve(carom_impact_system *s, carom_state *state, double time,
                                         const carom_contact *contacts, int count, carom_impact_law law,
                                         carom_step_report *report, carom_error *error) {
  carom_status status = reserve(s, count + (s->joints ? carom_joints_limit_capacity(s->model) : 0), error);
  if (status != CAROM_OK) return status;
  if (s->joints) return resolve_jointed(s, state, time, contacts, count, law, report, error);
  return resolve_free(s, state, time, contacts, count, law, report, error);
}

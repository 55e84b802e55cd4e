#include "impact/system.h"

#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/groups.h"
#include "base/memory.h"
#include "carom/mechanics.h"
#include "contact/assemble.h"

typedef enum member_kind { CONTACT, LIMIT } member_kind;

// One contact or joint limit of the problem.
typedef struct member {
  member_kind kind;
  int pair;                  // of a contact: members of one pair are one event
  carom_vec3 normal, point;  // for events
} member;

// The problem as it was loaded last, and its scratch.
typedef struct loaded {
  member *members;  // (count)
  carom_row *rows;  // (3 count) normal and tangents; a limit has one, and two of no body
  int count;
  double *W, *u, *P, *v;
  double *e, *mu;
} loaded;

// What joints need; all null for a model without.
typedef struct jointed {
  carom_joints *joints;
  carom_vec3 *dp, *dl;        // (body_count) momenta that joints are to project
  double *impulse;            // (joint_count * CAROM_JOINT_ROWS)
  carom_joint_limit *limits;  // (carom_joints_limit_capacity)
} jointed;

struct carom_impact_system {
  const carom_model *model;
  carom_allocator allocator;
  carom_impact_law law;
  double time, span;           // of events and motors; of driven bodies' velocities
  double way_start, way_span;  // of driven bodies' work
  int capacity;                // members that fit
  carom_arena arena;           // of all that is as long as the capacity
  loaded problem;
  int *group;            // (capacity) of each contact given to resolve: the smallest body number of its group
  carom_contact *batch;  // (capacity) the contacts of one group
  carom_impact_work *work;
  carom_arena own;              // of all that is as long as the model
  int *parent;                  // (body_count) union-find
  carom_assembly *assembly;     // of W = J S J'
  carom_mat3 *inverse_inertia;  // (body_count) world axes, of bodies that touch
  jointed tied;
};

// ---- scratch -----------------------------------------------------------------------------------------------------

static void push_members(carom_impact_system *s, carom_arena *arena, int n) {
  loaded *q = &s->problem;
  size_t m = 3 * (size_t)n;
  q->members = CAROM_PUSH(arena, member, n);
  q->rows = CAROM_PUSH(arena, carom_row, m);
  q->W = CAROM_PUSH(arena, double, m *m);
  q->u = CAROM_PUSH(arena, double, m);
  q->P = CAROM_PUSH(arena, double, m);
  q->v = CAROM_PUSH(arena, double, m);
  q->e = CAROM_PUSH(arena, double, n);
  q->mu = CAROM_PUSH(arena, double, n);
  s->group = CAROM_PUSH(arena, int, n);
  s->batch = CAROM_PUSH(arena, carom_contact, n);
}

static void release_members(carom_impact_system *s) {
  carom_arena_destroy(&s->arena);
  carom_impact_work_destroy(s->work);
  s->arena = (carom_arena){0};
  s->work = NULL;
  s->capacity = s->problem.count = 0;
}

static carom_status reserve(carom_impact_system *s, int n, carom_error *error) {
  if (n <= s->capacity) return CAROM_OK;
  int wanted = n + n / 2 + 8;
  carom_arena counting = {0};
  release_members(s);
  push_members(s, &counting, wanted);
  carom_status status = carom_arena_create(&s->arena, counting.used, &s->allocator, error);
  if (status == CAROM_OK) status = carom_impact_work_create(wanted, &s->allocator, &s->work, error);
  if (status != CAROM_OK) {
    release_members(s);
    return status;
  }
  push_members(s, &s->arena, wanted);
  s->capacity = wanted;
  return CAROM_OK;
}

static void push_own(carom_impact_system *s, carom_arena *arena) {
  const carom_model *model = s->model;
  s->parent = CAROM_PUSH(arena, int, model->body_count);
  s->inverse_inertia = CAROM_PUSH(arena, carom_mat3, model->body_count);
  if (model->joint_count == 0) return;
  s->tied.dp = CAROM_PUSH(arena, carom_vec3, model->body_count);
  s->tied.dl = CAROM_PUSH(arena, carom_vec3, model->body_count);
  s->tied.impulse = CAROM_PUSH(arena, double, model->joint_count *CAROM_JOINT_ROWS);
  s->tied.limits = CAROM_PUSH(arena, carom_joint_limit, carom_joints_limit_capacity(model));
}

carom_status carom_impact_system_create(const carom_model *model, carom_impact_law law,
                                        const carom_allocator *allocator, carom_impact_system **system,
                                        carom_error *error) {
  carom_allocator a = carom_allocator_or_default(allocator);
  carom_impact_system *s = CAROM_NEW(&a, carom_impact_system, 1);
  if (!s) return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for impacts");
  *s = (carom_impact_system){.model = model, .allocator = a, .law = law};
  carom_arena counting = {0};
  push_own(s, &counting);
  carom_status status = carom_arena_create(&s->own, counting.used, &a, error);
  if (status == CAROM_OK) push_own(s, &s->own);
  if (status == CAROM_OK) status = carom_assembly_create(model, &a, &s->assembly, error);
  if (status == CAROM_OK) status = reserve(s, 16, error);
  if (status == CAROM_OK && model->joint_count > 0) status = carom_joints_create(model, &a, &s->tied.joints, error);
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
  release_members(system);
  carom_joints_destroy(system->tied.joints);
  carom_assembly_destroy(system->assembly);
  carom_arena_destroy(&system->own);
  carom_release(&a, system);
}

carom_impact_work *carom_impact_system_work(carom_impact_system *system) { return system->work; }

const carom_row *carom_impact_system_row(const carom_impact_system *system, int row) {
  return &system->problem.rows[row];
}

void carom_impact_system_set_time(carom_impact_system *system, double time, double span) {
  system->time = time;
  system->span = system->way_span = span;
  system->way_start = time - 0.5 * span;
}

void carom_impact_system_work_along(carom_impact_system *system, double start, double duration) {
  system->way_start = start;
  system->way_span = duration;
}

// ---- rows --------------------------------------------------------------------------------------------------------

// Both bodies are given the same point, half-way in the gap, so that angular momentum is kept whatever the gap.
static carom_vec3 middle(const carom_contact *c) { return cm_lerp(c->point_a, c->point_b, 0.5); }

// In a planar scene one tangent lies in the plane.
static void add_contact(carom_impact_system *s, const carom_state *state, const carom_contact *c) {
  loaded *q = &s->problem;
  carom_vec3 point = middle(c), axes[3] = {c->normal};
  cm_frame(c->normal, &axes[1], &axes[2]);
  if (s->model->planar) axes[2] = cm_vec3(0, 0, 1), axes[1] = cm_cross(axes[2], c->normal);
  for (int r = 0; r < 3; r++) q->rows[3 * q->count + r] = carom_row_at(c->body_a, c->body_b, axes[r], point, state->x);
  q->e[q->count] = c->restitution;
  q->mu[q->count] = c->friction;
  q->members[q->count++] = (member){CONTACT, c->pair, c->normal, point};
}

static void add_limit(carom_impact_system *s, const carom_state *state, const carom_joint_limit *limit) {
  loaded *q = &s->problem;
  const carom_row *row = &limit->row, none = {.body = {CAROM_WORLD, CAROM_WORLD}};
  carom_pose place = cm_pose(state->x[row->body[1]], state->q[row->body[1]]);
  for (int r = 0; r < 3; r++) q->rows[3 * q->count + r] = r == 0 ? *row : none;
  q->e[q->count] = limit->restitution;
  q->mu[q->count] = 0;
  q->members[q->count++] = (member){.kind = LIMIT,
                                    .normal = cm_unit(limit->turn ? row->angular[1] : row->linear[1]),
                                    .point = cm_transform(place, state->joints[limit->joint].frame[1].p)};
}

// What driven bodies contribute to the velocity along a row.
static double driven_velocity(const carom_impact_system *s, const carom_row *row) {
  return s->span > 0 ? carom_row_driven_rate(s->model, row, s->time - 0.5 * s->span, s->span) : 0;
}

static double velocity_along(const carom_impact_system *s, const carom_state *state, const carom_row *row) {
  return carom_row_state_rate(s->model, row, state) + driven_velocity(s, row);
}

double carom_contact_normal_velocity(const carom_impact_system *s, const carom_state *state,
                                     const carom_contact *contact) {
  carom_row row = carom_row_at(contact->body_a, contact->body_b, contact->normal, middle(contact), state->x);
  return velocity_along(s, state, &row);
}

// ---- W = J S J': S is M^-1, or M^-1 Q where joints answer ----------------------------------------------------------

static carom_mat3 inverse_inertia_of(const carom_model *model, const carom_state *state, int body) {
  carom_mat3 R = cm_rotation(state->q[body]);
  carom_vec3 i = model->bodies[body].inverse_inertia;
  return cm_mmul(R, cm_mmul(cm_diag3(i.x, i.y, i.z), cm_transpose(R)));
}

typedef struct answering {
  carom_impact_system *system;
  const carom_state *state;
} answering;

// Impulses, projected to what the joints allow, as velocities.
static carom_status answer_by_joints(void *context, const carom_vec3 *p, const carom_vec3 *l, carom_twists *twists,
                                     carom_error *error) {
  const answering *a = context;
  const carom_model *model = a->system->model;
  const jointed *t = &a->system->tied;
  memcpy(t->dp, p, (size_t)model->body_count * sizeof *p);
  memcpy(t->dl, l, (size_t)model->body_count * sizeof *l);
  carom_status status = carom_joints_project(t->joints, a->state, t->dp, t->dl, NULL, error);
  for (int i = 0; i < model->body_count && status == CAROM_OK; i++) {
    twists->v[i] = cm_scale(model->bodies[i].inverse_mass, t->dp[i]);
    twists->w[i] = cm_mulv(a->system->inverse_inertia[i], t->dl[i]);
  }
  return status;
}

static carom_status assemble(carom_impact_system *s, const carom_state *state, carom_error *error) {
  loaded *q = &s->problem;
  int m = 3 * q->count;
  for (int i = 0; i < 2 * m; i++) {
    int body = q->rows[i / 2].body[i % 2];
    if (carom_body_moves(s->model, body)) s->inverse_inertia[body] = inverse_inertia_of(s->model, state, body);
  }
  if (!s->tied.joints) return carom_assemble(s->assembly, q->rows, m, s->inverse_inertia, q->W, error);
  carom_response response = {&(answering){s, state}, answer_by_joints};
  carom_status status = carom_assemble_by(s->assembly, q->rows, m, &response, q->W, error);
  for (int j = 0; j < m; j++)
    for (int i = 0; i < j; i++) q->W[i + j * m] = q->W[j + i * m] = 0.5 * (q->W[i + j * m] + q->W[j + i * m]);
  return status;
}

carom_status carom_impact_system_load(carom_impact_system *s, const carom_state *state, const carom_touching *touching,
                                      carom_impact_problem *problem, carom_error *error) {
  carom_status status = reserve(s, touching->count + touching->limit_count, error);
  if (status != CAROM_OK) return status;
  loaded *q = &s->problem;
  q->count = 0;
  for (int i = 0; i < touching->count; i++) add_contact(s, state, &touching->contacts[i]);
  for (int i = 0; i < touching->limit_count; i++) add_limit(s, state, &touching->limits[i]);
  for (int i = 0; i < 3 * q->count; i++) q->u[i] = velocity_along(s, state, &q->rows[i]);
  *problem = (carom_impact_problem){q->count, q->W, q->u, q->e, q->mu};
  return assemble(s, state, error);
}

// ---- impulses ----------------------------------------------------------------------------------------------------

// What the joints do about the impulses in dp, dl, and then all of it put into the state.
static carom_status push_joints(carom_impact_system *s, carom_state *state, carom_ledger *ledger, carom_error *error) {
  const jointed *t = &s->tied;
  carom_status status = carom_joints_project(t->joints, state, t->dp, t->dl, t->impulse, error);
  if (status != CAROM_OK) return status;
  for (int b = 0; b < state->body_count; b++) {
    state->p[b] = cm_add(state->p[b], t->dp[b]);
    state->l[b] = cm_add(state->l[b], t->dl[b]);
  }
  carom_ledger_joints(ledger, state, s->time, s->tied.impulse);
  return CAROM_OK;
}

// Losses are those of relative velocities; what driven bodies do beside is work.
static void push_rows(carom_impact_system *s, carom_state *state, const double *impulse, carom_ledger *ledger) {
  carom_vec3 *p = s->tied.joints ? s->tied.dp : state->p, *l = s->tied.joints ? s->tied.dl : state->l;
  for (int i = 0; i < state->body_count && s->tied.joints; i++) p[i] = l[i] = cm_zero3();
  for (int i = 0; i < 3 * s->problem.count; i++) {
    const carom_row *row = &s->problem.rows[i];
    carom_row_push(s->model, row, impulse[i], p, l);
    carom_ledger_row(ledger, row, impulse[i], state->x);
    if (s->way_span > 0)
      carom_ledger_work(ledger, -impulse[i] * carom_row_driven_rate(s->model, row, s->way_start, s->way_span));
  }
}

// The members first .. last - 1, which are of one pair: the sum of their impulses at their mean point. False when they
// got none. A is end 0; but of a limit the body at end 1, since the other may be the world.
static bool sum_up(const carom_impact_system *s, int first, int last, const double *P, carom_contact_event *event) {
  const member *m = s->problem.members;
  const carom_row *rows = s->problem.rows;
  int a = m[first].kind == LIMIT;
  double weight = 0;
  event->body_a = rows[3 * first].body[a];
  event->body_b = rows[3 * first].body[1 - a];
  event->normal = m[first].normal;
  for (int i = first; i < last; i++) {
    weight += P[3 * i];
    event->point = cm_axpy(event->point, P[3 * i], m[i].point);
    for (int r = 0; r < 3; r++) event->impulse = cm_axpy(event->impulse, P[3 * i + r], rows[3 * i + r].linear[a]);
  }
  if (!(weight > 0)) return false;
  event->point = cm_scale(1 / weight, event->point);
  return true;
}

// The end of the members from `first` on that are of one pair with it. Limits stand alone.
static int end_of_pair(const loaded *q, int first) {
  int last = first + 1;
  const member *m = q->members;
  while (last < q->count && m[first].kind == CONTACT && m[last].kind == CONTACT && m[last].pair == m[first].pair)
    last++;
  return last;
}

carom_status carom_impact_system_apply(carom_impact_system *s, carom_state *state, const double *impulse,
                                       carom_event_kind kind, carom_ledger *ledger, carom_error *error) {
  const loaded *q = &s->problem;
  carom_status status = CAROM_OK;
  push_rows(s, state, impulse, ledger);
  if (s->tied.joints) status = push_joints(s, state, ledger, error);
  for (int first = 0, last; first < q->count && status == CAROM_OK; first = last) {
    carom_contact_event event = {.kind = kind, .time = s->time};
    last = end_of_pair(q, first);
    if (q->members[first].kind == LIMIT && kind != CAROM_EVENT_IMPACT) continue;  // limits show their impacts only
    if (sum_up(s, first, last, impulse, &event)) status = carom_ledger_event(ledger, &event, error);
  }
  return status;
}

// ---- groups ------------------------------------------------------------------------------------------------------

// Moving bodies that touch share a group.
static void find_groups(carom_impact_system *s, const carom_contact *contacts, int count) {
  for (int i = 0; i < count; i++)
    s->parent[contacts[i].body_a] = contacts[i].body_a, s->parent[contacts[i].body_b] = contacts[i].body_b;
  for (int i = 0; i < count; i++)
    if (carom_body_moves(s->model, contacts[i].body_b))
      carom_group_unite(s->parent, contacts[i].body_a, contacts[i].body_b);
  for (int i = 0; i < count; i++) s->group[i] = carom_group_root(s->parent, contacts[i].body_a);
}

static carom_status resolve_touch(carom_impact_system *s, carom_state *state, const carom_touching *touch,
                                  carom_ledger *ledger, carom_error *error) {
  carom_impact_problem problem;
  carom_impact_info info;
  loaded *q = &s->problem;
  carom_status status = carom_impact_system_load(s, state, touch, &problem, error);
  if (status == CAROM_OK)
    status = carom_impact_solve(s->work, &problem, s->law, &(carom_impact_solution){q->P, q->v}, &info, error);
  if (status != CAROM_OK) return status;
  carom_ledger_loss(ledger, info.restitution_loss, info.friction_loss);
  carom_ledger_note_complementarity(ledger, info.approach, 0);
  return carom_impact_system_apply(s, state, q->P, CAROM_EVENT_IMPACT, ledger, error);
}

// Bodies without joints: group by group.
static carom_status resolve_free(carom_impact_system *s, carom_state *state, const carom_contact *contacts, int count,
                                 carom_ledger *ledger, carom_error *error) {
  carom_status status = CAROM_OK;
  find_groups(s, contacts, count);
  for (int first = 0; first < count && status == CAROM_OK; first++) {
    carom_touching touch = {.contacts = s->batch};
    int group = s->group[first];
    if (group < 0) continue;  // done
    for (int i = first; i < count; i++)
      if (s->group[i] == group) s->batch[touch.count++] = contacts[i], s->group[i] = -1;
    status = resolve_touch(s, state, &touch, ledger, error);
  }
  return status;
}

// ---- joints: latches and limits ----------------------------------------------------------------------------------

// The bodies of a contact stick: a joint is gained, perhaps another lost, and the momenta are made to agree with the
// joints there are now, a plastic impact (Pekarek 2010, 2.4: the velocity goes to the new constraints by an impulse of
// theirs).
static carom_status latch(carom_impact_system *s, carom_state *state, const carom_contact *c, int joint,
                          carom_ledger *ledger, carom_error *error) {
  double before = carom_kinetic_energy(s->model, state) - ledger->report.work;
  carom_joints_gain(s->model, state, joint, middle(c));
  carom_status status = carom_joints_impose(s->tied.joints, state, s->time, s->tied.impulse, error);
  if (status != CAROM_OK) return status;
  carom_ledger_joints(ledger, state, s->time, s->tied.impulse);
  carom_ledger_loss(ledger, before - (carom_kinetic_energy(s->model, state) - ledger->report.work), 0);
  carom_vec3 on_one = carom_joints_reaction(s->model, state, joint, s->tied.impulse).linear;
  carom_vec3 impulse = s->model->joints[joint].body[1] == c->body_a ? on_one : cm_neg(on_one);
  carom_contact_event event = {.kind = CAROM_EVENT_STICK,
                               .time = s->time,
                               .body_a = c->body_a,
                               .body_b = c->body_b,
                               .point = middle(c),
                               .normal = c->normal,
                               .impulse = impulse};
  return carom_ledger_event(ledger, &event, error);
}

carom_status carom_impact_system_latch(carom_impact_system *s, carom_state *state, const carom_contact *contacts,
                                       int count, carom_ledger *ledger, carom_error *error) {
  for (int i = 0; i < count; i++) {
    const carom_contact *c = &contacts[i];
    if (carom_joints_hold(s->model, state, c->body_a, c->body_b)) continue;
    int joint = carom_joints_find_latch(s->model, state, c->body_a, c->body_b, c->point_a);
    if (joint < 0 || !(carom_contact_normal_velocity(s, state, c) < 0)) continue;
    carom_status status = latch(s, state, c, joint, ledger, error);
    if (status != CAROM_OK) return status;
  }
  return CAROM_OK;
}

static carom_status resolve_jointed(carom_impact_system *s, carom_state *state, const carom_contact *contacts,
                                    int count, carom_ledger *ledger, carom_error *error) {
  carom_status status = carom_impact_system_latch(s, state, contacts, count, ledger, error);
  if (status != CAROM_OK) return status;
  carom_touching touch = {.contacts = s->batch, .limits = s->tied.limits};
  for (int i = 0; i < count; i++)
    if (!carom_joints_hold(s->model, state, contacts[i].body_a, contacts[i].body_b))
      s->batch[touch.count++] = contacts[i];
  touch.limit_count = carom_joints_limits(s->model, state, CAROM_LIMIT_TOUCH, s->tied.limits);
  return resolve_touch(s, state, &touch, ledger, error);
}

carom_status carom_impact_system_resolve(carom_impact_system *s, carom_state *state, const carom_contact *contacts,
                                         int count, carom_ledger *ledger, carom_error *error) {
  // Room at once for all that may be loaded, since the batch lies in it.
  carom_status status = reserve(s, count + carom_joints_limit_capacity(s->model), error);
  if (status != CAROM_OK) return status;
  if (s->tied.joints) return resolve_jointed(s, state, contacts, count, ledger, error);
  return resolve_free(s, state, contacts, count, ledger, error);
}

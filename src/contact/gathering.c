#include "contact/gathering.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

// NOLINTNEXTLINE(misc-redundant-expression): equal is what they must be
_Static_assert(CAROM_CONTACT_WORLD == CAROM_WORLD, "bodies of a problem are numbered as in its model");

static void lay_out(void *owner, carom_arena *arena) {
  carom_gathering *p = owner;
  p->bodies = CAROM_PUSH(arena, carom_contact_body, p->model->body_count);
  p->solution.velocities = CAROM_PUSH(arena, carom_vec3, p->model->body_count);
  p->solution.spins = CAROM_PUSH(arena, carom_vec3, p->model->body_count);
}

carom_status carom_gathering_create(const carom_model *model, const carom_allocator *allocator,
                                    carom_gathering **gathering, carom_error *error) {
  const carom_gathering initial = {.model = model};
  *gathering = carom_object_create(&initial, sizeof initial, lay_out, allocator, error);
  return *gathering ? CAROM_OK : CAROM_ERR_MEMORY;
}

void carom_gathering_destroy(carom_gathering *p) {
  if (!p) return;
  CAROM_RELEASE_ALL(&p->arena.allocator, p->contacts, p->rows, p->sources, p->solution.impulses,
                    p->solution.multipliers);
  carom_object_destroy(p);
}

// R diag(i) R'; where it is the same about every axis it stays so to the last bit.
static void place_inertia(const carom_body *body, carom_quat q, double out[6]) {
  carom_vec3 i = body->inverse_inertia;
  carom_mat3 A = cm_diag3(i.x, i.y, i.z);
  if (i.x != i.y || i.y != i.z) {
    carom_mat3 R = cm_rotation(q);
    A = cm_mmul(cm_mmul(R, A), cm_transpose(R));
  }
  const double entries[6] = {A.m[0][0], A.m[1][1], A.m[2][2], A.m[0][1], A.m[0][2], A.m[1][2]};
  memcpy(out, entries, sizeof entries);
}

void carom_gathering_begin(carom_gathering *p, const carom_quat *q) {
  p->contact_count = p->row_count = 0;
  for (int i = 0; i < p->model->body_count; i++) {
    const carom_body *body = &p->model->bodies[i];
    p->bodies[i] = (carom_contact_body){.inverse_mass = body->inverse_mass};
    if (!body->fixed) place_inertia(body, q[i], p->bodies[i].inverse_inertia);
    carom_gathering_set_velocity(p, i, cm_zero3(), cm_zero3());
  }
}

void carom_gathering_set_velocity(carom_gathering *p, int body, carom_vec3 v, carom_vec3 w) {
  p->bodies[body].velocity = p->solution.velocities[body] = v;
  p->bodies[body].spin = p->solution.spins[body] = w;
}

// ---- contacts and rows --------------------------------------------------------------------------------------------

carom_contact_point *carom_gathering_add_contact(carom_gathering *p, const carom_contact *c, const carom_vec3 *x) {
  int n = p->contact_count;
  if (!carom_grow(&p->arena.allocator, (void **)&p->contacts, n, &p->contact_capacity, sizeof *p->contacts) ||
      !carom_grow(&p->arena.allocator, (void **)&p->solution.impulses, n, &p->impulse_capacity, sizeof(carom_vec3)))
    return NULL;
  carom_vec3 point = cm_lerp(c->point_a, c->point_b, 0.5);
  p->solution.impulses[n] = cm_zero3();
  p->contacts[n] = (carom_contact_point){.a = c->body_a,
                                         .b = c->body_b,
                                         .friction = c->friction,
                                         .normal = c->normal,
                                         .arm_a = cm_sub(point, x[c->body_a]),
                                         .arm_b = cm_sub(point, x[c->body_b])};
  return &p->contacts[p->contact_count++];
}

static void put_end(const carom_row *row, int end, double jacobian[6]) {
  carom_vec3 l = row->linear[end], a = row->angular[end];
  const double entries[6] = {l.x, l.y, l.z, a.x, a.y, a.z};
  memcpy(jacobian, entries, sizeof entries);
}

static carom_contact_row *add_row(carom_gathering *p, const carom_row *row, const carom_row_source *source) {
  int n = p->row_count;
  if (!carom_grow(&p->arena.allocator, (void **)&p->rows, n, &p->row_capacity, sizeof *p->rows) ||
      !carom_grow(&p->arena.allocator, (void **)&p->sources, n, &p->source_capacity, sizeof *p->sources) ||
      !carom_grow(&p->arena.allocator, (void **)&p->solution.multipliers, n, &p->multiplier_capacity, sizeof(double)))
    return NULL;
  p->solution.multipliers[n] = 0;
  p->sources[n] = *source;
  p->rows[n] = (carom_contact_row){.a = row->body[0], .b = row->body[1], .lower = -INFINITY, .upper = INFINITY};
  put_end(row, 0, p->rows[n].jacobian_a);
  put_end(row, 1, p->rows[n].jacobian_b);
  return &p->rows[p->row_count++];
}

carom_contact_row *carom_gathering_add_limit(carom_gathering *p, const carom_joint_limit *limits, int number) {
  const carom_joint_limit *limit = &limits[number];
  carom_contact_row *row = add_row(p, &limit->row, &(carom_row_source){CAROM_ROW_LIMIT, limit->joint, number});
  if (row) row->lower = 0;
  return row;
}

static bool add_joint(carom_gathering *p, const carom_state *state, int joint, bool displacements) {
  double g[CAROM_JOINT_ROWS], rates[CAROM_JOINT_ROWS];
  carom_row rows[CAROM_JOINT_ROWS];
  const carom_joint *j = &p->model->joints[joint];
  int count = carom_joint_row_count(j);
  carom_joint_equations(p->model, state, joint, state->time, g, rows);
  carom_joint_rates(p->model, j, state->time, rates);
  for (int i = 0; i < count; i++) {
    carom_contact_row *row = add_row(p, &rows[i], &(carom_row_source){CAROM_ROW_JOINT, joint, i});
    if (!row) return false;
    row->bias = displacements ? g[i] : -rates[i];
  }
  return true;
}

carom_status carom_gathering_add_joints(carom_gathering *p, const carom_state *state, bool displacements,
                                        carom_error *error) {
  for (int i = 0; i < p->model->joint_count; i++)
    if (carom_joint_acts(p->model, state, i) && !add_joint(p, state, i, displacements))
      return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for %d joints", p->model->joint_count);
  return CAROM_OK;
}

void carom_gathering_drop_contact(carom_gathering *p) { p->contact_count--; }
void carom_gathering_drop_limit(carom_gathering *p) { p->row_count--; }

// ---- reading ------------------------------------------------------------------------------------------------------

carom_contact_problem carom_gathering_problem(const carom_gathering *p) {
  return (carom_contact_problem){.body_count = p->model->body_count,
                                 .contact_count = p->contact_count,
                                 .row_count = p->row_count,
                                 .bodies = p->bodies,
                                 .contacts = p->contacts,
                                 .rows = p->rows};
}

carom_row carom_gathering_row(const carom_gathering *p, int row) {
  const carom_contact_row *r = &p->rows[row];
  const double *a = r->jacobian_a, *b = r->jacobian_b;
  return (carom_row){.body = {r->a, r->b},
                     .linear = {cm_vec3(a[0], a[1], a[2]), cm_vec3(b[0], b[1], b[2])},
                     .angular = {cm_vec3(a[3], a[4], a[5]), cm_vec3(b[3], b[4], b[5])}};
}

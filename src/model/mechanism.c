// Mechanisms: which freedoms there are, and where they stand.
#include "model/mechanism.h"

#include <string.h>

#include "base/memory.h"
#include "model/joint_rows.h"

// ---- room ----------------------------------------------------------------------------------------------------------

static void lay_out(void *owner, carom_arena *arena) {
  carom_mechanism *m = owner;
  const carom_model *model = m->model;
  int bodies = model->body_count, moving = model->moving_count;
  m->links = CAROM_PUSH(arena, carom_link, moving);
  m->link_of = CAROM_PUSH(arena, int, bodies);
  m->link_of_joint = CAROM_PUSH(arena, int, model->joint_count);
  m->x = CAROM_PUSH(arena, carom_vec3, bodies);
  m->q = CAROM_PUSH(arena, carom_quat, bodies);
  m->motion = CAROM_PUSH(arena, carom_twist, bodies);
  m->rate = CAROM_PUSH(arena, carom_twist, bodies);
  m->load = CAROM_PUSH(arena, carom_joint_load, moving);
  m->composite = CAROM_PUSH(arena, carom_composite, moving);
  m->joints = CAROM_PUSH(arena, carom_joint_state, model->joint_count);
  carom_loads_push(&m->fields, arena, model);
  m->d = CAROM_PUSH(arena, carom_mat3, bodies);
  m->dv = CAROM_PUSH(arena, carom_mat3, bodies);
  m->velocities = CAROM_PUSH(arena, carom_vec3, bodies);
}

carom_status carom_mechanism_create(const carom_model *model, const carom_allocator *allocator,
                                    carom_mechanism **mechanism, carom_error *error) {
  carom_mechanism initial = {.model = model};
  *mechanism = NULL;
  carom_mechanism *m = carom_object_create(&initial, sizeof initial, lay_out, allocator, error);
  if (!m) return CAROM_ERR_MEMORY;
  if (!carom_joint_order_create(&m->order, model, &m->arena.allocator)) {
    carom_object_destroy(m);
    return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for the order of %d joints", model->joint_count);
  }
  *mechanism = m;
  return CAROM_OK;
}

void carom_mechanism_destroy(carom_mechanism *mechanism) {
  if (!mechanism) return;
  carom_release(&mechanism->arena.allocator, mechanism->matrix);
  carom_joint_order_destroy(&mechanism->order);
  carom_object_destroy(mechanism);
}

// ---- what a joint leaves free --------------------------------------------------------------------------------------

static const carom_vec3 O = {0, 0, 0}, X = {1, 0, 0}, Y = {0, 1, 0}, Z = {0, 0, 1};

static void add_freedom(carom_link *link, carom_vec3 w, carom_vec3 v) {
  link->f[link->count++] = (carom_freedom){w, v};
}

static void add_turns(carom_link *link, const carom_joint_place *p, bool planar) {
  if (!link->turns) return;
  if (planar) {
    add_freedom(link, Z, O);
    return;
  }
  add_freedom(link, p->u, O), add_freedom(link, p->v, O), add_freedom(link, p->n, O);
}

static void add_across(carom_link *link, const carom_joint_place *p, bool planar) {
  carom_vec3 a, b, along = cm_unit(p->d);
  if (planar) {
    add_freedom(link, O, cm_cross(Z, along));
    return;
  }
  cm_frame(cm_tmulv(p->axes[0], along), &a, &b);  // in frame 0, so that the directions turn with body 0
  add_freedom(link, O, cm_mulv(p->axes[0], a));
  add_freedom(link, O, cm_mulv(p->axes[0], b));
}

static void add_freedoms(carom_link *link, const carom_joint *joint, const carom_joint_place *p, bool planar) {
  switch (joint->kind) {
    case CAROM_JOINT_REVOLUTE:
      add_freedom(link, p->n, O);
      break;
    case CAROM_JOINT_PRISMATIC:
      add_freedom(link, O, p->n);
      break;
    case CAROM_JOINT_CYLINDRICAL:
      add_freedom(link, O, p->n), add_freedom(link, p->n, O);
      break;
    case CAROM_JOINT_SCREW:
      add_freedom(link, p->n, cm_scale(joint->pitch, p->n));
      break;
    case CAROM_JOINT_PLANAR:
      add_freedom(link, O, p->u), add_freedom(link, O, p->v), add_freedom(link, p->n, O);
      break;
    case CAROM_JOINT_DISTANCE:
      add_across(link, p, planar), add_turns(link, p, planar);
      break;
    case CAROM_JOINT_SPHERICAL:
      add_turns(link, p, planar);
      break;
    case CAROM_JOINT_FIXED:
      break;
  }
}

static void add_free(carom_link *link, bool planar) {
  add_freedom(link, O, X), add_freedom(link, O, Y);
  if (!planar) add_freedom(link, O, Z);
  if (link->turns && !planar) add_freedom(link, X, O), add_freedom(link, Y, O);
  if (link->turns) add_freedom(link, Z, O);
}

// ---- the tree ------------------------------------------------------------------------------------------------------

static void add_link(carom_mechanism *m, const carom_state *state, int body, int joint, int end, int parent) {
  const carom_model *model = m->model;
  carom_link *link = &m->links[m->link_count];
  *link = (carom_link){.body = body, .joint = joint, .parent = parent, .sign = end == 1 ? 1 : -1};
  link->turns = model->bodies[body].inverse_inertia.x > 0;
  link->r = state->x[body];
  m->link_of[body] = m->link_count++;
  if (joint < 0) {
    link->sign = 1;
    add_free(link, model->planar);
    return;
  }
  carom_joint_place place = carom_joint_placed(&model->joints[joint], &state->joints[joint], state);
  link->r = place.r[1];
  link->d = place.d;
  add_freedoms(link, &model->joints[joint], &place, model->planar);
}

static void build_links(carom_mechanism *m, const carom_state *state) {
  m->link_count = 0;
  for (int i = 0; i < m->model->body_count; i++) m->link_of[i] = -1;
  for (int i = 0; i < m->order.node_count; i++) {
    const carom_joint_node *node = &m->order.nodes[i];
    int parent = node->parent < 0 ? -1 : m->link_of[node->parent];
    add_link(m, state, node->body, node->joint, node->end, parent);
  }
  for (int body = 0; body < m->model->body_count; body++)
    if (!m->model->bodies[body].fixed && m->link_of[body] < 0) add_link(m, state, body, -1, 1, -1);
}

static void number_link(carom_mechanism *m, int link) {
  m->links[link].first = m->freedoms;
  m->freedoms += m->links[link].count;
}

// Joints in the order of the model, then free bodies in theirs.
static void number_freedoms(carom_mechanism *m) {
  m->freedoms = 0;
  for (int j = 0; j < m->model->joint_count; j++) m->link_of_joint[j] = -1;
  for (int i = 0; i < m->link_count; i++)
    if (m->links[i].joint >= 0) m->link_of_joint[m->links[i].joint] = i;
  for (int j = 0; j < m->model->joint_count; j++)
    if (m->link_of_joint[j] >= 0) number_link(m, m->link_of_joint[j]);
  for (int body = 0; body < m->model->body_count; body++)
    if (m->link_of[body] >= 0 && m->links[m->link_of[body]].joint < 0) number_link(m, m->link_of[body]);
}

static void take_motion(carom_mechanism *m, const carom_state *state) {
  m->time = state->time;
  for (int i = 0; i < m->model->body_count; i++) {
    m->x[i] = state->x[i];
    m->q[i] = state->q[i];
    m->motion[i].v = carom_state_velocity(m->model, state, i);
    m->motion[i].w = carom_state_angular_velocity(m->model, state, i);
  }
  for (int j = 0; j < m->model->joint_count; j++) m->joints[j] = state->joints[j];
}

carom_status carom_mechanism_update(carom_mechanism *m, const carom_state *state, carom_error *error) {
  carom_joint_order_update(&m->order, m->model, state);
  if (m->order.loop_row_count > 0)
    return carom_fail(error, CAROM_ERR_UNSUPPORTED,
                      "joint '%s' closes a loop: only trees of joints have coordinates of their own; drop the joint, "
                      "or work with the twists of the bodies (carom_state_jacobian)",
                      m->model->joints[m->order.loop_rows[0] / CAROM_JOINT_ROWS].name);
  build_links(m, state);
  number_freedoms(m);
  take_motion(m, state);
  return CAROM_OK;
}

int carom_mechanism_freedoms(const carom_mechanism *mechanism) { return mechanism->freedoms; }

static int freedoms_of(const carom_mechanism *m, int link, int *count) {
  *count = link < 0 ? 0 : m->links[link].count;
  return link < 0 ? -1 : m->links[link].first;
}

int carom_mechanism_joint(const carom_mechanism *m, int joint, int *count) {
  return freedoms_of(m, m->link_of_joint[joint], count);
}

int carom_mechanism_body(const carom_mechanism *m, int body, int *count) {
  int link = m->link_of[body];
  return freedoms_of(m, link >= 0 && m->links[link].joint < 0 ? link : -1, count);
}

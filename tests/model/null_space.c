// The null space of a tree's joints by composition from the roots on, and the local reparametrisation that goes with it
// (Johnson 2012, 3.24-3.33, A.4-A.12; here with relative velocities for the coordinates of a joint).
#include "model/null_space.h"

#include <string.h>

#include "model/joints_parts.h"

// Relative motion of body 1 as seen from body 0: angular velocity, and velocity of the joint's point r1.
typedef struct freedom {
  carom_vec3 w, v;
} freedom;

static bool turns(const carom_model *model, int body) { return model->bodies[body].inverse_inertia.x > 0; }
static bool moves(const carom_model *model, int body) { return body != CAROM_WORLD && !model->bodies[body].fixed; }

// Two directions across d, in the axes that d is given in.
static void across(carom_vec3 d, carom_vec3 *a, carom_vec3 *b) { cm_frame(cm_unit(d), a, b); }

// What a joint leaves free, with frame axes u, v, n and the distance d in the axes of the caller's choice. A child that
// does not turn has no freedoms of rotation.
static int freedoms_of(const carom_joint *joint, bool child_turns, carom_vec3 u, carom_vec3 v, carom_vec3 n,
                       carom_vec3 d, freedom *f) {
  carom_vec3 o = cm_zero3(), a, b;
  int count = 0;
  switch (joint->kind) {
    case CAROM_JOINT_REVOLUTE:
      f[count++] = (freedom){n, o};
      break;
    case CAROM_JOINT_PRISMATIC:
      f[count++] = (freedom){o, n};
      break;
    case CAROM_JOINT_CYLINDRICAL:
      f[count++] = (freedom){o, n}, f[count++] = (freedom){n, o};
      break;
    case CAROM_JOINT_SCREW:
      f[count++] = (freedom){n, cm_scale(joint->pitch, n)};
      break;
    case CAROM_JOINT_FIXED:
      break;
    case CAROM_JOINT_PLANAR:
      f[count++] = (freedom){o, u}, f[count++] = (freedom){o, v}, f[count++] = (freedom){n, o};
      break;
    case CAROM_JOINT_DISTANCE:
      across(d, &a, &b);
      f[count++] = (freedom){o, a}, f[count++] = (freedom){o, b};
      break;
    case CAROM_JOINT_SPHERICAL:
      break;
  }
  if (child_turns && (joint->kind == CAROM_JOINT_DISTANCE || joint->kind == CAROM_JOINT_SPHERICAL))
    f[count++] = (freedom){u, o}, f[count++] = (freedom){v, o}, f[count++] = (freedom){n, o};
  return count;
}

static int freedom_count(const carom_model *model, const carom_joint_node *node) {
  if (node->joint < 0) return turns(model, node->body) ? 6 : 3;
  freedom f[6];
  carom_vec3 x = cm_vec3(1, 0, 0), y = cm_vec3(0, 1, 0), z = cm_vec3(0, 0, 1);
  return freedoms_of(&model->joints[node->joint], turns(model, node->body), x, y, z, z, f);
}

// ---- walking the tree ---

// Calls `visit` for every moving body from the roots on, with the number of its first column.
typedef void (*visitor)(const carom_model *model, const carom_state *state, const carom_joint_node *node, int column,
                        void *data);

static int walk(carom_joints *joints, const carom_state *state, visitor visit, void *data) {
  const carom_model *m = joints->model;
  int count = 0, column = 0;
  const carom_joint_node *nodes = carom_joint_system_nodes(joints->system, &count);
  for (int i = 0; i < count; i++) {
    if (visit) visit(m, state, &nodes[i], column, data);
    column += freedom_count(m, &nodes[i]);
  }
  for (int body = 0; body < m->body_count; body++) {  // those that no joint holds
    bool jointed = false;
    for (int i = 0; i < count && !jointed; i++) jointed = nodes[i].body == body;
    if (jointed || !moves(m, body)) continue;
    carom_joint_node alone = {body, -1, 0, -1};
    if (visit) visit(m, state, &alone, column, data);
    column += freedom_count(m, &alone);
  }
  return column;
}

static bool prescribed(const carom_model *model, const carom_state *state) {
  for (int i = 0; i < model->joint_count; i++) {
    const carom_joint *j = &model->joints[i];
    if (state->joints[i].active && (carom_motor_prescribes(j->slide.motor) || carom_motor_prescribes(j->turn.motor)))
      return true;
  }
  return false;
}

int joints_freedoms(carom_joints *joints, const carom_state *state) {
  carom_joint_system_order(joints->system, state);
  if (carom_joint_system_loop_rows(joints->system) > 0 || prescribed(joints->model, state)) return -1;
  return walk(joints, state, NULL, NULL);
}

static carom_status check_tree(carom_joints *joints, const carom_state *state, carom_error *error) {
  if (joints_freedoms(joints, state) >= 0) return CAROM_OK;
  return carom_fail(error, CAROM_ERR_ARGUMENT,
                    "the null space is that of trees: these joints close a loop, or a motor prescribes a coordinate");
}

// ---- P ---

typedef struct null_space {
  double *P;
  int rows;
} null_space;

static carom_vec3 get3(const double *a) { return cm_vec3(a[0], a[1], a[2]); }
static void put3(double *a, carom_vec3 v) { a[0] = v.x, a[1] = v.y, a[2] = v.z; }

// A child moves with its parent's twist: v = v_a + w_a x (x - x_a), w = w_a.
static void carry(const carom_model *model, const carom_state *state, const carom_joint_node *node, int columns,
                  null_space *N) {
  carom_vec3 arm = cm_sub(state->x[node->body], state->x[node->parent]);
  for (int k = 0; k < columns; k++) {
    double *column = N->P + (size_t)k * (size_t)N->rows;
    const double *a = column + 6 * node->parent;
    put3(column + 6 * node->body, cm_add(get3(a), cm_cross(get3(a + 3), arm)));
    if (turns(model, node->body)) put3(column + 6 * node->body + 3, get3(a + 3));
  }
}

static void put_root(const carom_model *model, const carom_joint_node *node, int column, null_space *N) {
  for (int k = 0; k < freedom_count(model, node); k++)
    N->P[(size_t)(column + k) * (size_t)N->rows + 6 * (size_t)node->body + (size_t)k] = 1;
}

static void put_columns(const carom_model *model, const carom_state *state, const carom_joint_node *node, int column,
                        void *data) {
  null_space *N = data;
  if (node->joint < 0) {
    put_root(model, node, column, N);
    return;
  }
  if (node->parent >= 0) carry(model, state, node, column, N);
  const carom_joint *joint = &model->joints[node->joint];
  carom_joint_place p = carom_joint_placed(joint, &state->joints[node->joint], state);
  carom_vec3 d = cm_tmulv(p.axes[0], p.d);  // in the axes of frame 0, as the reparametrisation has it
  carom_vec3 x = cm_vec3(1, 0, 0), y = cm_vec3(0, 1, 0), z = cm_vec3(0, 0, 1);
  freedom f[6];
  int count = freedoms_of(joint, turns(model, node->body), x, y, z, d, f);
  double sign = node->end == 1 ? 1 : -1;
  carom_vec3 arm = cm_sub(state->x[node->body], p.r[1]);
  for (int k = 0; k < count; k++) {
    double *to = N->P + (size_t)(column + k) * (size_t)N->rows + 6 * (size_t)node->body;
    carom_vec3 w = cm_scale(sign, cm_mulv(p.axes[0], f[k].w)), v = cm_scale(sign, cm_mulv(p.axes[0], f[k].v));
    put3(to, cm_add(v, cm_cross(w, arm)));
    if (turns(model, node->body)) put3(to + 3, w);
  }
}

carom_status joints_null_space(carom_joints *joints, const carom_state *state, double *P, carom_error *error) {
  carom_status status = check_tree(joints, state, error);
  if (status != CAROM_OK) return status;
  null_space N = {P, 6 * state->body_count};
  memset(P, 0, (size_t)N.rows * (size_t)walk(joints, state, NULL, NULL) * sizeof *P);
  walk(joints, state, put_columns, &N);
  return CAROM_OK;
}

// ---- F_d ---

typedef struct retraction {
  const double *u;
  carom_vec3 *x;
  carom_quat *q;
} retraction;

// The pose of frame 1 in frame 0 after a finite motion along the freedoms.
static carom_pose move_frame(const carom_joint *joint, bool child_turns, carom_pose rel, const double *u) {
  carom_vec3 x = cm_vec3(1, 0, 0), y = cm_vec3(0, 1, 0), z = cm_vec3(0, 0, 1), w = cm_zero3(), v = cm_zero3();
  freedom f[6];
  int count = freedoms_of(joint, child_turns, x, y, z, rel.p, f);
  for (int k = 0; k < count; k++) {
    w = cm_axpy(w, u[k], f[k].w);
    v = cm_axpy(v, u[k], f[k].v);
  }
  rel.q = cm_qunit(cm_qmul(cm_exp(w), rel.q));
  if (joint->kind == CAROM_JOINT_DISTANCE)  // along the sphere, not off it
    rel.p = cm_rotate(cm_exp(cm_scale(1 / cm_norm2(rel.p), cm_cross(rel.p, v))), rel.p);
  else
    rel.p = cm_add(rel.p, v);
  return rel;
}

static void retract_root(const carom_model *model, const carom_state *state, const carom_joint_node *node,
                         const double *u, retraction *to) {
  int body = node->body;
  to->x[body] = cm_add(state->x[body], get3(u));
  to->q[body] = turns(model, body) ? cm_qunit(cm_qmul(cm_exp(get3(u + 3)), state->q[body])) : state->q[body];
}

static void retract(const carom_model *model, const carom_state *state, const carom_joint_node *node, int column,
                    void *data) {
  retraction *to = data;
  if (node->joint < 0) {
    retract_root(model, state, node, to->u + column, to);
    return;
  }
  const carom_joint *joint = &model->joints[node->joint];
  const carom_joint_state *record = &state->joints[node->joint];
  carom_pose F0 = cm_compose(carom_body_place(state, joint->body[0]), record->frame[0]);
  carom_pose F1 = cm_compose(carom_body_place(state, joint->body[1]), record->frame[1]);
  carom_pose rel = cm_compose(cm_pose_inverse(F0), F1);
  rel = move_frame(joint, turns(model, node->body), rel, to->u + column);
  if (node->end == 0) rel = cm_pose_inverse(rel);
  int other = joint->body[1 - node->end];
  carom_pose parent = node->parent >= 0 ? cm_pose(to->x[other], to->q[other]) : carom_body_place(state, other);
  carom_pose child = cm_compose(cm_compose(parent, record->frame[1 - node->end]), rel);
  child = cm_compose(child, cm_pose_inverse(record->frame[node->end]));
  to->x[node->body] = child.p;
  to->q[node->body] = turns(model, node->body) ? cm_qunit(child.q) : state->q[node->body];
}

carom_status joints_retract(carom_joints *joints, const carom_state *state, const double *u, carom_vec3 *x,
                            carom_quat *q, carom_error *error) {
  carom_status status = check_tree(joints, state, error);
  if (status != CAROM_OK) return status;
  retraction to = {u, x, q};
  for (int i = 0; i < state->body_count; i++) x[i] = state->x[i], q[i] = state->q[i];
  walk(joints, state, retract, &to);
  return CAROM_OK;
}

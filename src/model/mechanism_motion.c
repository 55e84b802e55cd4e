// Mechanisms: velocities, Jacobians, the mass matrix, and motion along the freedoms.
#include <string.h>

#include "model/joint_rows.h"
#include "model/mechanism.h"
#include "model/model.h"

carom_freedom carom_link_sum(const carom_link *link, const double *nu) {
  carom_freedom sum = {cm_zero3(), cm_zero3()};
  for (int k = 0; k < link->count && nu; k++) {
    sum.w = cm_axpy(sum.w, nu[link->first + k], link->f[k].w);
    sum.v = cm_axpy(sum.v, nu[link->first + k], link->f[k].v);
  }
  return sum;
}

static carom_vec3 velocity_at(const carom_mechanism *m, int body, carom_vec3 r) {
  return cm_add(m->motion[body].v, cm_cross(m->motion[body].w, cm_sub(r, m->x[body])));
}

carom_freedom carom_link_motion(const carom_mechanism *m, const carom_link *link) {
  carom_freedom own = {m->motion[link->body].w, velocity_at(m, link->body, link->r)};
  if (link->parent >= 0) {
    int parent = m->links[link->parent].body;
    own.w = cm_sub(own.w, m->motion[parent].w);
    own.v = cm_sub(own.v, velocity_at(m, parent, link->r));
  }
  return (carom_freedom){cm_scale(link->sign, own.w), cm_scale(link->sign, own.v)};
}

void carom_mechanism_velocities(const carom_mechanism *m, double *velocities) {
  for (int i = 0; i < m->link_count; i++) {
    const carom_link *link = &m->links[i];
    carom_freedom motion = carom_link_motion(m, link);
    for (int k = 0; k < link->count; k++) {
      const carom_freedom *f = &link->f[k];  // directions are unit; a screw is told by its turn
      bool turn = cm_norm2(f->w) > 0;
      velocities[link->first + k] = turn ? cm_dot(f->w, motion.w) : cm_dot(f->v, motion.v);
    }
  }
}

// ---- Jacobians -----------------------------------------------------------------------------------------------------

// Along one freedom of a link, of the point r that moves with it.
static carom_vec3 point_along(const carom_link *link, int k, carom_vec3 r) {
  const carom_freedom *f = &link->f[k];
  return cm_scale(link->sign, cm_add(f->v, cm_cross(f->w, cm_sub(r, link->r))));
}

void carom_mechanism_jacobian(const carom_mechanism *m, int body, carom_vec3 point, double *jacobian) {
  memset(jacobian, 0, 6 * (size_t)m->freedoms * sizeof *jacobian);
  carom_vec3 arm = cm_transform(m->model->bodies[body].frame, point);
  carom_vec3 r = cm_add(m->x[body], cm_rotate(m->q[body], arm));
  double turns = 1;
  for (int i = m->link_of[body]; i >= 0; i = m->links[i].parent) {
    const carom_link *link = &m->links[i];
    if (!link->turns) r = link->joint < 0 ? r : link->r, turns = 0;  // all its points go with the joint's
    for (int k = 0; k < link->count; k++)
      carom_put_twist(jacobian + 6 * (link->first + k), point_along(link, k, r),
                      cm_scale(turns * link->sign, link->f[k].w));
  }
}

// ---- mass ----------------------------------------------------------------------------------------------------------

static carom_mat3 turned_inertia(const carom_body *body, carom_quat q) {
  carom_mat3 R = cm_rotation(q), J = cm_diag3(body->inertia.x, body->inertia.y, body->inertia.z);
  return cm_mmul(R, cm_mmul(J, cm_transpose(R)));
}

// m (d.d I - d d')
static carom_mat3 point_inertia(double mass, carom_vec3 d) {
  double d2 = cm_norm2(d);
  return cm_mscale(mass, cm_msub(cm_diag3(d2, d2, d2), cm_outer(d, d)));
}

static void join(carom_composite *a, const carom_composite *b) {
  double mass = a->mass + b->mass;
  carom_vec3 center = cm_lerp(a->center, b->center, b->mass / mass);
  carom_mat3 shifts =
      cm_madd(point_inertia(a->mass, cm_sub(a->center, center)), point_inertia(b->mass, cm_sub(b->center, center)));
  a->inertia = cm_madd(cm_madd(a->inertia, b->inertia), shifts);
  a->mass = mass;
  a->center = center;
}

// What a link and all that hangs on it are for its parent: one body, or a mass at the joint when it does not turn.
static carom_composite hanging(const carom_mechanism *m, int link) {
  if (m->links[link].turns) return m->composite[link];
  return (carom_composite){m->composite[link].mass, m->links[link].r, {{{0}}}};
}

static void compose(carom_mechanism *m) {
  for (int i = 0; i < m->link_count; i++) {
    const carom_body *body = &m->model->bodies[m->links[i].body];
    carom_mat3 none = {{{0}}};
    m->composite[i].mass = body->mass;
    m->composite[i].center = m->x[m->links[i].body];
    m->composite[i].inertia = m->links[i].turns ? turned_inertia(body, m->q[m->links[i].body]) : none;
  }
  for (int i = m->link_count - 1; i >= 0; i--) {
    if (m->links[i].parent < 0) continue;
    carom_composite child = hanging(m, i);
    join(&m->composite[m->links[i].parent], &child);
  }
}

// Momenta of what a link carries when it moves along one of its freedoms: p at `at`, l about it.
typedef struct carried {
  carom_vec3 p, l, at;
} carried;

static double along(const carom_link *link, int k, const carried *c) {
  return cm_dot(point_along(link, k, c->at), c->p) + link->sign * cm_dot(link->f[k].w, c->l);
}

// One column, from the link to its root: the composite-rigid-body method (Walker and Orin 1982) with momenta for
// forces.
static void fill_column(const carom_mechanism *m, int link, int k, double *matrix) {
  size_t n = (size_t)m->freedoms, column = (size_t)m->links[link].first + (size_t)k;
  const carom_composite *body = &m->composite[link];
  carried c = {.at = body->center};
  c.p = cm_scale(body->mass, point_along(&m->links[link], k, body->center));
  if (m->links[link].turns) c.l = cm_scale(m->links[link].sign, cm_mulv(body->inertia, m->links[link].f[k].w));
  for (int i = link; i >= 0; i = m->links[i].parent) {
    for (int j = 0; j < m->links[i].count; j++) {
      size_t row = (size_t)m->links[i].first + (size_t)j;
      matrix[row + column * n] = matrix[column + row * n] = along(&m->links[i], j, &c);
    }
    if (!m->links[i].turns) c.at = m->links[i].r, c.l = cm_zero3();
  }
}

void carom_mechanism_mass(carom_mechanism *m, double *matrix) {
  memset(matrix, 0, (size_t)m->freedoms * (size_t)m->freedoms * sizeof *matrix);
  compose(m);
  for (int i = 0; i < m->link_count; i++)
    for (int k = 0; k < m->links[i].count; k++) fill_column(m, i, k, matrix);
}

// ---- along the freedoms --------------------------------------------------------------------------------------------

// Where frame 1 of the joint is in frame 0 after the motion W, V (world axes, at the configuration taken over).
static carom_pose moved_frame(const carom_mechanism *m, const carom_link *link, carom_pose frame0, carom_pose frame1,
                              const double *u) {
  carom_freedom sum = carom_link_sum(link, u);
  carom_vec3 w = cm_unrotate(frame0.q, sum.w), v = cm_unrotate(frame0.q, sum.v);
  carom_pose relative = cm_compose(cm_pose_inverse(frame0), frame1);
  relative.q = cm_qunit(cm_qmul(cm_exp(w), relative.q));
  carom_vec3 d = relative.p;
  bool circles = m->model->joints[link->joint].kind == CAROM_JOINT_DISTANCE;  // along the sphere, not off it
  relative.p = circles ? cm_rotate(cm_exp(cm_scale(1 / cm_norm2(d), cm_cross(d, v))), d) : cm_add(d, v);
  return relative;
}

static carom_pose taken_frame(const carom_mechanism *m, int joint, int end) {
  int body = m->model->joints[joint].body[end];
  carom_pose place = body == CAROM_WORLD ? cm_pose_identity() : cm_pose(m->x[body], m->q[body]);
  return cm_compose(place, m->joints[joint].frame[end]);
}

static void move_joint(const carom_mechanism *m, const carom_link *link, const double *u, carom_state *state) {
  const carom_joint *joint = &m->model->joints[link->joint];
  const carom_pose *frame = m->joints[link->joint].frame;
  carom_pose relative = moved_frame(m, link, taken_frame(m, link->joint, 0), taken_frame(m, link->joint, 1), u);
  int end = link->sign > 0 ? 1 : 0;
  carom_pose other = cm_compose(carom_body_place(state, joint->body[1 - end]), frame[1 - end]);
  carom_pose own = cm_compose(other, end == 1 ? relative : cm_pose_inverse(relative));
  carom_pose body = cm_compose(own, cm_pose_inverse(frame[end]));
  if (!link->turns) body = cm_pose(cm_sub(own.p, cm_rotate(state->q[link->body], frame[end].p)), state->q[link->body]);
  state->x[link->body] = body.p;
  state->q[link->body] = cm_qunit(body.q);
}

// Before turns are noted by the nearest value, they are told by how much they change.
static void count_turns(const carom_mechanism *m, const carom_link *link, const double *u, carom_state *state) {
  carom_joint_kind kind = m->model->joints[link->joint].kind;
  if (carom_joint_turns(kind)) state->joints[link->joint].turn += u[link->first + link->count - 1];
}

void carom_mechanism_move(const carom_mechanism *m, const double *u, carom_state *state) {
  for (int i = 0; i < m->link_count; i++) {
    const carom_link *link = &m->links[i];
    int body = link->body;
    if (link->joint >= 0) {
      move_joint(m, link, u, state);
      count_turns(m, link, u, state);
      continue;
    }
    carom_freedom sum = carom_link_sum(link, u);
    state->x[body] = cm_add(m->x[body], sum.v);
    state->q[body] = cm_qunit(cm_qmul(cm_exp(sum.w), m->q[body]));
  }
  carom_joints_note_turns(m->model, state);
}

void carom_mechanism_set_velocities(const carom_mechanism *m, const double *nu, carom_state *state) {
  for (int i = 0; i < m->link_count; i++) {
    const carom_link *link = &m->links[i];
    carom_freedom sum = carom_link_sum(link, nu);
    carom_vec3 w = cm_scale(link->sign, sum.w), v = cm_scale(link->sign, sum.v);  // of r
    if (link->parent >= 0) {
      int parent = m->links[link->parent].body;
      carom_vec3 parent_spin = carom_state_angular_velocity(m->model, state, parent);
      carom_vec3 arm = cm_sub(link->r, m->x[parent]);
      w = cm_add(w, parent_spin);
      v = cm_add(v, cm_add(carom_state_velocity(m->model, state, parent), cm_cross(parent_spin, arm)));
    }
    if (!link->turns) w = cm_zero3();
    v = cm_add(v, cm_cross(w, cm_sub(m->x[link->body], link->r)));
    carom_state_set_velocity(m->model, state, link->body, v, w);
  }
}

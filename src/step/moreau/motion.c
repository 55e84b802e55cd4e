#include <math.h>
#include <string.h>

#include "model/model.h"
#include "step/moreau/moreau.h"

enum { ROWS = CAROM_JOINT_ROWS };

static bool turns(const carom_body *body) { return body->inverse_inertia.x > 0; }

static carom_vec3 linear_of(const double *v, int body) {
  return cm_vec3(v[6 * body], v[6 * body + 1], v[6 * body + 2]);
}
static carom_vec3 angular_of(const double *v, int body) {
  return cm_vec3(v[6 * body + 3], v[6 * body + 4], v[6 * body + 5]);
}

static void put(double *v, int body, carom_vec3 linear, carom_vec3 angular) {
  memcpy(v + 6 * body, &linear, sizeof linear);
  memcpy(v + 6 * body + 3, &angular, sizeof angular);
}

double carom_moreau_rate(const carom_model *model, const carom_row *row, const double *v) {
  double rate = 0;
  for (int end = 0; end < 2; end++) {
    int body = row->body[end];
    if (body == CAROM_WORLD || model->bodies[body].fixed) continue;
    rate += cm_dot(row->linear[end], linear_of(v, body)) + cm_dot(row->angular[end], angular_of(v, body));
  }
  return rate;
}

// ---- the configuration of the rows ----------------------------------------------------------------------------------

static carom_vec3 body_spin(const carom_model *model, const carom_state *state, int i) {
  return cm_mul_diag(model->bodies[i].inverse_inertia, cm_unrotate(state->q[i], state->l[i]));
}

static void set_star(carom_moreau *m, const carom_state *state) {
  double ahead = (1 - m->alpha) * m->h;
  carom_state_copy(m->star, state);
  for (int i = 0; i < state->body_count; i++) {
    const carom_body *body = &m->model->bodies[i];
    if (body->fixed) continue;
    carom_vec3 velocity = cm_scale(body->inverse_mass, state->p[i]), spin = body_spin(m->model, state, i);
    m->star->x[i] = cm_axpy(state->x[i], ahead, velocity);
    if (ahead > 0) m->star->q[i] = cm_qunit(cm_qmul(state->q[i], cm_exp(cm_scale(ahead, spin))));
    put(m->v, i, velocity, cm_rotate(m->star->q[i], spin));
  }
}

// ---- masses and forces ----------------------------------------------------------------------------------------------

// M~ = I - alpha h hat(I w): the gyroscopic force (I w) x w, linearised about v^l (2.1.2, 2.1.5). A body that does not
// turn has no equations of rotation; any regular block does.
static void set_mass(carom_moreau *m, int i) {
  const carom_body *body = &m->model->bodies[i];
  m->mass[i].mass = body->mass;
  if (!turns(body)) {
    m->mass[i].rotation = cm_diag3(body->mass, body->mass, body->mass);
    return;
  }
  carom_mat3 R = m->d[i], J = cm_diag3(body->inertia.x, body->inertia.y, body->inertia.z);
  carom_mat3 I = cm_mmul(R, cm_mmul(J, cm_transpose(R)));
  carom_vec3 momentum = cm_mulv(I, angular_of(m->v, i));
  m->mass[i].rotation = cm_msub(I, cm_mscale(m->alpha * m->h, cm_hat(momentum)));
}

static carom_configuration star_configuration(carom_moreau *m, double time) {
  for (int i = 0; i < m->model->body_count; i++) {
    m->rate[i] = linear_of(m->v, i);
    m->d_rate[i] = cm_mmul(cm_hat(angular_of(m->v, i)), m->d[i]);
  }
  return (carom_configuration){time, m->star->x, m->d, m->rate, m->d_rate, m->star->joints};
}

void carom_moreau_mean_rates(carom_moreau *m) {
  for (int i = 0; i < m->model->body_count; i++) {
    m->rate[i] = cm_lerp(linear_of(m->v, i), linear_of(m->v_new, i), 0.5);
    m->d_rate[i] = cm_mmul(cm_hat(cm_lerp(angular_of(m->v, i), angular_of(m->v_new, i), 0.5)), m->d[i]);
  }
}

// k~ of (2.1.5) without Jacobians of the forces, which may be approximated by 0.
static void add_forces(carom_moreau *m, int i) {
  const carom_body *body = &m->model->bodies[i];
  carom_vec3 f = cm_scale(body->mass, m->model->gravity), t = cm_zero3();
  if (m->loads_present) {
    f = cm_add(f, m->loads.f[i]);
    t = cm_add(carom_director_torque(m->loads.g[i], m->d[i]), m->loads.torque[i]);
  }
  carom_vec3 w = angular_of(m->v, i), J = body->inertia;
  if (turns(body)) {
    carom_vec3 momentum = cm_mulv(m->d[i], cm_mul_diag(J, cm_tmulv(m->d[i], w)));
    t = cm_add(t, cm_cross(momentum, w));
  }
  for (int k = 0; k < 3; k++) {
    m->b_free[6 * i + k] += m->h * (&f.x)[k];
    m->b_free[6 * i + 3 + k] += turns(body) ? m->h * (&t.x)[k] : 0;
  }
}

static void set_right_hand_side(carom_moreau *m, int i) {
  carom_vec3 w = cm_mulv(m->mass[i].rotation, angular_of(m->v, i));
  put(m->b_free, i, cm_scale(m->mass[i].mass, linear_of(m->v, i)), turns(&m->model->bodies[i]) ? w : cm_zero3());
  if (m->h > 0) add_forces(m, i);
}

// Inverse by cofactors; M~ is regular for any h, its symmetric part being the inertia itself.
static carom_mat3 inverse(carom_mat3 A) {
  carom_vec3 a = cm_vec3(A.m[0][0], A.m[0][1], A.m[0][2]), b = cm_vec3(A.m[1][0], A.m[1][1], A.m[1][2]);
  carom_vec3 c = cm_vec3(A.m[2][0], A.m[2][1], A.m[2][2]);
  carom_vec3 x = cm_cross(b, c), y = cm_cross(c, a), z = cm_cross(a, b);
  double over = 1 / cm_dot(a, x);
  return (carom_mat3){{{over * x.x, over * y.x, over * z.x},
                       {over * x.y, over * y.y, over * z.y},
                       {over * x.z, over * y.z, over * z.z}}};
}

// ---- joints ---------------------------------------------------------------------------------------------------------

// nu'(alpha v' + (1 - alpha) v) = -Theta/h + what motors ask for: brings joints back that have drifted (2.1.4c with the
// residual of the start on the right).
static void set_joint_targets(carom_moreau *m, double time) {
  carom_joint_vectors *j = carom_joint_system_vectors(m->joints);
  for (int joint = 0; joint < m->model->joint_count; joint++) {
    if (!carom_joint_acts(m->model, m->star, joint)) continue;
    double rates[ROWS] = {0};
    int count = carom_joint_row_count(&m->model->joints[joint]);
    carom_joint_rates(m->model, &m->model->joints[joint], time, rates);
    for (int i = 0; i < count; i++) {
      int k = joint * ROWS + i;
      double now = carom_moreau_rate(m->model, &j->left[k], m->v);
      double wanted = rates[i] - (m->h > 0 && !m->unstabilized ? m->theta[k] / m->h : 0);
      j->c[k] = (wanted - (1 - m->alpha) * now) / m->alpha;
    }
  }
}

static carom_status begin_joints(carom_moreau *m, const carom_state *state, double time, carom_error *error) {
  carom_joint_system_forget(m->joints);
  carom_joint_system_order(m->joints, m->star);
  carom_joint_system_fill(m->joints, m->star);
  carom_joint_vectors *j = carom_joint_system_vectors(m->joints);
  int count;
  const carom_joint_node *nodes = carom_joint_system_nodes(m->joints, &count);
  for (int i = 0; i < count; i++) j->mass[nodes[i].body] = m->mass[nodes[i].body];
  for (int joint = 0; joint < m->model->joint_count; joint++)
    if (carom_joint_acts(m->model, state, joint))
      carom_joint_equations(m->model, &m->model->joints[joint], &state->joints[joint], state, time,
                            m->theta + joint * ROWS, NULL);
  if (carom_joint_system_factor(m->joints) != CAROM_OK)
    return carom_fail(error, CAROM_ERR_SINGULAR,
                      "the joints at t = %.9g s are singular: two of them hold the same body in the same way",
                      state->time);
  set_joint_targets(m, time + m->h);
  return CAROM_OK;
}

double carom_moreau_correct(carom_moreau *m, const carom_state *end, double time) {
  double worst = 0;
  for (int joint = 0; joint < m->model->joint_count; joint++) {
    double g[ROWS];
    const carom_joint *def = &m->model->joints[joint];
    if (!carom_joint_acts(m->model, end, joint)) continue;
    carom_joint_equations(m->model, def, &end->joints[joint], end, time, g, NULL);
    for (int i = 0; i < carom_joint_row_count(def); i++) {
      worst = fmax(worst, fabs(g[i]));
      m->theta[joint * ROWS + i] += g[i];
    }
  }
  set_joint_targets(m, time);
  return worst;
}

// ---- responses ------------------------------------------------------------------------------------------------------

static void respond(carom_moreau *m, const double *b, bool homogeneous, double *z) {
  for (int i = 0; i < m->model->body_count; i++) {
    const carom_body *body = &m->model->bodies[i];
    if (body->fixed) continue;
    put(z, i, cm_scale(body->inverse_mass, linear_of(b, i)),
        turns(body) ? cm_mulv(m->inverse_turning[i], angular_of(b, i)) : cm_zero3());
  }
  if (!m->joints) return;
  carom_joint_vectors *j = carom_joint_system_vectors(m->joints);
  size_t bytes = (size_t)m->model->joint_count * ROWS * sizeof(double);
  double *c = j->c;
  if (homogeneous) {
    memcpy(m->joint_impulse, c, bytes);  // kept here for the moment
    memset(c, 0, bytes);
  }
  memcpy(j->b, b, 6 * (size_t)m->model->body_count * sizeof *b);
  carom_joint_system_solve(m->joints);
  if (homogeneous) memcpy(c, m->joint_impulse, bytes);
  int count;
  const carom_joint_node *nodes = carom_joint_system_nodes(m->joints, &count);
  for (int i = 0; i < count; i++) memcpy(z + 6 * nodes[i].body, j->z + 6 * nodes[i].body, 6 * sizeof *z);
}

void carom_moreau_respond(carom_moreau *m, const double *b, double *z) { respond(m, b, true, z); }

void carom_moreau_free_velocity(carom_moreau *m) { respond(m, m->b_free, false, m->v_free); }

void carom_moreau_push(const carom_model *model, const carom_row *row, double impulse, double *b) {
  for (int end = 0; end < 2; end++) {
    int body = row->body[end];
    if (body == CAROM_WORLD || model->bodies[body].fixed) continue;
    const carom_vec3 *f = &row->linear[end], *t = &row->angular[end];
    for (int k = 0; k < 3; k++) {
      b[6 * body + k] += impulse * (&f->x)[k];
      b[6 * body + 3 + k] += impulse * (&t->x)[k];
    }
  }
}

void carom_moreau_apply(carom_moreau *m) {
  memcpy(m->b, m->b_free, 6 * (size_t)m->model->body_count * sizeof *m->b);
  for (int i = 0; i < m->item_count; i++)
    for (int k = 0; k <= m->items[i].tangents; k++)
      carom_moreau_push(m->model, &m->items[i].row[k], m->items[i].impulse[k], m->b);
  respond(m, m->b, false, m->v_new);
  if (!m->joints) return;
  memcpy(m->joint_impulse, carom_joint_system_vectors(m->joints)->lambda,
         (size_t)m->model->joint_count * ROWS * sizeof(double));
}

carom_status carom_moreau_begin(carom_moreau *m, const carom_state *state, double h, double alpha, double time,
                                carom_error *error) {
  m->h = h;
  m->alpha = alpha;
  m->time = time;
  set_star(m, state);
  for (int i = 0; i < state->body_count; i++) m->d[i] = cm_rotation(m->star->q[i]);
  if (m->loads_present && h > 0) {
    carom_configuration c = star_configuration(m, time + alpha * h);
    carom_fields_evaluate(m->model, &c, &m->loads);
  }
  for (int i = 0; i < state->body_count; i++) {
    if (m->model->bodies[i].fixed) continue;
    set_mass(m, i);
    m->inverse_turning[i] = inverse(m->mass[i].rotation);
    set_right_hand_side(m, i);
  }
  carom_status status = m->joints ? begin_joints(m, state, time, error) : CAROM_OK;
  if (status == CAROM_OK) carom_moreau_free_velocity(m);
  return status;
}

// ---- positions ------------------------------------------------------------------------------------------------------

void carom_moreau_move(const carom_moreau *m, const carom_state *from, carom_state *to) {
  for (int i = 0; i < m->model->drive_count; i++) {
    carom_pose pose = carom_drive_pose(m->model, i, m->time + m->h);
    to->x[m->model->drives[i].body] = pose.p;
    to->q[m->model->drives[i].body] = pose.q;
  }
  for (int i = 0; i < from->body_count; i++) {
    const carom_body *body = &m->model->bodies[i];
    if (body->fixed) continue;
    carom_vec3 v = cm_lerp(linear_of(m->v, i), linear_of(m->v_new, i), m->alpha);
    carom_vec3 w = cm_lerp(angular_of(m->v, i), angular_of(m->v_new, i), m->alpha);
    to->x[i] = cm_axpy(from->x[i], m->h, v);
    to->p[i] = cm_scale(body->mass, linear_of(m->v_new, i));
    if (!turns(body)) continue;
    carom_vec3 turn = cm_scale(m->h, cm_unrotate(m->star->q[i], w));
    to->q[i] = cm_qunit(cm_qmul(from->q[i], cm_exp(turn)));
    carom_vec3 spin = cm_unrotate(m->star->q[i], angular_of(m->v_new, i));
    to->l[i] = cm_rotate(to->q[i], cm_mul_diag(body->inertia, spin));
  }
}

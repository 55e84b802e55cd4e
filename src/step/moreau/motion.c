#include "step/moreau/motion.h"

#include <math.h>
#include <string.h>

#include "model/joints.h"
#include "model/model.h"

enum { ROWS = CAROM_JOINT_ROWS, TURN_HALVINGS = 12, PARTS_MAX = 64 };
// A drift in parts of this turn (rad) keeps the energy of a spin to about its square.
static const double FINE_TURN = 0.03;

static bool turns(const carom_body *body) { return body->inverse_inertia.x > 0; }

// ---- memory ---------------------------------------------------------------------------------------------------------

static void push_forces(carom_moreau_forces *f, carom_arena *arena, const carom_model *model) {
  carom_loads_push(&f->loads, arena, model);
  f->rate = CAROM_PUSH(arena, carom_vec3, model->body_count);
  f->d_rate = CAROM_PUSH(arena, carom_mat3, model->body_count);
}

static void push_joints(carom_moreau_joints *j, carom_arena *arena, const carom_model *model) {
  double **const lists[] = {&j->theta, &j->target, &j->impulse};
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
    *lists[i] = CAROM_PUSH(arena, double, model->joint_count *ROWS);
}

void carom_moreau_motion_push(carom_moreau_motion *m, carom_arena *arena, const carom_model *model) {
  int n = model->body_count;
  m->model = model;
  m->d = CAROM_PUSH(arena, carom_mat3, n);
  m->mass = CAROM_PUSH(arena, carom_joint_mass, n);
  m->inverse_rotation = CAROM_PUSH(arena, carom_mat3, n);
  m->dmv_memory = carom_arena_push(arena, carom_dmv_bodies_cost(n));
  carom_vec3 **const vectors[] = {&m->v.v,     &m->v.w,      &m->v_free.v, &m->v_free.w, &m->v_new.v,
                                  &m->v_new.w, &m->b_free.p, &m->b_free.l, &m->b.p,      &m->b.l};
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) *vectors[i] = CAROM_PUSH(arena, carom_vec3, n);
  push_forces(&m->forces, arena, model);
  carom_moreau_springs_push(&m->springs, arena, model);
  push_joints(&m->joints, arena, model);
}

carom_status carom_moreau_motion_create(carom_moreau_motion *m, const carom_allocator *allocator, carom_error *error) {
  const carom_model *model = m->model;
  m->forces.present = carom_fields_present(model);
  carom_dmv_bodies_fill(&m->dmv, model, m->dmv_memory);
  carom_status status = carom_state_create(model, allocator, &m->star, error);
  if (status != CAROM_OK || model->joint_count == 0) return status;
  return carom_joint_system_create(model, allocator, &m->joints.system, error);
}

void carom_moreau_motion_destroy(carom_moreau_motion *m) {
  carom_state_destroy(m->star);
  carom_joint_system_destroy(m->joints.system);
}

// ---- the configuration of the rows ----------------------------------------------------------------------------------

// Moves all bodies by their momenta for a time.
static carom_status drift(const carom_moreau_motion *m, carom_state *state, double time, carom_error *error) {
  carom_dmv_info info = {.failed = -1};
  double turn = time > 0 ? carom_dmv_largest_turn(&m->dmv, state, time) : 0;
  int parts = turn > FINE_TURN ? (int)fmin(ceil(turn / FINE_TURN), PARTS_MAX) : 1;
  for (int k = 0; k < parts && time > 0; k++)
    for (int first = 0; first < state->body_count; first += CAROM_DMV_LANES)
      carom_dmv_drift(&m->dmv, first, time / parts, TURN_HALVINGS, state, &info);
  if (info.failed < 0) return CAROM_OK;
  return carom_fail(error, CAROM_ERR_NUMBER,
                    "body '%s' moves or turns at t = %.9g s faster than anything can follow: check its start state and "
                    "the forces on it",
                    m->model->bodies[info.failed].name, m->time);
}

static carom_status set_star(carom_moreau_motion *m, const carom_state *state, carom_error *error) {
  carom_state_copy(m->star, state);
  carom_status status = drift(m, m->star, (1 - m->alpha) * m->h, error);
  for (int i = 0; i < state->body_count; i++) m->d[i] = cm_rotation(m->star->q[i]);
  return status;
}

// ---- masses and forces ----------------------------------------------------------------------------------------------

// A body that does not turn has no equations of rotation; any regular block does.
static void set_mass(carom_moreau_motion *m, int i) {
  const carom_body *body = &m->model->bodies[i];
  carom_vec3 J = turns(body) ? body->inertia : cm_vec3(body->mass, body->mass, body->mass), K = body->inverse_inertia;
  carom_mat3 R = m->d[i], R_transposed = cm_transpose(R);
  m->mass[i] = (carom_joint_mass){body->mass, cm_mmul(R, cm_mmul(cm_diag3(J.x, J.y, J.z), R_transposed))};
  m->inverse_rotation[i] = cm_mmul(R, cm_mmul(cm_diag3(K.x, K.y, K.z), R_transposed));
}

// At q*, with the mean of these rates and those of the start.
static carom_configuration configuration_at(carom_moreau_motion *m, const carom_twists *end) {
  carom_moreau_forces *f = &m->forces;
  for (int i = 0; i < m->model->body_count; i++) {
    f->rate[i] = cm_lerp(m->v.v[i], end->v[i], 0.5);
    f->d_rate[i] = cm_mmul(cm_hat(cm_lerp(m->v.w[i], end->w[i], 0.5)), m->d[i]);
  }
  double time = m->time + (m->kick == m->h ? m->alpha * m->h : 0);
  return (carom_configuration){
      time, m->star->x, m->d, f->rate, f->d_rate, m->star->joints, m->star->inputs, m->springs.count > 0};
}

static void evaluate_forces(carom_moreau_motion *m) {
  carom_configuration c = configuration_at(m, &m->v);
  carom_fields_evaluate(m->model, &c, &m->forces.loads);
}

static void add_forces(carom_moreau_motion *m, int i) {
  const carom_body *body = &m->model->bodies[i];
  const carom_loads *loads = &m->forces.loads;
  m->b_free.p[i] = cm_axpy(m->b_free.p[i], m->kick * body->mass, m->model->gravity);
  if (!m->forces.present) return;
  m->b_free.p[i] = cm_axpy(m->b_free.p[i], m->kick, loads->f[i]);
  carom_vec3 torque = cm_add(carom_director_torque(loads->g[i], m->d[i]), loads->torque[i]);
  if (turns(body)) m->b_free.l[i] = cm_axpy(m->b_free.l[i], m->kick, torque);
}

static void set_velocities(carom_moreau_motion *m, const carom_state *state) {
  for (int i = 0; i < m->model->body_count; i++) {
    if (m->model->bodies[i].fixed) continue;
    set_mass(m, i);
    m->v.v[i] = cm_scale(m->model->bodies[i].inverse_mass, state->p[i]);
    m->v.w[i] = cm_mulv(m->inverse_rotation[i], state->l[i]);
  }
}

static void set_momenta(carom_moreau_motion *m, const carom_state *state) {
  if (m->forces.present) evaluate_forces(m);
  for (int i = 0; i < m->model->body_count; i++) {
    if (m->model->bodies[i].fixed) continue;
    m->b_free.p[i] = state->p[i];
    m->b_free.l[i] = state->l[i];
    if (m->kick > 0) add_forces(m, i);
  }
}

// ---- joints ---------------------------------------------------------------------------------------------------------

// What motors asked for over the past: the residuals of one configuration differ by their ways alone.
static void mean_rates(const carom_moreau_motion *m, int joint, double *rates) {
  double now[ROWS] = {0}, then[ROWS] = {0};
  carom_joint_equations(m->model, m->star, joint, m->time, now, NULL);
  carom_joint_equations(m->model, m->star, joint, m->time - m->joints.past, then, NULL);
  for (int i = 0; i < ROWS; i++) rates[i] = (then[i] - now[i]) / m->joints.past;
}

// nu'(alpha v' + (1 - alpha) v) = -Theta/h + what motors ask for: brings joints back that have drifted (2.1.4c with the
// residual of the start on the right).
static void set_joint_targets(carom_moreau_motion *m) {
  const carom_row *rows = carom_joint_system_vectors(m->joints.system)->left;
  for (int joint = 0; joint < m->model->joint_count; joint++) {
    if (!carom_joint_acts(m->model, m->star, joint)) continue;
    double rates[ROWS] = {0};
    if (m->h == 0 && m->joints.past > 0)
      mean_rates(m, joint, rates);
    else
      carom_joint_rates(m->model, &m->model->joints[joint], m->time + m->h, rates);
    for (int i = 0; i < carom_joint_row_count(&m->model->joints[joint]); i++) {
      int k = joint * ROWS + i;
      double now = carom_row_rate(m->model, &rows[k], m->v.v, m->v.w);
      double wanted = rates[i] - (m->h > 0 && !m->joints.may_drift ? m->joints.theta[k] / m->h : 0);
      m->joints.target[k] = (wanted - (1 - m->alpha) * now) / m->alpha;
    }
  }
}

static carom_status begin_joints(carom_moreau_motion *m, const carom_state *state, carom_error *error) {
  carom_joint_system *system = m->joints.system;
  carom_joint_system_forget(system);
  carom_joint_system_order(system, m->star);
  carom_joint_system_fill(system, m->star);
  int count;
  const carom_joint_node *nodes = carom_joint_system_nodes(system, &count);
  carom_joint_mass *mass = carom_joint_system_vectors(system)->mass;
  for (int i = 0; i < count; i++) mass[nodes[i].body] = m->mass[nodes[i].body];
  for (int joint = 0; joint < m->model->joint_count; joint++)
    if (carom_joint_acts(m->model, state, joint))
      carom_joint_equations(m->model, state, joint, m->time, m->joints.theta + joint * ROWS, NULL);
  if (carom_joint_system_factor(system) != CAROM_OK)
    return carom_joint_system_blame(system, CAROM_ERR_SINGULAR, m->time, error);
  set_joint_targets(m);
  return CAROM_OK;
}

double carom_moreau_correct(carom_moreau_motion *m, const carom_state *end, int *worst_joint) {
  double worst = 0;
  for (int joint = 0; joint < m->model->joint_count; joint++) {
    double g[ROWS];
    const carom_joint *def = &m->model->joints[joint];
    if (!carom_joint_acts(m->model, end, joint)) continue;
    carom_joint_equations(m->model, end, joint, m->time + m->h, g, NULL);
    for (int i = 0; i < carom_joint_row_count(def); i++) {
      if (!(fabs(g[i]) <= worst)) worst = fabs(g[i]), *worst_joint = joint;
      m->joints.theta[joint * ROWS + i] += g[i];
    }
  }
  set_joint_targets(m);
  return worst;
}

// ---- responses ------------------------------------------------------------------------------------------------------

// z of the bodies that joints act on.
static void respond_jointed(carom_moreau_motion *m, const carom_vec3 *p, const carom_vec3 *l, const double *target,
                            const carom_twists *z) {
  carom_joint_vectors *j = carom_joint_system_vectors(m->joints.system);
  size_t bytes = (size_t)m->model->joint_count * ROWS * sizeof *j->c;
  int count;
  const carom_joint_node *nodes = carom_joint_system_nodes(m->joints.system, &count);
  for (int i = 0; i < count; i++) {
    int body = nodes[i].body;
    memcpy(j->b + 6 * body, &p[body], sizeof *p);
    memcpy(j->b + 6 * body + 3, &l[body], sizeof *l);
  }
  if (target)
    memcpy(j->c, target, bytes);
  else
    memset(j->c, 0, bytes);
  carom_joint_system_solve(m->joints.system);
  for (int i = 0; i < count; i++) {
    int body = nodes[i].body;
    memcpy(&z->v[body], j->z + 6 * body, sizeof *z->v);
    memcpy(&z->w[body], j->z + 6 * body + 3, sizeof *z->w);
  }
}

static void respond_without_springs(carom_moreau_motion *m, const carom_vec3 *p, const carom_vec3 *l,
                                    const double *target, const carom_twists *z) {
  for (int i = 0; i < m->model->body_count; i++) {
    if (m->model->bodies[i].fixed) continue;
    z->v[i] = cm_scale(m->model->bodies[i].inverse_mass, p[i]);
    z->w[i] = cm_mulv(m->inverse_rotation[i], l[i]);
  }
  if (m->joints.system) respond_jointed(m, p, l, target, z);
}

void carom_moreau_respond(carom_moreau_motion *m, const carom_vec3 *p, const carom_vec3 *l, const double *target,
                          const carom_twists *z) {
  respond_without_springs(m, p, l, target, z);
  if (m->springs.count > 0) carom_moreau_springs_answer(m, z);
}

void carom_moreau_free_velocity(carom_moreau_motion *m) {
  size_t bytes = (size_t)m->model->body_count * sizeof *m->b.p;
  memcpy(m->b.p, m->b_free.p, bytes);
  memcpy(m->b.l, m->b_free.l, bytes);
  carom_moreau_respond(m, m->b.p, m->b.l, m->joints.target, &m->v_free);
}

void carom_moreau_new_velocity(carom_moreau_motion *m) {
  respond_without_springs(m, m->b.p, m->b.l, m->joints.target, &m->v_new);
  if (m->springs.count > 0) {
    carom_moreau_springs_push_back(m, &m->v_new);
    respond_without_springs(m, m->b.p, m->b.l, m->joints.target, &m->v_new);
  }
  if (m->joints.system)
    memcpy(m->joints.impulse, carom_joint_system_vectors(m->joints.system)->lambda,
           (size_t)m->model->joint_count * ROWS * sizeof *m->joints.impulse);
}

carom_status carom_moreau_couple_springs(carom_moreau_motion *m, carom_error *error) {
  size_t bytes = (size_t)m->model->body_count * sizeof *m->b.p;
  for (int i = 0; i < m->springs.count; i++) {
    memset(m->b.p, 0, bytes);
    memset(m->b.l, 0, bytes);
    carom_row_push(m->model, &m->springs.row[i], 1, m->b.p, m->b.l);
    respond_without_springs(m, m->b.p, m->b.l, NULL, &m->springs.answer[i]);
  }
  return carom_moreau_springs_couple(m, error);
}

carom_status carom_moreau_begin(carom_moreau_motion *m, const carom_state *state, const carom_moreau_span *span,
                                carom_error *error) {
  m->h = span->h;
  m->kick = span->kick;
  m->alpha = span->alpha;
  m->time = state->time;
  carom_status status = set_star(m, state, error);
  if (status != CAROM_OK) return status;
  set_velocities(m, state);
  set_momenta(m, state);
  if (m->springs.count > 0) carom_moreau_springs_begin(m);
  if (m->joints.system) status = begin_joints(m, state, error);
  if (status == CAROM_OK && m->springs.count > 0) status = carom_moreau_couple_springs(m, error);
  if (status == CAROM_OK) carom_moreau_free_velocity(m);
  return status;
}

// ---- positions ------------------------------------------------------------------------------------------------------

// b with the impulses of the joints is the momentum at the end, to the last bit.
carom_status carom_moreau_move(const carom_moreau_motion *m, carom_state *to, carom_error *error) {
  for (int i = 0; i < to->body_count; i++) {
    if (m->model->bodies[i].fixed) continue;
    to->x[i] = m->star->x[i];
    to->q[i] = m->star->q[i];
    to->p[i] = m->b.p[i];
    to->l[i] = m->b.l[i];
  }
  if (m->joints.system) carom_joint_system_push(m->joints.system, m->joints.impulse, to->p, to->l);
  carom_drives_place(m->model, to, m->time + m->h);
  return drift(m, to, m->alpha * m->h, error);
}

// ---- books ----------------------------------------------------------------------------------------------------------

// Forces times the mean of the rates before and after are their work, exactly.
static void book_fields(carom_moreau_motion *m, carom_ledger *ledger) {
  carom_configuration c = configuration_at(m, &m->v_new);
  carom_resultant r = carom_fields_resultant(m->model, &c, &m->forces.loads);
  carom_ledger_fields(ledger, &r, m->kick);
}

// Motors work by impulse times the mean of the rates before and after, as all impulses do.
static void book_joint(const carom_moreau_motion *m, int joint, carom_ledger *ledger) {
  const carom_joint *def = &m->model->joints[joint];
  const carom_row *rows = carom_joint_system_vectors(m->joints.system)->right + joint * ROWS;
  const double *impulse = m->joints.impulse + joint * ROWS;
  int count = carom_joint_row_count(def);
  int own = count - carom_motor_prescribes(def->slide.motor) - carom_motor_prescribes(def->turn.motor);
  for (int k = 0; k < count; k++) {
    carom_ledger_row(ledger, &rows[k], impulse[k], m->star->x);
    double before = carom_row_rate(m->model, &rows[k], m->v.v, m->v.w);
    double after = carom_row_rate(m->model, &rows[k], m->v_new.v, m->v_new.w);
    if (k >= own) carom_ledger_work(ledger, impulse[k] * 0.5 * (before + after));
  }
}

static void book_joints(const carom_moreau_motion *m, carom_ledger *ledger) {
  for (int i = 0; i < carom_joint_system_acting_count(m->joints.system); i++)
    book_joint(m, carom_joint_system_acting(m->joints.system)[i], ledger);
}

void carom_moreau_book_motion(carom_moreau_motion *m, carom_ledger *ledger) {
  carom_ledger_weight(ledger, m->star->x, m->kick);
  if (m->forces.present && m->kick > 0) book_fields(m, ledger);
  if (m->joints.system) book_joints(m, ledger);
  if (m->springs.count > 0) carom_moreau_springs_book(m, ledger);
}

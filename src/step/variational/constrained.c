#include "step/variational/constrained.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "model/joints.h"

enum { ROWS = CAROM_JOINT_ROWS, MOST_ITERATIONS = 60 };

// Residuals are relative: lengths to the coordinates they are differences of, angles to 1 rad.
static const double SOLVED = 8 * DBL_EPSILON;  // no better can be asked for
static const double STALLED = 1e-13;           // good enough where round-off ends the progress
static const double SLOW = 0.05;               // worst contraction for which the matrix of q_k is kept

// ---- memory --------------------------------------------------------------------------------------------------------

static void clear_forces(carom_constrained *c, const carom_model *model) {
  for (int j = 0; j < model->joint_count; j++) c->force[j] = c->torque[j] = cm_zero3();
}

void carom_constrained_push(carom_constrained *c, carom_arena *arena, const carom_model *model) {
  int n = model->body_count, rows = model->joint_count * ROWS;
  c->x = CAROM_PUSH(arena, carom_vec3, n);
  c->p = CAROM_PUSH(arena, carom_vec3, n);
  c->l = CAROM_PUSH(arena, carom_vec3, n);
  c->q = CAROM_PUSH(arena, carom_quat, n);
  c->lambda = CAROM_PUSH(arena, double, rows);
  c->mu = CAROM_PUSH(arena, double, rows);
  c->g = CAROM_PUSH(arena, double, rows);
  c->rates = CAROM_PUSH(arena, double, rows);
  c->force = CAROM_PUSH(arena, carom_vec3, model->joint_count);
  c->torque = CAROM_PUSH(arena, carom_vec3, model->joint_count);
}

// ---- Newton's method for lambda ------------------------------------------------------------------------------------

static void keep_start(carom_constrained *c, const carom_state *state) {
  size_t n = (size_t)state->body_count;
  memcpy(c->x, state->x, n * sizeof *c->x);
  memcpy(c->q, state->q, n * sizeof *c->q);
  memcpy(c->p, state->p, n * sizeof *c->p);
  memcpy(c->l, state->l, n * sizeof *c->l);
}

static carom_status drift_with(carom_constrained *c, const carom_leg *leg, carom_drift drift, carom_state *state,
                               carom_error *error) {
  size_t n = (size_t)state->body_count;
  memcpy(state->x, c->x, n * sizeof *c->x);
  memcpy(state->q, c->q, n * sizeof *c->q);
  memcpy(state->p, c->p, n * sizeof *c->p);
  memcpy(state->l, c->l, n * sizeof *c->l);
  carom_joint_system_push(c->system, c->lambda, state->p, state->l);
  return drift(leg, state, error);
}

// The lengths that a joint's residuals are differences of: places, arms, and the way that the body would go without it.
// A body that is held at its centre in the origin has only the last.
static double length_scale(const carom_constrained *c, const carom_model *model, const carom_state *state, int j,
                           double h) {
  const carom_joint *joint = &model->joints[j];
  double scale = joint->length;
  for (int end = 0; end < 2; end++) {
    int b = joint->body[end];
    scale += cm_norm(state->joints[j].frame[end].p);
    if (b != CAROM_WORLD) scale += cm_norm(state->x[b]) + fabs(h) * model->bodies[b].inverse_mass * cm_norm(c->p[b]);
  }
  return scale > 0 ? scale : 1;
}

// Residuals at the end of the drift; returns the largest, relative, and whose it is.
static double residual(carom_constrained *c, const carom_leg *leg, const carom_state *state, int *worst_joint) {
  const carom_model *model = leg->stepper->model;
  double worst = 0;
  for (int j = 0; j < model->joint_count; j++) {
    if (!carom_joint_acts(model, state, j)) continue;
    const carom_joint *joint = &model->joints[j];
    double *g = c->g + j * ROWS, length = length_scale(c, model, state, j, leg->h);
    carom_joint_equations(model, state, j, leg->end, g, NULL);
    for (int i = 0; i < carom_joint_row_count(joint); i++) {
      double turn = joint->kind == CAROM_JOINT_SCREW ? 1 : fmax(1, fabs(state->joints[j].turn));
      double relative = fabs(g[i]) / (carom_joint_row_is_angle(joint, i) ? turn : length);
      if (!(relative <= worst)) worst = relative, *worst_joint = j;
    }
  }
  return worst;
}

// The inverse of what the drift makes of a change of l: turn = h D dl. With the Cayley vector y of the turn in body
// axes and the equation J y + y x J y = (1 + y.y) g of dmv.h, g = h Pi/2,
//     D^-1 = R_k K (I + hat y)^-1 R_k',   K = J + hat(y) J - hat(J y) - 2 g y'.
static carom_mat3 turning_mass(const carom_body *body, carom_quat q, carom_quat q_end, carom_vec3 l, double h) {
  carom_quat turn = cm_qmul(cm_qconj(q), q_end);
  carom_vec3 y = cm_scale(1 / turn.w, cm_vec3(turn.x, turn.y, turn.z)), Pi = cm_unrotate(q, l);
  carom_mat3 R = cm_rotation(q), J = cm_diag3(body->inertia.x, body->inertia.y, body->inertia.z);
  carom_mat3 K = cm_msub(cm_madd(J, cm_mmul(cm_hat(y), J)), cm_hat(cm_mul_diag(body->inertia, y)));
  K = cm_msub(K, cm_outer(cm_scale(h, Pi), y));
  carom_mat3 inverse = cm_madd(cm_msub(cm_identity3(), cm_hat(y)), cm_outer(y, y));
  inverse = cm_mscale(1 / (1 + cm_norm2(y)), inverse);
  return cm_mmul(R, cm_mmul(cm_mmul(K, inverse), cm_transpose(R)));
}

// Rows at q_k+1 against rows at q_k: the exact derivative of the residual by lambda, over h.
static carom_status factor_exactly(carom_constrained *c, const carom_model *model, const carom_state *state, double h,
                                   double end) {
  carom_joint_vectors *v = carom_joint_system_vectors(c->system);
  int count;
  const carom_joint_node *nodes = carom_joint_system_nodes(c->system, &count);
  carom_joint_system_forget(c->system);
  for (int i = 0; i < count; i++) {
    int body = nodes[i].body;
    if (model->bodies[body].inverse_inertia.x > 0)
      v->mass[body].rotation = turning_mass(&model->bodies[body], c->q[body], state->q[body], state->l[body], h);
  }
  for (int j = 0; j < model->joint_count; j++)
    if (carom_joint_acts(model, state, j)) carom_joint_equations(model, state, j, end, NULL, v->left + j * ROWS);
  return carom_joint_system_factor(c->system);
}

static void correct(carom_constrained *c, const carom_model *model, const carom_state *state, double h) {
  carom_joint_vectors *v = carom_joint_system_vectors(c->system);
  int count;
  const carom_joint_node *nodes = carom_joint_system_nodes(c->system, &count);
  for (int i = 0; i < count; i++) memset(v->b + 6 * nodes[i].body, 0, 6 * sizeof *v->b);
  for (int i = 0; i < model->joint_count * ROWS; i++) v->c[i] = -c->g[i] / h;
  carom_joint_system_solve(c->system);
  for (int j = 0; j < model->joint_count; j++) {
    if (!carom_joint_acts(model, state, j)) continue;
    for (int i = j * ROWS; i < j * ROWS + carom_joint_row_count(&model->joints[j]); i++) c->lambda[i] += v->lambda[i];
  }
}

static carom_status not_converged(const carom_leg *leg, int joint, double worst, carom_error *error) {
  return carom_fail(error, CAROM_NOT_CONVERGED,
                    "joint '%s' could not be held at t = %.9g s (relative residual %.2g, h = %.3g s): use a smaller "
                    "step, or check that the loop it closes can move",
                    leg->stepper->model->joints[joint].name, leg->start, worst, leg->h);
}

// Redundant loops have no exact derivative of full rank away from the constraints: there the matrix of q_k must do.
static bool may_refactor(const carom_constrained *c) {
  return carom_joint_system_loop_rank(c->system) == carom_joint_system_loop_rows(c->system);
}

carom_status carom_constrained_drift(carom_constrained *c, const carom_leg *leg, carom_drift drift, carom_state *state,
                                     carom_error *error) {
  const carom_model *model = leg->stepper->model;
  carom_status status = carom_joint_system_prepare(c->system, state, error);
  if (status != CAROM_OK) return status;
  bool exact = false, allowed = may_refactor(c);
  int joint = 0;
  double worst = INFINITY;
  keep_start(c, state);
  memset(c->lambda, 0, (size_t)model->joint_count * ROWS * sizeof *c->lambda);
  for (int iteration = 1; iteration <= MOST_ITERATIONS; iteration++) {
    status = drift_with(c, leg, drift, state, error);
    if (status != CAROM_OK) return iteration > 1 ? not_converged(leg, joint, worst, error) : status;
    double previous = worst;
    worst = residual(c, leg, state, &joint);
    if (!isfinite(worst) || worst > 1e3 * previous) break;
    if (worst <= SOLVED || leg->h == 0 || (worst <= STALLED && worst >= 0.5 * previous)) {
      carom_ledger_note_solve(leg->ledger, iteration, worst);
      carom_joints_note_turns(model, state);
      return CAROM_OK;
    }
    exact = exact || (allowed && worst > SLOW * previous);
    if (exact && factor_exactly(c, model, state, leg->h, leg->end) != CAROM_OK) break;
    correct(c, model, state, leg->h);
  }
  carom_joint_system_forget(c->system);
  return not_converged(leg, joint, worst, error);
}

// ---- the end of the step -------------------------------------------------------------------------------------------

carom_status carom_constrained_settle(carom_constrained *c, const carom_leg *leg, carom_state *state,
                                      carom_error *error) {
  const carom_model *model = leg->stepper->model;
  carom_status status = carom_joint_system_prepare(c->system, state, error);
  if (status != CAROM_OK) return status;
  for (int j = 0; j < model->joint_count; j++)
    carom_joint_rates(model, &model->joints[j], leg->end, c->rates + j * ROWS);
  carom_joint_system_project(c->system, state, c->rates, state->p, state->l, c->mu);
  return CAROM_OK;
}

// Impulses of the joints, and where the bodies were when they acted. Motors do work at the mean of the rates at two
// times.
typedef struct push {
  const double *impulses;
  const carom_vec3 *x;
  const carom_quat *q;
  double time[2];
} push;

// Adds a joint's impulses over h to its mean force and torque.
static void add_force(carom_constrained *c, const carom_leg *leg, const carom_state *state, int j, const push *by) {
  const carom_joint *joint = &leg->stepper->model->joints[j];
  const carom_row *rows = carom_joint_system_vectors(c->system)->right + j * ROWS;
  carom_vec3 linear = cm_zero3(), angular = cm_zero3();
  for (int i = 0; i < carom_joint_row_count(joint); i++) {
    linear = cm_axpy(linear, by->impulses[j * ROWS + i], rows[i].linear[1]);
    angular = cm_axpy(angular, by->impulses[j * ROWS + i], rows[i].angular[1]);
  }
  carom_vec3 arm = cm_rotate(by->q[joint->body[1]], state->joints[j].frame[1].p);
  c->force[j] = cm_axpy(c->force[j], 1 / leg->h, linear);
  c->torque[j] = cm_axpy(c->torque[j], 1 / leg->h, cm_sub(angular, cm_cross(arm, linear)));
}

static void book(carom_constrained *c, const carom_leg *leg, const carom_state *state, const push *by) {
  const carom_model *model = leg->stepper->model;
  const carom_row *rows = carom_joint_system_vectors(c->system)->right;
  double rates[2][ROWS];
  for (int k = 0; k < carom_joint_system_acting_count(c->system); k++) {
    int j = carom_joint_system_acting(c->system)[k];
    for (int i = 0; i < 2; i++) carom_joint_rates(model, &model->joints[j], by->time[i], rates[i]);
    for (int i = 0; i < carom_joint_row_count(&model->joints[j]); i++) {
      carom_ledger_row(leg->ledger, &rows[j * ROWS + i], by->impulses[j * ROWS + i], by->x);
      carom_ledger_work(leg->ledger, 0.5 * (rates[0][i] + rates[1][i]) * by->impulses[j * ROWS + i]);
    }
    if (leg->h != 0) add_force(c, leg, state, j, by);
  }
}

// The impulses of each end stand for half the leg; their rates are those in the middle of that half, between kinks.
void carom_constrained_book_drift(carom_constrained *c, const carom_leg *leg, const carom_state *state) {
  double time = leg->start + 0.25 * leg->h;
  clear_forces(c, leg->stepper->model);
  book(c, leg, state, &(push){c->lambda, c->x, c->q, {time, time}});
}

void carom_constrained_book_settling(carom_constrained *c, const carom_leg *leg, const carom_state *state) {
  double time = leg->end - 0.25 * leg->h;
  book(c, leg, state, &(push){c->mu, state->x, state->q, {time, time}});
  carom_ledger_note_constraint(leg->ledger, carom_joints_drift_at(leg->stepper->model, state, leg->end));
}

// ---- kinks of schedules --------------------------------------------------------------------------------------------

carom_status carom_constrained_pass_kink(carom_constrained *c, const carom_leg *leg, carom_state *state,
                                         carom_error *error) {
  const carom_model *model = leg->stepper->model;
  double soon = leg->start + 0.25 * leg->h, before[ROWS];
  bool kink = false;
  for (int j = 0; j < model->joint_count; j++) {
    carom_joint_rates(model, &model->joints[j], leg->start, before);
    carom_joint_rates(model, &model->joints[j], soon, c->rates + j * ROWS);
    if (model->joints[j].slide.motor != CAROM_MOTOR_POSITION && model->joints[j].turn.motor != CAROM_MOTOR_POSITION)
      continue;
    kink = kink ||
           memcmp(before, c->rates + j * ROWS, (size_t)carom_joint_row_count(&model->joints[j]) * sizeof *before) != 0;
  }
  if (!kink) return CAROM_OK;
  carom_status status = carom_joint_system_prepare(c->system, state, error);
  if (status != CAROM_OK) return status;
  carom_joint_system_project(c->system, state, c->rates, state->p, state->l, c->mu);
  carom_leg moment = {leg->stepper, leg->ledger, 0, leg->start, leg->start};
  book(c, &moment, state, &(push){c->mu, state->x, state->q, {leg->start, soon}});
  return CAROM_OK;
}

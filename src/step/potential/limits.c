#include "step/potential/limits.h"

#include <math.h>
#include <string.h>

#include "base/tape.h"
#include "contact/potential.h"

static bool moves(const carom_model *model, int body) { return body != CAROM_WORLD && !model->bodies[body].fixed; }

// ---- memory ------------------------------------------------------------------------------------------------------

static int numbers(const carom_model *model) {
  return carom_joints_limit_capacity(model) > 0 ? 4 * model->joint_count : 0;
}

void carom_soft_limits_push(carom_soft_limits *s, const carom_model *model, carom_arena *arena) {
  s->model = model;
  s->capacity = carom_joints_limit_capacity(model);
  s->limits = CAROM_PUSH(arena, carom_joint_limit, s->capacity);
  s->mass = CAROM_PUSH(arena, double, s->capacity);
  s->stiffness = CAROM_PUSH(arena, double, numbers(model));
  s->beyond = CAROM_PUSH(arena, bool, numbers(model));
  s->dp = CAROM_PUSH(arena, carom_vec3, model->body_count);
  s->dl = CAROM_PUSH(arena, carom_vec3, model->body_count);
}

bool carom_soft_limits_remember(carom_soft_limits *s, carom_tape *tape) {
  int count = numbers(s->model);
  for (int i = 0; i < count; i++) {
    unsigned char beyond = s->beyond[i];
    if (!carom_tape_pass(tape, &s->stiffness[i], sizeof s->stiffness[i]) || !carom_tape_pass(tape, &beyond, 1))
      return false;
    s->beyond[i] = beyond != 0;
    if (!(s->stiffness[i] >= 0)) return false;
  }
  return true;
}

// ---- rows --------------------------------------------------------------------------------------------------------

static double rate_of(const carom_model *model, const carom_state *state, const carom_row *row) {
  double rate = 0;
  for (int end = 0; end < 2; end++) {
    if (!moves(model, row->body[end])) continue;
    rate += cm_dot(row->linear[end], carom_state_velocity(model, state, row->body[end]));
    rate += cm_dot(row->angular[end], carom_state_angular_velocity(model, state, row->body[end]));
  }
  return rate;
}

// What an impulse along the row feels when the joints have answered: 1 / (J M^-1 Q J').
static carom_status felt_mass(carom_soft_limits *s, const carom_state *state, const carom_row *row, double *mass,
                              carom_error *error) {
  const carom_model *model = s->model;
  double response = 0;
  for (int i = 0; i < model->body_count; i++) s->dp[i] = s->dl[i] = cm_zero3();
  for (int end = 0; end < 2; end++)
    if (moves(model, row->body[end]))
      s->dp[row->body[end]] = row->linear[end], s->dl[row->body[end]] = row->angular[end];
  carom_status status = carom_joints_project(s->joints, state, s->dp, s->dl, NULL, error);
  for (int end = 0; end < 2 && status == CAROM_OK; end++) {
    int body = row->body[end];
    if (!moves(model, body)) continue;
    carom_vec3 arm = cm_unrotate(state->q[body], row->angular[end]), l = cm_unrotate(state->q[body], s->dl[body]);
    response += model->bodies[body].inverse_mass * cm_dot(row->linear[end], s->dp[body]) +
                cm_dot(arm, cm_mul_diag(model->bodies[body].inverse_inertia, l));
  }
  *mass = response > 0 ? 1 / response : INFINITY;  // one that cannot move feels no stop
  return status;
}

// ---- stiffness ---------------------------------------------------------------------------------------------------

static double heaviest(const carom_model *model) {
  double mass = 0;
  for (int i = 0; i < model->body_count; i++)
    if (!model->bodies[i].fixed) mass = fmax(mass, model->bodies[i].mass);
  return mass;
}

// Slides have that of contacts; turns one that gives them the frequency of the heaviest body on a contact. It stays
// what it was at the start, so that the energy k/2 gap^2 is a potential.
carom_status carom_soft_limits_tune(carom_soft_limits *s, const carom_state *state, double C, double h,
                                    carom_error *error) {
  if (s->capacity == 0) return CAROM_OK;
  int count = carom_joints_limits(s->model, state, INFINITY, s->limits);
  for (int i = 0; i < count; i++) {
    double *k = &s->stiffness[carom_limit_number(&s->limits[i])], mass;
    if (*k > 0) continue;
    carom_status status = felt_mass(s, state, &s->limits[i].row, &mass, error);
    if (status != CAROM_OK) return status;
    *k = s->limits[i].turn && isfinite(mass) ? C * mass / heaviest(s->model) : C;
    if (*k * h * h <= mass) continue;
    double longest = sqrt(mass / *k);
    *k = 0;
    return carom_fail(error, CAROM_ERR_ARGUMENT,
                      "the limit of joint '%s' is too stiff for a step of %.3g s: use a step below %.2g s, or set "
                      "`stiffness` below %.2g N/m",
                      s->model->joints[s->limits[i].joint].name, h, longest, C * longest * longest / (h * h));
  }
  return CAROM_OK;
}

// ---- forces ------------------------------------------------------------------------------------------------------

carom_status carom_soft_limits_evaluate(carom_soft_limits *s, const carom_state *state, double *energy, double *depth,
                                        carom_error *error) {
  s->count = s->capacity > 0 ? carom_joints_limits(s->model, state, 0, s->limits) : 0;
  for (int i = 0; i < s->count; i++) {
    const carom_joint_limit *limit = &s->limits[i];
    carom_status status = felt_mass(s, state, &limit->row, &s->mass[i], error);
    if (status != CAROM_OK) return status;
    *energy += 0.5 * s->stiffness[carom_limit_number(limit)] * limit->gap * limit->gap;
    *depth = fmax(*depth, -limit->gap);
  }
  return CAROM_OK;
}

static void act(const carom_soft_limits *s, carom_state *state, const carom_row *row, double impulse,
                carom_step_report *report) {
  for (int end = 0; end < 2; end++) {
    int body = row->body[end];
    if (!moves(s->model, body)) continue;
    carom_vec3 p = cm_scale(impulse, row->linear[end]), l = cm_scale(impulse, row->angular[end]);
    state->p[body] = cm_add(state->p[body], p);
    state->l[body] = cm_add(state->l[body], l);
    if (moves(s->model, row->body[1 - end])) continue;
    report->impulse = cm_add(report->impulse, p);
    report->angular_impulse = cm_add(report->angular_impulse, cm_add(cm_cross(state->x[body], p), l));
  }
}

// Losses are drag times the mean of the rates before and after, the joints having answered.
void carom_soft_limits_kick(carom_soft_limits *s, carom_state *state, double dt, carom_step_report *report) {
  for (int i = 0; i < s->count; i++) {
    const carom_joint_limit *limit = &s->limits[i];
    double k = s->stiffness[carom_limit_number(limit)], rate = rate_of(s->model, state, &limit->row);
    double elastic = -k * limit->gap * dt, resistance = 0;
    if (isfinite(s->mass[i])) resistance = 2 * carom_drag_ratio(limit->restitution) * sqrt(k * s->mass[i]);
    double drag = -fmin(elastic, resistance * fmax(0, rate) * dt), impulse = elastic + drag;
    report->restitution_loss -= drag * (rate + 0.5 * impulse / s->mass[i]);
    act(s, state, &limit->row, impulse, report);
  }
}

void carom_soft_limits_note(carom_soft_limits *s, carom_step_report *report) {
  for (int k = 0; k < numbers(s->model); k++) {
    bool now = false;
    for (int i = 0; i < s->count; i++) now = now || carom_limit_number(&s->limits[i]) == k;
    if (now && !s->beyond[k]) report->collisions++;
    s->beyond[k] = now;
  }
}

#include <math.h>
#include <string.h>

#include "contact/potential.h"
#include "model/size.h"

static int numbers(const carom_model *model) { return CAROM_JOINT_LIMITS * model->joint_count; }

void carom_soft_limits_lay_out(carom_soft_limits *s, const carom_model *model, carom_arena *arena) {
  s->capacity = carom_joints_limit_capacity(model);
  s->limits = CAROM_PUSH(arena, carom_joint_limit, s->capacity);
  s->mass = CAROM_PUSH(arena, double, s->capacity);
  s->stiffness = CAROM_PUSH(arena, double, numbers(model));
  s->dp = CAROM_PUSH(arena, carom_vec3, model->body_count);
  s->dl = CAROM_PUSH(arena, carom_vec3, model->body_count);
}

// What an impulse along the row feels when the joints have answered: 1 / (J M^-1 Q J').
static carom_status felt_mass(carom_contact_potential *p, const carom_state *state, const carom_row *row, double *mass,
                              carom_error *error) {
  carom_state after = *state;
  after.p = p->limits.dp, after.l = p->limits.dl;
  for (int i = 0; i < state->body_count; i++) after.p[i] = after.l[i] = cm_zero3();
  carom_row_push(p->model, row, 1, after.p, after.l);
  carom_status status = carom_joints_project(p->joints, state, after.p, after.l, NULL, error);
  double response = carom_row_state_rate(p->model, row, &after);
  *mass = response > 0 ? 1 / response : INFINITY;  // one that cannot move feels no stop
  return status;
}

// Slides have that of contacts; turns one that gives them the frequency of the heaviest body on a contact. It stays
// what it was at the start, so that the energy k/2 gap^2 is a potential.
carom_status carom_soft_limits_tune(carom_contact_potential *p, const carom_state *state, double h,
                                    carom_error *error) {
  carom_soft_limits *s = &p->limits;
  int count = s->capacity > 0 ? carom_joints_limits(p->model, state, INFINITY, s->limits) : 0;
  for (int i = 0; i < count; i++) {
    double *k = &s->stiffness[carom_limit_number(&s->limits[i])], C = p->stiffness, mass;
    if (*k > 0) continue;
    carom_status status = felt_mass(p, state, &s->limits[i].row, &mass, error);
    if (status != CAROM_OK) return status;
    *k = s->limits[i].turn && isfinite(mass) ? C * mass / carom_model_heaviest(p->model) : C;
    if (*k * h * h <= mass) continue;
    double longest = sqrt(mass / *k);
    *k = 0;
    return carom_fail(error, CAROM_ERR_ARGUMENT,
                      "the limit of joint '%s' is too stiff for a step of %.3g s: use a step below %.2g s, or set "
                      "`stiffness` below %.2g N/m",
                      p->model->joints[s->limits[i].joint].name, h, longest, C * longest * longest / (h * h));
  }
  return CAROM_OK;
}

carom_status carom_soft_limits_find(carom_contact_potential *p, const carom_state *state, double *depth,
                                    carom_error *error) {
  carom_soft_limits *s = &p->limits;
  s->count = s->capacity > 0 ? carom_joints_limits(p->model, state, 0, s->limits) : 0;
  for (int i = 0; i < s->count; i++) {
    const carom_joint_limit *limit = &s->limits[i];
    carom_status status = felt_mass(p, state, &limit->row, &s->mass[i], error);
    if (status != CAROM_OK) return status;
    p->energy += 0.5 * s->stiffness[carom_limit_number(limit)] * limit->gap * limit->gap;
    *depth = fmax(*depth, -limit->gap);
  }
  return CAROM_OK;
}

// Losses are drag times the mean of the rates before and after, the joints having answered.
void carom_soft_limits_kick(const carom_contact_potential *p, carom_state *state, double dt, carom_ledger *ledger) {
  const carom_soft_limits *s = &p->limits;
  for (int i = 0; i < s->count; i++) {
    const carom_joint_limit *l = &s->limits[i];
    double k = s->stiffness[carom_limit_number(l)], rate = carom_row_state_rate(p->model, &l->row, state);
    carom_spring_impulse spring = carom_soft_spring(k, s->mass[i], l->restitution, l->gap, rate, dt);
    carom_ledger_loss(ledger, -spring.drag * (rate + 0.5 * spring.whole / s->mass[i]), 0);
    carom_ledger_row(ledger, &l->row, spring.whole, state->x);
    carom_row_push(p->model, &l->row, spring.whole, state->p, state->l);
  }
}

// A stop that carries nothing was not reached; the spring's force is remembered, without the drag.
void carom_soft_limits_note(carom_contact_potential *p, carom_ledger *ledger) {
  const carom_soft_limits *s = &p->limits;
  for (int i = 0; i < s->count; i++) {
    const carom_joint_limit *l = &s->limits[i];
    if (*carom_memory_stop(p->memory, l->joint, l->turn, l->upper) == 0) carom_ledger_collision(ledger);
  }
  memset(p->memory->joints, 0, (size_t)p->model->joint_count * CAROM_MEMORY_JOINT * sizeof *p->memory->joints);
  for (int i = 0; i < s->count; i++) {
    const carom_joint_limit *l = &s->limits[i];
    *carom_memory_stop(p->memory, l->joint, l->turn, l->upper) = -s->stiffness[carom_limit_number(l)] * l->gap;
  }
}

bool carom_soft_limits_remember(carom_contact_potential *p, carom_tape *tape) {
  double *stiffness = p->limits.stiffness;
  if (!carom_tape_pass(tape, stiffness, (size_t)numbers(p->model) * sizeof *stiffness)) return false;
  for (int i = 0; i < numbers(p->model); i++)
    if (!(stiffness[i] >= 0)) return false;
  return true;
}

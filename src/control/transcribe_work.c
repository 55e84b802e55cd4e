// Costs of work. Absolute values have kinks where torques or joints change their direction; slack variables
// w >= +-(work in the interval) have none, and at the optimum they are it (no smoothing, no bias).
#include "control/kinds.h"
#include "control/plan.h"

// ---- how far joints turn -------------------------------------------------------------------------------------------

static void add_swing(carom_plan *plan, const carom_plan_actuator *u, int k, int swing) {
  carom_program *P = &plan->program;
  const carom_plan_joint *j = &plan->joints[u->def.joint];
  const carom_range *of = CAROM_OF(
      {swing, u->components}, {carom_variable_q(plan, k, j->body[0]), 4}, {carom_variable_q(plan, k, j->body[1]), 4},
      {carom_variable_q(plan, k + 1, j->body[0]), 4}, {carom_variable_q(plan, k + 1, j->body[1]), 4});
  int row = carom_program_rows(P, u->components, 0, 0, 0.1, (carom_row_label){CAROM_ROW_WORK, k, u->def.joint, -1});
  if (j->kind == CAROM_PLAN_REVOLUTE)
    carom_program_add(P, &carom_kind_swing, of, CAROM_INTO({row, 1}), CAROM_WITH(CAROM_XYZ(j->axis)));
  else
    carom_program_add(P, &carom_kind_swing3, of, CAROM_INTO({row, 3}), CAROM_PLAIN);
}

// Whether an actuator can do work in interval k.
static bool works(const carom_plan *plan, const carom_plan_actuator *u, int k) {
  return u->def.kind == CAROM_ACTUATOR_JOINT && carom_joint_holds(plan, &plan->joints[u->def.joint], k);
}

static carom_vec3 turn_between(const carom_plan *plan, int k, int body) {
  size_t n = (size_t)plan->model->body_count, at = (size_t)k * n + (size_t)body;
  carom_quat turn = cm_qmul(plan->path.q[at + n], cm_qconj(plan->path.q[at]));
  if (turn.w < 0) turn = cm_quat(-turn.w, -turn.x, -turn.y, -turn.z);
  return cm_log(turn);
}

// How far the joint of an actuator turns in interval k of the path: 1 or 3 numbers.
static void swing_of(const carom_plan *plan, const carom_plan_actuator *u, int k, double swing[3]) {
  const carom_plan_joint *j = &plan->joints[u->def.joint];
  carom_vec3 turn = cm_sub(turn_between(plan, k, j->body[1]), turn_between(plan, k, j->body[0]));
  swing[0] = turn.x, swing[1] = turn.y, swing[2] = turn.z;
  if (j->kind != CAROM_PLAN_REVOLUTE) return;
  size_t n = (size_t)plan->model->body_count, a = (size_t)j->body[0], b = (size_t)j->body[1], at = (size_t)k * n;
  const carom_quat *q = plan->path.q + at;
  carom_quat r0 = cm_qmul(cm_qconj(q[a]), q[b]), r1 = cm_qmul(cm_qconj(q[n + a]), q[n + b]);
  carom_quat d = cm_qmul(r1, cm_qconj(r0));
  double s = cm_dot(cm_vec3(d.x, d.y, d.z), j->axis);
  swing[0] = 2 * atan2(d.w < 0 ? -s : s, fabs(d.w));
}

static void add_swings(carom_plan *plan) {
  carom_program *P = &plan->program;
  if (plan->layout.swing[0] >= 0) return;
  for (int k = 0; k < plan->path.K; k++) {
    plan->layout.swing[k] = carom_program_variables(P, plan->layout.component_count, -INFINITY, INFINITY, 0.1);
    for (int i = 0; i < plan->actuator_count && !P->out_of_memory; i++) {
      const carom_plan_actuator *u = &plan->actuators[i];
      double swing[3];
      if (!works(plan, u, k)) continue;
      add_swing(plan, u, k, plan->layout.swing[k] + u->offset);
      swing_of(plan, u, k, swing);
      for (int c = 0; c < u->components && !P->out_of_memory; c++)
        P->x[plan->layout.swing[k] + u->offset + c] = swing[c];
    }
  }
}

// ---- slacks --------------------------------------------------------------------------------------------------------

typedef struct ledger {
  carom_plan *plan;
  carom_program *P;
  carom_power power;
  double weight;
  bool per_shift;  // divided by the length of the periodic shift
} ledger;

// J: a torque of the weight over a typical angle.
static double typical_work(const carom_plan *plan) { return 0.1 * plan->force_scale * plan->length_scale; }

static void charge(const ledger *l, int w) {
  if (l->per_shift)
    carom_program_add(l->P, &carom_kind_per_shift, CAROM_OF({w, 1}, {l->plan->periodic.shift, 3}),
                      CAROM_INTO({CAROM_ROW_COST, 1}), CAROM_WITH(l->weight));
  else
    carom_program_add(l->P, &carom_kind_linear, CAROM_OF({w, 1}), CAROM_INTO({CAROM_ROW_COST, 1}),
                      CAROM_WITH(l->weight));
}

// w, with rows w - work >= 0 and, if braking costs too, w + work >= 0. The first of the rows.
static int add_slack(const ledger *l, int k, int *w) {
  double scale = typical_work(l->plan);
  int row = carom_program_rows(l->P, l->power == CAROM_POWER_POSITIVE ? 1 : 2, 0, INFINITY, scale,
                               (carom_row_label){CAROM_ROW_WORK, k, -1, -1});
  *w = carom_program_variables(l->P, 1, 0, INFINITY, scale);
  for (int i = 0; i < (l->power == CAROM_POWER_POSITIVE ? 1 : 2); i++)
    carom_program_add(l->P, &carom_kind_linear, CAROM_OF({*w, 1}), CAROM_INTO({row + i, 1}), CAROM_WITH(1));
  charge(l, *w);
  return row;
}

// Adds the work of an actuator in interval k to the rows of a slack; what it is at the guess.
static double enter(const ledger *l, const carom_plan_actuator *u, int k, int row) {
  double sum = 0;
  for (int c = 0; c < u->components; c++) {
    int tau = l->plan->layout.tau[k] + u->offset + c, swing = l->plan->layout.swing[k] + u->offset + c;
    carom_program_add(l->P, &carom_kind_work_rows, CAROM_OF({tau, 1}, {swing, 1}),
                      CAROM_INTO({row, 1}, {l->power == CAROM_POWER_POSITIVE ? CAROM_ROW_NONE : row + 1, 1}),
                      CAROM_PLAIN);
    if (!l->P->out_of_memory) sum += l->P->x[tau] * l->P->x[swing];
  }
  return sum;
}

static void guess_slack(const ledger *l, int w, double work) {
  double size = l->power == CAROM_POWER_POSITIVE ? fmax(work, 0) : fabs(work);
  if (!l->P->out_of_memory) l->P->x[w] = size + 1e-3 * typical_work(l->plan);
}

static void add_total(const ledger *l, int k) {
  int w, row = add_slack(l, k, &w);
  double sum = 0;
  for (int i = 0; i < l->plan->actuator_count; i++)
    if (works(l->plan, &l->plan->actuators[i], k)) sum += enter(l, &l->plan->actuators[i], k, row);
  guess_slack(l, w, sum);
}

static void add_each(const ledger *l, int k) {
  for (int i = 0; i < l->plan->actuator_count; i++) {
    int w;
    if (!works(l->plan, &l->plan->actuators[i], k)) continue;
    int row = add_slack(l, k, &w);
    guess_slack(l, w, enter(l, &l->plan->actuators[i], k, row));
  }
}

static void add_net(const ledger *l, int k) {
  for (int i = 0; i < l->plan->actuator_count; i++) {
    const carom_plan_actuator *u = &l->plan->actuators[i];
    for (int c = 0; works(l->plan, u, k) && c < u->components; c++) {
      carom_range tau = {l->plan->layout.tau[k] + u->offset + c, 1};
      carom_range swing = {l->plan->layout.swing[k] + u->offset + c, 1};
      if (l->per_shift)
        carom_program_add(l->P, &carom_kind_work_per_shift, CAROM_OF(tau, swing, {l->plan->periodic.shift, 3}),
                          CAROM_INTO({CAROM_ROW_COST, 1}), CAROM_WITH(l->weight));
      else
        carom_program_add(l->P, &carom_kind_work, CAROM_OF(tau, swing), CAROM_INTO({CAROM_ROW_COST, 1}),
                          CAROM_WITH(l->weight));
    }
  }
}

static double weight_of(const carom_plan *plan) {
  double mass = 0;
  for (int i = 0; i < plan->model->body_count; i++)
    if (!plan->model->bodies[i].fixed) mass += plan->model->bodies[i].mass;
  return mass * cm_norm(plan->model->gravity);
}

void carom_transcribe_work(carom_plan *plan, const carom_cost_def *cost) {
  ledger l = {plan, &plan->program, cost->power, cost->weight, false};
  if (cost->kind == CAROM_COST_TRANSPORT) l.per_shift = true, l.weight /= weight_of(plan);
  add_swings(plan);
  for (int k = 0; k < plan->path.K && !plan->program.out_of_memory; k++) {
    if (l.power == CAROM_POWER_TOTAL) add_total(&l, k);
    if (l.power == CAROM_POWER_JOINTS || l.power == CAROM_POWER_POSITIVE) add_each(&l, k);
    if (l.power == CAROM_POWER_NET) add_net(&l, k);
  }
}

// ---- the largest torque --------------------------------------------------------------------------------------------

void carom_transcribe_peak(carom_plan *plan, const carom_cost_def *cost) {
  carom_program *P = &plan->program;
  double scale = plan->force_scale * plan->length_scale, most = 0;
  int peak = carom_program_variables(P, 1, 0, INFINITY, scale);
  carom_program_add(P, &carom_kind_linear, CAROM_OF({peak, 1}), CAROM_INTO({CAROM_ROW_COST, 1}),
                    CAROM_WITH(cost->weight));
  for (int k = 0; k < plan->path.K && !P->out_of_memory; k++)
    for (int i = 0; i < plan->actuator_count; i++) {
      const carom_plan_actuator *u = &plan->actuators[i];
      for (int c = 0; works(plan, u, k) && c < 2 * u->components; c++) {
        int tau = plan->layout.tau[k] + u->offset + c / 2;
        int row = carom_program_rows(P, 1, 0, INFINITY, scale, (carom_row_label){CAROM_ROW_WORK, k, -1, -1});
        carom_program_add(P, &carom_kind_linear, CAROM_OF({peak, 1}), CAROM_INTO({row, 1}), CAROM_WITH(1));
        carom_program_add(P, &carom_kind_linear, CAROM_OF({tau, 1}), CAROM_INTO({row, 1}), CAROM_WITH(c % 2 ? 1 : -1));
        if (!P->out_of_memory) most = fmax(most, fabs(P->x[tau]));
      }
    }
  if (!P->out_of_memory) P->x[peak] = 1.01 * most;
}

// ---- of a path -----------------------------------------------------------------------------------------------------

// The work of each actuator on a joint in interval k, added to all four kinds.
static void add_interval(const carom_plan *plan, int k, carom_plan_work *out) {
  double sum = 0;
  for (int i = 0; i < plan->actuator_count; i++) {
    const carom_plan_actuator *u = &plan->actuators[i];
    const double *tau = plan->path.tau + (size_t)k * (size_t)carom_plan_components(plan) + u->offset;
    double swing[3], work = 0;
    if (!works(plan, u, k)) continue;
    swing_of(plan, u, k, swing);
    for (int c = 0; c < u->components; c++) work += tau[c] * swing[c], out->peak = fmax(out->peak, fabs(tau[c]));
    out->kinds[CAROM_POWER_JOINTS] += fabs(work);
    out->kinds[CAROM_POWER_POSITIVE] += fmax(work, 0);
    sum += work;
  }
  out->kinds[CAROM_POWER_TOTAL] += fabs(sum);
  out->kinds[CAROM_POWER_NET] += sum;
}

carom_plan_work carom_plan_find_work(const carom_plan *plan) {
  carom_plan_work out = {0};
  for (int k = 0; k < plan->path.K; k++) add_interval(plan, k, &out);
  for (int i = 0; i < plan->event_count; i++) out.loss += carom_event_loss(plan, i);
  double length = cm_norm(carom_plan_shift(plan));
  double time = carom_plan_time(plan, plan->path.K) - carom_plan_time(plan, 0);
  out.transport = weight_of(plan) * length;
  out.speed = time > 0 ? length / time : 0;
  out.change = carom_energy_change(plan);
  for (int i = 0; i < plan->event_count; i++)
    if (!plan->events[i].last) out.change += carom_event_loss(plan, i);
  return out;
}

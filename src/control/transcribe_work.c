// Costs of work. In discrete mechanics half of the torque tau of an interval kicks at either end of it, and bodies
// drift in between. While a kick turns the rate of a joint from s_a into s_b it does the work of the mean rate, and no
// more than
//
//     |tau| sigma h/2 (|s_a| + |s_b|)/2
//
// in size, which is what it does unless the joint turns back. So interval k is charged
//
//     sigma h (|tau s_(k-1)|/4 + |tau s_k|/2 + |tau s_(k+1)|/4).
//
// (Three cheaper ways leave holes that optimisers find. |tau s_k| alone: a torque in an interval in which the joint
// rests is free, and kicks it into motion at the end. The mean rate, |tau (s_a + s_b)|/4: a joint that is turned back
// is free. Both intervals of a node together: torques that change their sign from interval to interval are.) At both
// ends of a stretch between events the rate beyond is that of the momenta there.
//
// What torques do is the change of energy only in the limit of short steps. The difference, second order in h, is no
// work of anybody, but an optimiser would live on it: it is charged like that of one more joint. Total work is the
// change of energy itself, which torques alone bring about. So no motion costs less than what its events take.
//
// Absolute values have kinks where torques or joints change their direction; slack variables w >= +-W have none, and at
// the optimum they are |W|: no smoothing, no bias.
#include "base/memory.h"
#include "control/kinds.h"
#include "control/plan.h"

// ---- where work is done --------------------------------------------------------------------------------------------

// A node, or one side of a node at which momenta change in an instant: the intervals before and after; -1: none.
typedef struct kick {
  int node, before, after;
} kick;

// Whether a stretch between events begins or ends at a node.
static bool begins_at(const carom_plan *plan, int node) {
  return node == 0 || node == plan->path.K || carom_plan_breaks_at(plan, node);
}

// Up to two kicks at a node.
static int kicks_at(const carom_plan *plan, int node, kick out[2]) {
  if (!begins_at(plan, node)) {
    out[0] = (kick){node, node - 1, node};
    return 1;
  }
  int count = 0;
  if (node > 0) out[count++] = (kick){node, node - 1, -1};
  if (node < plan->path.K) out[count++] = (kick){node, -1, node};
  return count;
}

static int some_interval(kick k) { return k.before >= 0 ? k.before : k.after; }

// Whether an actuator can do work in an interval.
static bool works(const carom_plan *plan, const carom_plan_actuator *u, int interval) {
  return u->def.kind == CAROM_ACTUATOR_JOINT && carom_joint_holds(plan, &plan->joints[u->def.joint], interval);
}

// ---- how fast joints turn ------------------------------------------------------------------------------------------

static carom_vec3 turn_between(const carom_plan *plan, int k, int body) {
  size_t n = (size_t)plan->model->body_count, at = (size_t)k * n + (size_t)body;
  carom_quat turn = cm_qmul(plan->path.q[at + n], cm_qconj(plan->path.q[at]));
  if (turn.w < 0) turn = cm_quat(-turn.w, -turn.x, -turn.y, -turn.z);
  return cm_log(turn);
}

// How fast the joint of an actuator turns in interval k of the path: 1 or 3 numbers.
static void rate_of(const carom_plan *plan, const carom_plan_actuator *u, int k, double rate[3]) {
  const carom_plan_joint *j = &plan->joints[u->def.joint];
  carom_vec3 turn = cm_sub(turn_between(plan, k, j->body[1]), turn_between(plan, k, j->body[0]));
  size_t n = (size_t)plan->model->body_count, a = (size_t)j->body[0], b = (size_t)j->body[1];
  const carom_quat *q = plan->path.q + (size_t)k * n;
  if (j->kind == CAROM_PLAN_REVOLUTE) {
    carom_quat r0 = cm_qmul(cm_qconj(q[a]), q[b]), r1 = cm_qmul(cm_qconj(q[n + a]), q[n + b]);
    carom_quat d = cm_qmul(r1, cm_qconj(r0));
    double s = cm_dot(cm_vec3(d.x, d.y, d.z), j->axis);
    turn.x = 2 * atan2(d.w < 0 ? -s : s, fabs(d.w));
  }
  carom_vec3 v = cm_scale(1 / carom_plan_step(plan, k), turn);
  rate[0] = v.x, rate[1] = v.y, rate[2] = v.z;
}

static void add_swing(carom_plan *plan, const carom_plan_actuator *u, int k, int rate) {
  carom_program *P = &plan->program;
  const carom_plan_joint *j = &plan->joints[u->def.joint];
  int sigma = plan->layout.sigma + carom_plan_segment(plan, k);
  const carom_range *of =
      CAROM_OF({rate, u->components}, {sigma, 1}, {carom_variable_q(plan, k, j->body[0]), 4},
               {carom_variable_q(plan, k, j->body[1]), 4}, {carom_variable_q(plan, k + 1, j->body[0]), 4},
               {carom_variable_q(plan, k + 1, j->body[1]), 4});
  int row = carom_program_rows(P, u->components, 0, 0, 0.1, (carom_row_label){CAROM_ROW_WORK, k, u->def.joint, -1});
  if (j->kind == CAROM_PLAN_REVOLUTE)
    carom_program_add(P, &carom_kind_swing, of, CAROM_INTO({row, 1}), CAROM_WITH(plan->path.h[k], CAROM_XYZ(j->axis)));
  else
    carom_program_add(P, &carom_kind_swing3, of, CAROM_INTO({row, 3}), CAROM_WITH(plan->path.h[k]));
}

// rate - (axis . (omega_b - omega_a)) = 0, by the momenta at one side of a node.
static void add_end_rate(carom_plan *plan, const carom_plan_actuator *u, int node, bool after, int rate) {
  carom_program *P = &plan->program;
  const carom_plan_joint *j = &plan->joints[u->def.joint];
  int row = carom_program_rows(P, u->components, 0, 0, 1 / plan->time_scale,
                               (carom_row_label){CAROM_ROW_WORK, node, u->def.joint, -1});
  for (int c = 0; c < u->components; c++)
    carom_program_add(P, &carom_kind_linear, CAROM_OF({rate + c, 1}), CAROM_INTO({row + c, 1}), CAROM_WITH(1));
  carom_range qa = {carom_variable_q(plan, node, j->body[0]), 4};
  for (int i = 0; i < 2; i++) {
    const carom_body *b = &plan->model->bodies[j->body[i]];
    if (b->fixed) continue;
    int sign = i == 0 ? 1 : -1;
    carom_range q = {carom_variable_q(plan, node, j->body[i]), 4};
    carom_range l = {carom_variable_P(plan, node, j->body[i], after) + 3, 3};
    if (j->kind == CAROM_PLAN_REVOLUTE && i == 0)  // the axis turns with this very body: R n . R J^-1 R' l
      carom_program_add(P, &carom_kind_own_rate, CAROM_OF(q, l), CAROM_INTO({row, 1}),
                        CAROM_WITH(sign, CAROM_XYZ(j->axis), CAROM_XYZ(b->inverse_inertia)));
    else if (j->kind == CAROM_PLAN_REVOLUTE)
      carom_program_add(P, &carom_kind_hinge_rate, CAROM_OF(qa, q, l), CAROM_INTO({row, 1}),
                        CAROM_WITH(sign, CAROM_XYZ(j->axis), CAROM_XYZ(b->inverse_inertia)));
    else
      carom_program_add(P, &carom_kind_turn_rate, CAROM_OF(q, l), CAROM_INTO({row, 3}),
                        CAROM_WITH(sign, CAROM_XYZ(b->inverse_inertia)));
  }
}

static int rate_variables(carom_plan *plan) {
  return carom_program_variables(&plan->program, plan->layout.component_count, -INFINITY, INFINITY,
                                 1 / plan->time_scale);
}

static void put_rate(carom_plan *plan, const carom_plan_actuator *u, int interval, int at) {
  double rate[3];
  rate_of(plan, u, interval, rate);
  for (int c = 0; c < u->components && !plan->program.out_of_memory; c++) plan->program.x[at + u->offset + c] = rate[c];
}

static void add_end_rates(carom_plan *plan, kick k) {
  int at = rate_variables(plan);
  *(k.before >= 0 ? &plan->layout.rate_before[k.node] : &plan->layout.rate_after[k.node]) = at;
  for (int i = 0; i < plan->actuator_count && !plan->program.out_of_memory; i++) {
    const carom_plan_actuator *u = &plan->actuators[i];
    if (!works(plan, u, some_interval(k))) continue;
    add_end_rate(plan, u, k.node, k.after >= 0, at + u->offset);
    put_rate(plan, u, some_interval(k), at);
  }
}

static void add_rates(carom_plan *plan) {
  if (plan->layout.rate[0] >= 0) return;
  for (int k = 0; k < plan->path.K; k++) {
    plan->layout.rate[k] = rate_variables(plan);
    for (int i = 0; i < plan->actuator_count && !plan->program.out_of_memory; i++) {
      const carom_plan_actuator *u = &plan->actuators[i];
      if (!works(plan, u, k)) continue;
      add_swing(plan, u, k, plan->layout.rate[k] + u->offset);
      put_rate(plan, u, k, plan->layout.rate[k]);
    }
  }
  for (int node = 0; node <= plan->path.K; node++) {
    kick kicks[2];
    int count = kicks_at(plan, node, kicks);
    for (int i = 0; i < count; i++)
      if (kicks[i].before < 0 || kicks[i].after < 0) add_end_rates(plan, kicks[i]);
  }
}

// ---- energy --------------------------------------------------------------------------------------------------------

static carom_vec3 gravity_of(const carom_plan *plan) { return plan->model->gravity; }

static int energy_variable(carom_plan *plan, int node, int *row) {
  double scale = plan->force_scale * plan->length_scale;
  int e = carom_program_variables(&plan->program, 1, -INFINITY, INFINITY, scale);
  *row = carom_program_rows(&plan->program, 1, 0, 0, scale, (carom_row_label){CAROM_ROW_WORK, node, -1, -1});
  carom_program_add(&plan->program, &carom_kind_linear, CAROM_OF({e, 1}), CAROM_INTO({*row, 1}), CAROM_WITH(1));
  return e;
}

// e - (energy of all bodies in interval k) = 0
static int add_energy(carom_plan *plan, int k) {
  int row, e = energy_variable(plan, k, &row), sigma = plan->layout.sigma + carom_plan_segment(plan, k);
  for (int i = 0; i < plan->model->body_count; i++) {
    const carom_body *b = &plan->model->bodies[i];
    if (b->fixed) continue;
    carom_program_add(&plan->program, &carom_kind_energy,
                      CAROM_OF({carom_variable_x(plan, k, i), 7}, {carom_variable_x(plan, k + 1, i), 7}, {sigma, 1}),
                      CAROM_INTO({row, 1}),
                      CAROM_WITH(plan->path.h[k], b->mass, CAROM_XYZ(b->inertia), CAROM_XYZ(gravity_of(plan))));
  }
  return e;
}

static int add_node_energy(carom_plan *plan, int node, bool after) {
  int row, e = energy_variable(plan, node, &row);
  for (int i = 0; i < plan->model->body_count; i++) {
    const carom_body *b = &plan->model->bodies[i];
    if (b->fixed) continue;
    carom_program_add(&plan->program, &carom_kind_node_energy,
                      CAROM_OF({carom_variable_x(plan, node, i), 7}, {carom_variable_P(plan, node, i, after), 6}),
                      CAROM_INTO({row, 1}), CAROM_WITH(b->mass, CAROM_XYZ(b->inertia), CAROM_XYZ(gravity_of(plan))));
  }
  return e;
}

// Energies begin at what the path says; rows are of the form e - E = 0.
static void guess_energies(carom_plan *plan, int first_element, int last_element) {
  carom_program *P = &plan->program;
  for (int i = first_element; i < last_element && !P->out_of_memory; i++) {
    const carom_element *e = &P->elements[i];
    double r;
    if (e->kind != &carom_kind_energy && e->kind != &carom_kind_node_energy) continue;
    carom_element_evaluate(P, e, P->x, NULL, &(carom_derivatives){.r = &r});
    const carom_element *own = e;
    while (own->kind != &carom_kind_linear) own--;  // e itself was entered before its bodies
    P->x[P->indices[own->variable_start]] -= r;
  }
}

static void add_energies(carom_plan *plan) {
  int first = plan->program.element_count;
  for (int k = 0; k < plan->path.K && !plan->program.out_of_memory; k++) plan->layout.energy[k] = add_energy(plan, k);
  for (int node = 0; node <= plan->path.K && !plan->program.out_of_memory; node++) {
    kick kicks[2];
    int count = kicks_at(plan, node, kicks);
    for (int i = 0; i < count; i++) {
      if (kicks[i].before < 0) plan->layout.energy_after[node] = add_node_energy(plan, node, true);
      if (kicks[i].after < 0) plan->layout.energy_before[node] = add_node_energy(plan, node, false);
    }
  }
  guess_energies(plan, first, plan->program.element_count);
}

// The variables of the energies on both sides of a kick.
static void energies_about(const carom_plan *plan, kick k, int e[2]) {
  e[0] = k.before >= 0 ? plan->layout.energy[k.before] : plan->layout.energy_after[k.node];
  e[1] = k.after >= 0 ? plan->layout.energy[k.after] : plan->layout.energy_before[k.node];
}

// ---- slacks --------------------------------------------------------------------------------------------------------

typedef struct ledger {
  carom_plan *plan;
  carom_program *P;
  carom_power power;
  double weight;
  bool per_shift;  // divided by the length of the periodic shift
  int *works;      // (K) the first variable of the works in an interval; null if joints are not charged each
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

static int work_row(const ledger *l, int node, double low, double high) {
  return carom_program_rows(l->P, 1, low, high, typical_work(l->plan), (carom_row_label){CAROM_ROW_WORK, node, -1, -1});
}

// Which rates the torque of an interval meets, and what the products are multiplied with.
typedef struct meeting {
  int rate;  // the first variable
  double h;
} meeting;

static void meetings_of(const carom_plan *plan, int k, meeting out[3]) {
  const carom_layout *L = &plan->layout;
  double h = plan->path.h[k];
  out[0] = (meeting){begins_at(plan, k) ? L->rate_after[k] : L->rate[k - 1], h / 4};
  out[1] = (meeting){L->rate[k], h / 2};
  out[2] = (meeting){begins_at(plan, k + 1) ? L->rate_before[k + 1] : L->rate[k + 1], h / 4};
}

// W = h sigma tau rate of one component, as the variable `work`; its value at the guess.
static double add_work(const ledger *l, int k, int component, const meeting *m, int work) {
  const carom_layout *L = &l->plan->layout;
  int tau = L->tau[k] + component, rate = m->rate + component, sigma = L->sigma + carom_plan_segment(l->plan, k);
  carom_program_add(l->P, &carom_kind_work, CAROM_OF({work, 1}, {tau, 1}, {sigma, 1}, {rate, 1}),
                    CAROM_INTO({work_row(l, k, 0, 0), 1}), CAROM_WITH(m->h));
  if (l->P->out_of_memory) return 0;
  double *x = l->P->x;
  return x[work] = m->h * x[sigma] * x[tau] * x[rate];
}

// w >= W and, if braking costs too, w >= -W: the first of the rows, and w.
static int add_slack(const ledger *l, int node, int *w) {
  int row = work_row(l, node, 0, INFINITY);
  if (l->power != CAROM_POWER_POSITIVE) work_row(l, node, 0, INFINITY);
  *w = carom_program_variables(l->P, 1, 0, INFINITY, typical_work(l->plan));
  for (int i = 0; i < (l->power == CAROM_POWER_POSITIVE ? 1 : 2); i++)
    carom_program_add(l->P, &carom_kind_linear, CAROM_OF({*w, 1}), CAROM_INTO({row + i, 1}), CAROM_WITH(1));
  charge(l, *w);
  return row;
}

// Adds a variable to the rows of a slack: w - sign v >= 0 and w + sign v >= 0. Its value at the guess.
static double enter(const ledger *l, int v, double sign, int row) {
  carom_program_add(l->P, &carom_kind_linear, CAROM_OF({v, 1}), CAROM_INTO({row, 1}), CAROM_WITH(-sign));
  if (l->power != CAROM_POWER_POSITIVE)
    carom_program_add(l->P, &carom_kind_linear, CAROM_OF({v, 1}), CAROM_INTO({row + 1, 1}), CAROM_WITH(sign));
  return l->P->out_of_memory ? 0 : sign * l->P->x[v];
}

static void guess_slack(const ledger *l, int w, double work) {
  double size = l->power == CAROM_POWER_POSITIVE ? fmax(work, 0) : fabs(work);
  if (!l->P->out_of_memory) l->P->x[w] = size + 1e-3 * typical_work(l->plan);
}

// Rows and slack for the change of energy at a kick; the work of actuators may be taken off it.
static int add_change(const ledger *l, kick k, int *w, double *sum) {
  int e[2], row = add_slack(l, k.node, w);
  energies_about(l->plan, k, e);
  *sum = enter(l, e[1], 1, row) + enter(l, e[0], -1, row);
  return row;
}

static void add_total(const ledger *l, kick k) {
  int w;
  double sum;
  add_change(l, k, &w, &sum);
  guess_slack(l, w, sum);
}

// Every joint by itself in an interval; the works are variables from `first` on, in the order of meetings.
static void add_joints(const ledger *l, int k, int first) {
  meeting meetings[3];
  meetings_of(l->plan, k, meetings);
  for (int i = 0; i < l->plan->actuator_count; i++) {
    const carom_plan_actuator *u = &l->plan->actuators[i];
    for (int m = 0; m < 3 && works(l->plan, u, k); m++) {
      int w, row = add_slack(l, k, &w), at = first + m * l->plan->layout.component_count + u->offset;
      double sum = 0;
      for (int c = 0; c < u->components; c++) {
        sum += add_work(l, k, u->offset + c, &meetings[m], at + c);
        enter(l, at + c, 1, row);
      }
      guess_slack(l, w, sum);
    }
  }
}

// Takes what the torques of an interval do at its beginning, or at its end, off the change of energy there.
static double take_off(const ledger *l, int k, bool beginning, int row) {
  int n = l->plan->layout.component_count, own = l->works[k] + n, other = beginning ? l->works[k] : l->works[k] + 2 * n;
  double sum = 0;
  for (int i = 0; i < l->plan->actuator_count; i++) {
    const carom_plan_actuator *u = &l->plan->actuators[i];
    for (int c = u->offset; works(l->plan, u, k) && c < u->offset + u->components; c++)
      sum += enter(l, own + c, -0.5, row) + enter(l, other + c, -1, row);
  }
  return sum;
}

// What is left of the change of energy at a kick.
static void add_rest(const ledger *l, kick k) {
  int w;
  double left;
  int row = add_change(l, k, &w, &left);
  if (k.before >= 0) left += take_off(l, k.before, false, row);
  if (k.after >= 0) left += take_off(l, k.after, true, row);
  guess_slack(l, w, left);
}

static void add_each(ledger *l) {
  int K = l->plan->path.K, n = 3 * l->plan->layout.component_count;
  l->works = CAROM_NEW(&l->plan->allocator, int, (size_t)K);
  if (!l->works) l->P->out_of_memory = true;
  for (int k = 0; k < K && !l->P->out_of_memory; k++) {
    l->works[k] = carom_program_variables(l->P, n, -INFINITY, INFINITY, typical_work(l->plan));
    add_joints(l, k, l->works[k]);
  }
}

// All of the change, whichever its sign: a variable that may be negative.
static void add_net(const ledger *l, kick k) {
  int e[2], row = work_row(l, k.node, 0, 0);
  int w = carom_program_variables(l->P, 1, -INFINITY, INFINITY, typical_work(l->plan));
  energies_about(l->plan, k, e);
  carom_program_add(l->P, &carom_kind_linear, CAROM_OF({w, 1}), CAROM_INTO({row, 1}), CAROM_WITH(1));
  for (int i = 0; i < 2; i++)
    carom_program_add(l->P, &carom_kind_linear, CAROM_OF({e[i], 1}), CAROM_INTO({row, 1}), CAROM_WITH(i == 1 ? -1 : 1));
  if (!l->P->out_of_memory) l->P->x[w] = l->P->x[e[1]] - l->P->x[e[0]];
  charge(l, w);
}

static double weight_of(const carom_plan *plan) {
  double mass = 0;
  for (int i = 0; i < plan->model->body_count; i++)
    if (!plan->model->bodies[i].fixed) mass += plan->model->bodies[i].mass;
  return mass * cm_norm(plan->model->gravity);
}

static void add_kick(const ledger *l, kick k) {
  if (l->power == CAROM_POWER_TOTAL)
    add_total(l, k);
  else if (l->power == CAROM_POWER_NET)
    add_net(l, k);
  else
    add_rest(l, k);
}

void carom_transcribe_work(carom_plan *plan, const carom_cost_def *cost) {
  ledger l = {plan, &plan->program, cost->power, cost->weight, false, NULL};
  if (cost->kind == CAROM_COST_TRANSPORT) l.per_shift = true, l.weight /= weight_of(plan);
  bool each = l.power == CAROM_POWER_JOINTS || l.power == CAROM_POWER_POSITIVE;
  if (each) add_rates(plan);
  if (plan->layout.energy[0] < 0) add_energies(plan);
  if (each) add_each(&l);
  for (int node = 0; node <= plan->path.K && !plan->program.out_of_memory; node++) {
    kick kicks[2];
    int count = kicks_at(plan, node, kicks);
    for (int i = 0; i < count; i++) add_kick(&l, kicks[i]);
  }
  carom_release(&plan->allocator, l.works);
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

// Relative angular velocity of a joint, by momenta of a block: 1 or 3 numbers.
static void end_rate_of(const carom_plan *plan, const carom_plan_actuator *u, kick k, double rate[3]) {
  const carom_plan_joint *j = &plan->joints[u->def.joint];
  const carom_vec3 *block = carom_node_block(plan, k.node, k.after >= 0);
  const carom_quat *q = plan->path.q + (size_t)k.node * (size_t)plan->model->body_count;
  carom_vec3 omega[2];
  for (int i = 0; i < 2; i++) {
    int body = j->body[i];
    carom_vec3 d = plan->model->bodies[body].inverse_inertia;
    omega[i] = cm_rotate(q[body], cm_mul_diag(d, cm_unrotate(q[body], block[2 * body + 1])));
  }
  carom_vec3 v = cm_sub(omega[1], omega[0]);
  if (j->kind == CAROM_PLAN_REVOLUTE) v.x = cm_dot(v, cm_rotate(q[j->body[0]], j->axis));
  rate[0] = v.x, rate[1] = v.y, rate[2] = v.z;
}

// The rates that the torque of an actuator meets in an interval.
static void rates_about(const carom_plan *plan, const carom_plan_actuator *u, int k, double rates[3][3]) {
  if (begins_at(plan, k))
    end_rate_of(plan, u, (kick){k, -1, k}, rates[0]);
  else
    rate_of(plan, u, k - 1, rates[0]);
  rate_of(plan, u, k, rates[1]);
  if (begins_at(plan, k + 1))
    end_rate_of(plan, u, (kick){k + 1, k, -1}, rates[2]);
  else
    rate_of(plan, u, k + 1, rates[2]);
}

// The works of an actuator in an interval: with the rates before, in and after it.
static void works_of(const carom_plan *plan, const carom_plan_actuator *u, int k, double work[3]) {
  static const double share[3] = {0.25, 0.5, 0.25};
  const double *tau = plan->path.tau + (size_t)k * (size_t)carom_plan_components(plan) + (size_t)u->offset;
  double rates[3][3];
  rates_about(plan, u, k, rates);
  for (int m = 0; m < 3; m++) {
    work[m] = 0;
    for (int c = 0; c < u->components; c++) work[m] += share[m] * carom_plan_step(plan, k) * tau[c] * rates[m][c];
  }
}

static double energy_of(const carom_plan *plan, const carom_path *path, int k) {
  double h = carom_plan_step(plan, k), sum = 0;
  size_t n = (size_t)plan->model->body_count, at = (size_t)k * n;
  for (size_t i = 0; i < n; i++) {
    const carom_body *b = &plan->model->bodies[i];
    if (b->fixed) continue;
    carom_vec3 x0 = path->x[at + i], x1 = path->x[at + n + i];
    carom_quat d = cm_qmul(cm_qconj(path->q[at + i]), path->q[at + n + i]);
    carom_vec3 turn = cm_scale(1 / h, cm_log(d.w < 0 ? cm_quat(-d.w, -d.x, -d.y, -d.z) : d));
    carom_vec3 v = cm_scale(1 / h, cm_sub(x1, x0));
    sum += 0.5 * b->mass * cm_dot(v, v) + 0.5 * cm_dot(turn, cm_mul_diag(b->inertia, turn));
    sum -= b->mass * cm_dot(plan->model->gravity, cm_lerp(x0, x1, 0.5));
  }
  return sum;
}

static double change_at(const carom_plan *plan, kick k) {
  double before = k.before >= 0 ? energy_of(plan, &plan->path, k.before) : carom_node_energy(plan, k.node, true);
  double after = k.after >= 0 ? energy_of(plan, &plan->path, k.after) : carom_node_energy(plan, k.node, false);
  return after - before;
}

// What the torques of an interval do at its beginning, or at its end.
static double work_at(const carom_plan *plan, int k, bool beginning) {
  double sum = 0, work[3];
  for (int i = 0; i < plan->actuator_count; i++) {
    if (!works(plan, &plan->actuators[i], k)) continue;
    works_of(plan, &plan->actuators[i], k, work);
    sum += 0.5 * work[1] + work[beginning ? 0 : 2];
  }
  return sum;
}

static void add_change_of(const carom_plan *plan, kick k, carom_plan_work *out) {
  double change = change_at(plan, k), sum = 0;
  if (k.before >= 0) sum += work_at(plan, k.before, false);
  if (k.after >= 0) sum += work_at(plan, k.after, true);
  out->kinds[CAROM_POWER_TOTAL] += fabs(change);
  out->kinds[CAROM_POWER_NET] += change;
  out->drift += fabs(change - sum);
}

static void add_joints_of(const carom_plan *plan, int k, carom_plan_work *out) {
  double work[3];
  for (int i = 0; i < plan->actuator_count; i++) {
    if (!works(plan, &plan->actuators[i], k)) continue;
    works_of(plan, &plan->actuators[i], k, work);
    for (int m = 0; m < 3; m++) {
      out->kinds[CAROM_POWER_JOINTS] += fabs(work[m]);
      out->kinds[CAROM_POWER_POSITIVE] += fmax(work[m], 0);
    }
  }
}

static double peak_of(const carom_plan *plan) {
  double most = 0;
  size_t n = (size_t)carom_plan_components(plan);
  for (int k = 0; k < plan->path.K; k++)
    for (int i = 0; i < plan->actuator_count; i++) {
      const carom_plan_actuator *u = &plan->actuators[i];
      for (int c = 0; works(plan, u, k) && c < u->components; c++)
        most = fmax(most, fabs(plan->path.tau[(size_t)k * n + (size_t)(u->offset + c)]));
    }
  return most;
}

carom_plan_work carom_plan_find_work(const carom_plan *plan) {
  carom_plan_work out = {.peak = peak_of(plan)};
  for (int node = 0; node <= plan->path.K; node++) {
    kick kicks[2];
    int count = kicks_at(plan, node, kicks);
    for (int i = 0; i < count; i++) add_change_of(plan, kicks[i], &out);
  }
  for (int k = 0; k < plan->path.K; k++) add_joints_of(plan, k, &out);
  out.change = carom_energy_change(plan);
  for (int i = 0; i < plan->event_count; i++) {
    double loss = carom_event_loss(plan, i);
    out.loss += loss;
    if (!plan->events[i].last) out.change += loss;
  }
  double length = cm_norm(carom_plan_shift(plan));
  double time = carom_plan_time(plan, plan->path.K) - carom_plan_time(plan, 0);
  out.transport = weight_of(plan) * length;
  out.speed = time > 0 ? length / time : 0;
  return out;
}

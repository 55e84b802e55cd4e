// Actuators, joints and costs as elements.
#include <string.h>

#include "control/kinds.h"
#include "control/plan.h"

// ---- actuators -----------------------------------------------------------------------------------------------------

// What an actuator on a body in interval k knows: the scale of the step, the rotations at both ends, the rows there.
typedef struct reach {
  carom_range sigma, q[2], out, in;
} reach;

// `half` is 0 for linear and 3 for angular momentum.
static reach reach_of(const carom_plan *plan, int k, int body, int half, int count) {
  int out = carom_row_out(plan, k, body), in = carom_row_in(plan, k + 1, body);
  return (reach){.sigma = {plan->layout.sigma + carom_plan_segment(plan, k), 1},
                 .q = {{carom_variable_q(plan, k, body), 4}, {carom_variable_q(plan, k + 1, body), 4}},
                 .out = {out < 0 ? out : out + half, count},
                 .in = {in < 0 ? in : in + half, count}};
}

// A wrench without its force or its torque is one whose missing half is a variable fixed at zero.
static void add_wrench(carom_plan *plan, const carom_plan_actuator *u, int k, int tau, int absent) {
  int force = u->def.no_force ? absent : tau, torque = u->def.no_torque ? absent : tau + (u->def.no_force ? 0 : 3);
  reach r = reach_of(plan, k, u->def.body, 0, 6);
  carom_program_add(&plan->program, &carom_kind_wrench, CAROM_OF({force, 3}, {torque, 3}, r.sigma, r.q[0], r.q[1]),
                    CAROM_INTO(r.out, r.in), CAROM_WITH(plan->path.h[k], u->def.body_axes, CAROM_XYZ(u->def.point)));
}

static void add_thruster(carom_plan *plan, const carom_plan_actuator *u, int k, int tau) {
  reach r = reach_of(plan, k, u->def.body, 0, 6);
  carom_program_add(&plan->program, &carom_kind_thruster, CAROM_OF({tau, 1}, r.sigma, r.q[0], r.q[1]),
                    CAROM_INTO(r.out, r.in),
                    CAROM_WITH(plan->path.h[k], CAROM_XYZ(u->def.point), CAROM_XYZ(u->def.direction)));
}

static void add_motor(carom_plan *plan, const carom_plan_actuator *u, int k, int tau) {
  carom_program *P = &plan->program;
  const carom_plan_joint *j = &plan->joints[u->def.joint];
  reach a = reach_of(plan, k, j->body[0], 3, 3), b = reach_of(plan, k, j->body[1], 3, 3);
  const carom_range *rows = CAROM_INTO(a.out, a.in, b.out, b.in);
  if (j->kind == CAROM_PLAN_REVOLUTE)
    carom_program_add(P, &carom_kind_motor, CAROM_OF({tau, 1}, a.sigma, a.q[0], a.q[1]), rows,
                      CAROM_WITH(plan->path.h[k], CAROM_XYZ(j->axis)));
  else
    carom_program_add(P, &carom_kind_ball_motor, CAROM_OF({tau, 3}, a.sigma), rows, CAROM_WITH(plan->path.h[k]));
}

void carom_transcribe_actuators(carom_plan *plan) {
  int absent = carom_program_variables(&plan->program, 3, 0, 0, 1);
  for (int k = 0; k < plan->path.K; k++)
    for (int i = 0; i < plan->actuator_count; i++) {
      const carom_plan_actuator *u = &plan->actuators[i];
      int tau = plan->layout.tau[k] + u->offset;
      if (u->def.kind == CAROM_ACTUATOR_WRENCH) add_wrench(plan, u, k, tau, absent);
      if (u->def.kind == CAROM_ACTUATOR_THRUSTER) add_thruster(plan, u, k, tau);
      if (u->def.kind == CAROM_ACTUATOR_JOINT) add_motor(plan, u, k, tau);
      if (u->def.kind == CAROM_ACTUATOR_JOINT && !carom_joint_holds(plan, &plan->joints[u->def.joint], k))
        for (int c = 0; c < u->components; c++) carom_program_fix(&plan->program, tau + c, 0);
    }
}

// ---- joints --------------------------------------------------------------------------------------------------------

// Where a joint may be chosen within a reach, its points are variables.
static void add_grip(carom_plan *plan, carom_plan_joint *j) {
  carom_program *P = &plan->program;
  j->grip = -1;
  if (cm_norm(j->reach) == 0 && !(plan->simulated && carom_joint_lands(j))) return;
  j->grip = carom_program_variables(P, 6, 0, 0, plan->length_scale);
  double middle[6] = {CAROM_XYZ(j->point[0]), CAROM_XYZ(j->point[1])}, away[6] = {CAROM_XYZ(j->reach), 0, 0, 0};
  double found[3] = {CAROM_XYZ(j->found)};
  for (int i = 0; i < 6 && !P->out_of_memory; i++) {
    if (plan->simulated && carom_joint_lands(j) && i < 3) away[i] = INFINITY;
    P->x_low[j->grip + i] = middle[i] - away[i], P->x_high[j->grip + i] = middle[i] + away[i];
    P->x[j->grip + i] = i < 3 ? found[i] : middle[i];
  }
}

static void add_pin(carom_plan *plan, const carom_plan_joint *j, int k, int row) {
  carom_program *P = &plan->program;
  int a = carom_variable_x(plan, k, j->body[0]), b = carom_variable_x(plan, k, j->body[1]);
  if (j->grip >= 0)
    carom_program_add(P, &carom_kind_hold, CAROM_OF({a, 7}, {j->grip, 3}, {b, 7}, {j->grip + 3, 3}),
                      CAROM_INTO({row, 3}), CAROM_PLAIN);
  else
    carom_program_add(P, &carom_kind_pin, CAROM_OF({a, 7}, {b, 7}), CAROM_INTO({row, 3}),
                      CAROM_WITH(CAROM_XYZ(j->point[0]), CAROM_XYZ(j->point[1])));
}

// What happens by itself ends when a foot comes down; whether its axis then lies as it should is not up to anything.
static bool lands_by_itself(const carom_plan *plan, const carom_plan_joint *j, int k) {
  return plan->simulated && carom_joint_lands(j) && carom_event_node(plan, &plan->events[j->caught]) == k;
}

static void add_joint_rows(carom_plan *plan, int number, int k) {
  carom_program *P = &plan->program;
  const carom_plan_joint *j = &plan->joints[number];
  carom_row_label label = {CAROM_ROW_JOINT, k, number, CAROM_JOINT_ROW_PLACE};
  int row = carom_program_rows(P, 3, 0, 0, plan->length_scale, label);
  add_pin(plan, j, k, row);
  if (j->kind != CAROM_PLAN_REVOLUTE || lands_by_itself(plan, j, k)) return;
  label.b = CAROM_JOINT_ROW_AXIS;
  row = carom_program_rows(P, 2, 0, 0, 1, label);
  carom_program_add(P, &carom_kind_hinge,
                    CAROM_OF({carom_variable_q(plan, k, j->body[0]), 4}, {carom_variable_q(plan, k, j->body[1]), 4}),
                    CAROM_INTO({row, 2}),
                    CAROM_WITH(CAROM_XYZ(j->axis), CAROM_XYZ(j->cross[0]), CAROM_XYZ(j->cross[1])));
}

// -G' lambda in the balance whose first row is `row`.
void carom_transcribe_joint_force(carom_plan *plan, const carom_plan_joint *j, int k, int multiplier, int row) {
  carom_program *P = &plan->program;
  const int *body = j->body;
  int q[2] = {carom_variable_q(plan, k, body[0]), carom_variable_q(plan, k, body[1])};
  int rows[2] = {carom_body_row(plan, row, body[0]), carom_body_row(plan, row, body[1])};
  if (j->grip >= 0)
    carom_program_add(P, &carom_kind_hold_force,
                      CAROM_OF({multiplier, 3}, {q[0], 4}, {j->grip, 3}, {q[1], 4}, {j->grip + 3, 3}),
                      CAROM_INTO({rows[0], 6}, {rows[1], 6}), CAROM_PLAIN);
  else
    carom_program_add(P, &carom_kind_pin_force, CAROM_OF({multiplier, 3}, {q[0], 4}, {q[1], 4}),
                      CAROM_INTO({rows[0], 6}, {rows[1], 6}),
                      CAROM_WITH(CAROM_XYZ(j->point[0]), CAROM_XYZ(j->point[1])));
  if (j->kind != CAROM_PLAN_REVOLUTE) return;
  for (int i = 0; i < 2; i++) rows[i] += rows[i] < 0 ? 0 : 3;
  carom_program_add(P, &carom_kind_hinge_force, CAROM_OF({multiplier + 3, 2}, {q[0], 4}, {q[1], 4}),
                    CAROM_INTO({rows[0], 3}, {rows[1], 3}),
                    CAROM_WITH(CAROM_XYZ(j->axis), CAROM_XYZ(j->cross[0]), CAROM_XYZ(j->cross[1])));
}

static void add_pin_speed(carom_plan *plan, const carom_plan_joint *j, int k, bool after, int row) {
  carom_program *P = &plan->program;
  for (int i = 0; i < 2; i++) {
    const carom_body *b = &plan->model->bodies[j->body[i]];
    if (b->fixed) continue;
    carom_range q = {carom_variable_q(plan, k, j->body[i]), 4}, p = {carom_variable_P(plan, k, j->body[i], after), 6};
    int sign = i == 0 ? -1 : 1;
    if (j->grip >= 0)
      carom_program_add(P, &carom_kind_hold_speed, CAROM_OF(q, p, {j->grip + 3 * i, 3}), CAROM_INTO({row, 3}),
                        CAROM_WITH(sign, b->inverse_mass, CAROM_XYZ(b->inverse_inertia)));
    else
      carom_program_add(P, &carom_kind_pin_speed, CAROM_OF(q, p), CAROM_INTO({row, 3}),
                        CAROM_WITH(sign, b->inverse_mass, CAROM_XYZ(b->inverse_inertia), CAROM_XYZ(j->point[i])));
  }
}

static void add_hinge_speed(carom_plan *plan, const carom_plan_joint *j, int k, bool after, int row) {
  carom_program *P = &plan->program;
  for (int i = 0; i < 2; i++) {
    const carom_body *b = &plan->model->bodies[j->body[i]];
    if (b->fixed) continue;
    carom_program_add(P, &carom_kind_hinge_speed,
                      CAROM_OF({carom_variable_q(plan, k, j->body[0]), 4}, {carom_variable_q(plan, k, j->body[1]), 4},
                               {carom_variable_P(plan, k, j->body[i], after) + 3, 3}),
                      CAROM_INTO({row, 2}),
                      CAROM_WITH(CAROM_XYZ(j->axis), CAROM_XYZ(j->cross[0]), CAROM_XYZ(j->cross[1]),
                                 CAROM_XYZ(b->inverse_inertia), i == 0 ? -1 : 1));
  }
}

void carom_transcribe_joint_speed(carom_plan *plan, int number, int k, bool after) {
  const carom_plan_joint *j = &plan->joints[number];
  carom_row_label label = {CAROM_ROW_JOINT, k, number, CAROM_JOINT_ROW_SPEED};
  int row = carom_program_rows(&plan->program, 3, 0, 0, plan->speed_scale, label);
  add_pin_speed(plan, j, k, after, row);
  if (j->kind != CAROM_PLAN_REVOLUTE) return;
  label.b = CAROM_JOINT_ROW_SPIN;
  row = carom_program_rows(&plan->program, 2, 0, 0, plan->speed_scale / plan->length_scale, label);
  add_hinge_speed(plan, j, k, after, row);
}

// Momenta at the last node that nothing asks for stay as the last step makes them; a multiplier there would be idle.
static bool momenta_given(const carom_plan *plan) {
  for (int i = 0; i < plan->condition_count; i++)
    if (plan->conditions[i].kind == CAROM_CONDITION_VELOCITY &&
        carom_plan_resolve_node(plan, plan->conditions[i].node) == plan->path.K)
      return true;
  return false;
}

// Joints of a flat motion carry nothing out of its plane. The solver finds that by itself; where equations are counted,
// they must not be more than unknowns, as they are in flight, when fewer joints hold than there are bodies.
static void flatten(carom_plan *plan, int multipliers) {
  if (!plan->simulated || !carom_plan_is_flat(plan)) return;
  for (int i = 0; i < plan->joint_count; i++) {
    int out = multipliers + plan->joints[i].offset + 2, count = plan->joints[i].kind == CAROM_PLAN_REVOLUTE ? 3 : 1;
    for (int c = out; c < out + count; c++)
      if (fabs(plan->program.x[c]) <= 1e-8 * plan->program.x_scale[c]) carom_program_fix(&plan->program, c, 0);
  }
}

static int add_multipliers(carom_plan *plan, const double *guess) {
  size_t count = (size_t)plan->layout.multiplier_count;
  int first = carom_program_variables(&plan->program, (int)count, -INFINITY, INFINITY,
                                      plan->mass_scale * plan->speed_scale);  // impulses
  if (plan->program.out_of_memory) return first;
  memcpy(plan->program.x + first, guess, count * sizeof *guess);
  flatten(plan, first);
  return first;
}

int carom_transcribe_hold(carom_plan *plan, int node, bool after, int row) {
  const carom_plan_event *e = carom_plan_event_at(plan, node);
  const double *known = after ? plan->path.impulse : plan->path.hold;
  size_t at = e ? (size_t)(e - plan->events) * (size_t)plan->layout.multiplier_count : 0;
  int lambda = add_multipliers(plan, e ? known + at : plan->path.lambda);
  for (int i = 0; i < plan->joint_count; i++) {
    if (!carom_joint_holds(plan, &plan->joints[i], after ? node : node - 1)) continue;
    carom_transcribe_joint_force(plan, &plan->joints[i], node, lambda + plan->joints[i].offset, row);
    carom_transcribe_joint_speed(plan, i, node, after);
  }
  return lambda;
}

// A start that is given meets its joints. At the end of a period the joints that hold from then on follow from those at
// its beginning; to ask twice would leave the solver with equations that repeat each other.
static bool place_asked(const carom_plan *plan, const carom_plan_joint *j, int k) {
  if (plan->simulated) return true;
  if (k == 0) return plan->free_starts[j->body[0]].free || plan->free_starts[j->body[1]].free;
  if (k < plan->path.K || !plan->periodic.set) return true;
  return !carom_joint_holds(plan, j, k) || !carom_joint_counterpart(plan, j);
}

// But for where a foot comes down, as far as that or the shift may be chosen.
static void add_chosen_place(carom_plan *plan, int number) {
  carom_program *P = &plan->program;
  const carom_plan_joint *j = &plan->joints[number];
  int side = plan->model->bodies[j->body[0]].fixed ? 0 : 1, K = plan->path.K;
  carom_pose ground = cm_pose(plan->start->x[j->body[side]], plan->start->q[j->body[side]]);
  double place[3] = {CAROM_XYZ(j->point[side])};
  bool asked[3];
  carom_place_asked(plan, j, asked);
  for (int c = 0; c < 3; c++) {
    if (!asked[c]) continue;
    bool chosen = side == 0 && j->grip >= 0;
    carom_vec3 n = cm_rotate(ground.q, cm_vec3(c == 0, c == 1, c == 2));
    double at = cm_dot(n, ground.p) + (chosen ? 0 : place[c]);
    int row = carom_program_rows(P, 1, at, at, plan->length_scale, (carom_row_label){CAROM_ROW_JOINT, K, number, -1});
    carom_program_add(P, &carom_kind_above_plane, CAROM_OF({carom_variable_x(plan, K, j->body[1 - side]), 7}),
                      CAROM_INTO({row, 1}), CAROM_WITH(CAROM_XYZ(n), CAROM_XYZ(j->point[1 - side])));
    if (chosen)
      carom_program_add(P, &carom_kind_linear, CAROM_OF({j->grip + c, 1}), CAROM_INTO({row, 1}), CAROM_WITH(-1));
  }
}

// It holds at the nodes at both ends of its intervals.
static void add_places(carom_plan *plan, int k) {
  for (int i = 0; i < plan->joint_count; i++) {
    const carom_plan_joint *j = &plan->joints[i];
    bool before = k > 0 && carom_joint_holds(plan, j, k - 1), after = carom_joint_holds(plan, j, k);
    if (!before && !after) continue;
    if (place_asked(plan, j, k))
      add_joint_rows(plan, i, k);
    else if (k > 0)
      add_chosen_place(plan, i);
  }
}

void carom_transcribe_joints(carom_plan *plan) {
  carom_layout *L = &plan->layout;
  for (int i = 0; i < plan->joint_count; i++) add_grip(plan, &plan->joints[i]);
  for (int k = 0; k <= plan->path.K && plan->joint_count > 0; k++) {
    bool last = k == plan->path.K;
    add_places(plan, k);
    for (int i = 0; i < plan->joint_count && k == 0 && plan->simulated; i++)
      if (carom_joint_holds(plan, &plan->joints[i], 0)) carom_transcribe_joint_speed(plan, i, 0, true);
    if (last && (!momenta_given(plan) || carom_plan_event_at(plan, k))) continue;
    L->multiplier[k] = add_multipliers(plan, plan->path.lambda + (size_t)k * (size_t)L->multiplier_count);
    for (int i = 0; i < plan->joint_count; i++) {
      const carom_plan_joint *j = &plan->joints[i];
      if (carom_joint_holds(plan, j, last ? k - 1 : k))
        carom_transcribe_joint_force(plan, j, k, L->multiplier[k] + j->offset, last ? L->in[k] : L->out[k]);
    }
  }
}

// ---- costs ---------------------------------------------------------------------------------------------------------

static void add_effort(carom_plan *plan, const carom_cost_def *cost) {
  carom_program *P = &plan->program;
  for (int k = 0; k < plan->path.K; k++)
    for (int i = 0; i < plan->actuator_count; i++) {
      const carom_plan_actuator *u = &plan->actuators[i];
      bool chosen = cost->body == CAROM_WORLD || (u->def.kind != CAROM_ACTUATOR_JOINT && u->def.body == cost->body);
      for (int c = 0; chosen && c < u->components; c++) {
        carom_program_add(
            P, &carom_kind_effort,
            CAROM_OF({plan->layout.tau[k] + u->offset + c, 1}, {plan->layout.sigma + carom_plan_segment(plan, k), 1}),
            CAROM_INTO({CAROM_ROW_COST, 1}), CAROM_WITH(plan->path.h[k], cost->weight));
      }
    }
}

static void add_time(carom_plan *plan, const carom_cost_def *cost) {
  for (int k = 0; k < plan->path.K; k++) {
    carom_program_add(&plan->program, &carom_kind_linear,
                      CAROM_OF({plan->layout.sigma + carom_plan_segment(plan, k), 1}), CAROM_INTO({CAROM_ROW_COST, 1}),
                      CAROM_WITH(cost->weight * plan->path.h[k]));
  }
}

static void add_squares(carom_plan *plan, int first, int count, double weight, const double *target) {
  for (int i = 0; i < count; i++) {
    carom_program_add(&plan->program, &carom_kind_square, CAROM_OF({first + i, 1}), CAROM_INTO({CAROM_ROW_COST, 1}),
                      CAROM_WITH(weight, target ? target[i] : 0));
  }
}

static void add_alignment(carom_plan *plan, const carom_cost_def *cost) {
  carom_vec3 axis = cm_unit(cm_rotate(plan->model->bodies[cost->body].frame.q, cost->axis));
  carom_vec3 direction = cm_unit(cost->direction);
  carom_program_add(&plan->program, &carom_kind_alignment,
                    CAROM_OF({carom_variable_q(plan, plan->path.K, cost->body), 4}), CAROM_INTO({CAROM_ROW_COST, 1}),
                    CAROM_WITH(cost->weight, CAROM_XYZ(axis), CAROM_XYZ(direction)));
}

// Of torques times angles.
static double typical_work(const carom_plan *plan) { return 0.1 * plan->force_scale * plan->length_scale; }

static double typical(const carom_plan *plan, const carom_cost_def *cost) {
  double L = plan->length_scale, T = plan->time_scale, p = plan->mass_scale * plan->speed_scale;
  switch (cost->kind) {
    case CAROM_COST_EFFORT:
      return cost->weight * T * plan->force_scale * plan->force_scale;
    case CAROM_COST_TIME:
      return cost->weight * T;
    case CAROM_COST_MOMENTUM:
      return cost->weight * p * p;
    case CAROM_COST_DIRECTION:
      return cost->weight;
    case CAROM_COST_POSITION:
      return cost->weight * L * L;
    case CAROM_COST_WORK:
      return cost->weight * typical_work(plan);
    case CAROM_COST_TRANSPORT:
      return cost->weight * 0.1;
    case CAROM_COST_PEAK:
      return cost->weight * plan->force_scale * L;
  }
  return cost->weight;
}

void carom_transcribe_costs(carom_plan *plan) {
  int K = plan->path.K;
  double scale = 0;
  for (int i = 0; i < plan->cost_count && !plan->program.out_of_memory; i++) {
    const carom_cost_def *c = &plan->costs[i];
    double target[3] = {c->target.x, c->target.y, c->target.z};
    scale = fmax(scale, typical(plan, c));
    switch (c->kind) {
      case CAROM_COST_EFFORT:
        add_effort(plan, c);
        break;
      case CAROM_COST_TIME:
        add_time(plan, c);
        break;
      case CAROM_COST_MOMENTUM:
        add_squares(plan, carom_variable_P(plan, K, c->body, false), 6, c->weight, NULL);
        break;
      case CAROM_COST_DIRECTION:
        add_alignment(plan, c);
        break;
      case CAROM_COST_POSITION:
        add_squares(plan, carom_variable_x(plan, K, c->body), 3, c->weight, target);
        break;
      case CAROM_COST_WORK:
      case CAROM_COST_TRANSPORT:
        carom_transcribe_work(plan, c);
        break;
      case CAROM_COST_PEAK:
        carom_transcribe_peak(plan, c);
        break;
    }
  }
  plan->program.f_scale = scale > 0 ? scale : 1;
}

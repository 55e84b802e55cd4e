// Actuators, joints and costs as elements.
#include <string.h>

#include "control/kinds.h"
#include "control/plan.h"

// ---- actuators -----------------------------------------------------------------------------------------------------

// The rows of a body on both sides of interval k: `half` 0 for linear and 3 for angular momentum.
static void balance_rows(carom_plan *plan, int k, int body, int half, int count) {
  int out = carom_row_out(plan, k, body), in = carom_row_in(plan, k + 1, body);
  carom_element_rows(&plan->program, out < 0 ? out : out + half, count);
  carom_element_rows(&plan->program, in < 0 ? in : in + half, count);
}

static void both_rotations(carom_plan *plan, int k, int body) {
  carom_element_variables(&plan->program, carom_variable_q(plan, k, body), 4);
  carom_element_variables(&plan->program, carom_variable_q(plan, k + 1, body), 4);
}

// A wrench without its force or its torque is one whose missing half is a variable fixed at zero.
static int absent_half(carom_plan *plan) {
  int first = carom_program_variables(&plan->program, 3, 0, 0, 1);
  return first;
}

static void add_wrench(carom_plan *plan, const carom_plan_actuator *u, int k, int tau, int absent) {
  carom_program *P = &plan->program;
  int force = u->def.no_force ? absent : tau, torque = u->def.no_torque ? absent : tau + (u->def.no_force ? 0 : 3);
  carom_program_element(P, &carom_kind_wrench, NULL);
  carom_element_variables(P, force, 3);
  carom_element_variables(P, torque, 3);
  carom_element_variables(P, plan->layout.sigma + carom_plan_segment(plan, k), 1);
  both_rotations(plan, k, u->def.body);
  balance_rows(plan, k, u->def.body, 0, 6);
  carom_element_constants(P, (double[]){plan->path.h[k], u->def.body_axes}, 2);
  carom_element_constant3(P, u->def.point);
}

static void add_thruster(carom_plan *plan, const carom_plan_actuator *u, int k, int tau) {
  carom_program *P = &plan->program;
  carom_program_element(P, &carom_kind_thruster, NULL);
  carom_element_variables(P, tau, 1);
  carom_element_variables(P, plan->layout.sigma + carom_plan_segment(plan, k), 1);
  both_rotations(plan, k, u->def.body);
  balance_rows(plan, k, u->def.body, 0, 6);
  carom_element_constant(P, plan->path.h[k]);
  carom_element_constant3(P, u->def.point);
  carom_element_constant3(P, u->def.direction);
}

static void add_motor(carom_plan *plan, const carom_plan_actuator *u, int k, int tau) {
  carom_program *P = &plan->program;
  const carom_plan_joint *j = &plan->joints[u->def.joint];
  bool turns = j->kind == CAROM_PLAN_REVOLUTE;
  carom_program_element(P, turns ? &carom_kind_motor : &carom_kind_ball_motor, NULL);
  carom_element_variables(P, tau, turns ? 1 : 3);
  carom_element_variables(P, plan->layout.sigma + carom_plan_segment(plan, k), 1);
  if (turns) both_rotations(plan, k, j->body[0]);
  balance_rows(plan, k, j->body[0], 3, 3);
  balance_rows(plan, k, j->body[1], 3, 3);
  carom_element_constant(P, plan->path.h[k]);
  if (turns) carom_element_constant3(P, j->axis);
}

void carom_transcribe_actuators(carom_plan *plan) {
  int absent = absent_half(plan);
  for (int k = 0; k < plan->path.K; k++)
    for (int i = 0; i < plan->actuator_count; i++) {
      const carom_plan_actuator *u = &plan->actuators[i];
      int tau = plan->layout.tau[k] + u->offset;
      if (u->def.kind == CAROM_ACTUATOR_WRENCH) add_wrench(plan, u, k, tau, absent);
      if (u->def.kind == CAROM_ACTUATOR_THRUSTER) add_thruster(plan, u, k, tau);
      if (u->def.kind == CAROM_ACTUATOR_JOINT) add_motor(plan, u, k, tau);
    }
}

// ---- joints --------------------------------------------------------------------------------------------------------

static void body_rows(carom_plan *plan, int row, int body, int half, int count) {
  bool fixed = plan->model->bodies[body].fixed;
  carom_element_rows(&plan->program, fixed ? CAROM_ROW_NONE : row + 6 * plan->slot[body] + half, count);
}

static void add_joint_rows(carom_plan *plan, int number, int k) {
  carom_program *P = &plan->program;
  const carom_plan_joint *j = &plan->joints[number];
  carom_row_label label = {CAROM_ROW_JOINT, k, number, -1};
  int row = carom_program_rows(P, 3, 0, 0, plan->length_scale, label);
  carom_program_element(P, &carom_kind_pin, NULL);
  for (int i = 0; i < 2; i++) carom_element_variables(P, carom_variable_x(plan, k, j->body[i]), 7);
  carom_element_rows(P, row, 3);
  for (int i = 0; i < 2; i++) carom_element_constant3(P, j->point[i]);
  if (j->kind != CAROM_PLAN_REVOLUTE) return;
  row = carom_program_rows(P, 2, 0, 0, 1, label);
  carom_program_element(P, &carom_kind_hinge, NULL);
  for (int i = 0; i < 2; i++) carom_element_variables(P, carom_variable_q(plan, k, j->body[i]), 4);
  carom_element_rows(P, row, 2);
  carom_element_constant3(P, j->axis);
  for (int i = 0; i < 2; i++) carom_element_constant3(P, j->cross[i]);
}

// -G' lambda in the balance whose first row is `row`.
void carom_transcribe_joint_force(carom_plan *plan, const carom_plan_joint *j, int k, int multiplier, int row) {
  carom_program *P = &plan->program;
  carom_program_element(P, &carom_kind_pin_force, NULL);
  carom_element_variables(P, multiplier, 3);
  for (int i = 0; i < 2; i++) carom_element_variables(P, carom_variable_q(plan, k, j->body[i]), 4);
  for (int i = 0; i < 2; i++) body_rows(plan, row, j->body[i], 0, 6);
  for (int i = 0; i < 2; i++) carom_element_constant3(P, j->point[i]);
  if (j->kind != CAROM_PLAN_REVOLUTE) return;
  carom_program_element(P, &carom_kind_hinge_force, NULL);
  carom_element_variables(P, multiplier + 3, 2);
  for (int i = 0; i < 2; i++) carom_element_variables(P, carom_variable_q(plan, k, j->body[i]), 4);
  for (int i = 0; i < 2; i++) body_rows(plan, row, j->body[i], 3, 3);
  carom_element_constant3(P, j->axis);
  for (int i = 0; i < 2; i++) carom_element_constant3(P, j->cross[i]);
}

static void add_pin_speed(carom_plan *plan, const carom_plan_joint *j, int k, bool after, int row) {
  carom_program *P = &plan->program;
  for (int i = 0; i < 2; i++) {
    const carom_body *b = &plan->model->bodies[j->body[i]];
    if (b->fixed) continue;
    carom_program_element(P, &carom_kind_pin_speed, NULL);
    carom_element_variables(P, carom_variable_q(plan, k, j->body[i]), 4);
    carom_element_variables(P, carom_variable_P(plan, k, j->body[i], after), 6);
    carom_element_rows(P, row, 3);
    carom_element_constants(P, (double[]){i == 0 ? -1 : 1, b->inverse_mass}, 2);
    carom_element_constant3(P, b->inverse_inertia);
    carom_element_constant3(P, j->point[i]);
  }
}

static void add_hinge_speed(carom_plan *plan, const carom_plan_joint *j, int k, bool after, int row) {
  carom_program *P = &plan->program;
  for (int i = 0; i < 2; i++) {
    const carom_body *b = &plan->model->bodies[j->body[i]];
    if (b->fixed) continue;
    carom_program_element(P, &carom_kind_hinge_speed, NULL);
    for (int s = 0; s < 2; s++) carom_element_variables(P, carom_variable_q(plan, k, j->body[s]), 4);
    carom_element_variables(P, carom_variable_P(plan, k, j->body[i], after) + 3, 3);
    carom_element_rows(P, row, 2);
    carom_element_constant3(P, j->axis);
    for (int s = 0; s < 2; s++) carom_element_constant3(P, j->cross[s]);
    carom_element_constant3(P, b->inverse_inertia);
    carom_element_constant(P, i == 0 ? -1 : 1);
  }
}

void carom_transcribe_joint_speed(carom_plan *plan, int number, int k, bool after) {
  const carom_plan_joint *j = &plan->joints[number];
  carom_row_label label = {CAROM_ROW_JOINT, k, number, -1};
  int row = carom_program_rows(&plan->program, 3, 0, 0, plan->speed_scale, label);
  add_pin_speed(plan, j, k, after, row);
  if (j->kind != CAROM_PLAN_REVOLUTE) return;
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

void carom_transcribe_joints(carom_plan *plan) {
  carom_layout *L = &plan->layout;
  double force = plan->mass_scale * plan->speed_scale;  // an impulse
  for (int k = 0; k <= plan->path.K && plan->joint_count > 0; k++) {
    if (k == plan->path.K && !momenta_given(plan)) {
      for (int i = 0; i < plan->joint_count; i++) add_joint_rows(plan, i, k);
      continue;
    }
    L->multiplier[k] = carom_program_variables(&plan->program, L->multiplier_count, -INFINITY, INFINITY, force);
    if (!plan->program.out_of_memory)
      memcpy(plan->program.x + L->multiplier[k], plan->path.lambda + (size_t)k * (size_t)L->multiplier_count,
             (size_t)L->multiplier_count * sizeof(double));
    int row = k < plan->path.K ? L->out[k] : L->in[k];
    for (int i = 0; i < plan->joint_count; i++) {
      const carom_plan_joint *j = &plan->joints[i];
      if (k > 0) add_joint_rows(plan, i, k);  // the start state meets its joints
      carom_transcribe_joint_force(plan, j, k, L->multiplier[k] + j->offset, row);
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
        carom_program_element(P, &carom_kind_effort, NULL);
        carom_element_variables(P, plan->layout.tau[k] + u->offset + c, 1);
        carom_element_variables(P, plan->layout.sigma + carom_plan_segment(plan, k), 1);
        carom_element_rows(P, CAROM_ROW_COST, 1);
        carom_element_constants(P, (double[]){plan->path.h[k], cost->weight}, 2);
      }
    }
}

static void add_time(carom_plan *plan, const carom_cost_def *cost) {
  for (int k = 0; k < plan->path.K; k++) {
    carom_program_element(&plan->program, &carom_kind_linear, NULL);
    carom_element_variables(&plan->program, plan->layout.sigma + carom_plan_segment(plan, k), 1);
    carom_element_rows(&plan->program, CAROM_ROW_COST, 1);
    carom_element_constant(&plan->program, cost->weight * plan->path.h[k]);
  }
}

static void add_squares(carom_plan *plan, int first, int count, double weight, const double *target) {
  for (int i = 0; i < count; i++) {
    carom_program_element(&plan->program, &carom_kind_square, NULL);
    carom_element_variables(&plan->program, first + i, 1);
    carom_element_rows(&plan->program, CAROM_ROW_COST, 1);
    carom_element_constants(&plan->program, (double[]){weight, target ? target[i] : 0}, 2);
  }
}

static void add_alignment(carom_plan *plan, const carom_cost_def *cost) {
  carom_vec3 axis = cm_unit(cm_rotate(plan->model->bodies[cost->body].frame.q, cost->axis));
  carom_program_element(&plan->program, &carom_kind_alignment, NULL);
  carom_element_variables(&plan->program, carom_variable_q(plan, plan->path.K, cost->body), 4);
  carom_element_rows(&plan->program, CAROM_ROW_COST, 1);
  carom_element_constant(&plan->program, cost->weight);
  carom_element_constant3(&plan->program, axis);
  carom_element_constant3(&plan->program, cm_unit(cost->direction));
}

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
    }
  }
  plan->program.f_scale = scale > 0 ? scale : 1;
}

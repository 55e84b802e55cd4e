// Conditions at nodes as bounds or elements.
#include "control/kinds.h"
#include "control/plan.h"

static carom_quat nearest_sign(const double *z, carom_quat q) {
  bool flip = z[0] * q.w + z[1] * q.x + z[2] * q.y + z[3] * q.z < 0;
  return flip ? cm_quat(-q.w, -q.x, -q.y, -q.z) : q;
}

static void fix_vector(carom_program *P, int first, carom_vec3 v) {
  carom_program_fix(P, first, v.x);
  carom_program_fix(P, first + 1, v.y);
  carom_program_fix(P, first + 2, v.z);
}

// A rotation is two quaternions, which stand for two ways around: the one nearer to the guess is taken.
static void fix_rotation(carom_plan *plan, int node, int body, carom_quat q) {
  carom_program *P = &plan->program;
  if (P->out_of_memory) return;
  int first = carom_variable_q(plan, node, body);
  q = nearest_sign(P->x + first, q);
  carom_program_fix(P, first, q.w);
  fix_vector(P, first + 1, cm_vec3(q.x, q.y, q.z));
}

// Equations; who wants other bounds sets them.
static int condition_rows(carom_plan *plan, int number, int k, int count, double scale) {
  return carom_program_rows(&plan->program, count, 0, 0, scale, (carom_row_label){CAROM_ROW_CONDITION, k, number, -1});
}

static void add_position(carom_plan *plan, int number, int k) {
  carom_program *P = &plan->program;
  const carom_condition_def *c = &plan->conditions[number];
  int row = condition_rows(plan, number, k, 3, plan->length_scale);
  carom_program_add(P, &carom_kind_point, CAROM_OF({carom_variable_x(plan, k, c->body), 7}), CAROM_INTO({row, 3}),
                    CAROM_WITH(CAROM_XYZ(plan->model->bodies[c->body].frame.p)));
  if (P->out_of_memory) return;
  double low[3] = {c->low.x, c->low.y, c->low.z}, high[3] = {c->high.x, c->high.y, c->high.z};
  for (int i = 0; i < 3; i++) P->g_low[row + i] = low[i], P->g_high[row + i] = high[i];
}

static void add_direction(carom_plan *plan, int number, int k) {
  carom_program *P = &plan->program;
  const carom_condition_def *c = &plan->conditions[number];
  int row = condition_rows(plan, number, k, 1, 1);
  if (!P->out_of_memory) P->g_low[row] = c->at_least, P->g_high[row] = INFINITY;
  carom_vec3 axis = cm_unit(cm_rotate(plan->model->bodies[c->body].frame.q, c->axis));
  carom_vec3 direction = cm_unit(c->direction);
  carom_program_add(P, &carom_kind_direction, CAROM_OF({carom_variable_q(plan, k, c->body), 4}), CAROM_INTO({row, 1}),
                    CAROM_WITH(CAROM_XYZ(axis), CAROM_XYZ(direction)));
}

static void add_velocity(carom_plan *plan, int number, int k) {
  carom_program *P = &plan->program;
  const carom_condition_def *c = &plan->conditions[number];
  const carom_body *b = &plan->model->bodies[c->body];
  int at = carom_variable_P(plan, k, c->body, k < plan->path.K);
  fix_vector(P, at, cm_scale(b->mass, c->velocity));
  if (cm_norm(c->angular_velocity) == 0) {
    fix_vector(P, at + 3, cm_zero3());
    return;
  }
  double scale = plan->mass_scale * plan->length_scale * plan->speed_scale;
  int row = condition_rows(plan, number, k, 3, scale);
  carom_program_add(P, &carom_kind_spin, CAROM_OF({carom_variable_q(plan, k, c->body), 4}, {at + 3, 3}),
                    CAROM_INTO({row, 3}), CAROM_WITH(CAROM_XYZ(b->inertia), CAROM_XYZ(c->angular_velocity)));
}

// The pose of the principal frame of `body` as seen from that of `other`.
static carom_pose relative_principal(const carom_plan *plan, const carom_condition_def *c) {
  carom_pose in_other = cm_compose(plan->model->bodies[c->other].frame, c->pose);
  return cm_compose(in_other, cm_pose_inverse(plan->model->bodies[c->body].frame));
}

// Of two bodies on a hinge only the angle is left to ask for.
static const carom_plan_joint *hinge_between(const carom_plan *plan, int a, int b) {
  for (int i = 0; i < plan->joint_count; i++) {
    const carom_plan_joint *j = &plan->joints[i];
    bool same = (j->body[0] == a && j->body[1] == b) || (j->body[0] == b && j->body[1] == a);
    if (same && j->kind == CAROM_PLAN_REVOLUTE) return j;
  }
  return NULL;
}

static void add_relative_rotation(carom_plan *plan, int number, int k, carom_pose relative) {
  carom_program *P = &plan->program;
  const carom_condition_def *c = &plan->conditions[number];
  const carom_plan_joint *j = hinge_between(plan, c->body, c->other);
  int row = condition_rows(plan, number, k, j ? 1 : 3, 1);
  const carom_range *turns =
      CAROM_OF({carom_variable_q(plan, k, c->other), 4}, {carom_variable_q(plan, k, c->body), 4});
  if (!j) {
    carom_program_add(P, &carom_kind_relative_rotation, turns, CAROM_INTO({row, 3}),
                      CAROM_WITH(CAROM_WXYZ(relative.q)));
    return;
  }
  // The axis in the frame of the aim, which is that of `body` once it is there.
  carom_vec3 axis = j->body[0] == c->body ? j->axis : cm_cross(j->cross[0], j->cross[1]);
  carom_program_add(P, &carom_kind_relative_angle, turns, CAROM_INTO({row, 1}),
                    CAROM_WITH(CAROM_WXYZ(relative.q), CAROM_XYZ(axis)));
}

static void add_relative_pose(carom_plan *plan, int number, int k) {
  carom_program *P = &plan->program;
  const carom_condition_def *c = &plan->conditions[number];
  carom_pose relative = relative_principal(plan, c);
  int row = condition_rows(plan, number, k, 3, plan->length_scale);
  carom_program_add(P, &carom_kind_relative_position,
                    CAROM_OF({carom_variable_x(plan, k, c->other), 7}, {carom_variable_x(plan, k, c->body), 3}),
                    CAROM_INTO({row, 3}), CAROM_WITH(CAROM_XYZ(relative.p)));
  add_relative_rotation(plan, number, k, relative);
}

static void add_relative_rest(carom_plan *plan, int number, int k) {
  carom_program *P = &plan->program;
  const carom_condition_def *c = &plan->conditions[number];
  int row = condition_rows(plan, number, k, 3, 1 / plan->time_scale);
  condition_rows(plan, number, k, 3, plan->speed_scale);
  const carom_body *a = &plan->model->bodies[c->other], *b = &plan->model->bodies[c->body];
  bool after = k < plan->path.K;
  carom_program_add(P, &carom_kind_relative_rest,
                    CAROM_OF({carom_variable_x(plan, k, c->other), 7}, {carom_variable_P(plan, k, c->other, after), 6},
                             {carom_variable_x(plan, k, c->body), 7}, {carom_variable_P(plan, k, c->body, after), 6}),
                    CAROM_INTO({row, 6}), CAROM_WITH(a->mass, CAROM_XYZ(a->inertia), b->mass, CAROM_XYZ(b->inertia)));
}

static void add_periodic(carom_plan *plan, int number, int k) {
  carom_program *P = &plan->program;
  const carom_condition_def *c = &plan->conditions[number];
  double p = plan->mass_scale * plan->speed_scale;
  int row = condition_rows(plan, number, k, 3, plan->length_scale);
  condition_rows(plan, number, k, 3, 1);
  int shift = carom_program_variables(P, 3, 0, 0, plan->length_scale);
  fix_vector(P, shift, c->pose.p);
  carom_program_add(
      P, &carom_kind_periodic_pose,
      CAROM_OF({carom_variable_x(plan, 0, c->body), 7}, {carom_variable_x(plan, k, c->body), 7}, {shift, 3}),
      CAROM_INTO({row, 6}), CAROM_WITH(CAROM_WXYZ(c->pose.q), 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 0));
  row = condition_rows(plan, number, k, 3, p);
  condition_rows(plan, number, k, 3, p * plan->length_scale);
  carom_program_add(P, &carom_kind_periodic_momentum,
                    CAROM_OF({carom_variable_P(plan, 0, c->body, true), 6},
                             {carom_variable_P(plan, k, c->body, k < plan->path.K), 6}),
                    CAROM_INTO({row, 6}), CAROM_WITH(CAROM_WXYZ(c->pose.q), 1, 1, 1));
}

static carom_pose pose_asked(const carom_plan *plan, const carom_condition_def *c) {
  return carom_principal_pose(plan->model, c->body, c->pose);
}

static void add_rotation(carom_plan *plan, int number, int k) {
  const carom_condition_def *c = &plan->conditions[number];
  fix_rotation(plan, k, c->body, pose_asked(plan, c).q);
}

static void add_pose(carom_plan *plan, int number, int k) {
  const carom_condition_def *c = &plan->conditions[number];
  fix_vector(&plan->program, carom_variable_x(plan, k, c->body), pose_asked(plan, c).p);
  add_rotation(plan, number, k);
}

static void add_turned(carom_plan *plan, int number, int k) {
  add_relative_rotation(plan, number, k, relative_principal(plan, &plan->conditions[number]));
}

void carom_transcribe_conditions(carom_plan *plan) {
  static void (*const add[])(carom_plan *, int, int) = {
      [CAROM_CONDITION_POSE] = add_pose,
      [CAROM_CONDITION_ROTATION] = add_rotation,
      [CAROM_CONDITION_POSITION] = add_position,
      [CAROM_CONDITION_DIRECTION] = add_direction,
      [CAROM_CONDITION_VELOCITY] = add_velocity,
      [CAROM_CONDITION_RELATIVE_POSE] = add_relative_pose,
      [CAROM_CONDITION_RELATIVE_ROTATION] = add_turned,
      [CAROM_CONDITION_RELATIVE_REST] = add_relative_rest,
      [CAROM_CONDITION_PERIODIC] = add_periodic,
  };
  for (int i = 0; i < plan->condition_count && !plan->program.out_of_memory; i++)
    if ((size_t)plan->conditions[i].kind < sizeof add / sizeof *add)
      add[plan->conditions[i].kind](plan, i, carom_plan_resolve_node(plan, plan->conditions[i].node));
}

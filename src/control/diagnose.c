// What stands in the way of an infeasible plan, in words; and the audit of momentum.
#include <stdio.h>

#include "control/forces.h"
#include "control/plan.h"

// ---- words ---------------------------------------------------------------------------------------------------------

static const char *condition_words(carom_condition_kind kind) {
  switch (kind) {
    case CAROM_CONDITION_POSE:
      return "pose";
    case CAROM_CONDITION_POSITION:
      return "position";
    case CAROM_CONDITION_ROTATION:
      return "rotation";
    case CAROM_CONDITION_DIRECTION:
      return "direction";
    case CAROM_CONDITION_VELOCITY:
      return "velocity";
    case CAROM_CONDITION_RELATIVE_POSE:
      return "relative pose";
    case CAROM_CONDITION_RELATIVE_ROTATION:
      return "relative rotation";
    case CAROM_CONDITION_RELATIVE_REST:
      return "relative rest";
    case CAROM_CONDITION_PERIODIC:
      return "periodicity";
  }
  return "condition";
}

static const char *joint_unit(const carom_row_label *l) {
  static const char *const units[] = {"m", "rad", "m/s", "rad/s"};
  return units[l->b < 0 ? CAROM_JOINT_ROW_PLACE : l->b];
}

static void describe(const carom_plan *plan, const carom_row_label *l, double amount, char *text, size_t size) {
  const carom_model *m = plan->model;
  switch (l->kind) {
    case CAROM_ROW_MOTION:
      snprintf(text, size, "the motion of body '%s' at node %d lacks %.3g N s: the actuators cannot bring it",
               m->bodies[l->a].name, l->node, amount);
      break;
    case CAROM_ROW_UNIT:
      snprintf(text, size, "the rotation of body '%s' at node %d is off by %.3g", m->bodies[l->a].name, l->node,
               amount);
      break;
    case CAROM_ROW_TURN:
      snprintf(text, size, "body '%s' turns by more than 0.45 rad after node %d: give it more intervals or more time",
               m->bodies[l->a].name, l->node);
      break;
    case CAROM_ROW_JOINT:
      snprintf(text, size, "joint '%s' is apart by %.3g %s at node %d", plan->joints[l->a].name, amount, joint_unit(l),
               l->node);
      break;
    case CAROM_ROW_CONDITION:
      snprintf(text, size, "the %s condition on body '%s' at node %d is missed by %.3g",
               condition_words(plan->conditions[l->a].kind), m->bodies[plan->conditions[l->a].body].name, l->node,
               amount);
      break;
    case CAROM_ROW_CONTACT: {
      const int *body = plan->contacts[l->a].def.body;
      snprintf(text, size, "the planned contact of '%s' and '%s' at node %d is missed by %.3g",
               carom_body_name(m, body[0]), carom_body_name(m, body[1]), l->node, amount);
      break;
    }
    case CAROM_ROW_AVOIDANCE:
      snprintf(text, size, "bodies '%s' and '%s' overlap by %.3g m at node %d", carom_body_name(m, l->a),
               carom_body_name(m, l->b), amount, l->node);
      break;
    case CAROM_ROW_EVENT:
      snprintf(text, size, "the event at node %d lacks %.3g N s, or what it lets go does not come free", l->node,
               amount);
      break;
    case CAROM_ROW_PERIOD:
      snprintf(text, size, "body '%s' misses its place in the next period by %.3g", m->bodies[l->a].name, amount);
      break;
    case CAROM_ROW_RANGE:
      snprintf(text, size, "joint '%s' leaves its range at node %d (cosine off by %.3g)", plan->joints[l->a].name,
               l->node, amount);
      break;
    case CAROM_ROW_FOOT:
      snprintf(text, size, "the force of foot '%s' at node %d leaves its cone, by %.3g", plan->joints[l->a].name,
               l->node, amount);
      break;
    case CAROM_ROW_CLEARANCE:
      snprintf(text, size, "body '%s' is %.3g m too low at or after node %d",
               m->bodies[plan->clearances[l->a].body].name, amount, l->node);
      break;
    case CAROM_ROW_WORK:
      snprintf(text, size, "the work in interval %d is off by %.3g J", l->node, amount);
      break;
    case CAROM_ROW_TIME:
      snprintf(text, size, "the duration is off by %.3g s", amount);
      break;
  }
}

void carom_plan_diagnose(const carom_plan *plan, const double *g, carom_plan_report *report) {
  const carom_program *P = &plan->program;
  int row;
  carom_program_violation(P, P->x, g, &row, &report->violation);
  report->message[0] = '\0';
  if (row < 0) return;
  if (row >= P->m) {
    snprintf(report->message, sizeof report->message, "a variable leaves its bounds");
    return;
  }
  double amount = fmax(P->g_low[row] - g[row], g[row] - P->g_high[row]);
  describe(plan, &P->labels[row], amount, report->message, sizeof report->message);
}

// ---- momentum ------------------------------------------------------------------------------------------------------

static carom_vec3 moment(const carom_plan *plan, const carom_vec3 *x, const carom_vec3 *p, const carom_vec3 *l) {
  carom_vec3 sum = cm_zero3();
  for (int i = 0; i < plan->model->body_count; i++)
    if (!plan->model->bodies[i].fixed) sum = cm_add(sum, cm_add(cm_cross(x[i], p[i]), l[i]));
  return sum;
}

// Momenta at one end of interval k: those of the drift, with the half kick taken off (start) or put on (end).
static void end_momenta(const carom_plan *plan, int k, bool end, carom_vec3 *p, carom_vec3 *l) {
  const carom_path *path = &plan->path;
  size_t n = (size_t)plan->model->body_count, at = (size_t)(end ? k + 1 : k) * n;
  for (int i = 0; i < plan->model->body_count; i++) {
    p[i] = l[i] = cm_zero3();
    if (!plan->model->bodies[i].fixed) carom_path_momentum(plan, path, k, i, &p[i], &l[i]);
  }
  const double *tau = path->tau + (size_t)k * (size_t)carom_plan_components(plan);
  double dt = 0.5 * carom_plan_step(plan, k);
  carom_plan_kick(plan, tau, end ? dt : -dt, &(carom_kicked){path->x + at, path->q + at, p, l});
}

// Momenta that agree with the joints, where the plan has them; null elsewhere.
static const carom_vec3 *known_momenta(const carom_plan *plan, int node, bool after) {
  bool end = node == 0 || node == plan->path.K;
  return carom_plan_event_at(plan, node) || (plan->periodic.set && end) ? carom_node_block(plan, node, after) : NULL;
}

// Reactions kick once a node: half of that belongs to either side.
static void take_mean_with_end(const carom_plan *plan, int node, carom_state *state) {
  carom_state *other = plan->scratch;
  end_momenta(plan, node - 1, true, other->p, other->l);
  for (int i = 0; i < plan->model->body_count; i++)
    state->p[i] = cm_lerp(state->p[i], other->p[i], 0.5), state->l[i] = cm_lerp(state->l[i], other->l[i], 0.5);
}

void carom_plan_state(const carom_plan *plan, int node, bool after, carom_state *state) {
  const carom_path *path = &plan->path;
  size_t at = (size_t)node * (size_t)plan->model->body_count;
  for (int i = 0; i < plan->model->body_count; i++)
    state->x[i] = path->x[at + (size_t)i], state->q[i] = path->q[at + (size_t)i];
  bool start = node == 0 || (after && node < path->K);
  const carom_vec3 *known = known_momenta(plan, node, after);
  if (known)
    for (int i = 0; i < plan->model->body_count; i++) state->p[i] = known[2 * i], state->l[i] = known[2 * i + 1];
  else
    end_momenta(plan, start ? node : node - 1, !start, state->p, state->l);
  if (!known && plan->joint_count && node > 0 && node < path->K && !carom_plan_breaks_at(plan, node))
    take_mean_with_end(plan, node, state);
  state->time = carom_plan_time(plan, node);
  state->step = node;
}

// Sticking contacts keep their multipliers to themselves.
static bool sticks_before(const carom_plan *plan, int node) {
  for (int i = 0; i < plan->contact_count; i++)
    if (plan->contacts[i].def.impact == CAROM_PLANNED_STICK && plan->contacts[i].def.node < node) return true;
  return false;
}

// Moment about the origin of what a joint does to one of its bodies at a node (kinds.h: lambda pushes the second body,
// and the first the other way).
static carom_vec3 joint_moment(const carom_plan *plan, const carom_plan_joint *j, int node, int side) {
  size_t at = (size_t)node * (size_t)plan->model->body_count;
  const carom_vec3 *x = plan->path.x + at;
  const carom_quat *q = plan->path.q + at;
  const double *lambda = plan->path.lambda + (size_t)node * (size_t)carom_plan_multipliers(plan) + j->offset;
  int a = j->body[0], b = j->body[1], body = j->body[side];
  carom_vec3 point = cm_add(x[body], cm_rotate(q[body], side == 0 ? j->found : j->point[1]));
  carom_vec3 sum = cm_cross(point, cm_vec3(lambda[0], lambda[1], lambda[2]));
  for (int row = 3; row < j->rows; row++) {
    carom_vec3 t = cm_cross(cm_rotate(q[b], j->cross[row - 3]), cm_rotate(q[a], j->axis));
    sum = cm_axpy(sum, lambda[row], t);
  }
  return cm_scale(side == 1 ? 1 : -1, sum);
}

// What fixed bodies give through joints; between moving ones it adds up to nothing.
static carom_vec3 reaction(const carom_plan *plan, int node) {
  carom_vec3 sum = cm_zero3();
  for (int i = 0; i < plan->joint_count; i++)
    for (int side = 0; side < 2; side++)
      if (plan->model->bodies[plan->joints[i].body[1 - side]].fixed)
        sum = cm_add(sum, joint_moment(plan, &plan->joints[i], node, side));
  return sum;
}

// L at node k + 1 less L at node k, both as the intervals before them leave them, less the torque of the forces in
// interval k and what fixed bodies give at node k. At contacts, and after one that sticks, L is what the interval after
// begins with.
carom_vec3 carom_plan_momentum_defect(const carom_plan *plan, int k) {
  const carom_path *path = &plan->path;
  carom_state *s = plan->scratch;
  size_t n = (size_t)plan->model->body_count;
  const carom_vec3 *x0 = path->x + (size_t)k * n, *x1 = x0 + n;
  // An event hands over momenta that agree with the joints; the joints' own impulse there is part of the start.
  bool outgoing = k == 0 || carom_plan_breaks_at(plan, k) || sticks_before(plan, k);
  end_momenta(plan, outgoing ? k : k - 1, !outgoing, s->p, s->l);
  carom_vec3 before = moment(plan, x0, s->p, s->l);
  end_momenta(plan, k, true, s->p, s->l);
  carom_vec3 after = moment(plan, x1, s->p, s->l);
  for (size_t i = 0; i < n; i++) s->p[i] = s->l[i] = cm_zero3();
  const double *tau = path->tau + (size_t)k * (size_t)carom_plan_components(plan);
  double dt = 0.5 * carom_plan_step(plan, k);
  carom_plan_kick(plan, tau, dt, &(carom_kicked){x0, path->q + (size_t)k * n, s->p, s->l});
  carom_vec3 torque = moment(plan, x0, s->p, s->l);
  for (size_t i = 0; i < n; i++) s->p[i] = s->l[i] = cm_zero3();
  carom_plan_kick(plan, tau, dt, &(carom_kicked){x1, path->q + (size_t)(k + 1) * n, s->p, s->l});
  torque = cm_add(torque, moment(plan, x1, s->p, s->l));
  if (!outgoing) torque = cm_add(torque, reaction(plan, k));
  return cm_sub(cm_sub(after, before), torque);
}

double carom_plan_worst_defect(const carom_plan *plan) {
  double worst = 0;
  for (int k = 0; k < plan->path.K; k++) worst = fmax(worst, cm_norm(carom_plan_momentum_defect(plan, k)));
  return worst;
}

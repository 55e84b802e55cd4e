#include "control/forces.h"

static void push(const carom_plan_actuator *u, carom_vec3 f, carom_vec3 t, bool turn, const carom_quat *q, double dt,
                 carom_vec3 *p, carom_vec3 *l) {
  int i = u->def.body;
  if (turn) f = cm_rotate(q[i], f), t = cm_rotate(q[i], t);
  p[i] = cm_axpy(p[i], dt, f);
  l[i] = cm_axpy(l[i], dt, cm_add(t, cm_cross(cm_rotate(q[i], u->def.point), f)));
}

static void twist_joint(const carom_plan *plan, const carom_plan_actuator *u, const double *tau, const carom_quat *q,
                        double dt, carom_vec3 *l) {
  const carom_plan_joint *j = &plan->joints[u->def.joint];
  carom_vec3 t = j->kind == CAROM_PLAN_REVOLUTE ? cm_scale(tau[0], cm_rotate(q[j->body[0]], j->axis))
                                                : cm_vec3(tau[0], tau[1], tau[2]);
  l[j->body[0]] = cm_axpy(l[j->body[0]], -dt, t);
  l[j->body[1]] = cm_axpy(l[j->body[1]], dt, t);
}

void carom_plan_kick(const carom_plan *plan, const double *tau, const carom_vec3 *x, const carom_quat *q, double dt,
                     carom_vec3 *p, carom_vec3 *l) {
  if (plan->penalty_count) carom_plan_penalty_kick(plan, x, q, dt, p, l);
  for (int i = 0; i < plan->model->body_count; i++)
    if (!plan->model->bodies[i].fixed) p[i] = cm_axpy(p[i], dt * plan->model->bodies[i].mass, plan->model->gravity);
  for (int i = 0; i < plan->actuator_count; i++) {
    const carom_plan_actuator *u = &plan->actuators[i];
    const double *t = tau + u->offset;
    if (u->def.kind == CAROM_ACTUATOR_JOINT) twist_joint(plan, u, t, q, dt, l);
    if (u->def.kind == CAROM_ACTUATOR_THRUSTER)
      push(u, cm_scale(t[0], u->def.direction), cm_zero3(), true, q, dt, p, l);
    if (u->def.kind != CAROM_ACTUATOR_WRENCH) continue;
    carom_vec3 f = cm_zero3(), c = cm_zero3();
    if (!u->def.no_force) f = cm_vec3(t[0], t[1], t[2]), t += 3;
    if (!u->def.no_torque) c = cm_vec3(t[0], t[1], t[2]);
    push(u, f, c, u->def.body_axes, q, dt, p, l);
  }
}

#include "control/forces.h"

typedef struct wrench {
  carom_vec3 force, torque;
  bool body_axes;
} wrench;

static void push(const carom_plan_actuator *u, wrench w, double dt, const carom_kicked *on) {
  int i = u->def.body;
  carom_quat q = on->q[i];
  if (w.body_axes) w.force = cm_rotate(q, w.force), w.torque = cm_rotate(q, w.torque);
  on->p[i] = cm_axpy(on->p[i], dt, w.force);
  on->l[i] = cm_axpy(on->l[i], dt, cm_add(w.torque, cm_cross(cm_rotate(q, u->def.point), w.force)));
}

static void twist_joint(const carom_plan *plan, const carom_plan_actuator *u, const double *tau, const carom_quat *q,
                        double dt, carom_vec3 *l) {
  const carom_plan_joint *j = &plan->joints[u->def.joint];
  carom_vec3 t = j->kind == CAROM_PLAN_REVOLUTE ? cm_scale(tau[0], cm_rotate(q[j->body[0]], j->axis))
                                                : cm_vec3(tau[0], tau[1], tau[2]);
  l[j->body[0]] = cm_axpy(l[j->body[0]], -dt, t);
  l[j->body[1]] = cm_axpy(l[j->body[1]], dt, t);
}

void carom_plan_kick(const carom_plan *plan, const double *tau, double dt, const carom_kicked *on) {
  const carom_body *bodies = plan->model->bodies;
  if (plan->penalty_count) carom_plan_penalty_kick(plan, on->x, on->q, dt, on->p, on->l);
  for (int i = 0; i < plan->model->body_count; i++)
    if (!bodies[i].fixed) on->p[i] = cm_axpy(on->p[i], dt * bodies[i].mass, plan->model->gravity);
  for (int i = 0; i < plan->actuator_count; i++) {
    const carom_plan_actuator *u = &plan->actuators[i];
    const double *t = tau + u->offset;
    if (u->def.kind == CAROM_ACTUATOR_JOINT) twist_joint(plan, u, t, on->q, dt, on->l);
    if (u->def.kind == CAROM_ACTUATOR_THRUSTER)
      push(u, (wrench){cm_scale(t[0], u->def.direction), cm_zero3(), true}, dt, on);
    if (u->def.kind != CAROM_ACTUATOR_WRENCH) continue;
    wrench w = {cm_zero3(), cm_zero3(), u->def.body_axes};
    if (!u->def.no_force) w.force = cm_vec3(t[0], t[1], t[2]), t += 3;
    if (!u->def.no_torque) w.torque = cm_vec3(t[0], t[1], t[2]);
    push(u, w, dt, on);
  }
}

// How feet stand and swing in a motion that was planned.
#include "control/plan.h"

static void look(const carom_plan_joint *j, carom_vec3 push, bool force, carom_plan_feet *out) {
  double normal = cm_dot(push, j->normal), across = cm_norm(cm_axpy(push, -normal, j->normal));
  if (force) out->least_push = fmin(out->least_push, normal);
  out->steepest = fmax(out->steepest, normal > 0 ? across / normal : INFINITY);
}

static void look_at_joint(const carom_plan *plan, int number, carom_plan_feet *out) {
  const carom_plan_joint *j = &plan->joints[number];
  for (int k = 0; k <= plan->path.K; k++) {
    bool before = k > 0 && carom_joint_holds(plan, j, k - 1);
    bool after = k < plan->path.K && carom_joint_holds(plan, j, k);
    if (before || after) look(j, carom_plan_joint_force(plan, k, number), true, out);
  }
  for (int i = 0; i < plan->event_count; i++) {
    carom_vec3 impulse = carom_plan_event_impulse(plan, i, number);
    if (cm_norm(impulse) > 0) look(j, impulse, false, out);
  }
}

// The height of the point over what is asked for, a share of interval k on.
static double height(const carom_plan *plan, const carom_clearance_def *c, int k, double share) {
  size_t n = (size_t)plan->model->body_count, at = (size_t)k * n + (size_t)c->body;
  carom_pose pose = carom_guess_between(cm_pose(plan->path.x[at], plan->path.q[at]),
                                        cm_pose(plan->path.x[at + n], plan->path.q[at + n]), share);
  double along = (k + share - c->from) / (carom_plan_resolve_node(plan, c->until) - c->from);
  double asked = c->offset + c->bump * sin(3.14159265358979323846 * along);
  return cm_dot(c->normal, cm_transform(pose, c->point)) - asked;
}

carom_plan_feet carom_plan_find_feet(const carom_plan *plan) {
  enum { PLACES = 8 };
  carom_plan_feet out = {.least_push = INFINITY, .clearance = INFINITY};
  for (int i = 0; i < plan->joint_count; i++) {
    if (cm_norm(plan->joints[i].normal) == 0) continue;
    out.count++;
    look_at_joint(plan, i, &out);
  }
  for (int i = 0; i < plan->clearance_count; i++) {
    const carom_clearance_def *c = &plan->clearances[i];
    for (int k = c->from; k < carom_plan_resolve_node(plan, c->until); k++)
      for (int s = 0; s < PLACES; s++) out.clearance = fmin(out.clearance, height(plan, c, k, (double)s / PLACES));
  }
  return out;
}

#include "model/joints.h"

#include <math.h>

#include "base/memory.h"
#include "model/joints_parts.h"

enum { ROWS = CAROM_JOINT_ROWS };

carom_status carom_joints_create(const carom_model *model, const carom_allocator *allocator, carom_joints **joints,
                                 carom_error *error) {
  carom_allocator a = carom_allocator_or_default(allocator);
  carom_joints *j = CAROM_NEW(&a, carom_joints, 1);
  double *rates = CAROM_NEW(&a, double, model->joint_count *ROWS);
  if (!j || !rates) {
    CAROM_RELEASE_ALL(&a, j, rates);
    return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for %d joints", model->joint_count);
  }
  *j = (carom_joints){.model = model, .allocator = a, .rates = rates};
  carom_status status = carom_joint_system_create(model, &a, &j->system, error);
  if (status != CAROM_OK) {
    carom_joints_destroy(j);
    return status;
  }
  *joints = j;
  return CAROM_OK;
}

void carom_joints_destroy(carom_joints *joints) {
  if (!joints) return;
  carom_allocator a = joints->allocator;
  carom_joint_system_destroy(joints->system);
  CAROM_RELEASE_ALL(&a, joints->rates, joints);
}

// ---- momenta -------------------------------------------------------------------------------------------------------

carom_status carom_joints_project(carom_joints *joints, const carom_state *state, carom_vec3 *p, carom_vec3 *l,
                                  double *impulses, carom_error *error) {
  carom_status status = carom_joint_system_prepare(joints->system, state, error);
  if (status == CAROM_OK) carom_joint_system_project(joints->system, state, NULL, p, l, impulses);
  return status;
}

carom_status carom_joints_impose(carom_joints *joints, carom_state *state, double time, double *impulses,
                                 carom_error *error) {
  const carom_model *m = joints->model;
  for (int i = 0; i < m->joint_count; i++) carom_joint_rates(m, &m->joints[i], time, joints->rates + i * ROWS);
  carom_status status = carom_joint_system_prepare(joints->system, state, error);
  if (status == CAROM_OK)
    carom_joint_system_project(joints->system, state, joints->rates, state->p, state->l, impulses);
  return status;
}

// ---- what the multipliers mean -------------------------------------------------------------------------------------

carom_joint_impulse carom_joints_reaction(const carom_model *model, const carom_state *state, int joint,
                                          const double *impulses) {
  carom_row rows[ROWS];
  const carom_joint *j = &model->joints[joint];
  carom_joint_impulse sum = {cm_zero3(), cm_zero3()};
  carom_joint_equations(model, state, joint, 0, NULL, rows);
  for (int i = 0; i < carom_joint_row_count(j); i++) {
    sum.linear = cm_axpy(sum.linear, impulses[joint * ROWS + i], rows[i].linear[1]);
    sum.angular = cm_axpy(sum.angular, impulses[joint * ROWS + i], rows[i].angular[1]);
  }
  carom_joint_place place = carom_joint_placed(j, &state->joints[joint], state);
  sum.angular = cm_sub(sum.angular, cm_cross(cm_sub(place.r[1], place.x[1]), sum.linear));
  return sum;
}

static bool moves(const carom_model *model, int body) { return body != CAROM_WORLD && !model->bodies[body].fixed; }

// What the ground gives a moving body through a joint: rows times impulses (row_count each), the moment about the world
// origin. Nothing for joints between moving bodies.
static void add_external(const carom_model *model, const carom_state *state, const carom_joint *joint,
                         const carom_row *rows, const double *impulses, carom_joint_impulse *sum) {
  if (moves(model, joint->body[0]) && moves(model, joint->body[1])) return;
  int end = moves(model, joint->body[1]) ? 1 : 0;
  for (int i = 0; i < carom_joint_row_count(joint); i++) {
    carom_vec3 f = cm_scale(impulses[i], rows[i].linear[end]), t = cm_scale(impulses[i], rows[i].angular[end]);
    sum->linear = cm_add(sum->linear, f);
    sum->angular = cm_add(sum->angular, cm_add(t, cm_cross(state->x[joint->body[end]], f)));
  }
}

carom_joint_impulse carom_joints_external(const carom_model *model, const carom_state *state, const double *impulses) {
  carom_row rows[ROWS];
  carom_joint_impulse sum = {cm_zero3(), cm_zero3()};
  for (int i = 0; i < model->joint_count; i++) {
    if (!carom_joint_acts(model, state, i)) continue;
    carom_joint_equations(model, state, i, 0, NULL, rows);
    add_external(model, state, &model->joints[i], rows, impulses + i * ROWS, &sum);
  }
  return sum;
}

double carom_joints_motor_work(const carom_model *model, const carom_state *state, double time,
                               const double *impulses) {
  double work = 0, rates[ROWS];
  for (int i = 0; i < model->joint_count; i++) {
    if (!carom_joint_acts(model, state, i)) continue;
    carom_joint_rates(model, &model->joints[i], time, rates);
    for (int row = 0; row < carom_joint_row_count(&model->joints[i]); row++)
      work += rates[row] * impulses[i * ROWS + row];
  }
  return work;
}

// ---- drift ---------------------------------------------------------------------------------------------------------

bool carom_joints_any(const carom_model *model, const carom_state *state) {
  for (int i = 0; i < model->joint_count; i++)
    if (carom_joint_acts(model, state, i)) return true;
  return false;
}

// What an angle is measured by: the smaller of the bodies' radii; a body without a shape counts by its arm to the
// joint.
static double size_of(const carom_model *model, const carom_joint *joint, const carom_joint_state *record) {
  double size = INFINITY;
  for (int end = 0; end < 2; end++) {
    if (!moves(model, joint->body[end])) continue;
    double radius = model->bodies[joint->body[end]].bounding_radius, arm = cm_norm(record->frame[end].p);
    size = fmin(size, fmax(radius, arm));
  }
  return isfinite(size) && size > 0 ? size : 1;
}

double carom_joints_drift_at(const carom_model *model, const carom_state *state, double time) {
  double worst = 0, g[ROWS];
  for (int i = 0; i < model->joint_count; i++) {
    const carom_joint *j = &model->joints[i];
    if (!carom_joint_acts(model, state, i)) continue;
    carom_joint_equations(model, state, i, time, g, NULL);
    for (int row = 0; row < carom_joint_row_count(j); row++) {
      double size = carom_joint_row_is_angle(j, row) ? size_of(model, j, &state->joints[i]) : 1;
      double drift = size * fabs(g[row]);
      if (!(drift <= worst)) worst = drift;  // lets a NaN in
    }
  }
  return worst;
}

double carom_joints_drift(const carom_model *model, const carom_state *state) {
  return carom_joints_drift_at(model, state, state->time);
}

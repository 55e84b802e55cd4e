// The motion of a plan, with the torques of its motors, as a period of a gait.
#include <string.h>

#include "base/memory.h"
#include "carom/result.h"
#include "result/plan.h"

typedef struct reading {
  const char *path;
  const carom_model *model;
  carom_result *result;
  int *body;  // (bodies of the model) where in the result; -1: not there
  double *times, *torques;
  carom_pose *poses;
  carom_allocator allocator;
} reading;

static int find_body(const carom_result *result, const char *name) {
  for (int i = 0; i < result->body_count; i++)
    if (strcmp(result->bodies[i].name, name) == 0) return i;
  return -1;
}

static carom_status match_bodies(const reading *r, carom_error *error) {
  for (int i = 0; i < r->model->body_count; i++) {
    r->body[i] = find_body(r->result, r->model->bodies[i].name);
    if (r->body[i] < 0 && !r->model->bodies[i].fixed)
      return carom_fail(error, CAROM_ERR_ARGUMENT,
                        "'%.300s' has no body '%.80s': a gait is planned for the bodies that follow it", r->path,
                        r->model->bodies[i].name);
  }
  return CAROM_OK;
}

static carom_status read_poses(const reading *r, carom_error *error) {
  carom_frame frame = {0};
  size_t n = (size_t)r->model->body_count;
  carom_status status = carom_frame_init(r->result, &frame, error);
  if (status != CAROM_OK) return status;
  for (int k = 0; k < r->result->frame_count && status == CAROM_OK; k++) {
    status = carom_result_read_frame(r->result, k, &frame, error);
    r->times[k] = frame.time;
    for (size_t i = 0; i < n && status == CAROM_OK; i++)
      r->poses[(size_t)k * n + i] = r->body[i] < 0 ? cm_pose_identity() : frame.poses[r->body[i]];
  }
  carom_frame_release(&frame);
  return status;
}

// A motor's torque is told along axes of the body that it pushes against, where the joint has one of its two ends.
static double torque_in(const reading *r, const carom_joint *joint, const carom_result_actuator *u, carom_vec3 torque) {
  if (joint->body[0] < 0 || joint->body[1] < 0 || u->axes < 0) return 0;
  int a = r->body[joint->body[0]], b = r->body[joint->body[1]];
  bool same = u->reaction == a && u->body == b, turned = u->reaction == b && u->body == a;
  if (!same && !turned) return 0;
  int end = same ? 0 : 1;
  carom_vec3 axis = cm_rotate(joint->frame[end].q, cm_vec3(0, 0, 1));
  axis = cm_unrotate(r->model->bodies[joint->body[end]].frame.q, axis);
  return (same ? 1 : -1) * cm_dot(torque, axis);
}

static void read_torques(const reading *r) {
  const carom_result_plan *p = r->result->plan;
  for (int k = 0; k < p->interval_count; k++)
    for (int j = 0; j < r->model->joint_count; j++)
      for (int i = 0; i < p->actuator_count; i++)
        r->torques[k * r->model->joint_count + j] +=
            torque_in(r, &r->model->joints[j], &p->actuators[i], p->torques[k * p->actuator_count + i]);
}

static carom_status read_all(reading *r, carom_gait_motion **motion, carom_error *error) {
  const carom_result *result = r->result;
  if (!result->plan || result->frame_count != result->plan->interval_count + 1)
    return carom_fail(error, CAROM_ERR_ARGUMENT,
                      "'%.300s' is not the result of a plan that ended: make it by carom plan", r->path);
  size_t nodes = (size_t)result->frame_count, bodies = (size_t)r->model->body_count;
  if (!CAROM_NEW_ALL(&r->allocator, CAROM_ROOM(r->body, bodies), CAROM_ROOM(r->times, nodes),
                     CAROM_ROOM(r->poses, nodes * bodies),
                     CAROM_ROOM(r->torques, nodes * (size_t)r->model->joint_count)))
    return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for a motion of %zu nodes", nodes);
  carom_status status = match_bodies(r, error);
  if (status == CAROM_OK) status = read_poses(r, error);
  if (status != CAROM_OK) return status;
  read_torques(r);
  carom_gait_motion_def def = {
      .nodes = result->frame_count, .times = r->times, .poses = r->poses, .torques = r->torques};
  return carom_gait_motion_create(&def, r->model, &r->allocator, motion, error);
}

carom_status carom_gait_motion_read(const char *path, const carom_model *model, const carom_allocator *allocator,
                                    carom_gait_motion **motion, carom_error *error) {
  reading r = {.path = path, .model = model, .allocator = carom_allocator_or_default(allocator)};
  *motion = NULL;
  carom_status status = carom_result_open(path, allocator, &r.result, error);
  if (status != CAROM_OK) return status;
  status = read_all(&r, motion, error);
  CAROM_RELEASE_ALL(&r.allocator, r.body, r.times, r.poses, r.torques);
  carom_result_close(r.result);
  return status;
}

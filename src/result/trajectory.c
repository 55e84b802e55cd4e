// Recorded motions as references.
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "carom/result.h"
#include "control/trajectory.h"

static void read_knot(const carom_result_body *body, const carom_frame *frame, int index, carom_trajectory_knot *knot) {
  carom_pose pose = frame->poses[index];
  knot->time = frame->time;
  knot->x = cm_transform(pose, body->center);
  knot->q = pose.q;
  for (int side = 0; side < 2; side++) {
    knot->way[side].rate = frame->velocities[index];
    knot->spin[side].rate = cm_unrotate(pose.q, frame->angular_velocities[index]);
  }
}

// Frames are written after what happens at their moment: before it, the velocities were less by the impulse.
static void undo_impulse(const carom_result_body *body, const carom_contact_event *event, double sign,
                         carom_trajectory_knot *knot) {
  carom_vec3 impulse = cm_scale(sign, event->impulse), turn;
  carom_vec3 moment = cm_unrotate(knot->q, cm_cross(cm_sub(event->point, knot->x), impulse));
  knot->way[0].rate = cm_axpy(knot->way[0].rate, -1 / body->mass, impulse);
  if (cm_solve3(body->inertia, moment, &turn)) knot->spin[0].rate = cm_sub(knot->spin[0].rate, turn);
  knot->jumps = true;
}

static void undo_events(const carom_result *result, int index, carom_trajectory_knot *knot) {
  for (int i = 0; i < result->event_count; i++) {
    const carom_contact_event *event = &result->events[i];
    if (fabs(event->time - knot->time) > 1e-9) continue;
    if (event->body_a == index) undo_impulse(&result->bodies[index], event, 1, knot);
    if (event->body_b == index) undo_impulse(&result->bodies[index], event, -1, knot);
  }
}

static carom_status check_body(const carom_result *result, int body, carom_error *error) {
  if (body < 0 || body >= result->body_count)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "body %d is none of the %d of the result", body, result->body_count);
  if (result->bodies[body].fixed)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "body '%s' is fixed: there is no motion of it to follow",
                      result->bodies[body].name);
  if (result->frame_count < 2)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "the result has %d frames: a motion to follow needs two or more",
                      result->frame_count);
  return CAROM_OK;
}

static carom_status read_knots(carom_result *result, int body, carom_frame *frame, carom_trajectory_knot *knots,
                               carom_error *error) {
  for (int i = 0; i < result->frame_count; i++) {
    carom_status status = carom_result_read_frame(result, i, frame, error);
    if (status != CAROM_OK) return status;
    read_knot(&result->bodies[body], frame, body, &knots[i]);
    undo_events(result, body, &knots[i]);
  }
  carom_trajectory_accelerate(result->frame_count, knots);
  return CAROM_OK;
}

carom_status carom_trajectory_create_result(carom_result *result, int body, const carom_allocator *allocator,
                                            carom_trajectory **trajectory, carom_error *error) {
  *trajectory = NULL;
  carom_status status = check_body(result, body, error);
  if (status != CAROM_OK) return status;
  carom_allocator a = carom_allocator_or_default(allocator);
  carom_frame frame = {0};
  carom_trajectory_knot *knots = CAROM_NEW(&a, carom_trajectory_knot, result->frame_count);
  if (!knots) return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for %d frames", result->frame_count);
  status = carom_frame_init(result, &frame, error);
  if (status == CAROM_OK) {
    status = read_knots(result, body, &frame, knots, error);
    carom_frame_release(&frame);
  }
  if (status == CAROM_OK) status = carom_trajectory_through(result->frame_count, knots, &a, trajectory, error);
  carom_release(&a, knots);
  return status;
}

static int find_body(const carom_result *result, const char *name) {
  for (int i = 0; i < result->body_count; i++)
    if (strcmp(result->bodies[i].name, name) == 0) return i;
  return -1;
}

carom_status carom_trajectory_read(const char *path, const char *body, const carom_allocator *allocator,
                                   carom_trajectory **trajectory, carom_error *error) {
  carom_result *result = NULL;
  *trajectory = NULL;
  carom_status status = carom_result_open(path, allocator, &result, error);
  if (status != CAROM_OK) return status;
  int index = find_body(result, body);
  if (index < 0) status = carom_fail(error, CAROM_ERR_ARGUMENT, "'%.300s' has no body '%.80s'", path, body);
  if (status == CAROM_OK) status = carom_trajectory_create_result(result, index, allocator, trajectory, error);
  carom_result_close(result);
  return status;
}

// What sensors tell of a state, and of the step that led to it.
#include <math.h>
#include <string.h>

#include "carom/collide.h"
#include "carom/mechanics.h"
#include "control/loop.h"

// ---- what makes sense -----------------------------------------------------------------------------------------------

static bool is_of_joint(carom_sensor_kind kind) { return kind == CAROM_SENSOR_JOINT || kind == CAROM_SENSOR_REACTION; }

static carom_status check_body(const carom_loop *loop, const carom_sensor_def *s, int body, carom_error *error) {
  if (body >= 0 && body < loop->model->body_count) return CAROM_OK;
  return carom_fail(error, CAROM_ERR_ARGUMENT, "sensor '%.80s': body index %d, but there are %d bodies", s->name, body,
                    loop->model->body_count);
}

static carom_status check_gap(const carom_loop *loop, const carom_sensor_def *s, carom_error *error) {
  const carom_model *m = loop->model;
  if (s->other == s->body)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "sensor '%.80s': the gap of body '%.80s' to itself", s->name,
                      m->bodies[s->body].name);
  for (int end = 0; end < 2; end++) {
    const carom_body *body = &m->bodies[end == 0 ? s->body : s->other];
    if (body->part_count == 0)
      return carom_fail(error, CAROM_ERR_ARGUMENT,
                        "sensor '%.80s': body '%.80s' has no shape, so there is no gap to it", s->name, body->name);
  }
  return CAROM_OK;
}

carom_status carom_sensor_check(const carom_loop *loop, const carom_sensor_def *s, carom_error *error) {
  if (!s->name[0]) return carom_fail(error, CAROM_ERR_ARGUMENT, "a sensor has no name");
  if (is_of_joint(s->kind)) {
    if (s->joint >= 0 && s->joint < loop->model->joint_count) return CAROM_OK;
    return carom_fail(error, CAROM_ERR_ARGUMENT, "sensor '%.80s': joint index %d, but there are %d joints", s->name,
                      s->joint, loop->model->joint_count);
  }
  if (s->kind == CAROM_SENSOR_GAIT)
    return s->gait ? CAROM_OK
                   : carom_fail(error, CAROM_ERR_ARGUMENT, "sensor '%.80s' follows a gait, but has none", s->name);
  if (!cm_finite(s->point))
    return carom_fail(error, CAROM_ERR_NUMBER, "sensor '%.80s': its point is not finite", s->name);
  carom_status status = check_body(loop, s, s->body, error);
  if (status == CAROM_OK && (s->other != CAROM_WORLD || s->kind == CAROM_SENSOR_GAP))
    status = check_body(loop, s, s->other, error);
  return status == CAROM_OK && s->kind == CAROM_SENSOR_GAP ? check_gap(loop, s, error) : status;
}

// ---- poses and velocities -------------------------------------------------------------------------------------------

static double *put3(double *to, carom_vec3 v) {
  to[0] = v.x, to[1] = v.y, to[2] = v.z;
  return to + 3;
}

static double *put3_and_size(double *to, carom_vec3 v) {
  to = put3(to, v);
  *to = cm_norm(v);
  return to + 1;
}

static carom_pose frame_of(const carom_loop *loop, const carom_state *state, int body) {
  return body == CAROM_WORLD ? cm_pose_identity() : carom_state_pose(loop->model, state, body);
}

static void sense_pose(const carom_loop *loop, const carom_state *state, const carom_sensor *s, double *to) {
  carom_pose pose = carom_state_pose(loop->model, state, s->def.body);
  pose.p = cm_transform(pose, s->def.point);
  pose = cm_compose(cm_pose_inverse(frame_of(loop, state, s->def.other)), pose);
  carom_quat q = pose.q.w < 0 ? cm_quat(-pose.q.w, -pose.q.x, -pose.q.y, -pose.q.z) : pose.q;
  to = put3(to, pose.p);
  to[0] = q.w, to[1] = q.x, to[2] = q.y, to[3] = q.z;
  to[4] = 2 * atan2(cm_norm(cm_vec3(q.x, q.y, q.z)), q.w);
  to[5] = atan2(2 * (q.w * q.z + q.x * q.y), 1 - 2 * (q.y * q.y + q.z * q.z));
}

// Of a body as it moves by itself or as it is driven.
static void motion_of(const carom_loop *loop, const carom_state *state, int body, carom_vec3 *v, carom_vec3 *w) {
  *v = *w = cm_zero3();
  if (body == CAROM_WORLD) return;
  if (loop->model->bodies[body].fixed) {
    carom_model_motion(loop->model, body, state->time, loop->step, v, w);
    return;
  }
  *v = carom_state_velocity(loop->model, state, body);
  *w = carom_state_angular_velocity(loop->model, state, body);
}

static carom_vec3 velocity_at(const carom_loop *loop, const carom_state *state, int body, carom_vec3 point) {
  carom_vec3 v, w;
  if (body == CAROM_WORLD) return cm_zero3();
  motion_of(loop, state, body, &v, &w);
  return cm_add(v, cm_cross(w, cm_sub(point, state->x[body])));
}

static void sense_velocity(const carom_loop *loop, const carom_state *state, const carom_sensor *s, double *to) {
  carom_vec3 unused, w, w_other;
  carom_quat axes = frame_of(loop, state, s->def.other).q;
  carom_vec3 point = cm_transform(carom_state_pose(loop->model, state, s->def.body), s->def.point);
  carom_vec3 v = cm_sub(velocity_at(loop, state, s->def.body, point), velocity_at(loop, state, s->def.other, point));
  motion_of(loop, state, s->def.body, &unused, &w);
  motion_of(loop, state, s->def.other, &unused, &w_other);
  to = put3_and_size(to, cm_unrotate(axes, v));
  put3_and_size(to, cm_unrotate(axes, cm_sub(w, w_other)));
}

static void sense_joint(const carom_loop *loop, const carom_state *state, const carom_sensor *s, double *to) {
  carom_joint_motion motion = carom_state_joint(loop->model, state, s->def.joint);
  const double all[] = {motion.turn, motion.turn_rate, motion.slide, motion.slide_rate};
  bool turns = strcmp(loop->channels[s->first].unit, "rad") == 0;
  for (int k = 0; k < s->count; k++) to[k] = all[k + (turns ? 0 : 2)];
}

// ---- gaps -----------------------------------------------------------------------------------------------------------

static carom_placed placed(const carom_model *m, const carom_state *state, int body, int part) {
  const carom_part *p = &m->parts[m->bodies[body].part_start + part];
  return (carom_placed){p->shape, cm_compose(cm_pose(state->x[body], state->q[body]), p->pose)};
}

// No less than this: of balls around the shapes.
static double least_gap(const carom_placed *a, const carom_placed *b) {
  double radii = carom_shape_bounding_radius(a->shape) + carom_shape_bounding_radius(b->shape);
  return isfinite(radii) ? cm_norm(cm_sub(a->pose.p, b->pose.p)) - radii : -INFINITY;
}

static carom_status sense_gap(const carom_loop *loop, const carom_state *state, const carom_sensor *s, double *to,
                              carom_error *error) {
  const carom_model *m = loop->model;
  double gap = INFINITY;
  for (int i = 0; i < m->bodies[s->def.body].part_count; i++)
    for (int j = 0; j < m->bodies[s->def.other].part_count; j++) {
      carom_distance_result d;
      carom_placed a = placed(m, state, s->def.body, i), b = placed(m, state, s->def.other, j);
      if (least_gap(&a, &b) >= gap) continue;
      carom_status status = carom_distance(&a, &b, NULL, &d);
      if (status != CAROM_OK)
        return carom_fail(error, status, "sensor '%.80s': the gap could not be found at t = %.9g s", s->def.name,
                          state->time);
      gap = fmin(gap, d.distance);
    }
  *to = gap;
  return CAROM_OK;
}

carom_status carom_sense_state(carom_loop *loop, const carom_state *state, carom_error *error) {
  carom_status status = CAROM_OK;
  loop->values[0] = state->time;
  for (int i = 0; i < loop->sensor_count && status == CAROM_OK; i++) {
    const carom_sensor *s = &loop->sensors[i];
    double *to = loop->values + s->first;
    if (s->def.kind == CAROM_SENSOR_POSE) sense_pose(loop, state, s, to);
    if (s->def.kind == CAROM_SENSOR_VELOCITY) sense_velocity(loop, state, s, to);
    if (s->def.kind == CAROM_SENSOR_JOINT && s->count > 0) sense_joint(loop, state, s, to);
    if (s->def.kind == CAROM_SENSOR_GAP) status = sense_gap(loop, state, s, to, error);
    if (s->def.kind == CAROM_SENSOR_GAIT) carom_gait_sense(s->gait, state, to);
  }
  return status;
}

// ---- what a step did ------------------------------------------------------------------------------------------------

static bool is_between(const carom_contact_event *e, const carom_sensor_def *s, int end) {
  int own = end == 0 ? e->body_a : e->body_b, partner = end == 0 ? e->body_b : e->body_a;
  return own == s->body && (s->other == CAROM_WORLD || partner == s->other);
}

static void sense_contact(const carom_sensor *s, const carom_step_report *report, double *to) {
  carom_vec3 impulse = cm_zero3();
  int touches = 0;
  for (int i = 0; report && i < report->event_count; i++)
    for (int end = 0; end < 2; end++)
      if (is_between(&report->events[i], &s->def, end)) {
        impulse = cm_axpy(impulse, end == 0 ? 1 : -1, report->events[i].impulse);
        touches++;
      }
  to = put3_and_size(to, report ? cm_scale(1 / report->step, impulse) : cm_zero3());
  *to = touches;
  for (int k = -4; k <= 0 && report && report->untold > 0; k++) to[k] = NAN;
}

static void put_reaction(const carom_loop *loop, const carom_sensor *s, double *to) {
  const carom_joint_load *load = &loop->loads[s->def.joint];
  to = put3_and_size(to, load->force);
  put3_and_size(to, load->moment);
}

carom_status carom_sense_step(carom_loop *loop, const carom_state *state, const carom_step_report *report,
                              carom_error *error) {
  carom_status status = CAROM_OK;
  if (loop->reacts) memset(loop->loads, 0, (size_t)loop->model->joint_count * sizeof *loop->loads);
  if (loop->reacts && report && loop->before->time < state->time)
    status = carom_reactions_find(loop->reactions, loop->before, state, report, loop->loads, error);
  for (int i = 0; i < loop->sensor_count && status == CAROM_OK; i++) {
    const carom_sensor *s = &loop->sensors[i];
    if (s->def.kind == CAROM_SENSOR_CONTACT) sense_contact(s, report, loop->values + s->first);
    if (s->def.kind == CAROM_SENSOR_REACTION) put_reaction(loop, s, loop->values + s->first);
    if (s->def.kind == CAROM_SENSOR_GAIT) carom_gait_strike(s->gait, state, report, loop->values + s->first);
  }
  memcpy(loop->values + loop->first_input, state->inputs, (size_t)state->input_size * sizeof *state->inputs);
  return status;
}

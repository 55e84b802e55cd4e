// Joints gained and lost, and their limits.
#include <math.h>

#include "model/joints.h"

static bool joins(const carom_joint *joint, int a, int b) {
  return (joint->body[0] == a && joint->body[1] == b) || (joint->body[0] == b && joint->body[1] == a);
}

// ---- latches
// ---------------------------------------------------------------------------------------------------------

// Velocity of a point of the world that moves with a body.
static carom_vec3 velocity_at(const carom_model *model, const carom_state *state, int body, carom_vec3 point) {
  carom_vec3 arm = cm_sub(point, state->x[body]);
  return cm_add(carom_state_velocity(model, state, body),
                cm_cross(carom_state_angular_velocity(model, state, body), arm));
}

static double turn_between(carom_quat a, carom_quat b) {
  carom_quat q = cm_qmul(cm_qconj(a), b);
  return 2 * atan2(cm_norm(cm_vec3(q.x, q.y, q.z)), fabs(q.w));
}

bool carom_joints_seated(const carom_model *model, const carom_state *state, int joint) {
  const carom_joint *j = &model->joints[joint];
  if (!(j->seat.position > 0)) return true;
  carom_pose on = carom_state_pose(model, state, j->body[0]), body = carom_state_pose(model, state, j->body[1]);
  carom_pose seat = cm_compose(on, j->seat.pose);
  if (!(cm_norm(cm_sub(body.p, seat.p)) <= j->seat.position)) return false;
  if (!(turn_between(seat.q, body.q) <= j->seat.angle)) return false;
  carom_vec3 speed =
      cm_sub(velocity_at(model, state, j->body[1], body.p), velocity_at(model, state, j->body[0], body.p));
  return cm_norm(speed) <= j->seat.speed;
}

int carom_joints_find_latch(const carom_model *model, const carom_state *state, int body_a, int body_b,
                            carom_vec3 point) {
  int found = -1;
  double nearest = INFINITY;
  for (int i = 0; i < model->joint_count; i++) {
    const carom_joint *joint = &model->joints[i];
    if (!joint->latch || state->joints[i].active || !joins(joint, body_a, body_b)) continue;
    if (!carom_joints_seated(model, state, i)) continue;
    carom_pose body = carom_body_place(state, joint->body[1]);
    double distance = cm_norm(cm_sub(cm_transform(body, joint->frame[1].p), point));
    if (distance < nearest) nearest = distance, found = i;
  }
  return found;
}

// One frame in the world, seen from both bodies: at the contact for joints that turn, else where body 0 has it.
void carom_joints_gain(const carom_model *model, carom_state *state, int joint, carom_vec3 point) {
  const carom_joint *j = &model->joints[joint];
  carom_joint_state *record = &state->joints[joint];
  carom_pose world = cm_compose(carom_body_place(state, j->body[0]), j->frame[0]);
  if (j->kind != CAROM_JOINT_FIXED) world.p = point;
  for (int end = 0; end < 2; end++) {
    carom_pose seen = cm_compose(cm_pose_inverse(carom_body_place(state, j->body[end])), world);
    record->frame[end] = cm_pose(seen.p, cm_qunit(seen.q));
  }
  record->turn = record->slide = 0;
  record->active = 1;
  if (j->releases >= 0) carom_joints_drop(state, j->releases);
}

void carom_joints_drop(carom_state *state, int joint) { state->joints[joint].active = 0; }

bool carom_joints_hold(const carom_model *model, const carom_state *state, int body_a, int body_b) {
  for (int i = 0; i < model->joint_count; i++)
    if (state->joints[i].active && !model->joints[i].collide && joins(&model->joints[i], body_a, body_b)) return true;
  return false;
}

// ---- limits --------------------------------------------------------------------------------------------------------

int carom_joints_limit_capacity(const carom_model *model) {
  int count = 0;
  for (int i = 0; i < model->joint_count; i++) {
    const carom_coordinate *both[] = {&model->joints[i].slide, &model->joints[i].turn};
    for (int k = 0; k < 2; k++) count += (both[k]->lower > -INFINITY) + (both[k]->upper < INFINITY);
  }
  return count;
}

static carom_row opposite(carom_row row) {
  for (int end = 0; end < 2; end++) {
    row.linear[end] = cm_neg(row.linear[end]);
    row.angular[end] = cm_neg(row.angular[end]);
  }
  return row;
}

// Those of one coordinate, whose row is that of `like`, within reach of its value.
static int put_limits(const carom_coordinate *c, double value, carom_joint_limit like, double reach,
                      carom_joint_limit *limits) {
  int count = 0;
  like.restitution = c->restitution;
  like.gap = value - c->lower;
  if (like.gap < reach) limits[count++] = like;
  like.upper = true;
  like.gap = c->upper - value;
  like.row = opposite(like.row);
  if (like.gap < reach) limits[count++] = like;
  return count;
}

static bool limited(const carom_coordinate *c) { return c->lower > -INFINITY || c->upper < INFINITY; }

int carom_joints_limits(const carom_model *model, const carom_state *state, double reach, carom_joint_limit *limits) {
  int count = 0;
  for (int i = 0; i < model->joint_count; i++) {
    const carom_joint *j = &model->joints[i];
    if (!carom_joint_acts(model, state, i) || !(limited(&j->slide) || limited(&j->turn))) continue;
    carom_joint_place place = carom_joint_placed(j, &state->joints[i], state);
    if (limited(&j->slide))
      count += put_limits(&j->slide, carom_joint_slide(&place),
                          (carom_joint_limit){.joint = i, .turn = false, .row = carom_joint_slide_row(j, &place)},
                          reach, limits + count);
    if (limited(&j->turn))
      count += put_limits(&j->turn, carom_joint_turn(&place, state->joints[i].turn),
                          (carom_joint_limit){.joint = i, .turn = true, .row = carom_joint_turn_row(j, &place)}, reach,
                          limits + count);
  }
  return count;
}

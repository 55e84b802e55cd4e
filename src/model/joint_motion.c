// How joints stand and move, for those who ask.
#include "model/joint_rows.h"
#include "model/mechanism.h"
#include "model/model.h"

static bool turns_about_axis(carom_joint_kind kind) { return carom_joint_turns(kind) || kind == CAROM_JOINT_PLANAR; }
static bool slides_along_axis(carom_joint_kind kind) { return carom_joint_slides(kind) || kind == CAROM_JOINT_SCREW; }

static carom_vec3 spin_of(const carom_model *model, const carom_state *state, int body) {
  return body == CAROM_WORLD ? cm_zero3() : carom_state_angular_velocity(model, state, body);
}

// Of the point r fixed to the body.
static carom_vec3 point_velocity(const carom_model *model, const carom_state *state, int body, carom_vec3 r) {
  if (body == CAROM_WORLD) return cm_zero3();
  carom_vec3 w = carom_state_angular_velocity(model, state, body);
  return cm_add(carom_state_velocity(model, state, body), cm_cross(w, cm_sub(r, state->x[body])));
}

carom_joint_motion carom_state_joint(const carom_model *model, const carom_state *state, int number) {
  const carom_joint *joint = &model->joints[number];
  const carom_joint_state *record = &state->joints[number];
  carom_joint_place p = carom_joint_placed(joint, record, state);
  carom_pose frame[2];
  for (int end = 0; end < 2; end++)
    frame[end] = cm_compose(carom_body_place(state, joint->body[end]), record->frame[end]);
  carom_vec3 w = cm_sub(spin_of(model, state, joint->body[1]), spin_of(model, state, joint->body[0]));
  carom_vec3 v = cm_sub(point_velocity(model, state, joint->body[1], p.r[1]),
                        point_velocity(model, state, joint->body[0], p.r[1]));
  carom_joint_motion motion = {.pose = cm_compose(cm_pose_inverse(frame[0]), frame[1])};
  motion.velocity = cm_tmulv(p.axes[0], v);
  motion.angular_velocity = cm_tmulv(p.axes[0], w);
  if (turns_about_axis(joint->kind)) motion.turn = carom_joint_turn(&p, record->turn);
  if (turns_about_axis(joint->kind)) motion.turn_rate = motion.angular_velocity.z;
  if (slides_along_axis(joint->kind)) motion.slide = carom_joint_slide(&p);
  if (slides_along_axis(joint->kind)) motion.slide_rate = motion.velocity.z;
  return motion;
}

void carom_state_jacobian(const carom_model *model, const carom_state *state, int body, carom_vec3 point,
                          double jacobian[36]) {
  const carom_body *b = &model->bodies[body];
  carom_vec3 arm = cm_rotate(state->q[body], cm_transform(b->frame, point)), e[3];
  e[0] = cm_vec3(1, 0, 0), e[1] = cm_vec3(0, 1, 0), e[2] = cm_vec3(0, 0, 1);
  for (int k = 0; k < 3; k++) {
    carom_put_twist(jacobian + 6 * k, b->fixed ? cm_zero3() : e[k], cm_zero3());
    carom_put_twist(jacobian + 18 + 6 * k, b->fixed ? cm_zero3() : cm_cross(e[k], arm), b->fixed ? cm_zero3() : e[k]);
  }
}

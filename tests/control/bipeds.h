// Two walkers that are no examples: one in a plane of space, with knees; one that sways, with a hip of some width.
#ifndef CAROM_TESTS_BIPEDS_H
#define CAROM_TESTS_BIPEDS_H

#include "walkers.h"

typedef struct biped {
  world w;
  carom_plan *plan;
  stage stage;
  int stands, lands, ankle;     // joints, and the actuator of the foot that stands
  int swap[2][2], swaps, mirror;
  carom_vec3 shift, old_foot;   // and where the foot stands at first
  double mu;
} biped;

// ---- in a plane ----------------------------------------------------------------------------------------------------

enum { SHANK = 1, THIGH, SWING_THIGH, SWING_SHANK };
static const double shank_length = 0.42, thigh_length = 0.47, stride = 0.36;

static inline carom_vec3 up_the_link(double angle) { return cm_vec3(-sin(angle), cos(angle), 0); }

// At the poses given, or as a guess of the moment after a step.
static inline carom_builder *knee_bodies(const stage *s, const carom_pose *poses) {
  double L1 = shank_length, L2 = thigh_length, r = 0.97 * (L1 + L2), lean = asin(stride / 2 / r);
  double a = acos((L1 * L1 + r * r - L2 * L2) / (2 * L1 * r)), b = acos((L2 * L2 + r * r - L1 * L1) / (2 * L2 * r));
  double turn[5] = {0, lean - a, lean + b, b - lean, -lean - a};
  carom_vec3 at[5] = {0};
  at[THIGH] = cm_scale(L1, up_the_link(turn[SHANK]));
  carom_vec3 hip = cm_add(at[THIGH], cm_scale(L2, up_the_link(turn[THIGH])));
  at[SWING_THIGH] = cm_sub(hip, cm_scale(L2, up_the_link(turn[SWING_THIGH])));
  at[SWING_SHANK] = cm_sub(at[SWING_THIGH], cm_scale(L1, up_the_link(turn[SWING_SHANK])));
  static const char *const names[] = {"ground", "shank", "thigh", "swing thigh", "swing shank"};
  carom_builder *builder = begin_stage(s);
  for (int i = SHANK; i <= SWING_SHANK; i++) {
    bool thigh = i == THIGH || i == SWING_THIGH;
    double m = thigh ? 2.1 : 1.3, L = thigh ? L2 : L1, J = m * L * L / 11;
    carom_body_def def = inert_body(m, cm_vec3(J, 0.2 * J, 0.95 * J));
    def.name = names[i], def.center = cm_vec3(0, thigh ? 0.6 * L : 0.45 * L, 0);
    def.pose = cm_pose(on_stage(s, at[i].x, at[i].y, 0), cm_qmul(s->turn, cm_axis_angle(cm_vec3(0, 0, 1), turn[i])));
    if (poses) def.pose = poses[i];
    carom_builder_add_body(builder, &def);
  }
  return builder;
}

// Hinges of the model instead of the plan, with the foot that has landed.
static inline void put_hinge(carom_builder *b, int first, int second, carom_vec3 p, carom_vec3 q) {
  carom_joint_def def = carom_joint_default();
  def.kind = CAROM_JOINT_REVOLUTE, def.body[0] = first, def.body[1] = second;
  def.point[0] = p, def.point[1] = q, def.axis[0] = def.axis[1] = cm_vec3(0, 0, 1);
  carom_builder_add_joint(b, &def);
}

static inline world landed_knees(const stage *s, const carom_pose *poses) {
  carom_builder *b = knee_bodies(s, poses);
  put_hinge(b, SHANK, THIGH, cm_vec3(0, shank_length, 0), cm_zero3());
  put_hinge(b, THIGH, SWING_THIGH, cm_vec3(0, thigh_length, 0), cm_vec3(0, thigh_length, 0));
  put_hinge(b, SWING_THIGH, SWING_SHANK, cm_zero3(), cm_vec3(0, shank_length, 0));
  put_hinge(b, 0, SWING_SHANK, cm_vec3(stride, 0, 0), cm_zero3());
  return finish_world(b);
}

static inline biped begin_knees(stage s, int K, double T) {
  biped w = {.stage = s, .swap = {{SHANK, SWING_SHANK}, {THIGH, SWING_THIGH}}, .swaps = 2, .mirror = -1, .mu = 0.7};
  w.w = finish_world(knee_bodies(&s, NULL));
  carom_plan_def def = carom_plan_default();
  def.intervals = K, def.step = T / K;
  w.plan = begin_plan(&w.w, def);
  int joints[4] = {
      add_hinge(w.plan, "knee", (int[]){SHANK, THIGH}, shank_length, 0),
      add_hinge(w.plan, "hip", (int[]){THIGH, SWING_THIGH}, thigh_length, thigh_length),
      add_hinge(w.plan, "swing knee", (int[]){SWING_THIGH, SWING_SHANK}, 0, shank_length),
  };
  w.stands = joints[3] = add_foot(w.plan, &s, "stands", SHANK, cm_vec3(0, 0, w.mu));
  w.lands = add_foot(w.plan, &s, "lands", SWING_SHANK, cm_vec3(stride, 0, w.mu));
  for (int i = 0; i < 4; i++) w.ankle = add_torque(w.plan, joints[i]);
  add_swap(w.plan, w.lands, w.stands);
  carom_periodic_def period = carom_periodic_default();
  w.shift = on_stage(&s, stride, 0, 0);
  period.swap_count = w.swaps, period.swap = (const int(*)[2])w.swap, period.map.p = w.shift;
  carom_plan_set_periodic(w.plan, &period);
  return w;
}

// ---- in space ------------------------------------------------------------------------------------------------------

// Forward is y, up is z; the feet stand apart by 2 x 0.09 m along x, the hips by 2 x 0.06 m.
enum { PELVIS = 1, LEFT, RIGHT };
static const double way = 0.24, apart = 0.09, hips = 0.06, height = 0.7;

static inline double leg_length(void) { return sqrt((apart - hips) * (apart - hips) + way * way / 4 + height * height); }

static inline carom_quat turn_to(carom_vec3 direction) {
  carom_vec3 y = cm_vec3(0, 1, 0), axis = cm_cross(y, direction);
  return cm_axis_angle(axis, atan2(cm_norm(axis), cm_dot(y, direction)));
}

static inline carom_builder *sway_bodies(const carom_pose *poses) {
  stage s = {.turn = {1, 0, 0, 0}, .gravity = {0, 0, -9.81}};
  carom_builder *b = begin_stage(&s);
  carom_body_def def = inert_body(5, cm_vec3(0.03, 0.05, 0.04));
  def.name = "pelvis", def.center = cm_vec3(0, 0.01, 0.04);
  def.pose = cm_pose(cm_vec3(0, -way / 2, height), cm_quat(1, 0, 0, 0));
  if (poses) def.pose = poses[PELVIS];
  carom_builder_add_body(b, &def);
  for (int i = LEFT; i <= RIGHT; i++) {
    double side = i == LEFT ? -1 : 1, L = leg_length();
    carom_vec3 foot = cm_vec3(side * apart, i == LEFT ? 0 : -way, 0);
    def = inert_body(2.5, cm_vec3(0.11, 0.01, 0.105));
    def.name = i == LEFT ? "left" : "right", def.center = cm_vec3(side * 0.01, 0.6 * L, 0.015);
    def.pose = cm_pose(foot, turn_to(cm_sub(cm_vec3(side * hips, -way / 2, height), foot)));
    if (poses) def.pose = poses[i];
    carom_builder_add_body(b, &def);
  }
  return b;
}

static inline void put_ball(carom_builder *b, const int body[2], carom_vec3 p, carom_vec3 q) {
  carom_joint_def def = carom_joint_default();
  def.body[0] = body[0], def.body[1] = body[1], def.point[0] = p, def.point[1] = q;
  carom_builder_add_joint(b, &def);
}

static inline world landed_sway(const carom_pose *poses) {
  carom_builder *b = sway_bodies(poses);
  for (int i = LEFT; i <= RIGHT; i++)
    put_ball(b, (int[]){PELVIS, i}, cm_vec3(i == LEFT ? -hips : hips, 0, 0), cm_vec3(0, leg_length(), 0));
  put_ball(b, (int[]){0, RIGHT}, cm_vec3(apart, way, 0), cm_zero3());
  return finish_world(b);
}

static inline int add_ball(carom_plan *plan, const int body[2], carom_vec3 p, carom_vec3 q, double mu) {
  carom_plan_joint_def def = carom_plan_joint_default();
  def.body[0] = body[0], def.body[1] = body[1], def.point[0] = p, def.point[1] = q;
  if (mu > 0) def.normal = cm_vec3(0, 0, 1), def.friction = mu;
  return carom_plan_add_joint(plan, &def);
}

static inline biped begin_sway(int K, double T) {
  biped w = {.swap = {{LEFT, RIGHT}}, .swaps = 1, .mirror = 0, .mu = 0.6, .old_foot = {-apart, 0, 0}};
  w.w = finish_world(sway_bodies(NULL));
  carom_plan_def def = carom_plan_default();
  def.intervals = K, def.step = T / K;
  w.plan = begin_plan(&w.w, def);
  for (int i = LEFT; i <= RIGHT; i++) {
    carom_vec3 hip = cm_vec3(i == LEFT ? -hips : hips, 0, 0);
    add_torque(w.plan, add_ball(w.plan, (int[]){PELVIS, i}, hip, cm_vec3(0, leg_length(), 0), 0));
  }
  w.stands = add_ball(w.plan, (int[]){0, LEFT}, w.old_foot, cm_zero3(), w.mu);
  w.lands = add_ball(w.plan, (int[]){0, RIGHT}, cm_vec3(apart, way, 0), cm_zero3(), w.mu);
  w.ankle = add_torque(w.plan, w.stands);
  add_swap(w.plan, w.lands, w.stands);
  carom_periodic_def period = carom_periodic_default();
  w.shift = cm_vec3(0, way, 0);
  period.swap_count = w.swaps, period.swap = (const int(*)[2])w.swap, period.map.p = w.shift, period.mirror = w.mirror;
  carom_plan_set_periodic(w.plan, &period);
  return w;
}

static inline void end_biped(biped *b) {
  carom_plan_destroy(b->plan);
  free_world(&b->w);
}

#endif

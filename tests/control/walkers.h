// Walkers made in C: chains of links whose frames lie in the foot ends, in any plane of space.
#ifndef CAROM_TESTS_WALKERS_H
#define CAROM_TESTS_WALKERS_H

#include "fixtures.h"

// Forward, up, and the axis of the hinges are the images of x, y and z.
typedef struct stage {
  carom_quat turn;
  bool planar;
  carom_vec3 gravity;  // before the turn
} stage;

static inline carom_vec3 on_stage(const stage *s, double x, double y, double z) {
  return cm_rotate(s->turn, cm_vec3(x, y, z));
}

// A link whose frame is in its lower end at (x, y), leaning by `angle` about z; mass centre c up the link.
static inline int put_link(carom_builder *b, const stage *s, const char *name, double mass, carom_vec3 moments,
                           double c, carom_vec3 at) {
  carom_body_def def = inert_body(mass, moments);
  def.name = name, def.center = cm_vec3(0, c, 0);
  def.pose = cm_pose(on_stage(s, at.x, at.y, 0), cm_qmul(s->turn, cm_axis_angle(cm_vec3(0, 0, 1), at.z)));
  return carom_builder_add_body(b, &def);
}

// The ground is body 0, its frame turned with the stage, in the origin.
static inline carom_builder *begin_stage(const stage *s) {
  carom_builder *b = new_builder();
  carom_body_def ground = fixed_body(cm_zero3(), s->turn);
  ground.name = "ground";
  carom_builder_add_body(b, &ground);
  carom_builder_set_gravity(b, cm_rotate(s->turn, s->gravity));
  carom_builder_set_planar(b, s->planar);
  carom_builder_ignore_contacts(b, true);
  return b;
}

// A hinge about z of the links' frames at heights p and q of them (at (p, 0) of the ground, if a is 0).
static inline int add_hinge(carom_plan *plan, const char *name, const int body[2], double p, double q) {
  carom_plan_joint_def def = carom_plan_joint_default();
  def.name = name, def.kind = CAROM_PLAN_REVOLUTE, def.body[0] = body[0], def.body[1] = body[1];
  def.point[0] = body[0] == 0 ? cm_vec3(p, 0, 0) : cm_vec3(0, p, 0), def.point[1] = cm_vec3(0, q, 0);
  return carom_plan_add_joint(plan, &def);
}

// A foot that stands at (x, 0) of the ground, anywhere within the reach along it.
static inline int add_foot(carom_plan *plan, const stage *s, const char *name, int leg, carom_vec3 x_reach_mu) {
  carom_plan_joint_def def = carom_plan_joint_default();
  def.name = name, def.kind = CAROM_PLAN_REVOLUTE, def.body[0] = 0, def.body[1] = leg;
  def.point[0] = cm_vec3(x_reach_mu.x, 0, 0), def.reach = cm_vec3(x_reach_mu.y, 0, 0);
  def.normal = on_stage(s, 0, 1, 0);
  if (x_reach_mu.z > 0) def.friction = x_reach_mu.z;
  return carom_plan_add_joint(plan, &def);
}

static inline int add_swap(carom_plan *plan, int caught, int released) {
  carom_plan_event_def event = {CAROM_LAST_NODE, 1, &caught, 1, &released};
  return carom_plan_add_event(plan, &event);
}

static inline int add_torque(carom_plan *plan, int joint) {
  carom_actuator_def def = carom_actuator_default();
  def.kind = CAROM_ACTUATOR_JOINT, def.joint = joint;
  return carom_plan_add_actuator(plan, &def);
}

static inline int add_cost(carom_plan *plan, carom_cost_kind kind, carom_power power, double weight) {
  carom_cost_def def = carom_cost_default();
  def.kind = kind, def.power = power, def.weight = weight;
  return carom_plan_add_cost(plan, &def);
}

static inline carom_plan *begin_plan(const world *w, carom_plan_def def) {
  carom_plan *plan = NULL;
  carom_error error = {0};
  if (!carom_plan_available()) test_skip("built without Ipopt");
  if (carom_plan_create(w->model, w->state, &def, NULL, &plan, &error) != CAROM_OK) {
    test_fail(__FILE__, __LINE__, "%s", error.message);
    exit(1);
  }
  return plan;
}

static inline carom_plan_report solve_plan_from(carom_plan *plan, int starts) {
  carom_plan_options options = carom_plan_default_options();
  carom_plan_report report = {0};
  carom_error error = {0};
  options.starts = starts, options.threads = 1;
  if (carom_plan_solve(plan, &options, &report, &error) != CAROM_OK) {
    test_fail(__FILE__, __LINE__, "%s", error.message);
    exit(1);
  }
  if (report.outcome != CAROM_PLAN_SOLVED)
    test_fail(__FILE__, __LINE__, "outcome %d: %s", report.outcome, report.message);
  return report;
}

static inline carom_plan_report solve_plan(carom_plan *plan) { return solve_plan_from(plan, 1); }

#endif

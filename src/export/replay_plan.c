#include "export/replay.h"

#include <math.h>

#include "result/joints.h"
#include "result/plan.h"

// Seven digits show no step on a screen; what is not a number is told as null.
static void add_number(carom_text_buffer *text, double value, bool first) {
  if (!first) carom_text_buffer_add(text, ",");
  if (isfinite(value))
    carom_text_buffer_number(text, value, 7);
  else
    carom_text_buffer_add(text, "null");
}

static void add_numbers(carom_text_buffer *text, const char *key, const double *values, size_t count) {
  carom_text_buffer_print(text, "\"%s\":[", key);
  for (size_t i = 0; i < count; i++) add_number(text, values[i], i == 0);
  carom_text_buffer_add(text, "]");
}

// ---- joints --------------------------------------------------------------------------------------------------------

static void add_joint(carom_text_buffer *text, const carom_result_joint *joint) {
  const carom_pose *frame = joint->frame;
  carom_text_buffer_json(text, "{\"name\":%j,\"kind\":\"%s\",\"body\":[%d,%d],\"latch\":%b,\"frames\":[", joint->name,
                         carom_joint_kind_names[joint->kind], joint->body[0], joint->body[1], joint->latch);
  for (int i = 0; i < 2; i++)
    carom_text_buffer_json(text, "%s{\"position\":%7v,\"rotation\":%7q}", i > 0 ? "," : "", &frame[i].p.x,
                           &frame[i].q.w);
  carom_text_buffer_add(text, "]}");
}

void carom_replay_joints(carom_text_buffer *text, const carom_result *result) {
  int count = result->joint_count < CAROM_REPLAY_JOINTS_MAX ? result->joint_count : CAROM_REPLAY_JOINTS_MAX;
  if (count == 0) return;
  carom_text_buffer_add(text, ",\"joints\":[");
  for (int i = 0; i < count; i++) {
    if (i > 0) carom_text_buffer_add(text, ",\n");
    add_joint(text, &result->joints[i]);
  }
  carom_text_buffer_add(text, "]");
}

// ---- a plan --------------------------------------------------------------------------------------------------------

static void add_history(carom_text_buffer *text, const carom_result_plan *plan) {
  carom_text_buffer_add(text, "\"history\":{\"solve\":[");
  for (int i = 0; i < plan->iterate_count; i++)
    carom_text_buffer_print(text, "%s%d", i > 0 ? "," : "", plan->iterates[i].solve);
  carom_text_buffer_add(text, "],\"iteration\":[");
  for (int i = 0; i < plan->iterate_count; i++)
    carom_text_buffer_print(text, "%s%d", i > 0 ? "," : "", plan->iterates[i].iteration);
  carom_text_buffer_add(text, "],\"cost\":[");
  for (int i = 0; i < plan->iterate_count; i++) add_number(text, plan->iterates[i].cost, i == 0);
  carom_text_buffer_add(text, "],\"infeasibility\":[");
  for (int i = 0; i < plan->iterate_count; i++) add_number(text, plan->iterates[i].infeasibility, i == 0);
  carom_text_buffer_add(text, "]}");
}

static void add_actuators(carom_text_buffer *text, const carom_result_plan *plan) {
  static const char *const kinds[] = {"wrench", "thruster", "joint"};
  carom_text_buffer_add(text, ",\n\"actuators\":[");
  for (int i = 0; i < plan->actuator_count; i++) {
    const carom_result_actuator *u = &plan->actuators[i];
    carom_text_buffer_json(text,
                           "%s{\"name\":%j,\"kind\":\"%s\",\"body\":%d,\"reaction\":%d,\"axes\":%d,\"point\":%7v}",
                           i > 0 ? ",\n" : "", u->name, kinds[u->kind], u->body, u->reaction, u->axes, &u->point.x);
  }
  carom_text_buffer_add(text, "]");
}

static void add_forces(carom_text_buffer *text, const carom_result_plan *plan) {
  size_t count = (size_t)plan->interval_count * (size_t)plan->actuator_count;
  carom_text_buffer_add(text, ",\n\"time\":");
  carom_text_buffer_json_numbers(text, plan->times, plan->interval_count + 1);
  carom_text_buffer_add(text, ",\n");
  add_numbers(text, "force", &plan->forces->x, 3 * count);
  carom_text_buffer_add(text, ",\n");
  add_numbers(text, "torque", &plan->torques->x, 3 * count);
}

// What holds the joints, if the file tells.
static void add_joint_forces(carom_text_buffer *text, const carom_result_plan *plan) {
  if (plan->hold_count == 0) return;
  carom_text_buffer_add(text, ",\n\"joints\":[");
  for (int i = 0; i < plan->hold_count; i++)
    carom_text_buffer_json(text, "%s%j", i > 0 ? "," : "", plan->holds[i].name);
  carom_text_buffer_add(text, "],\n");
  size_t count = (size_t)(plan->interval_count + 1) * (size_t)plan->hold_count;
  add_numbers(text, "joint_force", &plan->hold_forces->x, 3 * count);
}

static void add_planes(carom_text_buffer *text, const carom_result_plan *plan) {
  int count = plan->plane_count < CAROM_REPLAY_PLANES_MAX ? plan->plane_count : CAROM_REPLAY_PLANES_MAX;
  carom_text_buffer_add(text, ",\n\"planes\":[");
  for (int i = 0; i < count; i++) {
    const carom_result_plane *p = &plan->planes[i];
    carom_text_buffer_json(text, "%s{\"node\":%d,\"span\":%b,\"body\":[%d,%d],\"normal\":%7v,\"point\":%7v}",
                           i > 0 ? ",\n" : "", p->node, p->span, p->body[0], p->body[1], &p->normal.x, &p->point.x);
  }
  carom_text_buffer_add(text, "]");
}

static void add_table(carom_text_buffer *text, const carom_result_plan *plan) {
  carom_text_buffer_add(text, ",\n\"table\":[");
  for (int i = 0; i < plan->figure_count; i++) {
    const carom_result_figure *f = &plan->figures[i];
    carom_text_buffer_json(text, "%s{\"label\":%j,\"unit\":%j,\"guess\":%n,\"optimum\":%n}", i > 0 ? "," : "", f->label,
                           f->unit, f->guess, f->optimum);
  }
  carom_text_buffer_add(text, "]");
}

void carom_replay_plan(carom_text_buffer *text, const carom_result *result) {
  const carom_result_plan *plan = result->plan;
  if (!plan) return;
  carom_text_buffer_add(text, ",\n\"plan\":{");
  add_history(text, plan);
  add_actuators(text, plan);
  add_forces(text, plan);
  add_joint_forces(text, plan);
  add_planes(text, plan);
  add_table(text, plan);
  carom_text_buffer_add(text, "}");
}

// The answer in a plan's result file, as the first guess of another plan.
#include <string.h>

#include "base/memory.h"
#include "carom/plan.h"
#include "control/plan.h"
#include "result/plan.h"

typedef struct warm {
  const carom_plan *plan;
  carom_result *result;
  const char *path;
  carom_allocator allocator;
  int *body;  // (bodies) of the model: which of the result, -1 for those that do not move
  carom_pose *poses;
  double *forces, *point;
  int *events;
  bool *added, *watched;
} warm;

static carom_status fail(const warm *w, carom_error *error, const char *what) {
  return carom_fail(error, CAROM_ERR_ARGUMENT, "'%.300s' %s", w->path, what);
}

static int find_body(const carom_result *result, const char *name) {
  for (int i = 0; i < result->body_count; i++)
    if (strcmp(result->bodies[i].name, name) == 0) return i;
  return -1;
}

static carom_status match_bodies(const warm *w, carom_error *error) {
  const carom_model *model = w->plan->model;
  for (int i = 0; i < model->body_count; i++) {
    const char *name = model->bodies[i].name;
    w->body[i] = model->bodies[i].fixed ? -1 : find_body(w->result, name);
    if (w->body[i] < 0 && !model->bodies[i].fixed)
      return carom_fail(error, CAROM_ERR_ARGUMENT,
                        "'%.300s' has no body '%.80s': a plan begins from the answer of one with the same bodies",
                        w->path, name);
  }
  return CAROM_OK;
}

static carom_status read_poses(warm *w, carom_error *error) {
  carom_frame frame;
  carom_status status = carom_frame_init(w->result, &frame, error);
  if (status != CAROM_OK) return status;
  size_t n = (size_t)w->plan->model->body_count;
  for (int k = 0; k < w->result->frame_count && status == CAROM_OK; k++) {
    status = carom_result_read_frame(w->result, k, &frame, error);
    for (size_t i = 0; i < n && status == CAROM_OK; i++)
      w->poses[(size_t)k * n + i] = w->body[i] < 0 ? cm_pose_identity() : frame.poses[w->body[i]];
  }
  carom_frame_release(&frame);
  return status;
}

// ---- forces --------------------------------------------------------------------------------------------------------

static bool same_actuators(const warm *w) {
  const carom_result_plan *p = w->result->plan;
  bool same = p->actuator_count == w->plan->actuator_count;
  for (int i = 0; same && i < p->actuator_count; i++) same = p->actuators[i].kind == w->plan->actuators[i].def.kind;
  return same;
}

static carom_vec3 principal(const carom_plan *plan, int axes, carom_vec3 v) {
  return axes == CAROM_WORLD ? v : cm_rotate(plan->model->bodies[axes].frame.q, v);
}

// What carom_plan_collect made of the components, undone.
static void components_of(const carom_plan *plan, const carom_plan_actuator *u, carom_vec3 force, carom_vec3 torque,
                          double *tau) {
  const carom_plan_joint *j = u->def.kind == CAROM_ACTUATOR_JOINT ? &plan->joints[u->def.joint] : NULL;
  bool turns = u->def.kind == CAROM_ACTUATOR_THRUSTER || (!j && u->def.body_axes);
  bool hinge = j && j->kind == CAROM_PLAN_REVOLUTE;
  int axes = hinge ? j->body[0] : turns ? u->def.body : CAROM_WORLD;
  carom_vec3 f = principal(plan, axes, force), t = principal(plan, axes, torque);
  if (u->def.kind == CAROM_ACTUATOR_THRUSTER) {
    tau[0] = cm_dot(f, u->def.direction);
    return;
  }
  if (hinge) {
    tau[0] = cm_dot(t, j->axis);
    return;
  }
  if (!j && !u->def.no_force) *tau++ = f.x, *tau++ = f.y, *tau++ = f.z;
  if (j || !u->def.no_torque) tau[0] = t.x, tau[1] = t.y, tau[2] = t.z;
}

static void collect_forces(const warm *w) {
  const carom_result_plan *p = w->result->plan;
  size_t components = (size_t)carom_plan_components(w->plan);
  for (int k = 0; k < p->interval_count; k++)
    for (int i = 0; i < p->actuator_count; i++) {
      const carom_plan_actuator *u = &w->plan->actuators[i];
      size_t at = (size_t)k * (size_t)p->actuator_count + (size_t)i;
      components_of(w->plan, u, p->forces[at], p->torques[at], w->forces + (size_t)k * components + u->offset);
    }
}

// ---- all of it -----------------------------------------------------------------------------------------------------

static carom_status check(const warm *w, carom_error *error) {
  const carom_result *r = w->result;
  if (!r->plan) return fail(w, error, "is the result of a run, not of a plan: there is no answer to begin from");
  if (r->plan->interval_count < 1 || r->frame_count != r->plan->interval_count + 1)
    return fail(w, error, "holds a plan without its motion: it was cut off while it was written");
  return CAROM_OK;
}

static bool make_room(warm *w) {
  const carom_result_plan *p = w->result->plan;
  size_t nodes = (size_t)p->interval_count + 1, bodies = (size_t)w->plan->model->body_count;
  size_t components = (size_t)carom_plan_components(w->plan);
  return CAROM_NEW_ALL(&w->allocator, CAROM_ROOM(w->body, bodies), CAROM_ROOM(w->poses, nodes * bodies),
                       CAROM_ROOM(w->forces, nodes * components), CAROM_ROOM(w->events, nodes),
                       CAROM_ROOM(w->added, nodes), CAROM_ROOM(w->watched, nodes * (size_t)p->pair_count),
                       CAROM_ROOM(w->point, 3 * (size_t)p->variable_count));
}

// Columns of the file's table as arrays of their own.
static carom_plan_point collect_point(const warm *w) {
  const carom_result_plan *p = w->result->plan;
  size_t n = (size_t)p->variable_count;
  for (size_t i = 0; i < n; i++)
    for (size_t c = 0; c < 3; c++) w->point[c * n + i] = p->variables[3 * i + c];
  return (carom_plan_point){.variables = p->variable_count,
                            .constraints = p->constraint_count,
                            .print = (uint64_t)p->make,
                            .x = w->point,
                            .z_low = w->point + n,
                            .z_high = w->point + 2 * n,
                            .y = p->multipliers};
}

static carom_status set_motion(warm *w, carom_plan *plan, carom_error *error) {
  const carom_result_plan *p = w->result->plan;
  bool forces = same_actuators(w), reactions = p->node_count && p->reaction_count == carom_plan_reaction_count(plan);
  carom_plan_motion m = {.nodes = p->interval_count + 1, .times = p->times, .poses = w->poses, .events = w->events};
  for (int k = 0; k < p->node_count; k++) {
    if (p->nodes[k].event) w->events[m.event_count++] = k;
    w->added[k] = p->nodes[k].added != 0;
  }
  if (forces) collect_forces(w);
  m.forces = forces ? w->forces : NULL;
  m.reactions = reactions ? p->reactions : NULL;
  m.added = w->added;
  for (size_t i = 0; i < (size_t)p->interval_count * (size_t)p->pair_count; i++) w->watched[i] = p->watched[i] != 0;
  m.watched = p->node_count && p->pair_count == carom_plan_pair_count(plan) ? w->watched : NULL;
  m.margin = p->margin;
  m.point = collect_point(w);
  return carom_plan_set_motion(plan, &m) < 0 ? carom_plan_check(plan, error) : CAROM_OK;
}

carom_status carom_plan_warm(carom_plan *plan, const char *path, carom_error *error) {
  warm w = {.plan = plan, .path = path, .allocator = plan->allocator};
  carom_status status = carom_plan_check(plan, error);
  if (status == CAROM_OK) status = carom_result_open(path, &w.allocator, &w.result, error);
  if (status != CAROM_OK) return status;
  status = check(&w, error);
  if (status == CAROM_OK && !make_room(&w))
    status = carom_fail(error, CAROM_ERR_MEMORY, "out of memory for an answer to begin from");
  if (status == CAROM_OK) status = match_bodies(&w, error);
  if (status == CAROM_OK) status = read_poses(&w, error);
  if (status == CAROM_OK) status = set_motion(&w, plan, error);
  CAROM_RELEASE_ALL(&w.allocator, w.body, w.poses, w.forces, w.point, w.events, w.added, w.watched);
  carom_result_close(w.result);
  return status;
}

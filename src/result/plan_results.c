#include "result/plan_results.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "control/plan.h"

// ---- frames --------------------------------------------------------------------------------------------------------
// Plans speak of principal frames, files of the user's.

static carom_vec3 user_point(const carom_plan *plan, int body, carom_vec3 principal) {
  return cm_transform(cm_pose_inverse(plan->model->bodies[body].frame), principal);
}

static carom_vec3 user_direction(const carom_plan *plan, int body, carom_vec3 principal) {
  return body == CAROM_WORLD ? principal : cm_unrotate(plan->model->bodies[body].frame.q, principal);
}

// ---- forces --------------------------------------------------------------------------------------------------------

// An actuator that was given no name is called after what it moves.
static const char *name_of(const carom_plan_actuator *u, const char *moved) {
  return strncmp(u->name, "actuator ", 9) == 0 && moved ? moved : u->name;
}

// A torque in a joint is positive on its second body; a revolute one is told along axes of the first, where its axis
// is.
static carom_result_actuator describe_motor(const carom_plan *plan, const carom_plan_actuator *u) {
  const carom_plan_joint *j = &plan->joints[u->def.joint];
  return (carom_result_actuator){.name = name_of(u, j->name),
                                 .kind = u->def.kind,
                                 .body = j->body[1],
                                 .reaction = j->body[0],
                                 .axes = j->kind == CAROM_PLAN_REVOLUTE ? j->body[0] : CAROM_WORLD,
                                 .point = user_point(plan, j->body[1], j->point[1])};
}

static carom_result_actuator describe_actuator(const carom_plan *plan, const carom_plan_actuator *u) {
  if (u->def.kind == CAROM_ACTUATOR_JOINT) return describe_motor(plan, u);
  bool turns = u->def.kind == CAROM_ACTUATOR_THRUSTER || u->def.body_axes;
  int here = 0;
  for (int i = 0; i < plan->actuator_count; i++)
    here += plan->actuators[i].def.kind != CAROM_ACTUATOR_JOINT && plan->actuators[i].def.body == u->def.body;
  return (carom_result_actuator){.name = name_of(u, here == 1 ? plan->model->bodies[u->def.body].name : NULL),
                                 .kind = u->def.kind,
                                 .body = u->def.body,
                                 .reaction = -1,
                                 .axes = turns ? u->def.body : CAROM_WORLD,
                                 .point = user_point(plan, u->def.body, u->def.point)};
}

// Force and torque of an actuator with the components tau, in the axes in which it is constant (principal if a body's).
static void wrench_of(const carom_plan *plan, const carom_plan_actuator *u, const double *tau, carom_vec3 *force,
                      carom_vec3 *torque) {
  *force = *torque = cm_zero3();
  if (u->def.kind == CAROM_ACTUATOR_THRUSTER) *force = cm_scale(tau[0], u->def.direction);
  if (u->def.kind == CAROM_ACTUATOR_JOINT) {
    const carom_plan_joint *j = &plan->joints[u->def.joint];
    *torque = j->kind == CAROM_PLAN_REVOLUTE ? cm_scale(tau[0], j->axis) : cm_vec3(tau[0], tau[1], tau[2]);
  }
  if (u->def.kind != CAROM_ACTUATOR_WRENCH) return;
  if (!u->def.no_force) *force = cm_vec3(tau[0], tau[1], tau[2]), tau += 3;
  if (!u->def.no_torque) *torque = cm_vec3(tau[0], tau[1], tau[2]);
}

static void collect_forces(const carom_plan *plan, carom_result_plan *out) {
  int components = carom_plan_components(plan);
  for (int i = 0; i < plan->actuator_count; i++) out->actuators[i] = describe_actuator(plan, &plan->actuators[i]);
  for (int k = 0; k <= plan->path.K; k++) out->times[k] = carom_plan_time(plan, k);
  for (int k = 0; k < plan->path.K; k++)
    for (int i = 0; i < plan->actuator_count; i++) {
      const carom_plan_actuator *u = &plan->actuators[i];
      size_t at = (size_t)k * (size_t)plan->actuator_count + (size_t)i;
      carom_vec3 f, t;
      wrench_of(plan, u, plan->path.tau + (size_t)k * (size_t)components + u->offset, &f, &t);
      out->forces[at] = user_direction(plan, out->actuators[i].axes, f);
      out->torques[at] = user_direction(plan, out->actuators[i].axes, t);
    }
}

// ---- the first guess beside the optimum ----------------------------------------------------------------------------

typedef struct path_figures {
  double duration, effort, force, torque, gap;
} path_figures;

// Scales of the steps belong to the stretches between contacts and events, whose nodes move along when nodes are added.
static double step_of(const carom_plan *plan, const carom_path *path, int k) {
  bool moved = path->K != plan->path.K && carom_plan_segments(plan) > 1;
  return moved ? NAN : path->h[k] * path->sigma[carom_plan_segment(plan, k)];
}

static void add_interval(const carom_plan *plan, const carom_path *path, int k, path_figures *f) {
  double h = step_of(plan, path, k);
  int components = carom_plan_components(plan);
  const double *tau = path->tau + (size_t)k * (size_t)components;
  f->duration += h;
  for (int i = 0; i < components; i++) f->effort += h * tau[i] * tau[i];
  for (int i = 0; i < plan->actuator_count; i++) {
    carom_vec3 force, torque;
    wrench_of(plan, &plan->actuators[i], tau + plan->actuators[i].offset, &force, &torque);
    f->force = fmax(f->force, cm_norm(force));
    f->torque = fmax(f->torque, cm_norm(torque));
  }
}

static double gap_at(const carom_plan *plan, const carom_path *path, int k, const carom_avoided_pair *pair) {
  carom_pose pose[2];
  for (int i = 0; i < 2; i++) {
    size_t at = (size_t)k * (size_t)plan->model->body_count + (size_t)pair->body[i];
    pose[i] = cm_pose(path->x[at], path->q[at]);
  }
  return carom_plan_gap(plan, pair->body[0], pose[0], pair->body[1], pose[1]);
}

static path_figures figures_of(const carom_plan *plan, const carom_path *path) {
  path_figures f = {.gap = INFINITY};
  for (int k = 0; k < path->K; k++) add_interval(plan, path, k, &f);
  for (int k = 0; k <= path->K; k++)
    for (int i = 0; i < plan->avoided_count; i++) f.gap = fmin(f.gap, gap_at(plan, path, k, &plan->avoided[i]));
  return f;
}

static void add_figure(carom_result_plan *out, const char *label, const char *unit, double guess, double optimum) {
  out->figures[out->figure_count++] = (carom_result_figure){label, unit, guess, optimum};
}

enum { FIGURES = 8 };

static void collect_figures(const carom_plan *plan, const carom_plan_report *report, carom_result_plan *out) {
  const carom_path *first = plan->first.K > 0 ? &plan->first : &plan->path;  // nothing was solved
  path_figures a = figures_of(plan, first), b = figures_of(plan, &plan->path);
  bool effort_alone = plan->cost_count == 1 && plan->costs[0].kind == CAROM_COST_EFFORT && plan->costs[0].weight == 1 &&
                      plan->costs[0].body == CAROM_WORLD;
  bool solved = out->iterate_count > 0;
  add_figure(out, effort_alone ? "Cost (effort)" : "Cost", "", solved ? report->guess_cost : NAN,
             solved ? report->cost : NAN);
  if (!effort_alone) add_figure(out, "Effort", "", a.effort, b.effort);
  add_figure(out, "Infeasibility", "", solved ? out->iterates[0].infeasibility : NAN,
             solved ? out->iterates[out->iterate_count - 1].infeasibility : NAN);
  if (a.force > 0 || b.force > 0) add_figure(out, "Largest force", "N", a.force, b.force);
  if (a.torque > 0 || b.torque > 0) add_figure(out, "Largest torque", "N m", a.torque, b.torque);
  add_figure(out, "Duration", "s", a.duration, b.duration);
  if (isfinite(a.gap) && isfinite(b.gap)) add_figure(out, "Smallest gap", "m", a.gap, b.gap);
  add_figure(out, "Nodes", "", first->K + 1, plan->path.K + 1);
}

// ---- what a warm start needs ---------------------------------------------------------------------------------------

static bool allocate_warm(const carom_plan *plan, const carom_allocator *a, carom_result_plan *out) {
  carom_plan_point point = carom_plan_last_point(plan);
  size_t nodes = (size_t)plan->path.K + 1;
  out->node_count = plan->path.K + 1;
  out->reaction_count = carom_plan_reaction_count(plan);
  out->pair_count = carom_plan_pair_count(plan);
  out->hold_count = carom_plan_joint_count(plan);
  out->variable_count = point.variables, out->constraint_count = point.constraints;
  return CAROM_NEW_ALL(a, CAROM_ROOM(out->nodes, nodes), CAROM_ROOM(out->holds, out->hold_count),
                       CAROM_ROOM(out->hold_forces, nodes * (size_t)out->hold_count),
                       CAROM_ROOM(out->reactions, nodes * (size_t)out->reaction_count),
                       CAROM_ROOM(out->watched, (nodes - 1) * (size_t)out->pair_count),
                       CAROM_ROOM(out->variables, 3 * (size_t)point.variables),
                       CAROM_ROOM(out->multipliers, point.constraints));
}

static void collect_warm(const carom_plan *plan, carom_result_plan *out) {
  carom_plan_point point = carom_plan_last_point(plan);
  for (int k = 0; k < out->node_count; k++) {
    out->nodes[k] = (carom_result_node){k > 0 && k + 1 < out->node_count && carom_plan_breaks_at(plan, k),
                                        carom_plan_node_added(plan, k)};
    carom_plan_reactions(plan, k, out->reactions + (size_t)k * (size_t)out->reaction_count);
  }
  for (int k = 0; k < out->interval_count; k++)
    for (int i = 0; i < out->pair_count; i++)
      out->watched[(size_t)k * (size_t)out->pair_count + (size_t)i] = carom_plan_watched(plan, k, i);
  out->margin = carom_plan_margin(plan), out->make = (double)point.print;
  for (int i = 0; i < point.variables; i++) {
    double *row = out->variables + 3 * (size_t)i;
    row[0] = point.x[i], row[1] = point.z_low[i], row[2] = point.z_high[i];
  }
  if (point.constraints > 0) memcpy(out->multipliers, point.y, (size_t)point.constraints * sizeof *point.y);
}

static void collect_holds(const carom_plan *plan, carom_result_plan *out) {
  for (int i = 0; i < out->hold_count; i++) out->holds[i].name = plan->joints[i].name;
  for (int k = 0; k < out->node_count; k++)
    for (int i = 0; i < out->hold_count; i++)
      out->hold_forces[(size_t)k * (size_t)out->hold_count + (size_t)i] = carom_plan_joint_force(plan, k, i);
}

// ---- all of it -----------------------------------------------------------------------------------------------------

static bool allocate(const carom_plan *plan, const carom_allocator *a, carom_result_plan *out) {
  size_t intervals = (size_t)plan->path.K, actuators = (size_t)plan->actuator_count;
  out->interval_count = plan->path.K;
  out->actuator_count = plan->actuator_count;
  return CAROM_NEW_ALL(a, CAROM_ROOM(out->iterates, plan->history_count), CAROM_ROOM(out->actuators, actuators),
                       CAROM_ROOM(out->times, intervals + 1), CAROM_ROOM(out->forces, intervals * actuators),
                       CAROM_ROOM(out->torques, intervals * actuators), CAROM_ROOM(out->figures, FIGURES));
}

carom_status carom_plan_collect(const carom_plan *plan, const carom_plan_report *report,
                                const carom_allocator *allocator, carom_result_plan *out, carom_error *error) {
  *out = (carom_result_plan){0};
  carom_status status = CAROM_OK;
  if (!allocate(plan, allocator, out) || !allocate_warm(plan, allocator, out))
    status = carom_fail(error, CAROM_ERR_MEMORY, "out of memory for a plan's result");
  if (status == CAROM_OK) {
    const carom_plan_iterate *history = carom_plan_history(plan, &out->iterate_count);
    if (out->iterate_count > 0) memcpy(out->iterates, history, (size_t)out->iterate_count * sizeof *history);
    collect_forces(plan, out);
    collect_figures(plan, report, out);
    collect_warm(plan, out);
    collect_holds(plan, out);
    status = carom_plan_collect_planes(plan, allocator, &out->planes, &out->plane_count, error);
  }
  if (status != CAROM_OK) {
    carom_result_plan_release(out, allocator);
    *out = (carom_result_plan){0};
  }
  return status;
}

// ---- joints and contacts -------------------------------------------------------------------------------------------

static carom_result_joint describe_joint(const carom_plan *plan, const carom_plan_joint *j) {
  carom_result_joint row = {.name = j->name,
                            .kind = j->kind == CAROM_PLAN_REVOLUTE ? CAROM_JOINT_REVOLUTE : CAROM_JOINT_SPHERICAL};
  carom_vec3 n = j->kind == CAROM_PLAN_REVOLUTE ? j->axis : cm_vec3(0, 0, 1), u, v;
  cm_frame(n, &u, &v);
  carom_quat turn = cm_quat_of((carom_mat3){{{u.x, v.x, n.x}, {u.y, v.y, n.y}, {u.z, v.z, n.z}}});
  carom_quat world = cm_qmul(plan->start->q[j->body[0]], turn);
  for (int i = 0; i < 2; i++) {
    carom_pose frame = cm_pose_inverse(plan->model->bodies[j->body[i]].frame);
    row.body[i] = j->body[i];
    row.frame[i].p = user_point(plan, j->body[i], j->point[i]);
    row.frame[i].q = cm_qunit(cm_qmul(frame.q, cm_qmul(cm_qconj(plan->start->q[j->body[i]]), world)));
  }
  return row;
}

carom_result_joint *carom_plan_collect_joints(const carom_plan *plan, const carom_allocator *allocator, int *count) {
  *count = 0;
  carom_result_joint *rows = CAROM_NEW(allocator, carom_result_joint, plan->joint_count);
  for (int i = 0; rows && i < plan->joint_count; i++)
    if (carom_model_find_joint(plan->model, plan->joints[i].name) < 0)
      rows[(*count)++] = describe_joint(plan, &plan->joints[i]);
  return rows;
}

static carom_vec3 variable3(const carom_plan *plan, int first) {
  const double *x = plan->program.x + first;
  return cm_vec3(x[0], x[1], x[2]);
}

// Of faces that meet: the normal towards the first body, and the middle of what the corners push.
static bool flat_contact(const carom_plan *plan, const carom_plan_contact *c, carom_contact_event *event) {
  const carom_contact_features *f = &c->features;
  size_t at = (size_t)c->def.node * (size_t)plan->model->body_count;
  int side = f->form == CAROM_FORM_VERTEX_A ? 0 : 1, last = f->corner_count - 1;
  if (last < 0 || c->corners[last].a >= plan->program.n) return false;
  const carom_vec3 *x = plan->path.x + at;
  const carom_quat *q = plan->path.q + at;
  int v = c->def.body[side], w = c->def.body[1 - side];
  double sum = 0;
  carom_vec3 middle = cm_zero3();
  for (int i = 0; i <= last; i++) {
    double push = plan->program.x[c->corners[i].a];
    sum += push, middle = cm_axpy(middle, push, cm_add(x[v], cm_rotate(q[v], f->corners[i])));
  }
  event->point = cm_scale(1 / sum, middle);
  event->normal = cm_scale(side == 0 ? 1 : -1, cm_rotate(q[w], f->normal));
  return true;
}

static bool point_contact(const carom_plan *plan, const carom_plan_contact *c, carom_contact_event *event) {
  if (c->normal < 0 || c->normal + 3 > plan->program.n || c->arm[0] + 3 > plan->program.n) return false;
  carom_vec3 x = plan->path.x[(size_t)c->def.node * (size_t)plan->model->body_count + (size_t)c->def.body[0]];
  event->point = cm_add(x, variable3(plan, c->arm[0]));
  event->normal = cm_unit(variable3(plan, c->normal));
  return true;
}

bool carom_plan_contact_event(const carom_plan *plan, int contact, carom_state *scratch, carom_contact_event *event) {
  const carom_plan_contact *c = &plan->contacts[contact];
  int a = c->def.body[0], node = c->def.node;
  if (plan->history_count == 0 || node > plan->path.K) return false;
  *event = (carom_contact_event){.kind = c->def.impact == CAROM_PLANNED_STICK ? CAROM_EVENT_STICK : CAROM_EVENT_IMPACT,
                                 .body_a = a,
                                 .body_b = c->def.body[1]};
  if (!(c->def.flat ? flat_contact(plan, c, event) : point_contact(plan, c, event))) return false;
  carom_plan_state(plan, node, false, scratch);
  carom_vec3 before = scratch->p[a];
  carom_plan_state(plan, node, true, scratch);
  event->time = scratch->time;
  event->impulse = cm_sub(scratch->p[a], before);
  return isfinite(cm_norm(event->point)) && isfinite(cm_norm(event->normal));
}

#include "result/plan.h"

#include <limits.h>
#include <math.h>

#include "base/memory.h"
#include "result/recorder_head.h"

void carom_result_plan_release(carom_result_plan *plan, const carom_allocator *allocator) {
  if (!plan) return;
  CAROM_RELEASE_ALL(allocator, plan->iterates, plan->actuators, plan->times, plan->forces, plan->torques, plan->planes,
                    plan->figures, plan->texts[0], plan->texts[1], plan->texts[2], plan->texts[3], plan->holds,
                    plan->hold_forces, plan->nodes, plan->reactions, plan->variables, plan->multipliers, plan->watched);
}

// ---- tables --------------------------------------------------------------------------------------------------------

static const carom_column iterate_columns[] = {
    CAROM_COLUMN(PLAN_HISTORY_SOLVE, INT, carom_plan_iterate, solve, .rank = 1),
    CAROM_COLUMN(PLAN_HISTORY_ITERATION, INT, carom_plan_iterate, iteration, .rank = 1),
    CAROM_COLUMN(PLAN_HISTORY_COST, DOUBLE, carom_plan_iterate, cost, .rank = 1),
    CAROM_COLUMN(PLAN_HISTORY_INFEASIBILITY, DOUBLE, carom_plan_iterate, infeasibility, .rank = 1),
};
static const carom_table iterate_table = CAROM_TABLE(iterate_columns, carom_plan_iterate);

static const carom_column actuator_columns[] = {
    CAROM_COLUMN(PLAN_FORCE_NAME, TEXT, carom_result_actuator, name, .rank = 1),
    CAROM_COLUMN(PLAN_FORCE_BODY, INT, carom_result_actuator, body, .rank = 2, .n1 = 2),  // and reaction
    CAROM_COLUMN(PLAN_FORCE_KIND, INT, carom_result_actuator, kind, .rank = 1),
    CAROM_COLUMN(PLAN_FORCE_AXES, INT, carom_result_actuator, axes, .rank = 1),
    CAROM_COLUMN(PLAN_FORCE_POINT, DOUBLE, carom_result_actuator, point, .rank = 2, .n1 = 3),
};
static const carom_table actuator_table = CAROM_TABLE(actuator_columns, carom_result_actuator);

static const carom_column plane_columns[] = {
    CAROM_COLUMN(PLAN_PLANE_NODE, INT, carom_result_plane, node, .rank = 1),
    CAROM_COLUMN(PLAN_PLANE_SPAN, INT, carom_result_plane, span, .rank = 1),
    CAROM_COLUMN(PLAN_PLANE_BODY, INT, carom_result_plane, body, .rank = 2, .n1 = 2),
    CAROM_COLUMN(PLAN_PLANE_NORMAL, DOUBLE, carom_result_plane, normal, .rank = 2, .n1 = 3),
    CAROM_COLUMN(PLAN_PLANE_POINT, DOUBLE, carom_result_plane, point, .rank = 2, .n1 = 3),
};
static const carom_table plane_table = CAROM_TABLE(plane_columns, carom_result_plane);

static const carom_column figure_columns[] = {
    CAROM_COLUMN(PLAN_TABLE_LABEL, TEXT, carom_result_figure, label, .rank = 1),
    CAROM_COLUMN(PLAN_TABLE_UNIT, TEXT, carom_result_figure, unit, .rank = 1),
    CAROM_COLUMN(PLAN_TABLE_GUESS, DOUBLE, carom_result_figure, guess, .rank = 1),
    CAROM_COLUMN(PLAN_TABLE_OPTIMUM, DOUBLE, carom_result_figure, optimum, .rank = 1),
};
static const carom_table figure_table = CAROM_TABLE(figure_columns, carom_result_figure);

static const carom_column node_columns[] = {
    CAROM_COLUMN(PLAN_NODE_EVENT, INT, carom_result_node, event, .rank = 1),
    CAROM_COLUMN(PLAN_NODE_ADDED, INT, carom_result_node, added, .rank = 1),
};
static const carom_table node_table = CAROM_TABLE(node_columns, carom_result_node);

static const carom_column hold_columns[] = {
    CAROM_COLUMN(PLAN_JOINT_NAME, TEXT, carom_result_hold, name, .rank = 1),
};
static const carom_table hold_table = CAROM_TABLE(hold_columns, carom_result_hold);

// ---- writing -------------------------------------------------------------------------------------------------------

static void write_warm(carom_h5_file *file, const carom_result_plan *plan) {
  carom_table_write(file, &node_table, plan->nodes, (size_t)plan->node_count);
  hsize_t size[3] = {(hsize_t)plan->node_count, (hsize_t)plan->reaction_count, 0};
  carom_result_write_doubles(file, CAROM_FIELD_PLAN_NODE_REACTION, 2, size, plan->reactions);
  carom_h5_array watched = carom_result_table(CAROM_FIELD_PLAN_NODE_WATCHED, H5T_STD_I8LE, H5T_NATIVE_INT, 2,
                                              (hsize_t[]){(hsize_t)plan->interval_count, (hsize_t)plan->pair_count, 0});
  carom_h5_write(file, &watched, plan->watched);
  carom_result_write_doubles(file, CAROM_FIELD_PLAN_SOLVER_MARGIN, 1, (hsize_t[]){1, 0, 0}, &plan->margin);
  carom_result_write_doubles(file, CAROM_FIELD_PLAN_SOLVER_MAKE, 1, (hsize_t[]){1, 0, 0}, &plan->make);
  carom_result_write_doubles(file, CAROM_FIELD_PLAN_SOLVER_VARIABLE, 2,
                             (hsize_t[]){(hsize_t)plan->variable_count, 3, 0}, plan->variables);
  carom_result_write_doubles(file, CAROM_FIELD_PLAN_SOLVER_MULTIPLIER, 1,
                             (hsize_t[]){(hsize_t)plan->constraint_count, 0, 0}, plan->multipliers);
}

void carom_result_write_plan(carom_h5_file *file, const carom_result_plan *plan) {
  hsize_t intervals = (hsize_t)plan->interval_count, actuators = (hsize_t)plan->actuator_count;
  carom_table_write(file, &iterate_table, plan->iterates, (size_t)plan->iterate_count);
  carom_table_write(file, &actuator_table, plan->actuators, (size_t)plan->actuator_count);
  carom_result_write_doubles(file, CAROM_FIELD_PLAN_FORCE_TIME, 1, (hsize_t[]){intervals + 1, 0, 0}, plan->times);
  const hsize_t size[3] = {intervals, actuators, 3};
  carom_result_write_doubles(file, CAROM_FIELD_PLAN_FORCE_FORCE, 3, size, &plan->forces->x);
  carom_result_write_doubles(file, CAROM_FIELD_PLAN_FORCE_TORQUE, 3, size, &plan->torques->x);
  carom_table_write(file, &plane_table, plan->planes, (size_t)plan->plane_count);
  carom_table_write(file, &figure_table, plan->figures, (size_t)plan->figure_count);
  write_warm(file, plan);
  const hsize_t holds[3] = {intervals + 1, (hsize_t)plan->hold_count, 3};
  carom_table_write(file, &hold_table, plan->holds, (size_t)plan->hold_count);
  carom_result_write_doubles(file, CAROM_FIELD_PLAN_JOINT_FORCE, 3, holds, &plan->hold_forces->x);
}

// ---- reading -------------------------------------------------------------------------------------------------------

static carom_vec3 *read_vectors(carom_h5_file *file, carom_result_field_id id, const carom_result_plan *plan) {
  hsize_t size[3] = {(hsize_t)plan->interval_count, (hsize_t)plan->actuator_count, 3};
  return carom_h5_read(file, carom_result_fields[id].path, H5T_NATIVE_DOUBLE, sizeof(double), 3, size);
}

static void read_forces(carom_h5_file *file, carom_result_plan *plan) {
  const char *path = carom_result_fields[CAROM_FIELD_PLAN_FORCE_TIME].path;
  hsize_t nodes = CAROM_H5_ANY;
  plan->actuators = carom_table_read(file, &actuator_table, &plan->actuator_count, &plan->texts[0]);
  for (int i = 0; i < plan->actuator_count; i++)
    if ((int)plan->actuators[i].kind < 0 || plan->actuators[i].kind > CAROM_ACTUATOR_JOINT)
      carom_h5_fail_format(file, "/plan/forces/kind", "has an unknown kind");
  plan->times = carom_h5_read(file, path, H5T_NATIVE_DOUBLE, sizeof(double), 1, &nodes);
  if (file->status == CAROM_OK && (nodes < 1 || nodes > INT_MAX)) carom_h5_fail_format(file, path, "has no node");
  if (file->status != CAROM_OK) return;
  plan->interval_count = (int)nodes - 1;
  plan->forces = read_vectors(file, CAROM_FIELD_PLAN_FORCE_FORCE, plan);
  plan->torques = read_vectors(file, CAROM_FIELD_PLAN_FORCE_TORQUE, plan);
}

static bool is_body(int body, int lowest, int count) { return body >= lowest && body < count; }

static bool finite3(const carom_vec3 *v, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (!isfinite(v[i].x) || !isfinite(v[i].y) || !isfinite(v[i].z)) return false;
  return true;
}

static bool indices_are_sound(const carom_result_plan *plan, int bodies) {
  bool sound = true;
  for (int i = 0; i < plan->actuator_count; i++) {
    const carom_result_actuator *u = &plan->actuators[i];
    sound = sound && is_body(u->body, 0, bodies) && is_body(u->reaction, -1, bodies) && is_body(u->axes, -1, bodies) &&
            finite3(&u->point, 1);
  }
  for (int i = 0; i < plan->plane_count; i++) {
    const carom_result_plane *p = &plan->planes[i];
    sound = sound && is_body(p->body[0], 0, bodies) && is_body(p->body[1], 0, bodies) && p->node >= 0 &&
            p->node <= plan->interval_count && finite3(&p->normal, 1) && finite3(&p->point, 1);
  }
  return sound;
}

static bool numbers_are_sound(const carom_result_plan *plan) {
  size_t count = (size_t)plan->interval_count * (size_t)plan->actuator_count;
  for (int k = 0; k <= plan->interval_count; k++)
    if (!isfinite(plan->times[k]) || (k > 0 && plan->times[k] < plan->times[k - 1])) return false;
  return finite3(plan->forces, count) && finite3(plan->torques, count);
}

static double *read_doubles(carom_h5_file *file, carom_result_field_id id, int rank, hsize_t *size) {
  return carom_h5_read(file, carom_result_fields[id].path, H5T_NATIVE_DOUBLE, sizeof(double), rank, size);
}

static double read_single(carom_h5_file *file, carom_result_field_id id) {
  double *block = read_doubles(file, id, 1, (hsize_t[]){1}), value = block ? block[0] : 0;
  carom_release(&file->allocator, block);
  return value;
}

static bool all_finite(const double *values, hsize_t count) {
  for (hsize_t i = 0; i < count; i++)
    if (!isfinite(values[i])) return false;
  return true;
}

// Older files have none of it.
static void read_warm(carom_h5_file *file, carom_result_plan *plan) {
  if (file->status != CAROM_OK || !carom_h5_has(file, "/plan/nodes")) return;
  plan->nodes = carom_table_read(file, &node_table, &plan->node_count, NULL);
  hsize_t reactions[2] = {(hsize_t)plan->node_count, CAROM_H5_ANY}, variables[2] = {CAROM_H5_ANY, 3};
  hsize_t constraints = CAROM_H5_ANY, watched[2] = {(hsize_t)plan->interval_count, CAROM_H5_ANY};
  plan->reactions = read_doubles(file, CAROM_FIELD_PLAN_NODE_REACTION, 2, reactions);
  plan->watched = carom_h5_read(file, carom_result_fields[CAROM_FIELD_PLAN_NODE_WATCHED].path, H5T_NATIVE_INT,
                                sizeof *plan->watched, 2, watched);
  plan->margin = read_single(file, CAROM_FIELD_PLAN_SOLVER_MARGIN);
  plan->make = read_single(file, CAROM_FIELD_PLAN_SOLVER_MAKE);
  plan->variables = read_doubles(file, CAROM_FIELD_PLAN_SOLVER_VARIABLE, 2, variables);
  plan->multipliers = read_doubles(file, CAROM_FIELD_PLAN_SOLVER_MULTIPLIER, 1, &constraints);
  if (file->status != CAROM_OK) return;
  bool fits = (plan->node_count == 0 || plan->node_count == plan->interval_count + 1) && reactions[1] < INT_MAX &&
              watched[1] < INT_MAX && variables[0] < INT_MAX / 3 && constraints < INT_MAX;
  if (!fits || !all_finite(plan->reactions, reactions[0] * reactions[1]) ||
      !all_finite(plan->variables, 3 * variables[0]) || !all_finite(plan->multipliers, constraints) ||
      !(plan->margin >= 0) || !(plan->make >= 0) || !(plan->make < 4503599627370496.0)) {
    carom_h5_fail_format(file, "/plan/nodes", "does not fit the plan, or a number of /plan/solver is not finite");
    return;
  }
  plan->reaction_count = (int)reactions[1], plan->pair_count = (int)watched[1];
  plan->variable_count = (int)variables[0], plan->constraint_count = (int)constraints;
}

static void read_holds(carom_h5_file *file, carom_result_plan *plan) {
  if (file->status != CAROM_OK || !carom_h5_has(file, "/plan/joints")) return;
  plan->holds = carom_table_read(file, &hold_table, &plan->hold_count, &plan->texts[3]);
  hsize_t size[3] = {(hsize_t)plan->interval_count + 1, (hsize_t)plan->hold_count, 3};
  plan->hold_forces = (carom_vec3 *)read_doubles(file, CAROM_FIELD_PLAN_JOINT_FORCE, 3, size);
  if (file->status == CAROM_OK && !finite3(plan->hold_forces, (size_t)(size[0] * size[1])))
    carom_h5_fail_format(file, "/plan/joints/force", "has a force that is not finite");
}

void carom_result_read_plan(carom_h5_file *file, carom_result *result) {
  if (!carom_h5_has(file, "/plan")) return;
  carom_result_plan *plan = result->plan = CAROM_NEW(&file->allocator, carom_result_plan, 1);
  if (!plan) {
    carom_h5_fail_memory(file, "/plan");
    return;
  }
  plan->iterates = carom_table_read(file, &iterate_table, &plan->iterate_count, NULL);
  read_forces(file, plan);
  plan->planes = carom_table_read(file, &plane_table, &plan->plane_count, NULL);
  plan->figures = carom_table_read(file, &figure_table, &plan->figure_count, &plan->texts[1]);
  read_warm(file, plan);
  read_holds(file, plan);
  if (file->status != CAROM_OK) return;
  if (!indices_are_sound(plan, result->body_count))
    carom_h5_fail_format(file, "/plan", "has a force or a plane of no body, at no node or in no place");
  else if (!numbers_are_sound(plan))
    carom_h5_fail_format(file, "/plan/forces", "has a time or a force that is not finite, or times out of order");
}

#include "result/plan.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "result/recorder_head.h"

void carom_result_plan_release(carom_result_plan *plan, const carom_allocator *allocator) {
  if (!plan) return;
  void *blocks[] = {plan->iterates, plan->actuators, plan->times,    plan->forces,   plan->torques,
                    plan->planes,   plan->figures,   plan->texts[0], plan->texts[1], plan->texts[2]};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) carom_release(allocator, blocks[i]);
}

// ---- columns -------------------------------------------------------------------------------------------------------
// A column of a table: one number out of each struct, or into each.

static void write_doubles_of(carom_h5_file *file, carom_result_field_id id, size_t count, size_t width,
                             const void *first, size_t stride) {
  double *values = CAROM_NEW(&file->allocator, double, count *width);
  if (!values) {
    carom_h5_fail_memory(file, carom_result_fields[id].path);
    return;
  }
  for (size_t i = 0; i < count; i++)
    memcpy(values + i * width, (const char *)first + i * stride, width * sizeof *values);
  carom_result_write_doubles(file, id, width > 1 ? 2 : 1, count, width, 0, values);
  carom_release(&file->allocator, values);
}

static void write_ints_of(carom_h5_file *file, carom_result_field_id id, size_t count, size_t width, const void *first,
                          size_t stride) {
  int *values = CAROM_NEW(&file->allocator, int, count *width);
  if (!values) {
    carom_h5_fail_memory(file, carom_result_fields[id].path);
    return;
  }
  for (size_t i = 0; i < count; i++)
    memcpy(values + i * width, (const char *)first + i * stride, width * sizeof *values);
  if (width == 1)
    carom_result_write_ints(file, id, count, values);
  else
    carom_result_write_pairs(file, id, count, values);
  carom_release(&file->allocator, values);
}

#define WRITE_DOUBLES(id, array, count, member) \
  write_doubles_of(file, id, (size_t)(count), sizeof(array)->member / sizeof(double), &(array)->member, sizeof *(array))
#define WRITE_INTS(id, array, count, member) \
  write_ints_of(file, id, (size_t)(count), sizeof(array)->member / sizeof(int), &(array)->member, sizeof *(array))

// ---- writing -------------------------------------------------------------------------------------------------------

static const char *actuator_name(const void *plan, int i) {
  return ((const carom_result_plan *)plan)->actuators[i].name;
}
static const char *figure_label(const void *plan, int i) { return ((const carom_result_plan *)plan)->figures[i].label; }
static const char *figure_unit(const void *plan, int i) { return ((const carom_result_plan *)plan)->figures[i].unit; }

static void write_history(carom_h5_file *file, const carom_result_plan *plan) {
  int count = plan->iterate_count;
  const carom_plan_iterate *it = plan->iterates;
  WRITE_INTS(CAROM_FIELD_PLAN_HISTORY_SOLVE, it, count, solve);
  WRITE_INTS(CAROM_FIELD_PLAN_HISTORY_ITERATION, it, count, iteration);
  WRITE_DOUBLES(CAROM_FIELD_PLAN_HISTORY_COST, it, count, cost);
  WRITE_DOUBLES(CAROM_FIELD_PLAN_HISTORY_INFEASIBILITY, it, count, infeasibility);
}

static void write_pushed(carom_h5_file *file, const carom_result_plan *plan) {
  size_t count = (size_t)plan->actuator_count;
  int *body = CAROM_NEW(&file->allocator, int, 3 * count), *kind = body + 2 * count;
  if (!body) {
    carom_h5_fail_memory(file, "/plan/forces");
    return;
  }
  for (size_t i = 0; i < count; i++) {
    body[2 * i] = plan->actuators[i].body;
    body[2 * i + 1] = plan->actuators[i].reaction;
    kind[i] = (int)plan->actuators[i].kind;
  }
  carom_result_write_pairs(file, CAROM_FIELD_PLAN_FORCE_BODY, count, body);
  carom_result_write_ints(file, CAROM_FIELD_PLAN_FORCE_KIND, count, kind);
  carom_release(&file->allocator, body);
}

static void write_forces(carom_h5_file *file, const carom_result_plan *plan) {
  size_t intervals = (size_t)plan->interval_count, count = (size_t)plan->actuator_count;
  carom_result_write_texts(file, CAROM_FIELD_PLAN_FORCE_NAME, plan->actuator_count, actuator_name, plan);
  write_pushed(file, plan);
  WRITE_INTS(CAROM_FIELD_PLAN_FORCE_AXES, plan->actuators, count, axes);
  WRITE_DOUBLES(CAROM_FIELD_PLAN_FORCE_POINT, plan->actuators, count, point);
  carom_result_write_doubles(file, CAROM_FIELD_PLAN_FORCE_TIME, 1, intervals + 1, 0, 0, plan->times);
  carom_result_write_doubles(file, CAROM_FIELD_PLAN_FORCE_FORCE, 3, intervals, count, 3, &plan->forces->x);
  carom_result_write_doubles(file, CAROM_FIELD_PLAN_FORCE_TORQUE, 3, intervals, count, 3, &plan->torques->x);
}

static void write_planes(carom_h5_file *file, const carom_result_plan *plan) {
  size_t count = (size_t)plan->plane_count;
  int *span = CAROM_NEW(&file->allocator, int, count);
  if (!span) {
    carom_h5_fail_memory(file, "/plan/planes");
    return;
  }
  for (size_t i = 0; i < count; i++) span[i] = plan->planes[i].span;
  WRITE_INTS(CAROM_FIELD_PLAN_PLANE_NODE, plan->planes, count, node);
  carom_result_write_ints(file, CAROM_FIELD_PLAN_PLANE_SPAN, count, span);
  WRITE_INTS(CAROM_FIELD_PLAN_PLANE_BODY, plan->planes, count, body);
  WRITE_DOUBLES(CAROM_FIELD_PLAN_PLANE_NORMAL, plan->planes, count, normal);
  WRITE_DOUBLES(CAROM_FIELD_PLAN_PLANE_POINT, plan->planes, count, point);
  carom_release(&file->allocator, span);
}

void carom_result_write_plan(carom_h5_file *file, const carom_result_plan *plan) {
  write_history(file, plan);
  write_forces(file, plan);
  write_planes(file, plan);
  carom_result_write_texts(file, CAROM_FIELD_PLAN_TABLE_LABEL, plan->figure_count, figure_label, plan);
  carom_result_write_texts(file, CAROM_FIELD_PLAN_TABLE_UNIT, plan->figure_count, figure_unit, plan);
  WRITE_DOUBLES(CAROM_FIELD_PLAN_TABLE_GUESS, plan->figures, plan->figure_count, guess);
  WRITE_DOUBLES(CAROM_FIELD_PLAN_TABLE_OPTIMUM, plan->figures, plan->figure_count, optimum);
}

// ---- reading -------------------------------------------------------------------------------------------------------

// The rows of a table: a block of structs, zeroed. What is read of them later is put in by column.
static void *make_rows(carom_h5_file *file, carom_result_field_id id, size_t size, int *count) {
  hsize_t rows = CAROM_H5_ANY;
  hid_t dataset = carom_h5_open_dataset(file, carom_result_fields[id].path, 1, &rows);
  if (dataset < 0) return NULL;
  H5Dclose(dataset);
  void *block = rows < INT_MAX ? carom_allocate(&file->allocator, rows, size) : NULL;
  if (!block) carom_h5_fail_memory(file, carom_result_fields[id].path);
  *count = block ? (int)rows : 0;
  return block;
}

static void read_into(carom_h5_file *file, carom_result_field_id id, hid_t type, size_t size, int count, size_t width,
                      void *rows, size_t offset, size_t stride) {
  hsize_t sizes[2] = {(hsize_t)count, (hsize_t)width};
  if (file->status != CAROM_OK || !rows) return;
  char *values = carom_h5_read(file, carom_result_fields[id].path, type, size, width > 1 ? 2 : 1, sizes);
  for (size_t i = 0; values && i < (size_t)count; i++)
    memcpy((char *)rows + i * stride + offset, values + i * width * size, width * size);
  carom_release(&file->allocator, values);
}

#define OFFSET(array, member) ((array) ? (size_t)((const char *)&(array)->member - (const char *)(array)) : 0)
#define READ_DOUBLES(id, array, count, member)                                                                 \
  read_into(file, id, H5T_NATIVE_DOUBLE, sizeof(double), count, sizeof(array)->member / sizeof(double), array, \
            OFFSET(array, member), sizeof *(array))
#define READ_INTS(id, array, count, member)                                                           \
  read_into(file, id, H5T_NATIVE_INT, sizeof(int), count, sizeof(array)->member / sizeof(int), array, \
            OFFSET(array, member), sizeof *(array))

static void read_history(carom_h5_file *file, carom_result_plan *plan) {
  carom_plan_iterate *it = plan->iterates =
      make_rows(file, CAROM_FIELD_PLAN_HISTORY_COST, sizeof *it, &plan->iterate_count);
  READ_INTS(CAROM_FIELD_PLAN_HISTORY_SOLVE, it, plan->iterate_count, solve);
  READ_INTS(CAROM_FIELD_PLAN_HISTORY_ITERATION, it, plan->iterate_count, iteration);
  READ_DOUBLES(CAROM_FIELD_PLAN_HISTORY_COST, it, plan->iterate_count, cost);
  READ_DOUBLES(CAROM_FIELD_PLAN_HISTORY_INFEASIBILITY, it, plan->iterate_count, infeasibility);
}

static char *read_names(carom_h5_file *file, carom_result_field_id id, int count, size_t *stride) {
  hsize_t rows = (hsize_t)count;
  return carom_h5_read_texts(file, carom_result_fields[id].path, &rows, stride);
}

static void read_pushed(carom_h5_file *file, carom_result_plan *plan) {
  hsize_t pairs[2] = {(hsize_t)plan->actuator_count, 2}, count = (hsize_t)plan->actuator_count;
  size_t stride = 0;
  plan->texts[0] = read_names(file, CAROM_FIELD_PLAN_FORCE_NAME, plan->actuator_count, &stride);
  int *body = carom_h5_read(file, carom_result_fields[CAROM_FIELD_PLAN_FORCE_BODY].path, H5T_NATIVE_INT, sizeof *body,
                            2, pairs);
  int *kind = carom_h5_read(file, carom_result_fields[CAROM_FIELD_PLAN_FORCE_KIND].path, H5T_NATIVE_INT, sizeof *kind,
                            1, &count);
  for (size_t i = 0; file->status == CAROM_OK && i < (size_t)plan->actuator_count; i++) {
    carom_result_actuator *u = &plan->actuators[i];
    u->name = plan->texts[0] + stride * i;
    u->body = body[2 * i], u->reaction = body[2 * i + 1];
    if (kind[i] < 0 || kind[i] > CAROM_ACTUATOR_JOINT)
      carom_h5_fail_format(file, "/plan/forces/kind", "has an unknown kind");
    else
      u->kind = (carom_actuator_kind)kind[i];
  }
  carom_release(&file->allocator, body);
  carom_release(&file->allocator, kind);
}

static void read_forces(carom_h5_file *file, carom_result_plan *plan) {
  const carom_result_field *f = carom_result_fields;
  plan->actuators = make_rows(file, CAROM_FIELD_PLAN_FORCE_AXES, sizeof *plan->actuators, &plan->actuator_count);
  if (file->status == CAROM_OK) read_pushed(file, plan);
  READ_INTS(CAROM_FIELD_PLAN_FORCE_AXES, plan->actuators, plan->actuator_count, axes);
  READ_DOUBLES(CAROM_FIELD_PLAN_FORCE_POINT, plan->actuators, plan->actuator_count, point);
  hsize_t nodes = CAROM_H5_ANY;
  plan->times = carom_h5_read(file, f[CAROM_FIELD_PLAN_FORCE_TIME].path, H5T_NATIVE_DOUBLE, sizeof(double), 1, &nodes);
  if (file->status != CAROM_OK) return;
  if (nodes < 1 || nodes > INT_MAX) {
    carom_h5_fail_format(file, "/plan/forces/time", "has no node");
    return;
  }
  plan->interval_count = (int)nodes - 1;
  for (int i = 0; i < 2; i++) {
    hsize_t size[3] = {nodes - 1, (hsize_t)plan->actuator_count, 3};
    carom_vec3 *vectors =
        carom_h5_read(file, f[i == 0 ? CAROM_FIELD_PLAN_FORCE_FORCE : CAROM_FIELD_PLAN_FORCE_TORQUE].path,
                      H5T_NATIVE_DOUBLE, sizeof(double), 3, size);
    if (i == 0)
      plan->forces = vectors;
    else
      plan->torques = vectors;
  }
}

static void read_planes(carom_h5_file *file, carom_result_plan *plan) {
  hsize_t count;
  plan->planes = make_rows(file, CAROM_FIELD_PLAN_PLANE_NODE, sizeof *plan->planes, &plan->plane_count);
  READ_INTS(CAROM_FIELD_PLAN_PLANE_NODE, plan->planes, plan->plane_count, node);
  READ_INTS(CAROM_FIELD_PLAN_PLANE_BODY, plan->planes, plan->plane_count, body);
  READ_DOUBLES(CAROM_FIELD_PLAN_PLANE_NORMAL, plan->planes, plan->plane_count, normal);
  READ_DOUBLES(CAROM_FIELD_PLAN_PLANE_POINT, plan->planes, plan->plane_count, point);
  count = (hsize_t)plan->plane_count;
  int *span = carom_h5_read(file, carom_result_fields[CAROM_FIELD_PLAN_PLANE_SPAN].path, H5T_NATIVE_INT, sizeof *span,
                            1, &count);
  for (int i = 0; span && i < plan->plane_count; i++) plan->planes[i].span = span[i] != 0;
  carom_release(&file->allocator, span);
}

static void read_figures(carom_h5_file *file, carom_result_plan *plan) {
  size_t label = 0, unit = 0;
  plan->figures = make_rows(file, CAROM_FIELD_PLAN_TABLE_GUESS, sizeof *plan->figures, &plan->figure_count);
  READ_DOUBLES(CAROM_FIELD_PLAN_TABLE_GUESS, plan->figures, plan->figure_count, guess);
  READ_DOUBLES(CAROM_FIELD_PLAN_TABLE_OPTIMUM, plan->figures, plan->figure_count, optimum);
  plan->texts[1] = read_names(file, CAROM_FIELD_PLAN_TABLE_LABEL, plan->figure_count, &label);
  plan->texts[2] = read_names(file, CAROM_FIELD_PLAN_TABLE_UNIT, plan->figure_count, &unit);
  for (int i = 0; file->status == CAROM_OK && i < plan->figure_count; i++) {
    plan->figures[i].label = plan->texts[1] + label * (size_t)i;
    plan->figures[i].unit = plan->texts[2] + unit * (size_t)i;
  }
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

void carom_result_read_plan(carom_h5_file *file, carom_result *result) {
  if (!carom_h5_has(file, "/plan")) return;
  carom_result_plan *plan = result->plan = CAROM_NEW(&file->allocator, carom_result_plan, 1);
  if (!plan) {
    carom_h5_fail_memory(file, "/plan");
    return;
  }
  read_history(file, plan);
  read_forces(file, plan);
  read_planes(file, plan);
  read_figures(file, plan);
  if (file->status != CAROM_OK) return;
  if (!indices_are_sound(plan, result->body_count))
    carom_h5_fail_format(file, "/plan", "has a force or a plane of no body, at no node or in no place");
  else if (!numbers_are_sound(plan))
    carom_h5_fail_format(file, "/plan/forces", "has a time or a force that is not finite, or times out of order");
}

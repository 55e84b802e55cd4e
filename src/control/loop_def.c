// Sensors and controllers as they were asked for.
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "control/loop.h"

carom_sensor_def carom_sensor_default(void) { return (carom_sensor_def){.other = CAROM_WORLD}; }

carom_controller_def carom_controller_default(void) {
  return (carom_controller_def){.gains = carom_track_default_gains(),
                                .guide = {.pose = cm_pose_identity()},
                                .force_limit = INFINITY,
                                .torque_limit = INFINITY};
}

carom_status carom_loop_def_create(const carom_allocator *allocator, carom_loop_def **def, carom_error *error) {
  carom_allocator a = carom_allocator_or_default(allocator);
  *def = CAROM_NEW(&a, carom_loop_def, 1);
  if (!*def) return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for sensors and controllers");
  (*def)->allocator = a;
  return CAROM_OK;
}

static void release_controller(const carom_allocator *a, carom_controller_def *c) {
  for (int i = 0; i < 6; i++) carom_release(a, (void *)c->formula[i]);
  CAROM_RELEASE_ALL(a, (void *)c->name, (void *)c->knots, (void *)c->guide.line);
}

static void release_sensor(const carom_allocator *a, carom_sensor_def *s) {
  if (s->gait) carom_release(a, (void *)s->gait->swap);
  CAROM_RELEASE_ALL(a, (void *)s->name, (void *)s->gait);
}

void carom_loop_def_destroy(carom_loop_def *def) {
  if (!def) return;
  carom_allocator a = def->allocator;
  for (int i = 0; i < def->sensor_count; i++) release_sensor(&a, &def->sensors[i]);
  for (int i = 0; i < def->controller_count; i++) release_controller(&a, &def->controllers[i]);
  for (int i = 0; i < def->constant_count; i++) carom_release(&a, def->constants[i].name);
  for (int i = 0; i < def->trajectory_count; i++) carom_trajectory_destroy(def->trajectories[i]);
  for (int i = 0; i < def->motion_count; i++) carom_gait_motion_destroy(def->motions[i]);
  CAROM_RELEASE_ALL(&a, def->sensors, def->controllers, def->constants, def->trajectories, def->motions, def);
}

int carom_loop_sensor_count(const carom_loop_def *def) { return def->sensor_count; }
int carom_loop_controller_count(const carom_loop_def *def) { return def->controller_count; }

#define GROW(def, array, count, capacity) \
  carom_grow(&(def)->allocator, (void **)&(array), (count), &(capacity), sizeof *(array))

static char *copy_name(const carom_loop_def *def, const char *name) {
  return carom_copy_text(&def->allocator, name ? name : "");
}

static void *copy_bytes(const carom_allocator *a, const void *from, size_t size) {
  void *to = carom_allocate(a, size, 1);
  if (to) memcpy(to, from, size);
  return to;
}

static carom_gait *copy_gait(const carom_allocator *a, const carom_gait *from) {
  carom_gait *gait = copy_bytes(a, from, sizeof *from);
  if (!gait) return NULL;
  size_t size = from->swap_count > 0 ? (size_t)from->swap_count * sizeof *from->swap : 0;
  gait->swap = size > 0 ? copy_bytes(a, from->swap, size) : NULL;
  if (size == 0 || gait->swap) return gait;
  carom_release(a, gait);
  return NULL;
}

int carom_loop_add_sensor(carom_loop_def *def, const carom_sensor_def *sensor) {
  if (!GROW(def, def->sensors, def->sensor_count, def->sensor_capacity)) return -1;
  carom_sensor_def own = *sensor;
  own.name = copy_name(def, sensor->name);
  own.gait = sensor->gait ? copy_gait(&def->allocator, sensor->gait) : NULL;
  if (!own.name || (sensor->gait && !own.gait)) {
    release_sensor(&def->allocator, &own);
    return -1;
  }
  def->sensors[def->sensor_count] = own;
  return def->sensor_count++;
}

int carom_loop_add_constant(carom_loop_def *def, const char *name, double value) {
  if (!GROW(def, def->constants, def->constant_count, def->constant_capacity)) return -1;
  carom_loop_constant own = {copy_name(def, name), value};
  if (!own.name) return -1;
  def->constants[def->constant_count] = own;
  return def->constant_count++;
}

// All that a controller points to but trajectories; false when some of it could not be copied.
static bool copy_parts(const carom_loop_def *def, carom_controller_def *own) {
  const carom_allocator *a = &def->allocator;
  const carom_controller_def given = *own;
  size_t knots = given.knot_count > 0 && given.knots ? (size_t)given.knot_count * sizeof *given.knots : 0;
  bool good = (own->name = copy_name(def, given.name)) != NULL;
  for (int i = 0; i < 6; i++) {
    own->formula[i] = given.formula[i] ? carom_copy_text(a, given.formula[i]) : NULL;
    good = good && (!given.formula[i] || own->formula[i]);
  }
  own->knots = knots > 0 ? copy_bytes(a, given.knots, knots) : NULL;
  own->guide.line = given.guide.line ? copy_bytes(a, given.guide.line, sizeof *given.guide.line) : NULL;
  return good && (knots == 0 || own->knots) && (!given.guide.line || own->guide.line);
}

int carom_loop_add_controller(carom_loop_def *def, const carom_controller_def *controller) {
  if (!GROW(def, def->controllers, def->controller_count, def->controller_capacity)) return -1;
  carom_controller_def own = *controller;
  if (!copy_parts(def, &own)) {
    release_controller(&def->allocator, &own);
    return -1;
  }
  def->controllers[def->controller_count] = own;
  return def->controller_count++;
}

bool carom_loop_def_keep(carom_loop_def *def, carom_trajectory *trajectory) {
  if (!GROW(def, def->trajectories, def->trajectory_count, def->trajectory_capacity)) {
    carom_trajectory_destroy(trajectory);
    return false;
  }
  def->trajectories[def->trajectory_count++] = trajectory;
  return true;
}

bool carom_loop_def_keep_motion(carom_loop_def *def, carom_gait_motion *motion) {
  if (!GROW(def, def->motions, def->motion_count, def->motion_capacity)) {
    carom_gait_motion_destroy(motion);
    return false;
  }
  def->motions[def->motion_count++] = motion;
  return true;
}

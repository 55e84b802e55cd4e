// Driven bodies, boundaries that need not be convex, and grains that come back: what flows of grains need.
#include <math.h>
#include <stdio.h>

#include "model/builder.h"

carom_drive_def carom_drive_default(void) { return (carom_drive_def){.body = -1, .axis = {0, 0, 1}}; }

carom_boundary_def carom_boundary_default(void) {
  return (carom_boundary_def){.body = CAROM_WORLD, .pose = cm_pose_identity()};
}

carom_recirculation_def carom_recirculation_default(void) { return (carom_recirculation_def){.seed = 1}; }

// ---- drives -------------------------------------------------------------------------------------------

static carom_status check_schedule(const carom_drive_def *def, const char *name, carom_error *error) {
  if (def->knot_count < 0 || (def->knot_count > 0 && !def->knots))
    return carom_fail(error, CAROM_ERR_ARGUMENT, "drive of '%s': %d knots, but no array of them", name,
                      def->knot_count);
  for (int i = 0; i < def->knot_count; i++) {
    if (!isfinite(def->knots[i].time) || !isfinite(def->knots[i].factor))
      return carom_fail(error, CAROM_ERR_NUMBER, "drive of '%s': knot %d of the schedule is not finite", name, i);
    if (i > 0 && !(def->knots[i].time > def->knots[i - 1].time))
      return carom_fail(error, CAROM_ERR_ARGUMENT, "drive of '%s': the times of the schedule must ascend (knot %d)",
                        name, i);
  }
  return CAROM_OK;
}

static carom_status check_drive(const carom_builder *builder, const carom_drive_def *def, carom_error *error) {
  const carom_model_full *model = builder->model;
  const char *name = model->bodies[def->body].name;
  if (!model->bodies[def->body].fixed)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "drive of '%s': only a fixed body can be driven", name);
  for (int i = 0; i < model->view.drive_count; i++)
    if (model->drives[i].body == def->body)
      return carom_fail(error, CAROM_ERR_ARGUMENT, "'%s' is driven twice: put both motions into one drive", name);
  if (!cm_finite(def->velocity) || !cm_finite(def->axis) || !cm_finite(def->point) || !cm_finite(def->amplitude) ||
      !isfinite(def->angular_velocity) || !isfinite(def->frequency) || !isfinite(def->phase))
    return carom_fail(error, CAROM_ERR_NUMBER, "drive of '%s': a number is not finite", name);
  if (def->angular_velocity != 0 && !(cm_norm(def->axis) > 0))
    return carom_fail(error, CAROM_ERR_NUMBER, "drive of '%s': the axis is zero", name);
  return check_schedule(def, name, error);
}

int carom_builder_add_drive(carom_builder *builder, const carom_drive_def *def) {
  if (!carom_builder_sound(builder) || !carom_builder_knows_body(builder, def->body, false, "drive")) return -1;
  carom_model *m = &builder->model->view;
  if (check_drive(builder, def, &builder->error) != CAROM_OK) return -1;
  carom_drive drive = {.body = def->body,
                       .start = builder->poses[def->body],
                       .velocity = def->velocity,
                       .axis = cm_unit(def->axis),
                       .point = def->point,
                       .amplitude = def->amplitude,
                       .angular_velocity = def->angular_velocity,
                       .frequency = def->frequency,
                       .phase = def->phase,
                       .knot_start = m->knot_count,
                       .knot_count = def->knot_count};
  if (!CAROM_BUILDER_GROW(builder, builder->model->drives, m->drive_count, builder->drive_capacity) ||
      !carom_builder_append_knots(builder, def->knots, def->knot_count))
    return carom_builder_out_of_memory(builder);
  builder->model->drives[m->drive_count] = drive;
  return m->drive_count++;
}

// ---- boundaries ---------------------------------------------------------------------------------------

static carom_status check_profile(const carom_boundary_def *def, const char *name, carom_error *error) {
  if (def->kind == CAROM_BOUNDARY_PLANE) return CAROM_OK;
  if (def->profile_count < 2 || !def->profile)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "boundary '%s': a profile needs two points or more, it has %d", name,
                      def->profile_count);
  for (int i = 0; i < def->profile_count; i++) {
    double rho = def->profile[i][0], z = def->profile[i][1];
    if (!(rho >= 0) || isinf(rho) || !isfinite(z))
      return carom_fail(error, CAROM_ERR_NUMBER,
                        "boundary '%s': point %d of the profile is (%g, %g), expected rho >= 0", name, i, rho, z);
    if (i > 0 && rho == def->profile[i - 1][0] && z == def->profile[i - 1][1])
      return carom_fail(error, CAROM_ERR_GEOMETRY, "boundary '%s': points %d and %d of the profile are the same", name,
                        i - 1, i);
  }
  return CAROM_OK;
}

static carom_status check_boundary(carom_builder *builder, const carom_boundary_def *def, const char *name) {
  const carom_model_full *model = builder->model;
  if (def->body != CAROM_WORLD && !model->bodies[def->body].fixed)
    return carom_fail(&builder->error, CAROM_ERR_ARGUMENT, "boundary '%s': its body '%s' is not fixed", name,
                      model->bodies[def->body].name);
  if (def->material < 0 || def->material >= model->view.material_count)
    return carom_fail(&builder->error, CAROM_ERR_ARGUMENT,
                      "boundary '%s': material index %d, but there are %d materials", name, def->material,
                      model->view.material_count);
  if (!cm_finite(def->pose.p) || !isfinite(cm_qdot(def->pose.q, def->pose.q)))
    return carom_fail(&builder->error, CAROM_ERR_NUMBER, "boundary '%s': its pose is not finite", name);
  return check_profile(def, name, &builder->error);
}

static bool append_profile(carom_builder *builder, const carom_boundary_def *def) {
  carom_model *m = &builder->model->view;
  for (int i = 0; i < def->profile_count; i++) {
    if (!CAROM_BUILDER_GROW(builder, builder->model->profiles, m->profile_count, builder->profile_capacity))
      return false;
    builder->model->profiles[m->profile_count++] = (carom_profile_point){def->profile[i][0], def->profile[i][1]};
  }
  return true;
}

int carom_builder_add_boundary(carom_builder *builder, const carom_boundary_def *def) {
  if (!carom_builder_sound(builder) || !carom_builder_knows_body(builder, def->body, true, "boundary")) return -1;
  carom_model *m = &builder->model->view;
  if (!carom_builder_ensure_material(builder)) return -1;
  char fallback[32];
  snprintf(fallback, sizeof fallback, "boundary%d", m->boundary_count);
  const char *name = def->name ? def->name : fallback;
  if (check_boundary(builder, def, name) != CAROM_OK) return -1;
  carom_boundary boundary = {.kind = def->kind,
                             .body = def->body,
                             .pose = cm_pose(def->pose.p, cm_qunit(def->pose.q)),
                             .material = def->material,
                             .profile_start = m->profile_count,
                             .profile_count = def->kind == CAROM_BOUNDARY_PLANE ? 0 : def->profile_count};
  if (!CAROM_BUILDER_GROW(builder, builder->model->boundaries, m->boundary_count, builder->boundary_capacity) ||
      (boundary.profile_count > 0 && !append_profile(builder, def)) ||
      !(boundary.name = carom_copy_text(&builder->allocator, name)))
    return carom_builder_out_of_memory(builder);
  builder->model->boundaries[m->boundary_count] = boundary;
  return m->boundary_count++;
}

// ---- recirculation ------------------------------------------------------------------------------------

static bool ordered(carom_vec3 low, carom_vec3 high) { return low.x <= high.x && low.y <= high.y && low.z <= high.z; }

static bool overlap(const carom_recirculation_def *d) {
  carom_vec3 a = d->outlet_low, b = d->outlet_high, c = d->inlet_low, e = d->inlet_high;
  return a.x <= e.x && c.x <= b.x && a.y <= e.y && c.y <= b.y && a.z <= e.z && c.z <= b.z;
}

int carom_builder_add_recirculation(carom_builder *builder, const carom_recirculation_def *def) {
  if (!carom_builder_sound(builder)) return -1;
  carom_model *m = &builder->model->view;
  carom_error *error = &builder->error;
  if (!ordered(def->outlet_low, def->outlet_high) || !ordered(def->inlet_low, def->inlet_high))
    carom_fail(error, CAROM_ERR_NUMBER, "recirculation %d: a box has its low corner above its high one",
               m->recirculation_count);
  else if (!cm_finite(def->inlet_low) || !cm_finite(def->inlet_high) || !cm_finite(def->velocity))
    carom_fail(error, CAROM_ERR_NUMBER, "recirculation %d: inlet and velocity must be finite", m->recirculation_count);
  else if (overlap(def))
    carom_fail(error, CAROM_ERR_GEOMETRY,
               "recirculation %d: outlet and inlet overlap, so that a grain would leave as soon as it came",
               m->recirculation_count);
  if (!carom_builder_sound(builder)) return -1;
  if (!CAROM_BUILDER_GROW(builder, builder->model->recirculations, m->recirculation_count,
                          builder->recirculation_capacity))
    return carom_builder_out_of_memory(builder);
  builder->model->recirculations[m->recirculation_count] = *def;
  return m->recirculation_count++;
}

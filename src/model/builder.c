// Collects definitions into a model. The arrays grow here and are handed over to the model by carom_builder_finish.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/builder.h"

#define GROW CAROM_BUILDER_GROW

carom_status carom_builder_create(const carom_allocator *allocator, carom_builder **builder, carom_error *error) {
  *builder = NULL;
  carom_allocator a = carom_allocator_or_default(allocator);
  carom_builder *b = CAROM_NEW(&a, carom_builder, 1);
  carom_model_full *model = CAROM_NEW(&a, carom_model_full, 1);
  if (!b || !model) {
    CAROM_RELEASE_ALL(&a, b, model);
    return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for a model builder");
  }
  model->view.allocator = a;
  carom_names_create(&model->body_names, &a);
  carom_names_create(&model->joint_names, &a);
  carom_names_create(&model->input_names, &a);
  carom_names_create(&model->solid_names, &a);
  b->model = model;
  b->allocator = a;
  carom_names_create(&b->material_names, &a);
  *builder = b;
  return CAROM_OK;
}

void carom_builder_destroy(carom_builder *builder) {
  if (!builder) return;
  if (builder->model) carom_model_destroy(&builder->model->view);
  carom_names_destroy(&builder->material_names);
  carom_allocator a = builder->allocator;
  CAROM_RELEASE_ALL(&a, builder->poses, builder->velocities, builder->angular_velocities, builder->node_velocities,
                    builder);
}

void carom_model_destroy(carom_model *model) {
  if (!model) return;
  carom_model_full *m = (carom_model_full *)model;
  carom_allocator a = model->allocator;
  for (int i = 0; i < model->part_count; i++) carom_shape_release(m->parts[i].shape);
  for (int i = 0; i < model->body_count; i++) carom_release(&a, (void *)m->bodies[i].name);
  for (int i = 0; i < model->material_count; i++) carom_release(&a, (void *)m->materials[i].name);
  for (int i = 0; i < model->boundary_count; i++) carom_release(&a, (void *)m->boundaries[i].name);
  for (int i = 0; i < model->joint_count; i++) carom_release(&a, (void *)m->joints[i].name);
  for (int i = 0; i < model->input_count; i++) carom_release(&a, (void *)m->inputs[i].name);
  carom_names_destroy(&m->body_names);
  carom_names_destroy(&m->joint_names);
  carom_names_destroy(&m->input_names);
  carom_solids_release(m);
  CAROM_RELEASE_ALL(&a, m->bodies, m->parts, m->materials, m->charge_sets, m->charges, m->springs, m->forces, m->knots,
                    m->aparts, m->surfaces, m->joints, m->drives, m->boundaries, m->profiles, m->recirculations,
                    m->electromagnets, m->inputs, m->supports, m);
}

int carom_model_find_body(const carom_model *model, const char *name) {
  return carom_names_find(&((const carom_model_full *)model)->body_names, name);
}

// ---- mistakes -----------------------------------------------------------------------------------------

bool carom_builder_sound(const carom_builder *builder) { return builder->error.status == CAROM_OK && builder->model; }

int carom_builder_out_of_memory(carom_builder *builder) {
  carom_fail(&builder->error, CAROM_ERR_MEMORY, "out of memory while building a model of %d bodies",
             builder->model->view.body_count);
  return -1;
}

bool carom_builder_knows_body(carom_builder *builder, int body, bool world_allowed, const char *what) {
  if (world_allowed && body == CAROM_WORLD) return true;
  if (body >= 0 && body < builder->model->view.body_count) return true;
  carom_fail(&builder->error, CAROM_ERR_ARGUMENT, "%s: body index %d, but there are %d bodies so far", what, body,
             builder->model->view.body_count);
  return false;
}

carom_status carom_builder_status(const carom_builder *builder, carom_error *error) {
  if (builder->error.status != CAROM_OK && error) *error = builder->error;
  return builder->error.status;
}

// ---- materials ----------------------------------------------------------------------------------------

static carom_status check_material(const carom_material_def *def, carom_error *error) {
  const char *name = def->name ? def->name : "(unnamed)";
  if (!(def->density > 0) || isinf(def->density))
    return carom_fail(error, CAROM_ERR_NUMBER, "material '%s': the density is %g, expected more than 0", name,
                      def->density);
  if (!(def->restitution >= 0 && def->restitution <= 1))
    return carom_fail(error, CAROM_ERR_NUMBER, "material '%s': the restitution is %g, expected 0 to 1", name,
                      def->restitution);
  if (!(def->friction >= 0) || isinf(def->friction))
    return carom_fail(error, CAROM_ERR_NUMBER, "material '%s': the friction is %g, expected 0 or more", name,
                      def->friction);
  return CAROM_OK;
}

int carom_builder_add_material(carom_builder *builder, const carom_material_def *def) {
  if (!carom_builder_sound(builder)) return -1;
  carom_model *m = &builder->model->view;
  if (check_material(def, &builder->error) != CAROM_OK) return -1;
  if (def->name && carom_names_find(&builder->material_names, def->name) >= 0) {
    carom_fail(&builder->error, CAROM_ERR_ARGUMENT, "material '%s' is there already", def->name);
    return -1;
  }
  if (!GROW(builder, builder->model->materials, m->material_count, builder->material_capacity))
    return carom_builder_out_of_memory(builder);
  char fallback[32];
  snprintf(fallback, sizeof fallback, "material%d", m->material_count);
  char *name = carom_copy_text(&builder->allocator, def->name ? def->name : fallback);
  if (!name) return carom_builder_out_of_memory(builder);
  builder->model->materials[m->material_count] =
      (carom_material){name, def->density, def->restitution, def->friction, def->color};
  if (!carom_names_add(&builder->material_names, name, m->material_count)) {
    carom_release(&builder->allocator, name);
    return carom_builder_out_of_memory(builder);
  }
  return m->material_count++;
}

// ---- bodies -------------------------------------------------------------------------------------------

// Colours that stay apart for colour-blind eyes (Tol 2021, "bright").
uint32_t carom_palette(int index) {
  static const uint32_t colors[] = {0x4477AA, 0xEE6677, 0x228833, 0xCCBB44, 0x66CCEE, 0xAA3377};
  return colors[index % (int)(sizeof colors / sizeof *colors)];
}

static uint32_t body_color(const carom_body_def *def, const carom_material *material, int index) {
  if (def->color != CAROM_COLOR_AUTO) return def->color & 0xFFFFFF;
  if (material->color != CAROM_COLOR_AUTO) return material->color & 0xFFFFFF;
  return def->fixed ? 0x999999 : carom_palette(index);
}

bool carom_builder_ensure_material(carom_builder *builder) {
  if (builder->model->view.material_count > 0) return true;
  carom_material_def def = carom_material_default();
  def.name = "default";
  return carom_builder_add_material(builder, &def) >= 0;
}

static bool reserve_body(carom_builder *builder, int parts) {
  carom_model *m = &builder->model->view;
  bool ok = GROW(builder, builder->model->bodies, m->body_count, builder->body_capacity) &&
            GROW(builder, builder->poses, m->body_count, builder->pose_capacity) &&
            GROW(builder, builder->velocities, m->body_count, builder->velocity_capacity) &&
            GROW(builder, builder->angular_velocities, m->body_count, builder->angular_capacity);
  while (ok && builder->part_capacity < m->part_count + parts)
    ok = GROW(builder, builder->model->parts, builder->part_capacity, builder->part_capacity);
  return ok;
}

static void append_parts(carom_builder *builder, const carom_body_def *def, carom_pose principal) {
  carom_model *m = &builder->model->view;
  carom_pose to_principal = cm_pose_inverse(principal);
  for (int i = 0; i < def->part_count; i++) {
    carom_part part = def->parts[i];
    carom_shape_retain(part.shape);
    part.pose.q = cm_qunit(part.pose.q);
    part.pose = cm_compose(to_principal, part.pose);
    builder->model->parts[m->part_count++] = part;
  }
}

static void append_body(carom_builder *builder, const carom_body_def *def, carom_body body, carom_pose principal) {
  carom_model *m = &builder->model->view;
  int index = m->body_count;
  carom_pose pose = cm_pose(def->pose.p, cm_qunit(def->pose.q));
  body.part_start = m->part_count;
  body.part_count = def->part_count;
  append_parts(builder, def, principal);
  builder->poses[index] = cm_compose(pose, principal);
  builder->velocities[index] = def->velocity;
  builder->angular_velocities[index] = def->angular_velocity;
  builder->model->bodies[index] = body;
  m->moving_count += body.fixed ? 0 : 1;
  m->body_count++;
}

static carom_status check_new_body(carom_builder *builder, const carom_body_def *def, const char *name) {
  const carom_model *m = &builder->model->view;
  if (carom_names_find(&builder->model->body_names, name) >= 0)
    return carom_fail(&builder->error, CAROM_ERR_ARGUMENT, "two bodies are named '%s'", name);
  if (carom_names_find(&builder->model->solid_names, name) >= 0)
    return carom_fail(&builder->error, CAROM_ERR_ARGUMENT, "a solid and a body are named '%s'", name);
  if (def->material < 0 || def->material >= m->material_count)
    return carom_fail(&builder->error, CAROM_ERR_ARGUMENT, "body '%s': material index %d, but there are %d materials",
                      name, def->material, m->material_count);
  return carom_body_check(def, name, &builder->error);
}

int carom_builder_add_body(carom_builder *builder, const carom_body_def *def) {
  if (!carom_builder_sound(builder) || !carom_builder_ensure_material(builder)) return -1;
  carom_model *m = &builder->model->view;
  char fallback[32];
  snprintf(fallback, sizeof fallback, "body%d", m->body_count);
  const char *name = def->name ? def->name : fallback;
  if (check_new_body(builder, def, name) != CAROM_OK) return -1;
  const carom_material *material = &builder->model->materials[def->material];
  carom_body_def dense = *def;
  if (!(dense.density > 0)) dense.density = material->density;
  carom_body body = {.material = def->material, .color = body_color(def, material, m->body_count)};
  carom_pose principal;
  if (carom_body_constants(&dense, name, &builder->mass_cache, &body, &principal, &builder->error) != CAROM_OK)
    return -1;
  char *copy = carom_copy_text(&builder->allocator, name);
  if (!copy || !reserve_body(builder, def->part_count) ||
      !carom_names_add(&builder->model->body_names, copy, m->body_count)) {
    carom_release(&builder->allocator, copy);
    return carom_builder_out_of_memory(builder);
  }
  body.name = copy;
  append_body(builder, def, body, principal);
  return m->body_count - 1;
}

// ---- force fields -------------------------------------------------------------------------------------

// From the user's body frame to the principal one.
carom_vec3 carom_builder_point(const carom_builder *builder, int body, carom_vec3 point) {
  return body == CAROM_WORLD ? point : cm_transform(builder->model->bodies[body].frame, point);
}

void carom_builder_set_gravity(carom_builder *builder, carom_vec3 acceleration) {
  if (!carom_builder_sound(builder)) return;
  if (!cm_finite(acceleration)) {
    carom_fail(&builder->error, CAROM_ERR_NUMBER, "gravity is not finite");
    return;
  }
  builder->model->view.gravity = acceleration;
}

int carom_builder_add_charge_set(carom_builder *builder, double constant, double softening) {
  if (!carom_builder_sound(builder)) return -1;
  carom_model *m = &builder->model->view;
  if (!isfinite(constant) || !(softening >= 0) || isinf(softening)) {
    carom_fail(&builder->error, CAROM_ERR_NUMBER,
               "charge set: constant %g and softening %g must be finite, the latter >= 0", constant, softening);
    return -1;
  }
  if (!GROW(builder, builder->model->charge_sets, m->charge_set_count, builder->set_capacity))
    return carom_builder_out_of_memory(builder);
  builder->model->charge_sets[m->charge_set_count] = (carom_charge_set){.constant = constant, .softening = softening};
  return m->charge_set_count++;
}

int carom_builder_add_charge(carom_builder *builder, int set, int body, carom_vec3 point, double charge) {
  if (!carom_builder_sound(builder) || !carom_builder_knows_body(builder, body, true, "charge")) return -1;
  carom_model *m = &builder->model->view;
  if (set < 0 || set >= m->charge_set_count || !cm_finite(point) || !isfinite(charge)) {
    carom_fail(&builder->error, CAROM_ERR_ARGUMENT, "charge %d: set %d of %d, position and charge must be finite",
               m->charge_count, set, m->charge_set_count);
    return -1;
  }
  if (!GROW(builder, builder->model->charges, m->charge_count, builder->charge_capacity))
    return carom_builder_out_of_memory(builder);
  builder->model->charges[m->charge_count] =
      (carom_charge){set, body, carom_builder_point(builder, body, point), charge};
  return m->charge_count++;
}

static carom_status check_spring(const carom_spring_def *def, int index, carom_error *error) {
  if (def->body[0] == def->body[1])
    return carom_fail(error, CAROM_ERR_ARGUMENT, "spring %d joins a body (or the world) to itself", index);
  if (!(def->stiffness >= 0) || isinf(def->stiffness) || !(def->damping >= 0) || isinf(def->damping))
    return carom_fail(error, CAROM_ERR_NUMBER, "spring %d: stiffness %g and damping %g must be 0 or more", index,
                      def->stiffness, def->damping);
  if (!isfinite(def->rest_length) || !cm_finite(def->point[0]) || !cm_finite(def->point[1]))
    return carom_fail(error, CAROM_ERR_NUMBER, "spring %d: rest length and end points must be finite", index);
  return CAROM_OK;
}

int carom_builder_add_spring(carom_builder *builder, const carom_spring_def *def) {
  if (!carom_builder_sound(builder)) return -1;
  carom_model *m = &builder->model->view;
  if (!carom_builder_knows_body(builder, def->body[0], true, "spring") ||
      !carom_builder_knows_body(builder, def->body[1], true, "spring"))
    return -1;
  if (check_spring(def, m->spring_count, &builder->error) != CAROM_OK) return -1;
  if (!GROW(builder, builder->model->springs, m->spring_count, builder->spring_capacity))
    return carom_builder_out_of_memory(builder);
  carom_spring spring = {.stiffness = def->stiffness, .damping = def->damping, .rest_length = def->rest_length};
  for (int end = 0; end < 2; end++) {
    spring.body[end] = def->body[end];
    spring.point[end] = carom_builder_point(builder, def->body[end], def->point[end]);
  }
  builder->model->springs[m->spring_count] = spring;
  return m->spring_count++;
}

static carom_status check_force(const carom_force_def *def, int index, carom_error *error) {
  if (!cm_finite(def->point) || !cm_finite(def->force) || !cm_finite(def->torque))
    return carom_fail(error, CAROM_ERR_NUMBER, "force %d: point, force and torque must be finite", index);
  if (!isfinite(def->frequency) || !isfinite(def->phase))
    return carom_fail(error, CAROM_ERR_NUMBER, "force %d: frequency and phase must be finite", index);
  if (def->knot_count < 0 || (def->knot_count > 0 && !def->knots))
    return carom_fail(error, CAROM_ERR_ARGUMENT, "force %d: %d knots, but no array of them", index, def->knot_count);
  for (int i = 0; i < def->knot_count; i++) {
    if (!isfinite(def->knots[i].time) || !isfinite(def->knots[i].factor))
      return carom_fail(error, CAROM_ERR_NUMBER, "force %d: knot %d of the schedule is not finite", index, i);
    if (i > 0 && !(def->knots[i].time > def->knots[i - 1].time))
      return carom_fail(error, CAROM_ERR_ARGUMENT, "force %d: the times of the schedule must ascend (knot %d)", index,
                        i);
  }
  return CAROM_OK;
}

bool carom_builder_append_knots(carom_builder *builder, const carom_knot *knots, int count) {
  for (int i = 0; i < count; i++) {
    carom_model *m = &builder->model->view;
    if (!GROW(builder, builder->model->knots, m->knot_count, builder->knot_capacity)) return false;
    builder->model->knots[m->knot_count++] = knots[i];
  }
  return true;
}

int carom_builder_add_force(carom_builder *builder, const carom_force_def *def) {
  if (!carom_builder_sound(builder) || !carom_builder_knows_body(builder, def->body, false, "force")) return -1;
  carom_model *m = &builder->model->view;
  if (check_force(def, m->force_count, &builder->error) != CAROM_OK) return -1;
  const carom_body *body = &builder->model->bodies[def->body];
  carom_force force = {.body = def->body, .body_axes = def->body_axes, .knot_start = m->knot_count};
  force.knot_count = def->knot_count;
  force.frequency = def->frequency;
  force.phase = def->phase;
  force.point = carom_builder_point(builder, def->body, def->point);
  force.force = def->body_axes ? cm_rotate(body->frame.q, def->force) : def->force;
  force.torque = def->body_axes ? cm_rotate(body->frame.q, def->torque) : def->torque;
  if (!GROW(builder, builder->model->forces, m->force_count, builder->force_capacity) ||
      !carom_builder_append_knots(builder, def->knots, def->knot_count))
    return carom_builder_out_of_memory(builder);
  builder->model->forces[m->force_count] = force;
  return m->force_count++;
}

// ---- finish -------------------------------------------------------------------------------------------

// Charges may have come in any order; the sets want theirs side by side, in the order in which they came.
static bool group_charges(carom_builder *builder) {
  carom_model_full *model = builder->model;
  carom_model *m = &model->view;
  if (m->charge_count == 0) return true;
  carom_charge *sorted = CAROM_NEW(&builder->allocator, carom_charge, m->charge_count);
  if (!sorted) return false;
  int next = 0;
  for (int set = 0; set < m->charge_set_count; set++) {
    model->charge_sets[set].charge_start = next;
    for (int i = 0; i < m->charge_count; i++)
      if (model->charges[i].set == set) sorted[next++] = model->charges[i];
    model->charge_sets[set].charge_count = next - model->charge_sets[set].charge_start;
  }
  carom_release(&builder->allocator, model->charges);
  model->charges = sorted;
  return true;
}

static void fill_state(const carom_builder *builder, carom_state *state) {
  for (int i = 0; i < state->body_count; i++) {
    const carom_body *body = &builder->model->bodies[i];
    state->x[i] = builder->poses[i].p;
    state->q[i] = cm_qunit(builder->poses[i].q);
    state->p[i] = body->fixed ? cm_zero3() : cm_scale(body->mass, builder->velocities[i]);
    state->l[i] = carom_body_spin_momentum(body, state->q[i], builder->angular_velocities[i]);
  }
}

static void set_rest_lengths(carom_model_full *model, const carom_state *state) {
  for (int i = 0; i < model->view.spring_count; i++) {
    carom_spring *s = &model->springs[i];
    if (s->rest_length >= 0) continue;
    carom_vec3 a = carom_state_point(state, s->body[0], s->point[0]),
               b = carom_state_point(state, s->body[1], s->point[1]);
    s->rest_length = cm_norm(cm_sub(a, b));
  }
}

static void publish(carom_model_full *model) {
  carom_model *m = &model->view;
  m->bodies = model->bodies;
  m->parts = model->parts;
  m->materials = model->materials;
  m->charge_sets = model->charge_sets;
  m->charges = model->charges;
  m->springs = model->springs;
  m->forces = model->forces;
  m->knots = model->knots;
  m->aparts = model->aparts;
  m->surfaces = model->surfaces;
  m->joints = model->joints;
  m->drives = model->drives;
  m->boundaries = model->boundaries;
  m->profiles = model->profiles;
  m->recirculations = model->recirculations;
  m->electromagnets = model->electromagnets;
  m->inputs = model->inputs;
  m->supports = model->supports;
  m->solids = model->solids;
  m->rest = model->rest;
  m->node_masses = model->node_masses;
  m->tets = (const int(*)[4])model->tets;
  m->pins = model->pins;
  m->pressures = model->pressures;
  m->pressed = (const int(*)[3])model->pressed;
}

carom_status carom_builder_finish(carom_builder *builder, carom_model **model, carom_state **state,
                                  carom_error *error) {
  *model = NULL;
  *state = NULL;
  carom_status status = carom_builder_status(builder, error);
  if (status != CAROM_OK) return status;
  if (!builder->model) return carom_fail(error, CAROM_ERR_ARGUMENT, "the builder was finished already");
  if (builder->model->view.ignores_contacts && builder->model->view.boundary_count > 0)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "boundary '%s': contacts are ignored, so that nothing would touch it",
                      builder->model->boundaries[0].name);
  status = carom_builder_check_electromagnets(builder, error);
  if (status == CAROM_OK) status = carom_builder_finish_supports(builder, error);
  if (status == CAROM_OK) status = carom_builder_finish_solids(builder, error);
  if (status != CAROM_OK) return status;
  carom_state *start = NULL;
  status = carom_state_create(&builder->model->view, &builder->allocator, &start, error);
  if (status != CAROM_OK) return status;
  if (!group_charges(builder)) {
    carom_state_destroy(start);
    return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for %d charges", builder->model->view.charge_count);
  }
  fill_state(builder, start);
  status = carom_builder_lay_flat(builder, start, error);
  if (status != CAROM_OK) {
    carom_state_destroy(start);
    return status;
  }
  set_rest_lengths(builder->model, start);
  publish(builder->model);
  carom_builder_place_nodes(builder, start);
  status = carom_builder_finish_joints(builder, start, error);
  if (status != CAROM_OK) {
    carom_state_destroy(start);
    return status;
  }
  *model = &builder->model->view;
  *state = start;
  builder->model = NULL;
  return CAROM_OK;
}

// Solids that deform: meshes into nodes and tetrahedra of the model, what holds them, and pressure on them.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/builder.h"

// ---- what is said ---------------------------------------------------------------------------------------------------

static carom_status check_name(const carom_builder *b, const char *name, carom_error *error) {
  if (carom_names_find(&b->model->solid_names, name) >= 0)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "two solids are named '%s'", name);
  if (carom_names_find(&b->model->body_names, name) >= 0)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "a solid and a body are named '%s'", name);
  return CAROM_OK;
}

static carom_status check_motion(const carom_solid_def *def, const char *name, carom_error *error) {
  bool finite = cm_finite(def->velocity) && cm_finite(def->angular_velocity) && cm_finite(def->pose.p) &&
                isfinite(cm_qdot(def->pose.q, def->pose.q));
  for (int i = 0; def->velocities && i < def->mesh->node_count && finite; i++) finite = cm_finite(def->velocities[i]);
  if (!finite) return carom_fail(error, CAROM_ERR_NUMBER, "solid '%s': its pose and velocities must be finite", name);
  return CAROM_OK;
}

static carom_status check_solid(const carom_builder *b, const carom_solid_def *def, const char *name,
                                carom_error *error) {
  const carom_model *m = &b->model->view;
  carom_status status = check_name(b, name, error);
  if (status != CAROM_OK) return status;
  if (!def->mesh) return carom_fail(error, CAROM_ERR_ARGUMENT, "solid '%s' has no mesh", name);
  if (def->material < 0 || def->material >= m->material_count)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "solid '%s': material index %d, but there are %d materials", name,
                      def->material, m->material_count);
  if ((unsigned)def->law >= CAROM_ELASTIC_LAWS)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "solid '%s': there is no law number %d", name, (int)def->law);
  return check_motion(def, name, error);
}

// ---- nodes and tetrahedra -------------------------------------------------------------------------------------------

static bool make_room(carom_builder *b, const carom_tets *mesh) {
  carom_model_full *model = b->model;
  const carom_allocator *a = &b->allocator;
  int nodes = model->view.node_count + mesh->node_count, tets = model->view.tet_count + mesh->tet_count;
  return carom_reserve(a, (void **)&model->rest, &b->node_room, nodes, sizeof *model->rest) &&
         carom_reserve(a, (void **)&model->node_masses, &b->mass_room, nodes, sizeof *model->node_masses) &&
         carom_reserve(a, (void **)&b->node_velocities, &b->node_velocity_room, nodes, sizeof *b->node_velocities) &&
         carom_reserve(a, (void **)&model->tets, &b->tet_room, tets, sizeof *model->tets) &&
         CAROM_BUILDER_GROW(b, model->solids, model->view.solid_count, b->solid_capacity);
}

static void place_mesh(carom_builder *b, const carom_solid_def *def, const carom_solid *solid) {
  carom_model_full *model = b->model;
  carom_pose pose = cm_pose(def->pose.p, cm_qunit(def->pose.q));
  for (int i = 0; i < solid->node_count; i++)
    model->rest[solid->node_start + i] = cm_transform(pose, def->mesh->nodes[i]);
  for (int i = 0; i < solid->tet_count; i++)
    for (int k = 0; k < 4; k++) model->tets[solid->tet_start + i][k] = solid->node_start + def->mesh->tets[i][k];
  carom_tets_lump(def->mesh, solid->matter.density, model->node_masses + solid->node_start);
}

static void set_velocities(carom_builder *b, const carom_solid_def *def, carom_solid *solid) {
  const double *mass = b->model->node_masses + solid->node_start;
  const carom_vec3 *x = b->model->rest + solid->node_start;
  carom_vec3 moment = cm_zero3();
  solid->mass = 0;
  for (int i = 0; i < solid->node_count; i++) solid->mass += mass[i], moment = cm_axpy(moment, mass[i], x[i]);
  carom_vec3 center = cm_scale(1 / solid->mass, moment);
  for (int i = 0; i < solid->node_count; i++) {
    carom_vec3 v = cm_add(def->velocity, cm_cross(def->angular_velocity, cm_sub(x[i], center)));
    b->node_velocities[solid->node_start + i] = def->velocities ? cm_add(v, def->velocities[i]) : v;
  }
}

// What lives on the heap for one solid alone.
static carom_status make_own(carom_builder *b, const carom_solid_def *def, carom_solid *solid) {
  carom_tets_skin *skin = CAROM_NEW(&b->allocator, carom_tets_skin, 1);
  carom_elastic_def elastic = carom_elastic_default_def();
  carom_elastic *made;
  solid->skin = skin;
  carom_status status =
      skin ? carom_tets_skin_init(def->mesh, &b->allocator, skin, &b->error)
           : carom_fail(&b->error, CAROM_ERR_MEMORY, "out of memory for the skin of '%s'", solid->name);
  elastic.node_count = solid->node_count, elastic.nodes = b->model->rest + solid->node_start;
  elastic.tet_count = solid->tet_count, elastic.tets = (const int(*)[4])def->mesh->tets;
  elastic.material_count = 1, elastic.materials = &solid->matter, elastic.law = solid->law;
  if (status == CAROM_OK) status = carom_elastic_create(&elastic, &b->allocator, &made, &b->error);
  if (status == CAROM_OK) solid->elastic = made;
  return status;
}

static void release_solid(const carom_allocator *a, const carom_solid *solid) {
  carom_tets_skin_release((carom_tets_skin *)solid->skin);
  carom_elastic_destroy((carom_elastic *)solid->elastic);
  CAROM_RELEASE_ALL(a, (void *)solid->skin, (void *)solid->name);
}

void carom_solids_release(carom_model_full *m) {
  carom_allocator a = m->view.allocator;
  for (int i = 0; i < m->view.solid_count; i++) release_solid(&a, &m->solids[i]);
  carom_names_destroy(&m->solid_names);
  CAROM_RELEASE_ALL(&a, m->solids, m->rest, m->node_masses, m->tets, m->pins, m->pressures, m->pressed);
}

// The message of whoever failed, with the solid's name in front.
static int blame(carom_builder *b, const char *name) {
  carom_error said = b->error;
  b->error = (carom_error){0};
  carom_fail(&b->error, said.status, "solid '%.100s': %s", name, said.message);
  return -1;
}

static uint32_t color_of(const carom_solid_def *def, const carom_material *material, int index) {
  if (def->color != CAROM_COLOR_AUTO) return def->color & 0xFFFFFF;
  return material->color != CAROM_COLOR_AUTO ? material->color & 0xFFFFFF : carom_palette(index);
}

int carom_builder_add_solid(carom_builder *builder, const carom_solid_def *def) {
  if (!carom_builder_sound(builder) || !carom_builder_ensure_material(builder)) return -1;
  carom_model *m = &builder->model->view;
  char fallback[32];
  snprintf(fallback, sizeof fallback, "solid%d", m->solid_count);
  const char *name = def->name ? def->name : fallback;
  if (check_solid(builder, def, name, &builder->error) != CAROM_OK) return -1;
  const carom_material *material = &builder->model->materials[def->material];
  carom_solid solid = {
      .node_start = m->node_count,
      .node_count = def->mesh->node_count,
      .tet_start = m->tet_count,
      .tet_count = def->mesh->tet_count,
      .material = def->material,
      .color = color_of(def, material, m->body_count + m->solid_count),
      .law = def->law,
      .matter = {def->density > 0 ? def->density : material->density, def->lambda, def->mu, def->damping},
      .self_contact = def->self_contact};
  char *copy = carom_copy_text(&builder->allocator, name);
  solid.name = copy;
  if (!copy || !make_room(builder, def->mesh)) {
    carom_release(&builder->allocator, copy);
    return carom_builder_out_of_memory(builder);
  }
  place_mesh(builder, def, &solid);
  set_velocities(builder, def, &solid);
  if (make_own(builder, def, &solid) != CAROM_OK) {
    blame(builder, name);
    release_solid(&builder->allocator, &solid);
    return -1;
  }
  if (!carom_names_add(&builder->model->solid_names, copy, m->solid_count)) {
    release_solid(&builder->allocator, &solid);
    return carom_builder_out_of_memory(builder);
  }
  builder->model->solids[m->solid_count] = solid;
  m->node_count += solid.node_count;
  m->tet_count += solid.tet_count;
  return m->solid_count++;
}

// ---- pins -----------------------------------------------------------------------------------------------------------

static bool knows_solid(carom_builder *b, int solid, const char *what) {
  if (solid >= 0 && solid < b->model->view.solid_count) return true;
  carom_fail(&b->error, CAROM_ERR_ARGUMENT, "%s: solid index %d, but there are %d solids so far", what, solid,
             b->model->view.solid_count);
  return false;
}

static carom_vec3 seen_from(const carom_builder *b, int body, carom_vec3 x) {
  return body == CAROM_WORLD ? x : cm_transform(cm_pose_inverse(b->poses[body]), x);
}

void carom_builder_pin(carom_builder *builder, int solid, int body, int node_count, const int *nodes) {
  if (!carom_builder_sound(builder) || !knows_solid(builder, solid, "pins") ||
      !carom_builder_knows_body(builder, body, true, "pins"))
    return;
  carom_model *m = &builder->model->view;
  const carom_solid *s = &builder->model->solids[solid];
  for (int i = 0; i < node_count; i++) {
    if (nodes[i] < 0 || nodes[i] >= s->node_count) {
      carom_fail(&builder->error, CAROM_ERR_ARGUMENT, "pins of solid '%s': node %d, but nodes go from 0 to %d", s->name,
                 nodes[i], s->node_count - 1);
      return;
    }
    if (!CAROM_BUILDER_GROW(builder, builder->model->pins, m->pin_count, builder->pin_capacity)) {
      carom_builder_out_of_memory(builder);
      return;
    }
    int node = s->node_start + nodes[i];
    builder->model->pins[m->pin_count++] =
        (carom_pin){.node = node, .body = body, .point = seen_from(builder, body, builder->model->rest[node])};
  }
}

static int by_node(const void *a, const void *b) {
  const carom_pin *p = a, *q = b;
  return (p->node > q->node) - (p->node < q->node);
}

// Explicit steps that are stable at rest, by the largest eigenvalue.
static carom_status find_critical_step(carom_builder *b, carom_solid *solid, carom_error *error) {
  carom_elastic_stepper *stepper;
  carom_elastic_limit limit;
  carom_elastic *elastic = (carom_elastic *)solid->elastic;  // nobody else has it yet
  carom_status status = carom_elastic_stepper_create(elastic, NULL, &b->allocator, &stepper, error);
  if (status != CAROM_OK) return status;
  carom_elastic_critical_step(stepper, carom_elastic_rest(elastic), &limit);
  solid->critical_step = limit.sharp;
  solid->frequency = limit.frequency;
  carom_elastic_stepper_destroy(stepper);
  return CAROM_OK;
}

static carom_status finish_pins(carom_builder *b, carom_error *error) {
  carom_model_full *model = b->model;
  int count = model->view.pin_count, next = 0;
  if (count > 0) qsort(model->pins, (size_t)count, sizeof *model->pins, by_node);
  for (int s = 0; s < model->view.solid_count; s++) {
    carom_solid *solid = &model->solids[s];
    solid->pin_start = next;
    for (; next < count && model->pins[next].node < solid->node_start + solid->node_count; next++) {
      const carom_pin *pin = &model->pins[next];
      if (next > 0 && pin[-1].node == pin->node)
        return carom_fail(error, CAROM_ERR_ARGUMENT, "solid '%s': node %d is pinned twice", solid->name,
                          pin->node - solid->node_start);
      if (pin->body != CAROM_WORLD && !model->bodies[pin->body].fixed)
        return carom_fail(error, CAROM_ERR_UNSUPPORTED,
                          "solid '%s' is pinned to '%s', which moves freely: pins hold on to the world and to fixed or "
                          "driven bodies",
                          solid->name, model->bodies[pin->body].name);
    }
    solid->pin_count = next - solid->pin_start;
  }
  return CAROM_OK;
}

// ---- pressure -------------------------------------------------------------------------------------------------------

static carom_status check_pressure(const carom_builder *b, const carom_pressure_def *def, carom_error *error) {
  const carom_solid *s = &b->model->solids[def->solid];
  if (def->triangle_count < 1 || !def->triangles)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "pressure on solid '%s': it acts on no triangle", s->name);
  if (!isfinite(def->pressure))
    return carom_fail(error, CAROM_ERR_NUMBER, "pressure on solid '%s': it is not finite", s->name);
  for (int i = 0; i < def->triangle_count; i++)
    for (int k = 0; k < 3; k++)
      if (def->triangles[i][k] < 0 || def->triangles[i][k] >= s->node_count)
        return carom_fail(error, CAROM_ERR_ARGUMENT, "pressure on solid '%s': node %d, but nodes go from 0 to %d",
                          s->name, def->triangles[i][k], s->node_count - 1);
  for (int i = 0; i < def->knot_count; i++)
    if (!isfinite(def->knots[i].time) || !isfinite(def->knots[i].factor) ||
        (i > 0 && !(def->knots[i].time > def->knots[i - 1].time)))
      return carom_fail(error, CAROM_ERR_ARGUMENT,
                        "pressure on solid '%s': the times of its schedule must be finite and ascend (knot %d)",
                        s->name, i);
  return CAROM_OK;
}

int carom_builder_add_pressure(carom_builder *builder, const carom_pressure_def *def) {
  if (!carom_builder_sound(builder) || !knows_solid(builder, def->solid, "pressure")) return -1;
  carom_model *m = &builder->model->view;
  if (check_pressure(builder, def, &builder->error) != CAROM_OK) return -1;
  carom_pressure pressure = {.solid = def->solid,
                             .triangle_start = m->pressed_count,
                             .triangle_count = def->triangle_count,
                             .pressure = def->pressure,
                             .knot_start = m->knot_count,
                             .knot_count = def->knot_count};
  int triangles = m->pressed_count + def->triangle_count, start = builder->model->solids[def->solid].node_start;
  if (!CAROM_BUILDER_GROW(builder, builder->model->pressures, m->pressure_count, builder->pressure_capacity) ||
      !carom_reserve(&builder->allocator, (void **)&builder->model->pressed, &builder->pressed_room, triangles,
                     sizeof *builder->model->pressed) ||
      !carom_builder_append_knots(builder, def->knots, def->knot_count))
    return carom_builder_out_of_memory(builder);
  for (int i = 0; i < def->triangle_count; i++)
    for (int k = 0; k < 3; k++) builder->model->pressed[m->pressed_count + i][k] = start + def->triangles[i][k];
  m->pressed_count = triangles;
  builder->model->pressures[m->pressure_count] = pressure;
  return m->pressure_count++;
}

// ---- finish ---------------------------------------------------------------------------------------------------------

carom_status carom_builder_finish_solids(carom_builder *builder, carom_error *error) {
  const carom_model *m = &builder->model->view;
  if (m->solid_count > 0 && m->planar)
    return carom_fail(error, CAROM_ERR_UNSUPPORTED, "solid '%s': a planar scene has no solids that deform",
                      builder->model->solids[0].name);
  carom_status status = finish_pins(builder, error);
  for (int i = 0; i < m->solid_count && status == CAROM_OK; i++)
    status = find_critical_step(builder, &builder->model->solids[i], error);
  return status;
}

// Nodes that are pinned start with the velocity of what holds them.
void carom_builder_place_nodes(const carom_builder *builder, carom_state *state) {
  if (state->node_count == 0) return;
  memcpy(state->nodes, builder->model->rest, (size_t)state->node_count * sizeof *state->nodes);
  memcpy(state->node_velocities, builder->node_velocities, (size_t)state->node_count * sizeof *state->node_velocities);
  for (int i = 0; i < builder->model->view.pin_count; i++) {
    int node = builder->model->pins[i].node;
    carom_pin_motion(&builder->model->view, i, 0, &state->nodes[node], &state->node_velocities[node]);
  }
}

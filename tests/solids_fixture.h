// Two solids that deform, with rigid bodies beside them or without, and a motion that is a pure function of the frame's
// number: what a test reads back can be computed again.
#ifndef CAROM_TESTS_SOLIDS_FIXTURE_H
#define CAROM_TESTS_SOLIDS_FIXTURE_H

#include "result_fixture.h"

enum { FIXTURE_SOLIDS = 2 };

typedef struct soft_options {
  bool without_bodies;
  int shells;  // of the ball
} soft_options;

static inline void soft_add(carom_builder *builder, const char *name, const carom_tets *mesh, carom_vec3 at,
                            uint32_t color) {
  carom_solid_def def = carom_solid_default();
  def.name = name;
  def.mesh = mesh;
  def.pose = cm_pose(at, cm_qidentity());
  def.density = 1000;
  def.lambda = 6e4;
  def.mu = 4e4;
  def.damping = 1e-4;
  def.color = color;
  carom_builder_add_solid(builder, &def);
}

static inline void soft_create_with(fixture *f, const soft_options *options) {
  carom_builder *builder = NULL;
  carom_error error = {CAROM_OK, ""};
  carom_tets ball = {0}, bar = {0};
  carom_tets_box box = carom_tets_box_default();
  box.size = cm_vec3(0.3, 0.1, 0.1);
  box.cells[0] = 3, box.cells[1] = box.cells[2] = 1;
  carom_builder_create(NULL, &builder, NULL);
  if (options->without_bodies)
    carom_builder_ignore_contacts(builder, true);  // so that these can be stepped by any integrator
  else
    fixture_fill(builder);
  if (carom_tets_init_ball(0.2, options->shells, NULL, &ball, &error) != CAROM_OK ||
      carom_tets_init_box(&box, NULL, &bar, &error) != CAROM_OK)
    exit(1);
  soft_add(builder, "soft ball", &ball, cm_vec3(0, 0, 1), 0x66CCEE);
  soft_add(builder, "bar, \"long\"", &bar, cm_vec3(1, 0, 1), 0xAA3377);
  if (carom_builder_finish(builder, &f->model, &f->state, &error) != CAROM_OK) {
    fprintf(stderr, "fixture: %s\n", error.message);
    exit(1);
  }
  carom_tets_release(&ball);
  carom_tets_release(&bar);
  carom_builder_destroy(builder);
  f->scene = fixture_scene(f->model, f->state);
}

static inline void soft_create(fixture *f) { soft_create_with(f, &(soft_options){.shells = 2}); }

// Every solid is stretched along z, bent, and moves; at t = 0 it rests.
static inline carom_vec3 soft_node(const carom_model *model, int frame, int node) {
  double t = fixture_time(frame), stretch = 1 + 0.2 * sin(5 * t), bend = 0.5 * sin(2 * t);
  carom_vec3 X = model->rest[node];
  return cm_vec3(X.x + 0.3 * t + bend * (X.z - 1) * (X.z - 1), X.y, 1 + (X.z - 1) * stretch - 0.5 * t * t);
}

static inline carom_vec3 soft_node_velocity(int frame, int node) {
  double t = fixture_time(frame);
  return cm_vec3(0.3, sin(t + node), -t);
}

static inline void soft_move(fixture *f, int frame) {
  if (f->model->body_count > 0) fixture_move(f, frame);
  f->state->time = fixture_time(frame);
  f->state->step = frame;
  for (int i = 0; i < f->state->node_count; i++) {
    f->state->nodes[i] = soft_node(f->model, frame, i);
    f->state->node_velocities[i] = soft_node_velocity(frame, i);
  }
}

// The bar on the ball, and the ball on the ground or (without bodies) on the bar.
static inline carom_contact_event soft_event(const carom_model *model, int index) {
  carom_contact_event event = {.kind = CAROM_EVENT_CONTACT, .time = fixture_time(index / 2)};
  event.body_a = CAROM_SOLID(index % 2);
  event.body_b = index % 2 == 1 ? CAROM_SOLID(0) : model->body_count > 0 ? 0 : CAROM_SOLID(1);
  event.point = cm_vec3(0.1, 0.01 * index, 0.8);
  event.normal = cm_vec3(0, 0, 1);
  event.impulse = cm_vec3(0, 0, 0.25 + index);
  return event;
}

static inline carom_status soft_record(fixture *f, carom_recorder *recorder, int frame, carom_error *error) {
  carom_audit_sample sample = fixture_sample(frame);
  carom_contact_event events[2] = {soft_event(f->model, 2 * frame), soft_event(f->model, 2 * frame + 1)};
  soft_move(f, frame);
  carom_status status = carom_recorder_events(recorder, events, 2, error);
  return status == CAROM_OK ? carom_recorder_frame(recorder, f->state, &sample, error) : status;
}

static inline void soft_write_with(const char *path, int frames, const soft_options *soft) {
  fixture f;
  carom_error error = {CAROM_OK, ""};
  carom_recorder *recorder = NULL;
  carom_recorder_options options = {.overwrite = true, .command = "carom run soft.yaml", .host = "testhost"};
  soft_create_with(&f, soft);
  carom_status status = carom_recorder_open(path, &f.scene, &options, NULL, &recorder, &error);
  for (int i = 0; status == CAROM_OK && i < frames; i++) status = soft_record(&f, recorder, i, &error);
  carom_verdict verdict = fixture_verdict();
  if (status == CAROM_OK) status = carom_recorder_finish(recorder, &verdict, "complete", &error);
  if (status != CAROM_OK) test_fail(__FILE__, __LINE__, "%s", error.message);
  carom_recorder_close(recorder);
  fixture_destroy(&f);
}

static inline void soft_write(const char *path, int frames) {
  soft_write_with(path, frames, &(soft_options){.shells = 2});
}

// Whether the solids of a frame are what was recorded, bit for bit.
static inline bool soft_frame_is_right(carom_result *result, const fixture *f, int index, carom_frame *frame) {
  if (carom_result_read_frame(result, index, frame, NULL) != CAROM_OK) return false;
  static carom_mat3 stress[4096];
  static double mises[4096];
  static carom_vec3 x[4096], v[4096];
  const carom_model *model = f->model;
  bool right = frame->time == fixture_time(index);
  for (int s = 0; s < model->solid_count; s++) {
    const carom_solid *solid = &model->solids[s];
    for (int i = 0; i < solid->node_count; i++) {
      x[i] = soft_node(model, index, solid->node_start + i);
      v[i] = soft_node_velocity(index, solid->node_start + i);
    }
    size_t bytes = (size_t)solid->node_count * sizeof *x;
    right = right && memcmp(frame->nodes + solid->node_start, x, bytes) == 0 &&
            memcmp(frame->node_velocities + solid->node_start, v, bytes) == 0;
    carom_elastic_stress(solid->elastic, x, v, stress, mises);
    for (int k = 0; k < solid->tet_count; k++)
      right = right && frame->stresses[solid->tet_start + k] == (float)mises[k];
    double least_J, energy = carom_elastic_energy(solid->elastic, x, &least_J, NULL);
    int at = index * result->solid_count + s;
    right = right && result->elastic_energies[at] == energy && result->least_J[at] == least_J && energy >= 0;
  }
  return right;
}

#endif

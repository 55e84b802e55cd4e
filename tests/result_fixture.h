// A scene with every kind of shape, and motion that is a pure function of the frame's number: what a test reads back
// can be computed again instead of remembered.
#ifndef CAROM_TESTS_RESULT_FIXTURE_H
#define CAROM_TESTS_RESULT_FIXTURE_H

#include <unistd.h>

#include "carom/carom.h"
#include "test.h"

enum { FIXTURE_BODIES = 5, FIXTURE_PARTS = 6, FIXTURE_SHAPES = 4 };  // the two boxes of "hammer" share one shape

typedef struct fixture {
  carom_scene scene;
  carom_model *model;
  carom_state *state;
} fixture;

static inline carom_part fixture_part(const carom_shape *shape, carom_vec3 p, carom_quat q) {
  carom_part part = {.shape = shape, .pose = cm_pose(p, q)};
  return part;
}

static inline void fixture_add(carom_builder *builder, const char *name, const carom_part *parts, int count, bool fixed,
                               uint32_t color) {
  carom_body_def def = carom_body_default();
  def.name = name;
  def.parts = parts;
  def.part_count = count;
  def.fixed = fixed;
  def.color = color;
  def.density = 500;
  carom_builder_add_body(builder, &def);
}

static inline carom_scene fixture_scene(carom_model *model, carom_state *state) {
  static char path[] = "fixture.yaml", title[] = "Fünf Körper \xE2\x80\xA8</script>",
              description[] = "tests \"quoted\", more";
  static char source[] = "title: five\n", resolved[] = "title: five\nduration: 2\n";
  carom_scene scene = {.path = path, .title = title, .description = description, .seed = 0xFEDCBA9876543210u};
  scene.duration = 2;
  scene.frame_interval = 0.01;
  scene.step = carom_step_default_options();
  scene.step.integrator = "variational";
  scene.camera = (carom_camera){true, {4, -3, 2}, {0, 0, 0.5}};
  scene.model = model;
  scene.state = state;
  scene.source = source;
  scene.resolved = resolved;
  scene.allocator = carom_allocator_default();
  return scene;
}

static inline void fixture_fill(carom_builder *builder) {
  const carom_shape *plane = NULL, *box = NULL, *ball = NULL, *pill = NULL;
  carom_shape_create_halfspace(NULL, &plane, NULL);
  carom_shape_create_box(cm_vec3(0.2, 0.3, 0.4), NULL, &box, NULL);
  carom_shape_create_sphere(0.25, NULL, &ball, NULL);
  carom_shape_create_capsule(0.1, 0.6, NULL, &pill, NULL);
  carom_part ground = fixture_part(plane, cm_zero3(), cm_qidentity());
  carom_part one_box = fixture_part(box, cm_vec3(0.05, 0, 0), cm_qidentity());
  carom_part one_ball = fixture_part(ball, cm_zero3(), cm_qidentity());
  carom_part one_pill = fixture_part(pill, cm_zero3(), cm_axis_angle(cm_vec3(1, 0, 0), 0.5));
  carom_part hammer[2] = {fixture_part(box, cm_vec3(0.5, 0, 0.1), cm_axis_angle(cm_vec3(1, 2, 3), 0.7)),
                          fixture_part(pill, cm_vec3(0, 0.1, 0), cm_axis_angle(cm_vec3(0, 1, 0), 1.2))};
  fixture_add(builder, "ground", &ground, 1, true, 0x888888);
  fixture_add(builder, "box", &one_box, 1, false, 0x4477AA);
  fixture_add(builder, "ball, \"red\"", &one_ball, 1, false, 0xEE6677);
  fixture_add(builder, "pill", &one_pill, 1, false, 0x228833);
  fixture_add(builder, "hammer\n\xE2\x9A\x92", hammer, 2, false, 0xCCBB44);
  carom_shape_release(plane);
  carom_shape_release(box);
  carom_shape_release(ball);
  carom_shape_release(pill);
}

static inline void fixture_create(fixture *f) {
  carom_builder *builder = NULL;
  carom_error error = {CAROM_OK, ""};
  carom_builder_create(NULL, &builder, NULL);
  fixture_fill(builder);
  if (carom_builder_finish(builder, &f->model, &f->state, &error) != CAROM_OK) {
    fprintf(stderr, "fixture: %s\n", error.message);
    exit(1);
  }
  carom_builder_destroy(builder);
  f->scene = fixture_scene(f->model, f->state);
}

static inline void fixture_destroy(fixture *f) {
  carom_state_destroy(f->state);
  carom_model_destroy(f->model);
}

// ---- the motion -----------------------------------------------------------------------------------------------------

static inline double fixture_time(int frame) { return 0.01 * frame; }

static inline carom_pose fixture_pose(int frame, int body) {
  if (body == 0) return cm_pose_identity();
  double t = fixture_time(frame), k = body;
  carom_vec3 p = cm_vec3(sin(3 * t + k), cos(2 * t) * k, 1 + 0.5 * t * t - 0.1 * k);
  return cm_pose(p, cm_axis_angle(cm_vec3(1, k, 2 - k), 4 * t + k));
}

static inline carom_vec3 fixture_velocity(int frame, int body) {
  if (body == 0) return cm_zero3();
  double t = fixture_time(frame);
  return cm_vec3(body + t, 2 * t - body, sin(5 * t + body));
}

static inline carom_vec3 fixture_spin(int frame, int body) {
  if (body == 0) return cm_zero3();
  return cm_vec3(0.1 * frame, -1.5 * body, cos((double)frame + body));
}

enum { FIXTURE_COLLISIONS = 17 };  // the column that holds whole numbers

static inline double fixture_audit(int frame, int column) {
  return column == FIXTURE_COLLISIONS ? 3 * frame : sin(frame + 0.25 * column) * (column + 1);
}

static inline carom_audit_sample fixture_sample(int frame) {
  double v[CAROM_AUDIT_COLUMNS];
  for (int i = 0; i < CAROM_AUDIT_COLUMNS; i++) v[i] = fixture_audit(frame, i);
  carom_audit_sample sample = {.time = fixture_time(frame), .kinetic = v[0], .potential = v[1], .energy = v[2]};
  sample.work = v[3];
  sample.energy_error = v[4];
  sample.momentum = cm_vec3(v[5], v[6], v[7]);
  sample.momentum_error = v[8];
  sample.angular_momentum = cm_vec3(v[9], v[10], v[11]);
  sample.angular_momentum_error = v[12];
  sample.restitution_loss = v[13];
  sample.friction_loss = v[14];
  sample.projection_energy = v[15];
  sample.projection_angular_momentum = v[16];
  sample.collisions = (int64_t)v[FIXTURE_COLLISIONS];
  sample.penetration = v[18];
  sample.complementarity = v[19];
  sample.constraint = v[20];
  return sample;
}

static inline void fixture_move(fixture *f, int frame) {
  f->state->time = fixture_time(frame);
  f->state->step = frame;
  for (int b = 1; b < FIXTURE_BODIES; b++) {
    carom_state_set_pose(f->model, f->state, b, fixture_pose(frame, b));
    carom_state_set_velocity(f->model, f->state, b, fixture_velocity(frame, b), fixture_spin(frame, b));
  }
}

// Events come in twos, one of them on the ground, just before each frame.
static inline carom_contact_event fixture_event(int index) {
  double t = fixture_time(index / 2) - 1e-4 * (1 - index % 2);
  carom_contact_event event = {.kind = (carom_event_kind)(index % 4), .time = t, .body_a = 1 + index % 4};
  event.body_b = index % 2 == 0 ? 0 : 1 + (index + 1) % 4;
  event.point = cm_vec3(0.1 * index, -1, 0.5);
  event.normal = cm_unit(cm_vec3(1, index % 3, 2));
  event.impulse = cm_vec3(index, 0.25, -0.125 * index);
  return event;
}

// ---- channels ------------------------------------------------------------------------------------------------------

enum { FIXTURE_CHANNELS = 4 };
static const carom_channel fixture_channels[FIXTURE_CHANNELS] = {
    {"hinge.angle", "rad"}, {"hinge.rate", "rad/s"}, {"grip, \"left\".fx", "N"}, {"K\xC3\xB6rper.touches", ""}};

// Not all are numbers at all times.
static inline double fixture_channel(int frame, int channel) {
  if (channel == 1 && frame % 5 == 4) return NAN;
  if (channel == 2 && frame % 7 == 3) return -INFINITY;
  return channel == 3 ? frame % 4 : sin(0.3 * frame + channel);
}

static inline bool fixture_same(double a, double b) { return a == b || (isnan(a) && isnan(b)); }

static inline carom_status fixture_record(fixture *f, carom_recorder *recorder, int frame, carom_error *error) {
  carom_audit_sample sample = fixture_sample(frame);
  carom_contact_event events[2] = {fixture_event(2 * frame), fixture_event(2 * frame + 1)};
  double channels[FIXTURE_CHANNELS];
  for (int i = 0; i < FIXTURE_CHANNELS; i++) channels[i] = fixture_channel(frame, i);
  fixture_move(f, frame);
  carom_status status = carom_recorder_channels(recorder, channels, error);
  if (status == CAROM_OK) status = carom_recorder_events(recorder, events, 2, error);
  return status == CAROM_OK ? carom_recorder_frame(recorder, f->state, &sample, error) : status;
}

static inline bool fixture_event_is_right(const carom_result *result, int index) {
  carom_contact_event expected = fixture_event(index), found = result->events[index];
  return found.kind == expected.kind && found.time == expected.time && found.body_a == expected.body_a &&
         found.body_b == expected.body_b && memcmp(&found.point, &expected.point, sizeof found.point) == 0 &&
         memcmp(&found.normal, &expected.normal, sizeof found.normal) == 0 &&
         memcmp(&found.impulse, &expected.impulse, sizeof found.impulse) == 0;
}

static inline carom_verdict fixture_verdict(void) {
  carom_verdict verdict = {.count = 2, .pass = false, .outcome = CAROM_VERDICT_FAIL};
  verdict.rows[0] = (carom_verdict_row){"energy", "Energy", "relative to the kinetic energy", 1e-5, 1e-2, true, ""};
  verdict.rows[1] = (carom_verdict_row){"momentum", "Momentum", "", 2e-3, 1e-9, false, "'ball' at t = 1 s"};
  return verdict;
}

// ---- files ---------------------------------------------------------------------------------------------------------

// A name in the folder of the build that no other test uses.
static inline const char *fixture_path(const char *name) {
  static char path[4][256];
  static int next;
  char *p = path[next++ % 4];
  snprintf(p, sizeof path[0], "result-test-%ld-%s", (long)getpid(), name);
  return p;
}

// With channels, over an older file.
static inline carom_recorder_options fixture_options(void) {
  return (carom_recorder_options){.overwrite = true,
                                  .command = "carom run fixture.yaml",
                                  .host = "testhost",
                                  .channels = fixture_channels,
                                  .channel_count = FIXTURE_CHANNELS};
}

// A complete file of `frames` frames.
static inline void fixture_write(const char *path, int frames) {
  fixture f;
  carom_error error = {CAROM_OK, ""};
  carom_recorder *recorder = NULL;
  carom_recorder_options options = fixture_options();
  fixture_create(&f);
  carom_status status = carom_recorder_open(path, &f.scene, &options, NULL, &recorder, &error);
  for (int i = 0; status == CAROM_OK && i < frames; i++) status = fixture_record(&f, recorder, i, &error);
  carom_verdict verdict = fixture_verdict();
  if (status == CAROM_OK) status = carom_recorder_finish(recorder, &verdict, "complete", &error);
  if (status != CAROM_OK) test_fail(__FILE__, __LINE__, "%s", error.message);
  carom_recorder_close(recorder);
  fixture_destroy(&f);
}

static inline carom_result *fixture_open(const char *path) {
  carom_result *result = NULL;
  carom_error error = {CAROM_OK, ""};
  if (carom_result_open(path, NULL, &result, &error) != CAROM_OK) test_fail(__FILE__, __LINE__, "%s", error.message);
  return result;
}

static inline double fixture_distance(carom_vec3 a, carom_vec3 b) { return cm_norm(cm_sub(a, b)); }
// Angle between two orientations, whatever the signs of the quaternions.
static inline double fixture_angle(carom_quat a, carom_quat b) {
  carom_quat d = cm_qmul(cm_qconj(a), b);
  return 2 * atan2(sqrt(d.x * d.x + d.y * d.y + d.z * d.z), fabs(d.w));
}

// Whether a frame of a result is what was recorded, up to the round-off of going through momenta and principal axes.
static inline bool fixture_frame_is_right(carom_result *result, int index, carom_frame *frame) {
  if (carom_result_read_frame(result, index, frame, NULL) != CAROM_OK) return false;
  bool right = frame->time == fixture_time(index);
  for (int b = 0; b < FIXTURE_BODIES; b++) {
    carom_pose pose = fixture_pose(index, b);
    right = right && fixture_distance(frame->poses[b].p, pose.p) < 1e-13 &&
            fixture_angle(frame->poses[b].q, pose.q) < 1e-13 &&
            fixture_distance(frame->velocities[b], fixture_velocity(index, b)) < 1e-12 &&
            fixture_distance(frame->angular_velocities[b], fixture_spin(index, b)) < 1e-11 * (1 + 0.1 * index);
  }
  for (int i = 0; i < CAROM_AUDIT_COLUMNS; i++)
    right = right && result->audit[(size_t)i * (size_t)result->frame_count + (size_t)index] == fixture_audit(index, i);
  for (int i = 0; i < result->channel_count; i++)
    right = right && fixture_same(frame->channels[i], fixture_channel(index, i));
  return right;
}

#endif

// Carom's integrator `cone` behind the benchmark's interface: the public headers only, as a user would.
#include <math.h>
#include <stdlib.h>

#include "carom_world.h"
#include "granular.h"

// Floor and four walls.
static void add_box(carom_builder *builder, double width) {
  const double half = 1.5707963267948966;
  carom_boundary_def def = carom_boundary_default();
  carom_builder_add_boundary(builder, &def);
  for (int i = 0; i < 4; i++) {
    double angle = half * i;
    def.pose.p = cm_vec3(-0.5 * width * cos(angle), -0.5 * width * sin(angle), 0);
    def.pose.q = cm_axis_angle(cm_vec3(-sin(angle), cos(angle), 0), half);
    carom_builder_add_boundary(builder, &def);
  }
}

static void add_balls(carom_builder *builder, const grains_job *job, const carom_shape *ball) {
  carom_part part = {.shape = ball, .pose = cm_pose_identity()};
  for (int i = 0; i < job->count; i++) {
    carom_body_def def = carom_body_default();
    def.parts = &part, def.part_count = 1;
    def.pose.p = cm_vec3(job->start[i][0], job->start[i][1], job->start[i][2]);
    carom_builder_add_body(builder, &def);
  }
}

static carom_status build(carom_world *w, const grains_job *job, carom_error *error) {
  const carom_shape *ball = NULL;
  carom_builder *builder = NULL;
  carom_status status = carom_shape_create_sphere(job->radius, NULL, &ball, error);
  if (status == CAROM_OK) status = carom_builder_create(NULL, &builder, error);
  if (status == CAROM_OK) {
    carom_material_def material = carom_material_default();
    material.density = job->density, material.friction = job->friction, material.restitution = 0;
    carom_builder_add_material(builder, &material);
    add_balls(builder, job, ball);
    add_box(builder, job->width);
    carom_builder_set_gravity(builder, cm_vec3(0, 0, -job->gravity));
    status = carom_builder_finish(builder, &w->model, &w->state, error);
  }
  carom_builder_destroy(builder);
  carom_shape_release(ball);
  if (status != CAROM_OK) return status;
  carom_step_options options = carom_step_default_options();
  options.integrator = "cone";
  options.step = job->dt;
  options.threads = job->threads;
  return carom_stepper_create(w->model, &options, NULL, &w->stepper, error);
}

static void *create(const grains_job *job, char *message) {
  carom_world *w = calloc(1, sizeof *w);
  carom_error error = {.message = "out of memory"};
  if (w && build(w, job, &error) == CAROM_OK) return w;
  snprintf(message, BENCH_MESSAGE, "%.190s", error.message);
  if (w) carom_world_destroy(w);
  return NULL;
}

static bool step(void *world) {
  carom_world *w = world;
  carom_error error;
  if (carom_stepper_step(w->stepper, w->state, NULL, &error) == CAROM_OK) return true;
  fprintf(stderr, "carom: %s\n", error.message);
  return false;
}

static void put(carom_vec3 a, double out[3]) { out[0] = a.x, out[1] = a.y, out[2] = a.z; }

static void read_body(void *world, int body, double x[3], double v[3], double w[3]) {
  carom_world *c = world;
  put(c->state->x[body], x);
  put(carom_state_velocity(c->model, c->state, body), v);
  put(carom_state_angular_velocity(c->model, c->state, body), w);
}

const grains_engine grains_carom = {
    .name = "Carom cone",
    .precision = "double",
    .largest = 10000000,
    .create = create,
    .step = step,
    .read = read_body,
    .destroy = carom_world_destroy,
};

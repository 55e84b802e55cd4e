// Carom behind the benchmark's interface: the public headers only, as a user would.
#include <stdlib.h>

#include "bench.h"
#include "carom_world.h"

static void add_bodies(carom_builder *builder, const bench_job *job, const carom_shape *box) {
  carom_part part = {.shape = box, .pose = cm_pose_identity()};
  for (int i = 0; i < job->count; i++) {
    const bench_start *s = &job->start[i];
    carom_body_def def = carom_body_default();
    def.parts = &part, def.part_count = 1, def.mass = job->mass;
    def.pose = cm_pose(cm_vec3(s->x[0], s->x[1], s->x[2]), cm_quat(s->q[0], s->q[1], s->q[2], s->q[3]));
    def.angular_velocity = cm_vec3(s->w[0], s->w[1], s->w[2]);
    carom_builder_add_body(builder, &def);
  }
  carom_builder_set_gravity(builder, cm_vec3(job->gravity[0], job->gravity[1], job->gravity[2]));
}

static carom_status build(carom_world *w, const bench_job *job, carom_error *error) {
  const carom_shape *box = NULL;
  carom_builder *builder = NULL;
  carom_status status = carom_shape_create_box(cm_vec3(job->size[0], job->size[1], job->size[2]), NULL, &box, error);
  if (status == CAROM_OK) status = carom_builder_create(NULL, &builder, error);
  if (status == CAROM_OK) {
    add_bodies(builder, job, box);
    status = carom_builder_finish(builder, &w->model, &w->state, error);
  }
  carom_builder_destroy(builder);
  carom_shape_release(box);
  if (status != CAROM_OK) return status;
  carom_step_options options = carom_step_default_options();
  options.integrator = "variational", options.nothing_meets = true;
  options.step = job->dt;
  options.threads = job->threads;
  return carom_stepper_create(w->model, &options, NULL, &w->stepper, error);
}

static void *create(const bench_job *job, char *message) {
  carom_world *w = calloc(1, sizeof *w);
  carom_error error = {.message = "out of memory"};
  if (w && build(w, job, &error) == CAROM_OK) return w;
  snprintf(message, BENCH_MESSAGE, "%.190s", error.message);
  if (w) carom_world_destroy(w);
  return NULL;
}

static void step(void *world, int steps) {
  carom_world *w = world;
  carom_error error;
  for (int i = 0; i < steps; i++)
    if (carom_stepper_step(w->stepper, w->state, NULL, &error) != CAROM_OK) {
      fprintf(stderr, "carom: %s\n", error.message);
      exit(1);
    }
}

static void read_body(void *world, int body, double q[4], double w[3]) {
  carom_world *c = world;
  carom_quat a = carom_state_pose(c->model, c->state, body).q;
  carom_vec3 omega = carom_state_angular_velocity(c->model, c->state, body);
  q[0] = a.w, q[1] = a.x, q[2] = a.y, q[3] = a.z;
  w[0] = omega.x, w[1] = omega.y, w[2] = omega.z;
}

const bench_engine bench_carom = {
    .name = "Carom",
    .precision = "double",
    .largest = 1000000,
    .create = create,
    .step = step,
    .read = read_body,
    .destroy = carom_world_destroy,
};

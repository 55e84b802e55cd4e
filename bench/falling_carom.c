// The falling cube by Carom, through its public headers.
#include <stdlib.h>

#include "carom_world.h"
#include "falling.h"

static void add_bodies(carom_builder *builder, const falling_job *job, const carom_shape *cube,
                       const carom_shape *floor) {
  carom_material_def material = carom_material_default();
  material.name = "elastic";
  material.restitution = 1;
  material.friction = 0;
  carom_part part = {.shape = cube, .pose = cm_pose_identity()};
  carom_body_def def = carom_body_default();
  def.material = carom_builder_add_material(builder, &material);
  def.parts = &part, def.part_count = 1, def.mass = job->mass;
  def.pose = cm_pose(cm_vec3(0, 0, job->height), cm_quat(job->q[0], job->q[1], job->q[2], job->q[3]));
  carom_builder_add_body(builder, &def);
  part.shape = floor;
  def.pose = cm_pose_identity(), def.mass = 0, def.fixed = true;
  carom_builder_add_body(builder, &def);
  carom_builder_set_gravity(builder, cm_vec3(0, 0, -job->gravity));
}

static carom_status build(carom_world *w, const falling_job *job, const char *integrator) {
  const carom_shape *cube = NULL, *floor = NULL;
  carom_builder *builder = NULL;
  carom_status status = carom_shape_create_box(cm_vec3(job->side, job->side, job->side), NULL, &cube, NULL);
  if (status == CAROM_OK) status = carom_shape_create_halfspace(NULL, &floor, NULL);
  if (status == CAROM_OK) status = carom_builder_create(NULL, &builder, NULL);
  if (status == CAROM_OK) {
    add_bodies(builder, job, cube, floor);
    status = carom_builder_finish(builder, &w->model, &w->state, NULL);
  }
  carom_builder_destroy(builder);
  carom_shape_release(cube);
  carom_shape_release(floor);
  if (status != CAROM_OK) return status;
  carom_step_options options = carom_step_default_options();
  options.integrator = integrator;
  options.step = job->dt;
  return carom_stepper_create(w->model, &options, NULL, &w->stepper, NULL);
}

static void *create(const falling_job *job, const char *integrator) {
  carom_world *w = calloc(1, sizeof *w);
  if (w && build(w, job, integrator) == CAROM_OK) return w;
  if (w) carom_world_destroy(w);
  return NULL;
}

static void *create_exact(const falling_job *job) { return create(job, "exact"); }
static void *create_dcr(const falling_job *job) { return create(job, "dcr"); }

static void step(void *world) {
  carom_world *w = world;
  carom_stepper_step(w->stepper, w->state, NULL, NULL);
}

static void read_body(void *world, falling_body *body) {
  carom_world *w = world;
  carom_pose pose = carom_state_pose(w->model, w->state, 0);
  carom_vec3 v = carom_state_velocity(w->model, w->state, 0), s = carom_state_angular_velocity(w->model, w->state, 0);
  *body = (falling_body){
      {pose.p.x, pose.p.y, pose.p.z}, {pose.q.w, pose.q.x, pose.q.y, pose.q.z}, {v.x, v.y, v.z}, {s.x, s.y, s.z}};
}

const falling_engine falling_carom_exact = {"Carom, exact", NULL,      "double",           create_exact,
                                            step,           read_body, carom_world_destroy};
const falling_engine falling_carom_dcr = {"Carom, dcr", NULL,      "double",           create_dcr,
                                          step,         read_body, carom_world_destroy};

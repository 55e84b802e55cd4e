// Docking by Carom, through its public headers.
#include <stdlib.h>

#include "carom/carom.h"
#include "docking.h"

typedef struct docking_run {
  carom_scene *scene;
  carom_stepper *stepper;
} docking_run;

static void destroy(void *world) {
  docking_run *r = world;
  carom_stepper_destroy(r->stepper);
  carom_scene_destroy(r->scene);
  free(r);
}

static void *create(const docking_job *job) {
  docking_run *r = calloc(1, sizeof *r);
  carom_diagnostics diagnostics;
  if (!r) return NULL;
  carom_status status = carom_scene_read(job->scene, NULL, NULL, &r->scene, &diagnostics);
  carom_diagnostics_release(&diagnostics);
  if (status == CAROM_OK) status = carom_stepper_create(r->scene->model, &r->scene->step, NULL, &r->stepper, NULL);
  if (status == CAROM_OK) return r;
  destroy(r);
  return NULL;
}

static void step(void *world) {
  docking_run *r = world;
  carom_stepper_step(r->stepper, r->scene->state, NULL, NULL);
}

static void read_bodies(void *world, docking_body bodies[2]) {
  docking_run *r = world;
  const carom_model *m = r->scene->model;
  for (int i = 0; i < 2; i++) {
    carom_pose p = carom_state_pose(m, r->scene->state, i);
    carom_vec3 v = carom_state_velocity(m, r->scene->state, i), w = carom_state_angular_velocity(m, r->scene->state, i);
    bodies[i] = (docking_body){{p.p.x, p.p.y, p.p.z}, {p.q.w, p.q.x, p.q.y, p.q.z}, {v.x, v.y, v.z}, {w.x, w.y, w.z}};
  }
}

const docking_engine docking_carom = {"Carom, dcr", NULL, "double", true, true, create, step, read_bodies, destroy};

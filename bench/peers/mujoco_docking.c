// Docking by MuJoCo: hulls as meshes, contacts as they come (soft), with friction.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "docking.h"
#include "mujoco_world.h"

enum { TEXT = 200000 };

typedef struct mujoco_run {
  const docking_job *job;
  mujoco_world *world;
} mujoco_run;

typedef struct writer {
  char *text;
  int length;
} writer;

#define PUT(w, ...) ((w)->length += snprintf((w)->text + (w)->length, (size_t)(TEXT - (w)->length), __VA_ARGS__))

static void put_mesh(writer *w, const docking_piece *p, int i) {
  if (p->radius > 0) return;
  PUT(w, "<mesh name='m%d' vertex='", i);
  for (int k = 0; k < p->corner_count; k++)
    PUT(w, "%.12g %.12g %.12g ", p->corners[k][0], p->corners[k][1], p->corners[k][2]);
  PUT(w, "'/>");
}

static void put_geom(writer *w, const docking_job *job, int i) {
  const docking_piece *p = &job->pieces[i];
  char contact[100];
  snprintf(contact, sizeof contact, "condim='3' friction='%g 0 0'", job->friction);
  if (p->radius > 0)
    PUT(w, "<geom type='sphere' size='%.12g' pos='%.12g %.12g %.12g' %s/>", p->radius, p->center[0], p->center[1],
        p->center[2], contact);
  else
    PUT(w, "<geom type='mesh' mesh='m%d' %s/>", i, contact);
}

static void put_body(writer *w, const docking_job *job, int body) {
  const docking_body *b = &job->start[body];
  PUT(w, "<body pos='%.17g %.17g %.17g' quat='%.17g %.17g %.17g %.17g'><freejoint/>", b->x[0], b->x[1], b->x[2],
      b->q[0], b->q[1], b->q[2], b->q[3]);
  PUT(w, "<inertial pos='0 0 0' mass='%g' diaginertia='%g %g %g'/>", job->mass, job->inertia[0], job->inertia[1],
      job->inertia[2]);
  for (int i = 0; i < job->piece_count; i++)
    if (job->pieces[i].body == body) put_geom(w, job, i);
  PUT(w, "</body>");
}

static void write_model(writer *w, const docking_job *job) {
  PUT(w, "<mujoco><compiler inertiafromgeom='false'/><option timestep='%g' gravity='0 0 0'/><asset>", job->dt);
  for (int i = 0; i < job->piece_count; i++) put_mesh(w, &job->pieces[i], i);
  PUT(w, "</asset><worldbody>");
  for (int i = 0; i < 2; i++) put_body(w, job, i);
  PUT(w, "</worldbody></mujoco>");
}

static void destroy(void *world) {
  mujoco_run *r = world;
  if (r->world) mujoco_world_close(r->world);
  free(r);
}

static void *create(const docking_job *job) {
  mujoco_run *r = calloc(1, sizeof *r);
  writer w = {malloc(TEXT), 0};
  char message[MUJOCO_MESSAGE] = "";
  if (r && w.text) {
    write_model(&w, job);
    r->job = job;
    r->world = mujoco_world_open(w.text, NULL, job, message);
  }
  free(w.text);
  if (r && r->world) return r;
  fprintf(stderr, "MuJoCo: %s\n", message);
  if (r) destroy(r);
  return NULL;
}

static void read_bodies(void *world, docking_body bodies[2]) {
  mujoco_run *r = world;
  for (int i = 0; i < 2; i++) {
    const mjtNum *x = r->world->data->qpos + 7 * i, *v = r->world->data->qvel + 6 * i;
    for (int k = 0; k < 3; k++) bodies[i].x[k] = x[k], bodies[i].v[k] = v[k];
    for (int k = 0; k < 4; k++) bodies[i].q[k] = x[3 + k];
    mju_rotVecQuat(bodies[i].w, v + 3, bodies[i].q);
  }
}

static void step(void *world) {
  mujoco_run *r = world;
  docking_body bodies[2];
  double force[2][3], torque[2][3];
  read_bodies(r, bodies);
  docking_forces(r->job, bodies, force, torque);
  for (int i = 0; i < 2; i++) {
    memcpy(r->world->data->xfrc_applied + 6 * (i + 1), force[i], sizeof force[i]);
    memcpy(r->world->data->xfrc_applied + 6 * (i + 1) + 3, torque[i], sizeof torque[i]);
  }
  mj_step(r->world->model, r->world->data);
}

const docking_engine docking_mujoco = {"MuJoCo", BENCH_MUJOCO, "double",    false,  true,
                                       create,   step,         read_bodies, destroy};

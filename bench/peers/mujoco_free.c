// MuJoCo: one free joint per body, contacts and constraints switched off, semi-implicit Euler.
#include <stdlib.h>

#include "bench.h"
#include "mujoco_world.h"

// The default stack is 5 (nv + njmax)^2 numbers, 144 GB for 1e4 free bodies; what a step without constraints takes is
// linear in nv.
static size_t write_xml(char *text, size_t size, const bench_job *job) {
  size_t n = (size_t)snprintf(
      text, size,
      "<mujoco><size njmax='1' nconmax='1' nstack='%d'/>"
      "<option timestep='%.17g' gravity='%.17g %.17g %.17g' integrator='Euler'>"
      "<flag contact='disable' constraint='disable' equality='disable' frictionloss='disable' limit='disable' "
      "passive='disable' actuation='disable' sensor='disable' warmstart='disable'/></option><worldbody>",
      100000 + 600 * job->count, job->dt, job->gravity[0], job->gravity[1], job->gravity[2]);
  for (int i = 0; i < job->count && n < size; i++) {
    const bench_start *s = &job->start[i];
    n += (size_t)snprintf(text + n, size - n,
                          "<body pos='%.9g %.9g %.9g' quat='%.17g %.17g %.17g %.17g'><freejoint/>"
                          "<geom type='box' size='%.9g %.9g %.9g' mass='%.17g' contype='0' conaffinity='0'/></body>",
                          s->x[0], s->x[1], s->x[2], s->q[0], s->q[1], s->q[2], s->q[3], job->size[0] / 2,
                          job->size[1] / 2, job->size[2] / 2, job->mass);
  }
  if (n < size) n += (size_t)snprintf(text + n, size - n, "</worldbody></mujoco>");
  return n;
}

// Velocities of a free joint: linear in world axes, angular in the body's.
static void set_spin(mujoco_world *w, const void *of) {
  const bench_job *job = of;
  for (int i = 0; i < job->count; i++) {
    const double *q = job->start[i].q;
    double back[4] = {q[0], -q[1], -q[2], -q[3]};
    mju_rotVecQuat(w->data->qvel + w->model->jnt_dofadr[i] + 3, job->start[i].w, back);
  }
}

static void *create(const bench_job *job, char *message) {
  size_t room = 2000 + 400 * (size_t)job->count;
  char *text = malloc(room);
  if (!text || write_xml(text, room, job) >= room) {
    snprintf(message, BENCH_MESSAGE, "out of memory");
    free(text);
    return NULL;
  }
  mujoco_world *w = mujoco_world_open(text, set_spin, job, message);
  free(text);
  return w;
}

// Steps of free bodies cannot fail.
static void step(void *world, int steps) {
  mujoco_world *w = world;
  for (int i = 0; i < steps; i++) mj_step(w->model, w->data);
}

static void read_body(void *world, int body, double q[4], double w[3]) {
  mujoco_world *m = world;
  const mjtNum *pose = m->data->qpos + m->model->jnt_qposadr[body];
  for (int i = 0; i < 4; i++) q[i] = pose[3 + i];
  mju_rotVecQuat(w, m->data->qvel + m->model->jnt_dofadr[body] + 3, q);
}

const bench_engine bench_mujoco = {
    .name = "MuJoCo",
    .version = BENCH_MUJOCO,
    .precision = "double",
    .largest = 10000,
    .limit = "the time to compile its model grows as N^2, to minutes",
    .create = create,
    .step = step,
    .read = read_body,
    .destroy = mujoco_world_close,
};

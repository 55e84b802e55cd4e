// MuJoCo: one free joint per body, contacts and constraints switched off, semi-implicit Euler.
#include <mujoco/mujoco.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

typedef struct mujoco_world {
  mjModel *model;
  mjData *data;
} mujoco_world;

// MuJoCo's own answer to an error is to end the process; only set-up is guarded, steps of free bodies cannot fail.
static jmp_buf on_error;
static char error_text[BENCH_MESSAGE];

static void catch_error(const char *message) {
  snprintf(error_text, sizeof error_text, "%.190s", message);
  longjmp(on_error, 1);
}

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

static mjModel *load(const char *text, size_t length) {
  mjVFS *vfs = malloc(sizeof *vfs);
  if (!vfs) return NULL;
  mj_defaultVFS(vfs);
  mjModel *model = NULL;
  if (mj_makeEmptyFileVFS(vfs, "boxes.xml", (int)length) == 0) {
    memcpy(vfs->filedata[0], text, length);
    model = mj_loadXML("boxes.xml", vfs, error_text, sizeof error_text);
  }
  mj_deleteVFS(vfs);
  free(vfs);
  return model;
}

static void destroy(void *world) {
  mujoco_world *w = world;
  if (w->data) mj_deleteData(w->data);
  if (w->model) mj_deleteModel(w->model);
  free(w);
}

// Velocities of a free joint: linear in world axes, angular in the body's.
static void set_spin(mjModel *model, mjData *data, const bench_job *job) {
  for (int i = 0; i < job->count; i++) {
    const double *q = job->start[i].q;
    double back[4] = {q[0], -q[1], -q[2], -q[3]};
    mju_rotVecQuat(data->qvel + model->jnt_dofadr[i] + 3, job->start[i].w, back);
  }
}

static mujoco_world *build(const bench_job *job, const char *text, size_t length) {
  mujoco_world *volatile w = calloc(1, sizeof *w);
  if (!w) return NULL;
  if (setjmp(on_error) == 0) {
    w->model = load(text, length);
    if (w->model) w->data = mj_makeData(w->model);
    if (w->data) {
      set_spin(w->model, w->data, job);
      mj_step(w->model, w->data);  // shows whether the stack suffices
      mj_resetData(w->model, w->data);
      set_spin(w->model, w->data, job);
      return w;
    }
  }
  destroy(w);
  return NULL;
}

static void *create(const bench_job *job, char *message) {
  size_t room = 2000 + 400 * (size_t)job->count;
  char *text = malloc(room);
  if (!text) return NULL;
  size_t length = write_xml(text, room, job);
  snprintf(error_text, sizeof error_text, "out of memory");
  mju_user_error = catch_error;
  mujoco_world *w = length < room ? build(job, text, length) : NULL;
  mju_user_error = NULL;
  free(text);
  if (!w) snprintf(message, BENCH_MESSAGE, "%.190s", error_text);
  return w;
}

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
    .destroy = destroy,
};

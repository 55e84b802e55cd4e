// MuJoCo: balls as free bodies, its contacts as they come but with elliptic cones (three rows each), the CG solver on a
// sparse Jacobian. There is room for three contacts a ball: its arrays for them grow with the square of the number of
// balls, and 2 GB is the most that it takes.
#include <stdio.h>
#include <stdlib.h>

#include "granular.h"
#include "mujoco_world.h"

static const char plane[] = "<geom type='plane' size='0 0 1' pos='%.17g %.17g 0' zaxis='%d %d %d'/>";

static size_t write_box(char *text, size_t size, double width) {
  double d = 0.5 * width;
  size_t n = (size_t)snprintf(text, size, plane, 0.0, 0.0, 0, 0, 1);
  n += (size_t)snprintf(text + n, size - n, plane, -d, 0.0, 1, 0, 0);
  n += (size_t)snprintf(text + n, size - n, plane, d, 0.0, -1, 0, 0);
  n += (size_t)snprintf(text + n, size - n, plane, 0.0, -d, 0, 1, 0);
  return n + (size_t)snprintf(text + n, size - n, plane, 0.0, d, 0, -1, 0);
}

// Friction of a pair is the larger of the two, so all have the same.
static void write_xml(char *text, size_t size, const grains_job *job) {
  int contacts = 3 * job->count;
  size_t n =
      (size_t)snprintf(text, size,
                       "<mujoco><size njmax='%d' nconmax='%d' nstack='%d'/>"
                       "<option timestep='%.17g' gravity='0 0 %.17g' solver='CG' jacobian='sparse' cone='elliptic'/>"
                       "<default><geom friction='%.17g 0 0' condim='3'/></default><worldbody>",
                       3 * contacts, contacts, 4000000 + 10000 * job->count, job->dt, -job->gravity, job->friction);
  n += write_box(text + n, size - n, job->width);
  for (int i = 0; i < job->count; i++)
    n += (size_t)snprintf(text + n, size - n,
                          "<body pos='%.17g %.17g %.17g'><freejoint/><geom type='sphere' size='%.17g' "
                          "density='%.17g'/></body>",
                          job->start[i][0], job->start[i][1], job->start[i][2], job->radius, job->density);
  snprintf(text + n, size - n, "</worldbody></mujoco>");
}

static void *create(const grains_job *job, char *message) {
  size_t room = 3000 + 250 * (size_t)job->count;
  char *text = malloc(room);
  if (!text) {
    snprintf(message, BENCH_MESSAGE, "out of memory");
    return NULL;
  }
  write_xml(text, room, job);
  mujoco_world *w = mujoco_world_open(text, NULL, NULL, message);
  free(text);
  return w;
}

static bool step(void *world) { return mujoco_world_step(world); }

static void read_body(void *world, int body, double x[3], double v[3], double w[3]) {
  const mujoco_world *m = world;
  const mjtNum *pose = m->data->qpos + m->model->jnt_qposadr[body], *rate = m->data->qvel + m->model->jnt_dofadr[body];
  for (int i = 0; i < 3; i++) x[i] = pose[i], v[i] = rate[i];
  mju_rotVecQuat(w, rate + 3, pose + 3);
}

const grains_engine grains_mujoco = {
    .name = "MuJoCo CG",
    .version = BENCH_MUJOCO,
    .precision = "double",
    .largest = 900,
    .create = create,
    .step = step,
    .read = read_body,
    .destroy = mujoco_world_close,
};

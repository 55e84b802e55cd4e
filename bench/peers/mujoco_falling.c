// The falling cube by MuJoCo: as it comes (soft contacts that damp), and with a stiff undamped contact (solref given as
// stiffness and damping), which is the way to a bounce. Without friction condim 1, with it 3.
#include <math.h>
#include <stdio.h>

#include "falling.h"
#include "mujoco_world.h"

static void set_velocity(mujoco_world *w, const void *job) { w->data->qvel[0] = ((const falling_job *)job)->velocity; }

static void *create(const falling_job *job, const char *plain) {
  char text[2000], contact[200];
  snprintf(contact, sizeof contact, "condim='%d' friction='%.17g 0 0' %s", job->friction > 0 ? 3 : 1, job->friction,
           plain);
  snprintf(text, sizeof text,
           "<mujoco><option timestep='%.17g' gravity='%.17g 0 %.17g'/><worldbody>"
           "<geom type='plane' size='100 100 1' %s/>"
           "<body pos='0 0 %.17g' quat='%.17g %.17g %.17g %.17g'><freejoint/>"
           "<geom type='box' size='%.17g %.17g %.17g' mass='%.17g' %s/></body></worldbody></mujoco>",
           job->dt, job->gravity * sin(job->slope), -job->gravity * cos(job->slope), contact, job->height, job->q[0],
           job->q[1], job->q[2], job->q[3], job->side / 2, job->side / 2, job->side / 2, job->mass, contact);
  char message[MUJOCO_MESSAGE];
  return mujoco_world_open(text, set_velocity, job, message);
}

static void *create_plain(const falling_job *job) { return create(job, ""); }
static void *create_hard(const falling_job *job) { return create(job, "solref='-100000 0'"); }

static void step(void *world) {
  mujoco_world *w = world;
  mj_step(w->model, w->data);
}

static void read_body(void *world, falling_body *b) {
  mujoco_world *w = world;
  const mjtNum *x = w->data->qpos, *v = w->data->qvel;
  for (int i = 0; i < 3; i++) b->x[i] = x[i], b->v[i] = v[i];
  for (int i = 0; i < 4; i++) b->q[i] = x[3 + i];
  mju_rotVecQuat(b->w, v + 3, b->q);
}

const falling_engine falling_mujoco = {"MuJoCo, as it comes", BENCH_MUJOCO, "double", create_plain, step, read_body,
                                       mujoco_world_close};
const falling_engine falling_mujoco_hard = {
    "MuJoCo, stiff contact", BENCH_MUJOCO, "double", create_hard, step, read_body, mujoco_world_close};

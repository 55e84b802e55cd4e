// The same push by MuJoCo: a part with next to no mass on joint dampers, a probe so heavy that nothing stops it, a
// wall. Lengths in mm.
#include <stdio.h>
#include <stdlib.h>

#include "mujoco_world.h"
#include "pushing.h"

static void set_going(mujoco_world *w, const void *context) {
  const pushing_job *j = context;
  w->data->qvel[3] = j->u, w->data->qvel[4] = j->v;
}

static void *create(const pushing_job *j) {
  char text[4000], message[MUJOCO_MESSAGE] = "";
  double l2 = (j->a * j->a + j->b * j->b) / 12;
  snprintf(text, sizeof text,
           "<mujoco><compiler inertiafromgeom='false'/><option timestep='%g' gravity='0 0 0' cone='elliptic'/>"
           "<default><geom condim='3' friction='%g 0 0'/></default><worldbody>"
           "<geom type='box' size='3 0.5 0.1' pos='0 %.17g 0'/>"
           "<body><inertial pos='0 0 0' mass='1e-3' diaginertia='%g %g %g'/>"
           "<joint type='slide' axis='1 0 0' damping='%g'/><joint type='slide' axis='0 1 0' damping='%g'/>"
           "<joint type='hinge' axis='0 0 1' damping='%.17g'/><geom type='box' size='%g %g 0.1'/></body>"
           "<body pos='%.17g %.17g 0'><inertial pos='0 0 0' mass='1e9' diaginertia='1 1 1'/>"
           "<joint type='slide' axis='1 0 0'/><joint type='slide' axis='0 1 0'/><geom type='sphere' size='%g'/></body>"
           "</worldbody></mujoco>",
           j->dt, j->friction, j->wall + 0.5, 1e-3 * l2, 1e-3 * l2, 1e-3 * l2, j->damping, j->damping, j->damping * l2,
           j->a / 2, j->b / 2, j->x, j->y, j->radius);
  mujoco_world *w = mujoco_world_open(text, set_going, j, message);
  if (!w) fprintf(stderr, "MuJoCo: %s\n", message);
  return w;
}

static void step(void *world) { mujoco_world_step(world); }

static void read_part(void *world, double pose[3]) {
  for (int k = 0; k < 3; k++) pose[k] = ((mujoco_world *)world)->data->qpos[k];
}

const pushing_engine pushing_mujoco = {"MuJoCo", BENCH_MUJOCO, create, step, read_part, mujoco_world_close};

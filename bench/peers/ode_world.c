#include "ode_world.h"

#include <stdbool.h>
#include <stdlib.h>

ode_world *ode_world_open(int bodies, double dt, const double gravity[3]) {
  static bool initialised;
  if (!initialised) dInitODE2(0);
  initialised = true;
  ode_world *w = calloc(1, sizeof *w);
  dBodyID *room = calloc((size_t)bodies, sizeof *room);
  if (!w || !room) {
    free(w), free(room);
    return NULL;
  }
  *w = (ode_world){dWorldCreate(), dHashSpaceCreate(0), dJointGroupCreate(0), room, dt, 0};
  dWorldSetGravity(w->world, (dReal)gravity[0], (dReal)gravity[1], (dReal)gravity[2]);
  dWorldSetAutoDisableFlag(w->world, 0);
  return w;
}

void ode_world_close(void *world) {
  ode_world *w = world;
  dJointGroupDestroy(w->contacts);
  dSpaceDestroy(w->space);
  dWorldDestroy(w->world);
  free(w->bodies);
  free(w);
}

dMass ode_world_mass(double mass, const double inertia[3]) {
  dMass m;
  dMassSetParameters(&m, (dReal)mass, 0, 0, 0, (dReal)inertia[0], (dReal)inertia[1], (dReal)inertia[2], 0, 0, 0);
  return m;
}

dBodyID ode_world_add(ode_world *w, int i, const dMass *mass, const double x[3], const double q[4]) {
  dBodyID body = w->bodies[i] = dBodyCreate(w->world);
  dBodySetMass(body, mass);
  dBodySetPosition(body, (dReal)x[0], (dReal)x[1], (dReal)x[2]);
  if (!q) return body;
  dQuaternion turn = {(dReal)q[0], (dReal)q[1], (dReal)q[2], (dReal)q[3]};
  dBodySetQuaternion(body, turn);
  return body;
}

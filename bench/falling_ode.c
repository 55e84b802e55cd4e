// The falling cube by ODE: a box geometry on a plane, dWorldStep, contacts with full bounce and no friction.
#include <ode/ode.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "falling.h"

typedef struct ode_world {
  dWorldID world;
  dSpaceID space;
  dJointGroupID contacts;
  dBodyID body;
  double dt;
} ode_world;

static void *create(const falling_job *job) {
  static bool initialised;
  if (!initialised) dInitODE2(0);
  initialised = true;
  ode_world *w = calloc(1, sizeof *w);
  if (!w) return NULL;
  *w = (ode_world){dWorldCreate(), dHashSpaceCreate(0), dJointGroupCreate(0), NULL, job->dt};
  dWorldSetGravity(w->world, 0, 0, (dReal)-job->gravity);
  dWorldSetAutoDisableFlag(w->world, 0);
  dCreatePlane(w->space, 0, 0, 1, 0);
  dMass mass;
  dMassSetParameters(&mass, (dReal)job->mass, 0, 0, 0, (dReal)job->inertia, (dReal)job->inertia, (dReal)job->inertia, 0,
                     0, 0);
  dQuaternion q = {(dReal)job->q[0], (dReal)job->q[1], (dReal)job->q[2], (dReal)job->q[3]};
  w->body = dBodyCreate(w->world);
  dBodySetMass(w->body, &mass);
  dBodySetPosition(w->body, 0, 0, (dReal)job->height);
  dBodySetQuaternion(w->body, q);
  dGeomSetBody(dCreateBox(w->space, (dReal)job->side, (dReal)job->side, (dReal)job->side), w->body);
  return w;
}

static void meet(void *data, dGeomID a, dGeomID b) {
  ode_world *w = data;
  dContact contact[8];
  memset(contact, 0, sizeof contact);
  for (int i = 0; i < 8; i++) {
    contact[i].surface.mode = dContactBounce;
    contact[i].surface.bounce = 1;
    contact[i].surface.bounce_vel = 0;
    contact[i].surface.mu = 0;
  }
  int count = dCollide(a, b, 8, &contact[0].geom, sizeof(dContact));
  for (int i = 0; i < count; i++)
    dJointAttach(dJointCreateContact(w->world, w->contacts, &contact[i]), dGeomGetBody(a), dGeomGetBody(b));
}

static void step(void *world) {
  ode_world *w = world;
  dSpaceCollide(w->space, w, meet);
  dWorldStep(w->world, (dReal)w->dt);
  dJointGroupEmpty(w->contacts);
}

static void read_body(void *world, falling_body *b) {
  ode_world *w = world;
  const dReal *x = dBodyGetPosition(w->body), *q = dBodyGetQuaternion(w->body);
  const dReal *v = dBodyGetLinearVel(w->body), *s = dBodyGetAngularVel(w->body);
  for (int i = 0; i < 4; i++) b->q[i] = q[i];
  for (int i = 0; i < 3; i++) b->x[i] = x[i], b->v[i] = v[i], b->w[i] = s[i];
}

static void destroy(void *world) {
  ode_world *w = world;
  dJointGroupDestroy(w->contacts);
  dSpaceDestroy(w->space);
  dWorldDestroy(w->world);
  free(w);
}

const falling_engine falling_ode = {"ODE, step", BENCH_ODE, sizeof(dReal) == 8 ? "double" : "single", create, step,
                                    read_body,   destroy};

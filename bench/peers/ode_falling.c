// The falling cube by ODE: a box geometry on a plane, dWorldStep, contacts with full bounce and no friction.
#include <string.h>

#include "falling.h"
#include "ode_world.h"

static void *create(const falling_job *job) {
  const double gravity[3] = {0, 0, -job->gravity}, x[3] = {0, 0, job->height};
  const double inertia[3] = {job->inertia, job->inertia, job->inertia};
  ode_world *w = ode_world_open(1, job->dt, gravity);
  if (!w) return NULL;
  dMass mass = ode_world_mass(job->mass, inertia);
  dCreatePlane(w->space, 0, 0, 1, 0);
  dBodyID body = ode_world_add(w, 0, &mass, x, job->q);
  dGeomSetBody(dCreateBox(w->space, (dReal)job->side, (dReal)job->side, (dReal)job->side), body);
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
  dBodyID body = ((ode_world *)world)->bodies[0];
  const dReal *x = dBodyGetPosition(body), *q = dBodyGetQuaternion(body);
  const dReal *v = dBodyGetLinearVel(body), *s = dBodyGetAngularVel(body);
  for (int i = 0; i < 4; i++) b->q[i] = q[i];
  for (int i = 0; i < 3; i++) b->x[i] = x[i], b->v[i] = v[i], b->w[i] = s[i];
}

const falling_engine falling_ode = {"ODE, step", BENCH_ODE, ODE_PRECISION, create, step, read_body, ode_world_close};

// Open Dynamics Engine: the iterative "quick step" with 20 iterations, hash space, no auto-disable.
#include <ode/ode.h>
#include <stdlib.h>

#include "granular.h"

enum { ITERATIONS = 20, POINTS = 4 };

typedef struct ode_world {
  dWorldID world;
  dSpaceID space;
  dJointGroupID contacts;
  dBodyID *bodies;
  double dt, friction;
} ode_world;

static void touch(void *data, dGeomID a, dGeomID b) {
  ode_world *w = data;
  dContact contact[POINTS];
  int count = dCollide(a, b, POINTS, &contact[0].geom, sizeof *contact);
  for (int i = 0; i < count; i++) {
    contact[i].surface.mode = dContactApprox1;
    contact[i].surface.mu = (dReal)w->friction;
    dJointAttach(dJointCreateContact(w->world, w->contacts, &contact[i]), dGeomGetBody(a), dGeomGetBody(b));
  }
}

static void add_box(const ode_world *w, double width) {
  dReal d = (dReal)(-0.5 * width);
  dCreatePlane(w->space, 0, 0, 1, 0);
  dCreatePlane(w->space, 1, 0, 0, d), dCreatePlane(w->space, -1, 0, 0, d);
  dCreatePlane(w->space, 0, 1, 0, d), dCreatePlane(w->space, 0, -1, 0, d);
}

static void add_balls(const ode_world *w, const grains_job *job) {
  dMass mass;
  dMassSetSphere(&mass, (dReal)job->density, (dReal)job->radius);
  for (int i = 0; i < job->count; i++) {
    const double *x = job->start[i];
    w->bodies[i] = dBodyCreate(w->world);
    dBodySetMass(w->bodies[i], &mass);
    dBodySetPosition(w->bodies[i], (dReal)x[0], (dReal)x[1], (dReal)x[2]);
    dGeomSetBody(dCreateSphere(w->space, (dReal)job->radius), w->bodies[i]);
  }
}

static void *create(const grains_job *job, char *message) {
  static bool initialised;
  if (!initialised) dInitODE2(0);
  initialised = true;
  ode_world *w = calloc(1, sizeof *w);
  dBodyID *bodies = calloc((size_t)job->count, sizeof *bodies);
  if (!w || !bodies) {
    snprintf(message, BENCH_MESSAGE, "out of memory");
    free(w), free(bodies);
    return NULL;
  }
  *w = (ode_world){dWorldCreate(), dHashSpaceCreate(0), dJointGroupCreate(0), bodies, job->dt, job->friction};
  dHashSpaceSetLevels(w->space, -4, 4);  // cells from 1/16 to 16 m
  dWorldSetGravity(w->world, 0, 0, (dReal)-job->gravity);
  dWorldSetAutoDisableFlag(w->world, 0);
  dWorldSetQuickStepNumIterations(w->world, ITERATIONS);
  add_box(w, job->width);
  add_balls(w, job);
  return w;
}

static bool step(void *world) {
  ode_world *w = world;
  dSpaceCollide(w->space, w, touch);
  dWorldQuickStep(w->world, (dReal)w->dt);
  dJointGroupEmpty(w->contacts);
  return true;
}

static void put(const dReal *a, double out[3]) {
  for (int i = 0; i < 3; i++) out[i] = a[i];
}

static void read_body(void *world, int body, double x[3], double v[3], double w[3]) {
  dBodyID b = ((ode_world *)world)->bodies[body];
  put(dBodyGetPosition(b), x), put(dBodyGetLinearVel(b), v), put(dBodyGetAngularVel(b), w);
}

static void destroy(void *world) {
  ode_world *w = world;
  dJointGroupDestroy(w->contacts);
  dSpaceDestroy(w->space);
  dWorldDestroy(w->world);
  free(w->bodies);
  free(w);
}

const grains_engine grains_ode = {
    .name = "ODE quick step (20)",
    .version = BENCH_ODE,
    .precision = sizeof(dReal) == 8 ? "double" : "single",
    .largest = 20000,
    .create = create,
    .step = step,
    .read = read_body,
    .destroy = destroy,
};

// Open Dynamics Engine: the iterative "quick step" with 20 iterations, hash space, no auto-disable.
#include "granular.h"
#include "ode_world.h"

enum { ITERATIONS = 20, POINTS = 4 };

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

static void add_balls(ode_world *w, const grains_job *job) {
  dMass mass;
  dMassSetSphere(&mass, (dReal)job->density, (dReal)job->radius);
  for (int i = 0; i < job->count; i++) {
    dBodyID body = ode_world_add(w, i, &mass, job->start[i], NULL);
    dGeomSetBody(dCreateSphere(w->space, (dReal)job->radius), body);
  }
}

static void *create(const grains_job *job, char *message) {
  const double gravity[3] = {0, 0, -job->gravity};
  ode_world *w = ode_world_open(job->count, job->dt, gravity);
  if (!w) {
    snprintf(message, BENCH_MESSAGE, "out of memory");
    return NULL;
  }
  w->friction = job->friction;
  dHashSpaceSetLevels(w->space, -4, 4);  // cells from 1/16 to 16 m
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

const grains_engine grains_ode = {
    .name = "ODE quick step (20)",
    .version = BENCH_ODE,
    .precision = ODE_PRECISION,
    .largest = 20000,
    .create = create,
    .step = step,
    .read = read_body,
    .destroy = ode_world_close,
};

// Open Dynamics Engine: bodies without geometry, so that no collision space is ever asked; no auto-disable.
#include <ode/ode.h>
#include <stdlib.h>

#include "bench.h"

typedef struct ode_world {
  dWorldID world;
  dBodyID *bodies;
  double dt;
} ode_world;

static dBodyID add_body(dWorldID world, const bench_job *job, const bench_start *s) {
  dBodyID body = dBodyCreate(world);
  dMass mass;
  dMassSetParameters(&mass, (dReal)job->mass, 0, 0, 0, (dReal)job->inertia[0], (dReal)job->inertia[1],
                     (dReal)job->inertia[2], 0, 0, 0);
  dQuaternion q = {(dReal)s->q[0], (dReal)s->q[1], (dReal)s->q[2], (dReal)s->q[3]};
  dBodySetMass(body, &mass);
  dBodySetPosition(body, (dReal)s->x[0], (dReal)s->x[1], (dReal)s->x[2]);
  dBodySetQuaternion(body, q);
  dBodySetAngularVel(body, (dReal)s->w[0], (dReal)s->w[1], (dReal)s->w[2]);
  return body;
}

static void *create(const bench_job *job, char *message) {
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
  *w = (ode_world){dWorldCreate(), bodies, job->dt};
  dWorldSetGravity(w->world, (dReal)job->gravity[0], (dReal)job->gravity[1], (dReal)job->gravity[2]);
  dWorldSetAutoDisableFlag(w->world, 0);
  dWorldSetQuickStepNumIterations(w->world, 1);  // there is nothing to iterate on
  for (int i = 0; i < job->count; i++) bodies[i] = add_body(w->world, job, &job->start[i]);
  return w;
}

static void step_quick(void *world, int steps) {
  ode_world *w = world;
  for (int i = 0; i < steps; i++) dWorldQuickStep(w->world, (dReal)w->dt);
}

static void step_full(void *world, int steps) {
  ode_world *w = world;
  for (int i = 0; i < steps; i++) dWorldStep(w->world, (dReal)w->dt);
}

static void read_body(void *world, int body, double q[4], double w[3]) {
  ode_world *o = world;
  const dReal *a = dBodyGetQuaternion(o->bodies[body]), *omega = dBodyGetAngularVel(o->bodies[body]);
  for (int i = 0; i < 4; i++) q[i] = a[i];
  for (int i = 0; i < 3; i++) w[i] = omega[i];
}

static void destroy(void *world) {
  ode_world *w = world;
  dWorldDestroy(w->world);
  free(w->bodies);
  free(w);
}

#define ODE_ENGINE(variant, function)                                                                    \
  {                                                                                                      \
    .name = "ODE " variant, .version = BENCH_ODE, .precision = sizeof(dReal) == 8 ? "double" : "single", \
    .largest = 1000000, .create = create, .step = function, .read = read_body, .destroy = destroy,       \
  }
const bench_engine bench_ode_quick = ODE_ENGINE("quick step", step_quick);
const bench_engine bench_ode_step = ODE_ENGINE("step", step_full);

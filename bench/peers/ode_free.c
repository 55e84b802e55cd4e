// Open Dynamics Engine: bodies without geometry, so that no collision space is ever asked; no auto-disable.
#include "bench.h"
#include "ode_world.h"

static void *create(const bench_job *job, char *message) {
  ode_world *w = ode_world_open(job->count, job->dt, job->gravity);
  if (!w) {
    snprintf(message, BENCH_MESSAGE, "out of memory");
    return NULL;
  }
  dWorldSetQuickStepNumIterations(w->world, 1);  // there is nothing to iterate on
  dMass mass = ode_world_mass(job->mass, job->inertia);
  for (int i = 0; i < job->count; i++) {
    const bench_start *s = &job->start[i];
    dBodySetAngularVel(ode_world_add(w, i, &mass, s->x, s->q), (dReal)s->w[0], (dReal)s->w[1], (dReal)s->w[2]);
  }
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

#define ODE_ENGINE(variant, function)                                                                               \
  {                                                                                                                 \
    .name = "ODE " variant, .version = BENCH_ODE, .precision = ODE_PRECISION, .largest = 1000000, .create = create, \
    .step = function, .read = read_body, .destroy = ode_world_close,                                                \
  }
const bench_engine bench_ode_quick = ODE_ENGINE("quick step", step_quick);
const bench_engine bench_ode_step = ODE_ENGINE("step", step_full);

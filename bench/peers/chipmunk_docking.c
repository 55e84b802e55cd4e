// Docking by Chipmunk. Its lengths are pixels or so: here 1/1000 of a metre, with a slop of 0.01 mm; 20 iterations.
#include <chipmunk/chipmunk.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "docking.h"

static const double SCALE = 1000;

typedef struct chipmunk_run {
  const docking_job *job;
  cpSpace *space;
  cpBody *bodies[2];
  cpShape *shapes[DOCKING_PIECES];
} chipmunk_run;

static void destroy(void *world) {
  chipmunk_run *r = world;
  for (int i = 0; i < r->job->piece_count; i++)
    if (r->shapes[i]) cpSpaceRemoveShape(r->space, r->shapes[i]), cpShapeFree(r->shapes[i]);
  for (int i = 0; i < 2; i++) cpSpaceRemoveBody(r->space, r->bodies[i]), cpBodyFree(r->bodies[i]);
  cpSpaceFree(r->space);
  free(r);
}

static void add_piece(chipmunk_run *r, int i) {
  const docking_piece *p = &r->job->pieces[i];
  cpVect corners[DOCKING_CORNERS];
  for (int k = 0; k < p->corner_count; k++) corners[k] = cpv(SCALE * p->corners[k][0], SCALE * p->corners[k][1]);
  cpVect center = cpv(SCALE * p->center[0], SCALE * p->center[1]);
  cpBody *body = r->bodies[p->body];
  cpShape *shape = p->radius > 0 ? cpCircleShapeNew(body, SCALE * p->radius, center)
                                 : cpPolyShapeNew(body, p->corner_count, corners, cpTransformIdentity, 0);
  cpShapeSetFriction(shape, sqrt(r->job->friction));
  cpShapeSetElasticity(shape, sqrt(r->job->restitution));
  cpShapeSetFilter(shape, cpShapeFilterNew((cpGroup)(p->body + 1), CP_ALL_CATEGORIES, CP_ALL_CATEGORIES));
  r->shapes[i] = cpSpaceAddShape(r->space, shape);
}

static void add_body(chipmunk_run *r, int i) {
  const docking_job *job = r->job;
  const docking_body *b = &job->start[i];
  cpBody *body = cpBodyNew(job->mass, SCALE * SCALE * job->inertia[2]);
  cpBodySetPosition(body, cpv(SCALE * b->x[0], SCALE * b->x[1]));
  cpBodySetAngle(body, 2 * atan2(b->q[3], b->q[0]));
  cpBodySetVelocity(body, cpv(SCALE * b->v[0], SCALE * b->v[1]));
  cpBodySetAngularVelocity(body, b->w[2]);
  r->bodies[i] = cpSpaceAddBody(r->space, body);
}

static void *create(const docking_job *job) {
  chipmunk_run *r = calloc(1, sizeof *r);
  if (!r) return NULL;
  r->job = job;
  r->space = cpSpaceNew();
  cpSpaceSetCollisionSlop(r->space, 0.01);
  cpSpaceSetIterations(r->space, 20);
  for (int i = 0; i < 2; i++) add_body(r, i);
  for (int i = 0; i < job->piece_count; i++) add_piece(r, i);
  return r;
}

static void read_bodies(void *world, docking_body bodies[2]) {
  chipmunk_run *r = world;
  memset(bodies, 0, 2 * sizeof *bodies);
  for (int i = 0; i < 2; i++) {
    cpVect x = cpBodyGetPosition(r->bodies[i]), v = cpBodyGetVelocity(r->bodies[i]);
    double half = cpBodyGetAngle(r->bodies[i]) / 2;
    bodies[i].x[0] = x.x / SCALE, bodies[i].x[1] = x.y / SCALE;
    bodies[i].q[0] = cos(half), bodies[i].q[3] = sin(half);
    bodies[i].v[0] = v.x / SCALE, bodies[i].v[1] = v.y / SCALE;
    bodies[i].w[2] = cpBodyGetAngularVelocity(r->bodies[i]);
  }
}

static void step(void *world) {
  chipmunk_run *r = world;
  docking_body bodies[2];
  double force[2][3], torque[2][3];
  read_bodies(r, bodies);
  docking_forces(r->job, bodies, force, torque);
  for (int i = 0; i < 2; i++) {
    cpBodySetForce(r->bodies[i], cpv(SCALE * force[i][0], SCALE * force[i][1]));
    cpBodySetTorque(r->bodies[i], SCALE * SCALE * torque[i][2]);
  }
  cpSpaceStep(r->space, r->job->dt);
}

const docking_engine docking_chipmunk = {"Chipmunk", BENCH_CHIPMUNK, "double",    true,   false,
                                         create,     step,           read_bodies, destroy};

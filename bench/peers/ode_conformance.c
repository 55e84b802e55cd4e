// Scenes of the conformance matrix by ODE: its exact step, hard contacts without softness, up to eight points a pair.
#include <stdlib.h>

#include "conformance.h"
#include "ode_world.h"

enum { MOST_POINTS = 8 };

typedef struct job {
  ode_world *w;
  const carom_model *model;
  double h;
} job;

static void place(dGeomID geom, dBodyID on, carom_pose pose) {
  dQuaternion q = {(dReal)pose.q.w, (dReal)pose.q.x, (dReal)pose.q.y, (dReal)pose.q.z};
  if (on) {
    dGeomSetBody(geom, on);
    dGeomSetOffsetPosition(geom, (dReal)pose.p.x, (dReal)pose.p.y, (dReal)pose.p.z);
    dGeomSetOffsetQuaternion(geom, q);
  } else {
    dGeomSetPosition(geom, (dReal)pose.p.x, (dReal)pose.p.y, (dReal)pose.p.z);
    dGeomSetQuaternion(geom, q);
  }
}

static dGeomID geom_of(dSpaceID space, const carom_shape *s, carom_pose pose) {
  carom_vec3 half, axes = carom_shape_half_axes(s), up = cm_rotate(pose.q, cm_vec3(0, 0, 1));
  double r = carom_shape_radius(s);
  switch (carom_shape_get_kind(s)) {
    case CAROM_SHAPE_SPHERE:
      return dCreateSphere(space, (dReal)r);
    case CAROM_SHAPE_CAPSULE:
      return dCreateCapsule(space, (dReal)r, (dReal)(2 * carom_shape_half_length(s)));
    case CAROM_SHAPE_CYLINDER:
      return dCreateCylinder(space, (dReal)axes.x, (dReal)(2 * axes.z));
    case CAROM_SHAPE_HALFSPACE:
      return dCreatePlane(space, (dReal)up.x, (dReal)up.y, (dReal)up.z, (dReal)cm_dot(up, pose.p));
    default:
      is_box(s, &half);
      return dCreateBox(space, (dReal)(2 * half.x), (dReal)(2 * half.y), (dReal)(2 * half.z));
  }
}

static void add(job *j, const carom_state *state, int i) {
  const carom_body *b = &j->model->bodies[i];
  carom_pose at = cm_pose(state->x[i], state->q[i]);
  dBodyID body = NULL;
  if (!b->fixed) {
    double inertia[3] = {b->inertia.x, b->inertia.y, b->inertia.z}, x[3] = {at.p.x, at.p.y, at.p.z};
    double q[4] = {at.q.w, at.q.x, at.q.y, at.q.z};
    dMass mass = ode_world_mass(b->mass, inertia);
    body = ode_world_add(j->w, i, &mass, x, q);
    carom_vec3 v = carom_state_velocity(j->model, state, i), w = carom_state_angular_velocity(j->model, state, i);
    dBodySetLinearVel(body, (dReal)v.x, (dReal)v.y, (dReal)v.z);
    dBodySetAngularVel(body, (dReal)w.x, (dReal)w.y, (dReal)w.z);
  }
  for (int k = b->part_start; k < b->part_start + b->part_count; k++) {
    const carom_part *part = &j->model->parts[k];
    carom_pose pose = b->fixed ? cm_compose(at, part->pose) : part->pose;
    dGeomID geom = geom_of(j->w->space, part->shape, pose);
    dGeomSetData(geom, (void *)(intptr_t)i);
    if (carom_shape_get_kind(part->shape) != CAROM_SHAPE_HALFSPACE) place(geom, body, pose);
  }
}

static void touch(void *data, dGeomID a, dGeomID b) {
  job *j = data;
  int one = (int)(intptr_t)dGeomGetData(a), two = (int)(intptr_t)dGeomGetData(b);
  if (one == two || (!dGeomGetBody(a) && !dGeomGetBody(b))) return;
  carom_contact_surface s = carom_model_surface(j->model, one, two);
  dContact contacts[MOST_POINTS];
  int count = dCollide(a, b, MOST_POINTS, &contacts[0].geom, sizeof *contacts);
  for (int i = 0; i < count; i++) {
    contacts[i].surface = (dSurfaceParameters){.mode = dContactBounce | dContactApprox1,
                                               .mu = (dReal)s.friction,
                                               .bounce = (dReal)s.restitution,
                                               .bounce_vel = 0};
    dJointID joint = dJointCreateContact(j->w->world, j->w->contacts, &contacts[i]);
    dJointAttach(joint, dGeomGetBody(a), dGeomGetBody(b));
  }
}

static void *open_scene(const carom_scene *scene, double h) {
  const carom_model *m = scene->model;
  double gravity[3] = {m->gravity.x, m->gravity.y, m->gravity.z};
  job *j = calloc(1, sizeof *j);
  if (!j) return NULL;
  *j = (job){ode_world_open(m->body_count, h, gravity), m, h};
  for (int i = 0; i < m->body_count; i++) add(j, scene->state, i);
  return j;
}

static bool step(void *world) {
  job *j = world;
  dSpaceCollide(j->w->space, j, touch);
  bool fine = dWorldStep(j->w->world, (dReal)j->h);
  dJointGroupEmpty(j->w->contacts);
  return fine;
}

static void read_body(void *world, int i, track_point *p) {
  const job *j = world;
  dBodyID b = j->w->bodies[i];
  const dReal *x = dBodyGetPosition(b), *q = dBodyGetQuaternion(b), *v = dBodyGetLinearVel(b);
  const dReal *w = dBodyGetAngularVel(b);
  p->x = cm_vec3(x[0], x[1], x[2]);
  p->q = cm_quat(q[0], q[1], q[2], q[3]);
  p->v = cm_vec3(v[0], v[1], v[2]);
  p->w = cm_vec3(w[0], w[1], w[2]);
}

static void close_scene(void *world) {
  job *j = world;
  ode_world_close(j->w);
  free(j);
}

const conformance_peer conformance_ode = {"ODE", BENCH_ODE, open_scene, step, read_body, close_scene};

// The job of the docking benchmark, read from a scene; and the forces of its magnets.
#include "docking_job.h"

#include <math.h>
#include <string.h>

static void put(double to[3], carom_vec3 v) { to[0] = v.x, to[1] = v.y, to[2] = v.z; }

// Of a hull the corners, of a ball its centre; in the body frame, which is the principal one here.
static bool add_piece(docking_job *job, const carom_model *m, int body, int part) {
  const carom_part *p = &m->parts[part];
  const carom_polytope *hull = carom_shape_polytope(p->shape);
  docking_piece *piece = &job->pieces[job->piece_count++];
  piece->body = body;
  put(piece->center, p->pose.p);
  piece->radius = hull ? 0 : carom_shape_radius(p->shape);
  for (int i = 0; hull && i < hull->vertex_count && i < DOCKING_CORNERS; i++)
    put(piece->corners[piece->corner_count++], cm_transform(p->pose, hull->vertices[i]));
  return job->piece_count < DOCKING_PIECES;
}

static void add_charges(docking_job *job, const carom_model *m) {
  job->constant = m->charge_sets[0].constant;
  for (int i = 0; i < m->charge_count && i < DOCKING_CHARGES; i++) {
    docking_charge *c = &job->charges[job->charge_count++];
    c->body = m->charges[i].body;
    c->charge = m->charges[i].charge;
    put(c->point, m->charges[i].point);
  }
}

static void add_start(docking_job *job, const carom_scene *scene, int body) {
  carom_pose pose = carom_state_pose(scene->model, scene->state, body);
  docking_body *b = &job->start[body];
  put(b->x, pose.p);
  b->q[0] = pose.q.w, b->q[1] = pose.q.x, b->q[2] = pose.q.y, b->q[3] = pose.q.z;
  put(b->v, carom_state_velocity(scene->model, scene->state, body));
  put(b->w, carom_state_angular_velocity(scene->model, scene->state, body));
}

bool docking_job_read(const char *path, docking_job *job) {
  carom_scene *scene;
  carom_diagnostics diagnostics;
  carom_status status = carom_scene_read(path, NULL, NULL, &scene, &diagnostics);
  carom_diagnostics_release(&diagnostics);
  if (status != CAROM_OK) return false;
  const carom_model *m = scene->model;
  carom_contact_surface surface = carom_model_surface(m, 0, 1);
  memset(job, 0, sizeof *job);
  job->scene = path;
  job->planar = m->planar;
  job->mass = m->bodies[0].mass;
  put(job->inertia, m->bodies[0].inertia);
  job->friction = surface.friction;
  job->restitution = surface.restitution;
  job->dt = scene->step.step;
  for (int b = 0; b < 2; b++) {
    const carom_body *body = &m->bodies[b];
    for (int i = 0; i < body->part_count && add_piece(job, m, b, body->part_start + i);) i++;
    add_start(job, scene, b);
  }
  add_charges(job, m);
  carom_scene_destroy(scene);
  return true;
}

// ---- forces --------------------------------------------------------------------------------------------------------

carom_pose docking_pose(const docking_body *b) {
  return cm_pose(cm_vec3(b->x[0], b->x[1], b->x[2]), cm_qunit(cm_quat(b->q[0], b->q[1], b->q[2], b->q[3])));
}

static void push(double force[3], double torque[3], carom_vec3 f, carom_vec3 arm) {
  carom_vec3 t = cm_cross(arm, f);
  force[0] += f.x, force[1] += f.y, force[2] += f.z;
  torque[0] += t.x, torque[1] += t.y, torque[2] += t.z;
}

double docking_forces(const docking_job *job, const docking_body bodies[2], double force[2][3], double torque[2][3]) {
  carom_pose pose[2] = {docking_pose(&bodies[0]), docking_pose(&bodies[1])};
  carom_vec3 at[DOCKING_CHARGES];
  double energy = 0;
  memset(force, 0, 2 * sizeof *force);
  memset(torque, 0, 2 * sizeof *torque);
  for (int i = 0; i < job->charge_count; i++) {
    const double *p = job->charges[i].point;
    at[i] = cm_transform(pose[job->charges[i].body], cm_vec3(p[0], p[1], p[2]));
  }
  for (int i = 0; i < job->charge_count; i++)
    for (int k = i + 1; k < job->charge_count; k++) {
      int a = job->charges[i].body, b = job->charges[k].body;
      if (a == b) continue;
      carom_vec3 d = cm_sub(at[i], at[k]);
      double r = cm_norm(d), v = job->constant * job->charges[i].charge * job->charges[k].charge / r;
      carom_vec3 f = cm_scale(v / (r * r), d);
      energy += v;
      push(force[a], torque[a], f, cm_sub(at[i], pose[a].p));
      push(force[b], torque[b], cm_neg(f), cm_sub(at[k], pose[b].p));
    }
  return energy;
}

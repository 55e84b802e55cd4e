// Motion, frame by frame.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "conformance.h"

track track_begin(const carom_model *model, double h, int steps) {
  track t = {.model = model, .h = h};
  size_t frames = (size_t)steps + 1, bodies = (size_t)model->body_count, joints = (size_t)model->joint_count;
  t.points = calloc(frames * (bodies + 1), sizeof *t.points);
  t.turns = calloc(frames * (joints + 1), sizeof *t.turns);
  if (!t.points || !t.turns) abort();
  return t;
}

static double coordinate_of(const track *t, const carom_state *state, int j) {
  const carom_joint *joint = &t->model->joints[j];
  if (joint->kind != CAROM_JOINT_PRISMATIC) return state->joints[j].turn;
  carom_pose on[2];
  for (int k = 0; k < 2; k++) {
    int b = joint->body[k];
    carom_pose of = b == CAROM_WORLD ? cm_pose_identity() : cm_pose(state->x[b], state->q[b]);
    on[k] = cm_compose(of, state->joints[j].frame[k]);
  }
  return cm_untransform(on[0], on[1].p).z;
}

void track_note(track *t, const carom_state *state) {
  track_point *p = t->points + (size_t)t->frames * (size_t)state->body_count;
  for (int i = 0; i < state->body_count; i++)
    p[i] = (track_point){state->x[i], state->q[i], carom_state_velocity(t->model, state, i),
                         carom_state_angular_velocity(t->model, state, i)};
  double *turn = t->turns + (size_t)t->frames * (size_t)state->joint_count;
  for (int j = 0; j < state->joint_count; j++) turn[j] = coordinate_of(t, state, j);
  t->frames++;
}

track_point *track_room(track *t) { return t->points + (size_t)t->frames++ * (size_t)t->model->body_count; }

void track_end(track *t) {
  free(t->points);
  free(t->turns);
  *t = (track){0};
}

const track_point *track_at(const track *t, int frame, int i) {
  return t->points + (size_t)frame * (size_t)t->model->body_count + i;
}

static carom_vec3 place(const track *t, int frame, int i, carom_vec3 point) {
  if (i == CAROM_WORLD) return point;
  const track_point *p = track_at(t, frame, i);
  return cm_add(p->x, cm_rotate(p->q, point));
}

static double kinetic(const carom_body *b, const track_point *p) {
  carom_vec3 own = cm_unrotate(p->q, p->w);
  return 0.5 * (b->mass * cm_norm2(p->v) + cm_dot(own, cm_mul_diag(b->inertia, own)));
}

double track_energy(const track *t, int frame) {
  const carom_model *m = t->model;
  double sum = 0;
  for (int i = 0; i < m->body_count; i++) {
    if (m->bodies[i].fixed) continue;
    const track_point *p = track_at(t, frame, i);
    sum += kinetic(&m->bodies[i], p) - m->bodies[i].mass * cm_dot(m->gravity, p->x);
  }
  for (int i = 0; i < m->spring_count; i++) {
    const carom_spring *s = &m->springs[i];
    double length = cm_norm(cm_sub(place(t, frame, s->body[0], s->point[0]), place(t, frame, s->body[1], s->point[1])));
    sum += 0.5 * s->stiffness * (length - s->rest_length) * (length - s->rest_length);
  }
  for (int j = 0; j < m->joint_count; j++) {
    const carom_coordinate *c = m->joints[j].kind == CAROM_JOINT_PRISMATIC ? &m->joints[j].slide : &m->joints[j].turn;
    double off = t->turns[(size_t)frame * (size_t)m->joint_count + (size_t)j] - c->rest;
    sum += 0.5 * c->stiffness * off * off;
  }
  return sum;
}

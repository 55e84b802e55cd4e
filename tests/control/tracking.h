// A rigid body under the tracking law, integrated here by Runge and Kutta's method, with nothing of the library but the
// law and its reference.
#ifndef CAROM_TESTS_TRACKING_H
#define CAROM_TESTS_TRACKING_H

#include "fixtures.h"

typedef struct closed_loop {
  carom_plant plant;
  carom_track_gains gains;
  carom_track_memory memory;
  const carom_trajectory *trajectory;
  carom_rigid_motion motion;
  carom_vec3 disturbance, disturbance_torque;  // that really act
  double time;
} closed_loop;

// Johnson's CubeSat: 1.2 kg, 0.3 x 0.1 x 0.1 m.
static inline carom_plant cubesat(void) { return (carom_plant){.mass = 1.2, .inertia = cm_diag3(0.002, 0.01, 0.01)}; }

static inline carom_track_answer answer_of(closed_loop *loop) {
  carom_reference reference = carom_trajectory_at(loop->trajectory, loop->time);
  return carom_track(&loop->plant, &loop->motion, &reference, &loop->gains, &loop->memory);
}

typedef struct motion_rate {
  carom_vec3 v, a, w_rate;
  carom_quat q_rate;
} motion_rate;

// The plant's equations (Johnson 2012, eq. 4.28).
static inline motion_rate rate_of(closed_loop loop) {
  carom_track_answer u = answer_of(&loop);
  carom_vec3 w = loop.motion.angular_velocity_body, torque = cm_add(u.torque_body, loop.disturbance_torque);
  carom_mat3 J = loop.plant.inertia;
  motion_rate r = {.v = loop.motion.velocity};
  r.a = cm_scale(1 / loop.plant.mass, cm_add(u.force, loop.disturbance));
  cm_solve3(J, cm_add(cm_cross(cm_mulv(J, w), w), torque), &r.w_rate);
  r.q_rate = cm_qmul(loop.motion.rotation, cm_quat(0, w.x / 2, w.y / 2, w.z / 2));
  return r;
}

static inline closed_loop moved_by(closed_loop loop, motion_rate r, double h) {
  carom_quat *q = &loop.motion.rotation;
  loop.time += h;
  loop.motion.position = cm_axpy(loop.motion.position, h, r.v);
  loop.motion.velocity = cm_axpy(loop.motion.velocity, h, r.a);
  loop.motion.angular_velocity_body = cm_axpy(loop.motion.angular_velocity_body, h, r.w_rate);
  *q = cm_quat(q->w + h * r.q_rate.w, q->x + h * r.q_rate.x, q->y + h * r.q_rate.y, q->z + h * r.q_rate.z);
  return loop;
}

static inline void step_loop(closed_loop *loop, double h) {
  motion_rate k[4], sum;
  k[0] = rate_of(*loop);
  k[1] = rate_of(moved_by(*loop, k[0], h / 2));
  k[2] = rate_of(moved_by(*loop, k[1], h / 2));
  k[3] = rate_of(moved_by(*loop, k[2], h));
  const double *a = (const double *)&k[0], *b = (const double *)&k[1], *c = (const double *)&k[2];
  const double *d = (const double *)&k[3];
  double *s = (double *)&sum;
  for (size_t i = 0; i < sizeof sum / sizeof *s; i++) s[i] = (a[i] + 2 * b[i] + 2 * c[i] + d[i]) / 6;
  *loop = moved_by(*loop, sum, h);
  loop->motion.rotation = cm_qunit(loop->motion.rotation);
  answer_of(loop);  // which way round, from here on
}

// Through four poses in 12 s.
static inline carom_trajectory *winding_trajectory(void) {
  carom_trajectory *trajectory = NULL;
  carom_random r = carom_random_make(11, 0);
  double times[4] = {0, 3, 7, 12};
  carom_pose poses[4];
  for (int i = 0; i < 4; i++) poses[i] = cm_pose(random_vector(&r, 1), random_rotation(&r));
  if (carom_trajectory_create_waypoints(4, times, poses, NULL, &trajectory, NULL) != CAROM_OK) abort();
  return trajectory;
}

static inline carom_trajectory *resting_trajectory(carom_pose pose) {
  carom_trajectory *trajectory = NULL;
  double times[2] = {0, 1};
  carom_pose poses[2] = {pose, pose};
  if (carom_trajectory_create_waypoints(2, times, poses, NULL, &trajectory, NULL) != CAROM_OK) abort();
  return trajectory;
}

#endif

// One row: the gradient of a scalar in the twists of two bodies. Contacts along their normals and tangents, equations
// of joints, their limits and prescribed motors are all rows:
//
//     rate = sum over both ends of linear.v + angular.w,
//
// and an impulse along the row changes p by impulse x linear and l by impulse x angular. A is end 0, always: of a
// contact the body that the normal points to, of a joint its body[0].
#ifndef CAROM_SRC_MODEL_ROW_H
#define CAROM_SRC_MODEL_ROW_H

#include "carom/model.h"

typedef struct carom_row {
  int body[2];  // CAROM_WORLD where there is none; fixed bodies are named, but do not move
  carom_vec3 linear[2], angular[2];
} carom_row;

// Of rigid bodies; not of the world, nor of solids.
static inline bool carom_body_moves(const carom_model *model, int body) {
  return body > CAROM_WORLD && !model->bodies[body].fixed;
}

// For messages.
static inline const char *carom_body_name(const carom_model *model, int body) { return carom_model_name(model, body); }

// The velocity of A against B at a point, along a direction; both feel the impulse there, so that it turns nothing.
static inline carom_row carom_row_at(int a, int b, carom_vec3 direction, carom_vec3 point, const carom_vec3 *x) {
  carom_row row = {.body = {a, b}, .linear = {direction, cm_neg(direction)}};
  if (a != CAROM_WORLD) row.angular[0] = cm_cross(cm_sub(point, x[a]), direction);
  if (b != CAROM_WORLD) row.angular[1] = cm_neg(cm_cross(cm_sub(point, x[b]), direction));
  return row;
}

// Two tangents of a normal; in a planar scene the first lies in the plane.
static inline void carom_row_tangents(carom_vec3 n, bool planar, carom_vec3 t[2]) {
  carom_vec3 other = planar || (n.z < 0.7 && n.z > -0.7) ? cm_vec3(0, 0, 1) : cm_vec3(1, 0, 0);
  t[0] = cm_unit(cm_cross(other, n));
  t[1] = cm_cross(n, t[0]);
}

// By the velocities v, w (body_count) of the bodies that move.
static inline double carom_row_rate(const carom_model *model, const carom_row *row, const carom_vec3 *v,
                                    const carom_vec3 *w) {
  double rate = 0;
  for (int end = 0; end < 2; end++) {
    int body = row->body[end];
    if (!carom_body_moves(model, body)) continue;
    rate += cm_dot(row->linear[end], v[body]) + cm_dot(row->angular[end], w[body]);
  }
  return rate;
}

// The same by the momenta of a state.
static inline double carom_row_state_rate(const carom_model *model, const carom_row *row, const carom_state *state) {
  double rate = 0;
  for (int end = 0; end < 2; end++) {
    int body = row->body[end];
    if (!carom_body_moves(model, body)) continue;
    rate += cm_dot(row->linear[end], carom_state_velocity(model, state, body));
    rate += cm_dot(row->angular[end], carom_state_angular_velocity(model, state, body));
  }
  return rate;
}

// What driven bodies add to the rate by their mean motion over `span` (s) from `time` on. Where an impulse acts along
// the row, they do the work of minus impulse times this rate.
static inline double carom_row_driven_rate(const carom_model *model, const carom_row *row, double time, double span) {
  double rate = 0;
  for (int end = 0; end < 2 && model->drive_count > 0; end++) {
    carom_vec3 v, w;
    if (row->body[end] == CAROM_WORLD || !model->bodies[row->body[end]].fixed) continue;
    carom_model_motion(model, row->body[end], time, span, &v, &w);
    rate += cm_dot(row->linear[end], v) + cm_dot(row->angular[end], w);
  }
  return rate;
}

// The rate that a unit impulse along the row makes, bodies being free: J M^-1 J', 1/kg.
static inline double carom_row_answer(const carom_model *model, const carom_row *row, const carom_quat *q) {
  double answer = 0;
  for (int end = 0; end < 2; end++) {
    int body = row->body[end];
    if (!carom_body_moves(model, body)) continue;
    carom_vec3 angular = cm_unrotate(q[body], row->angular[end]);
    answer += model->bodies[body].inverse_mass * cm_norm2(row->linear[end]);
    answer += cm_dot(angular, cm_mul_diag(model->bodies[body].inverse_inertia, angular));
  }
  return answer;
}

// Adds an impulse along the row to momenta (body_count) of the bodies that move.
static inline void carom_row_push(const carom_model *model, const carom_row *row, double impulse, carom_vec3 *p,
                                  carom_vec3 *l) {
  for (int end = 0; end < 2; end++) {
    int body = row->body[end];
    if (!carom_body_moves(model, body)) continue;
    p[body] = cm_axpy(p[body], impulse, row->linear[end]);
    l[body] = cm_axpy(l[body], impulse, row->angular[end]);
  }
}

#endif

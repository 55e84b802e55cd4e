// Whether bodies can meet at all, from how they start: only where gravity alone moves them, as balls around their
// centres of mass.
#include <math.h>

#include "carom/step.h"

enum { PIECES = 64 };                  // of a path: chords, with room for the arc
static const double MOST_PAIRS = 2e7;  // more of them are not worth the time
static const double LEEWAY = 1e-9;     // of the distance, for round-off

static bool moved_by_more(const carom_model *m) {
  return m->joint_count + m->spring_count + m->charge_count + m->force_count + m->input_count + m->drive_count +
             m->boundary_count + m->recirculation_count + m->electromagnet_count >
         0;
}

static carom_vec3 along(carom_vec3 r, carom_vec3 v, carom_vec3 a, double t) {
  return cm_axpy(cm_axpy(r, t, v), 0.5 * t * t, a);
}

static double least_norm(carom_vec3 from, carom_vec3 to) {
  carom_vec3 d = cm_sub(to, from);
  double length2 = cm_norm2(d), s = length2 > 0 ? -cm_dot(from, d) / length2 : 0;
  return cm_norm(cm_axpy(from, fmin(1, fmax(0, s)), d));
}

// How near the path r + v t + a t^2/2 comes to the origin, or to the plane through it; never more than it is.
static double nearest(const carom_vec3 path[3], const carom_vec3 *plane, double duration) {
  double dt = duration / PIECES, arc = cm_norm(path[2]) * dt * dt / 8, least = INFINITY;
  for (int k = 0; k < PIECES; k++) {
    carom_vec3 from = along(path[0], path[1], path[2], k * dt), to = along(path[0], path[1], path[2], (k + 1) * dt);
    double d = plane ? fmin(cm_dot(*plane, from), cm_dot(*plane, to)) : least_norm(from, to);
    least = fmin(least, d - arc);
  }
  return least * (1 - LEEWAY);
}

// `a` moves. A body without bounds is a half-space: what is below the plane z = 0 of its part.
static bool pair_stays_apart(const carom_model *m, const carom_state *state, int a, int b, double duration) {
  const carom_body *other = &m->bodies[b];
  carom_vec3 v = cm_sub(carom_state_velocity(m, state, a), carom_state_velocity(m, state, b));
  carom_vec3 path[3] = {cm_sub(state->x[a], state->x[b]), v, other->fixed ? m->gravity : cm_vec3(0, 0, 0)};
  if (isfinite(other->bounding_radius))
    return nearest(path, NULL, duration) > m->bodies[a].bounding_radius + other->bounding_radius;
  if (other->part_count != 1) return false;
  carom_pose pose = cm_compose(cm_pose(state->x[b], state->q[b]), m->parts[other->part_start].pose);
  carom_vec3 up = cm_rotate(pose.q, cm_vec3(0, 0, 1));
  path[0] = cm_sub(state->x[a], pose.p);
  return nearest(path, &up, duration) > m->bodies[a].bounding_radius;
}

bool carom_stay_apart(const carom_model *model, const carom_state *state, double duration) {
  if (carom_model_uses(model, CAROM_TRAIT_CONTACTS) < 0) return model->boundary_count == 0;
  if (model->solid_count > 0 || moved_by_more(model) || (double)model->moving_count * model->body_count > MOST_PAIRS)
    return false;
  for (int a = 0; a < model->body_count; a++) {
    if (model->bodies[a].fixed || model->bodies[a].part_count == 0) continue;
    for (int b = 0; b < model->body_count; b++) {
      const carom_body *other = &model->bodies[b];
      if (other->part_count == 0 || b == a || (b < a && !other->fixed)) continue;
      if (!pair_stays_apart(model, state, a, b, duration)) return false;
    }
  }
  return true;
}

// Bodies so fast that they could pass through others in one step.
#include <math.h>

#include "step/dcr/dcr.h"

static const double FAST = 0.5;    // motion in a cycle, over the half depth of the thinner part, that is looked into
static const double CLOSE = 1e-3;  // accuracy of the time of impact, likewise
static const double BEYOND = 0.1;  // how far past the impact the cycle goes, so that the projection finds the overlap
static const double JUST_BEYOND = 1e-3;  // the same where a cycle is taken back for what the projection did

// How far two parts moved relative to each other, at most.
static double relative_motion(const carom_stepper *stepper, const carom_state *from, const carom_state *to,
                              const carom_part_pair *pair) {
  carom_vec3 da = cm_sub(to->x[pair->body_a], from->x[pair->body_a]);
  carom_vec3 db = cm_sub(to->x[pair->body_b], from->x[pair->body_b]);
  double motion = cm_norm(cm_sub(da, db));
  int bodies[2] = {pair->body_a, pair->body_b};
  for (int k = 0; k < 2; k++) {
    carom_quat turn = cm_qmul(to->q[bodies[k]], cm_qconj(from->q[bodies[k]]));
    const carom_body *body = &stepper->model->bodies[bodies[k]];
    bool turns = !body->fixed || (stepper->model->drive_count > 0 && isfinite(body->bounding_radius));
    if (turns) motion += cm_norm(cm_log(turn)) * body->bounding_radius;
  }
  return motion;
}

static carom_motion motion_of(const carom_contacts *set, const carom_state *from, const carom_state *to, int part) {
  carom_placed a = carom_contacts_place(set, part, from), b = carom_contacts_place(set, part, to);
  return (carom_motion){a.shape, a.pose, b.pose};
}

// When two parts have just met on their way from the start of the cycle, as a part of it; 1 when they do not.
static double meeting(carom_stepper *stepper, const carom_state *end, const carom_part_pair *pair, double beyond) {
  const carom_dcr *w = stepper->work;
  double motion = relative_motion(stepper, w->start, end, pair);
  double thin = fmin(w->thickness[pair->part_a], w->thickness[pair->part_b]);
  carom_motion a = motion_of(w->contacts, w->start, end, pair->part_a);
  carom_motion b = motion_of(w->contacts, w->start, end, pair->part_b);
  carom_impact_time impact;
  carom_status status = carom_time_of_impact(&a, &b, fmin(CLOSE, beyond) * thin, NULL, &impact);
  if (status < 0 || impact.outcome != CAROM_IMPACT_FOUND) return 1;
  return fmin(1, impact.time + beyond * thin / motion);
}

double carom_dcr_safe_fraction(carom_stepper *stepper, const carom_state *state) {
  carom_dcr *w = stepper->work;
  double fraction = 1;
  for (int i = 0; i < w->contacts->pair_count; i++) {
    carom_part_pair *pair = &w->contacts->pairs[i];
    double thin = fmin(w->thickness[pair->part_a], w->thickness[pair->part_b]);
    if (relative_motion(stepper, w->start, state, pair) > FAST * thin)
      fraction = fmin(fraction, meeting(stepper, state, pair, BEYOND));
  }
  return fraction;
}

double carom_dcr_first_meeting(carom_stepper *stepper) {
  carom_dcr *w = stepper->work;
  double fraction = 1;
  for (int i = 0; i < w->contacts->pair_count; i++)
    if (!carom_joints_hold(stepper->model, w->start, w->contacts->pairs[i].body_a, w->contacts->pairs[i].body_b))
      fraction = fmin(fraction, meeting(stepper, w->free_end, &w->contacts->pairs[i], JUST_BEYOND));
  return fraction;
}

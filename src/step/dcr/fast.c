// Bodies so fast that they could pass through others in one step.
#include <math.h>

#include "model/size.h"
#include "step/dcr/dcr.h"

enum { MOST_LOOKS = 64 };
static const double FAR_TURN = 2, NEAR_TURN = 1;  // rad in a cycle
static const double FAST = 0.5;    // motion in a cycle, over the half depth of the thinner part, that is looked into
static const double CLOSE = 1e-3;  // accuracy of the time of impact, likewise
static const double BEYOND = 0.1;  // how far past the impact the cycle goes, so that the projection finds the overlap
static const double JUST_BEYOND = 1e-3;  // the same where a cycle is taken back for what the projection did

// How far a body turned in the cycle, whole turns included.
static double turn_of(const carom_stepper *stepper, const carom_state *from, const carom_state *to, int b) {
  const carom_body *body = &stepper->model->bodies[b];
  bool driven = stepper->model->drive_count > 0 && isfinite(body->bounding_radius);
  if (body->fixed && !driven) return 0;
  double seen = cm_norm(cm_log(cm_qmul(to->q[b], cm_qconj(from->q[b]))));
  if (body->fixed) return seen;
  return fmax(seen, (to->time - from->time) * cm_norm(carom_state_angular_velocity(stepper->model, to, b)));
}

// How far two parts moved relative to each other, at most.
static double relative_motion(const carom_stepper *stepper, const carom_state *from, const carom_state *to,
                              const carom_part_pair *pair) {
  carom_vec3 da = cm_sub(to->x[pair->body_a], from->x[pair->body_a]);
  carom_vec3 db = cm_sub(to->x[pair->body_b], from->x[pair->body_b]);
  double motion = cm_norm(cm_sub(da, db));
  int bodies[2] = {pair->body_a, pair->body_b};
  for (int k = 0; k < 2; k++) {
    double turn = turn_of(stepper, from, to, bodies[k]);
    if (turn > 0) motion += turn * stepper->model->bodies[bodies[k]].bounding_radius;
  }
  return motion;
}

// The way between two poses is taken for the shorter turn. Bodies that turn farther near others are followed bit by
// bit.
static double part_that_is_clear(carom_stepper *stepper, const carom_state *end, int i, double motion) {
  const carom_dcr *w = stepper->work;
  const carom_part_pair *pair = &w->contacts->pairs[i];
  carom_distance_result d;
  double a = turn_of(stepper, w->start, end, pair->body_a), b = turn_of(stepper, w->start, end, pair->body_b);
  double turn = fmax(carom_body_is_ball(stepper->model, &stepper->model->bodies[pair->body_a]) ? 0 : a,
                     carom_body_is_ball(stepper->model, &stepper->model->bodies[pair->body_b]) ? 0 : b);
  if (!(turn > FAR_TURN)) return 1;
  if (carom_contacts_distance(w->contacts, i, w->start, &d) == CAROM_OK && d.distance > motion) return 1;
  return NEAR_TURN / turn;
}

static carom_motion motion_of(const carom_contacts *set, const carom_state *from, const carom_state *to, int part) {
  carom_placed a = carom_contacts_place(set, part, from), b = carom_contacts_place(set, part, to);
  return (carom_motion){a.shape, a.pose, b.pose};
}

// Parts that touch from the start may part and meet again, or go into each other: looks at the way, a little apart.
// Returns the time at which they are in one another, or *apart when they have come apart by then; 1 when neither.
static double watch(const carom_motion *a, const carom_motion *b, double stride, double depth, bool *apart) {
  *apart = false;
  for (int i = 1; i <= MOST_LOOKS && i * stride < 1; i++) {
    double t = i * stride;
    carom_placed at[2] = {{a->shape, carom_motion_at(a, t)}, {b->shape, carom_motion_at(b, t)}};
    carom_distance_result d;
    if (carom_distance(&at[0], &at[1], NULL, &d) != CAROM_OK) return 1;
    *apart = d.distance > depth;
    if (fabs(d.distance) > depth) return t;
  }
  return 1;
}

static carom_motion rest_of(const carom_motion *m, double from) {
  return (carom_motion){m->shape, carom_motion_at(m, from), m->to};
}

// A way of two parts from the start of the cycle.
typedef struct encounter {
  carom_motion a, b;
  double motion, thin;  // of each other, m; half the depth of the thinner one
} encounter;

static encounter encounter_of(const carom_stepper *stepper, const carom_state *end, const carom_part_pair *pair) {
  const carom_dcr *w = stepper->work;
  return (encounter){motion_of(w->contacts, w->start, end, pair->part_a),
                     motion_of(w->contacts, w->start, end, pair->part_b), relative_motion(stepper, w->start, end, pair),
                     fmin(w->thickness[pair->part_a], w->thickness[pair->part_b])};
}

// When two parts have just met, as a part of the cycle, and are `beyond` of their depth in one another; 1: never.
static double meeting(const encounter *e, double beyond) {
  carom_impact_time impact;
  double close = fmin(CLOSE, beyond) * e->thin, past = beyond * e->thin / e->motion, from = 0;
  if (carom_time_of_impact(&e->a, &e->b, close, NULL, &impact) < 0) return 1;
  if (impact.outcome == CAROM_IMPACT_AT_START) {
    bool apart;
    from = watch(&e->a, &e->b, fmin(0.5, FAST * e->thin / e->motion), 2 * close, &apart);
    if (!apart) return from;
    carom_motion a = rest_of(&e->a, from), b = rest_of(&e->b, from);
    if (carom_time_of_impact(&a, &b, close, NULL, &impact) < 0) return 1;
  }
  if (impact.outcome != CAROM_IMPACT_FOUND) return 1;
  return fmin(1, from + (1 - from) * impact.time + past);
}

double carom_dcr_safe_fraction(carom_stepper *stepper, const carom_state *state) {
  carom_dcr *w = stepper->work;
  double fraction = 1;
  for (int i = 0; i < w->contacts->pair_count; i++) {
    encounter e = encounter_of(stepper, state, &w->contacts->pairs[i]);
    if (!(e.motion > FAST * e.thin)) continue;
    double clear = part_that_is_clear(stepper, state, i, e.motion);
    fraction = fmin(fraction, clear < 1 ? clear : meeting(&e, BEYOND));
  }
  return fraction;
}

double carom_dcr_first_meeting(carom_stepper *stepper, int body) {
  carom_dcr *w = stepper->work;
  double fraction = 1;
  for (int i = 0; i < w->contacts->pair_count; i++) {
    const carom_part_pair *pair = &w->contacts->pairs[i];
    bool others = body != CAROM_WORLD && pair->body_a != body && pair->body_b != body;
    if (others || carom_joints_hold(stepper->model, w->start, pair->body_a, pair->body_b)) continue;
    encounter e = encounter_of(stepper, w->free_end, pair);
    fraction = fmin(fraction, meeting(&e, JUST_BEYOND));
  }
  return fraction;
}

#include <math.h>

#include "step/moreau/moreau.h"

enum { SAMPLES = 16, BISECTIONS = 60 };
// Over the thinner part's half width: bodies that get farther in a piece might pass through each other.
static const double FAST = 0.5;

static double cubic(const double c[4], double t) { return ((c[3] * t + c[2]) * t + c[1]) * t + c[0]; }

// The first zero in (0, 1] of the cubic with these values and slopes at 0 and 1, its value at 1 being below 0: found by
// bisection between the last sample above 0 and the first below. (Gavrea 2006, 2.1, after Potra et al. 2006.)
static double cubic_root(double f0, double s0, double f1, double s1) {
  double c[4] = {f0, s0, 3 * (f1 - f0) - 2 * s0 - s1, 2 * (f0 - f1) + s0 + s1}, low = 0, high = 1;
  for (int i = 1; i <= SAMPLES; i++) {
    high = (double)i / SAMPLES;
    if (cubic(c, high) <= 0) break;
    low = high;
  }
  for (int i = 0; i < BISECTIONS; i++) {
    double t = 0.5 * (low + high);
    *(cubic(c, t) <= 0 ? &high : &low) = t;
  }
  return high;
}

static double gap_rate(const carom_moreau *m, const carom_state *state, const carom_part_pair *p,
                       const carom_distance_result *d) {
  carom_vec3 point = cm_lerp(d->point_a, d->point_b, 0.5);
  carom_row row = carom_row_at(p->body_a, p->body_b, d->normal, point, state->x);
  double moving = cm_dot(d->normal, carom_moreau_surface_velocity(m, p->body_b, point));
  return carom_row_state_rate(m->model, &row, state) - moving;
}

static bool among_items(const carom_moreau *m, const carom_part_pair *p) {
  for (int i = 0; i < m->items.count; i++) {
    const carom_moreau_item *item = &m->items.list[i];
    if (item->kind == CAROM_MOREAU_CONTACT && item->contact.part_a == p->part_a && item->contact.part_b == p->part_b)
      return true;
  }
  return false;
}

// ---- fast bodies ----------------------------------------------------------------------------------------------------

static void measure_ways(carom_moreau *m, const carom_state *end) {
  for (int i = 0; i < m->model->body_count; i++) {
    const carom_body *body = &m->model->bodies[i];
    m->way[i] = cm_norm(cm_sub(end->x[i], m->origin->x[i]));
    if (!isfinite(body->bounding_radius)) continue;
    carom_quat turn = cm_qmul(end->q[i], cm_qconj(m->origin->q[i]));
    m->way[i] += 2 * body->bounding_radius * fmin(1, cm_norm(cm_vec3(turn.x, turn.y, turn.z))) * 1.6;
  }
}

static carom_motion motion_of(const carom_moreau *m, const carom_state *end, int part) {
  carom_placed a = carom_contacts_place(m->contacts, part, m->origin), b = carom_contacts_place(m->contacts, part, end);
  return (carom_motion){a.shape, a.pose, b.pose};
}

// The share of the piece at which bodies that move by more than their thickness first touch; INFINITY when they do not.
static double impact_of(const carom_moreau *m, const carom_part_pair *p, const carom_state *end) {
  double way = m->way[p->body_a] + m->way[p->body_b];
  carom_impact_time impact = {.time = 0};
  if (!(way > FAST * carom_moreau_thin(m, p->part_a, p->part_b))) return INFINITY;
  carom_motion a = motion_of(m, end, p->part_a), b = motion_of(m, end, p->part_b);
  carom_status status = carom_time_of_impact(&a, &b, carom_moreau_touch(m, p->part_a, p->part_b), NULL, &impact);
  bool at_end = way * (1 - impact.time) <= carom_moreau_touch(m, p->part_a, p->part_b);  // as it should be
  return status >= CAROM_OK && impact.outcome == CAROM_IMPACT_FOUND && !at_end ? impact.time : INFINITY;
}

// Puts both bodies where they are at that share of the piece.
static void place_at(carom_moreau *m, const carom_part_pair *p, const carom_state *end, double share) {
  int body[2] = {p->body_a, p->body_b};
  for (int k = 0; k < 2; k++) {
    carom_motion motion = {.from = cm_pose(m->origin->x[body[k]], m->origin->q[body[k]]),
                           .to = cm_pose(end->x[body[k]], end->q[body[k]])};
    carom_pose pose = carom_motion_at(&motion, share);
    m->meeting->x[body[k]] = pose.p;
    m->meeting->q[body[k]] = pose.q;
  }
}

// ---- pairs ----------------------------------------------------------------------------------------------------------

static void note_hit(carom_moreau_meeting *meeting, double share, int a, int b) {
  if (meeting->hit && share >= meeting->share) return;
  meeting->hit = true;
  meeting->share = share;
  meeting->body[0] = a, meeting->body[1] = b;
}

static void note_entered(carom_moreau_meeting *meeting, int a, int b) {
  meeting->entered++;
  if (!meeting->hit) meeting->body[0] = a, meeting->body[1] = b;
}

// Pairs that bounce: by the gaps and their rates at both ends where the bodies overlap at the second.
static carom_status hit_pair(carom_moreau *m, int index, const carom_state *end, const carom_distance_result *d1,
                             carom_moreau_meeting *meeting) {
  const carom_part_pair *p = &m->contacts->pairs[index];
  carom_distance_result d0;
  double share = impact_of(m, p, end);
  if (!isfinite(share) && d1->distance <= -carom_moreau_touch(m, p->part_a, p->part_b)) {
    carom_status status = carom_contacts_distance(m->contacts, index, m->origin, &d0);
    if (status != CAROM_OK) return status;
    double s0 = m->motion.h * gap_rate(m, m->origin, p, &d0), s1 = m->motion.h * gap_rate(m, end, p, d1);
    share = cubic_root(fmax(d0.distance, 0), s0, d1->distance, s1);
  }
  if (isfinite(share)) note_hit(meeting, share, p->body_a, p->body_b);
  return CAROM_OK;
}

typedef struct entry {
  int pair;
  double share;    // of the piece, at which fast bodies first touched; else INFINITY
  double overlap;  // at the end, m
} entry;

// Others: rows where they first touched, if they came from afar, or else where they are.
static carom_status enter_pair(carom_moreau *m, const entry *e, const carom_state *end, carom_moreau_meeting *meeting,
                               carom_error *error) {
  const carom_part_pair *p = &m->contacts->pairs[e->pair];
  double touch = carom_moreau_touch(m, p->part_a, p->part_b), depth = 0;
  const carom_state *at = end;
  if (isfinite(e->share)) {
    place_at(m, p, end, e->share);
    at = m->meeting;
  } else {
    carom_distance_result d0;
    carom_status status = carom_contacts_distance(m->contacts, e->pair, m->origin, &d0);
    if (status != CAROM_OK) return carom_contacts_no_separation(m->contacts, e->pair, m->origin, status, error);
    depth = fmax(-d0.distance - touch, 0);
    if (e->overlap <= depth + touch) return CAROM_OK;
  }
  note_entered(meeting, p->body_a, p->body_b);
  meeting->excess = fmax(meeting->excess, isfinite(e->share) ? INFINITY : (e->overlap - depth) / touch);
  return carom_moreau_gather_again(m, e->pair, at, end, depth, error);
}

static carom_status meet_pair(carom_moreau *m, int index, const carom_state *end, carom_moreau_meeting *meeting,
                              carom_error *error) {
  const carom_part_pair *p = &m->contacts->pairs[index];
  carom_distance_result d;
  double touch = carom_moreau_touch(m, p->part_a, p->part_b);
  carom_status status = carom_contacts_distance(m->contacts, index, end, &d);
  if (status != CAROM_OK) return carom_contacts_no_separation(m->contacts, index, end, status, error);
  if (carom_joints_hold(m->model, end, p->body_a, p->body_b)) return CAROM_OK;
  meeting->deepest = fmax(meeting->deepest, -d.distance);
  bool fast = m->way[p->body_a] + m->way[p->body_b] > FAST * carom_moreau_thin(m, p->part_a, p->part_b);
  if (d.distance > -touch && !fast) return CAROM_OK;
  bool known = among_items(m, p);
  if (!known && carom_moreau_pair_collides(m, p->body_a, p->body_b, p->restitution))
    return hit_pair(m, index, end, &d, meeting);
  double share = known ? INFINITY : impact_of(m, p, end);
  if (d.distance > -touch && !isfinite(share)) return CAROM_OK;
  entry e = {index, share, -d.distance};
  return enter_pair(m, &e, end, meeting, error);
}

// ---- limits ---------------------------------------------------------------------------------------------------------

static carom_moreau_item *item_of_limit(const carom_moreau *m, const carom_joint_limit *limit) {
  for (int i = 0; i < m->items.count; i++) {
    carom_moreau_item *item = &m->items.list[i];
    if (item->kind == CAROM_MOREAU_LIMIT && item->limit.joint == limit->joint && item->limit.turn == limit->turn &&
        item->limit.upper == limit->upper)
      return item;
  }
  return NULL;
}

// The share at which a limit that bounces is reached, from its rate at the end: coordinates of joints are smooth.
static double share_of_limit(const carom_moreau *m, const carom_joint_limit *limit, const carom_state *end) {
  double fall = -m->motion.h * carom_row_state_rate(m->model, &limit->row, end);
  return fall > 0 ? fmin(fmax(1 + limit->gap / fall, 0), 1 - 1e-9) : 0.5;
}

static void meet_limits(carom_moreau *m, const carom_state *end, carom_moreau_meeting *meeting) {
  int count = carom_joints_limits(m->model, end, -CAROM_MOREAU_LIMIT_TOUCH, m->items.limits);
  for (int i = 0; i < count; i++) {
    const carom_joint_limit *limit = &m->items.limits[i];
    carom_moreau_item *item = item_of_limit(m, limit);
    int a = m->model->joints[limit->joint].body[1];
    if (!item) {
      note_hit(meeting, share_of_limit(m, limit, end), a, CAROM_WORLD);
    } else if (limit->gap < fmin(item->start, 0) - CAROM_MOREAU_LIMIT_TOUCH) {
      note_entered(meeting, a, CAROM_WORLD);
      meeting->excess = fmax(meeting->excess, -limit->gap / CAROM_MOREAU_LIMIT_TOUCH);
      item->gap += limit->gap - fmin(item->start, 0);
      item->again = true;
    }
  }
}

carom_status carom_moreau_meet(carom_moreau *m, const carom_state *end, carom_moreau_meeting *meeting,
                               carom_error *error) {
  *meeting = (carom_moreau_meeting){.share = INFINITY};
  measure_ways(m, end);
  carom_status status = carom_moreau_more_candidates(m, error);
  for (int i = 0; i < m->contacts->pair_count && status == CAROM_OK; i++) status = meet_pair(m, i, end, meeting, error);
  if (status == CAROM_OK && m->motion.joints.system) meet_limits(m, end, meeting);
  return status;
}

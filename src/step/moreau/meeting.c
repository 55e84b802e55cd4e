#include <math.h>

#include "step/moreau/moreau.h"

enum { SAMPLES = 16, BISECTIONS = 60, LOOKS_MAX = 32 };
// Over the thinner part's half width: bodies that get farther in a piece might pass through each other.
static const double FAST = 0.5;
static const double DIP = 4e-3;  // over it: how deep bodies may be in each other on the way, out again at its end

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

static bool among_items(const carom_moreau *m, const carom_part_pair *p, bool dips) {
  for (int i = 0; i < m->items.count; i++) {
    const carom_moreau_item *item = &m->items.list[i];
    if (item->kind == CAROM_MOREAU_CONTACT && item->contact.part_a == p->part_a && item->contact.part_b == p->part_b &&
        (item->dips || !dips))
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
    m->meeting->p[body[k]] = end->p[body[k]];
    m->meeting->l[body[k]] = end->l[body[k]];
  }
}

// How deep a pair is in each other, and where on the piece.
typedef struct look {
  int pair;
  bool fast, known;       // moves by more than its thickness; has rows
  const carom_state *at;  // of its two bodies
  double share;           // of the piece
  carom_distance_result d;
} look;

static carom_status look_at(carom_moreau *m, look *l, carom_error *error) {
  carom_status status = carom_contacts_distance(m->contacts, l->pair, l->at, &l->d);
  return status == CAROM_OK ? status : carom_contacts_no_separation(m->contacts, l->pair, l->at, status, error);
}

// A corner of a fast body may dip into another and be out again at the end: the deepest of some looks on the way.
static carom_status look_between(carom_moreau *m, const carom_state *end, look *l, carom_error *error) {
  const carom_part_pair *p = &m->contacts->pairs[l->pair];
  double way = m->way[p->body_a] + m->way[p->body_b], thin = carom_moreau_thin(m, p->part_a, p->part_b);
  double deepest = -DIP * thin, share = 0;
  int looks = (int)fmin(ceil(2 * way / thin), LOOKS_MAX);
  for (int i = 1; i < looks && l->d.distance <= way; i++) {
    look now = {.pair = l->pair, .at = m->meeting};
    place_at(m, p, end, (double)i / looks);
    carom_status status = look_at(m, &now, error);
    if (status != CAROM_OK) return status;
    if (now.d.distance < deepest) deepest = now.d.distance, share = (double)i / looks;
  }
  if (share == 0) return CAROM_OK;
  place_at(m, p, end, share);
  l->at = m->meeting, l->share = share;
  return look_at(m, l, error);
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

// Where the points at which a pair is deepest were at the start, as seen along the same normal.
static carom_distance_result point_at_start(const carom_moreau *m, const look *l) {
  const carom_part_pair *p = &m->contacts->pairs[l->pair];
  carom_distance_result start = {.normal = l->d.normal};
  start.point_a = carom_moreau_carried(l->at, m->origin, p->body_a, l->d.point_a);
  start.point_b = carom_moreau_carried(l->at, m->origin, p->body_b, l->d.point_b);
  start.distance = cm_dot(l->d.normal, cm_sub(start.point_a, start.point_b));
  return start;
}

static double touch_of(const carom_moreau *m, const look *l) {
  return carom_moreau_touch(m, m->contacts->pairs[l->pair].part_a, m->contacts->pairs[l->pair].part_b);
}

// Whether the point at which a pair overlaps came from afar, and fast enough for a bounce: another corner of a body
// that touches already.
static bool arrives(const carom_moreau *m, const look *l) {
  const carom_part_pair *p = &m->contacts->pairs[l->pair];
  double touch = touch_of(m, l);
  if (l->d.distance > -touch) return false;
  carom_distance_result start = point_at_start(m, l);
  double approach = fmax(-gap_rate(m, l->at, p, &l->d), -gap_rate(m, m->origin, p, &start));
  return approach > carom_moreau_slow(m) && start.distance > CAROM_MOREAU_NEARNESS * touch;
}

// Pairs that bounce: by the gaps and their rates at both ends where the bodies overlap at the second; of those that
// touch already, by the gap of the corner that arrives.
static carom_status hit_pair(carom_moreau *m, const look *l, const carom_state *end, carom_moreau_meeting *meeting) {
  const carom_part_pair *p = &m->contacts->pairs[l->pair];
  double share = l->known ? INFINITY : impact_of(m, p, end), time = l->share * m->motion.h;
  if (!isfinite(share) && l->d.distance <= -touch_of(m, l)) {
    carom_distance_result d0 = l->known ? point_at_start(m, l) : (carom_distance_result){0};
    carom_status status = l->known ? CAROM_OK : carom_contacts_distance(m->contacts, l->pair, m->origin, &d0);
    if (status != CAROM_OK) return status;
    double s0 = time * gap_rate(m, m->origin, p, &d0), s1 = time * gap_rate(m, l->at, p, &l->d);
    share = l->share * cubic_root(fmax(d0.distance, 0), s0, l->d.distance, s1);
  }
  if (isfinite(share)) note_hit(meeting, share, p->body_a, p->body_b);
  return CAROM_OK;
}

// What they overlapped by at the start, beyond touching, they may at the end.
static carom_status allowed_depth(carom_moreau *m, const look *l, double *depth, carom_error *error) {
  look start = {.pair = l->pair, .at = m->origin};
  carom_status status = look_at(m, &start, error);
  *depth = fmax(-start.d.distance - touch_of(m, l), 0);
  return status;
}

// Others: rows where they are, or where they are deepest on the way.
static carom_status enter_pair(carom_moreau *m, const look *l, const carom_state *end, carom_moreau_meeting *meeting,
                               carom_error *error) {
  const carom_part_pair *p = &m->contacts->pairs[l->pair];
  carom_moreau_place place = {l->at, end, l->share, 0};
  carom_status status = allowed_depth(m, l, &place.depth, error);
  double touch = touch_of(m, l), overlap = -l->d.distance - place.depth;
  if (status != CAROM_OK || overlap <= touch) return status;
  note_entered(meeting, p->body_a, p->body_b);
  meeting->excess = fmax(meeting->excess, overlap / touch);
  return carom_moreau_gather_again(m, l->pair, &place, error);
}

// Those that came from afar: rows where they first touched, for the end.
static carom_status enter_from_afar(carom_moreau *m, int pair, double share, const carom_state *end,
                                    carom_moreau_meeting *meeting, carom_error *error) {
  const carom_part_pair *p = &m->contacts->pairs[pair];
  carom_moreau_place place = {m->meeting, end, 1, 0};
  place_at(m, p, end, share);
  note_entered(meeting, p->body_a, p->body_b);
  meeting->excess = INFINITY;
  return carom_moreau_gather_again(m, pair, &place, error);
}

static carom_status meet_pair(carom_moreau *m, int index, const carom_state *end, carom_moreau_meeting *meeting,
                              carom_error *error) {
  const carom_part_pair *p = &m->contacts->pairs[index];
  double touch = carom_moreau_touch(m, p->part_a, p->part_b);
  look l = {.pair = index, .at = end, .share = 1};
  carom_status status = look_at(m, &l, error);
  if (status != CAROM_OK || carom_joints_hold(m->model, end, p->body_a, p->body_b)) return status;
  meeting->deepest = fmax(meeting->deepest, -l.d.distance);
  l.fast = m->way[p->body_a] + m->way[p->body_b] > FAST * carom_moreau_thin(m, p->part_a, p->part_b);
  if (l.d.distance > -touch && !l.fast) return CAROM_OK;
  l.known = among_items(m, p, false);
  if (l.d.distance > -touch && l.known && !among_items(m, p, true)) status = look_between(m, end, &l, error);
  if (status != CAROM_OK) return status;
  bool collides = carom_moreau_pair_collides(m, p->body_a, p->body_b, p->restitution);
  if (collides && (!l.known || arrives(m, &l))) return hit_pair(m, &l, end, meeting);
  double first = l.known ? INFINITY : impact_of(m, p, end);
  if (isfinite(first)) return enter_from_afar(m, index, first, end, meeting, error);
  return l.d.distance > -touch ? CAROM_OK : enter_pair(m, &l, end, meeting, error);
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

// Pushes drawn at random towards a pose. Most are by two probes that come to lie along a side of the part: they turn
// the side to where the probes say and carry it to where they stop, whatever the part's place was across the side and
// whatever its angle. So one such push takes two of three uncertainties away, and a second one, on another side, the
// third.
#include <math.h>
#include <string.h>

#include "control/push_tree.h"

static const double CAPTURE = 0.7;      // rad: how far two probes may turn a side
static const double CONE = 0.8;         // share of the friction cone that headings keep to
static const double END_MARGIN = 0.04;  // of a side: no probe nearer to its ends
static const double BERTH = 0.3;        // of how far the others are off
static const double ROOM = 0.05;        // over the extent: between part and walls where a last push begins
enum { TRIES = 40, LOOKS = 40 };

static void rotate(double angle, const double v[2], double out[2]) {
  double c = cos(angle), s = sin(angle), x = v[0];
  out[0] = c * x - s * v[1], out[1] = s * x + c * v[1];
}

static double dot(const double a[2], const double b[2]) { return a[0] * b[0] + a[1] * b[1]; }

// Half of the angle of the cone of headings that do not slip.
static double cone_of(const carom_push_yard *yard) {
  double mu = INFINITY;
  for (int i = 0; i < yard->def->pusher.probe_count; i++) mu = fmin(mu, carom_push_probe_friction(yard, i));
  return CONE * atan(mu);
}

static int most_probes(const carom_push_yard *yard) {
  int most = yard->def->most_probes;
  return most < yard->def->pusher.probe_count ? most : yard->def->pusher.probe_count;
}

// Into the part, for a side of a part that stands at an angle.
static void inwards(const carom_push_side *side, double angle, double in[2]) {
  const double back[2] = {-side->normal[0], -side->normal[1]};
  rotate(angle, back, in);
}

// By their lengths.
static int draw_side(const carom_push_yard *yard, carom_random *random) {
  double total = 0;
  for (int i = 0; i < yard->side_count; i++) total += yard->sides[i].length;
  double at = carom_random_between(random, 0, total);
  for (int i = 0; i < yard->side_count; i++) {
    if (at < yard->sides[i].length) return i;
    at -= yard->sides[i].length;
  }
  return yard->side_count - 1;
}

// ---- aims ----------------------------------------------------------------------------------------------------------

static carom_push_aim aim_at_goal(const carom_push_yard *yard) {
  carom_push_aim aim = {.precise = true};
  memcpy(aim.pose, yard->goal, sizeof aim.pose);
  return aim;
}

// Is there room for the part all the way from `back` before the goal?
static bool leads_in(const carom_push_yard *yard, const double heading[2], double back) {
  for (int k = 0; k <= LOOKS; k++) {
    double left = back * (LOOKS - k) / LOOKS;
    const double pose[3] = {yard->goal[0] - left * heading[0], yard->goal[1] - left * heading[1], yard->goal[2]};
    if (!(carom_push_part_gap(yard, pose) > 0)) return false;
  }
  return true;
}

// From how far at least there is room around the part, too; < 0: there is none as far as a push leads.
static double room_from(const carom_push_yard *yard, const double heading[2]) {
  for (int k = 0; k <= LOOKS; k++) {
    double back = yard->longest * k / LOOKS;
    const double pose[3] = {yard->goal[0] - back * heading[0], yard->goal[1] - back * heading[1], yard->goal[2]};
    if (carom_push_part_gap(yard, pose) > ROOM * yard->extent) return back;
  }
  return -1;
}

static void try_door(carom_push_yard *yard, int side, double off) {
  carom_push_door door = {.side = side};
  double in[2];
  inwards(&yard->sides[side], yard->goal[2], in);
  rotate(off, in, door.heading);
  door.least = room_from(yard, door.heading);
  if (door.least < 0 || !leads_in(yard, door.heading, door.least)) return;
  if (yard->door_count < CAROM_PUSH_DOORS) yard->doors[yard->door_count++] = door;
}

void carom_push_find_doors(carom_push_yard *yard, carom_random *random) {
  double cone = cone_of(yard);
  yard->door_count = 0;
  for (int i = 0; i < yard->side_count; i++) try_door(yard, i, 0);  // straight on
  for (int k = 0; k < 4 * CAROM_PUSH_DOORS; k++)
    try_door(yard, draw_side(yard, random), carom_random_between(random, -cone, cone));
}

// Where a last push may begin: the line along which it comes to the goal.
carom_push_aim carom_push_draw_aim_before(const carom_push_yard *yard, carom_random *random) {
  carom_push_aim aim = aim_at_goal(yard);
  if (yard->door_count == 0) return aim;
  const carom_push_door *door = &yard->doors[carom_random_below(random, (uint32_t)yard->door_count)];
  aim.line = true;
  memcpy(aim.heading, door->heading, sizeof aim.heading);
  aim.least = door->least + carom_random_uniform(random) * fmax(0, fmin(yard->extent, yard->longest - door->least));
  return aim;
}

static carom_push_aim aim_anywhere(const carom_push_yard *yard, carom_random *random) {
  carom_push_aim aim = {0};
  for (int k = 0; k < 2; k++) aim.pose[k] = carom_random_between(random, yard->low[k], yard->high[k]);
  double wide = carom_random_uniform(random) < 0.5 ? acos(-1) : CAPTURE;
  aim.pose[2] = yard->goal[2] + carom_random_between(random, -wide, wide);
  return aim;
}

carom_push_aim carom_push_draw_aim(const carom_push_yard *yard, carom_random *random) {
  double bias = yard->def->goal_bias, u = carom_random_uniform(random);
  if (u < bias) return aim_at_goal(yard);
  if (u < 2 * bias) return carom_push_draw_aim_before(yard, random);
  return aim_anywhere(yard, random);
}

void carom_push_aim_for(const carom_push_yard *yard, const carom_push_aim *aim, const double pose[3],
                        double target[3]) {
  memcpy(target, aim->pose, 3 * sizeof *target);
  if (!aim->line) return;
  const double left[2] = {aim->pose[0] - pose[0], aim->pose[1] - pose[1]};
  double back = fmin(fmax(dot(left, aim->heading), aim->least), fmax(aim->least, yard->longest));
  for (int k = 0; k < 2; k++) target[k] -= back * aim->heading[k];
}

// ---- which side ----------------------------------------------------------------------------------------------------

// How a push on a side can lead to a target: as straight as the cone allows.
typedef struct lead {
  double angle;       // of the part in the end
  double in[2];       // into it
  double heading[2];  // unit
  double way;         // m, < 0: the side would have to be pulled
  double rest[2];     // m: what is left of the way to the target
} lead;

static lead lead_to(const carom_push_yard *yard, const carom_push_side *side, const double pose[3],
                    const double target[3]) {
  lead l;
  double turn = carom_push_wrap(target[2] - pose[2]), cone = cone_of(yard);
  l.angle = pose[2] + fmin(fmax(turn, -CAPTURE), CAPTURE);
  inwards(side, l.angle, l.in);
  const double left[2] = {target[0] - pose[0], target[1] - pose[1]};
  double ahead = dot(left, l.in), across = l.in[0] * left[1] - l.in[1] * left[0];
  double off = ahead > 0 ? fmin(fmax(atan2(across, ahead), -cone), cone) : 0;
  rotate(off, l.in, l.heading);
  l.way = ahead / cos(off);
  for (int k = 0; k < 2; k++) l.rest[k] = left[k] - l.way * l.heading[k];
  return l;
}

// Without what the last push takes care of.
static double across_line(const carom_push_aim *aim, const double v[2]) {
  if (!aim->line) return hypot(v[0], v[1]);
  return fabs(aim->heading[0] * v[1] - aim->heading[1] * v[0]);
}

static double spread_along(const carom_push_aim *aim, const carom_push_flock *flock, const double in[2]) {
  double most = 0;
  const double along[2] = {-in[1], in[0]};
  for (int i = 1; i < flock->count; i++) {
    const double off[2] = {flock->pose[i][0] - flock->pose[0][0], flock->pose[i][1] - flock->pose[0][1]};
    double t = dot(off, along);
    const double stays[2] = {t * along[0], t * along[1]};
    most = fmax(most, across_line(aim, stays));
  }
  return most;
}

double carom_push_aim_rest(const carom_push_yard *yard, const carom_push_aim *aim, const carom_push_flock *flock,
                           int *side) {
  double target[3], best = INFINITY;
  carom_push_aim_for(yard, aim, flock->pose[0], target);
  double turn = fabs(carom_push_wrap(target[2] - flock->pose[0][2]));
  for (int i = 0; i < yard->side_count; i++) {
    lead l = lead_to(yard, &yard->sides[i], flock->pose[0], target);
    double rest = across_line(aim, l.rest) + spread_along(aim, flock, l.in) + (l.way < 0 ? 2 * -l.way : 0);
    rest += yard->turn_length * (fmax(0, turn - CAPTURE) + 0.02 * turn) + 0.02 * fabs(l.way);
    rest += 0.02 * yard->extent * (1 - yard->sides[i].length / (2 * yard->extent));  // long sides hold better
    if (rest < best) best = rest, *side = i;
  }
  return best;
}

// ---- strokes -------------------------------------------------------------------------------------------------------

// Where the line through the centre of the part along the heading meets the side: between the probes, so that they hold
// it.
static double foot(const carom_push_yard *yard, const carom_push_side *side, const double heading[2], double angle) {
  const carom_body *body = &yard->def->pusher.model->bodies[yard->body];
  carom_vec3 center = cm_untransform(body->frame, cm_zero3());
  const double off[2] = {center.x - side->at[0], center.y - side->at[1]};
  double h[2];
  rotate(-angle, heading, h);
  double ahead = -dot(h, side->normal);
  return dot(off, side->along) + (ahead > 0.1 ? dot(off, side->normal) * dot(h, side->along) / ahead : 0);
}

static double on_side(const carom_push_side *side, double place) {
  double margin = END_MARGIN * side->length;
  return fmin(fmax(place, margin), side->length - margin);
}

static void two_probes(const carom_push_yard *yard, carom_random *random, carom_push_stroke *s) {
  const carom_push_side *side = &yard->sides[s->side];
  double middle = foot(yard, side, s->heading, s->end[2]) + 0.05 * side->length * carom_random_normal(random);
  double half = side->length * carom_random_between(random, 0.15, 0.46);
  s->probes = 2;
  s->place[0] = on_side(side, middle - half), s->place[1] = on_side(side, middle + half);
  s->share[0] = s->share[1] = 1;
}

static void end_after(carom_push_stroke *s, const double pose[3], double angle) {
  for (int k = 0; k < 2; k++) s->end[k] = pose[k] + s->way * s->heading[k];
  s->end[2] = angle;
}

// Two probes that bring the side to the target, or near to it.
static bool align(const carom_push_yard *yard, carom_random *random, const carom_push_aim *aim,
                  const carom_push_flock *flock, carom_push_stroke *s) {
  double target[3];
  carom_push_aim_for(yard, aim, flock->pose[0], target);
  if (!aim->precise || carom_random_uniform(random) < 0.2)
    s->side = draw_side(yard, random);
  else
    carom_push_aim_rest(yard, aim, flock, &s->side);
  lead l = lead_to(yard, &yard->sides[s->side], flock->pose[0], target);
  if (!(l.way > 0)) {  // it leads away: a bit of it all the same, sometimes
    if (carom_random_uniform(random) < 0.7) return false;
    l.way = carom_random_between(random, 0, 0.5 * yard->longest);
  }
  memcpy(s->heading, l.heading, sizeof s->heading);
  s->way = fmin(l.way, yard->longest);
  end_after(s, flock->pose[0], l.angle);
  two_probes(yard, random, s);
  return s->place[1] - s->place[0] > 2 * END_MARGIN * yard->sides[s->side].length;
}

static void draw_way(const carom_push_yard *yard, carom_random *random, const double pose[3], carom_push_stroke *s) {
  double in[2], cone = cone_of(yard);
  inwards(&yard->sides[s->side], pose[2], in);
  rotate(carom_random_between(random, -cone, cone), in, s->heading);
  s->way = yard->longest * carom_random_uniform(random) * carom_random_uniform(random);
  end_after(s, pose, pose[2]);
}

// A probe at one place of a side, more often where it turns the part towards the target.
static bool poke(const carom_push_yard *yard, carom_random *random, const carom_push_aim *aim,
                 const carom_push_flock *flock, carom_push_stroke *s) {
  s->side = draw_side(yard, random);
  const carom_push_side *side = &yard->sides[s->side];
  draw_way(yard, random, flock->pose[0], s);
  double turn = carom_push_wrap(aim->pose[2] - flock->pose[0][2]);
  double place = carom_random_uniform(random), middle = foot(yard, side, s->heading, s->end[2]);
  s->probes = 1, s->share[0] = 1;
  s->place[0] = on_side(side, place * side->length);
  // Sides run counter-clockwise, and so does a part that is pushed beyond the middle.
  bool clockwise = s->place[0] < middle;
  if (carom_random_uniform(random) < 0.7 && clockwise != (turn < 0))
    s->place[0] = on_side(side, 2 * middle - s->place[0]);
  return true;
}

// Two probes of which one goes slower, or stands still.
static bool swing(const carom_push_yard *yard, carom_random *random, const carom_push_aim *aim,
                  const carom_push_flock *flock, carom_push_stroke *s) {
  s->side = draw_side(yard, random);
  draw_way(yard, random, flock->pose[0], s);
  two_probes(yard, random, s);
  double turn = carom_push_wrap(aim->pose[2] - flock->pose[0][2]);
  int slow = (turn > 0) != (carom_random_uniform(random) < 0.2) ? 0 : 1;
  s->share[slow] = carom_random_uniform(random) < 0.2 ? 0 : carom_random_uniform(random);
  return s->place[1] - s->place[0] > 2 * END_MARGIN * yard->sides[s->side].length;
}

bool carom_push_draw_stroke(const carom_push_yard *yard, carom_random *random, const carom_push_aim *aim,
                            const carom_push_flock *flock, carom_push_stroke *stroke) {
  double u = carom_random_uniform(random);
  *stroke = (carom_push_stroke){0};
  if (most_probes(yard) < 2) return poke(yard, random, aim, flock, stroke);
  if (u < (aim->precise ? 0.9 : 0.6)) return align(yard, random, aim, flock, stroke);
  return u < 0.95 ? poke(yard, random, aim, flock, stroke) : swing(yard, random, aim, flock, stroke);
}

// ---- probes --------------------------------------------------------------------------------------------------------

// Where a probe stands in the end.
static void stand(const carom_push_yard *yard, const carom_push_stroke *s, int probe, double at[2]) {
  const carom_push_side *side = &yard->sides[s->side];
  const double r[2] = {side->at[0] + s->place[probe] * side->along[0], side->at[1] + s->place[probe] * side->along[1]};
  double in[2], off[2], end[2] = {s->end[0], s->end[1]};
  inwards(side, s->end[2], in);
  rotate(s->end[2], r, off);
  double reach = carom_push_probe_reach(yard, probe, in);
  // Slower probes stay behind.
  double behind = (1 - s->share[probe]) * s->way;
  for (int k = 0; k < 2; k++) at[k] = end[k] + off[k] - reach * in[k] - behind * s->heading[k];
}

static double flock_gap(const carom_push_yard *yard, int probe, const double at[2], const carom_push_flock *flock) {
  double least = INFINITY;
  for (int i = 0; i < flock->count; i++) least = fmin(least, carom_push_probe_gap(yard, probe, at, flock->pose[i]));
  return least;
}

// How far probes keep from the part where they begin: starts between the others may come out of a push beyond them.
static double berth(const carom_push_yard *yard, const carom_push_flock *flock) {
  const double *half = yard->def->box.half;
  double spread[3];
  carom_push_spread(flock, spread);
  double off = hypot(hypot(spread[0], spread[1]), yard->turn_length * spread[2]);
  if (flock->count == 1) off = hypot(hypot(half[0], half[1]), yard->turn_length * half[2]) / BERTH;
  return yard->keep + BERTH * off;
}

// How far the probes begin behind the way of the part, so that they touch it nowhere it may be.
static bool step_back(const carom_push_yard *yard, const carom_push_stroke *s, const carom_push_flock *flock,
                      const double end[][2], double *extra) {
  double behind = 0, keep = berth(yard, flock);
  for (int k = 0; k < TRIES; k++) {
    double least = INFINITY;
    for (int i = 0; i < s->probes; i++) {
      double back = s->share[i] * (s->way + behind);
      const double at[2] = {end[i][0] - back * s->heading[0], end[i][1] - back * s->heading[1]};
      double gap = flock_gap(yard, i, at, flock);
      if (gap < keep && s->share[i] < 0.05) return false;
      least = fmin(least, (gap - keep) / fmax(s->share[i], 0.05));
    }
    *extra = behind;
    if (least >= 0) return true;
    behind += fmax(-1.1 * least, yard->keep);
    if (behind > 2 * yard->extent) return false;
  }
  return false;
}

// Does a probe get from a place to another one without touching a wall? In steps that its distance allows.
static bool is_free(const carom_push_yard *yard, int probe, const double from[2], const double to[2]) {
  double length = hypot(to[0] - from[0], to[1] - from[1]), gone = 0;
  for (int k = 0; k < 1000; k++) {
    double t = length > 0 ? gone / length : 1;
    const double at[2] = {from[0] + t * (to[0] - from[0]), from[1] + t * (to[1] - from[1])};
    double gap = carom_push_wall_gap(yard, probe, at);
    if (!(gap > yard->keep)) return false;
    if (gone >= length) return true;
    gone = fmin(gone + gap, length);
  }
  return false;
}

bool carom_push_place_stroke(const carom_push_yard *yard, const carom_push_stroke *s, const carom_push_flock *flock,
                             carom_push *push) {
  double end[CAROM_PUSH_PROBES][2], extra;
  for (int i = 0; i < s->probes; i++) stand(yard, s, i, end[i]);
  if (!step_back(yard, s, flock, (const double(*)[2])end, &extra)) return false;
  double way = s->way + extra;
  if (!(way > yard->keep)) return false;
  *push = (carom_push){.duration = way / yard->def->speed, .probe_count = s->probes};
  for (int i = 0; i < s->probes; i++) {
    double back = s->share[i] * way;
    const double from[2] = {end[i][0] - back * s->heading[0], end[i][1] - back * s->heading[1]};
    if (!is_free(yard, i, from, end[i])) return false;
    push->probe[i] = (carom_push_probe){.at = {from[0], from[1], 0},
                                        .heading = atan2(s->heading[1], s->heading[0]),
                                        .speed = s->share[i] * yard->def->speed};
  }
  return true;
}

// Preferred velocities. Those who are held up turn to their right, the more the longer it takes: it breaks what
// symmetry holds up, by a rule that knows neither numbers nor chance, and leads around what stands in the way.
#include <math.h>

#include "control/navigate.h"

static const double FREE = 0.5;        // of the preferred speed: who makes so much way is not held up
static const double FORGET = 1.0;      // s: how fast turning aside is forgotten
static const double FIRST = 0.15;      // rad: turned at once by those that contacts hold back
static const double LONGEST = 1.5;     // s: turned as far as may be without success; then the other side is tried
static const double HOME = 4;          // times reach and tolerance: so near to its goal it is still at home
static const double YIELD = 1.0;       // s: and not before nobody on its way has pushed it for so long
static const double GENTLY = 0.3;      // of its speed: who was at its goal already goes back there
static const double AT_CORNER = 1e-9;  // m: so near to the end of a piece of a rail the next one begins
static const double NEARER = 0.02;     // of a tolerance: coming nearer by less is none

double carom_nav_wrap(double angle) {
  double half = acos(-1.0);
  if (angle >= -half && angle <= half) return angle;
  return angle - 2 * half * round(angle / (2 * half));
}

// ---- obstacles ------------------------------------------------------------------------------------------------------

void carom_nav_obstacle_at(const carom_navigate_obstacle *o, double time, double place[3]) {
  const carom_navigate_knot *k = o->knots;
  double first = k[0].time, last = k[o->count - 1].time;
  if (o->repeat && time > last) time = first + fmod(time - first, last - first);
  int i = 0;
  while (i + 1 < o->count && k[i + 1].time <= time) i++;
  bool rests = time <= first || i + 1 >= o->count;
  double t = rests ? 0 : (time - k[i].time) / (k[i + 1].time - k[i].time);
  for (int d = 0; d < 3; d++) place[d] = rests ? k[i].place[d] : (1 - t) * k[i].place[d] + t * k[i + 1].place[d];
}

static void wish_of_obstacles(carom_navigate *s) {
  for (int i = s->n; i < s->n + s->m; i++) {
    double next[3];
    s->velocity[i][0] = s->velocity[i][1] = s->spin[i] = 0;
    if (s->items[i].rests) continue;
    carom_nav_obstacle_at(&s->obstacles[i - s->n], s->time + s->def.step, next);
    for (int k = 0; k < 2; k++) s->velocity[i][k] = (next[k] - s->place[i][k]) / s->def.step;
    s->spin[i] = carom_nav_wrap(next[2] - s->place[i][2]) / s->def.step;
  }
}

// ---- rails ----------------------------------------------------------------------------------------------------------

void carom_nav_on_rail(const carom_navigate_rail *rail, double length, int way, double at[2], double along[2],
                       double rest[2]) {
  double gone = 0;
  for (int i = 0; i + 1 < rail->count; i++) {
    const double *p = rail->points[i], *q = rail->points[i + 1];
    double d = hypot(q[0] - p[0], q[1] - p[1]), t = length - gone;
    gone += d;
    if (i + 2 < rail->count && (way > 0 ? t > d - AT_CORNER : t > d + AT_CORNER)) continue;
    for (int k = 0; k < 2; k++) along[k] = (q[k] - p[k]) / d, at[k] = p[k] + t * along[k];
    rest[0] = fmax(way > 0 ? d - t : t, 0), rest[1] = fmax(way > 0 ? t : d - t, 0);
    return;
  }
}

double carom_nav_rail_length(const carom_navigate_rail *rail, const double point[2], double *off) {
  double gone = 0, best = 0;
  *off = INFINITY;
  for (int i = 0; i + 1 < rail->count; i++) {
    const double *p = rail->points[i], *q = rail->points[i + 1];
    double ux = q[0] - p[0], uy = q[1] - p[1], d = hypot(ux, uy);
    double t = fmin(1, fmax(0, ((point[0] - p[0]) * ux + (point[1] - p[1]) * uy) / (d * d)));
    double away = hypot(point[0] - p[0] - t * ux, point[1] - p[1] - t * uy);
    if (away < *off) *off = away, best = gone + t * d;
    gone += d;
  }
  return best;
}

// As fast as it likes, but no farther than the end of the piece.
static void wish_on_rail(carom_navigate *s, int i) {
  const carom_navigate_vehicle *v = &s->vehicles[i];
  const carom_navigate_rail *rail = &s->rails[v->rail];
  double off, at[2], along[2], rest[2], goal = carom_nav_rail_length(rail, v->goal, &off);
  int way = s->way[i] = goal > s->leg[i] ? 1 : -1;
  carom_nav_on_rail(rail, s->leg[i], way, at, along, rest);
  double left = s->routes[i].left = fabs(goal - s->leg[i]), speed = fmin(v->speed, fmin(left, rest[0]) / s->def.step);
  for (int k = 0; k < 2; k++) s->toward[i][k] = way * along[k], s->wish[i][k] = speed * way * along[k];
}

// ---- vehicles -------------------------------------------------------------------------------------------------------

static void wish_for_goal(carom_navigate *s, int i) {
  const carom_navigate_vehicle *v = &s->vehicles[i];
  carom_nav_head_for(s, i);
  const double *target = s->routes[i].target;
  double dx = target[0] - s->place[i][0], dy = target[1] - s->place[i][1], far = hypot(dx, dy);
  double share = !s->home[i] ? 1 : s->yields[i] > 0 ? 0 : GENTLY, speed = fmin(share * v->speed, far / s->def.step);
  double c = cos(s->aside[i]), w = s->side[i] * sin(s->aside[i]);
  s->toward[i][0] = far > 0 ? dx / far : 0, s->toward[i][1] = far > 0 ? dy / far : 0;
  s->wish[i][0] = speed * (c * s->toward[i][0] + w * s->toward[i][1]);  // to the right
  s->wish[i][1] = speed * (c * s->toward[i][1] - w * s->toward[i][0]);
}

// A vehicle with mass takes its wish up by m v' = k (v* - v), solved exactly over the step.
static void take_up(const carom_navigate *s, int i) {
  const carom_navigate_vehicle *v = &s->vehicles[i];
  if (!isfinite(v->gain)) return;
  double part = -expm1(-v->gain * s->def.step / v->mass);
  for (int k = 0; k < 2; k++) s->wish[i][k] = s->velocity[i][k] + part * (s->wish[i][k] - s->velocity[i][k]);
}

// The spin that is wished: to face the way it goes, or what a unicycle's point asks for.
static void wish_spin(carom_navigate *s, int i) {
  const carom_navigate_vehicle *v = &s->vehicles[i];
  double *wish = s->wish[i], speed = hypot(wish[0], wish[1]);
  s->spin[i] = 0;
  if (v->steering == CAROM_STEER_TURN && speed > 0.05 * v->speed)
    s->spin[i] = carom_nav_wrap(atan2(wish[1], wish[0]) - s->place[i][2]) / s->def.step;
  if (v->steering == CAROM_STEER_UNICYCLE) s->spin[i] = v->turn_rate;
  s->spin[i] = fmin(v->turn_rate, fmax(-v->turn_rate, s->spin[i]));
}

void carom_nav_wish(carom_navigate *s) {
  wish_of_obstacles(s);
  for (int i = 0; i < s->n; i++) {
    if (s->vehicles[i].rail >= 0)
      wish_on_rail(s, i);
    else if (!s->command)
      wish_for_goal(s, i);
    for (int k = 0; k < 2 && s->command; k++)
      s->wish[i][k] = s->command[2 * s->items[i].number + k], s->toward[i][k] = 0;
    take_up(s, i);
    wish_spin(s, i);
  }
}

// ---- who is held up -------------------------------------------------------------------------------------------------

// The first side is the right one. Where that leads nowhere the other is tried, and each of them longer than before.
static void change_side(carom_navigate *s, int i) {
  s->saturated[i] += s->def.step;
  if (s->saturated[i] < LONGEST * (1 + s->changes[i])) return;
  s->side[i] = -s->side[i], s->changes[i]++;
  s->aside[i] = s->saturated[i] = 0;
}

static void note_aside(carom_navigate *s, int i, bool touches) {
  const carom_navigate_vehicle *v = &s->vehicles[i];
  double way = s->velocity[i][0] * s->toward[i][0] + s->velocity[i][1] * s->toward[i][1];
  double left = hypot(v->goal[0] - s->place[i][0], v->goal[1] - s->place[i][1]);
  double wanted = fmin(v->speed, left / s->def.step), most = s->def.most_turn;
  bool held = touches && left > v->tolerance && way < FREE * wanted && s->def.turn > 0;
  if (!held)
    s->aside[i] *= exp(-s->def.step / FORGET);
  else if (s->aside[i] < most)
    s->aside[i] = fmin(fmax(s->aside[i], fmin(FIRST, most)) + s->def.turn * s->def.step, most);
  else
    change_side(s, i);
  if (!held && s->aside[i] < 0.5 * FIRST) s->side[i] = 1, s->changes[i] = 0, s->saturated[i] = 0;
}

static void note_idle(carom_navigate *s, int i) {
  const carom_navigate_vehicle *v = &s->vehicles[i];
  double left = hypot(v->goal[0] - s->place[i][0], v->goal[1] - s->place[i][1]);
  bool there = left <= v->tolerance, nearer = s->routes[i].left < s->nearest[i] - NEARER * v->tolerance;
  s->idle[i] = nearer || there ? 0 : s->idle[i] + s->def.step;
  if (nearer) s->nearest[i] = s->routes[i].left;
  s->arrived[s->items[i].number] = there;
  s->home[i] = there || (s->home[i] && left < HOME * (v->tolerance + s->items[i].reach));
  s->stuck[s->items[i].number] = s->idle[i] > s->def.patience;
}

// At home, pushed by one who is not.
static void note_pushed(carom_navigate *s, int i, int other) {
  if (s->home[i] && !s->home[other]) s->yields[i] = YIELD;
}

void carom_nav_note_progress(carom_navigate *s) {
  for (int i = 0; i < s->n; i++) s->share[i] = 0, s->yields[i] -= s->def.step;  // share: whether something touches it
  for (int i = 0; i < s->pair_count; i++) {
    const carom_nav_pair *p = &s->pairs[i];
    if (p->impulse <= 0) continue;
    s->share[p->a] = 1;
    if (p->b >= s->n) continue;
    s->share[p->b] = 1;
    note_pushed(s, p->a, p->b);
    note_pushed(s, p->b, p->a);
  }
  for (int i = 0; i < s->n; i++) {
    note_aside(s, i, s->share[i] > 0);
    note_idle(s, i);
  }
}

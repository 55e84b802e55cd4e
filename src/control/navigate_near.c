// Who is near whom: pairs of cages that may meet within the horizon, with a plane between them.
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"
#include "control/navigate.h"

static const double KEPT = 0.1;  // of the margin: what turning may not take

enum { MANY = 64 };  // pairs, from which on threads share them

double carom_nav_most_speed(const carom_navigate *s, int i) {
  if (i >= s->n) return hypot(s->velocity[i][0], s->velocity[i][1]);
  const carom_navigate_vehicle *v = &s->vehicles[i];
  return v->steering == CAROM_STEER_UNICYCLE ? hypot(v->most_speed, v->offset * v->turn_rate) : v->most_speed;
}

// How near two cages must be to be looked at: nearer than they can come within the horizon.
static double limit(const carom_navigate *s, int a, int b) {
  double speed = carom_nav_most_speed(s, a) + carom_nav_most_speed(s, b);
  double turn = fabs(s->spin[a]) * s->items[a].reach + fabs(s->spin[b]) * s->items[b].reach;
  return carom_nav_horizon(s, b) * speed + s->def.step * turn + 2 * s->def.margin;
}

// Boxes about all that cages may reach within the horizon; that of an obstacle on its way also holds what vehicles may
// reach in the longer horizon that goes for it.
static void place_boxes(carom_navigate *s) {
  double fastest = 0;
  for (int i = 0; i < s->n; i++) fastest = fmax(fastest, carom_nav_most_speed(s, i));
  for (int i = 0; i < s->n + s->m; i++) {
    const double *p = s->place[i];
    double speed = carom_nav_most_speed(s, i) + fabs(s->spin[i]) * s->items[i].reach;
    double tau = i < s->n ? s->def.horizon : carom_nav_horizon(s, i);
    if (i >= s->n && !s->items[i].rests) speed += fastest;
    double r = s->items[i].reach + tau * speed + s->def.margin;
    carom_broadphase_move(s->broad, s->proxy[i],
                          (carom_aabb){cm_vec3(p[0] - r, p[1] - r, -1), cm_vec3(p[0] + r, p[1] + r, 1)});
  }
}

static bool may_meet(const carom_navigate *s, int a, int b) {
  double between = hypot(s->place[a][0] - s->place[b][0], s->place[a][1] - s->place[b][1]);
  return between - s->items[a].reach - s->items[b].reach <= limit(s, a, b);
}

static bool list_pairs(carom_navigate *s, const carom_pair *found, int count) {
  carom_nav_pair *swap = s->before;
  int capacity = s->before_capacity;
  s->before = s->pairs, s->before_count = s->pair_count, s->before_capacity = s->pair_capacity;
  s->pairs = swap, s->pair_capacity = capacity, s->pair_count = 0;
  for (int i = 0; i < count; i++) {
    int a = found[i].a, b = found[i].b;  // proxies are numbered as items are
    if (!may_meet(s, a, b)) continue;
    if (!carom_grow(&s->arena.allocator, (void **)&s->pairs, s->pair_count, &s->pair_capacity, sizeof *s->pairs))
      return false;
    s->pairs[s->pair_count++] = (carom_nav_pair){.a = a, .b = b, .contact = -1};
  }
  return true;
}

static void measure_pairs(carom_navigate *s) {
  int threads = s->pair_count >= MANY ? s->threads : 1;
  CAROM_PARALLEL_FOR(
      threads, schedule(static), for (int i = 0; i < s->pair_count; i++) {
        carom_nav_pair *p = &s->pairs[i];
        carom_nav_apart(&s->items[p->a], s->place[p->a], &s->items[p->b], s->place[p->b], p);
      });
}

static void drop_far_ones(carom_navigate *s) {
  int kept = 0;
  for (int i = 0; i < s->pair_count; i++)
    if (s->pairs[i].gap <= limit(s, s->pairs[i].a, s->pairs[i].b)) s->pairs[kept++] = s->pairs[i];
  s->pair_count = kept;
}

carom_status carom_nav_find_pairs(carom_navigate *s, carom_error *error) {
  const carom_pair *found;
  int count;
  place_boxes(s);
  carom_status status = carom_broadphase_update(s->broad, &found, &count, error);
  if (status != CAROM_OK) return status;
  if (!list_pairs(s, found, count)) return carom_nav_memory(error);
  measure_pairs(s);
  drop_far_ones(s);
  return CAROM_OK;
}

// ---- turning among neighbours ---------------------------------------------------------------------------------------

static bool turns(const carom_navigate *s, int i) {
  return s->items[i].cage.count > 0 && (i >= s->n ? s->spin[i] != 0 : s->vehicles[i].steering != CAROM_STEER_SLIDE);
}

// How far an item reaches over the plane of a pair by turning at a rate.
static double swept(const carom_navigate *s, const carom_nav_pair *p, int i, double spin) {
  double toward = i == p->a ? -1 : 1;
  const double direction[2] = {toward * p->normal[0], toward * p->normal[1]};
  return carom_nav_swept(&s->items[i].cage, s->place[i][2], s->def.step * spin, direction);
}

static double most_swept(const carom_navigate *s, const carom_nav_pair *p, int i) {
  if (!turns(s, i)) return 0;
  return i >= s->n ? swept(s, p, i, s->spin[i])
                   : fmax(swept(s, p, i, s->spins_let[i][0]), swept(s, p, i, s->spins_let[i][1]));
}

// Each of two that turn may have half of what is left of their gap; obstacles take what they need.
static double room_for(const carom_navigate *s, const carom_nav_pair *p, int i) {
  int other = i == p->a ? p->b : p->a;
  double gap = fmax(p->gap - KEPT * s->def.margin, 0);
  if (other >= s->n) return fmax(gap - most_swept(s, p, other), 0);
  return turns(s, other) ? 0.5 * gap : gap;
}

static void limit_turn(carom_navigate *s, const carom_nav_pair *p, int i) {
  enum { HALVINGS = 4 };
  if (i >= s->n || !turns(s, i)) return;
  double room = room_for(s, p, i);
  for (int k = 0; k < 2; k++) {
    double *spin = &s->spins_let[i][k];
    for (int tries = 0; tries < HALVINGS && swept(s, p, i, *spin) > room; tries++) *spin *= 0.5;
    if (swept(s, p, i, *spin) > room) *spin = 0;
  }
}

// Which spins vehicles may take: either way for unicycles, whose velocity decides, else up to the one wished for.
static void begin_turns(carom_navigate *s) {
  for (int i = 0; i < s->n; i++) {
    bool either = s->vehicles[i].steering == CAROM_STEER_UNICYCLE;
    s->spins_let[i][0] = either ? -s->spin[i] : fmin(s->spin[i], 0);
    s->spins_let[i][1] = fmax(s->spin[i], 0);
  }
}

void carom_nav_limit_turns(carom_navigate *s) {
  begin_turns(s);
  for (int i = 0; i < s->pair_count; i++) {
    limit_turn(s, &s->pairs[i], s->pairs[i].a);
    limit_turn(s, &s->pairs[i], s->pairs[i].b);
  }
  for (int i = 0; i < s->pair_count; i++) {
    carom_nav_pair *p = &s->pairs[i];
    p->swept[0] = most_swept(s, p, p->a), p->swept[1] = most_swept(s, p, p->b);
  }
}

// ---- the start ------------------------------------------------------------------------------------------------------

carom_status carom_nav_check_overlaps(carom_navigate *s, carom_error *error) {
  carom_status status = carom_nav_find_pairs(s, error);
  for (int i = 0; i < s->pair_count && status == CAROM_OK; i++) {
    const carom_nav_pair *p = &s->pairs[i];
    const carom_nav_item *a = &s->items[p->a], *b = &s->items[p->b];
    double gap = carom_cage_gap(&a->cage, s->place[p->a], &b->cage, s->place[p->b]);
    if (gap < -1e-9 * (1 + a->reach + b->reach))
      status = carom_fail(error, CAROM_ERR_GEOMETRY, "%s and %s overlap at the start, by %.4g m; move one of them",
                          a->name, b->name, -gap);
  }
  return status;
}

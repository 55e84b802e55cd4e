// Ways around what stays: for each size of vehicle the corners of all obstacles, grown by that size, and which of them
// see each other; for each goal how far it is from there (Dijkstra 1959). A vehicle heads for the corner in its sight
// by which the way is shortest.
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "control/navigate.h"

enum { MOST_CORNERS = 1500, KEEP = 8, ROUND = 8 };  // KEEP: steps for which a target stays that is still in sight
static const double SIZES = 1.02;                   // ratio of the sizes of vehicles that have maps of their own
static const double GRAZING = 1e-7;                 // m: sides are touched, not crossed

struct carom_nav_map {
  double size;           // m: of the vehicles, rounded up
  int count;             // of corners
  double (*corners)[2];  // (count)
  double *between;       // (count x count) INFINITY: out of sight
};

// ---- sight ----------------------------------------------------------------------------------------------------------

static const double at_origin[3] = {0};

static double off_line(const double p[2], const double q[2], const carom_nav_item *o, const double place[3]) {
  const double ends[4][2] = {{p[0], p[1]}, {q[0], q[1]}};
  carom_cage line = {0, hypot(p[0] - q[0], p[1] - q[1]) > 0 ? 2 : 1, ends};
  return carom_cage_gap(&line, at_origin, &o->cage, place);
}

static bool is_far(const double p[2], const double q[2], const double place[3], double reach) {
  double dx = q[0] - p[0], dy = q[1] - p[1], square = dx * dx + dy * dy;
  double t = square > 0 ? ((place[0] - p[0]) * dx + (place[1] - p[1]) * dy) / square : 0;
  t = fmin(1, fmax(0, t));
  return hypot(p[0] + t * dx - place[0], p[1] + t * dy - place[1]) > reach;
}

// Nothing that stays is nearer to the line than the vehicle is large, or than the line's ends are already.
static bool sees(const carom_navigate *s, double size, const double p[2], const double q[2]) {
  for (int k = s->n; k < s->n + s->m; k++) {
    const carom_nav_item *o = &s->items[k];
    if (!o->rests || is_far(p, q, s->place[k], o->reach + size)) continue;
    double least = fmin(size, fmin(off_line(p, p, o, s->place[k]), off_line(q, q, o, s->place[k])));
    if (off_line(p, q, o, s->place[k]) < least - GRAZING) return false;
  }
  return true;
}

static bool is_free(const carom_navigate *s, double size, const double p[2]) {
  for (int k = s->n; k < s->n + s->m; k++)
    if (s->items[k].rests && off_line(p, p, &s->items[k], s->place[k]) < size - GRAZING) return false;
  return true;
}

// ---- corners --------------------------------------------------------------------------------------------------------

// About a corner of an obstacle, on the tangents of the circle of a radius; of a disc all around.
static int around(const double at[2], double from, double turn, double radius, double (*out)[2]) {
  int pieces = (int)ceil(turn * ROUND / (2 * acos(-1.0)) - 1e-9);
  if (pieces < 1) pieces = 1;
  double half = 0.5 * turn / pieces;
  for (int i = 0; i < pieces; i++) {
    double angle = from + (2 * i + 1) * half;
    out[i][0] = at[0] + radius / cos(half) * cos(angle), out[i][1] = at[1] + radius / cos(half) * sin(angle);
  }
  return pieces;
}

static int corners_of(const carom_cage *c, const double place[3], double size, double (*out)[2]) {
  int count = 0;
  double cosine = cos(place[2]), sine = sin(place[2]);
  if (c->count == 0) return around(place, place[2], 2 * acos(-1.0), c->radius + size, out);
  for (int i = 0; i < c->count; i++) {
    const double *p = c->corners[(i + c->count - 1) % c->count], *q = c->corners[i],
                 *r = c->corners[(i + 1) % c->count];
    const double at[2] = {place[0] + cosine * q[0] - sine * q[1], place[1] + sine * q[0] + cosine * q[1]};
    double first = atan2(p[0] - q[0], q[1] - p[1]), last = atan2(q[0] - r[0], r[1] - q[1]);  // normals of both sides
    double turn = carom_nav_wrap(last - first);
    count += around(at, place[2] + first, turn > 0 ? turn : 0, c->radius + size, out + count);
  }
  return count;
}

static carom_status gather_corners(carom_navigate *s, carom_nav_map *map, carom_error *error) {
  double found[CAROM_CAGE_CORNERS + 2 * ROUND][2];
  for (int k = s->n; k < s->n + s->m; k++) {
    if (!s->items[k].rests) continue;
    int count = corners_of(&s->items[k].cage, s->place[k], map->size + 2 * s->def.margin, found);
    for (int i = 0; i < count; i++) {
      if (!is_free(s, map->size, found[i])) continue;
      if (map->count == MOST_CORNERS)
        return carom_fail(error, CAROM_ERR_LIMIT,
                          "obstacles with more than %d corners to go around: leave routes out (routes: false)",
                          MOST_CORNERS);
      memcpy(map->corners[map->count++], found[i], sizeof found[i]);
    }
  }
  return CAROM_OK;
}

static carom_status make_map(carom_navigate *s, carom_nav_map *map, carom_error *error) {
  const carom_allocator *heap = &s->arena.allocator;
  map->corners = carom_allocate(heap, MOST_CORNERS, sizeof *map->corners);
  if (!map->corners) return carom_nav_memory(error);
  carom_status status = gather_corners(s, map, error);
  if (status != CAROM_OK) return status;
  map->between = CAROM_NEW(heap, double, (size_t)map->count *(size_t)map->count + 1);
  if (!map->between) return carom_nav_memory(error);
  for (int i = 0; i < map->count; i++)
    for (int k = 0; k < i; k++) {
      const double *p = map->corners[i], *q = map->corners[k];
      bool clear = sees(s, map->size, p, q);
      map->between[i * map->count + k] = map->between[k * map->count + i] =
          clear ? hypot(p[0] - q[0], p[1] - q[1]) : INFINITY;
    }
  return CAROM_OK;
}

// ---- goals ----------------------------------------------------------------------------------------------------------

static void measure_from_goal(const carom_navigate *s, const carom_nav_map *map, const double goal[2], double *far,
                              unsigned char *done) {
  for (int i = 0; i < map->count; i++) {
    done[i] = 0;
    far[i] = sees(s, map->size, map->corners[i], goal)
                 ? hypot(map->corners[i][0] - goal[0], map->corners[i][1] - goal[1])
                 : INFINITY;
  }
  for (int round = 0; round < map->count; round++) {
    int next = -1;
    for (int i = 0; i < map->count; i++)
      if (!done[i] && isfinite(far[i]) && (next < 0 || far[i] < far[next])) next = i;
    if (next < 0) return;
    done[next] = 1;
    for (int i = 0; i < map->count; i++) far[i] = fmin(far[i], far[next] + map->between[next * map->count + i]);
  }
}

static double rounded_up(double size) { return pow(SIZES, ceil(log(size) / log(SIZES) - 1e-9)); }

static int find_map(carom_navigate *s, double size, carom_error *error, carom_status *status) {
  for (int i = 0; i < s->map_count; i++)
    if (s->maps[i].size == size) return i;
  s->maps[s->map_count] = (carom_nav_map){.size = size};
  *status = make_map(s, &s->maps[s->map_count++], error);
  return s->map_count - 1;
}

static bool has_obstacles(const carom_navigate *s) {
  for (int k = s->n; k < s->n + s->m; k++)
    if (s->items[k].rests) return true;
  return false;
}

// All vehicles of a size share one map, rounded up unless all have the same.
static double size_of(const carom_navigate *s, int i) {
  for (int k = 0; k < s->n; k++)
    if (s->items[k].reach != s->items[i].reach) return rounded_up(s->items[i].reach);
  return s->items[i].reach;
}

carom_status carom_nav_plan_routes(carom_navigate *s, carom_error *error) {
  const carom_allocator *heap = &s->arena.allocator;
  carom_status status = CAROM_OK;
  for (int i = 0; i < s->n; i++) s->routes[i] = (carom_nav_route){.map = -1, .age = -1};
  if (!s->def.routes || !has_obstacles(s)) return CAROM_OK;
  s->maps = CAROM_NEW(heap, carom_nav_map, s->n);
  unsigned char *done = CAROM_NEW(heap, unsigned char, MOST_CORNERS);
  if (!s->maps || !done) status = carom_nav_memory(error);
  for (int i = 0; i < s->n && status == CAROM_OK; i++) {
    if (s->vehicles[i].rail >= 0) continue;
    carom_nav_route *r = &s->routes[i];
    r->map = find_map(s, size_of(s, i), error, &status);
    if (status != CAROM_OK) break;
    r->far = CAROM_NEW(heap, double, s->maps[r->map].count + 1);
    if (r->far)
      measure_from_goal(s, &s->maps[r->map], s->vehicles[i].goal, r->far, done);
    else
      status = carom_nav_memory(error);
  }
  carom_release(heap, done);
  return status;
}

void carom_nav_release_routes(carom_navigate *s) {
  const carom_allocator *heap = &s->arena.allocator;
  for (int i = 0; i < s->n && s->routes; i++) carom_release(heap, s->routes[i].far);
  for (int i = 0; i < s->map_count; i++) CAROM_RELEASE_ALL(heap, s->maps[i].corners, s->maps[i].between);
  carom_release(heap, s->maps);
}

// ---- under way ------------------------------------------------------------------------------------------------------

// The corner in sight with the shortest way, the shortest tried first; -1: none.
static int best_corner(const carom_navigate *s, const carom_nav_map *map, const carom_nav_route *r, const double p[2]) {
  double floor = -1, here = 0.5 * s->def.margin + GRAZING;  // a corner that is reached is none any more
  for (int tried = 0; tried < map->count; tried++) {
    int best = -1;
    double least = INFINITY;
    for (int i = 0; i < map->count; i++) {
      double away = hypot(map->corners[i][0] - p[0], map->corners[i][1] - p[1]), way = r->far[i] + away;
      if (away > here && way > floor && way < least) least = way, best = i;
    }
    if (best < 0) return -1;
    if (sees(s, map->size, p, map->corners[best])) return best;
    floor = least;
  }
  return -1;
}

static double far_from(const double a[2], const double b[2]) { return hypot(a[0] - b[0], a[1] - b[1]); }

static void choose_target(carom_navigate *s, int i) {
  const carom_nav_map *map = &s->maps[s->routes[i].map];
  carom_nav_route *r = &s->routes[i];
  const double *p = s->place[i], *goal = s->vehicles[i].goal;
  int best = sees(s, map->size, p, goal) ? -1 : best_corner(s, map, r, p);
  memcpy(r->target, best < 0 ? goal : map->corners[best], sizeof r->target);
  r->left = far_from(p, r->target) + (best < 0 ? 0 : r->far[best]);
  r->age = 0;
}

void carom_nav_head_for(carom_navigate *s, int i) {
  carom_nav_route *r = &s->routes[i];
  const double *p = s->place[i];
  if (r->map < 0) {
    memcpy(r->target, s->vehicles[i].goal, sizeof r->target);
    r->left = far_from(p, r->target);
    return;
  }
  bool keeps = r->age >= 0 && r->age < KEEP && far_from(p, r->target) > 2 * s->def.step * s->vehicles[i].speed;
  if (!keeps) {
    choose_target(s, i);
    return;
  }
  r->age++;
  r->left -= fmax(0, s->velocity[i][0] * s->toward[i][0] + s->velocity[i][1] * s->toward[i][1]) * s->def.step;
}

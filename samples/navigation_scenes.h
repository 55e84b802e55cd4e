// Random scenes of navigation, for tests and benchmarks: vehicles in a square, with goals elsewhere in it and obstacles
// in between. Discs alone, so that peers that know only discs can be asked too; or cages of all kinds.
#ifndef CAROM_SAMPLES_NAVIGATION_SCENES_H
#define CAROM_SAMPLES_NAVIGATION_SCENES_H

#include <math.h>

#include "carom/navigate.h"

enum { NAV_MOST = 64, NAV_OBSTACLES = 16, NAV_CORNERS = 8 };

typedef struct nav_scene {
  carom_navigate_vehicle vehicles[NAV_MOST];
  carom_navigate_obstacle obstacles[NAV_OBSTACLES];
  carom_navigate_knot knots[NAV_OBSTACLES][3];
  double corners[NAV_MOST + NAV_OBSTACLES][NAV_CORNERS][2];
  int vehicle_count, obstacle_count;
  carom_navigate_def def;
} nav_scene;

typedef struct nav_kind {
  bool polygons;  // cages of all kinds, vehicles that turn, unicycles
  bool driven;    // obstacles that move
  int most;       // vehicles
} nav_kind;

static inline carom_cage nav_disc(double radius) { return (carom_cage){.radius = radius}; }

static inline carom_cage nav_polygon(carom_random *random, double radius, double (*corners)[2]) {
  int count = 3 + (int)carom_random_below(random, 5);
  double turn = carom_random_uniform(random);
  for (int i = 0; i < count; i++) {
    double angle = 2 * acos(-1.0) * (turn + (i + 0.3 * carom_random_uniform(random)) / count);
    corners[i][0] = radius * cos(angle), corners[i][1] = radius * sin(angle);
  }
  double round = carom_random_uniform(random) < 0.3 ? 0.1 * radius : 0;
  return (carom_cage){.radius = round, .count = count, .corners = (const double(*)[2])corners};
}

// Far enough from all that came before; of goals, too.
static inline bool nav_is_free(const nav_scene *s, const double p[2], double reach, bool goal) {
  for (int i = 0; i < s->obstacle_count; i++) {
    const double *q = s->knots[i][0].place;
    if (hypot(p[0] - q[0], p[1] - q[1]) < reach + carom_cage_reach(&s->obstacles[i].cage) + 0.1) return false;
  }
  for (int i = 0; i < s->vehicle_count; i++) {
    const double *q = goal ? s->vehicles[i].goal : s->vehicles[i].start;
    if (hypot(p[0] - q[0], p[1] - q[1]) < reach + carom_cage_reach(&s->vehicles[i].cage) + 0.1) return false;
  }
  return true;
}

static inline bool nav_draw(nav_scene *s, carom_random *random, double side, double reach, bool goal, double p[2]) {
  for (int tries = 0; tries < 2000; tries++) {
    for (int k = 0; k < 2; k++) p[k] = carom_random_between(random, -side, side);
    if (nav_is_free(s, p, reach, goal)) return true;
  }
  return false;
}

static inline void nav_add_obstacle(nav_scene *s, carom_random *random, double side) {
  int i = s->obstacle_count;
  double reach = carom_random_between(random, 0.4, 1.4), p[2];
  carom_cage cage =
      carom_random_uniform(random) < 0.4 ? nav_disc(reach) : nav_polygon(random, reach, s->corners[NAV_MOST + i]);
  if (!nav_draw(s, random, side, carom_cage_reach(&cage) + 0.6, false, p)) return;
  s->knots[i][0] = (carom_navigate_knot){0, {p[0], p[1], 0}};
  s->obstacles[i] = (carom_navigate_obstacle){.cage = cage, .count = 1, .knots = s->knots[i]};
  s->obstacle_count++;
}

static inline void nav_add_vehicle(nav_scene *s, carom_random *random, double side, const nav_kind *kind) {
  int i = s->vehicle_count;
  carom_navigate_vehicle v = carom_navigate_vehicle_default();
  double size = carom_random_between(random, 0.2, 0.5);
  v.cage = nav_disc(size);
  v.speed = carom_random_between(random, 0.6, 1.4);
  if (kind->polygons) {
    double chance = carom_random_uniform(random);
    if (chance < 0.7) v.cage = nav_polygon(random, size, s->corners[i]);
    v.steering = chance < 0.3 ? CAROM_STEER_TURN : chance < 0.5 ? CAROM_STEER_UNICYCLE : CAROM_STEER_SLIDE;
    // One that cannot go sideways can be run into from the side, unless its cage is a disc about its point.
    if (kind->driven && v.steering == CAROM_STEER_UNICYCLE) v.cage = nav_disc(size);
    v.start[2] = carom_random_between(random, -3, 3);
  }
  if (!nav_draw(s, random, side, carom_cage_reach(&v.cage), false, v.start)) return;
  if (!nav_draw(s, random, side, carom_cage_reach(&v.cage), true, v.goal)) return;
  s->vehicles[s->vehicle_count++] = v;
}

// To and fro, where it leaves room for a vehicle between itself and all other obstacles: nobody can be crushed.
static inline void nav_drive(nav_scene *s, carom_random *random, int i) {
  carom_navigate_knot *k = s->knots[i];
  double to[2], by[2], reach = carom_cage_reach(&s->obstacles[i].cage);
  for (int d = 0; d < 2; d++) by[d] = carom_random_between(random, -1.5, 1.5), to[d] = k[0].place[d] + by[d];
  for (int o = 0; o < s->obstacle_count; o++)
    for (int t = 0; t <= 10 && o != i; t++) {
      const double *q = s->knots[o][0].place, x = k[0].place[0] + 0.1 * t * by[0], y = k[0].place[1] + 0.1 * t * by[1];
      double sweep = s->obstacles[o].count > 1 ? 2.2 : 0;  // the other one may be anywhere on its way
      if (hypot(x - q[0], y - q[1]) < reach + carom_cage_reach(&s->obstacles[o].cage) + 1.4 + sweep) return;
    }
  k[1] = k[2] = k[0];
  k[1].time = 15, k[2].time = 30, k[1].place[0] = to[0], k[1].place[1] = to[1];
  k[1].place[2] += carom_random_between(random, -1.5, 1.5);
  s->obstacles[i].count = 3, s->obstacles[i].repeat = true;
}

static inline void nav_random_scene(nav_scene *s, uint64_t seed, const nav_kind *kind) {
  carom_random random = carom_random_make(20, seed);
  *s = (nav_scene){.def = carom_navigate_default()};
  int vehicles = 2 + (int)carom_random_below(&random, (uint32_t)(kind->most - 1));
  int obstacles = (int)carom_random_below(&random, 9);
  double side = carom_random_between(&random, 1.1, 2.2) * sqrt(vehicles + 2.0 * obstacles) + 1;
  for (int i = 0; i < obstacles; i++) nav_add_obstacle(s, &random, side);
  for (int i = 0; i < vehicles; i++) nav_add_vehicle(s, &random, side, kind);
  for (int i = 0; i < s->obstacle_count && i < 2 && kind->driven; i++) nav_drive(s, &random, i);
  s->def.vehicles = s->vehicles, s->def.vehicle_count = s->vehicle_count;
  s->def.obstacles = s->obstacles, s->def.obstacle_count = s->obstacle_count;
  s->def.threads = 1;
}

// Vehicles on a circle whose goals lie opposite.
static inline void nav_circle(nav_scene *s, int count, double circle, double radius) {
  *s = (nav_scene){.def = carom_navigate_default(), .vehicle_count = count};
  for (int i = 0; i < count; i++) {
    double angle = 2 * acos(-1.0) * i / count;
    s->vehicles[i] = carom_navigate_vehicle_default();
    s->vehicles[i].cage = nav_disc(radius);
    for (int k = 0; k < 2; k++) {
      s->vehicles[i].start[k] = circle * (k == 0 ? cos(angle) : sin(angle));
      s->vehicles[i].goal[k] = -s->vehicles[i].start[k];
    }
  }
  s->def.vehicles = s->vehicles, s->def.vehicle_count = count;
  s->def.threads = 1;
}

#endif

// Navigation by contacts: definitions, steps, and what users see.
#include "control/navigate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"

enum { FEW = 64 };  // vehicles, below which one thread is faster than several

static const double ON_RAIL = 1e-6;       // m
static const double MOST_LENGTH = 1e6;    // m, of places
static const double MOST_TIME = 1e7;      // s
static const double SLOWEST_GAIN = 1e-9;  // N s/m

carom_status carom_nav_memory(carom_error *error) {
  return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for navigation");
}

const char *carom_steer_name(carom_steer steering) {
  static const char *const names[] = {"slide", "turn", "unicycle"};
  return (unsigned)steering < sizeof names / sizeof *names ? names[steering] : NULL;
}

carom_navigate_vehicle carom_navigate_vehicle_default(void) {
  return (carom_navigate_vehicle){.tolerance = 0.1,
                                  .speed = 1,
                                  .mass = 1,
                                  .gain = INFINITY,
                                  .turn_rate = 1.5,
                                  .offset = 0.3,
                                  .most_reverse = 0.2,
                                  .rail = -1};
}

carom_navigate_def carom_navigate_default(void) {
  return (carom_navigate_def){.step = 0.1,
                              .horizon = 0.4,
                              .margin = 0.002,
                              .turn = 0.8,
                              .most_turn = 1.9,
                              .duration = 120,
                              .patience = 10,
                              .routes = true};
}

// ---- what is wrong with definitions ---------------------------------------------------------------------------------

static carom_status need(bool good, const char *who, const char *what, double value, carom_error *error) {
  if (good) return CAROM_OK;
  return carom_fail(error, CAROM_ERR_NUMBER, "%s: %s, got %g", who, what, value);
}

typedef struct demand {
  bool good;
  const char *what;
  double value;
} demand;

static carom_status need_all(const demand *demands, int count, const char *who, carom_error *error) {
  for (int i = 0; i < count; i++)
    if (!demands[i].good) return need(false, who, demands[i].what, demands[i].value, error);
  return CAROM_OK;
}

static bool is_near(double x) { return fabs(x) <= MOST_LENGTH; }

static carom_status check_settings(const carom_navigate_def *d, carom_error *error) {
  if (d->vehicle_count < 1 || d->vehicle_count > CAROM_NAVIGATE_MOST)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "navigation: 1 to %d vehicles, got %d", CAROM_NAVIGATE_MOST,
                      d->vehicle_count);
  if (d->obstacle_count < 0 || d->obstacle_count > CAROM_NAVIGATE_MOST || d->rail_count < 0)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "navigation: at most %d obstacles, got %d", CAROM_NAVIGATE_MOST,
                      d->obstacle_count);
  const demand demands[] = {
      {d->step > 0 && d->step <= MOST_TIME, "the step must be positive", d->step},
      {d->horizon >= d->step && d->horizon <= MOST_TIME, "the horizon must be at least the step", d->horizon},
      {d->margin >= 0 && d->margin <= 1, "the margin must lie between 0 and 1 m", d->margin},
      {d->turn >= 0 && d->turn <= 100, "the turning aside must lie between 0 and 100 rad/s", d->turn},
      {d->most_turn >= 0 && d->most_turn <= 3.2, "the most turned aside must lie between 0 and pi", d->most_turn},
      {d->duration > 0 && d->duration <= MOST_TIME, "the duration must be positive", d->duration},
      {d->patience > 0, "the patience must be positive", d->patience},
      {d->duration / d->step <= 1e7, "at most 1e7 steps", d->duration / d->step},
  };
  return need_all(demands, sizeof demands / sizeof *demands, "navigation", error);
}

static carom_status check_vehicle(const carom_navigate_def *d, const carom_navigate_vehicle *v, const char *name,
                                  carom_error *error) {
  const demand demands[] = {
      {is_near(v->start[0]) && is_near(v->start[1]) && is_near(v->start[2]), "its start is not finite or too far",
       v->start[0]},
      {is_near(v->goal[0]) && is_near(v->goal[1]), "its goal is not finite or too far", v->goal[0]},
      {v->tolerance > 0 && is_near(v->tolerance), "its tolerance must be positive", v->tolerance},
      {v->speed >= 0 && v->speed <= 1e4, "its speed must not be negative", v->speed},
      {v->most_speed == 0 || (v->most_speed >= v->speed && v->most_speed <= 1e4),
       "its most speed must be at least its speed", v->most_speed},
      {v->mass > 0 && v->mass <= 1e9 && v->mass >= 1e-9, "its mass must be positive", v->mass},
      {v->gain >= SLOWEST_GAIN, "its gain must be positive", v->gain},
      {v->turn_rate > 0 && v->turn_rate <= 1e3, "its turn rate must be positive", v->turn_rate},
      {v->steering != CAROM_STEER_UNICYCLE || (v->offset > 0 && is_near(v->offset)), "its offset must be positive",
       v->offset},
      {v->most_reverse >= 0 && v->most_reverse <= 1e4, "its most reverse speed must not be negative", v->most_reverse},
  };
  carom_status status = need_all(demands, sizeof demands / sizeof *demands, name, error);
  if (status != CAROM_OK) return status;
  if (!carom_steer_name(v->steering) || v->rail >= d->rail_count || v->rail < -1)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "%s: its steering or its rail does not exist", name);
  if (v->rail >= 0 && v->steering != CAROM_STEER_SLIDE)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "%s: vehicles on rails slide", name);
  return carom_cage_check(&v->cage, name, error);
}

static carom_status check_knots(const carom_navigate_obstacle *o, const char *name, carom_error *error) {
  for (int i = 0; i < o->count; i++) {
    const carom_navigate_knot *k = &o->knots[i];
    bool near = is_near(k->place[0]) && is_near(k->place[1]) && is_near(k->place[2]) && fabs(k->time) <= MOST_TIME;
    if (!near) return carom_fail(error, CAROM_ERR_NUMBER, "%s: knot %d is not finite or too far", name, i + 1);
    if (i > 0 && !(k->time > k[-1].time))
      return carom_fail(error, CAROM_ERR_NUMBER, "%s: the time of knot %d is not after that of the one before", name,
                        i + 1);
  }
  const double *first = o->knots[0].place, *last = o->knots[o->count - 1].place;
  if (o->repeat && o->count > 1 &&
      (hypot(first[0] - last[0], first[1] - last[1]) > 1e-9 * (1 + fabs(first[0])) ||
       fabs(carom_nav_wrap(last[2] - first[2])) > 1e-9))
    return carom_fail(error, CAROM_ERR_ARGUMENT, "%s: its path repeats, but does not end where it begins", name);
  return CAROM_OK;
}

static carom_status check_obstacle(const carom_navigate_obstacle *o, const char *name, carom_error *error) {
  carom_status status = carom_cage_check(&o->cage, name, error);
  if (status != CAROM_OK) return status;
  if (o->count < 1 || !o->knots) return carom_fail(error, CAROM_ERR_ARGUMENT, "%s: it has no place", name);
  return check_knots(o, name, error);
}

static carom_status check_rail(const carom_navigate_rail *r, const char *name, carom_error *error) {
  if (r->count < 2) return carom_fail(error, CAROM_ERR_ARGUMENT, "%s: a rail has 2 points or more", name);
  for (int i = 0; i < r->count; i++) {
    if (!is_near(r->points[i][0]) || !is_near(r->points[i][1]))
      return carom_fail(error, CAROM_ERR_NUMBER, "%s: point %d is not finite or too far", name, i + 1);
    if (i > 0 && !(hypot(r->points[i][0] - r->points[i - 1][0], r->points[i][1] - r->points[i - 1][1]) > ON_RAIL))
      return carom_fail(error, CAROM_ERR_NUMBER, "%s: points %d and %d are at the same place", name, i, i + 1);
  }
  return CAROM_OK;
}

static void put_name(char text[64], const char *name, const char *kind, int number) {
  if (name)
    snprintf(text, 64, "%s", name);
  else
    snprintf(text, 64, "%s %d", kind, number + 1);
}

static carom_status check_def(const carom_navigate_def *d, carom_error *error) {
  char name[64];
  carom_status status = check_settings(d, error);
  for (int i = 0; i < d->rail_count && status == CAROM_OK; i++) {
    put_name(name, d->rails[i].name, "rail", i);
    status = check_rail(&d->rails[i], name, error);
  }
  for (int i = 0; i < d->vehicle_count && status == CAROM_OK; i++) {
    put_name(name, d->vehicles[i].name, "vehicle", i);
    status = check_vehicle(d, &d->vehicles[i], name, error);
  }
  for (int i = 0; i < d->obstacle_count && status == CAROM_OK; i++) {
    put_name(name, d->obstacles[i].name, "obstacle", i);
    status = check_obstacle(&d->obstacles[i], name, error);
  }
  return status;
}

// ---- the order inside -----------------------------------------------------------------------------------------------

typedef struct ranked {
  double key[5];
  int number;
} ranked;

static int compare_ranked(const void *a, const void *b) {
  const ranked *p = a, *q = b;
  for (int k = 0; k < 5; k++)
    if (p->key[k] != q->key[k]) return p->key[k] < q->key[k] ? -1 : 1;
  return p->number - q->number;
}

static ranked rank_vehicle(const carom_navigate_vehicle *v, int number) {
  return (ranked){{v->start[0], v->start[1], v->start[2], v->goal[0], v->goal[1]}, number};
}

static ranked rank_obstacle(const carom_navigate_obstacle *o, int number) {
  const double *p = o->knots[0].place;
  return (ranked){{p[0], p[1], p[2], carom_cage_reach(&o->cage), o->knots[0].time}, number};
}

// ---- making one -----------------------------------------------------------------------------------------------------

static int corner_total(const carom_navigate_def *d) {
  int total = 0;
  for (int i = 0; i < d->vehicle_count; i++) total += d->vehicles[i].cage.count;
  for (int i = 0; i < d->obstacle_count; i++) total += d->obstacles[i].cage.count;
  return total;
}

static void *copy_of(carom_arena *arena, const void *from, size_t size) {
  void *to = carom_arena_push(arena, size);
  if (to && size > 0) memcpy(to, from, size);
  return to;
}

static void copy_cage(carom_arena *arena, carom_cage *cage) {
  cage->corners = copy_of(arena, (const void *)cage->corners, (size_t)cage->count * sizeof *cage->corners);
}

static void lay_out_definition(carom_navigate *s, carom_arena *arena) {
  const carom_navigate_def *d = &s->def;
  s->vehicles = CAROM_PUSH(arena, carom_navigate_vehicle, s->n);
  s->obstacles = CAROM_PUSH(arena, carom_navigate_obstacle, s->m);
  s->rails = CAROM_PUSH(arena, carom_navigate_rail, d->rail_count);
  s->items = CAROM_PUSH(arena, carom_nav_item, s->n + s->m);
}

static void lay_out_state(carom_navigate *s, carom_arena *arena) {
  int all = s->n + s->m;
  s->place = carom_arena_push(arena, sizeof *s->place * (size_t)all);
  s->velocity = carom_arena_push(arena, sizeof *s->velocity * (size_t)all);
  s->seen_place = carom_arena_push(arena, sizeof *s->seen_place * (size_t)all);
  s->seen_velocity = carom_arena_push(arena, sizeof *s->seen_velocity * (size_t)s->n);
  s->wish = carom_arena_push(arena, sizeof *s->wish * (size_t)s->n);
  s->toward = carom_arena_push(arena, sizeof *s->toward * (size_t)s->n);
  s->spins_let = carom_arena_push(arena, sizeof *s->spins_let * (size_t)s->n);
  s->spin = CAROM_PUSH(arena, double, all);
  double **const numbers[] = {&s->aside,   &s->side, &s->saturated,   &s->yields, &s->idle,
                              &s->nearest, &s->leg,  &s->multipliers, &s->share};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) *numbers[i] = CAROM_PUSH(arena, double, s->n);
  s->way = CAROM_PUSH(arena, int, s->n);
  s->changes = CAROM_PUSH(arena, int, s->n);
  s->home = CAROM_PUSH(arena, bool, s->n);
  s->routes = CAROM_PUSH(arena, carom_nav_route, s->n);
  s->proxy = CAROM_PUSH(arena, int, all);
  s->bodies = CAROM_PUSH(arena, carom_contact_body, s->n);
  s->found = CAROM_PUSH(arena, carom_vec3, s->n);
  s->spins = CAROM_PUSH(arena, carom_vec3, s->n);
  s->rows = CAROM_PUSH(arena, carom_contact_row, s->n);
  s->arrived = CAROM_PUSH(arena, bool, s->n);
  s->stuck = CAROM_PUSH(arena, bool, s->n);
}

static void lay_out(void *owner, carom_arena *arena) {
  carom_navigate *s = owner;
  size_t corners = (size_t)corner_total(&s->def) * 2 * sizeof(double), knots = 0, points = 0;
  lay_out_definition(s, arena);
  lay_out_state(s, arena);
  if (arena->memory) return;  // what cages, paths and rails point to comes later, by copy_of
  for (int i = 0; i < s->m; i++)
    knots += carom_arena_cost((size_t)s->def.obstacles[i].count * sizeof(carom_navigate_knot));
  for (int i = 0; i < s->def.rail_count; i++)
    points += carom_arena_cost((size_t)s->def.rails[i].count * 2 * sizeof(double));
  carom_arena_push(arena, corners + (size_t)(s->n + s->m) * carom_arena_cost(0) + 64 * (size_t)(s->n + s->m));
  carom_arena_push(arena, knots);
  carom_arena_push(arena, points);
}

static void copy_vehicle(carom_navigate *s, const carom_navigate_def *d, int i, int number) {
  carom_navigate_vehicle *v = &s->vehicles[i];
  *v = d->vehicles[number];
  copy_cage(&s->arena, &v->cage);
  if (v->most_speed == 0) v->most_speed = 1.2 * v->speed;
  s->items[i] = (carom_nav_item){.number = number, .cage = v->cage, .reach = carom_cage_reach(&v->cage)};
  put_name(s->items[i].name, v->name, "vehicle", number);
  v->name = s->items[i].name;
}

static void copy_obstacle(carom_navigate *s, const carom_navigate_def *d, int i, int number) {
  carom_navigate_obstacle *o = &s->obstacles[i];
  *o = d->obstacles[number];
  copy_cage(&s->arena, &o->cage);
  o->knots = copy_of(&s->arena, o->knots, (size_t)o->count * sizeof *o->knots);
  carom_nav_item *item = &s->items[s->n + i];
  *item =
      (carom_nav_item){.number = number, .cage = o->cage, .reach = carom_cage_reach(&o->cage), .rests = o->count == 1};
  put_name(item->name, o->name, "obstacle", number);
  o->name = item->name;
}

static carom_status copy_definition(carom_navigate *s, const carom_navigate_def *d, carom_error *error) {
  int all = s->n + s->m;
  ranked *order = CAROM_NEW(&s->arena.allocator, ranked, all);
  if (!order) return carom_nav_memory(error);
  for (int i = 0; i < s->n; i++) order[i] = rank_vehicle(&d->vehicles[i], i);
  for (int i = 0; i < s->m; i++) order[s->n + i] = rank_obstacle(&d->obstacles[i], i);
  qsort(order, (size_t)s->n, sizeof *order, compare_ranked);
  qsort(order + s->n, (size_t)s->m, sizeof *order, compare_ranked);
  for (int i = 0; i < s->n; i++) copy_vehicle(s, d, i, order[i].number);
  for (int i = 0; i < s->m; i++) copy_obstacle(s, d, i, order[s->n + i].number);
  for (int i = 0; i < d->rail_count; i++) {
    s->rails[i] = d->rails[i];
    s->rails[i].points =
        copy_of(&s->arena, (const void *)d->rails[i].points, (size_t)d->rails[i].count * sizeof *d->rails[i].points);
  }
  s->def.vehicles = s->vehicles, s->def.obstacles = s->obstacles, s->def.rails = s->rails;
  carom_release(&s->arena.allocator, order);
  return CAROM_OK;
}

static carom_status make_shapes(carom_navigate *s, carom_error *error) {
  carom_status status = CAROM_OK;
  for (int i = 0; i < s->n + s->m && status == CAROM_OK; i++)
    status = carom_nav_shape(&s->items[i].cage, &s->arena.allocator, &s->items[i].shape, error);
  return status;
}

static carom_status make_broad_phase(carom_navigate *s, carom_error *error) {
  carom_broadphase_options o = carom_broadphase_default_options();
  carom_status status = carom_broadphase_create(&o, &s->arena.allocator, &s->broad, error);
  for (int i = 0; i < s->n + s->m && status == CAROM_OK; i++) {
    carom_proxy_def proxy = carom_proxy_default();
    proxy.box = (carom_aabb){cm_vec3(s->place[i][0], s->place[i][1], -1), cm_vec3(s->place[i][0], s->place[i][1], 1)};
    proxy.fixed = i >= s->n;
    status = carom_broadphase_add(s->broad, &proxy, &s->proxy[i], error);
  }
  return status;
}

// ---- the start ------------------------------------------------------------------------------------------------------

static void place_obstacles(carom_navigate *s) {
  for (int i = 0; i < s->m; i++) carom_nav_obstacle_at(&s->obstacles[i], s->time, s->place[s->n + i]);
}

static carom_status check_goals(const carom_navigate *s, carom_error *error) {
  for (int i = 0; i < s->n; i++) {
    const carom_navigate_vehicle *v = &s->vehicles[i];
    const carom_cage point = {0};
    const double goal[3] = {v->goal[0], v->goal[1], 0};
    for (int k = s->n; k < s->n + s->m; k++) {
      const carom_nav_item *o = &s->items[k];
      if (!o->rests || carom_cage_gap(&point, goal, &o->cage, s->place[k]) > 0) continue;
      return carom_fail(error, CAROM_ERR_GEOMETRY, "%s: its goal (%g, %g) lies inside %s", s->items[i].name, goal[0],
                        goal[1], o->name);
    }
  }
  return CAROM_OK;
}

static carom_status find_legs(carom_navigate *s, carom_error *error) {
  for (int i = 0; i < s->n; i++) {
    const carom_navigate_vehicle *v = &s->vehicles[i];
    double off[2];
    if (v->rail < 0) continue;
    s->leg[i] = carom_nav_rail_length(&s->rails[v->rail], s->place[i], &off[0]);
    carom_nav_rail_length(&s->rails[v->rail], v->goal, &off[1]);
    if (off[0] > ON_RAIL || off[1] > v->tolerance)
      return carom_fail(error, CAROM_ERR_GEOMETRY, "%s: its %s is %.4g m off its rail", s->items[i].name,
                        off[0] > ON_RAIL ? "start" : "goal", off[0] > ON_RAIL ? off[0] : off[1]);
  }
  return CAROM_OK;
}

static void show(carom_navigate *s) {
  for (int i = 0; i < s->n + s->m; i++) {
    int at = i < s->n ? s->items[i].number : s->n + s->items[i].number;
    memcpy(s->seen_place[at], s->place[i], sizeof s->place[i]);
    if (i < s->n) memcpy(s->seen_velocity[at], s->velocity[i], sizeof s->velocity[i]);
  }
}

static void forget(carom_navigate *s) {
  for (int i = 0; i < s->n; i++) {
    const carom_navigate_vehicle *v = &s->vehicles[i];
    s->aside[i] = s->saturated[i] = s->idle[i] = 0, s->side[i] = 1, s->changes[i] = 0;
    s->nearest[i] = INFINITY, s->way[i] = 1, s->home[i] = false, s->yields[i] = 0;
    s->velocity[i][0] = s->velocity[i][1] = 0;
    s->routes[i].age = -1;
    s->arrived[s->items[i].number] = hypot(v->goal[0] - s->place[i][0], v->goal[1] - s->place[i][1]) <= v->tolerance;
    s->stuck[s->items[i].number] = false;
  }
  s->pair_count = s->before_count = s->shown_count = 0;
}

static carom_status begin(carom_navigate *s, carom_error *error) {
  forget(s);
  place_obstacles(s);
  carom_status status = carom_nav_check_overlaps(s, error);
  if (status == CAROM_OK) status = find_legs(s, error);
  s->pair_count = s->before_count = 0;
  show(s);
  return status;
}

static carom_status prepare(carom_navigate *s, const carom_navigate_def *def, carom_error *error) {
  carom_status status = copy_definition(s, def, error);
  if (status == CAROM_OK) status = make_shapes(s, error);
  if (status != CAROM_OK) return status;
  for (int i = 0; i < s->n; i++) memcpy(s->place[i], s->vehicles[i].start, sizeof s->place[i]);
  place_obstacles(s);
  status = make_broad_phase(s, error);
  if (status == CAROM_OK) status = carom_groups_create(s->n, s->threads, &s->arena.allocator, &s->groups, error);
  if (status == CAROM_OK) status = begin(s, error);
  if (status == CAROM_OK) status = check_goals(s, error);
  return status == CAROM_OK ? carom_nav_plan_routes(s, error) : status;
}

carom_status carom_navigate_create(const carom_navigate_def *def, const carom_allocator *allocator,
                                   carom_navigate **navigate, carom_error *error) {
  *navigate = NULL;
  carom_status status = check_def(def, error);
  if (status != CAROM_OK) return status;
  carom_navigate initial = {.def = *def, .n = def->vehicle_count, .m = def->obstacle_count};
  initial.threads = def->vehicle_count < FEW ? 1 : carom_thread_count(def->threads);
  carom_navigate *s = carom_object_create(&initial, sizeof initial, lay_out, allocator, error);
  if (!s) return CAROM_ERR_MEMORY;
  status = prepare(s, def, error);
  if (status == CAROM_OK)
    *navigate = s;
  else
    carom_navigate_destroy(s);
  return status;
}

void carom_navigate_destroy(carom_navigate *s) {
  if (!s) return;
  carom_nav_release_routes(s);
  for (int i = 0; i < s->n + s->m; i++) carom_shape_release(s->items[i].shape);
  carom_groups_destroy(s->groups);
  carom_broadphase_destroy(s->broad);
  CAROM_RELEASE_ALL(&s->arena.allocator, s->pairs, s->before, s->contacts, s->impulses, s->shown);
  carom_object_destroy(s);
}

// ---- a step ---------------------------------------------------------------------------------------------------------

// The spin of the step: as wished, and of unicycles as their point's velocity asks for, so far as it is let.
static double spin_of(const carom_navigate *s, int i) {
  const carom_navigate_vehicle *v = &s->vehicles[i];
  double across = cos(s->place[i][2]) * s->velocity[i][1] - sin(s->place[i][2]) * s->velocity[i][0];
  double spin = v->steering == CAROM_STEER_UNICYCLE ? across / v->offset : s->spin[i];
  return fmin(s->spins_let[i][1], fmax(s->spins_let[i][0], spin));
}

void carom_nav_move(carom_navigate *s) {
  double h = s->def.step;
  for (int i = 0; i < s->n; i++) {
    double gone = h * (s->velocity[i][0] * s->toward[i][0] + s->velocity[i][1] * s->toward[i][1]);
    if (s->vehicles[i].rail >= 0) s->leg[i] += s->way[i] * gone;
    s->place[i][2] = carom_nav_wrap(s->place[i][2] + h * spin_of(s, i));
    for (int k = 0; k < 2; k++) s->place[i][k] += h * s->velocity[i][k];
  }
  s->time += h;
  place_obstacles(s);
}

static int user_number(const carom_navigate *s, int item) { return (item < s->n ? 0 : s->n) + s->items[item].number; }

static int compare_shown(const void *a, const void *b) {
  const carom_navigate_contact *p = a, *q = b;
  return p->vehicle != q->vehicle ? p->vehicle - q->vehicle : p->other - q->other;
}

static carom_status show_contacts(carom_navigate *s, carom_error *error) {
  s->shown_count = 0;
  for (int i = 0; i < s->pair_count; i++) {
    const carom_nav_pair *p = &s->pairs[i];
    if (p->impulse <= 0) continue;
    if (!carom_grow(&s->arena.allocator, (void **)&s->shown, s->shown_count, &s->shown_capacity, sizeof *s->shown))
      return carom_nav_memory(error);
    int a = user_number(s, p->a), b = user_number(s, p->b), sign = a < b ? 1 : -1;
    s->shown[s->shown_count++] = (carom_navigate_contact){.vehicle = a < b ? a : b,
                                                          .other = a < b ? b : a,
                                                          .at = {p->at[0], p->at[1]},
                                                          .normal = {sign * p->normal[0], sign * p->normal[1]},
                                                          .gap = p->gap,
                                                          .impulse = p->impulse};
  }
  if (s->shown_count > 0) qsort(s->shown, (size_t)s->shown_count, sizeof *s->shown, compare_shown);
  return CAROM_OK;
}

carom_status carom_navigate_step(carom_navigate *s, carom_error *error) {
  carom_nav_wish(s);
  carom_status status = carom_nav_find_pairs(s, error);
  if (status != CAROM_OK) return status;
  carom_nav_limit_turns(s);
  status = carom_nav_solve(s, error);
  if (status != CAROM_OK) return status;
  carom_nav_move(s);
  carom_nav_note_progress(s);
  show(s);
  return show_contacts(s, error);
}

carom_navigate_view carom_navigate_look(const carom_navigate *s) {
  return (carom_navigate_view){.time = s->time,
                               .vehicle_count = s->n,
                               .obstacle_count = s->m,
                               .places = (const double(*)[3])s->seen_place,
                               .velocities = (const double(*)[2])s->seen_velocity,
                               .arrived = s->arrived,
                               .stuck = s->stuck,
                               .contact_count = s->shown_count,
                               .contacts = s->shown,
                               .problems = s->groups->count,
                               .held = s->held,
                               .residual = s->residual};
}

carom_status carom_navigate_put(carom_navigate *s, double time, const double *places, carom_error *error) {
  for (int i = 0; i < s->n; i++)
    for (int k = 0; k < 3; k++)
      if (!is_near(places[3 * i + k]))
        return carom_fail(error, CAROM_ERR_NUMBER, "vehicle %d: its place is not finite or too far", i + 1);
  for (int i = 0; i < s->n; i++) memcpy(s->place[i], places + 3 * s->items[i].number, sizeof s->place[i]);
  s->time = time;
  return begin(s, error);
}

void carom_navigate_command(carom_navigate *s, const double *velocities) { s->command = velocities; }

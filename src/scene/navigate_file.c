// Reading a scene of navigation: text -> tree -> rails, obstacles, walls, vehicles, settings; and what can be told of
// places before anything moves.
#include "carom/navigate_file.h"

#include <string.h>

#include "scene/navigate_reader.h"
#include "scene/problem.h"

typedef const carom_node *slots[CAROM_NAVIGATE_KEYS];

enum {
  TOP_VERSION,
  TOP_TITLE,
  TOP_DESCRIPTION,
  TOP_CONSTANTS,
  TOP_SEED,
  TOP_STEP,
  TOP_HORIZON,
  TOP_MARGIN,
  TOP_TURN,
  TOP_MOST_TURN,
  TOP_DURATION,
  TOP_PATIENCE,
  TOP_ROUTES,
  TOP_RAILS,
  TOP_OBSTACLES,
  TOP_WALLS,
  TOP_VEHICLES,
  TOP_PLAN,
};
static const char *const top_keys[] = {"carom-navigate", "title",    "description", "constants", "seed",
                                       "step",           "horizon",  "margin",      "turn",      "most_turn",
                                       "duration",       "patience", "routes",      "rails",     "obstacles",
                                       "walls",          "vehicles", "plan",        NULL};

// ---- settings -------------------------------------------------------------------------------------------------------

static bool read_texts(carom_navigate_reader *p, slots f) {
  const char *title = "navigation", *text = "";
  double seed = 0;
  carom_read_text(&p->r, f[TOP_TITLE], &title);
  carom_read_text(&p->r, f[TOP_DESCRIPTION], &text);
  if (carom_read_integer(&p->r, f[TOP_SEED], 0, 9007199254740992.0, &seed)) p->r.seed = (uint64_t)seed;
  p->file->title = carom_copy_text(&p->r.allocator, title);
  p->file->description = carom_copy_text(&p->r.allocator, text);
  return p->file->title && p->file->description;
}

static void read_settings(carom_navigate_reader *p, slots f) {
  carom_navigate_def *d = &p->file->def;
  carom_reader *r = &p->r;
  carom_read_number(r, f[TOP_STEP], CAROM_TIME, CAROM_POSITIVE, &d->step);
  carom_read_number(r, f[TOP_HORIZON], CAROM_TIME, CAROM_POSITIVE, &d->horizon);
  carom_read_number(r, f[TOP_MARGIN], CAROM_LENGTH, CAROM_NOT_NEGATIVE, &d->margin);
  carom_read_number(r, f[TOP_TURN], CAROM_ANGULAR_VELOCITY, CAROM_NOT_NEGATIVE, &d->turn);
  carom_read_number(r, f[TOP_MOST_TURN], CAROM_ANGLE, CAROM_NOT_NEGATIVE, &d->most_turn);
  carom_read_number(r, f[TOP_DURATION], CAROM_TIME, CAROM_POSITIVE, &d->duration);
  carom_read_number(r, f[TOP_PATIENCE], CAROM_TIME, CAROM_POSITIVE, &d->patience);
  carom_read_bool(r, f[TOP_ROUTES], &d->routes);
  if (f[TOP_HORIZON] && d->horizon < d->step)
    carom_report(&r->reporter, f[TOP_HORIZON]->place, NULL, "'horizon' must be at least the step, %g s", d->step);
}

static void read_plan(carom_navigate_reader *p, const carom_node *node) {
  static const char *const keys[] = {"half", "robust", "settle", "longest", "goal_bias", "budget", "seed", NULL};
  slots f;
  carom_navigate_plan_def *d = &p->file->plan;
  carom_reader *r = &p->r;
  double seed = 1;
  if (!node || !carom_problem_fields(r, node, keys, "plan", f)) return;
  carom_read_number(r, f[0], CAROM_LENGTH, CAROM_NOT_NEGATIVE, &d->half);
  carom_read_bool(r, f[1], &d->robust);
  carom_read_number(r, f[2], CAROM_NUMBER, CAROM_NOT_NEGATIVE, &d->settle);
  carom_read_number(r, f[3], CAROM_TIME, CAROM_POSITIVE, &d->longest);
  carom_read_number(r, f[4], CAROM_NUMBER, CAROM_NOT_NEGATIVE, &d->goal_bias);
  carom_read_int(r, f[5], 1, 1000000, &d->budget);
  if (carom_read_integer(r, f[6], 0, 9007199254740992.0, &seed)) d->seed = (uint64_t)seed;
  if (d->settle >= 1 || d->goal_bias > 1)
    carom_report(&r->reporter, node->place, NULL, "plan: 'settle' must be less than 1 and 'goal_bias' at most 1");
}

// ---- places ---------------------------------------------------------------------------------------------------------

static void check_pair(carom_navigate_reader *p, int i, int other) {
  const carom_navigate_def *d = &p->file->def;
  const carom_navigate_vehicle *v = &d->vehicles[i];
  bool obstacle = other >= d->vehicle_count;
  int k = obstacle ? other - d->vehicle_count : other;
  const carom_cage *cage = obstacle ? &d->obstacles[k].cage : &d->vehicles[k].cage;
  const double *place = obstacle ? d->obstacles[k].knots[0].place : d->vehicles[k].start;
  const char *name = obstacle ? d->obstacles[k].name : d->vehicles[k].name;
  if (hypot(v->start[0] - place[0], v->start[1] - place[1]) > carom_cage_reach(&v->cage) + carom_cage_reach(cage))
    return;
  double gap = carom_cage_gap(&v->cage, v->start, cage, place);
  if (gap < -1e-9 * (1 + carom_cage_reach(&v->cage)))
    carom_report(&p->r.reporter, p->vehicles[i]->place, "move one of them",
                 "%.64s and %.64s overlap at the start, by %.4g m", v->name, name, -gap);
}

static void check_goal(carom_navigate_reader *p, int i, int k) {
  const carom_navigate_vehicle *v = &p->file->def.vehicles[i];
  const carom_navigate_obstacle *o = &p->file->def.obstacles[k];
  const double goal[3] = {v->goal[0], v->goal[1], 0};
  const carom_cage point = {0};
  if (o->count > 1 || carom_cage_gap(&point, goal, &o->cage, o->knots[0].place) > 0) return;
  carom_report(&p->r.reporter, p->vehicles[i]->place, NULL, "the goal (%g, %g) of %.64s lies inside %.64s", goal[0],
               goal[1], v->name, o->name);
}

static void check_places(carom_navigate_reader *p) {
  const carom_navigate_def *d = &p->file->def;
  for (int i = 0; i < d->vehicle_count && !carom_reader_failed(&p->r); i++) {
    for (int k = i + 1; k < d->vehicle_count + d->obstacle_count; k++) check_pair(p, i, k);
    for (int k = 0; k < d->obstacle_count; k++) check_goal(p, i, k);
  }
}

// What is left to be told, by what will navigate.
static bool check_rest(carom_navigate_reader *p, const carom_node *at) {
  carom_navigate *navigate;
  carom_navigate_def d = p->file->def;
  carom_error error;
  d.routes = false, d.threads = 1;
  carom_status status = carom_navigate_create(&d, &p->r.allocator, &navigate, &error);
  if (status == CAROM_OK) carom_navigate_destroy(navigate);
  if (status == CAROM_ERR_MEMORY) return false;
  if (status != CAROM_OK) carom_report(&p->r.reporter, at->place, NULL, "%s", error.message);
  return true;
}

// ---- the top level --------------------------------------------------------------------------------------------------

static bool has_errors(const carom_navigate_reader *p) { return p->r.reporter.list->error_count > 0; }

static bool read_scene(carom_navigate_reader *p) {
  slots f;
  if (!carom_problem_fields(&p->r, p->r.root, top_keys, "the scene", f)) return true;
  carom_problem_version(&p->r, f[TOP_VERSION], "carom-navigate");
  p->r.top[KEY_SCENE_CONSTANTS] = f[TOP_CONSTANTS];
  carom_read_constants(&p->r);
  if (!read_texts(p, f)) return false;
  read_settings(p, f);
  carom_navigate_read_rails(p, f[TOP_RAILS]);
  carom_navigate_read_obstacles(p, f[TOP_OBSTACLES]);
  carom_navigate_read_walls(p, f[TOP_WALLS]);
  if (carom_require(&p->r, p->r.root, f[TOP_VEHICLES], "vehicles", "the scene"))
    carom_navigate_read_vehicles(p, f[TOP_VEHICLES]);
  read_plan(p, f[TOP_PLAN]);
  struct carom_navigate_tables *t = p->file->tables;
  p->file->def.vehicles = t->vehicles, p->file->def.obstacles = t->obstacles, p->file->def.rails = t->rails;
  if (!has_errors(p)) check_places(p);
  bool memory = has_errors(p) || check_rest(p, f[TOP_VEHICLES]);
  if (!has_errors(p)) carom_check_constants(&p->r);
  return memory;
}

// ---- beginning and end ----------------------------------------------------------------------------------------------

static bool begin_file(carom_navigate_file *file, const carom_allocator *allocator) {
  file->allocator = *allocator;
  file->def = carom_navigate_default();
  file->plan = carom_navigate_plan_default();
  file->tables = CAROM_NEW(allocator, struct carom_navigate_tables, 1);
  if (file->tables) carom_pool_create(&file->tables->pool, allocator);
  return file->tables != NULL;
}

carom_status carom_navigate_read(const char *path, const carom_scene_options *options, const carom_allocator *allocator,
                                 carom_navigate_file **file, carom_diagnostics *diagnostics) {
  carom_navigate_reader p = {0};
  carom_reader *r = &p.r;
  *file = NULL;
  carom_problem_begin(r, path, options, allocator, diagnostics);
  if (r->options.max_bodies <= 0 || r->options.max_bodies > CAROM_NAVIGATE_MOST)
    r->options.max_bodies = CAROM_NAVIGATE_MOST;
  p.file = CAROM_NEW(&r->allocator, carom_navigate_file, 1);
  bool memory = p.file && begin_file(p.file, &r->allocator);
  if (memory) p.pool = &p.file->tables->pool;
  carom_problem_load(r);
  if (r->root && memory) memory = read_scene(&p);
  carom_status status = carom_problem_end(r, memory && !p.pool->failed);
  if (status == CAROM_OK)
    *file = p.file;
  else
    carom_navigate_file_destroy(p.file);
  return status;
}

void carom_navigate_file_destroy(carom_navigate_file *file) {
  if (!file) return;
  carom_allocator a = file->allocator;
  if (file->tables) carom_pool_destroy(&file->tables->pool);
  CAROM_RELEASE_ALL(&a, file->title, file->description, file->tables, file);
}

// The parts of a navigation scene: cages, rails, obstacles, walls, vehicles. An entry may stand for many copies.
#include <stdio.h>
#include <string.h>

#include "scene/navigate_reader.h"
#include "scene/problem.h"

typedef const carom_node *slots[CAROM_NAVIGATE_KEYS];

static const double WALL = 0.05;  // m: width where none is given

// ---- small things ---------------------------------------------------------------------------------------------------

static bool read_point(carom_navigate_reader *p, const carom_node *node, double at[2]) {
  carom_vec3 v = {at[0], at[1], 0};
  if (!node) return true;
  if (!carom_read_place(&p->r, node, node->key ? node->key : "the item", &v)) return false;
  at[0] = v.x, at[1] = v.y;
  return true;
}

// A list of points, in the tables; null after a report.
static double (*read_points(carom_navigate_reader *p, const carom_node *list, int least, int most, int *count))[2] {
  if (!carom_read_list(&p->r, list, "points")) return NULL;
  if (list->count < least || list->count > most) {
    carom_report(&p->r.reporter, list->place, NULL, "'%s' expects %d to %d points, got %d",
                 list->key ? list->key : "the list", least, most, list->count);
    return NULL;
  }
  double(*points)[2] = carom_pool_get(p->pool, sizeof *points * (size_t)list->count);
  *count = 0;
  for (const carom_node *c = list->first; c && points; c = c->next)
    if (!read_point(p, c, points[(*count)++])) return NULL;
  return points;
}

static const char *read_name(carom_navigate_reader *p, const carom_node *node, const char *kind, int number, int copy) {
  const char *name = NULL;
  char text[80];
  carom_read_text(&p->r, node, &name);
  if (name && copy < 0)
    snprintf(text, sizeof text, "%.60s", name);
  else if (name)
    snprintf(text, sizeof text, "%.50s %d", name, copy + 1);
  else
    snprintf(text, sizeof text, "%s %d", kind, number + 1);
  return carom_pool_text(p->pool, text, strlen(text));
}

static bool grow(carom_navigate_reader *p, void **array, int count, int *capacity, size_t size) {
  return carom_pool_grow(p->pool, array, count, capacity, size);
}

static bool note_node(carom_navigate_reader *p, const carom_node ***list, int count, int *capacity,
                      const carom_node *node) {
  if (!carom_pool_grow(&p->r.pool, (void **)list, count, capacity, sizeof **list)) return false;
  (*list)[count] = node;
  return true;
}

// ---- cages ----------------------------------------------------------------------------------------------------------

static bool read_box(carom_navigate_reader *p, const carom_node *node, carom_cage *cage) {
  double size[2];
  double(*corners)[2] = carom_pool_get(p->pool, 4 * sizeof *corners);
  if (!corners || !carom_read_numbers(&p->r, node, "box", CAROM_LENGTH, 2, size)) return false;
  for (int k = 0; k < 2; k++)
    if (!(size[k] > 0))
      return carom_report(&p->r.reporter, node->place, NULL, "the sides of 'box' must be positive, got %g", size[k]);
  for (int i = 0; i < 4; i++) {
    corners[i][0] = 0.5 * (i == 1 || i == 2 ? size[0] : -size[0]);
    corners[i][1] = 0.5 * (i >= 2 ? size[1] : -size[1]);
  }
  cage->count = 4, cage->corners = (const double(*)[2])corners;
  return true;
}

static bool read_polygon(carom_navigate_reader *p, const carom_node *node, carom_cage *cage) {
  double(*corners)[2] = read_points(p, node, 3, CAROM_CAGE_CORNERS, &cage->count);
  cage->corners = (const double(*)[2])corners;
  return corners != NULL;
}

static bool read_cage(carom_navigate_reader *p, const carom_node *node, const char *name, carom_cage *cage) {
  static const char *const keys[] = {"disc", "box", "polygon", "round", NULL};
  slots f;
  carom_error error;
  *cage = (carom_cage){0};
  if (!carom_problem_fields(&p->r, node, keys, "cage", f)) return false;
  int given = (f[0] != NULL) + (f[1] != NULL) + (f[2] != NULL);
  if (given != 1 || (f[0] && f[3]))
    return carom_report(&p->r.reporter, node->place, NULL,
                        "a cage is one of disc: RADIUS, box: [LENGTH, WIDTH], polygon: [[X, Y], ...]; boxes and "
                        "polygons may have round: RADIUS");
  bool good = carom_read_number(&p->r, f[0], CAROM_LENGTH, CAROM_POSITIVE, &cage->radius) &&
              carom_read_number(&p->r, f[3], CAROM_LENGTH, CAROM_NOT_NEGATIVE, &cage->radius);
  if (good && f[1]) good = read_box(p, f[1], cage);
  if (good && f[2]) good = read_polygon(p, f[2], cage);
  if (good && carom_cage_check(cage, name, &error) != CAROM_OK)
    return carom_report(&p->r.reporter, node->place, NULL, "%s", error.message);
  return good;
}

// ---- copies ---------------------------------------------------------------------------------------------------------

static void add_sphere(carom_navigate_reader *p, carom_navigate_spheres *s, const double at[2], double radius) {
  if (carom_pool_grow(&p->r.pool, (void **)&s->list, s->count, &s->capacity, sizeof *s->list))
    s->list[s->count++] = (carom_cloud_sphere){cm_vec3(at[0], at[1], 0), radius};
}

// A cloud in the plane that keeps off what was read before it.
static bool place_cloud(carom_navigate_reader *p, carom_array *array, carom_navigate_spheres *off, double radius) {
  int count = (int)array->count;
  carom_cloud_sphere *bodies = CAROM_POOL_ARRAY(&p->r.pool, carom_cloud_sphere, count);
  if (!bodies) return false;
  for (int i = 0; i < count; i++) bodies[i] = (carom_cloud_sphere){cm_zero3(), radius};
  array->low.z = array->high.z = 0;
  p->r.cloud = off->list, p->r.cloud_count = off->count, p->r.cloud_capacity = off->capacity;
  bool placed = carom_place_cloud(&p->r, array, bodies);
  off->list = p->r.cloud, off->count = p->r.cloud_count, off->capacity = p->r.cloud_capacity;
  return placed;
}

static double angle_of(carom_quat q) { return 2 * atan2(q.z, q.w); }

// Where copy n is put: its own place within the array's.
static void compose(const carom_array *array, int n, double place[3]) {
  carom_pose pose = carom_array_pose(array, n);
  carom_vec3 at = cm_transform(pose, cm_vec3(place[0], place[1], 0));
  place[0] = at.x, place[1] = at.y, place[2] += angle_of(pose.q);
}

// ---- rails ----------------------------------------------------------------------------------------------------------

static void read_rail(carom_navigate_reader *p, const carom_node *node) {
  static const char *const keys[] = {"name", "points", NULL};
  struct carom_navigate_tables *t = p->file->tables;
  int *count = &p->file->def.rail_count;
  slots f;
  carom_navigate_rail rail = {0};
  if (!carom_problem_fields(&p->r, node, keys, "rail", f)) return;
  rail.name = read_name(p, f[0], "rail", *count, -1);
  if (!carom_require(&p->r, node, f[1], "points", "rail")) return;
  rail.points = (const double(*)[2])read_points(p, f[1], 2, 10000, &rail.count);
  if (!rail.points || !rail.name) return;
  if (carom_names_find(&p->rail_names, rail.name) >= 0) {
    carom_report(&p->r.reporter, node->place, NULL, "there are two rails '%.60s'", rail.name);
    return;
  }
  if (!grow(p, (void **)&t->rails, *count, &t->rail_capacity, sizeof rail)) return;
  carom_names_add(&p->rail_names, rail.name, *count);
  t->rails[(*count)++] = rail;
}

void carom_navigate_read_rails(carom_navigate_reader *p, const carom_node *list) {
  carom_allocator heap = carom_pool_allocator(&p->r.pool);
  carom_names_create(&p->rail_names, &heap);
  if (!list || !carom_read_list(&p->r, list, "mappings")) return;
  for (const carom_node *c = list->first; c; c = c->next) read_rail(p, c);
}

// ---- obstacles ------------------------------------------------------------------------------------------------------

static bool add_obstacle(carom_navigate_reader *p, const carom_node *node, const carom_navigate_obstacle *o) {
  struct carom_navigate_tables *t = p->file->tables;
  int *count = &p->file->def.obstacle_count;
  if (*count >= CAROM_NAVIGATE_MOST)
    return carom_report(&p->r.reporter, node->place, NULL, "at most %d obstacles", CAROM_NAVIGATE_MOST);
  if (!grow(p, (void **)&t->obstacles, *count, &t->obstacle_capacity, sizeof *o) ||
      !note_node(p, &p->obstacles, *count, &p->obstacle_nodes, node))
    return false;
  t->obstacles[(*count)++] = *o;
  for (int i = 0; i < o->count; i++) {
    add_sphere(p, &p->starts, o->knots[i].place, carom_cage_reach(&o->cage));
    add_sphere(p, &p->goals, o->knots[i].place, carom_cage_reach(&o->cage));
  }
  return true;
}

static bool read_knot(carom_navigate_reader *p, const carom_node *node, carom_navigate_knot *knot) {
  static const char *const keys[] = {"time", "position", "heading", NULL};
  slots f;
  if (!carom_problem_fields(&p->r, node, keys, "knot", f)) return false;
  return carom_require(&p->r, node, f[0], "time", "knot") && carom_require(&p->r, node, f[1], "position", "knot") &&
         carom_read_number(&p->r, f[0], CAROM_TIME, CAROM_ANY, &knot->time) && read_point(p, f[1], knot->place) &&
         carom_read_number(&p->r, f[2], CAROM_ANGLE, CAROM_ANY, &knot->place[2]);
}

static bool read_path(carom_navigate_reader *p, const carom_node *list, carom_navigate_obstacle *o) {
  if (!carom_read_list(&p->r, list, "knots")) return false;
  if (list->count < 2 || list->count > 10000)
    return carom_report(&p->r.reporter, list->place, NULL, "'path' expects 2 to 10000 knots, got %d", list->count);
  carom_navigate_knot *knots = CAROM_POOL_ARRAY(p->pool, carom_navigate_knot, list->count);
  if (!knots) return false;
  for (const carom_node *c = list->first; c; c = c->next) {
    if (!read_knot(p, c, &knots[o->count])) return false;
    if (o->count > 0 && !(knots[o->count].time > knots[o->count - 1].time))
      return carom_report(&p->r.reporter, c->place, NULL, "the times of 'path' must ascend");
    o->count++;
  }
  o->knots = knots;
  return true;
}

enum {
  OBSTACLE_NAME,
  OBSTACLE_CAGE,
  OBSTACLE_POSITION,
  OBSTACLE_HEADING,
  OBSTACLE_PATH,
  OBSTACLE_REPEAT,
  OBSTACLE_REPLICATE
};
static const char *const obstacle_keys[] = {"name", "cage", "position", "heading", "path", "repeat", "replicate", NULL};

static bool stay(carom_navigate_reader *p, slots f, const carom_array *array, int n, carom_navigate_obstacle *o) {
  carom_navigate_knot *knot = CAROM_POOL_ARRAY(p->pool, carom_navigate_knot, 1);
  if (!knot || !read_point(p, f[OBSTACLE_POSITION], knot->place) ||
      !carom_read_number(&p->r, f[OBSTACLE_HEADING], CAROM_ANGLE, CAROM_ANY, &knot->place[2]))
    return false;
  compose(array, n, knot->place);
  o->count = 1, o->knots = knot;
  return true;
}

static bool read_obstacle_copy(carom_navigate_reader *p, const carom_node *node, slots f, carom_array *array, int n) {
  carom_navigate_obstacle o = {0};
  int copy = array->kind == CAROM_ONCE ? -1 : n;
  carom_array_set_indices(&p->r, array, n);
  o.name = read_name(p, f[OBSTACLE_NAME], "obstacle", p->file->def.obstacle_count, copy);
  if (!o.name || !carom_require(&p->r, node, f[OBSTACLE_CAGE], "cage", "obstacle") ||
      !read_cage(p, f[OBSTACLE_CAGE], o.name, &o.cage))
    return false;
  if (n == 0 && array->kind == CAROM_CLOUD && !place_cloud(p, array, &p->starts, carom_cage_reach(&o.cage)))
    return false;
  bool good = f[OBSTACLE_PATH] ? read_path(p, f[OBSTACLE_PATH], &o) : stay(p, f, array, n, &o);
  return good && carom_read_bool(&p->r, f[OBSTACLE_REPEAT], &o.repeat) && add_obstacle(p, node, &o);
}

static void read_obstacle(carom_navigate_reader *p, const carom_node *node) {
  slots f;
  carom_array array;
  if (!carom_problem_fields(&p->r, node, obstacle_keys, "obstacle", f)) return;
  p->r.indices.active = false;
  if (f[OBSTACLE_PATH] && (f[OBSTACLE_POSITION] || f[OBSTACLE_HEADING] || f[OBSTACLE_REPLICATE])) {
    carom_report(&p->r.reporter, node->place, NULL,
                 "an obstacle has a 'path', or a place by position, heading and replicate");
    return;
  }
  if (!carom_read_array(&p->r, f[OBSTACLE_REPLICATE], &array)) return;
  for (int n = 0; n < (int)array.count && !carom_reader_failed(&p->r); n++)
    if (!read_obstacle_copy(p, node, f, &array, n)) break;
  p->r.indices.active = false;
}

void carom_navigate_read_obstacles(carom_navigate_reader *p, const carom_node *list) {
  if (!list || !carom_read_list(&p->r, list, "mappings")) return;
  for (const carom_node *c = list->first; c && !carom_reader_failed(&p->r); c = c->next) read_obstacle(p, c);
}

// ---- walls ----------------------------------------------------------------------------------------------------------

// A piece of a wall: a box about the line from p to q, longer by half its width so that corners are closed.
static bool add_wall(carom_navigate_reader *p, const carom_node *node, const char *name, const double ends[2][2],
                     double width) {
  double dx = ends[1][0] - ends[0][0], dy = ends[1][1] - ends[0][1], length = hypot(dx, dy) + width;
  carom_navigate_knot *knot = CAROM_POOL_ARRAY(p->pool, carom_navigate_knot, 1);
  double(*corners)[2] = carom_pool_get(p->pool, 4 * sizeof *corners);
  if (!knot || !corners) return false;
  for (int i = 0; i < 4; i++) {
    corners[i][0] = 0.5 * (i == 1 || i == 2 ? length : -length);
    corners[i][1] = 0.5 * (i >= 2 ? width : -width);
  }
  knot->place[0] = 0.5 * (ends[0][0] + ends[1][0]), knot->place[1] = 0.5 * (ends[0][1] + ends[1][1]);
  knot->place[2] = atan2(dy, dx);
  carom_navigate_obstacle o = {name, {0, 4, (const double(*)[2])corners}, 1, knot, false};
  return add_obstacle(p, node, &o);
}

static void read_wall(carom_navigate_reader *p, const carom_node *node, int number) {
  static const char *const keys[] = {"name", "points", "width", NULL};
  slots f;
  double width = WALL;
  int count = 0;
  if (!carom_problem_fields(&p->r, node, keys, "wall", f)) return;
  const char *name = read_name(p, f[0], "wall", number, -1);
  if (!carom_require(&p->r, node, f[1], "points", "wall")) return;
  double(*points)[2] = read_points(p, f[1], 2, 10000, &count);
  if (!points || !name || !carom_read_number(&p->r, f[2], CAROM_LENGTH, CAROM_POSITIVE, &width)) return;
  for (int i = 0; i + 1 < count; i++)
    if (!add_wall(p, node, name, (const double(*)[2])points + i, width)) return;
}

void carom_navigate_read_walls(carom_navigate_reader *p, const carom_node *list) {
  int number = 0;
  if (!list || !carom_read_list(&p->r, list, "mappings")) return;
  for (const carom_node *c = list->first; c && !carom_reader_failed(&p->r); c = c->next) read_wall(p, c, number++);
}

// ---- vehicles -------------------------------------------------------------------------------------------------------

enum {
  VEHICLE_NAME,
  VEHICLE_CAGE,
  VEHICLE_POSITION,
  VEHICLE_HEADING,
  VEHICLE_GOAL,
  VEHICLE_TOLERANCE,
  VEHICLE_SPEED,
  VEHICLE_MOST_SPEED,
  VEHICLE_MASS,
  VEHICLE_GAIN,
  VEHICLE_STEERING,
  VEHICLE_TURN_RATE,
  VEHICLE_OFFSET,
  VEHICLE_REVERSE,
  VEHICLE_RAIL,
  VEHICLE_REPLICATE,
};
static const char *const vehicle_keys[] = {"name",   "cage",         "position", "heading",   "goal",     "tolerance",
                                           "speed",  "most_speed",   "mass",     "gain",      "steering", "turn_rate",
                                           "offset", "most_reverse", "rail",     "replicate", NULL};

static bool read_goal(carom_navigate_reader *p, const carom_node *node, carom_array *goals, int n,
                      carom_navigate_vehicle *v) {
  if (goals->kind != CAROM_ONCE) {
    double place[3] = {0};
    compose(goals, n, place);
    v->goal[0] = place[0], v->goal[1] = place[1];
    return true;
  }
  if (carom_node_is(node, "opposite")) {
    for (int k = 0; k < 2; k++) v->goal[k] = -v->start[k];
    return true;
  }
  return read_point(p, node, v->goal);
}

static bool find_rail(carom_navigate_reader *p, const carom_node *node, int *rail) {
  const char *name = NULL;
  if (!node) return true;
  if (!carom_read_text(&p->r, node, &name)) return false;
  *rail = carom_names_find(&p->rail_names, name);
  if (*rail < 0) carom_unknown_name(&p->r, node, "rail", &p->rail_names);
  return *rail >= 0;
}

static bool read_motion(carom_navigate_reader *p, slots f, carom_navigate_vehicle *v) {
  static const char *const words[] = {"slide", "turn", "unicycle", NULL};
  const carom_dimension gain = CAROM_DIMENSION(0, 1, -1, 0, 0);
  carom_reader *r = &p->r;
  int steering = (int)v->steering;
  bool good = carom_read_number(r, f[VEHICLE_TOLERANCE], CAROM_LENGTH, CAROM_POSITIVE, &v->tolerance);
  good = carom_read_number(r, f[VEHICLE_SPEED], CAROM_VELOCITY, CAROM_NOT_NEGATIVE, &v->speed) && good;
  good = carom_read_number(r, f[VEHICLE_MOST_SPEED], CAROM_VELOCITY, CAROM_POSITIVE, &v->most_speed) && good;
  good = carom_read_number(r, f[VEHICLE_MASS], CAROM_MASS, CAROM_POSITIVE, &v->mass) && good;
  good = carom_read_number(r, f[VEHICLE_GAIN], gain, CAROM_POSITIVE, &v->gain) && good;
  good = carom_read_choice(r, f[VEHICLE_STEERING], words, &steering) && good;
  good = carom_read_number(r, f[VEHICLE_TURN_RATE], CAROM_ANGULAR_VELOCITY, CAROM_POSITIVE, &v->turn_rate) && good;
  good = carom_read_number(r, f[VEHICLE_OFFSET], CAROM_LENGTH, CAROM_POSITIVE, &v->offset) && good;
  good = carom_read_number(r, f[VEHICLE_REVERSE], CAROM_VELOCITY, CAROM_NOT_NEGATIVE, &v->most_reverse) && good;
  v->steering = (carom_steer)steering;
  return find_rail(p, f[VEHICLE_RAIL], &v->rail) && good;
}

static bool add_vehicle(carom_navigate_reader *p, const carom_node *node, const carom_navigate_vehicle *v) {
  struct carom_navigate_tables *t = p->file->tables;
  int *count = &p->file->def.vehicle_count;
  if (*count >= CAROM_NAVIGATE_MOST)
    return carom_report(&p->r.reporter, node->place, NULL, "at most %d vehicles", CAROM_NAVIGATE_MOST);
  if (!grow(p, (void **)&t->vehicles, *count, &t->vehicle_capacity, sizeof *v) ||
      !note_node(p, &p->vehicles, *count, &p->vehicle_nodes, node))
    return false;
  t->vehicles[(*count)++] = *v;
  return true;
}

// An entry while it is read.
typedef struct entry {
  const carom_node *node;
  slots f;
  carom_array starts, goals;
} entry;

static bool read_vehicle_copy(carom_navigate_reader *p, entry *e, int n) {
  carom_navigate_vehicle v = carom_navigate_vehicle_default();
  carom_array_set_indices(&p->r, &e->starts, n);
  v.name =
      read_name(p, e->f[VEHICLE_NAME], "vehicle", p->file->def.vehicle_count, e->starts.kind == CAROM_ONCE ? -1 : n);
  if (!v.name || !read_cage(p, e->f[VEHICLE_CAGE], v.name, &v.cage)) return false;
  double reach = carom_cage_reach(&v.cage);
  if (n == 0 && e->starts.kind == CAROM_CLOUD && !place_cloud(p, &e->starts, &p->starts, reach)) return false;
  if (n == 0 && e->goals.kind == CAROM_CLOUD && !place_cloud(p, &e->goals, &p->goals, reach)) return false;
  bool good = read_point(p, e->f[VEHICLE_POSITION], v.start) &&
              carom_read_number(&p->r, e->f[VEHICLE_HEADING], CAROM_ANGLE, CAROM_ANY, &v.start[2]);
  if (!good) return false;
  compose(&e->starts, n, v.start);
  good = read_goal(p, e->f[VEHICLE_GOAL], &e->goals, n, &v) && read_motion(p, e->f, &v);
  if (!good || !add_vehicle(p, e->node, &v)) return false;
  if (e->starts.kind != CAROM_CLOUD) add_sphere(p, &p->starts, v.start, reach);
  if (e->goals.kind != CAROM_CLOUD) add_sphere(p, &p->goals, v.goal, reach);
  return true;
}

static bool read_arrays(carom_navigate_reader *p, entry *e) {
  const carom_node *goal = e->f[VEHICLE_GOAL];
  if (!carom_read_array(&p->r, e->f[VEHICLE_REPLICATE], &e->starts)) return false;
  if (!carom_read_array(&p->r, goal->kind == CAROM_NODE_MAP ? goal : NULL, &e->goals)) return false;
  if (goal->kind == CAROM_NODE_MAP && e->goals.count != e->starts.count)
    return carom_report(&p->r.reporter, goal->place, NULL, "%.0f goals for %.0f vehicles", e->goals.count,
                        e->starts.count);
  double total = p->file->def.vehicle_count + e->starts.count;
  if (total > CAROM_NAVIGATE_MOST)
    return carom_report(&p->r.reporter, e->node->place, NULL, "at most %d vehicles, got %.0f", CAROM_NAVIGATE_MOST,
                        total);
  return true;
}

static void read_vehicle(carom_navigate_reader *p, const carom_node *node) {
  entry e = {.node = node};
  if (!carom_problem_fields(&p->r, node, vehicle_keys, "vehicle", e.f)) return;
  p->r.indices.active = false;
  bool good = carom_require(&p->r, node, e.f[VEHICLE_CAGE], "cage", "vehicle");
  good = carom_require(&p->r, node, e.f[VEHICLE_GOAL], "goal", "vehicle") && good;
  if (!good || !read_arrays(p, &e)) return;
  for (int n = 0; n < (int)e.starts.count && !carom_reader_failed(&p->r); n++)
    if (!read_vehicle_copy(p, &e, n)) break;
  p->r.indices.active = false;
}

void carom_navigate_read_vehicles(carom_navigate_reader *p, const carom_node *list) {
  if (!carom_read_list(&p->r, list, "mappings")) return;
  if (list->count == 0) carom_report(&p->r.reporter, list->place, NULL, "there are no vehicles");
  for (const carom_node *c = list->first; c && !carom_reader_failed(&p->r); c = c->next) read_vehicle(p, c);
}

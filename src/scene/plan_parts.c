// The parts of a problem: joints, actuators, free starts, contacts, avoidance, the first guess.
#include <string.h>

#include "base/memory.h"
#include "control/plan.h"
#include "scene/plan_reader.h"

typedef const carom_node *slots[CAROM_PLAN_MOST_KEYS];

#define EACH(item, list)                                                                                           \
  for (const carom_node *item = (list) && carom_read_list(&p->r, (list), "mappings") ? (list)->first : NULL; item; \
       item = item->next)

// ---- joints and actuators ------------------------------------------------------------------------------------------

static const char *what_acts(const carom_coordinate *c) {
  if (c->stiffness > 0) return "a spring";
  if (c->damping > 0) return "damping";
  if (c->motor != CAROM_MOTOR_NONE) return "a motor";
  if (c->lower > -INFINITY || c->upper < INFINITY) return "limits";
  return NULL;
}

// The scene's own joints hold in the plan, too. What acts along them there would be missing in the plan's motion.
static void add_scene_joint(carom_plan_reader *p, const carom_joint *j) {
  const carom_model *model = p->file->scene->model;
  carom_plan_joint_def def = carom_plan_joint_default();
  carom_place place = p->r.root->place;
  if (j->latch && !j->engaged) return;
  if ((j->kind != CAROM_JOINT_SPHERICAL && j->kind != CAROM_JOINT_REVOLUTE) || j->body[0] < 0 || j->body[1] < 0) {
    carom_report(&p->r.reporter, place, "hang it on a fixed body, or take it out of the scene",
                 "joint '%.80s' of the scene: plans know spherical and revolute joints between bodies", j->name);
    return;
  }
  const char *acts = j->kind == CAROM_JOINT_REVOLUTE ? what_acts(&j->turn) : NULL;
  if (acts) {
    carom_report(&p->r.reporter, place, "take it out of the scene; an actuator on the joint plans its torque instead",
                 "joint '%.80s' of the scene has %s, which plans do not know", j->name, acts);
    return;
  }
  def.name = j->name;
  def.kind = j->kind == CAROM_JOINT_REVOLUTE ? CAROM_PLAN_REVOLUTE : CAROM_PLAN_SPHERICAL;
  for (int i = 0; i < 2; i++) {
    def.body[i] = j->body[i];
    def.point[i] = cm_transform(cm_pose_inverse(model->bodies[j->body[i]].frame), j->frame[i].p);
  }
  carom_vec3 axis = cm_rotate(j->frame[0].q, cm_vec3(0, 0, 1));
  def.axis = cm_unrotate(model->bodies[j->body[0]].frame.q, axis);
  int index = carom_plan_add_joint(p->file->plan, &def);
  if (index >= 0) carom_names_add(&p->joint_names, def.name, index);
  carom_plan_check_at(p, p->r.root);
}

static void read_range(carom_plan_reader *p, const carom_node *node, carom_plan_joint_def *def) {
  double range[2];
  if (node && carom_read_numbers(&p->r, node, "range", CAROM_ANGLE, 2, range))
    def->lower = range[0], def->upper = range[1];
}

// The second body stands on the first, which can only push.
static void read_foot(carom_plan_reader *p, const carom_node *node, carom_plan_joint_def *def) {
  static const char *const keys[] = {"normal", "friction", NULL};
  slots f;
  if (!node || !carom_plan_fields(p, node, keys, "foot", f)) return;
  if (carom_require(&p->r, node, f[0], "normal", "foot") &&
      carom_read_vector(&p->r, f[0], CAROM_NUMBER, &def->normal) && cm_norm(def->normal) == 0)
    carom_report(&p->r.reporter, f[0]->place, NULL, "the 'normal' of a foot must have a direction, got [0, 0, 0]");
  carom_read_number(&p->r, f[1], CAROM_NUMBER, CAROM_NOT_NEGATIVE, &def->friction);
}

void carom_plan_read_joints(carom_plan_reader *p, const carom_node *list) {
  static const char *const keys[] = {"name", "kind", "bodies", "points", "axis", "reach", "range", "foot", NULL};
  static const char *const kinds[] = {"spherical", "revolute", NULL};
  slots f;
  const carom_model *model = p->file->scene->model;
  for (int i = 0; i < model->joint_count; i++) add_scene_joint(p, &model->joints[i]);
  EACH(item, list) {
    carom_plan_joint_def def = carom_plan_joint_default();
    int kind = 0;
    if (!carom_plan_fields(p, item, keys, "joint", f)) continue;
    bool good = carom_require(&p->r, item, f[2], "bodies", "joint") && carom_plan_read_bodies(p, f[2], def.body);
    carom_read_text(&p->r, f[0], &def.name);
    if (carom_read_choice(&p->r, f[1], kinds, &kind)) def.kind = kind == 1 ? CAROM_PLAN_REVOLUTE : CAROM_PLAN_SPHERICAL;
    if (f[3] && f[3]->kind == CAROM_NODE_LIST && f[3]->count == 2) {
      carom_read_vector_item(&p->r, f[3]->first, "points", CAROM_LENGTH, &def.point[0]);
      carom_read_vector_item(&p->r, f[3]->first->next, "points", CAROM_LENGTH, &def.point[1]);
    } else {
      carom_report(&p->r.reporter, f[3] ? f[3]->place : item->place, NULL, "a joint needs 'points', one in each body");
    }
    carom_read_vector(&p->r, f[4], CAROM_NUMBER, &def.axis);
    carom_read_vector(&p->r, f[5], CAROM_LENGTH, &def.reach);
    read_range(p, f[6], &def);
    read_foot(p, f[7], &def);
    int index = good ? carom_plan_add_joint(p->file->plan, &def) : -1;
    if (index >= 0 && def.name) carom_names_add(&p->joint_names, def.name, index);
    carom_plan_check_at(p, item);
  }
}

static void read_target(carom_plan_reader *p, const carom_node *item, const slots f, carom_actuator_def *def) {
  const char *name = NULL;
  carom_one_of(&p->r, item, f[1], f[2], "body and joint", "actuator");
  def->body = carom_plan_read_body(p, f[1]);
  if (!f[2] || !carom_read_text(&p->r, f[2], &name)) return;
  def->kind = CAROM_ACTUATOR_JOINT;
  def->joint = carom_names_find(&p->joint_names, name);
  if (def->joint < 0) carom_unknown_name(&p->r, f[2], "joint", &p->joint_names);
}

void carom_plan_read_actuators(carom_plan_reader *p, const carom_node *list) {
  static const char *const keys[] = {"name",        "body",         "joint",     "point", "axes", "force", "torque",
                                     "force_bound", "torque_bound", "direction", "low",   "high", NULL};
  static const char *const axes[] = {"world", "body", NULL};
  slots f;
  EACH(item, list) {
    carom_actuator_def def = carom_actuator_default();
    int choice = 0, errors = p->r.reporter.list->error_count;
    bool force = true, torque = true;
    if (!carom_plan_fields(p, item, keys, "actuator", f)) continue;
    carom_read_text(&p->r, f[0], &def.name);
    read_target(p, item, f, &def);
    def.has_point = f[3] && carom_read_vector(&p->r, f[3], CAROM_LENGTH, &def.point);
    if (carom_read_choice(&p->r, f[4], axes, &choice)) def.body_axes = choice == 1;
    carom_read_bool(&p->r, f[5], &force);
    carom_read_bool(&p->r, f[6], &torque);
    def.no_force = !force, def.no_torque = !torque;
    carom_read_number(&p->r, f[7], CAROM_FORCE, CAROM_POSITIVE, &def.force_bound);
    carom_read_number(&p->r, f[8], CAROM_TORQUE, CAROM_POSITIVE, &def.torque_bound);
    if (f[9] && carom_read_vector(&p->r, f[9], CAROM_NUMBER, &def.direction)) def.kind = CAROM_ACTUATOR_THRUSTER;
    carom_read_number(&p->r, f[10], CAROM_FORCE, CAROM_ANY, &def.low);
    carom_read_number(&p->r, f[11], CAROM_FORCE, CAROM_ANY, &def.high);
    int index = p->r.reporter.list->error_count == errors ? carom_plan_add_actuator(p->file->plan, &def) : -1;
    if (index >= 0 && def.name) carom_names_add(&p->actuator_names, def.name, index);
    carom_plan_check_at(p, item);
  }
}

// ---- start ---------------------------------------------------------------------------------------------------------

void carom_plan_read_starts(carom_plan_reader *p, const carom_node *list) {
  static const char *const keys[] = {"body", "position", "rotation", "velocity", "angular_velocity", NULL};
  slots f;
  EACH(item, list) {
    carom_vec3 position = cm_zero3(), velocity = cm_zero3(), spin = cm_zero3();
    bool rotation = false;
    if (!carom_plan_fields(p, item, keys, "start", f) || !carom_require(&p->r, item, f[0], "body", "start")) continue;
    int body = carom_plan_read_body(p, f[0]);
    carom_read_vector(&p->r, f[1], CAROM_LENGTH, &position);
    carom_read_bool(&p->r, f[2], &rotation);
    carom_read_vector(&p->r, f[3], CAROM_VELOCITY, &velocity);
    carom_read_vector(&p->r, f[4], CAROM_ANGULAR_VELOCITY, &spin);
    if (body >= 0) carom_plan_free_start(p->file->plan, body, position, rotation, velocity, spin);
    carom_plan_check_at(p, item);
  }
}

// ---- events, periods, clearances -----------------------------------------------------------------------------------

enum { MOST_JOINTS = 64 };

// Names of joints: one, or a list.
static int read_joint_names(carom_plan_reader *p, const carom_node *node, int *joints) {
  int count = 0;
  if (!node) return 0;
  bool list = node->kind == CAROM_NODE_LIST;
  for (const carom_node *item = list ? node->first : node; item && count < MOST_JOINTS;
       item = list ? item->next : NULL) {
    const char *name = NULL;
    if (!carom_read_text(&p->r, item, &name)) continue;
    joints[count] = carom_names_find(&p->joint_names, name);
    if (joints[count] < 0)
      carom_unknown_name(&p->r, item, "joint", &p->joint_names);
    else
      count++;
  }
  return count;
}

void carom_plan_read_events(carom_plan_reader *p, const carom_node *list) {
  static const char *const keys[] = {"node", "catch", "release", NULL};
  slots f;
  EACH(item, list) {
    int caught[MOST_JOINTS], released[MOST_JOINTS], errors = p->r.reporter.list->error_count;
    carom_plan_event_def def = {.node = CAROM_LAST_NODE, .caught = caught, .released = released};
    if (!carom_plan_fields(p, item, keys, "event", f) || !carom_plan_read_node(p, f[0], &def.node)) continue;
    def.caught_count = read_joint_names(p, f[1], caught);
    def.released_count = read_joint_names(p, f[2], released);
    if (p->r.reporter.list->error_count == errors) carom_plan_add_event(p->file->plan, &def);
    carom_plan_check_at(p, item);
  }
}

enum { MOST_SWAPS = 256 };

static int read_swaps(carom_plan_reader *p, const carom_node *list, int (*swap)[2]) {
  int count = 0;
  if (!list || !carom_read_list(&p->r, list, "pairs of bodies")) return 0;
  for (const carom_node *item = list->first; item && count < MOST_SWAPS; item = item->next)
    if (carom_plan_read_bodies(p, item, swap[count])) count++;
  return count;
}

void carom_plan_read_periodic(carom_plan_reader *p, const carom_node *node) {
  static const char *const keys[] = {"swap", "mirror", "shift", "rotation", "reach", NULL};
  static const char *const axes[] = {"x", "y", "z", NULL};
  slots f;
  int swap[MOST_SWAPS][2], errors = p->r.reporter.list->error_count;
  carom_periodic_def def = carom_periodic_default();
  if (!node || !carom_plan_fields(p, node, keys, "periodic", f)) return;
  def.swap_count = read_swaps(p, f[0], swap);
  def.swap = (const int(*)[2])swap;
  if (f[1]) carom_read_choice(&p->r, f[1], axes, &def.mirror);
  carom_plan_read_pose(p, f[2], f[3], &def.map);
  carom_read_vector(&p->r, f[4], CAROM_LENGTH, &def.reach);
  if (p->r.reporter.list->error_count == errors) carom_plan_set_periodic(p->file->plan, &def);
  carom_plan_check_at(p, node);
}

void carom_plan_read_clearances(carom_plan_reader *p, const carom_node *list) {
  static const char *const keys[] = {"body", "point", "normal", "offset", "bump", "from", "until", NULL};
  slots f;
  EACH(item, list) {
    carom_clearance_def def = carom_clearance_default();
    int errors = p->r.reporter.list->error_count;
    if (!carom_plan_fields(p, item, keys, "clearance", f) || !carom_require(&p->r, item, f[0], "body", "clearance"))
      continue;
    def.body = carom_plan_read_body(p, f[0]);
    carom_read_vector(&p->r, f[1], CAROM_LENGTH, &def.point);
    carom_read_vector(&p->r, f[2], CAROM_NUMBER, &def.normal);
    carom_read_number(&p->r, f[3], CAROM_LENGTH, CAROM_ANY, &def.offset);
    carom_read_number(&p->r, f[4], CAROM_LENGTH, CAROM_NOT_NEGATIVE, &def.bump);
    carom_plan_read_node(p, f[5], &def.from);
    carom_plan_read_node(p, f[6], &def.until);
    if (p->r.reporter.list->error_count == errors) carom_plan_add_clearance(p->file->plan, &def);
    carom_plan_check_at(p, item);
  }
}

// ---- contacts and avoidance ----------------------------------------------------------------------------------------

static void read_contact(carom_plan_reader *p, const carom_node *item) {
  static const char *const keys[] = {"node",  "bodies",        "restitution", "friction",
                                     "stick", "friction_mode", "flat",        NULL};
  static const char *const modes[] = {"slide", "stop", "choose", NULL};
  slots f;
  carom_planned_contact_def def = carom_planned_contact_default();
  bool stick = false;
  int mode = 0;
  if (!carom_plan_fields(p, item, keys, "contact", f)) return;
  bool good =
      carom_require(&p->r, item, f[0], "node", "contact") && carom_require(&p->r, item, f[1], "bodies", "contact");
  good = good && carom_plan_read_node(p, f[0], &def.node) && carom_plan_read_bodies(p, f[1], def.body);
  carom_read_number(&p->r, f[2], CAROM_NUMBER, CAROM_NOT_NEGATIVE, &def.restitution);
  carom_read_number(&p->r, f[3], CAROM_NUMBER, CAROM_NOT_NEGATIVE, &def.friction);
  carom_read_bool(&p->r, f[4], &stick);
  carom_read_bool(&p->r, f[6], &def.flat);
  if (carom_read_choice(&p->r, f[5], modes, &mode)) def.friction_mode = (carom_friction_mode)mode;
  def.impact = stick ? CAROM_PLANNED_STICK : CAROM_PLANNED_REFLECT;
  if (good) carom_plan_add_contact(p->file->plan, &def);
  carom_plan_check_at(p, item);
}

// {way: penalty, stiffness: C, pairs: ...}: without pairs it is about those that would be avoided.
static void read_penalty(carom_plan_reader *p, const carom_node *node, const slots f) {
  double stiffness = 0;
  if (!carom_require(&p->r, node, f[2], "stiffness", "contacts") ||
      !carom_read_number(&p->r, f[2], CAROM_STIFFNESS, CAROM_POSITIVE, &stiffness))
    return;
  if (!f[3]) p->penalty = stiffness;
  EACH(item, f[3]) {
    int body[2];
    if (carom_plan_read_bodies(p, item, body)) carom_plan_add_penalty(p->file->plan, body[0], body[1], stiffness);
    carom_plan_check_at(p, item);
  }
}

// A list of contacts, {at_most: n} for a search, or {way: penalty, ...} for a potential.
void carom_plan_read_contacts(carom_plan_reader *p, const carom_node *node) {
  static const char *const keys[] = {"at_most", "way", "stiffness", "pairs", NULL};
  static const char *const ways[] = {"planned", "penalty", NULL};
  slots f;
  int way = 0;
  if (node && node->kind == CAROM_NODE_MAP) {
    if (!carom_plan_fields(p, node, keys, "contacts", f)) return;
    carom_read_choice(&p->r, f[1], ways, &way);
    carom_read_int(&p->r, f[0], 1, 8, &p->file->most_contacts);
    if (way == 1) read_penalty(p, node, f);
    return;
  }
  EACH(item, node) read_contact(p, item);
}

static bool is_penalized(const carom_plan *plan, int a, int b) {
  for (int i = 0; i < plan->penalty_count; i++) {
    const int *body = plan->penalties[i].body;
    if ((body[0] == a && body[1] == b) || (body[0] == b && body[1] == a)) return true;
  }
  return false;
}

// A pair whose contact is a potential may overlap.
static void avoid(carom_plan_reader *p, int a, int b) {
  if (p->penalty > 0)
    carom_plan_add_penalty(p->file->plan, a, b, p->penalty);
  else if (!is_penalized(p->file->plan, a, b))
    carom_plan_add_avoidance(p->file->plan, a, b);
}

static void avoid_all(carom_plan_reader *p) {
  const carom_model *m = p->file->scene->model;
  for (int i = 0; i < m->body_count; i++)
    for (int j = i + 1; j < m->body_count; j++)
      if (!(m->bodies[i].fixed && m->bodies[j].fixed) && m->bodies[i].part_count && m->bodies[j].part_count)
        avoid(p, i, j);
}

void carom_plan_read_avoidance(carom_plan_reader *p, const carom_node *node) {
  static const char *const keys[] = {"pairs", "method", "margin", NULL};
  slots f;
  if (!node || !carom_plan_fields(p, node, keys, "avoid", f)) return;
  if (!f[0] || carom_node_is(f[0], "all")) {
    avoid_all(p);
    return;
  }
  EACH(item, f[0]) {
    int body[2];
    if (carom_plan_read_bodies(p, item, body)) avoid(p, body[0], body[1]);
    carom_plan_check_at(p, item);
  }
}

// ---- the first guess -----------------------------------------------------------------------------------------------

enum { MOST_WAYPOINTS = 200 };

static void read_way(carom_plan_reader *p, const carom_node *item) {
  static const char *const keys[] = {"body", "through", NULL};
  static const char *const point_keys[] = {"time", "position", "rotation", NULL};
  slots f, g;
  double times[MOST_WAYPOINTS];
  carom_pose poses[MOST_WAYPOINTS];
  int count = 0;
  if (!carom_plan_fields(p, item, keys, "way", f) || !carom_require(&p->r, item, f[0], "body", "way")) return;
  int body = carom_plan_read_body(p, f[0]);
  if (body < 0) return;
  // What a point leaves out is as at the point before; the first begins at the start.
  carom_pose pose = carom_state_pose(p->file->scene->model, p->file->scene->state, body);
  EACH(point, f[1]) {
    if (count == MOST_WAYPOINTS || !carom_plan_fields(p, point, point_keys, "waypoint", g)) break;
    times[count] = 0;
    carom_read_number(&p->r, g[0], CAROM_TIME, CAROM_NOT_NEGATIVE, &times[count]);
    carom_plan_read_pose(p, g[1], g[2], &pose);
    poses[count++] = pose;
  }
  if (count) carom_plan_set_waypoints(p->file->plan, body, count, times, poses);
  carom_plan_check_at(p, item);
}

// The answer of an earlier plan, out of its result file.
static void read_answer(carom_plan_reader *p, const carom_node *node) {
  const char *file = NULL;
  carom_error error;
  if (!carom_read_text(&p->r, node, &file)) return;
  if (p->r.options.self_contained || !p->r.options.read_guess) {
    carom_report(&p->r.reporter, node->place, NULL, "answers in other files cannot be begun from here");
    return;
  }
  const char *path = carom_join_path(&p->r.pool, p->r.folder, file);
  if (!path || p->r.doomed) return;
  p->file->guess = carom_copy_text(&p->r.allocator, path);
  if (!p->file->guess) p->r.reporter.out_of_memory = true;
  carom_status status = p->r.options.read_guess(p->file->plan, path, &error);
  if (status == CAROM_ERR_MEMORY) p->r.reporter.out_of_memory = true;
  if (status != CAROM_OK) carom_report(&p->r.reporter, node->place, NULL, "%s", error.message);
}

// One component is a number, three are a vector.
static void read_components(carom_plan_reader *p, const carom_node *node, int count, carom_dimension dimension,
                            double *values) {
  carom_vec3 v = cm_zero3();
  if (count == 1) carom_read_number(&p->r, node, dimension, CAROM_ANY, values);
  if (count != 3 || !carom_read_vector(&p->r, node, dimension, &v)) return;
  values[0] = v.x, values[1] = v.y, values[2] = v.z;
}

// What an actuator does not have may not be given.
static bool check_halves(carom_plan_reader *p, const carom_plan_actuator *u, const carom_node *force, int forces,
                         const carom_node *torque) {
  const carom_node *wrong = force && forces == 0 ? force : torque && u->components == forces ? torque : NULL;
  if (wrong)
    carom_report(&p->r.reporter, wrong->place, NULL, "actuator '%s' has no %s", u->name,
                 wrong == force ? "force" : "torque");
  return !wrong;
}

// The forces of an actuator in a first guess. What a point leaves out is as at the point before; the first begins at 0.
static void read_given(carom_plan_reader *p, const carom_node *item) {
  static const char *const keys[] = {"actuator", "through", NULL};
  static const char *const point_keys[] = {"time", "force", "torque", NULL};
  slots f, g;
  const char *name = NULL;
  double times[MOST_WAYPOINTS], values[6 * MOST_WAYPOINTS], now[6] = {0};
  int count = 0;
  if (!carom_plan_fields(p, item, keys, "forces", f) || !carom_require(&p->r, item, f[0], "actuator", "forces") ||
      !carom_require(&p->r, item, f[1], "through", "forces") || !carom_read_text(&p->r, f[0], &name))
    return;
  int index = carom_names_find(&p->actuator_names, name);
  if (index < 0) {
    carom_unknown_name(&p->r, f[0], "actuator", &p->actuator_names);
    return;
  }
  const carom_plan_actuator *u = &p->file->plan->actuators[index];
  bool wrench = u->def.kind == CAROM_ACTUATOR_WRENCH, thruster = u->def.kind == CAROM_ACTUATOR_THRUSTER;
  int forces = thruster ? 1 : wrench && !u->def.no_force ? 3 : 0;
  EACH(point, f[1]) {
    if (count == MOST_WAYPOINTS || !carom_plan_fields(p, point, point_keys, "point of forces", g)) break;
    if (!check_halves(p, u, g[1], forces, g[2])) return;
    times[count] = 0;
    carom_read_number(&p->r, g[0], CAROM_TIME, CAROM_NOT_NEGATIVE, &times[count]);
    read_components(p, g[1], forces, CAROM_FORCE, now);
    read_components(p, g[2], u->components - forces, CAROM_TORQUE, now + forces);
    memcpy(values + (size_t)count * (size_t)u->components, now, (size_t)u->components * sizeof *now);
    count++;
  }
  carom_plan_set_guess_forces(p->file->plan, index, count, times, values);
  carom_plan_check_at(p, item);
}

void carom_plan_read_guess(carom_plan_reader *p, const carom_node *node) {
  static const char *const keys[] = {"kind", "ways", "forces", "file", NULL};
  static const char *const kinds[] = {"path", "forward", "search", "result", NULL};
  slots f;
  int kind = 0;
  if (!node || !carom_plan_fields(p, node, keys, "guess", f)) return;
  if (carom_read_choice(&p->r, f[0], kinds, &kind)) p->file->options.guess = (carom_guess_kind)kind;
  EACH(item, f[1]) read_way(p, item);
  if (f[2] && kind != CAROM_GUESS_FORWARD)
    carom_report(&p->r.reporter, f[2]->place, "write 'kind: forward'",
                 "'forces' are for a first guess of kind forward");
  EACH(item, f[2]) read_given(p, item);
  bool answer = p->file->options.guess == CAROM_GUESS_MOTION;
  if (answer && carom_require(&p->r, node, f[3], "file", "guess")) read_answer(p, f[3]);
  if (!answer && f[3])
    carom_report(&p->r.reporter, f[3]->place, "write 'kind: result'", "a file to begin from, but the guess is another");
}

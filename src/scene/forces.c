// Gravity, charges, springs, applied forces; electromagnets are in a file of their own.
#include <stdio.h>
#include <string.h>

#include "scene/reader.h"

enum { MOST_CHARGE_SETS = 1000 };

// Forces and joints reach the builder only while body numbers are sure to match.
bool carom_reader_building(const carom_reader *r) {
  return !r->doomed && r->reporter.list->error_count == 0 && !carom_reader_failed(r);
}

// Whatever has been read so far: pins of one solid may name another one that follows.
static bool names_solid(const carom_reader *r, const char *name) {
  const carom_node *list = r->top[KEY_SCENE_SOLIDS];
  if (carom_names_find(&r->solid_names, name) >= 0) return true;
  for (const carom_node *c = list && list->kind == CAROM_NODE_LIST ? list->first : NULL; c; c = c->next) {
    const carom_node *given = c->kind == CAROM_NODE_MAP ? carom_node_find(c, "name", 4) : NULL;
    if (given && carom_node_is(given, name)) return true;
  }
  return false;
}

bool carom_find_body(carom_reader *r, const carom_node *node, int *body) {
  const char *name = NULL;
  if (!carom_read_text(r, node, &name)) return false;
  *body = carom_names_find(&r->body_names, name);
  if (*body < 0 && names_solid(r, name))
    return carom_report(&r->reporter, node->place, "a solid is held by 'pinned' and pressed by 'pressure' of its own",
                        "'%.80s' is a solid that deforms; a rigid body is expected here", name);
  if (*body < 0) carom_unknown_name(r, node, "body", &r->body_names);
  return *body >= 0;
}

// Either a body with a point on it or a point of the world.
typedef struct attachment {
  const carom_node *body, *point, *world;
} attachment;

static bool read_attachment(carom_reader *r, const carom_node *at, attachment given, const char *label, int *body,
                            carom_vec3 *point) {
  *body = CAROM_WORLD;
  *point = cm_zero3();
  if (!carom_one_of(r, at, given.body, given.world, "body and world", label)) return false;
  if (given.world && given.point)
    return carom_report(&r->reporter, given.point->key_at, NULL, "'%s' needs 'body', not 'world'", given.point->key);
  if (given.world) return carom_read_vector(r, given.world, CAROM_LENGTH, point);
  bool good = carom_find_body(r, given.body, body);
  return carom_read_vector(r, given.point, CAROM_LENGTH, point) && good;
}

// ---- gravity -----------------------------------------------------------------------------------------

static void read_gravity(carom_reader *r, const carom_node *node) {
  carom_vec3 g = cm_zero3();
  if (!node) return;
  if (node->kind == CAROM_NODE_LIST) {
    if (!carom_read_vector(r, node, CAROM_ACCELERATION, &g)) return;
  } else {
    double down = 0;
    if (!carom_read_number(r, node, CAROM_ACCELERATION, CAROM_NOT_NEGATIVE, &down)) return;
    g.z = -down;
  }
  carom_builder_set_gravity(r->builder, g);
  carom_check_builder(r, node);
}

// ---- charges -----------------------------------------------------------------------------------------

static const carom_node *force_list(carom_reader *r, int key, const char *what) {
  const carom_node *node = r->top[KEY_SCENE_FORCES];
  const carom_node *list = node && node->kind == CAROM_NODE_MAP
                               ? carom_node_find(node, carom_scene_sections[CAROM_SECTION_FORCES].keys[key],
                                                 strlen(carom_scene_sections[CAROM_SECTION_FORCES].keys[key]))
                               : NULL;
  return list && carom_read_list(r, list, what) ? list->first : NULL;
}

static void read_charge_set(carom_reader *r, const carom_node *node) {
  const carom_node *f[CAROM_MOST_KEYS];
  double constant = 0, softening = 0;
  const char *name = NULL;
  if (!carom_read_fields(r, node, CAROM_SECTION_CHARGE_SET, "charge set", f)) return;
  bool good = carom_require(r, node, f[KEY_CHARGE_SET_CONSTANT], "constant", "charge set");
  good = carom_read_number(r, f[KEY_CHARGE_SET_CONSTANT], CAROM_CHARGE_CONSTANT, CAROM_ANY, &constant) && good;
  good = carom_read_number(r, f[KEY_CHARGE_SET_SOFTENING], CAROM_LENGTH, CAROM_NOT_NEGATIVE, &softening) && good;
  good = carom_read_text(r, f[KEY_CHARGE_SET_NAME], &name) && good;
  if (name && carom_names_find(&r->charge_set_names, name) >= 0)
    carom_report(&r->reporter, f[KEY_CHARGE_SET_NAME]->place, NULL, "two charge sets are named '%.80s'", name);
  else if (name && !carom_names_add(&r->charge_set_names, name, r->charge_set_count))
    r->pool.failed = true;
  if (good && carom_builder_add_charge_set(r->builder, constant, softening) < 0) carom_check_builder(r, node);
}

void carom_read_charge_sets(carom_reader *r) {
  for (const carom_node *c = force_list(r, KEY_FORCES_CHARGES, "charge sets"); c && !carom_reader_failed(r);
       c = c->next) {
    if (r->charge_set_count == MOST_CHARGE_SETS) {
      carom_report(&r->reporter, c->place, NULL, "a scene may have %d charge sets", MOST_CHARGE_SETS);
      return;
    }
    read_charge_set(r, c);
    r->charge_set_count++;
  }
}

static void read_point(carom_reader *r, const carom_node *node, int set) {
  const carom_node *f[CAROM_MOST_KEYS];
  int body;
  carom_vec3 point;
  double charge = 0;
  if (!carom_read_fields(r, node, CAROM_SECTION_POINT, "charged point", f)) return;
  bool good = carom_require(r, node, f[KEY_POINT_CHARGE], "charge", "charged point");
  good = read_attachment(r, node, (attachment){f[KEY_POINT_BODY], f[KEY_POINT_POSITION], f[KEY_POINT_WORLD]},
                         "charged point", &body, &point) &&
         good;
  good = carom_read_number(r, f[KEY_POINT_CHARGE], CAROM_CHARGE, CAROM_ANY, &charge) && good;
  if (good && carom_reader_building(r) && carom_builder_add_charge(r->builder, set, body, point, charge) < 0)
    carom_check_builder(r, node);
}

static void read_points(carom_reader *r) {
  int set = 0;
  for (const carom_node *c = force_list(r, KEY_FORCES_CHARGES, "charge sets"); c; c = c->next, set++) {
    const carom_node *points = c->kind == CAROM_NODE_MAP ? carom_node_find(c, "points", 6) : NULL;
    if (!points || !carom_read_list(r, points, "charged points")) continue;
    for (const carom_node *p = points->first; p && !carom_reader_failed(r); p = p->next) read_point(r, p, set);
  }
}

// ---- springs -----------------------------------------------------------------------------------------

static bool read_end(carom_reader *r, const carom_node *node, int *body, carom_vec3 *point) {
  const carom_node *f[CAROM_MOST_KEYS];
  if (!carom_read_fields(r, node, CAROM_SECTION_END, "spring end", f)) return false;
  return read_attachment(r, node, (attachment){f[KEY_END_BODY], f[KEY_END_POINT], f[KEY_END_WORLD]}, "spring end", body,
                         point);
}

static void read_spring(carom_reader *r, const carom_node *node) {
  const carom_node *f[CAROM_MOST_KEYS];
  carom_spring_def def = carom_spring_default();
  if (!carom_read_fields(r, node, CAROM_SECTION_SPRING, "spring", f)) return;
  bool good = carom_require(r, node, f[KEY_SPRING_FROM], "from", "spring");
  good = carom_require(r, node, f[KEY_SPRING_TO], "to", "spring") && good;
  good = carom_require(r, node, f[KEY_SPRING_STIFFNESS], "stiffness", "spring") && good;
  if (f[KEY_SPRING_FROM]) good = read_end(r, f[KEY_SPRING_FROM], &def.body[0], &def.point[0]) && good;
  if (f[KEY_SPRING_TO]) good = read_end(r, f[KEY_SPRING_TO], &def.body[1], &def.point[1]) && good;
  good = carom_read_number(r, f[KEY_SPRING_STIFFNESS], CAROM_STIFFNESS, CAROM_NOT_NEGATIVE, &def.stiffness) && good;
  good = carom_read_number(r, f[KEY_SPRING_DAMPING], CAROM_DAMPING, CAROM_NOT_NEGATIVE, &def.damping) && good;
  good = carom_read_number(r, f[KEY_SPRING_REST_LENGTH], CAROM_LENGTH, CAROM_NOT_NEGATIVE, &def.rest_length) && good;
  if (good && def.body[0] == def.body[1]) {
    carom_report(&r->reporter, node->place, NULL, "the spring joins %s to itself",
                 def.body[0] == CAROM_WORLD ? "the world" : "a body");
    good = false;
  }
  if (good && carom_reader_building(r) && carom_builder_add_spring(r->builder, &def) < 0) carom_check_builder(r, node);
}

// ---- applied forces ----------------------------------------------------------------------------------

static bool read_knot(carom_reader *r, const carom_node *node, carom_knot *knot) {
  if (node->kind != CAROM_NODE_LIST || node->count != 2)
    return carom_report(&r->reporter, node->place, NULL, "'schedule' expects pairs [time, factor]");
  bool good = carom_read_item(r, node->first, "schedule", CAROM_TIME, CAROM_ANY, &knot->time);
  return carom_read_item(r, node->last, "schedule", CAROM_NUMBER, CAROM_ANY, &knot->factor) && good;
}

bool carom_read_schedule(carom_reader *r, const carom_node *list, const carom_knot **result, int *count) {
  if (!list || carom_node_is_null(list)) return true;
  if (!carom_read_list(r, list, "pairs [time, factor]")) return false;
  carom_knot *knots = CAROM_POOL_ARRAY(&r->pool, carom_knot, list->count);
  if (!knots) return false;
  bool good = true;
  int n = 0;
  for (const carom_node *c = list->first; c && !carom_reader_failed(r); c = c->next, n++) {
    good = read_knot(r, c, &knots[n]) && good;
    if (good && n > 0 && !(knots[n].time > knots[n - 1].time))
      return carom_report(&r->reporter, c->place, NULL, "the times of a schedule must ascend: %g s after %g s",
                          knots[n].time, knots[n - 1].time);
  }
  *result = knots;
  *count = n;
  return good;
}

static void read_applied(carom_reader *r, const carom_node *node) {
  static const char *const axes[] = {"world", "body", NULL};
  const carom_node *f[CAROM_MOST_KEYS];
  carom_force_def def = carom_force_default();
  int in_body = 0;
  if (!carom_read_fields(r, node, CAROM_SECTION_APPLIED, "applied force", f)) return;
  bool good = carom_require(r, node, f[KEY_APPLIED_BODY], "body", "applied force");
  if (!f[KEY_APPLIED_FORCE] && !f[KEY_APPLIED_TORQUE]) {
    carom_report(&r->reporter, node->place, NULL, "applied force needs 'force', 'torque' or both");
    good = false;
  }
  if (f[KEY_APPLIED_BODY]) good = carom_find_body(r, f[KEY_APPLIED_BODY], &def.body) && good;
  good = carom_read_vector(r, f[KEY_APPLIED_POINT], CAROM_LENGTH, &def.point) && good;
  good = carom_read_vector(r, f[KEY_APPLIED_FORCE], CAROM_FORCE, &def.force) && good;
  good = carom_read_vector(r, f[KEY_APPLIED_TORQUE], CAROM_TORQUE, &def.torque) && good;
  good = carom_read_choice(r, f[KEY_APPLIED_AXES], axes, &in_body) && good;
  good = carom_read_schedule(r, f[KEY_APPLIED_SCHEDULE], &def.knots, &def.knot_count) && good;
  good = carom_read_number(r, f[KEY_APPLIED_FREQUENCY], CAROM_FREQUENCY, CAROM_NOT_NEGATIVE, &def.frequency) && good;
  good = carom_read_number(r, f[KEY_APPLIED_PHASE], CAROM_ANGLE, CAROM_ANY, &def.phase) && good;
  def.body_axes = in_body == 1;
  if (good && carom_reader_building(r) && carom_builder_add_force(r->builder, &def) < 0) carom_check_builder(r, node);
}

void carom_read_forces(carom_reader *r) {
  const carom_node *f[CAROM_MOST_KEYS], *node = r->top[KEY_SCENE_FORCES];
  if (!node || !carom_read_fields(r, node, CAROM_SECTION_FORCES, "forces", f)) return;
  read_gravity(r, f[KEY_FORCES_GRAVITY]);
  read_points(r);
  for (const carom_node *c = force_list(r, KEY_FORCES_SPRINGS, "springs"); c && !carom_reader_failed(r); c = c->next)
    read_spring(r, c);
  for (const carom_node *c = force_list(r, KEY_FORCES_APPLIED, "applied forces"); c && !carom_reader_failed(r);
       c = c->next)
    read_applied(r, c);
  carom_read_electromagnets(r, f[KEY_FORCES_ELECTROMAGNETS]);
}

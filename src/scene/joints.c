// Joints, and who touches whom: planar, contacts, surfaces, apart, joints.
#include <stdio.h>
#include <string.h>

#include "scene/reader.h"

// ---- pairs ---------------------------------------------------------------------------------------------------------

static bool is_pair(carom_reader *r, const carom_node *node, const char *label, const char *what) {
  if (node->kind == CAROM_NODE_LIST && node->count == 2) return true;
  return carom_refuse(r, node, NULL, "'%s' expects two %s, [a, b]", label, what);
}

void carom_read_planar(carom_reader *r) {
  if (carom_read_bool(r, r->top[KEY_SCENE_PLANAR], &r->planar)) carom_builder_set_planar(r->builder, r->planar);
}

static void read_contacts(carom_reader *r) {
  static const char *const words[] = {"see", "ignore", NULL};
  int choice = 0;
  if (carom_read_choice(r, r->top[KEY_SCENE_CONTACTS], words, &choice))
    carom_builder_ignore_contacts(r->builder, choice == 1);
}

static bool find_material(carom_reader *r, const carom_node *node, int *material) {
  const char *name = NULL;
  if (!carom_read_text(r, node, &name)) return false;
  *material = carom_names_find(&r->material_names, name);
  if (*material < 0) carom_unknown_name(r, node, "material", &r->material_names);
  return *material >= 0;
}

static void read_surface(carom_reader *r, const carom_node *node) {
  const carom_node *f[CAROM_MOST_KEYS];
  double e = 0, mu = 0;
  int a = -1, b = -1;
  if (!carom_read_fields(r, node, CAROM_SECTION_SURFACE, "surface", f)) return;
  bool good = carom_require(r, node, f[KEY_SURFACE_BETWEEN], "between", "surface");
  good = carom_require(r, node, f[KEY_SURFACE_RESTITUTION], "restitution", "surface") && good;
  good = carom_require(r, node, f[KEY_SURFACE_FRICTION], "friction", "surface") && good;
  if (f[KEY_SURFACE_BETWEEN] && is_pair(r, f[KEY_SURFACE_BETWEEN], "between", "materials")) {
    good = find_material(r, f[KEY_SURFACE_BETWEEN]->first, &a) && good;
    good = find_material(r, f[KEY_SURFACE_BETWEEN]->last, &b) && good;
  } else {
    good = false;
  }
  good = carom_read_number(r, f[KEY_SURFACE_RESTITUTION], CAROM_NUMBER, CAROM_NOT_NEGATIVE, &e) && good;
  good = carom_read_number(r, f[KEY_SURFACE_FRICTION], CAROM_NUMBER, CAROM_NOT_NEGATIVE, &mu) && good;
  if (!good || !carom_reader_building(r)) return;
  carom_builder_set_surface(r->builder, a, b, e, mu);
  carom_check_builder(r, node);
}

static void read_apart(carom_reader *r, const carom_node *node) {
  int a = -1, b = -1;
  if (!is_pair(r, node, "apart", "bodies")) return;
  bool good = carom_find_body(r, node->first, &a);
  good = carom_find_body(r, node->last, &b) && good;
  if (!good || !carom_reader_building(r)) return;
  carom_builder_set_apart(r->builder, a, b);
  carom_check_builder(r, node);
}

static const carom_node *items(carom_reader *r, const carom_node *list, const char *what) {
  return list && carom_read_list(r, list, what) ? list->first : NULL;
}

// ---- free coordinates ----------------------------------------------------------------------------------------------

typedef struct coordinate_units {
  carom_dimension stiffness, damping, position, rate, force;
  int force_key, other_key;  // of the motor
  const char *force_name, *name;
} coordinate_units;

static coordinate_units slide_units(void) {
  return (coordinate_units){CAROM_STIFFNESS, CAROM_DAMPING,    CAROM_LENGTH, CAROM_VELOCITY, CAROM_FORCE,
                            KEY_MOTOR_FORCE, KEY_MOTOR_TORQUE, "force",      "slide"};
}

static coordinate_units turn_units(void) {
  return (coordinate_units){CAROM_TORSION, CAROM_TORSION_DAMPING, CAROM_ANGLE,     CAROM_ANGULAR_VELOCITY,
                            CAROM_TORQUE,  KEY_MOTOR_TORQUE,      KEY_MOTOR_FORCE, "torque",
                            "turn"};
}

static bool read_motor(carom_reader *r, const carom_node *node, const coordinate_units *u, carom_coordinate_def *def) {
  const carom_node *f[CAROM_MOST_KEYS];
  if (!node) return true;
  if (!carom_read_fields(r, node, CAROM_SECTION_MOTOR, "motor", f)) return false;
  if (f[u->other_key])
    return carom_report(&r->reporter, f[u->other_key]->key_at, NULL, "the motor of a %s has '%s', not '%s'", u->name,
                        u->force_name, f[u->other_key]->key);
  const carom_node *value[] = {f[u->force_key], f[KEY_MOTOR_RATE], f[KEY_MOTOR_POSITION]};
  const carom_motor_kind kind[] = {CAROM_MOTOR_FORCE, CAROM_MOTOR_RATE, CAROM_MOTOR_POSITION};
  const carom_dimension dimension[] = {u->force, u->rate, u->position};
  int given = 0;
  bool good = true;
  for (int i = 0; i < 3; i++) {
    if (!value[i]) continue;
    given++;
    def->motor = kind[i];
    good = carom_read_number(r, value[i], dimension[i], CAROM_ANY, &def->motor_value) && good;
  }
  if (given != 1) {
    carom_report(&r->reporter, node->place, NULL, "motor needs exactly one of '%s', 'rate' and 'position'",
                 u->force_name);
    good = false;
  }
  return carom_read_schedule(r, f[KEY_MOTOR_SCHEDULE], &def->knots, &def->knot_count) && good;
}

static bool read_coordinate(carom_reader *r, const carom_node *node, coordinate_units u, carom_coordinate_def *def) {
  const carom_node *f[CAROM_MOST_KEYS];
  if (!node) return true;
  if (!carom_read_fields(r, node, CAROM_SECTION_COORDINATE, u.name, f)) return false;
  bool good = carom_read_number(r, f[KEY_COORDINATE_STIFFNESS], u.stiffness, CAROM_NOT_NEGATIVE, &def->stiffness);
  good = carom_read_number(r, f[KEY_COORDINATE_REST], u.position, CAROM_ANY, &def->rest) && good;
  good = carom_read_number(r, f[KEY_COORDINATE_DAMPING], u.damping, CAROM_NOT_NEGATIVE, &def->damping) && good;
  good = carom_read_number(r, f[KEY_COORDINATE_LOWER], u.position, CAROM_ANY, &def->lower) && good;
  good = carom_read_number(r, f[KEY_COORDINATE_UPPER], u.position, CAROM_ANY, &def->upper) && good;
  good =
      carom_read_number(r, f[KEY_COORDINATE_RESTITUTION], CAROM_NUMBER, CAROM_NOT_NEGATIVE, &def->restitution) && good;
  return read_motor(r, f[KEY_COORDINATE_MOTOR], &u, def) && good;
}

// ---- where a joint is ----------------------------------------------------------------------------------------------

static bool find_body_or_world(carom_reader *r, const carom_node *node, int *body) {
  *body = CAROM_WORLD;
  return carom_node_is(node, "world") || carom_find_body(r, node, body);
}

static bool read_vectors(carom_reader *r, const carom_node *node, const char *label, carom_dimension dimension,
                         carom_vec3 *vectors) {
  if (!node) return true;
  if (!is_pair(r, node, label, "vectors")) return false;
  bool good = carom_read_vector_item(r, node->first, label, dimension, &vectors[0]);
  return carom_read_vector_item(r, node->last, label, dimension, &vectors[1]) && good;
}

// A fixed joint may be anywhere: where body 1 is, unless the scene says otherwise.
static void default_place(const carom_reader *r, const carom_node *const *f, carom_joint_def *def) {
  if (def->kind != CAROM_JOINT_FIXED || f[KEY_JOINT_AT] || f[KEY_JOINT_POINTS] || def->body[1] < 0) return;
  def->at_start = true;
  def->point[0] = r->bodies[def->body[1]].position;
}

static bool read_place(carom_reader *r, const carom_node *const *f, carom_joint_def *def) {
  bool good = carom_exclusive(r, f[KEY_JOINT_AT], f[KEY_JOINT_POINTS], "at and points", "joint");
  good = carom_exclusive(r, f[KEY_JOINT_AXIS], f[KEY_JOINT_AXES], "axis and axes", "joint") && good;
  if (f[KEY_JOINT_AT] && f[KEY_JOINT_AXES]) {
    carom_report(&r->reporter, f[KEY_JOINT_AXES]->key_at, NULL, "'axes' belong to 'points'; with 'at' goes 'axis'");
    good = false;
  }
  if (f[KEY_JOINT_AT] && f[KEY_JOINT_CHAIN]) {
    carom_report(&r->reporter, f[KEY_JOINT_AT]->key_at, NULL, "a chain needs 'points' on its links, not 'at'");
    good = false;
  }
  def->at_start = f[KEY_JOINT_AT] != NULL;
  good = carom_read_vector(r, f[KEY_JOINT_AT], CAROM_LENGTH, &def->point[0]) && good;
  good = carom_read_vector(r, f[KEY_JOINT_AXIS], CAROM_NUMBER, &def->axis[0]) && good;
  good = read_vectors(r, f[KEY_JOINT_POINTS], "points", CAROM_LENGTH, def->point) && good;
  return read_vectors(r, f[KEY_JOINT_AXES], "axes", CAROM_NUMBER, def->axis) && good;
}

// ---- joints --------------------------------------------------------------------------------------------------------

// Copies of a replicated body: name_0, name_1, ... as far as they go.
static int copy_of(const carom_reader *r, const char *name, int n) {
  char copy[200];
  snprintf(copy, sizeof copy, "%.150s_%d", name, n);
  return carom_names_find(&r->body_names, copy);
}

static int chain_links(const carom_reader *r, const carom_node *chain) {
  int n = 0;
  if (chain->kind == CAROM_NODE_SCALAR)
    while (copy_of(r, chain->text, n) >= 0) n++;
  return n;
}

static const carom_node *field_of(const carom_node *node, const char *key) {
  return node->kind == CAROM_NODE_MAP ? carom_node_find(node, key, strlen(key)) : NULL;
}

// How many joints an item of the list makes.
static int joints_of(const carom_reader *r, const carom_node *item) {
  const carom_node *chain = field_of(item, "chain");
  int links = chain ? chain_links(r, chain) : 2;
  return links > 1 ? links - 1 : 0;
}

// Joints are called by name before they are read.
static void number_joints(carom_reader *r, const carom_node *first) {
  int index = 0;
  for (const carom_node *c = first; c; c = c->next) {
    const carom_node *name = field_of(c, "name"), *chain = field_of(c, "chain");
    if (name && name->kind == CAROM_NODE_SCALAR && !chain && !carom_names_add(&r->joint_names, name->text, index))
      r->pool.failed = true;
    index += joints_of(r, c);
  }
}

const carom_node *carom_joint_node(const carom_reader *r, int joint) {
  const carom_node *list = r->top[KEY_SCENE_JOINTS];
  int index = 0;
  for (const carom_node *c = list ? list->first : NULL; c; c = c->next) {
    index += joints_of(r, c);
    if (joint < index) return c;
  }
  return NULL;
}

bool carom_find_joint(carom_reader *r, const carom_node *node, int *joint) {
  const char *name = NULL;
  if (!carom_read_text(r, node, &name)) return false;
  *joint = carom_names_find(&r->joint_names, name);
  if (*joint < 0) carom_unknown_name(r, node, "joint", &r->joint_names);
  return *joint >= 0;
}

static bool read_seat(carom_reader *r, const carom_node *node, carom_seat *seat) {
  const carom_node *f[CAROM_MOST_KEYS];
  if (!node) return true;
  if (!carom_read_fields(r, node, CAROM_SECTION_SEAT, "seated", f)) return false;
  bool good = carom_require(r, node, f[KEY_SEAT_AT], "at", "seated");
  good = carom_require(r, node, f[KEY_SEAT_POSITION], "position", "seated") && good;
  good = carom_read_vector(r, f[KEY_SEAT_AT], CAROM_LENGTH, &seat->pose.p) && good;
  good = carom_read_rotation(r, f[KEY_SEAT_ROTATION], &seat->pose.q) && good;
  good = carom_read_number(r, f[KEY_SEAT_POSITION], CAROM_LENGTH, CAROM_POSITIVE, &seat->position) && good;
  good = carom_read_number(r, f[KEY_SEAT_ANGLE], CAROM_ANGLE, CAROM_POSITIVE, &seat->angle) && good;
  return carom_read_number(r, f[KEY_SEAT_SPEED], CAROM_VELOCITY, CAROM_POSITIVE, &seat->speed) && good;
}

static bool read_flags(carom_reader *r, const carom_node *const *f, carom_joint_def *def) {
  bool good = carom_read_bool(r, f[KEY_JOINT_COLLIDE], &def->collide);
  good = carom_read_bool(r, f[KEY_JOINT_LATCH], &def->latch) && good;
  good = carom_read_bool(r, f[KEY_JOINT_ENGAGED], &def->engaged) && good;
  good = read_seat(r, f[KEY_JOINT_SEATED], &def->seat) && good;
  return (!f[KEY_JOINT_RELEASES] || carom_find_joint(r, f[KEY_JOINT_RELEASES], &def->releases)) && good;
}

static bool read_bodies(carom_reader *r, const carom_node *node, const carom_node *const *f, carom_joint_def *def) {
  const carom_node *between = f[KEY_JOINT_BETWEEN], *chain = f[KEY_JOINT_CHAIN];
  if (!carom_one_of(r, node, between, chain, "between and chain", "joint")) return false;
  if (chain) {
    const char *name = NULL;
    if (!carom_read_text(r, chain, &name)) return false;
    if (chain_links(r, chain) >= 2) return true;
    return carom_report(&r->reporter, chain->place, NULL,
                        "'chain' joins the copies of a replicated body; '%.80s' has not two", name);
  }
  if (!is_pair(r, between, "between", "bodies")) return false;
  bool good = find_body_or_world(r, between->first, &def->body[0]);
  if (carom_node_is(between->last, "world"))
    return carom_report(&r->reporter, between->last->place, NULL, "the world comes first: [world, body]");
  return carom_find_body(r, between->last, &def->body[1]) && good;
}

static void add_chain(carom_reader *r, const carom_node *node, const carom_node *chain, carom_joint_def *def) {
  const char *name = def->name;
  int links = chain_links(r, chain);
  for (int n = 0; n + 1 < links && carom_reader_building(r); n++) {
    char own[200];
    snprintf(own, sizeof own, "%.150s_%d", name ? name : "", n);
    def->name = name ? own : NULL;
    def->body[0] = copy_of(r, chain->text, n);
    def->body[1] = copy_of(r, chain->text, n + 1);
    if (carom_builder_add_joint(r->builder, def) < 0) carom_check_builder(r, node);
  }
}

static void read_joint(carom_reader *r, const carom_node *node) {
  static const char *const kinds[] = {"spherical", "revolute", "prismatic", "cylindrical", "planar",
                                      "screw",     "fixed",    "distance",  NULL};
  const carom_node *f[CAROM_MOST_KEYS];
  carom_joint_def def = carom_joint_default();
  int kind = 0;
  if (!carom_read_fields(r, node, CAROM_SECTION_JOINT, "joint", f)) return;
  bool good = carom_require(r, node, f[KEY_JOINT_KIND], "kind", "joint");
  good = carom_read_text(r, f[KEY_JOINT_NAME], &def.name) && good;
  good = carom_read_choice(r, f[KEY_JOINT_KIND], kinds, &kind) && good;
  def.kind = (carom_joint_kind)kind;
  good = read_bodies(r, node, f, &def) && good;
  good = read_place(r, f, &def) && good;
  good = carom_read_number(r, f[KEY_JOINT_PITCH], CAROM_LENGTH, CAROM_ANY, &def.pitch) && good;
  good = carom_read_number(r, f[KEY_JOINT_LENGTH], CAROM_LENGTH, CAROM_POSITIVE, &def.length) && good;
  good = read_coordinate(r, f[KEY_JOINT_SLIDE], slide_units(), &def.slide) && good;
  good = read_coordinate(r, f[KEY_JOINT_TURN], turn_units(), &def.turn) && good;
  good = read_flags(r, f, &def) && good;
  if (!good || !carom_reader_building(r)) return;
  default_place(r, f, &def);
  if (f[KEY_JOINT_CHAIN])
    add_chain(r, node, f[KEY_JOINT_CHAIN], &def);
  else if (carom_builder_add_joint(r->builder, &def) < 0)
    carom_check_builder(r, node);
}

void carom_read_joints(carom_reader *r) {
  read_contacts(r);
  for (const carom_node *c = items(r, r->top[KEY_SCENE_SURFACES], "surfaces"); c && !carom_reader_failed(r);
       c = c->next)
    read_surface(r, c);
  for (const carom_node *c = items(r, r->top[KEY_SCENE_APART], "pairs of bodies"); c && !carom_reader_failed(r);
       c = c->next)
    read_apart(r, c);
  const carom_node *first = items(r, r->top[KEY_SCENE_JOINTS], "joints");
  number_joints(r, first);
  for (const carom_node *c = first; c && !carom_reader_failed(r); c = c->next) read_joint(r, c);
}

// Bodies: one entry of the list may stand for many copies.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scene/reader.h"

// One entry of the list while it is read.
typedef struct entry {
  const carom_node *node;
  const carom_node *f[CAROM_MOST_KEYS];  // with defaults filled in
  bool own[CAROM_MOST_KEYS];             // not from the defaults
  const char *label;                     // "body 'top'"
  const char *name;
  int first;  // number of its first body
  carom_array array;
  carom_part *parts;  // (part_count) of the copy at hand
  int part_count;
  bool parts_vary;  // from copy to copy
  bool fixed;
} entry;

// ---- defaults ----------------------------------------------------------------------------------------

void carom_read_defaults(carom_reader *r) {
  const carom_node *node = r->top[KEY_SCENE_DEFAULTS], *f[CAROM_MOST_KEYS], *own[CAROM_MOST_KEYS];
  if (!node || !carom_read_fields(r, node, CAROM_SECTION_DEFAULTS, "defaults", f)) return;
  const carom_node *body = f[KEY_DEFAULTS_BODY], *solid = f[KEY_DEFAULTS_SOLID];
  if (body && carom_read_fields(r, body, CAROM_SECTION_BODY, "defaults of bodies", own))
    carom_keep_defaults(r, CAROM_SECTION_BODY, own, r->body_defaults);
  if (solid && carom_read_fields(r, solid, CAROM_SECTION_SOLID, "defaults of solids", own))
    carom_keep_defaults(r, CAROM_SECTION_SOLID, own, r->solid_defaults);
}

static void fill_defaults(const carom_reader *r, entry *e) {
  static const int pairs[][2] = {{KEY_BODY_SHAPE, KEY_BODY_PARTS},
                                 {KEY_BODY_DENSITY, KEY_BODY_MASS},
                                 {KEY_BODY_ANGULAR_VELOCITY, KEY_BODY_ANGULAR_VELOCITY_BODY}};
  carom_fill_defaults(&(carom_defaults){KEYS_IN_BODY, r->body_defaults, pairs, 3}, e->f, e->own);
}

// ---- names -------------------------------------------------------------------------------------------

static bool add_record(carom_reader *r, const entry *e, const char *name) {
  int known = carom_names_find(&r->body_names, name);
  if (known >= 0)
    carom_two_of_a_name(r, e->f[KEY_BODY_NAME] ? e->f[KEY_BODY_NAME] : e->node, r->bodies[known].node, "two bodies",
                        name);
  void *bodies = r->bodies;
  if (!carom_pool_grow(&r->pool, &bodies, r->body_count, &r->body_capacity, sizeof *r->bodies)) return false;
  r->bodies = bodies;
  r->bodies[r->body_count] = (carom_body_record){.node = e->node, .fixed = e->fixed};
  if (carom_names_add(&r->body_names, name, r->body_count++)) return known < 0;
  r->pool.failed = true;
  return false;
}

// Every copy's name is known before any copy is read, so that forces find it even when the body is in error.
static bool register_names(carom_reader *r, entry *e) {
  e->first = r->body_count;
  for (int n = 0; n < (int)e->array.count; n++) {
    const char *name = carom_copy_name(r, &e->array, e->name, n);
    if (!name || !add_record(r, e, name)) return false;
  }
  return true;
}

// ---- parts -------------------------------------------------------------------------------------------

static void release_parts(entry *e) {
  for (int i = 0; i < e->part_count; i++) carom_shape_release(e->parts[i].shape);
  e->part_count = 0;
}

static bool check_halfspace(carom_reader *r, const entry *e, const carom_node *node, const carom_shape *shape) {
  if (e->fixed || carom_shape_get_kind(shape) != CAROM_SHAPE_HALFSPACE) return true;
  return carom_report(&r->reporter, node->place, "add 'fixed: true'", "a half-space has no mass, so %s must be fixed",
                      e->label);
}

// Adds one part; its shape is released with the entry whatever else is wrong with it.
static bool add_part(carom_reader *r, entry *e, const carom_node *shape_node, carom_part part) {
  part.shape = carom_read_shape(r, shape_node);
  if (!part.shape) return false;
  e->parts[e->part_count++] = part;
  return check_halfspace(r, e, shape_node, part.shape);
}

// All shapes of a port, each at its place in the port's frame, which is that of the part.
static bool add_port(carom_reader *r, entry *e, const carom_node *node, carom_part part) {
  carom_port port;
  if (!carom_read_port(r, node, &port)) return false;
  carom_pose frame = part.pose;
  for (int i = 0; i < port.count; i++) {
    part.shape = carom_shape_retain(port.shapes[i]);
    part.pose.p = cm_transform(frame, port.places[i]);
    e->parts[e->part_count++] = part;
  }
  carom_port_release(&port);
  return true;
}

static bool read_part(carom_reader *r, entry *e, const carom_node *node) {
  const carom_node *f[CAROM_MOST_KEYS];
  char label[130];
  snprintf(label, sizeof label, "part of %s", e->label);
  if (!carom_read_fields(r, node, CAROM_SECTION_PART, label, f)) return false;
  carom_part part = {.pose = cm_pose_identity()};
  const carom_node *shape = f[KEY_PART_SHAPE], *port = f[KEY_PART_PORT];
  bool good = carom_one_of(r, node, shape, port, "shape and port", label);
  good = carom_read_vector(r, f[KEY_PART_POSITION], CAROM_LENGTH, &part.pose.p) && good;
  good = carom_read_rotation(r, f[KEY_PART_ROTATION], &part.pose.q) && good;
  good = carom_read_number(r, f[KEY_PART_DENSITY], CAROM_DENSITY, CAROM_POSITIVE, &part.density) && good;
  if (shape) return add_part(r, e, shape, part) && good;
  return port && add_port(r, e, port, part) && good;
}

static bool read_part_list(carom_reader *r, entry *e) {
  bool good = true;
  for (const carom_node *c = e->f[KEY_BODY_PARTS]->first; c && !carom_reader_failed(r); c = c->next)
    good = read_part(r, e, c) && good;
  return good;
}

static bool read_parts(carom_reader *r, entry *e) {
  release_parts(e);
  r->indices.used = false;
  bool good = true;
  if (e->f[KEY_BODY_SHAPE])
    good = add_part(r, e, e->f[KEY_BODY_SHAPE], (carom_part){.pose = cm_pose_identity()});
  else if (e->f[KEY_BODY_PARTS])
    good = read_part_list(r, e);
  e->parts_vary = r->indices.used;
  return good;
}

static int64_t items_of(const carom_node *list) { return list ? list->count : 0; }

// Room for the parts of a body: a port may have many.
static int64_t most_parts(const entry *e) {
  const carom_node *list = e->f[KEY_BODY_PARTS];
  int64_t count = e->f[KEY_BODY_SHAPE] ? 1 : items_of(list);
  for (const carom_node *c = list ? list->first : NULL; c; c = c->next)
    if (c->kind == CAROM_NODE_MAP && carom_node_find(c, "port", 4)) count += CAROM_PORT_SHAPES - 1;
  return count;
}

static bool reserve_parts(carom_reader *r, entry *e) {
  const carom_node *list = e->f[KEY_BODY_PARTS], *charges = e->f[KEY_BODY_CHARGES], *magnets = e->f[KEY_BODY_MAGNETS];
  if (e->own[KEY_BODY_SHAPE] && e->own[KEY_BODY_PARTS])
    return carom_exclusive(r, e->f[KEY_BODY_SHAPE], list, "shape and parts", e->label);
  if (!carom_read_list(r, list, "parts") || !carom_read_list(r, charges, "charges") ||
      !carom_read_list(r, magnets, "magnets"))
    return false;
  int64_t count = most_parts(e);
  r->pieces_left -= (count + items_of(charges) + 2 * items_of(magnets)) * (int64_t)e->array.count;
  if (r->pieces_left < 0)
    return carom_report(&r->reporter, e->node->place, NULL, "the bodies have too many parts and charges");
  e->parts = CAROM_POOL_ARRAY(&r->pool, carom_part, count);
  return e->parts != NULL;
}

// ---- mass --------------------------------------------------------------------------------------------

static bool read_inertia_matrix(carom_reader *r, const carom_node *node, carom_mat3 *J) {
  int i = 0;
  for (const carom_node *row = node->first; row; row = row->next, i++)
    if (!carom_read_numbers(r, row, "inertia", CAROM_INERTIA, 3, J->m[i])) return false;
  double scale = fabs(J->m[0][0]) + fabs(J->m[1][1]) + fabs(J->m[2][2]);
  double skew = fabs(J->m[0][1] - J->m[1][0]) + fabs(J->m[0][2] - J->m[2][0]) + fabs(J->m[1][2] - J->m[2][1]);
  if (!(skew <= 1e-9 * scale))
    return carom_report(&r->reporter, node->place, NULL, "the inertia matrix is not symmetric");
  return true;
}

// [xx, yy, zz], [xx, yy, zz, xy, xz, yz] or three rows.
static bool read_inertia(carom_reader *r, const carom_node *node, carom_mat3 *J) {
  if (node->kind == CAROM_NODE_LIST && node->count == 3 && node->first->kind == CAROM_NODE_LIST)
    return read_inertia_matrix(r, node, J);
  if (node->kind != CAROM_NODE_LIST || (node->count != 3 && node->count != 6))
    return carom_report(&r->reporter, node->place, NULL, "'inertia' expects 3 numbers, 6 numbers or 3 rows of 3");
  double v[6] = {0};
  if (!carom_read_numbers(r, node, "inertia", CAROM_INERTIA, node->count, v)) return false;
  *J = (carom_mat3){{{v[0], v[3], v[4]}, {v[3], v[1], v[5]}, {v[4], v[5], v[2]}}};
  return true;
}

static bool read_mass(carom_reader *r, const entry *e, carom_body_def *def) {
  const carom_node *inertia = e->f[KEY_BODY_INERTIA], *center = e->f[KEY_BODY_CENTER];
  bool good = carom_read_number(r, e->f[KEY_BODY_DENSITY], CAROM_DENSITY, CAROM_POSITIVE, &def->density);
  good = carom_read_number(r, e->f[KEY_BODY_MASS], CAROM_MASS, CAROM_POSITIVE, &def->mass) && good;
  if (e->own[KEY_BODY_DENSITY] && e->own[KEY_BODY_MASS])
    good = carom_exclusive(r, e->f[KEY_BODY_DENSITY], e->f[KEY_BODY_MASS], "density and mass", e->label);
  if (inertia && !e->f[KEY_BODY_MASS]) {
    carom_report(&r->reporter, inertia->place, NULL, "'inertia' of %s needs 'mass' beside it", e->label);
    good = false;
  }
  if (center && !inertia) {
    carom_report(&r->reporter, center->place, NULL, "'center' of %s needs 'inertia' beside it", e->label);
    good = false;
  }
  def->has_inertia = inertia != NULL;
  good = (!inertia || read_inertia(r, inertia, &def->inertia)) && good;
  return carom_read_vector(r, center, CAROM_LENGTH, &def->center) && good;
}

// ---- motion ------------------------------------------------------------------------------------------

static bool check_fixed(carom_reader *r, const entry *e) {
  static const int keys[] = {KEY_BODY_VELOCITY, KEY_BODY_ANGULAR_VELOCITY, KEY_BODY_ANGULAR_VELOCITY_BODY};
  bool good = true;
  for (int i = 0; i < 3; i++) {
    if (!e->own[keys[i]]) continue;
    carom_report(&r->reporter, e->f[keys[i]]->key_at, NULL, "%s is fixed and cannot have a velocity", e->label);
    good = false;
  }
  return good;
}

static bool read_velocities(carom_reader *r, const entry *e, carom_body_def *def) {
  const carom_node *spin = e->f[KEY_BODY_ANGULAR_VELOCITY], *body_spin = e->f[KEY_BODY_ANGULAR_VELOCITY_BODY];
  if (e->fixed) return check_fixed(r, e);
  if (e->own[KEY_BODY_ANGULAR_VELOCITY] && e->own[KEY_BODY_ANGULAR_VELOCITY_BODY])
    return carom_exclusive(r, spin, body_spin, "angular_velocity and angular_velocity_body", e->label);
  bool good = carom_read_vector(r, e->f[KEY_BODY_VELOCITY], CAROM_VELOCITY, &def->velocity);
  carom_vec3 w = cm_zero3();
  good = carom_read_vector(r, spin ? spin : body_spin, CAROM_ANGULAR_VELOCITY, &w) && good;
  def->angular_velocity = spin ? w : cm_rotate(def->pose.q, w);
  return good;
}

static bool read_material(carom_reader *r, const entry *e, int *material) {
  int index = *material;
  if (!carom_read_material_name(r, e->f[KEY_BODY_MATERIAL], &index)) return false;
  *material = r->doomed ? 0 : index;
  return true;
}

// ---- charges on a body -------------------------------------------------------------------------------

static bool read_charge(carom_reader *r, const entry *e, const carom_node *node, int body) {
  const carom_node *f[CAROM_MOST_KEYS];
  char label[130];
  snprintf(label, sizeof label, "charge of %s", e->label);
  if (!carom_read_fields(r, node, CAROM_SECTION_CHARGE, label, f)) return false;
  bool good = carom_require(r, node, f[KEY_CHARGE_CHARGE], "charge", label);
  carom_vec3 point = cm_zero3();
  double charge = 0;
  good = carom_read_vector(r, f[KEY_CHARGE_POSITION], CAROM_LENGTH, &point) && good;
  good = carom_read_number(r, f[KEY_CHARGE_CHARGE], CAROM_CHARGE, CAROM_ANY, &charge) && good;
  int set = carom_find_charge_set(r, node, f[KEY_CHARGE_SET]);
  if (!good || set < 0) return false;
  if (body >= 0 && carom_builder_add_charge(r->builder, set, body, point, charge) < 0) carom_check_builder(r, node);
  return true;
}

static bool read_charges(carom_reader *r, const entry *e, int body) {
  bool good = true;
  const carom_node *list = e->f[KEY_BODY_CHARGES];
  for (const carom_node *c = list ? list->first : NULL; c && !carom_reader_failed(r); c = c->next)
    good = read_charge(r, e, c, body) && good;
  return good;
}

// ---- one copy ----------------------------------------------------------------------------------------

static bool read_definition(carom_reader *r, entry *e, int n, carom_body_def *def) {
  bool good = carom_read_copy_pose(r, e->f[KEY_BODY_POSITION], e->f[KEY_BODY_ROTATION], &e->array, n, &def->pose);
  if (n == 0 || e->parts_vary) good = read_parts(r, e) && good;
  def->parts = e->parts;
  def->part_count = e->part_count;
  good = read_mass(r, e, def) && good;
  good = read_velocities(r, e, def) && good;
  good = read_material(r, e, &def->material) && good;
  return carom_read_color(r, e->f[KEY_BODY_COLOR], &def->color) && good;
}

static bool read_copy(carom_reader *r, entry *e, int n) {
  carom_body_def def = carom_body_default();
  carom_array_set_indices(r, &e->array, n);
  def.name = carom_copy_name(r, &e->array, e->name, n);
  def.fixed = e->fixed;
  if (!def.name) return false;
  int body = -1;
  if (read_definition(r, e, n, &def)) {
    r->bodies[e->first + n].position = def.pose.p;
    body = carom_builder_add_body(r->builder, &def);
    if (body < 0) carom_check_builder(r, e->f[KEY_BODY_INERTIA] ? e->f[KEY_BODY_INERTIA] : e->node);
  }
  bool good = read_charges(r, e, body);
  bool lies = !e->fixed || e->own[KEY_BODY_SUPPORT];  // a default is for those that move
  good = carom_read_support(r, lies ? e->f[KEY_BODY_SUPPORT] : NULL, e->label, body) && good;
  return carom_read_magnets(r, e->f[KEY_BODY_MAGNETS], e->label, body) && good && body >= 0;
}

// ---- one entry ---------------------------------------------------------------------------------------

// The radius about the origin of the body's frame that holds all parts.
static double reach(const entry *e) {
  double radius = 0;
  for (int i = 0; i < e->part_count; i++)
    radius = fmax(radius, cm_norm(e->parts[i].pose.p) + carom_shape_bounding_radius(e->parts[i].shape));
  return radius;
}

static bool place_cloud(carom_reader *r, entry *e) {
  int count = (int)e->array.count;
  carom_cloud_sphere *bodies = CAROM_POOL_ARRAY(&r->pool, carom_cloud_sphere, count);
  if (!bodies) return false;
  int64_t vertices = r->vertices_left;  // the shapes are made again when the copies are read
  for (int n = 0; n < count && !carom_reader_failed(r); n++) {
    carom_array_set_indices(r, &e->array, n);
    if ((n == 0 || e->parts_vary) && !read_parts(r, e)) return false;
    if (!carom_read_vector(r, e->f[KEY_BODY_POSITION], CAROM_LENGTH, &bodies[n].center)) return false;
    bodies[n].radius = reach(e);
    if (!isfinite(bodies[n].radius))
      return carom_report(&r->reporter, e->array.node->place, NULL, "a half-space cannot be part of a cloud");
  }
  r->vertices_left = vertices;
  return carom_place_cloud(r, &e->array, bodies);
}

static void read_copies(carom_reader *r, entry *e) {
  if (e->array.kind == CAROM_CLOUD && !place_cloud(r, e)) {
    if (!carom_reader_failed(r)) read_copy(r, e, 0);  // for its other mistakes
    return;
  }
  // One copy in error is enough: the others have the same mistake.
  for (int n = 0; n < (int)e->array.count && !carom_reader_failed(r); n++)
    if (!carom_may_go_on(r, e->node, &e->array, n) || !read_copy(r, e, n)) return;
}

// False when reading on makes no sense: too many bodies.
static bool read_entry(carom_reader *r, const carom_node *node, int number) {
  carom_entry_name name = {.what = "body", .number = number, .fallback = r->body_count, .name = ""};
  bool named = carom_read_entry_name(r, node, &name);
  entry e = {.node = node, .name = name.name, .label = name.label};
  if (!carom_read_fields(r, node, CAROM_SECTION_BODY, e.label, e.f)) return true;
  fill_defaults(r, &e);
  r->indices.active = false;
  bool good = carom_read_array(r, e.f[KEY_BODY_REPLICATE], &e.array);
  if (good && !carom_check_copy_count(r, node, &e.array, r->body_count, "bodies")) return false;
  good = carom_read_bool(r, e.f[KEY_BODY_FIXED], &e.fixed) && good;
  if (!good) e.array = (carom_array){.kind = CAROM_ONCE, .n = {1, 1, 1}, .count = 1};
  good = named && register_names(r, &e) && reserve_parts(r, &e) && good;
  // With a broken array or name the rest is still read once, for its own mistakes.
  if (good)
    read_copies(r, &e);
  else if (named && e.parts && e.first < r->body_count && !carom_reader_failed(r))
    read_copy(r, &e, 0);
  release_parts(&e);
  r->indices.active = false;
  return true;
}

void carom_read_bodies(carom_reader *r) {
  const carom_node *list = r->top[KEY_SCENE_BODIES];
  if (!carom_read_list(r, list, "bodies") || !list) return;
  int number = 0;
  for (const carom_node *c = list->first; c && !carom_reader_failed(r); c = c->next)
    if (!read_entry(r, c, number++)) break;
}

// Docking ports: {cup: {...}}, {cone: {...}}, {mount: {...}}.
#include "scene/reader.h"

// One port while it is read: the value behind its kind.
typedef struct request {
  carom_reader *r;
  const carom_node *node;
  carom_section section;
  const carom_node *f[CAROM_MOST_KEYS];
  bool good;
} request;

static request begin(carom_reader *r, const carom_node *node, carom_section section) {
  request q = {.r = r, .node = node, .section = section};
  q.good = carom_read_fields(r, node, section, node->key, q.f);
  return q;
}

static void need(request *q, int key) {
  const char *name = carom_scene_sections[q->section].keys[key];
  if (q->good) q->good = carom_require(q->r, q->node, q->f[key], name, q->node->key);
}

// What is out of range, the geometry tells: with all that it knows.
static void length(request *q, int key, double *value) {
  q->good = carom_read_number(q->r, q->f[key], CAROM_LENGTH, CAROM_NOT_NEGATIVE, value) && q->good;
}

static void angle(request *q, int key, double *value) {
  q->good = carom_read_number(q->r, q->f[key], CAROM_ANGLE, CAROM_ANY, value) && q->good;
}

// What only spatial ports have.
static void spatial(request *q, int key, double height) {
  if (!q->good || !q->f[key] || !(height > 0)) return;
  carom_report(&q->r->reporter, q->f[key]->key_at, "leave out one of the two",
               "'%s' is of spatial ports; a %s with 'height' is planar", q->f[key]->key, q->node->key);
  q->good = false;
}

static void sides(request *q, int key, double height, int *value) {
  q->good = carom_read_int(q->r, q->f[key], 3, CAROM_PORT_MOST_SIDES, value) && q->good;
  spatial(q, key, height);
}

// ---- kinds -------------------------------------------------------------------------------------------

static bool accept(request *q, carom_status status, const carom_error *error) {
  if (status == CAROM_OK) return true;
  if (status == CAROM_ERR_MEMORY)
    q->r->pool.failed = true;
  else
    carom_report(&q->r->reporter, q->node->place, NULL, "%s", error->message);
  return false;
}

static bool read_cup(carom_reader *r, const carom_node *node, carom_port *port) {
  request q = begin(r, node, CAROM_SECTION_CUP);
  carom_cup_def def = carom_cup_default();
  need(&q, KEY_CUP_DEPTH);
  need(&q, KEY_CUP_MOUTH);
  need(&q, KEY_CUP_WALL);
  length(&q, KEY_CUP_DEPTH, &def.depth);
  length(&q, KEY_CUP_MOUTH, &def.mouth);
  length(&q, KEY_CUP_BASE, &def.base);
  length(&q, KEY_CUP_WALL, &def.wall);
  length(&q, KEY_CUP_FLOOR, &def.floor);
  length(&q, KEY_CUP_HEIGHT, &def.height);
  sides(&q, KEY_CUP_SIDES, def.height, &def.sides);
  carom_error error;
  return q.good && accept(&q, carom_port_init_cup(&def, &r->allocator, port, &error), &error);
}

static bool read_cone(carom_reader *r, const carom_node *node, carom_port *port) {
  request q = begin(r, node, CAROM_SECTION_DOCKING_CONE);
  carom_cone_def def = carom_cone_default();
  need(&q, KEY_DOCKING_CONE_HALF_ANGLE);
  need(&q, KEY_DOCKING_CONE_LENGTH);
  need(&q, KEY_DOCKING_CONE_TIP);
  angle(&q, KEY_DOCKING_CONE_HALF_ANGLE, &def.half_angle);
  length(&q, KEY_DOCKING_CONE_LENGTH, &def.length);
  length(&q, KEY_DOCKING_CONE_TIP, &def.tip);
  length(&q, KEY_DOCKING_CONE_STEM, &def.stem);
  length(&q, KEY_DOCKING_CONE_NOSE, &def.nose);
  length(&q, KEY_DOCKING_CONE_HEIGHT, &def.height);
  length(&q, KEY_DOCKING_CONE_SPREAD, &def.spread);
  spatial(&q, KEY_DOCKING_CONE_SPREAD, def.height);
  q.good = carom_read_int(r, q.f[KEY_DOCKING_CONE_BALLS], 2, 3, &def.balls) && q.good;
  spatial(&q, KEY_DOCKING_CONE_BALLS, def.height);
  sides(&q, KEY_DOCKING_CONE_SIDES, def.height, &def.sides);
  carom_error error;
  return q.good && accept(&q, carom_port_init_cone(&def, &r->allocator, port, &error), &error);
}

static bool read_mount(carom_reader *r, const carom_node *node, carom_port *port) {
  static const int grooves[] = {KEY_MOUNT_SPREAD, KEY_MOUNT_LENGTH, KEY_MOUNT_STOP};
  request q = begin(r, node, CAROM_SECTION_MOUNT);
  carom_mount_def def = carom_mount_default();
  need(&q, KEY_MOUNT_NOSE);
  length(&q, KEY_MOUNT_NOSE, &def.nose);
  length(&q, KEY_MOUNT_SPREAD, &def.spread);
  angle(&q, KEY_MOUNT_ANGLE, &def.angle);
  length(&q, KEY_MOUNT_SEAT, &def.seat);
  length(&q, KEY_MOUNT_WIDTH, &def.width);
  length(&q, KEY_MOUNT_LENGTH, &def.length);
  length(&q, KEY_MOUNT_STOP, &def.stop);
  length(&q, KEY_MOUNT_HEIGHT, &def.height);
  for (int i = 0; i < 3; i++) spatial(&q, grooves[i], def.height);
  carom_error error;
  return q.good && accept(&q, carom_port_init_mount(&def, &r->allocator, port, &error), &error);
}

// ---- a port ------------------------------------------------------------------------------------------

static bool in_budget(carom_reader *r, const carom_node *node, carom_port *port) {
  bool good = true;
  for (int i = 0; i < port->count && good; i++) good = carom_shape_in_budget(r, node, port->shapes[i]);
  if (!good) carom_port_release(port);
  return good;
}

bool carom_read_port(carom_reader *r, const carom_node *node, carom_port *port) {
  static bool (*const readers[KEYS_IN_PORT])(carom_reader *, const carom_node *, carom_port *) = {
      [KEY_PORT_CUP] = read_cup, [KEY_PORT_CONE] = read_cone, [KEY_PORT_MOUNT] = read_mount};
  const carom_node *f[CAROM_MOST_KEYS];
  int kind = -1, count = 0;
  if (!carom_read_fields(r, node, CAROM_SECTION_PORT, "port", f)) return false;
  for (int i = 0; i < KEYS_IN_PORT; i++)
    if (f[i]) kind = i, count++;
  if (count != 1) {
    if (count > 1 || node->count == 0)  // otherwise the unknown key was reported
      carom_report(&r->reporter, node->place, NULL, "a port is exactly one of 'cup', 'cone' and 'mount', got %d",
                   count);
    return false;
  }
  return readers[kind](r, f[kind], port) && in_budget(r, node, port);
}

// What flows of grains need beside bodies: boundaries, driven bodies, recirculation.
#include "scene/reader.h"

static const double HALF_TURN = 3.14159265358979323846;

static const carom_node *list_of(carom_reader *r, int key, const char *what) {
  const carom_node *node = r->top[key];
  return node && carom_read_list(r, node, what) ? node->first : NULL;
}

// ---- boundaries -----------------------------------------------------------------------------------------

static bool read_profile(carom_reader *r, const carom_node *list, carom_boundary_def *def) {
  if (!carom_read_list(r, list, "pairs [rho, z]")) return false;
  double(*points)[2] = (double(*)[2])CAROM_POOL_ARRAY(&r->pool, double, 2 * list->count);
  if (!points) return false;
  bool good = true;
  int n = 0;
  for (const carom_node *c = list->first; c; c = c->next, n++)
    good = carom_read_numbers(r, c, "profile", CAROM_LENGTH, 2, points[n]) && good;
  def->kind = CAROM_BOUNDARY_REVOLUTION;
  def->profile = (const double(*)[2])points;
  def->profile_count = n;
  return good;
}

// The rotation that takes z to the normal.
static bool read_plane(carom_reader *r, const carom_node *node, carom_boundary_def *def) {
  carom_vec3 n = cm_vec3(0, 0, 1), z = n;
  if (!carom_read_vector(r, node, CAROM_NUMBER, &n)) return false;
  double size = cm_norm(n);
  if (!(size > 1e-150 && size < 1e150))
    return carom_report(&r->reporter, node->place, NULL, "the normal of a plane must not be zero");
  n = cm_scale(1 / size, n);
  carom_vec3 turn = cm_cross(z, n);
  carom_quat q = cm_norm(turn) > 1e-12 ? cm_axis_angle(turn, atan2(cm_norm(turn), n.z))
                                       : cm_axis_angle(cm_vec3(1, 0, 0), n.z < 0 ? HALF_TURN : 0);
  def->pose.q = cm_qmul(def->pose.q, q);
  return true;
}

static void add(carom_reader *r, const carom_node *node, const carom_boundary_def *def) {
  if (carom_reader_building(r) && carom_builder_add_boundary(r->builder, def) < 0) carom_check_builder(r, node);
}

// An open box: a floor at its position and four walls around it.
static void add_box(carom_reader *r, const carom_node *node, const carom_boundary_def *def, carom_vec3 size) {
  carom_boundary_def wall = *def;
  add(r, node, def);
  for (int i = 0; i < 4; i++) {
    double angle = 0.5 * HALF_TURN * i, half = 0.5 * (i % 2 ? size.y : size.x);
    carom_vec3 inward = cm_vec3(cos(angle), sin(angle), 0);
    wall.pose.p = cm_transform(def->pose, cm_scale(-half, inward));
    wall.pose.q = cm_qmul(def->pose.q, cm_axis_angle(cm_cross(cm_vec3(0, 0, 1), inward), 0.5 * HALF_TURN));
    add(r, node, &wall);
  }
}

static bool find_material(carom_reader *r, const carom_node *node, int *material) {
  const char *name = NULL;
  if (!node) return true;
  if (!carom_read_text(r, node, &name)) return false;
  int found = carom_names_find(&r->material_names, name);
  if (found < 0)
    carom_unknown_name(r, node, "material", &r->material_names);
  else
    *material = found;
  return found >= 0;
}

static void read_boundary(carom_reader *r, const carom_node *node) {
  const carom_node *f[CAROM_MOST_KEYS];
  carom_boundary_def def = carom_boundary_default();
  if (!carom_read_fields(r, node, CAROM_SECTION_BOUNDARY, "boundary", f)) return;
  const carom_node *plane = f[KEY_BOUNDARY_PLANE], *box = f[KEY_BOUNDARY_BOX], *profile = f[KEY_BOUNDARY_PROFILE];
  if (!plane + !box + !profile != 2) {
    carom_report(&r->reporter, node->place, NULL, "a boundary needs exactly one of plane, box, profile");
    return;
  }
  carom_vec3 size = cm_zero3();
  bool good = carom_read_text(r, f[KEY_BOUNDARY_NAME], &def.name);
  good = carom_read_vector(r, f[KEY_BOUNDARY_POSITION], CAROM_LENGTH, &def.pose.p) && good;
  good = carom_read_rotation(r, f[KEY_BOUNDARY_ROTATION], &def.pose.q) && good;
  good = find_material(r, f[KEY_BOUNDARY_MATERIAL], &def.material) && good;
  if (f[KEY_BOUNDARY_BODY]) good = carom_find_body(r, f[KEY_BOUNDARY_BODY], &def.body) && good;
  if (plane) good = read_plane(r, plane, &def) && good;
  if (box) good = carom_read_vector(r, box, CAROM_LENGTH, &size) && good;
  if (profile) good = read_profile(r, profile, &def) && good;
  if (good && box && !(size.x > 0 && size.y > 0)) {
    carom_report(&r->reporter, box->place, NULL, "the sides of a box must be positive");
    return;
  }
  if (!good) return;
  if (box)
    add_box(r, node, &def, size);
  else
    add(r, node, &def);
}

// ---- drives -----------------------------------------------------------------------------------------------

static void read_drive(carom_reader *r, const carom_node *node) {
  const carom_node *f[CAROM_MOST_KEYS];
  carom_drive_def def = carom_drive_default();
  if (!carom_read_fields(r, node, CAROM_SECTION_DRIVE, "drive", f)) return;
  bool good = carom_require(r, node, f[KEY_DRIVE_BODY], "body", "drive");
  if (f[KEY_DRIVE_BODY]) good = carom_find_body(r, f[KEY_DRIVE_BODY], &def.body) && good;
  good = carom_read_vector(r, f[KEY_DRIVE_VELOCITY], CAROM_VELOCITY, &def.velocity) && good;
  good = carom_read_vector(r, f[KEY_DRIVE_AXIS], CAROM_NUMBER, &def.axis) && good;
  good = carom_read_vector(r, f[KEY_DRIVE_POINT], CAROM_LENGTH, &def.point) && good;
  good =
      carom_read_number(r, f[KEY_DRIVE_ANGULAR_VELOCITY], CAROM_ANGULAR_VELOCITY, CAROM_ANY, &def.angular_velocity) &&
      good;
  good = carom_read_vector(r, f[KEY_DRIVE_AMPLITUDE], CAROM_LENGTH, &def.amplitude) && good;
  good = carom_read_number(r, f[KEY_DRIVE_FREQUENCY], CAROM_FREQUENCY, CAROM_NOT_NEGATIVE, &def.frequency) && good;
  good = carom_read_number(r, f[KEY_DRIVE_PHASE], CAROM_ANGLE, CAROM_ANY, &def.phase) && good;
  good = carom_read_schedule(r, f[KEY_DRIVE_SCHEDULE], &def.knots, &def.knot_count) && good;
  if (good && carom_reader_building(r) && carom_builder_add_drive(r->builder, &def) < 0) carom_check_builder(r, node);
}

// ---- recirculation ------------------------------------------------------------------------------------------

static bool read_region(carom_reader *r, const carom_node *at, const carom_node *node, const char *label,
                        carom_vec3 *low, carom_vec3 *high) {
  const carom_node *f[CAROM_MOST_KEYS];
  if (!carom_require(r, at, node, label, "recirculation")) return false;
  if (!carom_read_fields(r, node, CAROM_SECTION_REGION, label, f)) return false;
  bool good = carom_require(r, node, f[KEY_REGION_MIN], "min", label);
  good = carom_require(r, node, f[KEY_REGION_MAX], "max", label) && good;
  good = carom_read_vector(r, f[KEY_REGION_MIN], CAROM_LENGTH, low) && good;
  return carom_read_vector(r, f[KEY_REGION_MAX], CAROM_LENGTH, high) && good;
}

static void read_recirculation(carom_reader *r, const carom_node *node) {
  const carom_node *f[CAROM_MOST_KEYS];
  carom_recirculation_def def = carom_recirculation_default();
  if (!carom_read_fields(r, node, CAROM_SECTION_RECIRCULATION, "recirculation", f)) return;
  def.seed = r->seed + 1;
  bool good = read_region(r, node, f[KEY_RECIRCULATION_OUTLET], "outlet", &def.outlet_low, &def.outlet_high);
  good = read_region(r, node, f[KEY_RECIRCULATION_INLET], "inlet", &def.inlet_low, &def.inlet_high) && good;
  good = carom_read_vector(r, f[KEY_RECIRCULATION_VELOCITY], CAROM_VELOCITY, &def.velocity) && good;
  if (good && carom_reader_building(r) && carom_builder_add_recirculation(r->builder, &def) < 0)
    carom_check_builder(r, node);
}

void carom_read_granular(carom_reader *r) {
  const carom_node *c;
  for (c = list_of(r, KEY_SCENE_BOUNDARIES, "boundaries"); c && !carom_reader_failed(r); c = c->next)
    read_boundary(r, c);
  for (c = list_of(r, KEY_SCENE_DRIVES, "drives"); c && !carom_reader_failed(r); c = c->next) read_drive(r, c);
  for (c = list_of(r, KEY_SCENE_RECIRCULATION, "recirculation"); c && !carom_reader_failed(r); c = c->next)
    read_recirculation(r, c);
}

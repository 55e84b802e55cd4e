// Arrays of bodies: how many copies, their indices, and where each goes.
#include "scene/reader.h"

static bool read_counts(carom_reader *r, const carom_node *node, carom_array *a) {
  double most = (double)r->options.max_bodies;
  if (node->kind != CAROM_NODE_LIST)
    return carom_report(&r->reporter, node->place, NULL, "'count' of a grid expects three numbers");
  if (!carom_read_numbers(r, node, "count", CAROM_NUMBER, 3, a->n)) return false;
  a->count = 1;
  for (int i = 0; i < 3; i++) {
    if (a->n[i] != floor(a->n[i]) || a->n[i] < 1 || a->n[i] > most)
      return carom_report(&r->reporter, node->place, NULL, "'count' must be whole numbers from 1 to %.0f, got %.12g",
                          most, a->n[i]);
    a->count *= a->n[i];
  }
  return true;
}

static bool read_count(carom_reader *r, const carom_node *node, carom_array *a) {
  double most = (double)r->options.max_bodies;
  if (!carom_read_integer(r, node, 1, most, &a->count)) return false;
  a->n[0] = a->count;
  return true;
}

static bool read_grid(carom_reader *r, const carom_node *node, carom_array *a) {
  const carom_node *f[CAROM_MOST_KEYS];
  if (!carom_read_fields(r, node, CAROM_SECTION_GRID, "grid", f)) return false;
  bool good = carom_require(r, node, f[KEY_GRID_COUNT], "count", "grid");
  good = carom_require(r, node, f[KEY_GRID_SPACING], "spacing", "grid") && good;
  if (!good || !read_counts(r, f[KEY_GRID_COUNT], a)) return false;
  if (f[KEY_GRID_SPACING]->kind == CAROM_NODE_LIST)
    return carom_read_vector(r, f[KEY_GRID_SPACING], CAROM_LENGTH, &a->spacing);
  double s = 0;
  good = carom_read_number(r, f[KEY_GRID_SPACING], CAROM_LENGTH, CAROM_ANY, &s);
  a->spacing = cm_vec3(s, s, s);
  return good;
}

static bool read_ring(carom_reader *r, const carom_node *node, carom_array *a) {
  const carom_node *f[CAROM_MOST_KEYS];
  if (!carom_read_fields(r, node, CAROM_SECTION_RING, "ring", f)) return false;
  bool good = carom_require(r, node, f[KEY_RING_COUNT], "count", "ring");
  good = carom_require(r, node, f[KEY_RING_RADIUS], "radius", "ring") && good;
  good = read_count(r, f[KEY_RING_COUNT], a) && good;
  good = carom_read_number(r, f[KEY_RING_RADIUS], CAROM_LENGTH, CAROM_NOT_NEGATIVE, &a->radius) && good;
  good = carom_read_vector(r, f[KEY_RING_AXIS], CAROM_NUMBER, &a->axis) && good;
  good = carom_read_bool(r, f[KEY_RING_FACE], &a->face) && good;
  double n = cm_norm(a->axis);
  if (good && !(n > 1e-150 && n < 1e150))
    return carom_report(&r->reporter, f[KEY_RING_AXIS]->place, NULL, "the axis of a ring must not be zero");
  a->axis = cm_unit(a->axis);
  return good;
}

static bool read_stack(carom_reader *r, const carom_node *node, carom_array *a) {
  const carom_node *f[CAROM_MOST_KEYS];
  if (!carom_read_fields(r, node, CAROM_SECTION_STACK, "stack", f)) return false;
  bool good = carom_require(r, node, f[KEY_STACK_COUNT], "count", "stack");
  good = carom_require(r, node, f[KEY_STACK_SPACING], "spacing", "stack") && good;
  good = read_count(r, f[KEY_STACK_COUNT], a) && good;
  if (!good) return false;
  if (f[KEY_STACK_SPACING]->kind == CAROM_NODE_LIST)
    return carom_read_vector(r, f[KEY_STACK_SPACING], CAROM_LENGTH, &a->spacing);
  return carom_read_number(r, f[KEY_STACK_SPACING], CAROM_LENGTH, CAROM_ANY, &a->spacing.z);
}

static bool read_cloud(carom_reader *r, const carom_node *node, carom_array *a) {
  const carom_node *f[CAROM_MOST_KEYS];
  if (!carom_read_fields(r, node, CAROM_SECTION_CLOUD, "cloud", f)) return false;
  bool good = carom_require(r, node, f[KEY_CLOUD_COUNT], "count", "cloud");
  good = carom_require(r, node, f[KEY_CLOUD_MIN], "min", "cloud") && good;
  good = carom_require(r, node, f[KEY_CLOUD_MAX], "max", "cloud") && good;
  good = read_count(r, f[KEY_CLOUD_COUNT], a) && good;
  good = carom_read_vector(r, f[KEY_CLOUD_MIN], CAROM_LENGTH, &a->low) && good;
  good = carom_read_vector(r, f[KEY_CLOUD_MAX], CAROM_LENGTH, &a->high) && good;
  good = carom_read_number(r, f[KEY_CLOUD_CLEARANCE], CAROM_LENGTH, CAROM_NOT_NEGATIVE, &a->clearance) && good;
  good = carom_read_bool(r, f[KEY_CLOUD_ROTATE], &a->rotate) && good;
  if (good && !(a->low.x <= a->high.x && a->low.y <= a->high.y && a->low.z <= a->high.z))
    return carom_report(&r->reporter, f[KEY_CLOUD_MAX]->place, NULL, "'max' of the cloud lies below its 'min'");
  return good;
}

bool carom_read_array(carom_reader *r, const carom_node *node, carom_array *a) {
  *a = (carom_array){.kind = CAROM_ONCE, .node = node, .n = {1, 1, 1}, .count = 1, .axis = {0, 0, 1}};
  if (!node) return true;
  const carom_node *f[CAROM_MOST_KEYS];
  if (!carom_read_fields(r, node, CAROM_SECTION_REPLICATE, "replicate", f)) return false;
  int given = -1, forms = 0;
  for (int i = 0; i < KEYS_IN_REPLICATE; i++) {
    if (!f[i]) continue;
    given = i;
    forms++;
  }
  if (forms != 1)
    return carom_report(&r->reporter, node->place, NULL,
                        "'replicate' needs exactly one of count, grid, ring, stack, cloud, circles");
  static const struct {
    carom_array_kind kind;
    bool (*read)(carom_reader *r, const carom_node *node, carom_array *a);
  } arrays[] = {
      [KEY_REPLICATE_COUNT] = {CAROM_COUNT, read_count}, [KEY_REPLICATE_GRID] = {CAROM_GRID, read_grid},
      [KEY_REPLICATE_RING] = {CAROM_RING, read_ring},    [KEY_REPLICATE_STACK] = {CAROM_STACK, read_stack},
      [KEY_REPLICATE_CLOUD] = {CAROM_CLOUD, read_cloud}, [KEY_REPLICATE_CIRCLES] = {CAROM_CIRCLES, carom_read_circles}};
  a->kind = arrays[given].kind;
  return arrays[given].read(r, f[given], a);
}

// Copy n has the grid indices i (fastest), j, k.
static void split_index(const carom_array *a, int n, double *i, double *j, double *k) {
  int nx = (int)a->n[0], ny = (int)a->n[1];
  int row = n / nx, layer = row / ny;
  *i = n % nx;
  *j = row % ny;
  *k = layer;
}

void carom_array_set_indices(carom_reader *r, const carom_array *a, int n) {
  r->indices = (carom_indices){.active = a->kind != CAROM_ONCE, .n = n, .count = a->count};
  if (a->kind == CAROM_GRID)
    split_index(a, n, &r->indices.i, &r->indices.j, &r->indices.k);
  else
    r->indices.i = n;
}

// The ring begins on +x when its axis is z, and otherwise on +x turned with the axis the short way from z.
static carom_pose ring_pose(const carom_array *a, int n) {
  carom_vec3 u = cm_vec3(1, 0, 0), z = cm_vec3(0, 0, 1);
  carom_vec3 turn = cm_cross(z, a->axis);
  double angle = atan2(cm_norm(turn), cm_dot(z, a->axis));
  if (cm_norm(turn) > 0) u = cm_rotate(cm_axis_angle(turn, angle), u);
  carom_quat q = cm_axis_angle(a->axis, 2 * 3.14159265358979323846 * n / a->count);
  return cm_pose(cm_scale(a->radius, cm_rotate(q, u)), a->face ? q : cm_qidentity());
}

carom_pose carom_array_pose(const carom_array *a, int n) {
  if (a->kind == CAROM_CLOUD && a->placed) return a->placed[n];
  if (a->kind == CAROM_RING) return ring_pose(a, n);
  if (a->kind == CAROM_CIRCLES) return carom_circles_pose(a, n);
  carom_vec3 p = cm_zero3();
  if (a->kind == CAROM_STACK) p = cm_scale(n, a->spacing);
  if (a->kind == CAROM_GRID) {
    double i, j, k;
    split_index(a, n, &i, &j, &k);
    p = cm_vec3((i - (a->n[0] - 1) / 2) * a->spacing.x, (j - (a->n[1] - 1) / 2) * a->spacing.y,
                (k - (a->n[2] - 1) / 2) * a->spacing.z);
  }
  return cm_pose(p, cm_qidentity());
}

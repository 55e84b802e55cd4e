// Supports: what bodies without inertia lie on.
#include <stdio.h>

#include "scene/reader.h"

enum { POINTS_MAX = 64 };

// ---- points ---------------------------------------------------------------------------------------------------------

static bool read_point(carom_reader *r, const carom_node *node, const char *body_label, carom_support_point *point) {
  const carom_node *f[CAROM_MOST_KEYS];
  char label[150];
  snprintf(label, sizeof label, "point of the support of %s", body_label);
  if (!carom_read_fields(r, node, CAROM_SECTION_SUPPORT_POINT, label, f)) return false;
  bool good = carom_require(r, node, f[KEY_SUPPORT_POINT_AT], "at", label);
  good = carom_require(r, node, f[KEY_SUPPORT_POINT_DAMPING], "damping", label) && good;
  good = (!f[KEY_SUPPORT_POINT_AT] || carom_read_place(r, f[KEY_SUPPORT_POINT_AT], "at", &point->position)) && good;
  return carom_read_number(r, f[KEY_SUPPORT_POINT_DAMPING], CAROM_DAMPING, CAROM_NOT_NEGATIVE, &point->damping) && good;
}

static bool read_points(carom_reader *r, const carom_node *list, const char *label, carom_support_point *points,
                        int *count) {
  bool good = true;
  *count = 0;
  if (!list || !carom_read_list(r, list, "points")) return !list;
  if (list->count < 1 || list->count > POINTS_MAX)
    return carom_report(&r->reporter, list->place, NULL, "a support has 1 to %d points", POINTS_MAX);
  for (const carom_node *c = list->first; c; c = c->next) good = read_point(r, c, label, &points[(*count)++]) && good;
  return good;
}

// ---- matrices -------------------------------------------------------------------------------------------------------

// Entries have units of their own: velocities come first, angular velocities last. A dry one is in the square of
// forces.
static carom_dimension entry_of(bool dry, int turns) {
  static const carom_dimension damping[] = {{0, 1, -1, 0, 0}, {1, 1, -1, -1, 0}, {2, 1, -1, -1, 0}};
  static const carom_dimension square[] = {{2, 2, -4, 0, 0}, {3, 2, -4, 0, 0}, {4, 2, -4, 0, 0}};
  return dry ? square[turns] : damping[turns];
}

static bool read_row(carom_reader *r, const carom_node *row, bool dry, int i, int size, double *values) {
  char label[40];
  int linear = size == 3 ? 2 : 3, j = 0;
  snprintf(label, sizeof label, "row %d of the matrix", i);
  if (row->kind != CAROM_NODE_LIST || row->count != size)
    return carom_refuse(r, row, NULL, "%s expects %d numbers", label, size);
  bool good = true;
  for (const carom_node *c = row->first; c; c = c->next, j++)
    good = carom_read_item(r, c, label, entry_of(dry, (i >= linear) + (j >= linear)), CAROM_ANY, &values[j]) && good;
  return good;
}

static bool read_matrix(carom_reader *r, const carom_node *node, bool dry, double *values, int *size) {
  bool good = true;
  int i = 0;
  if (node->kind != CAROM_NODE_LIST || (node->count != 3 && node->count != 6))
    return carom_refuse(r, node, "for vx, vy and wz", "'%s' expects 3 rows of 3 numbers, or 6 of 6", node->key);
  *size = node->count;
  for (const carom_node *row = node->first; row; row = row->next, i++)
    good = read_row(r, row, dry, i, *size, values + (size_t)i * (size_t)*size) && good;
  return good;
}

// ---- the support ----------------------------------------------------------------------------------------------------

// What is said tells the kind; the builder tells what does not go together.
static bool read_strength(carom_reader *r, const carom_node *const *f, carom_support_def *def) {
  const carom_node *force = f[KEY_SUPPORT_FORCE], *torque = f[KEY_SUPPORT_TORQUE];
  if (force || torque || f[KEY_SUPPORT_MATRIX]) def->kind = CAROM_SUPPORT_DRY;
  bool good = carom_read_number(r, force, CAROM_FORCE, CAROM_POSITIVE, &def->force);
  return carom_read_number(r, torque, CAROM_TORQUE, CAROM_POSITIVE, &def->torque) && good;
}

static bool read_damping(carom_reader *r, const carom_node *node, carom_support_def *def, double *matrix) {
  if (!node || node->kind != CAROM_NODE_LIST)
    return carom_read_number(r, node, CAROM_DAMPING, CAROM_POSITIVE, &def->damping);
  def->matrix = matrix;
  return read_matrix(r, node, false, matrix, &def->size);
}

static bool check_ways(carom_reader *r, const carom_node *node, const carom_node *const *f, const char *label) {
  const carom_node *dry = f[KEY_SUPPORT_FORCE] ? f[KEY_SUPPORT_FORCE] : f[KEY_SUPPORT_TORQUE];
  int ways = (f[KEY_SUPPORT_DAMPING] != NULL) + (f[KEY_SUPPORT_POINTS] != NULL) + (f[KEY_SUPPORT_MATRIX] != NULL) +
             (dry != NULL);
  if (ways == 1) return true;
  return carom_report(&r->reporter, node->place, NULL,
                      "%s needs one of damping, points, matrix, and force with torque; it has %s", label,
                      ways ? "several" : "none");
}

bool carom_read_support(carom_reader *r, const carom_node *node, const char *body_label, int body) {
  const carom_node *f[CAROM_MOST_KEYS];
  char label[130];
  double matrix[36];
  carom_support_point points[POINTS_MAX] = {0};
  carom_support_def def = carom_support_default();
  if (!node) return true;
  snprintf(label, sizeof label, "support of %s", body_label);
  if (!carom_read_fields(r, node, CAROM_SECTION_SUPPORT, label, f) || !check_ways(r, node, f, label)) return false;
  bool good = read_strength(r, f, &def);
  good = read_damping(r, f[KEY_SUPPORT_DAMPING], &def, matrix) && good;
  good = read_points(r, f[KEY_SUPPORT_POINTS], body_label, points, &def.point_count) && good;
  if (f[KEY_SUPPORT_MATRIX]) {
    def.matrix = matrix;
    good = read_matrix(r, f[KEY_SUPPORT_MATRIX], true, matrix, &def.size) && good;
  }
  if (f[KEY_SUPPORT_POINTS]) def.points = points;
  def.body = body;
  if (good && body >= 0 && carom_builder_add_support(r->builder, &def) < 0) carom_check_builder(r, node);
  return good;
}

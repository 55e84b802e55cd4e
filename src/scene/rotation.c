// The four ways to write a rotation.
#include "scene/reader.h"

static bool read_axis_angle(carom_reader *r, const carom_node *node, const carom_node **f, carom_quat *q) {
  carom_vec3 axis = cm_vec3(0, 0, 1);
  double angle = 0;
  if (!carom_require(r, node, f[KEY_ROTATION_AXIS], "axis", "rotation")) return false;
  if (!carom_require(r, node, f[KEY_ROTATION_ANGLE], "angle", "rotation")) return false;
  bool good = carom_read_vector(r, f[KEY_ROTATION_AXIS], CAROM_NUMBER, &axis);
  good = carom_read_number(r, f[KEY_ROTATION_ANGLE], CAROM_ANGLE, CAROM_ANY, &angle) && good;
  double n = cm_norm(axis);
  if (good && !(n > 1e-150 && n < 1e150))
    return carom_report(&r->reporter, f[KEY_ROTATION_AXIS]->place, NULL, "the axis of a rotation must not be zero");
  if (good) *q = cm_axis_angle(axis, angle);
  return good;
}

static bool read_quaternion(carom_reader *r, const carom_node *node, carom_quat *q) {
  double v[4];
  if (!carom_read_numbers(r, node, node->key, CAROM_NUMBER, 4, v)) return false;
  carom_quat given = cm_quat(v[0], v[1], v[2], v[3]);
  double n = cm_qdot(given, given);
  if (!(n > 1e-24 && n < 1e24))
    return carom_report(&r->reporter, node->place, "[w, x, y, z], any length but 0", "the quaternion must not be zero");
  *q = cm_qunit(given);
  return true;
}

// Intrinsic x, then y, then z: R = Rx Ry Rz.
static bool read_euler(carom_reader *r, const carom_node *node, carom_quat *q) {
  carom_vec3 a;
  if (!carom_read_vector(r, node, CAROM_ANGLE, &a)) return false;
  carom_quat x = cm_axis_angle(cm_vec3(1, 0, 0), a.x), y = cm_axis_angle(cm_vec3(0, 1, 0), a.y);
  *q = cm_qmul(cm_qmul(x, y), cm_axis_angle(cm_vec3(0, 0, 1), a.z));
  return true;
}

static bool read_matrix(carom_reader *r, const carom_node *node, carom_quat *q) {
  if (node->kind != CAROM_NODE_LIST || node->count != 3)
    return carom_report(&r->reporter, node->place, NULL, "'matrix' expects three rows of three numbers");
  carom_mat3 R;
  int i = 0;
  for (const carom_node *row = node->first; row; row = row->next, i++)
    if (!carom_read_numbers(r, row, "matrix", CAROM_NUMBER, 3, R.m[i])) return false;
  carom_mat3 E = cm_msub(cm_mmul(cm_transpose(R), R), cm_identity3());
  double error = 0;
  for (i = 0; i < 9; i++) error = fmax(error, fabs(E.m[i / 3][i % 3]));
  if (!(error <= 1e-6) || cm_det(R) < 0)
    return carom_report(&r->reporter, node->place, NULL, "'matrix' is no rotation: %s",
                        error <= 1e-6 ? "it mirrors" : "its rows are not orthonormal to 1e-6");
  *q = cm_qunit(cm_quat_of(R));
  return true;
}

bool carom_read_rotation(carom_reader *r, const carom_node *node, carom_quat *q) {
  const carom_node *f[CAROM_MOST_KEYS];
  if (!node) return true;
  if (!carom_read_fields(r, node, CAROM_SECTION_ROTATION, "rotation", f)) return false;
  int forms = (f[KEY_ROTATION_AXIS] || f[KEY_ROTATION_ANGLE]) + (f[KEY_ROTATION_QUATERNION] != NULL) +
              (f[KEY_ROTATION_EULER] != NULL) + (f[KEY_ROTATION_MATRIX] != NULL);
  if (forms != 1)
    return carom_report(&r->reporter, node->place, NULL,
                        "a rotation needs exactly one of axis and angle, quaternion, euler, matrix");
  if (f[KEY_ROTATION_QUATERNION]) return read_quaternion(r, f[KEY_ROTATION_QUATERNION], q);
  if (f[KEY_ROTATION_EULER]) return read_euler(r, f[KEY_ROTATION_EULER], q);
  if (f[KEY_ROTATION_MATRIX]) return read_matrix(r, f[KEY_ROTATION_MATRIX], q);
  return read_axis_angle(r, node, f, q);
}

#include "result/joints.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "result/file.h"

const char *const carom_joint_kind_names[CAROM_JOINT_KIND_COUNT] = {
    "spherical", "revolute", "prismatic", "cylindrical", "planar", "screw", "fixed", "distance", "spring"};

// ---- writing -------------------------------------------------------------------------------------------------------

// The model's frames are principal; files speak of the user's.
static carom_pose in_user_frame(const carom_model *model, int body, carom_pose principal) {
  if (body == CAROM_WORLD) return principal;
  carom_pose pose = cm_compose(cm_pose_inverse(model->bodies[body].frame), principal);
  pose.q = cm_qunit(pose.q);
  return pose;
}

static carom_result_joint of_joint(const carom_model *model, const carom_joint *joint) {
  carom_result_joint row = {.name = joint->name, .kind = (int)joint->kind, .latch = joint->latch && !joint->engaged};
  for (int i = 0; i < 2; i++) {
    row.body[i] = joint->body[i];
    row.frame[i] = in_user_frame(model, joint->body[i], joint->frame[i]);
  }
  return row;
}

static carom_result_joint of_spring(const carom_model *model, const carom_spring *spring) {
  carom_result_joint row = {.name = "", .kind = CAROM_RESULT_SPRING};
  for (int i = 0; i < 2; i++) {
    row.body[i] = spring->body[i];
    row.frame[i] = in_user_frame(model, spring->body[i], cm_pose(spring->point[i], cm_qidentity()));
  }
  return row;
}

static const char *joint_name(const void *rows, int i) { return ((const carom_result_joint *)rows)[i].name; }
static const char *kind_name(const void *rows, int i) {
  return carom_joint_kind_names[((const carom_result_joint *)rows)[i].kind];
}

static void write_frames(carom_h5_file *file, const carom_result_joint *rows, size_t count) {
  carom_vec3 *position = CAROM_NEW(&file->allocator, carom_vec3, 2 * count);
  carom_quat *orientation = CAROM_NEW(&file->allocator, carom_quat, 2 * count);
  if (position && orientation) {
    for (size_t i = 0; i < 2 * count; i++) {
      position[i] = rows[i / 2].frame[i % 2].p;
      orientation[i] = rows[i / 2].frame[i % 2].q;
    }
    carom_result_write_doubles(file, CAROM_FIELD_JOINT_POSITION, 3, count, 2, 3, &position->x);
    carom_result_write_doubles(file, CAROM_FIELD_JOINT_ORIENTATION, 3, count, 2, 4, &orientation->w);
  } else {
    carom_h5_fail_memory(file, "/joints");
  }
  carom_release(&file->allocator, position);
  carom_release(&file->allocator, orientation);
}

static void write_numbers(carom_h5_file *file, const carom_result_joint *rows, size_t count) {
  int *block = CAROM_NEW(&file->allocator, int, 3 * count), *latch = block + 2 * count;
  if (!block) {
    carom_h5_fail_memory(file, "/joints");
    return;
  }
  for (size_t i = 0; i < count; i++) {
    memcpy(block + 2 * i, rows[i].body, sizeof rows[i].body);
    latch[i] = rows[i].latch;
  }
  carom_result_write_pairs(file, CAROM_FIELD_JOINT_BODY, count, block);
  carom_h5_array array = carom_result_array(CAROM_FIELD_JOINT_LATCH, H5T_STD_U8LE, H5T_NATIVE_INT, 1, count, 0, 0);
  carom_h5_write(file, &array, latch);
  carom_release(&file->allocator, block);
}

static void write_rows(carom_h5_file *file, const carom_result_joint *rows, int count) {
  carom_result_write_texts(file, CAROM_FIELD_JOINT_NAME, count, joint_name, rows);
  carom_result_write_texts(file, CAROM_FIELD_JOINT_KIND, count, kind_name, rows);
  write_numbers(file, rows, (size_t)count);
  write_frames(file, rows, (size_t)count);
}

void carom_result_write_joints(carom_h5_file *file, const carom_model *model, const carom_head_extra *extra) {
  int more = extra ? extra->joint_count : 0, count = 0;
  if (model->joint_count + model->spring_count + more == 0) return;
  carom_result_joint *rows =
      CAROM_NEW(&file->allocator, carom_result_joint, model->joint_count + model->spring_count + more);
  if (!rows) {
    carom_h5_fail_memory(file, "/joints");
    return;
  }
  for (int i = 0; i < model->joint_count; i++) rows[count++] = of_joint(model, &model->joints[i]);
  for (int i = 0; i < model->spring_count; i++) rows[count++] = of_spring(model, &model->springs[i]);
  for (int i = 0; i < more; i++) rows[count++] = extra->joints[i];
  write_rows(file, rows, count);
  carom_release(&file->allocator, rows);
}

// ---- reading -------------------------------------------------------------------------------------------------------

typedef struct joint_columns {
  char *kinds;
  size_t name_stride, kind_stride;
  int *body, *latch;
  double *position, *orientation;
} joint_columns;

static int kind_of(const char *text) {
  for (int k = 0; k < CAROM_JOINT_KIND_COUNT; k++)
    if (strcmp(text, carom_joint_kind_names[k]) == 0) return k;
  return -1;
}

static bool fill_joint(const joint_columns *c, size_t i, int body_count, carom_result_joint *joint) {
  joint->kind = kind_of(c->kinds + c->kind_stride * i);
  joint->latch = c->latch[i] != 0;
  bool sound = joint->kind >= 0;
  for (size_t k = 0; k < 2; k++) {
    joint->body[k] = c->body[2 * i + k];
    memcpy(&joint->frame[k].p, c->position + 3 * (2 * i + k), sizeof joint->frame[k].p);
    memcpy(&joint->frame[k].q, c->orientation + 4 * (2 * i + k), sizeof joint->frame[k].q);
    sound = sound && joint->body[k] >= CAROM_WORLD && joint->body[k] < body_count;
    for (int n = 0; n < 7; n++) sound = sound && isfinite((&joint->frame[k].p.x)[n]);
  }
  return sound;
}

static void fill_joints(carom_h5_file *file, carom_result *result, const joint_columns *c, size_t count) {
  result->joints = CAROM_NEW(&file->allocator, carom_result_joint, count);
  if (!result->joints) {
    carom_h5_fail_memory(file, "/joints");
    return;
  }
  for (size_t i = 0; i < count; i++) {
    result->joints[i].name = result->file->joint_names + c->name_stride * i;
    if (!fill_joint(c, i, result->body_count, &result->joints[i])) {
      carom_h5_fail_format(file, "/joints", "has a joint of unknown kind, of no body or in no place");
      return;
    }
  }
  result->joint_count = (int)count;
}

void carom_result_read_joints(carom_h5_file *file, carom_result *result) {
  if (!carom_h5_has(file, "/joints")) return;  // none, or an older file
  const carom_result_field *f = carom_result_fields;
  hsize_t count = CAROM_H5_ANY;
  joint_columns c = {0};
  result->file->joint_names = carom_h5_read_texts(file, f[CAROM_FIELD_JOINT_NAME].path, &count, &c.name_stride);
  c.kinds = carom_h5_read_texts(file, f[CAROM_FIELD_JOINT_KIND].path, &count, &c.kind_stride);
  hsize_t pairs[2] = {count, 2}, points[3] = {count, 2, 3}, turns[3] = {count, 2, 4};
  c.body = carom_h5_read(file, f[CAROM_FIELD_JOINT_BODY].path, H5T_NATIVE_INT, sizeof(int), 2, pairs);
  c.latch = carom_h5_read(file, f[CAROM_FIELD_JOINT_LATCH].path, H5T_NATIVE_INT, sizeof(int), 1, &count);
  c.position = carom_h5_read(file, f[CAROM_FIELD_JOINT_POSITION].path, H5T_NATIVE_DOUBLE, sizeof(double), 3, points);
  c.orientation =
      carom_h5_read(file, f[CAROM_FIELD_JOINT_ORIENTATION].path, H5T_NATIVE_DOUBLE, sizeof(double), 3, turns);
  if (file->status == CAROM_OK) fill_joints(file, result, &c, count);
  void *blocks[] = {c.kinds, c.body, c.latch, c.position, c.orientation};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) carom_release(&file->allocator, blocks[i]);
}

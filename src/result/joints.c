#include "result/joints.h"

#include <math.h>

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

static const carom_column joint_columns[] = {
    CAROM_COLUMN(JOINT_NAME, TEXT, carom_result_joint, name, .rank = 1),
    CAROM_COLUMN(JOINT_KIND, WORD, carom_result_joint, kind, .rank = 1, .n1 = 1, .n2 = CAROM_JOINT_KIND_COUNT,
                 .words = carom_joint_kind_names),
    CAROM_COLUMN(JOINT_BODY, INT, carom_result_joint, body, .rank = 2, .n1 = 2),
    CAROM_COLUMN(JOINT_LATCH, FLAG, carom_result_joint, latch, .rank = 1),
    CAROM_COLUMN(JOINT_POSITION, DOUBLE, carom_result_joint, frame[0].p, .rank = 3, .n1 = 2, .n2 = 3,
                 .step = sizeof(carom_pose)),
    CAROM_COLUMN(JOINT_ORIENTATION, DOUBLE, carom_result_joint, frame[0].q, .rank = 3, .n1 = 2, .n2 = 4,
                 .step = sizeof(carom_pose)),
};
static const carom_table joint_table = CAROM_TABLE(joint_columns, carom_result_joint);

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
  carom_table_write(file, &joint_table, rows, (size_t)count);
  carom_release(&file->allocator, rows);
}

// ---- reading -------------------------------------------------------------------------------------------------------

static bool is_sound(const carom_result_joint *joint, int body_count) {
  bool sound = joint->kind >= 0;
  for (size_t k = 0; k < 2; k++) {
    sound = sound && joint->body[k] >= CAROM_WORLD && joint->body[k] < body_count;
    for (int n = 0; n < 7; n++) sound = sound && isfinite((&joint->frame[k].p.x)[n]);
  }
  return sound;
}

void carom_result_read_joints(carom_h5_file *file, carom_result *result) {
  if (!carom_h5_has(file, "/joints")) return;  // none, or an older file
  result->joints = carom_table_read(file, &joint_table, &result->joint_count, &result->file->joint_names);
  for (int i = 0; i < result->joint_count; i++)
    if (!is_sound(&result->joints[i], result->body_count))
      carom_h5_fail_format(file, "/joints", "has a joint of unknown kind, of no body or in no place");
}

// The head of a result file: everything but the frames.
#include "result/recorder_head.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "result/channels.h"
#include "result/joints.h"
#include "result/layout.h"
#include "result/shape_set.h"
#include "result/solids.h"

static const char *or_empty(const char *text) { return text ? text : ""; }

carom_h5_array carom_result_array(carom_result_field_id id, hid_t file_type, hid_t memory_type, int rank,
                                  const hsize_t size[3]) {
  const carom_result_field *field = &carom_result_fields[id];
  carom_h5_array array = {field->path,
                          field->unit,
                          field->description,
                          file_type,
                          memory_type,
                          rank,
                          {size[0], size[1], size[2]},
                          {0, 0, 0},
                          false,
                          NULL,
                          false};
  return array;
}

// ---- attributes ----------------------------------------------------------------------------------------------------

static void write_time_of_creation(carom_h5_file *file) {
  char text[32];
  time_t now = time(NULL);
  struct tm utc;
  gmtime_r(&now, &utc);
  strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  carom_h5_write_text_attribute(file, file->id, "created", text);
}

static void write_camera(carom_h5_file *file, const carom_camera *camera) {
  if (!camera->given) return;
  carom_h5_write_attribute(file, "camera_position", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 3, &camera->position);
  carom_h5_write_attribute(file, "camera_target", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 3, &camera->target);
}

static void write_root(carom_h5_file *file, const carom_scene *scene, const carom_recorder_options *options) {
  int version = CAROM_RESULT_VERSION;
  carom_h5_write_text_attribute(file, file->id, "format", CAROM_RESULT_FORMAT);
  carom_h5_write_attribute(file, "format_version", H5T_STD_I32LE, H5T_NATIVE_INT, 0, &version);
  carom_h5_write_text_attribute(file, file->id, "title", or_empty(scene->title));
  carom_h5_write_text_attribute(file, file->id, "description", or_empty(scene->description));
  carom_h5_write_text_attribute(file, file->id, "carom_version", carom_version());
  carom_h5_write_text_attribute(file, file->id, "command", or_empty(options ? options->command : NULL));
  carom_h5_write_text_attribute(file, file->id, "host", or_empty(options ? options->host : NULL));
  write_time_of_creation(file);
  carom_h5_write_attribute(file, "seed", H5T_STD_U64LE, H5T_NATIVE_UINT64, 0, &scene->seed);
  carom_h5_write_text_attribute(file, file->id, "integrator", or_empty(scene->step.integrator));
  if (scene->choice && scene->choice[0])
    carom_h5_write_text_attribute(file, file->id, "integrator_choice", scene->choice);
  carom_h5_write_attribute(file, "step", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 0, &scene->step.step);
  carom_h5_write_attribute(file, "duration", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 0, &scene->duration);
  carom_h5_write_attribute(file, "frame_interval", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 0, &scene->frame_interval);
  write_camera(file, &scene->camera);
  int planar = 1;
  if (scene->model->planar) carom_h5_write_attribute(file, "planar", H5T_STD_I32LE, H5T_NATIVE_INT, 0, &planar);
}

// Tables of constants, compressed when they are large enough for that to matter.
carom_h5_array carom_result_table(carom_result_field_id id, hid_t file_type, hid_t memory_type, int rank,
                                  const hsize_t size[3]) {
  enum { WORTH_IT = 1024, CHUNK = 16384 };
  carom_h5_array array = carom_result_array(id, file_type, memory_type, rank, size);
  if (size[0] < WORTH_IT) return array;
  memcpy(array.chunk, array.size, sizeof array.chunk);
  if (size[0] > CHUNK) array.chunk[0] = CHUNK;
  return array;
}

void carom_result_write_doubles(carom_h5_file *file, carom_result_field_id id, int rank, const hsize_t size[3],
                                const double *values) {
  carom_h5_array array = carom_result_table(id, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, rank, size);
  carom_h5_write(file, &array, values);
}

void carom_result_write_ints(carom_h5_file *file, carom_result_field_id id, size_t n, const int *values) {
  carom_h5_array array = carom_result_table(id, H5T_STD_I32LE, H5T_NATIVE_INT, 1, (hsize_t[]){n, 0, 0});
  carom_h5_write(file, &array, values);
}

static void write_text(carom_h5_file *file, carom_result_field_id id, const char *text) {
  hid_t type = carom_h5_text_type(strlen(text));
  carom_h5_array array = carom_result_array(id, type, type, 0, (hsize_t[]){0, 0, 0});
  carom_h5_write(file, &array, text);
  H5Tclose(type);
}

// ---- bodies, parts, shapes -----------------------------------------------------------------------------------------

static const carom_column body_columns[] = {
    CAROM_COLUMN(BODY_NAME, TEXT, carom_result_body, name, .rank = 1),
    CAROM_COLUMN(BODY_MASS, DOUBLE, carom_result_body, mass, .rank = 1),
    CAROM_COLUMN(BODY_CENTER, DOUBLE, carom_result_body, center, .rank = 2, .n1 = 3),
    CAROM_COLUMN(BODY_INERTIA, DOUBLE, carom_result_body, inertia, .rank = 3, .n1 = 3, .n2 = 3),
    CAROM_COLUMN(BODY_FIXED, FLAG, carom_result_body, fixed, .rank = 1),
    CAROM_COLUMN(BODY_COLOR, COLOR, carom_result_body, color, .rank = 1),
    CAROM_COLUMN(BODY_PART_START, INT, carom_result_body, part_start, .rank = 1),
    CAROM_COLUMN(BODY_PART_COUNT, INT, carom_result_body, part_count, .rank = 1),
};
const carom_table carom_body_table = CAROM_TABLE(body_columns, carom_result_body);

static const carom_column part_columns[] = {
    CAROM_COLUMN(PART_SHAPE, INT, carom_result_part, shape, .rank = 1),
    CAROM_COLUMN(PART_POSITION, DOUBLE, carom_result_part, pose.p, .rank = 2, .n1 = 3),
    CAROM_COLUMN(PART_ORIENTATION, DOUBLE, carom_result_part, pose.q, .rank = 2, .n1 = 4),
};
const carom_table carom_part_table = CAROM_TABLE(part_columns, carom_result_part);

// The model keeps principal frames; the file speaks of the user's body frame. With R the rotation of the user's frame
// as seen from the principal one, the inertia along the user's axes is R' diag(J) R. Infinite moments of fixed bodies
// would make this 0 * inf.
static carom_result_body row_of_body(const carom_body *body) {
  carom_mat3 J = cm_diag3(body->inertia.x, body->inertia.y, body->inertia.z), R = cm_rotation(body->frame.q);
  return (carom_result_body){
      .name = (char *)body->name,
      .fixed = body->fixed,
      .mass = body->fixed ? INFINITY : body->mass,
      .center = cm_pose_inverse(body->frame).p,
      .inertia = body->fixed ? cm_diag3(INFINITY, INFINITY, INFINITY) : cm_mmul(cm_transpose(R), cm_mmul(J, R)),
      .color = body->color & 0xFFFFFFu,
      .part_start = body->part_start,
      .part_count = body->part_count};
}

static void write_bodies(carom_h5_file *file, const carom_model *model) {
  carom_result_body *rows = CAROM_NEW(&file->allocator, carom_result_body, model->body_count);
  if (!rows) {
    carom_h5_fail_memory(file, "/bodies");
    return;
  }
  for (int b = 0; b < model->body_count; b++) rows[b] = row_of_body(&model->bodies[b]);
  for (int i = 0; i < model->drive_count; i++) rows[model->drives[i].body].fixed = false;  // a driven body moves
  carom_table_write(file, &carom_body_table, rows, (size_t)model->body_count);
  carom_release(&file->allocator, rows);
}

static void write_parts(carom_h5_file *file, const carom_model *model, const carom_shape_set *shapes) {
  carom_result_part *rows = CAROM_NEW(&file->allocator, carom_result_part, model->part_count);
  if (!rows) {
    carom_h5_fail_memory(file, "/parts");
    return;
  }
  for (int b = 0; b < model->body_count; b++) {
    const carom_body *body = &model->bodies[b];
    for (int p = body->part_start; p < body->part_start + body->part_count; p++) {
      carom_pose pose = cm_compose(cm_pose_inverse(body->frame), model->parts[p].pose);
      rows[p] = (carom_result_part){shapes->of_part[p], cm_pose(pose.p, cm_qunit(pose.q))};
    }
  }
  carom_table_write(file, &carom_part_table, rows, (size_t)model->part_count);
  carom_release(&file->allocator, rows);
}

static void write_shapes(carom_h5_file *file, const carom_shape_set *shapes) {
  carom_shape_tables tables;
  if (!carom_shape_tables_create(&tables, shapes, &file->allocator)) {
    carom_h5_fail_memory(file, "/shapes");
    return;
  }
  carom_table_write(file, &carom_shape_table, tables.rows, tables.shape_count);
  carom_result_write_ints(file, CAROM_FIELD_SHAPE_VERTEX_START, tables.shape_count + 1, tables.vertex_start);
  carom_result_write_ints(file, CAROM_FIELD_SHAPE_FACE_START, tables.shape_count + 1, tables.face_start);
  carom_result_write_doubles(file, CAROM_FIELD_SHAPE_VERTICES, 2, (hsize_t[]){tables.vertex_count, 3, 0},
                             &tables.vertices->x);
  carom_result_write_ints(file, CAROM_FIELD_SHAPE_FACE_VERTEX_START, tables.face_count + 1, tables.face_vertex_start);
  carom_result_write_ints(file, CAROM_FIELD_SHAPE_FACE_VERTICES, tables.corner_count, tables.face_vertices);
  carom_shape_tables_release(&tables, &file->allocator);
}

static void write_geometry(carom_h5_file *file, const carom_model *model) {
  carom_shape_set shapes;
  if (!carom_shape_set_create(&shapes, model, &file->allocator)) {
    carom_h5_fail_memory(file, "/shapes");
    return;
  }
  write_parts(file, model, &shapes);
  write_shapes(file, &shapes);
  carom_shape_set_release(&shapes, &file->allocator);
}

// Walls of revolution, a row for each point of their profiles; most scenes have none, and then no dataset.
static void write_walls(carom_h5_file *file, const carom_model *model) {
  if (model->profile_count == 0) return;
  double *rows = CAROM_NEW(&file->allocator, double, (size_t)model->profile_count *CAROM_WALL_COLUMNS), *row = rows;
  if (!rows) {
    carom_h5_fail_memory(file, "/walls");
    return;
  }
  for (int i = 0; i < model->boundary_count; i++) {
    const carom_boundary *wall = &model->boundaries[i];
    for (int k = 0; k < wall->profile_count; k++, row += CAROM_WALL_COLUMNS) {
      carom_profile_point p = model->profiles[wall->profile_start + k];
      const double values[CAROM_WALL_COLUMNS] = {i,
                                                 wall->body,
                                                 wall->pose.p.x,
                                                 wall->pose.p.y,
                                                 wall->pose.p.z,
                                                 wall->pose.q.w,
                                                 wall->pose.q.x,
                                                 wall->pose.q.y,
                                                 wall->pose.q.z,
                                                 p.rho,
                                                 p.z};
      memcpy(row, values, sizeof values);
    }
  }
  carom_result_write_doubles(file, CAROM_FIELD_WALL_POINTS, 2,
                             (hsize_t[]){(size_t)(row - rows) / CAROM_WALL_COLUMNS, CAROM_WALL_COLUMNS, 0}, rows);
  carom_release(&file->allocator, rows);
}

void carom_result_write_head(carom_h5_file *file, const carom_scene *scene, const carom_recorder_options *options,
                             const carom_head_extra *extra) {
  write_root(file, scene, options);
  write_text(file, CAROM_FIELD_SCENE_SOURCE, or_empty(scene->source));
  write_text(file, CAROM_FIELD_SCENE_RESOLVED, or_empty(scene->resolved));
  write_bodies(file, scene->model);
  write_geometry(file, scene->model);
  write_walls(file, scene->model);
  carom_result_write_joints(file, scene->model, extra);
  carom_result_write_solids(file, scene->model);
  if (options) carom_result_write_channels(file, options->channels, options->channel_count);
  if (extra && extra->write) extra->write(file, extra->context);
}

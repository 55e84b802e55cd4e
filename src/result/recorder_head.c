// The head of a result file: everything but the frames.
#include "result/recorder_head.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "result/joints.h"
#include "result/layout.h"
#include "result/shape_set.h"

static const char *or_empty(const char *text) { return text ? text : ""; }

carom_h5_array carom_result_array(carom_result_field_id id, hid_t file_type, hid_t memory_type, int rank, size_t n0,
                                  size_t n1, size_t n2) {
  const carom_result_field *field = &carom_result_fields[id];
  carom_h5_array array = {field->path, field->unit,  field->description, file_type, memory_type,
                          rank,        {n0, n1, n2}, {0, 0, 0},          false,     NULL};
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
  carom_h5_write_attribute(file, "step", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 0, &scene->step.step);
  carom_h5_write_attribute(file, "duration", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 0, &scene->duration);
  carom_h5_write_attribute(file, "frame_interval", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 0, &scene->frame_interval);
  write_camera(file, &scene->camera);
  int planar = 1;
  if (scene->model->planar) carom_h5_write_attribute(file, "planar", H5T_STD_I32LE, H5T_NATIVE_INT, 0, &planar);
}

// Tables of constants, compressed when they are large enough for that to matter.
static carom_h5_array table_of(carom_result_field_id id, hid_t file_type, hid_t memory_type, int rank, size_t n0,
                               size_t n1, size_t n2) {
  enum { WORTH_IT = 1024, CHUNK = 16384 };
  carom_h5_array array = carom_result_array(id, file_type, memory_type, rank, n0, n1, n2);
  if (n0 < WORTH_IT) return array;
  memcpy(array.chunk, array.size, sizeof array.chunk);
  if (n0 > CHUNK) array.chunk[0] = CHUNK;
  return array;
}

void carom_result_write_doubles(carom_h5_file *file, carom_result_field_id id, int rank, size_t n0, size_t n1,
                                size_t n2, const double *values) {
  carom_h5_array array = table_of(id, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, rank, n0, n1, n2);
  carom_h5_write(file, &array, values);
}

void carom_result_write_ints(carom_h5_file *file, carom_result_field_id id, size_t n, const int *values) {
  carom_h5_array array = table_of(id, H5T_STD_I32LE, H5T_NATIVE_INT, 1, n, 0, 0);
  carom_h5_write(file, &array, values);
}

void carom_result_write_pairs(carom_h5_file *file, carom_result_field_id id, size_t n, const int *values) {
  carom_h5_array array = table_of(id, H5T_STD_I32LE, H5T_NATIVE_INT, 2, n, 2, 0);
  carom_h5_write(file, &array, values);
}

static void write_text(carom_h5_file *file, carom_result_field_id id, const char *text) {
  hid_t type = carom_h5_text_type(strlen(text));
  carom_h5_array array = carom_result_array(id, type, type, 0, 0, 0, 0);
  carom_h5_write(file, &array, text);
  H5Tclose(type);
}

// ---- bodies, parts, shapes -----------------------------------------------------------------------------------------

void carom_result_write_texts(carom_h5_file *file, carom_result_field_id id, int count, carom_text_of *of,
                              const void *context) {
  size_t longest = 1;
  for (int i = 0; i < count; i++) {
    size_t length = strlen(or_empty(of(context, i)));
    if (length > longest) longest = length;
  }
  char *texts = CAROM_NEW(&file->allocator, char, longest *(size_t)count);
  if (!texts) {
    carom_h5_fail_memory(file, carom_result_fields[id].path);
    return;
  }
  for (int i = 0; i < count; i++) {
    const char *text = or_empty(of(context, i));
    memcpy(texts + (size_t)i * longest, text, strlen(text));
  }
  hid_t type = carom_h5_text_type(longest);
  carom_h5_array array = table_of(id, type, type, 1, (size_t)count, 0, 0);
  carom_h5_write(file, &array, texts);
  H5Tclose(type);
  carom_release(&file->allocator, texts);
}

static const char *body_name(const void *model, int b) { return ((const carom_model *)model)->bodies[b].name; }

// One column of the table of bodies, by a function from the body; all have up to nine doubles.
typedef void body_values(const carom_body *body, double *values);

static void mass_of(const carom_body *body, double *values) { values[0] = body->fixed ? INFINITY : body->mass; }

static void center_of(const carom_body *body, double *values) {
  carom_vec3 center = cm_pose_inverse(body->frame).p;
  memcpy(values, &center, sizeof center);
}

// With R the rotation of the user's frame as seen from the principal one, the inertia along the user's axes is
// R' diag(J) R. Infinite moments of fixed bodies would make this 0 * inf.
static void inertia_of(const carom_body *body, double *values) {
  carom_mat3 J = cm_diag3(body->inertia.x, body->inertia.y, body->inertia.z), R = cm_rotation(body->frame.q);
  carom_mat3 I = body->fixed ? cm_diag3(INFINITY, INFINITY, INFINITY) : cm_mmul(cm_transpose(R), cm_mmul(J, R));
  memcpy(values, &I, sizeof I);
}

static void write_body_column(carom_h5_file *file, const carom_model *model, carom_result_field_id id, int rank,
                              size_t n1, size_t n2, body_values *of) {
  size_t count = (size_t)model->body_count, width = rank == 1 ? 1 : rank == 2 ? n1 : n1 * n2;
  double *values = CAROM_NEW(&file->allocator, double, count *width);
  if (!values) {
    carom_h5_fail_memory(file, carom_result_fields[id].path);
    return;
  }
  for (size_t b = 0; b < count; b++) of(&model->bodies[b], values + b * width);
  carom_result_write_doubles(file, id, rank, count, n1, n2, values);
  carom_release(&file->allocator, values);
}

static void write_body_numbers(carom_h5_file *file, const carom_model *model) {
  size_t count = (size_t)model->body_count;
  int *block = CAROM_NEW(&file->allocator, int, 4 * count);
  if (!block) {
    carom_h5_fail_memory(file, "/bodies");
    return;
  }
  int *fixed = block, *color = block + count, *part_start = block + 2 * count, *part_count = block + 3 * count;
  for (size_t b = 0; b < count; b++) {
    const carom_body *body = &model->bodies[b];
    fixed[b] = body->fixed;
    color[b] = (int)(body->color & 0xFFFFFFu);
    part_start[b] = body->part_start;
    part_count[b] = body->part_count;
  }
  for (int i = 0; i < model->drive_count; i++) fixed[model->drives[i].body] = 0;  // a driven body moves
  carom_h5_array array = table_of(CAROM_FIELD_BODY_FIXED, H5T_STD_U8LE, H5T_NATIVE_INT, 1, count, 0, 0);
  carom_h5_write(file, &array, fixed);
  array = table_of(CAROM_FIELD_BODY_COLOR, H5T_STD_U32LE, H5T_NATIVE_INT, 1, count, 0, 0);
  carom_h5_write(file, &array, color);
  carom_result_write_ints(file, CAROM_FIELD_BODY_PART_START, count, part_start);
  carom_result_write_ints(file, CAROM_FIELD_BODY_PART_COUNT, count, part_count);
  carom_release(&file->allocator, block);
}

static void write_bodies(carom_h5_file *file, const carom_model *model) {
  carom_result_write_texts(file, CAROM_FIELD_BODY_NAME, model->body_count, body_name, model);
  write_body_column(file, model, CAROM_FIELD_BODY_MASS, 1, 0, 0, mass_of);
  write_body_column(file, model, CAROM_FIELD_BODY_CENTER, 2, 3, 0, center_of);
  write_body_column(file, model, CAROM_FIELD_BODY_INERTIA, 3, 3, 3, inertia_of);
  write_body_numbers(file, model);
}

// The model keeps parts in principal frames; the file speaks of the user's body frame.
static void place_parts(const carom_model *model, carom_vec3 *position, carom_quat *orientation) {
  for (int b = 0; b < model->body_count; b++) {
    const carom_body *body = &model->bodies[b];
    for (int p = body->part_start; p < body->part_start + body->part_count; p++) {
      carom_pose pose = cm_compose(cm_pose_inverse(body->frame), model->parts[p].pose);
      position[p] = pose.p;
      orientation[p] = cm_qunit(pose.q);
    }
  }
}

static void write_parts(carom_h5_file *file, const carom_model *model, const carom_shape_set *shapes) {
  size_t count = (size_t)model->part_count;
  carom_vec3 *position = CAROM_NEW(&file->allocator, carom_vec3, count);
  carom_quat *orientation = CAROM_NEW(&file->allocator, carom_quat, count);
  if (position && orientation) {
    place_parts(model, position, orientation);
    carom_result_write_ints(file, CAROM_FIELD_PART_SHAPE, count, shapes->of_part);
    carom_result_write_doubles(file, CAROM_FIELD_PART_POSITION, 2, count, 3, 0, &position->x);
    carom_result_write_doubles(file, CAROM_FIELD_PART_ORIENTATION, 2, count, 4, 0, &orientation->w);
  } else {
    carom_h5_fail_memory(file, "/parts");
  }
  carom_release(&file->allocator, position);
  carom_release(&file->allocator, orientation);
}

static void write_shape_kinds(carom_h5_file *file, const carom_shape_tables *tables) {
  hid_t type = carom_h5_text_type(CAROM_SHAPE_KIND_NAME_SIZE);
  carom_h5_array array = table_of(CAROM_FIELD_SHAPE_KIND, type, type, 1, tables->shape_count, 0, 0);
  carom_h5_write(file, &array, tables->kinds);
  H5Tclose(type);
}

static void write_shapes(carom_h5_file *file, const carom_shape_set *shapes) {
  carom_shape_tables tables;
  if (!carom_shape_tables_create(&tables, shapes, &file->allocator)) {
    carom_h5_fail_memory(file, "/shapes");
    return;
  }
  write_shape_kinds(file, &tables);
  carom_result_write_doubles(file, CAROM_FIELD_SHAPE_RADIUS, 1, tables.shape_count, 0, 0, tables.radius);
  carom_result_write_doubles(file, CAROM_FIELD_SHAPE_HALF_LENGTH, 1, tables.shape_count, 0, 0, tables.half_length);
  carom_result_write_doubles(file, CAROM_FIELD_SHAPE_HALF_AXES, 2, tables.shape_count, 3, 0, &tables.half_axes->x);
  carom_result_write_ints(file, CAROM_FIELD_SHAPE_VERTEX_START, tables.shape_count + 1, tables.vertex_start);
  carom_result_write_ints(file, CAROM_FIELD_SHAPE_FACE_START, tables.shape_count + 1, tables.face_start);
  carom_result_write_doubles(file, CAROM_FIELD_SHAPE_VERTICES, 2, tables.vertex_count, 3, 0, &tables.vertices->x);
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
  carom_result_write_doubles(file, CAROM_FIELD_WALL_POINTS, 2, (size_t)(row - rows) / CAROM_WALL_COLUMNS,
                             CAROM_WALL_COLUMNS, 0, rows);
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
  if (extra && extra->write) extra->write(file, extra->context);
}

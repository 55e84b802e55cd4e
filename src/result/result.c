// Reading result files. Everything but the poses is read when the file is opened; a file is never trusted: every shape,
// type and index is checked before it is used.
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/atomic_file.h"
#include "base/memory.h"
#include "result/channels.h"
#include "result/checkpoint.h"
#include "result/file.h"
#include "result/joints.h"
#include "result/plan.h"
#include "result/shape_set.h"
#include "result/solids.h"

// ---- opening -------------------------------------------------------------------------------------------------------

// HDF5's own messages about these are long and roundabout.
static carom_status check_readable(const char *path, carom_error *error) {
  struct stat info;
  int descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);  // a pipe would wait for a writer
  if (descriptor < 0) {
    if (errno == ENOENT)
      return carom_fail(error, CAROM_ERR_IO, "cannot read '%.700s': there is no such file; check the path", path);
    return carom_fail_file(error, "read", path, errno);
  }
  bool regular = fstat(descriptor, &info) == 0 && S_ISREG(info.st_mode);
  bool empty = regular && info.st_size == 0;
  close(descriptor);
  if (!regular) return carom_fail(error, CAROM_ERR_IO, "cannot read '%.700s': it is not a regular file", path);
  if (empty) return carom_fail(error, CAROM_ERR_FORMAT, "'%.700s' is empty, so it is not a result file", path);
  return CAROM_OK;
}

// A file whose writer was killed, or still writes, is marked so and refuses a plain opening. The mode for readers
// beside a writer takes it.
static void open_file(carom_h5_file *file) {
  if (H5Fis_hdf5(file->path) == 0) {
    file->status =
        carom_fail(file->error, CAROM_ERR_FORMAT,
                   "'%.700s' is not a result file (HDF5); give the .h5 file that `carom run` wrote", file->path);
    return;
  }
  hid_t access = carom_h5_access();
  carom_error plain_error = {CAROM_OK, ""};
  carom_h5_file plain = *file;
  plain.error = &plain_error;
  plain.id = H5Fopen(file->path, H5F_ACC_RDONLY, access);
  if (plain.id < 0) carom_h5_fail(&plain, "opening");
  file->id = plain.id >= 0 ? plain.id : H5Fopen(file->path, H5F_ACC_RDONLY | H5F_ACC_SWMR_READ, access);
  if (file->id < 0 && strstr(plain_error.message, "already open"))
    carom_h5_fail(file, "opening");
  else if (file->id < 0)
    file->status = carom_fail(file->error, plain.status, "%s", plain_error.message);
  H5Pclose(access);
}

static void check_format(carom_h5_file *file) {
  if (file->status != CAROM_OK) return;
  int version = 0;
  char *format = H5Aexists(file->id, "format") > 0 ? carom_h5_read_text_attribute(file, "format") : NULL;
  bool ours = format && strcmp(format, CAROM_RESULT_FORMAT) == 0 &&
              carom_h5_read_attribute(file, "format_version", H5T_NATIVE_INT, 0, &version);
  carom_release(&file->allocator, format);
  if (file->status != CAROM_OK) return;
  if (!ours) {
    file->status =
        carom_fail(file->error, CAROM_ERR_FORMAT, "'%.700s' is an HDF5 file, but not a result of Carom", file->path);
  } else if (version > CAROM_RESULT_VERSION) {
    file->status =
        carom_fail(file->error, CAROM_ERR_FORMAT,
                   "'%.600s' has version %d of the result format and this Carom reads up to %d; update Carom",
                   file->path, version, CAROM_RESULT_VERSION);
  }
}

static void read_attributes(carom_h5_file *file, carom_result *result) {
  result->title = carom_h5_read_text_attribute(file, "title");
  result->description = carom_h5_read_text_attribute(file, "description");
  result->version = carom_h5_read_text_attribute(file, "carom_version");
  result->command = carom_h5_read_text_attribute(file, "command");
  result->host = carom_h5_read_text_attribute(file, "host");
  result->created = carom_h5_read_text_attribute(file, "created");
  result->integrator = carom_h5_read_text_attribute(file, "integrator");
  if (H5Aexists(file->id, "integrator_choice") > 0)
    result->choice = carom_h5_read_text_attribute(file, "integrator_choice");
  bool numbers = carom_h5_read_attribute(file, "seed", H5T_NATIVE_UINT64, 0, &result->seed) &&
                 carom_h5_read_attribute(file, "step", H5T_NATIVE_DOUBLE, 0, &result->step) &&
                 carom_h5_read_attribute(file, "duration", H5T_NATIVE_DOUBLE, 0, &result->duration);
  if (!numbers) carom_h5_fail_format(file, "seed, step or duration", "is missing");
  int planar = 0;
  result->planar = carom_h5_read_attribute(file, "planar", H5T_NATIVE_INT, 0, &planar) && planar == 1;
  result->camera.given =
      carom_h5_read_attribute(file, "camera_position", H5T_NATIVE_DOUBLE, 3, &result->camera.position) &&
      carom_h5_read_attribute(file, "camera_target", H5T_NATIVE_DOUBLE, 3, &result->camera.target);
}

// ---- bodies and parts ----------------------------------------------------------------------------------------------

static const char *path_of(carom_result_field_id id) { return carom_result_fields[id].path; }

// A whole dataset whose sizes are known, or CAROM_H5_ANY for the first.
static double *read_doubles(carom_h5_file *file, carom_result_field_id id, int rank, hsize_t *n0, hsize_t n1,
                            hsize_t n2) {
  hsize_t size[3] = {*n0, n1, n2};
  double *values = carom_h5_read(file, path_of(id), H5T_NATIVE_DOUBLE, sizeof(double), rank, size);
  *n0 = size[0];
  return values;
}

static int *read_ints(carom_h5_file *file, carom_result_field_id id, hsize_t *count) {
  return carom_h5_read(file, path_of(id), H5T_NATIVE_INT, sizeof(int), 1, count);
}

static void read_bodies(carom_h5_file *file, carom_result *result) {
  if (file->status != CAROM_OK) return;
  result->bodies = carom_table_read(file, &carom_body_table, &result->body_count, &result->file->names);
  for (int b = 0; b < result->body_count; b++) result->bodies[b].color &= 0xFFFFFFu;
  if (file->status == CAROM_OK) result->parts = carom_table_read(file, &carom_part_table, &result->part_count, NULL);
}

static void check_indices(carom_h5_file *file, const carom_result *result) {
  if (file->status != CAROM_OK) return;
  for (int b = 0; b < result->body_count; b++) {
    const carom_result_body *body = &result->bodies[b];
    if (body->part_start < 0 || body->part_count < 0 || body->part_start > result->part_count - body->part_count)
      carom_h5_fail_format(file, path_of(CAROM_FIELD_BODY_PART_START), "points outside /parts");
  }
  for (int p = 0; p < result->part_count; p++) {
    if (result->parts[p].shape < 0 || result->parts[p].shape >= result->shape_count)
      carom_h5_fail_format(file, path_of(CAROM_FIELD_PART_SHAPE), "points outside /shapes");
  }
}

// ---- shapes --------------------------------------------------------------------------------------------------------

typedef struct shape_columns {
  carom_shape_row *rows;
  int count;
  hsize_t vertex_count;
  bool half_axes;  // files from before there were shapes that need it do not have it
  int *vertex_start;
  double *vertices;
} shape_columns;

static shape_columns read_shape_columns(carom_h5_file *file) {
  shape_columns c = {.vertex_count = CAROM_H5_ANY};
  carom_table table = carom_shape_table;
  c.half_axes = carom_h5_has(file, path_of(CAROM_FIELD_SHAPE_HALF_AXES));
  table.column_count -= c.half_axes ? 0 : 1;
  c.rows = carom_table_read(file, &table, &c.count, NULL);
  hsize_t ends = (hsize_t)c.count + 1;
  c.vertex_start = read_ints(file, CAROM_FIELD_SHAPE_VERTEX_START, &ends);
  c.vertices = read_doubles(file, CAROM_FIELD_SHAPE_VERTICES, 2, &c.vertex_count, 3, 0);
  return c;
}

// Only the corners are taken from the file; faces and the rest of the lattice follow from them.
static carom_status make_polytope(const shape_columns *c, int s, const carom_allocator *allocator,
                                  const carom_shape **shape, carom_error *error) {
  int from = c->vertex_start[s], to = c->vertex_start[s + 1];
  if (from < 0 || to < from || (hsize_t)to > c->vertex_count)
    return carom_fail(error, CAROM_ERR_FORMAT, "its vertices are out of range");
  const carom_shape *core = NULL;
  carom_status status = carom_shape_create_hull((const carom_vec3 *)(const void *)(c->vertices + 3 * (size_t)from),
                                                to - from, allocator, &core, error);
  if (status != CAROM_OK) return status;
  if (c->rows[s].radius == 0) {
    *shape = core;
    return CAROM_OK;
  }
  status = carom_shape_create_rounded(core, c->rows[s].radius, allocator, shape, error);
  carom_shape_release(core);
  return status;
}

static carom_status make_smooth(const shape_columns *c, int s, const carom_allocator *allocator,
                                const carom_shape **shape, carom_error *error) {
  if (!c->half_axes) return carom_fail(error, CAROM_ERR_FORMAT, "its half axes are missing");
  carom_vec3 a = c->rows[s].half_axes;
  if (c->rows[s].kind == CAROM_SHAPE_ELLIPSOID) return carom_shape_create_ellipsoid(a, allocator, shape, error);
  if (c->rows[s].kind == CAROM_SHAPE_CYLINDER)
    return carom_shape_create_cylinder(a.x, 2 * a.z, allocator, shape, error);
  return carom_shape_create_cone(a.x, 2 * a.z, allocator, shape, error);
}

static carom_status make_shape(const shape_columns *c, int s, const carom_allocator *allocator,
                               const carom_shape **shape, carom_error *error) {
  switch (c->rows[s].kind) {
    case CAROM_SHAPE_POLYTOPE:
      return make_polytope(c, s, allocator, shape, error);
    case CAROM_SHAPE_ELLIPSOID:
    case CAROM_SHAPE_CYLINDER:
    case CAROM_SHAPE_CONE:
      return make_smooth(c, s, allocator, shape, error);
    case CAROM_SHAPE_SPHERE:
      return carom_shape_create_sphere(c->rows[s].radius, allocator, shape, error);
    case CAROM_SHAPE_CAPSULE:
      return carom_shape_create_capsule(c->rows[s].radius, 2 * c->rows[s].half_length, allocator, shape, error);
    case CAROM_SHAPE_HALFSPACE:
      return carom_shape_create_halfspace(allocator, shape, error);
    default:
      return carom_fail(error, CAROM_ERR_FORMAT, "its kind is not known");
  }
}

static void make_shapes(carom_h5_file *file, carom_result *result, const shape_columns *columns) {
  result->shapes = CAROM_NEW(&file->allocator, const carom_shape *, columns->count);
  if (!result->shapes) carom_h5_fail_memory(file, "/shapes");
  for (int s = 0; file->status == CAROM_OK && s < columns->count; s++) {
    carom_error reason = {CAROM_OK, ""};
    carom_status status = make_shape(columns, s, &file->allocator, &result->shapes[s], &reason);
    if (status == CAROM_OK)
      result->shape_count++;
    else
      file->status = carom_fail(file->error, status == CAROM_ERR_MEMORY ? status : CAROM_ERR_FORMAT,
                                "shape %d of '%.400s' cannot be used: %.400s", s, file->path, reason.message);
  }
}

static void read_shapes(carom_h5_file *file, carom_result *result) {
  if (file->status != CAROM_OK) return;
  shape_columns columns = read_shape_columns(file);
  if (file->status == CAROM_OK) make_shapes(file, result, &columns);
  CAROM_RELEASE_ALL(&file->allocator, columns.rows, columns.vertex_start, columns.vertices);
}

// ---- series --------------------------------------------------------------------------------------------------------

static carom_series_counts count_all(const carom_result *result) {
  return (carom_series_counts){{[CAROM_OF_BODIES] = result->body_count,
                                [CAROM_OF_CHANNELS] = result->channel_count,
                                [CAROM_OF_NODES] = result->node_count,
                                [CAROM_OF_TETS] = result->tet_count,
                                [CAROM_OF_SOLIDS] = result->solid_count}};
}

// What there is nothing of; columns of the audit that files from before there were contacts do not have (they read as
// NaN); and what only some integrators tell.
static bool may_lack(const carom_series_counts *counts, int series) {
  enum { OLDER_COLUMNS = 13 };
  if (series < CAROM_SERIES_AUDIT)
    return series == CAROM_SERIES_CONTACT_MOMENT || counts->of[carom_series_kind(series)] == 0;
  return series >= CAROM_SERIES_AUDIT + OLDER_COLUMNS && series < CAROM_SERIES_AUDIT + CAROM_AUDIT_COLUMNS;
}

// The length of the shortest series: a burst that was cut off left some of them longer.
static void open_series(carom_h5_file *file, carom_result *result, hid_t *datasets) {
  hsize_t shortest = INT_MAX;
  carom_series_counts counts = count_all(result);
  for (int i = 0; i < carom_series_count(); i++) {
    carom_series_info info = carom_series_describe(i, &counts);
    hsize_t size[3] = {CAROM_H5_ANY, info.n1, info.n2};
    if (may_lack(&counts, i) && file->status == CAROM_OK && !carom_h5_has(file, info.path)) continue;
    datasets[i] = carom_h5_open_dataset(file, info.path, info.rank, size);
    if (datasets[i] >= 0 && size[0] < shortest) shortest = size[0];
  }
  result->frame_count = (int)shortest;
}

static void read_column(carom_h5_file *file, hid_t dataset, int series, int count, double *values) {
  carom_h5_read_numbers(file, dataset, carom_series_describe(series, &(carom_series_counts){{0}}).path, (hsize_t)count,
                        values);
}

static void read_columns(carom_h5_file *file, carom_result *result, const hid_t *datasets) {
  int last = carom_series_count() - 1;
  result->times = CAROM_NEW(&file->allocator, double, result->frame_count);
  if (!result->times) {
    carom_h5_fail_memory(file, "the times");
    return;
  }
  read_column(file, datasets[last], last, result->frame_count, result->times);
  for (int f = 0; f < result->frame_count; f++)
    if (isnan(result->times[f])) result->frame_count = f;  // room was made, but the burst did not come to its end
  size_t frames = (size_t)result->frame_count;
  result->audit = CAROM_NEW(&file->allocator, double, CAROM_AUDIT_COLUMNS *frames);
  if (!result->audit) {
    carom_h5_fail_memory(file, "the audit");
    return;
  }
  for (int i = 0; i < CAROM_AUDIT_COLUMNS; i++) {
    int series = CAROM_SERIES_AUDIT + i;
    double *column = result->audit + frames * (size_t)i;
    for (size_t f = 0; f < frames; f++) column[f] = NAN;
    if (datasets[series] >= 0) read_column(file, datasets[series], series, result->frame_count, column);
  }
}

static void read_series(carom_h5_file *file, carom_result *result) {
  if (file->status != CAROM_OK) return;
  hid_t datasets[CAROM_SERIES_AUDIT + CAROM_AUDIT_COLUMNS + 1];
  int count = carom_series_count();
  for (int i = 0; i < count; i++) datasets[i] = -1;
  open_series(file, result, datasets);
  if (file->status == CAROM_OK) read_columns(file, result, datasets);
  carom_result_read_solid_series(file, result, datasets);
  for (int i = 0; i < count; i++) {
    if (i < CAROM_SERIES_AUDIT)
      result->file->series[i] = datasets[i];  // stays open for the frames
    else if (datasets[i] >= 0)
      H5Dclose(datasets[i]);
  }
}

// ---- the end of the run --------------------------------------------------------------------------------------------

static void fill_verdict(carom_result *result, int count, const size_t *stride, const double *value,
                         const double *bound) {
  char *const *texts = result->file->verdict_texts;
  for (int i = 0; i < count; i++) {
    size_t n = (size_t)i;
    carom_verdict_row row = {.key = texts[0] + stride[0] * n,
                             .label = texts[1] + stride[1] * n,
                             .note = texts[2] + stride[2] * n,
                             .value = value[i],
                             .bound = bound[i]};
    carom_verdict_add(&result->verdict, &row, texts[3] ? texts[3] + stride[3] * n : NULL);
  }
}

static void read_verdict(carom_h5_file *file, carom_result *result) {
  hsize_t count = CAROM_H5_ANY;
  size_t stride[CAROM_VERDICT_TEXTS] = {0};
  for (int i = 0; i < CAROM_VERDICT_TEXTS; i++) {
    carom_result_field_id id = CAROM_FIELD_VERDICT_KEY + (carom_result_field_id)i;
    if (id == CAROM_FIELD_VERDICT_WHERE && H5Lexists(file->id, path_of(id), H5P_DEFAULT) <= 0) continue;  // older
    result->file->verdict_texts[i] = carom_h5_read_texts(file, path_of(id), &count, &stride[i]);
  }
  double *value = read_doubles(file, CAROM_FIELD_VERDICT_VALUE, 1, &count, 0, 0);
  double *bound = read_doubles(file, CAROM_FIELD_VERDICT_BOUND, 1, &count, 0, 0);
  int *pass = read_ints(file, CAROM_FIELD_VERDICT_PASS, &count);
  if (file->status == CAROM_OK)
    fill_verdict(result, count < CAROM_VERDICT_MAX ? (int)count : CAROM_VERDICT_MAX, stride, value, bound);
  CAROM_RELEASE_ALL(&file->allocator, value, bound, pass);
}

// A run that was killed has no verdict; one killed while writing it has columns of different lengths, worth nothing.
// Only one that came to its end can pass.
static void read_ending(carom_h5_file *file, carom_result *result) {
  result->ending = carom_h5_read_text(file, path_of(CAROM_FIELD_RUN_ENDING));
  if (file->status != CAROM_OK) return;
  result->complete = strcmp(result->ending, CAROM_RESULT_COMPLETE) == 0;
  bool killed = strcmp(result->ending, CAROM_RESULT_UNFINISHED) == 0;
  if (!killed) read_verdict(file, result);
  if (!result->complete)
    carom_verdict_cut_short(&result->verdict, killed ? "the run was killed, or is still going on" : result->ending);
}

// ---- the public functions ------------------------------------------------------------------------------------------

static void read_all(carom_h5_file *file, carom_result *result) {
  open_file(file);
  result->file->id = file->id;
  check_format(file);
  read_attributes(file, result);
  result->scene_source = carom_h5_read_text(file, path_of(CAROM_FIELD_SCENE_SOURCE));
  result->scene_resolved = carom_h5_read_text(file, path_of(CAROM_FIELD_SCENE_RESOLVED));
  read_bodies(file, result);
  read_shapes(file, result);
  check_indices(file, result);
  carom_result_read_channel_names(file, result);
  carom_result_read_solids(file, result);
  read_series(file, result);
  carom_result_read_events(file, result);
  carom_result_read_walls(file, result);
  carom_result_read_joints(file, result);
  carom_result_read_plan(file, result);
  read_ending(file, result);
}

static carom_result *allocate_result(const carom_allocator *allocator, const char *path) {
  carom_result *result = CAROM_NEW(allocator, carom_result, 1);
  if (!result) return NULL;
  result->allocator = *allocator;
  result->file = CAROM_NEW(allocator, struct carom_result_file, 1);
  if (result->file) {
    result->file->id = -1;
    for (int i = 0; i < CAROM_SERIES_AUDIT; i++) result->file->series[i] = -1;
    result->file->path = carom_copy_text(allocator, path);
  }
  if (result->file && result->file->path) return result;
  carom_result_close(result);
  return NULL;
}

carom_status carom_result_open(const char *path, const carom_allocator *allocator, carom_result **result,
                               carom_error *error) {
  if (!path || !result)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "carom_result_open needs a path and a place for the result");
  *result = NULL;
  carom_status status = check_readable(path, error);
  if (status != CAROM_OK) return status;
  carom_allocator a = carom_allocator_or_default(allocator);
  carom_result *opened = allocate_result(&a, path);
  if (!opened) return carom_fail(error, CAROM_ERR_MEMORY, "out of memory while reading '%.700s'", path);
  carom_h5_guard guard;
  carom_h5_enter(&guard);
  carom_h5_file file = {-1, opened->file->path, "read", CAROM_OK, error, a};
  read_all(&file, opened);
  carom_h5_leave(&guard);
  if (file.status == CAROM_OK)
    *result = opened;
  else
    carom_result_close(opened);
  return file.status;
}

static void close_file(struct carom_result_file *file) {
  if (file->id < 0) return;
  carom_h5_guard guard;
  carom_h5_enter(&guard);
  for (int i = 0; i < CAROM_SERIES_AUDIT; i++)
    if (file->series[i] >= 0) H5Dclose(file->series[i]);
  H5Fclose(file->id);
  carom_h5_leave(&guard);
}

void carom_result_close(carom_result *result) {
  if (!result) return;
  const carom_allocator allocator = result->allocator;
  for (int s = 0; s < result->shape_count; s++) carom_shape_release(result->shapes[s]);
  if (result->file) {
    close_file(result->file);
    for (int i = 0; i < CAROM_VERDICT_TEXTS; i++) carom_release(&allocator, result->file->verdict_texts[i]);
    CAROM_RELEASE_ALL(&allocator, result->file->checkpoint, result->file->names, result->file->joint_names,
                      result->file->solid_names, result->file->channel_texts[0], result->file->channel_texts[1],
                      result->file->path);
  }
  carom_result_plan_release(result->plan, &allocator);
  CAROM_RELEASE_ALL(&allocator, result->title, result->description, result->version, result->command, result->host,
                    result->created, result->integrator, result->ending, result->times, result->audit, result->bodies,
                    result->scene_source, result->scene_resolved, result->parts, result->file, (void *)result->shapes,
                    result->events, result->walls, result->wall_points, result->joints, result->plan, result->choice,
                    result->channels, result->solids, result->rest, result->node_masses, result->tets, result->skin,
                    result->elastic_energies, result->least_J, result);
}

// Places for what not every file tells.
static bool make_room_for_told(const carom_result *result, carom_frame *frame) {
  bool moments = result->file->series[CAROM_SERIES_CONTACT_MOMENT] >= 0;
  if (moments) frame->contact_moments = CAROM_NEW(&result->allocator, carom_mat3, result->body_count);
  if (result->channel_count > 0) frame->channels = CAROM_NEW(&result->allocator, double, result->channel_count);
  return (frame->contact_moments || !moments) && (frame->channels || result->channel_count == 0);
}

static bool make_room_for_solids(const carom_result *result, carom_frame *frame) {
  return result->solid_count == 0 || CAROM_NEW_ALL(&result->allocator, CAROM_ROOM(frame->nodes, result->node_count),
                                                   CAROM_ROOM(frame->node_velocities, result->node_count),
                                                   CAROM_ROOM(frame->stresses, result->tet_count));
}

carom_status carom_frame_init(const carom_result *result, carom_frame *frame, carom_error *error) {
  *frame = (carom_frame){.allocator = result->allocator};
  bool enough = CAROM_NEW_ALL(&result->allocator, CAROM_ROOM(frame->poses, result->body_count),
                              CAROM_ROOM(frame->velocities, result->body_count),
                              CAROM_ROOM(frame->angular_velocities, result->body_count));
  if (enough && make_room_for_told(result, frame) && make_room_for_solids(result, frame)) return CAROM_OK;
  carom_frame_release(frame);
  return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for a frame of %d bodies and %d nodes", result->body_count,
                    result->node_count);
}

void carom_frame_release(carom_frame *frame) {
  carom_allocator allocator = frame->allocator;
  CAROM_RELEASE_ALL(&allocator, frame->poses, frame->velocities, frame->angular_velocities, frame->contact_moments,
                    frame->channels, frame->nodes, frame->node_velocities, frame->stresses);
  *frame = (carom_frame){0};
}

// One series of one frame: HDF5 scatters positions and orientations into poses as it reads.
static void read_series_row(carom_h5_file *file, const carom_result *result, int series, int index, void *to) {
  carom_series_counts counts = count_all(result);
  carom_series_info info = carom_series_describe(series, &counts);
  hid_t type = info.single ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE;
  if (file->status != CAROM_OK || !to || info.n1 == 0) return;
  hsize_t start[3] = {(hsize_t)index, 0, 0}, block[3] = {1, info.n1, info.n2};
  bool turned = series == CAROM_SERIES_ORIENTATION, posed = turned || series == CAROM_SERIES_POSITION;
  hsize_t room[2] = {info.n1, posed ? 7 : info.n2}, into[2] = {0, turned ? 3 : 0}, part[2] = {info.n1, info.n2};
  hid_t space = H5Dget_space(result->file->series[series]), memory = H5Screate_simple(2, room, NULL);
  if (H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, block, NULL) < 0 ||
      H5Sselect_hyperslab(memory, H5S_SELECT_SET, into, NULL, part, NULL) < 0 ||
      H5Dread(result->file->series[series], type, memory, space, H5P_DEFAULT, to) < 0)
    carom_h5_fail(file, info.path);
  H5Sclose(memory);
  H5Sclose(space);
}

carom_status carom_result_read_frame(carom_result *result, int index, carom_frame *frame, carom_error *error) {
  if (index < 0 || index >= result->frame_count)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "'%.600s' has no frame %d; it has frames 0 to %d", result->file->path,
                      index, result->frame_count - 1);
  carom_h5_guard guard;
  carom_h5_enter(&guard);
  carom_h5_file file = {result->file->id, result->file->path, "read", CAROM_OK, error, result->allocator};
  frame->time = result->times[index];
  read_series_row(&file, result, CAROM_SERIES_POSITION, index, frame->poses);
  read_series_row(&file, result, CAROM_SERIES_ORIENTATION, index, frame->poses);
  read_series_row(&file, result, CAROM_SERIES_VELOCITY, index, frame->velocities);
  read_series_row(&file, result, CAROM_SERIES_ANGULAR_VELOCITY, index, frame->angular_velocities);
  read_series_row(&file, result, CAROM_SERIES_CONTACT_MOMENT, index, frame->contact_moments);
  read_series_row(&file, result, CAROM_SERIES_CHANNELS, index, frame->channels);
  read_series_row(&file, result, CAROM_SERIES_NODE_POSITION, index, frame->nodes);
  read_series_row(&file, result, CAROM_SERIES_NODE_VELOCITY, index, frame->node_velocities);
  read_series_row(&file, result, CAROM_SERIES_VON_MISES, index, frame->stresses);
  carom_h5_leave(&guard);
  return file.status;
}

carom_status carom_result_checkpoint(carom_result *result, carom_state *state, const void **memory, size_t *size,
                                     carom_error *error) {
  carom_h5_guard guard;
  carom_h5_enter(&guard);
  carom_h5_file file = {result->file->id, result->file->path, "read", CAROM_OK, error, result->allocator};
  size_t total = 0;
  carom_release(&result->allocator, result->file->checkpoint);
  result->file->checkpoint = carom_checkpoint_read(&file, &total);
  carom_h5_leave(&guard);
  if (file.status != CAROM_OK) return file.status;
  if (!result->file->checkpoint)
    return carom_fail(error, CAROM_ERR_FORMAT, "'%.700s' has no checkpoint to go on from", result->file->path);
  if (!carom_checkpoint_unpack(result->file->checkpoint, total, state, memory, size))
    return carom_fail(
        error, CAROM_ERR_FORMAT,
        "the checkpoint of '%.600s' is of another model (the scene has %d bodies, and %d nodes of solids)",
        result->file->path, state->body_count, state->node_count);
  return CAROM_OK;
}

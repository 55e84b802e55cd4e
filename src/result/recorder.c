// Writing result files.
//
// The head of the file is put together in memory, written under a temporary name, opened in HDF5's
// single-writer/multiple-reader mode (SWMR) and only then given its own name: from that moment on it can be read at any
// time, also when this process is killed. Frames are
// gathered in memory and written in bursts. In a burst every series is flushed in turn, time last; a reader takes the
// shortest series as the number of frames, so that half a burst is not seen.
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/atomic_file.h"
#include "base/memory.h"
#include "carom/result.h"
#include "result/checkpoint.h"
#include "result/disk.h"
#include "result/h5.h"
#include "result/layout.h"
#include "result/recorder_events.h"
#include "result/recorder_head.h"
#include "result/rescue.h"
#include "result/solids.h"

enum { SERIES = CAROM_SERIES_AUDIT + CAROM_AUDIT_COLUMNS + 1, TIME_SERIES = SERIES - 1 };

// A burst is due after this long, or when the buffer is full. A chunk that is not yet full is written anew by the next
// burst, and its old place in the file is lost; so in long runs the interval grows with the time that the run has
// taken: killing it costs at most one second or two per cent of the work, and half a minute at the most.
static const double burst_interval = 1, burst_fraction = 0.02, burst_interval_max = 30;

typedef struct series {
  carom_series_info info;
  size_t width;  // numbers per frame
  hid_t dataset;
  double *rows;  // (capacity x width)
  bool told;     // what the next frame has of it is in its row already
} series;

struct carom_recorder {
  const carom_scene *scene;
  char *path;
  carom_atomic_file target;
  hid_t file;
  hid_t ending;
  hid_t verdict[CAROM_VERDICT_COLUMNS];
  series series[SERIES];
  carom_event_log events;
  carom_checkpoint_log checkpoints;
  double *buffer;
  carom_mat3 *stresses;  // (tetrahedra of the largest solid) scratch
  int channel_count;
  int capacity;     // frames that the buffer holds
  int pending;      // frames in the buffer
  int64_t written;  // frames in the file
  double started, last_burst;
  carom_log log;
  off_t size;  // of the file after the last burst
  bool moved;  // that was told
  bool lost;   // nothing is left of it
  bool finished;
  bool torn;            // HDF5 failed to write: nothing more may reach the file
  carom_error failure;  // the first one; status CAROM_OK while there is none
  carom_allocator allocator;
};

static carom_h5_file open_handle(const carom_recorder *recorder, carom_error *error) {
  carom_h5_file file = {recorder->file, recorder->path, "write", CAROM_OK, error, recorder->allocator};
  return file;
}

static carom_series_counts count_all(const carom_recorder *recorder) {
  const carom_model *model = recorder->scene->model;
  return (carom_series_counts){{[CAROM_OF_BODIES] = model->body_count,
                                [CAROM_OF_CHANNELS] = recorder->channel_count,
                                [CAROM_OF_NODES] = model->node_count,
                                [CAROM_OF_TETS] = model->tet_count,
                                [CAROM_OF_SOLIDS] = model->solid_count}};
}

// Contact moments are known to one integrator alone, and would be most of the file of a small scene.
static bool is_kept(const carom_recorder *recorder, int i) {
  const char *integrator = recorder->scene->step.integrator;
  carom_series_counts counts = count_all(recorder);
  if (i < CAROM_SERIES_AUDIT && counts.of[carom_series_kind(i)] == 0) return false;
  return i != CAROM_SERIES_CONTACT_MOMENT || (integrator && strcmp(integrator, "cone") == 0);
}

// ---- the series ----------------------------------------------------------------------------------------------------

// Chunks hold about 64 kB: many frames of few bodies, or (from 2731 bodies on) one frame, cut where it is very wide.
static carom_h5_array series_array(const series *s, const double *fill) {
  enum { CHUNK_NUMBERS = 8192, CHUNK_WIDTH = 32768, NARROW = 8 };
  const carom_series_info *info = &s->info;
  size_t width = info->n1 < 1 ? 1 : info->n1 > CHUNK_WIDTH ? CHUNK_WIDTH : info->n1;
  size_t numbers = info->rank == 3 ? 3 * width : width;  // three for all: their chunks then end at the same frame
  if (info->rank < 3 && numbers < NARROW) numbers = NARROW;
  size_t frames = CHUNK_NUMBERS / numbers;
  carom_h5_array array = {info->path,
                          info->unit,
                          info->description,
                          info->single ? H5T_IEEE_F32LE : H5T_IEEE_F64LE,
                          H5T_NATIVE_DOUBLE,
                          info->rank,
                          {0, info->n1, info->n2},
                          {frames > 0 ? frames : 1, width, info->n2},
                          true,
                          fill,
                          false};
  return array;
}

// What was never written reads as NaN: the reader drops frames whose time is one.
static void create_series(const carom_recorder *recorder, carom_h5_file *file) {
  const double fill = NAN;
  for (int i = 0; i < SERIES; i++) {
    carom_h5_array array = series_array(&recorder->series[i], &fill);
    if (is_kept(recorder, i)) carom_h5_write(file, &array, NULL);
  }
}

static carom_h5_array verdict_array(int column, hid_t text) {
  carom_result_field_id id = CAROM_FIELD_VERDICT_KEY + (carom_result_field_id)column;
  const hsize_t none[3] = {0};
  carom_h5_array array;
  if (column < CAROM_VERDICT_TEXTS)
    array = carom_result_array(id, text, text, 1, none);
  else if (column < CAROM_VERDICT_TEXTS + 2)
    array = carom_result_array(id, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 1, none);
  else
    array = carom_result_array(id, H5T_STD_U8LE, H5T_NATIVE_INT, 1, none);
  array.chunk[0] = CAROM_VERDICT_MAX;
  array.extendible = true;
  return array;
}

// Nothing can be created once frames are written, so the places for the end are made now.
static void create_ending(carom_h5_file *file) {
  char text[CAROM_RESULT_ENDING_SIZE] = CAROM_RESULT_UNFINISHED;
  hid_t type = carom_h5_text_type(sizeof text), column_type = carom_h5_text_type(CAROM_RESULT_VERDICT_TEXT_SIZE);
  carom_h5_array array = carom_result_array(CAROM_FIELD_RUN_ENDING, type, type, 0, (hsize_t[]){0, 0, 0});
  carom_h5_write(file, &array, text);
  for (int i = 0; i < CAROM_VERDICT_COLUMNS; i++) {
    array = verdict_array(i, column_type);
    carom_h5_write(file, &array, NULL);
  }
  H5Tclose(column_type);
  H5Tclose(type);
}

// ---- creating ------------------------------------------------------------------------------------------------------

static carom_status allocate_buffer(carom_recorder *recorder, carom_error *error) {
  enum { BUFFER_BYTES = 8 << 20, FRAMES_MAX = 8192 };
  size_t width = 0;
  carom_series_counts counts = count_all(recorder);
  for (int i = 0; i < SERIES; i++) {
    series *s = &recorder->series[i];
    s->info = carom_series_describe(i, &counts);
    s->width = is_kept(recorder, i) ? s->info.n1 * s->info.n2 : 0;
    width += s->width;
  }
  size_t capacity = BUFFER_BYTES / (width * sizeof(double));
  recorder->capacity = capacity < 1 ? 1 : capacity > FRAMES_MAX ? FRAMES_MAX : (int)capacity;
  recorder->buffer = CAROM_NEW(&recorder->allocator, double, width *(size_t)recorder->capacity);
  recorder->stresses = CAROM_NEW(&recorder->allocator, carom_mat3, carom_result_most_tets(recorder->scene->model));
  if (!recorder->buffer || !recorder->stresses)
    return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for the frames of '%.700s'", recorder->path);
  double *rows = recorder->buffer;
  for (int i = 0; i < SERIES; i++) {
    recorder->series[i].rows = rows;
    rows += recorder->series[i].width * (size_t)recorder->capacity;
  }
  return CAROM_OK;
}

// HDF5 does not stand a failing disk well (see result/disk.h), so it gets none while it creates things: the file is
// made in memory and its image is written by ourselves.
static carom_h5_image make_image(const carom_recorder *recorder, const carom_recording *what, carom_h5_file *file) {
  carom_h5_image image = {0};
  file->id = carom_h5_create_in_memory(recorder->target.temporary, &image);
  if (file->id < 0) carom_h5_fail_memory(file, "the head");
  carom_result_write_head(file, what->scene, what->options, what->extra);
  create_series(recorder, file);
  carom_event_log_create(file);
  carom_checkpoint_create(file, (size_t)what->scene->model->body_count, (size_t)what->scene->model->node_count);
  create_ending(file);
  if (file->id >= 0 && !carom_h5_close_in_memory(file->id, &image)) carom_h5_fail_memory(file, "the head");
  return image;
}

static void open_datasets(carom_recorder *recorder, carom_h5_file *file) {
  for (int i = 0; i < SERIES; i++) {
    hsize_t size[3] = {CAROM_H5_ANY, CAROM_H5_ANY, CAROM_H5_ANY};
    const carom_series_info *info = &recorder->series[i].info;
    if (!is_kept(recorder, i)) continue;
    recorder->series[i].dataset = carom_h5_open_dataset(file, info->path, info->rank, size);
  }
  carom_event_log_open(&recorder->events, file);
  carom_checkpoint_open(&recorder->checkpoints, file);
  for (int i = 0; i < CAROM_VERDICT_COLUMNS; i++) {
    const char *path = carom_result_fields[CAROM_FIELD_VERDICT_KEY + (carom_result_field_id)i].path;
    hsize_t size = CAROM_H5_ANY;
    recorder->verdict[i] = carom_h5_open_dataset(file, path, 1, &size);
  }
  recorder->ending = carom_h5_open_dataset(file, carom_result_fields[CAROM_FIELD_RUN_ENDING].path, 0, NULL);
}

static carom_status create_file(carom_recorder *recorder, const carom_recording *what, carom_error *error) {
  carom_h5_file file = open_handle(recorder, error);
  carom_h5_image image = make_image(recorder, what, &file);
  if (file.status == CAROM_OK) file.status = carom_atomic_file_write(&recorder->target, image.bytes, image.size, error);
  carom_h5_release_image(&image);
  carom_atomic_file_close(&recorder->target);
  if (file.status != CAROM_OK) return file.status;
  hid_t access = carom_h5_access();
  if (!carom_disk_use(access)) carom_h5_fail_memory(&file, "the disk");
  recorder->file = file.id = H5Fopen(recorder->target.temporary, H5F_ACC_RDWR | H5F_ACC_SWMR_WRITE, access);
  if (file.id < 0) carom_h5_fail(&file, "starting to record");
  H5Pclose(access);
  open_datasets(recorder, &file);
  return file.status;
}

// For a start: the same question is asked again, without a gap, when the file gets its name.
static carom_status check_free(const char *path, bool overwrite, carom_error *error) {
  struct stat info;
  if (overwrite || stat(path, &info) != 0 || S_ISDIR(info.st_mode)) return CAROM_OK;
  return carom_fail(error, CAROM_ERR_IO, "'%.700s' exists already; choose another name or overwrite it with --force",
                    path);
}

static carom_status open_target(carom_recorder *recorder, const char *path, bool overwrite, carom_error *error) {
  carom_status status = check_free(path, overwrite, error);
  if (status == CAROM_OK) status = carom_atomic_file_open(&recorder->target, path, &recorder->allocator, error);
  if (status != CAROM_OK) return status;
  if (!recorder->target.temporary)
    return carom_fail(error, CAROM_ERR_IO, "cannot write '%.700s': a result needs a regular file, not a device", path);
  return CAROM_OK;
}

static carom_status start(carom_recorder *recorder, const carom_recording *what, carom_error *error) {
  bool overwrite = what->options && what->options->overwrite;
  if (what->options) recorder->log = what->options->log;
  if (what->options) recorder->channel_count = what->options->channel_count;
  recorder->path = carom_copy_text(&recorder->allocator, what->path);
  if (!recorder->path) return carom_fail(error, CAROM_ERR_MEMORY, "out of memory while creating '%.700s'", what->path);
  carom_status status = allocate_buffer(recorder, error);
  if (status == CAROM_OK) status = open_target(recorder, what->path, overwrite, error);
  if (status != CAROM_OK) return status;
  carom_h5_guard guard;
  carom_h5_enter(&guard);
  status = create_file(recorder, what, error);
  recorder->torn = status != CAROM_OK;
  carom_h5_leave(&guard);
  return status == CAROM_OK ? carom_atomic_file_publish(&recorder->target, overwrite, error) : status;
}

carom_status carom_recorder_open(const char *path, const carom_scene *scene, const carom_recorder_options *options,
                                 const carom_allocator *allocator, carom_recorder **recorder, carom_error *error) {
  return carom_recorder_open_with(&(carom_recording){path, scene, options, NULL}, allocator, recorder, error);
}

// Nothing is open yet.
static carom_recorder *make_recorder(const carom_scene *scene, const carom_allocator *allocator) {
  carom_recorder *made = CAROM_NEW(allocator, carom_recorder, 1);
  if (!made) return NULL;
  made->allocator = *allocator;
  made->scene = scene;
  made->file = made->ending = -1;
  for (int i = 0; i < SERIES; i++) made->series[i].dataset = -1;
  for (int i = 0; i < CAROM_VERDICT_COLUMNS; i++) made->verdict[i] = -1;
  carom_event_log_clear(&made->events);
  carom_checkpoint_clear(&made->checkpoints);
  made->started = made->last_burst = carom_clock();
  return made;
}

carom_status carom_recorder_open_with(const carom_recording *what, const carom_allocator *allocator,
                                      carom_recorder **recorder, carom_error *error) {
  if (recorder) *recorder = NULL;
  const carom_recorder_options *options = what->options;
  if (options && (options->channel_count < 0 || (options->channel_count > 0 && !options->channels)))
    return carom_fail(error, CAROM_ERR_ARGUMENT, "carom_recorder_open needs the %d channels that it is to keep",
                      options->channel_count);
  if (!what->path || !*what->path || !what->scene || !what->scene->model || !recorder)
    return carom_fail(error, CAROM_ERR_ARGUMENT,
                      "carom_recorder_open needs a path, a built scene and a place for the recorder");
  carom_allocator a = carom_allocator_or_default(allocator);
  carom_recorder *opened = make_recorder(what->scene, &a);
  if (!opened) return carom_fail(error, CAROM_ERR_MEMORY, "out of memory while creating '%.700s'", what->path);
  carom_error failure = {CAROM_OK, ""};
  carom_status status = start(opened, what, &failure);
  if (status != CAROM_OK) {
    opened->failure = failure;
    carom_recorder_close(opened);
    return carom_fail(error, status, "%s", failure.message);
  }
  *recorder = opened;
  return CAROM_OK;
}

// ---- frames --------------------------------------------------------------------------------------------------------

// The file as the last good burst left it is worth more than anything HDF5 could still try to add.
static void cut_off(const carom_recorder *recorder) {
  carom_disk *disk = recorder->file >= 0 ? carom_disk_of(recorder->file) : NULL;
  if (disk && !disk->failure) disk->failure = EIO;
}

// HDF5 never sees a write that fails (result/disk.h); whoever wrote asks here.
static void check_disk(const carom_recorder *recorder, carom_h5_file *file) {
  const carom_disk *disk = file->status == CAROM_OK ? carom_disk_of(recorder->file) : NULL;
  if (disk && disk->failure) file->status = carom_fail_file(file->error, file->verb, recorder->path, disk->failure);
}

static carom_status give_up(carom_recorder *recorder, carom_status status, carom_error *error) {
  cut_off(recorder);
  recorder->torn = true;
  recorder->failure.status = status;
  recorder->pending = 0;
  if (recorder->lost) return carom_fail(error, status, "%s", recorder->failure.message);
  size_t length = strlen(recorder->failure.message);
  snprintf(recorder->failure.message + length, sizeof recorder->failure.message - length,
           ". The first %lld frames are safe in the file", (long long)recorder->written);
  return carom_fail(error, status, "%s", recorder->failure.message);
}

// ---- a file that goes away -----------------------------------------------------------------------------------------

static const int *descriptor_of(const carom_recorder *recorder) {
  const carom_disk *disk = recorder->file >= 0 ? carom_disk_of(recorder->file) : NULL;
  return disk ? &disk->descriptor : NULL;
}

static void note_size(carom_recorder *recorder) {
  struct stat info;
  const int *descriptor = descriptor_of(recorder);
  if (descriptor && fstat(*descriptor, &info) == 0) recorder->size = info.st_size;
}

static void tell_of_move(carom_recorder *recorder) {
  if (recorder->moved) return;
  recorder->moved = true;
  carom_log_write(&recorder->log, CAROM_LOG_WARNING,
                  "'%.700s' was moved or replaced while it is written; the record goes on in the file that was moved",
                  recorder->path);
}

static carom_status rescue(carom_recorder *recorder, int descriptor) {
  char path[4096 + 32];
  carom_error why;
  snprintf(path, sizeof path, "%.4095s", recorder->path);
  carom_status status = carom_file_rescue(path, sizeof path, descriptor, &recorder->allocator, &why);
  recorder->lost = status != CAROM_OK;
  if (recorder->lost)
    return carom_fail(&recorder->failure, status, "'%.300s' was removed while it is written, and: %.600s",
                      recorder->path, why.message);
  carom_log_write(&recorder->log, CAROM_LOG_WARNING,
                  "'%.400s' was removed while it is written; all of the record is in '%.400s' again", recorder->path,
                  path);
  char *name = carom_copy_text(&recorder->allocator, path);
  if (!name) return CAROM_OK;  // the old name is good enough for messages
  carom_release(&recorder->allocator, recorder->path);
  recorder->path = name;
  return CAROM_OK;
}

// Asked before anything is written, within the guard.
static carom_status keep_file(carom_recorder *recorder) {
  struct stat info;
  const int *descriptor = descriptor_of(recorder);
  if (!descriptor) return CAROM_OK;
  recorder->lost = fstat(*descriptor, &info) == 0 && info.st_size < recorder->size;
  if (recorder->lost)
    return carom_fail(&recorder->failure, CAROM_ERR_IO,
                      "'%.700s' was cut short by another program while it is written; what it held is lost: run again, "
                      "with an output of its own",
                      recorder->path);
  carom_whereabouts where = carom_file_whereabouts(recorder->path, *descriptor);
  if (where == CAROM_FILE_MOVED) tell_of_move(recorder);
  return where == CAROM_FILE_REMOVED ? rescue(recorder, *descriptor) : CAROM_OK;
}

static void write_series(carom_recorder *recorder, carom_h5_file *file, int count) {
  for (int i = 0; i < SERIES; i++) {
    series *s = &recorder->series[i];
    if (s->dataset < 0) continue;
    carom_h5_array array = series_array(s, NULL);
    carom_h5_append(file, s->dataset, &array, (hsize_t)recorder->written, (hsize_t)count, s->rows);
  }
}

// What is known of the next frame already moves to where that will be gathered.
static void empty_buffer(carom_recorder *recorder) {
  for (int i = 0; i < SERIES; i++) {
    series *s = &recorder->series[i];
    if (s->told) memmove(s->rows, s->rows + s->width * (size_t)recorder->pending, s->width * sizeof(double));
  }
  recorder->written += recorder->pending;
  recorder->pending = 0;
}

static carom_status burst(carom_recorder *recorder, carom_error *error) {
  recorder->last_burst = carom_clock();
  if (recorder->pending == 0 && recorder->events.pending == 0) return CAROM_OK;
  carom_h5_guard guard;
  carom_h5_enter(&guard);
  carom_h5_file file = open_handle(recorder, &recorder->failure);
  file.status = keep_file(recorder);
  carom_event_log_write(&recorder->events, &file);
  write_series(recorder, &file, recorder->pending);
  check_disk(recorder, &file);
  carom_status status = file.status;
  if (status == CAROM_OK) {
    empty_buffer(recorder);
    note_size(recorder);
  } else {
    status = give_up(recorder, status, error);
  }
  carom_h5_leave(&guard);
  return status;
}

static bool burst_is_due(const carom_recorder *recorder) {
  if (recorder->pending >= recorder->capacity) return true;
  double now = carom_clock();
  double interval = fmin(fmax(burst_interval, burst_fraction * (now - recorder->started)), burst_interval_max);
  return now - recorder->last_burst >= interval;
}

static double *row_of(const carom_recorder *recorder, int i) {
  return recorder->series[i].rows + recorder->series[i].width * (size_t)recorder->pending;
}

static void gather_bodies(const carom_recorder *recorder, const carom_state *state) {
  const carom_model *model = recorder->scene->model;
  double *position = row_of(recorder, CAROM_SERIES_POSITION), *orientation = row_of(recorder, CAROM_SERIES_ORIENTATION);
  double *velocity = row_of(recorder, CAROM_SERIES_VELOCITY), *spin = row_of(recorder, CAROM_SERIES_ANGULAR_VELOCITY);
  for (int b = 0; b < model->body_count; b++) {
    carom_pose pose = carom_state_pose(model, state, b);
    carom_vec3 v = carom_state_velocity(model, state, b), w = carom_state_angular_velocity(model, state, b);
    memcpy(position + 3 * (size_t)b, &pose.p, sizeof pose.p);
    memcpy(orientation + 4 * (size_t)b, &pose.q, sizeof pose.q);
    memcpy(velocity + 3 * (size_t)b, &v, sizeof v);
    memcpy(spin + 3 * (size_t)b, &w, sizeof w);
  }
}

static void gather_solids(const carom_recorder *recorder, const carom_state *state) {
  if (state->node_count == 0) return;
  size_t bytes = (size_t)state->node_count * sizeof(carom_vec3);
  memcpy(row_of(recorder, CAROM_SERIES_NODE_POSITION), state->nodes, bytes);
  memcpy(row_of(recorder, CAROM_SERIES_NODE_VELOCITY), state->node_velocities, bytes);
  carom_result_measure_solids(
      recorder->scene->model, state, recorder->stresses,
      &(carom_solid_rows){row_of(recorder, CAROM_SERIES_VON_MISES), row_of(recorder, CAROM_SERIES_ELASTIC_ENERGY),
                          row_of(recorder, CAROM_SERIES_LEAST_J)});
}

// In the order of carom_audit_columns.
static void gather_audit(const carom_recorder *recorder, const carom_audit_sample *a) {
  double values[CAROM_AUDIT_COLUMNS];
  for (int i = 0; i < CAROM_AUDIT_COLUMNS; i++) values[i] = NAN;
  if (a) {
    const double of_sample[CAROM_AUDIT_COLUMNS] = {a->kinetic,
                                                   a->potential,
                                                   a->energy,
                                                   a->work,
                                                   a->energy_error,
                                                   a->momentum.x,
                                                   a->momentum.y,
                                                   a->momentum.z,
                                                   a->momentum_error,
                                                   a->angular_momentum.x,
                                                   a->angular_momentum.y,
                                                   a->angular_momentum.z,
                                                   a->angular_momentum_error,
                                                   a->restitution_loss,
                                                   a->friction_loss,
                                                   a->projection_energy,
                                                   a->projection_angular_momentum,
                                                   (double)a->collisions,
                                                   a->penetration,
                                                   a->complementarity,
                                                   a->constraint};
    memcpy(values, of_sample, sizeof values);
  }
  for (int i = 0; i < CAROM_AUDIT_COLUMNS; i++) *row_of(recorder, CAROM_SERIES_AUDIT + i) = values[i];
}

// What was told of this frame beforehand, or nothing.
static void gather_told(carom_recorder *recorder, int i) {
  series *s = &recorder->series[i];
  double *row = row_of(recorder, i);
  for (size_t k = 0; !s->told && k < s->width; k++) row[k] = NAN;
  s->told = false;
}

// A recorder that failed or finished says so for good.
static carom_status check_open(const carom_recorder *recorder, carom_error *error) {
  if (recorder->failure.status != CAROM_OK)
    return carom_fail(error, recorder->failure.status, "%s", recorder->failure.message);
  if (recorder->finished)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "the record '%.700s' is finished and takes nothing more",
                      recorder->path);
  return CAROM_OK;
}

carom_status carom_recorder_frame(carom_recorder *recorder, const carom_state *state, const carom_audit_sample *audit,
                                  carom_error *error) {
  carom_status status = check_open(recorder, error);
  if (status != CAROM_OK) return status;
  if (state->body_count != recorder->scene->model->body_count) {
    return carom_fail(error, CAROM_ERR_ARGUMENT, "the state has %d bodies, but the record '%.600s' was made for %d",
                      state->body_count, recorder->path, recorder->scene->model->body_count);
  }
  status = carom_state_check(recorder->scene->model, state, error);
  if (status != CAROM_OK) return status;
  gather_bodies(recorder, state);
  gather_solids(recorder, state);
  gather_told(recorder, CAROM_SERIES_CONTACT_MOMENT);
  gather_told(recorder, CAROM_SERIES_CHANNELS);
  gather_audit(recorder, audit);
  *row_of(recorder, TIME_SERIES) = state->time;
  recorder->pending++;
  return burst_is_due(recorder) ? burst(recorder, error) : CAROM_OK;
}

static carom_status tell(carom_recorder *recorder, int i, const void *values, carom_error *error) {
  carom_status status = check_open(recorder, error);
  series *s = &recorder->series[i];
  if (status != CAROM_OK || s->width == 0) return status;
  memcpy(row_of(recorder, i), values, s->width * sizeof(double));
  s->told = true;
  return CAROM_OK;
}

carom_status carom_recorder_moments(carom_recorder *recorder, const carom_mat3 *moments, carom_error *error) {
  return tell(recorder, CAROM_SERIES_CONTACT_MOMENT, moments, error);
}

carom_status carom_recorder_channels(carom_recorder *recorder, const double *values, carom_error *error) {
  return tell(recorder, CAROM_SERIES_CHANNELS, values, error);
}

carom_status carom_recorder_events(carom_recorder *recorder, const carom_contact_event *events, int count,
                                   carom_error *error) {
  carom_status status = check_open(recorder, error);
  for (int i = 0; i < count && status == CAROM_OK; i++) {
    if (carom_event_log_full(&recorder->events)) status = burst(recorder, error);
    if (status == CAROM_OK) carom_event_log_add(&recorder->events, &events[i]);
  }
  return status;
}

carom_status carom_recorder_checkpoint(carom_recorder *recorder, const carom_state *state, const void *memory,
                                       size_t size, carom_error *error) {
  carom_status status = check_open(recorder, error);
  if (status == CAROM_OK) status = carom_state_check(recorder->scene->model, state, error);
  if (status == CAROM_OK && burst_is_due(recorder)) status = burst(recorder, error);
  if (status != CAROM_OK) return status;
  carom_h5_guard guard;
  carom_h5_enter(&guard);
  carom_h5_file file = open_handle(recorder, &recorder->failure);
  file.status = keep_file(recorder);
  carom_checkpoint_write(&recorder->checkpoints, &file, state, memory, size);
  check_disk(recorder, &file);
  if (file.status == CAROM_OK) note_size(recorder);
  status = file.status == CAROM_OK ? CAROM_OK : give_up(recorder, file.status, error);
  carom_h5_leave(&guard);
  return status;
}

carom_status carom_recorder_flush(carom_recorder *recorder, carom_error *error) {
  carom_status status = check_open(recorder, error);
  return status == CAROM_OK ? burst(recorder, error) : status;
}

// ---- the end -------------------------------------------------------------------------------------------------------

// Cuts a text to its field at a whole UTF-8 character.
static void put_text(char *field, size_t size, const char *text) {
  size_t length = text ? strlen(text) : 0;
  if (length > size) {
    length = size;
    while (length > 0 && ((unsigned char)text[length] & 0xC0) == 0x80) length--;
  }
  memset(field, 0, size);
  if (length > 0) memcpy(field, text, length);
}

typedef char verdict_text[CAROM_RESULT_VERDICT_TEXT_SIZE];

static void write_verdict(carom_recorder *recorder, carom_h5_file *file, const carom_verdict *verdict) {
  verdict_text texts[CAROM_VERDICT_TEXTS][CAROM_VERDICT_MAX];
  double numbers[2][CAROM_VERDICT_MAX];
  int pass[CAROM_VERDICT_MAX];
  int count = verdict->count < CAROM_VERDICT_MAX ? verdict->count : CAROM_VERDICT_MAX;
  for (int i = 0; i < count; i++) {
    const carom_verdict_row *row = &verdict->rows[i];
    put_text(texts[0][i], sizeof(verdict_text), row->key);
    put_text(texts[1][i], sizeof(verdict_text), row->label);
    put_text(texts[2][i], sizeof(verdict_text), row->note);
    put_text(texts[3][i], sizeof(verdict_text), row->where);
    numbers[0][i] = row->value;
    numbers[1][i] = row->bound;
    pass[i] = row->pass;
  }
  const void *columns[] = {texts[0], texts[1], texts[2], texts[3], numbers[0], numbers[1], pass};
  hid_t type = carom_h5_text_type(sizeof(verdict_text));
  for (int i = 0; i < CAROM_VERDICT_COLUMNS; i++) {
    carom_h5_array array = verdict_array(i, type);
    carom_h5_append(file, recorder->verdict[i], &array, 0, (hsize_t)count, columns[i]);
  }
  H5Tclose(type);
}

static void write_ending(carom_recorder *recorder, carom_h5_file *file, const char *ending) {
  char text[CAROM_RESULT_ENDING_SIZE];
  put_text(text, sizeof text, ending && *ending ? ending : CAROM_RESULT_COMPLETE);
  hid_t type = carom_h5_text_type(sizeof text);
  if (file->status == CAROM_OK &&
      (H5Dwrite(recorder->ending, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text) < 0 || H5Dflush(recorder->ending) < 0))
    carom_h5_fail(file, "how the run ended");
  H5Tclose(type);
}

static void close_datasets(carom_recorder *recorder) {
  for (int i = 0; i < SERIES; i++) {
    if (recorder->series[i].dataset >= 0) H5Dclose(recorder->series[i].dataset);
    recorder->series[i].dataset = -1;
  }
  for (int i = 0; i < CAROM_VERDICT_COLUMNS; i++) {
    if (recorder->verdict[i] >= 0) H5Dclose(recorder->verdict[i]);
    recorder->verdict[i] = -1;
  }
  carom_event_log_close(&recorder->events);
  carom_checkpoint_close(&recorder->checkpoints);
  if (recorder->ending >= 0) H5Dclose(recorder->ending);
  recorder->ending = -1;
}

// Flushes first: a full disk must show while the file can still be cut off.
static void sync_file(const carom_recorder *recorder, carom_h5_file *file) {
  if (file->status != CAROM_OK) return;
  if (H5Fflush(file->id, H5F_SCOPE_LOCAL) < 0) carom_h5_fail(file, "flushing the file");
  check_disk(recorder, file);
  const int *descriptor = descriptor_of(recorder);
  if (file->status == CAROM_OK && descriptor && fsync(*descriptor) != 0)
    file->status = carom_fail_file(file->error, file->verb, recorder->path, errno);
}

static void close_file(carom_recorder *recorder, carom_h5_file *file) {
  int failure = 0;
  carom_disk *disk = carom_disk_of(file->id);
  if (disk) disk->told = &failure;
  recorder->file = -1;
  if (H5Fclose(file->id) < 0) carom_h5_fail(file, "closing the file");
  if (failure && file->status == CAROM_OK)
    file->status = carom_fail_file(file->error, file->verb, recorder->path, failure);
}

static carom_status finish(carom_recorder *recorder, const carom_verdict *verdict, const char *ending,
                           carom_error *error) {
  carom_h5_file file = open_handle(recorder, &recorder->failure);
  file.status = keep_file(recorder);
  if (verdict && file.status == CAROM_OK) write_verdict(recorder, &file, verdict);
  write_ending(recorder, &file, ending);
  sync_file(recorder, &file);
  if (file.status != CAROM_OK) return give_up(recorder, file.status, error);
  close_datasets(recorder);
  recorder->finished = true;
  close_file(recorder, &file);
  return file.status == CAROM_OK ? CAROM_OK : give_up(recorder, file.status, error);
}

carom_status carom_recorder_finish(carom_recorder *recorder, const carom_verdict *verdict, const char *ending,
                                   carom_error *error) {
  carom_status status = carom_recorder_flush(recorder, error);
  if (status != CAROM_OK) return status;
  carom_h5_guard guard;
  carom_h5_enter(&guard);
  status = finish(recorder, verdict, ending, error);
  carom_h5_leave(&guard);
  return status;
}

void carom_recorder_close(carom_recorder *recorder) {
  if (!recorder) return;
  if (recorder->file >= 0 && recorder->failure.status == CAROM_OK) (void)burst(recorder, NULL);
  if (recorder->file >= 0) {
    carom_h5_guard guard;
    carom_h5_enter(&guard);
    if (recorder->torn) cut_off(recorder);
    close_datasets(recorder);
    H5Fclose(recorder->file);
    carom_h5_leave(&guard);
  }
  carom_atomic_file_abandon(&recorder->target);
  CAROM_RELEASE_ALL(&recorder->allocator, recorder->checkpoints.bytes, recorder->buffer, recorder->stresses,
                    recorder->path, recorder);
}

#include "result/checkpoint.h"

#include <string.h>

#include "base/memory.h"
#include "result/recorder_head.h"

// ---- bytes ----------------------------------------------------------------------------------------------------------

// How many nodes there are follows from the size of the whole: checkpoints without solids are as they ever were.
typedef struct header {
  double time;
  int64_t step, body_count, joint_count, input_size;
  uint64_t memory_size;
} header;

static size_t state_bytes(const carom_state *state) {
  size_t body = 3 * sizeof(carom_vec3) + sizeof(carom_quat);
  return (size_t)state->body_count * body + (size_t)state->joint_count * sizeof(carom_joint_state) +
         (size_t)state->input_size * sizeof(double) + 2 * (size_t)state->node_count * sizeof(carom_vec3);
}

static unsigned char *put(unsigned char *to, const void *from, size_t size) {
  if (size > 0) memcpy(to, from, size);
  return to + size;
}

static void pack(unsigned char *bytes, const carom_state *state, const void *memory, size_t size) {
  header h = {state->time, state->step, state->body_count, state->joint_count, state->input_size, size};
  size_t n = (size_t)state->body_count;
  bytes = put(bytes, &h, sizeof h);
  bytes = put(bytes, state->x, n * sizeof *state->x);
  bytes = put(bytes, state->q, n * sizeof *state->q);
  bytes = put(bytes, state->p, n * sizeof *state->p);
  bytes = put(bytes, state->l, n * sizeof *state->l);
  bytes = put(bytes, state->joints, (size_t)state->joint_count * sizeof *state->joints);
  bytes = put(bytes, state->inputs, (size_t)state->input_size * sizeof *state->inputs);
  bytes = put(bytes, state->nodes, (size_t)state->node_count * sizeof *state->nodes);
  bytes = put(bytes, state->node_velocities, (size_t)state->node_count * sizeof *state->node_velocities);
  put(bytes, memory, size);
}

static const unsigned char *take(const unsigned char *from, void *to, size_t size) {
  if (size > 0) memcpy(to, from, size);
  return from + size;
}

bool carom_checkpoint_unpack(const unsigned char *bytes, size_t size, carom_state *state, const void **memory,
                             size_t *memory_size) {
  header h;
  if (size < sizeof h) return false;
  bytes = take(bytes, &h, sizeof h);
  if (h.body_count != state->body_count || h.joint_count != state->joint_count) return false;
  if (h.input_size != state->input_size) return false;
  if (h.memory_size > size || size - sizeof h != state_bytes(state) + h.memory_size) return false;
  if (h.step < 0 || h.step > (int64_t)1 << 53) return false;  // no run comes to that
  size_t n = (size_t)state->body_count;
  state->time = h.time;
  state->step = h.step;
  bytes = take(bytes, state->x, n * sizeof *state->x);
  bytes = take(bytes, state->q, n * sizeof *state->q);
  bytes = take(bytes, state->p, n * sizeof *state->p);
  bytes = take(bytes, state->l, n * sizeof *state->l);
  bytes = take(bytes, state->joints, (size_t)state->joint_count * sizeof *state->joints);
  bytes = take(bytes, state->inputs, (size_t)state->input_size * sizeof *state->inputs);
  bytes = take(bytes, state->nodes, (size_t)state->node_count * sizeof *state->nodes);
  bytes = take(bytes, state->node_velocities, (size_t)state->node_count * sizeof *state->node_velocities);
  *memory = bytes;
  *memory_size = h.memory_size;
  return true;
}

static int64_t hash(const unsigned char *bytes, size_t size) {
  uint64_t h = 14695981039346656037u;
  for (size_t i = 0; i < size; i++) h = (h ^ bytes[i]) * 1099511628211u;
  return (int64_t)h;
}

// ---- datasets -------------------------------------------------------------------------------------------------------

static carom_h5_array meta_array(void) {
  return carom_result_array(CAROM_FIELD_CHECKPOINT_META, H5T_STD_I64LE, H5T_NATIVE_INT64, 2,
                            (hsize_t[]){CAROM_CHECKPOINT_SLOTS, CAROM_CHECKPOINT_META, 0});
}

// Written over and over, every second of a run: neither compressed nor ever shorter than before, so that the bytes stay
// where they are and the file does not grow.
static carom_h5_array slot_array(int slot) {
  carom_result_field_id id = CAROM_FIELD_CHECKPOINT_0 + (carom_result_field_id)slot;
  carom_h5_array array = carom_result_array(id, H5T_STD_U8LE, H5T_NATIVE_UCHAR, 1, (hsize_t[]){0, 0, 0});
  array.extendible = array.plain = true;
  return array;
}

void carom_checkpoint_clear(carom_checkpoint_log *log) {
  *log = (carom_checkpoint_log){.meta = -1};
  for (int i = 0; i < CAROM_CHECKPOINT_SLOTS; i++) log->slots[i] = -1;
}

void carom_checkpoint_create(carom_h5_file *file, size_t body_count, size_t node_count) {
  enum { LEAST = 2048, MOST = 1 << 20, BODY = 13 * sizeof(double), NODE = 6 * sizeof(double) };
  const int64_t nothing[CAROM_CHECKPOINT_SLOTS][CAROM_CHECKPOINT_META] = {{0}};
  carom_h5_array array = meta_array();
  carom_h5_write(file, &array, nothing);
  for (int i = 0; i < CAROM_CHECKPOINT_SLOTS; i++) {
    array = slot_array(i);
    size_t size = (body_count * BODY + node_count * NODE) / 4;
    array.chunk[0] = size < LEAST ? LEAST : size > MOST ? MOST : size;
    carom_h5_write(file, &array, NULL);
  }
}

void carom_checkpoint_open(carom_checkpoint_log *log, carom_h5_file *file) {
  hsize_t size[2] = {CAROM_CHECKPOINT_SLOTS, CAROM_CHECKPOINT_META};
  log->meta = carom_h5_open_dataset(file, carom_result_fields[CAROM_FIELD_CHECKPOINT_META].path, 2, size);
  for (int i = 0; i < CAROM_CHECKPOINT_SLOTS; i++) {
    hsize_t any = CAROM_H5_ANY;
    log->slots[i] = carom_h5_open_dataset(file, slot_array(i).path, 1, &any);
  }
}

void carom_checkpoint_close(carom_checkpoint_log *log) {
  if (log->meta >= 0) H5Dclose(log->meta);
  log->meta = -1;
  for (int i = 0; i < CAROM_CHECKPOINT_SLOTS; i++) {
    if (log->slots[i] >= 0) H5Dclose(log->slots[i]);
    log->slots[i] = -1;
  }
}

// ---- writing --------------------------------------------------------------------------------------------------------

static bool reserve(carom_checkpoint_log *log, carom_h5_file *file, size_t size) {
  if (size <= log->capacity) return true;
  carom_release(&file->allocator, log->bytes);
  log->bytes = CAROM_NEW(&file->allocator, unsigned char, size);
  log->capacity = log->bytes ? size : 0;
  if (!log->bytes) carom_h5_fail_memory(file, "a checkpoint");
  return log->bytes != NULL;
}

// One row of the table of contents, written last: it makes the bytes count.
static void write_meta(carom_checkpoint_log *log, carom_h5_file *file, int slot, const int64_t *row) {
  if (file->status != CAROM_OK) return;
  hsize_t start[2] = {(hsize_t)slot, 0}, count[2] = {1, CAROM_CHECKPOINT_META};
  hid_t space = H5Dget_space(log->meta), memory = H5Screate_simple(2, count, NULL);
  if (H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL) < 0 ||
      H5Dwrite(log->meta, H5T_NATIVE_INT64, memory, space, H5P_DEFAULT, row) < 0 || H5Dflush(log->meta) < 0)
    carom_h5_fail(file, "/checkpoint");
  H5Sclose(memory);
  H5Sclose(space);
}

void carom_checkpoint_write(carom_checkpoint_log *log, carom_h5_file *file, const carom_state *state,
                            const void *memory, size_t size) {
  size_t total = sizeof(header) + state_bytes(state) + size;
  int slot = (int)(log->written % CAROM_CHECKPOINT_SLOTS);
  size_t longest = log->longest[slot] > total ? log->longest[slot] : total;
  if (file->status != CAROM_OK || !reserve(log, file, longest)) return;
  carom_h5_array array = slot_array(slot);
  const int64_t nothing[CAROM_CHECKPOINT_META] = {0};
  int64_t row[CAROM_CHECKPOINT_META] = {log->written + 1, (int64_t)total, 0};
  pack(log->bytes, state, memory, size);
  row[2] = hash(log->bytes, total);
  write_meta(log, file, slot, nothing);
  carom_h5_append(file, log->slots[slot], &array, 0, (hsize_t)longest, log->bytes);
  write_meta(log, file, slot, row);
  log->longest[slot] = longest;
  if (file->status == CAROM_OK) log->written++;
}

// ---- reading --------------------------------------------------------------------------------------------------------

static unsigned char *read_slot(carom_h5_file *file, int slot, const int64_t *row) {
  hsize_t count = CAROM_H5_ANY;
  unsigned char *bytes = carom_h5_read(file, slot_array(slot).path, H5T_NATIVE_UCHAR, 1, 1, &count);
  if (bytes && count >= (hsize_t)row[1] && hash(bytes, (size_t)row[1]) == row[2]) return bytes;
  carom_release(&file->allocator, bytes);
  return NULL;
}

unsigned char *carom_checkpoint_read(carom_h5_file *file, size_t *size) {
  if (!carom_h5_has(file, "/checkpoint")) return NULL;
  hsize_t sizes[2] = {CAROM_CHECKPOINT_SLOTS, CAROM_CHECKPOINT_META};
  const char *path = carom_result_fields[CAROM_FIELD_CHECKPOINT_META].path;
  int64_t *meta = carom_h5_read(file, path, H5T_NATIVE_INT64, sizeof *meta, 2, sizes);
  if (!meta) return NULL;
  int newest = meta[CAROM_CHECKPOINT_META] > meta[0] ? 1 : 0;
  unsigned char *bytes = NULL;
  for (int i = 0; i < CAROM_CHECKPOINT_SLOTS && !bytes; i++) {
    int slot = i == 0 ? newest : 1 - newest;
    const int64_t *row = meta + slot * CAROM_CHECKPOINT_META;
    if (row[0] <= 0 || row[1] <= 0) continue;
    bytes = read_slot(file, slot, row);
    *size = (size_t)row[1];
  }
  carom_release(&file->allocator, meta);
  return bytes;
}

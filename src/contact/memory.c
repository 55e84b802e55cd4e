#include "contact/memory.h"

#include <math.h>

#include "base/memory.h"

static void lay_out(void *owner, carom_arena *arena) {
  carom_memory *m = owner;
  m->first = CAROM_PUSH(arena, int, m->model->body_count);
  m->last = CAROM_PUSH(arena, int, m->model->body_count);
  m->joints = CAROM_PUSH(arena, double, m->model->joint_count *CAROM_MEMORY_JOINT);
}

carom_status carom_memory_create(const carom_model *model, const carom_allocator *allocator, carom_memory **memory,
                                 carom_error *error) {
  const carom_memory initial = {.model = model};
  *memory = carom_object_create(&initial, sizeof initial, lay_out, allocator, error);
  return *memory ? CAROM_OK : CAROM_ERR_MEMORY;
}

void carom_memory_destroy(carom_memory *m) {
  if (!m) return;
  CAROM_RELEASE_ALL(&m->arena.allocator, m->records, m->noted, m->noted_body);
  carom_object_destroy(m);
}

static void forget_all(carom_memory *m) {
  m->count = 0;
  memset(m->first, 0, (size_t)m->model->body_count * sizeof *m->first);
  memset(m->last, 0, (size_t)m->model->body_count * sizeof *m->last);
}

void carom_memory_clear(carom_memory *m) {
  forget_all(m);
  memset(m->joints, 0, (size_t)m->model->joint_count * CAROM_MEMORY_JOINT * sizeof *m->joints);
}

void carom_memory_forget(carom_memory *m, int body) { m->last[body] = m->first[body]; }

// ---- writing ------------------------------------------------------------------------------------------------------

carom_status carom_memory_reserve(carom_memory *m, int count, carom_error *error) {
  forget_all(m);
  if (!carom_reserve(&m->arena.allocator, (void **)&m->records, &m->capacity, count, sizeof *m->records))
    return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for what %d contacts carry", count);
  m->count = count;
  return CAROM_OK;
}

void carom_memory_begin(carom_memory *m) { m->noted_count = 0; }

carom_status carom_memory_note(carom_memory *m, int body, const carom_memory_record *record, carom_error *error) {
  const carom_allocator *a = &m->arena.allocator;
  if (!carom_grow(a, (void **)&m->noted, m->noted_count, &m->noted_capacity, sizeof *m->noted) ||
      !carom_grow(a, (void **)&m->noted_body, m->noted_count, &m->body_capacity, sizeof *m->noted_body))
    return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for what %d contacts carry", m->noted_count + 1);
  m->noted[m->noted_count] = *record;
  m->noted_body[m->noted_count++] = body;
  return CAROM_OK;
}

// A counting sort by body; those of one body stay in order.
carom_status carom_memory_end(carom_memory *m, carom_error *error) {
  carom_status status = carom_memory_reserve(m, m->noted_count, error);
  if (status != CAROM_OK) return status;
  for (int i = 0; i < m->noted_count; i++) m->last[m->noted_body[i]]++;
  for (int b = 0, at = 0; b < m->model->body_count; b++) {
    int own = m->last[b];
    m->first[b] = m->last[b] = at;
    at += own;
  }
  for (int i = 0; i < m->noted_count; i++) m->records[m->last[m->noted_body[i]]++] = m->noted[i];
  return CAROM_OK;
}

// ---- reading ------------------------------------------------------------------------------------------------------

bool carom_memory_find(const carom_memory *m, int body, int64_t key, carom_vec3 point, carom_vec3 *force) {
  double least = INFINITY;
  for (int i = m->first[body]; i < m->last[body]; i++) {
    if (m->records[i].key != key) continue;
    double distance = cm_norm2(cm_sub(m->records[i].point, point));
    if (!(distance < least)) continue;
    least = distance;
    *force = m->records[i].force;
  }
  return least < INFINITY;
}

// ---- for checkpoints ----------------------------------------------------------------------------------------------

static bool pass_bodies(carom_memory *m, carom_tape *tape) {
  size_t bytes = (size_t)m->model->body_count * sizeof *m->first;
  if (!carom_tape_pass(tape, m->first, bytes) || !carom_tape_pass(tape, m->last, bytes)) return false;
  for (int b = 0; b < m->model->body_count; b++)
    if (m->first[b] < 0 || m->first[b] > m->last[b] || m->last[b] > m->count) return false;
  return true;
}

static bool pass_records(carom_memory *m, int count, carom_tape *tape) {
  if (!carom_tape_pass(tape, m->records, (size_t)count * sizeof *m->records)) return false;
  for (int i = 0; i < count && carom_tape_reads(tape); i++)
    if (!cm_finite(m->records[i].point) || !cm_finite(m->records[i].force)) return false;
  return true;
}

bool carom_memory_remember(carom_memory *m, carom_tape *tape) {
  int count = m->count;
  bool reads = carom_tape_reads(tape), good = carom_tape_pass_count(tape, &count, sizeof *m->records);
  if (good && reads) good = carom_memory_reserve(m, count, NULL) == CAROM_OK;
  good = good && pass_records(m, count, tape) && pass_bodies(m, tape) &&
         carom_tape_pass_numbers(tape, m->joints, (size_t)m->model->joint_count * CAROM_MEMORY_JOINT);
  if (!good && reads) carom_memory_clear(m);
  return good;
}

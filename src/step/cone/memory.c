// What contacts carried a step ago: the first guess of the next solve.
#include "step/cone/cone.h"

#include <limits.h>
#include <string.h>

#include "base/tape.h"

static const carom_cone_record *find(const carom_cone_memory *memory, int body, int64_t key) {
  for (int i = memory->first[body]; i < memory->last[body]; i++)
    if (memory->records[i].key == key) return &memory->records[i];
  return NULL;
}

carom_vec3 carom_cone_recall(const carom_cone_memory *memory, const carom_near *near) {
  const carom_cone_record *r = find(memory, near->a, near->key);
  if (r) return r->impulse;
  if (!near->mirrored) return cm_zero3();
  r = find(memory, near->b, near->a);
  return r ? cm_neg(r->impulse) : cm_zero3();
}

void carom_cone_forget(carom_cone_memory *memory, int body) { memory->last[body] = memory->first[body]; }

// Candidates come body by body, and so do their records.
carom_status carom_cone_remember(carom_cone *cone, carom_error *error) {
  carom_cone_memory *m = &cone->memory;
  int bodies = cone->model->body_count;
  if (!carom_cone_room(&cone->allocator, (void **)&m->records, &m->capacity, cone->active_count, sizeof *m->records))
    return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for %d contacts", cone->active_count);
  memset(m->first, 0, (size_t)bodies * sizeof *m->first);
  memset(m->last, 0, (size_t)bodies * sizeof *m->last);
#pragma omp parallel for num_threads(cone->threads) schedule(static) if (cone->threads > 1)
  for (int i = 0; i < cone->active_count; i++) {
    const carom_near *near = &cone->near[cone->active[i]];
    m->records[i] = (carom_cone_record){near->key, cone->impulses[cone->active[i]]};
    if (i == 0 || cone->near[cone->active[i - 1]].a != near->a) m->first[near->a] = i;
    if (i + 1 == cone->active_count || cone->near[cone->active[i + 1]].a != near->a) m->last[near->a] = i + 1;
  }
  m->count = cone->active_count;
  return CAROM_OK;
}

// ---- for checkpoints ----------------------------------------------------------------------------------------------

// A record with its body, as kept in a file.
typedef struct kept {
  int64_t body, key;
  carom_vec3 impulse;
} kept;

static void keep_records(const carom_cone *cone, carom_tape *tape) {
  const carom_cone_memory *m = &cone->memory;
  int64_t count = 0;
  for (int i = 0; i < cone->model->body_count; i++) count += m->last[i] - m->first[i];
  carom_tape_put(tape, &count, sizeof count);
  for (int i = 0; i < cone->model->body_count; i++)
    for (int k = m->first[i]; k < m->last[i]; k++) {
      kept record = {i, m->records[k].key, m->records[k].impulse};
      carom_tape_put(tape, &record, sizeof record);
    }
}

size_t carom_cone_memory_bytes(const carom_stepper *stepper, void *bytes) {
  const carom_cone *cone = stepper->work;
  carom_tape tape = {.bytes = bytes};
  keep_records(cone, &tape);
  carom_cone_joints_keep(cone, &tape);
  if (cone->parts) carom_keep_contacts(cone->parts, &tape);
  return tape.at;
}

static bool recall_records(carom_cone *cone, carom_tape *tape) {
  carom_cone_memory *m = &cone->memory;
  int bodies = cone->model->body_count, last = 0;
  int64_t count;
  if (!carom_tape_get(tape, &count, sizeof count) || count < 0 || count > INT_MAX) return false;
  if ((size_t)count > (tape->size - tape->at) / sizeof(kept)) return false;
  if (!carom_cone_room(&cone->allocator, (void **)&m->records, &m->capacity, (int)count, sizeof *m->records))
    return false;
  memset(m->first, 0, (size_t)bodies * sizeof *m->first);
  memset(m->last, 0, (size_t)bodies * sizeof *m->last);
  for (int i = 0; i < count; i++) {
    kept record;
    if (!carom_tape_get(tape, &record, sizeof record)) return false;
    if (record.body < last || record.body >= bodies) return false;  // they ascend
    if (record.body > last || i == 0) m->first[record.body] = i;
    last = (int)record.body;
    m->last[last] = i + 1;
    m->records[i] = (carom_cone_record){record.key, record.impulse};
  }
  m->count = (int)count;
  return true;
}

bool carom_cone_memory_recall(carom_stepper *stepper, const void *bytes, size_t size) {
  carom_cone *cone = stepper->work;
  carom_tape tape = {.from = bytes, .size = size};
  return recall_records(cone, &tape) && carom_cone_joints_recall(cone, &tape) &&
         (!cone->parts || carom_recall_contacts(cone->parts, &tape)) && carom_tape_ended(&tape);
}

// What contacts carried a step ago: the first guess of the next solve.
#include "step/cone.h"

#include <limits.h>
#include <string.h>

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

// Records are grouped by body a, in the order of the candidates.
carom_status carom_cone_remember(carom_cone *cone, carom_error *error) {
  carom_cone_memory *m = &cone->memory;
  int bodies = cone->model->body_count;
  if (!carom_cone_room(&cone->allocator, (void **)&m->records, &m->capacity, cone->active_count, sizeof *m->records))
    return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for %d contacts", cone->active_count);
  memset(m->last, 0, (size_t)bodies * sizeof *m->last);
  for (int i = 0; i < cone->active_count; i++) m->last[cone->near[cone->active[i]].a]++;
  int start = 0;
  for (int i = 0; i < bodies; i++) {
    int count = m->last[i];
    m->first[i] = m->last[i] = start;
    start += count;
  }
  for (int i = 0; i < cone->active_count; i++) {
    const carom_near *near = &cone->near[cone->active[i]];
    m->records[m->last[near->a]++] = (carom_cone_record){near->key, cone->impulses[cone->active[i]]};
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

size_t carom_cone_memory_bytes(const carom_stepper *stepper, void *bytes) {
  const carom_cone *cone = stepper->work;
  const carom_cone_memory *m = &cone->memory;
  size_t count = 0;
  for (int i = 0; i < cone->model->body_count; i++)
    for (int k = m->first[i]; k < m->last[i]; k++, count++) {
      if (!bytes) continue;
      kept record = {i, m->records[k].key, m->records[k].impulse};
      memcpy((unsigned char *)bytes + count * sizeof record, &record, sizeof record);
    }
  return count * sizeof(kept);
}

bool carom_cone_memory_recall(carom_stepper *stepper, const void *bytes, size_t size) {
  carom_cone *cone = stepper->work;
  carom_cone_memory *m = &cone->memory;
  size_t count = size / sizeof(kept);
  int bodies = cone->model->body_count, last = 0;
  if (size % sizeof(kept) != 0 || count > INT_MAX) return false;
  if (!carom_cone_room(&cone->allocator, (void **)&m->records, &m->capacity, (int)count, sizeof *m->records))
    return false;
  memset(m->first, 0, (size_t)bodies * sizeof *m->first);
  memset(m->last, 0, (size_t)bodies * sizeof *m->last);
  for (size_t i = 0; i < count; i++) {
    kept record;
    memcpy(&record, (const unsigned char *)bytes + i * sizeof record, sizeof record);
    if (record.body < last || record.body >= bodies) return false;  // they ascend
    if (record.body > last || i == 0) m->first[record.body] = (int)i;
    last = (int)record.body;
    m->last[last] = (int)i + 1;
    m->records[i] = (carom_cone_record){record.key, record.impulse};
  }
  m->count = (int)count;
  return true;
}

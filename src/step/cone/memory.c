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

bool carom_cone_remember_all(carom_stepper *stepper, carom_tape *tape) {
  carom_cone *cone = stepper->work;
  carom_cone_memory *m = &cone->memory;
  size_t bodies = (size_t)cone->model->body_count, joints = (size_t)cone->model->joint_count;
  int count = m->count;
  if (!carom_tape_pass_count(tape, &count, sizeof *m->records)) return false;
  if (!carom_cone_room(&cone->allocator, (void **)&m->records, &m->capacity, count, sizeof *m->records)) return false;
  m->count = count;
  if (!carom_tape_pass(tape, m->records, (size_t)count * sizeof *m->records) ||
      !carom_tape_pass(tape, m->first, bodies * sizeof *m->first) ||
      !carom_tape_pass(tape, m->last, bodies * sizeof *m->last))
    return false;
  for (size_t i = 0; i < bodies; i++)
    if (m->first[i] < 0 || m->first[i] > m->last[i] || m->last[i] > count) return false;
  return carom_tape_pass(tape, cone->joints.kept, joints * (CAROM_JOINT_ROWS + 4) * sizeof(double)) &&
         (!cone->parts || carom_contacts_remember(cone->parts, tape));
}

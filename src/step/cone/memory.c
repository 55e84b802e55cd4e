// What contacts carried a step ago: the first guess of the next solve.
#include "contact/memory.h"

#include "base/threads.h"
#include "step/cone/cone.h"

// A ball rolls on, and has one contact with each other thing: nothing is to be told apart by places on it.
static carom_vec3 place_on_a(const carom_cone *cone, const carom_state *state, const carom_near *near) {
  return cone->bodies.balls ? cm_zero3() : cm_unrotate(state->q[near->a], near->arm_a);
}

carom_vec3 carom_cone_recall(const carom_cone *cone, const carom_state *state, const carom_near *near) {
  carom_vec3 place = place_on_a(cone, state, near), force;
  if (carom_memory_find(cone->memory, near->a, near->key, place, &force)) return cm_scale(cone->h, force);
  if (near->mirrored && carom_memory_find(cone->memory, near->b, near->a, place, &force))
    return cm_scale(-cone->h, force);
  return cm_zero3();
}

// What is near comes body by body, and so do the records.
carom_status carom_cone_note_forces(carom_cone *cone, const carom_state *state, carom_error *error) {
  const carom_cone_program *p = &cone->program;
  const carom_near *near = cone->search.near;
  carom_memory *m = cone->memory;
  int count = p->active_count;
  carom_status status = carom_memory_reserve(m, count, error);
  if (status != CAROM_OK) return status;
  CAROM_PARALLEL_FOR(
      cone->threads, schedule(static), for (int i = 0; i < count; i++) {
        const carom_near *n = &near[p->active[i]];
        carom_vec3 force = cm_scale(1 / cone->h, p->impulses[p->active[i]]);
        m->records[i] = (carom_memory_record){n->key, place_on_a(cone, state, n), force};
        if (i == 0 || near[p->active[i - 1]].a != n->a) m->first[n->a] = i;
        if (i + 1 == count || near[p->active[i + 1]].a != n->a) m->last[n->a] = i + 1;
      });
  return CAROM_OK;
}

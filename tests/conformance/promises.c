// What every integrator owes on every scene that it takes: a run that is stopped and continued, or shared by more
// threads, has the same bits, and a way that was gone before asks nothing of the heap.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "conformance.h"
#include "heap_counter.h"

enum { SPLIT_STEPS = 60, THREAD_STEPS = 40 };

typedef struct runner {
  carom_state *state;
  carom_stepper *stepper;
} runner;

static bool begin(const carom_scene *scene, int threads, runner *r) {
  carom_step_options options = scene->step;
  options.threads = threads;
  *r = (runner){0};
  return carom_state_clone(scene->state, NULL, &r->state, NULL) == CAROM_OK &&
         carom_stepper_create(scene->model, &options, NULL, &r->stepper, NULL) == CAROM_OK;
}

static void end(runner *r) {
  carom_stepper_destroy(r->stepper);
  carom_state_destroy(r->state);
}

static bool steps(runner *r, int count) {
  for (int i = 0; i < count; i++)
    if (carom_stepper_step(r->stepper, r->state, NULL, NULL) != CAROM_OK) return false;
  return true;
}

static void broken(cell *c, const char *what) {
  c->outcome = CELL_WRONG;
  snprintf(c->reason, sizeof c->reason, "broken promise: %s", what);
}

// From the middle of the run on: by the same stepper, which has all the room that it needs, and by a new one.
static void check_continued(cell *c, const carom_scene *scene, runner *first, int count) {
  size_t size = carom_stepper_memory(first->stepper, NULL, 0);
  void *memory = malloc(size);
  carom_state *kept = NULL;
  runner second = {0};
  if (!memory || carom_state_clone(first->state, NULL, &kept, NULL) != CAROM_OK || !begin(scene, 1, &second)) abort();
  carom_stepper_memory(first->stepper, memory, size);
  steps(first, count);
  uint64_t hash = carom_state_hash(first->state);
  carom_state_copy(first->state, kept);
  carom_state_copy(second.state, kept);
  if (carom_stepper_recall(first->stepper, memory, size, NULL) != CAROM_OK ||
      carom_stepper_recall(second.stepper, memory, size, NULL) != CAROM_OK)
    broken(c, "a stepper does not take back what it remembers");
  long heap = heap_calls;
  steps(first, count);
  if (heap_calls != heap) broken(c, "steps ask the heap on a way that was gone before");
  steps(&second, count);
  if (carom_state_hash(first->state) != hash) broken(c, "the same stepper goes another way the second time");
  if (carom_state_hash(second.state) != hash) broken(c, "a run that is continued goes another way");
  end(&second);
  carom_state_destroy(kept);
  free(memory);
}

static void check_threads(cell *c, const carom_scene *scene, int count) {
  uint64_t hash[3];
  for (int threads = 1; threads <= 3; threads++) {
    runner r;
    if (!begin(scene, threads, &r)) abort();
    steps(&r, count);
    hash[threads - 1] = carom_state_hash(r.state);
    end(&r);
  }
  if (hash[1] != hash[0] || hash[2] != hash[0]) broken(c, "results depend on the number of threads");
}

void check_promises(cell *c, const carom_scene *scene) {
  int all = (int)lround(scene->duration / scene->step.step), part = all / 2 < SPLIT_STEPS ? all / 2 : SPLIT_STEPS;
  runner r;
  if (!begin(scene, 1, &r)) abort();
  steps(&r, all / 2);
  check_continued(c, scene, &r, part);
  end(&r);
  check_threads(c, scene, all < THREAD_STEPS ? all : THREAD_STEPS);
}

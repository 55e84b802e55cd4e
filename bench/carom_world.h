// Carom as one of the engines that the benchmarks set side by side: what one of its runs holds.
#ifndef CAROM_BENCH_CAROM_WORLD_H
#define CAROM_BENCH_CAROM_WORLD_H

#include <stdlib.h>

#include "carom/carom.h"

typedef struct carom_world {
  carom_model *model;
  carom_state *state;
  carom_stepper *stepper;
} carom_world;

static inline void carom_world_destroy(void *world) {
  carom_world *w = world;
  carom_stepper_destroy(w->stepper);
  carom_state_destroy(w->state);
  carom_model_destroy(w->model);
  free(w);
}

#endif

// Neighbours among balls of about one size. Balls are sorted by cell, slowest upwards, and rows of cells are walked
// side by side: no table of cells, so that it does not matter how far apart they are.
#ifndef CAROM_SRC_CONTACT_GRAINS_H
#define CAROM_SRC_CONTACT_GRAINS_H

#include "carom/base.h"
#include "carom/vec.h"

// Moving bodies from which on a pile is a flow: more contacts than are worth solving far, each a little off, as long as
// the sums are right.
enum { CAROM_FLOW = 200 };

// A ball; or a point, when its radius is 0.
typedef struct carom_grain {
  carom_vec3 x;
  double radius;
  double reach;  // how far it may get
} carom_grain;

typedef struct carom_grain_grid {
  carom_allocator allocator;
  int count;
  carom_grain *balls;             // (count) by number: filled by the caller before each sort
  carom_grain *grains;            // (count) sorted
  int *order, *order_scratch;     // (count) number of the ball in each place
  uint64_t *keys, *keys_scratch;  // (count)
  int *partners;                  // (count x slots) later places within reach
  int *partner_count;             // (count)
  int slots;
  int64_t row, layer;  // steps of the key to the next row of cells and the next layer
} carom_grain_grid;

carom_status carom_grain_grid_create(carom_grain_grid *grid, int count, const carom_allocator *allocator,
                                     carom_error *error);
void carom_grain_grid_destroy(carom_grain_grid *grid);

// Sorts the balls by cell. Layers are stacked along the axis `up` (0, 1, 2), or along one that is more than twice as
// long.
void carom_grain_grid_sort(carom_grain_grid *grid, int up, int threads);
// Fills partners: every pair nearer than both reaches together, from the earlier place. The same for any threads.
carom_status carom_grain_grid_pair(carom_grain_grid *grid, int threads, carom_error *error);

#endif

// Projected Gauss-Seidel for balls alone, where speed matters most: eight contacts side by side in single precision,
// accelerated by momentum, warm-started. What it leaves is put into the cones and judged in double
// precision: velocities are recomputed from the impulses, so that momentum is kept to the last bits, and the residual
// is the one of carom/qp.h.
#ifndef CAROM_SRC_STEP_CONE_SWEEP_H
#define CAROM_SRC_STEP_CONE_SWEEP_H

#include "base/arena.h"

enum { CAROM_SWEEP_LANES = 8, CAROM_SWEEP_COLORS = 64 };

// A ball while it is swept: velocity and inverse mass, spin times radius and radius^2 / inertia.
// Eight numbers in a row: v (3), inverse mass, s (3), k.
typedef struct carom_sweep_body {
  float v[8];
} carom_sweep_body;

enum { CAROM_SWEEP_INVERSE_MASS = 3, CAROM_SWEEP_SPIN = 4, CAROM_SWEEP_K = 7 };

// Eight contacts that have no ball in common. Velocities are in the units of the problem; the block of a contact is
// diag(along, across, across).
typedef struct carom_sweep_pack {
  float n[3][CAROM_SWEEP_LANES], bias[CAROM_SWEEP_LANES], mu[CAROM_SWEEP_LANES];
  float along[CAROM_SWEEP_LANES], across[CAROM_SWEEP_LANES];
  float arm_a[CAROM_SWEEP_LANES], arm_b[CAROM_SWEEP_LANES];  // over the radii
  float g[3][CAROM_SWEEP_LANES];                             // impulse
  float before[3][CAROM_SWEEP_LANES];                        // the impulse a sweep ago
  int a[CAROM_SWEEP_LANES], b[CAROM_SWEEP_LANES];
  int contact[CAROM_SWEEP_LANES];  // index, -1 for padding
} carom_sweep_pack;

// What a sweep did, with d the change that it made to the impulses that it was given: sum of squares and largest of
// along |d|; and whether it turned back, that is the sum of -along^2 d.(change since the last sweep).
typedef struct carom_sweep_change {
  double squares, turn;
  float largest;
} carom_sweep_change;

// Visits packs first .. last - 1, each from g + beta (g - before).
carom_sweep_change carom_sweep_visit(carom_sweep_pack *packs, int first, int last, float beta,
                                     carom_sweep_body *bodies);

typedef struct carom_sweep {
  carom_sweep_pack *packs;
  carom_sweep_body *bodies;              // (body_count + 1 + pseudo) movers by rank, the world, driven points
  carom_sweep_body *before, *course;     // (movers) before the sweep, and conjugate direction
  double (*velocity)[8];                 // (movers) in double precision: v, w
  uint64_t *used;                        // (movers) colours
  unsigned char *color;                  // (contacts)
  int start[CAROM_SWEEP_COLORS + 2];     // packs of each colour; the last is swept by one thread, one lane each
  carom_arena pack_memory, body_memory;  // for their alignment
  int pack_capacity, body_capacity, color_capacity, movers;
} carom_sweep;

carom_status carom_sweep_create(carom_sweep *sweep, int movers, const carom_allocator *allocator, carom_error *error);
void carom_sweep_destroy(carom_sweep *sweep, const carom_allocator *allocator);

#endif

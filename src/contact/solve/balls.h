// Projected Gauss-Seidel for balls alone, where speed matters most: eight contacts side by side in single precision,
// accelerated by momentum, warm-started. What it leaves is put into the cones and judged in double
// precision: velocities are recomputed from the impulses, so that momentum is kept to the last bits, and the residual
// is the one of carom/qp.h.
//
// Balls are in the order of the grid of cells, and so are contacts. They are swept in blocks of so many balls that the
// contacts of a block lead into itself and the next one at most: blocks stay in the cache while all their colours are
// swept, and even blocks, then odd ones, go side by side on any number of threads with the same result.
//
//     cone_sweep.c         the order of a solve, and the sweeps
//     cone_sweep_packs.c   blocks, colours, and contacts in packs of eight
//     cone_sweep_exact.c   velocities and residual in double precision
//     cone_visit.c         the heart of a sweep
#ifndef CAROM_SRC_CONTACT_SOLVE_BALLS_H
#define CAROM_SRC_CONTACT_SOLVE_BALLS_H

#include "base/arena.h"

enum { CAROM_SWEEP_LANES = 8, CAROM_SWEEP_COLORS = 64 };

// A ball while it is swept: velocity and inverse mass, spin times radius and radius^2 / inertia.
// Eight numbers in a row: v (3), inverse mass, s (3), k.
typedef struct carom_sweep_body {
  float v[8];
} carom_sweep_body;

enum { CAROM_SWEEP_INVERSE_MASS = 3, CAROM_SWEEP_SPIN = 4, CAROM_SWEEP_K = 7 };

// Eight contacts that have no ball in common. Velocities are in the units of the problem.
typedef struct carom_sweep_pack {
  float n[3][CAROM_SWEEP_LANES], bias[CAROM_SWEEP_LANES], mu[CAROM_SWEEP_LANES];
  float arm_a[CAROM_SWEEP_LANES], arm_b[CAROM_SWEEP_LANES];  // over the radii
  float g[3][CAROM_SWEEP_LANES];                             // impulse
  float before[3][CAROM_SWEEP_LANES];                        // the impulse a sweep ago
  int a[CAROM_SWEEP_LANES], b[CAROM_SWEEP_LANES];            // both the world: padding
} carom_sweep_pack;

// What a sweep did, with d the change that it made to the impulses that it was given: sum of squares and largest of
// along |d|; and whether it turned back, that is the sum of -along^2 d.(change since the last sweep).
typedef struct carom_sweep_change {
  double squares, turn;
  float largest;
  float deepest;  // speed with which the contacts that were found worst were about to overlap
} carom_sweep_change;

// Visits packs first .. last - 1, each from g + beta (g - before).
carom_sweep_change carom_sweep_visit(carom_sweep_pack *packs, int first, int last, float beta,
                                     carom_sweep_body *bodies);
// Bodies first .. last - 1 follow the extrapolation of the contacts: v + beta (v - before), and before becomes v.
void carom_sweep_extrapolate(carom_sweep_body *bodies, carom_sweep_body *before, int first, int last, float beta);

// Consecutive balls and the contacts that they are the first of.
typedef struct carom_sweep_block {
  int first_pack[CAROM_SWEEP_COLORS + 2];  // of each colour; those of the last have one contact each
  carom_sweep_change change;               // what the last sweep did
} carom_sweep_block;

// Contacts between balls of places a and b; b may be the world (movers) or a point of a driven surface (above it).
typedef struct carom_sweep_ends {
  int a, b;
} carom_sweep_ends;

typedef struct carom_sweep {
  carom_sweep_pack *packs;
  carom_sweep_body *bodies;              // (movers + 1 + driven) movers by rank, the world, driven points
  carom_sweep_body *before;              // (movers) a sweep ago
  double (*velocity)[8];                 // (movers) in double precision: v, w, inverse mass and moment
  int *own;                              // (movers + 1) first contact of each ball as a
  int *others;                           // (movers + 1) where its contacts as b begin in links
  int *links;                            // (contacts) in ascending order for each ball
  carom_sweep_ends *ends;                // (contacts)
  int *lane;                             // (contacts) place in the packs
  unsigned char *color;                  // (contacts)
  uint64_t *used[2];                     // (movers) colours taken, in even and odd blocks
  carom_sweep_block *blocks;             // (block_count)
  carom_arena pack_memory, body_memory;  // for their alignment
  int movers, driven, block_count, block_size, pack_count;
  int pack_capacity, body_capacity, link_capacity, end_capacity, lane_capacity, color_capacity;
} carom_sweep;

carom_status carom_sweep_create(carom_sweep *sweep, int movers, const carom_allocator *allocator, carom_error *error);
void carom_sweep_destroy(carom_sweep *sweep, const carom_allocator *allocator);

struct carom_cone;
// ---- cone_sweep_packs.c: who meets whom, and how many places they are apart at most; then colours and packs
carom_status carom_sweep_link(struct carom_cone *cone, int *farthest, carom_error *error);
carom_status carom_sweep_pack_up(struct carom_cone *cone, double h, carom_error *error);
carom_status carom_sweep_no_room(const struct carom_cone *cone, carom_error *error);
// ---- cone_sweep_exact.c: velocities from the impulses; impulses from the packs, put into their cones; the residual
void carom_sweep_set_velocities(struct carom_cone *cone);
void carom_sweep_take_impulses(struct carom_cone *cone);
double carom_sweep_residual(const struct carom_cone *cone, double h);

#endif

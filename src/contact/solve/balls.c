#include "contact/solve/balls.h"

#include <math.h>

#include "base/memory.h"
#include "step/cone/cone.h"

enum { LEAST_BLOCK = 512, SHARE = 256 };  // balls: smaller blocks leave too many packs half empty

// ---- memory -------------------------------------------------------------------------------------------------------

carom_status carom_sweep_create(carom_sweep *sweep, int movers, const carom_allocator *allocator, carom_error *error) {
  *sweep = (carom_sweep){.movers = movers};
  sweep->velocity = carom_allocate(allocator, (size_t)movers, sizeof *sweep->velocity);
  sweep->own = CAROM_NEW(allocator, int, movers + 1);
  sweep->others = CAROM_NEW(allocator, int, movers + 2);
  sweep->used[0] = CAROM_NEW(allocator, uint64_t, movers);
  sweep->used[1] = CAROM_NEW(allocator, uint64_t, movers);
  sweep->blocks = CAROM_NEW(allocator, carom_sweep_block, movers / LEAST_BLOCK + 1);
  if (sweep->velocity && sweep->own && sweep->others && sweep->used[0] && sweep->used[1] && sweep->blocks)
    return CAROM_OK;
  carom_sweep_destroy(sweep, allocator);
  return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for the sweeps of %d grains", movers);
}

void carom_sweep_destroy(carom_sweep *sweep, const carom_allocator *allocator) {
  carom_arena_destroy(&sweep->pack_memory);
  carom_arena_destroy(&sweep->body_memory);
  void *blocks[] = {sweep->velocity, sweep->own,     sweep->others, sweep->links, sweep->ends,
                    sweep->used[0],  sweep->used[1], sweep->lane,   sweep->color, sweep->blocks};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) carom_release(allocator, blocks[i]);
  *sweep = (carom_sweep){0};
}

carom_status carom_sweep_no_room(const carom_cone *cone, carom_error *error) {
  return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for a program of %d contacts", cone->active_count);
}

// ---- sweeps -------------------------------------------------------------------------------------------------------
// Called by all threads of a team at once.

static carom_sweep_change sweep_once(carom_sweep *s, float beta) {
  for (int parity = 0; parity < 2; parity++) {
#pragma omp for schedule(static)
    for (int k = parity; k < s->block_count; k += 2) {
      carom_sweep_block *b = &s->blocks[k];
      b->change = carom_sweep_visit(s->packs, b->first_pack[0], b->first_pack[CAROM_SWEEP_COLORS + 1], beta, s->bodies);
    }
  }
  carom_sweep_change total = {0};
  for (int k = 0; k < s->block_count; k++) {
    const carom_sweep_change *part = &s->blocks[k].change;
    total.squares += part->squares;
    total.turn += part->turn;
    total.largest = part->largest > total.largest ? part->largest : total.largest;
    total.deepest = part->deepest > total.deepest ? part->deepest : total.deepest;
  }
  return total;
}

// Bodies follow the extrapolation of the contacts.
static void extrapolate(carom_sweep *s, float beta) {
#pragma omp for schedule(static)
  for (int i = 0; i < s->movers; i += SHARE)
    carom_sweep_extrapolate(s->bodies, s->before, i, i + SHARE < s->movers ? i + SHARE : s->movers, beta);
}

// Sweeps as the steps of Nesterov's method (1983), afresh where they turn back (O'Donoghue and Candes 2015) or grow.
static int run_sweeps(carom_sweep *s, int most, double tolerance, double enough) {
  double theta = 1, lowest = INFINITY;
  float beta = 0;
  for (int i = 1; i <= most; i++) {
    if (i > 1) extrapolate(s, beta);
    carom_sweep_change change = sweep_once(s, beta);
    if (change.largest <= tolerance || change.deepest <= enough) return i;
    bool afresh = change.turn > 0 || change.squares > 2 * lowest;
    double next = 0.5 * theta * (sqrt(theta * theta + 4) - theta);
    beta = afresh ? 0 : (float)(theta * (1 - theta) / (theta * theta + next));
    theta = afresh ? 1 : next;
    lowest = afresh ? change.squares : fmin(lowest, change.squares);
  }
  return most;
}

static int sweep_all(carom_cone *cone, int most, double tolerance, double enough) {
  int sweeps = 0;
#pragma omp parallel num_threads(cone->threads) if (cone->threads > 1 && cone->sweep.block_count > 1)
  {
    int count = run_sweeps(&cone->sweep, most, tolerance, enough);
#pragma omp master
    sweeps = count;
  }
  return sweeps;
}

// ---- the solve ----------------------------------------------------------------------------------------------------

static void fill_bodies(carom_cone *cone) {
  carom_sweep *s = &cone->sweep;
#pragma omp parallel for num_threads(cone->threads) schedule(static) if (cone->threads > 1)
  for (int i = 0; i < s->movers; i++) {
    const double *V = s->velocity[i];
    double r = cone->grid.grains[i].radius;
    s->bodies[i] = (carom_sweep_body){{(float)V[0], (float)V[1], (float)V[2], (float)V[6], (float)(r * V[3]),
                                       (float)(r * V[4]), (float)(r * V[5]), (float)(r * r * V[7])}};
    s->before[i] = s->bodies[i];
  }
  s->bodies[s->movers] = (carom_sweep_body){0};
}

// Blocks of at least as many balls as lie between any two that meet.
static void cut_blocks(carom_sweep *s, int farthest) {
  s->block_size = farthest > LEAST_BLOCK ? farthest : LEAST_BLOCK;
  s->block_count = (s->movers + s->block_size - 1) / s->block_size;
}

carom_status carom_cone_sweep(carom_cone *cone, double h, int most, double tolerance, double enough, int *iterations,
                              double *left, carom_error *error) {
  int farthest;
  carom_status status = carom_sweep_link(cone, &farthest, error);
  if (status != CAROM_OK) return status;
  cut_blocks(&cone->sweep, farthest);
  carom_sweep_set_velocities(cone);
  fill_bodies(cone);
  if ((status = carom_sweep_pack_up(cone, h, error)) != CAROM_OK) return status;
  *iterations += sweep_all(cone, most, 0.5 * tolerance, enough / h);
  carom_sweep_take_impulses(cone);
  carom_sweep_set_velocities(cone);
  *left = carom_sweep_residual(cone, h);
  return CAROM_OK;
}

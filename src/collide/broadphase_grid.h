// A hashed uniform grid over numbered items whose boxes are of about one size.
#ifndef CAROM_SRC_COLLIDE_BROADPHASE_GRID_H
#define CAROM_SRC_COLLIDE_BROADPHASE_GRID_H

#include "carom/collide.h"

typedef struct carom_grid_entry {
  carom_aabb box;
  int cell[3];     // of the box's low corner
  int next, last;  // within the bucket, -1: none; last == CAROM_GRID_ABSENT: not in the grid
} carom_grid_entry;

enum { CAROM_GRID_ABSENT = -2 };

typedef struct carom_grid {
  carom_grid_entry *entries;  // (capacity)
  int *head;                  // (buckets) first item of each bucket, -1: none
  int capacity, buckets;      // buckets: a power of two
  double limit;               // no side of a box in the grid is longer
  double cells_per_metre;
} carom_grid;

// How long the sides of a population are: counts by octave, to tell the usual from the exceptional.
enum { CAROM_OCTAVES = 1024 };
typedef struct carom_sides {
  int octave[CAROM_OCTAVES];      // sides in [2^(k-513), 2^(k-512)); all below and above in the first and last
  double longest[CAROM_OCTAVES];  // in each octave
  int count;
} carom_sides;

void carom_grid_init(carom_grid *grid);
void carom_grid_release(carom_grid *grid, const carom_allocator *allocator);
// Room for items 0 .. capacity-1; false when out of memory, with the grid as it was. Nothing else allocates. The
// buckets change, so the grid must be cleared and filled again: true in *stale.
bool carom_grid_reserve(carom_grid *grid, const carom_allocator *allocator, int capacity, bool *stale);

// Empties the grid and chooses its cells for such boxes.
void carom_grid_clear(carom_grid *grid, const carom_sides *sides);
void carom_sides_add(carom_sides *sides, double side);

// The cell of a coordinate, less `slack` cells; and the bucket of a cell: neighbours along x are neighbours in memory.
int carom_grid_cell(const carom_grid *grid, double x, double slack);
int carom_grid_bucket(const carom_grid *grid, int x, int y, int z);
bool carom_grid_fits(const carom_grid *grid, const carom_aabb *box);  // not longer than the cells allow
void carom_grid_insert(carom_grid *grid, int item, const carom_aabb *box);
void carom_grid_remove(carom_grid *grid, int item);
int carom_grid_query(const carom_grid *grid, const carom_aabb *box, int *hits);  // as carom_tree_query

#endif

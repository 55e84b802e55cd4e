// Each item lies in one cell, that of its low corner. No side in the grid is longer than `limit`, so whatever overlaps
// a box has its low corner in [low - limit, high]: a fixed handful of cells. Cells are hashed, as the world has no
// bounds; items of different cells that share a bucket are told apart by the cell they carry.
#include "collide/broadphase_grid.h"

#include <math.h>

#include "collide/broadphase_box.h"
#include "collide/broadphase_memory.h"

// Cell over limit. Small cells hold few strangers but are many; 1 is a default that has not been tuned.
#define CELL_SIZE 1.0
// Coordinates of cells are clamped to this, which is monotonic, hence still right; only very far things are slow.
#define FURTHEST 1e9
// Covers the rounding of low - limit, in cells: 1e9 of them times a few 2^-53.
#define SLACK 1e-5
// Boxes longer than this many usual ones are left to the list of exceptions.
enum { USUAL_OCTAVES = 2 };

void carom_grid_init(carom_grid *grid) {
  carom_grid empty = {.limit = 0, .cells_per_metre = 1};
  *grid = empty;
}

void carom_grid_release(carom_grid *grid, const carom_allocator *allocator) {
  CAROM_RELEASE_ALL(allocator, grid->entries, grid->head);
  carom_grid_init(grid);
}

bool carom_grid_reserve(carom_grid *grid, const carom_allocator *allocator, int capacity, bool *stale) {
  if (capacity <= grid->capacity) return true;
  if (capacity > INT32_MAX / 4) return false;
  int buckets = 16;
  while (buckets < 2 * capacity) buckets *= 2;
  if (!CAROM_RESIZE(allocator, grid->entries, capacity) || !CAROM_RESIZE(allocator, grid->head, buckets)) return false;
  for (int i = grid->capacity; i < capacity; i++) grid->entries[i].last = CAROM_GRID_ABSENT;
  grid->capacity = capacity;
  grid->buckets = buckets;
  *stale = true;
  return true;
}

// ---- the size of the cells -----------------------------------------------------------------------------------------

void carom_sides_add(carom_sides *sides, double side) {
  int exponent = -CAROM_OCTAVES;
  if (side > 0) frexp(side, &exponent);
  int k = exponent + CAROM_OCTAVES / 2;
  k = k < 0 ? 0 : k >= CAROM_OCTAVES ? CAROM_OCTAVES - 1 : k;
  sides->octave[k]++;
  sides->longest[k] = carom_higher(sides->longest[k], side);
  sides->count++;
}

// The longest side within two octaves of the median: a floor among pebbles does not count.
static double usual_side(const carom_sides *sides) {
  int below = 0, k = 0;
  while (k < CAROM_OCTAVES - 1 && 2 * (below + sides->octave[k]) < sides->count) below += sides->octave[k++];
  double longest = 0;
  for (int i = 0; i <= k + USUAL_OCTAVES && i < CAROM_OCTAVES; i++) longest = carom_higher(longest, sides->longest[i]);
  return longest;
}

void carom_grid_clear(carom_grid *grid, const carom_sides *sides) {
  for (int i = 0; i < grid->buckets; i++) grid->head[i] = -1;
  for (int i = 0; i < grid->capacity; i++) grid->entries[i].last = CAROM_GRID_ABSENT;
  // A quarter more, as boxes of turning bodies breathe.
  grid->limit = 1.25 * usual_side(sides);
  grid->cells_per_metre = grid->limit > 1e-100 ? 1 / (CELL_SIZE * grid->limit) : 1;
}

// ---- items ---------------------------------------------------------------------------------------------------------

int carom_grid_cell(const carom_grid *grid, double x, double slack) {
  double c = floor(x * grid->cells_per_metre - slack);
  return (int)carom_lower(carom_higher(c, -FURTHEST), FURTHEST);
}

int carom_grid_bucket(const carom_grid *grid, int x, int y, int z) {
  uint64_t row = ((uint64_t)(uint32_t)y << 32 | (uint32_t)z) * 0x9E3779B97F4A7C15u;
  row ^= row >> 32;
  row *= 0xD6E8FEB86659FD93u;
  return (int)(((uint32_t)(row >> 32) + (uint32_t)x) & (uint32_t)(grid->buckets - 1));
}

bool carom_grid_fits(const carom_grid *grid, const carom_aabb *box) {
  return carom_box_largest_side(box) <= grid->limit;
}

void carom_grid_insert(carom_grid *grid, int item, const carom_aabb *box) {
  carom_grid_entry *e = &grid->entries[item];
  e->box = *box;
  e->cell[0] = carom_grid_cell(grid, box->low.x, 0);
  e->cell[1] = carom_grid_cell(grid, box->low.y, 0);
  e->cell[2] = carom_grid_cell(grid, box->low.z, 0);
  int *head = &grid->head[carom_grid_bucket(grid, e->cell[0], e->cell[1], e->cell[2])];
  e->next = *head;
  e->last = -1;
  if (*head >= 0) grid->entries[*head].last = item;
  *head = item;
}

void carom_grid_remove(carom_grid *grid, int item) {
  carom_grid_entry *e = &grid->entries[item];
  if (e->last >= 0)
    grid->entries[e->last].next = e->next;
  else
    grid->head[carom_grid_bucket(grid, e->cell[0], e->cell[1], e->cell[2])] = e->next;
  if (e->next >= 0) grid->entries[e->next].last = e->last;
  e->last = CAROM_GRID_ABSENT;
}

// ---- queries -------------------------------------------------------------------------------------------------------

static int query_cell(const carom_grid *grid, const int cell[3], const carom_aabb *box, int *hits) {
  int count = 0;
  for (int i = grid->head[carom_grid_bucket(grid, cell[0], cell[1], cell[2])]; i >= 0; i = grid->entries[i].next) {
    const carom_grid_entry *e = &grid->entries[i];
    if (e->cell[0] == cell[0] && e->cell[1] == cell[1] && e->cell[2] == cell[2] && carom_box_overlap(&e->box, box))
      hits[count++] = i;
  }
  return count;
}

int carom_grid_query(const carom_grid *grid, const carom_aabb *box, int *hits) {
  int from[3], to[3], at[3], count = 0;
  from[0] = carom_grid_cell(grid, box->low.x - grid->limit, SLACK), to[0] = carom_grid_cell(grid, box->high.x, 0);
  from[1] = carom_grid_cell(grid, box->low.y - grid->limit, SLACK), to[1] = carom_grid_cell(grid, box->high.y, 0);
  from[2] = carom_grid_cell(grid, box->low.z - grid->limit, SLACK), to[2] = carom_grid_cell(grid, box->high.z, 0);
  for (at[2] = from[2]; at[2] <= to[2]; at[2]++)
    for (at[1] = from[1]; at[1] <= to[1]; at[1]++)
      for (at[0] = from[0]; at[0] <= to[0]; at[0]++) count += query_cell(grid, at, box, hits + count);
  return count;
}

#include "contact/grains.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"

enum { FIRST_SLOTS = 24, DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS };
static const double MOST_CELLS = 1 << 20;  // along an axis: keys stay below 2^62

carom_status carom_grain_grid_create(carom_grain_grid *grid, int count, const carom_allocator *allocator,
                                     carom_error *error) {
  *grid = (carom_grain_grid){.allocator = *allocator, .count = count, .slots = FIRST_SLOTS};
  if (CAROM_NEW_ALL(allocator, CAROM_ROOM(grid->balls, count), CAROM_ROOM(grid->grains, count),
                    CAROM_ROOM(grid->order, count), CAROM_ROOM(grid->order_scratch, count),
                    CAROM_ROOM(grid->keys, count), CAROM_ROOM(grid->keys_scratch, count),
                    CAROM_ROOM(grid->partner_count, count), CAROM_ROOM(grid->partners, (size_t)count * FIRST_SLOTS)))
    return CAROM_OK;
  carom_grain_grid_destroy(grid);
  return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for the cells of %d grains", count);
}

void carom_grain_grid_destroy(carom_grain_grid *grid) {
  CAROM_RELEASE_ALL(&grid->allocator, grid->balls, grid->grains, grid->order, grid->order_scratch, grid->keys,
                    grid->keys_scratch, grid->partner_count, grid->partners);
  *grid = (carom_grain_grid){.allocator = grid->allocator};
}

// ---- sorting ------------------------------------------------------------------------------------------------------

typedef struct cells {
  double low[3], per_metre;
  int64_t across[3];  // cells along each axis and an empty one at either end
} cells;

static void components(carom_vec3 x, double out[3]) { out[0] = x.x, out[1] = x.y, out[2] = x.z; }

// Cells as long as two of the largest balls may be apart and still meet.
static cells choose_cells(const carom_grain_grid *grid, int threads) {
  double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY}, side = 0;
  CAROM_PARALLEL_FOR(
      threads,
      schedule(static) reduction(min
                                 : low[:3]) reduction(max
                                                      : high[:3], side),
      for (int i = 0; i < grid->count; i++) {
        double x[3], room = 2 * (grid->balls[i].radius + grid->balls[i].reach);
        components(grid->balls[i].x, x);
        for (int k = 0; k < 3; k++) {
          low[k] = x[k] < low[k] ? x[k] : low[k];
          high[k] = x[k] > high[k] ? x[k] : high[k];
        }
        side = room > side ? room : side;
      });
  cells c = {.low = {low[0], low[1], low[2]}};
  c.per_metre = 1 / (side * (1 + 1e-9));
  for (int k = 0; k < 3; k++) c.across[k] = (int64_t)fmin((high[k] - c.low[k]) * c.per_metre, MOST_CELLS) + 3;
  return c;
}

// Far-off balls share the outermost cells: neighbours stay neighbours.
static int64_t cell_of(const cells *c, int axis, double x) {
  return (int64_t)fmin((x - c->low[axis]) * c->per_metre, MOST_CELLS) + 1;
}

// By least significant digits: stable, so that balls of one cell stay in the order of their numbers.
static void radix_sort(carom_grain_grid *grid, uint64_t largest) {
  for (int shift = 0; shift < 64 && largest >> shift; shift += DIGIT_BITS) {
    int start[DIGITS + 1] = {0};
    for (int i = 0; i < grid->count; i++) start[((grid->keys[i] >> shift) & (DIGITS - 1)) + 1]++;
    for (int d = 0; d < DIGITS; d++) start[d + 1] += start[d];
    for (int i = 0; i < grid->count; i++) {
      int to = start[(grid->keys[i] >> shift) & (DIGITS - 1)]++;
      grid->keys_scratch[to] = grid->keys[i];
      grid->order_scratch[to] = grid->order[i];
    }
    uint64_t *keys = grid->keys;
    int *order = grid->order;
    grid->keys = grid->keys_scratch, grid->keys_scratch = keys;
    grid->order = grid->order_scratch, grid->order_scratch = order;
  }
}

// Thin layers make short ways between neighbours in the order.
static int slowest_axis(const cells *c, int up) {
  int slow = up;
  for (int k = 0; k < 3; k++)
    if (c->across[k] > 2 * c->across[up] && c->across[k] > c->across[slow]) slow = k;
  return slow;
}

void carom_grain_grid_sort(carom_grain_grid *grid, int up, int threads) {
  cells c = choose_cells(grid, threads);
  int slow = slowest_axis(&c, up), middle = (slow + 1) % 3, fast = (slow + 2) % 3;
  uint64_t largest = 0;
  grid->row = c.across[fast];
  grid->layer = c.across[fast] * c.across[middle];
  CAROM_PARALLEL_FOR(
      threads,
      schedule(static) reduction(max
                                 : largest),
      for (int i = 0; i < grid->count; i++) {
        double x[3];
        components(grid->balls[i].x, x);
        int64_t key = cell_of(&c, slow, x[slow]) * grid->layer + cell_of(&c, middle, x[middle]) * grid->row +
                      cell_of(&c, fast, x[fast]);
        grid->keys[i] = (uint64_t)key;
        grid->order[i] = i;
        if (grid->keys[i] > largest) largest = grid->keys[i];
      });
  radix_sort(grid, largest);
  CAROM_PARALLEL_FOR(threads, schedule(static),
                     for (int i = 0; i < grid->count; i++) grid->grains[i] = grid->balls[grid->order[i]]);
}

// ---- pairs --------------------------------------------------------------------------------------------------------

enum { ROWS = 5 };  // the ball's own row, the next in its layer, and three in the next layer

static int lower_bound(const carom_grain_grid *grid, uint64_t key) {
  int low = 0, high = grid->count;
  while (low < high) {
    int middle = low + (high - low) / 2;
    if (grid->keys[middle] < key)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static inline bool within_reach(const carom_grain *a, const carom_grain *b) {
  double d = a->radius + b->radius + a->reach + b->reach;
  return cm_norm2(cm_sub(a->x, b->x)) <= d * d;
}

// Cursors only move forward, as the balls' own keys do. Returns the most partners that a ball has.
static int pair_range(carom_grain_grid *grid, int first, int last) {
  const int64_t step[ROWS] = {0, grid->row, grid->layer - grid->row, grid->layer, grid->layer + grid->row};
  int cursor[ROWS], most = 0;
  for (int r = 0; r < ROWS && first < last; r++)
    cursor[r] = lower_bound(grid, grid->keys[first] + (uint64_t)(step[r] - (r > 0)));
  for (int i = first; i < last; i++) {
    int *partners = grid->partners + (size_t)i * (size_t)grid->slots, count = 0;
    for (int r = 0; r < ROWS; r++) {
      uint64_t low = grid->keys[i] + (uint64_t)(step[r] - (r > 0)), high = grid->keys[i] + (uint64_t)(step[r] + 1);
      int j = cursor[r];
      while (j < grid->count && grid->keys[j] < low) j++;
      cursor[r] = j;
      if (r == 0) j = i + 1;
      for (; j < grid->count && grid->keys[j] <= high; j++) {
        if (!within_reach(&grid->grains[i], &grid->grains[j])) continue;
        if (count < grid->slots) partners[count] = j;
        count++;
      }
    }
    grid->partner_count[i] = count;
    most = count > most ? count : most;
  }
  return most;
}

carom_status carom_grain_grid_pair(carom_grain_grid *grid, int threads, carom_error *error) {
  for (;;) {
    int most = 0, share = 1 + grid->count / (4 * threads);
    CAROM_PARALLEL_FOR(
        threads,
        schedule(static, 1) reduction(max
                                      : most),
        for (int first = 0; first < grid->count; first += share) {
          int m = pair_range(grid, first, first + share < grid->count ? first + share : grid->count);
          most = m > most ? m : most;
        });
    if (most <= grid->slots) return CAROM_OK;
    int slots = most + most / 4;
    int *larger = carom_allocate(&grid->allocator, (size_t)grid->count * (size_t)slots, sizeof(int));
    if (!larger)
      return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for the neighbours of %d grains", grid->count);
    carom_release(&grid->allocator, grid->partners);
    grid->partners = larger;
    grid->slots = slots;
  }
}

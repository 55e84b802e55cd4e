// The insides of the broad phase, for its tests.
#ifndef CAROM_SRC_COLLIDE_BROADPHASE_H
#define CAROM_SRC_COLLIDE_BROADPHASE_H

#include "collide/broadphase_grid.h"
#include "collide/broadphase_pairs.h"
#include "collide/broadphase_tree.h"

typedef struct carom_proxy {
  int body;
  uint32_t group, mask;
  int apart;      // place in the list of exceptions
  int next_free;  // of a number that is not in use
} carom_proxy;

enum carom_proxy_flag {
  CAROM_PROXY_ALIVE = 1,
  CAROM_PROXY_FIXED = 2,
  CAROM_PROXY_FRESH = 4,     // added since the last update: its pairs, if any, are those of a predecessor
  CAROM_PROXY_TOUCHED = 8,   // in the list of those to look at
  CAROM_PROXY_INDEXED = 16,  // in the tree or grid
  CAROM_PROXY_APART = 32,    // in the list of exceptions
};

struct carom_broadphase {
  carom_allocator allocator;
  carom_broadphase_options options;
  carom_proxy *proxies;      // (capacity)
  carom_aabb *fat;           // (capacity) box and margin
  carom_aabb *seen;          // (capacity) fat box at the last update: tells whether a pair is new, without a look-up
  uint8_t *flags;            // (capacity) carom_proxy_flag; apart from the rest as dropping pairs reads nothing else
  int *touched;              // (capacity) added, moved out of their fat boxes or removed since the last update
  uint64_t *keys, *scratch;  // (capacity) to sort the touched ones
  int *hits;                 // (capacity) of one query
  int *apart;                // (capacity) too large for the tree or grid: infinite, or a floor among pebbles
  int capacity, used, free_number, touched_count, apart_count;
  bool refilter;  // an exclusion was made since the last update
  carom_tree tree;
  carom_grid grid;
  bool grid_stale;                  // must be filled again
  int grid_changes, grid_patience;  // proxies added since it was filled, and how many of these it bears
  int grid_apart;                   // and how many exceptions
  carom_pairs pairs;
  carom_exclusions excluded;
  carom_status misuse;  // of a function that cannot fail; told by the next update
  int misused;          // by which proxy
};

#endif

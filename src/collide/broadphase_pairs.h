// Pairs that persist, sorted, and the body pairs that are excluded.
#ifndef CAROM_SRC_COLLIDE_BROADPHASE_PAIRS_H
#define CAROM_SRC_COLLIDE_BROADPHASE_PAIRS_H

#include "carom/collide.h"

typedef struct carom_pairs {
  carom_pair *list;           // (count) sorted by (a, b)
  uint64_t *fresh, *scratch;  // (fresh_count) keys of pairs found since the last merge, in any order, none twice
  int count, fresh_count;
  int capacity;  // of all three: fresh pairs are never more than all pairs, so that this grows with `count` only
  int64_t next_id;
} carom_pairs;

void carom_pairs_release(carom_pairs *pairs, const carom_allocator *allocator);
bool carom_pairs_reserve(carom_pairs *pairs, const carom_allocator *allocator, int capacity);
bool carom_pairs_add(carom_pairs *pairs, const carom_allocator *allocator, int a, int b);  // to the fresh ones
// Sorts the fresh pairs, numbers them in this order and merges them into the list, which has room for them.
void carom_pairs_merge(carom_pairs *pairs);

// A hash set of pairs of bodies (open addressing, linear probing).
typedef struct carom_exclusions {
  uint64_t *slots;  // (capacity) key + 1, 0: empty
  int count, capacity;
} carom_exclusions;

void carom_exclusions_release(carom_exclusions *set, const carom_allocator *allocator);
bool carom_exclusions_add(carom_exclusions *set, const carom_allocator *allocator, int a, int b);
bool carom_exclusions_have(const carom_exclusions *set, int a, int b);

#endif

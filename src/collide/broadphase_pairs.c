#include "collide/broadphase_pairs.h"

#include <string.h>

#include "collide/broadphase_memory.h"
#include "collide/broadphase_sort.h"

static uint64_t key_of(int a, int b) {
  return a < b ? (uint64_t)(uint32_t)a << 32 | (uint32_t)b : (uint64_t)(uint32_t)b << 32 | (uint32_t)a;
}

// ---- pairs ---------------------------------------------------------------------------------------------------------

void carom_pairs_release(carom_pairs *pairs, const carom_allocator *allocator) {
  CAROM_RELEASE_ALL(allocator, pairs->list, pairs->fresh, pairs->scratch);
  memset(pairs, 0, sizeof *pairs);
}

bool carom_pairs_reserve(carom_pairs *pairs, const carom_allocator *allocator, int capacity) {
  if (capacity <= pairs->capacity) return true;
  int larger = pairs->capacity < 32 ? 32 : pairs->capacity > INT32_MAX / 2 ? INT32_MAX : 2 * pairs->capacity;
  if (larger < capacity) larger = capacity;
  if (!CAROM_RESIZE(allocator, pairs->list, larger) || !CAROM_RESIZE(allocator, pairs->fresh, larger) ||
      !CAROM_RESIZE(allocator, pairs->scratch, larger))
    return false;
  pairs->capacity = larger;
  return true;
}

bool carom_pairs_add(carom_pairs *pairs, const carom_allocator *allocator, int a, int b) {
  if (pairs->fresh_count == INT32_MAX || !carom_pairs_reserve(pairs, allocator, pairs->fresh_count + 1)) return false;
  pairs->fresh[pairs->fresh_count++] = key_of(a, b);
  return true;
}

void carom_pairs_merge(carom_pairs *pairs) {
  carom_sort_keys(&pairs->fresh, &pairs->scratch, pairs->fresh_count);
  // From the back, so that nothing is overwritten before it was moved.
  int old = pairs->count - 1, at = pairs->count + pairs->fresh_count - 1;
  for (int i = pairs->fresh_count - 1; i >= 0; at--) {
    if (old >= 0 && key_of(pairs->list[old].a, pairs->list[old].b) > pairs->fresh[i]) {
      pairs->list[at] = pairs->list[old--];
    } else {
      carom_pair made = {(int)(pairs->fresh[i] >> 32), (int)(pairs->fresh[i] & 0xFFFFFFFFu), pairs->next_id + i};
      pairs->list[at] = made;
      i--;
    }
  }
  pairs->next_id += pairs->fresh_count;
  pairs->count += pairs->fresh_count;
  pairs->fresh_count = 0;
}

// ---- exclusions ----------------------------------------------------------------------------------------------------

void carom_exclusions_release(carom_exclusions *set, const carom_allocator *allocator) {
  carom_release(allocator, set->slots);
  memset(set, 0, sizeof *set);
}

// The slot of a key, or the empty one where it belongs.
static size_t slot_of(const uint64_t *slots, int capacity, uint64_t key) {
  uint64_t hash = key * 0x9E3779B97F4A7C15u;
  size_t mask = (size_t)capacity - 1, i = (size_t)(hash >> 32) & mask;
  while (slots[i] && slots[i] != key + 1) i = (i + 1) & mask;
  return i;
}

static bool grow_exclusions(carom_exclusions *set, const carom_allocator *allocator) {
  if (2 * set->count < set->capacity) return true;
  if (set->capacity > INT32_MAX / 4) return false;
  int capacity = set->capacity ? 2 * set->capacity : 16;
  uint64_t *slots = CAROM_NEW(allocator, uint64_t, capacity);
  if (!slots) return false;
  for (int i = 0; i < set->capacity; i++)
    if (set->slots[i]) slots[slot_of(slots, capacity, set->slots[i] - 1)] = set->slots[i];
  carom_release(allocator, set->slots);
  set->slots = slots;
  set->capacity = capacity;
  return true;
}

bool carom_exclusions_add(carom_exclusions *set, const carom_allocator *allocator, int a, int b) {
  if (!grow_exclusions(set, allocator)) return false;
  uint64_t *slot = &set->slots[slot_of(set->slots, set->capacity, key_of(a, b))];
  if (!*slot) set->count++;
  *slot = key_of(a, b) + 1;
  return true;
}

bool carom_exclusions_have(const carom_exclusions *set, int a, int b) {
  return set->count > 0 && set->slots[slot_of(set->slots, set->capacity, key_of(a, b))];
}

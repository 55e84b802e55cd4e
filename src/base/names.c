#include "base/names.h"

#include <string.h>

#include "base/memory.h"

uint64_t carom_hash_bytes(uint64_t hash, const void *bytes, size_t size) {
  const unsigned char *byte = bytes;
  for (size_t i = 0; i < size; i++) hash = (hash ^ byte[i]) * 0x100000001b3u;
  return hash;
}

void carom_names_create(carom_names *names, const carom_allocator *allocator) {
  *names = (carom_names){.allocator = carom_allocator_or_default(allocator)};
}

void carom_names_destroy(carom_names *names) {
  CAROM_RELEASE_ALL(&names->allocator, names->name, names->index);
  carom_names_create(names, &names->allocator);
}

// The slot that holds the name, or the free one where it would go. There is always a free slot.
static int find_slot(const carom_names *names, const char *name) {
  uint64_t hash = carom_hash_bytes(CAROM_HASH_START, name, strlen(name));
  int slot = (int)(hash & (uint64_t)(names->capacity - 1));
  while (names->name[slot] && strcmp(names->name[slot], name) != 0) slot = (slot + 1) & (names->capacity - 1);
  return slot;
}

static bool enlarge(carom_names *names) {
  carom_names larger = {.count = names->count, .capacity = names->capacity ? 2 * names->capacity : 16};
  larger.allocator = names->allocator;
  if (!CAROM_NEW_ALL(&larger.allocator, CAROM_ROOM(larger.name, larger.capacity),
                     CAROM_ROOM(larger.index, larger.capacity))) {
    carom_names_destroy(&larger);
    return false;
  }
  for (int i = 0; i < names->capacity; i++) {
    if (!names->name[i]) continue;
    int slot = find_slot(&larger, names->name[i]);
    larger.name[slot] = names->name[i];
    larger.index[slot] = names->index[i];
  }
  carom_names_destroy(names);
  *names = larger;
  return true;
}

bool carom_names_add(carom_names *names, const char *name, int index) {
  if (2 * (names->count + 1) > names->capacity && !enlarge(names)) return false;
  int slot = find_slot(names, name);
  if (names->name[slot]) return true;
  names->name[slot] = name;
  names->index[slot] = index;
  names->count++;
  return true;
}

int carom_names_find(const carom_names *names, const char *name) {
  if (names->capacity == 0) return -1;
  int slot = find_slot(names, name);
  return names->name[slot] ? names->index[slot] : -1;
}

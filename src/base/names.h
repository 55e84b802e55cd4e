// A table from names to indices (open addressing, FNV-1a), for bodies and materials that are looked up by name.
// The names themselves belong to the caller and must stay put.
#ifndef CAROM_SRC_BASE_NAMES_H
#define CAROM_SRC_BASE_NAMES_H

#include "carom/base.h"

typedef struct carom_names {
  const char **name;  // (capacity), null where free
  int *index;         // (capacity)
  int count, capacity;
  carom_allocator allocator;
} carom_names;

void carom_names_create(carom_names *names, const carom_allocator *allocator);
void carom_names_destroy(carom_names *names);
// False when out of memory. A name that is there already keeps its first index.
bool carom_names_add(carom_names *names, const char *name, int index);
int carom_names_find(const carom_names *names, const char *name);  // -1 when absent

// FNV-1a over bytes, from `hash` on; begin with CAROM_HASH_START.
#define CAROM_HASH_START 0xcbf29ce484222325u
uint64_t carom_hash_bytes(uint64_t hash, const void *bytes, size_t size);

#endif

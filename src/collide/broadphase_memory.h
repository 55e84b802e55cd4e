// Arrays of the broad phase grow together, to one common capacity.
#ifndef CAROM_SRC_COLLIDE_BROADPHASE_MEMORY_H
#define CAROM_SRC_COLLIDE_BROADPHASE_MEMORY_H

#include "base/memory.h"

// Room for `count` elements, the new ones not initialised; false when out of memory, with the array as it was. An
// array that grew while a sister failed is merely larger than needed, so callers have nothing to undo.
static inline bool carom_resize(const carom_allocator *allocator, void **array, int count, size_t size) {
  if ((size_t)count > (size_t)PTRDIFF_MAX / size) return false;
  size_t bytes = (size_t)count * size;
  void *moved =
      *array ? allocator->resize(allocator->context, *array, bytes) : allocator->allocate(allocator->context, bytes);
  if (moved) *array = moved;
  return moved != NULL;
}
#define CAROM_RESIZE(allocator, array, count) carom_resize((allocator), (void **)&(array), (count), sizeof *(array))

#endif

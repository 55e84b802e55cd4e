#include "base/memory.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static void *default_allocate(void *context, size_t size) {
  (void)context;
  return malloc(size);
}

static void *default_resize(void *context, void *block, size_t size) {
  (void)context;
  return realloc(block, size);
}

static void default_release(void *context, void *block) {
  (void)context;
  free(block);
}

carom_allocator carom_allocator_default(void) {
  carom_allocator allocator = {NULL, default_allocate, default_resize, default_release};
  return allocator;
}

carom_allocator carom_allocator_or_default(const carom_allocator *allocator) {
  return allocator ? *allocator : carom_allocator_default();
}

void *carom_allocate(const carom_allocator *allocator, size_t count, size_t size) {
  if (size > 0 && count > (size_t)PTRDIFF_MAX / size) return NULL;
  size_t bytes = count * size > 0 ? count * size : 1;
  void *block = allocator->allocate(allocator->context, bytes);
  return block ? memset(block, 0, bytes) : NULL;
}

void carom_release(const carom_allocator *allocator, void *block) {
  if (block) allocator->release(allocator->context, block);
}

char *carom_copy_text_n(const carom_allocator *allocator, const char *text, size_t length) {
  char *copy = carom_allocate(allocator, length + 1, 1);
  if (copy) memcpy(copy, text, length);
  return copy;
}

bool carom_allocate_all(const carom_allocator *allocator, const carom_room *blocks, size_t count) {
  bool enough = true;
  for (size_t i = 0; i < count; i++) {
    *blocks[i].pointer = carom_allocate(allocator, blocks[i].count, blocks[i].size);
    enough = enough && *blocks[i].pointer;
  }
  return enough;
}

void carom_release_all(const carom_allocator *allocator, void *const *blocks, size_t count) {
  for (size_t i = 0; i < count; i++) carom_release(allocator, blocks[i]);
}

char *carom_copy_text(const carom_allocator *allocator, const char *text) {
  return carom_copy_text_n(allocator, text, strlen(text));
}

bool carom_grow(const carom_allocator *allocator, void **array, int count, int *capacity, size_t size) {
  if (count < *capacity) return true;
  if (*capacity > INT_MAX / 2) return false;
  int larger = *capacity < 8 ? 8 : 2 * *capacity;
  if ((size_t)larger > (size_t)PTRDIFF_MAX / size) return false;
  void *moved = *array ? allocator->resize(allocator->context, *array, (size_t)larger * size)
                       : allocator->allocate(allocator->context, (size_t)larger * size);
  if (!moved) return false;
  *array = moved;
  *capacity = larger;
  return true;
}

bool carom_reserve(const carom_allocator *allocator, void **array, int *capacity, int count, size_t size) {
  while (*capacity < count)
    if (!carom_grow(allocator, array, *capacity, capacity, size)) return false;
  return true;
}

// Thin helpers over the public allocator, and growing arrays.
#ifndef CAROM_SRC_BASE_MEMORY_H
#define CAROM_SRC_BASE_MEMORY_H

#include "carom/base.h"

// The allocator itself, or the default one for null.
carom_allocator carom_allocator_or_default(const carom_allocator *allocator);

// count * size bytes, zeroed; null when out of memory or when the product overflows. count 0 gives a valid block.
void *carom_allocate(const carom_allocator *allocator, size_t count, size_t size);
void carom_release(const carom_allocator *allocator, void *block);  // null is fine
// Several blocks, in this order; null ones are fine.
void carom_release_all(const carom_allocator *allocator, void *const *blocks, size_t count);
#define CAROM_RELEASE_ALL(allocator, ...) \
  carom_release_all((allocator), (void *[]){__VA_ARGS__}, sizeof((void *[]){__VA_ARGS__}) / sizeof(void *))
char *carom_copy_text(const carom_allocator *allocator, const char *text);  // null when out of memory
char *carom_copy_text_n(const carom_allocator *allocator, const char *text, size_t length);

#define CAROM_NEW(allocator, type, count) ((type *)carom_allocate((allocator), (size_t)(count), sizeof(type)))

// Several blocks, zeroed as above; false when one of them is null.
//     CAROM_NEW_ALL(a, CAROM_ROOM(w->x, n), CAROM_ROOM(w->pivots, n))
typedef struct carom_room {
  void **pointer;
  size_t count, size;
} carom_room;
bool carom_allocate_all(const carom_allocator *allocator, const carom_room *blocks, size_t count);
#define CAROM_ROOM(array, count) \
  { (void **)&(array), (size_t)(count), sizeof *(array) }
#define CAROM_NEW_ALL(allocator, ...)                                \
  carom_allocate_all((allocator), (const carom_room[]){__VA_ARGS__}, \
                     sizeof((const carom_room[]){__VA_ARGS__}) / sizeof(carom_room))

// Makes room for one more element in an array with `*count` of `*capacity` used; false when out of memory.
// New room is not initialised.
bool carom_grow(const carom_allocator *allocator, void **array, int count, int *capacity, size_t size);

// Makes room for `count` elements in all; what is in it stays.
bool carom_reserve(const carom_allocator *allocator, void **array, int *capacity, int count, size_t size);

#endif

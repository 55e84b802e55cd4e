// Scratch memory as a marked stack: set-up reserves it once, steps and queries push and pop. An arena that is all zero
// only counts: pushes give null and add up in `used`, so that the same pushes run twice, first to learn the size.
#ifndef CAROM_SRC_BASE_ARENA_H
#define CAROM_SRC_BASE_ARENA_H

#include "carom/base.h"

typedef struct carom_arena {
  unsigned char *memory;
  size_t capacity, used;
  size_t high_water;  // most bytes ever in use: tells whether the reserve was well chosen
  carom_allocator allocator;
} carom_arena;

typedef size_t carom_arena_mark;

carom_status carom_arena_create(carom_arena *arena, size_t capacity, const carom_allocator *allocator,
                                carom_error *error);
void carom_arena_destroy(carom_arena *arena);

// 64-byte aligned; all zero when it is pushed for the first time. Null when the reserve is exhausted (a mistake in its
// sizing), or when the arena only counts.
void *carom_arena_push(carom_arena *arena, size_t size);
#define CAROM_PUSH(arena, type, count) ((type *)carom_arena_push((arena), sizeof(type) * (size_t)(count)))

carom_arena_mark carom_arena_get_mark(const carom_arena *arena);
void carom_arena_pop(carom_arena *arena, carom_arena_mark mark);

// The pushes of an object, run twice: first to learn the size, then in memory, all zero where that is new. The arena
// has its allocator, and grows by half more than asked for, so that what comes and goes seldom makes it grow; what was
// in it is gone.
typedef void carom_arena_layout(void *owner, carom_arena *arena);
carom_status carom_arena_lay_out(carom_arena *arena, carom_arena_layout *layout, void *owner, carom_error *error);

// An object of that size, as `initial` but for its first member, which is the arena that the layout is pushed into.
// Null when out of memory.
void *carom_object_create(const void *initial, size_t size, carom_arena_layout *layout,
                          const carom_allocator *allocator, carom_error *error);
void carom_object_destroy(void *object);  // with its arena

// What one push of `size` bytes takes from the capacity; sum these to size an arena.
size_t carom_arena_cost(size_t size);

#endif

#include "base/arena.h"

#include <assert.h>

#include "base/memory.h"

enum { ALIGNMENT = 64 };  // a cache line, and the widest vector register

static size_t align_up(size_t n) { return (n + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1); }

size_t carom_arena_cost(size_t size) { return align_up(size); }

carom_status carom_arena_create(carom_arena *arena, size_t capacity, const carom_allocator *allocator,
                                carom_error *error) {
  carom_allocator a = carom_allocator_or_default(allocator);
  size_t bytes = align_up(capacity) + ALIGNMENT;  // room to align the first block
  unsigned char *memory = carom_allocate(&a, bytes, 1);
  if (!memory) return carom_fail(error, CAROM_ERR_MEMORY, "out of memory: %zu bytes of scratch", bytes);
  *arena = (carom_arena){.memory = memory, .capacity = align_up(capacity), .allocator = a};
  return CAROM_OK;
}

void carom_arena_destroy(carom_arena *arena) {
  carom_release(&arena->allocator, arena->memory);
  *arena = (carom_arena){0};
}

void *carom_arena_push(carom_arena *arena, size_t size) {
  size_t need = align_up(size);
  if (!arena->memory) {
    arena->used += need;
    return NULL;
  }
  bool fits = need >= size && need <= arena->capacity - arena->used;
  if (!fits) return NULL;
  uintptr_t base = (uintptr_t)arena->memory;
  unsigned char *first = arena->memory + (align_up(base) - base);
  void *block = first + arena->used;
  arena->used += need;
  if (arena->used > arena->high_water) arena->high_water = arena->used;
  return block;
}

carom_arena_mark carom_arena_get_mark(const carom_arena *arena) { return arena->used; }

void carom_arena_pop(carom_arena *arena, carom_arena_mark mark) {
  assert(mark <= arena->used);
  arena->used = mark;
}

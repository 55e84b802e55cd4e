#include "base/arena.h"

#include <assert.h>
#include <string.h>

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
  if (arena->memory) carom_release(&arena->allocator, arena->memory);
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

carom_status carom_arena_lay_out(carom_arena *arena, carom_arena_layout *layout, void *owner, carom_error *error) {
  carom_arena counting = {0}, larger;
  layout(owner, &counting);
  if (!arena->memory || counting.used > arena->capacity) {
    size_t spare = arena->memory ? counting.used / 2 : 0;
    carom_status status = carom_arena_create(&larger, counting.used + spare, &arena->allocator, error);
    if (status != CAROM_OK) return status;
    if (arena->memory) carom_arena_destroy(arena);
    *arena = larger;
  }
  carom_arena_pop(arena, 0);
  layout(owner, arena);
  return CAROM_OK;
}

void *carom_object_create(const void *initial, size_t size, carom_arena_layout *layout,
                          const carom_allocator *allocator, carom_error *error) {
  carom_allocator a = carom_allocator_or_default(allocator);
  void *object = carom_allocate(&a, 1, size);
  if (!object) {
    carom_fail(error, CAROM_ERR_MEMORY, "out of memory: %zu bytes", size);
    return NULL;
  }
  memcpy(object, initial, size);
  *(carom_arena *)object = (carom_arena){.allocator = a};
  if (carom_arena_lay_out(object, layout, object, error) == CAROM_OK) return object;
  carom_release(&a, object);
  return NULL;
}

void carom_object_destroy(void *object) {
  carom_allocator a = ((carom_arena *)object)->allocator;
  carom_arena_destroy(object);
  carom_release(&a, object);
}

carom_arena_mark carom_arena_get_mark(const carom_arena *arena) { return arena->used; }

void carom_arena_pop(carom_arena *arena, carom_arena_mark mark) {
  assert(mark <= arena->used);
  arena->used = mark;
}

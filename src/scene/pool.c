#include "scene/pool.h"

#include <stdalign.h>
#include <string.h>

#include "base/memory.h"

enum { BLOCK_SIZE = 1 << 16, ALIGNMENT = alignof(max_align_t) };

struct carom_pool_block {
  carom_pool_block *next;
  size_t capacity;
  alignas(ALIGNMENT) unsigned char memory[];
};

void carom_pool_create(carom_pool *pool, const carom_allocator *allocator) {
  *pool = (carom_pool){.allocator = carom_allocator_or_default(allocator)};
}

void carom_pool_destroy(carom_pool *pool) {
  while (pool->first) {
    carom_pool_block *next = pool->first->next;
    carom_release(&pool->allocator, pool->first);
    pool->first = next;
  }
}

static carom_pool_block *new_block(carom_pool *pool, size_t capacity) {
  carom_pool_block *block = carom_allocate(&pool->allocator, sizeof *block + capacity, 1);
  if (block)
    block->capacity = capacity;
  else
    pool->failed = true;
  return block;
}

// A large request gets a block of its own behind the first, which keeps its free rest in use.
static void *get_large(carom_pool *pool, size_t size) {
  carom_pool_block *block = new_block(pool, size);
  if (!block) return NULL;
  if (pool->first) {
    block->next = pool->first->next;
    pool->first->next = block;
  } else {
    pool->first = block;
    pool->used = size;
  }
  return block->memory;
}

void *carom_pool_get(carom_pool *pool, size_t size) {
  if (size > PTRDIFF_MAX - BLOCK_SIZE) {
    pool->failed = true;
    return NULL;
  }
  size = (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
  if (size > BLOCK_SIZE / 4) return get_large(pool, size);
  if (!pool->first || pool->first->capacity - pool->used < size) {
    carom_pool_block *block = new_block(pool, BLOCK_SIZE);
    if (!block) return NULL;
    block->next = pool->first;
    pool->first = block;
    pool->used = 0;
  }
  void *memory = pool->first->memory + pool->used;
  pool->used += size;
  return memory;
}

char *carom_pool_text(carom_pool *pool, const char *text, size_t length) {
  char *copy = carom_pool_get(pool, length + 1);
  if (copy && length > 0) memcpy(copy, text, length);
  return copy;
}

bool carom_pool_grow(carom_pool *pool, void **array, int count, int *capacity, size_t size) {
  if (count < *capacity) return true;
  size_t larger = *capacity < 8 ? 16 : 2 * (size_t)*capacity;
  if (larger > INT32_MAX) {
    pool->failed = true;
    return false;
  }
  void *moved = carom_pool_get(pool, larger * size);
  if (!moved) return false;
  if (count > 0) memcpy(moved, *array, (size_t)count * size);
  *array = moved;
  *capacity = (int)larger;
  return true;
}

static void *face_allocate(void *context, size_t size) { return carom_pool_get(context, size); }

// Nothing that lives in a pool is ever resized: tables make new room and copy.
static void *face_resize(void *context, void *block, size_t size) {
  (void)context, (void)block, (void)size;
  return NULL;
}

static void face_release(void *context, void *block) { (void)context, (void)block; }

carom_allocator carom_pool_allocator(carom_pool *pool) {
  return (carom_allocator){pool, face_allocate, face_resize, face_release};
}

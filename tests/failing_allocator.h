// An allocator that serves a given number of requests and refuses the rest, and counts the blocks that are out.
#ifndef CAROM_TESTS_FAILING_ALLOCATOR_H
#define CAROM_TESTS_FAILING_ALLOCATOR_H

#include <stdlib.h>

#include "carom/base.h"

typedef struct failing_allocator {
  int allowed;   // requests that succeed; negative means all
  int calls;     // requests so far, refused ones included
  int live;      // blocks that were not given back
  size_t bytes;  // asked for in all: a measure of work that no other process disturbs
} failing_allocator;

static inline bool failing_allocator_refuses(failing_allocator *f) {
  return f->calls++ >= f->allowed && f->allowed >= 0;
}

static inline void *failing_allocate(void *context, size_t size) {
  failing_allocator *f = context;
  if (failing_allocator_refuses(f)) return NULL;
  void *block = malloc(size);
  if (block) f->live++, f->bytes += size;
  return block;
}

static inline void *failing_resize(void *context, void *block, size_t size) {
  failing_allocator *f = context;
  if (failing_allocator_refuses(f)) return NULL;
  void *moved = realloc(block, size);
  if (moved && !block) f->live++;
  f->bytes += size;
  return moved;
}

static inline void failing_release(void *context, void *block) {
  failing_allocator *f = context;
  f->live--;
  free(block);
}

static inline carom_allocator failing_allocator_of(failing_allocator *f) {
  carom_allocator a = {f, failing_allocate, failing_resize, failing_release};
  return a;
}

#endif

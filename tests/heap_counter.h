// Counts calls to the heap by everything in the process, the libraries beneath included. For one source file of a test.
#ifndef CAROM_TESTS_HEAP_COUNTER_H
#define CAROM_TESTS_HEAP_COUNTER_H

#include <errno.h>
#include <limits.h>
#include <malloc.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define MALLOC_COUNTED 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define MALLOC_COUNTED 0
#endif
#endif
#ifndef MALLOC_COUNTED
#ifdef __GLIBC__
#define MALLOC_COUNTED 1
#else
#define MALLOC_COUNTED 0
#endif
#endif

static _Atomic long heap_calls;            // requests so far: malloc, calloc, realloc and their aligned kin
static _Atomic long heap_left = LONG_MAX;  // requests that are still served

#if MALLOC_COUNTED
// The linker prefers these to the C library's own, for every library in the process; they must be seen to be preferred.
#define SEEN __attribute__((visibility("default")))
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
static bool heap_serves(void) {
  heap_calls++;
  return heap_left == LONG_MAX || heap_left-- > 0;
}
SEEN void *malloc(size_t size) { return heap_serves() ? __libc_malloc(size) : NULL; }
SEEN void *calloc(size_t count, size_t size) { return heap_serves() ? __libc_calloc(count, size) : NULL; }
SEEN void *realloc(void *block, size_t size) { return heap_serves() ? __libc_realloc(block, size) : NULL; }
SEEN void *aligned_alloc(size_t alignment, size_t size) {
  return heap_serves() ? __libc_memalign(alignment, size) : NULL;
}
SEEN void *memalign(size_t alignment, size_t size) { return heap_serves() ? __libc_memalign(alignment, size) : NULL; }
SEEN int posix_memalign(void **block, size_t alignment, size_t size) {
  *block = heap_serves() ? __libc_memalign(alignment, size) : NULL;
  return *block ? 0 : ENOMEM;
}
#endif

#endif

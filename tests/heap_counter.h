// Counts the calls to the heap of the whole process, libraries included: for tests of code that must not make any. To
// be included by the one source of a test.
#ifndef CAROM_TESTS_HEAP_COUNTER_H
#define CAROM_TESTS_HEAP_COUNTER_H

#include <stddef.h>

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

static _Atomic long heap_calls;

#if MALLOC_COUNTED
// The linker prefers these to the C library's own, for every library in the process.
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);
void *malloc(size_t size) {
  heap_calls++;
  return __libc_malloc(size);
}
void *calloc(size_t count, size_t size) {
  heap_calls++;
  return __libc_calloc(count, size);
}
void *realloc(void *block, size_t size) {
  heap_calls++;
  return __libc_realloc(block, size);
}
#endif

#endif

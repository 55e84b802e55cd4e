// Whether files compiled for AVX2 are part of the library, and whether this machine can run them.
#ifndef CAROM_SRC_COLLIDE_AVX2_H
#define CAROM_SRC_COLLIDE_AVX2_H

#include <stdbool.h>

// CAROM_NO_AVX2 leaves them out: valgrind does not know every encoding of their instructions.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(CAROM_NO_AVX2)
#define CAROM_HAS_AVX2
static inline bool carom_has_avx2(void) { return __builtin_cpu_supports("avx2"); }
#else
static inline bool carom_has_avx2(void) { return false; }
#endif

#endif

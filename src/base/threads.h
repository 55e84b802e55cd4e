// How many threads to use, and loops that they share.
#ifndef CAROM_SRC_BASE_THREADS_H
#define CAROM_SRC_BASE_THREADS_H

#ifdef _OPENMP
#include <omp.h>
#endif

// As many as asked for; 0 means one per processor. Always 1 in builds without OpenMP.
static inline int carom_thread_count(int asked) {
#ifdef _OPENMP
  return asked > 0 ? asked : omp_get_num_procs();
#else
  (void)asked;
  return 1;
#endif
}

// A loop in parallel, `clauses` as in OpenMP: CAROM_PARALLEL_FOR(threads, schedule(static), for (...) statement). One
// thread gets a plain loop, since libgomp asks the heap for a team in every parallel region, even for a team of one.
#define CAROM_PARALLEL_FOR(threads, clauses, ...)                 \
  do {                                                            \
    if ((threads) > 1) {                                          \
      CAROM_PRAGMA(omp parallel for num_threads(threads) clauses) \
      __VA_ARGS__;                                                \
    } else {                                                      \
      __VA_ARGS__;                                                \
    }                                                             \
  } while (0)
#define CAROM_PRAGMA(...) _Pragma(#__VA_ARGS__)

#endif

// How many threads to use.
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

#endif

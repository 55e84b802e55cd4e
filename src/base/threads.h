// How many threads to use, and loops that they share.
#ifndef CAROM_SRC_BASE_THREADS_H
#define CAROM_SRC_BASE_THREADS_H

#include <stdint.h>

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

// A thread among those that go through a function together. A team of one is in no parallel region.
typedef struct carom_team {
  int size, me;
} carom_team;

// To be asked in a parallel region.
static inline carom_team carom_team_here(void) {
#ifdef _OPENMP
  return (carom_team){omp_get_num_threads(), omp_get_thread_num()};
#else
  return (carom_team){1, 0};
#endif
}

// Where the share of this thread begins in 0 .. count - 1; that of the next thread begins where it ends.
static inline int carom_team_share(carom_team team, int count) { return (int)((int64_t)count * team.me / team.size); }
static inline int carom_team_share_end(carom_team team, int count) {
  return (int)((int64_t)count * (team.me + 1) / team.size);
}

// Until all are here.
static inline void carom_team_wait(carom_team team) {
  if (team.size > 1) {
#pragma omp barrier
  }
}

#endif

// One complementarity problem after another, solved by every solver there is.
#ifndef CAROM_BENCH_LCP_H
#define CAROM_BENCH_LCP_H

#include <stdbool.h>

typedef struct bench_lcp_solver {
  const char *name, *version;  // version null for Carom
  int largest;                 // most pairs that make sense
  const char *reason;          // why
  // Solves w = M z + q (M column-major), from nothing, as a caller would who keeps the scratch for this n. Fills z and
  // *iterations (-1 when not told). The benchmark looks at z, not at what the solver says of itself.
  void *(*create)(int n);
  void (*solve)(void *work, int n, double *M, double *q, double *z, int *iterations);
  void (*destroy)(void *work);
} bench_lcp_solver;

#ifdef BENCH_SICONOS
extern const bench_lcp_solver bench_siconos_lemke, bench_siconos_newton;
#endif

#endif

// Problems of Coulomb friction, solved by every solver there is.
#ifndef CAROM_BENCH_FRICTION_H
#define CAROM_BENCH_FRICTION_H

#include "carom/friction.h"

typedef struct bench_friction_solver {
  const char *name, *version;
  int dimensions;  // bit 2: contacts in the plane, bit 3: in space
  // Makes ready what is not timed, for W by sparse blocks.
  void *(*create)(const carom_friction_problem *problem);
  // Solves from nothing to the solver's own tolerance; fills r. Whether that is good the benchmark looks at itself.
  void (*solve)(void *work, double tolerance, double *r);
  void (*destroy)(void *work);
} bench_friction_solver;

#ifdef BENCH_SICONOS
extern const bench_friction_solver bench_siconos_nsgs, bench_siconos_nsn_ac, bench_siconos_admm, bench_siconos_plane;
#endif

#endif

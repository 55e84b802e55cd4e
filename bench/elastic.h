// A block of rubber that is thrown and rings: one job for all engines.
#ifndef CAROM_BENCH_ELASTIC_H
#define CAROM_BENCH_ELASTIC_H

#include "bench.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct elastic_job {
  int node_count, tet_count;
  const double *nodes;     // (node_count x 3) at rest
  const double *velocity;  // (node_count x 3) at the start
  const int *tets;         // (tet_count x 4)
  const double *mass;      // (node_count) lumped
  double lambda, mu, dt;
  int threads;
} elastic_job;

typedef struct elastic_engine {
  const char *name;
  const char *version;  // null for Carom itself
  const char *precision;
  int largest;                                             // most tetrahedra that make sense
  void *(*create)(const elastic_job *job, char *message);  // null on failure, with a reason in message (200)
  void (*step)(void *world, int steps);
  void (*read)(void *world, int node, double x[3], double v[3]);
  void (*destroy)(void *world);
} elastic_engine;

extern const elastic_engine elastic_carom, elastic_midpoint, elastic_naive;
#ifdef BENCH_BULLET
extern const elastic_engine elastic_bullet;
#endif

#ifdef __cplusplus
}
#endif
#endif

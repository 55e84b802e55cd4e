// Two blocks of rubber, one pressed onto the other and sliding over it: one job for both methods.
#ifndef CAROM_BENCH_TOUCHING_H
#define CAROM_BENCH_TOUCHING_H

#include "bench.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { TOUCHING_BLOCKS = 2 };

typedef struct touching_block {
  int node_count, tet_count;
  const double *nodes;  // (node_count x 3) at the start
  const int *tets;      // (tet_count x 4)
  const double *mass;   // (node_count) lumped
  double velocity[3];   // of all nodes
} touching_block;

typedef struct touching_job {
  touching_block block[TOUCHING_BLOCKS];  // the one below, the one above
  double lambda, mu, dt;
} touching_job;

typedef struct touching_engine {
  const char *name;
  const char *version;  // null for Carom itself
  const char *precision;
  int largest;                                              // most tetrahedra that make sense
  void *(*create)(const touching_job *job, char *message);  // null on failure, with a reason in message (200)
  bool (*step)(void *world, int steps);                     // false when a step failed
  void (*read)(void *world, int block, int node, double x[3], double v[3]);
  double (*stored)(void *world);  // J, in contacts; 0 where there is no such thing
  void (*destroy)(void *world);
} touching_engine;

extern const touching_engine touching_carom, touching_midpoint;

#ifdef __cplusplus
}
#endif
#endif

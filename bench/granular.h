// Balls poured into an open box: the job, and the interface behind which every engine does it.
#ifndef CAROM_BENCH_GRANULAR_H
#define CAROM_BENCH_GRANULAR_H

#include "bench.h"

#ifdef __cplusplus
extern "C" {
#endif

// SI units. The floor is z = 0, the walls are at +- width / 2 along x and y.
typedef struct grains_job {
  int count;
  double radius, density, friction, width, dt, gravity;
  int threads;               // for Carom; peers run on one
  const double (*start)[3];  // (count) centres
} grains_job;

typedef struct grains_engine {
  const char *name, *version, *precision;
  int largest;                                            // most balls that make sense
  void *(*create)(const grains_job *job, char *message);  // null on failure, with a reason (BENCH_MESSAGE)
  bool (*step)(void *world);                              // one step of dt; false when it broke
  void (*read)(void *world, int body, double x[3], double v[3], double w[3]);
  void (*destroy)(void *world);
} grains_engine;

extern const grains_engine grains_carom;
#ifdef BENCH_ODE
extern const grains_engine grains_ode;
#endif
#ifdef BENCH_BULLET
extern const grains_engine grains_bullet;
#endif
#ifdef BENCH_MUJOCO
extern const grains_engine grains_mujoco;
#endif

#ifdef __cplusplus
}
#endif
#endif

// A part without inertia, pushed along a wall by a probe: steps, and the complementarity problems in them.
#ifndef CAROM_BENCH_PUSHING_H
#define CAROM_BENCH_PUSHING_H

#include <stdbool.h>

// Lengths in mm, forces in uN.
typedef struct pushing_job {
  double a, b, damping, friction;  // sides of the part, N s/m is uN s/mm times 1e-3
  double radius, x, y, u, v;       // of the probe, where it begins, how it moves
  double wall;                     // the part's side of it, y
  double dt;                       // s
} pushing_job;

// w = M z + q (column-major): `equations` rows with w = 0 and free unknowns first, then pairs.
typedef struct pushing_solver {
  const char *name, *version;  // version null for Carom
  void *(*create)(int equations, int pairs);
  void (*solve)(void *work, int equations, int pairs, double *M, double *q, double *z);
  void (*destroy)(void *work);
} pushing_solver;

typedef struct pushing_engine {
  const char *name, *version;
  void *(*create)(const pushing_job *job);  // null on failure, told
  void (*step)(void *world);
  void (*read)(void *world, double pose[3]);  // of the part: x, y, angle
  void (*destroy)(void *world);
} pushing_engine;

#ifdef BENCH_SICONOS
extern const pushing_solver pushing_siconos_lemke;
#endif
#ifdef BENCH_MUJOCO
extern const pushing_engine pushing_mujoco;
#endif

#endif

// A cube that falls on a floor and should rise again as high: the job, and the interface behind which engines do it.
#ifndef CAROM_BENCH_FALLING_H
#define CAROM_BENCH_FALLING_H

#ifdef __cplusplus
extern "C" {
#endif

// Elastic and without friction, or a block on a slope. The floor is z <= 0; gravity points down, or leans. SI units;
// quaternions are (w, x, y, z).
typedef struct falling_job {
  double side, mass, inertia;  // of the cube
  double height;               // of its centre at the start
  double q[4];                 // attitude at the start, at rest
  double gravity, dt;
  double friction, slope;  // 0: elastic; else the floor leans by this angle (rad) towards +x, and nothing bounces
  double velocity;         // along x at the start
} falling_job;

typedef struct falling_body {
  double x[3], q[4], v[3], w[3];  // velocities in world axes
} falling_body;

typedef struct falling_engine {
  const char *name, *version, *precision;   // version null: Carom's own
  void *(*create)(const falling_job *job);  // null on failure
  void (*step)(void *world);
  void (*read)(void *world, falling_body *body);
  void (*destroy)(void *world);
} falling_engine;

extern const falling_engine falling_carom_exact, falling_carom_dcr;
#ifdef BENCH_BULLET
extern const falling_engine falling_bullet;
#endif
#ifdef BENCH_ODE
extern const falling_engine falling_ode;
#endif
#ifdef BENCH_MUJOCO
extern const falling_engine falling_mujoco, falling_mujoco_hard;
#endif
#ifdef BENCH_DART
extern const falling_engine falling_dart;
#endif

#ifdef __cplusplus
}
#endif
#endif

// Two craft that magnets pull together until they are docked: the job, and the interface behind which engines do it.
#ifndef CAROM_BENCH_DOCKING_H
#define CAROM_BENCH_DOCKING_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { DOCKING_PIECES = 64, DOCKING_CORNERS = 32, DOCKING_CHARGES = 16 };

// A convex piece of a craft, in its body frame: a ball, or the hull of corners.
typedef struct docking_piece {
  int body;
  double radius;  // of a ball; 0: hull
  double center[3];
  int corner_count;
  double corners[DOCKING_CORNERS][3];
} docking_piece;

typedef struct docking_charge {
  int body;
  double point[3], charge;
} docking_charge;

// SI units; quaternions are (w, x, y, z), velocities in world axes.
typedef struct docking_body {
  double x[3], q[4], v[3], w[3];
} docking_body;

typedef struct docking_job {
  const char *scene;  // that it was read from
  bool planar;
  int piece_count, charge_count;
  docking_piece pieces[DOCKING_PIECES];
  docking_charge charges[DOCKING_CHARGES];
  double constant;          // of Coulomb's law
  double mass, inertia[3];  // of either craft; its centre is the origin
  double friction, restitution, dt;
  docking_body start[2];
} docking_job;

// What the charges do to the craft: forces, and torques about their centres; returns their energy. For peers, which
// have no such law of their own.
double docking_forces(const docking_job *job, const docking_body bodies[2], double force[2][3], double torque[2][3]);

typedef struct docking_engine {
  const char *name, *version, *precision;   // version null: Carom's own
  bool planar, spatial;                     // what it can do
  void *(*create)(const docking_job *job);  // null on failure
  void (*step)(void *world);
  void (*read)(void *world, docking_body bodies[2]);
  void (*destroy)(void *world);
} docking_engine;

extern const docking_engine docking_carom;
#ifdef BENCH_BOX2D
extern const docking_engine docking_box2d;
#endif
#ifdef BENCH_CHIPMUNK
extern const docking_engine docking_chipmunk;
#endif
#ifdef BENCH_MUJOCO
extern const docking_engine docking_mujoco;
#endif

#ifdef __cplusplus
}
#endif
#endif

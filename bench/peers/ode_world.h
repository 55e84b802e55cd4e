// What all peers of the Open Dynamics Engine begin and end with.
#ifndef CAROM_BENCH_PEERS_ODE_WORLD_H
#define CAROM_BENCH_PEERS_ODE_WORLD_H

#include <ode/ode.h>

typedef struct ode_world {
  dWorldID world;
  dSpaceID space;
  dJointGroupID contacts;
  dBodyID *bodies;
  double dt, friction;  // friction is the caller's to set
} ode_world;

#define ODE_PRECISION (sizeof(dReal) == 8 ? "double" : "single")  // as the library was built

// Never puts bodies to sleep. Null when out of memory.
ode_world *ode_world_open(int bodies, double dt, const double gravity[3]);
void ode_world_close(void *world);
// Body i; a null q leaves it upright.
dBodyID ode_world_add(ode_world *w, int i, const dMass *mass, const double x[3], const double q[4]);
dMass ode_world_mass(double mass, const double inertia[3]);

#endif

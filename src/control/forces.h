// What actuators, gravity and contact potentials do to momenta, as the forward integrators would: independent of the
// transcription.
#ifndef CAROM_SRC_CONTROL_FORCES_H
#define CAROM_SRC_CONTROL_FORCES_H

#include "control/plan.h"

// A configuration x, q and the momenta p, l there, all (bodies).
typedef struct carom_kicked {
  const carom_vec3 *x;
  const carom_quat *q;
  carom_vec3 *p, *l;
} carom_kicked;

// p, l += dt (forces of tau and weight).
void carom_plan_kick(const carom_plan *plan, const double *tau, double dt, const carom_kicked *on);

#endif

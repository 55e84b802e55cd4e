// What actuators, gravity and contact potentials do to momenta, as the forward integrators would: independent of the
// transcription.
#ifndef CAROM_SRC_CONTROL_FORCES_H
#define CAROM_SRC_CONTROL_FORCES_H

#include "control/plan.h"

// p, l (bodies) += dt (forces of tau and weight) at the configuration x, q (bodies).
void carom_plan_kick(const carom_plan *plan, const double *tau, const carom_vec3 *x, const carom_quat *q, double dt,
                     carom_vec3 *p, carom_vec3 *l);

#endif

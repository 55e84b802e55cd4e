// All conserved quantities of a state in one pass over the bodies.
#ifndef CAROM_SRC_MECHANICS_BALANCE_H
#define CAROM_SRC_MECHANICS_BALANCE_H

#include "carom/mechanics.h"

typedef struct carom_balance {
  double kinetic, potential;
  carom_vec3 momentum, angular_momentum;
  double momentum_scale;          // sum of |p|
  double angular_momentum_scale;  // sum of |x| |p| + |l|
} carom_balance;

carom_balance carom_balance_of(const carom_model *model, const carom_state *state);

#endif

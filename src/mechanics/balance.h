// All conserved quantities of a state in one pass over the bodies and the nodes of solids.
#ifndef CAROM_SRC_MECHANICS_BALANCE_H
#define CAROM_SRC_MECHANICS_BALANCE_H

#include "carom/mechanics.h"

typedef struct carom_balance {
  double kinetic, potential;
  carom_vec3 momentum, angular_momentum;
  double momentum_scale;          // sum of |p|
  double angular_momentum_scale;  // sum of |x| |p| + |l|
} carom_balance;

// A solid, and the sums that errors of its momenta are compared with.
typedef struct carom_solid_balance {
  carom_solid_sample of;
  double momentum_scale;          // sum of |p| over its nodes
  double angular_momentum_scale;  // sum of |x| |p|
} carom_solid_balance;

carom_balance carom_balance_of(const carom_model *model, const carom_state *state);
// The same from what is known of the solids (solid_count).
carom_balance carom_balance_with(const carom_model *model, const carom_state *state, const carom_solid_balance *solids);
carom_solid_balance carom_solid_balance_of(const carom_model *model, const carom_state *state, int solid);

#endif

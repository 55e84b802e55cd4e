// What `potential` and `newmark` share: the contact potential and its stiffness.
#ifndef CAROM_SRC_STEP_POTENTIAL_POTENTIAL_H
#define CAROM_SRC_STEP_POTENTIAL_POTENTIAL_H

#include "contact/potential.h"
#include "step/step.h"

// Chooses C and the stiffnesses of limits at the first step (they depend on how fast bodies are) and refuses a step
// that is too long for them.
carom_status carom_potential_tune(const carom_stepper *stepper, carom_contact_potential *contact,
                                  const carom_state *state, double h, carom_error *error);

#endif

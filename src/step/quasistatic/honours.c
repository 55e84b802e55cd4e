#include "step/step.h"

// What has no inertia neither bounces nor falls out of its plane.
const carom_honours carom_honours_quasistatic = {
    .options = {CAROM_TAKES_STEPS},
    .traits = {[CAROM_TRAIT_SUPPORTS] = true,
               [CAROM_TRAIT_CONTACTS] = true,
               [CAROM_TRAIT_FRICTION_CONE] = true,
               [CAROM_TRAIT_DRIVES] = true,
               [CAROM_TRAIT_GRAVITY] = true,
               [CAROM_TRAIT_APPLIED_FORCES] = true,
               [CAROM_TRAIT_PLANAR_SCENES] = true},
};

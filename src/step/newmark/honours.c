#include "step/step.h"

static const carom_conflict conflicts[] = {CAROM_ONE_STIFFNESS};

const carom_honours carom_honours_newmark = {
    .options = {CAROM_TAKES_STEPS, CAROM_TAKES_POTENTIAL},
    .traits = {CAROM_SEES_FORCES,
               CAROM_SEES_CONTACTS, [CAROM_TRAIT_TURNING_PLANES] = true, [CAROM_TRAIT_SOLIDS] = true},
    .conflicts = conflicts,
    .conflict_count = sizeof conflicts / sizeof *conflicts,
    .spring_order = 2,
};

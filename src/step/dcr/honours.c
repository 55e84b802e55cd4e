#include "step/step.h"

const carom_honours carom_honours_dcr = {
    .options = {CAROM_TAKES_STEPS, CAROM_TAKES_FLOW, CAROM_TAKES_LAW, CAROM_TAKES_SOLVES},
    .traits = {CAROM_SEES_FORCES, CAROM_SEES_JOINTS, CAROM_SEES_CONTACTS, [CAROM_TRAIT_LIMITS] = true,
               [CAROM_TRAIT_BOUNCING_LIMITS] = true, [CAROM_TRAIT_LATCHES] = true, [CAROM_TRAIT_TURNING_PLANES] = true},
    .spring_order = 2,
};

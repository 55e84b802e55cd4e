#include "step/step.h"

const carom_honours carom_honours_variational = {
    .options = {CAROM_TAKES_STEPS, CAROM_TAKES_FLOW},
    .traits = {CAROM_SEES_FORCES, CAROM_SEES_JOINTS, [CAROM_TRAIT_SOLIDS] = true},
    .spring_order = 2,
};

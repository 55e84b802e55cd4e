#include "step/step.h"

static const char *const discrete[] = {"discrete", NULL};

static const carom_conflict conflicts[] = {
    {.one = {CAROM_OPTION_ENERGY_CONDITION, CAROM_WORDS(discrete)},
     .other = {CAROM_OPTION_ORDER, CAROM_EVERY(2, 4, 6)},
     .reason = "the discrete energy is that of steps of order 2"},
};

const carom_honours carom_honours_exact = {
    .options = {CAROM_TAKES_STEPS, CAROM_TAKES_FLOW,
                CAROM_TAKES_LAW, [CAROM_OPTION_ENERGY_CONDITION] = CAROM_WORDS(carom_condition_words),
                [CAROM_OPTION_MAX_IMPACTS] = CAROM_WHOLE(1, 10000000)},
    .traits = {CAROM_SEES_FORCES, CAROM_SEES_JOINTS, CAROM_SEES_CONTACTS, [CAROM_TRAIT_LIMITS] = true,
               [CAROM_TRAIT_BOUNCING_LIMITS] = true, [CAROM_TRAIT_LATCHES] = true},
    .conflicts = conflicts,
    .conflict_count = sizeof conflicts / sizeof *conflicts,
    .spring_order = 2,
};

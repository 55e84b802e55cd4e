#include "step/moreau/moreau.h"

static const char *const solvers[] = {"lemke", "pgs", "newton", NULL};
static const char *const newton[] = {"newton", NULL};

static const carom_conflict conflicts[] = {
    {.one = {CAROM_OPTION_SOLVER, CAROM_WORDS(newton)},
     .other = {CAROM_OPTION_SOLVER_ITERATIONS, CAROM_ABOVE(0, INFINITY)},
     .reason = "Newton's method goes on while it gains; lemke and pgs count"},
};

const carom_honours carom_honours_moreau = {
    .options = {CAROM_TAKES_STEPS, [CAROM_OPTION_ALPHA] = CAROM_ABOVE(0, 1), CAROM_TAKES_DIRECTIONS,
                CAROM_TAKES_SOLVES, [CAROM_OPTION_RESTITUTION] = CAROM_WORDS(carom_restitution_words),
                [CAROM_OPTION_SOLVER] = CAROM_WORDS(solvers), [CAROM_OPTION_PROBLEM_SINK] = CAROM_HOOK},
    .traits = {CAROM_SEES_FORCES, CAROM_SEES_JOINTS, CAROM_SEES_CONTACTS, [CAROM_TRAIT_FRICTION_PYRAMID] = true,
               [CAROM_TRAIT_LIMITS] = true, [CAROM_TRAIT_BOUNCING_LIMITS] = true, [CAROM_TRAIT_TURNING_PLANES] = true},
    .conflicts = conflicts,
    .conflict_count = sizeof conflicts / sizeof *conflicts,
    .solves_springs = carom_moreau_solves_springs,
};

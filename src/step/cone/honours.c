#include "carom/contact.h"
#include "step/step.h"

static const char *const solvers[] = {"pgs", "apgd", "spg", "interior", "tao-blmvm", "tao-tron", NULL};
static const char *const by_tao[] = {"tao-blmvm", "tao-tron", NULL};

static const carom_conflict conflicts[] = {
    {.one = {CAROM_OPTION_SOLVER, CAROM_WORDS(by_tao)},
     .other = {CAROM_OPTION_FRICTION_DIRECTIONS, CAROM_WHOLE(0, 0)},
     .reason = "the solvers of TAO know polyhedral cones only, of 3 to 64 directions"},
};

static bool has_solver(const char *name) {
  carom_contact_method method;
  return carom_contact_method_by_name(name, &method) && carom_contact_method_available(method);
}

const carom_honours carom_honours_cone = {
    .options = {CAROM_TAKES_STEPS, CAROM_TAKES_DIRECTIONS,
                CAROM_TAKES_SOLVES, [CAROM_OPTION_SOLVER] = CAROM_WORDS(solvers)},
    .traits =
        {CAROM_SEES_FORCES, CAROM_SEES_JOINTS,
         CAROM_SEES_CONTACTS, [CAROM_TRAIT_FRICTION_PYRAMID] = true, [CAROM_TRAIT_LIMITS] = true,
         [CAROM_TRAIT_TURNING_PLANES] = true, [CAROM_TRAIT_BOUNDARIES] = true, [CAROM_TRAIT_RECIRCULATION] = true},
    .conflicts = conflicts,
    .conflict_count = sizeof conflicts / sizeof *conflicts,
    .has_solver = has_solver,
    .spring_order = 1,
};

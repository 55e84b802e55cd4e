// What an integrator honours, as data: one table a folder (src/step/<name>/honours.c), read by carom_stepper_create, by
// the readers of scenes, by `carom integrators` and by the documentation. What is not in it is refused.
//
// A table is put together of the rows below and of rows of its own:
//
//     const carom_honours carom_honours_dcr = {
//         .options = {CAROM_TAKES_STEPS, CAROM_TAKES_FLOW, [CAROM_OPTION_LAW] = CAROM_WORDS(carom_law_words)},
//         .traits = {CAROM_SEES_FORCES, CAROM_SEES_JOINTS, [CAROM_TRAIT_CONTACTS] = true},
//     };
#ifndef CAROM_SRC_STEP_HONOURS_H
#define CAROM_SRC_STEP_HONOURS_H

#include <math.h>

#include "carom/step.h"

// An option that is among these values.
typedef struct carom_setting {
  carom_option option;
  carom_allowed values;
} carom_setting;

// Two settings that are fine by themselves and cannot be had together.
typedef struct carom_conflict {
  carom_setting one, other;
  const char *reason;
} carom_conflict;

typedef struct carom_honours {
  carom_allowed options[CAROM_OPTION_COUNT];  // those that are left out are not honoured
  bool traits[CAROM_TRAIT_COUNT];             // likewise
  const carom_conflict *conflicts;            // (conflict_count)
  int conflict_count;
  int spring_order;  // of the swing of energy on springs, 1 or 2, for which steps are split (springs.c); 0: they are
                     // not
  bool (*solves_springs)(const carom_model *model, const carom_step_options *options);  // none is too stiff; null: no
  bool (*has_solver)(const char *name);  // whether this build has a solver of the table; null: it has them all
} carom_honours;

// ---- what an option may be -----------------------------------------------------------------------------------------
// clang-format off
#define CAROM_WORDS(list) {.honoured = true, .words = (list)}
#define CAROM_WHOLE(from, to) {.honoured = true, .least = (from), .most = (to), .stride = 1}
#define CAROM_EVERY(by, from, to) {.honoured = true, .least = (from), .most = (to), .stride = (by)}
#define CAROM_ZERO_OR(from, to) {.honoured = true, .least = (from), .most = (to), .stride = 1, .or_zero = true}
#define CAROM_ABOVE(from, to) {.honoured = true, .least = (from), .most = (to), .above = true}
#define CAROM_HOOK {.honoured = true}

// ---- rows that several tables share --------------------------------------------------------------------------------

// All that stepper.c does: the clock, threads and halved steps. More halvings than this would take hours, not help.
#define CAROM_TAKES_STEPS                                    \
  [CAROM_OPTION_STEP] = CAROM_ABOVE(0, INFINITY),            \
  [CAROM_OPTION_THREADS] = CAROM_WHOLE(0, 1024),             \
  [CAROM_OPTION_MAX_HALVINGS] = CAROM_WHOLE(0, 20)
#define CAROM_TAKES_IMPLICIT_SOLVES                          \
  [CAROM_OPTION_TOLERANCE] = CAROM_ABOVE(0, INFINITY),       \
  [CAROM_OPTION_MAX_ITERATIONS] = CAROM_WHOLE(1, 100000)
// Smooth motion by the variational integrator.
#define CAROM_TAKES_FLOW                                     \
  CAROM_TAKES_IMPLICIT_SOLVES,                               \
  [CAROM_OPTION_QUADRATURE] = CAROM_WORDS(carom_quadrature_words), \
  [CAROM_OPTION_ORDER] = CAROM_EVERY(2, 2, 6)
#define CAROM_TAKES_LAW [CAROM_OPTION_LAW] = CAROM_WORDS(carom_law_words)
#define CAROM_TAKES_POTENTIAL                                \
  [CAROM_OPTION_STIFFNESS] = CAROM_ABOVE(0, INFINITY),       \
  [CAROM_OPTION_PENETRATION] = CAROM_ABOVE(0, INFINITY)
#define CAROM_ONE_STIFFNESS                                  \
  {.one = {CAROM_OPTION_STIFFNESS, CAROM_ABOVE(0, INFINITY)}, \
   .other = {CAROM_OPTION_PENETRATION, CAROM_ABOVE(0, INFINITY)}, \
   .reason = "either follows from the other"}
#define CAROM_TAKES_SOLVES                                   \
  [CAROM_OPTION_SOLVER_TOLERANCE] = CAROM_ABOVE(0, INFINITY), \
  [CAROM_OPTION_SOLVER_ITERATIONS] = CAROM_WHOLE(1, 100000000)
#define CAROM_TAKES_DIRECTIONS [CAROM_OPTION_FRICTION_DIRECTIONS] = CAROM_ZERO_OR(3, 64)

// All that carom_fields_evaluate gives.
#define CAROM_SEES_FORCES \
  [CAROM_TRAIT_GRAVITY] = true, [CAROM_TRAIT_SPRINGS] = true, [CAROM_TRAIT_DAMPERS] = true, \
  [CAROM_TRAIT_CHARGES] = true, [CAROM_TRAIT_APPLIED_FORCES] = true, [CAROM_TRAIT_PLANAR_SCENES] = true
#define CAROM_SEES_JOINTS \
  [CAROM_TRAIT_SPHERICAL] = true, [CAROM_TRAIT_REVOLUTE] = true, [CAROM_TRAIT_PRISMATIC] = true, \
  [CAROM_TRAIT_CYLINDRICAL] = true, [CAROM_TRAIT_PLANAR] = true, [CAROM_TRAIT_SCREW] = true, \
  [CAROM_TRAIT_FIXED] = true, [CAROM_TRAIT_DISTANCE] = true, [CAROM_TRAIT_FORCE_MOTORS] = true, \
  [CAROM_TRAIT_RATE_MOTORS] = true, [CAROM_TRAIT_POSITION_MOTORS] = true, [CAROM_TRAIT_JOINT_SPRINGS] = true
// Contacts with restitution and friction in Coulomb's cone, of fixed, driven and moving bodies.
#define CAROM_SEES_CONTACTS \
  [CAROM_TRAIT_CONTACTS] = true, [CAROM_TRAIT_RESTITUTION] = true, [CAROM_TRAIT_FRICTION_CONE] = true, \
  [CAROM_TRAIT_DRIVES] = true
// clang-format on

// In the order of their enums.
extern const char *const carom_quadrature_words[], *const carom_law_words[], *const carom_condition_words[];
extern const char *const carom_restitution_words[];

// ---- integrators.c

typedef struct carom_integrator carom_integrator;        // see step.h
const carom_integrator *carom_integrator_at(int index);  // null past the last

// ---- options.c: options by their numbers

// A number, or a word when the option is one of several names. A word that is no name at all is null, with the number
// that the enum had.
typedef struct carom_value {
  double number;
  const char *word;
} carom_value;

carom_value carom_option_get(const carom_step_options *options, carom_option option);
void carom_option_put(carom_step_options *options, carom_option option, carom_value value);  // one that is allowed
bool carom_option_is_set(const carom_step_options *options, carom_option option);            // not the default
void carom_options_set(const carom_step_options *options, bool set[CAROM_OPTION_COUNT]);
bool carom_allowed_has(const carom_allowed *allowed, carom_value value);

// ---- honours.c: one verdict and one message for all who ask

// Whether the integrator takes this value.
carom_status carom_check_option(const carom_integrator *integrator, carom_option option, carom_value value,
                                carom_error *error);
// The first option, among those that are set, that does not go with another; -1, and no message, when all is well.
int carom_find_conflict(const carom_integrator *integrator, const carom_step_options *options,
                        const bool set[CAROM_OPTION_COUNT], carom_error *error);
// Whether the integrator honours the trait, or the model has it not. *user: see carom_model_uses.
carom_status carom_check_trait(const carom_integrator *integrator, carom_trait trait, const carom_model *model,
                               int *user, carom_error *error);
// The two halves of what follows: the options that are set, and the model.
carom_status carom_check_options(const carom_integrator *integrator, const carom_step_options *options,
                                 const bool set[CAROM_OPTION_COUNT], carom_error *error);
carom_status carom_check_model(const carom_integrator *integrator, const carom_model *model, bool nothing_meets,
                               carom_error *error);
// Whether it honours all of the options and, unless that is null, the model: carom_step_check of an integrator that
// need not be in the list.
carom_status carom_integrator_check(const carom_integrator *integrator, const carom_model *model,
                                    const carom_step_options *options, carom_error *error);
// The integrator of that name; the message tells those that there are.
carom_status carom_integrator_get(const char *name, const carom_integrator **integrator, carom_error *error);

// ---- select.c: which integrator `auto` is

bool carom_is_auto(const char *name);

// What a choice goes by.
typedef struct carom_wish {
  const carom_model *model;           // null: the options alone count
  const carom_step_options *options;  // their integrator is not read
  const bool *set;                    // (CAROM_OPTION_COUNT) which of them were asked for
  bool nothing_meets;
} carom_wish;

carom_status carom_select(const carom_wish *wish, carom_choice *choice, carom_error *error);

// ---- traits.c

// The first moving body that may touch another; -1 when none may, whatever solids do.
int carom_find_touching(const carom_model *model);
// Whether a solid may touch something, or itself.
bool carom_solids_may_touch(const carom_model *model);
// The first moving body that may touch something over a surface of which asked() is true; -1 when there is none.
int carom_find_surface(const carom_model *model, bool (*asked)(carom_contact_surface surface));
// " (joint 'pin'): what comes of it", as far as there is something to say.
void carom_trait_explain(const carom_model *model, carom_trait trait, int user, char *text, size_t size);

#endif

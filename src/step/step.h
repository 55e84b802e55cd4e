// What an integrator is: a name, what it honours, the scratch it needs, and one way forward. stepper.c owns the rest:
// options, memory, the ledger, retries with smaller steps, and the clock. docs/add-an-integrator.md goes through it.
#ifndef CAROM_SRC_STEP_STEP_H
#define CAROM_SRC_STEP_STEP_H

#include "base/arena.h"
#include "base/tape.h"
#include "carom/step.h"
#include "contact/ledger.h"
#include "step/honours.h"

struct carom_integrator {
  const char *name, *summary;
  const carom_honours *honours;  // which options and traits; see honours.h
  // Lays all scratch out. Called twice: first with an arena that only counts and gives null, then for good; what it is
  // given the second time is all zero.
  void (*push)(carom_stepper *stepper, carom_arena *arena);
  carom_status (*prepare)(carom_stepper *stepper, carom_error *error);  // fills it, and makes what lives on the heap
  // Refuses a start from which no step can be made, as one that is too long for how fast bodies are; null: none is.
  carom_status (*begin)(carom_stepper *stepper, const carom_state *state, carom_error *error);
  // False when a step of h from this state cannot fail, so that nothing need be saved; null: it may.
  bool (*may_fail)(const carom_stepper *stepper, const carom_state *state, double h);
  // Moves x, q, p, l (not the clock) by h, from state->time to `end`, and books what it does. CAROM_NOT_CONVERGED asks
  // for a smaller step; whatever the failure, the stepper puts state, memory and ledger back.
  carom_status (*advance)(carom_stepper *stepper, carom_state *state, double h, double end, carom_ledger *ledger,
                          carom_error *error);
  void (*release)(carom_stepper *stepper);  // frees what prepare made on the heap; may be null
  // Passes over a tape what must be known besides the state to go on bit for bit; may be null. Serves checkpoints and
  // steps that are rolled back alike. False for bytes that are not its own.
  bool (*remember)(carom_stepper *stepper, carom_tape *tape);
  bool (*contact_moments)(const carom_stepper *stepper, carom_mat3 *moments);  // see carom/step.h; may be null
};

// The functions of an integrator that are named after it; and those that are static in its file.
#define CAROM_LIFE(name)                                                                             \
  .push = carom_##name##_push, .prepare = carom_##name##_prepare, .release = carom_##name##_release, \
  .remember = carom_##name##_remember
#define CAROM_STATIC_LIFE .push = push, .prepare = prepare, .release = release, .remember = remember

// One line each; all else of an integrator is in its folder, src/step/<name> (index2 and index3 share src/step/index).
#define CAROM_INTEGRATORS(X) \
  X(variational)             \
  X(exact)                   \
  X(dcr)                     \
  X(potential)               \
  X(newmark)                 \
  X(moreau)                  \
  X(cone)                    \
  X(index2)                  \
  X(index3)                  \
  X(quasistatic)

#define CAROM_DECLARE_INTEGRATOR(name)                   \
  extern const carom_integrator carom_integrator_##name; \
  extern const carom_honours carom_honours_##name;
CAROM_INTEGRATORS(CAROM_DECLARE_INTEGRATOR)

// An integrator with contacts takes its smooth motion from the variational one: its push, prepare, remember and release
// call those of carom_integrator_variational first, and its advance calls that one's advance for a time of any length.

// ---- blame.c
// Adds to a message of failure what in the model may be the cause, and what to do about it.
void carom_step_blame(const carom_model *model, carom_error *error);
// Whether bodies are and move where numbers can follow; else CAROM_ERR_NUMBER, naming the body.
carom_status carom_step_check_speed(const carom_model *model, const carom_state *state, carom_error *error);
// Gives the message of a step of length h that failed the time, and a body where it names nothing.
void carom_step_tell(const carom_model *model, const carom_state *state, double h, carom_error *error);

// ---- springs.c
// Most parts that a step is taken in because of springs.
#define CAROM_MOST_PARTS 64
// How many equal parts steps are taken in, so that energy on springs swings by no more than the audit allows.
int carom_springs_parts(const carom_integrator *integrator, const carom_model *model,
                        const carom_step_options *options);
// Whether that many will do; the message names a spring for which not, and a step that would.
carom_status carom_springs_check(const carom_integrator *integrator, const carom_model *model,
                                 const carom_step_options *options, carom_error *error);

// ---- drives.c
// Puts driven bodies where they are at a time.
void carom_drives_place(const carom_model *model, carom_state *state, double time);

// What a stepper was before a step that may fail.
typedef struct carom_snapshot {
  carom_state *state;
  unsigned char *memory;  // (size) what the integrator remembers
  size_t size, capacity;
} carom_snapshot;

// Who says what inputs do.
typedef struct carom_steering {
  carom_control by;       // act null: nobody
  unsigned char *before;  // inputs and memory as they were before it acted
  bool stepped;           // there is a report of a step before
} carom_steering;

struct carom_stepper {
  const carom_integrator *integrator;
  const carom_model *model;
  carom_step_options options;
  int threads;  // resolved: at least 1
  int parts;    // equal ones that every step is taken in, at least 1
  carom_allocator allocator;
  carom_arena arena;
  carom_ledger ledger;
  carom_snapshot saved;
  carom_steering steering;
  void *flow;        // of the smooth motion between impacts: the variational integrator's own, from the arena
  void *work;        // the integrator's own, from the arena; null until push made it
  double base_time;  // the clock is base_time + (step - base_step) h, so that it does not gather round-off
  int64_t base_step;
  double last_time;
};

// ---- stepper.c
// A stepper of this integrator, whether it is in the list or not (as those of tests); options->integrator is not read.
carom_status carom_stepper_create_with(const carom_integrator *integrator, const carom_model *model,
                                       const carom_step_options *options, const carom_allocator *allocator,
                                       carom_stepper **stepper, carom_error *error);

// ---- steering.c: the controller
carom_status carom_stepper_steer(carom_stepper *stepper, carom_state *state, carom_error *error);  // lets it act
void carom_stepper_unsteer(carom_stepper *stepper, carom_state *state);  // as if it had not acted
void carom_stepper_end_steering(carom_stepper *stepper);                 // frees

// ---- snapshot.c: one mechanism for steps that are rolled back and for checkpoints
carom_status carom_snapshot_create(carom_stepper *stepper, carom_error *error);  // room for the memory there is so far
void carom_snapshot_destroy(carom_stepper *stepper);
carom_status carom_stepper_save(carom_stepper *stepper, const carom_state *state, carom_error *error);
void carom_stepper_roll_back(carom_stepper *stepper, carom_state *state);

#endif

// What an integrator is: a name, the scratch it needs, and one way forward. stepper.c owns the rest: options, memory,
// retries with smaller steps, and the clock.
#ifndef CAROM_SRC_STEP_STEP_H
#define CAROM_SRC_STEP_STEP_H

#include "base/arena.h"
#include "carom/step.h"

typedef struct carom_integrator {
  const char *name, *summary;
  size_t (*scratch)(const carom_model *model);  // bytes that prepare takes from the arena
  carom_status (*prepare)(carom_stepper *stepper, carom_error *error);
  // False when a step of h from this state cannot fail, so that no copy of the state need be kept; null: it may.
  bool (*may_fail)(const carom_stepper *stepper, const carom_state *state, double h);
  // Moves x, q, p, l (not the clock) by h, from state->time to `end`, and adds to the report. CAROM_NOT_CONVERGED asks
  // for a smaller step; whatever the failure, the stepper puts the state back.
  carom_status (*advance)(carom_stepper *stepper, carom_state *state, double h, double end, carom_step_report *report,
                          carom_error *error);
  void (*release)(carom_stepper *stepper);  // frees what prepare made outside the arena; may be null
  // What must be known besides the state to go on bit for bit; both may be null. `memory` gives the number of bytes and
  // writes them unless `bytes` is null; `recall` says false to bytes that are not its own.
  size_t (*memory)(const carom_stepper *stepper, void *bytes);
  bool (*recall)(carom_stepper *stepper, const void *bytes, size_t size);
  bool (*contact_moments)(const carom_stepper *stepper, carom_mat3 *moments);  // see carom/step.h; may be null
} carom_integrator;

extern const carom_integrator carom_integrator_variational;
extern const carom_integrator carom_integrator_cone;
extern const carom_integrator carom_integrator_exact;
extern const carom_integrator carom_integrator_moreau, carom_integrator_index2, carom_integrator_index3;
extern const carom_integrator carom_integrator_dcr;
extern const carom_integrator carom_integrator_newmark;
extern const carom_integrator carom_integrator_potential;

// An integrator with contacts takes its smooth motion from the variational one: its scratch adds
// carom_integrator_variational.scratch(model), its prepare calls carom_integrator_variational.prepare first (which
// fills stepper->flow and stepper->saved), and its advance calls carom_integrator_variational.advance for a time of any
// length. Its memory begins with that of the smooth motion (memory.c):

struct carom_tape;
void carom_flow_memory(const carom_stepper *stepper, struct carom_tape *tape);
bool carom_flow_recall(carom_stepper *stepper, struct carom_tape *tape);
// The same for the contacts that an integrator keeps.
struct carom_contacts;
void carom_keep_contacts(const struct carom_contacts *contacts, struct carom_tape *tape);
bool carom_recall_contacts(struct carom_contacts *contacts, struct carom_tape *tape);

// ---- drives.c
// Puts driven bodies where they are at a time.
void carom_drives_place(const carom_model *model, carom_state *state, double time);

struct carom_stepper {
  const carom_integrator *integrator;
  const carom_model *model;
  carom_step_options options;
  int threads;  // resolved: at least 1
  carom_allocator allocator;
  carom_arena arena;
  carom_state *saved;  // the state before the step, while it may fail
  void *flow;          // of the smooth motion between impacts: variational.c's own, from the arena
  void *work;          // the integrator's own, from the arena; null until prepare made it
  double base_time;    // the clock is base_time + (step - base_step) h, so that it does not gather round-off
  int64_t base_step;
  double last_time;
};

#endif

// A plan's bodies moved forward by the kernel of the integrator `variational` (step/dmv.h): kick, drift, kick, with
// joints and impacts. Used for first guesses and for replays; shares nothing with the transcription.
#ifndef CAROM_SRC_CONTROL_MARCH_H
#define CAROM_SRC_CONTROL_MARCH_H

#include "base/arena.h"
#include "control/plan.h"
#include "step/variational/dmv.h"

typedef struct carom_march {
  const carom_plan *plan;
  carom_arena arena;
  carom_dmv_bodies bodies;
  carom_state *state;             // the caller reads and writes it
  carom_state *trial;             // while joints are being met
  double *tau;                    // (components) of the caller; zeros at first
  bool *stuck;                    // (contacts) holds from now on
  carom_vec3 (*grip)[2];          // (contacts) where, in the frames of the two bodies
  double *S, *residual, *lambda;  // of the joints and of what sticks
  int *pivot;
  int most_rows;
  int interval;  // the next one: tells which joints hold
} carom_march;

carom_status carom_march_create(const carom_plan *plan, carom_march *march, carom_error *error);
void carom_march_destroy(carom_march *march);
void carom_march_reset(carom_march *march);  // back to the start; nothing sticks

// One interval of length h with constant tau (null: march.tau, which is nought until somebody writes to it).
carom_status carom_march_step(carom_march *march, const double *tau, double h, carom_error *error);
// The momenta after a planned contact at the present configuration, by the separation oracle.
carom_status carom_march_impact(carom_march *march, int contact, carom_error *error);
// The momenta after an event: made to agree with the joints before it, then with those after it.
carom_status carom_march_event(carom_march *march, int event, carom_error *error);

#endif

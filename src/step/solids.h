// How nodes of solids move between contacts: by themselves, under gravity, pressure and pins. `variational` and what
// stands on it take this beside the smooth motion of bodies; `newmark` too.
#ifndef CAROM_SRC_STEP_SOLIDS_H
#define CAROM_SRC_STEP_SOLIDS_H

#include "base/arena.h"
#include "base/tape.h"
#include "contact/soft.h"
#include "step/step.h"

// Solids that are stepped as one: all together where contacts may couple them, else each by itself.
typedef struct carom_solid_group {
  int solid, solid_count;  // from which on, how many
  int node_start, node_count;
  int pin_start, pin_count;
  int pressed_start, pressed_count;  // into `triangles`
  bool damped;
  carom_elastic *elastic;
  carom_elastic_stepper *stepper;
} carom_solid_group;

typedef struct carom_solids {
  const carom_model *model;
  bool implicit;              // the midpoint rule; else Newmark's explicit method
  bool together;              // there is one group of all
  carom_solid_group *groups;  // (group_count)
  int group_count;
  int *pins;            // (pin_count) nodes, counted in each group from 0
  int (*triangles)[3];  // (pressed_count) under pressure, group by group; nodes, counted in each from 0
  int *source;          // (pressed_count) into model->pressures
  double *pressures;    // (pressed_count) Pa, in this step
  carom_vec3 *a;        // (node_count) accelerations,
  carom_vec3 *x, *v;    // (node_count) where and how fast nodes were then,
  double time;          // and when; NaN: not known
} carom_solids;

// All of these do nothing for models without solids.
void carom_solids_push(carom_solids *solids, carom_arena *arena, const carom_model *model);
carom_status carom_solids_prepare(carom_stepper *stepper, carom_solids *solids, carom_error *error);
void carom_solids_free(carom_solids *solids);
// Finds the forces at the start of a step of h, those of contacts too (soft; null: none), where explicit steps want
// them.
carom_status carom_solids_learn(carom_solids *solids, carom_soft *soft, carom_state *state, double h,
                                carom_error *error);
// Moves the nodes by h and books what the outside did. Bodies must be where they are at the end of an explicit step, or
// at the middle of an implicit one: contacts act on nodes as on them there.
carom_status carom_solids_advance(carom_solids *solids, carom_soft *soft, carom_state *state, double h,
                                  carom_ledger *ledger, carom_error *error);
bool carom_solids_remember(carom_solids *solids, carom_tape *tape);

// ---- variational.c: its two halves, for integrators that stand on it and put something between them
carom_status carom_variational_bodies(carom_stepper *stepper, carom_state *state, double h, double end,
                                      carom_ledger *ledger, carom_error *error);
carom_solids *carom_variational_solids(const carom_stepper *stepper);

// In how many equal parts explicit steps are taken so that they are stable at rest; at least 1.
int carom_solids_parts(const carom_integrator *integrator, const carom_model *model, const carom_step_options *options);
// Refuses steps that no number of parts makes stable, and orders that solids do not have; the message tells what would.
carom_status carom_solids_check(const carom_integrator *integrator, const carom_model *model,
                                const carom_step_options *options, carom_error *error);

#endif

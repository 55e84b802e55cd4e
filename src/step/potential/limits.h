// Limits of joints as a contact potential of their own: k/2 gap^2 while a coordinate is beyond its limit, with the drag
// of contacts for restitution (mechanics/contact_potential.h). Rates and masses are those that the joints leave.
#ifndef CAROM_SRC_STEP_POTENTIAL_LIMITS_H
#define CAROM_SRC_STEP_POTENTIAL_LIMITS_H

#include "model/joints.h"
#include "step/step.h"

typedef struct carom_soft_limits {
  const carom_model *model;
  carom_joints *joints;       // borrowed
  carom_joint_limit *limits;  // (capacity) those beyond at the last evaluation
  double *mass;               // (capacity) what their rows feel, kg or kg m2
  double *stiffness;          // (4 joint_count) by 4 joint + 2 turn + upper; N/m or N m/rad, 0: not known yet
  bool *beyond;               // (4 joint_count) at the end of the last step
  carom_vec3 *dp, *dl;        // (body_count) scratch
  int capacity, count;
} carom_soft_limits;

void carom_soft_limits_push(carom_soft_limits *limits, const carom_model *model, carom_arena *arena);
// Chooses the stiffnesses for a contact stiffness C, once; a step too long for them is refused.
carom_status carom_soft_limits_tune(carom_soft_limits *limits, const carom_state *state, double C, double h,
                                    carom_error *error);
// Those beyond their limits at the state; adds their energy, and the furthest to *depth (m or rad).
carom_status carom_soft_limits_evaluate(carom_soft_limits *limits, const carom_state *state, double *energy,
                                        double *depth, carom_error *error);
// Momenta change by the forces times dt.
void carom_soft_limits_kick(carom_soft_limits *limits, carom_state *state, double dt, carom_step_report *report);
// Counts limits that were reached in this step.
void carom_soft_limits_note(carom_soft_limits *limits, carom_step_report *report);

bool carom_soft_limits_remember(carom_soft_limits *limits, carom_tape *tape);

#endif

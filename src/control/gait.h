// A gait at work: what joints do as functions of the phase, for either order of the legs.
#ifndef CAROM_SRC_CONTROL_GAIT_H
#define CAROM_SRC_CONTROL_GAIT_H

#include "carom/gait.h"
#include "carom/step.h"

struct carom_gait_motion {
  carom_allocator allocator;
  int nodes, bodies, joints;
  double *times;
  carom_pose *poses;
  double *torques;
  bool drives;  // there are torques
};

// Channels of a gait before those of its joints, and of each joint that turns.
enum { CAROM_GAIT_STEP, CAROM_GAIT_PHASE, CAROM_GAIT_TIME, CAROM_GAIT_BEGAN, CAROM_GAIT_OWN };
enum { CAROM_GAIT_ANGLE, CAROM_GAIT_RATE, CAROM_GAIT_TORQUE, CAROM_GAIT_OF_JOINT };

typedef struct carom_gait_table carom_gait_table;

// The gait and its motion must outlive the table.
carom_status carom_gait_table_create(const carom_gait *gait, const carom_model *model, const carom_allocator *allocator,
                                     carom_gait_table **table, carom_error *error);
void carom_gait_table_destroy(carom_gait_table *table);
// The first period begins.
void carom_gait_begin(const carom_state *state, double *channels);
// Counts a strike of the foot, if the step that the report tells of had one.
void carom_gait_strike(const carom_gait_table *table, const carom_state *state, const carom_step_report *report,
                       double *channels);
// All channels but when the period began and which one it is.
void carom_gait_sense(const carom_gait_table *table, const carom_state *state, double *channels);

#endif

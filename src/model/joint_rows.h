// Joints as equations: g(q) = 0, its gradient rows, and the free coordinates.
//
// All equations speak of body 1 as seen from body 0, so that impulses between two bodies cancel in linear and in
// angular momentum.
#ifndef CAROM_SRC_MODEL_JOINT_ROWS_H
#define CAROM_SRC_MODEL_JOINT_ROWS_H

#include "model/row.h"

enum { CAROM_JOINT_ROWS = 6 };  // the most a joint has, prescribed motors included

// The joint's frames placed in the world.
typedef struct carom_joint_place {
  carom_vec3 x[2];        // centres of mass (0 for the world)
  carom_vec3 r[2];        // joint points
  carom_vec3 d;           // r[1] - r[0]
  carom_mat3 axes[2];     // columns u, v, n
  carom_vec3 u, v, n;     // of body 0
  carom_vec3 u1, v1, n1;  // of body 1
} carom_joint_place;

carom_pose carom_body_place(const carom_state *state, int body);  // principal frame; identity for the world
carom_joint_place carom_joint_placed(const carom_joint *joint, const carom_joint_state *record,
                                     const carom_state *state);

bool carom_joint_slides(carom_joint_kind kind);  // has `slide` as a free coordinate
bool carom_joint_turns(carom_joint_kind kind);   // has `turn` as a free coordinate
bool carom_motor_prescribes(carom_motor_kind motor);
// The joint holds and at least one of its bodies moves.
bool carom_joint_acts(const carom_model *model, const carom_state *state, int joint);

int carom_joint_row_count(const carom_joint *joint);
// Residuals g (row_count) of a joint at a time, and rows; either may be null. Its record in the state says which turn
// is meant.
void carom_joint_equations(const carom_model *model, const carom_state *state, int joint, double time, double *g,
                           carom_row *rows);
// True for rows whose residual is an angle (rad), false for lengths.
bool carom_joint_row_is_angle(const carom_joint *joint, int row);
// What prescribed motors ask of the rows: dg/dt = rate (0 for the joint's own rows).
void carom_joint_rates(const carom_model *model, const carom_joint *joint, double time, double *rates);

// Free coordinates and their gradients.
double carom_joint_slide(const carom_joint_place *place);
double carom_joint_turn(const carom_joint_place *place, double near);  // the value nearest to `near`
carom_row carom_joint_slide_row(const carom_joint *joint, const carom_joint_place *place);
carom_row carom_joint_turn_row(const carom_joint *joint, const carom_joint_place *place);

// Brings record->turn up to the state's configuration, for all joints.
void carom_joints_note_turns(const carom_model *model, carom_state *state);

// What a motor prescribes: coordinate and rate (at a kink the one before it).
double carom_motor_coordinate(const carom_model *model, const carom_coordinate *c, double time);
double carom_motor_rate(const carom_model *model, const carom_coordinate *c, double time);
// The first time after `time` at which the rate of a motor by position jumps; infinite when there is none.
double carom_motors_next_kink(const carom_model *model, double time);

// Piecewise linear schedules, constant outside the knots; no knots means 1. Integral from 0 to `time`.
double carom_schedule_value(const carom_knot *knots, int count, double time);
double carom_schedule_rate(const carom_knot *knots, int count, double time);
double carom_schedule_integral(const carom_knot *knots, int count, double time);

#endif

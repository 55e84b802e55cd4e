// Masses, forces and joints of a linearly implicit step of the alpha-family (Gavrea 2006, 2.1), for whoever adds
// impulses P along rows J (moreau) or none (index2, index3):
//
//     v' = v_free + S J'P.
//
// Momenta are kicked at the configuration q* and drift before and after: for (1 - alpha) h with those of the start, for
// alpha h with those found. Forces act for the time `kick`, which is h, or half of it where the other half follows at
// the end. Between kicks bodies turn as free ones do, by the discrete Moser-Veselov equation
// (variational/dmv.h), so that angular momentum changes by the impulses' moments and by nothing else, to the last bit.
// With alpha = 1 q* is q^l, as published; with alpha = 1/2 the step is symmetric and of second order with joints.
//
//     carom_moreau_begin(motion, state, &span, error)         q*, v, v_free; b is that of no impulses
//     carom_row_push(model, &row, impulse, b.p, b.l)          for every impulse
//     carom_moreau_new_velocity(motion)                       v'
//     carom_moreau_move(motion, from, to, error)              positions and momenta
//
// Angular velocities are along world axes at q*.
#ifndef CAROM_SRC_STEP_MOREAU_MOTION_H
#define CAROM_SRC_STEP_MOREAU_MOTION_H

#include "contact/assemble.h"
#include "model/joint_system.h"
#include "step/step.h"
#include "step/variational/dmv.h"

typedef struct carom_moreau_momenta {
  carom_vec3 *p, *l;  // (body_count)
} carom_moreau_momenta;

typedef struct carom_moreau_forces {
  bool present;  // anything but gravity
  carom_loads loads;
  carom_vec3 *rate;    // (body_count) of x and of the directors, for forces that depend on them
  carom_mat3 *d_rate;  // (body_count)
} carom_moreau_forces;

typedef struct carom_moreau_joints {
  carom_joint_system *system;  // null without joints
  bool may_drift;              // held by their velocities alone (index 2, as published)
  double past;                 // s: motors at one moment have the rate of their way over it (index 3); 0: their own
  double *theta;               // (joint_count * CAROM_JOINT_ROWS) residuals at the start of the step
  double *target;              // (as long) the rates asked for: L v' = target
  double *impulse;             // (as long) found with v'
} carom_moreau_joints;

// Springs and dampers by what they are in the mean of a piece (springs.c).
typedef struct carom_moreau_springs {
  int count;              // all there are; 0 where they count as forces
  carom_row *row;         // (count) on the ends at q*
  carom_vec3 *direction;  // (count) of the row, kept for the end of the piece
  double *stretch;        // (count) at the start, m
  double *lag;            // (count) what the stretch changes by on the way beyond what the row knows, m
  double *coupling;       // (count) of the impulse to the rate along the row, kg
  double *tension;        // (count) mean over the piece, kept for its end, N
  double *rate;           // (count) mean over the piece, m/s
  double *u;              // (count) along the rows
  carom_twists *answer;   // (count) S row'
  double *LU;             // (count x count) of 1 + J S J' coupling
  int *swaps;             // (count)
} carom_moreau_springs;

// A step of h, or 0 for what happens at one moment; forces act for `kick`.
typedef struct carom_moreau_span {
  double h, kick, alpha;
} carom_moreau_span;

typedef struct carom_moreau_motion {
  const carom_model *model;
  double alpha, h, kick, time;   // of the step being built, and its start
  carom_state *star;             // q*; its momenta are not used
  carom_mat3 *d;                 // (body_count) directors at q*
  carom_joint_mass *mass;        // (body_count) at q*
  carom_mat3 *inverse_rotation;  // (body_count) of its blocks of rotation; 0 for bodies that do not turn
  carom_dmv_bodies dmv;
  void *dmv_memory;                // of `dmv`
  carom_twists v;                  // at the start
  carom_twists v_free;             // after masses, forces and joints
  carom_twists v_new;              // after impulses, too
  carom_moreau_momenta b_free, b;  // momenta with forces, without and with impulses
  carom_moreau_forces forces;
  carom_moreau_joints joints;
  carom_moreau_springs springs;
} carom_moreau_motion;

void carom_moreau_motion_push(carom_moreau_motion *motion, carom_arena *arena, const carom_model *model);
// Makes what lives on the heap.
carom_status carom_moreau_motion_create(carom_moreau_motion *motion, const carom_allocator *allocator,
                                        carom_error *error);
void carom_moreau_motion_destroy(carom_moreau_motion *motion);

carom_status carom_moreau_begin(carom_moreau_motion *motion, const carom_state *state, const carom_moreau_span *span,
                                carom_error *error);
// v_free anew, from b_free.
void carom_moreau_free_velocity(carom_moreau_motion *motion);
// z = S (p, l), springs included, with joints held to the rates asked for; null: to 0.
void carom_moreau_respond(carom_moreau_motion *motion, const carom_vec3 *p, const carom_vec3 *l, const double *target,
                          const carom_twists *z);
// v' and the joints' impulses from b.
void carom_moreau_new_velocity(carom_moreau_motion *motion);
// Positions and momenta at the end.
carom_status carom_moreau_move(const carom_moreau_motion *motion, carom_state *to, carom_error *error);

// Makes up for joint residuals left at the end (index 3): adds them to those of the start, so that the next
// carom_moreau_new_velocity allows for them. The largest, m or rad, and whose it is.
double carom_moreau_correct(carom_moreau_motion *motion, const carom_state *end, int *worst_joint);

// What gravity, force fields, joints and motors did.
void carom_moreau_book_motion(carom_moreau_motion *motion, carom_ledger *ledger);

// What every spring alone does to all bodies.
carom_status carom_moreau_couple_springs(carom_moreau_motion *motion, carom_error *error);

// ---- springs.c
// As many as are solved for; where there are more, and with an alpha, they count as forces.
#define CAROM_MOREAU_SPRINGS_MAX 64
void carom_moreau_springs_push(carom_moreau_springs *springs, carom_arena *arena, const carom_model *model);
// Rows, and what of the tension does not depend on the velocities to be found, into b_free; then, when S stands, what
// they make of it.
void carom_moreau_springs_begin(carom_moreau_motion *motion);
carom_status carom_moreau_springs_couple(carom_moreau_motion *motion, carom_error *error);
// Takes what springs do about velocities z off z; or what they do, with the impulses in b, into b.
void carom_moreau_springs_answer(carom_moreau_motion *motion, const carom_twists *z);
void carom_moreau_springs_push_back(carom_moreau_motion *motion, const carom_twists *z);
// Measures stretches at the end of the piece; true when they are as the tensions have it. Else b_free is made so that
// the next solve allows for them.
bool carom_moreau_springs_met(carom_moreau_motion *motion, const carom_state *end);
void carom_moreau_springs_book(const carom_moreau_motion *motion, carom_ledger *ledger);

#endif

// Inside the integrator `exact`: paths of bodies between impacts, the search for the next impact, contacts that last.
#ifndef CAROM_SRC_STEP_EXACT_EXACT_H
#define CAROM_SRC_STEP_EXACT_EXACT_H

#include "contact/pairs.h"
#include "impact/system.h"
#include "model/joints.h"
#include "step/step.h"
#include "step/variational/dmv.h"

// How near touching bodies are, and how far contacts may open before they count as lost, relative to their size.
#define CAROM_EXACT_WITHIN 1e-12
#define CAROM_EXACT_RELEASE 1e-9
// Bounces that would all be over within this share of the step give way to resting contact.
#define CAROM_EXACT_ZENO 1e-4

// Two parts that rest on each other.
typedef struct carom_exact_rest {
  int part_a, part_b;
} carom_exact_rest;

// A point of a resting contact, followed through a step.
typedef struct carom_exact_point {
  carom_vec3 a, b;     // in the frames of the bodies
  carom_vec3 n, s, t;  // normal and tangents, in the frame of `host`
  int pair, body_a, body_b, host;
  double gap;    // at the start
  double speed;  // normal velocity at the start
  double restitution;
} carom_exact_point;

// How a body moves from now on, and what bounds it.
typedef struct carom_exact_body {
  carom_dmv_bodies lane;            // its constants, alone
  carom_vec3 contact_f, contact_n;  // force and torque of resting contacts; act in the first kick
  carom_vec3 acceleration;          // of the centre, m/s2
  double slack;                     // what the true one may differ by
  double turning;                   // bounds |w|^2 + |w'|, 1/s2
  double speed, spin;               // |v| and a bound on |w| now
  double used, allowed;  // how far any of its points may have moved, and how far the candidate pairs allow for, m
} carom_exact_body;

typedef struct carom_exact {
  const carom_model *model;
  carom_allocator allocator;
  carom_contacts *contacts;
  carom_impact_system *impacts;
  double now;                // time of the group that is being moved
  bool whole;                // bodies act on each other at a distance: all are one group
  carom_exact_body *bodies;  // (body_count)
  unsigned char *lanes;      // memory of their lanes
  double *reach;             // (body_count)
  int *parent;               // (body_count) union-find
  int *order;                // (body_count) moving bodies by group
  int *group_start;          // (body_count + 1) where those of a root begin in `order`
  carom_state *begin;        // at the start of the step
  const carom_state *base;   // whole: where the path begins,
  carom_state *trial;        // and where it leads in `trial_time`
  double trial_time;
  carom_status trial_status;
  // for the discrete energy condition only
  carom_state *before;          // the last leap
  carom_vec3 *jump_p, *jump_l;  // (body_count)
  double leap_time;             // of the last leap, s
  double leap_energy;           // discrete energy of the last leap, J
  carom_ledger trial_ledger;
  double *part_radius;          // (part_count) how far its points are from the body's centre, where turning moves them
  carom_distance_result *near;  // (pairs) separations now
  int *pair_group;              // (pairs) root of the group
  int near_capacity;
  carom_contact *touching;
  int touching_count, touching_capacity;
  carom_exact_rest *resting, *resting_saved;
  int resting_count, resting_capacity, saved_count, saved_capacity;
  // resting contacts of the group that is being moved
  carom_contact *held;
  carom_exact_point *points;
  double *numbers;  // (12 held_capacity) for the four that follow
  double *impulse;  // (3 held) over `held_time`
  double *drive, *target, *velocity;
  double held_time;
  int held_count, held_capacity;
  // limits of joints; numbers are 4 joint + 2 turn + upper
  carom_joint_limit *limits, *limits_then;  // (limit_capacity) at the start of a leap; scratch for another time
  carom_joint_limit *held_limits;           // (held_limit_count) resting ones of this leap; rows after those of `held`
  bool *limit_rests, *limit_rests_saved;    // (4 joint_count) by number
  double *limit_bend;                       // (4 joint_count) bound on gap'' in this leap
  int limit_capacity, held_limit_count;
} carom_exact;

// Members of the resting contact problem: contact points, then limits.
static inline int carom_exact_held(const carom_exact *exact) { return exact->held_count + exact->held_limit_count; }

// A set of bodies that an impact of one may concern, moved together.
typedef struct carom_exact_group {
  const int *bodies;  // moving ones
  int count;
  int root;
  double start;     // of the step, s
  double time;      // since the start of the step
  double duration;  // of the step
  int impacts;
} carom_exact_group;

// ---- exact_path.c ------------------------------------------------------------------------------------------------

// Takes bounds on the motion over the next `duration` from the state and the contact forces.
carom_status carom_exact_bound(carom_stepper *stepper, const carom_state *state, const carom_exact_group *group,
                               double duration, carom_error *error);
// Bounds on the motion of driven bodies from `time` on.
void carom_exact_bound_driven(carom_exact *exact, double time, double duration);
// Where a body is after `time` on its way from `state`.
carom_pose carom_exact_pose(carom_stepper *stepper, const carom_state *state, int body, double time);
// Moves the group on by `time`; books what gravity (or the whole flow) did.
carom_status carom_exact_move(carom_stepper *stepper, carom_state *state, const carom_exact_group *group, double time,
                              carom_ledger *ledger, carom_error *error);
// The whole state after `time` on its way from `state`, for bodies that act on each other; holds until the next call.
const carom_state *carom_exact_trial(carom_stepper *stepper, const carom_state *state, double time);
// Bounds how far any point of a body moves in `duration`, m.
double carom_exact_travel(const carom_exact_body *body, double radius, double duration);
// Bounds the relative acceleration of points of two parts along any direction, m/s2.
double carom_exact_bend(const carom_exact *exact, const carom_part_pair *pair);
// How near is touching, for two parts.
double carom_exact_within(const carom_exact *exact, const carom_state *state, const carom_part_pair *pair);

// True when all bounces to come of a contact that parts at `speed` are over in no time, or are lower than `within`.
bool carom_exact_bounces_spent(double speed, double before, double restitution, double bend, double within,
                               double duration);

// ---- exact_limits.c ----------------------------------------------------------------------------------------------

void carom_exact_limits_push(carom_exact *exact, carom_arena *arena);
void carom_exact_save_limits(carom_exact *exact);  // which limits rest, should the step be begun again
void carom_exact_restore_limits(carom_exact *exact);
bool carom_exact_remember_limits(carom_exact *exact, carom_tape *tape);  // for checkpoints
// The first time before *time at which a limit is reached; *time then moves there.
carom_status carom_exact_search_limits(carom_stepper *stepper, const carom_state *state, double *time, bool *found,
                                       carom_error *error);
// Largest |rate| at the limits that are reached.
double carom_exact_fastest_limit(const carom_exact *exact, const carom_state *state);
// After an impact: limits whose bounces are spent (or all that are reached) rest from now on.
void carom_exact_rest_limits(carom_exact *exact, const carom_state *state, bool all, double before, double duration);
void carom_exact_release_limits(carom_exact *exact, const carom_state *state);  // those that have opened
// Fills held_limits with the resting ones nearer than `reach`.
void carom_exact_take_limits(carom_exact *exact, const carom_state *state, double reach);
// Gap of a limit after `time` on the path.
double carom_exact_limit_gap(carom_stepper *stepper, const carom_state *state, const carom_joint_limit *limit,
                             double time);
// Adds a force (or torque) along a limit's row to the contact forces of its bodies.
void carom_exact_spread_limit(carom_exact *exact, const carom_joint_limit *limit, double force);

// ---- exact_rest.c ------------------------------------------------------------------------------------------------

bool carom_exact_is_resting(const carom_exact *exact, const carom_part_pair *pair);
bool carom_exact_add_resting(carom_exact *exact, const carom_part_pair *pair);  // false when out of memory
bool carom_exact_save_resting(carom_exact *exact);                              // likewise
void carom_exact_restore_resting(carom_exact *exact);
bool carom_exact_remember_resting(carom_exact *exact, carom_tape *tape);  // for checkpoints
void carom_exact_release_opened(carom_exact *exact, const carom_state *state);
// Forces of the group's resting contacts over the next `duration`, so that none of them sinks in.
carom_status carom_exact_press(carom_stepper *stepper, carom_state *state, const carom_exact_group *group,
                               double duration, carom_error *error);
// Their impulses put in at the start of a move of `time`, and removed from what is to come.
carom_status carom_exact_push(carom_stepper *stepper, carom_state *state, double time, carom_ledger *ledger,
                              carom_error *error);
double carom_exact_energy(const carom_exact *exact, const carom_state *state);
void carom_exact_book_loss(const carom_exact *exact, double loss, carom_ledger *ledger);
// Velocities after a move: resting contacts do not approach.
carom_status carom_exact_settle(carom_stepper *stepper, carom_state *state, const carom_exact_group *group,
                                carom_ledger *ledger, carom_error *error);

// ---- exact_energy.c ----------------------------------------------------------------------------------------------

// Keeps the discrete energy of a leap that ends in an impact.
void carom_exact_note_leap(carom_exact *exact, const carom_state *from, const carom_state *to,
                           const carom_exact_group *group, double time);
// Scales the jump of momenta from exact->before to the state so that the discrete energy is kept through the impact;
// `mark` is of the ledger before the jump.
void carom_exact_keep_discrete_energy(carom_stepper *stepper, carom_state *state, const carom_exact_group *group,
                                      const carom_ledger_mark *mark, carom_ledger *ledger);

#endif

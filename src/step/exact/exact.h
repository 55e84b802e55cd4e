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

// How a body moves from now on, and what bounds it.
typedef struct carom_exact_body {
  carom_dmv_bodies lane;    // its constants, alone
  double radius;            // how far its points are from the centre, where turning moves them, m
  carom_vec3 acceleration;  // of the centre, m/s2
  double slack;             // what the true one may differ by
  double turning;           // bounds |w|^2 + |w'|, 1/s2
  double speed, spin;       // |v| and a bound on |w| now
  double used, allowed;     // how far any of its points may have moved, and how far the candidate pairs allow for, m
} carom_exact_body;

// Bodies that an impact of one may concern are a group; its root is its smallest number.
typedef struct carom_exact_groups {
  int *parent;         // (body_count) union-find
  int *order, *count;  // (body_count) moving bodies by group, and how many a root has
  int *start;          // (body_count + 1) where those of a root begin in `order`
  int *of_pair;        // (pairs) root of the group
  int capacity;
} carom_exact_groups;

// Where the path from a state leads, for bodies that act on each other and are moved together.
typedef struct carom_exact_trial {
  const carom_state *from;  // null: not known
  carom_state *state;       // there, `time` later
  double time;
  carom_status status;
  carom_error error;  // why it could not be followed, unless the status is good
  carom_ledger ledger;
} carom_exact_trial;

// The last leap, for the discrete energy condition only.
typedef struct carom_exact_leap {
  carom_state *before;          // at its start, and then before the impact that ended it
  carom_vec3 *jump_p, *jump_l;  // (body_count) by that impact
  double time;                  // s
  double energy;                // discrete, J
} carom_exact_leap;

// Which parts rest on each other, and which limits of joints rest.
typedef struct carom_exact_resting {
  int (*pairs)[2];  // (count) part of A, part of B
  int count, capacity;
  bool *limits;  // (CAROM_JOINT_LIMITS joint_count) by their number
} carom_exact_resting;

// A point of a resting contact, followed through a leap. Where balls fatten the shapes, gaps are those of the cores
// less their radii, since round surfaces turn other points to each other; slips are those of the points.
typedef struct carom_exact_point {
  carom_contact start;        // as the leap began
  carom_vec3 a, b;            // in the frames of the bodies
  carom_vec3 core_a, core_b;  // likewise
  double balls;               // sum of the radii, m
  carom_vec3 axes[3];         // normal and tangents, in the frame of `host`
  int host;                   // the body whose face it is
  bool crossing;              // it is where two edges cross,
  carom_vec3 edge_a, edge_b;  // in the frames of the bodies
} carom_exact_point;

// Resting contacts and limits of the group that is being moved, and their impulses over `time`. Rows of the limits come
// after those of the contacts.
typedef struct carom_exact_held {
  carom_contact *contacts;
  carom_exact_point *points;  // (count) of the leap's start
  carom_joint_limit *limits;
  int count, capacity, limit_count;
  double *numbers;  // (12 capacity) for the four that follow
  double *impulse, *drive, *target, *velocity;
  double time;
  double rubbed;               // what friction may take in this leap, J
  carom_vec3 *force, *torque;  // (body_count) what the impulses amount to; they act in the first kick
} carom_exact_held;

typedef struct carom_exact_limits {
  carom_joint_limit *now, *then;  // (capacity) at the start of a leap; scratch for another time
  double *bend;                   // (CAROM_JOINT_LIMITS joint_count) bound on gap'' in this leap
  int capacity;
} carom_exact_limits;

typedef struct carom_exact {
  const carom_model *model;
  carom_allocator allocator;
  carom_contacts *contacts;
  carom_impact_system *impacts;
  bool whole;                // bodies act on each other at a distance: all are one group
  double now;                // time of the group that is being moved
  carom_exact_body *bodies;  // (body_count)
  unsigned char *lanes;      // memory of their lanes
  double *part_radius;       // (part_count) how far its points are from the body's centre, where turning moves them
  carom_vec3 *v, *w;         // (body_count) for the reach
  double *reach;             // (body_count)
  carom_exact_groups groups;
  carom_distance_result *near;  // (pairs) separations now
  int near_capacity;
  carom_contact *touching;  // at an impact
  int touching_count, touching_capacity;
  carom_state *begin;                          // at the start of the step
  carom_exact_resting resting, resting_begin;  // now, and at the start of the step
  carom_exact_held held;
  carom_exact_limits limits;
  carom_exact_trial trial;
  carom_exact_leap leap;
} carom_exact;

// A group on its way through the step.
typedef struct carom_exact_group {
  const int *bodies;  // moving ones
  int count;
  int root;
  double start;     // of the step, s
  double time;      // since the start of the step
  double duration;  // of the step
  int impacts;
} carom_exact_group;

// Where a leap ends.
typedef struct carom_exact_landing {
  double time;
  bool impact;  // it ends in one
  bool widen;   // bodies may get farther than the candidate pairs allow for: the step must be begun again
} carom_exact_landing;

// ---- setup.c -----------------------------------------------------------------------------------------------------

void carom_exact_lay_out(carom_stepper *stepper, carom_arena *arena);
carom_status carom_exact_prepare(carom_stepper *stepper, carom_error *error);
void carom_exact_release(carom_stepper *stepper);
bool carom_exact_remember(carom_stepper *stepper, carom_tape *tape);

// ---- groups.c ----------------------------------------------------------------------------------------------------

// Candidate pairs for bodies that move as far as is allowed, and the groups they make.
carom_status carom_exact_find_groups(carom_exact *exact, const carom_state *state, carom_error *error);
// True for pairs of the group, but not for those that a joint holds together.
bool carom_exact_in_group(const carom_exact *exact, const carom_state *state, const carom_exact_group *group, int pair);
// Separations of the group's pairs now; overlaps are noted.
carom_status carom_exact_measure(carom_exact *exact, const carom_state *state, const carom_exact_group *group,
                                 carom_ledger *ledger, carom_error *error);

// ---- path.c ------------------------------------------------------------------------------------------------------

// Takes bounds on the motion over the next `duration` from the state and the contact forces.
carom_status carom_exact_bound(carom_stepper *stepper, const carom_state *state, const carom_exact_group *group,
                               double duration);
// Bounds |w| of a body that turns freely, rad/s.
double carom_exact_spin(const carom_exact *exact, const carom_state *state, int body);
// Bounds on the motion of driven bodies from `time` on.
void carom_exact_bound_driven(carom_exact *exact, double time, double duration);
// Where a body is after `time` on its way from `state`.
carom_pose carom_exact_pose(carom_stepper *stepper, const carom_state *state, int body, double time);
// Moves the group on by `time`; books what gravity (or the whole flow) did.
carom_status carom_exact_move(carom_stepper *stepper, carom_state *state, const carom_exact_group *group, double time,
                              carom_ledger *ledger, carom_error *error);
// The whole state after `time` on its way from `state`, for bodies that act on each other; holds until the next call.
const carom_state *carom_exact_try(carom_stepper *stepper, const carom_state *state, double time);
// The bodies of the group and those that are driven after `time` on their way; holds until the next call.
const carom_state *carom_exact_end(carom_stepper *stepper, const carom_state *state, const carom_exact_group *group,
                                   double time);
// Bounds how far any point of a body moves in `duration` when turning moves points this far from its centre, m.
double carom_exact_travel(const carom_exact_body *body, double radius, double duration);
// Bounds the relative acceleration of points of two parts along any direction, m/s2.
double carom_exact_bend(const carom_exact *exact, const carom_part_pair *pair);
// How large two parts are, m; unbounded ones do not count.
double carom_exact_size(const carom_exact *exact, int part_a, int part_b);
// How near is touching, for two parts; and how near points of resting ones are that have not opened.
double carom_exact_within(const carom_exact *exact, const carom_state *state, const carom_part_pair *pair);
double carom_exact_closed(const carom_exact *exact, const carom_state *state, const carom_part_pair *pair);

// ---- search.c ----------------------------------------------------------------------------------------------------

// The first impact of the group before landing->time, which then moves there.
carom_status carom_exact_search(carom_stepper *stepper, const carom_state *state, const carom_exact_group *group,
                                carom_exact_landing *landing, carom_error *error);

// ---- impact.c ----------------------------------------------------------------------------------------------------

// All that touches now: momenta jump, and contacts whose bounces are spent rest from now on.
carom_status carom_exact_collide(carom_stepper *stepper, carom_state *state, carom_exact_group *group,
                                 carom_ledger *ledger, carom_error *error);

// A contact or limit that has just been hit.
typedef struct carom_exact_bounce {
  double speed, restitution;  // it parts with
  double bend, within;        // bounds the acceleration; how near is touching
} carom_exact_bounce;

// True when all bounces to come are over in no time, or are too low to be seen; `before` is the fastest speed before
// the impact, `duration` that of the step.
bool carom_exact_bounces_spent(const carom_exact_bounce *bounce, double before, double duration);

// ---- limits.c ----------------------------------------------------------------------------------------------------

void carom_exact_lay_out_limits(carom_exact *exact, carom_arena *arena);
// As carom_exact_search.
carom_status carom_exact_search_limits(carom_stepper *stepper, const carom_state *state, carom_exact_landing *landing,
                                       carom_error *error);
// Largest |rate| at the limits that are reached.
double carom_exact_fastest_limit(const carom_exact *exact, const carom_state *state);
// After an impact: limits whose bounces are spent (or all that are reached) rest from now on.
void carom_exact_rest_limits(carom_exact *exact, const carom_state *state, bool all, double before, double duration);
void carom_exact_release_limits(carom_exact *exact, const carom_state *state);  // those that have opened
// Fills held.limits with the resting ones nearer than `reach`.
void carom_exact_take_limits(carom_exact *exact, const carom_state *state, double reach);
// Gap of a limit after `time` on the path.
double carom_exact_limit_gap(carom_stepper *stepper, const carom_state *state, const carom_joint_limit *limit,
                             double time);

// ---- resting.c ---------------------------------------------------------------------------------------------------

bool carom_exact_is_resting(const carom_exact *exact, const carom_part_pair *pair);
bool carom_exact_add_resting(carom_exact *exact, const carom_part_pair *pair);  // false when out of memory
void carom_exact_drop_resting(carom_exact *exact, const carom_part_pair *pair);
bool carom_exact_copy_resting(carom_exact *exact, carom_exact_resting *to,
                              const carom_exact_resting *from);           // likewise
bool carom_exact_remember_resting(carom_exact *exact, carom_tape *tape);  // for checkpoints
void carom_exact_release_opened(carom_exact *exact, const carom_state *state);

// ---- held.c ------------------------------------------------------------------------------------------------------

// Members of the resting contact problem: contact points, then limits.
static inline int carom_exact_held_count(const carom_exact *exact) {
  return exact->held.count + exact->held.limit_count;
}

// Forces of the group's resting contacts over the next `duration`, so that none of them sinks in.
carom_status carom_exact_press(carom_stepper *stepper, const carom_state *state, const carom_exact_group *group,
                               double duration, carom_error *error);
// The first time at which resting parts touch where they did not, as carom_exact_search.
carom_status carom_exact_search_held(carom_stepper *stepper, const carom_state *state, carom_exact_landing *landing,
                                     carom_error *error);
// What they come to in a move of `time`, put in at its start.
carom_status carom_exact_push_held(carom_exact *exact, carom_state *state, double time, carom_ledger *ledger,
                                   carom_error *error);
// Velocities after a move of `time`: resting contacts do not approach.
carom_status carom_exact_settle(carom_exact *exact, carom_state *state, const carom_exact_group *group, double time,
                                carom_ledger *ledger, carom_error *error);
// Books what resting contacts took in a leap of the energy that is missing, J; whether other points may have hit at its
// end.
void carom_exact_book_loss(const carom_exact *exact, double missing, bool hit, carom_ledger *ledger);

// ---- energy.c ----------------------------------------------------------------------------------------------------

// Keeps the discrete energy of a leap that ended in an impact, and the state before its jump.
void carom_exact_note_leap(carom_exact *exact, const carom_state *state, const carom_exact_group *group);
// Scales the jump of momenta since then so that the discrete energy is kept through the impact; `mark` is of the ledger
// before the jump.
void carom_exact_keep_discrete_energy(carom_stepper *stepper, carom_state *state, const carom_exact_group *group,
                                      const carom_ledger_mark *mark, carom_ledger *ledger);

#endif

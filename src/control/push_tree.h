// Planning pushes: what its files share.
//
//     push_yard.c      the part's sides, where probes find a place, what a push does to all starts
//     push_controls.c  pushes drawn at random towards a pose
//     push_tree.c      the tree of pushes from one start
//     push_shorten.c   pushes that are not needed
//     push_plan.c      trees of several seeds, and what users see
#ifndef CAROM_SRC_CONTROL_PUSH_TREE_H
#define CAROM_SRC_CONTROL_PUSH_TREE_H

#include "carom/push_plan.h"

// A straight side of the part in its body frame, counter-clockwise: what is outside lies to the right.
typedef struct carom_push_side {
  double at[2], along[2], normal[2];  // where it begins; unit, along it and outwards
  double length;
} carom_push_side;

enum { CAROM_PUSH_FLOCK = 9 };  // the nominal pose, and 8 others

// Where the part may be: [0] is where it is said to be. Friction: factors.
typedef struct carom_push_flock {
  int count;
  double pose[CAROM_PUSH_FLOCK][3];
  double friction[CAROM_PUSH_FLOCK];
} carom_push_flock;

enum { CAROM_PUSH_DOORS = 24 };

// How a last push may come to the goal: on which side, which way, and from how far at least, so that walls leave room.
typedef struct carom_push_door {
  int side;
  double heading[2];
  double least;
} carom_push_door;

// What planning knows of the world, and scratch; one for each thread.
typedef struct carom_push_yard {
  const carom_push_plan_def *def;
  carom_allocator allocator;
  carom_pusher *pusher;  // one of these two
  carom_pusher *coarse, *fine;
  carom_state *state;
  carom_push_side *sides;
  int side_count, side_capacity;
  int body;
  double extent;       // m: of the ball about the part
  double turn_length;  // m
  double longest;      // m
  double keep;         // m: how far probes begin from what they do not touch yet
  double goal[3];
  double low[2], high[2];  // where the part is led
  carom_push_door doors[CAROM_PUSH_DOORS];
  int door_count;
} carom_push_yard;

// What became of a push of the whole flock.
typedef struct carom_push_outcome {
  bool usable;            // the flock went through it (or through what is left of its duration)
  bool goal;              // all of it is in the goal
  carom_push_ending why;  // if not usable
  bool touched;
} carom_push_outcome;

// ---- push_yard.c ----
carom_status carom_push_yard_create(const carom_push_plan_def *def, const carom_allocator *allocator,
                                    carom_push_yard **yard, carom_error *error);
void carom_push_yard_destroy(carom_push_yard *yard);  // null is fine
// From now on with the pusher's steps, or with the longer ones of the tree.
void carom_push_yard_look_closely(carom_push_yard *yard, bool closely);
carom_push_flock carom_push_yard_flock(const carom_push_yard *yard);  // at the start
double carom_push_wrap(double angle);                                 // to [-pi, pi]
// sqrt(|dxy|^2 + (turn_length dangle)^2).
double carom_push_distance(const carom_push_yard *yard, const double a[3], const double b[3]);
// How far the others are off the nominal pose, at most: m, m, rad.
void carom_push_spread(const carom_push_flock *flock, double spread[3]);
bool carom_push_yard_in_goal(const carom_push_yard *yard, const carom_push_flock *flock);
// Of a probe (whose body frame stands at x, y) from the part at a pose, m; < 0: overlaps, by some measure.
double carom_push_probe_gap(const carom_push_yard *yard, int probe, const double at[2], const double pose[3]);
// Of a probe from all else that does not move.
double carom_push_wall_gap(const carom_push_yard *yard, int probe, const double at[2]);
// Of the part at a pose from all that does not move.
double carom_push_part_gap(const carom_push_yard *yard, const double pose[3]);
// How far a probe reaches from its frame along a direction.
double carom_push_probe_reach(const carom_push_yard *yard, int probe, const double direction[2]);
double carom_push_probe_friction(const carom_push_yard *yard, int probe);  // the least that is reckoned with
// The nominal pose through a push; usable is false for jams and the like, and for pushes that cannot begin. A push that
// jams late is cut to what went well before.
carom_status carom_push_yard_run(carom_push_yard *yard, carom_push *push, carom_push_flock *flock,
                                 carom_push_outcome *outcome, carom_error *error);
// The others likewise (for plans that are to withstand them); *nominal is how the flock stood before.
carom_status carom_push_yard_follow(carom_push_yard *yard, const carom_push *push, const carom_push_flock *before,
                                    carom_push_flock *flock, carom_push_outcome *outcome, carom_error *error);
// A push of the nominal pose as it is, with all problems solved.
carom_status carom_push_yard_replay(carom_push_yard *yard, const carom_push *push, carom_push_flock *flock,
                                    carom_push_outcome *outcome, carom_error *error);

// ---- push_controls.c ----

// Where a push is to lead.
typedef struct carom_push_aim {
  double pose[3];
  bool line;          // any pose that the last push, along `heading`, can take from there will do as well
  double heading[2];  // unit
  double least;       // m: from how far, at least
  bool precise;       // worth aiming at again
} carom_push_aim;

// A push as it is thought of: probes on a side, and where the side shall come to lie.
typedef struct carom_push_stroke {
  int side, probes;
  double place[CAROM_PUSH_PROBES];  // along the side, m
  double share[CAROM_PUSH_PROBES];  // of the speed
  double heading[2];
  double way;     // m: of the part
  double end[3];  // where the part then is, if nothing slips
} carom_push_stroke;

// Finds the doors to the goal, by trying.
void carom_push_find_doors(carom_push_yard *yard, carom_random *random);
carom_push_aim carom_push_draw_aim(const carom_push_yard *yard, carom_random *random);
carom_push_aim carom_push_draw_aim_before(const carom_push_yard *yard, carom_random *random);  // the last push
// The aim for a part at a pose: lines become poses.
void carom_push_aim_for(const carom_push_yard *yard, const carom_push_aim *aim, const double pose[3], double target[3]);
// What a push by two probes on the best side cannot put right, of pose and of the others' spread, m.
double carom_push_aim_rest(const carom_push_yard *yard, const carom_push_aim *aim, const carom_push_flock *flock,
                           int *side);
bool carom_push_draw_stroke(const carom_push_yard *yard, carom_random *random, const carom_push_aim *aim,
                            const carom_push_flock *flock, carom_push_stroke *stroke);
// Probes and duration of a stroke; false: they find no place, or walls are in the way.
bool carom_push_place_stroke(const carom_push_yard *yard, const carom_push_stroke *stroke,
                             const carom_push_flock *flock, carom_push *push);

// ---- push_tree.c ----

// Pushes one after the other.
typedef struct carom_push_way {
  bool found;
  int count;
  carom_push *pushes;        // (def->most_pushes)
  carom_push_flock *flocks;  // (def->most_pushes + 1)
} carom_push_way;

// Counts what is done, asks whether to stop. Shared by all seeds.
typedef struct carom_push_watch {
  const carom_progress *progress;
  double done, total;
  bool stopped;
} carom_push_watch;

bool carom_push_watch_tick(carom_push_watch *watch);  // false: stop
carom_status carom_push_tree_grow(carom_push_yard *yard, int seed, carom_push_watch *watch, carom_push_way *way,
                                  carom_push_plan_report *report, carom_error *error);

// ---- push_shorten.c ----
// The pushes from `first` on, from the flock that stands before it; *reached: all of it gets to the goal.
carom_status carom_push_again(carom_push_yard *yard, carom_push_way *way, int first, bool *reached, carom_error *error);
// Drops pushes; what `way` and `scratch` point to may change places.
carom_status carom_push_shorten(carom_push_yard *yard, carom_push_way *way, carom_push_way *scratch, int *dropped,
                                carom_error *error);

#endif

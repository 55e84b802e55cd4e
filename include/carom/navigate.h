/// carom/navigate.h: vehicles that find their way among each other by contacts that are not there.
///
/// Vehicles and obstacles wear convex safety cages, and contacts among cages are frictionless (Gavrea 2008, the outlook
/// on navigation). Every step, preferred velocities are projected onto what the contacts allow, all vehicles at once:
///
///     min  1/2 sum m_i |v_i - v_i*|^2    with   n'(v_a - v_b) + gap / tau >= 0   for cages that are near,
///
/// whose conditions of optimality are the complementarity problem  v = v* + M^-1 N lambda,  0 <= lambda  complementary
/// to  N'v + gap / tau >= 0. Steps keep planes between the cages that were there before them, so that no cages overlap
/// at any time, also of vehicles that turn. docs/navigation.md has the mathematics.
///
///     carom_navigate_def def = carom_navigate_default();
///     def.vehicles = vehicles, def.vehicle_count = 20;
///     carom_navigate_run(&def, NULL, &motion, &error);
///     ... motion->verdict, motion->poses ...
///     carom_navigate_motion_destroy(motion);
///
/// Lengths are in metres, angles in radians against x, times in seconds; all is in the plane. What is called a place is
/// x, y and an angle. The answer does not depend on the order in which vehicles and obstacles are given, nor on the
/// number of threads.
#ifndef CAROM_NAVIGATE_H
#define CAROM_NAVIGATE_H

#include "carom/base.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- what there is --------------------------------------------------------------------------------------------------

/// A convex region: all points within `radius` of the hull of its corners. Without corners it is a disc.
typedef struct carom_cage {
  double radius;               ///< m; > 0 for a disc, >= 0 with corners
  int count;                   ///< of corners; 0, or 3 to CAROM_CAGE_CORNERS
  const double (*corners)[2];  ///< (count) counter-clockwise about a convex polygon, from the vehicle's point, m
} carom_cage;

enum { CAROM_CAGE_CORNERS = 64 };      ///< most corners of a cage
enum { CAROM_NAVIGATE_MOST = 10000 };  ///< most vehicles; and most obstacles

/// How far a cage reaches from its point, m.
CAROM_API double carom_cage_reach(const carom_cage *cage);
/// Is it a cage? Fails as carom_navigate_create does; `name` stands for its owner in messages.
CAROM_API carom_status carom_cage_check(const carom_cage *cage, const char *name, carom_error *error);

/// How a vehicle may move.
typedef enum carom_steer {
  CAROM_STEER_SLIDE,     ///< any way, and keeps its angle
  CAROM_STEER_TURN,      ///< any way, and turns to face where it goes
  CAROM_STEER_UNICYCLE,  ///< as a car with two driven wheels: its point lies ahead of the axle by `offset`
} carom_steer;

/// "slide", "turn", "unicycle"; null for a number that is none.
CAROM_API const char *carom_steer_name(carom_steer steering);

/// A vehicle. Begin with carom_navigate_vehicle_default().
typedef struct carom_navigate_vehicle {
  const char *name;      ///< for messages; null: "vehicle 3"
  carom_cage cage;       ///< about its point, which is also what it turns about
  double start[3];       ///< place of its point
  double goal[2];        ///< where its point shall be, m
  double tolerance;      ///< how near is there, m; default 0.1
  double speed;          ///< that it would go, m/s, >= 0; default 1
  double most_speed;     ///< that it may go, m/s, >= speed; 0 (default): 1.2 times the speed
  double mass;           ///< how little it gives way, kg, > 0; default 1
  double gain;           ///< N s/m with which it takes up the preferred velocity; INFINITY (default): at once
  carom_steer steering;  ///< default slide
  double turn_rate;      ///< rad/s at most, of those that turn; default 1.5
  double offset;         ///< m, > 0: of unicycles; default 0.3
  double most_reverse;   ///< m/s, >= 0: speed of the axle backwards, of unicycles; default 0.2
  int rail;              ///< number of the rail that it keeps to; -1 (default): none
} carom_navigate_vehicle;

CAROM_API carom_navigate_vehicle carom_navigate_vehicle_default(void);  ///< give cage, start and goal

/// Where an obstacle is at a time.
typedef struct carom_navigate_knot {
  double time;      ///< s; ascends from knot to knot
  double place[3];  ///< between knots it goes straight and turns evenly by the difference of the angles
} carom_navigate_knot;

/// An obstacle: it stays, or follows a path that vehicles know and give way to.
typedef struct carom_navigate_obstacle {
  const char *name;                  ///< for messages; null: "obstacle 3"
  carom_cage cage;                   ///< about its point
  int count;                         ///< of knots, >= 1; with one it stays
  const carom_navigate_knot *knots;  ///< (count) before the first and after the last it rests
  bool repeat;                       ///< after the last knot it jumps to the first: both must be the same place
} carom_navigate_obstacle;

/// A rail: a line of straight pieces that a vehicle's point keeps to.
typedef struct carom_navigate_rail {
  const char *name;           ///< null: "rail 3"
  int count;                  ///< of points, >= 2
  const double (*points)[2];  ///< (count) m
} carom_navigate_rail;

/// What is navigated. Begin with carom_navigate_default(). Guide walls are obstacles.
typedef struct carom_navigate_def {
  int vehicle_count, obstacle_count, rail_count;  ///< how many of each
  const carom_navigate_vehicle *vehicles;         ///< (vehicle_count)
  const carom_navigate_obstacle *obstacles;       ///< (obstacle_count)
  const carom_navigate_rail *rails;               ///< (rail_count)
  double step;                                    ///< s; default 0.1
  double horizon;           ///< tau, s, >= step: gaps among what moves close no faster than in this time; default 0.4
  double margin;            ///< m: left between cages; default 0.002
  double turn;              ///< rad/s: how fast those that are held up turn to their right; default 0.8
  double most_turn;         ///< rad: how far at most; default 1.9
  double duration;          ///< s: ends there at the latest; default 120
  double patience;          ///< s: who gets nowhere for so long is told of as stuck; default 10
  bool routes;              ///< ways around obstacles that stay are looked for; default true
  int threads;              ///< 0 (default): one per processor
  carom_progress progress;  ///< told of times; stops when it says so
} carom_navigate_def;

CAROM_API carom_navigate_def carom_navigate_default(void);  ///< the defaults named above

// ---- step by step ---------------------------------------------------------------------------------------------------

typedef struct carom_navigate carom_navigate;  ///< vehicles on their way; one thread at a time; opaque

/// A contact of cages that held a vehicle back in a step.
typedef struct carom_navigate_contact {
  int vehicle;       ///< its number
  int other;         ///< vehicle; or vehicle_count + number of the obstacle
  double at[2];      ///< midway between both at the start of the step, m
  double normal[2];  ///< unit, from the other to the vehicle
  double gap;        ///< at the start of the step, m
  double impulse;    ///< lambda, kg m/s
} carom_navigate_contact;

/// What is known after a step. The arrays are the navigation's, and hold until its next step.
typedef struct carom_navigate_view {
  double time;                             ///< s
  int vehicle_count, obstacle_count;       ///< as defined
  const double (*places)[3];               ///< (vehicle_count + obstacle_count) vehicles, then obstacles
  const double (*velocities)[2];           ///< (vehicle_count) of the last step, m/s
  const bool *arrived;                     ///< (vehicle_count) within its tolerance of its goal
  const bool *stuck;                       ///< (vehicle_count) got nowhere for def.patience
  int contact_count;                       ///< of the last step
  const carom_navigate_contact *contacts;  ///< (contact_count)
  int problems;                            ///< groups of vehicles solved in the last step
  int held;                                ///< groups whose step was shortened since their problem was not solved well
  double residual;                         ///< worst of the contacts' complementarity, m/s
} carom_navigate_view;

/// Copies the definition and makes room. Fails naming what is wrong: CAROM_ERR_NUMBER for numbers that are not finite
/// or out of range, CAROM_ERR_NOT_CONVEX for cages that are not, CAROM_ERR_GEOMETRY for cages that overlap at the
/// start, goals inside obstacles that stay, and vehicles off their rails.
CAROM_API carom_status carom_navigate_create(const carom_navigate_def *def, const carom_allocator *allocator,
                                             carom_navigate **navigate, carom_error *error);
CAROM_API void carom_navigate_destroy(carom_navigate *navigate);  ///< null is fine
/// One step of def.step. Allocates only when more cages are near each other than ever before.
CAROM_API carom_status carom_navigate_step(carom_navigate *navigate, carom_error *error);
CAROM_API carom_navigate_view carom_navigate_look(const carom_navigate *navigate);  ///< as things are
/// Puts all vehicles (vehicle_count x 3: x, y, angle each) somewhere else, at a time; nothing is remembered of before.
/// CAROM_ERR_GEOMETRY where cages overlap.
CAROM_API carom_status carom_navigate_put(carom_navigate *navigate, double time, const double *places,
                                          carom_error *error);
/// Preferred velocities (vehicle_count x 2, m/s) instead of those towards the goals, from the next step on, and nobody
/// turns aside; null: towards the goals again. Must hold as long as steps are taken.
CAROM_API void carom_navigate_command(carom_navigate *navigate, const double *velocities);

// ---- whole ways -----------------------------------------------------------------------------------------------------

/// Vehicles that block each other, for good as it seems.
typedef struct carom_navigate_jam {
  double time;  ///< when that was seen, s
  bool closed;  ///< forces at their contacts cancel out (force closure): a jam. Else they merely wait for each other
  int count;    ///< of vehicles
  int start;    ///< of them, in carom_navigate_motion.jammed
} carom_navigate_jam;

/// How it ended.
typedef struct carom_navigate_verdict {
  bool done;          ///< all are at their goals
  int arrived;        ///< how many are
  double time;        ///< at the end, s
  int steps;          ///< taken
  double least_gap;   ///< of all cages at all times, as measured by carom_navigate_check, m; < 0: they overlapped
  double gap_time;    ///< when, s
  int gap_a, gap_b;   ///< whose: a vehicle, and a vehicle or vehicle_count + number of an obstacle; -1: none was near
  int jams;           ///< at the end
  double length;      ///< of all ways together, m
  double straight;    ///< of the straight lines from starts to goals together, m
  int most_contacts;  ///< in a step
  int held;           ///< groups whose step was shortened, in all
  double residual;    ///< worst complementarity of a step, m/s
  double seconds;     ///< of the clock, for the steps alone
} carom_navigate_verdict;

/// A way, from the start on.
typedef struct carom_navigate_motion {
  int vehicle_count, obstacle_count;  ///< as defined
  int frame_count;                    ///< steps + 1
  double step;                        ///< s, from frame to frame
  double (*places)[3];                ///< (frame_count x (vehicle_count + obstacle_count)) vehicles, then obstacles
  int *contact_start;                 ///< (frame_count + 1) into `contacts`: of the step that led to the frame
  carom_navigate_contact *contacts;   ///< (contact_start[frame_count])
  double *arrival;                    ///< (vehicle_count) since when it is at its goal, s; INFINITY: it is not
  double *length;                     ///< (vehicle_count) of its way, m
  int jam_count;                      ///< at the end
  carom_navigate_jam *jams;           ///< (jam_count)
  int *jammed;                        ///< vehicles of the jams
  carom_navigate_verdict verdict;     ///< how it ended
  carom_allocator allocator;          ///< of all this
} carom_navigate_motion;

/// Goes until all are at their goals, or for def.duration, or until nobody moves any more and some are stuck; then
/// checks the way. CAROM_INTERRUPTED, with the way so far, when def.progress says stop.
CAROM_API carom_status carom_navigate_run(const carom_navigate_def *def, const carom_allocator *allocator,
                                          carom_navigate_motion **motion, carom_error *error);
CAROM_API void carom_navigate_motion_destroy(carom_navigate_motion *motion);  ///< null is fine

/// The least distance of two cages at places; < 0: minus the depth to which they overlap. By all corners and sides, and
/// by none of what steps are computed with.
CAROM_API double carom_cage_gap(const carom_cage *a, const double place_a[3], const carom_cage *b,
                                const double place_b[3]);
/// The least gap along a way, with `between` more moments looked at in every step, and whose it is: fills least_gap,
/// gap_time, gap_a and gap_b of motion->verdict.
CAROM_API carom_status carom_navigate_check(carom_navigate_motion *motion, const carom_navigate_def *def, int between,
                                            carom_error *error);

// ---- robust segments ------------------------------------------------------------------------------------------------

/// A segment: vehicles are told constant velocities for a while. Speeds are held in their bounds, contacts act.
typedef struct carom_navigate_segment {
  double duration;          ///< s, > 0
  double settle;            ///< share of it, in [0, 1), in which contacts may still change
  double (*velocities)[2];  ///< (vehicle_count) preferred, m/s
} carom_navigate_segment;

/// What came of a segment.
typedef struct carom_navigate_fate {
  bool robust;    ///< after the settling the contacts and bounds that carry are the same at every step, from all starts
  double margin;  ///< how far they are from a change: least of all impulses (over masses) and speeds of parting, less
                  ///< what they differ by over the box, m/s; negative: they change. Of a run: 0
  double time;    ///< of the first step with others, s from the start of the segment; INFINITY: none
  int switches;   ///< steps of a run after the settling with others than the first of them; of checks at most 1
  int carrying;   ///< contacts and bounds that carry after the settling
  uint64_t basis;         ///< which ones: a number that is the same when they are
  int steps;              ///< of one run
  int problems, systems;  ///< complementarity problems and linear systems solved
} carom_navigate_fate;

enum { CAROM_NAVIGATE_SMALL = 12 };  ///< most vehicles for segments and plans

/// Is the segment robust from where the vehicles are, and from all starts within `half` (m, in x and y of each vehicle)
/// of there (Gavrea 2008, 2.4)? Problems are solved while contacts settle; from then on linear systems tell whether the
/// complementary basis still holds. The starts looked at are that said, and those that differ from it in one coordinate
/// by +-half; what coordinates in the cone change by then is added up over all coordinates of the starts. The vehicles
/// are then where they are said to get to. CAROM_ERR_UNSUPPORTED for vehicles that turn, unicycles, rails and gains,
/// obstacles that move, and more vehicles than CAROM_NAVIGATE_SMALL.
CAROM_API carom_status carom_navigate_check_segment(carom_navigate *navigate, const carom_navigate_segment *segment,
                                                    double half, carom_navigate_fate *fate, carom_error *error);
/// The segment from where the vehicles are, with a problem solved at every step. Fails likewise.
CAROM_API carom_status carom_navigate_run_segment(carom_navigate *navigate, const carom_navigate_segment *segment,
                                                  carom_navigate_fate *fate, carom_error *error);

/// What is planned. Begin with carom_navigate_plan_default().
typedef struct carom_navigate_plan_def {
  double half;              ///< how well places are known when a segment begins, m; default 0.02
  bool robust;              ///< segments must be robust; default true
  double settle;            ///< of segments; default 0.5
  double longest;           ///< s, of a segment; default 2
  double goal_bias;         ///< share of samples that are the goal; default 0.4
  int budget;               ///< segments tried, at most; default 2000
  uint64_t seed;            ///< default 1
  carom_progress progress;  ///< told of segments tried; stops when it says so
} carom_navigate_plan_def;

CAROM_API carom_navigate_plan_def carom_navigate_plan_default(void);  ///< the defaults named above

/// Segments one after the other.
typedef struct carom_navigate_plan {
  bool found;                        ///< all vehicles are at their goals at its end; else as near as it came
  int vehicle_count;                 ///< as defined
  int count;                         ///< of segments
  carom_navigate_segment *segments;  ///< (count)
  carom_navigate_fate *fates;        ///< (count) as checked
  double (*places)[3];               ///< ((count + 1) x vehicle_count) where the segments begin and end
  double least_margin;               ///< of all segments, m/s
  int tried, refused, nodes;         ///< segments tried, those that are not robust, and nodes of the tree
  double duration;                   ///< of all segments, s
  double seconds;                    ///< of the clock
  carom_allocator allocator;         ///< of all this
} carom_navigate_plan;

/// A tree of robust segments from the start of the vehicles, towards places drawn at random and the goals (Gavrea 2008,
/// 2.4; LaValle 1998). Places are known anew when a segment begins. Obstacles must stay. A goal that was not reached is
/// no failure (plan->found). CAROM_INTERRUPTED, with what was found so far, when `progress` says stop.
CAROM_API carom_status carom_navigate_plan_make(const carom_navigate_def *def, const carom_navigate_plan_def *how,
                                                const carom_allocator *allocator, carom_navigate_plan **plan,
                                                carom_error *error);
/// The way of a plan, from the starts said, with a problem solved at every step: as carom_navigate_run tells ways.
CAROM_API carom_status carom_navigate_plan_motion(const carom_navigate_def *def, const carom_navigate_plan *plan,
                                                  const carom_allocator *allocator, carom_navigate_motion **motion,
                                                  carom_error *error);
CAROM_API void carom_navigate_plan_destroy(carom_navigate_plan *plan);  ///< null is fine

#ifdef __cplusplus
}
#endif
#endif

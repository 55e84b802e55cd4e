/// carom/control.h: motions that are planned. An optimal control problem on a model: which forces bring the bodies from
/// here to there at the least cost, past obstacles and through planned contacts.
///
/// The method is discrete mechanics and optimal control with constraints (DMOCC; Johnson 2012, chapter 4; Leyendecker,
/// Johnson and Ortiz 2012). Unknowns are the configurations at the nodes 0 .. K, the forces in the intervals between
/// them and the scales sigma of the time steps; the forced discrete Euler-Lagrange equations of the very integrator
/// `variational` are the constraints, so that a plan can be replayed step by step. All derivatives are exact.
///
/// Poses are those of the user's body frames, as in carom/model.h.
#ifndef CAROM_CONTROL_H
#define CAROM_CONTROL_H

#include "carom/base.h"
#include "carom/model.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CAROM_LAST_NODE (-1)  ///< stands for node K

// ---- what a problem consists of: plain structs, filled by a default function ---------------------------------------

/// What a joint of a plan leaves free.
typedef enum carom_plan_joint_kind {
  CAROM_PLAN_SPHERICAL,  ///< the points stay together
  CAROM_PLAN_REVOLUTE,   ///< and the bodies turn about the axis only
} carom_plan_joint_kind;

/// Two bodies joined: for the whole motion, or from the event that catches them to the one that lets them go.
typedef struct carom_plan_joint_def {
  const char *name;            ///< copied; null means "joint" and its number
  carom_plan_joint_kind kind;  ///< default spherical
  int body[2];                 ///< either may be fixed, not both
  carom_vec3 point[2];         ///< in the body frames, m
  carom_vec3 axis;  ///< revolute: in the frame of body[0]; where it lies in body[1] is read off the start state
  carom_vec3
      reach;  ///< point[0] may be chosen this far from where it is, each way, m (as where a foot lands); default 0
  carom_quat zero;      ///< revolute: how body[1] stands in the frame of body[0] at the angle zero; default alike
  double lower, upper;  ///< revolute: range of the angle, rad, not more than a turn; default infinite
  carom_vec3
      normal;       ///< a foot: body[0] can only push body[1], along this direction of the world; default 0: hold, too
  double friction;  ///< a foot: Coulomb's mu of that push; default infinite
} carom_plan_joint_def;

/// An instant at which joints begin and end. What is caught meets without bouncing and takes up momentum; what is let
/// go ceases to hold in the same instant, so that momentum is projected onto the new joints alone (Pekarek
/// 2010, 2.4.3). The point of a foot that is let go must not move into what it stood on.
typedef struct carom_plan_event_def {
  int node;             ///< 1 to K, or CAROM_LAST_NODE
  int caught_count;     ///< joints that hold from now on
  const int *caught;    ///< (caught_count) indices; copied
  int released_count;   ///< joints that held until now
  const int *released;  ///< (released_count) indices; copied
} carom_plan_event_def;

/// What "the same again" means: the state after the last node is that of node 0 with bodies in each other's places,
/// mirrored, turned and shifted. The start is then free, but for what carom_plan_free_start says.
typedef struct carom_periodic_def {
  int swap_count;        ///< pairs of bodies that take each other's places; the others keep theirs
  const int (*swap)[2];  ///< (swap_count); copied
  int mirror;            ///< 0, 1, 2: the sign of x, y, z is changed first; default -1: none
  carom_pose map;        ///< then turned and shifted; default not at all
  carom_vec3 reach;      ///< the shift may be chosen this far from map.p, each way, m; default 0
} carom_periodic_def;

/// A point of a body that stays above a plane of the world, at the nodes and half way between them.
typedef struct carom_clearance_def {
  int body;           ///< must move
  carom_vec3 point;   ///< body frame, m
  carom_vec3 normal;  ///< of the plane, world; default y
  double offset;      ///< the plane is normal . x = offset, m; default 0
  double bump;        ///< m; height asked for in the middle, as a sine over the span of nodes; default 0
  int from, until;    ///< nodes between which this holds, both left out themselves; default 0 and CAROM_LAST_NODE
} carom_clearance_def;

/// Where a planned force acts.
typedef enum carom_actuator_kind {
  CAROM_ACTUATOR_WRENCH,    ///< a force at a point and a torque, three components each
  CAROM_ACTUATOR_THRUSTER,  ///< one force along a direction of the body
  CAROM_ACTUATOR_JOINT,     ///< the torque in a joint: about the axis of a revolute one, a vector in a spherical one
} carom_actuator_kind;

/// A source of force, constant within each interval (Johnson 2012, eq. 4.5).
typedef struct carom_actuator_def {
  const char *name;                  ///< copied; null means "actuator" and its number
  carom_actuator_kind kind;          ///< default a wrench
  int body;                          ///< wrench, thruster: on which it acts; must move
  int joint;                         ///< joint: index from carom_plan_add_joint
  carom_vec3 point;                  ///< where the force acts, body frame, m; read when has_point
  bool has_point;                    ///< false: at the centre of mass
  carom_vec3 direction;              ///< thruster: body frame
  bool body_axes;                    ///< wrench: components along the body's axes; default false: world
  bool no_force, no_torque;          ///< wrench: leave out half of it
  double force_bound, torque_bound;  ///< largest size of each component, N and N m; default infinite
  double low, high;                  ///< thruster: bounds, N; default 0 and infinite
} carom_actuator_def;

/// What must hold, and which fields of carom_condition_def say so.
typedef enum carom_condition_kind {
  CAROM_CONDITION_POSE,               ///< position and rotation as in `pose`
  CAROM_CONDITION_POSITION,           ///< low <= position <= high (equal: fixed; infinite: free)
  CAROM_CONDITION_ROTATION,           ///< as in `pose`
  CAROM_CONDITION_DIRECTION,          ///< (axis of the body) . direction >= at_least
  CAROM_CONDITION_VELOCITY,           ///< velocity and angular velocity (through the Legendre transform, eq. 4.17)
  CAROM_CONDITION_RELATIVE_POSE,      ///< `pose` of the body as seen from body `other`
  CAROM_CONDITION_RELATIVE_ROTATION,  ///< its rotation alone
  CAROM_CONDITION_RELATIVE_REST,      ///< the body moves with body `other` as if welded to it
  CAROM_CONDITION_PERIODIC,           ///< pose and momenta are those of node 0, put through the map `pose`
} carom_condition_kind;

/// Something that must hold at a node.
typedef struct carom_condition_def {
  carom_condition_kind kind;              ///< default a pose
  int node;                               ///< 0 to K; default CAROM_LAST_NODE
  int body;                               ///< of which; must move
  int other;                              ///< relative ones: to which; must move
  carom_pose pose;                        ///< of the user's body frame, world (or in the frame of `other`)
  carom_vec3 low, high;                   ///< position: bounds of the body frame's origin, world, m; default infinite
  carom_vec3 axis, direction;             ///< direction: in the body frame, and in the world; default z and z
  double at_least;                        ///< direction: cosine of the largest angle allowed
  carom_vec3 velocity, angular_velocity;  ///< of the centre of mass, m/s, and rad/s; world axes
  bool touching;  ///< relative pose and rotation: as given the bodies touch, and need not be kept apart at this node
} carom_condition_def;

/// What counts as costly.
typedef enum carom_cost_kind {
  CAROM_COST_EFFORT,  ///< sum over intervals of sigma h |tau|^2 (Johnson 2012, 4.3.1), of all actuators or of those on
                      ///< a body
  CAROM_COST_TIME,    ///< the duration
  CAROM_COST_MOMENTUM,   ///< |p|^2 + |l|^2 of a body at the last node
  CAROM_COST_DIRECTION,  ///< ((axis of the body) . direction - 1)^2 at the last node
  CAROM_COST_POSITION,   ///< |position - target|^2 of the centre of mass at the last node
  CAROM_COST_WORK,       ///< work of the actuators on joints, J; `power` says which
  CAROM_COST_TRANSPORT,  ///< work / (weight of all bodies x the length of the periodic shift)
  CAROM_COST_PEAK,       ///< the largest torque of any actuator on a joint, component by component, N m
} carom_cost_kind;

/// What counts as work. P_i = torque . (relative angular velocity) of the actuator on joint i.
typedef enum carom_power {
  CAROM_POWER_TOTAL,     ///< the integral of |sum P_i| = |d(energy)/dt|: what one joint takes up another may give
  CAROM_POWER_JOINTS,    ///< of sum |P_i|: braking costs as much as driving
  CAROM_POWER_POSITIVE,  ///< of sum max(P_i, 0): braking is free, nothing is won back
  CAROM_POWER_NET,       ///< of sum P_i: braking is paid back
} carom_power;

/// One term of the cost; terms add up.
typedef struct carom_cost_def {
  carom_cost_kind kind;        ///< default effort
  double weight;               ///< default 1; what it multiplies is in SI units
  int body;                    ///< of which; default CAROM_WORLD: effort of all actuators
  carom_vec3 axis, direction;  ///< direction: in the body frame, and in the world; default z and z
  carom_vec3 target;           ///< position: world, m
  carom_power power;           ///< work and transport: default total
} carom_cost_def;

/// What happens at a planned contact.
typedef enum carom_planned_impact {
  CAROM_PLANNED_REFLECT,  ///< the normal momentum is reflected with `restitution`; with friction the point slides on
  CAROM_PLANNED_STICK,    ///< perfectly plastic: the points stay together, as if by a spherical joint, from then on
} carom_planned_impact;

/// What friction does at a planned contact that reflects.
typedef enum carom_friction_mode {
  CAROM_FRICTION_SLIDE,   ///< the point slides on as it came; the impulse leans by mu against the sliding before
  CAROM_FRICTION_STOP,    ///< an impulse within Coulomb's cone stops the point; it parts along the normal
  CAROM_FRICTION_CHOOSE,  ///< Coulomb's law: stopped within the cone, or on it against the sliding after the blow
} carom_friction_mode;

/// A contact that happens at a node whose time is free (Johnson 2012, eq. 4.27).
typedef struct carom_planned_contact_def {
  int node;                           ///< 1 to K - 1
  int body[2];                        ///< either may be fixed, not both
  carom_planned_impact impact;        ///< default reflect
  double restitution;                 ///< e in [0, 1]; default 1
  double friction;                    ///< Coulomb's mu >= 0; default 0
  carom_friction_mode friction_mode;  ///< reflect, with friction: default slide
  bool
      flat;  ///< reflect, without friction: two faces meet, with all corners of the one that lies within the other;
             ///< each corner parts at least as fast as restitution says, and is pushed only if no faster. Default false
} carom_planned_contact_def;

/// How bodies that must not meet are kept apart.
typedef enum carom_avoidance {
  CAROM_AVOID_LIFTED,  ///< separating planes are variables: smooth, exact second derivatives. Polytopes and round ones
  CAROM_AVOID_NESTED,  ///< one smooth gap per pair and interval, planes for the last digits; any shape
} carom_avoidance;

/// The grid of a plan. Begin with carom_plan_default().
typedef struct carom_plan_def {
  int intervals;                 ///< K; default 30
  double step;                   ///< h, s; default 0.01
  carom_avoidance avoidance;     ///< default lifted
  double margin;                 ///< m; smallest gap allowed; default 0
  double scale_low, scale_high;  ///< bounds of every sigma; default 0.2 and 5
  bool free_time;                ///< the duration may change within the bounds below; default false: it stays K h
  double shortest, longest;      ///< s; 0: no bound
} carom_plan_def;

CAROM_API carom_plan_def carom_plan_default(void);              ///< the defaults named above
CAROM_API carom_plan_joint_def carom_plan_joint_default(void);  ///< spherical, of body 0 with itself: name the bodies
CAROM_API carom_actuator_def carom_actuator_default(void);      ///< an unbounded wrench on body 0
CAROM_API carom_condition_def carom_condition_default(void);    ///< body 0 at the world's frame at the last node
CAROM_API carom_cost_def carom_cost_default(void);              ///< the effort of all actuators
CAROM_API carom_planned_contact_def carom_planned_contact_default(void);  ///< elastic, without friction, at node 0
CAROM_API carom_periodic_def carom_periodic_default(void);                ///< every body as it was at node 0
CAROM_API carom_clearance_def carom_clearance_default(void);              ///< the origin of body 0 stays above y = 0

// ---- the problem ---------------------------------------------------------------------------------------------------
// Adders return the index of what they added. On a mistake they return -1 and the plan keeps the FIRST message;
// carom_plan_solve then fails with it. They copy what they are given, and may allocate.

/// An optimal control problem, and after carom_plan_solve its answer.
typedef struct carom_plan carom_plan;

/// Begins a problem. `start` gives the configuration at node 0; its momenta are kept too unless carom_plan_free_start
/// is called. The model must outlive the plan. A null def means defaults. CAROM_ERR_UNSUPPORTED for springs, charges,
/// scheduled forces, driven bodies and boundaries.
CAROM_API carom_status carom_plan_create(const carom_model *model, const carom_state *start, const carom_plan_def *def,
                                         const carom_allocator *allocator, carom_plan **plan, carom_error *error);
CAROM_API void carom_plan_destroy(carom_plan *plan);  ///< null is fine
/// Joins two bodies for the whole motion; their points should meet at the start, or no plan is feasible.
CAROM_API int carom_plan_add_joint(carom_plan *plan, const carom_plan_joint_def *def);
/// Gives the plan forces to choose; a joint that is named must be there already.
CAROM_API int carom_plan_add_actuator(carom_plan *plan, const carom_actuator_def *def);
/// Asks for something at a node.
CAROM_API int carom_plan_add_condition(carom_plan *plan, const carom_condition_def *def);
/// Adds a term to the cost; without any, a plan is feasible or not.
CAROM_API int carom_plan_add_cost(carom_plan *plan, const carom_cost_def *def);
/// Plans a contact. Contacts come in the order of their nodes.
CAROM_API int carom_plan_add_contact(carom_plan *plan, const carom_planned_contact_def *def);
/// Contact of these two bodies by a potential instead: where they overlap by d they store stiffness/2 d^2 (N/m), d
/// along the line of their centres, or below the half-space. No nodes are needed, but the bodies overlap, by about v
/// sqrt(m/stiffness), and steps must be short against the contact's duration pi sqrt(m/stiffness) (Johnson
/// 2012, 4.4.1). Polytopes and half-spaces; not for pairs that are avoided as well.
CAROM_API int carom_plan_add_penalty(carom_plan *plan, int body_a, int body_b, double stiffness);
/// Plans an instant at which joints begin or end. Events come in the order of their nodes, none at that of a planned
/// contact; a joint is caught and let go at most once each.
CAROM_API int carom_plan_add_event(carom_plan *plan, const carom_plan_event_def *def);
/// Asks for a periodic motion; once. Bodies that take each other's places must be alike (mirrored, if it mirrors).
/// Returns 0, or -1.
CAROM_API int carom_plan_set_periodic(carom_plan *plan, const carom_periodic_def *def);
/// Keeps a point above a plane.
CAROM_API int carom_plan_add_clearance(carom_plan *plan, const carom_clearance_def *def);
/// Keeps two bodies apart, part by part, by the margin of carom_plan_def, at all nodes but those of their planned
/// contacts.
CAROM_API int carom_plan_add_avoidance(carom_plan *plan, int body_a, int body_b);
/// The start of a body may be chosen: its position within +-position of the state's (component by component), any
/// rotation if `rotation`, velocities within the bounds about the state's (m, m/s, rad/s; world axes). Zero bounds keep
/// what the state says. Returns the body, or -1.
CAROM_API int carom_plan_free_start(carom_plan *plan, int body, carom_vec3 position, bool rotation, carom_vec3 velocity,
                                    carom_vec3 angular_velocity);
/// CAROM_OK while nothing went wrong; otherwise the status and message of the first mistake.
CAROM_API carom_status carom_plan_check(const carom_plan *plan, carom_error *error);

// ---- the first guess -----------------------------------------------------------------------------------------------

/// A body's way: it passes `poses[i]` at `times[i]` (ascending) at constant twists in between, and rests before the
/// first and after the last. Without one, a body goes straight to where the conditions at the last node put it. Returns
/// the body, or -1.
CAROM_API int carom_plan_set_waypoints(carom_plan *plan, int body, int count, const double *times,
                                       const carom_pose *poses);
/// Forces of the first guess FORWARD: those of an actuator pass `values[i * components]` and on (as in
/// carom_plan_forces) at `times[i]` (ascending, s from the start), straight in between, and stay as they are before the
/// first and after the last. Actuators without any do nothing. Returns the actuator, or -1.
CAROM_API int carom_plan_set_guess_forces(carom_plan *plan, int actuator, int count, const double *times,
                                          const double *values);
/// How the first guess came about.
typedef enum carom_guess_kind {
  CAROM_GUESS_PATH,     ///< along waypoints or straight lines, forces by inverse dynamics (Johnson 2012, eq. 4.22)
  CAROM_GUESS_FORWARD,  ///< a forward motion, free or by given forces, with blows at the planned contacts
  CAROM_GUESS_SEARCH,   ///< like PATH, along a collision-free way that a sampling planner found
  CAROM_GUESS_MOTION,   ///< the motion of carom_plan_set_motion, with its forces
} carom_guess_kind;

/// Where a solver stood at the end. Means something to a program of the same make only, which `print` tells.
typedef struct carom_plan_point {
  int variables, constraints;    ///< n and m
  uint64_t print;                ///< of the program's make: its rows, one by one
  const double *x;               ///< (n)
  const double *z_low, *z_high;  ///< (n) multipliers of the bounds
  const double *y;               ///< (m) of the constraints
} carom_plan_point;

/// A motion with its forces, on nodes: the answer of an earlier plan.
typedef struct carom_plan_motion {
  int nodes;                ///< K + 1, at least 2
  const double *times;      ///< (nodes) s, ascending
  const carom_pose *poses;  ///< (nodes x bodies) of the user's body frames
  const double *forces;     ///< (K x components of all actuators, as carom_plan_forces tells them); null: not known
  const double *reactions;  ///< (nodes x reactions) as carom_plan_reactions tells them; null: not known
  int event_count;          ///< planned contacts; stretches between them are kept apart
  const int *events;        ///< (event_count) their nodes
  const bool *added;        ///< (nodes) put between those of the grid by the solver; null: none
  const bool *watched;      ///< (K x carom_plan_pair_count) as carom_plan_watched tells them; null: not known
  double margin;            ///< m; as carom_plan_margin tells it; 0: none
  carom_plan_point point;   ///< no variables: not known
} carom_plan_motion;

/// Begins from an earlier answer, which is copied: carom_plan_options.guess CAROM_GUESS_MOTION then means it. It is
/// laid on the plan's grid by its times, stretch by stretch between planned contacts if it has as many. Of an answer
/// on the same grid the nodes that were added are taken over as well. Bodies, actuators and joints must be those of the
/// plan, and all of them there already. Returns 0, or -1.
CAROM_API int carom_plan_set_motion(carom_plan *plan, const carom_plan_motion *motion);

// ---- solving -------------------------------------------------------------------------------------------------------

/// How far a solve has come.
typedef struct carom_plan_iterate {
  int iteration;         ///< over all solves
  double cost;           ///< weighted sum of the costs
  double infeasibility;  ///< largest violation of a constraint, as the solver scales it
  int solve;             ///< a plan may take several: refinements, corners that were cut
} carom_plan_iterate;

/// How to solve. Begin with carom_plan_default_options().
typedef struct carom_plan_options {
  carom_guess_kind guess;  ///< default PATH; it is turned into SEARCH by itself when the straight way is blocked
  int max_iterations;      ///< default 1000
  double tolerance;        ///< default 0: 1e-9, and 1e-11 for periodic motions, which are often unstable
  double barrier;          ///< parameter to begin with; smaller stays closer to the first guess; default 0: as small
                           ///< as the first guess is good for CAROM_GUESS_MOTION, otherwise 0.1
  int refinements;         ///< after the first solve, halve all steps and solve again this often; default 0
  bool sweep;              ///< check the motion between nodes and add nodes where it would cut a corner; default true
  int max_sweeps;          ///< how often; default 8
  uint64_t seed;           ///< of the sampling planner and of varied first guesses; default 1
  int starts;              ///< solve from this many first guesses and keep the best plan; default 1
  int first_start;         ///< number of the first of them; 0 (default) is the guess itself, others are variations
  int threads;             ///< for several starts; 0 (default): one per processor. The answer is the same for any
                           ///< number. Solves take turns, since Ipopt's linear solver MUMPS cannot run twice at once
  const char *log_path;    ///< the solver's own log, of start 0; null: none
  void *context;           ///< of `progress`
  bool (*progress)(void *context, const carom_plan_iterate *iterate);  ///< false stops; the best iterate is kept
} carom_plan_options;

/// How a solve ended. All are answers; the best iterate is kept.
typedef enum carom_plan_outcome {
  CAROM_PLAN_SOLVED,      ///< within the tolerance
  CAROM_PLAN_INFEASIBLE,  ///< no motion meets all conditions near the first guess; `message` names the worst one
  CAROM_PLAN_LIMIT,       ///< max_iterations reached
  CAROM_PLAN_STOPPED,     ///< by `progress`
  CAROM_PLAN_FAILED,      ///< the solver could not go on; `message` says why
} carom_plan_outcome;

/// What came of a plan.
typedef struct carom_plan_report {
  carom_plan_outcome outcome;  ///< how it ended
  carom_guess_kind guess;      ///< the one that was used
  int iterations;              ///< of all solves
  int variables, constraints;  ///< of the last one
  double guess_cost, cost;     ///< of the first guess and of the plan
  double violation;            ///< largest violation of any constraint, in its SI unit
  double momentum_defect;      ///< largest |Delta_k| (Johnson 2012, eq. 4.12), N s and N m s
  double smallest_gap;         ///< over all avoided pairs and nodes, m; infinite without any
  double swept_gap;            ///< also between the nodes
  double overlap;              ///< largest of pairs in contact by a potential, at the nodes, m
  double complementarity;      ///< of contacts that choose: (what is left of the one) x (of the other), relative; or 0
  int added_nodes;             ///< where the motion between nodes would have cut a corner
  int start;                   ///< number of the start that this plan came from
  int starts, solved_starts;   ///< how many were tried, and how many of them came to a plan
  double seconds;              ///< of all, by the clock
  double solver_seconds;       ///< of the last solve
  char message[400];           ///< for infeasible problems: which constraint, at which node, by how much
} carom_plan_report;

CAROM_API bool carom_plan_available(void);  ///< false in a build without Ipopt
/// Options with the defaults named above.
CAROM_API carom_plan_options carom_plan_default_options(void);
/// Solves from the first guess. CAROM_OK whatever the outcome, as long as there is a best iterate to look at; null
/// options mean defaults, and `report` may be null. Otherwise the status and message of the first mistake in the
/// problem, or CAROM_ERR_UNSUPPORTED without Ipopt. One solve runs at a time in a process: others wait for their turn.
/// Allocates, and Ipopt does.
CAROM_API carom_status carom_plan_solve(carom_plan *plan, const carom_plan_options *options, carom_plan_report *report,
                                        carom_error *error);

/// Which contacts? Tries none, then every sequence of up to `most` contacts between the avoided pairs, each at nodes in
/// even spacing and then moved to where the solution wants them; keeps the feasible plan of least cost. Contacts that
/// were added before serve as the pattern for restitution and friction (the first one), and are replaced. Otherwise as
/// carom_plan_solve; CAROM_ERR_ARGUMENT for `most` out of range.
CAROM_API carom_status carom_plan_search_contacts(carom_plan *plan, int most, const carom_plan_options *options,
                                                  carom_plan_report *report, carom_error *error);

// ---- the answer ----------------------------------------------------------------------------------------------------
// Valid after carom_plan_solve, until the next. None of these allocates.

CAROM_API int carom_plan_node_count(const carom_plan *plan);         ///< K + 1, with nodes that were added
CAROM_API double carom_plan_time(const carom_plan *plan, int node);  ///< s, from the time of the start state on
/// Configuration and momenta of a node, into a state of the model; at a contact or an event, `after` tells which
/// momenta. Uses scratch of the plan: one thread at a time.
CAROM_API void carom_plan_state(const carom_plan *plan, int node, bool after, carom_state *state);
CAROM_API int carom_plan_actuator_count(const carom_plan *plan);                 ///< how many were added
CAROM_API int carom_plan_component_count(const carom_plan *plan, int actuator);  ///< 1, 3 or 6
/// Forces (then torques) of an actuator in the interval after `node`: fills `components` (its component count; N, N m).
CAROM_API void carom_plan_forces(const carom_plan *plan, int node, int actuator, double *components);
/// How many scales of time steps there are: one a stretch between planned contacts.
CAROM_API int carom_plan_scale_count(const carom_plan *plan);
/// sigma of a stretch, from 0: what the steps h were multiplied with.
CAROM_API double carom_plan_scale(const carom_plan *plan, int index);
CAROM_API int carom_plan_contact_count(const carom_plan *plan);  ///< how many were planned
/// The node of a planned contact, with nodes that were added before it.
CAROM_API int carom_plan_contact_node(const carom_plan *plan, int contact);
/// How many numbers carom_plan_reactions gives: 3 for each spherical joint, 5 for each revolute one.
CAROM_API int carom_plan_reaction_count(const carom_plan *plan);
/// What holds the joints at a node: impulses on their second bodies, N s, then (revolute) N m s about two directions
/// normal to the axis; joint after joint.
CAROM_API void carom_plan_reactions(const carom_plan *plan, int node, double *reactions);
CAROM_API bool carom_plan_node_added(const carom_plan *plan, int node);  ///< by the solver, between those of the grid
/// Of how many pairs of convex parts carom_plan_watched tells: all those of avoided bodies.
CAROM_API int carom_plan_pair_count(const carom_plan *plan);
/// Whether a pair has come so near in the interval after a node that the plan keeps it apart there.
CAROM_API bool carom_plan_watched(const carom_plan *plan, int node, int pair);
/// What was added to the margin of carom_plan_def so that no corner is cut between nodes, m.
CAROM_API double carom_plan_margin(const carom_plan *plan);
/// Where the solver stood at the end; no variables if it did not run. Points into the plan.
CAROM_API carom_plan_point carom_plan_last_point(const carom_plan *plan);
/// Change of angular momentum about the origin less its causes, in an interval: Delta_k (Johnson 2012, eq. 4.12), N m
/// s. Uses scratch of the plan: one thread at a time.
CAROM_API carom_vec3 carom_plan_momentum_defect(const carom_plan *plan, int interval);

CAROM_API int carom_plan_joint_count(const carom_plan *plan);  ///< how many were added
CAROM_API int carom_plan_event_count(const carom_plan *plan);  ///< how many were added
/// The node of an event, with nodes that were added before it.
CAROM_API int carom_plan_event_node(const carom_plan *plan, int event);
/// The force with which body[0] of a joint holds body[1] at a node, N, world axes: the mean over the half intervals
/// beside it in which the joint holds; zero where it does not.
CAROM_API carom_vec3 carom_plan_joint_force(const carom_plan *plan, int node, int joint);
/// The impulse with which body[0] of a joint pushes body[1] at an event, N s, world axes; zero where it does not hold
/// then.
CAROM_API carom_vec3 carom_plan_event_impulse(const carom_plan *plan, int event, int joint);
/// The periodic shift, m; zero without any.
CAROM_API carom_vec3 carom_plan_shift(const carom_plan *plan);
/// A state at the end of a period, taken back to where the next one begins: bodies in each other's places, shifted
/// back. Without a periodic map nothing changes. Never allocates; uses scratch of the plan: one thread at a time.
CAROM_API void carom_plan_wrap(const carom_plan *plan, carom_state *state);

/// What the actuators on joints do over the whole motion.
typedef struct carom_plan_work {
  double kinds[4];   ///< J, in the order of carom_power
  double drift;      ///< J; what the steps themselves do, sum of sizes: second order in the step
  double loss;       ///< energy that the events take, J
  double change;     ///< energy at the end, before an event there, less that at the start, with losses on the way, J
  double transport;  ///< weight of all bodies x length of the periodic shift, J; 0 without any
  double peak;       ///< largest component of a torque, N m
  double speed;      ///< length of the shift over the duration, m/s
} carom_plan_work;

/// Work by all four meanings. Total and net work are by the energy of the bodies, which only torques can change; the
/// net work is `change`, and for a periodic motion `loss`. The works of joints add up to it but for `drift`. Uses
/// scratch of the plan: one thread at a time.
CAROM_API carom_plan_work carom_plan_find_work(const carom_plan *plan);

/// Floquet multipliers of a periodic motion, with the planned forces as they are in each interval: the factors by which
/// small disturbances grow in a period, events included. Larger than one in size: unstable. Fills real and imaginary
/// parts (`most` each), the largest in size first; *count of them. Disturbances that an impact wipes out have zero.
/// CAROM_ERR_ARGUMENT for motions that are not periodic, CAROM_ERR_UNSUPPORTED with planned contacts, CAROM_ERR_LIMIT
/// when there are more than `most`. Allocates.
CAROM_API carom_status carom_plan_find_multipliers(const carom_plan *plan, int most, double *real, double *imaginary,
                                                   int *count, carom_error *error);

/// How feet stand: joints with a normal, at all nodes and events.
typedef struct carom_plan_feet {
  int count;          ///< of joints that are feet
  double least_push;  ///< smallest force along the normal, N
  double steepest;    ///< largest share of the force across the normal, of forces and impulses
  double clearance;   ///< least height above what clearances ask for, also between nodes, m; infinite without any
} carom_plan_feet;

/// Looks at all feet and clearances; the latter at eight places an interval.
CAROM_API carom_plan_feet carom_plan_find_feet(const carom_plan *plan);

/// All iterates of the last carom_plan_solve, in order; *count of them. They stay with the plan.
CAROM_API const carom_plan_iterate *carom_plan_history(const carom_plan *plan, int *count);

/// How far an open-loop replay strays from the plan.
typedef struct carom_replay_report {
  double position, rotation;  ///< largest deviation at any node, m and rad
  int body, node;             ///< where the largest is
  double momentum;            ///< of the momenta at the last node, N s
} carom_replay_report;

/// From the state of node 0 with the planned forces alone, by the forward integrator; impacts by the separation oracle.
/// CAROM_ERR_ARGUMENT before a solve, CAROM_NOT_CONVERGED or CAROM_ERR_NUMBER when a step fails. Allocates.
CAROM_API carom_status carom_plan_replay(const carom_plan *plan, carom_replay_report *report, carom_error *error);
/// A replay of `count` plans in a chain: the state at the end of one, put through the periodic map (carom_plan_wrap),
/// is where the next begins, with the planned forces again. Fills reports (count), one for each, with the seam to the
/// next. `anchored`: each begins at the planned state instead, so that deviations do not grow from one to the next, as
/// those of unstable motions do. CAROM_ERR_ARGUMENT when the plan does not end where it begins; else as
/// carom_plan_replay.
CAROM_API carom_status carom_plan_replay_chain(const carom_plan *plan, int count, bool anchored,
                                               carom_replay_report *reports, carom_error *error);

#ifdef __cplusplus
}
#endif
#endif

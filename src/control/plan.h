// The inside of a plan: the problem as it was described, the grid, the path (guess or answer) and its transcription.
#ifndef CAROM_SRC_CONTROL_PLAN_H
#define CAROM_SRC_CONTROL_PLAN_H

#include "carom/collide.h"
#include "carom/control.h"
#include "control/nested.h"
#include "control/penalty.h"
#include "control/program.h"
#include "model/row.h"

enum { CAROM_PLAN_NAME = 64, CAROM_FLAT_CORNERS = 12 };

// Points and axes are in principal frames from here on.
typedef struct carom_plan_joint {
  char name[CAROM_PLAN_NAME];
  carom_plan_joint_kind kind;
  int body[2];
  carom_vec3 point[2];
  carom_vec3 axis;       // in body[0]
  carom_vec3 cross[2];   // in body[1]: two directions that stay normal to the axis
  int rows;              // 3 or 5: also the number of multipliers
  int offset;            // of its multipliers within a node's
  int caught, released;  // numbers of the events; -1: it holds from the start, to the end
  carom_vec3 reach;      // along the axes of the frame of body[0]
  carom_vec3 found;      // point[0], or what was chosen within the reach of it
  int grip;              // first of six variables for the points in both bodies; -1: they are where they are
  carom_quat zero;       // of body[1] in body[0] at the angle zero, principal frames
  double lower, upper;   // of the angle
  carom_vec3 normal;     // a foot: along which it pushes; zero: it holds as well
  double friction;
} carom_plan_joint;

enum { CAROM_EVENT_JOINTS = 16 };

// Joints begin and end. The lists of an event say which; a joint remembers its events.
typedef struct carom_plan_event {
  int node;     // moves along when nodes are added
  bool last;    // at the last node, however many there are
  int hold;     // first variable of the multipliers that make the momenta before agree with the joints
  int impulse;  // first variable of the multipliers of those that hold afterwards
} carom_plan_event;

// Where bodies are at the end of a period, from where they are at node 0.
typedef struct carom_plan_periodic {
  bool set;
  carom_periodic_def def;  // without the list
  int shift;               // first of three variables
  carom_vec3 found;        // the shift
} carom_plan_periodic;

typedef struct carom_plan_actuator {
  char name[CAROM_PLAN_NAME];
  carom_actuator_def def;
  int components, offset;  // within an interval's
} carom_plan_actuator;

typedef enum carom_contact_form { CAROM_FORM_VERTEX_A, CAROM_FORM_VERTEX_B, CAROM_FORM_EDGES } carom_contact_form;

// Which features touch, in principal frames.
typedef struct carom_contact_features {
  carom_contact_form form;
  int part[2], vertex;            // of the body that brings the vertex
  carom_vec3 point;               // the vertex
  double radius;                  // of the ball about it
  carom_vec3 normal;              // of the face, outward, in the frame of its body
  double offset;                  // the face lies in normal . r = offset
  carom_vec3 origin[2], edge[2];  // edges
  double sign;                    // of (edge a) x (edge b) so that it points from b to a
  // flat: corners of the face that lies within the other (vertex is its number then), and how fast each of them
  // approaches with a relative twist of the bodies that their joints allow
  int corner_count;
  carom_vec3 corners[CAROM_FLAT_CORNERS];
  double gradients[CAROM_FLAT_CORNERS][6];
} carom_contact_features;

// Two quantities, neither negative, of which one is nought: a b = 0. Solved with a b <= relaxation for ever smaller
// ones; then it is decided which, and the smooth rest is solved (complement.c).
typedef enum carom_decision { CAROM_OPEN, CAROM_FIRST_IS_ZERO, CAROM_SECOND_IS_ZERO } carom_decision;
typedef struct carom_complement {
  int a, b, product;  // variables
  double size[2];     // of a and b; the product is relative
  carom_decision decision;
  bool follows;  // b is nought when those before it are
} carom_complement;

typedef struct carom_plan_contact {
  carom_planned_contact_def def;  // def.node moves along when nodes are added
  carom_contact_features features;
  carom_complement slip;  // friction that chooses: the slip after the blow, and what is left in the cone
  carom_complement corners[CAROM_FLAT_CORNERS];  // flat: the push at a corner, and how much faster than by e it parts
  // first variables
  int normal, arm[2], push, mu, before, after, along, grip[2];
} carom_plan_contact;

// A pair whose contact is a potential.
typedef struct carom_plan_penalty {
  int body[2];
  double stiffness, width;
} carom_plan_penalty;

typedef struct carom_free_start {
  bool free, rotation;
  carom_vec3 position, velocity, angular_velocity;
} carom_free_start;

typedef struct carom_waypoints {
  int count;
  double *times;
  carom_pose *poses;  // principal frames
} carom_waypoints;

// What an actuator does at a time of the first guess.
typedef struct carom_given_force {
  int actuator;
  double time, value[6];
} carom_given_force;

typedef struct carom_avoided_pair {
  int body[2];
} carom_avoided_pair;

// A motion on the grid: a guess or an answer.
typedef struct carom_path {
  int K;            // intervals
  double *h;        // (K) base steps
  carom_vec3 *x;    // ((K + 1) x bodies) principal frames
  carom_quat *q;    //
  double *tau;      // (K x components)
  double *sigma;    // (segments)
  double *lambda;   // ((K + 1) x multipliers) impulses in the joints
  double *hold;     // (events x multipliers) impulses that end the stretch before an event
  double *impulse;  // (events x multipliers) of what holds afterwards
  bool known;       // P has been found
  carom_vec3 *P;    // (blocks x bodies x 2) momenta p, l that agree with the joints; see carom_break
  bool *watched;    // (K x pairs of parts) these have come near and are kept apart from then on
  bool *added;      // (K + 1) nodes between those of the grid
} carom_path;

// An earlier answer to begin from.
typedef struct carom_warm {
  int K, stretches;  // 0 intervals: there is none
  double *times;     // (K + 1)
  carom_vec3 *x;     // ((K + 1) x bodies) principal frames
  carom_quat *q;     //
  double *tau;       // (K x components)
  bool has_forces;   // false: tau is not known
  double *lambda;    // ((K + 1) x multipliers) impulses in the joints
  int *ends;         // (stretches + 1) their first nodes, and K
  bool *watched;     // (K x pairs of parts) as in carom_path
  bool has_watched;  // false: not known
  bool *added;       // (K + 1) nodes that were put between those of the grid
  double margin;     // that was added to the problem's, so that no corner was cut between nodes
  int n, m;          // of the program that was solved last; 0: not known
  uint64_t print;    // of its make
  double *point;     // (3 n + m) variables, multipliers of their lower and upper bounds, of the constraints
} carom_warm;

// Blocks of carom_path.P: before and after each event, at the start, and at the end before an event there.
enum { CAROM_BEFORE, CAROM_AFTER, CAROM_START = -2, CAROM_END = -1 };

// First variables and rows; -1 where there are none.
typedef struct carom_layout {
  int moving_count, fixed_count, component_count, multiplier_count;
  int sigma;                      // (segments)
  int fixed;                      // 7 each
  int *node;                      // (K + 1) 7 per moving body
  int *tau;                       // (K)
  int *multiplier;                // (K + 1)
  int *before;                    // (K + 1) momenta at the end of the interval before, 6 per moving body
  int *after;                     // (K + 1) momenta at the start of the interval after
  int *in, *out;                  // (K + 1) rows of the balance of momentum, 6 per moving body
  int *rate;                      // (K) how fast joints turn in the interval, one a component; -1: not asked for
  int *rate_before, *rate_after;  // (K + 1) and at the ends of stretches
  int *energy, *energy_before, *energy_after;  // the same of the energy
} carom_layout;

struct carom_plan {
  carom_allocator allocator;
  const carom_model *model;
  carom_state *start;
  carom_plan_def def;
  bool refused;
  carom_error mistake;
  carom_plan_joint *joints;
  carom_plan_actuator *actuators;
  carom_condition_def *conditions;
  carom_cost_def *costs;
  carom_plan_contact *contacts;
  carom_avoided_pair *avoided;
  carom_plan_penalty *penalties;
  carom_plan_event *events;
  carom_clearance_def *clearances;  // points in principal frames
  carom_plan_periodic periodic;
  bool *placed;  // (bodies) scratch of first guesses
  int *partner;  // (bodies) whose place at node 0 is taken at the end
  int event_count, event_capacity, clearance_count, clearance_capacity;
  int joint_count, actuator_count, condition_count, cost_count, contact_count, avoided_count, penalty_count;
  int joint_capacity, actuator_capacity, condition_capacity, cost_capacity, contact_capacity, avoided_capacity;
  int penalty_capacity;
  carom_given_force *givens;  // those of an actuator in the order of time
  int given_count, given_capacity;
  int *slot;                      // (bodies) number among the moving or the fixed ones
  carom_free_start *free_starts;  // (bodies)
  carom_waypoints *waypoints;     // (bodies)

  carom_path path;
  carom_path first;  // the guess, to begin again from
  carom_warm warm;
  double *duals;  // (2 n + m) of the last solve: multipliers of the bounds below and above, of the constraints
  carom_layout layout;
  carom_program program;
  carom_avoidance_room avoidance;
  bool sharp;                                   // nested gaps have given way to planes, for the last digits
  carom_penalty_pair *potentials;               // (nodes x pairs of parts) objects of elements
  double length_scale, mass_scale, time_scale;  // typical sizes, by which the solver measures what is small
  double speed_scale, force_scale;
  carom_state *scratch;
  bool simulated;       // transcribed as what happens by itself from a start, with the forces as they are (stability.c)
  double extra_margin;  // so that the motion between nodes stays clear as well
  int variation;        // number of the start: 0 is the guess as it was described
  carom_plan_iterate *history;  // of all solves since the guess
  int history_count, history_capacity;
};

// ---- plan.c ----
// Notes the first mistake; returns -1, as adders do.
int carom_plan_refuse(carom_plan *plan, carom_status status, const char *format, ...) CAROM_PRINTF(3, 4);
int carom_plan_segment(const carom_plan *plan, int interval);  // number of its sigma
int carom_plan_segments(const carom_plan *plan);               // how many there are
int carom_plan_components(const carom_plan *plan);             // of all actuators
int carom_plan_part_pairs(const carom_plan *plan);             // of all avoided pairs of bodies
int carom_plan_multipliers(const carom_plan *plan);            // of all joints, per node
double carom_plan_step(const carom_plan *plan, int interval);  // sigma h
int carom_plan_resolve_node(const carom_plan *plan, int node);
bool carom_plan_contact_at(const carom_plan *plan, int node);
const carom_plan_event *carom_plan_event_at(const carom_plan *plan, int node);  // null: none
bool carom_plan_breaks_at(const carom_plan *plan, int node);  // momenta change in an instant: a contact or an event
int carom_event_node(const carom_plan *plan, const carom_plan_event *e);
bool carom_joint_holds(const carom_plan *plan, const carom_plan_joint *j, int interval);
bool carom_joint_lands(const carom_plan_joint *j);  // a foot that an event catches
// Whether the event at the end of a stretch happens when a foot comes down, not when it is told to.
bool carom_stretch_ends_by_itself(const carom_plan *plan, int segment);
bool carom_plan_are_joined(const carom_plan *plan, const int body[2], int interval);  // by a joint of their own
bool carom_plan_meets_at(const carom_plan *plan, int node, int a, int b);  // a contact of these bodies is asked for
carom_pose carom_principal_pose(const carom_model *model, int body, carom_pose user);

// ---- phases.c ----
// State of a body, or a change of it.
typedef struct carom_turned {
  carom_vec3 x;
  carom_quat q;
  carom_vec3 p, l;
} carom_turned;
// What the partner of a body has at the end of a period, taken back to what the body begins the next one with, but for
// the shift. Linear.
carom_turned carom_unwrap(const carom_plan *plan, int body, carom_turned partner);
// Where the periodic map puts a body, when its partner begins at this pose; principal frames.
carom_pose carom_periodic_pose(const carom_plan *plan, int body, carom_pose partner);

// ---- periods.c ----
// The joint that holds at the start where, through the periodic map, j stands at the end; null: none.
const carom_plan_joint *carom_joint_counterpart(const carom_plan *plan, const carom_plan_joint *j);
// The range of j at the end of a period follows from that of its counterpart at the beginning.
bool carom_range_repeats(const carom_plan *plan, const carom_plan_joint *j);
// Along which axes of its fixed body the place of j at the end of a period does not follow from that of its
// counterpart.
void carom_place_asked(const carom_plan *plan, const carom_plan_joint *j, bool asked[3]);
// Steps that the bodies are too short for, and places that contradict the periodic map: told in the report's message.
carom_status carom_plan_check_places(const carom_plan *plan, carom_plan_report *report, bool *impossible,
                                     carom_error *error);

// Momenta of a block: of event number `event` (CAROM_BEFORE, CAROM_AFTER), or CAROM_START, CAROM_END with any number.
carom_vec3 *carom_path_block(const carom_plan *plan, const carom_path *path, int event, int which);
// The block of a node at which momenta are known, on one side.
const carom_vec3 *carom_node_block(const carom_plan *plan, int node, bool after);
double carom_node_energy(const carom_plan *plan, int node, bool after);  // there; uses scratch
double carom_event_loss(const carom_plan *plan, int event);              // of kinetic energy
double carom_energy_change(const carom_plan *plan);  // from the start to the end, before an event there

// ---- path.c ----
carom_status carom_path_create(const carom_plan *plan, int K, carom_path *path, carom_error *error);
void carom_path_destroy(const carom_plan *plan, carom_path *path);
// Momenta of the drift in interval k of a body.
void carom_path_momentum(const carom_plan *plan, const carom_path *path, int k, int body, carom_vec3 *p, carom_vec3 *l);
// Consecutive quaternions on one side of the sphere, so that they can be told apart from their negatives.
void carom_path_align(const carom_plan *plan, carom_path *path);
// A copy with storage of its own, in place of what `to` was.
carom_status carom_path_copy(const carom_plan *plan, const carom_path *from, carom_path *to, carom_error *error);
// Inserts a node in the middle of every marked interval; contacts move along.
carom_status carom_path_split(carom_plan *plan, const bool *marked, carom_error *error);

// ---- guess.c ----
// Marks the pairs of parts that are near as watched, unless an earlier answer tells which.
carom_status carom_guess_make(carom_plan *plan, carom_guess_kind *kind, uint64_t seed, carom_error *error);
// Forces that follow from the path (Johnson 2012, eq. 4.22), into path.tau.
carom_status carom_guess_forces(carom_plan *plan, carom_error *error);
// ---- warm.c ----
void carom_warm_release(carom_plan *plan);
carom_status carom_warm_copy(const carom_plan *from, carom_plan *to, carom_error *error);
// Lays the earlier motion on the grid of the plan, with its forces. *watched: pairs that were watched are so again.
carom_status carom_warm_lay(carom_plan *plan, bool *watched, carom_error *error);
// Where the solver stood then, if the program is of the same make: into program.x, and `duals` (2 n + m) if so.
bool carom_warm_point(carom_plan *plan, double *duals);
uint64_t carom_program_print(const carom_program *program);
// ---- guess_vary.c: for starts other than the first ----
carom_random carom_guess_random(const carom_plan *plan, uint64_t seed);
void carom_guess_bend(carom_plan *plan, uint64_t seed);                             // the path
void carom_guess_shake(const carom_plan *plan, uint64_t seed, carom_state *state);  // momenta of a free motion
// ---- guess_forward.c, guess_search.c ----
carom_status carom_guess_forward(carom_plan *plan, uint64_t seed, carom_error *error);
carom_status carom_guess_search(carom_plan *plan, uint64_t seed, bool *found, carom_error *error);
// The forces that were given for a time of the first guess, s from the start, into tau (components).
void carom_guess_given(const carom_plan *plan, double time, double *tau);
// Where the conditions at the last node put a body; false when they leave it open.
bool carom_guess_target(const carom_plan *plan, int body, carom_pose *pose);
// Straight and at a constant rate of turning from a to b.
carom_pose carom_guess_between(carom_pose a, carom_pose b, double t);

// ---- penalty.c ----
// p, l (bodies) += dt (forces of the contact potentials) at the configuration x, q (bodies). The deepest overlap, m.
double carom_plan_penalty_kick(const carom_plan *plan, const carom_vec3 *x, const carom_quat *q, double dt,
                               carom_vec3 *p, carom_vec3 *l);
double carom_plan_overlap(const carom_plan *plan, int node);  // of the path, m
carom_status carom_transcribe_penalties(carom_plan *plan, carom_error *error);

// ---- contact_features.c ----
bool carom_contact_same_features(const carom_contact_features *a, const carom_contact_features *b);
// Into contact->features; for bodies at these poses.
carom_status carom_contact_features_at(const carom_plan *plan, carom_plan_contact *contact, const carom_pose pose[2],
                                       carom_error *error);
carom_status carom_contact_find_faces(const carom_plan *plan, carom_plan_contact *contact, const carom_pose pose[2],
                                      carom_error *error);  // contact_faces.c: the same for flat ones
// At the contact's node of the path.
carom_status carom_contact_find_features(carom_plan *plan, carom_plan_contact *contact, carom_error *error);

// ---- transcribe*.c ----
carom_status carom_transcribe(carom_plan *plan, carom_error *error);
bool carom_plan_is_flat(const carom_plan *plan);  // nothing can leave the plane
void carom_transcribe_joints(carom_plan *plan);
void carom_transcribe_events(carom_plan *plan);
void carom_transcribe_paths(carom_plan *plan);  // what holds along the whole way: ranges, cones, clearances
// Multipliers that make the lifted momenta of a node, before or after, agree with the joints that hold then; their
// impulses go to the 6 rows per moving body that begin at `row`. The first of the multipliers.
int carom_transcribe_hold(carom_plan *plan, int node, bool after, int row);
void carom_transcribe_periodic(carom_plan *plan);
void carom_transcribe_work(carom_plan *plan, const carom_cost_def *cost);
void carom_transcribe_peak(carom_plan *plan, const carom_cost_def *cost);
// Impulses -G' lambda of a joint in the 6 rows per moving body that begin at `row`; and rows that make the lifted
// momenta of a node agree with it, G M^-1 P = 0.
void carom_transcribe_joint_force(carom_plan *plan, const carom_plan_joint *j, int k, int multiplier, int row);
void carom_transcribe_joint_speed(carom_plan *plan, int number, int k, bool after);
void carom_transcribe_actuators(carom_plan *plan);
void carom_transcribe_conditions(carom_plan *plan);
void carom_transcribe_contacts(carom_plan *plan);
carom_status carom_transcribe_avoidance(carom_plan *plan, carom_error *error);
void carom_avoidance_release(carom_plan *plan);
// The points whose hull, fattened by the radius, is the shape; 0 when there are no such points. `ends` is room for two.
int carom_core_points(const carom_shape *shape, carom_vec3 ends[2], const carom_vec3 **points);
// Marks pairs of parts that are near on the path as watched; how many of them are new.
int carom_watch_near_pairs(carom_plan *plan);
void carom_transcribe_costs(carom_plan *plan);
void carom_layout_destroy(carom_plan *plan);
void carom_plan_read_back(carom_plan *plan);  // program.x -> path
// Variables of a body at a node: position, quaternion; momenta (-1 where they are not lifted).
int carom_variable_x(const carom_plan *plan, int node, int body);
int carom_variable_q(const carom_plan *plan, int node, int body);
int carom_variable_P(const carom_plan *plan, int node, int body, bool after);
int carom_row_in(const carom_plan *plan, int node, int body);  // or CAROM_ROW_NONE
int carom_row_out(const carom_plan *plan, int node, int body);
// Of the 6 rows per moving body that begin at `row`, those of a body; or CAROM_ROW_NONE.
int carom_body_row(const carom_plan *plan, int row, int body);

// ---- starts.c ----
// The problem without its guess and its answer.
carom_status carom_plan_copy(const carom_plan *from, carom_plan **out, carom_error *error);

// ---- solve.c, starts.c ----
// Solves from the start of this number.
carom_status carom_plan_solve_start(carom_plan *plan, const carom_plan_options *options, int number,
                                    carom_plan_report *report, carom_error *error);
carom_status carom_plan_solve_starts(carom_plan *plan, const carom_plan_options *options, carom_plan_report *report,
                                     carom_error *error);

// ---- complement.c ----
void carom_complement_open(carom_plan_contact *contact);           // nothing is decided
bool carom_complement_is_open(const carom_plan *plan);             // something is not
void carom_complement_relax(carom_plan *plan, double relaxation);  // of the program as it is
void carom_complement_decide(carom_plan *plan);                    // by which of the two is smaller now
double carom_complement_residual(const carom_plan *plan);          // largest product, relative
// Corners of a face move together: of those that are not to part only as many are asked as can be at will.
void carom_complement_thin(carom_plan_contact *contact);
void carom_transcribe_complement(carom_plan *plan, carom_complement *pair, carom_row_label label);

// ---- sweep.c ----
// Smallest gaps at the nodes and in between; marks intervals (may be null) in which bodies meet.
carom_status carom_plan_sweep(const carom_plan *plan, double *node_gap, double *swept_gap, bool *marked, int *count,
                              carom_error *error);
// Whether two bodies at these poses are closer than `margin`.
double carom_plan_gap(const carom_plan *plan, int a, carom_pose A, int b, carom_pose B);

// ---- diagnose.c ----
void carom_plan_diagnose(const carom_plan *plan, const double *g, carom_plan_report *report);
double carom_plan_worst_defect(const carom_plan *plan);

#endif

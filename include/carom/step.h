/// carom/step.h: moving a state forward in time. Every integrator stands behind this one interface,
/// so that a scene can be run by any of them.
#ifndef CAROM_STEP_H
#define CAROM_STEP_H

#include "carom/base.h"
#include "carom/friction.h"
#include "carom/impact.h"
#include "carom/lcp.h"
#include "carom/mechanics.h"
#include "carom/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Where the potential is sampled in the discrete Lagrangian.
typedef enum carom_quadrature {
  CAROM_QUADRATURE_ENDPOINT,  ///< half at each end: Stoermer-Verlet, explicit in the forces
  CAROM_QUADRATURE_MIDPOINT,  ///< at (q_k + q_k+1)/2: implicit, as published (Johnson 2012, 3.2)
} carom_quadrature;

/// Which energy is kept through an impact by the integrator `exact`.
typedef enum carom_energy_condition {
  CAROM_ENERGY_HAMILTONIAN,  ///< default: the projected Hamiltonian at the contact (Johnson 2012, eq. 3.74)
  CAROM_ENERGY_DISCRETE,     ///< the discrete energy of the intervals before and after (eq. 3.70)
} carom_energy_condition;

/// A contact problem as it is shown; all of it holds during the call only.
typedef struct carom_shown_problem {
  double time;                             ///< s, at the end of the step
  const carom_lcp_problem *linear;         ///< with a friction polygon at each contact
  const carom_friction_problem *friction;  ///< with the round cone; null where other rows than contacts are in it
} carom_shown_problem;

/// Is shown every contact problem of `moreau` before it is solved.
typedef void carom_problem_sink(void *context, const carom_shown_problem *problem);

/// Which integrator, and how. Begin with carom_step_default_options(). Which options an integrator honours, and what
/// each may be, is in its table: see carom_integrator_takes below, or `carom integrators`. One that it does not honour
/// must keep its default.
typedef struct carom_step_options {
  const char *integrator;       ///< default "auto": see carom_step_choose; else one of carom_integrator_name
  double step;                  ///< h, s; default 1e-3
  carom_quadrature quadrature;  ///< default endpoint
  int order;                    ///< of smooth motion: 2, or 4 or 6 by symmetric compositions of 5 or 9 parts; default 2
  int threads;                  ///< default 1; 0 means one per processor. Results do not depend on it.
  double tolerance;             ///< of implicit solves, relative to the momenta; default 1e-14
  int max_iterations;           ///< of implicit solves; default 50
  int max_halvings;             ///< a step that fails is retried as 2, 4, ... smaller ones; default 6
  // contacts
  carom_impact_law law;                     ///< how colliding bodies part; default generalized
  carom_energy_condition energy_condition;  ///< default Hamiltonian
  int max_impacts;                          ///< impacts in one step before the Zeno guard acts; default 1000
  double stiffness;                         ///< C of the contact potential, N/m; default 0: from `penetration`
  double penetration;                       ///< overlap aimed at, m; default 0: 1e-3 of the thinnest part
  double alpha;                             ///< in (0, 1]; default 0: the integrator's choice
  bool poisson;                             ///< Poisson's restitution instead of Newton's; default false
  int friction_directions;  ///< edges of the polyhedral cone; 0: the exact cone; default -1: the integrator's choice
  const char *solver;       ///< name of the contact solver; null: the integrator's choice. Must outlive the stepper
  double solver_tolerance;  ///< of the contact solver; default 0: the integrator's choice
  int solver_iterations;    ///< of the contact solver; default 0: the integrator's choice
  carom_problem_sink *problem_sink;  ///< null: none
  void *sink_context;                ///< of the sink: the caller's own
  bool nothing_meets;  ///< the caller has seen to it (carom_stay_apart) that no two bodies meet, so that integrators
                       ///< that see no contacts may run; default false
} carom_step_options;

/// Options with the defaults named above.
CAROM_API carom_step_options carom_step_default_options(void);

/// The name of an integrator of this build, for options; null past the last.
CAROM_API const char *carom_integrator_name(int index);
/// One line on an integrator, for people; null past the last.
CAROM_API const char *carom_integrator_summary(int index);
/// The index of the integrator with this name, or -1.
CAROM_API int carom_integrator_find(const char *name);

// ---- what integrators honour ----------------------------------------------------------------------------
// Every integrator has a table: the options that it reads, with what each may be, and the traits of a model that it
// sees. What is not in the table is refused, with the names of those that honour it, by carom_stepper_create and by the
// readers of scenes alike; `carom integrators` prints it.

/// Members of carom_step_options, in their order.
typedef enum carom_option {
  CAROM_OPTION_STEP,                 ///< length of a step
  CAROM_OPTION_QUADRATURE,           ///< where the potential is sampled
  CAROM_OPTION_ORDER,                ///< of smooth motion
  CAROM_OPTION_THREADS,              ///< that share the work
  CAROM_OPTION_TOLERANCE,            ///< of implicit solves
  CAROM_OPTION_MAX_ITERATIONS,       ///< of implicit solves
  CAROM_OPTION_MAX_HALVINGS,         ///< of a step that fails
  CAROM_OPTION_LAW,                  ///< of impacts
  CAROM_OPTION_ENERGY_CONDITION,     ///< of impacts
  CAROM_OPTION_MAX_IMPACTS,          ///< in one step
  CAROM_OPTION_STIFFNESS,            ///< of the contact potential
  CAROM_OPTION_PENETRATION,          ///< overlap aimed at
  CAROM_OPTION_ALPHA,                ///< how implicit a step is
  CAROM_OPTION_RESTITUTION,          ///< the member `poisson`
  CAROM_OPTION_FRICTION_DIRECTIONS,  ///< edges of the polyhedral cone
  CAROM_OPTION_SOLVER,               ///< of contact problems, by name
  CAROM_OPTION_SOLVER_TOLERANCE,     ///< of the contact solver
  CAROM_OPTION_SOLVER_ITERATIONS,    ///< of the contact solver
  CAROM_OPTION_PROBLEM_SINK,         ///< not in scene files
  CAROM_OPTION_COUNT                 ///< how many there are
} carom_option;

/// What a model may have that an integrator must know of.
typedef enum carom_trait {
  CAROM_TRAIT_CONTACTS,          ///< bodies that may touch
  CAROM_TRAIT_RESTITUTION,       ///< contacts that bounce
  CAROM_TRAIT_FRICTION_CONE,     ///< Coulomb's cone itself
  CAROM_TRAIT_FRICTION_PYRAMID,  ///< a polyhedral one in its place
  CAROM_TRAIT_SPHERICAL,         ///< joints, in the order of carom_joint_kind
  CAROM_TRAIT_REVOLUTE,          ///< hinges
  CAROM_TRAIT_PRISMATIC,         ///< slides
  CAROM_TRAIT_CYLINDRICAL,       ///< slides that turn
  CAROM_TRAIT_PLANAR,            ///< points that stay in a plane
  CAROM_TRAIT_SCREW,             ///< slides tied to turns
  CAROM_TRAIT_FIXED,             ///< nothing is free
  CAROM_TRAIT_DISTANCE,          ///< massless links
  CAROM_TRAIT_LIMITS,            ///< of joints
  CAROM_TRAIT_BOUNCING_LIMITS,   ///< with restitution
  CAROM_TRAIT_LATCHES,           ///< that wait to be gained
  CAROM_TRAIT_FORCE_MOTORS,      ///< of joints: a force or torque
  CAROM_TRAIT_RATE_MOTORS,       ///< a prescribed rate
  CAROM_TRAIT_POSITION_MOTORS,   ///< a prescribed coordinate
  CAROM_TRAIT_JOINT_SPRINGS,     ///< stiffness or damping along a free coordinate
  CAROM_TRAIT_GRAVITY,           ///< a uniform acceleration
  CAROM_TRAIT_SPRINGS,           ///< between two points
  CAROM_TRAIT_DAMPERS,           ///< between two points
  CAROM_TRAIT_CHARGES,           ///< that act at a distance
  CAROM_TRAIT_APPLIED_FORCES,    ///< and torques
  CAROM_TRAIT_DRIVES,            ///< fixed bodies with a given motion
  CAROM_TRAIT_TURNING_PLANES,    ///< driven half-spaces that turn
  CAROM_TRAIT_BOUNDARIES,        ///< walls that need not be convex
  CAROM_TRAIT_BOUNDED_POINTS,    ///< moving bodies without a shape, beside boundaries
  CAROM_TRAIT_RECIRCULATION,     ///< of grains that leave
  CAROM_TRAIT_PLANAR_SCENES,     ///< motion in the plane z = 0
  CAROM_TRAIT_SUPPORTS,          ///< bodies without inertia
  CAROM_TRAIT_SOLIDS,            ///< that deform
  CAROM_TRAIT_COUNT              ///< how many there are
} carom_trait;

/// What an option is, whoever honours it.
typedef struct carom_option_info {
  const char *name;     ///< as in scenes
  const char *unit;     ///< "" when it has none
  const char *preset;   ///< the default, in words
  const char *summary;  ///< one line
} carom_option_info;

/// What a trait is.
typedef struct carom_trait_info {
  const char *name;     ///< few words
  const char *summary;  ///< one line
} carom_trait_info;

/// What an option may be, by one integrator.
typedef struct carom_allowed {
  bool honoured;             ///< false: the integrator does not read the option, and the rest is void
  const char *const *words;  ///< one of these, the last is null; null when the option is a number (or a function)
  double least, most;        ///< of numbers; they are finite even where `most` is not
  bool above;                ///< `least` itself is too little
  int stride;                ///< 0: any number between; otherwise the whole numbers least, least + stride, ...
  bool or_zero;              ///< 0 will do as well
} carom_allowed;

/// An option by its number (carom_option); null past the last.
CAROM_API const carom_option_info *carom_option_describe(int option);
/// A trait by its number (carom_trait); null past the last.
CAROM_API const carom_trait_info *carom_trait_describe(int trait);
/// Whether an integrator (by its index) honours an option, and what it may be then; `allowed` may be null.
CAROM_API bool carom_integrator_takes(int integrator, carom_option option, carom_allowed *allowed);
/// Whether an integrator (by its index) honours a trait.
CAROM_API bool carom_integrator_honours(int integrator, carom_trait trait);
/// Writes "a whole number from 0 to 20" or the like into text, as snprintf does.
CAROM_API int carom_allowed_format(const carom_allowed *allowed, char *text, size_t size);
/// Writes what an integrator cannot honour together, and why, into text, as snprintf does; -1 past the last.
CAROM_API int carom_integrator_conflict(int integrator, int index, char *text, size_t size);
/// The first joint, drive, boundary, body (solid i counts as body_count + i), ... by which a model has a trait; -1 when
/// it has not. Friction counts as the
/// exact cone; the pyramid, which no model asks for by itself, is -1 always.
CAROM_API int carom_model_uses(const carom_model *model, carom_trait trait);
/// Whether the integrator of the options honours them all, and the model: the same verdict, with the same message, as
/// carom_stepper_create and the readers of scenes give. An option is taken to be asked for when it differs from its
/// default. `model` may be null: then the options alone are judged. CAROM_ERR_UNSUPPORTED for what is not honoured,
/// CAROM_ERR_NUMBER and CAROM_ERR_ARGUMENT for values out of range.
CAROM_API carom_status carom_step_check(const carom_model *model, const carom_step_options *options,
                                        carom_error *error);
/// Whether the first step can be made from this state, without making it: `potential` and `newmark` refuse a step that
/// is too long for the stiffness that contacts or limits need (CAROM_ERR_ARGUMENT, with the step, overlap or stiffness
/// that would do), as the first step would. `carom check` and `carom run` ask it. Fails as carom_stepper_create does.
CAROM_API carom_status carom_step_check_start(const carom_model *model, const carom_state *state,
                                              const carom_step_options *options, carom_error *error);
/// How many equal parts every step is taken in, so that the energy of springs does not swing by more than the audit
/// allows: 1 to 64, the same in all steps. 1 for options that are refused.
CAROM_API int carom_step_parts(const carom_model *model, const carom_step_options *options);

// ---- the integrator `auto` -------------------------------------------------------------------------------
// Takes the first integrator of a list of rules that suits the model and honours all of it and of the options.

/// Which integrator was taken, and why.
typedef struct carom_choice {
  const char *integrator;  ///< its name
  char reason[600];        ///< one line, for people; empty when the options name the integrator
} carom_choice;

/// One rule of `auto`.
typedef struct carom_auto_rule {
  const char *integrator;  ///< that is taken
  const char *when;        ///< in words
} carom_auto_rule;

/// The rules in their order; null past the last.
CAROM_API const carom_auto_rule *carom_auto_describe(int index);
/// Whether it is certain that no two bodies come to touch for so long (s) from this state, or contacts are ignored:
/// bodies that only gravity moves, seen as balls around their centres. False where that cannot be told.
CAROM_API bool carom_stay_apart(const carom_model *model, const carom_state *state, double duration);
/// What "auto" stands for with these options; any other integrator stands for itself, unjudged. `model` may be null:
/// then the options alone count. `state` may be null; with it and a duration, bodies that stay apart count as such.
/// CAROM_ERR_UNSUPPORTED, with what stands in the way, when no integrator honours all of it.
CAROM_API carom_status carom_step_choose(const carom_model *model, const carom_state *state, double duration,
                                         const carom_step_options *options, carom_choice *choice, carom_error *error);

// ---- the start -------------------------------------------------------------------------------------------
// Bodies that begin in one another have no motion that Coulomb's and Newton's laws allow: scenes that do are refused,
// and those who link the library should ask as well.

/// Two bodies in one another, a body in a boundary, or a joint beyond a limit.
typedef struct carom_overlap {
  int body_a, body_b;  ///< A may be CAROM_SOLID(i), and B if A is; B is CAROM_WORLD for a boundary
  int boundary;        ///< of the model; -1 for two bodies
  int joint;           ///< whose limit it is; -1 for contacts
  double depth;        ///< m; of a turn, rad
  double thinnest;     ///< least width of the two parts, m; of a limit, what it is measured by
} carom_overlap;

/// Finds what overlaps by more than numbers typed with few digits make (5e-4 of the thinner part), jointed bodies that
/// do not collide and pairs held apart excepted; of solids, by nodes and tetrahedra. *count is how many there are; the `capacity` worst of them go into
/// `overlaps`, the worst first. CAROM_ERR_NUMBER for poses that are not finite. Allocates for the time of the call.
CAROM_API carom_status carom_start_overlaps(const carom_model *model, const carom_state *state, int capacity,
                                            carom_overlap *overlaps, int *count, carom_error *error);
/// Writes "'a' and 'b' overlap by 0.01 m at the start, 0.1 of the thinner one" into text, as snprintf does.
CAROM_API int carom_overlap_format(const carom_model *model, const carom_overlap *overlap, char *text, size_t size);
/// Moves bodies to the closest configuration, in the metric of their inertia, in which nothing overlaps; joints hold,
/// velocities stay; solids do, too. `moved` (body_count; may be null) is how far any point of a body went at most, m. On failure the
/// state is as before: CAROM_NOT_CONVERGED, with the pair, when no way apart was found.
CAROM_API carom_status carom_start_separate(const carom_model *model, carom_state *state, double *moved,
                                            carom_error *error);

// ---- the stepper ----------------------------------------------------------------------------------------

/// An integrator at work: its options, scratch, and what it remembers from step to step.
typedef struct carom_stepper carom_stepper;

/// Makes a stepper for states of this model, which must outlive it. Null options mean defaults. CAROM_ERR_ARGUMENT or
/// CAROM_ERR_NUMBER for options out of range, CAROM_ERR_UNSUPPORTED for what this integrator does not
/// honour (see carom_step_check); the message names those that do.
CAROM_API carom_status carom_stepper_create(const carom_model *model, const carom_step_options *options,
                                            const carom_allocator *allocator, carom_stepper **stepper,
                                            carom_error *error);
CAROM_API void carom_stepper_destroy(carom_stepper *stepper);  ///< null is fine
/// Advances the state by one step of options->step. On failure the state is left as it was, and the message names body,
/// time and remedy: CAROM_NOT_CONVERGED where a smaller step may do, else CAROM_ERR_NUMBER, CAROM_ERR_GEOMETRY or
/// CAROM_ERR_SINGULAR. `report` may be null; its events belong to the stepper and hold until the next step.
///
/// Allocates in the first step, and while contacts, events or groups of bodies that touch grow beyond what they ever
/// were in this stepper; with no more of them than before, never, neither by the allocator nor by a library beneath.
/// Only the solvers `interior`, `tao-blmvm` and `tao-tron` of `cone` allocate in every step: their libraries do.
CAROM_API carom_status carom_stepper_step(carom_stepper *stepper, carom_state *state, carom_step_report *report,
                                          carom_error *error);

/// What a controller may look at before a step.
typedef struct carom_control_view {
  const carom_model *model;       ///< of the stepper
  const carom_state *state;       ///< from which the step begins; its time and inputs in it
  double step;                    ///< s: how long the inputs will hold
  const carom_step_report *last;  ///< of the step before, with its contacts; null before the first step of this stepper
                                  ///< (also of one that was recalled: keep what is needed in the controller's memory)
} carom_control_view;

/// Is asked before every step what the inputs of the model shall do.
typedef struct carom_control {
  /// Sets `inputs` (carom_model.input_size), which still hold what was said last. They hold for the whole step, however
  /// often it is tried in parts. A failure ends the step with its status and message.
  carom_status (*act)(void *context, const carom_control_view *view, double *inputs, carom_error *error);
  void *context;       ///< the caller's own
  void *memory;        ///< what it remembers from step to step: goes into carom_stepper_memory, and is put back when a
                       ///< step fails; may be null
  size_t memory_size;  ///< bytes, always the same
} carom_control;

/// Lets a control act before every step, from the next one on; null: none. The struct is copied; context and memory
/// must outlive the stepper. In a model without inputs it can only watch. CAROM_ERR_MEMORY. Allocates.
CAROM_API carom_status carom_stepper_set_control(carom_stepper *stepper, const carom_control *control,
                                                 carom_error *error);

/// What a stepper remembers beyond the state, from step to step: its clock, impulses to begin solves from, which bodies
/// rest on each other, what its controller remembers. With the state it continues a run bit for bit. Returns how many
/// bytes there are, and writes them into `memory` unless that is null or `size` is too small for them. Allocates
/// nothing.
CAROM_API size_t carom_stepper_memory(const carom_stepper *stepper, void *memory, size_t size);
/// Puts back what carom_stepper_memory of a stepper with the same model and options gave. CAROM_ERR_FORMAT when it is
/// not from such a one.
CAROM_API carom_status carom_stepper_recall(carom_stepper *stepper, const void *memory, size_t size,
                                            carom_error *error);

/// What the contacts of the last step did to the inside of each body: the sum over its contacts of the mean force on it
/// (x) (centre of mass - point of contact), N m. Summed over the bodies in a volume, and divided by it, that is the
/// stress there, compression positive. Fills `moments` (body_count), with zeros for bodies that touch nothing. False,
/// and nothing filled, when the integrator does not tell (all but `cone`) or took no step yet.
CAROM_API bool carom_stepper_contact_moments(const carom_stepper *stepper, carom_mat3 *moments);

#ifdef __cplusplus
}
#endif
#endif

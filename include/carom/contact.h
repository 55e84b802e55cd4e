/// carom/contact.h: the contact problem of rigid bodies, and its solvers.
///
/// Bodies with free velocities v_free (after gravity and other forces, before contact) touch at contacts. The impulses
/// gamma minimise
///
///     1/2 gamma' N gamma + r' gamma,   gamma_c in K_c,     N = D' M^-1 D,   r = D' v_free + bias,
///
/// where D gathers contact frames and lever arms, bias is gap / h in the normal rows (Anitescu 2006; Gavrea 2.3.7 to
/// 2.3.10), and K_c is the circular cone |gamma_t| <= mu gamma_n or the cone of p generators n + mu d_s (2.3.5). The
/// velocities v = v_free + M^-1 D gamma solve the primal program
///
///     min 1/2 (v - v_free)' M (v - v_free)   subject to   w_c = D_c' v + bias_c in K_c*.
///
/// Velocities are unique; impulses need not be. Rows with free or boxed multipliers (joints, motors, limits) may stand
/// in the same program. N is never formed: it is applied through the bodies.
///
/// In the program a contact that slides also parts, at mu times its slip: the price of convexity. Coulomb's law, which
/// has no such price and no such guarantee, may be asked for instead (CAROM_CONTACT_COULOMB).
///
/// Conventions: SI units, world frame. A contact's impulse is a world vector that acts on body a at +, on body b at -;
/// the normal points from b to a. Every method stops by the same residual and reports the same figures, recomputed from
/// the problem when it ends. Results do not depend on the number of threads.
#ifndef CAROM_CONTACT_H
#define CAROM_CONTACT_H

#include "carom/base.h"
#include "carom/vec.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- what a step did ---------------------------------------------------------------------------

/// What happened between two bodies.
typedef enum carom_event_kind {
  CAROM_EVENT_IMPACT,   ///< a collision at a moment of its own
  CAROM_EVENT_CONTACT,  ///< a contact that carried an impulse over a step: resting, sliding, rolling
  CAROM_EVENT_STICK,    ///< an impact that joined the bodies
  CAROM_EVENT_ZENO,     ///< impacts came faster than they can be told apart; from here on the bodies rest on each other
  CAROM_EVENT_RECIRCULATED,  ///< a grain left at `point` and was put back at the inlet; body_b is CAROM_WORLD
} carom_event_kind;

/// What a contact does while it lasts.
typedef enum carom_contact_mode {
  CAROM_MODE_OPEN,      ///< carries nothing
  CAROM_MODE_STICK,     ///< nothing slips
  CAROM_MODE_FORWARD,   ///< A slips along the tangent against B (cross(z, normal) in the plane; in space: it slips)
  CAROM_MODE_BACKWARD,  ///< A slips the other way
} carom_contact_mode;

/// One contact event, for the record and the replay.
typedef struct carom_contact_event {
  carom_event_kind kind;    ///< what happened
  double time;              ///< s
  int body_a, body_b;       ///< b may be fixed, or CAROM_WORLD for a boundary; either may be CAROM_SOLID(i)
  carom_vec3 point;         ///< world, m
  carom_vec3 normal;        ///< unit, from B to A
  carom_vec3 impulse;       ///< on A, N s
  carom_contact_mode mode;  ///< of a lasting contact, where the integrator tells it (`quasistatic`); else open
} carom_contact_event;

enum { CAROM_EVENTS_TOLD = 256 };  ///< contacts of a step, up to which each has an event

/// What one step did, for the audit. Impulses and work are those that the outside did to the moving
/// bodies: scheduled forces, the world, fixed and driven bodies (through contacts and joints, too);
/// gravity in the impulses but not in the work (it has a potential). Work also holds the (negative)
/// work of dampers and that of motors and driven bodies, but not the losses, which stand apart.
typedef struct carom_step_report {
  carom_status status;         ///< how the step ended; where it is not CAROM_OK, nothing else here is told
  double step;                 ///< s
  int iterations;              ///< largest number that an implicit solve took
  double residual;             ///< largest relative residual left
  int halvings;                ///< how often the step was split
  carom_vec3 impulse;          ///< kg m/s
  carom_vec3 angular_impulse;  ///< about the world origin, kg m2/s
  double work;                 ///< J
  // contacts
  int collisions;                          ///< impacts resolved
  double restitution_loss, friction_loss;  ///< J, by impacts and contacts; >= 0 but for round-off
  /// J, what the method itself gave (`dcr`): overlapping bodies moved apart (potential energy, and kinetic where joints
  /// turn momenta), and the halves of the forces' kick that lasting contacts and joints take up before and after the
  /// smooth motion, which cancel while bodies rest. Positive: gained
  double projection_energy;
  carom_vec3 projection_momentum;          ///< kg m/s, likewise
  carom_vec3 projection_angular_momentum;  ///< kg m2/s about the world origin, likewise
  double penetration;                      ///< deepest overlap at the end of the step or at an impact, m; >= 0
  double complementarity;                  ///< worst natural residual of a contact solve, relative
  double duality_gap;                      ///< worst relative duality gap of a solve (`cone` with a solver tolerance)
  double constraint;                       ///< worst drift of a joint at the end of the step, m (or rad times size)
  const carom_contact_event *events;       ///< belongs to the stepper, holds until the next step
  int event_count;                         ///< how many
  double stored;                           ///< J, in the springs of contacts that yield, at the end of the step
  int64_t untold;                          ///< contacts that carried an impulse and have no event, as in large flows
} carom_step_report;

// ---- the problem ------------------------------------------------------------------------------

/// Stands for the immovable world where a body index is asked for.
#define CAROM_CONTACT_WORLD (-1)

/// A body as the program sees it: how it answers to impulses, and how it would move without them.
typedef struct carom_contact_body {
  double inverse_mass;        ///< 1/kg; 0 with inverse_inertia 0 for a body whose motion is prescribed
  double inverse_inertia[6];  ///< about the centre of mass, world frame, 1/(kg m2): xx yy zz xy xz yz
  carom_vec3 velocity;        ///< v_free of the centre of mass, m/s
  carom_vec3 spin;            ///< free angular velocity, world frame, rad/s
} carom_contact_body;

/// A contact between two bodies, either of which may be CAROM_CONTACT_WORLD. A contact of two bodies that cannot move
/// is left out of the program: its impulse is zero and it counts in no residual.
typedef struct carom_contact_point {
  int a, b;            ///< bodies, not the same
  double friction;     ///< mu >= 0
  double bias;         ///< gap / h, m/s (negative when they overlap)
  carom_vec3 normal;   ///< unit, from b to a
  carom_vec3 tangent;  ///< unit, across the normal: direction of the last generator; zero lets the solver choose
  carom_vec3 arm_a;    ///< from the centre of mass of a to the point of contact, m
  carom_vec3 arm_b;    ///< the same for b (any value for the world)
} carom_contact_point;

/// One scalar row J_a V_a + J_b V_b + bias = 0 with V = (velocity, spin) and a multiplier in [lower, upper]: with
/// infinite bounds a bilateral constraint, with finite ones a motor of limited impulse, with lower = 0 a joint stop.
/// Neighbouring rows with the same two bodies are solved together (up to 6).
typedef struct carom_contact_row {
  int a, b;                             ///< bodies; either may be CAROM_CONTACT_WORLD
  double jacobian_a[6], jacobian_b[6];  ///< J_a and J_b: linear part, then angular, world axes
  double bias;                          ///< m/s or rad/s
  double lower, upper;                  ///< lower <= 0 <= upper; use -INFINITY and INFINITY for a bilateral row
} carom_contact_row;

/// A borrowed view: the caller owns the arrays and may edit them between solves.
typedef struct carom_contact_problem {
  int body_count, contact_count, row_count;  ///< how many of each; 0 is fine
  const carom_contact_body *bodies;          ///< (body_count)
  const carom_contact_point *contacts;       ///< (contact_count)
  const carom_contact_row *rows;             ///< (row_count); may be null without rows
} carom_contact_problem;

/// What comes out, and with warm_start what goes in.
typedef struct carom_contact_solution {
  carom_vec3 *impulses;    ///< (contact_count) gamma as a world vector on body a, N s
  double *multipliers;     ///< (row_count); may be null without rows
  carom_vec3 *velocities;  ///< (body_count) out only; may be null
  carom_vec3 *spins;       ///< (body_count) out only; may be null
} carom_contact_solution;

// ---- how to solve -----------------------------------------------------------------------------

/// The methods; the names are those of carom_contact_method_name.
typedef enum carom_contact_method {
  CAROM_CONTACT_PGS,   ///< "pgs": projected Gauss-Seidel, coloured; the fast one for warm starts and loose tolerances
  CAROM_CONTACT_APGD,  ///< "apgd": accelerated projected gradient with restart (Nesterov; Mazhar et al. 2015)
  CAROM_CONTACT_SPG,   ///< "spg": spectral projected gradient, nonmonotone (Birgin et al. 2000; Dai and Fletcher 2005)
  CAROM_CONTACT_INTERIOR,  ///< "interior": primal-dual interior point on the bodies' matrix, factored; tight tolerances
  CAROM_CONTACT_BLMVM,     ///< "tao-blmvm": limited-memory quasi-Newton of PETSc/TAO, generators only, over MPI
  CAROM_CONTACT_TRON,      ///< "tao-tron": trust-region Newton of PETSc/TAO, generators only, over MPI
  CAROM_CONTACT_NEWTON,    ///< "newton": Newton's method on Coulomb's law, dense; for up to some dozens of bodies
  CAROM_CONTACT_METHOD_COUNT  ///< how many there are
} carom_contact_method;

/// The cone of friction.
typedef enum carom_contact_cone {
  CAROM_CONTACT_CIRCULAR,    ///< |gamma_t| <= mu gamma_n
  CAROM_CONTACT_GENERATORS,  ///< gamma = sum of beta_s (n + mu d_s), beta_s >= 0, s = 1..p
} carom_contact_cone;

/// With w = u + bias n, u the relative velocity after the impulse:
typedef enum carom_contact_law {
  CAROM_CONTACT_CONVEX,   ///< gamma in K, w in K*, gamma . w = 0: the program above, which every method but "newton"
                          ///< takes
  CAROM_CONTACT_COULOMB,  ///< 0 <= gamma_n, 0 <= w_n, gamma_n w_n = 0, and in the disc |gamma_t| <= mu gamma_n the
                          ///< gamma_t that takes most energy out of u_t. Circular; for "pgs" and "newton". Need not
                          ///< have a solution
} carom_contact_law;

/// Begin with carom_contact_default_options(); the solver never writes here.
typedef struct carom_contact_options {
  carom_contact_method method;  ///< default CAROM_CONTACT_PGS
  carom_contact_law law;        ///< default convex
  carom_contact_cone cone;      ///< default circular
  int generators;               ///< p, 3 to 64; default 3 as published
  int max_iterations;           ///< sweeps, gradient or Newton steps; 0 (default) lets the method choose
  double tolerance;             ///< on the residual over velocity_scale; default 1e-6. 0 runs to max_iterations
  double acceptable;            ///< likewise: with no more than this, "newton" stops once progress is slow; default 0
  double gap_tolerance;         ///< on the relative duality gap as well (convex law); default 0: not asked for
  double velocity_scale;  ///< m/s; 0 (default): the residual of zero impulses. 1 makes the tolerance absolute, in m/s
  bool warm_start;        ///< take the incoming impulses and multipliers as the first guess; default false
  int threads;            ///< default 1; 0 means one per processor
} carom_contact_options;

/// Options with the defaults named above.
CAROM_API carom_contact_options carom_contact_default_options(void);
/// "pgs", "apgd", ...; null for a value outside the list.
CAROM_API const char *carom_contact_method_name(carom_contact_method method);
/// Fills *method; false, and nothing filled, when no method is called so.
CAROM_API bool carom_contact_method_by_name(const char *name, carom_contact_method *method);
/// Whether this build has it: the TAO methods need PETSc.
CAROM_API bool carom_contact_method_available(carom_contact_method method);
/// Whether the method solves problems of that law.
CAROM_API bool carom_contact_method_takes(carom_contact_method method, carom_contact_law law);

/// Rank and number of ranks of a program started by mpirun (0 and 1 otherwise), for the TAO methods: all ranks must
/// hold the same problem and solve together, and all receive the same answer. Starts MPI and PETSc if need be; they
/// stay until the process ends, the one lasting change that the library makes to it. CAROM_ERR_UNSUPPORTED where the
/// plug-in libcarom_tao.so is not installed.
CAROM_API carom_status carom_contact_ranks(int *rank, int *count, carom_error *error);
/// Replaces the value by the largest of all ranks', on every rank, so that they go on or stop together. All must call.
/// Fails as carom_contact_ranks does.
CAROM_API carom_status carom_contact_ranks_largest(int *value, carom_error *error);

// ---- how it ended -----------------------------------------------------------------------------

/// A limit is an answer, not an error: impulses are in their cones, and the residual says how good they are.
typedef enum carom_contact_outcome {
  CAROM_CONTACT_SOLVED,   ///< within the tolerances
  CAROM_CONTACT_LIMIT,    ///< max_iterations reached
  CAROM_CONTACT_STALLED,  ///< no further progress in double precision
} carom_contact_outcome;

/// How it went. Recomputed from the problem and the answer.
typedef struct carom_contact_info {
  carom_contact_outcome outcome;  ///< how it ended
  int iterations;                 ///< in the unit of the method
  int products;                   ///< products with N (a sweep counts as one)
  double residual;        ///< max over contacts and rows of rho |gamma - P_K(gamma - w / rho)|, m/s; rho = tr(N_cc)/3.
                          ///< Coulomb: the most that solving one contact's normal or its tangents anew would change
  double velocity_scale;  ///< what the tolerance was multiplied with, m/s
  double infeasibility;   ///< the least shift of the normal rows (and rows) that makes v feasible, m/s
  double primal, dual;    ///< objectives of v and gamma, J: primal >= optimum >= dual when v is feasible. Coulomb: 0
  double gap;             ///< sum over contacts of gamma . (w + shift), J: duality gap after that shift; >= 0. Coulomb:
                          ///< of gamma_n (w_n + shift)
  double relative_gap;    ///< gap / max(|primal|, |dual|); 0 when both vanish
  int colors;             ///< of the Gauss-Seidel sweep; 0 for other methods
  double setup_seconds, solve_seconds;  ///< by the clock
} carom_contact_info;

/// Scratch of all methods. Grows when a problem is larger than any before it, and never shrinks; otherwise a solve does
/// not allocate (the interior point and TAO methods excepted: their libraries do).
typedef struct carom_contact_work carom_contact_work;

/// Makes scratch without room; the first solve or carom_contact_work_reserve makes that.
CAROM_API carom_status carom_contact_work_create(const carom_allocator *allocator, carom_contact_work **work,
                                                 carom_error *error);
CAROM_API void carom_contact_work_destroy(carom_contact_work *work);  ///< null is fine
/// Makes room ahead of time for problems up to these sizes, solved with these options (null means defaults).
/// CAROM_ERR_ARGUMENT for negative sizes, CAROM_ERR_LIMIT for sizes beyond what can be counted.
CAROM_API carom_status carom_contact_work_reserve(carom_contact_work *work, int bodies, int contacts, int rows,
                                                  const carom_contact_options *options, carom_error *error);
/// How many bytes it holds.
CAROM_API size_t carom_contact_work_bytes(const carom_contact_work *work);

/// Solves. CAROM_OK whatever the outcome in info (which may be null); a failure is about the call: CAROM_ERR_NUMBER for
/// numbers that are not finite, CAROM_ERR_ARGUMENT for bodies or options out of range, CAROM_ERR_UNSUPPORTED for a
/// method that is not in this build. Null options mean defaults.
CAROM_API carom_status carom_contact_solve(carom_contact_work *work, const carom_contact_problem *problem,
                                           const carom_contact_options *options, carom_contact_solution *solution,
                                           carom_contact_info *info, carom_error *error);

/// The judge alone: residual, infeasibility, objectives and gap of given impulses and multipliers; fills velocities and
/// spins. Needs cone, generators and velocity_scale of the options. `info` may be null. Fails as carom_contact_solve
/// does.
CAROM_API carom_status carom_contact_evaluate(carom_contact_work *work, const carom_contact_problem *problem,
                                              const carom_contact_options *options, carom_contact_solution *solution,
                                              carom_contact_info *info, carom_error *error);

#ifdef __cplusplus
}
#endif
#endif

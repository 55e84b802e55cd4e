/// carom/qp.h: the contact problem of rigid bodies, and its solvers.
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
/// has no such price and no such guarantee, may be asked for instead (CAROM_QP_COULOMB).
///
/// Conventions: SI units, world frame. A contact's impulse is a world vector that acts on body a at +, on body b at -;
/// the normal points from b to a. Every method stops by the same residual and reports the same figures, recomputed from
/// the problem when it ends. Results do not depend on the number of threads.
#ifndef CAROM_QP_H
#define CAROM_QP_H

#include "carom/base.h"
#include "carom/vec.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- the problem ------------------------------------------------------------------------------

/// Stands for the immovable world where a body index is asked for.
#define CAROM_QP_WORLD (-1)

/// A body as the program sees it: how it answers to impulses, and how it would move without them.
typedef struct carom_qp_body {
  double inverse_mass;        ///< 1/kg; 0 with inverse_inertia 0 for a body whose motion is prescribed
  double inverse_inertia[6];  ///< about the centre of mass, world frame, 1/(kg m2): xx yy zz xy xz yz
  carom_vec3 velocity;        ///< v_free of the centre of mass, m/s
  carom_vec3 spin;            ///< free angular velocity, world frame, rad/s
} carom_qp_body;

/// A contact between two bodies, either of which may be CAROM_QP_WORLD. A contact of two bodies that cannot move is
/// left out of the program: its impulse is zero and it counts in no residual.
typedef struct carom_qp_contact {
  int a, b;            ///< bodies, not the same
  double friction;     ///< mu >= 0
  double bias;         ///< gap / h, m/s (negative when they overlap)
  carom_vec3 normal;   ///< unit, from b to a
  carom_vec3 tangent;  ///< unit, across the normal: direction of the last generator; zero lets the solver choose
  carom_vec3 arm_a;    ///< from the centre of mass of a to the point of contact, m
  carom_vec3 arm_b;    ///< the same for b (any value for the world)
} carom_qp_contact;

/// One scalar row J_a V_a + J_b V_b + bias = 0 with V = (velocity, spin) and a multiplier in [lower, upper]: with
/// infinite bounds a bilateral constraint, with finite ones a motor of limited impulse, with lower = 0 a joint stop.
/// Neighbouring rows with the same two bodies are solved together (up to 6).
typedef struct carom_qp_row {
  int a, b;                             ///< bodies; either may be CAROM_QP_WORLD
  double jacobian_a[6], jacobian_b[6];  ///< J_a and J_b: linear part, then angular, world axes
  double bias;                          ///< m/s or rad/s
  double lower, upper;                  ///< lower <= 0 <= upper; use -INFINITY and INFINITY for a bilateral row
} carom_qp_row;

/// A borrowed view: the caller owns the arrays and may edit them between solves.
typedef struct carom_qp_problem {
  int body_count, contact_count, row_count;  ///< how many of each; 0 is fine
  const carom_qp_body *bodies;               ///< (body_count)
  const carom_qp_contact *contacts;          ///< (contact_count)
  const carom_qp_row *rows;                  ///< (row_count); may be null without rows
} carom_qp_problem;

/// What comes out, and with warm_start what goes in.
typedef struct carom_qp_solution {
  carom_vec3 *impulses;    ///< (contact_count) gamma as a world vector on body a, N s
  double *multipliers;     ///< (row_count); may be null without rows
  carom_vec3 *velocities;  ///< (body_count) out only; may be null
  carom_vec3 *spins;       ///< (body_count) out only; may be null
} carom_qp_solution;

// ---- how to solve -----------------------------------------------------------------------------

/// The methods; the names are those of carom_qp_method_name.
typedef enum carom_qp_method {
  CAROM_QP_PGS,       ///< "pgs": projected Gauss-Seidel, coloured; the fast one for warm starts and loose tolerances
  CAROM_QP_APGD,      ///< "apgd": accelerated projected gradient with restart (Nesterov; Mazhar et al. 2015)
  CAROM_QP_SPG,       ///< "spg": spectral projected gradient, nonmonotone (Birgin et al. 2000; Dai and Fletcher 2005)
  CAROM_QP_INTERIOR,  ///< "interior": primal-dual interior point on the bodies' matrix, factored; tight tolerances
  CAROM_QP_BLMVM,     ///< "tao-blmvm": limited-memory quasi-Newton of PETSc/TAO, generators only, over MPI
  CAROM_QP_TRON,      ///< "tao-tron": trust-region Newton of PETSc/TAO, generators only, over MPI
  CAROM_QP_NEWTON,    ///< "newton": Newton's method on Coulomb's law, dense; for up to some dozens of bodies
  CAROM_QP_METHOD_COUNT  ///< how many there are
} carom_qp_method;

/// The cone of friction.
typedef enum carom_qp_cone {
  CAROM_QP_CIRCULAR,    ///< |gamma_t| <= mu gamma_n
  CAROM_QP_GENERATORS,  ///< gamma = sum of beta_s (n + mu d_s), beta_s >= 0, s = 1..p
} carom_qp_cone;

/// With w = u + bias n, u the relative velocity after the impulse:
typedef enum carom_qp_law {
  CAROM_QP_CONVEX,   ///< gamma in K, w in K*, gamma . w = 0: the program above, which every method but "newton" takes
  CAROM_QP_COULOMB,  ///< 0 <= gamma_n, 0 <= w_n, gamma_n w_n = 0, and in the disc |gamma_t| <= mu gamma_n the gamma_t
                     ///< that takes most energy out of u_t. Circular; for "pgs" and "newton". Need not have a solution
} carom_qp_law;

/// Begin with carom_qp_default_options(); the solver never writes here.
typedef struct carom_qp_options {
  carom_qp_method method;  ///< default CAROM_QP_PGS
  carom_qp_law law;        ///< default convex
  carom_qp_cone cone;      ///< default circular
  int generators;          ///< p, 3 to 64; default 3 as published
  int max_iterations;      ///< sweeps, gradient or Newton steps; 0 (default) lets the method choose
  double tolerance;        ///< on the residual over velocity_scale; default 1e-6. 0 runs to max_iterations
  double acceptable;       ///< likewise: with no more than this, "newton" stops once progress is slow; default 0
  double gap_tolerance;    ///< on the relative duality gap as well (convex law); default 0: not asked for
  double velocity_scale;   ///< m/s; 0 (default): the residual of zero impulses. 1 makes the tolerance absolute, in m/s
  bool warm_start;         ///< take the incoming impulses and multipliers as the first guess; default false
  int threads;             ///< default 1; 0 means one per processor
} carom_qp_options;

/// Options with the defaults named above.
CAROM_API carom_qp_options carom_qp_default_options(void);
/// "pgs", "apgd", ...; null for a value outside the list.
CAROM_API const char *carom_qp_method_name(carom_qp_method method);
/// Fills *method; false, and nothing filled, when no method is called so.
CAROM_API bool carom_qp_method_by_name(const char *name, carom_qp_method *method);
/// Whether this build has it: the TAO methods need PETSc.
CAROM_API bool carom_qp_method_available(carom_qp_method method);
/// Whether the method solves problems of that law.
CAROM_API bool carom_qp_method_takes(carom_qp_method method, carom_qp_law law);

/// Rank and number of ranks of a program started by mpirun (0 and 1 otherwise), for the TAO methods: all ranks must
/// hold the same problem and solve together, and all receive the same answer. Starts MPI and PETSc if need be; they
/// stay until the process ends, the one lasting change that the library makes to it. CAROM_ERR_UNSUPPORTED where the
/// plug-in libcarom_tao.so is not installed.
CAROM_API carom_status carom_qp_ranks(int *rank, int *count, carom_error *error);
/// Replaces the value by the largest of all ranks', on every rank, so that they go on or stop together. All must call.
/// Fails as carom_qp_ranks does.
CAROM_API carom_status carom_qp_ranks_largest(int *value, carom_error *error);

// ---- how it ended -----------------------------------------------------------------------------

/// A limit is an answer, not an error: impulses are in their cones, and the residual says how good they are.
typedef enum carom_qp_outcome {
  CAROM_QP_SOLVED,   ///< within the tolerances
  CAROM_QP_LIMIT,    ///< max_iterations reached
  CAROM_QP_STALLED,  ///< no further progress in double precision
} carom_qp_outcome;

/// How it went. Recomputed from the problem and the answer.
typedef struct carom_qp_info {
  carom_qp_outcome outcome;  ///< how it ended
  int iterations;            ///< in the unit of the method
  int products;              ///< products with N (a sweep counts as one)
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
} carom_qp_info;

/// Scratch of all methods. Grows when a problem is larger than any before it, and never shrinks; otherwise a solve does
/// not allocate (the interior point and TAO methods excepted: their libraries do).
typedef struct carom_qp_work carom_qp_work;

/// Makes scratch without room; the first solve or carom_qp_work_reserve makes that.
CAROM_API carom_status carom_qp_work_create(const carom_allocator *allocator, carom_qp_work **work, carom_error *error);
CAROM_API void carom_qp_work_destroy(carom_qp_work *work);  ///< null is fine
/// Makes room ahead of time for problems up to these sizes, solved with these options (null means defaults).
/// CAROM_ERR_ARGUMENT for negative sizes, CAROM_ERR_LIMIT for sizes beyond what can be counted.
CAROM_API carom_status carom_qp_work_reserve(carom_qp_work *work, int bodies, int contacts, int rows,
                                             const carom_qp_options *options, carom_error *error);
/// How many bytes it holds.
CAROM_API size_t carom_qp_work_bytes(const carom_qp_work *work);

/// Solves. CAROM_OK whatever the outcome in info (which may be null); a failure is about the call: CAROM_ERR_NUMBER for
/// numbers that are not finite, CAROM_ERR_ARGUMENT for bodies or options out of range, CAROM_ERR_UNSUPPORTED for a
/// method that is not in this build. Null options mean defaults.
CAROM_API carom_status carom_qp_solve(carom_qp_work *work, const carom_qp_problem *problem,
                                      const carom_qp_options *options, carom_qp_solution *solution, carom_qp_info *info,
                                      carom_error *error);

/// The judge alone: residual, infeasibility, objectives and gap of given impulses and multipliers; fills velocities and
/// spins. Needs cone, generators and velocity_scale of the options. `info` may be null. Fails as carom_qp_solve does.
CAROM_API carom_status carom_qp_evaluate(carom_qp_work *work, const carom_qp_problem *problem,
                                         const carom_qp_options *options, carom_qp_solution *solution,
                                         carom_qp_info *info, carom_error *error);

#ifdef __cplusplus
}
#endif
#endif

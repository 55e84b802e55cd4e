/// carom/lcp.h: complementarity problems.
///
///     w = M z + q,   z >= 0,   w >= 0,   z'w = 0                    (the linear problem, LCP)
///
/// and its relatives with free or boxed unknowns (MLCP) and with a nonlinear w = F(z) (NCP). Stands on
/// base.h alone: no bodies, no contacts. Notation follows Cottle, Pang and Stone (1992).
///
/// Two questions have two answers. The status says whether the call was sound; the outcome in `info`
/// says how the mathematics ended: a ray or a limit is an answer, not an error.
#ifndef CAROM_LCP_H
#define CAROM_LCP_H

#include "carom/base.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- the problem --------------------------------------------------------------------------------

/// A square matrix of blocks, stored by block rows. Diagonal blocks are square; blocks may differ in
/// size. Blocks that are not stored are zero.
typedef struct carom_lcp_blocks {
  int block_count;       ///< block rows, and as many block columns
  const int *start;      ///< (block_count + 1) first unknown of each block; the last entry is n
  const int *row_start;  ///< (block_count + 1) where each block row begins in `column`
  const int *column;     ///< (row_start[block_count]) block column, ascending within a row
  const double *value;   ///< the blocks one after the other, each column-major
} carom_lcp_blocks;

/// A borrowed view: the caller owns the arrays and may edit them between solves.
typedef struct carom_lcp_problem {
  int n;                           ///< number of complementary pairs
  const double *M;                 ///< n x n, column-major; null when `blocks` is given
  const carom_lcp_blocks *blocks;  ///< the same matrix as blocks, or null
  const double *q;                 ///< n
} carom_lcp_problem;

// ---- how to solve -------------------------------------------------------------------------------

/// The methods.
typedef enum carom_lcp_method {
  CAROM_LCP_AUTO,        ///< Lemke; again with other covering vectors, then Newton, when that fails
  CAROM_LCP_LEMKE,       ///< complementary pivoting with a lexicographic ratio test
  CAROM_LCP_PGS,         ///< projected Gauss-Seidel or SOR, by blocks when there are any
  CAROM_LCP_NEWTON_FB,   ///< semismooth Newton on the Fischer-Burmeister function, with line search
  CAROM_LCP_NEWTON_MIN,  ///< semismooth Newton on min(z, w), with line search
  CAROM_LCP_ENUMERATE    ///< every complementary cone in turn; up to CAROM_LCP_ENUMERATE_MAX pairs
} carom_lcp_method;

enum { CAROM_LCP_ENUMERATE_MAX = 20 };

/// Where to begin.
typedef enum carom_lcp_start {
  CAROM_LCP_START_COLD,  ///< from z = 0
  CAROM_LCP_START_Z,     ///< from the z that comes in
  CAROM_LCP_START_BASIS  ///< from the basis that comes in (pivoting; other methods take its z)
} carom_lcp_start;

/// Begin with carom_lcp_default_options(); the solver never writes here.
typedef struct carom_lcp_options {
  carom_lcp_method method;  ///< default CAROM_LCP_AUTO
  carom_lcp_start start;    ///< default CAROM_LCP_START_COLD
  int max_iterations;  ///< pivots, sweeps or Newton steps; 0 (default) chooses: 50 n pivots, 10000 sweeps, 200 steps
  double time_limit;   ///< seconds; 0 (default) for none
  double tolerance;    ///< on the natural residual over max(1, |q|_inf); default 1e-10
  const double *covering;  ///< Lemke's covering vector (n, positive); null (default) chooses
  double relaxation;       ///< SOR factor in (0, 2); default 1
  int block_size;          ///< PGS on a dense matrix: unknowns per block; default 1
} carom_lcp_options;

/// Options with the defaults named above.
CAROM_API carom_lcp_options carom_lcp_default_options(void);

// ---- how it ended -------------------------------------------------------------------------------

/// How the mathematics ended.
typedef enum carom_lcp_outcome {
  CAROM_LCP_SOLVED,   ///< the residual is within the tolerance
  CAROM_LCP_RAY,      ///< Lemke ended on a ray that proves nothing
  CAROM_LCP_NONE,     ///< no solution: each complementary cone is proven not to hold q (enumeration), or a y >= 0 with
                      ///< M'y <= 0 and q'y < 0 was found (Lemke)
  CAROM_LCP_LIMIT,    ///< out of iterations
  CAROM_LCP_TIME,     ///< out of time
  CAROM_LCP_STALLED,  ///< no further progress: a local minimum of the merit function, or digits lost; of enumeration:
                      ///< some cone could be neither proven to hold q nor not to
} carom_lcp_outcome;

/// "solved", "ray", ...; never null.
CAROM_API const char *carom_lcp_outcome_name(carom_lcp_outcome outcome);
/// "lemke", "pgs", ...; never null.
CAROM_API const char *carom_lcp_method_name(carom_lcp_method method);

/// How it went.
typedef struct carom_lcp_info {
  carom_lcp_outcome outcome;  ///< solved or not, and why
  carom_lcp_method method;    ///< the one that gave the outcome
  int iterations;             ///< in the unit of that method, over all attempts with it
  int attempts;               ///< 1 when the first try succeeded
  int refactorizations;       ///< of the basis, for accuracy
  double residual;            ///< |min(z, M z + q)|_inf at the z returned, recomputed from M and q
  double seconds;             ///< by the clock
} carom_lcp_info;

// ---- solving ------------------------------------------------------------------------------------

typedef struct carom_lcp_work carom_lcp_work;  ///< scratch for problems up to a size; opaque

/// Allocates all that any method needs for up to n_max pairs, dense or in blocks. CAROM_ERR_ARGUMENT when n_max is
/// negative or beyond 20000.
CAROM_API carom_status carom_lcp_work_create(int n_max, const carom_allocator *allocator, carom_lcp_work **work,
                                             carom_error *error);
CAROM_API void carom_lcp_work_destroy(carom_lcp_work *work);  ///< null is fine

/// What comes out, and with options->start what goes in. The arrays are the caller's.
typedef struct carom_lcp_solution {
  double *z;  ///< (n) the best that any method came by, z = 0 among them, whatever the outcome
  double *w;  ///< (n) M z + q; out only
  /// (n) 1 where z_i is basic and 0 where w_i is: the complementary basis C(alpha) that gave the answer (of a solution
  /// that lies on no basis, a set of columns that holds it). May be null.
  unsigned char *basis;
} carom_lcp_solution;

/// Solves. Never allocates. Fills the solution and info whatever the outcome; z, w and info must not be null.
/// CAROM_ERR_ARGUMENT for wrong sizes and options, CAROM_ERR_NUMBER for numbers that are not finite.
CAROM_API carom_status carom_lcp_solve(carom_lcp_work *work, const carom_lcp_problem *problem,
                                       const carom_lcp_options *options, carom_lcp_solution *solution,
                                       carom_lcp_info *info, carom_error *error);

/// The judge of every method and every test: |min(z, M z + q)|_inf; infinity when that is not a number.
CAROM_API double carom_lcp_residual(const carom_lcp_problem *problem, const double *z);

/// w (n) = M z + q.
CAROM_API void carom_lcp_evaluate(const carom_lcp_problem *problem, const double *z, double *w);

// ---- mixed problems -----------------------------------------------------------------------------

/// Bounds instead of signs:  w = M z + q,  lower <= z <= upper,  and for each i
///
///     w_i >= 0 where z_i = lower_i,   w_i <= 0 where z_i = upper_i,   w_i = 0 between.
///
/// An unknown without bounds is free and its row an equation: with the free ones first this is the mixed
/// problem  0 = a + A u + C v,  0 <= v  complementary to  b + D u + B v >= 0.  Infinite bounds are allowed.
typedef struct carom_mlcp_problem {
  int n;                ///< number of unknowns
  const double *M;      ///< n x n, column-major
  const double *q;      ///< n
  const double *lower;  ///< n, or null for all 0
  const double *upper;  ///< n, or null for all infinite
} carom_mlcp_problem;

/// Which of the three holds: the counterpart of the basis.
typedef enum carom_mlcp_state {
  CAROM_MLCP_LOWER,    ///< at its lower bound
  CAROM_MLCP_BETWEEN,  ///< w_i = 0
  CAROM_MLCP_UPPER     ///< at its upper bound
} carom_mlcp_state;

typedef struct carom_mlcp_work carom_mlcp_work;  ///< scratch for problems up to a size; opaque

/// Allocates all that a solve needs for up to n_max unknowns. CAROM_ERR_ARGUMENT when n_max is negative or beyond
/// 10000.
CAROM_API carom_status carom_mlcp_work_create(int n_max, const carom_allocator *allocator, carom_mlcp_work **work,
                                              carom_error *error);
CAROM_API void carom_mlcp_work_destroy(carom_mlcp_work *work);  ///< null is fine

/// What comes out, and with options->start (BASIS, whichever start is asked for) what goes in. The arrays are the
/// caller's.
typedef struct carom_mlcp_solution {
  double *z;             ///< (n) out only
  double *w;             ///< (n) M z + q; out only
  unsigned char *state;  ///< (n) of carom_mlcp_state: where each unknown ended; may be null
} carom_mlcp_solution;

/// Eliminates the free unknowns (those of them whose block is singular are kept, as differences of two
/// nonnegative ones), turns boxes into pairs, and solves the linear problem that is left; `options` and `info`
/// are that one's, but for the residual. Never allocates. Fails as carom_lcp_solve does, and with CAROM_ERR_ARGUMENT
/// for bounds that leave no room or a covering vector, which mixed problems choose themselves.
CAROM_API carom_status carom_mlcp_solve(carom_mlcp_work *work, const carom_mlcp_problem *problem,
                                        const carom_lcp_options *options, carom_mlcp_solution *solution,
                                        carom_lcp_info *info, carom_error *error);

/// |z - mid(lower, z - w, upper)|_inf with w = M z + q: zero at solutions alone.
CAROM_API double carom_mlcp_residual(const carom_mlcp_problem *problem, const double *z);

// ---- nonlinear problems -------------------------------------------------------------------------

/// z >= 0, F(z) >= 0, z'F(z) = 0.
typedef struct carom_ncp_problem {
  int n;          ///< number of complementary pairs
  void *context;  ///< the caller's own
  /// Fills F (n) and, unless null, its Jacobian J (n x n, column-major). Not CAROM_OK ends the solve with that status.
  carom_status (*evaluate)(void *context, const double *z, double *F, double *J);
} carom_ncp_problem;

typedef struct carom_ncp_work carom_ncp_work;  ///< scratch for problems up to a size; opaque

/// Allocates all that a solve needs for up to n_max pairs. CAROM_ERR_ARGUMENT when n_max is negative or beyond 20000.
CAROM_API carom_status carom_ncp_work_create(int n_max, const carom_allocator *allocator, carom_ncp_work **work,
                                             carom_error *error);
CAROM_API void carom_ncp_work_destroy(carom_ncp_work *work);  ///< null is fine

/// What comes out. The arrays are the caller's.
typedef struct carom_ncp_solution {
  double *z;  ///< (n) and on entry where to begin
  double *w;  ///< (n) F(z); out only
} carom_ncp_solution;

/// Successive linearisation (Josephy 1979): each step solves the linear problem of F at z, from the basis of the
/// one before, with a line search on the natural residual. Begins at the z that comes in. In `options`,
/// max_iterations (0: 50), time_limit and tolerance are of the whole, the rest of each step; `info` counts linear
/// problems. Never allocates. CAROM_ERR_NUMBER when the start or F there is not finite, else the status of `evaluate`.
CAROM_API carom_status carom_ncp_solve(carom_ncp_work *work, const carom_ncp_problem *problem,
                                       const carom_lcp_options *options, carom_ncp_solution *solution,
                                       carom_lcp_info *info, carom_error *error);

// ---- tools --------------------------------------------------------------------------------------

enum { CAROM_LCP_CHECK_MAX = 20 };  ///< largest matrix that the three checks below take; they cost 2^n

/// Is x'Mx >= 0 for all x >= 0? If not, `witness` (n, may be null) gets an x >= 0 with entries summing to 1 and
/// x'Mx < 0. M is n x n, column-major. Values above -tolerance times the largest entry count as zero.
/// CAROM_ERR_ARGUMENT for n beyond CAROM_LCP_CHECK_MAX. Never allocates.
CAROM_API carom_status carom_lcp_is_copositive(int n, const double *M, double tolerance, bool *yes, double *witness,
                                               carom_error *error);
/// Are all principal minors positive, so that every q has exactly one solution? If not, `witness` (n, may be null)
/// marks with 1 the rows of one that is not. Pivots below tolerance times the largest entry count as zero. Sizes and
/// failures as above. Never allocates.
CAROM_API carom_status carom_lcp_is_p_matrix(int n, const double *M, double tolerance, bool *yes,
                                             unsigned char *witness, carom_error *error);

/// Whether the condition below holds, and why not.
typedef struct carom_lcp_condition {
  bool holds;       ///< there is a solution, and Lemke's method finds it
  bool copositive;  ///< the first part
  double *witness;  ///< (n, may be null) when it does not hold: x, or v of the second part, with entries summing to 1
} carom_lcp_condition;

/// The sufficient condition for a solution (Cottle, Pang and Stone 1992, theorem 3.8.6; Gavrea 2008, theorem 1.2.8): M
/// is copositive (x'Mx >= 0 for all x >= 0), and v'q >= 0 for every v >= 0 with M v >= 0 and v'M v = 0. M is n x n,
/// column-major; values above -tolerance times the largest entry count as zero. CAROM_ERR_ARGUMENT for n beyond
/// CAROM_LCP_CHECK_MAX, CAROM_NOT_CONVERGED when round-off hides the answer. Never allocates.
CAROM_API carom_status carom_lcp_meets_condition(const carom_lcp_problem *problem, double tolerance,
                                                 carom_lcp_condition *answer, carom_error *error);

/// Membership of q in the complementary cone pos C(alpha) of a basis (1 where z_i, 0 where w_i is basic): solves
/// C(alpha) x = q for x (n: z_i or w_i) and tells the least entry; q is in the cone when that is not negative.
/// CAROM_ERR_SINGULAR when alpha is no basis. Never allocates.
CAROM_API carom_status carom_lcp_cone_coordinates(carom_lcp_work *work, const carom_lcp_problem *problem,
                                                  const unsigned char *basis, double *x, double *least,
                                                  carom_error *error);

/// Problems along a parameter.
typedef struct carom_lcp_family {
  void *context;  ///< the caller's own
  /// Fills *problem with views that stay valid until the next call. Not CAROM_OK ends the search with that status.
  carom_status (*evaluate)(void *context, double t, carom_lcp_problem *problem);
} carom_lcp_family;

/// Along which parameters: t = start, start + h, ..., start + count h.
typedef struct carom_lcp_steps {
  double start, h;   ///< in the unit of the family's parameter
  int count;         ///< how many steps
  double tolerance;  ///< values above -tolerance count as not negative
} carom_lcp_steps;

/// What happened along the way.
typedef struct carom_lcp_switch {
  bool switched;  ///< the basis of the start ceased to serve
  int step;       ///< the first step at which it did
  double t;       ///< its parameter
  int index;      ///< the basic variable that was most negative there; -1 when the basis became singular
  double value;   ///< its value
} carom_lcp_switch;

/// Does the complementary basis change along the steps? One problem is solved, at the start; after that only linear
/// systems (Gavrea 2008, 2.4: a control is robust when nothing switches). `basis` (n) receives the basis of the start.
/// CAROM_NOT_CONVERGED when the problem at the start was not solved.
CAROM_API carom_status carom_lcp_find_switch(carom_lcp_work *work, const carom_lcp_family *family,
                                             const carom_lcp_steps *steps, unsigned char *basis,
                                             carom_lcp_switch *found, carom_error *error);

/// The cone of impulses  N c + D beta + F p  with c >= 0, beta >= 0 and, for each contact, the sum of its beta at most
/// mu times its c; p is free.
typedef struct carom_friction_cone {
  int rows;          ///< degrees of freedom
  int contacts;      ///< columns of N
  int directions;    ///< friction directions a contact
  int joints;        ///< columns of F
  const double *N;   ///< rows x contacts, column-major
  const double *D;   ///< rows x (contacts * directions), contact by contact; null when there are none
  const double *F;   ///< rows x joints; null when there are none
  const double *mu;  ///< contacts
} carom_friction_cone;

/// Whether a cone is pointed, and the proof. The arrays are the caller's; each may be null.
typedef struct carom_friction_cone_answer {
  bool pointed;   ///< no impulse at the contacts other than zero cancels out
  double margin;  ///< > 0 when pointed, else 0: the rate below
  /// (rows) when pointed: it separates all contacts. Every edge N + mu D of the cone, taken with length 1, has at least
  /// the rate `margin` along it; entries lie within [-1, 1], one of them at an end, and joints are kept.
  double *velocity;
  /// (contacts + contacts * directions + joints) when not: the bodies are jammed or crushed, and this one cancels: c,
  /// beta, p, with the c summing to 1.
  double *impulse;
} carom_friction_cone_answer;

typedef struct carom_cone_work carom_cone_work;  ///< scratch for cones up to a size; opaque

/// Allocates all that a cone takes with rows + 1 + contacts * max(directions, 1) + joints <= n_max. CAROM_ERR_ARGUMENT
/// when n_max is negative or beyond 10000.
CAROM_API carom_status carom_cone_work_create(int n_max, const carom_allocator *allocator, carom_cone_work **work,
                                              carom_error *error);
CAROM_API void carom_cone_work_destroy(carom_cone_work *work);  ///< null is fine
/// As carom_friction_cone_pointed. Never allocates. CAROM_ERR_ARGUMENT for cones that are too large for the work, too.
CAROM_API carom_status carom_cone_work_pointed(carom_cone_work *work, const carom_friction_cone *cone,
                                               carom_friction_cone_answer *answer, carom_error *error);
/// Is the cone pointed? Decided by a linear program, in which the units of the rows do not matter. Allocates.
/// CAROM_ERR_ARGUMENT for sizes out of range, CAROM_ERR_NUMBER for a mu that is negative or not finite,
/// CAROM_NOT_CONVERGED when the program was not solved.
CAROM_API carom_status carom_friction_cone_pointed(const carom_friction_cone *cone, const carom_allocator *allocator,
                                                   carom_friction_cone_answer *answer, carom_error *error);

#ifdef __cplusplus
}
#endif
#endif

/// carom/l1.h: the x that makes |A x + b|_1 = sum_i |(A x + b)_i| least, for a sparse A (m x n): data fitted so that
/// outliers hardly count. docs/flow.md has the mathematics.
///
/// Stands on base.h alone. A primal-dual interior point method (Mehrotra 1992) on the linear program
///
///     min 1'(w+ + w-)   with   A x + b = w+ - w-,   w+, w- >= 0
///
/// in the form of Gavrea (habilitation thesis, 2.5.5 to 2.5.9): each iteration factors A' D^-1 A (n x n) once, where
/// D = W+/(1 - Y) + W-/(1 + Y), and solves with it twice. Its order and structure are analysed once for a work object.
/// A may be rank-deficient: its null space is left where the least squares begin, at 0.
///
/// Every solve ends with a proof of how good it is. The dual is max b'y with A'y = 0, |y|_inf <= 1: for such a y and
/// any x, b'y = y'(A x + b) <= |A x + b|_1. See carom_l1_info.
#ifndef CAROM_L1_H
#define CAROM_L1_H

#include "carom/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A and b, a borrowed view: A by rows, columns ascending within a row, entries of value 0 allowed. A row with k
/// entries brings k^2 into A'A, so that long rows cost much.
typedef struct carom_l1_problem {
  int m;      ///< rows, at least 1
  int n;      ///< unknowns, at least 1
  int block;  ///< unknowns block k to block k + block - 1 belong together (1 to 64, divides n), such as the two
              ///< components of a pixel's motion: they are eliminated as one. 1 (or 0) where there is no such thing
  const int *row_start;  ///< (m + 1) row i has entries row_start[i] to row_start[i + 1] - 1; row_start[0] is 0
  const int *column;     ///< (row_start[m])
  const double *value;   ///< (row_start[m])
  const double *b;       ///< (m)
} carom_l1_problem;

/// Begin with carom_l1_default_options(); nothing is ever written here.
typedef struct carom_l1_options {
  int max_iterations;       ///< default 100
  double tolerance;         ///< on gap / (primal + |b|_1 / m); default 1e-11
  int threads;              ///< 0 (default): one per processor. The answer does not depend on it
  carom_progress progress;  ///< asked in every iteration, done of max_iterations; default: none
} carom_l1_options;

/// Options with the defaults named above.
CAROM_API carom_l1_options carom_l1_default_options(void);

/// How the mathematics ended.
typedef enum carom_l1_outcome {
  CAROM_L1_SOLVED,  ///< the gap is within the tolerance
  CAROM_L1_LIMIT,   ///< out of iterations
  CAROM_L1_STALLED  ///< rounding lets the gap fall no further
} carom_l1_outcome;

/// "solved", "limit", "stalled"; never null.
CAROM_API const char *carom_l1_outcome_name(carom_l1_outcome outcome);

/// How a solve went. What it says of x and y is computed afresh from A, b, x and y.
typedef struct carom_l1_info {
  carom_l1_outcome outcome;  ///< solved or not, and why
  int iterations;            ///< of the interior point
  double primal;             ///< |A x + b|_1
  double dual;               ///< b'y - 2 |x|_inf |A'y|_1: no x' with |x'|_inf <= 2 |x|_inf has a smaller |A x' + b|_1
  double gap;                ///< primal - dual
  double stationarity;       ///< |A'y|_inf, 0 but for rounding
  int factorizations;        ///< the one of the start among them
  int conjugate_steps;       ///< of conjugate gradients, which correct the solves with these factors
  double factor_flops;       ///< floating-point operations of one factorisation
  double factor_entries;     ///< numbers in the factor
} carom_l1_info;

/// Where the answer goes: the caller's own room.
typedef struct carom_l1_solution {
  double *x;  ///< (n)
  double *y;  ///< (m) the dual; may be null
} carom_l1_solution;

typedef struct carom_l1_work carom_l1_work;  ///< order, structure and scratch for matrices of one pattern; opaque

/// Analyses where A has entries (`value` and `b` are not looked at) and allocates all that solves need.
/// CAROM_ERR_ARGUMENT for a pattern that is none, with the row; CAROM_ERR_LIMIT when A'A has too many entries to count.
CAROM_API carom_status carom_l1_work_create(const carom_l1_problem *problem, const carom_allocator *allocator,
                                            carom_l1_work **work, carom_error *error);
CAROM_API void carom_l1_work_destroy(carom_l1_work *work);  ///< null is fine

/// Fills the solution and info (may be null), whatever the outcome. `problem` has the pattern that the
/// work was made for. Allocates nothing. CAROM_ERR_NUMBER when A or b is not finite, with the row; CAROM_INTERRUPTED
/// when `progress` asked for it, with the best so far.
CAROM_API carom_status carom_l1_solve(carom_l1_work *work, const carom_l1_problem *problem,
                                      const carom_l1_options *options, const carom_l1_solution *solution,
                                      carom_l1_info *info, carom_error *error);

/// The companion in the 2-norm: fills x (n) with the least squares min |A x + b|_2, with the same structure and one
/// factorisation. Of `options`, `threads` counts. Fails as carom_l1_solve does.
CAROM_API carom_status carom_l1_least_squares(carom_l1_work *work, const carom_l1_problem *problem,
                                              const carom_l1_options *options, double *x, carom_error *error);

/// Writes the linear program of above as a free MPS file for other solvers: unknowns x0, x1, ..., w+ as p0, p1, ...,
/// w- as q0, q1, ..., rows r0, r1, ... A and b must be a pattern as for carom_l1_work_create, and finite.
CAROM_API carom_status carom_l1_write_mps(const carom_l1_problem *problem, const char *path, carom_error *error);

#ifdef __cplusplus
}
#endif
#endif

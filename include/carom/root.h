/// carom/root.h: roots of nonlinear equations f(x) = 0, one or several in as many unknowns: Newton's method, that of
/// McDougall and Wotherspoon (2014), and Newton - Monte Carlo (Gavrea, habilitation thesis, 3.2), which mixes by chance
/// and so gets away from where the others cycle or run off. docs/root.md has the mathematics.
///
/// Stands on base.h alone. With x_0* = x_0 and x_1 a step of Newton's method, for k >= 1
///
///     x_k*    = x_k - J((1 - g) x_k-1 + g x_k-1*)^-1 f(x_k)                                         (predictor)
///     x_k+1   = x_k - J((1 - g) x_k   + g x_k*  )^-1 f(x_k)                                         (corrector)
///
/// with g = 1/2, or g drawn anew in each step, uniformly in [0, 1).
///
/// What counts as a root. That |f| is small is not enough: x exp(-x^2) is below any tolerance far out, where there is
/// no root. So x is one when, with |.| the largest component, d = J(x)^-1 f(x) the step of Newton's method from there
/// (asked for just where one of these could hold), and s = max(1, |x|),
///
///   - 0 < |f(x)| <= tolerance and |d| <= step_tolerance s, or
///   - f(x) = 0 exactly, and |f| > 0 at all the 2n points x +- step_tolerance s e_i: J may be singular there, or
///   - |d| <= 4 eps |x|, and |f| at those 2n points is larger than at x: no double is nearer to the root, but f
///     comes out of the rounding above the tolerance.
///
/// Then x - d is returned if |f| is smaller there. What these prove is that the linear model at x has its root within
/// |d|. A function that is below the tolerance and nearly linear over that distance, without a root there, would pass.
#ifndef CAROM_ROOT_H
#define CAROM_ROOT_H

#include "carom/base.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { CAROM_ROOT_MOST = 64 };  ///< unknowns

/// f(x) = 0.
typedef struct carom_root_problem {
  int n;          ///< number of equations and of unknowns, at most CAROM_ROOT_MOST
  void *context;  ///< the caller's own
  /// Fills f (n) and J (n x n, column-major: J[i + j n] = df_i/dx_j); either may be null. What is not finite tells that
  /// there is nothing at x. Not CAROM_OK ends the solve with that status. A search calls it from several threads.
  carom_status (*evaluate)(void *context, const double *x, double *f, double *J);
} carom_root_problem;

/// How g is chosen.
typedef enum carom_root_method {
  CAROM_ROOT_NEWTON,      ///< no mixing: x_k+1 = x_k - J(x_k)^-1 f(x_k). Order 2; 1 f and 1 J a step
  CAROM_ROOT_HALF,        ///< g = 1/2 (McDougall and Wotherspoon): order 1 + sqrt 2; 1 f and 1 J a step
  CAROM_ROOT_MONTE_CARLO  ///< g by chance (Gavrea): order 2; 1 f and 2 J a step, as no J is met twice
} carom_root_method;

/// How a run ended.
typedef enum carom_root_outcome {
  CAROM_ROOT_FOUND,  ///< x is a root by the rules above
  CAROM_ROOT_LIMIT,  ///< out of iterations
  CAROM_ROOT_FLAT,   ///< |f| is within the tolerance, but there is no root near: f flattens out, or vanishes all about
  CAROM_ROOT_SINGULAR,   ///< f' = 0 (J singular) where a step was to be taken
  CAROM_ROOT_FAR,        ///< x left the bound
  CAROM_ROOT_NO_NUMBER,  ///< f or J is not finite there
  CAROM_ROOT_OUTCOMES    ///< how many there are
} carom_root_outcome;

/// "newton", "half", "monte-carlo"; never null.
CAROM_API const char *carom_root_method_name(carom_root_method method);
/// "found", "limit", "flat", "singular", "far", "no number"; never null.
CAROM_API const char *carom_root_outcome_name(carom_root_outcome outcome);

/// One step of a run, for those who watch it.
typedef struct carom_root_moment {
  int k;                    ///< 0 for the start
  double g;                 ///< with which x was made; 0 at the start and after a step of Newton's method
  const double *x;          ///< (n) x_k
  const double *predicted;  ///< (n) x_k-1*, towards which the corrector that made x looked; x itself for k = 0
  const double *f;          ///< (n) f(x_k)
} carom_root_moment;

/// Begin with carom_root_default_options(); nothing is ever written here.
typedef struct carom_root_options {
  carom_root_method method;  ///< default CAROM_ROOT_MONTE_CARLO
  int max_iterations;        ///< of one run; default 100
  double tolerance;          ///< on |f|, in its own unit; default 1e-12
  double step_tolerance;     ///< on |d| over max(1, |x|); default 1e-8, after which Newton's error is at round-off
  double bound;              ///< a run ends where |x| exceeds this; default 1e100
  uint64_t seed;             ///< of g; default 1
  uint64_t stream;           ///< of the random numbers, one a run (a search numbers them 0, 1, ...); default 0
  void *context;             ///< handed to `watch`
  /// Called with every x_k of a run, in order; null (default): nobody watches. A search passes it over.
  void (*watch)(void *context, const carom_root_moment *moment);
} carom_root_options;

/// Options with the defaults named above.
CAROM_API carom_root_options carom_root_default_options(void);

/// How a run went.
typedef struct carom_root_info {
  carom_root_outcome outcome;  ///< found or not, and why
  int iterations;              ///< k of the x returned
  int f_evaluations;           ///< of f, those of the test for a root among them
  int slope_evaluations;       ///< of J, likewise
  double residual;             ///< |f(x)|; infinite where that is no number
  double step;                 ///< |d| where it was asked for (the x returned has taken it), else |x_k - x_k-1|
} carom_root_info;

typedef struct carom_root_work carom_root_work;  ///< scratch for problems up to a size; opaque

/// Allocates all that a solve needs for up to n_max unknowns. CAROM_ERR_ARGUMENT when n_max is not within 1 and
/// CAROM_ROOT_MOST.
CAROM_API carom_status carom_root_work_create(int n_max, const carom_allocator *allocator, carom_root_work **work,
                                              carom_error *error);
CAROM_API void carom_root_work_destroy(carom_root_work *work);  ///< null is fine

/// One run from x (n), which receives where it ended, whatever the outcome. Never allocates. `work` may be null for a
/// single equation. CAROM_ERR_ARGUMENT for wrong sizes and options, CAROM_ERR_NUMBER for a start that is not finite,
/// else the status of `evaluate`.
CAROM_API carom_status carom_root_solve(carom_root_work *work, const carom_root_problem *problem,
                                        const carom_root_options *options, double *x, carom_root_info *info,
                                        carom_error *error);

// ---- many runs ------------------------------------------------------------------------------------------------------

/// Which runs to make. Begin with carom_root_default_runs().
typedef struct carom_root_runs {
  const double *starts;  ///< (start_count x n), start by start
  int start_count;       ///< at least 1
  int runs;              ///< from every start, with streams 0, 1, ...; default 1000. Methods without chance make one
  int threads;           ///< 0 (default): one per processor. The answer does not depend on it
  double near;           ///< roots within this times max(1, |x|) count as one; default 1e-6
} carom_root_runs;

/// Runs with the defaults named above, and no start.
CAROM_API carom_root_runs carom_root_default_runs(void);

/// One root.
typedef struct carom_root {
  const double *x;      ///< (n) of the run that ended with the smallest residual
  double residual;      ///< |f(x)|
  double step;          ///< |d| at x
  int64_t hits;         ///< how many runs ended here
  carom_interval rate;  ///< of hits among all runs: 95 percent, Wilson
  double iterations;    ///< mean of those runs
  int64_t first;        ///< the first run that did
  int64_t best;         ///< the run that x is of; the first of those with the smallest residual
} carom_root;

/// What a search found. Run number s r + j began at start s with stream j, where r is `runs`.
typedef struct carom_root_set {
  int n;                                  ///< number of unknowns
  int start_count;                        ///< how many starts
  int runs;                               ///< from every start
  int64_t run_count;                      ///< start_count x runs
  int count;                              ///< how many distinct roots
  carom_root *roots;                      ///< (count) by their first component, then by the second, ...
  int *root_of;                           ///< (run_count) index of the root where a run ended; -1: at none
  carom_root_info *infos;                 ///< (run_count) how each run went
  double *ends;                           ///< (run_count x n) where each ended
  int64_t outcomes[CAROM_ROOT_OUTCOMES];  ///< how many runs ended in each way
  carom_interval rate;                    ///< of runs that found a root: 95 percent, Wilson
  int64_t f_evaluations;                  ///< over all runs
  int64_t slope_evaluations;              ///< over all runs
  carom_allocator allocator;              ///< of all this
} carom_root_set;

/// Makes all the runs, in parallel, and tells the distinct roots: ends are taken by their first component (then the
/// second, ...), and each counts to a root so far whose first end is within `near` of it, or is a new one. The same
/// bits for any number of threads. Fails as carom_root_solve does.
CAROM_API carom_status carom_root_search(const carom_root_problem *problem, const carom_root_runs *runs,
                                         const carom_root_options *options, const carom_allocator *allocator,
                                         carom_root_set **set, carom_error *error);
CAROM_API void carom_root_set_destroy(carom_root_set *set);  ///< null is fine

// ---- equations as text ----------------------------------------------------------------------------------------------

/// Equations as people write them, "x^3 - 2*x + 2", each meant to be zero: numbers, + - * / ^, parentheses, the
/// functions of scene files and `if(condition, a, b)`.
typedef struct carom_root_text {
  const char *const *expressions;  ///< (count)
  int count;                       ///< 1 to CAROM_ROOT_MOST
  const char *const *variables;  ///< (count) the unknowns in order; null: all names in the expressions, alphabetically
  bool complex_plane;            ///< a single equation in one complex unknown z = x + i y: n = 2, x = (Re z, Im z)
} carom_root_text;

typedef struct carom_root_equations carom_root_equations;  ///< opaque; never changes

/// Compiles. CAROM_ERR_FORMAT names the expression, the column and a remedy, or the unknowns that there are too many or
/// too few of; in the complex plane also functions that are not analytic.
CAROM_API carom_status carom_root_equations_create(const carom_root_text *text, const carom_allocator *allocator,
                                                   carom_root_equations **equations, carom_error *error);
CAROM_API void carom_root_equations_destroy(carom_root_equations *equations);  ///< null is fine
/// The problem they pose, with exact derivatives (Taylor arithmetic). Holds as long as they do.
CAROM_API carom_root_problem carom_root_equations_problem(const carom_root_equations *equations);
/// The name of unknown i; of the only one in the complex plane.
CAROM_API const char *carom_root_equations_variable(const carom_root_equations *equations, int i);

#ifdef __cplusplus
}
#endif
#endif

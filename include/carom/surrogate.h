/// carom/surrogate.h: functions that cost much to evaluate, and their least value in few evaluations: splines and
/// kriging through samples, and a search that asks for points and is told values. Stands on base.h alone; knows no
/// physics. docs/design.md has the mathematics.
#ifndef CAROM_SURROGATE_H
#define CAROM_SURROGATE_H

#include "carom/base.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- cubic splines --------------------------------------------------------------------------------------------------

/// What a spline does at its ends.
typedef enum carom_spline_end {
  CAROM_SPLINE_NOT_A_KNOT,  ///< the first two and the last two pieces are one cubic each: reproduces cubics
  CAROM_SPLINE_NATURAL,     ///< no curvature at the ends
} carom_spline_end;

/// A cubic spline through samples: a view of the caller's arrays. Two samples make a line, three (not a knot) a
/// parabola.
typedef struct carom_spline {
  int count;        ///< samples, at least 2
  const double *x;  ///< (count) ascending
  const double *y;  ///< (count)
  double *second;   ///< (count) second derivatives, which carom_spline_fit fills
} carom_spline;

/// Fills spline->second; `work` is (2 x count) of scratch. CAROM_ERR_ARGUMENT where x does not ascend, or for fewer
/// than two samples. Never allocates.
CAROM_API carom_status carom_spline_fit(const carom_spline *spline, carom_spline_end end, double *work);
/// Its value, beyond the samples too, where the last pieces go on; `slope` (may be null) is its derivative.
CAROM_API double carom_spline_value(const carom_spline *spline, double x, double *slope);
/// The least value between low and high, and where.
CAROM_API double carom_spline_least(const carom_spline *spline, double low, double high, double *at);

// ---- kriging --------------------------------------------------------------------------------------------------------

/// How values are alike that are a distance apart, in units of the length scales: r^2 = sum ((x_i - x'_i)/l_i)^2.
typedef enum carom_kernel {
  CAROM_KERNEL_GAUSS,   ///< exp(-r^2/2): for functions that are very smooth
  CAROM_KERNEL_MATERN,  ///< (1 + sqrt(5) r + 5 r^2/3) exp(-sqrt(5) r): twice differentiable
} carom_kernel;

/// What values are when nothing is near.
typedef enum carom_trend {
  CAROM_TREND_CONSTANT,  ///< a constant, estimated
  CAROM_TREND_LINEAR,    ///< a linear function, estimated
} carom_trend;

/// A Gaussian process through samples (universal kriging; Jones, Schonlau and Welch 1998): y = trend + z + noise, where
/// z has variance s^2 and the correlation of the kernel, and the noise has variance nugget x s^2.
typedef struct carom_kriging carom_kriging;

enum { CAROM_KRIGING_MOST_VARIABLES = 16 };  ///< of kriging and of searches

/// Room for up to `most` samples of `dimension` variables. CAROM_ERR_ARGUMENT for too many variables.
CAROM_API carom_status carom_kriging_create(int dimension, int most, carom_trend trend,
                                            const carom_allocator *allocator, carom_kriging **kriging,
                                            carom_error *error);
CAROM_API void carom_kriging_destroy(carom_kriging *kriging);  ///< null is fine
/// Takes samples: points (count x dimension), values (count). Nothing is fitted yet. Values must be finite and not more
/// than there is room for. Allocates nothing, nor do the functions below.
CAROM_API carom_status carom_kriging_samples(carom_kriging *kriging, int count, const double *points,
                                             const double *values, carom_error *error);
/// Sets what is to be known: kernel, length scales (dimension) and nugget. CAROM_ERR_SINGULAR where samples are too
/// close to each other for them; a larger nugget helps.
CAROM_API carom_status carom_kriging_set(carom_kriging *kriging, carom_kernel kernel, const double *lengths,
                                         double nugget);
/// Finds kernel, length scales and nugget under which the samples are likeliest, with a weak preference for lengths
/// near the spread of the samples and for little noise (docs/design.md); `noisy` false keeps the nugget at its least.
CAROM_API carom_status carom_kriging_fit(carom_kriging *kriging, bool noisy);
/// The logarithm of the likelihood of the samples, with trend and s^2 at their best: -n/2 (ln 2 pi s^2 + 1) - ln det
/// C/2. `slopes` (dimension + 1; may be null) are its derivatives by the logarithms of the lengths and of the nugget.
CAROM_API double carom_kriging_likelihood(carom_kriging *kriging, double *slopes);
/// Mean and standard deviation (without the noise) at a point.
CAROM_API void carom_kriging_predict(carom_kriging *kriging, const double *point, double *mean, double *deviation);

/// What was set or fitted.
typedef struct carom_kriging_info {
  carom_kernel kernel;                             ///< of the two
  double lengths[CAROM_KRIGING_MOST_VARIABLES];    ///< in units of the variables
  double nugget;                                   ///< variance of the noise over that of the process
  double variance;                                 ///< s^2
  double trend[CAROM_KRIGING_MOST_VARIABLES + 1];  ///< the constant, then slopes
} carom_kriging_info;
/// Tells what was set or fitted.
CAROM_API carom_kriging_info carom_kriging_describe(const carom_kriging *kriging);

/// ln E max(best - y, 0) for y normal with this mean and deviation: the logarithm of the expected improvement, exact to
/// rounding where the improvement itself would underflow. -infinity for no deviation and mean >= best.
CAROM_API double carom_log_improvement(double mean, double deviation, double best);

// ---- the search -----------------------------------------------------------------------------------------------------

/// How a search chooses its points.
typedef enum carom_search_method {
  CAROM_SEARCH_AUTO,     ///< as KRIGING; in one variable with a spline in place of its mean where values have no noise
  CAROM_SEARCH_SPLINE,   ///< one variable, one point a round, where a spline through all samples is least
  CAROM_SEARCH_KRIGING,  ///< by kriging: where its mean is least, or where the expected improvement is greatest
} carom_search_method;

/// The name of a method as problem files spell it; null for a value outside the list.
CAROM_API const char *carom_search_method_name(carom_search_method method);

/// What is searched. Begin with carom_search_default().
typedef struct carom_search_def {
  int variable_count;          ///< 1 to CAROM_KRIGING_MOST_VARIABLES
  const double *low, *high;    ///< (variable_count) bounds, low < high
  const bool *logarithmic;     ///< (variable_count) true: equal ratios count alike; null: none
  int constraint_count;        ///< default 0
  const double *rows, *most;   ///< (constraint_count x variable_count), (constraint_count): rows x <= most
  carom_search_method method;  ///< default AUTO
  int budget;                  ///< evaluations in all; default 50
  int start_count;             ///< points to begin with; default 0: as many as the method likes
  const double *starts;        ///< (start_count x variable_count); null: the search's own
  double tolerance;            ///< stop when the least value changes by less, and no more is expected; default 1e-7,
                               ///< a part of |least| with SPLINE (1e-5 percent), else of the spread of the values
  double resolution;           ///< points are at least so far apart, in parts of the bounds; default 1e-5
  uint64_t seed;               ///< default 1
} carom_search_def;

/// A search at work:
///
///     while ((n = carom_search_ask(search, batch, points)) > 0)
///       for (int i = 0; i < n; i++)
///         carom_search_tell(search, &points[i * dimension], f(&points[i * dimension]), &error);
///
/// What it asks for is a function of its definition, of what it was told, in which order, and of the sizes of batches.
typedef struct carom_search carom_search;

/// Why a search gives no more points.
typedef enum carom_search_end {
  CAROM_SEARCH_GOES_ON,    ///< it does give more
  CAROM_SEARCH_CONVERGED,  ///< by the tolerance, or no point is left that is apart from the others
  CAROM_SEARCH_SPENT,      ///< the budget is used up
} carom_search_end;

/// Defaults as named above, without variables.
CAROM_API carom_search_def carom_search_default(void);
/// Begins. CAROM_ERR_ARGUMENT, with a message that names the variable, for bounds that cross, constraints that leave
/// nothing, starts outside the bounds, a budget below 1, or SPLINE in several variables.
CAROM_API carom_status carom_search_create(const carom_search_def *def, const carom_allocator *allocator,
                                           carom_search **search, carom_error *error);
CAROM_API void carom_search_destroy(carom_search *search);  ///< null is fine
/// Up to `most` new points (most x variable_count), no two of them alike. Points that were asked for and not told yet
/// are taken to come to the best value so far (constant liar). 0: the search has ended. SPLINE gives one at a time.
CAROM_API int carom_search_ask(carom_search *search, int most, double *points);
/// Tells a value, or (not finite) that there is none. Points need not have been asked for. Of two values of a point the
/// lower one counts. CAROM_ERR_ARGUMENT for points outside the bounds; CAROM_ERR_LIMIT for more than four budgets of
/// them.
CAROM_API carom_status carom_search_tell(carom_search *search, const double *point, double value, carom_error *error);
/// The best sample so far; -1: none.
CAROM_API int carom_search_best(const carom_search *search);
/// Why there are no more points.
CAROM_API carom_search_end carom_search_ending(const carom_search *search);

/// A point that was asked for or told.
typedef struct carom_search_sample {
  const double *point;  ///< (variable_count)
  double value;         ///< infinite: it failed; NaN: not told yet
} carom_search_sample;
/// How many points there are.
CAROM_API int carom_search_count(const carom_search *search);
/// A point, in the order of asking.
CAROM_API carom_search_sample carom_search_at(const carom_search *search, int index);
/// What the surrogate says of a point: its value and standard deviation (NaN by a spline). Both NaN while there are too
/// few values. Fits the surrogate anew where values came since.
CAROM_API void carom_search_predict(carom_search *search, const double *point, double *mean, double *deviation);

#ifdef __cplusplus
}
#endif
#endif

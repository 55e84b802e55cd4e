/// carom/sweep.h: one scene run many times, with values that are varied along axes; what came of it as a table, and the
/// statistics that turn tables into numbers. docs/sweep.md has the mathematics, and the format of problem files.
#ifndef CAROM_SWEEP_H
#define CAROM_SWEEP_H

#include "carom/result.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- designs --------------------------------------------------------------------------------------------------------

/// How cases are spread over the axes. The inputs of a case are a function of the seed and its number alone.
typedef enum carom_design {
  CAROM_DESIGN_GRID,    ///< every combination; the last axis changes fastest
  CAROM_DESIGN_RANDOM,  ///< independent, uniform
  CAROM_DESIGN_LATIN,   ///< Latin hypercube: each axis is cut into `count` strata, and each of them is met once
  CAROM_DESIGN_HALTON,  ///< Halton's sequence in the first primes, shifted by the seed
  CAROM_DESIGN_STAR,    ///< the centre, then a point on either side of it along each axis: for sensitivities
  CAROM_DESIGN_SOBOL,  ///< Saltelli's design: for each of N points A and B, A, B, and A with one column of B: N (d + 2)
} carom_design;

/// The name of a design as problem files spell it; null for a value outside the list.
CAROM_API const char *carom_design_name(carom_design design);

/// A quantity that is varied.
typedef struct carom_axis {
  char *name;            ///< as formulas call it
  char *unit;            ///< of its values: SI, "" for a plain number
  double from, to;       ///< its ends; from < to
  bool logarithmic;      ///< equal ratios instead of equal differences
  int count;             ///< points of a grid, or how many values there are
  const double *values;  ///< (count) given one by one; null: between the ends
} carom_axis;

enum { CAROM_MOST_AXES = 16, CAROM_MOST_SOBOL_AXES = 6 };  ///< of a sweep; of Sobol indices

/// Cases over axes.
typedef struct carom_sampling {
  carom_design design;     ///< how they are spread
  const carom_axis *axes;  ///< (axis_count)
  int axis_count;          ///< at most CAROM_MOST_AXES
  int64_t count;           ///< cases; see carom_sampling_size
  uint64_t seed;           ///< of random, latin, halton, sobol
  double delta;            ///< star: the distance from the centre, in parts of an axis
} carom_sampling;

/// How many cases a design has: the product of the counts of a grid, 2 d + 1 of a star, `points` (d + 2) of sobol, else
/// `points`. -1 where that is more than 1e9.
CAROM_API int64_t carom_sampling_size(carom_design design, const carom_axis *axes, int axis_count, int64_t points);
/// The value at u in [0, 1] of the way along an axis.
CAROM_API double carom_axis_value(const carom_axis *axis, double u);
/// The inputs (axis_count) of case `number`. Never allocates.
CAROM_API void carom_sampling_inputs(const carom_sampling *sampling, int64_t number, double *inputs);

// ---- statistics -----------------------------------------------------------------------------------------------------
// None of these allocates, unless it says so.

/// The q-quantile (q in [0, 1]) of sorted values, linear between them; NaN of none.
CAROM_API double carom_quantile(const double *sorted, int64_t count, double q);

/// The Sobol indices of one axis, with intervals by percentiles of resampled points (bootstrap, 95 percent).
typedef struct carom_sobol_index {
  double first;                   ///< the part of the variance that is explained by this axis alone
  double total;                   ///< the part in which it has a share
  carom_interval first_interval;  ///< of `first`
  carom_interval total_interval;  ///< of `total`
} carom_sobol_index;

/// Indices of `axes` (at most CAROM_MOST_SOBOL_AXES), into indices (axes), by the estimators of Jansen (1999) on
/// Saltelli's design (CAROM_DESIGN_SOBOL): outputs are (points x (axes + 2)), as that design orders them. Points with
/// an output that is not finite are left out; *used is how many were not. NaN where the variance is zero. Allocates for
/// the time of the call.
CAROM_API carom_status carom_sobol(const double *outputs, int64_t points, int axes, uint64_t seed,
                                   carom_sobol_index *indices, int64_t *used);

// ---- sweeps ---------------------------------------------------------------------------------------------------------

/// From what the plans of a sweep begin.
typedef enum carom_sweep_warm {
  CAROM_WARM_NONE,       ///< each from its own first guess
  CAROM_WARM_NEIGHBOUR,  ///< from the answer of the nearest case that is solved; from the guess where that fails
  CAROM_WARM_BEST,       ///< from both, and the better plan is kept
} carom_sweep_warm;

/// A problem file, read and checked. Classes end with two that are always there: "other", for runs in which no class
/// holds, and "failed", for runs that did not come to their end. Sweeps of plans have two more before these,
/// "infeasible" and "limit" (of iterations); without classes of their own, they have the class "solved".
typedef struct carom_sweep {
  char *path;               ///< as given
  char *title;              ///< never null
  carom_axis *axes;         ///< (sampling.axis_count)
  carom_sampling sampling;  ///< what the problem asks for
  char **outcomes;          ///< (outcome_count) names
  int outcome_count;        ///< how many
  char **classes;           ///< (class_count) names
  int class_count;          ///< with other and failed
  int success;              ///< the class that rates, borders and indices speak of
  char **columns;           ///< (column_count) names of the numbers of a case
  char **units;             ///< (column_count) their units; "" for a plain number
  int column_count;         ///< axes, outcomes, and what every run tells: see carom_case.values
  uint64_t digest;          ///< of the problem and of all files of its scene: who resumes asks whether it is the same
  char *plan;               ///< path of the planning problem, where cases are plans; null: they are runs of the scene
  carom_sweep_warm warm;    ///< of plans
  char *results;            ///< folder for the result files of all cases; null: none
  carom_scene *scene;       ///< that the problem names, with its fixed overrides but without those of axes
  struct carom_program *program;  ///< the formulas; the library's own
  carom_allocator allocator;      ///< of all this
} carom_sweep;

/// Reads a problem and the scene it names. All mistakes of both are collected in *diagnostics, which the caller
/// releases; with at least one error the status is CAROM_ERR_SCENE and *sweep is null. Overrides apply to the problem
/// ("axes.0.count=5"). Null options mean defaults.
CAROM_API carom_status carom_sweep_read(const char *path, const carom_scene_options *options,
                                        const carom_allocator *allocator, carom_sweep **sweep,
                                        carom_diagnostics *diagnostics);
CAROM_API void carom_sweep_destroy(carom_sweep *sweep);  ///< with its scene; null is fine
/// Replaces the design of the problem by another one over the same axes. CAROM_ERR_ARGUMENT for too many axes (sobol),
/// or cases; then nothing is changed.
CAROM_API carom_status carom_sweep_redesign(carom_sweep *sweep, carom_design design, int64_t points,
                                            carom_error *error);

/// What came of one case.
typedef struct carom_case {
  int64_t number;    ///< from 0
  int class_index;   ///< into the classes of the sweep; -1: not run yet
  double *values;    ///< (column_count) inputs, outcomes, then time (s), steps, collisions, energy_error, passed (1 or
                     ///< 0), of plans time (s), nodes, iterations, violation, passed; the caller's. Not a number where
                     ///< a run that failed has none
  char reason[400];  ///< why it failed; else empty
} carom_case;

/// The overrides "path=value" that make the scene of a case out of that of the problem, in one block to be released by
/// carom_overrides_release.
typedef struct carom_overrides {
  char **items;               ///< (count)
  int count;                  ///< fixed ones first
  carom_allocator allocator;  ///< of all this
} carom_overrides;
/// Fills *overrides for inputs (axis_count) of case `number`.
CAROM_API carom_status carom_sweep_overrides(const carom_sweep *sweep, int64_t number, const double *inputs,
                                             const carom_allocator *allocator, carom_overrides *overrides);
CAROM_API void carom_overrides_release(carom_overrides *overrides);  ///< frees and zeroes; null is fine

/// Cases that begin from answers of others are run in waves: those of a wave know of earlier waves only, so that it
/// does not matter who runs them. A grid is run from its middle outwards, other designs in the order of the cases, each
/// wave as many as all before. The wave of a case of the sweep's design.
CAROM_API int carom_sweep_wave(const carom_sweep *sweep, int64_t number);

/// How a case is run. All zero is the default.
typedef struct carom_case_options {
  const char *result;             ///< result file to write; null: none
  carom_recorder_options record;  ///< of that file
  const char *warm;  ///< of a plan: result file of another case, from whose answer it begins as well; null: none
  bool (*stop)(void *context);  ///< asked after every step; true ends the case with CAROM_INTERRUPTED; may be null
  void *context;                ///< the caller's own
} carom_case_options;

/// Runs a case: values[0 .. axis_count) are its inputs, everything else is filled. A scene that is refused, a step that
/// fails, or a plan that is not solved makes a case of the class "failed", and CAROM_OK. Other statuses are
/// CAROM_ERR_MEMORY, CAROM_INTERRUPTED, and those of the recorder. Null options mean defaults.
CAROM_API carom_status carom_sweep_run(const carom_sweep *sweep, const carom_case_options *options, carom_case *c,
                                       carom_error *error);
/// Makes a case one that failed for this reason.
CAROM_API void carom_case_fail(const carom_sweep *sweep, const char *reason, carom_case *c);

// ---- tables ---------------------------------------------------------------------------------------------------------

/// All cases of a sweep.
typedef struct carom_cases {
  int64_t count;              ///< rows
  int column_count;           ///< as in the sweep
  int *classes;               ///< (count) -1: not run
  double *values;             ///< (count x column_count), row after row
  char **reasons;             ///< (count) null: none
  carom_allocator allocator;  ///< of all this
} carom_cases;

/// A table with room for `count` cases, none of which was run. Their inputs are filled in by carom_sampling_inputs
/// where `count` is that of the sweep's design; else they are zero.
CAROM_API carom_status carom_cases_create(const carom_sweep *sweep, int64_t count, const carom_allocator *allocator,
                                          carom_cases **cases, carom_error *error);
CAROM_API void carom_cases_destroy(carom_cases *cases);  ///< null is fine
/// Keeps a case by its number. CAROM_ERR_MEMORY.
CAROM_API carom_status carom_cases_put(carom_cases *cases, const carom_case *c, carom_error *error);
/// A copy of a row; its values point into the table.
CAROM_API carom_case carom_cases_get(const carom_cases *cases, int64_t number);
/// Writes a table of comma-separated values: case, axes, class, outcomes, the rest, reason. Whole or not at all.
CAROM_API carom_status carom_cases_write_csv(const carom_cases *cases, const carom_sweep *sweep, const char *path,
                                             carom_error *error);
/// Writes an HDF5 file with a dataset for each column, units and descriptions beside them. Whole or not at all.
CAROM_API carom_status carom_cases_write(const carom_cases *cases, const carom_sweep *sweep, const char *path,
                                         carom_error *error);
/// Reads such a file. CAROM_ERR_FORMAT when it is none, CAROM_ERR_ARGUMENT when it is of another problem.
CAROM_API carom_status carom_cases_read(const carom_sweep *sweep, const char *path, const carom_allocator *allocator,
                                        carom_cases **cases, carom_error *error);

// ---- what tables tell -----------------------------------------------------------------------------------------------

/// One point of a curve over an axis: all cases whose input lies in a bin.
typedef struct carom_curve_point {
  double at;                 ///< value of the axis: that of a grid's point, else the middle of the bin
  int64_t trials, hits;      ///< cases that were run; those of the class
  carom_interval interval;   ///< of the rate hits/trials (95 percent, Wilson)
  double low, median, high;  ///< 10, 50 and 90 percent quantiles of a column; NaN of none
} carom_curve_point;

enum { CAROM_CURVE_BINS = 20 };  ///< of axes that are not gridded
/// How many points the curves of an axis have: its count on a grid, or of values; else CAROM_CURVE_BINS.
CAROM_API int carom_curve_size(const carom_sweep *sweep, int axis);
/// The curve of a class and of a column (-1: none) over an axis, into points (carom_curve_size). Allocates for the time
/// of the call.
CAROM_API carom_status carom_cases_curve(const carom_cases *cases, const carom_sweep *sweep, int axis, int class_index,
                                         int column, carom_curve_point *points);
/// The case from whose answer a plan begins: of those that are solved the nearest, in parts of the axes (on logarithmic
/// ones of their logarithms), the earlier of two that are as near; -1: there is none. Looks at cases of earlier waves,
/// or (before >= 0) at all before that number.
CAROM_API int64_t carom_cases_neighbour(const carom_cases *cases, const carom_sweep *sweep, int64_t number,
                                        int64_t before);
/// How many cases are of each class, into counts (class_count); returns how many were run.
CAROM_API int64_t carom_cases_count(const carom_cases *cases, const carom_sweep *sweep, int64_t *counts);
/// Derivatives of a column (the success indicator for column -1) along every axis, by central differences over a star:
/// into slopes (axis_count), per unit of the axis. NaN where a case is missing or failed.
CAROM_API void carom_cases_slopes(const carom_cases *cases, const carom_sweep *sweep, int column, double *slopes);
/// Sobol indices of a column (the success indicator for column -1) from a table of CAROM_DESIGN_SOBOL: see carom_sobol.
CAROM_API carom_status carom_cases_sobol(const carom_cases *cases, const carom_sweep *sweep, int column,
                                         carom_sobol_index *indices, int64_t *used);

// ---- borders --------------------------------------------------------------------------------------------------------

/// The search for the places along one axis where cases begin or cease to be of the class success, by bisection, for
/// every combination of the other axes' grid points. It asks for rounds of cases, which may be run in any order:
///
///     carom_border_create(sweep, axis, tolerance, NULL, &border, &error);
///     while (carom_border_next(border) > 0)            // so many cases, from first() on, in cases() of the border
///       ... run and carom_cases_put all of the round ...
typedef struct carom_border carom_border;
/// A border that was found: between two cases next to each other.
typedef struct carom_border_crossing {
  int64_t line;          ///< which combination of the other axes
  int64_t below, above;  ///< the cases on both sides
  double low, high;      ///< values of the axis there
  bool enters;           ///< success is on the upper side
} carom_border_crossing;

/// Begins. `tolerance` is the length of the last brackets, in parts of the axis. CAROM_ERR_ARGUMENT for an axis that is
/// given by values, or too many cases.
CAROM_API carom_status carom_border_create(const carom_sweep *sweep, int axis, double tolerance,
                                           const carom_allocator *allocator, carom_border **border, carom_error *error);
CAROM_API void carom_border_destroy(carom_border *border);  ///< with its table; null is fine
/// The next round: how many cases, from carom_border_first on; 0 when all brackets are short enough, -1 when out of
/// memory. All cases of the round before must have been run.
CAROM_API int64_t carom_border_next(carom_border *border);
CAROM_API int64_t carom_border_first(const carom_border *border);       ///< the number of the first case of the round
CAROM_API carom_cases *carom_border_cases(const carom_border *border);  ///< the table; may move with every round
CAROM_API int carom_border_count(const carom_border *border);           ///< crossings
CAROM_API const carom_border_crossing *carom_border_at(const carom_border *border, int index);  ///< null past the last

// ---- processes on several machines ----------------------------------------------------------------------------------
// Messages between the ranks of a program that mpirun started, through the plug-in libcarom_mpi.so; without it, one
// process is alone. All may fail with CAROM_ERR_UNSUPPORTED (no plug-in) or CAROM_ERR_IO.

/// Starts MPI if need be, and tells which rank this is and how many there are.
CAROM_API carom_status carom_ranks_begin(int *rank, int *count, carom_error *error);
/// Sends a message to a rank.
CAROM_API carom_status carom_ranks_send(int to, const void *message, size_t size, carom_error *error);
/// Receives a message of at most `room` bytes from any rank: *from and *size. With `wait` it waits for one; else *from
/// is -1 when there is none.
CAROM_API carom_status carom_ranks_receive(bool wait, void *message, size_t room, int *from, size_t *size,
                                           carom_error *error);
/// Ends MPI, when all ranks do.
CAROM_API void carom_ranks_end(void);

#ifdef __cplusplus
}
#endif
#endif

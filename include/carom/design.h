/// carom/design.h: design of dynamics: values of a scene or a plan that make what comes of it best. A problem file
/// names them and what is to be best; every design is a case, run or planned as those of a sweep; a search
/// (carom/surrogate.h) says which comes next. docs/design.md has the format of problem files.
#ifndef CAROM_DESIGN_H
#define CAROM_DESIGN_H

#include "carom/surrogate.h"
#include "carom/sweep.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A problem file, read and checked.
typedef struct carom_design_problem {
  carom_sweep *sweep;         ///< variables are its axes; cases of its class `success` count, all others have failed
  carom_search_def search;    ///< how designs are chosen; its arrays belong to the problem
  int objective;              ///< column of the cases that is to be least
  bool maximize;              ///< greatest instead
  char *formula;              ///< of the objective, as written
  int batch;                  ///< designs a round
  int revisits;               ///< designs that are planned again from a better one, each time there is one
  double *numbers;            ///< what the arrays of `search` are in
  bool *flags;                ///< likewise
  carom_allocator allocator;  ///< of all this
} carom_design_problem;

/// Reads a problem and the scene or plan it names. All mistakes are collected in *diagnostics, which the caller
/// releases; with at least one error the status is CAROM_ERR_SCENE and *problem is null. Overrides apply to the problem
/// ("budget=20"). Null options mean defaults.
CAROM_API carom_status carom_design_read(const char *path, const carom_scene_options *options,
                                         const carom_allocator *allocator, carom_design_problem **problem,
                                         carom_diagnostics *diagnostics);
CAROM_API void carom_design_problem_destroy(carom_design_problem *problem);  ///< with its sweep; null is fine

/// A design at work. It asks for rounds of cases, which may be run in any order:
///
///     carom_design_work_create(problem, NULL, &work, &error);
///     while (carom_design_next(work) > 0)        // so many cases, from first() on, in cases() of the work
///       ... carom_sweep_run and carom_cases_put all of the round ...
///
/// Which cases it asks for is a function of the problem and of what came of those before.
typedef struct carom_design_work carom_design_work;

/// Begins. CAROM_ERR_ARGUMENT as carom_search_create.
CAROM_API carom_status carom_design_work_create(const carom_design_problem *problem, const carom_allocator *allocator,
                                                carom_design_work **work, carom_error *error);
CAROM_API void carom_design_work_destroy(carom_design_work *work);  ///< with its table; null is fine
/// Takes in the round before and makes the next: how many cases, from carom_design_first on; 0 at the end, -1 when out
/// of memory.
CAROM_API int64_t carom_design_next(carom_design_work *work);
CAROM_API int64_t carom_design_first(const carom_design_work *work);       ///< number of the first case of the round
CAROM_API carom_cases *carom_design_cases(const carom_design_work *work);  ///< all cases so far; belongs to the work
/// The case from whose answer a case should begin, if that can be: the nearest good one of earlier rounds, or, where a
/// design is planned again, the better one; -1: none.
CAROM_API int64_t carom_design_warm_case(const carom_design_work *work, int64_t number);
/// Whether a case is a design of before, planned again.
CAROM_API bool carom_design_is_revisit(const carom_design_work *work, int64_t number);
/// The value of a case as the problem means it; not a number where it failed or was not run.
CAROM_API double carom_design_value(const carom_design_work *work, int64_t number);
/// The best case so far; -1: none.
CAROM_API int64_t carom_design_best(const carom_design_work *work);
/// The search behind it, for its surrogate and why it ended; values there are negative where the problem maximizes.
CAROM_API carom_search *carom_design_search(const carom_design_work *work);

#ifdef __cplusplus
}
#endif
#endif

// The least value of a function of few variables between bounds, from values alone: Nelder and Mead's simplex (1965),
// and the one door to NLopt. For functions with kinks, such as largest residuals, where slopes say little.
//
// A simplex may shrink onto a point that is no minimum, so each search begins again from its best point with a new
// simplex until that gains nothing, and there are searches from random points besides the one from x. Knows no physics.
#ifndef CAROM_SRC_SOLVE_SIMPLEX_SEARCH_H
#define CAROM_SRC_SOLVE_SIMPLEX_SEARCH_H

#include "carom/base.h"

enum { CAROM_SIMPLEX_MOST = 32 };  // variables

// The value at x, which is within the bounds; what is not finite is a point where there is none.
typedef double carom_simplex_function(void *context, const double *x);

typedef struct carom_simplex {
  int n;
  const double *low, *high;  // (n) finite, low < high
  carom_simplex_function *value;
  void *context;
  double size;       // of the first simplex, over the ranges; default 0.1
  double tolerance;  // of x, over the ranges; default 1e-8
  int starts;        // from random points, besides the one from x; default 0
  int restarts;      // most of them for one start; default 20
  int budget;        // evaluations in all; default 2000
  uint64_t seed;     // of the random points; default 1
} carom_simplex;

typedef struct carom_simplex_info {
  double value;     // at x; infinite: there was none anywhere
  int evaluations;  // how many values were asked for
  int failures;     // how many of them were not finite
  int best_start;   // 0: the one from x
  bool within;      // the budget: no search was cut short
} carom_simplex_info;

bool carom_simplex_available(void);
carom_simplex carom_simplex_default(void);
// From x (n), brought within the bounds, to the best point found in x. The same answer for the same definition,
// whatever the machine's load. CAROM_ERR_UNSUPPORTED in a build without NLopt; CAROM_ERR_ARGUMENT names what is out of
// range.
carom_status carom_simplex_minimise(const carom_simplex *search, double *x, carom_simplex_info *info,
                                    carom_error *error);

#endif

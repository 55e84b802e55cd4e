// A local minimum of a smooth function of few variables between bounds.
#ifndef CAROM_SRC_SOLVE_BOX_MINIMUM_H
#define CAROM_SRC_SOLVE_BOX_MINIMUM_H

#include "carom/base.h"

enum { CAROM_BOX_MOST = 32 };  // variables

// The value at x, with its slopes (n). Values that are not finite are steps too far.
typedef double carom_box_function(void *context, const double *x, double *slopes);

typedef struct carom_box {
  int n;
  const double *low, *high;  // (n)
  carom_box_function *value;
  void *context;
  int max_iterations;
  double tolerance;  // on the projected slopes
} carom_box;

// From x (within the bounds) on; returns the least value, at the x that it leaves. Never allocates.
double carom_box_minimum(const carom_box *box, double *x);

#endif

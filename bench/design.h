// Searches for the least value of functions that cost much: what counts is how often they are evaluated.
#ifndef CAROM_BENCH_DESIGN_H
#define CAROM_BENCH_DESIGN_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { DESIGN_LEVELS = 2, DESIGN_BUDGET = 400 };  // accuracies 1e-3 and 1e-5 of the function's range; evaluations

// A function that counts.
typedef struct design_counter {
  const void *function;
  int dimension;
  const double *low, *high;  // (dimension)
  double least, most;        // the truth
  double best;               // so far
  int evaluations;
  int reached[DESIGN_LEVELS];  // evaluations that it took; 0: not yet
} design_counter;

double design_evaluate(design_counter *counter, const double *x);
// Whether there is nothing left to find out, or the budget is spent.
bool design_is_done(const design_counter *counter);

void design_by_nlopt(design_counter *counter);  // DIRECT-L
void design_by_dlib(design_counter *counter);   // find_min_global

#ifdef __cplusplus
}
#endif
#endif

// A dense peer for the sparse programs of plans. Looks at the library's insides.
#ifndef CAROM_BENCH_PLAN_DENSE_H
#define CAROM_BENCH_PLAN_DENSE_H

#include "control/plan.h"

typedef struct bench_dense {
  double seconds, cost, violation;  // a solver that gives up early may be cheap and wrong
  int evaluations;
} bench_dense;

// The program as the planner handed it to its solver, with the pairs of parts that came near on the way.
bool bench_prepare_plan(carom_plan *plan, carom_guess_kind kind);
bench_dense bench_solve_dense(carom_program *program, double seconds);

#endif

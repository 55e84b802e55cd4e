// What the benchmark of navigation and its peer share: a scene of discs, gone through to the end.
#ifndef CAROM_BENCH_NAVIGATION_H
#define CAROM_BENCH_NAVIGATION_H

#include "carom/navigate.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct navigation_result {
  bool done;         // all at their goals at once
  double least_gap;  // of all cages at the ends of all steps, m
  double length;     // of all ways, m
  double time;       // s, of the way
  double seconds;    // of the processor, for the steps alone
  long agent_steps;
} navigation_result;

// RVO2 (van den Berg, Guy, Lin, Manocha 2011): preferred velocities straight to the goals, with a tiny disturbance that
// its manual asks for where all is symmetric.
navigation_result navigation_rvo2(const carom_navigate_def *def);

#ifdef __cplusplus
}
#endif
#endif

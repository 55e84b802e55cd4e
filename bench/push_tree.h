// One push from one pose, for trees of pushes of other libraries.
#ifndef CAROM_BENCH_PUSH_TREE_H
#define CAROM_BENCH_PUSH_TREE_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { PUSH_TREE_CONTROLS = 4 };  // each in [0, 1]: place on the outline, heading, way, how far two probes are apart

typedef struct push_tree_problem {
  void *context;
  // Where the part is after a push from a pose; false: the probes find no place, or it jams.
  bool (*push)(void *context, const double pose[3], const double control[PUSH_TREE_CONTROLS], double end[3]);
  double start[3], goal[3];  // m, m, rad
  double distance, turn;     // of the goal
  double low[2], high[2];    // m
  double turn_length;        // m
  double seconds;            // to try for
} push_tree_problem;

typedef struct push_tree_answer {
  bool found;
  double seconds, nearest;  // m
  int pushes;               // simulated
  int length;               // of the plan, in pushes
} push_tree_answer;

#ifdef BENCH_OMPL
push_tree_answer push_tree_by_ompl(const push_tree_problem *problem, unsigned seed);
#endif

#ifdef __cplusplus
}
#endif
#endif

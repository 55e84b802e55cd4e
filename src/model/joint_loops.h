// A dense system of the loops' equations, K x = r, that may have redundant but consistent rows: LU with complete
// pivoting, cut off where the pivots vanish.
#ifndef CAROM_SRC_MODEL_JOINT_LOOPS_H
#define CAROM_SRC_MODEL_JOINT_LOOPS_H

#include "carom/model.h"

typedef struct carom_joint_loops {
  int n, rank;
  double *K;          // (n x n) column-major; LU after factor
  double *scale;      // (n) what a row's pivot would be without the tree; its square root after factor
  double *x;          // (n) right-hand side, then solution
  double *work;       // (n)
  int *row, *column;  // (n) permutations
  carom_allocator allocator;
} carom_joint_loops;

bool carom_joint_loops_create(carom_joint_loops *loops, int most, const carom_allocator *allocator);
void carom_joint_loops_destroy(carom_joint_loops *loops);
void carom_joint_loops_begin(carom_joint_loops *loops, int n);
void carom_joint_loops_factor(carom_joint_loops *loops);
void carom_joint_loops_solve(carom_joint_loops *loops);

#endif

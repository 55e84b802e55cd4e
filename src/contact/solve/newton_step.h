// The linear system of a Newton step.
#ifndef CAROM_SRC_CONTACT_SOLVE_NEWTON_STEP_H
#define CAROM_SRC_CONTACT_SOLVE_NEWTON_STEP_H

#include "base/arena.h"
#include "carom/vec.h"
#include "contact/solve/newton.h"

// By sparse blocks: the system over those whose law is not open.
typedef struct carom_newton_blocks carom_newton_blocks;

struct carom_newton {
  carom_newton_blocks *sparse;  // null: W is full, or the system is by body
  double *K, *panel;            // the system of a step, then its inverse or factors: by row, or by body
  double *P0, *P, *u;           // (rows) centre of the round, the iterate and its velocities
  double *F, *trial, *v;        // (rows) P - law, another iterate and its velocities
  double *rhs, *x, *best;       // (rows) x: the step
  carom_mat3 *D;                // (blocks; room for rows) derivatives of the laws
  double *eps, *own;            // (blocks; room for rows) eps and r of the round
  carom_mat3 *C, *Y;            // (blocks; room for rows) by body only
  int *active, *swaps;          // rows whose law is not open; of the factorisation
  int k;                        // order of the system
};

// What every kind of step needs.
carom_newton *carom_newton_push_vectors(int rows, carom_arena *arena);

// Builds and factors the system for D, eps and r; false when it is singular.
bool carom_newton_factor(carom_newton *newton, const carom_assembled *a);
// The step from F into x (rows). Uses trial, v and rhs.
void carom_newton_find_step(carom_newton *newton, const carom_assembled *a);

// ---- newton_blocks.c: steps by sparse blocks
bool carom_newton_factor_blocks(carom_newton *newton, const carom_assembled *a);
void carom_newton_find_step_by_blocks(carom_newton *newton, const carom_assembled *a);

#endif

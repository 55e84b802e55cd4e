// The frictionless plastic problem  0 <= P,  A P + b >= 0,  P'(A P + b) = 0  for a positive semidefinite A: the least
// kinetic energy with no contact approaching.
#ifndef CAROM_SRC_CONTACT_SOLVE_NORMAL_H
#define CAROM_SRC_CONTACT_SOLVE_NORMAL_H

#include "base/arena.h"

// Scratch for up to n contacts.
typedef struct carom_normal_work {
  double *L;         // (n x n) factor of the free part
  double *x, *w;     // (n)
  double *previous;  // (n) centre of the proximal term
  double *rhs;       // (n)
  int *free_set;     // (n) contacts that carry an impulse
  bool *is_free;     // (n)
} carom_normal_work;

void carom_normal_work_push(carom_normal_work *work, int n, carom_arena *arena);

// A (n x n). Among the solutions, close to the one of least norm, so that symmetric contacts get equal impulses. False
// when the limit of iterations was reached; P is then the best so far.
bool carom_normal_solve(carom_normal_work *work, int n, const double *A, const double *b, double *P);

#endif

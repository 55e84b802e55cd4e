// Plastic contacts with Coulomb friction: for every contact, with v = b + W P,
//
//     0 <= P_n,  v_n >= 0,  P_n v_n = 0,     |P_t| <= mu P_n,  and P_t takes as much energy out of v_t as the disc
//     allows.
#ifndef CAROM_SRC_CONTACT_SOLVE_PLASTIC_H
#define CAROM_SRC_CONTACT_SOLVE_PLASTIC_H

#include "contact/solve/newton.h"

typedef struct carom_plastic_info {
  bool converged;
  int sweeps;     // linear systems solved
  double change;  // residual, over the largest of b
} carom_plastic_info;

// Scratch for up to n contacts.
typedef struct carom_plastic_work {
  carom_block *blocks;  // (n)
  double *u;            // (3n)
  carom_newton *newton;
} carom_plastic_work;

void carom_plastic_work_push(carom_plastic_work *work, int n, carom_arena *arena);

// W (3n x 3n), b (3n), mu (n). Velocities within `noise` (m/s) of each other are equal: where b was measured, redundant
// contacts contradict each other by as much.
typedef struct carom_plastic_problem {
  int n;
  const double *W, *b, *mu;
  double noise;
} carom_plastic_problem;

// P (3n) is the first guess and the answer; v (3n) is b + W P at the end.
carom_plastic_info carom_plastic_solve(carom_plastic_work *work, const carom_plastic_problem *problem, double *P,
                                       double *v);

// Without friction: 0 <= P, A P + b >= 0, P'(A P + b) = 0 for the normals alone, A (n x n) positive semidefinite: the
// least kinetic energy with no contact approaching. Among the solutions one near to that of least norm, so that
// symmetric contacts get equal impulses. False when none was found; P is then the best so far.
bool carom_normal_solve(carom_plastic_work *work, int n, const double *A, const double *b, double *P);

// One contact alone: A is its block of W (leading dimension lda), b the velocity without its impulse. False when no
// normal impulse, however large, ends the approach (Painleve's paradox); P is then 0.
bool carom_plastic_contact(const double *A, int lda, const double b[3], double mu, double P[3]);

#endif

// What the laws share: the normal part of the problem, and room to work in.
#ifndef CAROM_SRC_IMPACT_WORK_H
#define CAROM_SRC_IMPACT_WORK_H

#include "carom/impact.h"
#include "contact/solve/plastic.h"

struct carom_impact_work {
  carom_arena arena;
  int capacity;
  carom_plastic_work friction;
  double *N;                       // (n x n) W between the normals
  double *u;                       // (n) normal velocities before
  double *plastic;                 // (n) impulses that end the approach and no more
  double *law;                     // (n) impulses of the law, friction aside
  double *extra;                   // (n) restitution: what the law adds to the plastic impulses
  double *now;                     // (n) normal velocities in the course of a law
  double *sub_N, *sub_b, *sub_P;   // (n x n), (n), (n) of the approaching contacts only
  double *even_N, *even_b, *unit;  // (n x n), (n), (n) the normal problem with a diagonal of about one, and its units
  int *list;                       // (n) their numbers
  double *P, *v;                   // (3n) impulses and velocities with friction
  double *base;                    // (3n) plastic impulses with friction
  double *full;                    // (3n) those of the law with friction
  double *b;                       // (3n)
};

// Plastic impulses of the normals with the matrix N, as carom_normal_solve. Contacts count alike, however unlike the
// masses behind them are.
bool carom_impact_compress(carom_impact_work *work, int n, const double *N, const double *b, double *P);

// v (n) += A x for the n x n matrix A.
void carom_impact_add_product(int n, const double *A, const double *x, double *v);

// The normal laws: fill work->law from work->N, u and the restitutions. They return false at a limit.
bool carom_impact_reflect(carom_impact_work *work, int n, bool all, int *iterations);         // Smith et al. 2012
bool carom_impact_sum(carom_impact_work *work, int n, const double *e, int *iterations);      // Johnson 2012
bool carom_impact_newton(carom_impact_work *work, int n, const double *e, int *iterations);   // Moreau 1988
bool carom_impact_poisson(carom_impact_work *work, int n, const double *e, int *iterations);  // Glocker 1995

#endif

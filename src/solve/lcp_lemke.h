// Lemke's method on the scaled problem.
#ifndef CAROM_SRC_SOLVE_LCP_LEMKE_H
#define CAROM_SRC_SOLVE_LCP_LEMKE_H

#include "solve/lcp_basis.h"
#include "solve/lcp_tableau.h"

typedef struct carom_lcp_lemke {
  carom_lcp_matrix matrix;
  carom_lcp_basis basis;
  carom_lcp_tableau tableau;  // for small problems
  double *q;                  // (n) scaled so that the largest entry is 1
  double size;                // z = size * S z_scaled
  double *p;                  // (n) the generic vector that breaks ties
  double *xw, *xc;            // B^-1 q: (n) basic w, (k) basic z and z0
  double *pw, *pc;            // B^-1 p
  double *dw, *dc;            // direction of the entering variable
  double *z, *w;              // (n) scratch of the final solve
} carom_lcp_lemke;

// How to run it.
typedef struct carom_lcp_lemke_run {
  const unsigned char *start;  // basis to begin with, or null
  const double *covering;      // (n) positive, or null for ones (scaled); not used when `start` is good
  unsigned seed;               // of the tie-breaking vector and, when not 0, of a covering vector
  int max_pivots;
  double deadline;   // on carom_clock
  double tolerance;  // on the residual of the problem as given
  // Results.
  carom_lcp_outcome outcome;
  int pivots;
  double residual;
} carom_lcp_lemke_run;

carom_status carom_lcp_lemke_create(carom_lcp_lemke *lemke, int n_max, const carom_allocator *allocator);
void carom_lcp_lemke_destroy(carom_lcp_lemke *lemke, const carom_allocator *allocator);

// Copies and scales the problem; once, before any number of runs.
void carom_lcp_lemke_load(carom_lcp_lemke *lemke, const carom_lcp_problem *problem);
// Fills z (n) and basis (n), whatever the outcome.
void carom_lcp_lemke_solve(carom_lcp_lemke *lemke, const carom_lcp_problem *problem, carom_lcp_lemke_run *run,
                           double *z, unsigned char *basis);

#endif

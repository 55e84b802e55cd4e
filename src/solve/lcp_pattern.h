// One complementary cone, degenerate or not: is there x >= 0 with C(alpha) x = q, where column i of C(alpha) is -M(:,
// i) if i is in alpha and the i-th unit vector if not? Where C(alpha) is no basis that is a linear program, solved here
// by the simplex method on a full tableau, with a proof either way.
#ifndef CAROM_SRC_SOLVE_LCP_PATTERN_H
#define CAROM_SRC_SOLVE_LCP_PATTERN_H

#include "solve/lcp_matrix.h"

typedef enum carom_lcp_pattern {
  CAROM_LCP_PATTERN_FOUND,      // x >= 0, as well as digits allow: the caller looks at its residual
  CAROM_LCP_PATTERN_EMPTY,      // proven by a y with y'C(alpha) <= 0 and y'q > 0
  CAROM_LCP_PATTERN_UNDECIDED,  // neither can be told within round-off
} carom_lcp_pattern;

// For a dense matrix of up to CAROM_LCP_ENUMERATE_MAX rows, entries of M and q of order one. Fills x (n: z_i where
// alpha[i], else w_i) when found.
carom_lcp_pattern carom_lcp_pattern_solve(const carom_lcp_matrix *matrix, const double *q, const unsigned char *alpha,
                                          double *x);

#endif

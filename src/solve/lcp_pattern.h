// One complementary cone, degenerate or not: is there x >= 0 with C(alpha) x = q, where column i of C(alpha) is -M(:,
// i) if i is in alpha and the i-th unit vector if not? Where C(alpha) is no basis that is a linear program, solved here
// by the simplex method on a full tableau, with a proof either way.
#ifndef CAROM_SRC_SOLVE_LCP_PATTERN_H
#define CAROM_SRC_SOLVE_LCP_PATTERN_H

#include "carom/lcp.h"

typedef enum carom_lcp_pattern_answer {
  CAROM_LCP_PATTERN_FOUND,      // x >= 0, as well as digits allow: the caller looks at its residual
  CAROM_LCP_PATTERN_EMPTY,      // proven by a y with y'C <= 0 and y'b > 0
  CAROM_LCP_PATTERN_UNDECIDED,  // neither can be told within round-off
} carom_lcp_pattern_answer;

// Of up to CAROM_LCP_ENUMERATE_MAX pairs, with entries of M and q of order one.
typedef struct carom_lcp_pattern {
  int n;
  const double *M, *q;         // n x n, column-major; n
  const unsigned char *alpha;  // (n) 1 where z_i, 0 where w_i may be positive
  bool falls;                  // asked instead: C(alpha) x = 0 with q'z = -1, a ray along which q'z falls
} carom_lcp_pattern;

// Fills x (n: z_i where alpha[i], else w_i) when found.
carom_lcp_pattern_answer carom_lcp_pattern_solve(const carom_lcp_pattern *pattern, double *x);

#endif

// Problems as they come from the caller.
#ifndef CAROM_SRC_SOLVE_LCP_PROBLEM_H
#define CAROM_SRC_SOLVE_LCP_PROBLEM_H

#include "carom/lcp.h"

// Sizes, structure, and that every number is finite.
carom_status carom_lcp_check(const carom_lcp_problem *problem, carom_error *error);
size_t carom_lcp_blocks_entries(const carom_lcp_blocks *blocks);
// |min(z, w)|_inf; infinity when that is not a number.
double carom_lcp_min_norm(int n, const double *z, const double *w);
// The largest over the rows i of the sum of |M_ij z_j|; `sum` (n) is scratch.
double carom_lcp_largest_terms(const carom_lcp_problem *problem, const double *z, double *sum);

#endif

// The complementarity form of the assembled problem, for friction within polygons (Gavrea 2006, 2.1.8): for every
// contact
//
//     0 <= c_n    _|_   u_n                        >= 0
//     0 <= beta   _|_   D'u_t + lambda e           >= 0        D: the corners of the polygon
//     0 <= lambda _|_   mu c_n - e' beta           >= 0
//
// solved by Lemke's method from the basis near to the impulses at hand. Without pivots it is the form in which problems
// are written down.
#ifndef CAROM_SRC_CONTACT_SOLVE_PIVOT_H
#define CAROM_SRC_CONTACT_SOLVE_PIVOT_H

#include "carom/lcp.h"
#include "contact/solve/assembled.h"

typedef struct carom_pivot carom_pivot;

carom_status carom_pivot_create(const carom_allocator *allocator, carom_pivot **pivot, carom_error *error);
void carom_pivot_destroy(carom_pivot *pivot);  // null is fine

// The problem as pairs; holds until the next call. Blocks of the disc or free ones have none: CAROM_ERR_UNSUPPORTED.
// Allocates only when there are more pairs than ever before.
carom_status carom_pivot_problem(carom_pivot *pivot, const carom_assembled *a, carom_lcp_problem *problem,
                                 carom_error *error);
// Solves it: from P (rows) to P. `limit` is the most pivots, 0 for the method's own choice. Adds to *pivots.
carom_status carom_pivot_solve(carom_pivot *pivot, const carom_assembled *a, int limit, double *P, int *pivots,
                               carom_error *error);

#endif

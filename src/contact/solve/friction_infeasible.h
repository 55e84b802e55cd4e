// Whether a problem of Coulomb friction has no solution because its contacts cannot all stop approaching.
#ifndef CAROM_SRC_CONTACT_SOLVE_FRICTION_INFEASIBLE_H
#define CAROM_SRC_CONTACT_SOLVE_FRICTION_INFEASIBLE_H

#include "contact/solve/assembled.h"

// By Farkas' lemma there are either impulses, in the cones or not, under which no contact approaches, or normal
// impulses c >= 0 that move nothing, W c = 0, while q approaches along them, q_n . c < 0: then sum of c u_n = q_n . c <
// 0 whatever r is. Fills such a c (count), largest 1, and *proven; in floating point W c is not quite zero, and what is
// proven is that there is no solution with impulses below 1e6 times those that would stop the largest velocity at a
// contact. For W by sparse blocks.
carom_status carom_friction_infeasible(const carom_assembled *problem, const carom_allocator *allocator, double *c,
                                       bool *proven);

#endif

// An interior method for the problem of Coulomb friction: where sweeps and Newton's method are led round in circles by
// contacts that open and close, this goes to a solution through the inside of all cones. In the variables
//
//     x = (mu r_n, r_t),   y = (u_n / mu + |u_t|, u_t),        both in the cone x_0 >= |x_t|,
//
// the problem is u(y) = W r + q and x o y = 0 in the Jordan algebra of that cone, where u(y) = (mu (y_0 - |y_t|), y_t)
// is the form of De Saxce and Feng (1998). Newton's method follows x o y = sigma e to zero, scaled after Nesterov and
// Todd (1997): with Q the scaling for which Q x = y, a step is
//
//     dy = sigma x^-1 - y - Q dx,     (W + S Q dx/dr) dr = S (sigma x^-1 - y) - (W r + q - u(y)),
//
// S = u'(y). The path need not be a straight one, and may turn back, since the problem is not convex. With less of the
// slope of |y_t| in S (none: a step of the convex program that has the slip of the step before, as in Acary, Cadoux,
// Lemarechal and Malick 2011) other ways are taken, some of which lead to the end where the first did not.
#ifndef CAROM_SRC_CONTACT_SOLVE_FRICTION_INTERIOR_H
#define CAROM_SRC_CONTACT_SOLVE_FRICTION_INTERIOR_H

#include "contact/solve/assembled.h"

typedef struct carom_friction_path {
  double slope;   // share of the slope of |y_t| in S, 0 to 1
  double wanted;  // miss of the equations over the largest velocity at which it ends
  int most;       // linear systems
} carom_friction_path;

// From nothing to P (rows), for W by sparse blocks; adds the linear systems solved to *steps. CAROM_ERR_MEMORY alone is
// a failure: how good P is the caller judges.
carom_status carom_friction_interior(const carom_assembled *problem, const carom_friction_path *path,
                                     const carom_allocator *allocator, double *P, int *steps);

#endif

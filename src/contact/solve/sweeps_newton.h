// Newton's method for one group of contacts, where sweeps converge slowly (rings, arches and stacks): the unknowns are
// the velocities V of its bodies,
//
//     M (V - V_free) = J' gamma(u),   u = J V,
//     gamma_n = max(0, g_n - (u_n - target) / r),   gamma_t = g_t - u_t / r, cut back to |gamma_t| <= mu gamma_n,
//
// the augmented Lagrangian of Alart and Curnier (1991) with g the impulses of the round before; when g no longer
// changes, gamma satisfies the contact laws exactly.
#ifndef CAROM_SRC_CONTACT_SOLVE_SWEEPS_NEWTON_H
#define CAROM_SRC_CONTACT_SOLVE_SWEEPS_NEWTON_H

#include "contact/solve/sweeps.h"

enum { CAROM_NEWTON_BODIES = 40 };  // the matrix is dense

typedef struct carom_sweep_newton carom_sweep_newton;

carom_status carom_sweep_newton_create(int body_count, const carom_allocator *allocator, carom_sweep_newton **newton,
                                       carom_error *error);
void carom_sweep_newton_destroy(carom_sweep_newton *newton);  // null is fine

// Movable bodies of the group, at most CAROM_NEWTON_BODIES + 1.
int carom_sweep_newton_bodies(carom_sweep_newton *newton, const carom_sweeps *s, const carom_sweep_group *g);
// Improves the group's impulses and velocities until the residual is at most `enough`, or `acceptable` and no longer
// falling fast; on failure the better of start and end stays. Returns the residual.
double carom_sweep_newton_solve(carom_sweep_newton *newton, carom_sweeps *s, carom_sweep_group *g, double enough,
                                double acceptable);

#endif

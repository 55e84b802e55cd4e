// Another way to say what joints leave free, to check the rows of the joints against: the null space of trees and the
// local reparametrisation that goes with it. The library itself works with multipliers.
#ifndef CAROM_TESTS_NULL_SPACE_H
#define CAROM_TESTS_NULL_SPACE_H

#include "model/joints.h"

// Generalised velocities nu: for a body that hangs on no joint its twist (v, w); for every tree joint the relative
// velocities it leaves free, along the axes of body[0]'s joint frame. (Johnson 2012, 3.2.4 and A.0.2)

// Columns of P: degrees of freedom; -1 when the active joints close a loop or a motor prescribes a coordinate.
int joints_freedoms(carom_joints *joints, const carom_state *state);
// P (6 body_count x freedoms, column-major; rows v, w of body 0, of body 1, ...): twists = P nu, G P = 0.
carom_status joints_null_space(carom_joints *joints, const carom_state *state, double *P, carom_error *error);
// q = F_d(u, q_k): from the state's configuration along u (freedoms), staying on the constraints for any u; dF_d/du at
// u = 0 is P. Writes x and q (body_count).
carom_status joints_retract(carom_joints *joints, const carom_state *state, const double *u, carom_vec3 *x,
                            carom_quat *q, carom_error *error);

#endif

// Contact by a potential: pairs that overlap by -g store C/2 g^2, g being the gap of the supporting separating
// hyperplane (Johnson 2012, 4.4.1 and eq. 3.38; Leyendecker, Johnson and Ortiz 2012, 5.1). The force C |g| grad g
// begins on a small parabola instead of a corner, so that Newton's method sees a slope everywhere:
//
//     f(g) = 0 for g >= w,   C (w - g)^2 / (4 w) for |g| < w,   -C g for g <= -w.
//
// Between polytopes beta runs from centre to centre; above a half-space it is the normal, and g the height.
#ifndef CAROM_SRC_CONTROL_PENALTY_H
#define CAROM_SRC_CONTROL_PENALTY_H

#include "carom/collide.h"
#include "control/program.h"

// Two parts; object of carom_kind_penalty.
typedef struct carom_penalty_pair {
  const carom_shape *shape[2];
  carom_pose offset[2];  // in the principal frames of the bodies
  double stiffness, width;
  carom_ssh_cache cache;
} carom_penalty_pair;

// xa qa xb qb sigma | P of a, P of b: the impulse sigma h f | h
extern const carom_element_kind carom_kind_penalty;

// The force on body a and the torques on a and b about their centres, by the oracle's own gradient; b feels -force.
// False: apart. *gap where the oracle has an answer.
bool carom_penalty_force(const carom_penalty_pair *pair, carom_pose a, carom_pose b, double *gap, carom_vec3 *force,
                         carom_vec3 torque[2]);

#endif

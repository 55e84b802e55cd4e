// The separating plane as a linear program, as posed (Johnson 2012, eq. 2.29), through GLPK: a second road to the same
// optimum for the tests.
#ifndef CAROM_TESTS_GLPK_LP_H
#define CAROM_TESTS_GLPK_LP_H

#include "carom/geometry.h"

typedef struct glpk_lp_answer {
  int status;        // GLP_OPT, GLP_UNBND (beta misses A - B), or GLP_UNDEF when GLPK gave up
  double gap;        // in units of the data
  double size;       // sum of the bodies' radii about their vertex means
  carom_vec3 alpha;  // beta.alpha = 1
  double slack;      // |objective - value of the plane recomputed from the vertices| / size: how far to trust it
} glpk_lp_answer;

// max a1 - a2 with alpha.x - a1 >= 0 on A, alpha.y - a2 <= 0 on B, beta.alpha = 1; beta a unit vector.
glpk_lp_answer glpk_lp_solve(const carom_polytope *a, carom_pose pose_a, const carom_polytope *b, carom_pose pose_b,
                             carom_vec3 beta);

#endif

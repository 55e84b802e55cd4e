// The gap between two sets of points, made smooth. The sets are the corners of two convex parts, at one configuration
// or at both ends of an interval; the gap is what the best plane alpha leaves between them,
//
//     phi = max over |alpha| = 1 of  min_i alpha . p_i  -  max_j alpha . r_j  -  rho,
//
// the signed distance of their hulls less the radii and the margin. It has kinks of two sorts: the least of several
// corners, and the change from plane to plane. Both are rounded off by
//
//     min_i y_i  ->  -eps log sum_i exp(-y_i / eps),
//
// which never exceeds the least, lacks at most eps log(corners), and is as often differentiable as anyone likes. For
// eps -> 0 phi tends to the gap, and its gradient to a subgradient.
#ifndef CAROM_SRC_CONTROL_AVOID_GAP_H
#define CAROM_SRC_CONTROL_AVOID_GAP_H

#include "carom/vec.h"

enum { CAROM_GAP_SETS = 4, CAROM_GAP_VARIABLES = 7 * CAROM_GAP_SETS };

// Points of a body at one configuration.
typedef struct carom_gap_set {
  double sign;               // +1: of the first part, -1: of the second
  const carom_vec3 *points;  // (count) in the principal frame
  int count;
} carom_gap_set;

typedef struct carom_smooth_gap {
  int set_count;
  carom_gap_set sets[CAROM_GAP_SETS];
  carom_vec3 alpha;  // where the last search ended and the next one begins
  double rho;        // radii and margin, m
  double eps;        // m
} carom_smooth_gap;

// z: position and quaternion (not necessarily unit) of each set, 7 set_count. gradient (7 set_count) and hessian
// (square, lower triangle) may be null. False when the search for alpha did not end.
bool carom_smooth_gap_evaluate(carom_smooth_gap *gap, const double *z, double *value, double *gradient,
                               double *hessian);
// The plane (alpha, a) at z, half way between the corners next to it.
void carom_smooth_gap_plane(carom_smooth_gap *gap, const double *z, double plane[4]);

#endif

// The inside of trajectories: knots with velocities and accelerations, arriving and leaving.
#ifndef CAROM_SRC_CONTROL_TRAJECTORY_H
#define CAROM_SRC_CONTROL_TRAJECTORY_H

#include "carom/track.h"

// First and second derivative.
typedef struct carom_trajectory_slope {
  carom_vec3 rate, second;
} carom_trajectory_slope;

typedef struct carom_trajectory_knot {
  double time;
  carom_vec3 x;
  carom_quat q;
  carom_trajectory_slope way[2];   // of x; before and after the knot
  carom_trajectory_slope spin[2];  // angular velocity and acceleration in the axes of q; before and after
  bool jumps;                      // velocities do: before and after have little to do with each other
} carom_trajectory_knot;

// Fills in the accelerations of knots whose velocities are known: those of the parabola through three of them, at ends
// and jumps from those on one side alone.
void carom_trajectory_accelerate(int count, carom_trajectory_knot *knots);

// Two or more knots in ascending order.
carom_status carom_trajectory_through(int count, const carom_trajectory_knot *knots, const carom_allocator *allocator,
                                      carom_trajectory **trajectory, carom_error *error);

// Derivative at the middle of three values of something whose mean slopes before and after are given, over the spans h0
// and h1: that of the parabola through them.
static inline carom_vec3 carom_parabola_slope(carom_vec3 before, carom_vec3 after, double h0, double h1) {
  return cm_scale(1 / (h0 + h1), cm_axpy(cm_scale(h1, before), h0, after));
}

#endif

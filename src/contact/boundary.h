// Where a ball touches a boundary that need not be convex (carom_boundary_def): closed forms.
#ifndef CAROM_SRC_CONTACT_BOUNDARY_H
#define CAROM_SRC_CONTACT_BOUNDARY_H

#include "carom/model.h"
#include "contact/grains.h"

typedef struct carom_touch {
  double gap;         // m, < 0 when overlapping
  carom_vec3 normal;  // from the boundary to the ball, world
  int feature;        // which segment of the profile
} carom_touch;

enum { CAROM_TOUCH_MAX = 8 };

// The frame of a boundary in the world, its body being at x, q.
carom_pose carom_boundary_frame(const carom_boundary *boundary, const carom_vec3 *x, const carom_quat *q);

// Places within reach of a ball where it meets the boundary, one per segment of the profile. The nearest point of a
// surface of revolution lies in the half-plane through the axis and the centre, so that the distance is that of a point
// to a polyline, and rims of outlets are met as they should be. Writes at most CAROM_TOUCH_MAX and returns how many.
int carom_boundary_touch(const carom_model *model, const carom_boundary *boundary, carom_pose frame,
                         const carom_grain *ball, carom_touch *touches);

// From a point to the surface, m: also of one that lies on it, which has no side to be pushed to.
double carom_boundary_distance(const carom_model *model, const carom_boundary *boundary, carom_pose frame,
                               carom_vec3 point);

#endif

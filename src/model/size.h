// How large things are: what tolerances are measured by.
#ifndef CAROM_SRC_MODEL_SIZE_H
#define CAROM_SRC_MODEL_SIZE_H

#include <math.h>

#include "carom/model.h"

// Bounding radius of the smallest body that moves and has a shape, m; 1 when there is none.
double carom_model_smallest(const carom_model *model);
// Mass of the heaviest body that moves, kg; 0 when there is none.
double carom_model_heaviest(const carom_model *model);
// One ball about the centre of mass: turning it changes nothing.
bool carom_body_is_ball(const carom_model *model, const carom_body *body);
// How deep a shape is at least about its middle, m: half its least width. Twice this, and a body could pass through it
// unseen.
double carom_shape_half_depth(const carom_shape *shape);

// Of the ball around it, m; 0 for a half-space, which does not move.
static inline double carom_body_radius(const carom_body *body) {
  return isfinite(body->bounding_radius) ? body->bounding_radius : 0;
}
static inline double carom_largest3(carom_vec3 a) { return fmax(a.x, fmax(a.y, a.z)); }
static inline double carom_least3(carom_vec3 a) { return fmin(a.x, fmin(a.y, a.z)); }

#endif

// Planes that part two bodies under way, for conservative advancement: their direction may turn with time.
#ifndef CAROM_SRC_COLLIDE_GUIDE_H
#define CAROM_SRC_COLLIDE_GUIDE_H

#include "carom/collide.h"

typedef enum carom_turning { CAROM_STILL, CAROM_WITH_A, CAROM_WITH_B, CAROM_WITH_EDGES } carom_turning;

// n turns with a body, or is ea x eb of directions that turn with theirs.
typedef struct carom_guide {
  carom_turning turns;
  carom_vec3 n, ea, eb;  // in the axes of whatever they turn with
  double bend;           // bounds the second derivative K of n . (x - y) for points x of A and y of B
} carom_guide;

static inline carom_vec3 carom_guide_direction(const carom_guide *g, carom_quat a, carom_quat b) {
  if (g->turns == CAROM_WITH_A) return cm_rotate(a, g->n);
  if (g->turns == CAROM_WITH_B) return cm_rotate(b, g->n);
  return g->turns == CAROM_WITH_EDGES ? cm_cross(cm_rotate(a, g->ea), cm_rotate(b, g->eb)) : g->n;
}

// First zero after p of the bound F(p) + (F(q) - F(p)) (t - p)/(q - p) - K/2 (t - p)(q - t) below the clearance, from
// its values at p and at q = p + h; h when there is none.
static inline double carom_safe_length(double fp, double fq, double h, double bend) {
  double slope = (fq - fp) / h - bend * h / 2, discriminant = slope * slope - 2 * bend * fp;
  if (slope >= 0 || discriminant < 0) return h;
  return fmin(h, 2 * fp / (sqrt(discriminant) - slope));
}

#endif

// The facet of a difference D = A - B that lies nearest to an origin inside it.
#ifndef CAROM_SRC_COLLIDE_EPA_H
#define CAROM_SRC_COLLIDE_EPA_H

#include "collide/gjk.h"

typedef struct carom_facet {
  carom_vec3 normal;  // unit, out of D
  double depth;       // normal . d on the facet: distance of the origin from its plane
  double upper;       // certified: no part of D lies further out, so that the depth is at most this
  int count;
  carom_column c[3];  // columns around the foot of the perpendicular, depth x normal
  double w[3];        // their weights there, >= 0, sum 1
} carom_facet;

// Begins from the columns of the simplex, 1 to 4 of them. D must have a volume: not both bodies may be spheres or
// capsules.
void carom_epa(carom_difference *D, const carom_simplex *s, carom_facet *facet);

#endif

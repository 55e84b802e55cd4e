// Volume and moments of a solid while they are summed up.
#ifndef CAROM_SRC_GEOMETRY_INTEGRALS_H
#define CAROM_SRC_GEOMETRY_INTEGRALS_H

#include "carom/geometry.h"

typedef long double carom_real;

// Over r counted from a point amid the solid. Of the second moments only second[i][j] with i <= j is kept.
typedef struct carom_integrals {
  carom_real volume, first[3], second[3][3];
} carom_integrals;

// Adds what a ball of the given radius, rolled over the polytope, covers outside it; r is counted from o.
void carom_integrate_coat(carom_integrals *s, const carom_polytope *polytope, carom_vec3 o, double radius);

#endif

// The facet of a difference D = A - B that lies nearest to an origin inside it.
#ifndef CAROM_SRC_COLLIDE_EPA_H
#define CAROM_SRC_COLLIDE_EPA_H

#include "collide/gjk.h"

typedef struct carom_facet {
  carom_vec3 normal;  // unit, out of D
  double depth;       // normal . d on the facet: distance of the origin from its plane
  double upper;       // certified: no part of D lies further out, so that the depth is at most this
  double lower;       // certified: the depth is at least this
  int count;
  carom_column c[3];  // columns around the foot of the perpendicular, depth x normal
  double w[3];        // their weights there, >= 0, sum 1
} carom_facet;

// Begins from the columns of the simplex, 1 to 4 of them. D must have a volume: not both bodies may be spheres or
// capsules. The polytope that proves the depth is left in the cache, which may be null.
void carom_epa(carom_difference *D, const carom_simplex *s, carom_facet *facet, carom_ssh_cache *cache);

// Begins from the polytope in the cache, at today's poses. False when there is none, or when it has come apart, or the
// bodies have: then carom_epa must decide.
bool carom_epa_again(carom_difference *D, carom_facet *facet, carom_ssh_cache *cache);

#endif

// Two triangles of surfaces that face each other: where one covers the other, and how far apart they are there.
//
// Seen along beta, from B to A midway between their outward normals, the triangles cover each other in a convex polygon.
// Its corners are the ways in which surfaces touch: a corner of one over the face of the other, or two edges that cross.
// Each gets its share of the polygon's area, so that the shares of all pairs add up to the area of contact however the
// surfaces are cut. The gap is that of the supporting separating hyperplane of the two features (Johnson 2012, eq.
// 2.29): along the face's normal, or across both edges, with the dual weights that their corners have at the nearest
// points. With beta along that normal alpha = beta, and its turning makes no difference to first order (eq. 3.49 has
// the factor alpha - beta).
//
// Faces that lie on each other leave the program's weights to chance, and just off that case they jump from corner to
// corner. So where the normals differ by little, all corners are measured along beta: the weights then are those of the
// polygon, as symmetric as it is.
#ifndef CAROM_SRC_CONTACT_FACETS_H
#define CAROM_SRC_CONTACT_FACETS_H

#include <stdbool.h>

#include "carom/vec.h"

typedef struct carom_facet {
  carom_vec3 x[3];    // counter-clockwise from outside
  carom_vec3 normal;  // unit, outward
} carom_facet;

typedef struct carom_facet_point {
  double gap;                        // m; < 0: overlap
  carom_vec3 normal;                 // unit, from B to A
  double weight_a[3], weight_b[3];   // of the corners; each sums to 1
  carom_vec3 point_a, point_b;       // point_a - point_b = gap normal
  double area;                       // its share, m2
} carom_facet_point;

enum { CAROM_FACET_POINTS = 9 };  // most corners of the polygon, with room for round-off

// Fills `points` and returns how many there are; 0 when the triangles do not face each other.
int carom_facets_meet(const carom_facet *a, const carom_facet *b, carom_facet_point *points);

carom_facet carom_facet_of(carom_vec3 x, carom_vec3 y, carom_vec3 z);

#endif

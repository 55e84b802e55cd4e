// Two triangles of surfaces that face each other: where one covers the other, and how far apart they are there.
//
// Seen along beta, from B to A, the triangles cover each other in a convex polygon. Its corners are the ways in which
// surfaces touch: a corner of one over the face of the other, or two edges that cross. Each gets its share of the
// polygon's area at rest, so that the shares of all pairs add up to the area of contact however the surfaces are cut.
//
// The gap of a corner is that of the supporting separating hyperplane of two points or two edges (Johnson 2012, eq.
// 2.29) with beta given, and the weights of the triangles' corners are its dual weights. alpha = beta, so that the
// turning of beta makes no difference to first order (eq. 3.49 has the factor alpha - beta), and forces act along the
// line through both points: neither momentum changes. Faces that lie on each other leave the weights of the program for
// whole tetrahedra to chance, and just off that case they jump from corner to corner; those of the polygon do not, and
// are as symmetric as it is.
//
// Where a polygon ends because a surface does, its area changes as they slide. That is part of the gradient: C/2 gap^2
// for every metre of rim, across beta, on the surface that ends there, and its opposite on what lies below. On sides
// within a surface these cancel, and they keep momenta.
//
// Of triangles that lie on each other, as near as 20 degrees, beta is between both normals: that of the smoother
// surface, if one of them has an edge there, since then the potential is an integral over what presses, whose gradient
// this is. Otherwise whoever asks gives beta: the direction in which what is behind the triangles parts soonest.
#ifndef CAROM_SRC_CONTACT_FACETS_H
#define CAROM_SRC_CONTACT_FACETS_H

#include <stdbool.h>

#include "carom/vec.h"

typedef struct carom_facet {
  carom_vec3 x[3];    // counter-clockwise from outside
  carom_vec3 normal;  // unit, outward
  carom_vec3 at[3];   // unit, of the surface at the corners: the mean over the triangles around each
  double sharp[3];  // of the side from corner i to i + 1: 1 - cosine of the angle by which the surface bends; 0 inwards
  double area;      // m2
  double shrunk;    // area at rest over what it is now
} carom_facet;

typedef struct carom_facet_point {
  double gap;                       // m; < 0: overlap
  carom_vec3 normal;                // unit, from B to A
  double weight_a[3], weight_b[3];  // of the corners; each sums to 1
  carom_vec3 point_a, point_b;      // point_a - point_b = gap normal
  double area;                      // its share at rest, m2
  carom_vec3 rim;                   // how areas change as A moves across beta, m: see above
} carom_facet_point;

enum { CAROM_FACET_POINTS = 9 };  // most corners of the polygon, with room for round-off

// Whether they lie on each other; else beta must be given. Triangles that do not face each other at all do not meet.
typedef enum carom_facing { CAROM_FACING_AWAY, CAROM_FACING_ASKEW, CAROM_FACING_FLAT } carom_facing;
carom_facing carom_facets_face(const carom_facet *a, const carom_facet *b);

// Fills `points` and returns how many there are. beta (unit, from B to A) is not asked for where they are flat on each
// other, and may be null there.
int carom_facets_meet(const carom_facet *a, const carom_facet *b, const carom_vec3 *beta, carom_facet_point *points);

// With sides that do not bend, and the same normal everywhere.
carom_facet carom_facet_of(carom_vec3 x, carom_vec3 y, carom_vec3 z);

#endif

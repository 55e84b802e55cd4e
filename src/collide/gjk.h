// The point of least norm of a difference D = A - B (Gilbert, Johnson and Keerthi 1988).
#ifndef CAROM_SRC_COLLIDE_GJK_H
#define CAROM_SRC_COLLIDE_GJK_H

#include "collide/difference.h"

// Columns of D and the point of least norm among their mixtures.
typedef struct carom_simplex {
  int count;  // 1 to 4; 4 only when they hold the origin
  carom_column c[4];
  double w[4];    // weights of p, >= 0, sum 1
  carom_vec3 p;   // exactly normal to the face or edge that carries it
  double norm2;   // |p|^2
  double lowest;  // smallest p . d over D: (p . d) / |p| is a certified lower bound of the distance
} carom_simplex;

typedef enum carom_gjk_outcome {
  CAROM_GJK_APART,     // p is the nearest point of D
  CAROM_GJK_INSIDE,    // the columns, four of them, hold the origin
  CAROM_GJK_TOUCHING,  // the origin lies within round-off of the columns
} carom_gjk_outcome;

// Point of least norm of the columns, at most three: sets p, norm2, the weights, and drops columns without one.
void carom_simplex_nearest(carom_simplex *s);

// Weights of a needle are areas lost in round-off; this makes up for it along the needle, so that they give p again.
void carom_simplex_polish(carom_simplex *s);

// Begins from the columns that the simplex holds, at least one and at most three.
carom_gjk_outcome carom_gjk(carom_difference *D, carom_simplex *s);

#endif

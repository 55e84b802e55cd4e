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

// The point of the edge a b nearest to the origin, when it lies between the ends: then it is w[0] a + w[1] b with
// positive weights. False otherwise, and the sign of the weights tells at which end it lies.
static inline bool carom_foot_on_edge(carom_vec3 a, carom_vec3 b, double w[2], carom_vec3 *foot) {
  carom_vec3 e = cm_sub(b, a);
  w[0] = cm_dot(b, e), w[1] = -cm_dot(a, e);
  if (!(w[0] > 0 && w[1] > 0)) return false;
  double inverse = 1 / (w[0] + w[1]);
  w[0] *= inverse, w[1] *= inverse;
  carom_vec3 p = w[0] > w[1] ? cm_axpy(a, w[1], e) : cm_axpy(b, -w[0], e);
  *foot = cm_axpy(p, -cm_dot(p, e) * inverse, e);  // once more: a short p keeps its right angle with a long edge
  return true;
}

// The foot (n.a / n.n) n of the perpendicular on the plane of a, b, c, n their normal. Its weights, not yet divided by
// their sum, are the signed areas that it cuts off.
static inline carom_vec3 carom_foot_on_plane(carom_vec3 a, carom_vec3 b, carom_vec3 c, carom_vec3 n, double h,
                                             double w[3]) {
  carom_vec3 p = cm_scale(h, n), pa = cm_sub(a, p), pb = cm_sub(b, p), pc = cm_sub(c, p);
  w[0] = cm_dot(n, cm_cross(pb, pc)), w[1] = cm_dot(n, cm_cross(pc, pa)), w[2] = cm_dot(n, cm_cross(pa, pb));
  return p;
}

// Corners this flat have no plane.
static inline double carom_flat_area2(carom_vec3 ab, carom_vec3 ac) {
  return 256 * DBL_EPSILON * DBL_EPSILON * cm_norm2(ab) * cm_norm2(ac);
}

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

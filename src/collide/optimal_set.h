// The whole optimal set of a solved SSH program (Johnson 2012, eqs. 2.38, 2.44, 2.47): X*, all planes, and Y*, all
// weights that give the same gap. Complementary slackness makes both small:
//
//   Y* = the feasible weights on the vertices that lie in any one optimal plane,
//   X* = the separating planes through the vertices that any one optimal set of weights uses.
//
// A plane is alpha = beta + u e1 + v e2, so X* is a polygon in (u, v): a point, a segment (all vertices with a weight
// lie on parallel lines) or, when a vertex meets a vertex along beta, a figure with an inside. In the plane z = 0 there
// is no v: X* is a point or, when a corner meets a corner, a segment.
#ifndef CAROM_SRC_COLLIDE_OPTIMAL_SET_H
#define CAROM_SRC_COLLIDE_OPTIMAL_SET_H

#include "carom/collide.h"
#include "geometry/shape.h"

// A shape in the world.
typedef struct carom_stand {
  const carom_shape *shape;
  carom_mat3 R;
  carom_vec3 p;
} carom_stand;

carom_stand carom_stand_of(const carom_placed *placed);

// A vertex, relative to p, in world axes.
static inline carom_vec3 carom_stand_vertex(const carom_stand *s, int vertex) {
  return cm_mulv(s->R, s->shape->polytope.vertices[vertex]);
}

// What one body contributes: the points that lie in every optimal plane and so may carry weight (Goldman and Tucker).
typedef struct carom_optimal_side {
  carom_stand body;
  carom_vec3 witness;                   // of the query, relative to the body's position
  int count;                            // 1 for a half-space: the foot of the other body's witness
  int vertex[CAROM_OPTIMAL_MAX];        // -1 on a curved surface or a half-space
  carom_vec3 point[CAROM_OPTIMAL_MAX];  // relative to the body's position, world axes
  double weight[CAROM_OPTIMAL_MAX];     // of least norm over Y*
} carom_optimal_side;

typedef struct carom_optimal_set {
  carom_optimal_side a, b;
  bool planar;              // e2 is z, and nothing is seen along it
  carom_vec3 beta, e1, e2;  // right-handed (e1, e2, beta)
  double size, tolerance;   // a length: how far off a plane still counts as in it
  carom_vec3 alpha;         // of least norm over X*
  int plane_freedom;        // dimension of X*: 0, 1 or 2
  int weight_freedom;       // dimension of Y*
  carom_vec3 tilt;          // plane_freedom 1: X* is alpha + s tilt,
  double low, high;         //                  low <= s <= high
} carom_optimal_set;

// `tolerance` is relative to the bodies' size; 0 means 1e-10.
carom_status carom_optimal_set_find(const carom_placed *a, const carom_placed *b, const carom_ssh_result *result,
                                    double tolerance, carom_optimal_set *set);

enum { CAROM_OPTIMAL_ROWS = 4, CAROM_OPTIMAL_COLUMNS = 2 * CAROM_OPTIMAL_MAX };

// Y* = {y >= 0 : E y = f} with f = (1, 1, 0, 0): the weights of each body sum to 1, and the two witness points lie on
// one line along beta. Lengths are divided by the largest, so that all rows weigh alike.
typedef struct carom_weight_rows {
  int count;  // columns: those of A, then those of B
  double E[CAROM_OPTIMAL_ROWS][CAROM_OPTIMAL_COLUMNS];
} carom_weight_rows;

void carom_weight_rows_fill(const carom_optimal_set *set, carom_weight_rows *rows);

// The weights of least norm: the pseudo-inverse (Johnson 2012, eq. 2.70) if it gives no negative weight, else the
// quadratic program, from the feasible weights in y.
void carom_weights_least_norm(const carom_weight_rows *rows, double *y);

// min c'y over Y*; false when the rows have no feasible weights.
bool carom_weights_minimize(const carom_weight_rows *rows, const double *c, double *y);

// The point of X* (plane_freedom 2) that lies closest to beta, or, if `rate` is given, that is highest along it.
carom_vec3 carom_optimal_corner(const carom_optimal_set *set, const carom_vec3 *rate);

// Relative to its body's position: a column's point, exact for vertices however far from the origin the body is.
carom_vec3 carom_column_point(const carom_stand *body, int vertex, carom_vec3 column);

#endif

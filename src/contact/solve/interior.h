// The interior-point method: unknowns per cone, and the bodies' matrix.
//
// Velocities are measured as z with v = v_free + L z, M^-1 = L L', which is sound also where a body cannot move along
// some axis. With H = L' D, and B the map from a contact's local unknowns to its world impulse, the conditions are
//
//     z = H B x,   s = B' (H' z + r),   x and s in self-dual cones,   x o s = 0.
#ifndef CAROM_SRC_CONTACT_SOLVE_INTERIOR_H
#define CAROM_SRC_CONTACT_SOLVE_INTERIOR_H

#include "contact/solve/problem.h"
#include "math/sparse.h"

typedef enum carom_contact_cone_kind {
  CAROM_CONTACT_SKIPPED,  // cannot move
  CAROM_CONTACT_SECOND,   // x0 >= |(x1, x2)|: a circular cone with the normal part multiplied by mu
  CAROM_CONTACT_ORTHANT,  // x >= 0: generators, or the normal part alone without friction
  CAROM_CONTACT_BOX,      // a row: bounds on neither, one or both sides
} carom_contact_cone_kind;

// Local unknowns of one contact or row in arrays that all cones share.
typedef struct carom_cone_unit {
  carom_contact_cone_kind kind;
  int count, at;            // unknowns, and where they begin in x, s, ...
  double beta, w[3];        // second-order cones: the scaling of Nesterov and Todd
  double side[2], rate[2];  // rows: multipliers of both bounds, and their changes in a step
  carom_mat3 theta;         // world matrix of contacts; theta.m[0][0] for rows
} carom_cone_unit;

typedef struct carom_interior {
  carom_contact_system *s;
  carom_cone_unit *units;       // (contacts + rows)
  double *x, *z;                // (n), (6 bodies)
  double *slack;                // (n)
  double *r;                    // (n) in local coordinates
  double *lambda;               // (n) scaled variables
  double *dx, *ds, *dz;         // a step
  double *affine_x, *affine_s;  // the predictor's
  double *c;                    // (n) dx = c - theta ds
  double *residual_s;           // (n) B' (H' z + r) - s
  double *factor;               // (bodies x 9) L of every inertia, column-major
  // the matrix I + H B theta B' H'
  int *block;  // (bodies) number among those that move, or -1
  int blocks;
  int *column, *row;  // compressed columns
  double *value;
  int *neighbor_start, *neighbor;  // (blocks + 1), blocks below the diagonal of every block column
} carom_interior;

// ---- interior_cone.c: one unit at a time
int carom_cone_unit_degree(const carom_interior *m, int unit);                            // what x's is divided by
double carom_cone_unit_product(const carom_interior *m, int unit);                        // x's
void carom_cone_unit_scale(carom_interior *m, int unit);                                  // beta, w, lambda, theta
void carom_cone_unit_target(carom_interior *m, int unit, double target, bool corrector);  // c
void carom_cone_unit_finish(carom_interior *m, int unit);                                 // dx from ds
double carom_cone_unit_step(const carom_interior *m, int unit);  // largest feasible, may be infinite
void carom_cone_unit_move(carom_interior *m, int unit, double alpha);

// The map B: world impulse of local unknowns, and local components of a world velocity.
carom_vec3 carom_cone_unit_impulse(const carom_interior *m, int unit, const double *x);
void carom_cone_unit_components(const carom_interior *m, int unit, carom_vec3 u, double *out);

// ---- interior_matrix.c
size_t carom_interior_entries(const carom_contact_problem *problem);  // most entries of the matrix
void carom_interior_pattern(carom_interior *m);
void carom_interior_assemble(carom_interior *m);
carom_sparse carom_interior_matrix(const carom_interior *m);
// H' z (world, or the row's) of a unit, and adding H f to z.
carom_vec3 carom_interior_read(const carom_interior *m, int unit, const double *z);
void carom_interior_push(const carom_interior *m, int unit, carom_vec3 f, double *z);
void carom_interior_factor_bodies(carom_interior *m);

#endif

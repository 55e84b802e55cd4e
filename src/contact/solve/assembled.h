// The contact problem with all velocities eliminated: along the rows of all contacts
//
//     u = u0 + W P,      W = J S J',
//
// with S what bodies, joints and whatever else is solved for make of an impulse, and the bias in u0. Rows come in
// blocks:
//
//     contact   normal, then 0, 1 or 2 tangents:  0 <= P_n complementary to u_n >= 0, and Coulomb friction: P_t within
//               mu P_n times the unit disc, or a polygon in it, taking as much energy out of u_t as that allows
//     free      one row of a joint:  u = 0
//     boxed     the same with P between bounds: a motor of limited impulse
//
// The laws as projections (Alart and Curnier 1991): P = law(P - u / r) for any r > 0, which makes one residual for all
// solvers: r |P - law(P - u / r)| with r the block's own response, a velocity.
#ifndef CAROM_SRC_CONTACT_SOLVE_ASSEMBLED_H
#define CAROM_SRC_CONTACT_SOLVE_ASSEMBLED_H

#include "carom/base.h"

enum { CAROM_BLOCK_ROWS = 3 };

typedef enum carom_block_kind { CAROM_BLOCK_CONTACT, CAROM_BLOCK_FREE, CAROM_BLOCK_BOXED } carom_block_kind;

typedef struct carom_block {
  carom_block_kind kind;
  int first, width;  // its rows
  double mu;
  int corners;          // of the polygon that friction is kept in; 0: the disc. With one tangent it is an interval
  double angle;         // of the polygon's first corner, rad
  double lower, upper;  // of a boxed row
} carom_block;

// One row of J for each of its two bodies, and S J', the same for all rows of a block but for the numbers.
typedef struct carom_lever {
  int body[2];  // -1: does not move
  double J[2][6], SJ[2][6];
  double own;  // J S J'
} carom_lever;

// W by blocks of one size, symmetric, all of them stored: those of block row i are number start[i] to start[i + 1] - 1,
// by ascending column, the one on the diagonal among them; each column after column.
typedef struct carom_block_rows {
  int size;
  const int *start, *column;  // (count + 1), (start[count])
  const double *value;        // (start[count] size size)
  const int *own;             // (count) number of the block on the diagonal
} carom_block_rows;

// A borrowed view.
typedef struct carom_assembled {
  int count, rows;            // blocks, and their rows
  const carom_block *blocks;  // (count) with ascending rows
  const double *W;   // (rows x rows) column-major; symmetric or nearly so. Null: `sparse`, or through the levers
  const double *u0;  // (rows)
  // Bodies that nothing couples but their contacts: where these are many, there is less to solve for by body.
  int bodies;
  const carom_lever *levers;       // (rows)
  double *V;                       // (6 bodies) scratch
  const carom_block_rows *sparse;  // W by blocks of that width where most of it is zero, with W null
} carom_assembled;

// The block of W that a block of rows has on the diagonal, where it is sparse.
static inline const double *carom_block_rows_own(const carom_block_rows *w, int block) {
  return w->value + (size_t)(w->size * w->size) * (size_t)w->own[block];
}

// The diagonal of W.
static inline double carom_assembled_own(const carom_assembled *a, int row) {
  if (a->sparse) {
    int B = a->sparse->size;
    return carom_block_rows_own(a->sparse, row / B)[row % B * (B + 1)];
  }
  return a->W ? a->W[(size_t)row * ((size_t)a->rows + 1)] : a->levers[row].own;
}

// Corner number `corner` of a block's polygon.
void carom_block_corner(const carom_block *block, int corner, double d[2]);
// The law of a block at z (width), and its derivative if D is not null.
void carom_block_law(const carom_block *block, const double *z, double *P, double D[3][3]);
// r of the residual: the mean response of the block's rows; 0 where nothing can move.
double carom_block_response(const carom_assembled *a, const carom_block *block);
// What a block is off by, m/s (rad/s); P and u are those of all rows.
double carom_block_residual(const carom_assembled *a, const carom_block *block, const double *P, const double *u);

void carom_levers_push(const carom_assembled *a, const double *P);                    // V = S J' P
double carom_lever_rate(const carom_lever *lever, const double *V);                   // J V
void carom_assembled_add(const carom_assembled *a, const double *P, double *u);       // u += W P
void carom_assembled_velocity(const carom_assembled *a, const double *P, double *u);  // u = u0 + W P
double carom_assembled_scale(const carom_assembled *a);                               // the largest |u0|
// The worst of all blocks; infinite where a number is not finite.
double carom_assembled_residual(const carom_assembled *a, const double *P, const double *u);

// Impulses and velocities (rows), and room for those of the sweep before.
typedef struct carom_iterate {
  double *P, *u, *P_before, *u_before;
} carom_iterate;

// Sweeps of projected Gauss-Seidel from P until the residual is `good`; returns it and adds to *done. Needs W, full or
// sparse.
double carom_assembled_sweep(const carom_assembled *a, const carom_iterate *x, double good, int most, int *done);

#endif

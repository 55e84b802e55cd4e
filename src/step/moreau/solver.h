// The contact problem of a step along rows, and who solves it. Blocks of a normal row and up to two tangents, with
//
//     u = u0 + W P,      0 <= P_n  _|_  u_n >= 0,      Coulomb friction of P_t against u_t within mu P_n.
//
// Knows no bodies: the caller says how many rows each block has, and fills W, u0, mu and a first P.
//
//     solver.c    room, u and the residual, friction directions
//     newton.c    Newton's method on the contact laws, by phases; sweeps
//     lcp.c       the same as complementary pairs for Lemke's method; which of them is asked when
#ifndef CAROM_SRC_STEP_MOREAU_SOLVER_H
#define CAROM_SRC_STEP_MOREAU_SOLVER_H

#include "carom/lcp.h"
#include "carom/step.h"

// How a block takes part, with friction within a polygon of corners mu c_n d_a.
typedef enum carom_moreau_phase {
  CAROM_MOREAU_OPEN,    // P = 0
  CAROM_MOREAU_STICK,   // u = 0
  CAROM_MOREAU_CORNER,  // slides: friction is mu c_n d_a, u_n = 0
  CAROM_MOREAU_EDGE,    // slides across an edge: friction is between d_a and d_b, u_n = 0 and (d_b - d_a)'u = 0
} carom_moreau_phase;

// Scratch of newton.c, for up to row_capacity rows.
typedef struct carom_moreau_newton {
  double *K;                  // (k x k) the system of the present phases, then its inverse
  double *r, *x, *column;     // (rows)
  double *best;               // (rows) the best impulses so far
  double *P0, eps;            // (rows) the proximal term eps (P - P0)
  double noise;               // velocities that are as good as none
  int k;                      // unknowns
  double *panel;              // (CAROM_LCP_INVERSE_PANEL * rows)
  int *swaps;                 // (rows)
  int *unknown_block;         // (rows) whose unknown it is
  double (*generator)[3];     // (rows) impulse along the block's rows for each unknown
  double (*test)[3];          // (rows) the velocity that is to vanish
  carom_moreau_phase *phase;  // (rows; one for each block)
  double (*side)[2][2];       // (rows; one for each block) d_a and d_b
} carom_moreau_newton;

// The problem as complementary pairs.
typedef struct carom_moreau_pairs {
  int n, capacity;
  int *start;                 // (count + 1) first pair of each block
  double *A, *q, *z, *w, *g;  // A (n x n); g (2 n) the friction direction of each pair
  unsigned char *basis;
  carom_lcp_work *work;
  int work_size;
} carom_moreau_pairs;

typedef struct carom_moreau_solver {
  carom_allocator allocator;
  const carom_step_options *options;
  // what the caller fills
  int count, rows;  // blocks, and rows of all
  int *start;       // (count + 1) first row of each block
  double *mu;       // (count)
  double *W;        // (rows x rows) column-major
  double *u0, *P;   // (rows)
  // the solvers' own
  double *u;        // (rows)
  double *heading;  // (count) of the first friction direction, rad: the exact cone turns it
  int count_capacity, row_capacity;
  carom_moreau_newton newton;
  carom_moreau_pairs pairs;
} carom_moreau_solver;

typedef struct carom_moreau_outcome {
  bool solved;
  double residual;  // natural residual over the largest velocity, the worst of all rounds
  int iterations;   // the most of a round
  const char *method;
  int worst;  // block with the largest residual
} carom_moreau_outcome;

static inline int carom_moreau_tangents(const carom_moreau_solver *s, int block) {
  return s->start[block + 1] - s->start[block] - 1;
}

// ---- solver.c
// Room for so many blocks; then the caller fills mu and start.
carom_status carom_moreau_solver_reserve_blocks(carom_moreau_solver *s, int count, carom_error *error);
// Room for their rows; then the caller fills W, u0 and P.
carom_status carom_moreau_solver_reserve_rows(carom_moreau_solver *s, carom_error *error);
bool carom_moreau_reserve_pairs(carom_moreau_solver *s, int capacity);
void carom_moreau_solver_release(carom_moreau_solver *s);

int carom_moreau_directions(const carom_moreau_solver *s, int block);
// Direction a of friction (0, 1, ...).
void carom_moreau_direction(const carom_moreau_solver *s, int block, int a, double d[2]);
void carom_moreau_evaluate(carom_moreau_solver *s);       // u = u0 + W P
double carom_moreau_scale(const carom_moreau_solver *s);  // the largest |u0|
// Natural residual of the pairs, from P and u; fills z.
double carom_moreau_residual(carom_moreau_solver *s, int *worst_block);

// ---- newton.c
// Improves P, with u up to date; returns the residual reached, and adds to *steps. Impulses that are `good` are left
// alone, those `wanted` will do, and for those `accepted` no great effort is made.
double carom_moreau_newton_solve(carom_moreau_solver *s, double good, double wanted, double accepted, int *steps);
// Sweeps of projected Gauss-Seidel, until the residual is `good`.
double carom_moreau_sweep(carom_moreau_solver *s, double good, int sweeps, int *done);

// ---- lcp.c
// Finds P. A problem that was not solved is an outcome, not an error. `time` goes to the sink of problems.
carom_status carom_moreau_solver_run(carom_moreau_solver *s, double time, carom_moreau_outcome *outcome,
                                     carom_error *error);

#endif

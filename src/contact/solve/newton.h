// Newton's method on the contact laws, for the assembled problem. Redundant contacts make the laws singular: any of
// many impulses will do. We take one near to the impulses at hand, by proximal rounds (Rockafellar 1976): with P0 the
// impulses of the round before and eps > 0 a response, in each round
//
//     P = law(P - (u(P) + eps (P - P0)) / r),
//
// the augmented Lagrangian of Alart and Curnier (1991); where P = P0, the laws are met exactly, whatever eps. Which r >
// 0 is taken changes the way to P, not P: near to a solution the block's own response, so that velocities of the size
// of the error do not open and close what carries; far from it eps itself. What rests keeps the impulses that it has.
#ifndef CAROM_SRC_CONTACT_SOLVE_NEWTON_H
#define CAROM_SRC_CONTACT_SOLVE_NEWTON_H

#include "base/arena.h"
#include "contact/solve/assembled.h"

typedef struct carom_newton carom_newton;  // scratch for problems up to a size

// With W by sparse blocks: allocates, here and in solves, where contacts close that were open when a system was
// analysed.
carom_status carom_newton_create_blocks(const carom_assembled *problem, const carom_allocator *allocator,
                                        carom_newton **newton, carom_error *error);
void carom_newton_destroy_blocks(carom_newton *newton);  // null is fine

// In an arena, which owns it: for problems through so many bodies, or with W if that is 0. Null when it only counts.
carom_newton *carom_newton_push(int rows, int bodies, carom_arena *arena);

// Residuals, m/s: impulses that are `good` are left alone, those `wanted` will do, and for those `accepted` no great
// effort is made.
typedef struct carom_newton_goal {
  double good, wanted, accepted;
  int most;         // steps after which nothing new is begun; 0: no such limit
  bool half_way;    // a round that was given up, but got near, is where the next one begins
  bool last_digit;  // tries tiny eps, too, where larger ones lead nowhere: for heavy bodies on light ones
} carom_newton_goal;

// Improves P (rows) and brings u (rows) up to date; on failure the better of start and end stays. Returns the residual
// reached, and adds the linear systems that it solved to *steps. Allocates with sparse blocks only.
double carom_newton_solve(carom_newton *newton, const carom_assembled *problem, const carom_newton_goal *goal,
                          double *P, double *u, int *steps);

#endif

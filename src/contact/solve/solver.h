// Who solves an assembled problem: the solvers behind one table, and the order in which they are asked. The caller says
// how many blocks and rows there are, fills blocks, W, u0 and a first P of the whole, and runs. Blocks that nothing
// couples are problems of their own, with scales of their own.
#ifndef CAROM_SRC_CONTACT_SOLVE_SOLVER_H
#define CAROM_SRC_CONTACT_SOLVE_SOLVER_H

#include "carom/friction.h"
#include "contact/solve/newton.h"
#include "contact/solve/pivot.h"

// A problem with its unknowns.
typedef struct carom_system {
  int count, rows;
  carom_block *blocks;  // (count)
  double *W;            // (rows x rows)
  double *u0, *P, *u;   // (rows)
  double *before;       // (2 rows) scratch of sweeps
  // Where nothing couples bodies but their contacts:
  int bodies;           // 0: something does, or it is not known
  carom_lever *levers;  // (rows)
  double *V;            // (6 bodies) scratch
} carom_system;

typedef struct carom_solver {
  carom_arena arena;
  carom_system whole;      // the caller's to fill
  carom_system part;       // blocks that W couples, where not all are
  carom_block *polygonal;  // (count) those of a part with a polygon where friction is in the disc, for pivots
  int *group, *member;     // (count) of the whole: smallest block that it is coupled with; blocks of the part
  carom_newton *newton, *by_bodies;
  int *place;  // (bodies) number of a body in the part, plus 1
  carom_pivot *pivot;
} carom_solver;

// Who is asked, and for how much.
typedef struct carom_solver_choice {
  const char *name;  // "newton", "pgs" or "lemke"; null: newton, and lemke where that fails
  double tolerance;  // residual over the largest velocity that counts as solved; 0: 1e-9
  int iterations;    // the most; 0: the method's own
  double still;      // parts in which no velocity is above this are left without impulses, m/s
  // Shown the problem first: the complementarity form, and that of friction (null where not all blocks are contacts).
  // May be null.
  void (*sink)(void *context, const carom_lcp_problem *linear, const carom_friction_problem *friction);
  void *sink_context;
} carom_solver_choice;

typedef struct carom_solver_outcome {
  bool solved;
  double residual;  // over the largest velocity of its part, the worst of all parts
  int iterations;   // the most of a part
  const char *method;
  int worst;  // block with the largest residual of that part
} carom_solver_outcome;

carom_status carom_solver_create(const carom_allocator *allocator, carom_solver **solver, carom_error *error);
void carom_solver_destroy(carom_solver *solver);  // null is fine
// Room for so many; blocks and arrays are the caller's to fill then, with `bodies` > 0 the levers, too. P is zero.
// Allocates only when there are more than ever before.
carom_status carom_solver_reserve(carom_solver *solver, int count, int rows, int bodies, carom_error *error);
// From P to P and u. A problem that was not solved is an outcome, not an error.
carom_status carom_solver_run(carom_solver *solver, const carom_solver_choice *choice, carom_solver_outcome *outcome,
                              carom_error *error);

// ---- show.c
// A problem whose blocks are contacts all, by sparse blocks.
typedef struct carom_shown_friction {
  carom_friction_problem problem;
  int *start, *column;
  double *W, *q, *mu;
} carom_shown_friction;

// CAROM_OK with problem.dimension 0 when not all blocks are contacts.
carom_status carom_shown_friction_make(const carom_system *system, const carom_allocator *allocator,
                                       carom_shown_friction *shown, carom_error *error);
void carom_shown_friction_release(const carom_allocator *allocator, const carom_shown_friction *shown);

#endif

// The fast backend of the problem of carom/contact.h for balls alone, with circular cones: projected Gauss-Seidel,
// eight contacts side by side in single precision, accelerated by momentum, warm-started. What it leaves is put into
// the cones and judged in double precision: velocities are recomputed from the impulses, so that momentum is kept to
// the last bits, and the residual is the one of carom/contact.h.
//
// The first bodies of the problem are the balls, in an order in which those that meet are not far apart; bodies after
// them do not move. Contacts come in the order of their balls a, each with a later ball, with a body that does not move
// or with the world, and their arms lie along the normal. There are no rows.
//
// Contacts are swept in blocks of so many balls that those of a block lead into itself and the next one at most: blocks
// stay in the cache while all their colours are swept, and even blocks, then odd ones, go side by side on any number of
// threads with the same result.
//
//     balls.c         the order of a solve, and the sweeps
//     balls_packs.c   who meets whom, colours, and contacts in packs of eight
//     balls_exact.c   velocities and residual in double precision
//     balls_visit.c   the heart of a sweep
#ifndef CAROM_SRC_CONTACT_SOLVE_BALLS_H
#define CAROM_SRC_CONTACT_SOLVE_BALLS_H

#include "base/arena.h"
#include "carom/contact.h"
#include "contact/solve/sweeps.h"

enum { CAROM_BALLS_LANES = 8, CAROM_BALLS_COLORS = 64 };

// A ball while it is swept, eight numbers in a row: velocity (3), inverse mass, spin times radius of gyration (3), and
// that radius squared over the inertia.
typedef struct carom_balls_body {
  float v[8];
} carom_balls_body;

// Eight contacts that have no ball in common. Velocities are in the units of the problem.
typedef struct carom_balls_pack {
  float n[3][CAROM_BALLS_LANES], bias[CAROM_BALLS_LANES], mu[CAROM_BALLS_LANES];
  float arm_a[CAROM_BALLS_LANES], arm_b[CAROM_BALLS_LANES];  // over the radii of gyration
  float g[3][CAROM_BALLS_LANES];                             // impulse
  float before[3][CAROM_BALLS_LANES];                        // the impulse a sweep ago
  int a[CAROM_BALLS_LANES], b[CAROM_BALLS_LANES];            // both the world: padding
} carom_balls_pack;

// What a sweep did (rho being the response along the normal), and the speed with which the contacts that were found
// worst were about to overlap.
typedef struct carom_balls_change {
  carom_sweep_tally tally;
  float deepest;
} carom_balls_change;

// Visits packs first .. last - 1, each from g + beta (g - before).
carom_balls_change carom_balls_visit(carom_balls_pack *packs, int first, int last, float beta,
                                     carom_balls_body *bodies);
// Bodies first .. last - 1 follow the extrapolation of the contacts: v + beta (v - before), and before becomes v.
void carom_balls_extrapolate(carom_balls_body *bodies, carom_balls_body *before, int first, int last, float beta);

// Consecutive balls and the contacts that they are the first of.
typedef struct carom_balls_block {
  int first_pack[CAROM_BALLS_COLORS + 2];  // of each colour; those of the last have one contact each
  carom_balls_change change;               // what the last sweep did
} carom_balls_block;

// A contact of balls a and b, where b may be the world (ball_count) or a point of a body that does not move (above it).
typedef struct carom_balls_link {
  int a, b;
  int color, lane;  // of all packs, counted through
} carom_balls_link;

// A ball in double precision.
typedef struct carom_balls_twist {
  carom_vec3 v, w;
  double inverse_mass, inverse_inertia;
} carom_balls_twist;

typedef struct carom_balls {
  carom_arena arena;
  int ball_count, threads;
  double enough;  // m/s: sweeps may end when no contact is about to overlap any faster; -1 (default): not for that
  const carom_contact_problem *problem;  // the one at hand,
  carom_vec3 *impulses;                  // (contact_count) and its solution so far
  // who meets whom
  carom_balls_link *links;  // (contact_count)
  int *own;                 // (ball_count + 1) first contact of each ball as a
  int *others;              // (ball_count + 2) where its contacts as b begin in as_b
  int *as_b;                // (contact_count) in ascending order for each ball
  int link_capacity, as_b_capacity;
  // what is swept
  carom_balls_twist *twists;  // (ball_count)
  carom_balls_body *bodies;   // (ball_count + 1 + touched_count) balls, the world, points of bodies that do not move
  carom_balls_body *before;   // (ball_count) a sweep ago
  carom_balls_pack *packs;    // (pack_count)
  carom_balls_block *blocks;  // (block_count)
  uint64_t *used[2];          // (ball_count) colours taken, in even and odd blocks
  int touched_count, pack_count, block_count, block_size;
  carom_arena pack_arena, body_arena;  // for their alignment
} carom_balls;

carom_status carom_balls_create(carom_balls *balls, int ball_count, const carom_allocator *allocator,
                                carom_error *error);
void carom_balls_destroy(carom_balls *balls);  // zero is fine

// As carom_contact_solve, always from the impulses in the solution. Of the options it takes max_iterations, tolerance
// (about: sweeps end by what they change), velocity_scale and threads; of the info it tells all but the judgement of v.
carom_status carom_balls_solve(carom_balls *balls, const carom_contact_problem *problem,
                               const carom_contact_options *options, carom_contact_solution *solution,
                               carom_contact_info *info, carom_error *error);

// ---- balls_packs.c: who meets whom, and how many places they are apart at most; then colours and packs
carom_status carom_balls_link_up(carom_balls *balls, int *farthest, carom_error *error);
carom_status carom_balls_pack_up(carom_balls *balls, carom_error *error);
// ---- balls_exact.c: velocities from the impulses; impulses from the packs, put into their cones; the residual
void carom_balls_set_velocities(carom_balls *balls);
void carom_balls_take_impulses(carom_balls *balls);
double carom_balls_residual(const carom_balls *balls);

#endif

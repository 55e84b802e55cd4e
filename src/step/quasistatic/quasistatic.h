// Bodies without inertia on supports that resist motion, pushed by bodies that move as they are told (Gavrea 2008, 2.4;
// the misprints of (2.4.9) and (2.4.14) are put right in docs/quasistatic.md). One step:
//
//     0 = E v - sum of forces - W_n lambda_n - W_f lambda_f            E: damping of the supports
//     0 <= lambda_n  _|_  Psi_n/h + W_n'v + dPsi_n/dt >= 0             contacts within reach
//     lambda_f within mu lambda_n, against the slip W_t'v + dPsi_t/dt
//     q+ = q + h v
//
// With v eliminated it is the assembled problem of contact/solve, u = u0 + J E^-1 J' P, which in the plane is the
// linear complementarity problem (2.4.20). An assignment of modes (open, sticks, slides forwards or backwards) to
// contacts is a complementary basis of it, one for which equal forces that are shared in other ways do not count as
// others.
//
//     carom_quasi_gather     contacts near a state, their rows, E^-1 and W
//     carom_quasi_solve      impulses and modes by complementarity; or
//     carom_quasi_solve_in   impulses in given modes by one linear system, and how far from a change they are
//     carom_quasi_move       q + h v
//
// The integrator does that with driven bodies, the pusher (control/push.h) with probes. Nothing allocates after the
// first steps that have so many contacts.
#ifndef CAROM_SRC_STEP_QUASISTATIC_QUASISTATIC_H
#define CAROM_SRC_STEP_QUASISTATIC_QUASISTATIC_H

#include "carom/contact.h"
#include "carom/lcp.h"
#include "collide/outline.h"
#include "contact/assemble.h"
#include "contact/pairs.h"
#include "contact/solve/solver.h"
#include "model/fields.h"

typedef struct carom_quasi_item {
  carom_contact contact;    // at the start of the step
  carom_row row[3];         // normal, one tangent in planar models (cross(z, normal)), else two
  int tangents;             // of them that carry: 0 without friction
  double mu;                // friction_scale in it
  double surface[3];        // velocity of driven surfaces along the rows: subtracted, m/s
  double impulse[3];        // found, N s over the step
  double rate[3];           // found: velocity of A against B along the rows, surfaces included, m/s
  carom_contact_mode mode;  // found; of a contact that carries without friction always CAROM_MODE_FORWARD
  int before;               // the same contact's index at the last gathering; -1: new
  carom_vec3 place;         // of the contact, seen from A
} carom_quasi_item;

// How a solve ended.
typedef struct carom_quasi_outcome {
  bool solved;
  double residual;  // over the largest velocity
  int iterations;
} carom_quasi_outcome;

// What is nearest to changing its mode.
typedef struct carom_quasi_margin {
  double least;  // < 0: the modes do not hold. Gaps and slips over h times the fastest surface, forces over the largest
  int item;      // whose; -1: no item, or the linear system is singular (least = -INFINITY)
  carom_contact_mode instead;  // what it would rather be
} carom_quasi_margin;

// What of an item is kept to know it again at the next gathering.
typedef struct carom_quasi_trace {
  int part_a, part_b;
  carom_vec3 point;  // seen from A
} carom_quasi_trace;

// What a part of a planar model shows in the plane, in the frame of its body as it stands at the start.
typedef enum carom_quasi_shadow_kind { CAROM_QUASI_OTHER, CAROM_QUASI_DISC, CAROM_QUASI_PRISM } carom_quasi_shadow_kind;
typedef struct carom_quasi_shadow {
  carom_quasi_shadow_kind kind;
  carom_flat center;  // of a disc
  double radius;
  int count;  // corners of a prism, counter-clockwise
  carom_flat *at;
} carom_quasi_shadow;

// How strains of dry supports are looked for, pass by pass (dry.c); numbers are (body_count), directions DEPTH of them.
enum { CAROM_QUASI_STRAIN_DEPTH = 4 };
typedef struct carom_quasi_strains {
  int count;                      // of directions
  double *found;                  // strains by the last pass
  double *y, *way;                // their logarithms, and how far these were from those before
  bool *rested;                   // bodies that were tried at rest
  double *g, *off;                // the same of the pass before
  double *change_g, *change_off;  // from pass to pass
  double *basis, *image;          // scratch: the directions made orthogonal
} carom_quasi_strains;

typedef struct carom_quasi {
  carom_arena arena;
  const carom_model *model;
  carom_allocator allocator;
  carom_contacts *contacts;
  carom_solver *solver;
  carom_support *supports;  // (body_count) what is used; begins as the model's, and the owner may change it
  double friction_scale;    // of all mu; begins as 1
  double h;                 // of the step that was gathered
  carom_quasi_item *items;  // (count)
  int count, capacity;
  // Of the last gathering and solve. (body_count) each, world axes:
  carom_twists driven;         // of bodies that are moved; zero for others
  carom_twists free;           // by forces alone
  carom_twists found;          // by forces and contacts
  carom_vec3 *force, *moment;  // applied, N, N m; gravity included
  double *strain;              // dry supports: sqrt(V'L V), by which E = L/strain; 1 for viscous ones
  double fastest;              // speed of driven surfaces, or of what forces move where that is more, m/s
  double *reach;               // how far a body may get before contacts are missed, m
  // The implementer's:
  carom_quasi_strains strains;
  const carom_state *at;  // not to change between gathering, solve and move
  carom_loads loads;
  carom_mat3 *directors;        // (body_count)
  double (*matrix)[6][6];       // (body_count) E or L, world axes
  double (*inverse)[6][6];      // (body_count) its inverse
  carom_quasi_shadow *shadows;  // (part_count)
  double *thickness;            // (part_count) half the least width, m
  int *number;                  // (body_count) of bodies that move, in their order; -1
  carom_quasi_trace *before;    // (before_count) items of the gathering before
  int before_count, before_capacity;
  double *dense;  // scratch of linear systems and cones
  int dense_capacity;
  int *choice;  // scratch of linear systems
  int choice_capacity;
} carom_quasi;

carom_status carom_quasi_create(const carom_model *model, const carom_allocator *allocator, carom_quasi **quasi,
                                carom_error *error);
void carom_quasi_destroy(carom_quasi *quasi);  // null is fine

// Contacts near the state for a step of h, and all that the solves need. `driven` (body_count) are mean twists over the
// step of bodies that are fixed or driven, world axes, at their centres; null: as their drives say.
// The state must stay as it is until the move.
carom_status carom_quasi_gather(carom_quasi *quasi, const carom_state *state, double h, const carom_twists *driven,
                                carom_error *error);
// A problem that was not solved is an outcome. Where bodies get farther than was thought, items are gathered anew.
carom_status carom_quasi_solve(carom_quasi *quasi, carom_quasi_outcome *outcome, carom_error *error);
// modes (count). Forces that may be shared in several ways are shared so that the margin is large. Items must be solved
// for afresh where the margin is negative.
carom_status carom_quasi_solve_in(carom_quasi *quasi, const carom_contact_mode *modes, carom_quasi_margin *margin,
                                  carom_error *error);
// Moves the bodies by the impulses found, not the clock nor driven bodies; p = m v and l tell the velocities.
void carom_quasi_move(carom_quasi *quasi, carom_state *state);

// The cone of the forces of items that are nearer than `touch` (2.4.18-19): columns for 3 rows (6 in space) a body that
// moves, lengths over the size of the body, so that margins have no unit. `members` (count) gets the items in the order
// of the cone's contacts. The matrices belong to `quasi` and hold until the next call.
carom_status carom_quasi_cone(carom_quasi *quasi, double touch, carom_friction_cone *cone, int *members,
                              carom_error *error);

#endif

// The parts of the integrator `moreau`: the linearly implicit alpha-family of complementarity steps (Gavrea 2006,
// 2.1; Anitescu and Potra 1997 for alpha = 1; Potra, Anitescu, Gavrea and Trinkle 2006 for alpha = 1/2).
//
//     moreau.c     the step and its collisions, as a pipeline
//     motion.h     masses, forces and joints: v' = v_free + S J'P; positions
//     items.c      what may touch: contacts and joint limits as one-sided rows
//     hits.c       when bodies that bounce come to touch
//     problem.c    W = J S J' and the free velocities along all rows; forces to begin from
//     books.c      what contacts and limits took, and what happened
//     setup.c      scratch, options, checkpoints
#ifndef CAROM_SRC_STEP_MOREAU_MOREAU_H
#define CAROM_SRC_STEP_MOREAU_MOREAU_H

#include "contact/assemble.h"
#include "contact/memory.h"
#include "contact/pairs.h"
#include "contact/solve/solver.h"
#include "model/joints.h"
#include "step/moreau/motion.h"

typedef enum carom_moreau_kind { CAROM_MOREAU_CONTACT, CAROM_MOREAU_LIMIT } carom_moreau_kind;

// A one-sided constraint: a point of contact or the limit of a joint.
typedef struct carom_moreau_item {
  carom_moreau_kind kind;
  union {
    struct {
      int part_a, part_b;
      carom_vec3 point;
    } contact;
    struct {
      int joint;
      bool turn, upper;  // which coordinate, which end
    } limit;
  };
  carom_row row[3];    // normal, two tangents; gap' = row[0] . velocities
  int tangents;        // 0 without friction, 1 in a planar scene, 2
  double gap, mu, e;   // the gap at the start of the step
  double bias;         // what the velocity along the normal may fall short of: gap/h, or e times the approach
  double surface[3];   // velocity of a driven body's surface, along the rows: subtracted
  double before[3];    // velocities along the rows at the start of the step
  double impulse[3];   // found
  double returned[3];  // Poisson's law: impulses of the compression and what it gives back
} carom_moreau_item;

typedef struct carom_moreau_items {
  carom_moreau_item *list;  // (count)
  int count, capacity;
  carom_joint_limit *limits;  // room for all there are
  carom_row *rows;            // of all, one behind the other
  int row_capacity;
} carom_moreau_items;

// The first pair that bounces and comes to touch within a step.
typedef struct carom_moreau_hit {
  bool found;
  double share;  // when, of the step
  int body[2];
} carom_moreau_hit;

typedef struct carom_moreau {
  const carom_model *model;
  const carom_step_options *options;
  carom_allocator allocator;
  bool collides;  // some surface bounces, or alpha < 1: bodies that meet collide at that moment
  double touch;   // gaps this small are none to a body that bounces, m
  double whole;   // length of the step, of which the one being built is a piece, s
  int met[2];     // the bodies whose collision ended the last piece
  carom_moreau_motion motion;
  carom_contacts *contacts;
  carom_memory *memory;
  double *acceleration, *reach;  // (body_count) by forces, m/s2; how far a body may get, m
  carom_state *origin;           // where a piece of the step began, to begin it again up to a collision
  carom_moreau_items items;
  carom_assembly *assembly;
  carom_solver *solver;
} carom_moreau;

// ---- moreau.c
carom_status carom_moreau_advance(carom_stepper *stepper, carom_state *state, double h, double end,
                                  carom_ledger *ledger, carom_error *error);

// ---- items.c
typedef enum carom_moreau_choice {
  CAROM_MOREAU_STEP,      // all that may be met within the step, by surfaces that do not bounce; the rest if touching
  CAROM_MOREAU_TOUCHING,  // all that touch: for a collision
} carom_moreau_choice;

// Candidate pairs for a step of h.
carom_status carom_moreau_candidates(carom_moreau *m, double h, carom_error *error);
carom_status carom_moreau_gather(carom_moreau *m, carom_moreau_choice choice, carom_error *error);
// With alpha < 1 a step by itself would throw bodies that meet within it back at (1 - alpha)/alpha of their speed,
// since it is the mean velocity that closes the gap: they collide at the moment they meet, as those that bounce do.
bool carom_moreau_pair_collides(const carom_moreau *m, double restitution);
// The velocity of a driven body's surface at a point, over the step.
carom_vec3 carom_moreau_surface_velocity(const carom_moreau *m, int body, carom_vec3 point);
// A speed so low that a bounce would be over within a step or two: gravity and forces acting for 2 steps.
double carom_moreau_slow(const carom_moreau *m);

// ---- hits.c
// Looks for pairs that bounce, are not among the items and overlap at the end of the step from `origin`; the moment is
// found by cubic interpolation of the gap. `deepest` gets the deepest overlap at the end, of any pair.
carom_status carom_moreau_first_hit(carom_moreau *m, const carom_state *end, carom_moreau_hit *hit, double *deepest,
                                    carom_error *error);

// ---- problem.c
// Finds the impulses of all items: row . (alpha v' + (1 - alpha) v) + bias >= 0, complementary to them, with Coulomb
// friction; and v' with them. What is slower than `still` has none, where nothing faster touches it (m/s).
carom_status carom_moreau_solve(carom_moreau *m, double still, carom_ledger *ledger, carom_error *error);
// Keeps the impulses of a step as forces, to begin the next from.
carom_status carom_moreau_note_forces(carom_moreau *m, carom_error *error);

// ---- books.c
// What items and motion did, the impulses of which were accepted.
carom_status carom_moreau_book(carom_moreau *m, carom_event_kind kind, carom_ledger *ledger, carom_error *error);

#endif

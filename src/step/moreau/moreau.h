// The parts of the integrator `moreau`: the linearly implicit alpha-family of complementarity steps (Gavrea 2006,
// 2.1; Anitescu and Potra 1997 for alpha = 1; Potra, Anitescu, Gavrea and Trinkle 2006 for alpha = 1/2).
//
//     moreau.c     the step, as a pipeline
//     motion.h     masses, forces and joints: v' = v_free + S J'P; positions
//     items.c      what may touch: contacts and joint limits as one-sided rows
//     meeting.c    who met whom on the way: gaps at the end of a piece, fast bodies, moments of collisions
//     collide.c    collisions at one moment, by Newton's or Poisson's law, that make no energy
//     problem.c    W = J S J' and the free velocities along all rows; forces to begin from
//     books.c      what contacts and limits took, and what happened
//     setup.c      scratch, options, checkpoints
#ifndef CAROM_SRC_STEP_MOREAU_MOREAU_H
#define CAROM_SRC_STEP_MOREAU_MOREAU_H

#include "contact/assemble.h"
#include "contact/memory.h"
#include "contact/pairs.h"
#include "contact/projection.h"
#include "contact/solve/solver.h"
#include "model/joints.h"
#include "step/moreau/motion.h"

typedef enum carom_moreau_kind { CAROM_MOREAU_CONTACT, CAROM_MOREAU_LIMIT } carom_moreau_kind;

// Impulses along the rows, and the velocities after them.
typedef struct carom_moreau_outcome {
  double impulse[3], rate[3];
} carom_moreau_outcome;

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
  carom_row row[3];   // normal, two tangents; gap' = row[0] . velocities
  int tangents;       // 0 without friction, 1 in a planar scene, 2
  double start;       // the gap at the start of the step
  double gap, mu, e;  // the same, or such that by the rows the gap is 0 at the end where it is so indeed
  bool again;         // the latter
  bool dips;          // and at a moment on the way
  double bias;        // what the velocity along the normal may fall short of: gap/h, or e times the approach
  double surface[3];  // velocity of a driven body's surface, along the rows: subtracted
  double before[3];   // velocities along the rows at the start of the step
  double impulse[3];  // found
  bool solved;        // the impulse is that of the same problem with other rows or biases
  bool impact;        // bodies approach each other faster than forces make them within a step or two
  double free[3];     // velocities along the rows when forces have acted, before the impulses of a collision
  carom_moreau_outcome plastic, full;  // of a collision: without a bounce, and by its law
  double returned[3];                  // Poisson's law: impulses of the compression and what it gives back
} carom_moreau_item;

typedef struct carom_moreau_items {
  carom_moreau_item *list;  // (count)
  int count, capacity;
  carom_joint_limit *limits;  // room for all there are
  carom_row *rows;            // of all, one behind the other
  int row_capacity;
} carom_moreau_items;

// What bodies did to each other on the way to the end of a piece.
typedef struct carom_moreau_meeting {
  bool hit;  // a pair that bounces came to touch, at this share of the piece: the first of all
  double share;
  int entered;     // pairs and limits that overlap at the end: rows for them were added
  int body[2];     // who hit, or else who entered last; CAROM_WORLD where it was a limit
  double deepest;  // overlap at the end, m
  double excess;   // of those that entered, the deepest over what counts as touching
} carom_moreau_meeting;

typedef struct carom_moreau {
  const carom_model *model;
  const carom_step_options *options;
  carom_allocator allocator;
  bool collides;  // some surface bounces, or alpha < 1: bodies that meet collide at that moment
  bool *pushed;   // (body_count) scratch of the books
  struct {
    double restitution, friction;
  } losses;           // of the step so far, J
  int *number;        // (body_count) scratch of the problem
  int *impacts;       // (body_count) of a body in the step so far
  double *thickness;  // (part_count) half the least width of a part, m
  double *way;        // (body_count) how far any point of a body got in the last piece, m
  double whole;       // length of the step, of which the one being built is a piece, s
  int met[2];         // the bodies whose collision ended the last piece
  carom_moreau_motion motion;
  carom_contacts *contacts;
  carom_memory *memory;
  // for a start that overlaps
  carom_gathering *gathering;
  carom_groups *groups;
  carom_projection *projection;
  int begun;                     // whether there was a step
  double *acceleration, *reach;  // (body_count) by forces, m/s2; how far a body may get, m
  carom_state *origin;           // where a piece of the step began, to begin it again up to a collision
  carom_state *last;             // where the last step ended
  carom_state *meeting;          // where two bodies are when they first touch
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

// Candidate pairs for a step of h; and anew where bodies got farther than was thought.
carom_status carom_moreau_candidates(carom_moreau *m, double h, carom_error *error);
carom_status carom_moreau_more_candidates(carom_moreau *m, carom_error *error);
carom_status carom_moreau_gather(carom_moreau *m, carom_moreau_choice choice, carom_error *error);
// Where the contacts of a pair are found, and what is asked of them.
typedef struct carom_moreau_place {
  const carom_state *at;   // where its bodies are
  const carom_state *end;  // of the piece, to which the last impulses led
  double share;            // of the piece, at which no contact may be deeper than
  double depth;            // m
} carom_moreau_place;
// Adds rows for the contacts that a pair has at a place.
carom_status carom_moreau_gather_again(carom_moreau *m, int pair, const carom_moreau_place *place, carom_error *error);
// With alpha < 1 a step by itself would throw bodies that meet within it back at (1 - alpha)/alpha of their speed,
// since it is the mean velocity that closes the gap: they collide at the moment they meet, as those that bounce do.
// After many impacts of a body in one step only what is elastic bounces off it.
bool carom_moreau_pair_collides(const carom_moreau *m, int body_a, int body_b, double restitution);
double carom_moreau_thin(const carom_moreau *m, int part_a, int part_b);   // the thinner part's half width, m
double carom_moreau_touch(const carom_moreau *m, int part_a, int part_b);  // gaps and overlaps this small are none, m
// Of it: bodies that collide were stopped within `touch` of each other; what is as near takes part.
#define CAROM_MOREAU_NEARNESS 2.0
// Where a point of a body that is at `at` is when the body is at `to`.
carom_vec3 carom_moreau_carried(const carom_state *at, const carom_state *to, int body, carom_vec3 point);
// The velocity of a driven body's surface at a point: its mean over the piece, or at the moment of a collision.
carom_vec3 carom_moreau_surface_velocity(const carom_moreau *m, int body, carom_vec3 point);
// A speed so low that a bounce would be over within a step or two: gravity and forces acting for 2 steps.
double carom_moreau_slow(const carom_moreau *m);
// How fast an item closes, where that is not too slow for a bounce; else 0.
double carom_moreau_approach(const carom_moreau *m, const carom_moreau_item *item, double slow);

// ---- meeting.c
#define CAROM_MOREAU_LIMIT_TOUCH 1e-9  // of limits of joints, m or rad
// Measures all gaps at the end of a piece from `origin`. Pairs that bounce and were not among the items hit: the moment
// is found by cubic interpolation of the gap, or by the time of impact where bodies are fast. For other pairs that
// overlap or passed through each other rows are added.
carom_status carom_moreau_meet(carom_moreau *m, const carom_state *end, carom_moreau_meeting *meeting,
                               carom_error *error);

// ---- collide.c
// What touches now collides, while forces act for `kick`; what may be met in the rest of the step is found on the way.
carom_status carom_moreau_collide(carom_moreau *m, carom_state *state, double kick, carom_ledger *ledger,
                                  carom_error *error);

// ---- problem.c
// Finds the impulses of all items: row . (alpha v' + (1 - alpha) v) + bias >= 0, complementary to them, with Coulomb
// friction; and v' with them. What is slower than `still` has none, where nothing faster touches it (m/s).
carom_status carom_moreau_solve(carom_moreau *m, double still, carom_ledger *ledger, carom_error *error);
// Keeps the impulses of a step as forces, to begin the next from.
carom_status carom_moreau_note_forces(carom_moreau *m, carom_error *error);

// ---- books.c
// What items and motion did, the impulses of which were accepted.
carom_status carom_moreau_book(carom_moreau *m, carom_ledger *ledger, carom_error *error);
// What was lost in the step, when it is over.
void carom_moreau_book_losses(carom_moreau *m, carom_ledger *ledger);

// Whether springs and dampers are solved for, so that none with a length is too stiff.
bool carom_moreau_solves_springs(const carom_model *model, const carom_step_options *options);

#endif

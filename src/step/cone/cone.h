// The integrator `cone`: per step one convex quadratic program over friction cones (Anitescu 2006; Gavrea 2.3.7 to
// 2.3.10; carom/contact.h), with gap / h on the right-hand side, so that contacts that close within the step are in it
// before they touch.
//
//     cone.c           the order of a step
//     motion.c         free velocities, and how bodies are moved with those that the contacts leave
//     search*.c        which bodies may meet within the step, and where       -> near
//     walls.c          the same for what does not move by itself: boundaries and fixed bodies
//     memory.c         what each contact carried a step ago                   -> warm start
//     restitution.c    which of these are impacts, and what they are thrown back with
//     impacts.c        bounces at the moment that bodies meet, by the impact laws
//     program.c        which of these enter the program, and the solve        -> velocities
//     joints.c         joints, motors and stops as rows of it
//     project.c        what is left of overlaps of bodies that are no balls
//     book.c           what the contacts did, for the ledger
//     outlet.c         grains that leave and come back
//     setup.c          scratch and options
#ifndef CAROM_SRC_STEP_CONE_CONE_H
#define CAROM_SRC_STEP_CONE_CONE_H

#include "carom/contact.h"
#include "contact/grains.h"
#include "contact/memory.h"
#include "contact/pairs.h"
#include "contact/projection.h"
#include "contact/solve/balls.h"
#include "impact/system.h"
#include "model/fields.h"
#include "model/joints.h"
#include "step/step.h"
#include "step/variational/dmv.h"

// A place where two bodies may meet within the step. It stands beside carom_contact (contact/pairs.h), which is what
// two convex parts of bodies have in common, because there are many times more of these, most of balls that have no
// parts to be told apart and of boundaries that have neither parts nor a body; and because what follows works on arms,
// not on points, which would have to be looked up against the bodies' places each time.
typedef struct carom_near {
  int a, b;       // bodies; a moves, b may be fixed, driven or CAROM_WORLD
  int64_t key;    // tells the contacts of body a apart; those of one key by their places on it
  bool mirrored;  // of two balls: the same pair may have been found from b's side a step ago
  float restitution;
  double gap, friction;
  carom_vec3 normal;        // from b to a
  carom_vec3 arm_a, arm_b;  // from the centres of mass to the point of contact
} carom_near;

// Those found so far. There may be more than there is room for: then they are counted only.
typedef struct carom_near_list {
  carom_near *near;
  int count, room;
} carom_near_list;

typedef struct carom_velocities {
  carom_vec3 *v, *w;  // (body_count)
} carom_velocities;

// Who moves, and how fast.
typedef struct carom_cone_bodies {
  bool balls;       // all that moves are single balls: then a grid of cells finds the pairs
  int *mover;       // (moving_count) bodies that move
  int *rank;        // (body_count) place in the program; -1 for bodies that never move
  double *radius;   // (body_count) bounding radius
  double smallest;  // of those that move, m
  carom_dmv_bodies constants;
  void *constants_room;
  carom_velocities start, free, after;  // before forces; after forces; after the contacts, as far as they are known
  bool *touches;                        // (body_count) is in a contact of the program
  bool *pushed;                         // (body_count) a contact pushes it, or another of its group; for the books
  bool *falls;                          // (body_count) nothing that touches it is held by what does not move
  bool *lasts;         // (body_count) so do those it touches, none of which moves: goes with the mean velocity
  bool *bounces;       // (body_count) they throw it back: goes freely until it meets them, and freely from there
  double *share;       // (body_count) of the step that it goes with its velocity before: 1/2 if it lasts; else 0
  carom_vec3 *middle;  // (body_count) where weight acts over the step; then scratch of the drift
} carom_cone_bodies;

// Forces other than gravity.
typedef struct carom_cone_fields {
  bool present;
  carom_loads loads;
  carom_mat3 *directors, *director_rates;  // (body_count)
} carom_cone_fields;

// Boundaries and parts of fixed bodies, where they are now.
typedef struct carom_cone_walls {
  int *parts, part_count;
  carom_aabb *boxes;   // (part_count)
  carom_pose *frames;  // (boundary_count)
  carom_vec3 *upward;  // (boundary_count) z axes of the frames
} carom_cone_walls;

// Which places are near.
typedef struct carom_cone_search {
  double *reach;         // (body_count) how far a body may get within the step, m
  double *acceleration;  // (body_count) by forces, of any point of a body, m/s2
  carom_near *near;
  int near_count, near_capacity;
  // balls
  carom_grain_grid grid;
  int *wall_count;                // (moving_count) contacts with walls by sorted place
  bool alike;                     // grains are all of one material,
  carom_contact_surface surface;  // with this between any two
  // bodies of any shape
  carom_contacts *parts;
  carom_near *unsorted;
  int unsorted_capacity;
  int *first;          // (body_count + 1) of each body, in near
  double deepest;      // overlap of bodies of any shape, m
  carom_contact *due;  // those of an impact
  int due_capacity;
} carom_cone_search;

// The program: which contacts are in it, and its solution.
typedef struct carom_cone_program {
  // by number of the place that is near
  bool *chosen;          // (near_count) is in the program
  carom_vec3 *impulses;  // (near_count) of those in the program; 0 of others
  double *rebound;       // (near_count) speed that an impact is thrown back with, or is awaited with, m/s; 0 for none
  int capacity;          // of these and of those by number of the contact
  // by number of the contact in it
  int *active;                    // (active_count) into near
  carom_contact_point *contacts;  // (active_count)
  carom_vec3 *solution;           // (active_count)
  int active_count;
  // by rank
  carom_contact_body *bodies;      // (moving_count + drive_count)
  carom_vec3 *velocities, *spins;  // (same)
  // how it is solved
  bool bounces;  // some surface has restitution
  bool swept;    // by contact/solve/balls.h; else by carom/contact.h
  carom_balls balls;
  carom_contact_work *solver;
  carom_contact_options options;
  bool exacting;  // a tolerance was asked for: then it is met, else sweeps are saved where they change nothing
  // Bodies of any shape, where no solver was asked for, go by Coulomb's law itself; else null.
  bool lawful;
  bool unequal;  // in mass: then what the heavy ones hardly feel throws the light ones about
  carom_groups *groups;
  carom_gathering *gathering;    // of the projection
  carom_state *before;           // of a part of the step, then of the projection
  carom_projection *projection;  // takes away what is left of overlaps; null with boundaries, of which it knows nothing
  carom_impact_system *impacts;  // by which bodies bounce when they meet; null where nothing does, and likewise
} carom_cone_program;

// Joints as rows of the program: the equations of all that hold, joint by joint, then stops.
typedef struct carom_cone_joints {
  carom_row *equations;      // (joint_count x CAROM_JOINT_ROWS)
  carom_joint_limit *stops;  // (stop_count)
  carom_contact_row *rows;   // (count)
  double *multipliers;       // (count)
  int count, equation_count, stop_count;
} carom_cone_joints;

// What the solve of a step came to.
typedef struct carom_cone_outcome {
  int iterations;
  double residual;   // relative to the velocities in play
  double gap;        // relative duality gap; 0 where sweeps solve, which do not tell it
  double overlap;    // deepest at the start of the step, m
  double violation;  // deepest that the new velocities lead to, m; between balls there is never more
  double foreseen;   // deepest at the trial end of the step, m
  bool held;         // joints are closed there
} carom_cone_outcome;

typedef struct carom_cone {
  const carom_model *model;
  carom_allocator allocator;
  int threads;
  carom_cone_bodies bodies;
  carom_cone_fields fields;
  carom_cone_walls walls;
  carom_cone_search search;
  carom_cone_program program;
  carom_cone_joints joints;
  carom_memory *memory;
  carom_state *trial;  // the end of the step, to see what overlaps there and what joints make of it; null without need
  double h;            // of the step at hand, or of its part; 0 before the first
  double whole;        // of the step of which that is a part
  double stride;       // how far the program was good last
  bool hasty;          // so many impacts were in it that no more are waited for: bodies stop each other
  double owed;         // energy that the discrete motion gave to bodies and has not taken back, J;
  double forgone;      // and that it took from bodies which nothing pushes, and has not given back
  carom_cone_outcome outcome;
} carom_cone;

// Is it a body that contacts can move?
static inline bool carom_cone_moves(const carom_cone *cone, int body) {
  return body != CAROM_WORLD && (unsigned)cone->bodies.rank[body] < (unsigned)cone->model->moving_count;
}

// The velocity of a against b where they meet.
static inline carom_vec3 carom_near_velocity(const carom_near *near, const carom_velocities *V) {
  carom_vec3 u = cm_add(V->v[near->a], cm_cross(V->w[near->a], near->arm_a));
  if (near->b == CAROM_WORLD) return u;
  return cm_sub(u, cm_add(V->v[near->b], cm_cross(V->w[near->b], near->arm_b)));
}

// ---- setup.c
void carom_cone_push(carom_stepper *stepper, carom_arena *arena);
carom_status carom_cone_prepare(carom_stepper *stepper, carom_error *error);
void carom_cone_release(carom_stepper *stepper);
bool carom_cone_remember(carom_stepper *stepper, carom_tape *tape);

// ---- motion.c
// p += h f, l += h torque, and the free velocities: of movers after all forces, of driven bodies as given.
void carom_cone_kick(carom_cone *cone, carom_state *state, carom_ledger *ledger);
// Momenta after the contacts; then bodies go where these take them. What touches nothing falls on a parabola.
void carom_cone_take_momenta(const carom_cone *cone, carom_state *state);
// Which bodies carry an impulse, once it is known, and which contacts last.
void carom_cone_note_touches(carom_cone *cone, const carom_state *state);
// Where contacts act on a body: at the start, or where it bounces.
carom_vec3 carom_cone_place(const carom_cone *cone, const carom_state *state, int body);
carom_status carom_cone_drift(carom_stepper *stepper, carom_state *state, double end, carom_error *error);

// ---- search.c, search_parts.c: fills near with all places where bodies within each other's reach may meet
carom_status carom_cone_search_near(carom_cone *cone, const carom_state *state, carom_error *error);
carom_status carom_cone_search_parts(carom_cone *cone, const carom_state *state, carom_error *error);

// All contacts of bodies of any shape within reach of each other, once pairs have been looked for.
carom_status carom_cone_find_contacts(carom_cone *cone, const carom_state *state, const carom_contact **contacts,
                                      int *count, carom_error *error);

// Lets the places of a pair of parts that overlap there at the trial end of the step seem nearer; false when there are
// none.
bool carom_cone_widen(carom_cone *cone, const carom_state *state, int pair, const carom_distance_result *d);

// ---- walls.c
void carom_cone_place_walls(carom_cone *cone, const carom_state *state);
// Where a ball that is part of a body, or a corner, meets boundaries within its reach.
void carom_cone_touch_boundaries(const carom_cone *cone, const carom_state *state, int body, const carom_grain *ball,
                                 carom_near_list *list);
// Where a body that is a ball meets fixed bodies.
void carom_cone_touch_fixed(const carom_cone *cone, const carom_state *state, int body, const carom_grain *ball,
                            carom_near_list *list);

static inline void carom_near_set_surface(carom_near *near, carom_contact_surface surface) {
  near->friction = surface.friction;
  near->restitution = (float)surface.restitution;
}

// ---- memory.c: the impulse that a contact would carry in this step if its force were that of the last; notes the
// forces of this one
carom_vec3 carom_cone_recall(const carom_cone *cone, const carom_state *state, const carom_near *near);
carom_status carom_cone_note_forces(carom_cone *cone, const carom_state *state, carom_error *error);

// ---- restitution.c
// The part of the step after which bodies meet that go freely.
double carom_cone_meeting(const carom_cone *cone, const carom_near *near);
bool carom_cone_may_bounce(const carom_model *model);
void carom_cone_set_rebounds(carom_cone *cone);  // from the velocities at the start, and the free ones
// Cuts the rebounds down when the contacts of the last solve made energy, to nought the last time; false when they did
// not.
bool carom_cone_soften(carom_cone *cone, bool last);

// The part of the step after which gap + start s + more s^2 / 2 = 0, all in units of velocity; at most 1.
double carom_cone_time_to_close(double gap, double start, double more);

// ---- impacts.c
// Speed with which bodies that bounce will meet where they are near, m/s; 0 when they do not, or stop each other there.
double carom_cone_awaited(const carom_cone *cone, const carom_near *near, double start, double free);
bool carom_cone_collides_now(const carom_cone *cone);  // one of those that are awaited has come
// How much of the part of the step that was solved may be gone: until bodies meet, and less where they would overlap.
double carom_cone_first_meeting(const carom_cone *cone);
double carom_cone_good_share(const carom_cone *cone);
double carom_cone_shortest(const carom_cone *cone);  // a part that is not cut for that, s
carom_status carom_cone_collide(carom_cone *cone, carom_state *state, carom_ledger *ledger, carom_error *error);

// ---- program.c
// Room for all that is near; then those that enter the program, by the velocities at hand. Those that `carry` a force
// stay in it, whatever they are about to do.
carom_status carom_cone_begin_program(carom_cone *cone, const carom_state *state, bool carry, carom_error *error);
// Solves for the places at hand until overlaps are as small as they should be; not at all where those that carry a
// force already part them, unless `fresh`.
carom_status carom_cone_solve(carom_cone *cone, const carom_state *state, bool fresh, carom_error *error);
// Who is pushed by the contacts of the solution, for the books.
void carom_cone_note_pushed(carom_cone *cone);
// Awaited, or thrown back by the program.
static inline bool carom_cone_is_impact(const carom_cone *cone, int near) {
  return cone->program.bounces && cone->program.rebound[near] > 0;
}

// ---- joints.c
void carom_cone_joints_push(carom_cone *cone, carom_arena *arena);
// Rows for the step from `state` to the time `end`; all else takes these.
void carom_cone_joints_begin(carom_cone *cone, const carom_state *state, double end);
void carom_cone_joints_touch(carom_cone *cone, const carom_state *state);  // marks jointed bodies as touching
// Moves the right-hand sides by what the trial end of the step leaves of the equations; returns the worst of it (m).
double carom_cone_joints_correct(carom_cone *cone, double end);
void carom_cone_joints_book(carom_cone *cone, const carom_state *state, carom_ledger *ledger);

// ---- project.c
// Makes places of pairs that would overlap at the trial end of the step seem nearer by that; false when none does.
carom_status carom_cone_foresee(carom_cone *cone, const carom_state *state, bool *any, carom_error *error);
carom_status carom_cone_project(carom_cone *cone, carom_state *state, carom_error *error);

// ---- book.c
// What weight and contacts did from `state` on; and what of it is told as events of the step that ends at `end`.
carom_status carom_cone_book(carom_cone *cone, const carom_state *state, double end, carom_ledger *ledger,
                             carom_error *error);
void carom_cone_book_losses(carom_cone *cone, carom_ledger *ledger);  // what they took, less what is owed
bool carom_cone_contact_moments(const carom_stepper *stepper, carom_mat3 *moments);

// ---- outlet.c
carom_status carom_cone_recirculate(carom_cone *cone, carom_state *state, double end, carom_ledger *ledger,
                                    carom_error *error);

#endif

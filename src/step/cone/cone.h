// The integrator `cone`: per step one convex quadratic program over friction cones (Anitescu 2006; Gavrea 2.3.7 to
// 2.3.10; carom/qp.h), with gap / h on the right-hand side, so that contacts that close within the step are in it
// before they touch.
//
//     cone_search*.c   which bodies may meet within the step, and where       -> near
//     cone_memory.c    what each contact carried a step ago                   -> warm start
//     cone_restitution.c   which of these are impacts, and what they are thrown back with
//     cone_active.c    which of these enter the program, and the solve        -> velocities
//     cone_joints.c    joints, motors and stops as rows of it
//     cone_book.c      what the contacts did, for the audit
//     cone_outlet.c    grains that leave and come back
//     cone.c           the order of a step
#ifndef CAROM_SRC_STEP_CONE_CONE_H
#define CAROM_SRC_STEP_CONE_CONE_H

#include "carom/qp.h"
#include "contact/grains.h"
#include "contact/pairs.h"
#include "contact/solve/balls.h"
#include "model/fields.h"
#include "model/joints.h"
#include "step/step.h"
#include "step/variational/dmv.h"

// A place where two bodies may meet within the step.
typedef struct carom_near {
  int a, b;       // bodies; a moves, b may be fixed, driven or CAROM_WORLD
  int64_t key;    // tells the contacts of body a apart
  bool mirrored;  // the same pair may have been found from b's side a step ago
  float restitution;
  double gap, friction;
  carom_vec3 normal;        // from b to a
  carom_vec3 arm_a, arm_b;  // from the centres of mass to the point of contact
} carom_near;

// A contact as remembered for the next step, grouped by body a.
typedef struct carom_cone_record {
  int64_t key;
  carom_vec3 impulse;
} carom_cone_record;

typedef struct carom_cone_memory {
  carom_cone_record *records;
  int *first, *last;  // (body_count) records of each body
  int count, capacity;
} carom_cone_memory;

// Joints as rows of the program: the equations of all that hold, joint by joint, then stops.
typedef struct carom_cone_joints {
  double *theta;             // (joint_count x CAROM_JOINT_ROWS) what the equations leave at the start
  carom_row *equations;      // (same)
  carom_joint_limit *stops;  // (stop_count)
  carom_qp_row *rows;        // (count)
  double *multipliers;       // (count)
  int *place;                // (count) into kept
  double *kept;              // multipliers of the last step
  int count, equation_count, stop_count;
} carom_cone_joints;

typedef struct carom_cone {
  const carom_model *model;
  carom_allocator allocator;
  int threads;
  bool grains;                    // all that moves are single balls: then a grid of cells finds the pairs
  bool fields;                    // forces other than gravity
  double size;                    // radius of the smallest moving body, m
  double *radius;                 // (body_count) of balls; bounding radius of others
  double *reach;                  // (body_count) how far a body may get within the step, m
  carom_vec3 *v, *w;              // (body_count) velocities: free ones, then those after the contacts
  carom_vec3 *v_start, *w_start;  // (body_count) before forces
  carom_vec3 *v_free, *w_free;    // (body_count)
  bool *touches;                  // (body_count) is in a contact of the program
  int *mover;                     // (moving_count) bodies that move
  int *rank;                      // (body_count) place in the program; -1 for bodies that never move
  carom_dmv_bodies bodies;
  void *dmv_memory;  // of `bodies`
  carom_loads loads;
  carom_mat3 *directors, *director_rates;
  // the program
  bool swept;  // by cone_sweep.c; else by carom/qp.h
  carom_sweep sweep;
  carom_qp_work *solver;
  carom_qp_options options;
  bool exacting;  // a tolerance was asked for: then it is met, else sweeps are saved where they change nothing
  carom_qp_body *program_bodies;                   // (moving_count + drive_count)
  carom_vec3 *program_velocities, *program_spins;  // (same)
  carom_qp_contact *program_contacts;              // (active_count)
  carom_vec3 *program_impulses;                    // (active_count)
  int *active;                                     // (active_count) into near
  int active_count, contact_capacity, program_impulse_capacity, active_capacity;
  // candidates
  carom_near *near;
  carom_vec3 *impulses;  // (near_count) of those in the program; 0 of others
  bool *chosen;          // (near_count) is in the program
  bool bounces;          // some surface has restitution
  double *rebound;       // (near_count) speed that an impact is thrown back with, m/s; null unless `bounces`
  int near_count, near_capacity, impulse_capacity, chosen_capacity, rebound_capacity;
  carom_grain_grid grid;
  bool alike;                     // grains are all of one material,
  carom_contact_surface surface;  // with this between any two
  int *wall_count;                // (moving_count) contacts with walls by sorted place
  carom_contacts *parts;          // of bodies that are not balls
  int *fixed_parts, fixed_count;
  carom_aabb *fixed_boxes;  // (fixed_count) now
  carom_pose *frames;       // (boundary_count) now
  carom_vec3 *upward;       // (boundary_count) z axes of the frames
  carom_cone_memory memory;
  carom_cone_joints joints;
  carom_state *trial;  // the end of the step, to see what joints make of it; null without joints
  carom_contact_event *events;
  int event_capacity;
  double h;  // of the last step that was taken; 0 before the first
} carom_cone;

// What the solve of a step came to.
typedef struct carom_cone_outcome {
  int iterations;
  double residual;   // relative to the velocities in play
  double gap;        // relative duality gap; 0 where sweeps solve, which do not tell it
  double overlap;    // deepest at the start of the step, m
  double violation;  // deepest that the new velocities lead to, m; between balls there is never more
} carom_cone_outcome;

// ---- cone_search.c: how far bodies may get in h at their free speeds; then fills near with all places where bodies
// within each other's reach may meet
void carom_cone_set_reach(carom_cone *cone, double h);
carom_status carom_cone_search(carom_cone *cone, const carom_state *state, carom_error *error);
// ---- cone_search_parts.c: the same for bodies of any shape
carom_status carom_cone_search_parts(carom_cone *cone, const carom_state *state, carom_error *error);
// Touches of a ball (or corner) with boundaries; writes at most `room` and returns how many there are.
int carom_cone_touch_boundaries(const carom_cone *cone, int body, carom_vec3 center, carom_vec3 arm, double radius,
                                double reach, int64_t key, carom_near *near, int room);

// ---- cone_memory.c
carom_vec3 carom_cone_recall(const carom_cone_memory *memory, const carom_near *near);
carom_status carom_cone_remember(carom_cone *cone, carom_error *error);
void carom_cone_forget(carom_cone_memory *memory, int body);
bool carom_cone_remember_all(carom_stepper *stepper, carom_tape *tape);

// ---- cone_restitution.c
bool carom_cone_may_bounce(const carom_model *model);
void carom_cone_set_rebounds(carom_cone *cone, double h);  // from the velocities at the start, and the free ones
// Cuts the rebounds down when the contacts of the last solve made energy, to nought the last time; false when they did
// not.
bool carom_cone_soften(carom_cone *cone, bool last);

// What stands with n.u' in the program, for a candidate.
static inline double carom_cone_bias(const carom_cone *cone, int near, double h) {
  return cone->rebound && cone->rebound[near] > 0 ? -cone->rebound[near] : cone->near[near].gap / h;
}

// Is it a body that contacts can move?
static inline bool carom_cone_moves(const carom_cone *cone, int body) {
  return body != CAROM_WORLD && (unsigned)cone->rank[body] < (unsigned)cone->model->moving_count;
}

// ---- cone_active.c
carom_status carom_cone_solve(carom_cone *cone, const carom_state *state, double h, carom_cone_outcome *outcome,
                              carom_error *error);
// Goes on from the last solve with other right-hand sides of the joints.
carom_status carom_cone_solve_on(carom_cone *cone, const carom_state *state, double h, carom_cone_outcome *outcome,
                                 carom_error *error);
// Velocity with which a body is moved over the step: what touches nothing falls on a parabola.
carom_vec3 carom_cone_drift_velocity(const carom_cone *cone, int body, double h);

// ---- cone_sweep.c: at most so many sweeps over the active contacts of balls, until the residual (m/s) is about the
// tolerance, or none of them is about to overlap by more than `enough` (m; negative: never); leaves velocities,
// impulses and the true residual
carom_status carom_cone_sweep(carom_cone *cone, double h, int most, double tolerance, double enough, int *iterations,
                              double *residual, carom_error *error);

// ---- cone_joints.c
void carom_cone_joints_push(carom_cone *cone, carom_arena *arena);
// Rows for the step from `state` to the time `end`; all else takes these.
void carom_cone_joints_begin(carom_cone *cone, const carom_state *state, double h, double end);
void carom_cone_joints_touch(carom_cone *cone, const carom_state *state);  // marks jointed bodies as touching
// Moves the right-hand sides by what the trial end of the step leaves of the equations; returns the worst of it (m).
double carom_cone_joints_correct(carom_cone *cone, const carom_state *trial, double h, double end);
void carom_cone_joints_book(carom_cone *cone, const carom_state *state, double end, carom_step_report *report);

// ---- cone_book.c
void carom_cone_book(carom_cone *cone, const carom_state *state, double h, carom_step_report *report);
// Events of the step that ends at `end`.
carom_status carom_cone_events(carom_cone *cone, const carom_state *state, double end, carom_step_report *report,
                               carom_error *error);
bool carom_cone_contact_moments(const carom_stepper *stepper, carom_mat3 *moments);

// ---- cone_outlet.c
carom_status carom_cone_recirculate(carom_cone *cone, carom_state *state, carom_step_report *report,
                                    carom_error *error);

// Room for `count` elements; what was in the array is lost.
bool carom_cone_room(const carom_allocator *allocator, void **array, int *capacity, int count, size_t size);

#endif

// The parts of the integrator `moreau`: the linearly implicit alpha-family of complementarity steps (Gavrea 2006, 2.1;
// Anitescu and Potra 1997 for alpha = 1; Potra, Anitescu, Gavrea and Trinkle 2006 for alpha = 1/2).
//
//     moreau.c           the step as a pipeline, collisions, books
//     moreau_motion.c    masses, forces and joints: v' = v_free + S J' P; positions
//     moreau_items.c     what may touch: contacts and joint limits as one-sided rows
//     moreau_lcp.c       the complementarity problem of a step, and its solution
//
// Velocities are kept as six numbers a body: linear, and angular along world axes at the configuration q* at which rows
// are taken. With alpha = 1 that is q^l, as published; otherwise q* = q^l + (1 - alpha) h v^l, the point about which
// the angular momentum of impulses balances to the last bit, and about which alpha = 1/2 is of second order with
// joints.
#ifndef CAROM_SRC_STEP_MOREAU_H
#define CAROM_SRC_STEP_MOREAU_H

#include "carom/lcp.h"
#include "mechanics/contacts.h"
#include "mechanics/joints.h"
#include "model/fields.h"
#include "model/joint_system.h"
#include "step/step.h"

// A one-sided constraint: contact point or joint limit.
typedef struct carom_moreau_item {
  carom_joint_row row[3];  // normal, two tangents; gap' = row[0] . velocities
  int tangents;            // 0 without friction, 1 in a planar scene, 2
  double gap, mu, e;
  double surface[3];   // velocity of a driven body's surface, along the rows: subtracted
  double before[3];    // velocities along the rows at the start of the step
  double impulse[3];   // found
  double kept[3];      // of an earlier phase of the same collision
  double turn;         // of the friction directions, rad: exact cone
  int body_a, body_b;  // of the contact; -1, -1 for a limit
  int part_a, part_b, index;
  carom_vec3 point, normal;
} carom_moreau_item;

typedef struct carom_moreau {
  const carom_model *model;
  const carom_step_options *options;
  carom_allocator allocator;
  carom_contacts *contacts;
  carom_joint_system *joints;  // null without joints
  carom_state *star;           // q*; its momenta are not used
  carom_state *origin;         // where the step began, to begin it again up to a collision
  double alpha, h, time;       // of the step being built, and its start
  bool unstabilized;           // index 2: joints by their velocities alone
  bool contact_free;           // the index-2 and index-3 steps see joints alone
  bool restitution;            // some surface bounces
  bool loads_present;
  carom_loads loads;
  carom_mat3 *d, *d_rate;       // (body_count) directors at q*, and their rate
  carom_vec3 *rate;             // (body_count)
  carom_joint_mass *mass;       // (body_count) M~ at q*
  carom_mat3 *inverse_turning;  // (body_count)
  double *v, *v_free, *v_new;   // (6 body_count)
  double *b, *b_free;           // (6 body_count) right-hand sides
  double *theta;                // (joint_count * CAROM_JOINT_ROWS) joint residuals at the start of the step
  double *joint_impulse;        // (as long)
  double *reach;                // (body_count)
  carom_moreau_item *items;     // (item_count)
  int item_count, item_capacity;
  carom_joint_limit *limits;  // room for all
  // the problem
  double *W;  // (rows x rows) column-major, rows of all items
  double *y;  // (6 body_count) one column of S J'
  double *A, *q, *z, *w;
  unsigned char *basis;
  int *row_start, *pair_start;  // (item_count + 1) first row, first complementary pair
  int rows, n, row_capacity, n_capacity, start_capacity;
  int basis_count;     // of the last solve with the same items, to begin from; 0 for none
  uint64_t basis_key;  // which items those were
  carom_lcp_work *work;
  int work_size;
  carom_contact_event *events;
  int event_count, event_capacity;
} carom_moreau;

// ---- moreau_motion.c ------------------------------------------------------------------------------------------------

// Sets q*, M~, v and b_free = M~ v + k~ for a step of h from the state. h = 0 is a collision: impulses only.
carom_status carom_moreau_begin(carom_moreau *m, const carom_state *state, double h, double alpha, double time,
                                carom_error *error);
// v_free: what masses, forces and joints make of b_free.
void carom_moreau_free_velocity(carom_moreau *m);
// z = S b, with joints held to c = 0.
void carom_moreau_respond(carom_moreau *m, const double *b, double *z);
// The velocities after the impulses of all items, and the joints' impulses.
void carom_moreau_apply(carom_moreau *m);
// Positions and momenta from v_new.
void carom_moreau_move(const carom_moreau *m, const carom_state *from, carom_state *to);
// Makes up for joint residuals left at the end (index 3): adds them to those of the start; the largest, m or rad.
double carom_moreau_correct(carom_moreau *m, const carom_state *end, double time);

// The rates between v and v_new into `rate` and `d_rate`: forces times these is their work, exactly.
void carom_moreau_mean_rates(carom_moreau *m);

double carom_moreau_rate(const carom_model *model, const carom_joint_row *row, const double *v);

// ---- moreau_items.c -------------------------------------------------------------------------------------------------

typedef enum carom_moreau_choice {
  CAROM_MOREAU_STEP,      // all that may be met within the step, by surfaces that do not bounce; the rest if touching
  CAROM_MOREAU_TOUCHING,  // all that touch: for a collision
} carom_moreau_choice;

// Candidate pairs for a step of h from the state.
carom_status carom_moreau_candidates(carom_moreau *m, const carom_state *state, double h, carom_error *error);
carom_status carom_moreau_gather(carom_moreau *m, carom_moreau_choice choice, double touch, carom_error *error);
// A speed so low that a bounce would be over within a step or two: gravity and forces acting for 2 h.
double carom_moreau_slow(const carom_moreau *m, double h);
// When, as a share of the step from `origin` to `end`, the first pair that bounces and is not among the items comes to
// touch, by cubic interpolation of its gap; 2 when none does. `deepest` gets the deepest overlap at the end.
carom_status carom_moreau_first_hit(carom_moreau *m, const carom_state *end, double h, double touch, double *share,
                                    double *deepest, carom_error *error);

// ---- moreau_lcp.c ---------------------------------------------------------------------------------------------------

// Finds the impulses of all items: row . (alpha v' + (1 - alpha) v) + bias >= 0, complementary to them, with Coulomb
// friction. `bias` (item_count) is gap/h, or e times the approach. Adds to report->complementarity and iterations.
carom_status carom_moreau_solve(carom_moreau *m, const double *bias, double time, carom_step_report *report,
                                carom_error *error);
carom_status carom_moreau_reserve(carom_moreau *m, carom_error *error);  // room for the items gathered
// The basis of the last problem, and room for others of a size.
bool carom_moreau_remember(carom_moreau *m, const unsigned char *basis, int count, int capacity);
double *carom_moreau_bias(carom_moreau *m);  // (item_count) scratch for the above

#endif

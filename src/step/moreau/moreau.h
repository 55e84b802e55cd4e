// The parts of the integrator `moreau`: the linearly implicit alpha-family of complementarity steps (Gavrea 2006,
// 2.1; Anitescu and Potra 1997 for alpha = 1; Potra, Anitescu, Gavrea and Trinkle 2006 for alpha = 1/2).
//
//     moreau.c           the step as a pipeline, collisions, books
//     moreau_motion.c    masses, forces and joints: v' = v_free + S J' P; positions
//     moreau_items.c     what may touch: contacts and joint limits as one-sided rows
//     moreau_rows.c      W = J S J' and the free velocities along all rows; impulses to begin from
//     moreau_newton.c    impulses by Newton's method on the contact laws, by phases; sweeps
//     moreau_lcp.c       the complementarity problem of a step, and who solves it
//
// Velocities are kept as six numbers a body: linear, and angular along world axes at the configuration q* at which
// rows are taken. With alpha = 1 that is q^l, as published; otherwise q* = q^l + (1 - alpha) h v^l, the point about
// which the angular momentum of impulses balances to the last bit, and about which alpha = 1/2 is of second order
// with joints.
#ifndef CAROM_SRC_STEP_MOREAU_MOREAU_H
#define CAROM_SRC_STEP_MOREAU_MOREAU_H

#include "carom/lcp.h"
#include "contact/pairs.h"
#include "model/fields.h"
#include "model/joint_system.h"
#include "model/joints.h"
#include "step/step.h"

// A one-sided constraint: contact point or joint limit.
typedef struct carom_moreau_item {
  carom_row row[3];  // normal, two tangents; gap' = row[0] . velocities
  int tangents;      // 0 without friction, 1 in a planar scene, 2
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

// An impulse that was found, and whose it was.
typedef struct carom_moreau_impulse {
  int part_a, part_b, index, body_a;  // body_a = -1: of a joint limit
  double limit;                       // its impulse
  carom_vec3 point;                   // of a contact, as seen from body_a
  carom_vec3 impulse;                 // on body_a
} carom_moreau_impulse;

// How an item takes part, with friction within a polygon of corners mu c_n d_a.
typedef enum carom_moreau_phase {
  CAROM_MOREAU_OPEN,    // P = 0
  CAROM_MOREAU_STICK,   // u = 0
  CAROM_MOREAU_CORNER,  // slides: friction is mu c_n d_a, u_n = 0
  CAROM_MOREAU_EDGE,    // slides across an edge: friction is between d_a and d_b, u_n = 0 and (d_b - d_a)'u = 0
} carom_moreau_phase;

// Scratch of moreau_newton.c, for up to row_capacity rows.
typedef struct carom_moreau_newton {
  double *K;                  // (k x k) the system of the present phases, then its inverse
  double *r, *x, *column;     // (rows)
  double *best;               // (rows) the best impulses so far
  double *P0, eps;            // (rows) the proximal term eps (P - P0)
  double noise;               // velocities that are as good as none
  int k;                      // unknowns
  double *panel;              // (CAROM_LCP_INVERSE_PANEL * rows)
  int *swaps;                 // (rows)
  int *unknown_item;          // (rows) whose unknown it is
  double (*generator)[3];     // (rows) impulse along the item's rows for each unknown
  double (*test)[3];          // (rows) the velocity that is to vanish
  carom_moreau_phase *phase;  // (rows; one for each item)
  double (*side)[2][2];       // (rows; one for each item) d_a and d_b
} carom_moreau_newton;

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
  bool restitution;            // some surface bounces, or alpha < 1: bodies that meet collide at that moment
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
  // The problem along rows: u = u0 + alpha W P.
  double *W;                    // (rows x rows) column-major, rows of all items
  double *y;                    // (6 body_count) one column of S J'
  double *u0, *u, *P;           // (rows)
  int *row_start, *pair_start;  // (item_count + 1) first row, first complementary pair
  int *at_body, *at_item;       // items by body: (body_count + 2) where they begin, and (2 item_count) which
  int rows, n, row_capacity, n_capacity, start_capacity;
  carom_moreau_newton newton;
  // The same as pairs.
  double *A, *q, *z, *w, *g;  // A (n x n); g (2 n) the friction direction of each pair
  unsigned char *basis;
  // Impulses of the last step, to begin from.
  carom_moreau_impulse *last;
  int last_count, last_capacity;
  double last_h;
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

// b += impulse times the row, on the bodies of it that move.
void carom_moreau_push(const carom_model *model, const carom_row *row, double impulse, double *b);
double carom_moreau_rate(const carom_model *model, const carom_row *row, const double *v);

// ---- moreau_items.c -------------------------------------------------------------------------------------------------

typedef enum carom_moreau_choice {
  CAROM_MOREAU_STEP,      // all that may be met within the step, by surfaces that do
                          // not bounce; the rest if touching
  CAROM_MOREAU_TOUCHING,  // all that touch: for a collision
} carom_moreau_choice;

// Candidate pairs for a step of h from the state.
carom_status carom_moreau_candidates(carom_moreau *m, const carom_state *state, double h, carom_error *error);
carom_status carom_moreau_gather(carom_moreau *m, carom_moreau_choice choice, double touch, carom_error *error);
// A speed so low that a bounce would be over within a step or two: gravity and forces acting for 2 h.
double carom_moreau_slow(const carom_moreau *m, double h);
// When, as a share of the step from `origin` to `end`, the first pair that bounces and is not among the items comes
// to touch, by cubic interpolation of its gap; 2 when none does. `deepest` gets the deepest overlap at the end.
carom_status carom_moreau_first_hit(carom_moreau *m, const carom_state *end, double h, double touch, double *share,
                                    double *deepest, carom_error *error);

// ---- moreau_rows.c --------------------------------------------------------------------------------------------------

carom_status carom_moreau_reserve(carom_moreau *m,
                                  carom_error *error);  // room for the items gathered
bool carom_moreau_reserve_pairs(carom_moreau *m, int capacity);
void carom_moreau_fill_rows(carom_moreau *m, const double *bias);  // W and u0
int carom_moreau_directions(const carom_moreau *m, const carom_moreau_item *item);
// Direction a of friction (0, 1, ...).
void carom_moreau_direction(const carom_moreau *m, const carom_moreau_item *item, int a, double d[2]);
void carom_moreau_first_guess(carom_moreau *m);    // P, from the last step
bool carom_moreau_note_impulses(carom_moreau *m);  // of this step, for the next; false: out of memory
void carom_moreau_evaluate(carom_moreau *m);       // u = u0 + alpha W P
double carom_moreau_scale(const carom_moreau *m);  // the largest |u0|
double carom_moreau_residual(carom_moreau *m);     // natural residual of the pairs, from P and u; fills z
double *carom_moreau_bias(carom_moreau *m);        // (item_count) scratch for the caller of the solve

// ---- moreau_newton.c ------------------------------------------------------------------------------------------------

// Improves P, with u up to date; returns the residual reached, and adds to *steps. Impulses that are `good` are left
// alone, those `wanted` will do, and for those `accepted` no great effort is made.
double carom_moreau_newton_solve(carom_moreau *m, double good, double wanted, double accepted, int *steps);
// Sweeps of projected Gauss-Seidel, until the residual is `good`.
double carom_moreau_sweep(carom_moreau *m, double good, int sweeps, int *done);

// ---- moreau_lcp.c ---------------------------------------------------------------------------------------------------

// Finds the impulses of all items: row . (alpha v' + (1 - alpha) v) + bias >= 0, complementary to them, with Coulomb
// friction. `bias` (item_count) is gap/h, or e times the approach. Adds to report->complementarity and iterations.
carom_status carom_moreau_solve(carom_moreau *m, const double *bias, double time, carom_step_report *report,
                                carom_error *error);

#endif

// Inside the integrator `dcr` (decomposition contact response; Cirak and West 2005; Johnson 2012, 3.5). One cycle:
//
//     find      pairs that may meet, from how bodies move freely                   (free.c)
//     rest      contacts that last take up the first half of the forces' impulse
//     advance   smooth motion by the variational integrator, cut short where a fast body would pass another (fast.c)
//     project   overlapping bodies go to the closest admissible configuration; the momentum lift: p stays, l turns
//               with the body                                                      (lift.c)
//     impact    momenta by the impact law at the contacts that touch, and the other half of the forces at those that
//               last                                                               (impact.c)
//     book      what impulses did                                                  (books.c)
//     judge     what the projection did that no velocity explains; too much of it, and the cycle is taken back and cut
//               short where bodies met                                             (defects.c)
//
// Rest is not in the paper, which lets a resting body fall for a step, lifts it back and takes its velocity away: a
// body that sticks on an incline would thus move on by g h^2 / 2 in every step. With both halves taken up, a body at
// rest does not move at all, and one that slides does so with the acceleration of Coulomb's law.
#ifndef CAROM_SRC_STEP_DCR_DCR_H
#define CAROM_SRC_STEP_DCR_DCR_H

#include "carom/impact.h"
#include "contact/memory.h"
#include "contact/projection.h"
#include "impact/system.h"
#include "model/fields.h"
#include "step/step.h"

// How bodies move when nothing touches them.
typedef struct carom_dcr_free {
  double time, span;  // the stretch over which driven bodies move at a constant twist
  bool fields;        // anything but gravity
  carom_loads loads;
  carom_mat3 *d, *d_rate;  // (body_count) directors, for the fields
  carom_vec3 *v, *w;       // (body_count) velocities
  carom_vec3 *a, *alpha;   // (body_count) accelerations
  double *unrest;          // (body_count) how fast a body at rest may seem to move, over the step, m/s2
  double *reach;           // (body_count)
} carom_dcr_free;

// A contact in the problem: number i here is number i there.
typedef struct carom_dcr_touch {
  int contact;        // among those found
  carom_vec3 before;  // velocity of A against B before the solve
  carom_vec3 from;    // the same for the books: the state gains impulse . (from + after) / 2
  double slow;        // approach below which it counts as resting
} carom_dcr_touch;

// A row likewise.
typedef struct carom_dcr_bar {
  double before, from, slow;
} carom_dcr_bar;

// What passed between two parts in one cycle.
typedef struct carom_dcr_pair {
  carom_vec3 impulse;  // on A
  carom_vec3 moment;   // sum of points times the impulse along the normal: of pressure
  carom_vec3 normal;
  double weight;  // sum of |impulse|
  bool rested;    // carried an impulse in `rest`
  bool impact;    // met faster than resting bodies do
} carom_dcr_pair;

// For groups of up to CAROM_DCR_LAW_MAX contacts.
typedef struct carom_dcr_law {
  carom_impact_work *work;
  double *W, *u, *P, *e, *mu;
} carom_dcr_law;

typedef struct carom_dcr {
  carom_allocator allocator;
  double size;             // bounding radius of the smallest moving body
  double *thickness;       // (part_count) half the least depth of a part
  double *thin;            // (body_count) the least depth of a body's parts
  bool *tied;              // (body_count) by a joint, and moving
  double *pushed;          // (body_count) sum of the impulses on a body in this cycle, N s
  carom_state *start;      // of the cycle
  carom_state *free_end;   // where the smooth motion led, before the projection
  double moved;            // farthest by the projection, m
  bool projected;          // whether the projection moved anything in this cycle
  double energy_before;    // at the start of the cycle, less work, with losses: as the audit's raw balance, J
  double residual_before;  // worst of the step's contact solves until then
  double energy_scale;     // largest kinetic energy so far
  double *debt;         // (body_count) energy that contacts and projections gave a body and have not yet taken back, J
  double *debt_before;  // (body_count) at the start of the cycle
  carom_dcr_free free;
  carom_contacts *contacts;
  carom_gathering *gathering;
  carom_groups *groups;
  carom_projection *projection;
  carom_memory *memory;
  carom_joints *joints;
  double *joint_impulses;        // (joint_count * CAROM_JOINT_ROWS) scratch
  carom_impact_system *latches;  // null without joints
  carom_joint_limit *limits;     // (limit_capacity) near ones
  int limit_capacity;
  carom_dcr_touch *touches;  // (contacts of the problem)
  carom_dcr_bar *bars;       // (rows of the problem)
  carom_dcr_pair *pairs;     // (pair_count) pairs of the contacts, by tag - 1
  int touch_capacity, bar_capacity, pair_capacity, pair_count;
  carom_dcr_law law;
} carom_dcr;

static inline carom_dcr_pair *carom_dcr_pair_of(const carom_dcr *w, int pair) {
  return &w->pairs[w->contacts->pairs[pair].tag - 1];
}

// How far the projection moved a body.
static inline double carom_dcr_moved(const carom_dcr *w, const carom_state *state, int body) {
  return cm_norm(cm_sub(state->x[body], w->free_end->x[body]));
}

// What no law explains in a cycle.
typedef struct carom_dcr_defect {
  double size;  // over what is tolerated: up to 1 the cycle is fit to stand
  int body;     // whose it is; CAROM_WORLD: of all together
} carom_dcr_defect;

// The two solves of a cycle.
typedef enum carom_dcr_half {
  CAROM_DCR_REST,    // before the smooth motion: velocities have the first half kick, which the state has not yet
  CAROM_DCR_IMPACT,  // after it: the state has had the second
} carom_dcr_half;

typedef struct carom_dcr_solve {
  carom_dcr_half half;
  double dt;  // of the cycle
  const carom_contact *contacts;
  int count;
} carom_dcr_solve;

// Contacts closer than this, relative to the smallest body, touch.
#define CAROM_DCR_TOUCH 1e-6
// The projection may leave a body above what it was in: it touches that all the same. Relative to how far it was moved.
#define CAROM_DCR_HANG 1e-2
// Overlap that the projection may leave, relative to the smallest body.
#define CAROM_DCR_OVERLAP 1e-11
// Contacts that the dense impact laws take at once; larger groups part by Newton's law.
enum { CAROM_DCR_LAW_MAX = 24 };

// ---- setup.c
void carom_dcr_push(carom_stepper *stepper, carom_arena *arena);
carom_status carom_dcr_prepare(carom_stepper *stepper, carom_error *error);
void carom_dcr_release(carom_stepper *stepper);
bool carom_dcr_remember(carom_stepper *stepper, carom_tape *tape);

// ---- free.c
// Free accelerations at the state, and the pairs that may meet within dt.
carom_status carom_dcr_find(carom_stepper *stepper, const carom_state *state, double dt, carom_error *error);
// Room for what passes between pairs that have none yet.
carom_status carom_dcr_number_pairs(carom_dcr *w, carom_error *error);
// Below this approach speed a contact counts as resting; bodies that bounce without loss (e = 1) never rest.
double carom_dcr_rest_speed(const carom_stepper *stepper, const carom_contact *contact);
double carom_dcr_fastest_rest(const carom_stepper *stepper);

// ---- fast.c
// The part of the cycle after which the first fast pair has just met, so that the projection finds it; 1 when none is
// so fast that it could pass through the other unseen.
double carom_dcr_safe_fraction(carom_stepper *stepper, const carom_state *state);
// The part of the cycle after which a body (CAROM_WORLD: any) has just met the first other one, whatever its speed; 1
// when it meets none.
double carom_dcr_first_meeting(carom_stepper *stepper, int body);

// ---- defects.c
// Notes where a cycle begins.
void carom_dcr_begin_cycle(carom_stepper *stepper, const carom_state *state, const carom_ledger *ledger);
// How much of a cycle that was cut so often no law explains.
carom_dcr_defect carom_dcr_judge(const carom_stepper *stepper, const carom_state *state, double dt, int cuts,
                                 const carom_ledger *ledger);

// ---- lift.c
carom_status carom_dcr_project(carom_stepper *stepper, carom_state *state, carom_ledger *ledger, carom_error *error);

// ---- gather.c
// The problem of the contacts, limits and joints, from what was remembered, in groups; groups of joints alone are idle.
carom_status carom_dcr_gather(carom_stepper *stepper, const carom_state *state, const carom_dcr_solve *solve,
                              carom_ledger *ledger, carom_error *error);
// The forces of the solve, for the next one to begin from.
carom_status carom_dcr_keep(carom_stepper *stepper, const carom_state *state, const carom_dcr_solve *solve,
                            carom_error *error);

// ---- impact.c
carom_status carom_dcr_rest(carom_stepper *stepper, carom_state *state, double dt, carom_ledger *ledger,
                            carom_error *error);
carom_status carom_dcr_impact(carom_stepper *stepper, carom_state *state, double dt, carom_ledger *ledger,
                              carom_error *error);

// ---- law.c
// Impulses of a group by the law of the options.
carom_status carom_dcr_apply_law(carom_stepper *stepper, carom_group *group, const carom_contact *contacts,
                                 carom_ledger *ledger, carom_error *error);

// ---- books.c
// Puts the impulses of the problem into the state, and books what they did.
carom_status carom_dcr_book(carom_stepper *stepper, carom_state *state, const carom_dcr_solve *solve,
                            carom_ledger *ledger, carom_error *error);
// What the bodies of a group owe, together.
double carom_dcr_debt_of(const carom_dcr *w, const carom_group *group);
// What bodies lost in the cycle, less what they owe.
void carom_dcr_book_losses(carom_stepper *stepper, carom_ledger *ledger);
carom_status carom_dcr_book_events(carom_stepper *stepper, double time, carom_ledger *ledger, carom_error *error);

#endif

// Inside the integrator `dcr` (decomposition contact response; Cirak and West 2005; Johnson 2012, 3.5). One cycle:
//
//     rest      contacts that last take up the first half of the forces' impulse   (dcr_rest.c)
//     advance   smooth motion by the variational integrator
//     project   overlapping bodies go to the closest admissible configuration      (mechanics/projection.h)
//     lift      p stays, l turns with the body
//     impact    momenta by the impact law at the contacts that touch               (dcr_impact.c)
//
// The first of these is not in the paper: without it a body on an incline would creep, because friction could only act
// after the smooth step has moved it.
#ifndef CAROM_SRC_STEP_DCR_DCR_H
#define CAROM_SRC_STEP_DCR_DCR_H

#include "carom/impact.h"
#include "contact/projection.h"
#include "impact/system.h"
#include "model/fields.h"
#include "model/joints.h"
#include "step/step.h"

// What passed between two parts in one cycle.
typedef struct carom_dcr_pair {
  carom_vec3 impulse;  // on A
  carom_vec3 moment;   // sum of points times |impulse|
  carom_vec3 normal;
  double weight;  // sum of |impulse|
  bool rested;    // carried an impulse in `rest`
  bool impact;    // met faster than resting bodies do
} carom_dcr_pair;

// The force that a contact carried when it was last at rest: the first guess of the next solve.
typedef struct carom_dcr_memory {
  int part_a, part_b;
  carom_vec3 point;  // in A's principal frame
  carom_vec3 force;  // world, N
} carom_dcr_memory;

typedef struct carom_dcr {
  carom_allocator allocator;
  carom_contacts *contacts;
  carom_sweeps *sweeps;
  carom_projection *projection;
  carom_joints *joints;
  carom_impact_system *latches;  // null without joints
  carom_joint_limit *limits;     // (limit_capacity) near ones of this solve; their rows are numbered after the contacts
  int limit_capacity, limit_first;
  carom_state *start_of_settling;  // scratch
  double *minus_mu;                // (joint_count * CAROM_JOINT_ROWS) scratch
  bool *rested;  // (body_count) joints of this body took up the first half kick, with contacts or limits
  double motion_time, motion_h;  // the stretch over which driven bodies move at a constant twist
  carom_state *start;            // of the cycle
  double size;                   // bounding radius of the smallest moving body
  bool fields, velocities;
  carom_loads loads;
  carom_mat3 *d, *d_rate;       // (body_count) directors, for the fields
  carom_vec3 *v, *a, *alpha;    // (body_count) velocities, free accelerations
  double *restlessness;         // (body_count) |a| + |alpha| radius: how fast a body at rest may seem to move, over h
  double *reach;                // (body_count)
  double *thickness;            // (part_count) least depth of a part about its middle
  carom_dcr_pair *pairs;        // (pairs of the contacts)
  double (*before)[3];          // (contacts) velocities before the solve
  double *slow;                 // (contacts) approach speeds below which they count as resting
  carom_impact_work *law_work;  // for groups of up to CAROM_DCR_LAW_MAX contacts
  double *law_W, *law_u, *law_P, *law_e, *law_mu;
  carom_dcr_memory *memory;
  carom_contact_event *events;
  int pair_capacity, before_capacity, slow_capacity, memory_count, memory_capacity;
  int event_count, event_capacity;
} carom_dcr;

// Contacts closer than this, relative to the smallest body, touch.
#define CAROM_DCR_TOUCH 1e-6
// Overlap that the projection may leave, likewise.
#define CAROM_DCR_OVERLAP 1e-11
// Parts into which the impacts of fast bodies may split a step.
enum { CAROM_DCR_MAX_CYCLES = 200 };
// Contacts that the dense impact laws take at once; larger groups part by Newton's law.
enum { CAROM_DCR_LAW_MAX = 24 };

// ---- dcr_rest.c
// Free accelerations at the state, from gravity and fields.
void carom_dcr_accelerate(carom_stepper *stepper, const carom_state *state);
// Below this approach speed a contact counts as resting; bodies that bounce without loss (e = 1) never rest.
double carom_dcr_rest_speed(const carom_dcr *w, const carom_contact *c, double h);
carom_status carom_dcr_rest(carom_stepper *stepper, carom_state *state, double dt, carom_step_report *report,
                            carom_error *error);

// ---- dcr_impact.c
carom_sweep_options carom_dcr_sweep_options(const carom_stepper *stepper);
carom_status carom_dcr_impact(carom_stepper *stepper, carom_state *state, double dt, carom_step_report *report,
                              carom_error *error);

// ---- dcr_limits.c
// Adds the limits of joints that are reached; dt > 0: at rest over dt, 0: at an impact.
carom_status carom_dcr_add_limits(carom_stepper *stepper, const carom_state *state, double dt,
                                  carom_step_report *report, carom_error *error);
// Contacts for which a latch waits stick.
carom_status carom_dcr_latch(carom_stepper *stepper, carom_state *state, double time, const carom_contact *contacts,
                             int count, carom_step_report *report, carom_error *error);
bool carom_dcr_latch_waits(const carom_stepper *stepper, const carom_state *state, const carom_contact *contact);

// ---- dcr_books.c, too
// Which bodies took part in `rest` with joints, and what the joints then did of the second half kick at the end of the
// smooth motion.
void carom_dcr_note_rested(carom_stepper *stepper);
void carom_dcr_book_settling(carom_stepper *stepper, const carom_state *state, carom_step_report *report);

// ---- dcr_law.c
// Impulses of a group by the law of the options; the solver then skips it.
carom_status carom_dcr_apply_law(carom_stepper *stepper, carom_sweep_group *g, const carom_contact *contacts,
                                 carom_step_report *report, carom_error *error);

// ---- dcr_books.c
bool carom_dcr_make_room(carom_dcr *w, int contacts);
// Fills the solver's bodies with the velocities of the state plus `dt` times the free accelerations.
void carom_dcr_load(carom_stepper *stepper, const carom_state *state, double dt);
carom_sweep_contact *carom_dcr_add(carom_dcr *w, const carom_state *state, const carom_contact *contacts, int i);
// Adds the joints and sorts all into groups; groups of joints alone are left as they are.
carom_status carom_dcr_group(carom_stepper *stepper, const carom_state *state, carom_error *error);
void carom_dcr_recall(carom_dcr *w, const carom_state *state, const carom_contact *contacts, double dt);
void carom_dcr_remember(carom_dcr *w, const carom_state *state, const carom_contact *contacts, double dt);
// Puts the impulses of the solver into the state and the report. Lasting contacts take up a kick of the forces of this
// length: one that the solver's velocities have and the state has not yet, or one that the state had.
void carom_dcr_book(carom_stepper *stepper, carom_state *state, const carom_contact *contacts, double kick,
                    bool kick_to_come, carom_step_report *report);
void carom_dcr_note_residuals(const carom_sweeps *s, carom_step_report *report);
carom_status carom_dcr_emit(carom_dcr *w, double time, carom_step_report *report, carom_error *error);

#endif

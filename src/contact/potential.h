// The contact potential (Johnson 2012, 3.3.2, eqs. 3.38-3.50): every pair of overlapping parts stores C/2 gap^2, gap
// being that of the supporting separating hyperplane with beta from centre to centre; where one body is fixed, beta is
// the normal of the Euclidean distance (the paper: e_z for its floor). On top of it,
//
//     restitution: a drag on the normal velocity while bodies part,  f_n = C |gap| - c u_n >= 0,
//     friction: Coulomb's, but never more than brings the tangential velocity to a halt within the kick.
//
// With the drag acting only from the deepest point on and never pulling, a linear spring returns the fraction
//     e = exp(-zeta acos(zeta) / sqrt(1 - zeta^2)),   c = 2 zeta sqrt(C m),
// of the speed (acosh and sqrt(zeta^2 - 1) for zeta > 1), m being the mass that the contact feels. Limits of joints
// have a potential of their own, k/2 gap^2 while a coordinate is beyond, with the same drag; their rates and masses are
// those that the joints leave. Where there are solids that deform, their contacts come along (soft.h).
#ifndef CAROM_SRC_CONTACT_POTENTIAL_H
#define CAROM_SRC_CONTACT_POTENTIAL_H

#include "base/arena.h"
#include "contact/ledger.h"
#include "contact/memory.h"
#include "contact/pairs.h"
#include "contact/soft.h"

// What a spring gives along its row in a kick, and how much the drag has taken off it (<= 0).
typedef struct carom_spring_impulse {
  double whole, drag;
} carom_spring_impulse;

// One overlapping pair at a configuration.
typedef struct carom_potential_contact {
  carom_contact found;          // its gap is the overlap along the unit normal, m
  double gap;                   // of SSH, < 0
  carom_row row;                // gradient of that gap
  double mass;                  // felt along it
  carom_row slip;               // the way the bodies slip, at the contact point
  carom_spring_impulse spring;  // along the row,
  double friction;              // and along the slip (<= 0), in the last kick
} carom_potential_contact;

// Limits of joints beyond at the last evaluation.
typedef struct carom_soft_limits {
  carom_joint_limit *limits;  // (capacity)
  double *mass;               // (capacity) what their rows feel, kg or kg m2
  double *stiffness;          // (CAROM_JOINT_LIMITS joint_count) by number; N/m or N m/rad, 0: not known yet
  carom_vec3 *dp, *dl;        // (body_count) scratch
  int capacity, count;
} carom_soft_limits;

typedef struct carom_contact_potential {
  carom_arena arena;
  const carom_model *model;
  carom_contacts *pairs;
  carom_memory *memory;  // what overlapped at the end of the last step
  carom_joints *joints;
  carom_soft *soft;  // contact of solids; null where there are none
  double stiffness;  // C, N/m; 0: not chosen yet
  double energy;     // stored at the last kick, J
  carom_potential_contact *contacts;
  int count, capacity;
  carom_soft_limits limits;
  carom_vec3 *v, *w;  // (body_count)
  double *reach;      // (body_count)
  double time, span;  // the step, over which driven bodies move at a constant twist
} carom_contact_potential;

carom_status carom_contact_potential_create(const carom_model *model, const carom_allocator *allocator,
                                            carom_contact_potential **potential, carom_error *error);
void carom_contact_potential_destroy(carom_contact_potential *potential);  // null is fine

// Candidate pairs for a step of h from this state.
carom_status carom_contact_potential_update(carom_contact_potential *potential, const carom_state *state, double h,
                                            carom_error *error);
// Momenta change by the forces of overlaps at the state's configuration times dt. Books what fixed and driven bodies
// did, losses, overlaps and events; what is stored there is left in `energy`.
carom_status carom_contact_potential_kick(carom_contact_potential *potential, carom_state *state, double dt,
                                          carom_ledger *ledger, carom_error *error);
// Remembers which pairs overlap at the end of the step, and how many limits met anew.
carom_status carom_contact_potential_note(carom_contact_potential *potential, carom_ledger *ledger, carom_error *error);
bool carom_contact_potential_remember(carom_contact_potential *potential, carom_tape *tape);

// A spring of stiffness k in a kick of dt, for a gap (< 0) that opens at `rate`; mass may be infinite.
carom_spring_impulse carom_soft_spring(double k, double mass, double restitution, double gap, double rate, double dt);
// zeta for a coefficient of restitution e in [0, 1].
double carom_drag_ratio(double e);
// The least mass that a contact of moving bodies can feel: bounds the frequency of the potential.
double carom_contact_least_mass(const carom_model *model);

// ---- potential_limits.c

void carom_soft_limits_lay_out(carom_soft_limits *limits, const carom_model *model, carom_arena *arena);
// Chooses the stiffnesses of limits, once; a step too long for them is refused.
carom_status carom_soft_limits_tune(carom_contact_potential *potential, const carom_state *state, double h,
                                    carom_error *error);
// Those beyond their limits at the state; adds their energy, and the furthest to *depth (m or rad).
carom_status carom_soft_limits_find(carom_contact_potential *potential, const carom_state *state, double *depth,
                                    carom_error *error);
void carom_soft_limits_kick(const carom_contact_potential *potential, carom_state *state, double dt,
                            carom_ledger *ledger);
void carom_soft_limits_note(carom_contact_potential *potential, carom_ledger *ledger);
bool carom_soft_limits_remember(carom_contact_potential *potential, carom_tape *tape);

#endif

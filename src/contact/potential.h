// The contact potential (Johnson 2012, 3.3.2, eqs. 3.38-3.50): every pair of overlapping parts stores C/2 gap^2, gap
// being that of the supporting separating hyperplane with beta from centre to centre; where one body is fixed, beta is
// the normal of the Euclidean distance (the paper: e_z for its floor). On top of it,
//
//     restitution: a drag on the normal velocity while bodies part,  f_n = C |gap| - c u_n >= 0,
//     friction: Coulomb's, but never more than brings the tangential velocity to a halt within the kick.
//
// With the drag acting only from the deepest point on and never pulling, a linear spring returns the fraction
//     e = exp(-zeta acos(zeta) / sqrt(1 - zeta^2)),   c = 2 zeta sqrt(C m),
// of the speed (acosh and sqrt(zeta^2 - 1) for zeta > 1), m being the mass that the contact feels.
#ifndef CAROM_SRC_CONTACT_POTENTIAL_H
#define CAROM_SRC_CONTACT_POTENTIAL_H

#include "carom/mechanics.h"
#include "contact/pairs.h"

// One overlapping pair at a configuration.
typedef struct carom_potential_contact {
  int body_a, body_b, part_a, part_b;
  double gap, depth;         // of SSH (negative), and overlap along the unit normal, m
  carom_vec3 lin_a, ang_a;   // gradient of the gap in A's twist about its centre of mass
  carom_vec3 lin_b, ang_b;   // and in B's
  carom_vec3 normal, point;  // unit, from B to A; where friction acts
  double mass;               // felt by the gap: 1 / (grad M^-1 grad)
  double restitution, friction;
  double drag;      // impulse along the gradient by the drag, <= 0
  carom_vec3 push;  // friction impulse on A
  double impulse;   // whole normal impulse along the gradient
} carom_potential_contact;

typedef struct carom_contact_potential {
  const carom_model *model;
  carom_allocator allocator;
  carom_contacts *pairs;
  double stiffness;  // C, N/m
  carom_potential_contact *contacts;
  carom_contact_event *events;
  int (*touching)[2];  // parts that overlapped at the last evaluation, sorted as pairs are
  int count, capacity, event_count, event_capacity, touching_count, touching_capacity;
  double *reach;                 // (body_count)
  double motion_time, motion_h;  // the step, over which driven bodies move at a constant twist
} carom_contact_potential;

carom_status carom_contact_potential_create(const carom_model *model, const carom_allocator *allocator,
                                            carom_contact_potential **potential, carom_error *error);
void carom_contact_potential_destroy(carom_contact_potential *potential);  // null is fine

// Candidate pairs for a step of h from this state.
carom_status carom_contact_potential_update(carom_contact_potential *potential, const carom_state *state, double h,
                                            carom_error *error);
// Overlaps at the state's configuration; the potential energy in *energy and the deepest overlap in *depth.
carom_status carom_contact_potential_evaluate(carom_contact_potential *potential, const carom_state *state,
                                              double *energy, double *depth, carom_error *error);
// Momenta change by the contact forces times dt. Books impulses of fixed bodies and losses.
void carom_contact_potential_kick(carom_contact_potential *potential, carom_state *state, double dt,
                                  carom_step_report *report);
// Contact events of the step, one for each pair that overlaps, and how many pairs met anew.
carom_status carom_contact_potential_note(carom_contact_potential *potential, double time, carom_step_report *report,
                                          carom_error *error);

// The stiffness in use and the parts that overlap, for checkpoints; the pairs keep their own memory.
bool carom_contact_potential_remember(carom_contact_potential *potential, carom_tape *tape);

// zeta for a coefficient of restitution e in [0, 1].
double carom_drag_ratio(double e);
// The least mass that a contact of moving bodies can feel: bounds the frequency of the potential.
double carom_contact_least_mass(const carom_model *model);

#endif

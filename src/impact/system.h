// From bodies that touch to the small problem of carom/impact.h and back: rows of contacts and of joint limits, W = J S
// J' and u from the state; impulses along the rows put to work, and booked.
//
//     impact_system_set_time(s, time, span)
//     impact_system_resolve(s, state, contacts, ...)       contacts part by the law; groups of bodies that do not touch
//                                                          each other are solved one by one
//     impact_system_load(s, state, touch, ...)             the problem itself, for those who solve it their own way,
//     impact_system_apply(s, state, impulse, ...)          and its impulses put to work
#ifndef CAROM_SRC_IMPACT_SYSTEM_H
#define CAROM_SRC_IMPACT_SYSTEM_H

#include "carom/impact.h"
#include "contact/ledger.h"
#include "contact/pairs.h"
#include "model/joints.h"

// Joint limits nearer than this (m or rad) take part in an impact.
#define CAROM_LIMIT_TOUCH 1e-11

typedef struct carom_impact_system carom_impact_system;

carom_status carom_impact_system_create(const carom_model *model, carom_impact_law law,
                                        const carom_allocator *allocator, carom_impact_system **system,
                                        carom_error *error);
void carom_impact_system_destroy(carom_impact_system *system);  // null is fine

// When it is: the time of events and of motors. Velocities of driven bodies are taken over `span` (s) about it; 0: they
// are not looked at.
void carom_impact_system_set_time(carom_impact_system *system, double time, double span);
// From now until the time is set again impulses stand for forces that act from `start` on for this long: driven bodies
// work along the way that they go meanwhile.
void carom_impact_system_work_along(carom_impact_system *system, double start, double duration);

// All contacts (sorted by pair) that touch at the moment: momenta jump by the law. Contacts that do not approach cost
// nothing. Books what the outside gave, losses, an event for each pair that got an impulse, and the approach that is
// left. Limits of joints that are reached take part. Where a latch waits for the two bodies, they stick instead: the
// joint is gained, the one it releases lost, and the momenta follow. Allocates only when there are more contacts than
// ever before.
carom_status carom_impact_system_resolve(carom_impact_system *system, carom_state *state, const carom_contact *contacts,
                                         int count, carom_ledger *ledger, carom_error *error);

// Only the latches: contacts that approach and for which one waits stick.
carom_status carom_impact_system_latch(carom_impact_system *system, carom_state *state, const carom_contact *contacts,
                                       int count, carom_ledger *ledger, carom_error *error);

// ---- the problem itself --------------------------------------------------------------------------------------------

// What touches: contacts, then limits of joints.
typedef struct carom_touching {
  const carom_contact *contacts;
  int count;
  const carom_joint_limit *limits;
  int limit_count;
} carom_touching;

// All that touches as one problem, whether or not it is connected. Limits have one row each, and two without effect.
// The view holds until the next call.
carom_status carom_impact_system_load(carom_impact_system *system, const carom_state *state,
                                      const carom_touching *touch, carom_impact_problem *problem, carom_error *error);
// A row of the problem loaded last: 3i is the normal of member i.
const carom_row *carom_impact_system_row(const carom_impact_system *system, int row);
// Scratch that fits the problem loaded last.
carom_impact_work *carom_impact_system_work(carom_impact_system *system);
// Applies impulses (3 for each member loaded last) to p and l, books what the outside gave, and an event of this kind
// for each pair that got an impulse. Losses are the caller's to book.
carom_status carom_impact_system_apply(carom_impact_system *system, carom_state *state, const double *impulse,
                                       carom_event_kind kind, carom_ledger *ledger, carom_error *error);
// Velocity of A against B along the normal at a contact, m/s.
double carom_contact_normal_velocity(const carom_impact_system *system, const carom_state *state,
                                     const carom_contact *contact);

#endif

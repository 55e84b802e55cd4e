// From bodies that touch to the small problem of carom/impact.h and back: rows of contacts, W = J M^-1 J' and u from
// the state; impulses applied to p and l, and booked in the step's report.
//
//     impact_system_begin(s, report)                       at the start of a step: forgets the events of the last one
//     impact_system_resolve(s, state, contacts, ...)       contacts part by a law; groups of bodies that do not touch
//                                                          each other are solved one by one
//     impact_system_load(s, state, contacts, ...)          the problem itself, for those who solve it their own way,
//     impact_system_apply(s, state, impulse, ...)          and its impulses put to work
#ifndef CAROM_SRC_IMPACT_SYSTEM_H
#define CAROM_SRC_IMPACT_SYSTEM_H

#include "carom/impact.h"
#include "carom/mechanics.h"
#include "contact/pairs.h"
#include "model/joints.h"

// Joint limits nearer than this (m or rad) take part in an impact.
#define CAROM_LIMIT_TOUCH 1e-11

typedef struct carom_impact_system carom_impact_system;

carom_status carom_impact_system_create(const carom_model *model, const carom_allocator *allocator,
                                        carom_impact_system **system, carom_error *error);
void carom_impact_system_destroy(carom_impact_system *system);  // null is fine

// When it is, for the velocities of driven bodies, and over how long a time they are taken (s).
void carom_impact_system_set_time(carom_impact_system *system, double time, double span);

// Empties the list of events and hangs it into the report.
void carom_impact_system_begin(carom_impact_system *system, carom_step_report *report);

// Forgets all events but the first `count`.
void carom_impact_system_rewind(carom_impact_system *system, int count);

// Sorts all events but the first `first` by time; those of one time stay in order.
void carom_impact_system_sort(carom_impact_system *system, int first);

// All contacts (sorted by pair) that touch at a moment: momenta jump by the law. Contacts that do not approach cost
// nothing. Adds to the report: impulses that fixed bodies gave, losses, collisions (one for each pair that got an
// impulse), events (likewise), `complementarity`. Limits of joints that are reached take part. Where a latch waits for
// the two bodies, they stick instead: the joint is gained, the one it releases lost, and the momenta follow. Allocates
// only when there are more contacts than ever before.
carom_status carom_impact_system_resolve(carom_impact_system *system, carom_state *state, double time,
                                         const carom_contact *contacts, int count, carom_impact_law law,
                                         carom_step_report *report, carom_error *error);

// Only the latches: contacts that approach and for which one waits stick.
carom_status carom_impact_system_latch(carom_impact_system *system, carom_state *state, double time,
                                       const carom_contact *contacts, int count, carom_step_report *report,
                                       carom_error *error);

// ---- the problem itself --------------------------------------------------------------------------------------------

// The contacts as one problem, whether or not they are connected. The view holds until the next call.
carom_status carom_impact_system_load(carom_impact_system *system, const carom_state *state,
                                      const carom_contact *contacts, int count, carom_impact_problem *problem,
                                      carom_error *error);
// The same with limits of joints after the contacts, one row each (and two without effect).
carom_status carom_impact_system_load_with_limits(carom_impact_system *system, const carom_state *state,
                                                  const carom_contact *contacts, int count,
                                                  const carom_joint_limit *limits, int limit_count,
                                                  carom_impact_problem *problem, carom_error *error);
// Scratch that fits the problem loaded last.
carom_impact_work *carom_impact_system_work(carom_impact_system *system);
// Applies impulses (3 for each contact loaded last) to p and l, books what fixed bodies gave, and adds an event of this
// kind for each pair that got an impulse. Losses are the caller's to book.
carom_status carom_impact_system_apply(carom_impact_system *system, carom_state *state, double time,
                                       const double *impulse, carom_event_kind kind, carom_step_report *report,
                                       carom_error *error);
// Velocity of A against B along the normal at a contact, m/s.
double carom_contact_normal_velocity(const carom_impact_system *system, const carom_state *state,
                                     const carom_contact *contact);
// Adds an event to the list.
carom_status carom_impact_system_note(carom_impact_system *system, const carom_contact_event *event,
                                      carom_step_report *report, carom_error *error);

#endif

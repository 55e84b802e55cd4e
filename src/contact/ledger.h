// The one book of a step. Whoever moves bodies tells it here what the outside did, what was lost and to what, what was
// projected, and what happened; nobody else writes a step's report or its events. A part of a step that is given up is
// rolled back to a mark, so that a step that was retried, halved or split leaves exactly one record.
//
//     carom_ledger_begin(ledger, h)                     the stepper, once a step
//     mark = carom_ledger_get_mark(ledger)              before a part that may be given up
//     carom_ledger_roll_back(ledger, &mark)
//     carom_ledger_row(ledger, &row, impulse, x)        what an impulse along a row brings in from outside
//     carom_ledger_loss(ledger, restitution, friction)
//     carom_ledger_event(ledger, &event, error)
#ifndef CAROM_SRC_CONTACT_LEDGER_H
#define CAROM_SRC_CONTACT_LEDGER_H

#include "carom/contact.h"
#include "model/fields.h"
#include "model/joints.h"
#include "model/row.h"

typedef struct carom_ledger {
  const carom_model *model;
  carom_allocator allocator;
  carom_step_report report;     // of the step so far; its events are those below
  carom_contact_event *events;  // (report.event_count)
  int event_capacity;
} carom_ledger;

typedef struct carom_ledger_mark {
  carom_step_report report;
} carom_ledger_mark;

void carom_ledger_open(carom_ledger *ledger, const carom_model *model, const carom_allocator *allocator);
void carom_ledger_close(carom_ledger *ledger);  // frees the events; zero is fine

void carom_ledger_begin(carom_ledger *ledger, double h);
carom_ledger_mark carom_ledger_get_mark(const carom_ledger *ledger);
void carom_ledger_roll_back(carom_ledger *ledger, const carom_ledger_mark *mark);
// The report with its events hung in; they hold until the next step.
carom_step_report carom_ledger_report(const carom_ledger *ledger);
// Takes over what another book has: of a trial that was made part of the step. Events stay with the trial.
void carom_ledger_add(carom_ledger *ledger, const carom_ledger *part);

// ---- what the outside did to the moving bodies
// An impulse and its moment about the world origin; or an impulse at a point of the world.
void carom_ledger_outside(carom_ledger *ledger, carom_vec3 impulse, carom_vec3 moment);
void carom_ledger_outside_at(carom_ledger *ledger, carom_vec3 impulse, carom_vec3 point);
// Weight of all moving bodies at x (body_count) over dt. It has a potential, so that it does no work here.
void carom_ledger_weight(carom_ledger *ledger, const carom_vec3 *x, double dt);
// Force fields over dt.
void carom_ledger_fields(carom_ledger *ledger, const carom_resultant *resultant, double dt);
// Along a row of which one end does not move: what that end gave the other, the bodies being at x. Else nothing.
void carom_ledger_row(carom_ledger *ledger, const carom_row *row, double impulse, const carom_vec3 *x);
// What joints did with these impulses (as of carom_joints_project): the ground through them, and motors at `time`.
void carom_ledger_joints(carom_ledger *ledger, const carom_state *state, double time, const double *impulses);
void carom_ledger_work(carom_ledger *ledger, double work);  // of motors, driven bodies, dampers, J

// ---- what contacts took, and what the method itself gave
void carom_ledger_stored(carom_ledger *ledger, double energy);  // in springs of contacts, at the end of the step, J
void carom_ledger_loss(carom_ledger *ledger, double restitution, double friction);  // J
void carom_ledger_projection(carom_ledger *ledger, double energy, carom_vec3 momentum, carom_vec3 angular_momentum);

// ---- what happened
// Impacts and bodies that stuck count as collisions.
carom_status carom_ledger_event(carom_ledger *ledger, const carom_contact_event *event, carom_error *error);
void carom_ledger_collision(carom_ledger *ledger);  // one that has no event, as of a joint's limit
// Of the events from number `first` on makes one, at the time of the earliest, of all lasting contacts of two bodies at
// one place along one normal: what happened there in the parts of a step, between two states, is judged by its sum.
void carom_ledger_merge(carom_ledger *ledger, int first);
// Sorts the events from number `first` on by time; those of one time stay in order.
void carom_ledger_sort(carom_ledger *ledger, int first);

// ---- how well it went: the worst of the step is kept
void carom_ledger_note_solve(carom_ledger *ledger, int iterations, double residual);
void carom_ledger_note_complementarity(carom_ledger *ledger, double residual, double duality_gap);
void carom_ledger_note_overlap(carom_ledger *ledger, double depth);
void carom_ledger_note_constraint(carom_ledger *ledger, double drift);

#endif

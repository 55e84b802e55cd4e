// The integrator `potential` (Johnson 2012, 3.3): overlapping bodies repel each other by the contact potential, and the
// variational integrator moves them. Contact forces act in kicks at both ends of the step (Stoermer-Verlet), which
// commute with those of the other forces:
//
//     contact kick h/2  ->  variational step h  ->  contact kick h/2
//
// Overlap is part of the method; the energy that it stores is booked as work, minus its change.
#include "step/potential/potential.h"

#include "model/joints.h"
#include "step/solids.h"

typedef struct potential {
  carom_contact_potential *contact;
  double *impulses;  // (joint_count * CAROM_JOINT_ROWS) of joints, at the end of a step
} potential;

static void push(carom_stepper *stepper, carom_arena *arena) {
  carom_integrator_variational.push(stepper, arena);
  potential counted = {0}, *own = CAROM_PUSH(arena, potential, 1), *w = own ? own : &counted;
  stepper->work = own;
  w->impulses = CAROM_PUSH(arena, double, stepper->model->joint_count *CAROM_JOINT_ROWS);
}

static carom_status prepare(carom_stepper *stepper, carom_error *error) {
  potential *w = stepper->work;
  carom_status status = carom_integrator_variational.prepare(stepper, error);
  if (status != CAROM_OK) return status;
  status = carom_contact_potential_create(stepper->model, &stepper->allocator, &w->contact, error);
  if (w->contact && w->contact->soft) w->contact->soft->solved = carom_variational_solids(stepper)->implicit;
  return status;
}

static carom_status begin(carom_stepper *stepper, const carom_state *state, carom_error *error) {
  potential *w = stepper->work;
  return carom_potential_tune(stepper, w->contact, state, stepper->options.step / stepper->parts, error);
}

static void release(carom_stepper *stepper) {
  potential *w = stepper->work;
  if (!w) return;
  carom_contact_potential_destroy(w->contact);
  carom_integrator_variational.release(stepper);
}

// The last kick may go where joints do not let it: they answer, and the ground and motors with them.
static carom_status settle(const potential *w, carom_state *state, double time, carom_ledger *ledger,
                           carom_error *error) {
  if (w->contact->count + w->contact->limits.count == 0 || !carom_joints_any(ledger->model, state)) return CAROM_OK;
  carom_status status = carom_joints_impose(w->contact->joints, state, time, w->impulses, error);
  if (status == CAROM_OK) carom_ledger_joints(ledger, state, time, w->impulses);
  return status;
}

// ---- the step ------------------------------------------------------------------------------------------------------

// What a step is made of.
typedef struct leg {
  carom_stepper *stepper;
  carom_soft *soft;  // null: no solids
  carom_solids *solids;
  double h, start, end;
  carom_ledger *ledger;
} leg;

static carom_status kick_solids(const leg *l, carom_state *state, bool first, carom_error *error) {
  if (!l->soft || l->solids->implicit) return CAROM_OK;
  return first ? carom_soft_begin(l->soft, state, 0.5 * l->h, l->ledger, error)
               : carom_soft_end_step(l->soft, state, 0.5 * l->h, l->ledger, error);
}

static carom_status flow_explicitly(const leg *l, carom_state *state, carom_error *error) {
  carom_status status = carom_variational_bodies(l->stepper, state, l->h, l->end, l->ledger, error);
  carom_drives_place(l->stepper->model, state, l->end);
  return status == CAROM_OK ? carom_solids_advance(l->solids, l->soft, state, l->h, l->ledger, error) : status;
}

// Solids that are solved for take their contacts along, at the middle of the step: bodies move up to there, and on from
// there (Strang 1968).
static carom_status flow_around_solids(const leg *l, carom_state *state, carom_error *error) {
  double middle = l->start + 0.5 * l->h;
  carom_status status = carom_soft_look(l->soft, state, error);
  if (status == CAROM_OK) status = carom_soft_begin(l->soft, state, 0, l->ledger, error);
  if (status == CAROM_OK) status = carom_variational_bodies(l->stepper, state, 0.5 * l->h, middle, l->ledger, error);
  if (status != CAROM_OK) return status;
  carom_drives_place(l->stepper->model, state, middle);
  status = carom_solids_advance(l->solids, l->soft, state, l->h, l->ledger, error);
  if (status == CAROM_OK) status = carom_soft_end_step(l->soft, state, l->h, l->ledger, error);
  state->time = middle;
  if (status == CAROM_OK) status = carom_variational_bodies(l->stepper, state, 0.5 * l->h, l->end, l->ledger, error);
  state->time = l->start;
  carom_drives_place(l->stepper->model, state, l->end);
  if (status == CAROM_OK) status = carom_soft_look(l->soft, state, error);
  carom_ledger_note_overlap(l->ledger, l->soft->depth);
  return status;
}

static carom_status flow(const leg *l, carom_state *state, carom_error *error) {
  return l->soft && l->solids->implicit ? flow_around_solids(l, state, error) : flow_explicitly(l, state, error);
}

static carom_status advance(carom_stepper *stepper, carom_state *state, double h, double end, carom_ledger *ledger,
                            carom_error *error) {
  potential *w = stepper->work;
  carom_contact_potential *contact = w->contact;
  const leg l = {stepper, contact->soft, carom_variational_solids(stepper), h, state->time, end, ledger};
  carom_status status = carom_potential_tune(stepper, contact, state, h, error);
  if (status == CAROM_OK) status = carom_contact_potential_update(contact, state, h, error);
  if (status == CAROM_OK) status = carom_solids_learn(l.solids, l.soft, state, h, error);
  if (status == CAROM_OK) status = carom_contact_potential_kick(contact, state, 0.5 * h, ledger, error);
  if (status == CAROM_OK) status = kick_solids(&l, state, true, error);
  if (status == CAROM_OK) status = flow(&l, state, error);
  if (status == CAROM_OK) status = kick_solids(&l, state, false, error);
  if (status == CAROM_OK) status = carom_contact_potential_kick(contact, state, 0.5 * h, ledger, error);
  if (status == CAROM_OK) status = settle(w, state, end, ledger, error);
  if (status != CAROM_OK) return status;
  carom_ledger_stored(ledger, contact->energy + (l.soft ? carom_soft_stored(l.soft) : 0));
  return carom_contact_potential_note(contact, ledger, error);
}

static bool remember(carom_stepper *stepper, carom_tape *tape) {
  potential *w = stepper->work;
  return carom_integrator_variational.remember(stepper, tape) && carom_contact_potential_remember(w->contact, tape);
}

const carom_integrator carom_integrator_potential = {
    .name = "potential",
    .summary = "soft contacts: contact potential on the overlap, drag for restitution; needs small steps",
    .honours = &carom_honours_potential,
    CAROM_STATIC_LIFE,
    .begin = begin,
    .advance = advance,
};

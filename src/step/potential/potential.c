// The integrator `potential` (Johnson 2012, 3.3): overlapping bodies repel each other by the contact potential, and the
// variational integrator moves them. Contact forces act in kicks at both ends of the step (Stoermer-Verlet), which
// commute with those of the other forces:
//
//     contact kick h/2  ->  variational step h  ->  contact kick h/2
//
// Overlap is part of the method; the energy that it stores is booked as work, minus its change.
#include "step/potential/potential.h"

#include <math.h>

#include "base/tape.h"
#include "model/joints.h"
#include "model/model.h"
#include "step/potential/limits.h"

typedef struct potential {
  carom_contact_potential *contact;
  carom_joints *joints;
  double *impulses;  // (joint_count * CAROM_JOINT_ROWS) of joints, at the end of a step
  carom_soft_limits limits;
} potential;

static void push(carom_stepper *stepper, carom_arena *arena) {
  carom_integrator_variational.push(stepper, arena);
  potential counted = {0}, *own = CAROM_PUSH(arena, potential, 1), *w = own ? own : &counted;
  stepper->work = own;
  w->impulses = CAROM_PUSH(arena, double, stepper->model->joint_count *CAROM_JOINT_ROWS);
  carom_soft_limits_push(&w->limits, stepper->model, arena);
}

static carom_status prepare(carom_stepper *stepper, carom_error *error) {
  potential *w = stepper->work;
  carom_status status = carom_integrator_variational.prepare(stepper, error);
  if (status == CAROM_OK)
    status = carom_contact_potential_create(stepper->model, &stepper->allocator, &w->contact, error);
  if (status == CAROM_OK) status = carom_joints_create(stepper->model, &stepper->allocator, &w->joints, error);
  w->limits.joints = w->joints;
  return status;
}

static void release(carom_stepper *stepper) {
  potential *w = stepper->work;
  if (!w) return;
  carom_joints_destroy(w->joints);
  carom_contact_potential_destroy(w->contact);
  carom_integrator_variational.release(stepper);
}

static carom_status kick(carom_stepper *stepper, carom_state *state, double dt, double *energy,
                         carom_step_report *report, carom_error *error) {
  potential *w = stepper->work;
  double depth;
  carom_status status = carom_contact_potential_evaluate(w->contact, state, energy, &depth, error);
  if (status == CAROM_OK) status = carom_soft_limits_evaluate(&w->limits, state, energy, &depth, error);
  if (status != CAROM_OK) return status;
  report->penetration = fmax(report->penetration, depth);
  carom_soft_limits_kick(&w->limits, state, dt, report);
  carom_contact_potential_kick(w->contact, state, dt, report);
  return CAROM_OK;
}

// The last kick may go where joints do not let it: they answer, and the ground and motors with them.
static carom_status settle(carom_stepper *stepper, carom_state *state, double time, carom_step_report *report,
                           carom_error *error) {
  potential *w = stepper->work;
  if (w->contact->count + w->limits.count == 0 || !carom_joints_any(stepper->model, state)) return CAROM_OK;
  carom_status status = carom_joints_impose(w->joints, state, time, state->p, state->l, w->impulses, error);
  if (status != CAROM_OK) return status;
  carom_joint_impulse ground = carom_joints_external(stepper->model, state, w->impulses);
  report->impulse = cm_add(report->impulse, ground.linear);
  report->angular_impulse = cm_add(report->angular_impulse, ground.angular);
  report->work += carom_joints_motor_work(stepper->model, state, time, w->impulses);
  return CAROM_OK;
}

static carom_status advance(carom_stepper *stepper, carom_state *state, double h, double end, carom_ledger *ledger,
                            carom_error *error) {
  carom_step_report *report = &ledger->report;
  potential *w = stepper->work;
  double before = 0, after = 0;
  if (report->event_count == 0) w->contact->event_count = 0;
  carom_status status = carom_potential_tune(stepper, w->contact, state, h, error);
  if (status == CAROM_OK) status = carom_soft_limits_tune(&w->limits, state, w->contact->stiffness, h, error);
  if (status == CAROM_OK) status = carom_contact_potential_update(w->contact, state, h, error);
  if (status == CAROM_OK) status = kick(stepper, state, 0.5 * h, &before, report, error);
  if (status == CAROM_OK) status = carom_integrator_variational.advance(stepper, state, h, end, ledger, error);
  carom_drives_place(stepper->model, state, end);
  if (status == CAROM_OK) status = kick(stepper, state, 0.5 * h, &after, report, error);
  if (status == CAROM_OK) status = settle(stepper, state, end, report, error);
  if (status != CAROM_OK) return status;
  report->work += before - after;
  carom_soft_limits_note(&w->limits, report);
  return carom_contact_potential_note(w->contact, end, report, error);
}

static bool remember(carom_stepper *stepper, carom_tape *tape) {
  potential *w = stepper->work;
  return carom_integrator_variational.remember(stepper, tape) && carom_contacts_remember(w->contact->pairs, tape) &&
         carom_contact_potential_remember(w->contact, tape) && carom_soft_limits_remember(&w->limits, tape);
}

const carom_integrator carom_integrator_potential = {
    .name = "potential",
    .summary = "soft contacts: contact potential on the overlap, drag for restitution; needs small steps",
    .honours = &carom_honours_potential,
    .push = push,
    .prepare = prepare,
    .advance = advance,
    .release = release,
    .remember = remember,
};

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

static size_t scratch(const carom_model *model) {
  return carom_integrator_variational.scratch(model) + carom_arena_cost(sizeof(potential)) +
         carom_soft_limits_cost(model) +
         carom_arena_cost((size_t)model->joint_count * CAROM_JOINT_ROWS * sizeof(double));
}

static carom_status prepare(carom_stepper *stepper, carom_error *error) {
  carom_status status = carom_integrator_variational.prepare(stepper, error);
  if (status != CAROM_OK) return status;
  potential *w = CAROM_PUSH(&stepper->arena, potential, 1);
  *w = (potential){0};
  w->impulses = CAROM_PUSH(&stepper->arena, double, stepper->model->joint_count *CAROM_JOINT_ROWS);
  stepper->work = w;
  status = carom_contact_potential_create(stepper->model, &stepper->allocator, &w->contact, error);
  if (status == CAROM_OK) status = carom_joints_create(stepper->model, &stepper->allocator, &w->joints, error);
  if (status == CAROM_OK) carom_soft_limits_push(&w->limits, stepper->model, w->joints, &stepper->arena);
  return status;
}

static void release(carom_stepper *stepper) {
  potential *w = stepper->work;
  if (!w) return;
  carom_joints_destroy(w->joints);
  carom_contact_potential_destroy(w->contact);
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

static carom_status advance(carom_stepper *stepper, carom_state *state, double h, double end, carom_step_report *report,
                            carom_error *error) {
  potential *w = stepper->work;
  double before = 0, after = 0;
  if (report->event_count == 0) w->contact->event_count = 0;
  carom_status status = carom_potential_tune(stepper, w->contact, state, h, error);
  if (status == CAROM_OK) status = carom_soft_limits_tune(&w->limits, state, w->contact->stiffness, h, error);
  if (status == CAROM_OK) status = carom_contact_potential_update(w->contact, state, h, error);
  if (status == CAROM_OK) status = kick(stepper, state, 0.5 * h, &before, report, error);
  if (status == CAROM_OK) status = carom_integrator_variational.advance(stepper, state, h, end, report, error);
  carom_drives_place(stepper->model, state, end);
  if (status == CAROM_OK) status = kick(stepper, state, 0.5 * h, &after, report, error);
  if (status == CAROM_OK) status = settle(stepper, state, end, report, error);
  if (status != CAROM_OK) return status;
  report->work += before - after;
  carom_soft_limits_note(&w->limits, report);
  return carom_contact_potential_note(w->contact, end, report, error);
}

static size_t memory(const carom_stepper *stepper, void *bytes) {
  const potential *w = stepper->work;
  carom_tape tape = {.bytes = bytes};
  carom_flow_memory(stepper, &tape);
  carom_keep_contacts(w->contact->pairs, &tape);
  carom_contact_potential_memory(w->contact, &tape);
  carom_soft_limits_memory(&w->limits, &tape);
  return tape.at;
}

static bool recall(carom_stepper *stepper, const void *bytes, size_t size) {
  potential *w = stepper->work;
  carom_tape tape = {.from = bytes, .size = size};
  return carom_flow_recall(stepper, &tape) && carom_recall_contacts(w->contact->pairs, &tape) &&
         carom_contact_potential_recall(w->contact, &tape) && carom_soft_limits_recall(&w->limits, &tape) &&
         carom_tape_ended(&tape);
}

const carom_integrator carom_integrator_potential = {
    .name = "potential",
    .summary = "soft contacts: contact potential on the overlap, drag for restitution; needs small steps",
    .scratch = scratch,
    .prepare = prepare,
    .advance = advance,
    .release = release,
    .memory = memory,
    .recall = recall,
};

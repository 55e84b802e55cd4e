// Limits of joints, which are contacts without friction, and latches, which are contacts that stick.
#include <math.h>

#include "base/memory.h"
#include "step/dcr/dcr.h"

// As carom_dcr_rest_speed, in the unit of the row: what the forces make of the velocity along it in 2 h.
static double rest_speed(const carom_stepper *stepper, const carom_joint_limit *limit) {
  const carom_dcr *w = stepper->work;
  double rate = 0;
  if (limit->restitution >= 1) return 0;
  for (int end = 0; end < 2; end++) {
    int body = limit->row.body[end];
    if (body == CAROM_WORLD || stepper->model->bodies[body].fixed) continue;
    carom_vec3 J = stepper->model->bodies[body].inertia;
    double gyration = sqrt(fmax(J.x, fmax(J.y, J.z)) / stepper->model->bodies[body].mass);
    double turning = gyration > 0 ? cm_norm(limit->row.angular[end]) / gyration : 0;
    rate += (cm_norm(limit->row.linear[end]) + turning) * w->restlessness[body];
  }
  return 2 * stepper->options.step * rate;
}

static carom_status add_limit(carom_stepper *stepper, int number, double dt, carom_step_report *report,
                              carom_error *error) {
  carom_dcr *w = stepper->work;
  const carom_joint_limit *limit = &w->limits[number];
  double slow = rest_speed(stepper, limit);
  bool rest = dt > 0;
  if (rest && limit->gap > slow * dt) return CAROM_OK;
  carom_sweep_contact *c = carom_sweeps_add_joint_limit(w->sweeps, stepper->model, limit);
  if (!c) return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for the limits of joints");
  c->source = w->limit_first + number;
  double *u = w->before[c->source];
  carom_sweep_velocity(w->sweeps, c, u);
  w->slow[c->source] = slow;
  bool hit = u[0] < -slow;
  if (rest && hit) w->sweeps->contact_count--;
  c->target = rest ? -fmax(0, limit->gap) / dt : hit ? -limit->restitution * u[0] : 0;
  if (!rest && hit) report->collisions++;
  return CAROM_OK;
}

carom_status carom_dcr_add_limits(carom_stepper *stepper, const carom_state *state, double dt,
                                  carom_step_report *report, carom_error *error) {
  carom_dcr *w = stepper->work;
  carom_status status = CAROM_OK;
  if (w->limit_capacity == 0) return CAROM_OK;
  int count = carom_joints_limits(stepper->model, state, dt > 0 ? INFINITY : CAROM_DCR_TOUCH * w->size, w->limits);
  for (int i = 0; i < count && status == CAROM_OK; i++) status = add_limit(stepper, i, dt, report, error);
  return status;
}

// ---- latches -------------------------------------------------------------------------------------------------------

bool carom_dcr_latch_waits(const carom_stepper *stepper, const carom_state *state, const carom_contact *c) {
  return stepper->model->joint_count > 0 &&
         carom_joints_find_latch(stepper->model, state, c->body_a, c->body_b, c->point_a) >= 0;
}

carom_status carom_dcr_latch(carom_stepper *stepper, carom_state *state, double time, const carom_contact *contacts,
                             int count, carom_step_report *report, carom_error *error) {
  carom_dcr *w = stepper->work;
  if (!w->latches) return CAROM_OK;
  carom_ledger own;
  carom_ledger_open(&own, stepper->model, &w->allocator);
  carom_impact_system_set_time(w->latches, time, 0);
  carom_status status = carom_impact_system_latch(w->latches, state, contacts, count, &own, error);
  report->impulse = cm_add(report->impulse, own.report.impulse);
  report->angular_impulse = cm_add(report->angular_impulse, own.report.angular_impulse);
  report->work += own.report.work;
  report->restitution_loss += own.report.restitution_loss;
  report->collisions += own.report.collisions;
  for (int i = 0; i < own.report.event_count && status == CAROM_OK; i++) {
    if (!carom_grow(&w->allocator, (void **)&w->events, w->event_count, &w->event_capacity, sizeof *w->events))
      status = carom_fail(error, CAROM_ERR_MEMORY, "out of memory for the contact events");
    else
      w->events[w->event_count++] = own.events[i];
  }
  carom_ledger_close(&own);
  return status;
}

// Contacts that last. The paper's scheme lets a resting body fall for a step, lifts it back and takes its velocity
// away; a body that sticks on an incline would thus move on by g h^2 / 2 in every step. Here contacts that were there
// at the start of the step, and are not being hit, take up the first half kick of the forces before the smooth motion
// begins, and the other half after it (dcr_impact.c): then a body at rest does not move at all, and one that slides
// does so with the acceleration of Coulomb's law.
#include <math.h>

#include "step/dcr/dcr.h"

static void add_field_accelerations(carom_stepper *stepper, const carom_state *state) {
  carom_dcr *w = stepper->work;
  for (int i = 0; i < state->body_count; i++) {
    w->d[i] = cm_rotation(state->q[i]);
    w->v[i] = carom_state_velocity(stepper->model, state, i);
    w->d_rate[i] = cm_mmul(cm_hat(carom_state_angular_velocity(stepper->model, state, i)), w->d[i]);
  }
  carom_configuration c = {
      .time = state->time, .x = state->x, .d = w->d, .v = w->v, .dv = w->d_rate, .joints = state->joints};
  carom_fields_evaluate(stepper->model, &c, &w->loads);
  for (int i = 0; i < state->body_count; i++) {
    const carom_body *body = &stepper->model->bodies[i];
    carom_vec3 torque = cm_add(carom_director_torque(w->loads.g[i], w->d[i]), w->loads.torque[i]);
    w->a[i] = cm_axpy(w->a[i], body->inverse_mass, w->loads.f[i]);
    w->alpha[i] = cm_rotate(state->q[i], cm_mul_diag(body->inverse_inertia, cm_unrotate(state->q[i], torque)));
  }
}

// How a driven body's velocity changes from the last step to this one, m/s2; 0 for others.
static double unsteadiness(const carom_stepper *stepper, int body, double time) {
  carom_vec3 v[2], w[2];
  double h = stepper->options.step, radius = stepper->model->bodies[body].bounding_radius;
  if (stepper->model->drive_count == 0 || !stepper->model->bodies[body].fixed) return 0;
  for (int k = 0; k < 2; k++) carom_model_motion(stepper->model, body, time + (k - 1) * h, h, &v[k], &w[k]);
  double turning = isfinite(radius) ? radius * cm_norm(cm_sub(w[1], w[0])) : 0;
  return (cm_norm(cm_sub(v[1], v[0])) + turning) / h;
}

void carom_dcr_accelerate(carom_stepper *stepper, const carom_state *state) {
  carom_dcr *w = stepper->work;
  for (int i = 0; i < state->body_count; i++) {
    w->a[i] = stepper->model->bodies[i].fixed ? cm_zero3() : stepper->model->gravity;
    w->alpha[i] = cm_zero3();
  }
  w->a[state->body_count] = w->alpha[state->body_count] = cm_zero3();
  if (w->fields) add_field_accelerations(stepper, state);
  for (int i = 0; i < state->body_count; i++) w->restlessness[i] = unsteadiness(stepper, i, state->time);
  for (int i = 0; i < state->body_count; i++)
    w->restlessness[i] +=
        cm_norm(w->a[i]) +
        (stepper->model->bodies[i].fixed ? 0 : cm_norm(w->alpha[i]) * stepper->model->bodies[i].bounding_radius);
}

double carom_dcr_rest_speed(const carom_dcr *w, const carom_contact *c, double h) {
  if (c->restitution >= 1) return 0;
  return 2 * h * fmax(w->restlessness[c->body_a], w->restlessness[c->body_b]);
}

static double fastest_rest(const carom_dcr *w, int body_count, double h) {
  double fastest = 0;
  for (int i = 0; i < body_count; i++) fastest = fmax(fastest, 2 * h * w->restlessness[i]);
  return fastest;
}

// Takes a contact in unless it is being hit; those not yet closed may close within the step, but no further.
static carom_status take_in(carom_stepper *stepper, const carom_state *state, const carom_contact *contacts, int i,
                            double dt, carom_error *error) {
  carom_dcr *w = stepper->work;
  double slow = carom_dcr_rest_speed(w, &contacts[i], stepper->options.step);
  if (contacts[i].gap > slow * dt) return CAROM_OK;
  if (carom_joints_hold(stepper->model, state, contacts[i].body_a, contacts[i].body_b)) return CAROM_OK;
  if (carom_dcr_latch_waits(stepper, state, &contacts[i])) return CAROM_OK;
  carom_sweep_contact *c = carom_dcr_add(w, state, contacts, i);
  if (!c) return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for the contacts at rest");
  carom_sweep_velocity(w->sweeps, c, w->before[i]);
  c->target = -fmax(0, contacts[i].gap) / dt;
  if (w->before[i][0] < -slow) w->sweeps->contact_count--;
  return CAROM_OK;
}

carom_status carom_dcr_rest(carom_stepper *stepper, carom_state *state, double dt, carom_step_report *report,
                            carom_error *error) {
  carom_dcr *w = stepper->work;
  double reach = dt * fastest_rest(w, state->body_count, stepper->options.step);
  if (reach == 0) return CAROM_OK;
  const carom_contact *contacts;
  int count;
  carom_contact_query query = {CAROM_CONTACT_POLYGON, reach, reach};
  carom_status status = carom_contacts_find(w->contacts, state, &query, &contacts, &count, error);
  if (status != CAROM_OK || count + w->limit_capacity == 0) return status;
  if (!carom_dcr_make_room(w, count))
    return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for %d contacts", count);
  carom_dcr_load(stepper, state, 0.5 * dt);
  for (int i = 0; i < count && status == CAROM_OK; i++) status = take_in(stepper, state, contacts, i, dt, error);
  if (status == CAROM_OK) status = carom_dcr_add_limits(stepper, state, dt, report, error);
  if (status == CAROM_OK) status = carom_dcr_group(stepper, state, error);
  if (status != CAROM_OK) return status;
  carom_dcr_recall(w, state, contacts, 0.5 * dt);
  carom_sweep_options options = carom_dcr_sweep_options(stepper);
  carom_sweeps_solve(w->sweeps, &options);
  carom_dcr_note_residuals(w->sweeps, report);
  carom_dcr_note_rested(stepper);
  carom_dcr_book(stepper, state, contacts, 0.5 * dt, true, report);
  carom_dcr_remember(w, state, contacts, 0.5 * dt);
  return CAROM_OK;
}

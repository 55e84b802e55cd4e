// How bodies move when nothing touches them: accelerations, and from them who may meet whom.
#include <math.h>

#include "base/memory.h"
#include "contact/reach.h"
#include "step/dcr/dcr.h"

static const double UNREST = 2;  // a body that rests may seem to move by so many kicks of the forces in a step

static void add_field_accelerations(carom_stepper *stepper, const carom_state *state, carom_dcr_free *f) {
  for (int i = 0; i < state->body_count; i++) {
    f->d[i] = cm_rotation(state->q[i]);
    f->d_rate[i] = cm_mmul(cm_hat(f->w[i]), f->d[i]);
  }
  carom_configuration c = {.time = state->time,
                           .x = state->x,
                           .d = f->d,
                           .v = f->v,
                           .dv = f->d_rate,
                           .joints = state->joints,
                           .inputs = state->inputs};
  carom_fields_evaluate(stepper->model, &c, &f->loads);
  for (int i = 0; i < state->body_count; i++) {
    const carom_body *body = &stepper->model->bodies[i];
    carom_vec3 torque = cm_add(carom_director_torque(f->loads.g[i], f->d[i]), f->loads.torque[i]);
    f->a[i] = cm_axpy(f->a[i], body->inverse_mass, f->loads.f[i]);
    f->alpha[i] = cm_rotate(state->q[i], cm_mul_diag(body->inverse_inertia, cm_unrotate(state->q[i], torque)));
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

static void accelerate(carom_stepper *stepper, const carom_state *state) {
  carom_dcr_free *f = &((carom_dcr *)stepper->work)->free;
  const carom_model *model = stepper->model;
  for (int i = 0; i < state->body_count; i++) {
    f->v[i] = carom_state_velocity(model, state, i);
    f->w[i] = carom_state_angular_velocity(model, state, i);
    f->a[i] = model->bodies[i].fixed ? cm_zero3() : model->gravity;
    f->alpha[i] = cm_zero3();
  }
  if (f->fields) add_field_accelerations(stepper, state, f);
  for (int i = 0; i < state->body_count; i++) {
    double turning = model->bodies[i].fixed ? 0 : cm_norm(f->alpha[i]) * model->bodies[i].bounding_radius;
    f->unrest[i] = UNREST * (unsteadiness(stepper, i, state->time) + cm_norm(f->a[i]) + turning);
  }
}

carom_status carom_dcr_find(carom_stepper *stepper, const carom_state *state, double dt, carom_error *error) {
  carom_dcr *w = stepper->work;
  carom_dcr_free *f = &w->free;
  f->time = state->time, f->span = dt;
  accelerate(stepper, state);
  carom_moving moving = {.v = f->v, .w = f->w, .acceleration = f->unrest, .time = state->time, .h = dt};
  carom_reach(stepper->model, &moving, 0, f->reach);
  carom_status status = carom_contacts_update(w->contacts, state, f->reach, error);
  if (status != CAROM_OK) return status;
  w->pair_count = 0;
  for (int i = 0; i < w->contacts->pair_count; i++) w->contacts->pairs[i].tag = 0;
  return carom_dcr_number_pairs(w, error);
}

carom_status carom_dcr_number_pairs(carom_dcr *w, carom_error *error) {
  int count = w->contacts->pair_count;
  if (!carom_reserve(&w->allocator, (void **)&w->pairs, &w->pair_capacity, count, sizeof *w->pairs))
    return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for %d pairs of bodies", count);
  for (int i = 0; i < count; i++) {
    if (w->contacts->pairs[i].tag > 0) continue;
    w->pairs[w->pair_count++] = (carom_dcr_pair){0};
    w->contacts->pairs[i].tag = w->pair_count;
  }
  return CAROM_OK;
}

double carom_dcr_rest_speed(const carom_stepper *stepper, const carom_contact *c) {
  const carom_dcr *w = stepper->work;
  if (c->restitution >= 1) return 0;
  return stepper->options.step * fmax(w->free.unrest[c->body_a], w->free.unrest[c->body_b]);
}

double carom_dcr_fastest_rest(const carom_stepper *stepper) {
  const carom_dcr *w = stepper->work;
  double fastest = 0;
  for (int i = 0; i < stepper->model->body_count; i++) fastest = fmax(fastest, w->free.unrest[i]);
  return stepper->options.step * fastest;
}

// Grains that leave through an outlet and come back at the inlet.
#include <math.h>

#include "step/cone/cone.h"

enum { TRIES = 64 };

static bool inside(carom_vec3 x, carom_vec3 low, carom_vec3 high) {
  return x.x >= low.x && x.x <= high.x && x.y >= low.y && x.y <= high.y && x.z >= low.z && x.z <= high.z;
}

// Room for the body about x, at the end of the step; a little more than touching. Boundaries are where they were at its
// start.
static bool room_at(const carom_cone *cone, const carom_state *state, int body, carom_vec3 x) {
  const double *radius = cone->bodies.radius;
  carom_grain ball = {x, radius[body], 0.01 * radius[body]};
  carom_near_list counted = {0};
  carom_cone_touch_boundaries(cone, state, body, &ball, &counted);
  if (counted.count > 0) return false;
  for (int i = 0; i < cone->model->moving_count; i++) {
    int other = cone->bodies.mover[i];
    double d = 1.01 * (radius[body] + radius[other]);
    if (other != body && cm_norm2(cm_sub(state->x[other], x)) < d * d) return false;
  }
  return true;
}

// The numbers depend on body and step alone, so that a run that is taken up again draws the same.
static bool find_place(const carom_cone *cone, const carom_state *state, const carom_recirculation_def *r, int body,
                       carom_vec3 *x) {
  carom_random random = carom_random_make(r->seed, (uint64_t)body);
  random.index = (uint64_t)state->step * 3 * TRIES;
  for (int i = 0; i < TRIES; i++) {
    x->x = carom_random_between(&random, r->inlet_low.x, r->inlet_high.x);
    x->y = carom_random_between(&random, r->inlet_low.y, r->inlet_high.y);
    x->z = carom_random_between(&random, r->inlet_low.z, r->inlet_high.z);
    if (room_at(cone, state, body, *x)) return true;
  }
  return false;
}

// What the hand that puts a grain back does to it is booked: momenta as impulses, energy as work.
static void put_back(carom_cone *cone, carom_state *state, int body, carom_vec3 x, carom_vec3 velocity,
                     carom_ledger *ledger) {
  const carom_body *b = &cone->model->bodies[body];
  carom_vec3 p = cm_scale(b->mass, velocity), old = state->p[body];
  carom_vec3 spin = carom_state_angular_velocity(cone->model, state, body);
  double kinetic = 0.5 * (cm_norm2(p) - cm_norm2(old)) * b->inverse_mass - 0.5 * cm_dot(spin, state->l[body]);
  double height = -b->mass * cm_dot(cone->model->gravity, cm_sub(x, state->x[body]));
  carom_vec3 moment = cm_sub(cm_sub(cm_cross(x, p), cm_cross(state->x[body], old)), state->l[body]);
  carom_ledger_work(ledger, kinetic + height);
  carom_ledger_outside(ledger, cm_sub(p, old), moment);
  state->x[body] = x;
  state->p[body] = p;
  state->l[body] = cm_zero3();
  carom_memory_forget(cone->memory, body);
}

// An outlet that holds every body at the start holds what they should flow in.
static bool too_large(const carom_cone *cone, const carom_state *state, const carom_recirculation_def *r) {
  if (state->step > 0 || cone->model->moving_count < 2) return false;
  for (int i = 0; i < cone->model->moving_count; i++)
    if (!inside(state->x[cone->bodies.mover[i]], r->outlet_low, r->outlet_high)) return false;
  return true;
}

static carom_status recirculate_by(carom_cone *cone, carom_state *state, const carom_recirculation_def *r, double end,
                                   carom_ledger *ledger, carom_error *error) {
  carom_status status = CAROM_OK;
  for (int i = 0; i < cone->model->moving_count && status == CAROM_OK; i++) {
    int body = cone->bodies.mover[i];
    carom_contact_event event = {
        .kind = CAROM_EVENT_RECIRCULATED, .time = end, .body_a = body, .body_b = CAROM_WORLD, .point = state->x[body]};
    carom_vec3 x;
    if (!inside(event.point, r->outlet_low, r->outlet_high) || !find_place(cone, state, r, body, &x)) continue;
    put_back(cone, state, body, x, r->velocity, ledger);
    status = carom_ledger_event(ledger, &event, error);
  }
  return status;
}

carom_status carom_cone_recirculate(carom_cone *cone, carom_state *state, double end, carom_ledger *ledger,
                                    carom_error *error) {
  const carom_model *m = cone->model;
  carom_status status = CAROM_OK;
  for (int k = 0; k < m->recirculation_count && status == CAROM_OK; k++) {
    if (too_large(cone, state, &m->recirculations[k]))
      return carom_fail(error, CAROM_ERR_GEOMETRY,
                        "recirculation %d: all %d bodies start in its outlet, which must lie beyond the container", k,
                        m->moving_count);
    status = recirculate_by(cone, state, &m->recirculations[k], end, ledger, error);
  }
  return status;
}

// Grains that leave through an outlet and come back at the inlet.
#include <math.h>

#include "base/memory.h"
#include "step/cone/cone.h"

enum { TRIES = 64 };

static bool inside(carom_vec3 x, carom_vec3 low, carom_vec3 high) {
  return x.x >= low.x && x.x <= high.x && x.y >= low.y && x.y <= high.y && x.z >= low.z && x.z <= high.z;
}

// Room for the body about x, at the end of the step; a little more than touching. Boundaries are where they were at its
// start.
static bool room_at(const carom_cone *cone, const carom_state *state, int body, carom_vec3 x) {
  double r = cone->radius[body];
  if (carom_cone_touch_boundaries(cone, body, x, cm_zero3(), r, 0.01 * r, 0, NULL, 0) > 0) return false;
  for (int i = 0; i < cone->model->moving_count; i++) {
    int other = cone->mover[i];
    double d = 1.01 * (cone->radius[body] + cone->radius[other]);
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
static void put_back(carom_cone *cone, carom_state *state, const carom_recirculation_def *r, int body, carom_vec3 x,
                     carom_step_report *report) {
  const carom_body *b = &cone->model->bodies[body];
  carom_vec3 p = cm_scale(b->mass, r->velocity), old = state->p[body];
  carom_vec3 spin = carom_state_angular_velocity(cone->model, state, body);
  double kinetic = 0.5 * (cm_norm2(p) - cm_norm2(old)) * b->inverse_mass - 0.5 * cm_dot(spin, state->l[body]);
  double height = -b->mass * cm_dot(cone->model->gravity, cm_sub(x, state->x[body]));
  report->work += kinetic + height;
  report->impulse = cm_add(report->impulse, cm_sub(p, old));
  carom_vec3 moment = cm_sub(cm_sub(cm_cross(x, p), cm_cross(state->x[body], old)), state->l[body]);
  report->angular_impulse = cm_add(report->angular_impulse, moment);
  state->x[body] = x;
  state->p[body] = p;
  state->l[body] = cm_zero3();
  carom_cone_forget(&cone->memory, body);
}

static carom_status note_event(carom_cone *cone, const carom_state *state, int body, carom_vec3 from,
                               carom_step_report *report, carom_error *error) {
  while (report->event_count >= cone->event_capacity) {
    if (!carom_grow(&cone->allocator, (void **)&cone->events, cone->event_capacity, &cone->event_capacity,
                    sizeof *cone->events))
      return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for %d events", report->event_count + 1);
  }
  cone->events[report->event_count++] = (carom_contact_event){
      .kind = CAROM_EVENT_RECIRCULATED, .time = state->time, .body_a = body, .body_b = CAROM_WORLD, .point = from};
  report->events = cone->events;
  return CAROM_OK;
}

// An outlet that holds every body at the start holds what they should flow in.
static bool too_large(const carom_cone *cone, const carom_state *state, const carom_recirculation_def *r) {
  if (state->step > 0 || cone->model->moving_count < 2) return false;
  for (int i = 0; i < cone->model->moving_count; i++)
    if (!inside(state->x[cone->mover[i]], r->outlet_low, r->outlet_high)) return false;
  return true;
}

carom_status carom_cone_recirculate(carom_cone *cone, carom_state *state, carom_step_report *report,
                                    carom_error *error) {
  const carom_model *m = cone->model;
  carom_status status = CAROM_OK;
  for (int k = 0; k < m->recirculation_count; k++) {
    const carom_recirculation_def *r = &m->recirculations[k];
    if (too_large(cone, state, r))
      return carom_fail(error, CAROM_ERR_GEOMETRY,
                        "recirculation %d: all %d bodies start in its outlet, which must lie beyond the container", k,
                        m->moving_count);
    for (int i = 0; i < m->moving_count && status == CAROM_OK; i++) {
      int body = cone->mover[i];
      carom_vec3 from = state->x[body], x;
      if (!inside(from, r->outlet_low, r->outlet_high) || !find_place(cone, state, r, body, &x)) continue;
      put_back(cone, state, r, body, x, report);
      status = note_event(cone, state, body, from, report, error);
    }
  }
  return status;
}

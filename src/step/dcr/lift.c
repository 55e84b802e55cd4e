// The closest-point projection, and what becomes of the momenta.
#include <math.h>

#include "mechanics/balance.h"
#include "model/model.h"
#include "step/dcr/dcr.h"

// The momentum lift (Johnson 2012, eqs. 3.88-3.93): p stays, l turns by dR = R R~', so that kinetic energy stays. With
// joints, what they forbid at the new configuration is taken out (eq. 3.102).
static carom_status lift(carom_stepper *stepper, carom_state *state, const carom_quat *q_before, carom_error *error) {
  const carom_dcr *w = stepper->work;
  for (int i = 0; i < state->body_count; i++)
    state->l[i] = cm_rotate(state->q[i], cm_unrotate(q_before[i], state->l[i]));
  if (!carom_joints_any(stepper->model, state)) return CAROM_OK;
  carom_joints_note_turns(stepper->model, state);
  return carom_joints_impose(w->joints, state, state->time, NULL, error);
}

// What moving a body against the forces at hand cost.
static double cost(const carom_stepper *stepper, const carom_state *state, int i) {
  const carom_dcr *w = stepper->work;
  const carom_body *body = &stepper->model->bodies[i];
  carom_vec3 d = cm_sub(state->x[i], w->free_end->x[i]), r = cm_log(cm_qmul(state->q[i], cm_qconj(w->free_end->q[i])));
  return -body->mass * cm_dot(w->free.a[i], d) -
         cm_dot(carom_body_spin_momentum(body, state->q[i], w->free.alpha[i]), r);
}

// What the projection gave each body it owes. Of `energy`, which the state gained, forces that have no potential gave a
// part on the way; all else that is not known body by body, those that were moved share.
static void owe(carom_stepper *stepper, const carom_state *state, double energy, carom_ledger *ledger) {
  carom_dcr *w = stepper->work;
  double known = 0;
  int moved = 0;
  for (int i = 0; i < state->body_count; i++) {
    double way = carom_dcr_moved(w, state, i);
    if (stepper->model->bodies[i].fixed || way == 0) continue;
    w->debt[i] += cost(stepper, state, i);
    w->moved = fmax(w->moved, way);
    known += cost(stepper, state, i);
    moved++;
  }
  bool worked = w->free.fields && carom_fields_need_velocity(stepper->model);
  if (worked) carom_ledger_work(ledger, energy - known);
  for (int i = 0; i < state->body_count && moved > 0 && !worked; i++)
    if (!stepper->model->bodies[i].fixed && carom_dcr_moved(w, state, i) > 0) w->debt[i] += (energy - known) / moved;
}

carom_status carom_dcr_project(carom_stepper *stepper, carom_state *state, carom_ledger *ledger, carom_error *error) {
  carom_dcr *w = stepper->work;
  carom_projection_info info;
  carom_state_copy(w->free_end, state);
  carom_status status = carom_projection_run(w->projection, state, CAROM_DCR_OVERLAP * w->size, &info, error);
  if (status != CAROM_OK) return status;
  carom_ledger_note_overlap(ledger, info.overlap);
  w->moved = 0;
  w->projected = info.iterations > 0;
  if (!w->projected) return CAROM_OK;
  status = lift(stepper, state, w->free_end->q, error);
  if (status != CAROM_OK) return status;
  carom_balance before = carom_balance_of(stepper->model, w->free_end), after = carom_balance_of(stepper->model, state);
  owe(stepper, state, after.potential - before.potential + after.kinetic - before.kinetic, ledger);
  carom_ledger_projection(ledger, 0, cm_sub(after.momentum, before.momentum),
                          cm_sub(after.angular_momentum, before.angular_momentum));
  return CAROM_OK;
}

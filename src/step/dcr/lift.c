// The closest-point projection, and what becomes of the momenta.
#include "mechanics/balance.h"
#include "step/dcr/dcr.h"

// The momentum lift (Johnson 2012, eqs. 3.88-3.93): p stays, l turns by dR = R R~', so that kinetic energy stays. With
// joints, what they forbid at the new configuration is taken out (eq. 3.102).
static carom_status lift(carom_stepper *stepper, carom_state *state, const carom_quat *q_before, carom_error *error) {
  const carom_dcr *w = stepper->work;
  for (int i = 0; i < state->body_count; i++)
    state->l[i] = cm_rotate(state->q[i], cm_unrotate(q_before[i], state->l[i]));
  if (!carom_joints_any(stepper->model, state)) return CAROM_OK;
  carom_joints_note_turns(stepper->model, state);
  return carom_joints_impose(w->joints, state, state->time, state->p, state->l, NULL, error);
}

carom_status carom_dcr_project(carom_stepper *stepper, carom_state *state, carom_ledger *ledger, carom_error *error) {
  carom_dcr *w = stepper->work;
  carom_projection_info info;
  carom_state_copy(w->start, state);
  carom_status status = carom_projection_run(w->projection, state, CAROM_DCR_OVERLAP * w->size, &info, error);
  if (status != CAROM_OK) return status;
  carom_ledger_note_overlap(ledger, info.overlap);
  if (info.iterations == 0) return CAROM_OK;
  status = lift(stepper, state, w->start->q, error);
  if (status != CAROM_OK) return status;
  carom_balance before = carom_balance_of(stepper->model, w->start), after = carom_balance_of(stepper->model, state);
  carom_ledger_projection(ledger, after.potential - before.potential + after.kinetic - before.kinetic,
                          cm_sub(after.momentum, before.momentum),
                          cm_sub(after.angular_momentum, before.angular_momentum));
  return CAROM_OK;
}

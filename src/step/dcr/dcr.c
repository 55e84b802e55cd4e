#include "step/dcr/dcr.h"

#include <string.h>

// Parts into which the impacts of fast bodies may split a step.
enum { MAX_CYCLES = 200 };

static carom_status move(carom_stepper *stepper, carom_state *state, double dt, carom_ledger *ledger,
                         carom_error *error) {
  carom_status status = carom_dcr_find(stepper, state, dt, error);
  if (status == CAROM_OK) status = carom_dcr_rest(stepper, state, dt, ledger, error);
  if (status == CAROM_OK)
    status = carom_integrator_variational.advance(stepper, state, dt, state->time + dt, ledger, error);
  if (status != CAROM_OK) return status;
  carom_drives_place(stepper->model, state, state->time + dt);
  return carom_contacts_extend(((carom_dcr *)stepper->work)->contacts, state, error);
}

// Advances by dt, or by less when a fast body would pass through another; *taken says how far.
static carom_status cycle(carom_stepper *stepper, carom_state *state, double dt, double *taken, carom_ledger *ledger,
                          carom_error *error) {
  carom_dcr *w = stepper->work;
  carom_ledger_mark mark = carom_ledger_get_mark(ledger);
  size_t debts = (size_t)state->body_count * sizeof *w->debt;
  carom_state_copy(w->start, state);
  memcpy(w->debt_before, w->debt, debts);
  carom_status status = move(stepper, state, dt, ledger, error);
  if (status != CAROM_OK) return status;
  double fraction = carom_dcr_safe_fraction(stepper, state);
  *taken = fraction * dt;
  if (fraction < 1) {
    carom_state_copy(state, w->start);
    memcpy(w->debt, w->debt_before, debts);
    carom_ledger_roll_back(ledger, &mark);
    status = move(stepper, state, *taken, ledger, error);
  }
  if (status == CAROM_OK) status = carom_dcr_project(stepper, state, ledger, error);
  if (status == CAROM_OK) status = carom_dcr_number_pairs(w, error);
  if (status == CAROM_OK) status = carom_dcr_impact(stepper, state, *taken, ledger, error);
  if (status != CAROM_OK) return status;
  carom_dcr_book_losses(stepper, ledger);
  return carom_dcr_book_events(stepper, state->time + *taken, ledger, error);
}

static carom_status advance(carom_stepper *stepper, carom_state *state, double h, double end, carom_ledger *ledger,
                            carom_error *error) {
  (void)end;
  double start = state->time, done = 0;
  carom_status status = CAROM_OK;
  for (int i = 0; done < h && status == CAROM_OK; i++) {
    double taken = 0;
    state->time = start + done;
    if (i == MAX_CYCLES)
      return carom_fail(error, CAROM_NOT_CONVERGED,
                        "more than %d impacts of fast bodies in one step at t = %.9g s: use a smaller step", i, start);
    status = cycle(stepper, state, h - done, &taken, ledger, error);
    done = taken >= h - done ? h : done + taken;
  }
  state->time = start;
  return status;
}

const carom_integrator carom_integrator_dcr = {
    .name = "dcr",
    .summary = "collisions at the end of the step: closest-point projection, then the impact law; rest and friction",
    .honours = &carom_honours_dcr,
    CAROM_LIFE(dcr),
    .advance = advance,
};

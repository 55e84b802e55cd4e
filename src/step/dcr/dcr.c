#include "step/dcr/dcr.h"

#include <string.h>

// Parts into which the impacts of fast bodies may split a step.
enum { MAX_CYCLES = 1000 };
// Times that a cycle is cut before it stands, whatever it did.
enum { MAX_CUTS = 10 };
// Looks at the way of fast bodies: first whether they turn too far to be followed, then whom they meet.
enum { MAX_LOOKS = 2 };
// Cycles of a step after which what no law explains is put up with.
enum { PATIENCE = 100 };
static const double LATE = 0.9, EARLY = 1.0 / 64;  // a cut is no later and no earlier in a cycle

static carom_status move(carom_stepper *stepper, carom_state *state, double dt, carom_ledger *ledger,
                         carom_error *error) {
  double end = state->time + dt;
  carom_status status = carom_dcr_find(stepper, state, dt, error);
  if (status == CAROM_OK) status = carom_dcr_rest(stepper, state, dt, ledger, error);
  if (status == CAROM_OK) status = carom_integrator_variational.advance(stepper, state, dt, end, ledger, error);
  if (status != CAROM_OK) return status;
  state->time = end;  // motors are where they are by then
  carom_drives_place(stepper->model, state, end);
  return carom_contacts_extend(((carom_dcr *)stepper->work)->contacts, state, error);
}

static void take_back(carom_stepper *stepper, carom_state *state, const carom_ledger_mark *mark, carom_ledger *ledger) {
  carom_dcr *w = stepper->work;
  carom_state_copy(state, w->start);
  memcpy(w->debt, w->debt_before, (size_t)state->body_count * sizeof *w->debt);
  carom_ledger_roll_back(ledger, mark);
}

static carom_status meet(carom_stepper *stepper, carom_state *state, double dt, carom_ledger *ledger,
                         carom_error *error) {
  carom_dcr *w = stepper->work;
  carom_status status = carom_dcr_project(stepper, state, ledger, error);
  if (status == CAROM_OK) status = carom_dcr_number_pairs(w, error);
  if (status == CAROM_OK) status = carom_dcr_impact(stepper, state, dt, ledger, error);
  if (status != CAROM_OK) return status;
  carom_dcr_book_losses(stepper, ledger);
  return carom_dcr_book_events(stepper, state->time, ledger, error);
}

// Advances by *dt, or by less when a fast body would pass through another.
static carom_status attempt(carom_stepper *stepper, carom_state *state, double *dt, carom_ledger *ledger,
                            carom_error *error) {
  carom_ledger_mark mark = carom_ledger_get_mark(ledger);
  carom_status status = move(stepper, state, *dt, ledger, error);
  for (int i = 0; i < MAX_LOOKS && status == CAROM_OK; i++) {
    double fraction = carom_dcr_safe_fraction(stepper, state);
    if (fraction == 1) break;
    take_back(stepper, state, &mark, ledger);
    *dt *= fraction;
    status = move(stepper, state, *dt, ledger, error);
  }
  return status == CAROM_OK ? meet(stepper, state, *dt, ledger, error) : status;
}

// Where to cut a cycle that may not stand: where the body at fault met another, or half-way when that is no news.
static double cut_of(carom_stepper *stepper, int body, int cuts) {
  double fraction = cuts == 0 ? carom_dcr_first_meeting(stepper, body) : 1;
  return fraction < LATE ? fmax(fraction, EARLY) : 0.5;
}

// Advances by *dt, or by less when that leads to what no law explains, with so many cuts at the most.
static carom_status cycle(carom_stepper *stepper, carom_state *state, double *dt, int most, carom_ledger *ledger,
                          carom_error *error) {
  carom_dcr *w = stepper->work;
  carom_ledger_mark mark = carom_ledger_get_mark(ledger);
  carom_state_copy(w->start, state);
  memcpy(w->debt_before, w->debt, (size_t)state->body_count * sizeof *w->debt);
  carom_dcr_begin_cycle(stepper, state, ledger);
  for (int cuts = 0;; cuts++) {
    memset(w->pushed, 0, (size_t)state->body_count * sizeof *w->pushed);
    carom_status status = attempt(stepper, state, dt, ledger, error);
    if (status != CAROM_OK || cuts >= most) return status;
    carom_dcr_defect defect = carom_dcr_judge(stepper, state, *dt, cuts, ledger);
    if (defect.size <= 1) return CAROM_OK;
    *dt *= cut_of(stepper, defect.body, cuts);
    take_back(stepper, state, &mark, ledger);
  }
}

static carom_status advance(carom_stepper *stepper, carom_state *state, double h, double end, carom_ledger *ledger,
                            carom_error *error) {
  (void)end;
  double start = state->time, done = 0;
  carom_status status = CAROM_OK;
  for (int i = 0; done < h && status == CAROM_OK; i++) {
    double taken = h - done;
    state->time = start + done;
    if (i == MAX_CYCLES)
      return carom_fail(error, CAROM_NOT_CONVERGED,
                        "more than %d impacts of fast bodies in one step at t = %.9g s: use a smaller step", i, start);
    status = cycle(stepper, state, &taken, i < PATIENCE ? MAX_CUTS : 0, ledger, error);
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

// Joints alone, as in Gavrea 2006, 1.3: by their positions (index 3), or by their velocities with multipliers that keep
// positions from drifting (the stabilised index 2 of Gear, Leimkuhler and Gupta 1985). Half of the forces acts at
// either end of a step. The impulses of joints at its start are such that they are met at its end; those at its end,
// which index 3 does without, take out what opens them. With an alpha the step is one of the family of `moreau` as
// published, of which index 2 drifts. Contacts are not seen.
#include <math.h>

#include "model/joints.h"
#include "model/model.h"
#include "step/moreau/motion.h"

enum { CORRECTIONS_MAX = 20 };
// Residuals of joints, m or rad: at which there is nothing left to correct, and that may stay where corrections stall.
static const double MET = 1e-13, ACCEPTED = 1e-9;

typedef struct joints_alone {
  carom_moreau_motion motion;
  carom_state *origin;  // where the step, or its end, began
  bool by_positions;    // index 3
} joints_alone;

// ---- the step -------------------------------------------------------------------------------------------------------

// Positions at the end satisfy the joints, by Newton's method on the residuals of the start.
static carom_status correct_positions(joints_alone *w, carom_state *state, carom_ledger *ledger, carom_error *error) {
  carom_moreau_motion *motion = &w->motion;
  double off = INFINITY, before = INFINITY;
  int worst = 0;
  for (int i = 0; i < CORRECTIONS_MAX; i++) {
    off = carom_moreau_correct(motion, state, &worst);
    if (off <= MET || !(off < 0.5 * before)) break;
    before = off;
    carom_moreau_new_velocity(motion);
    carom_status status = carom_moreau_move(motion, state, error);
    if (status != CAROM_OK) return status;
    carom_ledger_note_solve(ledger, i + 1, 0);
  }
  if (off <= ACCEPTED) return CAROM_OK;
  return carom_fail(error, CAROM_NOT_CONVERGED,
                    "joint '%s' was not met at t = %.9g s (off by %.2g): use a smaller step",
                    motion->model->joints[worst].name, motion->time + motion->h, off);
}

// Forces and joints act for the span; the state moves.
static carom_status push_and_move(joints_alone *w, carom_state *state, const carom_moreau_span *span,
                                  carom_ledger *ledger, carom_error *error) {
  carom_moreau_motion *motion = &w->motion;
  carom_state_copy(w->origin, state);
  carom_status status = carom_moreau_begin(motion, w->origin, span, error);
  if (status != CAROM_OK) return status;
  carom_moreau_new_velocity(motion);
  status = carom_moreau_move(motion, state, error);
  bool positions = motion->joints.system && !motion->joints.may_drift && span->h > 0;
  if (status == CAROM_OK && positions) status = correct_positions(w, state, ledger, error);
  if (status == CAROM_OK) carom_moreau_book_motion(motion, ledger);
  return status;
}

static carom_status advance_by_halves(joints_alone *w, carom_state *state, double h, carom_ledger *ledger,
                                      carom_error *error) {
  carom_moreau_span way = {h, 0.5 * h, 1}, end = {0, 0.5 * h, 1};
  double start = state->time;
  w->motion.joints.past = w->by_positions ? h : 0;
  carom_status status = push_and_move(w, state, &way, ledger, error);
  state->time += h;
  if (status == CAROM_OK) status = push_and_move(w, state, &end, ledger, error);
  state->time = start;  // the clock is the caller's
  return status;
}

static carom_status advance(carom_stepper *stepper, carom_state *state, double h, double end, carom_ledger *ledger,
                            carom_error *error) {
  joints_alone *w = stepper->work;
  carom_moreau_span span = {h, h, stepper->options.alpha};
  carom_status status =
      span.alpha > 0 ? push_and_move(w, state, &span, ledger, error) : advance_by_halves(w, state, h, ledger, error);
  if (status != CAROM_OK) return status;
  carom_joints_note_turns(stepper->model, state);
  carom_ledger_note_constraint(ledger, carom_joints_drift_at(stepper->model, state, end));
  return CAROM_OK;
}

// ---- life -----------------------------------------------------------------------------------------------------------

static void push(carom_stepper *stepper, carom_arena *arena) {
  joints_alone counted = {0}, *own = CAROM_PUSH(arena, joints_alone, 1), *w = own ? own : &counted;
  stepper->work = own;
  carom_moreau_motion_push(&w->motion, arena, stepper->model);
}

static carom_status prepare(carom_stepper *stepper, carom_error *error) {
  const carom_model *model = stepper->model;
  joints_alone *w = stepper->work;
  bool velocities = stepper->integrator == &carom_integrator_index2;
  w->by_positions = !velocities;
  w->motion.joints.may_drift = velocities && stepper->options.alpha > 0;
  carom_status status = carom_moreau_motion_create(&w->motion, &stepper->allocator, error);
  if (status != CAROM_OK) return status;
  return carom_state_create(model, &stepper->allocator, &w->origin, error);
}

static void release(carom_stepper *stepper) {
  joints_alone *w = stepper->work;
  if (!w) return;
  carom_moreau_motion_destroy(&w->motion);
  carom_state_destroy(w->origin);
}

const carom_integrator carom_integrator_index2 = {
    .name = "index2",
    .summary = "joints by their velocities, stabilised (index-2 DAE); contacts are not seen",
    .honours = &carom_honours_index2,
    .push = push,
    .prepare = prepare,
    .advance = advance,
    .release = release,
};

const carom_integrator carom_integrator_index3 = {
    .name = "index3",
    .summary = "joints by their positions (index-3 DAE); contacts are not seen",
    .honours = &carom_honours_index3,
    .push = push,
    .prepare = prepare,
    .advance = advance,
    .release = release,
};

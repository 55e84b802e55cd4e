#include <math.h>

#include "base/memory.h"
#include "base/threads.h"
#include "step/solids.h"
#include "step/step.h"
#include "step/variational/composition.h"

// The runtime makes its threads at the first parallel region; better here than in the first step.
static void wake_threads(int threads) {
  int awake = 0;
#pragma omp parallel num_threads(threads) reduction(+ : awake)
  awake += 1;
  (void)awake;
}

// Scratch is pushed twice: the first time only to learn how much there is.
static carom_status lay_out(carom_stepper *s, carom_error *error) {
  carom_arena counting = {0};
  s->integrator->push(s, &counting);
  carom_status status = carom_arena_create(&s->arena, counting.used, &s->allocator, error);
  if (status == CAROM_OK) s->integrator->push(s, &s->arena);
  return status;
}

// In how many equal parts every step is taken: for springs, and for solids.
static int parts_of(const carom_integrator *integrator, const carom_model *model, const carom_step_options *options) {
  int springs = carom_springs_parts(integrator, model, options);
  int solids = carom_solids_parts(integrator, model, options);
  return springs > solids ? springs : solids;
}

carom_status carom_stepper_create(const carom_model *model, const carom_step_options *options,
                                  const carom_allocator *allocator, carom_stepper **stepper, carom_error *error) {
  *stepper = NULL;
  carom_step_options o = options ? *options : carom_step_default_options();
  const carom_integrator *integrator;
  carom_choice choice;
  carom_status status = carom_step_choose(model, NULL, 0, &o, &choice, error);
  if (status == CAROM_OK) status = carom_integrator_get(choice.integrator, &integrator, error);
  return status == CAROM_OK ? carom_stepper_create_with(integrator, model, &o, allocator, stepper, error) : status;
}

carom_status carom_stepper_create_with(const carom_integrator *integrator, const carom_model *model,
                                       const carom_step_options *options, const carom_allocator *allocator,
                                       carom_stepper **stepper, carom_error *error) {
  *stepper = NULL;
  carom_status status = carom_integrator_check(integrator, model, options, error);
  if (status == CAROM_OK) status = carom_solids_check(integrator, model, options, error);
  if (status != CAROM_OK) return status;
  carom_allocator a = carom_allocator_or_default(allocator);
  carom_stepper *s = CAROM_NEW(&a, carom_stepper, 1);
  if (!s) return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for a stepper");
  s->allocator = a;
  s->model = model;
  s->options = *options;
  s->integrator = integrator;
  s->options.integrator = integrator->name;  // the caller's string may go away
  s->threads = carom_thread_count(options->threads);
  s->parts = parts_of(integrator, model, options);
  wake_threads(s->threads);
  s->last_time = NAN;
  carom_ledger_open(&s->ledger, model, &a);
  status = lay_out(s, error);
  if (status == CAROM_OK) status = integrator->prepare(s, error);
  if (status == CAROM_OK) status = carom_snapshot_create(s, error);
  if (status != CAROM_OK) {
    carom_stepper_destroy(s);
    return status;
  }
  *stepper = s;
  return CAROM_OK;
}

void carom_stepper_destroy(carom_stepper *stepper) {
  if (!stepper) return;
  carom_allocator a = stepper->allocator;
  if (stepper->integrator && stepper->integrator->release) stepper->integrator->release(stepper);
  carom_snapshot_destroy(stepper);
  carom_stepper_end_steering(stepper);
  carom_ledger_close(&stepper->ledger);
  if (stepper->arena.memory) carom_arena_destroy(&stepper->arena);
  carom_release(&a, stepper);
}

// The clock after this step: base + n h, which a stepper that takes the state over later finds just the same.
static double next_time(carom_stepper *s, const carom_state *state) {
  if (state->time != s->last_time) {
    s->base_time = state->time;
    s->base_step = state->step;
  }
  return s->base_time + (double)(state->step + 1 - s->base_step) * s->options.step;
}

// The step in its parts, each of them in 2^halvings.
static carom_status advance_in_parts(carom_stepper *s, carom_state *state, double end, int halvings,
                                     carom_error *error) {
  int parts = s->parts << halvings;
  double h = s->options.step / parts, start = state->time;
  carom_status status = CAROM_OK;
  carom_ledger_begin(&s->ledger, s->options.step);
  s->ledger.report.halvings = halvings;
  for (int part = 1; part <= parts && status == CAROM_OK; part++) {
    double part_end = part == parts ? end : start + part * h;
    status = s->integrator->advance(s, state, h, part_end, &s->ledger, error);
    state->time = part_end;
  }
  return status;
}

// Tries the step whole, then in 2, 4, ... parts. What a try did to state, memory and ledger is undone as a whole.
static carom_status advance_with_retries(carom_stepper *s, carom_state *state, double end, carom_error *error) {
  carom_status status = carom_stepper_save(s, state, error);
  if (status != CAROM_OK) return status;
  for (int k = 0; k <= s->options.max_halvings; k++) {
    status = advance_in_parts(s, state, end, k, error);
    if (status == CAROM_OK) return status;
    carom_stepper_roll_back(s, state);
    if (status != CAROM_NOT_CONVERGED) break;
  }
  if (status == CAROM_NOT_CONVERGED) carom_step_blame(s->model, error);
  return status;
}

// In a planar scene round-off must not tip bodies out of the plane: nothing there would hold them up.
static void keep_planar(const carom_model *model, carom_state *state) {
  for (int i = 0; i < state->body_count; i++) {
    const carom_body *body = &model->bodies[i];
    if (body->fixed) continue;
    carom_quat turn = cm_qmul(state->q[i], cm_qconj(body->upright));
    state->q[i] = cm_qunit(cm_qmul(cm_qunit(cm_quat(turn.w, 0, 0, turn.z)), body->upright));
    state->p[i].z = state->l[i].x = state->l[i].y = 0;
  }
}

carom_status carom_stepper_step(carom_stepper *stepper, carom_state *state, carom_step_report *report,
                                carom_error *error) {
  if (report) *report = (carom_step_report){.status = CAROM_ERR_ARGUMENT};
  carom_status status = carom_state_check(stepper->model, state, error);
  if (status == CAROM_OK) status = carom_step_check_speed(stepper->model, state, error);
  if (status == CAROM_OK) status = carom_stepper_steer(stepper, state, error);
  if (report) report->status = status;
  if (status != CAROM_OK) return status;
  double h = stepper->options.step / stepper->parts, end = next_time(stepper, state);
  bool may_fail = !stepper->integrator->may_fail || stepper->integrator->may_fail(stepper, state, h);
  status =
      may_fail ? advance_with_retries(stepper, state, end, error) : advance_in_parts(stepper, state, end, 0, error);
  if (report) report->status = status;
  if (status != CAROM_OK) carom_stepper_unsteer(stepper, state);
  if (status != CAROM_OK) carom_step_tell(stepper->model, state, h, error);
  if (status != CAROM_OK) return status;
  stepper->steering.stepped = true;
  if (stepper->model->planar) keep_planar(stepper->model, state);
  state->time = stepper->last_time = end;
  state->step++;
  if (report) *report = carom_ledger_report(&stepper->ledger);
  return CAROM_OK;
}

int carom_step_parts(const carom_model *model, const carom_step_options *options) {
  const carom_integrator *integrator;
  carom_choice choice;
  carom_status status = carom_step_choose(model, NULL, 0, options, &choice, NULL);
  if (status == CAROM_OK) status = carom_integrator_get(choice.integrator, &integrator, NULL);
  return status == CAROM_OK ? parts_of(integrator, model, options) : 1;
}

carom_status carom_step_check_start(const carom_model *model, const carom_state *state,
                                    const carom_step_options *options, carom_error *error) {
  carom_stepper *stepper;
  const carom_integrator *integrator;
  carom_choice choice;
  carom_status status = carom_step_choose(model, state, 0, options, &choice, error);
  if (status == CAROM_OK) status = carom_integrator_get(choice.integrator, &integrator, error);
  if (status == CAROM_OK) status = carom_state_check(model, state, error);
  if (status == CAROM_OK) status = carom_step_check_speed(model, state, error);
  if (status == CAROM_OK) status = carom_springs_check(integrator, model, options, error);
  if (status == CAROM_OK) status = carom_solids_check(integrator, model, options, error);
  if (status != CAROM_OK || !integrator->begin) return status;
  status = carom_stepper_create(model, options, NULL, &stepper, error);
  if (status != CAROM_OK) return status;
  status = integrator->begin(stepper, state, error);
  if (status != CAROM_OK) carom_step_tell(model, state, options->step, error);
  carom_stepper_destroy(stepper);
  return status;
}

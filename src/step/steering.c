// A controller says before every step what the inputs do. What it changes is undone when the step fails, so that a step
// that is tried again finds all as it was.
#include <string.h>

#include "base/memory.h"
#include "step/step.h"

static size_t input_bytes(const carom_stepper *s) { return (size_t)s->model->input_size * sizeof(double); }

void carom_stepper_end_steering(carom_stepper *stepper) {
  carom_release(&stepper->allocator, stepper->steering.before);
  stepper->steering = (carom_steering){.stepped = stepper->steering.stepped};
}

carom_status carom_stepper_set_control(carom_stepper *stepper, const carom_control *control, carom_error *error) {
  carom_stepper_end_steering(stepper);
  if (!control || !control->act) return CAROM_OK;
  size_t memory = control->memory ? control->memory_size : 0, size = input_bytes(stepper) + memory;
  stepper->steering.before = carom_allocate(&stepper->allocator, size > 0 ? size : 1, 1);
  if (!stepper->steering.before) return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for a control");
  stepper->steering.by = *control;
  stepper->steering.by.memory_size = memory;
  return CAROM_OK;
}

carom_status carom_stepper_steer(carom_stepper *stepper, carom_state *state, carom_error *error) {
  carom_steering *s = &stepper->steering;
  if (!s->by.act) return CAROM_OK;
  memcpy(s->before, state->inputs, input_bytes(stepper));
  if (s->by.memory_size > 0) memcpy(s->before + input_bytes(stepper), s->by.memory, s->by.memory_size);
  carom_step_report last = carom_ledger_report(&stepper->ledger);
  carom_control_view view = {stepper->model, state, stepper->options.step, s->stepped ? &last : NULL};
  carom_status status = s->by.act(s->by.context, &view, state->inputs, error);
  if (status == CAROM_OK) status = carom_state_check(stepper->model, state, error);
  if (status != CAROM_OK) carom_stepper_unsteer(stepper, state);
  return status;
}

void carom_stepper_unsteer(carom_stepper *stepper, carom_state *state) {
  carom_steering *s = &stepper->steering;
  if (!s->by.act) return;
  memcpy(state->inputs, s->before, input_bytes(stepper));
  if (s->by.memory_size > 0) memcpy(s->by.memory, s->before + input_bytes(stepper), s->by.memory_size);
}

// What a stepper remembers, as bytes: for checkpoints with its own clock in front, and for steps that are rolled back.
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "model/model.h"
#include "step/step.h"

static const int64_t LAST_STEP = (int64_t)1 << 53;  // beyond it a double does not count them
enum { LAYOUT = 5 };                                // raised when what any integrator remembers is laid out anew

typedef struct clock_record {
  char integrator[32];
  int64_t layout;
  double base_time, last_time;
  int64_t base_step;
  uint64_t size;  // of what follows
} clock_record;

static bool pass(const carom_stepper *stepper, carom_tape *tape) {
  // Passing to a tape that does not read changes nothing in the stepper.
  const carom_control *by = &stepper->steering.by;
  return (!stepper->integrator->remember || stepper->integrator->remember((carom_stepper *)stepper, tape)) &&
         carom_tape_pass(tape, by->memory, by->memory_size);
}

static size_t own_size(const carom_stepper *stepper) {
  carom_tape tape = {0};
  pass(stepper, &tape);
  return tape.at;
}

// ---- checkpoints --------------------------------------------------------------------------------------------------

size_t carom_stepper_memory(const carom_stepper *stepper, void *memory, size_t size) {
  size_t own = own_size(stepper), total = sizeof(clock_record) + own;
  if (!memory || size < total) return total;
  clock_record record = {.layout = LAYOUT,
                         .base_time = stepper->base_time,
                         .last_time = stepper->last_time,
                         .base_step = stepper->base_step,
                         .size = own};
  strncpy(record.integrator, stepper->integrator->name, sizeof record.integrator - 1);
  memcpy(memory, &record, sizeof record);
  carom_tape tape = {.bytes = (unsigned char *)memory + sizeof record};
  pass(stepper, &tape);
  return total;
}

static carom_status check_record(const carom_stepper *stepper, const clock_record *record, carom_error *error) {
  if (strcmp(record->integrator, stepper->integrator->name) != 0)
    return carom_fail(error, CAROM_ERR_FORMAT, "the memory is that of the integrator '%s', not of '%s'",
                      record->integrator, stepper->integrator->name);
  if (record->layout != LAYOUT)
    return carom_fail(error, CAROM_ERR_FORMAT,
                      "the memory is of layout %lld, not %d: it was written by another version of Carom; run the scene "
                      "again from its start",
                      (long long)record->layout, LAYOUT);
  // Before the first step there is no last time.
  if (!isfinite(record->base_time) || isinf(record->last_time) || record->base_step < 0 ||
      record->base_step > LAST_STEP)
    return carom_fail(error, CAROM_ERR_FORMAT, "the clock in the memory of the stepper stands at step %lld, t = %g s",
                      (long long)record->base_step, record->base_time);
  return CAROM_OK;
}

carom_status carom_stepper_recall(carom_stepper *stepper, const void *memory, size_t size, carom_error *error) {
  clock_record record;
  if (!memory || size < sizeof record)
    return carom_fail(error, CAROM_ERR_FORMAT, "the memory of a stepper is cut off (%zu bytes)", size);
  memcpy(&record, memory, sizeof record);
  record.integrator[sizeof record.integrator - 1] = 0;
  carom_status status = check_record(stepper, &record, error);
  if (status != CAROM_OK) return status;
  carom_tape tape = {.from = (const unsigned char *)memory + sizeof record, .size = size - sizeof record};
  if (record.size != tape.size || !pass(stepper, &tape) || !carom_tape_ended(&tape))
    return carom_fail(error, CAROM_ERR_FORMAT, "the memory of the stepper does not fit this model or these options");
  stepper->base_time = record.base_time;
  stepper->last_time = record.last_time;
  stepper->base_step = record.base_step;
  return CAROM_OK;
}

// ---- steps that are rolled back -----------------------------------------------------------------------------------

static carom_status make_room(carom_stepper *stepper, size_t size, carom_error *error) {
  carom_snapshot *saved = &stepper->saved;
  if (size <= saved->capacity) return CAROM_OK;
  size_t capacity = size + size / 2;
  unsigned char *larger = carom_allocate(&stepper->allocator, capacity, 1);
  if (!larger)
    return carom_fail(error, CAROM_ERR_MEMORY, "out of memory: %zu bytes to keep what a step begins from", capacity);
  carom_release(&stepper->allocator, saved->memory);
  saved->memory = larger;
  saved->capacity = capacity;
  return CAROM_OK;
}

carom_status carom_snapshot_create(carom_stepper *stepper, carom_error *error) {
  const carom_model *model = stepper->model;
  carom_status status = carom_state_create(model, &stepper->allocator, &stepper->saved.state, error);
  return status == CAROM_OK ? make_room(stepper, own_size(stepper), error) : status;
}

void carom_snapshot_destroy(carom_stepper *stepper) {
  carom_state_destroy(stepper->saved.state);
  carom_release(&stepper->allocator, stepper->saved.memory);
}

carom_status carom_stepper_save(carom_stepper *stepper, const carom_state *state, carom_error *error) {
  carom_snapshot *saved = &stepper->saved;
  size_t size = own_size(stepper);
  carom_status status = make_room(stepper, size, error);
  if (status != CAROM_OK) return status;
  carom_state_copy(saved->state, state);
  carom_tape tape = {.bytes = saved->memory};
  pass(stepper, &tape);
  saved->size = size;
  return CAROM_OK;
}

void carom_stepper_roll_back(carom_stepper *stepper, carom_state *state) {
  carom_tape tape = {.from = stepper->saved.memory, .size = stepper->saved.size};
  carom_state_copy(state, stepper->saved.state);
  if (stepper->saved.size > 0) pass(stepper, &tape);
}

bool carom_stepper_contact_moments(const carom_stepper *stepper, carom_mat3 *moments) {
  return stepper->integrator->contact_moments && stepper->integrator->contact_moments(stepper, moments);
}

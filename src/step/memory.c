// What a stepper remembers, as bytes: its own clock, then whatever the integrator adds.
#include <stdlib.h>
#include <string.h>

#include "base/tape.h"
#include "contact/pairs.h"
#include "step/step.h"

typedef struct clock_record {
  char integrator[32];
  double base_time, last_time;
  int64_t base_step;
  uint64_t size;  // of what follows
} clock_record;

size_t carom_stepper_memory(const carom_stepper *stepper, void *memory, size_t size) {
  const carom_integrator *integrator = stepper->integrator;
  size_t own = integrator->memory ? integrator->memory(stepper, NULL) : 0, total = sizeof(clock_record) + own;
  if (!memory || size < total) return total;
  clock_record record = {
      .base_time = stepper->base_time, .last_time = stepper->last_time, .base_step = stepper->base_step, .size = own};
  strncpy(record.integrator, integrator->name, sizeof record.integrator - 1);
  memcpy(memory, &record, sizeof record);
  if (own > 0) integrator->memory(stepper, (char *)memory + sizeof record);
  return total;
}

carom_status carom_stepper_recall(carom_stepper *stepper, const void *memory, size_t size, carom_error *error) {
  const carom_integrator *integrator = stepper->integrator;
  clock_record record;
  if (!memory || size < sizeof record)
    return carom_fail(error, CAROM_ERR_FORMAT, "the memory of a stepper is cut off (%zu bytes)", size);
  memcpy(&record, memory, sizeof record);
  record.integrator[sizeof record.integrator - 1] = 0;
  if (strcmp(record.integrator, integrator->name) != 0)
    return carom_fail(error, CAROM_ERR_FORMAT, "the memory is that of the integrator '%s', not of '%s'",
                      record.integrator, integrator->name);
  size_t own = size - sizeof record;
  bool good =
      record.size == own &&
      (own == 0 || (integrator->recall && integrator->recall(stepper, (const char *)memory + sizeof record, own)));
  if (!good)
    return carom_fail(error, CAROM_ERR_FORMAT, "the memory of the stepper does not fit this model or these options");
  stepper->base_time = record.base_time;
  stepper->last_time = record.last_time;
  stepper->base_step = record.base_step;
  return CAROM_OK;
}

bool carom_stepper_contact_moments(const carom_stepper *stepper, carom_mat3 *moments) {
  return stepper->integrator->contact_moments && stepper->integrator->contact_moments(stepper, moments);
}

// ---- what several integrators remember ------------------------------------------------------------------------------
// Each is written with its size before it.

void carom_flow_memory(const carom_stepper *stepper, carom_tape *tape) {
  uint64_t size = carom_integrator_variational.memory(stepper, NULL);
  carom_tape_put(tape, &size, sizeof size);
  void *room = carom_tape_room(tape, size);
  if (room && size > 0) carom_integrator_variational.memory(stepper, room);
}

// The next thing on the tape and its size; null when the tape ends before it does.
static const void *take_sized(carom_tape *tape, size_t *size) {
  uint64_t kept;
  if (!carom_tape_get(tape, &kept, sizeof kept) || kept > tape->size) return NULL;
  *size = (size_t)kept;
  return carom_tape_take(tape, *size);
}

bool carom_flow_recall(carom_stepper *stepper, carom_tape *tape) {
  size_t size;
  const void *bytes = take_sized(tape, &size);
  return bytes && carom_integrator_variational.recall(stepper, bytes, size);
}

void carom_keep_contacts(const carom_contacts *contacts, carom_tape *tape) {
  uint64_t size = carom_contacts_memory(contacts, NULL);
  carom_tape_put(tape, &size, sizeof size);
  void *room = carom_tape_room(tape, size);
  if (room) carom_contacts_memory(contacts, room);
}

bool carom_recall_contacts(carom_contacts *contacts, carom_tape *tape) {
  size_t size;
  const void *bytes = take_sized(tape, &size);
  return bytes && carom_contacts_recall(contacts, bytes, size);
}

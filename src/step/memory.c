// What a stepper remembers, as bytes: its own clock, then whatever the integrator adds.
#include <stdlib.h>
#include <string.h>

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

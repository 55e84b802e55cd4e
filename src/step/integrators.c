// The list of integrators.
#include <string.h>

#include "step/step.h"

#define INTEGRATOR(name) &carom_integrator_##name,
static const carom_integrator *const integrators[] = {CAROM_INTEGRATORS(INTEGRATOR)};
#undef INTEGRATOR
enum { INTEGRATOR_COUNT = sizeof integrators / sizeof *integrators };

const carom_integrator *carom_integrator_at(int index) {
  return index >= 0 && index < INTEGRATOR_COUNT ? integrators[index] : NULL;
}

const char *carom_integrator_name(int index) {
  const carom_integrator *integrator = carom_integrator_at(index);
  return integrator ? integrator->name : NULL;
}

const char *carom_integrator_summary(int index) {
  const carom_integrator *integrator = carom_integrator_at(index);
  return integrator ? integrator->summary : NULL;
}

int carom_integrator_find(const char *name) {
  for (int i = 0; name && i < INTEGRATOR_COUNT; i++)
    if (strcmp(integrators[i]->name, name) == 0) return i;
  return -1;
}

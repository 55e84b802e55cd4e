// The table of a sweep in memory.
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "sweep/program.h"

static double *row(const carom_cases *cases, int64_t number) {
  return cases->values + (size_t)number * (size_t)cases->column_count;
}

static void fill_inputs(const carom_sweep *sweep, carom_cases *cases) {
  bool known = cases->count == sweep->sampling.count;
  for (int64_t i = 0; i < cases->count; i++) {
    cases->classes[i] = -1;
    for (int k = sweep->sampling.axis_count; k < cases->column_count; k++) row(cases, i)[k] = NAN;
    if (known) carom_sampling_inputs(&sweep->sampling, i, row(cases, i));
  }
}

carom_status carom_cases_create(const carom_sweep *sweep, int64_t count, const carom_allocator *allocator,
                                carom_cases **cases, carom_error *error) {
  carom_allocator a = carom_allocator_or_default(allocator);
  carom_cases *c = *cases = CAROM_NEW(&a, carom_cases, 1);
  if (c) {
    c->allocator = a;
    c->count = count;
    c->column_count = sweep->column_count;
  }
  if (c && CAROM_NEW_ALL(&a, CAROM_ROOM(c->classes, count), CAROM_ROOM(c->values, count * sweep->column_count),
                         CAROM_ROOM(c->reasons, count))) {
    fill_inputs(sweep, c);
    return CAROM_OK;
  }
  if (c) c->count = 0;
  carom_cases_destroy(c);
  *cases = NULL;
  return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for a table of %lld cases", (long long)count);
}

void carom_cases_destroy(carom_cases *cases) {
  if (!cases) return;
  carom_allocator a = cases->allocator;
  for (int64_t i = 0; i < cases->count; i++) carom_release(&a, cases->reasons[i]);
  CAROM_RELEASE_ALL(&a, cases->classes, cases->values, cases->reasons, cases);
}

carom_status carom_cases_put(carom_cases *cases, const carom_case *c, carom_error *error) {
  char *reason = c->reason[0] ? carom_copy_text(&cases->allocator, c->reason) : NULL;
  if (c->reason[0] && !reason) return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for a case");
  carom_release(&cases->allocator, cases->reasons[c->number]);
  cases->reasons[c->number] = reason;
  cases->classes[c->number] = c->class_index;
  memmove(row(cases, c->number), c->values, (size_t)cases->column_count * sizeof *c->values);
  return CAROM_OK;
}

bool carom_cases_extend(carom_cases **cases, const carom_sweep *sweep, int64_t more) {
  carom_cases *larger, *old = *cases;
  bool good = carom_cases_create(sweep, old->count + more, &old->allocator, &larger, NULL) == CAROM_OK;
  for (int64_t i = 0; i < old->count && good; i++) {
    carom_case c = carom_cases_get(old, i);
    good = carom_cases_put(larger, &c, NULL) == CAROM_OK;
  }
  carom_cases_destroy(good ? old : larger);
  if (good) *cases = larger;
  return good;
}

carom_case carom_cases_get(const carom_cases *cases, int64_t number) {
  carom_case c = {.number = number, .class_index = cases->classes[number], .values = row(cases, number)};
  const char *reason = cases->reasons[number];
  if (reason) memcpy(c.reason, reason, strnlen(reason, sizeof c.reason - 1));
  return c;
}

// Pushes that are not needed: each is left out in turn, and the rest simulated again.
#include <string.h>

#include "control/push_tree.h"

carom_status carom_push_again(carom_push_yard *yard, carom_push_way *way, int first, bool *reached,
                              carom_error *error) {
  *reached = false;
  carom_push_outcome outcome = {.usable = true};
  for (int i = first; i < way->count; i++) {
    carom_push push = way->pushes[i];
    way->flocks[i + 1] = way->flocks[i];
    carom_status status = carom_push_yard_run(yard, &push, &way->flocks[i + 1], &outcome, error);
    if (status != CAROM_OK) return status;
    if (!outcome.usable) return CAROM_OK;
    status = carom_push_yard_follow(yard, &push, &way->flocks[i], &way->flocks[i + 1], &outcome, error);
    if (status != CAROM_OK) return status;
    if (!outcome.usable) return CAROM_OK;
    way->pushes[i] = push;
  }
  *reached = carom_push_yard_in_goal(yard, &way->flocks[way->count]);
  return CAROM_OK;
}

static void leave_out(carom_push_way *way, int i) {
  memmove(&way->pushes[i], &way->pushes[i + 1], (size_t)(way->count - i - 1) * sizeof *way->pushes);
  way->count--;
}

carom_status carom_push_shorten(carom_push_yard *yard, carom_push_way *way, carom_push_way *scratch, int *dropped,
                                carom_error *error) {
  *dropped = 0;
  for (int i = way->count - 1; i >= 0; i--) {
    scratch->count = way->count, scratch->found = true;
    memcpy(scratch->pushes, way->pushes, (size_t)way->count * sizeof *way->pushes);
    memcpy(scratch->flocks, way->flocks, (size_t)(i + 1) * sizeof *way->flocks);
    leave_out(scratch, i);
    bool reached;
    carom_status status = carom_push_again(yard, scratch, i, &reached, error);
    if (status != CAROM_OK) return status;
    if (!reached) continue;
    carom_push_way shorter = *scratch;
    *scratch = *way, *way = shorter;
    (*dropped)++;
  }
  return CAROM_OK;
}

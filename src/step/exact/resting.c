// Which pairs of parts and which limits of joints rest, from step to step.
#include <string.h>

#include "base/memory.h"
#include "step/exact/exact.h"

bool carom_exact_is_resting(const carom_exact *e, const carom_part_pair *pair) {
  for (int i = 0; i < e->resting.count; i++)
    if (e->resting.pairs[i][0] == pair->part_a && e->resting.pairs[i][1] == pair->part_b) return true;
  return false;
}

static bool reserve(carom_exact *e, carom_exact_resting *r, int count) {
  return carom_reserve(&e->allocator, (void **)&r->pairs, &r->capacity, count, sizeof *r->pairs);
}

bool carom_exact_add_resting(carom_exact *e, const carom_part_pair *pair) {
  carom_exact_resting *r = &e->resting;
  if (!reserve(e, r, r->count + 1)) return false;
  r->pairs[r->count][0] = pair->part_a;
  r->pairs[r->count++][1] = pair->part_b;
  return true;
}

void carom_exact_drop_resting(carom_exact *e, const carom_part_pair *pair) {
  carom_exact_resting *r = &e->resting;
  int left = 0;
  for (int i = 0; i < r->count; i++)
    if (r->pairs[i][0] != pair->part_a || r->pairs[i][1] != pair->part_b)
      memmove(r->pairs[left++], r->pairs[i], sizeof *r->pairs);
  r->count = left;
}

static size_t limit_count(const carom_exact *e) { return CAROM_JOINT_LIMITS * (size_t)e->model->joint_count; }

bool carom_exact_copy_resting(carom_exact *e, carom_exact_resting *to, const carom_exact_resting *from) {
  if (!reserve(e, to, from->count)) return false;
  to->count = from->count;
  if (from->count > 0) memcpy(to->pairs, from->pairs, (size_t)from->count * sizeof *from->pairs);
  if (limit_count(e) > 0) memcpy(to->limits, from->limits, limit_count(e) * sizeof *from->limits);
  return true;
}

bool carom_exact_remember_resting(carom_exact *e, carom_tape *tape) {
  carom_exact_resting *r = &e->resting;
  int count = r->count, parts = e->model->part_count;
  if (!carom_tape_pass_count(tape, &count, sizeof *r->pairs) || !reserve(e, r, count)) return false;
  r->count = count;
  if (!carom_tape_pass(tape, r->pairs, (size_t)count * sizeof *r->pairs)) return false;
  for (int i = 0; i < 2 * count; i++)
    if (r->pairs[i / 2][i % 2] < 0 || r->pairs[i / 2][i % 2] >= parts) return false;
  for (size_t i = 0; i < limit_count(e); i++) {
    unsigned char rests = r->limits[i];
    if (!carom_tape_pass(tape, &rests, 1)) return false;
    r->limits[i] = rests != 0;
  }
  return true;
}

// Pairs that have come apart may collide again. A latch that closed holds the bodies from now on.
static bool still_rests(const carom_exact *e, const carom_state *state, const int pair[2]) {
  const int *body_of = e->contacts->body_of_part;
  if (carom_joints_hold(e->model, state, body_of[pair[0]], body_of[pair[1]])) return false;
  carom_placed a = carom_contacts_place(e->contacts, pair[0], state);
  carom_placed b = carom_contacts_place(e->contacts, pair[1], state);
  carom_distance_result d;
  return carom_distance(&a, &b, NULL, &d) == CAROM_OK &&
         d.distance <= CAROM_EXACT_RELEASE * carom_exact_size(e, pair[0], pair[1]);
}

void carom_exact_release_opened(carom_exact *e, const carom_state *state) {
  carom_exact_resting *r = &e->resting;
  int left = 0;
  for (int i = 0; i < r->count; i++)
    if (still_rests(e, state, r->pairs[i])) memmove(r->pairs[left++], r->pairs[i], sizeof *r->pairs);
  r->count = left;
  carom_exact_release_limits(e, state);
}

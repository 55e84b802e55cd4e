// Near pairs, and the groups of bodies that they make.
#include "base/groups.h"

#include <string.h>

#include "base/memory.h"
#include "step/exact/exact.h"

static carom_status reserve_pairs(carom_exact *e, carom_error *error) {
  int count = e->contacts->pair_count;
  if (carom_reserve(&e->allocator, (void **)&e->near, &e->near_capacity, count, sizeof *e->near) &&
      carom_reserve(&e->allocator, (void **)&e->groups.of_pair, &e->groups.capacity, count, sizeof(int)))
    return CAROM_OK;
  return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for %d pairs of near bodies", count);
}

static void join_bodies(carom_exact *e) {
  int *parent = e->groups.parent, first = -1;
  for (int i = 0; i < e->model->body_count; i++) parent[i] = i;
  for (int i = 0; i < e->contacts->pair_count; i++) {
    const carom_part_pair *p = &e->contacts->pairs[i];
    if (carom_body_moves(e->model, p->body_b)) carom_group_unite(parent, p->body_a, p->body_b);
  }
  for (int i = 0; i < e->model->body_count && e->whole; i++) {
    if (!carom_body_moves(e->model, i)) continue;
    if (first < 0) first = i;
    carom_group_unite(parent, first, i);
  }
}

// Sorts the moving bodies by group.
static void sort_bodies(carom_exact *e) {
  carom_exact_groups *g = &e->groups;
  int n = e->model->body_count;
  memset(g->count, 0, (size_t)n * sizeof *g->count);
  for (int i = 0; i < n; i++)
    if (carom_body_moves(e->model, i)) g->count[carom_group_root(g->parent, i)]++;
  for (int r = 0; r < n; r++) g->start[r + 1] = g->start[r] + g->count[r];
  memset(g->count, 0, (size_t)n * sizeof *g->count);
  for (int i = 0; i < n; i++) {
    if (!carom_body_moves(e->model, i)) continue;
    int r = carom_group_root(g->parent, i);
    g->order[g->start[r] + g->count[r]++] = i;
  }
}

carom_status carom_exact_find_groups(carom_exact *e, const carom_state *state, carom_error *error) {
  for (int i = 0; i < state->body_count; i++) e->reach[i] = e->bodies[i].allowed;
  carom_status status = carom_contacts_update(e->contacts, state, e->reach, error);
  if (status == CAROM_OK) status = reserve_pairs(e, error);
  if (status != CAROM_OK) return status;
  join_bodies(e);
  sort_bodies(e);
  for (int i = 0; i < e->contacts->pair_count; i++)
    e->groups.of_pair[i] = carom_group_root(e->groups.parent, e->contacts->pairs[i].body_a);
  return CAROM_OK;
}

bool carom_exact_in_group(const carom_exact *e, const carom_state *state, const carom_exact_group *g, int pair) {
  const carom_part_pair *p = &e->contacts->pairs[pair];
  return e->groups.of_pair[pair] == g->root && !carom_joints_hold(e->model, state, p->body_a, p->body_b);
}

carom_status carom_exact_measure(carom_exact *e, const carom_state *state, const carom_exact_group *g,
                                 carom_ledger *ledger, carom_error *error) {
  for (int i = 0; i < e->contacts->pair_count; i++) {
    if (!carom_exact_in_group(e, state, g, i)) continue;
    carom_status status = carom_contacts_distance(e->contacts, i, state, &e->near[i]);
    if (status != CAROM_OK) return carom_contacts_no_separation(e->contacts, i, state, status, error);
    carom_ledger_note_overlap(ledger, -e->near[i].distance);
  }
  return CAROM_OK;
}

#include "contact/solve/tao_parts.h"

#include <math.h>
#include <string.h>

static size_t items_of(const carom_contact_system *s) {
  return (size_t)s->problem.contact_count + (size_t)s->problem.row_count;
}

size_t carom_parts_bytes(const carom_contact_system *s, int ranks) {
  size_t bodies = (size_t)s->problem.body_count;
  return (2 * bodies + items_of(s) + 2 * (size_t)ranks + 2) * sizeof(int);
}

// Breadth first over the graph of contacts: in a packing this goes through space slice by slice, so that stretches of
// the walk touch few others. Returns how many bodies it visits.
static int walk_bodies(carom_parts *parts) {
  const carom_contact_system *s = parts->s;
  const carom_contact_problem *p = &s->problem;
  int count = 0, next = 0;
  for (int i = 0; i < p->body_count; i++) parts->position[i] = -1;
  for (int seed = 0; seed < p->body_count; seed++) {
    if (parts->position[seed] >= 0 || !carom_contact_can_move(p, seed)) continue;
    parts->position[seed] = count, parts->walk[count++] = seed;
    for (; next < count; next++)
      for (int k = s->incident_start[parts->walk[next]]; k < s->incident_start[parts->walk[next] + 1]; k++) {
        int body[2];
        carom_contact_bodies_of(p, s->incident[k] >> 1, body);
        int other = body[1 - (s->incident[k] & 1)];
        if (other < 0 || parts->position[other] >= 0 || !carom_contact_can_move(p, other)) continue;
        parts->position[other] = count, parts->walk[count++] = other;
      }
  }
  return count;
}

// Stretches with about as many contacts each.
static void cut_walk(carom_parts *parts, int count) {
  const int *start = parts->s->incident_start;
  double total = 0, sum = 0;
  for (int i = 0; i < count; i++) total += 1 + start[parts->walk[i] + 1] - start[parts->walk[i]];
  int rank = 0;
  for (int i = 0; i < count; i++) {
    while (rank < parts->ranks && sum >= total * rank / parts->ranks) parts->stretch[rank++] = i;
    sum += 1 + start[parts->walk[i] + 1] - start[parts->walk[i]];
  }
  while (rank <= parts->ranks) parts->stretch[rank++] = count;
}

static int owner_of_body(const carom_parts *parts, int body) {
  int rank = parts->ranks - 1;
  while (rank > 0 && parts->position[body] < parts->stretch[rank]) rank--;
  return rank;
}

int carom_parts_owner(const carom_parts *parts, int item) {
  int body[2];
  carom_contact_bodies_of(&parts->s->problem, item, body);
  for (int side = 0; side < 2; side++)
    if (body[side] >= 0 && parts->position[body[side]] >= 0) return owner_of_body(parts, body[side]);
  return 0;  // nothing moves: anybody's
}

int carom_parts_width(const carom_parts *parts, int item) {
  return item < parts->s->problem.contact_count ? parts->s->width : 1;
}

void carom_parts_make(carom_parts *parts, const carom_contact_system *s, int rank, int ranks, void *memory) {
  size_t bodies = (size_t)s->problem.body_count;
  *parts = (carom_parts){.s = s, .rank = rank, .ranks = ranks, .position = memory};
  parts->walk = parts->position + bodies;
  parts->items = parts->walk + bodies;
  parts->stretch = parts->items + items_of(s);
  parts->unknowns = parts->stretch + ranks + 1;
  cut_walk(parts, walk_bodies(parts));
  for (int i = 0; i < (int)items_of(s); i++) {
    int owner = carom_parts_owner(parts, i);
    parts->unknowns[owner] += carom_parts_width(parts, i);
    if (owner == rank) parts->items[parts->item_count++] = i;
  }
}

void carom_parts_mobility(const carom_parts *parts, double *w) {
  for (int i = parts->stretch[parts->rank]; i < parts->stretch[parts->rank + 1]; i++, w += 6) {
    double wrench[6];
    memcpy(wrench, w, sizeof wrench);
    carom_contact_mobility(&parts->s->problem, parts->walk[i], wrench, w);
  }
}

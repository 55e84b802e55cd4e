#include "contact/solve/tao_parts.h"

#include <math.h>
#include <string.h>

static size_t items_of(const carom_contact_system *s) {
  return (size_t)s->problem.contact_count + (size_t)s->problem.row_count;
}

size_t carom_parts_bytes(const carom_contact_system *s, int ranks) {
  size_t bodies = (size_t)s->problem.body_count;
  return 6 * bodies * sizeof(double) + (4 * bodies + items_of(s) + 2 * (size_t)ranks + 2) * sizeof(int);
}

// Breadth first over the graph of contacts: in a packing this goes through space slice by slice, so that stretches of
// the walk touch few others. Returns how many bodies it visits.
static int walk_bodies(carom_parts *parts) {
  const carom_contact_system *s = parts->s;
  const carom_contact_problem *p = &s->problem;
  int count = 0, next = 0;
  for (int i = 0; i < p->body_count; i++) parts->position[i] = parts->local[i] = -1;
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

static void touch(carom_parts *parts, int item) {
  int body[2];
  carom_contact_bodies_of(&parts->s->problem, item, body);
  for (int side = 0; side < 2; side++) {
    int b = body[side];
    if (b < 0 || parts->position[b] < 0 || parts->local[b] >= 0) continue;
    parts->local[b] = parts->touched_count;
    parts->touched[parts->touched_count++] = b;
  }
}

void carom_parts_make(carom_parts *parts, const carom_contact_system *s, int rank, int ranks, void *memory) {
  size_t bodies = (size_t)s->problem.body_count;
  *parts = (carom_parts){.s = s, .rank = rank, .ranks = ranks, .wrench = memory};
  parts->position = (int *)(parts->wrench + 6 * bodies);
  parts->walk = parts->position + bodies;
  parts->local = parts->walk + bodies;
  parts->touched = parts->local + bodies;
  parts->items = parts->touched + bodies;
  parts->stretch = parts->items + items_of(s);
  parts->unknowns = parts->stretch + ranks + 1;
  cut_walk(parts, walk_bodies(parts));
  for (int i = 0; i < (int)items_of(s); i++) {
    int owner = carom_parts_owner(parts, i);
    parts->unknowns[owner] += carom_parts_width(parts, i);
    if (owner != rank) continue;
    parts->items[parts->item_count++] = i;
    touch(parts, i);
  }
}

// ---- the product ------------------------------------------------------------------------------

static double *place_of(const carom_parts *parts, int body) {
  return body >= 0 && parts->local[body] >= 0 ? parts->wrench + 6 * (size_t)parts->local[body] : NULL;
}

void carom_parts_push(carom_parts *parts, const double *x) {
  const carom_contact_problem *p = &parts->s->problem;
  memset(parts->wrench, 0, 6 * (size_t)parts->touched_count * sizeof(double));
  for (int i = 0; i < parts->item_count; x += carom_parts_width(parts, parts->items[i]), i++) {
    int item = parts->items[i], contact = item < p->contact_count, body[2];
    carom_vec3 f = contact ? cm_zero3() : cm_vec3(*x, 0, 0);
    for (int k = 0; contact && k < parts->s->width; k++)
      f = cm_axpy(f, x[k], carom_contact_generator(parts->s, item, k));
    carom_contact_bodies_of(p, item, body);
    for (int side = 0; side < 2; side++)
      if (place_of(parts, body[side])) carom_contact_add_wrench(p, item, side, f, place_of(parts, body[side]));
  }
}

void carom_parts_mobility(const carom_parts *parts, double *w) {
  for (int i = parts->stretch[parts->rank]; i < parts->stretch[parts->rank + 1]; i++, w += 6) {
    double wrench[6];
    memcpy(wrench, w, sizeof wrench);
    carom_contact_mobility(&parts->s->problem, parts->walk[i], wrench, w);
  }
}

static carom_vec3 read_point(const carom_parts *parts, int body, carom_vec3 arm) {
  const double *v = place_of(parts, body);
  return v ? carom_contact_point_velocity(v, arm) : cm_zero3();
}

void carom_parts_read(const carom_parts *parts, double *y) {
  const carom_contact_problem *p = &parts->s->problem;
  for (int i = 0; i < parts->item_count; y += carom_parts_width(parts, parts->items[i]), i++) {
    int item = parts->items[i];
    if (item < p->contact_count) {
      const carom_contact_point *c = &p->contacts[item];
      carom_vec3 u = cm_sub(read_point(parts, c->a, c->arm_a), read_point(parts, c->b, c->arm_b));
      for (int k = 0; k < parts->s->width; k++) y[k] = cm_dot(u, carom_contact_generator(parts->s, item, k));
    } else {
      const carom_contact_row *row = &p->rows[item - p->contact_count];
      const double *a = place_of(parts, row->a), *b = place_of(parts, row->b);
      *y = (a ? carom_contact_dot6(row->jacobian_a, a) : 0) + (b ? carom_contact_dot6(row->jacobian_b, b) : 0);
    }
  }
}

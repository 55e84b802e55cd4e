#include "contact/groups.h"

#include <string.h>

#include "base/groups.h"
#include "base/memory.h"
#include "contact/solve/problem.h"

carom_status carom_groups_create(int body_count, int threads, const carom_allocator *allocator, carom_groups **groups,
                                 carom_error *error) {
  carom_allocator a = carom_allocator_or_default(allocator);
  carom_groups *g = CAROM_NEW(&a, carom_groups, 1);
  if (!g) return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for groups of contacts");
  g->allocator = g->arena.allocator = a;
  g->threads = threads;
  g->of_body = CAROM_NEW(&a, int, body_count);
  g->root = CAROM_NEW(&a, int, body_count);
  g->local = CAROM_NEW(&a, int, body_count);
  g->seen_in = CAROM_NEW(&a, int, body_count);
  g->works = CAROM_NEW(&a, carom_contact_work *, threads);
  carom_status status = CAROM_OK;
  if (!g->of_body || !g->root || !g->local || !g->seen_in || !g->works)
    status = carom_fail(error, CAROM_ERR_MEMORY, "out of memory for groups of %d bodies", body_count);
  for (int i = 0; i < threads && status == CAROM_OK; i++) status = carom_contact_work_create(&a, &g->works[i], error);
  if (status == CAROM_OK)
    *groups = g;
  else
    carom_groups_destroy(g);
  return status;
}

void carom_groups_destroy(carom_groups *g) {
  if (!g) return;
  carom_allocator a = g->allocator;
  for (int i = 0; g->works && i < g->threads; i++) carom_contact_work_destroy(g->works[i]);
  if (g->arena.memory) carom_arena_destroy(&g->arena);
  void *blocks[] = {g->of_body, g->root, g->local, g->seen_in, g->works, g};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) carom_release(&a, blocks[i]);
}

// ---- who belongs together -----------------------------------------------------------------------------------------

// Of two bodies one that moves; -1 when neither does.
static int mover(const carom_contact_problem *p, int a, int b) {
  return carom_contact_can_move(p, a) ? a : carom_contact_can_move(p, b) ? b : -1;
}

static void unite(carom_groups *g, int a, int b) {
  if (carom_contact_can_move(&g->whole, a) && carom_contact_can_move(&g->whole, b)) carom_group_unite(g->root, a, b);
}

static void number_group(carom_groups *g, int a, int b) {
  int body = mover(&g->whole, a, b), root = body < 0 ? -1 : carom_group_root(g->root, body);
  if (root >= 0 && g->of_body[root] < 0) g->of_body[root] = g->count++;
}

// In the order in which contacts and then rows come.
static void number_groups(carom_groups *g) {
  const carom_contact_problem *p = &g->whole;
  g->count = 0;
  for (int i = 0; i < p->body_count; i++) g->root[i] = i, g->of_body[i] = -1;
  for (int i = 0; i < p->contact_count; i++) unite(g, p->contacts[i].a, p->contacts[i].b);
  for (int i = 0; i < p->row_count; i++) unite(g, p->rows[i].a, p->rows[i].b);
  for (int i = 0; i < p->contact_count; i++) number_group(g, p->contacts[i].a, p->contacts[i].b);
  for (int i = 0; i < p->row_count; i++) number_group(g, p->rows[i].a, p->rows[i].b);
  for (int i = 0; i < p->body_count; i++) g->of_body[i] = g->of_body[carom_group_root(g->root, i)];
}

static carom_group *group_of(const carom_groups *g, int a, int b) {
  int body = mover(&g->whole, a, b);
  return body < 0 ? NULL : &g->groups[g->of_body[body]];
}

// ---- room ---------------------------------------------------------------------------------------------------------

// A body of prescribed motion may stand in many groups, but not more often than there are contacts and rows.
static void lay_out(carom_groups *g, carom_arena *arena) {
  int contacts = g->whole.contact_count, rows = g->whole.row_count, bodies = g->whole.body_count + contacts + rows;
  g->groups = CAROM_PUSH(arena, carom_group, g->count);
  g->contact = CAROM_PUSH(arena, int, contacts);
  g->row = CAROM_PUSH(arena, int, rows);
  g->body = CAROM_PUSH(arena, int, bodies);
  g->bodies = CAROM_PUSH(arena, carom_contact_body, bodies);
  g->contacts = CAROM_PUSH(arena, carom_contact_point, contacts);
  g->rows = CAROM_PUSH(arena, carom_contact_row, rows);
  carom_contact_solution *both[] = {&g->solution, &g->kept};
  for (int i = 0; i < 2; i++) {
    both[i]->impulses = CAROM_PUSH(arena, carom_vec3, contacts);
    both[i]->multipliers = CAROM_PUSH(arena, double, rows);
    both[i]->velocities = CAROM_PUSH(arena, carom_vec3, bodies);
    both[i]->spins = CAROM_PUSH(arena, carom_vec3, bodies);
  }
}

static carom_status make_room(carom_groups *g, carom_error *error) {
  carom_arena counting = {0};
  lay_out(g, &counting);
  if (!g->arena.memory || counting.used > g->arena.capacity) {
    carom_arena larger;
    carom_status status = carom_arena_create(&larger, counting.used + counting.used / 2, &g->allocator, error);
    if (status != CAROM_OK) return status;
    if (g->arena.memory) carom_arena_destroy(&g->arena);
    g->arena = larger;
  }
  carom_arena_pop(&g->arena, 0);
  lay_out(g, &g->arena);
  memset(g->groups, 0, (size_t)g->count * sizeof *g->groups);
  return CAROM_OK;
}

// ---- the groups' own problems -------------------------------------------------------------------------------------

static bool is_prescribed(const carom_contact_problem *p, int body) {
  if (body < 0 || carom_contact_can_move(p, body)) return false;
  return cm_norm2(p->bodies[body].velocity) > 0 || cm_norm2(p->bodies[body].spin) > 0;
}

static int prescribed(const carom_contact_problem *p, int a, int b) {
  return is_prescribed(p, a) + is_prescribed(p, b);
}

static carom_contact_solution part_of(const carom_contact_solution *s, int contact, int row, int body) {
  return (carom_contact_solution){s->impulses + contact, s->multipliers + row, s->velocities + body, s->spins + body};
}

// Counts, then where each group's share begins; counts are 0 again, to be filled up. Bodies of prescribed motion are
// counted once for each contact here, which is more than enough.
static void share_out(carom_groups *g) {
  const carom_contact_problem *p = &g->whole;
  int contact = 0, row = 0, body = 0;
  for (int i = 0; i < p->contact_count; i++) {
    carom_group *own = group_of(g, p->contacts[i].a, p->contacts[i].b);
    if (own) own->problem.contact_count++, own->problem.body_count += prescribed(p, p->contacts[i].a, p->contacts[i].b);
  }
  for (int i = 0; i < p->row_count; i++) {
    carom_group *own = group_of(g, p->rows[i].a, p->rows[i].b);
    if (own) own->problem.row_count++, own->problem.body_count += prescribed(p, p->rows[i].a, p->rows[i].b);
  }
  for (int i = 0; i < p->body_count; i++)
    if (g->of_body[i] >= 0 && carom_contact_can_move(p, i)) g->groups[g->of_body[i]].problem.body_count++;
  for (int i = 0; i < g->count; i++) {
    carom_group *own = &g->groups[i];
    carom_contact_problem size = own->problem;
    own->contacts = g->contacts + contact, own->rows = g->rows + row;
    own->problem = (carom_contact_problem){0, 0, 0, g->bodies + body, own->contacts, own->rows};
    own->solution = part_of(&g->solution, contact, row, body);
    own->kept = part_of(&g->kept, contact, row, body);
    own->contact = g->contact + contact, own->row = g->row + row, own->body = g->body + body;
    contact += size.contact_count, row += size.row_count, body += size.body_count;
  }
}

// A new body at the end of the group's; returns its number there.
static int add_body(const carom_groups *g, carom_group *own, int body) {
  int number = own->problem.body_count++;
  ptrdiff_t at = own->body - g->body + number;
  g->body[at] = body;
  g->bodies[at] = g->whole.bodies[body];
  return number;
}

static void place_moving(carom_groups *g) {
  for (int i = 0; i < g->whole.body_count; i++) {
    g->seen_in[i] = -1;
    if (g->of_body[i] < 0 || !carom_contact_can_move(&g->whole, i)) continue;
    carom_group *own = &g->groups[g->of_body[i]];
    g->local[i] = add_body(g, own, i);
    own->moving++;
  }
}

static int local_number(carom_groups *g, carom_group *own, int body) {
  if (carom_contact_can_move(&g->whole, body)) return g->local[body];
  if (!is_prescribed(&g->whole, body)) return CAROM_CONTACT_WORLD;
  int group = (int)(own - g->groups);
  if (g->seen_in[body] != group) g->local[body] = add_body(g, own, body);
  g->seen_in[body] = group;
  return g->local[body];
}

// Contacts come group by group in `contact`, so that a body of prescribed motion is looked at once in each.
static void place_items(carom_groups *g, const carom_contact_solution *guess) {
  const carom_contact_problem *p = &g->whole;
  for (int i = 0; i < p->contact_count; i++) {
    carom_group *own = group_of(g, p->contacts[i].a, p->contacts[i].b);
    if (own) g->contact[own->contact - g->contact + own->problem.contact_count++] = i;
  }
  for (int i = 0; i < p->row_count; i++) {
    carom_group *own = group_of(g, p->rows[i].a, p->rows[i].b);
    if (own) g->row[own->row - g->row + own->problem.row_count++] = i;
  }
  for (int i = 0; i < g->count; i++) {
    carom_group *own = &g->groups[i];
    carom_contact_row *rows = own->rows;
    for (int k = 0; k < own->problem.contact_count; k++) {
      own->contacts[k] = p->contacts[own->contact[k]];
      own->contacts[k].a = local_number(g, own, own->contacts[k].a);
      own->contacts[k].b = local_number(g, own, own->contacts[k].b);
      own->solution.impulses[k] = guess->impulses[own->contact[k]];
    }
    for (int k = 0; k < own->problem.row_count; k++) {
      rows[k] = p->rows[own->row[k]];
      rows[k].a = local_number(g, own, rows[k].a);
      rows[k].b = local_number(g, own, rows[k].b);
      own->solution.multipliers[k] = guess->multipliers[own->row[k]];
    }
  }
}

carom_status carom_groups_split(carom_groups *g, const carom_contact_problem *problem,
                                const carom_contact_solution *guess, carom_error *error) {
  carom_status status = carom_contact_check(problem, NULL, guess, error);
  if (status != CAROM_OK) return status;
  g->whole = *problem;
  number_groups(g);
  status = make_room(g, error);
  if (status != CAROM_OK) return status;
  share_out(g);
  place_moving(g);
  place_items(g, guess);
  return CAROM_OK;
}

// ---- back ---------------------------------------------------------------------------------------------------------

static void push_body(carom_group *g, int body, const double wrench[6]) {
  double twist[6];
  if (!carom_contact_can_move(&g->problem, body)) return;
  carom_contact_mobility(&g->problem, body, wrench, twist);
  carom_vec3 *v = &g->solution.velocities[body], *w = &g->solution.spins[body];
  *v = cm_add(*v, cm_vec3(twist[0], twist[1], twist[2]));
  *w = cm_add(*w, cm_vec3(twist[3], twist[4], twist[5]));
}

static void push_point(carom_group *g, int body, carom_vec3 arm, carom_vec3 f) {
  carom_vec3 l = cm_cross(arm, f);
  push_body(g, body, (const double[6]){f.x, f.y, f.z, l.x, l.y, l.z});
}

static void push_row(carom_group *g, int body, const double J[6], double impulse) {
  double wrench[6];
  for (int k = 0; k < 6; k++) wrench[k] = impulse * J[k];
  push_body(g, body, wrench);
}

void carom_group_push(carom_group *g, int contact, carom_vec3 impulse) {
  const carom_contact_point *c = &g->contacts[contact];
  push_point(g, c->a, c->arm_a, impulse);
  push_point(g, c->b, c->arm_b, cm_neg(impulse));
}

void carom_group_take_up(carom_group *g) {
  for (int i = 0; i < g->problem.body_count; i++) {
    g->solution.velocities[i] = g->problem.bodies[i].velocity;
    g->solution.spins[i] = g->problem.bodies[i].spin;
  }
  for (int i = 0; i < g->problem.contact_count; i++) carom_group_push(g, i, g->solution.impulses[i]);
  for (int i = 0; i < g->problem.row_count; i++) {
    const carom_contact_row *row = &g->problem.rows[i];
    push_row(g, row->a, row->jacobian_a, g->solution.multipliers[i]);
    push_row(g, row->b, row->jacobian_b, g->solution.multipliers[i]);
  }
  g->state = CAROM_GROUP_GIVEN;
}

void carom_groups_join(const carom_groups *g, carom_contact_solution *solution) {
  for (int i = 0; i < g->whole.contact_count; i++) solution->impulses[i] = cm_zero3();
  for (int i = 0; i < g->whole.row_count; i++) solution->multipliers[i] = 0;
  for (int i = 0; i < g->count; i++) {
    const carom_group *own = &g->groups[i];
    if (own->state != CAROM_GROUP_GIVEN && own->state != CAROM_GROUP_SETTLED) continue;
    for (int k = 0; k < own->problem.contact_count; k++)
      solution->impulses[own->contact[k]] = own->solution.impulses[k];
    for (int k = 0; k < own->problem.row_count; k++) solution->multipliers[own->row[k]] = own->solution.multipliers[k];
    for (int k = 0; k < own->moving; k++) {
      solution->velocities[own->body[k]] = own->solution.velocities[k];
      solution->spins[own->body[k]] = own->solution.spins[k];
    }
  }
}

#include "contact/groups.h"

#include <string.h>

#include "base/groups.h"
#include "contact/solve/problem.h"

static void lay_out_scratch(void *owner, carom_arena *arena) {
  carom_groups *g = owner;
  int **const numbers[] = {&g->of_body, &g->root, &g->local, &g->seen_in};
  for (int i = 0; i < 4; i++) *numbers[i] = CAROM_PUSH(arena, int, g->whole.body_count);
  g->works = CAROM_PUSH(arena, carom_contact_work *, g->threads);
}

carom_status carom_groups_create(int body_count, int threads, const carom_allocator *allocator, carom_groups **groups,
                                 carom_error *error) {
  const carom_groups initial = {.whole.body_count = body_count, .threads = threads};
  carom_groups *g = carom_object_create(&initial, sizeof initial, lay_out_scratch, allocator, error);
  carom_status status = g ? CAROM_OK : CAROM_ERR_MEMORY;
  if (g) g->split.allocator = g->arena.allocator;
  for (int i = 0; i < threads && status == CAROM_OK; i++)
    status = carom_contact_work_create(allocator, &g->works[i], error);
  if (status == CAROM_OK)
    *groups = g;
  else
    carom_groups_destroy(g);
  return status;
}

void carom_groups_destroy(carom_groups *g) {
  if (!g) return;
  for (int i = 0; i < g->threads; i++) carom_contact_work_destroy(g->works[i]);
  carom_arena_destroy(&g->split);
  carom_object_destroy(g);
}

// ---- who belongs together -----------------------------------------------------------------------------------------

// Of the bodies of a contact or row one that moves; -1 when neither does.
static int mover(const carom_contact_problem *p, int item) {
  int body[2];
  carom_contact_bodies_of(p, item, body);
  return carom_contact_can_move(p, body[0]) ? body[0] : carom_contact_can_move(p, body[1]) ? body[1] : -1;
}

static int item_count(const carom_groups *g) { return g->whole.contact_count + g->whole.row_count; }

// In the order in which contacts and then rows come.
static void number_groups(carom_groups *g) {
  const carom_contact_problem *p = &g->whole;
  int body[2];
  g->count = 0;
  for (int i = 0; i < p->body_count; i++) g->root[i] = i, g->of_body[i] = -1;
  for (int i = 0; i < item_count(g); i++) {
    carom_contact_bodies_of(p, i, body);
    if (carom_contact_can_move(p, body[0]) && carom_contact_can_move(p, body[1]))
      carom_group_unite(g->root, body[0], body[1]);
  }
  for (int i = 0; i < item_count(g); i++) {
    int one = mover(p, i), root = one < 0 ? -1 : carom_group_root(g->root, one);
    if (root >= 0 && g->of_body[root] < 0) g->of_body[root] = g->count++;
  }
  for (int i = 0; i < p->body_count; i++) g->of_body[i] = g->of_body[carom_group_root(g->root, i)];
}

static carom_group *group_of(const carom_groups *g, int item) {
  int body = mover(&g->whole, item);
  return body < 0 ? NULL : &g->groups[g->of_body[body]];
}

// ---- room ---------------------------------------------------------------------------------------------------------

// A body of prescribed motion may stand in many groups, but not more often than there are contacts and rows.
static void lay_out(void *owner, carom_arena *arena) {
  carom_groups *g = owner;
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

// ---- the groups' own problems -------------------------------------------------------------------------------------

static bool is_prescribed(const carom_contact_problem *p, int body) {
  if (body < 0 || carom_contact_can_move(p, body)) return false;
  return cm_norm2(p->bodies[body].velocity) > 0 || cm_norm2(p->bodies[body].spin) > 0;
}

static int prescribed(const carom_contact_problem *p, int item) {
  int body[2];
  carom_contact_bodies_of(p, item, body);
  return is_prescribed(p, body[0]) + is_prescribed(p, body[1]);
}

static carom_contact_solution part_of(const carom_contact_solution *s, int contact, int row, int body) {
  return (carom_contact_solution){s->impulses + contact, s->multipliers + row, s->velocities + body, s->spins + body};
}

// Counts, then where each group's share begins; counts are 0 again, to be filled up. Bodies of prescribed motion are
// counted once for each contact here, which is more than enough.
static void share_out(carom_groups *g) {
  const carom_contact_problem *p = &g->whole;
  int contact = 0, row = 0, body = 0;
  for (int i = 0; i < item_count(g); i++) {
    carom_group *own = group_of(g, i);
    if (!own) continue;
    ++*(i < p->contact_count ? &own->problem.contact_count : &own->problem.row_count);
    own->problem.body_count += prescribed(p, i);
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
  for (int i = 0; i < item_count(g); i++) {
    carom_group *own = group_of(g, i);
    if (own && i < p->contact_count) g->contact[own->contact - g->contact + own->problem.contact_count++] = i;
    if (own && i >= p->contact_count) g->row[own->row - g->row + own->problem.row_count++] = i - p->contact_count;
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
  status = carom_arena_lay_out(&g->split, lay_out, g, error);
  if (status != CAROM_OK) return status;
  memset(g->groups, 0, (size_t)g->count * sizeof *g->groups);
  share_out(g);
  place_moving(g);
  place_items(g, guess);
  return CAROM_OK;
}

// ---- back ---------------------------------------------------------------------------------------------------------

// Adds what an impulse along an item does to velocities and spins.
static void push(carom_group *g, int item, carom_vec3 impulse) {
  int body[2];
  carom_contact_bodies_of(&g->problem, item, body);
  for (int side = 0; side < 2; side++) {
    double wrench[6] = {0}, twist[6];
    if (!carom_contact_can_move(&g->problem, body[side])) continue;
    carom_contact_add_wrench(&g->problem, item, side, impulse, wrench);
    carom_contact_mobility(&g->problem, body[side], wrench, twist);
    carom_vec3 *v = &g->solution.velocities[body[side]], *w = &g->solution.spins[body[side]];
    *v = cm_add(*v, cm_vec3(twist[0], twist[1], twist[2]));
    *w = cm_add(*w, cm_vec3(twist[3], twist[4], twist[5]));
  }
}

void carom_group_push(carom_group *g, int contact, carom_vec3 impulse) { push(g, contact, impulse); }

void carom_group_take_up(carom_group *g) {
  for (int i = 0; i < g->problem.body_count; i++) {
    g->solution.velocities[i] = g->problem.bodies[i].velocity;
    g->solution.spins[i] = g->problem.bodies[i].spin;
  }
  for (int i = 0; i < g->problem.contact_count; i++) push(g, i, g->solution.impulses[i]);
  for (int i = 0; i < g->problem.row_count; i++)
    push(g, g->problem.contact_count + i, cm_vec3(g->solution.multipliers[i], 0, 0));
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

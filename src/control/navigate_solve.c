// The contacts' problem of a step. Cages that are near give contacts without friction, bounds of speeds and rails give
// rows with the world; bounds join when they are exceeded. Groups of vehicles that touch are solved by themselves.
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "control/navigate.h"

enum { ROUNDS = 8 };                  // of bounds that join
static const double EXCEEDED = 1e-9;  // m/s: a bound that is exceeded by less is kept
static const double ACCURACY = 1e-7;  // of the residual over the velocities
enum { DRIVEN = 5 };                  // times the horizon, for obstacles on their way
enum { SWEEPS = 150, RESTORE = 4 };   // steps in which a margin is restored that an obstacle on its way took

// ---- bounds ---------------------------------------------------------------------------------------------------------

static int unicycle_bounds(const carom_navigate *s, int i, carom_nav_bound *bounds) {
  const carom_navigate_vehicle *v = &s->vehicles[i];
  double c = cos(s->place[i][2]), w = sin(s->place[i][2]);
  bounds[0] = (carom_nav_bound){{-c, -w}, v->most_speed};
  bounds[1] = (carom_nav_bound){{c, w}, v->most_reverse};
  bounds[2] = (carom_nav_bound){{w, -c}, v->offset * s->spins_let[i][1]};
  bounds[3] = (carom_nav_bound){{-w, c}, -v->offset * s->spins_let[i][0]};
  return 4;
}

// Within the piece of the rail, so that corners are not cut.
static int rail_bounds(const carom_navigate *s, int i, carom_nav_bound *bounds) {
  const carom_navigate_vehicle *v = &s->vehicles[i];
  double at[2], along[2], rest[2];
  carom_nav_on_rail(&s->rails[v->rail], s->leg[i], s->way[i], at, along, rest);
  for (int k = 0; k < 2; k++) {
    double sign = k == 0 ? -s->way[i] : s->way[i];
    bounds[k] = (carom_nav_bound){{sign * along[0], sign * along[1]}, fmin(v->most_speed, rest[k] / s->def.step)};
  }
  return 2;
}

int carom_nav_bounds(const carom_navigate *s, int i, carom_nav_bound bounds[CAROM_NAV_SIDES]) {
  const carom_navigate_vehicle *v = &s->vehicles[i];
  if (v->rail >= 0) return rail_bounds(s, i, bounds);
  if (v->steering == CAROM_STEER_UNICYCLE) return unicycle_bounds(s, i, bounds);
  double half = acos(-1.0) / CAROM_NAV_SIDES;  // a corner of the polygon is the preferred way
  double ahead = atan2(s->toward[i][1], s->toward[i][0]);
  if (s->command) ahead = atan2(s->wish[i][1], s->wish[i][0]);
  for (int k = 0; k < CAROM_NAV_SIDES; k++) {
    double angle = ahead + (2 * k + 1) * half;
    bounds[k] = (carom_nav_bound){{-cos(angle), -sin(angle)}, v->most_speed * cos(half)};
  }
  return CAROM_NAV_SIDES;
}

// ---- contacts -------------------------------------------------------------------------------------------------------

// To what stays gaps may close in two steps; what goes its way whatever happens is kept off from farther away.
double carom_nav_horizon(const carom_navigate *s, int other) {
  if (other < s->n) return s->def.horizon;
  return s->items[other].rests ? fmin(2 * s->def.step, s->def.horizon) : DRIVEN * s->def.horizon;
}

// Gaps close no faster than in the horizon. What cages reach over their planes by turning must fit in within the step.
double carom_nav_bias(const carom_navigate *s, const carom_nav_pair *p) {
  double h = s->def.step, tau = carom_nav_horizon(s, p->b);
  double ahead = fmax(p->gap - s->def.margin, 0) / tau, left = p->gap - p->swept[0] - p->swept[1];
  double bias = fmin(ahead, left > s->def.margin ? (left - s->def.margin) / h : fmin(left, 0) / h);
  if (p->b < s->n || s->items[p->b].rests) return bias;
  double lost = fmax(s->def.margin - p->gap, 0) / (RESTORE * h);  // standing still would not keep it
  return bias - lost - p->normal[0] * s->velocity[p->b][0] - p->normal[1] * s->velocity[p->b][1];
}

static bool add_contact(carom_navigate *s, const carom_contact_point *c) {
  int impulses = s->contact_count;
  if (!carom_grow(&s->arena.allocator, (void **)&s->contacts, s->contact_count, &s->contact_capacity,
                  sizeof *s->contacts) ||
      !carom_grow(&s->arena.allocator, (void **)&s->impulses, impulses, &s->impulse_capacity, sizeof *s->impulses))
    return false;
  s->impulses[s->contact_count] = cm_zero3();
  s->contacts[s->contact_count++] = *c;
  return true;
}

static double closing(const carom_nav_pair *p, const carom_navigate *s, const double (*v)[2]) {
  double rate = p->normal[0] * v[p->a][0] + p->normal[1] * v[p->a][1];
  if (p->b < s->n) rate -= p->normal[0] * v[p->b][0] + p->normal[1] * v[p->b][1];
  return rate;
}

// Impulses of the step before are where the solver begins.
static double remembered(const carom_navigate *s, const carom_nav_pair *p, int *at) {
  while (*at < s->before_count && (s->before[*at].a < p->a || (s->before[*at].a == p->a && s->before[*at].b < p->b)))
    ++*at;
  bool same = *at < s->before_count && s->before[*at].a == p->a && s->before[*at].b == p->b;
  return same ? s->before[*at].impulse : 0;
}

static bool add_pairs(carom_navigate *s) {
  int at = 0;
  for (int i = 0; i < s->pair_count; i++) {
    carom_nav_pair *p = &s->pairs[i];
    carom_vec3 n = cm_vec3(p->normal[0], p->normal[1], 0);
    p->contact = s->contact_count;
    if (!add_contact(
            s,
            &(carom_contact_point){
                .a = p->a, .b = p->b < s->n ? p->b : CAROM_CONTACT_WORLD, .bias = carom_nav_bias(s, p), .normal = n}))
      return false;
    s->impulses[p->contact] = cm_scale(remembered(s, p, &at), n);
  }
  return true;
}

static bool add_bound(carom_navigate *s, int vehicle, const carom_nav_bound *b) {
  return add_contact(
      s,
      &(carom_contact_point){
          .a = vehicle, .b = CAROM_CONTACT_WORLD, .bias = b->most, .normal = cm_vec3(b->normal[0], b->normal[1], 0)});
}

// The bound that a velocity exceeds most; -1: none.
static int exceeded(const carom_nav_bound *bounds, int count, const double v[2]) {
  int worst = -1;
  double least = -EXCEEDED;
  for (int k = 0; k < count; k++) {
    double left = bounds[k].normal[0] * v[0] + bounds[k].normal[1] * v[1] + bounds[k].most;
    if (left < least) least = left, worst = k;
  }
  return worst;
}

static bool add_exceeded(carom_navigate *s, const double (*v)[2], bool *added) {
  carom_nav_bound bounds[CAROM_NAV_SIDES];
  *added = false;
  for (int i = 0; i < s->n; i++) {
    if (hypot(v[i][0], v[i][1]) < 0.5 * s->vehicles[i].most_speed && s->vehicles[i].rail < 0 &&
        s->vehicles[i].steering != CAROM_STEER_UNICYCLE)
      continue;
    int count = carom_nav_bounds(s, i, bounds), worst = exceeded(bounds, count, v[i]);
    if (worst < 0) continue;
    if (!add_bound(s, i, &bounds[worst])) return false;
    *added = true;
  }
  return true;
}

static void add_rails(carom_navigate *s) {
  s->row_count = 0;
  for (int i = 0; i < s->n; i++) {
    double at[2], along[2], rest[2];
    if (s->vehicles[i].rail < 0) continue;
    carom_nav_on_rail(&s->rails[s->vehicles[i].rail], s->leg[i], s->way[i], at, along, rest);
    double off = along[0] * (s->place[i][1] - at[1]) - along[1] * (s->place[i][0] - at[0]);
    s->multipliers[s->row_count] = 0;
    s->rows[s->row_count++] = (carom_contact_row){.a = i,
                                                  .b = CAROM_CONTACT_WORLD,
                                                  .jacobian_a = {-along[1], along[0]},
                                                  .bias = off / s->def.step,
                                                  .lower = -INFINITY,
                                                  .upper = INFINITY};
  }
}

// ---- the problem ----------------------------------------------------------------------------------------------------

static void set_bodies(carom_navigate *s) {
  for (int i = 0; i < s->n; i++) {
    s->bodies[i] = (carom_contact_body){.inverse_mass = 1 / s->vehicles[i].mass,
                                        .velocity = cm_vec3(s->wish[i][0], s->wish[i][1], 0)};
    s->found[i] = s->bodies[i].velocity;
    s->velocity[i][0] = s->wish[i][0], s->velocity[i][1] = s->wish[i][1];
  }
}

static carom_status solve_groups(carom_navigate *s, carom_error *error) {
  const carom_contact_problem problem = {s->n, s->contact_count, s->row_count, s->bodies, s->contacts, s->rows};
  carom_contact_solution guess = {s->impulses, s->multipliers, s->found, s->spins};
  carom_groups_options o = carom_groups_default_options(ACCURACY, SWEEPS);
  o.thorough = false;
  carom_status status = carom_groups_split(s->groups, &problem, &guess, error);
  if (status == CAROM_OK) status = carom_groups_solve(s->groups, &o, error);
  if (status != CAROM_OK) return status;
  carom_groups_join(s->groups, &guess);
  for (int i = 0; i < s->n; i++) s->velocity[i][0] = s->found[i].x, s->velocity[i][1] = s->found[i].y;
  return CAROM_OK;
}

// ---- steps that keep the planes -------------------------------------------------------------------------------------

// Of the step that a group would take, the share after which the plane of a pair still stands. Standing still keeps all
// planes but those that obstacles move.
static double share_of(const carom_navigate *s, const carom_nav_pair *p) {
  double room = (p->gap - p->swept[0] - p->swept[1]) / s->def.step;
  if (p->b >= s->n) room -= p->normal[0] * s->velocity[p->b][0] + p->normal[1] * s->velocity[p->b][1];
  double rate = closing(p, s, (const double(*)[2])s->velocity);
  return room + rate >= 0 || room < 0 ? 1 : room / -rate;
}

static void shorten(carom_navigate *s) {
  for (int g = 0; g < s->n; g++) s->share[g] = 1;
  for (int i = 0; i < s->pair_count; i++) {
    const carom_nav_pair *p = &s->pairs[i];
    int group = s->groups->of_body[p->a];
    if (group >= 0) s->share[group] = fmin(s->share[group], share_of(s, p));
  }
  s->held = 0;
  for (int g = 0; g < s->groups->count; g++) s->held += s->share[g] < 1;
  for (int i = 0; i < s->n; i++) {
    int group = s->groups->of_body[i];
    for (int k = 0; k < 2 && group >= 0; k++) s->velocity[i][k] *= s->share[group];
  }
}

static void note_impulses(carom_navigate *s) {
  s->residual = 0;
  for (int i = 0; i < s->pair_count; i++) {
    carom_nav_pair *p = &s->pairs[i];
    p->impulse = fmax(cm_dot(s->impulses[p->contact], s->contacts[p->contact].normal), 0);
    double w = closing(p, s, (const double(*)[2])s->velocity) + s->contacts[p->contact].bias;
    double mass = s->vehicles[p->a].mass;
    s->residual = fmax(s->residual, fabs(fmin(p->impulse / mass, w)));
  }
}

carom_status carom_nav_solve(carom_navigate *s, carom_error *error) {
  bool added = true;
  s->contact_count = 0;
  set_bodies(s);
  add_rails(s);
  if (!add_pairs(s) || !add_exceeded(s, (const double(*)[2])s->wish, &added)) return carom_nav_memory(error);
  for (int round = 0; round < ROUNDS && (added || round == 0); round++) {
    carom_status status = solve_groups(s, error);
    if (status != CAROM_OK) return status;
    if (!add_exceeded(s, (const double(*)[2])s->velocity, &added)) return carom_nav_memory(error);
  }
  note_impulses(s);
  shorten(s);
  return CAROM_OK;
}

// The exact variational collision integrator (Fetecau, Marsden, Ortiz and West 2003; Leyendecker, Marsden and Ortiz
// 2008; Johnson 2012, 3.4): collision times are unknowns. One step of a group of bodies that may meet:
//
//     bound     how fast can points move and bend their way
//     search    the first time at which two bodies of the group touch        (collide/path_time.h)
//     move      the group goes there by the discrete flow                    (exact_path.c)
//     impact    all contacts that touch then: momenta jump by the law        (mechanics/impact_system.h)
//
// and again with the rest of the step. Groups do not see each other's impacts, so that one impact does not cut up the
// step of all (Johnson 2012, 3.4.2, "Multiple Collisions"); bodies that act on each other at a distance are one group.
// Contacts whose bounces would all be over in no time are kept as resting contacts (exact_rest.c).
#include "step/exact/exact.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/groups.h"
#include "base/memory.h"
#include "base/tape.h"
#include "collide/path_time.h"
#include "geometry/shape.h"
#include "model/fields.h"
#include "model/joints.h"
#include "model/model.h"

enum { MAX_WIDENINGS = 12, MAX_AIMS = 100 };

static const double LARGEST_TURN = 0.5;  // rad, between two impacts
// An impact within this share of the step is met with the forces at hand: positions are known to round-off, and forces
// that put them right in no time would make velocities of it.
static const double NO_TIME = 1e-7;

// ---- memory ------------------------------------------------------------------------------------------------------

// How far the turning of the body moves points of the part: a ball looks the same from all sides.
static double turning_radius(const carom_part *part) {
  const carom_shape *s = part->shape;
  double core = s->kind == CAROM_SHAPE_SPHERE    ? 0
                : s->kind == CAROM_SHAPE_CAPSULE ? s->half_length
                                                 : s->bounding_radius;
  return cm_norm(part->pose.p) + core;
}

static bool is_driven(const carom_model *model, int body) {
  for (int i = 0; i < model->drive_count; i++)
    if (model->drives[i].body == body) return true;
  return false;
}

static void make_bodies(carom_exact *e) {
  const carom_model *model = e->model;
  for (int i = 0; i < model->body_count; i++) {
    carom_model one = *model;
    one.body_count = 1;
    one.bodies = &model->bodies[i];
    carom_dmv_bodies_fill(&e->bodies[i].lane, &one, e->lanes + (size_t)i * carom_dmv_bodies_cost(1));
  }
  for (int b = 0; b < model->body_count; b++)
    for (int i = 0; i < model->bodies[b].part_count; i++) {
      int part = model->bodies[b].part_start + i;
      double radius = turning_radius(&model->parts[part]);
      bool turns = !model->bodies[b].fixed || (is_driven(model, b) && isfinite(radius));
      e->part_radius[part] = turns ? radius : 0;
    }
}

static void push(carom_stepper *stepper, carom_arena *arena) {
  int n = stepper->model->body_count;
  carom_integrator_variational.push(stepper, arena);
  carom_exact counted = {0}, *own = CAROM_PUSH(arena, carom_exact, 1), *e = own ? own : &counted;
  stepper->work = own;
  e->model = stepper->model;
  e->bodies = CAROM_PUSH(arena, carom_exact_body, n);
  e->lanes = carom_arena_push(arena, (size_t)n * carom_dmv_bodies_cost(1));
  e->reach = CAROM_PUSH(arena, double, n);
  e->parent = CAROM_PUSH(arena, int, n + 1);
  e->order = CAROM_PUSH(arena, int, n + 1);
  e->group_start = CAROM_PUSH(arena, int, n + 1);
  e->jump_p = CAROM_PUSH(arena, carom_vec3, n);
  e->jump_l = CAROM_PUSH(arena, carom_vec3, n);
  e->part_radius = CAROM_PUSH(arena, double, stepper->model->part_count);
  carom_exact_limits_push(e, arena);
}

static carom_status prepare(carom_stepper *stepper, carom_error *error) {
  const carom_model *model = stepper->model;
  carom_exact *e = stepper->work;
  int n = model->body_count;
  carom_status status = carom_integrator_variational.prepare(stepper, error);
  if (status != CAROM_OK) return status;
  e->allocator = stepper->allocator;
  e->whole = carom_fields_present(model) || model->joint_count > 0;
  make_bodies(e);
  status = carom_contacts_create(model, &e->allocator, &e->contacts, error);
  carom_ledger_open(&e->trial_ledger, model, &e->allocator);
  if (status == CAROM_OK)
    status = carom_impact_system_create(model, stepper->options.law, &e->allocator, &e->impacts, error);
  if (status == CAROM_OK) status = carom_state_create(n, model->joint_count, &e->allocator, &e->begin, error);
  if (status == CAROM_OK) status = carom_state_create(n, model->joint_count, &e->allocator, &e->trial, error);
  if (status == CAROM_OK) status = carom_state_create(n, model->joint_count, &e->allocator, &e->before, error);
  return status;
}

static void release(carom_stepper *stepper) {
  carom_exact *e = stepper->work;
  if (!e) return;
  carom_contacts_destroy(e->contacts);
  carom_impact_system_destroy(e->impacts);
  carom_state_destroy(e->begin);
  carom_state_destroy(e->trial);
  carom_state_destroy(e->before);
  void *blocks[] = {e->near, e->pair_group, e->touching, e->resting, e->resting_saved, e->points, e->held, e->numbers};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) carom_release(&e->allocator, blocks[i]);
  carom_ledger_close(&e->trial_ledger);
  carom_integrator_variational.release(stepper);
}

// Room for as many separations and group numbers as there are pairs.
static carom_status reserve_pairs(carom_exact *e, carom_error *error) {
  int count = e->contacts->pair_count;
  if (count <= e->near_capacity) return CAROM_OK;
  carom_release(&e->allocator, e->near);
  carom_release(&e->allocator, e->pair_group);
  int wanted = count + count / 2 + 16;
  e->near = CAROM_NEW(&e->allocator, carom_distance_result, wanted);
  e->pair_group = CAROM_NEW(&e->allocator, int, wanted);
  e->near_capacity = e->near && e->pair_group ? wanted : 0;
  if (e->near_capacity > 0) return CAROM_OK;
  return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for %d pairs of near bodies", count);
}

// ---- groups ------------------------------------------------------------------------------------------------------

static bool is_fixed(const carom_exact *e, int body) { return e->model->bodies[body].fixed; }

static void join_bodies(carom_exact *e) {
  int n = e->model->body_count, first = -1;
  for (int i = 0; i < n; i++) e->parent[i] = i;
  for (int i = 0; i < e->contacts->pair_count; i++) {
    const carom_part_pair *p = &e->contacts->pairs[i];
    if (!is_fixed(e, p->body_b)) carom_group_unite(e->parent, p->body_a, p->body_b);
  }
  for (int i = 0; i < n && e->whole; i++) {
    if (is_fixed(e, i)) continue;
    if (first < 0) first = i;
    carom_group_unite(e->parent, first, i);
  }
}

// Sorts the moving bodies by group: `order` holds them, those of the group with root r from group_start[r] on.
static void sort_groups(carom_exact *e) {
  int n = e->model->body_count, next = 0;
  memset(e->group_start, 0, ((size_t)n + 1) * sizeof *e->group_start);
  for (int i = 0; i < n; i++)
    if (!is_fixed(e, i)) e->group_start[carom_group_root(e->parent, i)]++;
  for (int r = 0; r <= n; r++) {
    int size = e->group_start[r];
    e->group_start[r] = next;
    next += size;
  }
  for (int i = n - 1; i >= 0; i--) e->reach[i] = 0;
  for (int i = 0; i < n; i++) {
    if (is_fixed(e, i)) continue;
    int r = carom_group_root(e->parent, i);
    e->order[e->group_start[r] + (int)e->reach[r]++] = i;
  }
  for (int i = 0; i < e->contacts->pair_count; i++)
    e->pair_group[i] = carom_group_root(e->parent, e->contacts->pairs[i].body_a);
}

// Candidate pairs for the whole step, and the groups they make.
static carom_status find_groups(carom_exact *e, const carom_state *state, carom_error *error) {
  for (int i = 0; i < state->body_count; i++) e->reach[i] = e->bodies[i].allowed;
  carom_status status = carom_contacts_update(e->contacts, state, e->reach, error);
  if (status == CAROM_OK) status = reserve_pairs(e, error);
  if (status != CAROM_OK) return status;
  join_bodies(e);
  sort_groups(e);
  return CAROM_OK;
}

// Pairs of the group, but not those that a joint holds together.
static bool in_group(const carom_exact *e, const carom_state *state, const carom_exact_group *g, int pair) {
  if (e->pair_group[pair] != g->root) return false;
  const carom_part_pair *p = &e->contacts->pairs[pair];
  return e->model->joint_count == 0 || !carom_joints_hold(e->model, state, p->body_a, p->body_b);
}

// ---- search ------------------------------------------------------------------------------------------------------

typedef struct couple {
  carom_stepper *stepper;
  const carom_state *state;
  const carom_part_pair *pair;
} couple;

static void poses_of(void *context, double time, carom_pose *a, carom_pose *b) {
  const couple *c = context;
  const carom_exact *e = c->stepper->work;
  const carom_part *part_a = &e->model->parts[c->pair->part_a], *part_b = &e->model->parts[c->pair->part_b];
  *a = cm_compose(carom_exact_pose(c->stepper, c->state, c->pair->body_a, time), part_a->pose);
  *b = cm_compose(carom_exact_pose(c->stepper, c->state, c->pair->body_b, time), part_b->pose);
}

// Points of a part move by at most this much.
static double part_travel(const carom_exact *e, int body, int part, double duration) {
  if (is_fixed(e, body) && e->model->drive_count == 0) return 0;
  return carom_exact_travel(&e->bodies[body], e->part_radius[part], duration);
}

// The balls that fatten the two shapes.
static double ball_of(const carom_exact *e, const carom_part_pair *pair) {
  return e->model->parts[pair->part_a].shape->radius + e->model->parts[pair->part_b].shape->radius;
}

static carom_status search_failed(const carom_exact *e, const carom_state *state, const carom_part_pair *pair,
                                  carom_status status, carom_error *error) {
  const char *a = e->model->bodies[pair->body_a].name, *b = e->model->bodies[pair->body_b].name;
  return carom_fail(error, status, "no time of impact of bodies '%s' and '%s' near t = %.9g s: use a smaller step", a,
                    b, state->time);
}

// The first impact of one pair before `end`, which moves there.
static carom_status search_pair(carom_stepper *stepper, const carom_state *state, int index, double *end, bool *found,
                                carom_error *error) {
  carom_exact *e = stepper->work;
  carom_part_pair *pair = &e->contacts->pairs[index];
  double within = carom_exact_within(e, state, pair);
  double travel = part_travel(e, pair->body_a, pair->part_a, *end) + part_travel(e, pair->body_b, pair->part_b, *end);
  if (e->near[index].distance > within + travel) return CAROM_OK;
  couple c = {stepper, state, pair};
  const carom_exact_body *a = &e->bodies[pair->body_a], *b = &e->bodies[pair->body_b];
  double radii = e->part_radius[pair->part_a] + e->part_radius[pair->part_b];
  carom_path_duel duel = {
      .a = e->model->parts[pair->part_a].shape,
      .b = e->model->parts[pair->part_b].shape,
      .context = &c,
      .poses = poses_of,
      .end = *end,
      .bend = carom_exact_bend(e, pair),
      .rate = {a->spin, b->spin},
      .turning = {a->turning, b->turning},
      .speed = 2 * travel / *end,
      .reach = cm_norm(cm_sub(state->x[pair->body_a], state->x[pair->body_b])) + radii + ball_of(e, pair) + travel,
      .within = within,
      .planar = e->model->planar};
  carom_path_impact impact;
  carom_status status = carom_path_impact_time(&duel, &e->near[index], &pair->cache, &impact);
  if (status != CAROM_OK) return search_failed(e, state, pair, status, error);
  if (impact.found) *end = impact.time, *found = true;
  return CAROM_OK;
}

static carom_status measure_pairs(carom_exact *e, const carom_state *state, const carom_exact_group *g,
                                  carom_ledger *ledger, carom_error *error) {
  for (int i = 0; i < e->contacts->pair_count; i++) {
    if (!in_group(e, state, g, i)) continue;
    carom_status status = carom_contacts_distance(e->contacts, i, state, &e->near[i]);
    if (status != CAROM_OK)
      return carom_fail(error, status, "no separation of bodies '%s' and '%s' at t = %.9g s: a pose is not finite",
                        e->model->bodies[e->contacts->pairs[i].body_a].name,
                        e->model->bodies[e->contacts->pairs[i].body_b].name, state->time);
    carom_ledger_note_overlap(ledger, -e->near[i].distance);
  }
  return CAROM_OK;
}

static carom_status search(carom_stepper *stepper, const carom_state *state, const carom_exact_group *g, double *time,
                           bool *found, carom_error *error) {
  carom_exact *e = stepper->work;
  *found = false;
  for (int i = 0; i < e->contacts->pair_count; i++) {
    if (!in_group(e, state, g, i) || carom_exact_is_resting(e, &e->contacts->pairs[i])) continue;
    carom_status status = search_pair(stepper, state, i, time, found, error);
    if (status == CAROM_OK) status = e->trial_status;
    if (status != CAROM_OK) return status;
  }
  return carom_exact_search_limits(stepper, state, time, found, error);
}

// ---- impact ------------------------------------------------------------------------------------------------------

// Points of the pair that touch.
static carom_status take_points(carom_exact *e, const carom_state *state, int pair, double touch, carom_error *error) {
  while (e->touching_capacity < e->touching_count + CAROM_MANIFOLD_MAX)
    if (!carom_grow(&e->allocator, (void **)&e->touching, e->touching_capacity, &e->touching_capacity,
                    sizeof *e->touching))
      return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for the contacts");
  carom_contact *points = e->touching + e->touching_count;
  carom_contact_query query = {CAROM_CONTACT_POLYGON, touch, touch};
  int count = carom_contacts_of_pair(e->contacts, pair, state, &e->near[pair], &query, points);
  for (int i = 0; i < count; i++)
    if (points[i].gap <= e->near[pair].distance + touch) e->touching[e->touching_count++] = points[i];
  return CAROM_OK;
}

static carom_status take_contacts(carom_exact *e, const carom_state *state, const carom_exact_group *g,
                                  carom_error *error) {
  e->touching_count = 0;
  for (int i = 0; i < e->contacts->pair_count; i++) {
    if (!in_group(e, state, g, i)) continue;
    double touch = 4 * carom_exact_within(e, state, &e->contacts->pairs[i]);
    if (e->near[i].distance > touch) continue;
    carom_status status = take_points(e, state, i, touch, error);
    if (status != CAROM_OK) return status;
  }
  return CAROM_OK;
}

// All bounces to come of a contact that parts at speed u take 2u/(a (1 - e)) together, a being at most the bend; the
// next is u^2/2a high. Neither may be too small to be told from nothing. Elastic contacts never come to rest.
bool carom_exact_bounces_spent(double speed, double before, double restitution, double bend, double within,
                               double duration) {
  if (2 * speed <= (1 - restitution) * (bend * CAROM_EXACT_ZENO * duration + 1e-12 * before)) return true;
  return restitution < 1 && speed * speed <= 32 * bend * within;
}

static bool is_spent(const carom_exact *e, const carom_state *state, const carom_contact *c, double speed,
                     double before, double duration) {
  const carom_part_pair *pair = &e->contacts->pairs[c->pair];
  return carom_exact_bounces_spent(speed, before, c->restitution, carom_exact_bend(e, pair),
                                   carom_exact_within(e, state, pair), duration);
}

static carom_status rest_pair(carom_stepper *stepper, const carom_state *state, const carom_contact *c, double time,
                              carom_ledger *ledger, carom_error *error) {
  carom_exact *e = stepper->work;
  const carom_part_pair *pair = &e->contacts->pairs[c->pair];
  if (carom_exact_is_resting(e, pair) || carom_joints_hold(e->model, state, pair->body_a, pair->body_b))
    return CAROM_OK;
  if (!carom_exact_add_resting(e, pair)) return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for contacts");
  carom_contact_event event = {CAROM_EVENT_ZENO, time, c->body_a, c->body_b, c->point_a, c->normal, cm_zero3()};
  return carom_ledger_event(ledger, &event, error);
}

// Hands contacts that have come to rest over to exact_rest.c; all of them when there were too many impacts.
static carom_status rest_spent(carom_stepper *stepper, const carom_state *state, const carom_exact_group *g,
                               double before, double time, carom_ledger *ledger, carom_error *error) {
  carom_exact *e = stepper->work;
  bool all = g->impacts >= stepper->options.max_impacts;
  for (int first = 0, last; first < e->touching_count; first = last) {
    bool spent = true;
    for (last = first; last < e->touching_count && e->touching[last].pair == e->touching[first].pair; last++) {
      const carom_contact *c = &e->touching[last];
      double speed = carom_contact_normal_velocity(e->impacts, state, c);
      spent = spent && is_spent(e, state, c, speed, before, g->duration);
    }
    if (!spent && !all) continue;
    carom_status status = rest_pair(stepper, state, &e->touching[first], time, ledger, error);
    if (status != CAROM_OK) return status;
  }
  carom_exact_rest_limits(e, state, all, before, g->duration);
  return CAROM_OK;
}

static double fastest_touching(const carom_exact *e, const carom_state *state) {
  double most = carom_exact_fastest_limit(e, state);
  for (int i = 0; i < e->touching_count; i++)
    most = fmax(most, fabs(carom_contact_normal_velocity(e->impacts, state, &e->touching[i])));
  return most;
}

static carom_status collide(carom_stepper *stepper, carom_state *state, carom_exact_group *g, carom_ledger *ledger,
                            carom_error *error) {
  carom_exact *e = stepper->work;
  carom_status status = measure_pairs(e, state, g, ledger, error);
  if (status == CAROM_OK) status = take_contacts(e, state, g, error);
  if (status != CAROM_OK) return status;
  double time = g->start + g->time, before = fastest_touching(e, state);
  const carom_ledger_mark mark = carom_ledger_get_mark(ledger);
  bool discrete = stepper->options.energy_condition == CAROM_ENERGY_DISCRETE;
  if (discrete) {
    carom_exact_note_leap(e, e->before, state, g, e->leap_time);
    carom_state_copy(e->before, state);
  }
  status = carom_impact_system_resolve(e->impacts, state, e->touching, e->touching_count, ledger, error);
  if (status == CAROM_OK && discrete) carom_exact_keep_discrete_energy(stepper, state, g, &mark, ledger);
  g->impacts++;
  if (status == CAROM_OK) status = rest_spent(stepper, state, g, before, time, ledger, error);
  if (status == CAROM_OK && g->impacts > 10 * (int64_t)stepper->options.max_impacts + 100)
    return carom_fail(error, CAROM_NOT_CONVERGED, "more than %d impacts within one step at t = %.9g s: use 'dcr'",
                      g->impacts, time);
  return status;
}

// ---- the step ----------------------------------------------------------------------------------------------------

// Bodies must stay where the candidate pairs expect them; an impact may make them faster. True when more room is
// needed.
static bool needs_room(carom_exact *e, const carom_exact_group *g, double duration) {
  bool more = false;
  for (int i = 0; i < g->count; i++) {
    carom_exact_body *b = &e->bodies[g->bodies[i]];
    double need = b->used + carom_exact_travel(b, e->model->bodies[g->bodies[i]].bounding_radius, duration);
    if (need <= b->allowed) continue;
    b->allowed = 2 * need;
    more = true;
  }
  return more;
}

static carom_status turns_too_far(const carom_exact *e, const carom_exact_group *g, const carom_state *state,
                                  double duration, carom_error *error) {
  for (int i = 0; i < g->count; i++) {
    const carom_exact_body *b = &e->bodies[g->bodies[i]];
    if (!(b->spin * duration <= LARGEST_TURN))
      return carom_fail(error, CAROM_NOT_CONVERGED,
                        "body '%s' turns by %.3g rad in one step at t = %.9g s: use a step below %.2g s",
                        e->model->bodies[g->bodies[i]].name, b->spin * duration, state->time, LARGEST_TURN / b->spin);
  }
  return CAROM_OK;
}

static void count_travel(carom_exact *e, const carom_exact_group *g, double time) {
  for (int i = 0; i < g->count; i++) {
    carom_exact_body *b = &e->bodies[g->bodies[i]];
    b->used += carom_exact_travel(b, e->model->bodies[g->bodies[i]].bounding_radius, time);
  }
}

// Where to: the end of the step, or the first impact before it. Forces of resting contacts are found for a given time,
// so that an impact on the way asks for others: the search is made again for the shorter time, on the path as it will
// be.
static carom_status aim(carom_stepper *stepper, carom_state *state, const carom_exact_group *g, double *time,
                        bool *found, bool *widen, carom_error *error) {
  carom_exact *e = stepper->work;
  double duration = g->duration - g->time;
  for (int attempt = 0; attempt < MAX_AIMS; attempt++) {
    carom_status status = carom_exact_press(stepper, state, g, duration, error);
    if (status == CAROM_OK) status = carom_exact_bound(stepper, state, g, duration, error);
    if (status == CAROM_OK) status = turns_too_far(e, g, state, duration, error);
    if (status != CAROM_OK) return status;
    *widen = needs_room(e, g, duration);
    *time = duration;
    if (*widen) return CAROM_OK;
    status = search(stepper, state, g, time, found, error);
    bool settled = *time > (1 - 1e-6) * duration || *time <= NO_TIME * g->duration;
    if (status != CAROM_OK || !*found || carom_exact_held(e) == 0 || settled) return status;
    duration = *time;
  }
  return CAROM_OK;
}

// Groups have their own time within a step; driven bodies are where they are then.
static void set_clock(carom_stepper *stepper, carom_state *state, const carom_exact_group *g) {
  carom_exact *e = stepper->work;
  e->now = g->start + g->time;
  carom_drives_place(e->model, state, e->now);
  carom_impact_system_set_time(e->impacts, e->now, 0.01 * g->duration);
}

// From now to the next impact, or to the end of the step. *widen: the step must be begun again with more candidates.
static carom_status leap(carom_stepper *stepper, carom_state *state, carom_exact_group *g, bool *found, bool *widen,
                         carom_ledger *ledger, carom_error *error) {
  carom_exact *e = stepper->work;
  double time = 0;
  set_clock(stepper, state, g);
  carom_status status = measure_pairs(e, state, g, ledger, error);
  if (status == CAROM_OK) status = aim(stepper, state, g, &time, found, widen, error);
  if (status != CAROM_OK || *widen) return status;
  count_travel(e, g, time);
  bool held = carom_exact_held(e) > 0;
  if (stepper->options.energy_condition == CAROM_ENERGY_DISCRETE) carom_state_copy(e->before, state);
  e->leap_time = time;
  double energy = held ? carom_exact_energy(e, state) - ledger->report.work : 0;
  status = carom_exact_push(stepper, state, time, ledger, error);
  if (status == CAROM_OK) status = carom_exact_move(stepper, state, g, time, ledger, error);
  double left = g->duration - g->time - time;
  g->time = left > 1e-12 * g->duration || *found ? g->time + time : g->duration;
  set_clock(stepper, state, g);
  if (status == CAROM_OK) status = carom_exact_settle(stepper, state, g, ledger, error);
  if (held) carom_exact_book_loss(e, energy - (carom_exact_energy(e, state) - ledger->report.work), ledger);
  return status;
}

static carom_status run_group(carom_stepper *stepper, carom_state *state, carom_exact_group *g, bool *widen,
                              carom_ledger *ledger, carom_error *error) {
  while (g->time < g->duration) {
    bool found = false;
    carom_status status = leap(stepper, state, g, &found, widen, ledger, error);
    if (status != CAROM_OK || *widen) return status;
    if (found) status = collide(stepper, state, g, ledger, error);
    if (status != CAROM_OK) return status;
  }
  return CAROM_OK;
}

static carom_status run_groups(carom_stepper *stepper, carom_state *state, double h, bool *widen, carom_ledger *ledger,
                               carom_error *error) {
  carom_exact *e = stepper->work;
  carom_status status = find_groups(e, state, error);
  double start = state->time;
  for (int r = 0; r < state->body_count && status == CAROM_OK; r++) {
    carom_exact_group g = {.bodies = e->order + e->group_start[r],
                           .count = e->group_start[r + 1] - e->group_start[r],
                           .root = r,
                           .start = start,
                           .duration = h};
    bool more = false;
    if (g.count > 0) status = run_group(stepper, state, &g, &more, ledger, error);
    *widen = *widen || more;  // the others go on, to tell all they need at once
  }
  return status;
}

// Every body gets some more room than its present velocity asks for.
static void allow_room(carom_exact *e, const carom_state *state, double h) {
  for (int i = 0; i < state->body_count; i++) {
    carom_exact_body *b = &e->bodies[i];
    b->used = b->allowed = 0;
    b->contact_f = b->contact_n = cm_zero3();
    if (is_fixed(e, i)) continue;
    const carom_body *body = &e->model->bodies[i];
    double spin =
        cm_norm(state->l[i]) * fmax(body->inverse_inertia.x, fmax(body->inverse_inertia.y, body->inverse_inertia.z));
    double speed = body->inverse_mass * cm_norm(state->p[i]) + h * cm_norm(e->model->gravity);
    b->allowed = 1.5 * h * (speed + 1.1 * body->bounding_radius * spin);
  }
  carom_exact_bound_driven(e, state->time, h);
  for (int i = 0; i < e->model->drive_count; i++) {
    int body = e->model->drives[i].body;
    double radius = e->model->bodies[body].bounding_radius;
    e->bodies[body].allowed = carom_exact_travel(&e->bodies[body], isfinite(radius) ? radius : 0, h);
  }
}

static carom_status advance(carom_stepper *stepper, carom_state *state, double h, double end, carom_ledger *ledger,
                            carom_error *error) {
  carom_exact *e = stepper->work;
  const carom_ledger_mark mark = carom_ledger_get_mark(ledger);
  carom_state_copy(e->begin, state);
  allow_room(e, state, h);
  carom_exact_release_opened(e, state);
  if (!carom_exact_save_resting(e)) return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for contacts");
  carom_status status = CAROM_OK;
  bool widen = true;
  for (int attempt = 0; attempt < MAX_WIDENINGS && widen && status == CAROM_OK; attempt++) {
    if (attempt > 0) {
      carom_state_copy(state, e->begin);
      carom_ledger_roll_back(ledger, &mark);
      carom_exact_restore_resting(e);
      for (int i = 0; i < state->body_count; i++)
        e->bodies[i].used = 0, e->bodies[i].contact_f = e->bodies[i].contact_n = cm_zero3();
    }
    widen = false;
    e->base = NULL;
    e->trial_status = CAROM_OK;
    status = run_groups(stepper, state, h, &widen, ledger, error);
  }
  if (status != CAROM_OK) carom_exact_restore_resting(e);
  if (status == CAROM_OK && widen)
    return carom_fail(error, CAROM_NOT_CONVERGED, "bodies run away at t = %.9g s: use a smaller step", state->time);
  carom_drives_place(e->model, state, end);
  carom_ledger_sort(ledger, mark.report.event_count);
  return status;
}

// ---- for checkpoints ---------------------------------------------------------------------------------------------

static bool remember(carom_stepper *stepper, carom_tape *tape) {
  carom_exact *e = stepper->work;
  return carom_integrator_variational.remember(stepper, tape) && carom_contacts_remember(e->contacts, tape) &&
         carom_exact_remember_resting(e, tape);
}

const carom_integrator carom_integrator_exact = {
    .name = "exact",
    .summary = "collision times as unknowns: between impacts as 'variational', at impacts momenta jump by a law",
    .honours = &carom_honours_exact,
    .push = push,
    .prepare = prepare,
    .advance = advance,
    .release = release,
    .remember = remember,
};

// A tree of robust segments (LaValle 1998 over Gavrea 2008, 2.4): all vehicles together are led from nodes of the tree
// towards places drawn at random, or towards their goals, by segments that are taken only if they are robust.
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "control/navigate.h"

static const double TIRED = 0.5;     // m: how much farther a node seems for each segment tried from it
static const double SHORTEST = 0.3;  // of the longest segment
static const double AWAY = 0.4;      // chance that a vehicle is led elsewhere when the sample is not the goal
static const double ASIDE = 0.7;     // rad: by how much headings are turned at random, at most, where it is tried again

typedef struct node {
  int parent, depth, tries;
  carom_navigate_segment segment;  // that led here; its velocities are those of the tree
  carom_navigate_fate fate;
} node;

typedef struct tree {
  carom_navigate *s;
  const carom_navigate_plan_def *how;
  carom_navigate_plan *plan;
  int n;
  node *nodes;                      // (budget + 1)
  double (*places)[3];              // (budget + 1) x n, as users count vehicles, and so are the others
  double (*velocities)[2];          // likewise
  double (*sample)[2], (*wish)[2];  // (n)
  double low[2], high[2];
  int count;
  carom_random random;
} tree;

carom_navigate_plan_def carom_navigate_plan_default(void) {
  return (carom_navigate_plan_def){
      .half = 0.02, .robust = true, .settle = 0.5, .longest = 2, .goal_bias = 0.4, .budget = 2000, .seed = 1};
}

static double (*places_of(const tree *t, int which))[3] { return t->places + (size_t)which * (size_t)t->n; }

static const carom_navigate_vehicle *vehicle(const tree *t, int user) {
  for (int i = 0; i < t->n; i++)
    if (t->s->items[i].number == user) return &t->s->vehicles[i];
  return NULL;
}

// ---- samples --------------------------------------------------------------------------------------------------------

static void widen(tree *t, const double p[2], double by) {
  for (int k = 0; k < 2; k++) t->low[k] = fmin(t->low[k], p[k] - by), t->high[k] = fmax(t->high[k], p[k] + by);
}

static void find_bounds(tree *t) {
  for (int k = 0; k < 2; k++) t->low[k] = INFINITY, t->high[k] = -INFINITY;
  for (int i = 0; i < t->n; i++) {
    const carom_navigate_vehicle *v = vehicle(t, i);
    widen(t, v->start, 3 * carom_cage_reach(&v->cage));
    widen(t, v->goal, 3 * carom_cage_reach(&v->cage));
  }
}

static bool draw_sample(tree *t) {
  bool goal = carom_random_uniform(&t->random) < t->how->goal_bias;
  for (int i = 0; i < t->n; i++) {
    bool away = !goal && carom_random_uniform(&t->random) < AWAY;
    for (int k = 0; k < 2; k++)
      t->sample[i][k] = away ? carom_random_between(&t->random, t->low[k], t->high[k]) : vehicle(t, i)->goal[k];
  }
  return goal;
}

static double distance(const tree *t, int from, const double (*to)[2]) {
  double sum = 0;
  for (int i = 0; i < t->n; i++) sum += hypot(places_of(t, from)[i][0] - to[i][0], places_of(t, from)[i][1] - to[i][1]);
  return sum;
}

static int nearest(const tree *t) {
  int best = 0;
  double least = INFINITY;
  for (int i = 0; i < t->count; i++) {
    double d = distance(t, i, (const double(*)[2])t->sample) + TIRED * t->nodes[i].tries;
    if (d < least) least = d, best = i;
  }
  return best;
}

// ---- controls -------------------------------------------------------------------------------------------------------

// Straight towards the sample, around what stays where that is the goal, and turned a little once that was tried.
static void aim(tree *t, int from, bool goal, double duration) {
  carom_navigate *s = t->s;
  for (int i = 0; i < t->n; i++) {
    int user = s->items[i].number;
    const double *at = places_of(t, from)[user], *to = t->sample[user];
    memcpy(s->place[i], at, sizeof s->place[i]);
    s->routes[i].age = -1;
    if (goal) {
      carom_nav_head_for(s, i);
      to = s->routes[i].target;
    }
    double dx = to[0] - at[0], dy = to[1] - at[1], far = hypot(dx, dy);
    double speed = fmin(s->vehicles[i].speed, far / duration);
    double turn = t->nodes[from].tries > 0 ? carom_random_between(&t->random, -ASIDE, ASIDE) : 0;
    double c = far > 0 ? speed / far * cos(turn) : 0, w = far > 0 ? speed / far * sin(turn) : 0;
    t->wish[user][0] = c * dx - w * dy, t->wish[user][1] = c * dy + w * dx;
  }
}

static bool is_there(const tree *t, int which) {
  for (int i = 0; i < t->n; i++) {
    const carom_navigate_vehicle *v = vehicle(t, i);
    const double *at = places_of(t, which)[i];
    if (hypot(at[0] - v->goal[0], at[1] - v->goal[1]) > v->tolerance) return false;
  }
  return true;
}

static void add_node(tree *t, int from, const carom_navigate_segment *segment, const carom_navigate_fate *fate) {
  node *n = &t->nodes[t->count];
  *n = (node){.parent = from, .depth = t->nodes[from].depth + 1, .segment = *segment, .fate = *fate};
  n->segment.velocities = t->velocities + (size_t)t->count * (size_t)t->n;
  memcpy(n->segment.velocities, t->wish, (size_t)t->n * sizeof *t->wish);
  memcpy(places_of(t, t->count), carom_navigate_look(t->s).places, (size_t)t->n * sizeof *t->places);
  t->count++;
}

static carom_status expand(tree *t, bool *reached, carom_error *error) {
  bool goal = draw_sample(t);
  int from = nearest(t);
  double longest = t->how->longest, duration = longest * carom_random_between(&t->random, SHORTEST, 1);
  carom_navigate_segment segment = {duration, t->how->settle, t->wish};
  carom_navigate_fate fate;
  aim(t, from, goal, duration);
  t->nodes[from].tries++, t->plan->tried++;
  carom_status status = carom_navigate_put(t->s, 0, &places_of(t, from)[0][0], error);
  if (status != CAROM_OK) return status;
  if (t->how->robust)
    status = carom_navigate_check_segment(t->s, &segment, t->how->half, &fate, error);
  else
    status = carom_navigate_run_segment(t->s, &segment, &fate, error);
  if (status == CAROM_NOT_CONVERGED || status == CAROM_ERR_GEOMETRY ||
      (status == CAROM_OK && t->how->robust && !fate.robust)) {
    t->plan->refused++;
    return CAROM_OK;
  }
  if (status != CAROM_OK) return status;
  add_node(t, from, &segment, &fate);
  *reached = is_there(t, t->count - 1);
  return CAROM_OK;
}

// ---- the plan -------------------------------------------------------------------------------------------------------

static bool read_plan(const tree *t, int last) {
  carom_navigate_plan *p = t->plan;
  const carom_allocator *heap = &p->allocator;
  size_t n = (size_t)t->n;
  p->count = t->nodes[last].depth, p->nodes = t->count, p->least_margin = INFINITY;
  if (!CAROM_NEW_ALL(heap, CAROM_ROOM(p->segments, p->count), CAROM_ROOM(p->fates, p->count),
                     CAROM_ROOM(p->places, (size_t)(p->count + 1) * n)))
    return false;
  for (int i = last; i >= 0; i = t->nodes[i].parent) {
    int depth = t->nodes[i].depth;
    memcpy(p->places + (size_t)depth * n, places_of(t, i), n * sizeof *p->places);
    if (depth == 0) break;
    carom_navigate_segment *to = &p->segments[depth - 1];
    *to = t->nodes[i].segment;
    to->velocities = carom_allocate(heap, n, sizeof *to->velocities);
    if (!to->velocities) return false;
    memcpy(to->velocities, t->nodes[i].segment.velocities, n * sizeof *to->velocities);
    p->fates[depth - 1] = t->nodes[i].fate;
    p->duration += to->duration;
    if (t->how->robust) p->least_margin = fmin(p->least_margin, t->nodes[i].fate.margin);
  }
  return true;
}

static int nearest_to_goals(tree *t) {
  int best = 0;
  for (int i = 0; i < t->n; i++) memcpy(t->sample[i], vehicle(t, i)->goal, sizeof t->sample[i]);
  for (int i = 1; i < t->count; i++)
    if (distance(t, i, (const double(*)[2])t->sample) < distance(t, best, (const double(*)[2])t->sample)) best = i;
  return best;
}

static carom_status grow(tree *t, carom_error *error) {
  carom_status status = CAROM_OK;
  const carom_progress *watch = &t->how->progress;
  memcpy(places_of(t, 0), carom_navigate_look(t->s).places, (size_t)t->n * sizeof *t->places);
  t->nodes[0] = (node){.parent = -1};
  t->count = 1;
  t->plan->found = is_there(t, 0);
  while (!t->plan->found && t->plan->tried < t->how->budget && status == CAROM_OK) {
    if (watch->report && !watch->report(watch->context, t->plan->tried, t->how->budget)) {
      status = carom_fail(error, CAROM_INTERRUPTED, "planning was stopped after %d segments", t->plan->tried);
      break;
    }
    status = expand(t, &t->plan->found, error);
  }
  if (status != CAROM_OK && status != CAROM_INTERRUPTED) return status;
  int last = t->plan->found ? t->count - 1 : nearest_to_goals(t);
  return read_plan(t, last) ? status : carom_nav_memory(error);
}

static carom_status check_how(const carom_navigate_plan_def *h, carom_error *error) {
  if (!(h->half >= 0 && h->half <= 1e3) || !(h->longest > 0 && h->longest <= 100) ||
      !(h->settle >= 0 && h->settle < 1) || !(h->goal_bias >= 0 && h->goal_bias <= 1) || h->budget < 1 ||
      h->budget > 1000000)
    return carom_fail(error, CAROM_ERR_NUMBER,
                      "plan: half >= 0, longest in (0, 100] s, settle in [0, 1), goal_bias in [0, 1] and a budget of 1 "
                      "to 1000000, got %g, %g, %g, %g and %d",
                      h->half, h->longest, h->settle, h->goal_bias, h->budget);
  return CAROM_OK;
}

static carom_status grow_with_room(tree *t, carom_error *error) {
  const carom_allocator *heap = &t->plan->allocator;
  size_t nodes = (size_t)t->how->budget + 1, n = (size_t)t->n;
  bool room = CAROM_NEW_ALL(heap, CAROM_ROOM(t->nodes, nodes), CAROM_ROOM(t->places, nodes * n),
                            CAROM_ROOM(t->velocities, nodes * n), CAROM_ROOM(t->sample, n), CAROM_ROOM(t->wish, n));
  carom_status status = room ? CAROM_OK : carom_nav_memory(error);
  if (room) find_bounds(t);
  if (room) status = grow(t, error);
  CAROM_RELEASE_ALL(heap, t->nodes, t->places, t->velocities, t->sample, t->wish);
  return status;
}

carom_status carom_navigate_plan_make(const carom_navigate_def *def, const carom_navigate_plan_def *how,
                                      const carom_allocator *allocator, carom_navigate_plan **plan,
                                      carom_error *error) {
  carom_allocator heap = carom_allocator_or_default(allocator);
  tree t = {.how = how, .n = def->vehicle_count, .random = carom_random_make(how->seed, 0)};
  double begun = carom_clock();
  *plan = NULL;
  carom_status status = check_how(how, error);
  if (status == CAROM_OK) status = carom_navigate_create(def, allocator, &t.s, error);
  if (status != CAROM_OK) return status;
  t.plan = CAROM_NEW(&heap, carom_navigate_plan, 1);
  status = t.plan ? CAROM_OK : carom_nav_memory(error);
  if (t.plan) {
    t.plan->allocator = heap, t.plan->vehicle_count = t.n;
    status = grow_with_room(&t, error);
    t.plan->seconds = carom_clock() - begun;
  }
  carom_navigate_destroy(t.s);
  if (status == CAROM_OK || status == CAROM_INTERRUPTED)
    *plan = t.plan;
  else
    carom_navigate_plan_destroy(t.plan);
  return status;
}

void carom_navigate_plan_destroy(carom_navigate_plan *p) {
  if (!p) return;
  carom_allocator heap = p->allocator;
  for (int i = 0; i < p->count && p->segments; i++) carom_release(&heap, p->segments[i].velocities);
  CAROM_RELEASE_ALL(&heap, p->segments, p->fates, p->places, p);
}

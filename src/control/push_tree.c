// A tree of pushes from the start. Pushes cannot be undone, so that no second tree grows from the goal; but where a
// last push may begin is known, and poses there are aimed at as the goal itself is.
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "control/push_tree.h"

static const double MOST_SPREAD = 0.5;  // of the others about the nominal pose, over the extent
static const double TIRED = 0.03;       // how much farther a node seems for each push tried from it, over the extent...
static const double DEEP = 0.05;        // ...and for each push that led to it
static const double NEARLY = 4;         // times the tolerance: what is worth trying to reach in one push
enum { CORRECTIONS = 2 };

typedef struct node {
  int parent, depth, tries;
  double cost;      // s
  carom_push push;  // that led here
  carom_push_flock flock;
} node;

typedef struct tree {
  carom_push_yard *yard;
  carom_random random;
  node *nodes;  // (room)
  int count, room;
  carom_push_plan_report *report;
} tree;

bool carom_push_watch_tick(carom_push_watch *watch) {
  bool go;
#pragma omp critical(carom_push_watch)
  {
    watch->done++;
    const carom_progress *p = watch->progress;
    if (!watch->stopped && p->report && !p->report(p->context, watch->done, watch->total)) watch->stopped = true;
    go = !watch->stopped;
  }
  return go;
}

// ---- which node ----------------------------------------------------------------------------------------------------

static double seems(const tree *t, const node *n, const carom_push_aim *aim) {
  int side;
  double far = aim->precise ? carom_push_aim_rest(t->yard, aim, &n->flock, &side)
                            : carom_push_distance(t->yard, n->flock.pose[0], aim->pose);
  return far + t->yard->extent * (TIRED * n->tries + DEEP * n->depth);
}

static int choose(const tree *t, const carom_push_aim *aim) {
  int best = 0;
  double least = INFINITY;
  for (int i = 0; i < t->count; i++) {
    if (t->nodes[i].depth >= t->yard->def->most_pushes) continue;
    double d = seems(t, &t->nodes[i], aim);
    if (d < least) least = d, best = i;
  }
  return best;
}

// ---- one push ------------------------------------------------------------------------------------------------------

static void count_refusal(carom_push_plan_report *r, carom_push_ending why) {
  switch (why) {
    case CAROM_PUSH_JAM:
      r->jams++;
      break;
    case CAROM_PUSH_DAMAGE:
      r->damages++;
      break;
    case CAROM_PUSH_SWITCH:
      r->switches++;
      break;
    default:
      r->failures++;
  }
}

// A push that is tried from a node.
typedef struct attempt {
  const node *from;
  carom_push_aim aim;
  carom_push_stroke stroke;
  carom_push push;
  carom_push_flock flock;  // after it
  carom_push_outcome outcome;
} attempt;

// The nominal pose through the stroke as it is; *off tells by how much it ends off what was wanted.
static carom_status run_stroke(tree *t, attempt *a, const double want[3], double *off, carom_error *error) {
  a->flock = a->from->flock;
  a->outcome = (carom_push_outcome){.why = CAROM_PUSH_FAILED};
  if (!carom_push_place_stroke(t->yard, &a->stroke, &a->from->flock, &a->push)) return CAROM_OK;
  carom_status status = carom_push_yard_run(t->yard, &a->push, &a->flock, &a->outcome, error);
  *off = carom_push_distance(t->yard, a->flock.pose[0], want);
  return status;
}

// And again where it is worth it, with what was missed added to the aim.
static carom_status try_nominal(tree *t, attempt *a, carom_error *error) {
  double want[3], off = INFINITY;
  memcpy(want, a->stroke.end, sizeof want);
  carom_status status = run_stroke(t, a, want, &off, error);
  int most = a->aim.precise && a->stroke.probes == 2 ? CORRECTIONS : 0;
  for (int k = 0; k < most && status == CAROM_OK && a->outcome.usable && off > 1e-3 * t->yard->extent; k++) {
    attempt again = *a;
    double better = INFINITY;
    for (int i = 0; i < 2; i++) again.stroke.end[i] += want[i] - a->flock.pose[0][i];
    status = run_stroke(t, &again, want, &better, error);
    if (!again.outcome.usable || !(better < off)) break;
    *a = again, off = better;
  }
  return status;
}

static bool keeps_together(const carom_push_yard *yard, const carom_push_flock *flock) {
  double spread[3];
  carom_push_spread(flock, spread);
  return hypot(hypot(spread[0], spread[1]), yard->turn_length * spread[2]) < MOST_SPREAD * yard->extent;
}

static bool is_inside(const carom_push_yard *yard, const double pose[3]) {
  for (int k = 0; k < 2; k++)
    if (!(pose[k] >= yard->low[k] && pose[k] <= yard->high[k])) return false;
  return true;
}

static void add_node(tree *t, const attempt *a) {
  node *n = &t->nodes[t->count++];
  *n = (node){.parent = (int)(a->from - t->nodes), .depth = a->from->depth + 1, .push = a->push, .flock = a->flock};
  n->cost = a->from->cost + a->push.duration;
  t->report->nearest = fmin(t->report->nearest, carom_push_distance(t->yard, a->flock.pose[0], t->yard->goal));
}

static void read_way(const tree *t, int last, carom_push_way *way) {
  way->count = t->nodes[last].depth;
  for (int i = last; i >= 0; i = t->nodes[i].parent) {
    int depth = t->nodes[i].depth;
    way->flocks[depth] = t->nodes[i].flock;
    if (depth > 0) way->pushes[depth - 1] = t->nodes[i].push;
  }
}

// A push to the goal itself is tried from where one push could do it; from elsewhere one to where a last push begins.
static int aim_and_choose(tree *t, carom_push_aim *aim) {
  int from = choose(t, aim), side;
  if (!aim->precise || aim->line) return from;
  double tolerance = t->yard->def->pusher.goal.distance + 0.02 * t->yard->longest;
  if (carom_push_aim_rest(t->yard, aim, &t->nodes[from].flock, &side) < NEARLY * tolerance) return from;
  *aim = carom_push_draw_aim_before(t->yard, &t->random);
  return choose(t, aim);
}

// The new node is in the goal with long steps: is it with short ones?
static carom_status look_closely(tree *t, carom_push_way *way, bool *reached, carom_error *error) {
  read_way(t, t->count - 1, way);
  carom_push_yard_look_closely(t->yard, true);
  carom_status status = carom_push_again(t->yard, way, 0, reached, error);
  carom_push_yard_look_closely(t->yard, false);
  return status;
}

// One expansion; *reached when the new node is in the goal.
static carom_status expand(tree *t, bool *reached, carom_error *error) {
  attempt a = {.aim = carom_push_draw_aim(t->yard, &t->random)};
  node *from = &t->nodes[aim_and_choose(t, &a.aim)];
  a.from = from;
  *reached = false;
  t->report->expansions++;
  from->tries++;
  if (!carom_push_draw_stroke(t->yard, &t->random, &a.aim, &from->flock, &a.stroke)) return CAROM_OK;
  carom_status status = try_nominal(t, &a, error);
  if (status != CAROM_OK) return status;
  if (a.outcome.usable && !(a.outcome.touched && is_inside(t->yard, a.flock.pose[0]))) return CAROM_OK;
  if (a.outcome.usable) status = carom_push_yard_follow(t->yard, &a.push, &from->flock, &a.flock, &a.outcome, error);
  if (status != CAROM_OK) return status;
  if (!a.outcome.usable) {
    count_refusal(t->report, a.outcome.why);
    return CAROM_OK;
  }
  if (!keeps_together(t->yard, &a.flock)) return CAROM_OK;
  add_node(t, &a);
  *reached = a.outcome.goal;
  return CAROM_OK;
}

// ---- the tree ------------------------------------------------------------------------------------------------------

static int nearest_to_goal(const tree *t) {
  int best = 0;
  double least = INFINITY;
  for (int i = 0; i < t->count; i++) {
    double d = carom_push_distance(t->yard, t->nodes[i].flock.pose[0], t->yard->goal);
    if (d < least) least = d, best = i;
  }
  return best;
}

static carom_status grow(tree *t, carom_push_watch *watch, carom_push_way *way, carom_error *error) {
  t->nodes[0] = (node){.parent = -1, .flock = carom_push_yard_flock(t->yard)};
  t->count = 1;
  carom_push_yard_look_closely(t->yard, false);
  carom_push_find_doors(t->yard, &t->random);
  t->report->nearest = carom_push_distance(t->yard, t->nodes[0].flock.pose[0], t->yard->goal);
  way->found = carom_push_yard_in_goal(t->yard, &t->nodes[0].flock);
  carom_status status = CAROM_OK;
  while (!way->found && t->report->expansions < t->yard->def->budget && status == CAROM_OK) {
    if (!carom_push_watch_tick(watch)) break;
    status = expand(t, &way->found, error);
    if (status == CAROM_OK && way->found) status = look_closely(t, way, &way->found, error);
  }
  t->report->nodes = t->count;
  carom_push_yard_look_closely(t->yard, true);
  if (!way->found) read_way(t, nearest_to_goal(t), way);
  return status;
}

carom_status carom_push_tree_grow(carom_push_yard *yard, int seed, carom_push_watch *watch, carom_push_way *way,
                                  carom_push_plan_report *report, carom_error *error) {
  tree t = {.yard = yard, .report = report, .room = yard->def->budget + 1};
  t.random = carom_random_make(yard->def->seed, (uint64_t)seed);
  t.nodes = CAROM_NEW(&yard->allocator, node, t.room);
  if (!t.nodes) return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for a plan of pushes");
  report->seed = seed;
  carom_status status = grow(&t, watch, way, error);
  carom_release(&yard->allocator, t.nodes);
  return status;
}

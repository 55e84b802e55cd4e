// Trees of several seeds, each by itself; the best answer is kept. Which one that is depends on the answers alone, so
// that any number of threads comes to the same.
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"
#include "control/push_tree.h"

const char *carom_push_robustness_name(carom_push_robustness robustness) {
  static const char *const names[] = {"nominal", "box", "modes"};
  return (unsigned)robustness < sizeof names / sizeof *names ? names[robustness] : NULL;
}

carom_push_plan_def carom_push_plan_default(void) {
  return (carom_push_plan_def){.pusher = carom_pusher_default(),
                               .robustness = CAROM_PUSH_PLAN_BOX,
                               .most_probes = 2,
                               .goal_bias = 0.3,
                               .coarse = 5,
                               .budget = 2000,
                               .most_pushes = 12,
                               .seeds = 1,
                               .seed = 1,
                               .shorten = true};
}

// ---- what is refused -----------------------------------------------------------------------------------------------

static carom_status check_lengths(const carom_push_plan_def *def, carom_error *error) {
  const struct {
    const char *name;
    double value;
  } of[] = {{"longest way", def->longest}, {"reach", def->reach}, {"turn length", def->turn_length}};
  for (size_t i = 0; i < sizeof of / sizeof *of; i++)
    if (!(of[i].value >= 0) || isinf(of[i].value))
      return carom_fail(error, CAROM_ERR_NUMBER, "the %s of a plan of pushes is %g m, expected 0 (default) or more",
                        of[i].name, of[i].value);
  if (!(def->speed > 0) || isinf(def->speed))
    return carom_fail(error, CAROM_ERR_NUMBER, "the speed of the probes is %g m/s, expected more than 0", def->speed);
  if (!(def->coarse >= 1) || isinf(def->coarse))
    return carom_fail(error, CAROM_ERR_NUMBER, "steps of a tree are at least 1 times those of the pusher, not %g",
                      def->coarse);
  if (!(def->goal_bias >= 0 && def->goal_bias <= 0.5))
    return carom_fail(error, CAROM_ERR_NUMBER,
                      "the goal bias is %g, expected 0 to 0.5 (poses before the goal have as much)", def->goal_bias);
  return CAROM_OK;
}

static carom_status check_counts(const carom_push_plan_def *def, carom_error *error) {
  if (def->budget < 1 || def->most_pushes < 1 || def->seeds < 1)
    return carom_fail(
        error, CAROM_ERR_ARGUMENT,
        "a plan of pushes needs a budget, a number of pushes and of seeds of at least 1; got %d, %d and %d",
        def->budget, def->most_pushes, def->seeds);
  if (def->most_probes < 1 || def->most_probes > 2)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "pushes are planned by 1 or 2 probes at once, not by %d",
                      def->most_probes);
  if (!carom_push_robustness_name(def->robustness))
    return carom_fail(error, CAROM_ERR_ARGUMENT, "there is no robustness %d", (int)def->robustness);
  return CAROM_OK;
}

static carom_status check_box(const carom_push_plan_def *def, carom_error *error) {
  for (int k = 0; k < 3; k++)
    if (!(def->box.half[k] >= 0) || isinf(def->box.half[k]))
      return carom_fail(error, CAROM_ERR_NUMBER, "the box of starts has a half width of %g, expected 0 or more",
                        def->box.half[k]);
  if (!(def->box.friction >= 0 && def->box.friction <= 1))
    return carom_fail(error, CAROM_ERR_NUMBER, "the box of frictions is +-%g, expected 0 to 1", def->box.friction);
  return CAROM_OK;
}

static carom_status check_part(const carom_push_plan_def *def, carom_error *error) {
  const carom_model *model = def->pusher.model;
  int body = def->pusher.goal.body;
  if (!model || !def->start) return carom_fail(error, CAROM_ERR_ARGUMENT, "a plan of pushes needs a model and a state");
  if (body < 0 || body >= model->body_count || model->bodies[body].fixed)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "a plan of pushes needs a goal for a part that moves");
  for (int i = 0; i < model->body_count; i++)
    if (i != body && !model->bodies[i].fixed)
      return carom_fail(error, CAROM_ERR_UNSUPPORTED,
                        "plans move one part, '%s', but '%s' moves, too: fix it, or leave it out",
                        model->bodies[body].name, model->bodies[i].name);
  return CAROM_OK;
}

static carom_status check(const carom_push_plan_def *def, carom_error *error) {
  carom_status status = check_part(def, error);
  if (status == CAROM_OK) status = check_counts(def, error);
  if (status == CAROM_OK) status = check_lengths(def, error);
  return status == CAROM_OK ? check_box(def, error) : status;
}

// ---- ways ----------------------------------------------------------------------------------------------------------

static bool make_way(const carom_push_plan_def *def, const carom_allocator *a, carom_push_way *way) {
  return CAROM_NEW_ALL(a, CAROM_ROOM(way->pushes, def->most_pushes), CAROM_ROOM(way->flocks, def->most_pushes + 1));
}

static void drop_way(const carom_allocator *a, carom_push_way *way) { CAROM_RELEASE_ALL(a, way->pushes, way->flocks); }

static double cost_of(const carom_push_way *way) {
  double sum = 0;
  for (int i = 0; i < way->count; i++) sum += way->pushes[i].duration;
  return sum;
}

// ---- seeds ---------------------------------------------------------------------------------------------------------

typedef struct answer {
  carom_push_way way;
  carom_push_plan_report report;
} answer;

typedef struct race {
  const carom_push_plan_def *def;
  const carom_allocator *allocator;
  carom_push_watch watch;
  answer best;  // without pushes: none yet
  int solved, expansions;
  carom_status status;  // of the first seed that failed
  carom_error error;
  int failed;
} race;

static bool is_better(const answer *a, const answer *b) {
  if (!b->way.pushes) return true;
  if (a->way.found != b->way.found) return a->way.found;
  double x = a->way.found ? a->report.cost : a->report.nearest, y = b->way.found ? b->report.cost : b->report.nearest;
  return x < y || (x == y && a->report.seed < b->report.seed);
}

// Keeps the better of two answers; the other is left in *a.
static void enter(race *r, answer *a) {
  r->solved += a->way.found, r->expansions += a->report.expansions;
  if (!is_better(a, &r->best)) return;
  answer worse = r->best;
  r->best = *a, *a = worse;
}

static void copy_way(const carom_push_way *from, carom_push_way *to) {
  to->found = from->found, to->count = from->count;
  for (int i = 0; i < from->count; i++) to->pushes[i] = from->pushes[i];
  for (int i = 0; i <= from->count; i++) to->flocks[i] = from->flocks[i];
}

// A shorter way is looked for with long steps; it counts if short ones lead to the goal, too.
static carom_status shorten(carom_push_yard *yard, carom_push_way *way, carom_push_way spare[2], int *dropped,
                            carom_error *error) {
  bool reached = false;
  copy_way(way, &spare[0]);
  carom_push_yard_look_closely(yard, false);
  carom_status status = carom_push_shorten(yard, &spare[0], &spare[1], dropped, error);
  carom_push_yard_look_closely(yard, true);
  if (status == CAROM_OK && *dropped) status = carom_push_again(yard, &spare[0], 0, &reached, error);
  if (status == CAROM_OK && reached)
    copy_way(&spare[0], way);
  else
    *dropped = 0;
  return status;
}

static carom_status run_seed(race *r, carom_push_yard *yard, int seed, answer *a, carom_error *error) {
  carom_push_way spare[2] = {{0}};
  bool good = make_way(r->def, r->allocator, &a->way) && make_way(r->def, r->allocator, &spare[0]) &&
              make_way(r->def, r->allocator, &spare[1]);
  carom_status status = good ? carom_push_tree_grow(yard, seed, &r->watch, &a->way, &a->report, error)
                             : carom_fail(error, CAROM_ERR_MEMORY, "out of memory for a plan of pushes");
  if (status == CAROM_OK && a->way.found && r->def->shorten)
    status = shorten(yard, &a->way, spare, &a->report.dropped, error);
  if (status == CAROM_OK) a->report.cost = cost_of(&a->way);
  for (int i = 0; i < 2; i++) drop_way(r->allocator, &spare[i]);
  return status;
}

static void run_and_enter(race *r, int seed) {
  answer a = {0};
  carom_error error = {0};
  carom_push_yard *yard;
  carom_status status = carom_push_yard_create(r->def, r->allocator, &yard, &error);
  if (status == CAROM_OK) status = run_seed(r, yard, seed, &a, &error);
  carom_push_yard_destroy(yard);
#pragma omp critical(carom_push_plan_seeds)
  {
    if (status == CAROM_OK)
      enter(r, &a);
    else if (r->status == CAROM_OK || seed < r->failed)
      r->status = status, r->error = error, r->failed = seed;
  }
  drop_way(r->allocator, &a.way);
}

// ---- the answer ----------------------------------------------------------------------------------------------------

static carom_status write_plan(const race *r, carom_push_plan *plan, carom_error *error) {
  const carom_push_way *way = &r->best.way;
  plan->found = way->found, plan->push_count = way->count, plan->report = r->best.report;
  plan->report.solved_seeds = r->solved, plan->report.total_expansions = r->expansions;
  if (!CAROM_NEW_ALL(r->allocator, CAROM_ROOM(plan->pushes, way->count + 1), CAROM_ROOM(plan->poses, way->count + 1),
                     CAROM_ROOM(plan->spreads, way->count + 1)))
    return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for a plan of pushes");
  for (int i = 0; i < way->count; i++) plan->pushes[i] = way->pushes[i];
  for (int i = 0; i <= way->count; i++) {
    for (int k = 0; k < 3; k++) plan->poses[i][k] = way->flocks[i].pose[0][k];
    carom_push_spread(&way->flocks[i], plan->spreads[i]);
  }
  return CAROM_OK;
}

static carom_status run_race(race *r, carom_push_plan *plan, carom_error *error) {
  double begin = carom_clock();
  int threads = carom_thread_count(r->def->threads), seeds = r->def->seeds;
  if (threads > seeds) threads = seeds;
  CAROM_PARALLEL_FOR(threads, schedule(dynamic, 1), for (int i = 0; i < seeds; i++) run_and_enter(r, i));
  if (r->status != CAROM_OK) return carom_fail(error, r->status, "%s", r->error.message);
  carom_status status = write_plan(r, plan, error);
  plan->report.seconds = carom_clock() - begin;
  return status;
}

carom_status carom_push_plan_make(const carom_push_plan_def *def, const carom_allocator *allocator,
                                  carom_push_plan **out, carom_error *error) {
  *out = NULL;
  carom_status status = check(def, error);
  if (status != CAROM_OK) return status;
  carom_allocator a = carom_allocator_or_default(allocator);
  carom_push_plan *plan = CAROM_NEW(&a, carom_push_plan, 1);
  if (!plan) return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for a plan of pushes");
  plan->allocator = a;
  race r = {.def = def, .allocator = &a};
  r.watch = (carom_push_watch){.progress = &def->progress, .total = (double)def->budget * def->seeds};
  status = run_race(&r, plan, error);
  drop_way(&a, &r.best.way);
  if (status != CAROM_OK) {
    carom_push_plan_destroy(plan);
    return status;
  }
  *out = plan;
  return r.watch.stopped ? carom_fail(error, CAROM_INTERRUPTED, "the plan of pushes was interrupted") : CAROM_OK;
}

void carom_push_plan_destroy(carom_push_plan *plan) {
  if (!plan) return;
  carom_allocator a = plan->allocator;
  CAROM_RELEASE_ALL(&a, plan->pushes, plan->poses, plan->spreads, plan);
}

// ---- replays -------------------------------------------------------------------------------------------------------

static carom_push_flock draw_start(const carom_push_yard *yard, int trial) {
  const carom_push_box *box = &yard->def->box;
  carom_random random = carom_random_make(yard->def->seed, 2000000 + (uint64_t)trial);
  carom_push_flock flock = {.count = 1};
  carom_push_pose(yard->def->pusher.model, yard->def->start, yard->body, flock.pose[0]);
  for (int k = 0; k < 3; k++) flock.pose[0][k] += carom_random_between(&random, -box->half[k], box->half[k]);
  flock.friction[0] = 1 + carom_random_between(&random, -box->friction, box->friction);
  return flock;
}

static void count_trial(const carom_push_yard *yard, const carom_push_flock *flock, const carom_push_outcome *outcome,
                        carom_push_trials *trials) {
  if (!outcome->usable) {
    if (outcome->why == CAROM_PUSH_JAM)
      trials->jams++;
    else if (outcome->why == CAROM_PUSH_DAMAGE)
      trials->damages++;
    else
      trials->failures++;
    return;
  }
  trials->reached += carom_push_yard_in_goal(yard, flock);
  for (int k = 0; k < 3; k++) {
    double off = flock->pose[0][k] - yard->goal[k];
    trials->worst[k] = fmax(trials->worst[k], fabs(k == 2 ? carom_push_wrap(off) : off));
  }
}

static carom_status run_trial(carom_push_yard *yard, const carom_push_plan *plan, int trial, carom_push_trials *trials,
                              carom_error *error) {
  carom_push_flock flock = draw_start(yard, trial);
  carom_push_outcome outcome = {.usable = true};
  for (int i = 0; i < plan->push_count && outcome.usable; i++) {
    carom_status status = carom_push_yard_replay(yard, &plan->pushes[i], &flock, &outcome, error);
    if (status != CAROM_OK) return status;
  }
  count_trial(yard, &flock, &outcome, trials);
  return CAROM_OK;
}

carom_status carom_push_plan_replay(const carom_push_plan_def *def, const carom_push_plan *plan, int count,
                                    carom_push_trials *trials, carom_error *error) {
  *trials = (carom_push_trials){.trials = count};
  carom_push_yard *yard;
  carom_status status = check(def, error);
  if (status == CAROM_OK) status = carom_push_yard_create(def, &plan->allocator, &yard, error);
  if (status != CAROM_OK) return status;
  for (int i = 0; i < count && status == CAROM_OK; i++) status = run_trial(yard, plan, i, trials, error);
  carom_push_yard_destroy(yard);
  return status;
}

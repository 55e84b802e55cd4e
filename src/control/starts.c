// Several first guesses, each solved by itself on a copy of the problem; the best answer is kept. Which one that is
// depends on the answers alone, so that any number of threads comes to the same.
//
// Ipopt's linear solver keeps its books in variables of the process (solve/nlp_ipopt.c), so that the solves themselves
// take turns; guesses, sampled ways, transcriptions and swept checks run at the same time.
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"
#include "control/plan.h"

// ---- copies --------------------------------------------------------------------------------------------------------

static bool copy_block(const carom_allocator *a, const void *from, int count, size_t size, void *to) {
  void *block = count ? carom_allocate(a, (size_t)count, size) : NULL;
  if (block) memcpy(block, from, (size_t)count * size);
  memcpy(to, &block, sizeof block);
  return block || count == 0;
}

#define COPY(field, count) copy_block(&to->allocator, from->field, (count), sizeof *from->field, &to->field)

static bool copy_waypoints(const carom_plan *from, carom_plan *to) {
  bool good = true;
  for (int i = 0; i < from->model->body_count; i++) {
    const carom_waypoints *w = &from->waypoints[i];
    carom_waypoints *v = &to->waypoints[i];
    v->times = NULL, v->poses = NULL;
    good = good && copy_block(&to->allocator, w->times, w->count, sizeof *w->times, &v->times) &&
           copy_block(&to->allocator, w->poses, w->count, sizeof *w->poses, &v->poses);
  }
  return good;
}

carom_status carom_plan_copy(const carom_plan *from, carom_plan **out, carom_error *error) {
  carom_plan *to;
  carom_status status = carom_plan_create(from->model, from->start, &from->def, &from->allocator, &to, error);
  if (status != CAROM_OK) return status;
  int bodies = from->model->body_count;
  memcpy(to->free_starts, from->free_starts, (size_t)bodies * sizeof *to->free_starts);
  memcpy(to->waypoints, from->waypoints, (size_t)bodies * sizeof *to->waypoints);
  memcpy(to->partner, from->partner, (size_t)bodies * sizeof *to->partner);
  bool good = copy_waypoints(from, to);
  good = COPY(joints, from->joint_count) && good;
  good = COPY(actuators, from->actuator_count) && good;
  good = COPY(conditions, from->condition_count) && good;
  good = COPY(costs, from->cost_count) && good;
  good = COPY(contacts, from->contact_count) && good;
  good = COPY(avoided, from->avoided_count) && good;
  good = COPY(penalties, from->penalty_count) && good;
  good = COPY(givens, from->given_count) && good;
  good = COPY(events, from->event_count) && good;
  good = COPY(clearances, from->clearance_count) && good;
  if (!good) {
    carom_plan_destroy(to);
    return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for a copy of a plan");
  }
  to->joint_count = to->joint_capacity = from->joint_count;
  to->actuator_count = to->actuator_capacity = from->actuator_count;
  to->condition_count = to->condition_capacity = from->condition_count;
  to->cost_count = to->cost_capacity = from->cost_count;
  to->contact_count = to->contact_capacity = from->contact_count;
  to->avoided_count = to->avoided_capacity = from->avoided_count;
  to->penalty_count = to->penalty_capacity = from->penalty_count;
  to->given_count = to->given_capacity = from->given_count;
  to->event_count = to->event_capacity = from->event_count;
  to->clearance_count = to->clearance_capacity = from->clearance_count;
  to->periodic = from->periodic;
  status = carom_warm_copy(from, to, error);
  if (status != CAROM_OK) {
    carom_plan_destroy(to);
    return status;
  }
  *out = to;
  return CAROM_OK;
}

// ---- which is better -----------------------------------------------------------------------------------------------

typedef struct answer {
  carom_plan *plan;  // null: none yet
  carom_plan_report report;
} answer;

// 0: a plan without overlap, 1: one that cuts a corner between nodes, 2: none.
static int rank(const carom_plan_report *r) {
  if (r->outcome != CAROM_PLAN_SOLVED) return 2;
  return r->swept_gap < -1e-9 ? 1 : 0;
}

static bool is_better(const carom_plan_report *a, const carom_plan_report *b) {
  int ra = rank(a), rb = rank(b);
  if (ra != rb) return ra < rb;
  double ca = ra == 2 ? a->violation : a->cost, cb = ra == 2 ? b->violation : b->cost;
  return ca < cb || (ca == cb && a->start < b->start);
}

// ---- all of them ---------------------------------------------------------------------------------------------------

typedef struct race {
  const carom_plan *problem;
  const carom_plan_options *options;
  answer best;
  int solved;
  bool stopped;
  carom_status status;  // of the first start that came to no answer, and its number
  carom_error error;
  int failed;
} race;

static void note_failure(race *r, int number, carom_status status, const carom_error *error) {
  bool memory = status == CAROM_ERR_MEMORY, had_memory = r->status == CAROM_ERR_MEMORY;
  if (r->status != CAROM_OK && (had_memory || (!memory && r->failed < number))) return;
  r->status = status, r->error = *error, r->failed = number;
}

// Keeps the better of two answers and lets the other go.
static void enter(race *r, answer *a) {
  r->solved += a->report.outcome == CAROM_PLAN_SOLVED;
  r->stopped = r->stopped || a->report.outcome == CAROM_PLAN_STOPPED;
  if (r->best.plan && !is_better(&a->report, &r->best.report)) return;
  answer worse = r->best;
  r->best = *a;
  *a = worse;
}

static void run_start(race *r, int number) {
  bool stopped;
#pragma omp critical(carom_plan_starts)
  stopped = r->stopped;
  if (stopped) return;
  answer a = {0};
  carom_error error = {0};
  carom_status status = carom_plan_copy(r->problem, &a.plan, &error);
  if (status == CAROM_OK) status = carom_plan_solve_start(a.plan, r->options, number, &a.report, &error);
#pragma omp critical(carom_plan_starts)
  {
    if (status == CAROM_OK)
      enter(r, &a);
    else
      note_failure(r, number, status, &error);
  }
  carom_plan_destroy(a.plan);
}

carom_status carom_plan_solve_starts(carom_plan *plan, const carom_plan_options *options, carom_plan_report *report,
                                     carom_error *error) {
  race r = {.problem = plan, .options = options};
  double begin = carom_clock();
  int threads = carom_thread_count(options->threads), first = options->first_start;
  if (threads > options->starts) threads = options->starts;
  CAROM_PARALLEL_FOR(threads, schedule(dynamic, 1), for (int i = 0; i < options->starts; i++) run_start(&r, first + i));
  if (r.status == CAROM_ERR_MEMORY || !r.best.plan) {
    carom_plan_destroy(r.best.plan);
    return carom_fail(error, r.status, "%s", r.error.message);
  }
  carom_plan problem = *plan;
  *plan = *r.best.plan;
  *r.best.plan = problem;
  carom_plan_destroy(r.best.plan);
  *report = r.best.report;
  report->starts = options->starts, report->solved_starts = r.solved;
  report->seconds = carom_clock() - begin;
  return CAROM_OK;
}

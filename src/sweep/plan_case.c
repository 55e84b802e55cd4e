// One case that is a plan: problem with overrides -> (solve from one or several guesses) -> outcomes and class.
#include <math.h>
#include <stdio.h>

#include "carom/plan.h"
#include "sweep/program.h"

typedef struct solving {
  const carom_sweep *sweep;
  const carom_case_options *options;
  carom_case *c;
  carom_plan_file *file;  // the best so far; null: none
  carom_plan_report report;
} solving;

// ---- one answer -----------------------------------------------------------------------------------------------------

static carom_status read_plan(solving *s, carom_plan_file **file, carom_error *error) {
  carom_overrides o;
  carom_diagnostics found = {0};
  carom_status status = carom_sweep_overrides(s->sweep, s->c->number, s->c->values, NULL, &o);
  carom_scene_options options = s->sweep->program->scene_options;
  options.overrides = (const char *const *)o.items;
  options.override_count = o.count;
  if (status == CAROM_OK) status = carom_plan_read(s->sweep->plan, &options, NULL, file, &found);
  if (status == CAROM_ERR_SCENE || status == CAROM_ERR_NUMBER) carom_case_refuse(s->sweep, &found, s->c);
  if (status == CAROM_ERR_MEMORY) carom_fail(error, status, "out of memory for the plan of a case");
  carom_diagnostics_release(&found);
  carom_overrides_release(&o);
  return status;
}

static bool go_on(void *context, const carom_plan_iterate *iterate) {
  const carom_case_options *o = context;
  (void)iterate;
  return !o->stop || !o->stop(o->context);
}

static int rank_of(const carom_plan_report *r) {
  if (r->outcome != CAROM_PLAN_SOLVED) return 2;
  return r->swept_gap < -1e-9;
}

static bool is_better(const carom_plan_report *a, const carom_plan_report *b) {
  if (rank_of(a) != rank_of(b)) return rank_of(a) < rank_of(b);
  return a->cost < b->cost;
}

// Solves from `warm` (null: from the problem's own guess and variations of it) and keeps the better answer.
static carom_status try_from(solving *s, const char *warm, int starts, carom_error *error) {
  carom_plan_file *file = NULL;
  carom_plan_report report = {0};
  carom_status status = read_plan(s, &file, error);
  if (status != CAROM_OK) return status;
  carom_plan_options *o = &file->options;
  if (starts > 0) o->starts = starts;
  o->threads = 1;  // a case has one processor
  o->progress = go_on;
  o->context = (void *)s->options;
  if (warm) status = carom_plan_warm(file->plan, warm, error);
  if (warm) o->guess = CAROM_GUESS_MOTION;
  if (status == CAROM_OK && file->most_contacts > 0)
    status = carom_plan_search_contacts(file->plan, file->most_contacts, o, &report, error);
  else if (status == CAROM_OK)
    status = carom_plan_solve(file->plan, o, &report, error);
  bool better = status == CAROM_OK && (!s->file || is_better(&report, &s->report));
  carom_plan_file_destroy(better ? s->file : file);
  if (better) s->file = file, s->report = report;
  return status == CAROM_OK && report.outcome == CAROM_PLAN_STOPPED ? CAROM_INTERRUPTED : status;
}

// ---- what came of it ------------------------------------------------------------------------------------------------

static carom_status observe(solving *s, double *figures, carom_error *error) {
  carom_observer o;
  carom_state *state = NULL;
  const carom_plan *plan = s->file->plan;
  int nodes = carom_plan_node_count(plan);
  carom_status status = carom_observer_create(s->sweep->program, s->file->scene->model, NULL, NULL, &o, error);
  if (status == CAROM_OK) status = carom_state_clone(s->file->scene->state, NULL, &state, error);
  for (int i = 0; i < nodes && status == CAROM_OK; i++) {
    carom_plan_state(plan, i, true, state);
    state->time = figures[CAROM_PLAN_FIGURE_TIME] = carom_plan_time(plan, i);
    carom_observer_figures(&o, figures, s->c->values);
    carom_observer_sample(&o, state);
  }
  if (status == CAROM_OK) carom_case_conclude(s->sweep, &o, figures, s->c);
  carom_state_destroy(state);
  carom_observer_release(&o);
  return status;
}

static void fill_figures(solving *s, double *figures, const carom_verdict *verdict) {
  const carom_plan_report *r = &s->report;
  const carom_plan *plan = s->file->plan;
  int nodes = carom_plan_node_count(plan);
  figures[CAROM_PLAN_FIGURE_DURATION] = carom_plan_time(plan, nodes - 1) - carom_plan_time(plan, 0);
  figures[CAROM_PLAN_FIGURE_COST] = r->cost;
  figures[CAROM_PLAN_FIGURE_GUESS_COST] = r->guess_cost;
  figures[CAROM_PLAN_FIGURE_ITERATIONS] = r->iterations;
  figures[CAROM_PLAN_FIGURE_VIOLATION] = r->violation;
  figures[CAROM_PLAN_FIGURE_PASSED] = verdict->pass;
  figures[CAROM_PLAN_FIGURE_GAP] = r->swept_gap;
  figures[CAROM_PLAN_FIGURE_NODES] = nodes;
  carom_plan_work work = carom_plan_find_work(plan);
  for (int i = 0; i < 4; i++) figures[CAROM_PLAN_FIGURE_WORK_TOTAL + i] = work.kinds[i];
  figures[CAROM_PLAN_FIGURE_LOSS] = work.loss;
  figures[CAROM_PLAN_FIGURE_TRANSPORT] = work.transport;
  double *values = s->c->values + s->sweep->sampling.axis_count + s->sweep->outcome_count;
  values[0] = figures[CAROM_PLAN_FIGURE_DURATION];
  values[1] = nodes;
  values[2] = r->iterations;
  values[3] = r->violation;
  values[4] = verdict->pass;
}

static void tell_failure(solving *s) {
  static const char *const words[] = {"solved", "no such motion", "iteration limit", "stopped", "the solver failed"};
  char reason[400];
  snprintf(reason, sizeof reason, "%s: %.300s", words[s->report.outcome], s->report.message);
  carom_case_fail(s->sweep, reason, s->c);
  int first = s->sweep->program->formula_count;
  if (!s->sweep->program->tells_unsolved) return;
  if (s->report.outcome == CAROM_PLAN_INFEASIBLE) s->c->class_index = first;
  if (s->report.outcome == CAROM_PLAN_LIMIT) s->c->class_index = first + 1;
}

static carom_status finish(solving *s, carom_error *error) {
  double figures[CAROM_PLAN_FIGURE_COUNT] = {0};
  carom_verdict verdict = carom_plan_judge(&s->report, NULL);
  carom_status status = CAROM_OK;
  if (s->report.outcome != CAROM_PLAN_SOLVED) tell_failure(s);
  fill_figures(s, figures, &verdict);
  if (s->report.outcome == CAROM_PLAN_SOLVED) status = observe(s, figures, error);
  if (status == CAROM_OK && s->options->result)
    status = carom_plan_record(s->file, &s->report, &verdict, s->options->result, &s->options->record, error);
  return status;
}

static bool is_ours(carom_status status) { return status == CAROM_ERR_MEMORY || status == CAROM_INTERRUPTED; }

// From the answer of another design and from the problem's own guesses; the better plan counts. Where only the former
// is wanted, the latter are for when it leads nowhere.
static carom_status solve(solving *s, carom_error *error) {
  const char *warm = s->options->warm;
  int starts = s->sweep->program->starts;
  carom_status status = warm ? try_from(s, warm, 1, error) : CAROM_OK;
  if (is_ours(status) || status == CAROM_ERR_SCENE) return status;
  bool solved = s->file && s->report.outcome == CAROM_PLAN_SOLVED;
  if (!solved || s->sweep->warm == CAROM_WARM_BEST) return try_from(s, NULL, starts, error);
  return starts > 1 ? try_from(s, NULL, starts - 1, error) : CAROM_OK;
}

carom_status carom_sweep_solve(const carom_sweep *sweep, const carom_case_options *options, carom_case *c,
                               carom_error *error) {
  solving s = {.sweep = sweep, .options = options, .c = c};
  carom_status status = solve(&s, error);
  bool refused = status == CAROM_ERR_SCENE || status == CAROM_ERR_NUMBER;
  if (!is_ours(status) && s.file) {
    status = finish(&s, error);
  } else if (!is_ours(status) && !refused) {
    carom_case_fail(sweep, error->message, c);
    status = CAROM_OK;
  }
  carom_plan_file_destroy(s.file);
  return status == CAROM_ERR_SCENE || status == CAROM_ERR_NUMBER ? CAROM_OK : status;
}

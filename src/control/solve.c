// Guess, transcribe, solve, look at what came out, refine.
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "control/plan.h"

bool carom_plan_available(void) { return carom_nlp_available(); }

carom_plan_options carom_plan_default_options(void) {
  return (carom_plan_options){.max_iterations = 1000, .sweep = true, .max_sweeps = 8, .seed = 1, .starts = 1};
}

typedef struct solve {
  carom_plan *plan;
  const carom_plan_options *options;
  carom_plan_report *report;
  double *g;  // (m)
  int iterations_before;
  int number;  // of this solve
  bool warm;   // from an earlier answer
} solve;

// Of the barrier parameter of a warm start: its share of the guess's largest violation (scaled), and its bounds.
static const double WARM_SHARE = 1e-4, WARM_LEAST = 1e-10, WARM_MOST = 1e-3;

// Room for the iterates of a solve, made before it begins. A history that is longer is cut.
static carom_status make_history_room(carom_plan *plan, int iterations, carom_error *error) {
  enum { MOST = 100000 };
  int room = plan->history_count + (iterations < MOST ? iterations : MOST) + 1;
  if (carom_reserve(&plan->allocator, (void **)&plan->history, &plan->history_capacity, room, sizeof *plan->history))
    return CAROM_OK;
  return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for the iterates of a plan");
}

static double barrier_of(const solve *s) { return s->options->barrier > 0 ? s->options->barrier : 0.1; }

static bool watch(void *context, const carom_nlp_iterate *it) {
  const solve *s = context;
  carom_plan *plan = s->plan;
  carom_plan_iterate out = {s->iterations_before + it->iteration, it->objective, it->infeasibility, s->number};
  if (plan->history_count < plan->history_capacity) plan->history[plan->history_count++] = out;
  return !s->options->progress || s->options->progress(s->options->context, &out);
}

static carom_plan_outcome outcome_of(carom_nlp_outcome outcome) {
  switch (outcome) {
    case CAROM_NLP_SOLVED:
    case CAROM_NLP_ACCEPTABLE:
      return CAROM_PLAN_SOLVED;
    case CAROM_NLP_INFEASIBLE:
      return CAROM_PLAN_INFEASIBLE;
    case CAROM_NLP_LIMIT:
      return CAROM_PLAN_LIMIT;
    case CAROM_NLP_STOPPED:
      return CAROM_PLAN_STOPPED;
    case CAROM_NLP_FAILED:
      return CAROM_PLAN_FAILED;
  }
  return CAROM_PLAN_FAILED;
}

// The largest violations where the solver stands; false where constraints cannot be told there.
static bool measure(const solve *s, double *scaled, double *absolute) {
  const carom_program *P = &s->plan->program;
  int row;
  if (!carom_program_constraints(P, P->x, s->g)) return false;
  *scaled = carom_program_violation(P, P->x, s->g, &row, absolute);
  return true;
}

// What can be told from the numbers alone: a target in an obstacle needs no solver.
static bool judge(solve *s) {
  double worst, absolute;
  if (!measure(s, &worst, &absolute)) return false;
  carom_plan_diagnose(s->plan, s->g, s->report);
  return worst <= 1e-7;
}

// A solver that gave up where all is met has not shown that there is no such motion, only none that is known to be
// best.
static void call_unfinished(carom_plan_report *report) {
  if (report->outcome == CAROM_PLAN_INFEASIBLE) report->outcome = CAROM_PLAN_FAILED;
  if (report->outcome != CAROM_PLAN_FAILED && report->outcome != CAROM_PLAN_LIMIT) return;
  snprintf(
      report->message, sizeof report->message,
      "all conditions are met to %.2g, but the cost may not be at its least: go on from this answer, or try another "
      "guess or several starts",
      report->violation);
}

// From an earlier answer: the further it is from one, the larger the barrier parameter, which gives it room to move.
static double warm_barrier(const solve *s) {
  double worst, absolute;
  if (!measure(s, &worst, &absolute)) return 1e-3;
  return fmin(fmax(WARM_SHARE * worst, WARM_LEAST), WARM_MOST);
}

// Errors of periodic motions grow by their largest multiplier (of walks: some hundred) until the end of the period.
static double tolerance_of(const solve *s) {
  if (s->options->tolerance > 0) return s->options->tolerance;
  return s->plan->periodic.set ? 1e-11 : 1e-9;
}

static carom_status call_solver(solve *s, carom_nlp_options *o, carom_nlp_info *info, carom_error *error) {
  carom_plan *plan = s->plan;
  carom_nlp nlp = carom_program_nlp(&plan->program);
  nlp.iterate_context = s;
  nlp.iterate = watch;
  carom_status status = make_history_room(plan, o->max_iterations, error);
  if (status != CAROM_OK) return status;
  double begin = carom_clock();
  status = carom_nlp_solve(&nlp, o, &plan->allocator, plan->program.x, info, error);
  if (status != CAROM_OK) return status;
  s->report->solver_seconds += carom_clock() - begin;
  s->report->iterations += info->iterations;
  s->iterations_before = s->report->iterations;
  s->number++;
  return CAROM_OK;
}

static double violation_of(const solve *s) {
  double worst, absolute;
  return measure(s, &worst, &absolute) ? absolute : INFINITY;
}

// Near the end of long solves steps can be noise, since rows that all but depend on each other are regularised by what
// the steps before needed; the solver then takes what it has (883 iterations of examples/gait-3d left 4e-9). From there
// as a warm start it takes a few more, with none of that memory. They count if they are better.
static carom_status finish(solve *s, carom_nlp_options *o, carom_nlp_info *info, carom_error *error) {
  enum { FEW = 100 };
  carom_plan *plan = s->plan;
  size_t n = (size_t)plan->program.n, all = 3 * n + (size_t)plan->program.m;
  double *before = CAROM_NEW(&plan->allocator, double, all);
  if (!before) return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for a plan");
  memcpy(before, plan->program.x, n * sizeof *before);
  memcpy(before + n, plan->duals, (all - n) * sizeof *before);
  double violation = violation_of(s);
  carom_nlp_info more = {.outcome = CAROM_NLP_FAILED};
  o->warm = o->duals->given = true;
  o->start_mu = fmin(o->start_mu, warm_barrier(s)), o->max_iterations = FEW;
  o->log_path = NULL;  // what is there is the solve itself
  carom_status status = call_solver(s, o, &more, error);
  if (more.outcome == CAROM_NLP_SOLVED || (more.outcome == CAROM_NLP_ACCEPTABLE && violation_of(s) < violation)) {
    *info = more;
  } else {
    memcpy(plan->program.x, before, n * sizeof *before);
    memcpy(plan->duals, before + n, (all - n) * sizeof *before);
    if (more.outcome == CAROM_NLP_STOPPED) info->outcome = CAROM_NLP_STOPPED;
  }
  carom_release(&plan->allocator, before);
  return status;
}

static carom_status make_duals(carom_plan *plan, carom_nlp_duals *duals, carom_error *error) {
  size_t n = (size_t)plan->program.n;
  carom_release(&plan->allocator, plan->duals);
  plan->duals = CAROM_NEW(&plan->allocator, double, 2 * n + (size_t)plan->program.m + 1);
  if (!plan->duals) return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for a plan");
  *duals = (carom_nlp_duals){.z_low = plan->duals, .z_high = plan->duals + n, .y = plan->duals + 2 * n};
  return CAROM_OK;
}

static void begin_warm(solve *s, carom_nlp_options *o) {
  carom_plan *plan = s->plan;
  o->duals->given = carom_warm_point(plan, plan->duals);
  o->warm = true;
  o->start_mu = fmin(o->start_mu, warm_barrier(s));
  carom_program_cost(&plan->program, plan->program.x, &s->report->guess_cost);
  s->warm = false;
}

static void tell(solve *s, carom_nlp_outcome outcome) {
  carom_plan_report *report = s->report;
  report->outcome = outcome_of(outcome);
  bool feasible = judge(s);
  carom_program_cost(&s->plan->program, s->plan->program.x, &report->cost);
  if (feasible)
    call_unfinished(report);
  else if (report->outcome == CAROM_PLAN_SOLVED || report->outcome == CAROM_PLAN_FAILED)
    report->outcome = CAROM_PLAN_INFEASIBLE;
}

static carom_status run_solver(solve *s, double start_mu, carom_error *error) {
  carom_nlp_duals duals;
  carom_nlp_options o = carom_nlp_default_options();
  carom_nlp_info info;
  o.max_iterations = s->options->max_iterations, o.tolerance = tolerance_of(s);
  o.log_path = s->options->log_path, o.start_mu = start_mu, o.duals = &duals;
  carom_status status = make_duals(s->plan, &duals, error);
  if (status != CAROM_OK) return status;
  s->report->solver_seconds = 0;
  if (s->warm) begin_warm(s, &o);
  status = call_solver(s, &o, &info, error);
  if (status == CAROM_OK && info.outcome == CAROM_NLP_ACCEPTABLE) status = finish(s, &o, &info, error);
  if (status == CAROM_OK) tell(s, info.outcome);
  return status;
}

// Inverse dynamics rings from interval to interval (only sums of neighbours enter the balance), and a ringing start
// costs the solver dozens of iterations: it begins from the mean of each two.
static void calm_forces(carom_plan *plan) {
  int n = plan->layout.component_count;
  double *x = plan->program.x;
  for (int k = plan->path.K - 1; k > 0; k--)
    for (int i = 0; i < n; i++) {
      double *now = &x[plan->layout.tau[k] + i];
      *now = 0.5 * (*now + x[plan->layout.tau[k - 1] + i]);
    }
}

// Contacts that choose: from a wide relaxation to a narrow one, and then on the side to which that led.
static carom_status settle_choices(solve *s, carom_error *error) {
  static const double narrow = 1e-7, share = 0.03;
  if (!carom_complement_is_open(s->plan)) return CAROM_OK;
  carom_status status = CAROM_OK;
  for (double r = share * 0.1; status == CAROM_OK && r > narrow && s->report->outcome == CAROM_PLAN_SOLVED;
       r *= share) {
    carom_complement_relax(s->plan, r);
    status = run_solver(s, 1e-3, error);
  }
  if (status != CAROM_OK || s->report->outcome != CAROM_PLAN_SOLVED) return status;
  carom_complement_decide(s->plan);
  return run_solver(s, 1e-3, error);
}

// Choices that were made at other features are open again.
static carom_status find_features(carom_plan *plan, carom_error *error) {
  carom_status status = CAROM_OK;
  for (int i = 0; i < plan->contact_count && status == CAROM_OK; i++) {
    carom_plan_contact *c = &plan->contacts[i];
    carom_contact_features before = c->features;
    status = carom_contact_find_features(plan, c, error);
    if (status == CAROM_OK && !carom_contact_same_features(&before, &c->features)) carom_complement_open(c);
  }
  return status;
}

static carom_status transcribe_and_solve(solve *s, double start_mu, carom_error *error) {
  carom_plan *plan = s->plan;
  carom_status status = find_features(plan, error);
  if (status == CAROM_OK) status = carom_transcribe(plan, error);
  if (status != CAROM_OK) return status;
  carom_release(&plan->allocator, s->g);
  s->g = CAROM_NEW(&plan->allocator, double, plan->program.m + 1);
  if (!s->g) return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for a plan");
  s->report->variables = plan->program.n, s->report->constraints = plan->program.m;
  if (s->report->iterations == 0) {
    carom_program_cost(&plan->program, plan->program.x, &s->report->guess_cost);
    bool given = plan->given_count > 0 && s->report->guess == CAROM_GUESS_FORWARD;
    if (!s->warm && !given) calm_forces(plan);
  }
  status = run_solver(s, start_mu, error);
  if (status == CAROM_OK) status = settle_choices(s, error);
  if (status == CAROM_OK) carom_plan_read_back(plan);
  return status;
}

// Nested gaps are rounded off, which costs some clearance, and rounding them off less makes them as stiff as the kinks
// they stand for. From where they lead, few pairs are close; those get planes, which have no kinks.
static carom_status sharpen(solve *s, carom_error *error) {
  carom_plan *plan = s->plan;
  if (plan->avoidance.gap_count == 0 || s->report->outcome != CAROM_PLAN_SOLVED) return CAROM_OK;
  plan->sharp = true;
  memset(plan->path.watched, 0,
         (size_t)plan->path.K * (size_t)carom_plan_part_pairs(plan) * sizeof *plan->path.watched);
  carom_watch_near_pairs(plan);
  return transcribe_and_solve(s, 1e-4, error);
}

// ---- looking at contacts again -------------------------------------------------------------------------------------

// Whether the oracle sees other features at the solution than those that were held.
static carom_status features_changed(carom_plan *plan, bool *changed, carom_error *error) {
  *changed = false;
  for (int i = 0; i < plan->contact_count; i++) {
    carom_plan_contact now = plan->contacts[i];
    carom_status status = carom_contact_find_features(plan, &now, error);
    if (status != CAROM_OK) return status;
    if (!carom_contact_same_features(&now.features, &plan->contacts[i].features)) *changed = true;
  }
  return CAROM_OK;
}

static carom_status settle_features(solve *s, carom_error *error) {
  enum { ROUNDS = 6 };
  for (int round = 0; round < ROUNDS && s->plan->contact_count > 0; round++) {
    bool changed;
    carom_status status = features_changed(s->plan, &changed, error);
    if (status != CAROM_OK || !changed || s->report->outcome != CAROM_PLAN_INFEASIBLE) return status;
    status = transcribe_and_solve(s, barrier_of(s), error);
    if (status != CAROM_OK) return status;
  }
  return CAROM_OK;
}

// ---- between the nodes ---------------------------------------------------------------------------------------------

static carom_status refine_all(solve *s, carom_error *error) {
  carom_plan *plan = s->plan;
  bool *marked = CAROM_NEW(&plan->allocator, bool, plan->path.K);
  if (!marked) return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for a plan");
  for (int k = 0; k < plan->path.K; k++) marked[k] = true;
  s->report->added_nodes += plan->path.K;
  carom_status status = carom_path_split(plan, marked, error);
  carom_release(&plan->allocator, marked);
  return status == CAROM_OK ? transcribe_and_solve(s, 1e-3, error) : status;
}

// Parts that met although nobody watched them: they are watched from now on, and the first guess, which is clear of
// them, is where to begin again.
static carom_status begin_again(solve *s, bool *again, carom_error *error) {
  carom_plan *plan = s->plan;
  *again = plan->first.K == plan->path.K && carom_watch_near_pairs(plan) > 0;
  if (!*again) return CAROM_OK;
  memcpy(plan->first.watched, plan->path.watched,
         (size_t)plan->path.K * (size_t)carom_plan_part_pairs(plan) * sizeof *plan->path.watched);
  carom_status status = carom_path_copy(plan, &plan->first, &plan->path, error);
  return status == CAROM_OK ? transcribe_and_solve(s, barrier_of(s), error) : status;
}

// Where the motion between nodes cuts a corner. A deep cut wants nodes; what is left of a shallow one is cheaper to
// keep away from.
static carom_status mend(solve *s, const bool *marked, int count, carom_error *error) {
  carom_plan *plan = s->plan;
  bool deep = -s->report->swept_gap > 2e-3 * plan->length_scale, again = false;
  if (deep) {
    carom_status status = begin_again(s, &again, error);
    if (status != CAROM_OK || again) return status;
  } else {
    plan->extra_margin += 1.5 * fmax(0, -s->report->swept_gap);
  }
  s->report->added_nodes += count;
  carom_status status = carom_path_split(plan, marked, error);
  return status == CAROM_OK ? transcribe_and_solve(s, 1e-2, error) : status;
}

static carom_status sweep_once(solve *s, bool *clear, bool last, carom_error *error) {
  carom_plan *plan = s->plan;
  carom_plan_report *r = s->report;
  int count;
  bool *marked = CAROM_NEW(&plan->allocator, bool, plan->path.K);
  if (!marked) return carom_fail(error, CAROM_ERR_MEMORY, "out of memory for a plan");
  carom_status status = carom_plan_sweep(plan, &r->smallest_gap, &r->swept_gap, marked, &count, error);
  *clear = count == 0;
  if (status == CAROM_OK && !*clear && !last) status = mend(s, marked, count, error);
  carom_release(&plan->allocator, marked);
  return status;
}

static carom_status sweep_all(solve *s, carom_error *error) {
  carom_plan_report *r = s->report;
  r->smallest_gap = r->swept_gap = INFINITY;
  if (s->plan->avoided_count == 0) return CAROM_OK;
  int rounds = s->options->sweep && r->outcome == CAROM_PLAN_SOLVED ? s->options->max_sweeps : 0;
  bool clear = false;
  carom_status status = CAROM_OK;
  for (int i = 0; i <= rounds && !clear && status == CAROM_OK; i++)
    status = sweep_once(s, &clear, i == rounds || r->outcome != CAROM_PLAN_SOLVED, error);
  return status;
}

// ---- what cannot be ------------------------------------------------------------------------------------------------

// Ends that overlap are found before any solver is asked.
static bool ends_overlap(carom_plan *plan, carom_plan_report *report) {
  int nodes[2] = {0, plan->path.K};
  if (plan->periodic.set) return false;  // neither end is given
  for (int e = 0; e < 2; e++)
    for (int i = 0; i < plan->avoided_count; i++) {
      int a = plan->avoided[i].body[0], b = plan->avoided[i].body[1], body[2] = {a, b};
      carom_pose pose[2];
      bool given = true;
      for (int j = 0; j < 2; j++) {
        pose[j] = cm_pose(plan->start->x[body[j]], plan->start->q[body[j]]);
        bool open = e == 0 ? plan->free_starts[body[j]].free : !carom_guess_target(plan, body[j], &pose[j]);
        if (open && !plan->model->bodies[body[j]].fixed) given = false;
      }
      for (int c = 0; e == 1 && c < plan->condition_count; c++)  // only a full pose says where a body is
        if (plan->conditions[c].kind != CAROM_CONDITION_POSE && plan->conditions[c].kind != CAROM_CONDITION_VELOCITY)
          given = false;
      double gap = given ? carom_plan_gap(plan, a, pose[0], b, pose[1]) : 0;
      if (gap >= -1e-7 * plan->length_scale) continue;
      snprintf(report->message, sizeof report->message,
               "bodies '%s' and '%s' overlap by %.3g m at node %d, where both are given: move the %s",
               carom_body_name(plan->model, a), carom_body_name(plan->model, b), -gap, nodes[e],
               e == 0 ? "start" : "target");
      report->violation = -gap;
      return true;
    }
  return false;
}

// What an order of adding does not let adders see.
static carom_status check_costs(const carom_plan *plan, carom_error *error) {
  for (int i = 0; i < plan->cost_count; i++) {
    double shift = cm_norm(plan->periodic.def.map.p) + cm_norm(plan->periodic.def.reach);
    bool transport = plan->costs[i].kind == CAROM_COST_TRANSPORT;
    if (!transport || (plan->periodic.set && shift > 0 && cm_norm(plan->model->gravity) > 0)) continue;
    return carom_fail(error, CAROM_ERR_ARGUMENT,
                      "a cost of transport is work over weight and way: it needs a periodic motion with a shift, and "
                      "gravity");
  }
  return CAROM_OK;
}

carom_status carom_plan_solve_start(carom_plan *plan, const carom_plan_options *options, int number,
                                    carom_plan_report *report, carom_error *error) {
  carom_plan_options o = *options;
  *report = (carom_plan_report){.guess = o.guess, .smallest_gap = INFINITY, .swept_gap = INFINITY};
  report->start = number, report->starts = 1;
  plan->variation = number;
  if (number > 0) o.log_path = NULL;
  double begin = carom_clock();
  solve s = {.plan = plan, .options = &o, .report = report};
  carom_status status = carom_plan_check(plan, error);
  if (status == CAROM_OK) status = check_costs(plan, error);
  plan->extra_margin = 0;
  // From an earlier answer, all but the last digits are known.
  plan->sharp = o.guess == CAROM_GUESS_MOTION && number == 0 && plan->def.avoidance == CAROM_AVOID_NESTED;
  plan->history_count = 0;
  for (int i = 0; i < plan->contact_count; i++) carom_complement_open(&plan->contacts[i]);
  if (status == CAROM_OK) status = carom_guess_make(plan, &report->guess, o.seed, error);
  s.warm = status == CAROM_OK && report->guess == CAROM_GUESS_MOTION && number == 0;
  if (status == CAROM_OK && report->guess != CAROM_GUESS_FORWARD && !(s.warm && plan->warm.has_forces))
    status = carom_guess_forces(plan, error);
  bool impossible = false;
  if (status == CAROM_OK) status = carom_plan_check_places(plan, report, &impossible, error);
  if (status == CAROM_OK && (impossible || ends_overlap(plan, report))) {
    report->outcome = CAROM_PLAN_INFEASIBLE;
    report->seconds = carom_clock() - begin;
    return CAROM_OK;
  }
  if (status == CAROM_OK) status = carom_path_copy(plan, &plan->path, &plan->first, error);
  if (status == CAROM_OK) status = transcribe_and_solve(&s, barrier_of(&s), error);
  if (status == CAROM_OK) status = settle_features(&s, error);
  if (status == CAROM_OK) status = sharpen(&s, error);
  for (int i = 0; i < o.refinements && status == CAROM_OK && report->outcome == CAROM_PLAN_SOLVED; i++)
    status = refine_all(&s, error);
  if (status == CAROM_OK) status = sweep_all(&s, error);
  if (status == CAROM_OK) report->complementarity = carom_complement_residual(plan);
  if (status == CAROM_OK) report->momentum_defect = carom_plan_worst_defect(plan);
  for (int k = 0; status == CAROM_OK && k <= plan->path.K && plan->penalty_count; k++)
    report->overlap = fmax(report->overlap, carom_plan_overlap(plan, k));
  report->seconds = carom_clock() - begin;
  carom_release(&plan->allocator, s.g);
  return status;
}

carom_status carom_plan_solve(carom_plan *plan, const carom_plan_options *options, carom_plan_report *report,
                              carom_error *error) {
  carom_plan_options o = options ? *options : carom_plan_default_options();
  carom_plan_report own;
  if (!report) report = &own;
  carom_status status = carom_plan_check(plan, error);
  if (status != CAROM_OK) return status;
  if (o.starts > 1) return carom_plan_solve_starts(plan, &o, report, error);
  status = carom_plan_solve_start(plan, &o, o.first_start, report, error);
  report->solved_starts = report->outcome == CAROM_PLAN_SOLVED;
  return status;
}

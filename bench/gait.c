// Gaits: the step of the planar biped against the same program given to a dense SQP; its cost over K; and how many of
// many random first guesses come to a gait, and whether each verdict is true.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "carom/plan.h"
#include "plan_dense.h"

typedef struct options {
  const char *examples, *json;
  double seconds;  // for each dense solve; 0 leaves them out
  int starts, intervals;
} options;

static carom_plan_file *read_gait(const options *o, int K) {
  char path[512], intervals[60];
  const char *overrides[] = {intervals, "costs=[{effort: 1}]"};
  snprintf(path, sizeof path, "%s/gait-planar/problem.yaml", o->examples);
  snprintf(intervals, sizeof intervals, "horizon.intervals=%d", K);
  carom_scene_options s = carom_scene_default_options();
  s.overrides = overrides, s.override_count = 2;
  carom_diagnostics found = {0};
  carom_plan_file *file = NULL;
  if (carom_plan_read(path, &s, NULL, &file, &found) != CAROM_OK)
    fprintf(stderr, "%s: %s\n", path, found.count ? found.items[0].message : "cannot be read");
  carom_diagnostics_release(&found);
  return file;
}

// ---- against a dense solver ----------------------------------------------------------------------------------------

#ifdef BENCH_NLOPT

static void log_dense(bench_log *log, int K, const carom_plan_report *r, const bench_dense *d, bool cut) {
  bench_log_begin(log, "dense");
  bench_log_number(log, "K", K);
  bench_log_number(log, "sparse_seconds", r->seconds);
  bench_log_number(log, "sparse_cost", r->cost);
  bench_log_number(log, "dense_seconds", d->seconds);
  bench_log_number(log, "dense_cost", d->cost);
  bench_log_number(log, "dense_violation", d->violation);
  bench_log_number(log, "dense_was_cut", cut);
  bench_log_number(log, "ratio", d->seconds / r->seconds);
  bench_log_end(log);
}

static void against_dense(const options *o, bench_log *log, int K) {
  carom_plan_file *file = read_gait(o, K);
  carom_plan_report r;
  if (file && carom_plan_solve(file->plan, &file->options, &r, NULL) == CAROM_OK &&
      bench_prepare_plan(file->plan, file->options.guess)) {
    bench_dense d = bench_solve_dense(&file->plan->program, o->seconds);
    bool cut = d.seconds >= o->seconds || d.violation > 1e-5;  // no answer yet, or none at all
    printf("  %4d   %8.2f  %5d  %10.4g   %s%8.2f  %5d  %10.4g  %9.1e   %s%.0f\n", K, r.seconds, r.iterations, r.cost,
           cut ? ">" : " ", d.seconds, d.evaluations, d.cost, d.violation, cut ? ">" : " ", d.seconds / r.seconds);
    fflush(stdout);
    log_dense(log, K, &r, &d, cut);
  }
  carom_plan_file_destroy(file);
}

static void dense_table(const options *o, bench_log *log) {
  printf(
      "one step of the planar biped of least effort; dense: NLopt %s SLSQP on the same program, at most %g s each; >: "
      "cut "
      "off, or not feasible\n  %4s   %8s  %5s  %10s   %9s  %5s  %10s  %9s   ratio\n",
      BENCH_NLOPT, o->seconds, "K", "sparse/s", "its", "cost", "dense/s", "evals", "cost", "violation");
  static const int sizes[] = {10, 20, 80};
  for (int i = 0; i < 3; i++) against_dense(o, log, sizes[i]);
}

#else

static void dense_table(const options *o, bench_log *log) {
  (void)o, (void)log;
  printf("(built without NLopt: no dense peer)\n");
}

#endif

// ---- over K --------------------------------------------------------------------------------------------------------

enum { SIZES = 6 };

static void over_intervals(const options *o, bench_log *log) {
  double x[SIZES], y[SIZES];
  int count = 0;
  printf("\nover K\n  %4s   %8s  %5s  %12s  %14s  %18s\n", "K", "seconds", "its", "ms/iteration", "cost", "difference");
  double before = NAN;
  for (int K = 20; K <= 640; K *= 2) {
    carom_plan_file *file = read_gait(o, K);
    carom_plan_report r;
    if (file && carom_plan_solve(file->plan, &file->options, &r, NULL) == CAROM_OK) {
      double ms = 1e3 * r.solver_seconds / (r.iterations + 1);
      printf("  %4d   %8.2f  %5d  %12.2f  %14.8g  %18.2e\n", K, r.seconds, r.iterations, ms, r.cost, r.cost - before);
      fflush(stdout);
      before = r.cost;
      x[count] = K, y[count++] = ms;
      bench_log_begin(log, "intervals");
      bench_log_number(log, "K", K);
      bench_log_number(log, "seconds", r.seconds);
      bench_log_number(log, "milliseconds", ms);
      bench_log_number(log, "cost", r.cost);
      bench_log_end(log);
    }
    carom_plan_file_destroy(file);
  }
  double exponent = count > 1 ? bench_fit_exponent(count, x, y) : NAN;
  printf("  exponent of the time an iteration over K: %.2f (1 is linear)\n", exponent);
  bench_log_begin(log, "exponent");
  bench_log_number(log, "exponent", exponent);
  bench_log_end(log);
}

// ---- random first guesses ------------------------------------------------------------------------------------------

static double distance(const carom_state *a, const carom_state *b, int bodies) {
  double worst = 0;
  for (int i = 0; i < bodies; i++) {
    carom_vec3 x = cm_sub(a->x[i], b->x[i]), p = cm_sub(a->p[i], b->p[i]), l = cm_sub(a->l[i], b->l[i]);
    worst = fmax(worst, fmax(cm_norm(x), fmax(cm_norm(p), cm_norm(l))));
  }
  return worst;
}

// How far the end of a step, legs in each other's places, is from its beginning.
static double closure(const carom_plan *plan) {
  carom_state *first = NULL, *last = NULL;
  double worst = INFINITY;
  if (carom_state_clone(plan->start, NULL, &first, NULL) == CAROM_OK &&
      carom_state_clone(plan->start, NULL, &last, NULL) == CAROM_OK) {
    carom_plan_state(plan, 0, true, first);
    carom_plan_state(plan, carom_plan_node_count(plan) - 1, true, last);
    carom_plan_wrap(plan, last);
    worst = distance(first, last, plan->model->body_count);
  }
  carom_state_destroy(first);
  carom_state_destroy(last);
  return worst;
}

// Whether an answer is a gait, by other books than the solver's.
static bool is_gait(const carom_plan *plan) {
  carom_plan_work w = carom_plan_find_work(plan);
  carom_plan_feet f = carom_plan_find_feet(plan);
  double net = w.kinds[CAROM_POWER_NET];
  return closure(plan) < 1e-8 && fabs(net - w.loss) < 1e-7 && f.least_push > -1e-7 && f.steepest < 0.8 + 1e-7 &&
         f.clearance > -1e-3;
}

static void random_starts(const options *o, bench_log *log) {
  int solved = 0, passed = 0, untrue = 0;
  double least = INFINITY, most = 0;
  for (int i = 0; i < o->starts; i++) {
    carom_plan_file *file = read_gait(o, o->intervals);
    carom_plan_report r;
    carom_replay_report replay;
    if (!file) return;
    file->options.first_start = i + 1;
    if (carom_plan_solve(file->plan, &file->options, &r, NULL) == CAROM_OK) {
      bool good = r.outcome == CAROM_PLAN_SOLVED, replayed = false;
      if (good) replayed = carom_plan_replay(file->plan, &replay, NULL) == CAROM_OK;
      carom_verdict v = carom_plan_judge(&r, replayed ? &replay : NULL);
      bool passes = v.pass;
      solved += good, passed += passes, untrue += passes && !(replayed && is_gait(file->plan));
      if (good) least = fmin(least, r.cost), most = fmax(most, r.cost);
      fprintf(stderr, "start %d: %s, %d iterations, cost %g\n", i + 1,
              passes ? "pass"
              : good ? "solved"
                     : r.message,
              r.iterations, r.cost);
    }
    carom_plan_file_destroy(file);
  }
  printf("\n%d random first guesses, K = %d: %d solved, %d pass, of which %d are no gaits; costs %.6g to %.6g\n",
         o->starts, o->intervals, solved, passed, untrue, least, most);
  bench_log_begin(log, "starts");
  bench_log_number(log, "count", o->starts);
  bench_log_number(log, "solved", solved);
  bench_log_number(log, "passed", passed);
  bench_log_number(log, "untrue", untrue);
  bench_log_end(log);
}

static bool parse(int argc, char **argv, options *o) {
  *o = (options){.examples = CAROM_EXAMPLES, .seconds = 150, .starts = 100, .intervals = 40};
  for (int i = 1; i + 1 < argc; i += 2) {
    if (strcmp(argv[i], "--json") == 0)
      o->json = argv[i + 1];
    else if (strcmp(argv[i], "--seconds") == 0)
      o->seconds = atof(argv[i + 1]);
    else if (strcmp(argv[i], "--starts") == 0)
      o->starts = atoi(argv[i + 1]);
    else if (strcmp(argv[i], "--intervals") == 0)
      o->intervals = atoi(argv[i + 1]);
    else
      return false;
  }
  return argc % 2 == 1 && o->seconds >= 0 && o->starts >= 0 && o->intervals > 0;
}

int main(int argc, char **argv) {
  options o;
  bench_log log = {NULL};
  if (!parse(argc, argv, &o) || !carom_plan_available()) {
    fprintf(stderr, "usage: carom_bench_gait [--seconds LIMIT] [--starts N] [--intervals K] [--json FILE]\n");
    return 2;
  }
  if (o.json && !bench_log_open(&log, o.json, "gait")) fprintf(stderr, "%s cannot be written\n", o.json);
  if (o.seconds > 0) dense_table(&o, &log);
  over_intervals(&o, &log);
  if (o.starts > 0) random_starts(&o, &log);
  bench_log_close(&log);
  return 0;
}

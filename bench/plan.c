// Planning: the sparse transcription with Ipopt against the same program, from the same start and with the same first
// derivatives, given to a dense SQP (NLopt's SLSQP, as users of fmincon would); cost per iteration over K; nested
// against lifted avoidance; the examples in full against published figures.
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
} options;

typedef struct problem {
  const char *name, *method;  // of avoidance
  double T;
  double contact[2];  // planned contacts, as fractions of the duration; 0: none
  double published;   // factor by which the effort falls
  const char *whole;  // method for the problem in full
} problem;

// Where avoidance makes most of the rows it is nested, so that the dense solver has fewer of them.
static const problem wall = {"plan-wall", "lifted", 0.75, {0.3, 0}, 0, NULL};
static const problem problems[] = {{"plan-wall", "lifted", 0.75, {0.3, 0}, 0, NULL},
                                   {"plan-two-cubes", "lifted", 0.5, {0.4, 0.78}, 0, NULL},
                                   {"plan-satellites", "nested", 0.30, {0, 0}, 1.44, "nested"},
                                   {"plan-burr", "nested", 0.29, {0, 0}, 1348, "nested"},
                                   {"plan-manipulator", "nested", 0.30, {0, 0}, 705, "lifted"}};
enum { PROBLEMS = sizeof problems / sizeof *problems };

static carom_plan_file *read_problem(const options *o, const problem *p, const char *method, int K, bool sweep) {
  char path[512], texts[5][100];
  const char *overrides[5];
  int count = 0;
  snprintf(path, sizeof path, "%s/%s/problem.yaml", o->examples, p->name);
  snprintf(texts[count++], 100, "horizon={intervals: %d, duration: %g s}", K, p->T);
  snprintf(texts[count++], 100, "avoid.method=%s", method);
  snprintf(texts[count++], 100, "solver.sweep=%s", sweep ? "true" : "false");
  for (int i = 0; i < 2 && p->contact[i] > 0; i++)
    snprintf(texts[count++], 100, "contacts.%d.node=%d", i, (int)lround(p->contact[i] * K));
  for (int i = 0; i < count; i++) overrides[i] = texts[i];
  carom_scene_options s = carom_scene_default_options();
  s.overrides = overrides, s.override_count = count;
  carom_diagnostics found = {0};
  carom_plan_file *file = NULL;
  if (carom_plan_read(path, &s, NULL, &file, &found) != CAROM_OK)
    fprintf(stderr, "%s: %s\n", path, found.count ? found.items[0].message : "cannot be read");
  carom_diagnostics_release(&found);
  return file;
}

static const char *outcome_text(carom_plan_outcome outcome) {
  static const char *const texts[] = {"solved", "infeasible", "limit", "stopped", "failed"};
  return texts[outcome];
}

#ifdef BENCH_NLOPT

// Whether the dense solver came far enough for a larger problem to be worth while.
static bool against_dense(const options *o, bench_log *log, const problem *p, int K) {
  bool moved = false;
  carom_plan_file *file = read_problem(o, p, p->method, K, false);
  carom_plan_report report;
  if (!file) return false;
  if (carom_plan_solve(file->plan, &file->options, &report, NULL) == CAROM_OK &&
      bench_prepare_plan(file->plan, file->options.guess)) {
    bench_dense d = bench_solve_dense(&file->plan->program, o->seconds);
    moved = d.evaluations >= 5;
    bool cut = d.seconds >= o->seconds || d.violation > 1e-5;  // no answer yet, or none at all
    double each = (d.seconds / (d.evaluations + 1)) / (report.seconds / (report.iterations + 1));
    printf("  %-17s %5d  %9d   %9.3f  %5d  %10.4g  %-10s %s%9.2f  %5d  %10.4g  %9.1e  %s%6.0f  %9.0f\n", p->name, K,
           file->plan->program.n, report.seconds, report.iterations, report.cost, outcome_text(report.outcome),
           cut ? ">" : " ", d.seconds, d.evaluations, d.cost, d.violation, cut ? ">" : " ", d.seconds / report.seconds,
           each);
    fflush(stdout);
    bench_log_begin(log, "dense");
    bench_log_text(log, "problem", p->name);
    bench_log_number(log, "K", K);
    bench_log_number(log, "sparse_seconds", report.seconds);
    bench_log_number(log, "dense_seconds", d.seconds);
    bench_log_number(log, "dense_violation", d.violation);
    bench_log_number(log, "dense_was_cut", cut);
    bench_log_number(log, "ratio", d.seconds / report.seconds);
    bench_log_number(log, "ratio_per_iteration", each);
    bench_log_end(log);
  }
  carom_plan_file_destroy(file);
  return moved;
}

#endif

static void per_iteration(const options *o, bench_log *log) {
  static const int sizes[] = {30, 100, 300, 1000};
  double x[4], y[4];
  int count = 0;
  printf("\ncost per iteration (plan-wall)\n      K   variables   its   ms/iteration   us/(iteration K)\n");
  for (int i = 0; i < 4; i++) {
    carom_plan_file *file = read_problem(o, &wall, "lifted", sizes[i], false);
    carom_plan_report report;
    if (!file) continue;
    file->options.max_iterations = 60;
    if (carom_plan_solve(file->plan, &file->options, &report, NULL) == CAROM_OK) {
      double ms = 1e3 * report.solver_seconds / (report.iterations + 1);
      printf("  %5d   %9d  %4d   %12.2f   %16.1f\n", sizes[i], report.variables, report.iterations, ms,
             1e3 * ms / sizes[i]);
      fflush(stdout);
      x[count] = sizes[i], y[count++] = ms;
      bench_log_begin(log, "iteration");
      bench_log_number(log, "K", sizes[i]);
      bench_log_number(log, "milliseconds", ms);
      bench_log_end(log);
    }
    carom_plan_file_destroy(file);
  }
  double exponent = count > 1 ? bench_fit_exponent(count, x, y) : NAN;
  printf("  exponent over K: %.2f (1 is linear)\n", exponent);
  bench_log_begin(log, "exponent");
  bench_log_number(log, "exponent", exponent);
  bench_log_end(log);
}

// Factor: by which the effort falls below that of the first guess; what the literature reached is beside it.
static void solve_problem(const options *o, bench_log *log, const problem *p, const char *method, int K) {
  carom_plan_file *file = read_problem(o, p, method, K, true);
  carom_plan_report r;
  if (!file) return;
  if (carom_plan_solve(file->plan, &file->options, &r, NULL) == CAROM_OK) {
    double factor = r.guess_cost / r.cost;
    printf("  %-17s %-7s %4d  %9d  %11d  %5d  %8.2f  %-10s %10.4g  %8.1e  %8.1e  %9.1e  %7.0f  %9g\n", p->name, method,
           K, r.variables, r.constraints, r.iterations, r.seconds, outcome_text(r.outcome), r.cost, r.violation,
           r.momentum_defect, r.swept_gap, factor, p->published);
    fflush(stdout);
    bench_log_begin(log, "problem");
    bench_log_text(log, "problem", p->name);
    bench_log_text(log, "avoidance", method);
    bench_log_number(log, "K", K);
    bench_log_text(log, "outcome", outcome_text(r.outcome));
    bench_log_number(log, "seconds", r.seconds);
    bench_log_number(log, "iterations", r.iterations);
    bench_log_number(log, "cost", r.cost);
    bench_log_number(log, "factor", factor);
    bench_log_number(log, "published", p->published);
    bench_log_number(log, "violation", r.violation);
    bench_log_number(log, "momentum", r.momentum_defect);
    bench_log_number(log, "swept_gap", r.swept_gap);
    bench_log_end(log);
  }
  carom_plan_file_destroy(file);
}

static void print_head(const char *title) {
  printf("\n%s\n  %-17s %-7s %4s  %9s  %11s  %5s  %8s  %-10s %10s  %8s  %8s  %9s  %7s  %9s\n", title, "name", "method",
         "K", "variables", "constraints", "its", "seconds", "outcome", "cost", "violation", "momentum", "swept gap",
         "factor", "published");
}

static void nested_against_lifted(const options *o, bench_log *log) {
  print_head("nested and lifted avoidance");
  for (int i = 0; i < PROBLEMS; i++)
    for (int lifted = 0; lifted < 2 && problems[i].published > 0; lifted++)
      solve_problem(o, log, &problems[i], lifted ? "lifted" : "nested", 10);
}

static void whole_problems(const options *o, bench_log *log) {
  print_head("the problems of the literature in full");
  for (int i = 0; i < PROBLEMS; i++)
    if (problems[i].published > 0)
      solve_problem(o, log, &problems[i], problems[i].whole, (int)lround(problems[i].T / 0.01));
}

static bool parse(int argc, char **argv, options *o) {
  *o = (options){.examples = CAROM_EXAMPLES, .seconds = 15};
  for (int i = 1; i + 1 < argc; i += 2) {
    if (strcmp(argv[i], "--json") == 0)
      o->json = argv[i + 1];
    else if (strcmp(argv[i], "--seconds") == 0)
      o->seconds = atof(argv[i + 1]);
    else if (strcmp(argv[i], "--examples") == 0)
      o->examples = argv[i + 1];
    else
      return false;
  }
  return argc % 2 == 1 && o->seconds >= 0;
}

int main(int argc, char **argv) {
  options o;
  bench_log log = {NULL};
  if (!parse(argc, argv, &o) || !carom_plan_available()) {
    fprintf(stderr, "usage: carom_bench_plan [--examples FOLDER] [--seconds LIMIT] [--json FILE]\n");
    return 2;
  }
  if (o.json && !bench_log_open(&log, o.json, "plan")) fprintf(stderr, "%s cannot be written\n", o.json);
#ifdef BENCH_NLOPT
  printf(
      "sparse: Ipopt, exact Hessian; dense: NLopt %s SLSQP on the same program, at most %g s each; >: cut off, or not "
      "feasible; last column: ratio per iteration\n",
      BENCH_NLOPT, o.seconds);
  printf("  %-17s %5s  %9s   %9s  %5s  %10s  %-10s %10s  %5s  %10s  %9s  %7s  %9s\n", "name", "K", "variables",
         "sparse (s)", "its", "cost", "", "dense (s)", "evals", "cost", "violation", "ratio", "each");
  for (int i = 0; i < PROBLEMS && o.seconds > 0; i++)
    for (int K = 10; K <= 30 && against_dense(&o, &log, &problems[i], K); K += 10) continue;
#else
  printf("(built without NLopt: no dense peer)\n");
#endif
  per_iteration(&o, &log);
  nested_against_lifted(&o, &log);
  whole_problems(&o, &log);
  bench_log_close(&log);
  return 0;
}

// What `carom root` says: the table of roots, runs step by step, and both as JSON.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/root.h"

enum { MOST_ROWS = 40 };

// ---- text -----------------------------------------------------------------------------------------------------------

static void print_percent(const char *before, double rate, carom_interval w) {
  cli_print(stdout, "%s%.1f %% (%.1f to %.1f %%)\n", before, 100 * rate, 100 * w.low, 100 * w.high);
}

static void print_head(const cli_root_run *r) {
  const carom_root_set *set = r->set;
  for (int i = 0; i < r->count; i++) cli_print(stdout, "%s%s = 0", i > 0 ? ", " : "", r->expressions[i]);
  cli_print(stdout, " by %s\n", carom_root_method_name(r->options.method));
  if (set->run_count == 1) return;
  cli_print(stdout, "%lld of %lld runs found a root: ", (long long)set->outcomes[CAROM_ROOT_FOUND],
            (long long)set->run_count);
  print_percent("", (double)set->outcomes[CAROM_ROOT_FOUND] / (double)set->run_count, set->rate);
}

static void print_roots(const cli_root_run *r) {
  const carom_root_set *set = r->set;
  char name[80];
  for (int i = 0; i < set->n && set->count > 0; i++) cli_print(stdout, "%24s", cli_root_axis(r, i, name, sizeof name));
  if (set->count > 0) cli_print(stdout, "%9s %7s %11s %9s %9s\n", "runs", "rate", "iterations", "|f|", "|step|");
  for (int k = 0; k < set->count && k < MOST_ROWS; k++) {
    const carom_root *root = &set->roots[k];
    for (int i = 0; i < set->n; i++) cli_print(stdout, "%24.16g", root->x[i]);
    cli_print(stdout, "%9lld %5.1f %% %11.1f %9.1e %9.1e\n", (long long)root->hits,
              100 * (double)root->hits / (double)set->run_count, root->iterations, root->residual, root->step);
  }
  if (set->count > MOST_ROWS) cli_print(stdout, "... %d more roots; --json lists them all\n", set->count - MOST_ROWS);
}

// What became of the runs that found nothing, and what may help them.
static const char *const remedies[CAROM_ROOT_OUTCOMES] = {
    [CAROM_ROOT_LIMIT] = "came to no root in time: allow more iterations (--max-iterations), or try another start",
    [CAROM_ROOT_FLAT] = "came to where |f| is small and flattens out: no root is there; try another start",
    [CAROM_ROOT_SINGULAR] = "met f' = 0 (a singular Jacobian): try another start",
    [CAROM_ROOT_FAR] = "ran off (--bound): try another start",
    [CAROM_ROOT_NO_NUMBER] = "came to where f or f' is no finite number: begin nearer to a root",
};

static void print_losses(const carom_root_set *set) {
  for (int k = CAROM_ROOT_FOUND + 1; k < CAROM_ROOT_OUTCOMES; k++)
    if (set->outcomes[k] > 0)
      cli_print(stdout, "%lld run%s %s\n", (long long)set->outcomes[k], set->outcomes[k] > 1 ? "s" : "", remedies[k]);
}

void cli_root_print(const cli_root_run *r) {
  const carom_root_set *set = r->set;
  print_head(r);
  print_roots(r);
  if (set->count == 0) cli_print(stdout, "no root found\n");
  print_losses(set);
  cli_print(stdout, "%lld evaluations of f, %lld of its derivative\n", (long long)set->f_evaluations,
            (long long)set->slope_evaluations);
  if (r->page) cli_print(stdout, "page: %s\n", r->page);
}

// ---- JSON -----------------------------------------------------------------------------------------------------------

static void json_vector(cli_json *json, const char *name, const double *x, int n) {
  cli_json_open(json, name, '[');
  for (int i = 0; i < n; i++) cli_json_number(json, NULL, x[i]);
  cli_json_close(json, ']');
}

static void json_interval(cli_json *json, const char *name, carom_interval w) {
  json_vector(json, name, (double[]){w.low, w.high}, 2);
}

static void json_root(cli_json *json, const carom_root_set *set, const carom_root *root) {
  cli_json_open(json, NULL, '{');
  json_vector(json, "x", root->x, set->n);
  CLI_MEMBERS(json, CLI_I("hits", root->hits), CLI_N("rate", (double)root->hits / (double)set->run_count));
  json_interval(json, "rate_interval", root->rate);
  CLI_MEMBERS(json, CLI_N("iterations", root->iterations), CLI_N("residual", root->residual), CLI_N("step", root->step),
              CLI_I("first", root->first));
  cli_json_close(json, '}');
}

static void json_head(cli_json *json, const cli_root_run *r) {
  char name[80];
  cli_json_open(json, "expressions", '[');
  for (int i = 0; i < r->count; i++) cli_json_text(json, NULL, r->expressions[i]);
  cli_json_close(json, ']');
  cli_json_open(json, "unknowns", '[');
  for (int i = 0; i < r->problem.n; i++) cli_json_text(json, NULL, cli_root_axis(r, i, name, sizeof name));
  cli_json_close(json, ']');
  cli_json_text(json, "method", carom_root_method_name(r->options.method));
}

void cli_root_print_json(const cli_root_run *r) {
  const carom_root_set *set = r->set;
  cli_json json = cli_json_begin(stdout);
  json_head(&json, r);
  cli_json_integer(&json, "runs", set->run_count);
  cli_json_open(&json, "outcomes", '{');
  for (int k = 0; k < CAROM_ROOT_OUTCOMES; k++)
    cli_json_integer(&json, carom_root_outcome_name((carom_root_outcome)k), set->outcomes[k]);
  cli_json_close(&json, '}');
  cli_json_number(&json, "rate", (double)set->outcomes[CAROM_ROOT_FOUND] / (double)set->run_count);
  json_interval(&json, "rate_interval", set->rate);
  cli_json_open(&json, "roots", '[');
  for (int k = 0; k < set->count; k++) json_root(&json, set, &set->roots[k]);
  cli_json_close(&json, ']');
  CLI_MEMBERS(&json, CLI_I("f_evaluations", set->f_evaluations), CLI_I("slope_evaluations", set->slope_evaluations));
  if (r->page) cli_json_text(&json, "page", r->page);
  cli_json_end(&json);
}

// ---- one run --------------------------------------------------------------------------------------------------------

typedef struct tracer {
  const cli_root_run *r;
  cli_json *json;  // null: as text
} tracer;

static void print_moment(const tracer *t, const carom_root_moment *m) {
  int n = t->r->problem.n;
  double size = 0;
  for (int i = 0; i < n; i++) size = isnan(m->f[i]) ? NAN : fmax(size, fabs(m->f[i]));
  cli_print(stdout, "%4d %9.6f", m->k, m->g);
  for (int i = 0; i < n; i++) cli_print(stdout, "%24.16g", m->x[i]);
  cli_print(stdout, "%11.2e\n", size);
}

static void json_moment(cli_json *json, const carom_root_moment *m, int n) {
  cli_json_open(json, NULL, '{');
  cli_json_integer(json, "k", m->k);
  cli_json_number(json, "g", m->g);
  json_vector(json, "x", m->x, n);
  json_vector(json, "predicted", m->predicted, n);
  json_vector(json, "f", m->f, n);
  cli_json_close(json, '}');
}

static void watch(void *context, const carom_root_moment *moment) {
  const tracer *t = context;
  if (t->json)
    json_moment(t->json, moment, t->r->problem.n);
  else
    print_moment(t, moment);
}

static void begin_trace(const tracer *t) {
  char name[80];
  if (t->json) {
    json_head(t->json, t->r);
    cli_json_open(t->json, "trace", '[');
    return;
  }
  cli_print(stdout, "%4s %9s", "k", "g");
  for (int i = 0; i < t->r->problem.n; i++) cli_print(stdout, "%24s", cli_root_axis(t->r, i, name, sizeof name));
  cli_print(stdout, "%11s\n", "|f|");
}

static void end_trace(const tracer *t, const carom_root_info *info) {
  const char *outcome = carom_root_outcome_name(info->outcome);
  if (t->json) {
    cli_json_close(t->json, ']');
    CLI_MEMBERS(t->json, CLI_T("outcome", outcome), CLI_I("iterations", info->iterations),
                CLI_N("residual", info->residual), CLI_N("step", info->step),
                CLI_I("f_evaluations", info->f_evaluations), CLI_I("slope_evaluations", info->slope_evaluations));
    cli_json_end(t->json);
    return;
  }
  if (info->outcome == CAROM_ROOT_FOUND)
    cli_print(stdout, "found after %d iterations, |f| %.1e, |step| %.1e\n", info->iterations, info->residual,
              info->step);
  else
    cli_print(stdout, "no root found: the run %s\n", remedies[info->outcome]);
}

int cli_root_trace(const cli_root_run *r, int64_t number, bool json) {
  int runs = r->options.method == CAROM_ROOT_MONTE_CARLO ? r->runs.runs : 1, n = r->problem.n;
  double x[CAROM_ROOT_MOST];
  carom_root_work *work;
  carom_root_info info;
  carom_error error;
  if (carom_root_work_create(n, NULL, &work, &error) != CAROM_OK) return cli_fail(&error);
  cli_json out = {0};
  tracer t = {r, json ? &out : NULL};
  if (json) out = cli_json_begin(stdout);
  begin_trace(&t);
  carom_root_options options = r->options;
  options.stream = (uint64_t)(number % runs), options.watch = watch, options.context = &t;
  memcpy(x, r->runs.starts + number / runs * n, (size_t)n * sizeof *x);
  carom_status status = carom_root_solve(work, &r->problem, &options, x, &info, &error);
  carom_root_work_destroy(work);
  if (status != CAROM_OK) return cli_fail(&error);
  end_trace(&t, &info);
  return info.outcome == CAROM_ROOT_FOUND ? EXIT_GOOD : EXIT_FAILED;
}

// What came of a design, for people and as JSON.
#include <math.h>

#include "cli/design.h"

const char *cli_design_ending(const cli_design_run *d) {
  static const char *const words[] = {"stopped", "converged", "budget spent"};
  carom_search_end end = carom_search_ending(carom_design_search(d->run.design));
  bool spent = d->run.cases->count >= d->problem->search.budget;
  return words[spent ? CAROM_SEARCH_SPENT : end];
}

const char *cli_design_fault(const cli_design_run *d, int64_t number, const carom_case *c) {
  if (!isnan(carom_design_value(d->run.design, number))) return NULL;
  if (c->reason[0]) return c->reason;
  return c->class_index == d->run.sweep->success ? "what is to be best is no finite number" : "not feasible";
}

static int64_t count_failed(const cli_design_run *d) {
  int64_t failed = 0;
  for (int64_t i = 0; i < d->run.cases->count; i++) failed += isnan(carom_design_value(d->run.design, i));
  return failed;
}

// ---- for people -----------------------------------------------------------------------------------------------------

static void print_case(const cli_design_run *d, int64_t number) {
  const carom_sweep *sweep = d->run.sweep;
  carom_case c = carom_cases_get(d->run.cases, number);
  cli_print(stdout, "  %4lld", (long long)number);
  for (int i = 0; i < sweep->sampling.axis_count; i++) cli_print(stdout, " %14.8g", c.values[i]);
  const char *fault = cli_design_fault(d, number, &c);
  if (fault)
    cli_print(stdout, " %16s  %.100s", "failed", fault);
  else
    cli_print(stdout, " %16.9g", carom_design_value(d->run.design, number));
  if (carom_design_is_revisit(d->run.design, number)) cli_print(stdout, "  once more");
  if (number == carom_design_best(d->run.design)) cli_print(stdout, "  best");
  cli_print(stdout, "\n");
}

static void print_best(const cli_design_run *d) {
  const carom_sweep *sweep = d->run.sweep;
  int64_t best = carom_design_best(d->run.design);
  if (best < 0) return;
  carom_case c = carom_cases_get(d->run.cases, best);
  cli_print(stdout, "\n  best    %s %.9g at", d->problem->maximize ? "greatest" : "least",
            carom_design_value(d->run.design, best));
  for (int i = 0; i < sweep->sampling.axis_count; i++)
    cli_print(stdout, "%s %s = %.8g%s%s", i ? "," : "", sweep->axes[i].name, c.values[i],
              sweep->axes[i].unit[0] ? " " : "", sweep->axes[i].unit);
  char path[CLI_CASE_PATH];
  cli_case_path(&d->run.keep, best, ".h5", path);
  cli_print(stdout, "\n  result  %s\n", path);
}

void cli_design_print(const cli_design_run *d) {
  const carom_sweep *sweep = d->run.sweep;
  int64_t count = d->run.cases->count;
  cli_print(stdout, "%s\n  %lld design%s (%lld failed) in %.3g s, method %s: %s\n\n  %4s", sweep->title,
            (long long)count, count == 1 ? "" : "s", (long long)count_failed(d), d->run.wall,
            carom_search_method_name(d->problem->search.method), cli_design_ending(d), "case");
  for (int i = 0; i < sweep->sampling.axis_count; i++) cli_print(stdout, " %14.14s", sweep->axes[i].name);
  cli_print(stdout, " %16s\n", d->problem->maximize ? "to be greatest" : "to be least");
  for (int64_t i = 0; i < count; i++) print_case(d, i);
  print_best(d);
  cli_print(stdout, "  table   %s, %s\n  page    %s (open it in a browser)\n", d->outputs[0], d->outputs[1],
            d->outputs[2]);
}

// ---- JSON -----------------------------------------------------------------------------------------------------------

static void json_inputs(cli_json *json, const cli_design_run *d, int64_t number) {
  const carom_sweep *sweep = d->run.sweep;
  carom_case c = carom_cases_get(d->run.cases, number);
  for (int i = 0; i < sweep->sampling.axis_count; i++) cli_json_number(json, sweep->axes[i].name, c.values[i]);
}

static void json_case(cli_json *json, const cli_design_run *d, int64_t number) {
  const carom_sweep *sweep = d->run.sweep;
  carom_case c = carom_cases_get(d->run.cases, number);
  cli_json_open(json, NULL, '{');
  cli_json_integer(json, "case", number);
  json_inputs(json, d, number);
  cli_json_number(json, "value", carom_design_value(d->run.design, number));
  for (int i = 0; i + 1 < sweep->outcome_count; i++)
    cli_json_number(json, sweep->outcomes[i], c.values[sweep->sampling.axis_count + i]);
  if (carom_design_warm_case(d->run.design, number) >= 0)
    cli_json_integer(json, "from", carom_design_warm_case(d->run.design, number));
  const char *fault = cli_design_fault(d, number, &c);
  if (fault) cli_json_text(json, "reason", fault);
  cli_json_close(json, '}');
}

void cli_design_print_json(const cli_design_run *d) {
  cli_json json = cli_json_begin(stdout);
  int64_t best = carom_design_best(d->run.design);
  CLI_MEMBERS(&json, CLI_T("title", d->run.sweep->title),
              CLI_T("method", carom_search_method_name(d->problem->search.method)),
              CLI_T("ending", cli_design_ending(d)), CLI_I("evaluations", d->run.cases->count),
              CLI_I("failed", count_failed(d)), CLI_B("maximize", d->problem->maximize), CLI_N("wall", d->run.wall));
  if (best >= 0) {
    cli_json_open(&json, "best", '{');
    CLI_MEMBERS(&json, CLI_I("case", best), CLI_N("value", carom_design_value(d->run.design, best)));
    json_inputs(&json, d, best);
    cli_json_close(&json, '}');
  }
  cli_json_open(&json, "designs", '[');
  for (int64_t i = 0; i < d->run.cases->count; i++) json_case(&json, d, i);
  cli_json_close(&json, ']');
  CLI_MEMBERS(&json, CLI_T("table", d->outputs[0]), CLI_T("csv", d->outputs[1]), CLI_T("page", d->outputs[2]));
  cli_json_end(&json);
}

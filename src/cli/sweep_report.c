// What came of a sweep, for people and as JSON.
#include <math.h>
#include <stdlib.h>

#include "cli/sweep.h"

typedef struct rates {
  int64_t run, *counts;  // (class_count)
} rates;

static bool count_classes(const cli_sweep_run *run, rates *r) {
  r->counts = calloc((size_t)run->sweep->class_count, sizeof *r->counts);
  if (!r->counts) return cli_error("out of memory for a report");
  r->run = carom_cases_count(run->cases, run->sweep, r->counts);
  return true;
}

// ---- for people -----------------------------------------------------------------------------------------------------

static void print_rates(const cli_sweep_run *run, const rates *r) {
  const carom_sweep *sweep = run->sweep;
  cli_print(stdout, "\n  %-16s %9s %8s   95 %% interval\n", "class", "cases", "rate");
  for (int i = 0; i < sweep->class_count; i++) {
    if (r->counts[i] == 0 && i >= sweep->class_count - 2) continue;
    carom_interval w = carom_wilson(r->counts[i], r->run, CAROM_Z95);
    cli_print(stdout, "  %-16s %9lld %7.2f%%   %.2f%% .. %.2f%%\n", sweep->classes[i], (long long)r->counts[i],
              r->run > 0 ? 100 * (double)r->counts[i] / (double)r->run : 0, 100 * w.low, 100 * w.high);
  }
}

static void print_failed(const cli_sweep_run *run, int64_t count) {
  int64_t shown = 0;
  if (count > 0)
    cli_print(stdout, "\n  failed cases ('carom sweep %s --case N' runs one, --failed all)\n", run->sweep->path);
  for (int64_t i = 0; i < run->cases->count && shown < 5; i++) {
    if (run->cases->classes[i] != run->sweep->class_count - 1) continue;
    carom_case c = carom_cases_get(run->cases, i);
    cli_print(stdout, "  %9lld  %.150s\n", (long long)i, c.reason);
    shown++;
  }
  if (shown < count) cli_print(stdout, "  and %lld more: see the page\n", (long long)(count - shown));
}

static void print_border(const cli_sweep_run *run) {
  const carom_sweep *sweep = run->sweep;
  int count = carom_border_count(run->border);
  cli_print(stdout, "\n  borders of '%s' along %s: %d\n", sweep->classes[sweep->success], sweep->axes[run->axis].name,
            count);
  for (int k = 0; k < count && k < 20; k++) {
    const carom_border_crossing *x = carom_border_at(run->border, k);
    carom_case c = carom_cases_get(run->cases, x->below);
    cli_print(stdout, "  %s %.8g .. %.8g %s", x->enters ? "begins at" : "ends at  ", x->low, x->high,
              sweep->axes[run->axis].unit);
    for (int i = 0; i < sweep->sampling.axis_count; i++)
      if (i != run->axis) cli_print(stdout, ", %s %.6g %s", sweep->axes[i].name, c.values[i], sweep->axes[i].unit);
    cli_print(stdout, "\n");
  }
  if (count > 20) cli_print(stdout, "  and %d more: see the page\n", count - 20);
}

// Outcomes, and the success itself as column -1.
static const char *column_name(const carom_sweep *sweep, int k) {
  return k < 0 ? sweep->classes[sweep->success] : sweep->outcomes[k];
}
static int column_of(const carom_sweep *sweep, int k) { return k < 0 ? -1 : sweep->sampling.axis_count + k; }

static void print_slopes(const cli_sweep_run *run) {
  const carom_sweep *sweep = run->sweep;
  double slopes[CAROM_MOST_AXES];
  cli_print(stdout, "\n  slopes at the centre, per unit of the axis\n");
  for (int k = 0; k < sweep->outcome_count; k++) {
    carom_cases_slopes(run->cases, sweep, column_of(sweep, k), slopes);
    for (int i = 0; i < sweep->sampling.axis_count; i++)
      cli_print(stdout, "  d %s / d %s  %.6g\n", sweep->outcomes[k], sweep->axes[i].name, slopes[i]);
  }
}

static void print_indices(const cli_sweep_run *run) {
  const carom_sweep *sweep = run->sweep;
  carom_sobol_index x[CAROM_MOST_SOBOL_AXES];
  int64_t used;
  for (int k = -1; k < sweep->outcome_count; k++) {
    if (carom_cases_sobol(run->cases, sweep, column_of(sweep, k), x, &used) != CAROM_OK) return;
    cli_print(stdout, "\n  Sobol indices of %s, from %lld points\n", column_name(sweep, k), (long long)used);
    for (int i = 0; i < sweep->sampling.axis_count; i++)
      cli_print(stdout, "  %-16s first %6.3f (%.3f .. %.3f)   total %6.3f (%.3f .. %.3f)\n", sweep->axes[i].name,
                x[i].first, x[i].first_interval.low, x[i].first_interval.high, x[i].total, x[i].total_interval.low,
                x[i].total_interval.high);
  }
}

void cli_sweep_print(const cli_sweep_run *run, const char *const outputs[3]) {
  rates r = {0};
  if (!count_classes(run, &r)) return;
  int processes = run->jobs + (run->ranks.count > 1 ? run->ranks.count - 1 : 0);
  cli_print(stdout, "%s\n  %lld cases in %.3g s by %d process%s\n", run->sweep->title, (long long)r.run, run->wall,
            processes, processes == 1 ? "" : "es");
  print_rates(run, &r);
  if (run->border) print_border(run);
  if (run->mode == CLI_SWEEP_SENSITIVITY) print_slopes(run);
  if (run->mode == CLI_SWEEP_SOBOL) print_indices(run);
  print_failed(run, r.counts[run->sweep->class_count - 1]);
  cli_print(stdout, "\n  table   %s, %s\n  page    %s (open it in a browser)\n", outputs[0], outputs[1], outputs[2]);
  free(r.counts);
}

// ---- JSON -----------------------------------------------------------------------------------------------------------

static void json_rates(cli_json *json, const cli_sweep_run *run, const rates *r) {
  cli_json_open(json, "classes", '[');
  for (int i = 0; i < run->sweep->class_count; i++) {
    carom_interval w = carom_wilson(r->counts[i], r->run, CAROM_Z95);
    cli_json_open(json, NULL, '{');
    CLI_MEMBERS(json, CLI_T("name", run->sweep->classes[i]), CLI_I("count", r->counts[i]),
                CLI_N("rate", r->run > 0 ? (double)r->counts[i] / (double)r->run : NAN), CLI_N("low", w.low),
                CLI_N("high", w.high));
    cli_json_close(json, '}');
  }
  cli_json_close(json, ']');
}

static void json_border(cli_json *json, const cli_sweep_run *run) {
  cli_json_open(json, "borders", '[');
  for (int k = 0; k < carom_border_count(run->border); k++) {
    const carom_border_crossing *x = carom_border_at(run->border, k);
    carom_case c = carom_cases_get(run->cases, x->below);
    cli_json_open(json, NULL, '{');
    CLI_MEMBERS(json, CLI_N("low", x->low), CLI_N("high", x->high), CLI_B("enters", x->enters),
                CLI_I("below", x->below), CLI_I("above", x->above));
    for (int i = 0; i < run->sweep->sampling.axis_count; i++)
      if (i != run->axis) cli_json_number(json, run->sweep->axes[i].name, c.values[i]);
    cli_json_close(json, '}');
  }
  cli_json_close(json, ']');
}

static void json_slopes(cli_json *json, const cli_sweep_run *run) {
  double slopes[CAROM_MOST_AXES];
  cli_json_open(json, "slopes", '{');
  for (int k = 0; k < run->sweep->outcome_count; k++) {
    carom_cases_slopes(run->cases, run->sweep, column_of(run->sweep, k), slopes);
    cli_json_open(json, run->sweep->outcomes[k], '{');
    for (int i = 0; i < run->sweep->sampling.axis_count; i++)
      cli_json_number(json, run->sweep->axes[i].name, slopes[i]);
    cli_json_close(json, '}');
  }
  cli_json_close(json, '}');
}

static void json_interval(cli_json *json, const char *name, carom_interval interval) {
  cli_json_open(json, name, '[');
  cli_json_number(json, NULL, interval.low);
  cli_json_number(json, NULL, interval.high);
  cli_json_close(json, ']');
}

static void json_indices(cli_json *json, const cli_sweep_run *run) {
  carom_sobol_index x[CAROM_MOST_SOBOL_AXES];
  int64_t used;
  cli_json_open(json, "sobol", '[');
  for (int k = -1; k < run->sweep->outcome_count; k++) {
    if (carom_cases_sobol(run->cases, run->sweep, column_of(run->sweep, k), x, &used) != CAROM_OK) break;
    for (int i = 0; i < run->sweep->sampling.axis_count; i++) {
      cli_json_open(json, NULL, '{');
      CLI_MEMBERS(json, CLI_T("of", column_name(run->sweep, k)), CLI_T("axis", run->sweep->axes[i].name),
                  CLI_I("points", used), CLI_N("first", x[i].first), CLI_N("total", x[i].total));
      json_interval(json, "first_interval", x[i].first_interval);
      json_interval(json, "total_interval", x[i].total_interval);
      cli_json_close(json, '}');
    }
  }
  cli_json_close(json, ']');
}

void cli_sweep_print_json(const cli_sweep_run *run, const char *const outputs[3]) {
  rates r = {0};
  if (!count_classes(run, &r)) return;
  cli_json json = cli_json_begin(stdout);
  CLI_MEMBERS(&json, CLI_T("title", run->sweep->title),
              CLI_T("design", run->border ? "border" : carom_design_name(run->sweep->sampling.design)),
              CLI_I("cases", r.run), CLI_T("success", run->sweep->classes[run->sweep->success]),
              CLI_N("wall", run->wall));
  json_rates(&json, run, &r);
  if (run->border) json_border(&json, run);
  if (run->mode == CLI_SWEEP_SENSITIVITY) json_slopes(&json, run);
  if (run->mode == CLI_SWEEP_SOBOL) json_indices(&json, run);
  CLI_MEMBERS(&json, CLI_T("table", outputs[0]), CLI_T("csv", outputs[1]), CLI_T("page", outputs[2]));
  cli_json_end(&json);
  free(r.counts);
}

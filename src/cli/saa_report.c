// What `carom saa` says: the decision, its costs, its bounds; and both as JSON.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/saa.h"

enum { MOST_ROWS = 40, MOST_SCENARIOS = 12 };

static const char *name_of(const char *const *names, int k, const char *letter, char *text, size_t size) {
  if (names) return names[k];
  snprintf(text, size, "%s%d", letter, k + 1);
  return text;
}

static const carom_saa_reason *reason_of(const cli_saa_run *r) { return &cli_saa_decision(r)->reason; }

const double *cli_saa_costs(const cli_saa_run *r, int *count) {
  *count = r->sampled ? r->report->cost_count : r->answer->count;
  return r->sampled ? r->report->costs : r->answer->cost;
}

// Prices that are zero but for rounding.
static double tidy(double price) { return fabs(price) < 1e-9 ? 0 : price; }

// ---- text -----------------------------------------------------------------------------------------------------------

static void print_head(const cli_saa_run *r) {
  const carom_saa_problem *p = &r->file->model.problem;
  cli_print(stdout, "%s\n", r->file->title[0] ? r->file->title : r->path);
  cli_print(stdout, "%d unknown%s now, %d in each scenario; %d row%s now, %d in each scenario, %d of expectations; ",
            p->n, p->n == 1 ? "" : "s", p->m, p->first_rows, p->first_rows == 1 ? "" : "s", p->rows, p->mean_rows);
  if (isfinite(r->file->combinations))
    cli_print(stdout, "%.12g scenario%s\n", r->file->combinations, r->file->combinations > 1 ? "s" : "");
  else
    cli_print(stdout, "scenarios without end\n");
}

static void print_decision(const cli_saa_run *r) {
  const carom_saa_problem *p = &r->file->model.problem;
  const carom_saa_answer *s = cli_saa_decision(r);
  char text[40];
  if (p->n > 0) cli_print(stdout, "%-24s %18s %14s\n", "decide now", "value", "price of bound");
  for (int k = 0; k < p->n && k < MOST_ROWS; k++)
    cli_print(stdout, "%-24s %18.10g %14.4g\n", name_of(p->x_names, k, "x", text, sizeof text), s->x[k],
              tidy(cli_saa_sign(r) * s->x_price[k]));
  if (p->n > MOST_ROWS) cli_print(stdout, "... %d more; --json lists them all\n", p->n - MOST_ROWS);
  for (int k = 0; k < p->first_rows && k < MOST_ROWS; k++)
    cli_print(stdout, "%-24s %18s %14.4g\n", name_of(p->first_names, k, "row ", text, sizeof text), "",
              tidy(cli_saa_sign(r) * s->first_price[k]));
  for (int k = 0; k < p->mean_rows && k < MOST_ROWS; k++)
    cli_print(stdout, "%-24s %18s %14.4g\n", name_of(p->mean_names, k, "expectation ", text, sizeof text), "",
              tidy(cli_saa_sign(r) * s->mean_price[k]));
}

static void print_scenarios(const cli_saa_run *r) {
  const carom_saa_answer *s = r->answer;
  char name[120];
  double base = s->objective;
  for (int i = 0; i < s->count; i++) base -= s->probability[i] * s->cost[i];
  cli_print(stdout, "%-40s %12s %18s\n", "scenario", "probability", cli_saa_word(r));
  for (int i = 0; i < s->count && i < MOST_SCENARIOS; i++) {
    r->file->scenarios.name(r->file->scenarios.context, i, name, sizeof name);
    cli_print(stdout, "%-40s %12.6g %18.10g\n", name, s->probability[i], cli_saa_sign(r) * (base + s->cost[i]));
  }
  if (s->count > MOST_SCENARIOS) cli_print(stdout, "... %d more; --json lists them all\n", s->count - MOST_SCENARIOS);
}

static void print_sizes(const cli_saa_run *r) {
  const carom_saa_report *p = r->report;
  double percent = 100 * r->sampling.confidence;
  cli_print(stdout, "%9s %14s %30s %14s %12s %12s\n", "scenarios", r->file->maximize ? "bound above" : "bound below",
            "interval", "candidate", "gap", "gap at most");
  for (int k = 0; k < p->size_count; k++) {
    const carom_saa_size *s = &p->sizes[k];
    double sign = cli_saa_sign(r), a = sign * s->lower.low, b = sign * s->lower.high;
    cli_print(stdout, "%9d %14.8g %14.8g to %12.8g %14.8g %12.4g %12.4g\n", s->scenarios, sign * s->mean, fmin(a, b),
              fmax(a, b), sign * s->upper, s->gap, s->gap_high);
  }
  cli_print(stdout, "(%.4g %% sure; %d replications of each size)\n", percent, r->sampling.replications);
}

static void print_value(const cli_saa_run *r) {
  const carom_saa_report *p = r->report;
  double sign = cli_saa_sign(r), a = sign * p->value_in.low, b = sign * p->value_in.high;
  if (p->valued)
    cli_print(stdout, "mean %s of the decision over %d scenarios of their own: %.10g (%.8g to %.8g)\n", cli_saa_word(r),
              p->cost_count, sign * p->value, fmin(a, b), fmax(a, b));
  else
    cli_print(stdout, "the decision fails in scenarios it was not made for: %s\n",
              p->doubt.message[0] ? p->doubt.message : "no answer was found there");
}

// How well the decision meets expectations over scenarios of their own.
static void print_expectations(const cli_saa_run *r) {
  const carom_saa_problem *p = &r->file->model.problem;
  char text[40];
  for (int k = 0; k < r->report->mean_count && k < MOST_ROWS; k++) {
    const carom_saa_expectation *e = &r->report->expectations[k];
    cli_print(stdout, "expectation of %s less its side: %.4g (%.4g to %.4g)\n",
              name_of(p->mean_names, k, "expectation ", text, sizeof text), e->mean, e->in.low, e->in.high);
  }
}

static void print_failure(const cli_saa_run *r) {
  carom_saa_outcome outcome = cli_saa_outcome(r);
  if (outcome == CAROM_SAA_LIMIT)
    cli_print(stdout, "no answer to the accuracy that was asked for: the residual is %.3g after %d iterations\n",
              cli_saa_decision(r)->residual, cli_saa_decision(r)->iterations);
  else
    cli_print(stdout, "%s: %s\n", carom_saa_outcome_name(outcome), reason_of(r)->message);
}

void cli_saa_print(const cli_saa_run *r) {
  const carom_saa_answer *s = cli_saa_decision(r);
  print_head(r);
  if (cli_saa_outcome(r) != CAROM_SAA_SOLVED) {
    print_failure(r);
    return;
  }
  if (r->sampled)
    print_sizes(r);
  else
    cli_print(stdout, "%s %s over all scenarios: %.12g\n", r->file->maximize ? "greatest" : "least", cli_saa_word(r),
              cli_saa_sign(r) * s->objective);
  print_decision(r);
  if (r->sampled)
    print_value(r), print_expectations(r);
  else
    print_scenarios(r);
  cli_print(stdout, "%d iterations, residual %.1e\n", s->iterations, s->residual);
  if (r->page) cli_print(stdout, "page: %s\n", r->page);
}

// ---- JSON -----------------------------------------------------------------------------------------------------------

static void json_values(cli_json *json, const char *name, const char *const *names, const char *letter, const double *v,
                        double sign, int count) {
  char text[40];
  cli_json_open(json, name, '[');
  for (int k = 0; k < count; k++) {
    cli_json_open(json, NULL, '{');
    CLI_MEMBERS(json, CLI_T("name", name_of(names, k, letter, text, sizeof text)), CLI_N("value", sign * v[k] + 0.0));
    cli_json_close(json, '}');
  }
  cli_json_close(json, ']');
}

static void json_interval(cli_json *json, const char *name, carom_interval w, double sign) {
  cli_json_open(json, name, '[');
  cli_json_number(json, NULL, sign > 0 ? w.low : -w.high);
  cli_json_number(json, NULL, sign > 0 ? w.high : -w.low);
  cli_json_close(json, ']');
}

static void json_decision(cli_json *json, const cli_saa_run *r) {
  const carom_saa_problem *p = &r->file->model.problem;
  const carom_saa_answer *s = cli_saa_decision(r);
  double sign = cli_saa_sign(r);
  json_values(json, "x", p->x_names, "x", s->x, 1, p->n);
  json_values(json, "x_prices", p->x_names, "x", s->x_price, sign, p->n);
  json_values(json, "row_prices", p->first_names, "row ", s->first_price, sign, p->first_rows);
  json_values(json, "expectation_prices", p->mean_names, "expectation ", s->mean_price, sign, p->mean_rows);
  CLI_MEMBERS(json, CLI_N("objective", sign * s->objective), CLI_N("dual_objective", sign * s->dual_objective),
              CLI_I("iterations", s->iterations), CLI_N("residual", s->residual));
}

static void json_scenarios(cli_json *json, const cli_saa_run *r) {
  const carom_saa_answer *s = r->answer;
  double base = s->objective;
  char name[120];
  for (int i = 0; i < s->count; i++) base -= s->probability[i] * s->cost[i];
  cli_json_open(json, "scenarios", '[');
  for (int i = 0; i < s->count; i++) {
    r->file->scenarios.name(r->file->scenarios.context, i, name, sizeof name);
    cli_json_open(json, NULL, '{');
    CLI_MEMBERS(json, CLI_T("name", name), CLI_N("probability", s->probability[i]),
                CLI_N("cost", cli_saa_sign(r) * (base + s->cost[i])));
    cli_json_close(json, '}');
  }
  cli_json_close(json, ']');
}

static void json_sizes(cli_json *json, const cli_saa_run *r) {
  double sign = cli_saa_sign(r);
  cli_json_open(json, "sizes", '[');
  for (int k = 0; k < r->report->size_count; k++) {
    const carom_saa_size *s = &r->report->sizes[k];
    cli_json_open(json, NULL, '{');
    CLI_MEMBERS(json, CLI_I("scenarios", s->scenarios), CLI_I("replications", s->replications),
                CLI_N("bound", sign * s->mean), CLI_N("variance", s->variance));
    json_interval(json, "bound_interval", s->lower, sign);
    cli_json_number(json, "candidate", sign * s->upper);
    json_interval(json, "candidate_interval", s->upper_in, sign);
    CLI_MEMBERS(json, CLI_N("gap", s->gap), CLI_N("gap_deviation", s->gap_deviation), CLI_N("gap_high", s->gap_high));
    cli_json_close(json, '}');
  }
  cli_json_close(json, ']');
}

static void json_expectations(cli_json *json, const cli_saa_run *r) {
  const carom_saa_problem *p = &r->file->model.problem;
  char text[40];
  cli_json_open(json, "expectations", '[');
  for (int k = 0; k < r->report->mean_count; k++) {
    const carom_saa_expectation *e = &r->report->expectations[k];
    cli_json_open(json, NULL, '{');
    CLI_MEMBERS(json, CLI_T("name", name_of(p->mean_names, k, "expectation ", text, sizeof text)),
                CLI_N("off", e->mean));
    json_interval(json, "interval", e->in, 1);
    cli_json_close(json, '}');
  }
  cli_json_close(json, ']');
}

static void json_report(cli_json *json, const cli_saa_run *r) {
  const carom_saa_report *p = r->report;
  json_sizes(json, r);
  CLI_MEMBERS(json, CLI_I("seed", (long long)r->sampling.seed), CLI_N("confidence", r->sampling.confidence),
              CLI_B("gap_reached", p->reached), CLI_I("solves", p->solves), CLI_B("valued", p->valued));
  if (p->valued) {
    CLI_MEMBERS(json, CLI_N("value", cli_saa_sign(r) * p->value), CLI_I("evaluated", p->cost_count));
    json_interval(json, "value_interval", p->value_in, cli_saa_sign(r));
    json_expectations(json, r);
  } else {
    cli_json_text(json, "doubt", p->doubt.message);
  }
}

static void json_reason(cli_json *json, const cli_saa_run *r) {
  const carom_saa_reason *why = reason_of(r);
  cli_json_open(json, "reason", '{');
  CLI_MEMBERS(json, CLI_T("message", why->message), CLI_T("scenario", why->name), CLI_T("part", why->part),
              CLI_B("alone", why->alone), CLI_N("proof", why->proof));
  cli_json_close(json, '}');
}

void cli_saa_print_json(const cli_saa_run *r) {
  cli_json json = cli_json_begin(stdout);
  CLI_MEMBERS(&json, CLI_T("title", r->file->title), CLI_T("format", r->file->format),
              CLI_T("outcome", carom_saa_outcome_name(cli_saa_outcome(r))), CLI_B("sampled", r->sampled),
              CLI_B("maximize", r->file->maximize));
  if (cli_saa_outcome(r) == CAROM_SAA_SOLVED) {
    json_decision(&json, r);
    (r->sampled ? json_report : json_scenarios)(&json, r);
  } else {
    json_reason(&json, r);
  }
  if (r->page) cli_json_text(&json, "page", r->page);
  cli_json_end(&json);
}

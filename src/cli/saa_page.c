// The page of `carom saa -o`: bounds over sample sizes, the decision, and what it costs in which scenarios.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/page_data.h"
#include "cli/saa.h"

enum { BINS = 40, MOST_NAMED = 200 };

static void put_name(FILE *out, const char *const *names, int k, const char *letter) {
  char text[40];
  snprintf(text, sizeof text, "%s%d", letter, k + 1);
  cli_page_text(out, names ? names[k] : text);
}

static void put_pairs(FILE *out, const char *title, const char *const *names, const char *letter, const double *v,
                      const double *price, double sign, int count) {
  fprintf(out, "\"%s\":[", title);
  for (int k = 0; k < count; k++) {
    fputs(k > 0 ? ",[" : "[", out);
    put_name(out, names, k, letter);
    fputc(',', out);
    cli_page_finite(out, v ? v[k] : NAN);
    fputc(',', out);
    cli_page_finite(out, sign * price[k] + 0.0);
    fputc(']', out);
  }
  fputs("],", out);
}

static void put_decision(FILE *out, const cli_saa_run *r) {
  const carom_saa_problem *p = &r->file->model.problem;
  const carom_saa_answer *s = cli_saa_decision(r);
  double sign = cli_saa_sign(r);
  put_pairs(out, "x", p->x_names, "x", s->x, s->x_price, sign, p->n);
  put_pairs(out, "rows", p->first_names, "row ", NULL, s->first_price, sign, p->first_rows);
  put_pairs(out, "means", p->mean_names, "expectation ", NULL, s->mean_price, sign, p->mean_rows);
}

static void put_sizes(FILE *out, const cli_saa_run *r) {
  double sign = cli_saa_sign(r);
  fputs("\"sizes\":[", out);
  for (int k = 0; r->sampled && k < r->report->size_count; k++) {
    const carom_saa_size *s = &r->report->sizes[k];
    const double numbers[] = {s->scenarios,    sign * s->mean,         sign * s->lower.low,     sign * s->lower.high,
                              sign * s->upper, sign * s->upper_in.low, sign * s->upper_in.high, s->gap,
                              s->gap_high};
    fputs(k > 0 ? ",[" : "[", out);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
      if (i > 0) fputc(',', out);
      cli_page_finite(out, numbers[i]);
    }
    fputc(']', out);
  }
  fputs("],", out);
}

// ---- costs ----------------------------------------------------------------------------------------------------------

static double shared_cost(const cli_saa_run *r) {
  double base = r->sampled ? 0 : r->answer->objective;
  for (int i = 0; !r->sampled && i < r->answer->count; i++) base -= r->answer->probability[i] * r->answer->cost[i];
  return base;
}

static double weight_of(const cli_saa_run *r, int i, int count) {
  return r->sampled ? 1.0 / count : r->answer->probability[i];
}

// How much probability lies in each of as many equal parts of the costs' range.
static void put_histogram(FILE *out, const cli_saa_run *r) {
  int count;
  const double *costs = cli_saa_costs(r, &count);
  double base = shared_cost(r), sign = cli_saa_sign(r), least = INFINITY, most = -INFINITY, bins[BINS] = {0};
  for (int i = 0; i < count; i++)
    least = fmin(least, sign * (base + costs[i])), most = fmax(most, sign * (base + costs[i]));
  if (!(most > least)) most = least + 1;
  for (int i = 0; i < count; i++) {
    int bin = (int)((sign * (base + costs[i]) - least) / (most - least) * BINS);
    bins[bin < 0 ? 0 : bin < BINS ? bin : BINS - 1] += weight_of(r, i, count);
  }
  fprintf(out, "\"count\":%d,\"range\":[", count);
  cli_page_finite(out, least);
  fputc(',', out);
  cli_page_finite(out, most);
  fputs("],\"bins\":[", out);
  for (int k = 0; k < BINS && count > 0; k++) {
    if (k > 0) fputc(',', out);
    cli_page_finite(out, bins[k]);
  }
  fputs("],", out);
}

static void put_scenarios(FILE *out, const cli_saa_run *r) {
  char name[120];
  double base = shared_cost(r);
  fputs("\"scenarios\":[", out);
  for (int i = 0; !r->sampled && i < r->answer->count && i < MOST_NAMED; i++) {
    r->file->scenarios.name(r->file->scenarios.context, i, name, sizeof name);
    fputs(i > 0 ? ",[" : "[", out);
    cli_page_text(out, name);
    fputc(',', out);
    cli_page_finite(out, r->answer->probability[i]);
    fputc(',', out);
    cli_page_finite(out, cli_saa_sign(r) * (base + r->answer->cost[i]));
    fputc(']', out);
  }
  fputs("],", out);
}

static void put_value(FILE *out, const cli_saa_run *r) {
  double sign = cli_saa_sign(r);
  fputs("\"value\":", out);
  cli_page_finite(out, sign * (r->sampled ? r->report->value : r->answer->objective));
  fputs(",\"valueIn\":[", out);
  cli_page_finite(out, r->sampled && r->report->valued ? r->report->value_in.low * sign : NAN);
  fputc(',', out);
  cli_page_finite(out, r->sampled && r->report->valued ? r->report->value_in.high * sign : NAN);
  fprintf(out, "],\"sampled\":%s,\"valued\":%s,\"maximize\":%s,\"replications\":%d,\"confidence\":%.6g,\"seed\":%llu,",
          r->sampled ? "true" : "false", !r->sampled || r->report->valued ? "true" : "false",
          r->file->maximize ? "true" : "false", r->sampling.replications, r->sampling.confidence,
          (unsigned long long)r->sampling.seed);
}

int cli_saa_write_page(const cli_saa_run *r) {
  const carom_saa_problem *p = &r->file->model.problem;
  cli_page page;
  if (!cli_page_begin(&page)) return EXIT_FAILED;
  const char *rest = cli_page_until_data(&page, "saa_page.html");
  FILE *out = page.out;
  fputc('{', out);
  cli_page_member(out, "title", r->file->title[0] ? r->file->title : r->path);
  cli_page_member(out, "description", r->file->description);
  cli_page_member(out, "command", r->command);
  cli_page_member(out, "doubt", r->sampled ? r->report->doubt.message : "");
  put_value(out, r);
  put_decision(out, r);
  put_sizes(out, r);
  put_histogram(out, r);
  put_scenarios(out, r);
  fprintf(out, "\"n\":%d,\"m\":%d,\"rowCount\":%d}", p->n, p->m, p->rows);
  return cli_page_after_data(&page, rest, r->page);
}

// The page of a design: a template (design_page.html) with the numbers put in, as one JSON object.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/design.h"
#include "cli/page_data.h"

enum { CURVE = 241, SLICE = 81, MAP = 41 };  // points of curves and maps of the surrogate

// ---- designs --------------------------------------------------------------------------------------------------------

static void put_axis(FILE *out, const carom_axis *a, bool first) {
  fputs(first ? "{" : ",{", out);
  cli_page_member(out, "name", a->name);
  cli_page_member(out, "unit", a->unit);
  fputs("\"from\":", out), cli_page_number(out, a->from);
  fputs(",\"to\":", out), cli_page_number(out, a->to);
  fprintf(out, ",\"log\":%s}", a->logarithmic ? "true" : "false");
}

static void put_head(FILE *out, const cli_design_run *d) {
  const carom_sweep *sweep = d->run.sweep;
  cli_page_member(out, "title", sweep->title);
  cli_page_member(out, "problem", sweep->path);
  cli_page_member(out, "method", carom_search_method_name(d->problem->search.method));
  cli_page_member(out, "ending", cli_design_ending(d));
  cli_page_member(out, "objective", d->problem->formula);
  cli_page_member(out, "replays", d->replays);
  fprintf(out, "\"maximize\":%s,\"best\":%lld,\"axes\":[", d->problem->maximize ? "true" : "false",
          (long long)carom_design_best(d->run.design));
  for (int i = 0; i < sweep->sampling.axis_count; i++) put_axis(out, &sweep->axes[i], i == 0);
  fputs("],", out);
  cli_page_names(out, "outcomes", sweep->outcomes, sweep->outcome_count - 1);
}

static void put_array(FILE *out, const char *name, const double *values, int count) {
  fprintf(out, "\"%s\":[", name);
  for (int i = 0; i < count; i++) {
    if (i > 0) fputc(',', out);
    cli_page_number(out, values[i]);
  }
  fputs("],", out);
}

// The replay page of a case, where there is one.
static void put_replay(FILE *out, const cli_design_run *d, int64_t number) {
  char path[CLI_CASE_PATH];
  cli_case_path(&d->run.keep, number, ".html", path);
  if (access(path, F_OK) == 0) cli_page_member(out, "replay", strrchr(path, '/') + 1);
}

static void put_design(FILE *out, const cli_design_run *d, int64_t number) {
  const carom_sweep *sweep = d->run.sweep;
  carom_case c = carom_cases_get(d->run.cases, number);
  fputs(number > 0 ? ",{" : "{", out);
  put_array(out, "at", c.values, sweep->sampling.axis_count);
  put_array(out, "outcomes", c.values + sweep->sampling.axis_count, sweep->outcome_count - 1);
  put_replay(out, d, number);
  const char *fault = cli_design_fault(d, number, &c);
  if (fault) cli_page_member(out, "reason", fault);
  fprintf(out, "\"from\":%lld,\"again\":%s,\"value\":", (long long)carom_design_warm_case(d->run.design, number),
          carom_design_is_revisit(d->run.design, number) ? "true" : "false");
  cli_page_finite(out, carom_design_value(d->run.design, number));
  fputc('}', out);
}

// ---- the surrogate --------------------------------------------------------------------------------------------------

typedef struct look {
  double mean, deviation;
} look;

// In the sense of the problem: the search sees what is to be greatest with a minus.
static look look_at(const cli_design_run *d, const double *point) {
  look l;
  carom_search_predict(carom_design_search(d->run.design), point, &l.mean, &l.deviation);
  if (d->problem->maximize) l.mean = -l.mean;
  return l;
}

static double low_of(look l) { return l.mean - 2 * l.deviation; }
static double mean_of(look l) { return l.mean; }
static double high_of(look l) { return l.mean + 2 * l.deviation; }

static void put_looks(FILE *out, const char *name, const look *looks, int count, double (*of)(look l)) {
  fprintf(out, ",\"%s\":[", name);
  for (int i = 0; i < count; i++) {
    if (i > 0) fputc(',', out);
    cli_page_finite(out, of(looks[i]));
  }
  fputc(']', out);
}

// The best design, or the middle.
static void middle_of(const cli_design_run *d, double *point) {
  const carom_sweep *sweep = d->run.sweep;
  int64_t best = carom_design_best(d->run.design);
  for (int i = 0; i < sweep->sampling.axis_count; i++)
    point[i] = best >= 0 ? carom_cases_get(d->run.cases, best).values[i] : carom_axis_value(&sweep->axes[i], 0.5);
}

static void put_slice(FILE *out, const cli_design_run *d, int axis) {
  look looks[CURVE];
  double point[CAROM_MOST_AXES];
  int count = d->run.sweep->sampling.axis_count == 1 ? CURVE : SLICE;
  middle_of(d, point);
  fputs(axis > 0 ? ",{\"at\":[" : "{\"at\":[", out);
  for (int i = 0; i < count; i++) {
    point[axis] = carom_axis_value(&d->run.sweep->axes[axis], i / (count - 1.0));
    looks[i] = look_at(d, point);
    if (i > 0) fputc(',', out);
    cli_page_number(out, point[axis]);
  }
  fputc(']', out);
  put_looks(out, "mean", looks, count, mean_of);
  put_looks(out, "low", looks, count, low_of);
  put_looks(out, "high", looks, count, high_of);
  fputc('}', out);
}

static bool is_allowed(const carom_search_def *def, const double *point) {
  for (int c = 0; c < def->constraint_count; c++) {
    double sum = 0;
    for (int i = 0; i < def->variable_count; i++) sum += def->rows[c * def->variable_count + i] * point[i];
    if (sum > def->most[c]) return false;
  }
  return true;
}

static void put_map(FILE *out, const cli_design_run *d) {
  double point[CAROM_MOST_AXES];
  middle_of(d, point);
  fprintf(out, ",\"map\":{\"size\":%d,\"mean\":[", MAP);
  for (int i = 0; i < MAP * MAP; i++) {
    int column = i % MAP, row = i / MAP;
    point[0] = carom_axis_value(&d->run.sweep->axes[0], (column + 0.5) / MAP);
    point[1] = carom_axis_value(&d->run.sweep->axes[1], (row + 0.5) / MAP);
    if (i > 0) fputc(',', out);
    cli_page_finite(out, is_allowed(&d->problem->search, point) ? look_at(d, point).mean : NAN);
  }
  fputs("]}", out);
}

int cli_design_write_page(const cli_design_run *d, const char *path) {
  cli_page to;
  int axes = d->run.sweep->sampling.axis_count;
  if (!cli_page_begin(&to)) return EXIT_FAILED;
  const char *rest = cli_page_until_data(&to, "design_page.html");
  fputc('{', to.out);
  put_head(to.out, d);
  fputs("\"designs\":[", to.out);
  for (int64_t i = 0; i < d->run.cases->count; i++) put_design(to.out, d, i);
  fputs("],\"slices\":[", to.out);
  for (int i = 0; i < axes; i++) put_slice(to.out, d, i);
  fputc(']', to.out);
  if (axes > 1) put_map(to.out, d);
  fputc('}', to.out);
  return cli_page_after_data(&to, rest, path);
}

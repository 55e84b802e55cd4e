// The page of a sweep: a template (sweep_page.html) with the numbers put in, as one JSON object.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/page_data.h"
#include "cli/sweep.h"

enum { MOST_DRAWN = 50000 };

// ---- what was varied and what came of it ----------------------------------------------------------------------------

static void put_axis(FILE *out, const carom_sweep *sweep, int k) {
  const carom_axis *a = &sweep->axes[k];
  fputs(k > 0 ? ",{" : "{", out);
  cli_page_member(out, "name", a->name);
  cli_page_member(out, "unit", a->unit);
  fputs("\"from\":", out), cli_page_number(out, a->from);
  fputs(",\"to\":", out), cli_page_number(out, a->to);
  fprintf(out, ",\"log\":%s,\"count\":%d,\"points\":", a->logarithmic ? "true" : "false", a->count);
  bool points = a->values || (sweep->sampling.design == CAROM_DESIGN_GRID && a->count > 0);
  const carom_sampling grid = {.design = CAROM_DESIGN_GRID, .axes = a, .axis_count = 1, .count = a->count};
  for (int i = 0; points && i < a->count; i++) {
    double value;
    carom_sampling_inputs(&grid, i, &value);
    fputc(i > 0 ? ',' : '[', out), cli_page_number(out, value);
  }
  fputs(points ? "]}" : "null}", out);
}

static bool put_classes(FILE *out, const cli_sweep_run *run) {
  const carom_sweep *sweep = run->sweep;
  int64_t *counts = calloc((size_t)sweep->class_count, sizeof *counts);
  if (!counts) return false;
  int64_t all = carom_cases_count(run->cases, sweep, counts);
  fprintf(out, "\"run\":%lld,\"success\":%d,\"classes\":[", (long long)all, sweep->success);
  for (int i = 0; i < sweep->class_count; i++) {
    carom_interval w = carom_wilson(counts[i], all, CAROM_Z95);
    fputs(i > 0 ? ",{" : "{", out);
    cli_page_member(out, "name", sweep->classes[i]);
    fprintf(out, "\"count\":%lld,\"low\":%.6g,\"high\":%.6g}", (long long)counts[i], w.low, w.high);
  }
  fputs("],", out);
  free(counts);
  return true;
}

static void put_head(FILE *out, const cli_sweep_run *run) {
  const carom_sweep *sweep = run->sweep;
  cli_page_member(out, "title", sweep->title);
  cli_page_member(out, "problem", sweep->path);
  cli_page_member(out, "design", run->border ? "border" : carom_design_name(sweep->sampling.design));
  fprintf(out, "\"seed\":%llu,\"rerun\":%s,", (unsigned long long)sweep->sampling.seed, run->border ? "false" : "true");
  if (sweep->plan) fputs("\"plan\":true,", out);
  cli_page_member(out, "options", run->options);
  fputs("\"axes\":[", out);
  for (int k = 0; k < sweep->sampling.axis_count; k++) put_axis(out, sweep, k);
  fputs("],", out);
  cli_page_names(out, "outcomes", sweep->outcomes, sweep->outcome_count);
  if (!run->keep.folder) return;
  fputs("\"kept\":{", out);
  cli_page_member(out, "folder", run->keep.folder);
  fprintf(out, "\"view\":%s},", run->keep.view ? "true" : "false");
}

// ---- cases ----------------------------------------------------------------------------------------------------------

// All of a grid; of others as many as can be drawn, evenly.
static int64_t stride_of(const cli_sweep_run *run) {
  if (run->sweep->sampling.design == CAROM_DESIGN_GRID) return 1;
  return (run->cases->count + MOST_DRAWN - 1) / MOST_DRAWN;
}

static void put_column(FILE *out, const cli_sweep_run *run, int column, int64_t stride) {
  for (int64_t i = 0; i < run->cases->count; i += stride) {
    fputc(i > 0 ? ',' : '[', out);
    cli_page_number(out, run->cases->values[(size_t)i * (size_t)run->cases->column_count + (size_t)column]);
  }
  fputs(run->cases->count > 0 ? "]" : "[]", out);
}

static void put_cases(FILE *out, const cli_sweep_run *run) {
  int64_t stride = stride_of(run);
  int axes = run->sweep->sampling.axis_count;
  fputs("\"cases\":{", out);
  for (int64_t i = 0; stride > 1 && i < run->cases->count; i += stride)
    fprintf(out, i > 0 ? ",%lld" : "\"number\":[%lld", (long long)i);
  if (stride > 1) fputs("],", out);
  fputs("\"class\":[", out);
  for (int64_t i = 0; i < run->cases->count; i += stride) fprintf(out, i > 0 ? ",%d" : "%d", run->cases->classes[i]);
  fputs("],\"inputs\":[", out);
  for (int k = 0; k < axes; k++) fputs(k > 0 ? "," : "", out), put_column(out, run, k, stride);
  fputs("],\"outcomes\":[", out);
  for (int k = 0; k < run->sweep->outcome_count; k++)
    fputs(k > 0 ? "," : "", out), put_column(out, run, axes + k, stride);
  fputs("]},\"reasons\":{", out);
  bool first = true;
  for (int64_t i = 0; i < run->cases->count; i++) {
    if (!run->cases->reasons[i] || run->cases->classes[i] != run->sweep->class_count - 1) continue;
    fprintf(out, first ? "\"%lld\":" : ",\"%lld\":", (long long)i);
    cli_page_text(out, run->cases->reasons[i]);
    first = false;
  }
  fputs("},", out);
}

// ---- curves ---------------------------------------------------------------------------------------------------------

typedef double figure(const carom_curve_point *point);
static double at_of(const carom_curve_point *p) { return p->at; }
static double rate_of(const carom_curve_point *p) { return p->trials > 0 ? (double)p->hits / (double)p->trials : NAN; }
static double rate_low(const carom_curve_point *p) { return p->trials > 0 ? p->interval.low : NAN; }
static double rate_high(const carom_curve_point *p) { return p->trials > 0 ? p->interval.high : NAN; }
static double band_low(const carom_curve_point *p) { return p->low; }
static double band_mid(const carom_curve_point *p) { return p->median; }
static double band_high(const carom_curve_point *p) { return p->high; }

static void put_figures(FILE *out, const char *before, const carom_curve_point *points, int count, figure *of) {
  fputs(before, out);
  for (int i = 0; i < count; i++) fputc(i > 0 ? ',' : '[', out), cli_page_finite(out, of(&points[i]));
  fputs(count > 0 ? "]" : "[]", out);
}

static void put_three(FILE *out, const carom_curve_point *points, int count, figure *const of[3]) {
  put_figures(out, "{\"mid\":", points, count, of[0]);
  put_figures(out, ",\"low\":", points, count, of[1]);
  put_figures(out, ",\"high\":", points, count, of[2]);
  fputc('}', out);
}

static bool put_curve(FILE *out, const cli_sweep_run *run, int axis) {
  static figure *const rates[3] = {rate_of, rate_low, rate_high}, *const bands[3] = {band_mid, band_low, band_high};
  const carom_sweep *sweep = run->sweep;
  int n = carom_curve_size(sweep, axis);
  carom_curve_point *points = calloc((size_t)n + 1, sizeof *points);
  bool good = points && carom_cases_curve(run->cases, sweep, axis, 0, -1, points) == CAROM_OK;
  if (good) put_figures(out, axis > 0 ? ",{\"at\":" : "{\"at\":", points, n, at_of);
  if (good) fputs(",\"rates\":[", out);
  for (int c = 0; good && c < sweep->class_count; c++) {
    good = carom_cases_curve(run->cases, sweep, axis, c, -1, points) == CAROM_OK;
    fputs(c > 0 ? "," : "", out), put_three(out, points, n, rates);
  }
  if (good) fputs("],\"bands\":[", out);
  for (int k = 0; good && k < sweep->outcome_count; k++) {
    good = carom_cases_curve(run->cases, sweep, axis, 0, sweep->sampling.axis_count + k, points) == CAROM_OK;
    fputs(k > 0 ? "," : "", out), put_three(out, points, n, bands);
  }
  fputs("]}", out);
  free(points);
  return good;
}

static bool put_curves(FILE *out, const cli_sweep_run *run) {
  bool good = true;
  fputs("\"curves\":[", out);
  for (int k = 0; good && k < run->sweep->sampling.axis_count; k++) good = put_curve(out, run, k);
  fputs("]", out);
  return good;
}

// ---- borders, slopes, indices ---------------------------------------------------------------------------------------

static void put_border(FILE *out, const cli_sweep_run *run) {
  fprintf(out, ",\"border\":{\"axis\":%d,\"crossings\":[", run->axis);
  for (int k = 0; k < carom_border_count(run->border); k++) {
    const carom_border_crossing *x = carom_border_at(run->border, k);
    const double *values = run->cases->values + (size_t)x->below * (size_t)run->cases->column_count;
    fprintf(out, "%s{\"enters\":%s,\"low\":%.17g,\"high\":%.17g,\"at\":[", k > 0 ? "," : "",
            x->enters ? "true" : "false", x->low, x->high);
    for (int i = 0; i < run->sweep->sampling.axis_count; i++)
      fputs(i > 0 ? "," : "", out), cli_page_number(out, values[i]);
    fputs("]}", out);
  }
  fputs("]}", out);
}

static void put_slopes(FILE *out, const cli_sweep_run *run) {
  double slopes[CAROM_MOST_AXES];
  int axes = run->sweep->sampling.axis_count;
  fputs(",\"slopes\":[", out);
  for (int k = 0; k < run->sweep->outcome_count; k++) {
    carom_cases_slopes(run->cases, run->sweep, axes + k, slopes);
    fputs(k > 0 ? ",[" : "[", out);
    for (int i = 0; i < axes; i++) fputs(i > 0 ? "," : "", out), cli_page_finite(out, slopes[i]);
    fputs("]", out);
  }
  fputs("]", out);
}

static void put_index(FILE *out, const carom_sobol_index *x, bool first) {
  const double values[6] = {x->first, x->first_interval.low, x->first_interval.high,
                            x->total, x->total_interval.low, x->total_interval.high};
  static const char *const before[6] = {"{\"first\":",  ",\"first_interval\":[", ",",
                                        "],\"total\":", ",\"total_interval\":[", ","};
  if (!first) fputc(',', out);
  for (int i = 0; i < 6; i++) fputs(before[i], out), cli_page_finite(out, values[i]);
  fputs("]}", out);
}

static bool put_indices(FILE *out, const cli_sweep_run *run) {
  const carom_sweep *sweep = run->sweep;
  carom_sobol_index x[CAROM_MOST_SOBOL_AXES];
  int64_t used;
  fputs(",\"sobol\":[", out);
  for (int k = -1; k < sweep->outcome_count; k++) {
    int column = k < 0 ? -1 : sweep->sampling.axis_count + k;
    if (carom_cases_sobol(run->cases, sweep, column, x, &used) != CAROM_OK) return false;
    fputs(k >= 0 ? ",{" : "{", out);
    cli_page_member(out, "of", k < 0 ? sweep->classes[sweep->success] : sweep->outcomes[k]);
    fprintf(out, "\"points\":%lld,\"axes\":[", (long long)used);
    for (int i = 0; i < sweep->sampling.axis_count; i++) put_index(out, &x[i], i == 0);
    fputs("]}", out);
  }
  fputs("]", out);
  return true;
}

// ---- the page -------------------------------------------------------------------------------------------------------

static bool put_data(FILE *out, const cli_sweep_run *run) {
  fputc('{', out);
  put_head(out, run);
  bool good = put_classes(out, run);
  put_cases(out, run);
  good = good && put_curves(out, run);
  if (run->border) put_border(out, run);
  if (run->mode == CLI_SWEEP_SENSITIVITY) put_slopes(out, run);
  if (good && run->mode == CLI_SWEEP_SOBOL) good = put_indices(out, run);
  fputc('}', out);
  return good;
}

int cli_sweep_write_page(const cli_sweep_run *run, const char *path) {
  cli_page to;
  if (!cli_page_begin(&to)) return EXIT_FAILED;
  const char *rest = cli_page_until_data(&to, "sweep_page.html");
  if (put_data(to.out, run)) return cli_page_after_data(&to, rest, path);
  fclose(to.out);
  free(to.text);
  cli_error("sweep: out of memory for the page");
  return EXIT_FAILED;
}

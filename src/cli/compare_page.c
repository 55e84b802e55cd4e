// The page of `carom compare`: one file without scripts.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/compare.h"
#include "cli/plot.h"

static const char head[] =
    "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">" CLI_GENERATOR
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<style>\n"
    ":root{color-scheme:light dark;--ink:#1a2230;--muted:#5b6675;--line:#dfe4ea;--paper:#fff;"
    "--c0:#2a6ab5;--c1:#cc4b37;--c2:#228833;--c3:#b8860b;--c4:#8a3b8f;--c5:#008b9a}\n"
    "@media(prefers-color-scheme:dark){:root{--ink:#e6eaf0;--muted:#9aa5b3;--line:#323a45;--paper:#161b22;"
    "--c0:#6aa5ea;--c1:#f08a78;--c2:#6cc47a;--c3:#e0b94f;--c4:#c98ccd;--c5:#4fc3cf}}\n"
    "body{margin:0 auto;max-width:900px;padding:24px;background:var(--paper);color:var(--ink);"
    "font:15px/1.5 system-ui,sans-serif}\n"
    "h1{font-size:22px}h2{font-size:17px;margin-top:28px}p{color:var(--muted)}\n"
    ".wide{overflow-x:auto}table{border-collapse:collapse;font-size:14px;font-variant-numeric:tabular-nums}\n"
    "td,th{padding:4px 9px;border-bottom:1px solid var(--line);text-align:right;white-space:nowrap}\n"
    "th:first-child,td:first-child{text-align:left}\n"
    "svg{display:block;width:100%;margin:12px 0;font-size:12px}svg text{fill:var(--ink)}\n"
    ".title{font-weight:600;font-size:13px}.unit{fill:var(--muted);font-weight:400}\n"
    ".tick{text-anchor:end;fill:var(--muted)}.time{text-anchor:middle;fill:var(--muted)}\n"
    ".grid{stroke:var(--line);fill:none}.line{fill:none;stroke-width:1.3}\n"
    ".c0{stroke:var(--c0)}.c1{stroke:var(--c1)}.c2{stroke:var(--c2)}.c3{stroke:var(--c3)}"
    ".c4{stroke:var(--c4)}.c5{stroke:var(--c5)}\n"
    ".line.c0{stroke-width:3}.line.c1{stroke-width:2}\n"  // lines that lie on each other are all seen
    "</style>\n";

// ---- the table ------------------------------------------------------------------------------------------------------

static void write_row(FILE *out, const cli_contestant *c) {
  fputs("<tr><td>", out);
  cli_html_text(out, c->name);
  if (!c->result) {
    fputs("</td><td colspan=\"7\">could not run this scene</td></tr>\n", out);
    return;
  }
  fprintf(out, "</td><td>%.3g</td><td>%.0f</td>", c->wall, cli_worst(c->result, "collisions"));
  const char *const columns[] = {"energy_error", "momentum_error", "angular_momentum_error", "penetration"};
  for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
    fprintf(out, "<td>%.2e</td>", cli_worst(c->result, columns[i]));
  fprintf(out, "<td>%s</td></tr>\n", c->code == EXIT_GOOD ? "complete" : "stopped early");
}

static void write_table(FILE *out, const cli_comparison *comparison) {
  fputs(
      "<div class=\"wide\"><table><tr><th>integrator</th><th>time (s)</th><th>collisions</th><th>energy error</th>"
      "<th>momentum</th><th>angular momentum</th><th>overlap (m)</th><th>run</th></tr>\n",
      out);
  for (int i = 0; i < comparison->count; i++) write_row(out, &comparison->contestants[i]);
  fputs(
      "</table></div>\n<p>Errors are the largest of the run, relative, after losses, work and projections have been "
      "accounted for.</p>\n",
      out);
}

// ---- the plots ------------------------------------------------------------------------------------------------------

static void plot_column(FILE *out, const cli_comparison *comparison, const char *key, const char *title,
                        const char *unit, bool logarithmic) {
  cli_plot plot = {.title = title, .unit = unit, .logarithmic = logarithmic};
  for (int i = 0; i < comparison->count; i++) {
    const cli_contestant *c = &comparison->contestants[i];
    if (c->result)
      cli_plot_add(&plot, c->name, i, c->result->times, cli_column(c->result, key), c->result->frame_count);
  }
  cli_plot_write(out, &plot);
}

static void plot_deviation(FILE *out, const cli_comparison *comparison) {
  cli_plot plot = {.title = "Distance from the first one's motion", .unit = "m", .logarithmic = true};
  for (int i = 0; i < comparison->count; i++) {
    const cli_contestant *c = &comparison->contestants[i];
    if (c->deviation) cli_plot_add(&plot, c->name, i, c->result->times, c->deviation, c->result->frame_count);
  }
  if (plot.count > 0) cli_plot_write(out, &plot);
}

enum { TRACED = 8 };  // bodies whose paths are drawn

enum { AXES = 4 };  // x, y, z, and the angle by which a body has turned

// Coordinates of the first few moving bodies: [axis][body][frame].
typedef struct traces {
  int bodies[TRACED], count, frames;
  double *values;
} traces;

static const struct {
  const char *title, *unit;
} axes[AXES] = {{"Position, x", "m"}, {"Position, y", "m"}, {"Position, z", "m"}, {"Turned from the start by", "deg"}};

static double *trace(const traces *t, int axis, int body) {
  return t->values + ((size_t)axis * TRACED + (size_t)body) * (size_t)t->frames;
}

// Smallest angle between two attitudes, in degrees; exact for small ones, too.
static double turned(carom_quat start, carom_quat now) {
  carom_quat d = cm_qmul(cm_qconj(start), now);
  return 2 * atan2(sqrt(d.x * d.x + d.y * d.y + d.z * d.z), fabs(d.w)) * 57.29577951308232;
}

static void trace_frame(const traces *t, int i, const carom_frame *frame, carom_quat *start) {
  for (int k = 0; k < t->count; k++) {
    const carom_pose *pose = &frame->poses[t->bodies[k]];
    if (i == 0) start[k] = pose->q;
    trace(t, 0, k)[i] = pose->p.x;
    trace(t, 1, k)[i] = pose->p.y;
    trace(t, 2, k)[i] = pose->p.z;
    trace(t, 3, k)[i] = turned(start[k], pose->q);
  }
}

static bool read_traces(carom_result *result, traces *t) {
  *t = (traces){.frames = result->frame_count};
  for (int b = 0; b < result->body_count && t->count < TRACED; b++)
    if (!result->bodies[b].fixed) t->bodies[t->count++] = b;
  carom_frame frame;
  carom_quat start[TRACED] = {{0}};
  t->values = calloc((size_t)AXES * TRACED * (size_t)(t->frames + 1), sizeof *t->values);
  if (!t->values || carom_frame_init(result, &frame, NULL) != CAROM_OK) return false;
  bool good = true;
  for (int i = 0; i < t->frames && good; i++) {
    good = carom_result_read_frame(result, i, &frame, NULL) == CAROM_OK;
    if (good) trace_frame(t, i, &frame, start);
  }
  carom_frame_release(&frame);
  return good;
}

// How far a coordinate goes over all runs.
static double span_of(const cli_comparison *comparison, const traces *all, int axis) {
  double span = 0;
  for (int i = 0; i < comparison->count; i++)
    for (int k = 0; comparison->contestants[i].result && k < all[i].count; k++) {
      const double *v = trace(&all[i], axis, k);
      for (int f = 0; f < all[i].frames; f++) span = fmax(span, fabs(v[f] - v[0]));
    }
  return span;
}

static void plot_axis(FILE *out, const cli_comparison *comparison, const traces *all, int axis) {
  cli_plot plot = {.title = axes[axis].title, .unit = axes[axis].unit};
  for (int i = 0; i < comparison->count; i++) {
    const cli_contestant *c = &comparison->contestants[i];
    for (int k = 0; c->result && k < all[i].count; k++)
      cli_plot_add(&plot, k == 0 ? c->name : NULL, i, c->result->times, trace(&all[i], axis, k), all[i].frames);
  }
  cli_plot_write(out, &plot);
}

// What does not move is said in a line instead of drawn: a plot would show nothing but round-off.
static void plot_positions(FILE *out, const cli_comparison *comparison, const traces *all) {
  double spans[AXES], largest = 0;
  for (int axis = 0; axis < AXES; axis++) spans[axis] = span_of(comparison, all, axis);
  for (int axis = 0; axis < 3; axis++) largest = fmax(largest, spans[axis]);
  for (int axis = 0; axis < AXES; axis++) {
    if (spans[axis] > (axis < 3 ? 1e-8 * largest : 1e-6))
      plot_axis(out, comparison, all, axis);
    else
      fprintf(out, "<p>%s: changes by at most %.1e %s.</p>\n", axis < 3 ? axes[axis].title : "Attitude", spans[axis],
              axes[axis].unit);
  }
}

static void write_positions(FILE *out, const cli_comparison *comparison) {
  traces all[CLI_COMPARE_MAX] = {{{0}, 0, 0, NULL}};
  bool good = true;
  for (int i = 0; i < comparison->count; i++)
    if (comparison->contestants[i].result) good = read_traces(comparison->contestants[i].result, &all[i]) && good;
  if (good) plot_positions(out, comparison, all);
  for (int i = 0; i < comparison->count; i++) free(all[i].values);
}

int cli_write_comparison(const cli_comparison *comparison, const char *path) {
  cli_page page;
  if (!cli_page_begin(&page)) return EXIT_FAILED;
  FILE *out = page.out;
  const char *title = comparison->title ? comparison->title : "Comparison";
  fputs(head, out);
  fputs("<title>", out);
  cli_html_text(out, title);
  fputs("</title></head><body>\n<h1>", out);
  cli_html_text(out, title);
  fputs("</h1>\n", out);
  write_table(out, comparison);
  fputs("<h2>Motion</h2>\n", out);
  write_positions(out, comparison);
  plot_deviation(out, comparison);
  fputs("<h2>What is conserved</h2>\n", out);
  plot_column(out, comparison, "energy", "Energy, less what overlaps store", "J", false);
  plot_column(out, comparison, "energy_error", "Energy error", "relative", true);
  plot_column(out, comparison, "angular_momentum_error", "Angular momentum error", "relative", true);
  plot_column(out, comparison, "penetration", "Deepest overlap", "m", true);
  fputs("</body></html>\n", out);
  return cli_page_end(&page, path);
}

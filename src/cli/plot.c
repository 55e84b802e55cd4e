#include "cli/plot.h"
#include "carom/base.h"

#include <math.h>
#include <stdlib.h>

enum { WIDTH = 760, HEIGHT = 220, LEFT = 74, RIGHT = 12, TOP = 30, BOTTOM = 26, POINTS = 1500, LEGEND = 84 };

typedef struct frame {
  FILE *out;
  bool logarithmic;
  double low[2], high[2];
} frame;

void cli_plot_add(cli_plot *plot, const char *label, int color, const double *x, const double *y, int count) {
  if (plot->count < CLI_PLOT_SERIES) plot->series[plot->count++] = (cli_series){label, color, x, y, count};
}

static const char *entity(char c) {
  return c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : c == '"' ? "&quot;" : c == '\'' ? "&#39;" : NULL;
}

void cli_html_text(FILE *out, const char *text) {
  size_t size = carom_escape(text, NULL, NULL, 0) + 1;
  char *escaped = malloc(size);
  if (escaped) carom_escape(text, NULL, escaped, size);
  for (const char *c = escaped; c && *c; c++) {
    const char *instead = entity(*c);
    if (instead)
      fputs(instead, out);
    else
      fputc(*c, out);
  }
  free(escaped);
}

// ---- extents --------------------------------------------------------------------------------------------------------

static double ordinate(const frame *f, double y) { return f->logarithmic ? log10(fabs(y)) : y; }

static void find_extents(frame *f, const cli_plot *plot) {
  for (int k = 0; k < 2; k++) f->low[k] = INFINITY, f->high[k] = -INFINITY;
  for (int s = 0; s < plot->count; s++) {
    for (int i = 0; i < plot->series[s].count; i++) {
      const double at[2] = {plot->series[s].x[i], ordinate(f, plot->series[s].y[i])};
      for (int k = 0; k < 2; k++) {  // the times of all plots are alike, whatever can be drawn there
        if (!isfinite(at[k])) continue;
        f->low[k] = fmin(f->low[k], at[k]);
        f->high[k] = fmax(f->high[k], at[k]);
      }
    }
  }
  for (int k = 0; k < 2; k++)
    if (!(f->high[k] >= f->low[k])) f->low[k] = 0, f->high[k] = 1;
  if (f->logarithmic) f->low[1] = floor(f->low[1]), f->high[1] = ceil(f->high[1]);
  double span = f->high[1] - f->low[1], least = 1e-12 * fmax(fabs(f->high[1]), fabs(f->low[1]));
  if (span <= least) f->low[1] -= fmax(least, 1e-300), f->high[1] += fmax(least, 1e-300);
  if (!(f->high[0] > f->low[0])) f->high[0] = f->low[0] + 1;
}

static double page_x(const frame *f, double x) {
  return LEFT + (x - f->low[0]) / (f->high[0] - f->low[0]) * (WIDTH - LEFT - RIGHT);
}

static double page_y(const frame *f, double y) {
  return HEIGHT - BOTTOM - (y - f->low[1]) / (f->high[1] - f->low[1]) * (HEIGHT - TOP - BOTTOM);
}

// ---- axes -----------------------------------------------------------------------------------------------------------

// 1, 2 or 5 times a power of ten, four or so to the span.
static double tick_step(double span) {
  double rough = span / 4, power = pow(10, floor(log10(rough))), share = rough / power;
  return power * (share < 1.5 ? 1 : share < 3.5 ? 2 : share < 7.5 ? 5 : 10);
}

// The ticks of an axis: the first one and how many there are.
static int tick_count(const frame *f, int axis, double step, double *first) {
  *first = ceil(f->low[axis] / step) * step;
  return 1 + (int)floor((f->high[axis] - *first) / step + 1e-9);
}

static double tick_value(double first, double step, int i) {
  double value = first + i * step;
  return fabs(value) < 1e-9 * step ? 0 : value;
}

static void draw_vertical_ticks(const frame *f) {
  double step = f->logarithmic ? ceil((f->high[1] - f->low[1]) / 5) : tick_step(f->high[1] - f->low[1]);
  double first;
  int count = tick_count(f, 1, step, &first);
  for (int i = 0; i < count; i++) {
    double value = tick_value(first, step, i), at = page_y(f, value);
    fprintf(f->out, "<path class=\"grid\" d=\"M%d %.1fH%d\"/>", LEFT, at, WIDTH - RIGHT);
    fprintf(f->out,
            f->logarithmic ? "<text class=\"tick\" x=\"%d\" y=\"%.1f\">1e%.0f</text>\n"
                           : "<text class=\"tick\" x=\"%d\" y=\"%.1f\">%.6g</text>\n",
            LEFT - 6, at + 4, value);
  }
}

static void draw_time_ticks(const frame *f) {
  double step = tick_step(f->high[0] - f->low[0]), first;
  int count = tick_count(f, 0, step, &first);
  for (int i = 0; i < count; i++) {
    double x = tick_value(first, step, i);
    fprintf(f->out, "<path class=\"grid\" d=\"M%.1f %dV%d\"/><text class=\"time\" x=\"%.1f\" y=\"%d\">%.6g</text>\n",
            page_x(f, x), TOP, HEIGHT - BOTTOM, page_x(f, x), HEIGHT - 8, x);
  }
}

// ---- lines ----------------------------------------------------------------------------------------------------------

static void draw_series(const frame *f, const cli_series *s) {
  int stride = s->count / POINTS + 1;
  bool down = false;  // the pen
  fprintf(f->out, "<path class=\"line c%d\" d=\"", s->color);
  for (int i = 0; i < s->count; i += stride) {
    double y = ordinate(f, s->y[i]);
    bool good = isfinite(y) && isfinite(s->x[i]);
    if (good) fprintf(f->out, "%c%.1f %.1f", down ? 'L' : 'M', page_x(f, s->x[i]), page_y(f, y));
    down = good;
  }
  fputs("\"/>\n", f->out);
}

static void draw_legend(const frame *f, const cli_plot *plot) {
  int entries = 0;
  for (int s = 0; s < plot->count; s++) entries += plot->series[s].label != NULL;
  int x = WIDTH - RIGHT - entries * LEGEND;
  for (int s = 0; s < plot->count; s++) {
    if (!plot->series[s].label) continue;
    fprintf(f->out, "<path class=\"line c%d\" d=\"M%d 16h16\"/><text x=\"%d\" y=\"20\">", plot->series[s].color, x,
            x + 21);
    cli_html_text(f->out, plot->series[s].label);
    fputs("</text>\n", f->out);
    x += LEGEND;
  }
}

void cli_plot_write(FILE *out, const cli_plot *plot) {
  frame f = {.out = out, .logarithmic = plot->logarithmic};
  find_extents(&f, plot);
  fprintf(out, "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"", WIDTH, HEIGHT);
  cli_html_text(out, plot->title);
  fprintf(out, "\"><text class=\"title\" x=\"%d\" y=\"20\">", LEFT);
  cli_html_text(out, plot->title);
  fprintf(out, " <tspan class=\"unit\">%s</tspan></text>\n", plot->unit);
  draw_vertical_ticks(&f);
  draw_time_ticks(&f);
  for (int s = 0; s < plot->count; s++) draw_series(&f, &plot->series[s]);
  draw_legend(&f, plot);
  fputs("</svg>\n", out);
}

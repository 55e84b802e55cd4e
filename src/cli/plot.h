// Line plots as SVG: a few series over one time axis.
#ifndef CAROM_SRC_CLI_PLOT_H
#define CAROM_SRC_CLI_PLOT_H

#include <stdbool.h>
#include <stdio.h>

enum { CLI_PLOT_SERIES = 64 };

typedef struct cli_series {
  const char *label;  // null: drawn like the one before, without an entry of its own
  int color;          // 0, 1, ...: class c0, c1, ... of the page's style sheet
  const double *x, *y;
  int count;
} cli_series;

typedef struct cli_plot {
  const char *title, *unit;
  bool logarithmic;  // of |y|
  cli_series series[CLI_PLOT_SERIES];
  int count;
} cli_plot;

// Adds a series if there is room.
void cli_plot_add(cli_plot *plot, const char *label, int color, const double *x, const double *y, int count);
void cli_plot_write(FILE *out, const cli_plot *plot);

// A text with the characters that HTML takes for its own written as entities.
void cli_html_text(FILE *out, const char *text);

#endif

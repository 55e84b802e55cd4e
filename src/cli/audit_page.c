// The page of an audit: the verdict, and for each law how its worst grew with time against its bound.
#include <math.h>

#include "cli/audit.h"
#include "cli/plot.h"

enum { WIDE = 640, HIGH = 72 };
static const double DECADES = 4;  // above and below the bound

// Height of a value over its bound, on a scale of decades.
static double height(double value, double bound) {
  double decades = value > 0 ? log10(value / bound) : -DECADES;
  if (isnan(decades)) decades = DECADES;
  return HIGH * (0.5 - 0.5 * fmax(-DECADES, fmin(DECADES, decades)) / DECADES);
}

static void put_curve(FILE *out, const cli_history *h, int row) {
  double start = h->frames > 0 ? h->times[0] : 0, span = h->frames > 1 ? h->times[h->frames - 1] - start : 1;
  double bound = h->verdict->rows[row].bound, broken = NAN;
  fprintf(out,
          "<svg viewBox='0 0 %d %d' role='img'><line x1='0' x2='%d' y1='%d' y2='%d' class='bound'/><polyline points='",
          WIDE, HIGH, WIDE, HIGH / 2, HIGH / 2);
  for (int i = 0; i < h->frames; i++) {
    double value = h->values[i * CAROM_VERDICT_MAX + row];
    if (isnan(broken) && !(value <= bound)) broken = h->times[i];
    fprintf(out, "%.1f,%.1f ", WIDE * (h->times[i] - start) / span, height(value, bound));
  }
  fputs("'/>", out);
  if (!isnan(broken))
    fprintf(out, "<line x1='%.1f' x2='%.1f' y1='0' y2='%d' class='broken'/></svg><p>broken from t = %g s on</p>",
            WIDE * (broken - start) / span, WIDE * (broken - start) / span, HIGH, broken);
  else
    fputs("</svg>", out);
}

static void put_row(FILE *out, const cli_history *h, int i) {
  const carom_verdict_row *row = &h->verdict->rows[i];
  fprintf(out, "<section class='%s'><h2>", row->pass ? "pass" : "fail");
  cli_html_text(out, row->label);
  fprintf(out, " <b>%s</b></h2><p>", row->pass ? "pass" : "FAIL");
  cli_html_text(out, row->note);
  fprintf(out, "</p><p>worst %.3g, allowed %.3g ", row->value, row->bound);
  cli_html_text(out, row->where);
  fputs("</p>", out);
  put_curve(out, h, i);
  fputs("</section>\n", out);
}

int cli_write_audit_page(const char *path, const cli_history *h) {
  cli_page page;
  if (!cli_page_begin(&page)) return EXIT_FAILED;
  FILE *out = page.out;
  fputs("<!doctype html><meta charset='utf-8'>" CLI_GENERATOR
        "<title>carom audit</title><style>body{font:15px system-ui;max-width:44em;"
        "margin:2em auto}svg{width:100%;background:#f4f5f7}polyline{fill:none;stroke:#3a7ca5;stroke-width:1.5}"
        ".bound{stroke:#999;stroke-dasharray:4}.broken{stroke:#c0392b}.fail b{color:#c0392b}.pass b{color:#2e7d4f}"
        "h2{font-size:1em;margin-bottom:0}p{margin:.2em 0}</style><h1>",
        out);
  cli_html_text(out, h->title);
  fprintf(out, ": %s</h1><p>", carom_outcome_name(h->verdict->outcome));
  cli_html_text(out, h->verdict->reason);
  fputs(
      "</p><p>The worst so far of every law over time; the dashed line is its bound, a decade is an eighth of the "
      "height.</p>\n",
      out);
  for (int i = 0; i < h->verdict->count; i++) put_row(out, h, i);
  return cli_page_end(&page, path);
}

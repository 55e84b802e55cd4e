#include "cli/page_data.h"

#include <math.h>
#include <string.h>

#include "base/embedded.h"

extern const carom_embedded carom_page_files[];

enum { DIGITS = 9 };

// Text up to a mark; returns what is behind it.
static const char *put_until(FILE *out, const char *text, const char *mark) {
  const char *at = strstr(text, mark);
  fwrite(text, 1, (size_t)(at - text), out);
  return at + strlen(mark);
}

static const char *find_file(const char *name) {
  const carom_embedded *f = carom_page_files;
  while (f->name && strcmp(f->name, name) != 0) f++;
  return (const char *)f->bytes;
}

const char *cli_page_until_data(cli_page *page, const char *template) {
  const char *rest = put_until(page->out, find_file(template), "@STYLE@");
  fputs(find_file("page_style.css"), page->out);
  return put_until(page->out, rest, "@DATA@");
}

int cli_page_after_data(cli_page *page, const char *rest, const char *path) {
  rest = put_until(page->out, rest, "@TOOLS@");
  fputs(find_file("page_tools.js"), page->out);
  fputs(rest, page->out);
  return cli_page_end(page, path);
}

void cli_page_text(FILE *out, const char *text) { cli_put_escaped(out, "\"%s\"", text, "\"\\<>&"); }

void cli_page_member(FILE *out, const char *name, const char *text) {
  fprintf(out, "\"%s\":", name);
  cli_page_text(out, text);
  fputc(',', out);
}

void cli_page_names(FILE *out, const char *name, char *const *texts, int count) {
  fprintf(out, "\"%s\":[", name);
  for (int i = 0; i < count; i++) {
    if (i > 0) fputc(',', out);
    cli_page_text(out, texts[i]);
  }
  fputs("],", out);
}

void cli_page_number(FILE *out, double value) {
  if (isfinite(value))
    fprintf(out, "%.*g", DIGITS, value);
  else
    fputs(isnan(value) ? "null" : value > 0 ? "\"inf\"" : "\"-inf\"", out);
}

void cli_page_finite(FILE *out, double value) { cli_page_number(out, isfinite(value) ? value : NAN); }

// The table as comma-separated values (RFC 4180): numbers with 17 digits, so that reading them gives the same doubles.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text_buffer.h"
#include "carom/sweep.h"

enum { DIGITS = 17 };

static void add_text(carom_text_buffer *text, const char *field) {
  bool quoted = strpbrk(field, ",\"\r\n") != NULL;
  if (quoted) carom_text_buffer_add(text, "\"");
  for (const char *c = field; *c; c++) {
    if (*c == '"') carom_text_buffer_add(text, "\"");
    carom_text_buffer_add_n(text, c, 1);
  }
  if (quoted) carom_text_buffer_add(text, "\"");
}

static void add_name(carom_text_buffer *text, const carom_sweep *sweep, int column) {
  char name[200];
  const char *unit = sweep->units[column];
  snprintf(name, sizeof name, unit[0] ? "%.100s (%.80s)" : "%.100s", sweep->columns[column], unit);
  carom_text_buffer_add(text, ",");
  add_text(text, name);
}

static void add_header(carom_text_buffer *text, const carom_sweep *sweep) {
  int axes = sweep->sampling.axis_count;
  carom_text_buffer_add(text, "case");
  for (int i = 0; i < axes; i++) add_name(text, sweep, i);
  carom_text_buffer_add(text, ",class");
  for (int i = axes; i < sweep->column_count; i++) add_name(text, sweep, i);
  carom_text_buffer_add(text, ",reason\r\n");
}

// What is not a number stays empty; infinities (a time that never came) are words that other programs read.
static void add_number(carom_text_buffer *text, double value) {
  carom_text_buffer_add(text, ",");
  if (isinf(value)) carom_text_buffer_add(text, value > 0 ? "inf" : "-inf");
  if (isfinite(value)) carom_text_buffer_number(text, value, DIGITS);
}

static void add_case(carom_text_buffer *text, const carom_sweep *sweep, const carom_case *c) {
  int axes = sweep->sampling.axis_count;
  carom_text_buffer_print(text, "%lld", (long long)c->number);
  for (int i = 0; i < axes; i++) add_number(text, c->values[i]);
  carom_text_buffer_add(text, ",");
  add_text(text, c->class_index >= 0 ? sweep->classes[c->class_index] : "");
  for (int i = axes; i < sweep->column_count; i++) add_number(text, c->values[i]);
  carom_text_buffer_add(text, ",");
  add_text(text, c->reason);
  carom_text_buffer_add(text, "\r\n");
}

carom_status carom_cases_write_csv(const carom_cases *cases, const carom_sweep *sweep, const char *path,
                                   carom_error *error) {
  carom_text_buffer text = carom_text_buffer_make(&cases->allocator);
  add_header(&text, sweep);
  for (int64_t i = 0; i < cases->count; i++) {
    carom_case c = carom_cases_get(cases, i);
    add_case(&text, sweep, &c);
  }
  carom_status status = text.failed ? carom_fail(error, CAROM_ERR_MEMORY, "out of memory for '%.700s'", path)
                                    : carom_write_file(&(carom_bytes){path, text.data, text.length}, error);
  carom_text_buffer_release(&text);
  return status;
}

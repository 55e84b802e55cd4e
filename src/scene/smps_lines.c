// Lines of MPS and its kin, in words or in columns.
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/nearest.h"
#include "scene/smps_reader.h"

bool carom_smps_wrong(carom_smps *s, int word, const char *hint, const char *format, ...) {
  char text[900];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  const carom_smps_lines *l = &s->lines;
  int column = word >= 0 && word < l->count ? l->columns[word] : l->line > 0 ? 1 : 0;
  return carom_report(&s->reporter, (carom_place){l->path, l->line, column}, hint, "%s", text);
}

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

static void split_words(carom_smps_lines *l, char *line) {
  l->count = 0;
  for (char *c = line; *c && l->count < CAROM_SMPS_WORDS;) {
    while (is_blank(*c)) c++;
    if (!*c || *c == '$') break;  // the rest is a remark
    l->columns[l->count] = (int)(c - line) + 1;
    l->words[l->count++] = c;
    while (*c && !is_blank(*c)) c++;
    if (*c) *c++ = 0;
  }
}

// Fields in columns 2-3, 5-12, 15-22, 25-36, 40-47, 50-61. The first is left out where it is blank; others are kept, so
// that what follows keeps its meaning.
static void split_fields(carom_smps_lines *l, char *line) {
  static const int begins[] = {1, 4, 14, 24, 39, 49}, ends[] = {3, 12, 22, 36, 47, 61};
  int length = (int)strlen(line);
  l->count = 0;
  for (int k = 0; k < 6 && begins[k] < length; k++) {
    int from = begins[k], to = ends[k] < length ? ends[k] : length;
    while (from < to && is_blank(line[from])) from++;
    while (to > from && is_blank(line[to - 1])) to--;
    if (k == 0 && from == to) continue;
    l->columns[l->count] = from + 1;
    l->words[l->count++] = line + from;
    line[to] = 0;
  }
  while (l->count > 0 && !*l->words[l->count - 1]) l->count--;
}

bool carom_smps_next(carom_smps *s) {
  carom_smps_lines *l = &s->lines;
  while (l->rest) {
    char *line = l->rest, *end = strchr(line, '\n');
    l->rest = end ? end + 1 : NULL;
    if (end) *end = 0;
    l->line++;
    if (*line == '*' || *line == '#') continue;
    l->section = !is_blank(*line);
    if (l->fixed && !l->section)
      split_fields(l, line);
    else
      split_words(l, line);
    if (l->count > 0) return true;
  }
  l->count = 0;
  return false;
}

bool carom_smps_number(carom_smps *s, int word, double *value) {
  char *end = NULL;
  if (word >= s->lines.count) return carom_smps_wrong(s, -1, NULL, "the line ends before its number");
  const char *text = s->lines.words[word];
  *value = strtod(text, &end);
  if (end != text && !*end && isfinite(*value) && !strpbrk(text, "xXnN")) return true;
  return carom_smps_wrong(s, word, NULL, "expected a number, got '%.40s'", text);
}

static int find(carom_smps *s, int word, const carom_names *names, const char *what) {
  char hint[100];
  if (word >= s->lines.count) return carom_smps_wrong(s, -1, NULL, "the line ends before the name of a %s", what), -1;
  const char *name = s->lines.words[word];
  int at = carom_names_find(names, name);
  if (at >= 0) return at;
  carom_nearest nearest = carom_nearest_begin(name, strlen(name));
  carom_nearest_try_all(&nearest, names);
  carom_nearest_hint(&nearest, hint, sizeof hint);
  return carom_smps_wrong(s, word, hint, "there is no %s '%.80s'", what, name), -1;
}

int carom_smps_row_of(carom_smps *s, int word) { return find(s, word, &s->row_names, "row"); }
int carom_smps_column_of(carom_smps *s, int word) { return find(s, word, &s->column_names, "column"); }

bool carom_smps_is(const carom_smps *s, int word, const char *text) {
  return word < s->lines.count && strcasecmp(s->lines.words[word], text) == 0;
}

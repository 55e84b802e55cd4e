#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "geometry/mesh.h"
#include "geometry/shape.h"

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }

// Behind a backslash and the end of the line after it; null when the cursor is not at such a pair.
static const char *continuation(const carom_text *t) {
  const char *p = t->at + 1;
  if (*t->at != '\\') return NULL;
  if (p < t->end && *p == '\r') p++;
  return p < t->end && *p == '\n' ? p + 1 : NULL;
}

static void skip_blanks(carom_text *t) {
  for (const char *next; t->at < t->end; t->at = next) {
    next = continuation(t);
    if (next)
      t->line++;
    else if (is_blank(*t->at))
      next = t->at + 1;
    else
      return;
  }
}

carom_word carom_text_word(carom_text *t) {
  skip_blanks(t);
  carom_word word = {t->at, 0};
  while (t->at < t->end && !is_blank(*t->at) && *t->at != '\n' && !continuation(t)) t->at++;
  word.length = (size_t)(t->at - word.start);
  return word;
}

void carom_text_skip_line(carom_text *t) {
  const char *newline = memchr(t->at, '\n', (size_t)(t->end - t->at));
  t->at = newline ? newline + 1 : t->end;
  if (newline) t->line++;
}

carom_word carom_text_word_anywhere(carom_text *t) {
  carom_word word = carom_text_word(t);
  while (word.length == 0 && t->at < t->end) {
    carom_text_skip_line(t);
    word = carom_text_word(t);
  }
  return word;
}

carom_word carom_text_word_past_comments(carom_text *t) {
  carom_word word = carom_text_word_anywhere(t);
  while (word.length > 0 && word.start[0] == '#') {
    carom_text_skip_line(t);
    word = carom_text_word_anywhere(t);
  }
  return word;
}

bool carom_word_is(carom_word word, const char *expected) {
  if (word.length != strlen(expected)) return false;
  for (size_t i = 0; i < word.length; i++) {
    char c = word.start[i];
    if (c >= 'A' && c <= 'Z') c = (char)(c - 'A' + 'a');
    if (c != expected[i]) return false;
  }
  return true;
}

carom_status carom_text_expected(const carom_text *t, const char *expected, carom_word found, carom_error *error) {
  char shown[41];
  size_t length = found.length < sizeof shown - 1 ? found.length : sizeof shown - 1;
  for (size_t i = 0; i < length; i++) shown[i] = found.start[i] >= ' ' && found.start[i] <= '~' ? found.start[i] : '?';
  shown[length] = 0;
  if (length == 0)
    return carom_fail(error, CAROM_ERR_FORMAT, "%s:%d: expected %s, found the end of the %s", t->name, t->line,
                      expected, t->at < t->end ? "line" : "file");
  return carom_fail(error, CAROM_ERR_FORMAT, "%s:%d: expected %s, found '%s'", t->name, t->line, expected, shown);
}

// strtod reads more than the formats allow (hexadecimal, nan, inf), so the characters are checked first. The parser
// has set the thread's locale to "C", so that the point is a point.
carom_status carom_text_number(const carom_text *t, carom_word word, double *value, carom_error *error) {
  char copy[128], *stop;
  if (word.length == 0 || word.length >= sizeof copy) return carom_text_expected(t, "a number", word, error);
  for (size_t i = 0; i < word.length; i++)
    if (!strchr("0123456789+-.eE", word.start[i]) || word.start[i] == 0)
      return carom_text_expected(t, "a number", word, error);
  memcpy(copy, word.start, word.length);
  copy[word.length] = 0;
  double number = strtod(copy, &stop);
  if (*stop) return carom_text_expected(t, "a number", word, error);
  if (!(fabs(number) <= CAROM_LENGTH_MAX))
    return carom_fail(error, CAROM_ERR_NUMBER, "%s:%d: %s is out of range; expected a coordinate below %g", t->name,
                      t->line, copy, CAROM_LENGTH_MAX);
  *value = number;
  return CAROM_OK;
}

carom_status carom_text_whole(const carom_text *t, carom_word word, const char *expected, int64_t *value,
                              carom_error *error) {
  enum { DIGITS = 18 };
  size_t i = word.length > 0 && word.start[0] == '-';
  int64_t number = 0;
  if (word.length == i || word.length > i + DIGITS) return carom_text_expected(t, expected, word, error);
  for (; i < word.length; i++) {
    if (word.start[i] < '0' || word.start[i] > '9') return carom_text_expected(t, expected, word, error);
    number = 10 * number + (word.start[i] - '0');
  }
  *value = word.start[0] == '-' ? -number : number;
  return CAROM_OK;
}

bool carom_plain_locale_begin(carom_plain_locale *locale) {
  locale->plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  if (!locale->plain) return false;
  locale->before = uselocale(locale->plain);
  return true;
}

void carom_plain_locale_end(carom_plain_locale *locale) {
  uselocale(locale->before);
  freelocale(locale->plain);
}

bool carom_has_extension(const char *name, const char *extension) {
  const char *dot = strrchr(name, '.');
  if (!dot) return false;
  carom_word word = {dot + 1, strlen(dot + 1)};
  return carom_word_is(word, extension);
}

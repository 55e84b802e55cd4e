#include "base/text_buffer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/escape.h"
#include "base/memory.h"

carom_text_buffer carom_text_buffer_make(const carom_allocator *allocator) {
  carom_text_buffer text = {.allocator = carom_allocator_or_default(allocator)};
  return text;
}

void carom_text_buffer_release(carom_text_buffer *text) {
  carom_release(&text->allocator, text->data);
  text->data = NULL;
  text->length = text->capacity = 0;
}

void carom_text_buffer_clear(carom_text_buffer *text) { text->length = 0; }

bool carom_text_buffer_reserve(carom_text_buffer *text, size_t size) {
  if (text->failed) return false;
  if (size <= text->capacity - text->length) return true;
  size_t wanted = text->capacity + text->capacity / 2 + 256;
  if (size > SIZE_MAX / 2 - text->length) {
    text->failed = true;
    return false;
  }
  if (wanted < text->length + size) wanted = text->length + size;
  char *data = text->allocator.resize(text->allocator.context, text->data, wanted);
  if (!data) {
    text->failed = true;
    return false;
  }
  text->data = data;
  text->capacity = wanted;
  return true;
}

void carom_text_buffer_add_n(carom_text_buffer *text, const void *bytes, size_t size) {
  if (size == 0 || !carom_text_buffer_reserve(text, size)) return;
  memcpy(text->data + text->length, bytes, size);
  text->length += size;
}

void carom_text_buffer_add(carom_text_buffer *text, const char *string) {
  carom_text_buffer_add_n(text, string, strlen(string));
}

void carom_text_buffer_print(carom_text_buffer *text, const char *format, ...) {
  char line[512];
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  if (length < 0 || (size_t)length >= sizeof line) {
    text->failed = true;  // our own mistake: long strings go through carom_text_buffer_add
    return;
  }
  carom_text_buffer_add_n(text, line, (size_t)length);
}

// ---- numbers -------------------------------------------------------------------------------------------------------

// printf writes the decimal sign of the host's locale, which may be a comma or several bytes: it is all that stands
// between the leading digits and the next digit or exponent.
static int point_for_locale_sign(char *number, int length) {
  int i = number[0] == '-';
  while (number[i] >= '0' && number[i] <= '9') i++;
  int end = i;
  while (number[end] && number[end] != 'e' && !(number[end] >= '0' && number[end] <= '9')) end++;
  if (end == i) return length;
  number[i] = '.';
  memmove(number + i + 1, number + end, (size_t)(length - end) + 1);
  return length - (end - i) + 1;
}

int carom_number_text(char out[CAROM_NUMBER_SIZE], double value, int digits) {
  if (isnan(value)) return (int)strlen(strcpy(out, "nan"));
  if (isinf(value)) return (int)strlen(strcpy(out, value > 0 ? "inf" : "-inf"));
  int length = snprintf(out, CAROM_NUMBER_SIZE, "%.*g", digits, value);
  return point_for_locale_sign(out, length);
}

void carom_text_buffer_number(carom_text_buffer *text, double value, int digits) {
  if (!carom_text_buffer_reserve(text, CAROM_NUMBER_SIZE)) return;
  text->length += (size_t)carom_number_text(text->data + text->length, value, digits);
}

// ---- JSON ----------------------------------------------------------------------------------------------------------

static void add_json_number(carom_text_buffer *text, double value, int digits) {
  if (isfinite(value))
    carom_text_buffer_number(text, value, digits);
  else
    carom_text_buffer_add(text, "null");
}

void carom_text_buffer_json_number(carom_text_buffer *text, double value) {
  enum { DIGITS = 9 };  // enough for every float32 to come back as it was
  add_json_number(text, value == 0 ? 0 : value, DIGITS);
}

static void add_json_numbers(carom_text_buffer *text, const double *values, int count, int digits) {
  for (int i = 0; i < count; i++) {
    carom_text_buffer_add(text, i > 0 ? "," : "[");
    if (digits > 0)
      add_json_number(text, values[i], digits);
    else
      carom_text_buffer_json_number(text, values[i]);
  }
  carom_text_buffer_add(text, count > 0 ? "]" : "[]");
}

void carom_text_buffer_json_numbers(carom_text_buffer *text, const double *values, int count) {
  add_json_numbers(text, values, count, 0);
}

// The Unicode Standard, table 3-7: well-formed UTF-8 byte sequences.
int carom_utf8_length(const char *string) {
  const unsigned char *s = (const unsigned char *)string;
  if (s[0] < 0x80) return 1;
  int length = s[0] >= 0xC2 && s[0] <= 0xDF   ? 2
               : s[0] >= 0xE0 && s[0] <= 0xEF ? 3
               : s[0] >= 0xF0 && s[0] <= 0xF4 ? 4
                                              : 0;
  if (length == 0) return 0;
  int low = s[0] == 0xE0 ? 0xA0 : s[0] == 0xF0 ? 0x90 : 0x80;
  int high = s[0] == 0xED ? 0x9F : s[0] == 0xF4 ? 0x8F : 0xBF;
  if (s[1] < low || s[1] > high) return 0;
  for (int i = 2; i < length; i++)
    if (s[i] < 0x80 || s[i] > 0xBF) return 0;
  return length;
}

// '<' too: neither "</script" nor "<!--" may appear inside a script element.
static bool needs_escape(unsigned code) {
  return carom_steers(code) || code == '"' || code == '\\' || code == '<' || code == '>' || code == '&';
}

void carom_text_buffer_json_string(carom_text_buffer *text, const char *string) {
  carom_text_buffer_add(text, "\"");
  const char *s = string;
  while (*s) {
    int length = carom_utf8_length(s);
    if (length == 0) {
      carom_text_buffer_add(text, "\xEF\xBF\xBD");
      s++;
    } else if (needs_escape(carom_utf8_code(s, length))) {
      carom_text_buffer_print(text, "\\u%04x", carom_utf8_code(s, length));
      s += length;
    } else {
      carom_text_buffer_add_n(text, s, (size_t)length);
      s += length;
    }
  }
  carom_text_buffer_add(text, "\"");
}

void carom_text_buffer_json(carom_text_buffer *text, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  for (const char *at = format; *at;) {
    size_t plain = strcspn(at, "%");
    carom_text_buffer_add_n(text, at, plain);
    at += plain;
    if (!*at++) break;
    int digits = *at == '7' ? 7 : 0;
    if (digits > 0) at++;
    char kind = *at++;
    if (kind == 'd') carom_text_buffer_print(text, "%d", va_arg(arguments, int));
    if (kind == 'z') carom_text_buffer_print(text, "%zu", va_arg(arguments, size_t));
    if (kind == 's') carom_text_buffer_add(text, va_arg(arguments, const char *));
    if (kind == 'b') carom_text_buffer_add(text, va_arg(arguments, int) ? "true" : "false");
    if (kind == 'j') carom_text_buffer_json_string(text, va_arg(arguments, const char *));
    if (kind == 'n' && digits > 0) add_json_number(text, va_arg(arguments, double), digits);
    if (kind == 'n' && digits == 0) carom_text_buffer_json_number(text, va_arg(arguments, double));
    if (kind == 'v' || kind == 'q')
      add_json_numbers(text, va_arg(arguments, const double *), kind == 'v' ? 3 : 4, digits);
  }
  va_end(arguments);
}

void carom_text_buffer_base64(carom_text_buffer *text, const void *bytes, size_t size) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  if (!carom_text_buffer_reserve(text, size / 3 * 4 + 4)) return;
  const unsigned char *b = bytes;
  char *out = text->data + text->length;
  size_t i = 0;
  for (; i + 2 < size; i += 3, out += 4) {
    unsigned v = (unsigned)b[i] << 16 | (unsigned)b[i + 1] << 8 | b[i + 2];
    out[0] = digits[v >> 18];
    out[1] = digits[v >> 12 & 63];
    out[2] = digits[v >> 6 & 63];
    out[3] = digits[v & 63];
  }
  if (i < size) {
    unsigned v = (unsigned)b[i] << 16 | (i + 1 < size ? (unsigned)b[i + 1] << 8 : 0u);
    out[0] = digits[v >> 18];
    out[1] = digits[v >> 12 & 63];
    out[2] = i + 1 < size ? digits[v >> 6 & 63] : '=';
    out[3] = '=';
    out += 4;
  }
  text->length = (size_t)(out - text->data);
}

// Typed values: numbers with dimensions, vectors, words, colours.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "scene/reader.h"

const char *carom_describe(const carom_node *node, char *text, size_t size) {
  if (node->kind == CAROM_NODE_LIST) return node->count == 0 ? "an empty list" : "a list";
  if (node->kind == CAROM_NODE_MAP) return "a mapping";
  if (carom_node_is_null(node)) return "nothing";
  snprintf(text, size, "'%.40s'%s", node->text, node->length > 40 ? "..." : "");
  return text;
}

bool carom_refuse(carom_reader *r, const carom_node *node, const char *hint, const char *format, ...) {
  char text[1000], got[80];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return carom_report(&r->reporter, node->place, hint, "%s, got %s", text, carom_describe(node, got, sizeof got));
}

static bool is_value(const carom_node *node) { return node->kind == CAROM_NODE_SCALAR && !carom_node_is_null(node); }

// ---- numbers -----------------------------------------------------------------------------------------

// Columns count characters, not bytes; text over several lines or with escapes has no column per character.
carom_place carom_value_place(const carom_node *node, size_t offset) {
  carom_place place = node->place;
  if (place.line <= 0 || !node->single_line || memchr(node->text, '\n', node->length)) return place;
  for (size_t i = 0; i < offset && i < node->length; i++) place.column += ((unsigned char)node->text[i] & 0xC0) != 0x80;
  if (node->quoted) place.column++;
  return place;
}

static bool wrong_dimension(carom_reader *r, const carom_node *node, const char *label, carom_dimension wanted,
                            const carom_quantity *got) {
  char name[100], unit[100], other[100], hint[100] = "";
  carom_dimension inverse = CAROM_NUMBER;
  if (carom_dimension_multiply(&inverse, wanted, -1) && carom_dimension_equal(inverse, got->dimension))
    snprintf(hint, sizeof hint, "a unit belongs to the number before it; write (1/60) s instead of 1/60 s");
  const char *symbol = carom_dimension_unit(wanted, unit, sizeof unit);
  return carom_report(&r->reporter, node->place, hint, "'%s' expects %s%s%s%s, got %s", label,
                      carom_dimension_name(wanted, name, sizeof name), symbol[0] ? " (" : "", symbol,
                      symbol[0] ? ")" : "", carom_dimension_name(got->dimension, other, sizeof other));
}

static bool evaluate(carom_reader *r, const carom_node *node, const char *label, carom_dimension dimension,
                     double *value) {
  if (!is_value(node)) {
    char name[100], unit[100];
    const char *symbol = carom_dimension_unit(dimension, unit, sizeof unit);
    return carom_refuse(r, node, NULL, "'%s' expects %s%s%s%s", label,
                        carom_dimension_name(dimension, name, sizeof name), symbol[0] ? " (" : "", symbol,
                        symbol[0] ? ")" : "");
  }
  carom_scope scope = carom_reader_scope(r);
  carom_expression_error error;
  carom_quantity q = {0};
  if (!carom_expression_evaluate(node->text, node->length, &scope, &q, &error)) {
    if (!error.reported)
      carom_report(&r->reporter, carom_value_place(node, error.offset), error.hint, "'%s': %s", label, error.message);
    return false;
  }
  if (!carom_quantity_fits(&q, dimension)) return wrong_dimension(r, node, label, dimension, &q);
  *value = q.value;
  return true;
}

bool carom_read_item(carom_reader *r, const carom_node *node, const char *label, carom_dimension dimension,
                     carom_sign sign, double *value) {
  double v = 0;
  if (!evaluate(r, node, label, dimension, &v)) return false;
  if ((sign == CAROM_POSITIVE && !(v > 0)) || (sign == CAROM_NOT_NEGATIVE && !(v >= 0))) {
    char unit[100];
    const char *symbol = carom_dimension_unit(dimension, unit, sizeof unit);
    return carom_report(&r->reporter, node->place, NULL, "'%s' must be %s, got %g%s%s", label,
                        sign == CAROM_POSITIVE ? "greater than 0" : "0 or more", v, symbol[0] ? " " : "", symbol);
  }
  *value = v;
  return true;
}

bool carom_read_number(carom_reader *r, const carom_node *node, carom_dimension dimension, carom_sign sign,
                       double *value) {
  return !node || carom_read_item(r, node, node->key, dimension, sign, value);
}

static bool read_integer_item(carom_reader *r, const carom_node *node, const char *label, double least, double most,
                              double *value) {
  double v = 0;
  if (!evaluate(r, node, label, CAROM_NUMBER, &v)) return false;
  if (v != floor(v) || v < least || v > most)
    return carom_report(&r->reporter, node->place, NULL, "'%s' must be a whole number from %.0f to %.0f, got %.12g",
                        label, least, most, v);
  *value = v;
  return true;
}

bool carom_read_integer(carom_reader *r, const carom_node *node, double least, double most, double *value) {
  return !node || read_integer_item(r, node, node->key, least, most, value);
}

bool carom_read_int(carom_reader *r, const carom_node *node, int least, int most, int *value) {
  double v = *value;
  if (!carom_read_integer(r, node, least, most, &v)) return false;
  *value = (int)v;
  return true;
}

// ---- lists of numbers --------------------------------------------------------------------------------

bool carom_read_numbers(carom_reader *r, const carom_node *node, const char *label, carom_dimension dimension,
                        int count, double *values) {
  if (node->kind != CAROM_NODE_LIST || node->count != count) {
    char got[80];
    if (node->kind == CAROM_NODE_LIST)
      carom_report(&r->reporter, node->place, NULL, "'%s' expects %d numbers, got %d", label, count, node->count);
    else
      carom_report(&r->reporter, node->place, NULL, "'%s' expects a list of %d numbers, got %s", label, count,
                   carom_describe(node, got, sizeof got));
    return false;
  }
  bool good = true;
  int i = 0;
  for (const carom_node *c = node->first; c; c = c->next, i++)
    good = carom_read_item(r, c, label, dimension, CAROM_ANY, &values[i]) && good;
  return good;
}

bool carom_read_vector_item(carom_reader *r, const carom_node *node, const char *label, carom_dimension dimension,
                            carom_vec3 *value) {
  double v[3] = {0};
  if (!carom_read_numbers(r, node, label, dimension, 3, v)) return false;
  *value = cm_vec3(v[0], v[1], v[2]);
  return true;
}

bool carom_read_vector(carom_reader *r, const carom_node *node, carom_dimension dimension, carom_vec3 *value) {
  return !node || carom_read_vector_item(r, node, node->key, dimension, value);
}

bool carom_read_place(carom_reader *r, const carom_node *node, const char *label, carom_vec3 *value) {
  double v[3] = {0};
  int count = node->kind == CAROM_NODE_LIST && node->count == 2 ? 2 : 3;
  if (!carom_read_numbers(r, node, label, CAROM_LENGTH, count, v)) return false;
  *value = cm_vec3(v[0], v[1], v[2]);
  return true;
}

// ---- words -------------------------------------------------------------------------------------------

bool carom_read_bool(carom_reader *r, const carom_node *node, bool *value) {
  if (!node) return true;
  if (!node->quoted && (carom_node_is(node, "true") || carom_node_is(node, "false"))) {
    *value = carom_node_is(node, "true");
    return true;
  }
  return carom_refuse(r, node, NULL, "'%s' must be true or false", node->key);
}

bool carom_read_text(carom_reader *r, const carom_node *node, const char **value) {
  if (!node) return true;
  if (node->kind == CAROM_NODE_SCALAR && node->length > 0 && !carom_node_is_null(node)) {
    *value = node->text;
    return true;
  }
  char got[80];
  return carom_report(&r->reporter, node->place, NULL, "'%s' expects text, got %s", node->key ? node->key : "the item",
                      node->length == 0 && node->quoted ? "an empty one" : carom_describe(node, got, sizeof got));
}

bool carom_read_choice(carom_reader *r, const carom_node *node, const char *const *words, int *value) {
  if (!node) return true;
  char list[300] = "", hint[100], got[80];
  carom_nearest nearest = carom_nearest_begin(node->text, node->length);
  for (int i = 0; words[i]; i++) {
    if (carom_node_is(node, words[i])) {
      *value = i;
      return true;
    }
    size_t n = strlen(list);
    snprintf(list + n, sizeof list - n, "%s%s", i ? ", " : "", words[i]);
    carom_nearest_try(&nearest, words[i]);
  }
  carom_nearest_hint(&nearest, hint, sizeof hint);
  return carom_report(&r->reporter, node->place, hint, "'%s' must be one of %s, got %s", node->key, list,
                      carom_describe(node, got, sizeof got));
}

static int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool carom_read_color(carom_reader *r, const carom_node *node, uint32_t *color) {
  if (!node) return true;
  bool good = node->kind == CAROM_NODE_SCALAR && node->length == 7 && node->text[0] == '#';
  uint32_t value = 0;
  for (int i = 1; good && i < 7; i++) {
    good = hex_digit(node->text[i]) >= 0;
    value = value << 4 | (uint32_t)(hex_digit(node->text[i]) & 15);
  }
  if (good) {
    *color = value;
    return true;
  }
  char got[80];
  return carom_report(
      &r->reporter, node->place, carom_node_is_null(node) ? "without quotation marks '#' begins a comment" : "",
      "'%s' expects a colour such as \"#8899aa\", got %s", node->key, carom_describe(node, got, sizeof got));
}

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/formula_code.h"

enum { MAX_NESTING = 64, MAX_DIGITS = 400 };

typedef struct parser {
  const char *text;
  size_t length, at;
  int nesting;
  const carom_scope *scope;
  carom_formula_code *code;  // null: no formula
  carom_expression_error *error;
} parser;

static bool parse_whole(parser *p, carom_quantity *q);
static bool parse_factor(parser *p, carom_quantity *q);

// ---- words ---------------------------------------------------------------------------------------------

static const char *const words[] = {"sqrt", "sin",   "cos",  "tan",   "asin",  "acos", "atan", "exp", "log",
                                    "abs",  "floor", "ceil", "atan2", "hypot", "min",  "max",  "mod", "pi"};

const char *carom_expression_word(int index) {
  return index >= 0 && index < (int)(sizeof words / sizeof words[0]) ? words[index] : NULL;
}

static bool equals(const char *name, size_t length, const char *word) {
  return strlen(word) == length && memcmp(name, word, length) == 0;
}

static int find_word(const char *name, size_t length) {
  for (int i = 0; carom_expression_word(i); i++)
    if (equals(name, length, words[i])) return i;
  return -1;
}

bool carom_expression_reserved(const char *name, size_t length) {
  static const char *const indices[] = {"i", "j", "k", "n", "count"};
  for (int i = 0; i < 5; i++)
    if (equals(name, length, indices[i])) return true;
  return find_word(name, length) >= 0 || carom_unit_find(name, length);
}

// ---- errors and characters -----------------------------------------------------------------------------

CAROM_PRINTF(3, 4) static bool fail(parser *p, size_t offset, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(p->error->message, sizeof p->error->message, format, arguments);
  va_end(arguments);
  p->error->offset = offset;
  return false;
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

static char peek(const parser *p) { return p->at < p->length ? p->text[p->at] : '\0'; }

static char next(parser *p) {  // the next character that is no space
  while (p->at < p->length && is_space(p->text[p->at])) p->at++;
  return peek(p);
}

static bool is_name_part(const parser *p, size_t at, bool first) {
  if (at >= p->length) return false;
  char c = p->text[at];
  if (c == '.' && p->code && !first && at + 1 < p->length)
    return is_letter(p->text[at + 1]) || is_digit(p->text[at + 1]);
  return is_letter(c) || (!first && is_digit(c));
}

static size_t name_length(const parser *p, size_t at) {
  size_t n = 0;
  while (is_name_part(p, at + n, n == 0)) n++;
  return n;
}

static bool at_word(const parser *p, const char *word) { return equals(p->text + p->at, name_length(p, p->at), word); }

static bool unexpected(parser *p) {
  if (p->at >= p->length) return fail(p, p->at, "the expression ends where a number is expected");
  size_t n = name_length(p, p->at);
  if (n == 0) {
    n = 1;  // a whole UTF-8 character
    while (p->at + n < p->length && n < 4 && ((unsigned char)p->text[p->at + n] & 0xC0) == 0x80) n++;
  }
  return fail(p, p->at, "unexpected '%.*s'", (int)(n > 40 ? 40 : n), p->text + p->at);
}

static bool finite(parser *p, const carom_quantity *q, size_t offset) {
  return isfinite(q->value) || fail(p, offset, "the result is too large or not a number");
}

// ---- code ----------------------------------------------------------------------------------------------

static int mark(const parser *p) { return p->code ? p->code->count : 0; }

static bool lives(const carom_operand *operands, int count) {
  for (int i = 0; i < count; i++)
    if (operands[i].quantity->live) return true;
  return false;
}

// What is left on the stack is a plain number.
static bool emit(parser *p, const carom_operand *operands, int count, carom_formula_step step, carom_quantity *q) {
  if (!carom_code_apply(p->code, operands, count, step))
    return fail(p, p->at, "the formula has more than %d steps", CAROM_FORMULA_STEPS);
  *q = (carom_quantity){.plain = true, .live = true};
  return true;
}

static bool emit_two(parser *p, carom_formula_op op, const carom_operand *operands, carom_quantity *q) {
  return emit(p, operands, 2, (carom_formula_step){.op = op}, q);
}

// ---- numbers -------------------------------------------------------------------------------------------

// Decimal digits without their point, and the power of ten that makes up for it: strtod then sees no decimal point,
// whose spelling depends on the locale.
typedef struct decimal {
  char digits[MAX_DIGITS + 1];
  int count, exponent;
} decimal;

static bool scan_digits(parser *p, decimal *d) {
  bool any = false, point = false;
  for (; is_digit(peek(p)) || (peek(p) == '.' && !point); p->at++) {
    if (peek(p) == '.') {
      point = true;
      continue;
    }
    any = true;
    if (point) d->exponent--;
    if (d->count == 0 && peek(p) == '0') continue;  // leading zeros
    if (d->count == MAX_DIGITS) return fail(p, p->at, "the number has more than %d digits", MAX_DIGITS);
    d->digits[d->count++] = peek(p);
  }
  return any || unexpected(p);
}

// "e-3", but not the beginning of a word: "2 e" and "2em" are none.
static bool scan_exponent(parser *p, decimal *d) {
  if (peek(p) != 'e' && peek(p) != 'E') return true;
  size_t at = p->at + 1;
  bool negative = at < p->length && p->text[at] == '-';
  if (at < p->length && (p->text[at] == '-' || p->text[at] == '+')) at++;
  if (at >= p->length || !is_digit(p->text[at])) return true;
  int e = 0;
  for (; at < p->length && is_digit(p->text[at]); at++)
    if (e < 100000) e = 10 * e + (p->text[at] - '0');
  d->exponent += negative ? -e : e;
  p->at = at;
  return true;
}

static double convert(const decimal *d) {
  if (d->count == 0) return 0;
  char text[MAX_DIGITS + 20];
  snprintf(text, sizeof text, "%.*se%d", d->count, d->digits, d->exponent);
  return strtod(text, NULL);
}

static bool parse_number(parser *p, carom_quantity *q) {
  size_t start = p->at;
  decimal d = {.count = 0, .exponent = 0};
  if (!scan_digits(p, &d) || !scan_exponent(p, &d)) return false;
  *q = (carom_quantity){.value = convert(&d), .plain = true};
  return finite(p, q, start);
}

// ---- units ---------------------------------------------------------------------------------------------

static bool parse_unit_power(parser *p, int *power) {
  *power = 1;
  if (peek(p) != '^') return true;
  size_t start = p->at++;
  bool negative = peek(p) == '-';
  if (negative) p->at++;
  if (!is_digit(peek(p))) return fail(p, start, "the power of a unit must be a whole number");
  int e = 0;
  for (; is_digit(peek(p)); p->at++)
    if (e < 1000) e = 10 * e + (peek(p) - '0');
  *power = negative ? -e : e;
  return true;
}

// In a formula, time hides the tonne, and min( is no minute.
static bool is_hidden(const parser *p, size_t at, size_t n) {
  carom_quantity ignored;
  int slot;
  if (!p->code) return false;
  if (at + n < p->length && p->text[at + n] == '(') return true;
  return p->code->names->find(p->code->names->context, p->text + at, n, &ignored, &slot) > 0;
}

static const carom_unit *unit_at(const parser *p, size_t at) {
  size_t n = name_length(p, at);
  const carom_unit *unit = n > 0 ? carom_unit_find(p->text + at, n) : NULL;
  return unit && !is_hidden(p, at, n) ? unit : NULL;
}

static bool apply_unit(parser *p, const carom_unit *unit, int sign, carom_quantity *q) {
  size_t start = p->at;
  p->at += name_length(p, p->at);
  int power;
  if (!parse_unit_power(p, &power)) return false;
  power *= sign;
  if (!carom_dimension_multiply(&q->dimension, unit->dimension, power))
    return fail(p, start, "the power of the unit is out of range");
  // Dividing by the power of ten is exact where multiplying by its reciprocal is not: 5 mm is 5/1000.
  bool small = unit->factor < 1 && unit->dimension.rad == 0;
  double factor = small ? round(1 / unit->factor) : unit->factor;
  if (small) power = -power;
  for (; power > 0; power--) q->value *= factor;
  for (; power < 0; power++) q->value /= factor;
  q->plain = false;
  return finite(p, q, start);
}

// The units behind a number or a closing parenthesis. A "*" or "/" belongs to them when a unit follows it; no
// constant may be called as a unit is, so this is never ambiguous.
static bool parse_units(parser *p, carom_quantity *q) {
  next(p);
  const carom_unit *unit = unit_at(p, p->at);
  if (!unit) return true;
  if (q->live) return fail(p, p->at, "'%s' follows a value that changes; write '* 1 %s'", unit->name, unit->name);
  if (!q->plain) return fail(p, p->at, "'%s' follows a value that has a unit already", unit->name);
  int sign = 1;
  while (unit) {
    if (!apply_unit(p, unit, sign, q)) return false;
    size_t after = p->at;
    char c = next(p);
    sign = c == '/' ? -1 : 1;
    if (c == '*' || c == '/') p->at++;
    next(p);
    unit = unit_at(p, p->at);
    if (!unit) p->at = after;
  }
  return true;
}

// ---- functions -----------------------------------------------------------------------------------------

static int argument_count(carom_function f) { return f >= CAROM_ATAN2 ? 2 : 1; }

// For sums, minima and the like: one plain side takes the other's dimension.
static bool unify(parser *p, size_t offset, carom_quantity *a, const carom_quantity *b, const char *what) {
  if (b->plain) return true;
  if (a->plain) {
    a->plain = false;
    a->dimension = b->dimension;
    return true;
  }
  if (carom_dimension_equal(a->dimension, b->dimension)) return true;
  char ta[80], tb[80];
  return fail(p, offset, "cannot %s %s and %s", what, carom_dimension_name(a->dimension, ta, sizeof ta),
              carom_dimension_name(b->dimension, tb, sizeof tb));
}

static bool check_argument(parser *p, carom_function f, const carom_quantity *a, size_t offset) {
  if (a->plain || f == CAROM_SQRT || f == CAROM_ABS || f == CAROM_FLOOR || f == CAROM_CEIL || f >= CAROM_ATAN2)
    return true;
  bool trigonometric = f == CAROM_SIN || f == CAROM_COS || f == CAROM_TAN;
  if (trigonometric && carom_quantity_fits(a, CAROM_ANGLE)) return true;
  char text[80];
  return fail(p, offset, "%s expects %s, got %s", words[f], trigonometric ? "an angle" : "a plain number",
              carom_dimension_name(a->dimension, text, sizeof text));
}

static bool square_root(parser *p, carom_quantity *q, size_t offset) {
  q->value = sqrt(q->value);
  carom_dimension *d = &q->dimension;
  if (d->m % 2 || d->kg % 2 || d->s % 2 || d->rad % 2 || d->c % 2) {
    char text[80];
    return fail(p, offset, "%s has no square root", carom_dimension_name(*d, text, sizeof text));
  }
  *d = CAROM_DIMENSION((signed char)(d->m / 2), (signed char)(d->kg / 2), (signed char)(d->s / 2),
                       (signed char)(d->rad / 2), (signed char)(d->c / 2));
  return true;
}

static bool apply_function(parser *p, carom_function f, const carom_quantity *a, size_t offset, carom_quantity *q) {
  if (!check_argument(p, f, &a[0], offset)) return false;
  *q = a[0];
  if (f == CAROM_SQRT) {
    if (!square_root(p, q, offset)) return false;
  } else if (f < CAROM_ATAN2) {
    q->value = carom_function_value(f, a[0].value, 0);
    if (f != CAROM_ABS && f != CAROM_FLOOR && f != CAROM_CEIL) *q = (carom_quantity){.value = q->value, .plain = true};
  } else {
    if (!unify(p, offset, q, &a[1], "compare")) return false;
    q->value = carom_function_value(f, a[0].value, a[1].value);
    if (f == CAROM_ATAN2) *q = (carom_quantity){.value = q->value, .plain = true};
  }
  if (isnan(q->value)) {
    if (argument_count(f) == 2) return fail(p, offset, "%s(%g, %g) is not defined", words[f], a[0].value, a[1].value);
    return fail(p, offset, "%s(%g) is not defined", words[f], a[0].value);
  }
  return finite(p, q, offset);
}

// "(a, b)": so many arguments, with where their code begins.
static bool parse_arguments(parser *p, const char *word, int count, carom_quantity *a, carom_operand *operands) {
  p->at++;  // the opening parenthesis
  for (int i = 0; i < count; i++) {
    if (i > 0) {
      if (next(p) != ',') return fail(p, p->at, "%s expects %d arguments", word, count);
      p->at++;
    }
    operands[i] = (carom_operand){&a[i], mark(p)};
    if (!parse_whole(p, &a[i])) return false;
  }
  if (next(p) == ',') return fail(p, p->at, "%s expects %d argument%s", word, count, count > 1 ? "s" : "");
  if (next(p) != ')') return fail(p, p->at, "')' is missing");
  p->at++;
  return true;
}

static bool parse_call(parser *p, carom_function f, size_t offset, carom_quantity *q) {
  carom_quantity a[2] = {{.plain = true}, {.plain = true}};
  carom_operand operands[2];
  int count = argument_count(f);
  if (!parse_arguments(p, words[f], count, a, operands)) return false;
  if (lives(operands, count))
    return emit(p, operands, count, (carom_formula_step){.op = CAROM_OP_CALL, .index = (int)f}, q);
  return apply_function(p, f, a, offset, q);
}

static bool parse_if(parser *p, size_t offset, carom_quantity *q) {
  carom_quantity a[3] = {{.plain = true}, {.plain = true}, {.plain = true}};
  carom_operand operands[3];
  if (next(p) != '(') return fail(p, offset, "if needs a condition and two values in parentheses");
  if (!parse_arguments(p, "if", 3, a, operands)) return false;
  if (lives(operands, 3)) return emit(p, operands, 3, (carom_formula_step){.op = CAROM_OP_SELECT}, q);
  *q = carom_is_true(a[0].value) ? a[1] : a[2];
  return unify(p, offset, q, carom_is_true(a[0].value) ? &a[2] : &a[1], "choose between");
}

// "most(x)": the argument becomes a formula of its own.
static bool parse_reducer(parser *p, int reducer, size_t offset, carom_quantity *q) {
  const carom_formula_scope *names = p->code->names;
  carom_quantity a = {.plain = true};
  carom_operand operand;
  carom_formula *argument;
  if (next(p) != '(') return fail(p, offset, "%s needs its argument in parentheses", names->reducers[reducer]);
  if (!parse_arguments(p, names->reducers[reducer], 1, &a, &operand)) return false;
  if (!carom_code_cut(p->code, operand, &argument)) return fail(p, offset, "the formula is too deeply nested");
  int slot = argument ? names->reduce(names->context, reducer, argument) : -1;
  p->code->no_memory = slot < 0;
  return slot >= 0 && emit(p, NULL, 0, (carom_formula_step){.op = CAROM_OP_SLOT, .index = slot}, q);
}

// ---- names, parentheses, operators ---------------------------------------------------------------------

static void suggest_names(const carom_formula_scope *names, carom_nearest *nearest) {
  for (int i = 0; names->reducers && names->reducers[i]; i++) carom_nearest_try(nearest, names->reducers[i]);
  if (names->suggest) names->suggest(names->context, nearest);
}

static bool unknown_name(parser *p, size_t start, size_t n) {
  const char *name = p->text + start;
  if (carom_unit_find(name, n)) return fail(p, start, "the unit '%.*s' needs a number before it", (int)n, name);
  carom_nearest nearest = carom_nearest_begin(name, n);
  for (int i = 0; carom_expression_word(i); i++) carom_nearest_try(&nearest, words[i]);
  if (p->scope && p->scope->suggest) p->scope->suggest(p->scope->context, &nearest);
  if (p->code) suggest_names(p->code->names, &nearest);
  carom_nearest_hint(&nearest, p->error->hint, sizeof p->error->hint);
  if (carom_expression_reserved(name, n) && !p->code)
    snprintf(p->error->hint, sizeof p->error->hint, "i, j, k, n and count exist in replicated bodies only");
  return fail(p, start, "unknown name '%.*s'", (int)(n > 60 ? 60 : n), name);
}

static bool name_in_error(parser *p, size_t start, size_t n) {
  p->error->reported = true;
  return fail(p, start, "'%.*s' is in error", (int)(n > 60 ? 60 : n), p->text + start);
}

// A channel, time or a constant.
static bool resolve(parser *p, size_t start, size_t n, carom_quantity *q) {
  int slot = -1, found;
  if (p->code)
    found = p->code->names->find(p->code->names->context, p->text + start, n, q, &slot);
  else
    found = p->scope ? p->scope->find(p->scope->context, p->text + start, n, q) : 0;
  if (found < 0) return name_in_error(p, start, n);
  if (found == 0) return unknown_name(p, start, n);
  return slot < 0 || emit(p, NULL, 0, (carom_formula_step){.op = CAROM_OP_SLOT, .index = slot}, q);
}

static int find_reducer(const parser *p, size_t start, size_t n) {
  const char *const *reducers = p->code ? p->code->names->reducers : NULL;
  for (int i = 0; reducers && reducers[i]; i++)
    if (equals(p->text + start, n, reducers[i])) return i;
  return -1;
}

static bool parse_name(parser *p, carom_quantity *q) {
  size_t start = p->at, n = name_length(p, start);
  p->at += n;
  int reducer = find_reducer(p, start, n);
  if (reducer >= 0) return parse_reducer(p, reducer, start, q);
  if (p->code && equals(p->text + start, n, "if")) return parse_if(p, start, q);
  int word = find_word(p->text + start, n);
  if (word >= CAROM_FUNCTION_COUNT) {
    *q = (carom_quantity){.value = 3.14159265358979323846, .plain = true};
    return true;
  }
  if (word >= 0) {
    if (next(p) != '(') return fail(p, start, "the function %s needs its argument in parentheses", words[word]);
    return parse_call(p, (carom_function)word, start, q) && parse_units(p, q);
  }
  return resolve(p, start, n, q);
}

static bool parse_quoted(parser *p, carom_quantity *q) {
  size_t start = ++p->at;
  while (p->at < p->length && peek(p) != '\'') p->at++;
  if (p->at == p->length) return fail(p, start - 1, "the quote is not closed");
  p->at++;
  return resolve(p, start, p->at - 1 - start, q);
}

static void list_units(char *hint, size_t size) {
  size_t n = (size_t)snprintf(hint, size, "known:");
  for (int i = 0; carom_unit_at(i) && n < size; i++)
    n += (size_t)snprintf(hint + n, size - n, " %s", carom_unit_at(i)->name);
}

// A word right behind a value: most likely a unit that we do not know.
static bool unknown_unit(parser *p) {
  size_t n = name_length(p, p->at);
  carom_nearest nearest = carom_nearest_begin(p->text + p->at, n);
  for (int i = 0; carom_unit_at(i); i++) carom_nearest_try(&nearest, carom_unit_at(i)->name);
  carom_nearest_hint(&nearest, p->error->hint, sizeof p->error->hint);
  if (!nearest.best) list_units(p->error->hint, sizeof p->error->hint);
  return fail(p, p->at, "unknown unit '%.*s'", (int)(n > 40 ? 40 : n), p->text + p->at);
}

static bool at_logic(const parser *p) { return p->code && (at_word(p, "and") || at_word(p, "or")); }

static bool parse_primary(parser *p, carom_quantity *q) {
  char c = next(p);
  if (is_digit(c) || c == '.') {
    if (p->text[p->at] == '.' && p->length - p->at >= 4 && is_letter(p->text[p->at + 1]))
      return fail(p, p->at, "expected a finite number, got '%.*s'",
                  (int)(p->length - p->at > 8 ? 8 : p->length - p->at), p->text + p->at);
    if (!parse_number(p, q) || !parse_units(p, q)) return false;
    return !is_letter(next(p)) || at_logic(p) || unknown_unit(p);
  }
  if (is_letter(c)) return parse_name(p, q);
  if (c == '\'' && p->code) return parse_quoted(p, q);
  if (c != '(') return unexpected(p);
  p->at++;
  if (!parse_whole(p, q)) return false;
  if (next(p) != ')') return fail(p, p->at, "')' is missing");
  p->at++;
  return parse_units(p, q);
}

static bool raise(parser *p, carom_quantity *q, const carom_quantity *e, size_t offset) {
  if (!e->plain) return fail(p, offset, "an exponent must be a plain number");
  if (!q->plain) {
    if (e->value != floor(e->value) || fabs(e->value) > 24)
      return fail(p, offset, "a quantity with a unit needs a whole exponent");
    carom_dimension d = CAROM_NUMBER;
    if (!carom_dimension_multiply(&d, q->dimension, (int)e->value))
      return fail(p, offset, "the exponent is out of range");
    q->dimension = d;
  }
  if (q->value == 0 && e->value < 0) return fail(p, offset, "division by zero");
  q->value = pow(q->value, e->value);
  return finite(p, q, offset);
}

static bool parse_power(parser *p, carom_quantity *q) {
  int begin = mark(p);
  if (!parse_primary(p, q)) return false;
  if (next(p) != '^') return true;
  size_t offset = p->at++;
  carom_quantity e = {0};
  const carom_operand operands[2] = {{q, begin}, {&e, mark(p)}};
  if (!parse_factor(p, &e)) return false;
  if (lives(operands, 2) && e.plain) return emit_two(p, CAROM_OP_POWER, operands, q);
  return raise(p, q, &e, offset);
}

static bool negate(parser *p, carom_quantity *q) {
  if (q->live) return emit(p, &(carom_operand){q, 0}, 1, (carom_formula_step){.op = CAROM_OP_NEGATE}, q);
  q->value = -q->value;
  return true;
}

// Every way to nest leads through here.
static bool parse_factor(parser *p, carom_quantity *q) {
  if (p->nesting >= MAX_NESTING) return fail(p, p->at, "the expression is nested more than %d deep", MAX_NESTING);
  p->nesting++;
  bool good;
  char c = next(p);
  if (c == '-' || c == '+') {
    p->at++;
    good = parse_factor(p, q);
    if (good && c == '-') good = negate(p, q);
  } else {
    good = parse_power(p, q);
  }
  p->nesting--;
  return good;
}

static bool multiply(parser *p, carom_quantity *q, const carom_operand *operands, char symbol, size_t offset) {
  const carom_quantity *b = operands[1].quantity;
  if (symbol == '/' && !b->live && b->value == 0) return fail(p, offset, "division by zero");
  if (lives(operands, 2)) return emit_two(p, symbol == '*' ? CAROM_OP_MULTIPLY : CAROM_OP_DIVIDE, operands, q);
  q->value = symbol == '*' ? q->value * b->value : q->value / b->value;
  q->plain = q->plain && b->plain;
  if (!carom_dimension_multiply(&q->dimension, b->dimension, symbol == '*' ? 1 : -1))
    return fail(p, offset, "the units multiply out of range");
  return finite(p, q, offset);
}

static bool parse_product(parser *p, carom_quantity *q) {
  int begin = mark(p);
  if (!parse_factor(p, q)) return false;
  for (char c = next(p); c == '*' || c == '/'; c = next(p)) {
    size_t offset = p->at++;
    carom_quantity b = {0};
    const carom_operand operands[2] = {{q, begin}, {&b, mark(p)}};
    if (!parse_factor(p, &b) || !multiply(p, q, operands, c, offset)) return false;
  }
  return true;
}

static bool add(parser *p, carom_quantity *q, const carom_operand *operands, char symbol, size_t offset) {
  const carom_quantity *b = operands[1].quantity;
  if (lives(operands, 2)) return emit_two(p, symbol == '+' ? CAROM_OP_ADD : CAROM_OP_SUBTRACT, operands, q);
  if (!unify(p, offset, q, b, symbol == '+' ? "add" : "subtract")) return false;
  q->value = symbol == '+' ? q->value + b->value : q->value - b->value;
  return finite(p, q, offset);
}

static bool parse_sum(parser *p, carom_quantity *q) {
  int begin = mark(p);
  if (!parse_product(p, q)) return false;
  for (char c = next(p); c == '+' || c == '-'; c = next(p)) {
    size_t offset = p->at++;
    carom_quantity b = {0};
    const carom_operand operands[2] = {{q, begin}, {&b, mark(p)}};
    if (!parse_product(p, &b) || !add(p, q, operands, c, offset)) return false;
  }
  return true;
}

// ---- comparisons and logic: in formulas only -----------------------------------------------------------

static bool at_relation(parser *p, carom_formula_op *op) {
  char c = next(p), then = p->at + 1 < p->length ? p->text[p->at + 1] : '\0';
  bool equal = then == '=';
  if ((c != '<' && c != '>' && c != '=' && c != '!') || ((c == '=' || c == '!') && !equal)) return false;
  if (c == '<') *op = equal ? CAROM_OP_LESS_EQUAL : CAROM_OP_LESS;
  if (c == '>') *op = equal ? CAROM_OP_GREATER_EQUAL : CAROM_OP_GREATER;
  if (c == '=' || c == '!') *op = c == '=' ? CAROM_OP_EQUAL : CAROM_OP_NOT_EQUAL;
  return true;
}

// Of what is constant, now; of what is not, in the code.
static bool decide(parser *p, carom_formula_op op, const carom_operand *operands, carom_quantity *q) {
  if (lives(operands, 2)) return emit_two(p, op, operands, q);
  const carom_formula_step step = {.op = op};
  double value = carom_formula_combine(&step, operands[0].quantity->value, operands[1].quantity->value);
  *q = (carom_quantity){.value = value, .plain = true};
  return true;
}

static bool parse_relation(parser *p, carom_quantity *q) {
  int begin = mark(p);
  carom_formula_op op, another;
  if (!parse_sum(p, q)) return false;
  if (!at_relation(p, &op)) return peek(p) != '=' || fail(p, p->at, "'=' sets nothing here; compare with '=='");
  size_t offset = p->at;
  p->at += op == CAROM_OP_LESS || op == CAROM_OP_GREATER ? 1 : 2;
  carom_quantity b = {0};
  const carom_operand operands[2] = {{q, begin}, {&b, mark(p)}};
  if (!parse_sum(p, &b)) return false;
  if (at_relation(p, &another)) return fail(p, p->at, "comparisons do not chain; write 'a < b and b < c'");
  return (lives(operands, 2) || unify(p, offset, q, &b, "compare")) && decide(p, op, operands, q);
}

static bool parse_refusal(parser *p, carom_quantity *q) {
  next(p);
  if (!at_word(p, "not")) return parse_relation(p, q);
  if (p->nesting >= MAX_NESTING) return fail(p, p->at, "the expression is nested more than %d deep", MAX_NESTING);
  p->at += 3;
  p->nesting++;
  bool good = parse_refusal(p, q);
  p->nesting--;
  if (!good) return false;
  if (q->live) return emit(p, &(carom_operand){q, 0}, 1, (carom_formula_step){.op = CAROM_OP_NOT}, q);
  *q = (carom_quantity){.value = !carom_is_true(q->value), .plain = true};
  return true;
}

// One level of "and" or "or": operands of the level below, with a word between them.
static bool parse_logic(parser *p, carom_formula_op op, carom_quantity *q) {
  const char *word = op == CAROM_OP_OR ? "or" : "and";
  int begin = mark(p);
  if (!(op == CAROM_OP_OR ? parse_logic(p, CAROM_OP_AND, q) : parse_refusal(p, q))) return false;
  for (next(p); at_word(p, word); next(p)) {
    p->at += strlen(word);
    carom_quantity b = {0};
    const carom_operand operands[2] = {{q, begin}, {&b, mark(p)}};
    if (!(op == CAROM_OP_OR ? parse_logic(p, CAROM_OP_AND, &b) : parse_refusal(p, &b))) return false;
    if (!decide(p, op, operands, q)) return false;
  }
  return true;
}

static bool parse_whole(parser *p, carom_quantity *q) {
  return p->code ? parse_logic(p, CAROM_OP_OR, q) : parse_sum(p, q);
}

static bool parse_to_end(parser *p, carom_quantity *q) {
  if (!parse_whole(p, q)) return false;
  next(p);
  if (p->at < p->length) return is_letter(peek(p)) ? unknown_unit(p) : unexpected(p);
  return true;
}

bool carom_expression_evaluate(const char *text, size_t length, const carom_scope *scope, carom_quantity *result,
                               carom_expression_error *error) {
  carom_expression_error ignored;
  if (!error) error = &ignored;
  *error = (carom_expression_error){0};
  parser p = {.text = text, .length = length, .scope = scope, .error = error};
  carom_quantity q = {0};
  if (!parse_to_end(&p, &q)) return false;
  *result = q;
  return true;
}

bool carom_formula_compile(const char *text, size_t length, const carom_formula_scope *scope,
                           const carom_allocator *allocator, carom_formula **formula, carom_expression_error *error) {
  carom_expression_error ignored;
  if (!error) error = &ignored;
  *error = (carom_expression_error){0};
  *formula = NULL;
  carom_formula_code code = {.names = scope, .allocator = allocator};
  parser p = {.text = text, .length = length, .code = &code, .error = error};
  carom_quantity q = {0};
  if (!parse_to_end(&p, &q)) return false;
  if (!carom_code_cut(&code, (carom_operand){&q, 0}, formula))
    return fail(&p, 0, "the formula needs more than %d numbers at a time; split it", CAROM_FORMULA_DEPTH);
  return *formula != NULL;
}

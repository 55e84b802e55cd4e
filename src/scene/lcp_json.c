// Complementarity problems as JSON: {"M": [[...], ...], "q": [...], "lower": [...], "upper": [...]}, or an array of
// such objects. Other members are passed over. Numbers of nested arrays are taken in the order in which they stand.
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "scene/lcp_file.h"

enum { DEEPEST = 64 };

typedef struct json {
  carom_lcp_set *set;
  carom_text *text;
  carom_error *error;
} json;

typedef struct numbers {
  double *x;
  int count, capacity;
} numbers;

static char peek(const json *j) {
  carom_text *t = j->text;
  for (; t->at < t->end && strchr(" \t\r\n", *t->at) && *t->at; t->at++) t->line += *t->at == '\n';
  return t->at < t->end ? *t->at : 0;
}

static carom_status expected(const json *j, const char *what) {
  carom_word found = {j->text->at, j->text->at < j->text->end};
  return carom_text_expected(j->text, what, found, j->error);
}

static carom_status take(const json *j, char c) {
  char what[4] = {'\'', c, '\'', 0};
  if (peek(j) != c) return expected(j, what);
  j->text->at++;
  return CAROM_OK;
}

static bool take_if(const json *j, char c) {
  bool found = peek(j) == c;
  j->text->at += found;
  return found;
}

// A string; names with escapes are none that we know, and come out as they stand.
static carom_status take_string(const json *j, carom_word *word) {
  carom_status status = take(j, '"');
  if (status != CAROM_OK) return status;
  carom_text *t = j->text;
  word->start = t->at;
  while (t->at < t->end && *t->at != '"') t->at += *t->at == '\\' && t->at + 1 < t->end ? 2 : 1;
  word->length = (size_t)(t->at - word->start);
  return take(j, '"');
}

static carom_word take_bare(const json *j) {
  peek(j);
  carom_word word = {j->text->at, 0};
  while (j->text->at < j->text->end && *j->text->at && !strchr(" \t\r\n,:[]{}\"", *j->text->at)) j->text->at++;
  word.length = (size_t)(j->text->at - word.start);
  return word;
}

// A number, "inf", "-inf", or null for `absent`.
static carom_status take_number(const json *j, double absent, double *value) {
  carom_word word;
  bool quoted = peek(j) == '"';
  if (quoted) {
    carom_status status = take_string(j, &word);
    if (status != CAROM_OK) return status;
  } else {
    word = take_bare(j);
  }
  if (carom_word_is(word, "null") && !isnan(absent)) return *value = absent, CAROM_OK;
  return carom_lcp_number(j->text, word, !isnan(absent), value, j->error);
}

static carom_status push(const json *j, numbers *list, double value) {
  const carom_allocator *a = &j->set->allocator;
  if (!carom_grow(a, (void **)&list->x, list->count, &list->capacity, sizeof(double)))
    return carom_fail(j->error, CAROM_ERR_MEMORY, "%s: out of memory", j->text->name);
  list->x[list->count++] = value;
  return CAROM_OK;
}

// Arrays in arrays, flattened. `absent` is what null stands for; NaN when it is not allowed.
static carom_status take_numbers(const json *j, double absent, numbers *list) {
  int depth = 0;
  do {
    while (take_if(j, '[')) depth++;
    if (depth == 0 || depth > DEEPEST) return expected(j, "an array of numbers");
    if (peek(j) != ']') {
      double value;
      carom_status status = take_number(j, absent, &value);
      if (status == CAROM_OK) status = push(j, list, value);
      if (status != CAROM_OK) return status;
    }
    while (depth > 0 && take_if(j, ']')) depth--;
    if (depth > 0 && !take_if(j, ',')) return expected(j, "',' or ']'");
  } while (depth > 0);
  return CAROM_OK;
}

// Any value, without looking.
static carom_status pass_over(const json *j) {
  int depth = 0;
  do {
    carom_word word;
    char c = peek(j);
    if (c == '[' || c == '{') {
      depth++, j->text->at++;
    } else if (c == ']' || c == '}') {
      if (--depth < 0) return expected(j, "a value");
      j->text->at++;
    } else if (c == ',' || c == ':') {
      if (depth == 0) return expected(j, "a value");
      j->text->at++;
    } else if (c == '"') {
      carom_status status = take_string(j, &word);
      if (status != CAROM_OK) return status;
    } else if (take_bare(j).length == 0) {
      return expected(j, "a value");
    }
  } while (depth > 0);
  return CAROM_OK;
}

// The members of an object that are arrays of numbers.
typedef struct members {
  const char *names[4];
  double **arrays[4];
  double absent[4];  // what null stands for in an array; NaN where it is not allowed
  bool optional[4];  // null instead of an array
  int sizes[4];      // what was read, -1 for nothing
} members;

static carom_status read_member(const json *j, members *m) {
  carom_word name;
  carom_status status = take_string(j, &name);
  if (status == CAROM_OK) status = take(j, ':');
  for (int i = 0; i < 4 && status == CAROM_OK; i++) {
    if (!carom_word_is(name, m->names[i])) continue;
    if (*m->arrays[i]) return carom_text_expected(j->text, "each name once", name, j->error);
    if (m->optional[i] && peek(j) == 'n') return pass_over(j);
    numbers list = {0};
    status = take_numbers(j, m->absent[i], &list);
    *m->arrays[i] = list.x, m->sizes[i] = list.count;
    return status;
  }
  return status == CAROM_OK ? pass_over(j) : status;
}

static carom_status read_members(const json *j, members *m, const char *needed) {
  for (int i = 0; i < 4; i++) m->sizes[i] = -1;
  carom_status status = take(j, '{');
  if (status == CAROM_OK && take_if(j, '}')) return expected(j, needed);
  while (status == CAROM_OK) {
    status = read_member(j, m);
    if (status == CAROM_OK && !take_if(j, ',')) break;
  }
  return status == CAROM_OK ? take(j, '}') : status;
}

// Row by row to column by column.
static void transpose(int n, double *M) {
  for (int i = 0; i < n; i++)
    for (int k = 0; k < i; k++) {
      size_t a = (size_t)i + (size_t)k * (size_t)n, b = (size_t)k + (size_t)i * (size_t)n;
      double t = M[a];
      M[a] = M[b], M[b] = t;
    }
}

static carom_status read_object(const json *j) {
  carom_lcp_record *r = carom_lcp_set_add(j->set);
  if (!r) return carom_fail(j->error, CAROM_ERR_MEMORY, "%s: out of memory", j->text->name);
  members m = {.names = {"m", "q", "lower", "upper"},
               .arrays = {&r->M, &r->q, &r->lower, &r->upper},
               .absent = {NAN, NAN, -INFINITY, INFINITY},
               .optional = {false, false, true, true}};
  const int *sizes = m.sizes;
  carom_status status = read_members(j, &m, "\"M\" and \"q\" in the object");
  if (status != CAROM_OK) return status;
  r->n = sizes[1];
  bool fits = r->n >= 0 && r->n <= CAROM_LCP_FILE_MOST && sizes[0] == r->n * r->n && (!r->lower || sizes[2] == r->n) &&
              (!r->upper || sizes[3] == r->n);
  if (!fits)
    return carom_fail(j->error, CAROM_ERR_FORMAT,
                      "%s:%d: M has %d numbers and q %d; expected n * n and n, and n in each of the bounds",
                      j->text->name, j->text->line, sizes[0] < 0 ? 0 : sizes[0], sizes[1] < 0 ? 0 : sizes[1]);
  transpose(r->n, r->M);
  return CAROM_OK;
}

carom_status carom_lcp_read_json(carom_lcp_set *set, carom_text *text, carom_error *error) {
  json j = {set, text, error};
  set->format = "json";
  bool several = take_if(&j, '[');
  carom_status status;
  do status = read_object(&j);
  while (status == CAROM_OK && several && take_if(&j, ','));
  if (status == CAROM_OK && several) status = take(&j, ']');
  if (status == CAROM_OK && peek(&j)) status = expected(&j, "the end of the file");
  return status;
}

// ---- friction cones ------------------------------------------------------------------------------------------------

// Columns one after the other, so that their lengths follow from the numbers: mu has one a contact.
static carom_status measure_cone(const json *j, const int sizes[4], carom_friction_cone *cone) {
  int contacts = sizes[3], rows = contacts > 0 ? sizes[0] / contacts : 0, per_direction = rows * contacts;
  int D = sizes[1] > 0 ? sizes[1] : 0, F = sizes[2] > 0 ? sizes[2] : 0;
  bool fits = rows > 0 && sizes[0] == rows * contacts && D % per_direction == 0 && F % rows == 0;
  if (!fits)
    return carom_fail(
        j->error, CAROM_ERR_FORMAT,
        "%s:%d: N has %d numbers, D %d, F %d and mu %d; expected a column of N and a number of mu for each "
        "contact, as many columns of D for each, a column of F for each joint, all of one length",
        j->text->name, j->text->line, sizes[0] < 0 ? 0 : sizes[0], D, F, contacts < 0 ? 0 : contacts);
  cone->rows = rows, cone->contacts = contacts, cone->directions = D / per_direction, cone->joints = F / rows;
  return CAROM_OK;
}

carom_status carom_lcp_read_cone(carom_lcp_set *set, carom_text *text, carom_friction_cone *cone, carom_error *error) {
  json j = {set, text, error};
  carom_lcp_record *r = carom_lcp_set_add(set);
  if (!r) return carom_fail(error, CAROM_ERR_MEMORY, "%s: out of memory", text->name);
  members m = {.names = {"n", "d", "f", "mu"},
               .arrays = {&r->M, &r->lower, &r->upper, &r->q},
               .absent = {NAN, NAN, NAN, NAN},
               .optional = {false, true, true, false}};
  carom_status status = read_members(&j, &m, "\"N\" and \"mu\" in the object");
  if (status == CAROM_OK && peek(&j)) status = expected(&j, "the end of the file");
  if (status == CAROM_OK) status = measure_cone(&j, m.sizes, cone);
  cone->N = r->M, cone->D = r->lower, cone->F = r->upper, cone->mu = r->q;
  return status;
}

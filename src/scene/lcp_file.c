// Complementarity problems in files: the set, and which format it is.
#include "scene/lcp_file.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/atomic_file.h"
#include "base/memory.h"
#include "base/read_file.h"
#include "base/text_buffer.h"

static const int64_t FILE_MOST = (int64_t)4 << 30;

// ---- the set -------------------------------------------------------------------------------------------------------

carom_lcp_record *carom_lcp_set_add(carom_lcp_set *set) {
  if (!carom_grow(&set->allocator, (void **)&set->records, set->count, &set->capacity, sizeof *set->records))
    return NULL;
  set->records[set->count] = (carom_lcp_record){0};
  return set->records + set->count++;
}

void carom_lcp_set_destroy(carom_lcp_set *set) {
  if (!set) return;
  carom_allocator a = set->allocator;
  for (int i = 0; i < set->count; i++) {
    CAROM_RELEASE_ALL(&a, set->records[i].M, set->records[i].q, set->records[i].lower, set->records[i].upper);
  }
  CAROM_RELEASE_ALL(&a, set->records, set);
}

int carom_lcp_set_count(const carom_lcp_set *set) { return set->count; }
const char *carom_lcp_set_format(const carom_lcp_set *set) { return set->format; }

carom_mlcp_problem carom_lcp_set_problem(const carom_lcp_set *set, int i) {
  const carom_lcp_record *r = set->records + i;
  return (carom_mlcp_problem){.n = r->n, .M = r->M, .q = r->q, .lower = r->lower, .upper = r->upper};
}

// ---- what the formats share ----------------------------------------------------------------------------------------

carom_status carom_lcp_reserve(carom_lcp_set *set, const carom_text *text, double **array, size_t count,
                               carom_error *error) {
  if (count > (size_t)(text->end - text->at))
    return carom_fail(error, CAROM_ERR_FORMAT, "%s:%d: %zu numbers are announced, but the file ends before", text->name,
                      text->line, count);
  *array = CAROM_NEW(&set->allocator, double, count);
  return *array ? CAROM_OK : carom_fail(error, CAROM_ERR_MEMORY, "%s: no memory for %zu numbers", text->name, count);
}

carom_status carom_lcp_number(const carom_text *text, carom_word word, bool infinite, double *value,
                              carom_error *error) {
  char copy[128], *stop;
  const char *expected = infinite ? "a number, inf or -inf" : "a number";
  bool minus = word.length > 0 && word.start[0] == '-';
  carom_word rest = {word.start + minus, word.length - minus};
  if (infinite && (carom_word_is(rest, "inf") || carom_word_is(rest, "infinity"))) {
    *value = minus ? -INFINITY : INFINITY;
    return CAROM_OK;
  }
  if (word.length == 0 || word.length >= sizeof copy) return carom_text_expected(text, expected, word, error);
  for (size_t i = 0; i < word.length; i++)
    if (!word.start[i] || !strchr("0123456789+-.eE", word.start[i]))
      return carom_text_expected(text, expected, word, error);
  memcpy(copy, word.start, word.length);
  copy[word.length] = 0;
  *value = strtod(copy, &stop);
  if (*stop) return carom_text_expected(text, expected, word, error);
  if (isfinite(*value)) return CAROM_OK;
  return carom_fail(error, CAROM_ERR_NUMBER, "%s:%d: %s is out of range", text->name, text->line, copy);
}

// ---- which format --------------------------------------------------------------------------------------------------

static carom_status read_any(carom_lcp_set *set, carom_text *text, carom_error *error) {
  size_t size = (size_t)(text->end - text->at);
  if (size >= 8 && memcmp(text->at, "LCPFILE1", 8) == 0) return carom_lcp_read_binary(set, text, error);
  carom_text look = *text;
  carom_word word = carom_text_word_anywhere(&look);
  while (word.length > 0 && word.start[0] == '#') {
    carom_text_skip_line(&look);
    word = carom_text_word_anywhere(&look);
  }
  if (carom_word_is(word, "carom-lcp")) return *text = look, carom_lcp_read_text(set, text, error);
  if (word.length > 0 && (word.start[0] == '{' || word.start[0] == '[')) return carom_lcp_read_json(set, text, error);
  if (word.length > 0 && word.start[0] >= '0' && word.start[0] <= '9') return carom_lcp_read_siconos(set, text, error);
  return carom_text_expected(&look, "a complementarity problem: 'carom-lcp 1', JSON, LCPFILE1 or numbers", word, error);
}

typedef carom_status reader(void *context, carom_lcp_set *set, carom_text *text, carom_error *error);

// Reads with numbers as C spells them, whatever the locale. What was made is the caller's after a failure too.
static carom_status read_in_c(const carom_bytes *bytes, reader *read, void *context, carom_lcp_set *set,
                              carom_error *error) {
  const char *data = bytes->data;
  carom_text text = {bytes->name, data, data + bytes->size, 1};
  locale_t own = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0), before = own ? uselocale(own) : (locale_t)0;
  if (!own) return carom_fail(error, CAROM_ERR_MEMORY, "%s: out of memory", bytes->name);
  carom_status status = read(context, set, &text, error);
  uselocale(before), freelocale(own);
  return status;
}

static carom_status read_problems(void *context, carom_lcp_set *set, carom_text *text, carom_error *error) {
  (void)context;
  carom_status status = read_any(set, text, error);
  if (status == CAROM_OK && set->count == 0)
    return carom_fail(error, CAROM_ERR_FORMAT, "%s: there is no problem in the file", text->name);
  return status;
}

static carom_lcp_set *new_set(const char *name, const carom_allocator *allocator, carom_error *error) {
  carom_allocator a = carom_allocator_or_default(allocator);
  carom_lcp_set *set = CAROM_NEW(&a, carom_lcp_set, 1);
  if (!set) carom_fail(error, CAROM_ERR_MEMORY, "%s: out of memory", name);
  if (set) set->allocator = a;
  return set;
}

carom_status carom_lcp_set_parse(const carom_bytes *bytes, const carom_allocator *allocator, carom_lcp_set **set,
                                 carom_error *error) {
  *set = new_set(bytes->name, allocator, error);
  if (!*set) return CAROM_ERR_MEMORY;
  carom_status status = read_in_c(bytes, read_problems, NULL, *set, error);
  if (status == CAROM_OK) return CAROM_OK;
  carom_lcp_set_destroy(*set);
  *set = NULL;
  return status;
}

static carom_status read_path(const char *path, const carom_allocator *a, carom_bytes *bytes, carom_error *error) {
  carom_error why;
  size_t size;
  char *data = carom_read_file(path, FILE_MOST, a, &size, &why);
  *bytes = (carom_bytes){path, data, data ? size : 0};
  if (data) return CAROM_OK;
  return carom_fail(error, why.status, "cannot read '%.700s': %s; correct the path", path, why.message);
}

carom_status carom_lcp_set_read(const char *path, const carom_allocator *allocator, carom_lcp_set **set,
                                carom_error *error) {
  *set = NULL;
  carom_allocator a = carom_allocator_or_default(allocator);
  carom_bytes bytes;
  carom_status status = read_path(path, &a, &bytes, error);
  if (status != CAROM_OK) return status;
  status = carom_lcp_set_parse(&bytes, allocator, set, error);
  carom_release(&a, (void *)bytes.data);
  return status;
}

// ---- friction cones ------------------------------------------------------------------------------------------------

struct carom_cone_file {
  carom_lcp_set *set;
  carom_friction_cone cone;
};

static carom_status read_cone(void *context, carom_lcp_set *set, carom_text *text, carom_error *error) {
  carom_cone_file *file = context;
  return carom_lcp_read_cone(set, text, &file->cone, error);
}

void carom_cone_file_destroy(carom_cone_file *file) {
  if (!file) return;
  carom_allocator a = file->set->allocator;
  carom_lcp_set_destroy(file->set);
  carom_release(&a, file);
}

carom_friction_cone carom_cone_file_cone(const carom_cone_file *file) { return file->cone; }

static carom_status parse_cone(const carom_bytes *bytes, const carom_allocator *a, carom_cone_file **file,
                               carom_error *error) {
  carom_lcp_set *set = new_set(bytes->name, a, error);
  if (!set) return CAROM_ERR_MEMORY;
  *file = CAROM_NEW(a, carom_cone_file, 1);
  if (!*file) {
    carom_lcp_set_destroy(set);
    return carom_fail(error, CAROM_ERR_MEMORY, "%s: out of memory", bytes->name);
  }
  (*file)->set = set;
  return read_in_c(bytes, read_cone, *file, set, error);
}

carom_status carom_cone_file_read(const char *path, const carom_allocator *allocator, carom_cone_file **file,
                                  carom_error *error) {
  *file = NULL;
  carom_allocator a = carom_allocator_or_default(allocator);
  carom_bytes bytes;
  carom_status status = read_path(path, &a, &bytes, error);
  if (status != CAROM_OK) return status;
  status = parse_cone(&bytes, &a, file, error);
  carom_release(&a, (void *)bytes.data);
  if (status == CAROM_OK) return CAROM_OK;
  carom_cone_file_destroy(*file);
  *file = NULL;
  return status;
}

// ---- writing -------------------------------------------------------------------------------------------------------

static void add_numbers(carom_text_buffer *text, const double *x, int count, size_t stride) {
  for (int i = 0; i < count; i++) {
    double value = x[(size_t)i * stride];
    if (i > 0) carom_text_buffer_add(text, " ");
    if (isinf(value))
      carom_text_buffer_add(text, value > 0 ? "inf" : "-inf");
    else
      carom_text_buffer_number(text, value, 17);
  }
  carom_text_buffer_add(text, "\n");
}

static void add_remark(carom_text_buffer *text, const char *remark) {
  carom_text_buffer_add(text, "# ");
  for (const char *c = remark; *c; c++) {
    carom_text_buffer_add_n(text, c, 1);
    if (*c == '\n') carom_text_buffer_add(text, "# ");
  }
  carom_text_buffer_add(text, "\n");
}

static void add_problem(carom_text_buffer *text, const carom_mlcp_problem *problem) {
  int n = problem->n;
  carom_text_buffer_print(text, "carom-lcp 1\nn %d\nM\n", n);
  for (int i = 0; i < n; i++) add_numbers(text, problem->M + i, n, (size_t)n);
  carom_text_buffer_add(text, "q\n");
  add_numbers(text, problem->q, n, 1);
  if (problem->lower) carom_text_buffer_add(text, "lower\n"), add_numbers(text, problem->lower, n, 1);
  if (problem->upper) carom_text_buffer_add(text, "upper\n"), add_numbers(text, problem->upper, n, 1);
}

carom_status carom_lcp_write(const carom_mlcp_problem *problem, const char *path, const char *remark,
                             const carom_allocator *allocator, carom_error *error) {
  carom_allocator a = carom_allocator_or_default(allocator);
  carom_atomic_file file = {0};
  carom_text_buffer text = carom_text_buffer_make(&a);
  if (remark) add_remark(&text, remark);
  add_problem(&text, problem);
  carom_status status = text.failed ? carom_fail(error, CAROM_ERR_MEMORY, "cannot write '%s': out of memory", path)
                                    : carom_atomic_file_open(&file, path, &a, error);
  if (status == CAROM_OK) file.quick = true, status = carom_atomic_file_write(&file, text.data, text.length, error);
  if (status == CAROM_OK) status = carom_atomic_file_commit(&file, error);
  carom_atomic_file_abandon(&file);
  carom_text_buffer_release(&text);
  return status;
}

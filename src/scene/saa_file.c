// Stochastic programs in files: which format it is, and YAML from its top down.
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "scene/saa_reader.h"
#include "scene/smps.h"

bool carom_saa_has_errors(const carom_saa_reader *p) { return p->r.reporter.list->error_count > 0; }

// ---- names ----------------------------------------------------------------------------------------------------------

enum { LONGEST = 60 };

static bool is_word(const char *s) {
  bool good = *s && !(*s >= '0' && *s <= '9') && strlen(s) <= LONGEST;
  for (; *s; s++)
    good = good && ((*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') || (*s >= '0' && *s <= '9') || *s == '_');
  return good;
}

bool carom_saa_check_name(carom_saa_reader *p, const carom_node *node, const char *name, const char *what) {
  carom_reporter *to = &p->r.reporter;
  if (!is_word(name))
    return carom_report(to, node->key_at, NULL,
                        "'%.80s' cannot be the name of %s: letters, digits and '_', at most %d, no digit first", name,
                        what, LONGEST);
  if (carom_expression_reserved(name, strlen(name)))
    return carom_report(to, node->key_at, "choose another name",
                        "'%.80s' has a meaning of its own and cannot be the name of %s", name, what);
  if (carom_names_find(&p->unknowns, name) >= 0 || carom_names_find(&p->variables, name) >= 0 ||
      carom_names_find(&p->r.constant_names, name) >= 0)
    return carom_report(to, node->key_at, "choose another name", "the name '%.80s' is given already", name);
  return true;
}

// ---- loops ----------------------------------------------------------------------------------------------------------

bool carom_saa_read_loop(carom_saa_reader *p, const carom_node *node, carom_saa_loop *loop) {
  double range[2];
  *loop = (carom_saa_loop){0};
  if (!node) return true;
  if (node->kind != CAROM_NODE_MAP || node->count != 1)
    return carom_report(&p->r.reporter, node->place, NULL, "'for' expects one index and its range, {k: [0, 9]}");
  if (!carom_read_numbers(&p->r, node->first, node->first->key, CAROM_NUMBER, 2, range)) return false;
  if (range[0] != floor(range[0]) || range[1] != floor(range[1]) || range[0] > range[1] || range[1] - range[0] > 1e5 ||
      fabs(range[0]) > 1e9 || fabs(range[1]) > 1e9)
    return carom_report(&p->r.reporter, node->first->place, NULL,
                        "'for' expects two whole numbers, the smaller one first, got %g and %g", range[0], range[1]);
  *loop = (carom_saa_loop){node->first->key, (int)range[0], (int)range[1], (int)range[0]};
  return true;
}

// The index of the loop beside the constants.
static int find_index(void *context, const char *name, size_t length, carom_quantity *value) {
  carom_saa_reader *p = context;
  carom_scope scope = carom_reader_scope(&p->r);
  if (!p->loop.name || strlen(p->loop.name) != length || memcmp(name, p->loop.name, length) != 0)
    return scope.find(scope.context, name, length, value);
  *value = (carom_quantity){.value = p->loop.at, .plain = true};
  return 1;
}

static void suggest(void *context, carom_nearest *nearest) {
  carom_saa_reader *p = context;
  if (p->loop.name) carom_nearest_try(nearest, p->loop.name);
  carom_nearest_try_all(nearest, &p->r.constant_names);
}

static bool evaluate_brace(carom_saa_reader *p, const carom_node *node, const char *text, size_t length, int *value) {
  const carom_scope scope = {p, find_index, suggest};
  carom_expression_error error;
  carom_quantity q = {0};
  if (!carom_expression_evaluate(text, length, &scope, &q, &error)) {
    if (!error.reported) carom_report(&p->r.reporter, node->place, error.hint, "in braces: %s", error.message);
    return false;
  }
  if (q.value != floor(q.value) || fabs(q.value) > 1e9)
    return carom_report(&p->r.reporter, node->place, NULL, "in braces: '%.*s' is %g and no whole number", (int)length,
                        text, q.value);
  *value = (int)q.value;
  return true;
}

const char *carom_saa_expand(carom_saa_reader *p, const carom_node *node, const char *text) {
  if (!strchr(text, '{')) return text;
  size_t room = strlen(text) + 1, at = 0;
  for (const char *c = text; *c; c++) room += *c == '{' ? 12 : 0;
  char *expanded = carom_pool_get(&p->r.pool, room);
  while (expanded && *text) {
    const char *end = *text == '{' ? strchr(text, '}') : NULL;
    int value;
    if (*text == '{' && !end) return carom_report(&p->r.reporter, node->place, NULL, "a brace is not closed"), NULL;
    if (end) {
      if (!evaluate_brace(p, node, text + 1, (size_t)(end - text - 1), &value)) return NULL;
      at += (size_t)snprintf(expanded + at, room - at, "%d", value);
    } else {
      expanded[at++] = *text;
    }
    text = end ? end + 1 : text + 1;
  }
  return expanded;
}

// ---- the top --------------------------------------------------------------------------------------------------------

static const char *const top_keys[] = {"carom-saa",   "title",        "description", "constants", "random",
                                       "scenarios",   "first",        "second",      "minimize",  "maximize",
                                       "constraints", "expectations", NULL};
enum {
  VERSION,
  TITLE,
  DESCRIPTION,
  CONSTANTS,
  RANDOM,
  SCENARIOS,
  FIRST,
  SECOND,
  MINIMIZE,
  MAXIMIZE,
  CONSTRAINTS,
  EXPECTATIONS
};

static bool read_texts(carom_saa_reader *p, const carom_node *title, const carom_node *description) {
  const char *texts[2] = {NULL, NULL};
  char **const places[2] = {&p->file->title, &p->file->description};
  carom_read_text(&p->r, title, &texts[0]);
  carom_read_text(&p->r, description, &texts[1]);
  for (int k = 0; k < 2; k++) {
    if (!texts[k]) continue;
    carom_release(&p->r.allocator, *places[k]);
    *places[k] = carom_copy_text(&p->r.allocator, texts[k]);
    if (!*places[k]) return false;
  }
  return true;
}

static void give_names(carom_saa_reader *p) {
  carom_saa_problem *q = &p->file->model.problem;
  carom_pool *pool = &p->file->tables->pool;
  const char **all = CAROM_POOL_ARRAY(pool, const char *, p->unknown_count + 1);
  const int counts[3] = {q->first_rows, q->mean_rows, q->rows};
  const char *const **const places[3] = {&q->first_names, &q->mean_names, &q->row_names};
  if (!all) return;
  for (int k = 0; k < p->unknown_count; k++) all[k] = p->unknown_names[k];
  q->x_names = all, q->y_names = all + q->n;
  for (int s = 0; s < 3; s++) {
    const char **names = CAROM_POOL_ARRAY(pool, const char *, counts[s] + 1);
    for (int k = 0; names && k < counts[s]; k++) names[k] = p->row_names[s][k];
    *places[s] = names;
  }
}

static void read_parts(carom_saa_reader *p, const carom_node **f) {
  if (f[RANDOM] && f[SCENARIOS])
    carom_report(&p->r.reporter, f[SCENARIOS]->key_at, NULL, "give 'random' or 'scenarios', not both");
  else if (f[SCENARIOS])
    carom_saa_read_scenarios(p, f[SCENARIOS]);
  else if (carom_require(&p->r, p->r.root, f[RANDOM], "random", "the problem"))
    carom_saa_read_random(p, f[RANDOM]);
  if (carom_saa_has_errors(p)) return;  // names that are missing would be told again and again
  p->means = CAROM_POOL_ARRAY(&p->r.pool, double, p->file->tables->variable_count + 1);
  if (!p->means) return;
  carom_saa_means(p->file, p->means);
  carom_saa_read_unknowns(p, f[FIRST], false);
  carom_saa_read_unknowns(p, f[SECOND], true);
  if (carom_saa_has_errors(p)) return;
  if (p->unknown_count == 0)
    carom_report(&p->r.reporter, p->r.root->place, "give unknowns in 'first' and 'second'",
                 "there is nothing to decide");
  if (carom_one_of(&p->r, p->r.root, f[MINIMIZE], f[MAXIMIZE], "minimize and maximize", "the problem")) {
    p->file->maximize = f[MAXIMIZE] != NULL;
    carom_saa_read_costs(p, f[MINIMIZE] ? f[MINIMIZE] : f[MAXIMIZE]);
  }
  carom_saa_read_rows(p, f[CONSTRAINTS], false);
  carom_saa_read_rows(p, f[EXPECTATIONS], true);
}

static bool read_problem(carom_saa_reader *p) {
  const carom_node *f[CAROM_SAA_MOST_KEYS];
  if (!carom_problem_fields(&p->r, p->r.root, top_keys, "the problem", f)) return true;
  carom_problem_version(&p->r, f[VERSION], "carom-saa");
  p->r.top[KEY_SCENE_CONSTANTS] = f[CONSTANTS];
  carom_read_constants(&p->r);
  if (!read_texts(p, f[TITLE], f[DESCRIPTION])) return false;
  read_parts(p, f);
  if (!carom_saa_has_errors(p)) give_names(p), carom_check_constants(&p->r);
  return true;
}

// ---- beginning and end ----------------------------------------------------------------------------------------------

static carom_status read_yaml(const char *path, const carom_scene_options *options, const carom_allocator *a,
                              carom_saa_file **file, carom_diagnostics *diagnostics) {
  carom_saa_reader p = {.file = carom_saa_file_new("yaml", a)};
  carom_reader *r = &p.r;
  carom_problem_begin(r, path, options, a, diagnostics);
  carom_allocator heap = carom_pool_allocator(&r->pool);
  carom_names_create(&p.unknowns, &heap);
  carom_names_create(&p.variables, &heap);
  carom_names_create(&p.rows, &heap);
  bool memory = p.file && carom_saa_note_file(p.file, path);
  carom_problem_load(r);
  if (r->root && memory) memory = read_problem(&p);
  carom_status status = carom_problem_end(r, memory);
  if (status == CAROM_OK && !carom_saa_file_finish(p.file)) status = CAROM_ERR_MEMORY;
  *file = p.file;
  return status;
}

static bool is_core(const char *path) {
  static const char *const endings[] = {".cor", ".core", ".mps"};
  size_t length = strlen(path);
  for (size_t k = 0; k < sizeof endings / sizeof *endings; k++) {
    size_t n = strlen(endings[k]);
    if (length > n && strcmp(path + length - n, endings[k]) == 0) return true;
  }
  return false;
}

carom_status carom_saa_read(const char *path, const carom_scene_options *options, const carom_allocator *allocator,
                            carom_saa_file **file, carom_diagnostics *diagnostics) {
  carom_allocator a = carom_allocator_or_default(allocator);
  *file = NULL;
  carom_status status =
      is_core(path) ? carom_smps_read(path, &a, file, diagnostics) : read_yaml(path, options, &a, file, diagnostics);
  if (status == CAROM_OK) return status;
  carom_saa_file_destroy(*file);
  *file = NULL;
  return status;
}

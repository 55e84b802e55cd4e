// Random variables of a stochastic program: distributions, tables and scenarios that are listed.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "base/memory.h"
#include "base/read_file.h"
#include "scene/saa_reader.h"

enum { MOST_BYTES = 64 << 20, MOST_FIELDS = 256, MOST_ROWS = 1000000 };

static bool add_variable(carom_saa_reader *p, const carom_node *node, const char *name, int *number) {
  carom_pool *pool = &p->file->tables->pool;
  if (!carom_saa_check_name(p, node, name, "a random variable")) return false;
  if (p->file->tables->variable_count >= CAROM_SAA_MOST_VARIABLES)
    return carom_report(&p->r.reporter, node->place, NULL, "more than %d random variables", CAROM_SAA_MOST_VARIABLES);
  const char *kept = carom_pool_text(pool, name, strlen(name));
  *number = kept ? carom_saa_add_variable(p->file, kept) : -1;
  if (*number >= 0 && !carom_names_add(&p->variables, kept, *number)) p->r.pool.failed = true;
  return *number >= 0;
}

// Probabilities to a sum of 1, from which they may be off by rounding only.
static bool normalise(carom_saa_reader *p, carom_place place, double *probability, int count) {
  double sum = 0;
  for (int k = 0; k < count; k++) sum += probability[k];
  if (fabs(sum - 1) > 1e-6)
    return carom_report(&p->r.reporter, place, "write them as fractions, such as 1/3",
                        "probabilities add up to %.9g, not 1", sum);
  for (int k = 0; k < count; k++) probability[k] /= sum;
  return true;
}

// ---- discrete -------------------------------------------------------------------------------------------------------

static bool read_list(carom_saa_reader *p, const carom_node *list, const char *what, carom_sign sign, double **values) {
  if (!carom_read_list(&p->r, list, what)) return false;
  if (list->count < 1) return carom_refuse(&p->r, list, NULL, "'%s' expects at least one number", list->key);
  *values = CAROM_POOL_ARRAY(&p->file->tables->pool, double, list->count);
  bool good = *values != NULL;
  int k = 0;
  for (const carom_node *c = list->first; c && good; c = c->next)
    good = carom_read_item(&p->r, c, list->key, CAROM_NUMBER, sign, &(*values)[k++]);
  return good;
}

static bool even_out(carom_saa_reader *p, int count, double **probability) {
  *probability = CAROM_POOL_ARRAY(&p->file->tables->pool, double, count);
  for (int k = 0; *probability && k < count; k++) (*probability)[k] = 1.0 / count;
  return *probability != NULL;
}

static bool read_discrete(carom_saa_reader *p, const carom_node *node, carom_saa_group *g) {
  static const char *const keys[] = {"values", "probabilities", NULL};
  const carom_node *f[CAROM_SAA_MOST_KEYS] = {node, NULL};
  double *values, *probability;
  if (node->kind == CAROM_NODE_MAP && (!carom_problem_fields(&p->r, node, keys, "discrete", f) ||
                                       !carom_require(&p->r, node, f[0], "values", "discrete")))
    return false;
  if (!read_list(p, f[0], "numbers", CAROM_ANY, &values)) return false;
  g->count = f[0]->count;
  if (f[1] && f[1]->kind == CAROM_NODE_LIST && f[1]->count != g->count)
    return carom_report(&p->r.reporter, f[1]->place, NULL, "%d probabilities for %d values", f[1]->count, g->count);
  bool good = f[1] ? read_list(p, f[1], "numbers", CAROM_POSITIVE, &probability) &&
                         normalise(p, f[1]->place, probability, g->count)
                   : even_out(p, g->count, &probability);
  g->values = values, g->probability = good ? probability : NULL;
  return good;
}

// ---- distributions --------------------------------------------------------------------------------------------------

static bool read_pair(carom_saa_reader *p, const carom_node *node, const char *what, double pair[2]) {
  if (node->kind != CAROM_NODE_LIST || node->count != 2)
    return carom_refuse(&p->r, node, NULL, "'%s' expects two numbers, %s", node->key, what);
  return carom_read_numbers(&p->r, node, node->key, CAROM_NUMBER, 2, pair);
}

static bool read_kind(carom_saa_reader *p, const carom_node *node, carom_saa_group *g) {
  static const char *const kinds[] = {"discrete", "uniform", "normal", "lognormal", "exponential"};
  static const char *const whats[] = {"", "[from, to]", "[mean, deviation]", "[mean, deviation] of the logarithm", ""};
  double v[2] = {0};
  for (int k = 0; k < 5; k++)
    if (strcmp(node->key, kinds[k]) == 0) g->kind = (carom_saa_kind)k;
  if (g->kind == CAROM_SAA_DISCRETE) return read_discrete(p, node, g);
  if (g->kind == CAROM_SAA_EXPONENTIAL)
    return carom_read_item(&p->r, node, node->key, CAROM_NUMBER, CAROM_POSITIVE, &g->a);
  if (!read_pair(p, node, whats[g->kind], v)) return false;
  g->a = v[0], g->b = v[1];
  if (g->kind == CAROM_SAA_UNIFORM && !(v[0] < v[1]))
    return carom_report(&p->r.reporter, node->place, NULL, "'uniform' expects the smaller number first, got %g and %g",
                        v[0], v[1]);
  if (g->kind != CAROM_SAA_UNIFORM && !(v[1] >= 0))
    return carom_report(&p->r.reporter, node->place, NULL, "a standard deviation must be 0 or more, got %g", v[1]);
  return true;
}

// ---- tables ---------------------------------------------------------------------------------------------------------

typedef struct table {
  carom_saa_reader *p;
  const char *path;
  char *text, *rest;
  int line;
  char *header[MOST_FIELDS], *fields[MOST_FIELDS];
  int header_count, field_count;
  const char *begin;
} table;

static bool wrong(const table *t, const char *field, const char *format, const char *text) {
  return carom_report(&t->p->r.reporter, (carom_place){t->path, t->line, field ? (int)(field - t->begin) + 1 : 1}, NULL,
                      format, text);
}

static bool next_line(table *t, char **fields, int *count) {
  while (t->rest) {
    char *line = t->rest, *end = strchr(line, '\n');
    t->rest = end ? end + 1 : NULL;
    if (end) *end = 0;
    t->line++;
    if (carom_csv_is_idle(line)) continue;
    t->begin = line;
    *count = carom_csv_split(line, fields, MOST_FIELDS);
    return true;
  }
  return false;
}

// Reads the file and its header; the text is the reader's pool's.
static bool open_table(carom_saa_reader *p, const carom_node *node, table *t) {
  const char *name = NULL;
  carom_error why;
  size_t size;
  *t = (table){.p = p};
  if (!carom_read_text(&p->r, node, &name)) return false;
  t->path = carom_join_path(&p->r.pool, p->r.folder, name);
  if (!t->path) return false;
  char *text = carom_read_file(t->path, MOST_BYTES, &p->r.allocator, &size, &why);
  if (!text && why.status == CAROM_ERR_MEMORY) return p->r.reporter.out_of_memory = true, false;
  if (!text)
    return carom_report(&p->r.reporter, node->place, NULL, "cannot read the table '%.200s': %s", name, why.message);
  bool marked = size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0;
  t->text = t->rest = carom_pool_text(&p->r.pool, text + (marked ? 3 : 0), size - (marked ? 3 : 0));
  carom_release(&p->r.allocator, text);
  if (!t->text || !carom_saa_note_file(p->file, t->path)) return false;
  if (!next_line(t, t->header, &t->header_count))
    return wrong(t, NULL, "the table%s has no line that names its columns", "");
  return true;
}

static bool read_field(const table *t, int column, double *value) {
  char *end;
  if (column >= t->field_count) return wrong(t, NULL, "the line ends before column '%.40s'", t->header[column]);
  *value = strtod(t->fields[column], &end);
  if (end == t->fields[column] || *end || !isfinite(*value))
    return wrong(t, t->fields[column], "'%.40s' is not a number", t->fields[column]);
  return true;
}

static int count_lines(const table *t) {
  int count = 1;
  for (const char *c = t->rest; c && *c; c++) count += *c == '\n';
  return count;
}

// All lines into a group whose variables are columns of the table.
static bool fill_group(table *t, const int *columns, carom_saa_group *g) {
  carom_pool *pool = &t->p->file->tables->pool;
  int room = count_lines(t), name = carom_csv_column(t->header, t->header_count, "name"),
      weight = carom_csv_column(t->header, t->header_count, "probability");
  double *values = CAROM_POOL_ARRAY(pool, double, (size_t)room *(size_t)g->width),
         *probability = CAROM_POOL_ARRAY(pool, double, room);
  const char **names = name >= 0 ? CAROM_POOL_ARRAY(pool, const char *, room) : NULL;
  if (!values || !probability || (name >= 0 && !names)) return false;
  while (next_line(t, t->fields, &t->field_count)) {
    for (int k = 0; k < g->width; k++)
      if (!read_field(t, columns[k], &values[g->count * g->width + k])) return false;
    probability[g->count] = 1;
    if (weight >= 0 && !read_field(t, weight, &probability[g->count])) return false;
    if (!(probability[g->count] > 0)) return wrong(t, NULL, "a probability%s must be greater than 0", "");
    if (names) {
      const char *text = name < t->field_count ? t->fields[name] : "";
      names[g->count] = carom_pool_text(pool, text, strlen(text));
      if (!names[g->count]) return false;
    }
    g->count++;
  }
  if (g->count == 0) return wrong(t, NULL, "the table%s has no lines of numbers", "");
  for (int k = 0; weight < 0 && k < g->count; k++) probability[k] = 1.0 / g->count;
  g->values = values, g->probability = probability, g->names = names;
  return weight < 0 || normalise(t->p, (carom_place){t->path, 0, 0}, probability, g->count);
}

// ---- random ---------------------------------------------------------------------------------------------------------

static const char *const random_keys[] = {"discrete", "uniform", "normal", "lognormal", "exponential",
                                          "table",    "column",  "for",    NULL};
enum { KINDS = 5, TABLE = 5, COLUMN, LOOP };

static const carom_node *table_of(const carom_node *variable) {
  return variable->kind == CAROM_NODE_MAP ? carom_node_find(variable, "table", 5) : NULL;
}

static bool is_before(const carom_node *map, const carom_node *node, const char *path) {
  for (const carom_node *c = map->first; c && c != node; c = c->next) {
    const carom_node *t = table_of(c);
    if (t && t->kind == CAROM_NODE_SCALAR && strcmp(t->text, path) == 0) return true;
  }
  return false;
}

// All variables of one table, which come together.
static void read_table(carom_saa_reader *p, const carom_node *map, const carom_node *first) {
  table t;
  int columns[MOST_FIELDS];
  const carom_node *source = table_of(first);
  carom_saa_group g = {.first = p->file->tables->variable_count};
  if (!open_table(p, source, &t)) return;
  for (const carom_node *c = first; c && g.width < MOST_FIELDS; c = c->next) {
    const carom_node *own = table_of(c), *f[CAROM_SAA_MOST_KEYS];
    const char *column = c->key;
    int number;
    if (!own || own->kind != CAROM_NODE_SCALAR || strcmp(own->text, source->text) != 0) continue;
    if (!carom_problem_fields(&p->r, c, random_keys, "random variable", f) ||
        !carom_read_text(&p->r, f[COLUMN], &column) || !add_variable(p, c, c->key, &number))
      return;
    columns[g.width] = carom_csv_column(t.header, t.header_count, column);
    if (columns[g.width++] < 0) {
      carom_report(&p->r.reporter, f[COLUMN] ? f[COLUMN]->place : c->key_at, NULL, "'%.80s' has no column '%.80s'",
                   source->text, column);
      return;
    }
  }
  (void)map;
  if (fill_group(&t, columns, &g)) carom_saa_add_group(p->file, g);
}

static void read_alone(carom_saa_reader *p, const carom_node *node, const carom_node *const *f) {
  const carom_node *kind = NULL;
  for (int k = 0; k < KINDS; k++) {
    if (f[k] && kind) {
      carom_report(&p->r.reporter, f[k]->key_at, NULL, "random variable '%.80s' has two distributions", node->key);
      return;
    }
    if (f[k]) kind = f[k];
  }
  if (!kind) {
    carom_report(&p->r.reporter, node->place, NULL,
                 "random variable '%.80s' needs one of discrete, uniform, normal, lognormal, exponential, table",
                 node->key);
    return;
  }
  carom_saa_group g = {.width = 1};
  if (!read_kind(p, kind, &g) || !carom_saa_read_loop(p, f[LOOP], &p->loop)) return;
  for (; p->loop.at <= p->loop.to && !carom_reader_failed(&p->r); p->loop.at++) {
    const char *name = carom_saa_expand(p, node, node->key);
    if (!name || !add_variable(p, node, name, &g.first)) return;
    carom_saa_add_group(p->file, g);
  }
}

void carom_saa_read_random(carom_saa_reader *p, const carom_node *map) {
  if (map->kind != CAROM_NODE_MAP) {
    carom_refuse(&p->r, map, NULL, "'random' must be a mapping from names to distributions");
    return;
  }
  for (const carom_node *c = map->first; c && !carom_reader_failed(&p->r); c = c->next) {
    const carom_node *f[CAROM_SAA_MOST_KEYS] = {NULL}, *source = table_of(c);
    char label[100];
    snprintf(label, sizeof label, "random variable '%.80s'", c->key);
    if (source && source->kind == CAROM_NODE_SCALAR) {
      if (!is_before(map, c, source->text)) read_table(p, map, c);
    } else {
      int before = p->r.reporter.list->error_count;
      bool known = carom_problem_fields(&p->r, c, random_keys, label, f) && p->r.reporter.list->error_count == before;
      if (known) read_alone(p, c, f);
    }
    p->loop = (carom_saa_loop){0};
  }
}

// ---- scenarios ------------------------------------------------------------------------------------------------------

// A table whose columns are the variables.
static void read_scenario_table(carom_saa_reader *p, const carom_node *node) {
  table t;
  int columns[MOST_FIELDS], number;
  carom_saa_group g = {.first = 0};
  if (!open_table(p, node, &t)) return;
  for (int k = 0; k < t.header_count; k++) {
    if (strcmp(t.header[k], "name") == 0 || strcmp(t.header[k], "probability") == 0) continue;
    if (!add_variable(p, node, t.header[k], &number)) return;
    columns[g.width++] = k;
  }
  if (fill_group(&t, columns, &g)) carom_saa_add_group(p->file, g);
}

static bool is_variable(const carom_node *c) {
  return strcmp(c->key, "name") != 0 && strcmp(c->key, "probability") != 0;
}

// The variables of the first scenario, which the others must give too.
static bool declare(carom_saa_reader *p, const carom_node *list, carom_saa_group *g) {
  int number;
  for (const carom_node *s = list->first; s; s = s->next)
    if (s->kind != CAROM_NODE_MAP)
      return carom_refuse(&p->r, s, NULL, "a scenario expects a mapping from names to numbers");
  for (const carom_node *c = list->first->first; c; c = c->next) {
    if (!is_variable(c)) continue;
    if (!add_variable(p, c, c->key, &number)) return false;
    g->width++;
  }
  return true;
}

static bool unknown_variable(carom_saa_reader *p, const carom_node *node) {
  char hint[100];
  carom_nearest nearest = carom_nearest_begin(node->key, strlen(node->key));
  carom_nearest_try_all(&nearest, &p->variables);
  carom_nearest_hint(&nearest, hint, sizeof hint);
  return carom_report(&p->r.reporter, node->key_at, hint, "the first scenario has no random variable '%.80s'",
                      node->key);
}

static bool read_scenario(carom_saa_reader *p, const carom_node *node, int number, carom_saa_group *g, double *values,
                          double *probability, const char **names) {
  const carom_node *weight = carom_node_find(node, "probability", 11), *name = carom_node_find(node, "name", 4);
  const char *text = NULL;
  char label[40];
  bool good = true;
  snprintf(label, sizeof label, "%d", number + 1);
  for (const carom_node *c = node->first; c; c = c->next) {
    if (!is_variable(c)) continue;
    int at = carom_names_find(&p->variables, c->key);
    if (at < 0)
      good = unknown_variable(p, c);
    else
      good = carom_read_item(&p->r, c, c->key, CAROM_NUMBER, CAROM_ANY, &values[at]) && good;
  }
  for (int k = 0; k < g->width && good; k++)
    if (!carom_node_find(node, p->file->tables->variables[k], strlen(p->file->tables->variables[k])))
      good = carom_report(&p->r.reporter, node->place, NULL, "scenario %s does not give '%.80s'", label,
                          p->file->tables->variables[k]);
  if (weight) good = carom_read_item(&p->r, weight, "probability", CAROM_NUMBER, CAROM_POSITIVE, probability) && good;
  good = carom_read_text(&p->r, name, &text) && good;
  if (!text) text = label;
  *names = carom_pool_text(&p->file->tables->pool, text, strlen(text));
  return good && *names;
}

void carom_saa_read_scenarios(carom_saa_reader *p, const carom_node *node) {
  const carom_node *source = node->kind == CAROM_NODE_MAP ? carom_node_find(node, "table", 5) : NULL;
  carom_pool *pool = &p->file->tables->pool;
  carom_saa_group g = {.first = 0};
  if (source) {
    read_scenario_table(p, source);
    return;
  }
  if (!carom_read_list(&p->r, node, "scenarios")) return;
  if (node->count < 1 || node->count > MOST_ROWS) {
    carom_report(&p->r.reporter, node->place, NULL, "'scenarios' expects 1 to %d of them", MOST_ROWS);
    return;
  }
  if (!declare(p, node, &g)) return;
  double *values = CAROM_POOL_ARRAY(pool, double, (size_t)node->count *(size_t)(g.width + 1)),
         *probability = CAROM_POOL_ARRAY(pool, double, node->count);
  const char **names = CAROM_POOL_ARRAY(pool, const char *, node->count);
  if (!values || !probability || !names) return;
  bool good = true;
  for (const carom_node *s = node->first; s; s = s->next, g.count++) {
    probability[g.count] = 1.0 / node->count;
    good = read_scenario(p, s, g.count, &g, values + (size_t)g.count * (size_t)g.width, &probability[g.count],
                         &names[g.count]) &&
           good;
  }
  g.values = values, g.probability = probability, g.names = names;
  if (good && normalise(p, node->place, probability, g.count)) carom_saa_add_group(p->file, g);
}

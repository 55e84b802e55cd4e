#include "scene/saa_tables.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"

// ---- making ---------------------------------------------------------------------------------------------------------

carom_saa_file *carom_saa_file_new(const char *format, const carom_allocator *allocator) {
  carom_saa_file *f = CAROM_NEW(allocator, carom_saa_file, 1);
  if (!f) return NULL;
  f->allocator = *allocator;
  f->format = format;
  f->tables = CAROM_NEW(allocator, struct carom_saa_tables, 1);
  if (f->tables) carom_pool_create(&f->tables->pool, allocator);
  f->title = carom_copy_text(allocator, "");
  f->description = carom_copy_text(allocator, "");
  if (f->tables && f->title && f->description) return f;
  carom_saa_file_destroy(f);
  return NULL;
}

void carom_saa_file_destroy(carom_saa_file *file) {
  if (!file) return;
  carom_allocator a = file->allocator;
  if (file->tables) carom_pool_destroy(&file->tables->pool);
  CAROM_RELEASE_ALL(&a, file->title, file->description, file->tables, file);
}

bool carom_saa_note_file(carom_saa_file *file, const char *path) {
  struct carom_saa_tables *t = file->tables;
  char *copy = carom_pool_text(&t->pool, path, strlen(path));
  if (!copy || !carom_pool_grow(&t->pool, (void **)&t->files, file->file_count, &t->file_capacity, sizeof *t->files))
    return false;
  t->files[file->file_count++] = copy;
  file->files = t->files;
  return true;
}

bool carom_saa_add_entry(carom_saa_file *file, carom_saa_entry entry) {
  struct carom_saa_tables *t = file->tables;
  carom_saa_problem *p = &file->model.problem;
  if (!carom_pool_grow(&t->pool, (void **)&t->entries, p->entry_count, &t->entry_capacity, sizeof *t->entries))
    return false;
  t->entries[p->entry_count++] = entry;
  p->entries = t->entries;
  return true;
}

int carom_saa_add_random(carom_saa_file *file, const carom_formula_step *steps, int count) {
  struct carom_saa_tables *t = file->tables;
  carom_saa_problem *p = &file->model.problem;
  carom_allocator heap = carom_pool_allocator(&t->pool);
  carom_formula *formula = NULL;
  if (!carom_formula_create(steps, count, &heap, &formula) || !formula ||
      !carom_pool_grow(&t->pool, (void **)&t->random, p->random_count, &t->random_capacity, sizeof *t->random))
    return -1;
  t->random[p->random_count] = formula;
  return p->random_count++;
}

carom_saa_group *carom_saa_add_group(carom_saa_file *file, carom_saa_group group) {
  struct carom_saa_tables *t = file->tables;
  if (!carom_pool_grow(&t->pool, (void **)&t->groups, t->group_count, &t->group_capacity, sizeof *t->groups))
    return NULL;
  t->groups[t->group_count] = group;
  return &t->groups[t->group_count++];
}

int carom_saa_add_variable(carom_saa_file *file, const char *name) {
  struct carom_saa_tables *t = file->tables;
  if (!carom_pool_grow(&t->pool, (void **)&t->variables, t->variable_count, &t->variable_capacity,
                       sizeof *t->variables))
    return -1;
  t->variables[t->variable_count] = name;
  return t->variable_count++;
}

void carom_saa_means(const carom_saa_file *file, double *means) {
  const struct carom_saa_tables *t = file->tables;
  for (int k = 0; k < t->group_count; k++) {
    const carom_saa_group *g = &t->groups[k];
    for (int v = 0; v < g->width; v++) {
      double mean = g->kind == CAROM_SAA_UNIFORM     ? 0.5 * (g->a + g->b)
                    : g->kind == CAROM_SAA_LOGNORMAL ? exp(fmin(g->a + 0.5 * g->b * g->b, 300))
                                                     : g->a;
      if (g->kind == CAROM_SAA_DISCRETE) mean = 0;
      for (int i = 0; i < g->count; i++) mean += g->probability[i] * g->values[i * g->width + v];
      means[g->first + v] = mean;
    }
  }
}

// ---- drawing --------------------------------------------------------------------------------------------------------

static double draw_alone(const carom_saa_group *g, carom_random *random) {
  switch (g->kind) {
    case CAROM_SAA_UNIFORM:
      return carom_random_between(random, g->a, g->b);
    case CAROM_SAA_NORMAL:
      return g->a + g->b * carom_random_normal(random);
    case CAROM_SAA_LOGNORMAL:
      return exp(g->a + g->b * carom_random_normal(random));
    default:
      return -g->a * log(1 - carom_random_uniform(random));  // EXPONENTIAL
  }
}

static int draw_realisation(const carom_saa_group *g, carom_random *random) {
  double u = carom_random_uniform(random);
  int low = 0, high = g->count - 1;
  while (low < high) {
    int middle = (low + high) / 2;
    if (u < g->cumulative[middle])
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

static void take(const carom_saa_group *g, int realisation, double *variables) {
  memcpy(variables + g->first, g->values + (size_t)realisation * (size_t)g->width,
         (size_t)g->width * sizeof *variables);
}

static void evaluate(const carom_saa_file *file, const double *variables, double *values) {
  for (int k = 0; k < file->model.problem.random_count; k++)
    values[k] = carom_formula_value(file->tables->random[k], variables);
}

static void draw(void *context, carom_random *random, double *values) {
  const carom_saa_file *file = context;
  const struct carom_saa_tables *t = file->tables;
  double variables[CAROM_SAA_MOST_VARIABLES];
  for (int k = 0; k < t->group_count; k++) {
    const carom_saa_group *g = &t->groups[k];
    if (g->kind == CAROM_SAA_DISCRETE)
      take(g, draw_realisation(g, random), variables);
    else
      variables[g->first] = draw_alone(g, random);
  }
  evaluate(file, variables, values);
}

// ---- all of them ----------------------------------------------------------------------------------------------------

// Which realisation of each group makes up a scenario: digits, the last group's run fastest.
static void find_digits(const struct carom_saa_tables *t, int number, int *digits) {
  for (int k = t->group_count - 1; k >= 0; k--) {
    digits[k] = number % t->groups[k].count;
    number /= t->groups[k].count;
  }
}

static carom_status listed(void *context, int number, double *values, double *probability, carom_error *error) {
  const carom_saa_file *file = context;
  const struct carom_saa_tables *t = file->tables;
  double variables[CAROM_SAA_MOST_VARIABLES];
  int digits[CAROM_SAA_MOST_VARIABLES];
  (void)error;
  find_digits(t, number, digits);
  *probability = 1;
  for (int k = 0; k < t->group_count; k++) {
    take(&t->groups[k], digits[k], variables);
    *probability *= t->groups[k].probability[digits[k]];
  }
  evaluate(file, variables, values);
  return CAROM_OK;
}

static void name_listed(void *context, int number, char *text, size_t size) {
  const carom_saa_file *file = context;
  const struct carom_saa_tables *t = file->tables;
  int digits[CAROM_SAA_MOST_VARIABLES];
  size_t at = 0;
  find_digits(t, number, digits);
  text[0] = 0;
  for (int k = 0; k < t->group_count && at < size; k++) {
    const carom_saa_group *g = &t->groups[k];
    const char *apart = k > 0 ? ", " : "", *variable = t->variables[g->first];
    if (g->count < 2) continue;
    if (g->names)
      at += (size_t)snprintf(text + at, size - at, "%s%.60s", apart, g->names[digits[k]]);
    else
      at += (size_t)snprintf(text + at, size - at, "%s%.40s %g", apart, variable ? variable : "value",
                             g->values[digits[k] * g->width]);
  }
  if (!text[0])
    snprintf(text, size, "%s", t->group_count == 1 && t->groups[0].names ? t->groups[0].names[0] : "the only one");
}

static void accumulate(carom_saa_group *g) {
  double sum = 0;
  for (int i = 0; i < g->count; i++) g->cumulative[i] = sum += g->probability[i];
}

bool carom_saa_file_finish(carom_saa_file *file) {
  struct carom_saa_tables *t = file->tables;
  file->combinations = 1;
  for (int k = 0; k < t->group_count; k++) {
    carom_saa_group *g = &t->groups[k];
    file->combinations *= g->kind == CAROM_SAA_DISCRETE ? (double)g->count : INFINITY;
    if (g->kind != CAROM_SAA_DISCRETE) continue;
    g->cumulative = CAROM_POOL_ARRAY(&t->pool, double, g->count + 1);
    if (!g->cumulative) return false;
    accumulate(g);
  }
  file->model.context = file;
  file->model.draw = draw;
  file->scenarios = (carom_saa_set){0, file, listed, name_listed};
  if (file->combinations <= CAROM_SAA_MOST_LISTED) file->scenarios.count = (int)file->combinations;
  return !t->pool.failed;
}

// The formulas of a problem: outcomes, classes and `until`.
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "sweep/file.h"

// ---- names ----------------------------------------------------------------------------------------------------------

static int find_word(const char *name, size_t length, const char *const *words) {
  for (int i = 0; words[i]; i++)
    if (strlen(words[i]) == length && memcmp(words[i], name, length) == 0) return i;
  return -1;
}

static int find_outcome(const carom_sweep_reader *s, const char *name, size_t length) {
  for (int i = 0; i < s->outcome_count; i++)
    if (strlen(s->sweep->outcomes[i]) == length && memcmp(s->sweep->outcomes[i], name, length) == 0) return i;
  return -1;
}

static int find_axis(const carom_sweep_reader *s, const char *name, size_t length) {
  const carom_sampling *sampling = &s->sweep->sampling;
  for (int i = 0; i < sampling->axis_count; i++)
    if (sampling->axes[i].name && strlen(sampling->axes[i].name) == length &&
        memcmp(sampling->axes[i].name, name, length) == 0)
      return i;
  return -1;
}

enum { LONGEST_NAME = 200 };

static const char *const *figure_names(const carom_sweep_reader *s) {
  return s->plans ? carom_plan_figure_names : carom_figure_names;
}

static bool has_channel(const carom_sweep_reader *s, const char *name, size_t length) {
  char text[LONGEST_NAME + 1];
  if (length > LONGEST_NAME || !s->loop) return false;
  memcpy(text, name, length);
  text[length] = '\0';
  return carom_loop_find_channel(s->loop, text) >= 0;
}

// "ball.x": a body of the scene and one of its words; the length of the body's name, or 0.
static size_t split_body(const carom_sweep_reader *s, const char *name, size_t length, int *word) {
  char text[LONGEST_NAME + 1];
  size_t dot = length;
  while (dot > 0 && name[dot - 1] != '.') dot--;
  if (dot < 2 || dot - 1 > LONGEST_NAME) return 0;
  memcpy(text, name, dot - 1);
  text[dot - 1] = '\0';
  *word = find_word(name + dot, length - dot, carom_body_words);
  return *word >= 0 && carom_model_find_body(s->sweep->scene->model, text) >= 0 ? dot - 1 : 0;
}

static int find(void *context, const char *name, size_t length, carom_quantity *value, int *slot) {
  carom_sweep_reader *s = context;
  carom_program *p = s->sweep->program;
  int index = find_outcome(s, name, length), word = 0;
  size_t body;
  *slot = -1;
  if (index >= 0) return *slot = p->outcomes[index], 1;
  if ((index = find_word(name, length, figure_names(s))) >= 0)
    *slot = carom_program_source(p, CAROM_SOURCE_FIGURE, index, "", 0);
  else if ((index = find_axis(s, name, length)) >= 0)
    *slot = carom_program_source(p, CAROM_SOURCE_AXIS, index, "", 0);
  else if (has_channel(s, name, length))
    *slot = carom_program_source(p, CAROM_SOURCE_CHANNEL, 0, name, length);
  else if ((body = split_body(s, name, length, &word)) > 0)
    *slot = carom_program_source(p, CAROM_SOURCE_BODY, word, name, body);
  else {
    carom_scope constants = carom_reader_scope(&s->r);
    return constants.find(constants.context, name, length, value);
  }
  if (*slot < 0) s->r.reporter.out_of_memory = true;
  return *slot < 0 ? -1 : 1;
}

static void suggest_bodies(const carom_sweep_reader *s, carom_nearest *nearest) {
  const carom_model *model = s->sweep->scene->model;
  for (int b = 0; b < model->body_count && b < 100; b++)
    for (int w = 0; carom_body_words[w]; w++) {
      size_t size = strlen(model->bodies[b].name) + 10;
      char *text = carom_pool_get((carom_pool *)&s->r.pool, size);
      if (!text) return;
      snprintf(text, size, "%s.%s", model->bodies[b].name, carom_body_words[w]);
      carom_nearest_try(nearest, text);
    }
}

static void suggest(void *context, carom_nearest *nearest) {
  const carom_sweep_reader *s = context;
  for (int i = 0; i < s->outcome_count; i++) carom_nearest_try(nearest, s->sweep->outcomes[i]);
  for (int i = 0; figure_names(s)[i]; i++) carom_nearest_try(nearest, figure_names(s)[i]);
  for (int i = 0; i < s->sweep->sampling.axis_count; i++)
    if (s->sweep->axes[i].name) carom_nearest_try(nearest, s->sweep->axes[i].name);
  for (int i = 0; s->loop && i < carom_loop_channel_count(s->loop); i++)
    carom_nearest_try(nearest, carom_loop_channels(s->loop)[i].name);
  suggest_bodies(s, nearest);
}

static int reduce(void *context, int reducer, carom_formula *argument) {
  return carom_program_node_add(((carom_sweep_reader *)context)->sweep->program, reducer, argument);
}

// ---- formulas -------------------------------------------------------------------------------------------------------

static bool out_of_memory(carom_sweep_reader *s) { return s->r.reporter.out_of_memory = true, false; }

// A formula as a node: its slot, or -1 after a report.
static int read_formula(carom_sweep_reader *s, const carom_node *node) {
  const carom_formula_scope scope = {s, find, suggest, carom_reducer_names, reduce};
  carom_expression_error error;
  carom_formula *formula;
  const char *label = node->key ? node->key : "formula";
  if (node->kind != CAROM_NODE_SCALAR || carom_node_is_null(node))
    return carom_refuse(&s->r, node, NULL, "'%s' expects a formula", label) - 1;
  if (carom_formula_compile(node->text, node->length, &scope, &s->r.allocator, &formula, &error)) {
    int slot = carom_program_node_add(s->sweep->program, -1, formula);
    return slot >= 0 ? slot : out_of_memory(s) - 1;
  }
  if (error.reported) return -1;
  if (!error.message[0]) return out_of_memory(s) - 1;
  carom_place place = carom_value_place(node, error.offset);
  return carom_report(&s->r.reporter, place, error.hint, "'%s': %s", label, error.message) - 1;
}

static bool read_map(carom_sweep_reader *s, const carom_node *map, const char *label) {
  if (map->kind == CAROM_NODE_MAP && map->count > 0) return true;
  return carom_refuse(&s->r, map, NULL, "'%s' expects a mapping from names to formulas", label);
}

static bool clashes(carom_sweep_reader *s, const carom_node *n) {
  if (find_axis(s, n->key, strlen(n->key)) < 0) return false;
  return !carom_report(&s->r.reporter, n->key_at, NULL, "'%s' is the name of an axis already", n->key);
}

void carom_sweep_read_outcomes(carom_sweep_reader *s, const carom_node *map) {
  carom_sweep *sweep = s->sweep;
  if (!map || !read_map(s, map, "outcomes")) return;
  sweep->outcomes = CAROM_NEW(&s->r.allocator, char *, map->count);
  sweep->program->outcomes = CAROM_NEW(&s->r.allocator, int, map->count);
  if (!sweep->outcomes || !sweep->program->outcomes) {
    out_of_memory(s);
    return;
  }
  for (const carom_node *n = map->first; n; n = n->next) {
    if (!carom_sweep_check_name(s, n->key, n->key_at, "an outcome") || clashes(s, n)) continue;
    int slot = read_formula(s, n), i = sweep->outcome_count;
    sweep->program->outcomes[i] = slot >= 0 ? slot : 0;  // its name stands, so that only the formula is told of
    if (!(sweep->outcomes[i] = carom_copy_text(&s->r.allocator, n->key))) out_of_memory(s);
    if (!sweep->outcomes[i]) return;
    s->outcome_count = ++sweep->outcome_count;
  }
}

void carom_sweep_add_outcome(carom_sweep_reader *s, const carom_node *node, const char *name) {
  carom_sweep *sweep = s->sweep;
  int n = sweep->outcome_count, slot = read_formula(s, node);
  char **names = CAROM_NEW(&s->r.allocator, char *, n + 1);
  int *slots = CAROM_NEW(&s->r.allocator, int, n + 1);
  char *copy = carom_copy_text(&s->r.allocator, name);
  if (!names || !slots || !copy) {
    CAROM_RELEASE_ALL(&s->r.allocator, (void *)names, slots, copy);
    out_of_memory(s);
    return;
  }
  for (int i = 0; i < n; i++) names[i] = sweep->outcomes[i], slots[i] = sweep->program->outcomes[i];
  names[n] = copy, slots[n] = slot >= 0 ? slot : 0;
  CAROM_RELEASE_ALL(&s->r.allocator, (void *)sweep->outcomes, sweep->program->outcomes);
  sweep->outcomes = names, sweep->program->outcomes = slots;
  s->outcome_count = ++sweep->outcome_count;
}

static bool is_ours(const carom_sweep_reader *s, const carom_node *n) {
  static const char *const runs[] = {"failed", "other", NULL}, *const plans[] = {"infeasible", "limit", NULL};
  size_t length = strlen(n->key);
  return find_word(n->key, length, runs) >= 0 || (s->plans && find_word(n->key, length, plans) >= 0);
}

static bool check_class(carom_sweep_reader *s, const carom_node *n) {
  if (is_ours(s, n))
    return carom_report(&s->r.reporter, n->key_at, NULL, "there is a class '%s' always; choose another name", n->key);
  size_t length = strlen(n->key);
  if (length > 0 && length <= 40) return true;
  return carom_report(&s->r.reporter, n->key_at, NULL, "the name of a class has 1 to 40 bytes");
}

static bool add_class(carom_sweep_reader *s, const char *name) {
  char *copy = carom_copy_text(&s->r.allocator, name);
  if (!copy) return out_of_memory(s);
  if (strcmp(name, "success") == 0) s->sweep->success = s->sweep->class_count;
  s->sweep->classes[s->sweep->class_count++] = copy;
  return true;
}

// A map from a name to a formula, of which the problem says nothing.
static const carom_node *tacit(carom_sweep_reader *s, const char *name, const char *formula) {
  carom_node *map = carom_node_new(&s->r.pool, CAROM_NODE_MAP, s->r.root->place);
  carom_node *n = map ? carom_node_new(&s->r.pool, CAROM_NODE_SCALAR, s->r.root->place) : NULL;
  if (!n) return out_of_memory(s), NULL;
  n->key = name, n->text = formula, n->length = strlen(formula);
  carom_node_append(map, n);
  return map;
}

void carom_sweep_read_plan_formulas(carom_sweep_reader *s, const carom_node *outcomes, const carom_node *classes) {
  const carom_node *cost = outcomes ? NULL : tacit(s, "cost", "cost"),
                   *solved = classes ? classes : tacit(s, "solved", "1");
  if (outcomes) carom_sweep_read_outcomes(s, outcomes);
  if (cost) carom_sweep_add_outcome(s, cost->first, "cost");
  s->sweep->program->tells_unsolved = true;
  carom_sweep_read_classes(s, solved);
}

void carom_sweep_read_classes(carom_sweep_reader *s, const carom_node *map) {
  carom_sweep *sweep = s->sweep;
  int count = map && read_map(s, map, "classes") ? map->count : 0;
  sweep->classes = CAROM_NEW(&s->r.allocator, char *, count + 4);
  sweep->program->classes = CAROM_NEW(&s->r.allocator, int, count + 1);
  if (!sweep->classes || !sweep->program->classes) {
    out_of_memory(s);
    return;
  }
  for (const carom_node *n = count > 0 ? map->first : NULL; n; n = n->next) {
    if (!check_class(s, n)) continue;
    int slot = read_formula(s, n);
    sweep->program->classes[sweep->class_count] = slot;
    if (!add_class(s, n->key)) return;
  }
  sweep->program->formula_count = sweep->class_count;
  if (sweep->program->tells_unsolved && !(add_class(s, "infeasible") && add_class(s, "limit"))) return;
  (void)(add_class(s, "other") && add_class(s, "failed"));
}

void carom_sweep_read_until(carom_sweep_reader *s, const carom_node *node) {
  s->sweep->program->until = node ? read_formula(s, node) : -1;
}

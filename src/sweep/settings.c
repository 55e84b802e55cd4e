// "bodies.ball.velocity=[{speed*cos(angle)}, 0, {speed*sin(angle)}]": what cases change in the scene. Braces hold
// formulas of the axes; `value` is the axis at hand, `case` the number of the case, `seed` a whole number of its own
// for each.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text_buffer.h"
#include "carom/plan.h"
#include "sweep/file.h"

// ---- names in braces ------------------------------------------------------------------------------------------------

typedef struct braces {
  carom_sweep_reader *s;
  int axis;
} braces;

static bool is_word(const char *name, size_t length, const char *word) {
  return strlen(word) == length && memcmp(name, word, length) == 0;
}

// Slots: the axes, then value, case and seed.
static int find(void *context, const char *name, size_t length, carom_quantity *value, int *slot) {
  const braces *b = context;
  const carom_sampling *sampling = &b->s->sweep->sampling;
  int n = sampling->axis_count;
  *slot = -1;
  for (int i = 0; i < n; i++)
    if (sampling->axes[i].name && is_word(name, length, sampling->axes[i].name)) *slot = i;
  if (is_word(name, length, "value") && b->axis >= 0) *slot = n;
  if (is_word(name, length, "case")) *slot = n + 1;
  if (is_word(name, length, "seed")) *slot = n + 2;
  if (*slot >= 0) return 1;
  carom_scope constants = carom_reader_scope(&b->s->r);
  return constants.find(constants.context, name, length, value);
}

static void suggest(void *context, carom_nearest *nearest) {
  const braces *b = context;
  const carom_sampling *sampling = &b->s->sweep->sampling;
  for (int i = 0; i < sampling->axis_count; i++)
    if (sampling->axes[i].name) carom_nearest_try(nearest, sampling->axes[i].name);
  carom_nearest_try(nearest, "value");
  carom_scope constants = carom_reader_scope(&b->s->r);
  constants.suggest(constants.context, nearest);
}

enum { OF_ITSELF = -2 };  // a formula that is no setting

// ---- reading --------------------------------------------------------------------------------------------------------

static bool out_of_memory(carom_sweep_reader *s) { return s->r.reporter.out_of_memory = true, false; }

static bool add_piece(carom_sweep_reader *s, carom_setting *to, const char *text, size_t length,
                      carom_formula *formula) {
  char *copy = carom_copy_text_n(&s->r.allocator, text, length);
  to->texts[to->piece_count] = copy;
  to->formulas[to->piece_count++] = formula;
  return copy || out_of_memory(s);
}

static bool compile(carom_sweep_reader *s, const carom_node *node, const char *begin, const char *end, int axis,
                    carom_formula **formula) {
  braces context = {s, axis};
  const carom_formula_scope scope = {.context = &context, .find = find, .suggest = suggest};
  carom_expression_error error;
  if (carom_formula_compile(begin, (size_t)(end - begin), &scope, &s->r.allocator, formula, &error)) return true;
  if (error.reported) return false;
  if (!error.message[0]) return out_of_memory(s);
  return carom_report(&s->r.reporter, carom_value_place(node, (size_t)(begin - node->text) + error.offset), error.hint,
                      "'%s': %s", axis == OF_ITSELF ? "constraints" : "set", error.message);
}

bool carom_sweep_axis_formula(carom_sweep_reader *s, const carom_node *node, const char *begin, const char *end,
                              carom_formula **formula) {
  return compile(s, node, begin, end, OF_ITSELF, formula);
}

static bool is_doubled(const char *at) { return (*at == '{' || *at == '}') && at[1] == *at; }

// The plain text up to the next formula or the end, with its doubled braces made single; `room` is as long as the text.
static const char *read_plain(const char *text, char *room) {
  for (; *text && (*text != '{' || is_doubled(text)); text++) {
    *room++ = *text;
    if (is_doubled(text)) text++;
  }
  *room = '\0';
  return text;
}

static bool read_pieces(carom_sweep_reader *s, const carom_node *node, const char *text, carom_setting *to) {
  char *plain = carom_pool_get(&s->r.pool, strlen(text) + 1);
  while (plain) {
    const char *open = read_plain(text, plain), *close = strchr(open, '}');
    carom_formula *formula;
    if (!*open) return add_piece(s, to, plain, strlen(plain), NULL);
    if (!close)
      return carom_report(&s->r.reporter, carom_value_place(node, (size_t)(open - node->text)), NULL, "'}' is missing");
    if (!compile(s, node, open + 1, close, to->axis, &formula) || !add_piece(s, to, plain, strlen(plain), formula))
      return false;
    text = close + 1;
  }
  return out_of_memory(s);
}

static int count_braces(const char *text) {
  int n = 0;
  for (; *text; text++) n += *text == '{';
  return n;
}

static carom_setting *new_setting(carom_sweep_reader *s, const carom_node *node, int pieces, int axis) {
  carom_program *p = s->sweep->program;
  carom_allocator *a = &p->allocator;
  if (!carom_grow(a, (void **)&p->settings, p->setting_count, &p->setting_capacity, sizeof *p->settings)) return NULL;
  if (!carom_pool_grow(&s->r.pool, (void **)&s->setting_nodes, p->setting_count, &s->setting_node_capacity,
                       sizeof *s->setting_nodes))
    return NULL;
  carom_setting *to = &p->settings[p->setting_count];
  *to = (carom_setting){.axis = axis};
  if (!CAROM_NEW_ALL(a, CAROM_ROOM(to->texts, pieces), CAROM_ROOM(to->formulas, pieces))) {
    CAROM_RELEASE_ALL(a, to->texts, to->formulas);
    return NULL;
  }
  s->setting_nodes[p->setting_count++] = node;
  return to;
}

// A path alone stands for "path={value}".
static void read_setting(carom_sweep_reader *s, const carom_node *node, int axis) {
  const char *text = NULL;
  if (!carom_read_text(&s->r, node, &text)) return;
  bool bare = !strchr(text, '=');
  if (bare && axis < 0) {
    carom_report(&s->r.reporter, node->place, NULL, "'set' expects 'path.to.key=value', got '%.100s'", text);
    return;
  }
  if (bare && strchr(text, '{')) {
    carom_report(&s->r.reporter, node->place, NULL, "'set' expects a path, or 'path.to.key=value'; got '%.100s'", text);
    return;
  }
  carom_setting *to = new_setting(s, node, count_braces(text) + 2, axis);
  if (!to)
    out_of_memory(s);
  else if (!bare)
    read_pieces(s, node, text, to);
  else {
    char *path = carom_pool_get(&s->r.pool, strlen(text) + 10);
    static const char value[] = "value";
    carom_formula *formula = NULL;
    if (!path || !compile(s, node, value, value + 5, axis, &formula)) return;
    snprintf(path, strlen(text) + 10, "%s=", text);
    if (add_piece(s, to, path, strlen(path), formula)) add_piece(s, to, "", 0, NULL);
  }
}

void carom_sweep_read_settings(carom_sweep_reader *s, const carom_node *node, int axis) {
  if (!node) return;
  if (node->kind != CAROM_NODE_LIST) {
    read_setting(s, node, axis);
    return;
  }
  for (const carom_node *n = node->first; n; n = n->next) read_setting(s, n, axis);
}

// ---- putting in -----------------------------------------------------------------------------------------------------

// With as few digits as give the number back.
static void add_number(carom_text_buffer *text, double value) {
  char word[CAROM_NUMBER_SIZE];
  carom_quantity q = {0};
  for (int digits = 15; digits <= 17; digits++) {
    int length = carom_number_text(word, value, digits);
    if (carom_expression_evaluate(word, (size_t)length, NULL, &q, NULL) && q.value == value) break;
  }
  carom_text_buffer_add(text, word);
}

static char *expand(const carom_setting *setting, double *slots, int axis_count, const carom_allocator *allocator) {
  carom_text_buffer text = carom_text_buffer_make(allocator);
  slots[axis_count] = setting->axis >= 0 ? slots[setting->axis] : NAN;
  for (int i = 0; i < setting->piece_count; i++) {
    carom_text_buffer_add(&text, setting->texts[i]);
    if (setting->formulas[i]) add_number(&text, carom_formula_value(setting->formulas[i], slots));
  }
  char *copy = text.failed ? NULL : carom_copy_text_n(allocator, text.data ? text.data : "", text.length);
  carom_text_buffer_release(&text);
  return copy;
}

static double own_seed(const carom_sweep *sweep, int64_t number) {
  carom_random random = {.seed = sweep->sampling.seed, .stream = (uint64_t)number, .index = 1000};
  return (double)(carom_random_bits(&random) >> 32);
}

static carom_status expand_all(const carom_sweep *sweep, int64_t number, const double *inputs, bool fixed,
                               carom_overrides *o) {
  const carom_program *p = sweep->program;
  int n = sweep->sampling.axis_count;
  double slots[CAROM_MOST_AXES + 3];
  memcpy(slots, inputs, (size_t)n * sizeof *inputs);
  slots[n + 1] = (double)number;
  slots[n + 2] = own_seed(sweep, number);
  o->items = CAROM_NEW(&o->allocator, char *, p->setting_count + 1);
  if (!o->items) return CAROM_ERR_MEMORY;
  for (int pass = 0; pass < (fixed ? 1 : 2); pass++)  // fixed ones first, so that axes have the last word
    for (int i = 0; i < p->setting_count; i++) {
      if ((p->settings[i].axis >= 0) != (pass == 1)) continue;
      o->items[o->count] = expand(&p->settings[i], slots, n, &o->allocator);
      if (!o->items[o->count++]) return CAROM_ERR_MEMORY;
    }
  return CAROM_OK;
}

carom_status carom_sweep_overrides(const carom_sweep *sweep, int64_t number, const double *inputs,
                                   const carom_allocator *allocator, carom_overrides *overrides) {
  *overrides = (carom_overrides){.allocator = carom_allocator_or_default(allocator)};
  carom_status status = expand_all(sweep, number, inputs, false, overrides);
  if (status != CAROM_OK) carom_overrides_release(overrides);
  return status;
}

void carom_overrides_release(carom_overrides *overrides) {
  if (!overrides || !overrides->items) return;
  for (int i = 0; i < overrides->count; i++) carom_release(&overrides->allocator, overrides->items[i]);
  carom_release(&overrides->allocator, overrides->items);
  *overrides = (carom_overrides){0};
}

bool carom_sweep_fixed_overrides(carom_sweep_reader *s, carom_overrides *overrides) {
  double inputs[CAROM_MOST_AXES] = {0};
  *overrides = (carom_overrides){.allocator = s->r.allocator};
  if (s->sweep->sampling.count > 0 && !s->designs) carom_sampling_inputs(&s->sweep->sampling, 0, inputs);
  if (expand_all(s->sweep, 0, inputs, true, overrides) == CAROM_OK) return true;
  carom_overrides_release(overrides);
  return out_of_memory(s);
}

// ---- trying ---------------------------------------------------------------------------------------------------------

enum { TRIES = 3 };

typedef struct refusal {
  int count;
  char message[400], hint[200];
} refusal;

// The setting behind an override of a case: those of the axes come last, in their order.
static int setting_of(const carom_program *p, int override) {
  for (int pass = 0; pass < 2; pass++)
    for (int i = 0; i < p->setting_count; i++)
      if ((p->settings[i].axis >= 0) == (pass == 1) && override-- == 0) return i;
  return -1;
}

// An override of a plan's scene is told without the word that says so.
static const char *told_as(const carom_sweep_reader *s, const char *override) {
  return s->sweep->plan && strncmp(override, "scene.", 6) == 0 ? override + 6 : override;
}

static void note_refusals(carom_sweep_reader *s, const carom_overrides *o, const carom_diagnostics *found,
                          refusal *refusals) {
  for (int i = 0; i < o->count; i++) {
    refusal *to = &refusals[setting_of(s->sweep->program, i)];
    for (int k = 0; k < found->count; k++) {
      const carom_diagnostic *d = &found->items[k];
      if (d->warning || strncmp(d->file, "--set ", 6) != 0 || strcmp(d->file + 6, told_as(s, o->items[i])) != 0)
        continue;
      snprintf(to->message, sizeof to->message, "%s", d->message);
      snprintf(to->hint, sizeof to->hint, "%s", d->hint);
      to->count++;
      break;
    }
  }
}

// Reads the scene or the plan of a case, for what is found in it.
static carom_status read_case(carom_sweep_reader *s, const carom_scene_options *options, carom_diagnostics *found) {
  carom_scene *scene = NULL;
  carom_plan_file *plan = NULL;
  carom_status status = s->sweep->plan
                            ? carom_plan_read(s->sweep->plan, options, &s->r.allocator, &plan, found)
                            : carom_scene_read(s->sweep->scene->path, options, &s->r.allocator, &scene, found);
  carom_scene_destroy(scene);
  carom_plan_file_destroy(plan);
  return status;
}

static bool try_case(carom_sweep_reader *s, double part, refusal *refusals) {
  double inputs[CAROM_MOST_AXES];
  carom_overrides o;
  int64_t number = (int64_t)(part * (double)(s->sweep->sampling.count - 1));
  for (int i = 0; s->designs && i < s->sweep->sampling.axis_count; i++)
    inputs[i] = carom_axis_value(&s->sweep->axes[i], part);
  if (!s->designs) carom_sampling_inputs(&s->sweep->sampling, number, inputs);
  if (carom_sweep_overrides(s->sweep, number, inputs, &s->r.allocator, &o) != CAROM_OK) return out_of_memory(s);
  carom_scene_options options = s->sweep->program->scene_options;
  options.discreet = true;
  options.overrides = (const char *const *)o.items;
  options.override_count = o.count;
  carom_diagnostics found = {0};
  carom_status status = read_case(s, &options, &found);
  if (status == CAROM_ERR_SCENE) note_refusals(s, &o, &found, refusals);
  carom_diagnostics_release(&found);
  carom_overrides_release(&o);
  return status != CAROM_ERR_MEMORY || out_of_memory(s);
}

void carom_sweep_try_settings(carom_sweep_reader *s) {
  int n = s->sweep->program->setting_count;
  refusal *refusals = CAROM_POOL_ARRAY(&s->r.pool, refusal, n + 1);
  for (int i = 0; refusals && i < TRIES; i++)
    if (!try_case(s, i / (TRIES - 1.0), refusals)) return;
  for (int i = 0; refusals && i < n; i++)
    if (refusals[i].count == TRIES)
      carom_report(&s->r.reporter, s->setting_nodes[i]->place, refusals[i].hint, "'set': %s", refusals[i].message);
}

// The axes of a problem, and how its cases are spread over them.
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "sweep/file.h"

static bool matches(const char *name, const char *const *words) {
  for (; *words; words++)
    if (strcmp(name, *words) == 0) return true;
  return false;
}

bool carom_sweep_check_name(carom_sweep_reader *s, const char *name, carom_place place, const char *what) {
  static const char *const own[] = {"value", "case", "seed", "if", "and", "or", "not", "time", "class", "reason", NULL};
  size_t n = strlen(name);
  bool good = n > 0 && n <= 40 && !(name[0] >= '0' && name[0] <= '9');
  for (size_t i = 0; i < n; i++)
    good = good && (strchr("_", name[i]) || (name[i] >= '0' && name[i] <= '9') || (name[i] >= 'a' && name[i] <= 'z') ||
                    (name[i] >= 'A' && name[i] <= 'Z'));
  if (!good)
    return carom_report(&s->r.reporter, place, NULL,
                        "'%.60s' cannot be the name of %s: letters, digits and '_', at most 40, no digit first", name,
                        what);
  if (carom_expression_reserved(name, n) || matches(name, own) || matches(name, carom_reducer_names) ||
      matches(name, s->plans ? carom_plan_figure_names : carom_figure_names))
    return carom_report(&s->r.reporter, place, "choose another name",
                        "'%s' has a meaning of its own and cannot be the name of %s", name, what);
  return true;
}

// ---- values ---------------------------------------------------------------------------------------------------------

// A number of any dimension, which all numbers of an axis share.
static bool read_quantity(carom_sweep_reader *s, const carom_node *node, carom_quantity *common, double *value) {
  carom_expression_error error;
  carom_quantity q = {0};
  carom_scope scope = carom_reader_scope(&s->r);
  if (node->kind != CAROM_NODE_SCALAR || carom_node_is_null(node))
    return carom_refuse(&s->r, node, NULL, "'%s' expects a number", node->key ? node->key : "values");
  if (!carom_expression_evaluate(node->text, node->length, &scope, &q, &error))
    return !error.reported && carom_report(&s->r.reporter, carom_value_place(node, error.offset), error.hint,
                                           "'%s': %s", node->key ? node->key : "values", error.message);
  *value = q.value;
  if (q.plain || carom_dimension_equal(q.dimension, common->dimension)) return true;
  if (common->plain) {
    *common = q;
    return true;
  }
  char a[80], b[80];
  return carom_report(&s->r.reporter, node->place, NULL, "the numbers of %s must be alike: %s and %s", s->words[1],
                      carom_dimension_name(common->dimension, a, sizeof a),
                      carom_dimension_name(q.dimension, b, sizeof b));
}

static bool read_values(carom_sweep_reader *s, const carom_node *list, carom_quantity *common, carom_axis *axis) {
  if (list->kind != CAROM_NODE_LIST || list->count == 0)
    return carom_refuse(&s->r, list, NULL, "'values' expects a list of at least one number");
  double *values = CAROM_NEW(&s->r.allocator, double, list->count);
  axis->values = values;
  axis->count = list->count;
  if (!values) return s->r.reporter.out_of_memory = true, false;
  bool good = true;
  int i = 0;
  for (const carom_node *n = list->first; n; n = n->next, i++) good = read_quantity(s, n, common, &values[i]) && good;
  axis->from = INFINITY, axis->to = -INFINITY;
  for (i = 0; i < axis->count; i++) axis->from = fmin(axis->from, values[i]), axis->to = fmax(axis->to, values[i]);
  return good;
}

static bool read_range(carom_sweep_reader *s, const carom_node *const *f, carom_quantity *common, carom_axis *axis) {
  if (!read_quantity(s, f[0], common, &axis->from) || !read_quantity(s, f[1], common, &axis->to)) return false;
  if (axis->from == axis->to)
    return carom_report(&s->r.reporter, f[1]->place, "one value: values: [x]", "'from' and 'to' are the same, %g",
                        axis->to);
  if (axis->from > axis->to)
    return carom_report(&s->r.reporter, f[1]->place, NULL, "'to' must be greater than 'from', got %g and %g", axis->to,
                        axis->from);
  if (axis->logarithmic && !(axis->from > 0))
    return carom_report(&s->r.reporter, f[0]->place, NULL, "%s that is logarithmic must begin above 0, got %g",
                        s->words[1], axis->from);
  return true;
}

// ---- one axis -------------------------------------------------------------------------------------------------------

enum { NAME, FROM, TO, COUNT, VALUES, SCALE, SET };
static const char *const axis_keys[] = {"name", "from", "to", "count", "values", "scale", "set", NULL};

static void check_axis_keys(carom_sweep_reader *s, const carom_node *node, const carom_node *const *f) {
  carom_reader *r = &s->r;
  if (!f[VALUES]) {
    carom_require(r, node, f[FROM], "from", s->words[1]);
    carom_require(r, node, f[TO], "to", s->words[1]);
  }
  for (int i = COUNT; s->designs && i <= VALUES; i++)
    if (f[i])
      carom_report(&r->reporter, f[i]->key_at, "its bounds are 'from' and 'to'", "a variable has no '%s'",
                   axis_keys[i]);
  for (int i = FROM; i <= COUNT; i++)
    if (f[VALUES] && f[i])
      carom_report(&r->reporter, f[i]->key_at, NULL,
                   "an axis is given by 'values', or by 'from', 'to' and 'count', not by both");
  carom_require(r, node, f[SET], "set", s->words[1]);
}

static bool read_name(carom_sweep_reader *s, const carom_node *at, const carom_node *node, carom_axis *axis) {
  const char *name = NULL;
  if (!carom_require(&s->r, at, node, "name", s->words[1]) || !carom_read_text(&s->r, node, &name)) return false;
  if (!carom_sweep_check_name(s, name, node->place, s->words[1])) return false;
  for (const carom_axis *other = s->sweep->axes; other < axis; other++)
    if (other->name && strcmp(other->name, name) == 0)
      return carom_report(&s->r.reporter, node->place, NULL, "there are two %s called '%s'", s->words[0], name);
  axis->name = carom_copy_text(&s->r.allocator, name);
  return axis->name != NULL;
}

static void read_axis(carom_sweep_reader *s, const carom_node *node, carom_axis *axis) {
  static const char *const scales[] = {"linear", "log", NULL};
  const carom_node *f[sizeof axis_keys / sizeof *axis_keys];
  carom_quantity common = {.plain = true};
  int scale = 0;
  char unit[80];
  if (!carom_problem_fields(&s->r, node, axis_keys, s->words[1], f)) return;
  check_axis_keys(s, node, f);
  read_name(s, node, f[NAME], axis);
  if (carom_read_choice(&s->r, f[SCALE], scales, &scale)) axis->logarithmic = scale == 1;
  if (f[VALUES])
    read_values(s, f[VALUES], &common, axis);
  else if (f[FROM] && f[TO])
    read_range(s, &f[FROM], &common, axis);
  if (f[COUNT]) carom_read_int(&s->r, f[COUNT], 2, 1000000, &axis->count);
  axis->unit =
      carom_copy_text(&s->r.allocator, common.plain ? "" : carom_dimension_unit(common.dimension, unit, sizeof unit));
}

void carom_sweep_read_axes(carom_sweep_reader *s, const carom_node *list) {
  carom_reader *r = &s->r;
  if (!carom_require(r, r->root, list, s->words[0], "the problem") || !carom_read_list(r, list, s->words[0])) return;
  if (list->count < 1 || list->count > CAROM_MOST_AXES) {
    carom_report(&r->reporter, list->place, NULL, "a problem has 1 to %d %s, got %d", CAROM_MOST_AXES, s->words[0],
                 list->count);
    return;
  }
  carom_sweep *sweep = s->sweep;
  sweep->axes = CAROM_NEW(&r->allocator, carom_axis, list->count);
  if (!sweep->axes) {
    r->reporter.out_of_memory = true;
    return;
  }
  sweep->sampling.axes = sweep->axes;
  sweep->sampling.axis_count = list->count;
  int i = 0;
  for (const carom_node *n = list->first; n; n = n->next) read_axis(s, n, &sweep->axes[i++]);
  i = 0;  // settings speak of all axes, so that they come after them
  for (const carom_node *n = list->first; n; n = n->next, i++)
    if (n->kind == CAROM_NODE_MAP) carom_sweep_read_settings(s, carom_node_find(n, "set", 3), i);
}

// ---- the design -----------------------------------------------------------------------------------------------------

static void check_grid(carom_sweep_reader *s, const carom_node *count) {
  const carom_node *list = carom_node_find(s->r.root, "axes", 4);
  int i = 0;
  if (count) carom_report(&s->r.reporter, count->key_at, "give every axis a count of its own", "a grid has no 'count'");
  for (const carom_node *n = list ? list->first : NULL; n; n = n->next, i++)
    if (n->kind == CAROM_NODE_MAP && i < s->sweep->sampling.axis_count && !carom_node_find(n, "count", 5) &&
        !carom_node_find(n, "values", 6))
      carom_report(&s->r.reporter, n->place, "or choose another design: random, latin, halton",
                   "an axis of a grid needs 'count'");
}

void carom_sweep_read_design(carom_sweep_reader *s, const carom_node *design, const carom_node *count,
                             const carom_node *seed) {
  static const char *const designs[] = {"grid", "random", "latin", "halton", NULL};
  carom_sampling *sampling = &s->sweep->sampling;
  double points = 0, number = 1;
  int kind = 0;
  bool known = carom_read_choice(&s->r, design, designs, &kind);
  sampling->design = (carom_design)kind;
  if (carom_read_integer(&s->r, seed, 0, 9007199254740992.0, &number)) sampling->seed = (uint64_t)number;
  if (known && kind == CAROM_DESIGN_GRID)
    check_grid(s, count);
  else if (known && carom_require(&s->r, s->r.root, count, "count", designs[kind]))
    carom_read_integer(&s->r, count, 1, 1e9, &points);
  if (s->r.reporter.list->error_count > 0 || !sampling->axes) return;
  sampling->count = carom_sampling_size(sampling->design, sampling->axes, sampling->axis_count, (int64_t)points);
  if (sampling->count < 0) carom_report(&s->r.reporter, s->r.root->place, NULL, "the grid has more than 1e9 cases");
}

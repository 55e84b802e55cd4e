// Reading a problem of design: variables, constraints and what is to be best, over what sweeps have as well.
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "carom/base.h"
#include "carom/design.h"
#include "sweep/file.h"

enum {
  TOP_VERSION,
  TOP_TITLE,
  TOP_DESCRIPTION,
  TOP_CONSTANTS,
  TOP_SCENE,
  TOP_PLAN,
  TOP_SET,
  TOP_VARIABLES,
  TOP_CONSTRAINTS,
  TOP_OUTCOMES,
  TOP_UNTIL,
  TOP_FEASIBLE,
  TOP_MINIMIZE,
  TOP_MAXIMIZE,
  TOP_METHOD,
  TOP_BUDGET,
  TOP_BATCH,
  TOP_BEGIN,
  TOP_TOLERANCE,
  TOP_RESOLUTION,
  TOP_SEED,
  TOP_STARTS,
  TOP_WARM,
  TOP_REVISIT,
  TOP_KEYS
};
static const char *const top_keys[] = {"carom-design", "title",    "description", "constants",   "scene",
                                       "plan",         "set",      "variables",   "constraints", "outcomes",
                                       "until",        "feasible", "minimize",    "maximize",    "method",
                                       "budget",       "batch",    "begin",       "tolerance",   "resolution",
                                       "seed",         "starts",   "warm",        "revisit",     NULL};

enum { MOST_CONSTRAINTS = 64, MOST_BUDGET = 2000 };

// ---- constraints ----------------------------------------------------------------------------------------------------

// "a + 2*b <= 1": where the sign is; null after a report.
static const char *find_sign(carom_sweep_reader *s, const carom_node *node, bool *less) {
  const char *sign = node->kind == CAROM_NODE_SCALAR ? strpbrk(node->text, "<>") : NULL;
  if (sign && sign[1] == '=' && !strpbrk(sign + 2, "<>=")) return *less = *sign == '<', sign;
  carom_refuse(&s->r, node, "for example 'a + 2*b <= 1'", "'constraints' expects '... <= ...' or '... >= ...'");
  return NULL;
}

// A place between the bounds: along axis i, share[i] of the way.
static double value_at(const carom_formula *formula, const carom_sweep_reader *s, const double *share) {
  double x[CAROM_MOST_AXES + 3] = {0};
  for (int i = 0; i < s->sweep->sampling.axis_count; i++)
    x[i] = s->sweep->axes[i].from + share[i] * (s->sweep->axes[i].to - s->sweep->axes[i].from);
  return carom_formula_value(formula, x);
}

// Coefficients of a formula that should be linear; false where it is not. Kinks, as of abs(a - b), may be anywhere
// between the bounds, so that it is tried all over them.
static bool take_apart(const carom_formula *formula, const carom_sweep_reader *s, double *row, double *constant) {
  enum { PLACES = 100 };
  double share[CAROM_MOST_AXES] = {0}, rise[CAROM_MOST_AXES], least = value_at(formula, s, share), size = fabs(least);
  int n = s->sweep->sampling.axis_count;
  carom_random random = carom_random_make(1, 0);
  *constant = least;
  for (int i = 0; i < n; i++) {
    share[i] = 1, rise[i] = value_at(formula, s, share) - least, share[i] = 0;
    row[i] = rise[i] / (s->sweep->axes[i].to - s->sweep->axes[i].from);
    *constant -= row[i] * s->sweep->axes[i].from;
    size += fabs(rise[i]) + fabs(row[i] * s->sweep->axes[i].from);
  }
  for (int k = 0; k < PLACES && isfinite(size); k++) {
    double sum = least;
    for (int i = 0; i < n; i++) share[i] = carom_random_uniform(&random), sum += rise[i] * share[i];
    if (!(fabs(value_at(formula, s, share) - sum) <= 1e-9 * size)) return false;
  }
  return isfinite(size);
}

// One side of a constraint, added to row and constant.
static bool add_side(carom_sweep_reader *s, const carom_node *node, const char *begin, const char *end, double *sums) {
  int n = s->sweep->sampling.axis_count;
  double row[CAROM_MOST_AXES], constant, sign = begin == node->text ? 1 : -1;
  carom_formula *formula;
  if (!carom_sweep_axis_formula(s, node, begin, end, &formula)) return false;
  bool linear = take_apart(formula, s, row, &constant);
  carom_formula_destroy(formula);
  if (!linear)
    return carom_report(&s->r.reporter, node->place, "give such designs no value: 'feasible: ...'",
                        "a constraint must be linear in the variables");
  for (int i = 0; i < n; i++) sums[i] += sign * row[i];
  sums[n] += sign * constant;
  return true;
}

// left - right <= 0, as rows x <= most.
static void read_constraint(carom_sweep_reader *s, const carom_node *node, double *row, double *most) {
  double sums[CAROM_MOST_AXES + 1] = {0};
  int n = s->sweep->sampling.axis_count;
  bool less = true;
  const char *sign = find_sign(s, node, &less);
  if (!sign || !add_side(s, node, node->text, sign, sums) ||
      !add_side(s, node, sign + 2, node->text + node->length, sums))
    return;
  for (int i = 0; i < n; i++) row[i] = less ? sums[i] : -sums[i];
  *most = less ? -sums[n] : sums[n];
}

// ---- numbers of the search ------------------------------------------------------------------------------------------

static void set_bounds(carom_sweep_reader *s, carom_design_problem *p) {
  carom_search_def *d = &p->search;
  double *low = p->numbers, *high = low + d->variable_count;
  for (int i = 0; i < d->variable_count; i++) {
    low[i] = s->sweep->axes[i].from, high[i] = s->sweep->axes[i].to;
    p->flags[i] = s->sweep->axes[i].logarithmic;
  }
  d->low = low, d->high = high, d->logarithmic = p->flags;
}

static void check_start(carom_sweep_reader *s, const carom_node *node, const double *x) {
  for (int i = 0; i < s->sweep->sampling.axis_count; i++) {
    const carom_axis *axis = &s->sweep->axes[i];
    double slack = 1e-9 * (axis->to - axis->from);
    if (x[i] < axis->from - slack || x[i] > axis->to + slack)
      carom_report(&s->r.reporter, node->place, NULL, "'begin': '%s' is %g, outside its bounds %g to %g", axis->name,
                   x[i], axis->from, axis->to);
  }
}

// "begin: [0.4, 0.6]" of one variable, else a list of lists.
static void read_begin(carom_sweep_reader *s, const carom_node *list, carom_design_problem *p, double *to) {
  int n = p->search.variable_count, k = 0;
  for (const carom_node *node = list ? list->first : NULL; node; node = node->next, k++) {
    bool alone = n == 1 && node->kind == CAROM_NODE_SCALAR;
    if (alone ? carom_read_item(&s->r, node, "begin", CAROM_NUMBER, CAROM_ANY, to + k)
              : carom_read_numbers(&s->r, node, "begin", CAROM_NUMBER, n, to + k * n))
      check_start(s, node, to + k * n);
  }
  p->search.starts = k > 0 ? to : NULL;
  p->search.start_count = k;
}

static bool is_list(carom_sweep_reader *s, const carom_node *node, const char *what, int most) {
  if (!node) return true;
  if (!carom_read_list(&s->r, node, what)) return false;
  if (node->count <= most) return true;
  return carom_report(&s->r.reporter, node->place, NULL, "at most %d %s, got %d", most, what, node->count);
}

static void read_numbers(carom_sweep_reader *s, const carom_node *const *f, carom_design_problem *p) {
  int n = s->sweep->sampling.axis_count;
  const carom_node *list = f[TOP_CONSTRAINTS], *begin = f[TOP_BEGIN];
  if (!is_list(s, list, "constraints", MOST_CONSTRAINTS) || !is_list(s, begin, "begin", MOST_BUDGET)) return;
  int rows = list ? list->count : 0, starts = begin ? begin->count : 0;
  p->search.variable_count = n;
  if (!CAROM_NEW_ALL(&p->allocator, CAROM_ROOM(p->numbers, 2 * n + rows * (n + 1) + starts * n),
                     CAROM_ROOM(p->flags, n))) {
    s->r.reporter.out_of_memory = true;
    return;
  }
  set_bounds(s, p);
  double *at = p->numbers + 2 * n, *most = at + rows * n;
  p->search.rows = at, p->search.most = most, p->search.constraint_count = rows;
  for (const carom_node *node = list ? list->first : NULL; node; node = node->next, at += n)
    read_constraint(s, node, at, most++);
  read_begin(s, begin, p, most);
}

static void read_settings(carom_sweep_reader *s, const carom_node *const *f, carom_design_problem *p) {
  static const char *const methods[] = {"auto", "spline", "kriging", NULL};
  carom_reader *r = &s->r;
  carom_search_def *d = &p->search;
  double seed = 1;
  int method = 0;
  *d = carom_search_default();
  p->batch = 1;
  if (carom_read_choice(r, f[TOP_METHOD], methods, &method)) d->method = (carom_search_method)method;
  carom_read_int(r, f[TOP_BUDGET], 1, MOST_BUDGET, &d->budget);
  carom_read_int(r, f[TOP_BATCH], 1, 256, &p->batch);
  carom_read_number(r, f[TOP_TOLERANCE], CAROM_NUMBER, CAROM_NOT_NEGATIVE, &d->tolerance);
  carom_read_number(r, f[TOP_RESOLUTION], CAROM_NUMBER, CAROM_POSITIVE, &d->resolution);
  if (carom_read_integer(r, f[TOP_SEED], 0, 9007199254740992.0, &seed)) d->seed = (uint64_t)seed;
  s->sweep->sampling.seed = d->seed;
  carom_read_int(r, f[TOP_STARTS], 1, 10000, &s->sweep->program->starts);
  carom_sweep_read_warm(s, f[TOP_WARM], s->plans ? CAROM_WARM_BEST : CAROM_WARM_NONE);
  carom_read_int(r, f[TOP_REVISIT], 0, 100, &p->revisits);
  for (int i = TOP_STARTS; i <= TOP_REVISIT; i++)
    if (f[i] && !s->plans)
      carom_report(&r->reporter, f[i]->key_at, NULL, "'%s' is for plans; the designs of this problem are runs",
                   top_keys[i]);
}

// ---- the whole ------------------------------------------------------------------------------------------------------

static void read_objective(carom_sweep_reader *s, const carom_node *const *f, carom_design_problem *p) {
  const carom_node *least = f[TOP_MINIMIZE], *most = f[TOP_MAXIMIZE];
  carom_sweep_read_outcomes(s, f[TOP_OUTCOMES]);
  if (!carom_one_of(&s->r, s->r.root, least, most, "minimize and maximize", "the problem")) return;
  p->maximize = most != NULL;
  if ((most ? most : least)->kind != CAROM_NODE_SCALAR) {
    carom_refuse(&s->r, most ? most : least, NULL, "'%s' expects a formula", most ? "maximize" : "minimize");
    return;
  }
  carom_sweep_add_outcome(s, most ? most : least, "objective");
  p->formula = carom_copy_text(&p->allocator, most ? most->text : least->text);
  if (!p->formula) s->r.reporter.out_of_memory = true;
  p->objective = s->sweep->sampling.axis_count + s->sweep->outcome_count - 1;
}

// One class, of which those that are feasible are; the class "other" where the problem does not say.
static void read_feasible(carom_sweep_reader *s, const carom_node *node) {
  carom_node *map = node ? carom_node_new(&s->r.pool, CAROM_NODE_MAP, node->place) : NULL;
  carom_node *copy = node ? CAROM_POOL_ARRAY(&s->r.pool, carom_node, 1) : NULL;
  if (map && copy) {
    *copy = *node;
    copy->next = NULL;
    carom_node_append(map, copy);
  }
  carom_sweep_read_classes(s, map);
}

// Whether the search takes its definition: bounds are fine by now, but constraints may leave nothing.
static void try_search(carom_sweep_reader *s, const carom_node *const *f, const carom_design_problem *p) {
  carom_search *search = NULL;
  carom_error error;
  carom_status status = carom_search_create(&p->search, &s->r.allocator, &search, &error);
  carom_search_destroy(search);
  if (status == CAROM_ERR_MEMORY) s->r.reporter.out_of_memory = true;
  if (status == CAROM_OK || status == CAROM_ERR_MEMORY) return;
  const carom_node *at = f[TOP_VARIABLES];
  if (strstr(error.message, "constraint") && f[TOP_CONSTRAINTS]) at = f[TOP_CONSTRAINTS];
  if (strstr(error.message, "spline") && f[TOP_METHOD]) at = f[TOP_METHOD];
  if (strstr(error.message, "resolution") && f[TOP_RESOLUTION]) at = f[TOP_RESOLUTION];
  carom_report(&s->r.reporter, at->place, NULL, "%s", error.message);
}

static bool read_problem(carom_sweep_reader *s, void *context) {
  carom_design_problem *p = context;
  const carom_node *f[TOP_KEYS];
  carom_reader *r = &s->r;
  if (!carom_problem_fields(r, r->root, top_keys, "the problem", f)) return true;
  carom_problem_version(r, f[TOP_VERSION], "carom-design");
  r->top[KEY_SCENE_CONSTANTS] = f[TOP_CONSTANTS];
  carom_read_constants(r);
  s->plans = f[TOP_PLAN] != NULL;
  int before = r->reporter.list->error_count;
  carom_sweep_read_axes(s, f[TOP_VARIABLES]);
  bool bounded = r->reporter.list->error_count == before;
  carom_sweep_read_settings(s, f[TOP_SET], -1);
  read_settings(s, f, p);
  if (bounded) read_numbers(s, f, p);
  bool sound = !carom_sweep_has_errors(s) && !r->reporter.out_of_memory;
  if (sound) try_search(s, f, p);
  s->sweep->sampling.design = CAROM_DESIGN_RANDOM;
  s->sweep->sampling.count = p->search.budget;
  if (r->reporter.out_of_memory || !carom_sweep_read_inner(s, f[TOP_SCENE], f[TOP_PLAN])) return true;
  if (!carom_sweep_read_title(s, f[TOP_TITLE])) return false;
  read_objective(s, f, p);
  read_feasible(s, f[TOP_FEASIBLE]);
  if (f[TOP_UNTIL] && s->plans)
    carom_report(&r->reporter, f[TOP_UNTIL]->key_at, NULL, "'until' is for runs; a plan has its horizon");
  else
    carom_sweep_read_until(s, f[TOP_UNTIL]);
  if (sound && !r->reporter.out_of_memory) carom_sweep_try_settings(s);
  return carom_sweep_complete(s);
}

carom_status carom_design_read(const char *path, const carom_scene_options *options, const carom_allocator *allocator,
                               carom_design_problem **problem, carom_diagnostics *diagnostics) {
  carom_allocator a = carom_allocator_or_default(allocator);
  carom_design_problem *p = CAROM_NEW(&a, carom_design_problem, 1);
  const carom_sweep_input input = {path, options, allocator, true};
  *problem = NULL;
  *diagnostics = (carom_diagnostics){0};
  if (!p) return CAROM_ERR_MEMORY;
  p->allocator = a;
  carom_status status = carom_sweep_read_by(&input, read_problem, p, &p->sweep, diagnostics);
  if (status == CAROM_OK)
    *problem = p;
  else
    carom_design_problem_destroy(p);
  return status;
}

void carom_design_problem_destroy(carom_design_problem *p) {
  if (!p) return;
  carom_allocator a = p->allocator;
  carom_sweep_destroy(p->sweep);
  CAROM_RELEASE_ALL(&a, p->formula, p->numbers, p->flags, p);
}

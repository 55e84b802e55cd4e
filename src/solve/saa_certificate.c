// Why a problem has no answer, by two linear programs that always have one.
//
// Infeasible: rows are made elastic, W y + V x + r (e+ - e-) with r the row's largest entry, and the least sum of the
// e is sought. If it is positive, the multipliers of its rows prove that no x, y meets all of them (Farkas 1902).
// Unbounded: along a direction d that keeps to all sides from anywhere (their recession cone), in the unit box, with
// zero curvature, the least c'd is sought. If it is negative, the cost falls for ever.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "solve/saa_terms.h"
#include "solve/saa_work.h"

// The problem that is solved instead.
typedef struct other {
  carom_saa_problem p;
  carom_saa_entry *entries;
  int count, capacity;
  double *first_size, *mean_size, *row_size;  // largest entries of rows
  double typical;                             // of sides, measured by those
  const carom_allocator *a;
  bool failed;
} other;

static void put(other *o, carom_saa_part part, int row, int column, double value, int random) {
  o->failed = o->failed || !carom_grow(o->a, (void **)&o->entries, o->count, &o->capacity, sizeof *o->entries);
  if (!o->failed) o->entries[o->count++] = (carom_saa_entry){part, row, column, value, random};
}

static bool open_other(other *o, const carom_saa_problem *p, const carom_allocator *a) {
  *o = (other){.p = *p, .a = a};
  o->p.entries = NULL;
  return CAROM_NEW_ALL(a, CAROM_ROOM(o->first_size, p->first_rows + 1), CAROM_ROOM(o->mean_size, p->mean_rows + 1),
                       CAROM_ROOM(o->row_size, p->rows + 1));
}

static void close_other(other *o) { CAROM_RELEASE_ALL(o->a, o->entries, o->first_size, o->mean_size, o->row_size); }

static double *size_of_row(other *o, const carom_saa_entry *e) {
  switch (e->part) {
    case CAROM_SAA_FIRST_X:
    case CAROM_SAA_FIRST_LOW:
    case CAROM_SAA_FIRST_HIGH:
      return &o->first_size[e->row];
    case CAROM_SAA_MEAN_X:
    case CAROM_SAA_MEAN_Y:
    case CAROM_SAA_MEAN_LOW:
    case CAROM_SAA_MEAN_HIGH:
      return &o->mean_size[e->row];
    case CAROM_SAA_ROW_X:
    case CAROM_SAA_ROW_Y:
    case CAROM_SAA_ROW_LOW:
    case CAROM_SAA_ROW_HIGH:
      return &o->row_size[e->row];
    default:
      return NULL;
  }
}

static bool is_side(carom_saa_part part) {
  return part == CAROM_SAA_FIRST_LOW || part == CAROM_SAA_FIRST_HIGH || part == CAROM_SAA_MEAN_LOW ||
         part == CAROM_SAA_MEAN_HIGH || part == CAROM_SAA_ROW_LOW || part == CAROM_SAA_ROW_HIGH;
}

static bool is_bound(carom_saa_part part) {
  return part == CAROM_SAA_X_LOW || part == CAROM_SAA_X_HIGH || part == CAROM_SAA_Y_LOW || part == CAROM_SAA_Y_HIGH;
}

static bool is_low(carom_saa_part part) {
  return part == CAROM_SAA_FIRST_LOW || part == CAROM_SAA_MEAN_LOW || part == CAROM_SAA_ROW_LOW ||
         part == CAROM_SAA_X_LOW || part == CAROM_SAA_Y_LOW;
}

static bool is_matrix(carom_saa_part part) {
  return part == CAROM_SAA_FIRST_X || part == CAROM_SAA_MEAN_X || part == CAROM_SAA_MEAN_Y || part == CAROM_SAA_ROW_X ||
         part == CAROM_SAA_ROW_Y;
}

static void measure_rows(other *o, const carom_saa_problem *p) {
  for (int k = 0; k < p->entry_count; k++) {
    const carom_saa_entry *e = &p->entries[k];
    double *size = size_of_row(o, e);
    if (size && is_matrix(e->part)) *size = fmax(*size, fabs(e->value));
  }
  double *const sizes[] = {o->first_size, o->mean_size, o->row_size};
  const int counts[] = {p->first_rows, p->mean_rows, p->rows};
  for (int s = 0; s < 3; s++)
    for (int r = 0; r < counts[s]; r++)
      if (!(sizes[s][r] > 0)) sizes[s][r] = 1;
  o->typical = 1;
  for (int k = 0; k < p->entry_count; k++) {
    const carom_saa_entry *e = &p->entries[k];
    if (is_side(e->part) && fabs(e->value) < 1e9) o->typical = fmax(o->typical, fabs(e->value) / *size_of_row(o, e));
  }
}

// ---- elastic rows ---------------------------------------------------------------------------------------------------

static void put_elastic(other *o, carom_saa_part row_part, int row, carom_saa_part cost, carom_saa_part low,
                        int unknown, double size) {
  for (int s = 0; s < 2; s++) {
    put(o, row_part, row, unknown + s, s == 0 ? size : -size, -1);
    put(o, cost, unknown + s, 0, 1, -1);
    put(o, low, unknown + s, 0, 0, -1);
  }
}

// Without means: only what one scenario and the first stage have.
static bool make_elastic(other *o, const carom_saa_problem *p, const double *x, bool means) {
  measure_rows(o, p);
  o->p.n += 2 * (p->first_rows + p->mean_rows);
  o->p.m += 2 * p->rows;
  for (int k = 0; k < p->entry_count; k++) {
    const carom_saa_entry *e = &p->entries[k];
    bool given = x && (e->part == CAROM_SAA_X_LOW || e->part == CAROM_SAA_X_HIGH);
    bool mean = size_of_row(o, e) >= o->mean_size && size_of_row(o, e) < o->mean_size + p->mean_rows;
    if ((is_matrix(e->part) || is_side(e->part) || is_bound(e->part)) && !given && (means || !mean))
      put(o, e->part, e->row, e->column, e->value, e->random);
  }
  for (int k = 0; x && k < p->n; k++) put(o, CAROM_SAA_X_LOW, k, 0, x[k], -1), put(o, CAROM_SAA_X_HIGH, k, 0, x[k], -1);
  for (int r = 0; r < p->first_rows; r++)
    put_elastic(o, CAROM_SAA_FIRST_X, r, CAROM_SAA_X_COST, CAROM_SAA_X_LOW, p->n + 2 * r, o->first_size[r]);
  for (int r = 0; r < p->mean_rows; r++)
    put_elastic(o, CAROM_SAA_MEAN_X, r, CAROM_SAA_X_COST, CAROM_SAA_X_LOW, p->n + 2 * (p->first_rows + r),
                o->mean_size[r]);
  for (int r = 0; r < p->rows; r++)
    put_elastic(o, CAROM_SAA_ROW_Y, r, CAROM_SAA_Y_COST, CAROM_SAA_Y_LOW, p->m + 2 * r, o->row_size[r]);
  o->p.entries = o->entries, o->p.entry_count = o->count;
  return !o->failed;
}

// ---- a way down -----------------------------------------------------------------------------------------------------

// A side leaves a direction's change open or stops it: at 0 where it is finite.
static void put_cone(other *o, const carom_saa_entry *e) {
  bool open = e->random < 0 && !isfinite(e->value);
  if (is_side(e->part) && !open) put(o, e->part, e->row, 0, 0, -1);
  if (is_bound(e->part)) put(o, e->part, e->row, 0, !open ? 0 : is_low(e->part) ? -1 : 1, -1);
}

static void put_box(other *o, const carom_saa_problem *p) {
  for (int k = 0; k < p->n; k++) put(o, CAROM_SAA_X_LOW, k, 0, -1, -1), put(o, CAROM_SAA_X_HIGH, k, 0, 1, -1);
  for (int k = 0; k < p->m; k++) put(o, CAROM_SAA_Y_LOW, k, 0, -1, -1), put(o, CAROM_SAA_Y_HIGH, k, 0, 1, -1);
}

// Q d = 0: rows of every scenario for y, expectations for x.
static void put_flat(other *o, const carom_saa_problem *p, const carom_saa_entry *e) {
  int y = p->rows + e->row, other_y = p->rows + e->column, x = p->mean_rows + e->row,
      other_x = p->mean_rows + e->column;
  if (e->part == CAROM_SAA_YY) {
    put(o, CAROM_SAA_ROW_Y, y, e->column, e->value, e->random);
    if (e->row != e->column) put(o, CAROM_SAA_ROW_Y, other_y, e->row, e->value, e->random);
  }
  if (e->part == CAROM_SAA_XX) {
    put(o, CAROM_SAA_MEAN_X, x, e->column, e->value, e->random);
    if (e->row != e->column) put(o, CAROM_SAA_MEAN_X, other_x, e->row, e->value, e->random);
  }
  if (e->part == CAROM_SAA_YX) {
    put(o, CAROM_SAA_ROW_X, y, e->column, e->value, e->random);
    put(o, CAROM_SAA_MEAN_Y, other_x, e->row, e->value, e->random);
  }
}

static bool make_cone(other *o, const carom_saa_problem *p, const double *x) {
  put_box(o, p);
  for (int k = 0; k < p->entry_count; k++) {
    const carom_saa_entry *e = &p->entries[k];
    if (is_matrix(e->part) || e->part == CAROM_SAA_X_COST || e->part == CAROM_SAA_Y_COST)
      put(o, e->part, e->row, e->column, e->value, e->random);
    put_cone(o, e);
    put_flat(o, p, e);
  }
  for (int k = 0; x && k < p->n; k++) put(o, CAROM_SAA_X_LOW, k, 0, 0, -1), put(o, CAROM_SAA_X_HIGH, k, 0, 0, -1);
  for (int k = 0; k < p->m; k++)
    put(o, CAROM_SAA_ROW_LOW, p->rows + k, 0, 0, -1), put(o, CAROM_SAA_ROW_HIGH, p->rows + k, 0, 0, -1);
  for (int k = 0; k < p->n; k++)
    put(o, CAROM_SAA_MEAN_LOW, p->mean_rows + k, 0, 0, -1), put(o, CAROM_SAA_MEAN_HIGH, p->mean_rows + k, 0, 0, -1);
  o->p.rows += p->m;
  o->p.mean_rows += p->n;
  o->p.entries = o->entries, o->p.entry_count = o->count;
  return !o->failed;
}

// ---- solving them ---------------------------------------------------------------------------------------------------

// One scenario of a set, as a set.
typedef struct single {
  const carom_saa_set *set;
  int number;
} single;

static carom_status ask_single(void *context, int number, double *values, double *probability, carom_error *error) {
  const single *s = context;
  (void)number;
  return s->set->scenario(s->set->context, s->number, values, probability, error);
}

typedef struct explained {
  const carom_saa_problem *p;
  const carom_saa_set *set;
  const carom_saa_options *options;
  const carom_allocator *a;
} explained;

static carom_status solve_other(const explained *x, const other *o, const carom_saa_set *set, bool alone,
                                carom_saa_answer **answer, carom_error *error) {
  carom_saa_options options = carom_saa_default_options();
  options.threads = x->options->threads;
  options.skip_certificate = true;
  if (!alone) options.ranks = x->options->ranks, options.progress = x->options->progress;
  return carom_saa_solve(&o->p, set, &options, x->a, answer, error);
}

static carom_status no_memory(carom_error *error) {
  return carom_fail(error, CAROM_ERR_MEMORY, "saa: out of memory to find out why there is no answer");
}

// Whether all ranks have made the problem, and then its answer.
static carom_status solve_if_made(const explained *x, const other *o, bool made, carom_saa_answer **answer,
                                  carom_error *error) {
  carom_status status = carom_saa_agree(&x->options->ranks, made ? CAROM_OK : no_memory(error), error);
  return status == CAROM_OK ? solve_other(x, o, x->set, false, answer, error) : status;
}

// ---- what they tell -------------------------------------------------------------------------------------------------

static void name_part(char *text, size_t size, const char *what, const char *const *names, int number) {
  if (names)
    snprintf(text, size, "%s '%.80s'", what, names[number]);
  else
    snprintf(text, size, "%s %d", what, number + 1);
}

static int largest(const double *v, int count, int stride, double *value) {
  int at = 0;
  *value = 0;
  for (int k = 0; k < count; k++) {
    double size = 0;
    for (int s = 0; s < stride; s++) size += fabs(v[k * stride + s]);
    if (size > *value) *value = size, at = k;
  }
  return at;
}

// The scenario whose y costs most or, with `down`, gives most.
static int extreme(const carom_saa_answer *s, bool down, double *value) {
  int at = 0;
  *value = 0;
  for (int i = 0; i < s->count; i++) {
    double here = down ? -s->cost[i] : s->cost[i];
    if (here > *value) *value = here, at = i;
  }
  return at;
}

// The row where most is missing, named on the rank that holds it.
static void name_row(const explained *x, const carom_saa_answer *s, int scenario, carom_saa_reason *r) {
  const carom_saa_problem *p = x->p;
  double first, mean, most;
  if (scenario >= 0) {
    int held = scenario - s->first, row = 0;
    if (held >= 0 && held < s->held)
      row = largest(s->y + (size_t)held * (size_t)s->m + p->m, p->rows, 2, &most);
    else
      return;
    name_part(r->part, sizeof r->part, "row", p->row_names, row);
    return;
  }
  int a = largest(s->x + p->n, p->first_rows, 2, &first),
      b = largest(s->x + p->n + 2 * p->first_rows, p->mean_rows, 2, &mean);
  if (first >= mean)
    name_part(r->part, sizeof r->part, "first-stage row", p->first_names, a);
  else
    name_part(r->part, sizeof r->part, "expectation row", p->mean_names, b);
}

static void tell_infeasible(const explained *x, carom_saa_reason *r) {
  const char *whatever = x->options->x ? "" : ", whatever is decided first";
  if (r->scenario >= 0) carom_saa_scenario_name(x->set, r->scenario, r->name, sizeof r->name);
  if (r->scenario >= 0 && r->alone)
    snprintf(r->message, sizeof r->message,
             "scenario '%s' cannot meet its rows%s: %s lacks most (proof: at least %.3g in all)", r->name, whatever,
             r->part[0] ? r->part : "a row", r->proof);
  else if (r->scenario >= 0)
    snprintf(
        r->message, sizeof r->message,
        "no first decision serves all scenarios: %s of scenario '%s' lacks most (proof: at least %.3g in the mean)",
        r->part[0] ? r->part : "a row", r->name, r->proof);
  else
    snprintf(r->message, sizeof r->message, "%s cannot be met together with the others (proof: it lacks at least %.3g)",
             r->part, r->proof);
}

static carom_status look_at_alone(const explained *x, int scenario, bool *alone, carom_saa_reason *r,
                                  carom_error *error) {
  other o;
  carom_saa_answer *s = NULL;
  single context = {x->set, scenario};
  const carom_saa_set set = {1, &context, ask_single, NULL};
  bool made = open_other(&o, x->p, x->a) && make_elastic(&o, x->p, x->options->x, false);
  carom_status status = made ? solve_other(x, &o, &set, true, &s, error) : no_memory(error);
  if (status == CAROM_OK && s->outcome == CAROM_SAA_SOLVED && s->dual_objective > 1e-7 * o.typical) {
    *alone = true;
    r->proof = s->dual_objective, r->error = s->residual;
    name_row(x, s, 0, r);
  }
  carom_saa_answer_destroy(s);
  close_other(&o);
  return status;
}

static carom_status look_for_violation(const explained *x, carom_saa_answer *answer, carom_error *error) {
  other o;
  carom_saa_answer *s = NULL;
  carom_saa_reason *r = &answer->reason;
  bool made = open_other(&o, x->p, x->a) && make_elastic(&o, x->p, x->options->x, true);
  carom_status status = solve_if_made(x, &o, made, &s, error);
  double most = 0, first = 0;
  bool found = status == CAROM_OK && s->outcome == CAROM_SAA_SOLVED;
  int scenario = found ? extreme(s, false, &most) : -1;
  for (int k = x->p->n; found && k < s->n; k++) first = fmax(first, s->x[k]);
  if (found && fmax(most, first) > 1e-6 * o.typical) {
    answer->outcome = CAROM_SAA_INFEASIBLE;
    r->proof = s->dual_objective, r->error = s->residual;
    r->scenario = most > 1e-6 * o.typical ? scenario : -1;
    name_row(x, s, r->scenario, r);
  }
  carom_saa_answer_destroy(s);
  close_other(&o);
  if (status != CAROM_OK || answer->outcome != CAROM_SAA_INFEASIBLE) return status;
  if (r->scenario >= 0)
    status = carom_saa_agree(&x->options->ranks, look_at_alone(x, r->scenario, &r->alone, r, error), error);
  tell_infeasible(x, r);
  return status;
}

static void tell_unbounded(const explained *x, const carom_saa_answer *s, carom_saa_reason *r) {
  const carom_saa_problem *p = x->p;
  double first, most;
  int at = largest(s->x, p->n, 1, &first), scenario = extreme(s, true, &most);
  r->proof = -s->objective, r->error = s->residual;
  r->alone = first < 1e-6;
  if (most > 1e-9) r->scenario = scenario, carom_saa_scenario_name(x->set, scenario, r->name, sizeof r->name);
  if (r->alone && r->scenario >= 0) {
    int held = scenario - s->first;
    if (held >= 0 && held < s->held)
      name_part(r->part, sizeof r->part, "unknown", p->y_names,
                largest(s->y + (size_t)held * (size_t)s->m, p->m, 1, &most));
    snprintf(r->message, sizeof r->message, "the cost of scenario '%s' falls for ever along %s; give it a bound",
             r->name, r->part[0] ? r->part : "a direction");
    return;
  }
  name_part(r->part, sizeof r->part, "unknown", p->x_names, at);
  snprintf(r->message, sizeof r->message, "the cost falls for ever along %s of the first stage%s%s%s; give it a bound",
           r->part, r->scenario >= 0 ? ", most of all in scenario '" : "", r->scenario >= 0 ? r->name : "",
           r->scenario >= 0 ? "'" : "");
}

static carom_status look_for_ray(const explained *x, carom_saa_answer *answer, carom_error *error) {
  other o;
  carom_saa_answer *s = NULL;
  bool made = open_other(&o, x->p, x->a) && make_cone(&o, x->p, x->options->x);
  carom_status status = solve_if_made(x, &o, made, &s, error);
  double size = 0;
  for (int k = 0; k < x->p->entry_count; k++) {
    const carom_saa_entry *e = &x->p->entries[k];
    if (e->part == CAROM_SAA_X_COST || e->part == CAROM_SAA_Y_COST) size = fmax(size, fabs(e->value));
  }
  double least = 0;
  if (status == CAROM_OK && s->outcome == CAROM_SAA_SOLVED) extreme(s, true, &least);
  if (status == CAROM_OK && s->outcome == CAROM_SAA_SOLVED && (s->objective < -1e-6 * size)) {
    answer->outcome = CAROM_SAA_UNBOUNDED;
    tell_unbounded(x, s, &answer->reason);
  }
  carom_saa_answer_destroy(s);
  close_other(&o);
  return status;
}

carom_status carom_saa_explain(const carom_saa_problem *problem, const carom_saa_set *set,
                               const carom_saa_options *options, const carom_allocator *allocator,
                               carom_saa_answer *answer, carom_error *error) {
  const explained x = {problem, set, options, allocator};
  carom_status status = look_for_violation(&x, answer, error);
  if (status == CAROM_OK && answer->outcome == CAROM_SAA_LIMIT) status = look_for_ray(&x, answer, error);
  return status;
}

// ---- sides that cross -----------------------------------------------------------------------------------------------

static void find_crossing(const carom_saa_work *w, int crossed, carom_saa_reason *r) {
  const carom_saa_layout *l = &w->layout;
  const carom_saa_problem *p = w->problem;
  carom_saa_scratch *s = &w->scratch[0];
  if (crossed < w->first || crossed >= w->first + w->held) return;
  carom_saa_load(w, crossed - w->first, s);
  const double *low = carom_saa_low(l, s->data), *high = carom_saa_high(l, s->data);
  for (int k = 0; k < l->boxes; k++) {
    if (!(low[k] > high[k])) continue;
    if (k < l->m)
      name_part(r->part, sizeof r->part, "unknown", p->y_names, k);
    else
      name_part(r->part, sizeof r->part, "row", p->row_names, k - l->m);
    r->proof = (low[k] - high[k]) * (k < l->m ? l->y_scale[k] : 1 / l->row_scale[k - l->m]);
    return;
  }
}

void carom_saa_tell_crossed(const carom_saa_work *w, int crossed, carom_saa_reason *r) {
  const carom_saa_problem *p = w->problem;
  int box = -2 - crossed;
  if (crossed >= 0) {
    carom_saa_scenario_name(w->set, crossed, r->name, sizeof r->name);
    find_crossing(w, crossed, r);
    snprintf(r->message, sizeof r->message, "in scenario '%s', the lower side of %s is above the upper one", r->name,
             r->part[0] ? r->part : "a row or unknown");
    return;
  }
  if (box < p->n)
    name_part(r->part, sizeof r->part, "unknown", p->x_names, box);
  else if (box < p->n + p->first_rows)
    name_part(r->part, sizeof r->part, "first-stage row", p->first_names, box - p->n);
  else
    name_part(r->part, sizeof r->part, "expectation row", p->mean_names, box - p->n - p->first_rows);
  r->proof = w->root[w->layout.n + box] - w->root[w->layout.n + w->layout.root_boxes + box];
  snprintf(r->message, sizeof r->message, "the lower side of %s is above the upper one", r->part);
}

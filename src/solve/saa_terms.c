#include "solve/saa_terms.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

static double value_of(const carom_saa_entry *e, const double *random) {
  return e->random >= 0 ? random[e->random] : e->value;
}

// ---- costs ----------------------------------------------------------------------------------------------------------

static double cost_term(const carom_saa_entry *e, double value, const double *x, const double *y) {
  switch (e->part) {
    case CAROM_SAA_CONSTANT:
      return value;
    case CAROM_SAA_X_COST:
      return value * x[e->row];
    case CAROM_SAA_XX:
      return (e->row == e->column ? 0.5 : 1) * value * x[e->row] * x[e->column];
    case CAROM_SAA_Y_COST:
      return value * y[e->row];
    case CAROM_SAA_YY:
      return (e->row == e->column ? 0.5 : 1) * value * y[e->row] * y[e->column];
    case CAROM_SAA_YX:
      return value * y[e->row] * x[e->column];
    default:
      return 0;
  }
}

static bool is_certain(const carom_saa_entry *e) {
  return e->random < 0 && (e->part == CAROM_SAA_CONSTANT || e->part == CAROM_SAA_X_COST || e->part == CAROM_SAA_XX);
}

double carom_saa_scenario_cost(const carom_saa_problem *p, const double *random, const double *x, const double *y) {
  double sum = 0;
  for (int k = 0; k < p->entry_count; k++)
    if (!is_certain(&p->entries[k])) sum += cost_term(&p->entries[k], value_of(&p->entries[k], random), x, y);
  return sum;
}

double carom_saa_certain_cost(const carom_saa_problem *p, const double *x) {
  double sum = 0;
  for (int k = 0; k < p->entry_count; k++)
    if (is_certain(&p->entries[k])) sum += cost_term(&p->entries[k], p->entries[k].value, x, NULL);
  return sum;
}

// ---- the judge ------------------------------------------------------------------------------------------------------

// A sum and the largest of its terms; and the sides that it, or the unknown of that gradient, keeps to.
typedef struct line {
  double sum, largest, low, high;
} line;

static void add(line *l, double term) {
  l->sum += term;
  l->largest = fmax(l->largest, fabs(term));
}

typedef struct judge {
  const carom_saa_problem *p;
  const double *x, *first, *mean;     // of the answer, its multipliers among them
  line *gx, *first_rows, *mean_rows;  // gradient of the Lagrangian in x; activities
  line *gy, *rows;                    // of a scenario
  double *random;
  double worst;
} judge;

static void open_lines(line *l, int count) {
  for (int k = 0; k < count; k++) l[k] = (line){0, 0, -INFINITY, INFINITY};
}

// Both triangles of a quadratic term's gradient.
static void add_square(line *g, const carom_saa_entry *e, double value, const double *v) {
  add(&g[e->row], value * v[e->column]);
  if (e->row != e->column) add(&g[e->column], value * v[e->row]);
}

// What belongs to the root; `p` is the weight of a random entry's value, whose mean counts.
static void judge_root_entry(judge *j, const carom_saa_entry *e, double value, double p) {
  switch (e->part) {
    case CAROM_SAA_X_COST:
      add(&j->gx[e->row], p * value);
      break;
    case CAROM_SAA_XX:
      add_square(j->gx, e, p * value, j->x);
      break;
    case CAROM_SAA_X_LOW:
      j->gx[e->row].low = value;
      break;
    case CAROM_SAA_X_HIGH:
      j->gx[e->row].high = value;
      break;
    case CAROM_SAA_FIRST_X:
      add(&j->first_rows[e->row], value * j->x[e->column]);
      add(&j->gx[e->column], -value * j->first[e->row]);
      break;
    case CAROM_SAA_FIRST_LOW:
      j->first_rows[e->row].low = value;
      break;
    case CAROM_SAA_FIRST_HIGH:
      j->first_rows[e->row].high = value;
      break;
    case CAROM_SAA_MEAN_X:
      add(&j->mean_rows[e->row], p * value * j->x[e->column]);
      add(&j->gx[e->column], -p * value * j->mean[e->row]);
      break;
    case CAROM_SAA_MEAN_LOW:
      j->mean_rows[e->row].low = (e->random < 0 ? 0 : j->mean_rows[e->row].low) + p * value;
      break;
    case CAROM_SAA_MEAN_HIGH:
      j->mean_rows[e->row].high = (e->random < 0 ? 0 : j->mean_rows[e->row].high) + p * value;
      break;
    default:
      break;
  }
}

static void judge_scenario_entry(judge *j, const carom_saa_entry *e, double value, double p, const double *y,
                                 const double *price) {
  switch (e->part) {
    case CAROM_SAA_MEAN_Y:
      add(&j->mean_rows[e->row], p * value * y[e->column]);
      add(&j->gy[e->column], -value * j->mean[e->row]);
      break;
    case CAROM_SAA_Y_COST:
      add(&j->gy[e->row], value);
      break;
    case CAROM_SAA_YY:
      add_square(j->gy, e, value, y);
      break;
    case CAROM_SAA_YX:
      add(&j->gy[e->row], value * j->x[e->column]);
      add(&j->gx[e->column], p * value * y[e->row]);
      break;
    case CAROM_SAA_Y_LOW:
      j->gy[e->row].low = value;
      break;
    case CAROM_SAA_Y_HIGH:
      j->gy[e->row].high = value;
      break;
    case CAROM_SAA_ROW_X:
      add(&j->rows[e->row], value * j->x[e->column]);
      add(&j->gx[e->column], -p * value * price[e->row]);
      break;
    case CAROM_SAA_ROW_Y:
      add(&j->rows[e->row], value * y[e->column]);
      add(&j->gy[e->column], -value * price[e->row]);
      break;
    case CAROM_SAA_ROW_LOW:
      j->rows[e->row].low = value;
      break;
    case CAROM_SAA_ROW_HIGH:
      j->rows[e->row].high = value;
      break;
    default:
      if (e->random >= 0) judge_root_entry(j, e, value, p);
  }
}

// |v - projection(v - g)| with v measured by a and g by b.
static void measure(judge *j, double v, double g, double a, double b, double low, double high) {
  double to = v / a - g / b;
  to = fmax(fmin(to, high / a), low / a);
  double off = fabs(v / a - to);
  j->worst = fmax(j->worst, isnan(off) ? INFINITY : off);
}

static void measure_unknowns(judge *j, const line *g, const double *v, int count) {
  for (int k = 0; k < count; k++) measure(j, v[k], g[k].sum, 1 + fabs(v[k]), 1 + g[k].largest, g[k].low, g[k].high);
}

static void measure_rows(judge *j, const line *rows, const double *price, int count) {
  for (int r = 0; r < count; r++)
    measure(j, rows[r].sum, price[r], 1 + rows[r].largest, 1 + fabs(price[r]), rows[r].low, rows[r].high);
}

static void judge_root(judge *j) {
  const carom_saa_problem *p = j->p;
  open_lines(j->gx, p->n), open_lines(j->first_rows, p->first_rows), open_lines(j->mean_rows, p->mean_rows);
  for (int k = 0; k < p->entry_count; k++) {
    const carom_saa_entry *e = &p->entries[k];
    if (e->random < 0)
      judge_root_entry(j, e, e->value, 1);
    else if (e->part == CAROM_SAA_MEAN_LOW)
      j->mean_rows[e->row].low = 0;  // their means are summed up scenario by scenario
    else if (e->part == CAROM_SAA_MEAN_HIGH)
      j->mean_rows[e->row].high = 0;
  }
}

static carom_status judge_scenario(judge *j, const carom_saa_set *set, const carom_saa_answer *s, int i,
                                   carom_error *error) {
  const carom_saa_problem *p = j->p;
  const double *y = s->y + (size_t)(i - s->first) * (size_t)p->m,
               *price = s->price + (size_t)(i - s->first) * (size_t)p->rows;
  double ignored;
  carom_status status = set->scenario(set->context, i, j->random, &ignored, error);
  if (status != CAROM_OK) return status;
  open_lines(j->gy, p->m), open_lines(j->rows, p->rows);
  for (int k = 0; k < p->entry_count; k++)
    judge_scenario_entry(j, &p->entries[k], value_of(&p->entries[k], j->random), s->probability[i], y, price);
  measure_unknowns(j, j->gy, y, p->m);
  measure_rows(j, j->rows, price, p->rows);
  return CAROM_OK;
}

carom_status carom_saa_residual(const carom_saa_problem *problem, const carom_saa_set *set,
                                const carom_saa_answer *answer, const carom_allocator *allocator, double *residual,
                                carom_error *error) {
  carom_allocator a = carom_allocator_or_default(allocator);
  const carom_saa_problem *p = problem;
  judge j = {.p = p, .x = answer->x, .first = answer->first_price, .mean = answer->mean_price};
  carom_status status = CAROM_OK;
  if (CAROM_NEW_ALL(&a, CAROM_ROOM(j.gx, p->n), CAROM_ROOM(j.first_rows, p->first_rows),
                    CAROM_ROOM(j.mean_rows, p->mean_rows), CAROM_ROOM(j.gy, p->m), CAROM_ROOM(j.rows, p->rows),
                    CAROM_ROOM(j.random, p->random_count))) {
    judge_root(&j);
    for (int i = 0; i < answer->held && status == CAROM_OK; i++)
      status = judge_scenario(&j, set, answer, answer->first + i, error);
    measure_unknowns(&j, j.gx, j.x, p->n);
    measure_rows(&j, j.first_rows, j.first, p->first_rows);
    measure_rows(&j, j.mean_rows, j.mean, p->mean_rows);
    *residual = j.worst;
  } else {
    status = carom_fail(error, CAROM_ERR_MEMORY, "saa: out of memory to judge an answer");
  }
  CAROM_RELEASE_ALL(&a, j.gx, j.first_rows, j.mean_rows, j.gy, j.rows, j.random);
  return status;
}

// Two-stage problems for tests and benchmarks: built entry by entry, drawn at random, and as one program without
// structure for Ipopt.
#ifndef CAROM_SAMPLES_SAA_PROBLEMS_H
#define CAROM_SAMPLES_SAA_PROBLEMS_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "carom/saa.h"
#include "solve/nlp.h"

// A problem with scenarios in a table.
typedef struct saa_table {
  carom_saa_problem problem;
  carom_saa_entry entries[4000];
  double *values;       // (count x random_count)
  double *probability;  // (count); null: all alike
  int count;
  const char *const *names;  // (count); null: none
} saa_table;

static inline void saa_put(saa_table *t, carom_saa_part part, int row, int column, double value, int random) {
  t->entries[t->problem.entry_count++] = (carom_saa_entry){part, row, column, value, random};
  t->problem.entries = t->entries;
}

static inline carom_status saa_table_scenario(void *context, int number, double *values, double *probability,
                                              carom_error *error) {
  const saa_table *t = context;
  int count = t->problem.random_count;
  (void)error;
  for (int k = 0; k < count; k++) values[k] = t->values[number * count + k];
  *probability = t->probability ? t->probability[number] : 1;
  return CAROM_OK;
}

static inline void saa_table_name(void *context, int number, char *text, size_t size) {
  const saa_table *t = context;
  snprintf(text, size, "%s", t->names[number]);
}

static inline carom_saa_set saa_set_of(saa_table *t) {
  return (carom_saa_set){t->count, t, saa_table_scenario, t->names ? saa_table_name : NULL};
}

// ---- the extensive form ---------------------------------------------------------------------------------------------

// All scenarios as one program: unknowns x, y_1, y_2, ...; rows of the first stage, expectations, scenarios.
typedef struct saa_extensive {
  const saa_table *t;
  int n, m;
  double *c, *x_low, *x_high, *g_low, *g_high;
  int jacobian_count, hessian_count;
  int *jr, *jc, *hr, *hc;
  double *jv, *hv;
  double constant;
} saa_extensive;

static inline void saa_extensive_entry(saa_extensive *f, const carom_saa_entry *e, double value, double p, int i) {
  const carom_saa_problem *q = &f->t->problem;
  int y = q->n + i * q->m, mean = q->first_rows, row = q->first_rows + q->mean_rows + i * q->rows;
#define SAA_J(r, c, v) \
  (f->jr[f->jacobian_count] = (r), f->jc[f->jacobian_count] = (c), f->jv[f->jacobian_count++] = (v))
#define SAA_H(r, c, v)                                                                               \
  (f->hr[f->hessian_count] = (r) > (c) ? (r) : (c), f->hc[f->hessian_count] = (r) > (c) ? (c) : (r), \
   f->hv[f->hessian_count++] = (v))
  switch (e->part) {
    case CAROM_SAA_CONSTANT:
      f->constant += p * value;
      break;
    case CAROM_SAA_X_COST:
      f->c[e->row] += p * value;
      break;
    case CAROM_SAA_XX:
      SAA_H(e->row, e->column, p * value);
      break;
    case CAROM_SAA_X_LOW:
      f->x_low[e->row] = value;
      break;
    case CAROM_SAA_X_HIGH:
      f->x_high[e->row] = value;
      break;
    case CAROM_SAA_FIRST_X:
      SAA_J(e->row, e->column, value);
      break;
    case CAROM_SAA_FIRST_LOW:
      f->g_low[e->row] = value;
      break;
    case CAROM_SAA_FIRST_HIGH:
      f->g_high[e->row] = value;
      break;
    case CAROM_SAA_MEAN_X:
      SAA_J(mean + e->row, e->column, p * value);
      break;
    case CAROM_SAA_MEAN_Y:
      SAA_J(mean + e->row, y + e->column, p * value);
      break;
    case CAROM_SAA_MEAN_LOW:
      f->g_low[mean + e->row] = (isinf(f->g_low[mean + e->row]) ? 0 : f->g_low[mean + e->row]) + p * value;
      break;
    case CAROM_SAA_MEAN_HIGH:
      f->g_high[mean + e->row] = (isinf(f->g_high[mean + e->row]) ? 0 : f->g_high[mean + e->row]) + p * value;
      break;
    case CAROM_SAA_Y_COST:
      f->c[y + e->row] += p * value;
      break;
    case CAROM_SAA_YY:
      SAA_H(y + e->row, y + e->column, p * value);
      break;
    case CAROM_SAA_YX:
      SAA_H(y + e->row, e->column, p * value);
      break;
    case CAROM_SAA_Y_LOW:
      f->x_low[y + e->row] = value;
      break;
    case CAROM_SAA_Y_HIGH:
      f->x_high[y + e->row] = value;
      break;
    case CAROM_SAA_ROW_X:
      SAA_J(row + e->row, e->column, value);
      break;
    case CAROM_SAA_ROW_Y:
      SAA_J(row + e->row, y + e->column, value);
      break;
    case CAROM_SAA_ROW_LOW:
      f->g_low[row + e->row] = value;
      break;
    case CAROM_SAA_ROW_HIGH:
      f->g_high[row + e->row] = value;
      break;
    case CAROM_SAA_PARTS:
      break;
  }
}

static inline bool saa_is_shared(const carom_saa_entry *e) {
  return e->part <= CAROM_SAA_MEAN_HIGH && e->part != CAROM_SAA_MEAN_Y;
}

static inline saa_extensive saa_extensive_make(const saa_table *t) {
  const carom_saa_problem *q = &t->problem;
  saa_extensive f = {.t = t, .n = q->n + t->count * q->m, .m = q->first_rows + q->mean_rows + t->count * q->rows};
  size_t n = (size_t)f.n, m = (size_t)f.m, most = (size_t)q->entry_count * (size_t)t->count + 1;
  f.c = calloc(n, sizeof *f.c), f.x_low = calloc(n, sizeof *f.c), f.x_high = calloc(n, sizeof *f.c);
  f.g_low = calloc(m + 1, sizeof *f.c), f.g_high = calloc(m + 1, sizeof *f.c);
  f.jr = calloc(most, sizeof *f.jr), f.jc = calloc(most, sizeof *f.jr), f.jv = calloc(most, sizeof *f.jv);
  f.hr = calloc(most, sizeof *f.jr), f.hc = calloc(most, sizeof *f.jr), f.hv = calloc(most, sizeof *f.jv);
  for (int k = 0; k < f.n; k++) f.x_low[k] = -INFINITY, f.x_high[k] = INFINITY;
  for (int k = 0; k < f.m; k++) f.g_low[k] = -INFINITY, f.g_high[k] = INFINITY;
  double all = 0;
  for (int i = 0; i < t->count; i++) all += t->probability ? t->probability[i] : 1;
  for (int k = 0; k < q->entry_count; k++) {
    const carom_saa_entry *e = &q->entries[k];
    int copies = saa_is_shared(e) && e->random < 0 ? 1 : t->count;
    for (int i = 0; i < copies; i++) {
      double p = copies == 1 && saa_is_shared(e) && e->random < 0 ? 1 : (t->probability ? t->probability[i] : 1) / all;
      saa_extensive_entry(&f, e, e->random >= 0 ? t->values[i * q->random_count + e->random] : e->value, p, i);
    }
  }
  return f;
}

static inline void saa_extensive_free(saa_extensive *f) {
  double *const all[] = {f->c, f->x_low, f->x_high, f->g_low, f->g_high, f->jv, f->hv};
  int *const indices[] = {f->jr, f->jc, f->hr, f->hc};
  for (size_t k = 0; k < sizeof all / sizeof *all; k++) free(all[k]);
  for (size_t k = 0; k < sizeof indices / sizeof *indices; k++) free(indices[k]);
}

static inline bool saa_extensive_gradient(void *context, const double *x, double *df) {
  const saa_extensive *f = context;
  memcpy(df, f->c, (size_t)f->n * sizeof *df);
  for (int k = 0; k < f->hessian_count; k++) {
    df[f->hr[k]] += f->hv[k] * x[f->hc[k]];
    if (f->hr[k] != f->hc[k]) df[f->hc[k]] += f->hv[k] * x[f->hr[k]];
  }
  return true;
}

static inline bool saa_extensive_objective(void *context, const double *x, double *value) {
  const saa_extensive *f = context;
  *value = f->constant;
  for (int k = 0; k < f->n; k++) *value += f->c[k] * x[k];
  for (int k = 0; k < f->hessian_count; k++)
    *value += (f->hr[k] == f->hc[k] ? 0.5 : 1) * f->hv[k] * x[f->hr[k]] * x[f->hc[k]];
  return true;
}

static inline bool saa_extensive_constraints(void *context, const double *x, double *g) {
  const saa_extensive *f = context;
  memset(g, 0, (size_t)f->m * sizeof *g);
  for (int k = 0; k < f->jacobian_count; k++) g[f->jr[k]] += f->jv[k] * x[f->jc[k]];
  return true;
}

static inline bool saa_extensive_jacobian(void *context, const double *x, double *values) {
  const saa_extensive *f = context;
  (void)x;
  memcpy(values, f->jv, (size_t)f->jacobian_count * sizeof *values);
  return true;
}

static inline bool saa_extensive_hessian(void *context, const double *x, double factor, const double *lambda,
                                         double *values) {
  const saa_extensive *f = context;
  (void)x, (void)lambda;
  for (int k = 0; k < f->hessian_count; k++) values[k] = factor * f->hv[k];
  return true;
}

// The least cost by Ipopt, from zero; x gets the first stage.
static inline carom_nlp_info saa_by_ipopt(const saa_table *t, double tolerance, double *x) {
  saa_extensive f = saa_extensive_make(t);
  carom_nlp nlp = {.n = f.n,
                   .m = f.m,
                   .x_low = f.x_low,
                   .x_high = f.x_high,
                   .g_low = f.g_low,
                   .g_high = f.g_high,
                   .jacobian_count = f.jacobian_count,
                   .hessian_count = f.hessian_count,
                   .jacobian_row = f.jr,
                   .jacobian_column = f.jc,
                   .hessian_row = f.hr,
                   .hessian_column = f.hc,
                   .context = &f,
                   .objective = saa_extensive_objective,
                   .gradient = saa_extensive_gradient,
                   .constraints = saa_extensive_constraints,
                   .jacobian = saa_extensive_jacobian,
                   .hessian = saa_extensive_hessian};
  carom_nlp_options options = carom_nlp_default_options();
  carom_nlp_info info = {.outcome = CAROM_NLP_FAILED};
  double *all = calloc((size_t)f.n, sizeof *all);
  options.tolerance = tolerance;
  carom_nlp_solve(&nlp, &options, NULL, all, &info, NULL);
  if (x) memcpy(x, all, (size_t)t->problem.n * sizeof *x);
  free(all);
  saa_extensive_free(&f);
  return info;
}

// ---- classics -------------------------------------------------------------------------------------------------------

// Orders x at 5, sells y_1 up to a demand at 9 and returns the rest y_2 at 1: the best x is the demands' median. They
// are drawn, uniform from 50 to 150.
static inline void saa_newsvendor(saa_table *t, int count, uint64_t seed) {
  *t = (saa_table){.count = count, .problem = {.n = 1, .m = 2, .rows = 1, .random_count = 1}};
  saa_put(t, CAROM_SAA_X_COST, 0, 0, 5, -1), saa_put(t, CAROM_SAA_X_LOW, 0, 0, 0, -1);
  saa_put(t, CAROM_SAA_Y_COST, 0, 0, -9, -1), saa_put(t, CAROM_SAA_Y_COST, 1, 0, -1, -1);
  saa_put(t, CAROM_SAA_Y_LOW, 0, 0, 0, -1), saa_put(t, CAROM_SAA_Y_LOW, 1, 0, 0, -1);
  saa_put(t, CAROM_SAA_Y_HIGH, 0, 0, 100, 0);
  saa_put(t, CAROM_SAA_ROW_X, 0, 0, -1, -1);
  saa_put(t, CAROM_SAA_ROW_Y, 0, 0, 1, -1), saa_put(t, CAROM_SAA_ROW_Y, 0, 1, 1, -1);
  saa_put(t, CAROM_SAA_ROW_LOW, 0, 0, 0, -1), saa_put(t, CAROM_SAA_ROW_HIGH, 0, 0, 0, -1);
  t->values = calloc((size_t)count, sizeof *t->values);
  for (int i = 0; i < count; i++) {
    carom_random r = carom_random_make(seed, (uint64_t)i);
    t->values[i] = carom_random_between(&r, 50, 150);
  }
}

// The farmer of Birge and Louveaux (1997, 1.1): three scenarios, or yields drawn each within a fifth.
static inline void saa_farmer(saa_table *t, int count, uint64_t seed) {
  static const double plant[] = {150, 230, 260}, trade[] = {238, -170, 210, -150, -36, -10}, yield[] = {2.5, 3, 20};
  *t = (saa_table){.count = count, .problem = {.n = 3, .m = 6, .first_rows = 1, .rows = 3, .random_count = 3}};
  for (int k = 0; k < 3; k++) {
    saa_put(t, CAROM_SAA_X_COST, k, 0, plant[k], -1), saa_put(t, CAROM_SAA_X_LOW, k, 0, 0, -1);
    saa_put(t, CAROM_SAA_FIRST_X, 0, k, 1, -1);
    saa_put(t, CAROM_SAA_ROW_X, k, k, yield[k], k);
    saa_put(t, CAROM_SAA_ROW_Y, k, 2 * k, k < 2 ? 1 : -1, -1), saa_put(t, CAROM_SAA_ROW_Y, k, 2 * k + 1, -1, -1);
    saa_put(t, CAROM_SAA_ROW_LOW, k, 0, k == 0 ? 200 : k == 1 ? 240 : 0, -1);
  }
  saa_put(t, CAROM_SAA_FIRST_HIGH, 0, 0, 500, -1);
  for (int k = 0; k < 6; k++)
    saa_put(t, CAROM_SAA_Y_COST, k, 0, trade[k], -1), saa_put(t, CAROM_SAA_Y_LOW, k, 0, 0, -1);
  saa_put(t, CAROM_SAA_Y_HIGH, 4, 0, 6000, -1);
  t->values = calloc(3 * (size_t)count, sizeof *t->values);
  for (int i = 0; i < 3 * count; i++) {
    carom_random r = carom_random_make(seed, (uint64_t)i);
    t->values[i] = yield[i % 3] * (count == 3 ? 0.8 + 0.2 * (i / 3) : carom_random_between(&r, 0.8, 1.2));
  }
}

// ---- at random ------------------------------------------------------------------------------------------------------

// A feasible, bounded problem of all kinds of rows, sides and bounds: they are laid about a point drawn before. With
// `linear` all unknowns have bounds on both sides.
static inline void saa_draw(saa_table *t, uint64_t seed, bool linear) {
  carom_random r = carom_random_make(seed, 0);
#define SAA_BELOW(k) ((int)carom_random_below(&r, (uint32_t)(k)))
#define SAA_N() carom_random_normal(&r)
  carom_saa_problem *q = &t->problem;
  *t = (saa_table){.count = 1 + SAA_BELOW(12)};
  *q = (carom_saa_problem){
      .n = 1 + SAA_BELOW(5), .m = 1 + SAA_BELOW(6), .first_rows = SAA_BELOW(3), .mean_rows = SAA_BELOW(3)};
  q->rows = SAA_BELOW(q->m + 1);
  if (q->first_rows > q->n) q->first_rows = q->n;
  q->random_count = q->rows * (q->n + 1) + q->m + q->mean_rows;
  t->values = calloc((size_t)(t->count * q->random_count + 1), sizeof *t->values);
  t->probability = calloc((size_t)t->count, sizeof *t->probability);
  for (int i = 0; i < t->count; i++) t->probability[i] = carom_random_between(&r, 0.1, 1);
  double x[8], y[8], s[16] = {0};
  for (int k = 0; k < q->n; k++) x[k] = SAA_N();
  for (int k = 0; k < q->m; k++) y[k] = SAA_N();  // meets the rows of all scenarios
  for (int k = 0; k < q->n; k++) {
    int kind = linear ? 0 : SAA_BELOW(4);
    saa_put(t, CAROM_SAA_X_COST, k, 0, SAA_N(), -1);
    if (kind == 0 || kind == 1) saa_put(t, CAROM_SAA_X_LOW, k, 0, x[k] - carom_random_uniform(&r), -1);
    if (kind == 0 || kind == 2) saa_put(t, CAROM_SAA_X_HIGH, k, 0, x[k] + carom_random_uniform(&r), -1);
  }
  for (int k = 0; k < q->m; k++) {
    int kind = linear ? 0 : SAA_BELOW(4), random = q->rows * (q->n + 1) + k;
    saa_put(t, CAROM_SAA_Y_COST, k, 0, 1, random);
    for (int i = 0; i < t->count; i++) t->values[i * q->random_count + random] = SAA_N();
    if (kind == 0 || kind == 1) saa_put(t, CAROM_SAA_Y_LOW, k, 0, y[k] - carom_random_uniform(&r), -1);
    if (kind == 0 || kind == 2) saa_put(t, CAROM_SAA_Y_HIGH, k, 0, y[k] + carom_random_uniform(&r), -1);
  }
  for (int a = 0; a < q->first_rows; a++) {
    double sum = 0;
    for (int k = 0; k < q->n; k++) {
      double v = SAA_N();
      sum += v * x[k];
      saa_put(t, CAROM_SAA_FIRST_X, a, k, v, -1);
    }
    saa_put(t, CAROM_SAA_FIRST_LOW, a, 0, sum - carom_random_uniform(&r), -1);
    if (SAA_BELOW(2)) saa_put(t, CAROM_SAA_FIRST_HIGH, a, 0, sum + carom_random_uniform(&r), -1);
  }
  for (int a = 0; a < q->rows; a++) {
    double w[8], sum = 0;
    int kind = SAA_BELOW(3), base = a * (q->n + 1);
    for (int k = 0; k < q->m; k++) {
      w[k] = SAA_BELOW(3) ? SAA_N() : 0, sum += w[k] * y[k];
      if (w[k] != 0) saa_put(t, CAROM_SAA_ROW_Y, a, k, w[k], -1);
    }
    for (int k = 0; k < q->n; k++) saa_put(t, CAROM_SAA_ROW_X, a, k, 1, base + k);
    if (kind == 0 || kind == 1) saa_put(t, CAROM_SAA_ROW_LOW, a, 0, 1, base + q->n);
    if (kind == 0 || kind == 2) saa_put(t, CAROM_SAA_ROW_HIGH, a, 0, 1, base + q->n);
    for (int i = 0; i < t->count; i++) {
      double total = sum, *v = t->values + i * q->random_count + base;
      for (int k = 0; k < q->n; k++) v[k] = SAA_N(), total += v[k] * x[k];
      v[q->n] = total + (kind == 0 ? 0 : kind == 1 ? -0.5 : 0.5) * carom_random_uniform(&r);
    }
  }
  for (int a = 0; a < q->mean_rows; a++) {
    int random = q->rows * (q->n + 1) + q->m + a, kind = SAA_BELOW(2);
    for (int k = 0; k < q->n; k++) {
      double v = SAA_N();
      s[a] += v * x[k];
      saa_put(t, CAROM_SAA_MEAN_X, a, k, v, -1);
    }
    for (int k = 0; k < q->m; k++) {
      double v = SAA_N();
      s[a] += v * y[k];
      saa_put(t, CAROM_SAA_MEAN_Y, a, k, v, -1);
    }
    saa_put(t, CAROM_SAA_MEAN_LOW, a, 0, 1, random);
    if (kind) saa_put(t, CAROM_SAA_MEAN_HIGH, a, 0, s[a] + 0.5, -1);
    for (int i = 0; i < t->count; i++) t->values[i * q->random_count + random] = s[a] - carom_random_uniform(&r);
  }
  if (linear) return;
  for (int k = 0; k < q->m; k++) saa_put(t, CAROM_SAA_YY, k, k, 0.2 + carom_random_uniform(&r), -1);
  if (q->m > 1) saa_put(t, CAROM_SAA_YY, 1, 0, 0.1 * SAA_N() / 4, -1);
  for (int k = 0; k < q->n; k++) saa_put(t, CAROM_SAA_XX, k, k, 0.5 + carom_random_uniform(&r), -1);
  saa_put(t, CAROM_SAA_YX, 0, 0, 0.2 * carom_random_uniform(&r), -1);
}

static inline void saa_table_free(saa_table *t) {
  free(t->values);
  free(t->probability);
}

#endif

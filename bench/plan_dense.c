// The program of a plan given to a dense SQP (NLopt's SLSQP, as users of fmincon would), from the same start and with
// the same first derivatives.
#include "plan_dense.h"

#include <math.h>
#include <nlopt.h>
#include <stdlib.h>
#include <string.h>

// The program without its fixed variables, as dense callbacks.
typedef struct dense {
  carom_program *P;
  int n, equations, inequalities;
  int *variable;  // (n) of the program
  int *place;     // (P->n) or -1
  int *row;       // (P->m) number among the equations, or -1 - number among the inequalities
  double *x, *g, *values, *gradient;
} dense;

static void spread(dense *d, const double *z) {
  for (int i = 0; i < d->n; i++) d->x[d->variable[i]] = z[i];
}

static double cost(unsigned n, const double *z, double *grad, void *data) {
  dense *d = data;
  (void)n;
  double f = 0;
  carom_nlp nlp = carom_program_nlp(d->P);
  spread(d, z);
  nlp.objective(nlp.context, d->x, &f);
  if (grad) {
    nlp.gradient(nlp.context, d->x, d->gradient);
    for (int i = 0; i < d->n; i++) grad[i] = d->gradient[d->variable[i]] / d->P->f_scale;
  }
  return f / d->P->f_scale;
}

static void rows(dense *d, const double *z, double *result, double *grad, bool equations) {
  carom_nlp nlp = carom_program_nlp(d->P);
  int count = equations ? d->equations : d->inequalities;
  spread(d, z);
  nlp.constraints(nlp.context, d->x, d->g);
  for (int i = 0; i < d->P->m; i++) {
    int r = equations ? d->row[i] : -1 - d->row[i];
    if (r < 0) continue;
    bool low = isfinite(d->P->g_low[i]);
    double v = low ? d->P->g_low[i] - d->g[i] : d->g[i] - d->P->g_high[i];
    result[r] = (equations ? d->g[i] - d->P->g_low[i] : v) / d->P->g_scale[i];
  }
  if (!grad) return;
  nlp.jacobian(nlp.context, d->x, d->values);
  memset(grad, 0, (size_t)count * (size_t)d->n * sizeof *grad);
  for (int k = 0; k < d->P->jacobian_count; k++) {
    int i = d->P->jacobian_row[k], r = equations ? d->row[i] : -1 - d->row[i], j = d->place[d->P->jacobian_column[k]];
    if (r < 0 || j < 0) continue;
    double sign = equations || !isfinite(d->P->g_low[i]) ? 1 : -1;
    grad[(size_t)r * (size_t)d->n + (size_t)j] += sign * d->values[k] / d->P->g_scale[i];
  }
}

static void equations(unsigned m, double *result, unsigned n, const double *z, double *grad, void *data) {
  (void)m, (void)n;
  rows(data, z, result, grad, true);
}

static void inequalities(unsigned m, double *result, unsigned n, const double *z, double *grad, void *data) {
  (void)m, (void)n;
  rows(data, z, result, grad, false);
}

// How far the answer is from its constraints: a solver that gives up early may be cheap and wrong.
static double violation(dense *d, const double *z) {
  carom_nlp nlp = carom_program_nlp(d->P);
  double worst = 0;
  spread(d, z);
  nlp.constraints(nlp.context, d->x, d->g);
  for (int i = 0; i < d->P->m; i++) worst = fmax(worst, fmax(d->P->g_low[i] - d->g[i], d->g[i] - d->P->g_high[i]));
  return worst;
}

static double *numbers(int n) { return calloc((size_t)n + 1, sizeof(double)); }

bench_dense bench_solve_dense(carom_program *P, double limit) {
  bench_dense a = {0};
  dense d = {.P = P, .variable = calloc((size_t)P->n, sizeof(int)), .place = calloc((size_t)P->n, sizeof(int))};
  d.row = calloc((size_t)P->m, sizeof(int));
  d.x = numbers(P->n), d.g = numbers(P->m), d.values = numbers(P->jacobian_count), d.gradient = numbers(P->n);
  memcpy(d.x, P->x, (size_t)P->n * sizeof(double));
  for (int i = 0; i < P->n; i++) {
    bool fixed = P->x_low[i] == P->x_high[i];
    d.place[i] = fixed ? -1 : d.n;
    if (!fixed) d.variable[d.n++] = i;
  }
  for (int i = 0; i < P->m; i++) d.row[i] = P->g_low[i] == P->g_high[i] ? d.equations++ : -1 - d.inequalities++;
  double *z = numbers(d.n), *low = numbers(d.n), *high = numbers(d.n), *tolerance = numbers(P->m);
  for (int i = 0; i < d.n; i++)
    z[i] = fmin(fmax(P->x[d.variable[i]], P->x_low[d.variable[i]]), P->x_high[d.variable[i]]),
    low[i] = P->x_low[d.variable[i]], high[i] = P->x_high[d.variable[i]];
  for (int i = 0; i < P->m; i++) tolerance[i] = 1e-8;
  nlopt_opt opt = nlopt_create(NLOPT_LD_SLSQP, (unsigned)d.n);
  nlopt_set_lower_bounds(opt, low);
  nlopt_set_upper_bounds(opt, high);
  nlopt_set_min_objective(opt, cost, &d);
  nlopt_add_equality_mconstraint(opt, (unsigned)d.equations, equations, &d, tolerance);
  if (d.inequalities) nlopt_add_inequality_mconstraint(opt, (unsigned)d.inequalities, inequalities, &d, tolerance);
  nlopt_set_ftol_rel(opt, 1e-8);
  nlopt_set_maxtime(opt, limit);
  double begin = carom_clock();
  nlopt_optimize(opt, z, &a.cost);
  a.seconds = carom_clock() - begin;
  a.cost *= P->f_scale;
  a.violation = violation(&d, z);
  a.evaluations = nlopt_get_numevals(opt);
  nlopt_destroy(opt);
  void *blocks[] = {d.variable, d.place, d.row, d.x, d.g, d.values, d.gradient, z, low, high, tolerance};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) free(blocks[i]);
  return a;
}

bool bench_prepare_plan(carom_plan *plan, carom_guess_kind kind) {
  carom_error error;
  size_t pairs = (size_t)plan->path.K * (size_t)carom_plan_part_pairs(plan);
  bool *near = calloc(pairs + 1, sizeof *near);
  memcpy(near, plan->path.watched, pairs * sizeof *near);
  carom_status status = carom_guess_make(plan, &kind, 1, &error);
  if (status == CAROM_OK && kind != CAROM_GUESS_FORWARD) status = carom_guess_forces(plan, &error);
  for (int i = 0; i < plan->contact_count && status == CAROM_OK; i++)
    status = carom_contact_find_features(plan, &plan->contacts[i], &error);
  memcpy(plan->path.watched, near, pairs * sizeof *near);
  free(near);
  carom_watch_near_pairs(plan);
  if (status == CAROM_OK) status = carom_transcribe(plan, &error);
  return status == CAROM_OK;
}

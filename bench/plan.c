// Planning: the sparse transcription with Ipopt against the same program, from the same start and with the same first
// derivatives, given to a dense SQP (NLopt's SLSQP, as users of fmincon would); cost per iteration over K; nested
// against lifted avoidance. usage: carom_bench_plan EXAMPLES_FOLDER [seconds for each dense solve]
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "carom/plan.h"
#include "control/plan.h"

#ifdef BENCH_NLOPT
#include <nlopt.h>
#endif

static carom_plan_file *read_problem(const char *folder, const char *name, int K, double T, const char *more) {
  char path[512], horizon[100], contact[64];
  snprintf(path, sizeof path, "%s/%s/problem.yaml", folder, name);
  snprintf(horizon, sizeof horizon, "horizon={intervals: %d, duration: %g s}", K, T);
  snprintf(contact, sizeof contact, "contacts.0.node=%d", (int)lround(0.3 * K));
  const char *overrides[] = {horizon, strcmp(name, "plan-wall") == 0 ? contact : more, more};
  carom_scene_options o = carom_scene_default_options();
  o.overrides = overrides;
  o.override_count = strcmp(name, "plan-wall") == 0 ? (more ? 3 : 2) : more ? 2 : 1;
  carom_diagnostics found = {0};
  carom_plan_file *file = NULL;
  if (carom_plan_read(path, &o, NULL, &file, &found) != CAROM_OK)
    fprintf(stderr, "%s: %s\n", path, found.count ? found.items[0].message : "cannot be read");
  carom_diagnostics_release(&found);
  return file;
}

#ifdef BENCH_NLOPT

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

static double *numbers(int n) { return calloc((size_t)n + 1, sizeof(double)); }

static double solve_dense(carom_program *P, double limit, double *f, int *evaluations) {
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
  nlopt_optimize(opt, z, f);
  double seconds = carom_clock() - begin;
  *f *= P->f_scale;
  *evaluations = nlopt_get_numevals(opt);
  nlopt_destroy(opt);
  void *blocks[] = {d.variable, d.place, d.row, d.x, d.g, d.values, d.gradient, z, low, high, tolerance};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) free(blocks[i]);
  return seconds;
}

// The program as the planner would hand it to its solver.
static bool prepare(carom_plan *plan, carom_guess_kind kind) {
  carom_error error;
  carom_status status = carom_guess_make(plan, &kind, 1, &error);
  if (status == CAROM_OK && kind != CAROM_GUESS_FORWARD) status = carom_guess_forces(plan, &error);
  for (int i = 0; i < plan->contact_count && status == CAROM_OK; i++)
    status = carom_contact_find_features(plan, &plan->contacts[i], &error);
  carom_watch_near_pairs(plan);
  if (status == CAROM_OK) status = carom_transcribe(plan, &error);
  return status == CAROM_OK;
}

static void against_dense(const char *folder, const char *name, double T, const int *sizes, int count, double limit) {
  printf("\n%s\n      K   variables   sparse (s)   its        cost   dense (s)  evals        cost    ratio\n", name);
  for (int i = 0; i < count; i++) {
    carom_plan_file *file = read_problem(folder, name, sizes[i], T, "solver.sweep=false");
    carom_plan_report report;
    double f = 0;
    int evaluations = 0;
    if (!file) return;
    if (carom_plan_solve(file->plan, &file->options, &report, NULL) != CAROM_OK) return;
    double sparse = report.solver_seconds;
    int variables = report.variables;
    if (!prepare(file->plan, file->options.guess)) return;
    double dense_time = solve_dense(&file->plan->program, limit, &f, &evaluations);
    printf("  %5d   %9d   %10.3f  %4d  %10.4g  %s%9.2f  %5d  %10.4g  %s%6.0f\n", sizes[i], variables, sparse,
           report.iterations, report.cost, dense_time >= limit ? ">" : " ", dense_time, evaluations, f,
           dense_time >= limit ? ">" : " ", dense_time / sparse);
    fflush(stdout);
    carom_plan_file_destroy(file);
  }
}

#endif

static void per_iteration(const char *folder) {
  static const int sizes[] = {30, 100, 300, 1000};
  printf("\ncost per iteration (plan-wall)\n      K   variables   its   ms/iteration   us/(iteration K)\n");
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    carom_plan_file *file = read_problem(folder, "plan-wall", sizes[i], 0.75, "solver.sweep=false");
    carom_plan_report report;
    if (!file || carom_plan_solve(file->plan, &file->options, &report, NULL) != CAROM_OK) return;
    double ms = 1e3 * report.solver_seconds / (report.iterations + 1);
    printf("  %5d   %9d  %4d   %12.2f   %16.1f\n", sizes[i], report.variables, report.iterations, ms,
           1e3 * ms / sizes[i]);
    fflush(stdout);
    carom_plan_file_destroy(file);
  }
}

static void nested_against_lifted(const char *folder) {
  static const char *const methods[] = {"avoid.method=lifted", "avoid.method=nested"};
  static const char *const outcomes[] = {"solved", "infeasible", "limit", "stopped", "failed"};
  printf(
      "\navoidance (plan-two-cubes, at most 200 iterations)\n  method   variables  constraints   its   seconds  "
      "outcome\n");
  for (int i = 0; i < 2; i++) {
    carom_plan_file *file = read_problem(folder, "plan-two-cubes", 50, 0.5, methods[i]);
    carom_plan_report report;
    if (!file) return;
    file->options.max_iterations = 200, file->options.sweep = false;
    if (carom_plan_solve(file->plan, &file->options, &report, NULL) != CAROM_OK) return;
    printf("  %s   %9d  %11d  %4d  %8.2f  %s\n", methods[i] + 13, report.variables, report.constraints,
           report.iterations, report.solver_seconds, outcomes[report.outcome]);
    fflush(stdout);
    carom_plan_file_destroy(file);
  }
}

// The problems of the literature in full, with what the tests hold against their coarse siblings.
static void whole_problems(const char *folder) {
  static const struct {
    const char *name;
    int K;
    double T, published;
  } problems[] = {
      {"plan-satellites", 30, 0.30, 1.44}, {"plan-manipulator", 30, 0.30, 705}, {"plan-burr", 29, 0.29, 1348}};
  printf("\nwhole problems\n  name               nodes   its   seconds  violation   defect   factor  published\n");
  for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
    carom_plan_file *file = read_problem(folder, problems[i].name, problems[i].K, problems[i].T, NULL);
    carom_plan_report report;
    if (!file) return;
    if (carom_plan_solve(file->plan, &file->options, &report, NULL) == CAROM_OK)
      printf("  %-17s  %5d  %4d  %8.1f   %8.1e  %7.1e  %7.0f  %9g\n", problems[i].name,
             carom_plan_node_count(file->plan), report.iterations, report.seconds, report.violation,
             report.momentum_defect, report.guess_cost / report.cost, problems[i].published);
    fflush(stdout);
    carom_plan_file_destroy(file);
  }
}

int main(int argc, char **argv) {
  if (argc < 2 || !carom_plan_available()) {
    fprintf(stderr, "usage: carom_bench_plan EXAMPLES_FOLDER [SECONDS]  (needs a build with Ipopt)\n");
    return 2;
  }
  double limit = argc > 2 ? atof(argv[2]) : 60;
#ifdef BENCH_NLOPT
  static const int sizes[] = {10, 20, 30, 45};
  printf("sparse: Ipopt, exact Hessian; dense: NLopt %s SLSQP, at most %g s each\n", BENCH_NLOPT, limit);
  against_dense(argv[1], "plan-wall", 0.75, sizes, 4, limit);
#else
  (void)limit;
  printf("(built without NLopt: no dense peer)\n");
#endif
  per_iteration(argv[1]);
  nested_against_lifted(argv[1]);
  whole_problems(argv[1]);
  return 0;
}

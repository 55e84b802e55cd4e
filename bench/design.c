// How many evaluations it takes to come within 1e-3 and 1e-5 of a function's range of its least value: Carom's search
// against Brent's method, DIRECT and dlib's find_min_global.
#include "design.h"

#include <string.h>

#include "bench.h"
#include "carom/surrogate.h"
#include "design_functions.h"

static const double levels[DESIGN_LEVELS] = {1e-3, 1e-5};

double design_evaluate(design_counter *c, const double *x) {
  double value = ((const design_function *)c->function)->value(x);
  c->evaluations++;
  if (value < c->best) c->best = value;
  for (int i = 0; i < DESIGN_LEVELS; i++)
    if (!c->reached[i] && c->best - c->least <= levels[i] * (c->most - c->least)) c->reached[i] = c->evaluations;
  return value;
}

bool design_is_done(const design_counter *c) {
  return c->reached[DESIGN_LEVELS - 1] || c->evaluations >= DESIGN_BUDGET;
}

// ---- methods of our own ---------------------------------------------------------------------------------------------

static void search(design_counter *c, carom_search_method method) {
  carom_search_def def = carom_search_default();
  carom_search *s;
  double x[DESIGN_DIM];
  def.variable_count = c->dimension, def.low = c->low, def.high = c->high;
  def.budget = 100, def.method = method;
  if (carom_search_create(&def, NULL, &s, NULL) != CAROM_OK) return;
  while (!design_is_done(c) && carom_search_ask(s, 1, x) == 1) carom_search_tell(s, x, design_evaluate(c, x), NULL);
  carom_search_destroy(s);
}

static void by_auto(design_counter *c) { search(c, CAROM_SEARCH_AUTO); }
static void by_kriging(design_counter *c) { search(c, CAROM_SEARCH_KRIGING); }
static void by_spline(design_counter *c) {
  if (c->dimension == 1) search(c, CAROM_SEARCH_SPLINE);
}

// Brent (1973), chapter 5, `localmin`: parabolas, and golden sections where they do not do.
static void by_brent(design_counter *c) {
  const double golden = 0.3819660112501051;
  double a = c->low[0], b = c->high[0], tol = 1e-8 * (b - a), d = 0, e = 0;
  if (c->dimension > 1) return;
  double x = a + golden * (b - a), w = x, v = x, fx = design_evaluate(c, &x), fw = fx, fv = fx;
  while (!design_is_done(c)) {
    double m = 0.5 * (a + b), p = 0, q = 0, r;
    if (fabs(x - m) <= 2 * tol - 0.5 * (b - a)) return;
    if (fabs(e) > tol) {
      r = (x - w) * (fx - fv), q = (x - v) * (fx - fw), p = (x - v) * q - (x - w) * r, q = 2 * (q - r);
      if (q > 0)
        p = -p;
      else
        q = -q;
      r = e, e = d;
      if (fabs(p) >= fabs(0.5 * q * r) || p <= q * (a - x) || p >= q * (b - x)) p = q = 0;
    }
    if (q > 0)
      d = p / q;
    else
      e = x < m ? b - x : a - x, d = golden * e;
    double u = x + (fabs(d) >= tol ? d : copysign(tol, d)), fu = design_evaluate(c, &u);
    if (fu <= fx) {
      *(u < x ? &b : &a) = x;
      v = w, fv = fw, w = x, fw = fx, x = u, fx = fu;
      continue;
    }
    *(u < x ? &a : &b) = u;
    if (fu <= fw || w == x)
      v = w, fv = fw, w = u, fw = fu;
    else if (fu <= fv || v == x || v == w)
      v = u, fv = fu;
  }
}

// ---- the table ------------------------------------------------------------------------------------------------------

typedef struct method {
  const char *name;
  void (*run)(design_counter *counter);
} method;

static const method methods[] = {
    {"auto", by_auto},
    {"kriging", by_kriging},
    {"spline", by_spline},
    {"Brent", by_brent},
#ifdef BENCH_NLOPT
    {"NLopt DIRECT-L", design_by_nlopt},
#endif
#ifdef BENCH_DLIB
    {"dlib", design_by_dlib},
#endif
};
enum { METHODS = sizeof methods / sizeof *methods };

static void log_count(bench_log *log, const design_function *f, const char *name, const design_counter *c) {
  bench_log_begin(log, "evaluations");
  bench_log_text(log, "function", f->name);
  bench_log_number(log, "variables", f->dimension);
  bench_log_text(log, "method", name);
  bench_log_number(log, "to_1e-3", c->reached[0] ? c->reached[0] : NAN);
  bench_log_number(log, "to_1e-5", c->reached[1] ? c->reached[1] : NAN);
  bench_log_end(log);
}

static void put_count(int count, int evaluations) {
  if (count > 0)
    printf(" %4d", count);
  else
    printf(" %4s", evaluations > 0 ? "-" : "");
}

static void measure(const design_function *f, bench_log *log, int sums[][METHODS][DESIGN_LEVELS]) {
  design_truth truth = design_find_truth(f);
  printf("%-12s %d", f->name, f->dimension);
  for (int m = 0; m < METHODS; m++) {
    design_counter c = {f, f->dimension, f->low, f->high, truth.least, truth.most, INFINITY, 0, {0}};
    methods[m].run(&c);
    printf("  |");
    for (int i = 0; i < DESIGN_LEVELS; i++) {
      put_count(c.reached[i], c.evaluations);
      sums[f->dimension > 1][m][i] += c.reached[i] ? c.reached[i] : DESIGN_BUDGET;
    }
    if (c.evaluations > 0) log_count(log, f, methods[m].name, &c);
  }
  printf("\n");
}

static void print_sums(const char *title, int sums[METHODS][DESIGN_LEVELS], int columns) {
  printf("%-14s", title);
  for (int m = 0; m < METHODS; m++) {
    bool apply = columns == 1 || (methods[m].run != by_spline && methods[m].run != by_brent);
    printf("  |");
    for (int i = 0; i < DESIGN_LEVELS; i++) put_count(apply ? sums[m][i] : 0, 0);
  }
  printf("\n");
}

int main(int count, char **arguments) {
  const char *json = "bench-results.jsonl";
  int sums[2][METHODS][DESIGN_LEVELS] = {0};
  if (count == 3 && strcmp(arguments[1], "--json") == 0)
    json = arguments[2];
  else if (count > 1)
    return printf("usage: %s [--json FILE]\n", arguments[0]), 2;
  bench_log log;
  if (!bench_log_open(&log, json, "design")) fprintf(stderr, "%s cannot be written\n", json);
  printf(
      "Evaluations to come within 1e-3 and 1e-5 of the range of the least value; -: not reached in %d (searches of "
      "Carom: before they end).\n\n%-14s",
      DESIGN_BUDGET, "function");
  for (int m = 0; m < METHODS; m++) printf("  | %-9.9s", methods[m].name);
  printf("\n");
  for (int i = 0; i < DESIGN_REPORTED; i++) measure(&design_reported[i], &log, sums);
  print_sums("sum, 1", sums[0], 1);
  print_sums("sum, 2 to 4", sums[1], 2);
  bench_log_close(&log);
  return 0;
}

// The page of `carom root --basins`: which root is reached from where, by all three methods. Of one unknown over starts
// and random numbers; of two, or of a complex one, over the plane of starts.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/page_data.h"
#include "cli/root.h"

enum { METHODS = CAROM_ROOT_MONTE_CARLO + 1, SEEDS = 100, WIDER = 2, CURVE = 481, MOST_ROOTS = 60 };

// The starts of the picture, and what the three methods make of them.
typedef struct page {
  const cli_root_run *r;
  FILE *out;
  int nx, ny;  // starts across and up
  double window[4];
  double *starts;
  carom_root_set *sets[METHODS];
  double *roots;  // (root_count x n) of all methods
  int root_count;
} page;

// ---- the window -----------------------------------------------------------------------------------------------------

static void widen(double x, double range[2]) {
  range[0] = fmin(range[0], x);
  range[1] = fmax(range[1], x);
}

// About the starts and the roots that were found, as wide again.
static void choose_range(const cli_root_run *r, int i, double range[2]) {
  range[0] = INFINITY, range[1] = -INFINITY;
  for (int s = 0; s < r->runs.start_count; s++) widen(r->runs.starts[s * r->problem.n + i], range);
  for (int k = 0; k < r->set->count; k++) widen(r->set->roots[k].x[i], range);
  double middle = 0.5 * (range[0] + range[1]), half = fmax(range[1] - range[0], 2);
  range[0] = middle - half, range[1] = middle + half;
}

static void choose_window(page *p) {
  const cli_root_run *r = p->r;
  double *w = p->window;
  memcpy(w, r->window, sizeof p->window);
  if (w[0] < w[1]) return;
  choose_range(r, 0, w);
  if (r->problem.n < 2) return;
  choose_range(r, 1, w + 2);
  double half = 0.5 * fmax(w[1] - w[0], w[3] - w[2]);  // a square
  for (int i = 0; i < 4; i += 2) {
    double middle = 0.5 * (w[i] + w[i + 1]);
    w[i] = middle - half, w[i + 1] = middle + half;
  }
}

static double at(double from, double to, int i, int count) { return from + (i + 0.5) / count * (to - from); }

static bool make_starts(page *p) {
  bool plane = p->r->problem.n == 2;
  p->nx = plane ? p->r->size : WIDER * p->r->size;
  p->ny = plane ? p->r->size : 1;
  p->starts = calloc((size_t)p->nx * (size_t)p->ny * (plane ? 2 : 1), sizeof *p->starts);
  double *x = p->starts;
  for (int j = 0; x && j < p->ny; j++)
    for (int i = 0; i < p->nx; i++) {
      *x++ = at(p->window[0], p->window[1], i, p->nx);
      if (plane) *x++ = at(p->window[2], p->window[3], j, p->ny);
    }
  return p->starts || cli_error("root: out of memory for the picture");
}

// ---- runs and roots -------------------------------------------------------------------------------------------------

// Random numbers are the same at every start of a plane, so that what is seen are its basins and no grain.
static bool make_runs(page *p) {
  carom_error error;
  for (int m = 0; m < METHODS; m++) {
    carom_root_options options = p->r->options;
    carom_root_runs runs = p->r->runs;
    options.method = (carom_root_method)m;
    runs.starts = p->starts, runs.start_count = p->nx * p->ny;
    runs.runs = p->r->problem.n == 2 ? 1 : SEEDS;
    if (carom_root_search(&p->r->problem, &runs, &options, NULL, &p->sets[m], &error) != CAROM_OK)
      return cli_fail(&error), false;
  }
  return true;
}

static int find_root(const page *p, const double *x) {
  int n = p->r->problem.n;
  for (int k = 0; k < p->root_count; k++) {
    double apart = 0, size = 1;
    for (int i = 0; i < n; i++) apart = fmax(apart, fabs(p->roots[k * n + i] - x[i])), size = fmax(size, fabs(x[i]));
    if (apart <= 2 * p->r->runs.near * size) return k;
  }
  return -1;
}

// Those of the search first, whose colours are in the table; then what else the picture shows, until they are too many.
static void add_roots(page *p, const carom_root_set *set) {
  int n = set->n;
  for (int k = 0; k < set->count && p->root_count < MOST_ROOTS; k++)
    if (find_root(p, set->roots[k].x) < 0)
      memcpy(p->roots + n * p->root_count++, set->roots[k].x, (size_t)n * sizeof *p->roots);
}

static bool gather_roots(page *p) {
  p->roots = calloc((size_t)MOST_ROOTS * (size_t)p->r->problem.n, sizeof *p->roots);
  if (!p->roots) return cli_error("root: out of memory for the picture");
  add_roots(p, p->r->set);
  for (int m = 0; m < METHODS; m++) add_roots(p, p->sets[m]);
  return true;
}

// ---- data -----------------------------------------------------------------------------------------------------------

static void put_numbers(FILE *out, const double *x, int n) {
  for (int i = 0; i < n; i++) fputc(i > 0 ? ',' : '[', out), cli_page_finite(out, x[i]);
  fputs(n > 0 ? "]" : "[]", out);
}

static void put_row_of(FILE *out, const char *name, const double *x, int n) {
  fprintf(out, "\"%s\":", name);
  put_numbers(out, x, n);
  fputc(',', out);
}

// Two characters a run: the root ('.': none, '~': one too many to draw) and the steps, or how the run ended.
static void put_cells(const page *p, const carom_root_set *set) {
  static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_";
  fputs("\"cells\":\"", p->out);
  for (int64_t i = 0; i < set->run_count; i++) {
    const carom_root_info *info = &set->infos[i];
    bool found = set->root_of[i] >= 0;
    int root = found ? find_root(p, set->roots[set->root_of[i]].x) : -1;
    fputc(!found ? '.' : root < 0 ? '~' : digits[root], p->out);
    fputc(digits[!found ? (int)info->outcome : info->iterations > 63 ? 63 : info->iterations], p->out);
  }
  fputs("\"", p->out);
}

static void put_map(const page *p, int m) {
  const carom_root_set *set = p->sets[m];
  double steps = 0;
  for (int k = 0; k < set->count; k++) steps += set->roots[k].iterations * (double)set->roots[k].hits;
  fputs(m > 0 ? ",{" : "{", p->out);
  cli_page_member(p->out, "method", carom_root_method_name((carom_root_method)m));
  fprintf(p->out, "\"rows\":%d,\"runs\":%lld,\"found\":%lld,\"steps\":", p->ny * set->runs, (long long)set->run_count,
          (long long)set->outcomes[CAROM_ROOT_FOUND]);
  cli_page_finite(p->out, steps / (double)set->outcomes[CAROM_ROOT_FOUND]);
  fputc(',', p->out);
  put_cells(p, set);
  fputs("}", p->out);
}

// f itself, of one unknown.
static void put_curve(const page *p) {
  const carom_root_problem *problem = &p->r->problem;
  double f[CURVE];
  if (problem->n != 1) return;
  for (int i = 0; i < CURVE; i++) {
    double x = p->window[0] + i * (p->window[1] - p->window[0]) / (CURVE - 1);
    if (problem->evaluate(problem->context, &x, &f[i], NULL) != CAROM_OK) f[i] = NAN;
  }
  put_row_of(p->out, "curve", f, CURVE);
}

static void put_words(const page *p) {
  const cli_root_run *r = p->r;
  char name[80];
  fputs("\"expressions\":[", p->out);
  for (int i = 0; i < r->count; i++) fputs(i > 0 ? "," : "", p->out), cli_page_text(p->out, r->expressions[i]);
  fputs("],\"unknowns\":[", p->out);
  for (int i = 0; i < r->problem.n; i++)
    fputs(i > 0 ? "," : "", p->out), cli_page_text(p->out, cli_root_axis(r, i, name, sizeof name));
  fputs("],\"variables\":[", p->out);
  for (int i = 0; r->text.variables && i < r->count; i++)
    fputs(i > 0 ? "," : "", p->out), cli_page_text(p->out, r->names[i]);
  fputs("],", p->out);
  cli_page_member(p->out, "method", carom_root_method_name(r->options.method));
  fputs("\"outcomes\":[", p->out);
  for (int k = 0; k < CAROM_ROOT_OUTCOMES; k++)
    fputs(k > 0 ? "," : "", p->out), cli_page_text(p->out, carom_root_outcome_name((carom_root_outcome)k));
  fputs("],", p->out);
}

static void put_search(const page *p) {
  const carom_root_set *set = p->r->set;
  const carom_interval w = set->rate;
  fprintf(p->out, "\"search\":{\"runs\":%lld,\"found\":%lld,\"interval\":", (long long)set->run_count,
          (long long)set->outcomes[CAROM_ROOT_FOUND]);
  put_numbers(p->out, (double[]){w.low, w.high}, 2);
  fputs(",\"roots\":[", p->out);
  for (int k = 0; k < set->count; k++) {
    const carom_root *root = &set->roots[k];
    fprintf(p->out, "%s{\"root\":%d,\"hits\":%lld,\"x\":[", k > 0 ? "," : "", find_root(p, root->x),
            (long long)root->hits);
    for (int i = 0; i < set->n; i++) fprintf(p->out, "%s%.17g", i > 0 ? "," : "", root->x[i]);
    fputs("],\"interval\":", p->out);
    put_numbers(p->out, (double[]){root->rate.low, root->rate.high, root->iterations, root->residual}, 4);
    fputs("}", p->out);
  }
  fputs("]},", p->out);
}

static void put_data(const page *p) {
  const cli_root_run *r = p->r;
  int n = r->problem.n;
  fputc('{', p->out);
  put_words(p);
  put_row_of(p->out, "starts", r->runs.starts, r->runs.start_count * n);
  put_row_of(p->out, "window", p->window, 2 * n);
  put_row_of(p->out, "roots", p->roots, p->root_count * n);
  fprintf(p->out, "\"n\":%d,\"complex\":%s,\"nx\":%d,\"ny\":%d,\"most\":%d,\"seed\":%llu,", n,
          r->text.complex_plane ? "true" : "false", p->nx, p->ny, r->options.max_iterations,
          (unsigned long long)r->options.seed);
  put_curve(p);
  put_search(p);
  fputs("\"maps\":[", p->out);
  for (int m = 0; m < METHODS; m++) put_map(p, m);
  fputs("]}", p->out);
}

// ---- the page -------------------------------------------------------------------------------------------------------

static int write_page(page *p) {
  cli_page to;
  if (!cli_page_begin(&to)) return EXIT_FAILED;
  const char *rest = cli_page_until_data(&to, "root_page.html");
  p->out = to.out;
  put_data(p);
  return cli_page_after_data(&to, rest, p->r->page);
}

int cli_root_write_page(const cli_root_run *r) {
  page p = {.r = r};
  choose_window(&p);
  bool good = make_starts(&p) && make_runs(&p) && gather_roots(&p);
  int code = good ? write_page(&p) : EXIT_FAILED;
  for (int m = 0; m < METHODS; m++) carom_root_set_destroy(p.sets[m]);
  free(p.starts);
  free(p.roots);
  return code;
}

// carom root: roots of equations by Newton's method and by two that mix it.
#include "cli/root.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char about[] =
    "Finds x with f(x) = 0, of one expression or of several with as many unknowns, by runs of Newton - Monte Carlo "
    "from\n"
    "each start: Newton's method with a random mix of old and new points in each step, which gets away from where\n"
    "Newton's cycles or runs off. Tells all distinct roots and how often each was found. Expressions are those of "
    "scene\n"
    "files, such as \"x^3 - 2*x + 2\"; unknowns come in alphabetical order unless --variables says otherwise. Words "
    "after\n"
    "-- may begin with a dash. docs/root.md has the mathematics. Exit code 1 when no root was found.";

typedef struct request {
  const char *method, *runs, *seed, *iterations, *tolerance, *step_tolerance, *bound, *threads, *near;
  const char *variables, *trace, *window, *size;
  cli_list starts;
  bool complex_plane, json, force;
} request;

// ---- options --------------------------------------------------------------------------------------------------------

static bool read_method(const request *q, carom_root_options *o) {
  static const char *const words[] = {"newton", "half", "monte-carlo", NULL};
  int method = (int)o->method;
  if (!cli_read_word("root", "method", q->method, words, &method)) return false;
  return o->method = (carom_root_method)method, true;
}

static bool read_options(const request *q, cli_root_run *r) {
  carom_root_options *o = &r->options;
  int seed = 1;
  *o = carom_root_default_options();
  r->runs = carom_root_default_runs();
  bool good = read_method(q, o) && cli_read_count("root", "runs", q->runs, 1, 1e7, &r->runs.runs) &&
              cli_read_count("root", "seed", q->seed, 0, 1e9, &seed) &&
              cli_read_count("root", "max-iterations", q->iterations, 1, 1e6, &o->max_iterations) &&
              cli_read_number("root", "tolerance", q->tolerance, 1e-300, 1e300, &o->tolerance) &&
              cli_read_number("root", "step-tolerance", q->step_tolerance, 1e-15, 0.1, &o->step_tolerance) &&
              cli_read_number("root", "bound", q->bound, 1e-300, 1e300, &o->bound) &&
              cli_read_number("root", "near", q->near, 0, 0.1, &r->runs.near) &&
              cli_read_count("root", "threads", q->threads, 1, 1024, &r->runs.threads) &&
              cli_read_count("root", "size", q->size, 16, 1000, &r->size);
  o->seed = (uint64_t)seed;
  return good;
}

// "x,y" into names.
static bool read_variables(const request *q, cli_root_run *r) {
  int count = 0;
  if (!q->variables) return true;
  snprintf(r->room, sizeof r->room, "%s", q->variables);
  char *name = r->room;
  for (char *next = name; next && count < CAROM_ROOT_MOST; name = next) {
    next = strchr(name, ',');
    if (next) *next++ = '\0';
    r->names[count++] = name;
  }
  if (count != r->count)
    return cli_error("root: --variables names %d for %d expression%s: give one for each", count, r->count,
                     r->count > 1 ? "s" : "");
  r->text.variables = r->names;
  return true;
}

static bool read_equations(const request *q, cli_root_run *r, int *code) {
  carom_error error;
  *code = EXIT_MISTAKE;
  while (r->count < CAROM_ROOT_MOST && r->expressions[r->count]) r->count++;
  r->text = (carom_root_text){r->expressions, r->count, NULL, q->complex_plane};
  if (!read_variables(q, r)) return false;
  carom_status status = carom_root_equations_create(&r->text, NULL, &r->equations, &error);
  if (status == CAROM_ERR_MEMORY) *code = EXIT_FAILED;
  if (status != CAROM_OK) return cli_error("root: %s", error.message);
  r->problem = carom_root_equations_problem(r->equations);
  return true;
}

// ---- starts ---------------------------------------------------------------------------------------------------------

const char *cli_root_axis(const cli_root_run *r, int i, char *text, size_t size) {
  const char *name = carom_root_equations_variable(r->equations, r->text.complex_plane ? 0 : i);
  snprintf(text, size, "%s%s", !r->text.complex_plane ? "" : i > 0 ? "im " : "re ", name);
  return text;
}

static bool complain_start(const cli_root_run *r, const char *text) {
  char names[200] = "", name[80];
  size_t at = 0;
  for (int i = 0; i < r->problem.n && at < sizeof names; i++)
    at += (size_t)snprintf(names + at, sizeof names - at, "%s%s", i > 0 ? ", " : "",
                           cli_root_axis(r, i, name, sizeof name));
  if (!text) return cli_error("root: where to begin? give --start with a number for %s", names);
  return cli_error("root: --start: expected %d number%s (%s), got '%s'", r->problem.n, r->problem.n > 1 ? "s" : "",
                   names, text);
}

static bool read_starts(const request *q, cli_root_run *r) {
  if (q->starts.count == 0) return complain_start(r, NULL);
  for (int i = 0; i < q->starts.count; i++) {
    const char *end, *text = q->starts.items[i];
    if (!cli_read_numbers(text, r->problem.n, r->starts + i * r->problem.n, &end) || *end)
      return complain_start(r, text);
  }
  r->runs.starts = r->starts;
  r->runs.start_count = q->starts.count;
  return true;
}

// ---- the picture ----------------------------------------------------------------------------------------------------

static bool read_window(const request *q, cli_root_run *r) {
  const char *end;
  int n = r->problem.n;
  double *w = r->window;
  if (r->page && n > 2) return cli_error("root: --basins draws one or two unknowns, and there are %d; leave it out", n);
  if (!r->page && (q->window || q->size)) return cli_error("root: --window and --size go with --basins");
  if (!q->window) return true;
  if (cli_read_numbers(q->window, 2 * n, w, &end) && !*end && w[0] < w[1] && (n == 1 || w[2] < w[3])) return true;
  return cli_error("root: --window: expected %s, each FROM below its TO, got '%s'",
                   n == 1 ? "FROM,TO" : "FROM,TO,FROM,TO", q->window);
}

// ---- the verb -------------------------------------------------------------------------------------------------------

static int search(cli_root_run *r, bool json) {
  carom_error error;
  if (carom_root_search(&r->problem, &r->runs, &r->options, NULL, &r->set, &error) != CAROM_OK) return cli_fail(&error);
  int code = r->page ? cli_root_write_page(r) : EXIT_GOOD;
  if (code != EXIT_GOOD) return code;
  (json ? cli_root_print_json : cli_root_print)(r);
  return r->set->count > 0 ? EXIT_GOOD : EXIT_FAILED;
}

static int read_trace(const request *q, const cli_root_run *r, int *number) {
  int runs = r->options.method == CAROM_ROOT_MONTE_CARLO ? r->runs.runs : 1;
  double most = (double)runs * r->runs.start_count - 1;
  if (q->trace && r->page) return cli_error("root: --trace follows one run and draws nothing; leave --basins out");
  return cli_read_count("root", "trace", q->trace, 0, fmin(most, 2e9), number);
}

static int run_request(const request *q, cli_root_run *r) {
  int number = 0, code;
  if (!read_options(q, r)) return EXIT_MISTAKE;
  if (!read_equations(q, r, &code)) return code;
  if (!read_starts(q, r) || !read_window(q, r) || !read_trace(q, r, &number)) return EXIT_MISTAKE;
  code = cli_check_files(&(cli_files){.verb = "root", .force = q->force, .outputs = {{.path = r->page}}});
  if (code != EXIT_GOOD) return code;
  return q->trace ? cli_root_trace(r, number, q->json) : search(r, q->json);
}

int cli_root(int argc, char **argv) {
  request q = {0};
  cli_root_run r = {.size = 240};
  const cli_option options[] = {
      {CLI_LIST, 's', "start", "X[,Y,...]", "where runs begin; may be given several times", &q.starts},
      {CLI_TEXT, 'm', "method", "METHOD", "monte-carlo (default), half (McDougall and Wotherspoon) or newton",
       &q.method},
      {CLI_TEXT, 'r', "runs", "N", "of monte-carlo from each start (default 1000)", &q.runs},
      {CLI_TEXT, 0, "seed", "N", "of the random numbers (default 1)", &q.seed},
      {CLI_TEXT, 0, "max-iterations", "N", "of one run (default 100)", &q.iterations},
      {CLI_TEXT, 0, "tolerance", "X", "on |f| (default 1e-12)", &q.tolerance},
      {CLI_TEXT, 0, "step-tolerance", "X", "on Newton's step at a root, over max(1, |x|) (default 1e-8)",
       &q.step_tolerance},
      {CLI_TEXT, 0, "bound", "X", "give a run up where |x| exceeds this (default 1e100)", &q.bound},
      {CLI_TEXT, 0, "near", "X", "roots this near, over max(1, |x|), are one (default 1e-6)", &q.near},
      {CLI_TEXT, 0, "variables", "X,Y,...", "the unknowns in order (default: alphabetical)", &q.variables},
      {CLI_FLAG, 'c', "complex", NULL, "one expression in the complex plane; starts are RE,IM", &q.complex_plane},
      {CLI_TEXT, 't', "trace", "RUN", "follow one run step by step; the first is 0", &q.trace},
      {CLI_TEXT, 0, "basins", "FILE.html", "draw which root is reached from where, by all three methods", &r.page},
      {CLI_TEXT, 0, "window", "A,B[,C,D]", "what to draw: x from A to B, y from C to D", &q.window},
      {CLI_TEXT, 0, "size", "N", "starts a side in the picture (default 240)", &q.size},
      {CLI_TEXT, 0, "threads", "N", "(default: one per processor; the answer is the same)", &q.threads},
      {CLI_FLAG, 'f', "force", NULL, "overwrite a file that carom did not make", &q.force},
      {CLI_FLAG, 0, "json", NULL, "report as one line of JSON", &q.json},
      {CLI_END, 0, NULL, NULL, NULL, NULL},
  };
  const cli_syntax syntax = {"root",         "EXPRESSION ... --start X [OPTIONS]", about, options, r.expressions, 1,
                             CAROM_ROOT_MOST};
  int code;
  if (!cli_parse(&syntax, argc, argv, &code)) return code;
  code = run_request(&q, &r);
  carom_root_set_destroy(r.set);
  carom_root_equations_destroy(r.equations);
  return code;
}

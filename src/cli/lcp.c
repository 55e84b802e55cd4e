// carom lcp: solves the complementarity problems of a file, and answers questions about them.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/lcp.h"

static const char about[] =
    "Solves complementarity problems: w = M z + q, z >= 0, w >= 0, z'w = 0, and mixed ones with free or boxed "
    "unknowns.\n"
    "FILE is Carom's own text, JSON, LCPFILE1 or a text of the Siconos collection; docs/complementarity.md describes\n"
    "them. Exit code 1 when a problem was not solved.\n"
    "With --check, --cone and --pointed questions are answered and nothing is solved; with --nonlinear, F(z) is given "
    "as\n"
    "expressions.";

typedef struct request {
  const char *path, *method, *tolerance, *iterations, *time_limit, *which, *block_size, *relaxation;
  const char *cone, *start, *variables;
  const char *operands[CAROM_ROOT_MOST];
  bool json, brief, check, pointed, nonlinear;
  carom_lcp_options options;
  int first, last;  // problems, counted from 0
} request;

// One problem and what came of it.
typedef struct answer {
  carom_mlcp_problem problem;
  double *z, *w;
  unsigned char *basis;  // of a linear problem; states of a mixed one
  carom_lcp_info info;
} answer;

static bool is_mixed(const answer *a) { return a->problem.lower || a->problem.upper; }

// ---- text ----------------------------------------------------------------------------------------------------------

static const char *unit_of(carom_lcp_method method) {
  if (method == CAROM_LCP_PGS) return "sweeps";
  if (method == CAROM_LCP_ENUMERATE) return "bases";
  return method == CAROM_LCP_LEMKE ? "pivots" : "steps";
}

static const char *basis_word(const answer *a, int i) {
  static const char *const states[] = {"lower", "between", "upper"};
  return is_mixed(a) ? states[a->basis[i]] : a->basis[i] ? "z" : "w";
}

static void print_summary(const answer *a) {
  const carom_lcp_info *info = &a->info;
  cli_print(stdout, "%s by %s: %d %s", carom_lcp_outcome_name(info->outcome), carom_lcp_method_name(info->method),
            info->iterations, unit_of(info->method));
  if (info->attempts > 1) cli_print(stdout, " in %d attempts", info->attempts);
  cli_print(stdout, ", residual %.2e, %.3g ms\n", info->residual, 1e3 * info->seconds);
}

static void print_vectors(const answer *a) {
  cli_print(stdout, "%6s %24s %24s  %s\n", "i", "z", "w", is_mixed(a) ? "where" : "basic");
  for (int i = 0; i < a->problem.n; i++)
    cli_print(stdout, "%6d %24.16g %24.16g  %s\n", i, a->z[i], a->w[i], basis_word(a, i));
}

static void print_answer(const request *q, const carom_lcp_set *set, int i, const answer *a) {
  int count = carom_lcp_set_count(set);
  if (count > 1) cli_print(stdout, "%d of %d: ", i + 1, count);
  print_summary(a);
  if (!q->brief && q->first == q->last) print_vectors(a);
}

// ---- JSON ----------------------------------------------------------------------------------------------------------

static void json_vector(cli_json *json, const char *name, const double *x, int n) {
  cli_json_open(json, name, '[');
  for (int i = 0; i < n; i++) cli_json_number(json, NULL, x[i]);
  cli_json_close(json, ']');
}

static void json_answer(cli_json *json, const request *q, const answer *a) {
  const carom_lcp_info *info = &a->info;
  cli_json_open(json, NULL, '{');
  CLI_MEMBERS(json, CLI_I("n", a->problem.n), CLI_B("mixed", is_mixed(a)),
              CLI_T("outcome", carom_lcp_outcome_name(info->outcome)),
              CLI_T("method", carom_lcp_method_name(info->method)), CLI_I("iterations", info->iterations),
              CLI_I("attempts", info->attempts), CLI_N("residual", info->residual), CLI_N("seconds", info->seconds));
  if (!q->brief) {
    json_vector(json, "z", a->z, a->problem.n);
    json_vector(json, "w", a->w, a->problem.n);
    cli_json_open(json, is_mixed(a) ? "state" : "basis", '[');
    for (int i = 0; i < a->problem.n; i++) cli_json_integer(json, NULL, a->basis[i]);
    cli_json_close(json, ']');
  }
  cli_json_close(json, '}');
}

// ---- solving -------------------------------------------------------------------------------------------------------

static carom_status solve_linear(answer *a, const carom_lcp_options *options, carom_error *error) {
  carom_lcp_problem problem = {.n = a->problem.n, .M = a->problem.M, .q = a->problem.q};
  carom_lcp_work *work;
  carom_status status = carom_lcp_work_create(problem.n, NULL, &work, error);
  if (status == CAROM_OK)
    status = carom_lcp_solve(work, &problem, options, &(carom_lcp_solution){a->z, a->w, a->basis}, &a->info, error);
  carom_lcp_work_destroy(work);
  return status;
}

static carom_status solve_mixed(answer *a, const carom_lcp_options *options, carom_error *error) {
  carom_mlcp_work *work;
  carom_status status = carom_mlcp_work_create(a->problem.n, NULL, &work, error);
  if (status == CAROM_OK)
    status =
        carom_mlcp_solve(work, &a->problem, options, &(carom_mlcp_solution){a->z, a->w, a->basis}, &a->info, error);
  carom_mlcp_work_destroy(work);
  return status;
}

static carom_status solve(answer *a, const carom_lcp_options *options, carom_error *error) {
  size_t n = (size_t)(a->problem.n > 0 ? a->problem.n : 1);
  a->z = calloc(n, sizeof(double)), a->w = calloc(n, sizeof(double)), a->basis = calloc(n, 1);
  if (!a->z || !a->w || !a->basis) return carom_fail(error, CAROM_ERR_MEMORY, "lcp: out of memory");
  return is_mixed(a) ? solve_mixed(a, options, error) : solve_linear(a, options, error);
}

static void release(answer *a) { free(a->z), free(a->w), free(a->basis); }

static int solve_one(const request *q, const carom_lcp_set *set, int i, cli_json *json) {
  answer a = {.problem = carom_lcp_set_problem(set, i)};
  carom_error error;
  int code = EXIT_MISTAKE;
  if (solve(&a, &q->options, &error) != CAROM_OK) {
    cli_error("%s: problem %d: %s", q->path, i + 1, error.message);
  } else {
    if (q->json)
      json_answer(json, q, &a);
    else
      print_answer(q, set, i, &a);
    code = a.info.outcome == CAROM_LCP_SOLVED ? EXIT_GOOD : EXIT_FAILED;
  }
  release(&a);
  return code;
}

static int answer_one(const request *q, const carom_lcp_set *set, int i, cli_json *json) {
  carom_mlcp_problem problem = carom_lcp_set_problem(set, i);
  if (!q->check && !q->cone) return solve_one(q, set, i, json);
  if (!q->json && carom_lcp_set_count(set) > 1) cli_print(stdout, "%d of %d:\n", i + 1, carom_lcp_set_count(set));
  cli_json *to = q->json ? json : NULL;
  return q->check ? cli_lcp_check(&problem, q->path, to) : cli_lcp_cone(&problem, q->path, q->cone, to);
}

static int answer_all(const request *q, const carom_lcp_set *set) {
  int code = EXIT_GOOD;
  cli_json json = {0};
  if (q->json) {
    json = cli_json_begin(stdout);
    cli_json_text(&json, "format", carom_lcp_set_format(set));
    cli_json_open(&json, "problems", '[');
  }
  for (int i = q->first; i <= q->last && code != EXIT_MISTAKE; i++) {
    int one = answer_one(q, set, i, &json);
    if (one != EXIT_GOOD) code = one;
  }
  if (q->json) cli_json_close(&json, ']'), cli_json_end(&json);
  return code;
}

// ---- the verb ------------------------------------------------------------------------------------------------------

static bool read_method(request *q) {
  const char *names[CAROM_LCP_ENUMERATE + 2] = {0};
  int method = (int)q->options.method;
  for (int m = 0; m <= CAROM_LCP_ENUMERATE; m++) names[m] = carom_lcp_method_name((carom_lcp_method)m);
  if (!cli_read_word("lcp", "method", q->method, names, &method)) return false;
  return q->options.method = (carom_lcp_method)method, true;
}

static bool read_options(request *q) {
  carom_lcp_options *o = &q->options;
  *o = carom_lcp_default_options();
  return read_method(q) && cli_read_number("lcp", "tolerance", q->tolerance, 1e-300, 1, &o->tolerance) &&
         cli_read_count("lcp", "max-iterations", q->iterations, 1, 1e9, &o->max_iterations) &&
         cli_read_number("lcp", "time-limit", q->time_limit, 0, 1e9, &o->time_limit) &&
         cli_read_count("lcp", "block", q->block_size, 1, 64, &o->block_size) &&
         cli_read_number("lcp", "relaxation", q->relaxation, 0.01, 1.99, &o->relaxation);
}

static bool choose_problems(request *q, const carom_lcp_set *set) {
  int which = 0;
  q->first = 0, q->last = carom_lcp_set_count(set) - 1;
  if (!cli_read_count("lcp", "problem", q->which, 1, carom_lcp_set_count(set), &which)) return false;
  if (q->which) q->first = q->last = which - 1;
  return true;
}

static int answer_file(request *q) {
  carom_lcp_set *set;
  carom_error error;
  if (carom_lcp_set_read(q->path, NULL, &set, &error) != CAROM_OK) {
    cli_fail(&error);
    return error.status == CAROM_ERR_FORMAT || error.status == CAROM_ERR_NUMBER ? EXIT_MISTAKE : EXIT_FAILED;
  }
  int code = choose_problems(q, set) ? answer_all(q, set) : EXIT_MISTAKE;
  carom_lcp_set_destroy(set);
  return code;
}

static int count_operands(const request *q) {
  int count = 0;
  while (count < CAROM_ROOT_MOST && q->operands[count]) count++;
  return count;
}

static int run(request *q) {
  int count = count_operands(q);
  q->path = q->operands[0];
  if (q->check + q->pointed + q->nonlinear + (q->cone != NULL) > 1)
    return cli_error("lcp: --check, --cone, --pointed and --nonlinear are different questions; ask one at a time"),
           EXIT_MISTAKE;
  if (!read_options(q)) return EXIT_MISTAKE;
  if (q->nonlinear)
    return cli_lcp_solve_nonlinear(
        &(cli_lcp_nonlinear){q->operands, count, q->start, q->variables, q->options, q->json});
  if (count > 1) return cli_error("lcp: one FILE at a time; expressions go with --nonlinear"), EXIT_MISTAKE;
  if (q->start || q->variables) return cli_error("lcp: --start and --variables go with --nonlinear"), EXIT_MISTAKE;
  return q->pointed ? cli_lcp_pointed(q->path, q->json) : answer_file(q);
}

int cli_lcp(int argc, char **argv) {
  request q = {0};
  const cli_option options[] = {
      {CLI_TEXT, 'm', "method", "METHOD", "auto (default), lemke, pgs, newton, newton-min or enumerate", &q.method},
      {CLI_TEXT, 'p', "problem", "NUMBER", "only this one of a file with several, counted from 1", &q.which},
      {CLI_TEXT, 0, "tolerance", "X", "on |min(z, w)| over max(1, |q|) (default 1e-10)", &q.tolerance},
      {CLI_TEXT, 0, "max-iterations", "N", "pivots, sweeps or steps", &q.iterations},
      {CLI_TEXT, 0, "time-limit", "SECONDS", "for each problem", &q.time_limit},
      {CLI_TEXT, 0, "block", "N", "unknowns per block of pgs (default 1)", &q.block_size},
      {CLI_TEXT, 0, "relaxation", "X", "of pgs, between 0 and 2 (default 1)", &q.relaxation},
      {CLI_FLAG, 0, "check", NULL, "copositive? P-matrix? a solution for sure? in which cones is q? (up to 20 pairs)",
       &q.check},
      {CLI_TEXT, 0, "cone", "ZWZ...", "coordinates of q in the complementary cone of these columns", &q.cone},
      {CLI_FLAG, 0, "pointed", NULL, "FILE is a friction cone (N, D, F, mu as JSON): can impulses cancel out?",
       &q.pointed},
      {CLI_FLAG, 0, "nonlinear", NULL, "instead of FILE, F(z) as one expression for each unknown", &q.nonlinear},
      {CLI_TEXT, 0, "start", "X,Y,...", "where a nonlinear search begins (default 0)", &q.start},
      {CLI_TEXT, 0, "variables", "X,Y,...", "its unknowns in order (default: alphabetical)", &q.variables},
      {CLI_FLAG, 'b', "brief", NULL, "leave out z, w and the basis", &q.brief},
      {CLI_FLAG, 0, "json", NULL, "report as one line of JSON", &q.json},
      {CLI_END, 0, NULL, NULL, NULL, NULL},
  };
  const cli_syntax syntax = {
      "lcp", "FILE [OPTIONS] | --nonlinear EXPRESSION ... [OPTIONS]", about, options, q.operands, 1, CAROM_ROOT_MOST};
  int code;
  return cli_parse(&syntax, argc, argv, &code) ? run(&q) : code;
}

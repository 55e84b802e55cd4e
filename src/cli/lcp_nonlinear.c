// carom lcp --nonlinear: z >= 0, F(z) >= 0, z'F(z) = 0 with F as expressions, as `carom root` takes them.
#include <stdlib.h>
#include <string.h>

#include "cli/lcp.h"

typedef struct solving {
  carom_root_equations *equations;
  carom_root_problem F;
  double z[CAROM_ROOT_MOST], w[CAROM_ROOT_MOST];
  carom_lcp_info info;
} solving;

static carom_status evaluate(void *context, const double *z, double *F, double *J) {
  const carom_root_problem *problem = context;
  return problem->evaluate(problem->context, z, F, J);
}

static bool split_names(const cli_lcp_nonlinear *p, char *text, const char **names) {
  int count = 0;
  for (char *name = strtok(text, ","); name; name = strtok(NULL, ",")) {
    if (count < CAROM_ROOT_MOST) names[count] = name;
    count++;
  }
  if (count == p->count) return true;
  return cli_error("lcp: --variables names %d for %d expressions: give one for each", count, p->count);
}

static bool compile(const cli_lcp_nonlinear *p, const char *const *names, solving *s) {
  carom_error error;
  carom_root_text text = {p->expressions, p->count, names, false};
  if (carom_root_equations_create(&text, NULL, &s->equations, &error) != CAROM_OK)
    return cli_error("lcp: %s", error.message);
  s->F = carom_root_equations_problem(s->equations);
  return true;
}

static bool read_expressions(const cli_lcp_nonlinear *p, solving *s) {
  const char *names[CAROM_ROOT_MOST] = {0};
  if (!p->variables) return compile(p, NULL, s);
  char *text = malloc(strlen(p->variables) + 1);
  if (!text) return cli_error("lcp: out of memory");
  strcpy(text, p->variables);
  bool good = split_names(p, text, names) && compile(p, names, s);
  free(text);
  return good;
}

static bool read_start(const cli_lcp_nonlinear *p, solving *s) {
  const char *end;
  if (!p->start) return true;  // z = 0
  if (cli_read_numbers(p->start, p->count, s->z, &end) && !*end) return true;
  return cli_error("lcp: --start: expected %d numbers, got '%s'", p->count, p->start);
}

static void report(const cli_lcp_nonlinear *p, const solving *s) {
  const carom_lcp_info *info = &s->info;
  if (!p->json) {
    cli_print(stdout, "%s by successive linearisation: %d linear problems, residual %.2e, %.3g ms\n",
              carom_lcp_outcome_name(info->outcome), info->iterations, info->residual, 1e3 * info->seconds);
    cli_print(stdout, "%12s %24s %24s\n", "", "z", "F(z)");
    for (int i = 0; i < p->count; i++)
      cli_print(stdout, "%12s %24.16g %24.16g\n", carom_root_equations_variable(s->equations, i), s->z[i], s->w[i]);
    return;
  }
  cli_json json = cli_json_begin(stdout);
  CLI_MEMBERS(&json, CLI_T("outcome", carom_lcp_outcome_name(info->outcome)), CLI_I("iterations", info->iterations),
              CLI_N("residual", info->residual), CLI_N("seconds", info->seconds));
  cli_json_open(&json, "unknowns", '[');
  for (int i = 0; i < p->count; i++) {
    cli_json_open(&json, NULL, '{');
    CLI_MEMBERS(&json, CLI_T("name", carom_root_equations_variable(s->equations, i)), CLI_N("z", s->z[i]),
                CLI_N("F", s->w[i]));
    cli_json_close(&json, '}');
  }
  cli_json_close(&json, ']');
  cli_json_end(&json);
}

static int solve(const cli_lcp_nonlinear *p, solving *s) {
  carom_ncp_work *work;
  carom_ncp_problem problem = {.n = p->count, .context = &s->F, .evaluate = evaluate};
  carom_error error;
  carom_status status = carom_ncp_work_create(p->count, NULL, &work, &error);
  if (status == CAROM_OK)
    status = carom_ncp_solve(work, &problem, &p->options, &(carom_ncp_solution){s->z, s->w}, &s->info, &error);
  carom_ncp_work_destroy(work);
  if (status != CAROM_OK) {
    cli_error("lcp: %s", error.message);
    return status == CAROM_ERR_MEMORY ? EXIT_FAILED : EXIT_MISTAKE;
  }
  report(p, s);
  return s->info.outcome == CAROM_LCP_SOLVED ? EXIT_GOOD : EXIT_FAILED;
}

int cli_lcp_solve_nonlinear(const cli_lcp_nonlinear *problem) {
  solving s = {0};
  int code = EXIT_MISTAKE;
  if (read_expressions(problem, &s) && read_start(problem, &s)) code = solve(problem, &s);
  carom_root_equations_destroy(s.equations);
  return code;
}

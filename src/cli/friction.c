// carom friction: solves the problem of Coulomb friction in a file.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

static const char about[] =
    "Solves a problem of Coulomb friction: u = W r + q, and at each contact r_n >= 0, u_n >= 0, one of them zero, r_t "
    "within\n"
    "mu r_n, and where it slips -mu r_n along the slip. FILE is a text of Siconos (dense or sparse blocks) or FCLIB's "
    "HDF5;\n"
    "docs/friction.md describes them. Exit code 1 when it was not solved.";

typedef struct request {
  const char *path, *output, *method, *tolerance, *sweeps, *steps;
  bool json, brief, warm, force;
  carom_friction_options options;
} request;

typedef struct answer {
  const carom_friction_file *file;
  carom_friction_problem problem;
  carom_friction_solution solution;
  carom_friction_info info;
} answer;

// ---- reports --------------------------------------------------------------------------------------------------------

static void print_summary(const answer *a) {
  const carom_friction_info *i = &a->info;
  cli_print(stdout, "%s by %s: %d contacts, %d sweeps, %d steps, %.3g ms\n", carom_friction_outcome_name(i->outcome),
            carom_friction_method_name(i->method), a->problem.contact_count, i->sweeps, i->steps, 1e3 * i->seconds);
  cli_print(stdout, "natural map %.2e m/s, %.2e of the largest |q|", i->residual, i->relative);
  if (i->residual > 0) cli_print(stdout, " (worst at contact %d)", i->worst);
  cli_print(stdout, "\n");
  if (i->asymmetry > 0)
    cli_print(stdout, "W is off its transposed by %.1e of its largest entry: its symmetric part was solved\n",
              i->asymmetry);
  if (i->outcome == CAROM_FRICTION_INFEASIBLE)
    cli_print(stdout,
              "there is no solution: normal impulses (the certificate) move nothing, while q approaches along "
              "them\n");
}

static const char *mode_of(const answer *a, int contact) {
  int d = a->problem.dimension;
  const double *r = a->solution.r + d * contact;
  double t = d == 3 ? hypot(r[1], r[2]) : fabs(r[1]);
  if (!(r[0] > 0)) return "open";
  return t < a->problem.mu[contact] * r[0] * (1 - 1e-12) ? "stick" : "slip";
}

static void print_row(FILE *out, const answer *a, int i, char between) {
  int d = a->problem.dimension;
  cli_print(out, "%d", i);
  for (int k = 0; k < d; k++) cli_print(out, "%c%.17g", between, a->solution.r[d * i + k]);
  for (int k = 0; k < d; k++) cli_print(out, "%c%.17g", between, a->solution.u[d * i + k]);
  cli_print(out, "%c%s\n", between, mode_of(a, i));
}

static void print_table(FILE *out, const answer *a, char between) {
  static const char *const names[2][3] = {{"r_n", "r_1", "r_2"}, {"u_n", "u_1", "u_2"}};
  cli_print(out, "contact");
  for (int part = 0; part < 2; part++)
    for (int k = 0; k < a->problem.dimension; k++) cli_print(out, "%c%s", between, names[part][k]);
  cli_print(out, "%cmode\n", between);
  for (int i = 0; i < a->problem.contact_count; i++) print_row(out, a, i, between);
}

static void json_vector(cli_json *json, const char *name, const double *x, int n) {
  cli_json_open(json, name, '[');
  for (int i = 0; i < n; i++) cli_json_number(json, NULL, x[i]);
  cli_json_close(json, ']');
}

static void json_answer(const request *q, const answer *a) {
  const carom_friction_info *i = &a->info;
  int size = a->problem.dimension * a->problem.contact_count;
  cli_json json = cli_json_begin(stdout);
  CLI_MEMBERS(&json, CLI_T("format", carom_friction_file_format(a->file)), CLI_I("dimension", a->problem.dimension),
              CLI_I("contacts", a->problem.contact_count), CLI_T("outcome", carom_friction_outcome_name(i->outcome)),
              CLI_T("method", carom_friction_method_name(i->method)), CLI_I("sweeps", i->sweeps),
              CLI_I("steps", i->steps), CLI_N("residual", i->residual), CLI_N("relative", i->relative),
              CLI_N("velocity_scale", i->velocity_scale), CLI_I("worst", i->worst), CLI_N("asymmetry", i->asymmetry),
              CLI_N("seconds", i->seconds));
  if (!q->brief) {
    json_vector(&json, "r", a->solution.r, size);
    json_vector(&json, "u", a->solution.u, size);
    if (i->outcome == CAROM_FRICTION_INFEASIBLE)
      json_vector(&json, "certificate", a->solution.certificate, a->problem.contact_count);
  }
  cli_json_end(&json);
}

// ---- the answer as a file -------------------------------------------------------------------------------------------

static bool is_hdf5(const char *path) {
  const char *dot = strrchr(path, '.');
  return dot && (strcmp(dot, ".hdf5") == 0 || strcmp(dot, ".h5") == 0);
}

static int write_answer(const request *q, const answer *a) {
  cli_page page;
  carom_error error;
  if (!q->output) return EXIT_GOOD;
  if (is_hdf5(q->output))
    return carom_friction_file_write(&a->problem, &a->solution, q->path, q->output, NULL, &error) == CAROM_OK
               ? EXIT_GOOD
               : cli_fail(&error);
  if (cli_page_begin(&page)) print_table(page.out, a, ',');
  return cli_page_end(&page, q->output);
}

// ---- the verb -------------------------------------------------------------------------------------------------------

static int report(const request *q, const answer *a) {
  if (q->json) {
    json_answer(q, a);
  } else {
    print_summary(a);
    if (!q->brief && !q->output) print_table(stdout, a, ' ');
  }
  int code = write_answer(q, a);
  if (code != EXIT_GOOD) return code;
  return a->info.outcome == CAROM_FRICTION_SOLVED ? EXIT_GOOD : EXIT_FAILED;
}

static int solve(const request *q, const carom_friction_file *file) {
  answer a = {.file = file, .problem = carom_friction_file_problem(file)};
  carom_friction_options options = q->options;
  size_t n = (size_t)a.problem.contact_count + 1, size = n * (size_t)a.problem.dimension;
  const double *guess = carom_friction_file_guess(file);
  carom_error error;
  int code = EXIT_FAILED;
  a.solution =
      (carom_friction_solution){calloc(size, sizeof(double)), calloc(size, sizeof(double)), calloc(n, sizeof(double))};
  if (q->warm && !guess) {
    cli_error("friction: --warm: '%s' holds no impulses to begin from", q->path);
    code = EXIT_MISTAKE;
  } else if (!a.solution.r || !a.solution.u || !a.solution.certificate) {
    cli_error("friction: out of memory");
  } else {
    options.warm_start = q->warm;
    if (q->warm) memcpy(a.solution.r, guess, (size - (size_t)a.problem.dimension) * sizeof *guess);
    bool solved = carom_friction_solve(&a.problem, &options, &a.solution, NULL, &a.info, &error) == CAROM_OK;
    if (!solved) cli_error("%s: %s", q->path, error.message);
    code = solved ? report(q, &a) : EXIT_MISTAKE;
  }
  free(a.solution.r), free(a.solution.u), free(a.solution.certificate);
  return code;
}

static bool read_options(request *q) {
  carom_friction_options *o = &q->options;
  const char *names[CAROM_FRICTION_METHOD_COUNT + 1] = {0};
  *o = carom_friction_default_options();
  int method = (int)o->method;
  for (int m = 0; m < CAROM_FRICTION_METHOD_COUNT; m++) names[m] = carom_friction_method_name((carom_friction_method)m);
  if (!cli_read_word("friction", "method", q->method, names, &method)) return false;
  o->method = (carom_friction_method)method;
  return cli_read_number("friction", "tolerance", q->tolerance, 1e-300, 1, &o->tolerance) &&
         cli_read_count("friction", "max-sweeps", q->sweeps, 1, 1e9, &o->max_sweeps) &&
         cli_read_count("friction", "max-steps", q->steps, 1, 1e9, &o->max_steps);
}

int cli_friction(int argc, char **argv) {
  request q = {0};
  const cli_option options[] = {
      {CLI_TEXT, 'o', "output", "FILE", "write the answer: FILE.hdf5 in FCLIB's format, else a table (CSV)", &q.output},
      {CLI_TEXT, 'm', "method", "METHOD", "auto (default), sweeps, newton or interior", &q.method},
      {CLI_TEXT, 0, "tolerance", "X", "on the natural map over the largest |q| (default 1e-9)", &q.tolerance},
      {CLI_TEXT, 0, "max-sweeps", "N", "of Gauss-Seidel, in all", &q.sweeps},
      {CLI_TEXT, 0, "max-steps", "N", "linear systems, in all", &q.steps},
      {CLI_FLAG, 'w', "warm", NULL, "begin from the impulses in FILE (FCLIB: solution or guesses/1)", &q.warm},
      {CLI_FLAG, 'b', "brief", NULL, "leave out r and u", &q.brief},
      {CLI_FLAG, 0, "json", NULL, "report as one line of JSON", &q.json},
      {CLI_FLAG, 0, "force", NULL, "overwrite a file that carom did not make", &q.force},
      {CLI_END, 0, NULL, NULL, NULL, NULL},
  };
  const cli_syntax syntax = {"friction", "FILE [OPTIONS]", about, options, &q.path, 1, 1};
  int code;
  if (!cli_parse(&syntax, argc, argv, &code)) return code;
  if (!read_options(&q)) return EXIT_MISTAKE;
  const cli_files files = {"friction", q.force, .inputs = {q.path}, .outputs = {{.path = q.output}}};
  code = cli_check_files(&files);
  if (code != EXIT_GOOD) return code;
  cli_guard(q.path);
  carom_friction_file *file;
  carom_error error;
  if (carom_friction_file_read(q.path, NULL, &file, &error) != CAROM_OK) {
    cli_fail(&error);
    return error.status == CAROM_ERR_FORMAT || error.status == CAROM_ERR_NUMBER ? EXIT_MISTAKE : EXIT_FAILED;
  }
  code = solve(&q, file);
  carom_friction_file_destroy(file);
  return code;
}

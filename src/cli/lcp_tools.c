// carom lcp --check, --cone and --pointed: what can be known of a problem without solving it.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/lcp.h"

static const double TOLERANCE = 1e-12;  // of matrix checks, over the largest entry
enum { MOST = CAROM_LCP_CHECK_MAX, LISTED = 64 };

// ---- what is shared ------------------------------------------------------------------------------------------------

static void put_vector(cli_json *json, const char *name, const double *x, int n) {
  if (json) {
    cli_json_open(json, name, '[');
    for (int i = 0; i < n; i++) cli_json_number(json, NULL, x[i]);
    cli_json_close(json, ']');
    return;
  }
  cli_print(stdout, "  %s =", name);
  for (int i = 0; i < n; i++) cli_print(stdout, "%s %.12g", i ? "," : "", x[i]);
  cli_print(stdout, "\n");
}

static bool is_linear(const carom_mlcp_problem *problem, const char *path, const char *option) {
  if (!problem->lower && !problem->upper) return true;
  return cli_error("%s: %s is for linear problems, and this one has bounds", path, option);
}

// ---- classes and conditions ----------------------------------------------------------------------------------------

typedef struct findings {
  int n;
  bool copositive, p_matrix;
  double x[MOST];  // refutes that M is copositive
  unsigned char minor[MOST];
  carom_lcp_condition condition;
  carom_status decided;
  double v[MOST];  // refutes the condition
  int cones, bases;
  unsigned first[LISTED];
} findings;

// In how many of the complementary cones that have a basis q lies; the first of them are kept.
static carom_status count_cones(const carom_lcp_problem *problem, findings *f, carom_error *error) {
  carom_lcp_work *work;
  carom_status status = carom_lcp_work_create(f->n, NULL, &work, error);
  for (unsigned set = 0; status == CAROM_OK && set < 1u << f->n; set++) {
    unsigned char basis[MOST];
    double x[MOST], least, size = 0;
    for (int i = 0; i < f->n; i++) basis[i] = set >> i & 1;
    status = carom_lcp_cone_coordinates(work, problem, basis, x, &least, error);
    bool regular = status == CAROM_OK;
    if (status == CAROM_ERR_SINGULAR) status = CAROM_OK;
    if (!regular) continue;
    f->bases++;
    for (int i = 0; i < f->n; i++) size = fmax(size, fabs(x[i]));
    if (!(least >= -TOLERANCE * size)) continue;
    if (f->cones < LISTED) f->first[f->cones] = set;
    f->cones++;
  }
  carom_lcp_work_destroy(work);
  return status;
}

static carom_status find_out(const carom_mlcp_problem *problem, findings *f, carom_error *error) {
  carom_lcp_problem linear = {.n = problem->n, .M = problem->M, .q = problem->q};
  *f = (findings){.n = problem->n};
  f->condition.witness = f->v;
  carom_status status = carom_lcp_is_copositive(f->n, linear.M, TOLERANCE, &f->copositive, f->x, error);
  if (status == CAROM_OK) status = carom_lcp_is_p_matrix(f->n, linear.M, TOLERANCE, &f->p_matrix, f->minor, error);
  if (status != CAROM_OK) return status;
  f->decided = carom_lcp_meets_condition(&linear, TOLERANCE, &f->condition, error);
  if (f->decided != CAROM_OK && f->decided != CAROM_NOT_CONVERGED) return f->decided;
  return count_cones(&linear, f, error);
}

static void cone_word(int n, unsigned set, char word[MOST + 1]) {
  for (int i = 0; i < n; i++) word[i] = set >> i & 1 ? 'z' : 'w';
  word[n] = '\0';
}

static void print_findings(const findings *f) {
  cli_print(stdout, "copositive: %s\n", f->copositive ? "yes, x'Mx >= 0 for all x >= 0" : "no, x'Mx < 0 for");
  if (!f->copositive) put_vector(NULL, "x", f->x, f->n);
  cli_print(stdout, "P-matrix: %s", f->p_matrix ? "yes, every q has exactly one solution" : "no, the minor of rows");
  for (int i = 0; !f->p_matrix && i < f->n; i++)
    if (f->minor[i]) cli_print(stdout, " %d", i);
  cli_print(stdout, "%s\n", f->p_matrix ? "" : " is not positive");
  const char *verdict = f->decided != CAROM_OK    ? "hidden by round-off"
                        : f->condition.holds      ? "holds: there is a solution, and Lemke's method finds it"
                        : f->condition.copositive ? "fails: v >= 0, Mv >= 0, v'Mv = 0 and v'q < 0 for"
                                                  : "fails: M is not copositive";
  cli_print(stdout, "sufficient condition (theorem 3.8.6 of Cottle, Pang and Stone): %s\n", verdict);
  if (f->decided == CAROM_OK && !f->condition.holds && f->condition.copositive) put_vector(NULL, "v", f->v, f->n);
  cli_print(stdout, "complementary cones: q lies in %d of the %d that have a basis%s", f->cones, f->bases,
            f->cones ? ":" : "");
  for (int i = 0; i < f->cones && i < LISTED; i++) {
    char word[MOST + 1];
    cone_word(f->n, f->first[i], word);
    cli_print(stdout, " %s", word);
  }
  cli_print(stdout, "%s\n", f->cones > LISTED ? " ..." : "");
}

static void json_findings(cli_json *json, const findings *f) {
  cli_json_open(json, NULL, '{');
  CLI_MEMBERS(json, CLI_I("n", f->n), CLI_B("copositive", f->copositive), CLI_B("p_matrix", f->p_matrix));
  if (!f->copositive) put_vector(json, "x", f->x, f->n);
  cli_json_open(json, "minor", '[');
  for (int i = 0; !f->p_matrix && i < f->n; i++)
    if (f->minor[i]) cli_json_integer(json, NULL, i);
  cli_json_close(json, ']');
  CLI_MEMBERS(json, CLI_B("decided", f->decided == CAROM_OK), CLI_B("condition", f->condition.holds));
  if (f->decided == CAROM_OK && f->condition.copositive && !f->condition.holds) put_vector(json, "v", f->v, f->n);
  CLI_MEMBERS(json, CLI_I("bases", f->bases), CLI_I("cones", f->cones));
  cli_json_open(json, "cones_with_q", '[');
  for (int i = 0; i < f->cones && i < LISTED; i++) {
    char word[MOST + 1];
    cone_word(f->n, f->first[i], word);
    cli_json_text(json, NULL, word);
  }
  cli_json_close(json, ']');
  cli_json_close(json, '}');
}

int cli_lcp_check(const carom_mlcp_problem *problem, const char *path, cli_json *json) {
  findings f;
  carom_error error;
  if (!is_linear(problem, path, "--check")) return EXIT_MISTAKE;
  if (find_out(problem, &f, &error) != CAROM_OK) {
    cli_error("%s: %s", path, error.message);
    return error.status == CAROM_ERR_MEMORY ? EXIT_FAILED : EXIT_MISTAKE;
  }
  if (json)
    json_findings(json, &f);
  else
    print_findings(&f);
  return EXIT_GOOD;
}

// ---- one complementary cone ----------------------------------------------------------------------------------------

static bool read_basis(const char *path, const char *word, int n, unsigned char *basis) {
  bool good = strlen(word) == (size_t)n && strspn(word, "zw") == (size_t)n;
  for (int i = 0; good && i < n; i++) basis[i] = word[i] == 'z';
  if (good) return true;
  return cli_error("%s: --cone: expected a z or a w for each of %d pairs, got '%s'", path, n, word);
}

static carom_status ask_cone(const carom_mlcp_problem *problem, const unsigned char *basis, double *x, double *least,
                             carom_error *error) {
  carom_lcp_problem linear = {.n = problem->n, .M = problem->M, .q = problem->q};
  carom_lcp_work *work;
  carom_status status = carom_lcp_work_create(problem->n, NULL, &work, error);
  if (status == CAROM_OK) status = carom_lcp_cone_coordinates(work, &linear, basis, x, least, error);
  carom_lcp_work_destroy(work);
  return status;
}

static void report_cone(const carom_mlcp_problem *problem, const double *x, double least, cli_json *json) {
  if (!json) {
    cli_print(stdout, "q lies %s the cone: its least coordinate is %.12g\n", least >= 0 ? "in" : "outside", least);
    put_vector(NULL, "x", x, problem->n);
    return;
  }
  cli_json_open(json, NULL, '{');
  CLI_MEMBERS(json, CLI_B("inside", least >= 0), CLI_N("least", least));
  put_vector(json, "x", x, problem->n);
  cli_json_close(json, '}');
}

int cli_lcp_cone(const carom_mlcp_problem *problem, const char *path, const char *word, cli_json *json) {
  size_t n = (size_t)(problem->n > 0 ? problem->n : 1);
  unsigned char *basis = calloc(n, 1);
  double *x = calloc(n, sizeof *x), least = 0;
  carom_error error = {0};
  int code = EXIT_MISTAKE;
  if (!basis || !x) {
    cli_error("lcp: out of memory");
    code = EXIT_FAILED;
  } else if (is_linear(problem, path, "--cone") && read_basis(path, word, problem->n, basis)) {
    carom_status status = ask_cone(problem, basis, x, &least, &error);
    code = status == CAROM_OK ? EXIT_GOOD : status == CAROM_ERR_SINGULAR ? EXIT_FAILED : EXIT_MISTAKE;
    if (status == CAROM_OK)
      report_cone(problem, x, least, json);
    else
      cli_error("%s: %s", path, error.message);
  }
  free(basis), free(x);
  return code;
}

// ---- pointed cones -------------------------------------------------------------------------------------------------

static void report_pointed(const carom_friction_cone *c, const carom_friction_cone_answer *a, cli_json *json) {
  int betas = c->contacts * c->directions;
  if (json) CLI_MEMBERS(json, CLI_B("pointed", a->pointed), CLI_N("margin", a->margin));
  if (!json && a->pointed)
    cli_print(stdout, "pointed: no impulses cancel out; along this velocity each edge parts at %.12g or more\n",
              a->margin);
  if (!json && !a->pointed) cli_print(stdout, "not pointed: these impulses cancel out\n");
  if (a->pointed) put_vector(json, "velocity", a->velocity, c->rows);
  if (a->pointed) return;
  put_vector(json, "c", a->impulse, c->contacts);
  put_vector(json, "beta", a->impulse + c->contacts, betas);
  put_vector(json, "p", a->impulse + c->contacts + betas, c->joints);
}

static int ask_pointed(const char *path, const carom_friction_cone *cone, bool as_json) {
  size_t impulses = (size_t)cone->contacts * (size_t)(1 + cone->directions) + (size_t)cone->joints;
  carom_friction_cone_answer answer = {.velocity = calloc((size_t)cone->rows, sizeof(double)),
                                       .impulse = calloc(impulses, sizeof(double))};
  carom_error error;
  int code = EXIT_FAILED;
  if (!answer.velocity || !answer.impulse) {
    cli_error("lcp: out of memory");
  } else if (carom_friction_cone_pointed(cone, NULL, &answer, &error) != CAROM_OK) {
    cli_error("%s: %s", path, error.message);
    code = error.status == CAROM_ERR_ARGUMENT || error.status == CAROM_ERR_NUMBER ? EXIT_MISTAKE : EXIT_FAILED;
  } else {
    cli_json json = {0};
    if (as_json) json = cli_json_begin(stdout);
    report_pointed(cone, &answer, as_json ? &json : NULL);
    if (as_json) cli_json_end(&json);
    code = answer.pointed ? EXIT_GOOD : EXIT_FAILED;
  }
  free(answer.velocity), free(answer.impulse);
  return code;
}

int cli_lcp_pointed(const char *path, bool json) {
  carom_cone_file *file;
  carom_error error;
  if (carom_cone_file_read(path, NULL, &file, &error) != CAROM_OK) {
    cli_fail(&error);
    return error.status == CAROM_ERR_FORMAT || error.status == CAROM_ERR_NUMBER ? EXIT_MISTAKE : EXIT_FAILED;
  }
  carom_friction_cone cone = carom_cone_file_cone(file);
  int code = ask_pointed(path, &cone, json);
  carom_cone_file_destroy(file);
  return code;
}

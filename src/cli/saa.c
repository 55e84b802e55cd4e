// carom saa: two-stage stochastic programs, of all scenarios or of samples.
#include "cli/saa.h"

#include <math.h>
#include <string.h>

#include "cli/mpi.h"

static const char about[] =
    "Solves a two-stage stochastic program: what to decide now, so that the mean of all that follows is best, with\n"
    "rows for every scenario and for expectations. PROBLEM is YAML with expressions, or the core file of an SMPS\n"
    "problem (.cor, with .tim and .sto beside it). Where the scenarios can be listed (up to 100000) they are solved "
    "for\n"
    "as they are. Else, or with --scenarios, samples of growing size are drawn, with bounds on how much better any\n"
    "decision could be (Mak, Morton and Wood 1999). Under mpirun, scenarios are shared out over all ranks. Example:\n"
    "carom saa examples/stochastic-newsvendor/problem.yaml --scenarios 2000 -o news.html. docs/stochastic.md has the\n"
    "mathematics. Exit code 4 when there is no answer.";

typedef struct words {
  const char *problem;
  const char *scenarios, *first, *replications, *evaluate, *seed, *gap, *confidence, *tolerance, *iterations, *threads;
  cli_list overrides;
  bool relative, json, force;
} words;

// ---- options --------------------------------------------------------------------------------------------------------

static bool read_options(const words *w, cli_saa_run *r) {
  carom_saa_sampling *s = &r->sampling;
  int seed = 1;
  *s = carom_saa_default_sampling();
  bool good = cli_read_count("saa", "scenarios", w->scenarios, 1, 1e7, &s->scenarios) &&
              cli_read_count("saa", "first", w->first, 1, 1e7, &s->first) &&
              cli_read_count("saa", "replications", w->replications, 2, 1e5, &s->replications) &&
              cli_read_count("saa", "evaluate", w->evaluate, 2, 1e7, &s->evaluation) &&
              cli_read_count("saa", "seed", w->seed, 0, 1e9, &seed) &&
              cli_read_number("saa", "gap", w->gap, 1e-300, 1e300, &s->gap) &&
              cli_read_number("saa", "confidence", w->confidence, 0.01, 0.9999, &s->confidence) &&
              cli_read_number("saa", "tolerance", w->tolerance, 1e-14, 0.1, &s->solve.tolerance) &&
              cli_read_count("saa", "max-iterations", w->iterations, 1, 1e6, &s->solve.max_iterations) &&
              cli_read_count("saa", "threads", w->threads, 1, 1024, &s->solve.threads);
  s->seed = (uint64_t)seed;
  s->relative = w->relative;
  if (good && w->relative && !w->gap) return cli_error("saa: --relative says how --gap is meant; give --gap too");
  if (good && s->first > s->scenarios)
    return cli_error("saa: --first %d is more than --scenarios %d", s->first, s->scenarios);
  return good;
}

static const char sampling_only[] = "--first, --replications, --evaluate and --gap are for samples";

// Listed scenarios are solved for unless samples are asked for.
static bool choose_way(const words *w, cli_saa_run *r) {
  bool asked = w->scenarios || w->first || w->replications || w->evaluate || w->gap;
  r->sampled = w->scenarios || r->file->scenarios.count == 0;
  if (asked && !r->sampled)
    return cli_error("saa: %s has %d scenarios, which are solved for as they are; %s: give --scenarios too", r->path,
                     r->file->scenarios.count, sampling_only);
  return true;
}

static bool read_problem(const words *w, cli_saa_run *r) {
  carom_scene_options options = cli_scene_options(&w->overrides);
  carom_diagnostics diagnostics = {0};
  cli_ranks_quieten(&r->ranks, true);
  carom_status status = carom_saa_read(r->path, &options, NULL, &r->file, &diagnostics);
  cli_print_diagnostics(&diagnostics);
  if (status == CAROM_ERR_SCENE) cli_count_mistakes(r->path, diagnostics.error_count, CLI_READS_SAA);
  if (status == CAROM_ERR_MEMORY) cli_error("out of memory");
  cli_ranks_quieten(&r->ranks, false);
  carom_diagnostics_release(&diagnostics);
  return status == CAROM_OK;
}

// ---- solving --------------------------------------------------------------------------------------------------------

// Ranks hear of a request to stop in their messages: all of them, at one place.
static bool report_progress(void *context, double done, double total) {
  cli_saa_run *r = context;
  char detail[64] = "";
  if (r->sampled) snprintf(detail, sizeof detail, "solve %.0f of %.0f", floor(done) + 1, total);
  if (r->sampled || r->ranks.count <= 1) cli_progress_show(&r->progress, done, total, detail);
  return r->ranks.count > 1 || !cli_interrupted();
}

static carom_status solve(cli_saa_run *r, carom_error *error) {
  carom_saa_options *o = &r->sampling.solve;
  o->ranks = cli_saa_ranks(&r->ranks);
  o->progress = (carom_progress){r, report_progress};
  if (r->ranks.count > 1 && o->threads == 0) o->threads = 1;  // a launcher has shared the processors out already
  if (r->sampled) return carom_saa_approximate(&r->file->model, &r->sampling, NULL, &r->report, error);
  return carom_saa_solve(&r->file->model.problem, &r->file->scenarios, o, NULL, &r->answer, error);
}

const carom_saa_answer *cli_saa_decision(const cli_saa_run *r) { return r->sampled ? r->report->answer : r->answer; }
carom_saa_outcome cli_saa_outcome(const cli_saa_run *r) { return r->sampled ? r->report->outcome : r->answer->outcome; }

static int exit_code(const cli_saa_run *r) {
  carom_saa_outcome outcome = cli_saa_outcome(r);
  return outcome == CAROM_SAA_SOLVED ? EXIT_GOOD : outcome == CAROM_SAA_LIMIT ? EXIT_FAILED : EXIT_INFEASIBLE;
}

static int solve_and_tell(cli_saa_run *r, bool json) {
  carom_error error = {0};
  r->progress = cli_progress_begin("saa", r->ranks.rank > 0);
  carom_status status = solve(r, &error);
  cli_progress_end(&r->progress);
  if (status == CAROM_INTERRUPTED) {
    if (r->ranks.rank == 0) cli_error("interrupted; nothing was written");
    return EXIT_INTERRUPTED;
  }
  if (status != CAROM_OK) return cli_fail(&error);
  if (r->ranks.rank > 0) return exit_code(r);
  int code = r->page && cli_saa_outcome(r) == CAROM_SAA_SOLVED ? cli_saa_write_page(r) : EXIT_GOOD;
  if (code != EXIT_GOOD) return code;
  (json ? cli_saa_print_json : cli_saa_print)(r);
  return exit_code(r);
}

// ---- ranks ----------------------------------------------------------------------------------------------------------

static void tell_of_death(void *context) {
  const cli_saa_run *r = context;
  if (r->ranks.rank == 0)
    cli_error("ended within a solve of %d ranks: one of them died, or the run was cancelled", r->ranks.count);
}

static int solve_together(cli_saa_run *r, bool json) {
  carom_error error = {0};
  if (cli_ranks_watch(&r->ranks, tell_of_death, r, &error) != CAROM_OK) return cli_fail(&error);
  cli_ranks_enter_step(&r->ranks);
  int code = solve_and_tell(r, json);
  cli_ranks_leave_step(&r->ranks);
  return code;
}

// ---- the verb -------------------------------------------------------------------------------------------------------

// The problem and what it names are not to be written over: the core and its kin, or YAML and its tables.
static int check_files(const words *w, const cli_saa_run *r) {
  cli_files files = {.verb = "saa", .force = w->force, .outputs = {{.path = r->page}}};
  for (int k = 0; k < r->file->file_count && k < CLI_INPUTS; k++) files.inputs[k] = r->file->files[k];
  return r->ranks.rank == 0 ? cli_check_files(&files) : EXIT_GOOD;
}

static int run(const words *w, cli_saa_run *r) {
  int code = read_problem(w, r) && choose_way(w, r) ? EXIT_GOOD : EXIT_MISTAKE;
  if (code == EXIT_GOOD) code = check_files(w, r);
  code = cli_ranks_follow(&r->ranks, code);
  if (code == EXIT_GOOD) cli_catch_interrupts();
  return code == EXIT_GOOD ? solve_together(r, w->json) : code;
}

int cli_saa(int argc, char **argv) {
  words w = {0};
  char command[2000];
  cli_saa_run r = {.command = command};
  const cli_option options[] = {
      {CLI_TEXT, 'n', "scenarios", "N", "the largest sample (default 1000 where they cannot be listed)", &w.scenarios},
      {CLI_TEXT, 0, "first", "N", "the smallest sample; they double (default: an eighth of the largest)", &w.first},
      {CLI_TEXT, 'r', "replications", "N", "samples of each size, for the bounds (default 10)", &w.replications},
      {CLI_TEXT, 0, "evaluate", "N", "scenarios to judge the decision by (default: ten times the largest)",
       &w.evaluate},
      {CLI_TEXT, 0, "seed", "N", "of the random numbers (default 1)", &w.seed},
      {CLI_TEXT, 'g', "gap", "X", "stop growing when the gap is at most this, as sure as --confidence", &w.gap},
      {CLI_FLAG, 0, "relative", NULL, "--gap is times the cost", &w.relative},
      {CLI_TEXT, 0, "confidence", "X", "of the intervals (default 0.95)", &w.confidence},
      {CLI_TEXT, 0, "tolerance", "X", "of each solve, relative (default 1e-10)", &w.tolerance},
      {CLI_TEXT, 0, "max-iterations", "N", "of each solve (default 200)", &w.iterations},
      {CLI_LIST, 's', "set", "KEY=VALUE", "change the YAML, as in constants.price=3", &w.overrides},
      {CLI_TEXT, 'o', "output", "FILE.html", "write a page with the decision, its bounds and its costs", &r.page},
      {CLI_TEXT, 0, "threads", "N", "(default: one per processor; the answer is the same)", &w.threads},
      {CLI_FLAG, 'f', "force", NULL, "overwrite a file that carom did not make", &w.force},
      {CLI_FLAG, 0, "json", NULL, "report as one line of JSON", &w.json},
      {CLI_END, 0, NULL, NULL, NULL, NULL},
  };
  const cli_syntax syntax = {"saa", "PROBLEM [OPTIONS]", about, options, &w.problem, 1, 1};
  int code;
  cli_command_line(argc, argv, command, sizeof command);
  if (!cli_parse(&syntax, argc, argv, &code)) return code;
  r.path = w.problem;
  if (!read_options(&w, &r)) return EXIT_MISTAKE;
  if (!cli_ranks_greet(&r.ranks)) return EXIT_FAILED;
  code = run(&w, &r);
  carom_saa_answer_destroy(r.answer);
  carom_saa_report_destroy(r.report);
  carom_saa_file_destroy(r.file);
  if (r.ranks.count > 1) carom_ranks_end();
  return code;
}

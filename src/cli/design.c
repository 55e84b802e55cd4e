// carom design: problem file -> (ask, run or plan in processes, tell) ... -> table, CSV, page -> report.
#include "cli/design.h"

#include <stdlib.h>
#include <string.h>

// What the command line says.
typedef struct design_words {
  const char *problem, *output, *jobs;
  cli_list overrides;
  bool force, resume, no_replays;
  char command[2048], outputs[4][CLI_PATH], folder[CLI_PATH];  // outputs: table, CSV, page, journal
} design_words;

static bool parse(design_words *w, cli_sweep_run *run, int argc, char **argv, int *code) {
  const cli_option options[] = {
      {CLI_TEXT, 'o', "output", "FILE.h5",
       "table (default: the problem's name, here); .csv, .html and the folder -designs go beside it", &w->output},
      {CLI_FLAG, 'f', "force", NULL, "overwrite files that are there already, and start anew", &w->force},
      {CLI_TEXT, 'j', "jobs", "N", "processes at a time (default: one per processor); see 'batch' of the problem",
       &w->jobs},
      {CLI_FLAG, 0, "continue", NULL, "go on with a design that was stopped or killed", &w->resume},
      {CLI_FLAG, 0, "no-replays", NULL, "keep result files, but make no replay pages of them", &w->no_replays},
      {CLI_LIST, 's', "set", "PATH=VALUE", "override a value of the problem; may be repeated", &w->overrides},
      {CLI_FLAG, 0, "json", NULL, "report as one line of JSON on stdout", &run->json},
      {CLI_FLAG, 'q', "quiet", NULL, "no report and no progress", &run->quiet},
      {CLI_END, 0, NULL, NULL, NULL, NULL},
  };
  const cli_syntax syntax = {"design",
                             "PROBLEM.yaml [OPTIONS]",
                             "Finds the values of a scene or a plan that make what comes of it best, with as few runs "
                             "or plans as it can.\nExits with 4 when no design came to a value.",
                             options,
                             &w->problem,
                             1,
                             1};
  cli_command_line(argc, argv, w->command, sizeof w->command);
  return cli_parse(&syntax, argc, argv, code);
}

// ---- files ----------------------------------------------------------------------------------------------------------

static const char *name_of(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

static void choose_outputs(design_words *w, cli_design_run *d) {
  static const char *const extensions[] = {".h5", ".csv", ".html", ".journal"};
  const char *from = w->output ? w->output : w->problem;
  for (int i = 0; i < 4; i++) cli_replace_extension(from, w->output != NULL, extensions[i], w->outputs[i], CLI_PATH);
  cli_replace_extension(from, w->output != NULL, "-designs", w->folder, CLI_PATH);
  if (w->output) snprintf(w->outputs[0], CLI_PATH, "%s", w->output);
  for (int i = 0; i < 3; i++) d->outputs[i] = w->outputs[i];
  d->replays = name_of(w->folder);
  d->run.keep = (cli_keep){w->folder, !w->no_replays, w->force || w->resume, w->command};
}

static int check_files(const design_words *w, const cli_design_run *d) {
  return cli_check_files(&(cli_files){
      .verb = "design",
      .force = w->force,
      .inputs = {w->problem, d->run.sweep->plan},
      .scene = d->run.sweep->scene,
      .outputs = {{.path = w->outputs[0], .result = true}, {.path = w->outputs[1]}, {.path = w->outputs[2]}}});
}

static carom_design_problem *read_problem(const design_words *w) {
  carom_scene_options options = cli_scene_options(&w->overrides);
  carom_diagnostics diagnostics = {0};
  carom_design_problem *problem = NULL;
  carom_status status = carom_design_read(w->problem, &options, NULL, &problem, &diagnostics);
  cli_print_diagnostics(&diagnostics);
  if (status == CAROM_ERR_SCENE) cli_count_mistakes(w->problem, diagnostics.error_count, CLI_READS_DESIGN);
  if (status == CAROM_ERR_MEMORY) cli_error("out of memory");
  carom_diagnostics_release(&diagnostics);
  return problem;
}

// ---- the work -------------------------------------------------------------------------------------------------------

static int search(cli_sweep_run *run) {
  int code = EXIT_GOOD;
  while (code == EXIT_GOOD) {
    int64_t count = carom_design_next(run->design);
    run->cases = carom_design_cases(run->design);
    if (count < 0) return cli_error("design: out of memory for the cases of a design"), EXIT_FAILED;
    if (count == 0) break;
    code = cli_farm_run(run, run->cases, carom_design_first(run->design), count);
  }
  return code;
}

static int write_outputs(const cli_design_run *d) {
  int code = cli_write_tables(&d->run, d->outputs[0], d->outputs[1]);
  return code == EXIT_GOOD ? cli_design_write_page(d, d->outputs[2]) : code;
}

static int report(const cli_design_run *d) {
  if (d->run.json) cli_design_print_json(d);
  if (!d->run.json && !d->run.quiet) cli_design_print(d);
  if (carom_design_best(d->run.design) >= 0) return EXIT_GOOD;
  cli_error("design: none of %lld designs came to a value; the page tells why",
            (long long)carom_design_cases(d->run.design)->count);
  return EXIT_INFEASIBLE;
}

static int run_all(const design_words *w, cli_design_run *d) {
  cli_sweep_run *run = &d->run;
  cli_journal journal;
  if (!cli_journal_open(&journal, run, w->outputs[3], w->resume, w->force)) return EXIT_FAILED;
  run->journal = &journal;
  run->progress = cli_progress_begin(run->sweep->title, run->quiet || run->json);
  int code = search(run);
  cli_progress_end(&run->progress);
  run->wall = carom_clock() - run->progress.start;
  if (code == EXIT_GOOD) code = write_outputs(d);
  cli_journal_close(&journal, code == EXIT_GOOD);
  run->journal = NULL;
  if (code == EXIT_INTERRUPTED)
    cli_error("design: interrupted; %s holds what was done: go on with --continue", w->outputs[3]);
  return code == EXIT_GOOD ? report(d) : code;
}

static int design_with(const design_words *w, cli_design_run *d) {
  carom_error error = {0};
  if (carom_design_work_create(d->problem, NULL, &d->run.design, &error) != CAROM_OK)
    return cli_error("design: %s", error.message), EXIT_MISTAKE;
  int code = cli_make_folder(&d->run) && cli_farm_open(&d->run) ? run_all(w, d) : EXIT_FAILED;
  cli_farm_close(&d->run);
  carom_design_work_destroy(d->run.design);
  return code;
}

int cli_design(int argc, char **argv) {
  design_words w = {0};
  cli_design_run d = {.run = {.verb = "design", .again = "--continue", .mode = CLI_SWEEP_SEARCH, .ranks = {0, 1}}};
  int code;
  if (!parse(&w, &d.run, argc, argv, &code)) return code;
  if (!cli_read_jobs(w.jobs, &d.run)) return EXIT_MISTAKE;
  d.problem = read_problem(&w);
  if (!d.problem) return EXIT_MISTAKE;
  d.run.sweep = d.problem->sweep;
  choose_outputs(&w, &d);
  code = check_files(&w, &d);
  if (code == EXIT_GOOD) cli_catch_interrupts();
  if (code == EXIT_GOOD) code = design_with(&w, &d);
  carom_design_problem_destroy(d.problem);
  return code;
}

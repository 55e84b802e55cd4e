// carom push check: problem file -> pushes, run and checked one after the other -> table, result, page.
#include "cli/push.h"

typedef struct check_words {
  const char *problem;
  cli_list overrides;
  char command[2048];
} check_words;

static bool parse(check_words *w, cli_push_run *run, int argc, char **argv, int *code) {
  const cli_option options[] = {
      {CLI_TEXT, 'o', "output", "FILE.h5", "write the motion as a result file for 'carom view'", &run->outputs[0]},
      {CLI_TEXT, 0, "page", "FILE.html", "write a page with the pushes and the cones of their wrenches",
       &run->outputs[1]},
      {CLI_TEXT, 0, "samples", "FILE.csv", "write where the part was after each step, as a table for 'carom push fit'",
       &run->outputs[3]},
      {CLI_FLAG, 'f', "force", NULL, "overwrite files that are there already", &run->force},
      {CLI_LIST, 's', "set", "PATH=VALUE", "override a value of the problem; may be repeated", &w->overrides},
      {CLI_FLAG, 0, "strict", NULL, "exit with 3 when a push jams, damages or is not robust, or the goal is missed",
       &run->strict},
      {CLI_FLAG, 0, "json", NULL, "report as one line of JSON on stdout", &run->json},
      {CLI_FLAG, 'q', "quiet", NULL, "no report", &run->quiet},
      {CLI_END, 0, NULL, NULL, NULL, NULL},
  };
  const cli_syntax syntax = {"push check",
                             "PROBLEM.yaml [OPTIONS]",
                             "Tells of each push how it ends, whether it is robust and by what margin, which contact "
                             "changes first,\nand of jams which forces cancel out.",
                             options,
                             &w->problem,
                             1,
                             1};
  cli_command_line(argc + 1, argv - 1, w->command, sizeof w->command);  // with the word 'push' before
  return cli_parse(&syntax, argc, argv, code);
}

static bool is_good(const cli_push_run *run) {
  for (int i = 0; i < run->push_count; i++)
    if (i >= run->count || !cli_push_is_good(run, i)) return false;
  return run->file->def.goal.body < 0 || cli_push_reaches_goal(run);
}

static int report(const check_words *w, cli_push_run *run) {
  int code = EXIT_GOOD;
  if (run->outputs[0]) code = cli_push_write_result(run, run->outputs[0], w->command);
  if (code == EXIT_GOOD && run->outputs[1]) code = cli_push_write_page(run, run->outputs[1]);
  if (code == EXIT_GOOD && run->outputs[3]) code = cli_push_write_samples(run, run->outputs[3]);
  if (code != EXIT_GOOD) return code;
  if (run->json) {
    cli_json json = cli_json_begin(stdout);
    cli_push_json(&json, run);
    cli_json_end(&json);
  } else if (!run->quiet) {
    cli_push_print(run);
  }
  return run->strict && !is_good(run) ? EXIT_VERDICT : EXIT_GOOD;
}

static int check(const check_words *w, cli_push_run *run) {
  run->pushes = run->file->pushes, run->places = run->file->places, run->push_count = run->file->push_count;
  if (run->push_count == 0)
    return cli_error("push check: %s has no pushes; 'carom push plan %s' looks for them", w->problem, w->problem),
           EXIT_MISTAKE;
  int code = cli_check_files(&(cli_files){
      .verb = run->verb,
      .force = run->force,
      .inputs = {w->problem},
      .scene = run->file->scene,
      .outputs = {{.path = run->outputs[0], .result = true}, {.path = run->outputs[1]}, {.path = run->outputs[3]}}});
  if (code == EXIT_GOOD) cli_catch_interrupts();
  if (code == EXIT_GOOD) code = cli_push_all(run);
  return code == EXIT_GOOD ? report(w, run) : code;
}

int cli_push_check(int argc, char **argv) {
  check_words w = {0};
  cli_push_run run = {.verb = "push check"};
  int code;
  if (!parse(&w, &run, argc, argv, &code)) return code;
  run.problem = w.problem;
  run.file = cli_push_read(run.verb, w.problem, &w.overrides);
  if (!run.file) return EXIT_MISTAKE;
  code = check(&w, &run);
  cli_push_release(&run);
  carom_push_file_destroy(run.file);
  return code;
}

// carom navigate: scene file -> ways of all vehicles -> verdict, page, table.
#include "cli/navigate.h"

static const char about[] =
    "Leads vehicles in convex safety cages to their goals: preferred velocities are projected, for all at once, onto "
    "what\n"
    "frictionless contacts among the cages allow, so that none overlap at any time. Tells whether all are at their "
    "goals,\n"
    "the least clearance, measured again by all corners and sides, and who is jammed. docs/navigation.md has the "
    "mathematics\n"
    "and the format of scenes. For example: carom navigate circle.yaml -o circle.html";

typedef struct request {
  const char *scene, *threads;
  cli_list overrides;
} request;

static carom_navigate_file *read_file(const request *q) {
  carom_scene_options options = cli_scene_options(&q->overrides);
  carom_diagnostics diagnostics = {0};
  carom_navigate_file *file = NULL;
  carom_status status = carom_navigate_read(q->scene, &options, NULL, &file, &diagnostics);
  cli_print_diagnostics(&diagnostics);
  if (status == CAROM_ERR_SCENE) cli_count_mistakes(q->scene, diagnostics.error_count, CLI_READS_NAVIGATE);
  if (status == CAROM_ERR_MEMORY) cli_error("navigate: out of memory");
  carom_diagnostics_release(&diagnostics);
  return file;
}

static bool is_good(const cli_navigate_run *run) { return run->motion->verdict.done && cli_navigate_is_clear(run); }

// A plan that leads nowhere is told of; then its way is shown, as far as it goes.
static carom_status plan_and_go(cli_navigate_run *run, carom_error *error) {
  cli_progress bar = cli_progress_begin("planning", run->quiet || run->json);
  carom_navigate_file *file = run->file;
  file->plan.progress = cli_progress_callback(&bar);
  carom_status status = carom_navigate_plan_make(&file->def, &file->plan, NULL, &run->plan, error);
  cli_progress_end(&bar);
  if (status != CAROM_OK) return status;
  return carom_navigate_plan_motion(&file->def, run->plan, NULL, &run->motion, error);
}

static carom_status go(cli_navigate_run *run, carom_error *error) {
  cli_progress bar = cli_progress_begin("on the way", run->quiet || run->json);
  run->file->def.progress = cli_progress_callback(&bar);
  carom_status status = carom_navigate_run(&run->file->def, NULL, &run->motion, error);
  cli_progress_end(&bar);
  return status;
}

static int report(const cli_navigate_run *run) {
  int code = run->page ? cli_navigate_write_page(run) : EXIT_GOOD;
  if (code == EXIT_GOOD && run->csv) code = cli_navigate_write_csv(run);
  if (code != EXIT_GOOD) return code;
  if (run->json)
    cli_navigate_json(run);
  else if (!run->quiet)
    cli_navigate_print(run);
  if (run->plan && !run->plan->found)
    return cli_error("navigate: no plan was found that leads all vehicles to their goals"), EXIT_INFEASIBLE;
  return run->strict && !is_good(run) ? EXIT_VERDICT : EXIT_GOOD;
}

static int navigate(const request *q, cli_navigate_run *run) {
  carom_error error;
  int code = cli_check_files(&(cli_files){.verb = "navigate",
                                          .force = run->force,
                                          .inputs = {q->scene},
                                          .outputs = {{.path = run->page}, {.path = run->csv}}});
  if (code != EXIT_GOOD) return code;
  if (!cli_read_count("navigate", "threads", q->threads, 1, 1024, &run->file->def.threads)) return EXIT_MISTAKE;
  cli_catch_interrupts();
  carom_status status = run->plans ? plan_and_go(run, &error) : go(run, &error);
  if (status == CAROM_INTERRUPTED) {
    cli_error("navigate: interrupted; nothing was written");
    return EXIT_INTERRUPTED;
  }
  return status == CAROM_OK ? report(run) : cli_fail(&error);
}

int cli_navigate(int argc, char **argv) {
  request q = {0};
  cli_navigate_run run = {0};
  const cli_option options[] = {
      {CLI_TEXT, 'o', "output", "FILE.html", "write a page that shows the ways in plan view", &run.page},
      {CLI_TEXT, 0, "csv", "FILE.csv", "write where all are at every step, as a table", &run.csv},
      {CLI_FLAG, 'p', "plan", NULL, "look for robust segments that lead to the goals (up to 12 vehicles)", &run.plans},
      {CLI_LIST, 's', "set", "PATH=VALUE", "override a value of the scene; may be repeated", &q.overrides},
      {CLI_TEXT, 'j', "threads", "N", "(default: one per processor; the answer is the same)", &q.threads},
      {CLI_FLAG, 'f', "force", NULL, "overwrite files that carom did not make", &run.force},
      {CLI_FLAG, 0, "strict", NULL, "exit with 3 unless all are at their goals and no cages overlapped", &run.strict},
      {CLI_FLAG, 0, "json", NULL, "report as one line of JSON on stdout", &run.json},
      {CLI_FLAG, 'q', "quiet", NULL, "no report", &run.quiet},
      {CLI_END, 0, NULL, NULL, NULL, NULL},
  };
  const cli_syntax syntax = {"navigate", "SCENE.yaml [OPTIONS]", about, options, &q.scene, 1, 1};
  int code;
  if (!cli_parse(&syntax, argc, argv, &code)) return code;
  run.scene = q.scene;
  run.file = read_file(&q);
  if (!run.file) return EXIT_MISTAKE;
  code = navigate(&q, &run);
  carom_navigate_plan_destroy(run.plan);
  carom_navigate_motion_destroy(run.motion);
  carom_navigate_file_destroy(run.file);
  return code;
}

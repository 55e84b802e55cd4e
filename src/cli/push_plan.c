// carom push plan: problem file -> tree of robust pushes -> pushes, run and checked -> problem file, result, page.
#include <math.h>
#include <string.h>

#include "cli/push.h"
#include "cli/sweep.h"

typedef struct plan_words {
  const char *problem, *output, *jobs, *starts, *seed, *trials;
  cli_list overrides;
  char command[2048], outputs[3][CLI_PATH];  // pushes, result, page
} plan_words;

typedef struct plan_run {
  cli_push_run run;
  carom_push_plan *plan;
  carom_push_trials trials;
  int64_t trial_count;
  bool interrupted;
} plan_run;

static bool parse(plan_words *w, cli_push_run *run, int argc, char **argv, int *code) {
  const cli_option options[] = {
      {CLI_TEXT, 'o', "output", "FILE.yaml",
       "the pushes, as a problem for 'carom push check' (default: the problem's name with .plan.yaml, here); a result "
       "(.h5) and a page (.html) go beside it",
       &w->output},
      {CLI_FLAG, 'f', "force", NULL, "overwrite files that are there already", &run->force},
      {CLI_TEXT, 'j', "jobs", "N", "threads (default: one per processor); the answer is the same for any number",
       &w->jobs},
      {CLI_TEXT, 0, "starts", "N", "trees that grow, of which the best is kept", &w->starts},
      {CLI_TEXT, 0, "seed", "N", "of the first tree", &w->seed},
      {CLI_TEXT, 0, "trials", "N", "replay the plan N times with part and friction drawn from the box (default 100)",
       &w->trials},
      {CLI_LIST, 's', "set", "PATH=VALUE", "override a value of the problem; may be repeated", &w->overrides},
      {CLI_FLAG, 0, "strict", NULL, "exit with 3 when the plan does not withstand what the problem asks", &run->strict},
      {CLI_FLAG, 0, "json", NULL, "report as one line of JSON on stdout", &run->json},
      {CLI_FLAG, 'q', "quiet", NULL, "no report and no progress", &run->quiet},
      {CLI_END, 0, NULL, NULL, NULL, NULL},
  };
  const cli_syntax syntax = {"push plan",
                             "PROBLEM.yaml [OPTIONS]",
                             "Finds pushes that lead the part to its goal, from anywhere in the box of the problem.\n"
                             "Exits with 4 when there are none; those that come nearest are kept.",
                             options,
                             &w->problem,
                             1,
                             1};
  cli_command_line(argc + 1, argv - 1, w->command, sizeof w->command);  // with the word 'push' before
  return cli_parse(&syntax, argc, argv, code);
}

// NAME.plan.yaml, NAME.h5 and NAME.html.
static void choose_outputs(plan_words *w, cli_push_run *run) {
  static const char *const extensions[] = {".plan.yaml", ".h5", ".html"};
  static const char ending[] = ".plan.yaml";
  char base[CLI_PATH];
  snprintf(base, sizeof base, "%s", w->output ? w->output : w->problem);
  size_t n = strlen(base), m = sizeof ending - 1;
  if (w->output && n > m && strcmp(base + n - m, ending) == 0) base[n - 5] = '\0';  // one extension is enough
  for (int i = 0; i < 3; i++) cli_replace_extension(base, w->output != NULL, extensions[i], w->outputs[i], CLI_PATH);
  if (w->output) snprintf(w->outputs[0], CLI_PATH, "%s", w->output);
  run->outputs[0] = w->outputs[1], run->outputs[1] = w->outputs[2], run->outputs[2] = w->outputs[0];
}

static int check_files(const plan_words *w, const cli_push_run *run) {
  return cli_check_files(&(cli_files){
      .verb = run->verb,
      .force = run->force,
      .inputs = {w->problem},
      .scene = run->file->scene,
      .outputs = {{.path = w->outputs[0]}, {.path = w->outputs[1], .result = true}, {.path = w->outputs[2]}}});
}

static bool read_numbers(const plan_words *w, plan_run *p) {
  const char *verb = p->run.verb;
  carom_push_plan_def *d = &p->run.file->plan;
  int64_t jobs = d->threads, starts = d->seeds, seed = (int64_t)d->seed;
  if (w->jobs && !cli_read_whole(verb, w->jobs, "jobs", (const double[2]){1, 1024}, &jobs)) return false;
  if (w->starts && !cli_read_whole(verb, w->starts, "starts", (const double[2]){1, 10000}, &starts)) return false;
  if (w->seed && !cli_read_whole(verb, w->seed, "seed", (const double[2]){0, 9e15}, &seed)) return false;
  if (w->trials && !cli_read_whole(verb, w->trials, "trials", (const double[2]){0, 1e6}, &p->trial_count)) return false;
  if (!p->run.file->boxed) p->trial_count = 0;
  d->threads = (int)jobs, d->seeds = (int)starts, d->seed = (uint64_t)seed;
  return true;
}

// ---- the work -------------------------------------------------------------------------------------------------------

static int search(plan_run *p) {
  carom_push_plan_def *d = &p->run.file->plan;
  carom_error error;
  cli_progress progress = cli_progress_begin(p->run.file->title, p->run.quiet || p->run.json);
  d->progress = cli_progress_callback(&progress);
  carom_status status = carom_push_plan_make(d, NULL, &p->plan, &error);
  cli_progress_end(&progress);
  p->interrupted = status == CAROM_INTERRUPTED;
  if (status == CAROM_OK || (p->interrupted && p->plan)) return EXIT_GOOD;
  if (p->interrupted) return cli_error("push plan: interrupted before there was anything to keep"), EXIT_INTERRUPTED;
  cli_error("push plan: %s", error.message);
  return status == CAROM_ERR_ARGUMENT || status == CAROM_ERR_GEOMETRY ? EXIT_MISTAKE : EXIT_FAILED;
}

static void print_plan(const plan_run *p) {
  const carom_push_plan_report *r = &p->plan->report;
  cli_print(stdout, "%s: %d push%s, %.3g s; %d expansions (%d nodes) in %.3g s\n",
            p->plan->found ? "found" : "no plan; the nearest", p->plan->push_count,
            p->plan->push_count == 1 ? "" : "es", r->cost, r->total_expansions, r->nodes, r->seconds);
  cli_print(stdout, "  refused  %d jams, %d damages, %d changes of modes, %d failures; %d pushes dropped afterwards\n",
            r->jams, r->damages, r->switches, r->failures, r->dropped);
  if (p->trials.trials > 0)
    cli_print(stdout, "  trials   %d of %d drawn from the box reach the goal (%d jams, %d damages, %d failures)\n",
              p->trials.reached, p->trials.trials, p->trials.jams, p->trials.damages, p->trials.failures);
  cli_print(stdout, "\n");
  cli_push_print(&p->run);
  cli_print(stdout, "  pushes   %s\n", p->run.outputs[2]);
}

static void print_json(const plan_run *p) {
  const carom_push_plan_report *r = &p->plan->report;
  cli_json json = cli_json_begin(stdout);
  CLI_MEMBERS(&json, CLI_B("found", p->plan->found), CLI_I("expansions", r->total_expansions), CLI_I("nodes", r->nodes),
              CLI_I("tree", r->seed), CLI_I("solved_starts", r->solved_seeds), CLI_I("jams", r->jams),
              CLI_I("damages", r->damages), CLI_I("switches", r->switches), CLI_I("failures", r->failures),
              CLI_I("dropped", r->dropped), CLI_N("duration", r->cost), CLI_N("nearest", r->nearest),
              CLI_N("seconds", r->seconds));
  if (p->trials.trials > 0) {
    cli_json_open(&json, "trials", '{');
    CLI_MEMBERS(&json, CLI_I("count", p->trials.trials), CLI_I("reached", p->trials.reached),
                CLI_I("jams", p->trials.jams), CLI_I("damages", p->trials.damages),
                CLI_I("failures", p->trials.failures));
    cli_json_close(&json, '}');
  }
  cli_push_json(&json, &p->run);
  cli_json_end(&json);
}

static int keep(plan_run *p, const char *command) {
  cli_push_run *run = &p->run;
  int code = cli_push_write(run, run->outputs[2], command);
  if (code == EXIT_GOOD) code = cli_push_write_result(run, run->outputs[0], command);
  return code == EXIT_GOOD ? cli_push_write_page(run, run->outputs[1]) : code;
}

// What the problem asks of its plan.
static bool is_kept(const cli_push_run *run) {
  carom_push_robustness asked = run->file->plan.robustness;
  bool good = run->count == run->push_count;
  for (int i = 0; i < run->count && asked == CAROM_PUSH_PLAN_MODES; i++) good = good && cli_push_is_good(run, i);
  return good && (asked == CAROM_PUSH_PLAN_NOMINAL || !run->file->boxed || cli_push_box_holds(run));
}

static int verdict(const plan_run *p) {
  if (p->interrupted) return cli_error("push plan: interrupted; the best so far is kept"), EXIT_INTERRUPTED;
  if (!p->plan->found) return cli_error("push plan: no pushes were found that lead to the goal"), EXIT_INFEASIBLE;
  return p->run.strict && !is_kept(&p->run) ? EXIT_VERDICT : EXIT_GOOD;
}

static int try_plan(plan_run *p) {
  carom_error error;
  if (p->trial_count == 0 || p->interrupted || !p->plan->found) return EXIT_GOOD;
  carom_status status = carom_push_plan_replay(&p->run.file->plan, p->plan, (int)p->trial_count, &p->trials, &error);
  return status == CAROM_OK ? EXIT_GOOD : cli_fail(&error);
}

static int plan(plan_run *p, const char *command) {
  int code = search(p);
  if (code != EXIT_GOOD) return code;
  code = try_plan(p);
  if (code != EXIT_GOOD) return code;
  p->run.pushes = p->plan->pushes, p->run.push_count = p->plan->push_count;
  code = cli_push_all(&p->run);
  if (code != EXIT_GOOD || (code = keep(p, command)) != EXIT_GOOD) return code;
  if (p->run.json) print_json(p);
  if (!p->run.json && !p->run.quiet) print_plan(p);
  return verdict(p);
}

int cli_push_plan(int argc, char **argv) {
  plan_words w = {0};
  plan_run p = {.run = {.verb = "push plan"}, .trial_count = 100};
  int code;
  if (!parse(&w, &p.run, argc, argv, &code)) return code;
  p.run.problem = w.problem;
  p.run.file = cli_push_read(p.run.verb, w.problem, &w.overrides);
  if (!p.run.file) return EXIT_MISTAKE;
  code = EXIT_MISTAKE;
  choose_outputs(&w, &p.run);
  if (!p.run.file->plans)
    cli_error("push plan: %s has no 'plan': at what speed do probes push?", w.problem);
  else if (read_numbers(&w, &p))
    code = check_files(&w, &p.run);
  if (code == EXIT_GOOD) cli_catch_interrupts();
  if (code == EXIT_GOOD) code = plan(&p, w.command);
  cli_push_release(&p.run);
  carom_push_plan_destroy(p.plan);
  carom_push_file_destroy(p.run.file);
  return code;
}

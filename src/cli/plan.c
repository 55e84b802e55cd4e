// carom plan: problem file -> optimal motion -> (replay) -> result file -> report.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/plan_starts.h"
#include "cli/plan_work.h"

enum { MOST_CHAINED = 1000 };

typedef struct plan_run {
  carom_plan_file *file;
  carom_plan_report report;
  carom_replay_report replay;
  int chained;                                // plans in a chain; 0: none
  carom_replay_report chain[MOST_CHAINED];    // of each, from the planned state
  carom_replay_report carried[MOST_CHAINED];  // and from where the one before ended
  carom_verdict verdict;
  cli_multipliers multipliers;
  bool verify, stability, quiet, json, strict, overwrite;
  int starts;      // > 1: this is the best of them
  bool elsewhere;  // it was, and has done all that is left to do
  const char *output, *forces, *command;
  cli_progress progress;
  carom_status status;  // of the solve
  carom_error error;
} plan_run;

static bool show_iterate(void *context, const carom_plan_iterate *it) {
  plan_run *r = context;
  char detail[96];
  snprintf(detail, sizeof detail, "iteration %d, cost %.4g, infeasibility %.1e", it->iteration, it->cost,
           it->infeasibility);
  cli_progress_show(&r->progress, it->iteration, r->file->options.max_iterations, detail);
  return !cli_interrupted();
}

static const char *guess_name(carom_guess_kind kind) {
  static const char *const names[] = {"path", "forward motion", "sampling search", "earlier answer"};
  return names[kind];
}

static const char *outcome_name(carom_plan_outcome outcome) {
  static const char *const names[] = {"solved", "infeasible", "iteration limit", "stopped", "failed"};
  return names[outcome];
}

static carom_replay_report worst(const carom_replay_report *reports, int count) {
  carom_replay_report w = {0};
  for (int i = 0; i < count; i++) {
    w.position = fmax(w.position, reports[i].position);
    w.rotation = fmax(w.rotation, reports[i].rotation);
  }
  return w;
}

// ---- reports -------------------------------------------------------------------------------------------------------

static void print_time(const carom_plan *plan, int node, bool first) {
  cli_print(stdout, "%s t = %.4f s (node %d)", first ? "" : ",", carom_plan_time(plan, node), node);
}

static void print_breaks(const plan_run *r) {
  const carom_plan *plan = r->file->plan;
  int contacts = carom_plan_contact_count(plan), events = carom_plan_event_count(plan);
  int segments = carom_plan_scale_count(plan);
  if (contacts) cli_print(stdout, "  contacts ");
  for (int i = 0; i < contacts; i++) print_time(plan, carom_plan_contact_node(plan, i), i == 0);
  if (events) cli_print(stdout, "%s  events   ", contacts ? "\n" : "");
  for (int i = 0; i < events; i++) print_time(plan, carom_plan_event_node(plan, i), i == 0);
  if (contacts + events) cli_print(stdout, "\n");
  if (segments == 1) return;
  cli_print(stdout, "  sigma   ");
  for (int i = 0; i < segments; i++) cli_print(stdout, "%s %.4f", i ? "," : "", carom_plan_scale(plan, i));
  cli_print(stdout, "\n");
}

// Open loop, deviations of an unstable motion grow by about the same factor in every period.
static void print_chain(const plan_run *r) {
  if (r->chained == 0) return;
  const carom_replay_report *last = &r->carried[r->chained - 1];
  cli_print(stdout,
            "  chain    %d replays, each from the planned state: %.1e m, %.1e rad; carried on open loop:", r->chained,
            worst(r->chain, r->chained).position, worst(r->chain, r->chained).rotation);
  for (int i = 0; i < r->chained; i = i < 4 || i >= r->chained - 2 ? i + 1 : r->chained - 1)
    cli_print(stdout, "%s %.1e", i == r->chained - 1 && i > 4 ? " ..." : "", r->carried[i].position);
  cli_print(stdout, " m (%.1e rad)\n", last->rotation);
}

static void print_report(const plan_run *r) {
  const carom_plan_report *p = &r->report;
  cli_print(stdout, "%s\n", r->file->title);
  cli_print(stdout, "  %s after %d iterations in %.3g s; %d nodes (%d added), %d variables, %d constraints\n",
            outcome_name(p->outcome), p->iterations, p->seconds, carom_plan_node_count(r->file->plan), p->added_nodes,
            p->variables, p->constraints);
  if (r->starts > 1) cli_print(stdout, "  start    %d of %d was the best\n", p->start + 1, r->starts);
  cli_print(stdout, "  cost     first guess (%s) %.5g, optimum %.5g", guess_name(p->guess), p->guess_cost, p->cost);
  if (p->guess_cost > 0 && p->cost > 0) cli_print(stdout, ", factor %.4g", p->guess_cost / p->cost);
  cli_print(stdout, "\n");
  print_breaks(r);
  cli_print_work(r->file->plan);
  print_chain(r);
  cli_print_multipliers(&r->multipliers);
  cli_print(stdout, "\n");
  cli_print_verdict(&r->verdict, stdout);
  if (p->outcome != CAROM_PLAN_SOLVED && p->message[0]) cli_print(stdout, "  worst    %s\n", p->message);
  if (r->output) cli_print(stdout, "\n  result  %s\n", r->output);
}

// Deviations of each replay, m and rad.
static void json_chain(cli_json *json, const char *name, const carom_replay_report *reports, int count) {
  if (count == 0) return;
  cli_json_open(json, name, '[');
  for (int i = 0; i < count; i++) {
    cli_json_open(json, NULL, '[');
    cli_json_number(json, NULL, reports[i].position);
    cli_json_number(json, NULL, reports[i].rotation);
    cli_json_close(json, ']');
  }
  cli_json_close(json, ']');
}

static void print_json(const plan_run *r) {
  const carom_plan_report *p = &r->report;
  const carom_plan *plan = r->file->plan;
  cli_json json = cli_json_begin(stdout);
  CLI_MEMBERS(&json, CLI_T("title", r->file->title), CLI_T("outcome", outcome_name(p->outcome)),
              CLI_T("guess", guess_name(p->guess)), CLI_I("iterations", p->iterations),
              CLI_I("nodes", carom_plan_node_count(plan)), CLI_I("variables", p->variables),
              CLI_I("constraints", p->constraints), CLI_N("guess_cost", p->guess_cost), CLI_N("cost", p->cost),
              CLI_N("seconds", p->seconds));
  if (r->starts > 1) cli_json_integer(&json, "start", p->start + 1);
  cli_json_open(&json, "contacts", '[');
  for (int i = 0; i < carom_plan_contact_count(plan); i++)
    cli_json_number(&json, NULL, carom_plan_time(plan, carom_plan_contact_node(plan, i)));
  cli_json_close(&json, ']');
  cli_json_open(&json, "sigma", '[');
  for (int i = 0; i < carom_plan_scale_count(plan); i++) cli_json_number(&json, NULL, carom_plan_scale(plan, i));
  cli_json_close(&json, ']');
  if (carom_plan_event_count(plan) > 0) {
    cli_json_open(&json, "events", '[');
    for (int i = 0; i < carom_plan_event_count(plan); i++)
      cli_json_number(&json, NULL, carom_plan_time(plan, carom_plan_event_node(plan, i)));
    cli_json_close(&json, ']');
  }
  cli_json_work(&json, plan);
  json_chain(&json, "chain", r->chain, r->chained);
  json_chain(&json, "carried", r->carried, r->chained);
  cli_json_multipliers(&json, &r->multipliers);
  if (p->message[0] && p->outcome != CAROM_PLAN_SOLVED) cli_json_text(&json, "worst", p->message);
  if (r->output) cli_json_text(&json, "result", r->output);
  cli_json_verdict(&json, &r->verdict);
  cli_json_end(&json);
}

// ---- the run -------------------------------------------------------------------------------------------------------

static carom_status keep(plan_run *r, carom_error *error) {
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  carom_recorder_options options = {.overwrite = r->overwrite, .command = r->command, .host = host};
  carom_status status = CAROM_OK;
  if (r->output) status = carom_plan_record(r->file, &r->report, &r->verdict, r->output, &options, error);
  if (status == CAROM_OK && r->forces) status = carom_plan_export_forces(r->file->plan, r->forces, error);
  return status;
}

static int exit_code(const plan_run *r) {
  switch (r->report.outcome) {
    case CAROM_PLAN_SOLVED:
      return r->strict && !r->verdict.pass ? EXIT_VERDICT : EXIT_GOOD;
    case CAROM_PLAN_STOPPED:
      return EXIT_INTERRUPTED;
    case CAROM_PLAN_INFEASIBLE:
      cli_error("no such motion: %s", r->report.message);
      return EXIT_INFEASIBLE;
    default:
      cli_error("%s: %s", outcome_name(r->report.outcome), r->report.message);
      return EXIT_INFEASIBLE;
  }
}

static void solve(plan_run *r) {
  const carom_plan_file *f = r->file;
  r->status = f->most_contacts > 0
                  ? carom_plan_search_contacts(f->plan, f->most_contacts, &f->options, &r->report, &r->error)
                  : carom_plan_solve(f->plan, &f->options, &r->report, &r->error);
}

// One start in a process of its own; the bar is that of the process above.
static cli_score solve_start(void *context, int number) {
  plan_run *r = context;
  r->progress = cli_progress_begin(r->file->title, true);
  r->file->options.first_start = number;
  solve(r);
  const carom_plan_report *p = &r->report;
  if (r->status != CAROM_OK) return (cli_score){3, 0};
  if (p->outcome != CAROM_PLAN_SOLVED) return (cli_score){2, p->violation};
  return (cli_score){p->swept_gap < -1e-9, p->cost};
}

// False: the process of the best start has ended, with *code.
static bool solve_starts(plan_run *r, int *code) {
  int processors = (int)sysconf(_SC_NPROCESSORS_ONLN), asked = r->file->options.threads;
  cli_race race = {.count = r->file->options.starts, .context = r, .run = solve_start, .progress = &r->progress};
  race.at_once = asked > 0 ? asked : processors > 0 ? processors : 1;
  r->file->options.starts = 1;
  r->starts = race.count;
  return cli_race_run(&race, code);
}

// Where the bodies strayed too far for a step to be taken, deviations are infinite, and the verdict says so.
static bool strays(carom_status status) { return status == CAROM_NOT_CONVERGED || status == CAROM_ERR_NUMBER; }

static carom_status replay(plan_run *r, carom_error *error) {
  if (!r->verify) return CAROM_OK;
  carom_status status = carom_plan_replay(r->file->plan, &r->replay, error);
  if (!strays(status)) return status;
  r->replay.position = r->replay.rotation = r->replay.momentum = INFINITY;
  return CAROM_OK;
}

static carom_status replay_chain(plan_run *r, carom_error *error) {
  if (r->chained == 0) return CAROM_OK;
  carom_status status = carom_plan_replay_chain(r->file->plan, r->chained, true, r->chain, error);
  if (status != CAROM_OK && !strays(status)) return status;
  status = carom_plan_replay_chain(r->file->plan, r->chained, false, r->carried, error);
  return strays(status) ? CAROM_OK : status;
}

static carom_status find_multipliers(plan_run *r, carom_error *error) {
  if (!r->stability) return CAROM_OK;
  return carom_plan_find_multipliers(r->file->plan, CLI_MULTIPLIERS, r->multipliers.real, r->multipliers.imaginary,
                                     &r->multipliers.count, error);
}

// A motion that is none is not replayed: what there is of it is kept. Nor is one thrown away of which something that
// was asked for cannot be told; false, and why.
static bool examine(plan_run *r, carom_error *why) {
  bool solved = r->report.outcome == CAROM_PLAN_SOLVED;
  r->verify = r->verify && solved, r->stability = r->stability && solved;
  if (!solved) r->chained = 0;
  bool replayed = replay(r, why) == CAROM_OK;
  r->verify = r->verify && replayed;
  bool stable = replayed && find_multipliers(r, why) == CAROM_OK;
  bool chained = stable && replay_chain(r, why) == CAROM_OK;
  if (!chained) r->chained = 0;
  return chained;
}

static void judge(plan_run *r) {
  r->verdict = carom_plan_judge(&r->report, r->verify ? &r->replay : NULL);
  if (r->chained == 0) return;
  carom_replay_report w = worst(r->chain, r->chained);
  double value = fmax(w.position, w.rotation);
  carom_verdict_add(&r->verdict,
                    &(carom_verdict_row){"replay_chain", "Replay, chained", "each from the planned state, m, rad",
                                         value, 1e-6, false, ""},
                    NULL);
}

static int run_plan(plan_run *r) {
  int code;
  cli_catch_interrupts();
  r->progress = cli_progress_begin(r->file->title, r->quiet || r->json);
  r->file->options.context = r;
  r->file->options.progress = show_iterate;
  if (r->file->options.starts <= 1) {
    solve(r);
  } else if (!solve_starts(r, &code)) {
    r->elsewhere = true;
    return code;
  }
  cli_progress_end(&r->progress);
  carom_error error = r->error, why = {0};
  if (r->status != CAROM_OK) return cli_fail(&error);
  bool told = examine(r, &why);
  judge(r);
  if (keep(r, &error) != CAROM_OK) return cli_fail(&error);
  if (r->json) print_json(r);
  if (!r->json && !r->quiet) print_report(r);
  return told ? exit_code(r) : cli_fail(&why);
}

static carom_plan_file *read_problem(const char *path, const cli_list *overrides, int *code) {
  carom_scene_options options = cli_scene_options(overrides);
  carom_diagnostics diagnostics = {0};
  carom_plan_file *file = NULL;
  carom_status status = carom_plan_read(path, &options, NULL, &file, &diagnostics);
  cli_print_diagnostics(&diagnostics);
  if (!file) cli_count_mistakes(path, diagnostics.error_count, CLI_READS_PLAN);
  carom_diagnostics_release(&diagnostics);
  if (status == CAROM_ERR_MEMORY) cli_error("out of memory");
  *code = status == CAROM_ERR_NUMBER ? EXIT_INFEASIBLE : EXIT_MISTAKE;  // a horizon of zero is no slip of the pen
  return file;
}

// ---- the verb ------------------------------------------------------------------------------------------------------

// What the command line says, besides what the run keeps.
typedef struct plan_words {
  const char *problem, *output, *log, *starts, *warm, *chain;
  cli_list overrides;
  bool dry, view;
  char command[2048], default_output[CLI_PATH], page[CLI_PATH];
} plan_words;

static bool parse(plan_words *w, plan_run *r, int argc, char **argv, int *code) {
  const cli_option options[] = {
      {CLI_TEXT, 'o', "output", "FILE", "result file (default: the problem's name with .h5, here)", &w->output},
      {CLI_FLAG, 'f', "force", NULL, "overwrite files that are there already", &r->overwrite},
      {CLI_FLAG, 0, "no-output", NULL, "write no result file", &w->dry},
      {CLI_TEXT, 0, "forces", "FILE.csv", "write the forces as a table", &r->forces},
      {CLI_FLAG, 0, "view", NULL, "write the replay page as well", &w->view},
      {CLI_FLAG, 0, "verify", NULL, "replay open loop by the forward integrator and report the deviation", &r->verify},
      {CLI_TEXT, 0, "chain", "N", "replay N periods of a periodic motion, one after the other", &w->chain},
      {CLI_FLAG, 0, "stability", NULL, "Floquet multipliers of a periodic motion", &r->stability},
      {CLI_LIST, 's', "set", "PATH=VALUE", "override a value of the problem; may be repeated", &w->overrides},
      {CLI_TEXT, 0, "starts", "N", "solve from N first guesses at the same time and keep the best plan", &w->starts},
      {CLI_TEXT, 0, "warm", "RESULT.h5", "begin from the answer of an earlier plan", &w->warm},
      {CLI_TEXT, 0, "log", "FILE", "write the solver's own log", &w->log},
      {CLI_FLAG, 0, "strict", NULL, "exit with 3 when the verdict does not pass", &r->strict},
      {CLI_FLAG, 0, "json", NULL, "report as one line of JSON on stdout", &r->json},
      {CLI_FLAG, 'q', "quiet", NULL, "no report and no progress", &r->quiet},
      {CLI_END, 0, NULL, NULL, NULL, NULL},
  };
  const cli_syntax syntax = {"plan",
                             "PROBLEM.yaml [OPTIONS]",
                             "Finds the motion of least cost that meets a problem's conditions, past obstacles and "
                             "through planned contacts.\nExits with 4 when there is none; the best iterate is kept.",
                             options,
                             &w->problem,
                             1,
                             1};
  cli_command_line(argc, argv, w->command, sizeof w->command);
  r->command = w->command;
  return cli_parse(&syntax, argc, argv, code);
}

static bool read_count(const char *text, const char *option, int most, int *count) {
  char *end;
  if (!text) return true;
  long value = strtol(text, &end, 10);
  if (end == text || *end || value < 1 || value > most)
    return cli_error("plan: --%s %s: expected a whole number from 1 to %d", option, text, most);
  *count = (int)value;
  return true;
}

static void choose_outputs(plan_words *w, plan_run *r) {
  cli_replace_extension(w->problem, false, ".h5", w->default_output, sizeof w->default_output);
  r->output = w->dry ? NULL : w->output ? w->output : w->default_output;
  if (!r->output) w->view = false;
  if (w->view) cli_replace_extension(r->output, true, ".html", w->page, sizeof w->page);
}

// Asked before the search begins, which may take long.
static int check_files(const plan_run *r, const plan_words *w) {
  return cli_check_files(&(cli_files){.verb = "plan",
                                      .force = r->overwrite,
                                      .inputs = {w->problem, w->warm, r->file->guess},
                                      .scene = r->file->scene,
                                      .outputs = {{.path = r->output, .result = true},
                                                  {.path = r->forces},
                                                  {.path = w->log},
                                                  {.path = w->view ? w->page : NULL}}});
}

static int set_guess(plan_run *r, const char *warm) {
  carom_error error;
  if (!warm) return EXIT_GOOD;
  if (carom_plan_warm(r->file->plan, warm, &error) != CAROM_OK) return cli_fail(&error);
  r->file->options.guess = CAROM_GUESS_MOTION;
  return EXIT_GOOD;
}

int cli_plan(int argc, char **argv) {
  plan_words w = {0};
  plan_run r = {0};
  int code, starts = 0;
  if (!parse(&w, &r, argc, argv, &code)) return code;
  if (!carom_plan_available()) {
    cli_error("this build cannot plan: it was made without Ipopt (Debian: coinor-libipopt-dev)");
    return EXIT_FAILED;
  }
  if (!read_count(w.starts, "starts", 10000, &starts) || !read_count(w.chain, "chain", MOST_CHAINED, &r.chained))
    return EXIT_MISTAKE;
  choose_outputs(&w, &r);
  r.file = read_problem(w.problem, &w.overrides, &code);
  if (!r.file) return code;
  r.file->options.log_path = w.log;
  if (starts > 0) r.file->options.starts = starts;
  code = check_files(&r, &w);
  if (code == EXIT_GOOD) code = set_guess(&r, w.warm);
  if (code == EXIT_GOOD) code = run_plan(&r);
  carom_plan_file_destroy(r.file);
  if (r.elsewhere || !w.view || (code != EXIT_GOOD && code != EXIT_VERDICT)) return code;
  int viewed = cli_write_replay(r.output, w.page, r.quiet || r.json);
  return viewed == EXIT_GOOD ? code : viewed;
}

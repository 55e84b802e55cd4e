// carom sweep: problem file -> cases -> (process, record) ... -> table, CSV, page -> report.
#include "cli/sweep.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/mpi.h"

// What the command line says.
typedef struct sweep_words {
  const char *problem, *output, *jobs, *case_number, *keep, *border, *tolerance, *delta, *sobol;
  cli_list overrides;
  bool force, resume, failed, view, sensitivity;
  char command[2048], again[2048], results[CLI_PATH], outputs[4][CLI_PATH];  // outputs: table, CSV, page, journal
} sweep_words;

static bool parse(sweep_words *w, cli_sweep_run *run, int argc, char **argv, int *code) {
  const cli_option options[] = {
      {CLI_TEXT, 'o', "output", "FILE.h5", "table (default: the problem's name, here); .csv and .html go beside it",
       &w->output},
      {CLI_FLAG, 'f', "force", NULL, "overwrite files that are there already, and start anew", &w->force},
      {CLI_TEXT, 'j', "jobs", "N", "processes at a time (default: one per processor)", &w->jobs},
      {CLI_FLAG, 0, "resume", NULL, "go on with a sweep that was stopped or killed", &w->resume},
      {CLI_FLAG, 0, "failed", NULL, "run the failed cases of a table once more", &w->failed},
      {CLI_TEXT, 0, "case", "N", "run case N alone and write its result file (-o)", &w->case_number},
      {CLI_TEXT, 0, "keep", "DIR", "keep the result file of every case there", &w->keep},
      {CLI_FLAG, 0, "view", NULL, "with --case or --keep: replay pages as well", &w->view},
      {CLI_LIST, 's', "set", "PATH=VALUE", "override a value of the problem; may be repeated", &w->overrides},
      {CLI_TEXT, 0, "border", "AXIS", "find where success begins and ends along an axis, by bisection", &w->border},
      {CLI_TEXT, 0, "tolerance", "T", "of a border, in parts of the axis (default 0.001)", &w->tolerance},
      {CLI_FLAG, 0, "sensitivity", NULL, "slopes of all outcomes at the centre of the axes", &w->sensitivity},
      {CLI_TEXT, 0, "delta", "D", "of slopes, in parts of an axis (default 0.02)", &w->delta},
      {CLI_TEXT, 0, "sobol", "N", "Sobol indices from N points, N (axes + 2) cases", &w->sobol},
      {CLI_FLAG, 0, "json", NULL, "report as one line of JSON on stdout", &run->json},
      {CLI_FLAG, 'q', "quiet", NULL, "no report and no progress", &run->quiet},
      {CLI_END, 0, NULL, NULL, NULL, NULL},
  };
  const cli_syntax syntax = {
      "sweep",
      "PROBLEM.yaml [OPTIONS]",
      "Runs a scene many times, with values that vary along axes, and writes a table and a page: "
      "rates, maps, curves.\nUnder mpirun, cases are shared out over all ranks.",
      options,
      &w->problem,
      1,
      1};
  cli_command_line(argc, argv, w->command, sizeof w->command);
  return cli_parse(&syntax, argc, argv, code);
}

// ---- words to numbers -----------------------------------------------------------------------------------------------

bool cli_read_whole(const char *verb, const char *text, const char *option, const double range[2], int64_t *value) {
  char *end;
  double number = strtod(text, &end);
  if (end == text || *end || !(number >= range[0] && number <= range[1]) || number != floor(number))
    return cli_error("%s: --%s %s: expected a whole number from %.0f to %.0f", verb, option, text, range[0], range[1]);
  *value = (int64_t)number;
  return true;
}

static bool read_whole(const char *text, const char *option, double least, double most, int64_t *value) {
  return cli_read_whole("sweep", text, option, (const double[2]){least, most}, value);
}

static bool read_share(const char *text, const char *option, double most, double *value) {
  char *end;
  if (!text) return true;
  double number = strtod(text, &end);
  if (end == text || *end || !(number > 0 && number <= most))
    return cli_error("sweep: --%s %s: expected a number above 0, at most %g", option, text, most);
  *value = number;
  return true;
}

bool cli_read_jobs(const char *text, cli_sweep_run *run) {
  // A launcher has shared the processors out already.
  int64_t jobs = run->ranks.count > 1 ? 1 : sysconf(_SC_NPROCESSORS_ONLN);
  if (text && !cli_read_whole(run->verb, text, "jobs", (const double[2]){1, 1024}, &jobs)) return false;
  run->jobs = jobs > 0 ? (int)jobs : 1;
  return true;
}

static bool find_axis(const carom_sweep *sweep, const char *name, int *axis) {
  const char *names[CAROM_MOST_AXES + 1] = {0};
  for (int i = 0; i < sweep->sampling.axis_count; i++) {
    names[i] = sweep->axes[i].name;
    if (strcmp(name, names[i]) == 0) return *axis = i, true;
  }
  const char *nearest = carom_nearest_word(name, names);
  if (nearest) return cli_error("sweep: there is no axis '%s' (did you mean '%s'?)", name, nearest);
  return cli_error("sweep: there is no axis '%s'; the first one is '%s'", name, names[0]);
}

static bool redesign(carom_sweep *sweep, carom_design design, int64_t points) {
  carom_error error = {0};
  if (carom_sweep_redesign(sweep, design, points, &error) == CAROM_OK) return true;
  return cli_error("sweep: %s", error.message);
}

static bool choose_mode(const sweep_words *w, cli_sweep_run *run) {
  int64_t points = 0;
  if ((w->border != NULL) + w->sensitivity + (w->sobol != NULL) > 1)
    return cli_error("sweep: --border, --sensitivity and --sobol exclude each other");
  if ((w->border != NULL) + (w->case_number != NULL) + w->failed > 1)
    return cli_error("sweep: --border, --case and --failed exclude each other");
  if (w->view && !w->keep && !w->case_number) return cli_error("sweep: --view needs --case or --keep");
  run->tolerance = 1e-3;
  if (!read_share(w->tolerance, "tolerance", 0.5, &run->tolerance)) return false;
  if (!read_share(w->delta, "delta", 0.5, &run->sweep->sampling.delta)) return false;
  if (!cli_read_jobs(w->jobs, run)) return false;
  if (w->border) run->mode = CLI_SWEEP_BORDER;
  if (w->sensitivity) run->mode = CLI_SWEEP_SENSITIVITY;
  if (w->sobol) run->mode = CLI_SWEEP_SOBOL;
  if (w->border) return find_axis(run->sweep, w->border, &run->axis);
  if (w->sensitivity) return redesign(run->sweep, CAROM_DESIGN_STAR, 0);
  if (w->sobol)
    return read_whole(w->sobol, "sobol", 2, 1e8, &points) && redesign(run->sweep, CAROM_DESIGN_SOBOL, points);
  return true;
}

// What a command for one case must repeat: overrides of the problem, and the design.
static bool note_options(sweep_words *w) {
  size_t n = 0, size = sizeof w->again;
  for (int i = 0; i < w->overrides.count && n < size; i++)
    n += (size_t)snprintf(w->again + n, size - n, " --set '%s'", w->overrides.items[i]);
  if (w->sobol && n < size) n += (size_t)snprintf(w->again + n, size - n, " --sobol %s", w->sobol);
  if (w->sensitivity && n < size) n += (size_t)snprintf(w->again + n, size - n, " --sensitivity");
  if (w->delta && n < size) n += (size_t)snprintf(w->again + n, size - n, " --delta %s", w->delta);
  return n < size || cli_error("sweep: the command line is too long");
}

// ---- files ----------------------------------------------------------------------------------------------------------

static void choose_outputs(sweep_words *w, const cli_sweep_run *run) {
  static const char *const suffixes[] = {"", "-border", "-sensitivity", "-sobol"};
  static const char *const extensions[] = {".h5", ".csv", ".html", ".journal"};
  for (int i = 0; i < 4; i++) {
    char extension[40];
    snprintf(extension, sizeof extension, "%s%s", w->output ? "" : suffixes[run->mode], extensions[i]);
    cli_replace_extension(w->output ? w->output : w->problem, w->output != NULL, extension, w->outputs[i], CLI_PATH);
  }
  if (w->output) snprintf(w->outputs[0], CLI_PATH, "%s", w->output);
}

// Plans that begin from others need their answers: in the folder that is named, or one beside the table.
static void choose_results(sweep_words *w, cli_sweep_run *run) {
  const char *case_output = w->output;
  if (w->case_number) w->output = NULL;  // the result file of the case, not the table
  choose_outputs(w, run);
  if (!run->keep.folder) run->keep.folder = run->sweep->results;
  if (!run->keep.folder && run->sweep->warm != CAROM_WARM_NONE) {
    cli_replace_extension(w->outputs[0], true, "-results", w->results, sizeof w->results);
    run->keep.folder = w->results;
  }
  w->output = case_output;
}

// Tables and pages that a sweep is asked to go on with are its own.
static int check_files(const sweep_words *w, const cli_sweep_run *run) {
  if (run->ranks.rank > 0) return EXIT_GOOD;
  return cli_check_files(&(cli_files){
      .verb = "sweep",
      .force = w->force || w->failed,
      .inputs = {w->problem},
      .scene = run->sweep->scene,
      .outputs = {{.path = w->outputs[0], .result = true}, {.path = w->outputs[1]}, {.path = w->outputs[2]}}});
}

bool cli_make_folder(const cli_sweep_run *run) {
  struct stat about;
  const char *folder = run->keep.folder;
  if (!folder || mkdir(folder, 0777) == 0) return true;
  if (errno == EEXIST && stat(folder, &about) == 0 && S_ISDIR(about.st_mode)) return true;
  return cli_error("%s: cannot make the folder '%s': %s", run->verb, folder, strerror(errno));
}

static carom_sweep *read_problem(const sweep_words *w, const cli_ranks *ranks) {
  carom_scene_options options = cli_scene_options(&w->overrides);
  carom_diagnostics diagnostics = {0};
  carom_sweep *sweep = NULL;
  cli_ranks_quieten(ranks, true);
  carom_status status = carom_sweep_read(w->problem, &options, NULL, &sweep, &diagnostics);
  cli_print_diagnostics(&diagnostics);
  if (status == CAROM_ERR_SCENE) cli_count_mistakes(w->problem, diagnostics.error_count, CLI_READS_SWEEP);
  if (status == CAROM_ERR_MEMORY) cli_error("out of memory");
  cli_ranks_quieten(ranks, false);
  carom_diagnostics_release(&diagnostics);
  return sweep;
}

// ---- one case -------------------------------------------------------------------------------------------------------

static void print_case(const cli_sweep_run *run, const carom_case *c) {
  const carom_sweep *sweep = run->sweep;
  cli_print(stdout, "%s, case %lld\n", sweep->title, (long long)c->number);
  for (int i = 0; i < sweep->column_count; i++)
    cli_print(stdout, "  %-20s %.10g%s%s\n", sweep->columns[i], c->values[i], sweep->units[i][0] ? " " : "",
              sweep->units[i]);
  cli_print(stdout, "  %-20s %s\n", "class", sweep->classes[c->class_index]);
  if (c->reason[0]) cli_print(stdout, "  %-20s %s\n", "reason", c->reason);
}

static void print_case_json(const cli_sweep_run *run, const carom_case *c, const carom_overrides *o) {
  const carom_sweep *sweep = run->sweep;
  cli_json json = cli_json_begin(stdout);
  CLI_MEMBERS(&json, CLI_T("title", sweep->title), CLI_I("case", c->number),
              CLI_T("class", sweep->classes[c->class_index]));
  for (int i = 0; i < sweep->column_count; i++) cli_json_number(&json, sweep->columns[i], c->values[i]);
  cli_json_open(&json, "set", '[');
  for (int i = 0; i < o->count; i++) cli_json_text(&json, NULL, o->items[i]);
  cli_json_close(&json, ']');
  if (c->reason[0]) cli_json_text(&json, "reason", c->reason);
  cli_json_end(&json);
}

// What is told of a case, with the overrides that make it.
static int report_case(const cli_sweep_run *run, const carom_case *c) {
  carom_overrides o;
  if (run->quiet && !run->json) return EXIT_GOOD;
  if (carom_sweep_overrides(run->sweep, c->number, c->values, NULL, &o) != CAROM_OK)
    return cli_error("out of memory for a report"), EXIT_FAILED;
  if (run->json)
    print_case_json(run, c, &o);
  else
    print_case(run, c);
  for (int i = 0; i < o.count && !run->json; i++) cli_print(stdout, "  --set '%s'\n", o.items[i]);
  carom_overrides_release(&o);
  return EXIT_GOOD;
}

// The kept answer from which the case began in the sweep, as the table tells; false: there is none.
static bool find_neighbour(const sweep_words *w, const cli_sweep_run *run, int64_t number, char path[CLI_CASE_PATH]) {
  carom_cases *cases = NULL;
  if (run->sweep->warm == CAROM_WARM_NONE || !run->keep.folder) return false;
  if (carom_cases_read(run->sweep, w->outputs[0], NULL, &cases, NULL) != CAROM_OK) return false;
  bool whole = cases->count == run->sweep->sampling.count;
  int64_t from = whole ? carom_cases_neighbour(cases, run->sweep, number, -1) : -1;
  carom_cases_destroy(cases);
  if (from >= 0) cli_case_path(&run->keep, from, ".h5", path);
  return from >= 0 && access(path, R_OK) == 0;
}

static int run_one(const sweep_words *w, cli_sweep_run *run) {
  char result[CLI_PATH], page[CLI_PATH], extension[40];
  int64_t number = 0;
  if (!read_whole(w->case_number, "case", 0, (double)(run->sweep->sampling.count - 1), &number)) return EXIT_MISTAKE;
  snprintf(extension, sizeof extension, "-case-%lld.h5", (long long)number);
  cli_replace_extension(w->problem, false, extension, result, sizeof result);
  if (w->output) snprintf(result, sizeof result, "%s", w->output);
  cli_replace_extension(result, true, ".html", page, sizeof page);
  int code =
      cli_check_files(&(cli_files){.verb = "sweep",
                                   .force = w->force,
                                   .inputs = {w->problem},
                                   .scene = run->sweep->scene,
                                   .outputs = {{.path = result, .result = true}, {.path = w->view ? page : NULL}}});
  double *values = calloc((size_t)run->sweep->column_count, sizeof *values);
  carom_case c = {.number = number, .values = values};
  if (values) carom_sampling_inputs(&run->sweep->sampling, number, values);
  char warm[CLI_CASE_PATH];
  cli_case_files files = {result, find_neighbour(w, run, number, warm) ? warm : NULL};
  if (code == EXIT_GOOD) code = values ? cli_run_case(run->sweep, &files, &run->keep, &c) : EXIT_FAILED;
  if (code == EXIT_GOOD) code = report_case(run, &c);
  bool there = code == EXIT_GOOD && access(result, F_OK) == 0;  // a scene that was refused left none
  if (there && !run->json && !run->quiet) cli_print(stdout, "\n  result  %s\n", result);
  if (there && w->view) code = cli_write_replay(result, page, run->quiet || run->json);
  free(values);
  return code;
}

// ---- all cases ------------------------------------------------------------------------------------------------------

// The table of before, without the cases that failed.
static int take_table(const sweep_words *w, cli_sweep_run *run) {
  carom_error error = {0};
  if (carom_cases_read(run->sweep, w->outputs[0], NULL, &run->cases, &error) != CAROM_OK) return cli_fail(&error);
  if (run->cases->count != run->sweep->sampling.count)
    return cli_error("sweep: '%s' is not the table of this design", w->outputs[0]), EXIT_MISTAKE;
  for (int64_t i = 0; i < run->cases->count; i++)
    if (run->cases->classes[i] == run->sweep->class_count - 1) run->cases->classes[i] = -1;
  return EXIT_GOOD;
}

// The table, or the search that makes one.
static int prepare(const sweep_words *w, cli_sweep_run *run) {
  carom_error error = {0};
  if (w->failed) return take_table(w, run);
  if (run->mode == CLI_SWEEP_BORDER) {
    if (carom_border_create(run->sweep, run->axis, run->tolerance, NULL, &run->border, &error) == CAROM_OK)
      return EXIT_GOOD;
    return cli_error("sweep: %s", error.message), EXIT_MISTAKE;
  }
  if (carom_cases_create(run->sweep, run->sweep->sampling.count, NULL, &run->cases, &error) == CAROM_OK)
    return EXIT_GOOD;
  return cli_fail(&error);
}

static int search_border(cli_sweep_run *run) {
  int code = EXIT_GOOD;
  while (code == EXIT_GOOD) {
    int64_t count = carom_border_next(run->border);
    run->cases = carom_border_cases(run->border);
    if (count < 0) return cli_error("sweep: out of memory for the cases of a border"), EXIT_FAILED;
    if (count == 0) break;
    code = cli_farm_run(run, run->cases, carom_border_first(run->border), count);
  }
  return code;
}

// Plans that begin from others wait for those.
static int run_waves(cli_sweep_run *run) {
  int waves = 0, code = EXIT_GOOD;
  if (run->sweep->warm == CAROM_WARM_NONE) return cli_farm_run(run, run->cases, 0, run->cases->count);
  for (int64_t i = 0; i < run->cases->count; i++) {
    int wave = carom_sweep_wave(run->sweep, i) + 1;
    waves = wave > waves ? wave : waves;
  }
  for (run->wave = 1; code == EXIT_GOOD && run->wave <= waves; run->wave++)
    code = cli_farm_run(run, run->cases, 0, run->cases->count);
  return code;
}

int cli_write_tables(const cli_sweep_run *run, const char *table, const char *csv) {
  carom_error error = {0};
  carom_status status = carom_cases_write(run->cases, run->sweep, table, &error);
  if (status == CAROM_OK) status = carom_cases_write_csv(run->cases, run->sweep, csv, &error);
  return status == CAROM_OK ? EXIT_GOOD : cli_fail(&error);
}

static int write_outputs(const sweep_words *w, const cli_sweep_run *run) {
  int code = cli_write_tables(run, w->outputs[0], w->outputs[1]);
  return code == EXIT_GOOD ? cli_sweep_write_page(run, w->outputs[2]) : code;
}

static int run_all(const sweep_words *w, cli_sweep_run *run) {
  cli_journal journal;
  int code = prepare(w, run);
  if (code != EXIT_GOOD) return code;
  if (!cli_journal_open(&journal, run, w->outputs[3], w->resume, w->force)) return EXIT_FAILED;
  run->journal = &journal;
  run->progress = cli_progress_begin(run->sweep->title, run->quiet || run->json);
  code = run->border ? search_border(run) : run_waves(run);
  cli_progress_end(&run->progress);
  run->wall = carom_clock() - run->progress.start;
  if (code == EXIT_GOOD) code = write_outputs(w, run);
  cli_journal_close(&journal, code == EXIT_GOOD);
  run->journal = NULL;
  if (code == EXIT_INTERRUPTED)
    cli_error("sweep: interrupted; %s holds what was done: go on with --resume", w->outputs[3]);
  const char *const outputs[3] = {w->outputs[0], w->outputs[1], w->outputs[2]};
  if (code == EXIT_GOOD && run->json) cli_sweep_print_json(run, outputs);
  if (code == EXIT_GOOD && !run->json && !run->quiet) cli_sweep_print(run, outputs);
  return code;
}

// ---- the verb -------------------------------------------------------------------------------------------------------

static int sweep_with(const sweep_words *w, cli_sweep_run *run) {
  int code = EXIT_GOOD;
  if (w->case_number) return run->ranks.rank == 0 ? run_one(w, run) : EXIT_GOOD;
  if (!cli_farm_open(run)) code = EXIT_FAILED;
  if (code == EXIT_GOOD) code = run->ranks.rank > 0 ? cli_farm_serve(run) : run_all(w, run);
  cli_farm_close(run);
  if (run->border)
    carom_border_destroy(run->border);
  else
    carom_cases_destroy(run->cases);
  return code;
}

int cli_sweep(int argc, char **argv) {
  sweep_words w = {0};
  cli_sweep_run run = {.verb = "sweep", .again = "--resume"};
  int code;
  if (!parse(&w, &run, argc, argv, &code)) return code;
  if (!cli_ranks_greet(&run.ranks)) return EXIT_FAILED;
  run.keep = (cli_keep){w.keep, w.view, w.force || w.resume || w.failed, w.command};
  run.options = w.again;
  run.sweep = read_problem(&w, &run.ranks);
  code = run.sweep ? EXIT_GOOD : EXIT_MISTAKE;
  if (code == EXIT_GOOD && !(choose_mode(&w, &run) && note_options(&w))) code = EXIT_MISTAKE;
  if (code == EXIT_GOOD) choose_results(&w, &run);
  if (code == EXIT_GOOD && !w.case_number) {
    code = check_files(&w, &run);
    if (code == EXIT_GOOD && run.ranks.rank == 0 && !cli_make_folder(&run)) code = EXIT_FAILED;
  }
  code = cli_ranks_follow(&run.ranks, code);
  if (code == EXIT_GOOD) cli_catch_interrupts();
  if (code == EXIT_GOOD) code = sweep_with(&w, &run);
  carom_sweep_destroy(run.sweep);
  if (run.ranks.count > 1) carom_ranks_end();
  return code;
}

// carom push fit: problem file with recorded pushes -> parameters with intervals -> report, YAML.
#include <math.h>

#include "cli/push.h"
#include "cli/sweep.h"

typedef struct fit_words {
  const char *problem, *output, *jobs, *starts, *seed, *replicates;
  cli_list overrides;
  bool force, json, quiet;
  char command[2048], path[CLI_PATH];
} fit_words;

static bool parse(fit_words *w, int argc, char **argv, int *code) {
  const cli_option options[] = {
      {CLI_TEXT, 'o', "output", "FILE.yaml", "what was found (default: the problem's name with .fit.yaml, here)",
       &w->output},
      {CLI_FLAG, 'f', "force", NULL, "overwrite a file that is there already", &w->force},
      {CLI_TEXT, 'j', "jobs", "N", "threads (default: one per processor); the answer is the same for any number",
       &w->jobs},
      {CLI_TEXT, 0, "starts", "N", "searches from so many more places", &w->starts},
      {CLI_TEXT, 0, "seed", "N", "of starts and replicates", &w->seed},
      {CLI_TEXT, 0, "replicates", "N", "fits to pushes drawn anew, for the intervals; 0: no intervals", &w->replicates},
      {CLI_LIST, 's', "set", "PATH=VALUE", "override a value of the problem; may be repeated", &w->overrides},
      {CLI_FLAG, 0, "json", NULL, "report as one line of JSON on stdout", &w->json},
      {CLI_FLAG, 'q', "quiet", NULL, "no report and no progress", &w->quiet},
      {CLI_END, 0, NULL, NULL, NULL, NULL},
  };
  const cli_syntax syntax = {"push fit",
                             "PROBLEM.yaml [OPTIONS]",
                             "Finds the support and the friction with which pushes that were recorded come out as they "
                             "did: the least\nlargest deviation, with intervals by the bootstrap.",
                             options,
                             &w->problem,
                             1,
                             1};
  cli_command_line(argc + 1, argv - 1, w->command, sizeof w->command);  // with the word 'push' before
  return cli_parse(&syntax, argc, argv, code);
}

static bool read_numbers(const fit_words *w, carom_push_fit_def *d) {
  int64_t jobs = d->threads, starts = d->starts, seed = (int64_t)d->seed, replicates = d->replicates;
  const char *verb = "push fit";
  if (w->jobs && !cli_read_whole(verb, w->jobs, "jobs", (const double[2]){1, 1024}, &jobs)) return false;
  if (w->starts && !cli_read_whole(verb, w->starts, "starts", (const double[2]){0, 10000}, &starts)) return false;
  if (w->seed && !cli_read_whole(verb, w->seed, "seed", (const double[2]){0, 9e15}, &seed)) return false;
  if (w->replicates && !cli_read_whole(verb, w->replicates, "replicates", (const double[2]){0, 1e5}, &replicates))
    return false;
  d->threads = (int)jobs, d->starts = (int)starts, d->seed = (uint64_t)seed, d->replicates = (int)replicates;
  return true;
}

// ---- what is told ---------------------------------------------------------------------------------------------------

static const char *group_name(const carom_push_fit_def *d, int group, char *text, size_t size) {
  if (d->groups[group].name) return d->groups[group].name;
  snprintf(text, size, "%d", group + 1);
  return text;
}

static void print_parameters(const carom_push_fit_def *d, const carom_push_fit *fit) {
  cli_print(stdout, "  %-24s %14s", "", "fitted");
  if (fit->replicates > 0) cli_print(stdout, " %12.3g %% of fits within", 100 * d->confidence);
  cli_print(stdout, "\n");
  for (int i = 0; i < fit->parameter_count; i++) {
    const carom_push_parameter *p = &fit->parameters[i];
    cli_print(stdout, "  %-24s %14.6g", p->name, p->value);
    if (fit->replicates > 0) cli_print(stdout, "   %.5g to %.5g", p->low, p->high);
    cli_print(stdout, "%s\n", p->identified ? "" : "   not told by these pushes");
  }
}

static void print_fit(const fit_words *w, const carom_push_fit_def *d, const carom_push_fit *fit, const char *title) {
  cli_print(stdout, "%s\n  %d push%s, support %s\n\n", title, d->record_count, d->record_count == 1 ? "" : "es",
            carom_push_support_name(d->support));
  print_parameters(d, fit);
  cli_print(stdout, "\n  damping  about the centre of mass, along the body's axes%s\n",
            fit->scale_known ? "" : "; known up to a factor, given with the scene's");
  for (int i = 0; i < 3; i++)
    cli_print(stdout, "           %13.6g %13.6g %13.6g   (%s)\n", fit->damping[i][0], fit->damping[i][1],
              fit->damping[i][2], i < 2 ? "N s/m, N s/m, N s" : "N s, N s, N m s");
  cli_print(stdout, "  residual largest %.4g, root mean square %.4g (m over %.4g m, rad); largest at %s, sample %d\n",
            fit->residual, fit->rms, fit->length,
            d->records[fit->worst_record].name ? d->records[fit->worst_record].name : "a push", fit->worst_sample + 1);
  cli_print(stdout, "  work     %d simulations of all pushes (%d came to no end), %d replicates%s\n", fit->evaluations,
            fit->failures, fit->replicates, fit->within_budget ? "" : "; the budget was spent");
  cli_print(stdout, "  written  %s\n", w->path);
}

static void json_parameters(cli_json *json, const carom_push_fit *fit) {
  cli_json_open(json, "parameters", '[');
  for (int i = 0; i < fit->parameter_count; i++) {
    const carom_push_parameter *p = &fit->parameters[i];
    cli_json_open(json, NULL, '{');
    CLI_MEMBERS(json, CLI_T("name", p->name), CLI_N("value", p->value), CLI_N("low", p->low), CLI_N("high", p->high),
                CLI_B("identified", p->identified));
    cli_json_close(json, '}');
  }
  cli_json_close(json, ']');
}

static void print_json(const fit_words *w, const carom_push_fit_def *d, const carom_push_fit *fit) {
  cli_json json = cli_json_begin(stdout);
  char room[16];
  CLI_MEMBERS(&json, CLI_T("support", carom_push_support_name(d->support)), CLI_I("records", d->record_count),
              CLI_N("residual", fit->residual), CLI_N("rms", fit->rms), CLI_N("length", fit->length),
              CLI_B("scale_known", fit->scale_known), CLI_I("evaluations", fit->evaluations),
              CLI_I("failures", fit->failures), CLI_I("replicates", fit->replicates), CLI_T("output", w->path));
  json_parameters(&json, fit);
  cli_json_open(&json, "damping", '[');
  for (int i = 0; i < 9; i++) cli_json_number(&json, NULL, fit->damping[i / 3][i % 3]);
  cli_json_close(&json, ']');
  cli_json_open(&json, "mu", '{');
  for (int i = 0; i < d->group_count; i++) cli_json_number(&json, group_name(d, i, room, sizeof room), fit->mu[i]);
  cli_json_close(&json, '}');
  cli_json_end(&json);
}

// As a scene writes it, so that it can be copied into one.
static int write_fit(const fit_words *w, const carom_push_fit_def *d, const carom_push_fit *fit) {
  cli_page to;
  char room[16];
  if (!cli_page_begin(&to)) return EXIT_FAILED;
  fputs("# made by carom push fit\n", to.out);
  cli_put_escaped(to.out, "# %s\n", w->command, NULL);
  if (!fit->scale_known) fputs("# the support is known up to a factor\n", to.out);
  fputs("support:\n  damping:\n", to.out);
  for (int i = 0; i < 3; i++)
    fprintf(to.out, "    - [%.12g, %.12g, %.12g]\n", fit->damping[i][0], fit->damping[i][1], fit->damping[i][2]);
  if (d->group_count > 0) fputs("friction:\n", to.out);
  for (int i = 0; i < d->group_count; i++) {
    cli_put_escaped(to.out, "  \"%s\": ", group_name(d, i, room, sizeof room), "\"\\");
    fprintf(to.out, "%.12g\n", fit->mu[i]);
  }
  fprintf(to.out, "residual: %.9g  # m over %.9g m, rad\nparameters:\n", fit->residual, fit->length);
  for (int i = 0; i < fit->parameter_count; i++) {
    const carom_push_parameter *p = &fit->parameters[i];
    cli_put_escaped(to.out, "  - {name: \"%s\", ", p->name, "\"\\");
    fprintf(to.out, "value: %.12g, low: %.9g, high: %.9g, identified: %s}\n", p->value, p->low, p->high,
            p->identified ? "true" : "false");
  }
  return cli_page_end(&to, w->path);
}

// ---- the verb -------------------------------------------------------------------------------------------------------

static int fit_file(const fit_words *w, carom_push_file *file) {
  carom_push_fit fit = {0};
  carom_error error;
  cli_progress progress = cli_progress_begin(file->title, w->quiet || w->json);
  file->fit.progress = cli_progress_callback(&progress);
  carom_status status = carom_push_fit_run(&file->fit, NULL, &fit, &error);
  cli_progress_end(&progress);
  bool interrupted = status == CAROM_INTERRUPTED;
  if (interrupted && fit.parameter_count == 0)
    return cli_error("push fit: interrupted before there was anything to keep"), EXIT_INTERRUPTED;
  if (status != CAROM_OK && !interrupted) {
    cli_error("push fit: %s", error.message);
    return status == CAROM_ERR_ARGUMENT || status == CAROM_ERR_NUMBER ? EXIT_MISTAKE : EXIT_FAILED;
  }
  int code = write_fit(w, &file->fit, &fit);
  if (code == EXIT_GOOD && w->json) print_json(w, &file->fit, &fit);
  if (code == EXIT_GOOD && !w->json && !w->quiet) print_fit(w, &file->fit, &fit, file->title);
  if (interrupted) cli_error("push fit: interrupted; the intervals rest on %d replicates", fit.replicates);
  return interrupted ? EXIT_INTERRUPTED : code;
}

static int check_files(const fit_words *w, const carom_push_file *file) {
  return cli_check_files(&(cli_files){.verb = "push fit",
                                      .force = w->force,
                                      .inputs = {w->problem, file->records},
                                      .scene = file->scene,
                                      .outputs = {{.path = w->path}}});
}

int cli_push_fit(int argc, char **argv) {
  fit_words w = {0};
  int code;
  if (!parse(&w, argc, argv, &code)) return code;
  cli_replace_extension(w.problem, false, ".fit.yaml", w.path, sizeof w.path);
  if (w.output) snprintf(w.path, sizeof w.path, "%s", w.output);
  carom_push_file *file = cli_push_read("push fit", w.problem, &w.overrides);
  if (!file) return EXIT_MISTAKE;
  code = EXIT_MISTAKE;
  if (!file->fits)
    cli_error("push fit: %s has no 'fit': which pushes were recorded?", w.problem);
  else if (read_numbers(&w, &file->fit))
    code = check_files(&w, file);
  if (code == EXIT_GOOD) cli_catch_interrupts();
  if (code == EXIT_GOOD) code = fit_file(&w, file);
  carom_push_file_destroy(file);
  return code;
}

// carom run: scene file -> model -> state -> (control -> step -> sense -> audit) ... -> recorder -> result file ->
// report.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/dump.h"
#include "cli/mpi.h"

// Everything that is alive during a run.
typedef struct run {
  const carom_scene *scene;
  const cli_run_settings *settings;
  carom_state *state;
  carom_stepper *stepper;
  carom_loop *loop;
  carom_audit *audit;
  carom_recorder *recorder;  // null when nothing is written
  int64_t steps, steps_per_frame;
  int frames;
  int worst_iterations, worst_halvings;
  int64_t collisions;
  carom_mat3 *moments;  // (body_count) of the last step, for the record
  double wall, last_checkpoint, last_frame;
  double checkpoint_cost;  // s that the last one took
  bool hasty;              // ended within a step
  carom_verdict verdict;
} run;

// Those after the time, which frames have anyway.
static int channel_count(const run *r) { return carom_loop_channel_count(r->loop) - 1; }

static carom_status record(run *r, carom_error *error) {
  if (!r->recorder) return CAROM_OK;
  carom_audit_frame(r->audit);
  carom_audit_sample sample = carom_audit_latest(r->audit);
  r->frames++;
  r->last_frame = r->state->time;
  carom_status status = CAROM_OK;
  if (r->moments && carom_stepper_contact_moments(r->stepper, r->moments))
    status = carom_recorder_moments(r->recorder, r->moments, error);
  if (status == CAROM_OK && channel_count(r) > 0)
    status = carom_recorder_channels(r->recorder, carom_loop_values(r->loop) + 1, error);
  return status != CAROM_OK ? status : carom_recorder_frame(r->recorder, r->state, &sample, error);
}

// So that the run can be continued from here.
static carom_status checkpoint(run *r, carom_error *error) {
  if (!r->recorder) return CAROM_OK;
  double start = carom_clock();
  size_t size = carom_stepper_memory(r->stepper, NULL, 0);
  void *memory = malloc(size > 0 ? size : 1);
  r->last_checkpoint = start;
  if (!memory) return CAROM_OK;  // the record itself matters more; the next one may find room
  carom_stepper_memory(r->stepper, memory, size);
  carom_status status = carom_recorder_checkpoint(r->recorder, r->state, memory, size, error);
  free(memory);
  r->last_checkpoint = carom_clock();
  r->checkpoint_cost = r->last_checkpoint - start;
  return status;
}

// The clock counts steps, so these must be as long as before; and some must be left.
static carom_status check_clock(const run *r, const carom_result *before, carom_error *error) {
  const char *path = r->settings->resume;
  double h = r->scene->step.step;
  if (fabs(before->step - h) > 1e-12 * h)
    return carom_fail(error, CAROM_ERR_ARGUMENT,
                      "'%s' was run with a step of %g s, not %g s; continue it with --step %g", path, before->step, h,
                      before->step);
  if (r->state->step >= r->steps)
    return carom_fail(error, CAROM_ERR_ARGUMENT, "'%s' has come to t = %g s already; give a longer --duration", path,
                      r->state->time);
  return CAROM_OK;
}

static carom_status read_checkpoint(run *r, carom_error *error) {
  carom_result *before = NULL;
  const void *memory = NULL;
  size_t size = 0;
  carom_status status = carom_result_open(r->settings->resume, NULL, &before, error);
  if (status == CAROM_OK) status = carom_result_checkpoint(before, r->state, &memory, &size, error);
  if (status == CAROM_OK) status = check_clock(r, before, error);
  if (status == CAROM_OK) status = carom_stepper_recall(r->stepper, memory, size, error);
  carom_result_close(before);
  return status;
}

static void try_checkpoint(void *context) {
  carom_error ignored;
  (void)read_checkpoint(context, &ignored);
}

// Goes on from where another run ended or was stopped.
static carom_status take_up(run *r, carom_error *error) {
  if (!r->settings->resume) return CAROM_OK;
  if (!cli_survives(r->settings->resume, try_checkpoint, r))
    return carom_fail(error, CAROM_ERR_FORMAT, "cannot go on from '%s'", r->settings->resume);
  return read_checkpoint(r, error);
}

static void tell(void *context, carom_log_level level, const char *message) {
  (void)context, (void)level;
  cli_error("%s", message);
}

static carom_status set_up(run *r, carom_error *error) {
  const carom_scene *scene = r->scene;
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  carom_recorder_options options = {.overwrite = r->settings->overwrite, .command = r->settings->command, .host = host};
  options.log.write = tell;
  carom_status status = carom_state_clone(scene->state, NULL, &r->state, error);
  if (status == CAROM_OK) status = carom_stepper_create(scene->model, &scene->step, NULL, &r->stepper, error);
  if (status == CAROM_OK)
    status = carom_loop_create(scene->loop, scene->model, scene->step.step, NULL, &r->loop, error);
  if (status == CAROM_OK) status = carom_loop_begin(r->loop, r->state, error);
  if (status == CAROM_OK) status = carom_loop_attach(r->loop, r->stepper, error);
  if (status == CAROM_OK) status = take_up(r, error);
  if (status == CAROM_OK) status = carom_audit_create(scene->model, r->state, NULL, &r->audit, error);
  if (r->loop) options.channels = carom_loop_channels(r->loop) + 1, options.channel_count = channel_count(r);
  if (status == CAROM_OK && r->settings->output)
    status = carom_recorder_open(r->settings->output, scene, &options, NULL, &r->recorder, error);
  if (status == CAROM_OK && r->recorder) r->moments = malloc((size_t)scene->model->body_count * sizeof *r->moments);
  if (status == CAROM_OK) status = record(r, error);
  return status;
}

// Impacts are told whenever they come; contacts that last, only with the frames.
static carom_status record_events(run *r, const carom_step_report *report, bool frame_due, carom_error *error) {
  carom_status status = CAROM_OK;
  if (!r->recorder) return status;
  for (int i = 0; i < report->event_count && status == CAROM_OK; i++)
    if (frame_due || report->events[i].kind != CAROM_EVENT_CONTACT)
      status = carom_recorder_events(r->recorder, &report->events[i], 1, error);
  return status;
}

static carom_status one_step(run *r, carom_error *error) {
  carom_step_report report;
  cli_ranks_enter_step(&r->settings->ranks);
  carom_status status = carom_stepper_step(r->stepper, r->state, &report, error);
  cli_ranks_leave_step(&r->settings->ranks);
  if (status == CAROM_OK) status = carom_loop_sense(r->loop, r->state, &report, error);
  if (status != CAROM_OK) return status;
  carom_audit_step(r->audit, r->state, &report);
  if (report.iterations > r->worst_iterations) r->worst_iterations = report.iterations;
  if (report.halvings > r->worst_halvings) r->worst_halvings = report.halvings;
  bool frame_due = r->state->step % r->steps_per_frame == 0 || r->state->step == r->steps;
  r->collisions += report.collisions;
  status = record_events(r, &report, frame_due, error);
  return status == CAROM_OK && frame_due ? record(r, error) : status;
}

// Whether all ranks go on.
static carom_status agree(run *r, carom_status status, carom_error *error) {
  cli_ranks_enter_step(&r->settings->ranks);
  status = cli_ranks_agree(&r->settings->ranks, status, error);
  cli_ranks_leave_step(&r->settings->ranks);
  return status;
}

// A run that is killed loses a second, or twenty times as long as a checkpoint takes where that is longer.
static bool checkpoint_is_due(const run *r) {
  return carom_clock() - r->last_checkpoint > fmax(1, 20 * r->checkpoint_cost);
}

static carom_status march(run *r, carom_error *error) {
  cli_progress progress = cli_progress_begin(r->scene->title, r->settings->quiet);
  carom_status status = checkpoint(r, error);
  while (r->state->step < r->steps && status == CAROM_OK) {
    status = one_step(r, error);
    if (status == CAROM_OK && checkpoint_is_due(r)) status = checkpoint(r, error);
    if (cli_interrupted()) status = status == CAROM_OK ? CAROM_INTERRUPTED : status;
    status = agree(r, status, error);
    char detail[64];
    snprintf(detail, sizeof detail, "t = %.3g s", r->state->time);
    cli_progress_show(&progress, (double)r->state->step, (double)r->steps, detail);
  }
  cli_progress_end(&progress);
  r->wall = carom_clock() - progress.start;
  return status;
}

// The verdict and the ending go into the file even when the run failed: what there is, is kept.
static carom_status close_books(run *r, carom_status status, carom_error *error) {
  char ending[1100] = "complete", reason[1100];
  r->verdict = carom_audit_judge(r->audit, &r->scene->bounds);
  if (status == CAROM_INTERRUPTED) snprintf(ending, sizeof ending, "interrupted");
  if (status != CAROM_OK && status != CAROM_INTERRUPTED) snprintf(ending, sizeof ending, "failed: %s", error->message);
  snprintf(reason, sizeof reason, "the run ended at t = %g s of %g s: %.900s", r->state->time, r->scene->duration,
           ending);
  if (status != CAROM_OK) carom_verdict_cut_short(&r->verdict, reason);
  if (!r->recorder) return status;
  carom_error closing = {0};
  // A step that failed has left the state as it was: the last good one, for `carom explain`.
  carom_status closed = CAROM_OK;
  if (!r->hasty && r->last_frame < r->state->time) closed = record(r, &closing);
  if (!r->hasty && closed == CAROM_OK) closed = checkpoint(r, &closing);
  if (closed == CAROM_OK) closed = carom_recorder_finish(r->recorder, &r->verdict, ending, &closing);
  if (closed == CAROM_OK || status < 0) return status;
  *error = closing;
  return closed;
}

// What is left to do when this rank is ended in the middle of a step: see cli_ranks_watch.
static void close_in_haste(void *context) {
  run *r = context;
  carom_error error = {.status = CAROM_ERR_IO};
  snprintf(error.message, sizeof error.message,
           "ended within a step of %d ranks: one of them died, or the run was cancelled", r->settings->ranks.count);
  if (r->settings->ranks.rank > 0) return;
  r->hasty = true;
  close_books(r, CAROM_ERR_IO, &error);  // without a checkpoint: the state is half way
  carom_recorder_close(r->recorder);
  cli_error("%s; %s holds everything up to t = %g s", error.message,
            r->settings->output ? r->settings->output : "no file", r->last_frame);
}

static void tear_down(run *r) {
  carom_recorder_close(r->recorder);
  free(r->moments);
  carom_audit_destroy(r->audit);
  carom_stepper_destroy(r->stepper);
  carom_loop_destroy(r->loop);
  carom_state_destroy(r->state);
}

// ---- reports ------------------------------------------------------------------------------------------------

// " (midpoint)" where it is honoured.
static const char *quadrature_note(const carom_step_options *options) {
  if (!carom_integrator_takes(carom_integrator_find(options->integrator), CAROM_OPTION_QUADRATURE, NULL)) return "";
  return options->quadrature == CAROM_QUADRATURE_MIDPOINT ? " (midpoint)" : " (endpoint)";
}

static double file_megabytes(const char *path) {
  struct stat about;
  return stat(path, &about) == 0 ? (double)about.st_size / 1e6 : 0;
}

static void print_report(const run *r, carom_status status) {
  const carom_scene *scene = r->scene;
  double simulated = r->state->time - scene->state->time;
  cli_print(stdout, "%s\n", scene->title);
  char solids[120] = "";
  const carom_model *m = scene->model;
  if (m->solid_count > 0)
    snprintf(solids, sizeof solids, ", %d solids of %d tetrahedra (%d nodes)", m->solid_count, m->tet_count,
             m->node_count);
  cli_print(stdout, "  %lld steps of %g s by %s%s, %d bodies%s; %g s in %.3g s (%.3g x real time)\n",
            (long long)r->state->step, scene->step.step, scene->step.integrator, quadrature_note(&scene->step),
            m->body_count, solids, simulated, r->wall, r->wall > 0 ? simulated / r->wall : 0);
  if (scene->choice[0]) cli_print(stdout, "  %s, since %s\n", scene->step.integrator, scene->choice);
  int parts = carom_step_parts(m, &scene->step);
  if (parts > 1) cli_print(stdout, "  every step in %d parts, so that %s\n", parts, cli_why_parts(m));
  cli_print(stdout, "\n");
  cli_print_verdict(&r->verdict, stdout);
  if (r->collisions > 0) cli_print(stdout, "  %lld collisions\n", (long long)r->collisions);
  if (r->worst_halvings > 0)
    cli_print(stdout, "  note: some steps were split into up to %d parts\n", 1 << r->worst_halvings);
  if (status == CAROM_INTERRUPTED)
    cli_print(stdout, "  note: interrupted at t = %g s; everything up to there is kept\n", r->state->time);
  if (r->settings->output && status >= 0 && file_megabytes(r->settings->output) > 0)  // it may have been moved
    cli_print(stdout, "\n  result  %s (%d frames, %.3g MB)\n", r->settings->output, r->frames,
              file_megabytes(r->settings->output));
  if (r->settings->output && status < 0 && file_megabytes(r->settings->output) > 0)
    cli_print(stdout, "\n  result  %s holds what was done before the failure\n", r->settings->output);
}

static void print_json(const run *r, carom_status status) {
  char hash[32];
  snprintf(hash, sizeof hash, "%016llx", (unsigned long long)carom_state_hash(r->state));
  cli_json json = cli_json_begin(stdout);
  cli_json_text(&json, "title", r->scene->title);
  cli_json_text(&json, "ending",
                status == CAROM_OK            ? "complete"
                : status == CAROM_INTERRUPTED ? "interrupted"
                                              : "failed");
  cli_json_text(&json, "integrator", r->scene->step.integrator);
  if (r->scene->choice[0]) cli_json_text(&json, "integrator_choice", r->scene->choice);
  cli_json_integer(&json, "bodies", r->scene->model->body_count);
  if (r->scene->model->solid_count > 0) {
    cli_json_integer(&json, "solids", r->scene->model->solid_count);
    cli_json_integer(&json, "nodes", r->scene->model->node_count);
    cli_json_integer(&json, "tetrahedra", r->scene->model->tet_count);
  }
  cli_json_integer(&json, "steps", r->state->step);
  cli_json_number(&json, "time", r->state->time);
  cli_json_number(&json, "wall", r->wall);
  cli_json_integer(&json, "frames", r->frames);
  cli_json_integer(&json, "iterations", r->worst_iterations);
  cli_json_integer(&json, "halvings", r->worst_halvings);
  cli_json_integer(&json, "collisions", r->collisions);
  cli_json_text(&json, "state_hash", hash);
  if (r->settings->output) cli_json_text(&json, "result", r->settings->output);
  cli_json_verdict(&json, &r->verdict);
  cli_json_end(&json);
}

// Whether an audit that was asked for could not be made. The motion is whole and kept.
static bool audit_is_missing(const run *r) {
  if (r->verdict.outcome != CAROM_VERDICT_INCOMPLETE || r->steps == 0) return false;
  cli_error("the run is complete, but its audit is not: %s", r->verdict.reason);
  return true;
}

int cli_run_scene(const carom_scene *scene, const cli_run_settings *settings) {
  cli_catch_interrupts();
  run r = {.scene = scene, .settings = settings};
  r.steps = (int64_t)llround(scene->duration / scene->step.step);
  r.steps_per_frame = (int64_t)llround(scene->frame_interval / scene->step.step);
  if (r.steps_per_frame < 1) r.steps_per_frame = 1;
  carom_error error = {0};
  carom_status status = set_up(&r, &error);
  if (status == CAROM_OK) status = cli_ranks_watch(&settings->ranks, close_in_haste, &r, &error);
  status = cli_ranks_agree(&settings->ranks, status, &error);
  bool started = status == CAROM_OK;
  if (started) status = close_books(&r, march(&r, &error), &error);
  if (started) status = agree(&r, status, &error);
  carom_recorder_close(r.recorder);  // closed before its size is told
  r.recorder = NULL;
  if (started && settings->json) print_json(&r, status);
  if (started && !settings->json && !settings->quiet) print_report(&r, status);
  int code = status == CAROM_OK ? EXIT_GOOD : status == CAROM_INTERRUPTED ? EXIT_INTERRUPTED : cli_fail(&error);
  if (code == EXIT_GOOD && audit_is_missing(&r)) code = EXIT_FAILED;
  if (code == EXIT_GOOD && settings->strict && !r.verdict.pass) code = EXIT_VERDICT;
  tear_down(&r);
  return code;
}

// ---- the verb -----------------------------------------------------------------------------------------------

// What the command line says.
typedef struct run_words {
  const char *scene, *output, *integrator, *step, *duration, *threads, *solver;
  cli_list overrides;
  bool dry, view, separate;
  cli_dump problems;
  cli_run_settings settings;
  char text[6][512], command[2048], default_output[CLI_PATH], page[CLI_PATH];
} run_words;

static bool parse(run_words *w, int argc, char **argv, int *code) {
  const cli_option options[] = {
      {CLI_TEXT, 'o', "output", "FILE", "result file (default: the scene's name with .h5, here)", &w->output},
      {CLI_FLAG, 'f', "force", NULL, "overwrite files that are there already", &w->settings.overwrite},
      {CLI_FLAG, 0, "no-output", NULL, "write no result file", &w->dry},
      {CLI_FLAG, 0, "view", NULL, "write the replay page as well", &w->view},
      {CLI_LIST, 's', "set", "PATH=VALUE", "override a value of the scene; may be repeated", &w->overrides},
      {CLI_TEXT, 0, "integrator", "NAME", "same as --set integrator.name=NAME", &w->integrator},
      {CLI_TEXT, 0, "step", "H", "same as --set integrator.step=H", &w->step},
      {CLI_FLAG, 0, "separate", NULL, "same as --set start.overlap=separate: move apart what overlaps", &w->separate},
      {CLI_TEXT, 0, "duration", "T", "same as --set duration=T", &w->duration},
      {CLI_TEXT, 'j', "threads", "N", "same as --set integrator.threads=N (0: all processors)", &w->threads},
      {CLI_TEXT, 0, "continue", "RESULT.h5", "go on from the last checkpoint of another run", &w->settings.resume},
      {CLI_TEXT, 0, "solver", "NAME", "same as --set integrator.solver=NAME", &w->solver},
      {CLI_TEXT, 0, "dump-contact-problems", "DIR", "write each contact problem of moreau as a file",
       &w->problems.folder},
      {CLI_FLAG, 0, "strict", NULL, "exit with 3 when the audit does not pass", &w->settings.strict},
      {CLI_FLAG, 0, "json", NULL, "report as one line of JSON on stdout", &w->settings.json},
      {CLI_FLAG, 'q', "quiet", NULL, "no report and no progress", &w->settings.quiet},
      {CLI_END, 0, NULL, NULL, NULL, NULL},
  };
  const cli_syntax syntax = {"run",
                             "SCENE.yaml [OPTIONS]",
                             "Runs a scene, audits every step, and writes a result file that 'carom view', 'info' and "
                             "'export' read.",
                             options,
                             &w->scene,
                             1,
                             1};
  cli_command_line(argc, argv, w->command, sizeof w->command);
  w->settings.command = w->command;
  return cli_parse(&syntax, argc, argv, code);
}

// Options that are short for an override.
static bool expand(run_words *w) {
  const struct {
    const char *key, *value;
  } pairs[] = {{"integrator.name", w->integrator}, {"integrator.step", w->step},
               {"duration", w->duration},          {"integrator.threads", w->threads},
               {"integrator.solver", w->solver},   {"start.overlap", w->separate ? "separate" : NULL}};
  for (int i = 0; i < 6; i++) {
    if (!pairs[i].value) continue;
    int length = snprintf(w->text[i], sizeof w->text[i], "%s=%s", pairs[i].key, pairs[i].value);
    if (length >= (int)sizeof w->text[i]) return cli_error("run: too long: %.40s...", w->text[i]), false;
    w->overrides.items[w->overrides.count++] = w->text[i];
  }
  return true;
}

// The first rank writes; all others only compute.
static void choose_outputs(run_words *w) {
  if (w->settings.ranks.rank > 0) w->dry = w->settings.quiet = true, w->problems.folder = NULL;
  cli_replace_extension(w->scene, false, ".h5", w->default_output, sizeof w->default_output);
  w->settings.output = w->dry ? NULL : w->output ? w->output : w->default_output;
  if (!w->settings.output) w->view = false;
  if (w->view) cli_replace_extension(w->settings.output, true, ".html", w->page, sizeof w->page);
}

static int check_files(const run_words *w, const carom_scene *scene) {
  return cli_check_files(
      &(cli_files){.verb = "run",
                   .force = w->settings.overwrite,
                   .inputs = {w->settings.resume},
                   .scene = scene,
                   .outputs = {{.path = w->settings.output, .result = true}, {.path = w->view ? w->page : NULL}}});
}

// Only the first rank knows what is in the way of the outputs; the others would wait for it for ever.
static int agree_to_start(const run_words *w, int code) {
  carom_error error = {0};
  carom_status own = code == EXIT_GOOD ? CAROM_OK : CAROM_ERR_IO;
  return cli_ranks_agree(&w->settings.ranks, own, &error) == own ? code : EXIT_FAILED;
}

static carom_scene *read_scene(const run_words *w) {
  cli_ranks_quieten(&w->settings.ranks, true);
  carom_scene *scene = cli_read_scene(w->scene, &w->overrides, w->settings.json);
  bool starts = scene && (w->settings.resume || cli_can_start(scene));
  cli_ranks_quieten(&w->settings.ranks, false);
  if (starts) return scene;
  carom_scene_destroy(scene);
  return NULL;
}

int cli_run(int argc, char **argv) {
  run_words w = {0};
  int code;
  if (!parse(&w, argc, argv, &code)) return code;
  if (!cli_ranks_find(&w.settings.ranks)) return EXIT_FAILED;
  choose_outputs(&w);
  if (!expand(&w)) return EXIT_MISTAKE;
  carom_scene *scene = read_scene(&w);
  if (!scene) return EXIT_MISTAKE;
  cli_ranks_advise(&w.settings.ranks, scene);
  bool quiet = w.settings.quiet || w.settings.json;
  code = check_files(&w, scene);
  if (code == EXIT_GOOD) code = cli_dump_open(&w.problems, scene, w.settings.overwrite);
  code = agree_to_start(&w, code);
  if (code == EXIT_GOOD) code = cli_dump_close(&w.problems, cli_run_scene(scene, &w.settings), quiet);
  carom_scene_destroy(scene);
  if (!w.view || (code != EXIT_GOOD && code != EXIT_VERDICT)) return code;
  int viewed = cli_write_replay(w.settings.output, w.page, quiet);
  return viewed == EXIT_GOOD ? code : viewed;
}

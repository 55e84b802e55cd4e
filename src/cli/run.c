// carom run: scene file -> model -> state -> (step -> audit) ... -> recorder -> result file -> report.
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
  carom_audit *audit;
  carom_recorder *recorder;  // null when nothing is written
  int64_t steps, steps_per_frame;
  int frames;
  int worst_iterations, worst_halvings;
  int64_t collisions;
  double wall, last_checkpoint, last_frame;
  carom_verdict verdict;
} run;

static carom_status record(run *r, carom_error *error) {
  if (!r->recorder) return CAROM_OK;
  carom_audit_sample sample = carom_audit_latest(r->audit);
  r->frames++;
  r->last_frame = r->state->time;
  return carom_recorder_frame(r->recorder, r->state, &sample, error);
}

// So that the run can be continued from here.
static carom_status checkpoint(run *r, carom_error *error) {
  if (!r->recorder) return CAROM_OK;
  size_t size = carom_stepper_memory(r->stepper, NULL, 0);
  void *memory = malloc(size);
  if (!memory) return CAROM_OK;  // the record itself matters more
  carom_stepper_memory(r->stepper, memory, size);
  carom_status status = carom_recorder_checkpoint(r->recorder, r->state, memory, size, error);
  free(memory);
  r->last_checkpoint = carom_clock();
  return status;
}

// Goes on from where another run ended or was stopped.
static carom_status take_up(run *r, carom_error *error) {
  carom_result *before = NULL;
  const void *memory = NULL;
  size_t size = 0;
  if (!r->settings->resume) return CAROM_OK;
  carom_status status = carom_result_open(r->settings->resume, NULL, &before, error);
  if (status == CAROM_OK) status = carom_result_checkpoint(before, r->state, &memory, &size, error);
  if (status == CAROM_OK) status = carom_stepper_recall(r->stepper, memory, size, error);
  carom_result_close(before);
  return status;
}

static carom_status set_up(run *r, carom_error *error) {
  const carom_scene *scene = r->scene;
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  carom_provenance provenance = {.command = r->settings->command, .host = host};
  carom_status status = carom_state_clone(scene->state, NULL, &r->state, error);
  if (status == CAROM_OK) status = carom_stepper_create(scene->model, &scene->step, NULL, &r->stepper, error);
  if (status == CAROM_OK) status = take_up(r, error);
  if (status == CAROM_OK) status = carom_audit_create(scene->model, r->state, NULL, &r->audit, error);
  if (status == CAROM_OK && r->settings->output)
    status = carom_recorder_create(r->settings->output, r->settings->overwrite, scene, &provenance, NULL, &r->recorder,
                                   error);
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

static const double checkpoint_interval = 20;  // s of wall time

static carom_status march(run *r, carom_error *error) {
  r->last_checkpoint = carom_clock();
  cli_progress progress = cli_progress_begin(r->scene->title, r->settings->quiet);
  carom_status status = CAROM_OK;
  while (r->state->step < r->steps && status == CAROM_OK) {
    status = one_step(r, error);
    if (status == CAROM_OK && carom_clock() - r->last_checkpoint > checkpoint_interval) status = checkpoint(r, error);
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
  r->verdict = carom_audit_judge(r->audit, &r->scene->bounds);
  if (!r->recorder) return status;
  char ending[1100];
  if (status == CAROM_OK)
    snprintf(ending, sizeof ending, "complete");
  else if (status == CAROM_INTERRUPTED)
    snprintf(ending, sizeof ending, "interrupted");
  else
    snprintf(ending, sizeof ending, "failed: %s", error->message);
  carom_error closing = {0};
  carom_status closed = status >= 0 ? checkpoint(r, &closing) : CAROM_OK;
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
  close_books(r, CAROM_ERR_IO, &error);  // without a checkpoint: the state is half way
  carom_recorder_destroy(r->recorder);
  cli_error("%s; %s holds everything up to t = %g s", error.message,
            r->settings->output ? r->settings->output : "no file", r->last_frame);
}

static void tear_down(run *r) {
  carom_recorder_destroy(r->recorder);
  carom_audit_destroy(r->audit);
  carom_stepper_destroy(r->stepper);
  carom_state_destroy(r->state);
}

// ---- reports ------------------------------------------------------------------------------------------------

static const char *quadrature_name(carom_quadrature quadrature) {
  return quadrature == CAROM_QUADRATURE_MIDPOINT ? "midpoint" : "endpoint";
}

static double file_megabytes(const char *path) {
  struct stat about;
  return stat(path, &about) == 0 ? (double)about.st_size / 1e6 : 0;
}

static void print_report(const run *r, carom_status status) {
  const carom_scene *scene = r->scene;
  double simulated = r->state->time - scene->state->time;
  printf("%s\n", scene->title);
  printf("  %lld steps of %g s by %s (%s), %d bodies; %g s in %.3g s (%.3g x real time)\n\n", (long long)r->state->step,
         scene->step.step, scene->step.integrator, quadrature_name(scene->step.quadrature), scene->model->body_count,
         simulated, r->wall, r->wall > 0 ? simulated / r->wall : 0);
  cli_print_verdict(&r->verdict, stdout);
  if (r->collisions > 0) printf("  %lld collisions\n", (long long)r->collisions);
  if (r->worst_halvings > 0) printf("  note: some steps were split into up to %d parts\n", 1 << r->worst_halvings);
  if (status == CAROM_INTERRUPTED)
    printf("  note: interrupted at t = %g s; everything up to there is kept\n", r->state->time);
  if (r->settings->output)
    printf("\n  result  %s (%d frames, %.3g MB)\n", r->settings->output, r->frames,
           file_megabytes(r->settings->output));
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
  cli_json_integer(&json, "bodies", r->scene->model->body_count);
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
  carom_recorder_destroy(r.recorder);  // closed before its size is told
  r.recorder = NULL;
  if (started && settings->json) print_json(&r, status);
  if (started && !settings->json && !settings->quiet) print_report(&r, status);
  int code = status == CAROM_OK ? EXIT_GOOD : status == CAROM_INTERRUPTED ? EXIT_INTERRUPTED : cli_fail(&error);
  if (code == EXIT_GOOD && settings->strict && !r.verdict.pass) code = EXIT_VERDICT;
  tear_down(&r);
  return code;
}

// ---- the verb -----------------------------------------------------------------------------------------------

static void add_override(cli_list *list, const char *key, const char *value, char *text, size_t size) {
  if (!value || list->count == CLI_MAX_LIST) return;
  snprintf(text, size, "%s=%s", key, value);
  list->items[list->count++] = text;
}

int cli_run(int argc, char **argv) {
  const char *scene_path = NULL, *output = NULL, *integrator = NULL, *step = NULL, *duration = NULL, *threads = NULL;
  const char *solver = NULL;
  cli_list overrides = {0};
  bool dry = false, view = false;
  cli_dump problems = {0};
  cli_run_settings settings = {0};
  const cli_option options[] = {
      {CLI_TEXT, 'o', "output", "FILE", "result file (default: the scene's name with .h5, here)", &output},
      {CLI_FLAG, 'f', "force", NULL, "overwrite an older result file", &settings.overwrite},
      {CLI_FLAG, 0, "no-output", NULL, "write no result file", &dry},
      {CLI_FLAG, 0, "view", NULL, "write the replay page as well", &view},
      {CLI_LIST, 's', "set", "PATH=VALUE", "override a value of the scene; may be repeated", &overrides},
      {CLI_TEXT, 0, "integrator", "NAME", "same as --set integrator.name=NAME", &integrator},
      {CLI_TEXT, 0, "step", "H", "same as --set integrator.step=H", &step},
      {CLI_TEXT, 0, "duration", "T", "same as --set duration=T", &duration},
      {CLI_TEXT, 'j', "threads", "N", "same as --set integrator.threads=N (0: all processors)", &threads},
      {CLI_TEXT, 0, "continue", "RESULT.h5", "go on from the last checkpoint of another run", &settings.resume},
      {CLI_TEXT, 0, "solver", "NAME", "same as --set integrator.solver=NAME", &solver},
      {CLI_TEXT, 0, "dump-contact-problems", "DIR", "write each contact problem of moreau as a file", &problems.folder},
      {CLI_FLAG, 0, "strict", NULL, "exit with 3 when the audit does not pass", &settings.strict},
      {CLI_FLAG, 0, "json", NULL, "report as one line of JSON on stdout", &settings.json},
      {CLI_FLAG, 'q', "quiet", NULL, "no report and no progress", &settings.quiet},
      {CLI_END, 0, NULL, NULL, NULL, NULL},
  };
  const cli_syntax syntax = {"run",
                             "SCENE.yaml [OPTIONS]",
                             "Runs a scene, audits every step, and writes a result file that 'carom view', 'info' and "
                             "'export' read.",
                             options,
                             &scene_path,
                             1,
                             1};
  int code;
  if (!cli_parse(&syntax, argc, argv, &code)) return code;
  if (!cli_ranks_find(&settings.ranks)) return EXIT_FAILED;
  if (settings.ranks.rank > 0) dry = settings.quiet = true, problems.folder = NULL;
  char text[5][512], command[2048], default_output[1024], page[1024];
  add_override(&overrides, "integrator.name", integrator, text[0], sizeof text[0]);
  add_override(&overrides, "integrator.step", step, text[1], sizeof text[1]);
  add_override(&overrides, "duration", duration, text[2], sizeof text[2]);
  add_override(&overrides, "integrator.threads", threads, text[3], sizeof text[3]);
  add_override(&overrides, "integrator.solver", solver, text[4], sizeof text[4]);
  cli_command_line(argc, argv, command, sizeof command);
  settings.command = command;
  cli_replace_extension(scene_path, false, ".h5", default_output, sizeof default_output);
  settings.output = dry ? NULL : output ? output : default_output;
  cli_ranks_quieten(&settings.ranks, true);
  carom_scene *scene = cli_read_scene(scene_path, &overrides, settings.json);
  cli_ranks_quieten(&settings.ranks, false);
  if (!scene) return EXIT_MISTAKE;
  cli_ranks_advise(&settings.ranks, scene);
  code = cli_dump_open(&problems, scene) ? cli_run_scene(scene, &settings) : EXIT_FAILED;
  code = cli_dump_close(&problems, code, settings.quiet || settings.json);
  carom_scene_destroy(scene);
  if (!view || !settings.output || (code != EXIT_GOOD && code != EXIT_VERDICT)) return code;
  cli_replace_extension(settings.output, true, ".html", page, sizeof page);
  int viewed = cli_write_replay(settings.output, page, settings.quiet || settings.json);
  return viewed == EXIT_GOOD ? code : viewed;
}

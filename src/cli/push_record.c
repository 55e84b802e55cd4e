// The motion of pushes as a result file, for 'carom view' and 'carom export'.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/push.h"

static const double POWER = 2e-2, OVERLAP = 1e-2;  // allowed: of the work, of the part's size

// ---- the scene ------------------------------------------------------------------------------------------------------

// "drives=[{body: "first"}, ...]": with drives probes count as bodies that move.
static char *drives_of(const cli_push_run *run) {
  const carom_pusher_def *d = &run->file->def;
  char *text = NULL;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  if (!out) return NULL;
  fputs("drives=[", out);
  for (int i = 0; i < d->probe_count; i++)
    cli_put_escaped(out, i ? ", {body: \"%s\"}" : "{body: \"%s\"}", d->model->bodies[d->probes[i]].name, "\"\\");
  fputs("]", out);
  return fclose(out) == 0 ? text : (free(text), NULL);
}

static double whole_duration(const cli_push_run *run) {
  double sum = 0;
  for (int i = 0; i < run->count; i++) sum += run->fates[i].run.time;
  return sum;
}

// As the problem read it, with whatever was overridden. How long the scene itself would run does not count.
static carom_status read_driven(const cli_push_run *run, carom_scene **scene, carom_error *error) {
  const carom_scene *from = run->file->scene;
  char integrator[100], duration[60], *drives = drives_of(run);
  cli_list overrides = {.items = {drives, integrator, duration}, .count = 3};
  carom_scene_options options = cli_scene_options(&overrides);
  carom_diagnostics found = {0};
  carom_status status = CAROM_ERR_MEMORY;
  options.bodies_only = true;
  snprintf(integrator, sizeof integrator, "integrator={name: quasistatic, step: %.17g}", run->file->def.step);
  snprintf(duration, sizeof duration, "duration=%.17g", fmax(whole_duration(run), run->file->def.step));
  const carom_bytes bytes = {from->path, from->resolved, strlen(from->resolved)};
  if (drives) status = carom_scene_parse(&bytes, &options, NULL, scene, &found);
  if (status != CAROM_OK) {
    *error = (carom_error){.status = status};
    snprintf(error->message, sizeof error->message, "the scene cannot be recorded: %.300s",
             found.count > 0 ? found.items[0].message : "out of memory");
  }
  carom_diagnostics_release(&found);
  free(drives);
  return status;
}

// ---- frames ---------------------------------------------------------------------------------------------------------

static void place(const cli_push_run *run, const carom_model *model, int number, int moment, carom_state *state) {
  const cli_push_notes *n = &run->fates[number].notes;
  const cli_push_moment *m = &n->moments[moment];
  for (int k = 0; k < n->part_count; k++)
    carom_push_set_pose(model, state, run->parts[k], n->poses + 3 * (moment * n->part_count + k));
  for (int q = 0; q < run->pushes[number].probe_count; q++) {
    double pose[3];
    int probe = run->file->def.probes[q];
    carom_push_pose(model, state, probe, pose);
    pose[0] = m->probes[q][0], pose[1] = m->probes[q][1];
    carom_push_set_pose(model, state, probe, pose);
  }
  state->time = m->time;
}

// Pushes follow each other in time; the end of one is the beginning of the next.
static carom_status record(const cli_push_run *run, const carom_model *model, carom_recorder *recorder,
                           carom_state *state, carom_error *error) {
  carom_status status = CAROM_OK;
  for (int n = 0; n < run->count; n++)
    for (int i = n > 0; i < run->fates[n].notes.count && status == CAROM_OK; i++) {
      place(run, model, n, i, state);
      status = carom_recorder_frame(recorder, state, NULL, error);
    }
  return status;
}

static carom_verdict judge(const cli_push_run *run) {
  carom_verdict v = {0};
  double work = 0, left = 0, overlap = 0;
  double size = run->file->scene->model->bodies[run->parts[0]].bounding_radius;
  for (int i = 0; i < run->count; i++) {
    const carom_push_result *r = &run->fates[i].run;
    work += fabs(r->work), left += r->work - r->damping - r->friction, overlap = fmax(overlap, r->overlap);
  }
  carom_verdict_row power = {"power", "Power", "work of the probes, less what support and friction take", 0, POWER,
                             false,   ""};
  carom_verdict_row deepest = {"penetration", "Deepest overlap", "over the size of the part", 0, OVERLAP, false, ""};
  power.value = work > 0 ? fabs(left) / work : 0;
  deepest.value = overlap / size;
  carom_verdict_add(&v, &power, NULL);
  carom_verdict_add(&v, &deepest, NULL);
  return v;
}

typedef struct recording {
  const char *path;
  carom_recorder_options options;
} recording;

static carom_status write_as(const cli_push_run *run, const carom_scene *driven, const recording *w,
                             carom_error *error) {
  carom_recorder *recorder = NULL;
  carom_state *state = NULL;
  carom_scene scene = *driven;
  carom_verdict verdict = judge(run);
  scene.title = run->file->title;
  scene.duration = whole_duration(run);
  scene.frame_interval = run->file->def.step;
  carom_status status = carom_state_clone(scene.state, NULL, &state, error);
  if (status == CAROM_OK) status = carom_recorder_open(w->path, &scene, &w->options, NULL, &recorder, error);
  if (status == CAROM_OK) status = record(run, scene.model, recorder, state, error);
  if (status == CAROM_OK) status = carom_recorder_finish(recorder, &verdict, "complete", error);
  carom_recorder_close(recorder);
  carom_state_destroy(state);
  return status;
}

int cli_push_write_result(cli_push_run *run, const char *path, const char *command) {
  char host[256] = "";
  carom_scene *driven = NULL;
  carom_error error;
  gethostname(host, sizeof host - 1);
  recording w = {path, {.overwrite = run->force, .command = command, .host = host}};
  carom_status status = read_driven(run, &driven, &error);
  if (status == CAROM_OK) status = write_as(run, driven, &w, &error);
  carom_scene_destroy(driven);
  return status == CAROM_OK ? EXIT_GOOD : cli_fail(&error);
}

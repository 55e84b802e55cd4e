// carom audit: judges a motion that anything produced: a result file, or a table of poses and velocities.
#include "cli/audit.h"

#include <stdlib.h>
#include <string.h>

typedef struct audit_words {
  const char *motion, *scene, *page;
  cli_list overrides;
  bool json, force;
} audit_words;

typedef struct trial {
  const carom_model *model;
  carom_audit_bounds bounds;
  carom_audit *audit;
  carom_verdict verdict;
  double *times, *values;
  int frames, capacity;
  bool failed;
} trial;

static void take(void *context, const carom_state *state) {
  trial *t = context;
  if (t->failed) return;
  if (!t->audit) {
    t->failed = carom_audit_create(t->model, state, NULL, &t->audit, NULL) != CAROM_OK;
    return;
  }
  carom_audit_motion(t->audit, state);
  if (t->frames == t->capacity) {
    t->capacity = 2 * t->capacity + 64;
    double *times = realloc(t->times, (size_t)t->capacity * sizeof *times);
    if (times) t->times = times;
    double *values = realloc(t->values, (size_t)t->capacity * CAROM_VERDICT_MAX * sizeof *values);
    if (values) t->values = values;
    t->failed = !times || !values;
  }
  if (t->failed) return;
  t->verdict = carom_audit_judge(t->audit, &t->bounds);
  t->times[t->frames] = state->time;
  for (int i = 0; i < t->verdict.count; i++) t->values[t->frames * CAROM_VERDICT_MAX + i] = t->verdict.rows[i].value;
  t->frames++;
}

static carom_status take_result(trial *t, carom_result *result, carom_state *state, carom_error *error) {
  carom_frame frame = {0};
  carom_status status = carom_frame_init(result, &frame, error);
  for (int i = 0; i < result->frame_count && status == CAROM_OK; i++) {
    status = carom_result_read_frame(result, i, &frame, error);
    if (status != CAROM_OK) break;
    state->time = frame.time;
    for (int b = 0; b < state->body_count; b++) {
      carom_state_set_pose(t->model, state, b, frame.poses[b]);
      carom_state_set_velocity(t->model, state, b, frame.velocities[b], frame.angular_velocities[b]);
    }
    size_t bytes = (size_t)state->node_count * sizeof *state->nodes;
    if (bytes > 0)
      memcpy(state->nodes, frame.nodes, bytes), memcpy(state->node_velocities, frame.node_velocities, bytes);
    take(t, state);
  }
  carom_frame_release(&frame);
  return status;
}

static const char LEFT_OUT[] =
    "sums of momentum, losses, contact residuals and the laws of single contacts: they need events and applied work";

static void print_report(const audit_words *w, const trial *t) {
  if (w->json) {
    cli_json json = cli_json_begin(stdout);
    CLI_MEMBERS(&json, CLI_T("motion", w->motion), CLI_I("frames", t->frames + 1), CLI_T("left_out", LEFT_OUT));
    cli_json_verdict(&json, &t->verdict);
    cli_json_end(&json);
    return;
  }
  cli_print(stdout, "%s: %d frames\n\n", w->motion, t->frames + 1);
  cli_print_verdict(&t->verdict, stdout);
  cli_print(stdout, "  %-24s %s\n", "left out", LEFT_OUT);
}

static int judge(const audit_words *w, trial *t) {
  if (t->failed) return cli_error("out of memory for the audit"), EXIT_FAILED;
  if (t->frames == 0) carom_verdict_cut_short(&t->verdict, "fewer than two frames: there is no motion to judge");
  print_report(w, t);
  cli_history history = {&t->verdict, w->motion, t->times, t->values, t->frames};
  if (w->page && cli_write_audit_page(w->page, &history) != EXIT_GOOD) return EXIT_FAILED;
  return t->verdict.pass ? EXIT_GOOD : EXIT_VERDICT;
}

static bool is_result(const char *path) {
  const char *dot = strrchr(path, '.');
  return dot && strcmp(dot, ".h5") == 0;
}

// A result has its scene with it.
static carom_scene *scene_of(const audit_words *w, const carom_result *result) {
  if (w->scene) return cli_read_scene(w->scene, &w->overrides, w->json);
  carom_scene *scene = NULL;
  carom_diagnostics diagnostics;
  carom_bytes bytes = {w->motion, result->scene_resolved, strlen(result->scene_resolved)};
  carom_scene_options options = carom_scene_default_options();
  options.read_trajectory = carom_trajectory_read, options.read_motion = carom_gait_motion_read;
  if (carom_scene_parse(&bytes, &options, NULL, &scene, &diagnostics) != CAROM_OK) {
    cli_print_diagnostics(&diagnostics);
    cli_count_mistakes(w->motion, diagnostics.error_count, CLI_READS_RESULT);
  }
  carom_diagnostics_release(&diagnostics);
  return scene;
}

static int audit_motion(const audit_words *w, carom_result *result) {
  carom_scene *scene = scene_of(w, result);
  if (!scene) return EXIT_MISTAKE;
  int code = cli_check_files(&(cli_files){
      .verb = "audit", .force = w->force, .inputs = {w->motion}, .scene = scene, .outputs = {{.path = w->page}}});
  trial t = {.model = scene->model, .bounds = scene->bounds};
  if (!result) t.bounds.integrator = NULL;
  carom_error error = {0};
  if (code == EXIT_GOOD && result && result->body_count != scene->model->body_count)
    cli_error("%s has %d bodies, the scene %d", w->motion, result->body_count, scene->model->body_count),
        code = EXIT_MISTAKE;
  else if (code == EXIT_GOOD && result && result->node_count != scene->state->node_count)
    cli_error("%s has %d nodes of solids, the scene %d", w->motion, result->node_count, scene->state->node_count),
        code = EXIT_MISTAKE;
  else if (code == EXIT_GOOD && result)
    code = take_result(&t, result, scene->state, &error) == CAROM_OK ? EXIT_GOOD : cli_fail(&error);
  else if (code == EXIT_GOOD && !cli_read_motion(w->motion, scene->model, scene->state, take, &t))
    code = EXIT_MISTAKE;
  if (code == EXIT_GOOD) code = judge(w, &t);
  carom_audit_destroy(t.audit);
  free(t.times);
  free(t.values);
  carom_scene_destroy(scene);
  return code;
}

int cli_audit(int argc, char **argv) {
  audit_words w = {0};
  const cli_option options[] = {
      {CLI_TEXT, 0, "scene", "SCENE.yaml", "the bodies and what acts on them (a result file has its own)", &w.scene},
      {CLI_LIST, 's', "set", "PATH=VALUE", "override a value of the scene; may be repeated", &w.overrides},
      {CLI_TEXT, 0, "html", "FILE", "write a page that shows when each law is broken", &w.page},
      {CLI_FLAG, 'f', "force", NULL, "overwrite a file that carom did not make", &w.force},
      {CLI_FLAG, 0, "json", NULL, "report as one line of JSON on stdout", &w.json},
      {CLI_END, 0, NULL, NULL, NULL, NULL},
  };
  const char about[] =
      "Judges a motion that anything produced: a result file, or a table (CSV) with the columns time, body, x, y, z, "
      "qw, "
      "qx, qy, qz, vx, vy, vz, wx, wy, wz. Exits with 3 unless it passes.";
  const cli_syntax syntax = {"audit", "MOTION --scene SCENE.yaml [OPTIONS]", about, options, &w.motion, 1, 1};
  int code;
  if (!cli_parse(&syntax, argc, argv, &code)) return code;
  if (!is_result(w.motion) && !w.scene) return cli_error("audit: a table needs --scene SCENE.yaml"), EXIT_MISTAKE;
  if (!is_result(w.motion)) return audit_motion(&w, NULL);
  cli_guard(w.motion);
  carom_result *result = cli_open_result(w.motion);
  if (!result) return EXIT_FAILED;
  code = audit_motion(&w, result);
  carom_result_close(result);
  return code;
}

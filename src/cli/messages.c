#include <math.h>
#include <string.h>

#include "cli/cli.h"

int cli_fail(const carom_error *error) {
  cli_error("%s", error->message[0] ? error->message : carom_status_text(error->status));
  return EXIT_FAILED;
}

int cli_stopped(const char *output) {
  cli_error("interrupted; '%s' was not written", output);
  return EXIT_INTERRUPTED;
}

void cli_print_diagnostics(const carom_diagnostics *diagnostics) {
  for (int i = 0; i < diagnostics->count; i++) {
    char line[2000];
    carom_diagnostic_format(&diagnostics->items[i], line, sizeof line);
    cli_print(stderr, "%s\n", line);
  }
}

void cli_print_verdict(const carom_verdict *verdict, FILE *out) {
  cli_print(out, "  %-24s %12s %12s\n", "audit", "worst", "allowed");
  for (int i = 0; i < verdict->count; i++) {
    const carom_verdict_row *row = &verdict->rows[i];
    bool tell = row->where[0] && (!row->pass || strstr(row->where, "widened"));
    cli_print(out, "  %-24s %12.2e %12.2e   %s%s%s\n", row->label, row->value, row->bound, row->pass ? "pass" : "FAIL",
              tell ? "   " : "", tell ? row->where : "");
  }
  cli_print(out, "  %-24s %s\n", "verdict", carom_outcome_name(verdict->outcome));
  if (verdict->reason[0]) cli_print(out, "  %-24s %s\n", "reason", verdict->reason);
}

void cli_replace_extension(const char *path, bool keep_folder, const char *extension, char *text, size_t size) {
  const char *slash = strrchr(path, '/');
  const char *file = slash ? slash + 1 : path;
  const char *dot = strrchr(file, '.');
  const char *from = keep_folder ? path : file;
  size_t length = dot && dot != file ? (size_t)(dot - from) : strlen(from);
  snprintf(text, size, "%.*s%s", (int)length, from, extension);
}

void cli_command_line(int argc, char **argv, char *text, size_t size) {
  size_t used = (size_t)snprintf(text, size, "carom");
  for (int i = 0; i < argc && used < size; i++) used += (size_t)snprintf(text + used, size - used, " %s", argv[i]);
}

carom_scene_options cli_scene_options(const cli_list *overrides) {
  carom_scene_options options = carom_scene_default_options();
  options.read_trajectory = carom_trajectory_read;
  options.read_motion = carom_gait_motion_read;
  options.read_guess = carom_plan_warm;
  options.overrides = overrides->items;
  options.override_count = overrides->count;
  return options;
}

// Whether the key stands at the beginning of a line near the beginning of the file.
static bool has_key(const char *path, const char *key) {
  char line[256];
  bool found = false, begins = true;
  FILE *in = cli_open_input(path);
  for (int i = 0; in && i < 100 && !found && fgets(line, sizeof line, in); i++) {
    found = begins && strncmp(line, key, strlen(key)) == 0;
    begins = strchr(line, '\n') != NULL;
  }
  if (in) fclose(in);
  return found;
}

void cli_count_mistakes(const char *path, int count, cli_reads kind) {
  if (count == 0) {  // there is one reason left
    cli_error("%s: out of memory while reading it; nothing was run. Fewer bodies would need less", path);
    return;
  }
  cli_error("%s: %d error%s; nothing was run", path, count, count == 1 ? "" : "s");
  if (kind == CLI_READS_SCENE && has_key(path, "carom-plan:"))
    cli_error("%s is a planning problem; 'carom plan %s' solves it", path, path);
  if (kind != CLI_READS_SWEEP && has_key(path, "carom-sweep:"))
    cli_error("%s is the problem of a sweep; 'carom sweep %s' runs it", path, path);
  if (kind != CLI_READS_DESIGN && has_key(path, "carom-design:"))
    cli_error("%s is a problem of design; 'carom design %s' solves it", path, path);
  if (kind != CLI_READS_PUSH && has_key(path, "carom-push:"))
    cli_error("%s is a problem of pushing; 'carom push check %s' reads it", path, path);
  if (kind != CLI_READS_SAA && has_key(path, "carom-saa:"))
    cli_error("%s is a stochastic program; 'carom saa %s' solves it", path, path);
  if (kind != CLI_READS_NAVIGATE && has_key(path, "carom-navigate:"))
    cli_error("%s is a scene of navigation; 'carom navigate %s' reads it", path, path);
  bool many = kind == CLI_READS_SWEEP || kind == CLI_READS_DESIGN;
  if (many && has_key(path, "carom:")) cli_error("%s is a scene; 'carom run %s' runs it once", path, path);
  if (many && has_key(path, "carom-plan:"))
    cli_error("%s is a planning problem; 'carom plan %s' solves it", path, path);
  if (kind == CLI_READS_PLAN && !has_key(path, "carom-plan:") && has_key(path, "carom:"))
    cli_error("%s is a scene; 'carom run %s' runs it", path, path);
}

bool cli_can_start(const carom_scene *scene) {
  carom_error error;
  carom_status status = carom_step_check_start(scene->model, scene->state, &scene->step, &error);
  if (status != CAROM_OK) cli_error("%s: %s; nothing was run", scene->path, error.message);
  return status == CAROM_OK;
}

double cli_critical_step(const carom_model *model) {
  double least = INFINITY;
  for (int i = 0; i < model->solid_count; i++) least = fmin(least, model->solids[i].critical_step);
  return least;
}

const char *cli_why_parts(const carom_model *model) {
  if (model->solid_count == 0) return "springs keep their energy";
  return model->spring_count > 0 ? "springs keep their energy and solids stay stable"
                                 : "explicit steps of solids are stable";
}

carom_status cli_load_scene(const char *path, const cli_list *overrides, carom_scene **scene,
                            carom_diagnostics *diagnostics) {
  cli_progress progress = cli_progress_begin("reading", false);
  carom_scene_options options = cli_scene_options(overrides);
  options.progress = cli_progress_callback(&progress);
  *scene = NULL;
  carom_status status = carom_scene_read(path, &options, NULL, scene, diagnostics);
  cli_progress_end(&progress);
  return status;
}

carom_scene *cli_read_scene(const char *path, const cli_list *overrides, bool json) {
  carom_diagnostics diagnostics = {0};
  carom_scene *scene;
  carom_status status = cli_load_scene(path, overrides, &scene, &diagnostics);
  cli_print_diagnostics(&diagnostics);
  if (status != CAROM_OK && json) {
    cli_json out = cli_json_begin(stdout);
    cli_json_text(&out, "scene", path);
    cli_json_diagnostics(&out, &diagnostics);
    cli_json_end(&out);
  }
  if (status != CAROM_OK) {
    cli_count_mistakes(path, diagnostics.error_count, CLI_READS_SCENE);
    scene = NULL;
  }
  carom_diagnostics_release(&diagnostics);
  return scene;
}

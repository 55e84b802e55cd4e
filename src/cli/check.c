// carom check: every mistake of a scene in one go, or a summary of what it would run.
#include <math.h>

#include "cli/cli.h"

static double moving_mass(const carom_model *model) {
  double sum = 0;
  for (int i = 0; i < model->body_count; i++)
    if (!model->bodies[i].fixed) sum += model->bodies[i].mass;
  return sum;
}

static double mass_of_solids(const carom_model *model) {
  double sum = 0;
  for (int i = 0; i < model->solid_count; i++) sum += model->solids[i].mass;
  return sum;
}

static void print_summary(const carom_scene *scene) {
  const carom_model *m = scene->model;
  cli_print(stdout, "%s: no errors\n", scene->path);
  cli_print(stdout, "  title       %s\n", scene->title);
  cli_print(stdout, "  bodies      %d (%d moving, %.6g kg), %d convex parts\n", m->body_count, m->moving_count,
            moving_mass(m), m->part_count);
  if (m->solid_count > 0)
    cli_print(stdout,
              "  solids      %d (%.6g kg), %d nodes, %d tetrahedra, %d nodes pinned; explicit steps up to %.3g s are "
              "stable at rest\n",
              m->solid_count, mass_of_solids(m), m->node_count, m->tet_count, m->pin_count, cli_critical_step(m));
  cli_print(stdout, "  forces      %d charges, %d springs, %d applied; gravity (%g, %g, %g) m/s2\n", m->charge_count,
            m->spring_count, m->force_count, m->gravity.x, m->gravity.y, m->gravity.z);
  int sensors = carom_loop_sensor_count(scene->loop), controllers = carom_loop_controller_count(scene->loop);
  if (sensors + controllers > 0)
    cli_print(stdout, "  control     %d sensor%s, %d controller%s\n", sensors, sensors == 1 ? "" : "s", controllers,
              controllers == 1 ? "" : "s");
  cli_print(stdout, "  run         %g s in %.0f steps of %g s by %s; a frame every %g s\n", scene->duration,
            round(scene->duration / scene->step.step), scene->step.step, scene->step.integrator, scene->frame_interval);
  if (scene->choice[0]) cli_print(stdout, "  chosen      %s, since %s\n", scene->step.integrator, scene->choice);
  int parts = carom_step_parts(m, &scene->step);
  if (parts > 1) cli_print(stdout, "  parts       every step is taken in %d, so that %s\n", parts, cli_why_parts(m));
}

static void print_solids_json(cli_json *json, const carom_scene *scene) {
  const carom_model *m = scene->model;
  cli_json_integer(json, "solids", m->solid_count);
  cli_json_number(json, "mass_of_solids", mass_of_solids(m));
  cli_json_integer(json, "nodes", m->node_count);
  cli_json_integer(json, "tetrahedra", m->tet_count);
  cli_json_integer(json, "pinned_nodes", m->pin_count);
  cli_json_number(json, "critical_step", cli_critical_step(m));
  cli_json_integer(json, "parts", carom_step_parts(m, &scene->step));
}

static void print_json(const char *path, const carom_scene *scene, bool resolved,
                       const carom_diagnostics *diagnostics) {
  cli_json json = cli_json_begin(stdout);
  cli_json_text(&json, "scene", path);
  cli_json_bool(&json, "ok", scene != NULL);
  if (scene) {
    cli_json_text(&json, "title", scene->title);
    cli_json_integer(&json, "bodies", scene->model->body_count);
    cli_json_integer(&json, "moving", scene->model->moving_count);
    cli_json_number(&json, "mass", moving_mass(scene->model));
    if (scene->model->solid_count > 0) print_solids_json(&json, scene);
    cli_json_number(&json, "duration", scene->duration);
    cli_json_number(&json, "step", scene->step.step);
    cli_json_text(&json, "integrator", scene->step.integrator);
    if (scene->choice[0]) cli_json_text(&json, "integrator_choice", scene->choice);
    if (resolved) cli_json_text(&json, "resolved", scene->resolved);
  }
  cli_json_diagnostics(&json, diagnostics);
  cli_json_end(&json);
}

int cli_check(int argc, char **argv) {
  const char *path = NULL;
  cli_list overrides = {0};
  bool json = false, resolved = false, separate = false;
  const cli_option options[] = {
      {CLI_LIST, 's', "set", "PATH=VALUE", "override a value of the scene; may be repeated", &overrides},
      {CLI_FLAG, 0, "separate", NULL, "same as --set start.overlap=separate: move apart what overlaps", &separate},
      {CLI_FLAG, 0, "resolved", NULL, "print the whole scene with includes and overrides put in", &resolved},
      {CLI_FLAG, 0, "json", NULL, "report as one line of JSON on stdout", &json},
      {CLI_END, 0, NULL, NULL, NULL, NULL},
  };
  const cli_syntax syntax = {
      "check",
      "SCENE.yaml [OPTIONS]",
      "Reads a scene and prints every mistake with file, line and column; exit code 2 if there is "
      "one.",
      options,
      &path,
      1,
      1};
  int code;
  if (!cli_parse(&syntax, argc, argv, &code)) return code;
  if (separate) overrides.items[overrides.count++] = "start.overlap=separate";
  carom_diagnostics diagnostics = {0};
  carom_scene *scene;
  carom_status status = cli_load_scene(path, &overrides, &scene, &diagnostics);
  if (status != CAROM_OK) scene = NULL;
  bool starts = scene && cli_can_start(scene);
  if (json)
    print_json(path, starts ? scene : NULL, resolved, &diagnostics);
  else
    cli_print_diagnostics(&diagnostics);
  if (starts && !json && !resolved) print_summary(scene);
  if (scene && !json && resolved) cli_print_lines(scene->resolved);
  if (!scene && (!json || diagnostics.error_count == 0))
    cli_count_mistakes(path, diagnostics.error_count, CLI_READS_SCENE);
  code = starts ? EXIT_GOOD : EXIT_MISTAKE;
  carom_scene_destroy(scene);
  carom_diagnostics_release(&diagnostics);
  return code;
}

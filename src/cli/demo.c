// carom demo: examples that are built into the program.
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/embedded.h"
#include "cli/cli.h"

extern const carom_embedded carom_example_scenes[];

static const carom_embedded *find_example(const char *name) {
  const char *names[64] = {0};
  int count = 0;
  for (const carom_embedded *e = carom_example_scenes; e->name; e++) {
    if (strcmp(e->name, name) == 0) return e;
    if (count < 63) names[count++] = e->name;
  }
  const char *nearest = carom_nearest_word(name, names);
  cli_error("demo: no example '%s'%s%s%s; 'carom demo' lists them", name, nearest ? " (did you mean '" : "",
            nearest ? nearest : "", nearest ? "'?)" : "");
  return NULL;
}

static carom_scene *parse_example(const carom_embedded *example, const cli_list *overrides, bool will_run) {
  carom_scene_options options = cli_scene_options(overrides);
  options.bodies_only = !will_run;
  carom_diagnostics diagnostics = {0};
  carom_scene *scene = NULL;
  char path[256];
  snprintf(path, sizeof path, "%s.yaml", example->name);
  carom_status status =
      carom_scene_parse(&(carom_bytes){path, example->bytes, example->size}, &options, NULL, &scene, &diagnostics);
  cli_print_diagnostics(&diagnostics);
  if (status != CAROM_OK) cli_count_mistakes(path, diagnostics.error_count, CLI_READS_RESULT);
  carom_diagnostics_release(&diagnostics);
  return status == CAROM_OK ? scene : NULL;
}

static void list_examples(void) {
  cli_list none = {0};
  cli_print(stdout, "examples (carom demo NAME runs one, carom demo --print NAME shows its scene):\n\n");
  for (const carom_embedded *e = carom_example_scenes; e->name; e++) {
    carom_scene *scene = parse_example(e, &none, false);
    cli_print(stdout, "  %-22s %s\n", e->name, scene ? scene->title : "(broken)");
    carom_scene_destroy(scene);
  }
}

static int run_example(const carom_embedded *example, const char *folder, const cli_list *overrides,
                       cli_run_settings settings) {
  carom_scene *scene = parse_example(example, overrides, true);
  if (!scene) return EXIT_MISTAKE;
  if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
    cli_error("demo: cannot make the folder %s: %s", folder, strerror(errno));
    carom_scene_destroy(scene);
    return EXIT_FAILED;
  }
  char result[CLI_PATH], page[CLI_PATH];
  snprintf(result, sizeof result, "%s/%s.h5", folder, example->name);
  snprintf(page, sizeof page, "%s/%s.html", folder, example->name);
  settings.output = result;
  int code = cli_check_files(&(cli_files){
      .verb = "demo", .force = settings.overwrite, .outputs = {{.path = result, .own = "carom demo"}, {.path = page}}});
  settings.overwrite = true;
  if (code == EXIT_GOOD) code = cli_run_scene(scene, &settings);
  carom_scene_destroy(scene);
  if (code != EXIT_GOOD && code != EXIT_VERDICT) return code;
  int viewed = cli_write_replay(result, page, settings.quiet || settings.json);
  return viewed == EXIT_GOOD ? code : viewed;
}

static const char about[] = "Lists the built-in examples; with a name, runs one and makes its replay page.";

int cli_demo(int argc, char **argv) {
  const char *name = NULL, *folder = ".";
  cli_list overrides = {0};
  bool print = false;
  cli_run_settings settings = {0};
  const cli_option options[] = {
      {CLI_TEXT, 'd', "dir", "FOLDER", "where the result and the replay page go (default: here)", &folder},
      {CLI_FLAG, 0, "print", NULL, "print the scene instead of running it", &print},
      {CLI_LIST, 's', "set", "PATH=VALUE", "override a value of the scene; may be repeated", &overrides},
      {CLI_FLAG, 'f', "force", NULL, "overwrite files that 'carom demo' did not make", &settings.overwrite},
      {CLI_FLAG, 0, "strict", NULL, "exit with 3 when the audit does not pass", &settings.strict},
      {CLI_FLAG, 0, "json", NULL, "report as one line of JSON", &settings.json},
      {CLI_FLAG, 'q', "quiet", NULL, "say nothing", &settings.quiet},
      {CLI_END, 0, NULL, NULL, NULL, NULL},
  };
  const cli_syntax syntax = {"demo", "[NAME] [OPTIONS]", about, options, &name, 0, 1};
  int code;
  if (!cli_parse(&syntax, argc, argv, &code)) return code;
  if (!name) {
    list_examples();
    return EXIT_GOOD;
  }
  const carom_embedded *example = find_example(name);
  if (!example) return EXIT_MISTAKE;
  if (print) return fwrite(example->bytes, 1, example->size, stdout) == example->size ? EXIT_GOOD : EXIT_FAILED;
  char command[2048];
  cli_command_line(argc, argv, command, sizeof command);
  settings.command = command;
  return run_example(example, folder, &overrides, settings);
}

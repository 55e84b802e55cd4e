#include <stdarg.h>
#include <string.h>

#include "cli/cli.h"

void cli_error(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fputs("carom: ", stderr);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
}

int cli_fail(const carom_error *error) {
  cli_error("%s", error->message[0] ? error->message : carom_status_text(error->status));
  return EXIT_FAILED;
}

void cli_print_diagnostics(const carom_diagnostics *diagnostics) {
  for (int i = 0; i < diagnostics->count; i++) {
    char line[2000];
    carom_diagnostic_format(&diagnostics->items[i], line, sizeof line);
    fprintf(stderr, "%s\n", line);
  }
}

void cli_print_verdict(const carom_verdict *verdict, FILE *out) {
  fprintf(out, "  %-24s %12s %12s\n", "audit", "worst", "allowed");
  for (int i = 0; i < verdict->count; i++) {
    const carom_verdict_row *row = &verdict->rows[i];
    fprintf(out, "  %-24s %12.2e %12.2e   %s\n", row->label, row->value, row->bound, row->pass ? "pass" : "FAIL");
  }
  fprintf(out, "  %-24s %s\n", "verdict", verdict->pass ? "PASS" : "FAIL");
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

carom_scene *cli_read_scene(const char *path, const cli_list *overrides, bool json) {
  carom_scene_options options = carom_scene_default_options();
  options.overrides = overrides->items;
  options.override_count = overrides->count;
  carom_diagnostics diagnostics = {0};
  carom_scene *scene = NULL;
  carom_status status = carom_scene_read(path, &options, NULL, &scene, &diagnostics);
  cli_print_diagnostics(&diagnostics);
  if (status != CAROM_OK && json) {
    cli_json out = cli_json_begin(stdout);
    cli_json_text(&out, "scene", path);
    cli_json_diagnostics(&out, &diagnostics);
    cli_json_end(&out);
  }
  if (status != CAROM_OK) {
    cli_error("%s: %d error%s; nothing was run", path, diagnostics.error_count,
              diagnostics.error_count == 1 ? "" : "s");
    scene = NULL;
  }
  carom_diagnostics_release(&diagnostics);
  return scene;
}

carom_result *cli_open_result(const char *path) {
  carom_result *result = NULL;
  carom_error error = {0};
  if (carom_result_open(path, NULL, &result, &error) == CAROM_OK) return result;
  cli_fail(&error);
  return NULL;
}

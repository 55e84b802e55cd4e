// carom export: results for other programs.
#include <string.h>

#include "cli/cli.h"

typedef struct format {
  const char *name, *extension;
  carom_status (*write)(carom_result *, const char *, const carom_progress *, carom_error *);
} format;

static const format formats[] = {
    {"csv", ".csv", carom_export_csv},
    {"vtk", ".pvd", carom_export_vtk},
    {"glb", ".glb", carom_export_glb},
    {"html", ".html", carom_export_replay},
};
enum { FORMAT_COUNT = sizeof formats / sizeof *formats };

static const format *find_format(const char *name) {
  for (int i = 0; i < FORMAT_COUNT; i++)
    if (strcmp(formats[i].name, name) == 0) return &formats[i];
  cli_error("export: no format '%s'; there are csv, vtk, glb and html", name);
  return NULL;
}

static const format *format_of_file(const char *path) {
  const char *dot = path ? strrchr(path, '.') : NULL;
  for (int i = 0; i < FORMAT_COUNT && dot; i++)
    if (strcmp(formats[i].extension, dot) == 0) return &formats[i];
  cli_error("export: say which format: --to csv, vtk, glb or html, or --output FILE with .csv, .pvd, .glb or .html");
  return NULL;
}

static int write_format(const format *f, carom_result *result, const char *output, bool quiet) {
  cli_catch_interrupts();
  cli_progress bar = cli_progress_begin("export", quiet);
  carom_progress progress = cli_progress_callback(&bar);
  carom_error error = {0};
  carom_status status = f->write(result, output, &progress, &error);
  cli_progress_end(&bar);
  if (status == CAROM_INTERRUPTED) return EXIT_INTERRUPTED;
  if (status != CAROM_OK) return cli_fail(&error);
  if (!quiet) printf("  %s  %s\n", f->name, output);
  return EXIT_GOOD;
}

int cli_export(int argc, char **argv) {
  const char *path = NULL, *output = NULL, *to = NULL;
  bool quiet = false;
  const cli_option options[] = {
      {CLI_TEXT, 't', "to", "FORMAT", "csv, vtk (.pvd and .vtp for ParaView), glb (animated glTF) or html", &to},
      {CLI_TEXT, 'o', "output", "FILE", "default: the result's name with the format's extension, beside it", &output},
      {CLI_FLAG, 'q', "quiet", NULL, "say nothing", &quiet},
      {CLI_END, 0, NULL, NULL, NULL, NULL},
  };
  const cli_syntax syntax = {
      "export", "RESULT.h5 --to FORMAT [OPTIONS]", "Writes a result for other programs.", options, &path, 1, 1};
  int code;
  if (!cli_parse(&syntax, argc, argv, &code)) return code;
  const format *f = to ? find_format(to) : format_of_file(output);
  if (!f) return EXIT_MISTAKE;
  char target[1024];
  cli_replace_extension(path, true, f->extension, target, sizeof target);
  if (output) snprintf(target, sizeof target, "%s", output);
  carom_result *result = cli_open_result(path);
  if (!result) return EXIT_FAILED;
  code = write_format(f, result, target, quiet);
  carom_result_close(result);
  return code;
}

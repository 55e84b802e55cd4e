// carom export: results for other programs.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/cli.h"

enum { BESIDE = 4 };
typedef struct format {
  const char *name, *extension;
  const char *beside[BESIDE];  // endings of what is written besides, in the place of the extension; see carom/export.h
  carom_status (*write)(carom_result *, const char *, const carom_progress *, carom_error *);
} format;

// Longer endings come before shorter ones that they end with.
static const format formats[] = {
    {"fields", ".fields.csv", {".vti"}, NULL},
    {"csv", ".csv", {".audit.csv", ".events.csv", ".channels.csv", ".solids.csv"}, carom_export_csv},
    {"vtk", ".pvd", {NULL}, carom_export_vtk},
    {"glb", ".glb", {NULL}, carom_export_glb},
    {"html", ".html", {NULL}, carom_export_replay},
};
enum { FORMAT_COUNT = sizeof formats / sizeof *formats };

static const format *find_format(const char *name) {
  for (int i = 0; i < FORMAT_COUNT; i++)
    if (strcmp(formats[i].name, name) == 0) return &formats[i];
  cli_error("export: no format '%s'; there are csv, vtk, glb, html and fields", name);
  return NULL;
}

static const format *format_of_file(const char *path) {
  size_t length = path ? strlen(path) : 0;
  for (int i = 0; i < FORMAT_COUNT; i++) {
    size_t ending = strlen(formats[i].extension);
    if (length > ending && strcmp(path + length - ending, formats[i].extension) == 0) return &formats[i];
  }
  cli_error(
      "export: say which format: --to csv, vtk, glb, html or fields, or --output FILE with .csv, .pvd, .glb, .html or "
      ".fields.csv");
  return NULL;
}

// ---- fields of granular matter -------------------------------------------------------------------------------------

typedef struct field_words {
  const char *cells, *from, *until;
  bool every_frame;
} field_words;

static bool read_time(const char *name, const char *word, double *time) {
  char *end = NULL;
  if (!word) return true;
  *time = strtod(word, &end);
  if (end != word && *end == 0 && !isnan(*time)) return true;
  return cli_error("export: --%s takes a time in seconds, not '%s'", name, word);
}

static bool read_fields(const field_words *words, const format *f, carom_granular_options *o) {
  char rest;
  if (f->write && (words->cells || words->from || words->until || words->every_frame))
    return cli_error("export: --cells, --from, --until and --every-frame go with --to fields, not with %s", f->name);
  *o = carom_granular_default_options();
  o->every_frame = words->every_frame;
  if (words->cells && (sscanf(words->cells, "%d,%d,%d%c", &o->cells[0], &o->cells[1], &o->cells[2], &rest) != 3 ||
                       o->cells[0] < 1 || o->cells[1] < 1 || o->cells[2] < 1))
    return cli_error("export: --cells takes three whole numbers from 1 on, as 10,10,40, not '%s'", words->cells);
  return read_time("from", words->from, &o->from) && read_time("until", words->until, &o->until);
}

static int write_format(const format *f, carom_result *result, const char *output, const carom_granular_options *fields,
                        bool quiet) {
  cli_catch_interrupts();
  cli_progress bar = cli_progress_begin("export", quiet);
  carom_progress progress = cli_progress_callback(&bar);
  carom_error error = {0};
  carom_status status = f->write ? f->write(result, output, &progress, &error)
                                 : carom_export_granular(result, output, fields, &progress, &error);
  cli_progress_end(&bar);
  if (status == CAROM_INTERRUPTED) return cli_stopped(output);
  if (status != CAROM_OK) return cli_fail(&error);
  if (!quiet) cli_print(stdout, "  %s  %s\n", f->name, output);
  if (!quiet && f->write == carom_export_glb && result->solid_count > 0)
    cli_print(
        stderr,
        "note: %d solids that deform are left out: glTF has no shapes that are given frame by frame; html and vtk "
        "have them\n",
        result->solid_count);
  return EXIT_GOOD;
}

// ---- where to ------------------------------------------------------------------------------------------------------

typedef struct export_files {
  const format *format;
  const char *input, *target;
  const carom_result *result;
  bool force;
} export_files;

// "name.csv" -> "name.events.csv", also where another extension was given.
static void name_beside(const export_files *e, const char *ending, char *name, size_t size) {
  const char *last = strrchr(e->format->extension, '.');
  size_t length = strlen(e->target), n = strlen(last);
  if (length >= n && strcmp(e->target + length - n, last) == 0) length -= n;
  snprintf(name, size, "%.*s%s", (int)length, e->target, ending);
}

// Frames that are there from before are replaced or, beyond the last of ours, removed.
static bool may_replace_frames(const export_files *e, const char *ending, int count) {
  char folder[CLI_PATH], name[CLI_PATH + 32];
  struct stat about;
  name_beside(e, "_frames", folder, sizeof folder);
  for (int i = 0;; i++) {
    snprintf(name, sizeof name, "%s/frame_%06d.%s", folder, i, ending);
    if (i >= count && stat(name, &about) != 0) return true;
    if (!cli_may_replace("export", &(cli_output){.path = name}, e->force)) return false;
  }
}

static int check_files(const export_files *e) {
  char beside[BESIDE][CLI_PATH];
  cli_files files = {.verb = "export", .force = e->force, .inputs = {e->input}, .outputs = {{.path = e->target}}};
  struct stat about;
  bool alone = stat(e->target, &about) == 0 && !S_ISREG(about.st_mode);  // nothing is written beside a pipe or device
  for (int i = 0; i < BESIDE && !alone && e->format->beside[i]; i++) {
    name_beside(e, e->format->beside[i], beside[i], sizeof beside[i]);
    files.outputs[i + 1].path = beside[i];
  }
  int code = cli_check_files(&files);
  if (code != EXIT_GOOD || e->format->write != carom_export_vtk) return code;
  int count = e->result->frame_count;
  bool may =
      may_replace_frames(e, "vtp", count) && may_replace_frames(e, "vtu", e->result->solid_count > 0 ? count : 0);
  return may ? EXIT_GOOD : EXIT_FAILED;
}

int cli_export(int argc, char **argv) {
  const char *path = NULL, *output = NULL, *to = NULL;
  bool quiet = false, force = false;
  field_words words = {0};
  carom_granular_options fields;
  const cli_option options[] = {
      {CLI_TEXT, 't', "to", "FORMAT", "csv, vtk (.pvd for ParaView), glb (animated glTF), html or fields", &to},
      {CLI_TEXT, 'o', "output", "FILE", "default: the result's name with the format's extension, beside it", &output},
      {CLI_TEXT, 0, "cells", "NX,NY,NZ", "fields: cells of the grid; default: about three grains wide", &words.cells},
      {CLI_TEXT, 0, "from", "TIME", "fields: begin of the window, s", &words.from},
      {CLI_TEXT, 0, "until", "TIME", "fields: end of the window, s", &words.until},
      {CLI_FLAG, 0, "every-frame", NULL, "fields: each frame for itself instead of means", &words.every_frame},
      {CLI_FLAG, 'f', "force", NULL, "overwrite files that carom did not make, and tables", &force},
      {CLI_FLAG, 'q', "quiet", NULL, "say nothing", &quiet},
      {CLI_END, 0, NULL, NULL, NULL, NULL},
  };
  const cli_syntax syntax = {
      "export", "RESULT.h5 --to FORMAT [OPTIONS]", "Writes a result for other programs.", options, &path, 1, 1};
  int code;
  if (!cli_parse(&syntax, argc, argv, &code)) return code;
  const format *f = to ? find_format(to) : format_of_file(output);
  if (!f || !read_fields(&words, f, &fields)) return EXIT_MISTAKE;
  char target[CLI_PATH];
  cli_replace_extension(path, true, f->extension, target, sizeof target);
  if (output) snprintf(target, sizeof target, "%s", output);
  cli_guard(path);
  carom_result *result = cli_open_result(path);
  if (!result) return EXIT_FAILED;
  code = check_files(&(export_files){f, path, target, result, force});
  if (code == EXIT_GOOD) code = write_format(f, result, target, &fields, quiet);
  carom_result_close(result);
  return code;
}

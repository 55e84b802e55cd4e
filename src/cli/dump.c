#include "cli/dump.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

static void path_of(const cli_dump *d, const char *extension, char path[CLI_PATH + 32]) {
  snprintf(path, CLI_PATH + 32, "%s/%08lld.%s", d->folder, (long long)d->count, extension);
}

static void write_problem(void *context, const carom_shown_problem *shown) {
  cli_dump *d = context;
  char path[CLI_PATH + 32], remark[80];
  if (d->error.status != CAROM_OK) return;
  snprintf(remark, sizeof remark, "contact problem at t = %.17g s", shown->time);
  carom_mlcp_problem mixed = {.n = shown->linear->n, .M = shown->linear->M, .q = shown->linear->q};
  path_of(d, "lcp", path);
  carom_status status = carom_lcp_write(&mixed, path, remark, NULL, &d->error);
  path_of(d, "hdf5", path);
  if (status == CAROM_OK && shown->friction)
    carom_friction_file_write(shown->friction, NULL, remark, path, NULL, &d->error);
  d->count++;
}

// Those of an older run would be replaced one by one, or stay among the new ones.
static bool has_problems(const cli_dump *d) {
  DIR *folder = opendir(d->folder);
  bool found = false;
  for (struct dirent *entry; folder && !found && (entry = readdir(folder));) {
    const char *dot = strrchr(entry->d_name, '.');
    found = dot && (strcmp(dot, ".lcp") == 0 || strcmp(dot, ".hdf5") == 0);
  }
  if (folder) closedir(folder);
  return found;
}

int cli_dump_open(cli_dump *d, carom_scene *scene, bool force) {
  if (!d->folder) return EXIT_GOOD;
  scene->step.problem_sink = write_problem;
  scene->step.sink_context = d;
  carom_error error;
  if (carom_step_check(scene->model, &scene->step, &error) != CAROM_OK) {
    cli_error("run: --dump-contact-problems: %s", error.message);
    return EXIT_MISTAKE;
  }
  if (mkdir(d->folder, 0777) != 0 && errno != EEXIST) {
    cli_error("cannot make the folder '%s': %s", d->folder, strerror(errno));
    return EXIT_FAILED;
  }
  if (!force && has_problems(d)) {
    cli_error("run: '%s' holds contact problems already; choose another folder or overwrite them with --force",
              d->folder);
    return EXIT_FAILED;
  }
  return EXIT_GOOD;
}

int cli_dump_close(const cli_dump *d, int code, bool quiet) {
  if (!d->folder) return code;
  if (d->error.status != CAROM_OK) return cli_fail(&d->error);
  if (!quiet)
    cli_print(stdout, "  %lld contact problems in %s (carom lcp and carom friction solve them)\n", (long long)d->count,
              d->folder);
  return code;
}

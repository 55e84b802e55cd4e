// carom view: the replay page of a result.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"

int cli_write_replay(const char *result_path, const char *page_path, bool quiet) {
  carom_result *result = cli_open_result(result_path);
  if (!result) return EXIT_FAILED;
  cli_catch_interrupts();
  cli_progress bar = cli_progress_begin("replay page", quiet);
  carom_progress progress = cli_progress_callback(&bar);
  carom_error error = {0};
  carom_status status = carom_export_replay(result, page_path, &progress, &error);
  cli_progress_end(&bar);
  carom_result_close(result);
  if (status == CAROM_INTERRUPTED) return cli_stopped(page_path);
  if (status != CAROM_OK) return cli_fail(&error);
  if (quiet) return EXIT_GOOD;
  char *full = realpath(page_path, NULL);
  cli_print(stdout, "  replay  %s (open it in a browser)\n", full ? full : page_path);
  free(full);
  return EXIT_GOOD;
}

// Hands the page to the desktop's opener, without a shell in between.
static int open_page(const char *page) {
  pid_t child = fork();
  if (child == 0) {
    execlp("xdg-open", "xdg-open", page, (char *)NULL);
    _exit(127);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    cli_error("no program could open %s; open it in a browser by hand", page);
    return EXIT_FAILED;
  }
  return EXIT_GOOD;
}

static const char about[] =
    "Makes one self-contained HTML page that replays the run in any browser, without a network.";

int cli_view(int argc, char **argv) {
  const char *path = NULL, *output = NULL;
  bool open = false, quiet = false, force = false;
  const cli_option options[] = {
      {CLI_TEXT, 'o', "output", "FILE", "the page (default: the result's name with .html, beside it)", &output},
      {CLI_FLAG, 'f', "force", NULL, "overwrite a file that carom did not make", &force},
      {CLI_FLAG, 0, "open", NULL, "open the page with the desktop's browser", &open},
      {CLI_FLAG, 'q', "quiet", NULL, "say nothing", &quiet},
      {CLI_END, 0, NULL, NULL, NULL, NULL},
  };
  const cli_syntax syntax = {"view", "RESULT.h5 [OPTIONS]", about, options, &path, 1, 1};
  int code;
  if (!cli_parse(&syntax, argc, argv, &code)) return code;
  char page[CLI_PATH];
  cli_replace_extension(path, true, ".html", page, sizeof page);
  if (output) snprintf(page, sizeof page, "%s", output);
  code = cli_check_files(&(cli_files){.verb = "view", .force = force, .inputs = {path}, .outputs = {{.path = page}}});
  if (code == EXIT_GOOD) {
    cli_guard(path);
    code = cli_write_replay(path, page, quiet);
  }
  return code == EXIT_GOOD && open ? open_page(page) : code;
}

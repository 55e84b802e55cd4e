// What the program has and a fuzzer does without: pages and examples, which its build makes, and the
// child process that reads results.
#include "base/embedded.h"
#include "cli/cli.h"

extern const carom_embedded carom_example_scenes[], carom_sweep_page_files[];
const carom_embedded carom_viewer_files[] = {{0}};
const carom_embedded carom_example_scenes[] = {{0}};
const carom_embedded carom_sweep_page_files[] = {{"sweep_page.html", (const unsigned char *)"@DATA@", 6}};

void cli_guard(const char *path) { (void)path; }

bool cli_survives(const char *path, void (*attempt)(void *context), void *context) {
  (void)path;
  attempt(context);
  return true;
}

carom_result *cli_open_result(const char *path) {
  carom_result *result = NULL;
  return carom_result_open(path, NULL, &result, NULL) == CAROM_OK ? result : NULL;
}

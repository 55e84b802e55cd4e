// What the program has and a fuzzer does without: the viewer and examples, which its build makes, and the child process
// that reads results. CMake writes what stands for pages.
#include "base/embedded.h"
#include "cli/cli.h"

extern const carom_embedded carom_example_scenes[];
const carom_embedded carom_viewer_files[] = {{0}};
const carom_embedded carom_example_scenes[] = {{0}};

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

// Any bytes as a planning problem about two bodies that are there.
#include "carom/plan.h"
#include "fuzz_files.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) { return "leak:libfyaml.so\n"; }

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  carom_scene_options options = carom_scene_default_options();
  carom_plan_file *file = NULL;
  carom_diagnostics diagnostics;
  options.max_bodies = 100;
  fuzz_folder();
  fuzz_put_text("bodies.yaml",
                "carom: 1\nbodies:\n  - {name: cube, shape: {box: [1, 1, 1]}, density: 10}\n"
                "  - {name: wall, fixed: true, shape: {halfspace: }, position: [0, 0, -2]}\nduration: 1\n");
  fuzz_put("plan.yaml", data, size);
  carom_status status = carom_plan_read("plan.yaml", &options, NULL, &file, &diagnostics);
  if ((status == CAROM_OK) != (file != NULL) || (status == CAROM_ERR_SCENE && diagnostics.error_count == 0)) abort();
  carom_plan_file_destroy(file);
  carom_diagnostics_release(&diagnostics);
  return 0;
}

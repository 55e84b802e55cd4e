// Any bytes as the problem of a sweep over a scene that is there. What is read is run for a few steps.
#include <stdlib.h>

#include "carom/sweep.h"
#include "fuzz_files.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) { return "leak:libfyaml.so\n"; }

static bool stop(void *context) { return ++*(int *)context > 20; }

static void run_last(const carom_sweep *sweep) {
  int steps = 0;
  double *values = calloc((size_t)sweep->column_count, sizeof *values);
  carom_case c = {.number = sweep->sampling.count - 1, .values = values};
  const carom_case_options options = {.stop = stop, .context = &steps};
  if (!values) return;
  carom_sampling_inputs(&sweep->sampling, c.number, values);
  carom_status status = carom_sweep_run(sweep, &options, &c, NULL);
  if (status == CAROM_OK && (c.class_index < 0 || c.class_index >= sweep->class_count)) abort();
  free(values);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  carom_scene_options options = carom_scene_default_options();
  carom_sweep *sweep = NULL;
  carom_diagnostics diagnostics;
  options.max_bodies = 100;
  fuzz_folder();
  fuzz_put_text("scene.yaml",
                "carom: 1\nbodies:\n  - {name: ball, shape: {sphere: {radius: 1}}, density: 10}\n"
                "  - {name: wall, fixed: true, shape: {halfspace: }, position: [0, 0, -2]}\n"
                "sensors: [{name: eye, gap: [ball, wall]}]\nduration: 1\n");
  fuzz_put("sweep.yaml", data, size);
  carom_status status = carom_sweep_read("sweep.yaml", &options, NULL, &sweep, &diagnostics);
  if ((status == CAROM_OK) != (sweep != NULL) || (status == CAROM_ERR_SCENE && diagnostics.error_count == 0)) abort();
  if (sweep) run_last(sweep);
  carom_sweep_destroy(sweep);
  carom_diagnostics_release(&diagnostics);
  return 0;
}

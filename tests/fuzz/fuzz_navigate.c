// Any bytes as a scene of navigation; where it is one of few vehicles, some steps are taken, after which no cages may
// overlap that nothing presses on.
#include "carom/navigate_file.h"

#include <math.h>

#include "fuzz_files.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) { return "leak:libfyaml.so\n"; }

enum { FEW = 20, STEPS = 5 };  // vehicles and obstacles; of a run

static bool all_stay(const carom_navigate_def *d) {
  for (int i = 0; i < d->obstacle_count; i++)
    if (d->obstacles[i].count > 1) return false;
  return true;
}

static void go(carom_navigate_file *file) {
  carom_navigate_motion *motion = NULL;
  carom_navigate_def *d = &file->def;
  d->duration = STEPS * d->step, d->threads = 1;
  carom_status status = carom_navigate_run(d, NULL, &motion, NULL);
  if ((status == CAROM_OK) != (motion != NULL)) abort();
  double size = 1;  // places and cages may be as large as 1e6 m, where round-off is larger, too
  for (int i = 0; i < d->vehicle_count; i++)
    for (int k = 0; k < 2; k++) size = fmax(size, fmax(fabs(d->vehicles[i].start[k]), fabs(d->vehicles[i].goal[k])));
  if (motion && all_stay(d) && motion->verdict.least_gap < -1e-6 * size) abort();
  carom_navigate_motion_destroy(motion);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  carom_scene_options options = carom_scene_default_options();
  carom_navigate_file *file = NULL;
  carom_diagnostics diagnostics;
  options.max_bodies = 100;
  fuzz_folder();
  fuzz_put("navigate.yaml", data, size);
  carom_status status = carom_navigate_read("navigate.yaml", &options, NULL, &file, &diagnostics);
  if ((status == CAROM_OK) != (file != NULL) || (status == CAROM_ERR_SCENE && diagnostics.error_count == 0)) abort();
  if (file && file->def.vehicle_count <= FEW && file->def.obstacle_count <= FEW) go(file);
  carom_navigate_file_destroy(file);
  carom_diagnostics_release(&diagnostics);
  return 0;
}

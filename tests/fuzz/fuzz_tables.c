// The files that the command line reads itself: pairs of bodies (first byte even) and tables of motions (odd).
#include "carom/scene.h"
#include "cli/audit.h"
#include "cli/gap.h"
#include "fuzz_files.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ignore_frame(void *context, const carom_state *state) { *(double *)context += state->time; }

static void read_table(void) {
  static const char text[] =
      "carom: 1\nbodies:\n  - {name: a, shape: {sphere: 1}, density: 1}\n"
      "  - {name: b, shape: {sphere: 1}, density: 1, position: [9, 0, 0]}\nduration: 1\n";
  static carom_scene *scene;
  double sum = 0;
  carom_diagnostics diagnostics = {0};
  if (!scene) carom_scene_parse(&(carom_bytes){"x.yaml", text, strlen(text)}, NULL, NULL, &scene, &diagnostics);
  carom_diagnostics_release(&diagnostics);
  if (!scene) abort();
  (void)cli_read_motion("x.csv", scene->model, scene->state, ignore_frame, &sum);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 1) return 0;
  fuzz_folder();
  if (data[0] % 2) {
    fuzz_put("x.csv", data + 1, size - 1);
    read_table();
    return 0;
  }
  cli_pair_file file;
  carom_error error;
  fuzz_put("x.bin", data + 1, size - 1);
  if (cli_pair_file_read("x.bin", &file, &error)) cli_pair_file_release(&file);
  return 0;
}

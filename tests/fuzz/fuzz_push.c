// Any bytes as a problem of pushing about bodies that are there; what stands behind a line "---" are its records.
#include "carom/push_file.h"
#include "fuzz_files.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) { return "leak:libfyaml.so\n"; }

static size_t find_records(const uint8_t *data, size_t size) {
  for (size_t i = 0; i + 5 <= size; i++)
    if (memcmp(data + i, "\n---\n", 5) == 0) return i;
  return size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  carom_scene_options options = carom_scene_default_options();
  carom_push_file *file = NULL;
  carom_diagnostics diagnostics;
  size_t end = find_records(data, size), from = end + 5 <= size ? end + 5 : size;
  options.max_bodies = 100;
  fuzz_folder();
  fuzz_put_text("parts.yaml",
                "carom: 1\nplanar: true\nbodies:\n"
                "  - {name: peg, shape: {box: [2, 1, 0.2]}, density: 10, support: {damping: 1}}\n"
                "  - {name: wall, fixed: true, shape: {box: [1, 9, 0.2]}, position: [3, 0, 0]}\n"
                "  - {name: tip, fixed: true, shape: {sphere: 0.1}, position: [-2, 0, 0]}\n"
                "  - {name: other, fixed: true, shape: {sphere: 0.1}, position: [-2, 2, 0]}\nduration: 1\n");
  fuzz_put("push.yaml", data, end);
  fuzz_put("records.csv", data + from, size - from);
  carom_status status = carom_push_read("push.yaml", &options, NULL, &file, &diagnostics);
  if ((status == CAROM_OK) != (file != NULL) || (status == CAROM_ERR_SCENE && diagnostics.error_count == 0)) abort();
  carom_push_file_destroy(file);
  carom_diagnostics_release(&diagnostics);
  return 0;
}

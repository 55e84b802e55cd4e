// Any bytes as a stochastic program in YAML; what stands behind a line "---" is its table. What is read is drawn from
// and, where it is small, solved.
#include "fuzz_saa.h"
#include "carom/saa_file.h"
#include "fuzz_files.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) { return "leak:libfyaml.so\n"; }

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  size_t end = fuzz_mark(data, size, 0), from = end + 5 <= size ? end + 5 : size;
  fuzz_folder();
  fuzz_put("saa.yaml", data, end);
  fuzz_put("table.csv", data + from, size - from);
  fuzz_read_saa("saa.yaml");
  return 0;
}

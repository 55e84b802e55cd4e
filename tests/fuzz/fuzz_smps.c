// Any bytes as an SMPS problem: core, time and stoch files, with lines "---" between them.
#include "fuzz_files.h"
#include "fuzz_saa.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  size_t first = fuzz_mark(data, size, 0), second_from = first + 5 <= size ? first + 5 : size;
  size_t second = fuzz_mark(data, size, second_from), third_from = second + 5 <= size ? second + 5 : size;
  fuzz_folder();
  fuzz_put("saa.cor", data, first);
  fuzz_put("saa.tim", data + second_from, second - second_from);
  fuzz_put("saa.sto", data + third_from, size - third_from);
  fuzz_read_saa("saa.cor");
  return 0;
}

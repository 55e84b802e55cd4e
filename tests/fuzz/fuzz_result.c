// Bytes as a result file: opened, all its frames read, its last checkpoint taken. Most parts of HDF5's format carry a
// checksum; the mutator gives the parts that it changes a new one, or hardly any change would be looked at.
#include <hdf5.h>

#include "carom/result.h"
#include "fuzz_files.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);
uint32_t H5_checksum_metadata(const void *data, size_t size, uint32_t start);

enum { MOST_PARTS = 512, LONGEST = 700 };
typedef struct part {
  size_t start, size;
} part;

static bool begins_part(const uint8_t *p) {
  static const char marks[][5] = {"OHDR", "OCHK", "FRHP", "FHDB", "FHIB", "BTHD", "BTLF",   "BTIN",
                                  "FAHD", "FADB", "EAHD", "EAIB", "EADB", "EASB", "\x89HDF"};
  for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
    if (memcmp(p, marks[i], 4) == 0) return true;
  return false;
}

static int find_parts(const uint8_t *data, size_t size, part *parts) {
  int count = 0;
  for (size_t at = 0; at + 12 < size && count < MOST_PARTS; at++) {
    if (!begins_part(data + at)) continue;
    for (size_t length = 8; length < LONGEST && at + length + 4 <= size; length++) {
      uint32_t told;
      memcpy(&told, data + at + length, sizeof told);
      if (H5_checksum_metadata(data + at, length, 0) != told) continue;
      parts[count++] = (part){at, length};
      break;
    }
  }
  return count;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed) {
  static part parts[MOST_PARTS];
  if (seed % 8 == 0) return LLVMFuzzerMutate(data, size, most);
  int count = find_parts(data, size, parts);
  if (count == 0) return LLVMFuzzerMutate(data, size, most);
  part p = parts[seed / 8 % (unsigned)count];
  size_t from = p.start + 4 + seed % (p.size - 4), room = p.start + p.size - from;
  uint8_t piece[LONGEST];
  size_t width = room < 8 ? room : 8;
  memcpy(piece, data + from, width);
  LLVMFuzzerMutate(piece, width, width);
  memcpy(data + from, piece, width);
  uint32_t sum = H5_checksum_metadata(data + p.start, p.size, 0);
  memcpy(data + p.start + p.size, &sum, sizeof sum);
  return size;
}

static void take_checkpoint(carom_result *result) {
  carom_scene_options options = carom_scene_default_options();
  carom_scene *scene = NULL;
  carom_diagnostics diagnostics;
  options.self_contained = true;
  options.max_bodies = 100;
  const char *text = result->scene_resolved;
  carom_scene_parse(&(carom_bytes){"x.yaml", text, strlen(text)}, &options, NULL, &scene, &diagnostics);
  const void *memory;
  size_t size;
  if (scene && scene->model->body_count == result->body_count)
    (void)carom_result_checkpoint(result, scene->state, &memory, &size, NULL);
  carom_scene_destroy(scene);
  carom_diagnostics_release(&diagnostics);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  carom_result *result = NULL;
  carom_frame frame = {0};
  fuzz_folder();
  fuzz_put("x.h5", data, size);
  if (carom_result_open("x.h5", NULL, &result, NULL) != CAROM_OK) return 0;
  if (carom_frame_init(result, &frame, NULL) == CAROM_OK)
    for (int i = 0; i < result->frame_count && i < 5; i++) (void)carom_result_read_frame(result, i, &frame, NULL);
  take_checkpoint(result);
  carom_frame_release(&frame);
  carom_result_close(result);
  return 0;
}

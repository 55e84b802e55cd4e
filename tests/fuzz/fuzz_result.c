// Bytes as a result file: opened, all its frames read, its last checkpoint taken. Most parts of HDF5's format carry a
// checksum; the mutator gives the parts that it changes a new one, or hardly any change would be looked at. HDF5 1.10
// itself crashes on some of these (the program reads results in a child process for that reason), so every input has a
// process of its own, and a crash is a finding only if it is not inside HDF5.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <execinfo.h>
#include <hdf5.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>

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

static bool lies_in(const void *address, const char *library) {
  Dl_info about;
  return dladdr(address, &about) && about.dli_fname && strstr(about.dli_fname, library);
}

// HDF5 copies as much out of a chunk as the file says there is, which is not ours to mend (cli/guard.c lives with it):
// its copies are not looked at, crashes are.
const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "replace_intrin=0"; }

// The C library, or the sanitizer in its place.
static bool is_of_libc(const void *address) {
  Dl_info about;
  if (lies_in(address, "libc.so")) return true;
  return dladdr(address, &about) && about.dli_sname &&
         (strncmp(about.dli_sname, "mem", 3) == 0 || strncmp(about.dli_sname, "__", 2) == 0);
}

// The innermost function that is not of the C library decides whose crash it is.
static void on_crash(int number) {
  void *frames[40];
  int count = backtrace(frames, 40);
  (void)number;
  for (int i = 2; i < count; i++) {  // after this one and the signal's own
    if (is_of_libc(frames[i])) continue;
    _exit(lies_in(frames[i], "libhdf5") ? 0 : 1);
  }
  _exit(1);
}

static void read_result(void) {
  carom_result *result = NULL;
  carom_frame frame = {0};
  if (carom_result_open("x.h5", NULL, &result, NULL) != CAROM_OK) return;
  if (carom_frame_init(result, &frame, NULL) == CAROM_OK)
    for (int i = 0; i < result->frame_count && i < 5; i++) (void)carom_result_read_frame(result, i, &frame, NULL);
  double *channels = calloc((size_t)result->frame_count + 1, sizeof(double));
  for (int i = 0; channels && i < result->channel_count && i < 5; i++)
    (void)carom_result_read_channels(result, i, 1, channels, NULL);
  free(channels);
  take_checkpoint(result);
  carom_frame_release(&frame);
  carom_result_close(result);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const struct itimerval limit = {.it_value = {.tv_sec = 8}};  // of processor time: HDF5 may come to no end
  int status = 0;
  fuzz_folder();
  fuzz_put("x.h5", data, size);
  pid_t child = fork();
  if (child == 0) {
    signal(SIGSEGV, on_crash), signal(SIGBUS, on_crash), signal(SIGFPE, on_crash), signal(SIGPROF, SIG_DFL);
    setitimer(ITIMER_PROF, &limit, NULL);
    read_result();
    _exit(0);
  }
  if (child < 0 || waitpid(child, &status, 0) < 0) return 0;
  if (WIFEXITED(status) && WEXITSTATUS(status) != 0) abort();
  if (WIFSIGNALED(status) && WTERMSIG(status) != SIGPROF) abort();
  return 0;
}

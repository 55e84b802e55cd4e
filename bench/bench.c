#include "bench.h"

#include <malloc.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "carom/base.h"

// ---- counting calls to the heap ------------------------------------------------------------------------------------

static _Atomic bool heap_counting;
static _Atomic long heap_calls;

void bench_heap_start(void) {
  heap_calls = 0;
  heap_counting = true;
}

#ifdef __GLIBC__
// The linker prefers these to the C library's own, for every library in the process; they must be seen to be preferred.
#define SEEN __attribute__((visibility("default")))
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
SEEN void *malloc(size_t size) {
  if (heap_counting) heap_calls++;
  return __libc_malloc(size);
}
SEEN void *calloc(size_t count, size_t size) {
  if (heap_counting) heap_calls++;
  return __libc_calloc(count, size);
}
SEEN void *realloc(void *block, size_t size) {
  if (heap_counting) heap_calls++;
  return __libc_realloc(block, size);
}
SEEN void *memalign(size_t alignment, size_t size) {
  if (heap_counting) heap_calls++;
  return __libc_memalign(alignment, size);
}
long bench_heap_stop(void) {
  heap_counting = false;
  return heap_calls;
}
#else
long bench_heap_stop(void) {
  heap_counting = false;
  return -1;
}
#endif

// ---- timing --------------------------------------------------------------------------------------------------------

static double time_steps(const bench_engine *engine, void *world, int steps) {
  double begin = carom_clock();
  engine->step(world, steps);
  return carom_clock() - begin;
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

bench_timing bench_time(const bench_engine *engine, void *world, int repetitions, double seconds) {
  enum { MOST = 101 };
  double runs[MOST];
  if (repetitions > MOST) repetitions = MOST;
  int steps = 1;
  double taken = time_steps(engine, world, steps);  // also warms caches up
  while (taken < seconds && steps < 1 << 24) {
    steps = taken > 0.1 * seconds ? (int)ceil(1.05 * steps * seconds / taken) : 8 * steps;
    taken = time_steps(engine, world, steps);
  }
  for (int i = 0; i < repetitions; i++) runs[i] = time_steps(engine, world, steps) / steps;
  qsort(runs, (size_t)repetitions, sizeof *runs, ascending);
  bench_timing t = {.seconds = runs[repetitions / 2], .steps = steps, .repetitions = repetitions};
  t.fastest = runs[0];
  t.spread = (runs[repetitions - 1] - runs[0]) / t.seconds;
  bench_heap_start();
  engine->step(world, 10);
  long calls = bench_heap_stop();
  t.heap_per_step = calls < 0 ? -1 : (double)calls / 10;
  return t;
}

double bench_fit_exponent(int count, const double *x, const double *y) {
  double sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (int i = 0; i < count; i++) {
    double a = log(x[i]), b = log(y[i]);
    sx += a, sy += b, sxx += a * a, sxy += a * b;
  }
  return (count * sxy - sx * sy) / (count * sxx - sx * sx);
}

// ---- results -------------------------------------------------------------------------------------------------------

void bench_cpu_model(char text[128]) {
  snprintf(text, 128, "unknown");
  FILE *file = fopen("/proc/cpuinfo", "r");
  char line[256];
  while (file && fgets(line, sizeof line, file)) {
    char *colon = strchr(line, ':');
    if (strncmp(line, "model name", 10) != 0 || !colon) continue;
    line[strcspn(line, "\n")] = 0;
    snprintf(text, 128, "%.120s", colon + 2);
    break;
  }
  if (file) fclose(file);
}

const char *bench_compiler(void) {
#if defined(__clang__)
  return "clang " __clang_version__;
#else
  return "gcc " __VERSION__;
#endif
}

void bench_log_begin(bench_log *log, const char *record) {
  if (log->file) fprintf(log->file, "{\"record\": \"%s\"", record);
}

void bench_log_text(bench_log *log, const char *key, const char *value) {
  if (!log->file) return;
  fprintf(log->file, ", \"%s\": \"", key);
  for (const char *c = value; *c; c++) {
    if (*c == '"' || *c == '\\') fputc('\\', log->file);
    if ((unsigned char)*c >= ' ') fputc(*c, log->file);
  }
  fputc('"', log->file);
}

void bench_log_number(bench_log *log, const char *key, double value) {
  if (!log->file) return;
  if (isfinite(value))
    fprintf(log->file, ", \"%s\": %.9g", key, value);
  else
    fprintf(log->file, ", \"%s\": null", key);
}

void bench_log_end(bench_log *log) {
  if (log->file) fputs("}\n", log->file), fflush(log->file);
}

bool bench_log_open(bench_log *log, const char *path, const char *benchmark) {
  log->file = fopen(path, "a");
  if (!log->file) return false;
  char cpu[128], date[32];
  time_t now = time(NULL);
  struct tm utc;
  gmtime_r(&now, &utc);
  strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &utc);
  bench_cpu_model(cpu);
  bench_log_begin(log, "run");
  bench_log_text(log, "benchmark", benchmark);
  bench_log_text(log, "date", date);
  bench_log_text(log, "carom", carom_version());
  bench_log_text(log, "cpu", cpu);
  bench_log_text(log, "compiler", bench_compiler());
  bench_log_end(log);
  return true;
}

void bench_log_close(bench_log *log) {
  if (log->file) fclose(log->file);
  log->file = NULL;
}

bool bench_parse_sizes(const char *text, long largest, int most, int *sizes, int *count) {
  *count = 0;
  for (char *end; *text && *count < most; text = *end == ',' ? end + 1 : end) {
    long n = strtol(text, &end, 10);
    if (end == text || n < 1 || n > largest) return false;
    sizes[(*count)++] = (int)n;
  }
  return *count > 0 && !*text;
}

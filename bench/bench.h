// What the benchmarks share: the job, the interface behind which every engine does it, timing, and the results file.
#ifndef CAROM_BENCH_H
#define CAROM_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---- the job -----------------------------------------------------------------------------------------------------

// Free boxes, far apart, that turn. SI units; quaternions are (w, x, y, z); angular velocities are in world axes.
typedef struct bench_start {
  double x[3], q[4], w[3];
} bench_start;

typedef struct bench_job {
  int count;
  double size[3];     // full side lengths
  double mass;        // of one box
  double inertia[3];  // of one box, along its sides
  double dt;
  double gravity[3];
  int threads;               // for Carom; peers run on one
  const bench_start *start;  // (count)
} bench_job;

// ---- engines -----------------------------------------------------------------------------------------------------

typedef struct bench_engine {
  const char *name;       // with the variant, e.g. "ODE quick step"
  const char *version;    // null for Carom itself
  const char *precision;  // "double" or "single"
  int largest;            // most bodies that make sense
  const char *limit;      // why, when `largest` was reached
  // Null on failure, with a reason in message (200).
  void *(*create)(const bench_job *job, char *message);
  void (*step)(void *world, int steps);
  void (*read)(void *world, int body, double q[4], double w[3]);
  void (*destroy)(void *world);
} bench_engine;

extern const bench_engine bench_carom;
#ifdef BENCH_BULLET
extern const bench_engine bench_bullet_dbvt, bench_bullet_bare;
#endif
#ifdef BENCH_ODE
extern const bench_engine bench_ode_quick, bench_ode_step;
#endif
#ifdef BENCH_MUJOCO
extern const bench_engine bench_mujoco;
#endif

enum { BENCH_MESSAGE = 200 };

// ---- measuring ---------------------------------------------------------------------------------------------------

typedef struct bench_timing {
  double seconds;        // per step, median over the repetitions
  double fastest;        // per step; the figure to trust when the machine was not quiet
  double spread;         // (slowest - fastest) / median
  double heap_per_step;  // calls to malloc and kin per step; -1 when they cannot be counted
  int steps, repetitions;
} bench_timing;

// Steps the world in `repetitions` runs of at least `seconds` each.
bench_timing bench_time(const bench_engine *engine, void *world, int repetitions, double seconds);

// Calls to malloc, calloc and realloc while counting is on; -1 when they cannot be counted (no glibc).
void bench_heap_start(void);
long bench_heap_stop(void);

double bench_fit_exponent(int count, const double *x, const double *y);  // slope of log y over log x

// Whole numbers from 1 to `largest` with commas between them, at most `most`; false when the text is something else.
bool bench_parse_sizes(const char *text, long largest, int most, int *sizes, int *count);

// ---- results -----------------------------------------------------------------------------------------------------

// One JSON object per line. Every line repeats nothing of the others: the first of a run says where it ran.
typedef struct bench_log {
  FILE *file;  // null: nothing is written
} bench_log;

bool bench_log_open(bench_log *log, const char *path, const char *benchmark);
void bench_log_close(bench_log *log);
void bench_log_begin(bench_log *log, const char *record);
void bench_log_text(bench_log *log, const char *key, const char *value);
void bench_log_number(bench_log *log, const char *key, double value);  // null when not finite
void bench_log_end(bench_log *log);

void bench_cpu_model(char text[128]);
const char *bench_compiler(void);

#ifdef __cplusplus
}
#endif
#endif

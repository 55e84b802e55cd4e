// Linear complementarity problems, side by side: random classes and stacks of boxes, or files given on the command
// line. usage: carom_bench_lcp [--count N] [--seconds S] [--boxes LARGEST] [--engine TEXT] [--json FILE] [FILE ...]
#include "lcp.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "carom/carom.h"
#include "lcp_samples.h"

enum { MOST = 200 };
static const double SOLVED = 1e-9;  // of natural residual

typedef struct options {
  int count, boxes;
  double seconds;  // per problem and solver, at least one solve
  const char *engine, *json;
} options;

// ---- Carom ---------------------------------------------------------------------------------------------------------

static void *carom_create(int n) {
  carom_lcp_work *work;
  if (carom_lcp_work_create(n, NULL, &work, NULL) != CAROM_OK) exit(1);
  return work;
}

static void carom_solve(void *work, int n, double *M, double *q, double *z, int *iterations) {
  carom_lcp_options o = carom_lcp_default_options();
  carom_lcp_problem problem = {.n = n, .M = M, .q = q};
  carom_lcp_info info = {0};
  static double w[4000];
  o.method = CAROM_LCP_LEMKE;
  if (carom_lcp_solve(work, &problem, &o, &(carom_lcp_solution){z, w, NULL}, &info, NULL) != CAROM_OK) exit(1);
  *iterations = info.iterations;
}

static void carom_destroy(void *work) { carom_lcp_work_destroy(work); }

static const bench_lcp_solver bench_carom_lemke = {"Carom Lemke", NULL,        4000,         "",
                                                   carom_create,  carom_solve, carom_destroy};

static const bench_lcp_solver *const solvers[] = {
    &bench_carom_lemke,
#ifdef BENCH_SICONOS
    &bench_siconos_lemke,
    &bench_siconos_newton,
#endif
};
enum { SOLVERS = sizeof solvers / sizeof *solvers };

// ---- measuring -----------------------------------------------------------------------------------------------------

typedef struct figure {
  double median;  // seconds, over the problems, of the fastest solve of each
  int solved, tried;
  double pivots, longest;  // over n: mean and largest
} figure;

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double time_one(const bench_lcp_solver *solver, void *work, const lcp_sample *s, double *z, int *iterations,
                       double seconds) {
  double best = INFINITY, begin = carom_clock();
  do {
    double start = carom_clock();
    solver->solve(work, s->n, s->M, s->q, z, iterations);
    best = fmin(best, carom_clock() - start);
  } while (carom_clock() - begin < seconds);
  return best;
}

static figure measure(const bench_lcp_solver *solver, const lcp_sample *samples, int count, double seconds) {
  figure f = {0};
  double times[MOST], *z = calloc((size_t)samples[0].n, sizeof(double));
  void *work = solver->create(samples[0].n);
  for (int i = 0; i < count; i++) {
    const lcp_sample *s = samples + i;
    int iterations = -1;
    times[i] = time_one(solver, work, s, z, &iterations, seconds);
    carom_lcp_problem problem = {.n = s->n, .M = s->M, .q = s->q};
    f.solved += carom_lcp_residual(&problem, z) <= SOLVED;
    f.tried++;
    f.pivots += (double)iterations / s->n / count;
    f.longest = fmax(f.longest, (double)iterations / s->n);
  }
  solver->destroy(work);
  qsort(times, (size_t)count, sizeof(double), by_value);
  f.median = times[count / 2];
  free(z);
  return f;
}

static void record(bench_log *log, const char *class, int n, const bench_lcp_solver *solver, const figure *f) {
  bench_log_begin(log, "lcp");
  bench_log_text(log, "class", class);
  bench_log_number(log, "n", n);
  bench_log_text(log, "solver", solver->name);
  bench_log_text(log, "version", solver->version ? solver->version : carom_version());
  bench_log_number(log, "median_seconds", f->median);
  bench_log_number(log, "solved", f->solved);
  bench_log_number(log, "tried", f->tried);
  bench_log_number(log, "iterations_per_pair", f->pivots);
  bench_log_number(log, "most_iterations_per_pair", f->longest);
  bench_log_end(log);
}

static void compare(const char *class, const lcp_sample *samples, int count, const options *o, bench_log *log) {
  int n = samples[0].n;
  double ours = NAN;
  for (int k = 0; k < SOLVERS; k++) {
    const bench_lcp_solver *solver = solvers[k];
    if (k > 0 && o->engine && !strstr(solver->name, o->engine)) continue;
    if (n > solver->largest) {
      printf("%-18s %5d  %-20s not run: %s\n", class, n, solver->name, solver->reason);
      continue;
    }
    figure f = measure(solver, samples, count, o->seconds);
    if (k == 0) ours = f.median;
    printf("%-18s %5d  %-20s %10.4f ms  %6.1fx  %3d of %3d solved  %5.2f n iterations (most %.2f n)\n", class, n,
           solver->name, 1e3 * f.median, f.median / ours, f.solved, f.tried, f.pivots, f.longest);
    fflush(stdout);
    record(log, class, n, solver, &f);
  }
}

// ---- the problems --------------------------------------------------------------------------------------------------

static void free_samples(lcp_sample *samples, int count) {
  for (int i = 0; i < count; i++) lcp_sample_free(samples + i);
}

static void random_classes(const options *o, bench_log *log) {
  const int sizes[] = {20, 50, 100, 200};
  lcp_sample samples[MOST];
  for (int k = 0; k < 8; k++) {
    int n = sizes[k / 2];
    for (int i = 0; i < o->count; i++)
      samples[i] =
          k % 2 ? lcp_sample_definite(n, n / 2, 0, 0, (uint64_t)i) : lcp_sample_definite(n, n, 0.1, 1, (uint64_t)i);
    compare(k % 2 ? "semidefinite" : "definite", samples, o->count, o, log);
    free_samples(samples, o->count);
  }
}

static lcp_sample stack(int boxes, int K, double compliance, uint64_t seed) {
  lcp_sample s = lcp_sample_stack((lcp_stack){boxes, K, 0.5, 0.01, 1, seed});
  for (int i = 0; i < 4 * boxes * (1 + K); i++) *lcp_sample_at(&s, i, i) += compliance;
  return s;
}

static void stacks(const options *o, bench_log *log) {
  lcp_sample samples[MOST];
  for (int boxes = 5; boxes <= o->boxes; boxes *= 2)
    for (int kind = 0; kind < 3; kind++) {
      char class[64];
      int count = boxes < 40 ? o->count : (o->count + 3) / 4, K = kind == 1 ? 8 : 4;
      for (int i = 0; i < count; i++) samples[i] = stack(boxes, K, kind == 2 ? 1e-4 : 0, (uint64_t)i);
      snprintf(class, sizeof class, "stack %d, %s", boxes,
               kind == 2   ? "4 dirs, 1e-4"
               : kind == 1 ? "8 dirs"
                           : "4 dirs");
      compare(class, samples, count, o, log);
      free_samples(samples, count);
    }
}

static bool file(const char *path, const options *o, bench_log *log) {
  carom_lcp_set *set;
  carom_error error;
  if (carom_lcp_set_read(path, NULL, &set, &error) != CAROM_OK) {
    fprintf(stderr, "carom_bench_lcp: %s\n", error.message);
    return false;
  }
  lcp_sample samples[MOST];
  int count = carom_lcp_set_count(set) < MOST ? carom_lcp_set_count(set) : MOST;
  const char *slash = strrchr(path, '/');
  bool linear = true;
  for (int i = 0; i < count; i++) {
    carom_mlcp_problem p = carom_lcp_set_problem(set, i);
    linear &= !p.lower && !p.upper && p.n > 0 && p.n == carom_lcp_set_problem(set, 0).n;
    samples[i] = lcp_sample_new(p.n);
    memcpy(samples[i].M, p.M, sizeof(double) * (size_t)p.n * (size_t)p.n);
    memcpy(samples[i].q, p.q, sizeof(double) * (size_t)p.n);
  }
  if (linear)
    compare(slash ? slash + 1 : path, samples, count, o, log);
  else
    fprintf(stderr, "carom_bench_lcp: %s: expected linear problems of one size\n", path);
  free_samples(samples, count);
  carom_lcp_set_destroy(set);
  return linear;
}

// ---- the command ---------------------------------------------------------------------------------------------------

static bool option(int argc, char **argv, int *i, const char *name, const char **value) {
  if (strcmp(argv[*i], name) != 0 || *i + 1 >= argc) return false;
  *value = argv[++*i];
  return true;
}

int main(int argc, char **argv) {
  options o = {.count = 20, .boxes = 40, .seconds = 0.02};
  const char *files[100], *text = NULL;
  int file_count = 0;
  for (int i = 1; i < argc; i++) {
    if (option(argc, argv, &i, "--count", &text))
      o.count = atoi(text) < 1 ? 1 : atoi(text) > MOST ? MOST : atoi(text);
    else if (option(argc, argv, &i, "--boxes", &text))
      o.boxes = atoi(text);
    else if (option(argc, argv, &i, "--seconds", &text))
      o.seconds = atof(text);
    else if (option(argc, argv, &i, "--engine", &o.engine) || option(argc, argv, &i, "--json", &o.json))
      continue;
    else if (file_count < 100)
      files[file_count++] = argv[i];
  }
  bench_log log;
  if (!bench_log_open(&log, o.json ? o.json : "bench-results.jsonl", "lcp")) return 1;
  if (SOLVERS == 1) printf("(Siconos is not here: install libsiconos-numerics-dev to compare)\n");
  bool good = true;
  for (int i = 0; i < file_count; i++) good &= file(files[i], &o, &log);
  if (file_count == 0) random_classes(&o, &log), stacks(&o, &log);
  bench_log_close(&log);
  return good ? 0 : 1;
}

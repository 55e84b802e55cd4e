// Two-stage stochastic programs against Ipopt (with MUMPS) on the same program without its structure: time over the
// number of scenarios, its exponent, and threads.
// usage: carom_bench_saa [--sizes 10,100,1000,...] [--peer LARGEST] [--repetitions N] [--json FILE]
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "saa_problems.h"

enum { MOST_SIZES = 12 };

typedef struct options {
  int sizes[MOST_SIZES], count, peer, repetitions;
  const char *json;
} options;

typedef struct family {
  const char *name;
  void (*make)(saa_table *t, int count, uint64_t seed);
} family;

static void newsvendor(saa_table *t, int count, uint64_t seed) { saa_newsvendor(t, count, seed); }
static void farmer(saa_table *t, int count, uint64_t seed) { saa_farmer(t, count, seed); }

// The same draws for any number of scenarios: a quadratic problem with all kinds of rows, three of its unknowns shared.
static void quadratic(saa_table *t, int count, uint64_t seed) {
  *t = (saa_table){.count = count, .problem = {.n = 10, .m = 20, .mean_rows = 2, .rows = 10, .random_count = 30}};
  carom_random r = carom_random_make(seed, 0);
  for (int k = 0; k < 10; k++) {
    saa_put(t, CAROM_SAA_XX, k, k, 1, -1), saa_put(t, CAROM_SAA_X_COST, k, 0, carom_random_normal(&r), -1);
    saa_put(t, CAROM_SAA_X_LOW, k, 0, -1, -1), saa_put(t, CAROM_SAA_X_HIGH, k, 0, 1, -1);
  }
  for (int k = 0; k < 20; k++) {
    saa_put(t, CAROM_SAA_YY, k, k, 0.5, -1), saa_put(t, CAROM_SAA_Y_COST, k, 0, 1, k);
    saa_put(t, CAROM_SAA_Y_LOW, k, 0, 0, -1);
    for (int a = 0; a < 2; a++) saa_put(t, CAROM_SAA_MEAN_Y, a, k, carom_random_normal(&r), -1);
  }
  for (int a = 0; a < 10; a++) {
    for (int k = 0; k < 3; k++) saa_put(t, CAROM_SAA_ROW_X, a, (a + k) % 10, carom_random_normal(&r), -1);
    for (int k = 0; k < 5; k++) saa_put(t, CAROM_SAA_ROW_Y, a, (2 * a + k) % 20, carom_random_between(&r, 0.5, 1), -1);
    saa_put(t, CAROM_SAA_ROW_LOW, a, 0, 1, 20 + a);
  }
  for (int a = 0; a < 2; a++) saa_put(t, CAROM_SAA_MEAN_HIGH, a, 0, 20, -1);
  t->values = calloc((size_t)count * 30, sizeof *t->values);
  for (int i = 0; i < count; i++)
    for (int k = 0; k < 30; k++) t->values[i * 30 + k] = k < 20 ? carom_random_normal(&r) : carom_random_uniform(&r);
}

static const family families[] = {{"newsvendor", newsvendor}, {"farmer", farmer}, {"quadratic", quadratic}};

// ---- measuring ------------------------------------------------------------------------------------------------------

typedef struct figure {
  double seconds, objective, residual;
  int iterations;
} figure;

static figure run_carom(saa_table *t, int threads, int repetitions) {
  figure f = {.seconds = INFINITY};
  carom_saa_options o = carom_saa_default_options();
  carom_saa_set set = saa_set_of(t);
  o.threads = threads;
  for (int k = 0; k < repetitions; k++) {
    carom_saa_answer *a = NULL;
    carom_error error;
    double begin = carom_clock();
    if (carom_saa_solve(&t->problem, &set, &o, NULL, &a, &error) != CAROM_OK) {
      fprintf(stderr, "%s\n", error.message);
      exit(1);
    }
    double seconds = carom_clock() - begin;
    f = (figure){fmin(f.seconds, seconds), a->objective, a->residual, a->iterations};
    carom_saa_answer_destroy(a);
  }
  return f;
}

static figure run_ipopt(const saa_table *t, int repetitions) {
  figure f = {.seconds = INFINITY};
  for (int k = 0; k < repetitions; k++) {
    double begin = carom_clock();
    carom_nlp_info info = saa_by_ipopt(t, 1e-9, NULL);
    f = (figure){fmin(f.seconds, carom_clock() - begin), info.objective, NAN, info.iterations};
  }
  return f;
}

static void log_row(bench_log *log, const char *problem, const char *solver, int scenarios, int threads, figure f,
                    double ratio) {
  bench_log_begin(log, "saa");
  bench_log_text(log, "problem", problem), bench_log_text(log, "solver", solver);
  bench_log_number(log, "scenarios", scenarios), bench_log_number(log, "threads", threads);
  bench_log_number(log, "seconds", f.seconds), bench_log_number(log, "iterations", f.iterations);
  bench_log_number(log, "objective", f.objective), bench_log_number(log, "residual", f.residual);
  bench_log_number(log, "ratio", ratio);
  bench_log_end(log);
}

static void run_family(const options *o, const family *problem, bench_log *log) {
  static saa_table t;
  double n[MOST_SIZES], seconds[MOST_SIZES];
  int large = 0;
  printf("%s\n%10s %12s %11s %9s %12s %12s %11s %8s\n", problem->name, "scenarios", "1 thread (s)", "iterations",
         "residual", "2 threads (s)", "Ipopt (s)", "iterations", "ratio");
  for (int k = 0; k < o->count; k++) {
    problem->make(&t, o->sizes[k], 7);
    figure one = run_carom(&t, 1, o->repetitions), two = run_carom(&t, 2, o->repetitions);
    printf("%10d %12.5f %11d %9.1e %12.5f ", t.count, one.seconds, one.iterations, one.residual, two.seconds);
    log_row(log, problem->name, "carom", t.count, 1, one, NAN);
    log_row(log, problem->name, "carom", t.count, 2, two, one.seconds / two.seconds);
    if (t.count <= o->peer && carom_nlp_available()) {
      figure peer = run_ipopt(&t, t.count > 200 ? 1 : o->repetitions);
      double apart = fabs(peer.objective - one.objective) / (1 + fabs(one.objective));
      printf("%12.5f %11d %7.1fx%s", peer.seconds, peer.iterations, peer.seconds / one.seconds,
             apart < 1e-6 ? "" : "  (other answer)");
      log_row(log, problem->name, "ipopt", t.count, 1, peer, peer.seconds / one.seconds);
    }
    printf("\n");
    fflush(stdout);
    if (t.count >= 1000) n[large] = t.count, seconds[large++] = one.seconds;
    saa_table_free(&t);
  }
  if (large > 1) printf("%10s time ~ N^%.2f from N = 1000 on\n", "", bench_fit_exponent(large, n, seconds));
}

// ---- the command line -----------------------------------------------------------------------------------------------

static bool parse(options *o, int argc, char **argv) {
  for (int i = 1; i + 1 < argc; i += 2) {
    const char *value = argv[i + 1];
    if (strcmp(argv[i], "--sizes") == 0 && bench_parse_sizes(value, 10000000, MOST_SIZES, o->sizes, &o->count))
      continue;
    if (strcmp(argv[i], "--peer") == 0 && (o->peer = atoi(value)) >= 0) continue;
    if (strcmp(argv[i], "--repetitions") == 0 && (o->repetitions = atoi(value)) > 0) continue;
    if (strcmp(argv[i], "--json") == 0 && (o->json = value)) continue;
    return false;
  }
  return argc % 2 == 1;
}

int main(int argc, char **argv) {
  options o = {.sizes = {10, 100, 1000, 10000, 100000}, .count = 5, .peer = 1000, .repetitions = 3};
  bench_log log = {NULL};
  if (!parse(&o, argc, argv)) {
    fprintf(stderr, "usage: carom_bench_saa [--sizes N,...] [--peer LARGEST] [--repetitions N] [--json FILE]\n");
    return 2;
  }
  if (o.json && !bench_log_open(&log, o.json, "saa")) return 1;
  for (size_t k = 0; k < sizeof families / sizeof *families; k++) run_family(&o, &families[k], &log);
  bench_log_close(&log);
  return 0;
}

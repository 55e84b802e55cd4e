// The separation of two convex bodies in several engines: time per query, and how far from the true distance.
#include "separation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "carom/carom.h"

enum { MOST = 16, MOST_PASSES = 1001 };

typedef struct options {
  const char *json, *engine;
  int sizes[MOST], size_count;
  const char *files[MOST];
  int file_count;
  double seconds;  // per cell of the table
} options;

typedef struct peer {
  const separation_engine *engine;  // null: not installed
  const char *name;
} peer;

static const peer PEERS[] = {
    {&separation_ssh_cold, "Carom"},      {&separation_ssh_warm, "Carom"},
#ifdef BENCH_GLPK
    {&separation_glpk_cold, "GLPK"},      {&separation_glpk_warm, "GLPK"},
#else
    {NULL, "GLPK"},
#endif
#ifdef BENCH_CLP
    {&separation_clp_cold, "CLP"},        {&separation_clp_warm, "CLP"},
#else
    {NULL, "CLP"},
#endif
    {&separation_distance_cold, "Carom"}, {&separation_distance_warm, "Carom"},
#ifdef BENCH_CCD
    {&separation_ccd_gjk, "libccd"},      {&separation_ccd_mpr, "libccd"},
#else
    {NULL, "libccd"},
#endif
#ifdef BENCH_FCL
    {&separation_fcl_ccd, "FCL"},         {&separation_fcl_indep, "FCL"},
#else
    {NULL, "FCL"},
#endif
#ifdef BENCH_BULLET
    {&separation_bullet, "Bullet"},       {&separation_bullet_epa2, "Bullet"},
#else
    {NULL, "Bullet"},
#endif
#ifdef BENCH_MUJOCO
    {&separation_mujoco, "MuJoCo"},
#else
    {NULL, "MuJoCo"},
#endif
};
enum { PEER_COUNT = sizeof PEERS / sizeof *PEERS };

// One engine on one regime.
typedef struct cell {
  double seconds, fastest, spread;  // per query
  double worst, median;             // errors where the engine gives numbers
  int wrong;                        // no answer, or off by more than 0.01
  double heap;                      // calls per query
} cell;

// What is measured and against what.
typedef struct round {
  const pair_set *set;
  const char *name;
  bool path;
  double *lp[PAIR_REGIMES];      // optimum of the linear program, pair by pair
  double base[2][PAIR_REGIMES];  // seconds of Carom: distance, linear program
} round_data;

// ---- measuring -----------------------------------------------------------------------------------------------------

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double pass(const separation_engine *e, void *world, const pair_set *set, int regime, double *answers) {
  int length = set->sequence_length > 1 ? set->sequence_length : 1;
  double begin = carom_clock();
  for (int i = 0; i < set->pair_count; i++) answers[i] = e->query(world, pair_at(set, regime, i), i % length == 0);
  return (carom_clock() - begin) / set->pair_count;
}

static void judge(const separation_engine *e, const round_data *r, int regime, double *answers, cell *c) {
  int n = r->set->pair_count;
  c->worst = c->median = NAN;
  for (int i = 0; i < n; i++) {
    double truth = e->lp ? r->lp[regime][i] : pair_at(r->set, regime, i)->distance;
    double error = e->gap[regime] ? fabs(answers[i] - truth) : (answers[i] > 0) == (truth > 0) ? 0 : 1;
    answers[i] = isnan(error) ? INFINITY : error;
    c->wrong += !(error <= 0.01);
  }
  if (!e->gap[regime]) return;
  qsort(answers, (size_t)n, sizeof *answers, ascending);
  c->worst = answers[n - 1], c->median = answers[n / 2];
}

static cell measure(const separation_engine *e, void *world, const round_data *r, int regime, double seconds) {
  static double passes[MOST_PASSES];
  cell c = {0};
  int count = 0;
  double total = 0, *answers = malloc((size_t)r->set->pair_count * sizeof *answers);
  if (!answers) abort();
  pass(e, world, r->set, regime, answers);
  while (count < MOST_PASSES && (count < 3 || total < seconds)) {
    passes[count] = pass(e, world, r->set, regime, answers);
    total += passes[count++] * r->set->pair_count;
  }
  qsort(passes, (size_t)count, sizeof *passes, ascending);
  c.seconds = passes[count / 2], c.fastest = passes[0], c.spread = (passes[count - 1] - passes[0]) / c.seconds;
  bench_heap_start();
  pass(e, world, r->set, regime, answers);
  c.heap = (double)bench_heap_stop() / r->set->pair_count;
  judge(e, r, regime, answers, &c);
  free(answers);
  return c;
}

// ---- output --------------------------------------------------------------------------------------------------------

static const char *version_of(const separation_engine *e) { return e->version ? e->version : carom_version(); }

static void log_cell(bench_log *log, const separation_engine *e, const round_data *r, int regime, const cell *c) {
  bench_log_begin(log, "separation");
  bench_log_text(log, "engine", e->name);
  bench_log_text(log, "version", version_of(e));
  bench_log_text(log, "precision", e->precision);
  bench_log_text(log, "answers", e->lp ? "linear program" : e->gap[regime] ? "distance" : "yes or no");
  bench_log_text(log, "data", r->name);
  bench_log_text(log, "regime", pair_regime_names[regime]);
  bench_log_text(log, "order", r->path ? "path" : "independent");
  bench_log_number(log, "vertices", r->set->vertex_count);
  bench_log_number(log, "pairs", r->set->pair_count);
  bench_log_number(log, "us_per_query", 1e6 * c->seconds);
  bench_log_number(log, "fastest_us_per_query", 1e6 * c->fastest);
  bench_log_number(log, "spread", c->spread);
  bench_log_number(log, "times_carom", c->seconds / r->base[e->lp][regime]);
  bench_log_number(log, "worst_error", c->worst);
  bench_log_number(log, "median_error", c->median);
  bench_log_number(log, "wrong", c->wrong);
  bench_log_number(log, "heap_calls_per_query", c->heap);
  bench_log_end(log);
}

static void print_cell(const separation_engine *e, const round_data *r, int regime, const cell *c) {
  char time[40], error[40] = "yes/no";
  snprintf(time, sizeof time, "%.3f (%.1fx)", 1e6 * c->seconds, c->seconds / r->base[e->lp][regime]);
  if (e->gap[regime]) snprintf(error, sizeof error, "%.0e", c->worst);
  if (c->wrong) snprintf(error, sizeof error, "%d wrong", c->wrong);
  printf("  %-18s %-9s", time, error);
}

static void print_row(const separation_engine *e, round_data *r, const options *o, bench_log *log) {
  printf("%-21s %-7s %-7s", e->name, version_of(e), e->precision);
  void *world = e->create(r->set);
  double heap = 0;
  for (int regime = 0; world && regime < PAIR_REGIMES; regime++) {
    cell c = measure(e, world, r, regime, o->seconds);
    // In a path Carom's warm queries are what others are compared with, otherwise its cold ones.
    if (!e->version && e->warm == r->path) r->base[e->lp][regime] = c.seconds;
    log_cell(log, e, r, regime, &c);
    print_cell(e, r, regime, &c);
    heap = fmax(heap, c.heap);
    fflush(stdout);
  }
  printf(world ? "  %.3g\n" : "  could not be set up\n", heap);
  if (world) e->destroy(world);
}

static void print_head(const round_data *r) {
  printf("\nV = %d, %d %s a regime (%s): microseconds per query (times Carom's), largest error\n", r->set->vertex_count,
         r->set->pair_count, r->path ? "steps along paths" : "independent pairs", r->name);
  printf("%-21s %-7s %-7s", "engine", "version", "numbers");
  for (int k = 0; k < PAIR_REGIMES; k++) printf("  %-18s %-9s", pair_regime_names[k], "error");
  printf("  heap calls/query\n");
}

// ---- one set of pairs ----------------------------------------------------------------------------------------------

// The optimum by another's simplex where there is one.
static bool solve_programs(round_data *r) {
#ifdef BENCH_GLPK
  const separation_engine *e = &separation_glpk_cold;
#else
  const separation_engine *e = &separation_ssh_cold;
#endif
  void *world = e->create(r->set);
  for (int regime = 0; world && regime < PAIR_REGIMES; regime++) {
    r->lp[regime] = malloc((size_t)r->set->pair_count * sizeof(double));
    if (!r->lp[regime]) abort();
    pass(e, world, r->set, regime, r->lp[regime]);
  }
  if (world) e->destroy(world);
  return world;
}

// Carom's row that is the measure of the others is taken first.
static void run_kind(round_data *r, bool lp, const options *o, bench_log *log) {
  for (int turn = 0; turn < 2; turn++)
    for (int i = 0; i < PEER_COUNT; i++) {
      const separation_engine *e = PEERS[i].engine;
      if (!e || e->lp != lp || (e->warm && !r->path)) continue;
      bool base = !e->version && e->warm == r->path;
      if (base == (turn == 0) && (base || !o->engine || strstr(e->name, o->engine))) print_row(e, r, o, log);
    }
}

static void run_set(const pair_set *set, const char *name, const options *o, bench_log *log) {
  round_data r = {.set = set, .name = name, .path = set->sequence_length > 1};
  print_head(&r);
  if (!solve_programs(&r)) abort();
  run_kind(&r, true, o, log);
  run_kind(&r, false, o, log);
  for (int regime = 0; regime < PAIR_REGIMES; regime++) free(r.lp[regime]);
}

static void run_file(const char *path, const options *o, bench_log *log) {
  pair_set set;
  char message[200];
  if (pair_set_read(&set, path, message)) {
    run_set(&set, path, o, log);
    pair_set_release(&set);
  } else {
    fprintf(stderr, "%s\n", message);
  }
}

// Fewer pairs of large bodies: their depths are found by trying all pairs of edges.
static void run_generated(int vertices, bool path, const options *o, bench_log *log) {
  int pairs = vertices <= 32 ? 1000 : vertices <= 128 ? 200 : 50, length = path ? 50 : 0;
  pair_set set;
  if (pair_set_generate(&set, vertices, 20, pairs, length, 2012)) {
    run_set(&set, "generated", o, log);
    pair_set_release(&set);
  } else {
    fprintf(stderr, "%d vertices: no pairs could be made\n", vertices);
  }
}

// ---- command line --------------------------------------------------------------------------------------------------

static int usage(const char *program) {
  printf("usage: %s [--json FILE] [--vertices 8,32,...] [--seconds T] [--engine TEXT] [PAIRFILE ...]\n", program);
  return 2;
}

static bool parse_sizes(options *o, const char *text) {
  o->size_count = 0;
  for (char *end; *text && o->size_count < MOST; text = *end == ',' ? end + 1 : end) {
    long n = strtol(text, &end, 10);
    if (end == text || n < 4 || n > 5000) return false;
    o->sizes[o->size_count++] = (int)n;
  }
  return !*text;
}

static bool parse(options *o, int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    if (strncmp(argv[i], "--", 2) != 0) {
      if (o->file_count == MOST) return false;
      o->files[o->file_count++] = argv[i];
      continue;
    }
    const char *key = argv[i], *value = i + 1 < argc ? argv[++i] : NULL;
    if (!value) return false;
    if (strcmp(key, "--json") == 0)
      o->json = value;
    else if (strcmp(key, "--engine") == 0)
      o->engine = value;
    else if (strcmp(key, "--seconds") == 0)
      o->seconds = atof(value);
    else if (strcmp(key, "--vertices") != 0 || !parse_sizes(o, value))
      return false;
  }
  return o->seconds > 0;
}

int main(int argc, char **argv) {
  options o = {.json = "bench-results.jsonl", .sizes = {8, 32, 128, 512}, .size_count = 4, .seconds = 0.1};
  if (!parse(&o, argc, argv)) return usage(argv[0]);
  bench_log log;
  if (!bench_log_open(&log, o.json, "separation")) fprintf(stderr, "%s cannot be written\n", o.json);
  char cpu[128];
  bench_cpu_model(cpu);
  printf("Separation of convex bodies, one thread. %s; %s; Carom %s\n", cpu, bench_compiler(), carom_version());
  for (int i = 0; i < o.file_count; i++) run_file(o.files[i], &o, &log);
  for (int i = 0; o.file_count == 0 && i < o.size_count; i++)
    for (int path = 0; path < 2; path++) run_generated(o.sizes[i], path, &o, &log);
  if (o.file_count == 0) separation_growth(o.seconds, &log);
  printf("\nThe upper rows answer the linear program (error: against GLPK), the lower ones the Euclidean distance.\n");
  for (int i = 0; i < PEER_COUNT; i++)
    if (!PEERS[i].engine) printf("%s: not installed\n", PEERS[i].name);
  bench_log_close(&log);
  return 0;
}

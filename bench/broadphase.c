// The broad phase alone: N spheres that jostle in a loose packing, tree against grid.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "carom/carom.h"
#include "carom/collide.h"

enum { MOST_SIZES = 8, MOST_STEPS = 10000 };

typedef struct options {
  const char *json;
  int sizes[MOST_SIZES], size_count;
  int repetitions;
  double seconds;  // per repetition
  double speed;    // diameters per step
} options;

// ---- the job -------------------------------------------------------------------------------------------------------

// Spheres of diameter 1 at the sites of a jittered lattice that fills 0.55 of the room (random loose packing), numbered
// at random, each on a circle of its own about its site: all keep their neighbourhood, as in a packing, but meet and
// part all the time. The room is a slab of fixed height and the circles do not depend on the speed, so that the number
// of pairs depends on neither.
#define PI 3.14159265358979323846
#define DIAMETER 1.0
#define FILLING 0.55
#define JITTER 0.15
#define CIRCLE 0.3  // radius
#define LAYERS 10

typedef struct world {
  carom_broadphase *phase;
  int count, step, pairs;
  int period;  // steps once round the circle
  carom_vec3 *site;
  int *start;          // step at which each begins
  carom_vec3 *circle;  // (period)
} world;

static carom_vec3 center_of(const world *w, int i, int step) {
  int k = w->start[i] + step;
  return cm_add(w->site[i], w->circle[k < w->period ? k : k - w->period]);
}

static carom_aabb box_of(const world *w, int i, int step) {
  carom_vec3 c = center_of(w, i, step), h = cm_vec3(DIAMETER / 2, DIAMETER / 2, DIAMETER / 2);
  carom_aabb box = {cm_sub(c, h), cm_add(c, h)};
  return box;
}

static void scatter(world *w) {
  carom_random r = carom_random_make(2024, 0);
  int side = (int)ceil(sqrt(w->count / (double)LAYERS));
  double pitch = DIAMETER * cbrt(PI / 6 / FILLING);
  for (int i = 0; i < w->count; i++) {
    carom_vec3 at = cm_scale(pitch, cm_vec3(i / LAYERS % side, i / LAYERS / side, i % LAYERS));
    double x = carom_random_between(&r, -JITTER, JITTER), y = carom_random_between(&r, -JITTER, JITTER);
    w->site[i] = cm_add(at, cm_vec3(x, y, carom_random_between(&r, -JITTER, JITTER)));
    w->start[i] = (int)carom_random_below(&r, (uint32_t)w->period);
  }
  for (int i = w->count - 1; i > 0; i--) {  // numbers tell nothing about places
    int k = (int)carom_random_below(&r, (uint32_t)i + 1);
    carom_vec3 swap = w->site[i];
    w->site[i] = w->site[k];
    w->site[k] = swap;
  }
}

static void step(void *context, int steps) {
  world *w = context;
  const carom_pair *pairs;
  for (int s = 0; s < steps; s++) {
    w->step = (w->step + 1) % w->period;
    for (int i = 0; i < w->count; i++) carom_broadphase_move(w->phase, i, box_of(w, i, w->step));
    if (carom_broadphase_update(w->phase, &pairs, &w->pairs, NULL) != CAROM_OK) exit(1);
  }
}

static void destroy(world *w) {
  if (!w) return;
  carom_broadphase_destroy(w->phase);
  free(w->site);
  free(w->start);
  free(w->circle);
  free(w);
}

static bool fill(world *w, bool grid) {
  carom_broadphase_options o = carom_broadphase_default_options();
  o.uniform_grid = grid;
  if (carom_broadphase_create(&o, NULL, &w->phase, NULL) != CAROM_OK) return false;
  for (int i = 0; i < w->count; i++) {
    carom_proxy_def def = carom_proxy_default();
    int proxy;
    def.box = box_of(w, i, 0);
    def.body = i;
    if (carom_broadphase_add(w->phase, &def, &proxy, NULL) != CAROM_OK) return false;
  }
  return true;
}

static world *create(int count, bool grid, double speed) {
  world *w = calloc(1, sizeof *w);
  if (!w) return NULL;
  w->count = count;
  w->site = calloc((size_t)count, sizeof *w->site);
  w->start = calloc((size_t)count, sizeof *w->start);
  w->circle = calloc(MOST_STEPS, sizeof *w->circle);
  double around = 2 * PI * CIRCLE * DIAMETER / speed;
  w->period = around < 3 ? 3 : around > MOST_STEPS ? MOST_STEPS : (int)around;
  for (int k = 0; w->circle && k < w->period; k++) {
    double angle = 2 * PI * k / w->period;
    w->circle[k] = cm_scale(CIRCLE * DIAMETER, cm_vec3(cos(angle), sin(angle) * sqrt(0.5), sin(angle) * sqrt(0.5)));
  }
  if (w->site && w->start && w->circle) {
    scatter(w);
    if (fill(w, grid)) return w;
  }
  destroy(w);
  return NULL;
}

// ---- measuring -----------------------------------------------------------------------------------------------------

typedef struct figure {
  bench_timing time;
  double first;  // seconds of the first update, which builds everything
  double pairs;  // per body
} figure;

static figure measure(bool grid, int count, const options *o, bench_log *log) {
  static const bench_engine engine = {.name = "broad phase", .step = step};
  figure f = {.time = {.seconds = NAN, .fastest = NAN}, .first = NAN, .pairs = NAN};
  world *w = create(count, grid, o->speed);
  if (!w) return f;
  const carom_pair *pairs;
  double begin = carom_clock();
  if (carom_broadphase_update(w->phase, &pairs, &w->pairs, NULL) != CAROM_OK) exit(1);
  f.first = carom_clock() - begin;
  step(w, w->period < 400 ? w->period : 400);  // once round, so that capacities are reached
  f.time = bench_time(&engine, w, o->repetitions, o->seconds);
  f.pairs = (double)w->pairs / count;
  destroy(w);
  bench_log_begin(log, "time");
  bench_log_text(log, "kind", grid ? "grid" : "tree");
  bench_log_number(log, "bodies", count);
  bench_log_number(log, "speed", o->speed);
  bench_log_number(log, "pairs_per_body", f.pairs);
  bench_log_number(log, "first_update_s", f.first);
  bench_log_number(log, "ns_per_body_update", f.time.seconds / count * 1e9);
  bench_log_number(log, "fastest_ns_per_body_update", f.time.fastest / count * 1e9);
  bench_log_number(log, "spread", f.time.spread);
  bench_log_number(log, "heap_calls_per_update", f.time.heap_per_step);
  bench_log_end(log);
  return f;
}

static void run_kind(bool grid, const options *o, bench_log *log) {
  double n[MOST_SIZES], t[MOST_SIZES];
  for (int k = 0; k < o->size_count; k++) {
    figure f = measure(grid, o->sizes[k], o, log);
    n[k] = o->sizes[k], t[k] = f.time.fastest;
    printf("%-5s %8d %11.3f %11.1f %11.1f %8.2f %11.1f %11.2f %10g\n", grid ? "grid" : "tree", o->sizes[k],
           f.time.seconds * 1e3, f.time.seconds / n[k] * 1e9, f.time.fastest / n[k] * 1e9, f.time.spread,
           f.first / n[k] * 1e9, f.pairs, f.time.heap_per_step);
    fflush(stdout);
  }
  if (o->size_count < 2) return;
  double exponent = bench_fit_exponent(o->size_count, n, t);
  printf("%-5s time per update grows as N^%.3f\n", grid ? "grid" : "tree", exponent);
  bench_log_begin(log, "scaling");
  bench_log_text(log, "kind", grid ? "grid" : "tree");
  bench_log_number(log, "speed", o->speed);
  bench_log_number(log, "exponent", exponent);
  bench_log_end(log);
}

// ---- command line --------------------------------------------------------------------------------------------------

static bool parse(options *o, int argc, char **argv) {
  for (int i = 1; i + 1 < argc; i += 2) {
    const char *key = argv[i], *value = argv[i + 1];
    if (strcmp(key, "--json") == 0)
      o->json = value;
    else if (strcmp(key, "--repetitions") == 0)
      o->repetitions = atoi(value);
    else if (strcmp(key, "--seconds") == 0)
      o->seconds = atof(value);
    else if (strcmp(key, "--speed") == 0)
      o->speed = atof(value);
    else if (strcmp(key, "--sizes") != 0 || !bench_parse_sizes(value, 4000000, MOST_SIZES, o->sizes, &o->size_count))
      return false;
  }
  return argc % 2 == 1 && o->repetitions > 0 && o->seconds > 0 && o->speed > 0;
}

int main(int argc, char **argv) {
  options o = {.json = "bench-results.jsonl", .sizes = {1000, 10000, 100000}, .size_count = 3};
  o.repetitions = 7, o.seconds = 0.2, o.speed = 0.005;
  if (!parse(&o, argc, argv)) {
    printf("usage: %s [--json FILE] [--sizes 1000,10000,...] [--repetitions N] [--seconds T] [--speed DIAMETERS]\n",
           argv[0]);
    return 2;
  }
  bench_log log;
  if (!bench_log_open(&log, o.json, "broadphase")) fprintf(stderr, "%s cannot be written\n", o.json);
  char cpu[128];
  bench_cpu_model(cpu);
  printf("Spheres in a loose packing (filling %g), moving %g diameters per update, default margin, one thread\n",
         FILLING, o.speed);
  printf("%s; %s; Carom %s; median of %d runs of %g s\n\n", cpu, bench_compiler(), carom_version(), o.repetitions,
         o.seconds);
  printf("%-5s %8s %11s %11s %11s %8s %11s %11s %10s\n", "kind", "N", "ms/update", "ns/body", "fastest", "spread",
         "first ns", "pairs/body", "heap calls");
  for (int grid = 0; grid < 2; grid++) run_kind(grid, &o, &log);
  bench_log_close(&log);
  return 0;
}

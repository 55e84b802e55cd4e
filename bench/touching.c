// Contact of solids that deform: tetrahedra and contacts per second of whole steps, what became of the energy, and how
// far surfaces overlap. Beside it the search for facets that may touch, by all pairs.
#include "touching.h"

#include <math.h>
#include <stdlib.h>

#include "carom/carom.h"
#include "carom/elastic.h"
#include "solid_samples.h"

enum { MOST_SIZES = 8, MOST_RUNS = 64 };

typedef struct options {
  const char *json;
  int sizes[MOST_SIZES], size_count, repetitions;
} options;

static const carom_elastic_material RUBBER = {.density = 1000, .lambda = 1.5e5, .mu = 1e5};
static const double SIDE[TOUCHING_BLOCKS] = {0.2, 0.15};  // m
static const double PRESSED = 0.012;                      // s: about when they are pressed together most

// The blocks have as many cells each, so that those above are smaller and no side meets another.
typedef struct sample {
  solid_mesh mesh[TOUCHING_BLOCKS];
  carom_elastic *elastic[TOUCHING_BLOCKS];
  touching_job job;
  int tets, steps;
} sample;

static void sample_free(sample *s) {
  for (int b = 0; b < TOUCHING_BLOCKS; b++) {
    carom_elastic_destroy(s->elastic[b]);
    solid_mesh_free(&s->mesh[b]);
  }
}

static double critical_step(carom_elastic *elastic, const carom_vec3 *nodes) {
  carom_elastic_stepper *stepper = NULL;
  carom_elastic_limit limit = {0};
  if (carom_elastic_stepper_create(elastic, NULL, NULL, &stepper, NULL) == CAROM_OK)
    carom_elastic_critical_step(stepper, nodes, &limit);
  carom_elastic_stepper_destroy(stepper);
  return limit.sharp;
}

static bool add_block(sample *s, int b, int cells) {
  const solid_box box = {
      .cells = {cells, cells, cells}, .size = {SIDE[b], SIDE[b], SIDE[b]}, .disorder = 0.1, .seed = 1 + (uint64_t)b};
  solid_mesh *m = &s->mesh[b];
  *m = solid_box_make(&box);
  carom_vec3 corner = b == 0 ? cm_vec3(0, 0, -SIDE[0]) : cm_vec3(0.013, 0.027, 1e-6);
  for (int i = 0; i < m->node_count; i++) m->nodes[i] = cm_add(m->nodes[i], corner);
  carom_elastic_def def = solid_def(m, &RUBBER);
  if (carom_elastic_create(&def, NULL, &s->elastic[b], NULL) != CAROM_OK) return false;
  s->job.block[b] = (touching_block){.node_count = m->node_count,
                                     .tet_count = m->tet_count,
                                     .nodes = &m->nodes[0].x,
                                     .tets = &m->tets[0][0],
                                     .mass = carom_elastic_masses(s->elastic[b]),
                                     .velocity = {b == 0 ? 0 : 0.5, 0, b == 0 ? 0.25 : -0.25}};
  s->tets += m->tet_count;
  return true;
}

static bool sample_make(sample *s, int tets) {
  int cells = (int)ceil(cbrt(tets / (5.0 * TOUCHING_BLOCKS)) - 1e-9);
  *s = (sample){.job = {.lambda = RUBBER.lambda, .mu = RUBBER.mu}};
  double least = INFINITY;
  for (int b = 0; b < TOUCHING_BLOCKS; b++) {
    if (!add_block(s, b, cells)) return false;
    least = fmin(least, critical_step(s->elastic[b], s->mesh[b].nodes));
  }
  s->steps = (int)ceil(PRESSED / (0.4 * least));
  s->job.dt = PRESSED / s->steps;
  return true;
}

// ---- what came of it ------------------------------------------------------------------------------------------------

typedef struct outcome {
  carom_vec3 *x[TOUCHING_BLOCKS];
  double energy;   // J
  double overlap;  // m, of nodes of the block above in the top of the one below
} outcome;

static double weight_of(carom_vec3 a, carom_vec3 b, carom_vec3 x) {
  return (b.x - a.x) * (x.y - a.y) - (b.y - a.y) * (x.x - a.x);
}

// How far the triangle is above a point over or under it; nothing beside it.
static double depth_below(const carom_vec3 *x, const int *t, carom_vec3 p) {
  double u = weight_of(x[t[1]], x[t[2]], p), v = weight_of(x[t[2]], x[t[0]], p), w = weight_of(x[t[0]], x[t[1]], p);
  if (u < 0 || v < 0 || w < 0 || !(u + v + w > 0)) return 0;
  return (u * x[t[0]].z + v * x[t[1]].z + w * x[t[2]].z) / (u + v + w) - p.z;
}

static bool is_at(const sample *s, int b, const int *t, double z) {
  bool all = true;
  for (int k = 0; k < 3; k++) all = all && fabs(s->mesh[b].nodes[t[k]].z - z) < 2e-6;
  return all;
}

static double overlap_of(const sample *s, const outcome *o) {
  double deepest = 0;
  for (int t = 0; t < s->mesh[0].skin_count; t++) {
    const int *top = s->mesh[0].skin[t];
    if (!is_at(s, 0, top, 0)) continue;
    for (int i = 0; i < s->mesh[1].node_count; i++)
      if (s->mesh[1].nodes[i].z < 2e-6) deepest = fmax(deepest, depth_below(o->x[0], top, o->x[1][i]));
  }
  return deepest;
}

static outcome read_outcome(const sample *s, const touching_engine *engine, void *world) {
  outcome o = {.energy = engine->stored(world)};
  for (int b = 0; b < TOUCHING_BLOCKS; b++) {
    size_t n = (size_t)s->mesh[b].node_count;
    carom_vec3 *v = calloc(n, sizeof *v);
    carom_elastic_sample measured;
    o.x[b] = calloc(n, sizeof **o.x);
    for (size_t i = 0; i < n; i++) engine->read(world, b, (int)i, &o.x[b][i].x, &v[i].x);
    carom_elastic_measure(s->elastic[b], o.x[b], NULL, &measured);
    o.energy += measured.energy + carom_elastic_kinetic_energy(s->elastic[b], v);
    free(v);
  }
  o.overlap = overlap_of(s, &o);
  return o;
}

static void free_outcome(outcome *o) {
  for (int b = 0; b < TOUCHING_BLOCKS; b++) free(o->x[b]);
}

// ---- all pairs ------------------------------------------------------------------------------------------------------

static carom_aabb box_of(const carom_vec3 *x, const int *t, double margin) {
  carom_aabb box = {x[t[0]], x[t[0]]};
  for (int k = 1; k < 3; k++) {
    carom_vec3 p = x[t[k]];
    box.low = cm_vec3(fmin(box.low.x, p.x), fmin(box.low.y, p.y), fmin(box.low.z, p.z));
    box.high = cm_vec3(fmax(box.high.x, p.x), fmax(box.high.y, p.y), fmax(box.high.z, p.z));
  }
  carom_vec3 m = cm_vec3(margin, margin, margin);
  return (carom_aabb){cm_sub(box.low, m), cm_add(box.high, m)};
}

static bool overlap(const carom_aabb *a, const carom_aabb *b) {
  return a->low.x <= b->high.x && b->low.x <= a->high.x && a->low.y <= b->high.y && b->low.y <= a->high.y &&
         a->low.z <= b->high.z && b->low.z <= a->high.z;
}

// Facets whose boxes overlap: how many, and the seconds of finding them by looking at all pairs.
static int search_all_pairs(const sample *s, const outcome *o, double *seconds) {
  double begin = carom_clock();
  int found = 0;
  carom_aabb *boxes[TOUCHING_BLOCKS];
  for (int b = 0; b < TOUCHING_BLOCKS; b++) {
    const solid_mesh *m = &s->mesh[b];
    boxes[b] = calloc((size_t)m->skin_count, sizeof **boxes);
    for (int t = 0; t < m->skin_count; t++) boxes[b][t] = box_of(o->x[b], m->skin[t], 1e-3);
  }
  for (int i = 0; i < s->mesh[0].skin_count; i++)
    for (int j = 0; j < s->mesh[1].skin_count; j++) found += overlap(&boxes[0][i], &boxes[1][j]);
  for (int b = 0; b < TOUCHING_BLOCKS; b++) free(boxes[b]);
  *seconds = carom_clock() - begin;
  return found;
}

// ---- the table ------------------------------------------------------------------------------------------------------

static int ascending(const void *a, const void *b) {
  double p = *(const double *)a, q = *(const double *)b;
  return (p > q) - (p < q);
}

typedef struct row {
  double median, fastest;  // s per step
  double search;           // s, of all pairs
  double energy, overlap;
  int contacts;
} row;

static void print_row(const sample *s, const touching_engine *engine, const row *r, double carom, bench_log *log) {
  double ratio = carom > 0 ? r->fastest / carom : 1;
  printf("%-18s %-9s %-7s %8d %8d %9.1f %9.1f %8.2f %10.2e %10.2e %10.1e %9.3f\n", engine->name,
         engine->version ? engine->version : "", engine->precision, s->tets, r->contacts, 1e6 * r->median,
         1e6 * r->fastest, ratio, s->tets / r->fastest, r->contacts / r->fastest, r->energy, 1e3 * r->overlap);
  bench_log_begin(log, "touching");
  bench_log_text(log, "engine", engine->name);
  bench_log_text(log, "version", engine->version ? engine->version : carom_version());
  bench_log_text(log, "precision", engine->precision);
  bench_log_number(log, "tets", s->tets);
  bench_log_number(log, "contacts", r->contacts);
  bench_log_number(log, "us_per_step", 1e6 * r->median);
  bench_log_number(log, "fastest_us_per_step", 1e6 * r->fastest);
  bench_log_number(log, "all_pairs_us", 1e6 * r->search);
  bench_log_number(log, "energy_change", r->energy);
  bench_log_number(log, "overlap", r->overlap);
  bench_log_end(log);
}

// One run from the start to when they are pressed together most; s per step, or NaN.
static double run_once(const sample *s, const touching_engine *engine, row *r) {
  char message[BENCH_MESSAGE] = "";
  void *world = engine->create(&s->job, message);
  if (!world) {
    printf("%-18s %s\n", engine->name, message);
    return NAN;
  }
  outcome before = read_outcome(s, engine, world);
  double begin = carom_clock();
  bool went = engine->step(world, s->steps);
  double seconds = (carom_clock() - begin) / s->steps;
  outcome after = read_outcome(s, engine, world);
  r->contacts = search_all_pairs(s, &after, &r->search);
  r->energy = after.energy / before.energy - 1, r->overlap = after.overlap;
  free_outcome(&before), free_outcome(&after);
  engine->destroy(world);
  return went ? seconds : NAN;
}

static double run_engine(const sample *s, const touching_engine *engine, const options *o, bench_log *log,
                         double carom) {
  double times[MOST_RUNS];
  int runs = o->repetitions < MOST_RUNS ? o->repetitions : MOST_RUNS;
  row r = {0};
  for (int i = 0; i < runs; i++) {
    times[i] = run_once(s, engine, &r);
    if (isnan(times[i])) return NAN;
  }
  qsort(times, (size_t)runs, sizeof *times, ascending);
  r.median = times[runs / 2], r.fastest = times[0];
  print_row(s, engine, &r, carom, log);
  if (carom == 0)
    printf("%-63s %9s %9.1f %8.2f\n", "the search alone, by all pairs", "", 1e6 * r.search, r.search / r.fastest);
  return r.fastest;
}

static bool run_size(int tets, const options *o, bench_log *log, double *size, double *seconds) {
  static const touching_engine *const ENGINES_OF[] = {&touching_midpoint, NULL};
  sample s;
  if (!sample_make(&s, tets)) return false;
  double carom = run_engine(&s, &touching_carom, o, log, 0);
  *size = s.tets, *seconds = carom;
  for (int i = 0; ENGINES_OF[i]; i++)
    if (s.tets <= ENGINES_OF[i]->largest) run_engine(&s, ENGINES_OF[i], o, log, carom);
  putchar('\n');
  sample_free(&s);
  return isfinite(carom);
}

static bool parse(options *o, int argc, char **argv) {
  for (int i = 1; i + 1 < argc; i += 2) {
    const char *key = argv[i], *value = argv[i + 1];
    if (strcmp(key, "--json") == 0)
      o->json = value;
    else if (strcmp(key, "--repetitions") == 0)
      o->repetitions = atoi(value);
    else if (strcmp(key, "--sizes") != 0 || !bench_parse_sizes(value, 1000000, MOST_SIZES, o->sizes, &o->size_count))
      return false;
  }
  return argc % 2 == 1 && o->repetitions > 0;
}

int main(int argc, char **argv) {
  options o = {.json = "bench-results.jsonl", .sizes = {1000, 10000, 100000}, .size_count = 3, .repetitions = 5};
  if (!parse(&o, argc, argv)) {
    printf("usage: %s [--json FILE] [--sizes 1000,10000,...] [--repetitions N]\n", argv[0]);
    return 2;
  }
  bench_log log;
  if (!bench_log_open(&log, o.json, "touching")) fprintf(stderr, "%s cannot be written\n", o.json);
  char cpu[128];
  bench_cpu_model(cpu);
  printf(
      "Two blocks of rubber, pressed together and sliding, in steps of 0.4 of the critical one\n%s; %s; Carom %s; %d "
      "runs\n\n",
      cpu, bench_compiler(), carom_version(), o.repetitions);
  printf("%-18s %-9s %-7s %8s %8s %9s %9s %8s %10s %10s %10s %9s\n", "engine", "version", "numbers", "tets", "contacts",
         "us/step", "fastest", "times", "tets/s", "contacts/s", "energy", "mm deep");
  double sizes[MOST_SIZES], seconds[MOST_SIZES];
  bool all = true;
  for (int i = 0; i < o.size_count; i++) all = run_size(o.sizes[i], &o, &log, &sizes[i], &seconds[i]) && all;
  if (o.size_count > 1 && all)
    printf("exponent of the explicit step's time over the number of tetrahedra: %.3f (1 is linear)\n",
           bench_fit_exponent(o.size_count, sizes, seconds));
  bench_log_close(&log);
  return all ? 0 : 1;
}
